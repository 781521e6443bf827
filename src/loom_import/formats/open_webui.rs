//! Open WebUI's export: for each chat a map of messages and the current one.
//!
//! Reasoning and calls are in `output` if present, else in the text as `<details>` elements.

use super::chat::{author_of, call, json_of, result};
use super::{check_nodes, ids, objects};
use crate::content::Block;
use crate::error::{DiagnosticCode, Result, Severity};
use crate::json::{Document, Object, Value};
use crate::loom_import::context::Context;
use crate::loom_import::entry::{Author, Entry, EntryRef, EntryTree};
use crate::loom_import::times::Unit;
use crate::loom_import::verbatim::Lenient;
use crate::text::{is_blank, replace, trim};
use crate::vendors::blocks::{image_at, read_content};
use crate::vendors::openai_responses::fields::ItemKind;

pub(super) fn read(file: Object<'_>, context: &mut Context<'_>) -> Result<EntryTree> {
    let chat = file.object_at("chat");
    let history = chat.and_then(|chat| chat.object_at("history"));
    let messages = history.and_then(|history| history.object_at("messages"));
    let messages = messages.map(|messages| objects(messages, context)).unwrap_or_default();
    check_nodes(context, messages.len())?;
    let entries = messages.into_iter().map(|(key, message)| entry(key, message, context)).collect();
    let mut imported = context.rest(file, &["id", "title", "chat"], None);
    if let Some(chat) = chat {
        // `messages` repeats the current path.
        let rest = context.rest(chat, &["title", "history", "messages"], None);
        imported.insert("chat".to_owned(), rest.into());
    }
    let tip = EntryRef::id(history.and_then(|history| history.id_at("currentId")));
    Ok(EntryTree { entries, tip, imported, ..EntryTree::default() })
}

const KNOWN: &[&str] = &["id", "parentId", "childrenIds", "role", "content", "model", "timestamp", "output", "done"];

fn entry(key: String, message: Object<'_>, context: &mut Context<'_>) -> Entry {
    let id = message.id_at("id").unwrap_or(key);
    let author = author_of(&message.text_at("role").unwrap_or_default());
    let agent = message.text_at("model").filter(|model| author == Author::Model && !model.is_empty());
    let mut known = KNOWN.to_vec();
    if agent.is_none() {
        known.retain(|field| *field != "model");
    }
    if message.is_true("done") {
        known.push("done");
    }
    let mut imported = context.rest(message, &known, Some(&id));
    let created_at = context.created(message, "timestamp", Unit::Seconds, &id, &mut imported);
    let text = message.text_at("content").unwrap_or_default();
    let mut blocks = context.keeping(message, &["output", "content"], &mut imported, |context| {
        let mut blocks = Vec::new();
        for item in message.items_at("output").filter_map(Value::as_object) {
            output(item, &id, &mut blocks, context);
        }
        match author {
            _ if !blocks.is_empty() => blocks,
            Author::Model => with_details(&text, &id, context),
            _ if text.is_empty() => {
                read_content(message.field("content").map(json_of).as_ref(), None, &mut context.findings)
            }
            _ => vec![Block::text(text)],
        }
    });
    let mut has_others = false;
    for file in message.items_at("files").filter_map(Value::as_object) {
        match file.text_at("url").filter(|_| file.text_at("type").as_deref() == Some("image")) {
            Some(url) => blocks.push(Block::Image(Box::new(image_at(&url)))),
            None => has_others = true,
        }
    }
    if has_others {
        context.findings.unsupported("`files` other than images", Some(&id));
    } else {
        imported.shift_remove("files");
    }
    let parent = EntryRef::id(message.id_at("parentId"));
    let children = ids(message, "childrenIds");
    Entry { children, agent, blocks, created_at, imported, ..Entry::text(id, parent, author, "") }
}

/// An item of the model's output.
fn output(item: Object<'_>, id: &str, blocks: &mut Vec<Block<'static>>, context: &mut Context<'_>) {
    let texts = |field: &str| -> String {
        let parts = item.items_at(field).filter_map(Value::as_object);
        parts.filter_map(|part| part.text_at("text")).collect::<Vec<_>>().join("\n")
    };
    match item.text_at("type").as_deref() {
        Some("message") => blocks.push(Block::text(texts("content"))),
        Some("reasoning") => {
            let said = [texts("summary"), texts("content")].into_iter().find(|text| !text.is_empty());
            blocks.push(Block::Reasoning { text: said.unwrap_or_default().into(), signature: None, redacted: false });
        }
        Some("function_call") => {
            let name = item.text_at("name").unwrap_or_default();
            blocks.push(call(
                &item.id_at("call_id").unwrap_or_default(),
                &name,
                &item.text_at("arguments").unwrap_or_default(),
            ));
        }
        Some(kind) if ItemKind::of(kind) == ItemKind::Output => {
            let text = item.text_at("output").unwrap_or_else(|| texts("output"));
            blocks.push(result(&item.id_at("call_id").unwrap_or_default(), text, None));
        }
        kind => {
            let kind: String = kind.unwrap_or("no").chars().take(40).collect();
            context.findings.unsupported(&format!("output of the type `{kind}`"), Some(id));
        }
    }
}

