//! Paths in a vault: relative, `/`-separated, normalized (docs/folders.md). A folder has no trailing slash; the root is
//! the empty string.

use crate::error::{Code, Diagnostic, DiagnosticCode, Error, Result, Severity};
use crate::limits::{self, Limits};

/// The names that a context file can have, the preferred one first.
pub const CONTEXT_FILE_NAMES: [&str; 2] = ["AGENTS.md", "CLAUDE.md"];

/// Normalizes a path: removes `.`, `..`, empty segments and backslashes.
///
/// # Errors
/// [`Code::PathOutsideVault`] for a path that is absolute or leaves the vault; [`Code::LimitExceeded`] for one with too
/// many folders.
pub fn normalize(path: &str, limits: &Limits) -> Result<String> {
    let slashed = path.replace('\\', "/");
    if slashed == "/" {
        return Ok(String::new());
    }
    let mut letters = slashed.chars();
    let drive = letters.next().is_some_and(|ch| ch.is_ascii_alphabetic())
        && letters.next() == Some(':')
        && matches!(letters.next(), None | Some('/'));
    if slashed.starts_with('/') || drive || slashed.contains('\0') {
        return Err(outside(path));
    }
    let mut segments: Vec<&str> = Vec::new();
    for segment in slashed.split('/') {
        match segment {
            "" | "." => {}
            ".." => {
                segments.pop().ok_or_else(|| outside(path))?;
            }
            name => segments.push(name),
        }
    }
    limits::check("folderDepth", segments.len(), limits.folder_depth)?;
    Ok(segments.join("/"))
}

fn outside(path: &str) -> Error {
    let message = format!("the path `{path}` is absolute or leaves the vault; use a path relative to the vault's root");
    Error::new(Code::PathOutsideVault, message).with("path", path)
}

/// Like [`normalize`], but reports a path that leaves the vault in a diagnostic.
pub(super) fn normalize_or_report(
    path: &str,
    limits: &Limits,
    diagnostics: &mut Vec<Diagnostic>,
) -> Result<Option<String>> {
    match normalize(path, limits) {
        Ok(path) => Ok(Some(path)),
        Err(error) if error.code() == Code::PathOutsideVault => {
            let message = format!("the path `{path}` is absolute or leaves the vault; it was rejected");
            diagnostics.push(Diagnostic::new(DiagnosticCode::PathOutsideVault, Severity::Error, message).at_path(path));
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// Folder and last segment.
pub(super) fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

/// The folder of a context file, and whether it is the preferred one.
pub(super) fn context_file(path: &str) -> Option<(&str, bool)> {
    let (folder, name) = split(path);
    match CONTEXT_FILE_NAMES.iter().position(|known| *known == name)? {
        0 => Some((folder, true)),
        _ => Some((folder, false)),
    }
}

/// The folder of a context file, or the path itself.
pub(super) fn folder_of(path: &str) -> &str {
    context_file(path).map_or(path, |(folder, _)| folder)
}

pub(super) fn depth(folder: &str) -> usize {
    segments(folder).count()
}

pub(super) fn segments(folder: &str) -> impl Iterator<Item = &str> {
    folder.split('/').filter(|segment| !segment.is_empty())
}

/// The parent folders, the nearest first, the root last.
pub(super) fn ancestors(folder: &str) -> impl Iterator<Item = &str> {
    let mut next = (!folder.is_empty()).then_some(folder);
    std::iter::from_fn(move || {
        let (parent, _) = split(next?);
        next = (!parent.is_empty()).then_some(parent);
        Some(parent)
    })
}

#[cfg(test)]
#[path = "../../tests/unit/folders/paths.rs"]
mod tests;
