//! The statements of a file: what a lint compares between files.

use crate::markdown::{Blocks, FrontMatter, Part, front_matter, heading, lines};
use crate::text::case::lowercase;
use crate::text::is_blank;

/// Words that turn a statement around.
const NEGATIONS: [&str; 12] =
    ["not", "never", "no", "don't", "dont", "doesn't", "cannot", "can't", "mustn't", "shouldn't", "won't", "avoid"];

/// Words without which a statement has the same meaning.
const FILLERS: [&str; 18] = [
    "a", "always", "an", "are", "be", "can", "do", "does", "is", "may", "must", "please", "shall", "should", "the",
    "to", "use", "using",
];

/// Words of the name and of the value of a setting, at most.
const MAX_NAME_WORDS: usize = 4;
const MAX_VALUE_WORDS: usize = 3;

/// One line of prose or of a list, with what it states.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Statement {
    /// Line in the file, from 1.
    pub line: u32,
    /// The text without list marks and surrounding white space.
    pub text: String,
    /// Its words without negations and fillers.
    pub topic: String,
    /// Whether it has an odd number of negations.
    pub is_negative: bool,
    /// The headings above it and its name, and its value, if it is `name: value`.
    pub setting: Option<(String, String)>,
}

/// The statements of a file, without front matter, headings, code and comments.
pub(super) fn statements(text: &str) -> Vec<Statement> {
    let (start, first_line) = match front_matter(text) {
        FrontMatter::Closed { body_start, body_line, .. } => (body_start, body_line),
        FrontMatter::Open | FrontMatter::Missing => (0, 1),
    };
    let mut blocks = Blocks::default();
    let mut headings: Vec<(usize, String)> = Vec::new();
    let mut found = Vec::new();
    for (number, line) in lines(text.get(start..).unwrap_or_default()).enumerate() {
        if blocks.next(line.text) != Part::Prose || is_blank(line.text) {
            continue;
        }
        if let Some((level, title)) = heading(line.text) {
            headings.retain(|(above, _)| *above < level);
            headings.push((level, lowercase(title)));
            continue;
        }
        let text = without_mark(line.text.trim());
        let (topic, is_negative) = topic(text);
        if topic.is_empty() {
            continue;
        }
        let number = first_line.saturating_add(number);
        found.push(Statement {
            line: u32::try_from(number).unwrap_or(u32::MAX),
            setting: setting(&headings, text),
            text: text.to_owned(),
            topic,
            is_negative,
        });
    }
    found
}

/// A line without the mark of a list item.
fn without_mark(line: &str) -> &str {
    let number = line.trim_start_matches(|ch: char| ch.is_ascii_digit());
    let item = line
        .strip_prefix(['-', '*', '+'])
        .or_else(|| number.strip_prefix(['.', ')']).filter(|_| number.len() < line.len()));
    item.filter(|rest| rest.starts_with([' ', '\t'])).map_or(line, str::trim_start)
}

fn words(text: &str) -> impl Iterator<Item = String> {
    let word = |word: &str| lowercase(word.trim_matches(|ch: char| ".,;:!?\"'()[]*_`".contains(ch)));
    text.split_whitespace().map(word).filter(|word| !word.is_empty()).collect::<Vec<_>>().into_iter()
}

fn topic(text: &str) -> (String, bool) {
    let (mut topic, mut is_negative) = (String::new(), false);
    for word in words(text) {
        if NEGATIONS.contains(&word.as_str()) {
            is_negative = !is_negative;
        } else if !FILLERS.contains(&word.as_str()) {
            if !topic.is_empty() {
                topic.push(' ');
            }
            topic.push_str(&word);
        }
    }
    (topic, is_negative)
}

fn setting(headings: &[(usize, String)], text: &str) -> Option<(String, String)> {
    let (name, value) = text.split_once(": ")?;
    let (name, value): (Vec<String>, Vec<String>) = (words(name).collect(), words(value).collect());
    let is_short = (1..=MAX_NAME_WORDS).contains(&name.len()) && (1..=MAX_VALUE_WORDS).contains(&value.len());
    let mut path: String = headings.iter().map(|(_, title)| format!("{title}\n")).collect();
    path.push_str(&name.join(" "));
    is_short.then(|| (path, value.join(" ")))
}
