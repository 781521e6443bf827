//! Buffer mode: a path becomes one document (SPEC §1 "Buffer").

use serde::Serialize;

use crate::error::{Diagnostic, DiagnosticCode, Result, Severity};
use crate::loom::assemble::{Draft, leave_out};
use crate::loom::fit;
use crate::loom::paragraphs::Paragraphs;
use crate::loom::parts::JOIN;
use crate::loom::preferences::{Strategy, TEXT_MARKER};
use crate::loom::report::{Cut, Fate, Reason, Report, Tokens};
use crate::loom::request::{Options, SystemPlacement};
use crate::loom::select::{Entry, Mode};
use crate::loom::tree::{Block, Tree};
use crate::text::{self, Utf16Offsets};
use crate::tokens::Counter;

/// A document ready to be sent.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BufferAssembly<'a> {
    /// The combined system context; absent unless the tree asks for it, and when it begins the document.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system: Option<String>,
    /// The document.
    pub document: String,
    /// Where each node stands in the document, in order. A node cut in its middle has two spans, one cut whole has none.
    pub spans: Vec<NodeSpan<'a>>,
    /// Where the working buffer stands; absent without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub working_buffer_span: Option<Span>,
    /// What was done, and why.
    pub report: Report<'a>,
}

/// From `start` up to, not including, `end`, in UTF-16 code units.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Span {
    /// The first code unit.
    pub start: usize,
    /// The one after the last.
    pub end: usize,
}

/// The span of one node, in UTF-16 code units.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NodeSpan<'a> {
    /// The first code unit.
    pub start: usize,
    /// The one after the last.
    pub end: usize,
    /// The node.
    pub node_id: &'a str,
}

/// Assembles the path into one document that stays under the limit (SPEC §1).
///
/// # Errors
/// As [`assemble_dialogue`](crate::loom::assemble_dialogue).
pub fn assemble_buffer<'a>(
    tree: &'a Tree<'a>,
    options: &'a Options,
    counter: &'a dyn Counter,
) -> Result<BufferAssembly<'a>> {
    let mut draft = Draft::new(tree, options, counter, Mode::Buffer, TEXT_MARKER)?;
    let source = Source::concatenate(&mut draft);

    let in_document = matches!(options.system_placement, SystemPlacement::Message(_)) && !draft.system.is_empty();
    let preface = if in_document { format!("{}{JOIN}", draft.system) } else { String::new() };
    let system_field = if in_document { 0 } else { draft.prices.text(&draft.system) };
    let fixed = system_field + options.overhead.per_request;
    draft.check_system(fixed + draft.prices.text(&preface))?;

    let counted = Paragraphs::new(counter, &preface, &source.text);
    let page = Page { draft: &draft, source: &source, preface: &preface, fixed, counted: &counted };
    let kept = page.truncate()?;
    let (document, gap) = page.render(kept);
    let total = page.cost(kept);
    debug_assert_eq!(total, fixed + draft.prices.text(&document), "the count by paragraphs is the count");
    let system = if in_document { draft.prices.text(&preface) } else { system_field };
    let tokens = Tokens {
        system,
        messages: total.saturating_sub(system + options.overhead.per_request),
        overhead: options.overhead.per_request,
        total,
        tokenizer: counter.name().to_owned(),
        loom_aware: None,
    };
    debug_assert!(total <= draft.limit, "over the limit");
    let places = Places { kept, preface: preface.len(), gap };
    Ok(finish(draft, &source, kept, &places, document, tokens, in_document))
}

/// The text of the path and the working buffer, and where each node is in it.
#[derive(Debug, Default)]
struct Source<'a> {
    text: String,
    nodes: Vec<SourceNode<'a>>,
    /// Where the working buffer begins.
    working: usize,
    working_tokens: u64,
}

#[derive(Clone, Copy, Debug)]
struct SourceNode<'a> {
    entry: Entry,
    id: &'a str,
    start: usize,
    end: usize,
    tokens: u64,
}

impl<'a> Source<'a> {
    fn concatenate(draft: &mut Draft<'a>) -> Self {
        let mut source = Self::default();
        for entry in &draft.selection.entries {
            let node = draft.tree.at(entry.node);
            let start = source.text.len();
            for block in &node.content {
                if let Block::Text(text) = block {
                    source.text.push_str(text);
                } else {
                    let message = "a document can hold text only; another block was left out";
                    let diagnostic = Diagnostic::new(DiagnosticCode::NonTextLeftOut, Severity::Warning, message);
                    draft.diagnostics.push(diagnostic.about_node(&node.id));
                }
            }
            let end = source.text.len();
            let tokens = draft.prices.text(source.text.get(start..end).unwrap_or_default());
            source.nodes.push(SourceNode { entry: *entry, id: &node.id, start, end, tokens });
        }
        source.working = source.text.len();
        source.text.push_str(&draft.options.working_buffer);
        source.working_tokens = draft.prices.text(&draft.options.working_buffer);
        source
    }

