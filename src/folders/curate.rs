//! A curator's edits (docs/folders.md). Each replaces one run of bytes and keeps all others. It is returned as a
//! [`Change`]; undoing the changes in reverse order restores the original bytes.

use serde::Serialize;

use crate::error::{Code, Error, Result};
use crate::json::quoted;
use crate::limits::{self, Limits};
use crate::markdown::{self, Blocks, Part};
use crate::text::case::lowercase;
use crate::text::{Utf16Offsets, is_blank, trim};
use crate::time::Timestamp;

use super::file::{SectionRange, section_ranges, without_blank_edges};
use super::{front_matter, items};

/// An edit of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Edit {
    /// Edits a section.
    Section {
        /// The edit of the section.
        action: SectionEdit,
        /// The section's heading, in any case.
        section: String,
        /// The lines; empty to clear a section that is replaced.
        content: String,
        /// Whether to add the section at the end of the file if missing.
        create: bool,
    },
    /// Undoes a change.
    Undo(Change),
}

/// An edit of a section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SectionEdit {
    /// Appends the lines to the section's direct text, before its subsections.
    Append,
    /// Replaces the content of the section, including its subsections. The heading stays, and so does a comment right
    /// below it, which describes the section, unless the new lines begin with one.
    Replace,
    /// Appends the lines with their date to the section, which is a history.
    AddHistory {
        /// The time, written in UTC, to the minute.
        time: Timestamp,
        /// A plain name.
        author: String,
    },
}

/// A run of text that was replaced by another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Change {
    /// The place, in UTF-16 code units.
    pub at: usize,
    /// The old text.
    pub removed: String,
    /// The new text.
    pub inserted: String,
}

/// An edited file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Edited {
    /// The new text.
    pub text: String,
    /// The change.
    pub change: Change,
}

/// Edits a file. `path` is its name in errors.
///
/// # Errors
/// [`Code::SectionNotFound`]; [`Code::InvalidEdit`] for content that would end its section or swallow the text after
/// it, for two sections with one name, and for a change that does not match the file.
pub fn edit_file(text: &str, edit: &Edit, path: Option<&str>, limits: &Limits) -> Result<Edited> {
    limits::check("inputBytes", text.len(), limits.input_bytes)?;
    let file = File::read(text, path, limits);
    let (action, section, content, create) = match edit {
        Edit::Undo(change) => return file.undo(change),
        Edit::Section { action, section, content, create } => (action, section, content, *create),
    };
    let mut lines = file.content(section, content, *action == SectionEdit::Replace)?;
    if let SectionEdit::AddHistory { time, author } = action {
        if is_blank(author) || author.contains("--") || author.contains(char::is_control) {
            let message = format!("the author `{author}` is invalid in a comment; use a plain name");
            return Err(file.invalid(section, &message));
        }
        // Takes `2025-01-06T12:00` of the RFC 3339 text.
        let minute: String = time.to_string().replace('T', " ").chars().take(16).collect();
        lines = format!("<!-- Added by {author} on {minute} UTC -->{}{lines}", file.eol);
    }
    let Some(place) = file.find(section, create)? else { return file.add_section(section, &lines) };
    file.keeps_within(section, content, place.level)?;
    match action {
        SectionEdit::Append => {
            let at = file.last_line_end(section, place.start, place.own_end)?;
            file.insert_lines(at.unwrap_or(place.start), &lines)
        }
        SectionEdit::Replace => file.replace(section, &place, &lines),
        SectionEdit::AddHistory { .. } => {
            let at = file.last_line_end(section, place.start, place.end)?;
            file.insert_lines(at.unwrap_or(place.start), &format!("{}{lines}", file.eol))
        }
    }
}

struct File<'a> {
    text: &'a str,
    path: Option<&'a str>,
    eol: &'static str,
    body_start: usize,
    sections: Vec<SectionRange>,
}

impl<'a> File<'a> {
    fn read(text: &'a str, path: Option<&'a str>, limits: &Limits) -> Self {
        let front = front_matter::read(text, path.unwrap_or_default(), limits, &mut Vec::new());
        let (_, sections) = section_ranges(text, front.body_start, front.body_line);
        Self { text, path, eol: markdown::line_end(text), body_start: front.body_start, sections }
    }

