//! The nodes and edges of the path (docs/loom.md).

use serde_json::{Value, json};

use crate::error::{Code, Diagnostic, DiagnosticCode, Error, Result, Severity};
use crate::limits::{self, Limits};
use crate::loom::created::created;
use crate::loom::tree::{self, EdgeIx, EdgeKind, NodeIx, Tree};
use crate::maps::{SortedMap, SortedSet};

/// The end of the path, or the path itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Position {
    /// Walk back from this node.
    Tip(String),
    /// These nodes, oldest first.
    Path(Vec<String>),
}

/// The caller's choices at ambiguous places of the tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Choices {
    /// Node → the incoming edge to follow, or the predecessor it leads from.
    pub edges: SortedMap<String, String>,
    /// Any version of a node → the version to use.
    pub versions: SortedMap<String, String>,
}

/// One node of the path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    pub node: NodeIx,
    /// The edge from the previous node; `None` for the first node and for gaps in an explicit path.
    pub edge: Option<EdgeIx>,
    /// Other versions of this node among the sources of the next edge.
    pub versions: Vec<NodeIx>,
}

/// Resolves the path, oldest first.
pub(crate) fn resolve(tree: &Tree, position: &Position, choices: &Choices, limits: &Limits) -> Result<Vec<Step>> {
    let versions = check_choices(tree, choices)?;
    let new = match position {
        Position::Tip(tip) => walk_back(tree, tree.find(tip)?, choices, &versions, limits, &|_| None)?,
        Position::Path(ids) => explicit(tree, ids, choices, limits)?,
    };
    Ok(new.steps)
}

/// The changed steps of a path.
#[derive(Debug, Default)]
pub(crate) struct NewSteps {
    /// The number of unchanged steps.
    pub keep: usize,
    pub steps: Vec<Step>,
    /// Diagnostics with the step of the path that they belong to, latest first.
    pub diagnostics: Vec<(usize, Diagnostic)>,
}

/// The selected versions: for each node that is not an edit of another, the one to use.
pub(crate) type SelectedVersions = SortedMap<NodeIx, NodeIx>;

/// A choice that fits no edge is an error, even off the path.
pub(crate) fn check_choices(tree: &Tree, choices: &Choices) -> Result<SelectedVersions> {
    for id in choices.edges.keys() {
        let node = tree.find(id)?;
        let (at, edges) = edges_into(tree, node);
        choose_edge(tree, node, at, edges, choices)?;
    }
    let mut selected = SelectedVersions::new();
    for (key, choice) in choices.versions.iter() {
        let (node, version) = (tree.find(key)?, tree.find(choice)?);
        let original = original(tree, node);
        let offered = |&edge: &EdgeIx| tree::predecessors(tree.sources(edge)).any(|source| source == version);
        if original != self::original(tree, version) && !tree.outgoing(node).iter().any(offered) {
            let message = format!("`versionSelections` names `{choice}`, which is not a version of `{key}`");
            return Err(Error::new(Code::InvalidChoice, message).with("nodeId", &**key).with("choice", &**choice));
        }
        selected.insert(original, version);
    }
    Ok(selected)
}

/// Walks back from the tip, to the start of the path or to a known step: `known` returns its number and the edge to it.
/// That step is made again too, since the step after it has changed.
pub(crate) fn walk_back(
    tree: &Tree,
    tip: NodeIx,
    choices: &Choices,
    versions: &SelectedVersions,
    limits: &Limits,
    known: &dyn Fn(NodeIx) -> Option<(usize, Option<EdgeIx>)>,
) -> Result<NewSteps> {
    let mut keep = 0;
    let mut steps = vec![Step { node: tip, edge: None, versions: Vec::new() }];
    let mut diagnostics = Vec::new();
    let mut seen = Visited::default();
    seen.insert(tip, tree);
    let mut at = tip;
    loop {
        if let Some((step, edge)) = known(at) {
            if let Some(last) = steps.last_mut() {
                last.edge = edge;
            }
            keep = step;
            break;
        }
        let Some(edge) = edge_into(tree, at, choices)? else { break };
        let mut new = Vec::new();
        let (node, versions) = predecessor(tree, edge, versions, &mut new)?;
        diagnostics.extend(new.into_iter().map(|diagnostic| (steps.len() - 1, diagnostic)));
        if !seen.insert(node, tree) {
            return Err(cycle(tree, node));
        }
        limits::check("pathNodes", steps.len().saturating_add(1), limits.path_nodes)?;
        if let Some(last) = steps.last_mut() {
            last.edge = Some(edge);
        }
        steps.push(Step { node, edge: None, versions });
        at = node;
    }
    let count = keep + steps.len();
    limits::check("pathNodes", count, limits.path_nodes)?;
    steps.reverse();
    diagnostics.reverse();
    for (step, _) in &mut diagnostics {
        *step = count - 1 - *step;
    }
    Ok(NewSteps { keep, steps, diagnostics })
}

