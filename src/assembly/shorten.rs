//! Shortening the texts of a unit (docs/loom.md).

use std::borrow::Cow;
use std::cmp::Reverse;

use crate::assembly::item::{Item, Kept};
use crate::assembly::render::{JOIN, render};
use crate::assembly::settings::{Fill, TEXT_MARKER};
use crate::content::Block;
use crate::maps::SortedSet;
use crate::prompt::{Message, Prices};
use crate::sorting;
use crate::text::{Clusters, is_whitespace, trim};
use crate::tokens::search;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RemovedEnd {
    /// Cut the beginning.
    Head,
    /// Cut the middle.
    Middle,
}

#[derive(Debug)]
pub(crate) struct Shorten<'s> {
    pub removed_end: RemovedEnd,
    pub marker: &'s str,
    /// The marker for the nodes before the unit.
    pub gap: Option<String>,
    /// The number of items before the unit, which are not cut.
    pub lead: usize,
    /// Tokens for messages and their overhead.
    pub budget: u64,
    pub prices: Prices<'s>,
}

/// A text among the parts of a unit.
#[derive(Clone, Copy, Debug)]
struct TextSlot {
    item: usize,
    part: usize,
    /// The index within the content of a tool result.
    inner: Option<usize>,
    /// Byte offset of the text after the header.
    start: usize,
    /// Bytes after the header.
    len: usize,
}

impl Shorten<'_> {
    /// The blocks and the unit with its largest texts cut, except headers, and the indices of the cut items; `None` if
    /// that still exceeds the budget.
    pub(crate) fn unit<'a>(&self, unit: &[Item<'a>]) -> Option<(Vec<Item<'a>>, SortedSet<usize>)> {
        let mut items = unit.to_vec();
        // Largest first, then earliest.
        let mut slots = slots(unit, self.lead);
        sorting::sort_by_key(&mut slots, |slot| Reverse(slot.len));
        let mut cut = SortedSet::new();
        for slot in slots {
            let (header, whole) = text_at(&items, slot)?.split_at_checked(slot.start)?;
            let (header, whole) = (header.to_owned(), whole.to_owned());
            let clusters = Clusters::new(&whole);
            let cut_to =
                |keep: usize| header.clone() + &shortened(self.removed_end, self.marker, &whole, &clusters, keep);
            let cost = |keep: usize| {
                let mut trial = items.clone();
                set_text(&mut trial, slot, cut_to(keep));
                self.cost(&trial)
            };
            cut.insert(slot.item);
            let guess = usize::try_from(self.budget.saturating_mul(4)).unwrap_or(usize::MAX);
            let Some(keep) = search::largest(1, whole.len(), guess, self.budget, cost) else {
                // Even a minimal part of this text is too much: keep that part and cut the next text as well.
                set_text(&mut items, slot, cut_to(1));
                continue;
            };
            set_text(&mut items, slot, cut_to(keep));
            return Some((items, cut));
        }
        None
    }

    fn cost(&self, items: &[Item<'_>]) -> u64 {
        let messages = self.render(items);
        let content: u64 = messages.iter().map(|message| self.prices.message(message)).sum();
        content + self.prices.overhead.per_message * messages.len() as u64
    }

    fn render<'a>(&self, items: &[Item<'a>]) -> Vec<Message<'a>> {
        render(items, Kept { head: self.lead, tail: self.lead }, self.gap.as_deref(), false)
    }
}

/// Replaces a removed image.
pub(crate) const IMAGE: &str = "[image]";

/// Replaces a removed result.
pub(crate) const CLEARED_RESULT: &str = "[tool result cleared]";

/// Shortens a unit to a number of tokens, with each of its items counted alone.
#[derive(Debug)]
pub(crate) struct ShortenUnit<'p> {
    pub fill: Fill,
    /// Minimal tokens of each text, without the marker.
    pub min_tokens: u64,
    /// The number of leading items whose results may be cleared because the model has read them.
    pub read: usize,
    pub prices: Prices<'p>,
}

