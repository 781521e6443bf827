//! The calls of this area: requests read from JSON, results written as JSON.

use std::rc::Rc;

use serde::Serialize;

use crate::assembly::settings::whole;
use crate::call::{Call, CallContext, Response};
use crate::error::{self, Code, Diagnostic, DiagnosticCode, Error, Result, Severity};
use crate::input::Content;
use crate::json::{self, Document, Kind, Object, Value, is_field_of_results};
use crate::limits::{self, Limits};
use crate::maps::SortedMap;

use super::convert::{Fallback, Job, Rules, convert};
use super::explain::{Explained, explain};
use super::lint::{Lint, lint};
use super::load::load;
use super::paths;
use super::preset::{self, PRESETS};
use super::report::{Chain, chain};
use super::session::{Access, Budget, Decision, LEVELS, Piece, Request, SKILL, SKILL_BODY, Session};
use super::world::{Entry, World};

/// The calls by name.
pub const CALLS: &[Call] = &[
    Call::new("agentPresets", &[], |_, _, _| presets()),
    Call::new("planAgentFiles", &[], |_, request, host| plan(request, host)),
    Call::new("finishAgentFiles", &["state", "files", "options"], |_, request, host| finish(request, host)),
    Call::new("newSince", &["chain", "next", "options"], |_, request, host| new_since(request, host)),
    Call::new("convertRules", &["files", "options"], |_, request, _| convert_rules(request)),
    Call::new("lintAgentFiles", &["files", "options"], |_, request, _| lint_files(request)),
    Call::new("explainAgentFiles", &["chain", "path"], |_, request, _| explained(request)),
];

/// The fields of a preset that a list of presets shows.
#[derive(Serialize)]
struct ListedPreset {
    name: String,
    version: String,
    date: String,
    verified: bool,
    variants: Vec<String>,
    rules: Vec<String>,
}

fn presets() -> Result<Response> {
    let document = Document::read(PRESETS.as_bytes(), &[])?;
    let all = document.root().list("presets")?.read(|preset| {
        let preset = preset.object("a preset")?;
        let name = preset.need("name")?.string()?;
        let rules = preset::read(&name, None, None)?;
        Ok(ListedPreset {
            rules: Rules::of(&rules).iter().map(|rules| rules.folder().to_owned()).collect(),
            name,
            version: preset.need("version")?.string()?,
            date: preset.need("date")?.string()?,
            verified: preset.need("verified")?.bool()?,
            variants: preset.read("variants", Value::strings)?.unwrap_or_default(),
        })
    })?;
    Response::of(&all)
}

const OPTIONS: &[&str] = &[
    "agent",
    "variant",
    "preset",
    "cwd",
    "home",
    "root",
    "access",
    "files",
    "trusted",
    "approveImports",
    "maxTokens",
    "budget",
    "tokenizer",
    "limits",
];

fn read_request(input: Object<'_>, limits: &Limits) -> Result<Request> {
    let extension = input.read("preset", |preset| preset.object("settings of a preset, an object"))?;
    let variant = input.string("variant")?;
    let path = |name: &str| input.read(name, |path| paths::absolute(&path.text()?, limits));
    Ok(Request {
        preset: preset::read(&input.text("agent")?, variant.as_deref(), extension)?,
        variant,
        cwd: paths::absolute(&input.text("cwd")?, limits)?,
        home: path("home")?,
        root: path("root")?,
        access: input
            .read("access", |list| list.list("a list of accesses")?.read(|access| read_access(access, VERBS, limits)))?
            .unwrap_or_default(),
        trusted: input.bool("trusted")?.unwrap_or(true),
        approve_imports: input.bool("approveImports")?.unwrap_or(false),
        budget: read_budget(input)?,
    })
}

fn read_budget(input: Object<'_>) -> Result<Budget> {
    let tokens = |of: Object<'_>, name: &str| {
        of.read(name, |value| {
            let tokens = whole(name, value.number()?).map_err(|error| error.with("path", value.path()))?;
            Ok(u32::try_from(tokens).unwrap_or(u32::MAX))
        })
    };
    let mut budget = Budget { total: tokens(input, "maxTokens")?, ..Budget::default() };
    if let Some(given) = input.read("budget", |budget| budget.object("limits in tokens, an object"))? {
        given.only(&["file", "managed", "home", "project", "skills"])?;
        budget.file = tokens(given, "file")?;
        for level in LEVELS {
            budget.levels.extend(tokens(given, level)?.map(|max| (level, max)));
        }
    }
    Ok(budget)
}

