//! Tasks, requests and runs as they come over the wire and go (SPEC §7).
//!
//! Every function has two faces: one for values that are decoded already, which the wasm boundary calls, and one from
//! JSON text to JSON text, ending in `_json`.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};

use crate::error::{Code, Diagnostic, DiagnosticCode, Error, Result, Severity};
use crate::json::{self, AnyJson};
use crate::limits::{self, LimitOverrides, XML_DEPTH_MAX};
use crate::tokens::Tokenizers;

use super::assemble::{
    Answer, AssemblyRequest, Begun, Budget, ContextGenerationInput, ContextResult, Headings, Pending, Purpose,
    StepOutput, begin, finish,
};
use super::explain::{Explained, explain};
use super::failure::{
    ReduceFailure, ReduceFailureInput, SequentialFailure, SequentialFailureInput, reduce_failure, sequential_failure,
};
#[cfg(target_arch = "wasm32")]
use super::parse::parse_task;
use super::parse::{ParseOptions, ParsedTask, parse_bytes};
use super::run::{Next, Record, Run, RunInput};
use super::settings::{Accumulation, ContextManagement, Format, Fresh, Inherit, Origin, Origins};
use super::task::{Kind, Operator, Role, Span, Task};
use super::write::{without_source, write_source};

// ---------------------------------------------------------------------------------------------------------------------
// Names
// ---------------------------------------------------------------------------------------------------------------------

fn known<T: Copy>(path: &str, name: Option<&str>, names: &[(&'static str, T)]) -> Result<Option<T>> {
    let Some(name) = name else { return Ok(None) };
    match names.iter().find(|(known, _)| *known == name) {
        Some((_, value)) => Ok(Some(*value)),
        None => {
            let expected: Vec<&str> = names.iter().map(|(name, _)| *name).collect();
            let message =
                format!("`{path}` is `{}`; it must be one of `{}`", super::xml::shown(name), expected.join("`, `"));
            let error = Error::new(Code::UnknownValue, message).with("value", name);
            Err(error.with("expected", expected).with("path", path))
        }
    }
}

fn named<T: Copy>(all: &[T], name: fn(T) -> &'static str) -> Vec<(&'static str, T)> {
    all.iter().map(|value| (name(*value), *value)).collect()
}

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

#[cold]
fn invalid(path: &str, message: &str) -> Error {
    Error::new(Code::InvalidInput, format!("`{path}` {message}")).with("path", path)
}

/// A result as JSON text.
#[cfg(target_arch = "wasm32")]
pub(crate) fn text(result: &impl Serialize) -> Result<String> {
    serde_json::to_string(result).map_err(|error| Error::new(Code::InternalError, error.to_string()))
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

// ---------------------------------------------------------------------------------------------------------------------
// Parsing and writing
// ---------------------------------------------------------------------------------------------------------------------

/// How to parse, as it came.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, expecting = "options, an object")]
pub(crate) struct ParseOptionsIn {
    mode: Option<String>,
    exclusive: Option<bool>,
    limits: Option<LimitOverrides>,
}

impl ParseOptionsIn {
    fn finish(self) -> Result<ParseOptions> {
        let strict = known("mode", self.mode.as_deref(), &[("compat", false), ("strict", true)])?.unwrap_or_default();
        let limits = self.limits.unwrap_or_default().resolve()?;
        Ok(ParseOptions { strict, exclusive: self.exclusive.unwrap_or_default(), limits })
    }
}

/// Parses a template. Of halves of surrogate pairs, which crossing has made U+FFFD of, it is told how many there are and
/// the UTF-16 offset of the first.
#[cfg(target_arch = "wasm32")]
pub(crate) fn parse(xml: &str, lone: Option<(usize, usize)>, options: Option<ParseOptionsIn>) -> Result<ParsedTask> {
    let mut parsed = parse_task(xml, &options.unwrap_or_default().finish()?)?;
    if let Some((count, at)) = lone {
        let place = super::xml::place_of_unit(xml, at);
        let found = json::surrogate_diagnostic(count, "xml".to_owned());
        let found = Diagnostic { line: Some(place.line), column: Some(place.column), ..found };
        parsed.diagnostics.insert(0, found);
    }
    Ok(parsed)
}

/// Parses a template that comes as bytes.
pub(crate) fn parse_of_bytes(xml: &[u8], options: Option<ParseOptionsIn>) -> Result<ParsedTask> {
    parse_bytes(xml, &options.unwrap_or_default().finish()?)
}

/// Parses a template; the options are JSON, and so is the result.
///
/// # Errors
/// Those of [`parse_bytes`] and [`Code::InvalidInput`].
pub fn parse_task_json(xml: &[u8], options: &[u8]) -> Result<Vec<u8>> {
    json::write(&parse_of_bytes(xml, json::read(options)?)?)
}

/// A task of which only the template is wanted.
#[derive(Debug, Deserialize)]
#[serde(expecting = "a task, an object")]
pub(crate) struct SourceIn {
    source: Option<String>,
}

/// Writes a task back.
pub(crate) fn write(task: &SourceIn) -> Result<String> {
    // What was read under wider limits than the defaults can be written all the same.
    let limits = LimitOverrides {
        xml_bytes: Some(f64::from(u32::MAX)),
        xml_depth: Some(f64::from(XML_DEPTH_MAX)),
        xml_elements: Some(f64::from(u32::MAX)),
        xml_attributes: Some(f64::from(u32::MAX)),
        ..LimitOverrides::default()
    };
    write_source(task.source.as_ref().ok_or_else(without_source)?, limits.resolve()?)
}

/// Writes a task in JSON back; the result is a JSON string.
///
/// # Errors
/// Those of [`super::write_task`].
pub fn write_task_json(task: &[u8]) -> Result<Vec<u8>> {
    json::write(&write(&json::read(task)?)?)
}

// ---------------------------------------------------------------------------------------------------------------------
// Operators and tasks
// ---------------------------------------------------------------------------------------------------------------------

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, expecting = "context settings, an object")]
struct SettingsIn {
    inherit_context: Option<String>,
    accumulate_data: Option<bool>,
    accumulation_format: Option<String>,
    fresh_context: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, expecting = "origins, an object")]
