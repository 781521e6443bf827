//! Ordered maps and sets, compared with those of std.

use std::collections::BTreeMap;

use crate::maps::{SortedMap, SortedSet};

/// Adds, finds and removes like the map of std: few and many keys, sorted or not.
#[test]
fn does_as_the_map_of_std_does() {
    let mut seed = 1_u32;
    let mut next = |below: usize| {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (seed >> 8) as usize % below
    };
    for (keys, rounds, removed) in
        [(5, 200, 3), (300, 5000, 2), (5000, 40_000, 4), (5000, 40_000, 2), (100_000, 3000, 9)]
    {
        let (mut ours, mut theirs) = (SortedMap::new(), BTreeMap::new());
        for round in 0..rounds {
            let key = format!("{:05}", if next(4) == 0 { round % keys } else { next(keys) });
            assert_eq!(ours.get(key.as_str()), theirs.get(&key), "{key}");
            match next(removed) {
                0 => assert_eq!(ours.remove(key.as_str()), theirs.remove(&key), "{key}"),
                1 => {
                    let (mine, std) = (ours.or_default(key.clone()), theirs.entry(key).or_default());
                    (*mine, *std) = (*mine + 1, *std + 1);
                }
                _ => assert_eq!(ours.insert(key.clone(), round), theirs.insert(key, round)),
            }
            if round % 500 == 0 {
                let key = format!("{:05}", next(keys));
                assert!(ours.at_least(&key).eq(theirs.range(key.clone()..)), "from {key}");
                assert_eq!(ours.before(&key), theirs.range(..key.clone()).next_back(), "before {key}");
            }
        }
        assert_eq!(ours.len(), theirs.len());
        assert!(ours.iter().eq(theirs.iter()) && ours.keys().eq(theirs.keys()) && ours.values().eq(theirs.values()));
        assert_eq!(format!("{ours:?}"), format!("{theirs:?}"));
        assert_eq!(ours, ours.clone().into_iter().rev().collect(), "the order of adding does not matter");
        assert!(ours.into_iter().eq(theirs));
    }
}

#[test]
fn a_set_that_is_emptied_is_as_good_as_new() {
    let mut set: SortedSet<u64> = (0..2000).map(|number| number * 7919 % 2000).collect();
    assert!(set.iter().copied().eq(0..2000));
    assert!(set.at_least(&1500).copied().eq(1500..2000));
    for number in (0..2000).rev() {
        assert!(set.remove(&number) && !set.remove(&number));
    }
    assert!(set.is_empty() && set.iter().next().is_none() && set == SortedSet::new());
    assert!(set.insert(3) && !set.insert(3));
}
