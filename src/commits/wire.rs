//! The calls of commits as they come over the wire: JSON text in, JSON text out (SPEC §7).
//!
//! Requests and records are snake_case, plans and results camelCase. Records are written by [`Record::to_json`], so that a
//! field that is not known stays what it is.

use serde::Serialize;
use serde_json::json;

use crate::commits::checkpoint::{CheckpointFields, Checkpointer, CheckpointerOptions, PendingCommit};
use crate::commits::graph::{CommitGraph, MetadataUpdate};
use crate::commits::json_object::JsonObject;
use crate::commits::materialize::{Materialized, Materializer};
use crate::commits::plan::{PlanRequest, PlanStep, Stop};
use crate::commits::record::{Fields, Origin, Record, trigger};
use crate::commits::translate::{CrossFamily, cross_family};
use crate::error::{Code, Diagnostic, Error, Result};
use crate::json;
use crate::limits::{LimitOverrides, Limits};
use crate::time::Timestamp;

/// The object of a request; text that is no object is an error, and none is an empty one.
fn fields(text: &str) -> Result<Fields> {
    let text = if text.is_empty() { "{}" } else { text };
    Fields::from_json(&json::repair_surrogates(text.as_bytes()).0)
}

/// The diagnostics of lone surrogates in a request.
fn surrogates(text: &str) -> Vec<Diagnostic> {
    json::repair_surrogates(text.as_bytes()).1
}

fn list(records: &[&Record]) -> String {
    let texts: Vec<String> = records.iter().map(|record| record.to_json()).collect();
    format!("[{}]", texts.join(","))
}

fn limits(fields: &mut Fields) -> Result<Limits> {
    fields.take::<LimitOverrides>("limits", "an object with the limits to change")?.unwrap_or_default().resolve()
}

/// A graph with `{ limits? }`.
///
/// # Errors
/// [`Code::InvalidInput`].
pub fn new_graph(options: &str) -> Result<CommitGraph> {
    Ok(CommitGraph::new(limits(&mut fields(options)?)?))
}

/// `checkpoint(request)`: `{ id, record, diagnostics? }`.
///
/// # Errors
/// Those of [`CommitGraph::checkpoint`] and [`Record::from_json`].
pub fn checkpoint(graph: &mut CommitGraph, request: &str) -> Result<String> {
    let repaired = json::repair_surrogates(request.as_bytes());
    let record = graph.checkpoint(Record::read(&repaired.0, Origin::Request)?)?;
    Ok(committed(record, None, &repaired.1))
}

/// `{ id, record, artifactRef?, diagnostics? }`.
fn committed(record: &Record, artifact_ref: Option<&str>, diagnostics: &[Diagnostic]) -> String {
    let mut out = JsonObject::default();
    out.text("id", Some(&record.id));
    out.raw("record", &record.to_json());
    out.text("artifactRef", artifact_ref);
    if !diagnostics.is_empty() {
        out.raw("diagnostics", &json!(diagnostics).to_string());
    }
    out.finish()
}

/// `show(id)`: the record.
///
/// # Errors
/// [`Code::CommitNotFound`].
pub fn show(graph: &CommitGraph, id: &str) -> Result<String> {
    graph.show(id).map(Record::to_json)
}

/// `history(id, { depth? })`: records.
///
/// # Errors
/// Those of [`CommitGraph::history`].
pub fn history(graph: &CommitGraph, id: &str, options: &str) -> Result<String> {
    let depth = fields(options)?.count("depth")?;
    graph.history(id, depth.map(|depth| usize::try_from(depth).unwrap_or(usize::MAX))).map(|records| list(&records))
}

/// `resolve(principal, time)`: the record, or nothing.
///
/// # Errors
/// [`Code::InvalidInput`] for a time that is not RFC 3339; those of [`CommitGraph::resolve`].
pub fn resolve(graph: &CommitGraph, principal: &str, time: &str) -> Result<Option<String>> {
    let moment = Timestamp::parse(time).ok_or_else(|| {
        let message = format!("`time` is `{time}`; it must be a date and time of RFC 3339, as `2026-03-01T09:30:00Z`");
        Error::new(Code::InvalidInput, message).with("path", "time")
    })?;
    Ok(graph.resolve(principal, moment)?.map(Record::to_json))
}

/// `updateMetadata(id, { summary?, tags? })`: the record. Null takes away.
///
/// # Errors
/// [`Code::InvalidInput`] for other fields, which never change; those of [`CommitGraph::update_metadata`].
pub fn update_metadata(graph: &mut CommitGraph, id: &str, request: &str) -> Result<String> {
    let mut fields = fields(request)?;
    let update = MetadataUpdate {
        summary: fields.given("summary").then(|| fields.text("summary")).transpose()?,
        tags: fields.given("tags").then(|| fields.texts("tags")).transpose()?,
    };
    if let Some(other) = fields.left() {
        let message = format!("`{other}` of a commit never changes; only `summary` and `tags` do");
        return Err(Error::new(Code::InvalidInput, message).with("path", other).with("commitId", id));
    }
    let record = graph.update_metadata(id, update)?.to_json();
    Ok(record)
}

