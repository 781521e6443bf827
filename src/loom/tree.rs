//! The Loom tree: nodes, edges, and the checks that keep it consistent (docs/loom.md).
//!
//! `inline(always)` is 5 % of the time that a fit of a chat takes: docs/decisions/inlining.md.

use std::borrow::Cow;
use std::cell::{Cell, OnceCell};

use smallvec::SmallVec;

use crate::assembly::settings::Preferences;
use crate::error::{Code, Error, Result};
use crate::limits::{self, Limits};
use crate::loom::chunked_vec::ChunkedVec;
use crate::loom::free_list::{FreeList, FreeMark};
use crate::loom::ids::Ids;
use crate::loom::node_content::NodeContent;
use crate::loom::ordered_slots::OrderedSlots;
use crate::maps::SortedSet;

/// One piece of writing by a human or a model. Its texts may be borrowed from the input.
#[derive(Clone, Debug, PartialEq)]
pub struct Node<'t> {
    /// The id, unique in the tree.
    pub id: Cow<'t, str>,
    /// The content; a mixed content is the list of its blocks.
    pub content: NodeContent<'t>,
    /// The kind of author.
    pub author: Author,
    /// The explicit short name for loom-aware agents; unique in the tree.
    pub local_id: Option<Cow<'t, str>>,
    /// The id of the agent that wrote it.
    pub author_agent_id: Option<Cow<'t, str>>,
    /// The creation time, RFC 3339. Decides between two edits of one node if nothing else does, and gives the age in
    /// headers.
    pub created_at: Option<Cow<'t, str>>,
    /// The id of the node that this one is an edit of.
    pub edited_from: Option<Cow<'t, str>>,
    /// Whether it is left out of every context.
    pub excluded: bool,
    /// Whether it is softly deleted: left out of every context.
    pub pruned: bool,
}

impl<'t> Node<'t> {
    /// A node with this content and no metadata.
    pub fn new(id: impl Into<Cow<'t, str>>, author: Author, content: impl Into<NodeContent<'t>>) -> Self {
        Self { id: id.into(), content: content.into(), author, ..NOTHING }
    }
}

/// The kind of author of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Author {
    /// A person.
    Human,
    /// A language model.
    Model,
}

/// Connects its sources with the node that follows them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edge<'t> {
    /// The id, unique in the tree.
    pub id: Cow<'t, str>,
    /// The sources.
    pub sources: Vec<Source<'t>>,
    /// The id of the node it leads to.
    pub target: Cow<'t, str>,
    /// The kind of the edge.
    pub kind: EdgeKind,
}

/// The kind of an edge.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EdgeKind {
    /// The target continues the sources.
    #[default]
    Continuation,
    /// The target annotates the sources.
    Annotation,
}

/// A source of an edge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source<'t> {
    /// The node.
    pub node: Cow<'t, str>,
    /// Its role in the edge.
    pub role: SourceRole,
}

/// The role of a source in its edge.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SourceRole {
    /// The predecessor, or a version of it.
    #[default]
    Primary,
    /// Reference material, placed before the primary.
    Context,
    /// Appended to the system context.
    Instruction,
}

/// The settings of a tree.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TreeSettings {
    /// The title.
    pub title: Option<String>,
    /// The mode.
    pub mode: TreeMode,
    /// The system context, placed after the agent's system prompt.
    pub system_context: Option<String>,
    /// Whether a buffer assembly includes the system context.
    pub buffer_mode_system_context: bool,
    /// The beginning of a document, unchanged, before the text of the path.
    pub buffer_prefix: Option<String>,
    /// The preferences of the tree.
    pub preferences: Preferences,
}

/// The mode of a tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TreeMode {
    /// A conversation.
    #[default]
    Dialogue,
    /// A document.
    Buffer,
}

/// Index of the slot of a node in its tree.
pub(crate) type NodeIx = u32;
/// Index of an edge in its tree.
pub(crate) type EdgeIx = u32;

/// Most nodes have one incoming and one outgoing edge; two take no more memory in the module than a pointer to more.
type EdgeList = SmallVec<[EdgeIx; 2]>;

/// A source with its node resolved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SourceRef {
    pub node: NodeIx,
    pub role: SourceRole,
}

/// An edge with its nodes resolved.
#[derive(Clone, Debug)]
pub(crate) struct ResolvedEdge<'t> {
    pub id: Cow<'t, str>,
    pub kind: EdgeKind,
    pub links: SmallVec<[SourceRef; 1]>,
    pub target: NodeIx,
}

