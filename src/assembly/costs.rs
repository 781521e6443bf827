//! The cost of a conversation for any choice of kept items, without rendering it.
//!
//! Counts are not additive over concatenation, and merging joins texts. So costs are stored with *seams*: a seam is
//! between two neighbors of one role whose touching parts are texts, and its correction is the cost of the joined text
//! beyond the cost of both alone. If the counter is additive at a paragraph break, a seam's correction depends on its
//! left text only. Otherwise the texts are *coupled*: a run of coupled texts is counted as one joined text.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::ops::Range;

use crate::assembly::item::{CutItems, Kept, Shape};
use crate::assembly::render::JOIN;
use crate::assembly::settings::{CHAT_MARKER, CHAT_MARKER_OF_ONE, DIALOGUE_MARKER, DIALOGUE_MARKER_OF_ONE};
use crate::content::Role;
use crate::maps::SortedMap;
use crate::prompt::Prices;
use crate::text::{replace, trim};

/// Seams from the item `first` to the item `last`, counted as one text.
#[derive(Clone, Copy, Debug)]
struct CoupledRun {
    first: usize,
    last: usize,
}

/// Runs with more seams are costly to count in part.
const LONG_RUN: usize = 8;

/// Sums over the items of a conversation. They can be truncated to any item and extended from there.
#[derive(Debug)]
pub(crate) struct Sums {
    /// The role and shape by which each item is merged with its neighbors.
    merged_by: Vec<Option<(Role, Shape)>>,
    /// Sum over the items before an index.
    alone: Vec<u64>,
    /// Sum over the message starts before an index.
    starts: Vec<u64>,
    /// Sum over the seams before an index; the seam `k` follows item `k`.
    seams: Vec<i64>,
    /// The coupled run of each seam.
    coupled: Vec<Option<CoupledRun>>,
    /// The number of seams in long runs.
    long: usize,
    /// The few items that may cost less than 0 with the seam after them.
    non_monotonic: Vec<usize>,
    /// Cached costs of parts of coupled runs.
    partial_runs: RefCell<SortedMap<(usize, usize), i64>>,
    markers: Markers,
}

impl Default for Sums {
    fn default() -> Self {
        Self {
            merged_by: Vec::new(),
            alone: vec![0],
            starts: vec![0],
            seams: vec![0],
            coupled: Vec::new(),
            long: 0,
            non_monotonic: Vec::new(),
            partial_runs: RefCell::default(),
            markers: Markers::default(),
        }
    }
}

impl Sums {
    pub(crate) fn truncate(&mut self, len: usize) {
        self.merged_by.truncate(len);
        self.alone.truncate(len.saturating_add(1));
        self.starts.truncate(len.saturating_add(1));
        // The last remaining item may be in a run that now ends there.
        let last = len.saturating_sub(1);
        let run = last.checked_sub(1).and_then(|seam| self.coupled.get(seam).copied().flatten());
        self.cut_seams(run.map_or(last, |run| run.first));
    }

    /// Tokens of the item at a place, counted alone.
    pub(crate) fn alone_at(&self, at: usize) -> u64 {
        between(&self.alone, at, at + 1)
    }

    fn cut_seams(&mut self, from: usize) {
        let long = self.coupled.iter().skip(from).flatten().filter(|run| run.is_long()).count();
        self.long -= long;
        self.non_monotonic.truncate(self.non_monotonic.partition_point(|&at| at < from));
        self.coupled.truncate(from);
        self.seams.truncate(from.saturating_add(1));
        self.partial_runs.take();
    }

