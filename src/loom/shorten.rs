//! The last resort: not even one unit fits whole, so its texts are cut (SPEC §1 "Strategies").

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::{BTreeSet, BinaryHeap};

use crate::loom::fit;
use crate::loom::layout::{Item, Kept, render};
use crate::loom::parts::JOIN;
use crate::prompt::{Content, Message, Part, Prices};
use crate::text;

/// Which end of a text goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum From {
    /// The beginning goes, so that the marker stands first.
    Head,
    /// The middle goes, so that the marker stands between both ends.
    Middle,
}

/// How texts are cut, and what of.
#[derive(Debug)]
pub(crate) struct Shorten<'s> {
    pub from: From,
    /// Stands where a text was cut.
    pub marker: &'s str,
    /// Stands before the unit, behind its blocks, for the nodes before it.
    pub gap: Option<String>,
    /// How many blocks are given before the unit.
    pub lead: usize,
    /// What messages and their overhead may cost.
    pub budget: u64,
    pub prices: Prices<'s>,
}

/// Where a text is among the parts of a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place {
    item: usize,
    part: usize,
    /// Index into the content of a tool result, where it is in one.
    inner: Option<usize>,
    /// Where what may be cut of it begins: behind the header.
    start: usize,
    /// How much that is.
    len: usize,
}

impl Ord for Place {
    fn cmp(&self, other: &Self) -> Ordering {
        let earlier = |place: &Self| std::cmp::Reverse((place.item, place.part, place.inner));
        self.len.cmp(&other.len).then_with(|| earlier(self).cmp(&earlier(other)))
    }
}

impl PartialOrd for Place {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Shorten<'_> {
    /// The blocks and the unit, with its largest texts cut as far as needed, and the indices of the items that were cut;
    /// nothing where even that is over the budget. Headers stay.
    pub(crate) fn unit<'a>(&self, unit: &[Item<'a>]) -> Option<(Vec<Item<'a>>, BTreeSet<usize>)> {
        let mut items = unit.to_vec();
        // Largest first; of equals the earliest. A heap, since a sort would be 3 KB of wasm for a handful of texts.
        let mut places: BinaryHeap<Place> = places(unit).into();
        let mut cut = BTreeSet::new();
        while let Some(place) = places.pop() {
            let (header, whole) = text_at(&items, place)?.split_at_checked(place.start)?;
            let (header, whole) = (header.to_owned(), whole.to_owned());
            let shortened = |keep: usize| header.clone() + &self.shortened(&whole, keep);
            let cost = |keep: usize| {
                let mut trial = items.clone();
                set_text(&mut trial, place, shortened(keep));
                self.cost(&trial)
            };
            cut.insert(place.item);
            let guess = usize::try_from(self.budget.saturating_mul(4)).unwrap_or(usize::MAX);
            let Some(keep) = fit::largest(1, whole.len(), guess, self.budget, cost) else {
                // Even next to nothing of this text is too much: leave it at that, and cut the next one too.
                set_text(&mut items, place, shortened(1));
                continue;
            };
            set_text(&mut items, place, shortened(keep));
            return Some((items, cut));
        }
        None
    }

    /// `keep` bytes of a text, or a little less, and the marker.
    fn shortened(&self, text: &str, keep: usize) -> String {
        let (head, tail) = match self.from {
            From::Head => (0, text::tail_start(text, text.len().saturating_sub(keep))),
            From::Middle => {
                let head = text::head_end(text, keep.div_ceil(2));
                (head, text::tail_start(text, text.len().saturating_sub(keep / 2)).max(head))
            }
        };
        if head >= tail {
            return text.to_owned();
        }
        let (start, end) = (text.get(..head).unwrap_or_default(), text.get(tail..).unwrap_or_default());
        if start.is_empty() && end.is_empty() {
            // Something of the text has to stay: its last cluster.
            let last = text::floor_boundary(text, text.len().saturating_sub(1));
            return self.assemble("", text.get(last..).unwrap_or_default());
        }
        self.assemble(start, end)
    }

    fn assemble(&self, start: &str, end: &str) -> String {
        let mut out = String::with_capacity(start.len() + self.marker.len() + end.len());
        out.push_str(start.trim_end());
        out.push_str(self.marker);
        out.push_str(end);
        out.trim().to_owned()
    }

    fn cost(&self, items: &[Item<'_>]) -> u64 {
        let messages = self.render(items);
        let content: u64 = messages.iter().map(|message| self.prices.message(message)).sum();
        content + self.prices.overhead.per_message * messages.len() as u64
    }

    fn render<'a>(&self, items: &[Item<'a>]) -> Vec<Message<'a>> {
        render(items, Kept { head: self.lead, tail: self.lead }, self.gap.as_deref())
    }
}

/// A marker for use inside a text: on lines of its own.
pub(crate) fn inline_marker(marker: &str) -> String {
    if marker.trim().is_empty() { JOIN.to_owned() } else { format!("{JOIN}{}{JOIN}", marker.trim()) }
}

/// The texts that may be cut: those of text parts and of tool results. Arguments would no longer be JSON, and reasoning
/// no longer what its signature says.
fn places(items: &[Item<'_>]) -> Vec<Place> {
    let mut places = Vec::new();
    for (item, Item { parts, headed, .. }) in items.iter().enumerate().filter(|(_, item)| item.id.is_some()) {
        for (part, content) in parts.iter().enumerate() {
            let start = headed.filter(|headed| headed.part == part).map_or(0, |headed| headed.len);
            match content {
                Part::Text { text } => {
                    let len = text.len().saturating_sub(start);
                    places.push(Place { item, part, inner: None, start, len });
                }
                Part::ToolResult(result) => match &result.content {
                    Content::Text(text) => places.push(Place { item, part, inner: None, start, len: text.len() }),
                    Content::Parts(inner) => {
                        for (at, part_in) in inner.iter().enumerate() {
                            if let Part::Text { text } = part_in {
                                places.push(Place { item, part, inner: Some(at), start, len: text.len() });
                            }
                        }
                    }
                },
                _ => {}
            }
        }
    }
    places.retain(|place| place.len > 0);
    places
}

fn text_at<'i>(items: &'i [Item<'_>], place: Place) -> Option<&'i str> {
    match items.get(place.item)?.parts.get(place.part)? {
        Part::Text { text } => Some(text),
        Part::ToolResult(result) => match (&result.content, place.inner) {
            (Content::Text(text), None) => Some(text),
            (Content::Parts(parts), Some(at)) => match parts.get(at)? {
                Part::Text { text } => Some(text),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    }
}

fn set_text(items: &mut [Item<'_>], place: Place, new: String) {
    let part = items.get_mut(place.item).and_then(|item| item.parts.get_mut(place.part));
    match (part, place.inner) {
        (Some(Part::Text { text }), None) => *text = Cow::Owned(new),
        (Some(Part::ToolResult(result)), inner) => match (&mut result.content, inner) {
            (Content::Text(text), None) => *text = Cow::Owned(new),
            (Content::Parts(parts), Some(at)) => {
                if let Some(Part::Text { text }) = parts.get_mut(at) {
                    *text = Cow::Owned(new);
                }
            }
            _ => {}
        },
        _ => {}
    }
}
