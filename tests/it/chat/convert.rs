//! Chats in another format.

use ctxweave::Code;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::properties::turns;
use super::written::{Call, FORMATS, Turn, is_assistant, write};
use crate::bodies::rules::broken_chat;
use crate::calls::call;

struct Converted {
    messages: Vec<Value>,
    system: Option<String>,
    diagnostics: Vec<Value>,
}

impl Converted {
    fn codes(&self) -> Vec<&str> {
        self.diagnostics.iter().map(|found| found["code"].as_str().unwrap()).collect()
    }

    /// Diagnostics above the severity `info`.
    fn warnings(&self) -> Vec<&str> {
        let warnings = self.diagnostics.iter().filter(|found| found["severity"] != "info");
        warnings.map(|found| found["message"].as_str().unwrap()).collect()
    }
}

fn convert(messages: &Value, from: Option<&str>, to: &str) -> Converted {
    let mut options = json!({ "to": to });
    if let Some(from) = from {
        options["from"] = json!(from);
    }
    let result = call("convertMessages", &[messages.clone(), options], None).unwrap();
    Converted {
        messages: result["messages"].as_array().unwrap().clone(),
        system: result["system"].as_str().map(str::to_owned),
        diagnostics: result["diagnostics"].as_array().unwrap().clone(),
    }
}

/// The content of a chat, whatever its format: texts with their roles, calls, results, images, thoughts.
fn said(messages: &[Value], system: Option<&str>) -> Vec<String> {
    let mut out: Vec<String> = system.map(|text| format!("system: {text}")).into_iter().collect();
    // Results follow the whole answer with their calls.
    for message in messages {
        let role = match (message["role"].as_str(), message["type"].as_str()) {
            (Some("model"), _) | (_, Some("ai" | "reasoning" | "thought" | "model_output" | "function_call")) => {
                "assistant"
            }
            (_, Some("human" | "user_input" | "function_call_output" | "function_call_result" | "function_result")) => {
                "user"
            }
            (Some("tool"), _) | (_, Some("tool")) => "user",
            (Some(role), _) => role,
            (None, kind) => kind.unwrap_or("user"),
        };
        let mut results = Vec::new();
        said_in(role, message, &mut out, &mut results);
        out.append(&mut results);
    }
    out
}

fn json_of(value: &Value) -> Value {
    value.as_str().map_or_else(|| value.clone(), |text| serde_json::from_str(text).unwrap_or_else(|_| value.clone()))
}

fn said_in(role: &str, value: &Value, out: &mut Vec<String>, results: &mut Vec<String>) {
    let is_image = |kind: &Value| kind.as_str().is_some_and(|kind| kind.contains("image") || kind == "file");
    if role != "assistant" && (is_image(&value["type"]) || value.get("inlineData").is_some()) {
        out.append(results);
    }
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let Value::Object(fields) = value else {
        match value {
            Value::String(text) if !text.is_empty() => {
                if role != "assistant" {
                    out.append(results);
                }
                out.push(format!("{role}: {text}"));
            }
            Value::Array(items) => items.iter().for_each(|item| said_in(role, item, out, results)),
            _ => {}
        }
        return;
    };
    let kind = value["type"].as_str().unwrap_or_default();
    let first = |names: &[&str]| names.iter().find_map(|name| fields.get(*name)).cloned().unwrap_or_default();
    let called =
        |id: &Value, name: &Value, input: &Value| format!("call {} {} {}", text(id), text(name), json_of(input));
    if let Some(inner) = fields.get("functionCall") {
        out.push(called(&inner["id"], &inner["name"], &inner["args"]));
    } else if let Some(inner) = fields.get("functionResponse") {
        results.push(format!("result {} {}", text(&inner["id"]), text(&inner["response"]["output"])));
    } else if let Some(inner) = fields.get("inlineData") {
        out.push(format!("image {} {}", text(&inner["mimeType"]), text(&inner["data"])));
    } else if fields.get("thought") == Some(&json!(true)) {
        out.push(format!("thought {}", text(&value["text"])));
    } else if kind == "tool" || value["role"] == "tool" && fields.contains_key("tool_call_id") {
        results.push(format!("result {} {}", text(&value["tool_call_id"]), text(&value["content"])));
    } else if kind.starts_with("tool-") && fields.contains_key("state") {
        out.push(called(&value["toolCallId"], &json!(kind.strip_prefix("tool-")), &value["input"]));
        if value["state"] == "output-available" {
            results.push(format!("result {} {}", text(&value["toolCallId"]), text(&value["output"])));
        }
    } else {
        match kind {
            "step-start" => out.append(results),
            "reasoning" | "thinking" | "thought" => {
                let thought = first(&["thinking", "reasoning", "text"]);
                let list = first(&["summary", "content"]);
                let thought = thought.as_str().map_or_else(|| text(&list[0]["text"]), str::to_owned);
                out.push(format!("thought {thought}"));
            }
            "tool_use" | "toolCall" | "tool-call" | "function_call" | "tool_call" => {
                let id = first(&["call_id", "callId", "toolCallId", "id"]);
                out.push(called(&id, &first(&["name", "toolName"]), &first(&["input", "arguments", "args"])));
            }
            "function" => out.push(called(&value["id"], &value["function"]["name"], &value["function"]["arguments"])),
            "tool_result"
            | "toolResult"
            | "tool-result"
            | "function_call_output"
            | "function_call_result"
            | "function_result" => {
                let id = first(&["tool_use_id", "toolCallId", "call_id", "callId"]);
                let body = first(&["content", "output", "result"]);
                let body = body
                    .as_str()
                    .map_or_else(|| format!("{}{}", text(&body["value"]), text(&body["text"])), str::to_owned);
                results.push(format!("result {} {body}", text(&id)));
            }
            "image" | "image_url" | "input_image" | "file" => {
                let source = first(&["image_url", "image", "source", "data", "url"]);
                let source = source
                    .as_str()
                    .map_or_else(|| format!("{}{}", text(&source["url"]), text(&source["data"])), str::to_owned);
                let (mime, data) = match source.split_once(";base64,") {
                    Some((mime, data)) => (mime.strip_prefix("data:").unwrap().to_owned(), data.to_owned()),
                    None => (
                        text(&first(&["mimeType", "mediaType", "mime_type"]))
                            + value["source"]["media_type"].as_str().unwrap_or_default(),
                        source,
                    ),
                };
                out.push(format!("image {mime} {data}"));
            }
            _ => {
                let is_leaf = ["text", "input_text", "output_text"].contains(&kind)
                    || (kind.is_empty() && fields.contains_key("text"));
                if is_leaf {
                    return said_in(role, &value["text"], out, results);
                }
                if let Some(thought) = fields.get("reasoning_content") {
                    out.push(format!("thought {}", text(thought)));
                }
                for key in ["content", "parts"] {
                    fields.get(key).into_iter().for_each(|inner| said_in(role, inner, out, results));
                }
                let in_content = value["content"]
                    .as_array()
                    .is_some_and(|parts| parts.iter().any(|part| part["type"] == "tool_use"));
                if let Some(Value::Array(calls)) = fields.get("tool_calls").filter(|_| !in_content) {
                    for call in calls {
                        match call.get("function") {
                            Some(_) => said_in(role, call, out, results),
                            None => out.push(called(&call["id"], &call["name"], &call["args"])),
                        }
                    }
                }
            }
        }
    }
}

