//! ChatGPT's `conversations.json`: a map of messages for each conversation.

use serde_json::Value as Json;

use super::chat::{author_of, call};
use super::{check_nodes, ids, objects};
use crate::content::{Audio, Block, Image};
use crate::error::Result;
use crate::json::{Kind, Object, Value};
use crate::loom_import::context::Context;
use crate::loom_import::entry::{Author, Entry, EntryRef, EntryTree};
use crate::loom_import::times::Unit;
use crate::loom_import::verbatim::Lenient;
use crate::maps::SortedMap;
use crate::text::is_blank;

/// A message of the map, with its parent after nodes without messages are skipped.
struct Message<'t> {
    id: String,
    message: Option<Object<'t>>,
    parent: Option<String>,
    children: Vec<String>,
}

pub(super) fn read(conversation: Object<'_>, context: &mut Context<'_>) -> Result<EntryTree> {
    let mapping = conversation.object_at("mapping").map(|map| objects(map, context)).unwrap_or_default();
    check_nodes(context, mapping.len())?;
    let mut messages = Vec::with_capacity(mapping.len());
    let mut places: SortedMap<String, usize> = SortedMap::new();
    for (key, node) in mapping {
        let id = node.id_at("id").unwrap_or(key);
        places.insert(id.clone(), messages.len());
        let (parent, children) = (node.id_at("parent"), ids(node, "children"));
        messages.push(Message { id, message: node.object_at("message"), parent, children });
    }
    bridge(&mut messages, &places);
    let mut tree = EntryTree { tip: tip(&conversation, &messages, &places), ..EntryTree::default() };
    for message in &messages {
        if let Some(said) = message.message {
            let call = answered_call(message, &messages, &places);
            tree.entries.push(entry(message, said, call, context));
        }
    }
    let known = ["id", "conversation_id", "title", "mapping", "current_node"];
    tree.imported = context.rest(conversation, &known, None);
    Ok(tree)
}

/// Links children of a node without a message to its parent, at its position.
fn bridge(messages: &mut [Message<'_>], places: &SortedMap<String, usize>) {
    // The replacement of each such node, once known.
    let mut known: Vec<Option<Option<String>>> = vec![None; messages.len()];
    for at in 0..messages.len() {
        let mut passed = Vec::new();
        let mut found = messages.get(at).and_then(|message| message.parent.clone());
        while let Some(place) = found.as_ref().and_then(|id| places.get(id.as_str()).copied()) {
            let Some(message) = messages.get(place).filter(|message| message.message.is_none()) else { break };
            if let Some(Some(bridged)) = known.get(place) {
                found = bridged.clone();
                break;
            }
            if passed.len() > messages.len() {
                found = None;
                break;
            }
            passed.push(place);
            found = message.parent.clone();
        }
        for place in passed {
            if let Some(known) = known.get_mut(place) {
                *known = Some(found.clone());
            }
        }
        if let Some(message) = messages.get_mut(at).filter(|message| message.message.is_some()) {
            message.parent = found;
        }
    }
}

fn tip(conversation: &Object<'_>, messages: &[Message<'_>], places: &SortedMap<String, usize>) -> EntryRef {
    let Some(current) = conversation.id_at("current_node") else { return EntryRef::None };
    let place = places.get(current.as_str()).copied();
    match place.and_then(|place| messages.get(place)) {
        Some(message) if message.message.is_none() => EntryRef::id(message.parent.clone()),
        _ => EntryRef::Id(current),
    }
}

/// The call that a tool's message answers: the nearest before it, with only other answers and reasoning in between.
fn answered_call<'m>(
    message: &Message<'_>,
    messages: &'m [Message<'_>],
    places: &SortedMap<String, usize>,
) -> Option<&'m str> {
    const FURTHEST: usize = 50;
    let mut parent = message.parent.as_ref();
    for _ in 0..FURTHEST {
        let before = messages.get(*places.get(parent?.as_str())?)?;
        let said = before.message?;
        match role(said).as_str() {
            "assistant" if is_call(said) => return Some(&before.id),
            "tool" | "system" | "assistant" => parent = before.parent.as_ref(),
            _ => return None,
        }
    }
    None
}

