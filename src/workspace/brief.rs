//! The brief: its tastes and its intent (docs/workspace.md).

use serde::Serialize;

use crate::error::{Diagnostic, DiagnosticCode, Severity};
use crate::input::Content;
use crate::markdown::{self, Blocks, Part};
use crate::text::{is_blank, is_whitespace, split_once, trim};

/// A brief as in the response.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Brief {
    /// The unchanged text.
    pub raw: String,
    /// The text without the Tastes lines, trimmed.
    pub intent: String,
    /// The names that the Tastes lines declare, each once, in the order of first mention.
    pub tastes: Vec<String>,
}

/// A brief and its diagnostics.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ParsedBrief {
    /// The brief.
    #[serde(flatten)]
    pub brief: Brief,
    /// Rejected names and unreadable text.
    pub diagnostics: Vec<Diagnostic>,
}

/// Reads a brief; `path` is its name in diagnostics. A missing or unreadable brief is empty.
pub fn parse_brief(content: Option<&Content>, path: &str) -> ParsedBrief {
    let mut parsed = ParsedBrief::default();
    let Some(raw) = content.and_then(|content| content.text(path, &mut parsed.diagnostics)) else { return parsed };
    raw.clone_into(&mut parsed.brief.raw);
    let text = markdown::without_bom(raw);
    let mut blocks = Blocks::default();
    let mut intent = String::with_capacity(text.len());
    // The line of a Tastes line or heading without names, up to the next line that is not blank; and whether text
    // directly below it could be the names.
    let mut nameless = None;
    for (at, line) in markdown::lines(text).enumerate() {
        let number = u32::try_from(at).unwrap_or(u32::MAX).saturating_add(1);
        let part = blocks.next(line.text);
        let own = trim(line.text);
        let value = tastes_value(line.text).filter(|_| part == Part::Prose);
        nameless = match nameless {
            Some((above, _)) if own.is_empty() => Some((above, false)),
            Some((above, right_below)) => {
                let is_indented = line.text.starts_with([' ', '\t']);
                if part == Part::Prose && value.is_none() && (right_below || is_indented || is_item(own)) {
                    parsed.diagnostics.push(ignored(path, above));
                }
                None
            }
            None => None,
        };
        let Some(value) = value else {
            let after = after_tastes(own).filter(|_| part != Part::Code);
            if after.is_some_and(|after| after.starts_with(':')) {
                parsed.diagnostics.push(ignored(path, number));
            } else if after.is_some_and(|after| !after.contains(char::is_alphanumeric)) && part == Part::Prose {
                nameless = Some((number, false));
            }
            intent.push_str(text.get(line.start..line.end).unwrap_or_default());
            continue;
        };
        let names = names(&without_comments(value));
        nameless = names.is_empty().then_some((number, true));
        for name in names {
            if let Some(why) = refusal(&name) {
                parsed.diagnostics.push(refused(&name, why, path, number));
            } else if !parsed.brief.tastes.contains(&name) {
                parsed.brief.tastes.push(name);
            }
        }
    }
    trim(&intent).clone_into(&mut parsed.brief.intent);
    parsed
}

/// Names of genres in the order of their files: those of the brief, then those that the host lists.
pub(super) fn genres_with(parsed: &mut ParsedBrief, listed: &[String]) -> Vec<String> {
    let mut all = parsed.brief.tastes.clone();
    for (at, name) in listed.iter().enumerate() {
        match refusal(name) {
            Some(why) => {
                let diagnostic = Diagnostic { line: None, ..refused(name, why, "", 0) };
                parsed.diagnostics.push(diagnostic.at_path(format!("genres[{at}]")));
            }
            None if all.contains(name) => {}
            None => all.push(name.clone()),
        }
    }
    all
}

/// The text after `Tastes:`, in any case, in bold or not, at the start of a line.
fn tastes_value(line: &str) -> Option<&str> {
    const FORMS: [&str; 5] = ["tastes:", "**tastes:**", "**tastes**:", "__tastes:__", "__tastes__:"];
    FORMS.iter().find_map(|form| {
        let (start, value) = line.split_at_checked(form.len())?;
        start.eq_ignore_ascii_case(form).then_some(value)
    })
}