const OPEN: &str = "<details type=\"";
const CLOSE: &str = "</details>";

/// A text with reasoning and calls as `<details>` elements. An invalid element stays text.
fn with_details(text: &str, id: &str, context: &mut Context<'_>) -> Vec<Block<'static>> {
    let mut blocks = Vec::new();
    let mut rest = text;
    let mut plain = String::new();
    let mut calls = 0_u32;
    while let Some((before, element)) = rest.split_once(OPEN) {
        let found = element.split_once(CLOSE).and_then(|(inner, after)| Some((inner.split_once('>')?, after)));
        let Some(((attributes, inner), after)) = found else { break };
        let (kind, attributes) = attributes.split_once('"').unwrap_or((attributes, ""));
        let made = match kind {
            "reasoning" => vec![Block::Reasoning { text: thought(inner).into(), signature: None, redacted: false }],
            "tool_calls" => {
                calls = calls.saturating_add(1);
                call_of(attributes, &format!("{id}.call{calls}"))
            }
            _ => Vec::new(),
        };
        if made.is_empty() {
            let what = "a `<details>` element of another kind stays in the text";
            context.findings.count(DiagnosticCode::ImportUnsupportedContent, Severity::Info, what, Some(id));
            let length = rest.len().saturating_sub(after.len());
            plain.push_str(rest.get(..length).unwrap_or_default());
        } else {
            plain.push_str(before);
            push_text(&mut plain, &mut blocks);
            blocks.extend(made);
        }
        rest = after;
    }
    plain.push_str(rest);
    if blocks.is_empty() {
        return vec![Block::text(plain)];
    }
    push_text(&mut plain, &mut blocks);
    blocks
}

fn push_text(text: &mut String, blocks: &mut Vec<Block<'static>>) {
    let text = std::mem::take(text);
    if !is_blank(&text) {
        blocks.push(Block::text(trim(&text).to_owned()));
    }
}

/// The content of the element without its summary, with its lines unquoted.
fn thought(inner: &str) -> String {
    let inner = inner.split_once("</summary>").map_or(inner, |(_, after)| after);
    let text = unescaped(inner);
    let unquoted = |line: &str| -> String {
        let line = line.strip_prefix('>').unwrap_or(line);
        line.strip_prefix(' ').unwrap_or(line).to_owned()
    };
    trim(&trim(&text).lines().map(unquoted).collect::<Vec<_>>().join("\n")).to_owned()
}

/// A call and its result, from the attributes of an element: JSON texts, or JSON of such texts.
fn call_of(attributes: &str, made_id: &str) -> Vec<Block<'static>> {
    let Some(name) = attribute(attributes, "name") else { return Vec::new() };
    let id = attribute(attributes, "id").filter(|id| !id.is_empty()).unwrap_or_else(|| made_id.to_owned());
    let arguments = unwrapped(attribute(attributes, "arguments").unwrap_or_default());
    let mut blocks = vec![call(&id, &name, &arguments)];
    let answer = attribute(attributes, "result").filter(|answer| !answer.is_empty());
    blocks.extend(answer.map(|answer| result(&id, unwrapped(answer), None)));
    blocks
}

fn attribute(attributes: &str, name: &str) -> Option<String> {
    let (_, after) = attributes.split_once(&format!(" {name}=\""))?;
    after.split_once('"').map(|(value, _)| unescaped(value))
}

/// Unwraps a text that is JSON of another text.
fn unwrapped(text: String) -> String {
    match Document::read(text.as_bytes(), &[]) {
        Ok(document) => {
            let document: &Document<'_> = &document;
            document.root().as_text().map_or_else(|| text.clone(), |inner| inner.into_owned())
        }
        Err(_) => text,
    }
}

/// Replaces the entities of escaped HTML.
fn unescaped(text: &str) -> String {
    let pairs = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#x27;", "'"), ("&#39;", "'"), ("&amp;", "&")];
    pairs.iter().fold(text.to_owned(), |text, (entity, plain)| replace(&text, entity, plain))
}
