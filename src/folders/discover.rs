//! Which folders have a context file (docs/folders.md).

use serde::Serialize;

use crate::error::{Diagnostic, Result};
use crate::limits::Limits;
use crate::maps::SortedMap;

use super::paths;

/// A folder that can be selected.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Folder {
    /// The folder; empty for the root.
    pub path: String,
    /// Its context file.
    pub file: String,
    /// Whether it has an `AGENTS.md`.
    pub has_agents_md: bool,
    /// Whether it has a `CLAUDE.md`.
    pub has_claude_md: bool,
}

/// The folders that can be selected, in the order of their paths.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Discovery {
    /// The folders.
    pub folders: Vec<Folder>,
    /// Rejected paths.
    pub diagnostics: Vec<Diagnostic>,
}

/// Folders that discovery skips unless the caller names others.
pub const SKIPPED_FOLDERS: [&str; 2] = [".git", "node_modules"];

/// Finds the folders that have a context file, from the paths of a vault's files. Paths of other files, and those in
/// folders whose name is in `skip`, are ignored.
///
/// # Errors
/// [`crate::Code::LimitExceeded`] for a path with too many folders.
pub fn discover<'p>(
    all: impl IntoIterator<Item = &'p str>,
    skip: &[impl AsRef<str>],
    limits: &Limits,
) -> Result<Discovery> {
    let mut diagnostics = Vec::new();
    let mut found: SortedMap<String, (bool, bool)> = SortedMap::new();
    for path in all {
        let Some(path) = paths::normalize_or_report(path, limits, &mut diagnostics)? else { continue };
        let Some((folder, preferred)) = paths::context_file(&path) else { continue };
        if folder.split('/').any(|name| skip.iter().any(|skipped| skipped.as_ref() == name)) {
            continue;
        }
        let (agents, claude) = found.or_default(folder.to_owned());
        *(if preferred { agents } else { claude }) = true;
    }
    let folder = |(path, (has_agents_md, has_claude_md)): (String, (bool, bool))| Folder {
        file: file_in(&path, has_agents_md),
        path,
        has_agents_md,
        has_claude_md,
    };
    Ok(Discovery { folders: found.into_iter().map(folder).collect(), diagnostics })
}

pub(super) fn file_in(folder: &str, preferred: bool) -> String {
    let [agents, claude] = paths::CONTEXT_FILE_NAMES;
    let name = if preferred { agents } else { claude };
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}
