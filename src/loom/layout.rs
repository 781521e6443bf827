//! What a conversation costs for any choice of what to keep, without rendering it.
//!
//! Counts are not additive over concatenation, and merging joins texts. So costs are kept by *joints*: a joint stands
//! between two neighbours of one role whose touching parts are texts, and its correction is what the joined text costs
//! beyond the two alone. Where the counter adds up at a paragraph break, a joint's correction depends on its left text
//! only. Where it does not, the joint is *tight*: runs of tight joints are counted as the joined text they make.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::BTreeMap;

use crate::loom::few::Few;
use crate::loom::parts::{self, JOIN};
use crate::loom::select::Entry;
use crate::loom::tree::NodeIx;
use crate::prompt::{Content, Message, Part, Prices, Role};

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

/// What has to be known of the items of a conversation to say what they cost together.
pub(crate) trait Items: std::fmt::Debug {
    /// How many there are.
    fn len(&self) -> usize;
    fn role(&self, at: usize) -> Option<Role>;
    /// Whether it is a block and no node.
    fn is_block(&self, at: usize) -> bool;
    /// Tokens of the parts, as a message of their own.
    fn alone(&self, at: usize) -> u64;
    /// Whether there is one part only.
    fn is_single(&self, at: usize) -> bool;
    /// The text that the item begins with.
    fn first_text(&self, at: usize) -> Option<Cow<'_, str>>;
    /// The text that the item ends with.
    fn last_text(&self, at: usize) -> Option<Cow<'_, str>>;
    /// What a paragraph break behind that text costs; see [`break_after`].
    fn break_after(&self, at: usize, prices: &Prices<'_>) -> i64;
}

impl Items for Vec<Item<'_>> {
    fn len(&self) -> usize {
        self.len()
    }

    fn role(&self, at: usize) -> Option<Role> {
        self.get(at).map(|item| item.entry.role)
    }

    fn is_block(&self, at: usize) -> bool {
        self.get(at).is_some_and(|item| item.id.is_none())
    }

    fn alone(&self, at: usize) -> u64 {
        self.get(at).map_or(0, |item| item.alone)
    }

    fn is_single(&self, at: usize) -> bool {
        self.get(at).is_some_and(|item| item.parts.len() == 1)
    }

    fn first_text(&self, at: usize) -> Option<Cow<'_, str>> {
        self.get(at)?.first_text().map(Cow::Borrowed)
    }

    fn last_text(&self, at: usize) -> Option<Cow<'_, str>> {
        self.get(at)?.last_text().map(Cow::Borrowed)
    }

    fn break_after(&self, at: usize, prices: &Prices<'_>) -> i64 {
        self.get(at).and_then(Item::last_text).map_or(0, |text| break_after(text, prices))
    }
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

/// Runs of so many joints are costly to look at in part.
const LONG_RUN: usize = 8;

/// Sums over the items of a conversation, from its beginning. They can be taken back to any item and go on from there.
#[derive(Debug)]
pub(crate) struct Sums {
    /// Over the items before an index.
    alone: Vec<u64>,
    /// Over the message starts before an index.
    starts: Vec<u64>,
    /// Over the joints before an index; the joint `k` stands behind item `k`.
    joints: Vec<i64>,
    /// For each joint, the tight run it belongs to.
    tight: Vec<Option<Tight>>,
    /// How many joints are in long runs.
    long: usize,
    /// The items that may cost less than nothing together with the joint behind them, which is next to none of them.
    falls: Vec<usize>,
    /// What tight runs that were asked for in part cost.
    seen: RefCell<BTreeMap<(usize, usize), i64>>,
    markers: Markers,
}

impl Default for Sums {
    fn default() -> Self {
        Self {
            alone: vec![0],
            starts: vec![0],
            joints: vec![0],
            tight: Vec::new(),
            long: 0,
            falls: Vec::new(),
            seen: RefCell::default(),
            markers: Markers::default(),
        }
    }
}

impl Sums {
    /// Forgets the items from `len` on.
    pub(crate) fn truncate(&mut self, len: usize) {
        self.alone.truncate(len.saturating_add(1));
        self.starts.truncate(len.saturating_add(1));
        // The last item that stays may be in a run that now ends there.
        let last = len.saturating_sub(1);
        let run = last.checked_sub(1).and_then(|joint| self.tight.get(joint).copied().flatten());
        self.cut_joints(run.map_or(last, |run| run.first));
    }

