//! The calls of this area: requests read from JSON, results written as JSON.

use serde::Serialize;

use crate::assembly::settings::whole;
use crate::call::{Call, CallContext, Response};
use crate::error::{self, Code, Diagnostic, Error, Result};
use crate::input::Content;
use crate::json::{Kind, Object, Value, refuse_unknown};
use crate::limits::{self, Limits};
use crate::maps::SortedMap;
use crate::time::Timestamp;

use super::records::Row;
use super::{
    ChainFile, Change, Edit, IncludeWatched, Level, MigrationInput, Overrides, Reason, SKIPPED_FOLDERS, SectionEdit,
    Selection, SessionContext, VaultFile, WatchIndex, WatchRecord, paths,
};

/// The calls by name.
pub const CALLS: &[Call] = &[
    Call::new("parseContextFile", &["path", "text"], |_, request, _| parse(request)),
    Call::new("discoverContextFolders", &["paths", "options"], |_, request, _| discover(request)),
    Call::new("buildContextChain", &[], |_, request, host| build_chain(request, host)),
    Call::new("renderContextPrompt", &["chain", "options"], |_, request, _| render(request)),
    Call::new("watchersOf", &["changedPath", "files", "options"], |_, request, _| watchers_of(request)),
    Call::new("bubble", &["changedPaths", "files", "options"], |_, request, _| bubble(request)),
    Call::new("editContextFile", &["text", "edit"], |_, request, _| edit(request)),
    Call::new("migrateLegacyContexts", &[], |_, request, _| migrate(request)),
    Call::new("contextWatchRecords", &["files"], |_, request, _| watch_records(request)),
    Call::new("sessionContextRecords", &[], |_, request, _| session_records(request)),
    Call::new("diffRecords", &["before", "after"], |_, request, _| diff(request)),
    Call::new("foldersResponse", &["discovery", "chain"], |_, request, _| folders_response(request)),
    Call::new("chainResponse", &[], |_, request, _| chain_response(request)),
];

fn arguments(request: Value<'_>) -> Result<Object<'_>> {
    request.object("arguments, an object")
}

fn file(value: Value<'_>) -> Result<VaultFile> {
    let file = value.object("a file, an object with `path` and `content`")?;
    Ok(VaultFile { path: string(file, "path")?, content: Content::read(file.need("content")?)? })
}

/// The files, within the limit `contextFiles`.
fn files(value: Value<'_>, limits: &Limits) -> Result<Vec<VaultFile>> {
    let files = value.list("a list of files")?;
    limits::check("contextFiles", files.len(), limits.context_files)?;
    files.map(file).collect()
}

fn string(object: Object<'_>, name: &str) -> Result<String> {
    object.need(name)?.string()
}

fn objects<T>(of: Object<'_>, name: &str, item: &str, read: impl Fn(Object<'_>) -> Result<T>) -> Result<Vec<T>> {
    of.need(name)?.list("a list")?.map(|value| read(value.object(item)?)).collect()
}

fn parse(request: Value<'_>) -> Result<Response> {
    let arguments = arguments(request)?;
    let content = Content::read(arguments.need("text")?)?;
    let mut parsed = super::parse_file(&arguments.text("path")?, &content, &Limits::default())?;
    error::put_before(request.repaired(), &mut parsed.diagnostics);
    Response::of(&parsed)
}

fn discover(request: Value<'_>) -> Result<Response> {
    let arguments = arguments(request)?;
    let paths = arguments.need("paths")?.strings()?;
    let options = arguments.read("options", |options| options.object("options, an object")?.only(&["skip"]))?;
    let skip = options.map(|options| options.read("skip", Value::strings)).transpose()?.flatten();
    let skip = skip.unwrap_or_else(|| SKIPPED_FOLDERS.map(str::to_owned).to_vec());
    let mut found = super::discover(paths.iter().map(String::as_str), &skip, &Limits::default())?;
    error::put_before(request.repaired(), &mut found.diagnostics);
    Response::of(&found)
}

const INCLUDE_WATCHED: &[(&str, IncludeWatched)] =
    &[("ancestors", IncludeWatched::Ancestors), ("all", IncludeWatched::All), ("none", IncludeWatched::None)];

