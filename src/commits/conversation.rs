//! A transcript as provider messages, and as the data of a Loom tree (SPEC §5, last line; §7).

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::commits::transcript::{Block, Image, ImageSource, Role, Transcript, Turn, arguments_object};
use crate::error::{Diagnostic, DiagnosticCode, Severity};

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

/// The texts of the system turns at the beginning, and the turns after them. A later one becomes the user's, which is a
/// finding.
fn without_system(turns: &[Turn], diagnostics: &mut Vec<Diagnostic>) -> (Option<String>, Vec<Turn>) {
    let leading = turns.iter().take_while(|turn| turn.role == Role::System).count();
    let (system, rest) = turns.split_at_checked(leading).unwrap_or((&[], turns));
    let texts: Vec<&str> = system
        .iter()
        .flat_map(|turn| &turn.blocks)
        .filter_map(|block| if let Block::Text(text) = block { Some(text.as_str()) } else { None })
        .collect();
    let later = rest.iter().filter(|turn| turn.role == Role::System).count();
    if later > 0 {
        let message = format!("{later} system messages stand within the conversation; they became the user's");
        diagnostics.push(Diagnostic::new(DiagnosticCode::NotExpressible, Severity::Warning, message));
    }
    (Some(texts.join("\n\n")).filter(|text| !text.is_empty()), rest.to_vec())
}

/// The transcript as messages.
pub fn to_messages(transcript: &Transcript, mut diagnostics: Vec<Diagnostic>) -> Messages {
    let (system, turns) = without_system(&transcript.turns, &mut diagnostics);
    let ids = ids(&turns);
    let mut said: Vec<(&str, Vec<Value>, Vec<&str>)> = Vec::new();
    let mut media = Media::default();
    for (turn, id) in turns.iter().zip(&ids) {
        let role = if turn.role == Role::Assistant { "assistant" } else { "user" };
        let parts = turn.blocks.iter().map(|block| part(block, &mut media, true));
        match said.last_mut().filter(|(known, ..)| *known == role) {
            Some((_, all, ids)) => {
                all.extend(parts);
                ids.push(id);
            }
            None => said.push((role, parts.collect(), vec![id])),
        }
    }
    let messages = said.into_iter().map(|(role, parts, ids)| {
        let texts: Option<Vec<&str>> = parts.iter().map(text_of).collect();
        let content = texts.map_or_else(|| Value::Array(parts.clone()), |texts| Value::String(texts.join("\n\n")));
        json!({ "role": role, "content": content, "nodeIds": ids })
    });
    Messages { system, messages: messages.collect(), diagnostics }
}

/// The transcript as a Loom tree.
pub fn to_loom_tree(transcript: &Transcript, mut diagnostics: Vec<Diagnostic>) -> LoomTreeData {
    let (system, turns) = without_system(&transcript.turns, &mut diagnostics);
    let ids = ids(&turns);
    let mut media = Media::default();
    let mut nodes = Vec::with_capacity(turns.len());
    let mut edges = Vec::with_capacity(turns.len());
    let mut before: Option<&str> = None;
    for (turn, id) in turns.iter().zip(&ids) {
        let mut blocks: Vec<Value> = turn.blocks.iter().map(|block| part(block, &mut media, false)).collect();
        let content = match blocks.as_slice() {
            [only] => text_of(only).map_or_else(|| only.clone(), |text| Value::String(text.to_owned())),
            _ => json!({ "type": "mixed", "blocks": std::mem::take(&mut blocks) }),
        };
        let author = if turn.role == Role::Assistant { "model" } else { "human" };
        let mut node = json!({ "id": id, "content": content, "authorType": author });
        if let Some(node) = node.as_object_mut() {
            if let Some(model) = &turn.model {
                node.insert("authorAgentId".to_owned(), Value::from(model.as_str()));
            }
            if let Some(timestamp) = &turn.timestamp {
                node.insert("createdAt".to_owned(), Value::from(timestamp.as_str()));
            }
            if turn.summary {
                let metadata = json!({ "bookmarked": true, "bookmarkLabel": "compaction" });
                node.insert("metadata".to_owned(), metadata);
            }
        }
        nodes.push(node);
        if let Some(before) = before {
            let edge = format!("{before}>{id}");
            edges.push(json!({ "id": edge, "sources": [{ "nodeId": before }], "targetNodeId": id }));
        }
        before = Some(id);
    }
    let mut tree = Map::new();
    tree.insert("mode".to_owned(), Value::from("dialogue"));
    if let Some(root) = ids.first() {
        tree.insert("rootNodeId".to_owned(), Value::from(root.as_str()));
    }
    if let Some(system) = system {
        tree.insert("systemContext".to_owned(), Value::from(system));
    }
    tree.insert("nodes".to_owned(), Value::Array(nodes));
    tree.insert("edges".to_owned(), Value::Array(edges));
    LoomTreeData { tree: Value::Object(tree), tip: before.map(str::to_owned), media: media.0, diagnostics }
}