/// The nodes that a walk visited: the first ones in a list; if there are more, all in a bit set.
#[derive(Debug, Default)]
pub(crate) struct Visited {
    first: Vec<NodeIx>,
    bits: Vec<u64>,
}

const LISTED: usize = 32;

impl Visited {
    /// Whether the node is new.
    pub(crate) fn insert(&mut self, node: NodeIx, tree: &Tree) -> bool {
        if self.first.len() < LISTED {
            let new = !self.first.contains(&node);
            self.first.push(node);
            return new;
        }
        if self.bits.is_empty() {
            self.bits.resize(tree.places().div_ceil(64), 0);
            let first = std::mem::take(&mut self.first);
            for &node in &first {
                self.mark(node);
            }
            self.first = first;
        }
        self.mark(node)
    }

    /// Whether the walk visited the node.
    pub(crate) fn contains(&self, node: NodeIx) -> bool {
        match self.bits.get(node as usize / 64) {
            Some(bits) => *bits & (1 << (node % 64)) != 0,
            None => self.first.contains(&node),
        }
    }

    fn mark(&mut self, node: NodeIx) -> bool {
        let Some(bits) = self.bits.get_mut(node as usize / 64) else { return true };
        let bit = 1 << (node % 64);
        let new = *bits & bit == 0;
        *bits |= bit;
        new
    }
}

/// The edge to follow back from a node: its only continuation edge or the chosen one; for an edit without edges, that
/// of the edited node; for an annotation, its annotation edge.
pub(crate) fn edge_into(tree: &Tree, node: NodeIx, choices: &Choices) -> Result<Option<EdgeIx>> {
    match edges_into(tree, node) {
        (_, []) => Ok(None),
        (at, edges) => choose_edge(tree, node, at, edges, choices).map(Some),
    }
}

/// The predecessor of a node on its path, by choices and versions; among several remaining edges, the first. `None` at
/// the start of the path.
pub(crate) fn step_back(tree: &Tree, node: NodeIx, choices: &Choices, versions: &SelectedVersions) -> Option<NodeIx> {
    let (at, edges) = edges_into(tree, node);
    let first = edges.first().copied()?;
    let edge = match edges {
        [_] => first,
        edges => choose_edge(tree, node, at, edges, choices).unwrap_or(first),
    };
    predecessor(tree, edge, versions, &mut Vec::new()).ok().map(|(node, _)| node)
}

/// The edges into a node, and their target: the node itself, or one that it is an edit of.
pub(crate) fn edges_into<'a>(tree: &'a Tree, node: NodeIx) -> (NodeIx, &'a [EdgeIx]) {
    let mut at = node;
    // Few nodes are edits without an edge.
    let mut seen = None;
    loop {
        let edges = match tree.incoming(at) {
            [] => tree.annotated_by(at),
            edges => edges,
        };
        let origin = tree.at(at).edited_from.as_deref().and_then(|id| tree.find_opt(id));
        match origin.filter(|_| edges.is_empty()) {
            Some(origin) if seen.get_or_insert_with(|| SortedSet::from([node])).insert(origin) => at = origin,
            _ => return (at, edges),
        }
    }
}

