//! What one operator sees (SPEC §4): sans-IO, in one step or two.
//!
//! [`begin`] is ready at once, or says what the memory system has to be asked; [`finish`] takes its answer.

use serde::Serialize;
use serde_json::Value;

use crate::error::{Code, Diagnostic, DiagnosticCode, Error, Result, Severity};
use crate::tokens::Counter;

use super::settings::{Accumulation, Format, Fresh, Inherit};
use super::task::{Kind, Operator};
use super::xml::shown;

/// What an assembly is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AssemblyRequest {
    /// Whose context it is.
    pub task: Operator,
    /// What the task is about; the task's description unless it is given.
    pub task_text: Option<String>,
    /// The context of the task around it.
    pub parent_context: Option<String>,
    /// What the steps before gave, in order.
    pub previous_outputs: Vec<StepOutput>,
    /// How they reach the task, where not the task's own settings say it but those of the sequence that it is a step of.
    pub accumulation: Option<Accumulation>,
    /// What stands above each part of the memory system's input.
    pub headings: Headings,
}

impl AssemblyRequest {
    /// A request for a task alone.
    pub fn new(task: Operator) -> Self {
        Self {
            task,
            task_text: None,
            parent_context: None,
            previous_outputs: Vec::new(),
            accumulation: None,
            headings: Headings::default(),
        }
    }
}

/// What one step gave.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StepOutput {
    /// The step's id.
    pub step: String,
    /// All that it put out.
    pub output: String,
    /// What is worth knowing of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notes: Option<String>,
}

/// The headings of the memory system's input as one text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Headings {
    /// Above what the task is about.
    pub task: String,
    /// Above the parent's context.
    pub inherited_context: String,
    /// Above what the steps before gave.
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

/// What the memory system is given: the seed's structure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ContextGenerationInput {
    /// What the task is about.
    pub task_text: String,
    /// The parent's context, unless the task inherits none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inherited_context: Option<String>,
    /// What was accumulated, where the task accumulates.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub previous_outputs: Option<String>,
}

/// What the memory system is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Purpose {
    /// New context.
    Match,
    /// What matters of the parent's context, and nothing new.
    Filter,
    /// Both.
    FilterAndMatch,
}

/// What became of a request.
#[derive(Clone, Debug, PartialEq)]
pub enum Begun {
    /// The context is assembled.
    Ready(ContextResult),
    /// The memory system has to be asked.
    Match(Box<Match>),
}

/// A question to the memory system.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Match {
    /// What it is asked.
    pub input: ContextGenerationInput,
    /// The same as one text, under headings.
    pub text: String,
    /// What it is asked for.
    pub purpose: Purpose,
    /// What [`finish`] needs besides the answer.
    pub state: Pending,
}

/// An assembly that waits for the memory system.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Pending {
    /// What the memory system was asked for.
    pub purpose: Purpose,
    /// The parent's context, when all of it is in the result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inherited: Option<String>,
    /// What was accumulated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accumulated: Option<String>,
    /// What was found so far.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub diagnostics: Vec<Diagnostic>,
}

/// What the memory system answered.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    /// What it has to say.
    pub context: String,
    /// What matters of the parent's context, where the memory system tells it apart from what is new.
    pub inherited: Option<String>,
    /// What it found, best left in its order: a path, and whatever it says of it.
    pub matches: Vec<(String, Value)>,
}

/// A context, in its parts and as one text.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ContextResult {
    /// The parts that are there, with a blank line between them: inherited, accumulated, fresh.
    pub context: String,
    /// What comes from the parent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inherited: Option<String>,
    /// What comes from the steps before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accumulated: Option<String>,
    /// What the memory system has found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fresh: Option<String>,
    /// Its matches, as they came.
    pub matches: Vec<(String, Value)>,
    /// Tokens of `context`, where sizes were asked about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u32>,
    /// What was found on the way.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub diagnostics: Vec<Diagnostic>,
}

/// Begins an assembly.
///
/// The memory system is asked when fresh context is enabled, and when a part of the parent's context is wanted and there
/// is one: never else.
///
/// # Errors
/// [`Code::MissingSetting`] when the task's type is not known and it does not say how its context is made.
pub fn begin(request: &AssemblyRequest) -> Result<Begun> {
    let task = &request.task;
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
        (false, false) => return Ok(Begun::Ready(result(inherited, accumulated, None, Vec::new(), diagnostics))),
    };
    let task_text = request.task_text.as_ref().or(task.description.as_ref()).cloned().unwrap_or_default();
    let input =
        ContextGenerationInput { task_text, inherited_context: parent.cloned(), previous_outputs: accumulated.clone() };
    let text = render(&input, &request.headings);
    let state = Pending { purpose, inherited, accumulated, diagnostics };
    Ok(Begun::Match(Box::new(Match { input, text, purpose, state })))
}

