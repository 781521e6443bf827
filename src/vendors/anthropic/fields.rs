//! Signatures of thinking blocks.

use std::borrow::Cow;

use crate::json::Object;
use crate::vendors::fields::text_in;
use crate::vendors::signature::ReasoningSignature;

/// Whether a block is redacted thinking.
pub(crate) fn is_redacted(block: Object<'_>) -> bool {
    text_in(block, "type").is_some_and(|kind| kind == "redacted_thinking")
}

/// The signature of redacted thinking.
pub(crate) fn redacted<'t>(block: Object<'t>) -> Option<ReasoningSignature<'t>> {
    text_in(block, "data").map(ReasoningSignature::Redacted)
}

/// The signature of a thinking block, unless it is empty.
pub(crate) fn signature<'t>(block: Object<'t>) -> Option<Cow<'t, str>> {
    text_in(block, "signature").filter(|signature| !signature.is_empty())
}
