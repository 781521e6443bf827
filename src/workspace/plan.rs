//! The files to load, in loading order (docs/workspace.md).

use serde::Serialize;

use crate::error::Diagnostic;
use crate::input::Content;

use super::brief::{DEFAULT_TASTE, genres_with, parse_brief};

/// The role of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FileRole {
    /// The taste file that always loads.
    Default,
    /// A taste file that the brief names.
    Genre,
    /// The brief.
    Brief,
    /// The notes.
    Notes,
    /// The log.
    Log,
    /// The vocabulary gaps.
    Gaps,
}

/// A file to load.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PlannedFile {
    /// The role of the file.
    pub role: FileRole,
    /// The genre of a taste file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub genre: Option<String>,
    /// The path.
    pub path: String,
}

/// The files to load, in loading order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LoadingPlan {
    /// Tastes, brief, notes, log, gaps.
    pub files: Vec<PlannedFile>,
    /// Diagnostics of the brief.
    pub diagnostics: Vec<Diagnostic>,
}

/// The paths of the files. Each folder that is not empty precedes a name, with a `/` between.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Names {
    /// The folder of the taste files, which all workspaces share. Defaults to `tastes`.
    pub tastes_dir: String,
    /// The folder of the workspace. Defaults to empty.
    pub workspace_dir: String,
}

impl Default for Names {
    fn default() -> Self {
        Self { tastes_dir: "tastes".to_owned(), workspace_dir: String::new() }
    }
}

impl Names {
    /// The path of the file with a role; for a genre see [`Names::genre`].
    pub fn file(&self, role: FileRole) -> String {
        match role {
            FileRole::Default | FileRole::Genre => self.genre(DEFAULT_TASTE),
            FileRole::Brief => join(&self.workspace_dir, "brief.md"),
            FileRole::Notes => join(&self.workspace_dir, "notes.md"),
            FileRole::Log => join(&self.workspace_dir, "log.jsonl"),
            FileRole::Gaps => join(&self.workspace_dir, "vocabulary_gaps.jsonl"),
        }
    }

    /// The path of the taste file of a genre.
    pub fn genre(&self, name: &str) -> String {
        join(&self.tastes_dir, &format!("{name}.md"))
    }
}

/// Whether a path is that of a workspace file or a taste file, in any workspace.
pub(crate) fn is_workspace_file(path: &str) -> bool {
    let names = Names::default();
    let is = |name: &str| path.strip_suffix(name).is_some_and(|before| before.is_empty() || before.ends_with('/'));
    let (folder, name) = path.rsplit_once('/').unwrap_or_default();
    let is_taste = folder.rsplit('/').next() == Some(&*names.tastes_dir) && name.ends_with(".md");
    is_taste
        || [FileRole::Brief, FileRole::Notes, FileRole::Log, FileRole::Gaps].iter().any(|&role| is(&names.file(role)))
}

fn join(folder: &str, name: &str) -> String {
    match folder {
        "" => name.to_owned(),
        _ if folder.ends_with(['/', '\\']) => format!("{folder}{name}"),
        _ => format!("{folder}/{name}"),
    }
}

/// The files that the response needs, given the brief. `listed` are genres in addition to those of the brief.
pub fn plan_loading(brief: Option<&Content>, listed: &[String], names: &Names) -> LoadingPlan {
    let mut parsed = parse_brief(brief, &names.file(FileRole::Brief));
    let file = |role| PlannedFile { role, genre: None, path: names.file(role) };
    let genre = |name: String| PlannedFile { role: FileRole::Genre, path: names.genre(&name), genre: Some(name) };
    let genres = genres_with(&mut parsed, listed).into_iter().map(genre);
    let others = [FileRole::Brief, FileRole::Notes, FileRole::Log, FileRole::Gaps].map(file);
    let files = std::iter::once(file(FileRole::Default)).chain(genres).chain(others).collect();
    LoadingPlan { files, diagnostics: parsed.diagnostics }
}
