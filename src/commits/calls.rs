//! The calls of this area: requests read from JSON, results written as JSON.
//!
//! Requests and records are snake_case, plans and results camelCase. [`Record::to_json`] writes unknown fields
//! unchanged.

use std::borrow::Cow;

use crate::call::{Call, CallContext, Response};
use crate::commits::checkpoint::{CheckpointFields, Checkpointer, CheckpointerOptions, PendingCommit};
use crate::commits::conversation::{to_loom_tree, to_messages};
use crate::commits::formats::{
    BlobSource, Context, CustomFormat, Format, Join, NamedFormat, ReadOptions, context_at, detect_format, fork_base,
    join_fork_base,
};
use crate::commits::graph::{CommitGraph, MetadataUpdate};
use crate::commits::import::{ImportOptions, Resume, import_transcript};
use crate::commits::jsonl::MetadataChoice;
use crate::commits::materialize::Materializer;
use crate::commits::plan::{Plan, PlanRequest, Stop};
use crate::commits::record::{Origin, Provenance, Record, Trigger, given_text, other_fields, required_time};
use crate::commits::transcript::Transcript;
use crate::commits::translate::{CrossFamily, Delta, Materialized, TranslateOptions, translate};
use crate::commits::walk::ChainWalk;
use crate::error::{self, Code, Diagnostic, DiagnosticCode, Error, Result, Severity};
use crate::json::{self, Document, JsonWriter, Object, Value, bytes_reference, quoted, refuse_unknown};
use crate::limits::{self, Limits};
use crate::time::Timestamp;

/// The calls on session files, and on times.
pub const CALLS: &[Call] = &[
    Call::new("timeKey", &["time"], |_, request, _| {
        let time = required_time("time", &Timestamp::text(arguments(request)?.need("time")?)?)?;
        Response::of(&time.descending_key())
    }),
    Call::new("contextAt", FILE, |_, request, _| context(request)),
    Call::new("detectFormat", &["bytes"], |_, request, _| {
        Response::of(&detect_format(&bytes_of(arguments(request)?, "bytes")?).map(Format::name))
    }),
    Call::new("forkBase", &["bytes"], |_, request, _| {
        Response::of(&fork_base(&bytes_of(arguments(request)?, "bytes")?))
    }),
    Call::new("joinForkBase", &["bytes", "base"], |_, request, _| join_fork(request)),
    Call::new("importTranscript", ANY_FILE, |_, request, host| import(request, host)),
    Call::new("registerFormat", &["format"], |_, request, _| {
        custom_format(arguments(request)?.need("format")?).map(|_| record_or_null(None))
    }),
    Call::new("transcriptToLoomTree", ANY_FILE, |_, request, _| loom_tree(request)),
    Call::new("transcriptToMessages", ANY_FILE, |_, request, _| messages(request)),
    Call::new("translateTranscript", &[], |_, request, host| translation(request, host)),
];

const FILE: &[&str] = &["format", "bytes", "options"];

/// A file of any format, with those that are not built in.
const ANY_FILE: &[&str] = &["format", "bytes", "options", "formats"];

/// The methods of a graph.
pub const GRAPH_CALLS: &[Call<CommitGraph>] = &[
    Call::new("byTicket", &["ticketId"], |graph, request, _| by(request, "ticketId", |id| graph.by_ticket(id))),
    Call::new("byThread", &["threadId"], |graph, request, _| by(request, "threadId", |id| graph.by_thread(id))),
    Call::new("bySession", &["sessionId"], |graph, request, _| by(request, "sessionId", |id| graph.by_session(id))),
    Call::new("checkpoint", &[], |graph, request, _| checkpoint(graph, request)),
    Call::new("checkpointAfter", &["record", "options"], |graph, request, _| checkpoint_after(graph, request)),
    Call::new("children", &["id"], |graph, request, _| Ok(records(&graph.children(&text(request, "id")?)?))),
    Call::new("commits", &[], |graph, _, _| Ok(records(&graph.commits()))),
    Call::new("commonAncestor", &["one", "other"], |graph, request, _| common_ancestor(graph, request)),
    Call::new("exportJsonl", &["options"], |graph, request, _| export_jsonl(graph, request)),
    Call::new("history", &["id", "options"], |graph, request, _| history(graph, request)),
    Call::new("importJsonl", &["text", "options"], |graph, request, _| import_jsonl(graph, request)),
    Call::new("lackingSummary", &[], |graph, _, _| Ok(records(&graph.lacking_summary()))),
    Call::new("planMaterialization", &[], |graph, request, _| plan(request, |asked| graph.plan(asked))),
    Call::new("reachableArtifacts", &["tips"], |graph, request, _| reachable_artifacts(graph, request)),
    Call::new("resolve", &["principal", "time"], |graph, request, _| resolve(graph, request)),
    Call::new("resolveArtifact", &["artifactRef"], |graph, request, _| {
        Response::of(&graph.resolve_artifact(&text(request, "artifactRef")?)?)
    }),
    Call::new("show", &["id"], |graph, request, _| Ok(record(graph.show(&text(request, "id")?)?))),
    Call::new("snapshot", &["plan", "result", "fields"], |graph, request, _| snapshot(graph, request)),
    Call::new("tips", &[], |graph, _, _| Ok(records(&graph.tips()))),
    Call::new("updateMetadata", &["id", "fields"], |graph, request, _| update_metadata(graph, request)),
];