struct OriginsIn {
    r#type: Option<String>,
    inherit_context: Option<String>,
    accumulate_data: Option<String>,
    accumulation_format: Option<String>,
    fresh_context: Option<String>,
}

/// An operator as it came. All of it may be left out.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, expecting = "a task, an object")]
struct OperatorIn {
    r#type: Option<String>,
    role: Option<String>,
    id: Option<String>,
    description: Option<String>,
    context_management: Option<SettingsIn>,
    origins: Option<OriginsIn>,
}

impl OperatorIn {
    fn finish(self, path: &str, role: Role) -> Result<Operator> {
        let kind_said = self.r#type.is_some();
        let kind = Kind::named(self.r#type.as_deref().unwrap_or("atomic"));
        let at = |field: &str| format!("{path}.{field}");
        let roles = named(Role::ALL, Role::as_str);
        let role = known(&at("role"), self.role.as_deref(), &roles)?.unwrap_or(role);
        let said = self.context_management.unwrap_or_default();
        let in_settings = |field: &str| at(&format!("contextManagement.{field}"));
        let said = ContextManagement {
            inherit_context: known(
                &in_settings("inheritContext"),
                said.inherit_context.as_deref(),
                &named(Inherit::ALL, Inherit::as_str),
            )?,
            accumulate_data: said.accumulate_data,
            accumulation_format: known(
                &in_settings("accumulationFormat"),
                said.accumulation_format.as_deref(),
                &named(Format::ALL, Format::as_str),
            )?,
            fresh_context: known(
                &in_settings("freshContext"),
                said.fresh_context.as_deref(),
                &named(Fresh::ALL, Fresh::as_str),
            )?,
        };
        if said.accumulate_data == Some(true) && matches!(kind, Kind::Atomic | Kind::Reduce) {
            let message = format!("must not be true: a task of type `{}` accumulates nothing", kind.as_str());
            return Err(invalid(&in_settings("accumulateData"), &message));
        }
        let (context_management, given) = said.or(&ContextManagement::defaults(&kind, role));
        let overlay = |name: &Option<String>, given: Option<Origin>| match (name.as_deref(), given) {
            // Of a parsed task it is known that a value was not said.
            (Some("default"), Some(_)) => Some(Origin::Default),
            (_, given) => given,
        };
        let origins = self.origins.unwrap_or_default();
        let kind_origin = if kind_said { Origin::Explicit } else { Origin::Default };
        let origins = Origins {
            kind: overlay(&origins.r#type, Some(kind_origin)),
            inherit_context: overlay(&origins.inherit_context, given.inherit_context),
            accumulate_data: overlay(&origins.accumulate_data, given.accumulate_data),
            accumulation_format: overlay(&origins.accumulation_format, given.accumulation_format),
            fresh_context: overlay(&origins.fresh_context, given.fresh_context),
        };
        Ok(Operator { kind, role, id: self.id, description: self.description, context_management, origins })
    }
}

/// A task with all that is in it, as it came.
#[derive(Debug, Default)]
pub(crate) struct TaskIn {
    operator: OperatorIn,
    steps: Option<Vec<TaskIn>>,
    inner_task: Option<Box<TaskIn>>,
    reduction_task: Option<Box<TaskIn>>,
    task: Option<Box<TaskIn>>,
    line: Option<u32>,
    column: Option<u32>,
}

impl TaskIn {
    fn finish(self, path: &str, role: Role) -> Result<Task> {
        let part = |part: Option<Box<Self>>, name: &str, role: Role| {
            part.map(|part| part.finish(&format!("{path}.{name}"), role).map(Box::new)).transpose()
        };
        let steps = self.steps.map(|steps| {
            let steps = steps.into_iter().enumerate();
            steps.map(|(index, step)| step.finish(&format!("{path}.steps[{index}]"), Role::Step)).collect()
        });
        Ok(Task {
            steps: steps.transpose()?,
            inner_task: part(self.inner_task, "innerTask", Role::InnerTask)?,
            reduction_task: part(self.reduction_task, "reductionTask", Role::ReductionTask)?,
            task: part(self.task, "task", Role::Task)?,
            operator: self.operator.finish(path, role)?,
            elements: Vec::new(),
            line: self.line.unwrap_or_default(),
            column: self.column.unwrap_or_default(),
            span: Span::default(),
            source: None,
        })
    }
}

impl<'de> Deserialize<'de> for TaskIn {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        // A task within a task is at least one element deeper.
        Nested { left: XML_DEPTH_MAX }.deserialize(deserializer)
    }
}

/// Reads a task that may hold others, but not deeper than any template can be.
#[derive(Clone, Copy, Debug)]
struct Nested {
    left: u32,
}

#[derive(Deserialize)]
#[serde(field_identifier, rename_all = "camelCase")]
enum Field {
    Type,
    Role,
    Id,
    Description,
    ContextManagement,
    Origins,
    Steps,
    InnerTask,
    ReductionTask,
    Task,
    Line,
    Column,
    #[serde(other)]
    Other,
}

const TASK_FIELDS: &[&str] = &[
    "type",
    "role",
    "id",
    "description",
    "contextManagement",
    "origins",
    "steps",
    "innerTask",
    "reductionTask",
    "task",
    "line",
    "column",
];

impl<'de> DeserializeSeed<'de> for Nested {
    type Value = TaskIn;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> std::result::Result<TaskIn, D::Error> {
        deserializer.deserialize_struct("Task", TASK_FIELDS, self)
    }
}

impl<'de> Visitor<'de> for Nested {
    type Value = TaskIn;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a task, an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<TaskIn, A::Error> {
        let inner = Self { left: self.left.checked_sub(1).ok_or_else(json::too_deep)? };
        let mut task = TaskIn::default();
        let operator = &mut task.operator;
        while let Some(field) = map.next_key()? {
            match field {
                Field::Type => operator.r#type = map.next_value()?,
                Field::Role => operator.role = map.next_value()?,
                Field::Id => operator.id = map.next_value()?,
                Field::Description => operator.description = map.next_value()?,
                Field::ContextManagement => operator.context_management = map.next_value()?,
                Field::Origins => operator.origins = map.next_value()?,
                Field::Steps => task.steps = map.next_value_seed(Steps(inner))?,
                Field::InnerTask => task.inner_task = map.next_value_seed(Part(inner))?,
                Field::ReductionTask => task.reduction_task = map.next_value_seed(Part(inner))?,
                Field::Task => task.task = map.next_value_seed(Part(inner))?,
                Field::Line => task.line = map.next_value()?,
                Field::Column => task.column = map.next_value()?,
                Field::Other => drop(map.next_value::<serde::de::IgnoredAny>()?),
            }
        }
        Ok(task)
    }
}

/// A task that may be left out.
struct Part(Nested);

impl<'de> DeserializeSeed<'de> for Part {
    type Value = Option<Box<TaskIn>>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> std::result::Result<Self::Value, D::Error> {
        deserializer.deserialize_option(self)
    }
}

impl<'de> Visitor<'de> for Part {
    type Value = Option<Box<TaskIn>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a task, an object")
    }

