//! Factors for a tokenizer that is not public, fitted to counts of the provider.

use super::families::{CALIBRATED, MAX_FACTOR_PERCENT};
use super::heuristic::{self, Scale};
use crate::error::Result;
use crate::json::Value;

/// A text and the provider's count.
pub(super) struct Sample {
    /// The estimates of its three kinds of characters, and the provider's count.
    shares: [f64; 3],
    tokens: f64,
}

/// A fitted tokenizer.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Calibration {
    /// The value for `tokenizer`.
    pub(super) tokenizer: String,
    /// Maximum error of its counts in percent: the largest error on the samples, and at least [`MIN_ERROR_PERCENT`].
    pub(super) error: u32,
    /// The number of samples it was fitted to.
    pub(super) samples: usize,
}

/// A few samples do not represent all texts.
const MIN_ERROR_PERCENT: f64 = 5.0;

/// Weight that pulls the three factors together, as if this many samples of each kind reported equal factors.
const TOGETHER: f64 = 0.05;

/// Reads the samples: a list of `{ text, tokens }` with at least one item, each of at least one token.
///
/// # Errors
/// [`crate::Code::InvalidInput`] with the path of an invalid sample.
pub(super) fn samples(list: Value<'_>) -> Result<Vec<Sample>> {
    let mut samples = Vec::new();
    for sample in list.list("a list of samples")? {
        let sample = sample.object("a sample, an object with `text` and `tokens`")?.only(&["text", "tokens"])?;
        let text = sample.text("text")?;
        let counted = sample.need("tokens")?;
        let tokens = counted.whole(u32::MAX)?;
        if tokens == 0 || text.is_empty() {
            return Err(counted.invalid(|place| format!("{place} must be 1 or more, and the text must not be empty")));
        }
        let count = |factors| f64::from(heuristic::count_scaled(&text, Scale::percent(factors), None));
        let whole = count([100, 100, 100]);
        // The increase when one kind counts twice.
        let shares = [count([200, 100, 100]), count([100, 200, 100]), count([100, 100, 200])].map(|more| more - whole);
        samples.push(Sample { shares, tokens: tokens.into() });
    }
    if samples.is_empty() {
        return Err(list.invalid(|place| format!("{place} is empty; pass at least one sample")));
    }
    Ok(samples)
}

/// The factors that minimize the squares of the relative errors, pulled towards the best single factor.
pub(super) fn fit(samples: &[Sample]) -> Calibration {
    let sum = |of: fn(&Sample) -> f64| samples.iter().map(of).sum::<f64>();
    let ratio = sum(|sample| sample.tokens) / sum(|sample| sample.shares.iter().sum::<f64>()).max(1.0);
    let mut factors = [ratio; 3];
    // Coordinate descent, which converges because the squares and the bounds are convex.
    for _ in 0..200 {
        for kind in 0..3 {
            let (mut above, mut below) = (TOGETHER * ratio, TOGETHER);
            for sample in samples {
                let share = |kind: usize| sample.shares.get(kind).copied().unwrap_or_default() / sample.tokens;
                let others: f64 = factors
                    .iter()
                    .enumerate()
                    .filter(|&(at, _)| at != kind)
                    .map(|(at, factor)| factor * share(at))
                    .sum();
                above += share(kind) * (1.0 - others);
                below += share(kind) * share(kind);
            }
            if let Some(factor) = factors.get_mut(kind) {
                *factor = (above / below).clamp(0.1, f64::from(MAX_FACTOR_PERCENT) / 100.0);
            }
        }
    }
    let percent = factors.map(|factor| (factor * 100.0).round());
    let error = |sample: &Sample| {
        let counted: f64 = sample.shares.iter().zip(percent).map(|(share, percent)| share * percent / 100.0).sum();
        ((counted - sample.tokens) / counted.max(1.0)).abs() * 100.0
    };
    let error = samples.iter().map(error).fold(MIN_ERROR_PERCENT, f64::max).ceil().min(f64::from(MAX_FACTOR_PERCENT));
    // Formatting numbers with a fraction takes many kilobytes of code.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 5 to 400")]
    let whole = |number: f64| number as u32;
    let ([latin, signs, others], error) = (percent.map(whole), whole(error));
    let tokenizer = format!("{CALIBRATED}{latin},{signs},{others},{error}");
    Calibration { tokenizer, error, samples: samples.len() }
}
