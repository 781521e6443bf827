//! The counters that can be asked for by name.

use std::cell::RefCell;
use std::rc::Rc;

use crate::error::{Error, Result};
use crate::json;
use crate::tokens::bpe::{CachingCounter, Encoding, Vocabulary};
use crate::tokens::counter::Counter;
#[cfg(feature = "growing")]
use crate::tokens::counter::Grown;
use crate::tokens::families::{self, Scaled};
use crate::tokens::heuristic;
#[cfg(feature = "growing")]
use crate::tokens::heuristic::Scale;
use crate::tokens::heuristic_words::Words;
#[cfg(feature = "tiktoken")]
use crate::tokens::tiktoken;

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

    #[cfg(feature = "growing")]
    fn count_grown(&self, text: &str, grown: &mut Grown) -> u32 {
        heuristic::count_grown(text, Scale::default(), &mut grown.paused)
    }

    #[cfg(feature = "growing")]
    fn forget(&self, text: &str, grown: &mut Grown) -> Option<usize> {
        Some(grown.paused.forget(text))
    }

    fn most(&self, bytes: usize) -> Option<u64> {
        Some((bytes as u64).saturating_mul(heuristic::MOST_PER_BYTE))
    }

    fn adds_up_before(&self, _: &str) -> bool {
        true
    }
}

/// The estimator with what words cost remembered from one call to the next. The counts are the same.
///
/// It takes 96 KB, and those only when there is something to remember.
#[derive(Debug)]
struct CachingHeuristic(Rc<RefCell<Words>>);

impl Default for CachingHeuristic {
    fn default() -> Self {
        Self(Rc::new(RefCell::new(Words::new())))
    }
}

impl Counter for CachingHeuristic {
    fn name(&self) -> &str {
        Heuristic.name()
    }

    fn count(&self, text: &str) -> u32 {
        heuristic::count_with(text, Some(&mut self.0.borrow_mut()))
    }

    fn count_up_to(&self, text: &str, limit: u32) -> Option<u32> {
        heuristic::count_up_to_with(text, limit, Some(&mut self.0.borrow_mut()))
    }

    #[cfg(feature = "growing")]
    fn count_grown(&self, text: &str, grown: &mut Grown) -> u32 {
        Heuristic.count_grown(text, grown)
    }

    #[cfg(feature = "growing")]
    fn forget(&self, text: &str, grown: &mut Grown) -> Option<usize> {
        Heuristic.forget(text, grown)
    }

    fn most(&self, bytes: usize) -> Option<u64> {
        Heuristic.most(bytes)
    }

    fn adds_up_before(&self, next: &str) -> bool {
        Heuristic.adds_up_before(next)
    }
}

/// The tokenizers that can be asked for by name: `heuristic` and its multiples for other families always, the exact ones once their
/// vocabulary is loaded.
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
    /// Loads the vocabulary of `o200k_base` or `cl100k_base` from the bytes of its asset; loading it again changes
    /// nothing.
    ///
    /// # Errors
    /// [`crate::Code::UnknownValue`] for another name, [`crate::Code::InvalidVocabulary`] for bytes that are not its asset.
    pub fn load(&mut self, name: &str, asset: &[u8]) -> Result<()> {
        let encoding = Encoding::from_name(name)
            .ok_or_else(|| unknown("the vocabulary", name, Encoding::ALL.iter().map(|encoding| encoding.name())))?;
        if self.loaded(name).is_some() {
            return Vocabulary::check(encoding, asset);
        }
        self.vocabularies.push(Rc::new(CachingCounter::new(Vocabulary::load(encoding, asset)?)));
        Ok(())
    }

    /// The counter with this name.
    ///
    /// # Errors
    /// [`crate::Code::UnknownValue`] for a name that is not known; [`crate::Code::VocabularyNotLoaded`] for an exact counter whose
    /// vocabulary is not there.
    pub fn get(&self, name: &str) -> Result<Rc<dyn Counter>> {
        if name == "heuristic" {
            return Ok(Rc::<CachingHeuristic>::clone(&self.heuristic));
        }
        if let Some(vocabulary) = self.loaded(name) {
            return Ok(Rc::<CachingCounter>::clone(vocabulary));
        }
        match Scaled::new(name, &self.heuristic.0) {
            Some(scaled) => Ok(Rc::new(scaled)),
            None => self.missing(name),
        }
    }

    /// The names of the exact ones that there can be.
    #[cfg(all(feature = "tokenize", not(feature = "tiktoken")))]
    pub(crate) fn exact_names() -> Vec<&'static str> {
        Encoding::ALL.iter().map(|encoding| encoding.name()).collect()
    }

    /// The names of the exact ones that there can be.
    #[cfg(all(feature = "tokenize", feature = "tiktoken"))]
    pub(crate) fn exact_names() -> Vec<&'static str> {
        tiktoken::Tiktoken::NAMES.to_vec()
    }

    fn loaded(&self, name: &str) -> Option<&Rc<CachingCounter>> {
        self.vocabularies.iter().find(|vocabulary| vocabulary.name() == name)
    }

    /// With tiktoken-rs inside nothing needs to be loaded.
    #[cfg(feature = "tiktoken")]
    fn missing(&self, name: &str) -> Result<Rc<dyn Counter>> {
        match tiktoken::Tiktoken::new(name) {
            Ok(counter) => Ok(Rc::new(counter)),
            Err(_) => {
                Err(unknown("`tokenizer`", name, families::names().chain(tiktoken::Tiktoken::NAMES.iter().copied())))
            }
        }
    }

    #[cfg(not(feature = "tiktoken"))]
    fn missing(&self, name: &str) -> Result<Rc<dyn Counter>> {
        if Encoding::from_name(name).is_none() {
            let names = families::names().chain(Encoding::ALL.iter().map(|encoding| encoding.name()));
            return Err(unknown("`tokenizer`", name, names));
        }
        let message = format!(
            "the vocabulary of `{name}` is not loaded; load it first with `load()` of `ctxweave/vocab/{name}` or with `loadVocabulary`, or use `heuristic`"
        );
        Err(Error::new(crate::Code::VocabularyNotLoaded, message).with("tokenizer", name))
    }
}

#[cold]
fn unknown<'n>(what: &str, name: &str, names: impl Iterator<Item = &'n str>) -> Error {
    json::unknown_value(what, name, &names.collect::<Vec<_>>())
}