    fn visit_none<E>(self) -> std::result::Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> std::result::Result<Self::Value, D::Error> {
        self.0.deserialize(deserializer).map(Box::new).map(Some)
    }
}

/// A list of tasks that may be left out.
struct Steps(Nested);

impl<'de> DeserializeSeed<'de> for Steps {
    type Value = Option<Vec<TaskIn>>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> std::result::Result<Self::Value, D::Error> {
        deserializer.deserialize_option(self)
    }
}

impl<'de> Visitor<'de> for Steps {
    type Value = Option<Vec<TaskIn>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of tasks")
    }

    fn visit_none<E>(self) -> std::result::Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> std::result::Result<Self::Value, D::Error> {
        deserializer.deserialize_seq(List(self.0)).map(Some)
    }
}

struct List(Nested);

impl<'de> Visitor<'de> for List {
    type Value = Vec<TaskIn>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of tasks")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> std::result::Result<Vec<TaskIn>, A::Error> {
        let mut tasks = Vec::new();
        while let Some(task) = seq.next_element_seed(self.0)? {
            tasks.push(task);
        }
        Ok(tasks)
    }
}

/// Explains a task.
pub(crate) fn explain_task(task: TaskIn) -> Result<Vec<Explained>> {
    Ok(explain(&task.finish("task", Role::Task)?))
}