impl ShortenUnit<'_> {
    /// The items with shortened results; otherwise, with [`Fill::All`], with all texts shortened; otherwise with
    /// cleared results; `None` if none of this suffices.
    pub(crate) fn items<'a>(&self, unit: &[Item<'a>], allowance: u64) -> Option<Vec<Item<'a>>> {
        let slots = slots(unit, 0);
        let results: Vec<TextSlot> = slots.iter().copied().filter(|slot| slot.inner.is_some()).collect();
        let shortened = self.shortened(unit, &results, allowance);
        let shortened =
            shortened.or_else(|| if self.fill == Fill::All { self.shortened(unit, &slots, allowance) } else { None });
        shortened.or_else(|| self.cleared(unit, allowance))
    }

    /// The minimal tokens that a unit can be shortened to.
    pub(crate) fn min_cost(&self, unit: &[Item<'_>]) -> u64 {
        let cap = self.min_tokens.saturating_add(self.prices.text(TEXT_MARKER));
        let tokens = slots(unit, 0).into_iter().map(|slot| self.tokens(unit, slot));
        let shortened: u64 = tokens.map(|tokens| tokens.saturating_sub(cap)).sum();
        let cost = cost_alone(unit);
        let cleared = cost.saturating_sub(cost_alone(&self.with_cleared_results(unit)));
        cost.saturating_sub(shortened.max(cleared))
    }

    fn tokens(&self, unit: &[Item<'_>], slot: TextSlot) -> u64 {
        text_at(unit, slot).and_then(|text| text.get(slot.start..)).map_or(0, |text| self.prices.text(text))
    }

    /// The longer texts cut to the same number of tokens, the largest with which the unit fits.
    fn shortened<'a>(&self, unit: &[Item<'a>], slots: &[TextSlot], allowance: u64) -> Option<Vec<Item<'a>>> {
        let tokens: Vec<u64> = slots.iter().map(|&slot| self.tokens(unit, slot)).collect();
        let cost = cost_alone(unit);
        let budget = allowance.checked_sub(cost.saturating_sub(tokens.iter().sum()))?;
        let cap = largest_cap(tokens.clone(), budget)?;
        if cap < self.min_tokens.saturating_add(self.prices.text(TEXT_MARKER)) {
            return None;
        }
        let mut items = unit.to_vec();
        for (&slot, tokens) in slots.iter().zip(tokens).filter(|&(_, tokens)| tokens > cap) {
            let (header, whole) = text_at(unit, slot)?.split_at_checked(slot.start)?;
            let clusters = Clusters::new(whole);
            let cut = |keep: usize| shortened(RemovedEnd::Middle, TEXT_MARKER, whole, &clusters, keep);
            let guess = (whole.len() as u64).saturating_mul(cap) / tokens.max(1);
            let guess = usize::try_from(guess).unwrap_or(usize::MAX);
            let keep = search::largest(1, whole.len(), guess, cap, |keep| self.prices.text(&cut(keep)))?;
            set_text(&mut items, slot, [header, &cut(keep)].concat());
        }
        items.iter_mut().for_each(|item| self.count(item));
        (cost_alone(&items) <= allowance).then_some(items)
    }

    fn cleared<'a>(&self, unit: &[Item<'a>], allowance: u64) -> Option<Vec<Item<'a>>> {
        let items = self.with_cleared_results(unit);
        let tokens = cost_alone(&items);
        (tokens < cost_alone(unit) && tokens <= allowance).then_some(items)
    }

    fn with_cleared_results<'a>(&self, unit: &[Item<'a>]) -> Vec<Item<'a>> {
        let mut items = unit.to_vec();
        for item in items.iter_mut().take(self.read) {
            for part in &mut item.parts {
                let Block::ToolResult { content, .. } = part else { continue };
                let tokens = |content: &[Block<'_>]| content.iter().map(|block| self.prices.block(block)).sum::<u64>();
                let cleared = vec![Block::text(CLEARED_RESULT)];
                if tokens(&cleared) < tokens(content) {
                    *content = cleared;
                }
            }
            self.count(item);
        }
        items
    }

    fn count(&self, item: &mut Item<'_>) {
        item.alone = item.parts.iter().map(|part| self.prices.block(part)).sum();
    }
}

