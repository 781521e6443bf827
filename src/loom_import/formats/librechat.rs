//! LibreChat's export: a list of messages with parent ids, or nested messages.

use serde_json::Value as Json;

use super::chat::{call, json_of, result};
use super::check_nodes;
use crate::content::Block;
use crate::content::node_data::name_calls;
use crate::error::Result;
use crate::json::{Object, Value};
use crate::loom_import::context::Context;
use crate::loom_import::entry::{Author, Entry, EntryRef, EntryTree};
use crate::loom_import::times::Unit;
use crate::loom_import::verbatim::Lenient;
use crate::vendors::blocks::{image_at, read_content};

/// The id that means no parent.
const NO_PARENT: &str = "00000000-0000-0000-0000-000000000000";

pub(super) fn read(file: Object<'_>, context: &mut Context<'_>) -> Result<EntryTree> {
    let mut tree = EntryTree::default();
    let list = file.field("messages").or_else(|| file.field("messagesTree"));
    let mut work: Vec<(Value<'_>, Option<usize>)> = Vec::new();
    push(list, None, &mut work);
    while let Some((value, above)) = work.pop() {
        let Some(message) = value.as_object() else {
            context.findings.skipped("a message that is not an object was skipped");
            continue;
        };
        check_nodes(context, tree.entries.len())?;
        let parent = match above {
            Some(above) => EntryRef::At(above),
            None => EntryRef::id(message.id_at("parentMessageId").filter(|id| id != NO_PARENT)),
        };
        tree.entries.push(entry(message, parent, context));
        push(message.field("children"), tree.entries.len().checked_sub(1), &mut work);
    }
    tree.imported = context.rest(file, &["conversationId", "title", "messages", "messagesTree"], None);
    Ok(tree)
}

fn push<'t>(list: Option<Value<'t>>, above: Option<usize>, work: &mut Vec<(Value<'t>, Option<usize>)>) {
    let start = work.len();
    work.extend(list.and_then(Value::as_list).into_iter().flatten().map(|message| (message, above)));
    work.get_mut(start..).into_iter().for_each(<[_]>::reverse);
}

const KNOWN: &[&str] =
    &["messageId", "parentMessageId", "isCreatedByUser", "text", "content", "model", "createdAt", "children"];

fn entry(message: Object<'_>, parent: EntryRef, context: &mut Context<'_>) -> Entry {
    let id = message.id_at("messageId").unwrap_or_default();
    let author = if message.is_true("isCreatedByUser") { Author::Human } else { Author::Model };
    let agent = message.text_at("model").filter(|model| author == Author::Model && !model.is_empty());
    let known: &[&str] = if agent.is_some() { KNOWN } else { KNOWN.split_at(5).0 };
    let mut known = known.to_vec();
    known.extend(["createdAt", "children"]);
    let mut imported = context.rest(message, &known, Some(&id));
    let created_at = context.created(message, "createdAt", Unit::Milliseconds, &id, &mut imported);
    let mut blocks = context.keeping(message, &["content"], &mut imported, |context| {
        let mut blocks = Vec::new();
        for part in message.items_at("content").filter_map(Value::as_object) {
            part_blocks(part, &id, &mut blocks, context);
        }
        blocks
    });
    if blocks.is_empty() {
        blocks.push(Block::text(message.text_at("text").unwrap_or_default()));
    }
    name_calls(&mut blocks, &id);
    if message.items_at("files").next().is_some() {
        context.findings.unsupported("`files` that are outside this one", Some(&id));
    }
    Entry { agent, blocks, created_at, imported, ..Entry::text(id, parent, author, "") }
}

/// A content part; a text may be a string or an object with a `value`.
fn part_blocks(part: Object<'_>, id: &str, blocks: &mut Vec<Block<'static>>, context: &mut Context<'_>) {
    let inner = |field: &str| {
        part.text_at(field)
            .or_else(|| part.object_at(field).and_then(|inner| inner.text_at("value")))
            .unwrap_or_default()
    };
    match part.text_at("type").as_deref() {
        Some("text") => blocks.push(Block::text(inner("text"))),
        Some("think") => {
            blocks.push(Block::Reasoning { text: inner("think").into(), signature: None, redacted: false });
        }
        Some("tool_call") => {
            let Some(tool) = part.object_at("tool_call") else { return };
            let own = tool.id_at("id").unwrap_or_else(|| format!("{id}.call{}", blocks.len()));
            let arguments =
                tool.field("args").map(|args| args.as_text().map_or_else(|| json_of(args).to_string(), Into::into));
            blocks.push(call(&own, &tool.text_at("name").unwrap_or_default(), &arguments.unwrap_or_default()));
            blocks.extend(tool.text_at("output").map(|output| result(&own, output, None)));
        }
        Some("image_url") => {
            let url = part.text_at("image_url").or_else(|| part.object_at("image_url")?.text_at("url"));
            blocks.extend(url.map(|url| Block::Image(Box::new(image_at(&url)))));
        }
        _ => blocks.extend(read_content(Some(&Json::Array(vec![json_of(part.value())])), None, &mut context.findings)),
    }
}