/// An id for each turn: its own where it is the first with it, else one by its place.
fn ids(turns: &[Turn]) -> Vec<String> {
    let mut known: BTreeMap<&str, ()> = BTreeMap::new();
    let own: Vec<Option<&str>> = turns
        .iter()
        .map(|turn| turn.id.as_deref().filter(|id| !id.is_empty() && known.insert(id, ()).is_none()))
        .collect();
    let mut made = 0_u32;
    let make = |own: Option<&str>| match own {
        Some(own) => own.to_owned(),
        None => loop {
            made = made.saturating_add(1);
            let id = format!("turn-{made}");
            if !known.contains_key(id.as_str()) {
                break id;
            }
        },
    };
    own.into_iter().map(make).collect()
}

/// What the `ref`s of images stand for.
#[derive(Debug, Default)]
struct Media(Map<String, Value>);

impl Media {
    fn add(&mut self, image: &Image) -> String {
        let name = format!("image-{}", self.0.len().saturating_add(1));
        let source = match &image.source {
            ImageSource::Data(data) => json!({ "data": data }),
            ImageSource::Url(url) => json!({ "url": url }),
        };
        self.0.insert(name.clone(), source);
        name
    }
}

/// A block of a node or a part of a message; `resolved` images carry their bytes or URL.
fn part(block: &Block, media: &mut Media, resolved: bool) -> Value {
    match block {
        Block::Text(text) => json!({ "type": "text", "text": text }),
        Block::Reasoning { text, signature, .. } => {
            let mut reasoning = json!({ "type": "reasoning", "text": text });
            if let (Some(reasoning), Some(signature)) = (reasoning.as_object_mut(), signature) {
                reasoning.insert("signature".to_owned(), Value::from(signature.as_str()));
            }
            reasoning
        }
        Block::ToolCall { id, name, arguments, .. } => {
            json!({ "type": "toolCall", "id": id, "name": name, "arguments": arguments_object(arguments) })
        }
        Block::ToolResult { call_id, content, is_error, .. } => {
            let mut parts: Vec<Value> = content.iter().map(|block| part(block, media, resolved)).collect();
            let content = match parts.as_slice() {
                [] => Value::from(""),
                [only] => text_of(only).map_or_else(
                    || if resolved { Value::Array(parts.clone()) } else { only.clone() },
                    |text| Value::String(text.to_owned()),
                ),
                _ if resolved => Value::Array(std::mem::take(&mut parts)),
                _ => json!({ "type": "mixed", "blocks": std::mem::take(&mut parts) }),
            };
            let mut result = json!({ "type": "toolResult", "toolCallId": call_id, "content": content });
            if let (Some(result), true) = (result.as_object_mut(), *is_error) {
                result.insert("isError".to_owned(), Value::Bool(true));
            }
            result
        }
        Block::Image(image) => {
            let mut value = json!({ "type": "image", "ref": media.add(image), "mimeType": image.mime_type });
            if let (Some(value), true) = (value.as_object_mut(), resolved) {
                match &image.source {
                    ImageSource::Data(data) => value.insert("data".to_owned(), Value::from(data.as_str())),
                    ImageSource::Url(url) => value.insert("url".to_owned(), Value::from(url.as_str())),
                };
            }
            value
        }
    }
}

/// The text of a part that is nothing else.
fn text_of(part: &Value) -> Option<&str> {
    if part.get("type")?.as_str()? == "text" { part.get("text")?.as_str() } else { None }
}