    fn cut_joints(&mut self, from: usize) {
        let long = self.tight.iter().skip(from).flatten().filter(|run| run.is_long()).count();
        self.long -= long;
        self.falls.truncate(self.falls.partition_point(|&at| at < from));
        self.tight.truncate(from);
        self.joints.truncate(from.saturating_add(1));
        self.seen.borrow_mut().clear();
    }

    /// Goes on with the items that are not summed up yet.
    pub(crate) fn extend(&mut self, items: &dyn Items, prices: &Prices<'_>) {
        let count = items.len();
        for at in self.alone.len().saturating_sub(1)..count {
            self.alone.push(last(&self.alone).saturating_add(items.alone(at)));
            let starts = at == 0 || items.role(at) != items.role(at - 1);
            self.starts.push(last(&self.starts) + u64::from(starts));
        }
        let from = match self.tight.len().checked_sub(1) {
            // What was the last item may go on in a run with the next.
            Some(at) => {
                at.checked_sub(1).and_then(|joint| self.tight.get(joint).copied().flatten()).map_or(at, |run| run.first)
            }
            None => 0,
        };
        self.cut_joints(from);
        self.find_runs(from, items, prices);
        let mut total = last(&self.joints);
        for at in from..count.saturating_sub(1) {
            let run = self.tight.get(at).copied().flatten();
            let joint = match run {
                Some(run) if at + 1 == run.last => tight_cost(items, prices, run.first, run.last),
                Some(_) => 0,
                None => joint(items, at).map_or(0, |_| items.break_after(at, prices)),
            };
            total += joint;
            self.joints.push(total);
            if run.is_some() || signed(items.alone(at)).saturating_add(joint) < 0 {
                self.falls.push(at);
            }
        }
    }

    fn find_runs(&mut self, from: usize, items: &dyn Items, prices: &Prices<'_>) {
        let mut first = from;
        while first < items.len() {
            let mut last = first;
            while joint(items, last).is_some_and(|next| !prices.counter.adds_up_before(&next)) {
                last += 1;
                if !items.is_single(last) {
                    break;
                }
            }
            // What the break behind the run costs depends on the run, and no longer on its last text alone.
            if last > first && items.is_single(last) && joint(items, last).is_some() {
                last += 1;
            }
            let run = Tight { first, last };
            self.long += if run.is_long() { last - first } else { 0 };
            self.tight.extend((first..last).map(|_| Some(run)));
            if first == last {
                self.tight.push(None);
            }
            first = last.max(first + 1);
        }
    }
}

impl Tight {
    fn is_long(self) -> bool {
        self.last - self.first >= LONG_RUN
    }
}

/// The text behind a joint, where one stands behind item `at`: texts touch, and are merged.
fn joint(items: &dyn Items, at: usize) -> Option<Cow<'_, str>> {
    let next = at.checked_add(1)?;
    let same = items.role(at)? == items.role(next)?;
    if same && items.last_text(at).is_some() { items.first_text(next) } else { None }
}

/// What the joined text of the items `first..=last` of a tight run costs beyond the texts alone.
fn tight_cost(items: &dyn Items, prices: &Prices<'_>, first: usize, last: usize) -> i64 {
    let apart: i64 = tight_texts(items, first, last).map(|text| signed(prices.text(&text))).sum();
    signed(prices.text(&tight_text(items, first, last))) - apart
}

fn tight_text(items: &dyn Items, first: usize, last: usize) -> String {
    let mut all = String::new();
    for (at, text) in tight_texts(items, first, last).enumerate() {
        all.push_str(if at == 0 { "" } else { JOIN });
        all.push_str(&text);
    }
    all
}

/// The texts that touch: the last of the first item, the first of the others.
fn tight_texts(items: &dyn Items, first: usize, last: usize) -> impl Iterator<Item = Cow<'_, str>> {
    (first..=last).filter_map(move |at| if at == first { items.last_text(at) } else { items.first_text(at) })
}

/// What markers cost, remembered for some counts: neighbouring cuts are looked at again and again.
#[derive(Debug, Default)]
struct Markers {
    template: RefCell<String>,
    known: RefCell<Vec<Option<Known>>>,
}

/// How many nodes a marker stands for, and its cost where there is one.
type Known = (usize, Option<MarkerCost>);

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct MarkerCost {
    tokens: i64,
    break_after: i64,
    adds_up: bool,
}

