//! The rows of the host's two tables, `session_contexts` and `context_watches`, and what changes in them (SPEC §3).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::error::{Code, Diagnostic, Error, Result};
use crate::limits::Limits;

use super::vault::{Vault, VaultFile, vault};
use super::watch::WatchIndex;
use super::{front_matter, paths};

/// A row of `session_contexts`: a folder that a session has selected.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionContext {
    /// The session.
    pub session_id: String,
    /// The folder; empty for the root.
    pub folder_path: String,
    /// When, as the host writes it; the table has a default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub added_at: Option<String>,
}

/// A row of `context_watches`: a pattern that a file declares.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WatchRecord {
    /// The watching file.
    pub watcher_path: String,
    /// The pattern as written.
    pub watch_pattern: String,
    /// The context files that it matches, in path order: the table's cache, as JSON there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resolved_paths: Option<Vec<String>>,
}

/// The rows for a session's selected folders, in the order in which they were selected, each once.
///
/// # Errors
/// [`Code::PathOutsideVault`], [`Code::LimitExceeded`].
pub fn session_records(
    session_id: &str,
    folders: &[String],
    added_at: Option<&str>,
    limits: &Limits,
) -> Result<Vec<SessionContext>> {
    let mut rows: Vec<SessionContext> = Vec::new();
    let mut seen = std::collections::BTreeSet::new();
    for folder in folders {
        let path = paths::normalize(folder, limits)?;
        let folder_path = paths::folder_of(&path).to_owned();
        if seen.insert(folder_path.clone()) {
            rows.push(SessionContext {
                session_id: session_id.to_owned(),
                folder_path,
                added_at: added_at.map(str::to_owned),
            });
        }
    }
    Ok(rows)
}

/// The rows for the watches of all files, in the order of their paths, then of declaration; and what was wrong with them.
///
/// # Errors
/// [`Code::LimitExceeded`].
pub fn watch_records(files: &[VaultFile], limits: &Limits) -> Result<(Vec<WatchRecord>, Vec<Diagnostic>)> {
    let mut diagnostics = Vec::new();
    let vault: Vault<'_> = vault(files, limits, &mut diagnostics)?;
    let mut index = WatchIndex::default();
    let mut declared: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (folder, entry) in &vault {
        let text = entry.content.text(&entry.path, &mut diagnostics).unwrap_or_default();
        let front = front_matter::read(text, &entry.path, limits, &mut diagnostics);
        // A pattern that cannot be used is told, and has no row.
        let usable = index.add(&entry.path, folder, &front.watch, limits, &mut diagnostics);
        declared.insert(&entry.path, usable.into_iter().map(str::to_owned).collect());
    }
    let mut resolved: BTreeMap<(String, String), Vec<String>> = BTreeMap::new();
    for (folder, entry) in &vault {
        for watcher in index.watchers_of_folder(folder) {
            for pattern in watcher.patterns {
                resolved.entry((watcher.path.clone(), pattern)).or_default().push(entry.path.clone());
            }
        }
    }
    let mut rows = Vec::new();
    for (path, patterns) in declared {
        for watch_pattern in patterns {
            let key = (path.to_owned(), watch_pattern);
            let mut paths = resolved.remove(&key).unwrap_or_default();
            paths.sort_unstable();
            let (watcher_path, watch_pattern) = key;
            rows.push(WatchRecord { watcher_path, watch_pattern, resolved_paths: Some(paths) });
        }
    }
    Ok((rows, diagnostics))
}

/// What has to change in a table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Diff<R> {
    /// Rows that are new, in their new order.
    pub insert: Vec<R>,
    /// Rows whose key is there before and after and whose other columns differ, as they are after.
    pub update: Vec<R>,
    /// Rows that are gone, in their old order.
    pub delete: Vec<R>,
}

/// A row of one of the two tables.
pub trait Row: Clone + PartialEq {
    /// What is unique in the table.
    fn key(&self) -> (&str, &str);

    /// Whether the other columns differ from those of an older row of this key.
    fn changed(&self, before: &Self) -> bool;
}

impl Row for SessionContext {
    fn key(&self) -> (&str, &str) {
        (&self.session_id, &self.folder_path)
    }

    // When a folder was selected does not change by its being selected still.
    fn changed(&self, _: &Self) -> bool {
        false
    }
}

impl Row for WatchRecord {
    fn key(&self) -> (&str, &str) {
        (&self.watcher_path, &self.watch_pattern)
    }

    fn changed(&self, before: &Self) -> bool {
        self.resolved_paths.is_some() && self.resolved_paths != before.resolved_paths
    }
}

/// The rows to insert, to update and to delete, so that a table goes from `before` to `after`.
///
/// # Errors
/// [`Code::InvalidInput`] for two rows with one key.
pub fn diff<R: Row>(before: &[R], after: &[R]) -> Result<Diff<R>> {
    let (old, new) = (keyed("before", before)?, keyed("after", after)?);
    let mut diff = Diff { insert: Vec::new(), update: Vec::new(), delete: Vec::new() };
    for row in after {
        match old.get(&row.key()) {
            None => diff.insert.push(row.clone()),
            Some(known) if row.changed(known) => diff.update.push(row.clone()),
            Some(_) => {}
        }
    }
    diff.delete.extend(before.iter().filter(|row| !new.contains_key(&row.key())).cloned());
    Ok(diff)
}

fn keyed<'r, R: Row>(name: &str, rows: &'r [R]) -> Result<BTreeMap<(&'r str, &'r str), &'r R>> {
    let mut keyed = BTreeMap::new();
    for (at, row) in rows.iter().enumerate() {
        let (one, other) = row.key();
        if keyed.insert((one, other), row).is_some() {
            let message = format!("`{name}` has two rows for `{one}` and `{other}`; a table can hold only one");
            return Err(Error::new(Code::InvalidInput, message).with("path", format!("{name}[{at}]")));
        }
    }
    Ok(keyed)
}
