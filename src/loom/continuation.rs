//! A provider's answer as nodes and edges (docs/resident.md).

use serde::Serialize;
use serde_json::{Map, Value as Json};

use crate::content::Block;
use crate::content::node_data::{EdgeData, Named, NodeData, SourceData, name_calls};
use crate::error::{self, Diagnostic, DiagnosticCode, Result, Severity};
use crate::json::{Kind, Value, refuse_unknown};
use crate::prompt::bodies::Provider;
use crate::prompt::replies::{self, StopReason, Usage};
use crate::time::Timestamp;

/// A provider's answer as nodes and edges, ready for a [`LoomTree`](super::LoomTree).
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Continuation {
    /// One for each answer.
    pub nodes: Vec<NodeData>,
    /// An edge from the parent to each node; empty without a parent.
    pub edges: Vec<EdgeData>,
    /// Images and recordings by `ref`; absent if empty.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub media: Map<String, Json>,
    /// The model, as the provider names it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The token usage, if the provider states it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// Why the first answer ends, or why there is no answer; absent while it streams.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop_reason: Option<StopReason>,
    /// Why each answer ends.
    pub choices: Vec<Choice>,
    /// Content that a node cannot hold, and damage.
    pub diagnostics: Vec<Diagnostic>,
}

/// One of several answers.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Choice {
    /// The node made from it.
    pub node_id: String,
    /// Why it ends; absent while it streams.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop_reason: Option<StopReason>,
    /// The stop reason in the provider's term.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider_stop_reason: Option<String>,
}

/// The fields of a [`Continuation`] other than nodes and edges; a change ignores them.
pub(crate) const CONTINUATION_FIELDS: [&str; 6] = ["media", "model", "usage", "stopReason", "choices", "diagnostics"];

/// The ids of the nodes.
enum Ids {
    List(Vec<String>),
    Prefix(String),
}

/// Reads `continuation(response, options)`.
pub(super) fn continuation(request: Value<'_>) -> Result<Continuation> {
    let found = request.repaired();
    let request = request.object("an answer and options, an object")?;
    let options = request.need("options")?.object("options, an object")?;
    let mut unknown = Vec::new();
    options.report_unknown(&["provider", "parent", "ids", "createdAt", "authorAgentId"], &mut unknown);
    refuse_unknown(&unknown)?;
    let provider = options.need("provider")?.one_of(&Provider::NAMES)?;
    let parent = options.get_or_null("parent")?.ok_or_else(|| options.value().lacks("parent"))?;
    let parent = if parent.is_null() { None } else { Some(parent.string()?) };
    let given = options.need("ids")?;
    let ids = match given.kind() {
        Kind::String => Ids::Prefix(given.string()?),
        Kind::List => Ids::List(given.strings()?),
        _ => return Err(given.mismatch("a list of ids, or the text that each id begins with")),
    };
    let created_at = options.read("createdAt", Timestamp::text)?.map(|time| time.into_owned());
    let author = options.string("authorAgentId")?;

    let name = |at: usize| match &ids {
        Ids::Prefix(prefix) => Some([prefix, &*at.saturating_add(1).to_string()].concat()),
        Ids::List(ids) => ids.get(at).cloned(),
    };
    let read = replies::read(provider, request.need("response")?, &name)?;
    let count = read.replies.len();
    if let Ids::List(ids) = &ids
        && ids.len() < count
    {
        return Err(given.invalid(|place| {
            format!("{place} has too few ids, {} for {count} answers; pass an id for each, or a prefix", ids.len())
        }));
    }
    let mut diagnostics = read.diagnostics;
    let first = read.replies.first().map_or(read.stop_reason, |reply| reply.stop_reason);
    if read.replies.is_empty() && read.stop_reason.is_some() {
        diagnostics.push(empty_reply("the answer is empty: the provider blocked the prompt"));
    }
    let mut media = Named::for_tree();
    let mut made = Continuation {
        nodes: Vec::new(),
        edges: Vec::new(),
        media: Map::new(),
        stop_reason: first,
        choices: Vec::new(),
        usage: read.usage,
        diagnostics: Vec::new(),
        model: None,
    };
    for (at, reply) in read.replies.into_iter().enumerate() {
        let id = name(at).unwrap_or_default();
        let mut blocks = reply.blocks;
        if blocks.is_empty() {
            diagnostics.push(empty_reply("the answer is empty, and so is its node").about_node(&id));
            blocks.push(Block::text(""));
        }
        name_calls(&mut blocks, &id);
        media.restart([&id, "."].concat());
        made.edges.extend(parent.as_ref().map(|parent| EdgeData {
            id: format!("{parent}>{id}"),
            sources: vec![SourceData { node_id: parent.clone(), role: None }],
            target_node_id: id.clone(),
        }));
        made.choices.push(Choice {
            node_id: id.clone(),
            stop_reason: reply.stop_reason,
            provider_stop_reason: reply.provider_stop_reason,
        });
        made.nodes.push(NodeData {
            id,
            content: blocks.into_iter().map(|block| media.named_media(block)).collect(),
            author_type: "model",
            author_agent_id: author.clone().or_else(|| read.model.clone()),
            created_at: created_at.clone(),
            edited_from: None,
            summary: None,
            metadata: None,
        });
    }
    made.model = read.model;
    made.media = media.media.unwrap_or_default();
    error::put_before(found, &mut diagnostics);
    made.diagnostics = diagnostics;
    Ok(made)
}

fn empty_reply(message: &str) -> Diagnostic {
    Diagnostic::new(DiagnosticCode::ReplyEmpty, Severity::Warning, message)
}
