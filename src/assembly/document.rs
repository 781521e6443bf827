//! One continuous text under a budget: the kept parts, and their places in the document (docs/loom.md).

use std::ops::Range;

use crate::assembly::budget;
use crate::assembly::paragraphs::Paragraphs;
use crate::assembly::settings::{Settings, Strategy, rounded_excess};
use crate::error::Result;
use crate::prompt::Prices;
use crate::text::{Clusters, replace};
use crate::tokens::Counter;
use crate::tokens::search;

#[derive(Debug, Default)]
pub(crate) struct SourceText {
    pub text: String,
    pub parts: Vec<SourcePart>,
    working: usize,
    working_tokens: u64,
}

/// A part of the text, in bytes, and its tokens alone.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SourcePart {
    pub start: usize,
    pub end: usize,
    pub tokens: u64,
}

impl SourceText {
    pub(crate) fn push<'t>(&mut self, texts: impl Iterator<Item = &'t str>, prices: &Prices<'_>) {
        let start = self.text.len();
        texts.for_each(|text| self.text.push_str(text));
        let end = self.text.len();
        self.parts.push(SourcePart { start, end, tokens: prices.text(self.get(start, end)) });
    }

    pub(crate) fn close(&mut self, working_buffer: &str, prices: &Prices<'_>) {
        self.working = self.text.len();
        self.text.push_str(working_buffer);
        self.working_tokens = prices.text(working_buffer);
    }

    pub(crate) fn working_buffer(&self) -> Range<usize> {
        self.working..self.text.len()
    }

    pub(crate) fn get(&self, from: usize, to: usize) -> &str {
        self.text.get(from..to).unwrap_or_default()
    }

    /// Estimates the end of `tokens` tokens from byte `from`.
    fn about(&self, from: usize, tokens: u64) -> usize {
        let working = (self.working, self.text.len(), self.working_tokens);
        let pieces = self.parts.iter().map(|part| (part.start, part.end, part.tokens)).chain([working]);
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

    /// Estimates the tokens from byte `from` on.
    fn about_after(&self, from: usize) -> u64 {
        let after = self.parts.iter().filter(|part| part.start >= from).map(|part| part.tokens);
        after.sum::<u64>() + self.working_tokens
    }

    /// The start of the last `count` parts.
    pub(crate) fn recent(&self, count: u64) -> usize {
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        let first = self.parts.len().saturating_sub(count);
        self.parts.get(first).map_or(self.working, |part| part.start)
    }
}

/// The kept bytes of the source: `0..head` and `tail..`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct KeptText {
    pub head: usize,
    pub tail: usize,
}

#[derive(Debug)]
pub(crate) struct DocumentPlan<'p> {
    source: &'p SourceText,
    settings: &'p Settings,
    limit: u64,
    /// The system context, if it begins the document.
    preface: &'p str,
    /// Tokens of everything but the document.
    fixed: u64,
    counted: Paragraphs<'p>,
    clusters: Clusters<'p>,
}

impl<'p> DocumentPlan<'p> {
    pub(crate) fn new(
        source: &'p SourceText,
        settings: &'p Settings,
        limit: u64,
        preface: &'p str,
        fixed: u64,
        counter: &'p dyn Counter,
    ) -> Self {
        let counted = Paragraphs::new(counter, preface, &source.text);
        Self { source, settings, limit, preface, fixed, counted, clusters: Clusters::new(&source.text) }
    }

