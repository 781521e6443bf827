//! Patterns of rules in the dialect of another agent.

use crate::glob;
use crate::maps::SortedSet;

use super::patterns::ALTERNATIVES_MAX;
use super::preset::Dialect;

/// How the translation of a pattern differs from the pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Difference {
    /// It matches files below a folder whose name looks like that of a file.
    WiderBelowFiles,
    /// It does not match files below a folder whose name looks like that of a file.
    NarrowerBelowFiles,
    /// It matches everything below a folder that matches.
    WiderBelow,
    /// It matches the name in every folder.
    WiderDepth,
    /// It has syntax whose meaning differs, or may differ.
    Syntax,
    /// It matches nothing, so it is left out.
    Nothing,
}

/// The patterns that stand for one pattern.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Translation {
    pub patterns: Vec<String>,
    pub differences: SortedSet<Difference>,
}

/// A glob that matches whole paths.
struct Glob {
    text: String,
    /// Whether it matches the path itself.
    whole: bool,
    /// Whether it matches everything below what it matches.
    below: bool,
}

/// Translates a pattern. `prefix` is the folder of its base as seen from the base of the target; empty if they are the same.
pub(super) fn translate(pattern: &str, from: Dialect, to: Dialect, prefix: &str) -> Translation {
    let mut out = Translation::default();
    let Some(alternatives) = glob::expand(pattern, ALTERNATIVES_MAX) else {
        out.differences.insert(Difference::Nothing);
        return out;
    };
    if from == to && prefix.is_empty() {
        out.patterns.push(waiting(pattern, to));
        return out;
    }
    let mut all: Vec<Vec<String>> = Vec::new();
    for alternative in &alternatives {
        let Some(glob) = read(alternative, from) else {
            out.differences.insert(Difference::Nothing);
            all.push(Vec::new());
            continue;
        };
        let text = if prefix.is_empty() { glob.text } else { format!("{prefix}/{}", glob.text) };
        if is_peculiar(alternative) || is_peculiar(&text) || prefix.contains(['*', '?', '[', ']', '!']) {
            out.differences.insert(Difference::Syntax);
        }
        all.push(write(Glob { text, ..glob }, to, &mut out.differences));
    }
    out.patterns = rejoined(pattern, &alternatives, &all).map_or_else(
        || {
            let mut seen = SortedSet::new();
            all.into_iter().flatten().filter(|pattern| seen.insert(pattern.clone())).collect()
        },
        |pattern| vec![pattern],
    );
    out
}

/// Whether a pattern can match a path.
pub(super) fn can_match(pattern: &str, dialect: Dialect) -> bool {
    let odd = |segment: &str| segment.is_empty() || segment == "." || segment == "..";
    let reads = |alternative: &String| read(alternative, dialect).is_some_and(|glob| !glob.text.split('/').any(odd));
    glob::expand(pattern, ALTERNATIVES_MAX).is_some_and(|all| all.iter().any(reads))
}

/// One pattern with the braces of the original, if every alternative only got the same text around it.
fn rejoined(pattern: &str, alternatives: &[String], all: &[Vec<String>]) -> Option<String> {
    let (first, [written]) = (alternatives.first()?, all.first()?.as_slice()) else { return None };
    let (before, after) = written.split_once(first.as_str())?;
    let same = |(alternative, written): (&String, &Vec<String>)| {
        written.len() == 1 && written.first() == Some(&format!("{before}{alternative}{after}"))
    };
    alternatives.iter().zip(all).all(same).then(|| format!("{before}{pattern}{after}"))
}

/// A pattern that waits for a path, in a dialect in which `**` does not wait.
fn waiting(pattern: &str, dialect: Dialect) -> String {
    let always = matches!(pattern, "**" | "**/**") && dialect != Dialect::Picomatch;
    if always { "**/*".to_owned() } else { pattern.to_owned() }
}

/// Reads a pattern without braces; `None` if it matches nothing.
fn read(pattern: &str, dialect: Dialect) -> Option<Glob> {
    let relative = pattern.strip_prefix("./").unwrap_or(pattern);
    let glob = |text: String, whole: bool, below: bool| (!text.is_empty()).then_some(Glob { text, whole, below });
    match dialect {
        Dialect::Gitignore => {
            if pattern.starts_with(['!', '#']) || pattern.starts_with("./") {
                return None;
            }
            let inner = pattern.strip_suffix('/').unwrap_or(pattern);
            let is_anchored = inner.contains('/');
            let text = inner.strip_prefix('/').unwrap_or(inner);
            let text = if is_anchored || text.is_empty() { text.to_owned() } else { format!("**/{text}") };
            glob(text, inner.len() == pattern.len(), true)
        }
        // No path begins or ends with a slash.
        _ if relative.starts_with('/') || relative.ends_with('/') => None,
        Dialect::Copilot if !relative.contains('/') && !relative.is_empty() => {
            glob(format!("**/{relative}"), true, false)
        }
        Dialect::Copilot | Dialect::Picomatch => glob(relative.to_owned(), true, false),
    }
}

/// Writes a glob in a dialect, and records what changes.
fn write(glob: Glob, to: Dialect, differences: &mut SortedSet<Difference>) -> Vec<String> {
    let Glob { text, whole, below } = glob;
    let is_closed = text == "**" || text.ends_with("/**") || text == "**/*" || text.ends_with("/**/*");
    let is_file = looks_like_file(&text);
    if to == Dialect::Gitignore {
        if !below && !is_closed {
            differences.insert(if is_file { Difference::WiderBelowFiles } else { Difference::WiderBelow });
        }
        let anchored = if text.contains('/') { text } else { format!("/{text}") };
        let anchored = if anchored == "/**" { "**/*".to_owned() } else { waiting(&anchored, to) };
        return vec![if whole { anchored } else { format!("{anchored}/") }];
    }
    let mut patterns = Vec::new();
    if whole {
        if to == Dialect::Copilot && !text.contains('/') && text != "**" {
            differences.insert(Difference::WiderDepth);
        }
        patterns.push(waiting(&text, to));
    }
    if below && !is_closed {
        if whole && is_file {
            differences.insert(Difference::NarrowerBelowFiles);
        } else {
            patterns.push(format!("{text}/**/*"));
        }
    } else if !whole {
        patterns.push(text);
    }
    patterns
}

/// Whether the last name of a glob has an ending, as files do.
fn looks_like_file(glob: &str) -> bool {
    let name = glob.rsplit_once('/').map_or(glob, |(_, name)| name);
    name.rsplit_once('.').is_some_and(|(stem, end)| !stem.is_empty() && !end.is_empty() && !end.contains('*'))
}

/// Whether a glob has syntax that the dialects may read in different ways.
fn is_peculiar(glob: &str) -> bool {
    let odd_segment = |segment: &str| {
        segment == "." || segment == ".." || segment.is_empty() || (segment.contains("**") && segment != "**")
    };
    let open_class = || glob.match_indices('[').any(|(at, _)| glob::class_end(glob, at).is_none());
    let inner = glob.strip_prefix("./").unwrap_or(glob);
    let inner = inner.strip_prefix('/').unwrap_or(inner);
    let inner = inner.strip_suffix('/').unwrap_or(inner);
    glob.contains(['\\', '{', '}', '\0'])
        || inner.starts_with('!')
        || glob.starts_with('#')
        || glob.trim() != glob
        || inner.split('/').any(odd_segment)
        || open_class()
}
