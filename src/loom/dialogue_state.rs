//! A path, its conversation with blocks and headers, and the sums of costs. A resident tree stores this state; a
//! one-shot assembly begins with an empty one.

use crate::assembly::costs::Sums;
use crate::assembly::preserved::{PreservedThinking, ThinkingRule};
use crate::error::Result;
use crate::loom::context_headers::ContextHeaders;
use crate::loom::conversation::{Conversation, ConversationItems};
use crate::loom::fit_state::Previous;
use crate::loom::path_context::PathContext;
use crate::loom::path_state::PathState;
use crate::loom::tree::NodeIx;

/// Everything derived from tree, position and options that does not depend on the budget.
#[derive(Debug, Default)]
pub(crate) struct DialogueState {
    pub path: PathState,
    pub conversation: Conversation,
    pub context_headers: ContextHeaders,
    pub sums: Sums,
    /// Entries of the selection that are unchanged since the conversation was made.
    entries: usize,
    /// Members of the conversation that are unchanged since the sums were made.
    members: usize,
    /// The start of each unit among the items, if there are blocks.
    context_units: Vec<usize>,
}

/// Blocks and header lines for a conversation.
#[derive(Debug, Default)]
pub(crate) struct ContextParts {
    /// The block before all nodes, and its tokens.
    pub before: Option<(String, u64)>,
    /// The block after all nodes.
    pub after: Option<(String, u64)>,
    /// The header line of each member that can have one; empty without headers.
    pub headers: Vec<Option<String>>,
}

impl DialogueState {
    /// Records changes at these slots of the tree.
    pub(crate) fn touch(&mut self, places: &[NodeIx]) {
        self.path.touch(places);
    }

    /// Advances to the path of the options and selects its nodes.
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

    /// Discards everything except the revisions of headers, which callers hold.
    fn reset(&mut self) {
        *self = Self { context_headers: self.context_headers.renewed(), ..Self::default() };
    }

    pub(crate) fn build_conversation(&mut self, context: &PathContext<'_>) {
        let options = context.options;
        let strips = options.preserved_thinking == Some(ThinkingRule::Refused(PreservedThinking::Strip));
        // Headers and blocks differ in each request, and precede all thinking.
        let strips_all = strips && options.loom_aware.is_some();
        // In a series, only new repairs are changes.
        let is_single = options.previous == Previous::None && options.cut_to.is_none();
        let strips = strips && is_single;
        let selection = &mut self.path.selected.selection;
        let same = self.conversation.set_strips_all(strips_all, context.tree, &selection.entries);
        self.entries = self.entries.min(self.conversation.set_strips(strips)).min(same);
        let kept = self.conversation.extend(context, selection, self.entries);
        self.entries = selection.entries.len();
        self.members = self.members.min(kept);
    }

    /// Adds blocks and headers to the conversation, and sums up the costs.
    pub(crate) fn set_context_parts(&mut self, context: &PathContext<'_>, context_parts: ContextParts) {
        let Self { context_headers, conversation, sums, .. } = self;
        let mut same = self.members;
        if context_parts.headers.is_empty() && context_headers.has_headers() {
            same = 0;
        }
        context_headers.truncate(same);
        for ((number, member), line) in conversation.members.iter().enumerate().zip(&context_parts.headers) {
            let place = |line: &_| member.place_header(context, line);
            if !context_headers.set_header(number, member.entry.node, line.as_deref(), &context.prices, place) {
                same = same.min(number);
            }
        }
        if context_headers.before == context_parts.before {
            sums.truncate(context_headers.lead() + same);
        } else {
            sums.truncate(0);
        }
        (context_headers.before, context_headers.after) = (context_parts.before, context_parts.after);
        self.members = conversation.members.len();
        let (lead, framed) =
            (context_headers.lead(), context_headers.before.is_some() || context_headers.after.is_some());
        self.context_units.clear();
        if framed {
            // The block before the nodes is a separate unit, the one after them belongs to the last unit.
            self.context_units.extend(context_headers.before.is_some().then_some(0));
            self.context_units.extend(conversation.units.iter().map(|unit| unit + lead));
            if let (Some(last), Some(_)) = (self.context_units.last_mut(), &context_headers.after) {
                *last += 1;
            }
        }
        let mut sums = std::mem::take(&mut self.sums);
        sums.extend(&self.items(context), &context.prices);
        self.sums = sums;
    }

    pub(crate) fn items<'l, 'a>(&'l self, context: &'l PathContext<'a>) -> ConversationItems<'l, 'a> {
        self.items_from(context, 0)
    }

    /// The items without the first `skipped` members.
    pub(crate) fn items_from<'l, 'a>(
        &'l self,
        context: &'l PathContext<'a>,
        skipped: usize,
    ) -> ConversationItems<'l, 'a> {
        let Self { conversation, context_headers, .. } = self;
        ConversationItems { context, members: &conversation.members, context_headers, skipped }
    }

    /// The start of each unit among the items, and the end.
    pub(crate) fn units(&self) -> &[usize] {
        if self.context_units.is_empty() { &self.conversation.units } else { &self.context_units }
    }
}
