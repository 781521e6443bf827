//! Turns a path through a Loom tree into a completion request (docs/loom.md).
//!
//! The functions [`assemble_dialogue`] and [`assemble_buffer`] resolve the path, select its nodes, combine the system
//! context, cut to the limit, render and report; a [`LoomTree`] does the same with cached results. `assembly`, which
//! knows no trees or requests, applies the budget.

mod body;
mod budget;
mod buffer;
mod calls;
mod chat;
mod chunked_vec;
mod compacted;
mod context_headers;
mod continuation;
mod continuing;
mod conversation;
mod created;
mod dialogue;
mod dialogue_state;
mod fit_state;
mod free_list;
mod ids;
mod incremental_texts;
pub mod loom_context;
mod node_content;
mod ordered_slots;
mod packed;
mod parts;
mod path;
mod path_context;
mod path_state;
mod read;
mod report;
mod request;
pub mod resident;
mod select;
mod series;
mod system;
mod tools;
mod tree;

pub use crate::assembly::preserved::{PreservedThinking, ThinkingRule};
pub use crate::assembly::series::{Prefix, PrefixReason};
pub use crate::assembly::settings::{
    DIALOGUE_MARKER, Fill, Preferences, Protect, Settings, StartOn, Strategy, TEXT_MARKER,
};
pub use body::{RequestBody, body_of_buffer, request_body, request_body_bytes};
pub use buffer::{BufferAssembly, NodeSpan, Span, assemble_buffer};
pub use calls::{CALLS, CHAT_CALLS, UNPACKED_CALLS};
pub use continuation::{Choice, Continuation};
pub use dialogue::{DialogueAssembly, assemble_dialogue};
pub use fit_state::{FitState, Previous};
pub use loom_context::LoomAware;
pub use node_content::NodeContent;
pub use path::{Choices, Position};
pub use report::{
    Cut, CutSummary, Fate, LocalId, LoomAwareTokens, NodePart, NodeReport, Reason, Report, ReportSummary, Tokens,
};
pub use request::{Annotations, InstructionScope, Options, SystemPlacement};
pub use resident::{
    Appended, Applied, Change, ChangeSet, Comparison, Delta, DialogueDelta, DialogueSummary, LoomTree, Measure,
    OrderPosition, Relative, SummarizedBody, TreeSize, Upsert,
};
pub use tree::{Author, Edge, EdgeKind, Node, Source, SourceRole, Tree, TreeMode, TreeSettings};
