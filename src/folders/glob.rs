//! Watch patterns: globs on folders (docs/folders.md).
//!
//! A pattern is resolved against the watcher's folder, its braces are expanded, and each alternative is split into
//! segments. A segment with wildcards is matched as a glob.

use crate::glob::{self, class_end, expand};
use crate::limits::Limits;
use crate::text::trim;

/// One segment of a pattern.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Segment {
    Literal(String),
    /// A name with `*`, `?` or `[…]`.
    Glob(String),
    /// `**`: any number of names, including none.
    Any,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Pattern {
    /// The patterns that the braces expand to; no segments for the root.
    pub alternatives: Vec<Vec<Segment>>,
    /// Warnings about patterns that may be misunderstood.
    pub notes: Vec<&'static str>,
}

pub(super) type Reason = String;

/// Resolves a pattern against the folder of the file that declares it.
pub(super) fn resolve(pattern: &str, folder: &str, limits: &Limits) -> Result<Pattern, Reason> {
    let pattern = trim(pattern);
    let (bytes, max) = (pattern.len(), limits.front_matter_bytes);
    // A row of the host's table can be longer than a pattern in a file.
    if bytes > max as usize {
        return Err(format!("it has {bytes} bytes, over the limit `frontMatterBytes` of {max}"));
    }
    let slashed = separators(pattern);
    let mut resolved = Pattern { notes: notes(pattern), ..Pattern::default() };
    let nameless = |path: &str| path.split('/').filter(|name| name.is_empty()).count();
    let (given, mut more) = (nameless(&slashed), false);
    let max = limits.watch_alternatives as usize;
    let too_many = || format!("its braces expand to more than {max} alternatives, the limit `watchAlternatives`");
    for alternative in expand(&slashed, max).ok_or_else(too_many)? {
        more |= nameless(&alternative) > given;
        add(&mut resolved.alternatives, path_segments(&alternative, folder, segment)?);
    }
    if more {
        resolved.notes.push("has an empty alternative in braces, which means the folder above; list the folders");
    }
    // A folder whose name has brackets is also matched by its literal name.
    if pattern.contains('[') && !pattern.contains('\\') {
        add(&mut resolved.alternatives, path_segments(pattern, folder, |name| Ok(literal(name)))?);
    }
    Ok(resolved)
}

/// Warnings about syntax of other globs that is unsupported here.
fn notes(pattern: &str) -> Vec<&'static str> {
    let range = |(inner, _): (&str, &str)| inner.contains("..") && !inner.contains([',', '/']);
    let (mut before, mut open, mut extended, mut not) = ('/', None, false, false);
    for ch in pattern.chars() {
        match ch {
            _ if before == '\\' => {}
            // `Notes (old)` is an ordinary name.
            '(' => open = Some(before != ' '),
            '|' => open = open.map(|_| true),
            ')' => extended |= open.take() == Some(true),
            '!' => not |= before == '[',
            _ => {}
        }
        before = ch;
    }
    let all = [
        (pattern.contains('\\'), "has backslashes; write `/` between folders"),
        (
            pattern.split('{').skip(1).any(|rest| rest.split_once('}').is_some_and(range)),
            "has a range in braces, which is taken literally; list the names, `{1,2,3}`",
        ),
        (
            pattern.split_once("[:").is_some_and(|(_, rest)| rest.contains(":]")),
            "has a named class, which is unsupported; write it out, `[a-z]`",
        ),
        (extended, "has parentheses, which are taken literally; write alternatives as `{a,b}`"),
        (not, "has `[!`, which excludes names like `[^`; write `[^`"),
    ];
    all.into_iter().filter_map(|(is_so, note)| is_so.then_some(note)).collect()
}

fn add(alternatives: &mut Vec<Vec<Segment>>, segments: Vec<Segment>) {
    if !alternatives.contains(&segments) {
        alternatives.push(segments);
    }
}

