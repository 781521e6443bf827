//! Assembles the context of one operator (docs/operators.md): [`begin`] returns it, or a request for the memory system;
//! [`finish`] takes the answer.

use std::rc::Rc;

use serde::Serialize;
use serde_json::Value;

use crate::call::CallContext;
use crate::error::{Code, Diagnostic, DiagnosticCode, Error, Result, Severity};
use crate::markdown::{self, Blocks};
use crate::text::trim;
use crate::tokens::Counter;

use super::budget::{ContextBudget, ContextPart, ContextReport, over_limit};
use super::kind::named;
use super::settings::{Accumulation, Format, Fresh, Inherit};
use super::task::{Operator, RunTask};
use super::xml::shown;

/// The request for an assembly.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AssemblyRequest {
    /// The task whose context is assembled; in the request of a run with its children.
    pub task: RunTask,
    /// The subject of the task; defaults to its description.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_text: Option<String>,
    /// The parent task's context.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent_context: Option<String>,
    /// The outputs of the previous steps, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub previous_outputs: Vec<StepOutput>,
    /// How these outputs reach the task, if set by the sequence it is a step of instead of its settings.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accumulation: Option<Accumulation>,
    /// The heading above each part of the memory system's input.
    #[serde(skip_serializing_if = "Headings::are_default")]
    pub headings: Headings,
    /// The size limits of the context, and its counter.
    #[serde(flatten)]
    pub sizes: Sizes,
}

impl AssemblyRequest {
    /// A request for a task without a parent.
    pub fn new(task: impl Into<RunTask>) -> Self {
        Self {
            task: task.into(),
            task_text: None,
            parent_context: None,
            previous_outputs: Vec::new(),
            accumulation: None,
            headings: Headings::default(),
            sizes: Sizes::default(),
        }
    }
}

/// The output of one step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StepOutput {
    /// The step's id.
    pub step: String,
    /// The whole output.
    pub output: String,
    /// Notes on the output.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notes: Option<String>,
}

/// The headings in the text of the memory system's input.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Headings {
    /// The heading above the task text.
    pub task: String,
    /// The heading above the parent's context.
    pub inherited_context: String,
    /// The heading above the outputs of previous steps.
    pub previous_outputs: String,
}

impl Default for Headings {
    fn default() -> Self {
        Self {
            task: "## Task".to_owned(),
            inherited_context: "## Inherited Context".to_owned(),
            previous_outputs: "## Previous Outputs".to_owned(),
        }
    }
}

impl Headings {
    pub(super) fn are_default(&self) -> bool {
        *self == Self::default()
    }
}

/// The input of the memory system.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ContextGenerationInput {
    /// The task text.
    pub task_text: String,
    /// The parent's context, unless the task inherits none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inherited_context: Option<String>,
    /// The accumulated outputs, if the task accumulates.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub previous_outputs: Option<String>,
}

named! {
    /// The request to the memory system.
    Purpose {
        Match = "match", "New context.";
        Filter = "filter", "The relevant part of the parent's context only.";
        FilterAndMatch = "filterAndMatch", "Both.";
    }
}

/// A finished assembly, or one that waits for the memory system.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "status", rename_all = "camelCase")]
pub enum Begun {
    /// The context is assembled.
    Ready {
        /// The context.
        result: ContextResult,
    },
    /// The memory system has to be queried.
    Match {
        /// Its input.
        input: ContextGenerationInput,
        /// The input as one text, under headings.
        text: String,
        /// The request.
        purpose: Purpose,
        /// The state for [`finish`].
        state: AssemblyState,
    },
}

impl Begun {
    /// The diagnostics so far.
    pub fn diagnostics_mut(&mut self) -> &mut Vec<Diagnostic> {
        match self {
            Self::Ready { result } => &mut result.diagnostics,
            Self::Match { state, .. } => &mut state.pending.diagnostics,
        }
    }
}

/// An assembly that waits for the memory system, and the limits of its result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AssemblyState {
    /// The assembly.
    pub pending: Pending,
    /// The size limits of the context, and its counter.
    #[serde(skip_serializing_if = "Sizes::are_absent")]
    pub sizes: Sizes,
}

/// An assembly that waits for the memory system.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Pending {
    /// The request to the memory system.
    pub purpose: Purpose,
    /// The parent's context, if all of it is in the result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inherited: Option<String>,
    /// The accumulated outputs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accumulated: Option<String>,
    /// The diagnostics so far.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub diagnostics: Vec<Diagnostic>,
}

/// The answer of the memory system.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MemoryAnswer {
    /// The context it returned.
    pub context: String,
    /// The relevant part of the parent's context, if the memory system separates it from new context.
    pub inherited: Option<String>,
    /// Its matches in its order: a path, and metadata of any shape.
    pub matches: Vec<(String, Value)>,
}

