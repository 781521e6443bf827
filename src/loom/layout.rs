//! What a conversation costs for any choice of what to keep, without rendering it.
//!
//! Counts are not additive over concatenation, and merging joins texts. So costs are kept by *joints*: a joint stands
//! between two neighbours of one role whose touching parts are texts, and its correction is what the joined text costs
//! beyond the two alone. Where the counter adds up at a paragraph break, a joint's correction depends on its left text
//! only. Where it does not, the joint is *tight*: runs of tight joints are counted as the joined text they make.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::BTreeMap;

use crate::loom::parts::{self, JOIN};
use crate::loom::select::Entry;
use crate::loom::tree::NodeIx;
use crate::prompt::{Message, Part, Prices, Role};

/// A node of the conversation, ready to be rendered; or a block that stands before or behind all nodes and is always
/// there.
#[derive(Clone, Debug)]
pub(crate) struct Item<'a> {
    pub entry: Entry,
    /// None for a block, of whose `entry` only the role means something.
    pub id: Option<&'a str>,
    pub parts: Vec<Part<'a>>,
    /// Tokens of the parts, as a message of their own.
    pub alone: u64,
    /// What of the parts is a header.
    pub headed: Option<Headed>,
}

/// A header at the beginning of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Headed {
    /// Which part it stands in.
    pub part: usize,
    /// Its length in bytes, with the break behind it where a text follows.
    pub len: usize,
}

impl Item<'_> {
    /// A block with this text, spoken as the user.
    pub(crate) fn block(text: String, tokens: u64) -> Self {
        Self {
            entry: Entry { node: NodeIx::MAX, role: Role::User, row: usize::MAX },
            id: None,
            parts: vec![Part::Text { text: Cow::Owned(text) }],
            alone: tokens,
            headed: None,
        }
    }

    /// The header, where there is one.
    pub(crate) fn header(&self) -> Option<&str> {
        let Headed { part, len } = self.headed?;
        as_text(self.parts.get(part)?)?.get(..len).map(str::trim_end)
    }

    fn first_text(&self) -> Option<&str> {
        as_text(self.parts.first()?)
    }

    fn last_text(&self) -> Option<&str> {
        as_text(self.parts.last()?)
    }
}

fn as_text<'p>(part: &'p Part<'_>) -> Option<&'p str> {
    if let Part::Text { text } = part { Some(text) } else { None }
}

/// Items `0..head` and `tail..`; what is between is removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Kept {
    pub head: usize,
    pub tail: usize,
}

/// Joints that are counted as one text: from the item `first` to the item `last`.
#[derive(Clone, Copy, Debug)]
struct Tight {
    first: usize,
    last: usize,
}

/// The costs of a conversation.
#[derive(Debug)]
pub(crate) struct Layout<'a> {
    pub items: Vec<Item<'a>>,
    prices: Prices<'a>,
    marker: String,
    /// System, per-request overhead, and the system message's own overhead.
    fixed: u64,
    /// Sums over the items before an index.
    alone: Vec<u64>,
    /// Sums over the joints before an index; the joint `k` stands behind item `k`.
    joints: Vec<i64>,
    /// Sums over the message starts before an index.
    starts: Vec<u64>,
    /// For each joint, the tight run it belongs to.
    tight: Vec<Option<Tight>>,
    /// What tight runs that were asked for in part cost.
    seen: RefCell<BTreeMap<(usize, usize), i64>>,
}

impl<'a> Layout<'a> {
    pub(crate) fn new(items: Vec<Item<'a>>, prices: Prices<'a>, marker: String, fixed: u64) -> Self {
        let mut layout = Self {
            prices,
            marker,
            fixed,
            alone: sums(items.iter().map(|item| item.alone)),
            starts: Vec::new(),
            joints: Vec::new(),
            tight: Vec::new(),
            seen: RefCell::default(),
            items,
        };
        let role = |at: usize| layout.items.get(at).map(|item| item.entry.role);
        layout.starts = sums((0..layout.items.len()).map(|at| u64::from(at == 0 || role(at) != role(at - 1))));
        layout.tight = layout.tight_runs();
        layout.joints = layout.joint_sums();
        layout
    }

    /// How many blocks stand before the nodes: none or one.
    pub(crate) fn lead(&self) -> usize {
        usize::from(self.items.first().is_some_and(|item| item.id.is_none()))
    }