/// Converts backslashes to separators, unless they escape a special character.
fn separators(pattern: &str) -> String {
    let mut out = String::with_capacity(pattern.len());
    let mut chars = pattern.chars().peekable();
    while let Some(ch) = chars.next() {
        if ch != '\\' {
            out.push(ch);
        } else if let Some(special) = chars.next_if(|next| "*?[]{}!,\\".contains(*next)) {
            out.push('\\');
            out.push(special);
        } else {
            out.push('/');
        }
    }
    out
}

fn path_segments(
    pattern: &str,
    folder: &str,
    make: impl Fn(&str) -> Result<Segment, Reason>,
) -> Result<Vec<Segment>, Reason> {
    let mut names = pattern.split('/').filter(|name| !name.is_empty()).peekable();
    let relative = !pattern.starts_with('/') && matches!(names.peek(), Some(&("." | "..")));
    let mut segments: Vec<Segment> = Vec::new();
    if relative {
        segments.extend(super::paths::segments(folder).map(literal));
    }
    for name in names {
        match name {
            "." => {}
            ".." => match segments.pop() {
                // The root is its own parent.
                None | Some(Segment::Literal(_)) => {}
                Some(_) => return Err("`..` cannot follow a wildcard".to_owned()),
            },
            // A repeated `**` is the same as one.
            "**" if segments.last() == Some(&Segment::Any) => {}
            name => segments.push(make(name)?),
        }
    }
    if segments.last().is_some_and(|last| super::paths::CONTEXT_FILE_NAMES.iter().any(|name| *last == literal(name))) {
        segments.pop();
    }
    Ok(segments)
}

fn literal(name: &str) -> Segment {
    Segment::Literal(name.to_owned())
}

/// Converts a segment to the syntax of fast-glob.
fn segment(name: &str) -> Result<Segment, Reason> {
    if name == "**" {
        return Ok(Segment::Any);
    }
    let mut glob = String::with_capacity(name.len());
    let mut plain = String::with_capacity(name.len());
    let mut wild = false;
    let mut skip_to = 0;
    for (at, ch) in name.char_indices() {
        if at < skip_to {
            continue;
        }
        match ch {
            '\\' => {
                let special = name.get(at.saturating_add(1)..).and_then(|rest| rest.chars().next()).unwrap_or('\\');
                skip_to = at.saturating_add(1).saturating_add(special.len_utf8());
                glob.push('\\');
                glob.push(special);
                plain.push(special);
            }
            '*' => {
                wild = true;
                if !glob.ends_with('*') || glob.ends_with("\\*") {
                    glob.push('*');
                }
            }
            '?' => {
                wild = true;
                glob.push('?');
            }
            '[' => {
                wild = true;
                let end = class_end(name, at)
                    .ok_or("a `[` is not closed within its segment; write `\\[` for a literal bracket")?;
                glob.push_str(name.get(at..end).unwrap_or_default());
                skip_to = end;
            }
            // Special in fast-glob but literal here: braces are expanded already, and nothing is negated.
            '{' | '}' | ',' | '!' | ']' => {
                glob.push('\\');
                glob.push(ch);
                plain.push(ch);
            }
            other => {
                glob.push(other);
                plain.push(other);
            }
        }
    }
    Ok(if wild { Segment::Glob(glob) } else { Segment::Literal(plain) })
}

/// The literal prefix of all matching names.
pub(super) fn literal_prefix(glob: &str) -> &str {
    let end = glob.find(['*', '?', '[', '\\']).unwrap_or(glob.len());
    glob.get(..end).unwrap_or_default()
}

/// Whether `**` matches a folder of this name; hidden folders have to be named.
pub(super) fn is_visible(name: &str) -> bool {
    !name.starts_with('.')
}

/// Whether a glob matches a folder's name. A leading wildcard does not match a dot.
pub(super) fn matches(glob: &str, name: &str) -> bool {
    if !is_visible(name) && glob.starts_with(['*', '?']) {
        return false;
    }
    glob::matches(glob, name)
}

#[cfg(test)]
#[path = "../../tests/unit/folders/glob.rs"]
mod tests;
