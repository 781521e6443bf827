//! Whether a conversation certainly fits, judged by the lengths of its texts.
//!
//! Counting is most of the work of a request. The number of tokens per byte has an upper bound for each counter; if the
//! conversation fits with that bound, nothing is cut, and a caller that needs only the messages needs no counts.

use crate::prompt::Prices;

/// The maximal size of a conversation.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Size {
    /// Bytes of texts, including joins and placeholders of media.
    pub bytes: usize,
    /// Tokens of parts with a fixed price.
    pub tokens: u64,
    pub messages: u64,
}

/// Whether any conversation of this size is within the limit.
pub(crate) fn fits(size: Size, prices: &Prices<'_>, limit: u64) -> bool {
    let overhead = prices.overhead;
    let fixed = overhead.per_request.saturating_add(overhead.per_message.saturating_mul(size.messages));
    let Some(texts) = prices.counter.max_tokens_for_bytes(size.bytes) else { return false };
    texts.saturating_add(size.tokens).saturating_add(fixed) <= limit
}
