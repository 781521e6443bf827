//! Which nodes the messages of a dialogue hold, and as of which change: enough to know a message again without a look at
//! its text.

use std::ops::Range;
use std::rc::Rc;

use crate::loom::tree::NodeIx;
use crate::prompt::Role;

/// The place of a node, and how often what is there had changed.
pub(super) type Stamped = (NodeIx, u32);

/// A message.
#[derive(Clone, Copy, Debug)]
pub(super) struct Turn {
    pub role: Role,
    /// Where its nodes end in the list of all nodes. They begin where those of the message before end.
    pub end: usize,
    pub says: Says,
    /// The hash of its role and content; 0 until it is known.
    pub hash: u64,
}

/// What a message consists of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Says {
    /// The texts of its nodes. While these are the same, so is the message.
    Texts,
    /// The same with the marker among them.
    Marker,
    /// Anything.
    Else,
}

/// The messages of a dialogue.
#[derive(Debug, Default)]
pub(super) struct Turns {
    pub turns: Vec<Turn>,
    pub nodes: Vec<Stamped>,
}

impl Turns {
    /// Where the nodes of a message are in the list of all.
    pub(super) fn range(&self, at: usize) -> Range<usize> {
        let end = |at: usize| self.turns.get(at).map_or(self.nodes.len(), |turn| turn.end);
        at.checked_sub(1).map_or(0, end)..end(at)
    }

    fn nodes_of(&self, at: usize) -> &[Stamped] {
        self.nodes.get(self.range(at)).unwrap_or_default()
    }

    /// Whether a message is known to be the same as one of another dialogue.
    fn is(&self, at: usize, other: &Self, there: usize) -> bool {
        let (Some(turn), Some(known)) = (self.turns.get(at), other.turns.get(there)) else { return false };
        turn.says == Says::Texts
            && known.says == Says::Texts
            && turn.role == known.role
            && self.nodes_of(at) == other.nodes_of(there)
    }
}

/// A dialogue that was, whose messages can be found by their nodes.
#[derive(Debug, Default)]
pub(super) struct Known {
    pub turns: Rc<Turns>,
    /// For each place of the tree, the message that began with the node there. What is not up to date does not fit.
    at: Vec<u32>,
}

impl Known {
    /// Which message of this dialogue is the same as that one. It is looked for at `guess` first.
    pub(super) fn find(&self, turns: &Turns, at: usize, guess: usize) -> Option<usize> {
        if turns.is(at, &self.turns, guess) {
            return Some(guess);
        }
        let &(first, _) = turns.nodes_of(at).first()?;
        let there = *self.at.get(first as usize)? as usize;
        turns.is(at, &self.turns, there).then_some(there)
    }

    /// For each message of a dialogue the one of this that is the same, in runs that follow each other in both.
    pub(super) fn runs(&self, turns: &Turns, from: usize) -> Vec<Run> {
        let mut runs: Vec<Run> = Vec::new();
        let mut guess = from;
        for at in from..turns.turns.len() {
            let found = self.find(turns, at, guess);
            match (runs.last_mut(), found) {
                (Some(run), Some(there)) if run.known == Some(there.wrapping_sub(run.count)) => run.count += 1,
                (Some(run), None) if run.known.is_none() => run.count += 1,
                (_, known) => runs.push(Run { from: at, count: 1, known }),
            }
            guess = found.map_or(guess, |there| there + 1);
        }
        runs
    }

    /// Goes on to the next dialogue.
    pub(super) fn replace(&mut self, turns: Rc<Turns>) {
        for (at, turn) in turns.turns.iter().enumerate().filter(|(_, turn)| turn.says == Says::Texts) {
            let first = turns.nodes.get(turns.range(at).start);
            let Some(place) = first.map(|&(place, _)| place as usize) else { continue };
            if place >= self.at.len() {
                self.at.resize(place + 1, u32::MAX);
            }
            let there = u32::try_from(at).unwrap_or(u32::MAX);
            if let Some(known) = self.at.get_mut(place).filter(|_| turn.end > 0) {
                *known = there;
            }
        }
        self.turns = turns;
    }
}

/// Messages that follow each other, all of them new or all of them known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Run {
    pub from: usize,
    pub count: usize,
    /// The first of them in the other dialogue.
    pub known: Option<usize>,
}
