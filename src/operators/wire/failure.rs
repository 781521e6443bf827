//! What tasks in which something failed give.

use serde::Deserialize;

use super::super::assemble::StepOutput;
use super::super::failure::{
    ReduceFailure, ReduceFailureInput, SequentialFailure, SequentialFailureInput, reduce_failure, sequential_failure,
};
use super::super::task::Role;
use super::assembly::{StepOutputIn, outputs};
use super::invalid;
use super::task::RunTaskIn;
use crate::error::Result;
use crate::json;

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
/// [`InvalidInput`](crate::Code::InvalidInput) and [`UnknownValue`](crate::Code::UnknownValue).
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
/// [`InvalidInput`](crate::Code::InvalidInput).
pub fn reduce_failure_json(input: &[u8]) -> Result<Vec<u8>> {
    json::write(&reduce_failure_of(json::read(input)?))
}