    fn get(&self, from: usize, to: usize) -> &str {
        self.text.get(from..to).unwrap_or_default()
    }

    /// About where so many tokens end, counted from byte `from`: what a search for the exact place begins with.
    fn about(&self, from: usize, tokens: u64) -> usize {
        let working = (self.working, self.text.len(), self.working_tokens);
        let pieces = self.nodes.iter().map(|node| (node.start, node.end, node.tokens)).chain([working]);
        let mut left = tokens;
        for (start, end, tokens) in pieces.filter(|&(_, end, _)| end > from) {
            let (start, whole) = (start.max(from), (end - start) as u64);
            let tokens = tokens * (end - start) as u64 / whole.max(1);
            if tokens > left {
                let bytes = (end - start) as u64 * left / tokens;
                return start + usize::try_from(bytes).unwrap_or(0);
            }
            left -= tokens;
        }
        self.text.len()
    }

    /// About how many tokens the bytes from `from` on are.
    fn about_after(&self, from: usize) -> u64 {
        let after = self.nodes.iter().filter(|node| node.start >= from).map(|node| node.tokens);
        after.sum::<u64>() + self.working_tokens
    }

    /// Where the last `count` nodes begin; the working buffer comes after them all.
    fn recent(&self, count: u64) -> usize {
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        let first = self.nodes.len().saturating_sub(count);
        self.nodes.get(first).map_or(self.working, |node| node.start)
    }
}

/// Bytes `0..head` and `tail..` of the source; what is between is removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct KeptText {
    head: usize,
    tail: usize,
}

/// A document in the making.
struct Page<'p, 'a> {
    draft: &'p Draft<'a>,
    source: &'p Source<'a>,
    /// The system context, where it begins the document.
    preface: &'p str,
    /// What is there beside the document.
    fixed: u64,
    counted: &'p Paragraphs<'p>,
}

impl Page<'_, '_> {
    fn truncate(&self) -> Result<KeptText> {
        let len = self.source.text.len();
        if self.whole() <= self.draft.limit {
            return Ok(KeptText { head: len, tail: len });
        }
        let costs = || self.source.nodes.iter().map(|node| (node.id, node.tokens));
        let kept = match self.draft.settings.truncation_strategy {
            Strategy::StopAtLimit => {
                let advice = "exclude nodes, or use a model with a larger context window";
                return Err(self.draft.too_long(self.whole(), costs(), advice));
            }
            Strategy::TruncateMiddle => self.middle(),
            Strategy::RollingWindow => self.rolling(),
        };
        kept.ok_or_else(|| {
            let advice = "not even its end fits; use a larger context window";
            self.draft.too_long(self.whole(), costs(), advice)
        })
    }

    /// The head takes at most half and leaves room for the recent nodes; the tail takes what is left; the head takes what
    /// the tail could not use.
    fn middle(&self) -> Option<KeptText> {
        let len = self.source.text.len();
        let recent = self.source.recent(self.draft.settings.minimum_recent_nodes);
        let room = self.draft.limit.checked_sub(self.cost(KeptText { head: 0, tail: len }))?;
        if self.draft.settings.cut_quantum > 0
            && let Some(kept) = self.middle_by_quantum(self.head_within(recent, room / 2), recent)
        {
            return Some(kept);
        }
        let room_beside_recent = room.saturating_sub(self.tokens(recent, len));
        let head = self.head_within(recent, room_beside_recent.min(room / 2));
        // Joining can cost more than the parts: where the head then leaves too little room, it is given up.
        let beside_head = self.tail_within(head, len).filter(|kept| kept.tail <= recent);
        let mut kept = beside_head.or_else(|| self.tail_within(0, len))?;
        let wider = |more: usize| self.head_at((kept.head + more).min(kept.tail));
        // The working buffer goes last: while it is cut, nothing before it takes room.
        if kept.tail > self.source.working {
            return Some(kept);
        }
        let gap = (kept.tail - kept.head).saturating_sub(1);
        let grown = fit::largest(0, gap, 0, self.draft.limit, |more| {
            self.cost(KeptText { head: wider(more), tail: kept.tail })
        });
        kept.head = grown.map_or(kept.head, wider).max(kept.head);
        Some(kept)
    }

