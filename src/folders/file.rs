//! The file format: front matter, title, description, sections, bullets (docs/folders.md).

use serde::Serialize;
use serde_json::Value;

use crate::error::{Diagnostic, Result};
use crate::input::Content;
use crate::limits::{self, Limits};
use crate::markdown::{self, Blocks, Part};
use crate::text::{is_blank, trim};

use super::{front_matter, glob, items, paths};

/// A parsed context file.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ParsedFile {
    /// Its normalized path.
    pub path: String,
    /// Its folder; empty for the root.
    pub folder: String,
    /// The first heading, if its level is 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The quote below the title; its lines are joined by LF.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// All sections, in order, including nested ones.
    pub sections: Vec<Section>,
    /// The watch patterns, as written.
    pub watch: Vec<String>,
    /// The front matter, if it is readable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub front_matter: Option<Value>,
    /// The text without the front matter, for the prompt.
    pub body: String,
    /// The body's first line in the file, from 1.
    pub body_line: usize,
    /// Problems found in the file.
    pub diagnostics: Vec<Diagnostic>,
}

/// A heading and the text below it, up to the next heading.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Section {
    /// The heading's text.
    pub title: String,
    /// The level, 1 to 6.
    pub level: usize,
    /// The heading's line in the file, from 1.
    pub line: usize,
    /// The text below the heading, without surrounding blank lines.
    pub text: String,
    /// Its bullets, in order.
    pub bullets: Vec<Bullet>,
}

/// An item of a bullet list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Bullet {
    /// Its text without the marker, with the lines that belong to it, joined by LF.
    pub text: String,
    /// The bullet's first line in the file, from 1.
    pub line: usize,
}

/// The place of a section, in bytes of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SectionRange {
    pub title: String,
    pub level: usize,
    /// The heading's line, from 1.
    pub line: usize,
    /// The start of the heading's line.
    pub at: usize,
    /// The start of the line below the heading.
    pub start: usize,
    /// The start of the next heading of any level.
    pub own_end: usize,
    /// The start of the next heading outside this section.
    pub end: usize,
}

/// The title, and the sections of a file whose body starts at byte `body_start`, on line `body_line`.
pub(super) fn section_ranges(
    text: &str,
    body_start: usize,
    body_line: usize,
) -> (Option<SectionRange>, Vec<SectionRange>) {
    let mut blocks = Blocks::default();
    let mut found: Vec<SectionRange> = Vec::new();
    for (at, line) in markdown::lines(text.get(body_start..).unwrap_or_default()).enumerate() {
        if blocks.next(line.text) != Part::Prose {
            continue;
        }
        let Some((level, title)) = markdown::heading(line.text) else { continue };
        let start = body_start.saturating_add(line.start);
        if let Some(last) = found.last_mut() {
            last.own_end = start;
        }
        found.push(SectionRange {
            title: title.to_owned(),
            level,
            line: body_line.saturating_add(at),
            at: start,
            start: body_start.saturating_add(line.end),
            own_end: text.len(),
            end: text.len(),
        });
    }
    // Backwards: a section ends at the next heading of its level or above. Candidates are on a stack.
    let mut stack: Vec<(usize, usize)> = Vec::new();
    for place in found.iter_mut().rev() {
        while stack.last().is_some_and(|(level, _)| *level > place.level) {
            stack.pop();
        }
        place.end = stack.last().map_or(text.len(), |(_, start)| *start);
        stack.push((place.level, place.at));
    }
    let title = found.first().is_some_and(|first| first.level == 1).then(|| found.remove(0));
    (title, found)
}

/// Parses a context file.
///
/// # Errors
/// [`crate::Code::PathOutsideVault`] for such a path, [`crate::Code::LimitExceeded`].
pub fn parse_file(path: &str, content: &Content, limits: &Limits) -> Result<ParsedFile> {
    let path = paths::normalize(path, limits)?;
    limits::check("inputBytes", content.len(), limits.input_bytes)?;
    let mut diagnostics = Vec::new();
    let text = content.text(&path, &mut diagnostics).unwrap_or_default();
    let front = front_matter::read(text, &path, limits, &mut diagnostics);
    let folder = paths::folder_of(&path).to_owned();
    for declared in &front.watch {
        glob_findings(declared, &path, &folder, limits, &mut diagnostics);
    }
    let (title, ranges) = section_ranges(text, front.body_start, front.body_line);
    let description = title.as_ref().and_then(|title| quote(text.get(title.start..title.own_end).unwrap_or_default()));
    let section = |place: SectionRange| {
        let own = text.get(place.start..place.own_end).unwrap_or_default();
        let bullet = |item: items::Item| Bullet {
            line: place.line.saturating_add(1).saturating_add(item.first_line),
            text: item.text,
        };
        Section {
            text: without_blank_edges(own).to_owned(),
            bullets: items::items(own).into_iter().map(bullet).collect(),
            title: place.title,
            level: place.level,
            line: place.line,
        }
    };
    Ok(ParsedFile {
        title: title.map(|title| title.title),
        description,
        sections: ranges.into_iter().map(section).collect(),
        watch: front.watch.into_iter().map(|declared| declared.pattern).collect(),
        front_matter: front.value,
        body: text.get(front.body_start..).unwrap_or_default().to_owned(),
        body_line: front.body_line,
        folder,
        path,
        diagnostics,
    })
}

/// Resolves a declared pattern; reports one that is invalid or was rewritten.
pub(super) fn glob_findings(
    declared: &front_matter::Declared,
    path: &str,
    folder: &str,
    limits: &Limits,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<glob::Pattern> {
    let shown = &declared.pattern;
    match glob::resolve(shown, folder, limits) {
        Err(reason) => {
            let message = format!("the watch `{shown}` was left out: {reason}");
            diagnostics.push(front_matter::invalid(&message, path, declared.line));
            None
        }
        Ok(pattern) => {
            for note in &pattern.notes {
                let message = format!("the watch `{shown}` {note}");
                let code = crate::DiagnosticCode::WatchRewritten;
                diagnostics.push(Diagnostic { code, ..front_matter::invalid(&message, path, declared.line) });
            }
            Some(pattern)
        }
    }
}

/// The block quote at the start of a text, without its marks.
fn quote(text: &str) -> Option<String> {
    let mut quoted: Vec<&str> = Vec::new();
    for line in markdown::lines(text) {
        match trim(line.text).strip_prefix('>') {
            Some(inner) => quoted.push(trim(inner)),
            None if quoted.is_empty() && is_blank(line.text) => {}
            None => break,
        }
    }
    let quoted = trim(&quoted.join("\n")).to_owned();
    (!quoted.is_empty()).then_some(quoted)
}

/// A text without blank lines at its start and end, and without its final line end.
pub(super) fn without_blank_edges(text: &str) -> &str {
    let mut edges: Option<(usize, usize)> = None;
    for line in markdown::lines(text).filter(|line| !is_blank(line.text)) {
        edges = Some((edges.map_or(line.start, |(start, _)| start), line.text_end()));
    }
    edges.and_then(|(start, end)| text.get(start..end)).unwrap_or_default()
}
