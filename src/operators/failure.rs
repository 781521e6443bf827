//! The result of a sequential or reduce task after a failure, with partial results (docs/operators.md).

use serde::Serialize;
use serde_json::Value;

use crate::text::trim;

use super::assemble::StepOutput;
use super::settings::{Accumulation, Format};
use super::xml::shown;

/// The state after a step failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SequentialFailureInput {
    /// The accumulation of the sequence: whether the failure holds notes or whole outputs.
    pub accumulation: Accumulation,
    /// The results of the previous steps, in order.
    pub outputs: Vec<StepOutput>,
    /// The id of the failed step; `None` if the assembly of the sequence's context failed.
    pub failed_step: Option<String>,
    /// The number of steps.
    pub total_steps: usize,
    /// The reason, a code; defaults to `subtask_failure`.
    pub reason: Option<String>,
    /// The error.
    pub message: Option<String>,
    /// The failure result of the nested task that failed.
    pub cause: Option<Value>,
}

/// The state after an inner task or the reduction failed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReduceFailureInput {
    /// The id of the input that was being processed; `None` if the reduction over all results failed.
    pub failed_input: Option<String>,
    /// The outputs of the inner task for earlier inputs, in order; `step` is the id of the input.
    pub outputs: Vec<StepOutput>,
    /// The number of inputs, if known.
    pub total_inputs: Option<usize>,
    /// The output of the reduction so far.
    pub accumulator: Option<String>,
    /// The reason, a code; defaults to `subtask_failure`.
    pub reason: Option<String>,
    /// The error.
    pub message: Option<String>,
    /// The failure result of the nested task that failed.
    pub cause: Option<Value>,
}

/// The result of a sequential task with a failed step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SequentialFailure {
    /// Always `TASK_FAILURE`.
    pub r#type: &'static str,
    /// The reason, a code.
    pub reason: String,
    /// The error in words.
    pub message: String,
    /// The id of the failed step; `None` if the assembly of the sequence's context failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed_step: Option<String>,
    /// The number of steps.
    pub total_steps: usize,
    /// The outputs of the previous steps.
    pub notes: PartialNotes,
    /// The failure result of the nested task that failed, with its own partial results.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<Value>,
}

/// The result of a reduce task after a failure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReduceFailure {
    /// Always `TASK_FAILURE`.
    pub r#type: &'static str,
    /// The reason, a code.
    pub reason: String,
    /// The error in words.
    pub message: String,
    /// The id of the input that was being processed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed_input: Option<String>,
    /// The ids of the inputs that the inner task has processed, in order.
    pub processed_inputs: Vec<String>,
    /// The number of inputs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_inputs: Option<usize>,
    /// The output of the reduction so far.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accumulator: Option<String>,
    /// The outputs of the inner task.
    pub notes: PartialNotes,
    /// The failure result of the nested task that failed, with its own partial results.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<Value>,
}

/// The partial results in an error result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PartialNotes {
    /// One entry per success, in order.
    pub partial_results: Vec<Partial>,
}

/// The result of one step, or of the inner task for one input.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Partial {
    /// A step's whole output.
    Output {
        /// The step's id.
        step: String,
        /// The output.
        output: String,
    },
    /// A step's notes.
    Notes {
        /// The step's id.
        step: String,
        /// The notes.
        notes: String,
    },
    /// The result of the inner task.
    Input {
        /// The input's id.
        input: String,
        /// The output.
        output: String,
        /// Notes on the output.
        #[serde(skip_serializing_if = "Option::is_none")]
        notes: Option<String>,
    },
}

const TYPE: &str = "TASK_FAILURE";
const REASON: &str = "subtask_failure";

/// The result of a sequential task with a failed step. It includes every completed step: with its notes, or with its
/// output if it has no notes or the sequence accumulates whole outputs.
pub fn sequential_failure(input: SequentialFailureInput) -> SequentialFailure {
    let message = input.message.unwrap_or_else(|| {
        let done = input.outputs.len();
        let step = shown(input.failed_step.as_deref().unwrap_or_default());
        format!("the step `{step}` failed after {done} of {} steps", input.total_steps)
    });
    let partial = |StepOutput { step, output, notes }: StepOutput| match (input.accumulation, given_notes(notes)) {
        (Accumulation::Off | Accumulation::On(Format::NotesOnly), Some(notes)) => Partial::Notes { step, notes },
        _ => Partial::Output { step, output },
    };
    let partial_results = input.outputs.into_iter().map(partial).collect();
    SequentialFailure {
        r#type: TYPE,
        reason: input.reason.unwrap_or_else(|| REASON.to_owned()),
        message,
        failed_step: input.failed_step,
        total_steps: input.total_steps,
        notes: PartialNotes { partial_results },
        cause: input.cause,
    }
}

/// The notes, unless they are blank.
fn given_notes(notes: Option<String>) -> Option<String> {
    notes.filter(|notes| !trim(notes).is_empty())
}

/// The result of a reduce task after an inner task or the reduction failed.
pub fn reduce_failure(input: ReduceFailureInput) -> ReduceFailure {
    let message = input.message.unwrap_or_else(|| match &input.failed_input {
        Some(id) => format!("the input `{}` failed after {} completed inputs", shown(id), input.outputs.len()),
        None => format!("the reduction over {} results failed", input.outputs.len()),
    });
    let processed_inputs = input.outputs.iter().map(|output| output.step.clone()).collect();
    let partial = |StepOutput { step, output, notes }: StepOutput| Partial::Input {
        input: step,
        output,
        notes: given_notes(notes),
    };
    let partial_results = input.outputs.into_iter().map(partial).collect();
    ReduceFailure {
        r#type: TYPE,
        reason: input.reason.unwrap_or_else(|| REASON.to_owned()),
        message,
        failed_input: input.failed_input,
        processed_inputs,
        total_inputs: input.total_inputs,
        accumulator: input.accumulator,
        notes: PartialNotes { partial_results },
        cause: input.cause,
    }
}
