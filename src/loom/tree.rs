//! The Loom tree: nodes, edges, and the checks that make them a tree one can rely on (SPEC §1 "Model").

use std::collections::BTreeMap;

use serde_json::Value;

use crate::error::{Code, Error, Result};
use crate::limits::{self, Limits};
use crate::loom::preferences::Preferences;

/// One piece of writing by a human or a model.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Unique in the tree.
    pub id: String,
    /// What it says; a mixed content is the list of its blocks.
    pub content: Vec<Block>,
    /// Who wrote it.
    pub author: Author,
    /// What a loom-aware agent calls it, where the tree says so; unique in the tree.
    pub local_id: Option<String>,
    /// The agent who wrote it.
    pub author_agent_id: Option<String>,
    /// RFC 3339. Decides between two edits of one node when nothing else does, and gives the age in headers.
    pub created_at: Option<String>,
    /// The id of the node that this one is an edit of.
    pub edited_from: Option<String>,
    /// Left out of every context.
    pub excluded: bool,
    /// Deleted, softly: left out of every context.
    pub pruned: bool,
}

impl Node {
    /// A node that says this, with nothing noted about it.
    pub fn new(id: impl Into<String>, author: Author, content: Vec<Block>) -> Self {
        Self {
            id: id.into(),
            content,
            author,
            local_id: None,
            author_agent_id: None,
            created_at: None,
            edited_from: None,
            excluded: false,
            pruned: false,
        }
    }

    /// Whether a text of the node holds this character.
    #[cfg(target_arch = "wasm32")]
    pub(crate) fn holds(&self, ch: char) -> bool {
        let local_id = self.local_id.as_ref();
        self.id.contains(ch)
            || local_id.is_some_and(|id| id.contains(ch))
            || self.content.iter().any(|block| block.holds(ch))
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

/// One block of a node's content.
#[derive(Clone, Debug, PartialEq)]
pub enum Block {
    /// Text.
    Text(String),
    /// An image.
    Image {
        /// Key into the request's media.
        reference: String,
        /// Such as `image/png`.
        mime_type: String,
        /// Pixels.
        width: Option<u32>,
        /// Pixels.
        height: Option<u32>,
        /// What it shows, in words.
        alt_text: Option<String>,
    },
    /// A recording.
    Audio {
        /// Key into the request's media.
        reference: String,
        /// Such as `audio/wav`.
        mime_type: String,
        /// Milliseconds.
        duration_ms: Option<u32>,
        /// Where the words of it are.
        transcript_ref: Option<String>,
    },
    /// A call that the model made.
    ToolCall {
        /// Pairs the call with its result.
        id: String,
        /// The tool.
        name: String,
        /// Any JSON value; a string is the JSON text of the arguments.
        arguments: Value,
    },
    /// What a tool answered.
    ToolResult {
        /// The call it answers.
        tool_call_id: String,
        /// Text and media.
        content: Vec<Block>,
        /// Whether the tool failed, where that is said.
        is_error: Option<bool>,
    },
    /// What the model thought.
    Reasoning {
        /// The thoughts.
        text: String,
        /// The provider's proof of them.
        signature: Option<String>,
    },
}

impl Block {
    #[cfg(target_arch = "wasm32")]
    fn holds(&self, ch: char) -> bool {
        match self {
            Self::Text(text) | Self::Reasoning { text, .. } => text.contains(ch),
            Self::Image { alt_text, .. } => alt_text.as_ref().is_some_and(|text| text.contains(ch)),
            Self::Audio { .. } => false,
            Self::ToolCall { arguments, .. } => arguments.to_string().contains(ch),
            Self::ToolResult { content, .. } => content.iter().any(|block| block.holds(ch)),
        }
    }
}

/// Leads from its sources to the node that follows them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edge {
    /// Unique in the tree.
    pub id: String,
    /// Where it starts.
    pub sources: Vec<Source>,
    /// The id of the node it leads to.
    pub target: String,
    /// What it means.
    pub kind: EdgeKind,
}

/// What an edge means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EdgeKind {
    /// The target goes on from the sources.
    #[default]
    Continuation,
    /// The target is a remark about the sources.
    Annotation,
}

