//! Assemblies: begun, waiting for the memory system, and finished.

use serde::{Deserialize, Serialize};

use super::super::assemble::{
    Answer, AssemblyRequest, Begun, Budget, ContextGenerationInput, ContextResult, Headings, Pending, Purpose,
    StepOutput, begin, finish,
};
use super::super::settings::{Accumulation, Format};
use super::super::task::{Operator, Role};
use super::task::OperatorIn;
use super::{invalid, known, named};
use crate::error::{Diagnostic, DiagnosticCode, Result, Severity};
use crate::json::{self, AnyJson};
use crate::limits::{self, LimitOverrides};
use crate::tokens::Tokenizers;

const PURPOSES: [(&str, Purpose); 3] =
    [("match", Purpose::Match), ("filter", Purpose::Filter), ("filterAndMatch", Purpose::FilterAndMatch)];

const ACCUMULATIONS: [(&str, Accumulation); 3] = [
    ("off", Accumulation::Off),
    ("notes_only", Accumulation::On(Format::NotesOnly)),
    ("full_output", Accumulation::On(Format::FullOutput)),
];

fn accumulation_name(accumulation: Accumulation) -> &'static str {
    match accumulation {
        Accumulation::Off => "off",
        Accumulation::On(format) => format.as_str(),
    }
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", expecting = "what a step gave, an object with `step` and `output`")]
pub(super) struct StepOutputIn {
    step: String,
    output: String,
    notes: Option<String>,
}

pub(super) fn outputs(outputs: Option<Vec<StepOutputIn>>) -> Vec<StepOutput> {
    let outputs = outputs.unwrap_or_default().into_iter();
    outputs.map(|it| StepOutput { step: it.step, output: it.output, notes: it.notes }).collect()
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, expecting = "headings, an object")]
pub(super) struct HeadingsIn {
    task: Option<String>,
    inherited_context: Option<String>,
    previous_outputs: Option<String>,
}

impl HeadingsIn {
    pub(super) fn finish(self) -> Headings {
        let defaults = Headings::default();
        Headings {
            task: self.task.unwrap_or(defaults.task),
            inherited_context: self.inherited_context.unwrap_or(defaults.inherited_context),
            previous_outputs: self.previous_outputs.unwrap_or(defaults.previous_outputs),
        }
    }
}

pub(super) fn unless_default(headings: Headings) -> Option<Headings> {
    Some(headings).filter(|headings| *headings != Headings::default())
}

/// A number of tokens.
fn tokens(path: &str, value: Option<f64>) -> Result<Option<u32>> {
    let Some(value) = value else { return Ok(None) };
    if value.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(&value) {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the range was checked")]
        return Ok(Some(value as u32));
    }
    Err(invalid(path, "must be a whole number of tokens, 0 or more"))
}

/// How large a context may be, and how it is counted: as it came, and as it waits for the memory system.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default, expecting = "sizes, an object")]
struct Sizes {
    #[serde(skip_serializing_if = "Option::is_none")]
    tokenizer: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    warn_tokens: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<f64>,
}

impl Sizes {
    fn is_absent(&self) -> bool {
        self.tokenizer.is_none() && self.warn_tokens.is_none() && self.max_tokens.is_none()
    }

    /// Fails early for what [`Self::check`] would fail for late.
    fn validate(&self, tokenizers: &Tokenizers) -> Result<Budget> {
        if let Some(name) = &self.tokenizer {
            tokenizers.get(name)?;
        }
        Ok(Budget { warn: tokens("warnTokens", self.warn_tokens)?, max: tokens("maxTokens", self.max_tokens)? })
    }

    fn check(&self, result: &mut ContextResult, tokenizers: &Tokenizers) -> Result<()> {
        if self.is_absent() {
            return Ok(());
        }
        let counter = tokenizers.get(self.tokenizer.as_deref().unwrap_or("heuristic"))?;
        self.validate(tokenizers)?.check(result, counter.as_ref())
    }
}

/// A request for an assembly, as it came.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, expecting = "a request, an object")]
pub(crate) struct AssemblyIn {
    task: Option<OperatorIn>,
    task_text: Option<String>,
    parent_context: Option<String>,
    previous_outputs: Option<Vec<StepOutputIn>>,
    accumulation: Option<String>,
    headings: Option<HeadingsIn>,
    tokenizer: Option<String>,
    warn_tokens: Option<f64>,
    max_tokens: Option<f64>,
    limits: Option<LimitOverrides>,
}

