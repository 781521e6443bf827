//! MiniLoom (JD-P/miniloom): each node is a patch of its parent's whole text.
//!
//! Only one text is in memory, that of the current node; moving to the next node undoes patches and applies others.

use super::patch::{Change, apply, first, moved, undo};
use super::{check_nodes, ids, objects};
use crate::content::Block;
use crate::error::{DiagnosticCode, Result};
use crate::json::Object;
use crate::limits;
use crate::loom_import::context::Context;
use crate::loom_import::entry::{Author, Entry, EntryRef, EntryTree};
use crate::loom_import::times::Unit;
use crate::loom_import::verbatim::Lenient;
use crate::maps::SortedMap;

pub(super) fn read(file: Object<'_>, context: &mut Context<'_>) -> Result<EntryTree> {
    let loom = file.object_at("loomTree");
    let store = loom.and_then(|loom| loom.object_at("nodeStore"));
    let nodes = store.map(|store| objects(store, context)).unwrap_or_default();
    check_nodes(context, nodes.len())?;
    let mut places: SortedMap<String, usize> = SortedMap::new();
    for (at, (key, node)) in nodes.iter().enumerate() {
        places.insert(node.id_at("id").unwrap_or_else(|| key.clone()), at);
    }
    let mut tree = EntryTree { is_document: true, ..EntryTree::default() };
    let parents: Vec<Option<usize>> =
        nodes.iter().map(|(_, node)| places.get(node.id_at("parent")?.as_str()).copied()).collect();
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); nodes.len()];
    for (at, parent) in parents.iter().enumerate() {
        if let Some(list) = parent.and_then(|parent| children.get_mut(parent)) {
            list.push(at);
        }
    }
    for (key, node) in &nodes {
        tree.entries.push(entry(key, *node, context));
    }
    let roots = parents.iter().enumerate().filter(|(_, parent)| parent.is_none()).map(|(at, _)| at).collect();
    let mut texts = Texts {
        nodes: &nodes,
        children: &children,
        text: Vec::new(),
        lengths: vec![0; nodes.len()],
        shorter: vec![None; nodes.len()],
        seen: vec![false; nodes.len()],
        bytes: 0,
        moved: 0,
    };
    texts.read(roots, &parents, &mut tree, context)?;
    // In a cycle of parents no text has a base.
    for at in 0..nodes.len() {
        if texts.seen.get(at) == Some(&false) {
            texts.read(vec![at], &parents, &mut tree, context)?;
        }
    }
    tree.tip = EntryRef::id(file.object_at("focus").and_then(|focus| focus.id_at("id")));
    tree.imported = context.rest(file, &["loomTree", "focus"], None);
    if let Some(loom) = loom {
        let rest = context.rest(loom, &["nodeStore", "root"], None);
        tree.imported.extend(rest);
    }
    Ok(tree)
}

fn entry(key: &str, node: Object<'_>, context: &mut Context<'_>) -> Entry {
    let id = node.id_at("id").unwrap_or_else(|| key.to_owned());
    let kind = node.text_at("type").unwrap_or_default();
    let is_model = matches!(kind.as_str(), "gen" | "rewrite" | "weave");
    let agent = node.text_at("model").filter(|model| is_model && !model.is_empty());
    let mut known = vec!["id", "parent", "children", "timestamp", "patch", "summary"];
    if agent.is_some() {
        known.push("model");
    }
    let mut imported = context.rest(node, &known, Some(&id));
    let created_at = context.created(node, "timestamp", Unit::Milliseconds, &id, &mut imported);
    let author = if is_model { Author::Model } else { Author::Human };
    Entry {
        children: ids(node, "children"),
        agent,
        created_at,
        summary: node.text_at("summary").filter(|summary| !summary.is_empty()),
        imported,
        ..Entry::text(id, EntryRef::id(node.id_at("parent")), author, "")
    }
}

/// The remaining work.
enum Work {
    Enter(usize),
    Leave(Vec<Change>),
}