/// One node that an edge starts from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// The node.
    pub node: String,
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

/// What a tree says about itself, beside its nodes and edges.
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

/// Place of a node in its tree.
pub(crate) type NodeIx = u32;
/// Place of an edge in its tree.
pub(crate) type EdgeIx = u32;

/// A source with its node looked up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Link {
    pub node: NodeIx,
    pub role: SourceRole,
}

/// Nodes and edges whose ids are unique and whose edges lead to nodes that exist.
#[derive(Clone, Debug)]
pub struct Tree {
    settings: TreeSettings,
    nodes: Vec<Node>,
    edges: Vec<Edge>,
    links: Vec<Vec<Link>>,
    by_id: BTreeMap<String, NodeIx>,
    /// For each node, the continuation edges that lead to it.
    incoming: Vec<Vec<EdgeIx>>,
    /// For each node, the annotation edges that lead to it.
    annotated_by: Vec<Vec<EdgeIx>>,
    /// For each node, the targets of the annotation edges that start from it.
    annotations: Vec<Vec<NodeIx>>,
    /// For each node, the targets of the continuation edges that it is the predecessor in.
    continuations: Vec<Vec<NodeIx>>,
    /// How many continuations there are beside the first one of each node.
    forks: usize,
    /// For each edge, its target.
    targets: Vec<NodeIx>,
}

impl Tree {
    /// Checks nodes and edges and links them.
    ///
    /// # Errors
    /// [`Code::DuplicateId`], [`Code::EdgeNodeNotFound`], and [`Code::LimitExceeded`] for too many of anything.
    pub fn new(settings: TreeSettings, nodes: Vec<Node>, edges: Vec<Edge>, limits: &Limits) -> Result<Self> {
        limits::check("nodes", nodes.len(), limits.nodes)?;
        limits::check("edges", edges.len(), limits.edges)?;
        let mut by_id = BTreeMap::new();
        for (ix, node) in (0..).zip(&nodes) {
            if by_id.insert(node.id.clone(), ix).is_some() {
                return Err(duplicate("node", &node.id));
            }
        }
        let mut tree = Self {
            settings,
            incoming: vec![Vec::new(); nodes.len()],
            annotated_by: vec![Vec::new(); nodes.len()],
            annotations: vec![Vec::new(); nodes.len()],
            continuations: vec![Vec::new(); nodes.len()],
            forks: 0,
            links: Vec::with_capacity(edges.len()),
            targets: Vec::with_capacity(edges.len()),
            nodes,
            edges: Vec::new(),
            by_id,
        };
        let mut edge_ids = std::collections::BTreeSet::new();
        for (ix, edge) in (0..).zip(&edges) {
            if !edge_ids.insert(edge.id.as_str()) {
                return Err(duplicate("edge", &edge.id));
            }
            limits::check("edgeSources", edge.sources.len(), limits.edge_sources)?;
            tree.link(ix, edge)?;
        }
        tree.edges = edges;
        Ok(tree)
    }

    fn link(&mut self, ix: EdgeIx, edge: &Edge) -> Result<()> {
        let find = |id: &str| {
            self.by_id.get(id).copied().ok_or_else(|| {
                let message = format!(
                    "edge `{}` names node `{id}`, which is not in the tree; add the node or remove the edge",
                    edge.id
                );
                Error::new(Code::EdgeNodeNotFound, message).with("edgeId", edge.id.as_str()).with("nodeId", id)
            })
        };
        let target = find(&edge.target)?;
        let links: Vec<Link> = edge
            .sources
            .iter()
            .map(|source| Ok(Link { node: find(&source.node)?, role: source.role }))
            .collect::<Result<_>>()?;
        let list = match edge.kind {
            EdgeKind::Continuation => {
                for source in predecessors(&links) {
                    self.forks += usize::from(!self.continuations(source).is_empty());
                    push(&mut self.continuations, source, target);
                }
                &mut self.incoming
            }
            EdgeKind::Annotation => {
                for link in &links {
                    push(&mut self.annotations, link.node, target);
                }
                &mut self.annotated_by
            }
        };
        push(list, target, ix);
        self.links.push(links);
        self.targets.push(target);
        Ok(())
    }