/// A context, as separate parts and as one text.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ContextResult {
    /// The non-empty parts, joined by blank lines: inherited, accumulated, fresh.
    pub context: String,
    /// The part from the parent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inherited: Option<String>,
    /// The part from previous steps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accumulated: Option<String>,
    /// The part from the memory system.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fresh: Option<String>,
    /// Its matches, unchanged.
    pub matches: Vec<(String, Value)>,
    /// Tokens of `context`, if size limits were set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u32>,
    /// The report on the budget, if the request has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub report: Option<ContextReport>,
    /// The diagnostics.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub diagnostics: Vec<Diagnostic>,
}

/// Begins an assembly.
///
/// The memory system is queried only for fresh context and for the relevant part of a parent's context.
///
/// # Errors
/// [`Code::MissingSetting`] if the task's type is unknown and a context setting is missing; those of
/// [`crate::tokens::Tokenizers::get`], and [`Code::ContextTooLong`] if the context is ready.
pub fn begin(request: &AssemblyRequest, host: &CallContext) -> Result<Begun> {
    // An unknown tokenizer must fail before the memory system is queried.
    let counter = request.sizes.counter(host)?;
    let task = &request.task.operator;
    let settings = &task.context_management;
    let inherit = settings.inherit_context.ok_or_else(|| missing(task, "inherit_context"))?;
    let fresh = settings.fresh_context.ok_or_else(|| missing(task, "fresh_context"))? == Fresh::Enabled;
    let parent = request.parent_context.as_ref().filter(|parent| !parent.is_empty());
    let parent = parent.filter(|_| inherit != Inherit::None);

    let mut diagnostics = Vec::new();
    let accumulated = match request.accumulation.unwrap_or(settings.accumulation()) {
        Accumulation::On(format) => accumulate(&request.previous_outputs, format, &mut diagnostics),
        Accumulation::Off => None,
    };
    let filter = inherit == Inherit::Subset && parent.is_some();
    let inherited = parent.filter(|_| inherit == Inherit::Full).cloned();
    let purpose = match (filter, fresh) {
        (true, true) => Purpose::FilterAndMatch,
        (true, false) => Purpose::Filter,
        (false, true) => Purpose::Match,
        (false, false) => {
            let mut result = result(inherited, accumulated, None, Vec::new(), diagnostics);
            request.sizes.check(&mut result, counter.as_deref())?;
            return Ok(Begun::Ready { result });
        }
    };
    let task_text = request.task_text.as_ref().or(task.description.as_ref()).cloned().unwrap_or_default();
    let input =
        ContextGenerationInput { task_text, inherited_context: parent.cloned(), previous_outputs: accumulated.clone() };
    let text = render(&input, &request.headings, &mut diagnostics);
    let pending = Pending { purpose, inherited, accumulated, diagnostics };
    Ok(Begun::Match { input, text, purpose, state: AssemblyState { pending, sizes: request.sizes.clone() } })
}

/// Finishes an assembly with the answer of the memory system.
///
/// # Errors
/// [`Code::ContextTooLong`], and those of [`crate::tokens::Tokenizers::get`].
pub fn finish(state: AssemblyState, answer: MemoryAnswer, host: &CallContext) -> Result<ContextResult> {
    let AssemblyState { pending, sizes } = state;
    let known = pending.inherited.as_deref().or(answer.inherited.as_deref());
    let context = Some(without_parent(answer.context, known)).filter(|context| !context.is_empty());
    let part = answer.inherited.filter(|part| !part.is_empty());
    let (inherited, fresh) = match pending.purpose {
        Purpose::Match => (pending.inherited, context),
        // A filter's answer is part of its input, in either field.
        Purpose::Filter => (part.or(context), None),
        Purpose::FilterAndMatch => (part, context),
    };
    let mut result = result(inherited, pending.accumulated, fresh, answer.matches, pending.diagnostics);
    sizes.check(&mut result, sizes.counter(host)?.as_deref())?;
    Ok(result)
}

fn result(
    inherited: Option<String>,
    accumulated: Option<String>,
    fresh: Option<String>,
    matches: Vec<(String, Value)>,
    diagnostics: Vec<Diagnostic>,
) -> ContextResult {
    let parts: Vec<&str> = [&inherited, &accumulated, &fresh].into_iter().flatten().map(String::as_str).collect();
    let context = parts.join("\n\n");
    ContextResult { context, inherited, accumulated, fresh, matches, tokens: None, report: None, diagnostics }
}

/// The answer of a memory system that may return the parent's context before or after what it found. The result has
/// that text already.
fn without_parent(answer: String, parent: Option<&str>) -> String {
    let Some(parent) = parent.map(trim).filter(|parent| !parent.is_empty()) else { return answer };
    let text = trim(&answer);
    // Only whole lines are the parent's context; a longer line may merely begin with it.
    let after = text.strip_prefix(parent).filter(|rest| rest.is_empty() || rest.starts_with(['\n', '\r']));
    let before = || text.strip_suffix(parent).filter(|rest| rest.ends_with(['\n', '\r']));
    match after.or_else(before) {
        Some(rest) => trim(rest).to_owned(),
        None => answer,
    }
}

