//! Unit tests of private items in `src/sorting.rs`.

use super::*;

/// Lists of many lengths, with and without order and with many equal elements, compared with the sort of std.
#[test]
fn sorts_as_std_does() {
    let mut next = crate::sorted_index::random_numbers();
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