const OVERRIDES: &[(&str, Overrides)] = &[("bullets", Overrides::Bullets), ("none", Overrides::None)];

fn build_chain(request: Value<'_>, host: &CallContext) -> Result<Response> {
    let mut diagnostics = request.repaired();
    let input = request.object("an object with `files` and `selected`")?;
    const OPTIONS: &[&str] = &[
        "files",
        "selected",
        "includeWatched",
        "parentChain",
        "overrides",
        "maxTokens",
        "truncationMarker",
        "contexts",
        "tokenizer",
        "limits",
        "render",
    ];
    input.report_unknown(OPTIONS, &mut diagnostics);
    let limits = Limits::read(input.get("limits")?, &mut diagnostics)?;
    let counter = host.counter(input.get("tokenizer")?)?;
    let rendering = input.read("render", read_rendering)?.flatten();
    let selection = Selection {
        folders: input.need("selected")?.strings()?,
        include_watched: input.one_of("includeWatched", INCLUDE_WATCHED)?.unwrap_or_default(),
        parent_chain: input.bool("parentChain")?.unwrap_or(false),
        overrides: input.one_of("overrides", OVERRIDES)?.unwrap_or_default(),
        max_tokens: input.read("maxTokens", max_tokens)?,
        truncation_marker: input.string("truncationMarker")?,
        contexts: input.read("contexts", Value::strings)?.unwrap_or_default(),
        working_directory: rendering.as_ref().and_then(|rendering| rendering.working_directory.clone()),
    };
    let files = files(input.need("files")?, &limits)?;
    let mut chain = super::build_chain(&files, &selection, counter.as_ref(), &limits)?;
    error::put_before(diagnostics, &mut chain.diagnostics);
    chain.prompt = rendering.map(|_| super::render_prompt(&chain.files, None));
    Response::of(&chain)
}

/// A whole number; values above `u32::MAX` mean no limit.
fn max_tokens(value: Value<'_>) -> Result<u32> {
    let tokens = whole("maxTokens", value.number()?).map_err(|error| error.with("path", value.path()))?;
    Ok(u32::try_from(tokens).unwrap_or(u32::MAX))
}

const LEVELS: &[(&str, Level)] = &[
    ("root", Level::Root),
    ("parent", Level::Parent),
    ("direct", Level::Direct),
    ("workingDirectory", Level::WorkingDirectory),
];
const REASONS: &[(&str, Reason)] = &[
    ("selected", Reason::Selected),
    ("watched", Reason::Watched),
    ("ancestor", Reason::Ancestor),
    ("workingDirectory", Reason::WorkingDirectory),
];

const CHAIN: &str = "a chain, an object with `files`";
const CHAIN_FILE: &str = "a file of a chain, an object";

fn level(file: Object<'_>) -> Result<Level> {
    file.need("level")?.one_of(LEVELS)
}

/// A file of a chain, with the fields that the prompt shows.
fn chain_file(file: Object<'_>) -> Result<ChainFile> {
    let path = string(file, "path")?;
    Ok(ChainFile {
        folder: paths::folder_of(&path).to_owned(),
        path,
        level: level(file)?,
        reason: Reason::Selected,
        watched_by: Vec::new(),
        tokens: 0,
        truncated: false,
        content: string(file, "content")?,
        overridden: Vec::new(),
    })
}

fn render(request: Value<'_>) -> Result<Response> {
    let arguments = arguments(request)?;
    let files = objects(arguments.need("chain")?.object(CHAIN)?, "files", CHAIN_FILE, chain_file)?;
    let options = arguments.read("options", |options| options.object("options, an object"))?;
    Response::of(&Rendering::read(options)?.prompt(&files))
}

/// The options of a prompt.
#[derive(Debug, Default)]
struct Rendering {
    working_directory: Option<VaultFile>,
}

impl Rendering {
    fn read(options: Option<Object<'_>>) -> Result<Self> {
        let Some(options) = options else { return Ok(Self::default()) };
        Ok(Self { working_directory: options.only(&["workingDirectory"])?.read("workingDirectory", file)? })
    }

    fn prompt(&self, files: &[ChainFile]) -> String {
        super::render_prompt(files, self.working_directory.as_ref())
    }
}

