//! Fields of JSON objects, read leniently.

use std::borrow::Cow;

use crate::json::{Object, Value};

/// The text of a field.
pub(crate) fn text_in<'t>(object: Object<'t>, name: &str) -> Option<Cow<'t, str>> {
    object.last(name)?.as_text()
}

/// The object of a field.
pub(crate) fn object_in<'t>(object: Object<'t>, name: &str) -> Option<Object<'t>> {
    object.last(name)?.plain_object()
}

/// Whether a request continues a conversation that the provider stores.
pub(crate) fn continues_stored(request: Object<'_>) -> bool {
    // An empty id names no conversation.
    let is_set = |id: Value<'_>| !id.is_null() && id.as_text().is_none_or(|id| !id.is_empty());
    let is_named = |name: &&str| request.last(name).is_some_and(is_set);
    ["previous_interaction_id", "previous_response_id", "conversation"].iter().any(is_named)
}

/// Whether an object has one of these fields.
pub(crate) fn has_any(object: Object<'_>, names: &[&str]) -> bool {
    object.entries().any(|(key, _)| names.iter().any(|name| key.is_string(name)))
}