/// Explains a task in JSON; the result is JSON too.
///
/// # Errors
/// [`Code::InvalidInput`], [`Code::UnknownValue`] and [`Code::LimitExceeded`].
pub fn explain_task_json(task: &[u8]) -> Result<Vec<u8>> {
    json::write(&explain_task(json::read(task)?)?)
}

// ---------------------------------------------------------------------------------------------------------------------
// Assembly
// ---------------------------------------------------------------------------------------------------------------------

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", expecting = "what a step gave, an object with `step` and `output`")]
struct StepOutputIn {
    step: String,
    output: String,
    notes: Option<String>,
}

fn outputs(outputs: Option<Vec<StepOutputIn>>) -> Vec<StepOutput> {
    let outputs = outputs.unwrap_or_default().into_iter();
    outputs.map(|it| StepOutput { step: it.step, output: it.output, notes: it.notes }).collect()
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, expecting = "headings, an object")]
struct HeadingsIn {
    task: Option<String>,
    inherited_context: Option<String>,
    previous_outputs: Option<String>,
}

impl HeadingsIn {
    fn finish(self) -> Headings {
        let defaults = Headings::default();
        Headings {
            task: self.task.unwrap_or(defaults.task),
            inherited_context: self.inherited_context.unwrap_or(defaults.inherited_context),
            previous_outputs: self.previous_outputs.unwrap_or(defaults.previous_outputs),
        }
    }
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
/// Those of [`begin`], [`Code::InvalidInput`], [`Code::UnknownValue`] and [`Code::ContextTooLong`].
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
/// [`Code::InvalidInput`], [`Code::UnknownValue`] and [`Code::ContextTooLong`].
pub fn finish_json(state: &[u8], answer: &[u8], tokenizers: &Tokenizers) -> Result<Vec<u8>> {
    let (answer, found) = json::repair_surrogates(answer);
    json::write(&finish_assembly(json::read(state)?, json::read(&answer)?, tokenizers, found)?)
}

// ---------------------------------------------------------------------------------------------------------------------
// Failures
// ---------------------------------------------------------------------------------------------------------------------

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, expecting = "what is known of the failure, an object")]
pub(crate) struct SequentialFailureIn {
    task: Option<RunTaskIn>,
    outputs: Option<Vec<StepOutputIn>>,
    failed_step: Option<String>,
    total_steps: Option<u32>,
    reason: Option<String>,
    message: Option<String>,
}

