//! What each provider demands of the order of things, checked on a body as it is sent.

use std::collections::BTreeSet;

use ctxweave::prompt::bodies::Provider;
use serde_json::{Value, json};

use crate::model::trimmed;

/// The errors of a body; none if the provider would accept it.
pub(crate) fn broken(provider: Provider, body: &Value) -> Result<(), String> {
    match provider {
        Provider::Anthropic => anthropic(body),
        Provider::OpenAi => chat(body),
        Provider::OpenAiResponses => responses(body),
        Provider::Gemini => gemini(body, true),
        Provider::GeminiInteractions => interactions(body),
        Provider::Completion => completion(body),
    }
}

/// The errors of a chat's messages sent unchanged. The vendor merges consecutive messages of one role.
pub(crate) fn broken_chat(format: &str, messages: &[Value]) -> Result<(), String> {
    match format {
        "openai" => chat(&json!({ "messages": messages })),
        "openai-responses" => responses(&json!({ "input": messages })),
        "gemini" => gemini(&json!({ "contents": messages }), false),
        "gemini-interactions" => interactions(&json!({ "input": messages })),
        "anthropic" => {
            let mut merged: Vec<Value> = Vec::new();
            for message in messages {
                let blocks = match &message["content"] {
                    Value::String(text) => vec![json!({ "type": "text", "text": text })],
                    blocks => blocks.as_array().unwrap().clone(),
                };
                match merged.last_mut().filter(|last| last["role"] == message["role"]) {
                    Some(last) => last["content"].as_array_mut().unwrap().extend(blocks),
                    None => merged.push(json!({ "role": message["role"], "content": blocks })),
                }
            }
            anthropic(&json!({ "max_tokens": 1, "messages": merged }))
        }
        _ => Ok(()),
    }
}

/// Every string in a value.
pub(super) fn strings<'v>(value: &'v Value, found: &mut Vec<&'v str>) {
    match value {
        Value::String(text) => found.push(text),
        Value::Array(values) => values.iter().for_each(|value| strings(value, found)),
        Value::Object(values) => values.values().for_each(|value| strings(value, found)),
        _ => {}
    }
}

fn ensure(fine: bool, what: &str) -> Result<(), String> {
    if fine { Ok(()) } else { Err(what.to_owned()) }
}

fn list<'v>(value: &'v Value, field: &str) -> &'v [Value] {
    value[field].as_array().map_or(&[], Vec::as_slice)
}

fn ids<'v>(blocks: &'v [Value], kind: &str, field: &str) -> Vec<&'v str> {
    blocks.iter().filter(|block| block["type"] == kind).map(|block| block[field].as_str().unwrap()).collect()
}

fn once(seen: &mut BTreeSet<String>, ids: &[&str]) -> Result<(), String> {
    ids.iter().try_for_each(|id| ensure(seen.insert((*id).to_owned()), "an id stands for two calls"))
}

/// A name that the provider takes: so many bytes of letters, digits, `_`, `-` and these.
fn named(name: &Value, longest: usize, others: &str, letter_first: bool) -> Result<(), String> {
    let name = name.as_str().unwrap();
    let fits = |ch: char| ch.is_ascii_alphanumeric() || "_-".contains(ch) || others.contains(ch);
    let first = name.starts_with(|ch: char| !letter_first || ch.is_ascii_alphabetic() || ch == '_');
    ensure(first && (1..=longest).contains(&name.len()) && name.chars().all(fits), "a name of a tool that is refused")
}

/// What no provider refuses: a history may have calls of a tool that the caller does not define any more. The last thing that
/// is looked for.
pub(crate) const UNDEFINED: &str = "a tool that is not defined";