/// The verb of a file that changed on disk.
const CHANGED: &str = "changed";
/// The verbs of `newSince`.
const VERBS_SINCE: &[(&str, &str)] =
    &[(CHANGED, CHANGED), ("read", "read"), ("write", "write"), ("shell", "shell"), (SKILL, SKILL)];
/// The verbs of a load: all but the first.
const VERBS: &[(&str, &str)] = VERBS_SINCE.split_at(1).1;

fn read_access(value: Value<'_>, verbs: &[(&str, &'static str)], limits: &Limits) -> Result<Access> {
    let of = value.object("an access, an object with `path`")?;
    of.only(&["path", "verb"])?;
    let verb = of.one_of("verb", verbs)?.unwrap_or("read").to_owned();
    Ok(Access { path: paths::absolute(&of.text("path")?, limits)?, verb })
}

/// Adds the host's answers. A file that cannot be read counts as missing.
fn add_files(world: &mut World, files: Value<'_>, limits: &Limits, diagnostics: &mut Vec<Diagnostic>) -> Result<()> {
    let files = files.list("a list of files")?;
    limits::check("contextFiles", files.len(), limits.context_files)?;
    let mut bytes = 0_usize;
    for value in files {
        let file = value.object("a file, an object with `path` and `content`, `entries` or `missing`")?;
        let path = paths::absolute(&file.text("path")?, limits)?;
        let entry = if let Some(entries) = file.read("entries", Value::strings)? {
            Entry::Folder(entries.into())
        } else if file.bool("missing")?.unwrap_or(false) {
            Entry::Missing
        } else {
            let content = Content::read(file.need("content")?)?;
            bytes = bytes.saturating_add(content.len());
            let real = file.read("realPath", |real| paths::absolute(&real.text()?, limits))?;
            match content.text(&path, diagnostics) {
                Some(text) => Entry::File { text: text.into(), real: real.unwrap_or_else(|| path.clone()).into() },
                None => Entry::Missing,
            }
        };
        if !world.add(path.clone(), entry) {
            let message = format!("duplicate file `{path}`; the first is used");
            diagnostics.push(Diagnostic::new(DiagnosticCode::DuplicateFile, Severity::Warning, message).at_path(path));
        }
    }
    limits::check("inputBytes", bytes, limits.input_bytes)
}

#[derive(Serialize)]
#[serde(tag = "status", rename_all = "camelCase")]
enum Planned {
    Ready {
        result: Box<Chain>,
        #[serde(flatten, skip_serializing_if = "Option::is_none")]
        changes: Option<Changes>,
    },
    Read {
        paths: Vec<String>,
        state: State,
    },
}

/// What `finishAgentFiles` needs to continue.
#[derive(Serialize)]
struct State {
    request: serde_json::Value,
    files: Vec<serde_json::Value>,
    /// The pieces of the load that this one continues.
    #[serde(skip_serializing_if = "Option::is_none")]
    since: Option<Vec<serde_json::Value>>,
}

/// The input of a load without its files.
struct LoadInput<'t, 'h> {
    request: Value<'t>,
    limits: Limits,
    tokenizer: Option<Value<'t>>,
    host: &'h CallContext,
    since: Option<Vec<PlacedPiece>>,
    diagnostics: Vec<Diagnostic>,
}

fn plan(request: Value<'_>, host: &CallContext) -> Result<Response> {
    let mut diagnostics = request.repaired();
    let input = request.object("an object with `agent` and `cwd`")?;
    input.report_unknown(OPTIONS, &mut diagnostics);
    let limits = Limits::read(input.get("limits")?, &mut diagnostics)?;
    let files = input.get("files")?;
    let mut world = World::new(files.is_some());
    if let Some(files) = files {
        add_files(&mut world, files, &limits, &mut diagnostics)?;
    }
    let tokenizer = input.get("tokenizer")?;
    answer(LoadInput { request, limits, tokenizer, host, since: None, diagnostics }, world, Vec::new())
}

