//! Finds `@path` imports in a text, by the rules of an agent.

use std::ops::Range;

use crate::maps::SortedMap;
use crate::markdown::{Blocks, fence, lines};
use crate::text::is_blank;

use super::preset::Imports;

/// An import as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Import {
    /// The bytes that stand for it, from `@`.
    pub range: Range<usize>,
    pub path: String,
}

/// The imports of a text, in order. Takes linear time.
pub(super) fn imports(text: &str, of: &Imports) -> Vec<Import> {
    let mut masked = masks(text, of).into_iter().peekable();
    let mut found = Vec::new();
    let mut from = 0_usize;
    for (at, _) in text.match_indices('@') {
        while masked.next_if(|range| range.end <= at).is_some() {}
        if at < from || masked.peek().is_some_and(|range| range.start <= at) {
            continue;
        }
        if let Some(import) = import_at(text, at, of) {
            from = import.range.end;
            found.push(import);
        }
    }
    found
}

/// The text without its HTML comments.
pub(super) fn without_comments(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut at = 0_usize;
    for range in comments(text, &code(text, true, true, true)) {
        out.push_str(text.get(at..range.start).unwrap_or_default());
        at = range.end;
    }
    out.push_str(text.get(at..).unwrap_or_default());
    out
}

fn import_at(text: &str, at: usize, of: &Imports) -> Option<Import> {
    let before = text.get(..at)?;
    let mark = before.chars().next_back().filter(|mark| of.emphasis && matches!(mark, '*' | '_'));
    let run: usize = mark.map_or(0, |mark| before.len().saturating_sub(before.trim_end_matches(mark).len()));
    let outer = before.get(..before.len().saturating_sub(run))?.chars().next_back();
    if !outer.is_none_or(|ch| ch.is_whitespace() || of.open.contains(ch)) {
        return None;
    }
    let start = at.checked_add(1)?;
    let rest = text.get(start..)?;
    let closing = mark.map(|mark| std::iter::repeat_n(mark, run).collect::<String>());
    let rest = closing.and_then(|closing| Some(rest.split_once(&*closing)?.0)).unwrap_or(rest);
    let (mut path, mut length) = (String::new(), 0_usize);
    let mut chars = rest.char_indices().peekable();
    while let Some((_, ch)) = chars.next() {
        let escaped = of.escapes && ch == '\\';
        if ch.is_whitespace() || (escaped && chars.peek().is_none_or(|(_, next)| *next != ' ')) {
            break;
        }
        if escaped {
            chars.next();
        }
        path.push(if escaped { ' ' } else { ch });
        length = chars.peek().map_or(rest.len(), |(next, _)| *next);
    }
    let trimmed = path.trim_end_matches(|ch| of.trim.contains(ch));
    length = length.saturating_sub(path.len().saturating_sub(trimmed.len()));
    let trimmed = of.cut.and_then(|cut| trimmed.split_once(cut)).map_or(trimmed, |(path, _)| path);
    let import = Import { range: at..start.saturating_add(length), path: trimmed.to_owned() };
    is_import(trimmed, of).then_some(import)
}

/// Whether an agent takes a text after `@` for a path.
fn is_import(path: &str, of: &Imports) -> bool {
    let Some(first) = path.chars().next() else { return false };
    let starts = first.is_ascii_alphabetic() || of.first.contains(first) || (of.digits && first.is_ascii_digit());
    let home = !path.starts_with('~') || (of.home && path.starts_with("~/"));
    let absolute = !path.starts_with('/') || (of.absolute && path.len() > 1);
    let parent = of.parent || !path.split('/').any(|segment| segment == "..");
    let path_like = !of.path_like || path.contains('/') || path.ends_with(".md");
    starts && home && absolute && parent && path_like
}

/// The ranges in which `@` has no meaning, in order.
fn masks(text: &str, of: &Imports) -> Vec<Range<usize>> {
    let mut masked = code(text, of.skip_fences, of.skip_tildes, of.skip_indented);
    if of.skip_spans {
        let spans = spans(text, &masked, of.skip_fences);
        masked = merged(masked, spans);
    }
    if of.skip_comments {
        let comments = comments(text, &masked);
        masked = merged(masked, comments);
    }
    masked
}

