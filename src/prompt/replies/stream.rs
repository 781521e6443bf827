//! The events of a stream, folded into the answer that the provider would have given at once.

use serde_json::{Map, Value};

use crate::content::vendor::text;
use crate::maps::SortedMap;

/// An answer of which events are still coming. What a provider numbers is kept under its number.
#[derive(Debug, Default)]
pub(super) struct Stream {
    /// The answer, without what is below.
    pub whole: Map<String, Value>,
    /// Blocks, items, choices or candidates.
    pub items: SortedMap<u64, Map<String, Value>>,
    /// What stands in them: calls of a choice, parts of an item.
    pub parts: SortedMap<(u64, u64), Map<String, Value>>,
}

impl Stream {
    /// The items in the order of their numbers.
    pub(super) fn take_items(&mut self) -> Vec<Value> {
        let items = std::mem::take(&mut self.items);
        items.into_iter().map(|(_, item)| Value::Object(item)).collect()
    }

    /// The parts of items, by the number of the item.
    pub(super) fn take_parts(&mut self) -> Vec<((u64, u64), Value)> {
        let parts = std::mem::take(&mut self.parts);
        parts.into_iter().map(|(place, part)| (place, Value::Object(part))).collect()
    }
}

/// The number under a name; 0 where there is none.
pub(super) fn index(event: &Map<String, Value>, field: &str) -> u64 {
    event.get(field).and_then(Value::as_u64).unwrap_or_default()
}

/// Adds to the text of a field. What is no text there, such as the empty object that arguments begin with, is replaced.
pub(super) fn append(fields: &mut Map<String, Value>, field: &str, delta: Option<&Value>) {
    let Some(delta) = delta.and_then(Value::as_str) else { return };
    if let Some(Value::String(text)) = fields.get_mut(field) {
        text.push_str(delta);
    } else {
        fields.insert(field.to_owned(), delta.into());
    }
}

/// Sets fields that say something.
pub(super) fn set(fields: &mut Map<String, Value>, given: &Map<String, Value>) {
    for (name, value) in given.iter().filter(|(_, value)| !value.is_null()) {
        fields.insert(name.clone(), value.clone());
    }
}

/// Adds a value to the list of a field.
pub(super) fn push(fields: &mut Map<String, Value>, field: &str, value: Value) {
    if let Some(Value::Array(list)) = fields.get_mut(field) {
        list.push(value);
    } else {
        fields.insert(field.to_owned(), Value::Array(vec![value]));
    }
}

/// The type of an event.
pub(super) fn kind(event: &Map<String, Value>) -> &str {
    text(event, "type").unwrap_or_default()
}