    /// The topmost section of this name.
    fn find(&self, section: &str, create: bool) -> Result<Option<SectionRange>> {
        let wanted = lowercase(trim(section));
        let same = || self.sections.iter().filter(|place| lowercase(&place.title) == wanted);
        let level = same().map(|place| place.level).min();
        let mut found = same().filter(|place| Some(place.level) == level);
        match (found.next(), found.next()) {
            (None, _) if create && !wanted.is_empty() && !section.contains(['\n', '\r']) => Ok(None),
            (None, _) => {
                let titles: Vec<&str> = self.sections.iter().map(|place| place.title.as_str()).collect();
                let has = match titles.as_slice() {
                    [] => "it has no sections".to_owned(),
                    _ => format!("known: {}", quoted(&titles)),
                };
                let message = format!("{} has no section `{}`; {has}", self.name(), trim(section));
                Err(self.with_place(Error::new(Code::SectionNotFound, message), section).with("sections", titles))
            }
            (Some(place), None) => Ok(Some(place.clone())),
            (Some(one), Some(other)) => {
                let message = format!(
                    "{} has the section `{}` on lines {} and {}; give them different names first",
                    self.name(),
                    one.title,
                    one.line,
                    other.line
                );
                Err(self.with_place(Error::new(Code::InvalidEdit, message), section))
            }
        }
    }

    /// The lines to insert, with the file's line ends, without blank lines around them.
    fn content(&self, section: &str, content: &str, may_be_empty: bool) -> Result<String> {
        let lines: Vec<&str> = markdown::lines(without_blank_edges(content)).map(|line| line.text).collect();
        if lines.is_empty() && !may_be_empty {
            return Err(self.invalid(section, "nothing to add; pass `content`"));
        }
        let mut blocks = Blocks::default();
        lines.iter().for_each(|line| _ = blocks.next(line));
        if blocks.is_open() || blocks.in_comment() {
            let message = "the content leaves a code block or a comment open; close it";
            return Err(self.invalid(section, message));
        }
        Ok(lines.join(self.eol))
    }

    /// Fails if the content holds a heading that would end the section.
    fn keeps_within(&self, section: &str, content: &str, level: usize) -> Result<()> {
        let mut blocks = Blocks::default();
        for line in markdown::lines(content) {
            let heading = markdown::heading(line.text).filter(|_| blocks.next(line.text) == Part::Prose);
            if heading.is_some_and(|(other, _)| other <= level) {
                let message = format!(
                    "the heading `{}` in the content would end the section; give it more than {level} `#`",
                    trim(line.text)
                );
                return Err(self.invalid(section, &message));
            }
            if markdown::heading(line.text).is_none() {
                blocks.next(line.text);
            }
        }
        Ok(())
    }

    /// The end of the last line that is neither blank nor a thematic break before the next section.
    fn last_line_end(&self, section: &str, start: usize, end: usize) -> Result<Option<usize>> {
        let own = self.text.get(start..end).unwrap_or_default();
        let mut blocks = Blocks::default();
        let mut last = None;
        let mut after_blank = true;
        for line in markdown::lines(own) {
            let part = blocks.next(line.text);
            if is_blank(line.text) {
                after_blank = true;
                continue;
            }
            if !(part == Part::Prose && after_blank && items::is_break(line.text)) {
                last = Some(start.saturating_add(line.text_end()));
            }
            after_blank = false;
        }
        if blocks.is_open() || blocks.in_comment() {
            let message = "the section ends within a code block or a comment that is not closed; close it first";
            return Err(self.invalid(section, message));
        }
        Ok(last)
    }

    /// Inserts lines below the line that ends at `at`, or at the line that begins at `at`.
    fn insert_lines(&self, at: usize, lines: &str) -> Result<Edited> {
        let head = self.text.get(..at).unwrap_or_default();
        let eol = self.eol;
        let inserted = if head.is_empty() || head.ends_with(['\n', '\r']) {
            format!("{lines}{eol}")
        } else {
            format!("{eol}{lines}")
        };
        self.splice(at, at, inserted)
    }

