//! The rows of the host's two tables, `session_contexts` and `context_watches`, and their differences
//! (docs/folders.md).

use serde::Serialize;

use crate::error::{Code, Error, Result};
use crate::limits::Limits;
use crate::maps::{SortedMap, SortedSet};

use super::paths;

/// A row of `session_contexts`: a folder that a session has selected.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionContext {
    /// The session.
    pub session_id: String,
    /// The folder; empty for the root.
    pub folder_path: String,
    /// The time, as the host writes it; the table has a default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub added_at: Option<String>,
}

/// A row of `context_watches`: a pattern that a file declares.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WatchRecord {
    /// The watching file.
    pub watcher_path: String,
    /// The pattern as written.
    pub watch_pattern: String,
    /// The context files that it matches, in path order; the table caches them as JSON.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resolved_paths: Option<Vec<String>>,
}

/// The rows for a session's selected folders, in order of selection, without duplicates.
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
    let mut seen = SortedSet::new();
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

/// The changes to make in a table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Diff<R> {
    /// New rows, in their new order.
    pub insert: Vec<R>,
    /// Rows whose key existed before and whose other columns differ, in their new state.
    pub update: Vec<R>,
    /// Removed rows, in their old order.
    pub delete: Vec<R>,
}

/// A row of one of the two tables.
pub trait Row: Clone + PartialEq {
    fn key(&self) -> (&str, &str);

    /// Whether other columns differ from an older row with the same key.
    fn changed(&self, before: &Self) -> bool;
}

impl Row for SessionContext {
    fn key(&self) -> (&str, &str) {
        (&self.session_id, &self.folder_path)
    }

    // A folder that stays selected keeps the time of its selection.
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

/// The rows to insert, update and delete to turn `before` into `after`.
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

fn keyed<'r, R: Row>(name: &str, rows: &'r [R]) -> Result<SortedMap<(&'r str, &'r str), &'r R>> {
    let mut keyed = SortedMap::new();
    for (at, row) in rows.iter().enumerate() {
        let (one, other) = row.key();
        if keyed.insert((one, other), row).is_some() {
            let message = format!("`{name}` has two rows for `{one}` and `{other}`; remove one");
            return Err(Error::new(Code::InvalidInput, message).with("path", format!("{name}[{at}]")));
        }
    }
    Ok(keyed)
}