    /// Adds the items that are not included yet.
    pub(crate) fn extend(&mut self, items: &dyn CutItems, prices: &Prices<'_>) {
        let count = items.len();
        for at in self.merged_by.len()..count {
            let Some(outline) = items.outline(at) else { break };
            let is_merged =
                outline.merged_by.is_some_and(|(role, _)| at.checked_sub(1).and_then(|at| self.role(at)) == Some(role));
            self.alone.push(last(&self.alone).saturating_add(outline.alone));
            self.starts.push(last(&self.starts) + u64::from(!is_merged));
            self.merged_by.push(outline.merged_by);
        }
        let from = match self.coupled.len().checked_sub(1) {
            // The last item may continue in a run with the next.
            Some(at) => {
                at.checked_sub(1).and_then(|seam| self.coupled.get(seam).copied().flatten()).map_or(at, |run| run.first)
            }
            None => 0,
        };
        self.cut_seams(from);
        self.find_runs(from, items, prices);
        let mut total = last(&self.seams);
        for at in from..count.saturating_sub(1) {
            let run = self.coupled.get(at).copied().flatten();
            let seam = match run {
                Some(run) if at + 1 == run.last => coupled_cost(items, prices, run.first, run.last),
                Some(_) => 0,
                None if self.texts_touch(at) => items.break_after(at, prices),
                None => 0,
            };
            total += seam;
            self.seams.push(total);
            if run.is_some() || signed(between(&self.alone, at, at + 1)).saturating_add(seam) < 0 {
                self.non_monotonic.push(at);
            }
        }
    }

    fn find_runs(&mut self, from: usize, items: &dyn CutItems, prices: &Prices<'_>) {
        let mut first = from;
        while first < items.len() {
            let mut last = first;
            let is_coupled = |next: Cow<'_, str>| !prices.counter.is_additive_before(&next);
            while self.texts_touch(last) && items.first_text(last + 1).is_some_and(is_coupled) {
                last += 1;
                if !self.is_single(last) {
                    break;
                }
            }
            // The cost of the break after the run now depends on the whole run, not only on its last text.
            if last > first && self.joins_next(last) {
                last += 1;
            }
            let run = CoupledRun { first, last };
            self.long += if run.is_long() { last - first } else { 0 };
            self.coupled.extend((first..last).map(|_| Some(run)));
            if first == last {
                self.coupled.push(None);
            }
            first = last.max(first + 1);
        }
    }

    fn role(&self, at: usize) -> Option<Role> {
        self.merged_by.get(at).copied().flatten().map(|(role, _)| role)
    }

    fn shape(&self, at: usize) -> Option<Shape> {
        self.merged_by.get(at).copied().flatten().map(|(_, shape)| shape)
    }

    fn is_single(&self, at: usize) -> bool {
        self.shape(at).is_some_and(Shape::is_single)
    }

    /// Whether texts touch after item `at`, and are merged.
    fn texts_touch(&self, at: usize) -> bool {
        match self.merged_by.get(at..).unwrap_or_default() {
            [Some(left), Some(right), ..] => left.0 == right.0 && left.1.ends_with_text() && right.1.begins_with_text(),
            _ => false,
        }
    }

    /// Whether the item is one text and the next item's text is merged with it.
    fn joins_next(&self, at: usize) -> bool {
        self.is_single(at) && self.texts_touch(at)
    }
}

impl CoupledRun {
    fn is_long(self) -> bool {
        self.last - self.first >= LONG_RUN
    }
}

/// The cost of the joined text of the items `first..=last` of a coupled run, beyond that of the separate texts.
fn coupled_cost(items: &dyn CutItems, prices: &Prices<'_>, first: usize, last: usize) -> i64 {
    let apart: i64 = coupled_texts(items, first, last).map(|text| signed(prices.text(&text))).sum();
    signed(prices.text(&coupled_text(items, first, last))) - apart
}

fn coupled_text(items: &dyn CutItems, first: usize, last: usize) -> String {
    let mut all = String::new();
    for (at, text) in coupled_texts(items, first, last).enumerate() {
        all.push_str(if at == 0 { "" } else { JOIN });
        all.push_str(&text);
    }
    all
}

/// The last text of the first item, and the first of the others.
fn coupled_texts<'i>(items: &'i dyn CutItems, first: usize, last: usize) -> impl Iterator<Item = Cow<'i, str>> {
    (first..=last).filter_map(move |at| if at == first { items.last_text(at) } else { items.first_text(at) })
}

/// The costs of markers for some counts, since cuts of similar length are tried repeatedly.
#[derive(Debug, Default)]
struct Markers {
    template: RefCell<String>,
    /// The number of messages added to the count of each.
    omitted: Cell<usize>,
    costs: RefCell<Vec<Option<CachedMarker>>>,
}

/// The item count of a marker, and its cost if there is a marker.
type CachedMarker = (usize, Option<MarkerCost>);

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct MarkerCost {
    tokens: i64,
    break_after: i64,
    adds_up: bool,
}