    /// How many nodes and blocks there are.
    pub(crate) fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether the cost of a kept run can be told in constant time.
    pub(crate) fn is_cheap(&self) -> bool {
        self.tight.iter().flatten().all(|run| run.last - run.first < 8)
    }

    /// Where the last so many nodes begin.
    pub(crate) fn recent(&self, nodes: u64) -> usize {
        let trail = usize::from(self.items.last().is_some_and(|item| item.id.is_none()));
        let nodes = usize::try_from(nodes).unwrap_or(usize::MAX);
        self.len().saturating_sub(trail).saturating_sub(nodes).max(self.lead())
    }

    /// Tokens of everything, whole.
    pub(crate) fn total(&self) -> u64 {
        self.run(0, self.len())
    }

    /// Tokens of the request when only the items `from..to` are in it, without a marker.
    pub(crate) fn run(&self, from: usize, to: usize) -> u64 {
        self.sum(self.content(from, to), self.messages(from, to))
    }

    /// Tokens of the messages that the items `from..to` make, their overhead included, without anything else.
    pub(crate) fn run_alone(&self, from: usize, to: usize) -> u64 {
        self.run(from, to).saturating_sub(self.fixed)
    }

    /// Tokens of the request when the marker stands in the gap between head and tail.
    pub(crate) fn cut(&self, kept: Kept) -> u64 {
        self.apart(kept, self.marker(kept.tail.saturating_sub(kept.head)).as_deref())
    }

    /// Tokens of the request when the nodes from item `tail` on are in it, without a marker.
    pub(crate) fn window(&self, tail: usize) -> u64 {
        self.apart(Kept { head: self.lead(), tail }, None)
    }

    /// Tokens of the request with this between head and tail.
    pub(crate) fn apart(&self, kept: Kept, marker: Option<&str>) -> u64 {
        let Kept { head, tail } = kept;
        let (gap, joined) = self.gap(kept, marker);
        let content = self.content(0, head).saturating_add(self.content(tail, self.len())).saturating_add(gap);
        let apart = self.messages(0, head) + self.messages(tail, self.len());
        self.sum(content, (apart + 1).saturating_sub(joined))
    }

    /// Tokens of the messages of a request that holds nothing but the marker and the blocks.
    pub(crate) fn marker_alone(&self) -> u64 {
        let marker = self.marker(0);
        let blocks = self.items.iter().filter(|item| item.id.is_none()).filter_map(Item::first_text);
        let (before, after): (Vec<&str>, Vec<&str>) = match self.lead() {
            0 => (Vec::new(), blocks.collect()),
            lead => (blocks.clone().take(lead).collect(), blocks.skip(lead).collect()),
        };
        let texts: Vec<&str> = before.into_iter().chain(marker.as_deref()).chain(after).collect();
        if texts.is_empty() {
            return 0;
        }
        self.prices.text(&texts.join(JOIN)) + self.prices.overhead.per_message
    }

    /// What is always there.
    pub(crate) fn fixed(&self) -> u64 {
        self.fixed
    }

    /// The marker that stands for so many nodes; none where it is set to nothing.
    pub(crate) fn marker(&self, nodes: usize) -> Option<String> {
        let marker = self.marker.replace("{count}", &nodes.to_string());
        let trimmed = marker.trim();
        (!trimmed.is_empty()).then(|| trimmed.to_owned())
    }

    fn sum(&self, content: i64, messages: u64) -> u64 {
        let overhead = messages.saturating_mul(self.prices.overhead.per_message);
        self.fixed.saturating_add(overhead).saturating_add_signed(content)
    }

    /// Tokens of the content of the messages that the items `from..to` make.
    fn content(&self, from: usize, to: usize) -> i64 {
        signed(between(&self.alone, from, to)).saturating_add(self.joints_between(from, to))
    }

    fn messages(&self, from: usize, to: usize) -> u64 {
        if from >= to { 0 } else { 1 + between(&self.starts, from + 1, to) }
    }

    /// Corrections of the joints inside the items `from..to`.
    fn joints_between(&self, from: usize, to: usize) -> i64 {
        let (mut start, mut end) = (from, to.saturating_sub(1));
        if start >= end {
            return 0;
        }
        let mut total = 0;
        if let Some(run) = self.tight_at(start).filter(|run| run.first < start) {
            let last = run.last.min(end);
            total += self.tight_cost(start, last);
            start = last;
        }
        if let Some(run) = self.tight_at(end.saturating_sub(1)).filter(|run| end > start && run.last > end) {
            let first = run.first.max(start);
            total += self.tight_cost(first, end);
            end = first;
        }
        total + between_signed(&self.joints, start, end)
    }

