//! A tree that is changed in place, with its caches.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};

use serde::Serialize;

use super::change_log::{ChangeLog, Changed};
use super::extra::{Extra, Extras};
use super::node_costs::NodeCosts;
use super::relations::Relations;
use crate::assembly::body::PreviousBody;
use crate::assembly::message_index::{PreviousDialogue, PreviousMessages};
use crate::content::Block;
use crate::error::Result;
use crate::json;
use crate::loom::chunked_vec::ChunkedVec;
use crate::loom::dialogue_state::DialogueState;
use crate::loom::incremental_texts::{IncrementalText, IncrementalTexts};
use crate::loom::parts;
use crate::loom::path;
use crate::loom::path_context::{InternedTexts, PathContext, Remembered};
use crate::loom::path_state::PathState;
use crate::loom::request::Options;
use crate::loom::select::Mode;
use crate::loom::tree::{Node, NodeIx, Tree, TreeSettings};
use crate::prompt::bodies::Provider;
use crate::text::trim;
use crate::tokens::memory::{CachingCounter, Memory};

/// A tree that is changed in place and assembled repeatedly.
#[derive(Debug)]
pub struct LoomTree {
    pub(super) tree: Tree<'static>,
    /// The extra data of tree, nodes and edges beyond the model.
    pub(super) extra: Extra,
    pub(super) node_extras: Extras,
    pub(super) edge_extras: Extras,
    pub(super) log: ChangeLog,
    memory: Memory,
    /// The interned texts of each node, by slot.
    interned: ChunkedVec<InternedTexts>,
    /// The incremental texts, which are not interned.
    pub(super) incremental_texts: IncrementalTexts,
    /// Whether the current change will be undone: it starts no incremental text.
    pub(super) on_trial: bool,
    /// Bytes of text of each node, by slot, and of all of them.
    sizes: ChunkedVec<usize>,
    pub(super) text_bytes: usize,
    /// How often the node at each slot changed.
    revisions: ChunkedVec<u32>,
    /// The last path as a dialogue, and as a document.
    pub(super) dialogue: RefCell<DialogueState>,
    pub(super) document: RefCell<PathState>,
    /// The last path of a previewed dialogue.
    pub(super) previewed: RefCell<DialogueState>,
    /// The number of leading steps that both paths of dialogues shared when they were last compared.
    pub(super) shared_steps: Cell<usize>,
    /// The last dialogue, so that the next one can report the equal part.
    pub(super) previous: RefCell<Option<PreviousDialogue>>,
    /// The messages of the last delta.
    pub(super) kept: RefCell<KeptMessages>,
    /// The last body of plain texts: the next one copies most of it. It is as large as the body sent.
    pub(super) last_body: RefCell<Option<(Provider, PreviousBody)>>,
    /// The relations of nodes, computed on demand.
    pub(super) relations: RefCell<Option<Relations>>,
    /// The costs of nodes, computed on demand.
    pub(super) costs: RefCell<NodeCosts>,
}

/// The cached data of a node.
#[derive(Debug)]
pub(super) struct RememberedNode {
    place: NodeIx,
    revision: u32,
    incremental_texts: Option<IncrementalText>,
    _texts: InternedTexts,
}

/// The messages that a caller keeps from the last delta.
#[derive(Debug, Default)]
pub(super) struct KeptMessages {
    pub number: u32,
    pub known: PreviousMessages,
}

/// The size of a tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TreeSize {
    /// Nodes in the tree.
    pub nodes: usize,
    /// Edges in the tree.
    pub edges: usize,
    /// Bytes of text in its nodes, as UTF-8.
    pub text_bytes: usize,
    /// Cached texts; trees with the same memory share them.
    pub texts: usize,
    /// Cached counts.
    pub counts: usize,
}

