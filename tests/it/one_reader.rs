//! The same part is the same in a chat and in an answer: one function per vendor classifies it.

use serde_json::{Value, json};

use crate::calls::call;
use crate::chat::fit;

/// All blocks of a type, at any depth.
fn all(value: &Value, kind: &str) -> Vec<Value> {
    let inner: Vec<Value> = match value {
        Value::Array(items) => items.iter().flat_map(|item| all(item, kind)).collect(),
        Value::Object(fields) => fields.values().flat_map(|field| all(field, kind)).collect(),
        _ => Vec::new(),
    };
    let own = (value["type"] == kind).then(|| value.clone());
    own.into_iter().chain(inner).collect()
}

fn answer(provider: &str, response: &Value) -> Value {
    call("continuation", &[response.clone(), json!({ "provider": provider, "parent": "q", "ids": ["a"] })], None)
        .unwrap()
}

fn converted(format: &str, messages: &Value) -> Value {
    call("convertMessages", &[messages.clone(), json!({ "from": format, "to": "generic" })], None).unwrap()["messages"]
        .clone()
}

fn contents(results: &[Value]) -> Vec<Value> {
    results.iter().map(|result| result["content"].clone()).collect()
}

#[test]
fn results_of_mcp_tools_are_parts_everywhere() {
    let content = json!([
        { "type": "text", "text": "I search." },
        { "type": "mcp_tool_use", "id": "mcptoolu_1", "name": "search", "server_name": "docs", "input": { "q": "x" } },
        { "type": "mcp_tool_result", "tool_use_id": "mcptoolu_1", "content": [{ "type": "text", "text": "3 found" }] },
    ]);
    let reply = json!({ "type": "message", "role": "assistant", "model": "m", "content": content });
    let chat = |role: &str, name: &str| json!([{ role: name, "content": content }]);
    let read = [
        answer("anthropic", &reply),
        converted("anthropic", &chat("role", "assistant")),
        converted("langchain", &chat("type", "ai")),
    ];
    for blocks in read {
        let calls = all(&blocks, "toolCall");
        assert_eq!(calls.iter().map(|call| &call["name"]).collect::<Vec<_>>(), ["search"], "{blocks}");
        assert_eq!(contents(&all(&blocks, "toolResult")), ["3 found"], "{blocks}");
    }
}

#[test]
fn parts_of_gemini_in_snake_case_are_the_same_parts() {
    let parts = |call: &str, signature: &str, inline: &str, mime: &str| {
        let content = json!({ "role": "model", "parts": [
            { "text": "Look." },
            { call: { "id": "c1", "name": "find", "args": { "q": "x" } }, signature: "c2ln" },
            { inline: { mime: "image/png", "data": "aGk=" } },
        ] });
        answer("gemini", &json!({ "candidates": [{ "content": content, "finishReason": "STOP" }] }))
    };
    let camel = parts("functionCall", "thoughtSignature", "inlineData", "mimeType");
    assert_eq!(all(&camel, "toolCall").len(), 1);
    assert_eq!(parts("function_call", "thought_signature", "inline_data", "mime_type"), camel);
}

#[test]
fn an_output_in_an_answer_is_not_a_call() {
    let output = json!([
        { "type": "shell_call", "call_id": "c1", "action": { "commands": ["ls"] } },
        { "type": "shell_call_output", "call_id": "c1", "output": [{ "stdout": "a" }] },
    ]);
    let blocks = answer("openai-responses", &json!({ "object": "response", "status": "completed", "output": output }));
    assert_eq!(all(&blocks, "toolCall").len(), 1);
    let kept = all(&blocks, "vendor");
    assert_eq!(kept.iter().map(|block| &block["value"]).collect::<Vec<_>>(), [&output[1]]);
}

