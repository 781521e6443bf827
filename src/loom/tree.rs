//! The Loom tree: nodes, edges, and the checks that make them a tree one can rely on (SPEC §1 "Model").
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

/// One piece of writing by a human or a model. Its texts may be borrowed from what it was read from.
#[derive(Clone, Debug, PartialEq)]
pub struct Node<'t> {
    /// Unique in the tree.
    pub id: Cow<'t, str>,
    /// What it says; a mixed content is the list of its blocks.
    pub content: NodeContent<'t>,
    /// Who wrote it.
    pub author: Author,
    /// What a loom-aware agent calls it, where the tree says so; unique in the tree.
    pub local_id: Option<Cow<'t, str>>,
    /// The agent who wrote it.
    pub author_agent_id: Option<Cow<'t, str>>,
    /// RFC 3339. Decides between two edits of one node when nothing else does, and gives the age in headers.
    pub created_at: Option<Cow<'t, str>>,
    /// The id of the node that this one is an edit of.
    pub edited_from: Option<Cow<'t, str>>,
    /// Left out of every context.
    pub excluded: bool,
    /// Deleted, softly: left out of every context.
    pub pruned: bool,
}

impl<'t> Node<'t> {
    /// A node that says this, with nothing noted about it.
    pub fn new(id: impl Into<Cow<'t, str>>, author: Author, content: impl Into<NodeContent<'t>>) -> Self {
        Self {
            id: id.into(),
            content: content.into(),
            author,
            local_id: None,
            author_agent_id: None,
            created_at: None,
            edited_from: None,
            excluded: false,
            pruned: false,
        }
    }
}

/// Who wrote a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Author {
    /// A person.
    Human,
    /// A language model.
    Model,
}

/// Leads from its sources to the node that follows them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edge<'t> {
    /// Unique in the tree.
    pub id: Cow<'t, str>,
    /// Where it starts.
    pub sources: Vec<Source<'t>>,
    /// The id of the node it leads to.
    pub target: Cow<'t, str>,
    /// What it means.
    pub kind: EdgeKind,
}

/// What an edge means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EdgeKind {
    /// The target continues the sources.
    #[default]
    Continuation,
    /// The target is a remark about the sources.
    Annotation,
}

/// One node that an edge starts from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source<'t> {
    /// The node.
    pub node: Cow<'t, str>,
    /// What it is to the edge.
    pub role: SourceRole,
}

/// What a source is to its edge.
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

/// What a tree says about itself, next to its nodes and edges.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TreeSettings {
    /// What the tree is called.
    pub title: Option<String>,
    /// What the tree is for.
    pub mode: TreeMode,
    /// Comes after the agent's system prompt.
    pub system_context: Option<String>,
    /// Whether a buffer assembly includes the system context.
    pub buffer_mode_system_context: bool,
    /// Stands at the beginning of a document, before the text of the path, as it is.
    pub buffer_prefix: Option<String>,
    /// The tree's own preferences.
    pub preferences: Preferences,
}

/// What a tree is for.
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

/// Most nodes have one edge to them and one from them; two take no more room in the module than a pointer to more.
type EdgeList = SmallVec<[EdgeIx; 2]>;

/// A source with its node looked up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SourceRef {
    pub node: NodeIx,
    pub role: SourceRole,
}

/// An edge with its nodes looked up.
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
    /// None where the node was removed, until another takes its place.
    node: Option<Node<'t>>,
    /// The continuation edges that lead to it.
    incoming: EdgeList,
    /// The annotation edges that lead to it.
    annotated_by: EdgeList,
    /// The edges of either kind that it is a source of.
    outgoing: EdgeList,
    /// How many continuation edges it is the predecessor in.
    continuations: u32,
}

/// Nodes and edges whose ids are unique and whose edges lead to nodes that exist. Their texts may be borrowed from what
/// they were read from.
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
    /// In which nodes and edges were given. The edges of a node stand in the order of edges.
    node_order: OrderedSlots,
    edge_order: OrderedSlots,
    /// How many continuations there are next to the first one of each node.
    forks: usize,
    /// Places of which something changed since [`Tree::take_touched`]: the node, an edge to it, or a remark about it.
    /// Who continues a node changes nothing about the way to it.
    touched: Vec<NodeIx>,
    /// Places to, from or at which something came, went or was replaced since [`Tree::take_related`].
    related: Vec<NodeIx>,
}

/// The free places of a tree, to be restored.
#[derive(Debug)]
pub(crate) struct FreePlaces {
    nodes: FreeMark,
    edges: FreeMark,
}

/// What stands where there is no node.
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

