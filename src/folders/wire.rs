//! Folders as they come over the wire: from JavaScript objects or from JSON text (SPEC §7).

use std::collections::BTreeMap;
use std::rc::Rc;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::error::{Code, Diagnostic, Error, Result};
use crate::input::Content;
use crate::json;
use crate::limits::{LimitOverrides, Limits};
use crate::tokens::{Counter, TokenizerChoice, Tokenizers};

use super::chain::max_tokens;
use super::{
    Chain, ChainFile, Change, Discovery, Edit, IncludeWatched, Level, Migration, MigrationInput, ParsedFile, Reason,
    RenderOptions, Selection, SessionContext, VaultFile, WatchIndex, WatchRecord, Watcher, WorkingDirectory,
};

/// Answers a function of this area by its name in JavaScript; nothing for a name that is not one of these. Each argument is
/// JSON, one that is left out `null`; so is the result.
///
/// # Errors
/// Those of the function.
pub fn call_json(name: &str, args: &[Vec<u8>], tokenizers: &Tokenizers) -> Option<Result<Vec<u8>>> {
    let mut args = Args { args, next: 0, lone: Vec::new() };
    Some(match name {
        "parseContextFile" => args.parse_context_file(),
        "discoverContextFolders" => args.read().and_then(|all: Vec<String>| json::write(&discover(&all, args.lone)?)),
        "buildContextChain" => {
            args.read().and_then(|request: ChainIn| json::write(&request.answer(tokenizers, None, args.lone)?))
        }
        "renderContextPrompt" => args.render_context_prompt(),
        "watchersOf" => args.watchers_of(),
        "bubble" => args.bubble(),
        "editContextFile" => args.edit_context_file(),
        "migrateLegacyContexts" => args.read().and_then(|input: MigrationIn| json::write(&input.answer(args.lone)?)),
        "contextWatchRecords" => {
            args.read().and_then(|files: Vec<FileIn>| json::write(&watch_records(files, args.lone)?))
        }
        "sessionContextRecords" => args.read().and_then(|session: SessionIn| json::write(&session.answer()?)),
        "diffRecords" => args.diff_records(),
        "foldersResponse" => args.read().and_then(|found: DiscoveryIn| json::write(&found.response())),
        "chainResponse" => args.read().and_then(|chain: ChainResponseIn| json::write(&chain.response())),
        _ => return None,
    })
}

/// The arguments of a call, read one by one.
struct Args<'a> {
    args: &'a [Vec<u8>],
    next: usize,
    lone: Vec<Diagnostic>,
}

impl Args<'_> {
    fn read<T: DeserializeOwned>(&mut self) -> Result<T> {
        let arg = self.args.get(self.next).map_or(&b"null"[..], Vec::as_slice);
        self.next = self.next.saturating_add(1);
        let (text, lone) = json::repair_surrogates(arg);
        self.lone.extend(lone);
        json::read(&text)
    }

    fn parse_context_file(mut self) -> Result<Vec<u8>> {
        let (path, content): (String, Content) = (self.read()?, self.read()?);
        json::write(&parse(&path, &content, self.lone)?)
    }

    fn render_context_prompt(mut self) -> Result<Vec<u8>> {
        let (chain, options): (RenderIn, _) = (self.read()?, self.read()?);
        json::write(&chain.render(options))
    }

    fn watchers_of(mut self) -> Result<Vec<u8>> {
        let (path, watches, options): (String, _, Option<_>) = (self.read()?, self.read()?, self.read()?);
        json::write(&watchers_of(&path, watches, &options.unwrap_or_default())?)
    }

    fn bubble(mut self) -> Result<Vec<u8>> {
        let (paths, watches, options): (Vec<_>, _, Option<_>) = (self.read()?, self.read()?, self.read()?);
        json::write(&bubble(&paths, watches, &options.unwrap_or_default())?)
    }

    fn edit_context_file(mut self) -> Result<Vec<u8>> {
        let (text, edit): (Content, EditIn) = (self.read()?, self.read()?);
        json::write(&edit.answer(&text, &self.lone)?)
    }

    fn diff_records(mut self) -> Result<Vec<u8>> {
        match rows(self.read()?, self.read()?)? {
            Rows::Session(before, after) => json::write(&super::diff(&before, &after)?),
            Rows::Watch(before, after) => json::write(&super::diff(&before, &after)?),
        }
    }
}