/// The text after `Tastes` at the start of a line, after marks, numbers and tags, without closing emphasis.
fn after_tastes(line: &str) -> Option<&str> {
    let mut rest = line;
    loop {
        rest = rest.trim_start_matches(|ch: char| !ch.is_alphabetic());
        if let Some((start, after)) = rest.split_at_checked("tastes".len())
            && start.eq_ignore_ascii_case("tastes")
        {
            let after = after.strip_prefix("</").and_then(|tag| tag.split_once('>')).map_or(after, |(_, after)| after);
            return Some(after.trim_start_matches(['*', '_', ' ']));
        }
        // The rest of a tag or of a checkbox.
        let (name, after) = rest.split_once(['>', ']'])?;
        rest = Some(after).filter(|_| name.chars().all(char::is_alphanumeric))?;
    }
}

/// Whether a line is a list item, with a mark or a number.
fn is_item(line: &str) -> bool {
    let mark = line.trim_start_matches(|ch: char| ch.is_ascii_digit());
    let marks: &[char] = if mark.len() == line.len() { &['-', '*', '+'] } else { &['.', ')'] };
    mark.strip_prefix(marks).is_some_and(|text| text.starts_with([' ', '\t']))
}

fn without_comments(value: &str) -> String {
    let (mut out, mut rest) = (String::new(), value);
    while let Some((before, inner)) = split_once(rest, "<!--") {
        out.push_str(before);
        rest = split_once(inner, "-->").map_or("", |(_, after)| after);
    }
    out + rest
}

/// The names of a comma-separated list, which may have brackets around it and quotes around names.
fn names(value: &str) -> Vec<String> {
    let value = trim(value);
    let inner = value.strip_prefix('[').and_then(|inner| inner.strip_suffix(']')).unwrap_or(value);
    if is_blank(inner) {
        return Vec::new();
    }
    let mut names = Vec::new();
    let mut rest = inner;
    loop {
        let start = rest.trim_start_matches(is_whitespace);
        let quoted = start.chars().next().filter(|quote| matches!(quote, '"' | '\'' | '`')).and_then(|quote| {
            let (name, after) = start.get(1..)?.split_once(quote)?;
            let after = after.trim_start_matches(is_whitespace);
            (after.is_empty() || after.starts_with(',')).then_some((name, after.strip_prefix(',')))
        });
        let (name, after) = quoted.unwrap_or_else(|| match start.split_once(',') {
            Some((name, after)) => (name, Some(after)),
            None => (start, None),
        });
        names.push(trim(name).to_owned());
        match after {
            Some(after) => rest = after,
            None => return names,
        }
    }
}

/// The name of the taste file that always loads.
pub(super) const DEFAULT_TASTE: &str = "_default";

/// Why a name is not a valid genre file name.
fn refusal(name: &str) -> Option<&'static str> {
    if name.is_empty() {
        Some("an empty name")
    } else if name.contains(['/', '\\']) {
        Some("a name with a separator")
    } else if name.contains("..") || name == "." {
        Some("a name with `..`")
    } else if name.contains(char::is_control) {
        Some("a name with a control character")
    } else if name == DEFAULT_TASTE {
        Some("the file that always loads")
    } else {
        None
    }
}

fn refused(name: &str, why: &str, path: &str, line: u32) -> Diagnostic {
    let shown: String = name.chars().take(80).flat_map(char::escape_debug).collect();
    let message =
        format!("the taste `{shown}` was left out: it is {why}; name a genre file without folder and extension");
    Diagnostic { line: Some(line), ..Diagnostic::new(DiagnosticCode::TasteRefused, Severity::Warning, message) }
        .at_path(path)
}

fn ignored(path: &str, line: u32) -> Diagnostic {
    let message = "this looks like a Tastes line and declares nothing; write `Tastes: a, b` at the start of a line, outside comments";
    Diagnostic { line: Some(line), ..Diagnostic::new(DiagnosticCode::TastesIgnored, Severity::Info, message) }
        .at_path(path)
}

#[cfg(test)]
#[path = "../../tests/unit/workspace/brief.rs"]
mod tests;
