//! The messages of a result, in their order.

use serde::Serialize;
use serde_json::Value as Json;

use super::adjacency::{MovedResult, is_results};
use super::messages::Messages;
use crate::sorting;
use crate::vendors::pieces::message::Change;

/// Messages of the result.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum Entry {
    One(usize),
    /// From one index to another, as they are.
    Run(usize, usize),
    Changed(usize, Vec<Change>),
    /// A marker or a summary.
    Added(Json),
}

impl Entry {
    /// The index of a single message of the input.
    pub(super) fn index(&self) -> Option<usize> {
        match self {
            Self::One(at) | Self::Changed(at, _) => Some(*at),
            Self::Run(..) | Self::Added(_) => None,
        }
    }

    /// A run as its messages.
    pub(super) fn single(self) -> impl Iterator<Item = Self> {
        let (run, other) = match self {
            Self::Run(from, to) => (from..to, None),
            other => (0..0, Some(other)),
        };
        run.map(Self::One).chain(other)
    }
}

/// Moves the entries of results directly after those of their calls and of the results that stand there.
pub(super) fn move_results(entries: Vec<Entry>, moved: &[MovedResult], messages: &Messages<'_>) -> Vec<Entry> {
    let single: Vec<Entry> = entries.into_iter().flat_map(Entry::single).collect();
    let indices: Vec<usize> = single.iter().filter_map(Entry::index).collect();
    let is_kept = |index: usize| indices.binary_search(&index).is_ok();
    let call_of = |entry: &Entry| {
        let index = entry.index()?;
        let at = moved.binary_search_by_key(&index, |it| it.result).ok()?;
        moved.get(at).map(|it| it.call).filter(|&call| is_kept(call))
    };
    let (mut going, mut staying) = (Vec::new(), Vec::with_capacity(single.len()));
    for entry in single {
        match call_of(&entry) {
            Some(call) => going.push((call, entry)),
            None => staying.push(entry),
        }
    }
    sorting::sort_by_key(&mut going, |(call, _)| *call);
    let mut going = going.into_iter().peekable();
    let mut staying = staying.into_iter().peekable();
    let mut result = Vec::with_capacity(indices.len() + 1);
    let is_result = |entry: &Entry| entry.index().and_then(|at| messages.get(at)).is_some_and(is_results);
    while let Some(entry) = staying.next() {
        let index = entry.index();
        result.push(entry);
        if index.is_none() || going.peek().map(|(call, _)| *call) != index {
            continue;
        }
        result.extend(std::iter::from_fn(|| staying.next_if(is_result)));
        result.extend(std::iter::from_fn(|| going.next_if(|(call, _)| Some(*call) == index)).map(|(_, entry)| entry));
    }
    result
}