/// The methods of a checkpointer.
pub const CHECKPOINTER_CALLS: &[Call<Checkpointer>] = &[
    Call::new("checkpoint", &["trigger", "fields"], |this, request, _| checkpoint_due(this, request)),
    Call::new("compact", &["summary", "fields"], |this, request, _| compact(this, request)),
    Call::new("stored", &["id", "storedAs"], |this, request, _| {
        let id = text(request, "id")?;
        let stored_as = given_text(arguments(request)?, "storedAs")?;
        this.stored_as(&id, stored_as.as_deref().unwrap_or(&id)).map(|()| record_or_null(None))
    }),
];

/// The methods of a walk.
pub const WALK_CALLS: &[Call<ChainWalk>] = &[
    Call::new("planMaterialization", &[], |walk, request, _| plan(request, |asked| walk.plan(asked))),
    Call::new("push", &["records"], |walk, request, _| {
        let taken = walk.push(&bytes_of(arguments(request)?, "records")?)?;
        Ok(records(&taken.iter().collect::<Vec<_>>()))
    }),
];

/// The options of a call, which may be absent.
#[derive(Clone, Copy)]
struct Options<'t>(Option<Object<'t>>);

impl<'t> Options<'t> {
    /// Reads options, and reports unknown ones.
    fn read(options: Option<Value<'t>>, known: &[&str], diagnostics: &mut Vec<Diagnostic>) -> Result<Self> {
        let options = options.map(|options| options.object("options, an object")).transpose()?;
        if let Some(options) = options {
            options.report_unknown(known, diagnostics);
        }
        Ok(Self(options))
    }

    /// Reads options of a call without diagnostics.
    fn read_strictly(options: Option<Value<'t>>, known: &[&str]) -> Result<Self> {
        let mut diagnostics = Vec::new();
        let options = Self::read(options, known, &mut diagnostics)?;
        refuse_unknown(&diagnostics)?;
        Ok(options)
    }

    fn get(self, name: &str) -> Result<Option<Value<'t>>> {
        self.0.map_or(Ok(None), |options| options.get(name))
    }

    fn text(self, name: &str) -> Result<Option<String>> {
        self.0.map_or(Ok(None), |options| given_text(options, name))
    }

    /// A time: RFC 3339, or milliseconds since 1970.
    fn time(self, name: &str) -> Result<Option<String>> {
        let time = self.get(name)?.map(Timestamp::text).transpose()?;
        Ok(time.map(Cow::into_owned).filter(|time| !time.is_empty()))
    }

    fn flag(self, name: &str) -> Result<bool> {
        Ok(self.get(name)?.map(Value::bool).transpose()?.unwrap_or(false))
    }
}

fn arguments(request: Value<'_>) -> Result<Object<'_>> {
    request.object("the arguments, an object")
}

fn text(request: Value<'_>, name: &str) -> Result<String> {
    arguments(request)?
        .string(name)?
        .ok_or_else(|| Error::new(Code::InvalidInput, format!("`{name}` must be a string")).with("path", name))
}

fn records(records: &[&Record]) -> Response {
    Response::written(Vec::new(), |json| json.list(|json| records.iter().for_each(|record| write_record(json, record))))
}

/// Writes a record for JavaScript: unknown fields keep numbers too large for JavaScript as text.
fn write_record(json: &mut JsonWriter, record: &Record) {
    let is_plain = |value: &str| value.len() < 300 && !value.contains(['e', 'E']);
    if record.other.iter().all(|(_, value)| is_plain(value)) {
        return record.write_json(json);
    }
    let mut record = record.clone();
    for (_, value) in &mut record.other {
        if let Ok(read) = Document::read(value.as_bytes(), &[]).and_then(|document| document.root().to_json()) {
            *value = json::text(&read);
        }
    }
    record.write_json(json);
}

fn record(record: &Record) -> Response {
    record_or_null(Some(record))
}

fn record_or_null(record: Option<&Record>) -> Response {
    Response::written(Vec::new(), |json| match record {
        Some(record) => write_record(json, record),
        None => json.raw("null"),
    })
}

fn by<'g>(request: Value<'_>, name: &str, list: impl FnOnce(&str) -> Vec<&'g Record>) -> Result<Response> {
    Ok(records(&list(&text(request, name)?)))
}

