//! The chain: which files are loaded, in which order, and what of them fits (SPEC §3, "Selection", "Levels", "Budget").

use std::cmp::Reverse;
use std::collections::VecDeque;

use serde::Serialize;

use crate::error::{Diagnostic, DiagnosticCode, Result, Severity};
use crate::limits::Limits;
use crate::maps::{SortedMap, SortedSet};
use crate::markdown::{self, Blocks, Part};
use crate::sorting;
use crate::tokens::Counter;

use super::discover::file_in;
use super::file::{glob_findings, without_blank_edges};
use super::vault::{Vault, VaultFile, vault};
use super::watch::WatchIndex;
use super::{front_matter, items, paths};

/// Where a file stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// The vault's own file.
    Root,
    /// The file of an ancestor of another loaded folder.
    Parent,
    /// Any other.
    Direct,
}

/// Why a file is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Reason {
    /// Its folder was selected.
    Selected,
    /// A loaded file watches it.
    Watched,
    /// It is an ancestor, and `parentChain` adds those.
    Ancestor,
}

/// What a loaded file's watches load.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IncludeWatched {
    /// Ancestors of loaded folders.
    #[default]
    Ancestors,
    /// Everything that is watched.
    All,
    /// Nothing.
    None,
}

/// What to load, and how much of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// The folders, or their context files.
    pub folders: Vec<String>,
    /// What watches load.
    pub include_watched: IncludeWatched,
    /// The older mode, which always adds all ancestors and the root.
    pub parent_chain: bool,
    /// The most tokens that all files together may have.
    pub max_tokens: Option<u32>,
    /// What a file that is cut ends with; `{count}` is how many lines are missing, `{path}` which file it is.
    pub truncation_marker: Option<String>,
}

/// Headings that only the prompt itself should have.
pub(super) const PROMPT_HEADINGS: [&str; 2] = ["## Project Knowledge", "## Working Directory Context"];

/// What a file that is cut ends with.
const MARKER: &str = "[… {count} more lines omitted …]";

/// One loaded file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ChainFile {
    /// Its path.
    pub path: String,
    /// Its folder; empty for the root.
    pub folder: String,
    /// Where it stands.
    pub level: Level,
    /// Why it is there.
    pub reason: Reason,
    /// The loaded files that watch it, in path order, where that is the reason.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub watched_by: Vec<String>,
    /// Tokens of `content`.
    pub tokens: u32,
    /// Whether only its beginning fits.
    pub truncated: bool,
    /// What goes into the prompt: the body, without blank lines around it, without what is overridden, cut where it must
    /// be.
    pub content: String,
    /// Bullets that a loaded file further down repeats, which stay there and not here.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub overridden: Vec<Overridden>,
}

/// A bullet that gave way to the same one further down.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Overridden {
    /// The bullet.
    pub text: String,
    /// Its line in the file, from 1.
    pub line: usize,
    /// The nearest file that has it, in path order.
    pub by: String,
}

/// A file of which nothing fits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OmittedFile {
    /// Its path.
    pub path: String,
    /// Where it would stand.
    pub level: Level,
    /// Why it would be there.
    pub reason: Reason,
    /// What it would cost.
    pub tokens: u32,
}

/// What was loaded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Chain {
    /// The files, in the order of the prompt: the root, then by depth, then by path.
    pub files: Vec<ChainFile>,
    /// Tokens of all files.
    pub total_tokens: u32,
    /// What counted.
    pub tokenizer: String,
    /// The files of which nothing fits, in the same order.
    pub omitted: Vec<OmittedFile>,
    /// What was damaged, missing or refused.
    pub diagnostics: Vec<Diagnostic>,
}

/// Loads the selected folders' files, and those that come with them.
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
    let vault = vault(files, limits, &mut diagnostics)?;
    let mut loaded = select(&vault, selection, limits, &mut diagnostics)?;
    if selection.include_watched != IncludeWatched::None {
        follow_watches(&vault, selection.include_watched, &mut loaded, limits);
    }
    let mut order: Vec<&String> = loaded.keys().collect();
    sorting::sort_by_key(&mut order, |folder| paths::depth(folder));
    let bodies: Vec<Body<'_>> =
        order.iter().filter_map(|folder| Body::read(&vault, folder, limits, &mut diagnostics)).collect();
    let repeated = Repeated::of(&bodies);
    let mut chain = Chain {
        files: Vec::new(),
        total_tokens: 0,
        tokenizer: counter.name().to_owned(),
        omitted: Vec::new(),
        diagnostics: Vec::new(),
    };
    for body in &bodies {
        let (content, overridden) = repeated.without(body, &vault);
        body.report_prompt_headings(&vault, &loaded, &mut diagnostics);
        let cause = loaded.get(body.folder).cloned().unwrap_or_default();
        chain.files.push(ChainFile {
            path: body.path.to_owned(),
            folder: body.folder.to_owned(),
            level: level(body.folder, &loaded),
            reason: cause.reason,
            watched_by: cause.watched_by,
            tokens: counter.count(&content),
            truncated: false,
            content,
            overridden,
        });
    }
    if let Some(max_tokens) = selection.max_tokens {
        let marker = selection.truncation_marker.as_deref().unwrap_or(MARKER);
        apply_budget(&mut chain, max_tokens, marker, counter);
    }
    chain.total_tokens = chain.files.iter().fold(0, |sum, file| sum.saturating_add(file.tokens));
    chain.diagnostics = diagnostics;
    Ok(chain)
}