/// `parseContextFile`.
pub(crate) fn parse(path: &str, content: &Content, lone: Vec<Diagnostic>) -> Result<ParsedFile> {
    let mut parsed = super::parse_file(path, content, &Limits::default())?;
    parsed.diagnostics.splice(0..0, lone);
    Ok(parsed)
}

/// `discoverContextFolders`.
pub(crate) fn discover(all: &[String], lone: Vec<Diagnostic>) -> Result<Discovery> {
    let mut found = super::discover(all.iter().map(String::as_str), &Limits::default())?;
    found.diagnostics.splice(0..0, lone);
    Ok(found)
}

/// A file.
#[derive(Debug, Deserialize)]
#[serde(expecting = "a file, an object with `path` and `content`")]
pub(crate) struct FileIn {
    path: String,
    content: Content,
}

fn files(files: Vec<FileIn>) -> Vec<VaultFile> {
    files.into_iter().map(|FileIn { path, content }| VaultFile { path, content }).collect()
}

/// The request of `buildContextChain`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", expecting = "a request, an object with `files` and `selected`")]
pub(crate) struct ChainIn {
    files: Vec<FileIn>,
    selected: Vec<String>,
    include_watched: Option<String>,
    parent_chain: Option<bool>,
    max_tokens: Option<f64>,
    truncation_marker: Option<String>,
    tokenizer: Option<TokenizerChoice>,
    limits: Option<LimitOverrides>,
}

/// Whether any file holds U+FFFD, which half of a surrogate pair becomes on its way in.
#[cfg(target_arch = "wasm32")]
pub(crate) fn hold_replacement(files: &[FileIn]) -> bool {
    files.iter().any(|file| file.content.holds_replacement())
}

impl ChainIn {
    /// Whether any file holds U+FFFD.
    #[cfg(target_arch = "wasm32")]
    pub(crate) fn holds_replacement(&self) -> bool {
        hold_replacement(&self.files)
    }

    /// The chain.
    pub(crate) fn answer(
        self,
        tokenizers: &Tokenizers,
        own: Option<Rc<dyn Counter>>,
        lone: Vec<Diagnostic>,
    ) -> Result<Chain> {
        let limits = self.limits.unwrap_or_default().resolve()?;
        let counter = TokenizerChoice::counter(self.tokenizer.as_ref(), tokenizers, own)?;
        let selection = Selection {
            folders: self.selected,
            include_watched: include_watched(self.include_watched.as_deref())?,
            parent_chain: self.parent_chain.unwrap_or(false),
            max_tokens: self.max_tokens.map(max_tokens).transpose()?,
            truncation_marker: self.truncation_marker,
        };
        let mut chain = super::build_chain(&files(self.files), &selection, counter.as_ref(), &limits)?;
        chain.diagnostics.splice(0..0, lone);
        Ok(chain)
    }
}

fn include_watched(name: Option<&str>) -> Result<IncludeWatched> {
    match name {
        None | Some("ancestors") => Ok(IncludeWatched::Ancestors),
        Some("all") => Ok(IncludeWatched::All),
        Some("none") => Ok(IncludeWatched::None),
        Some(other) => Err(unknown("`includeWatched`", other, &["ancestors", "all", "none"])),
    }
}

#[cold]
fn unknown(what: &str, value: &str, expected: &[&str]) -> Error {
    let message = format!("{what} is `{value}`; it must be one of `{}`", expected.join("`, `"));
    Error::new(Code::UnknownValue, message).with("value", value).with("expected", expected)
}

/// A chain as `renderContextPrompt` needs it.
#[derive(Debug, Deserialize)]
#[serde(expecting = "a chain, an object with `files`")]
pub(crate) struct RenderIn {
    files: Vec<RenderFileIn>,
}

