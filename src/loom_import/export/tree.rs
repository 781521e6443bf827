//! A Loom tree for an export: each node with its parent and children.

use std::borrow::Cow;
use std::convert::identity;

use super::ExportOptions;
use crate::content::{Block, ContentReader};
use crate::error::{Code, Error, Result};
use crate::json::{Object, Value};
use crate::limits;
use crate::loom_import::cycles::cut_cycles;
use crate::loom_import::verbatim::Lenient;
use crate::maps::SortedMap;

/// The tree to write.
#[derive(Debug)]
pub(in crate::loom_import) struct ExportTree<'t> {
    /// The tree as passed.
    pub fields: Object<'t>,
    pub nodes: Vec<ExportNode<'t>>,
    /// The nodes without a parent.
    pub roots: Vec<usize>,
    pub tip: Option<usize>,
    /// The nodes by id.
    pub places: SortedMap<Cow<'t, str>, usize>,
}

/// A node of the tree.
#[derive(Debug)]
pub(in crate::loom_import) struct ExportNode<'t> {
    /// The node as passed.
    pub fields: Object<'t>,
    pub id: Cow<'t, str>,
    pub blocks: Vec<Block<'t>>,
    /// Whether its content is a string.
    pub is_plain: bool,
    pub is_model: bool,
    pub metadata: Option<Object<'t>>,
    /// The edges to the node.
    pub edges: Vec<Value<'t>>,
    pub parent: Option<usize>,
    pub children: Vec<usize>,
}

impl ExportNode<'_> {
    /// All its text, as in a document.
    pub(super) fn text(&self) -> Cow<'_, str> {
        match self.blocks.as_slice() {
            [Block::Text(text)] => Cow::Borrowed(text),
            blocks => Cow::Owned(blocks.iter().filter_map(Block::as_text).collect::<Vec<_>>().concat()),
        }
    }

    pub(super) fn is_bookmarked(&self) -> bool {
        self.metadata.is_some_and(|metadata| metadata.is_true("bookmarked"))
    }

    pub(super) fn bookmark_label(&self) -> Option<String> {
        self.metadata.filter(|_| self.is_bookmarked())?.text_at("bookmarkLabel")
    }
}

impl<'t> ExportTree<'t> {
    /// Reads a tree, and finds the parent of each node.
    pub(in crate::loom_import) fn read(value: Value<'t>, options: &ExportOptions) -> Result<Self> {
        let fields = value.object("a Loom tree, an object with `nodes` and `edges`")?;
        let list = fields.need("nodes")?.list("a list of nodes")?;
        limits::check("nodes", list.len(), options.limits.nodes)?;
        let mut contents = ContentReader::new(&options.limits, identity);
        let mut nodes: Vec<ExportNode<'t>> = Vec::with_capacity(list.len());
        let mut places: SortedMap<Cow<'t, str>, usize> = SortedMap::new();
        for value in list {
            let node = node(value, &mut contents)?;
            if places.insert(node.id.clone(), nodes.len()).is_some() {
                let message = format!("two nodes have the id `{}`; rename one", node.id);
                return Err(Error::new(Code::DuplicateId, message).with("kind", "node").with("id", &*node.id));
            }
            nodes.push(node);
        }
        let mut tree = Self { fields, nodes, roots: Vec::new(), tip: None, places };
        let edges = fields.need("edges")?.list("a list of edges")?;
        limits::check("edges", edges.len(), options.limits.edges)?;
        tree.link(edges)?;
        if let Some(tip) = &options.tip {
            let found = tree.places.get(tip.as_str()).copied();
            tree.tip = Some(found.ok_or_else(|| {
                let message = format!("node `{tip}` is not in the tree; check the id, or add the node");
                Error::new(Code::NodeNotFound, message).with("nodeId", tip.as_str())
            })?);
        }
        Ok(tree)
    }