    fn middle_by_quantum(&self, head: usize, recent: usize) -> Option<KeptText> {
        let total = self.whole();
        let target = self.quantised(total);
        let removed = |tail: usize| total.saturating_sub(self.cost(KeptText { head, tail }));
        // The longest run that takes away less than the target; one step further is the shortest that reaches it.
        let guess = self.source.about(head, target) - head;
        let short = fit::largest(0, recent - head, guess, target.saturating_sub(1), |run| {
            removed(text::ceil_boundary(&self.source.text, head + run))
        })?;
        let tail = self.tail_at(head + short + 1).min(recent);
        let kept = KeptText { head, tail };
        (tail > head && self.fits(kept)).then_some(kept)
    }

    fn rolling(&self) -> Option<KeptText> {
        let len = self.source.text.len();
        let mut kept = self.tail_within(0, len)?;
        if self.draft.settings.cut_quantum > 0 {
            let total = self.whole();
            let target = self.quantised(total);
            let removed = |tail: usize| total.saturating_sub(self.cost(KeptText { head: 0, tail }));
            let guess = self.source.about(0, target);
            let short = fit::largest(0, len, guess, target.saturating_sub(1), |run| {
                removed(text::ceil_boundary(&self.source.text, run))
            })?;
            let tail = self.tail_at(short + 1);
            let wider = KeptText { head: 0, tail: tail.max(kept.tail) };
            if wider.tail < len && self.fits(wider) {
                kept = wider;
            }
        }
        Some(kept)
    }

    /// What has to go, rounded up to a multiple of the quantum.
    fn quantised(&self, total: u64) -> u64 {
        let over = total.saturating_sub(self.draft.limit);
        over.checked_next_multiple_of(self.draft.settings.cut_quantum).unwrap_or(u64::MAX)
    }

    /// The end of the longest head before `end` that costs at most `budget` by itself.
    fn head_within(&self, end: usize, budget: u64) -> usize {
        let guess = self.source.about(0, budget);
        let longest = fit::largest(0, end, guess, budget, |at| self.tokens(0, self.head_at(at)));
        longest.map_or(0, |at| self.head_at(at)).min(end)
    }

    /// The longest tail beside this head that fits; nothing where not even one cluster does.
    fn tail_within(&self, head: usize, len: usize) -> Option<KeptText> {
        let kept = |keep: usize| KeptText { head, tail: self.tail_at(len - keep).max(head) };
        let last = text::floor_boundary(&self.source.text, len.saturating_sub(1));
        let beside = self.draft.limit.saturating_sub(self.cost(KeptText { head, tail: len }));
        let before = self.source.about_after(head).saturating_sub(beside);
        let guess = len - self.source.about(head, before);
        let longest = fit::largest(0, len - head, guess, self.draft.limit, |keep| self.cost(kept(keep)))?;
        let found = kept(longest);
        if found.tail < len {
            return Some(found);
        }
        // Only words longer than what fits are left: at least the last cluster has to be.
        let least = KeptText { head, tail: last.max(head) };
        self.fits(least).then_some(least)
    }

    fn head_at(&self, at: usize) -> usize {
        text::head_end(&self.source.text, at)
    }

    fn tail_at(&self, at: usize) -> usize {
        text::tail_start(&self.source.text, at)
    }

    fn tokens(&self, from: usize, to: usize) -> u64 {
        self.counted.range(from, to)
    }

    /// Tokens of the request with all of the text.
    fn whole(&self) -> u64 {
        self.fixed.saturating_add(self.counted.whole())
    }

    /// Tokens of the request with this much of the text.
    fn cost(&self, kept: KeptText) -> u64 {
        self.fixed.saturating_add(self.counted.cut(kept.head, &self.marker(kept), kept.tail))
    }

    fn fits(&self, kept: KeptText) -> bool {
        self.cost(kept) <= self.draft.limit
    }

    /// The document, and how long the marker in it is.
    fn render(&self, kept: KeptText) -> (String, usize) {
        let text = &self.source.text;
        let marker = self.marker(kept);
        let mut document = String::with_capacity(self.preface.len() + text.len() + marker.len());
        document.push_str(self.preface);
        document.push_str(text.get(..kept.head).unwrap_or_default());
        document.push_str(&marker);
        document.push_str(text.get(kept.tail..).unwrap_or_default());
        (document, marker.len())
    }

