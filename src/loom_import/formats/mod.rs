//! The formats, all read into lists of entries.

mod athanor;
mod chat;
mod chatgpt;
mod claude;
mod coloom;
mod exoloom;
mod koboldai;
mod librechat;
mod llama_cpp;
mod loomsidian;
mod messages;
mod miniloom;
mod open_webui;
mod patch;
mod pyloom;
mod sillytavern;

use serde_json::{Map, Value as Json};

use super::context::Context;
use super::conventions::OWN_FIELD;
use super::detect;
use super::entry::{Entry, EntryTree};
use super::file::Shape;
use super::format::FileFormat;
use super::verbatim::Lenient;
use crate::error::{DiagnosticCode, Result, Severity};
use crate::json::{Object, Value};
use crate::limits;

/// Reads a file with the shape of its format.
pub(super) fn read(format: FileFormat, shape: Shape<'_, '_>, context: &mut Context<'_>) -> Result<Vec<EntryTree>> {
    match format {
        FileFormat::Athanor => one(shape, context, athanor::read),
        FileFormat::ChatbotUi => messages::chatbot_ui(shape, context),
        FileFormat::ChatGpt => each(shape, context, ["conversation_id", "id", "title"], "mapping", chatgpt::read),
        FileFormat::Claude => claude::read_all(shape, context),
        FileFormat::Coloom => one(shape, context, coloom::read),
        // `own` reads these.
        FileFormat::Ctxweave => Ok(Vec::new()),
        FileFormat::ExoLoom => one(shape, context, exoloom::read),
        FileFormat::KoboldAi => one(shape, context, koboldai::read),
        FileFormat::LibreChat => each(shape, context, ["conversationId", "id", "title"], "", librechat::read),
        FileFormat::LlamaCpp => llama_cpp::read_all(shape, context),
        FileFormat::Loomsidian => loomsidian::read_all(shape, context),
        FileFormat::Messages => messages::read(shape, context),
        FileFormat::MiniLoom => one(shape, context, miniloom::read),
        FileFormat::NextChat => messages::nextchat(shape, context),
        FileFormat::OpenWebUi => each(shape, context, ["id", "id", "title"], "chat", open_webui::read),
        FileFormat::Pyloom => pyloom::read_all(shape, context),
        FileFormat::SillyTavern => sillytavern::read(shape, context),
    }
}

type Reader = fn(Object<'_>, &mut Context<'_>) -> Result<EntryTree>;

/// A file that is one tree.
fn one(shape: Shape<'_, '_>, context: &mut Context<'_>, read: Reader) -> Result<Vec<EntryTree>> {
    let Shape::One(file) = shape else { return Ok(Vec::new()) };
    let Some(file) = file.as_object() else { return Ok(Vec::new()) };
    let tree = read(file, context)?;
    Ok(context.wants(tree.id.as_deref(), tree.title.as_deref()).then_some(tree).into_iter().collect())
}

/// A file that is a tree or a list of trees, with one of two id fields and a title. Items without the field `must` are
/// skipped.
fn each(
    shape: Shape<'_, '_>,
    context: &mut Context<'_>,
    [id, other, title]: [&str; 3],
    must: &str,
    read: Reader,
) -> Result<Vec<EntryTree>> {
    let Shape::One(file) = shape else { return Ok(Vec::new()) };
    let list: Vec<Value<'_>> = file.as_list().map_or_else(|| vec![file], Iterator::collect);
    let mut trees = Vec::new();
    for item in list {
        let Some(item) = item.as_object().filter(|item| must.is_empty() || item.field(must).is_some()) else {
            context.findings.skipped(SKIPPED);
            continue;
        };
        let id = item.id_at(id).or_else(|| item.id_at(other));
        let title = item.text_at(title);
        if context.wants(id.as_deref(), title.as_deref()) {
            let tree = read(item, context)?;
            trees.push(EntryTree { id, title: title.filter(|title| !title.is_empty()), ..tree });
        }
    }
    Ok(trees)
}

const SKIPPED: &str = "an item of the list is not a conversation and was skipped";

/// Checks the number of nodes before they are read.
fn check_nodes(context: &Context<'_>, count: usize) -> Result<()> {
    limits::check("nodes", count, context.options.limits.nodes)
}

/// The objects in a map by id, in order; other values are reported.
fn objects<'t>(map: Object<'t>, context: &mut Context<'_>) -> Vec<(String, Object<'t>)> {
    let mut found = Vec::with_capacity(map.len());
    for (key, value) in map.entries() {
        match value.as_object() {
            Some(object) => found.push((key.as_text().unwrap_or_default().into_owned(), object)),
            None => context.findings.skipped("a node that is not an object was skipped"),
        }
    }
    found
}

/// A list of ids.
fn ids(object: Object<'_>, field: &str) -> Vec<String> {
    object.items_at(field).filter_map(super::verbatim::id_of).collect()
}

/// Reports a node without an author.
fn author_unknown(context: &mut Context<'_>, node: &str, what: &str) {
    let message = format!("the author of a node is not in the file; {what}");
    context.findings.count(DiagnosticCode::ImportAuthorUnknown, Severity::Info, &message, Some(node));
}

/// Reports an unknown version.
fn check_version(context: &mut Context<'_>, file: Object<'_>, field: &str, known: &str) {
    let Some(version) = file.field(field) else { return };
    if version.raw() != known {
        let raw: String = version.raw().chars().take(40).collect();
        let message = format!("`{field}` is `{raw}`; the known version is `{known}`");
        context.findings.count(DiagnosticCode::ImportVersionUnknown, Severity::Warning, &message, None);
    }
}

/// Takes the data of a node recorded by an export of ctxweave; returns its original id. Recorded content only applies
/// if the text is unchanged.
fn take_exported(entry: &mut Entry, node: Object<'_>, text: &str, context: &mut Context<'_>) -> Option<String> {
    let Some(Json::Object(mut noted)) = node.field(OWN_FIELD).and_then(|noted| context.kept(OWN_FIELD, noted)) else {
        return None;
    };
    let is_same = noted.shift_remove("of").is_none_or(|of| of.as_str() == Some(text));
    if !is_same {
        noted.shift_remove("content");
    }
    let id = noted.shift_remove("id").and_then(|id| id.as_str().map(str::to_owned));
    entry.exported = Some(noted).filter(|noted| !noted.is_empty());
    id
}

/// The recorded data of a tree; `None` if the file is not an export by ctxweave.
fn exported_tree(file: Object<'_>, context: &mut Context<'_>) -> Option<Map<String, Json>> {
    match file.field(OWN_FIELD).and_then(|noted| context.kept(OWN_FIELD, noted)) {
        Some(Json::Object(noted)) => Some(noted),
        _ => None,
    }
}

/// The object with the tree of a Loomsidian note or a similar file.
fn as_note<'t>(shape: Shape<'_, 't>) -> Option<Object<'t>> {
    match shape {
        Shape::One(file) => file.as_object().filter(|file| detect::is_note(*file)),
        Shape::Lines(_) => None,
    }
}
