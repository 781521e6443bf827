//! Which files are loaded, in which order, and the part of them that fits the budget (docs/folders.md).

use std::cmp::Reverse;
use std::collections::VecDeque;

use serde::Serialize;

use crate::error::{Diagnostic, DiagnosticCode, Result, Severity};
use crate::limits::Limits;
use crate::maps::{SortedMap, SortedSet};
use crate::markdown::{self, Blocks, Part};
use crate::sorting;
use crate::text::case::lowercase;
use crate::text::{is_blank, trim};
use crate::tokens::Counter;

use super::discover::file_in;
use super::file::{SectionRange, glob_findings, section_ranges, without_blank_edges};
use super::migrate::is_legacy;
use super::vault::{Vault, VaultFile, vault};
use super::watch::WatchIndex;
use super::{front_matter, items, paths};

/// The position of a file in the vault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// The vault's root file.
    Root,
    /// The file of an ancestor of another loaded folder.
    Parent,
    /// Any other file.
    Direct,
    /// The file of the working directory, which need not be in the vault.
    #[serde(rename = "workingDirectory")]
    WorkingDirectory,
}

/// Why a file is loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Reason {
    /// Its folder was selected.
    Selected,
    /// A loaded file watches it.
    Watched,
    /// It is an ancestor, added by `parentChain`.
    Ancestor,
    /// It is the file of the working directory.
    #[serde(rename = "workingDirectory")]
    WorkingDirectory,
}

/// The files that watches load.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IncludeWatched {
    /// Watched ancestors of loaded folders.
    #[default]
    Ancestors,
    /// All watched files.
    All,
    /// No files.
    None,
}

/// The repeated content that a deeper file overrides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Overrides {
    /// Bullets under the same headings.
    #[default]
    Bullets,
    /// Nothing.
    None,
}

/// The files to load, and their budget.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// The folders, or their context files.
    pub folders: Vec<String>,
    /// The files that watches load.
    pub include_watched: IncludeWatched,
    /// The older mode, which always adds all ancestors and the root.
    pub parent_chain: bool,
    /// The content that deeper files override.
    pub overrides: Overrides,
    /// The limit on the tokens of all files together.
    pub max_tokens: Option<u32>,
    /// The last line of a truncated file; `{count}` is the number of missing lines, `{path}` the file.
    pub truncation_marker: Option<String>,
    /// Legacy files `Chat/contexts/*.md` that are selected; they share the budget with selected folders.
    pub contexts: Vec<String>,
    /// The file of the working directory, unless the chain has it by path or by text.
    pub working_directory: Option<VaultFile>,
}

/// The headings that the prompt itself uses.
pub(super) const PROMPT_HEADINGS: [&str; 2] = ["## Project Knowledge", "## Working Directory Context"];

/// The default of `truncation_marker`.
const MARKER: &str = "[… {count} more lines omitted …]";

/// One loaded file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ChainFile {
    /// Its path.
    pub path: String,
    /// Its folder; empty for the root.
    pub folder: String,
    /// The position.
    pub level: Level,
    /// The reason for its presence.
    pub reason: Reason,
    /// The loaded files that watch it, in path order, if that is the reason.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub watched_by: Vec<String>,
    /// Tokens of `content`.
    pub tokens: u32,
    /// Whether it is truncated.
    pub truncated: bool,
    /// The text for the prompt: the body without surrounding blank lines and overridden bullets, cut to the budget.
    pub content: String,
    /// Bullets removed here because a deeper loaded file repeats them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub overridden: Vec<Overridden>,
}

/// A bullet that a deeper file overrides.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Overridden {
    /// The bullet.
    pub text: String,
    /// Its line in the file, from 1.
    pub line: usize,
    /// The nearest file that repeats it, in path order.
    pub by: String,
}

/// A file left out because nothing of it fits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OmittedFile {
    /// Its path.
    pub path: String,
    /// The position it would have.
    pub level: Level,
    /// The reason it would be loaded.
    pub reason: Reason,
    /// Its token cost.
    pub tokens: u32,
}