/// Called tools are defined, if any are, and have names that the provider accepts. Tools without one, such as those
/// that the provider runs, are none that can be called.
fn defined(called: &[&Value], tools: &[&Value], named: impl Fn(&Value) -> Result<(), String>) -> Result<(), String> {
    let tools: Vec<_> = tools.iter().filter(|name| !name.is_null()).collect();
    called.iter().chain(tools.iter().copied()).try_for_each(|name| named(name))?;
    let names: BTreeSet<String> = tools.iter().map(|name| name.to_string()).collect();
    ensure(names.len() == tools.len(), "two tools of one name")?;
    ensure(names.is_empty() || called.iter().all(|name| names.contains(&name.to_string())), UNDEFINED)
}

/// How many of these have a cache breakpoint.
fn marked<'v>(blocks: impl IntoIterator<Item = &'v Value>) -> usize {
    blocks.into_iter().filter(|block| !block["cache_control"].is_null()).count()
}

fn completion(body: &Value) -> Result<(), String> {
    ensure(body["prompt"].is_string(), "a prompt that is no text")?;
    ensure(body["model"].as_str().is_some_and(|model| !model.is_empty()), "no model")?;
    ensure(body.get("messages").is_none() && body["max_completion_tokens"].is_null(), "a field of chats")
}

/// A signature is what the vendor gave, with nothing around it, and begins as those of no other vendor do.
fn signed(signature: &Value, is_own: impl Fn(&str) -> bool) -> Result<(), String> {
    let signature = signature.as_str().unwrap_or_default();
    ensure(!signature.is_empty() && !signature.starts_with('{'), "a signature that no vendor gives")?;
    ensure(is_own(signature.get(..6).unwrap_or_default()), "a signature of another vendor")
}

/// Whether a model wants its reasoning back: it is known by a word of its name.
pub(crate) fn wants_reasoning(body: &Value) -> bool {
    let model = body["model"].as_str().unwrap_or_default().to_lowercase();
    ["deepseek", "kimi", "moonshot", "glm-", "minimax", "mimo-"].iter().any(|word| model.contains(word))
}

fn anthropic(body: &Value) -> Result<(), String> {
    let messages = list(body, "messages");
    ensure(body["max_tokens"].is_u64(), "max_tokens")?;
    ensure(messages.first().is_some_and(|first| first["role"] == "user"), "the user is first")?;
    ensure(messages.windows(2).all(|two| two[0]["role"] != two[1]["role"]), "roles alternate")?;
    let mut seen = BTreeSet::new();
    let mut open: Vec<&str> = Vec::new();
    let mut marks = 0;
    let mut called = Vec::new();
    let is_manual = body["thinking"]["type"] == "enabled";
    for message in messages {
        let blocks = list(message, "content");
        let thinks = |block: &Value| block["type"] == "thinking" || block["type"] == "redacted_thinking";
        ensure(!blocks.last().is_some_and(thinks), "a thought is the last block")?;
        let is_first = blocks.windows(2).all(|two| thinks(&two[0]) || !thinks(&two[1]));
        ensure(!is_manual || is_first, "a thought is not first")?;
        for block in blocks.iter().filter(|block| thinks(block)) {
            let field = if block["type"] == "thinking" { "signature" } else { "data" };
            signed(&block[field], |kind| kind != "gAAAAA")?;
        }
        for failed in blocks.iter().filter(|block| block["is_error"] == true) {
            let texts = list(failed, "content");
            let text = failed["content"].as_str().map_or(!texts.is_empty(), |text| !trimmed(text).is_empty());
            ensure(text && texts.iter().all(|text| text["type"] == "text"), "a failed result that is no text")?;
        }
        called.extend(blocks.iter().filter(|block| block["type"] == "tool_use").map(|block| &block["name"]));
        ensure(
            message["content"].as_str().map_or(!blocks.is_empty(), |text| !trimmed(text).is_empty()),
            "empty content",
        )?;
        for block in blocks {
            ensure(block["type"] != "text" || !trimmed(block["text"].as_str().unwrap()).is_empty(), "a blank text")?;
            ensure(!thinks(block) || marked([block]) == 0, "a cache breakpoint on a thought")?;
        }
        marks += marked(blocks);
        let results = ids(blocks, "tool_result", "tool_use_id");
        ensure(results == open, "results answer the calls of the message before")?;
        let leading = blocks.iter().take(results.len());
        ensure(leading.into_iter().all(|block| block["type"] == "tool_result"), "results come first")?;
        open = ids(blocks, "tool_use", "id");
        ensure(open.is_empty() || message["role"] == "assistant", "calls are the assistant's")?;
        let fits = |id: &&str| id.chars().all(|ch| ch.is_ascii_alphanumeric() || ch == '_' || ch == '-');
        let fits = |id: &&str| (1..=64).contains(&id.len()) && fits(id);
        ensure(open.iter().all(fits), "an id that Anthropic refuses")?;
        ensure(
            blocks.iter().all(|block| block["type"] != "tool_use" || block["input"].is_object()),
            "input is an object",
        )?;
        once(&mut seen, &open)?;
    }
    ensure(open.is_empty(), "calls without results")?;
    let tools = list(body, "tools");
    marks += marked(list(body, "system")) + marked(tools) + marked([body]);
    ensure(marks <= 4, "more than four cache breakpoints")?;
    defined(&called, &tools.iter().map(|tool| &tool["name"]).collect::<Vec<_>>(), |name| named(name, 128, "", false))
}

