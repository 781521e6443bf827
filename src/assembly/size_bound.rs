//! Whether a conversation fits for certain, by the lengths of its texts.
//!
//! Counting is most of the work of a request. No counter gives more than so many tokens a byte; if even those fit, nothing is
//! cut, and a caller that wants only the messages needs no counts.

use crate::prompt::Prices;

/// The greatest size of a conversation.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Size {
    /// Of texts, and of what may stand between them or replace media.
    pub bytes: usize,
    /// The tokens of parts with a fixed price.
    pub tokens: u64,
    pub messages: u64,
}

/// Whether a conversation of this size is below the limit for any texts.
pub(crate) fn fits(size: Size, prices: &Prices<'_>, limit: u64) -> bool {
    let overhead = prices.overhead;
    let fixed = overhead.per_request.saturating_add(overhead.per_message.saturating_mul(size.messages));
    let Some(texts) = prices.counter.max_tokens_for_bytes(size.bytes) else { return false };
    texts.saturating_add(size.tokens).saturating_add(fixed) <= limit
}
