//! Unknown fields and types of every vendor's messages: kept, or reported alike by all calls (docs/conventions.md).

use serde_json::{Map, Value, json};

use crate::calls::call;
use crate::chat::fit;

const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/// The name of each unknown field.
const FIELD: &str = "zz_field";
/// The type of each unknown part and item.
const TYPE: &str = "zz_type";

/// A conversation, an answer or a session of a format, with the places of its objects.
struct Sample {
    format: &'static str,
    value: Value,
    /// The objects that get an unknown field, as JSON pointers: of messages, texts, images, calls and results.
    objects: &'static [&'static str],
    /// The list that gets an unknown part, with the part, and whether blocks of the vendor's keep it.
    part: Option<(&'static str, Value, bool)>,
    /// The list that gets an unknown item, and whether blocks of the vendor's keep it.
    item: Option<(&'static str, bool)>,
}

fn typed() -> Value {
    json!({ "type": TYPE, "id": "z", "a": 1 })
}

/// The chat in the format that is also one of sessions.
#[rustfmt::skip]
fn generic() -> Sample {
    Sample {
        format: "generic",
        value: json!([
            { "role": "user", "content": [{ "type": "text", "text": "Look." }, { "type": "image", "mimeType": "image/png", "data": PNG }] },
            { "role": "assistant", "content": [{ "type": "toolCall", "id": "c", "name": "f", "arguments": {} }] },
            { "role": "user", "content": [{ "type": "toolResult", "toolCallId": "c", "content": "ok" }] },
        ]),
        objects: &["/0", "/0/content/0", "/0/content/1", "/1/content/0", "/2/content/0"],
        part: Some(("/0/content", typed(), false)),
        item: None,
    }
}

/// The chats of all formats.
#[rustfmt::skip]
fn chats() -> Vec<Sample> {
    let url = ["data:image/png;base64,", PNG].concat();
    vec![
        generic(),
        Sample {
            format: "anthropic",
            value: json!([
                { "role": "user", "content": [{ "type": "text", "text": "Look." }, { "type": "image", "source": { "type": "base64", "media_type": "image/png", "data": PNG } }] },
                { "role": "assistant", "content": [{ "type": "tool_use", "id": "c", "name": "f", "input": {} }] },
                { "role": "user", "content": [{ "type": "tool_result", "tool_use_id": "c", "content": [{ "type": "text", "text": "ok" }] }] },
            ]),
            objects: &["/0", "/0/content/0", "/0/content/1", "/0/content/1/source", "/1/content/0", "/2/content/0", "/2/content/0/content/0"],
            part: Some(("/0/content", typed(), true)),
            item: None,
        },
        Sample {
            format: "openai",
            value: json!([
                { "role": "user", "content": [{ "type": "text", "text": "Look." }, { "type": "image_url", "image_url": { "url": url } }] },
                { "role": "assistant", "content": null, "tool_calls": [{ "id": "c", "type": "function", "function": { "name": "f", "arguments": "{}" } }] },
                { "role": "tool", "tool_call_id": "c", "content": [{ "type": "text", "text": "ok" }] },
            ]),
            objects: &["/0", "/0/content/0", "/0/content/1", "/0/content/1/image_url", "/1/tool_calls/0", "/1/tool_calls/0/function", "/2", "/2/content/0"],
            part: Some(("/0/content", typed(), false)),
            item: None,
        },
        Sample {
            format: "openai-responses",
            value: json!([
                { "type": "message", "role": "user", "content": [{ "type": "input_text", "text": "Look." }, { "type": "input_image", "image_url": url }] },
                { "type": "function_call", "call_id": "c", "name": "f", "arguments": "{}" },
                { "type": "function_call_output", "call_id": "c", "output": [{ "type": "input_text", "text": "ok" }] },
            ]),
            objects: &["/0", "/0/content/0", "/0/content/1", "/1", "/2", "/2/output/0"],
            part: Some(("/0/content", typed(), false)),
            item: Some(("", true)),
        },
        Sample {
            format: "openai-agents",
            value: json!([
                { "type": "message", "role": "user", "content": [{ "type": "input_text", "text": "Look." }, { "type": "input_image", "image": url }] },
                { "type": "function_call", "callId": "c", "name": "f", "arguments": "{}", "status": "completed" },
                { "type": "function_call_result", "callId": "c", "name": "f", "status": "completed", "output": { "type": "text", "text": "ok" } },
            ]),
            objects: &["/0", "/0/content/0", "/0/content/1", "/1", "/2", "/2/output"],
            part: Some(("/0/content", typed(), false)),
            item: Some(("", false)),
        },
        Sample {
            format: "gemini",
            value: json!([
                { "role": "user", "parts": [{ "text": "Look." }, { "inlineData": { "mimeType": "image/png", "data": PNG } }] },
                { "role": "model", "parts": [{ "functionCall": { "name": "f", "args": {}, "id": "c" } }] },
                { "role": "user", "parts": [{ "functionResponse": { "name": "f", "id": "c", "response": { "output": "ok" } } }] },
            ]),
            objects: &["/0", "/0/parts/0", "/0/parts/1", "/0/parts/1/inlineData", "/1/parts/0", "/1/parts/0/functionCall", "/2/parts/0", "/2/parts/0/functionResponse"],
            part: Some(("/0/parts", json!({ TYPE: { "a": 1 } }), true)),
            item: None,
        },
        Sample {
            format: "gemini-interactions",
            value: json!([
                { "type": "user_input", "content": [{ "type": "text", "text": "Look." }, { "type": "image", "mime_type": "image/png", "data": PNG }] },
                { "type": "function_call", "id": "c", "name": "f", "arguments": {} },
                { "type": "function_result", "call_id": "c", "name": "f", "result": "ok" },
            ]),
            objects: &["/0", "/0/content/0", "/0/content/1", "/1", "/2"],
            part: Some(("/0/content", typed(), false)),
            item: Some(("", true)),
        },
        Sample {
            format: "ai-sdk",
            value: json!([
                { "role": "user", "content": [{ "type": "text", "text": "Look." }, { "type": "image", "image": PNG, "mediaType": "image/png" }] },
                { "role": "assistant", "content": [{ "type": "tool-call", "toolCallId": "c", "toolName": "f", "input": {} }] },
                { "role": "tool", "content": [{ "type": "tool-result", "toolCallId": "c", "toolName": "f", "output": { "type": "content", "value": [{ "type": "text", "text": "ok" }] } }] },
            ]),
            objects: &["/0", "/0/content/0", "/0/content/1", "/1/content/0", "/2/content/0", "/2/content/0/output/value/0"],
            part: Some(("/0/content", typed(), false)),
            item: None,
        },
        Sample {
            format: "ai-sdk-ui",
            value: json!([
                { "id": "1", "role": "user", "parts": [{ "type": "text", "text": "Look." }, { "type": "file", "mediaType": "image/png", "url": url }] },
                { "id": "2", "role": "assistant", "parts": [{ "type": "tool-f", "toolCallId": "c", "state": "output-available", "input": {}, "output": "ok" }] },
            ]),
            objects: &["/0", "/0/parts/0", "/0/parts/1", "/1/parts/0"],
            part: Some(("/0/parts", typed(), false)),
            item: None,
        },
        Sample {
            format: "langchain",
            value: json!([
                { "type": "human", "content": [{ "type": "text", "text": "Look." }, { "type": "image_url", "image_url": { "url": url } }] },
                { "type": "ai", "content": "", "tool_calls": [{ "type": "tool_call", "id": "c", "name": "f", "args": {} }] },
                { "type": "tool", "tool_call_id": "c", "content": [{ "type": "text", "text": "ok" }] },
            ]),
            objects: &["/0", "/0/content/0", "/0/content/1", "/0/content/1/image_url", "/1/tool_calls/0", "/2", "/2/content/0"],
            part: Some(("/0/content", typed(), false)),
            item: None,
        },
    ]
}

/// The answers of all providers.
#[rustfmt::skip]
fn answers() -> Vec<Sample> {
    vec![
        Sample {
            format: "anthropic",
            value: json!({ "id": "m", "type": "message", "role": "assistant", "model": "claude", "stop_reason": "tool_use", "stop_sequence": null,
                "usage": { "input_tokens": 1, "output_tokens": 1 }, "container": { "id": "x" },
                "content": [{ "type": "text", "text": "Hi", "citations": null }, { "type": "tool_use", "id": "c", "name": "f", "input": {}, "caller": { "type": "direct" } }] }),
            objects: &["", "/content/0", "/content/1"],
            part: Some(("/content", typed(), true)),
            item: None,
        },
        Sample {
            format: "openai",
            value: json!({ "id": "x", "object": "chat.completion", "model": "gpt", "choices": [{ "index": 0, "finish_reason": "tool_calls", "logprobs": null,
                "message": { "role": "assistant", "refusal": null, "annotations": [], "content": [{ "type": "text", "text": "Hi" }, { "type": "image_url", "image_url": { "url": "https://a.example/b" } }],
                    "tool_calls": [{ "id": "c", "type": "function", "function": { "name": "f", "arguments": "{}" } }] } }] }),
            objects: &["/choices/0/message", "/choices/0/message/content/0", "/choices/0/message/content/1", "/choices/0/message/content/1/image_url",
                "/choices/0/message/tool_calls/0", "/choices/0/message/tool_calls/0/function"],
            part: Some(("/choices/0/message/content", typed(), false)),
            item: None,
        },
        Sample {
            format: "openai-responses",
            value: json!({ "id": "r", "object": "response", "status": "completed", "model": "gpt", "output": [
                { "type": "message", "id": "m", "status": "completed", "role": "assistant", "content": [{ "type": "output_text", "text": "Hi", "annotations": [], "logprobs": [] }] },
                { "type": "function_call", "id": "fc", "status": "completed", "call_id": "c", "name": "f", "arguments": "{}" }] }),
            objects: &["/output/0", "/output/0/content/0", "/output/1"],
            part: Some(("/output/0/content", typed(), false)),
            item: Some(("/output", true)),
        },
        Sample {
            format: "gemini",
            value: json!({ "modelVersion": "g", "candidates": [{ "finishReason": "STOP", "content": { "role": "model", "parts": [
                { "text": "Hi" }, { "inlineData": { "mimeType": "image/png", "data": PNG } }, { "functionCall": { "name": "f", "args": {} } }, { "text": "Hm", "thought": true }] } }] }),
            objects: &["/candidates/0/content", "/candidates/0/content/parts/0", "/candidates/0/content/parts/1", "/candidates/0/content/parts/1/inlineData",
                "/candidates/0/content/parts/2", "/candidates/0/content/parts/2/functionCall", "/candidates/0/content/parts/3"],
            part: Some(("/candidates/0/content/parts", json!({ TYPE: { "a": 1 } }), true)),
            item: None,
        },
        Sample {
            format: "gemini-interactions",
            value: json!({ "id": "i", "model": "g", "status": "completed", "steps": [
                { "type": "model_output", "content": [{ "type": "text", "text": "Hi" }, { "type": "image", "mime_type": "image/png", "data": PNG }] },
                { "type": "function_call", "id": "c", "name": "f", "arguments": {} }] }),
            objects: &["/steps/0", "/steps/0/content/0", "/steps/0/content/1", "/steps/1"],
            part: Some(("/steps/0/content", typed(), true)),
            item: Some(("/steps", true)),
        },
    ]
}

/// The sessions with messages of a vendor's form: lists of lines.
#[rustfmt::skip]
fn sessions() -> Vec<Sample> {
    let url = ["data:image/png;base64,", PNG].concat();
    let item = |payload: Value| json!({ "timestamp": "2026-01-01T00:00:01Z", "type": "response_item", "payload": payload });
    let claude = |uuid: &str, parent: Value, kind: &str, content: Value| {
        json!({ "type": kind, "uuid": uuid, "parentUuid": parent, "sessionId": "s", "timestamp": "2026-01-01T00:00:00Z", "message": { "role": kind, "content": content } })
    };
    vec![
        Sample {
            format: "claude-code-v1",
            value: json!([
                claude("1", Value::Null, "user", json!([{ "type": "text", "text": "Look." }, { "type": "image", "source": { "type": "base64", "media_type": "image/png", "data": PNG } }])),
                claude("2", json!("1"), "assistant", json!([{ "type": "tool_use", "id": "c", "name": "f", "input": {} }])),
                claude("3", json!("2"), "user", json!([{ "type": "tool_result", "tool_use_id": "c", "content": "ok" }])),
            ]),
            objects: &["/0/message", "/0/message/content/0", "/0/message/content/1", "/0/message/content/1/source", "/1/message/content/0", "/2/message/content/0"],
            part: Some(("/0/message/content", typed(), true)),
            item: None,
        },
        Sample {
            format: "codex-v1",
            value: json!([
                { "timestamp": "2026-01-01T00:00:00Z", "type": "session_meta", "payload": { "id": "s", "timestamp": "2026-01-01T00:00:00Z", "cwd": "/", "originator": "codex", "cli_version": "1" } },
                item(json!({ "type": "message", "role": "user", "content": [{ "type": "input_text", "text": "Look." }, { "type": "input_image", "image_url": url }] })),
                item(json!({ "type": "function_call", "call_id": "c", "name": "f", "arguments": "{}" })),
                item(json!({ "type": "function_call_output", "call_id": "c", "output": "ok" })),
                item(json!({ "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": "Done." }] })),
            ]),
            objects: &["/1/payload", "/1/payload/content/0", "/1/payload/content/1", "/2/payload", "/3/payload"],
            part: Some(("/1/payload/content", typed(), false)),
            item: None,
        },
        Sample {
            format: "gemini-v1",
            value: json!([
                { "sessionId": "s", "projectHash": "p", "startTime": "2026-01-01T00:00:00Z", "lastUpdated": "2026-01-01T00:00:00Z", "kind": "main" },
                { "id": "1", "timestamp": "2026-01-01T00:00:00Z", "type": "user", "content": [{ "text": "Look." }, { "inlineData": { "mimeType": "image/png", "data": PNG } }] },
                { "id": "2", "timestamp": "2026-01-01T00:00:01Z", "type": "gemini", "content": "Done.", "thoughts": [{ "subject": "s", "description": "d", "timestamp": "2026-01-01T00:00:00Z" }],
                    "toolCalls": [{ "id": "c", "name": "f", "args": {}, "status": "success", "result": [{ "functionResponse": { "id": "c", "name": "f", "response": { "output": "ok" } } }] }] },
            ]),
            objects: &["/1", "/1/content/0", "/1/content/1", "/1/content/1/inlineData", "/2", "/2/thoughts/0", "/2/toolCalls/0",
                "/2/toolCalls/0/result/0", "/2/toolCalls/0/result/0/functionResponse"],
            part: Some(("/1/content", json!({ TYPE: { "a": 1 } }), true)),
            item: None,
        },
        Sample { format: "generic-v1", ..generic() },
    ]
}