/// How many counts the costs of markers are remembered for.
const MARKERS: usize = 4096;

impl Markers {
    fn cost(&self, template: &str, count: usize, find: impl FnOnce() -> Option<MarkerCost>) -> Option<MarkerCost> {
        let mut known = self.known.borrow_mut();
        if *self.template.borrow() != template {
            template.clone_into(&mut self.template.borrow_mut());
            known.clear();
        }
        known.resize(MARKERS, None);
        match known.get_mut(count % MARKERS) {
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

/// The costs of a conversation whose items are at hand.
#[derive(Debug)]
pub(crate) struct Layout<'a> {
    pub items: Vec<Item<'a>>,
    sums: Sums,
    prices: Prices<'a>,
    marker: String,
    fixed: u64,
}

impl<'a> Layout<'a> {
    pub(crate) fn new(items: Vec<Item<'a>>, prices: Prices<'a>, marker: String, fixed: u64) -> Self {
        let mut sums = Sums::default();
        sums.extend(&items, &prices);
        Self { items, sums, prices, marker, fixed }
    }

    pub(crate) fn costs(&self) -> Costs<'_> {
        Costs { items: &self.items, sums: &self.sums, prices: self.prices, marker: &self.marker, fixed: self.fixed }
    }
}

/// What any choice of items costs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Costs<'l> {
    pub items: &'l dyn Items,
    pub sums: &'l Sums,
    pub prices: Prices<'l>,
    /// The marker, as it is set.
    pub marker: &'l str,
    /// What is always there: system, per-request overhead, and the system message's own overhead.
    pub fixed: u64,
}

