//! The calls of this area: requests read from JSON, results written as JSON.

use super::context::{ImportOptions, Selector};
use super::export::{ExportFormat, ExportOptions, export_tree};
use super::format::FileFormat;
use super::import::import_value;
use crate::call::{Call, Response};
use crate::error::{self, Diagnostic, Result};
use crate::json::{Kind, Value, refuse_unknown};
use crate::limits::Limits;

/// The calls by name.
pub const CALLS: &[Call] = &[
    Call::new("importLoom", &["file", "options"], |_, request, _| import(request)),
    Call::new("exportLoom", &["tree", "format", "options"], |_, request, _| export(request)),
];

fn import(request: Value<'_>) -> Result<Response> {
    let mut diagnostics = request.repaired();
    let fields = request.object("the arguments, an object")?;
    let options = fields.get("options")?.map(|options| import_options(options, &mut diagnostics)).transpose()?;
    let mut import = import_value(fields.need("file")?, &options.unwrap_or_default())?;
    error::put_before(diagnostics, &mut import.diagnostics);
    Response::of(&import)
}

fn import_options(options: Value<'_>, diagnostics: &mut Vec<Diagnostic>) -> Result<ImportOptions> {
    let options = options.object("options, an object")?;
    options.report_unknown(&["format", "select", "utcOffset", "cursor", "limits"], diagnostics);
    Ok(ImportOptions {
        format: options.one_of("format", FileFormat::NAMES)?,
        select: options.read("select", selection)?,
        utc_offset: options.string("utcOffset")?,
        cursor: options.string("cursor")?,
        limits: Limits::read(options.get("limits")?, diagnostics)?,
    })
}

fn selection(value: Value<'_>) -> Result<Vec<Selector>> {
    const EXPECTED: &str = "the index of a tree in the file, its id or its title, or a list of these";
    let one = |value: Value<'_>| match value.kind() {
        Kind::Number => value.whole(u32::MAX).map(Selector::At),
        Kind::String => value.string().map(Selector::Name),
        _ => Err(value.mismatch(EXPECTED)),
    };
    match value.as_list() {
        Some(list) => list.map(one).collect(),
        None => Ok(vec![one(value)?]),
    }
}

fn export(request: Value<'_>) -> Result<Response> {
    let fields = request.object("the arguments, an object")?;
    let format = fields.need("format")?.one_of(ExportFormat::NAMES)?;
    let mut diagnostics = Vec::new();
    let mut read = ExportOptions::default();
    if let Some(options) = fields.get("options")? {
        let options = options.object("options, an object")?;
        options.report_unknown(&["tip", "limits"], &mut diagnostics);
        read.tip = options.string("tip")?;
        read.limits = Limits::read(options.get("limits")?, &mut diagnostics)?;
    }
    refuse_unknown(&diagnostics)?;
    Response::of(&export_tree(fields.need("tree")?, format, &read)?)
}
