//! Fields and types of items that only the Agents SDK has.

use crate::json::Object;
use crate::vendors::fields::has_any;

/// Whether only the Agents SDK has items of this type.
pub(crate) fn is_item_type(kind: &str) -> bool {
    matches!(kind, "function_call_result" | "hosted_tool_call")
}

/// Whether an item has fields that only the Agents SDK writes.
pub(crate) fn is_item(item: Object<'_>) -> bool {
    has_any(item, &["callId", "providerData"])
}

/// Whether reasoning is in the form of the Agents SDK.
pub(crate) fn is_reasoning(item: Object<'_>) -> bool {
    has_any(item, &["content"]) && !has_any(item, &["summary"])
}