/// The samples, each with one unknown field: the sample, the changed value and the place.
fn with_field(samples: Vec<Sample>) -> Vec<(Sample, Value, &'static str)> {
    let mut out = Vec::new();
    for sample in samples {
        for &place in sample.objects {
            let mut value = sample.value.clone();
            let object: &mut Map<String, Value> = value.pointer_mut(place).unwrap().as_object_mut().unwrap();
            object.insert(FIELD.to_owned(), json!("v"));
            out.push((
                Sample { value: sample.value.clone(), objects: &[], part: None, item: None, ..sample },
                value,
                place,
            ));
        }
    }
    out
}

/// The samples, each with one unknown part or item: the format, the changed value, and whether it is kept.
fn with_type(samples: Vec<Sample>) -> Vec<(&'static str, Value, bool)> {
    let mut out = Vec::new();
    for sample in samples {
        let item = sample.item.map(|(list, keeps)| (list, typed(), keeps));
        for (list, added, keeps) in sample.part.into_iter().chain(item) {
            let mut value = sample.value.clone();
            value.pointer_mut(list).unwrap().as_array_mut().unwrap().push(added);
            out.push((sample.format, value, keeps));
        }
    }
    out
}

/// The diagnostic of the unknown field, without its place.
fn of_field() -> Value {
    json!({ "code": "field_left_out", "severity": "info",
        "message": format!("the field `{FIELD}`, 1 time: left out, since the result has no place for it") })
}

