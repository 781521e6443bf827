//! The state of one load: pieces, decisions and the host's files.

use std::borrow::Cow;
use std::rc::Rc;

use serde::Serialize;

use crate::error::{Diagnostic, DiagnosticCode, Severity};
use crate::maps::{SortedMap, SortedSet};
use crate::tokens::Counter;

use super::paths;
use super::preset::Preset;
use super::world::World;

/// A path that the agent accessed after its start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Access {
    pub path: String,
    pub verb: String,
}

/// Limits in tokens.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Budget {
    /// One text; a longer one is cut at a line end.
    pub file: Option<u32>,
    /// All texts of a level: `managed`, `home`, `project` or `skills`.
    pub levels: Vec<(&'static str, u32)>,
    /// All texts.
    pub total: Option<u32>,
}

/// The levels that a budget can limit.
pub(super) const LEVELS: [&str; 4] = ["managed", "home", "project", "skills"];

/// What to load, and how.
#[derive(Debug)]
pub(super) struct Request {
    pub preset: Preset,
    pub variant: Option<String>,
    pub cwd: String,
    pub home: Option<String>,
    /// The root of the project; `None` to find it by the markers.
    pub root: Option<String>,
    pub access: Vec<Access>,
    pub trusted: bool,
    /// Whether imports from outside the boundary are approved.
    pub approve_imports: bool,
    pub budget: Budget,
}

/// The kind of a skill's name and description, and the verb that requests its body.
pub(super) const SKILL: &str = "skill";
/// The kind of the text below a skill's front matter.
pub(super) const SKILL_BODY: &str = "skillBody";

/// A loaded text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Piece {
    pub path: String,
    /// 0 for the start, then the number of the access.
    pub step: usize,
    pub kind: &'static str,
    pub scope: &'static str,
    pub placement: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub imported_by: Option<String>,
    /// The part of the preset that loads it.
    pub setting: String,
    pub text: String,
    pub tokens: u32,
    /// Whether the agent's cap cut it.
    pub truncated: bool,
}

/// What became of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Decision {
    pub path: String,
    pub kind: &'static str,
    pub outcome: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<usize>,
    pub setting: String,
    /// The file that shadows it, imports it or has its text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// The key of the front matter that decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub patterns: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dialect: Option<&'static str>,
}

/// Text that the agent does not read, or that the budget leaves out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Loss {
    pub path: String,
    pub reason: &'static str,
    pub bytes: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u32>,
}

/// A file has one decision, except a skill: one on its line in the list, and one on its body.
fn decision_key<'p>(path: &'p str, kind: &str) -> Cow<'p, str> {
    if kind == SKILL_BODY { format!("{path}\n{kind}").into() } else { path.into() }
}

/// Expanded imports in one load, and their bytes.
const EXPANSIONS_MAX: usize = 10_000;
const EXPANDED_BYTES_MAX: usize = 64 * 1024 * 1024;

pub(super) struct Session<'s> {
    pub request: &'s Request,
    /// Trimmed texts of what was loaded.
    pub texts: SortedSet<String>,
    pub world: &'s mut World,
    pub counter: Rc<dyn Counter>,
    pub pieces: Vec<Piece>,
    pub decisions: Vec<Decision>,
    pub losses: Vec<Loss>,
    pub diagnostics: Vec<Diagnostic>,
    /// Real paths of what was loaded.
    pub loaded: SortedSet<String>,
    pub step: usize,
    /// Bytes that the agent's cap leaves.
    pub cap_left: Option<usize>,
    pub top: String,
    pub root: String,
    /// Places in `decisions`, by [`decision_key`].
    decided: SortedMap<String, usize>,
    /// Outcomes of imports that were reported.
    reported: SortedSet<String>,
    expansions: usize,
    expanded_bytes: usize,
}

