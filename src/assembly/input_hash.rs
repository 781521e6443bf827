//! The hashes by which a fit recognizes the messages of the last one (docs/agents.md).

use serde_json::Value as Json;

use crate::assembly::series::PrefixReason;
use crate::assembly::state_values::{hash_at, hex, number_at, short, short_hashes, short_hashes_at};
use crate::json::Value;
use crate::vendors::message_hash::{MessageHash, hash_to};

/// Messages at the end whose hashes are recorded one by one.
const RECENT: usize = 200;

/// The point at which the messages diverge from those of the last fit.
#[derive(Clone, Debug)]
pub(crate) struct Branch {
    /// The first message that differs. In long conversations this may be earlier than the exact one.
    pub at: usize,
    pub reason: PrefixReason,
    /// Messages from there on that were in the earlier input or appended to it, and now follow another message.
    pub stale: Vec<usize>,
}

/// The hashes of the messages of a fit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct InputHash {
    pub count: usize,
    /// The hash of all messages, and of all but the last.
    all: u64,
    before_last: u64,
    last_parts: usize,
    last: u64,
    /// The hash of the messages before the recent ones.
    before_recent: u64,
    recent: Vec<u32>,
}

impl InputHash {
    pub(crate) fn of(messages: &[MessageHash]) -> Self {
        let count = messages.len();
        let last = messages.last();
        let before_recent = count.saturating_sub(RECENT);
        Self {
            count,
            all: hash_to(messages, count),
            before_last: hash_to(messages, count.saturating_sub(1)),
            last_parts: last.map_or(0, MessageHash::parts),
            last: last.map_or(0, MessageHash::whole),
            before_recent: hash_to(messages, before_recent),
            recent: messages.iter().skip(before_recent).map(|message| short(message.whole())).collect(),
        }
    }

    /// Whether these messages begin with the earlier ones; the last of them may have more parts.
    pub(crate) fn begins(&self, messages: &[MessageHash]) -> bool {
        let Some(last) = messages.get(self.count.wrapping_sub(1)) else { return self.count == 0 };
        self.is_whole(messages)
            || hash_to(messages, self.count - 1) == self.before_last && last.up_to(self.last_parts) == Some(self.last)
    }

    /// Whether these messages begin with all of the earlier ones, unchanged.
    pub(crate) fn is_whole(&self, messages: &[MessageHash]) -> bool {
        messages.len() >= self.count && hash_to(messages, self.count) == self.all
    }

    /// The branch from the earlier messages, or `None` for another conversation; `step` is the number of messages at
    /// the last step, and their hash.
    pub(crate) fn branch(&self, step: (usize, u64), messages: &[MessageHash]) -> Option<Branch> {
        let (step, of_step) = step;
        let to_step = || (step > 0 && messages.len() >= step && hash_to(messages, step) == of_step).then_some(step);
        let at = self.first_difference(messages).or_else(to_step)?;
        let ends_alike = self.ends_alike(messages);
        if at == 0 && !ends_alike {
            return None;
        }
        let last_common = self.count.min(messages.len()).saturating_sub(1);
        let is_edited = at < last_common && ends_alike;
        let reason = if is_edited { PrefixReason::Edited } else { PrefixReason::Branched };
        Some(Branch { at, reason, stale: self.stale(at, messages) })
    }

    /// The first message that differs, if enough messages agree to determine it.
    fn first_difference(&self, messages: &[MessageHash]) -> Option<usize> {
        let from = self.count.saturating_sub(self.recent.len());
        if messages.len() < from || hash_to(messages, from) != self.before_recent {
            return None;
        }
        let rest = messages.get(from..).unwrap_or_default();
        let same =
            self.recent.iter().zip(rest).take_while(|(known, message)| **known == short(message.whole())).count();
        Some(from + same)
    }

    /// Messages from a branch on that were made after another beginning: earlier ones, and those appended to them.
    fn stale(&self, branch: usize, messages: &[MessageHash]) -> Vec<usize> {
        let known = self.known(branch, messages);
        let is_stale = |at: &usize| *at >= self.count || known.contains(at);
        (branch..messages.len()).filter(is_stale).collect()
    }

    /// The messages from `from` on that were in the earlier input.
    fn known(&self, from: usize, messages: &[MessageHash]) -> Vec<usize> {
        let recent = from.saturating_sub(self.count.saturating_sub(self.recent.len()));
        let known = self.recent.get(recent..).unwrap_or_default();
        let is_known = |at: &usize| messages.get(*at).is_some_and(|message| known.contains(&short(message.whole())));
        (from..messages.len()).filter(is_known).collect()
    }

    /// Whether any of these messages was in the earlier input.
    pub(crate) fn knows_any(&self, messages: &[MessageHash]) -> bool {
        !self.known(0, messages).is_empty()
    }

    /// Whether the last message of both is the same, so that an earlier one was edited.
    fn ends_alike(&self, messages: &[MessageHash]) -> bool {
        let Some(last) = self.count.min(messages.len()).checked_sub(1) else { return false };
        let recent = last.checked_sub(self.count.saturating_sub(self.recent.len()));
        let known = recent.and_then(|recent| self.recent.get(recent));
        known.is_some() && known.copied() == messages.get(last).map(|message| short(message.whole()))
    }

    /// The hashes as JSON.
    pub(crate) fn to_json(&self) -> Json {
        let Self { count, all, before_last, last_parts, last, before_recent, recent } = self;
        Json::Array(vec![
            (*count).into(),
            hex(*all),
            hex(*before_last),
            (*last_parts).into(),
            hex(*last),
            hex(*before_recent),
            short_hashes(recent),
        ])
    }

    /// Reads what [`to_json`](Self::to_json) wrote.
    pub(crate) fn read(input: &[Value<'_>]) -> Option<Self> {
        Some(Self {
            count: number_at(input, 0)?,
            all: hash_at(input, 1)?,
            before_last: hash_at(input, 2)?,
            last_parts: number_at(input, 3)?,
            last: hash_at(input, 4)?,
            before_recent: hash_at(input, 5)?,
            recent: short_hashes_at(input, 6)?,
        })
    }
}
