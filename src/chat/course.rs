//! What earlier attempts at a fit found out.

/// A place in a chat: a message, and the step of a run that is one message.
pub(super) type Place = (usize, usize);

/// What earlier attempts found out.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Course {
    /// Tokens that the request may have.
    pub limit: u64,
    /// Bytes less than `maxBytes` to which images go, for the marker that comes after; none where images stay.
    pub reserved_bytes: Option<u64>,
    /// Tokens to which a step cuts, if it makes one; at most `limit`.
    pub target: Option<u64>,
    /// Tokens to which the whole step goes down, by `cutTo` and the `step` of the edits.
    pub step_target: Option<u64>,
    /// The place from which on an earlier attempt found thinking invalid.
    pub stripped_from: Option<Place>,
    /// Whether something has to change although it would fit: it did in the earlier attempt.
    pub is_forced: bool,
    /// Tokens of the marker before the first turn, where there is one.
    pub first_marker: Option<u64>,
    /// Whether turns of the model's before the first one of the user's go.
    pub drops_greeting: bool,
    /// The message with which the conversation begins, if there is no room for a marker before its first turn.
    pub begins_at: usize,
    /// Removed messages outside the cut, which a marker at the front counts too.
    pub also_removed: usize,
    /// Whether everything before a compaction goes, whether or not it fits.
    pub compacts: bool,
}
