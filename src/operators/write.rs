//! Writes a task back to XML, with its defaults made explicit (docs/operators.md).
//!
//! The defaults are inserted into the template, indented like their neighbors; every other byte is preserved.

use crate::error::{Code, Error, Result};
use crate::limits::Limits;
use crate::maps::SortedMap;

use super::parse::{BlockSite, Site, TagSpan, read};
use super::settings::{Accumulation, ContextManagement};
use super::task::Task;
use super::validate::{FIELDS, ParseOptions};

/// Replacements of byte ranges by their start; those of attributes come before those of elements.
type Edits = SortedMap<(usize, bool), (usize, String)>;

/// Writes a task as its template with all defaults made explicit.
///
/// # Errors
/// [`Code::InvalidInput`] for a task without its template, as every task but the root is; those of
/// [`super::parse_task`] if the template is invalid.
pub fn write_task(task: &Task, limits: Limits) -> Result<String> {
    match &task.source {
        Some(source) => write_source(source, limits),
        None => Err(without_source()),
    }
}

pub(super) fn without_source() -> Error {
    let message = "`task` has no `source`; pass the root task that `parseTask` returned";
    Error::new(Code::InvalidInput, message).with("path", "task.source")
}

/// Writes a template with all defaults made explicit.
pub(super) fn write_source(source: &str, limits: Limits) -> Result<String> {
    let (_, _, sites) = read(source, &ParseOptions { limits, ..ParseOptions::default() })?;
    let mut edits = Edits::new();
    for site in &sites {
        edit(source, site, &mut edits);
    }
    let mut out = String::with_capacity(source.len());
    let mut at = 0;
    for ((start, _), (end, text)) in edits.iter() {
        out.push_str(source.get(at..*start).unwrap_or_default());
        out.push_str(text);
        at = *end;
    }
    out.push_str(source.get(at..).unwrap_or_default());
    Ok(out)
}

fn edit(source: &str, site: &Site<'_>, edits: &mut Edits) {
    if let Some(at) = site.untyped {
        edits.insert((at, false), (at, " type=\"atomic\"".to_owned()));
    }
    let present = site.block.as_ref().map_or([false; 4], |block| block.present);
    let missing = missing(&site.settings, present);
    if missing.is_empty() {
        return;
    }
    match &site.block {
        Some(block) => extend_block(source, block, &missing, edits),
        None => add_block(source, site, &missing, edits),
    }
}

/// The effective settings that are not written, as elements.
fn missing(settings: &ContextManagement, present: [bool; 4]) -> Vec<String> {
    // Without accumulation a format has no effect.
    let format = settings.accumulation_format.filter(|_| settings.accumulation() != Accumulation::Off);
    let values = [
        settings.inherit_context.map(|value| value.as_str()),
        settings.accumulate_data.map(|value| if value { "true" } else { "false" }),
        format.map(|value| value.as_str()),
        settings.fresh_context.map(|value| value.as_str()),
    ];
    let fields = FIELDS.iter().zip(values).zip(present);
    fields
        .filter(|(_, present)| !present)
        .filter_map(|((field, value), _)| Some(format!("<{field}>{}</{field}>", value?)))
        .collect()
}

fn extend_block(source: &str, block: &BlockSite<'_>, missing: &[String], edits: &mut Edits) {
    if block.tag.empty {
        return fill(&block.tag, missing.concat(), edits);
    }
    let indent = Indent::within(source, &block.tag);
    let text: String = missing.iter().map(|element| format!("{}{element}", indent.child)).collect();
    edits.insert((block.last_end, true), (block.last_end, text));
}

fn add_block(source: &str, site: &Site<'_>, missing: &[String], edits: &mut Edits) {
    let indent = if site.tag.empty { Indent::default() } else { Indent::within(source, &site.tag) };
    let Indent { child, unit } = &indent;
    let fields: String = missing.iter().map(|element| format!("{child}{unit}{element}")).collect();
    let text = format!("{child}<context_management>{fields}{child}</context_management>");
    if site.tag.empty {
        return fill(&site.tag, text, edits);
    }
    let at = site.description_end.unwrap_or(site.tag.end);
    edits.insert((at, true), (at, text));
}

/// Turns `<name/>` into `<name>text</name>`.
fn fill(tag: &TagSpan<'_>, text: String, edits: &mut Edits) {
    let slash = tag.end.saturating_sub(2);
    edits.insert((slash, true), (tag.end, format!(">{text}</{}>", tag.name)));
}

/// The indentation of an element's children, if any.
#[derive(Debug, Default)]
struct Indent<'a> {
    /// The line end and the white space before a child.
    child: String,
    /// The additional indentation of a child.
    unit: &'a str,
}

impl<'a> Indent<'a> {
    fn within(source: &'a str, tag: &TagSpan<'_>) -> Self {
        let rest = source.get(tag.end..).unwrap_or_default();
        let lead = rest.get(..rest.len().saturating_sub(rest.trim_start().len())).unwrap_or_default();
        let Some((lines, child)) = lead.rsplit_once('\n') else { return Self::default() };
        let line_end = if lines.ends_with('\r') { "\r\n" } else { "\n" };
        let before = source.get(..tag.start).unwrap_or_default();
        let own = before.rsplit('\n').next().filter(|own| own.trim().is_empty()).unwrap_or_default();
        if rest.trim_start().starts_with("</") {
            // The template does not show the depth of a child.
            return Self { child: format!("{line_end}{own}  "), unit: "  " };
        }
        let unit = child.strip_prefix(own).filter(|unit| !unit.is_empty()).unwrap_or("  ");
        Self { child: format!("{line_end}{child}"), unit }
    }
}
