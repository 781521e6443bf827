//! The last path that was asked for, with everything that follows from it but the budget (SPEC §1 "Resident tree").
//!
//! All of it is kept as lists that go on from the oldest node to the tip, so that a tip further on, or an edit near the
//! tip, costs as much as what is new. What is before the first step that may have changed stays as it is.

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::error::{Diagnostic, Result};
use crate::limits;
use crate::loom::layout::{Item, Items, Sums, break_after};
use crate::loom::parts;
use crate::loom::path::{self, Choices, Seen, Step};
use crate::loom::report::{Fate, Reason};
use crate::loom::request::{Media, Options};
use crate::loom::select::{Entry, Mode, Picked};
use crate::loom::tools;
use crate::loom::tree::{Block, NodeIx, Tree};
use crate::prompt::{ImageRule, Part, Prices, Role};
use crate::tokens::memory::{CounterId, Held, Remembering};

use std::borrow::Cow;

/// A path and its conversation.
#[derive(Debug, Default)]
pub(super) struct Line {
    asked: Option<Asked>,
    pub steps: Vec<Step>,
    /// Where each place of the tree is on the path: one more than its step, or 0.
    on_path: Vec<u32>,
    /// What walking back found, by step.
    pub path_found: Vec<(usize, Diagnostic)>,
    pub picked: Picked,
    /// For each place of the tree, one more than the first step that depends on it, or 0.
    looked: Vec<u32>,
    looks: Vec<NodeIx>,
    /// How many looks there were before each step.
    look_marks: Vec<usize>,
    /// Whether a node names one that the tree does not have, so that any new node may be that one.
    dangling: bool,
    /// The first step that may have changed since.
    dirty: usize,
    /// For each entry, how many members come before it, and whether pairing may begin there anew.
    starts: Vec<Start>,
    pub members: Vec<Member>,
    /// Where each unit begins among the members; a last element closes the last unit.
    pub units: Vec<usize>,
    /// What repairing found, by entry.
    pub tools_found: Vec<(usize, Diagnostic)>,
    /// What making parts found, by member.
    pub parts_found: Vec<(usize, Diagnostic)>,
    pub sums: Sums,
}

/// The options that the path and the costs depend on.
#[derive(Clone, Debug)]
struct Asked {
    counter: CounterId,
    choices: Choices,
    image: ImageRule,
    audio_second: u64,
    media: Rc<BTreeMap<String, Media>>,
}

impl PartialEq for Asked {
    fn eq(&self, other: &Self) -> bool {
        self.counter == other.counter
            && self.image == other.image
            && self.audio_second == other.audio_second
            && self.choices == other.choices
            && (Rc::ptr_eq(&self.media, &other.media) || self.media == other.media)
    }
}

#[derive(Clone, Copy, Debug)]
struct Start {
    members: usize,
    /// No call before is open here, and no thought before can belong to a call from here on.
    free: bool,
}

/// A node of the conversation.
#[derive(Debug)]
pub(super) struct Member {
    pub entry: Entry,
    /// Tokens of its parts, as a message of their own.
    pub alone: u64,
    pub shape: Shape,
}

/// What of its node a member holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// One text, which is all of the node.
    Text,
    /// All blocks.
    Whole,
    /// These blocks; the others are of broken pairs.
    Some(Box<[usize]>),
}

/// What a path is looked at with.
#[derive(Debug)]
pub(super) struct Ground<'a> {
    pub tree: &'a Tree<'a>,
    /// What is held of each node: the first is its one text, where it has no more.
    pub held: &'a [Box<[Rc<Held>]>],
    pub options: &'a Options,
    pub counter: &'a Remembering<'a>,
}

impl<'a> Ground<'a> {
    pub(super) fn prices(&self) -> Prices<'a> {
        let Options { overhead, image, audio_second, .. } = *self.options;
        Prices { counter: self.counter, overhead, image, audio_second }
    }
}

