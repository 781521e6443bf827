//! Loom trees as files of other looms, and as Markdown.
//!
//! What a format has no place for stands under `ctxweave` in it, so that an import of the file gives the same tree again.

mod loomsidian;
mod markdown;
mod noted;
mod pyloom;
mod tree;

use self::tree::ExportTree;
use crate::error::Result;
use crate::json::{Document, Value};
use crate::limits::{self, Limits};

/// What a tree can be written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExportFormat {
    /// pyloom's JSON.
    Pyloom,
    /// The JSON of a note of Loomsidian's.
    Loomsidian,
    /// Markdown, to be read by people.
    Markdown,
}

impl ExportFormat {
    /// The names on the wire.
    pub const NAMES: &'static [(&'static str, Self)] =
        &[("pyloom", Self::Pyloom), ("loomsidian", Self::Loomsidian), ("markdown", Self::Markdown)];
}

/// How a tree is written.
#[derive(Clone, Debug, Default)]
pub struct ExportOptions {
    /// The current node. Markdown has the path to it alone; without it the whole tree.
    pub tip: Option<String>,
    /// Bounds on the tree.
    pub limits: Limits,
}

/// Writes a tree, given as its JSON.
///
/// # Errors
/// [`Code::InvalidInput`](crate::Code::InvalidInput) for what is no tree, [`Code::DuplicateId`](crate::Code::DuplicateId),
/// [`Code::EdgeNodeNotFound`](crate::Code::EdgeNodeNotFound), [`Code::NodeNotFound`](crate::Code::NodeNotFound) for a tip that is
/// not there, [`Code::LimitExceeded`](crate::Code::LimitExceeded).
pub fn export_loom(tree: &[u8], format: ExportFormat, options: &ExportOptions) -> Result<String> {
    limits::check("inputBytes", tree.len(), options.limits.input_bytes)?;
    let document = Document::read(tree, &[])?;
    let document: &Document<'_> = &document;
    export_tree(document.root(), format, options)
}

/// The same of a tree that was read.
pub(super) fn export_tree(tree: Value<'_>, format: ExportFormat, options: &ExportOptions) -> Result<String> {
    let tree = ExportTree::read(tree, options)?;
    match format {
        ExportFormat::Pyloom => pyloom::write(&tree),
        ExportFormat::Loomsidian => loomsidian::write(&tree),
        ExportFormat::Markdown => markdown::write(&tree),
    }
}
