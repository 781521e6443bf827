//! Searches for the longest part that fits.

/// The largest `keep` from `min` to `max` whose cost is at most `budget`, if `min` fits; cost increases with `keep`.
///
/// `cost` counts text, so the search evaluates few places, and none much larger than the result: from `guess` in steps
/// until the result is bracketed, then by interpolation. If cost is not quite monotonic, the result still fits, and the
/// next larger place that was evaluated does not.
pub(crate) fn largest(min: usize, max: usize, guess: usize, budget: u64, cost: impl Fn(usize) -> u64) -> Option<usize> {
    largest_by(FIRST_STEP, min, max, guess, budget, &cost)
}

/// [`largest`] with another first step.
pub(crate) fn largest_by(
    mut step: usize,
    min: usize,
    max: usize,
    guess: usize,
    budget: u64,
    cost: &dyn Fn(usize) -> u64,
) -> Option<usize> {
    let mut low = (min, cost(min));
    if low.1 > budget || min > max {
        return None;
    }
    let guess = guess.clamp(min, max);
    let first = (guess, if guess == min { low.1 } else { cost(guess) });
    let mut high = first;
    if first.1 <= budget {
        while high.1 <= budget {
            low = high;
            if low.0 == max {
                return Some(max);
            }
            let at = low.0.saturating_add(step).min(max);
            high = (at, cost(at));
            step = step.saturating_mul(4);
        }
    } else {
        while high.0.saturating_sub(step) > low.0 {
            let at = high.0 - step;
            let found = (at, cost(at));
            if found.1 <= budget {
                low = found;
                break;
            }
            high = found;
            step = step.saturating_mul(4);
        }
    }
    let mut bisect = false;
    while high.0 - low.0 > 1 {
        let width = high.0 - low.0;
        let at = if bisect { width / 2 } else { interpolate(width, budget - low.1, high.1.saturating_sub(low.1)) };
        let at = low.0 + at.clamp(1, width - 1);
        let found = (at, cost(at));
        if found.1 <= budget {
            low = found;
        } else {
            high = found;
        }
        // A guess next to an end closes in from one side only; bisection in between bounds the search.
        bisect = !bisect;
    }
    Some(low.0)
}

/// The first step away from the guess.
pub(crate) const FIRST_STEP: usize = 256;

/// About `width · part / whole`; less if an intermediate result overflows.
fn interpolate(width: usize, part: u64, whole: u64) -> usize {
    let scaled = (width as u64).saturating_mul(part) / whole.max(1);
    usize::try_from(scaled).unwrap_or(width)
}

#[cfg(test)]
#[path = "../../tests/unit/tokens/search.rs"]
mod tests;
