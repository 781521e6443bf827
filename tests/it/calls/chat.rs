//! What the npm package makes of the decisions about a chat.

use serde_json::{Value, json};

/// The result of `fitMessages`: the chat, of the kind that was given, the report and the state.
pub(crate) fn fitted(given: &Value, answer: &Value) -> Value {
    let list = list_of(given).unwrap_or_default();
    let entry = |entry: &Value| match entry {
        Value::Array(entry) => changed(&list[at(&entry[0])], entry[1].as_array().unwrap()),
        Value::Number(_) => list[at(entry)].clone(),
        added => added.clone(),
    };
    let fitted = answer
        .get("messages")
        .map_or_else(|| list.clone(), |list| list.as_array().unwrap().iter().map(entry).collect());
    let mut messages = given.clone();
    match &mut messages {
        Value::Object(container) => {
            let key = ["contents", "messages", "input"]
                .into_iter()
                .find(|key| container.contains_key(*key))
                .unwrap_or("messages");
            container.insert(key.to_owned(), json!(fitted));
        }
        whole => *whole = json!(fitted),
    }
    let mut result = json!({ "messages": messages, "report": answer["report"] });
    // A resident chat keeps its state.
    if let Some(state) = answer.get("state") {
        result["state"] = state.clone();
    }
    result
}

/// The result of `convertMessages`: where the format is the same, the messages that were given.
pub(crate) fn converted(given: &Value, mut answer: Value) -> Value {
    let fields = answer.as_object_mut().unwrap();
    if fields.shift_remove("same").is_some() {
        fields.shift_insert(0, "messages".to_owned(), json!(list_of(given)));
    }
    answer
}

/// The list of a chat: itself, or that of its container.
pub(crate) fn list_of(chat: &Value) -> Option<Vec<Value>> {
    let list = chat.get("contents").or(chat.get("messages")).or(chat.get("input")).unwrap_or(chat);
    list.as_array().cloned()
}

/// A message with changes: values are set, then removals are made from the back.
pub(crate) fn changed(message: &Value, changes: &[Value]) -> Value {
    let mut message = message.clone();
    let mut removals: Vec<Vec<Value>> = Vec::new();
    for change in changes {
        let change = change.as_array().unwrap();
        let path = change[0].as_array().unwrap();
        match change.get(1) {
            Some(value) => *at_mut(&mut message, path) = value.clone(),
            None => removals.push(path.clone()),
        }
    }
    removals.sort_by_key(|path| path.iter().filter_map(Value::as_u64).collect::<Vec<_>>());
    for path in removals.into_iter().rev() {
        let (last, list) = path.split_last().unwrap();
        match (at_mut(&mut message, list), last) {
            (Value::Array(items), at) => drop(items.remove(self::at(at))),
            (Value::Object(fields), key) => drop(fields.shift_remove(key.as_str().unwrap())),
            _ => panic!("nothing at {path:?}"),
        }
    }
    message
}

fn at_mut<'v>(mut value: &'v mut Value, path: &[Value]) -> &'v mut Value {
    for step in path {
        value = match step {
            Value::String(key) => &mut value[key],
            step => &mut value[at(step)],
        };
    }
    value
}

fn at(index: &Value) -> usize {
    usize::try_from(index.as_u64().unwrap()).unwrap()
}