/// Whether a format can hold reasoning without its signature.
fn takes_thoughts(format: &str) -> bool {
    !matches!(format, "openai" | "openai-responses" | "anthropic" | "gemini-interactions")
}

fn expected(messages: &[Value], to: &str) -> Vec<String> {
    let mut all = said(messages, None);
    if !takes_thoughts(to) {
        all.retain(|it| !it.starts_with("thought "));
    }
    all
}

/// Gemini's calls have no ids in these chats.
fn without_ids(said: Vec<String>) -> Vec<String> {
    let without = |it: String| {
        let mut words: Vec<&str> = it.split(' ').collect();
        if words.len() > 2 && matches!(words[0], "call" | "result") {
            words.remove(1);
        }
        words.join(" ")
    };
    said.into_iter().map(without).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::generate::cases(30)))]

    /// The content survives, from every format to every other and back.
    #[test]
    fn conversion_keeps_the_content(turns in turns()) {
        for from in FORMATS {
            let messages = write(from, &turns);
            for to in FORMATS {
                let there = convert(&json!(messages), Some(from), to);
                if from == to {
                    prop_assert_eq!(&there.messages, &messages);
                    continue;
                }
                let begins_with_model = messages.first().is_some_and(is_assistant);
                let whole = without_ids(expected(&messages, to));
                let came = without_ids(said(&there.messages, there.system.as_deref()));
                prop_assert_eq!(&came, &whole, "{} to {} of {:?}: {:?}", from, to, messages, there.messages);
                // A call at the end may be open: then no vendor takes it yet.
                let is_open = broken_chat(from, &messages).is_err() || turns.last().is_some_and(|turn| matches!(turn, Turn::Assistant { calls, .. } if calls.iter().any(|call| call.result.is_none())));
                if !is_open && !begins_with_model {
                    let wrong = broken_chat(to, &there.messages);
                    prop_assert!(wrong.is_ok(), "{} to {}: {:?}: {:?}", from, to, wrong, there.messages);
                }
                let container = match (&there.system, *to) {
                    (Some(system), "anthropic") => json!({ "system": system, "messages": there.messages }),
                    (Some(system), "gemini-interactions") => json!({ "system_instruction": system, "input": there.messages }),
                    (Some(system), _) => json!({ "systemInstruction": { "parts": [{ "text": system }] }, "contents": there.messages }),
                    (None, _) => json!(there.messages),
                };
                let back = convert(&container, Some(to), from);
                let mut came = without_ids(said(&back.messages, back.system.as_deref()));
                let mut whole = whole;
                if !takes_thoughts(to) || !takes_thoughts(from) {
                    whole.retain(|it| !it.starts_with("thought "));
                    came.retain(|it| !it.starts_with("thought "));
                }
                prop_assert_eq!(&came, &whole, "{} to {} and back: {:?}", from, to, back.messages);
            }
        }
    }
}

#[test]
fn each_format_is_written_in_its_documented_form() {
    let turns = [
        Turn::System("Be brief.".to_owned()),
        Turn::Look("What is this?".to_owned()),
        Turn::Assistant {
            thought: Some("An image.".to_owned()),
            text: Some("I look.".to_owned()),
            calls: vec![Call {
                id: "c1".to_owned(),
                name: "look".to_owned(),
                input: "x".to_owned(),
                result: Some("a cat".to_owned()),
            }],
        },
        Turn::Assistant { thought: None, text: Some("A cat.".to_owned()), calls: Vec::new() },
    ];
    for to in FORMATS {
        let from = if *to == "generic" { "openai" } else { "generic" };
        let there = convert(&json!(write(from, &turns)), None, to);
        // It is found again by its shape.
        let again = convert(&json!(there.messages), None, "generic");
        assert!(*to == "generic" || !again.messages.is_empty());
        let found =
            crate::chat::fit(&json!(there.messages), &json!({ "maxTokens": 90000 })).unwrap().report["format"].clone();
        assert_eq!(found, *to, "{:?}", there.messages);
        let has_field = matches!(*to, "anthropic" | "gemini" | "gemini-interactions");
        assert_eq!(there.system.as_deref(), has_field.then_some("Be brief."), "{to}");
        let without_thought = !takes_thoughts(to);
        assert_eq!(
            there.codes().contains(&"body_reasoning_left_out"),
            without_thought,
            "{to}: {:?}",
            there.diagnostics
        );
    }
}

