//! The nodes of a path that form its conversation: paired, grouped into units, and counted.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::ops::Range;

use crate::assembly::costs::break_after;
use crate::assembly::item::{CutItems, Header, Item, Items, Outline, Shape};
use crate::assembly::message_index::{ItemKey, MessageIndex, MessageKind};
use crate::assembly::preserved::is_signed;
use crate::assembly::render::JOIN;
use crate::content::{Block, Role, Vendor, VendorBlock};
use crate::error::Diagnostic;
use crate::hashing::Hasher;
use crate::loom::context_headers::{ContextHeaders, HeaderLine, PlacedHeader};
use crate::loom::parts;
use crate::loom::path_context::PathContext;
use crate::loom::report::{Fate, Reason};
use crate::loom::select::{Entry, Row, Selection};
use crate::loom::tools;
use crate::loom::tree::Tree;
use crate::prompt::{Message, Prices, message_hash};
use crate::text;
use crate::text::{is_blank, trim};
use crate::vendors::message_hash::MessageHash;

/// The members of a conversation. They can be truncated to any entry of the selection and extended from there.
#[derive(Debug, Default)]
pub(crate) struct Conversation {
    /// For each entry, the number of members before it, and whether pairing can restart there.
    starts: Vec<Start>,
    pub members: Vec<Member>,
    /// The start of each unit among the members; the last element closes the last unit.
    pub units: Vec<usize>,
    /// The members that hold a compaction.
    compactions: Vec<usize>,
    /// Diagnostics of the repair, by entry.
    tools_found: Vec<(usize, Diagnostic)>,
    /// Diagnostics of parts, by member.
    parts_found: Vec<(usize, Diagnostic)>,
    /// Whether thinking that a repair makes invalid is removed.
    strips: bool,
    /// Whether all signed thinking is removed.
    strips_all: bool,
}

#[derive(Clone, Copy, Debug)]
struct Start {
    members: usize,
    /// No earlier call is open here, and no earlier reasoning belongs to a later call.
    free: bool,
    /// Whether signed thinking in the entry is invalid, since its message or an earlier one was repaired.
    is_invalid: bool,
}

/// A node of the conversation.
#[derive(Debug)]
pub(crate) struct Member {
    pub entry: Entry,
    /// Tokens of its parts, as a separate message.
    alone: u64,
    blocks: MemberBlocks,
    shape: Shape,
    /// Bytes of its text, if that is the whole node.
    bytes: u32,
    /// Length of its text in UTF-16 code units, if spans are requested and the text is the whole node.
    utf16_len: OnceCell<usize>,
}

/// The blocks of its node that a member holds.
#[derive(Clone, Debug, PartialEq, Eq)]
enum MemberBlocks {
    /// One text, which is the whole node.
    OneText,
    All,
    /// These blocks; the others belong to broken pairs.
    Some(Box<[usize]>),
}

impl Conversation {
    /// The diagnostics of its parts.
    pub(crate) fn diagnostics(&self) -> impl Iterator<Item = &Diagnostic> {
        self.tools_found.iter().chain(&self.parts_found).map(|(_, found)| found)
    }

    /// Makes members of the entries from `kept` on, and of earlier ones that they may belong to. Returns the number of
    /// unchanged members.
    pub(crate) fn extend(&mut self, context: &PathContext<'_>, selection: &mut Selection, kept: usize) -> usize {
        // Whether an entry is free also depends on the entry itself. The one at `kept` was replaced, so the one before
        // it decides.
        let mut from = kept.min(self.starts.len()).saturating_sub(1);
        while from > 0 && !self.starts.get(from).is_some_and(|start| start.free) {
            from -= 1;
        }
        // The entry that made thinking invalid may have been removed.
        let invalid = self.starts.iter().take(from).position(|start| start.is_invalid);
        if let Some(invalid) = invalid {
            from = (0..=invalid).rev().find(|&at| self.starts.get(at).is_some_and(|start| start.free)).unwrap_or(0);
        }
        let before = self.starts.get(from).map_or(0, |start| start.members);
        self.starts.truncate(from);
        self.members.truncate(before);
        self.units.pop();
        self.units.truncate(self.units.partition_point(|&unit| unit < before));
        self.tools_found.retain(|&(entry, _)| entry < from);
        self.parts_found.retain(|&(member, _)| member < before);
        self.compactions.truncate(self.compactions.partition_point(|&member| member < before));

        let Selection { entries, rows, .. } = selection;
        let entries = entries.get(from..).unwrap_or_default();
        let acts = |block: &Block| {
            matches!(block, Block::ToolCall { .. } | Block::ToolResult { .. })
                || self.strips_all && is_signed(block, Vendor::Anthropic)
        };
        if entries.iter().any(|entry| context.tree.at(entry.node).content.read_blocks().iter().any(acts)) {
            self.extend_repaired(context, entries, rows);
        } else {
            let mut reasoning = OpenReasoning::default();
            for entry in entries {
                let at = self.members.len();
                let free = reasoning.next(context.tree, entry);
                self.starts.push(Start { members: at, free, is_invalid: false });
                self.units.push(at);
                let member = whole_member(context, *entry, at, &mut self.parts_found);
                self.members.push(member);
            }
        }
        self.units.push(self.members.len());
        let new = self.members.iter().enumerate().skip(before);
        self.compactions.extend(new.filter(|(_, member)| member.has_compaction(context)).map(|(at, _)| at));
        before
    }