/// A file as the state keeps it. Bytes leave with the request that brought them, so they become text.
fn stored(file: Value<'_>) -> Result<serde_json::Value> {
    let of = file.object("a file, an object")?;
    let Some(content) = of.read("content", Content::read)? else { return file.to_json() };
    let content = match content {
        Content::Text(text) => text.into(),
        Content::Bytes(bytes) => String::from_utf8(bytes).map_or_else(|error| error.into_bytes().into(), Into::into),
        Content::Unreadable(why) => json::object([("unreadable", why.into())]),
    };
    let mut kept = serde_json::Map::new();
    kept.insert("path".to_owned(), of.text("path")?.into_owned().into());
    kept.insert("content".to_owned(), content);
    if let Some(real) = of.string("realPath")? {
        kept.insert("realPath".to_owned(), real.into());
    }
    Ok(kept.into())
}

fn finish(request: Value<'_>, host: &CallContext) -> Result<Response> {
    const STATE: &str = "the `state` of `planAgentFiles`";
    let arguments = request.object("a state and files, an object")?;
    let options = arguments.read("options", |options| options.object("options, an object")?.only(&["tokenizer"]))?;
    let state = arguments.need("state")?.object(STATE)?;
    let (original, known) = (state.need("request")?, state.need("files")?);
    let input = original.object(STATE)?;
    let mut diagnostics = request.repaired();
    input.report_unknown(OPTIONS, &mut diagnostics);
    let limits = Limits::read(input.get("limits")?, &mut diagnostics)?;
    let mut world = World::new(false);
    let mut files = Vec::new();
    for list in [known, arguments.need("files")?] {
        add_files(&mut world, list, &limits, &mut diagnostics)?;
        for file in list.list("a list of files")? {
            files.push(stored(file)?);
        }
    }
    let given = options.map(|options| options.get("tokenizer")).transpose()?.flatten();
    let tokenizer = given.map_or_else(|| input.get("tokenizer"), |tokenizer| Ok(Some(tokenizer)))?;
    let since = state.get("since")?.map(placed_pieces).transpose()?;
    answer(LoadInput { request: original, limits, tokenizer, host, since, diagnostics }, world, files)
}

fn answer(input: LoadInput<'_, '_>, mut world: World, files: Vec<serde_json::Value>) -> Result<Response> {
    let read = read_request(input.request.object("a request, an object")?, &input.limits)?;
    let counter = input.host.counter(input.tokenizer)?;
    let mut session = Session::new(&read, &mut world, Rc::clone(&counter));
    load(&mut session)?;
    let mut result = chain(session);
    error::put_before(input.diagnostics, &mut result.diagnostics);
    let request = without_files(input.request)?;
    if !world.wanted().is_empty() {
        let paths = world.wanted().iter().cloned().collect();
        let since = input.since.map(|since| since.into_iter().map(|(_, piece)| piece).collect());
        return Response::of(&Planned::Read { paths, state: State { request, files, since } });
    }
    result.request = Some(request);
    let changes = input.since.map(|since| Changes::between(&since, result.pieces())).transpose()?;
    Response::of(&Planned::Ready { result: Box::new(result), changes })
}

/// The request without its files, whose contents can be bytes, and without fields of a result that was spread into it.
/// Unknown options stay, to be reported with the result.
fn without_files(request: Value<'_>) -> Result<serde_json::Value> {
    let mut fields = serde_json::Map::new();
    for (name, value) in request.object("a request, an object")?.entries() {
        let name = name.string()?;
        if name != "files" && !is_field_of_results(&name) {
            fields.insert(name, value.to_json()?);
        }
    }
    Ok(fields.into())
}

