//! KoboldAI's stories, from the Client and from Lite: pieces of one text, with alternatives.

use super::{author_unknown, check_nodes, objects};
use crate::error::Result;
use crate::json::{Object, Value};
use crate::loom_import::context::Context;
use crate::loom_import::entry::{Author, Entry, EntryRef, EntryTree};
use crate::loom_import::verbatim::{Lenient, id_of};
use crate::maps::SortedMap;

/// Marks the human's turns in Lite.
const INPUT: &str = "{{[INPUT]}}";

pub(super) fn read(file: Object<'_>, context: &mut Context<'_>) -> Result<EntryTree> {
    let mut tree = EntryTree { is_document: true, ..EntryTree::default() };
    tree.entries.push(Entry::text("m0", EntryRef::None, Author::Human, file.text_at("prompt").unwrap_or_default()));
    let mut number = Numbers::default();
    let mut story = vec![0];
    for (at, text) in actions(file, context).into_iter().enumerate() {
        check_nodes(context, tree.entries.len())?;
        let before = story.last().copied();
        let place = push(text, before, &mut number, &mut tree, context);
        story.push(place);
        alternatives(file, at, before, &mut number, &mut tree, context);
    }
    tree.tip = EntryRef::at(story.last().copied());
    branches(file, &mut number, &mut tree, context)?;
    for field in ["authorsnote", "worldinfo"] {
        let is_said = file.text_at(field).is_some_and(|text| !text.is_empty()) || file.items_at(field).next().is_some();
        if is_said {
            context.findings.unsupported(&format!("`{field}`, which applies to some prompts only"), None);
        }
    }
    let known = ["prompt", "memory", "actions", "altbranches"];
    tree.imported = context.rest(file, &known, None);
    tree.buffer_prefix = file.text_at("memory").filter(|memory| !memory.is_empty());
    Ok(tree)
}

/// Generates consecutive ids.
#[derive(Debug, Default)]
struct Numbers(usize);

impl Numbers {
    fn next(&mut self) -> String {
        self.0 = self.0.saturating_add(1);
        format!("m{}", self.0)
    }
}

/// The pieces after the first: a list of texts, or in newer files objects by number.
fn actions(file: Object<'_>, context: &mut Context<'_>) -> Vec<String> {
    let list = file.items_at("actions").filter_map(|action| action.as_text().map(|text| text.into_owned()));
    let mut texts: Vec<String> = list.collect();
    let inner = file.object_at("actions").and_then(|actions| actions.object_at("actions"));
    if let Some(inner) = inner {
        let mut all = objects(inner, context);
        crate::sorting::sort_by_key(&mut all, |(number, _)| number.parse::<u64>().unwrap_or(u64::MAX));
        texts.extend(all.into_iter().map(|(_, action)| action.text_at("Selected Text").unwrap_or_default()));
    }
    texts
}

fn push(
    text: String,
    before: Option<usize>,
    number: &mut Numbers,
    tree: &mut EntryTree,
    context: &mut Context<'_>,
) -> usize {
    let id = number.next();
    let author = if text.contains(INPUT) || text.starts_with("\n> ") { Author::Human } else { Author::Model };
    author_unknown(context, &id, "marked input counts as the human's, the rest as the model's");
    tree.entries.push(Entry::text(id, EntryRef::at(before), author, text));
    tree.entries.len().saturating_sub(1)
}

/// The alternatives to a piece.
fn alternatives(
    file: Object<'_>,
    at: usize,
    before: Option<usize>,
    number: &mut Numbers,
    tree: &mut EntryTree,
    context: &mut Context<'_>,
) {
    let key = at.to_string();
    let old = file.object_at("actions_metadata").and_then(|all| all.object_at(&key));
    let new =
        file.object_at("actions").and_then(|actions| actions.object_at("actions")).and_then(|all| all.object_at(&key));
    let list = old.into_iter().flat_map(|action| action.items_at("Alternative Text"));
    for other in list.chain(new.into_iter().flat_map(|action| action.items_at("Options"))).filter_map(Value::as_object)
    {
        if let Some(text) = other.text_at("Text").or_else(|| other.text_at("text")) {
            let place = push(text, before, number, tree, context);
            let rest = context.rest(other, &["Text", "text"], None);
            if let Some(entry) = tree.entries.get_mut(place) {
                entry.imported = rest;
            }
        }
    }
}

/// Lite's other stories, each complete: they branch where their pieces differ.
fn branches(file: Object<'_>, number: &mut Numbers, tree: &mut EntryTree, context: &mut Context<'_>) -> Result<()> {
    let mut known: SortedMap<(Option<usize>, String), usize> = SortedMap::new();
    for (at, entry) in tree.entries.iter().enumerate() {
        let before = if let EntryRef::At(before) = entry.parent { Some(before) } else { None };
        let text = entry.blocks.first().and_then(|block| block.as_text()).unwrap_or_default();
        known.insert((before, text.to_owned()), at);
    }
    for story in file.items_at("altbranches").filter_map(Value::as_list) {
        let mut before = None;
        for piece in story {
            let Some(text) = piece.as_text().map(|text| text.into_owned()).or_else(|| id_of(piece)) else { continue };
            let key = (before, text);
            before = Some(match known.get(&key) {
                Some(place) => *place,
                None => {
                    check_nodes(context, tree.entries.len())?;
                    let place = push(key.1.clone(), key.0, number, tree, context);
                    known.insert(key, place);
                    place
                }
            });
        }
    }
    Ok(())
}