/// Writes `{ id, record, artifactRef?, diagnostics?, blob? }`; `blob` is an index into the bytes of the answer.
fn write_committed(json: &mut JsonWriter, record: &Record, diagnostics: &[Diagnostic], blob: Option<usize>) {
    json.object(|json| {
        json.text_field("id", &*record.id);
        json.key("record");
        write_record(json, record);
        json.optional_text_field("artifactRef", blob.map(|_| record.artifact_ref.as_str()));
        if !diagnostics.is_empty() {
            json.value_field("diagnostics", diagnostics);
        }
        if let Some(at) = blob {
            json.value_field("blob", &bytes_reference(at));
        }
    });
}

/// Creates a graph with `{ limits? }`.
///
/// # Errors
/// [`Code::InvalidInput`].
pub fn graph(options: &[u8]) -> Result<CommitGraph> {
    let document = Document::read(options, &[])?;
    let options = Options::read_strictly(not_null(document.root()), &["limits"])?;
    limits_of(options).map(CommitGraph::new)
}

fn not_null(value: Value<'_>) -> Option<Value<'_>> {
    Some(value).filter(|value| !value.is_null())
}

/// Reads `{ name, join, like? }`.
fn custom_format(format: Value<'_>) -> Result<CustomFormat> {
    let fields = format.object("a format, an object with `name` and `join`")?.only(&["name", "join", "like"])?;
    let at = |field: &str, error: Error| error.with("path", format!("{}.{field}", format.path()));
    let name = fields.text("name")?;
    let join = fields.one_of("join", Join::NAMES)?.ok_or_else(|| {
        let names: Vec<&str> = Join::NAMES.iter().map(|(name, _)| *name).collect();
        let message = format!("missing field `join`; use one of {}", quoted(&names));
        at("join", Error::new(Code::InvalidInput, message))
    })?;
    let like = given_text(fields, "like")?.map(|like| Format::named(&like)).transpose();
    CustomFormat::new(&name, join, like.map_err(|error| at("like", error))?).map_err(|error| {
        let field = error.details()["path"].as_str().unwrap_or_default().to_owned();
        at(&field, error)
    })
}

/// The formats of a request that are not built in.
fn custom_formats(formats: Option<Value<'_>>) -> Result<Vec<CustomFormat>> {
    let Some(formats) = formats else { return Ok(Vec::new()) };
    formats.list("a list of formats")?.map(custom_format).collect()
}

fn limits_of(options: Options<'_>) -> Result<Limits> {
    let mut diagnostics = Vec::new();
    let limits = Limits::read(options.get("limits")?, &mut diagnostics)?;
    refuse_unknown(&diagnostics)?;
    Ok(limits)
}

fn checkpoint(graph: &mut CommitGraph, request: Value<'_>) -> Result<Response> {
    add(graph, Record::read(request, Origin::Request)?, false, request.repaired())
}

/// A checkpoint with options.
fn checkpoint_after(graph: &mut CommitGraph, request: Value<'_>) -> Result<Response> {
    let arguments = arguments(request)?;
    let options = Options::read_strictly(arguments.get("options")?, &["parentStored"])?;
    let record = Record::read(arguments.need("record")?, Origin::Request)?;
    add(graph, record, options.flag("parentStored")?, request.repaired())
}

/// Adds a commit. An existing one keeps its summary and tags; a difference is reported.
fn add(
    graph: &mut CommitGraph,
    record: Record,
    parent_stored: bool,
    mut diagnostics: Vec<Diagnostic>,
) -> Result<Response> {
    let (summary, tags) = (record.summary.clone(), record.tags.clone());
    let record = graph.checkpoint_after(record, parent_stored)?;
    if summary.is_some() && summary != record.summary || !tags.is_empty() && tags != record.tags {
        let message = format!(
            "commit `{}` exists with another summary or other tags, which were kept; use `updateMetadata` to change them",
            record.id
        );
        diagnostics.push(Diagnostic::new(DiagnosticCode::MetadataConflict, Severity::Warning, message));
    }
    Ok(Response::written(Vec::new(), |json| write_committed(json, record, &diagnostics, None)))
}

fn history(graph: &CommitGraph, request: Value<'_>) -> Result<Response> {
    let options = Options::read_strictly(arguments(request)?.get("options")?, &["depth"])?;
    let depth = options.get("depth")?.map(Value::safe_integer).transpose()?;
    // 0 is no limit.
    let depth = depth.filter(|&depth| depth > 0).map(|depth| usize::try_from(depth).unwrap_or(usize::MAX));
    Ok(records(&graph.history(&text(request, "id")?, depth)?))
}

fn resolve(graph: &CommitGraph, request: Value<'_>) -> Result<Response> {
    let time = required_time("time", &Timestamp::text(arguments(request)?.need("time")?)?)?;
    Ok(record_or_null(graph.resolve(&text(request, "principal")?, time)?))
}

fn common_ancestor(graph: &CommitGraph, request: Value<'_>) -> Result<Response> {
    Ok(record_or_null(graph.common_ancestor(&text(request, "one")?, &text(request, "other")?)?))
}

fn reachable_artifacts(graph: &CommitGraph, request: Value<'_>) -> Result<Response> {
    let tips = arguments(request)?.need("tips")?;
    let tips = tips.list("a list of ids")?.map(Value::string).collect::<Result<Vec<_>>>()?;
    Response::of(&graph.reachable_artifacts(&tips)?)
}

fn import_jsonl(graph: &mut CommitGraph, request: Value<'_>) -> Result<Response> {
    let mut diagnostics = request.repaired();
    let arguments = arguments(request)?;
    let options = Options::read(arguments.get("options")?, &["metadata"], &mut diagnostics)?;
    let metadata = options.get("metadata")?.map(|choice| choice.one_of(MetadataChoice::NAMES)).transpose()?;
    let text = bytes_of(arguments, "text")?;
    let mut report = graph.import_jsonl_with(&text, metadata.unwrap_or_default())?;
    error::put_before(diagnostics, &mut report.diagnostics);
    Response::of(&report)
}

fn export_jsonl(graph: &CommitGraph, request: Value<'_>) -> Result<Response> {
    let options = Options::read_strictly(arguments(request)?.get("options")?, &["digest"])?;
    let bytes = if options.flag("digest")? { graph.export_with_digest() } else { graph.export_jsonl() };
    Ok(Response { json: Vec::new(), bytes: vec![bytes], small: None })
}

/// Bytes, or the UTF-8 of a string.
fn bytes_of<'t>(object: Object<'t>, name: &str) -> Result<Cow<'t, [u8]>> {
    let value = object.need(name)?;
    if let Some(text) = value.as_text() {
        return Ok(text.into_owned().into_bytes().into());
    }
    value.bytes().ok_or_else(|| value.mismatch("bytes or a string"))
}

