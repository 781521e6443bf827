//! Compares two prompts, each a dialogue or a document: the current one, and the one after an edit or with other
//! options, without making the edit.

use std::cell::RefCell;

use serde::Serialize;

use super::change::{ChangeSet, Removal, RestoredPlaces, Upsert};
use super::change_log::ChangeLog;
use super::loom_tree::{LoomTree, RememberedNode};
use crate::assembly::message_index::PreviousDialogue;
use crate::error::Result;
use crate::limits::Limits;
use crate::loom::buffer;
use crate::loom::dialogue::{CutEnds, DialoguePlan, Purpose, plan_dialogue};
use crate::loom::dialogue_state::DialogueState;
use crate::loom::path_state::PathState;
use crate::loom::report::{CutSummary, Fate, NodePart, NodeReport, Tokens};
use crate::loom::request::Options;
use crate::loom::select::Mode;
use crate::loom::tree::{EdgeIx, FreePlaces, Node, NodeIx, TreeMode};
use crate::maps::{SortedMap, SortedSet};
use crate::sorting;
use crate::text::common_prefix;
use crate::tokens::Counter;
use crate::tokens::memory::CachingCounter;

/// The comparison of two prompts.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Comparison {
    /// Tokens of the first.
    pub before: Tokens,
    /// Tokens of the second.
    pub after: Tokens,
    /// The second minus the first.
    pub difference: Difference,
    /// Nodes that only the second has, or that have another content in it, in its order.
    pub added: Vec<PromptNode>,
    /// Nodes that only the first has, or that have another content in it, in its order.
    pub removed: Vec<PromptNode>,
    /// The cut of the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cut_before: Option<CutSummary>,
    /// The cut of the second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cut_after: Option<CutSummary>,
    /// Whether the cut begins or ends at another node, or only one of them has a cut.
    pub cut_moved: bool,
    /// Tokens at the beginning that are equal in both, so that a provider's prompt cache hits.
    pub cached_tokens: u64,
    /// The last node that both paths share from their beginning; absent if they share none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parts_after: Option<String>,
}

/// The tokens of the second of two prompts minus those of the first, by part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// The system context.
    pub system: i64,
    /// The content of all other messages.
    pub messages: i64,
    /// Per-message and per-request overhead.
    pub overhead: i64,
    /// The sum of the three.
    pub total: i64,
}

/// A node of a prompt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PromptNode {
    /// The node.
    pub node_id: String,
    /// Tokens of its content, counted alone.
    pub tokens: u64,
}

/// A query of a prompt: options, and a counter.
#[derive(Clone, Copy, Debug)]
pub struct Question<'q> {
    /// The options.
    pub options: &'q Options,
    /// The counter.
    pub counter: &'q CachingCounter<'q>,
    /// Whether the prompt is a dialogue or a document; defaults to the tree's mode.
    pub mode: Option<TreeMode>,
}

/// A prompt in numbers.
#[derive(Debug)]
struct Account {
    tokens: Tokens,
    /// The sent nodes, with the tokens of each alone.
    nodes: Vec<(NodeIx, u64)>,
    cut: Option<CutSummary>,
    cut_ends: Option<CutEnds>,
    /// The nodes of the path, oldest first; `None` if the state of dialogues that made it still has them.
    path: Option<Vec<NodeIx>>,
    cached_tokens: u64,
    document: Option<String>,
}

impl LoomTree {
    /// Compares the prompts of two sets of options.
    ///
    /// # Errors
    /// As [`LoomTree::assemble_dialogue`], of either.
    pub fn compare(&mut self, before: Question<'_>, after: Question<'_>) -> Result<Comparison> {
        let known = RefCell::new(self.previous.borrow().clone());
        let first = self.first_account(before, after, &known)?;
        let second = self.account(after, &known, self.preview_state(after))?;
        Ok(self.comparison(first, second, after, &SortedSet::new(), &SortedMap::new()))
    }

    /// Previews a change, optionally with other options: compares the prompts that [`LoomTree::apply`] and two
    /// assemblies would give. The tree and its revision are unchanged.
    ///
    /// # Errors
    /// Those of the change, and as [`LoomTree::assemble_dialogue`], of either.
    pub fn preview(
        &mut self,
        change: ChangeSet,
        limits: &Limits,
        before: Question<'_>,
        after: Question<'_>,
    ) -> Result<Comparison> {
        let known = RefCell::new(self.previous.borrow().clone());
        let first = self.first_account(before, after, &known)?;
        let trial = self.begin_trial(change, limits, after)?;
        let second = self.account(after, &known, self.preview_state(after));
        let compared = second.map(|second| self.comparison(first, second, after, &trial.rewritten, &trial.ids));
        self.end_trial(trial);
        compared
    }