    /// Makes members of further entries, some of which hold calls and results.
    fn extend_repaired(&mut self, context: &PathContext<'_>, entries: &[Entry], rows: &mut [Row]) {
        for entry in entries {
            if let Some(row) = rows.get_mut(entry.row).filter(|row| row.reason == Some(Reason::ToolPairBroken)) {
                (row.fate, row.reason) = (Fate::Kept, None);
            }
        }
        let (from, before) = (self.starts.len(), self.members.len());
        let mut found = Vec::new();
        let repaired = tools::repair(context.tree, entries, self.strips, self.strips_all, rows, &mut found);
        // The diagnostics are in the order of the entries.
        let mut at = 0;
        for found in found {
            let about = |entry: &Entry| found.node_id.as_ref().is_some_and(|id| context.tree.at(entry.node).id == *id);
            at += entries.iter().skip(at).position(about).unwrap_or(0);
            self.tools_found.push((from + at, found));
        }
        let mut open = vec![0i32; entries.len() + 1];
        for &(call, result) in &repaired.calls {
            for (at, by) in [(call + 1, 1), (result.map_or(entries.len(), |result| result + 1), -1)] {
                open.get_mut(at).into_iter().for_each(|open| *open += by);
            }
        }
        let mut inside = 0;
        let mut next = 0;
        let mut reasoning = OpenReasoning::default();
        for ((entry, by), &is_invalid) in entries.iter().zip(open).zip(&repaired.invalid) {
            inside += by;
            let is_kept = repaired.entries.get(next).is_some_and(|kept| kept.row == entry.row);
            // Two turns become one message if everything between them was removed.
            let is_between = !is_kept && entry.role != Role::Assistant;
            let follows = if is_between { !reasoning.is_open() } else { reasoning.next(context.tree, entry) };
            self.starts.push(Start { members: before + next, free: follows && inside == 0, is_invalid });
            next += usize::from(is_kept);
        }
        let units = repaired.units.iter().take(repaired.units.len().saturating_sub(1));
        self.units.extend(units.map(|unit| before + unit));
        for (entry, blocks) in repaired.entries.iter().zip(&repaired.blocks) {
            let member = member(context, *entry, blocks, self.members.len(), &mut self.parts_found);
            self.members.push(member);
        }
    }

    /// Sets whether invalid thinking is removed. Returns the number of unchanged entries.
    pub(crate) fn set_strips(&mut self, strips: bool) -> usize {
        if std::mem::replace(&mut self.strips, strips) == strips || self.tools_found.is_empty() {
            return usize::MAX;
        }
        self.starts.iter().position(|start| start.is_invalid).unwrap_or(usize::MAX)
    }

    /// Sets whether all signed thinking of these entries is removed. Returns the number of unchanged entries.
    pub(crate) fn set_strips_all(&mut self, strips_all: bool, tree: &Tree, entries: &[Entry]) -> usize {
        if std::mem::replace(&mut self.strips_all, strips_all) == strips_all {
            return usize::MAX;
        }
        let has_signed = |entry: &Entry| {
            tree.at(entry.node).content.read_blocks().iter().any(|block| is_signed(block, Vendor::Anthropic))
        };
        entries.iter().position(has_signed).unwrap_or(usize::MAX)
    }

