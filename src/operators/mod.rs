//! XML task templates decide what each step may see (SPEC §4, seeds/operator-context-management.md).
//!
//! [`parse_task`] reads a template into a [`Task`], every operator with its settings in force and their origins. [`begin`] and
//! [`finish`] assemble a context; between the two the host may have to ask its memory system. A [`Run`] leads through a
//! sequential or a reduce task. [`explain`] says what each operator of a template will see.

mod assemble;
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
pub use calls::CALLS;
pub use explain::{Explained, Look, explain};
pub use failure::{
    Partial, PartialNotes, ReduceFailure, ReduceFailureInput, SequentialFailure, SequentialFailureInput,
    reduce_failure, sequential_failure,
};
pub use kind::{Kind, OperatorRole};
pub use parse::{ParsedTask, parse_bytes, parse_task};
pub use run::{Failure, InputOutput, Next, ReduceInput, Reduction, Run, RunResult, RunTask, StepError};
pub use settings::{Accumulation, ContextManagement, Format, Fresh, Inherit, Origin, Origins};
pub use task::{Element, Operator, Span, Task};
pub use validate::ParseOptions;
pub use write::write_task;
pub(crate) use xml::is_template;
