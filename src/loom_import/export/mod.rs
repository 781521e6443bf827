//! Exports Loom trees as files of other looms, and as Markdown (docs/import.md).
//!
//! Data that a format cannot hold are recorded under `ctxweave`, so that an import of the file restores the tree.

mod loomsidian;
mod markdown;
mod noted;
mod pyloom;
mod tree;

pub(super) use self::tree::ExportTree;
use crate::error::Result;
use crate::json::{Document, Value};
use crate::limits::{self, Limits};

/// The format of an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExportFormat {
    /// pyloom's JSON.
    Pyloom,
    /// The JSON of a Loomsidian note.
    Loomsidian,
    /// Markdown for people.
    Markdown,
}

impl ExportFormat {
    /// The names in JSON.
    pub const NAMES: &'static [(&'static str, Self)] =
        &[("pyloom", Self::Pyloom), ("loomsidian", Self::Loomsidian), ("markdown", Self::Markdown)];
}

/// The options of an export.
#[derive(Clone, Debug, Default)]
pub struct ExportOptions {
    /// The current node. Markdown has only the path to it; without it the whole tree.
    pub tip: Option<String>,
    /// Limits on the tree.
    pub limits: Limits,
}

/// Writes a tree, passed as its JSON.
///
/// # Errors
/// [`Code::InvalidInput`](crate::Code::InvalidInput) for an invalid tree, [`Code::DuplicateId`](crate::Code::DuplicateId),
/// [`Code::EdgeNodeNotFound`](crate::Code::EdgeNodeNotFound), [`Code::NodeNotFound`](crate::Code::NodeNotFound) for a
/// missing tip, [`Code::LimitExceeded`](crate::Code::LimitExceeded).
pub fn export_loom(tree: &[u8], format: ExportFormat, options: &ExportOptions) -> Result<String> {
    limits::check("inputBytes", tree.len(), options.limits.input_bytes)?;
    let document = Document::read(tree, &[])?;
    let document: &Document<'_> = &document;
    export_tree(document.root(), format, options)
}

/// Like [`export_loom`], for a tree that was read.
pub(super) fn export_tree(tree: Value<'_>, format: ExportFormat, options: &ExportOptions) -> Result<String> {
    let tree = ExportTree::read(tree, options)?;
    match format {
        ExportFormat::Pyloom => pyloom::write(&tree),
        ExportFormat::Loomsidian => loomsidian::write(&tree),
        ExportFormat::Markdown => markdown::write(&tree),
    }
}
