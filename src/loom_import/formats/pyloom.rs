//! pyloom (socketteer/loom): nested nodes, each with the text that it adds.

use std::borrow::Cow;

use serde_json::{Map, Value as Json};

use super::{check_nodes, exported_tree, take_exported};
use crate::content::Block;
use crate::error::{DiagnosticCode, Result};
use crate::json::{Kind, Object, Value};
use crate::loom_import::context::Context;
use crate::loom_import::conventions::{BOOKMARK, OWN_FIELD, PYLOOM_FIELDS, bookmark_tags, chapter_id};
use crate::loom_import::entry::{Author, Entry, EntryRef, EntryTree};
use crate::loom_import::file::Shape;
use crate::loom_import::times::Unit;
use crate::loom_import::verbatim::{Lenient, is_empty};
use crate::maps::{SortedMap, SortedSet};

pub(super) fn read_all(shape: Shape<'_, '_>, context: &mut Context<'_>) -> Result<Vec<EntryTree>> {
    let tree = match shape {
        Shape::Lines(lines) => flat(lines, context)?,
        Shape::One(file) => match (file.as_list(), file.as_object()) {
            (Some(list), _) => {
                let nodes = list.collect();
                nested(nodes, true, None, context)?
            }
            (_, Some(file)) => match file.field("root") {
                Some(root) => nested(vec![root], false, Some(file), context)?,
                None => nested(vec![file.value()], false, None, context)?,
            },
            _ => return Ok(Vec::new()),
        },
    };
    Ok(context.wants(tree.id.as_deref(), tree.title.as_deref()).then_some(tree).into_iter().collect())
}

/// The remaining work, the next at the end.
enum Work<'t> {
    /// A node below an entry.
    Node(Value<'t>, Option<usize>),
    /// The rest after a chain that was read since an entry, under the node of this id.
    AfterChain { children: Option<Value<'t>>, tail: Option<String>, stand_in: Option<String>, since: usize },
}

fn nested<'t>(
    roots: Vec<Value<'t>>,
    needs_root: bool,
    file: Option<Object<'t>>,
    context: &mut Context<'_>,
) -> Result<EntryTree> {
    let mut tree = EntryTree { is_document: true, ..EntryTree::default() };
    let chapters = file.map(|file| chapters(file)).unwrap_or_default();
    let mut places: SortedMap<String, usize> = SortedMap::new();
    let mut above = None;
    if needs_root {
        tree.entries.push(Entry::text("root", EntryRef::None, Author::Human, ""));
        above = Some(0);
    }
    let mut work: Vec<Work<'t>> = roots.into_iter().rev().map(|root| Work::Node(root, above)).collect();
    while let Some(next) = work.pop() {
        match next {
            Work::Node(value, parent) => {
                let Some(node) = value.as_object() else {
                    context.findings.skipped("a node that is not an object was skipped");
                    continue;
                };
                check_nodes(context, tree.entries.len())?;
                if let Some(head) = node.field("masked_head").filter(|head| head.kind() == Kind::Object) {
                    // The node represents a chain: the chain replaces it, and the node's children follow the chain.
                    context.findings.not_expressed("masked_head", None);
                    work.push(Work::AfterChain {
                        children: node.field("children"),
                        tail: node.id_at("tail_id"),
                        stand_in: node.id_at("id"),
                        since: tree.entries.len(),
                    });
                    work.push(Work::Node(head, parent));
                    continue;
                }
                let made = node.object_at(OWN_FIELD).is_some_and(|own| own.is_true("made"));
                let place = if made {
                    parent
                } else {
                    let at = push_node(node, parent, &chapters, &mut tree, context);
                    if let Some(entry) = tree.entries.get(at) {
                        places.insert(entry.id.clone(), at);
                    }
                    Some(at)
                };
                push_children(node.field("children"), place, &mut work);
            }
            Work::AfterChain { children, tail, stand_in, since } => {
                let found = tail.as_ref().and_then(|tail| places.get(tail.as_str()).copied()).filter(|at| *at >= since);
                if let (Some(tail), None) = (&tail, found) {
                    let message = format!("`tail_id` is `{tail}`, which is not in its chain");
                    context.findings.warn(DiagnosticCode::ImportDanglingReference, message, tail);
                }
                let last = tree.entries.len().checked_sub(1).filter(|at| *at >= since);
                let place = found.or(last);
                tree.aliases.extend(stand_in.zip(place));
                push_children(children, place, &mut work);
            }
        }
    }
    if let Some(file) = file {
        of_file(file, &mut tree, context);
    }
    Ok(tree)
}