    /// The marker that stands in the gap; a rolling window has none.
    fn marker(&self, kept: KeptText) -> String {
        let whole = kept.head == self.source.text.len();
        if whole || self.draft.settings.truncation_strategy != Strategy::TruncateMiddle {
            return String::new();
        }
        self.draft.settings.truncation_marker.replace("{count}", &removed(self.source, kept).to_string())
    }
}

/// How many nodes are removed whole.
fn removed(source: &Source<'_>, kept: KeptText) -> usize {
    source.nodes.iter().filter(|node| node.start >= kept.head && node.end <= kept.tail && node.start < node.end).count()
}

/// Where the parts of the source are in the document, in bytes.
struct Places {
    kept: KeptText,
    preface: usize,
    gap: usize,
}

impl Places {
    /// What is left of bytes `start..end` of the source: at most one piece in the head and one in the tail.
    fn pieces(&self, start: usize, end: usize) -> impl Iterator<Item = (usize, usize)> + use<> {
        let KeptText { head, tail } = self.kept;
        let shift = self.preface + head + self.gap;
        let before = (start.min(head) + self.preface, end.min(head) + self.preface);
        let after = (start.max(tail) - tail + shift, end.max(tail) - tail + shift);
        let empty = start == end;
        let in_head = (before.0 < before.1 || (empty && start < head)).then_some(before);
        let in_tail = (after.0 < after.1 || (empty && start >= tail)).then_some(after);
        [in_head, in_tail].into_iter().flatten()
    }
}

fn finish<'a>(
    mut draft: Draft<'a>,
    source: &Source<'a>,
    kept: KeptText,
    places: &Places,
    document: String,
    tokens: Tokens,
    in_document: bool,
) -> BufferAssembly<'a> {
    let truncated = kept.tail > kept.head;
    let mut offsets = Utf16Offsets::new(&document);
    let mut spans = Vec::with_capacity(source.nodes.len());
    // A node that spans the gap has its second piece after everything in the head, so pieces are sorted as they stand.
    let mut pieces: Vec<(usize, usize, &str)> = Vec::with_capacity(source.nodes.len());
    let mut cut = Cut::default();
    for node in &source.nodes {
        let before = pieces.len();
        pieces.extend(places.pieces(node.start, node.end).map(|(start, end)| (start, end, node.id)));
        let left: usize = pieces.iter().skip(before).map(|(start, end, _)| end - start).sum();
        if node.end <= kept.head {
            cut.position += 1;
        }
        if left == node.end - node.start && (left > 0 || pieces.len() > before) {
            continue;
        }
        let (list, reason) = if left == 0 {
            (&mut cut.node_ids, Reason::OverLimit)
        } else {
            (&mut cut.partial_node_ids, Reason::Shortened)
        };
        list.push(node.id);
        leave_out(&mut draft.selection.rows, node.entry.row, Fate::Cut, reason);
    }
    for (start, end, node_id) in pieces {
        let start = offsets.at(start);
        spans.push(NodeSpan { start, end: offsets.at(end), node_id });
    }
    let working: Vec<(usize, usize)> = places.pieces(source.working, source.text.len()).collect();
    let working_buffer_span = match (working.first(), working.last()) {
        (Some(first), Some(last)) if source.working < source.text.len() => {
            let start = offsets.at(first.0);
            Some(Span { start, end: offsets.at(last.1) })
        }
        _ => None,
    };
    cut.tokens = draft.prices.text(source.get(kept.head, kept.tail));
    let marker = document.get(places.preface + kept.head..places.preface + kept.head + places.gap).unwrap_or_default();
    cut.marker = (!marker.is_empty()).then(|| marker.to_owned());
    let met = kept.tail <= source.recent(draft.settings.minimum_recent_nodes);

    let mut costs = vec![None; draft.selection.rows.len()];
    for node in &source.nodes {
        if let Some(cost) = costs.get_mut(node.entry.row) {
            *cost = Some(node.tokens);
        }
    }
    let system = std::mem::take(&mut draft.system);
    let mut report = draft.report(tokens, |row| costs.get(row).copied().flatten());
    report.truncated = truncated;
    report.cut = truncated.then_some(cut);
    report.minimum_recent_nodes_met = !truncated || met;
    let system = (!in_document && !system.is_empty()).then_some(system);
    BufferAssembly { system, document, spans, working_buffer_span, report }
}