fn chat(body: &Value) -> Result<(), String> {
    let mut seen = BTreeSet::new();
    let mut open: Vec<&str> = Vec::new();
    ensure(!list(body, "messages").is_empty(), "no messages")?;
    let wants = wants_reasoning(body);
    ensure(!wants || body.get("max_completion_tokens").is_none(), "a limit under a name that the model does not know")?;
    let mut called = Vec::new();
    for message in list(body, "messages") {
        let reasons = |field: &str| message.get(field).is_some();
        let reasons = ["reasoning", "reasoning_content", "reasoning_details"].into_iter().any(reasons);
        // A chat by itself names no model: it keeps the fields that it came with.
        let may_reason = (wants || body.get("model").is_none()) && message["role"] == "assistant";
        ensure(!reasons || may_reason, "reasoning for a model that does not want it")?;
        if message["role"] == "tool" {
            ensure(!open.is_empty() && message["tool_call_id"] == open.remove(0), "a result answers the next call")?;
            continue;
        }
        ensure(open.is_empty(), "results follow directly")?;
        let calls = list(message, "tool_calls");
        open = calls.iter().map(|call| call["id"].as_str().unwrap()).collect();
        ensure(open.is_empty() || message["role"] == "assistant", "calls are the assistant's")?;
        ensure(open.iter().all(|id| (1..=40).contains(&id.len())), "an id that is empty or too long")?;
        ensure(calls.iter().all(|call| call["function"]["arguments"].is_string()), "arguments are text")?;
        ensure(!message["content"].is_null() || !calls.is_empty(), "a message without content")?;
        once(&mut seen, &open)?;
        called.extend(calls.iter().map(|call| &call["function"]["name"]));
    }
    ensure(open.is_empty(), "calls without results")?;
    let tools =
        list(body, "tools").iter().map(|tool| tool.pointer("/custom/name").unwrap_or(&tool["function"]["name"]));
    defined(&called, &tools.collect::<Vec<_>>(), |name| named(name, 64, "", false))
}

/// The cache breakpoints in a value; an error if one stands where OpenAI has none.
fn breakpoints(value: &Value) -> Result<usize, String> {
    let here = match value.get("prompt_cache_breakpoint") {
        None => 0,
        Some(found) => {
            let is_input = value["type"].as_str().is_some_and(|kind| kind.starts_with("input_"));
            ensure(is_input && found["mode"] == "explicit", "a cache breakpoint at no part of the input")?;
            1
        }
    };
    let inner = value.as_array().into_iter().flatten().chain(value.as_object().into_iter().flat_map(|it| it.values()));
    inner.map(breakpoints).try_fold(here, |sum, more| Ok(sum + more?))
}

