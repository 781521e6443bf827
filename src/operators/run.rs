//! Through a sequential or a reduce task, one call at a time (SPEC §4). A run does nothing by itself: it says what comes
//! next, and takes what came of it.
//!
//! The task's own context is assembled once, at its beginning. It is the parent context of the steps, or of the inner
//! and the reduction task, each of which follows its own settings; what is accumulated between steps follows those of the
//! sequence, whatever the steps inherit.

use crate::error::{Code, Error, Result};

use super::assemble::{AssemblyRequest, Headings, StepOutput};
use super::failure::{
    ReduceFailure, ReduceFailureInput, SequentialFailure, SequentialFailureInput, reduce_failure, sequential_failure,
};
use super::settings::Accumulation;
use super::task::{Kind, Operator, Role, Task};

/// What a run begins with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunInput {
    /// The sequential or reduce task.
    pub task: Operator,
    /// The steps of a sequential task.
    pub steps: Vec<Operator>,
    /// The inner task of a reduce task; one with default settings unless it is given.
    pub inner_task: Option<Operator>,
    /// The reduction task of a reduce task; one with default settings unless it is given.
    pub reduction_task: Option<Operator>,
    /// The inputs of a reduce task: id and text.
    pub inputs: Vec<(String, String)>,
    /// Whether the reduction runs after each result instead of once after all of them.
    pub reduce_each: bool,
    /// The context of the task around it.
    pub parent_context: Option<String>,
    /// The headings of every request.
    pub headings: Headings,
}

impl RunInput {
    /// A run of a task and what is in it.
    pub fn new(task: &Task) -> Self {
        Self {
            task: task.operator.clone(),
            steps: task.steps.iter().flatten().map(|step| step.operator.clone()).collect(),
            inner_task: task.inner_task.as_ref().map(|task| task.operator.clone()),
            reduction_task: task.reduction_task.as_ref().map(|task| task.operator.clone()),
            inputs: Vec::new(),
            reduce_each: false,
            parent_context: None,
            headings: Headings::default(),
        }
    }
}

/// The state of a run: plain data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// What it began with.
    pub input: RunInput,
    /// The task's own context, once it is assembled.
    pub context: Option<String>,
    /// What the steps, or the inner task for each input, have given.
    pub outputs: Vec<StepOutput>,
    /// How many of them the reduction has taken in.
    pub reduced: usize,
    /// What the reduction has given.
    pub accumulator: Option<String>,
    /// What went wrong, and why.
    pub failure: Option<(String, Option<String>)>,
}

/// What comes next in a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// The task's own context has to be assembled.
    Context(AssemblyRequest),
    /// A step has to run.
    Step(StepRequest),
    /// The inner task has to run on an input.
    Inner {
        /// Which input, and the request for the inner task's context.
        step: StepRequest,
        /// The input itself.
        input: String,
    },
    /// The reduction has to run.
    Reduction {
        /// The request for its context.
        request: AssemblyRequest,
        /// What it has given before.
        accumulator: Option<String>,
        /// The results that it has not yet taken in.
        results: Vec<StepOutput>,
    },
    /// All is done.
    Done {
        /// What the last step, or the reduction, has given.
        output: Option<String>,
        /// What each step, or the inner task for each input, has given.
        outputs: Vec<StepOutput>,
    },
    /// A step has failed.
    SequentialFailed(SequentialFailure),
    /// An inner task or the reduction has failed.
    ReduceFailed(ReduceFailure),
}

/// One of several calls in a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepRequest {
    /// The step's id, or the input's.
    pub id: String,
    /// From 0.
    pub index: usize,
    /// How many there are.
    pub total: usize,
    /// The request for its context.
    pub request: AssemblyRequest,
}

/// What came of what came next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Record {
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
    Failed {
        /// What went wrong.
        message: String,
        /// Why, in the seed's taxonomy.
        reason: Option<String>,
    },
}

/// The id of a step: its own, or `step-` and its number from 1.
pub(super) fn step_id(step: &Operator, index: usize) -> String {
    step.id.clone().unwrap_or_else(|| format!("step-{}", index.saturating_add(1)))
}

impl Run {
    /// Begins a run.
    ///
    /// # Errors
    /// [`Code::InvalidInput`] for a task that is neither sequential nor reduce.
    pub fn new(input: RunInput) -> Result<Self> {
        if !matches!(input.task.kind, Kind::Sequential | Kind::Reduce) {
            let message = format!(
                "`task` is of type `{}`; only a `sequential` or `reduce` task has something to run through",
                super::xml::shown(input.task.kind.as_str())
            );
            return Err(Error::new(Code::InvalidInput, message).with("path", "task.type"));
        }
        Ok(Self { input, context: None, outputs: Vec::new(), reduced: 0, accumulator: None, failure: None })
    }