impl Line {
    /// Notes that something changed at these places.
    pub(super) fn touch(&mut self, places: &[NodeIx]) {
        for &place in places {
            match self.looked.get(place as usize) {
                Some(&step) if step > 0 => self.dirty = self.dirty.min(step as usize - 1),
                _ if self.dangling => self.dirty = 0,
                _ => {}
            }
        }
    }

    /// Makes this the line that ends at `tip`.
    pub(super) fn sync(&mut self, ground: &Ground<'_>, tip: NodeIx) -> Result<()> {
        let done = self.go_to(ground, tip);
        if done.is_err() {
            *self = Self::default();
        }
        done
    }

    fn go_to(&mut self, ground: &Ground<'_>, tip: NodeIx) -> Result<()> {
        let options = ground.options;
        let asked = Asked {
            counter: ground.counter.id(),
            choices: options.choices.clone(),
            image: options.image,
            audio_second: options.audio_second,
            media: options.media.clone(),
        };
        if self.asked.as_ref() != Some(&asked) {
            *self = Self { asked: Some(asked.clone()), ..Self::default() };
        }
        let places = ground.tree.places();
        self.on_path.resize(places, 0);
        self.looked.resize(places, 0);

        let mut way = self.walk(ground, tip)?;
        let postponed = self.picked.postponed();
        let leaves = |step: &Step| postponed.contains(&step.node);
        let mut whole = !postponed.is_empty() && self.steps.iter().skip(way.keep).any(leaves);
        if !whole {
            self.cut(way.keep);
            whole = !self.picked.expect(ground.tree, &way.steps);
        }
        if whole {
            // What stood beside the path comes to be on it, or the reverse: earlier steps would have gone otherwise.
            let mut steps = std::mem::take(&mut self.steps);
            steps.truncate(way.keep);
            steps.append(&mut way.steps);
            let mut found = std::mem::take(&mut self.path_found);
            found.retain(|&(step, _)| step <= way.keep);
            found.append(&mut way.found);
            *self = Self { asked: Some(asked), ..Self::default() };
            self.on_path.resize(places, 0);
            self.looked.resize(places, 0);
            way = Way { keep: 0, steps, found };
            self.picked.expect(ground.tree, &way.steps);
        }
        self.go_on(ground, way)
    }

    /// Walks back from the tip until the way on is known.
    fn walk(&self, ground: &Ground<'_>, tip: NodeIx) -> Result<Way> {
        let Ground { tree, options, .. } = *ground;
        path::check_choices(tree, &options.choices)?;
        let mut way =
            Way { keep: 0, steps: vec![Step { node: tip, edge: None, versions: Vec::new() }], found: Vec::new() };
        let mut seen = Seen::default();
        seen.insert(tip, tree);
        let mut at = tip;
        loop {
            let known = self.on_path.get(at as usize).and_then(|&step| (step as usize).checked_sub(1));
            if let Some(known) = known.filter(|&known| known < self.dirty) {
                if let (Some(last), Some(step)) = (way.steps.last_mut(), self.steps.get(known)) {
                    last.edge = step.edge;
                }
                way.keep = known;
                break;
            }
            let Some(edge) = path::edge_into(tree, at, &options.choices)? else { break };
            let mut found = Vec::new();
            let (node, versions) = path::predecessor(tree, edge, &options.choices, &mut found)?;
            way.found.extend(found.into_iter().map(|found| (way.steps.len() - 1, found)));
            if !seen.insert(node, tree) {
                return Err(path::cycle(tree, node));
            }
            limits::check("pathNodes", way.steps.len().saturating_add(1), options.limits.path_nodes)?;
            if let Some(last) = way.steps.last_mut() {
                last.edge = Some(edge);
            }
            way.steps.push(Step { node, edge: None, versions });
            at = node;
        }
        let count = way.keep + way.steps.len();
        limits::check("pathNodes", count, options.limits.path_nodes)?;
        way.steps.reverse();
        way.found.reverse();
        for (step, _) in &mut way.found {
            *step = count - 1 - *step;
        }
        Ok(way)
    }