    /// The dialogue state for previews, which does not disturb the current one. Only the current one knows the headers
    /// that callers hold.
    fn preview_state(&self, question: Question<'_>) -> &RefCell<DialogueState> {
        if question.options.loom_aware.is_some() { &self.dialogue } else { &self.previewed }
    }

    /// Keeps the path if the account of `after` uses the state of this one.
    fn first_account(
        &self,
        before: Question<'_>,
        after: Question<'_>,
        known: &RefCell<Option<PreviousDialogue>>,
    ) -> Result<Account> {
        let mut first = self.account(before, known, &self.dialogue)?;
        if std::ptr::eq(self.preview_state(after), &raw const self.dialogue) {
            first.path = Some(first.path_in(&self.dialogue));
        }
        Ok(first)
    }

    fn account(
        &self,
        question: Question<'_>,
        known: &RefCell<Option<PreviousDialogue>>,
        state: &RefCell<DialogueState>,
    ) -> Result<Account> {
        if question.mode.unwrap_or(self.tree.settings().mode) == TreeMode::Buffer {
            return self.document_account(question);
        }
        let context = self.context(question.options, question.counter, Mode::Dialogue);
        plan_dialogue(context, &mut state.borrow_mut(), Purpose::Send, |plan: DialoguePlan<'_, '_>| {
            let mut planned = plan.choose()?;
            let report = plan.summary(&mut planned, Some(known));
            Ok(Account {
                nodes: plan.sent_nodes(&planned.choice).collect(),
                cut_ends: plan.cut_ends(&planned.choice),
                path: None,
                cached_tokens: planned.shared_tokens,
                tokens: report.tokens,
                cut: report.cut,
                document: None,
            })
        })
    }

    /// A document is concatenated again for each assembly, so its path needs no state in between.
    fn document_account(&self, question: Question<'_>) -> Result<Account> {
        let context = self.context(question.options, question.counter, Mode::Buffer);
        let mut state = PathState::default();
        let assembly = buffer::document(&context, &mut state)?;
        let report = assembly.report;
        let sent = |of_system: bool| {
            let is_sent = |row: &&NodeReport<'_>| matches!(row.fate, Fate::Kept | Fate::Changed);
            let rows = report.nodes.iter().filter(is_sent);
            let rows = rows.filter(move |row| (row.part == NodePart::Instruction) == of_system);
            rows.filter_map(|row| Some((self.tree.find_opt(row.node_id)?, row.tokens)))
        };
        Ok(Account {
            nodes: sent(true).chain(sent(false)).collect(),
            cut_ends: report.cut.as_ref().map(|_| document_cut_ends(&report.nodes)),
            cut: report.cut.as_ref().map(CutSummary::of),
            path: Some(report.path.iter().filter_map(|id| self.tree.find_opt(id)).collect()),
            cached_tokens: 0,
            tokens: report.tokens,
            document: Some(assembly.document),
        })
    }

    /// Compares two accounts: `rewritten` nodes have another content in the second, and `ids` are those that slots had
    /// in the first.
    fn comparison(
        &self,
        first: Account,
        second: Account,
        after: Question<'_>,
        rewritten: &SortedSet<String>,
        ids: &SortedMap<NodeIx, String>,
    ) -> Comparison {
        // Another node may use a slot that became free.
        let other_nodes: Vec<NodeIx> =
            ids.iter().filter(|(place, id)| **id != *self.tree.at(**place).id).map(|(&place, _)| place).collect();
        let id_before = |place: NodeIx| ids.get(&place).map_or(&*self.tree.at(place).id, String::as_str);
        let id_after = |place: NodeIx| &*self.tree.at(place).id;
        // The current slot of a node of the first.
        let moved = |place: NodeIx| {
            if holds(&other_nodes, place) { self.tree.find_opt(id_before(place)) } else { Some(place) }
        };
        let rewritten = sorted(rewritten.iter().filter_map(|id| self.tree.find_opt(id)));
        let places_before = sorted(first.nodes.iter().filter_map(|&(place, _)| moved(place)));
        let places_after = sorted(second.nodes.iter().map(|&(place, _)| place));
        let differs = |place: NodeIx, there: &[NodeIx]| holds(&rewritten, place) || !holds(there, place);
        let removed =
            first.nodes.iter().filter(|(place, _)| moved(*place).is_none_or(|place| differs(place, &places_after)));
        let removed =
            removed.map(|&(place, tokens)| PromptNode { node_id: id_before(place).to_owned(), tokens }).collect();
        let added = second.nodes.iter().filter(|(place, _)| differs(*place, &places_before));
        let added = added.map(|&(place, tokens)| PromptNode { node_id: id_after(place).to_owned(), tokens }).collect();
        let parts_after =
            self.last_shared(&first, &second, after, &other_nodes).map(|place| id_after(place).to_owned());
        let cached_tokens = match (&first.document, &second.document) {
            (Some(one), Some(other)) => after.counter.count(common_prefix(one, other)).into(),
            (None, None) => second.cached_tokens,
            _ => 0,
        };
        let more = |of: fn(&Tokens) -> u64| signed(of(&second.tokens)).saturating_sub(signed(of(&first.tokens)));
        Comparison {
            difference: Difference {
                system: more(|tokens| tokens.system),
                messages: more(|tokens| tokens.messages),
                overhead: more(|tokens| tokens.overhead),
                total: more(|tokens| tokens.total),
            },
            added,
            removed,
            cut_moved: first.cut_ends != second.cut_ends,
            cached_tokens,
            parts_after,
            before: first.tokens,
            after: second.tokens,
            cut_before: first.cut,
            cut_after: second.cut,
        }
    }

