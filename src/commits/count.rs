//! How many messages and tokens a blob has, for records that do not say.

use crate::commits::formats::Format;
use crate::commits::translate::{CrossFamily, TranslateOptions, count};
use crate::limits::Limits;
use crate::tokens::Heuristic;

/// What a blob counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct BlobCounts {
    pub(crate) messages: u64,
    pub(crate) tokens: u64,
}

/// Counts a blob by reading it. One that cannot be read has no messages: it is joined as it is all the same.
pub(crate) fn of(format: Format, blob: &[u8], limits: &Limits) -> BlobCounts {
    let options = options(limits, false);
    let (messages, tokens) = count(Some(format), blob, &options).unwrap_or_default();
    BlobCounts { messages: messages.into(), tokens: tokens.into() }
}

/// How blobs are translated here.
pub(crate) fn options(limits: &Limits, through_compactions: bool) -> TranslateOptions<'_> {
    TranslateOptions { cross_family: CrossFamily::default(), through_compactions, limits, counter: &Heuristic }
}