/// What a sequential task of which a step failed gives.
pub(crate) fn sequential_failure_of(input: SequentialFailureIn) -> Result<SequentialFailure> {
    let task = input.task.ok_or_else(|| invalid("task", "is missing; give the sequential task"))?;
    let steps = task.steps.as_ref().map(Vec::len);
    let total = input.total_steps.and_then(|total| usize::try_from(total).ok()).or(steps);
    Ok(sequential_failure(SequentialFailureInput {
        accumulation: task.head().finish("task", Role::Task)?.context_management.accumulation(),
        outputs: outputs(input.outputs),
        failed_step: input.failed_step.ok_or_else(|| invalid("failedStep", "is missing; give the id of the step"))?,
        total_steps: total.ok_or_else(|| invalid("totalSteps", "is missing, and `task` has no `steps`"))?,
        reason: input.reason,
        message: input.message,
    }))
}

/// What a sequential task of which a step failed gives; in and out as JSON.
///
/// # Errors
/// [`Code::InvalidInput`] and [`Code::UnknownValue`].
pub fn sequential_failure_json(input: &[u8]) -> Result<Vec<u8>> {
    json::write(&sequential_failure_of(json::read(input)?)?)
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", expecting = "what an input gave, an object with `input` and `output`")]
struct InputOutputIn {
    input: String,
    output: String,
    notes: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, expecting = "what is known of the failure, an object")]
pub(crate) struct ReduceFailureIn {
    failed_input: Option<String>,
    outputs: Option<Vec<InputOutputIn>>,
    total_inputs: Option<u32>,
    accumulator: Option<String>,
    reason: Option<String>,
    message: Option<String>,
}

/// What a reduce task in which something failed gives.
pub(crate) fn reduce_failure_of(input: ReduceFailureIn) -> ReduceFailure {
    let outputs = input.outputs.unwrap_or_default().into_iter();
    reduce_failure(ReduceFailureInput {
        failed_input: input.failed_input,
        outputs: outputs.map(|it| StepOutput { step: it.input, output: it.output, notes: it.notes }).collect(),
        total_inputs: input.total_inputs.and_then(|total| usize::try_from(total).ok()),
        accumulator: input.accumulator,
        reason: input.reason,
        message: input.message,
    })
}

/// What a reduce task in which something failed gives; in and out as JSON.
///
/// # Errors
/// [`Code::InvalidInput`].
pub fn reduce_failure_json(input: &[u8]) -> Result<Vec<u8>> {
    json::write(&reduce_failure_of(json::read(input)?))
}

// ---------------------------------------------------------------------------------------------------------------------
// Runs
// ---------------------------------------------------------------------------------------------------------------------

/// A task and the operators right below it.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, expecting = "a task, an object")]
struct RunTaskIn {
    r#type: Option<String>,
    role: Option<String>,
    id: Option<String>,
    description: Option<String>,
    context_management: Option<SettingsIn>,
    origins: Option<OriginsIn>,
    steps: Option<Vec<OperatorIn>>,
    inner_task: Option<OperatorIn>,
    reduction_task: Option<OperatorIn>,
}

