//! The costs of nodes, of the paths to them and of their subtrees, for drawing a tree (docs/resident.md).

use super::assemble::Measure;
use super::forest::Forest;
use super::loom_tree::LoomTree;
use super::node_costs::{NodeCosts, Sums, UNKNOWN};
use crate::error::Result;
use crate::loom::path::{self, Choices, Position};
use crate::loom::path_context::PathContext;
use crate::loom::request::Options;
use crate::loom::select::{Mode, left_out_by_mark};
use crate::loom::tree::NodeIx;
use crate::tokens::memory::CachingCounter;

/// The kind of a sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sum {
    Path,
    Subtree,
}

impl LoomTree {
    /// The ids of all nodes, in insertion order.
    pub fn node_ids(&self) -> Vec<&str> {
        self.tree.nodes().map(|node| &*node.id).collect()
    }

    /// Tokens of the content of each of these nodes, or of all in order, counted alone, as in
    /// [`NodeReport`](crate::loom::NodeReport).
    ///
    /// # Errors
    /// [`Code::NodeNotFound`](crate::Code::NodeNotFound).
    pub fn tokens_of(
        &self,
        ids: Option<&[String]>,
        options: &Options,
        counter: &CachingCounter<'_>,
    ) -> Result<Vec<u32>> {
        let places = self.places(ids)?;
        let context = self.context(options, counter, Mode::Dialogue);
        let mut costs = self.costs.borrow_mut();
        costs.set_key(options, counter.id());
        Ok(places.into_iter().map(|place| self.tokens(&mut costs, place, &context)).collect())
    }

    /// Tokens of the nodes on the path to each of these nodes, including itself, or to all nodes in order: the sum of
    /// the separate counts, without excluded and pruned nodes. If several edges lead to a node and the options choose
    /// none, the path takes the first. A path with a cycle has no sum (NaN).
    ///
    /// # Errors
    /// [`Code::NodeNotFound`](crate::Code::NodeNotFound) and [`Code::InvalidChoice`](crate::Code::InvalidChoice).
    pub fn path_tokens(
        &self,
        ids: Option<&[String]>,
        options: &Options,
        counter: &CachingCounter<'_>,
    ) -> Result<Vec<f64>> {
        self.sums(ids, options, counter, Sum::Path)
    }

    /// Tokens of each node and its descendants, like [`Self::path_tokens`]. A node with several edges to it is counted
    /// below its predecessor on the path.
    ///
    /// # Errors
    /// As [`LoomTree::path_tokens`].
    pub fn subtree_tokens(
        &self,
        ids: Option<&[String]>,
        options: &Options,
        counter: &CachingCounter<'_>,
    ) -> Result<Vec<f64>> {
        self.sums(ids, options, counter, Sum::Subtree)
    }

    fn sums(
        &self,
        ids: Option<&[String]>,
        options: &Options,
        counter: &CachingCounter<'_>,
        which: Sum,
    ) -> Result<Vec<f64>> {
        let places = self.places(ids)?;
        let context = self.context(options, counter, Mode::Dialogue);
        let mut costs = self.costs.borrow_mut();
        costs.set_key(options, counter.id());
        let of = |sums: &Sums| {
            let list = if which == Sum::Path { &sums.paths } else { &sums.subtrees };
            places.iter().map(|&place| list.get(place as usize).copied().unwrap_or(f64::NAN)).collect()
        };
        let versions = path::check_choices(&self.tree, &options.choices)?;
        if options.choices != Choices::default() {
            let forest = Forest::new(&self.tree, &options.choices, &versions);
            return Ok(of(&self.sums_over(&forest, &mut costs, &context)));
        }
        if costs.sums.is_none() {
            let sums = self.with_relations(|relations, tree| {
                let forest = relations.forest(tree);
                self.sums_over(forest, &mut costs, &context)
            });
            costs.sums = Some(sums);
        }
        Ok(costs.sums.as_ref().map(of).unwrap_or_default())
    }

