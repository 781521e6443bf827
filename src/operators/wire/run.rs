//! Runs, which go out and come back with every step.

use std::fmt;

use serde::de::{Deserializer, MapAccess, Visitor};
use serde::{Deserialize, Serialize};

use super::super::assemble::{Headings, StepOutput};
use super::super::failure::{ReduceFailure, SequentialFailure};
use super::super::run::{Next, Record, Run, RunInput, StepRequest};
use super::super::settings::{ContextManagement, Origins};
use super::super::task::{Kind, Operator, Role};
use super::assembly::{AssemblyOut, HeadingsIn, StepOutputIn, outputs, unless_default};
use super::task::{OperatorIn, RunTaskIn};
use super::{invalid, known};
use crate::error::Result;
use crate::json;

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
        let one = |status, step: StepRequest, input| Self {
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
/// [`InvalidInput`](crate::Code::InvalidInput) and [`UnknownValue`](crate::Code::UnknownValue).
pub fn start_run_json(input: &[u8]) -> Result<Vec<u8>> {
    json::write(&start_run(json::read(input)?)?)
}

/// What comes next in a run; in and out as JSON.
///
/// # Errors
/// [`InvalidInput`](crate::Code::InvalidInput) and [`UnknownValue`](crate::Code::UnknownValue).
pub fn next_request_json(run: &[u8]) -> Result<Vec<u8>> {
    json::write(&next_request(json::read(run)?)?)
}

/// The run after what came of what came next; in and out as JSON.
///
/// # Errors
/// [`RunOutOfOrder`](crate::Code::RunOutOfOrder), [`InvalidInput`](crate::Code::InvalidInput) and
/// [`UnknownValue`](crate::Code::UnknownValue).
pub fn record_result_json(run: &[u8], result: &[u8]) -> Result<Vec<u8>> {
    json::write(&record_result(json::read(run)?, json::read(result)?)?)
}
