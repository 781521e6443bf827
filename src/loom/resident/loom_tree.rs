//! A tree that is changed in place, with what is remembered of it.

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

/// A tree that is changed in place and assembled again and again.
#[derive(Debug)]
pub struct LoomTree {
    pub(super) tree: Tree<'static>,
    /// What tree, nodes and edges say beyond the model.
    pub(super) extra: Extra,
    pub(super) node_extras: Extras,
    pub(super) edge_extras: Extras,
    pub(super) log: ChangeLog,
    memory: Memory,
    /// The interned texts of each node, by place.
    interned: ChunkedVec<InternedTexts>,
    /// The texts that grow, which are not interned.
    pub(super) incremental_texts: IncrementalTexts,
    /// Whether the change that is made will be taken back: no text begins to grow by it.
    pub(super) on_trial: bool,
    /// Bytes of text of each node, by place, and of all of them.
    sizes: ChunkedVec<usize>,
    pub(super) text_bytes: usize,
    /// How often the node at each place changed.
    revisions: ChunkedVec<u32>,
    /// The last path as a dialogue, and as a document.
    pub(super) dialogue: RefCell<DialogueState>,
    pub(super) document: RefCell<PathState>,
    /// The last path of a dialogue that was only looked at, next to the others.
    pub(super) beside: RefCell<DialogueState>,
    /// How many of the first steps of both paths of dialogues were the same when they were last compared.
    pub(super) shared_steps: Cell<usize>,
    /// The last dialogue, so that the next can say how much of it is the same.
    pub(super) previous: RefCell<Option<PreviousDialogue>>,
    /// The messages that the last delta was about.
    pub(super) kept: RefCell<KeptMessages>,
    /// The last body that was nothing but texts: the next copies most of it. It is as large as what was sent.
    pub(super) last_body: RefCell<Option<(Provider, PreviousBody)>>,
    /// How nodes are related, once somebody has asked.
    pub(super) relations: RefCell<Option<Relations>>,
    /// What nodes cost, as far as somebody has asked.
    pub(super) costs: RefCell<NodeCosts>,
}

/// What is remembered of a node.
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

/// How large a tree is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TreeSize {
    /// Nodes in the tree.
    pub nodes: usize,
    /// Edges in the tree.
    pub edges: usize,
    /// Bytes of text in its nodes, as UTF-8.
    pub text_bytes: usize,
    /// Texts of which something may be remembered; trees of one memory share them.
    pub texts: usize,
    /// Counts that are remembered.
    pub counts: usize,
}

impl LoomTree {
    /// A resident tree. What is remembered of its texts is remembered in `memory`, which several trees may share.
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
            beside: RefCell::default(),
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

    /// The tree as it is.
    pub fn tree(&self) -> &Tree<'static> {
        &self.tree
    }

    /// What is remembered.
    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    /// How large it is.
    pub fn size(&self) -> TreeSize {
        TreeSize {
            nodes: self.tree.len(),
            edges: self.tree.edge_count(),
            text_bytes: self.text_bytes,
            texts: self.memory.texts(),
            counts: self.memory.counts(),
        }
    }

    /// Sets what the tree says about itself.
    pub fn configure(&mut self, settings: TreeSettings) {
        if settings != *self.tree.settings() {
            self.tree.set_settings(settings);
            self.log.note([Changed::Settings], self.tree.len());
        }
    }

    /// Interns the texts of what is now at this place, and gives up those of what was.
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

    /// Takes note that the text of a node grows: it is interned again when it is finished.
    pub(super) fn begin_streaming(&mut self, place: NodeIx) {
        if self.incremental_texts.contains(place) {
            return;
        }
        if let Some(finished) = self.incremental_texts.begin(place) {
            self.intern_texts(finished);
        }
        self.intern_texts(place);
    }

    /// Takes note that so many bytes of text came to a node, and so many went.
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
        self.beside.get_mut().touch(&touched);
        self.costs.get_mut().touch(&touched);
        let related = self.tree.take_related();
        if let Some(relations) = self.relations.get_mut() {
            relations.update(&self.tree, &related);
        }
    }

    /// What is remembered of the node at a place: while this is held, its counts are.
    pub(super) fn remembered(&mut self, place: NodeIx) -> RememberedNode {
        let at = place as usize;
        RememberedNode {
            place,
            incremental_texts: self.incremental_texts.take(place),
            revision: self.revisions.get(at).copied().unwrap_or_default(),
            _texts: self.interned.get(at).cloned().unwrap_or_default(),
        }
    }

    /// Says that the node at a place is what it was.
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

    /// What the path of these options is looked at with.
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

/// The texts of a node that are counted: of the parts that it makes, and of each block that makes none. Where the last one
/// grows, only those that stay as they are.
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
        // As it stands, too: that is what a document counts.
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

/// The texts of a block that are counted.
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