impl Costs<'_> {
    /// How many blocks stand before the nodes: none or one.
    pub(crate) fn lead(&self) -> usize {
        usize::from(self.items.is_block(0))
    }

    fn trail(&self) -> usize {
        usize::from(self.len().checked_sub(1).is_some_and(|last| self.items.is_block(last)))
    }

    /// How many nodes and blocks there are.
    pub(crate) fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether the cost of a kept run can be told in constant time.
    pub(crate) fn is_cheap(&self) -> bool {
        self.sums.long == 0
    }

    /// Whether a window never costs less when it begins earlier.
    pub(crate) fn is_steady(&self) -> bool {
        self.sums.falls.is_empty() && self.lead() == 0
    }

    /// Where the last so many nodes begin.
    pub(crate) fn recent(&self, nodes: u64) -> usize {
        let nodes = usize::try_from(nodes).unwrap_or(usize::MAX);
        self.len().saturating_sub(self.trail()).saturating_sub(nodes).max(self.lead())
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
        self.apart(kept, self.marker_cost(kept.tail.saturating_sub(kept.head)))
    }

    /// Tokens of the request when the nodes from item `tail` on are in it, without a marker.
    pub(crate) fn window(&self, tail: usize) -> u64 {
        match self.lead() {
            // The same, and this is asked for each item of a window.
            0 => self.run(tail, self.len()),
            head => self.apart(Kept { head, tail }, None),
        }
    }

    /// Tokens of the request with this much in it, and the marker where it is said.
    pub(crate) fn kept(&self, kept: Kept, marked: bool) -> u64 {
        if marked { self.cut(kept) } else { self.apart(kept, None) }
    }

    /// Tokens of the request with this between head and tail.
    fn apart(&self, kept: Kept, marker: Option<MarkerCost>) -> u64 {
        let Kept { head, tail } = kept;
        let (gap, joined) = self.gap(kept, marker);
        let content = self.content(0, head).saturating_add(self.content(tail, self.len())).saturating_add(gap);
        let apart = self.messages(0, head) + self.messages(tail, self.len());
        self.sum(content, (apart + 1).saturating_sub(joined))
    }

    /// Tokens of the messages of a request that holds nothing but the marker and the blocks.
    pub(crate) fn marker_alone(&self) -> u64 {
        let marker = self.marker(0).map(Cow::Owned);
        let lead = self.lead();
        let block = |at: usize| if self.items.is_block(at) { self.items.first_text(at) } else { None };
        let before = block(0);
        let after = self.len().checked_sub(1).filter(|&last| last >= lead).and_then(block);
        let texts: Vec<Cow<'_, str>> = before.into_iter().chain(marker).chain(after).collect();
        if texts.is_empty() {
            return 0;
        }
        self.prices.text(&texts.join(JOIN)) + self.prices.overhead.per_message
    }

    /// The marker that stands for so many nodes; none where it is set to nothing.
    pub(crate) fn marker(&self, nodes: usize) -> Option<String> {
        let marker = self.marker.replace("{count}", &nodes.to_string());
        let trimmed = marker.trim();
        (!trimmed.is_empty()).then(|| trimmed.to_owned())
    }

    /// What that marker costs; nothing where there is none.
    fn marker_cost(&self, nodes: usize) -> Option<MarkerCost> {
        self.sums.markers.cost(self.marker, nodes, || {
            let marker = self.marker(nodes)?;
            Some(MarkerCost {
                tokens: self.text(&marker),
                break_after: break_after(&marker, &self.prices),
                adds_up: self.prices.counter.adds_up_before(&marker),
            })
        })
    }

    fn sum(&self, content: i64, messages: u64) -> u64 {
        let overhead = messages.saturating_mul(self.prices.overhead.per_message);
        self.fixed.saturating_add(overhead).saturating_add_signed(content)
    }

    /// Tokens of the content of the messages that the items `from..to` make.
    fn content(&self, from: usize, to: usize) -> i64 {
        signed(between(&self.sums.alone, from, to)).saturating_add(self.joints_between(from, to))
    }

    /// How many messages the items `from..to` make.
    pub(crate) fn messages(&self, from: usize, to: usize) -> u64 {
        if from >= to { 0 } else { 1 + between(&self.sums.starts, from + 1, to) }
    }

    /// What the items `from..to` cost, each counted alone.
    pub(crate) fn alone(&self, from: usize, to: usize) -> u64 {
        between(&self.sums.alone, from, to)
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
        total + between_signed(&self.sums.joints, start, end)
    }

    /// What stands between head and tail: its correction, and how many messages fall together there. The marker counts
    /// as one message of its own before that.
    fn gap(&self, kept: Kept, marker: Option<MarkerCost>) -> (i64, u64) {
        let left = kept.head.checked_sub(1).and_then(|at| Some((at, self.items.role(at)?)));
        let right = self.items.role(kept.tail).map(|role| (kept.tail, role));
        let count = kept.tail.saturating_sub(kept.head);
        let Some(marker) = marker else {
            let (Some(left), Some(right)) = (left, right) else { return (0, 1) };
            if left.1 != right.1 {
                return (0, 1);
            }
            return (self.glue(Some(left.0), None, Some(right.0), count), 2);
        };
        let left = left.filter(|&(_, role)| role == Role::User).map(|(at, _)| at);
        let right = right.filter(|&(_, role)| role == Role::User).map(|(at, _)| at);
        let joined = u64::from(left.is_some()) + u64::from(right.is_some());
        (self.glue(left, Some(marker), right, count), joined)
    }

    /// What joining costs beyond the texts on both sides, the marker included.
    fn glue(&self, left: Option<usize>, marker: Option<MarkerCost>, right: Option<usize>, count: usize) -> i64 {
        // An item of several parts touches both sides with different texts, so that no tight run passes through it.
        let whole = |at: &usize| self.items.is_single(*at);
        let left_run = left.filter(whole).and_then(|at| self.tight_at(at.checked_sub(1)?));
        let right_run = right.filter(whole).and_then(|at| self.tight_at(at));
        let left = left.and_then(|at| Some((at, self.items.last_text(at)?)));
        let right = right.and_then(|at| Some((at, self.items.first_text(at)?)));
        let clean_left = left.is_none() || marker.is_none_or(|marker| marker.adds_up);
        let clean_right = right.as_ref().is_none_or(|(_, text)| self.prices.counter.adds_up_before(text));
        if marker.is_none() && (left.is_none() || right.is_none()) {
            return 0;
        }
        if clean_left && clean_right && left_run.is_none() {
            let behind_left = left.map_or(0, |(at, _)| self.items.break_after(at, &self.prices));
            let behind_marker = marker.filter(|_| right.is_some()).map_or(0, |marker| marker.break_after);
            return behind_left + marker.map_or(0, |marker| marker.tokens) + behind_marker;
        }
        let text_of = |first: usize, last: usize| tight_text(self.items, first, last);
        let before = left.map(|(at, text)| left_run.map_or_else(|| text.into_owned(), |run| text_of(run.first, at)));
        // Nor does the break behind the right text cost what it costs behind that text alone.
        let right_end = |at: usize| right_run.map_or(at + usize::from(self.goes_on(at)), |run| run.last);
        let after =
            right.map(|(at, text)| if right_end(at) > at { text_of(at, right_end(at)) } else { text.into_owned() });
        let sides: i64 = [&before, &after].into_iter().flatten().map(|text| self.text(text)).sum();
        let marker = marker.and_then(|_| self.marker(count));
        let all: Vec<&str> = [before.as_deref(), marker.as_deref(), after.as_deref()].into_iter().flatten().collect();
        self.text(&all.join(JOIN)) - sides
    }

    /// Whether the item is one text that the next item's text is merged with.
    fn goes_on(&self, at: usize) -> bool {
        self.items.is_single(at) && joint(self.items, at).is_some()
    }

    fn text(&self, text: &str) -> i64 {
        signed(self.prices.text(text))
    }

    fn tight_at(&self, joint: usize) -> Option<Tight> {
        self.sums.tight.get(joint).copied().flatten()
    }

    fn tight_cost(&self, first: usize, last: usize) -> i64 {
        if first >= last {
            return 0;
        }
        if let Some(&cost) = self.sums.seen.borrow().get(&(first, last)) {
            return cost;
        }
        let cost = tight_cost(self.items, &self.prices, first, last);
        self.sums.seen.borrow_mut().insert((first, last), cost);
        cost
    }
}

