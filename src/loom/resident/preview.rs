//! What an edit, or other options, would do to a prompt, without doing it: two prompts beside each other, each a dialogue or
//! a document.

use std::cell::RefCell;

use serde::Serialize;

use super::change::ChangeSet;
use super::change_log::ChangeLog;
use super::loom_tree::{LoomTree, RememberedNode};
use crate::assembly::message_index::PreviousDialogue;
use crate::error::Result;
use crate::limits::Limits;
use crate::loom::buffer;
use crate::loom::dialogue::{CutEnds, DialoguePlan, Purpose, plan_dialogue};
use crate::loom::dialogue_state::DialogueState;
use crate::loom::path_state::PathState;
use crate::loom::report::{CutSummary, Fate, NodePart, NodeReport, Reason, Tokens};
use crate::loom::request::Options;
use crate::loom::select::Mode;
use crate::loom::tree::{EdgeIx, Node, NodeIx, TreeMode};
use crate::maps::{SortedMap, SortedSet};
use crate::text::common_prefix;
use crate::tokens::Counter;
use crate::tokens::memory::CachingCounter;

/// Two prompts beside each other.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Comparison {
    /// Tokens of the first.
    pub before: Tokens,
    /// Tokens of the second.
    pub after: Tokens,
    /// What the second has more.
    pub difference: Difference,
    /// Nodes that only the second has, or that say something else in it, in its order.
    pub added: Vec<PromptNode>,
    /// Nodes that only the first has, or that say something else in it, in its order.
    pub removed: Vec<PromptNode>,
    /// What is cut from the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cut_before: Option<CutSummary>,
    /// What is cut from the second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cut_after: Option<CutSummary>,
    /// Whether the cut begins or ends between other nodes, or there is one in only one of them.
    pub cut_moved: bool,
    /// Tokens at the beginning that are the same in both, so that a provider's prompt cache knows them again.
    pub cached_tokens: u64,
    /// The last node that both paths share from their beginning; absent where they share none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parts_after: Option<String>,
}

/// Tokens that the second of two prompts has more than the first, by part.
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

/// What is asked of a tree: options, and a counter.
#[derive(Clone, Copy, Debug)]
pub struct Question<'q> {
    /// The options.
    pub options: &'q Options,
    /// What counts.
    pub counter: &'q CachingCounter<'q>,
    /// Whether the prompt is a dialogue or a document; what the tree says where it is absent.
    pub mode: Option<TreeMode>,
}

/// A prompt in numbers.
#[derive(Debug)]
struct Account {
    tokens: Tokens,
    nodes: Vec<PromptNode>,
    cut: Option<CutSummary>,
    cut_ends: Option<CutEnds>,
    path: Vec<NodeIx>,
    cached_tokens: u64,
    document: Option<String>,
}

impl LoomTree {
    /// The prompt of other options beside that of some.
    ///
    /// # Errors
    /// As [`LoomTree::assemble_dialogue`], of either.
    pub fn compare(&mut self, before: Question<'_>, after: Question<'_>) -> Result<Comparison> {
        let known = RefCell::new(self.previous.borrow().clone());
        let first = self.account(before, &known, &self.dialogue)?;
        let second = self.account(after, &known, self.state_beside(after))?;
        Ok(self.comparison(first, second, after.counter, &SortedSet::new(), &SortedMap::new()))
    }