    fn sums_over(&self, forest: &Forest, costs: &mut NodeCosts, context: &PathContext<'_>) -> Sums {
        let places = self.tree.places();
        let mut sums = Sums { paths: vec![f64::NAN; places], subtrees: vec![f64::NAN; places] };
        for node in forest.order() {
            let left_out = left_out_by_mark(self.tree.at(node)).is_some();
            let own = if left_out { 0.0 } else { f64::from(self.tokens(costs, node, context)) };
            let before = forest.parent(node).and_then(|parent| sums.paths.get(parent as usize).copied());
            if let (Some(path), Some(subtree)) =
                (sums.paths.get_mut(node as usize), sums.subtrees.get_mut(node as usize))
            {
                *path = before.unwrap_or_default() + own;
                *subtree = own;
            }
        }
        for node in forest.order().rev() {
            // An edit without an edge is not a descendant.
            let has_edge = !self.tree.incoming(node).is_empty() || !self.tree.annotated_by(node).is_empty();
            let own = sums.subtrees.get(node as usize).copied().unwrap_or_default();
            let parent = forest.parent(node).filter(|_| has_edge);
            if let Some(subtree) = parent.and_then(|parent| sums.subtrees.get_mut(parent as usize)) {
                *subtree += own;
            }
        }
        sums
    }

    fn tokens(&self, costs: &mut NodeCosts, place: NodeIx, context: &PathContext<'_>) -> u32 {
        let at = place as usize;
        if costs.tokens.len() <= at {
            costs.tokens.resize(self.tree.places(), UNKNOWN);
        }
        match costs.tokens.get_mut(at) {
            Some(tokens) => {
                if *tokens == UNKNOWN {
                    *tokens = u32::try_from(self.cost(place, context)).unwrap_or(UNKNOWN).min(UNKNOWN - 1);
                }
                *tokens
            }
            None => 0,
        }
    }

    fn places(&self, ids: Option<&[String]>) -> Result<Vec<NodeIx>> {
        match ids {
            Some(ids) => ids.iter().map(|id| self.tree.find(id)).collect(),
            None => Ok(self.tree.node_order().iter().collect()),
        }
    }

    /// The results of [`LoomTree::measure_path`] for each of these tips.
    ///
    /// # Errors
    /// As [`LoomTree::measure_path`].
    pub fn measure_paths(
        &mut self,
        tips: &[String],
        mut options: Options,
        counter: &CachingCounter<'_>,
    ) -> Result<Vec<Measure>> {
        // In branch order, so that successive tips share most of their paths.
        let ranks = self.branch_order();
        let mut order: Vec<(u32, usize)> = Vec::with_capacity(tips.len());
        for (at, tip) in tips.iter().enumerate() {
            let place = self.tree.find(tip)?;
            order.push((ranks.get(place as usize).copied().unwrap_or(u32::MAX), at));
        }
        crate::sorting::sort(&mut order);
        let mut measures: Vec<Option<Measure>> = vec![None; tips.len()];
        for (_, at) in order {
            let Some(tip) = tips.get(at) else { continue };
            options.position = Position::Tip(tip.clone());
            let measure = self.measure_path(&options, counter)?;
            if let Some(place) = measures.get_mut(at) {
                *place = Some(measure);
            }
        }
        Ok(measures.into_iter().flatten().collect())
    }

    /// For each slot a number that ascends along each branch, and from one branch to the next.
    fn branch_order(&self) -> Vec<u32> {
        self.with_relations(|relations, tree| {
            let forest = relations.forest(tree);
            let mut sizes = vec![1_u32; tree.places()];
            for node in forest.order().rev() {
                let own = sizes.get(node as usize).copied().unwrap_or_default();
                if let Some(size) = forest.parent(node).and_then(|parent| sizes.get_mut(parent as usize)) {
                    *size = size.saturating_add(own);
                }
            }
            // The number of the next child of each node; the descendants of a child precede its next sibling.
            let mut next = vec![0_u32; tree.places()];
            let mut ranks = vec![u32::MAX; tree.places()];
            let mut next_root = 0_u32;
            for node in forest.order() {
                let size = sizes.get(node as usize).copied().unwrap_or_default();
                let slot = match forest.parent(node) {
                    Some(parent) => next.get_mut(parent as usize),
                    None => Some(&mut next_root),
                };
                let Some(slot) = slot else { continue };
                let rank = *slot;
                *slot = slot.saturating_add(size);
                if let (Some(place), Some(inside)) = (ranks.get_mut(node as usize), next.get_mut(node as usize)) {
                    *place = rank;
                    *inside = rank.saturating_add(1);
                }
            }
            ranks
        })
    }
}
