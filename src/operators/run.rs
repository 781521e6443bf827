//! Runs a sequential or a reduce task, one call at a time (docs/operators.md): a run returns the next request, and
//! takes its result.
//!
//! The task's context is assembled first. It is the parent context of the steps, or of the inner and the reduction
//! task, which follow their own settings; accumulation between steps follows the settings of the sequence.

use serde::Serialize;

use crate::error::{Code, Error, Result};

use super::assemble::{AssemblyRequest, Headings, StepOutput};
use super::failure::{
    ReduceFailure, ReduceFailureInput, SequentialFailure, SequentialFailureInput, reduce_failure, sequential_failure,
};
use super::kind::{Kind, OperatorRole, named};
use super::settings::Accumulation;
use super::task::{Operator, Task};

/// A task to run, and its direct children.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RunTask {
    /// The sequential or reduce task.
    #[serde(flatten)]
    pub operator: Operator,
    /// The steps of a sequential task.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<Operator>,
    /// The inner task of a reduce task; defaults to one with default settings.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inner_task: Option<Operator>,
    /// The reduction task of a reduce task; defaults to one with default settings.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reduction_task: Option<Operator>,
}

impl From<&Task> for RunTask {
    fn from(task: &Task) -> Self {
        Self {
            operator: task.operator.clone(),
            steps: task.steps.iter().flatten().map(|step| step.operator.clone()).collect(),
            inner_task: task.inner_task.as_ref().map(|task| task.operator.clone()),
            reduction_task: task.reduction_task.as_ref().map(|task| task.operator.clone()),
        }
    }
}

/// An input of a reduce task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ReduceInput {
    /// Its id in results.
    pub id: String,
    /// The text of the input.
    pub text: String,
}

named! {
    /// When the reduction of a reduce task runs.
    Reduction {
        All = "all", "Once, over all results.";
        Each = "each", "After each result.";
    }
}

impl Reduction {
    fn is_all(&self) -> bool {
        *self == Self::All
    }
}

/// An error.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StepError {
    /// The error in words.
    pub message: String,
    /// The reason, a code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// The state of a run: plain data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Run {
    /// The task and its children.
    pub task: RunTask,
    /// The inputs of a reduce task.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<ReduceInput>,
    /// When the reduction runs.
    #[serde(skip_serializing_if = "Reduction::is_all")]
    pub reduction: Reduction,
    /// The parent task's context.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent_context: Option<String>,
    /// The headings of every request.
    #[serde(skip_serializing_if = "Headings::are_default")]
    pub headings: Headings,
    /// The task's context, once assembled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// The outputs of the steps, or of the inner task for each input.
    pub outputs: Vec<StepOutput>,
    /// The number of outputs that the reduction has processed.
    pub reduced: usize,
    /// The output of the reduction so far.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accumulator: Option<String>,
    /// The failure, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<StepError>,
}

/// The output of the inner task for an input.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct InputOutput {
    /// The input's id.
    pub input: String,
    /// The whole output.
    pub output: String,
    /// Notes on the output.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notes: Option<String>,
}

/// The next request of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "status", rename_all = "camelCase")]
pub enum Next {
    /// Assemble the task's context.
    Context {
        /// The request for the context.
        request: AssemblyRequest,
    },
    /// Run a step.
    Step {
        /// The step's id.
        id: String,
        /// The index, from 0.
        index: usize,
        /// The number of steps.
        total: usize,
        /// The request for the step's context.
        request: AssemblyRequest,
    },
    /// Run the inner task on an input.
    Inner {
        /// The input's id.
        id: String,
        /// The index, from 0.
        index: usize,
        /// The number of inputs.
        total: usize,
        /// The text of the input.
        input: String,
        /// The request for the inner task's context.
        request: AssemblyRequest,
    },
    /// Run the reduction.
    Reduction {
        /// The request for its context.
        request: AssemblyRequest,
        /// Its output so far.
        #[serde(skip_serializing_if = "Option::is_none")]
        accumulator: Option<String>,
        /// The results it has not processed yet.
        results: Vec<InputOutput>,
    },
    /// The run is finished.
    Done {
        /// The output of the last step or of the reduction.
        #[serde(skip_serializing_if = "Option::is_none")]
        output: Option<String>,
        /// The outputs of the steps, or of the inner task for each input.
        outputs: Vec<StepOutput>,
    },
    /// A step, an inner task or the reduction failed.
    Failed {
        /// The failure result of the task.
        failure: Failure,
    },
}

/// The failure result of a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Failure {
    /// A step of a sequential task.
    Sequential(SequentialFailure),
    /// The inner task or the reduction of a reduce task.
    Reduce(ReduceFailure),
}

/// The result of the last request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunResult {
    /// The task's context.
    Context(String),
    /// The output of a step, an inner task or the reduction.
    Output {
        /// The whole output.
        output: String,
        /// Notes on the output.
        notes: Option<String>,
    },
    /// The request failed.
    Error(StepError),
}

impl Run {
    /// Begins a run.
    ///
    /// # Errors
    /// [`Code::InvalidInput`] for a task that is neither sequential nor reduce.
    pub fn new(task: impl Into<RunTask>) -> Result<Self> {
        let task = task.into();
        if !matches!(task.operator.kind, Kind::Sequential | Kind::Reduce) {
            let message = format!(
                "`task` is of type `{}`; only a `sequential` or `reduce` task can be run",
                super::xml::shown(task.operator.kind.as_str())
            );
            return Err(Error::new(Code::InvalidInput, message).with("path", "task.type"));
        }
        Ok(Self {
            task,
            inputs: Vec::new(),
            reduction: Reduction::All,
            parent_context: None,
            headings: Headings::default(),
            context: None,
            outputs: Vec::new(),
            reduced: 0,
            accumulator: None,
            failure: None,
        })
    }