fn push_children<'t>(children: Option<Value<'t>>, place: Option<usize>, work: &mut Vec<Work<'t>>) {
    let start = work.len();
    let list = children.and_then(Value::as_list).into_iter().flatten();
    work.extend(list.map(|child| Work::Node(child, place)));
    work.get_mut(start..).into_iter().for_each(<[_]>::reverse);
}

/// Adds the node, after its earlier versions, and returns its index.
fn push_node(
    node: Object<'_>,
    parent: Option<usize>,
    chapters: &Chapters,
    tree: &mut EntryTree,
    context: &mut Context<'_>,
) -> usize {
    let mut entry = entry(node, EntryRef::at(parent), chapters, context);
    for (number, version) in node.items_at("history").filter_map(Value::as_object).enumerate() {
        let Some(text) = version.text_at("text") else { continue };
        let id = format!("{}.h{}", entry.id, number.saturating_add(1));
        let imported = Map::from_iter([("versionOf".to_owned(), Json::from(entry.id.as_str()))]);
        let created_at = context.time(version.field("timestamp"), Unit::Seconds, &id);
        let edited_from = std::mem::take(&mut entry.edited_from);
        entry.edited_from = EntryRef::At(tree.entries.len());
        let old = Entry::text(id, EntryRef::at(parent), entry.author, text);
        tree.entries.push(Entry { created_at, edited_from, imported, ..old });
    }
    tree.entries.push(entry);
    tree.entries.len().saturating_sub(1)
}

fn entry(node: Object<'_>, parent: EntryRef, chapters: &Chapters, context: &mut Context<'_>) -> Entry {
    let text = node.text_at("text").unwrap_or_default();
    let id = node.id_at("id").unwrap_or_default();
    let chapter = chapters.get(id.as_str());
    let mut known = [PYLOOM_FIELDS, &["meta", "tags"]].concat();
    if node.is_true("mutable") {
        known.push("mutable");
    }
    if chapter.is_some_and(|(chapter, _)| *chapter == chapter_id(&id)) {
        known.push("chapter_id");
    }
    let mut imported = context.rest(node, &known, Some(&id));
    let meta = node.object_at("meta");
    let source = meta.and_then(|meta| meta.text_at("source"));
    let is_model = match source.as_deref() {
        Some("AI" | "mixed") => true,
        Some(_) => false,
        None => node.field("generation").is_some() || meta.is_some_and(|meta| meta.field("generation").is_some()),
    };
    let created_at = context.time(meta.and_then(|meta| meta.field("creation_timestamp")), Unit::Seconds, &id);
    if let Some(meta) = meta {
        let present = [
            ("source", matches!(source.as_deref(), Some("AI" | "prompt"))),
            ("creation_timestamp", created_at.is_some()),
            ("modified", !meta.is_true("modified")),
        ];
        let present: Vec<&str> =
            present.into_iter().filter(|(_, is_present)| *is_present).map(|(name, _)| name).collect();
        let rest = context.rest(meta, &present, Some(&id));
        if !rest.is_empty() {
            imported.insert("meta".to_owned(), Json::Object(rest));
        }
    }
    let tags: Vec<String> = node.items_at("tags").filter_map(|tag| tag.as_text().map(Cow::into_owned)).collect();
    let others: Vec<Json> = tags.iter().filter(|tag| *tag != BOOKMARK).map(|tag| tag.as_str().into()).collect();
    let bookmarked = node.is_true("bookmark") || others.len() < tags.len() || chapter.is_some();
    if !others.is_empty() {
        context.findings.not_expressed("tags", Some(&id));
        imported.insert("tags".to_owned(), Json::Array(others));
    }
    if node.items_at("multimedia").next().is_some() {
        context.findings.unsupported("`multimedia`: files that are outside this one", Some(&id));
    }
    if node.is_true("template") {
        let message = "the text is a template, which pyloom would evaluate; it was imported unevaluated";
        context.findings.warn(DiagnosticCode::ImportTemplateNotEvaluated, message, &id);
    }
    let mut entry = Entry {
        created_at,
        bookmarked,
        bookmark_label: chapter.map(|(_, title)| title.clone()),
        imported,
        ..Entry::text(id, parent, if is_model { Author::Model } else { Author::Human }, "")
    };
    take_exported(&mut entry, node, &text, context);
    entry.blocks = vec![Block::text(text)];
    entry
}

