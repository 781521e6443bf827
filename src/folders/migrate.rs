//! Migration from `Chat/contexts/*.md` to context files in folders (docs/folders.md).

use serde::Serialize;

use crate::error::{Diagnostic, DiagnosticCode, Result, Severity};
use crate::input::Content;
use crate::json::quoted;
use crate::limits::{self, Limits};
use crate::maps::{SortedMap, SortedSet};
use crate::markdown;
use crate::text::case::lowercase;

use super::discover::file_in;
use super::file::without_blank_edges;
use super::vault::{self, VaultFile};
use super::{front_matter, paths};

const LEGACY: &str = "Chat/contexts";

/// The files to migrate.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MigrationInput {
    /// The legacy files, and the existing context files.
    pub files: Vec<VaultFile>,
    /// Folders without a context file, which are also candidates.
    pub folders: Vec<String>,
    /// The folder of a legacy file whose name does not determine it.
    pub map: SortedMap<String, String>,
    /// The legacy files that a session had selected.
    pub contexts: Vec<String>,
}

/// What happens to a legacy file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    /// It becomes the folder's context file.
    Create,
    /// It is added to the folder's context file.
    Merge,
    /// The folder's context file contains it already.
    Unchanged,
}

/// One legacy file and its folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Move {
    /// The legacy file.
    pub from: String,
    /// The context file.
    pub to: String,
    /// Its folder; empty for the root.
    pub folder: String,
    /// The action.
    pub action: Action,
    /// The text of `to` after all moves up to this one.
    pub content: String,
}

/// A legacy file whose folder is uncertain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Unresolved {
    /// The legacy file.
    pub from: String,
    /// Folders that it could belong to.
    pub candidates: Vec<String>,
}

/// The files to write, and the new selections of sessions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Migration {
    /// The moves, in the order of the legacy paths.
    pub moves: Vec<Move>,
    /// Legacy files to ask about; name their folders in `map`.
    pub unresolved: Vec<Unresolved>,
    /// The folders that replace the session's `contexts`, in order, each once.
    pub context_folders: Vec<String>,
    /// Files that could not be read or assigned.
    pub diagnostics: Vec<Diagnostic>,
}