/// Why a folder is loaded.
#[derive(Clone, Debug)]
struct Cause {
    reason: Reason,
    watched_by: Vec<String>,
}

impl Default for Cause {
    fn default() -> Self {
        Self { reason: Reason::Selected, watched_by: Vec::new() }
    }
}

type Loaded = SortedMap<String, Cause>;

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
            loaded.insert(folder.to_owned(), Cause::default());
        } else {
            let message = format!("the folder `{folder}` has neither `AGENTS.md` nor `CLAUDE.md`; it was skipped");
            let found = Diagnostic::new(DiagnosticCode::ContextFileMissing, Severity::Info, message);
            diagnostics.push(found.at_path(file_in(folder, true)));
        }
    }
    if selection.parent_chain {
        // Of a selected folder without a file the ancestors are loaded all the same.
        for ancestor in selected.iter().flat_map(|folder| paths::ancestors(folder)) {
            if vault.contains_key(ancestor) && !loaded.contains_key(ancestor) {
                loaded.insert(ancestor.to_owned(), Cause { reason: Reason::Ancestor, watched_by: Vec::new() });
            }
        }
    }
    Ok(loaded)
}

/// Adds what loaded files watch, and what the added files watch, until nothing is new.
fn follow_watches(vault: &Vault<'_>, include: IncludeWatched, loaded: &mut Loaded, limits: &Limits) {
    let ancestors: SortedSet<&str> = loaded.keys().flat_map(|folder| paths::ancestors(folder)).collect();
    // Whatever is added is an ancestor of what was there, so these are all that can be added.
    let in_reach = |folder: &str| include == IncludeWatched::All || ancestors.contains(folder);
    let asked: Vec<String> = vault.keys().filter(|folder| in_reach(folder)).cloned().collect();
    let mut watching = Vault::new();
    for (folder, entry) in vault.iter() {
        if in_reach(folder) || loaded.contains_key(folder) {
            watching.insert(folder.clone(), entry.clone());
        }
    }
    let index = WatchIndex::of_vault(&watching, limits);
    let mut watched: SortedMap<String, Vec<String>> = SortedMap::new();
    for folder in asked {
        for watcher in index.watchers_of_folder(&folder) {
            watched.or_default(paths::folder_of(&watcher.path).to_owned()).push(folder.clone());
        }
    }
    let mut queue: VecDeque<String> = loaded.keys().cloned().collect();
    while let Some(watcher) = queue.pop_front() {
        let Some(path) = vault.get(&watcher).map(|entry| entry.path.clone()) else { continue };
        for folder in watched.get(&watcher).into_iter().flatten() {
            match loaded.get_mut(folder) {
                Some(Cause { reason: Reason::Watched, watched_by }) => watched_by.push(path.clone()),
                Some(_) => {}
                None => {
                    let cause = Cause { reason: Reason::Watched, watched_by: vec![path.clone()] };
                    loaded.insert(folder.clone(), cause);
                    queue.push_back(folder.clone());
                }
            }
        }
    }
    for cause in loaded.values_mut() {
        sorting::sort(&mut cause.watched_by);
    }
}

fn level(folder: &str, loaded: &Loaded) -> Level {
    if folder.is_empty() {
        return Level::Root;
    }
    let below = format!("{folder}/");
    let next = loaded.at_least(&below).next();
    if next.is_some_and(|(other, _)| other.starts_with(&below)) { Level::Parent } else { Level::Direct }
}

/// A file's body, and its bullets.
struct Body<'a> {
    folder: &'a str,
    path: &'a str,
    text: &'a str,
    /// The text's first line in the file, from 1.
    line: usize,
    items: Vec<items::Item>,
}

impl<'a> Body<'a> {
    fn read(vault: &'a Vault<'_>, folder: &'a str, limits: &Limits, diagnostics: &mut Vec<Diagnostic>) -> Option<Self> {
        let entry = vault.get(folder)?;
        let all = entry.content.text(&entry.path, diagnostics).unwrap_or_default();
        let front = front_matter::read(all, &entry.path, limits, diagnostics);
        for declared in &front.watch {
            glob_findings(declared, &entry.path, folder, limits, diagnostics);
        }
        let body = all.get(front.body_start..).unwrap_or_default();
        let text = without_blank_edges(body);
        // The text is a part of the body: what is before it are blank lines.
        let blank = markdown::lines(body).take_while(|line| line.text.trim().is_empty()).count();
        Some(Self {
            folder,
            path: &entry.path,
            text,
            line: front.body_line.saturating_add(blank),
            items: items::items(text),
        })
    }

