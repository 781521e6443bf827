//! The predecessor of each node of a tree, and its depth.

use crate::loom::path::{self, Choices, SelectedVersions};
use crate::loom::tree::{NodeIx, Tree};

/// No predecessor: the start of a path.
const NONE: u32 = u32::MAX;
/// No node at this slot.
const ABSENT: u32 = u32::MAX - 1;
/// A depth that is not computed yet.
const UNKNOWN: u32 = u32::MAX;
/// The depth of a node whose path leads into a cycle.
const CIRCLE: u32 = u32::MAX - 1;
/// The depth of a node on the current walk.
const WALKED: u32 = u32::MAX - 2;

/// For each slot the predecessor on the node's path. Among several edges to a node without a choice, the first counts.
#[derive(Debug, Default)]
pub(super) struct Forest {
    parents: Vec<u32>,
    depths: Vec<u32>,
    /// The number of children of each node.
    children: Vec<u32>,
    /// All nodes without a cycle in their path, each after its parent. An entry not recorded in `positions` is void.
    order: Vec<NodeIx>,
    positions: Vec<u32>,
    /// Whether it has to be rebuilt.
    stale: bool,
}

impl Forest {
    pub(super) fn new(tree: &Tree<'_>, choices: &Choices, versions: &SelectedVersions) -> Self {
        let places = tree.places();
        let mut this = Self { order: Vec::with_capacity(tree.len()), ..Self::default() };
        this.resize(places);
        for place in 0..index(places) {
            let parent = parent(tree, place, choices, versions);
            set(&mut this.parents, place, parent);
            if let Some(children) = this.children.get_mut(parent as usize) {
                *children += 1;
            }
        }
        let mut walked: Vec<NodeIx> = Vec::new();
        for place in 0..index(places) {
            let mut at = place;
            // Walks back until a known depth.
            let mut depth = loop {
                match (get(&this.parents, at), get(&this.depths, at)) {
                    (ABSENT, _) => break UNKNOWN,
                    (_, WALKED) => break CIRCLE,
                    (parent, UNKNOWN) => {
                        set(&mut this.depths, at, WALKED);
                        walked.push(at);
                        if parent == NONE {
                            break UNKNOWN;
                        }
                        at = parent;
                    }
                    (_, known) => break known,
                }
            };
            while let Some(at) = walked.pop() {
                depth = match depth {
                    UNKNOWN => 0,
                    CIRCLE => CIRCLE,
                    depth => depth + 1,
                };
                set(&mut this.depths, at, depth);
                if depth != CIRCLE {
                    this.put_last(at);
                }
            }
        }
        this
    }

    pub(super) fn is_stale(&self) -> bool {
        self.stale
    }

    /// The parent of this node.
    pub(super) fn parent(&self, node: NodeIx) -> Option<NodeIx> {
        Some(get(&self.parents, node)).filter(|&parent| parent != NONE && parent != ABSENT)
    }

    /// The number of nodes before it on its path; `None` if that has a cycle.
    pub(super) fn depth(&self, node: NodeIx) -> Option<u32> {
        Some(get(&self.depths, node)).filter(|&depth| depth < WALKED)
    }

    /// The nodes without a cycle in their path, each after its parent.
    pub(super) fn order(&self) -> impl DoubleEndedIterator<Item = NodeIx> {
        let is_at = |&(at, node): &(usize, &NodeIx)| get(&self.positions, *node) == index(at);
        self.order.iter().enumerate().filter(is_at).map(|(_, &node)| node)
    }

    /// Updates after an edit at a slot. An added, removed or moved leaf is updated in place; any other edit makes it
    /// stale.
    pub(super) fn update(&mut self, tree: &Tree<'_>, place: NodeIx, has_versions: bool) {
        if self.stale {
            return;
        }
        self.resize(tree.places());
        let parent = parent(tree, place, &Choices::default(), &SelectedVersions::new());
        let before = get(&self.parents, place);
        if parent == before && !has_versions {
            return;
        }
        let depth = match parent {
            parent if parent == place => None,
            ABSENT => Some(UNKNOWN),
            NONE => Some(0),
            parent => self.depth(parent).map(|depth| depth + 1),
        };
        let Some(depth) = depth.filter(|_| get(&self.children, place) == 0 && !has_versions) else {
            self.stale = true;
            return;
        };
        if let Some(children) = self.children.get_mut(before as usize) {
            *children = children.saturating_sub(1);
        }
        if let Some(children) = self.children.get_mut(parent as usize) {
            *children += 1;
        }
        set(&mut self.parents, place, parent);
        set(&mut self.depths, place, depth);
        set(&mut self.positions, place, NONE);
        if depth != UNKNOWN {
            self.put_last(place);
        }
        if self.order.len() > 2 * tree.len() + 64 {
            self.stale = true;
        }
    }

    fn put_last(&mut self, node: NodeIx) {
        set(&mut self.positions, node, index(self.order.len()));
        self.order.push(node);
    }

    fn resize(&mut self, places: usize) {
        self.parents.resize(places, ABSENT);
        self.depths.resize(places, UNKNOWN);
        self.children.resize(places, 0);
        self.positions.resize(places, NONE);
    }
}

fn parent(tree: &Tree<'_>, node: NodeIx, choices: &Choices, versions: &SelectedVersions) -> u32 {
    if tree.is_there(node) { path::step_back(tree, node, choices, versions).unwrap_or(NONE) } else { ABSENT }
}

fn get(list: &[u32], at: u32) -> u32 {
    list.get(at as usize).copied().unwrap_or(ABSENT)
}

fn set(list: &mut [u32], at: u32, value: u32) {
    if let Some(place) = list.get_mut(at as usize) {
        *place = value;
    }
}

fn index(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(NONE)
}