/// The diagnostic of the unknown type, without its place.
fn of_type() -> Value {
    json!({ "code": "content_left_out", "severity": "warning",
        "message": format!("content of type `{TYPE}`, 1 time: left out, since the result has no place for it") })
}

/// The diagnostics that name the unknown field or type, without their places, and the places.
fn named(found: &Value) -> (Vec<Value>, Vec<String>) {
    let mut places = Vec::new();
    let named = found.as_array().unwrap().iter().filter(|found| found["message"].as_str().unwrap().contains("zz_"));
    let bare = named.map(|found| {
        let mut found = found.clone();
        let fields = found.as_object_mut().unwrap();
        let [path, node] = ["path", "nodeId"].map(|name| fields.remove(name));
        places.push(path.or(node).and_then(|place| place.as_str().map(str::to_owned)).unwrap_or_default());
        found
    });
    (bare.collect(), places)
}

/// Another format than that of a chat, without blocks of its vendor's.
fn other(format: &str) -> &'static str {
    if format == "langchain" { "ai-sdk" } else { "langchain" }
}

fn body(tree: &Value, provider: &str) -> Value {
    let target = json!({ "provider": provider, "model": "m", "maxTokens": 9 });
    let request = json!({ "tree": tree["tree"], "tip": tree["tip"], "contextWindow": 100_000, "target": target });
    call("requestBodyWithReport", &[request], None).unwrap()["report"]["diagnostics"].clone()
}