impl AssemblyIn {
    /// Whether any text of it holds U+FFFD, which half of a surrogate pair becomes on its way in.
    #[cfg(target_arch = "wasm32")]
    pub(crate) fn holds_replacement(&self) -> bool {
        const REPLACEMENT: char = char::REPLACEMENT_CHARACTER;
        let steps = self.previous_outputs.iter().flatten();
        let mut steps = steps.flat_map(|it| [Some(&it.step), Some(&it.output), it.notes.as_ref()]);
        let mut texts = [self.task_text.as_ref(), self.parent_context.as_ref()].into_iter();
        texts.any(|text| text.is_some_and(|text| text.contains(REPLACEMENT)))
            || steps.any(|text| text.is_some_and(|text| text.contains(REPLACEMENT)))
    }

    fn finish(self) -> Result<(AssemblyRequest, Sizes)> {
        let task = self.task.ok_or_else(|| invalid("task", "is missing; give a task as `parseTask` gives it"))?;
        let request = AssemblyRequest {
            task: task.finish("task", Role::Task)?,
            task_text: self.task_text,
            parent_context: self.parent_context,
            previous_outputs: outputs(self.previous_outputs),
            accumulation: known("accumulation", self.accumulation.as_deref(), &ACCUMULATIONS)?,
            headings: self.headings.unwrap_or_default().finish(),
        };
        let limits = self.limits.unwrap_or_default().resolve()?;
        let mut bytes = request.task_text.as_ref().map_or(0, String::len);
        bytes = bytes.saturating_add(request.parent_context.as_ref().map_or(0, String::len));
        for step in &request.previous_outputs {
            let notes = step.notes.as_ref().map_or(0, String::len);
            bytes = bytes.saturating_add(step.output.len()).saturating_add(notes);
        }
        limits::check("inputBytes", bytes, limits.input_bytes)?;
        let Self { tokenizer, warn_tokens, max_tokens, .. } = self;
        Ok((request, Sizes { tokenizer, warn_tokens, max_tokens }))
    }
}

/// A request as a run gives it: what [`AssemblyIn`] takes.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct AssemblyOut {
    task: Operator,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent_context: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    previous_outputs: Vec<StepOutput>,
    #[serde(skip_serializing_if = "Option::is_none")]
    accumulation: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    headings: Option<Headings>,
}

impl From<AssemblyRequest> for AssemblyOut {
    fn from(request: AssemblyRequest) -> Self {
        Self {
            task: request.task,
            parent_context: request.parent_context,
            previous_outputs: request.previous_outputs,
            accumulation: request.accumulation.map(accumulation_name),
            headings: unless_default(request.headings),
        }
    }
}

/// What became of a request, as it goes.
#[derive(Debug, Serialize)]
#[serde(tag = "status", rename_all = "camelCase")]
pub(crate) enum BegunOut {
    /// The context is assembled.
    Ready {
        /// It.
        result: ContextResult,
    },
    /// The memory system has to be asked.
    Match {
        /// What it is asked.
        input: ContextGenerationInput,
        /// The same as one text.
        text: String,
        /// What it is asked for.
        purpose: Purpose,
        /// What finishing needs.
        state: StateOut,
    },
}

/// An assembly that waits, as it goes.
#[derive(Debug, Serialize)]
pub(crate) struct StateOut {
    pending: Pending,
    #[serde(skip_serializing_if = "Sizes::is_absent")]
    sizes: Sizes,
}

/// Begins an assembly. `found` are diagnostics of what came.
pub(crate) fn begin_assembly(request: AssemblyIn, tokenizers: &Tokenizers, found: Vec<Diagnostic>) -> Result<BegunOut> {
    let (request, sizes) = request.finish()?;
    sizes.validate(tokenizers)?;
    Ok(match begin(&request)? {
        Begun::Ready(mut result) => {
            result.diagnostics.splice(0..0, found);
            sizes.check(&mut result, tokenizers)?;
            BegunOut::Ready { result }
        }
        Begun::Match(question) => {
            let mut pending = question.state;
            pending.diagnostics.splice(0..0, found);
            let (input, text, purpose) = (question.input, question.text, question.purpose);
            BegunOut::Match { input, text, purpose, state: StateOut { pending, sizes } }
        }
    })
}