    /// The first member from `from` on whose thinking is invalid after a repair, if it is kept.
    pub(crate) fn first_invalid(&self, from: usize) -> Option<usize> {
        if self.strips || self.tools_found.is_empty() {
            return None;
        }
        let mut starts = self.starts.iter().filter(|start| start.is_invalid && start.members >= from);
        starts.next().map(|start| start.members)
    }

    /// The first member from `from` on that a repair after the first `known` ones changed, or that follows a removed
    /// one.
    pub(crate) fn first_repair(&self, known: usize, from: usize) -> Option<usize> {
        let repairs = self.tools_found.iter().skip(known);
        let mut members = repairs.filter_map(|(entry, _)| Some(self.starts.get(*entry)?.members));
        members.find(|member| *member >= from)
    }

    /// The number of calls and results removed because their pairs are broken.
    pub(crate) fn repairs(&self) -> usize {
        self.tools_found.len()
    }

    /// A hash of each member: its node, its role and its content, without a header.
    pub(crate) fn node_hashes(&self, context: &PathContext<'_>) -> Vec<MessageHash> {
        let hash = |member: &Member| {
            let content = member.parts(context);
            let message = Message { role: member.entry.role, content, node_ids: Vec::new(), spans: Vec::new() };
            let mut hasher = Hasher::default();
            hasher.text(&context.tree.at(member.entry.node).id);
            hasher.word(message_hash(&message));
            MessageHash::of_hash(hasher.finish())
        };
        self.members.iter().map(hash).collect()
    }

    /// The newest member with a compaction for which `counts` is true.
    pub(crate) fn newest_compaction<'a>(
        &self,
        context: &PathContext<'a>,
        counts: impl Fn(&VendorBlock<'_>) -> bool,
    ) -> Option<(usize, &'a VendorBlock<'a>)> {
        self.compactions.iter().rev().find_map(|&at| {
            let block = self.members.get(at)?.compactions(context).filter(|block| counts(block)).last()?;
            Some((at, block))
        })
    }
}

/// Whether a model's turn has reasoning that a later call may depend on.
#[derive(Debug, Default)]
struct OpenReasoning {
    in_turn: bool,
    open: bool,
}

impl OpenReasoning {
    /// Whether a later call of the turn may depend on reasoning in it.
    fn is_open(&self) -> bool {
        self.in_turn && self.open
    }

    /// Advances to an entry; returns whether no earlier reasoning belongs to later calls.
    fn next(&mut self, tree: &Tree, entry: &Entry) -> bool {
        let assistant = entry.role == Role::Assistant;
        let content = tree.at(entry.node).content.read_blocks();
        // A call in a human's node also depends on the reasoning before it.
        let calls = |block: &Block| matches!(block, Block::ToolCall { .. });
        let before = self.in_turn && self.open && (assistant || content.iter().any(calls));
        let reasons = |block: &Block| matches!(block, Block::Reasoning { .. });
        self.open = assistant && (before || content.iter().any(reasons));
        self.in_turn = assistant;
        !before
    }
}

fn whole_member(context: &PathContext<'_>, entry: Entry, at: usize, found: &mut Vec<(usize, Diagnostic)>) -> Member {
    let content = &context.tree.at(entry.node).content;
    let one_text = |alone, bytes| {
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
        Member { entry, alone, blocks: MemberBlocks::OneText, shape: Shape::Text, bytes, utf16_len: OnceCell::new() }
    };
    if let Some(text) = content.escaped().filter(|_| !context.counts) {
        return one_text(0, text.len());
    }
    if let [Block::Text(text)] = content.as_slice() {
        let text = trim(text);
        return one_text(context.text_tokens(entry.node, text), text.len());
    }
    let blocks: Vec<&Block> = content.iter().collect();
    member(context, entry, &blocks, at, found)
}

fn member(
    context: &PathContext<'_>,
    entry: Entry,
    blocks: &[&Block],
    at: usize,
    found: &mut Vec<(usize, Diagnostic)>,
) -> Member {
    let node = context.tree.at(entry.node);
    if let ([Block::Text(_)], [_]) = (node.content.as_slice(), blocks) {
        return whole_member(context, entry, at, found);
    }
    let mut diagnostics = Vec::new();
    let parts = parts::parts(&mut blocks.iter().copied(), &node.id, &context.options.media, &mut diagnostics);
    found.extend(diagnostics.into_iter().map(|diagnostic| (at, diagnostic)));
    let alone = parts.iter().map(|part| context.part_tokens(entry.node, part)).sum();
    let shape = Shape::of(&parts);
    if blocks.len() == node.content.len() {
        return Member { entry, alone, blocks: MemberBlocks::All, shape, bytes: 0, utf16_len: OnceCell::new() };
    }
    let mut rest = blocks.iter().peekable();
    let kept = node.content.iter().enumerate();
    let kept = kept.filter(|(_, block)| rest.next_if(|next| std::ptr::eq(**next, *block)).is_some());
    let blocks = MemberBlocks::Some(kept.map(|(at, _)| at).collect());
    Member { entry, alone, blocks, shape, bytes: 0, utf16_len: OnceCell::new() }
}