fn responses(body: &Value) -> Result<(), String> {
    let marks = breakpoints(&body["input"])?;
    ensure(marks <= 4, "more than four cache breakpoints")?;
    let is_explicit = body["prompt_cache_options"]["mode"] == "explicit";
    ensure(!is_explicit || marks > 0, "the cache is off without a breakpoint")?;
    let mut seen = BTreeSet::new();
    let mut open: Vec<&str> = Vec::new();
    let mut thoughts = BTreeSet::new();
    ensure(!list(body, "input").is_empty(), "no input")?;
    let mut answering = false;
    let mut called = Vec::new();
    let assistants = |item: &Value| item["role"] == "assistant" || item["type"] == "function_call";
    for items in list(body, "input").chunk_by(|a, b| a["type"] == "reasoning" && b["type"] != "") {
        let reasons = items.first().is_some_and(|item| item["type"] == "reasoning");
        ensure(!reasons || items.last().is_some_and(assistants), "reasoning without what came of it")?;
    }
    for item in list(body, "input") {
        match item["type"].as_str() {
            Some("function_call") => {
                ensure(!answering || open.is_empty(), "results follow directly")?;
                answering = false;
                let id = item["call_id"].as_str().unwrap();
                ensure((1..=64).contains(&id.len()), "an id that is empty or too long")?;
                once(&mut seen, &[id])?;
                open.push(id);
                called.push(&item["name"]);
            }
            Some("function_call_output") => {
                answering = true;
                ensure(!open.is_empty() && item["call_id"] == open.remove(0), "a result answers the next call")?;
            }
            Some("reasoning") => {
                let id = item["id"].as_str().unwrap_or_default();
                ensure(!id.is_empty() && thoughts.insert(id), "reasoning without an id of its own")?;
                ensure(open.is_empty() || !answering, "results follow directly")?;
                // A chat by itself, which names no model, may hold items that the vendor keeps.
                if body.get("model").is_some() || item.get("encrypted_content").is_some() {
                    signed(&item["encrypted_content"], |kind| !kind.starts_with("Eq"))?;
                }
            }
            _ => ensure(open.is_empty() || (!answering && item["role"] != "user"), "results follow directly")?,
        }
    }
    ensure(open.is_empty(), "calls without results")?;
    let tools = list(body, "tools").iter().map(|tool| &tool["name"]);
    defined(&called, &tools.collect::<Vec<_>>(), |name| named(name, 64, "", false))
}

