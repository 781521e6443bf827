//! The host's files, as far as they are known, and the paths to look at next.

use std::rc::Rc;

use crate::maps::{SortedMap, SortedSet};
use crate::sorting::sort;

/// What the host found at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Entry {
    File {
        text: Rc<str>,
        /// The path without symbolic links.
        real: Rc<str>,
    },
    /// The names in a folder, in order.
    Folder(Rc<[String]>),
    Missing,
}

#[derive(Debug)]
pub(super) struct World {
    known: SortedMap<String, Entry>,
    /// Whether no file exists except the known ones.
    complete: bool,
    wanted: SortedSet<String>,
}

impl World {
    pub(super) fn new(complete: bool) -> Self {
        Self { known: SortedMap::new(), complete, wanted: SortedSet::new() }
    }

    /// Adds an entry; the first of a path is kept. Returns whether it was added.
    pub(super) fn add(&mut self, path: String, mut entry: Entry) -> bool {
        if let Entry::Folder(names) = &mut entry {
            let mut sorted = names.to_vec();
            sort(&mut sorted);
            *names = sorted.into();
        }
        if self.known.contains_key(&path) {
            return false;
        }
        self.known.insert(path, entry);
        true
    }

    /// What is at a path. An unknown path counts as missing and is wanted.
    pub(super) fn look(&mut self, path: &str) -> Entry {
        if let Some(entry) = self.known.get(path) {
            return entry.clone();
        }
        if !self.complete {
            self.wanted.insert(path.to_owned());
            return Entry::Missing;
        }
        let prefix = if path == "/" { path.to_owned() } else { format!("{path}/") };
        let mut names: SortedSet<String> = SortedSet::new();
        for (known, _) in self.known.at_least(prefix.as_str()) {
            let Some(rest) = known.strip_prefix(prefix.as_str()) else { break };
            let name = rest.split('/').next().unwrap_or_default();
            names.insert(name.to_owned());
        }
        let names: Rc<[String]> = names.iter().cloned().collect();
        let entry = if names.is_empty() { Entry::Missing } else { Entry::Folder(names) };
        self.known.insert(path.to_owned(), entry.clone());
        entry
    }

    pub(super) fn file(&mut self, path: &str) -> Option<(Rc<str>, Rc<str>)> {
        match self.look(path) {
            Entry::File { text, real } => Some((text, real)),
            Entry::Folder(_) | Entry::Missing => None,
        }
    }

    /// The files that were added, by path.
    pub(super) fn files(&self) -> impl Iterator<Item = (&str, &str)> {
        self.known.iter().filter_map(|(path, entry)| match entry {
            Entry::File { text, .. } => Some((path.as_str(), &**text)),
            Entry::Folder(_) | Entry::Missing => None,
        })
    }

    /// The text of a known file.
    pub(super) fn text(&self, path: &str) -> Option<&str> {
        match self.known.get(path) {
            Some(Entry::File { text, .. }) => Some(text),
            _ => None,
        }
    }

    pub(super) fn names(&mut self, path: &str) -> Rc<[String]> {
        match self.look(path) {
            Entry::Folder(names) => names,
            Entry::File { .. } | Entry::Missing => Rc::new([]),
        }
    }

    pub(super) fn exists(&mut self, path: &str) -> bool {
        self.look(path) != Entry::Missing
    }

    /// The paths that were looked at and are unknown, in order.
    pub(super) fn wanted(&self) -> &SortedSet<String> {
        &self.wanted
    }
}
