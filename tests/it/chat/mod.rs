//! Chats under a budget (docs/chats.md).

mod adjacency;
mod billing;
mod bytes;
mod cases;
mod compaction;
mod convert;
mod first_turn;
mod interactions;
mod kept;
mod known_costs;
mod limits;
mod media;
mod mistakes;
mod phase;
mod properties;
mod refused;
mod resident;
mod series;
mod steps;
mod thinking;
mod typed;
mod written;

use crate::calls::chat::{changed, list_of};
use ctxweave::Error;
use ctxweave::call::CallContext;
use ctxweave::chat::CALLS;
use serde_json::{Value, json};

/// The result of a fit.
#[derive(Clone, Debug)]
pub(crate) struct Fitted {
    /// The messages in their order, as the caller gets them.
    pub(crate) messages: Vec<Value>,
    /// For each of them, its index in the input; none for the marker.
    pub(crate) from: Vec<Option<usize>>,
    /// Whether it is the unchanged message of the input.
    same: Vec<bool>,
    pub(crate) report: Value,
    summarize: Option<Value>,
    state: Value,
}

/// Fits a chat: a list of messages, or a container of them.
pub(crate) fn fit(messages: &Value, options: &Value) -> Result<Fitted, Error> {
    fit_with(messages, options, &CallContext::default())
}

pub(crate) fn fit_with(messages: &Value, options: &Value, host: &CallContext) -> Result<Fitted, Error> {
    // The halves around a summary are next to the options.
    let mut request = json!({ "messages": messages, "options": options });
    for name in ["phase", "summaryText", "target"] {
        if let Some(value) = request["options"].as_object_mut().and_then(|options| options.remove(name)) {
            request[name] = value;
        }
    }
    let request = serde_json::to_vec(&request).unwrap();
    let answer = CALLS[0].answer(&mut (), &request, &[], host)?;
    let answer: Value = serde_json::from_slice(&answer.to_json()).unwrap();
    let list = list_of(messages).unwrap_or_default();
    let mut fitted = Fitted {
        messages: Vec::new(),
        from: Vec::new(),
        same: Vec::new(),
        report: answer["report"].clone(),
        summarize: answer.get("summarize").cloned(),
        state: answer["state"].clone(),
    };
    let all: Vec<Value> = (0..list.len()).map(|at| json!(at)).collect();
    assert_eq!(answer["same"], json!(answer.get("messages").is_none()));
    for entry in answer.get("messages").map_or(&all, |messages| messages.as_array().unwrap()) {
        let (from, changes): (Option<usize>, &[Value]) = match entry {
            Value::Array(entry) => (entry[0].as_u64().map(|at| at as usize), entry[1].as_array().unwrap()),
            entry => (entry.as_u64().map(|at| at as usize), &[]),
        };
        fitted.from.push(from);
        fitted.same.push(from.is_some() && changes.is_empty());
        fitted.messages.push(from.map_or_else(|| entry.clone(), |at| changed(&list[at], changes)));
    }
    Ok(fitted)
}

/// What a chat costs as it stands.
pub(crate) fn count(messages: &Value, options: &Value, host: &CallContext) -> Result<u64, Error> {
    let request = serde_json::to_vec(&json!({ "messages": messages, "options": options })).unwrap();
    let call = CALLS.iter().find(|call| call.name == "countMessages").unwrap();
    let answer = call.answer(&mut (), &request, &[], host)?;
    Ok(serde_json::from_slice(&answer.to_json()).unwrap())
}

/// Options by which whole messages are removed, and nothing else is done.
fn plain(more: Value) -> Value {
    let mut options = json!({ "edits": false, "protect": [], "protectTools": [], "fill": "off" });
    options.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    options
}

fn options(more: Value) -> Value {
    let mut options = json!({});
    options.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    options
}
