//! Exports of llama.cpp's web interface: a conversation and its messages as one JSON value, or as lines.

use std::borrow::Cow;

use super::chat::{author_of, call, result};
use super::{SKIPPED, check_nodes, ids};
use crate::content::node_data::name_calls;
use crate::content::{Block, Image};
use crate::error::Result;
use crate::json::{Document, Object, Value};
use crate::loom_import::context::Context;
use crate::loom_import::detect::is_llama_header;
use crate::loom_import::entry::{Author, Entry, EntryRef, EntryTree};
use crate::loom_import::file::Shape;
use crate::loom_import::times::Unit;
use crate::loom_import::verbatim::Lenient;
use crate::vendors::blocks::image_at;

pub(super) fn read_all(shape: Shape<'_, '_>, context: &mut Context<'_>) -> Result<Vec<EntryTree>> {
    let mut found: Vec<(Object<'_>, Vec<Value<'_>>)> = Vec::new();
    match shape {
        Shape::One(file) => {
            for item in file.as_list().map_or_else(|| vec![file], Iterator::collect) {
                match item.as_object().and_then(|item| Some((item.object_at("conv")?, item))) {
                    Some((conversation, item)) => found.push((conversation, item.items_at("messages").collect())),
                    None => context.findings.skipped(SKIPPED),
                }
            }
        }
        Shape::Lines(lines) => {
            for line in lines.iter().filter_map(|line| line.as_object()) {
                match (line.field("message"), found.last_mut()) {
                    (Some(message), Some((_, messages))) => messages.push(message),
                    _ if is_llama_header(line) => found.push((line, Vec::new())),
                    _ => context.findings.skipped("a line that is neither a conversation nor a message was skipped"),
                }
            }
        }
    }
    let mut trees = Vec::new();
    for (conversation, messages) in found {
        let (id, title) = (conversation.id_at("id"), conversation.text_at("name").filter(|name| !name.is_empty()));
        if context.wants(id.as_deref(), title.as_deref()) {
            let tree = tree(conversation, messages, context)?;
            trees.push(EntryTree { id, title, ..tree });
        }
    }
    Ok(trees)
}

fn tree(conversation: Object<'_>, messages: Vec<Value<'_>>, context: &mut Context<'_>) -> Result<EntryTree> {
    check_nodes(context, messages.len())?;
    let mut entries = Vec::new();
    let mut roots = Vec::new();
    for message in messages {
        let Some(message) = message.as_object() else {
            context.findings.skipped("a message that is not an object was skipped");
            continue;
        };
        // The root has no text; it only holds the first messages.
        if message.text_at("type").as_deref() == Some("root") {
            roots.extend(message.id_at("id"));
        } else {
            entries.push(entry(message, context));
        }
    }
    for entry in &mut entries {
        if matches!(&entry.parent, EntryRef::Id(parent) if roots.contains(parent)) {
            entry.parent = EntryRef::None;
        }
    }
    let imported = context.rest(conversation, &["type", "harness", "id", "name", "currNode"], None);
    let tip = EntryRef::id(conversation.id_at("currNode").filter(|tip| !roots.contains(tip)));
    Ok(EntryTree { entries, tip, imported, ..EntryTree::default() })
}

const KNOWN: &[&str] = &[
    "id",
    "convId",
    "type",
    "timestamp",
    "role",
    "content",
    "parent",
    "children",
    "thinking",
    "reasoningContent",
    "toolCalls",
    "toolCallId",
    "extra",
    "model",
];

fn entry(message: Object<'_>, context: &mut Context<'_>) -> Entry {
    let id = message.id_at("id").unwrap_or_default();
    let role = message.text_at("role").unwrap_or_default();
    let author = author_of(&role);
    let agent = message.text_at("model").filter(|model| author == Author::Model && !model.is_empty());
    let known: Vec<&str> = KNOWN.iter().copied().filter(|name| agent.is_some() || *name != "model").collect();
    let mut imported = context.rest(message, &known, Some(&id));
    let created_at = context.created(message, "timestamp", Unit::Milliseconds, &id, &mut imported);
    let mut blocks = context
        .keeping(message, &["content", "toolCalls", "extra"], &mut imported, |context| blocks(message, &id, context));
    name_calls(&mut blocks, &id);
    let parent = EntryRef::id(message.id_at("parent").filter(|parent| parent != "-1"));
    let children = ids(message, "children");
    Entry { children, agent, blocks, created_at, imported, ..Entry::text(id, parent, author, "") }
}