#[test]
fn a_fit_keeps_fields_and_types_and_reports_nothing() {
    let fields = with_field(chats()).into_iter().map(|(sample, value, _)| (sample.format, value));
    for (format, chat) in fields.chain(with_type(chats()).into_iter().map(|(format, value, _)| (format, value))) {
        let Ok(fitted) = fit(&chat, &json!({ "format": format, "maxTokens": 100_000 })) else {
            assert_eq!(format, "generic", "a part of an unknown type: {chat}");
            continue;
        };
        assert_eq!(json!(fitted.messages), chat, "{format}");
        assert_eq!(fitted.report["diagnostics"], json!([]), "{format}");
        let same = call("convertMessages", &[chat.clone(), json!({ "from": format, "to": format })], None).unwrap();
        assert_eq!((&same["messages"], &same["diagnostics"]), (&chat, &json!([])), "{format}");
    }
}

#[test]
fn a_conversion_reports_each_field() {
    for (sample, chat, place) in with_field(chats()) {
        let format = sample.format;
        let message = format!("messages[{}]", &place[1..2]);
        for to in ["generic", other(format)].into_iter().filter(|to| *to != format) {
            let done = call("convertMessages", &[chat.clone(), json!({ "from": format, "to": to })], None).unwrap();
            assert_eq!(
                named(&done["diagnostics"]),
                (vec![of_field()], vec![message.clone()]),
                "{format} {place} to {to}"
            );
            assert!(!done["messages"].to_string().contains(FIELD), "{format} {place} to {to}");
        }
        let tree = call("chatToLoomTree", &[chat, json!({ "from": format })], None).unwrap();
        assert_eq!(named(&tree["diagnostics"]), (vec![of_field()], vec![message]), "{format} {place}: a tree");
    }
    for sample in chats() {
        let done = call("convertMessages", &[sample.value, json!({ "from": sample.format, "to": "generic" })], None);
        assert_eq!(done.unwrap()["diagnostics"], json!([]), "{}: documented fields", sample.format);
    }
}

