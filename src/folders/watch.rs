//! Which files watch a folder, and which are notified of a change (docs/folders.md).
//!
//! All patterns are in one tree of segments. A changed folder is looked up segment by segment, along equal names and
//! the globs whose literal prefix matches, so that a change does not try all patterns.

use serde::Serialize;

use crate::error::{Diagnostic, Result};
use crate::limits::Limits;
use crate::maps::{SortedMap, SortedSet};
use crate::sorting;

use super::file::glob_findings;
use super::front_matter::{self, Declared};
use super::glob::{self, Segment};
use super::paths;
use super::records::WatchRecord;
use super::vault::{self, Vault, VaultFile};

/// A file that watches another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Watcher {
    /// The watching file.
    pub path: String,
    /// Its matching patterns, as written, in order of declaration.
    pub patterns: Vec<String>,
}

/// A file that is notified of changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Notified {
    /// The file.
    pub path: String,
    /// 1 for a watcher of a changed file, 2 for a watcher of such a watcher, and so on.
    pub depth: usize,
    /// The changed files, in path order, with the patterns of this file that match each.
    pub because: Vec<Watcher>,
}

/// An index of the watches of a vault.
#[derive(Debug, Default)]
pub struct WatchIndex {
    watchers: Vec<Source>,
    /// The context file of each folder; empty if the index was made from rows.
    files: SortedMap<String, String>,
    tree: Tree,
}

#[derive(Debug)]
struct Source {
    path: String,
    folder: String,
    patterns: Vec<String>,
}

/// Indices of a watcher and one of its patterns.
type Watch = (usize, usize);

#[derive(Debug)]
struct Tree {
    nodes: Vec<Node>,
}

impl Default for Tree {
    fn default() -> Self {
        Self { nodes: vec![Node::default()] }
    }
}

#[derive(Debug, Default)]
struct Node {
    names: SortedMap<String, usize>,
    /// By the literal prefix.
    globs: SortedMap<String, Vec<(String, usize)>>,
    /// The node after `**`.
    any: Option<usize>,
    /// Whether this node follows `**`, and so skips any number of names.
    passes: bool,
    ends: Vec<Watch>,
}

impl Tree {
    fn add(&mut self, segments: &[Segment], watch: Watch) {
        let mut at = 0;
        for segment in segments {
            let fresh = self.nodes.len();
            let Some(node) = self.nodes.get_mut(at) else { return };
            at = match segment {
                Segment::Literal(name) => *node.names.or_insert(name.clone(), fresh),
                Segment::Any => *node.any.get_or_insert(fresh),
                Segment::Glob(glob) => {
                    let same = node.globs.or_default(glob::literal_prefix(glob).to_owned());
                    match same.iter().find(|(other, _)| other == glob) {
                        Some((_, known)) => *known,
                        None => {
                            same.push((glob.clone(), fresh));
                            fresh
                        }
                    }
                }
            };
            if at == fresh {
                self.nodes.push(Node { passes: *segment == Segment::Any, ..Node::default() });
            }
        }
        if let Some(node) = self.nodes.get_mut(at).filter(|node| !node.ends.contains(&watch)) {
            node.ends.push(watch);
        }
    }

    fn find(&self, folder: &str) -> SortedSet<Watch> {
        let mut here = SortedSet::new();
        self.enter(0, &mut here);
        for name in paths::segments(folder) {
            let mut next = SortedSet::new();
            for node in here.iter().filter_map(|at| self.nodes.get(*at).map(|node| (*at, node))) {
                self.step(node, name, &mut next);
            }
            here = next;
        }
        here.iter().filter_map(|at| self.nodes.get(*at)).flat_map(|node| node.ends.iter().copied()).collect()
    }

    fn enter(&self, at: usize, into: &mut SortedSet<usize>) {
        into.insert(at);
        if let Some(any_node) = self.nodes.get(at).and_then(|node| node.any) {
            into.insert(any_node);
        }
    }

