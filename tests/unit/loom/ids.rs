//! Unit tests of private items in `src/loom/ids.rs`.

use super::*;
use std::collections::BTreeMap;

/// Adds, finds and removes in a random order, compared with a map. All ids of a group have one quick hash.
#[test]
fn does_as_a_map_does() {
    let colliding = colliding(50);
    for id in &colliding {
        assert_eq!(quick_hash(id), quick_hash(&colliding[0]), "the ids are to collide");
    }
    let id = |at: usize| colliding.get(at).cloned().unwrap_or_else(|| format!("node-{at}"));
    let mut next = crate::sorted_index::random_numbers();
    let mut places: Vec<String> = Vec::new();
    let (mut ids, mut map) = (Ids::default(), BTreeMap::new());
    for _ in 0..30_000 {
        let id = id(next(600));
        let known = map.get(&id).copied();
        assert_eq!(ids.find(&id, |place| places[place as usize] == id), known, "{id}");
        if next(3) > 0 {
            let place = u32::try_from(places.len()).unwrap();
            assert_eq!(ids.add(&id, place, |place| places[place as usize] == id), known.is_none());
            if known.is_none() {
                map.insert(id.clone(), place);
                places.push(id);
            }
        } else if let Some(place) = map.remove(&id) {
            ids.remove(&id, place);
        }
    }
    assert!(!ids.rest.is_empty(), "some had no room");
}

/// So many ids with one quick hash: the second word of each undoes what the first one did.
fn colliding(count: usize) -> Vec<String> {
    const MIX: u64 = 0x9E37_79B9_7F4A_7C15;
    let both = (0_u64..).map(|number| {
        let first = u64::from_le_bytes(*format!("{number:08}").as_bytes().first_chunk().unwrap());
        let second = first.wrapping_mul(MIX).rotate_left(23) ^ 0x2020_2020_2020_2020;
        [first.to_le_bytes(), second.to_le_bytes()].concat()
    });
    both.filter_map(|bytes| String::from_utf8(bytes).ok()).take(count).collect()
}

/// However many ids have one quick hash, a bucket does not grow.
#[test]
fn no_choice_of_ids_fills_a_bucket_without_end() {
    let mut ids = Ids::default();
    for place in 0..1000 {
        // Places differ by their number: the ids have the same hash.
        ids.add("one id", place, |_| false);
    }
    assert_eq!(ids.count, BUCKET_CAPACITY);
    assert_eq!(ids.rest.len(), 1000 - BUCKET_CAPACITY);
}
