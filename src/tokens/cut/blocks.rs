//! The blocks of Markdown that are kept whole if they fit: sections, paragraphs, lists, tables and fenced code.

use crate::markdown::{Blocks as Fences, heading, lines};
use crate::text::is_blank;

/// The begins of the blocks, in bytes.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Blocks {
    /// Headings, except those immediately after another heading.
    pub(super) sections: Vec<usize>,
    /// All blocks, except those immediately after a heading.
    pub(super) starts: Vec<usize>,
}

/// The block that the previous lines belong to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Open {
    Nothing,
    Heading,
    /// A paragraph, a table or a quote.
    Paragraph,
    /// A list; whether the last line was blank.
    List {
        is_blank: bool,
    },
    Code,
}

/// The blocks of a text.
pub(super) fn blocks(text: &str) -> Blocks {
    let mut found = Blocks::default();
    let mut fences = Fences::default();
    let mut open = Open::Nothing;
    let mut follows_heading = false;
    for line in lines(text) {
        let was_code = open == Open::Code && fences.is_open();
        if fences.is_code(line.text) {
            if !was_code {
                begin(&mut found, line.start, &mut follows_heading);
            }
            open = Open::Code;
            continue;
        }
        if is_blank(line.text) {
            open = match open {
                Open::List { .. } => Open::List { is_blank: true },
                _ => Open::Nothing,
            };
            continue;
        }
        if heading(line.text).is_some() {
            if !follows_heading {
                found.sections.push(line.start);
                found.starts.push(line.start);
            }
            follows_heading = true;
            open = Open::Heading;
            continue;
        }
        let is_item = is_item(line.text);
        let continues = match open {
            Open::Paragraph => !is_item,
            Open::List { is_blank } => !is_blank || is_item || line.text.starts_with(['\t', ' ']),
            Open::Nothing | Open::Heading | Open::Code => false,
        };
        if !continues {
            begin(&mut found, line.start, &mut follows_heading);
        }
        open = match open {
            Open::List { .. } if continues => Open::List { is_blank: false },
            _ if is_item => Open::List { is_blank: false },
            _ => Open::Paragraph,
        };
    }
    found
}

/// Begins a block, unless it belongs to the heading immediately before it.
fn begin(found: &mut Blocks, start: usize, follows_heading: &mut bool) {
    if !std::mem::take(follows_heading) {
        found.starts.push(start);
    }
}

/// Whether a line begins an item of a list: `- `, `* `, `+ `, `1. `, `1) `.
fn is_item(line: &str) -> bool {
    let line = line.trim_start().as_bytes();
    let digits = line.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let marks: &[u8] = if digits == 0 { b"-*+" } else { b".)" };
    match line.get(digits..) {
        Some([mark, rest @ ..]) => digits < 10 && marks.contains(mark) && matches!(rest, [] | [b' ' | b'\t', ..]),
        _ => false,
    }
}
