//! Files of other looms and exports of chats as Loom trees, and Loom trees as files of other looms (docs/import.md).
//!
//! An import runs through `file` (bytes as JSON values), `detect`, `formats` (each into `entry`s, the same for all) and
//! `build` (ids, links, edges, and findings). `export` writes files. Data for which a Loom tree has no field are
//! preserved under `metadata.imported` of a node and `imported` of the tree, so that an export to the same format has
//! them again.

mod build;
mod calls;
mod context;
mod conventions;
mod cycles;
mod detect;
mod entry;
mod export;
mod file;
mod findings;
mod format;
mod formats;
mod import;
mod own;
mod times;
mod verbatim;
mod zone;

pub(crate) use detect::detect_with_mark;
pub(crate) use file::{BINARY, Shape, read_text};

pub use build::ImportedTree;
pub use calls::CALLS;
pub use context::{ImportOptions, Selector};
pub use export::{ExportFormat, ExportOptions, export_loom};
pub use format::FileFormat;
pub use import::{Import, import_loom};
