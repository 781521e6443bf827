//! Counts of things that a result cannot hold, by kind.

use std::borrow::Cow;

use crate::error::{DiagnosticCode, Severity};

/// Kinds counted separately; further ones count as the last.
const MAX_KINDS: usize = 50;

/// Kinds of things, each with its count and first place.
#[derive(Debug, Default)]
pub(crate) struct Counted(Vec<Count>);

/// One kind of thing.
#[derive(Debug)]
pub(crate) struct Count {
    /// The name of the kind.
    pub what: Cow<'static, str>,
    /// The code of its diagnostic.
    pub code: DiagnosticCode,
    /// The severity of its diagnostic.
    pub severity: Severity,
    /// The first place.
    pub place: usize,
    count: u32,
}

impl Counted {
    /// Counts one occurrence.
    pub(crate) fn add(&mut self, code: DiagnosticCode, what: Cow<'static, str>, severity: Severity, place: usize) {
        let is_full = self.0.len() >= MAX_KINDS;
        match self.0.iter_mut().find(|known| known.what == what) {
            Some(known) => known.count = known.count.saturating_add(1),
            None if is_full => {
                self.0.last_mut().into_iter().for_each(|last| last.count = last.count.saturating_add(1));
            }
            None => self.0.push(Count { what, code, severity, place, count: 1 }),
        }
    }

    /// The kinds, in the order of their first occurrence.
    pub(crate) fn into_kinds(self) -> impl Iterator<Item = Count> {
        self.0.into_iter()
    }
}

impl Count {
    /// The kind and its count, as diagnostics begin.
    pub(crate) fn times(&self) -> String {
        times(&self.what, self.count)
    }
}

/// A kind and its count, as diagnostics begin.
pub(crate) fn times(what: &str, count: u32) -> String {
    let times = if count == 1 { "time" } else { "times" };
    format!("{what}, {count} {times}")
}
