//! The hashes by which the messages of a dialogue are compared with those of the last one.

use serde_json::Value as Json;

use crate::assembly::state_values::{hash_at, hex, number_at, short, short_hashes, short_hashes_at};
use crate::hashing::Hasher;
use crate::json::Value;

/// Messages at both ends for which a difference is found exactly, and hashes in between.
const FIRST: usize = 24;
const LAST: usize = 64;
const BETWEEN: usize = 24;

/// The hashes of the messages of a result.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ResultHash {
    pub count: usize,
    all: u64,
    /// The number of messages before the gap, and their hash.
    gap: usize,
    of_gap: u32,
    /// The hashes of prefixes, with the [`lengths`].
    beginnings: Vec<u32>,
    /// The number of items in the last message, and its hash.
    pub last_items: usize,
    pub last: u64,
}

/// The lengths of the prefixes whose hashes are recorded.
fn lengths(count: usize) -> Vec<usize> {
    let Some(between) = count.checked_sub(FIRST + BETWEEN + LAST) else { return (1..=count).collect() };
    let between = (1..=BETWEEN).map(|at| FIRST + at + between / (BETWEEN + 1) * at);
    (1..=FIRST).chain(between).chain(count - LAST..=count).collect()
}

/// The hash of each prefix, starting with the empty one.
fn chain(messages: &[u64]) -> Vec<u64> {
    let mut hasher = Hasher::default();
    let mut chain = vec![hasher.finish()];
    chain.extend(messages.iter().map(|message| {
        hasher.word(*message);
        hasher.finish()
    }));
    chain
}

impl ResultHash {
    /// The hashes of these messages, of which `gap` precede the gap; the last has `last_items` items.
    pub(crate) fn of(messages: &[u64], gap: usize, last_items: usize) -> Self {
        let chain = chain(messages);
        let count = messages.len();
        let at = |length: usize| chain.get(length).copied().unwrap_or_default();
        Self {
            count,
            all: at(count),
            gap: gap.min(count),
            of_gap: short(at(gap.min(count))),
            beginnings: lengths(count).into_iter().map(|length| short(at(length))).collect(),
            last_items,
            last: messages.last().copied().unwrap_or_default(),
        }
    }

    /// The number of leading messages known to be equal. In the middle of a long result this may be less than the exact
    /// number.
    pub(crate) fn shared(&self, messages: &[u64]) -> usize {
        let chain = chain(messages);
        if chain.get(self.count) == Some(&self.all) {
            return self.count;
        }
        let mut known: Vec<(usize, u32)> =
            lengths(self.count).into_iter().zip(self.beginnings.iter().copied()).collect();
        known.push((self.gap, self.of_gap));
        crate::sorting::sort_by_key(&mut known, |(length, _)| *length);
        let is_same = |(length, hash): &&(usize, u32)| chain.get(*length).is_some_and(|now| short(*now) == *hash);
        known.iter().take_while(is_same).last().map_or(0, |(length, _)| *length)
    }

    pub(crate) fn to_json(&self) -> Json {
        let Self { count, all, gap, of_gap, beginnings, last_items, last } = self;
        Json::Array(vec![
            (*count).into(),
            hex(*all),
            (*gap).into(),
            (*of_gap).into(),
            short_hashes(beginnings),
            (*last_items).into(),
            hex(*last),
        ])
    }

    pub(crate) fn read(list: &[Value<'_>]) -> Option<Self> {
        let this = Self {
            count: number_at(list, 0)?,
            all: hash_at(list, 1)?,
            gap: number_at(list, 2)?,
            of_gap: list.get(3)?.whole(u32::MAX).ok()?,
            beginnings: short_hashes_at(list, 4)?,
            last_items: number_at(list, 5)?,
            last: hash_at(list, 6)?,
        };
        (lengths(this.count).len() == this.beginnings.len()).then_some(this)
    }
}