/// A node with its parents and children.
#[derive(Clone, Debug, Default)]
struct NodeSlot<'t> {
    /// `None` after the node was removed, until the slot is reused.
    node: Option<Node<'t>>,
    /// The incoming continuation edges.
    incoming: EdgeList,
    /// The incoming annotation edges.
    annotated_by: EdgeList,
    /// The edges of either kind with this node as a source.
    outgoing: EdgeList,
    /// The number of continuation edges with this node as the predecessor.
    continuations: u32,
}

/// Nodes and edges with unique ids, whose edges lead to existing nodes. Their texts may be borrowed from the input.
#[derive(Clone, Debug, Default)]
pub struct Tree<'t> {
    settings: TreeSettings,
    places: ChunkedVec<NodeSlot<'t>>,
    free_nodes: FreeList,
    edges: ChunkedVec<Option<ResolvedEdge<'t>>>,
    free_edges: FreeList,
    node_ids: Ids,
    edge_ids: Ids,
    lookups: LookupCache,
    /// The insertion order of nodes and edges. The edges of a node are in the order of edges.
    node_order: OrderedSlots,
    edge_order: OrderedSlots,
    /// The number of continuations in addition to the first one of each node.
    forks: usize,
    /// Slots changed since [`Tree::take_touched`]: the node, an edge to it, or an annotation of it. The children of a
    /// node do not affect the path to it.
    touched: Vec<NodeIx>,
    /// Slots whose relations may have changed since [`Tree::take_related`].
    related: Vec<NodeIx>,
}

/// The recorded free slots of a tree, for restoring them.
#[derive(Debug)]
pub(crate) struct FreePlaces {
    nodes: FreeMark,
    edges: FreeMark,
}

/// The filler for empty slots.
const NOTHING: Node<'_> = Node {
    id: Cow::Borrowed(""),
    content: NodeContent::NOTHING,
    author: Author::Human,
    local_id: None,
    author_agent_id: None,
    created_at: None,
    edited_from: None,
    excluded: false,
    pruned: false,
};

/// Results of earlier look-ups. Not part of the tree's content, so `Debug` omits it.
#[derive(Clone, Default)]
struct LookupCache {
    /// The last node that was looked up. Edges usually are in the order of the nodes, so the next one is near.
    last: Cell<NodeIx>,
    /// The ids of the nodes in order, computed on demand.
    in_order: OnceCell<SortedSet<String>>,
}

impl std::fmt::Debug for LookupCache {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("LookupCache")
    }
}

impl<'t> Tree<'t> {
    /// Checks nodes and edges and links them.
    ///
    /// # Errors
    /// [`Code::DuplicateId`], [`Code::EdgeNodeNotFound`], and [`Code::LimitExceeded`].
    pub fn new(settings: TreeSettings, nodes: Vec<Node<'t>>, edges: Vec<Edge<'t>>, limits: &Limits) -> Result<Self> {
        limits::check("nodes", nodes.len(), limits.nodes)?;
        limits::check("edges", edges.len(), limits.edges)?;
        let mut tree = Self { settings, ..Self::default() };
        tree.places.reserve(nodes.len());
        tree.node_ids.reserve(nodes.len());
        tree.edges.reserve(edges.len());
        tree.edge_ids.reserve(edges.len());
        for node in nodes {
            let ix = index(tree.places.len());
            if !tree.node_ids.add(&node.id, ix, |ix| is_node(&tree.places, ix, &node.id)) {
                return Err(duplicate("node", &node.id));
            }
            tree.places.push(NodeSlot { node: Some(node), ..NodeSlot::default() });
        }
        tree.node_order = OrderedSlots::of(index(tree.places.len()));
        for edge in edges {
            let ix = index(tree.edges.len());
            if !tree.edge_ids.add(&edge.id, ix, |ix| is_edge(&tree.edges, ix, &edge.id)) {
                return Err(duplicate("edge", &edge.id));
            }
            limits::check("edgeSources", edge.sources.len(), limits.edge_sources)?;
            let linked = tree.look_up(edge)?;
            tree.edges.push(None);
            tree.edge_order.put(ix, None);
            tree.link(ix, linked);
        }
        (tree.touched, tree.related) = (Vec::new(), Vec::new());
        Ok(tree)
    }

    /// The tree's settings.
    pub fn settings(&self) -> &TreeSettings {
        &self.settings
    }

    pub(crate) fn set_settings(&mut self, settings: TreeSettings) {
        self.settings = settings;
    }