    fn step(&self, (at, node): (usize, &Node), name: &str, into: &mut SortedSet<usize>) {
        if node.passes && glob::is_visible(name) {
            into.insert(at);
        }
        if let Some(next) = node.names.get(name) {
            self.enter(*next, into);
        }
        let ends = name.char_indices().map(|(at, ch)| at.saturating_add(ch.len_utf8()));
        for prefix in std::iter::once(0).chain(ends).filter_map(|end| name.get(..end)) {
            for (glob, next) in node.globs.get(prefix).into_iter().flatten() {
                if glob::matches(glob, name) {
                    self.enter(*next, into);
                }
            }
        }
    }
}

impl WatchIndex {
    /// Indexes the watches in the front matter of these files.
    ///
    /// # Errors
    /// [`crate::Code::LimitExceeded`].
    pub fn of_files(files: &[VaultFile], limits: &Limits) -> Result<Self> {
        let unread = &mut Vec::new();
        Ok(Self::of_vault(&vault::vault(files, limits, unread)?, limits, unread))
    }

    pub(super) fn of_vault(vault: &Vault<'_>, limits: &Limits, diagnostics: &mut Vec<Diagnostic>) -> Self {
        let mut index = Self::default();
        for (folder, entry) in vault.iter() {
            let text = entry.content.text(&entry.path, diagnostics).unwrap_or_default();
            let watch = front_matter::read(text, &entry.path, limits, diagnostics).watch;
            index.add(&entry.path, folder, &watch, limits, diagnostics);
            index.files.insert(folder.clone(), entry.path.clone());
        }
        index
    }

    /// Indexes the watches in these rows of the table `context_watches`.
    ///
    /// # Errors
    /// [`crate::Code::PathOutsideVault`], [`crate::Code::LimitExceeded`].
    pub fn of_records(records: &[WatchRecord], limits: &Limits) -> Result<Self> {
        let mut by_watcher: SortedMap<String, Vec<Declared>> = SortedMap::new();
        for record in records {
            let declared = by_watcher.or_default(paths::normalize(&record.watcher_path, limits)?);
            if declared.iter().all(|known| known.pattern != record.watch_pattern) {
                declared.push(Declared { pattern: record.watch_pattern.clone(), line: 0 });
            }
        }
        let mut index = Self::default();
        for (path, declared) in by_watcher.iter() {
            index.add(path, paths::folder_of(path), declared, limits, &mut Vec::new());
        }
        Ok(index)
    }

    /// Adds a file and its declared patterns; reports invalid ones.
    fn add(
        &mut self,
        path: &str,
        folder: &str,
        declared: &[Declared],
        limits: &Limits,
        diagnostics: &mut Vec<Diagnostic>,
    ) {
        let mut patterns = Vec::new();
        for declared in declared {
            let Some(pattern) = glob_findings(declared, path, folder, limits, diagnostics) else { continue };
            for segments in &pattern.alternatives {
                self.tree.add(segments, (self.watchers.len(), patterns.len()));
            }
            patterns.push(declared.pattern.clone());
        }
        if !patterns.is_empty() {
            self.watchers.push(Source { path: path.to_owned(), folder: folder.to_owned(), patterns });
        }
    }

    /// The watchers of a context file or a folder, in path order; a file never watches itself.
    ///
    /// # Errors
    /// [`crate::Code::PathOutsideVault`], [`crate::Code::LimitExceeded`].
    pub fn watchers_of(&self, changed: &str, limits: &Limits) -> Result<Vec<Watcher>> {
        let changed = paths::normalize(changed, limits)?;
        Ok(self.watchers(&changed))
    }