    /// What comes next.
    pub fn next(&self) -> Next {
        let sequential = self.input.task.kind == Kind::Sequential;
        if let Some((message, reason)) = &self.failure {
            return self.failed(sequential, message, reason.as_ref());
        }
        let Some(context) = &self.context else {
            return Next::Context(self.request(self.input.task.clone(), self.input.parent_context.clone()));
        };
        if sequential { self.next_step(context) } else { self.next_of_reduce(context) }
    }

    fn request(&self, task: Operator, parent_context: Option<String>) -> AssemblyRequest {
        AssemblyRequest { parent_context, headings: self.input.headings.clone(), ..AssemblyRequest::new(task) }
    }

    fn next_step(&self, context: &str) -> Next {
        let index = self.outputs.len();
        let Some(step) = self.input.steps.get(index) else {
            let output = self.outputs.last().map(|last| last.output.clone());
            return Next::Done { output, outputs: self.outputs.clone() };
        };
        let accumulation = self.input.task.context_management.accumulation();
        let mut request = self.request(step.clone(), Some(context.to_owned()));
        request.accumulation = Some(accumulation);
        if accumulation != Accumulation::Off {
            request.previous_outputs.clone_from(&self.outputs);
        }
        Next::Step(StepRequest { id: step_id(step, index), index, total: self.input.steps.len(), request })
    }

    fn next_of_reduce(&self, context: &str) -> Next {
        let index = self.outputs.len();
        let pending = index > self.reduced && (self.input.reduce_each || index == self.input.inputs.len());
        if pending {
            let task = self.input.reduction_task.clone();
            let task = task.unwrap_or_else(|| Operator::new(Kind::Atomic, Role::ReductionTask));
            return Next::Reduction {
                request: self.request(task, Some(context.to_owned())),
                accumulator: self.accumulator.clone(),
                results: self.outputs.get(self.reduced..).unwrap_or_default().to_vec(),
            };
        }
        let Some((id, text)) = self.input.inputs.get(index) else {
            return Next::Done { output: self.accumulator.clone(), outputs: self.outputs.clone() };
        };
        let task = self.input.inner_task.clone().unwrap_or_else(|| Operator::new(Kind::Atomic, Role::InnerTask));
        let request = self.request(task, Some(context.to_owned()));
        let step = StepRequest { id: id.clone(), index, total: self.input.inputs.len(), request };
        Next::Inner { step, input: text.clone() }
    }

    fn failed(&self, sequential: bool, message: &str, reason: Option<&String>) -> Next {
        let (message, reason) = (Some(message.to_owned()), reason.cloned());
        let index = self.outputs.len();
        if sequential {
            return Next::SequentialFailed(sequential_failure(SequentialFailureInput {
                accumulation: self.input.task.context_management.accumulation(),
                outputs: self.outputs.clone(),
                failed_step: self.input.steps.get(index).map(|step| step_id(step, index)).unwrap_or_default(),
                total_steps: self.input.steps.len(),
                reason,
                message,
            }));
        }
        // Where the reduction runs after each result, it has failed on the input of the last.
        let at = if !self.input.reduce_each || index == self.reduced { index } else { index.saturating_sub(1) };
        Next::ReduceFailed(reduce_failure(ReduceFailureInput {
            failed_input: self.input.inputs.get(at).map(|(id, _)| id.clone()),
            outputs: self.outputs.clone(),
            total_inputs: Some(self.input.inputs.len()),
            accumulator: self.accumulator.clone(),
            reason,
            message,
        }))
    }

    /// The run after what came of what came next.
    ///
    /// # Errors
    /// [`Code::RunOutOfOrder`] when it waits for something else, or for nothing any more.
    pub fn record(mut self, record: Record) -> Result<Self> {
        let next = self.next();
        let expected = match next {
            Next::Context(_) => "context",
            Next::Step(_) | Next::Inner { .. } | Next::Reduction { .. } => "output",
            Next::Done { .. } | Next::SequentialFailed(_) | Next::ReduceFailed(_) => "nothing",
        };
        match (record, next) {
            (Record::Context(context), Next::Context(_)) => self.context = Some(context),
            (Record::Output { output, notes }, Next::Step(step) | Next::Inner { step, .. }) => {
                self.outputs.push(StepOutput { step: step.id, output, notes });
            }
            (Record::Output { output, .. }, Next::Reduction { .. }) => {
                self.accumulator = Some(output);
                self.reduced = self.outputs.len();
            }
            (Record::Failed { message, reason }, Next::Step(_) | Next::Inner { .. } | Next::Reduction { .. }) => {
                self.failure = Some((message, reason));
            }
            (record, _) => {
                let given = match record {
                    Record::Context(_) => "context",
                    Record::Output { .. } => "output",
                    Record::Failed { .. } => "error",
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