    fn replace(&self, section: &str, place: &SectionRange, lines: &str) -> Result<Edited> {
        let own = self.text.get(place.start..place.end).unwrap_or_default();
        let end = self.last_line_end(section, place.start, place.end)?;
        // The comment right below the heading stays.
        let mut blocks = Blocks::default();
        let mut start = place.start;
        let first_is_comment =
            markdown::lines(lines).next().is_some_and(|line| Blocks::default().next(line.text) == Part::Comment);
        for line in markdown::lines(own).take_while(|_| !first_is_comment) {
            if blocks.next(line.text) != Part::Comment || is_history(line.text) {
                break;
            }
            start = place.start.saturating_add(line.end);
            if !blocks.in_comment() {
                break;
            }
        }
        // Blank lines before the first line stay.
        let rest = self.text.get(start..place.end).unwrap_or_default();
        let blank = markdown::lines(rest).take_while(|line| is_blank(line.text)).last();
        let first = start.saturating_add(blank.map_or(0, |line| line.end));
        match end.filter(|end| *end >= first) {
            Some(end) if lines.is_empty() => {
                // The last line is replaced with its line end.
                let after = self.text.get(end..).unwrap_or_default();
                let eol = if after.starts_with("\r\n") { 2 } else { usize::from(after.starts_with(['\n', '\r'])) };
                self.splice(first, end.saturating_add(eol), String::new())
            }
            Some(end) => self.splice(first, end, lines.to_owned()),
            None if lines.is_empty() => self.splice(start, start, String::new()),
            None => self.insert_lines(start, lines),
        }
    }

    fn add_section(&self, section: &str, lines: &str) -> Result<Edited> {
        let eol = self.eol;
        let body = self.text.get(self.body_start..).unwrap_or_default();
        self.last_line_end(section, self.body_start, self.text.len())?;
        let gap = if body.is_empty() && (self.text.is_empty() || self.text.ends_with(['\n', '\r', '\u{feff}'])) {
            String::new()
        } else if !self.text.ends_with(['\n', '\r']) {
            eol.repeat(2)
        } else if markdown::lines(self.text).last().is_some_and(|line| is_blank(line.text)) {
            String::new()
        } else {
            eol.to_owned()
        };
        let end = self.text.len();
        let below = if lines.is_empty() { String::new() } else { format!("{lines}{eol}") };
        self.splice(end, end, format!("{gap}## {}{eol}{below}", trim(section)))
    }

    fn undo(&self, change: &Change) -> Result<Edited> {
        let mut units = 0_usize;
        let at = self.text.char_indices().find_map(|(at, ch)| {
            let here = units;
            units = units.saturating_add(ch.len_utf16());
            (here >= change.at).then_some((here, at))
        });
        let (found, at) = at.unwrap_or((units, self.text.len()));
        let there = self.text.get(at..).is_some_and(|rest| rest.starts_with(&change.inserted));
        if found != change.at || !there {
            let message = "the change does not match the file; undo later changes first";
            return Err(self.invalid("", message));
        }
        self.splice(at, at.saturating_add(change.inserted.len()), change.removed.clone())
    }

    fn splice(&self, from: usize, to: usize, inserted: String) -> Result<Edited> {
        let (head, removed, tail) = match (self.text.get(..from), self.text.get(from..to), self.text.get(to..)) {
            (Some(head), Some(removed), Some(tail)) => (head, removed, tail),
            _ => return Err(Error::new(Code::InternalError, "an edit fell outside its file")),
        };
        let text = format!("{head}{inserted}{tail}");
        let at = Utf16Offsets::new(self.text).at(from);
        Ok(Edited { text, change: Change { at, removed: removed.to_owned(), inserted } })
    }

    fn name(&self) -> String {
        self.path.map_or_else(|| "the file".to_owned(), |path| format!("`{path}`"))
    }

    fn invalid(&self, section: &str, message: &str) -> Error {
        let place = match trim(section) {
            "" => self.name(),
            section => format!("{}, section `{section}`", self.name()),
        };
        self.with_place(Error::new(Code::InvalidEdit, format!("{place}: {message}")), section)
    }

    fn with_place(&self, error: Error, section: &str) -> Error {
        let error = if is_blank(section) { error } else { error.with("section", trim(section)) };
        match self.path {
            Some(path) => error.with("path", path),
            None => error,
        }
    }
}

/// Whether a line is the comment that dates the lines below it.
fn is_history(line: &str) -> bool {
    trim(line).starts_with("<!-- Added by ")
}
