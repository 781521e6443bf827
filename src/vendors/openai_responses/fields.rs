//! Calls and encrypted reasoning of items.

use crate::json::Object;
use crate::vendors::fields::text_in;
use crate::vendors::signature::ReasoningSignature;

/// Whether a call is one of a custom tool, whose input is a text.
pub(crate) fn is_custom_call(item: Object<'_>) -> bool {
    text_in(item, "type").is_some_and(|kind| kind == "custom_tool_call")
}

/// The encrypted reasoning of an item, with its id.
pub(crate) fn sealed<'t>(item: Object<'t>) -> Option<ReasoningSignature<'t>> {
    Some(ReasoningSignature::Sealed(text_in(item, "id"), text_in(item, "encrypted_content")?))
}
