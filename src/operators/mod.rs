//! XML task templates decide what each step may see (SPEC §4, seeds/operator-context-management.md).
//!
//! [`parse_task`] reads a template into a [`Task`], every operator with its settings in force and where each came from.
//! [`begin`] and [`finish`] assemble a context: between the two the host asks its memory system, where that is needed.
//! A [`Run`] leads through a sequential or a reduce task, and [`explain`] says of a whole template what each of its
//! operators will see.

mod assemble;
mod explain;
mod failure;
mod parse;
mod run;
mod settings;
mod task;
mod validate;
pub mod wire;
mod write;
mod xml;

pub use assemble::{
    Answer, AssemblyRequest, Begun, Budget, ContextGenerationInput, ContextResult, Headings, Match, Pending, Purpose,
    StepOutput, begin, finish,
};
pub use explain::{Explained, Look, explain};
pub use failure::{
    Partial, PartialNotes, ReduceFailure, ReduceFailureInput, SequentialFailure, SequentialFailureInput,
    reduce_failure, sequential_failure,
};
pub use parse::{ParseOptions, ParsedTask, parse_bytes, parse_task};
pub use run::{Next, Record, Run, RunInput, StepRequest};
pub use settings::{Accumulation, ContextManagement, Format, Fresh, Inherit, Origin, Origins};
pub use task::{Element, Kind, Operator, Role, Span, Task};
pub use write::write_task;