    /// The last node of the first that both paths share; `other_nodes` are slots that hold another node now.
    fn last_shared(
        &self,
        first: &Account,
        second: &Account,
        after: Question<'_>,
        other_nodes: &[NodeIx],
    ) -> Option<NodeIx> {
        if first.path.is_some() || second.path.is_some() {
            let (one, other) = (first.path_in(&self.dialogue), second.path_in(self.preview_state(after)));
            let same = |(one, other): &(&NodeIx, &NodeIx)| one == other && !holds(other_nodes, **one);
            return one.iter().zip(&other).take_while(same).last().map(|(&place, _)| place);
        }
        let (mut one, mut other) = (self.dialogue.borrow_mut(), self.previewed.borrow_mut());
        let (one, other) = (&mut one.path, &mut other.path);
        // Equal and unchanged steps are not compared again.
        let known = self.shared_steps.get().min(one.take_unchanged()).min(other.take_unchanged());
        let [ones, others] = [&one.steps, &other.steps].map(|steps| steps.get(known..).unwrap_or_default());
        let same = known + ones.iter().zip(others).take_while(|(one, other)| one.node == other.node).count();
        self.shared_steps.set(same);
        let same = other_nodes.iter().filter_map(|&place| one.step_of(place)).fold(same, usize::min);
        one.steps.get(same.checked_sub(1)?).map(|step| step.node)
    }

    /// Applies a change that will be undone.
    fn begin_trial(&mut self, change: ChangeSet, limits: &Limits, after: Question<'_>) -> Result<Trial> {
        let removal = self.removal(&change);
        self.check(&change, &removal, limits)?;
        let inverse = self.inverse(&change, &removal);
        let mut trial = self.trial(&change, &removal, inverse, after.options.loom_aware.is_none());
        self.on_trial = true;
        self.make(change, removal, None);
        self.note_rewritten(&mut trial);
        trial.touched = self.tree.take_touched();
        self.previewed.get_mut().touch(&trial.touched);
        if !trial.in_its_own_state {
            self.dialogue.get_mut().touch(&trial.touched);
        }
        Ok(trial)
    }

    /// Records the state of the tree before a change. The log and the cached data of nodes are taken out.
    fn trial(&mut self, change: &ChangeSet, removal: &Removal, inverse: ChangeSet, in_its_own_state: bool) -> Trial {
        let added_nodes = change.nodes.iter().map(|put| &*put.entity.id);
        let added_nodes =
            added_nodes.filter(|id| self.tree.find_opt(id).is_none_or(|place| removal.nodes.contains(&place)));
        let added_edges = change.edges.iter().map(|put| &*put.entity.id);
        let added_edges = added_edges.filter(|id| self.tree.find_edge(id).is_none_or(|place| removal.names(place)));
        let named = change.nodes.iter().map(|put| &*put.entity.id);
        let named = named.chain(change.endings.iter().map(|ending| &*ending.node_id));
        let named = named.filter_map(|id| self.tree.find_opt(id));
        let incremental_texts = self.incremental_texts.nodes();
        let places = SortedSet::from_iter(removal.nodes.iter().copied().chain(named));
        Trial {
            added_nodes: added_nodes.map(str::to_owned).collect(),
            added_edges: added_edges.map(str::to_owned).collect(),
            free: self.tree.free_places(change.nodes.len(), change.edges.len()),
            ids: removal.nodes.iter().map(|&place| (place, self.tree.at(place).id.to_string())).collect(),
            edge_places: removal.edges().map(|edge| (self.tree.edge(edge).id.to_string(), edge)).collect(),
            remembered: places.into_iter().map(|place| self.remembered(place)).collect(),
            log: std::mem::take(&mut self.log),
            rewritten: SortedSet::new(),
            touched: Vec::new(),
            incremental_texts,
            inverse,
            in_its_own_state,
        }
    }

