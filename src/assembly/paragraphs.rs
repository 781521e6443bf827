//! The tokens of a text with a run removed, without recounting the whole text.
//!
//! If the counter is additive at paragraph breaks (see [`Counter::is_additive_before`]), a text is counted once by
//! paragraphs, and a cut only counts the paragraphs that it touches. Otherwise each cut counts the whole text.

use crate::assembly::render::JOIN;
use crate::tokens::Counter;

/// A text after a preface, counted by paragraphs.
#[derive(Debug)]
pub(crate) struct Paragraphs<'t> {
    counter: &'t dyn Counter,
    preface: &'t str,
    text: &'t str,
    /// The starts of paragraphs at which counts are additive, except the first.
    starts: Vec<usize>,
    /// Tokens before each of these starts.
    sums: Vec<u64>,
    total: u64,
}

impl<'t> Paragraphs<'t> {
    pub(crate) fn new(counter: &'t dyn Counter, preface: &'t str, text: &'t str) -> Self {
        let starts: Vec<usize> = text.match_indices(JOIN).filter_map(|(at, _)| clean(counter, text, at)).collect();
        let mut this = Self { counter, preface, text, starts, sums: Vec::new(), total: 0 };
        let mut from = 0;
        for &start in &this.starts {
            this.total += if from == 0 { this.joined(&[preface, this.get(0, start)]) } else { this.count(from, start) };
            this.sums.push(this.total);
            from = start;
        }
        this.total += if from == 0 { this.joined(&[preface, text]) } else { this.count(from, text.len()) };
        this
    }

    pub(crate) fn whole(&self) -> u64 {
        self.total
    }

    /// Tokens with `marker` replacing the bytes `head..tail`.
    pub(crate) fn cut(&self, head: usize, marker: &str, tail: usize) -> u64 {
        // A break only counts as one if some of its paragraph remains on the inner side.
        let before = self.starts.partition_point(|&start| start < head).checked_sub(1);
        let after = self.starts.partition_point(|&start| start <= tail + JOIN.len());
        let (from, counted) = before.and_then(|at| self.at(at)).unwrap_or((0, 0));
        let (to, rest) = self.at(after).map_or((self.text.len(), 0), |(start, sum)| (start, self.total - sum));
        let preface = if from == 0 { self.preface } else { "" };
        counted + self.joined(&[preface, self.get(from, head), marker, self.get(tail, to)]) + rest
    }

    pub(crate) fn range(&self, from: usize, to: usize) -> u64 {
        let first = self.starts.partition_point(|&start| start <= from + JOIN.len());
        let last = self.starts.partition_point(|&start| start < to).checked_sub(1);
        match (self.at(first), last.and_then(|at| self.at(at))) {
            (Some((first, sum)), Some((last, sum_last))) if first <= last => {
                self.count(from, first) + (sum_last - sum) + self.count(last, to)
            }
            _ => self.count(from, to),
        }
    }

    fn at(&self, index: usize) -> Option<(usize, u64)> {
        Some((*self.starts.get(index)?, *self.sums.get(index)?))
    }

    fn get(&self, from: usize, to: usize) -> &'t str {
        self.text.get(from..to).unwrap_or_default()
    }

    fn count(&self, from: usize, to: usize) -> u64 {
        self.counter.count(self.get(from, to)).into()
    }

    fn joined(&self, pieces: &[&str]) -> u64 {
        self.counter.count(&pieces.concat()).into()
    }
}

/// The start of the next paragraph, if counts are additive at the line ends at `at`.
fn clean(counter: &dyn Counter, text: &str, at: usize) -> Option<usize> {
    let start = at.checked_add(JOIN.len())?;
    let (before, next) = (text.get(..at)?, text.get(start..)?);
    let between = !before.is_empty() && !next.is_empty();
    let clean = between && !before.ends_with(char::is_whitespace) && !next.starts_with(char::is_whitespace);
    (clean && counter.is_additive_before(next)).then_some(start)
}
