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

    /// How many messages, from one of these and one of another dialogue on, are known to be the same.
    fn alike(&self, at: usize, other: &Self, there: usize) -> usize {
        let (turns, others) = (self.turns.iter().skip(at), other.turns.iter().skip(there));
        let (mut from, mut other_from) = (self.range(at).start, other.range(there).start);
        let pairs = turns.zip(others).take_while(|(turn, known)| {
            let nodes = self.nodes.get(from..turn.end);
            let same = turn.says == Says::Texts
                && known.says == Says::Texts
                && turn.role == known.role
                && nodes == other.nodes.get(other_from..known.end);
            (from, other_from) = (turn.end, known.end);
            same
        });
        pairs.count()
    }
}

/// A dialogue that was, whose messages can be found by their nodes.
#[derive(Debug, Default)]
pub(super) struct Known {
    pub turns: Rc<Turns>,
    /// For each place of the tree, the message that began with the node there, plus `offset`. What is not up to date does
    /// not fit.
    at: Vec<u32>,
    /// So that what is known need not be noted again when messages before it go.
    offset: u32,
}

impl Known {
    /// The messages of a dialogue in runs: those that are the same as ones of this, and those that are new.
    pub(super) fn runs(&self, turns: &Turns) -> Vec<Run> {
        let mut runs: Vec<Run> = Vec::new();
        let mut at = 0;
        while at < turns.turns.len() {
            let first = turns.nodes_of(at).first();
            let noted = first.and_then(|&(place, _)| self.at.get(place as usize));
            let there = noted.map_or(usize::MAX, |noted| noted.wrapping_sub(self.offset) as usize);
            let count = turns.alike(at, &self.turns, there);
            if count > 0 {
                runs.push(Run { from: at, count, known: Some(there) });
            } else if let Some(run) = runs.last_mut().filter(|run| run.known.is_none()) {
                run.count += 1;
            } else {
                runs.push(Run { from: at, count: 1, known: None });
            }
            at += count.max(1);
        }
        runs
    }

    /// Goes on to the next dialogue, which has these [`runs`](Self::runs).
    pub(super) fn replace(&mut self, turns: Rc<Turns>, runs: &[Run]) {
        let place = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        // What is in the longest run stays noted as it is.
        let longest = runs.iter().filter(|run| run.known.is_some()).max_by_key(|run| run.count);
        if let Some(Run { from, known: Some(known), .. }) = longest {
            self.offset = self.offset.wrapping_add(place(*known)).wrapping_sub(place(*from));
        }
        for run in runs.iter().filter(|run| Some(*run) != longest) {
            for at in run.from..run.from + run.count {
                let Some(&(first, _)) = turns.nodes_of(at).first() else { continue };
                let first = first as usize;
                if first >= self.at.len() {
                    self.at.resize(first + 1, u32::MAX);
                }
                if let Some(noted) = self.at.get_mut(first) {
                    *noted = place(at).wrapping_add(self.offset);
                }
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