/// The lists that are asked for by name: `byTicket`, `byThread`, `bySession`, `children`, with what they are asked for;
/// `tips`, `lackingSummary` and `commits` without.
///
/// # Errors
/// [`Code::CommitNotFound`] for the children of a commit that is not there; [`Code::UnknownValue`] for another list.
pub fn records(graph: &CommitGraph, which: &str, of: &str) -> Result<String> {
    let found = match which {
        "byTicket" => graph.by_ticket(of),
        "byThread" => graph.by_thread(of),
        "bySession" => graph.by_session(of),
        "children" => graph.children(of)?,
        "tips" => graph.tips(),
        "lackingSummary" => graph.lacking_summary(),
        "commits" => graph.commits(),
        other => return Err(Error::new(Code::UnknownValue, format!("there is no list `{other}`")).with("value", other)),
    };
    Ok(list(&found))
}

/// `commonAncestor(one, other)`: the record, or nothing.
///
/// # Errors
/// Those of [`CommitGraph::common_ancestor`].
pub fn common_ancestor(graph: &CommitGraph, one: &str, other: &str) -> Result<Option<String>> {
    Ok(graph.common_ancestor(one, other)?.map(Record::to_json))
}

/// `reachableArtifacts(tips)`: a list of refs.
///
/// # Errors
/// Those of [`CommitGraph::reachable_artifacts`]; [`Code::InvalidInput`].
pub fn reachable_artifacts(graph: &CommitGraph, tips: &str) -> Result<String> {
    let tips: Vec<String> = serde_json::from_str(tips)
        .map_err(|_| Error::new(Code::InvalidInput, "`tips` must be a list of ids").with("path", "tips"))?;
    Ok(json!(graph.reachable_artifacts(&tips)?).to_string())
}

/// `importJsonl(text)`: an [`ImportReport`](crate::commits::ImportReport).
///
/// # Errors
/// Those of [`CommitGraph::import_jsonl`].
pub fn import_jsonl(graph: &mut CommitGraph, text: &[u8]) -> Result<String> {
    Ok(json!(graph.import_jsonl(text)?).to_string())
}

/// What to materialise, and the `cacheKey` where it is a plan.
fn plan_request(request: &str) -> Result<(PlanRequest, Option<String>)> {
    let mut fields = fields(request)?;
    let request = PlanRequest {
        commit: fields.text("commit")?,
        stop: fields.text("stop")?.map_or(Ok(Stop::default()), |name| Stop::from_name(&name))?,
        format: fields.text("format")?,
        cross_family: cross_family(fields.text("crossFamily")?.as_deref())?,
        skip_inspection: !fields.take("inspect", "true or false")?.unwrap_or(true),
    };
    Ok((request, fields.text("cacheKey")?))
}

/// `planMaterialization({ commit?, stop?, format?, crossFamily? })`: the plan.
///
/// # Errors
/// Those of [`CommitGraph::plan`].
pub fn plan(graph: &CommitGraph, request: &str) -> Result<String> {
    let plan = graph.plan(plan_request(request)?.0)?;
    let out = PlanOut {
        commit: plan.request.commit.as_deref(),
        stop: plan.request.stop.as_str(),
        format: &plan.format,
        cross_family: (plan.request.cross_family == CrossFamily::Transcode).then_some("transcode"),
        inspect: plan.request.skip_inspection.then_some(false),
        refs: &plan.refs,
        steps: &plan.steps,
        cache_key: &plan.cache_key,
        diagnostics: &plan.diagnostics,
    };
    serde_json::to_string(&out).map_err(|error| Error::new(Code::InternalError, error.to_string()))
}

/// A plan as it is written.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PlanOut<'p> {
    #[serde(skip_serializing_if = "Option::is_none")]
    commit: Option<&'p str>,
    stop: &'p str,
    format: &'p str,
    #[serde(skip_serializing_if = "Option::is_none")]
    cross_family: Option<&'p str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    inspect: Option<bool>,
    refs: &'p [String],
    steps: &'p [PlanStep],
    cache_key: &'p str,
    diagnostics: &'p [Diagnostic],
}

/// The beginning of `materialize(plan, blobs)`. A plan from before must be what the graph would plan now.
///
/// # Errors
/// Those of [`Materializer::new`].
pub fn begin(graph: &CommitGraph, plan: &str) -> Result<Materializer> {
    let (request, cache_key) = plan_request(plan)?;
    Materializer::new(graph, request, cache_key.as_deref())
}

