//! A list that mostly has one element: most nodes have one edge to them and one from them, most edges one source.

use std::ops::{Deref, DerefMut};

/// A list that takes no memory of its own while it has one element or none.
#[derive(Clone, Debug)]
pub(crate) enum SmallList<T> {
    One([T; 1]),
    /// None, or several.
    Listed(Vec<T>),
}

impl<T> Default for SmallList<T> {
    fn default() -> Self {
        Self::Listed(Vec::new())
    }
}

impl<T> Deref for SmallList<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match self {
            Self::One(one) => one,
            Self::Listed(list) => list,
        }
    }
}

impl<T> DerefMut for SmallList<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        match self {
            Self::One(one) => one,
            Self::Listed(list) => list,
        }
    }
}

impl<T> SmallList<T> {
    pub(crate) fn push(&mut self, element: T) {
        self.insert(self.len(), element);
    }

    /// Puts an element before the one at `at`, else at the end.
    pub(crate) fn insert(&mut self, at: usize, element: T) {
        *self = match std::mem::take(self) {
            Self::One([one]) => Self::Listed(if at == 0 { vec![element, one] } else { vec![one, element] }),
            Self::Listed(list) if list.is_empty() => Self::One([element]),
            Self::Listed(mut list) => {
                list.insert(at.min(list.len()), element);
                Self::Listed(list)
            }
        };
    }

    /// Takes out the element at `at`, where there is one.
    pub(crate) fn remove(&mut self, at: usize) {
        match self {
            Self::One(_) if at == 0 => *self = Self::default(),
            Self::Listed(list) if at < list.len() => drop(list.remove(at)),
            _ => {}
        }
    }
}

impl<T> FromIterator<T> for SmallList<T> {
    fn from_iter<I: IntoIterator<Item = T>>(elements: I) -> Self {
        let mut small = Self::default();
        elements.into_iter().for_each(|element| small.push(element));
        small
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn does_as_a_vector_does() {
        let mut seed = 1_u32;
        let mut next = |below: usize| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (seed >> 16) as usize % below
        };
        let (mut small, mut list) = (SmallList::default(), Vec::new());
        for step in 0..10_000 {
            let at = next(list.len() + 1);
            if next(5) < 3 - usize::from(list.len() > 3) {
                small.insert(at, step);
                list.insert(at, step);
            } else {
                small.remove(at);
                if at < list.len() {
                    list.remove(at);
                }
            }
            assert_eq!(*small, *list);
        }
    }
}
