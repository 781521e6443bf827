//! The resident tree: changed in place, assembled repeatedly (docs/resident.md).
//!
//! [`LoomTree`] returns what [`assemble_dialogue`](crate::loom::assemble_dialogue) and
//! [`assemble_buffer`](crate::loom::assemble_buffer) return for the same nodes and edges, with the same code. It saves
//! work: a text is counted when first needed and never again while a node holds it, and the last path is kept with its
//! sums, so that a keystroke costs time proportional to the window, not to the tree.

mod append;
mod assemble;
mod change;
mod change_calls;
mod change_log;
mod costs;
mod extra;
mod forest;
mod handle;
mod loom_tree;
mod navigate;
mod navigation_calls;
mod node_costs;
mod preview;
mod relations;
mod search;
mod snapshot;
mod written;

pub use crate::loom::report::{CutSummary, ReportSummary};
pub use append::{Appended, Delta};
pub use assemble::{Change, DialogueDelta, DialogueSummary, Measure, SummarizedBody};
pub use change::{Applied, ChangeSet, OrderPosition, TailEdit, TreeFields, Upsert};
pub use change_calls::METHODS;
pub use extra::Extra;
pub use handle::{Handle, UNPACKED};
pub use loom_tree::{LoomTree, TreeSize};
pub use navigate::Relative;
pub use preview::{Comparison, Difference, PromptNode, Question};
pub use search::{Field, Match, Search};
