//! Ordered collections, built one element at a time.
//!
//! `collect()` into a B-tree sorts first, and brings a merge sort of its own into the wasm for each type of element: 7 KB
//! apiece, for collections that hold a handful.

use std::collections::BTreeSet;

/// The set of these elements.
pub(crate) fn set<T: Ord>(elements: impl IntoIterator<Item = T>) -> BTreeSet<T> {
    let mut set = BTreeSet::new();
    for element in elements {
        set.insert(element);
    }
    set
}