#[test]
fn proofs_of_thoughts_go_where_they_are_known() {
    let anthropic = json!([
        { "role": "user", "content": "a" },
        { "role": "assistant", "content": [
            { "type": "thinking", "thinking": "hm", "signature": "c2ln" },
            { "type": "redacted_thinking", "data": "c2VhbGVk" },
            { "type": "text", "text": "b" },
        ] },
        { "role": "user", "content": "c" },
    ]);
    for via in ["ai-sdk", "ai-sdk-ui", "langchain", "generic"] {
        let there = convert(&anthropic, None, via);
        assert!(there.warnings().is_empty(), "{:?}", there.diagnostics);
        let back = convert(&json!(there.messages), Some(via), "anthropic");
        assert_eq!(json!(back.messages), anthropic, "by way of {via}: {:?}", there.messages);
    }
    // Another vendor takes the thought at most.
    let gemini = convert(&anthropic, None, "gemini");
    assert_eq!(gemini.messages[1]["parts"][0], json!({ "text": "hm", "thought": true }));
    assert!(
        gemini.diagnostics[0]["message"].as_str().unwrap().contains("signature of reasoning"),
        "{:?}",
        gemini.diagnostics
    );
    let responses = convert(&anthropic, None, "openai-responses");
    assert!(responses.messages.iter().all(|item| item["type"] != "reasoning"), "{:?}", responses.messages);

    let signed = json!([
        { "role": "user", "parts": [{ "text": "a" }] },
        { "role": "model", "parts": [{ "text": "hm", "thought": true }, { "functionCall": { "id": "1", "name": "f", "args": {} }, "thoughtSignature": "Z2Vt" }] },
        { "role": "user", "parts": [{ "functionResponse": { "id": "1", "name": "f", "response": { "output": "x" } } }] },
    ]);
    for via in ["ai-sdk", "ai-sdk-ui", "generic"] {
        let there = convert(&signed, None, via);
        let back = convert(&json!(there.messages), Some(via), "gemini");
        assert_eq!(json!(back.messages), signed, "by way of {via}: {:?}", there.messages);
    }

    let sealed = json!([
        { "role": "user", "content": "a" },
        { "type": "reasoning", "id": "rs_1", "summary": [{ "type": "summary_text", "text": "hm" }], "encrypted_content": "b3Blbg" },
        { "role": "assistant", "content": "b" },
    ]);
    for via in ["ai-sdk", "ai-sdk-ui", "openai-agents", "generic"] {
        let there = convert(&sealed, Some("openai-responses"), via);
        let back = convert(&json!(there.messages), Some(via), "openai-responses");
        assert_eq!(json!(back.messages), sealed, "by way of {via}: {:?}", there.messages);
    }
}

#[test]
fn inexpressible_content_of_a_chat_is_reported() {
    let chat = json!([
        { "role": "user", "name": "ann", "content": [
            { "type": "text", "text": "a", "cache_control": { "type": "ephemeral" } },
            { "type": "file", "file": { "filename": "b.pdf", "file_data": "data:application/pdf;base64,AAAA" } },
            { "type": "input_audio", "input_audio": { "data": "UklGRg", "format": "wav" } },
        ] },
        { "role": "assistant", "content": "c", "tool_calls": [{ "id": "1", "type": "custom", "custom": { "name": "run", "input": "ls" } }] },
        { "role": "tool", "tool_call_id": "1", "content": [{ "type": "text", "text": "d" }] },
    ]);
    let there = convert(&chat, None, "anthropic");
    let messages: Vec<&str> = there.diagnostics.iter().map(|found| found["message"].as_str().unwrap()).collect();
    for what in [
        "field `name`",
        "field `cache_control`",
        "file, written as its name",
        "custom tool",
        "does not accept `audio/wav`",
    ] {
        assert!(messages.iter().any(|message| message.contains(what)), "{what}: {messages:?}");
    }
    assert_eq!(
        json!(there.messages),
        json!([
            { "role": "user", "content": [{ "type": "text", "text": "a" }, { "type": "text", "text": "[file: b.pdf]" }, { "type": "text", "text": "[audio]" }] },
            { "role": "assistant", "content": [{ "type": "text", "text": "c" }, { "type": "tool_use", "id": "1", "name": "run", "input": { "input": "ls" } }] },
            { "role": "user", "content": [{ "type": "tool_result", "tool_use_id": "1", "content": "d" }] },
        ])
    );
    // A recording is one in Gemini, and in the AI SDK.
    let there = convert(&chat, None, "gemini");
    assert_eq!(there.messages[0]["parts"][2], json!({ "inlineData": { "mimeType": "audio/wav", "data": "UklGRg" } }));
}

#[test]
fn results_keep_their_texts() {
    let png = "iVBORw0KGgo=";
    let failed = json!([
        { "role": "user", "content": "a" },
        { "role": "assistant", "content": [{ "type": "tool_use", "id": "1", "name": "f", "input": {} }, { "type": "tool_use", "id": "2", "name": "g", "input": {} }] },
        { "role": "user", "content": [
            { "type": "tool_result", "tool_use_id": "1", "content": "no", "is_error": true },
            { "type": "tool_result", "tool_use_id": "2", "content": [{ "type": "text", "text": "see" }, { "type": "image", "source": { "type": "base64", "media_type": "image/png", "data": png } }] },
        ] },
        { "role": "assistant", "content": "c" },
    ]);
    for via in
        FORMATS.iter().filter(|via| !matches!(**via, "anthropic" | "openai" | "openai-responses" | "openai-agents"))
    {
        let there = convert(&failed, None, via);
        let container = json!(there.messages);
        let back = convert(&container, Some(via), "anthropic");
        let results = json!(back.messages[2]["content"]);
        assert_eq!(results, failed[2]["content"], "by way of {via}: {:?}", there.messages);
    }
    // These have no field for a failure.
    for via in ["openai", "openai-responses", "openai-agents"] {
        let there = convert(&failed, None, via);
        assert!(there.codes().contains(&"body_error_as_text"), "{via}");
        assert!(json!(there.messages).to_string().contains("Error: no"), "{:?}", there.messages);
    }
    // JSON that a tool gave stays JSON, as a text.
    let sdk = json!([
        { "role": "assistant", "content": [{ "type": "tool-call", "toolCallId": "1", "toolName": "f", "input": { "n": 1.50 } }] },
        { "role": "tool", "content": [{ "type": "tool-result", "toolCallId": "1", "toolName": "f", "output": { "type": "json", "value": { "a": [1] } } }] },
    ]);
    let there = convert(&sdk, None, "openai");
    assert_eq!(there.messages[0]["tool_calls"][0]["function"]["arguments"], "{\"n\":1.5}");
    assert_eq!(there.messages[1], json!({ "role": "tool", "tool_call_id": "1", "content": "{\"a\":[1]}" }));
}

