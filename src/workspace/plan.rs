//! Which files are wanted, in loading order (SPEC §2).

use serde::Serialize;

use crate::error::Diagnostic;
use crate::input::Content;

use super::brief::{DEFAULT_TASTE, parse_brief};

/// What a file is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
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

/// A file that is wanted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PlannedFile {
    /// What it is for.
    pub role: Role,
    /// Which genre it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub genre: Option<String>,
    /// Where it is.
    pub path: String,
}

/// The files that are wanted, in loading order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LoadingPlan {
    /// Tastes, brief, notes, log, gaps.
    pub files: Vec<PlannedFile>,
    /// What was wrong with the brief.
    pub diagnostics: Vec<Diagnostic>,
}

/// Where the files are. Both folders come before a name with a `/` between, where they are not empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Names {
    /// The folder of the taste files, which all workspaces share. Default `tastes`.
    pub tastes_dir: String,
    /// The folder of the workspace. Default empty.
    pub workspace_dir: String,
}

impl Default for Names {
    fn default() -> Self {
        Self { tastes_dir: "tastes".to_owned(), workspace_dir: String::new() }
    }
}

impl Names {
    /// The taste file that always loads.
    pub fn default_taste(&self) -> String {
        self.genre(DEFAULT_TASTE)
    }

    /// The taste file of a genre.
    pub fn genre(&self, name: &str) -> String {
        join(&self.tastes_dir, &format!("{name}.md"))
    }

    /// The brief.
    pub fn brief(&self) -> String {
        join(&self.workspace_dir, "brief.md")
    }

    /// The notes.
    pub fn notes(&self) -> String {
        join(&self.workspace_dir, "notes.md")
    }

    /// The log.
    pub fn log(&self) -> String {
        join(&self.workspace_dir, "log.jsonl")
    }

    /// The vocabulary gaps.
    pub fn gaps(&self) -> String {
        join(&self.workspace_dir, "vocabulary_gaps.jsonl")
    }
}

fn join(folder: &str, name: &str) -> String {
    match folder {
        "" => name.to_owned(),
        _ if folder.ends_with(['/', '\\']) => format!("{folder}{name}"),
        _ => format!("{folder}/{name}"),
    }
}

/// Which files the response needs, given the brief.
pub fn plan_loading(brief: Option<&Content>, names: &Names) -> LoadingPlan {
    let parsed = parse_brief(brief, &names.brief());
    let file = |role, path| PlannedFile { role, genre: None, path };
    let mut files = vec![file(Role::Default, names.default_taste())];
    for name in parsed.brief.tastes {
        files.push(PlannedFile { role: Role::Genre, path: names.genre(&name), genre: Some(name) });
    }
    files.push(file(Role::Brief, names.brief()));
    files.push(file(Role::Notes, names.notes()));
    files.push(file(Role::Log, names.log()));
    files.push(file(Role::Gaps, names.gaps()));
    LoadingPlan { files, diagnostics: parsed.diagnostics }
}