/// What earlier look-ups found, for the next ones. It is no part of what the tree says, so it does not show.
#[derive(Clone, Default)]
struct LookupCache {
    /// The node that was looked up last. Edges mostly come in the order of the nodes, so that the next one is near.
    last: Cell<NodeIx>,
    /// The ids of the nodes in their order, once somebody wanted to know it.
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
    /// [`Code::DuplicateId`], [`Code::EdgeNodeNotFound`], and [`Code::LimitExceeded`] for too many of anything.
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

    /// What the tree says about itself.
    pub fn settings(&self) -> &TreeSettings {
        &self.settings
    }

    pub(crate) fn set_settings(&mut self, settings: TreeSettings) {
        self.settings = settings;
    }

    /// The nodes, in the order in which they were given.
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

    /// How many nodes there are.
    pub fn len(&self) -> usize {
        self.places.len().saturating_sub(self.free_nodes.len())
    }

    /// Whether there are no nodes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many edges there are.
    pub fn edge_count(&self) -> usize {
        self.edges.len().saturating_sub(self.free_edges.len())
    }

    /// How many places for nodes there are; each [`NodeIx`] is below that.
    pub(crate) fn places(&self) -> usize {
        self.places.len()
    }

    /// The node with this id.
    pub fn node(&self, id: &str) -> Option<&Node<'t>> {
        self.find_opt(id).map(|ix| self.at(ix))
    }

    /// The place of the node with this id.
    pub(crate) fn find(&self, id: &str) -> Result<NodeIx> {
        self.find_opt(id).ok_or_else(|| {
            Error::new(Code::NodeNotFound, format!("node `{id}` is not in the tree; check the id, or add the node"))
                .with("nodeId", id)
        })
    }

    /// The place of the node with this id, where there is one.
    pub(crate) fn find_opt(&self, id: &str) -> Option<NodeIx> {
        let last = self.lookups.last.get();
        let is_it = |ix: &NodeIx| is_node(&self.places, *ix, id);
        // An edge names its target, the node after the one that the edge before led to, and then the node before that.
        let near = [2, -1, 1, 0].map(|step| last.wrapping_add_signed(step)).into_iter().find(is_it);
        let found = near.or_else(|| self.node_ids.find(id, |ix| is_it(&ix)))?;
        self.lookups.last.set(found);
        Some(found)
    }

    /// The place of the edge with this id, where there is one.
    pub(crate) fn find_edge(&self, id: &str) -> Option<EdgeIx> {
        self.edge_ids.find(id, |ix| is_edge(&self.edges, ix, id))
    }

    /// The node at this place; an empty one if missing.
    #[inline(always)]
    pub(crate) fn at(&self, ix: NodeIx) -> &Node<'t> {
        self.places.get(ix as usize).and_then(|place| place.node.as_ref()).unwrap_or(&NOTHING)
    }

    /// The edge at this place.
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

    /// The continuation edges that lead to a node, in order.
    pub(crate) fn incoming(&self, ix: NodeIx) -> &[EdgeIx] {
        self.places.get(ix as usize).map_or(&[], |place| &*place.incoming)
    }

    /// The annotation edges that lead to a node, in order.
    pub(crate) fn annotated_by(&self, ix: NodeIx) -> &[EdgeIx] {
        self.places.get(ix as usize).map_or(&[], |place| &*place.annotated_by)
    }

    /// The edges that a node is a source of, in order.
    pub(crate) fn outgoing(&self, ix: NodeIx) -> &[EdgeIx] {
        self.places.get(ix as usize).map_or(&[], |place| &*place.outgoing)
    }

    /// The edges that a node is a source of, before and after one of them.
    pub(crate) fn outgoing_around(&self, ix: NodeIx, edge: EdgeIx) -> (&[EdgeIx], &[EdgeIx]) {
        let edges = self.outgoing(ix);
        let rank = self.edge_order.rank(edge);
        let at = edges.partition_point(|&other| self.edge_order.rank(other) < rank);
        (edges.get(..at).unwrap_or_default(), edges.get(at.saturating_add(1)..).unwrap_or_default())
    }

    /// Whether there is a node at this place.
    pub(crate) fn is_there(&self, ix: NodeIx) -> bool {
        self.places.get(ix as usize).is_some_and(|place| place.node.is_some())
    }

    /// Whether this node has a child.
    pub(crate) fn goes_on(&self, ix: NodeIx) -> bool {
        self.places.get(ix as usize).is_some_and(|place| place.continuations > 0)
    }

    /// The annotations of a node, in the order of their edges.
    pub(crate) fn annotations(&self, ix: NodeIx) -> impl DoubleEndedIterator<Item = NodeIx> {
        let edges = self.outgoing(ix).iter().filter_map(|&edge| self.edge_opt(edge));
        edges.filter(|edge| edge.kind == EdgeKind::Annotation).map(|edge| edge.target)
    }

    /// The children of a node; one that two edges lead to is there twice.
    pub(crate) fn continuations(&self, ix: NodeIx) -> impl Iterator<Item = NodeIx> {
        let edges = self.outgoing(ix).iter().filter_map(|&edge| self.edge_opt(edge));
        let on = edges.filter(move |edge| edge.origins().any(|origin| origin == ix));
        on.map(|edge| edge.target)
    }

    /// How many ways there are through the tree: one, and one more for each continuation next to the first of its node.
    pub(crate) fn branches(&self) -> usize {
        self.forks.saturating_add(1)
    }

    /// The ids that come before and after one in the order of ids.
    pub(crate) fn neighbours(&self, id: &str) -> [Option<&str>; 2] {
        let ids =
            self.lookups.in_order.get_or_init(|| SortedSet::from_iter(self.nodes().map(|node| node.id.to_string())));
        [ids.before(id), ids.at_least(id).find(|other| *other != id)].map(|found| found.map(String::as_str))
    }

    /// Puts a node in the place of the one with its id, else in a new one.
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

    /// Looks up the nodes of an edge.
    fn look_up(&self, edge: Edge<'t>) -> Result<ResolvedEdge<'t>> {
        let find = |id: &str| self.find_opt(id).ok_or_else(|| edge_node_not_found(&edge.id, id));
        let target = find(&edge.target)?;
        let mut links = SmallVec::new();
        for source in &edge.sources {
            links.push(SourceRef { node: find(&source.node)?, role: source.role });
        }
        Ok(ResolvedEdge { id: edge.id, kind: edge.kind, links, target })
    }

    /// Puts an edge in the place, and at the order, of the one with its id, else last. Its nodes have to be there.
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

    /// An edge as it is given.
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

    /// Takes sources away from an edge.
    pub(crate) fn drop_sources(&mut self, ix: EdgeIx, gone: impl Fn(NodeIx) -> bool) {
        if let Some(mut edge) = self.unlink(ix) {
            let left = edge.links.iter().filter(|link| !gone(link.node));
            edge.links = left.copied().collect();
            self.link(ix, edge);
        }
    }

    /// Notes the free places before a change that adds at most so many nodes and edges.
    pub(crate) fn free_places(&self, nodes: usize, edges: usize) -> FreePlaces {
        FreePlaces {
            nodes: self.free_nodes.mark(nodes, index(self.places.len())),
            edges: self.free_edges.mark(edges, index(self.edges.len())),
        }
    }

    /// Restores the free places, when what was added since is removed. `nodes` and `edges` are the places of what was removed
    /// since, in the order in which it is added again.
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

    /// Removes a node to which no edge leads and from which none starts.
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
                // A node may have a great many edges: look for this one by its order.
                let rank = self.edge_order.rank(ix);
                let at = list.partition_point(|&other| self.edge_order.rank(other) < rank);
                if list.get(at) == Some(&ix) {
                    list.remove(at);
                }
            }
        }
        Some(edge)
    }

    /// The places of which something changed since this was asked last.
    pub(crate) fn take_touched(&mut self) -> Vec<NodeIx> {
        std::mem::take(&mut self.touched)
    }

    /// The places of which it may have changed since this was asked last how they are related to others.
    pub(crate) fn take_related(&mut self) -> Vec<NodeIx> {
        std::mem::take(&mut self.related)
    }
}

