//! A transcript as provider messages, and as the data of a Loom tree (SPEC §5, last line; §7).

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::commits::transcript::{Block, Image, ImageSource, Role, Transcript, Turn, arguments_object, object_of, set};
use crate::error::{Diagnostic, DiagnosticCode, Severity};
use crate::maps::SortedSet;

/// A transcript as messages: those that an assembled dialogue has, so that they go where those go.
#[derive(Debug, Serialize)]
pub struct Messages {
    /// The system messages at its beginning, joined by a blank line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system: Option<String>,
    /// The rest. Neighbours of one role are one message.
    pub messages: Vec<Value>,
    /// What was damaged, not known or put elsewhere.
    pub diagnostics: Vec<Diagnostic>,
}

/// A transcript as a Loom tree: one node a turn, one edge between neighbours.
#[derive(Debug, Serialize)]
pub struct LoomTreeData {
    /// The tree, as `assembleDialogue` takes it.
    pub tree: Value,
    /// The newest node; nothing where the transcript is empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tip: Option<String>,
    /// What the `ref`s of its images stand for.
    pub media: Map<String, Value>,
    /// What was damaged, not known or put elsewhere.
    pub diagnostics: Vec<Diagnostic>,
}

/// Takes the system turns at the beginning out and gives their texts. A later one becomes the user's, which is a finding.
fn take_system(turns: &mut Vec<Turn>, diagnostics: &mut Vec<Diagnostic>) -> Option<String> {
    let leading = turns.iter().take_while(|turn| turn.role == Role::System).count();
    let texts: Vec<String> = turns
        .drain(..leading)
        .flat_map(|turn| turn.blocks)
        .filter_map(|block| if let Block::Text(text) = block { Some(text) } else { None })
        .collect();
    let later = turns.iter().filter(|turn| turn.role == Role::System).count();
    if later > 0 {
        let message = format!("{later} system messages stand within the conversation; they became the user's");
        diagnostics.push(Diagnostic::new(DiagnosticCode::NotExpressible, Severity::Warning, message));
    }
    Some(texts.join("\n\n")).filter(|text| !text.is_empty())
}

/// The transcript as messages. Texts and images are moved, not copied.
pub fn to_messages(transcript: Transcript, mut diagnostics: Vec<Diagnostic>) -> Messages {
    let Transcript { mut turns } = transcript;
    let system = take_system(&mut turns, &mut diagnostics);
    let ids = ids(&turns);
    let mut messages: Vec<(&str, Vec<Value>, Vec<String>)> = Vec::new();
    let mut media = Media::default();
    for (turn, id) in turns.into_iter().zip(ids) {
        let role = if turn.role == Role::Assistant { "assistant" } else { "user" };
        let parts = turn.blocks.into_iter().map(|block| part(block, &mut media));
        match messages.last_mut().filter(|(last, ..)| *last == role) {
            Some((_, all, ids)) => {
                all.extend(parts);
                ids.push(id);
            }
            None => messages.push((role, parts.collect(), vec![id])),
        }
    }
    let messages = messages.into_iter().map(|(role, parts, ids)| {
        let texts: Option<Vec<&str>> = parts.iter().map(text_of).collect();
        let content = match texts {
            Some(texts) => Value::String(texts.join("\n\n")),
            None => Value::Array(parts),
        };
        object_of([("role", Value::from(role)), ("content", content), ("nodeIds", Value::from(ids))])
    });
    Messages { system, messages: messages.collect(), diagnostics }
}

/// The transcript as a Loom tree. Texts and images are moved, not copied.
pub fn to_loom_tree(transcript: Transcript, mut diagnostics: Vec<Diagnostic>) -> LoomTreeData {
    let Transcript { mut turns } = transcript;
    let system = take_system(&mut turns, &mut diagnostics);
    let ids = ids(&turns);
    let mut media = Media { sources: Some(Map::new()), ..Media::default() };
    let mut nodes = Vec::with_capacity(turns.len());
    let mut edges = Vec::with_capacity(turns.len());
    let mut before: Option<&str> = None;
    for (turn, id) in turns.into_iter().zip(&ids) {
        let content = node_content(turn.blocks.into_iter().map(|block| part(block, &mut media)).collect());
        let author = if turn.role == Role::Assistant { "model" } else { "human" };
        let mut node = object_of([("id", id.as_str().into()), ("content", content), ("authorType", author.into())]);
        for (key, value) in [("authorAgentId", turn.model), ("createdAt", turn.timestamp)] {
            if let Some(value) = value {
                set(&mut node, key, value);
            }
        }
        if turn.summary {
            set(&mut node, "metadata", json!({ "bookmarked": true, "bookmarkLabel": "compaction" }));
        }
        nodes.push(node);
        if let Some(before) = before {
            let edge = format!("{before}>{id}");
            edges.push(json!({ "id": edge, "sources": [{ "nodeId": before }], "targetNodeId": id }));
        }
        before = Some(id);
    }
    let mut tree = object_of([("mode", "dialogue".into())]);
    if let Some(root) = ids.first() {
        set(&mut tree, "rootNodeId", root.as_str());
    }
    if let Some(system) = system {
        set(&mut tree, "systemContext", system);
    }
    set(&mut tree, "nodes", nodes);
    set(&mut tree, "edges", edges);
    let media = media.sources.unwrap_or_default();
    LoomTreeData { tree, tip: before.map(str::to_owned), media, diagnostics }
}