/// The loaded files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Chain {
    /// The files, in the order of the prompt: the root, then by depth, then by path.
    pub files: Vec<ChainFile>,
    /// The tokens of all files.
    pub total_tokens: u32,
    /// The name of the counter.
    pub tokenizer: String,
    /// The error of the counts in percent, if the tokenizer states one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokenizer_error: Option<u32>,
    /// The files left out by the budget, in the same order.
    pub omitted: Vec<OmittedFile>,
    /// The prompt section, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// Damaged, missing and rejected input.
    pub diagnostics: Vec<Diagnostic>,
}

/// Loads the files of the selected folders, and the files that they bring with them.
///
/// # Errors
/// [`crate::Code::LimitExceeded`].
pub fn build_chain(
    files: &[VaultFile],
    selection: &Selection,
    counter: &dyn Counter,
    limits: &Limits,
) -> Result<Chain> {
    let mut diagnostics = Vec::new();
    let contexts = legacy_contexts(files, selection, limits, &mut diagnostics)?;
    let is_context =
        |file: &&VaultFile| contexts.iter().any(|(of, _)| of.content == file.content && of.path == file.path);
    let others: Vec<VaultFile> = match contexts.is_empty() {
        true => Vec::new(),
        false => files.iter().filter(|file| !is_context(file)).cloned().collect(),
    };
    let vault = vault(if contexts.is_empty() { files } else { &others }, limits, &mut diagnostics)?;
    let mut loaded = select(&vault, selection, limits, &mut diagnostics)?;
    if selection.include_watched != IncludeWatched::None {
        follow_watches(&vault, selection, &mut loaded, limits);
    }
    let mut order: Vec<&String> = loaded.keys().collect();
    sorting::sort_by_key(&mut order, |folder| paths::depth(folder));
    let mut numbers = Numbers::new();
    let bodies: Vec<Body<'_>> = order
        .iter()
        .copied()
        .filter_map(|folder| Body::read(&vault, folder, limits, &mut numbers, &mut diagnostics))
        .collect();
    for body in &bodies {
        body.report_prompt_headings(&vault, &loaded, &mut diagnostics);
    }
    let extras = extras(&contexts, selection, &bodies, (counter, limits), &mut diagnostics);
    let load = |repeated: &Repeated<'_>| -> Vec<ChainFile> {
        let file = |body: &Body<'_>| {
            let (content, overridden) = repeated.without(body, &vault);
            let (reason, watched_by) = loaded.get(body.folder).cloned().unwrap_or((Reason::Selected, Vec::new()));
            ChainFile {
                path: body.path.to_owned(),
                folder: body.folder.to_owned(),
                level: level(body.folder, &loaded),
                reason,
                watched_by,
                tokens: counter.count(&content),
                truncated: false,
                content,
                overridden,
            }
        };
        bodies.iter().map(file).chain(extras.iter().cloned()).collect()
    };
    let mut chain = Chain {
        files: match selection.overrides {
            Overrides::Bullets => load(&Repeated::of(&bodies)),
            Overrides::None => load(&Repeated::of(&[])),
        },
        total_tokens: 0,
        tokenizer: counter.name().to_owned(),
        tokenizer_error: counter.error_percent(),
        omitted: Vec::new(),
        prompt: None,
        diagnostics: Vec::new(),
    };
    if let Some(max_tokens) = selection.max_tokens {
        let marker = selection.truncation_marker.as_deref().unwrap_or(MARKER);
        let overridden = chain.files.iter().flat_map(|file| &file.overridden);
        let keepers: SortedSet<String> = overridden.map(|bullet| bullet.by.clone()).collect();
        apply_budget(&mut chain, max_tokens, marker, counter);
        // A bullet that is truncated in the overriding file must stay in the overridden one.
        let whole: SortedSet<&str> =
            chain.files.iter().filter(|file| !file.truncated).map(|file| file.path.as_str()).collect();
        if keepers.iter().any(|path| !whole.contains(path.as_str())) {
            chain.files = load(&Repeated::of(&[]));
            chain.omitted.clear();
            apply_budget(&mut chain, max_tokens, marker, counter);
        }
    }
    chain.total_tokens = chain.files.iter().fold(0, |sum, file| sum.saturating_add(file.tokens));
    chain.diagnostics = diagnostics;
    Ok(chain)
}