/// Null removes summary or tags. Other fields are immutable.
fn update_metadata(graph: &mut CommitGraph, request: Value<'_>) -> Result<Response> {
    let id = text(request, "id")?;
    let fields = arguments(request)?.need("fields")?.object("the fields to change, an object")?;
    for (name, _) in fields.entries() {
        let name = name.string()?;
        if !matches!(name.as_str(), "summary" | "tags") {
            let message = format!("`{name}` of a commit is immutable; only `summary` and `tags` can change");
            return Err(Error::new(Code::InvalidInput, message).with("path", name).with("commitId", id));
        }
    }
    let given = |name| fields.get_or_null(name).map(|value| value.is_some());
    let update = MetadataUpdate {
        summary: if given("summary")? { Some(given_text(fields, "summary")?) } else { None },
        tags: if given("tags")? { Some(fields.read("tags", Value::strings)?.unwrap_or_default()) } else { None },
    };
    Ok(record(graph.update_metadata(&id, update)?))
}

/// A request to materialize, and the `cacheKey` of a plan.
fn plan_request(request: Value<'_>, diagnostics: &mut Vec<Diagnostic>) -> Result<(PlanRequest, Option<String>)> {
    const KNOWN: &[&str] =
        &["commit", "stop", "format", "crossFamily", "inspect", "formats", "refs", "steps", "cacheKey", "diagnostics"];
    let fields = request.object("an object: a plan or a request")?;
    fields.report_unknown(KNOWN, diagnostics);
    let request = PlanRequest {
        commit: given_text(fields, "commit")?,
        stop: given_text(fields, "stop")?.map_or(Ok(Stop::default()), |name| Stop::from_name(&name))?,
        format: given_text(fields, "format")?,
        cross_family: fields.one_of("crossFamily", CrossFamily::NAMES)?.unwrap_or_default(),
        skip_inspection: !fields.bool("inspect")?.unwrap_or(true),
        formats: custom_formats(fields.get("formats")?)?,
    };
    Ok((request, given_text(fields, "cacheKey")?))
}

fn plan(request: Value<'_>, planned: impl FnOnce(PlanRequest) -> Result<Plan>) -> Result<Response> {
    let mut diagnostics = request.repaired();
    let mut plan = planned(plan_request(request, &mut diagnostics)?.0)?;
    error::put_before(diagnostics, &mut plan.diagnostics);
    Ok(Response::written(Vec::new(), |json| {
        json.object(|json| {
            json.optional_text_field("commit", plan.request.commit.as_deref());
            json.text_field("stop", plan.request.stop.as_str());
            json.text_field("format", &*plan.format);
            if plan.request.cross_family == CrossFamily::Transcode {
                json.text_field("crossFamily", "transcode");
            }
            if plan.request.skip_inspection {
                json.raw_field("inspect", "false");
            }
            json.value_field("refs", &plan.refs);
            json.value_field("steps", &plan.steps);
            json.text_field("cacheKey", &*plan.cache_key);
            json.value_field("diagnostics", &plan.diagnostics);
        });
    }))
}

