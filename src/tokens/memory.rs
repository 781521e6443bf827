//! Counts that are cached by content, so that no text is counted twice (docs/resident.md).
//!
//! A [`Memory`] holds the interned texts ([`Memory::intern`]); when the last handle of a text is dropped, its counts
//! are dropped, too. Texts are identified by 128 bits of hash, including their length, so that the memory does not
//! store them a second time.

use std::cell::RefCell;
use std::hash::{DefaultHasher, Hasher};
use std::rc::{Rc, Weak};

use smallvec::SmallVec;

use crate::maps::SortedMap;
use crate::tokens::{Counter, IncrementalCount};

/// The cached counts of interned texts. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct Memory(Rc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    texts: RefCell<SortedMap<Key, Weak<InternedText>>>,
    /// The names of the counters whose counts are cached by name.
    names: RefCell<Vec<String>>,
    /// The number of custom counters so far.
    own: RefCell<u32>,
}

/// The identity of a text: hashes of it, with its length.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key([u64; 2]);

impl Key {
    fn of(text: &str) -> Self {
        let hash = |seed: u64| {
            let mut hasher = DefaultHasher::new();
            hasher.write_u64(seed);
            hasher.write_usize(text.len());
            hasher.write(text.as_bytes());
            hasher.finish()
        };
        Self([hash(1), hash(2)])
    }
}

/// The identity of a counter. Two counters with one id return the same counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CounterId(u32);

/// Ids from here on belong to custom counters.
const OWNED_BIT: u32 = 1 << 31;

impl CounterId {
    /// Whether it belongs to a custom counter.
    pub(crate) fn is_own(self) -> bool {
        self.0 >= OWNED_BIT
    }
}

/// An interned text with its cached counts.
#[derive(Debug)]
pub struct InternedText {
    key: Key,
    /// Usually of one counter.
    costs: RefCell<SmallVec<[Cost; 1]>>,
    memory: Weak<Shared>,
}

#[derive(Clone, Copy, Debug)]
struct Cost {
    counter: CounterId,
    tokens: u32,
    /// The cost of a paragraph break after the text; [`UNKNOWN`] until it is needed.
    break_after: i32,
}

const UNKNOWN: i32 = i32::MIN;

impl Memory {
    /// Interns a text: as long as a handle of the same text exists, its counts are cached.
    pub fn intern(&self, text: &str) -> Rc<InternedText> {
        let key = Key::of(text);
        let mut texts = self.0.texts.borrow_mut();
        let known = texts.or_default(key);
        known.upgrade().unwrap_or_else(|| {
            let interned = Rc::new(InternedText { key, costs: RefCell::default(), memory: Rc::downgrade(&self.0) });
            *known = Rc::downgrade(&interned);
            interned
        })
    }

    /// The handle of a text, if it is interned.
    pub fn find(&self, text: &str) -> Option<Rc<InternedText>> {
        self.0.texts.borrow().get(&Key::of(text)).and_then(Weak::upgrade)
    }

    /// The id of the counter that this name identifies everywhere.
    pub fn counter(&self, name: &str) -> CounterId {
        let mut names = self.0.names.borrow_mut();
        let at = names.iter().position(|known| known == name).unwrap_or_else(|| {
            names.push(name.to_owned());
            names.len().saturating_sub(1)
        });
        CounterId(u32::try_from(at).unwrap_or(OWNED_BIT - 1))
    }

    /// A new id for a custom counter, whose name does not identify how it counts.
    pub fn own_counter(&self) -> CounterId {
        let mut own = self.0.own.borrow_mut();
        *own = own.wrapping_add(1) % OWNED_BIT;
        CounterId(OWNED_BIT + *own)
    }

    /// The number of interned texts.
    pub fn texts(&self) -> usize {
        self.0.texts.borrow().len()
    }

    /// The number of cached counts.
    pub fn counts(&self) -> usize {
        let texts = self.0.texts.borrow();
        texts.values().filter_map(Weak::upgrade).map(|interned| interned.costs.borrow().len()).sum()
    }
}