    fn watchers(&self, changed: &str) -> Vec<Watcher> {
        let folder = paths::folder_of(changed);
        // A CLAUDE.md next to an AGENTS.md is not used.
        let shadowed = paths::context_file(changed).is_some_and(|(_, preferred)| !preferred)
            && self.files.get(folder).is_some_and(|effective| effective != changed);
        if shadowed {
            return Vec::new();
        }
        self.watchers_of_folder(folder)
    }

    pub(super) fn watchers_of_folder(&self, folder: &str) -> Vec<Watcher> {
        let mut found: SortedMap<&str, Vec<String>> = SortedMap::new();
        for (watcher, pattern) in self.tree.find(folder) {
            let Some(source) = self.watchers.get(watcher).filter(|source| source.folder != folder) else { continue };
            found.or_default(&source.path).extend(source.patterns.get(pattern).cloned());
        }
        found.into_iter().map(|(path, patterns)| Watcher { path: path.to_owned(), patterns }).collect()
    }

    /// The files that watch the changed ones, then the files that watch those, down to `max_depth`; ordered by depth,
    /// then path. Each file appears once. A changed file is notified only of the other changes.
    ///
    /// # Errors
    /// [`crate::Code::PathOutsideVault`], [`crate::Code::LimitExceeded`].
    pub fn bubble(&self, changed: &[String], max_depth: usize, limits: &Limits) -> Result<Vec<Notified>> {
        let mut front: SortedSet<String> = SortedSet::new();
        for path in changed {
            front.insert(paths::normalize(path, limits)?);
        }
        let mut notified: Vec<Notified> = Vec::new();
        let mut seen: SortedSet<String> = SortedSet::new();
        let changed: SortedSet<String> = front.iter().map(|path| paths::folder_of(path).to_owned()).collect();
        let mut depth = 0_usize;
        while !front.is_empty() && depth < max_depth {
            depth = depth.saturating_add(1);
            let mut next: SortedMap<String, Vec<Watcher>> = SortedMap::new();
            for path in front.iter() {
                for watcher in self.watchers(path) {
                    let own = depth > 1 && changed.contains(paths::folder_of(&watcher.path));
                    if !own && !seen.contains(&watcher.path) {
                        let because = Watcher { path: path.clone(), patterns: watcher.patterns };
                        next.or_default(watcher.path).push(because);
                    }
                }
            }
            front = next.keys().filter(|path| !changed.contains(paths::folder_of(path))).cloned().collect();
            seen.extend(next.keys().cloned());
            notified.extend(next.into_iter().map(|(path, because)| Notified { path, depth, because }));
        }
        Ok(notified)
    }
}

/// The rows for the watches of all files, ordered by path, then by declaration; and the diagnostics.
///
/// # Errors
/// [`crate::Code::LimitExceeded`].
pub fn watch_records(files: &[VaultFile], limits: &Limits) -> Result<(Vec<WatchRecord>, Vec<Diagnostic>)> {
    let mut diagnostics = Vec::new();
    let vault = vault::vault(files, limits, &mut diagnostics)?;
    let index = WatchIndex::of_vault(&vault, limits, &mut diagnostics);
    let mut resolved: SortedMap<(String, String), Vec<String>> = SortedMap::new();
    for (folder, entry) in vault.iter() {
        for watcher in index.watchers_of_folder(folder) {
            for pattern in watcher.patterns {
                resolved.or_default((watcher.path.clone(), pattern)).push(entry.path.clone());
            }
        }
    }
    let mut sources = index.watchers;
    sorting::sort_by(&mut sources, |one, other| one.path.cmp(&other.path));
    let mut rows = Vec::new();
    for Source { path, patterns, .. } in sources {
        for pattern in patterns {
            let key = (path.clone(), pattern);
            let mut paths = resolved.remove(&key).unwrap_or_default();
            sorting::sort(&mut paths);
            let (watcher_path, watch_pattern) = key;
            rows.push(WatchRecord { watcher_path, watch_pattern, resolved_paths: Some(paths) });
        }
    }
    Ok((rows, diagnostics))
}
