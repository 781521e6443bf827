//! Ordered maps and sets with little code in the module: their order is a `SortedIndex`, one for all types.
//!
//! They cover the part of `BTreeMap` and `BTreeSet` that this crate uses.

use std::borrow::Borrow;
use std::cmp::Ordering;
use std::fmt;

use crate::sorted_index::{IndexPosition, SortedIndex};

/// How a key is looked up: by a reference to it, or to its borrowed form.
pub trait Find<K>: Copy {
    /// How a known key compares with the sought one.
    fn compare(self, known: &K) -> Ordering;
}

impl<K: Borrow<Q>, Q: Ord + ?Sized> Find<K> for &Q {
    fn compare(self, known: &K) -> Ordering {
        known.borrow().cmp(self)
    }
}

/// A set, in order.
#[derive(Clone)]
pub struct SortedSet<K> {
    /// The keys, unordered.
    keys: Vec<K>,
    order: SortedIndex,
}

/// A map, in the order of its keys.
#[derive(Clone)]
pub struct SortedMap<K, V> {
    keys: SortedSet<K>,
    /// The value of each key, in the order of `keys.keys`.
    values: Vec<V>,
}

impl<K> SortedSet<K> {
    /// An empty set.
    pub const fn new() -> Self {
        Self { keys: Vec::new(), order: SortedIndex::new() }
    }

    /// The number of keys.
    pub const fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether the set is empty.
    pub const fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// All keys, in order.
    pub fn iter(&self) -> impl Iterator<Item = &K> {
        self.order.iter().filter_map(|number| self.keys.get(number))
    }
}

impl<K: Ord> SortedSet<K> {
    /// Whether the set has this key.
    pub fn contains(&self, key: impl Find<K>) -> bool {
        self.place(key).found.is_some()
    }

    /// Adds a key; false if it was already present.
    pub fn insert(&mut self, key: K) -> bool {
        self.add(key).is_ok()
    }

    /// Removes a key; false if it was missing.
    pub fn remove(&mut self, key: impl Find<K>) -> bool {
        self.take(key).is_some()
    }

    /// The keys that are not less than this one, in order.
    pub fn at_least(&self, key: impl Find<K>) -> impl Iterator<Item = &K> {
        self.order.from(self.place(key)).filter_map(|number| self.keys.get(number))
    }

    /// The greatest key that is less than this one.
    pub fn before(&self, key: impl Find<K>) -> Option<&K> {
        self.keys.get(self.order.before(self.place(key))?)
    }

    fn place(&self, key: impl Find<K>) -> IndexPosition {
        // The order holds only numbers of existing keys.
        self.order.find(&mut |number| self.keys.get(number).map_or(Ordering::Less, |known| key.compare(known)))
    }

    /// Adds a key. Returns its number, or the number of the equal key that is present.
    fn add(&mut self, key: K) -> Result<usize, usize> {
        let place = self.place(&key);
        if let Some(number) = place.found {
            return Err(number);
        }
        let number = self.keys.len();
        self.order.insert(place, number);
        self.keys.push(key);
        Ok(number)
    }

    /// Removes a key. The last key takes over its number.
    fn take(&mut self, key: impl Find<K>) -> Option<usize> {
        let place = self.place(key);
        let number = place.found?;
        let last = self.place(self.keys.last()?);
        self.order.replace(last, number);
        self.order.remove(place);
        self.keys.swap_remove(number);
        Some(number)
    }
}

impl<K, V> SortedMap<K, V> {
    /// An empty map.
    pub const fn new() -> Self {
        Self { keys: SortedSet::new(), values: Vec::new() }
    }

    /// The number of keys.
    pub const fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether the map is empty.
    pub const fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// All keys, in order, with their values.
    pub fn iter(&self) -> impl Iterator<Item = (&K, &V)> {
        self.keys.order.iter().filter_map(|number| self.at(number))
    }

    /// All keys, in order.
    pub fn keys(&self) -> impl Iterator<Item = &K> {
        self.keys.iter()
    }

    /// All values, in the order of their keys.
    pub fn values(&self) -> impl Iterator<Item = &V> {
        self.keys.order.iter().filter_map(|number| self.values.get(number))
    }

    /// All values, unordered.
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut V> {
        self.values.iter_mut()
    }

    fn at(&self, number: usize) -> Option<(&K, &V)> {
        Some((self.keys.keys.get(number)?, self.values.get(number)?))
    }
}

impl<K: Ord, V> SortedMap<K, V> {
    /// The value of a key.
    pub fn get(&self, key: impl Find<K>) -> Option<&V> {
        self.values.get(self.keys.place(key).found?)
    }

