//! Runs a task, one call at a time (docs/operators.md): a run returns the next request, and takes its result.
//!
//! The task's context is assembled first. It is the parent context of the steps, or of the inner and the reduction
//! task, which follow their own settings; accumulation between steps follows the settings of the sequence. An atomic
//! task is a run of one step.

use serde::Serialize;
use serde_json::Value;

use crate::error::{Code, Error, Result};

use super::assemble::{AssemblyRequest, Headings, StepOutput};
use super::failure::{
    ReduceFailure, ReduceFailureInput, SequentialFailure, SequentialFailureInput, reduce_failure, sequential_failure,
};
use super::kind::{Kind, OperatorRole, named};
use super::settings::Accumulation;
use super::task::{Operator, RunTask};

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
    /// The index of the failed input, if several are under way.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index: Option<usize>,
    /// The failure result of a nested task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<Value>,
}

/// An output of the inner task while earlier inputs are under way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AheadOutput {
    /// The index of the input.
    pub index: usize,
    /// Its output.
    #[serde(flatten)]
    pub output: StepOutput,
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
    /// Outputs of the inner task that wait for those of earlier inputs, by index.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ahead: Vec<AheadOutput>,
    /// The number of outputs that the reduction has processed.
    pub reduced: usize,
    /// The output of the reduction so far.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accumulator: Option<String>,
    /// Notes on that output.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accumulator_notes: Option<String>,
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
        /// Notes on that output.
        #[serde(skip_serializing_if = "Option::is_none")]
        notes: Option<String>,
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
        /// The index of the input, for the output of an inner task; defaults to the next one.
        index: Option<usize>,
    },
    /// The request failed.
    Error(StepError),
}

impl Run {
    /// Begins a run.
    ///
    /// # Errors
    /// [`Code::InvalidInput`] for a task of unknown type.
    pub fn new(task: impl Into<RunTask>) -> Result<Self> {
        let task = task.into();
        if !matches!(task.operator.kind, Kind::Atomic | Kind::Sequential | Kind::Reduce) {
            let message = format!(
                "`task` is of type `{}`; only an `atomic`, `sequential` or `reduce` task can be run",
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
            ahead: Vec::new(),
            reduced: 0,
            accumulator: None,
            accumulator_notes: None,
            failure: None,
        })
    }

    fn is_reduce(&self) -> bool {
        self.task.operator.kind == Kind::Reduce
    }

    /// Whether the run is that of one model call, whose context is assembled with its request.
    fn is_single_call(&self) -> bool {
        self.task.operator.kind == Kind::Atomic && self.task.task.is_none()
    }

    /// A step; an atomic task has one: the task that it consists of, or itself.
    fn step(&self, index: usize) -> Option<&RunTask> {
        if self.task.operator.kind == Kind::Sequential {
            return self.task.steps.get(index);
        }
        Some(self.task.task.as_deref().unwrap_or(&self.task)).filter(|_| index == 0)
    }

    fn total_steps(&self) -> usize {
        if self.task.operator.kind == Kind::Sequential { self.task.steps.len() } else { 1 }
    }

    /// The next request.
    pub fn next(&self) -> Next {
        if let Some(error) = &self.failure {
            return Next::Failed { failure: self.failed(error.clone()) };
        }
        if self.is_single_call() {
            return self.next_step(self.parent_context.as_ref());
        }
        let Some(context) = &self.context else {
            return Next::Context { request: self.request(&self.task, self.parent_context.as_ref()) };
        };
        if self.is_reduce() { self.next_of_reduce(context) } else { self.next_step(Some(context)) }
    }

    /// The next requests, at most `limit`: several inputs of a reduce task can be under way at once.
    pub fn upcoming(&self, limit: usize) -> Vec<Next> {
        let next = self.next();
        let (Next::Inner { index: first, .. }, Some(context)) = (&next, &self.context) else { return vec![next] };
        let is_open = |index: &usize| self.ahead.iter().all(|ahead| ahead.index != *index);
        let open = (*first..self.inputs.len()).filter(is_open).take(limit.max(1));
        open.filter_map(|index| self.inner(index, context)).collect()
    }

    fn request(&self, task: &RunTask, parent_context: Option<&String>) -> AssemblyRequest {
        AssemblyRequest {
            parent_context: parent_context.cloned(),
            headings: self.headings.clone(),
            ..AssemblyRequest::new(task.clone())
        }
    }

    fn next_step(&self, parent_context: Option<&String>) -> Next {
        let index = self.outputs.len();
        let Some(step) = self.step(index) else {
            let last = self.outputs.last();
            let output = last.map(|last| last.output.clone());
            return Next::Done {
                output,
                notes: last.and_then(|last| last.notes.clone()),
                outputs: self.outputs.clone(),
            };
        };
        let mut request = self.request(step, parent_context);
        if self.task.operator.kind == Kind::Sequential {
            let accumulation = self.task.operator.context_management.accumulation();
            request.accumulation = Some(accumulation);
            if accumulation != Accumulation::Off {
                request.previous_outputs.clone_from(&self.outputs);
            }
        }
        Next::Step { id: step.operator.step_id(index), index, total: self.total_steps(), request }
    }

