//! Unit tests of private items in `src/loom/ordered_slots.rs`.

use super::*;

/// Adds and removes places in a random order, compared with a plain list.
#[test]
fn does_as_a_list_does() {
    let mut next = crate::sorted_index::random_numbers();
    let mut sequence = OrderedSlots::of(20);
    let mut list: Vec<u32> = (0..20).collect();
    for round in 0..20_000 {
        let free: Vec<u32> = (0..40).filter(|place| !list.contains(place)).collect();
        if next(2) == 0 && !free.is_empty() {
            let place = free[next(free.len())];
            // Mostly at one spot, so that there is soon no rank left between neighbours.
            let at = if next(4) > 0 { list.len() / 2 } else { next(list.len() + 1) };
            sequence.put(place, list.get(at).copied());
            list.insert(at, place);
        } else if !list.is_empty() {
            // Those at one end, too.
            let at = if next(4) == 0 { list.len() - 1 } else { next(list.len()) };
            sequence.take(list.remove(at));
        }
        assert_eq!(sequence.iter().collect::<Vec<_>>(), list, "round {round}");
        let ranks: Vec<u64> = list.iter().map(|&place| sequence.rank(place)).collect();
        assert!(ranks.is_sorted_by(|one, other| one < other), "round {round}: {ranks:?}");
    }
}

/// What only grows at its end, and shrinks there, takes no room.
#[test]
fn places_in_their_order_take_no_room() {
    let mut sequence = OrderedSlots::of(3);
    sequence.put(3, None);
    sequence.take(3);
    sequence.put(3, None);
    assert_eq!(sequence.iter().collect::<Vec<_>>(), [0, 1, 2, 3]);
    assert!(sequence.links.is_none());
    sequence.take(1);
    assert_eq!(sequence.iter().collect::<Vec<_>>(), [0, 2, 3]);
}
