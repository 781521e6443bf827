//! A path, its conversation, what stands around that, and the sums of what it costs. A resident tree keeps it; a one-shot
//! assembly begins with an empty one.

use crate::assembly::costs::Sums;
use crate::error::Result;
use crate::loom::conversation::{Conversation, ConversationItems};
use crate::loom::framing::Framing;
use crate::loom::path_context::PathContext;
use crate::loom::path_state::PathState;
use crate::loom::tree::NodeIx;

/// What follows from tree, position and options, but for the budget.
#[derive(Debug, Default)]
pub(crate) struct DialogueState {
    pub path: PathState,
    pub conversation: Conversation,
    pub framing: Framing,
    pub sums: Sums,
    /// How many entries of the selection are as they were when the conversation was made of them.
    entries: usize,
    /// How many members of the conversation are as they were when the sums were made.
    members: usize,
    /// Where each unit begins among the items, where blocks stand around the members.
    framed_units: Vec<usize>,
}

/// Blocks and header lines for a conversation.
#[derive(Debug, Default)]
pub(crate) struct Frame {
    /// The block before all nodes, and its tokens.
    pub before: Option<(String, u64)>,
    /// The block behind all nodes.
    pub after: Option<(String, u64)>,
    /// The header line of each member that has a place for one; empty where there are none at all.
    pub headers: Vec<Option<String>>,
}

impl DialogueState {
    /// Notes that something changed at these places of the tree.
    pub(crate) fn touch(&mut self, places: &[NodeIx]) {
        self.path.touch(places);
    }

    /// Goes to the path of the options and selects what belongs to it.
    pub(crate) fn select(&mut self, context: &PathContext<'_>) -> Result<()> {
        if !self.path.is_for(context) {
            self.reset();
        }
        match self.path.advance(context) {
            Ok(kept) => {
                self.entries = self.entries.min(kept);
                Ok(())
            }
            Err(error) => {
                self.reset();
                Err(error)
            }
        }
    }

    /// Forgets all but the revisions of headers, which are in what was given out.
    fn reset(&mut self) {
        *self = Self { framing: self.framing.renewed(), ..Self::default() };
    }

    /// Makes the conversation of what is selected.
    pub(crate) fn converse(&mut self, context: &PathContext<'_>) {
        let selection = &mut self.path.selected.selection;
        let kept = self.conversation.extend(context, selection, self.entries);
        self.entries = selection.entries.len();
        self.members = self.members.min(kept);
    }

    /// Puts blocks and headers around the conversation, and sums up what it costs.
    pub(crate) fn frame(&mut self, context: &PathContext<'_>, frame: Frame) {
        let Self { framing, conversation, sums, .. } = self;
        let mut same = self.members;
        if frame.headers.is_empty() && framing.has_headers() {
            same = 0;
        }
        framing.truncate(same);
        for ((number, member), line) in conversation.members.iter().enumerate().zip(&frame.headers) {
            let place = |line: &_| member.place_header(context, line);
            if !framing.set_header(number, member.entry.node, line.as_deref(), &context.prices, place) {
                same = same.min(number);
            }
        }
        if framing.before == frame.before {
            sums.truncate(framing.lead() + same);
        } else {
            sums.truncate(0);
        }
        (framing.before, framing.after) = (frame.before, frame.after);
        self.members = conversation.members.len();
        let (lead, framed) = (framing.lead(), framing.before.is_some() || framing.after.is_some());
        self.framed_units.clear();
        if framed {
            // The block before is a unit of its own, the one behind belongs to the last.
            self.framed_units.extend(framing.before.is_some().then_some(0));
            self.framed_units.extend(conversation.units.iter().map(|unit| unit + lead));
            if let (Some(last), Some(_)) = (self.framed_units.last_mut(), &framing.after) {
                *last += 1;
            }
        }
        let mut sums = std::mem::take(&mut self.sums);
        sums.extend(&self.items(context), &context.prices);
        self.sums = sums;
    }

    /// The members with their headers, between the blocks.
    pub(crate) fn items<'l, 'a>(&'l self, context: &'l PathContext<'a>) -> ConversationItems<'l, 'a> {
        ConversationItems { context, members: &self.conversation.members, framing: &self.framing }
    }

    /// Where each unit begins among the items; a last element closes the last unit.
    pub(crate) fn units(&self) -> &[usize] {
        if self.framed_units.is_empty() { &self.conversation.units } else { &self.framed_units }
    }
}