    /// What a change would do, and perhaps other options with it: what [`LoomTree::apply`] and two assemblies would show. The
    /// tree and its revision stay as they are.
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
        let first = self.account(before, &known, &self.dialogue)?;
        let trial = self.begin_trial(change, limits, after)?;
        let second = self.account(after, &known, self.state_beside(after));
        let compared = second.map(|second| self.comparison(first, second, after.counter, &trial.rewritten, &trial.ids));
        self.end_trial(trial)?;
        compared
    }

    /// The dialogue state for what is not: it does not disturb the one of what is. What was handed out of headers is known
    /// by that one alone.
    fn state_beside(&self, question: Question<'_>) -> &RefCell<DialogueState> {
        if question.options.loom_aware.is_some() { &self.dialogue } else { &self.beside }
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
            let node =
                |(node, tokens): (NodeIx, u64)| PromptNode { node_id: self.tree.at(node).id.to_string(), tokens };
            Ok(Account {
                nodes: plan.sent_nodes(&planned.choice).map(node).collect(),
                cut_ends: plan.cut_ends(&planned.choice),
                path: plan.path_nodes().collect(),
                cached_tokens: report.cache.map_or(0, |cached| cached.tokens),
                tokens: report.tokens,
                cut: report.cut,
                document: None,
            })
        })
    }

    /// A document is concatenated anew for each assembly, so its path needs no state between two of them.
    fn document_account(&self, question: Question<'_>) -> Result<Account> {
        let context = self.context(question.options, question.counter, Mode::Buffer);
        let mut state = PathState::default();
        let assembly = buffer::document(&context, &mut state)?;
        let report = assembly.report;
        let sent = |of_system: bool| {
            let is_sent = |row: &&NodeReport<'_>| row.fate == Fate::Kept || row.reason == Some(Reason::Shortened);
            let rows = report.nodes.iter().filter(is_sent);
            let rows = rows.filter(move |row| (row.part == NodePart::Instruction) == of_system);
            rows.map(|row| PromptNode { node_id: row.node_id.to_owned(), tokens: row.tokens })
        };
        Ok(Account {
            nodes: sent(true).chain(sent(false)).collect(),
            cut_ends: report.cut.as_ref().map(|_| document_cut_ends(&report.nodes)),
            cut: report.cut.as_ref().map(CutSummary::of),
            path: report.path.iter().filter_map(|id| self.tree.find_opt(id)).collect(),
            cached_tokens: 0,
            tokens: report.tokens,
            document: Some(assembly.document),
        })
    }

    /// Two accounts beside each other: `rewritten` nodes say something else in the second, and `ids` are those that places
    /// had in the first.
    fn comparison(
        &self,
        first: Account,
        second: Account,
        counter: &CachingCounter<'_>,
        rewritten: &SortedSet<String>,
        ids: &SortedMap<NodeIx, String>,
    ) -> Comparison {
        let id_of = |nodes: &[PromptNode]| SortedSet::from_iter(nodes.iter().map(|node| node.node_id.clone()));
        let only = |nodes: &[PromptNode], other: &[PromptNode]| -> Vec<PromptNode> {
            let there = id_of(other);
            let differs = |node: &&PromptNode| rewritten.contains(&node.node_id) || !there.contains(&node.node_id);
            nodes.iter().filter(differs).cloned().collect()
        };
        // Another node may have come to a place that became free.
        let other_nodes: Vec<NodeIx> =
            ids.iter().filter(|(place, id)| **id != *self.tree.at(**place).id).map(|(&place, _)| place).collect();
        let same = |(one, other): &(&NodeIx, &NodeIx)| one == other && !other_nodes.contains(one);
        let shared = first.path.iter().zip(&second.path).take_while(same).last();
        let cached_tokens = match (&first.document, &second.document) {
            (Some(one), Some(other)) => counter.count(common_prefix(one, other)).into(),
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
            added: only(&second.nodes, &first.nodes),
            removed: only(&first.nodes, &second.nodes),
            cut_moved: first.cut_ends != second.cut_ends,
            cached_tokens,
            parts_after: shared.map(|(&node, _)| self.tree.at(node).id.to_string()),
            before: first.tokens,
            after: second.tokens,
            cut_before: first.cut,
            cut_after: second.cut,
        }
    }

    /// Makes a change that will be taken back.
    fn begin_trial(&mut self, change: ChangeSet, limits: &Limits, after: Question<'_>) -> Result<Trial> {
        let log = std::mem::take(&mut self.log);
        let gone = self.gone(&change);
        let ids = change.nodes.iter().map(|put| &*put.entity.id);
        let ids = ids.chain(change.endings.iter().map(|ending| &*ending.node_id));
        let places =
            SortedSet::from_iter(gone.nodes.iter().copied().chain(ids.filter_map(|id| self.tree.find_opt(id))));
        let remembered: Vec<RememberedNode> = places.into_iter().map(|place| self.remembered(place)).collect();
        let node_places: Vec<(NodeIx, String)> =
            gone.nodes.iter().map(|&place| (place, self.tree.at(place).id.to_string())).collect();
        let edge_places: Vec<(EdgeIx, String)> =
            gone.edges().map(|edge| (edge, self.tree.edge(edge).id.to_string())).collect();
        match self.change(change, limits) {
            Err(error) => {
                self.log = log;
                remembered.into_iter().for_each(|remembered| self.put_remembered(remembered));
                Err(error)
            }
            Ok(applied) => {
                let inverse = applied.inverse;
                let says_else = |id: &str, put: &Node<'_>| {
                    self.tree.node(id).is_some_and(|now| now.content != put.content || now.author != put.author)
                };
                let rewritten = inverse.nodes.iter().filter(|put| says_else(&put.entity.id, &put.entity));
                let rewritten = rewritten.map(|put| put.entity.id.to_string());
                let endings = inverse.endings.iter().filter(|ending| ending.cut > 0 || !ending.text.is_empty());
                let rewritten = SortedSet::from_iter(rewritten.chain(endings.map(|ending| ending.node_id.clone())));
                let touched = self.tree.take_touched();
                let in_its_own_state = after.options.loom_aware.is_none();
                self.beside.get_mut().touch(&touched);
                if !in_its_own_state {
                    self.dialogue.get_mut().touch(&touched);
                }
                let ids = node_places.iter().cloned().collect();
                Ok(Trial {
                    log,
                    inverse,
                    rewritten,
                    ids,
                    remembered,
                    node_places,
                    edge_places,
                    touched,
                    in_its_own_state,
                })
            }
        }
    }

    fn end_trial(&mut self, trial: Trial) -> Result<()> {
        // It was so before, whatever the limits are by now.
        let most = u32::MAX;
        let limits = Limits { input_bytes: most, nodes: most, edges: most, edge_sources: most, ..Limits::default() };
        self.change(trial.inverse, &limits)?;
        self.log = trial.log;
        let mut touched = trial.touched;
        touched.extend(self.tree.take_touched());
        self.beside.get_mut().touch(&touched);
        // Where all is again where it was, nobody has to be told.
        let same_nodes = trial.node_places.iter().all(|(place, id)| self.tree.find_opt(id) == Some(*place));
        let same_edges = trial.edge_places.iter().all(|(edge, id)| self.tree.find_edge(id) == Some(*edge));
        if same_nodes && same_edges && trial.in_its_own_state {
            trial.remembered.into_iter().for_each(|remembered| self.put_remembered(remembered));
        } else {
            self.dialogue.get_mut().touch(&touched);
            self.document.get_mut().touch(&touched);
        }
        Ok(())
    }
}

/// A change that was made and will be taken back.
#[derive(Debug)]
struct Trial {
    log: ChangeLog,
    inverse: ChangeSet,
    /// Nodes that say something else.
    rewritten: SortedSet<String>,
    /// The ids that places had.
    ids: SortedMap<NodeIx, String>,
    /// What was remembered of what was there.
    remembered: Vec<RememberedNode>,
    node_places: Vec<(NodeIx, String)>,
    edge_places: Vec<(EdgeIx, String)>,
    touched: Vec<NodeIx>,
    in_its_own_state: bool,
}

/// The first and the last node that a cut in a document takes something from.
fn document_cut_ends(nodes: &[NodeReport<'_>]) -> CutEnds {
    let is_cut = |row: &&NodeReport<'_>| row.fate == Fate::Cut;
    let mut rows = nodes.iter().filter(is_cut).map(|row| row.node_id.to_owned());
    let first = rows.next();
    let last = rows.next_back().or_else(|| first.clone());
    CutEnds { before: first, after: last }
}

fn signed(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}