#[test]
fn a_conversion_keeps_a_type_or_reports_it() {
    for (format, chat, keeps) in with_type(chats()).into_iter().filter(|(format, ..)| *format != "generic") {
        let done =
            call("convertMessages", &[chat.clone(), json!({ "from": format, "to": other(format) })], None).unwrap();
        assert_eq!(named(&done["diagnostics"]).0, [of_type()], "{format}");
        let tree = call("chatToLoomTree", &[chat.clone(), json!({ "from": format })], None).unwrap();
        let generic = call("convertMessages", &[chat, json!({ "from": format, "to": "generic" })], None).unwrap();
        for (held, found) in [(&tree["tree"], &tree["diagnostics"]), (&generic["messages"], &generic["diagnostics"])] {
            let expected = if keeps { Vec::new() } else { vec![of_type()] };
            assert_eq!((named(found).0, held.to_string().contains(TYPE)), (expected, keeps), "{format}");
        }
        // The body of another provider has no place for a block that a tree keeps.
        if keeps {
            let provider = if format == "openai-responses" { "anthropic" } else { "openai-responses" };
            let (found, places) = named(&body(&tree, provider));
            assert_eq!((found, places[0].starts_with("messages[")), (vec![of_type()], true), "{format}");
            assert_eq!(named(&body(&tree, format)).0, [json!(null); 0], "{format}: the body of its provider");
        }
    }
}

#[test]
fn an_answer_keeps_or_reports_fields_and_types() {
    let nodes = |answer: &Value, provider: &str| {
        let options = json!({ "provider": provider, "parent": "q", "ids": ["a"] });
        call("continuation", &[answer.clone(), options], None).unwrap()
    };
    for sample in answers() {
        let done = nodes(&sample.value, sample.format);
        assert_eq!(done["diagnostics"], json!([]), "{}: documented fields", sample.format);
    }
    for (sample, answer, place) in with_field(answers()) {
        let done = nodes(&answer, sample.format);
        assert_eq!(named(&done["diagnostics"]), (vec![of_field()], vec!["a".to_owned()]), "{} {place}", sample.format);
        assert!(!done["nodes"].to_string().contains(FIELD), "{} {place}", sample.format);
    }
    for (provider, answer, keeps) in with_type(answers()) {
        let done = nodes(&answer, provider);
        let expected = if keeps { Vec::new() } else { vec![of_type()] };
        let held = done["nodes"].to_string().contains(TYPE);
        assert_eq!((named(&done["diagnostics"]).0, held), (expected, keeps), "{provider}");
    }
}

