//! An independent recount of a rendered result, from its JSON.

use ctxweave::loom::Options;
use ctxweave::tokens::Counter;
use proptest::prelude::*;
use serde_json::Value;

/// An independent recount never exceeds the limit, and equals the reported total and its parts.
pub(crate) fn is_the_report(result: &Value, recount: u64) -> Result<(), TestCaseError> {
    let tokens = &result["report"]["tokens"];
    prop_assert_eq!(tokens["total"].as_u64().unwrap(), recount);
    prop_assert!(recount <= result["report"]["limit"].as_u64().unwrap());
    let parts = ["system", "messages", "overhead"].map(|part| tokens[part].as_u64().unwrap());
    prop_assert_eq!(parts.iter().sum::<u64>(), recount);
    Ok(())
}

/// Tokens of one message's content.
pub(crate) fn content(content: &Value, options: &Options, counter: &dyn Counter) -> u64 {
    let text = |text: &str| u64::from(counter.count(text));
    match content {
        Value::String(said) => text(said),
        Value::Array(parts) => parts.iter().map(|part| self::part(part, options, counter)).sum(),
        other => panic!("content is {other}"),
    }
}

fn part(part: &Value, options: &Options, counter: &dyn Counter) -> u64 {
    let text = |key: &str| u64::from(counter.count(part[key].as_str().unwrap()));
    match part["type"].as_str().unwrap() {
        "text" | "reasoning" => text("text"),
        "image" => {
            options.image.tokens(part["width"].as_u64().zip(part["height"].as_u64()).map(|(w, h)| (w as u32, h as u32)))
        }
        "toolCall" => text("name") + u64::from(counter.count(&part["arguments"].to_string())),
        "toolResult" => content(&part["content"], options, counter),
        "vendor" => {
            let value = &part["value"];
            let sealed = value["encrypted_content"].as_str().map_or(0, |sealed| sealed.len().div_ceil(5) as u64);
            match value["type"].as_str() {
                Some("compaction") => u64::from(counter.count(value["content"].as_str().unwrap_or(""))) + sealed,
                _ => u64::from(counter.count(&value.to_string())),
            }
        }
        other => panic!("part is {other}"),
    }
}

/// Tokens of a whole dialogue.
pub(crate) fn dialogue(result: &Value, options: &Options, counter: &dyn Counter) -> u64 {
    let messages = result["messages"].as_array().unwrap();
    let said: u64 = messages.iter().map(|message| content(&message["content"], options, counter)).sum();
    let system = u64::from(counter.count(result["system"].as_str().unwrap_or("")));
    system + said + options.overhead.per_request + options.overhead.per_message * messages.len() as u64
}

/// Tokens of a whole document.
pub(crate) fn document(result: &Value, options: &Options, counter: &dyn Counter) -> u64 {
    let count = |key: &str| u64::from(counter.count(result[key].as_str().unwrap_or("")));
    count("system") + count("document") + options.overhead.per_request
}