fn blocks(message: Object<'_>, id: &str, context: &mut Context<'_>) -> Vec<Block<'static>> {
    let text = message.text_at("content").unwrap_or_default();
    let mut attached = Vec::new();
    for extra in message.items_at("extra").filter_map(Value::as_object) {
        attachment(extra, id, &mut attached, context);
    }
    if let Some(call) = message.id_at("toolCallId") {
        let mut answer = result(&call, text, None);
        if let Block::ToolResult { content, .. } = &mut answer {
            content.append(&mut attached);
        }
        return vec![answer];
    }
    let mut blocks = Vec::new();
    let thoughts = ["reasoningContent", "thinking"].into_iter().filter_map(|name| message.text_at(name));
    if let Some(text) = thoughts.into_iter().find(|text| !text.is_empty()) {
        blocks.push(Block::Reasoning { text: text.into(), signature: None, redacted: false });
    }
    if !text.is_empty() {
        blocks.push(Block::text(text));
    }
    let calls = message.field("toolCalls");
    let is_read = match calls.and_then(Value::as_text) {
        // The JSON of a list.
        Some(json) if !json.is_empty() => Document::read(json.as_bytes(), &[]).is_ok_and(|document| {
            let document: &Document<'_> = &document;
            calls_of(document.root(), &mut blocks)
        }),
        Some(_) => true,
        None => calls.is_none_or(|calls| calls_of(calls, &mut blocks)),
    };
    if !is_read {
        context.findings.unsupported("`toolCalls` that are not a list of calls", Some(id));
    }
    blocks.append(&mut attached);
    if blocks.is_empty() {
        blocks.push(Block::text(""));
    }
    blocks
}

/// Reads a list of calls; returns whether all of it is that.
fn calls_of(calls: Value<'_>, blocks: &mut Vec<Block<'static>>) -> bool {
    let Some(calls) = calls.as_list() else { return false };
    let mut is_read = true;
    for tool in calls {
        let Some(tool) = tool.as_object() else {
            is_read = false;
            continue;
        };
        let function = tool.object_at("function").unwrap_or(tool);
        blocks.push(call(
            &tool.id_at("id").unwrap_or_default(),
            &function.text_at("name").unwrap_or_default(),
            &function.text_at("arguments").unwrap_or_default(),
        ));
    }
    is_read
}

/// An attached file: images with its name, or a text under its name, as the program sends it.
fn attachment(extra: Object<'_>, id: &str, blocks: &mut Vec<Block<'static>>, context: &mut Context<'_>) {
    const KNOWN: [&str; 7] = ["type", "name", "size", "base64Url", "images", "processedAsImages", "content"];
    let name = extra.text_at("name");
    let pages = extra.items_at("images").filter(|_| extra.is_true("processedAsImages"));
    let urls: Vec<String> = extra.field("base64Url").into_iter().chain(pages).filter_map(text_of).collect();
    if !urls.is_empty() {
        let alt_text = name.map(Cow::Owned);
        let image = |url: &String| Block::Image(Box::new(Image { alt_text: alt_text.clone(), ..image_at(url) }));
        blocks.extend(urls.iter().map(image));
    } else if let Some(text) = extra.text_at("content") {
        blocks.push(Block::text(format!("--- File: {} ---\n{text}", name.unwrap_or_default())));
    } else {
        let kind: String = extra.text_at("type").unwrap_or_default().chars().take(40).collect();
        return context.findings.unsupported(&format!("an attachment of the type `{kind}`"), Some(id));
    }
    let is_known = |key: Value<'_>| key.as_text().is_some_and(|key| KNOWN.contains(&&*key));
    if extra.entries().any(|(key, value)| !value.is_null() && !is_known(key)) {
        context.findings.unsupported("fields of an attachment", Some(id));
    }
}

fn text_of(value: Value<'_>) -> Option<String> {
    value.as_text().map(Cow::into_owned)
}