    /// Links the nodes: the parent is the predecessor in the first continuation to a node, else in the first
    /// annotation; for an edit without edges the parent of its original.
    fn link(&mut self, edges: impl Iterator<Item = Value<'t>>) -> Result<()> {
        let mut parents: Vec<Option<usize>> = vec![None; self.nodes.len()];
        let mut is_remark = vec![false; self.nodes.len()];
        // Children in the order of their edges.
        let mut order = Vec::new();
        for value in edges {
            let edge = value.object("an edge, an object")?;
            let id = edge.text("id")?;
            let target = self.place(&id, &edge.text("targetNodeId")?)?;
            let mut first = None;
            let mut primary = None;
            for source in edge.need("sources")?.list("a list of edge sources")? {
                let source = source.object("an edge source, an object with `nodeId`")?;
                let place = self.place(&id, &source.text("nodeId")?)?;
                first = first.or(Some(place));
                if source.field("role").is_none_or(|role| role.is_string("primary")) {
                    primary = primary.or(Some(place));
                }
            }
            if let Some(node) = self.nodes.get_mut(target) {
                node.edges.push(value);
            }
            let remark = edge.field("edgeType").is_some_and(|kind| kind.is_string("annotation"));
            let (Some(parent), Some(was_remark)) = (parents.get_mut(target), is_remark.get_mut(target)) else {
                continue;
            };
            if parent.is_none() || *was_remark && !remark {
                *parent = primary.or(first);
                *was_remark = remark;
                order.push(target);
            }
        }
        for at in 0..self.nodes.len() {
            if self.nodes.get(at).is_some_and(|node| node.edges.is_empty()) {
                let found = self.original_parent(at, &parents);
                if let (Some(parent), Some(found)) = (parents.get_mut(at), found) {
                    *parent = Some(found);
                    order.push(at);
                }
            }
        }
        cut_cycles(&mut parents);
        let mut is_placed = vec![false; self.nodes.len()];
        // A node is at the place of its last relevant edge.
        for &at in order.iter().rev() {
            let Some(parent) = parents.get(at).copied().flatten() else { continue };
            if is_placed.get_mut(at).is_some_and(|placed| !std::mem::replace(placed, true))
                && let Some(parent) = self.nodes.get_mut(parent)
            {
                parent.children.push(at);
            }
        }
        for (at, (node, parent)) in self.nodes.iter_mut().zip(&parents).enumerate() {
            node.children.reverse();
            node.parent = *parent;
            if parent.is_none() {
                self.roots.push(at);
            }
        }
        Ok(())
    }

    /// The parent of an edit's original, which may be an edit itself.
    fn original_parent(&self, at: usize, parents: &[Option<usize>]) -> Option<usize> {
        const FURTHEST: usize = 100;
        let mut here = at;
        for _ in 0..FURTHEST {
            let origin = self.nodes.get(here)?.fields.field("editedFrom")?.as_text()?;
            here = self.places.get(&*origin).copied()?;
            if let Some(parent) = parents.get(here).copied().flatten() {
                return Some(parent).filter(|parent| *parent != at);
            }
        }
        None
    }

    fn place(&self, edge: &str, node: &str) -> Result<usize> {
        self.places.get(node).copied().ok_or_else(|| {
            let message =
                format!("edge `{edge}` names node `{node}`, which is not in the tree; add the node or remove the edge");
            Error::new(Code::EdgeNodeNotFound, message).with("edgeId", edge).with("nodeId", node)
        })
    }

    pub(super) fn node(&self, at: usize) -> Option<&ExportNode<'t>> {
        self.nodes.get(at)
    }

    /// Data of the file outside its nodes that an import from this format preserved.
    pub(super) fn imported_from(&self, format: &str) -> Option<Object<'t>> {
        let imported = self.fields.object_at("imported").filter(|imported| imported.len() == 2)?;
        imported.field("format").filter(|from| from.is_string(format))?;
        imported.object_at("fields")
    }
}

fn node<'t>(value: Value<'t>, contents: &mut ContentReader<'t, 't>) -> Result<ExportNode<'t>> {
    let fields = value.object("a node, an object")?;
    let content = fields.need("content")?;
    Ok(ExportNode {
        fields,
        id: fields.text("id")?,
        blocks: contents.read(content)?,
        is_plain: content.as_text().is_some(),
        is_model: fields.need("authorType")?.one_of(&[("human", false), ("model", true)])?,
        metadata: fields.get("metadata")?.and_then(Value::as_object),
        edges: Vec::new(),
        parent: None,
        children: Vec::new(),
    })
}
