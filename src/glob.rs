//! Globs: braces, classes and matching, shared by watches and by the rules of agents.

use fast_glob::glob_match;

use crate::maps::SortedSet;

/// Whether a glob matches a name or a path, whole. `*` and `?` stay within a segment, `**` crosses segments.
pub(crate) fn matches(glob: &str, path: &str) -> bool {
    if glob.is_ascii() && path.is_ascii() {
        return glob_match(glob, path);
    }
    // fast-glob matches bytes, so each character is mapped to a byte, in the order of the characters, which preserves
    // ranges.
    let others: SortedSet<char> = glob.chars().chain(path.chars()).filter(|ch| !ch.is_ascii()).collect();
    let byte = |ch: char| match u8::try_from(ch) {
        Ok(byte) if byte.is_ascii() => Some(byte),
        _ => u8::try_from(others.iter().position(|&other| other == ch)?.checked_add(0x80)?).ok(),
    };
    // More than 128 distinct characters in one path are not matched.
    let bytes = |text: &str| text.chars().map(byte).collect::<Option<Vec<u8>>>();
    match (bytes(glob), bytes(path)) {
        (Some(glob), Some(path)) => glob_match(glob, path),
        _ => false,
    }
}

/// Expands closed braces that contain a comma; `None` for more than `max` alternatives.
pub(crate) fn expand(pattern: &str, max: usize) -> Option<Vec<String>> {
    let mut done: Vec<String> = Vec::new();
    // Patterns still to be expanded, the next one last.
    let mut waiting = vec![(String::new(), pattern.to_owned())];
    while let Some((mut head, rest)) = waiting.pop() {
        let Some((before, choices, after)) = first_braces(&rest) else {
            head.push_str(&rest);
            done.push(head);
            continue;
        };
        if done.len().saturating_add(waiting.len()).saturating_add(choices.len()) > max {
            return None;
        }
        head.push_str(before);
        for choice in choices.iter().rev() {
            waiting.push((head.clone(), format!("{choice}{after}")));
        }
    }
    Some(done)
}

/// The text before the first braces with a comma, their choices, and the text after them.
fn first_braces(text: &str) -> Option<(&str, Vec<&str>, &str)> {
    // The open braces: their places, and the commas in them.
    let mut open: Vec<(usize, Vec<usize>)> = Vec::new();
    let mut found: Option<(usize, usize, Vec<usize>)> = None;
    let (mut skip_to, mut unclosed_to) = (0, 0);
    for (at, ch) in text.char_indices() {
        if at < skip_to {
            continue;
        }
        match ch {
            '\\' => skip_to = at.saturating_add(2),
            '[' if at < unclosed_to => {}
            '[' => match class_end(text, at) {
                Some(end) => skip_to = end,
                // No other brace closes before the separator either: checking once keeps this linear.
                None => unclosed_to = text.get(at..).and_then(|rest| rest.find('/')).map_or(text.len(), |to| at + to),
            },
            '{' => open.push((at, Vec::new())),
            ',' => {
                if let Some((_, commas)) = open.last_mut() {
                    commas.push(at);
                }
            }
            '}' => {
                if let Some((start, commas)) = open.pop().filter(|(_, commas)| !commas.is_empty()) {
                    // The outermost braces are needed; enclosed ones were found earlier.
                    if found.as_ref().is_none_or(|(other, ..)| *other > start) {
                        found = Some((start, at, commas));
                    }
                    if open.is_empty() {
                        break;
                    }
                }
            }
            _ => {}
        }
    }
    let (start, end, commas) = found?;
    let mut choices = Vec::new();
    let mut from = start.saturating_add(1);
    for comma in commas.into_iter().chain([end]) {
        choices.push(text.get(from..comma).unwrap_or_default());
        from = comma.saturating_add(1);
    }
    Some((text.get(..start)?, choices, text.get(end.saturating_add(1)..)?))
}

/// The end of the class that starts at `at`; `None` if it is not closed or contains a separator.
pub(crate) fn class_end(text: &str, at: usize) -> Option<usize> {
    let inner = text.get(at.checked_add(1)?..)?;
    let body = inner.strip_prefix(['!', '^']).unwrap_or(inner);
    let start = text.len().checked_sub(body.len())?;
    let mut escaped = false;
    for (offset, ch) in body.char_indices() {
        match ch {
            '/' => return None,
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            ']' if offset > 0 => return start.checked_add(offset)?.checked_add(1),
            _ => {}
        }
    }
    None
}