/// The id and the title of each chapter, by the node with which it begins.
type Chapters = SortedMap<String, (String, String)>;

fn chapters(file: Object<'_>) -> Chapters {
    let all = file.object_at("chapters").into_iter().flat_map(Object::entries);
    let titled = |(key, chapter): (Value<'_>, Value<'_>)| {
        let chapter = chapter.as_object()?;
        Some((chapter.id_at("root_id")?, (key.as_text()?.into_owned(), chapter.text_at("title")?)))
    };
    all.filter_map(titled).collect()
}

/// Reads the data next to the root.
fn of_file(file: Object<'_>, tree: &mut EntryTree, context: &mut Context<'_>) {
    tree.tip = EntryRef::id(file.id_at("selected_node_id"));
    tree.imported = context.rest(file, &["root", "selected_node_id", "chapters", "tags", OWN_FIELD], None);
    // Chapters without a node.
    let ids: SortedSet<&str> = tree.entries.iter().map(|entry| entry.id.as_str()).collect();
    let mut others = Map::new();
    for (key, value) in file.object_at("chapters").into_iter().flat_map(Object::entries) {
        let chapter = value.as_object();
        let root = chapter.filter(|chapter| chapter.text_at("title").is_some()).and_then(|it| it.id_at("root_id"));
        if root.is_none_or(|root| !ids.contains(root.as_str())) {
            context.findings.not_expressed("chapters", None);
            let key = key.as_text().unwrap_or_default().into_owned();
            others.extend(context.kept(&key, value).map(|chapter| (key.clone(), chapter)));
        }
    }
    let tags = file.field("tags").and_then(|tags| context.kept("tags", tags));
    if let Some(tags) = tags.filter(|tags| !is_empty(tags) && *tags != bookmark_tags()) {
        tree.imported.insert("tags".to_owned(), tags);
    }
    if !others.is_empty() {
        tree.imported.insert("chapters".to_owned(), Json::Object(others));
    }
    let settings = file.object_at("generation_settings");
    let global = file.text_at("global_context").or_else(|| settings?.text_at("global_context"));
    let memory = memory(file, context);
    let prefix = [global.unwrap_or_default(), memory].concat();
    tree.buffer_prefix = Some(prefix).filter(|prefix| !prefix.is_empty());
    tree.exported = exported_tree(file, context);
}

/// The text that older files put before every prompt: the memories of the root that all nodes inherit. Others are
/// reported.
fn memory(file: Object<'_>, context: &mut Context<'_>) -> String {
    let root = file.object_at("root");
    let root_id = root.and_then(|root| root.id_at("id"));
    let mut texts = Vec::new();
    let mut others = 0_usize;
    for (_, memory) in file.object_at("memories").into_iter().flat_map(Object::entries) {
        let Some(memory) = memory.as_object() else { continue };
        let is_off = memory.field("enabled").is_some_and(|enabled| enabled.raw() == "false");
        let inherited = memory.text_at("inheritability");
        let reaches_all = matches!(inherited.as_deref(), None | Some("subtree" | "global"));
        let of_root = memory.id_at("root_id").is_none_or(|id| Some(&id) == root_id.as_ref());
        match memory.text_at("text") {
            Some(text) if !is_off && (inherited.as_deref() == Some("global") || reaches_all && of_root) => {
                texts.push(text)
            }
            Some(_) if !is_off => others = others.saturating_add(1),
            _ => {}
        }
    }
    (0..others).for_each(|_| context.findings.unsupported("a memory for some prompts only", None));
    match root.and_then(|root| root.text_at("memory")) {
        Some(memory) if texts.is_empty() => memory,
        _ => texts.join(" "),
    }
}

/// One node per line, with the id of its parent.
fn flat(lines: &[Value<'_>], context: &mut Context<'_>) -> Result<EntryTree> {
    check_nodes(context, lines.len())?;
    let mut tree = EntryTree { is_document: true, ..EntryTree::default() };
    let no_chapters = SortedMap::new();
    for line in lines {
        let Some(node) = line.as_object() else { continue };
        let parent = node.id_at("parent_id").or_else(|| node.id_at("parentId"));
        let entry = entry(node, EntryRef::id(parent), &no_chapters, context);
        tree.entries.push(entry);
    }
    Ok(tree)
}