    /// Lines that look like the frame of the prompt could be taken for it.
    fn report_prompt_headings(&self, vault: &Vault<'_>, loaded: &Loaded, diagnostics: &mut Vec<Diagnostic>) {
        let mut blocks = Blocks::default();
        for (at, line) in markdown::lines(self.text).enumerate() {
            let trimmed = line.text.trim();
            if blocks.next(line.text) != Part::Prose || !trimmed.starts_with('#') {
                continue;
            }
            let named = trimmed.strip_prefix("### ").and_then(|rest| rest.strip_suffix(')')?.rsplit_once('('));
            let of_file = named.is_some_and(|(_, path)| {
                let entry = vault.get(paths::folder_of(path)).filter(|entry| entry.path == path);
                entry.is_some() && loaded.contains_key(paths::folder_of(path))
            });
            if of_file || PROMPT_HEADINGS.contains(&trimmed) {
                let message = format!("`{trimmed}` is a heading of the prompt itself; it went in as it is");
                let found = Diagnostic::new(DiagnosticCode::PromptDelimiterInFile, Severity::Warning, message);
                let line = u32::try_from(self.line.saturating_add(at)).unwrap_or(u32::MAX);
                diagnostics.push(Diagnostic { line: Some(line), ..found.at_path(self.path) });
            }
        }
    }
}

/// Which folders have which bullet.
struct Repeated<'a>(SortedMap<&'a str, SortedSet<&'a str>>);

impl<'a> Repeated<'a> {
    fn of(bodies: &'a [Body<'a>]) -> Self {
        let mut places: SortedMap<&str, SortedSet<&str>> = SortedMap::new();
        for body in bodies {
            for item in body.items.iter().filter(|item| !item.goes_on && !item.text.is_empty()) {
                places.or_default(&item.text).insert(body.folder);
            }
        }
        Self(places)
    }

    /// A folder below that has the bullet.
    fn below(&self, folder: &str, item: &items::Item) -> Option<String> {
        let folders = self.0.get(item.text.as_str()).filter(|_| !item.goes_on)?;
        let below = if folder.is_empty() { String::new() } else { format!("{folder}/") };
        let found = folders.at_least(below.as_str()).find(|other| **other != folder).copied();
        found.filter(|other| other.starts_with(&below)).map(str::to_owned)
    }

    /// A body without the bullets that a file further down repeats.
    fn without(&self, body: &Body<'_>, vault: &Vault<'_>) -> (String, Vec<Overridden>) {
        let mut out = String::with_capacity(body.text.len());
        let mut overridden = Vec::new();
        let mut from = 0;
        for item in &body.items {
            let Some(below) = self.below(body.folder, item) else { continue };
            out.push_str(body.text.get(from..item.start).unwrap_or_default());
            from = item.end;
            overridden.push(Overridden {
                text: item.text.clone(),
                line: body.line.saturating_add(item.first_line),
                by: vault.get(&below).map(|entry| entry.path.clone()).unwrap_or_default(),
            });
        }
        out.push_str(body.text.get(from..).unwrap_or_default());
        (without_blank_edges(&out).to_owned(), overridden)
    }
}

/// Spends the budget: the deepest direct file first, then the nearest ancestors, the root last. The first file that does
/// not fit is cut, and nothing is spent on those after it: so a larger budget never shows less of any file.
fn apply_budget(chain: &mut Chain, max_tokens: u32, marker: &str, counter: &dyn Counter) {
    let mut order: Vec<usize> = (0..chain.files.len()).collect();
    sorting::sort_by_key(&mut order, |&at| {
        chain.files.get(at).map(|file| Reverse((file.level, paths::depth(&file.folder))))
    });
    let mut left = Some(max_tokens);
    let mut omitted = SortedSet::new();
    for at in order {
        let Some(file) = chain.files.get_mut(at) else { continue };
        // Nothing where a file before it did not fit.
        let rest = left;
        left = rest.and_then(|rest| rest.checked_sub(file.tokens));
        if left.is_some() {
            continue;
        }
        match rest.and_then(|rest| cut(file, rest, marker, counter)) {
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

/// The lines of a file, from its first, that fit with the marker behind them.
///
/// How many is found by bisection. What a larger budget admits is admitted at the same steps and at more of them, so it
/// never finds fewer, whatever the counter says.
fn cut(file: &ChainFile, max_tokens: u32, marker: &str, counter: &dyn Counter) -> Option<(String, u32)> {
    let lines: Vec<markdown::Line<'_>> = markdown::lines(&file.content).collect();
    let shown = |count: usize| -> Option<(String, u32)> {
        let last = lines.get(count.checked_sub(1)?)?;
        let head = without_blank_edges(file.content.get(..last.text_end())?);
        let mut blocks = Blocks::default();
        lines.iter().take(count).for_each(|line| {
            blocks.next(line.text);
        });
        let left = lines.len().saturating_sub(count).to_string();
        let mut text = head.to_owned();
        for line in blocks.closing_fence().into_iter().chain(blocks.in_comment().then(|| "-->".to_owned())) {
            text.push('\n');
            text.push_str(&line);
        }
        text.push('\n');
        text.push_str(&marker.replace("{count}", &left).replace("{path}", &file.path));
        counter.count_up_to(&text, max_tokens).map(|tokens| (text, tokens))
    };
    let (mut fits, mut over) = (None, lines.len());
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
