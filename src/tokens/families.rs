//! Estimates for models whose tokenizer is not public: the heuristic count times a factor, by kind of text.
//!
//! docs/estimator.md has the origin of the factors and their limits. Use the results as budgets, never as exact counts.

use std::cell::RefCell;
use std::fmt;
use std::rc::Rc;

use super::cl100k;
use super::counter::IncrementalCount;
use super::heuristic::{self, Scale};
use super::heuristic_cache::EstimatorCache;
use crate::text::{split_once, whole_number};
use crate::tokens::Counter;

/// A family's name; the percentages of Latin letters, of digits, signs and white space, and of all other characters;
/// and the maximum error of the counts in percent.
type Family = (&'static str, [u16; 3], u32);

/// As of November 2026.
const FAMILIES: &[Family] =
    &[("claude", [155, 140, 130], 35), ("claude-3", [103, 140, 130], 30), ("gemini", [105, 110, 100], 30)];

/// The name of the estimate for models that use `cl100k_base`, and its maximum error in percent.
pub(crate) const CL100K: &str = "gpt-4";
const CL100K_ERROR: u32 = 30;

/// The prefix of a calibrated tokenizer's name. Its three percentages and its error follow.
pub(super) const CALIBRATED: &str = "calibrated:";

/// The largest factor, in percent.
pub(super) const MAX_FACTOR_PERCENT: u16 = 400;

/// The names that need no vocabulary.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    ["heuristic"].into_iter().chain(FAMILIES.iter().map(|(name, ..)| *name)).chain([CL100K])
}

/// The heuristic count times factors.
pub(super) struct Scaled {
    name: String,
    scale: Scale,
    error: u32,
    cache: Rc<RefCell<EstimatorCache>>,
}

impl fmt::Debug for Scaled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

impl Scaled {
    /// The estimate with this name, which shares the caches; `None` if unknown.
    pub(super) fn new(name: &str, cache: &Rc<RefCell<EstimatorCache>>) -> Option<Self> {
        let cache = Rc::clone(cache);
        if name == CL100K {
            let scale = Scale::by_class(&cl100k::FACTORS);
            return Some(Self { name: name.to_owned(), scale, error: CL100K_ERROR, cache });
        }
        let (factors, error) = match FAMILIES.iter().find(|family| family.0 == name) {
            Some(&(_, factors, error)) => (factors, error),
            None => calibrated(name.strip_prefix(CALIBRATED)?)?,
        };
        Some(Self { name: name.to_owned(), scale: Scale::percent(factors), error, cache })
    }
}

/// Percentages and error as `112,130,100,6`.
fn calibrated(numbers: &str) -> Option<([u16; 3], u32)> {
    let mut rest = Some(numbers);
    let mut next = || {
        let (number, after) = split_once(rest?, ",").map_or((rest?, None), |(number, after)| (number, Some(after)));
        rest = after;
        u16::try_from(whole_number(number)?).ok().filter(|&number| number <= MAX_FACTOR_PERCENT)
    };
    let found = ([next()?, next()?, next()?], next()?.into());
    rest.is_none().then_some(found)
}

impl Counter for Scaled {
    fn name(&self) -> &str {
        &self.name
    }

    fn error_percent(&self) -> Option<u32> {
        Some(self.error)
    }

    fn count(&self, text: &str) -> u32 {
        self.cache.borrow_mut().count(text, self.scale)
    }

    fn count_up_to(&self, text: &str, limit: u32) -> Option<u32> {
        self.cache.borrow_mut().count_up_to(text, limit, self.scale)
    }

    fn count_incremental(&self, text: &str, incremental: &mut IncrementalCount) -> u32 {
        heuristic::count_incremental(text, self.scale, &mut incremental.paused)
    }

    fn invalidate(&self, text: &str, incremental: &mut IncrementalCount) -> Option<usize> {
        Some(incremental.paused.invalidate(text))
    }

    fn max_tokens_for_bytes(&self, bytes: usize) -> Option<u64> {
        let percent = cl100k::MAX_FACTOR_PERCENT.max(MAX_FACTOR_PERCENT.into());
        Some((bytes as u64).saturating_mul(heuristic::MAX_TOKENS_PER_BYTE * percent / 100 + 1))
    }

    fn is_additive_before(&self, _: &str) -> bool {
        true
    }
}
