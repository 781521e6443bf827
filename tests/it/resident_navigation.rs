//! Navigation in a resident tree, and the costs of its nodes: after any edits they equal those of a new tree, and of
//! plain lists (docs/resident.md).

use std::collections::{BTreeMap, BTreeSet};

use ctxweave::loom::{
    Choices, Edge, EdgeKind, LoomTree, Node, Options, Position, Relative, SourceRole, Tree, assemble_dialogue,
};
use ctxweave::tokens::Counter;
use ctxweave::tokens::memory::{CachingCounter, Memory};
use ctxweave::{Code, Error};
use serde_json::{Value, json};

/// Asks everything of both trees and of the lists.
pub(crate) fn compare(
    tree: &mut LoomTree,
    fresh: &Tree<'static>,
    lists: (&[Node<'static>], &[Edge<'static>]),
    options: &Options,
    counter: &CachingCounter<'_>,
    uncached: &dyn Counter,
) {
    let lists = Lists { nodes: lists.0, edges: lists.1 };
    let mut fresh = LoomTree::new(fresh.clone(), &Memory::default());
    let ids: Vec<String> = lists.nodes.iter().map(|node| node.id.to_string()).collect();
    for id in &ids {
        assert_eq!(answers(tree, id), answers(&fresh, id), "{id}");
        assert_eq!(links(tree.children(id)), lists.children(id), "children of {id}");
        assert_eq!(links(tree.parents(id)), lists.parents(id), "parents of {id}");
        assert_eq!(links(tree.siblings(id)), lists.siblings(id), "siblings of {id}");
        assert_eq!(ids_of(tree.descendants(id)), lists.descendants(id), "descendants of {id}");
        assert_eq!(ids_of(tree.versions(id)), lists.versions(id), "versions of {id}");
        for other in ids.iter().step_by(5) {
            let common = |tree: &LoomTree| tree.common_ancestor(id, other).map(|id| id.map(str::to_owned)).ok();
            assert_eq!(common(tree), common(&fresh), "{id} and {other}");
            if let (Some(one), Some(two)) = (lists.path(tree, id), lists.path(tree, other)) {
                let shared = one.iter().zip(&two).take_while(|(a, b)| a == b).last().map(|(id, _)| id.clone());
                assert_eq!(common(tree).unwrap(), shared, "{id} and {other}");
            }
        }
    }
    for bad in ["nowhere", ""] {
        assert_eq!(tree.children(bad).unwrap_err().code(), Code::NodeNotFound);
        assert_eq!(tree.depth(bad).unwrap_err().code(), Code::NodeNotFound);
        assert_eq!(tree.path_tokens(Some(&[bad.to_owned()]), options, counter).unwrap_err().code(), Code::NodeNotFound);
    }
    assert_eq!(ids_of(Ok(tree.roots())), lists.roots());
    assert_eq!(json!(tree.roots()), json!(fresh.roots()));
    assert_eq!(ids_of(Ok(tree.leaves())), lists.leaves());
    assert_eq!(json!(tree.leaves()), json!(fresh.leaves()));
    assert_eq!(tree.node_ids(), ids);

    let memory = fresh.memory().clone();
    let fresh_counter = memory.remember(uncached);
    let mut choices = options.clone();
    choices.choices = Choices { edges: Default::default(), ..options.choices.clone() };
    for options in [&choices, options] {
        let asked = |tree: &LoomTree, counter: &CachingCounter<'_>, ids: Option<&[String]>| {
            let numbers = |list: Result<Vec<f64>, Error>| list.map(|list| json!(list)).map_err(|error| error.code());
            (
                tree.tokens_of(ids, options, counter).unwrap(),
                numbers(tree.path_tokens(ids, options, counter)),
                numbers(tree.subtree_tokens(ids, options, counter)),
            )
        };
        let all = asked(tree, counter, None);
        assert_eq!(all, asked(&fresh, &fresh_counter, None));
        assert_eq!(all, asked(tree, counter, Some(&ids)));
        let some: Vec<String> = ids.iter().rev().step_by(3).cloned().collect();
        assert_eq!(asked(tree, counter, Some(&some)), asked(&fresh, &fresh_counter, Some(&some)));
    }
    let mut plain = options.clone();
    plain.choices = Choices::default();
    let tokens = tree.tokens_of(None, &plain, counter).unwrap();
    let tokens: BTreeMap<&String, u32> = ids.iter().zip(tokens).collect();
    let own = |id: &String| {
        let node = lists.node(id).unwrap();
        if node.excluded || node.pruned { 0.0 } else { f64::from(tokens[id]) }
    };
    let sums = tree.path_tokens(None, &plain, counter).unwrap();
    let subtrees = tree.subtree_tokens(None, &plain, counter).unwrap();
    for ((id, sum), subtree) in ids.iter().zip(&sums).zip(&subtrees) {
        if let Some(path) = lists.path(tree, id) {
            assert_eq!(*sum, path.iter().map(own).sum::<f64>(), "path to {id}");
            assert_eq!(tree.depth(id).unwrap() as usize + 1, path.len());
        }
        assert!(subtree.is_nan() == sum.is_nan() && sum.is_nan() == tree.depth(id).is_err(), "{id}");
        // Where no node has two ways to it, a subtree is the node and its descendants.
        if lists.is_tree() && !sum.is_nan() {
            let below: f64 = lists.descendants(id).iter().map(own).sum();
            assert_eq!(*subtree, own(id) + below, "subtree of {id}");
        }
    }

    let mut asked = options.clone();
    asked.position = Position::Tip(String::new());
    // Content over the limit is measured too.
    asked.context_window = 1e9;
    let mut expected = Vec::new();
    let mut tips: Vec<String> = Vec::new();
    for tip in ids.iter().rev() {
        let mut options = asked.clone();
        options.position = Position::Tip(tip.clone());
        if let Ok(whole) = assemble_dialogue(fresh.tree(), &options, counter) {
            assert!(!whole.report.truncated);
            expected.push((tip.clone(), whole.report.path.len(), whole.report.tokens.clone()));
            tips.push(tip.clone());
        }
    }
    for tree in [tree, &mut fresh] {
        let counter = tree.memory().clone();
        let counter = counter.remember(uncached);
        let measured = tree.measure_paths(&tips, asked.clone(), &counter).unwrap();
        let found = tips.iter().zip(measured).map(|(tip, measure)| (tip.clone(), measure.path_length, measure.tokens));
        assert_eq!(found.collect::<Vec<_>>(), expected);
    }
}