#[derive(Debug, Deserialize)]
#[serde(expecting = "a file of a chain, an object")]
struct RenderFileIn {
    path: String,
    level: Level,
    content: String,
}

/// The options of `renderContextPrompt`.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, expecting = "options, an object")]
pub(crate) struct RenderOptionsIn {
    working_directory: Option<FileIn>,
}

impl RenderIn {
    /// The prompt section.
    pub(crate) fn render(self, options: Option<RenderOptionsIn>) -> String {
        let file = |file: RenderFileIn| ChainFile {
            folder: super::paths::folder_of(&file.path).to_owned(),
            path: file.path,
            level: file.level,
            reason: Reason::Selected,
            watched_by: Vec::new(),
            tokens: 0,
            truncated: false,
            content: file.content,
            overridden: Vec::new(),
        };
        let files: Vec<ChainFile> = self.files.into_iter().map(file).collect();
        let own = options.unwrap_or_default().working_directory;
        let working_directory = own.map(|FileIn { path, content }| WorkingDirectory { path, content });
        super::render_prompt(&files, &RenderOptions { working_directory })
    }
}

/// What watches: a file, or a row of the table.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, expecting = "a file or a row of `context_watches`, an object")]
pub(crate) struct WatchIn {
    path: Option<String>,
    content: Option<Content>,
    watcher_path: Option<String>,
    watch_pattern: Option<String>,
}

/// The options of `watchersOf` and `bubble`.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, expecting = "options, an object")]
pub(crate) struct WatchOptionsIn {
    max_depth: Option<f64>,
    limits: Option<LimitOverrides>,
}

fn index(watches: Vec<WatchIn>, limits: &Limits) -> Result<WatchIndex> {
    let mut files = Vec::new();
    let mut records = Vec::new();
    for (at, watch) in watches.into_iter().enumerate() {
        match watch {
            WatchIn { path: Some(path), content: Some(content), .. } => files.push(VaultFile { path, content }),
            WatchIn { watcher_path: Some(watcher_path), watch_pattern: Some(watch_pattern), .. } => {
                records.push(WatchRecord { watcher_path, watch_pattern, resolved_paths: None });
            }
            _ => {
                let message =
                    format!("`files[{at}]` must have `path` and `content`, or `watcherPath` and `watchPattern`");
                return Err(Error::new(Code::InvalidInput, message).with("path", format!("files[{at}]")));
            }
        }
    }
    if !files.is_empty() && !records.is_empty() {
        let message = "`files` mixes files with rows of `context_watches`; give one or the other";
        return Err(Error::new(Code::InvalidInput, message).with("path", "files"));
    }
    if records.is_empty() { WatchIndex::of_files(&files, limits) } else { WatchIndex::of_records(&records, limits) }
}

/// `watchersOf`.
pub(crate) fn watchers_of(path: &str, watches: Vec<WatchIn>, options: &WatchOptionsIn) -> Result<Vec<Watcher>> {
    let limits = options.limits.unwrap_or_default().resolve()?;
    index(watches, &limits)?.watchers_of(path, &limits)
}

/// `bubble`.
pub(crate) fn bubble(paths: &[String], watches: Vec<WatchIn>, options: &WatchOptionsIn) -> Result<Vec<super::Told>> {
    let limits = options.limits.unwrap_or_default().resolve()?;
    let depth = match options.max_depth {
        None => usize::MAX,
        Some(depth) if depth >= 0.0 => {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positive, and saturating")]
            let depth = depth as usize;
            depth
        }
        Some(_) => {
            let message = "`maxDepth` must be a number, 0 or more";
            return Err(Error::new(Code::InvalidInput, message).with("path", "maxDepth"));
        }
    };
    index(watches, &limits)?.bubble(paths, depth, &limits)
}

/// An edit.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, expecting = "an edit, an object with `type`")]
pub(crate) struct EditIn {
    r#type: Option<String>,
    path: Option<String>,
    section: Option<String>,
    content: Option<String>,
    time: Option<String>,
    author: Option<String>,
    create_section: Option<bool>,
    change: Option<ChangeIn>,
}