/// The members of a conversation with their headers, between the surrounding blocks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ConversationItems<'l, 'a> {
    pub context: &'l PathContext<'a>,
    pub members: &'l [Member],
    pub context_headers: &'l ContextHeaders,
    /// The number of leading members that a compaction replaces. They are not items.
    pub skipped: usize,
}

/// The item at a place.
enum Slot<'l> {
    Block(&'l str, u64),
    /// A member and its number.
    Member(&'l Member, usize),
}

impl<'l, 'a> ConversationItems<'l, 'a> {
    fn slot(&self, at: usize) -> Option<Slot<'l>> {
        let block = |(text, tokens): &'l (String, u64)| Slot::Block(text, *tokens);
        let number = match at.checked_sub(self.context_headers.lead()) {
            None => return self.context_headers.before.as_ref().map(block),
            Some(place) => place + self.skipped,
        };
        match self.members.get(number) {
            Some(member) => Some(Slot::Member(member, number)),
            None if number == self.members.len() => self.context_headers.after.as_ref().map(block),
            None => None,
        }
    }

    /// The number of the member at an item index.
    pub(crate) fn number(&self, at: usize) -> Option<usize> {
        Some(at.checked_sub(self.context_headers.lead())? + self.skipped)
    }

    /// The item index of a member, by its number.
    pub(crate) fn place(&self, number: usize) -> Option<usize> {
        Some(number.checked_sub(self.skipped)? + self.context_headers.lead())
    }

    /// The member at an item index.
    pub(crate) fn member(&self, at: usize) -> Option<&'l Member> {
        if let Some(Slot::Member(member, _)) = self.slot(at) { Some(member) } else { None }
    }

    fn member_item(&self, member: &Member, number: usize) -> Item<'a> {
        let mut item = Item {
            role: member.entry.role,
            id: Some(&self.context.tree.at(member.entry.node).id),
            parts: member.parts(self.context),
            alone: member.alone,
            header: None,
        };
        if let Some((placed, text)) = self.context_headers.header(member.entry.node, number) {
            item.alone = placed.alone;
            if let Some(Block::Text(own)) = item.parts.get_mut(placed.part).filter(|_| placed.before_text) {
                *own = Cow::Owned([text, own.as_ref()].concat());
                item.header = Some(Header { part: placed.part, len: text.len() });
            } else {
                let line = text.trim_end();
                item.header = Some(Header { part: placed.part, len: line.len() });
                let at = placed.part.min(item.parts.len());
                item.parts.insert(at, Block::Text(Cow::Owned(line.to_owned())));
            }
        }
        item
    }

    fn touching(&self, at: usize, pick: impl Fn(&[Block<'a>]) -> Option<Block<'a>>) -> Option<Cow<'l, str>>
    where
        'a: 'l,
    {
        let (member, number) = match self.slot(at)? {
            Slot::Block(text, _) => return Some(Cow::Borrowed(text)),
            Slot::Member(member, number) => (member, number),
        };
        if let Some(text) = member.one_text(self.context) {
            return Some(match self.context_headers.header(member.entry.node, number) {
                Some((_, header)) => Cow::Owned([header, text].concat()),
                None => Cow::Borrowed(text),
            });
        }
        match pick(&self.member_item(member, number).parts)? {
            Block::Text(text) => Some(text),
            _ => None,
        }
    }
}

impl<'l, 'a: 'l> CutItems for ConversationItems<'l, 'a> {
    fn len(&self) -> usize {
        let members = self.members.len() - self.skipped;
        self.context_headers.lead() + members + usize::from(self.context_headers.after.is_some())
    }

    fn outline(&self, at: usize) -> Option<Outline> {
        Some(match self.slot(at)? {
            Slot::Block(_, alone) => Outline { alone, merged_by: Some((Role::User, Shape::Text)) },
            Slot::Member(member, number) => {
                let Member { entry, alone, shape, .. } = member;
                let outline = Outline { alone: *alone, merged_by: Some((entry.role, *shape)) };
                match (self.context_headers.header(entry.node, number), *shape) {
                    (None, _) => outline,
                    (Some((placed, _)), Shape::Parts { begins_with_text, ends_with_text, .. })
                        if !placed.before_text =>
                    {
                        let begins_with_text = begins_with_text || placed.part == 0;
                        let shape = Shape::Parts { single: false, begins_with_text, ends_with_text };
                        Outline { alone: placed.alone, merged_by: Some((entry.role, shape)) }
                    }
                    (Some((placed, _)), _) => Outline { alone: placed.alone, ..outline },
                }
            }
        })
    }

    fn may_begin(&self, at: usize) -> bool {
        self.role(at) == Some(Role::User)
    }

    fn is_block(&self, at: usize) -> bool {
        matches!(self.slot(at), Some(Slot::Block(..)))
    }

    fn first_text(&self, at: usize) -> Option<Cow<'_, str>> {
        self.touching(at, |parts| parts.first().cloned())
    }

    fn last_text(&self, at: usize) -> Option<Cow<'_, str>> {
        self.touching(at, |parts| parts.last().cloned())
    }

    fn break_after(&self, at: usize, prices: &Prices<'_>) -> i64 {
        if let Some(Slot::Member(member, number)) = self.slot(at)
            && let Some(text) = member.one_text(self.context)
        {
            // A header is a separate paragraph: if counts are additive after it, its text does not matter.
            let bare = self.context_headers.header(member.entry.node, number).is_none();
            if bare || prices.counter.is_additive_before(text) {
                return self.context.break_after(member.entry.node, text);
            }
        }
        self.last_text(at).map_or(0, |text| break_after(&text, prices))
    }
}