impl InternedText {
    /// Tokens of the text by this counter; `count` computes them on the first call.
    pub(crate) fn tokens(&self, id: CounterId, count: impl FnOnce() -> u32) -> u32 {
        if let Some(cost) = self.cost(id) {
            return cost.tokens;
        }
        let tokens = count();
        let mut costs = self.costs.borrow_mut();
        // Only the last custom counter's count is kept: each may be a new one.
        costs.retain(|cost| !id.is_own() || !cost.counter.is_own());
        costs.push(Cost { counter: id, tokens, break_after: UNKNOWN });
        tokens
    }

    /// The cost of a paragraph break after the text by this counter.
    pub(crate) fn break_after(&self, id: CounterId, find: impl FnOnce() -> i64) -> i64 {
        match self.cost(id) {
            Some(cost) if cost.break_after != UNKNOWN => cost.break_after.into(),
            _ => {
                let found = find();
                let mut costs = self.costs.borrow_mut();
                let cost = costs.iter_mut().find(|cost| cost.counter == id);
                if let (Some(cost), Ok(found)) = (cost, i32::try_from(found)) {
                    cost.break_after = found;
                }
                found
            }
        }
    }

    fn cost(&self, id: CounterId) -> Option<Cost> {
        self.costs.borrow().iter().find(|cost| cost.counter == id).copied()
    }
}

impl Drop for InternedText {
    fn drop(&mut self) {
        if let Some(memory) = self.memory.upgrade() {
            let mut texts = memory.texts.borrow_mut();
            // The entry may have been replaced in the meantime; then it must stay.
            if texts.get(&self.key).is_some_and(|interned| interned.strong_count() == 0) {
                texts.remove(&self.key);
            }
        }
    }
}

/// A counter that counts no interned text twice.
#[derive(Clone, Debug)]
pub struct CachingCounter<'c> {
    counter: &'c dyn Counter,
    id: CounterId,
    memory: Memory,
}

impl<'c> CachingCounter<'c> {
    /// The identity of the counter.
    pub fn id(&self) -> CounterId {
        self.id
    }

    /// Tokens of an interned text.
    pub(crate) fn interned(&self, interned: &InternedText, text: &str) -> u32 {
        interned.tokens(self.id, || self.counter.count(text))
    }
}

impl Memory {
    /// Caches the counts of a counter that its name identifies everywhere.
    pub fn remember<'c>(&self, counter: &'c dyn Counter) -> CachingCounter<'c> {
        self.remember_as(self.counter(counter.name()), counter)
    }

    /// Caches the counts of a counter under an id that no other counter uses.
    pub fn remember_as<'c>(&self, id: CounterId, counter: &'c dyn Counter) -> CachingCounter<'c> {
        CachingCounter { counter, id, memory: self.clone() }
    }
}

impl Counter for CachingCounter<'_> {
    fn name(&self) -> &str {
        self.counter.name()
    }

    fn error_percent(&self) -> Option<u32> {
        self.counter.error_percent()
    }

    fn count(&self, text: &str) -> u32 {
        match self.memory.find(text) {
            Some(interned) => interned.tokens(self.id, || self.counter.count(text)),
            None => self.counter.count(text),
        }
    }

    fn count_up_to(&self, text: &str, limit: u32) -> Option<u32> {
        match self.memory.find(text) {
            Some(interned) => {
                Some(interned.tokens(self.id, || self.counter.count(text))).filter(|&count| count <= limit)
            }
            None => self.counter.count_up_to(text, limit),
        }
    }

    fn count_incremental(&self, text: &str, incremental: &mut IncrementalCount) -> u32 {
        self.counter.count_incremental(text, incremental)
    }

    fn max_tokens_for_bytes(&self, bytes: usize) -> Option<u64> {
        self.counter.max_tokens_for_bytes(bytes)
    }

    fn is_additive_before(&self, next: &str) -> bool {
        self.counter.is_additive_before(next)
    }
}