/// The fields of a node in a tree.
fn answers(tree: &LoomTree, id: &str) -> Value {
    let sibling = |next| match tree.sibling(id, &Choices::default(), next) {
        Ok(found) => json!(found),
        Err(error) => json!(error.code()),
    };
    json!([
        tree.children(id).unwrap(),
        tree.parents(id).unwrap(),
        tree.siblings(id).unwrap(),
        tree.descendants(id).unwrap(),
        tree.versions(id).unwrap(),
        tree.depth(id).map_err(|error| error.code()).ok(),
        sibling(true),
        sibling(false),
    ])
}

type RelativeRow = (String, Option<String>, bool);

fn links(found: Result<Vec<Relative<'_>>, Error>) -> Vec<RelativeRow> {
    let link = |found: &Relative<'_>| (found.id.to_owned(), found.edge.map(str::to_owned), found.annotation);
    found.unwrap().iter().map(link).collect()
}

fn ids_of(found: Result<Vec<Relative<'_>>, Error>) -> Vec<String> {
    found.unwrap().iter().map(|found| found.id.to_owned()).collect()
}

/// Nodes and edges, looked through from one end to the other each time.
struct Lists<'l> {
    nodes: &'l [Node<'static>],
    edges: &'l [Edge<'static>],
}

impl Lists<'_> {
    fn node(&self, id: &str) -> Option<&Node<'static>> {
        self.nodes.iter().find(|node| node.id == id)
    }

    fn edges_to(&self, id: &str) -> Vec<&Edge<'static>> {
        let to = |kind: EdgeKind| self.edges.iter().filter(move |edge| edge.target == id && edge.kind == kind);
        to(EdgeKind::Continuation).chain(to(EdgeKind::Annotation)).collect()
    }

    fn children(&self, id: &str) -> Vec<RelativeRow> {
        let from = self.edges.iter().filter(|edge| starts(edge).contains(&id));
        once(from.map(|edge| (edge.target.to_string(), Some(edge.id.to_string()), edge.kind == EdgeKind::Annotation)))
    }

    fn parents(&self, id: &str) -> Vec<RelativeRow> {
        let edges = self.edges_to(self.with_edges(id));
        let starts = edges.into_iter().flat_map(|edge| {
            let kind = edge.kind == EdgeKind::Annotation;
            starts(edge).into_iter().map(move |start| (start.to_owned(), Some(edge.id.to_string()), kind))
        });
        once(starts)
    }

    /// The node, or what it is an edit of, whatever has edges.
    fn with_edges<'i>(&'i self, id: &'i str) -> &'i str {
        let mut at = id;
        let mut seen = BTreeSet::from([id]);
        while self.edges_to(at).is_empty()
            && let Some(origin) = self.node(at).and_then(|node| node.edited_from.as_deref())
            && self.node(origin).is_some()
            && seen.insert(origin)
        {
            at = origin;
        }
        at
    }

    fn siblings(&self, id: &str) -> Vec<RelativeRow> {
        let parents = self.parents(id);
        if parents.is_empty() {
            return self.roots().into_iter().map(|root| (root, None, false)).collect();
        }
        once(parents.into_iter().flat_map(|(parent, ..)| self.children(&parent)))
    }

    fn descendants(&self, id: &str) -> Vec<String> {
        let mut found = vec![id.to_owned()];
        self.below(id, &mut found);
        found.remove(0);
        found
    }

    fn below(&self, id: &str, found: &mut Vec<String>) {
        for (child, ..) in self.children(id) {
            if !found.contains(&child) {
                found.push(child.clone());
                self.below(&child, found);
            }
        }
    }

    fn origin(&self, id: &str) -> Option<&str> {
        self.node(id)?.edited_from.as_deref().filter(|origin| self.node(origin).is_some())
    }

    fn versions(&self, id: &str) -> Vec<String> {
        let mut first = id;
        let mut seen = BTreeSet::from([id]);
        while let Some(origin) = self.origin(first)
            && seen.insert(origin)
        {
            first = origin;
        }
        let mut found = Vec::new();
        self.edits(first, &mut found);
        for edge in self.edges.iter().filter(|edge| edge.kind == EdgeKind::Continuation) {
            let starts = starts(edge);
            if starts.contains(&id) {
                for start in starts {
                    if !found.iter().any(|known| known == start) {
                        found.push(start.to_owned());
                    }
                }
            }
        }
        found
    }

    fn edits(&self, id: &str, found: &mut Vec<String>) {
        if found.iter().any(|known| known == id) {
            return;
        }
        found.push(id.to_owned());
        for edit in self.nodes.iter().filter(|node| node.edited_from.as_deref() == Some(id)) {
            self.edits(&edit.id, found);
        }
    }

    fn roots(&self) -> Vec<String> {
        let ids = self.nodes.iter().map(|node| node.id.to_string());
        ids.filter(|id| self.edges_to(id).is_empty() && self.origin(id).is_none()).collect()
    }

    fn leaves(&self) -> Vec<String> {
        let goes_on =
            |id: &str| self.edges.iter().any(|edge| edge.kind == EdgeKind::Continuation && starts(edge).contains(&id));
        self.nodes.iter().map(|node| node.id.to_string()).filter(|id| !goes_on(id)).collect()
    }

    /// The path to a node over the first edge of each, as the tree itself walks it when the choices say so.
    fn path(&self, tree: &LoomTree, id: &str) -> Option<Vec<String>> {
        let mut options = Options::from_tip(id, 1000);
        for node in self.nodes {
            if let [first, _, ..] = self.edges_to(&node.id).as_slice() {
                // A remark's edges are only followed if no other edge leads there.
                options.choices.edges.insert(node.id.to_string(), first.id.to_string());
            }
        }
        let path = tree.path(&options).ok()?;
        Some(path.into_iter().map(str::to_owned).collect())
    }

    fn is_tree(&self) -> bool {
        self.nodes.iter().all(|node| self.edges_to(&node.id).len() < 2)
            && self.edges.iter().all(|edge| starts(edge).len() < 2)
    }
}

/// The sources of an edge, or the nodes that it refers to.
fn starts<'e>(edge: &'e Edge<'static>) -> Vec<&'e str> {
    let primary = |role: SourceRole| role == SourceRole::Primary;
    let any = edge.sources.iter().any(|source| primary(source.role));
    let sources = edge.sources.iter().enumerate();
    let starts =
        sources.filter(|(at, source)| edge.kind == EdgeKind::Annotation || primary(source.role) || (!any && *at == 0));
    starts.map(|(_, source)| &*source.node).collect()
}

/// Each node at its first place.
fn once(links: impl Iterator<Item = RelativeRow>) -> Vec<RelativeRow> {
    let mut seen = BTreeSet::new();
    links.filter(|(id, ..)| seen.insert(id.clone())).collect()
}
