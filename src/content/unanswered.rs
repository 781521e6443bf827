//! Which call a result answers where several have its id.

use std::collections::VecDeque;

/// The calls with one id that have no result yet, by the turns they were made in.
#[derive(Debug)]
pub(crate) struct Unanswered<T>(Vec<VecDeque<T>>);

impl<T> Default for Unanswered<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T: Copy> Unanswered<T> {
    /// Adds a call behind all others.
    pub(crate) fn add(&mut self, call: T, is_of_turn: impl Fn(T) -> bool) {
        match self.0.last_mut().filter(|turn| turn.back().is_some_and(|&last| is_of_turn(last))) {
            Some(turn) => turn.push_back(call),
            None => self.0.push(VecDeque::from([call])),
        }
    }

    /// Takes out the call that a result answers: of the last turn, whose results come in the order of its calls, the first.
    pub(crate) fn answered(&mut self) -> Option<T> {
        let turn = self.0.last_mut()?;
        let call = turn.pop_front();
        if turn.is_empty() {
            self.0.pop();
        }
        call
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = T> {
        self.0.iter().flatten().copied()
    }
}