/// Joins the outputs of the steps, each under its id.
fn accumulate(outputs: &[StepOutput], format: Format, diagnostics: &mut Vec<Diagnostic>) -> Option<String> {
    let mut all = String::new();
    for (index, step) in outputs.iter().enumerate() {
        let kept = match format {
            Format::FullOutput => Some(&step.output),
            Format::NotesOnly => step.notes.as_ref(),
        };
        let Some(kept) = kept else {
            let step = shown(&step.step);
            let message = format!("only notes are accumulated and the step `{step}` has none; it was left out");
            let diagnostic = Diagnostic::new(DiagnosticCode::NotesMissing, Severity::Warning, message);
            diagnostics.push(diagnostic.at_path(format!("previousOutputs[{index}]")));
            continue;
        };
        if !all.is_empty() {
            all.push_str("\n\n");
        }
        for part in ["### ", &step.step, "\n\n", kept] {
            all.push_str(part);
        }
    }
    Some(all).filter(|all| !all.is_empty())
}

fn render(input: &ContextGenerationInput, headings: &Headings, diagnostics: &mut Vec<Diagnostic>) -> String {
    let sections = [
        ("taskText", &headings.task, Some(&input.task_text)),
        ("parentContext", &headings.inherited_context, input.inherited_context.as_ref()),
        ("previousOutputs", &headings.previous_outputs, input.previous_outputs.as_ref()),
    ];
    let mut all = Vec::new();
    for (name, heading, text) in sections {
        let Some(text) = text else { continue };
        let mut blocks = Blocks::default();
        for line in markdown::lines(text).filter(|line| !blocks.is_code(line.text)) {
            let own = trim(line.text);
            // A later section could begin at such a line.
            if !own.is_empty() && sections.iter().any(|(_, heading, _)| trim(heading) == own) {
                diagnostics.push(markdown::delimiter_found(&shown(own), name));
            }
        }
        all.push(format!("{heading}\n\n{text}"));
    }
    all.join("\n\n")
}

fn missing(task: &Operator, setting: &str) -> Error {
    let kind = task.kind.as_str();
    let message = format!(
        "a task of type `{}` has no defaults and lacks `{setting}`; add `<{setting}>` to its `<context_management>`",
        shown(kind)
    );
    Error::new(Code::MissingSetting, message).with("setting", setting).with("type", kind)
}

/// The counter of a context.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum CountedBy {
    /// A tokenizer, by name.
    Named(String),
    /// A custom counter, passed with the call.
    Custom {
        /// Its name.
        name: String,
    },
}

/// The size limits of a context, and its counter.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Sizes {
    /// Defaults to `heuristic`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokenizer: Option<CountedBy>,
    /// More tokens yield a warning.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warn_tokens: Option<u32>,
    /// More tokens are an error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u32>,
    /// The size that the context is cut to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget: Option<ContextBudget>,
}

impl Sizes {
    fn are_absent(&self) -> bool {
        *self == Self::default()
    }

    /// The counter, if a limit is set.
    fn counter(&self, host: &CallContext) -> Result<Option<Rc<dyn Counter>>> {
        if self.are_absent() {
            return Ok(None);
        }
        let lacking =
            || Error::new(Code::InvalidInput, "the assembly counts with a custom tokenizer; pass it as `tokenizer`");
        match &self.tokenizer {
            Some(CountedBy::Custom { .. }) => host.counter.clone().ok_or_else(lacking).map(Some),
            Some(CountedBy::Named(name)) => host.tokenizers.get(name).map(Some),
            None => host.tokenizers.get("heuristic").map(Some),
        }
    }

    /// Cuts a result to its budget.
    fn cut(&self, result: &mut ContextResult, counter: &dyn Counter) -> Result<()> {
        let Some(budget) = &self.budget else { return Ok(()) };
        let parts = [
            (ContextPart::Inherited, &result.inherited),
            (ContextPart::Accumulated, &result.accumulated),
            (ContextPart::Fresh, &result.fresh),
        ];
        let present: Vec<_> = parts.iter().filter_map(|(part, text)| Some((*part, text.as_deref()?))).collect();
        let cut = budget.apply(&present, counter)?;
        for (part, text) in cut.parts {
            match part {
                ContextPart::Inherited => result.inherited = text,
                ContextPart::Accumulated => result.accumulated = text,
                ContextPart::Fresh => result.fresh = text,
            }
        }
        (result.context, result.report) = (cut.context, Some(cut.report));
        Ok(())
    }

    /// Cuts and counts a result; warns or fails if it is too large.
    fn check(&self, result: &mut ContextResult, counter: Option<&dyn Counter>) -> Result<()> {
        let Some(counter) = counter else { return Ok(()) };
        self.cut(result, counter)?;
        let tokens = counter.count(&result.context);
        result.tokens = Some(tokens);
        if let Some(max) = self.max_tokens.filter(|max| tokens > *max) {
            return Err(over_limit(u64::from(tokens), "maxTokens", max));
        }
        if let Some(warn) = self.warn_tokens.filter(|warn| tokens > *warn) {
            let message = format!("the context has {tokens} tokens, over `warnTokens` of {warn}; it is used unchanged");
            result.diagnostics.push(Diagnostic::new(DiagnosticCode::ContextNearLimit, Severity::Warning, message));
        }
        Ok(())
    }
}
