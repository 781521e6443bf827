//! Claude.ai's export: a list of messages for each conversation, in newer ones with parent ids.

use serde_json::Value as Json;

use super::chat::{in_a_row, json_of};
use super::{check_nodes, each};
use crate::content::Block;
use crate::content::node_data::name_calls;
use crate::error::Result;
use crate::json::{Object, Value};
use crate::loom_import::context::Context;
use crate::loom_import::entry::{Author, Entry, EntryRef, EntryTree};
use crate::loom_import::file::Shape;
use crate::loom_import::times::Unit;
use crate::loom_import::verbatim::Lenient;
use crate::maps::SortedSet;
use crate::vendors::blocks::read_content;

pub(super) fn read_all(shape: Shape<'_, '_>, context: &mut Context<'_>) -> Result<Vec<EntryTree>> {
    let Shape::One(file) = shape else { return Ok(Vec::new()) };
    let inner = file.as_object().and_then(|file| file.field("conversations")).unwrap_or(file);
    each(Shape::One(inner), context, ["uuid", "id", "name"], "chat_messages", read)
}

fn read(conversation: Object<'_>, context: &mut Context<'_>) -> Result<EntryTree> {
    let messages: Vec<Object<'_>> = conversation.items_at("chat_messages").filter_map(Value::as_object).collect();
    check_nodes(context, messages.len())?;
    let ids: SortedSet<String> = messages.iter().filter_map(|message| message.id_at("uuid")).collect();
    let has_parents = messages.iter().any(|message| message.field("parent_message_uuid").is_some());
    let mut entries: Vec<Entry> = messages.iter().map(|message| entry(*message, &ids, context)).collect();
    if !has_parents {
        in_a_row(&mut entries);
    }
    let tip = EntryRef::id(conversation.id_at("current_leaf_message_uuid"));
    let known = ["uuid", "name", "chat_messages", "current_leaf_message_uuid"];
    let imported = context.rest(conversation, &known, None);
    Ok(EntryTree { entries, tip, imported, ..EntryTree::default() })
}

const KNOWN: &[&str] = &["uuid", "sender", "text", "content", "created_at", "attachments", "parent_message_uuid"];

fn entry(message: Object<'_>, ids: &SortedSet<String>, context: &mut Context<'_>) -> Entry {
    let id = message.id_at("uuid").unwrap_or_default();
    let is_human = message.text_at("sender").as_deref() != Some("assistant");
    let mut imported = context.rest(message, KNOWN, Some(&id));
    let mut blocks: Vec<Block<'static>> = attachments(message, &id, &mut imported, context);
    let before = blocks.len();
    // Marks of reasoning budgets and of flagged content have no text.
    let is_silent = |block: &Json| matches!(block.get("type").and_then(Json::as_str), Some("token_budget" | "flag"));
    let silent: Vec<Json> = message.items_at("content").map(json_of).filter(is_silent).collect();
    if !silent.is_empty() {
        context.findings.not_expressed("content", Some(&id));
        imported.insert("content".to_owned(), Json::Array(silent));
    }
    let content = context.keeping(message, &["content"], &mut imported, |context| {
        let mut content = message.field("content").map(json_of);
        if let Some(Json::Array(blocks)) = &mut content {
            blocks.retain(|block| !is_silent(block));
        }
        read_content(content.as_ref(), None, &mut context.findings)
    });
    blocks.extend(content);
    let is_empty = |block: &Block<'_>| block.as_text().is_some_and(str::is_empty);
    if blocks.iter().skip(before).all(is_empty) {
        blocks.truncate(before);
        blocks.extend(message.text_at("text").filter(|text| !text.is_empty()).map(Block::text));
    }
    name_calls(&mut blocks, &id);
    if message.items_at("files").next().is_some() {
        context.findings.unsupported("`files` that are outside this one", Some(&id));
    }
    let created_at = context.created(message, "created_at", Unit::Seconds, &id, &mut imported);
    // The parent of the first message is in no file.
    let parent = message.id_at("parent_message_uuid").filter(|parent| ids.contains(parent.as_str()));
    let author = if is_human { Author::Human } else { Author::Model };
    Entry { blocks, created_at, imported, ..Entry::text(id, EntryRef::id(parent), author, "") }
}

/// The texts of attachments, which the model received before the message.
fn attachments(
    message: Object<'_>,
    id: &str,
    imported: &mut serde_json::Map<String, Json>,
    context: &mut Context<'_>,
) -> Vec<Block<'static>> {
    let mut blocks = Vec::new();
    let mut kept = Vec::new();
    for attachment in message.items_at("attachments").filter_map(Value::as_object) {
        let text = attachment.text_at("extracted_content").filter(|text| !text.is_empty());
        blocks.extend(text.map(Block::text));
        let rest = context.rest(attachment, &["extracted_content"], Some(id));
        kept.push(Json::Object(rest));
    }
    if !kept.is_empty() {
        imported.insert("attachments".to_owned(), Json::Array(kept));
    }
    blocks
}
