//! Patterns of rules, in the dialect of their agent, matched against paths relative to their base.

use crate::glob;
use crate::text::case::lowercase;

use super::preset::Dialect;

/// Alternatives that the braces of one pattern may expand to.
pub(super) const ALTERNATIVES_MAX: usize = 1_000;

/// Whether a pattern matches a path. A pattern with too many alternatives matches nothing.
pub(super) fn matches(dialect: Dialect, pattern: &str, path: &str) -> bool {
    let Some(alternatives) = glob::expand(pattern, ALTERNATIVES_MAX) else { return false };
    alternatives.iter().any(|pattern| match dialect {
        Dialect::Gitignore => ignores(pattern, path),
        Dialect::Picomatch => glob::matches(pattern.strip_prefix("./").unwrap_or(pattern), path),
        Dialect::Copilot => {
            let pattern = pattern.strip_prefix("./").unwrap_or(pattern);
            glob::matches(pattern, path) || (!pattern.contains('/') && glob::matches(&format!("**/{pattern}"), path))
        }
    })
}

/// Whether a line of a `.gitignore` would ignore a path.
fn ignores(pattern: &str, path: &str) -> bool {
    // A pattern that negates takes a path out of others; alone it ignores nothing.
    if pattern.is_empty() || pattern.starts_with(['!', '#']) || pattern.starts_with("./") {
        return false;
    }
    let inner = pattern.strip_suffix('/').unwrap_or(pattern);
    // Names are compared without case, as the agent's library does by default.
    let (inner, path) = (&*lowercase(inner), &*lowercase(path));
    // A folder ignores everything in it.
    let folders_only = pattern.ends_with('/');
    let anchored = match inner.strip_prefix('/') {
        Some(anchored) => anchored.to_owned(),
        None if inner.contains('/') => inner.to_owned(),
        None => format!("**/{inner}"),
    };
    let ends = path.match_indices('/').map(|(at, _)| path.get(..at).unwrap_or_default());
    let whole = (!folders_only).then_some(path);
    ends.chain(whole).any(|part| glob::matches(&anchored, part))
}

/// Whether patterns apply to every path at once, so that their rule need not wait for one.
pub(super) fn is_always(dialect: Dialect, patterns: &[String]) -> bool {
    let everything = |pattern: &String| match dialect {
        Dialect::Gitignore | Dialect::Copilot => matches!(pattern.as_str(), "**" | "**/**"),
        Dialect::Picomatch => false,
    };
    !patterns.is_empty() && patterns.iter().all(everything)
}

/// The patterns of a comma-separated text; commas in braces belong to a pattern.
pub(super) fn split(text: &str) -> Vec<String> {
    let (mut depth, mut found) = (0_i32, vec![String::new()]);
    for ch in text.chars() {
        match ch {
            '{' => depth = depth.saturating_add(1),
            '}' => depth = depth.saturating_sub(1),
            ',' if depth <= 0 => {
                found.push(String::new());
                continue;
            }
            _ => {}
        }
        if let Some(last) = found.last_mut() {
            last.push(ch);
        }
    }
    found.iter().map(|pattern| pattern.trim().to_owned()).filter(|pattern| !pattern.is_empty()).collect()
}
