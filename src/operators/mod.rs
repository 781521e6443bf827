//! XML task templates that define the context of each step (docs/operators.md).
//!
//! [`parse_task`] reads a template into a [`Task`], with the effective settings of every operator and their origins.
//! [`begin`] and [`finish`] assemble a context; between the two the host may have to query its memory system. A
//! [`Run`] tracks the progress of a task. [`explain`] describes what each operator of a template will see.

mod assemble;
mod budget;
mod calls;
mod explain;
mod failure;
mod kind;
mod parse;
mod read;
mod run;
mod settings;
mod task;
mod validate;
mod write;
mod xml;

pub use assemble::{
    AssemblyRequest, AssemblyState, Begun, ContextGenerationInput, ContextResult, CountedBy, Headings, MemoryAnswer,
    Pending, Purpose, Sizes, StepOutput, begin, finish,
};
pub use budget::{ContextBudget, ContextCut, ContextPart, ContextReport, ContextTokens, PartReport};
pub use calls::CALLS;
pub use explain::{Explained, Look, explain};
pub use failure::{
    Partial, PartialNotes, ReduceFailure, ReduceFailureInput, SequentialFailure, SequentialFailureInput,
    reduce_failure, sequential_failure,
};
pub use kind::{Kind, OperatorRole};
pub use parse::{ParsedTask, parse_bytes, parse_task};
pub use run::{AheadOutput, Failure, InputOutput, Next, ReduceInput, Reduction, Run, RunResult, StepError};
pub use settings::{Accumulation, ContextManagement, Format, Fresh, Inherit, Origin, Origins};
pub use task::{Element, Operator, RunTask, Span, Task};
pub use validate::ParseOptions;
pub use write::write_task;
pub(crate) use xml::is_template;
