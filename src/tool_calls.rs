//! Pairs tool calls with their results, and groups the messages that have to stay together.
//!
//! A result answers an earlier call with its id that has no result yet. If several calls qualify, it answers one of the
//! last turn that called, and in that turn the first: results come in the order of the calls.

use std::borrow::Cow;
use std::collections::VecDeque;

use crate::content::Block;
use crate::maps::{SortedMap, SortedSet};
use crate::sorting;

/// Position of a call or a result: the message, and the part of it.
pub(crate) type PartPosition = (usize, usize);

/// Calls with one id that have no result yet, by the turns they were made in.
#[derive(Debug, Default)]
struct OpenCalls(Vec<VecDeque<PartPosition>>);

impl OpenCalls {
    /// Adds a call after all others. Neighboring messages are one turn.
    fn add(&mut self, call: PartPosition) {
        let is_of_turn = |turn: &&mut VecDeque<PartPosition>| turn.back().is_some_and(|last| last.0 + 1 >= call.0);
        match self.0.last_mut().filter(is_of_turn) {
            Some(turn) => turn.push_back(call),
            None => self.0.push(VecDeque::from([call])),
        }
    }

    /// Takes the call that the next result answers.
    fn take(&mut self) -> Option<PartPosition> {
        let turn = self.0.last_mut()?;
        let call = turn.pop_front();
        if turn.is_empty() {
            self.0.pop();
        }
        call
    }
}

/// Calls and their results. More can be added at the end.
#[derive(Debug, Default)]
pub(crate) struct ToolPairs<'i> {
    /// Calls with their results.
    pub answered: Vec<(PartPosition, PartPosition)>,
    /// Results without a call.
    pub orphans: Vec<PartPosition>,
    /// Calls without a result, by their ids.
    open: SortedMap<Cow<'i, str>, OpenCalls>,
}

impl<'i> ToolPairs<'i> {
    /// Pairs the calls and results in blocks, in the order of the results.
    pub(crate) fn of_blocks(blocks: impl Iterator<Item = (PartPosition, &'i Block<'i>)>) -> Self {
        let mut pairs = Self::default();
        for (at, block) in blocks {
            match block {
                Block::ToolCall { id, .. } => pairs.add_call(id, at, Cow::Borrowed),
                Block::ToolResult { tool_call_id, .. } => {
                    pairs.add_result(tool_call_id, at);
                }
                _ => {}
            }
        }
        pairs
    }

    /// Adds a call. `key` makes the stored id.
    pub(crate) fn add_call<'m>(&mut self, id: &'m str, at: PartPosition, key: impl FnOnce(&'m str) -> Cow<'i, str>) {
        match self.open.get_mut(id) {
            Some(calls) => calls.add(at),
            None => {
                let mut calls = OpenCalls::default();
                calls.add(at);
                self.open.insert(key(id), calls);
            }
        }
    }

    /// Adds a result. Returns the call it answers.
    pub(crate) fn add_result(&mut self, id: &str, at: PartPosition) -> Option<PartPosition> {
        let calls = self.open.get_mut(id);
        let Some((call, is_last)) = calls.and_then(|calls| Some((calls.take()?, calls.0.is_empty()))) else {
            self.orphans.push(at);
            return None;
        };
        if is_last {
            self.open.remove(id);
        }
        self.answered.push((call, at));
        Some(call)
    }

    /// Calls without a result, in order.
    pub(crate) fn open_calls(&self) -> Vec<PartPosition> {
        let mut calls: Vec<PartPosition> =
            self.open.values().flat_map(|calls| calls.0.iter().flatten()).copied().collect();
        sorting::sort(&mut calls);
        calls
    }
}

/// Ids of the calls and results in blocks, regardless of their order.
#[derive(Debug, Default)]
pub(crate) struct ToolIds {
    /// Ids of calls whose results have to be sent: calls of tools that the client runs.
    pub calls: SortedSet<String>,
    /// Ids of calls that have a result.
    pub results: SortedSet<String>,
}

impl ToolIds {
    pub(crate) fn of_blocks<'b>(blocks: impl Iterator<Item = &'b Block<'b>>) -> Self {
        let mut ids = Self::default();
        for block in blocks {
            match block {
                Block::ToolCall { id, server: false, .. } => drop(ids.calls.insert(id.to_string())),
                Block::ToolResult { tool_call_id, .. } => drop(ids.results.insert(tool_call_id.to_string())),
                _ => {}
            }
        }
        ids
    }
}

/// Units of items: each unit is an item, extended to the items that have to stay with it.
#[derive(Debug)]
pub(crate) struct Units {
    /// For each item, the last item that stays with it.
    reach: Vec<usize>,
}

impl Units {
    /// Starts with one unit per item.
    pub(crate) fn new(items: usize) -> Self {
        Self { reach: (0..items).collect() }
    }

    /// Joins the items from `first` to `last`.
    pub(crate) fn join(&mut self, first: usize, last: usize) {
        if let Some(reach) = self.reach.get_mut(first) {
            *reach = last.max(*reach);
        }
    }

    /// The start of each unit, then the end of the last one.
    pub(crate) fn starts(&self) -> Vec<usize> {
        let mut starts = Vec::with_capacity(self.reach.len() + 1);
        let mut closed_at = 0;
        for (at, &end) in self.reach.iter().enumerate() {
            if at >= closed_at {
                starts.push(at);
            }
            closed_at = closed_at.max(end.saturating_add(1));
        }
        starts.push(self.reach.len());
        starts
    }
}