/// Steps of Interactions: the user's first; results directly after the calls of a turn, each once; thoughts signed, and before a step of
/// the model's or of the user's, never between a call and its result.
fn interactions(body: &Value) -> Result<(), String> {
    let steps = list(body, "input");
    ensure(!steps.is_empty(), "no input")?;
    ensure(steps[0]["type"] == "user_input", "the user is first")?;
    ensure(body.get("model").is_none_or(Value::is_string), "a model that is no text")?;
    ensure(body.get("system_instruction").is_none_or(Value::is_string), "a system instruction that is no text")?;
    for field in ["max_output_tokens", "temperature", "max_tokens", "contents", "messages"] {
        ensure(body.get(field).is_none(), "a setting outside `generation_config`")?;
    }
    let (mut seen, mut called) = (BTreeSet::new(), Vec::new());
    // The calls of tools that the vendor runs, without results.
    let mut running = BTreeSet::new();
    // The calls without results, and of which the results have begun.
    let (mut open, mut answering): (BTreeSet<String>, bool) = (BTreeSet::new(), false);
    let text = |step: &Value, field: &str| step[field].as_str().unwrap_or_default().to_owned();
    for step in steps {
        ensure(step.get("role").is_none(), "a step with a role")?;
        let kind = text(step, "type");
        ensure(open.is_empty() || !answering || kind == "function_result", "results follow directly")?;
        match kind.as_str() {
            "user_input" | "model_output" => {
                let is_model = kind == "model_output";
                ensure(open.is_empty() || is_model, "results follow directly")?;
                let parts = list(step, "content");
                ensure(!parts.is_empty(), "a step without content")?;
                for part in parts {
                    let fits = match part["type"].as_str().unwrap_or_default() {
                        "text" => part["text"].as_str().is_some_and(|text| !trimmed(text).is_empty()),
                        "image" | "audio" | "video" | "document" => {
                            part["data"].is_string() && part["mime_type"].is_string() || part["uri"].is_string()
                        }
                        _ => false,
                    };
                    ensure(fits, "an empty part")?;
                }
            }
            "thought" => {
                signed(&step["signature"], |kind| kind != "gAAAAA")?;
                let is_text = |part: &Value| part["type"] == "text" && part["text"].is_string();
                ensure(step.get("summary").is_none() || list(step, "summary").iter().all(is_text), "a summary")?;
            }
            "function_call" => {
                answering = false;
                ensure(step["arguments"].is_object(), "arguments are an object")?;
                ensure(!text(step, "id").is_empty(), "a call without an id")?;
                once(&mut seen, &[&text(step, "id")])?;
                open.insert(text(step, "id"));
                called.push(&step["name"]);
            }
            "function_result" => {
                answering = true;
                ensure(open.remove(&text(step, "call_id")), "a result answers an open call")?;
                let fits = step["result"].is_string() || step["result"].is_array() || step["result"].is_object();
                ensure(fits, "a result without content")?;
                ensure(step.get("is_error").is_none_or(Value::is_boolean), "a failure that is no flag")?;
            }
            kind if kind.ends_with("_call") => ensure(running.insert(text(step, "id")), "a tool that runs twice")?,
            kind if kind.ends_with("_result") => {
                ensure(running.remove(&text(step, "call_id")), "a result of a tool that did not run")?;
            }
            _ => return Err(format!("a step `{kind}`")),
        }
    }
    ensure(open.is_empty() && running.is_empty(), "calls without results")?;
    let tools = list(body, "tools");
    ensure(tools.iter().all(|tool| tool["type"].is_string()), "a tool without a type")?;
    let tools = tools.iter().filter(|tool| tool["type"] == "function").map(|tool| &tool["name"]);
    defined(&called, &tools.collect::<Vec<_>>(), |name| named(name, 128, ".:", true))
}

fn gemini(body: &Value, alternates: bool) -> Result<(), String> {
    let contents = list(body, "contents");
    ensure(contents.first().is_some_and(|first| first["role"] == "user"), "the user is first")?;
    let mut open: Vec<(&str, &str)> = Vec::new();
    let mut before: Option<(bool, bool)> = None;
    let mut called = Vec::new();
    for content in contents {
        let parts = list(content, "parts");
        ensure(!parts.is_empty(), "a turn without parts")?;
        for signature in parts.iter().filter_map(|part| part.get("thoughtSignature")) {
            signed(signature, |kind| kind != "gAAAAA")?;
        }
        let parts_of = |field: &str| -> Vec<(&str, &str)> {
            let parts = parts.iter().filter_map(|part| part.get(field));
            parts.map(|it| (it["id"].as_str().unwrap_or_default(), it["name"].as_str().unwrap())).collect()
        };
        let (calls, results) = (parts_of("functionCall"), parts_of("functionResponse"));
        ensure(results == open, "results answer the calls of the turn before")?;
        ensure(results.is_empty() || results.len() == parts.len(), "results are a turn of their own")?;
        let kind = (content["role"] == "model", !results.is_empty());
        ensure(!alternates || before != Some(kind), "turns alternate")?;
        before = Some(kind);
        ensure(calls.is_empty() || kind.0, "calls are the model's")?;
        called.extend(parts.iter().filter_map(|part| part.get("functionCall")).map(|call| &call["name"]));
        open = calls;
    }
    ensure(open.is_empty(), "calls without results")?;
    let tools = list(body, "tools").iter().flat_map(|tool| list(tool, "functionDeclarations"));
    defined(&called, &tools.map(|tool| &tool["name"]).collect::<Vec<_>>(), |name| named(name, 128, ".:", true))
}