    /// What stands between head and tail: its correction, and how many messages fall together there. The marker counts
    /// as one message of its own before that.
    fn gap(&self, kept: Kept, marker: Option<&str>) -> (i64, u64) {
        let left = kept.head.checked_sub(1).and_then(|at| Some((at, self.items.get(at)?)));
        let right = self.items.get(kept.tail).map(|item| (kept.tail, item));
        let Some(marker) = marker else {
            let (Some(left), Some(right)) = (left, right) else { return (0, 1) };
            if left.1.entry.role != right.1.entry.role {
                return (0, 1);
            }
            return (self.glue(Some(left), None, Some(right)), 2);
        };
        let left = left.filter(|(_, item)| item.entry.role == Role::User);
        let right = right.filter(|(_, item)| item.entry.role == Role::User);
        let joined = u64::from(left.is_some()) + u64::from(right.is_some());
        (self.glue(left, Some(marker), right), joined)
    }

    /// What joining costs beyond the texts on both sides, the marker included.
    fn glue(&self, left: Option<(usize, &Item<'_>)>, marker: Option<&str>, right: Option<(usize, &Item<'_>)>) -> i64 {
        // An item of several parts touches both sides with different texts, so that no tight run passes through it.
        let whole = |item: &Item<'_>| item.parts.len() == 1;
        let left_run = left.filter(|(_, item)| whole(item)).and_then(|(at, _)| self.tight_at(at.checked_sub(1)?));
        let right_run = right.filter(|(_, item)| whole(item)).and_then(|(at, _)| self.tight_at(at));
        let left = left.and_then(|(at, item)| Some((at, item.last_text()?)));
        let right = right.and_then(|(at, item)| Some((at, item.first_text()?)));
        let counter = self.prices.counter;
        let clean_left = left.is_none() || marker.is_none_or(|marker| counter.adds_up_before(marker));
        let clean_right = right.is_none_or(|(_, text)| counter.adds_up_before(text));
        let marker_cost = marker.map_or(0, |marker| self.text(marker));
        if marker.is_none() && (left.is_none() || right.is_none()) {
            return 0;
        }
        if clean_left && clean_right {
            let behind_left = left.map_or(0, |(_, text)| self.break_after(text));
            let behind_marker = marker.filter(|_| right.is_some()).map_or(0, |marker| self.break_after(marker));
            return behind_left + marker_cost + behind_marker;
        }
        let before = left.map(|(at, text)| left_run.map_or(text.to_owned(), |run| self.tight_text(run.first, at)));
        let after = right.map(|(at, text)| right_run.map_or(text.to_owned(), |run| self.tight_text(at, run.last)));
        let sides: i64 = [&before, &after].into_iter().flatten().map(|text| self.text(text)).sum();
        let all: Vec<&str> = [before.as_deref(), marker, after.as_deref()].into_iter().flatten().collect();
        self.text(&all.join(JOIN)) - sides
    }

    /// What a paragraph break behind a text costs, where counts add up there.
    fn break_after(&self, text: &str) -> i64 {
        // Counts add up at breaks inside the text too, so that only what follows the last one matters.
        let breaks = text.rmatch_indices(JOIN).find_map(|(at, _)| {
            let (before, after) = (text.get(..at)?, text.get(at.checked_add(JOIN.len())?..)?);
            let clean = !before.ends_with(char::is_whitespace) && !after.starts_with(char::is_whitespace);
            (clean && !after.is_empty() && self.prices.counter.adds_up_before(after)).then_some(after)
        });
        let tail = breaks.unwrap_or(text);
        let mut broken = String::with_capacity(tail.len() + JOIN.len());
        broken.push_str(tail);
        broken.push_str(JOIN);
        self.text(&broken) - self.text(tail)
    }

    fn text(&self, text: &str) -> i64 {
        signed(self.prices.text(text))
    }

    /// Whether a joint stands behind item `at`: texts touch, and are merged.
    fn joint(&self, at: usize) -> Option<(&str, &str)> {
        let (left, right) = (self.items.get(at)?, self.items.get(at.checked_add(1)?)?);
        if left.entry.role == right.entry.role { left.last_text().zip(right.first_text()) } else { None }
    }