    /// The next request.
    pub fn next(&self) -> Next {
        let sequential = self.task.operator.kind == Kind::Sequential;
        if let Some(error) = &self.failure {
            return Next::Failed { failure: self.failed(sequential, error.clone()) };
        }
        let Some(context) = &self.context else {
            return Next::Context { request: self.request(&self.task.operator, self.parent_context.as_ref()) };
        };
        if sequential { self.next_step(context) } else { self.next_of_reduce(context) }
    }

    fn request(&self, task: &Operator, parent_context: Option<&String>) -> AssemblyRequest {
        AssemblyRequest {
            parent_context: parent_context.cloned(),
            headings: self.headings.clone(),
            ..AssemblyRequest::new(task.clone())
        }
    }

    fn next_step(&self, context: &String) -> Next {
        let index = self.outputs.len();
        let Some(step) = self.task.steps.get(index) else {
            let output = self.outputs.last().map(|last| last.output.clone());
            return Next::Done { output, outputs: self.outputs.clone() };
        };
        let accumulation = self.task.operator.context_management.accumulation();
        let mut request = self.request(step, Some(context));
        request.accumulation = Some(accumulation);
        if accumulation != Accumulation::Off {
            request.previous_outputs.clone_from(&self.outputs);
        }
        Next::Step { id: step.step_id(index), index, total: self.task.steps.len(), request }
    }

    fn next_of_reduce(&self, context: &String) -> Next {
        let request = |task: &Option<Operator>, role| {
            let default = || Operator::new(Kind::Atomic, role);
            self.request(&task.clone().unwrap_or_else(default), Some(context))
        };
        let index = self.outputs.len();
        let pending = index > self.reduced && (self.reduction == Reduction::Each || index == self.inputs.len());
        if pending {
            let results = self.outputs.get(self.reduced..).unwrap_or_default().iter().cloned();
            return Next::Reduction {
                request: request(&self.task.reduction_task, OperatorRole::ReductionTask),
                accumulator: self.accumulator.clone(),
                results: results.map(|it| InputOutput { input: it.step, output: it.output, notes: it.notes }).collect(),
            };
        }
        let Some(ReduceInput { id, text }) = self.inputs.get(index).cloned() else {
            return Next::Done { output: self.accumulator.clone(), outputs: self.outputs.clone() };
        };
        let request = request(&self.task.inner_task, OperatorRole::InnerTask);
        Next::Inner { id, index, total: self.inputs.len(), input: text, request }
    }

    fn failed(&self, sequential: bool, error: StepError) -> Failure {
        let StepError { message, mut reason } = error;
        let index = self.outputs.len();
        // Without it no step and no input has begun.
        let has_context = self.context.is_some();
        if !has_context {
            reason.get_or_insert_with(|| Code::ContextRetrievalFailure.as_str().to_owned());
        }
        if sequential {
            return Failure::Sequential(sequential_failure(SequentialFailureInput {
                accumulation: self.task.operator.context_management.accumulation(),
                outputs: self.outputs.clone(),
                failed_step: self.task.steps.get(index).filter(|_| has_context).map(|step| step.step_id(index)),
                total_steps: self.task.steps.len(),
                reason,
                message: Some(message),
            }));
        }
        // If the reduction runs after each result, it failed on the input of the last.
        let at =
            if self.reduction == Reduction::All || index == self.reduced { index } else { index.saturating_sub(1) };
        Failure::Reduce(reduce_failure(ReduceFailureInput {
            failed_input: self.inputs.get(at).filter(|_| has_context).map(|input| input.id.clone()),
            outputs: self.outputs.clone(),
            total_inputs: Some(self.inputs.len()),
            accumulator: self.accumulator.clone(),
            reason,
            message: Some(message),
        }))
    }

    /// Records the result of the last request.
    ///
    /// # Errors
    /// [`Code::RunOutOfOrder`] if the run waits for another result, or is finished.
    pub fn record(mut self, result: RunResult) -> Result<Self> {
        let next = self.next();
        let expected = match next {
            Next::Context { .. } => "context",
            Next::Step { .. } | Next::Inner { .. } | Next::Reduction { .. } => "output",
            Next::Done { .. } | Next::Failed { .. } => "nothing",
        };
        match (result, next) {
            (RunResult::Context(context), Next::Context { .. }) => self.context = Some(context),
            (RunResult::Output { output, notes }, Next::Step { id, .. } | Next::Inner { id, .. }) => {
                self.outputs.push(StepOutput { step: id, output, notes });
            }
            (RunResult::Output { output, .. }, Next::Reduction { .. }) => {
                self.accumulator = Some(output);
                self.reduced = self.outputs.len();
            }
            (RunResult::Error(error), _) if expected != "nothing" => self.failure = Some(error),
            (result, _) => {
                let given = match result {
                    RunResult::Context(_) => "context",
                    RunResult::Output { .. } => "output",
                    RunResult::Error(_) => "error",
                };
                let message = match expected {
                    "nothing" => format!("this run is finished and takes no `{given}`; begin another one"),
                    expected => {
                        format!("this run waits for `{expected}` but received `{given}`; call `nextRequest`")
                    }
                };
                return Err(Error::new(Code::RunOutOfOrder, message).with("expected", expected).with("given", given));
            }
        }
        Ok(self)
    }
}