/// A message, or an answer, with a text that has an unknown field, and a part of an unknown type.
struct Sample {
    format: &'static str,
    messages: Value,
    /// The answer with the same parts, if the format has answers.
    response: Option<Value>,
    /// A session with the same parts, with its format.
    session: Option<(&'static str, Value)>,
    /// The unknown part.
    part: Value,
}

const ASSISTANT: &str = "assistant";

fn samples() -> Vec<Sample> {
    let part = json!({ "type": "hologram", "value": 1 });
    let text = |kind: &str| json!({ "type": kind, "text": "Look.", "hint": "x" });
    let said = |kind: &str| json!([{ "role": ASSISTANT, "content": [text(kind), part] }]);
    let of = |format, messages| Sample { format, messages, response: None, session: None, part: part.clone() };
    let anthropic = json!({ "type": "message", "role": ASSISTANT, "model": "m", "content": [text("text"), part] });
    let claude = json!({ "type": ASSISTANT, "uuid": "u", "parentUuid": null, "sessionId": "s", "message": anthropic });
    let openai = json!({ "role": ASSISTANT, "content": "Look.", "hint": "x" });
    let message = json!({ "type": "message", "role": ASSISTANT, "content": [text("output_text")] });
    let items = json!([message, part]);
    let codex = json!({ "timestamp": "2026-01-01T00:00:00Z", "type": "response_item", "payload": part });
    let gemini = json!([{ "text": "Look.", "hint": "x" }, { "hologram": { "value": 1 } }]);
    let contents = json!({ "role": "model", "parts": gemini });
    let step = json!({ "type": "model_output", "content": [text("text")] });
    let [response, steps] = [json!({ "object": "response", "status": "completed" }), json!({ "status": "completed" })];
    let with = |mut whole: Value, name: &str, list: Value| {
        whole[name] = list;
        Some(whole)
    };
    vec![
        Sample {
            response: Some(anthropic),
            session: Some(("claude-code-v1", claude)),
            ..of("anthropic", said("text"))
        },
        Sample {
            response: Some(json!({ "choices": [{ "index": 0, "message": openai, "finish_reason": "stop" }] })),
            session: Some(("generic-v1", json!({ "role": ASSISTANT, "content": [text("text"), part] }))),
            ..of("openai", said("text"))
        },
        Sample {
            response: with(response, "output", items.clone()),
            session: Some(("codex-v1", codex)),
            ..of("openai-responses", items.clone())
        },
        Sample {
            response: Some(json!({ "candidates": [{ "content": contents, "finishReason": "STOP" }] })),
            part: json!({ "hologram": { "value": 1 } }),
            ..of("gemini", json!([contents]))
        },
        Sample {
            response: with(steps, "steps", json!([step, part])),
            ..of("gemini-interactions", json!([step, part]))
        },
        of("openai-agents", items),
        of("ai-sdk", said("text")),
        of("ai-sdk-ui", json!([{ "id": "a", "role": ASSISTANT, "parts": [text("text"), part] }])),
        of("langchain", json!([{ "type": "ai", "content": [text("text"), part] }])),
        of("generic", said("text")),
    ]
}

/// The messages of diagnostics that have a text.
fn with_text(result: &Value, text: &str) -> Vec<String> {
    let diagnostics = result["diagnostics"].as_array().or(result["report"]["diagnostics"].as_array());
    let messages = diagnostics.into_iter().flatten().map(|found| found["message"].as_str().unwrap().to_owned());
    messages.filter(|message| message.contains(text)).collect()
}

#[test]
fn an_unknown_field_is_reported_alike_by_conversions_and_answers() {
    for Sample { format, messages, response, .. } in samples() {
        for target in ["openai", "anthropic", "generic"].into_iter().filter(|target| *target != format) {
            let converted = call("convertMessages", &[messages.clone(), json!({ "from": format, "to": target })], None);
            let reported = with_text(&converted.unwrap(), "hint");
            assert_eq!(
                reported,
                ["the field `hint`, 1 time: left out, since the result has no place for it"],
                "{format} to {target}"
            );
        }
        if let Some(response) = response {
            let reported = with_text(&answer(format, &response), "hint");
            assert_eq!(
                reported,
                ["the field `hint`, 1 time: left out, since the result has no place for it"],
                "{format}"
            );
        }
    }
}

#[test]
fn a_fit_keeps_unknown_fields_and_parts() {
    for Sample { format, messages, part, .. } in samples() {
        let options = json!({ "format": format, "maxTokens": 10_000 });
        let fitted = fit(&messages, &options).unwrap();
        assert_eq!(Value::Array(fitted.messages), messages, "{format}");
        assert_eq!(fitted.report["diagnostics"], json!([]), "{format}");
        let count = |messages: &Value| {
            call("countMessages", &[messages.clone(), json!({ "format": format })], None).unwrap().as_u64()
        };
        let mut without = messages.to_string();
        for part in [format!(",{part}"), part.to_string()] {
            without = without.replace(&part, "");
        }
        assert!(count(&messages) > count(&serde_json::from_str(&without).unwrap()), "{format} counts the part");
    }
}

#[test]
fn an_unknown_part_is_kept_for_its_vendor_and_reported_for_others() {
    for Sample { format, messages, response, session, part } in samples() {
        let name = "hologram";
        let converted = call("convertMessages", &[messages.clone(), json!({ "from": format, "to": "openai" })], None);
        let reported = with_text(&converted.unwrap(), name);
        if format != "openai" {
            let expected = format!("content of type `{name}`, 1 time: left out, since the result has no place for it");
            assert_eq!(reported, [expected], "{format}");
        }
        if let Some(response) = response.filter(|_| format != "openai") {
            let answer = answer(format, &response);
            let kept = all(&answer, "vendor");
            assert_eq!(kept.len(), 1, "{format}: {answer}");
            assert!(kept[0]["value"].to_string().contains(&part.to_string()), "{format}: {answer}");
            assert_eq!(with_text(&answer, name), [""; 0], "{format}");
        }
        if let Some((session_format, record)) = session {
            let bytes = json!({ "$text": format!("{record}\n") });
            let tree = call("transcriptToLoomTree", &[json!(session_format), bytes, json!({})], None).unwrap();
            let kept = all(&tree, "vendor");
            if session_format == "generic-v1" {
                assert_eq!(
                    with_text(&tree, name),
                    [format!("content of type `{name}`, 1 time: left out, since the result has no place for it")]
                );
            } else {
                assert_eq!(kept.iter().map(|block| &block["value"]).collect::<Vec<_>>(), [&part], "{tree}");
            }
        }
    }
}

/// The fields of all vendors' messages, parts and calls that readers know.
const READ_FIELDS: &str = "content text thinking signature data name input tool_use_id is_error source url media_type \
     title filename parts refusal audio input_audio image_url file file_data format tool_calls tool_call_id function_call \
     function custom arguments reasoning_content reasoning thinking_blocks thought_signature summary rawContent \
     encrypted_content call_id callId output phase image result mime_type uri thought thoughtSignature functionCall \
     functionResponse args inlineData fileData mimeType redacted isError altText server value extras caller";

/// No field of an answer is lost silently: a node holds its content, or a diagnostic names it.
#[test]
fn answers_lose_no_field_silently() {
    let anthropic = |block: &Value| json!({ "type": "message", "role": "assistant", "model": "m", "content": [block] });
    let chat = |message: &Value| json!({ "choices": [{ "index": 0, "message": message, "finish_reason": "stop" }] });
    let items = |item: &Value| json!({ "object": "response", "status": "completed", "output": [item] });
    let steps = |step: &Value| json!({ "status": "completed", "steps": [step] });
    let parts = |part: &Value| json!({ "candidates": [{ "content": { "role": "model", "parts": [part] }, "finishReason": "STOP" }] });
    type Wrap<'w> = &'w dyn Fn(&Value) -> Value;
    let chat_part = |part: &Value| chat(&json!({ "role": "assistant", "content": [part] }));
    let chat_call = |call: &Value| chat(&json!({ "role": "assistant", "content": null, "tool_calls": [call] }));
    let chat_function = |function: &Value| chat_call(&json!({ "id": "c", "type": "function", "function": function }));
    let item_part = |part: &Value| items(&json!({ "type": "message", "role": "assistant", "content": [part] }));
    let step_part = |part: &Value| steps(&json!({ "type": "model_output", "content": [part] }));
    let part_call = |call: &Value| parts(&json!({ "functionCall": call }));
    let url = "data:image/png;base64,aGk=";
    let objects: [(&str, Wrap<'_>, Value); 23] = [
        ("anthropic", &anthropic, json!({ "type": "text", "text": "Hi" })),
        ("anthropic", &anthropic, json!({ "type": "thinking", "thinking": "Hm", "signature": "c2ln" })),
        ("anthropic", &anthropic, json!({ "type": "redacted_thinking", "data": "c2ln" })),
        ("anthropic", &anthropic, json!({ "type": "tool_use", "id": "c", "name": "f", "input": { "a": 1 } })),
        ("anthropic", &anthropic, json!({ "type": "image", "source": { "type": "url", "url": "https://e.org/a" } })),
        ("openai", &chat, json!({ "role": "assistant", "content": "Hi" })),
        ("openai", &chat_part, json!({ "type": "text", "text": "Hi" })),
        ("openai", &chat_part, json!({ "type": "image_url", "image_url": { "url": url } })),
        (
            "openai",
            &chat_call,
            json!({ "id": "c", "type": "function", "function": { "name": "f", "arguments": "{}" } }),
        ),
        ("openai", &chat_function, json!({ "name": "f", "arguments": "{}" })),
        (
            "openai-responses",
            &items,
            json!({ "type": "message", "id": "m", "role": "assistant", "content": [{ "type": "output_text", "text": "Hi" }] }),
        ),
        (
            "openai-responses",
            &items,
            json!({ "type": "reasoning", "id": "r", "summary": [], "encrypted_content": "c2ln" }),
        ),
        (
            "openai-responses",
            &items,
            json!({ "type": "function_call", "id": "f", "call_id": "c", "name": "f", "arguments": "{}" }),
        ),
        ("openai-responses", &item_part, json!({ "type": "output_text", "text": "Hi" })),
        ("openai-responses", &item_part, json!({ "type": "refusal", "refusal": "No" })),
        (
            "gemini-interactions",
            &steps,
            json!({ "type": "model_output", "content": [{ "type": "text", "text": "Hi" }] }),
        ),
        (
            "gemini-interactions",
            &steps,
            json!({ "type": "thought", "signature": "c2ln", "summary": [{ "type": "text", "text": "Hm" }] }),
        ),
        ("gemini-interactions", &steps, json!({ "type": "function_call", "id": "c", "name": "f", "arguments": {} })),
        ("gemini-interactions", &step_part, json!({ "type": "text", "text": "Hi" })),
        ("gemini-interactions", &step_part, json!({ "type": "image", "mime_type": "image/png", "data": "aGk=" })),
        ("gemini", &parts, json!({ "text": "Hi" })),
        ("gemini", &parts, json!({ "inlineData": { "mimeType": "image/png", "data": "aGk=" } })),
        ("gemini", &part_call, json!({ "id": "c", "name": "f", "args": {} })),
    ];
    for (provider, wrap, object) in objects {
        let whole = answer(provider, &wrap(&object));
        assert_eq!(whole["diagnostics"], json!([]), "{provider} {object}");
        // The lists of reasoning hold no text, and `thought` is a flag.
        let is_text = |field: &str| field != "thought" && (object["type"] != "reasoning" || field != "content");
        for field in READ_FIELDS.split_whitespace().filter(|field| object.get(field).is_none() && is_text(field)) {
            let mut object = object.clone();
            object[field] = json!("marker");
            let read = answer(provider, &wrap(&object));
            let is_held = read["nodes"].to_string().contains("marker");
            let is_reported = !read["diagnostics"].as_array().unwrap().is_empty();
            assert!(is_held || is_reported, "{provider} loses `{field}` of {object}");
        }
    }
}
