//! Counting tokens.

use std::rc::Rc;

use ctxweave::Error;
use ctxweave::tokens::chat::{ChatMessage, ChatOverhead, count_chat};
use ctxweave::tokens::{Counter, Tokenizers, models};
use serde_json::{Value, json};

pub(super) fn call(name: &str, args: &[Value], _steps: Option<&[Value]>) -> Option<Result<Value, Error>> {
    let options = if name == "countTokensUpTo" { args.get(2) } else { args.get(1) };
    let options = options.unwrap_or(&Value::Null);
    let count: fn(&dyn Counter, &[Value], &Value) -> Value = match name {
        "countTokens" => |counter, args, _| json!(counter.count(text(&args[0]))),
        "countTokensUpTo" => |counter, args, _| json!(counter.count_up_to(text(&args[0]), whole(&args[1]).unwrap())),
        "countChatTokens" => |counter, args, options| json!(chat(counter, &args[0], options)),
        "modelInfo" => return Some(Ok(json!(models::model(text(&args[0]))))),
        _ => return None,
    };
    Some(counter(options).map(|counter| count(counter.as_ref(), args, options)))
}

fn counter(options: &Value) -> Result<Rc<dyn Counter>, Error> {
    Tokenizers::default().get(options["tokenizer"].as_str().unwrap_or("heuristic"))
}

fn chat(counter: &dyn Counter, messages: &Value, options: &Value) -> u64 {
    let ChatOverhead { per_message, per_name, per_request } = ChatOverhead::default();
    let overhead = ChatOverhead {
        per_message: whole(&options["perMessage"]).unwrap_or(per_message),
        per_name: whole(&options["perName"]).unwrap_or(per_name),
        per_request: whole(&options["perRequest"]).unwrap_or(per_request),
    };
    let messages = messages.as_array().unwrap().iter().map(|message| ChatMessage {
        role: text(&message["role"]),
        content: text(&message["content"]),
        name: message["name"].as_str(),
    });
    count_chat(messages, overhead, counter)
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

fn whole(value: &Value) -> Option<u32> {
    value.as_u64().map(|number| u32::try_from(number).unwrap())
}