fn role(message: Object<'_>) -> String {
    message.object_at("author").and_then(|author| author.text_at("role")).unwrap_or_default()
}

/// Whether a model's message is addressed to a tool.
fn is_call(message: Object<'_>) -> bool {
    recipient(message).is_some()
}

fn recipient(message: Object<'_>) -> Option<String> {
    message.text_at("recipient").filter(|recipient| recipient != "all" && !recipient.is_empty())
}

const KNOWN: &[&str] = &["id", "author", "create_time", "content", "recipient"];

fn entry(message: &Message<'_>, said: Object<'_>, call_id: Option<&str>, context: &mut Context<'_>) -> Entry {
    let id = message.id.as_str();
    let role = role(said);
    let author = author_of(&role);
    let metadata = said.object_at("metadata");
    let agent = metadata.and_then(|metadata| metadata.text_at("model_slug")).filter(|_| author == Author::Model);
    let mut imported = context.rest(said, KNOWN, Some(id));
    let created_at = context.created(said, "create_time", Unit::Seconds, id, &mut imported);
    if let Some(who) = said.object_at("author") {
        let rest = context.rest(who, &["role"], Some(id));
        if !rest.is_empty() {
            imported.insert("author".to_owned(), Json::Object(rest));
        }
    }
    let content = said.object_at("content");
    let kind = content.and_then(|content| content.text_at("content_type")).unwrap_or_default();
    let (mut blocks, is_whole) = content.map(|content| blocks(content, &kind, id, context)).unwrap_or_default();
    if !is_whole && let Some(kept) = content.and_then(|content| context.kept("content", content.value())) {
        imported.insert("content".to_owned(), kept);
    }
    let is_hidden = metadata.is_some_and(|metadata| metadata.is_true("is_visually_hidden_from_conversation"));
    let has_no_weight = said.field("weight").and_then(Value::as_number) == Some(0.0);
    let excluded = is_hidden || has_no_weight || kind == "user_editable_context";
    match (role.as_str(), recipient(said)) {
        ("assistant", Some(tool)) => {
            let text = texts(&blocks);
            blocks.retain(|block| block.as_text().is_none());
            blocks.push(call(id, &tool, &text));
        }
        ("tool", _) => {
            if call_id.is_none() {
                context.findings.unsupported("a tool's answer without its call", Some(id));
            }
            let is_shown = |block: &Block<'_>| matches!(block, Block::Text(_) | Block::Image(_));
            blocks.retain(is_shown);
            if blocks.is_empty() {
                blocks.push(Block::text(""));
            }
            let tool_call_id = call_id.unwrap_or(id).to_owned().into();
            blocks = vec![Block::ToolResult { tool_call_id, content: blocks, is_error: None, server: false }];
        }
        _ => {}
    }
    // Empty instructions are kept as an empty node that is excluded.
    let is_silent = author == Author::System && is_blank(&texts(&blocks));
    Entry {
        author: if is_silent { Author::Human } else { author },
        agent,
        blocks,
        created_at,
        excluded: excluded || is_silent,
        imported,
        children: message.children.clone(),
        ..Entry::text(id, EntryRef::id(message.parent.clone()), author, "")
    }
}