struct Texts<'a, 't> {
    nodes: &'a [(String, Object<'t>)],
    children: &'a [Vec<usize>],
    /// The whole text of the current node.
    text: Vec<u16>,
    /// The length of each node's whole text.
    lengths: Vec<usize>,
    /// The nearest ancestor with a shorter text, among those whose text the node continues.
    shorter: Vec<Option<usize>>,
    seen: Vec<bool>,
    /// Bytes of all added texts.
    bytes: usize,
    /// Code units that were moved.
    moved: usize,
}

impl Texts<'_, '_> {
    fn read(
        &mut self,
        roots: Vec<usize>,
        parents: &[Option<usize>],
        tree: &mut EntryTree,
        context: &mut Context<'_>,
    ) -> Result<()> {
        let mut work: Vec<Work> = roots.into_iter().rev().map(Work::Enter).collect();
        while let Some(next) = work.pop() {
            let at = match next {
                Work::Enter(at) => at,
                Work::Leave(changes) => {
                    undo(&mut self.text, changes);
                    continue;
                }
            };
            if self.seen.get_mut(at).is_none_or(|seen| std::mem::replace(seen, true)) {
                continue;
            }
            let changes = self.enter(at, parents, tree, context)?;
            work.push(Work::Leave(changes));
            work.extend(self.children.get(at).into_iter().flatten().rev().map(|&child| Work::Enter(child)));
        }
        Ok(())
    }

    fn length(&self, at: usize) -> usize {
        self.lengths.get(at).copied().unwrap_or_default()
    }

    /// Derives the node's text from its parent's, and sets the entry to the added text.
    fn enter(
        &mut self,
        at: usize,
        parents: &[Option<usize>],
        tree: &mut EntryTree,
        context: &mut Context<'_>,
    ) -> Result<Vec<Change>> {
        let parent = parents.get(at).copied().flatten().filter(|parent| self.seen.get(*parent) == Some(&true));
        let before = self.text.len();
        let patch = self.nodes.get(at).and_then(|(_, node)| node.field("patch"));
        let patch = patch.filter(|patch| patch.as_text().is_none_or(|text| !text.is_empty()));
        let Some(entry) = tree.entries.get_mut(at) else { return Ok(Vec::new()) };
        let changes = match patch.map(|patch| (patch, apply(&mut self.text, patch))) {
            None => Vec::new(),
            Some((_, Some(changes))) => changes,
            Some((patch, None)) => {
                let message = "the patch does not match the text of the previous node; the node adds nothing";
                context.findings.warn(DiagnosticCode::ImportUnsupportedContent, message, &entry.id);
                entry.imported.extend(context.kept("patch", patch).map(|patch| ("patch".to_owned(), patch)));
                Vec::new()
            }
        };
        let length = self.text.len();
        let same = first(&changes).unwrap_or(before).min(before);
        // The node that it continues: the parent, or the nearest ancestor whose text the change left intact.
        let mut from = parent;
        while let Some(node) = from.filter(|&node| self.length(node) > same) {
            from = self.shorter.get(node).copied().flatten();
        }
        if from != parent
            && let Some(parent) = parent
        {
            entry.parent = EntryRef::at(from);
            entry.edited_from = EntryRef::At(parent);
            let message = "the node rewrites earlier text; it became an edit of the rewritten node";
            context.findings.warn(DiagnosticCode::ImportTextRewritten, message, &entry.id);
        }
        let start = from.map_or(0, |from| self.length(from));
        let added = String::from_utf16_lossy(self.text.get(start..).unwrap_or_default());
        // A file of small changes to a long text can represent far more than its size.
        self.bytes = self.bytes.saturating_add(added.len());
        self.moved = self.moved.saturating_add(moved(&changes, length));
        let work = self.bytes.max(self.moved / 8);
        limits::check("inputBytes", work, context.options.limits.input_bytes)?;
        entry.blocks = vec![Block::text(added)];
        let shorter = match from {
            Some(from) if self.length(from) < length => Some(from),
            Some(from) => self.shorter.get(from).copied().flatten(),
            None => None,
        };
        if let (Some(own), Some(place)) = (self.lengths.get_mut(at), self.shorter.get_mut(at)) {
            (*own, *place) = (length, shorter);
        }
        Ok(changes)
    }
}