/// The edge to follow among those into `at`, which is the node or one that it is an edit of; a choice may name either.
fn choose_edge(tree: &Tree, node: NodeIx, at: NodeIx, edges: &[EdgeIx], choices: &Choices) -> Result<EdgeIx> {
    let chosen = [node, at].into_iter().find_map(|node| {
        let id = &*tree.at(node).id;
        Some((id, choices.edges.get(id)?))
    });
    match (chosen, edges) {
        (None, &[edge]) => Ok(edge),
        (None, _) => {
            let id = &*tree.at(at).id;
            let message = format!("{} edges lead to node `{id}`; choose one in `choices`", edges.len());
            Err(Error::new(Code::AmbiguousPath, message).with("nodeId", id).with("candidates", candidates(tree, edges)))
        }
        (Some((id, choice)), _) => {
            let from = |&&edge: &&EdgeIx| tree.sources(edge).iter().any(|link| tree.at(link.node).id == *choice);
            let named = edges.iter().find(|&&edge| tree.edge(edge).id == *choice);
            named.or_else(|| edges.iter().find(from)).copied().ok_or_else(|| {
                let message = format!(
                    "`choices` names `{choice}` for node `{id}`, which is neither an edge to it nor the start of one"
                );
                Error::new(Code::InvalidChoice, message)
                    .with("nodeId", id)
                    .with("choice", choice.as_str())
                    .with("candidates", candidates(tree, edges))
            })
        }
    }
}

fn candidates(tree: &Tree, edges: &[EdgeIx]) -> Value {
    let candidate = |&edge: &EdgeIx| {
        let from: Vec<&str> = primaries(tree, edge).iter().map(|&node| &*tree.at(node).id).collect();
        json!({ "edgeId": &*tree.edge(edge).id, "nodeIds": from })
    };
    edges.iter().map(candidate).collect()
}

/// The sources that can be the predecessor: those with role primary, else the first one.
pub(crate) fn primaries(tree: &Tree, edge: EdgeIx) -> Vec<NodeIx> {
    tree::predecessors(tree.sources(edge)).collect()
}

/// The node that an edge leads from, and its versions that were not selected.
pub(crate) fn predecessor(
    tree: &Tree,
    edge: EdgeIx,
    selected: &SelectedVersions,
    diagnostics: &mut Vec<Diagnostic>,
) -> Result<(NodeIx, Vec<NodeIx>)> {
    let mut sources = tree::predecessors(tree.sources(edge));
    if let (Some(only), None, true) = (sources.next(), sources.next(), selected.is_empty()) {
        return Ok((only, Vec::new()));
    }
    let mut versions = primaries(tree, edge);
    versions.dedup();
    let originals = SortedSet::from_iter(versions.iter().map(|&version| original(tree, version)));
    if originals.len() > 1 {
        let message = format!(
            "the primary sources of edge `{}` are not linked by `editedFrom`; they count as versions of one node",
            tree.edge(edge).id
        );
        diagnostics.push(Diagnostic::new(DiagnosticCode::VersionsNotLinked, Severity::Warning, message));
    }
    // An edit may have no edge; if selected, it replaces the version that the edge names.
    let is_version = |chosen: &NodeIx| versions.contains(chosen) || originals.contains(&original(tree, *chosen));
    let selected = originals.iter().find_map(|original| selected.get(original).copied().filter(is_version));
    let chosen = match (selected, versions.as_slice()) {
        (Some(selected), _) => selected,
        (None, &[only]) => only,
        (None, several) => latest_version(tree, several, diagnostics).ok_or_else(|| {
            let id = &*tree.edge(edge).id;
            let message = format!("edge `{id}` has no sources; give it one with role `primary`");
            Error::new(Code::EdgeWithoutSource, message).with("edgeId", id)
        })?,
    };
    versions.retain(|&version| version != chosen);
    Ok((chosen, versions))
}

/// The version that no other is an edit of, and that was created last.
fn latest_version(tree: &Tree, versions: &[NodeIx], diagnostics: &mut Vec<Diagnostic>) -> Option<NodeIx> {
    let chains = versions.iter().flat_map(|&version| origins(tree, version).into_iter().skip(1));
    let edited = SortedSet::from_iter(chains);
    let latest: Vec<_> = versions.iter().copied().filter(|version| !edited.contains(version)).collect();
    let newest = match latest.as_slice() {
        &[only] => Some(only),
        // `max_by_key` returns the last of equal elements, so the last listed wins if times do not decide.
        several => several.iter().copied().max_by_key(|&version| created(tree.at(version), diagnostics)),
    };
    newest.or_else(|| versions.last().copied())
}

