//! Merges the events of a stream into the answer that the provider would have sent at once.

use serde_json::{Map, Value};

use crate::vendors::blocks::text;
use crate::vendors::part::is_one_of;

/// The fields whose texts are streamed in pieces; of all others the last value counts.
const GROWING: &str =
    "text content refusal reasoning reasoning_content summary thinking signature arguments input transcript";

/// Skipped indices are reserved up to here. No provider skips more than it has blocks.
const MAX_SKIPPED_INDICES: usize = 1000;

/// Merges a delta. Objects merge field by field; an object with an `index` in a list merges with the one at that index,
/// any other is appended; incremental texts are joined.
pub(crate) fn merge(known: &mut Map<String, Value>, delta: Map<String, Value>) {
    for (name, value) in delta {
        let there = known.get_mut(&name);
        match (there, value) {
            (_, Value::Null) => {}
            (Some(Value::String(text)), Value::String(more)) => {
                if is_one_of(GROWING, &name) {
                    text.push_str(&more);
                } else if !more.is_empty() {
                    // Some providers repeat an empty one with each piece.
                    *text = more;
                }
            }
            (Some(Value::Object(known)), Value::Object(fields)) => merge(known, fields),
            (Some(Value::Array(list)), Value::Array(items)) => extend(list, items),
            (_, value) => {
                let value = match value {
                    Value::Object(fields) => Value::Object(merged(fields)),
                    Value::Array(items) => {
                        let mut list = Vec::new();
                        extend(&mut list, items);
                        Value::Array(list)
                    }
                    other => other,
                };
                set(known, &name, value);
            }
        }
    }
}

fn merged(fields: Map<String, Value>) -> Map<String, Value> {
    let mut new = Map::new();
    merge(&mut new, fields);
    new
}

/// Sets a field.
pub(crate) fn set(fields: &mut Map<String, Value>, name: &str, value: impl Into<Value>) {
    fields.insert(name.to_owned(), value.into());
}

/// Takes the value of a field.
pub(crate) fn take(fields: &mut Map<String, Value>, name: &str) -> Value {
    fields.get_mut(name).map(Value::take).unwrap_or_default()
}

/// Appends items to a list, or merges them with those at their index.
pub(crate) fn extend(list: &mut Vec<Value>, items: Vec<Value>) {
    for item in items {
        let Value::Object(fields) = item else {
            list.push(item);
            continue;
        };
        if let Some(at) = fields.get("index").and_then(Value::as_u64) {
            if let Some(slot) = slot(list, at) {
                match slot {
                    Value::Object(known) => merge(known, fields),
                    other => *other = Value::Object(merged(fields)),
                }
            }
            continue;
        }
        // A text that continues; signed parts stay separate.
        match list.last_mut() {
            Some(Value::Object(last))
                if is_plain(last)
                    && is_plain(&fields)
                    && SAME.iter().all(|name| last.get(*name) == fields.get(*name)) =>
            {
                merge(last, fields);
            }
            _ => list.push(Value::Object(fields)),
        }
    }
}

/// The fields that the pieces of one text share.
const SAME: [&str; 4] = ["thought", "type", "id", "format"];

/// Whether a part holds only a text.
fn is_plain(part: &Map<String, Value>) -> bool {
    text(part, "text").is_some() && part.keys().all(|name| name == "text" || SAME.contains(&name.as_str()))
}

/// An index in a list. Missing ones before it become null, which readers skip.
fn slot(list: &mut Vec<Value>, at: u64) -> Option<&mut Value> {
    let mut at = usize::try_from(at).unwrap_or(usize::MAX);
    if at > list.len() && at >= MAX_SKIPPED_INDICES {
        at = list.len().saturating_sub(1);
    }
    while list.len() <= at {
        list.push(Value::Null);
    }
    list.get_mut(at)
}

/// Sets a value at an index of the list of a field.
pub(crate) fn put(fields: &mut Map<String, Value>, name: &str, at: u64, value: Value) {
    if let Some(Value::Array(list)) = fields.get_mut(name) {
        if let Some(slot) = slot(list, at) {
            *slot = value;
        }
        return;
    }
    set(fields, name, Value::Array(Vec::new()));
    put(fields, name, at, value);
}

/// Merges fields into the value at an index of the list of a field.
pub(crate) fn merge_at(fields: &mut Map<String, Value>, name: &str, at: u64, mut delta: Map<String, Value>) {
    set(&mut delta, "index", at);
    let mut outer = Map::new();
    set(&mut outer, name, Value::Array(vec![Value::Object(delta)]));
    merge(fields, outer);
}

/// The number of a field; 0 if missing.
pub(crate) fn index(event: &Map<String, Value>, field: &str) -> u64 {
    event.get(field).and_then(Value::as_u64).unwrap_or_default()
}

/// The type of an event or an item.
pub(crate) fn kind(event: &Map<String, Value>) -> &str {
    text(event, "type").unwrap_or_default()
}
