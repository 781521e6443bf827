//! The Markdown that decides the meaning of a line: line ends, fenced code and comments.

use crate::error::{Diagnostic, DiagnosticCode, Severity};
use crate::text::{is_blank, trim};

/// One line of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Line<'a> {
    /// The text without its line end.
    pub text: &'a str,
    /// Byte offset of its start.
    pub start: usize,
    /// Byte offset of the next line.
    pub end: usize,
}

impl Line<'_> {
    /// Byte offset of the end of its text, before the line end.
    pub(crate) fn text_end(&self) -> usize {
        self.start.saturating_add(self.text.len())
    }
}

/// The lines of a text. They end at LF, CRLF or CR; a final line end does not begin another line.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = Line<'_>> {
    let mut rest = text;
    let mut start = 0_usize;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let at = rest.bytes().position(|byte| matches!(byte, b'\n' | b'\r')).unwrap_or(rest.len());
        let (line, after) = rest.split_at_checked(at)?;
        let end = if after.starts_with("\r\n") { 2 } else { after.len().min(1) };
        let found = Line { text: line, start, end: start.saturating_add(at).saturating_add(end) };
        rest = after.get(end..).unwrap_or_default();
        start = found.end;
        Some(found)
    })
}

/// The most frequent line end; LF if none is found.
pub(crate) fn line_end(text: &str) -> &'static str {
    let pairs = text.matches("\r\n").count();
    let [lf, cr] = ['\n', '\r'].map(|end| text.matches(end).count().saturating_sub(pairs));
    match pairs.max(lf).max(cr) {
        most if most == lf => "\n",
        most if most == pairs => "\r\n",
        _ => "\r",
    }
}

pub(crate) fn without_bom(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

/// The YAML between `---` lines at the start of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FrontMatter<'a> {
    Missing,
    /// It looks like front matter but is not closed, so that all of the text is body.
    Open,
    Closed {
        yaml: &'a str,
        /// Byte offset of the body.
        body_start: usize,
        /// Line of the body, from 1.
        body_line: usize,
    },
}

/// Finds the front matter of a text. A BOM before it is skipped.
pub(crate) fn front_matter(text: &str) -> FrontMatter<'_> {
    let inner = without_bom(text);
    let bom = text.len().saturating_sub(inner.len());
    let mut lines = lines(inner).enumerate();
    let Some((_, first)) = lines.next().filter(|(_, line)| line.text.trim_end() == "---") else {
        return FrontMatter::Missing;
    };
    match lines.find(|(_, line)| line.text.trim_end() == "---") {
        Some((at, last)) => FrontMatter::Closed {
            yaml: inner.get(first.end..last.start).unwrap_or_default(),
            body_start: bom.saturating_add(last.end),
            body_line: at.saturating_add(2),
        },
        None => {
            let second = self::lines(inner).nth(1);
            let is_open = second.is_some_and(|line| line.text.contains(": ") || line.text.ends_with(':'));
            if is_open { FrontMatter::Open } else { FrontMatter::Missing }
        }
    }
}

/// The part of a document that a line belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// Markdown text.
    Prose,
    /// Fenced code, the fences included.
    Code,
    /// A comment that begins a line, up to the line that ends it.
    Comment,
}

/// Follows fenced code and comments from line to line.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Blocks {
    /// The character and the length of the open fence.
    fence: Option<(char, usize)>,
    in_comment: bool,
}

impl Blocks {
    /// The part that the next line belongs to.
    pub(crate) fn next(&mut self, line: &str) -> Part {
        if !self.in_comment && self.is_code(line) {
            return Part::Code;
        }
        let inner = if self.in_comment {
            line
        } else if let Some(inner) = trim(line).strip_prefix("<!--") {
            inner
        } else {
            return Part::Prose;
        };
        self.in_comment = !inner.contains("-->");
        Part::Comment
    }

    /// Like [`Self::next`], for texts in which comments have no meaning.
    pub(crate) fn is_code(&mut self, line: &str) -> bool {
        let Some((mark, length, after)) = fence(line) else { return self.fence.is_some() };
        match self.fence {
            None if mark == '`' && after.as_bytes().contains(&b'`') => return false,
            None => self.fence = Some((mark, length)),
            Some((open, least)) => {
                if open == mark && length >= least && is_blank(after) {
                    self.fence = None;
                }
            }
        }
        true
    }

    /// Whether a fence is open.
    pub(crate) fn is_open(&self) -> bool {
        self.fence.is_some()
    }

    /// The line that closes the open fence.
    pub(crate) fn closing_fence(&self) -> Option<String> {
        self.fence.map(|(mark, length)| std::iter::repeat_n(mark, length).collect())
    }

    pub(crate) fn in_comment(&self) -> bool {
        self.in_comment
    }
}

/// Reports a line that equals a heading of the prompt that the text goes into.
pub(crate) fn delimiter_found(heading: &str, path: &str) -> Diagnostic {
    let message = format!("`{heading}` equals a heading of the prompt; it was included unchanged");
    Diagnostic::new(DiagnosticCode::PromptDelimiterInFile, Severity::Warning, message).at_path(path)
}

/// The number of repetitions of an ASCII character at the start of a text, and the rest.
fn run(text: &str, mark: char) -> (usize, &str) {
    let length = text.bytes().take_while(|&byte| char::from(byte) == mark).count();
    (length, text.get(length..).unwrap_or_default())
}

/// The character and length of a fence, and the rest of its line.
pub(crate) fn fence(line: &str) -> Option<(char, usize, &str)> {
    let (indent, inner) = run(line, ' ');
    let mark = inner.chars().next().filter(|mark| indent <= 3 && matches!(mark, '`' | '~'))?;
    let (length, after) = run(inner, mark);
    (length >= 3).then_some((mark, length, after))
}

/// The level and the text of an ATX heading, `## Facts` or `## Facts ##`.
pub(crate) fn heading(line: &str) -> Option<(usize, &str)> {
    let (indent, inner) = run(line, ' ');
    let (level, text) = run(inner, '#');
    let is_part = |byte: &u8| matches!(byte, b' ' | b'\t');
    if indent > 3 || !(1..=6).contains(&level) || !text.as_bytes().first().is_none_or(is_part) {
        return None;
    }
    let text = trim(text);
    let open = text.bytes().rposition(|byte| byte != b'#').map_or("", |last| text.get(..=last).unwrap_or(text));
    Some((level, if open.as_bytes().last().is_none_or(is_part) { trim(open) } else { text }))
}

#[cfg(test)]
#[path = "../tests/unit/markdown.rs"]
mod tests;