/// Converts rules of one agent for another.
fn convert_rules(request: Value<'_>) -> Result<Response> {
    let mut diagnostics = request.repaired();
    let arguments = request.object("files and options, an object")?;
    let options = arguments.need("options")?.object("options, an object with `from` and `to`")?;
    options.only(&["from", "to", "root", "fallback", "limits"])?;
    let limits = Limits::read(options.get("limits")?, &mut diagnostics)?;
    let mut world = World::new(true);
    add_files(&mut world, arguments.need("files")?, &limits, &mut diagnostics)?;
    let (from, to) =
        (preset::read(&options.text("from")?, None, None)?, preset::read(&options.text("to")?, None, None)?);
    for preset in [&from, &to] {
        if Rules::of(preset).is_empty() {
            let message =
                format!("`{}` has no folder of rules; `agentPresets()` lists the agents that have one", preset.name);
            return Err(Error::new(Code::UnknownValue, message).with("value", preset.name.as_str()));
        }
    }
    let Some(target) = Rules::of(&to).first().copied() else { return Err(options.value().lacks("to")) };
    let root = options.read("root", |root| paths::absolute(&root.text()?, &limits))?;
    let fallback = options.one_of("fallback", Fallback::NAMES)?.unwrap_or_default();
    let mut conversion = convert(&Job { from: &from, to: target, root, fallback }, &world);
    error::put_before(diagnostics, &mut conversion.diagnostics);
    Response::of(&conversion)
}

/// Checks context files and rules for the agents that read them.
fn lint_files(request: Value<'_>) -> Result<Response> {
    let mut diagnostics = request.repaired();
    let arguments = request.object("files and options, an object")?;
    let options = arguments.need("options")?.object("options, an object with `agents`")?;
    options.only(&["agents", "root", "home", "paths", "limits"])?;
    let limits = Limits::read(options.get("limits")?, &mut diagnostics)?;
    let mut world = World::new(true);
    add_files(&mut world, arguments.need("files")?, &limits, &mut diagnostics)?;
    let absolute = |path: Value<'_>| paths::absolute(&path.text()?, &limits);
    let agents = options.need("agents")?.strings()?;
    let known = preset::all()?;
    let first = world.files().map(|(path, _)| paths::folder(path)).min_by_key(|folder| folder.len()).map(str::to_owned);
    let root = options.read("root", absolute)?.or(first).unwrap_or_else(|| "/".to_owned());
    let job = Lint {
        agents: agents.iter().map(|agent| preset::read(agent, None, None)).collect::<Result<_>>()?,
        known: &known,
        root,
        home: options.read("home", absolute)?,
        paths: options.read("paths", |paths| paths.list("a list of paths")?.read(absolute))?,
    };
    let mut report = lint(&job, &mut world)?;
    error::put_before(diagnostics, &mut report.diagnostics);
    Response::of(&report)
}

const CHAIN: &str = "a chain, the result of `planAgentFiles`";

/// A piece of a chain, with its path and text as one key.
type PlacedPiece = (String, serde_json::Value);

fn placed_pieces(pieces: Value<'_>) -> Result<Vec<PlacedPiece>> {
    pieces.list("a list of pieces")?.read(|value| {
        let piece = value.object("a piece, an object")?;
        Ok((key(&piece.text("path")?, &piece.text("text")?), value.to_json()?))
    })
}

fn key(path: &str, text: &str) -> String {
    format!("{path}\n{text}")
}

/// The difference between two loads.
#[derive(Serialize)]
struct Changes {
    append: Vec<serde_json::Value>,
    stale: Vec<serde_json::Value>,
}

impl Changes {
    /// The pieces that the later load adds, and those of the earlier one that changed or are gone.
    fn of(before: &[PlacedPiece], after: &[PlacedPiece]) -> Self {
        let missing = |of: &[PlacedPiece], from: &[PlacedPiece]| {
            let mut left: SortedMap<String, usize> = SortedMap::new();
            for (key, _) in from {
                let count = left.or_default(key.clone());
                *count = count.saturating_add(1);
            }
            let is_missing = |(key, _): &&PlacedPiece| match left.get_mut(key.as_str()) {
                Some(count) if *count > 0 => {
                    *count = count.saturating_sub(1);
                    false
                }
                _ => true,
            };
            of.iter().filter(is_missing).map(|(_, piece)| piece.clone()).collect::<Vec<_>>()
        };
        Self { append: missing(after, before), stale: missing(before, after) }
    }

    fn between(before: &[PlacedPiece], after: &[Piece]) -> Result<Self> {
        let after = json::write(&after)?;
        let document = Document::read(&after, &[])?;
        Ok(Self::of(before, &placed_pieces(document.root())?))
    }
}