/// The maximal number of cached markers.
const MARKERS: usize = 1 << 16;

impl Markers {
    /// Discards cached costs if the template changed.
    fn set_template(&self, template: &str) {
        let mut known = self.costs.borrow_mut();
        if *self.template.borrow() != template {
            template.clone_into(&mut self.template.borrow_mut());
            known.clear();
        }
    }

    fn set_omitted(&self, omitted: usize) {
        if self.omitted.replace(omitted) != omitted {
            self.costs.borrow_mut().clear();
        }
    }

    fn cost(&self, count: usize, find: impl FnOnce() -> Option<MarkerCost>) -> Option<MarkerCost> {
        let mut known = self.costs.borrow_mut();
        let slot = count % MARKERS;
        if known.len() <= slot {
            known.resize(slot + 1, None);
        }
        match known.get_mut(slot) {
            Some(Some((at, cost))) if *at == count => *cost,
            Some(place) => {
                let cost = find();
                *place = Some((count, cost));
                cost
            }
            None => find(),
        }
    }
}

/// The gap where items were removed, next to the marker's text.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Gap {
    /// Tokens reserved there for a text that is not known yet.
    pub reserved: Option<u64>,
    /// Overhead of the marker as a separate message, if messages are never merged.
    pub overhead: u64,
    /// The number of messages that an earlier marker counted.
    pub omitted: usize,
}

/// The marker for `nodes` nodes, unless it is blank.
pub(crate) fn marker_text(template: &str, nodes: usize) -> Option<String> {
    let of_one = [(DIALOGUE_MARKER, DIALOGUE_MARKER_OF_ONE), (CHAT_MARKER, CHAT_MARKER_OF_ONE)];
    if let Some((_, of_one)) = of_one.into_iter().find(|&(marker, _)| nodes == 1 && template == marker) {
        return Some(of_one.to_owned());
    }
    let marker = replace(template, "{count}", &nodes.to_string());
    let trimmed = trim(&marker);
    (!trimmed.is_empty()).then(|| trimmed.to_owned())
}

/// The costs of any choice of items.
#[derive(Debug)]
pub(crate) struct Costs<'l> {
    pub items: &'l dyn CutItems,
    sums: &'l Sums,
    prices: Prices<'l>,
    /// The template of the marker.
    marker: &'l str,
    pub len: usize,
    /// The number of items at the beginning that are never removed: a block before the nodes, and a compaction.
    pub lead: usize,
    /// The number of blocks after the nodes: 0 or 1.
    trail: usize,
    /// The last results of two costly queries: successive cuts mostly differ on one side only.
    last_break: Cell<Option<(usize, i64)>>,
    last_clean: Cell<Option<(usize, bool)>>,
    gap: Gap,
    /// The fixed costs: system, per-request overhead, and the system message's own overhead.
    pub fixed: u64,
}

impl<'l> Costs<'l> {
    pub(crate) fn new(
        items: &'l dyn CutItems,
        sums: &'l Sums,
        prices: Prices<'l>,
        marker: &'l str,
        fixed: u64,
    ) -> Self {
        sums.markers.set_template(marker);
        let len = items.len();
        let is_block = |at: Option<usize>| usize::from(at.is_some_and(|at| items.is_block(at)));
        let (lead, trail) = (is_block(Some(0)), is_block(len.checked_sub(1)));
        let (last_break, last_clean) = (Cell::default(), Cell::default());
        let gap = Gap::default();
        Self { items, sums, prices, marker, len, lead, trail, last_break, last_clean, gap, fixed }
    }

    pub(crate) fn with_gap(self, gap: Gap) -> Self {
        self.sums.markers.set_omitted(gap.omitted);
        Self { gap, ..self }
    }

    /// The same costs, with this many items after the first block pinned.
    pub(crate) fn with_pinned(self, items: usize) -> Self {
        Self { lead: self.lead + items, ..self }
    }

    /// Tokens of the pinned items at the beginning, without a block.
    pub(crate) fn pinned_alone(&self) -> u64 {
        let block = usize::from(self.items.is_block(0));
        let messages = self.messages(block, self.lead).saturating_mul(self.prices.overhead.per_message);
        self.alone(block.min(self.lead), self.lead).saturating_add(messages)
    }