    /// The nodes, in insertion order.
    pub fn nodes(&self) -> impl Iterator<Item = &Node<'t>> {
        self.node_order.iter().map(|ix| self.at(ix))
    }

    /// The order of the nodes.
    pub(crate) fn node_order(&self) -> &OrderedSlots {
        &self.node_order
    }

    /// The order of the edges.
    pub(crate) fn edge_order(&self) -> &OrderedSlots {
        &self.edge_order
    }

    /// The number of nodes.
    pub fn len(&self) -> usize {
        self.places.len().saturating_sub(self.free_nodes.len())
    }

    /// Whether there are no nodes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of edges.
    pub fn edge_count(&self) -> usize {
        self.edges.len().saturating_sub(self.free_edges.len())
    }

    /// The number of slots for nodes; each [`NodeIx`] is below it.
    pub(crate) fn places(&self) -> usize {
        self.places.len()
    }

    /// The node with this id.
    pub fn node(&self, id: &str) -> Option<&Node<'t>> {
        self.find_opt(id).map(|ix| self.at(ix))
    }

    /// The slot of the node with this id.
    pub(crate) fn find(&self, id: &str) -> Result<NodeIx> {
        self.find_opt(id).ok_or_else(|| {
            Error::new(Code::NodeNotFound, format!("node `{id}` is not in the tree; check the id, or add the node"))
                .with("nodeId", id)
        })
    }

    /// The slot of the node with this id, if present.
    pub(crate) fn find_opt(&self, id: &str) -> Option<NodeIx> {
        let last = self.lookups.last.get();
        let is_it = |ix: &NodeIx| is_node(&self.places, *ix, id);
        // An edge names its target, the node after the target of the previous edge, and then the node before that.
        let near = [2, -1, 1, 0].map(|step| last.wrapping_add_signed(step)).into_iter().find(is_it);
        let found = near.or_else(|| self.node_ids.find(id, |ix| is_it(&ix)))?;
        self.lookups.last.set(found);
        Some(found)
    }

    /// The slot of the edge with this id, if present.
    pub(crate) fn find_edge(&self, id: &str) -> Option<EdgeIx> {
        self.edge_ids.find(id, |ix| is_edge(&self.edges, ix, id))
    }

    /// The node at this slot; an empty one if missing.
    #[inline(always)]
    pub(crate) fn at(&self, ix: NodeIx) -> &Node<'t> {
        self.places.get(ix as usize).and_then(|place| place.node.as_ref()).unwrap_or(&NOTHING)
    }

    /// The edge at this slot.
    #[expect(clippy::expect_used, reason = "an EdgeIx comes from the lists of this tree, which a removed edge leaves")]
    pub(crate) fn edge(&self, ix: EdgeIx) -> &ResolvedEdge<'t> {
        self.edge_opt(ix).expect("the edge is there")
    }

    #[inline(always)]
    fn edge_opt(&self, ix: EdgeIx) -> Option<&ResolvedEdge<'t>> {
        self.edges.get(ix as usize).and_then(Option::as_ref)
    }

    /// The sources of an edge.
    #[inline(always)]
    pub(crate) fn sources(&self, ix: EdgeIx) -> &[SourceRef] {
        self.edge_opt(ix).map_or(&[], |edge| &*edge.links)
    }

    /// The incoming continuation edges of a node, in order.
    pub(crate) fn incoming(&self, ix: NodeIx) -> &[EdgeIx] {
        self.places.get(ix as usize).map_or(&[], |place| &*place.incoming)
    }

    /// The incoming annotation edges of a node, in order.
    pub(crate) fn annotated_by(&self, ix: NodeIx) -> &[EdgeIx] {
        self.places.get(ix as usize).map_or(&[], |place| &*place.annotated_by)
    }

    /// The edges with this node as a source, in order.
    pub(crate) fn outgoing(&self, ix: NodeIx) -> &[EdgeIx] {
        self.places.get(ix as usize).map_or(&[], |place| &*place.outgoing)
    }

    /// The edges with this node as a source, before and after one of them.
    pub(crate) fn outgoing_around(&self, ix: NodeIx, edge: EdgeIx) -> (&[EdgeIx], &[EdgeIx]) {
        let edges = self.outgoing(ix);
        let rank = self.edge_order.rank(edge);
        let at = edges.partition_point(|&other| self.edge_order.rank(other) < rank);
        (edges.get(..at).unwrap_or_default(), edges.get(at.saturating_add(1)..).unwrap_or_default())
    }

    /// Whether there is a node at this slot.
    pub(crate) fn is_there(&self, ix: NodeIx) -> bool {
        self.places.get(ix as usize).is_some_and(|place| place.node.is_some())
    }

    /// Whether this node has a child.
    pub(crate) fn has_child(&self, ix: NodeIx) -> bool {
        self.places.get(ix as usize).is_some_and(|place| place.continuations > 0)
    }

    /// The annotations of a node, in the order of their edges.
    pub(crate) fn annotations(&self, ix: NodeIx) -> impl DoubleEndedIterator<Item = NodeIx> {
        let edges = self.outgoing(ix).iter().filter_map(|&edge| self.edge_opt(edge));
        edges.filter(|edge| edge.kind == EdgeKind::Annotation).map(|edge| edge.target)
    }

    /// The children of a node; one with two edges from it is repeated.
    pub(crate) fn continuations(&self, ix: NodeIx) -> impl Iterator<Item = NodeIx> {
        let edges = self.outgoing(ix).iter().filter_map(|&edge| self.edge_opt(edge));
        let on = edges.filter(move |edge| edge.origins().any(|origin| origin == ix));
        on.map(|edge| edge.target)
    }

    /// The number of branches of the tree: one, plus one for each continuation in addition to the first of its node.
    pub(crate) fn branches(&self) -> usize {
        self.forks.saturating_add(1)
    }

    /// The ids before and after one in the order of ids.
    pub(crate) fn adjacent_ids(&self, id: &str) -> [Option<&str>; 2] {
        let ids =
            self.lookups.in_order.get_or_init(|| SortedSet::from_iter(self.nodes().map(|node| node.id.to_string())));
        [ids.before(id), ids.at_least(id).find(|other| *other != id)].map(|found| found.map(String::as_str))
    }

    /// Replaces the node with the same id, or adds a new one.
    pub(crate) fn put_node(&mut self, node: Node<'t>) -> NodeIx {
        let Some(ix) = self.find_opt(&node.id) else { return self.add_node(node) };
        if let Some(place) = self.places.get_mut(ix as usize) {
            place.node = Some(node);
        }
        self.touched.push(ix);
        self.related.push(ix);
        ix
    }

    /// Changes the text at the end of a node, as [`NodeContent::edit_last_text`] does.
    pub(crate) fn edit_last_text(&mut self, ix: NodeIx, edit: impl FnOnce(&mut String)) {
        if let Some(node) = self.places.get_mut(ix as usize).and_then(|place| place.node.as_mut()) {
            node.content.edit_last_text(edit);
            self.touched.push(ix);
        }
    }

    fn add_node(&mut self, node: Node<'t>) -> NodeIx {
        let ix = self.free_nodes.take().unwrap_or_else(|| {
            self.places.push(NodeSlot::default());
            index(self.places.len().saturating_sub(1))
        });
        self.node_ids.add(&node.id, ix, |ix| is_node(&self.places, ix, &node.id));
        self.node_order.put(ix, None);
        if let Some(ids) = self.lookups.in_order.get_mut() {
            ids.insert(node.id.to_string());
        }
        if let Some(place) = self.places.get_mut(ix as usize) {
            place.node = Some(node);
        }
        self.touched.push(ix);
        self.related.push(ix);
        ix
    }

    /// Resolves the nodes of an edge.
    fn look_up(&self, edge: Edge<'t>) -> Result<ResolvedEdge<'t>> {
        let find = |id: &str| self.find_opt(id).ok_or_else(|| edge_node_not_found(&edge.id, id));
        let target = find(&edge.target)?;
        let mut links = SmallVec::new();
        for source in &edge.sources {
            links.push(SourceRef { node: find(&source.node)?, role: source.role });
        }
        Ok(ResolvedEdge { id: edge.id, kind: edge.kind, links, target })
    }

    /// Replaces the edge with the same id, at its position, or adds one at the end. Its nodes must exist.
    pub(crate) fn put_edge(&mut self, edge: Edge<'t>) -> Option<EdgeIx> {
        let linked = self.look_up(edge).ok()?;
        let ix = match self.find_edge(&linked.id) {
            Some(ix) => {
                self.unlink(ix);
                ix
            }
            None => {
                let ix = self.free_edges.take().unwrap_or_else(|| {
                    self.edges.push(None);
                    index(self.edges.len().saturating_sub(1))
                });
                self.edge_ids.add(&linked.id, ix, |ix| is_edge(&self.edges, ix, &linked.id));
                self.edge_order.put(ix, None);
                ix
            }
        };
        self.link(ix, linked);
        Some(ix)
    }

    /// Moves a node before another in the order of nodes, or to its end.
    pub(crate) fn move_node(&mut self, ix: NodeIx, before: Option<NodeIx>) {
        if before != Some(ix) {
            self.node_order.take(ix);
            self.node_order.put(ix, before);
        }
    }

    /// Moves an edge before another in the order of edges, or to its end.
    pub(crate) fn move_edge(&mut self, ix: EdgeIx, before: Option<EdgeIx>) {
        if before == Some(ix) {
            return;
        }
        if let Some(edge) = self.unlink(ix) {
            self.edge_order.take(ix);
            self.edge_order.put(ix, before);
            self.link(ix, edge);
        }
    }

    /// An edge in the form of the input.
    pub(crate) fn edge_data(&self, ix: EdgeIx) -> Option<Edge<'_>> {
        let linked = self.edge_opt(ix)?;
        let id = |node: NodeIx| Cow::Borrowed(&*self.at(node).id);
        let source = |link: &SourceRef| Source { node: id(link.node), role: link.role };
        Some(Edge {
            id: Cow::Borrowed(&linked.id),
            sources: linked.links.iter().map(source).collect(),
            target: id(linked.target),
            kind: linked.kind,
        })
    }

    /// Removes sources from an edge.
    pub(crate) fn drop_sources(&mut self, ix: EdgeIx, gone: impl Fn(NodeIx) -> bool) {
        if let Some(mut edge) = self.unlink(ix) {
            let left = edge.links.iter().filter(|link| !gone(link.node));
            edge.links = left.copied().collect();
            self.link(ix, edge);
        }
    }

    /// Records the free slots before a change that adds at most this many nodes and edges.
    pub(crate) fn free_places(&self, nodes: usize, edges: usize) -> FreePlaces {
        FreePlaces {
            nodes: self.free_nodes.mark(nodes, index(self.places.len())),
            edges: self.free_edges.mark(edges, index(self.edges.len())),
        }
    }

    /// Restores the free slots after everything added since was removed. `nodes` and `edges` are the slots of entries
    /// removed since, in the order in which they are added again.
    pub(crate) fn restore_free_places(&mut self, free: FreePlaces, nodes: &[NodeIx], edges: &[EdgeIx]) {
        self.free_nodes.restore(free.nodes, index(self.places.len()), nodes);
        self.free_edges.restore(free.edges, index(self.edges.len()), edges);
    }

    /// Removes an edge.
    pub(crate) fn remove_edge(&mut self, ix: EdgeIx) {
        if let Some(edge) = self.unlink(ix) {
            self.edge_ids.remove(&edge.id, ix);
            self.edge_order.take(ix);
            self.free_edges.give(ix);
        }
    }

    /// Removes a node without edges.
    pub(crate) fn remove_node(&mut self, ix: NodeIx) {
        if let Some(node) = self.places.get_mut(ix as usize).and_then(|place| place.node.take()) {
            self.node_ids.remove(&node.id, ix);
            self.node_order.take(ix);
            if let Some(ids) = self.lookups.in_order.get_mut() {
                ids.remove(&*node.id);
            }
            self.free_nodes.give(ix);
            self.touched.push(ix);
            self.related.push(ix);
        }
    }

    fn link(&mut self, ix: EdgeIx, edge: ResolvedEdge<'t>) {
        let order = &self.edge_order;
        let rank = order.rank(ix);
        let add = |list: &mut EdgeList| {
            let at = list.partition_point(|&other| order.rank(other) < rank);
            // A node may be a source of one edge twice.
            if list.get(at) != Some(&ix) {
                list.insert(at, ix);
            }
        };
        if let Some(place) = self.places.get_mut(edge.target as usize) {
            match edge.kind {
                EdgeKind::Continuation => add(&mut place.incoming),
                EdgeKind::Annotation => add(&mut place.annotated_by),
            }
        }
        for link in edge.links.iter() {
            if let Some(place) = self.places.get_mut(link.node as usize) {
                add(&mut place.outgoing);
            }
        }
        self.touched.extend(edge.touches());
        self.related.extend(edge.links.iter().map(|link| link.node).chain([edge.target]));
        for node in edge.origins() {
            if let Some(place) = self.places.get_mut(node as usize) {
                self.forks += usize::from(place.continuations > 0);
                place.continuations += 1;
            }
        }
        if let Some(place) = self.edges.get_mut(ix as usize) {
            *place = Some(edge);
        }
    }

    fn unlink(&mut self, ix: EdgeIx) -> Option<ResolvedEdge<'t>> {
        let edge = self.edges.get_mut(ix as usize)?.take()?;
        self.touched.extend(edge.touches());
        self.related.extend(edge.links.iter().map(|link| link.node).chain([edge.target]));
        for node in edge.origins() {
            if let Some(place) = self.places.get_mut(node as usize) {
                place.continuations = place.continuations.saturating_sub(1);
                self.forks = self.forks.saturating_sub(usize::from(place.continuations > 0));
            }
        }
        let nodes = edge.links.iter().map(|link| link.node).chain([edge.target]);
        for node in nodes {
            let Some(place) = self.places.get_mut(node as usize) else { continue };
            for list in [&mut place.incoming, &mut place.annotated_by, &mut place.outgoing] {
                // A node may have many edges: find this one by its order.
                let rank = self.edge_order.rank(ix);
                let at = list.partition_point(|&other| self.edge_order.rank(other) < rank);
                if list.get(at) == Some(&ix) {
                    list.remove(at);
                }
            }
        }
        Some(edge)
    }

    /// The slots changed since the last call.
    pub(crate) fn take_touched(&mut self) -> Vec<NodeIx> {
        std::mem::take(&mut self.touched)
    }

    /// The slots whose relations may have changed since the last call.
    pub(crate) fn take_related(&mut self) -> Vec<NodeIx> {
        std::mem::take(&mut self.related)
    }
}

