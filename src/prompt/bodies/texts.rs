//! Conversations that are nothing but texts, of which most was written before.
//!
//! A front end that asks for a body at every keystroke asks for nearly the same bytes each time. Where the user and the
//! assistant take turns and say nothing but texts, a message is written the same whatever stands around it, so that what
//! was written for the request before is copied.

use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;

use super::escape::Json;
use crate::prompt::Role;

/// A conversation in which the user and the assistant take turns and say nothing but texts, none of which is blank.
pub trait Texts: fmt::Debug {
    /// How many messages there are; at least one.
    fn count(&self) -> usize;
    /// Who says one.
    fn role(&self, at: usize) -> Role;
    /// Hands over what one says, piece by piece.
    fn text(&self, at: usize, say: &mut dyn FnMut(&str));
    /// The node that one holds, where it is a single one.
    fn node(&self, at: usize) -> Option<&str>;
    /// Which messages of the conversation before are the same as those from this one on, as far as they follow each
    /// other; empty where this one is new.
    fn known(&self, at: usize) -> Range<usize>;
}

/// A body, with the place of each message.
#[derive(Clone, Debug, Default)]
pub struct Written {
    /// JSON in UTF-8, ready to be sent.
    pub bytes: Vec<u8>,
    pub(super) spots: Vec<Spot>,
}

/// Where a message stands: from its bracket to its bracket. Empty for one that is not to be copied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Spot {
    start: usize,
    end: usize,
}

/// Texts on their way into a body.
#[derive(Debug)]
pub(super) struct Flow<'t> {
    pub texts: &'t dyn Texts,
    pub before: &'t Written,
    pub spots: Vec<Spot>,
}

impl Flow<'_> {
    /// About how many bytes the messages take.
    pub(super) fn room(&self) -> usize {
        let mut room = 0;
        let mut at = 0;
        while at < self.texts.count() {
            let known = self.spots_of(self.texts.known(at));
            match (known.first(), known.last()) {
                (Some(first), Some(last)) if first.start < last.end => {
                    room += last.end - first.start + 1;
                    at += known.len();
                }
                _ => {
                    self.texts.text(at, &mut |piece| room += piece.len() + piece.len() / 16);
                    room += 64;
                    at += 1;
                }
            }
        }
        room
    }

    /// Where those messages of the body before stand.
    fn spots_of(&self, known: Range<usize>) -> &[Spot] {
        self.before.spots.get(known).unwrap_or_default()
    }

    /// Appends the messages: what is known is copied, the others are written. What stands `apart` is written each time, in
    /// another form than that of all others.
    pub(super) fn pour(&mut self, json: &mut Json, apart: &BTreeSet<usize>, write: impl Fn(&mut Json, usize)) {
        let count = self.texts.count();
        let mut spots = Vec::with_capacity(count);
        while spots.len() < count {
            let at = spots.len();
            let until_apart = apart.range(at..).next().map_or(count, |&next| next) - at;
            let known = self.spots_of(self.texts.known(at));
            // Messages that follow each other have a comma between them; one that is not to be copied ends the run.
            let run = known.iter().take(until_apart).take_while(|spot| spot.start < spot.end).count();
            let run = known.get(..run).unwrap_or_default();
            if let (Some(first), Some(last)) = (run.first(), run.last())
                && let Some(bytes) = self.before.bytes.get(first.start..last.end)
            {
                let start = json.copy(bytes);
                let moved = |place: usize| place - first.start + start;
                spots.extend(run.iter().map(|spot| Spot { start: moved(spot.start), end: moved(spot.end) }));
                continue;
            }
            let start = json.next_at();
            write(json, at);
            let spot = Spot { start, end: json.len() };
            spots.push(if apart.contains(&at) { Spot::default() } else { spot });
        }
        self.spots = spots;
    }
}