/// The selected legacy files, each with its normalized path, in path order.
fn legacy_contexts<'f>(
    files: &'f [VaultFile],
    selection: &Selection,
    limits: &Limits,
    diagnostics: &mut Vec<Diagnostic>,
) -> Result<Vec<(&'f VaultFile, String)>> {
    let mut found = Vec::new();
    let mut seen = SortedSet::new();
    for given in &selection.contexts {
        let Some(path) = paths::normalize_or_report(given, limits, diagnostics)? else { continue };
        if !seen.insert(path.clone()) {
            continue;
        }
        let has_path = |file: &&VaultFile| paths::normalize(&file.path, limits).is_ok_and(|other| other == path);
        match files.iter().find(has_path).filter(|_| is_legacy(&path)) {
            Some(file) => found.push((file, path)),
            None => {
                let message = format!("`{path}` is no file below `Chat/contexts`; it was skipped");
                let missing = Diagnostic::new(DiagnosticCode::ContextFileMissing, Severity::Info, message);
                diagnostics.push(missing.at_path(path));
            }
        }
    }
    sorting::sort_by_key(&mut found, |(_, path)| path.clone());
    Ok(found)
}

/// The files of the chain that belong to no folder of the vault: legacy contexts, then the working directory's.
fn extras(
    contexts: &[(&VaultFile, String)],
    selection: &Selection,
    bodies: &[Body<'_>],
    (counter, limits): (&dyn Counter, &Limits),
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<ChainFile> {
    let mut extras = Vec::new();
    for (file, path) in contexts {
        extras.extend(extra(file, path, (Level::Direct, Reason::Selected), counter, diagnostics));
    }
    if let Some(own) = &selection.working_directory {
        let path = paths::normalize(&own.path, limits).unwrap_or_else(|_| own.path.clone());
        let found = extra(own, &path, (Level::WorkingDirectory, Reason::WorkingDirectory), counter, diagnostics);
        let is_loaded =
            |file: &ChainFile| bodies.iter().any(|body| body.path == file.path || body.text == file.content);
        extras.extend(found.filter(|file| !file.content.is_empty() && !is_loaded(file)));
    }
    extras
}

/// A file that belongs to no folder of the vault; `None` if it cannot be read.
fn extra(
    file: &VaultFile,
    path: &str,
    (level, reason): (Level, Reason),
    counter: &dyn Counter,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<ChainFile> {
    let text = file.content.text(path, diagnostics)?;
    let body = front_matter::read(text, path, &Limits::default(), diagnostics).body_start;
    let content = without_blank_edges(text.get(body..).unwrap_or_default()).to_owned();
    Some(ChainFile {
        folder: paths::split(path).0.to_owned(),
        path: path.to_owned(),
        level,
        reason,
        watched_by: Vec::new(),
        tokens: counter.count(&content),
        truncated: false,
        content,
        overridden: Vec::new(),
    })
}

/// For each loaded folder, the reason and the loaded files that watch it.
type Loaded = SortedMap<String, (Reason, Vec<String>)>;

fn select(
    vault: &Vault<'_>,
    selection: &Selection,
    limits: &Limits,
    diagnostics: &mut Vec<Diagnostic>,
) -> Result<Loaded> {
    let mut loaded = Loaded::new();
    let mut selected = SortedSet::new();
    for given in &selection.folders {
        let Some(path) = paths::normalize_or_report(given, limits, diagnostics)? else { continue };
        let folder = paths::folder_of(&path);
        if !selected.insert(folder.to_owned()) {
            continue;
        }
        if vault.contains_key(folder) {
            loaded.insert(folder.to_owned(), (Reason::Selected, Vec::new()));
        } else {
            let message = format!("the folder `{folder}` has neither `AGENTS.md` nor `CLAUDE.md`; it was skipped");
            let diagnostic = Diagnostic::new(DiagnosticCode::ContextFileMissing, Severity::Info, message);
            diagnostics.push(diagnostic.at_path(file_in(folder, true)));
        }
    }
    if selection.parent_chain {
        // The ancestors of a selected folder are loaded even if the folder has no file.
        for folder in selected.iter() {
            load_ancestors(vault, folder, &mut loaded);
        }
    }
    Ok(loaded)
}

/// Adds a folder's ancestors; returns the new ones.
fn load_ancestors(vault: &Vault<'_>, folder: &str, loaded: &mut Loaded) -> Vec<String> {
    let mut added = Vec::new();
    for ancestor in paths::ancestors(folder) {
        if vault.contains_key(ancestor) && !loaded.contains_key(ancestor) {
            loaded.insert(ancestor.to_owned(), (Reason::Ancestor, Vec::new()));
            added.push(ancestor.to_owned());
        }
    }
    added
}

/// Adds the files that loaded files watch, then those that the added files watch, until no file is new.
fn follow_watches(vault: &Vault<'_>, selection: &Selection, loaded: &mut Loaded, limits: &Limits) {
    let include = selection.include_watched;
    let ancestors: SortedSet<&str> = loaded.keys().flat_map(|folder| paths::ancestors(folder)).collect();
    // Added folders are ancestors of loaded ones, so no other folder can be added.
    let in_reach = |folder: &str| include == IncludeWatched::All || ancestors.contains(folder);
    let folders: Vec<String> = vault.keys().filter(|folder| in_reach(folder)).cloned().collect();
    let mut watching = Vault::new();
    for (folder, entry) in vault.iter() {
        if in_reach(folder) || loaded.contains_key(folder) {
            watching.insert(folder.clone(), entry.clone());
        }
    }
    let index = WatchIndex::of_vault(&watching, limits, &mut Vec::new());
    let mut watched: SortedMap<String, Vec<String>> = SortedMap::new();
    for folder in folders {
        for watcher in index.watchers_of_folder(&folder) {
            watched.or_default(paths::folder_of(&watcher.path).to_owned()).push(folder.clone());
        }
    }
    let mut queue: VecDeque<String> = loaded.keys().cloned().collect();
    while let Some(watcher) = queue.pop_front() {
        let Some(path) = vault.get(&watcher).map(|entry| entry.path.clone()) else { continue };
        for folder in watched.get(&watcher).into_iter().flatten() {
            match loaded.get_mut(folder) {
                Some((Reason::Watched, watched_by)) => watched_by.push(path.clone()),
                Some(_) => {}
                None => {
                    loaded.insert(folder.clone(), (Reason::Watched, vec![path.clone()]));
                    queue.push_back(folder.clone());
                    if selection.parent_chain {
                        queue.extend(load_ancestors(vault, folder, loaded));
                    }
                }
            }
        }
    }
    loaded.values_mut().for_each(|(_, watched_by)| sorting::sort(watched_by));
}

fn level(folder: &str, loaded: &Loaded) -> Level {
    if folder.is_empty() {
        return Level::Root;
    }
    let below = format!("{folder}/");
    let next = loaded.at_least(&below).next();
    if next.is_some_and(|(other, _)| other.starts_with(&below)) { Level::Parent } else { Level::Direct }
}

struct Body<'a> {
    folder: &'a str,
    path: &'a str,
    text: &'a str,
    /// The line of the text in the file, from 1.
    line: usize,
    items: Vec<items::Item>,
    /// Its headings, including the title.
    sections: Vec<SectionRange>,
    /// For each item its key: equal keys are the same bullet under the same headings.
    keys: Vec<String>,
}

impl<'a> Body<'a> {
    fn read(
        vault: &'a Vault<'_>,
        folder: &'a str,
        limits: &Limits,
        numbers: &mut Numbers,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Option<Self> {
        let entry = vault.get(folder)?;
        let all = entry.content.text(&entry.path, diagnostics).unwrap_or_default();
        let front = front_matter::read(all, &entry.path, limits, diagnostics);
        for declared in &front.watch {
            glob_findings(declared, &entry.path, folder, limits, diagnostics);
        }
        let body = all.get(front.body_start..).unwrap_or_default();
        let text = without_blank_edges(body);
        // Only blank lines separate the start of the body from the text.
        let blank = markdown::lines(body).take_while(|line| is_blank(line.text)).count();
        let items = items::items(text);
        let (title, sections) = section_ranges(text, 0, 1);
        let sections: Vec<_> = title.into_iter().chain(sections).collect();
        let keys = keys(text, folder, &items, &sections, numbers);
        let line = front.body_line.saturating_add(blank);
        Some(Self { folder, path: &entry.path, text, line, items, sections, keys })
    }

    /// Reports lines that equal a heading of the prompt.
    fn report_prompt_headings(&self, vault: &Vault<'_>, loaded: &Loaded, diagnostics: &mut Vec<Diagnostic>) {
        let mut blocks = Blocks::default();
        for (at, line) in markdown::lines(self.text).enumerate() {
            let trimmed = trim(line.text);
            if blocks.next(line.text) != Part::Prose || !trimmed.starts_with('#') {
                continue;
            }
            let named = trimmed.strip_prefix("### ").and_then(|rest| rest.strip_suffix(')')?.rsplit_once('('));
            let of_file = named.is_some_and(|(_, path)| {
                let entry = vault.get(paths::folder_of(path)).filter(|entry| entry.path == path);
                entry.is_some() && loaded.contains_key(paths::folder_of(path))
            });
            if of_file || PROMPT_HEADINGS.contains(&trimmed) {
                let line = u32::try_from(self.line.saturating_add(at)).unwrap_or(u32::MAX);
                let found = markdown::delimiter_found(trimmed, self.path);
                diagnostics.push(Diagnostic { line: Some(line), ..found });
            }
        }
    }
}

/// A number for each text under each parent number.
type Numbers = SortedMap<String, usize>;

/// The keys of items. Text can qualify the bullets next to it and those in the sections below: such bullets get a
/// number of this folder alone, so no other folder repeats them. A title and the text below it describe the file, not
/// its sections.
fn keys(
    text: &str,
    folder: &str,
    items: &[items::Item],
    sections: &[SectionRange],
    numbers: &mut Numbers,
) -> Vec<String> {
    // The content next to bullets, above the first heading and below each heading: comments, and NUL for text.
    let mut bodies = vec![String::new(); sections.len().saturating_add(1)];
    let mut of_items = Vec::new();
    let (mut headings, mut listed) = (sections.iter().peekable(), items.iter().peekable());
    let (mut at, mut item_end, mut blocks) = (0_usize, 0, Blocks::default());
    for line in markdown::lines(text) {
        let part = blocks.next(line.text);
        if headings.next_if(|next| next.at == line.start).is_some() {
            at = at.saturating_add(1);
        } else if let Some(item) = listed.next_if(|item| item.start == line.start) {
            of_items.push(at);
            item_end = item.end;
        } else if line.start >= item_end
            && !is_blank(line.text)
            && !items::is_break(line.text)
            && let Some(body) = bodies.get_mut(at)
        {
            body.push_str(if part == Part::Comment { line.text } else { "\0" });
        }
    }
    let mut number = |above: usize, text: &str| {
        let next = numbers.len().saturating_add(1);
        *numbers.or_insert(format!("{above}\0{}", lowercase(text)), next)
    };
    let has_title = sections.first().is_some_and(|first| first.at == 0)
        && sections.iter().enumerate().all(|(at, place)| (at == 0) == (place.level == 1));
    let headings = sections.iter().map(|place| (place.level, place.title.as_str()));
    let mut path: Vec<(usize, usize)> = Vec::new();
    let mut found = Vec::new();
    for ((level, title), body) in std::iter::once((0, "")).chain(headings).zip(&bodies) {
        path.retain(|(above, _)| *above < level);
        let above = path.last().map_or(0, |(_, number)| *number);
        let own = number(above, title);
        let own = match body.contains('\0') {
            true => number(own, &format!("\0{folder}")),
            false => number(own, body),
        };
        path.push((level, if has_title && level == 1 { above } else { own }));
        found.push(own);
    }
    let key = |(item, at): (&items::Item, usize)| format!("{}\0{}", found.get(at).unwrap_or(&0), item.text);
    items.iter().zip(of_items).map(key).collect()
}

/// For the key of each bullet, the folders that have it.
struct Repeated<'a>(SortedMap<&'a str, SortedSet<&'a str>>);

impl<'a> Repeated<'a> {
    fn of(bodies: &'a [Body<'a>]) -> Self {
        let mut places: SortedMap<&str, SortedSet<&str>> = SortedMap::new();
        for body in bodies {
            let named = |(item, _): &(&items::Item, &String)| !item.text.is_empty();
            for (_, key) in body.items.iter().zip(&body.keys).filter(named) {
                places.or_default(key).insert(body.folder);
            }
        }
        Self(places)
    }

    fn below(&self, folder: &str, key: &str) -> Option<String> {
        let folders = self.0.get(key)?;
        let below = if folder.is_empty() { String::new() } else { format!("{folder}/") };
        let found = folders.at_least(below.as_str()).find(|other| **other != folder).copied();
        found.filter(|other| other.starts_with(&below)).map(str::to_owned)
    }

    /// A body without the bullets that a deeper file repeats, and without headings that become empty.
    fn without(&self, body: &Body<'_>, vault: &Vault<'_>) -> (String, Vec<Overridden>) {
        let mut bullets = Vec::new();
        let mut overridden = Vec::new();
        for (item, key) in body.items.iter().zip(&body.keys) {
            let Some(below) = self.below(body.folder, key) else { continue };
            bullets.push((item.start, item.end));
            overridden.push(Overridden {
                text: item.text.clone(),
                line: body.line.saturating_add(item.first_line),
                by: vault.get(&below).map(|entry| entry.path.clone()).unwrap_or_default(),
            });
        }
        // Subsections follow their section.
        let mut empty: SortedSet<usize> = SortedSet::new();
        for (at, place) in body.sections.iter().enumerate().rev() {
            let first = bullets.partition_point(|(start, _)| *start < place.start);
            let bullets = bullets.get(first..).unwrap_or_default();
            let rest = without_ranges(body.text, place.start, place.own_end, bullets);
            let mut blocks = Blocks::default();
            let nothing = |line: markdown::Line<'_>| blocks.next(line.text) == Part::Comment || is_blank(line.text);
            let within = body.sections.iter().enumerate().skip(at.saturating_add(1));
            if bullets.first().is_some_and(|(start, _)| *start < place.end)
                && markdown::lines(&rest).all(nothing)
                && within.take_while(|(_, other)| other.at < place.end).all(|(other, _)| empty.contains(&other))
            {
                empty.insert(at);
            }
        }
        let mut headings = body.sections.iter().enumerate().filter(|(at, _)| empty.contains(at)).peekable();
        let mut all = Vec::new();
        for bullet in bullets {
            while let Some((_, place)) = headings.next_if(|(_, place)| place.at < bullet.0) {
                all.push((place.at, place.end));
            }
            all.push(bullet);
        }
        let out = without_ranges(body.text, 0, body.text.len(), &all);
        (without_blank_edges(&out).to_owned(), overridden)
    }
}

/// A part of a text without the ranges that begin in it; nested ranges are ignored.
fn without_ranges(text: &str, from: usize, to: usize, ranges: &[(usize, usize)]) -> String {
    let mut out = String::new();
    let mut at = from;
    for (start, end) in ranges.iter().take_while(|(start, _)| *start < to) {
        out.push_str(text.get(at..*start).unwrap_or_default());
        at = at.max(*end);
    }
    out.push_str(text.get(at..to).unwrap_or_default());
    out
}

/// Spends the budget: first on the selected files, each with its fair share; a file of which nothing fits leaves its
/// share to the others. If all of these are complete, on the others: the deepest direct file first, then the nearest
/// ancestors, the root last. The first of these that does not fit is truncated, and the ones after it are omitted. So a
/// larger budget never shows less of any file, except if it shows one more of the selected ones.
fn apply_budget(chain: &mut Chain, max_tokens: u32, marker: &str, counter: &dyn Counter) {
    let mut order: Vec<usize> = (0..chain.files.len()).collect();
    sorting::sort_by_key(&mut order, |&at| {
        chain.files.get(at).map(|file| Reverse((file.level, paths::depth(&file.folder))))
    });
    let (share, mut left) = share_selected(&chain.files, max_tokens, marker, counter);
    let mut omitted = SortedSet::new();
    for at in order {
        let Some(file) = chain.files.get_mut(at) else { continue };
        let rest = if shares_first(file) {
            share.get(at).copied().flatten()
        } else {
            // `None` after the first file that did not fit.
            let rest = left;
            left = rest.and_then(|rest| rest.checked_sub(file.tokens));
            rest
        };
        if rest.is_some_and(|rest| file.tokens <= rest) {
            continue;
        }
        match rest.and_then(|rest| cut(file, usize::MAX, rest, marker, counter)) {
            Some((content, tokens)) => {
                file.content = content;
                file.tokens = tokens;
                file.truncated = true;
            }
            None => {
                omitted.insert(at);
            }
        }
    }
    let files = std::mem::take(&mut chain.files);
    for (at, file) in files.into_iter().enumerate() {
        if omitted.contains(&at) {
            let ChainFile { path, level, reason, tokens, .. } = file;
            chain.omitted.push(OmittedFile { path, level, reason, tokens });
        } else {
            chain.files.push(file);
        }
    }
}

/// Whether a file gets a share of the budget before all others.
fn shares_first(file: &ChainFile) -> bool {
    matches!(file.reason, Reason::Selected | Reason::WorkingDirectory)
}

/// The share of each selected file, and the tokens left for the others if all selected files fit.
fn share_selected(
    files: &[ChainFile],
    max_tokens: u32,
    marker: &str,
    counter: &dyn Counter,
) -> (Vec<Option<u32>>, Option<u32>) {
    let selected = files.iter().enumerate().filter(|(_, file)| shares_first(file));
    let all: Vec<u32> = selected.clone().map(|(_, file)| file.tokens).collect();
    let (equal, left) = fair_share(&all, max_tokens);
    // The least that can be shown of each file, with its tokens and index; the smallest first.
    let least = |(at, file): (usize, &ChainFile)| {
        let first =
            Some(file).filter(|file| file.tokens > equal).and_then(|file| cut(file, 2, u32::MAX, marker, counter));
        (first.map_or(file.tokens, |(_, tokens)| tokens.min(file.tokens)), file.tokens, at)
    };
    let mut order: Vec<(u32, u32, usize)> = selected.map(least).collect();
    sorting::sort(&mut order);
    let tokens: Vec<u32> = order.iter().map(|(_, tokens, _)| *tokens).collect();
    let share = |count: usize| fair_share(tokens.get(..count).unwrap_or_default(), max_tokens).0;
    let (mut shown, mut over) = (0, order.len().saturating_add(1));
    while over.saturating_sub(shown) > 1 {
        let middle = shown.midpoint(over);
        let fits = order.get(middle.saturating_sub(1)).is_some_and(|(least, ..)| *least <= share(middle));
        if fits { shown = middle } else { over = middle }
    }
    let share = share(shown);
    let shown: SortedSet<usize> = order.iter().take(shown).map(|(.., at)| *at).collect();
    ((0..files.len()).map(|at| shown.contains(&at).then_some(share)).collect(), left)
}

/// The largest share per file with which all of them fit; and the remainder if no file exceeds it.
fn fair_share(tokens: &[u32], max_tokens: u32) -> (u32, Option<u32>) {
    let spent = |share: u32| tokens.iter().fold(0_u32, |sum, tokens| sum.saturating_add(share.min(*tokens)));
    if let Some(left) = max_tokens.checked_sub(spent(u32::MAX)) {
        return (u32::MAX, Some(left));
    }
    let (mut share, mut over) = (0, max_tokens.saturating_add(1));
    while over.saturating_sub(share) > 1 {
        let middle = share.midpoint(over);
        if spent(middle) <= max_tokens { share = middle } else { over = middle }
    }
    (share, None)
}

/// The first lines of a file that fit, fewer than `below`, followed by the marker. Their number is found by bisection:
/// a larger budget takes the same steps and more, so it never finds fewer, with any counter.
fn cut(file: &ChainFile, below: usize, max_tokens: u32, marker: &str, counter: &dyn Counter) -> Option<(String, u32)> {
    let lines: Vec<markdown::Line<'_>> = markdown::lines(&file.content).collect();
    let shown = |count: usize| -> Option<(String, u32)> {
        let last = lines.get(count.checked_sub(1)?)?;
        let head = without_blank_edges(file.content.get(..last.text_end())?);
        let mut blocks = Blocks::default();
        lines.iter().take(count).for_each(|line| _ = blocks.next(line.text));
        let (left, eol) = (lines.len().saturating_sub(count).to_string(), markdown::line_end(&file.content));
        let mut text = head.to_owned();
        for line in blocks.closing_fence().into_iter().chain(blocks.in_comment().then(|| "-->".to_owned())) {
            text.push_str(eol);
            text.push_str(&line);
        }
        text.push_str(eol);
        text.push_str(&marker.replace("{count}", &left).replace("{path}", &file.path));
        counter.count_up_to(&text, max_tokens).map(|tokens| (text, tokens))
    };
    let (mut fits, mut over) = (None, lines.len().min(below));
    let mut count = 0_usize;
    while over.saturating_sub(count) > 1 {
        let middle = count.saturating_add(over.saturating_sub(count) / 2);
        match shown(middle) {
            Some(found) => {
                fits = Some(found);
                count = middle;
            }
            None => over = middle,
        }
    }
    fits
}