impl<'s> Session<'s> {
    pub(super) fn new(request: &'s Request, world: &'s mut World, counter: Rc<dyn Counter>) -> Self {
        Self {
            request,
            texts: SortedSet::new(),
            world,
            counter,
            pieces: Vec::new(),
            decisions: Vec::new(),
            losses: Vec::new(),
            diagnostics: Vec::new(),
            loaded: SortedSet::new(),
            step: 0,
            cap_left: request.preset.cap_bytes,
            top: String::new(),
            root: String::new(),
            decided: SortedMap::new(),
            reported: SortedSet::new(),
            expansions: 0,
            expanded_bytes: 0,
        }
    }

    /// The decision on a file of this kind.
    pub(super) fn decision(&self, path: &str, kind: &str) -> Option<&Decision> {
        let number = *self.decided.get(&*decision_key(path, kind))?;
        self.decisions.get(number).filter(|known| known.kind == kind)
    }

    /// Records what became of a file. A loaded file stays loaded.
    pub(super) fn decide(&mut self, decision: Decision) {
        let key = decision_key(&decision.path, decision.kind);
        match self.decided.get(&*key).and_then(|number| self.decisions.get_mut(*number)) {
            Some(known) if known.outcome == "loaded" => {}
            Some(known) => *known = decision,
            None => {
                self.decided.insert(key.into_owned(), self.decisions.len());
                self.decisions.push(decision);
            }
        }
    }

    /// Whether this outcome of an import is reported for the first time.
    pub(super) fn is_first_report(&mut self, from: &str, path: &str, outcome: &str) -> bool {
        self.reported.insert([outcome, from, path].join("\n"))
    }

    /// Changes what became of a file that was loaded.
    pub(super) fn drop_decision(&mut self, path: &str, kind: &str, outcome: &'static str) {
        if let Some(known) =
            self.decided.get(&*decision_key(path, kind)).and_then(|number| self.decisions.get_mut(*number))
        {
            known.outcome = outcome;
            known.step = None;
        }
    }

    /// Drops the imports in the text of dropped files.
    pub(super) fn drop_imports(&mut self) {
        let placed: SortedSet<String> = self.pieces.iter().map(|piece| piece.path.clone()).collect();
        // An importer is decided before its imports.
        for number in 0..self.decisions.len() {
            let Some(decision) = self.decisions.get(number) else { break };
            let importer = decision.by.as_deref().and_then(|by| self.decisions.get(*self.decided.get(by)?));
            let dropped = importer.is_some_and(|importer| importer.outcome == "overBudget");
            if decision.outcome == "loaded" && dropped && !placed.contains(decision.path.as_str()) {
                let (path, kind) = (decision.path.clone(), decision.kind);
                self.drop_decision(&path, kind, "overBudget");
            }
        }
    }

    pub(super) fn diagnose(&mut self, code: DiagnosticCode, severity: Severity, message: String, path: &str) {
        self.diagnostics.push(Diagnostic::new(code, severity, message).at_path(path));
    }

    /// Records text that the agent does not read.
    pub(super) fn lose(&mut self, path: &str, reason: &'static str, bytes: usize, message: String) {
        self.losses.push(Loss { path: path.to_owned(), reason, bytes, tokens: None });
        self.diagnose(DiagnosticCode::AgentTextLost, Severity::Warning, message, path);
    }

    /// Adds a piece and counts it.
    pub(super) fn push(&mut self, mut piece: Piece) {
        piece.tokens = self.counter.count(&piece.text);
        piece.step = self.step;
        self.pieces.push(piece);
    }

    /// Whether one more import of this size may be expanded.
    pub(super) fn may_expand(&mut self, bytes: usize) -> bool {
        self.expansions = self.expansions.saturating_add(1);
        self.expanded_bytes = self.expanded_bytes.saturating_add(bytes);
        self.expansions <= EXPANSIONS_MAX && self.expanded_bytes <= EXPANDED_BYTES_MAX
    }

    /// A path as written in a preset or an import: at home, absolute, or relative to a folder.
    pub(super) fn resolve(&self, folder: &str, path: &str) -> Option<String> {
        match path.strip_prefix("~/") {
            Some(below) => Some(paths::join(self.request.home.as_deref()?, below)),
            None => Some(paths::join(folder, path)),
        }
    }
}