/// Finishes an assembly with what the memory system answered.
pub fn finish(state: &Pending, answer: Answer) -> ContextResult {
    let said = Some(answer.context).filter(|context| !context.is_empty());
    let (inherited, fresh) = match state.purpose {
        Purpose::Match => (state.inherited.clone(), said),
        // A filter's answer is a part of what it was given, whichever field it comes in.
        Purpose::Filter => (answer.inherited.filter(|part| !part.is_empty()).or(said), None),
        Purpose::FilterAndMatch => (answer.inherited.filter(|part| !part.is_empty()), said),
    };
    result(inherited, state.accumulated.clone(), fresh, answer.matches, state.diagnostics.clone())
}

fn result(
    inherited: Option<String>,
    accumulated: Option<String>,
    fresh: Option<String>,
    matches: Vec<(String, Value)>,
    diagnostics: Vec<Diagnostic>,
) -> ContextResult {
    let mut context = String::new();
    for part in [&inherited, &accumulated, &fresh].into_iter().flatten() {
        if !context.is_empty() {
            context.push_str("\n\n");
        }
        context.push_str(part);
    }
    ContextResult { context, inherited, accumulated, fresh, matches, tokens: None, diagnostics }
}

/// What the steps gave, each under its id; nothing when there is nothing.
fn accumulate(outputs: &[StepOutput], format: Format, diagnostics: &mut Vec<Diagnostic>) -> Option<String> {
    let mut all = String::new();
    for (index, step) in outputs.iter().enumerate() {
        let said = match format {
            Format::FullOutput => Some(&step.output),
            Format::NotesOnly => step.notes.as_ref(),
        };
        let Some(said) = said else {
            let message = format!(
                "the step `{}` has no notes, and only notes are accumulated; it was left out",
                shown(&step.step)
            );
            let diagnostic = Diagnostic::new(DiagnosticCode::NotesMissing, Severity::Warning, message);
            diagnostics.push(diagnostic.at_path(format!("previousOutputs[{index}]")));
            continue;
        };
        if !all.is_empty() {
            all.push_str("\n\n");
        }
        all.push_str("### ");
        all.push_str(&step.step);
        all.push_str("\n\n");
        all.push_str(said);
    }
    Some(all).filter(|all| !all.is_empty())
}

fn render(input: &ContextGenerationInput, headings: &Headings) -> String {
    let sections = [
        (&headings.task, Some(&input.task_text)),
        (&headings.inherited_context, input.inherited_context.as_ref()),
        (&headings.previous_outputs, input.previous_outputs.as_ref()),
    ];
    let sections = sections.into_iter().filter_map(|(heading, text)| Some(format!("{heading}\n\n{}", text?)));
    sections.collect::<Vec<_>>().join("\n\n")
}

#[cold]
fn missing(task: &Operator, setting: &str) -> Error {
    let kind = match &task.kind {
        Kind::Unknown(name) => shown(name),
        known => shown(known.as_str()),
    };
    Error::new(
        Code::MissingSetting,
        format!("a task of type `{kind}` has no defaults and does not say `{setting}`; add `<{setting}>` to its `<context_management>`"),
    )
    .with("setting", setting)
    .with("type", task.kind.as_str())
}

/// How large a context may be, in tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Budget {
    /// Above this there is a warning, and nothing else.
    pub warn: Option<u32>,
    /// Above this there is an error.
    pub max: Option<u32>,
}

impl Budget {
    /// Counts a result, and warns or refuses.
    ///
    /// # Errors
    /// [`Code::ContextTooLong`].
    pub fn check(&self, result: &mut ContextResult, counter: &dyn Counter) -> Result<()> {
        let tokens = counter.count(&result.context);
        result.tokens = Some(tokens);
        if let Some(max) = self.max.filter(|max| tokens > *max) {
            return Err(Error::new(
                Code::ContextTooLong,
                format!(
                    "the context has {tokens} tokens and `maxTokens` is {max}; let the task inherit or accumulate less"
                ),
            )
            .with("limit", max)
            .with("required", tokens)
            .with("overBy", tokens.saturating_sub(max)));
        }
        if let Some(warn) = self.warn.filter(|warn| tokens > *warn) {
            let message =
                format!("the context has {tokens} tokens, more than the {warn} of `warnTokens`; it is used as it is");
            result.diagnostics.push(Diagnostic::new(DiagnosticCode::ContextNearLimit, Severity::Warning, message));
        }
        Ok(())
    }
}