#[derive(Debug, Deserialize)]
#[serde(expecting = "a change, an object with `at`, `removed` and `inserted`")]
struct ChangeIn {
    at: u32,
    removed: String,
    inserted: String,
}

impl EditIn {
    /// Whether any text holds U+FFFD.
    #[cfg(target_arch = "wasm32")]
    pub(crate) fn holds_replacement(&self) -> bool {
        [&self.section, &self.content, &self.author]
            .into_iter()
            .flatten()
            .any(|text| text.contains(char::REPLACEMENT_CHARACTER))
    }

    /// The edited text.
    ///
    /// # Errors
    /// Those of [`super::edit_file`]; and [`Code::InvalidEdit`] where something would be changed on its way in.
    pub(crate) fn answer(self, text: &Content, lone: &[Diagnostic]) -> Result<super::Edited> {
        let mut unread = Vec::new();
        let name = self.path.clone().unwrap_or_else(|| "the file".to_owned());
        let Some(text) = text.text(&name, &mut unread) else {
            let message = unread.first().map_or("the file cannot be read", |found| &found.message).to_owned();
            return Err(Error::new(Code::InvalidEdit, message).with("path", name));
        };
        if !lone.is_empty() {
            let message =
                format!("`{name}` or the edit holds half of a surrogate pair, which cannot be kept; remove it");
            return Err(Error::new(Code::InvalidEdit, message).with("path", name));
        }
        let path = self.path.clone();
        super::edit_file(text, &self.edit()?, path.as_deref(), &Limits::default())
    }

    fn edit(self) -> Result<Edit> {
        let create = self.create_section.unwrap_or(false);
        let lacks = |field: &str| {
            Error::new(Code::InvalidInput, format!("the edit lacks `{field}`")).with("path", format!("edit.{field}"))
        };
        let section = self.section.ok_or_else(|| lacks("section"));
        let content = self.content.ok_or_else(|| lacks("content"));
        match self.r#type.as_deref() {
            Some("append") => Ok(Edit::Append { section: section?, content: content?, create }),
            Some("replaceSection") => Ok(Edit::ReplaceSection { section: section?, content: content?, create }),
            Some("addHistory") => Ok(Edit::AddHistory {
                section: section.unwrap_or_else(|_| "History".to_owned()),
                content: content?,
                time: self.time.ok_or_else(|| lacks("time"))?,
                author: self.author.unwrap_or_else(|| "curator".to_owned()),
                create,
            }),
            Some("undo") => {
                let ChangeIn { at, removed, inserted } = self.change.ok_or_else(|| lacks("change"))?;
                Ok(Edit::Undo(Change { at: at as usize, removed, inserted }))
            }
            Some(other) => Err(unknown("`type`", other, &["append", "replaceSection", "addHistory", "undo"])),
            None => Err(lacks("type")),
        }
    }
}

/// The input of `migrateLegacyContexts`.
#[derive(Debug, Default, Deserialize)]
#[serde(default, expecting = "an input, an object with `files`")]
pub(crate) struct MigrationIn {
    files: Vec<FileIn>,
    folders: Vec<String>,
    map: BTreeMap<String, String>,
    contexts: Vec<String>,
}

impl MigrationIn {
    /// Whether any file holds U+FFFD.
    #[cfg(target_arch = "wasm32")]
    pub(crate) fn holds_replacement(&self) -> bool {
        hold_replacement(&self.files)
    }

    /// The plan.
    pub(crate) fn answer(self, lone: Vec<Diagnostic>) -> Result<Migration> {
        let MigrationIn { files: given, folders, map, contexts } = self;
        let input = MigrationInput { files: files(given), folders, map, contexts };
        let mut migration = super::migrate_legacy(&input, &Limits::default())?;
        migration.diagnostics.splice(0..0, lone);
        Ok(migration)
    }
}

/// The rows for all watches.
#[derive(Debug, Serialize)]
pub(crate) struct WatchRecords {
    records: Vec<WatchRecord>,
    diagnostics: Vec<Diagnostic>,
}