#[test]
fn a_run_in_one_message_is_its_steps() {
    let ui = json!([
        { "id": "u", "role": "user", "parts": [{ "type": "text", "text": "a" }] },
        { "id": "r", "role": "assistant", "parts": [
            { "type": "step-start" },
            { "type": "tool-f", "toolCallId": "1", "state": "output-available", "input": { "x": 1 }, "output": "one" },
            { "type": "dynamic-tool", "toolName": "g", "toolCallId": "2", "state": "output-error", "input": {}, "errorText": "no" },
            { "type": "step-start" },
            { "type": "text", "text": "b" },
            { "type": "tool-f", "toolCallId": "3", "state": "input-available", "input": {} },
        ] },
    ]);
    let there = convert(&ui, None, "ai-sdk");
    let roles: Vec<&str> = there.messages.iter().map(|message| message["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["user", "assistant", "tool", "assistant"]);
    assert_eq!(there.messages[2]["content"][1]["output"], json!({ "type": "error-text", "value": "no" }));
    // The call at the end is open, not broken.
    assert_eq!(there.messages[3]["content"][1]["toolCallId"], "3");
    assert!(there.warnings().is_empty(), "{:?}", there.diagnostics);
    let back = convert(&json!(there.messages), None, "ai-sdk-ui");
    assert_eq!(back.messages.len(), 2);
    assert_eq!(back.messages[1]["parts"].as_array().unwrap().len(), 6, "{:?}", back.messages);
    // In the middle it is.
    let mut broken = ui.clone();
    broken
        .as_array_mut()
        .unwrap()
        .push(json!({ "id": "v", "role": "user", "parts": [{ "type": "text", "text": "c" }] }));
    let there = convert(&broken, None, "ai-sdk");
    assert_eq!(there.codes(), ["tool_pair_broken"]);
    assert_eq!(there.diagnostics[0]["path"], "messages[1]");
}

#[test]
fn messages_stay_apart_where_they_may() {
    let chat = json!([
        { "role": "system", "content": "s" },
        { "role": "developer", "content": "d" },
        { "role": "user", "content": "a" },
        { "role": "user", "content": "b" },
        { "role": "system", "content": "t" },
        { "role": "user", "content": "c" },
    ]);
    let there = convert(&chat, Some("openai"), "openai-responses");
    assert_eq!(json!(there.messages), chat);
    let there = convert(&chat, Some("openai"), "ai-sdk");
    assert_eq!(there.messages.len(), 6);
    let there = convert(&chat, Some("openai"), "anthropic");
    assert_eq!(there.system.as_deref(), Some("s\n\nd\n\nt"));
    assert_eq!(there.codes(), ["body_part_moved"]);
    assert_eq!(there.messages.len(), 1);
    // Nothing is made up for an empty chat.
    for to in FORMATS {
        let there = convert(&json!([]), Some(if *to == "openai" { "anthropic" } else { "openai" }), to);
        assert!(there.messages.is_empty() && there.diagnostics.is_empty(), "{to}: {:?}", there.messages);
        let there = convert(
            &json!([{ "role": "system", "content": "s" }]),
            Some(if *to == "openai" { "generic" } else { "openai" }),
            to,
        );
        assert_eq!(there.messages.len() + usize::from(there.system.is_some()), 1, "{to}: {:?}", there.messages);
    }
}

#[test]
fn options_are_checked() {
    let error = |options: Value| {
        call("convertMessages", &[json!([{ "role": "user", "content": "a" }]), options], None).unwrap_err()
    };
    assert_eq!(error(json!({})).code(), Code::InvalidInput);
    assert_eq!(error(json!({ "to": "claude" })).code(), Code::UnknownValue);
    assert_eq!(error(json!({ "to": "openai", "from": "claude" })).code(), Code::UnknownValue);
    let result = call(
        "convertMessages",
        &[json!([{ "role": "user", "content": "a" }]), json!({ "to": "openai", "form": "generic" })],
        None,
    )
    .unwrap();
    assert_eq!(result["diagnostics"][0]["code"], "unknown_option");
    assert!(result["diagnostics"][0]["message"].as_str().unwrap().ends_with("did you mean `from`?"));
}

/// A chat as a tree, and the tree's path as a chat: the same.
#[test]
fn a_chat_is_a_tree_and_a_tree_a_chat() {
    let turns = [
        Turn::System("Be brief.".to_owned()),
        Turn::Look("What is this?".to_owned()),
        Turn::Assistant {
            thought: Some("An image.".to_owned()),
            text: None,
            calls: vec![Call {
                id: "c1".to_owned(),
                name: "look".to_owned(),
                input: "x".to_owned(),
                result: Some("a cat".to_owned()),
            }],
        },
        Turn::Assistant { thought: None, text: Some("A cat.".to_owned()), calls: Vec::new() },
        Turn::User("Thanks.".to_owned()),
    ];
    for format in FORMATS {
        let messages = json!(write(format, &turns));
        let result = call("chatToLoomTree", &[messages.clone(), json!({ "from": format })], None).unwrap();
        assert!(result["diagnostics"].as_array().unwrap().iter().all(|found| found["severity"] == "info"), "{result}");
        let nodes = result["tree"]["nodes"].as_array().unwrap();
        let count = if *format == "gemini" { 6 } else { 5 };
        assert_eq!(nodes.len(), count, "{format}: {result}");
        let has_system = !matches!(*format, "gemini" | "gemini-interactions" | "anthropic");
        assert_eq!(result["tree"]["systemContext"].is_string(), has_system);
        assert_eq!(result["media"].as_object().unwrap().len(), 1);
        assert_eq!(result["tip"], nodes.last().unwrap()["id"]);
        let options = json!({ "tip": result["tip"], "format": format, "media": result["media"] });
        let back = call("loomTreeToChat", &[result["tree"].clone(), options], None).unwrap();
        let came = said(back["messages"].as_array().unwrap(), None);
        let mut whole = said(messages.as_array().unwrap(), None);
        // A tree has one system context, and joins consecutive texts of one author.
        let signs = matches!(*format, "anthropic" | "gemini-interactions");
        whole.retain(|it| takes_thoughts(format) || signs || !it.starts_with("thought "));
        let came = if *format == "gemini" {
            came.join("\n").replace("Be brief.\n\n", "Be brief.\nuser: ").split('\n').map(str::to_owned).collect()
        } else {
            came
        };
        assert_eq!(without_ids(came), without_ids(whole), "{format}: {back}");
    }
    let ids = call(
        "chatToLoomTree",
        &[json!([{ "id": "x", "role": "user", "parts": [{ "type": "text", "text": "a" }] }])],
        None,
    )
    .unwrap();
    assert_eq!(ids["tip"], "x");
    let missing = call("loomTreeToChat", &[ids["tree"].clone(), json!({ "format": "openai" })], None).unwrap_err();
    assert_eq!(missing.code(), Code::InvalidInput);
    let cut = call(
        "loomTreeToChat",
        &[ids["tree"].clone(), json!({ "format": "openai", "tip": "x", "contextWindow": 2 })],
        None,
    )
    .unwrap();
    assert_eq!(
        (&cut["messages"][0]["content"], &cut["diagnostics"][0]["code"]),
        (&json!("a"), &json!("unknown_option"))
    );
}

/// The lines of a chat in the library's format are a session file in `generic-v1` (docs/sessions.md).
#[test]
fn a_chat_is_a_session_file() {
    let turns = [
        Turn::System("Be brief.".to_owned()),
        Turn::Look("What is this?".to_owned()),
        Turn::Assistant {
            thought: Some("An image.".to_owned()),
            text: None,
            calls: vec![Call {
                id: "c1".to_owned(),
                name: "look".to_owned(),
                input: "x".to_owned(),
                result: Some("a cat".to_owned()),
            }],
        },
        Turn::Assistant { thought: None, text: Some("A cat.".to_owned()), calls: Vec::new() },
    ];
    for format in FORMATS {
        let there = convert(&json!(write(format, &turns)), Some(format), "generic");
        let lines: Vec<String> = there.messages.iter().map(Value::to_string).collect();
        let read =
            call("transcriptToMessages", &[json!("generic-v1"), json!({ "$text": lines.join("\n") })], None).unwrap();
        assert_eq!(read["diagnostics"], json!([]), "{format}");
        let system: Vec<String> = read["system"].as_str().map(|text| format!("system: {text}")).into_iter().collect();
        let said_there = said(&there.messages, None);
        let came = [system, said(read["messages"].as_array().unwrap(), None)].concat();
        let came = came.join("\n").replace("Be brief.\n\n", "Be brief.\nuser: ");
        assert_eq!(without_ids(came.split('\n').map(str::to_owned).collect()), without_ids(said_there), "{format}");
    }
}

fn tool_turn() -> Value {
    let call = |name: &str| json!({ "id": "x", "type": "function", "function": { "name": name, "arguments": "{}" } });
    json!([
        { "role": "user", "content": "go" },
        { "role": "assistant", "content": null, "tool_calls": [call("a"), call("b")] },
        { "role": "tool", "tool_call_id": "x", "content": "of a" },
        { "role": "tool", "tool_call_id": "x", "content": "of b" },
    ])
}

#[test]
fn calls_with_one_id_get_their_results_in_order() {
    let done = convert(&tool_turn(), None, "anthropic");
    let calls = done.messages[1]["content"].as_array().unwrap();
    let results = done.messages[2]["content"].as_array().unwrap();
    for ((call, result), (name, text)) in calls.iter().zip(results).zip([("a", "of a"), ("b", "of b")]) {
        assert_eq!((call["name"].as_str(), result["content"].as_str()), (Some(name), Some(text)));
        assert_eq!(call["id"], result["tool_use_id"]);
    }
    // A later turn with the same id has its own results.
    let mut twice = tool_turn().as_array().unwrap().clone();
    twice.extend(tool_turn().as_array().unwrap().clone());
    let done = convert(&json!(twice), None, "openai-responses");
    let kinds: Vec<&str> = done.messages.iter().map(|item| item["output"].as_str().unwrap_or("-")).collect();
    assert_eq!(kinds, ["-", "-", "-", "of a", "of b", "-", "-", "-", "of a", "of b"]);
}

#[test]
fn a_denied_call_has_a_text() {
    for (approval, said) in [
        (json!({ "id": "p", "approved": false, "reason": "not today" }), "not today"),
        (json!({ "id": "p", "approved": false }), "Tool execution denied."),
    ] {
        let part = json!({ "type": "tool-rm", "toolCallId": "c", "state": "output-denied", "input": {}, "approval": approval });
        let chat = json!([
            { "id": "1", "role": "user", "parts": [{ "type": "text", "text": "remove it" }] },
            { "id": "2", "role": "assistant", "parts": [part] },
        ]);
        let done = convert(&chat, None, "anthropic");
        let result = &done.messages[2]["content"][0];
        assert_eq!((&result["content"], &result["is_error"]), (&json!(said), &json!(true)), "{result}");
    }
}

#[test]
fn empty_messages_are_reported() {
    let chat = json!([
        { "role": "user", "content": "a" },
        { "role": "assistant", "content": "" },
        { "role": "user", "content": " \n" },
        { "role": "assistant", "content": "b" },
    ]);
    for to in FORMATS.iter().copied().filter(|to| *to != "openai") {
        let done = convert(&chat, Some("openai"), to);
        let told = done.diagnostics.iter().find(|found| found["code"] == "not_expressible").unwrap();
        assert_eq!(told["path"], "messages[1]", "{to}");
        assert!(told["message"].as_str().unwrap().starts_with("an empty message, 2 times"), "{told}");
    }
    let tree = call("chatToLoomTree", &[chat, json!({})], None).unwrap();
    assert_eq!((tree["tree"]["nodes"].as_array().unwrap().len(), &tree["diagnostics"]), (4, &json!([])));
}

#[test]
fn langchains_older_calls_and_streamed_ones_are_read() {
    let call = json!({ "name": "f", "arguments": "{\"a\":1}" });
    let chat = json!([
        { "type": "human", "content": "go" },
        { "type": "ai", "content": "", "additional_kwargs": { "function_call": call } },
        { "type": "function", "name": "f", "content": "done" },
        { "type": "ai", "content": "", "tool_calls": [{ "id": "c", "name": "g", "args": {} }],
          "tool_call_chunks": [{ "id": "c", "name": "g", "args": "{}", "index": 0 }] },
        { "type": "tool", "tool_call_id": "c", "content": "too" },
        { "type": "ai", "content": "read" },
    ]);
    let done = convert(&chat, None, "openai");
    assert_eq!(done.diagnostics, Vec::<Value>::new());
    assert_eq!(done.messages[1]["tool_calls"][0]["function"], call);
    let fitted =
        super::fit(&chat, &json!({ "maxTokens": 9000, "edits": { "when": "always", "toolCalls": { "keepLast": 0 } } }));
    assert_eq!(fitted.unwrap().messages.len(), 2);
}

/// DeepSeek's, OpenRouter's and LiteLLM's fields for thoughts.
#[test]
fn thoughts_next_to_the_content_are_read_once() {
    let said = "hm ".repeat(50);
    let signed = json!([{ "type": "thinking", "thinking": said, "signature": "c2ln" }]);
    let detailed =
        json!([{ "type": "reasoning.text", "text": said, "signature": "c2ln", "format": "anthropic-claude-v1" }]);
    for (fields, signature) in [
        (json!({ "reasoning_content": said }), None),
        (json!({ "reasoning": said }), None),
        (json!({ "reasoning": said, "reasoning_details": detailed }), Some("c2ln")),
        (json!({ "reasoning_content": said, "thinking_blocks": signed }), Some("c2ln")),
        (json!({ "thinking_blocks": signed }), Some("c2ln")),
    ] {
        let mut message = json!({ "role": "assistant", "content": "b" });
        message.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        let chat = json!([{ "role": "user", "content": "a" }, message]);
        let report = super::fit(&chat, &json!({ "maxTokens": 9000 })).unwrap().report;
        assert_eq!(report["format"], "openai", "{fields}");
        let tokens = report["tokens"]["total"].as_u64().unwrap();
        assert!((50..140).contains(&tokens), "{fields} costs {tokens}");
        let done = convert(&chat, None, "ai-sdk");
        let parts = done.messages[1]["content"].as_array().unwrap();
        let thoughts: Vec<&Value> = parts.iter().filter(|part| part["type"] == "reasoning").collect();
        assert_eq!((thoughts.len(), thoughts[0]["text"].as_str()), (1, Some(&*said)), "{fields}");
        assert_eq!(thoughts[0]["providerOptions"]["anthropic"]["signature"].as_str(), signature, "{fields}");
    }
}

/// Gemini has two formats.
fn is_one_vendor(one: &str, other: &str) -> bool {
    one == other || one.starts_with("gemini") && other.starts_with("gemini")
}

/// A signature is sent to its vendor only, also through the generic format, a tree or the AI SDK.
#[test]
fn a_proof_knows_its_vendor_wherever_it_went() {
    let chats = [
        (
            "anthropic",
            json!([
                { "role": "user", "content": "a" },
                { "role": "assistant", "content": [{ "type": "thinking", "thinking": "hm", "signature": "c2ln" }, { "type": "text", "text": "b" }] },
            ]),
        ),
        (
            "gemini",
            json!([
                { "role": "user", "parts": [{ "text": "a" }] },
                { "role": "model", "parts": [{ "functionCall": { "id": "1", "name": "f", "args": {} }, "thoughtSignature": "c2ln" }] },
                { "role": "user", "parts": [{ "functionResponse": { "id": "1", "name": "f", "response": { "output": "r" } } }] },
            ]),
        ),
        (
            "gemini-interactions",
            json!([
                { "type": "user_input", "content": [{ "type": "text", "text": "a" }] },
                { "type": "thought", "signature": "c2ln" },
                { "type": "function_call", "id": "1", "name": "f", "arguments": {} },
                { "type": "function_result", "call_id": "1", "name": "f", "result": "r" },
            ]),
        ),
        (
            "openai-responses",
            json!([
                { "role": "user", "content": "a" },
                { "type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "c2ln" },
                { "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": "b" }] },
            ]),
        ),
    ];
    for (from, chat) in &chats {
        let tree = call("chatToLoomTree", &[chat.clone(), json!({ "from": from })], None).unwrap();
        let path = |format: &str| {
            let options = json!({ "format": format, "tip": tree["tip"] });
            call("loomTreeToChat", &[tree["tree"].clone(), options], None).unwrap()["messages"].clone()
        };
        let by_way = |way: &str| json!(convert(chat, Some(from), way).messages);
        for (way, there) in [
            ("generic", by_way("generic")),
            ("ai-sdk", by_way("ai-sdk")),
            ("ai-sdk-ui", by_way("ai-sdk-ui")),
            ("ai-sdk", path("ai-sdk")),
            ("ai-sdk-ui", path("ai-sdk-ui")),
        ] {
            for (to, _) in &chats {
                let back = json!(convert(&there, Some(way), to).messages).to_string();
                assert_eq!(back.contains("c2ln"), is_one_vendor(to, from), "{from} by way of {way} to {to}: {back}");
            }
        }
        for (to, _) in &chats {
            assert_eq!(path(to).to_string().contains("c2ln"), is_one_vendor(to, from), "{from} by a tree to {to}");
        }
    }
}

/// Of a signature that does not say whose it is, each vendor finds its own.
#[test]
fn an_opaque_signature_of_a_tree_stands_for_every_vendor() {
    let node = |id: &str, author: &str, content: Value| json!({ "id": id, "authorType": author, "content": content });
    let thought = json!({ "type": "mixed", "blocks": [{ "type": "reasoning", "text": "hm", "signature": "c2ln" }, { "type": "text", "text": "b" }] });
    let tree = json!({
        "mode": "dialogue",
        "rootNodeId": "a",
        "nodes": [node("a", "human", json!({ "type": "text", "text": "q" })), node("b", "model", thought)],
        "edges": [{ "id": "e", "sources": [{ "nodeId": "a" }], "targetNodeId": "b" }],
    });
    for (format, field, content) in
        [("ai-sdk", "providerOptions", "content"), ("ai-sdk-ui", "providerMetadata", "parts")]
    {
        let done = call("loomTreeToChat", &[tree.clone(), json!({ "tip": "b", "format": format })], None).unwrap();
        let parts = done["messages"][1][content].as_array().unwrap();
        let part = parts.iter().find(|part| part["type"] == "reasoning").unwrap();
        assert_eq!(
            part[field],
            json!({ "anthropic": { "signature": "c2ln" }, "google": { "thoughtSignature": "c2ln" } })
        );
    }
}

/// Gemini rejects calls of its newer models without a signature, unless a placeholder is set.
#[test]
fn calls_of_others_are_marked_for_gemini() {
    let done = convert(&tool_turn(), None, "gemini");
    let parts = done.messages[1]["parts"].as_array().unwrap();
    assert_eq!(parts[0]["thoughtSignature"], "skip_thought_signature_validator");
    assert!(parts[1].get("thoughtSignature").is_none());
    let back = convert(&json!(done.messages), None, "generic");
    assert!(!json!(back.messages).to_string().contains("skip_thought"));
}

#[test]
fn options_of_a_provider_are_reported_by_name() {
    let options = json!({ "anthropic": { "cacheControl": { "type": "ephemeral" } }, "openai": { "itemId": "rs_1", "reasoningEncryptedContent": null } });
    let chat = json!([
        { "role": "user", "content": "q" },
        { "role": "assistant", "content": [{ "type": "reasoning", "text": "hm", "providerOptions": options }, { "type": "text", "text": "a" }] },
    ]);
    let done = convert(&chat, Some("ai-sdk"), "ai-sdk-ui");
    let told: Vec<&str> =
        done.diagnostics.iter().map(|found| found["message"].as_str().unwrap().split(',').next().unwrap()).collect();
    assert_eq!(
        told,
        ["the field `providerOptions.anthropic.cacheControl`", "the field `providerOptions.openai.itemId`"]
    );
    // A signature with its item is kept, without a report.
    let mut sealed = chat;
    sealed[1]["content"][0]["providerOptions"] =
        json!({ "openai": { "itemId": "rs_1", "reasoningEncryptedContent": "x" } });
    assert_eq!(convert(&sealed, Some("ai-sdk"), "ai-sdk-ui").diagnostics, Vec::<Value>::new());
}

/// Reasoning without a text and without a signature that the target accepts is reported and left out.
#[test]
fn an_empty_thought_is_left_out() {
    let node = |id: &str, author: &str, content: Value| json!({ "id": id, "authorType": author, "content": content });
    let said = json!({ "type": "text", "text": "b" });
    for (signature, formats) in [
        (json!(null), &["ai-sdk", "ai-sdk-ui", "generic"][..]),
        (json!("{\"type\":\"other\"}"), &["ai-sdk", "ai-sdk-ui"]),
    ] {
        let thought =
            json!({ "type": "mixed", "blocks": [{ "type": "reasoning", "text": "", "signature": signature }, said] });
        let tree = json!({
            "mode": "dialogue",
            "rootNodeId": "a",
            "nodes": [node("a", "human", json!({ "type": "text", "text": "q" })), node("b", "model", thought)],
            "edges": [{ "id": "e", "sources": [{ "nodeId": "a" }], "targetNodeId": "b" }],
        });
        for format in formats {
            let done = call("loomTreeToChat", &[tree.clone(), json!({ "tip": "b", "format": format })], None).unwrap();
            assert!(!done["messages"].to_string().contains("\"reasoning\""), "{format}: {}", done["messages"]);
            let codes: Vec<&Value> =
                done["diagnostics"].as_array().unwrap().iter().map(|found| &found["code"]).collect();
            assert!(codes.contains(&&json!("body_reasoning_left_out")), "{format}: {codes:?}");
        }
    }
}

/// A tool's output in any form reaches the model, as JSON if it is neither a text nor parts.
#[test]
fn no_output_of_a_tool_is_lost() {
    let shown = |messages: Value, from: &str| {
        let converted = convert(&messages, Some(from), "openai");
        let results: Vec<Value> = converted
            .messages
            .iter()
            .filter(|message| message["role"] == "tool")
            .map(|it| it["content"].clone())
            .collect();
        assert_eq!(results.len(), 1, "{messages}");
        assert!(converted.diagnostics.is_empty(), "{:?}", converted.diagnostics);
        results[0].as_str().unwrap().to_owned()
    };
    let model = |output: Value| {
        let call = json!({ "type": "tool-call", "toolCallId": "c", "toolName": "f", "input": {} });
        let result = json!({ "type": "tool-result", "toolCallId": "c", "toolName": "f", "output": output });
        json!([{ "role": "assistant", "content": [call] }, { "role": "tool", "content": [result] }])
    };
    let ui = |more: Value| {
        let mut part = json!({ "type": "tool-f", "toolCallId": "c", "state": "output-available", "input": {} });
        part.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!([{ "id": "m", "role": "assistant", "parts": [part] }])
    };
    for (output, expected) in [
        (json!({ "type": "text", "value": "21 degrees" }), "21 degrees"),
        (json!({ "type": "json", "value": { "temp": 21 } }), r#"{"temp":21}"#),
        (json!({ "type": "json", "value": null }), "null"),
        (json!({ "type": "json", "value": false }), "false"),
        (json!({ "temp": 21 }), r#"{"temp":21}"#),
        (json!({ "type": "later", "temp": 21 }), r#"{"type":"later","temp":21}"#),
        (json!({ "type": "text" }), r#"{"type":"text"}"#),
        (json!([1, 2]), "[1,2]"),
        (json!(21), "21"),
        (json!("21 degrees"), "21 degrees"),
    ] {
        assert_eq!(shown(model(output.clone()), "ai-sdk"), expected, "{output}");
    }
    for (output, expected) in [
        (json!({ "type": "error-json", "value": null }), "Error: null"),
        (json!({ "type": "execution-denied" }), "Error: Tool execution denied."),
        (json!({ "type": "execution-denied", "reason": "no" }), "Error: no"),
    ] {
        let text = convert(&model(output.clone()), Some("ai-sdk"), "openai").messages[1]["content"].clone();
        assert_eq!(text, expected, "{output}");
    }
    for (output, expected) in
        [(json!(null), "null"), (json!({ "a": null }), r#"{"a":null}"#), (json!(0), "0"), (json!("x"), "x")]
    {
        assert_eq!(shown(ui(json!({ "output": output })), "ai-sdk-ui"), expected, "{output}");
        let options = json!({ "format": "ai-sdk-ui" });
        let count = |more: Value| call("countMessages", &[ui(more), options.clone()], None).unwrap().as_u64().unwrap();
        assert!(count(json!({ "output": output })) > count(json!({})), "{output}");
    }
}

/// A field that is read is never reported as lost.
#[test]
fn read_fields_are_not_reported() {
    const BYTES: &str = "aGVsbG8=";
    let user = |part: Value| json!([{ "role": "user", "content": [part] }]);
    let human = |part: Value| json!([{ "type": "human", "content": [part] }]);
    let contents = |part: Value| json!([{ "role": "user", "parts": [part] }]);
    let data = format!("data:image/webp;base64,{BYTES}");
    let denied = json!({ "type": "tool-f", "toolCallId": "c", "state": "output-denied", "input": {}, "approval": { "id": "a", "approved": false, "reason": "No." } });
    let samples = [
        ("ai-sdk", user(json!({ "type": "image", "image": BYTES, "mimeType": "image/webp" })), data.as_str()),
        ("ai-sdk", user(json!({ "type": "image", "image": BYTES, "mediaType": "image/webp" })), &data),
        ("ai-sdk", user(json!({ "type": "file", "data": BYTES, "mimeType": "image/webp", "filename": "a" })), &data),
        (
            "ai-sdk-ui",
            json!([{ "id": "m", "role": "user", "parts": [{ "type": "file", "url": data, "mediaType": "image/webp" }] }]),
            &data,
        ),
        ("ai-sdk-ui", json!([{ "id": "m", "role": "assistant", "parts": [denied] }]), "No."),
        (
            "langchain",
            human(json!({ "type": "image", "source_type": "base64", "data": BYTES, "mime_type": "image/webp" })),
            &data,
        ),
        ("langchain", human(json!({ "type": "image", "base64": BYTES, "mimeType": "image/webp" })), &data),
        (
            "langchain",
            human(json!({ "type": "image_url", "image_url": { "url": "https://e.org/a" } })),
            "https://e.org/a",
        ),
        ("gemini", contents(json!({ "inlineData": { "mimeType": "image/webp", "data": BYTES } })), &data),
        ("gemini", contents(json!({ "inline_data": { "mime_type": "image/webp", "data": BYTES } })), &data),
        (
            "gemini",
            contents(json!({ "fileData": { "mimeType": "image/webp", "fileUri": "https://e.org/a" } })),
            "https://e.org/a",
        ),
        (
            "gemini",
            contents(json!({ "file_data": { "mime_type": "image/webp", "file_uri": "https://e.org/a" } })),
            "https://e.org/a",
        ),
        (
            "gemini-interactions",
            json!([{ "type": "user_input", "content": [{ "type": "image", "mime_type": "image/webp", "data": BYTES }] }]),
            &data,
        ),
        (
            "anthropic",
            user(json!({ "type": "image", "source": { "type": "base64", "media_type": "image/webp", "data": BYTES } })),
            &data,
        ),
        ("openai-responses", user(json!({ "type": "input_image", "image_url": data })), &data),
        ("openai-agents", user(json!({ "type": "input_image", "image": data })), &data),
        ("openai", user(json!({ "type": "input_audio", "input_audio": { "data": BYTES, "format": "wav" } })), BYTES),
        ("generic", user(json!({ "type": "image", "mimeType": "image/webp", "data": BYTES })), &data),
    ];
    for (from, messages, shown) in samples {
        let to = if from == "openai" { "generic" } else { "openai" };
        let converted = convert(&messages, Some(from), to);
        assert!(json!(converted.messages).to_string().contains(shown), "{from}: {:?}", converted.messages);
        let lost: Vec<&Value> =
            converted.diagnostics.iter().filter(|it| it.to_string().contains("the field")).collect();
        assert!(lost.is_empty(), "{from} {messages}: {lost:?}");
    }
    // Unknown fields of the inner objects are reported.
    let inner =
        contents(json!({ "file_data": { "file_uri": "https://e.org/a", "mime_type": "image/png", "hint": "x" } }));
    let found = convert(&inner, Some("gemini"), "openai").diagnostics;
    assert!(found.iter().any(|found| found["message"].as_str().unwrap().contains("the field `hint`")), "{found:?}");
    // So is an approval that no result states.
    let asked = json!({ "type": "tool-f", "toolCallId": "c", "state": "approval-requested", "input": {}, "approval": { "id": "a" } });
    let asked = json!([{ "id": "m", "role": "assistant", "parts": [asked] }]);
    let found = convert(&asked, Some("ai-sdk-ui"), "openai").diagnostics;
    assert!(found.iter().any(|found| found["message"].as_str().unwrap().contains("the field `approval`")), "{found:?}");
}