/// Begins the materialization of a plan or a request. A plan must match the current graph.
///
/// # Errors
/// The errors of [`Materializer::new`]; [`Code::InvalidInput`].
pub fn begin(graph: &CommitGraph, request: &[u8]) -> Result<Materializer> {
    materializer(request, |request, cache_key| Materializer::new(graph, request, cache_key))
}

/// Begins the materialization of a plan or a request from a finished walk.
///
/// # Errors
/// Those of [`ChainWalk::begin`]; [`Code::InvalidInput`].
pub fn begin_walked(walk: &ChainWalk, request: &[u8]) -> Result<Materializer> {
    materializer(request, |request, cache_key| walk.begin(request, cache_key))
}

fn materializer(
    request: &[u8],
    begin: impl FnOnce(PlanRequest, Option<&str>) -> Result<Materializer>,
) -> Result<Materializer> {
    let document = Document::read(request, &[])?;
    let request: Value<'_> = document.root();
    let mut diagnostics = request.repaired();
    let (request, cache_key) = plan_request(request, &mut diagnostics)?;
    begin(request, cache_key.as_deref()).map(|work| work.with_diagnostics(diagnostics))
}

/// Creates a walk with `{ commit, stop?, passing?, limits? }`.
///
/// # Errors
/// [`Code::InvalidInput`], [`Code::UnknownValue`].
pub fn walk(options: &[u8]) -> Result<ChainWalk> {
    let document = Document::read(options, &[])?;
    let options = Options::read_strictly(not_null(document.root()), &["commit", "stop", "passing", "limits"])?;
    let request = PlanRequest {
        commit: options.text("commit")?,
        stop: options.text("stop")?.map_or(Ok(Stop::default()), |name| Stop::from_name(&name))?,
        ..PlanRequest::default()
    };
    let walk = ChainWalk::new(request, limits_of(options)?);
    Ok(if options.flag("passing")? { walk.passing() } else { walk })
}

/// The result of a materialization; its bytes come first, unless the caller has them.
pub fn materialized(result: Materialized) -> Response {
    let has_bytes = !result.bytes.is_empty();
    conversation(result, has_bytes)
}

fn conversation(result: Materialized, with_bytes: bool) -> Response {
    let Materialized { bytes, artifact_ref, format, tier, commit_count, message_count, token_count, diagnostics } =
        result;
    Response::written(if with_bytes { vec![bytes] } else { Vec::new() }, |json| {
        json.object(|json| {
            if with_bytes {
                json.value_field("bytes", &bytes_reference(0));
            }
            json.text_field("artifactRef", &*artifact_ref);
            json.text_field("format", &*format);
            json.value_field("tier", &tier);
            json.value_field("commitCount", &commit_count);
            json.value_field("messageCount", &message_count);
            json.value_field("tokenCount", &token_count);
            json.value_field("diagnostics", &diagnostics);
        });
    })
}

/// A commit that holds the result of a plan. `fields` are those of a checkpoint; defaults come from the commit of the plan.
fn snapshot(graph: &mut CommitGraph, request: Value<'_>) -> Result<Response> {
    let mut diagnostics = request.repaired();
    let arguments = arguments(request)?;
    let (plan, _) = plan_request(arguments.need("plan")?, &mut diagnostics)?;
    let result = arguments.need("result")?.object("the result of a materialization, an object")?;
    let fields = arguments.need("fields")?.object("the fields of the record, an object")?;
    let mut record = graph.snapshot_of(
        &plan,
        &result.text("artifactRef")?,
        &result.text("format")?,
        &Options(Some(fields)).time("created_at")?.unwrap_or_default(),
    )?;
    record.message_count = result.read("messageCount", Value::safe_integer)?;
    record.token_count = result.read("tokenCount", Value::safe_integer)?;
    let provenance = Provenance::FIELDS.into_iter().zip(record.provenance.fields());
    for (name, place) in provenance.chain([("summary", &mut record.summary)]) {
        if fields.get_or_null(name)?.is_some() {
            *place = given_text(fields, name)?;
        }
    }
    record.tags = fields.read("tags", Value::strings)?.unwrap_or_default();
    if let Some(trigger) = fields.read("checkpoint", Trigger::read)? {
        record.checkpoint = Some(trigger);
    }
    let known = [Provenance::FIELDS.as_slice(), &["created_at", "summary", "tags", "checkpoint"]].concat();
    record.other = other_fields(fields, &known)?;
    add(graph, record, false, diagnostics)
}

