//! The result of a sequential or reduce task when something in it fails (SPEC §4, the seed's partial results).

use serde::Serialize;

use crate::text::trim;

use super::assemble::StepOutput;
use super::settings::{Accumulation, Format};
use super::xml::shown;

/// The state when a step has failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SequentialFailureInput {
    /// How the sequence accumulates: whether the failure holds notes or whole outputs.
    pub accumulation: Accumulation,
    /// The results of the steps before, in order.
    pub outputs: Vec<StepOutput>,
    /// The id of the step that failed; none when it was the assembly of the sequence's own context.
    pub failed_step: Option<String>,
    /// How many steps there are.
    pub total_steps: usize,
    /// Why it failed, in the seed's taxonomy; `subtask_failure` unless it is given.
    pub reason: Option<String>,
    /// The error.
    pub message: Option<String>,
}

/// What is known when an inner task or the reduction has failed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReduceFailureInput {
    /// The id of the input that was being processed; none when it was the reduction over all results that failed.
    pub failed_input: Option<String>,
    /// What the inner task gave for the inputs before, in order; the step is the id of the input.
    pub outputs: Vec<StepOutput>,
    /// How many inputs there are, where it is known.
    pub total_inputs: Option<usize>,
    /// What the reduction has given so far.
    pub accumulator: Option<String>,
    /// Why it failed, in the seed's taxonomy; `subtask_failure` unless it is given.
    pub reason: Option<String>,
    /// The error.
    pub message: Option<String>,
}

/// The result of a sequential task of which a step has failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SequentialFailure {
    /// Always `TASK_FAILURE`.
    pub r#type: &'static str,
    /// Why.
    pub reason: String,
    /// What went wrong, in words.
    pub message: String,
    /// The id of the step that failed; none when it was the assembly of the sequence's own context.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed_step: Option<String>,
    /// How many steps there are.
    pub total_steps: usize,
    /// What the steps before gave.
    pub notes: PartialNotes,
}

/// The result of a reduce task in which something has failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReduceFailure {
    /// Always `TASK_FAILURE`.
    pub r#type: &'static str,
    /// Why.
    pub reason: String,
    /// What went wrong, in words.
    pub message: String,
    /// The id of the input that was being processed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed_input: Option<String>,
    /// The ids of the inputs that the inner task is done with, in order.
    pub processed_inputs: Vec<String>,
    /// How many inputs there are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_inputs: Option<usize>,
    /// What the reduction has given so far.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accumulator: Option<String>,
    /// What the inner task gave.
    pub notes: PartialNotes,
}

/// The part of an error result that says what was done before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PartialNotes {
    /// One for each that succeeded, in order.
    pub partial_results: Vec<Partial>,
}

/// What one step, or the inner task for one input, gave.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Partial {
    /// A step's whole output.
    Output {
        /// The step's id.
        step: String,
        /// What it put out.
        output: String,
    },
    /// A step's notes.
    Notes {
        /// The step's id.
        step: String,
        /// What is worth knowing of it.
        notes: String,
    },
    /// What the inner task gave.
    Input {
        /// The input's id.
        input: String,
        /// What it put out.
        output: String,
        /// What is worth knowing of it.
        #[serde(skip_serializing_if = "Option::is_none")]
        notes: Option<String>,
    },
}

const TYPE: &str = "TASK_FAILURE";
const REASON: &str = "subtask_failure";

/// The result of a sequential task of which a step has failed. Every completed step is in it: with its notes, or with its
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
    }
}

/// Notes that say something: blank ones are none.
fn given_notes(notes: Option<String>) -> Option<String> {
    notes.filter(|notes| !trim(notes).is_empty())
}

/// The result of a reduce task in which an inner task or the reduction has failed.
pub fn reduce_failure(input: ReduceFailureInput) -> ReduceFailure {
    let message = input.message.unwrap_or_else(|| match &input.failed_input {
        Some(id) => format!("the input `{}` failed after {} others", shown(id), input.outputs.len()),
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
    }
}
