//! Finding how much of a text fits.

/// The largest `keep` from `min` to `max` whose cost is at most `budget`, where cost grows with `keep`; nothing where
/// not even `min` fits.
///
/// `cost` may be slow, since it counts text: the search guesses from the costs it has seen and so asks it a handful of
/// times only. Where cost does not quite grow, the answer still fits, and the next larger one that was looked at does not.
pub(crate) fn largest(min: usize, max: usize, budget: u64, cost: impl Fn(usize) -> u64) -> Option<usize> {
    let (mut low, mut low_cost) = (min, cost(min));
    if low_cost > budget || min > max {
        return None;
    }
    let (mut high, mut high_cost) = (max, cost(max));
    if high_cost <= budget {
        return Some(max);
    }
    let mut bisect = false;
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        let guess =
            if bisect { middle } else { low + interpolate(high - low, budget - low_cost, high_cost - low_cost) };
        let at = guess.clamp(low + 1, high - 1);
        let found = cost(at);
        if found <= budget {
            (low, low_cost) = (at, found);
        } else {
            (high, high_cost) = (at, found);
        }
        // A guess that lands next to an end closes in from one side only; halving in between bounds the search.
        bisect = !bisect;
    }
    Some(low)
}

/// `width · part / whole`, without overflow.
fn interpolate(width: usize, part: u64, whole: u64) -> usize {
    let scaled = width as u128 * u128::from(part) / u128::from(whole.max(1));
    usize::try_from(scaled).unwrap_or(width)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn finds_the_edge_with_few_looks() {
        for budget in [0, 1, 7, 500, 99_999, 1_000_000] {
            let looks = Cell::new(0);
            let found = largest(0, 1_000_000, budget, |keep| {
                looks.set(looks.get() + 1);
                (keep as u64).div_ceil(4)
            });
            assert_eq!(found, Some(usize::try_from(budget * 4).unwrap().min(1_000_000)));
            assert!(looks.get() < 30, "{} looks", looks.get());
        }
    }

    #[test]
    fn says_when_nothing_fits() {
        assert_eq!(largest(1, 10, 0, |keep| keep as u64), None);
        assert_eq!(largest(3, 2, 9, |keep| keep as u64), None);
        assert_eq!(largest(0, 0, 0, |_| 0), Some(0));
    }
}
