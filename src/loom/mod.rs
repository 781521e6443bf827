//! A path through a Loom tree becomes a completion request (SPEC §1, seeds/loom-context-assembly.md).
//!
//! The functions [`assemble_dialogue`] and [`assemble_buffer`] own the control flow: resolve the path, select what
//! belongs to it, combine the system context, cut what is over the limit, render, report. The modules below them are
//! its steps.

mod assemble;
pub mod aware;
mod body;
mod bound;
mod buffer;
mod calls;
mod content;
mod created;
mod dialogue;
mod few;
mod fit;
mod ids;
mod layout;
mod paragraphs;
mod parts;
mod path;
mod preferences;
mod read;
mod report;
mod request;
pub mod resident;
mod select;
mod shorten;
mod system;
mod text;
mod tools;
mod tree;
mod truncate;

pub use aware::LoomAware;
pub use body::{RequestBody, body_of_buffer, body_of_dialogue, request_body, request_body_bytes};
pub use buffer::{BufferAssembly, NodeSpan, Span, assemble_buffer};
pub use calls::CALLS;
pub use dialogue::{DialogueAssembly, assemble_dialogue};
pub use path::{Choices, Position};
pub use preferences::{DIALOGUE_MARKER, Preferences, Settings, StartOn, Strategy, TEXT_MARKER};
pub use report::{Cached, Cut, Fate, LocalId, LoomAwareTokens, NodePart, NodeReport, Reason, Report, Tokens};
pub use request::{Annotations, InstructionScope, Media, Options, SystemPlacement};
pub use resident::{
    Change, CutSummary, DialogueDelta, DialogueSummary, LoomTree, Measure, Removal, ReportSummary, SummarizedBody,
    TreeSize,
};
pub use text::Text;
pub use tree::{Author, Block, Edge, EdgeKind, Node, Source, SourceRole, Tree, TreeMode, TreeSettings};
