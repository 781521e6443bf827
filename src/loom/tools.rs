//! Tool calls and their results: neither is ever sent without the other (docs/loom.md).

use smallvec::SmallVec;

use crate::assembly::preserved::{ThinkingFate, is_signed};
use crate::content::{Block, Role, Vendor};
use crate::error::{Diagnostic, DiagnosticCode, Severity};
use crate::loom::report::{Fate, Reason};
use crate::loom::select::{Entry, Row};
use crate::loom::tree::Tree;
use crate::maps::SortedSet;
use crate::text::trim;
use crate::tool_calls::{PartPosition, ToolPairs, Units};

/// The remaining entries without broken pairs, and their blocks.
#[derive(Debug, Default)]
pub(crate) struct RepairedEntries<'a> {
    pub entries: Vec<Entry>,
    pub blocks: Vec<SmallVec<[&'a Block<'a>; 2]>>,
    /// The start of each unit, and the end.
    pub units: Vec<usize>,
    /// Each call of the original entries, with its result if it has one.
    pub calls: Vec<(usize, Option<usize>)>,
    /// For each original entry, whether its signed thinking is invalid because its message or an earlier one was
    /// repaired.
    pub invalid: Vec<bool>,
}

/// Removes calls without results and results without calls, and groups entries into units. Thinking that this makes
/// invalid is removed if `strips`, all signed thinking if `strips_all` (docs/agents.md).
pub(crate) fn repair<'a>(
    tree: &'a Tree<'a>,
    entries: &[Entry],
    strips: bool,
    strips_all: bool,
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
    let is_kept = |at: usize, index: usize, block: &Block| {
        !(broken_parts.contains(&(at, index)) || thoughtless.contains(&at) && matches!(block, Block::Reasoning { .. }))
    };
    let invalid = invalid_thinking(tree, entries, &is_kept);
    let mut repaired = RepairedEntries::default();
    // The new index of each old entry, for the pairs.
    let mut places: Vec<Option<usize>> = Vec::with_capacity(entries.len());
    for (at, entry) in entries.iter().enumerate() {
        let node = tree.at(entry.node);
        let strips = strips_all || strips && invalid.get(at) == Some(&true);
        let mut blocks = SmallVec::new();
        let (mut broken, mut stripped) = (false, false);
        for (index, block) in node.content.iter().enumerate() {
            if !is_kept(at, index, block) {
                broken = true;
                diagnostics.extend(broken_diagnostic(block, &node.id));
            } else if strips && is_signed(block, Vendor::Anthropic) {
                stripped = true;
            } else {
                blocks.push(block);
            }
        }
        diagnostics.extend(stripped.then(|| ThinkingFate::Removed.in_tree(&node.id)));
        broken |= stripped;
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
    repaired.invalid = invalid;
    repaired
}

/// For each entry, whether its signed thinking is invalid: from the first message that a repair changes, up to a signed
/// compaction, at which the prefix of thinking begins again.
fn invalid_thinking(tree: &Tree, entries: &[Entry], is_kept: &dyn Fn(usize, usize, &Block<'_>) -> bool) -> Vec<bool> {
    let mut is_invalid = false;
    // Removing thinking alone is not a change.
    let is_changed = |at: usize, entry: &Entry| {
        let mut blocks = tree.at(entry.node).content.iter().enumerate();
        blocks.any(|(index, block)| !is_kept(at, index, block) && !matches!(block, Block::Reasoning { .. }))
    };
    let is_gone = |at: usize, entry: &Entry| {
        let silent = |block: &Block| matches!(block, Block::Text(text) if trim(text).is_empty());
        let mut blocks = tree.at(entry.node).content.iter().enumerate();
        is_changed(at, entry) && blocks.all(|(index, block)| !is_kept(at, index, block) || silent(block))
    };
    let mut invalid = Vec::with_capacity(entries.len());
    // The first entry of the assistant's turn that the next entry belongs to.
    let mut turn = None;
    for (at, entry) in entries.iter().enumerate() {
        is_invalid &= !tree.at(entry.node).content.read_blocks().iter().any(begins_prefix);
        let is_removed = is_gone(at, entry);
        if entry.role == Role::Assistant {
            turn = turn.or(Some(at));
        } else if !is_removed {
            turn = None;
        }
        is_invalid |= is_changed(at, entry);
        invalid.push(is_invalid);
        if is_invalid && entry.role == Role::Assistant {
            // Two turns become one message if everything between them was removed.
            let before = invalid.iter_mut().take(at).skip(turn.unwrap_or(at)).rev();
            before.take_while(|is_invalid| !**is_invalid).for_each(|is_invalid| *is_invalid = true);
        }
    }
    invalid
}

/// Whether a block is a compaction that Anthropic signed.
fn begins_prefix(block: &Block<'_>) -> bool {
    matches!(block, Block::Vendor(block) if block.vendor == Vendor::Anthropic && block.is_compaction() && block.is_signed())
}

/// Entries whose reasoning only led to removed calls.
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

fn broken_diagnostic(block: &Block, node: &str) -> Option<Diagnostic> {
    let message = match block {
        Block::ToolResult { tool_call_id, .. } => {
            format!("the result of tool call `{tool_call_id}` has no call before it on the path; it was left out")
        }
        Block::ToolCall { id, .. } => {
            format!("tool call `{id}` has no result on the path; it was left out")
        }
        _ => return None,
    };
    Some(Diagnostic::new(DiagnosticCode::ToolPairBroken, Severity::Warning, message).about_node(node))
}

/// The start of each unit: an entry is extended to include a call, its results and the reasoning that led to it.
fn units(repaired: &RepairedEntries<'_>, spans: impl Iterator<Item = (usize, usize)>) -> Vec<usize> {
    let mut units = Units::new(repaired.entries.len());
    for (call, result) in spans {
        units.join(thoughts_before(repaired, call), result);
    }
    units.starts()
}

/// The earliest entry with reasoning in the turn that ends with `call`, else `call`.
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
