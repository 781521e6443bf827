//! Lists of messages in the forms of vendors and clients, each a path: an array or a request body, NextChat's and
//! chatbot-ui's exports.

use super::chat::{author_of, in_a_row, json_of, message_blocks};
use super::check_nodes;
use crate::error::Result;
use crate::json::{Object, Value};
use crate::loom_import::context::Context;
use crate::loom_import::entry::{Author, Entry, EntryRef, EntryTree};
use crate::loom_import::file::Shape;
use crate::loom_import::times::Unit;
use crate::loom_import::verbatim::Lenient;
use crate::vendors::blocks::read_content;
use crate::vendors::openai_chat::blocks::{CONTENT_FIELDS, MESSAGE_FIELDS};

/// An array of messages, an object with `messages`, or one message per line.
pub(super) fn read(shape: Shape<'_, '_>, context: &mut Context<'_>) -> Result<Vec<EntryTree>> {
    let mut tree = EntryTree::default();
    let messages: Vec<Value<'_>> = match shape {
        Shape::Lines(lines) => lines.to_vec(),
        Shape::One(file) => match file.as_object() {
            Some(body) if body.field("messages").is_some() => {
                // Fields next to the messages precede them.
                if let Some(system) = body.field("system") {
                    let blocks = read_content(Some(&json_of(system)), None, &mut context.findings);
                    tree.entries.push(Entry { blocks, ..Entry::text("system", EntryRef::None, Author::System, "") });
                }
                tree.imported = context.rest(body, &["messages", "system", "title", "id"], None);
                (tree.id, tree.title) = (body.id_at("id"), body.text_at("title"));
                body.items_at("messages").collect()
            }
            Some(_) => vec![file],
            None => file.as_list().into_iter().flatten().collect(),
        },
    };
    add(messages, None, &mut tree, context)?;
    Ok(context.wants(tree.id.as_deref(), tree.title.as_deref()).then_some(tree).into_iter().collect())
}

/// NextChat's sessions: an export of its store.
pub(super) fn nextchat(shape: Shape<'_, '_>, context: &mut Context<'_>) -> Result<Vec<EntryTree>> {
    let Shape::One(file) = shape else { return Ok(Vec::new()) };
    let Some(file) = file.as_object() else { return Ok(Vec::new()) };
    let store = file.object_at("chat-next-web-store").unwrap_or(file);
    context.fields_of_file(file, &["chat-next-web-store", "sessions"]);
    lists(store, "sessions", ["id", "topic"], "", context)
}

/// chatbot-ui's history.
pub(super) fn chatbot_ui(shape: Shape<'_, '_>, context: &mut Context<'_>) -> Result<Vec<EntryTree>> {
    let Shape::One(file) = shape else { return Ok(Vec::new()) };
    let Some(file) = file.as_object() else { return Ok(Vec::new()) };
    context.fields_of_file(file, &["history"]);
    lists(file, "history", ["id", "name"], "prompt", context)
}

/// Lists of messages, each with an id and a title, and possibly with instructions.
fn lists(
    file: Object<'_>,
    field: &str,
    [id, title]: [&str; 2],
    prompt: &str,
    context: &mut Context<'_>,
) -> Result<Vec<EntryTree>> {
    let mut trees = Vec::new();
    for session in file.items_at(field).filter_map(Value::as_object) {
        let mut tree = EntryTree { id: session.id_at(id), title: session.text_at(title), ..EntryTree::default() };
        if !context.wants(tree.id.as_deref(), tree.title.as_deref()) {
            continue;
        }
        if let Some(said) = session.text_at(prompt).filter(|said| !said.is_empty()) {
            tree.entries.push(Entry::text("system", EntryRef::None, Author::System, said));
        }
        let model = session.object_at("model").and_then(|model| model.id_at("id"));
        let model = model.or_else(|| session.text_at("model"));
        tree.imported = context.rest(session, &[id, title, prompt, "messages"], None);
        add(session.items_at("messages").collect(), model.as_deref(), &mut tree, context)?;
        trees.push(tree);
    }
    Ok(trees)
}

/// The fields of a message other than its content.
const ASIDE: [&str; 6] = ["id", "model", "date", "createdAt", "created_at", "timestamp"];

/// Adds consecutive messages.
fn add(messages: Vec<Value<'_>>, model: Option<&str>, tree: &mut EntryTree, context: &mut Context<'_>) -> Result<()> {
    check_nodes(context, messages.len())?;
    // The name of the speaker is preserved, since blocks have none.
    let said = MESSAGE_FIELDS.into_iter().filter(|name| *name != "name");
    let known: Vec<&str> = said.chain(ASIDE).collect();
    for (number, message) in messages.into_iter().enumerate() {
        let Some(message) = message.as_object() else {
            context.findings.skipped("a message that is not an object was skipped");
            continue;
        };
        let id = message.id_at("id").unwrap_or_else(|| format!("m{number}"));
        let author = author_of(&message.text_at("role").unwrap_or_default());
        let agent = message.text_at("model").or_else(|| model.map(str::to_owned));
        let agent = agent.filter(|agent| author == Author::Model && !agent.is_empty());
        let mut imported = context.rest(message, &known, Some(&id));
        let time =
            ["createdAt", "created_at", "timestamp", "date"].into_iter().find(|time| message.field(time).is_some());
        let unit = if time == Some("created_at") { Unit::Seconds } else { Unit::Milliseconds };
        let created_at = time.and_then(|time| context.created(message, time, unit, &id, &mut imported));
        let blocks =
            context.keeping(message, &CONTENT_FIELDS, &mut imported, |context| message_blocks(message, &id, context));
        tree.entries.push(Entry { agent, blocks, created_at, imported, ..Entry::text(id, EntryRef::None, author, "") });
    }
    in_a_row(&mut tree.entries);
    tree.tip = EntryRef::at(tree.entries.len().checked_sub(1));
    Ok(())
}