    /// Forgets the steps from `keep` on.
    fn cut(&mut self, keep: usize) {
        self.picked.truncate(keep, &self.steps);
        for step in self.steps.drain(keep..) {
            if let Some(place) = self.on_path.get_mut(step.node as usize) {
                *place = 0;
            }
        }
        // That of the step itself was found on the edge to it, which stays.
        self.path_found.retain(|&(step, _)| step <= keep);
        if let Some(&mark) = self.look_marks.get(keep) {
            for place in self.looks.drain(mark..) {
                if let Some(place) = self.looked.get_mut(place as usize) {
                    *place = 0;
                }
            }
            self.look_marks.truncate(keep);
        }
    }

    fn go_on(&mut self, ground: &Ground<'_>, way: Way) -> Result<()> {
        let Way { keep, steps, found } = way;
        for (at, step) in (keep..).zip(&steps) {
            if let Some(place) = self.on_path.get_mut(step.node as usize) {
                *place = u32::try_from(at).unwrap_or(u32::MAX - 1) + 1;
            }
        }
        self.steps.extend(steps);
        self.path_found.extend(found);
        let kept = self.picked.selection.entries.len();
        self.picked.steps(ground.tree, &self.steps, keep, ground.options, Mode::Dialogue)?;
        for at in keep..self.steps.len() {
            self.look(ground.tree, at);
        }
        self.converse(ground, kept);
        self.dirty = usize::MAX;
        Ok(())
    }

    /// Notes what a step depends on.
    fn look(&mut self, tree: &Tree, at: usize) {
        self.look_marks.push(self.looks.len());
        let (Some(step), next) = (self.steps.get(at), self.steps.get(at + 1)) else { return };
        let Self { looked, looks, dangling, .. } = self;
        let number = u32::try_from(at).unwrap_or(u32::MAX - 1) + 1;
        let mut note = |place: NodeIx| {
            if let Some(looked) = looked.get_mut(place as usize).filter(|looked| **looked == 0) {
                *looked = number;
                looks.push(place);
            }
        };
        note(step.node);
        tree.annotations(step.node).for_each(&mut note);
        step.versions.iter().copied().for_each(&mut note);
        if let Some(edge) = next.and_then(|next| next.edge) {
            tree.sources(edge).iter().for_each(|link| note(link.node));
        }
        // An edit without an edge of its own, and versions of one node, depend on what they are edits of.
        let edited = step.edge.is_none_or(|edge| tree.edge(edge).target != step.node);
        let own = (edited || !step.versions.is_empty()).then_some(&step.node);
        for &version in own.into_iter().chain(&step.versions) {
            let chain = path::origins(tree, version);
            let last = chain.last().and_then(|&last| tree.at(last).edited_from.as_deref());
            *dangling |= last.is_some_and(|id| tree.find_opt(id).is_none());
            chain.into_iter().for_each(&mut note);
        }
    }