impl RunTaskIn {
    fn head(self) -> OperatorIn {
        let Self { r#type, role, id, description, context_management, origins, .. } = self;
        OperatorIn { r#type, role, id, description, context_management, origins }
    }
}

/// An input of a reduce task: a text, or a text with an id.
#[derive(Debug)]
struct InputIn {
    id: Option<String>,
    text: String,
}

impl<'de> Deserialize<'de> for InputIn {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct TextOrObject;

        impl<'de> Visitor<'de> for TextOrObject {
            type Value = InputIn;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text, or an object with `id` and `text`")
            }

            fn visit_str<E>(self, text: &str) -> std::result::Result<InputIn, E> {
                Ok(InputIn { id: None, text: text.to_owned() })
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<InputIn, A::Error> {
                let (mut id, mut text) = (None, None);
                while let Some(key) = map.next_key::<String>()? {
                    match key.as_str() {
                        "id" => id = map.next_value()?,
                        "text" => text = Some(map.next_value()?),
                        _ => drop(map.next_value::<serde::de::IgnoredAny>()?),
                    }
                }
                Ok(InputIn { id, text: text.ok_or_else(|| serde::de::Error::missing_field("text"))? })
            }
        }

        deserializer.deserialize_any(TextOrObject)
    }
}

#[derive(Debug, Deserialize)]
#[serde(expecting = "a failure, an object with `message`")]
struct FailedIn {
    message: String,
    reason: Option<String>,
}

/// A run as it comes, at its beginning or later.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, expecting = "a run, an object")]
pub(crate) struct RunIn {
    task: Option<RunTaskIn>,
    inputs: Option<Vec<InputIn>>,
    reduction: Option<String>,
    parent_context: Option<String>,
    headings: Option<HeadingsIn>,
    context: Option<String>,
    outputs: Option<Vec<StepOutputIn>>,
    reduced: Option<u32>,
    accumulator: Option<String>,
    failure: Option<FailedIn>,
}

impl RunIn {
    fn finish(self) -> Result<Run> {
        let mut task = self.task.ok_or_else(|| invalid("task", "is missing; give a sequential or reduce task"))?;
        let steps = std::mem::take(&mut task.steps).unwrap_or_default().into_iter().enumerate();
        let steps = steps.map(|(index, step)| step.finish(&format!("task.steps[{index}]"), Role::Step));
        let part = |part: Option<OperatorIn>, name: &str, role: Role| {
            part.map(|part| part.finish(&format!("task.{name}"), role)).transpose()
        };
        let inputs = self.inputs.unwrap_or_default().into_iter().enumerate();
        let input = RunInput {
            steps: steps.collect::<Result<_>>()?,
            inner_task: part(task.inner_task.take(), "innerTask", Role::InnerTask)?,
            reduction_task: part(task.reduction_task.take(), "reductionTask", Role::ReductionTask)?,
            task: task.head().finish("task", Role::Task)?,
            inputs: inputs
                .map(|(index, input)| {
                    (input.id.unwrap_or_else(|| format!("input-{}", index.saturating_add(1))), input.text)
                })
                .collect(),
            reduce_each: known("reduction", self.reduction.as_deref(), &[("all", false), ("each", true)])?
                .unwrap_or_default(),
            parent_context: self.parent_context,
            headings: self.headings.unwrap_or_default().finish(),
        };
        let mut run = Run::new(input)?;
        run.context = self.context;
        run.outputs = outputs(self.outputs);
        run.reduced = self.reduced.and_then(|reduced| usize::try_from(reduced).ok()).unwrap_or_default();
        run.accumulator = self.accumulator;
        run.failure = self.failure.map(|failure| (failure.message, failure.reason));
        Ok(run)
    }
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct RunTaskOut {
    r#type: Kind,
    role: Role,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    context_management: ContextManagement,
    origins: Origins,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    steps: Vec<Operator>,
    #[serde(skip_serializing_if = "Option::is_none")]
    inner_task: Option<Operator>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reduction_task: Option<Operator>,
}

#[derive(Debug, Serialize)]
struct InputOut {
    id: String,
    text: String,
}

#[derive(Debug, Serialize)]
struct FailedOut {
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

/// A run as it goes: what [`RunIn`] takes.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RunOut {
    task: RunTaskOut,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    inputs: Vec<InputOut>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reduction: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent_context: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    headings: Option<Headings>,
    #[serde(skip_serializing_if = "Option::is_none")]
    context: Option<String>,
    outputs: Vec<StepOutput>,
    reduced: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    accumulator: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    failure: Option<FailedOut>,
}

fn unless_default(headings: Headings) -> Option<Headings> {
    Some(headings).filter(|headings| *headings != Headings::default())
}

impl From<Run> for RunOut {
    fn from(run: Run) -> Self {
        let input = run.input;
        let task = input.task;
        Self {
            task: RunTaskOut {
                r#type: task.kind,
                role: task.role,
                id: task.id,
                description: task.description,
                context_management: task.context_management,
                origins: task.origins,
                steps: input.steps,
                inner_task: input.inner_task,
                reduction_task: input.reduction_task,
            },
            inputs: input.inputs.into_iter().map(|(id, text)| InputOut { id, text }).collect(),
            reduction: input.reduce_each.then_some("each"),
            parent_context: input.parent_context,
            headings: unless_default(input.headings),
            context: run.context,
            outputs: run.outputs,
            reduced: run.reduced,
            accumulator: run.accumulator,
            failure: run.failure.map(|(message, reason)| FailedOut { message, reason }),
        }
    }
}

/// A request as a run gives it: what [`AssemblyIn`] takes.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct AssemblyOut {
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

/// Either failure.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum FailureOut {
    Sequential(SequentialFailure),
    Reduce(ReduceFailure),
}

#[derive(Debug, Serialize)]
struct ResultOut {
    input: String,
    output: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    notes: Option<String>,
}

/// What comes next, as it goes; which of the fields are there depends on the status.
#[derive(Debug, Default, Serialize)]
pub(crate) struct NextOut {
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    index: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    total: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    input: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    request: Option<AssemblyOut>,
    #[serde(skip_serializing_if = "Option::is_none")]
    accumulator: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    results: Option<Vec<ResultOut>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    outputs: Option<Vec<StepOutput>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    failure: Option<FailureOut>,
}

impl From<Next> for NextOut {
    fn from(next: Next) -> Self {
        let one = |status, step: super::run::StepRequest, input| Self {
            status,
            id: Some(step.id),
            index: Some(step.index),
            total: Some(step.total),
            input,
            request: Some(step.request.into()),
            ..Self::default()
        };
        match next {
            Next::Context(request) => Self { status: "context", request: Some(request.into()), ..Self::default() },
            Next::Step(step) => one("step", step, None),
            Next::Inner { step, input } => one("inner", step, Some(input)),
            Next::Reduction { request, accumulator, results } => {
                let results = results.into_iter();
                let results = results.map(|it| ResultOut { input: it.step, output: it.output, notes: it.notes });
                let (request, results) = (Some(request.into()), Some(results.collect()));
                Self { status: "reduction", request, accumulator, results, ..Self::default() }
            }
            Next::Done { output, outputs } => {
                Self { status: "done", output, outputs: Some(outputs), ..Self::default() }
            }
            Next::SequentialFailed(failure) => Self::failed(FailureOut::Sequential(failure)),
            Next::ReduceFailed(failure) => Self::failed(FailureOut::Reduce(failure)),
        }
    }
}

impl NextOut {
    fn failed(failure: FailureOut) -> Self {
        Self { status: "failed", failure: Some(failure), ..Self::default() }
    }
}

/// What came of what came next, as it came: exactly one of the three.
#[derive(Debug, Default, Deserialize)]
#[serde(
    rename_all = "camelCase",
    default,
    expecting = "what came of it, an object with `context`, `output` or `error`"
)]
pub(crate) struct RecordIn {
    context: Option<String>,
    output: Option<String>,
    notes: Option<String>,
    error: Option<FailedIn>,
}