/// The result of a materialisation, without its bytes.
pub fn materialized(result: &Materialized) -> String {
    let Materialized { bytes: _, artifact_ref, format, tier, message_count, token_count, diagnostics } = result;
    json!({
        "artifactRef": artifact_ref,
        "format": format,
        "tier": tier,
        "messageCount": message_count,
        "tokenCount": token_count,
        "diagnostics": diagnostics,
    })
    .to_string()
}

/// `snapshot(plan, result, fields)`: a commit that holds the result of a plan: `{ id, record }`. `fields` are those of a
/// checkpoint; what they do not say is as in the commit that was materialised.
///
/// # Errors
/// [`Code::InvalidInput`] for a plan that stopped in the middle of a conversation; those of [`CommitGraph::plan`] and
/// [`CommitGraph::checkpoint`].
pub fn snapshot(graph: &mut CommitGraph, plan: &str, result: &str, request: &str) -> Result<String> {
    let (plan, _) = plan_request(plan)?;
    let mut result = fields(result)?;
    let (artifact_ref, format) = (result.text("artifactRef")?, result.text("format")?);
    let (Some(artifact_ref), Some(format)) = (artifact_ref, format) else {
        return Err(
            Error::new(Code::InvalidInput, "`result` must be the result of a materialisation").with("path", "result")
        );
    };
    let mut fields = fields(request)?;
    let created_at = fields.text("created_at")?.unwrap_or_default();
    let mut record = graph.snapshot_of(&plan, &artifact_ref, &format, &created_at)?;
    record.message_count = result.count("messageCount")?;
    record.token_count = result.count("tokenCount")?;
    for (name, place) in [
        ("template", &mut record.template),
        ("principal", &mut record.principal),
        ("machine", &mut record.machine),
        ("session_id", &mut record.session_id),
        ("ticket_id", &mut record.ticket_id),
        ("thread_id", &mut record.thread_id),
        ("summary", &mut record.summary),
    ] {
        if fields.given(name) {
            *place = fields.text(name)?;
        }
    }
    record.tags = fields.texts("tags")?;
    if let Some(name) = fields.text("checkpoint")? {
        record.checkpoint = Some(trigger(&name, "checkpoint")?);
    }
    record.other = fields.rest()?;
    Ok(committed(graph.checkpoint(record)?, None, &surrogates(request)))
}

/// A checkpointer with the options of its constructor.
///
/// # Errors
/// Those of [`Checkpointer::new`]; [`Code::InvalidInput`].
pub fn new_checkpointer(options: &str) -> Result<Checkpointer> {
    let mut fields = fields(options)?;
    let format = fields.text("format")?.ok_or_else(|| {
        Error::new(Code::InvalidInput, "the options lack `format`, the format of the messages").with("path", "format")
    })?;
    let every = fields.count("every")?.unwrap_or(1);
    let options = CheckpointerOptions {
        parent: fields.text("parent")?,
        every: u32::try_from(every).unwrap_or(u32::MAX),
        tool_calls: fields.take("tool_calls", "true or false")?.unwrap_or(false),
        template: fields.text("template")?,
        principal: fields.text("principal")?,
        machine: fields.text("machine")?,
        session_id: fields.text("session_id")?,
        ticket_id: fields.text("ticket_id")?,
        thread_id: fields.text("thread_id")?,
        ..CheckpointerOptions::new(&format)
    };
    Checkpointer::new(options, &limits(&mut fields)?)
}

fn checkpoint_fields(fields: &mut Fields) -> Result<CheckpointFields> {
    Ok(CheckpointFields {
        created_at: fields.text("created_at")?.unwrap_or_default(),
        summary: fields.text("summary")?,
        tags: fields.texts("tags")?,
    })
}

/// `checkpoint(trigger, { created_at, summary?, tags? })` of a checkpointer.
///
/// # Errors
/// Those of [`Checkpointer::checkpoint`]; [`Code::UnknownValue`] for a trigger that is none.
pub fn checkpoint_due(checkpointer: &mut Checkpointer, why: &str, request: &str) -> Result<Vec<PendingCommit>> {
    let why = trigger(why, "trigger")?;
    checkpointer.checkpoint(why, &checkpoint_fields(&mut fields(request)?)?)
}

/// `compact(summary, { created_at, covered?, summary?, tags? })` of a checkpointer.
///
/// # Errors
/// Those of [`Checkpointer::compact`].
pub fn compact(checkpointer: &mut Checkpointer, summary: &[u8], request: &str) -> Result<Vec<PendingCommit>> {
    let mut fields = fields(request)?;
    let covered = fields.count("covered")?;
    checkpointer.compact(summary, covered, &checkpoint_fields(&mut fields)?)
}

/// What a checkpointer offers, without the blob: `{ id, record, artifactRef, diagnostics? }`.
pub fn pending_commit(commit: &PendingCommit) -> String {
    committed(&commit.record, Some(&commit.record.artifact_ref), &commit.diagnostics)
}