/// What a paragraph break behind a text costs, where counts add up there.
pub(crate) fn break_after(text: &str, prices: &Prices<'_>) -> i64 {
    // Counts add up at breaks inside the text too, so that only what follows the last one matters.
    let breaks = text.rmatch_indices(JOIN).find_map(|(at, _)| {
        let (before, after) = (text.get(..at)?, text.get(at.checked_add(JOIN.len())?..)?);
        let clean = !before.ends_with(char::is_whitespace) && !after.starts_with(char::is_whitespace);
        (clean && !after.is_empty() && prices.counter.adds_up_before(after)).then_some(after)
    });
    let tail = breaks.unwrap_or(text);
    let mut broken = String::with_capacity(tail.len() + JOIN.len());
    broken.push_str(tail);
    broken.push_str(JOIN);
    signed(prices.text(&broken)) - signed(prices.text(tail))
}

/// The messages that these items make, merged by role, with the marker in the gap.
pub(crate) fn render<'a>(items: &[Item<'a>], kept: Kept, marker: Option<&str>) -> Vec<Message<'a>> {
    let mut merge = Merge { messages: Vec::new() };
    let (head, tail) = (items.get(..kept.head).unwrap_or(items), items.get(kept.tail..).unwrap_or_default());
    for item in head {
        merge.item(item);
    }
    if let Some(marker) = marker {
        merge.turn(Role::User).push_text(Cow::Owned(marker.to_owned()));
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
    parts: Few<Part<'a>>,
    node_ids: Vec<&'a str>,
}

impl<'a> Merge<'a> {
    fn item(&mut self, item: &Item<'a>) {
        let turn = self.turn(item.entry.role);
        turn.node_ids.extend(item.id);
        for part in &item.parts {
            match part {
                // Only texts that touch across nodes are joined here; those of one node already are.
                Part::Text { text } => turn.push_text(text.clone()),
                other => turn.parts.push(other.clone()),
            }
        }
    }

    fn turn(&mut self, role: Role) -> &mut Turn<'a> {
        if self.messages.last().is_none_or(|last| last.role != role) {
            self.messages.push(Turn { role, parts: Few::default(), node_ids: Vec::new() });
        }
        let at = self.messages.len() - 1;
        #[expect(clippy::indexing_slicing, reason = "a message was pushed where there was none")]
        &mut self.messages[at]
    }
}

impl<'a> Turn<'a> {
    fn push_text(&mut self, text: Cow<'a, str>) {
        if let Some(text) = parts::joined(self.parts.last_mut(), text) {
            self.parts.push(Part::Text { text });
        }
    }

    fn finish(self) -> Message<'a> {
        let content = match self.parts {
            Few::One([Part::Text { text }]) => Content::Text(text),
            Few::One([part]) => Content::Parts(vec![part]),
            Few::Listed(parts) => parts::content(parts),
        };
        Message { role: self.role, content, node_ids: self.node_ids }
    }
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