    /// The value of a key, mutably.
    pub fn get_mut(&mut self, key: impl Find<K>) -> Option<&mut V> {
        self.values.get_mut(self.keys.place(key).found?)
    }

    /// Whether the map has this key.
    pub fn contains_key(&self, key: impl Find<K>) -> bool {
        self.keys.contains(key)
    }

    /// Sets the value of a key; returns the previous value.
    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
        match self.keys.add(key) {
            Ok(_) => {
                self.values.push(value);
                None
            }
            Err(number) => self.values.get_mut(number).map(|known| std::mem::replace(known, value)),
        }
    }

    /// The value of a key, mutably; it is created if the key is absent.
    pub fn or_insert_with(&mut self, key: K, value: impl FnOnce() -> V) -> &mut V {
        let number = self.keys.add(key).inspect(|_| self.values.push(value()));
        #[expect(clippy::indexing_slicing, reason = "each key has a value")]
        &mut self.values[number.unwrap_or_else(|number| number)]
    }

    /// The value of a key, mutably; this one is added if the key is absent.
    pub fn or_insert(&mut self, key: K, value: V) -> &mut V {
        self.or_insert_with(key, || value)
    }

    /// The value of a key, mutably; the default is added if the key is absent.
    pub fn or_default(&mut self, key: K) -> &mut V
    where
        V: Default,
    {
        self.or_insert_with(key, V::default)
    }

    /// Removes a key and returns its value.
    pub fn remove(&mut self, key: impl Find<K>) -> Option<V> {
        Some(self.values.swap_remove(self.keys.take(key)?))
    }

    /// The entries whose keys are not less than this one, in order.
    pub fn at_least(&self, key: impl Find<K>) -> impl Iterator<Item = (&K, &V)> {
        self.keys.order.from(self.keys.place(key)).filter_map(|number| self.at(number))
    }

    /// The entry with the greatest key that is less than this one.
    pub fn before(&self, key: impl Find<K>) -> Option<(&K, &V)> {
        self.at(self.keys.order.before(self.keys.place(key))?)
    }
}

impl<K> Default for SortedSet<K> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K, V> Default for SortedMap<K, V> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K: PartialEq> PartialEq for SortedSet<K> {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl<K: PartialEq, V: PartialEq> PartialEq for SortedMap<K, V> {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl<K: Eq> Eq for SortedSet<K> {}

impl<K: Eq, V: Eq> Eq for SortedMap<K, V> {}

impl<K: fmt::Debug> fmt::Debug for SortedSet<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

impl<K: fmt::Debug, V: fmt::Debug> fmt::Debug for SortedMap<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

impl<K: Ord> Extend<K> for SortedSet<K> {
    fn extend<I: IntoIterator<Item = K>>(&mut self, keys: I) {
        for key in keys {
            self.insert(key);
        }
    }
}

impl<K: Ord, V> Extend<(K, V)> for SortedMap<K, V> {
    fn extend<I: IntoIterator<Item = (K, V)>>(&mut self, entries: I) {
        for (key, value) in entries {
            self.insert(key, value);
        }
    }
}

impl<K: Ord> FromIterator<K> for SortedSet<K> {
    fn from_iter<I: IntoIterator<Item = K>>(keys: I) -> Self {
        let mut set = Self::new();
        set.extend(keys);
        set
    }
}

impl<K: Ord, V> FromIterator<(K, V)> for SortedMap<K, V> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
        let mut map = Self::new();
        map.extend(entries);
        map
    }
}

impl<K: Ord, const N: usize> From<[K; N]> for SortedSet<K> {
    fn from(keys: [K; N]) -> Self {
        keys.into_iter().collect()
    }
}

impl<K: Ord, V, const N: usize> From<[(K, V); N]> for SortedMap<K, V> {
    fn from(entries: [(K, V); N]) -> Self {
        entries.into_iter().collect()
    }
}

impl<K> IntoIterator for SortedSet<K> {
    type Item = K;
    type IntoIter = std::vec::IntoIter<K>;

    fn into_iter(mut self) -> Self::IntoIter {
        self.order.arrange(&mut |one, other| self.keys.swap(one, other));
        self.keys.into_iter()
    }
}

impl<K, V> IntoIterator for SortedMap<K, V> {
    type Item = (K, V);
    type IntoIter = std::iter::Zip<std::vec::IntoIter<K>, std::vec::IntoIter<V>>;

    fn into_iter(self) -> Self::IntoIter {
        let (mut keys, mut values) = (self.keys.keys, self.values);
        self.keys.order.arrange(&mut |one, other| {
            keys.swap(one, other);
            values.swap(one, other);
        });
        keys.into_iter().zip(values)
    }
}

#[cfg(test)]
#[path = "../tests/unit/maps.rs"]
mod tests;