    /// Makes members of the entries from `kept` on, and of those before that they may belong to.
    fn converse(&mut self, ground: &Ground<'_>, kept: usize) {
        let mut from = kept.min(self.starts.len().saturating_sub(1));
        while from > 0 && !self.starts.get(from).is_some_and(|start| start.free) {
            from -= 1;
        }
        let before = self.starts.get(from).map_or(0, |start| start.members);
        self.starts.truncate(from);
        self.members.truncate(before);
        self.units.pop();
        self.units.truncate(self.units.partition_point(|&unit| unit < before));
        self.tools_found.retain(|&(entry, _)| entry < from);
        self.parts_found.retain(|&(member, _)| member < before);
        self.sums.truncate(before);

        let selection = &mut self.picked.selection;
        let entries = selection.entries.get(from..).unwrap_or_default();
        let acts = |block: &Block| matches!(block, Block::ToolCall { .. } | Block::ToolResult { .. });
        let has = |entry: &Entry, what: fn(&Block) -> bool| ground.tree.at(entry.node).content.iter().any(what);
        if entries.iter().any(|entry| has(entry, acts)) {
            for entry in entries {
                if let Some(row) =
                    selection.rows.get_mut(entry.row).filter(|row| row.reason == Some(Reason::ToolPairBroken))
                {
                    (row.fate, row.reason) = (Fate::Kept, None);
                }
            }
            let mut found = Vec::new();
            let talk = tools::repair(ground.tree, entries, &mut selection.rows, &mut found);
            // They come in the order of the entries, each about the node of one.
            let mut at = 0;
            for found in found {
                let about =
                    |entry: &Entry| found.node_id.as_ref().is_some_and(|id| ground.tree.at(entry.node).id == *id);
                at += entries.iter().skip(at).position(about).unwrap_or(0);
                self.tools_found.push((from + at, found));
            }
            let mut open = vec![0i32; entries.len() + 1];
            for &(call, result) in &talk.calls {
                for (at, by) in [(call + 1, 1), (result.map_or(entries.len(), |result| result + 1), -1)] {
                    open.get_mut(at).into_iter().for_each(|open| *open += by);
                }
            }
            let mut inside = 0;
            let mut next = 0;
            let mut thinks = Thinks::default();
            for (entry, by) in entries.iter().zip(open) {
                inside += by;
                let free = thinks.next(ground.tree, entry) && inside == 0;
                self.starts.push(Start { members: before + next, free });
                next += usize::from(talk.entries.get(next).is_some_and(|kept| kept.row == entry.row));
            }
            self.units.extend(talk.units.iter().take(talk.units.len().saturating_sub(1)).map(|unit| before + unit));
            for (entry, blocks) in talk.entries.iter().zip(&talk.blocks) {
                let member = member(ground, *entry, blocks, self.members.len(), &mut self.parts_found);
                self.members.push(member);
            }
        } else {
            let mut thinks = Thinks::default();
            for entry in entries {
                let at = self.members.len();
                self.starts.push(Start { members: at, free: thinks.next(ground.tree, entry) });
                self.units.push(at);
                let member = whole_member(ground, *entry, at, &mut self.parts_found);
                self.members.push(member);
            }
        }
        self.units.push(self.members.len());
        let view = View { ground, members: &self.members };
        self.sums.extend(&view, &ground.prices());
    }
}

/// Steps that are new, after `keep` that stay.
#[derive(Debug)]
struct Way {
    keep: usize,
    steps: Vec<Step>,
    found: Vec<(usize, Diagnostic)>,
}

/// Whether a model's turn has thoughts in it that a call further on would be led to by.
#[derive(Debug, Default)]
struct Thinks {
    speaking: bool,
    thinks: bool,
}

impl Thinks {
    /// Goes on to an entry; whether no thought before can belong to a call from there on.
    fn next(&mut self, tree: &Tree, entry: &Entry) -> bool {
        let speaks = entry.role == Role::Assistant;
        let before = self.speaking && speaks && self.thinks;
        let thought = |block: &Block| matches!(block, Block::Reasoning { .. });
        self.thinks = speaks && (before || tree.at(entry.node).content.iter().any(thought));
        self.speaking = speaks;
        !before
    }
}

fn whole_member(ground: &Ground<'_>, entry: Entry, at: usize, found: &mut Vec<(usize, Diagnostic)>) -> Member {
    let blocks: &[Block] = &ground.tree.at(entry.node).content;
    if let [Block::Text(text)] = blocks {
        let text = text.trim();
        let held = ground.held.get(entry.node as usize).and_then(|held| held.first());
        let alone = held.map_or_else(|| ground.prices().text(text), |held| ground.counter.held(held, text).into());
        return Member { entry, alone, shape: Shape::Text };
    }
    let blocks: Vec<&Block> = blocks.iter().collect();
    member(ground, entry, &blocks, at, found)
}