/// Two lists of ranges as one, in order, without overlaps.
fn merged(a: Vec<Range<usize>>, b: Vec<Range<usize>>) -> Vec<Range<usize>> {
    let mut all = a;
    all.extend(b);
    crate::sorting::sort_by_key(&mut all, |range| (range.start, range.end));
    let mut out: Vec<Range<usize>> = Vec::with_capacity(all.len());
    for range in all {
        match out.last_mut() {
            Some(last) if last.end >= range.start => last.end = last.end.max(range.end),
            _ => out.push(range),
        }
    }
    out
}

/// Fenced and indented code.
fn code(text: &str, fences: bool, tildes: bool, indented: bool) -> Vec<Range<usize>> {
    let mut blocks = Blocks::default();
    let (mut after_blank, mut in_indented) = (true, false);
    let mut found = Vec::new();
    for line in lines(text) {
        let counts = fence(line.text).is_none_or(|(mark, ..)| if mark == '~' { tildes } else { fences });
        let is_code = if counts { blocks.is_code(line.text) } else { blocks.is_open() };
        let blank = is_blank(line.text);
        in_indented = !is_code
            && !blank
            && (after_blank || in_indented)
            && (line.text.starts_with("    ") || line.text.starts_with('\t'));
        after_blank = blank;
        if is_code || (indented && in_indented) {
            found.push(line.start..line.end);
        }
    }
    merged(found, Vec::new())
}

/// Code spans: text between runs of equally many backticks. With `paragraphs` none crosses a blank line.
fn spans(text: &str, code: &[Range<usize>], paragraphs: bool) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut regions: Vec<Range<usize>> = Vec::new();
    let mut code = code.iter().peekable();
    if paragraphs {
        for line in lines(text) {
            while code.next_if(|range| range.end <= line.start).is_some() {}
            if is_blank(line.text) || code.peek().is_some_and(|range| range.start <= line.start) {
                continue;
            }
            match regions.last_mut() {
                Some(last) if last.end == line.start => last.end = line.end,
                _ => regions.push(line.start..line.end),
            }
        }
    } else {
        regions.push(0..text.len());
    }
    for region in regions {
        spans_in(text, region, &mut found);
    }
    found
}

fn spans_in(text: &str, region: Range<usize>, found: &mut Vec<Range<usize>>) {
    let mut runs: Vec<Range<usize>> = Vec::new();
    for (at, _) in text.get(region.clone()).unwrap_or_default().match_indices('`') {
        let at = region.start.saturating_add(at);
        match runs.last_mut() {
            Some(last) if last.end == at => last.end = at.saturating_add(1),
            _ => runs.push(at..at.saturating_add(1)),
        }
    }
    // For each run the next one of its length, found from the end so that the whole takes linear time.
    let mut next: SortedMap<usize, usize> = SortedMap::new();
    let mut closings: Vec<Option<usize>> = Vec::with_capacity(runs.len());
    for (number, run) in runs.iter().enumerate().rev() {
        closings.push(next.insert(run.len(), number));
    }
    closings.reverse();
    let mut number = 0_usize;
    while let Some(run) = runs.get(number) {
        let closing = closings.get(number).copied().flatten();
        if let Some((closing, end)) = closing.and_then(|closing| Some((closing, runs.get(closing)?.end))) {
            found.push(run.start..end);
            number = closing;
        }
        number = number.saturating_add(1);
    }
}

/// HTML comments that do not begin in a masked range. One without an end reaches to the end of the text.
fn comments(text: &str, masked: &[Range<usize>]) -> Vec<Range<usize>> {
    let mut masked = masked.iter().peekable();
    let mut found: Vec<Range<usize>> = Vec::new();
    for (at, _) in text.match_indices("<!--") {
        while masked.next_if(|range| range.end <= at).is_some() {}
        let inside = masked.peek().is_some_and(|range| range.start <= at);
        if inside || found.last().is_some_and(|last| last.end > at) {
            continue;
        }
        let rest = text.get(at..).unwrap_or_default();
        let end = rest.find("-->").map_or(text.len(), |end| at.saturating_add(end).saturating_add(3));
        found.push(at..end);
    }
    found
}
