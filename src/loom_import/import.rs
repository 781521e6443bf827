//! Imports one file as Loom trees.

use serde::Serialize;

use super::build::{ImportedTree, build};
use super::context::{Context, ImportOptions};
use super::detect::{detect, has_shape};
use super::entry::EntryTree;
use super::file::{Shape, read_bytes, read_text, unsupported};
use super::format::FileFormat;
use super::formats;
use super::own;
use crate::error::{self, Diagnostic, Result};
use crate::json::Value;
use crate::limits;

/// The content of a file.
#[derive(Debug, Serialize)]
pub struct Import {
    /// The selected trees, in the order of the file.
    pub trees: Vec<ImportedTree>,
    /// The format of the file.
    pub format: FileFormat,
    /// Data that a Loom tree cannot hold, damage, and assumptions.
    pub diagnostics: Vec<Diagnostic>,
}

/// Reads a file of another loom, or an export of chats.
///
/// # Errors
/// [`Code::UnsupportedFormat`](crate::Code::UnsupportedFormat) for an unknown format, [`Code::InvalidInput`](crate::Code::InvalidInput)
/// for invalid JSON and for a selection without a match, [`Code::LimitExceeded`](crate::Code::LimitExceeded).
pub fn import_loom(file: &[u8], options: &ImportOptions) -> Result<Import> {
    let mut diagnostics = Vec::new();
    limits::check("inputBytes", file.len(), options.limits.input_bytes)?;
    let import = read_bytes(file, options.limits.file_depth, &mut diagnostics, |shape| import_shape(shape, options));
    with_findings(import, diagnostics)
}

/// Like [`import_loom`], for a file as text, bytes, or a JSON value.
pub(super) fn import_value(file: Value<'_>, options: &ImportOptions) -> Result<Import> {
    if let Some(text) = file.as_text() {
        let mut diagnostics = Vec::new();
        limits::check("inputBytes", text.len(), options.limits.input_bytes)?;
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
        let import = read_text(text, options.limits.file_depth, &mut diagnostics, |shape| import_shape(shape, options));
        return with_findings(import, diagnostics);
    }
    match file.attached_bytes() {
        Some(bytes) => import_loom(bytes, options),
        None => import_shape(Shape::One(file), options),
    }
}

fn with_findings(import: Result<Import>, diagnostics: Vec<Diagnostic>) -> Result<Import> {
    let mut import = import?;
    error::put_before(diagnostics, &mut import.diagnostics);
    Ok(import)
}

fn import_shape(shape: Shape<'_, '_>, options: &ImportOptions) -> Result<Import> {
    let format = match options.format {
        Some(format) if !has_shape(shape, format) => {
            let message =
                format!("the file does not have the shape of `{}`; omit `format` to detect it", format.name());
            return Err(unsupported(message).with("format", format.name()));
        }
        Some(format) => format,
        None => {
            detect(shape).ok_or_else(|| unsupported("the file has an unknown format; see docs/import.md".into()))?
        }
    };
    let mut context = Context::new(options)?;
    if format == FileFormat::Ctxweave {
        let trees = own::read(shape, &mut context)?;
        context.check_selection()?;
        return Ok(Import { trees, format, diagnostics: context.findings.finish() });
    }
    let read: Vec<EntryTree> = formats::read(format, shape, &mut context)?;
    context.check_selection()?;
    let mut trees = Vec::with_capacity(read.len());
    for tree in read {
        trees.push(build(tree, format, &mut context)?);
    }
    Ok(Import { trees, format, diagnostics: context.findings.finish() })
}
