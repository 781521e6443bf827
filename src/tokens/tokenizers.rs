//! The registry of counters by name.

#[cfg_attr(feature = "tiktoken", path = "exact_tiktoken.rs")]
#[cfg_attr(not(feature = "tiktoken"), path = "exact_loaded.rs")]
mod exact;

use std::cell::RefCell;
use std::rc::Rc;

use crate::error::{Error, Result};
use crate::json;
use crate::text::utf16_len;
use crate::tokens::bpe::{CachingCounter, Encoding, Vocabulary};
use crate::tokens::counter::Counter;
use crate::tokens::counter::IncrementalCount;
use crate::tokens::families::{self, Scaled};
use crate::tokens::heuristic;
use crate::tokens::heuristic::Scale;
use crate::tokens::heuristic_cache::EstimatorCache;

/// Estimates tokens without a vocabulary; see [`heuristic`](crate::tokens::heuristic).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Heuristic;

impl Counter for Heuristic {
    fn name(&self) -> &str {
        "heuristic"
    }

    fn count(&self, text: &str) -> u32 {
        heuristic::count(text)
    }

    fn count_up_to(&self, text: &str, limit: u32) -> Option<u32> {
        heuristic::count_up_to(text, limit)
    }

    fn count_incremental(&self, text: &str, incremental: &mut IncrementalCount) -> u32 {
        heuristic::count_incremental(text, Scale::default(), &mut incremental.paused)
    }

    fn invalidate(&self, text: &str, incremental: &mut IncrementalCount) -> Option<usize> {
        Some(incremental.paused.invalidate(text))
    }

    fn max_tokens_for_bytes(&self, bytes: usize) -> Option<u64> {
        Some((bytes as u64).saturating_mul(heuristic::MAX_TOKENS_PER_BYTE))
    }

    fn is_additive_before(&self, _: &str) -> bool {
        true
    }
}

/// Counts one token per four characters, as many programs do; for comparison with them. The counts are wrong for most texts
/// other than English prose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Characters;

impl Characters {
    pub(crate) const NAME: &'static str = "characters";
    const PER_TOKEN: usize = 4;
}

impl Counter for Characters {
    fn name(&self) -> &str {
        Self::NAME
    }

    fn count(&self, text: &str) -> u32 {
        u32::try_from(utf16_len(text).div_ceil(Self::PER_TOKEN)).unwrap_or(u32::MAX)
    }

    fn max_tokens_for_bytes(&self, bytes: usize) -> Option<u64> {
        Some(bytes.div_ceil(Self::PER_TOKEN) as u64)
    }
}

/// The estimator with caches. The counts are the same.
///
/// They take 96 KB for words and up to 1.1 MB for texts that come back, allocated only when there is something to cache.
#[derive(Debug)]
struct CachingHeuristic(Rc<RefCell<EstimatorCache>>);

impl Default for CachingHeuristic {
    fn default() -> Self {
        Self(Rc::new(RefCell::new(EstimatorCache::new())))
    }
}

impl Counter for CachingHeuristic {
    fn name(&self) -> &str {
        Heuristic.name()
    }

    fn count(&self, text: &str) -> u32 {
        self.0.borrow_mut().count(text, Scale::default())
    }

    fn count_up_to(&self, text: &str, limit: u32) -> Option<u32> {
        self.0.borrow_mut().count_up_to(text, limit, Scale::default())
    }

    fn count_incremental(&self, text: &str, incremental: &mut IncrementalCount) -> u32 {
        Heuristic.count_incremental(text, incremental)
    }

    fn invalidate(&self, text: &str, incremental: &mut IncrementalCount) -> Option<usize> {
        Heuristic.invalidate(text, incremental)
    }

    fn max_tokens_for_bytes(&self, bytes: usize) -> Option<u64> {
        Heuristic.max_tokens_for_bytes(bytes)
    }

    fn is_additive_before(&self, next: &str) -> bool {
        Heuristic.is_additive_before(next)
    }
}