/// Whole or streamed, an answer has the same diagnostics.
#[test]
fn a_stream_reports_what_the_whole_answer_reports() {
    let block = |more: Value| {
        let mut block = json!({ "type": "text", "text": "Hi" });
        block.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        block
    };
    for (more, event, expected) in [
        (json!({ FIELD: "v" }), json!({ "type": "ping" }), of_field()),
        (json!({}), json!({ "type": TYPE }), of_type()),
        (json!({}), json!({ "type": "content_block_delta", "index": 0, "delta": { "type": TYPE } }), of_type()),
    ] {
        let events = json!([
            { "type": "message_start", "message": { "id": "m", "type": "message", "role": "assistant", "model": "claude", "content": [] } },
            { "type": "content_block_start", "index": 0, "content_block": block(more) },
            event,
            { "type": "content_block_stop", "index": 0 },
            { "type": "message_delta", "delta": { "stop_reason": "end_turn", "stop_sequence": null }, "usage": { "output_tokens": 1 } },
            { "type": "message_stop" },
        ]);
        let options = json!({ "provider": "anthropic", "parent": "q", "ids": ["a"] });
        let done = call("continuation", &[events, options], None).unwrap();
        assert_eq!(done["diagnostics"].as_array().unwrap().len(), 1, "{done}");
        assert_eq!(named(&done["diagnostics"]), (vec![expected], vec!["a".to_owned()]));
    }
}

/// Each call that reads a session, with its diagnostics.
fn readings(format: &str, lines: &Value) -> Vec<(&'static str, Value)> {
    let text: String = lines.as_array().unwrap().iter().map(|line| format!("{line}\n")).collect();
    let file = json!({ "$text": text });
    let imported = json!({ "template": "t", "createdAt": "2026-01-01T00:00:00Z" });
    let to = if format == "generic-v1" { "codex-v1" } else { "generic-v1" };
    let request = json!({ "parts": [{ "format": format, "bytes": file }], "format": to, "crossFamily": "transcode" });
    [
        ("importTranscript", vec![json!(format), file.clone(), imported]),
        ("transcriptToMessages", vec![json!(format), file.clone(), json!({})]),
        ("transcriptToLoomTree", vec![json!(format), file, json!({})]),
        ("translateTranscript", vec![request]),
    ]
    .map(|(name, args)| (name, call(name, &args, None).unwrap()["diagnostics"].clone()))
    .into()
}

#[test]
fn a_session_reports_fields_and_types_alike_in_all_calls() {
    for sample in sessions() {
        for (name, found) in readings(sample.format, &sample.value) {
            assert_eq!(found, json!([]), "{} {name}: documented fields", sample.format);
        }
    }
    for (sample, lines, place) in with_field(sessions()) {
        for (name, found) in readings(sample.format, &lines) {
            assert_eq!(named(&found).0, [of_field()], "{} {place} {name}", sample.format);
        }
    }
    for (format, lines, keeps) in with_type(sessions()) {
        for (name, found) in readings(format, &lines) {
            // A vendor's block survives in turns; the transcoded file of another agent has no place for it.
            let expected = if keeps && name != "translateTranscript" { Vec::new() } else { vec![of_type()] };
            assert_eq!(named(&found).0, expected, "{format} {name}");
        }
    }
    for (format, pointer) in [("codex-v1", "/4/payload/role"), ("gemini-v1", "/2/type"), ("generic-v1", "/1/role")] {
        let mut lines = sessions().into_iter().find(|sample| sample.format == format).unwrap().value;
        *lines.pointer_mut(pointer).unwrap() = json!("zz_role");
        for (name, found) in readings(format, &lines) {
            let expected = "a message with the role `zz_role`, 1 time: left out, since the result has no place for it";
            let (found, _) = named(&found);
            assert_eq!(
                (found.len(), &found[0]["code"], &found[0]["message"]),
                (1, &json!("content_left_out"), &json!(expected)),
                "{format} {name}"
            );
        }
    }
}