    /// Whether messages counted by an earlier marker are missing.
    pub(crate) fn omits_earlier(&self) -> bool {
        self.gap.omitted > 0
    }

    /// Whether the cost of a kept run takes constant time.
    pub(crate) fn is_cheap(&self) -> bool {
        self.sums.long == 0
    }

    /// Whether a window never costs less if it begins earlier.
    pub(crate) fn is_monotonic(&self) -> bool {
        self.sums.non_monotonic.is_empty() && self.lead == 0
    }

    /// The start of the last `nodes` nodes.
    pub(crate) fn recent(&self, nodes: u64) -> usize {
        let nodes = usize::try_from(nodes).unwrap_or(usize::MAX);
        self.len.saturating_sub(self.trail).saturating_sub(nodes).max(self.lead)
    }

    pub(crate) fn total(&self) -> u64 {
        self.run(0, self.len)
    }

    /// Tokens of the request with the items `from..to`, without a marker.
    pub(crate) fn run(&self, from: usize, to: usize) -> u64 {
        self.sum(self.content(from, to), self.messages(from, to))
    }

    /// Tokens of the messages of the items `from..to`, with their overhead.
    pub(crate) fn run_alone(&self, from: usize, to: usize) -> u64 {
        self.run(from, to).saturating_sub(self.fixed)
    }

    /// Tokens of the content of the messages of these items, which do not merge with others.
    pub(crate) fn content_tokens(&self, items: Range<usize>) -> u64 {
        u64::try_from(self.content(items.start, items.end)).unwrap_or(0)
    }

    pub(crate) fn begins_with_text(&self, at: usize) -> bool {
        self.sums.shape(at).is_some_and(Shape::begins_with_text)
    }

    pub(crate) fn ends_with_text(&self, at: usize) -> bool {
        self.sums.shape(at).is_some_and(Shape::ends_with_text)
    }

    /// Whether the break after an item costs the same as after its text alone.
    pub(crate) fn is_uncoupled(&self, at: usize) -> bool {
        let run = at.checked_sub(1).and_then(|seam| self.coupled_at(seam));
        run.is_none() || !self.sums.is_single(at)
    }

    /// Tokens of the request with the marker in the gap.
    pub(crate) fn cut(&self, kept: Kept) -> u64 {
        self.apart(kept, self.marker_cost(kept.tail.saturating_sub(kept.head)))
    }

    /// Tokens of the request with the nodes from `tail` on, without a marker.
    pub(crate) fn window(&self, tail: usize) -> u64 {
        match self.lead {
            // Equal without a head, and called for each item of a window.
            0 => self.run(tail, self.len),
            head => self.apart(Kept { head, tail }, None),
        }
    }

    /// Tokens of the request, with the marker if `marked`.
    pub(crate) fn kept(&self, kept: Kept, marked: bool) -> u64 {
        if marked { self.cut(kept) } else { self.apart(kept, None) }
    }

    fn apart(&self, kept: Kept, marker: Option<MarkerCost>) -> u64 {
        let Kept { head, tail } = kept;
        let (gap, joined) = self.gap(kept, marker);
        let content = self.content(0, head).saturating_add(self.content(tail, self.len)).saturating_add(gap);
        let apart = self.messages(0, head) + self.messages(tail, self.len);
        self.sum(content, (apart + 1).saturating_sub(joined))
    }

    /// Tokens of the messages of a request with the blocks alone, and the marker.
    pub(crate) fn blocks_alone(&self) -> u64 {
        let per_message = self.prices.overhead.per_message;
        let lead = self.lead;
        if lead + self.trail == 0 {
            let marker = self.marker_cost(0);
            return marker.map_or(0, |marker| marker.tokens.unsigned_abs() + per_message);
        }
        let marker = self.marker(0).map(Cow::Owned);
        let block = |at: usize| if self.items.is_block(at) { self.items.first_text(at) } else { None };
        let before = block(0);
        let after = self.len.checked_sub(1).filter(|&last| last >= lead).and_then(block);
        let texts: Vec<Cow<'_, str>> = before.into_iter().chain(marker).chain(after).collect();
        if texts.is_empty() {
            return 0;
        }
        self.prices.text(&texts.join(JOIN)) + per_message
    }

    /// The marker for `nodes` nodes, unless it is blank.
    pub(crate) fn marker(&self, nodes: usize) -> Option<String> {
        marker_text(self.marker, nodes.saturating_add(self.gap.omitted))
    }