fn member(
    ground: &Ground<'_>,
    entry: Entry,
    blocks: &[&Block],
    at: usize,
    found: &mut Vec<(usize, Diagnostic)>,
) -> Member {
    let node = ground.tree.at(entry.node);
    if let ([Block::Text(_)], [_]) = (node.content.as_slice(), blocks) {
        return whole_member(ground, entry, at, found);
    }
    let mut diagnostics = Vec::new();
    let parts = parts::parts(blocks, &node.id, &ground.options.media, &mut diagnostics);
    found.extend(diagnostics.into_iter().map(|diagnostic| (at, diagnostic)));
    let prices = ground.prices();
    let alone = parts.iter().map(|part| prices.part(part)).sum();
    if blocks.len() == node.content.len() {
        return Member { entry, alone, shape: Shape::Whole };
    }
    let mut rest = blocks.iter().peekable();
    let is_next = |block: &Block, rest: &mut std::iter::Peekable<std::slice::Iter<'_, &Block>>| {
        rest.next_if(|next| std::ptr::eq(**next, block)).is_some()
    };
    let kept = node.content.iter().enumerate().filter(|(_, block)| is_next(block, &mut rest));
    Member { entry, alone, shape: Shape::Some(kept.map(|(at, _)| at).collect()) }
}

/// The members of a line as items whose parts are made when somebody asks.
#[derive(Clone, Copy, Debug)]
pub(super) struct View<'l, 'a> {
    pub ground: &'l Ground<'a>,
    pub members: &'l [Member],
}

impl<'a> View<'_, 'a> {
    /// The one text that a member is.
    pub(super) fn text(&self, member: &Member) -> Option<&'a str> {
        match self.ground.tree.at(member.entry.node).content.as_slice() {
            [Block::Text(text)] if member.shape == Shape::Text => Some(text.trim()),
            _ => None,
        }
    }

    /// A member, ready to be rendered.
    pub(super) fn item(&self, member: &Member) -> Item<'a> {
        let node = self.ground.tree.at(member.entry.node);
        let blocks: Vec<&'a Block> = match &member.shape {
            Shape::Text | Shape::Whole => node.content.iter().collect(),
            Shape::Some(kept) => kept.iter().filter_map(|&at| node.content.get(at)).collect(),
        };
        let parts = parts::parts(&blocks, &node.id, &self.ground.options.media, &mut Vec::new());
        Item { entry: member.entry, id: Some(&node.id), parts, alone: member.alone, headed: None }
    }

    fn touching(&self, at: usize, pick: impl Fn(&[Part<'a>]) -> Option<Part<'a>>) -> Option<Cow<'a, str>> {
        let member = self.members.get(at)?;
        if let Some(text) = self.text(member) {
            return Some(Cow::Borrowed(text));
        }
        match pick(&self.item(member).parts)? {
            Part::Text { text } => Some(text),
            _ => None,
        }
    }
}

impl Items for View<'_, '_> {
    fn len(&self) -> usize {
        self.members.len()
    }

    fn role(&self, at: usize) -> Option<Role> {
        self.members.get(at).map(|member| member.entry.role)
    }

    fn is_block(&self, _: usize) -> bool {
        false
    }

    fn alone(&self, at: usize) -> u64 {
        self.members.get(at).map_or(0, |member| member.alone)
    }

    fn is_single(&self, at: usize) -> bool {
        self.members.get(at).is_some_and(|member| member.shape == Shape::Text || self.item(member).parts.len() == 1)
    }

    fn first_text(&self, at: usize) -> Option<Cow<'_, str>> {
        self.touching(at, |parts| parts.first().cloned())
    }

    fn last_text(&self, at: usize) -> Option<Cow<'_, str>> {
        self.touching(at, |parts| parts.last().cloned())
    }

    fn break_after(&self, at: usize, prices: &Prices<'_>) -> i64 {
        let Some(member) = self.members.get(at) else { return 0 };
        let held = self.ground.held.get(member.entry.node as usize).and_then(|held| held.first());
        match (self.text(member), held) {
            (Some(text), Some(held)) => held.break_after(self.ground.counter.id(), || break_after(text, prices)),
            _ => self.last_text(at).map_or(0, |text| break_after(&text, prices)),
        }
    }
}