/// An id for each turn: its own where it is the first with it, else one by its place.
fn ids(turns: &[Turn]) -> Vec<String> {
    let mut known = SortedSet::new();
    let own: Vec<Option<&str>> =
        turns.iter().map(|turn| turn.id.as_deref().filter(|id| !id.is_empty() && known.insert(*id))).collect();
    let mut made = 0_u32;
    let make = |own: Option<&str>| match own {
        Some(own) => own.to_owned(),
        None => loop {
            made = made.saturating_add(1);
            let id = format!("turn-{made}");
            if !known.contains(id.as_str()) {
                break id;
            }
        },
    };
    own.into_iter().map(make).collect()
}

/// Names the images.
#[derive(Debug, Default)]
struct Media {
    named: u32,
    /// What the names stand for; nothing where each image carries its bytes or URL itself, as in messages.
    sources: Option<Map<String, Value>>,
}

/// A block of a node, or a part of a message.
fn part(block: Block, media: &mut Media) -> Value {
    match block {
        Block::Text(text) => object_of([("type", "text".into()), ("text", text.into())]),
        Block::Reasoning { text, signature, .. } => {
            let mut reasoning = object_of([("type", "reasoning".into()), ("text", text.into())]);
            if let Some(signature) = signature {
                set(&mut reasoning, "signature", signature);
            }
            reasoning
        }
        Block::ToolCall { id, name, arguments, .. } => object_of([
            ("type", "toolCall".into()),
            ("id", id.into()),
            ("name", name.into()),
            ("arguments", arguments_object(arguments)),
        ]),
        Block::ToolResult { call_id, content, is_error, .. } => {
            let mut parts: Vec<Value> = content.into_iter().map(|block| part(block, media)).collect();
            let content = match parts.as_mut_slice() {
                [] => Value::from(""),
                [only] if text_of(only).is_some() => text_or_part(only.take()),
                _ if media.sources.is_none() => Value::Array(parts),
                _ => node_content(parts),
            };
            let mut result =
                object_of([("type", "toolResult".into()), ("toolCallId", call_id.into()), ("content", content)]);
            if is_error {
                set(&mut result, "isError", true);
            }
            result
        }
        Block::Image(Image { mime_type, source }) => {
            media.named = media.named.saturating_add(1);
            let name = format!("image-{}", media.named);
            let mut image =
                object_of([("type", "image".into()), ("ref", name.as_str().into()), ("mimeType", mime_type.into())]);
            let (key, source) = match source {
                ImageSource::Data(data) => ("data", data),
                ImageSource::Url(url) => ("url", url),
            };
            match &mut media.sources {
                Some(sources) => drop(sources.insert(name, object_of([(key, source.into())]))),
                None => set(&mut image, key, source),
            }
            image
        }
    }
}

/// The content of a node: a text, one block, or several.
fn node_content(mut parts: Vec<Value>) -> Value {
    match parts.as_mut_slice() {
        [only] => text_or_part(only.take()),
        _ => object_of([("type", "mixed".into()), ("blocks", parts.into())]),
    }
}

/// The text of a part that is nothing else.
fn text_of(part: &Value) -> Option<&str> {
    if part.get("type")?.as_str()? == "text" { part.get("text")?.as_str() } else { None }
}

/// The text of a part that is nothing else; any other part as it is.
fn text_or_part(mut part: Value) -> Value {
    if text_of(&part).is_none() {
        return part;
    }
    part.get_mut("text").map(Value::take).unwrap_or_default()
}