    fn marker_cost(&self, nodes: usize) -> Option<MarkerCost> {
        if let Some(reserved) = self.gap.reserved {
            return Some(MarkerCost { tokens: signed(reserved), ..MarkerCost::default() });
        }
        self.sums.markers.cost(nodes, || {
            let marker = self.marker(nodes)?;
            Some(MarkerCost {
                tokens: self.text(&marker).saturating_add(signed(self.gap.overhead)),
                break_after: break_after(&marker, &self.prices),
                adds_up: self.prices.counter.is_additive_before(&marker),
            })
        })
    }

    /// Tokens of the marker for this many items, if messages are never merged.
    pub(crate) fn marker_tokens(&self, items: usize) -> u64 {
        self.marker_cost(items).map_or(0, |marker| marker.tokens.unsigned_abs())
    }

    fn sum(&self, content: i64, messages: u64) -> u64 {
        let overhead = messages.saturating_mul(self.prices.overhead.per_message);
        self.fixed.saturating_add(overhead).saturating_add_signed(content)
    }

    /// Tokens of the content of the messages of the items `from..to`.
    fn content(&self, from: usize, to: usize) -> i64 {
        signed(between(&self.sums.alone, from, to)).saturating_add(self.seams_between(from, to))
    }

    /// The number of messages of the items `from..to`.
    pub(crate) fn messages(&self, from: usize, to: usize) -> u64 {
        if from >= to { 0 } else { 1 + between(&self.sums.starts, from + 1, to) }
    }

    pub(crate) fn alone(&self, from: usize, to: usize) -> u64 {
        between(&self.sums.alone, from, to)
    }

    fn seams_between(&self, from: usize, to: usize) -> i64 {
        let (mut start, mut end) = (from, to.saturating_sub(1));
        if start >= end {
            return 0;
        }
        let mut total = 0;
        if let Some(run) = self.coupled_at(start).filter(|run| run.first < start) {
            let last = run.last.min(end);
            total += self.coupled_cost(start, last);
            start = last;
        }
        if let Some(run) = self.coupled_at(end.saturating_sub(1)).filter(|run| end > start && run.last > end) {
            let first = run.first.max(start);
            total += self.coupled_cost(first, end);
            end = first;
        }
        total + between_signed(&self.sums.seams, start, end)
    }

    /// The correction for the gap, and the number of messages that merge there, including the marker's.
    fn gap(&self, kept: Kept, marker: Option<MarkerCost>) -> (i64, u64) {
        let left = kept.head.checked_sub(1).and_then(|at| Some((at, self.sums.role(at)?)));
        let right = self.sums.role(kept.tail).map(|role| (kept.tail, role));
        let count = kept.tail.saturating_sub(kept.head);
        let Some(marker) = marker else {
            let (Some(left), Some(right)) = (left, right) else { return (0, 1) };
            if left.1 != right.1 {
                return (0, 1);
            }
            return (self.seam_cost(Some(left.0), None, Some(right.0), count), 2);
        };
        let left = left.filter(|&(_, role)| role == Role::User).map(|(at, _)| at);
        let right = right.filter(|&(_, role)| role == Role::User).map(|(at, _)| at);
        let joined = u64::from(left.is_some()) + u64::from(right.is_some());
        (self.seam_cost(left, Some(marker), right, count), joined)
    }