/// Compares a chain with a later one, or continues it with accesses.
fn new_since(request: Value<'_>, host: &CallContext) -> Result<Response> {
    let arguments = request.object("a chain and what follows it, an object")?;
    let chain = arguments.need("chain")?.object(CHAIN)?;
    let before = placed_pieces(chain.need("pieces")?)?;
    let next = arguments.need("next")?;
    if let Some(pieces) = next.as_object().map(|next| next.get("pieces")).transpose()?.flatten() {
        return Response::of(&Changes::of(&before, &placed_pieces(pieces)?));
    }
    let mut diagnostics = request.repaired();
    let limits = Limits::read(chain.need("request")?.object(CHAIN)?.get("limits")?, &mut diagnostics)?;
    let continued = json::write(&continued(chain, next, &limits)?)?;
    let document = Document::read(&continued, &[])?;
    let root: Value<'_> = document.root();
    let input = root.object(CHAIN)?;
    input.report_unknown(OPTIONS, &mut diagnostics);
    let known = &["files", "tokenizer"];
    let options = arguments.read("options", |options| options.object("options, an object")?.only(known))?;
    let option = |name: &str| options.map_or(Ok(None), |options| options.get(name));
    let files = option("files")?;
    let mut world = World::new(files.is_some());
    if let Some(files) = files {
        add_files(&mut world, files, &limits, &mut diagnostics)?;
    }
    let tokenizer = option("tokenizer")?.map_or_else(|| input.get("tokenizer"), |tokenizer| Ok(Some(tokenizer)))?;
    answer(LoadInput { request: root, limits, tokenizer, host, since: Some(before), diagnostics }, world, Vec::new())
}

/// The request of a chain with further accesses. A changed file is looked at again, as all are.
fn continued(chain: Object<'_>, next: Value<'_>, limits: &Limits) -> Result<serde_json::Value> {
    let read = |access: Value<'_>| {
        let is_change = read_access(access, VERBS_SINCE, limits)?.verb == CHANGED;
        Ok(if is_change { None } else { Some(access.to_json()?) })
    };
    let accesses = match next.kind() {
        Kind::List => next.list("an access, or a list of accesses")?.read(read)?,
        _ => vec![next.object("an access, or a list of accesses").and_then(|_| read(next))?],
    };
    let mut accesses: Vec<serde_json::Value> = accesses.into_iter().flatten().collect();
    let mut request = chain.need("request")?.to_json()?;
    if let Some(fields) = request.as_object_mut() {
        match fields.get_mut("access").and_then(serde_json::Value::as_array_mut) {
            Some(earlier) => earlier.append(&mut accesses),
            None => drop(fields.insert("access".to_owned(), accesses.into())),
        }
    }
    Ok(request)
}

fn explained(request: Value<'_>) -> Result<Response> {
    let arguments = request.object("a chain and a path, an object")?;
    let chain = arguments.need("chain")?.object(CHAIN)?;
    let path = paths::absolute(&arguments.text("path")?, &Limits::default())?;
    let verbs = chain.need("verbs")?.strings()?;
    let all: Vec<Explained> = chain.need("decisions")?.list("a list of decisions")?.read(|value| {
        let decision = value.object("a decision, an object")?;
        Ok(explain(&read_decision(decision)?, &path, &verbs))
    })?;
    Response::of(&all)
}

fn read_decision(of: Object<'_>) -> Result<Decision> {
    let kinds =
        &[("context", "context"), ("rule", "rule"), ("import", "import"), (SKILL, SKILL), (SKILL_BODY, SKILL_BODY)];
    let outcome = of.need("outcome")?.text()?;
    let outcome = super::explain::OUTCOMES.iter().find(|known| known.0 == outcome).ok_or_else(|| {
        let message = format!("unknown outcome `{outcome}`; pass the chain unchanged");
        Error::new(Code::UnknownValue, message).with("value", outcome.as_ref())
    })?;
    Ok(Decision {
        path: of.need("path")?.string()?,
        kind: of.need("kind")?.one_of(kinds)?,
        outcome: outcome.0,
        step: of.read("step", |step| Ok(step.whole(u32::MAX)? as usize))?,
        setting: of.need("setting")?.string()?,
        by: of.string("by")?,
        key: of.string("key")?,
        patterns: of.read("patterns", Value::strings)?.unwrap_or_default(),
        base: of.string("base")?,
        dialect: of.read("dialect", |dialect| {
            let dialect = dialect.one_of(preset::DIALECTS)?;
            Ok(preset::name_of(preset::DIALECTS, dialect))
        })?,
    })
}