    /// Records the nodes whose content a change replaced.
    fn note_rewritten(&self, trial: &mut Trial) {
        let is_rewritten = |put: &&Upsert<Node<'_>>| {
            let now = self.tree.node(&put.entity.id);
            now.is_some_and(|now| now.content != put.entity.content || now.author != put.entity.author)
        };
        let rewritten = trial.inverse.nodes.iter().filter(is_rewritten).map(|put| put.entity.id.to_string());
        let endings = trial.inverse.endings.iter().filter(|ending| ending.cut > 0 || !ending.text.is_empty());
        trial.rewritten = SortedSet::from_iter(rewritten.chain(endings.map(|ending| ending.node_id.clone())));
    }

    /// Undoes a change, so that each node and edge is at its previous slot.
    fn end_trial(&mut self, trial: Trial) {
        let nodes = trial.added_nodes.iter().filter_map(|id| self.tree.find_opt(id)).collect();
        let edges = trial.added_edges.iter().filter_map(|id| self.tree.find_edge(id)).collect();
        let node_places: SortedMap<&str, NodeIx> = trial.ids.iter().map(|(&place, id)| (&**id, place)).collect();
        let places = |id: &str| node_places.get(id).copied();
        let edge_places = |id: &str| trial.edge_places.get(id).copied();
        let restored = RestoredPlaces {
            free: trial.free,
            nodes: trial.inverse.nodes.iter().filter_map(|put| places(&put.entity.id)).collect(),
            edges: trial.inverse.edges.iter().filter_map(|put| edge_places(&put.entity.id)).collect(),
        };
        self.make(trial.inverse, Removal::only(nodes, edges), Some(restored));
        self.on_trial = false;
        self.log = trial.log;
        trial.remembered.into_iter().for_each(|remembered| self.put_remembered(remembered));
        self.incremental_texts.arrange(&trial.incremental_texts);
        let mut touched = trial.touched;
        touched.extend(self.tree.take_touched());
        self.previewed.get_mut().touch(&touched);
        if !trial.in_its_own_state {
            self.dialogue.get_mut().touch(&touched);
        }
        // The relations of nodes are restored.
        self.tree.take_related();
    }
}

impl Account {
    /// The nodes of the path, oldest first; `state` is the one that computed it.
    fn path_in(&self, state: &RefCell<DialogueState>) -> Vec<NodeIx> {
        let steps = || state.borrow().path.steps.iter().map(|step| step.node).collect();
        self.path.clone().unwrap_or_else(steps)
    }
}

/// An applied change that will be undone.
#[derive(Debug)]
struct Trial {
    log: ChangeLog,
    inverse: ChangeSet,
    /// Nodes with another content.
    rewritten: SortedSet<String>,
    /// The nodes and edges that the change added, or removed and added again.
    added_nodes: Vec<String>,
    added_edges: Vec<String>,
    /// The slots of the removed nodes, and their ids.
    ids: SortedMap<NodeIx, String>,
    edge_places: SortedMap<String, EdgeIx>,
    free: FreePlaces,
    /// The cached data of changed nodes.
    remembered: Vec<RememberedNode>,
    /// The nodes with incremental texts.
    incremental_texts: Vec<NodeIx>,
    touched: Vec<NodeIx>,
    in_its_own_state: bool,
}

/// The ends of a cut in a document.
fn document_cut_ends(nodes: &[NodeReport<'_>]) -> CutEnds {
    let is_cut = |row: &&NodeReport<'_>| matches!(row.fate, Fate::Cut | Fate::Changed);
    let mut rows = nodes.iter().filter(is_cut).map(|row| row.node_id.to_owned());
    let first = rows.next();
    let last = rows.next_back().or_else(|| first.clone());
    CutEnds { first, last }
}

/// Sorts slots.
fn sorted(nodes: impl Iterator<Item = NodeIx>) -> Vec<NodeIx> {
    let mut nodes: Vec<NodeIx> = nodes.collect();
    sorting::sort(&mut nodes);
    nodes
}

/// Whether a sorted list has a slot.
fn holds(places: &[NodeIx], place: NodeIx) -> bool {
    places.binary_search(&place).is_ok()
}

fn signed(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}