impl<'l, 'a: 'l> Items<'a> for ConversationItems<'l, 'a> {
    fn role(&self, at: usize) -> Option<Role> {
        Some(match self.slot(at)? {
            Slot::Block(..) => Role::User,
            Slot::Member(member, _) => member.entry.role,
        })
    }

    fn id(&self, at: usize) -> Option<&'a str> {
        self.member(at).map(|member| &*self.context.tree.at(member.entry.node).id)
    }

    fn text(&self, at: usize, takes_escaped: bool) -> Option<(&str, &str, bool)> {
        match self.slot(at)? {
            Slot::Block(text, _) => Some(("", text, false)),
            Slot::Member(member, number) => {
                let header = self.context_headers.header(member.entry.node, number).map_or("", |(_, header)| header);
                match self.context.tree.at(member.entry.node).content.escaped().filter(|_| takes_escaped) {
                    Some(text) => Some((header, text, true)),
                    None => Some((header, member.one_text(self.context)?, false)),
                }
            }
        }
    }

    fn borrowed_text(&self, at: usize) -> Option<&'a str> {
        let Slot::Member(member, number) = self.slot(at)? else { return None };
        let bare = self.context_headers.header(member.entry.node, number).is_none();
        if bare { member.one_text(self.context) } else { None }
    }

    fn utf16_len(&self, at: usize) -> usize {
        let Some(member) = self.member(at) else { return 0 };
        *member.utf16_len.get_or_init(|| member.one_text(self.context).map_or(0, text::utf16_len))
    }

    fn item(&self, at: usize) -> Option<Item<'a>> {
        Some(match self.slot(at)? {
            Slot::Block(text, alone) => Item {
                role: Role::User,
                id: None,
                parts: vec![Block::Text(Cow::Owned(text.to_owned()))],
                alone,
                header: None,
            },
            Slot::Member(member, number) => self.member_item(member, number),
        })
    }

    fn is_user_text(&self, at: usize) -> bool {
        let Some(Slot::Member(member, _)) = self.slot(at) else { return false };
        let is_text = |part: &Block<'_>| !matches!(part, Block::ToolResult { .. });
        let has_text = || member.blocks == MemberBlocks::OneText || member.parts(self.context).iter().any(is_text);
        member.entry.role == Role::User && has_text()
    }

    fn add_to(&self, index: &mut MessageIndex, range: Range<usize>) {
        let lead = self.context_headers.lead();
        let block = |index: &mut MessageIndex| index.add(Role::User, MessageKind::Volatile, Some(ItemKey::BLOCK), 0);
        if range.start < lead && !range.is_empty() {
            block(index);
        }
        let count = self.members.len() - self.skipped;
        let places = range.start.saturating_sub(lead)..range.end.saturating_sub(lead).min(count);
        let numbers = places.start + self.skipped..places.end + self.skipped;
        for (number, member) in numbers.clone().zip(self.members.get(numbers).unwrap_or_default()) {
            let Member { entry, blocks, bytes, .. } = member;
            let texts = *blocks == MemberBlocks::OneText;
            let kind = if texts { MessageKind::ItemTexts } else { MessageKind::Parts };
            let (content, header) = (self.context.revision(entry.node), self.context_headers.revision(number));
            let key = ItemKey { node: entry.node, content, header };
            index.add(entry.role, kind, Some(key), *bytes as usize + JOIN.len());
        }
        if range.end > lead + count && range.start < range.end {
            block(index);
        }
    }
}

