//! SillyTavern's chats: a header and one message per line. The other answers to a message, its swipes, become its
//! siblings.

use serde_json::{Map, Value as Json};

use super::check_nodes;
use crate::content::Block;
use crate::error::Result;
use crate::json::{Kind, Object, Value};
use crate::loom_import::context::Context;
use crate::loom_import::entry::{Author, Entry, EntryRef, EntryTree};
use crate::loom_import::file::Shape;
use crate::loom_import::times::Unit;
use crate::loom_import::verbatim::Lenient;

pub(super) fn read(shape: Shape<'_, '_>, context: &mut Context<'_>) -> Result<Vec<EntryTree>> {
    let one;
    let lines = match shape {
        Shape::Lines(lines) => lines,
        Shape::One(line) => {
            one = [line];
            &one[..]
        }
    };
    check_nodes(context, lines.len())?;
    let mut tree = EntryTree::default();
    let mut user = None;
    let mut last = None;
    let mut count = 0_usize;
    for line in lines.iter().filter_map(|line| line.as_object()) {
        if line.field("mes").is_none() {
            user = user.or_else(|| line.text_at("user_name"));
            tree.title = tree.title.or_else(|| line.text_at("character_name")).filter(|title| !title.is_empty());
            let rest = context.rest(line, &["character_name"], None);
            tree.imported.extend(rest);
            continue;
        }
        last = Some(message(line, count, last, user.as_deref(), &mut tree, context));
        count = count.saturating_add(1);
    }
    tree.tip = EntryRef::at(last);
    Ok(context.wants(tree.id.as_deref(), tree.title.as_deref()).then_some(tree).into_iter().collect())
}

const KNOWN: &[&str] = &["is_user", "is_system", "mes", "send_date", "swipe_id", "swipes", "swipe_info", "extra"];

/// Adds a message and its alternatives; returns the index of the message.
fn message(
    line: Object<'_>,
    number: usize,
    before: Option<usize>,
    user: Option<&str>,
    tree: &mut EntryTree,
    context: &mut Context<'_>,
) -> usize {
    let id = format!("m{number}");
    let author = if line.is_true("is_user") { Author::Human } else { Author::Model };
    let name = line.text_at("name").filter(|name| !name.is_empty());
    let agent = name.clone().filter(|_| author == Author::Model);
    let mut known = KNOWN.to_vec();
    if agent.is_some() || name.as_deref() == user || name.is_none() {
        known.push("name");
    }
    let mut imported = context.rest(line, &known, Some(&id));
    let created_at = context.created(line, "send_date", Unit::Milliseconds, &id, &mut imported);
    let mut blocks = extra(line.object_at("extra"), &id, &mut imported, context);
    blocks.push(Block::text(line.text_at("mes").unwrap_or_default()));
    let chosen = Entry {
        agent,
        blocks,
        created_at,
        excluded: line.is_true("is_system"),
        imported,
        ..Entry::text(id, EntryRef::at(before), author, "")
    };
    let swipes: Vec<Value<'_>> = line.items_at("swipes").collect();
    let infos: Vec<Value<'_>> = line.items_at("swipe_info").collect();
    let place = line.field("swipe_id").and_then(Value::as_number).map_or(0, |place| place.max(0.0) as usize);
    let mut chosen = Some(chosen);
    let mut at = tree.entries.len();
    for (swipe_number, swipe) in swipes.iter().enumerate() {
        if swipe_number == place {
            at = tree.entries.len();
            tree.entries.extend(chosen.take());
            continue;
        }
        let Some(text) = swipe.as_text() else {
            context.findings.skipped("a swipe that is not a text was skipped");
            continue;
        };
        let entry = self::swipe(&text, infos.get(swipe_number), swipe_number, number, before, context);
        let (agent, excluded) = match chosen.as_ref().or_else(|| tree.entries.get(at)) {
            Some(chosen) => (chosen.agent.clone(), chosen.excluded),
            None => (None, false),
        };
        tree.entries.push(Entry { author, agent, excluded, ..entry });
    }
    if let Some(chosen) = chosen {
        at = tree.entries.len();
        tree.entries.push(chosen);
    }
    at
}

fn swipe(
    text: &str,
    info: Option<&Value<'_>>,
    swipe: usize,
    message: usize,
    before: Option<usize>,
    context: &mut Context<'_>,
) -> Entry {
    let id = format!("m{message}.s{swipe}");
    let mut imported = Map::new();
    let info = info.and_then(|info| info.as_object());
    let mut created_at = None;
    let mut blocks = Vec::new();
    if let Some(info) = info {
        imported = context.rest(info, &["send_date", "extra"], Some(&id));
        created_at = context.created(info, "send_date", Unit::Milliseconds, &id, &mut imported);
        blocks = extra(info.object_at("extra"), &id, &mut imported, context);
    }
    blocks.push(Block::text(text.to_owned()));
    Entry { blocks, created_at, imported, ..Entry::text(id, EntryRef::at(before), Author::Model, "") }
}

/// The reasoning in the annotations of a message, the rest of which is preserved.
fn extra(
    extra: Option<Object<'_>>,
    id: &str,
    imported: &mut Map<String, Json>,
    context: &mut Context<'_>,
) -> Vec<Block<'static>> {
    let Some(extra) = extra else { return Vec::new() };
    for field in ["image", "file", "media", "inline_image"] {
        if extra.field(field).is_some_and(|value| !matches!(value.kind(), Kind::Bool)) {
            context.findings.unsupported("images and files next to a message", Some(id));
        }
    }
    let rest = context.rest(extra, &["reasoning"], Some(id));
    if !rest.is_empty() {
        imported.insert("extra".to_owned(), Json::Object(rest));
    }
    let thought = extra.text_at("reasoning").filter(|thought| !thought.is_empty());
    thought.map(|text| Block::Reasoning { text: text.into(), signature: None, redacted: false }).into_iter().collect()
}
