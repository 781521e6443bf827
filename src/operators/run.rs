//! Runs a sequential or a reduce task, one call at a time (SPEC §4): a run says what comes next, and takes its result.
//!
//! The task's own context is assembled first. It is the parent context of the steps, or of the inner and the reduction task,
//! which follow their own settings; accumulation between steps follows the settings of the sequence.

use serde::Serialize;

use crate::error::{Code, Error, Result};

use super::assemble::{AssemblyRequest, Headings, StepOutput};
use super::failure::{
    ReduceFailure, ReduceFailureInput, SequentialFailure, SequentialFailureInput, reduce_failure, sequential_failure,
};
use super::kind::{Kind, OperatorRole, named};
use super::settings::Accumulation;
use super::task::{Operator, Task};

/// A task to run through, and the operators right below it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RunTask {
    /// The sequential or reduce task.
    #[serde(flatten)]
    pub operator: Operator,
    /// The steps of a sequential task.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<Operator>,
    /// The inner task of a reduce task; one with default settings unless it is given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inner_task: Option<Operator>,
    /// The reduction task of a reduce task; one with default settings unless it is given.
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
    /// What it is called in results.
    pub id: String,
    /// The input itself.
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

/// What went wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StepError {
    /// In words.
    pub message: String,
    /// Why, in the seed's taxonomy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// The state of a run: plain data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Run {
    /// The task and what is in it.
    pub task: RunTask,
    /// The inputs of a reduce task.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<ReduceInput>,
    /// When the reduction runs.
    #[serde(skip_serializing_if = "Reduction::is_all")]
    pub reduction: Reduction,
    /// The context of the task around it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent_context: Option<String>,
    /// The headings of every request.
    #[serde(skip_serializing_if = "Headings::are_default")]
    pub headings: Headings,
    /// The task's own context, once it is assembled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// What the steps, or the inner task for each input, have given.
    pub outputs: Vec<StepOutput>,
    /// How many of them the reduction has processed.
    pub reduced: usize,
    /// What the reduction has given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accumulator: Option<String>,
    /// What went wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<StepError>,
}

/// What the inner task gave for an input.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct InputOutput {
    /// The input's id.
    pub input: String,
    /// All that the inner task put out.
    pub output: String,
    /// What is worth knowing of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notes: Option<String>,
}

/// What comes next in a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "status", rename_all = "camelCase")]
pub enum Next {
    /// The task's own context has to be assembled.
    Context {
        /// The request for it.
        request: AssemblyRequest,
    },
    /// A step has to run.
    Step {
        /// The step's id.
        id: String,
        /// From 0.
        index: usize,
        /// How many steps there are.
        total: usize,
        /// The request for the step's context.
        request: AssemblyRequest,
    },
    /// The inner task has to run on an input.
    Inner {
        /// The input's id.
        id: String,
        /// From 0.
        index: usize,
        /// How many inputs there are.
        total: usize,
        /// The input itself.
        input: String,
        /// The request for the inner task's context.
        request: AssemblyRequest,
    },
    /// The reduction has to run.
    Reduction {
        /// The request for its context.
        request: AssemblyRequest,
        /// What it has given before.
        #[serde(skip_serializing_if = "Option::is_none")]
        accumulator: Option<String>,
        /// The results that it has not yet processed.
        results: Vec<InputOutput>,
    },
    /// All is done.
    Done {
        /// What the last step, or the reduction, has given.
        #[serde(skip_serializing_if = "Option::is_none")]
        output: Option<String>,
        /// What each step, or the inner task for each input, has given.
        outputs: Vec<StepOutput>,
    },
    /// Something has failed.
    Failed {
        /// What the task gives instead.
        failure: Failure,
    },
}

/// What a task gives when something in it has failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Failure {
    /// A step of a sequential task.
    Sequential(SequentialFailure),
    /// The inner task or the reduction of a reduce task.
    Reduce(ReduceFailure),
}

/// The result of what came next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunResult {
    /// The task's own context.
    Context(String),
    /// What a step, an inner task or the reduction gave.
    Output {
        /// All of it.
        output: String,
        /// What is worth knowing of it.
        notes: Option<String>,
    },
    /// It failed.
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
                "`task` is of type `{}`; only a `sequential` or `reduce` task has something to run through",
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

    /// What comes next.
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
        // Where the reduction runs after each result, it has failed on the input of the last.
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

    /// The run after the result of what came next.
    ///
    /// # Errors
    /// [`Code::RunOutOfOrder`] when it waits for something else, or for nothing any more.
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
                    "nothing" => format!("this run is over and takes no `{given}`; begin another one"),
                    expected => {
                        format!("this run waits for `{expected}` and was given `{given}`; see what `nextRequest` says")
                    }
                };
                return Err(Error::new(Code::RunOutOfOrder, message).with("expected", expected).with("given", given));
            }
        }
        Ok(self)
    }
}