    /// The cost of the joined text beyond both sides, including the marker.
    fn seam_cost(&self, left: Option<usize>, marker: Option<MarkerCost>, right: Option<usize>, count: usize) -> i64 {
        // An item with several parts touches both sides with different texts, so no coupled run spans it.
        let run_at = |at: usize, seam: usize| self.coupled_at(seam).filter(|_| self.sums.is_single(at));
        let left_run = left.and_then(|at| run_at(at, at.checked_sub(1)?));
        let right_run = right.and_then(|at| run_at(at, at));
        let left = left.filter(|&at| self.sums.shape(at).is_some_and(Shape::ends_with_text));
        let right = right.filter(|&at| self.sums.shape(at).is_some_and(Shape::begins_with_text));
        let clean_left = left.is_none() || marker.is_none_or(|marker| marker.adds_up);
        let is_additive_before =
            |at| self.items.first_text(at).is_none_or(|text| self.prices.counter.is_additive_before(&text));
        let clean_right = right.is_none_or(|at| remembered(&self.last_clean, at, is_additive_before));
        if marker.is_none() && (left.is_none() || right.is_none()) {
            return 0;
        }
        if clean_left && clean_right && left_run.is_none() {
            let break_after = |at| self.items.break_after(at, &self.prices);
            let after_left = left.map_or(0, |at| remembered(&self.last_break, at, break_after));
            let after_marker = marker.filter(|_| right.is_some()).map_or(0, |marker| marker.break_after);
            return after_left + marker.map_or(0, |marker| marker.tokens) + after_marker;
        }
        let text_of = |first: usize, last: usize| coupled_text(self.items, first, last);
        let before = left.map(|at| text_of(left_run.map_or(at, |run| run.first), at));
        // Likewise, the break after the right text costs more or less than after that text alone.
        let right_end = |at: usize| right_run.map_or(at + usize::from(self.sums.joins_next(at)), |run| run.last);
        let first_text = |at| self.items.first_text(at).map_or_else(String::new, Cow::into_owned);
        let after = right.map(|at| if right_end(at) > at { text_of(at, right_end(at)) } else { first_text(at) });
        let sides: i64 = [&before, &after].into_iter().flatten().map(|text| self.text(text)).sum();
        let marker = marker.and_then(|_| self.marker(count));
        let all: Vec<&str> = [before.as_deref(), marker.as_deref(), after.as_deref()].into_iter().flatten().collect();
        self.text(&all.join(JOIN)) - sides
    }

    fn text(&self, text: &str) -> i64 {
        signed(self.prices.text(text))
    }

    fn coupled_at(&self, seam: usize) -> Option<CoupledRun> {
        self.sums.coupled.get(seam).copied().flatten()
    }

    fn coupled_cost(&self, first: usize, last: usize) -> i64 {
        if first >= last {
            return 0;
        }
        if let Some(&cost) = self.sums.partial_runs.borrow().get(&(first, last)) {
            return cost;
        }
        let cost = coupled_cost(self.items, &self.prices, first, last);
        self.sums.partial_runs.borrow_mut().insert((first, last), cost);
        cost
    }
}

/// The last result, if it was for this item.
fn remembered<T: Copy>(last: &Cell<Option<(usize, T)>>, at: usize, find: impl FnOnce(usize) -> T) -> T {
    if let Some((_, known)) = last.get().filter(|&(known, _)| known == at) {
        return known;
    }
    let found = find(at);
    last.set(Some((at, found)));
    found
}

/// The cost of a paragraph break after a text, if counts are additive.
pub(crate) fn break_after(text: &str, prices: &Prices<'_>) -> i64 {
    // Counts are additive at breaks inside the text too, so only the text after the last one matters. `rmatch_indices`
    // would add 1 KB to the module.
    let breaks = (0..text.len().saturating_sub(1)).rev().find_map(|at| {
        if text.as_bytes().get(at..at.saturating_add(JOIN.len()))? != JOIN.as_bytes() {
            return None;
        }
        let (before, after) = (text.get(..at)?, text.get(at.checked_add(JOIN.len())?..)?);
        let clean = !before.ends_with(char::is_whitespace) && !after.starts_with(char::is_whitespace);
        (clean && !after.is_empty() && prices.counter.is_additive_before(after)).then_some(after)
    });
    let tail = breaks.unwrap_or(text);
    let mut broken = String::with_capacity(tail.len() + JOIN.len());
    broken.push_str(tail);
    broken.push_str(JOIN);
    signed(prices.text(&broken)) - signed(prices.text(tail))
}

fn last<T: Copy + Default>(sums: &[T]) -> T {
    sums.last().copied().unwrap_or_default()
}

fn between(sums: &[u64], from: usize, to: usize) -> u64 {
    let at = |index: usize| sums.get(index).or(sums.last()).copied().unwrap_or(0);
    at(to).saturating_sub(at(from))
}

fn between_signed(sums: &[i64], from: usize, to: usize) -> i64 {
    let at = |index: usize| sums.get(index).or(sums.last()).copied().unwrap_or(0);
    if from < to { at(to) - at(from) } else { 0 }
}

fn signed(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}