    /// What the tree says about itself.
    pub fn settings(&self) -> &TreeSettings {
        &self.settings
    }

    /// The nodes, in the order they were given.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// How many nodes there are.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there are no nodes.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The node with this id.
    pub fn node(&self, id: &str) -> Option<&Node> {
        self.by_id.get(id).map(|&ix| self.at(ix))
    }

    /// The place of the node with this id.
    pub(crate) fn find(&self, id: &str) -> Result<NodeIx> {
        self.by_id.get(id).copied().ok_or_else(|| {
            Error::new(Code::NodeNotFound, format!("node `{id}` is not in the tree; check the id, or add the node"))
                .with("nodeId", id)
        })
    }

    /// The place of the node with this id, where there is one.
    pub(crate) fn find_opt(&self, id: &str) -> Option<NodeIx> {
        self.by_id.get(id).copied()
    }

    /// The node at this place.
    #[expect(clippy::indexing_slicing, reason = "a NodeIx comes from this tree, and nodes are never removed")]
    pub(crate) fn at(&self, ix: NodeIx) -> &Node {
        &self.nodes[ix as usize]
    }

    /// The edge at this place.
    #[expect(clippy::indexing_slicing, reason = "an EdgeIx comes from this tree, and edges are never removed")]
    pub(crate) fn edge(&self, ix: EdgeIx) -> &Edge {
        &self.edges[ix as usize]
    }

    /// The sources of an edge.
    pub(crate) fn sources(&self, ix: EdgeIx) -> &[Link] {
        self.links.get(ix as usize).map_or(&[], Vec::as_slice)
    }

    /// The continuation edges that lead to a node.
    pub(crate) fn incoming(&self, ix: NodeIx) -> &[EdgeIx] {
        self.incoming.get(ix as usize).map_or(&[], Vec::as_slice)
    }

    /// The annotation edges that lead to a node.
    pub(crate) fn annotated_by(&self, ix: NodeIx) -> &[EdgeIx] {
        self.annotated_by.get(ix as usize).map_or(&[], Vec::as_slice)
    }

    /// The nodes that go on from a node; one that two edges lead to is there twice.
    pub(crate) fn continuations(&self, ix: NodeIx) -> &[NodeIx] {
        self.continuations.get(ix as usize).map_or(&[], Vec::as_slice)
    }

    /// How many ways there are through the tree: one, and one more for each continuation beside the first of its node.
    pub(crate) fn branches(&self) -> usize {
        self.forks.saturating_add(1)
    }

    /// The ids that come before and after one in the order of ids.
    pub(crate) fn neighbours(&self, id: &str) -> [Option<&str>; 2] {
        use std::ops::Bound::{Excluded, Unbounded};
        let before = self.by_id.range::<str, _>((Unbounded, Excluded(id))).next_back();
        let after = self.by_id.range::<str, _>((Excluded(id), Unbounded)).next();
        [before, after].map(|found| found.map(|(id, _)| id.as_str()))
    }

    /// The annotations of a node.
    pub(crate) fn annotations(&self, ix: NodeIx) -> &[NodeIx] {
        self.annotations.get(ix as usize).map_or(&[], Vec::as_slice)
    }
}

/// The sources that can be the predecessor: those with role primary, else the first one.
pub(crate) fn predecessors(sources: &[Link]) -> impl Iterator<Item = NodeIx> {
    let fallback = sources.first().filter(|_| sources.iter().all(|link| link.role != SourceRole::Primary));
    sources.iter().filter(|link| link.role == SourceRole::Primary).chain(fallback).map(|link| link.node)
}

fn push<T>(lists: &mut [Vec<T>], at: u32, value: T) {
    if let Some(list) = lists.get_mut(at as usize) {
        list.push(value);
    }
}

#[cold]
fn duplicate(kind: &str, id: &str) -> Error {
    Error::new(Code::DuplicateId, format!("two {kind}s have the id `{id}`; ids must be unique"))
        .with("kind", kind)
        .with("id", id)
}