/// Begins an assembly from a request in JSON; the result is JSON too.
///
/// # Errors
/// Those of [`begin`], [`InvalidInput`](crate::Code::InvalidInput), [`UnknownValue`](crate::Code::UnknownValue) and
/// [`ContextTooLong`](crate::Code::ContextTooLong).
pub fn begin_json(request: &[u8], tokenizers: &Tokenizers) -> Result<Vec<u8>> {
    let (request, found) = json::repair_surrogates(request);
    json::write(&begin_assembly(json::read(&request)?, tokenizers, found)?)
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", expecting = "a diagnostic, an object")]
struct DiagnosticIn {
    code: String,
    severity: String,
    message: String,
    path: Option<String>,
}

impl DiagnosticIn {
    fn finish(self) -> Result<Diagnostic> {
        const SEVERITIES: [(&str, Severity); 3] =
            [("error", Severity::Error), ("warning", Severity::Warning), ("info", Severity::Info)];
        let codes = named(DiagnosticCode::ALL, DiagnosticCode::as_str);
        let missing = || invalid("state.pending.diagnostics", "does not fit; give `state` as it came");
        let code = known("state.pending.diagnostics", Some(&self.code), &codes)?.ok_or_else(missing)?;
        let severity = known("state.pending.diagnostics", Some(&self.severity), &SEVERITIES)?.ok_or_else(missing)?;
        let mut diagnostic = Diagnostic::new(code, severity, self.message);
        diagnostic.path = self.path;
        Ok(diagnostic)
    }
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", expecting = "the state as it came, an object")]
struct PendingIn {
    purpose: String,
    inherited: Option<String>,
    accumulated: Option<String>,
    diagnostics: Option<Vec<DiagnosticIn>>,
}

/// An assembly that waits, as it came back.
#[derive(Debug, Deserialize)]
#[serde(expecting = "the `state` that `beginContextAssembly` gave, an object")]
pub(crate) struct StateIn {
    pending: PendingIn,
    sizes: Option<Sizes>,
}

/// The memory system's answer, as it came.
#[derive(Debug, Deserialize)]
#[serde(expecting = "the memory system's answer, an object with `context` and `matches`")]
pub(crate) struct AnswerIn {
    context: String,
    inherited: Option<String>,
    matches: Vec<MatchIn>,
}

impl AnswerIn {
    /// Whether any text of it holds U+FFFD, which half of a surrogate pair becomes on its way in.
    #[cfg(target_arch = "wasm32")]
    pub(crate) fn holds_replacement(&self) -> bool {
        const REPLACEMENT: char = char::REPLACEMENT_CHARACTER;
        let part = self.inherited.as_ref().is_some_and(|part| part.contains(REPLACEMENT));
        part || self.context.contains(REPLACEMENT) || self.matches.iter().any(|it| it.0.contains(REPLACEMENT))
    }
}

#[derive(Debug, Deserialize)]
#[serde(expecting = "a match, a list of a path and its metadata or null")]
struct MatchIn(String, AnyJson);

/// Finishes an assembly. `found` are diagnostics of what came.
pub(crate) fn finish_assembly(
    state: StateIn,
    answer: AnswerIn,
    tokenizers: &Tokenizers,
    found: Vec<Diagnostic>,
) -> Result<ContextResult> {
    let purpose = known("state.pending.purpose", Some(&state.pending.purpose), &PURPOSES)?;
    let diagnostics = state.pending.diagnostics.unwrap_or_default().into_iter().map(DiagnosticIn::finish);
    let pending = Pending {
        purpose: purpose.unwrap_or(Purpose::Match),
        inherited: state.pending.inherited,
        accumulated: state.pending.accumulated,
        diagnostics: diagnostics.collect::<Result<_>>()?,
    };
    let matches = answer.matches.into_iter().map(|MatchIn(path, AnyJson(metadata))| (path, metadata)).collect();
    let mut result = finish(&pending, Answer { context: answer.context, inherited: answer.inherited, matches });
    result.diagnostics.extend(found);
    state.sizes.unwrap_or_default().check(&mut result, tokenizers)?;
    Ok(result)
}

/// Finishes an assembly; state, answer and result are JSON.
///
/// # Errors
/// [`InvalidInput`](crate::Code::InvalidInput), [`UnknownValue`](crate::Code::UnknownValue) and
/// [`ContextTooLong`](crate::Code::ContextTooLong).
pub fn finish_json(state: &[u8], answer: &[u8], tokenizers: &Tokenizers) -> Result<Vec<u8>> {
    let (answer, found) = json::repair_surrogates(answer);
    json::write(&finish_assembly(json::read(state)?, json::read(&answer)?, tokenizers, found)?)
}