/// `render`: true, or the options of the prompt; `None` for false.
fn read_rendering(render: Value<'_>) -> Result<Option<Rendering>> {
    match render.kind() {
        Kind::Bool => Ok(render.bool()?.then(Rendering::default)),
        _ => Rendering::read(Some(render.object("true, false or the options of `renderContextPrompt`")?)).map(Some),
    }
}

fn watch_options<'t>(arguments: Object<'t>, known: &[&str]) -> Result<(Option<Object<'t>>, Limits)> {
    let Some(options) = arguments.read("options", |options| options.object("options, an object"))? else {
        return Ok(Default::default());
    };
    let mut diagnostics = Vec::new();
    let limits = Limits::read(options.only(known)?.get("limits")?, &mut diagnostics)?;
    refuse_unknown(&diagnostics)?;
    Ok((Some(options), limits))
}

/// Whether the items of these lists have a field. Lists that mix both are rejected.
fn all_have(lists: &[Value<'_>], field: &str, item: &str, mixed: &str) -> Result<bool> {
    let mut first = None;
    for list in lists {
        for value in list.list("a list")? {
            let has = value.object(item)?.get(field)?.is_some();
            if has != *first.get_or_insert(has) {
                return Err(Error::new(Code::InvalidInput, mixed).with("path", value.path()));
            }
        }
    }
    Ok(first == Some(true))
}

/// The watches of a list of files or of rows of `context_watches`.
fn watch_index(files: Value<'_>, limits: &Limits) -> Result<WatchIndex> {
    const ITEM: &str = "a file or a row of `context_watches`, an object";
    const MIXED: &str = "`files` mixes files with rows of `context_watches`; pass one or the other";
    if all_have(&[files], "watcherPath", ITEM, MIXED)? {
        let rows = files.list("a list")?.map(|row| watch_row(row.object(ITEM)?)).collect::<Result<Vec<_>>>()?;
        return WatchIndex::of_records(&rows, limits);
    }
    WatchIndex::of_files(&self::files(files, limits)?, limits)
}

fn watchers_of(request: Value<'_>) -> Result<Response> {
    let arguments = arguments(request)?;
    let (_, limits) = watch_options(arguments, &["limits"])?;
    let changed = arguments.text("changedPath")?;
    Response::of(&watch_index(arguments.need("files")?, &limits)?.watchers_of(&changed, &limits)?)
}

fn bubble(request: Value<'_>) -> Result<Response> {
    let arguments = arguments(request)?;
    let (options, limits) = watch_options(arguments, &["limits", "maxDepth"])?;
    let depth = match options {
        Some(options) => options.read("maxDepth", max_depth)?.unwrap_or(usize::MAX),
        None => usize::MAX,
    };
    let changed = arguments.need("changedPaths")?.strings()?;
    Response::of(&watch_index(arguments.need("files")?, &limits)?.bubble(&changed, depth, &limits)?)
}

fn max_depth(value: Value<'_>) -> Result<usize> {
    let depth = value.number()?;
    if depth < 0.0 {
        return Err(value.mismatch("a number of 0 or more"));
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positive, and saturating")]
    Ok(depth as usize)
}

type ReadEdit = fn(Object<'_>) -> Result<Edit>;

const EDITS: &[(&str, ReadEdit)] = &[
    ("append", |edit| section_edit(edit, SectionEdit::Append, string(edit, "section")?)),
    ("replaceSection", |edit| section_edit(edit, SectionEdit::Replace, string(edit, "section")?)),
    ("addHistory", |edit| {
        let section = edit.string("section")?.unwrap_or_else(|| "History".to_owned());
        let author = edit.string("author")?.unwrap_or_else(|| "curator".to_owned());
        section_edit(edit, SectionEdit::AddHistory { time: Timestamp::read(edit.need("time")?)?, author }, section)
    }),
    ("undo", |edit| {
        let change = edit.need("change")?.object("a change, an object with `at`, `removed` and `inserted`")?;
        Ok(Edit::Undo(Change {
            at: change.need("at")?.whole(u32::MAX)? as usize,
            removed: string(change, "removed")?,
            inserted: string(change, "inserted")?,
        }))
    }),
];

fn section_edit(edit: Object<'_>, action: SectionEdit, section: String) -> Result<Edit> {
    let content = string(edit, "content")?;
    Ok(Edit::Section { action, section, content, create: edit.bool("createSection")?.unwrap_or(false) })
}

fn edit(request: Value<'_>) -> Result<Response> {
    let arguments = arguments(request)?;
    let edit = arguments.need("edit")?.object("an edit, an object with `type`")?;
    edit.only(&["type", "path", "section", "content", "time", "author", "createSection", "change"])?;
    // An edit preserves every byte, so nothing may be replaced on input.
    if let Some(path) = request.repaired().into_iter().find_map(|found| found.path) {
        let message = format!("`{path}` holds half of a surrogate pair, which cannot be kept; remove it");
        return Err(Error::new(Code::InvalidEdit, message).with("path", path));
    }
    let path = edit.string("path")?;
    let content = Content::read(arguments.need("text")?)?;
    let mut unread = Vec::new();
    let Some(text) = content.text(path.as_deref().unwrap_or("the file"), &mut unread) else {
        let found = unread.pop().map(|found| (found.message, found.path)).unwrap_or_default();
        return Err(Error::new(Code::InvalidEdit, found.0).with("path", found.1));
    };
    let edit = edit.need("type")?.one_of(EDITS)?(edit)?;
    Response::of(&super::edit_file(text, &edit, path.as_deref(), &Limits::default())?)
}

fn migrate(request: Value<'_>) -> Result<Response> {
    let mut diagnostics = request.repaired();
    let input = request.object("an input, an object with `files`")?;
    input.report_unknown(&["files", "folders", "map", "contexts"], &mut diagnostics);
    let limits = Limits::default();
    let mut map = SortedMap::new();
    if let Some(given) = input.get("map")? {
        for (from, folder) in given.object("an object of folders")?.entries() {
            map.insert(from.string()?, folder.string()?);
        }
    }
    let input = MigrationInput {
        files: input.read("files", |value| files(value, &limits))?.unwrap_or_default(),
        folders: input.read("folders", Value::strings)?.unwrap_or_default(),
        map,
        contexts: input.read("contexts", Value::strings)?.unwrap_or_default(),
    };
    let mut migration = super::migrate_legacy(&input, &limits)?;
    error::put_before(diagnostics, &mut migration.diagnostics);
    Response::of(&migration)
}

fn watch_records(request: Value<'_>) -> Result<Response> {
    #[derive(Serialize)]
    struct WatchRecords {
        records: Vec<WatchRecord>,
        diagnostics: Vec<Diagnostic>,
    }
    let limits = Limits::default();
    let files = files(arguments(request)?.need("files")?, &limits)?;
    let (records, mut diagnostics) = super::watch_records(&files, &limits)?;
    error::put_before(request.repaired(), &mut diagnostics);
    Response::of(&WatchRecords { records, diagnostics })
}

fn session_records(request: Value<'_>) -> Result<Response> {
    let session = request.object("an object with `sessionId` and `folders`")?;
    session.only(&["sessionId", "folders", "addedAt"])?;
    let (id, folders) = (session.text("sessionId")?, session.need("folders")?.strings()?);
    let added_at = session.read("addedAt", added_at)?;
    Response::of(&super::session_records(&id, &folders, added_at.as_deref(), &Limits::default())?)
}

/// Text as the host writes it, or milliseconds.
fn added_at(value: Value<'_>) -> Result<String> {
    value.as_text().map_or_else(|| Timestamp::read(value).map(|time| time.to_string()), |text| Ok(text.into_owned()))
}

fn session_row(row: Object<'_>) -> Result<SessionContext> {
    Ok(SessionContext {
        session_id: string(row, "sessionId")?,
        folder_path: string(row, "folderPath")?,
        added_at: row.read("addedAt", added_at)?,
    })
}

fn watch_row(row: Object<'_>) -> Result<WatchRecord> {
    Ok(WatchRecord {
        watcher_path: string(row, "watcherPath")?,
        watch_pattern: string(row, "watchPattern")?,
        resolved_paths: row.read("resolvedPaths", Value::strings)?,
    })
}

const ROW: &str = "a row of `session_contexts` or of `context_watches`";

fn diff(request: Value<'_>) -> Result<Response> {
    const MIXED: &str = "`before` and `after` hold rows of two tables; diff one table at a time";
    let tables = arguments(request)?;
    if all_have(&[tables.need("before")?, tables.need("after")?], "sessionId", ROW, MIXED)? {
        diff_rows(tables, session_row)
    } else {
        diff_rows(tables, watch_row)
    }
}

fn diff_rows<R: Row + Serialize>(tables: Object<'_>, read: fn(Object<'_>) -> Result<R>) -> Result<Response> {
    Response::of(&super::diff(&objects(tables, "before", ROW, read)?, &objects(tables, "after", ROW, read)?)?)
}

/// The files of a chain and those that the budget left out, each with its path.
fn chain_lists<'t>(chain: Object<'t>) -> Result<[Vec<(String, Object<'t>)>; 2]> {
    let list = |name: &str| {
        let read = |files: Value<'t>| files.list("a list of files");
        let files = chain.read(name, read)?.into_iter().flatten();
        files
            .map(|file| file.object(CHAIN_FILE).and_then(|file| Ok((string(file, "path")?, file))))
            .collect::<Result<_>>()
    };
    chain.need("files")?;
    Ok([list("files")?, list("omitted")?])
}

/// The response to `GET /api/contexts/folders`; with a chain also what became of the file of each folder.
fn folders_response(request: Value<'_>) -> Result<Response> {
    #[derive(Serialize)]
    struct Folder {
        path: String,
        has_agents_md: bool,
        has_claude_md: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<Reason>,
        #[serde(skip_serializing_if = "Option::is_none")]
        truncated: Option<bool>,
        #[serde(skip_serializing_if = "Option::is_none")]
        omitted: Option<bool>,
    }
    let arguments = arguments(request)?;
    let discovery = arguments.need("discovery")?.object("the result of `discoverContextFolders`")?;
    let chain = arguments.read("chain", |chain| chain_lists(chain.object(CHAIN)?))?;
    let in_chain = |list: usize, path: &str| {
        let files = chain.as_ref().and_then(|lists| lists.get(list)).into_iter().flatten();
        files.clone().find(|(file, _)| paths::folder_of(file) == path).map(|(_, file)| *file)
    };
    let folders = objects(discovery, "folders", "a folder, an object", |folder| {
        let path = string(folder, "path")?;
        let (shown, omitted) = (in_chain(0, &path), in_chain(1, &path));
        Ok(Folder {
            has_agents_md: folder.need("hasAgentsMd")?.bool()?,
            has_claude_md: folder.need("hasClaudeMd")?.bool()?,
            reason: shown.or(omitted).map(|file| file.need("reason")?.one_of(REASONS)).transpose()?,
            truncated: shown.map(|file| file.need("truncated")?.bool()).transpose()?,
            omitted: chain.as_ref().map(|_| omitted.is_some()),
            path,
        })
    })?;
    Response::of(&folders)
}

/// The response to `GET /api/contexts/chain`.
fn chain_response(request: Value<'_>) -> Result<Response> {
    #[derive(Serialize)]
    struct File {
        path: String,
        level: Level,
        reason: Reason,
        tokens: u32,
        #[serde(skip_serializing_if = "Option::is_none")]
        truncated: Option<bool>,
    }
    #[derive(Serialize)]
    struct Chain {
        files: Vec<File>,
        omitted: Vec<File>,
        total_tokens: u32,
    }
    let chain = request.object(CHAIN)?;
    let [files, omitted] = chain_lists(chain)?;
    let read = |is_shown: bool, (path, file): (String, Object<'_>)| {
        Ok(File {
            path,
            level: level(file)?,
            reason: file.need("reason")?.one_of(REASONS)?,
            tokens: file.need("tokens")?.whole(u32::MAX)?,
            truncated: is_shown.then(|| file.need("truncated")?.bool()).transpose()?,
        })
    };
    Response::of(&Chain {
        files: files.into_iter().map(|file| read(true, file)).collect::<Result<_>>()?,
        omitted: omitted.into_iter().map(|file| read(false, file)).collect::<Result<_>>()?,
        total_tokens: chain.need("totalTokens")?.whole(u32::MAX)?,
    })
}