/// Creates a checkpointer with the options of its constructor.
///
/// # Errors
/// The errors of [`Checkpointer::new`]; [`Code::InvalidInput`].
pub fn checkpointer(options: &[u8]) -> Result<Checkpointer> {
    let known =
        [&["format", "formats", "parent", "every", "tool_calls"], Provenance::FIELDS.as_slice(), &["limits"]].concat();
    let document = Document::read(options, &[])?;
    let options = Options::read_strictly(not_null(document.root()), &known)?;
    let format = options.text("format")?.ok_or_else(|| {
        Error::new(Code::InvalidInput, "the options lack `format`, the format of the messages").with("path", "format")
    })?;
    let every = options.get("every")?.map(Value::safe_integer).transpose()?.unwrap_or(1);
    let made = CheckpointerOptions {
        parent: options.text("parent")?,
        every: u32::try_from(every).unwrap_or(u32::MAX),
        tool_calls: options.flag("tool_calls")?,
        provenance: Provenance::read(Provenance::FIELDS, &|name| options.text(name))?,
        formats: custom_formats(options.get("formats")?)?,
        ..CheckpointerOptions::new(&format)
    };
    Checkpointer::new(made, &limits_of(options)?)
}

fn checkpoint_fields(options: Options<'_>) -> Result<CheckpointFields> {
    Ok(CheckpointFields {
        created_at: options.time("created_at")?.unwrap_or_default(),
        summary: options.text("summary")?,
        tags: options.get("tags")?.map(Value::strings).transpose()?.unwrap_or_default(),
    })
}

fn checkpoint_due(checkpointer: &mut Checkpointer, request: Value<'_>) -> Result<Response> {
    let arguments = arguments(request)?;
    let trigger = Trigger::read(arguments.need("trigger")?)?;
    let fields = Options::read_strictly(arguments.get("fields")?, &["created_at", "summary", "tags"])?;
    Ok(pending(checkpointer.checkpoint(trigger, &checkpoint_fields(fields)?)?, &request.repaired()))
}

fn compact(checkpointer: &mut Checkpointer, request: Value<'_>) -> Result<Response> {
    let arguments = arguments(request)?;
    let fields = Options::read_strictly(arguments.get("fields")?, &["created_at", "covered", "summary", "tags"])?;
    let covered = fields.get("covered")?.map(Value::safe_integer).transpose()?;
    let summary = bytes_of(arguments, "summary")?;
    Ok(pending(checkpointer.compact(&summary, covered, &checkpoint_fields(fields)?)?, &request.repaired()))
}

/// The commits for the host to store, with their blobs.
fn pending(commits: Vec<PendingCommit>, repaired: &[Diagnostic]) -> Response {
    let mut json = JsonWriter::default();
    json.list(|json| {
        for (at, commit) in commits.iter().enumerate() {
            write_committed(json, &commit.record, &[repaired, &commit.diagnostics].concat(), Some(at));
        }
    });
    Response { json: json.finish(), bytes: commits.into_iter().map(|commit| commit.blob).collect(), small: None }
}