/// `contextWatchRecords`.
pub(crate) fn watch_records(given: Vec<FileIn>, lone: Vec<Diagnostic>) -> Result<WatchRecords> {
    let (records, mut diagnostics) = super::watch_records(&files(given), &Limits::default())?;
    diagnostics.splice(0..0, lone);
    Ok(WatchRecords { records, diagnostics })
}

/// The input of `sessionContextRecords`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", expecting = "an object with `sessionId` and `folders`")]
pub(crate) struct SessionIn {
    session_id: String,
    folders: Vec<String>,
    added_at: Option<String>,
}

impl SessionIn {
    /// The rows.
    pub(crate) fn answer(self) -> Result<Vec<SessionContext>> {
        super::session_records(&self.session_id, &self.folders, self.added_at.as_deref(), &Limits::default())
    }
}

/// A row of either table.
#[derive(Debug, Deserialize)]
#[serde(untagged, expecting = "a row of `session_contexts` or of `context_watches`")]
pub(crate) enum RowIn {
    Session(SessionContext),
    Watch(WatchRecord),
}

/// Rows of one table, before and after.
pub(crate) enum Rows {
    Session(Vec<SessionContext>, Vec<SessionContext>),
    Watch(Vec<WatchRecord>, Vec<WatchRecord>),
}

/// Rows of one table.
///
/// # Errors
/// [`Code::InvalidInput`] where both tables are there.
pub(crate) fn rows(before: Vec<RowIn>, after: Vec<RowIn>) -> Result<Rows> {
    let both = || {
        let message = "`before` and `after` hold rows of two tables; diff one table at a time";
        Error::new(Code::InvalidInput, message)
    };
    let sessions = |rows: &[RowIn]| rows.iter().filter(|row| matches!(row, RowIn::Session(_))).count();
    let (all, of_sessions) =
        (before.len().saturating_add(after.len()), sessions(&before).saturating_add(sessions(&after)));
    let session = |rows: Vec<RowIn>| {
        rows.into_iter().filter_map(|row| if let RowIn::Session(row) = row { Some(row) } else { None }).collect()
    };
    let watch = |rows: Vec<RowIn>| {
        rows.into_iter().filter_map(|row| if let RowIn::Watch(row) = row { Some(row) } else { None }).collect()
    };
    match of_sessions {
        0 => Ok(Rows::Watch(watch(before), watch(after))),
        count if count == all => Ok(Rows::Session(session(before), session(after))),
        _ => Err(both()),
    }
}

/// A discovery as `foldersResponse` needs it.
#[derive(Debug, Deserialize)]
#[serde(expecting = "what `discoverContextFolders` gives")]
pub(crate) struct DiscoveryIn {
    folders: Vec<FolderIn>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", expecting = "a folder, an object")]
struct FolderIn {
    path: String,
    has_agents_md: bool,
    has_claude_md: bool,
}

/// An element of the response to `GET /api/contexts/folders`.
#[derive(Debug, Serialize)]
pub(crate) struct FolderOut {
    path: String,
    has_agents_md: bool,
    has_claude_md: bool,
}

impl DiscoveryIn {
    /// The seed's response.
    pub(crate) fn response(self) -> Vec<FolderOut> {
        let folder = |FolderIn { path, has_agents_md, has_claude_md }| FolderOut { path, has_agents_md, has_claude_md };
        self.folders.into_iter().map(folder).collect()
    }
}

/// A chain as `chainResponse` needs it.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", expecting = "what `buildContextChain` gives")]
pub(crate) struct ChainResponseIn {
    files: Vec<ChainEntry>,
    total_tokens: u32,
}

#[derive(Debug, Deserialize, Serialize)]
#[serde(expecting = "a file of a chain, an object")]
struct ChainEntry {
    path: String,
    level: Level,
    tokens: u32,
}

/// The response to `GET /api/contexts/chain`.
#[derive(Debug, Serialize)]
pub(crate) struct ChainOut {
    files: Vec<ChainEntry>,
    total_tokens: u32,
}

impl ChainResponseIn {
    /// The seed's response.
    pub(crate) fn response(self) -> ChainOut {
        ChainOut { files: self.files, total_tokens: self.total_tokens }
    }
}
