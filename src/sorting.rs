//! Sorting lists: one sort for all types.

use std::cmp::Ordering;

use crate::order::arrange;

/// Sorts a list. Elements that are equal stay in their order.
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
#[inline(never)]
fn sorted(count: usize, compare: &mut dyn FnMut(usize, usize) -> Ordering) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by(|&one, &other| compare(one, other));
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lists of many lengths, with and without order and with many equal elements, beside the sort of std.
    #[test]
    fn sorts_as_std_does() {
        let mut next = crate::order::random_numbers();
        for length in (0..40).chain([255, 256, 257, 511, 512, 513, 700, 5000]) {
            for kinds in [1, 3, 50, 10_000] {
                let random: Vec<(usize, usize)> = (0..length).map(|at| (next(kinds), at)).collect();
                let rising = (0..length).map(|at| (at * kinds / 50, at)).collect();
                let falling = (0..length).map(|at| ((length - at) * kinds / 50, at)).collect();
                for list in [random, rising, falling] {
                    let (mut ours, mut theirs) = (list.clone(), list);
                    sort_by_key(&mut ours, |&(key, _)| key);
                    theirs.sort_by_key(|&(key, _)| key);
                    assert_eq!(ours, theirs, "{length} elements of {kinds} kinds");
                    sort_by(&mut ours, |one, other| other.cmp(one));
                    theirs.sort_by(|one, other| other.cmp(one));
                    assert_eq!(ours, theirs, "{length} elements of {kinds} kinds, backwards");
                }
            }
        }
    }
}