impl ResolvedEdge<'_> {
    /// Its parents: none for a remark.
    fn origins(&self) -> impl Iterator<Item = NodeIx> {
        let links = if self.kind == EdgeKind::Continuation { &*self.links } else { &[] };
        predecessors(links)
    }

    /// The nodes of which something changes with the edge.
    fn touches(&self) -> impl Iterator<Item = NodeIx> {
        let remark = self.kind == EdgeKind::Annotation;
        self.links.iter().filter(move |_| remark).map(|link| link.node).chain([self.target])
    }
}

impl Edge<'_> {
    /// The same, of its own.
    pub(crate) fn into_owned(self) -> Edge<'static> {
        let own = |text: Cow<'_, str>| Cow::Owned(text.into_owned());
        let source = |source: Source<'_>| Source { node: own(source.node), role: source.role };
        let sources = self.sources.into_iter().map(source).collect();
        Edge { id: own(self.id), sources, target: own(self.target), kind: self.kind }
    }

    /// The ids of all the nodes it names.
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
    // Neighbours mostly differ at the end of their ids.
    let last = |id: &str| id.as_bytes().last().copied();
    let node = places.get(ix as usize).and_then(|place| place.node.as_ref());
    node.is_some_and(|node| last(&node.id) == last(id) && node.id == id)
}

fn is_edge(edges: &ChunkedVec<Option<ResolvedEdge<'_>>>, ix: EdgeIx, id: &str) -> bool {
    edges.get(ix as usize).and_then(Option::as_ref).is_some_and(|edge| edge.id == id)
}

/// A place as an index. The limits keep it far below the bound.
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