/// Tokens of items, each counted alone.
fn cost_alone(items: &[Item<'_>]) -> u64 {
    items.iter().map(|item| item.alone).sum()
}

/// About `keep` bytes of a text, at most, and the marker.
pub(crate) fn shortened(
    removed_end: RemovedEnd,
    marker: &str,
    text: &str,
    clusters: &Clusters<'_>,
    keep: usize,
) -> String {
    let (head, tail) = match removed_end {
        RemovedEnd::Head => (0, clusters.tail_start(text.len().saturating_sub(keep))),
        RemovedEnd::Middle => {
            let head = clusters.head_end(keep.div_ceil(2));
            (head, clusters.tail_start(text.len().saturating_sub(keep / 2)).max(head))
        }
    };
    if head >= tail {
        return text.to_owned();
    }
    let (mut start, mut end) = (text.get(..head).unwrap_or_default(), text.get(tail..).unwrap_or_default());
    if start.is_empty() && end.is_empty() {
        // At least the last cluster of the text is kept.
        let last = clusters.floor(text.len().saturating_sub(1));
        (start, end) = ("", text.get(last..).unwrap_or_default());
    }
    let cut = [start.trim_end_matches(is_whitespace), marker, end].concat();
    trim(&cut).to_owned()
}

/// The largest cap on the longer texts with which all texts together fit `budget`; `None` if it is 0.
pub(crate) fn largest_cap(mut texts: Vec<u64>, budget: u64) -> Option<u64> {
    sorting::sort(&mut texts);
    let mut left = budget;
    let mut count = texts.len() as u64;
    for tokens in texts {
        let cap = left / count.max(1);
        if tokens > cap {
            return (cap > 0).then_some(cap);
        }
        left -= tokens;
        count -= 1;
    }
    Some(u64::MAX)
}

/// A marker for use inside a text: on separate lines.
pub(crate) fn inline_marker(marker: &str) -> String {
    let marker = trim(marker);
    if marker.is_empty() { JOIN.to_owned() } else { format!("{JOIN}{marker}{JOIN}") }
}

/// The texts that may be cut. Cut arguments would be invalid JSON, and cut reasoning would not match its signature.
fn slots(items: &[Item<'_>], lead: usize) -> Vec<TextSlot> {
    let mut slots = Vec::new();
    let all = items.iter().enumerate().skip(lead);
    for (item, Item { parts, header, .. }) in all.filter(|(_, item)| item.id.is_some()) {
        for (part, content) in parts.iter().enumerate() {
            let start = header.filter(|header| header.part == part).map_or(0, |header| header.len);
            match content {
                Block::Text(text) => {
                    let len = text.len().saturating_sub(start);
                    slots.push(TextSlot { item, part, inner: None, start, len });
                }
                Block::ToolResult { content, .. } => {
                    for (at, block) in content.iter().enumerate() {
                        if let Block::Text(text) = block {
                            slots.push(TextSlot { item, part, inner: Some(at), start, len: text.len() });
                        }
                    }
                }
                _ => {}
            }
        }
    }
    slots.retain(|slot| slot.len > 0);
    slots
}

fn text_at<'i>(items: &'i [Item<'_>], slot: TextSlot) -> Option<&'i str> {
    match (items.get(slot.item)?.parts.get(slot.part)?, slot.inner) {
        (Block::ToolResult { content, .. }, Some(at)) => content.get(at)?.as_text(),
        (part, _) => part.as_text(),
    }
}

fn set_text(items: &mut [Item<'_>], slot: TextSlot, new: String) {
    let part = items.get_mut(slot.item).and_then(|item| item.parts.get_mut(slot.part));
    let block = match (part, slot.inner) {
        (Some(Block::ToolResult { content, .. }), Some(at)) => content.get_mut(at),
        (part, _) => part,
    };
    if let Some(Block::Text(text)) = block {
        *text = Cow::Owned(new);
    }
}