/// Plans the migration: `general-context.md` belongs to the root, `x-context.md` to the folder named `x`.
///
/// # Errors
/// [`crate::Code::PathOutsideVault`] for a folder in `map` that leaves the vault, [`crate::Code::LimitExceeded`].
pub fn migrate_legacy(input: &MigrationInput, limits: &Limits) -> Result<Migration> {
    limits::check("contextFiles", input.files.len(), limits.context_files)?;
    let mut diagnostics = Vec::new();
    let mut legacy: SortedMap<String, &Content> = SortedMap::new();
    let mut others = Vec::new();
    for file in &input.files {
        let Some(path) = paths::normalize_or_report(&file.path, limits, &mut diagnostics)? else { continue };
        if is_legacy(&path) {
            legacy.or_insert(path, &file.content);
        } else {
            others.push(VaultFile { path, content: file.content.clone() });
        }
    }
    let vault = vault::vault(&others, limits, &mut diagnostics)?;
    let mut known: SortedSet<String> = SortedSet::new();
    for folder in input.folders.iter().map(String::as_str).chain(vault.keys().map(String::as_str)) {
        if let Some(folder) = paths::normalize_or_report(folder, limits, &mut diagnostics)? {
            known.extend(paths::ancestors(&folder).map(str::to_owned));
            known.insert(folder);
        }
    }
    let mut by_name: SortedMap<String, Vec<&str>> = SortedMap::new();
    for folder in known.iter().filter(|folder| !folder.is_empty() && !LEGACY.starts_with(folder.as_str())) {
        by_name.or_default(slug(paths::split(folder).1)).push(folder);
    }
    let mut map = SortedMap::new();
    for (from, folder) in input.map.iter() {
        let folder = paths::normalize(folder, limits)?;
        map.insert(paths::normalize(from, limits)?, paths::folder_of(&folder).to_owned());
    }
    let place = |path: &str| -> std::result::Result<String, Vec<String>> {
        if let Some(folder) = map.get(path) {
            return Ok(folder.clone());
        }
        let name = stem(path);
        if matches!(name.as_str(), "general" | "root" | "") {
            return Ok(String::new());
        }
        match by_name.get(&name).map(Vec::as_slice) {
            Some([folder]) => Ok((*folder).to_owned()),
            Some(several) => Err(several.iter().map(|folder| (*folder).to_owned()).collect()),
            None => Err(vec![format!("Projects/{name}")]),
        }
    };
    let mut texts: SortedMap<String, (String, Option<String>)> = SortedMap::new();
    let mut migration =
        Migration { moves: Vec::new(), unresolved: Vec::new(), context_folders: Vec::new(), diagnostics: Vec::new() };
    for (from, content) in legacy.iter() {
        let Some(text) = content.text(from, &mut diagnostics) else { continue };
        let folder = match place(from) {
            Ok(folder) => folder,
            Err(candidates) => {
                diagnostics.push(unresolved(from, &candidates));
                migration.unresolved.push(Unresolved { from: from.clone(), candidates });
                continue;
            }
        };
        // A CLAUDE.md stays the folder's context file: an AGENTS.md next to it would hide it.
        let (to, before) = texts.or_insert_with(folder.clone(), || match vault.get(&folder) {
            Some(entry) => {
                let text = entry.content.text(&entry.path, &mut diagnostics).map(str::to_owned);
                (entry.path.clone(), Some(text.unwrap_or_default()))
            }
            None => (file_in(&folder, true), None),
        });
        let unreadable = vault.get(&folder).is_some_and(|entry| entry.content.text("", &mut Vec::new()).is_none());
        if unreadable {
            continue;
        }
        let (action, content) = merged(before.as_deref(), from, text, limits);
        *before = Some(content.clone());
        migration.moves.push(Move { from: from.clone(), to: to.clone(), folder, action, content });
    }
    for path in &input.contexts {
        let Some(path) = paths::normalize_or_report(path, limits, &mut diagnostics)? else { continue };
        let folder = if is_legacy(&path) { place(&path) } else { Ok(paths::folder_of(&path).to_owned()) };
        match folder {
            Ok(folder) if !migration.context_folders.contains(&folder) => migration.context_folders.push(folder),
            Ok(_) => {}
            Err(candidates) if !legacy.contains_key(&path) => diagnostics.push(unresolved(&path, &candidates)),
            Err(_) => {}
        }
    }
    migration.diagnostics = diagnostics;
    Ok(migration)
}

pub(super) fn is_legacy(path: &str) -> bool {
    let (folder, name) = paths::split(path);
    folder == LEGACY && name.ends_with(".md") && paths::context_file(path).is_none()
}

/// The stem of a legacy file: `Chat/contexts/My Project-context.md` gives `my-project`.
fn stem(path: &str) -> String {
    let (_, name) = paths::split(path);
    let name = slug(name.strip_suffix(".md").unwrap_or(name));
    if name == "context" {
        return String::new();
    }
    name.strip_suffix("-context").unwrap_or(&name).to_owned()
}

/// Lower-case words joined by `-`.
fn slug(name: &str) -> String {
    let words = name.split(|ch: char| !ch.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(lowercase).collect::<Vec<_>>().join("-")
}

/// The text of a context file with a legacy file added.
fn merged(before: Option<&str>, from: &str, legacy: &str, limits: &Limits) -> (Action, String) {
    let Some(before) = before else { return (Action::Create, legacy.to_owned()) };
    let body = |text: &str| -> String {
        let start = front_matter::read(text, from, limits, &mut Vec::new()).body_start;
        without_blank_edges(text.get(start..).unwrap_or_default()).to_owned()
    };
    let mark = format!("<!-- Migrated from {from} -->");
    let added = body(legacy);
    if before.contains(&mark) || added.is_empty() || body(before) == added {
        return (Action::Unchanged, before.to_owned());
    }
    let eol = markdown::line_end(before);
    let gap = match before {
        "" => String::new(),
        _ if before.ends_with(['\n', '\r']) => eol.to_owned(),
        _ => eol.repeat(2),
    };
    (Action::Merge, format!("{before}{gap}{mark}{eol}{added}{eol}"))
}

fn unresolved(from: &str, candidates: &[String]) -> Diagnostic {
    let names: Vec<&str> = candidates.iter().map(String::as_str).collect();
    let message = format!("`{from}` could belong to {}; name its folder in `map`", quoted(&names));
    Diagnostic::new(DiagnosticCode::LegacyContextUnresolved, Severity::Warning, message).at_path(from)
}
