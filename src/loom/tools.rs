//! Tool calls and their results: neither is ever sent without the other (SPEC §1 "Units").

use smallvec::SmallVec;

use crate::content::{Block, Unanswered};
use crate::error::{Diagnostic, DiagnosticCode, Severity};
use crate::loom::report::{Fate, Reason};
use crate::loom::select::{Entry, Row};
use crate::loom::tree::Tree;
use crate::maps::{SortedMap, SortedSet};
use crate::prompt::Role;
use crate::text::trim;

/// The entries that are left without broken pairs, and their blocks.
#[derive(Debug, Default)]
pub(crate) struct RepairedEntries<'a> {
    pub entries: Vec<Entry>,
    pub blocks: Vec<SmallVec<[&'a Block<'a>; 2]>>,
    /// Where each unit begins, and the end.
    pub units: Vec<usize>,
    /// Each call of the original entries, and its result, if there is one.
    pub calls: Vec<(usize, Option<usize>)>,
}

/// Removes calls without results and results without calls, and groups what belongs together.
pub(crate) fn repair<'a>(
    tree: &'a Tree<'a>,
    entries: &[Entry],
    rows: &mut [Row],
    diagnostics: &mut Vec<Diagnostic>,
) -> RepairedEntries<'a> {
    let pairs = Pairs::find(tree, entries);
    let thoughtless = pairs.thoughts_of_broken_calls(tree, entries);
    let mut repaired = RepairedEntries::default();
    // Where each old entry went, for the pairs.
    let mut places: Vec<Option<usize>> = Vec::with_capacity(entries.len());
    for (at, entry) in entries.iter().enumerate() {
        let node = tree.at(entry.node);
        let mut blocks = SmallVec::new();
        let mut broken = false;
        for (index, block) in node.content.iter().enumerate() {
            if pairs.broken.contains(&(at, index)) {
                broken = true;
                diagnostics.push(broken_diagnostic(block, &node.id));
            } else if thoughtless.contains(&at) && matches!(block, Block::Reasoning { .. }) {
                broken = true;
            } else {
                blocks.push(block);
            }
        }
        let silent = |block: &&Block| matches!(block, Block::Text(text) if trim(text).is_empty());
        if broken && blocks.iter().all(silent) {
            if let Some(row) = rows.get_mut(entry.row) {
                (row.fate, row.reason) = (Fate::Excluded, Some(Reason::ToolPairBroken));
            }
            places.push(None);
        } else {
            places.push(Some(repaired.entries.len()));
            repaired.entries.push(*entry);
            repaired.blocks.push(blocks);
        }
    }
    let spans = pairs.kept.iter().filter_map(|&(call, result)| {
        Some((places.get(call).copied().flatten()?, places.get(result).copied().flatten()?))
    });
    repaired.units = units(&repaired, spans);
    let open = pairs.broken.iter().filter(|&&(at, index)| is_call(tree, entries, at, index));
    let closed = pairs.kept.iter().map(|&(call, result)| (call, Some(result)));
    repaired.calls = closed.chain(open.map(|&(at, _)| (at, None))).collect();
    repaired
}

fn is_call(tree: &Tree, entries: &[Entry], at: usize, index: usize) -> bool {
    let block = entries.get(at).and_then(|entry| tree.at(entry.node).content.get(index));
    block.is_some_and(|block| matches!(block, Block::ToolCall { .. }))
}

struct Pairs {
    /// Entry of the call, entry of its result.
    kept: Vec<(usize, usize)>,
    /// Entry and block of those without a counterpart.
    broken: SortedSet<(usize, usize)>,
}

impl Pairs {
    /// Matches results with calls before them that have their id and no result yet.
    fn find(tree: &Tree, entries: &[Entry]) -> Self {
        let mut open: SortedMap<&str, Unanswered<(usize, usize)>> = SortedMap::new();
        let mut pairs = Self { kept: Vec::new(), broken: SortedSet::new() };
        for (at, entry) in entries.iter().enumerate() {
            for (index, block) in tree.at(entry.node).content.iter().enumerate() {
                match block {
                    Block::ToolCall { id, .. } => {
                        open.or_default(id).add((at, index), |last| last.0 + 1 >= at);
                        pairs.broken.insert((at, index));
                    }
                    Block::ToolResult { tool_call_id, .. } => {
                        match open.get_mut(&**tool_call_id).and_then(Unanswered::answered) {
                            Some(call) => {
                                pairs.broken.remove(&call);
                                pairs.kept.push((call.0, at));
                            }
                            None => {
                                pairs.broken.insert((at, index));
                            }
                        }
                    }
                    _ => {}
                }
            }
        }
        pairs
    }

    /// Entries whose reasoning led only to calls that were removed.
    fn thoughts_of_broken_calls(&self, tree: &Tree, entries: &[Entry]) -> SortedSet<usize> {
        let calling = SortedSet::from_iter(self.kept.iter().map(|&(call, _)| call));
        let mut found = SortedSet::new();
        for &(at, index) in self.broken.iter() {
            if !is_call(tree, entries, at, index) || calling.contains(&at) {
                continue;
            }
            found.insert(at);
            let before = entries.get(..at).unwrap_or_default();
            for (earlier, entry) in before.iter().enumerate().rev() {
                let content = &tree.at(entry.node).content;
                let only_thoughts =
                    !content.is_empty() && content.iter().all(|block| matches!(block, Block::Reasoning { .. }));
                if entry.role != Role::Assistant || !only_thoughts {
                    break;
                }
                found.insert(earlier);
            }
        }
        found
    }
}

#[cold]
fn broken_diagnostic(block: &Block, node: &str) -> Diagnostic {
    let message = match block {
        Block::ToolResult { tool_call_id, .. } => {
            format!("the result of tool call `{tool_call_id}` has no call before it on the path; it was left out")
        }
        Block::ToolCall { id, .. } => {
            format!("tool call `{id}` has no result on the path; it was left out")
        }
        _ => String::new(),
    };
    Diagnostic::new(DiagnosticCode::ToolPairBroken, Severity::Warning, message).about_node(node)
}

/// Where each unit begins: an entry is a unit, widened to hold a call, its results and the reasoning that led to it.
fn units(repaired: &RepairedEntries<'_>, spans: impl Iterator<Item = (usize, usize)>) -> Vec<usize> {
    let count = repaired.entries.len();
    // For each entry, the last entry that has to stay with it.
    let mut reach: Vec<usize> = (0..count).collect();
    for (call, result) in spans {
        let start = thoughts_before(repaired, call);
        if let Some(end) = reach.get_mut(start) {
            *end = (*end).max(result);
        }
    }
    let mut starts = Vec::with_capacity(count.saturating_add(1));
    let mut closed_at = 0;
    for (at, &end) in reach.iter().enumerate() {
        if at >= closed_at {
            starts.push(at);
        }
        closed_at = closed_at.max(end.saturating_add(1));
    }
    starts.push(count);
    starts
}

/// The earliest entry with reasoning in the turn that ends in `call`, else `call`.
fn thoughts_before(repaired: &RepairedEntries<'_>, call: usize) -> usize {
    let turn = repaired.entries.iter().zip(&repaired.blocks).enumerate().take(call).rev();
    let mut start = call;
    for (at, (entry, blocks)) in turn {
        if entry.role != Role::Assistant || blocks.iter().any(|block| matches!(block, Block::ToolCall { .. })) {
            break;
        }
        if blocks.iter().any(|block| matches!(block, Block::Reasoning { .. })) {
            start = at;
        }
    }
    start
}
