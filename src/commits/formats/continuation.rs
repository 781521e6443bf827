//! The state that a new delta continues from: the newest record's id, the session, the time.

use crate::commits::id;
use crate::time::Timestamp;

const CONTEXT: &str = "ctxweave 2026-11-22 ids in translated transcripts, version 1";

const CALL_ID_CONTEXT: &str = "ctxweave 2026-11-23 ids of calls without one, version 1";

/// Written if no time is known.
const EPOCH: &str = "1970-01-01T00:00:00.000Z";

/// The last record written. New ids are derived from the seed, not random.
#[derive(Debug, Default)]
pub(crate) struct Continuation {
    /// Whether nothing has been written yet, so that a header may be required.
    pub begins: bool,
    /// The uuid of the newest record.
    pub parent: Option<String>,
    pub session: Option<String>,
    /// The newest time.
    pub timestamp: Option<String>,
    seed: String,
    made: u64,
}

impl Continuation {
    pub(crate) fn new(seed: &str) -> Self {
        Self { begins: true, seed: seed.to_owned(), ..Self::default() }
    }

    /// Changes the seed. The count continues, so that no id is repeated if a delta is.
    pub(crate) fn reseed(&mut self, seed: &str) {
        seed.clone_into(&mut self.seed);
    }

    /// Makes a new uuid, of version 8.
    pub(crate) fn uuid(&mut self) -> String {
        self.made = self.made.saturating_add(1);
        uuid(&self.seed, &self.made.to_string())
    }

    /// The id of the session.
    pub(crate) fn session(&mut self) -> String {
        let seed = &self.seed;
        self.session.get_or_insert_with(|| uuid(seed, "session")).clone()
    }

    /// Notes the time of a commit, which its records without a time have.
    pub(crate) fn advance(&mut self, time: &str) {
        let Some(new) = Timestamp::parse(time) else { return };
        if self.timestamp.as_deref().and_then(Timestamp::parse).is_none_or(|known| known < new) {
            self.timestamp = Some(time.to_owned());
        }
    }

    /// The time of a record whose format requires one; defaults to that of the previous record.
    pub(crate) fn time(&mut self, time: Option<&str>) -> String {
        self.known_time(time).unwrap_or_else(|| EPOCH.to_owned())
    }

    /// The time of a record, if it or a previous record has one.
    pub(crate) fn known_time(&mut self, time: Option<&str>) -> Option<String> {
        if let Some(time) = time {
            self.timestamp = Some(time.to_owned());
        }
        self.timestamp.clone()
    }
}

/// An id for a call without one, derived from its context.
pub(crate) fn call_id(parts: [&str; 2]) -> String {
    let key = id::derive(CALL_ID_CONTEXT, parts);
    format!("call_{}", key.get(..24).unwrap_or(&key))
}

fn uuid(seed: &str, what: &str) -> String {
    let hex = id::derive(CONTEXT, [seed, what]);
    let part = |from: usize, to: usize| hex.get(from..to).unwrap_or_default();
    format!("{}-{}-8{}-8{}-{}", part(0, 8), part(8, 12), part(12, 15), part(15, 18), part(18, 30))
}