/// The version at the end of the `editedFrom` chain of a node; the node itself if it edits no other. All edits in a
/// cycle have the same one.
fn original(tree: &Tree, node: NodeIx) -> NodeIx {
    if tree.at(node).edited_from.is_none() {
        return node;
    }
    let chain = origins(tree, node);
    let last = chain.last().copied().unwrap_or(node);
    let next = tree.at(last).edited_from.as_deref().and_then(|id| tree.find_opt(id));
    // In a cycle the last one depends on the start.
    let circle = next.and_then(|next| chain.iter().position(|&node| node == next));
    circle.and_then(|from| chain.iter().skip(from).min().copied()).unwrap_or(last)
}

/// A node and the nodes it is an edit of, newest first.
pub(crate) fn origins(tree: &Tree, node: NodeIx) -> Vec<NodeIx> {
    let mut chain = vec![node];
    let mut seen = SortedSet::from([node]);
    let mut at = node;
    while let Some(origin) = tree.at(at).edited_from.as_deref().and_then(|id| tree.find_opt(id)) {
        if !seen.insert(origin) {
            break;
        }
        chain.push(origin);
        at = origin;
    }
    chain
}

/// The steps of an explicit path.
pub(crate) fn explicit(tree: &Tree, ids: &[String], choices: &Choices, limits: &Limits) -> Result<NewSteps> {
    limits::check("pathNodes", ids.len(), limits.path_nodes)?;
    let mut seen = Visited::default();
    let mut diagnostics = Vec::new();
    let mut steps: Vec<Step> = Vec::with_capacity(ids.len());
    for id in ids {
        let node = tree.find(id)?;
        if !seen.insert(node, tree) {
            return Err(cycle(tree, node));
        }
        let mut edge = None;
        let at = steps.len();
        if let Some(before) = steps.last_mut() {
            edge = edge_between(tree, before.node, node, choices);
            match edge {
                Some(edge) => {
                    before.versions = primaries(tree, edge);
                    before.versions.retain(|&version| version != before.node);
                }
                None => diagnostics.push((
                    at,
                    Diagnostic::new(
                        DiagnosticCode::EdgeMissingOnPath,
                        Severity::Warning,
                        format!("no edge leads from `{}` to `{id}`; both were kept", tree.at(before.node).id),
                    )
                    .about_node(id),
                )),
            }
        }
        steps.push(Step { node, edge, versions: Vec::new() });
    }
    for step in &steps {
        if let Some(other) = step.versions.iter().find(|version| seen.contains(**version)) {
            let (a, b) = (&*tree.at(step.node).id, &*tree.at(*other).id);
            let message = format!("`{a}` and `{b}` are versions of one node, and `path` lists both; keep one of them");
            return Err(Error::new(Code::InvalidInput, message).with("path", "path"));
        }
    }
    diagnostics.reverse();
    Ok(NewSteps { keep: 0, steps, diagnostics })
}

/// The edge from one node of an explicit path to the next: the chosen one, else a continuation, else an annotation.
fn edge_between(tree: &Tree, from: NodeIx, to: NodeIx, choices: &Choices) -> Option<EdgeIx> {
    let choice = choices.edges.get(&*tree.at(to).id).map(String::as_str);
    let edges = tree.incoming(to).iter().chain(tree.annotated_by(to)).copied();
    let between = edges.filter(|&edge| primaries(tree, edge).contains(&from));
    between.min_by_key(|&edge| choice != Some(&*tree.edge(edge).id))
}

/// Whether the path reached this step over an annotation edge.
pub(crate) fn is_annotation(tree: &Tree, step: &Step) -> bool {
    step.edge.is_some_and(|edge| tree.edge(edge).kind == EdgeKind::Annotation)
}

pub(crate) fn cycle(tree: &Tree, node: NodeIx) -> Error {
    let id = &*tree.at(node).id;
    Error::new(Code::PathCycle, format!("the path reaches node `{id}` twice; break the cycle or list each node once"))
        .with("nodeId", id)
}