impl LoomTree {
    /// Creates a resident tree. Its counts are cached in `memory`, which several trees may share.
    pub fn new(tree: Tree<'static>, memory: &Memory) -> Self {
        let mut this = Self {
            tree,
            extra: Extra::default(),
            node_extras: Extras::default(),
            edge_extras: Extras::default(),
            log: ChangeLog::default(),
            memory: memory.clone(),
            interned: ChunkedVec::default(),
            incremental_texts: IncrementalTexts::default(),
            on_trial: false,
            sizes: ChunkedVec::default(),
            text_bytes: 0,
            revisions: ChunkedVec::default(),
            dialogue: RefCell::default(),
            document: RefCell::default(),
            previewed: RefCell::default(),
            shared_steps: Cell::default(),
            previous: RefCell::default(),
            kept: RefCell::default(),
            last_body: RefCell::default(),
            relations: RefCell::default(),
            costs: RefCell::default(),
        };
        for place in 0..this.tree.places() {
            this.intern(u32::try_from(place).unwrap_or(u32::MAX));
        }
        this
    }

    /// The current tree.
    pub fn tree(&self) -> &Tree<'static> {
        &self.tree
    }

    /// The cache.
    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    /// The size of the tree.
    pub fn size(&self) -> TreeSize {
        TreeSize {
            nodes: self.tree.len(),
            edges: self.tree.edge_count(),
            text_bytes: self.text_bytes,
            texts: self.memory.texts(),
            counts: self.memory.counts(),
        }
    }

    /// Sets the tree's settings.
    pub fn configure(&mut self, settings: TreeSettings) {
        if settings != *self.tree.settings() {
            self.tree.set_settings(settings);
            self.log.note([Changed::Settings], self.tree.len());
        }
    }

    /// Interns the texts of the current node at this slot, and releases those of the previous one.
    pub(super) fn intern(&mut self, place: NodeIx) {
        let places = self.tree.places();
        self.interned.fill(places, InternedTexts::new);
        self.sizes.fill(places, || 0);
        self.revisions.fill(places, || 0);
        self.incremental_texts.invalidate(place);
        self.intern_texts(place);
        let before = self.sizes.get(place as usize).copied().unwrap_or_default();
        self.note_change(place, size(self.tree.at(place)), before);
    }

    fn intern_texts(&mut self, place: NodeIx) {
        let interned =
            texts(self.tree.at(place), self.incremental_texts.contains(place), |text| self.memory.intern(text));
        if let Some(here) = self.interned.get_mut(place as usize) {
            *here = interned.into();
        }
    }

    /// Starts an incremental text of a node: it is interned again when it is finished.
    pub(super) fn begin_streaming(&mut self, place: NodeIx) {
        if self.incremental_texts.contains(place) {
            return;
        }
        if let Some(finished) = self.incremental_texts.begin(place) {
            self.intern_texts(finished);
        }
        self.intern_texts(place);
    }

    /// Records how many bytes of text were added to and removed from a node.
    pub(super) fn note_change(&mut self, place: NodeIx, came: usize, went: usize) {
        let at = place as usize;
        if let (Some(revision), Some(size)) = (self.revisions.get_mut(at), self.sizes.get_mut(at)) {
            *revision = revision.wrapping_add(1);
            *size = size.saturating_sub(went).saturating_add(came);
            self.text_bytes = self.text_bytes.saturating_sub(went).saturating_add(came);
        }
    }

    pub(super) fn touch(&mut self) {
        let touched = self.tree.take_touched();
        self.dialogue.get_mut().touch(&touched);
        self.document.get_mut().touch(&touched);
        self.previewed.get_mut().touch(&touched);
        self.costs.get_mut().touch(&touched);
        let related = self.tree.take_related();
        if let Some(relations) = self.relations.get_mut() {
            relations.update(&self.tree, &related);
        }
    }

    /// The cached data of the node at a slot: its counts stay cached while this is held.
    pub(super) fn remembered(&mut self, place: NodeIx) -> RememberedNode {
        let at = place as usize;
        RememberedNode {
            place,
            incremental_texts: self.incremental_texts.take(place),
            revision: self.revisions.get(at).copied().unwrap_or_default(),
            _texts: self.interned.get(at).cloned().unwrap_or_default(),
        }
    }

    /// Restores the cached data of the node at a slot.
    pub(super) fn put_remembered(&mut self, remembered: RememberedNode) {
        if let Some(revision) = self.revisions.get_mut(remembered.place as usize) {
            *revision = remembered.revision;
        }
        if let Some(incremental_texts) = remembered.incremental_texts {
            self.incremental_texts.put(incremental_texts);
            self.intern_texts(remembered.place);
        }
    }

    /// The ids of the path that the options name, oldest first.
    ///
    /// # Errors
    /// Those of a path; see [`assemble_dialogue`](crate::loom::assemble_dialogue).
    pub fn path(&self, options: &Options) -> Result<Vec<&str>> {
        let steps = path::resolve(&self.tree, &options.position, &options.choices, &options.limits)?;
        Ok(steps.iter().map(|step| &*self.tree.at(step.node).id).collect())
    }

    /// Tokens of the content of a node, counted alone.
    pub(super) fn cost(&self, place: NodeIx, context: &PathContext<'_>) -> u64 {
        let node = self.tree.at(place);
        if let [Block::Text(text)] = node.content.as_slice() {
            return context.text_tokens(place, trim(text));
        }
        let parts = parts::parts(&mut node.content.iter(), &node.id, &context.options.media, &mut Vec::new());
        parts.iter().map(|part| context.part_tokens(place, part)).sum()
    }

    /// The context of the path of these options.
    pub(super) fn context<'a>(
        &'a self,
        options: &'a Options,
        counter: &'a CachingCounter<'a>,
        mode: Mode,
    ) -> PathContext<'a> {
        let remembered = Remembered {
            counter,
            texts: &self.interned,
            incremental_texts: &self.incremental_texts,
            revisions: &self.revisions,
        };
        PathContext::resident(&self.tree, options, mode, remembered)
    }
}