    fn tight_runs(&self) -> Vec<Option<Tight>> {
        let mut runs = vec![None; self.items.len()];
        let mut first = 0;
        while first < self.items.len() {
            let mut last = first;
            while self.joint(last).is_some_and(|(_, right)| !self.prices.counter.adds_up_before(right)) {
                last += 1;
                if self.items.get(last).is_none_or(|item| item.parts.len() != 1) {
                    break;
                }
            }
            for run in runs.iter_mut().take(last).skip(first) {
                *run = Some(Tight { first, last });
            }
            first = last.max(first + 1);
        }
        runs
    }

    fn tight_at(&self, joint: usize) -> Option<Tight> {
        self.tight.get(joint).copied().flatten()
    }

    fn joint_sums(&self) -> Vec<i64> {
        let mut total = 0;
        let mut sums = vec![0];
        for at in 0..self.items.len().saturating_sub(1) {
            total += match self.tight_at(at) {
                Some(run) if at + 1 == run.last => self.tight_cost(run.first, run.last),
                Some(_) => 0,
                None => self.joint(at).map_or(0, |(left, _)| self.break_after(left)),
            };
            sums.push(total);
        }
        sums
    }

    /// What the joined text of the items `first..=last` of a tight run costs beyond the texts alone.
    fn tight_cost(&self, first: usize, last: usize) -> i64 {
        if first >= last {
            return 0;
        }
        if let Some(&cost) = self.seen.borrow().get(&(first, last)) {
            return cost;
        }
        let apart: i64 = self.tight_texts(first, last).map(|text| self.text(text)).sum();
        let cost = self.text(&self.tight_text(first, last)) - apart;
        self.seen.borrow_mut().insert((first, last), cost);
        cost
    }

    fn tight_text(&self, first: usize, last: usize) -> String {
        self.tight_texts(first, last).collect::<Vec<_>>().join(JOIN)
    }

    /// The texts that touch: the last of the first item, the first of the others.
    fn tight_texts(&self, first: usize, last: usize) -> impl Iterator<Item = &str> {
        let items = self.items.iter().enumerate().take(last + 1).skip(first);
        items.filter_map(move |(at, item)| if at == first { item.last_text() } else { item.first_text() })
    }
}

/// The messages that these items make, merged by role, with the marker in the gap.
pub(crate) fn render<'a>(items: &[Item<'a>], kept: Kept, marker: Option<&str>) -> Vec<Message<'a>> {
    let mut merge = Merge { messages: Vec::new() };
    let (head, tail) = (items.get(..kept.head).unwrap_or(items), items.get(kept.tail..).unwrap_or_default());
    for item in head {
        merge.item(item);
    }
    if let Some(marker) = marker {
        merge.turn(Role::User).parts_mut(|parts| parts::push_text(parts, Cow::Owned(marker.to_owned())));
    }
    for item in tail {
        merge.item(item);
    }
    merge.messages.into_iter().map(Turn::finish).collect()
}

struct Merge<'a> {
    messages: Vec<Turn<'a>>,
}

/// A message in the making.
struct Turn<'a> {
    role: Role,
    parts: Vec<Part<'a>>,
    node_ids: Vec<&'a str>,
}

impl<'a> Merge<'a> {
    fn item(&mut self, item: &Item<'a>) {
        let turn = self.turn(item.entry.role);
        turn.node_ids.extend(item.id);
        for part in &item.parts {
            match part {
                // Only texts that touch across nodes are joined here; those of one node already are.
                Part::Text { text } => parts::push_text(&mut turn.parts, text.clone()),
                other => turn.parts.push(other.clone()),
            }
        }
    }

    fn turn(&mut self, role: Role) -> &mut Turn<'a> {
        if self.messages.last().is_none_or(|last| last.role != role) {
            self.messages.push(Turn { role, parts: Vec::new(), node_ids: Vec::new() });
        }
        let at = self.messages.len() - 1;
        #[expect(clippy::indexing_slicing, reason = "a message was pushed where there was none")]
        &mut self.messages[at]
    }
}

impl<'a> Turn<'a> {
    fn parts_mut(&mut self, change: impl FnOnce(&mut Vec<Part<'a>>)) {
        change(&mut self.parts);
    }

    fn finish(self) -> Message<'a> {
        Message { role: self.role, content: parts::content(self.parts), node_ids: self.node_ids }
    }
}

fn sums(values: impl Iterator<Item = u64>) -> Vec<u64> {
    let mut total = 0u64;
    std::iter::once(0)
        .chain(values.map(|value| {
            total = total.saturating_add(value);
            total
        }))
        .collect()
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