/// The place of each record's blob, as JSON: two numbers, its start and end in the given bytes; or copied bytes; or
/// null if an earlier record has that blob.
fn blob_places(
    records: &[Record],
    blobs: Vec<(String, Cow<'_, [u8]>)>,
    given: Option<&[u8]>,
) -> (Vec<u8>, Vec<Vec<u8>>) {
    let (mut places, mut copied) = (JsonWriter::default(), Vec::new());
    // Blobs are in the order of the records that name them first.
    let mut blobs = blobs.iter();
    places.list(|places| {
        for record in records {
            let next = blobs.as_slice().first().filter(|(name, _)| *name == record.artifact_ref);
            let Some((_, blob)) = next else {
                places.raw("null");
                continue;
            };
            blobs.next();
            if let (Cow::Borrowed(blob), Some(given)) = (blob, given) {
                let start = blob.as_ptr().addr().saturating_sub(given.as_ptr().addr());
                places.value(&start);
                places.value(&start.saturating_add(blob.len()));
            } else {
                places.value(&bytes_reference(copied.len()));
                copied.push(blob.to_vec());
            }
        }
    });
    (places.finish(), copied)
}

/// Approximate bytes of a record's JSON with the place of its blob.
const RECORD_JSON_BYTES: usize = 400;

fn import(request: Value<'_>, host: &CallContext) -> Result<Response> {
    const OTHERS: &[&str] =
        &["parent", "createdAt", "everyTurns", "resume", "growing", "wholeFile", "tokenizer", "limits"];
    let mut diagnostics = request.repaired();
    let arguments = arguments(request)?;
    let known = [Provenance::OPTIONS.as_slice(), OTHERS].concat();
    let options = Options::read(arguments.get("options")?, &known, &mut diagnostics)?;
    let (parent, created_at) = (options.text("parent")?, options.time("createdAt")?);
    let counter = host.counter(options.get("tokenizer")?)?;
    let limits = Limits::read(options.get("limits")?, &mut diagnostics)?;
    let resume = options.get("resume")?.map(Resume::read).transpose()?;
    let formats = custom_formats(arguments.get("formats")?)?;
    let name = text(request, "format")?;
    let (named, format) = readable_format(&name, &formats)?;
    if !named.is_split_like_reader() {
        let message = format!("files of `{name}` cannot be split into deltas; commit the file as a snapshot");
        return Err(Error::new(Code::InvalidInput, message).with("path", "format"));
    }
    let options = ImportOptions {
        format_name: Some(&name),
        provenance: Provenance::read(Provenance::OPTIONS, &|name| options.text(name))?,
        parent: parent.as_deref(),
        created_at: created_at.as_deref(),
        every: options.get("everyTurns")?.map_or(Ok(1), |every| every.whole(u32::MAX))?,
        resume: resume.as_ref(),
        growing: options.flag("growing")?,
        whole_file: options.flag("wholeFile")?,
        counter: counter.as_ref(),
        limits: &limits,
    };
    let bytes = bytes_of(arguments, "bytes")?;
    let mut import = import_transcript(format, &bytes, &options)?;
    error::put_before(diagnostics, &mut import.diagnostics);
    // The caller has the bytes it passed with the request: a blob of these is a range.
    let given = if matches!(bytes, Cow::Borrowed(_)) { Some(&*bytes) } else { None };
    let (places, copied) = blob_places(&import.records, std::mem::take(&mut import.blobs), given);
    let mut json = JsonWriter::with_capacity(import.records.len().saturating_mul(RECORD_JSON_BYTES));
    json.object(|json| {
        json.optional_text_field("tip", import.tip.as_deref());
        json.list_field("records", |json| import.records.iter().for_each(|record| write_record(json, record)));
        json.key("blobs");
        json.copy(&places);
        json.value_field("branches", &import.branches);
        if !import.titles.is_empty() {
            json.value_field("titles", &import.titles);
        }
        if let Some(resume) = &import.resume {
            json.key("resume");
            resume.write_json(json);
        }
        json.value_field("diagnostics", &import.diagnostics);
    });
    Ok(Response { json: json.finish(), bytes: copied, small: None })
}

fn join_fork(request: Value<'_>) -> Result<Response> {
    let arguments = arguments(request)?;
    let (fork, base) = (bytes_of(arguments, "bytes")?, bytes_of(arguments, "base")?);
    limits::check("inputBytes", fork.len().saturating_add(base.len()), Limits::default().input_bytes)?;
    let mut joined = join_fork_base(&fork, &base)?;
    error::put_before(request.repaired(), &mut joined.diagnostics);
    Ok(Response::written(vec![joined.bytes], |json| {
        json.object(|json| {
            json.value_field("bytes", &bytes_reference(0));
            json.value_field("diagnostics", &joined.diagnostics);
        });
    }))
}

/// A format that can be read, and the format whose reader applies.
fn readable_format<'f>(name: &str, formats: &'f [CustomFormat]) -> Result<(NamedFormat<'f>, Format)> {
    match NamedFormat::find(name, formats) {
        None => Format::named(name).map(|format| (NamedFormat::BuiltIn(format), format)),
        Some(named) => {
            let reader = named.reader().ok_or_else(|| {
                let message =
                    format!("`{name}` was registered without `like`, so it cannot be read; register a reader");
                Error::new(Code::InvalidInput, message).with("path", "format")
            })?;
            Ok((named, reader))
        }
    }
}

fn transcript(request: Value<'_>) -> Result<(Transcript, Vec<Diagnostic>)> {
    let mut diagnostics = request.repaired();
    let arguments = arguments(request)?;
    let options = Options::read(arguments.get("options")?, &["throughCompactions", "limits"], &mut diagnostics)?;
    let limits = Limits::read(options.get("limits")?, &mut diagnostics)?;
    let bytes = bytes_of(arguments, "bytes")?;
    limits::check("inputBytes", bytes.len(), limits.input_bytes)?;
    let read = ReadOptions { through_compactions: options.flag("throughCompactions")?, source: BlobSource::default() };
    let formats = custom_formats(arguments.get("formats")?)?;
    let (named, format) = readable_format(&text(request, "format")?, &formats)?;
    let bytes = named.readable(&bytes, BlobSource::default())?;
    let (mut transcript, read) = format.read(&bytes, read, &limits)?;
    diagnostics.extend(read);
    if let Some(vendor) = format.vendor() {
        transcript.name_vendor(vendor);
    }
    Ok((transcript, diagnostics))
}