impl ResolvedEdge<'_> {
    /// The parents of the target: none for an annotation.
    fn origins(&self) -> impl Iterator<Item = NodeIx> {
        let links = if self.kind == EdgeKind::Continuation { &*self.links } else { &[] };
        predecessors(links)
    }

    /// The nodes that a change of the edge affects.
    fn touches(&self) -> impl Iterator<Item = NodeIx> {
        let remark = self.kind == EdgeKind::Annotation;
        self.links.iter().filter(move |_| remark).map(|link| link.node).chain([self.target])
    }
}

impl Edge<'_> {
    /// The edge with owned texts.
    pub(crate) fn into_owned(self) -> Edge<'static> {
        let own = |text: Cow<'_, str>| Cow::Owned(text.into_owned());
        let source = |source: Source<'_>| Source { node: own(source.node), role: source.role };
        let sources = self.sources.into_iter().map(source).collect();
        Edge { id: own(self.id), sources, target: own(self.target), kind: self.kind }
    }

    /// The ids of all its nodes.
    pub(crate) fn nodes(&self) -> impl Iterator<Item = &str> {
        std::iter::once(&*self.target).chain(self.sources.iter().map(|source| &*source.node))
    }
}

/// The sources that can be the predecessor: those with role primary, else the first one.
pub(crate) fn predecessors(sources: &[SourceRef]) -> impl Iterator<Item = NodeIx> {
    let fallback = sources.first().filter(|_| sources.iter().all(|link| link.role != SourceRole::Primary));
    sources.iter().filter(|link| link.role == SourceRole::Primary).chain(fallback).map(|link| link.node)
}

