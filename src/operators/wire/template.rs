//! Templates read and written.

use serde::Deserialize;

#[cfg(target_arch = "wasm32")]
use super::super::parse::parse_task;
use super::super::parse::{ParseOptions, ParsedTask, parse_bytes};
use super::super::write::{without_source, write_source};
#[cfg(target_arch = "wasm32")]
use super::super::xml::place_of_unit;
use super::known;
#[cfg(target_arch = "wasm32")]
use crate::error::Diagnostic;
use crate::error::Result;
use crate::json;
use crate::limits::{LimitOverrides, XML_DEPTH_MAX};

/// How to parse, as it came.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, expecting = "options, an object")]
pub(crate) struct ParseOptionsIn {
    mode: Option<String>,
    exclusive: Option<bool>,
    limits: Option<LimitOverrides>,
}

impl ParseOptionsIn {
    fn finish(self) -> Result<ParseOptions> {
        let strict = known("mode", self.mode.as_deref(), &[("compat", false), ("strict", true)])?.unwrap_or_default();
        let limits = self.limits.unwrap_or_default().resolve()?;
        Ok(ParseOptions { strict, exclusive: self.exclusive.unwrap_or_default(), limits })
    }
}

/// Parses a template. Of halves of surrogate pairs, which crossing has made U+FFFD of, it is told how many there are
/// and
/// the UTF-16 offset of the first.
#[cfg(target_arch = "wasm32")]
pub(crate) fn parse(xml: &str, lone: Option<(usize, usize)>, options: Option<ParseOptionsIn>) -> Result<ParsedTask> {
    let mut parsed = parse_task(xml, &options.unwrap_or_default().finish()?)?;
    if let Some((count, at)) = lone {
        let place = place_of_unit(xml, at);
        let found = json::surrogate_diagnostic(count, "xml".to_owned());
        let found = Diagnostic { line: Some(place.line), column: Some(place.column), ..found };
        parsed.diagnostics.insert(0, found);
    }
    Ok(parsed)
}

/// Parses a template that comes as bytes.
pub(crate) fn parse_of_bytes(xml: &[u8], options: Option<ParseOptionsIn>) -> Result<ParsedTask> {
    parse_bytes(xml, &options.unwrap_or_default().finish()?)
}

/// Parses a template; the options are JSON, and so is the result.
///
/// # Errors
/// Those of [`parse_bytes`] and [`InvalidInput`](crate::Code::InvalidInput).
pub fn parse_task_json(xml: &[u8], options: &[u8]) -> Result<Vec<u8>> {
    json::write(&parse_of_bytes(xml, json::read(options)?)?)
}

/// A task of which only the template is wanted.
#[derive(Debug, Deserialize)]
#[serde(expecting = "a task, an object")]
pub(crate) struct SourceIn {
    source: Option<String>,
}

/// Writes a task back.
pub(crate) fn write(task: &SourceIn) -> Result<String> {
    // What was read under wider limits than the defaults can be written all the same.
    let limits = LimitOverrides {
        xml_bytes: Some(f64::from(u32::MAX)),
        xml_depth: Some(f64::from(XML_DEPTH_MAX)),
        xml_elements: Some(f64::from(u32::MAX)),
        xml_attributes: Some(f64::from(u32::MAX)),
        ..LimitOverrides::default()
    };
    write_source(task.source.as_ref().ok_or_else(without_source)?, limits.resolve()?)
}

/// Writes a task in JSON back; the result is a JSON string.
///
/// # Errors
/// Those of [`write_task`](crate::operators::write_task).
pub fn write_task_json(task: &[u8]) -> Result<Vec<u8>> {
    json::write(&write(&json::read(task)?)?)
}
