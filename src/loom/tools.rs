//! Tool calls and their results: neither is ever sent without the other (SPEC §1 "Units").

use smallvec::SmallVec;

use crate::content::{Block, Role};
use crate::error::{Diagnostic, DiagnosticCode, Severity};
use crate::loom::report::{Fate, Reason};
use crate::loom::select::{Entry, Row};
use crate::loom::tree::Tree;
use crate::maps::SortedSet;
use crate::text::trim;
use crate::tool_calls::{PartPosition, ToolPairs, Units};

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
    let blocks = entries.iter().enumerate().flat_map(|(at, entry)| {
        tree.at(entry.node).content.iter().enumerate().map(move |(index, block)| ((at, index), block))
    });
    let pairs = ToolPairs::of_blocks(blocks);
    let open = pairs.open_calls();
    let broken_parts: SortedSet<PartPosition> = open.iter().chain(&pairs.orphans).copied().collect();
    let thoughtless = thoughts_of_calls(&open, &pairs.answered, tree, entries);
    let mut repaired = RepairedEntries::default();
    // Where each old entry went, for the pairs.
    let mut places: Vec<Option<usize>> = Vec::with_capacity(entries.len());
    for (at, entry) in entries.iter().enumerate() {
        let node = tree.at(entry.node);
        let mut blocks = SmallVec::new();
        let mut broken = false;
        for (index, block) in node.content.iter().enumerate() {
            if broken_parts.contains(&(at, index)) {
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
    let spans = pairs.answered.iter().filter_map(|&(call, result)| {
        Some((places.get(call.0).copied().flatten()?, places.get(result.0).copied().flatten()?))
    });
    repaired.units = units(&repaired, spans);
    let closed = pairs.answered.iter().map(|&(call, result)| (call.0, Some(result.0)));
    repaired.calls = closed.chain(open.iter().map(|&(at, _)| (at, None))).collect();
    repaired
}

/// Entries whose reasoning led only to calls that were removed.
fn thoughts_of_calls(
    open: &[PartPosition],
    answered: &[(PartPosition, PartPosition)],
    tree: &Tree,
    entries: &[Entry],
) -> SortedSet<usize> {
    let calling = SortedSet::from_iter(answered.iter().map(|&(call, _)| call.0));
    let mut found = SortedSet::new();
    for &(at, _) in open.iter().filter(|(at, _)| !calling.contains(at)) {
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
    let mut units = Units::new(repaired.entries.len());
    for (call, result) in spans {
        units.join(thoughts_before(repaired, call), result);
    }
    units.starts()
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
