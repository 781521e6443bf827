//! The findings of earlier attempts at a fit.

/// A place in a chat: a message, and the step within a run in one message.
pub(super) type StepPlace = (usize, usize);

/// The findings of earlier attempts.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Course {
    /// The limit of the request, in tokens.
    pub limit: u64,
    /// The bytes reserved below `maxBytes` for the marker added after the images; `None` to keep all images.
    pub reserved_bytes: Option<u64>,
    /// The tokens that a step cuts to, if one is made; at most `limit`.
    pub target: Option<u64>,
    /// The target of the whole step, by `cutTo` and the `step` of the edits.
    pub step_target: Option<u64>,
    /// The place from which on an earlier attempt found thinking invalid.
    pub stripped_from: Option<StepPlace>,
    /// Whether a change is required although the chat would fit: the earlier attempt made one.
    pub is_forced: bool,
    /// Tokens of the marker before the first turn, if there is one.
    pub first_marker: Option<u64>,
    /// Whether the model's turns before the first user turn are removed.
    pub drops_greeting: bool,
    /// The message with which the conversation begins, if a marker before its first turn does not fit.
    pub begins_at: usize,
    /// Removed messages outside the cut, which a marker at the front counts as well.
    pub also_removed: usize,
    /// Whether everything before a compaction is removed even if it fits.
    pub compacts: bool,
}
