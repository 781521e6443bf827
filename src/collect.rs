//! Ordered collections, built one element at a time.
//!
//! `collect()` into a B-tree sorts first, and brings a merge sort of its own into the wasm for each type of element: 7 KB
//! apiece, for collections that hold a handful.

use std::collections::{BTreeMap, BTreeSet};

/// The set of these elements.
pub(crate) fn set<T: Ord>(elements: impl IntoIterator<Item = T>) -> BTreeSet<T> {
    let mut set = BTreeSet::new();
    for element in elements {
        set.insert(element);
    }
    set
}

/// The map of these pairs; the last of several with one key stays.
pub(crate) fn map<K: Ord, V>(pairs: impl IntoIterator<Item = (K, V)>) -> BTreeMap<K, V> {
    let mut map = BTreeMap::new();
    for (key, value) in pairs {
        map.insert(key, value);
    }
    map
}
