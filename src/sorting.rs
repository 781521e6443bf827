//! Sorting lists: one merge sort for all types. The sort of std adds 4 KB of code for more features.

use std::cmp::Ordering;

use crate::sorted_index::arrange;

/// Sorts a list. The sort is stable.
pub(crate) fn sort_by<T>(list: &mut [T], mut compare: impl FnMut(&T, &T) -> Ordering) {
    let order = sorted(list.len(), &mut |one, other| match (list.get(one), list.get(other)) {
        (Some(one), Some(other)) => compare(one, other),
        _ => Ordering::Equal,
    });
    arrange(order, &mut |one, other| list.swap(one, other));
}

/// Sorts a list in ascending order.
pub(crate) fn sort<T: Ord>(list: &mut [T]) {
    sort_by(list, T::cmp);
}

/// Sorts a list by a key of each element.
pub(crate) fn sort_by_key<T, K: Ord>(list: &mut [T], key: impl Fn(&T) -> K) {
    sort_by(list, |one, other| key(one).cmp(&key(other)));
}

/// The indices below `count`, sorted by `compare`.
fn sorted(count: usize, compare: &mut dyn FnMut(usize, usize) -> Ordering) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    let mut merged = Vec::with_capacity(count);
    let mut width = 1;
    while width < count {
        for pair in order.chunks(width.saturating_mul(2)) {
            let (mut left, mut right) = pair.split_at_checked(width).unwrap_or((pair, &[]));
            // Runs that are already in order need only this comparison.
            let mut is_open = matches!((left, right), ([.., last], [first, ..]) if compare(*first, *last).is_lt());
            while is_open
                && let (Some((&one, ones)), Some((&other, others))) = (left.split_first(), right.split_first())
            {
                let takes_other = compare(other, one).is_lt();
                merged.push(if takes_other { other } else { one });
                (left, right) = if takes_other { (left, others) } else { (ones, right) };
                is_open = !left.is_empty();
            }
            merged.extend_from_slice(left);
            merged.extend_from_slice(right);
        }
        std::mem::swap(&mut order, &mut merged);
        merged.clear();
        width = width.saturating_mul(2);
    }
    order
}

#[cfg(test)]
#[path = "../tests/unit/sorting.rs"]
mod tests;