fn messages(request: Value<'_>) -> Result<Response> {
    transcript(request).and_then(|(transcript, found)| Response::of(&to_messages(transcript, found)))
}

/// The messages that the model saw before an answer.
fn context(request: Value<'_>) -> Result<Response> {
    let mut diagnostics = request.repaired();
    let arguments = arguments(request)?;
    let options = Options::read(arguments.get("options")?, &["turn", "limits"], &mut diagnostics)?;
    let limits = Limits::read(options.get("limits")?, &mut diagnostics)?;
    let bytes = bytes_of(arguments, "bytes")?;
    limits::check("inputBytes", bytes.len(), limits.input_bytes)?;
    let turn = options.get("turn")?.map(Value::safe_integer).transpose()?;
    let turn = turn.map(|turn| usize::try_from(turn).unwrap_or(usize::MAX));
    let format = Format::named(&text(request, "format")?)?;
    format.refuse_compressed(&bytes, BlobSource::default())?;
    let Context { turns, turn, answers, is_request, diagnostics: found } = context_at(format, &bytes, turn)?;
    diagnostics.extend(found);
    let mut transcript = Transcript::from(turns);
    if let Some(vendor) = format.vendor() {
        transcript.name_vendor(vendor);
    }
    let made = to_messages(transcript, diagnostics);
    Ok(Response::written(Vec::new(), |json| {
        json.object(|json| {
            json.value_field("turn", &turn);
            json.value_field("answers", &answers);
            json.value_field("recorded", &is_request);
            json.optional_text_field("system", made.system.as_deref());
            json.value_field("messages", &made.messages);
            json.value_field("diagnostics", &made.diagnostics);
        });
    }))
}

fn loom_tree(request: Value<'_>) -> Result<Response> {
    transcript(request).and_then(|(transcript, found)| Response::of(&to_loom_tree(transcript, found)))
}

/// The texts of a part, which its [`Delta`] borrows: format, commit, artifact ref, summary, time.
type PartTexts = [Option<String>; 5];

fn part<'t>(part: Value<'t>, diagnostics: &mut Vec<Diagnostic>) -> Result<(PartTexts, Cow<'t, [u8]>)> {
    let part = part.object("a part, an object with `format` and `bytes`")?;
    part.report_unknown(&["format", "bytes", "commit", "artifactRef", "summary", "createdAt"], diagnostics);
    let format = part.text("format")?.into_owned();
    let blob = bytes_of(part, "bytes")?;
    let given = |name| given_text(part, name);
    let created_at = part.get_or_null("createdAt")?.map(Timestamp::text).transpose()?.map(Cow::into_owned);
    Ok(([Some(format), given("commit")?, given("artifactRef")?, given("summary")?, created_at], blob))
}

fn delta<'p>(([format, commit, artifact_ref, summary, time], blob): &'p (PartTexts, Cow<'_, [u8]>)) -> Delta<'p> {
    let text = |text: &'p Option<String>| text.as_deref().unwrap_or_default();
    let source = BlobSource { commit: text(commit), artifact_ref: text(artifact_ref) };
    Delta { format: text(format), blob, source, summary: summary.as_deref(), time: time.as_deref() }
}

fn translation(request: Value<'_>, host: &CallContext) -> Result<Response> {
    const KNOWN: &[&str] = &["parts", "format", "crossFamily", "throughCompactions", "tokenizer", "limits", "formats"];
    let mut diagnostics = request.repaired();
    let fields = request.object("an object with `parts` and `format`")?;
    fields.report_unknown(KNOWN, &mut diagnostics);
    let counter = host.counter(fields.get("tokenizer")?)?;
    let limits = Limits::read(fields.get("limits")?, &mut diagnostics)?;
    let parts = fields
        .need("parts")?
        .list("a list of parts")?
        .map(|value| part(value, &mut diagnostics))
        .collect::<Result<Vec<_>>>()?;
    limits::check("inputBytes", parts.iter().map(|(_, blob)| blob.len()).sum(), limits.input_bytes)?;
    let format = fields.text("format")?;
    let formats = custom_formats(fields.get("formats")?)?;
    let options = TranslateOptions {
        cross_family: fields.one_of("crossFamily", CrossFamily::NAMES)?.unwrap_or_default(),
        through_compactions: fields.bool("throughCompactions")?.unwrap_or(false),
        limits: &limits,
        counter: counter.as_ref(),
        formats: &formats,
    };
    let deltas: Vec<Delta<'_>> = parts.iter().map(delta).collect();
    let mut done = translate(&deltas, &format, &options)?;
    error::put_before(diagnostics, &mut done.diagnostics);
    Ok(conversation(done, true))
}