fn texts(blocks: &[Block<'_>]) -> String {
    blocks.iter().filter_map(Block::as_text).collect::<Vec<_>>().join("\n")
}

/// The blocks of a content, and whether they are complete.
fn blocks(content: Object<'_>, kind: &str, id: &str, context: &mut Context<'_>) -> (Vec<Block<'static>>, bool) {
    let text = |field: &str| content.text_at(field).map(Block::text).into_iter().collect::<Vec<_>>();
    let reasoning = |text: String| Block::Reasoning { text: text.into(), signature: None, redacted: false };
    match kind {
        "text" | "multimodal_text" => {
            let mut is_whole = true;
            let mut blocks = Vec::new();
            for part in content.items_at("parts") {
                match part.as_text() {
                    Some(text) => blocks.push(Block::text(text.into_owned())),
                    None => is_whole &= part_block(part, id, &mut blocks, context),
                }
            }
            // Consecutive texts are joined.
            let parts = std::mem::take(&mut blocks);
            for block in parts {
                match (blocks.last_mut(), &block) {
                    (Some(Block::Text(last)), Block::Text(text)) => {
                        let last = last.to_mut();
                        if !last.is_empty() && !text.is_empty() {
                            last.push('\n');
                        }
                        last.push_str(text);
                    }
                    _ => blocks.push(block),
                }
            }
            (blocks, is_whole)
        }
        "code" => (text("text"), true),
        "execution_output" => (text("text"), true),
        "thoughts" => {
            let thoughts = content.items_at("thoughts").filter_map(Value::as_object);
            let said = |thought: Object<'_>| {
                let parts = [thought.text_at("summary"), thought.text_at("content")];
                parts.into_iter().flatten().filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n")
            };
            let all: Vec<String> = thoughts.map(said).collect();
            (vec![reasoning(all.join("\n\n"))], false)
        }
        "reasoning_recap" => (vec![reasoning(content.text_at("content").unwrap_or_default())], true),
        "user_editable_context" => {
            let parts = ["user_profile", "user_instructions"].into_iter().filter_map(|field| content.text_at(field));
            (vec![Block::text(parts.collect::<Vec<_>>().join("\n\n"))], false)
        }
        other => {
            let shown: String = other.chars().take(40).collect();
            context.findings.unsupported(&format!("content of the type `{shown}`"), Some(id));
            let said =
                ["text", "result", "content", "model_set_context"].into_iter().map(text).find(|it| !it.is_empty());
            (said.unwrap_or_default(), false)
        }
    }
}

/// A part other than text; returns whether it is expressed completely.
fn part_block(part: Value<'_>, id: &str, blocks: &mut Vec<Block<'static>>, context: &mut Context<'_>) -> bool {
    let Some(part) = part.as_object() else {
        context.findings.unsupported("a part that is neither a text nor an object", Some(id));
        return false;
    };
    let size = |field: &str| {
        let size = part.field(field).filter(|size| size.kind() == Kind::Number).and_then(Value::as_number);
        size.filter(|size| (0.0..4e9).contains(size)).map(|size| size as u32)
    };
    let audio =
        |reference: String| Audio { reference: reference.into(), mime_type: "audio/*".into(), ..Audio::default() };
    match (part.text_at("content_type").as_deref(), part.text_at("asset_pointer")) {
        (Some("image_asset_pointer"), Some(pointer)) => blocks.push(Block::Image(Box::new(Image {
            reference: Some(pointer.into()),
            mime_type: "image/*".into(),
            width: size("width"),
            height: size("height"),
            ..Image::default()
        }))),
        (Some("audio_asset_pointer"), Some(pointer)) => blocks.push(Block::Audio(Box::new(audio(pointer)))),
        (Some("audio_transcription"), _) => blocks.extend(part.text_at("text").map(Block::text)),
        (Some("real_time_user_audio_video_asset_pointer"), _) => {
            let pointer = part.object_at("audio_asset_pointer").and_then(|audio| audio.text_at("asset_pointer"));
            blocks.extend(pointer.map(|pointer| Block::Audio(Box::new(audio(pointer)))));
        }
        (kind, _) => {
            let kind: String = kind.unwrap_or("no").chars().take(40).collect();
            context.findings.unsupported(&format!("a part of the type `{kind}`"), Some(id));
            return false;
        }
    }
    // A medium in the file has more fields than its location.
    part.len() <= 2
}