impl RecordIn {
    fn finish(self) -> Result<Record> {
        match (self.context, self.output, self.error) {
            (Some(context), None, None) => Ok(Record::Context(context)),
            (None, Some(output), None) => Ok(Record::Output { output, notes: self.notes }),
            (None, None, Some(error)) => Ok(Record::Failed { message: error.message, reason: error.reason }),
            _ => Err(invalid("result", "must have exactly one of `context`, `output` and `error`")),
        }
    }
}

/// Begins a run.
pub(crate) fn start_run(input: RunIn) -> Result<RunOut> {
    input.finish().map(RunOut::from)
}

/// What comes next in a run.
pub(crate) fn next_request(run: RunIn) -> Result<NextOut> {
    Ok(run.finish()?.next().into())
}

/// The run after what came of what came next.
pub(crate) fn record_result(run: RunIn, result: RecordIn) -> Result<RunOut> {
    run.finish()?.record(result.finish()?).map(RunOut::from)
}

/// Begins a run; in and out as JSON.
///
/// # Errors
/// [`Code::InvalidInput`] and [`Code::UnknownValue`].
pub fn start_run_json(input: &[u8]) -> Result<Vec<u8>> {
    json::write(&start_run(json::read(input)?)?)
}

/// What comes next in a run; in and out as JSON.
///
/// # Errors
/// [`Code::InvalidInput`] and [`Code::UnknownValue`].
pub fn next_request_json(run: &[u8]) -> Result<Vec<u8>> {
    json::write(&next_request(json::read(run)?)?)
}

/// The run after what came of what came next; in and out as JSON.
///
/// # Errors
/// [`Code::RunOutOfOrder`], [`Code::InvalidInput`] and [`Code::UnknownValue`].
pub fn record_result_json(run: &[u8], result: &[u8]) -> Result<Vec<u8>> {
    json::write(&record_result(json::read(run)?, json::read(result)?)?)
}