impl Member {
    /// The text, if it is the whole node.
    fn one_text<'a>(&self, context: &PathContext<'a>) -> Option<&'a str> {
        match context.tree.at(self.entry.node).content.as_slice() {
            [Block::Text(text)] if self.blocks == MemberBlocks::OneText => Some(trim(text)),
            _ => None,
        }
    }

    /// Its compactions.
    fn compactions<'a>(&self, context: &PathContext<'a>) -> impl Iterator<Item = &'a VendorBlock<'a>> {
        let content = &context.tree.at(self.entry.node).content;
        let blocks = if self.blocks == MemberBlocks::OneText { &[] } else { content.as_slice() };
        blocks.iter().filter_map(|block| match block {
            Block::Vendor(block) if block.is_compaction() => Some(&**block),
            _ => None,
        })
    }

    fn has_compaction(&self, context: &PathContext<'_>) -> bool {
        self.compactions(context).next().is_some()
    }

    /// The parts, without a header.
    fn parts<'a>(&self, context: &PathContext<'a>) -> Vec<Block<'a>> {
        let node = context.tree.at(self.entry.node);
        let parts = |blocks: &mut dyn Iterator<Item = &'a Block<'a>>| {
            parts::parts(blocks, &node.id, &context.options.media, &mut Vec::new())
        };
        match &self.blocks {
            MemberBlocks::OneText | MemberBlocks::All => parts(&mut node.content.iter()),
            MemberBlocks::Some(kept) => parts(&mut kept.iter().filter_map(|&at| node.content.get(at))),
        }
    }

    /// Whether a header can be added: calls, reasoning and results are sent unchanged.
    pub(crate) fn takes_header(&self, context: &PathContext<'_>) -> bool {
        let takes = |block: &Block| match block {
            Block::Text(text) => !is_blank(text),
            Block::Image(_) | Block::Audio(_) => true,
            Block::ToolCall { .. } | Block::ToolResult { .. } | Block::Reasoning { .. } | Block::Vendor(_) => false,
        };
        let content = &context.tree.at(self.entry.node).content;
        match &self.blocks {
            MemberBlocks::OneText | MemberBlocks::All => content.iter().any(takes),
            MemberBlocks::Some(kept) => kept.iter().filter_map(|&at| content.get(at)).any(takes),
        }
    }

    /// The place of a header and the tokens it adds: before the first text or media, as a separate paragraph.
    pub(crate) fn place_header(&self, context: &PathContext<'_>, header: &HeaderLine) -> Option<PlacedHeader> {
        let prices = &context.prices;
        let addition = |part, text: &str| {
            // If counts are additive, the text is not counted again.
            if prices.counter.is_additive_before(text) {
                return PlacedHeader { part, before_text: true, alone: self.alone.saturating_add(header.tokens) };
            }
            let both = prices.text(&[header.text.as_str(), text].concat());
            let alone = self.alone.saturating_sub(prices.text(text)).saturating_add(both);
            PlacedHeader { part, before_text: true, alone }
        };
        if let Some(text) = self.one_text(context) {
            return Some(addition(0, text));
        }
        let parts = self.parts(context);
        let takes_header = |part: &Block<'_>| matches!(part, Block::Text(_) | Block::Image(_) | Block::Audio(_));
        let at = parts.iter().position(takes_header)?;
        if let Some(Block::Text(text)) = parts.get(at) {
            return Some(addition(at, text));
        }
        let alone = self.alone.saturating_add(header.line_tokens);
        Some(PlacedHeader { part: at, before_text: false, alone })
    }
}