fn is_node(places: &ChunkedVec<NodeSlot<'_>>, ix: NodeIx, id: &str) -> bool {
    // Ids of neighbors usually differ at the end.
    let last = |id: &str| id.as_bytes().last().copied();
    let node = places.get(ix as usize).and_then(|place| place.node.as_ref());
    node.is_some_and(|node| last(&node.id) == last(id) && node.id == id)
}

fn is_edge(edges: &ChunkedVec<Option<ResolvedEdge<'_>>>, ix: EdgeIx, id: &str) -> bool {
    edges.get(ix as usize).and_then(Option::as_ref).is_some_and(|edge| edge.id == id)
}

/// A slot as an index. The limits keep it far below the bound.
fn index(place: usize) -> u32 {
    u32::try_from(place).unwrap_or(u32::MAX)
}

pub(crate) fn duplicate(kind: &str, id: &str) -> Error {
    Error::new(Code::DuplicateId, format!("two {kind}s have the id `{id}`; ids must be unique"))
        .with("kind", kind)
        .with("id", id)
}

pub(crate) fn edge_node_not_found(edge: &str, node: &str) -> Error {
    let message =
        format!("edge `{edge}` names node `{node}`, which is not in the tree; add the node or remove the edge");
    Error::new(Code::EdgeNodeNotFound, message).with("edgeId", edge).with("nodeId", node)
}