/// The counted texts of a node: of its message parts, and of each block that makes none. If the last text is
/// incremental, only the others.
fn texts<T>(node: &Node, grows: bool, mut intern: impl FnMut(&str) -> T) -> Vec<T> {
    if grows {
        let mut interned = Vec::new();
        let stay = node.content.len().saturating_sub(usize::from(matches!(node.content.last(), Some(Block::Text(_)))));
        for block in node.content.iter().take(stay) {
            each_counted_text(block, &mut |text| interned.push(intern(text)));
        }
        return interned;
    }
    if let [Block::Text(text)] = node.content.as_slice() {
        let trimmed = trim(text);
        // Also the untrimmed text, which a document counts.
        let whole = (trimmed.len() < text.len()).then(|| intern(text));
        return std::iter::once(intern(trimmed)).chain(whole).collect();
    }
    let mut interned = Vec::new();
    let mut document = String::new();
    for block in &node.content {
        match block {
            Block::Text(text) => {
                interned.push(intern(trim(text)));
                document.push_str(text);
            }
            other => each_counted_text(other, &mut |text| interned.push(intern(text))),
        }
    }
    let none = crate::maps::SortedMap::new();
    for part in parts::parts(&mut node.content.iter(), &node.id, &none, &mut Vec::new()) {
        if let Block::Text(text) = part {
            interned.push(intern(&text));
        }
    }
    if !document.is_empty() {
        interned.push(intern(&document));
    }
    interned
}

/// The counted texts of a block.
fn each_counted_text(block: &Block<'_>, each: &mut dyn FnMut(&str)) {
    match block {
        Block::Vendor(block) => block.counted_text().iter().for_each(|text| each(text)),
        block => block.counted_texts(each),
    }
}

/// Bytes of a node's text.
pub(super) fn size(node: &Node) -> usize {
    node.content.iter().map(block_size).sum()
}

fn block_size(block: &Block) -> usize {
    let of = |text: &Option<Cow<'_, str>>| text.as_ref().map_or(0, |text| text.len());
    match block {
        Block::Text(text) => text.len(),
        Block::Reasoning { text, signature, .. } => text.len() + of(signature),
        Block::Image(image) => of(&image.reference) + image.mime_type.len() + of(&image.alt_text),
        Block::Audio(audio) => audio.reference.len() + audio.mime_type.len() + of(&audio.transcript_ref),
        Block::ToolCall { id, name, .. } => id.len() + name.len(),
        Block::ToolResult { tool_call_id, content, .. } => {
            tool_call_id.len() + content.iter().map(block_size).sum::<usize>()
        }
        Block::Vendor(block) => json::text(&*block.value).len(),
    }
}