    /// Chooses the kept text. `ids` are those of the parts, for the error.
    pub(crate) fn choose<'i>(&self, ids: impl Iterator<Item = &'i str> + Clone) -> Result<KeptText> {
        let len = self.source.text.len();
        if self.whole() <= self.limit {
            return Ok(KeptText { head: len, tail: len });
        }
        let costs = || ids.clone().zip(self.source.parts.iter().map(|part| part.tokens));
        let kept = match self.settings.truncation_strategy {
            // `Settings::resolve` rejects `KeepStart`.
            Strategy::StopAtLimit | Strategy::KeepStart => {
                let advice = "exclude nodes, or use a model with a larger context window";
                return Err(budget::too_long(self.limit, self.whole(), costs(), advice));
            }
            Strategy::TruncateMiddle => self.middle(),
            Strategy::RollingWindow => self.rolling(),
        };
        kept.ok_or_else(|| {
            let advice = "not even its end fits; use a model with a larger context window";
            budget::too_long(self.limit, self.whole(), costs(), advice)
        })
    }

    /// The head takes at most half, less if the recent nodes need it, but at least a quarter; the tail takes the rest,
    /// and the head the remaining tokens.
    fn middle(&self) -> Option<KeptText> {
        let len = self.source.text.len();
        let recent = self.source.recent(self.settings.minimum_recent_nodes);
        let budget = self.limit.checked_sub(self.cost(KeptText { head: 0, tail: len }))?;
        if self.settings.cut_step > 0
            && let Some(kept) = self.middle_by_step(self.head_within(recent, budget / 2), recent)
        {
            return Some(kept);
        }
        let budget_before_recent = budget.saturating_sub(self.tokens(recent, len));
        let head = self.head_within(recent, budget_before_recent.min(budget / 2));
        // Joined texts can cost more than separate ones, so the head may leave too few tokens.
        let next_to_head = self.tail_within(head, len).filter(|kept| kept.tail <= recent && head > 0);
        let next_to_quarter = || {
            let quarter = self.head_within(self.source.working, budget / 4);
            let kept = if head >= quarter { next_to_head } else { self.tail_within(quarter, len) };
            kept.or(next_to_head).filter(|kept| kept.tail <= self.source.working)
        };
        let mut kept = next_to_quarter().or_else(|| self.tail_within(0, len))?;
        let wider = |more: usize| self.head_at((kept.head + more).min(kept.tail));
        // The working buffer is cut last: while it is cut, nothing before it is kept.
        if kept.tail > self.source.working {
            return Some(kept);
        }
        let gap = (kept.tail - kept.head).saturating_sub(1);
        let widened =
            search::largest(0, gap, 0, self.limit, |more| self.cost(KeptText { head: wider(more), tail: kept.tail }));
        kept.head = widened.map_or(kept.head, wider).max(kept.head);
        Some(kept)
    }

    fn middle_by_step(&self, head: usize, recent: usize) -> Option<KeptText> {
        let kept = KeptText { head, tail: self.step_tail(head, recent)?.min(recent) };
        (kept.tail > head && self.fits(kept)).then_some(kept)
    }

    /// The end of the shortest run from `head`, no further than `end`, that removes a multiple of the step.
    fn step_tail(&self, head: usize, end: usize) -> Option<usize> {
        let total = self.whole();
        let target = rounded_excess(total, self.limit, self.settings.cut_step);
        let removed = |tail: usize| total.saturating_sub(self.cost(KeptText { head, tail }));
        // Finds the longest run that removes less than the target; one step more reaches it.
        let guess = self.source.about(head, target) - head;
        let short = search::largest(0, end - head, guess, target.saturating_sub(1), |run| {
            removed(self.clusters.ceil(head + run))
        })?;
        Some(self.tail_at(head + short + 1))
    }

    fn rolling(&self) -> Option<KeptText> {
        let len = self.source.text.len();
        let kept = self.tail_within(0, len)?;
        if self.settings.cut_step == 0 {
            return Some(kept);
        }
        let wider = KeptText { head: 0, tail: self.step_tail(0, len)?.max(kept.tail) };
        Some(if wider.tail < len && self.fits(wider) { wider } else { kept })
    }

    /// The end of the longest head before `end` that alone costs at most `budget`.
    fn head_within(&self, end: usize, budget: u64) -> usize {
        let guess = self.source.about(0, budget);
        let longest = search::largest(0, end, guess, budget, |at| self.tokens(0, self.head_at(at)));
        longest.map_or(0, |at| self.head_at(at)).min(end)
    }

    /// The longest tail next to this head that fits; `None` if not even one cluster does.
    fn tail_within(&self, head: usize, len: usize) -> Option<KeptText> {
        let kept = |keep: usize| KeptText { head, tail: self.tail_at(len - keep).max(head) };
        let last = self.clusters.floor(len.saturating_sub(1));
        let available = self.limit.saturating_sub(self.cost(KeptText { head, tail: len }));
        let before = self.source.about_after(head).saturating_sub(available);
        let guess = len - self.source.about(head, before);
        let longest = search::largest(0, len - head, guess, self.limit, |keep| self.cost(kept(keep)))?;
        let found = kept(longest);
        if found.tail < len {
            return Some(found);
        }
        // Only longer words remain: at least the last cluster has to fit.
        let least = KeptText { head, tail: last.max(head) };
        self.fits(least).then_some(least)
    }

    fn head_at(&self, at: usize) -> usize {
        self.clusters.head_end(at)
    }

    fn tail_at(&self, at: usize) -> usize {
        self.clusters.tail_start(at)
    }

    fn tokens(&self, from: usize, to: usize) -> u64 {
        self.counted.range(from, to)
    }

    fn whole(&self) -> u64 {
        self.fixed.saturating_add(self.counted.whole())
    }

    pub(crate) fn cost(&self, kept: KeptText) -> u64 {
        self.fixed.saturating_add(self.counted.cut(kept.head, &self.marker(kept), kept.tail))
    }

    fn fits(&self, kept: KeptText) -> bool {
        self.cost(kept) <= self.limit
    }

    /// The document, and the places of its parts.
    pub(crate) fn render(&self, kept: KeptText) -> (String, Places) {
        let text = &self.source.text;
        let marker = self.marker(kept);
        let mut document = String::with_capacity(self.preface.len() + text.len() + marker.len());
        document.push_str(self.preface);
        document.push_str(text.get(..kept.head).unwrap_or_default());
        document.push_str(&marker);
        document.push_str(text.get(kept.tail..).unwrap_or_default());
        (document, Places { kept, preface: self.preface.len(), gap: marker.len() })
    }

    /// The marker; `None` for a rolling window.
    fn marker(&self, kept: KeptText) -> String {
        let whole = kept.head == self.source.text.len();
        if whole || self.settings.truncation_strategy != Strategy::TruncateMiddle {
            return String::new();
        }
        replace(&self.settings.truncation_marker, "{count}", &removed(self.source, kept).to_string())
    }
}

/// The number of nodes that are removed completely.
fn removed(source: &SourceText, kept: KeptText) -> usize {
    source.parts.iter().filter(|part| part.start >= kept.head && part.end <= kept.tail && part.start < part.end).count()
}

/// The places of the source's parts in the document, in bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Places {
    kept: KeptText,
    preface: usize,
    gap: usize,
}

impl Places {
    pub(crate) fn marker(&self) -> Range<usize> {
        let start = self.preface + self.kept.head;
        start..start + self.gap
    }

    /// The kept pieces of the bytes `start..end` of the source: one in the head, one in the tail.
    pub(crate) fn pieces(&self, start: usize, end: usize) -> impl Iterator<Item = (usize, usize)> + use<> {
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