    fn part(&self, task: Option<&RunTask>, role: OperatorRole, context: &String) -> AssemblyRequest {
        match task {
            Some(task) => self.request(task, Some(context)),
            None => self.request(&Operator::new(Kind::Atomic, role).into(), Some(context)),
        }
    }

    fn inner(&self, index: usize, context: &String) -> Option<Next> {
        let ReduceInput { id, text } = self.inputs.get(index).cloned()?;
        let request = self.part(self.task.inner_task.as_deref(), OperatorRole::InnerTask, context);
        Some(Next::Inner { id, index, total: self.inputs.len(), input: text, request })
    }

    fn next_of_reduce(&self, context: &String) -> Next {
        let pending = self.outputs.get(self.reduced..).unwrap_or_default();
        let results = match self.reduction {
            Reduction::All => pending.get(..).filter(|_| self.outputs.len() == self.inputs.len()),
            Reduction::Each => pending.get(..1),
        };
        if let Some(results) = results.filter(|results| !results.is_empty()) {
            let result = |it: &StepOutput| {
                let StepOutput { step, output, notes } = it.clone();
                InputOutput { input: step, output, notes }
            };
            return Next::Reduction {
                request: self.part(self.task.reduction_task.as_deref(), OperatorRole::ReductionTask, context),
                accumulator: self.accumulator.clone(),
                results: results.iter().map(result).collect(),
            };
        }
        self.inner(self.outputs.len(), context).unwrap_or_else(|| Next::Done {
            output: self.accumulator.clone(),
            notes: self.accumulator_notes.clone(),
            outputs: self.outputs.clone(),
        })
    }

    fn failed(&self, error: StepError) -> Failure {
        let StepError { message, mut reason, index: failed_index, cause } = error;
        let index = self.outputs.len();
        // Without it no step and no input has begun.
        let has_context = self.context.is_some() || self.is_single_call();
        if !has_context {
            reason.get_or_insert_with(|| Code::ContextRetrievalFailure.as_str().to_owned());
        }
        if !self.is_reduce() {
            return Failure::Sequential(sequential_failure(SequentialFailureInput {
                accumulation: self.task.operator.context_management.accumulation(),
                outputs: self.outputs.clone(),
                failed_step: self.step(index).filter(|_| has_context).map(|step| step.operator.step_id(index)),
                total_steps: self.total_steps(),
                reason,
                message: Some(message),
                cause,
            }));
        }
        // If the reduction runs after each result, it failed on the first that it has not processed.
        let at = match self.reduction {
            Reduction::Each if index != self.reduced => self.reduced,
            Reduction::Each | Reduction::All => index,
        };
        let ahead = self.ahead.iter().map(|ahead| ahead.output.clone());
        Failure::Reduce(reduce_failure(ReduceFailureInput {
            failed_input: self.inputs.get(failed_index.unwrap_or(at)).filter(|_| has_context).map(|it| it.id.clone()),
            outputs: self.outputs.iter().cloned().chain(ahead).collect(),
            total_inputs: Some(self.inputs.len()),
            accumulator: self.accumulator.clone(),
            reason,
            message: Some(message),
            cause,
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
            (RunResult::Output { output, notes, index: None }, Next::Step { id, .. }) => {
                self.outputs.push(StepOutput { step: id, output, notes });
            }
            (RunResult::Output { output, notes, index: None }, Next::Reduction { results, .. }) => {
                self.accumulator = Some(output);
                self.accumulator_notes = notes;
                self.reduced += results.len();
            }
            (RunResult::Output { output, notes, index }, Next::Inner { .. } | Next::Reduction { .. }) => {
                self.record_input(index.unwrap_or(self.outputs.len()), output, notes)?;
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

    /// Records the output of the inner task for an input. Outputs keep the order of the inputs.
    fn record_input(&mut self, index: usize, output: String, notes: Option<String>) -> Result<()> {
        let place = self.ahead.binary_search_by_key(&index, |ahead| ahead.index);
        let (Some(input), Err(place), true) = (self.inputs.get(index), place, index >= self.outputs.len()) else {
            let message = format!("this run does not wait for the input {index}; call `nextRequests`");
            return Err(Error::new(Code::RunOutOfOrder, message).with("expected", "output").with("index", index));
        };
        let output = StepOutput { step: input.id.clone(), output, notes };
        self.ahead.insert(place, AheadOutput { index, output });
        let first = self.outputs.len();
        let ready = self.ahead.iter().zip(first..).take_while(|(ahead, next)| ahead.index == *next).count();
        self.outputs.extend(self.ahead.drain(..ready).map(|ahead| ahead.output));
        Ok(())
    }
}