/// The registry of tokenizers by name: `heuristic` and its multiples for other families always, the exact ones once
/// their vocabulary is loaded.
///
/// ```
/// let tokenizers = ctxweave::tokens::Tokenizers::default();
/// assert_eq!(tokenizers.get("heuristic")?.name(), "heuristic");
/// assert_eq!(tokenizers.get("o200k_base").unwrap_err().code(), ctxweave::Code::VocabularyNotLoaded);
/// # Ok::<(), ctxweave::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Tokenizers {
    heuristic: Rc<CachingHeuristic>,
    vocabularies: Vec<Rc<CachingCounter>>,
}

impl Tokenizers {
    /// Loads a vocabulary from the bytes of its asset, under the name of its [`Encoding`] or, if it was made of a
    /// `tokenizer.json`, under any other; loading it again is a no-op.
    ///
    /// # Errors
    /// [`crate::Code::InvalidVocabulary`] for bytes that are not its asset, and if another one is loaded under this
    /// name; [`crate::Code::UnknownValue`] for `heuristic`.
    pub fn load(&mut self, name: &str, asset: &[u8]) -> Result<()> {
        let encoding = Encoding::from_name(name);
        if encoding.is_none() && ["heuristic", Characters::NAME].contains(&name) {
            return Err(unknown("the vocabulary", name, Encoding::ALL.iter().map(|encoding| encoding.name())));
        }
        if let Some(loaded) = self.loaded(name) {
            return loaded.vocabulary().check(asset);
        }
        let shared = encoding.and_then(|encoding| {
            self.vocabularies.iter().find_map(|known| known.vocabulary().shared_by(encoding, asset))
        });
        let vocabulary = match shared {
            Some(vocabulary) => vocabulary,
            None => Vocabulary::load(name, asset)?,
        };
        self.vocabularies.push(Rc::new(CachingCounter::new(vocabulary)));
        Ok(())
    }

    /// The counter with this name.
    ///
    /// # Errors
    /// [`crate::Code::UnknownValue`] for an unknown name; [`crate::Code::VocabularyNotLoaded`] for an exact counter
    /// whose vocabulary is not loaded.
    pub fn get(&self, name: &str) -> Result<Rc<dyn Counter>> {
        if name == "heuristic" {
            return Ok(Rc::<CachingHeuristic>::clone(&self.heuristic));
        }
        if name == Characters::NAME {
            return Ok(Rc::new(Characters));
        }
        if let Some(vocabulary) = self.loaded(name) {
            return Ok(Rc::<CachingCounter>::clone(vocabulary));
        }
        match Scaled::new(name, &self.heuristic.0) {
            Some(scaled) => Ok(Rc::new(scaled)),
            None => exact::built_in(name)?.ok_or_else(|| self.unknown_name(name)),
        }
    }

    /// The names of the exact ones: the encodings, and the loaded vocabularies of the caller.
    pub(crate) fn exact_names(&self) -> Vec<String> {
        let own = self.vocabularies.iter().map(|vocabulary| vocabulary.name());
        let own = own.filter(|name| Encoding::from_name(name).is_none()).map(str::to_owned);
        exact::names().map(str::to_owned).chain(own).collect()
    }

    /// The error for an unknown name.
    fn unknown_name(&self, name: &str) -> Error {
        let names = self.exact_names();
        let exact = names.iter().map(String::as_str);
        let mut all: Vec<&str> = families::names().chain([Characters::NAME]).collect();
        all.extend(exact);
        unknown("`tokenizer`", name, all.into_iter())
    }

    fn loaded(&self, name: &str) -> Option<&Rc<CachingCounter>> {
        self.vocabularies.iter().find(|vocabulary| vocabulary.name() == name)
    }
}

fn unknown<'n>(what: &str, name: &str, names: impl Iterator<Item = &'n str>) -> Error {
    json::unknown_value(what, name, &names.collect::<Vec<_>>())
}
