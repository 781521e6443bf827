//! A provider's answer as nodes: whole or streamed it is the same, a stream may end anywhere, and the provider gets its answer back.

use ctxweave::Error;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::calls::call;

fn continuation(response: &Value, provider: &str) -> Result<Value, Error> {
    let options = json!({ "provider": provider, "parent": "q", "ids": ["a", "b", "c", "d"] });
    call("continuation", &[response.clone(), options], None)
}

fn golden(name: &str) -> Value {
    let path = format!("{}/tests/golden/continuation/{name}.json", crate::ROOT);
    let golden: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    golden["args"][0].clone()
}

/// The body for a prompt with an answer, the results of its calls, and the next question.
fn body_after(answer: &Value, at: usize, provider: &str) -> Value {
    let node = &answer["nodes"][at];
    let blocks = node["content"]["blocks"].as_array().cloned().unwrap_or_default();
    let results: Vec<Value> = blocks
        .iter()
        .filter(|block| block["type"] == "toolCall")
        .map(|call| json!({ "type": "toolResult", "toolCallId": call["id"], "content": "done" }))
        .collect();
    let next = if results.is_empty() { json!("go on") } else { json!({ "type": "mixed", "blocks": results }) };
    let tree = json!({
        "nodes": [{ "id": "q", "authorType": "human", "content": "what?" }, node, { "id": "z", "authorType": "human", "content": next }],
        "edges": [answer["edges"][at], { "id": "e", "sources": [{ "nodeId": node["id"] }], "targetNodeId": "z" }],
    });
    let target = json!({ "provider": provider, "model": "m", "maxTokens": 100 });
    let mut request = json!({ "tree": tree, "tip": "z", "contextWindow": 100_000, "target": target });
    if answer["media"].is_object() {
        request["media"] = answer["media"].clone();
    }
    let body = call("requestBody", &[request], None).unwrap();
    serde_json::from_str(body["$text"].as_str().unwrap()).unwrap()
}

#[test]
fn the_provider_gets_its_answer_back() {
    let given = golden("anthropic-whole");
    let body = body_after(&continuation(&given, "anthropic").unwrap(), 0, "anthropic");
    let said = json!([
        given["content"][0],
        { "type": "text", "text": "Let me look at the tides." },
        { "type": "tool_use", "id": "toolu_01T1", "name": "get_tides", "input": given["content"][2]["input"] },
        { "type": "tool_use", "id": "toolu_01T2", "name": "get_wind", "input": {} },
    ]);
    assert_eq!(body["messages"][1], json!({ "role": "assistant", "content": said }));
    let redacted = golden("anthropic-server-tools");
    let body = body_after(&continuation(&redacted, "anthropic").unwrap(), 0, "anthropic");
    assert_eq!(body["messages"][1]["content"][0], redacted["content"][0]);

    let given = golden("openai-choices");
    let answer = continuation(&given, "openai").unwrap();
    for at in [0, 3] {
        let said = &body_after(&answer, at, "openai")["messages"][1];
        assert_eq!(said["content"], given["choices"][at]["message"]["content"]);
    }
    let said = &body_after(&answer, 1, "openai")["messages"][1];
    assert_eq!(said["tool_calls"][0]["id"], "call_abc");
    assert_eq!(said["tool_calls"][0]["function"]["arguments"], r#"{"port":"Brest","height":1.5}"#);

    let given = golden("responses-whole");
    let body = body_after(&continuation(&given, "openai-responses").unwrap(), 0, "openai-responses");
    assert_eq!(body["input"][1], given["output"][0]);
    assert_eq!(body["input"][2]["id"], "rs_68");
    assert_eq!(body["input"][2]["encrypted_content"], given["output"][1]["encrypted_content"]);
    assert_eq!(body["input"][3], json!({ "role": "assistant", "content": "I look it up." }));
    assert_eq!(body["input"][4]["call_id"], "call_9");
    assert_eq!(body["input"][4]["arguments"], given["output"][3]["arguments"]);

    let given = golden("gemini-candidates");
    let body = body_after(&continuation(&given, "gemini").unwrap(), 0, "gemini");
    let parts = &body["contents"][1]["parts"];
    assert_eq!(parts[0], given["candidates"][0]["content"]["parts"][0]);
    assert_eq!(parts[1]["thoughtSignature"], "CpQBAdHtim");
    assert_eq!(parts[1]["functionCall"]["args"], json!({ "port": "Brest" }));
    assert_eq!(parts[2]["functionCall"], given["candidates"][0]["content"]["parts"][2]["functionCall"]);
    let given = golden("interactions-whole");
    let body = body_after(&continuation(&given, "gemini-interactions").unwrap(), 0, "gemini-interactions");
    let output = &given["steps"][3]["content"];
    let said = json!([{ "type": "text", "text": "I found a table." }, output[1]]);
    assert_eq!(
        body["input"].as_array().unwrap()[1..7],
        [
            given["steps"][0].clone(),
            given["steps"][1].clone(),
            given["steps"][2].clone(),
            json!({ "type": "model_output", "content": said }),
            json!({ "type": "model_output", "content": [output[2]] }),
            json!({ "type": "function_call", "id": "c1", "name": "read_page", "arguments": given["steps"][4]["arguments"] }),
        ]
    );
    let body = body_after(&continuation(&golden("gemini-sse"), "gemini").unwrap(), 0, "gemini");
    assert_eq!(body["contents"][1]["parts"][1], json!({ "text": "The sea is calm.", "thoughtSignature": "CiQB" }));
}

/// Without what may differ: usage, which streams may not say, and diagnostics.
fn said(answer: &Value) -> Value {
    json!([answer["nodes"], answer["edges"], answer["choices"], answer["model"]])
}

/// A stream that ends early gives a beginning of what the whole gives, and never an error.
#[test]
fn a_stream_may_end_anywhere() {
    let text = golden("anthropic-bytes")["$text"].as_str().unwrap().to_owned();
    let gemini = serde_json::to_string_pretty(&golden("gemini-sse")).unwrap();
    assert!(!gemini.is_empty());
    for (provider, text) in [
        ("anthropic", text),
        ("openai", golden("openai-sse").as_str().unwrap().to_owned()),
        ("gemini", golden("gemini-sse").as_str().unwrap().to_owned()),
        ("gemini-interactions", golden("interactions-sse").as_str().unwrap().to_owned()),
        ("completion", golden("completion-sse").as_str().unwrap().to_owned()),
    ] {
        let mut last = 0;
        for end in (0..=text.len()).filter(|&end| text.is_char_boundary(end)) {
            let answer = continuation(&json!(text[..end]), provider).unwrap();
            let length = serde_json::to_string(&answer["nodes"]).unwrap().len();
            assert!(length + 80 >= last, "{provider} lost text at {end}");
            last = length;
            let is_told =
                answer["diagnostics"].as_array().unwrap().iter().any(|found| found["code"] == "reply_cut_off");
            let is_open = answer["choices"].as_array().unwrap().iter().any(|choice| choice["stopReason"].is_null());
            assert_eq!(is_told, is_open || answer["choices"] == json!([]), "{provider} at {end}");
        }
    }
}

fn cut(text: &str, sizes: &[usize]) -> Vec<String> {
    let mut chars = text.chars().peekable();
    let mut pieces = Vec::new();
    for size in sizes.iter().cycle() {
        if chars.peek().is_none() {
            break;
        }
        pieces.push(chars.by_ref().take(*size).collect());
    }
    pieces
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::generate::cases(200)))]

    /// However an answer is cut into events, it becomes the same nodes as the whole.
    #[test]
    fn streamed_or_whole_is_the_same(
        text in ".{1,40}",
        thought in ".{1,20}",
        value in "[a-z\"\\\\é]{0,20}",
        sizes in prop::collection::vec(1_usize..9, 1..5),
    ) {
        let input = json!({ "city": value, "n": [1, 2.5, null] });
        let arguments = serde_json::to_string(&input).unwrap();

        let content = json!([
            { "type": "thinking", "thinking": thought, "signature": "S" },
            { "type": "text", "text": text },
            { "type": "tool_use", "id": "t", "name": "f", "input": input },
        ]);
        let whole = json!({ "model": "m", "content": content, "stop_reason": "tool_use" });
        let mut events = vec![json!({ "type": "message_start", "message": { "model": "m", "content": [] } })];
        let starts = [
            json!({ "type": "thinking", "thinking": "", "signature": "" }),
            json!({ "type": "text", "text": "" }),
            json!({ "type": "tool_use", "id": "t", "name": "f", "input": {} }),
        ];
        let kinds = [("thinking_delta", "thinking"), ("text_delta", "text"), ("input_json_delta", "partial_json")];
        for (at, (start, (kind, field))) in starts.iter().zip(kinds).enumerate() {
            events.push(json!({ "type": "content_block_start", "index": at, "content_block": start }));
            for piece in cut([&thought, &text, &arguments][at], &sizes) {
                let delta = json!({ "type": kind, field: piece });
                events.push(json!({ "type": "content_block_delta", "index": at, "delta": delta }));
            }
            if at == 0 {
                let delta = json!({ "type": "signature_delta", "signature": "S" });
                events.push(json!({ "type": "content_block_delta", "index": 0, "delta": delta }));
            }
            events.push(json!({ "type": "content_block_stop", "index": at }));
        }
        events.push(json!({ "type": "message_delta", "delta": { "stop_reason": "tool_use" } }));
        check("anthropic", &whole, &events)?;

        let call = json!({ "id": "t", "type": "function", "function": { "name": "f", "arguments": arguments } });
        let message = json!({ "role": "assistant", "content": text, "reasoning_content": thought, "tool_calls": [call] });
        let whole = json!({ "model": "m", "choices": [
            { "index": 0, "message": message, "finish_reason": "tool_calls" },
            { "index": 1, "message": { "role": "assistant", "content": thought }, "finish_reason": "length" },
        ] });
        let chunk = |index: usize, delta: Value, reason: Value| {
            json!({ "model": "m", "choices": [{ "index": index, "delta": delta, "finish_reason": reason }] })
        };
        let mut events = vec![chunk(0, json!({ "role": "assistant", "content": "" }), Value::Null)];
        for piece in cut(&thought, &sizes) {
            events.push(chunk(0, json!({ "reasoning_content": piece }), Value::Null));
            events.push(chunk(1, json!({ "content": piece }), Value::Null));
        }
        events.extend(cut(&text, &sizes).into_iter().map(|piece| chunk(0, json!({ "content": piece }), Value::Null)));
        let start = json!([{ "index": 0, "id": "t", "type": "function", "function": { "name": "f", "arguments": "" } }]);
        events.push(chunk(0, json!({ "tool_calls": start }), Value::Null));
        for piece in cut(&arguments, &sizes) {
            let delta = json!({ "tool_calls": [{ "index": 0, "function": { "arguments": piece } }] });
            events.push(chunk(0, delta, Value::Null));
        }
        events.push(chunk(0, json!({}), json!("tool_calls")));
        events.push(chunk(1, json!({}), json!("length")));
        check("openai", &whole, &events)?;

        let call = json!({ "functionCall": { "name": "f", "args": input }, "thoughtSignature": "S" });
        let part = |text: &str, thought: bool| if thought { json!({ "text": text, "thought": true }) } else { json!({ "text": text }) };
        let response = |parts: Vec<Value>| {
            json!({ "modelVersion": "m", "candidates": [{ "index": 0, "content": { "role": "model", "parts": parts } }] })
        };
        let mut whole = response(vec![part(&thought, true), part(&text, false), call.clone()]);
        whole["candidates"][0]["finishReason"] = json!("STOP");
        let mut events: Vec<Value> = cut(&thought, &sizes).iter().map(|piece| response(vec![part(piece, true)])).collect();
        events.extend(cut(&text, &sizes).iter().map(|piece| response(vec![part(piece, false)])));
        let mut last = response(vec![call]);
        last["candidates"][0]["finishReason"] = json!("STOP");
        events.push(last);
        check("gemini", &whole, &events)?;

        let message = json!({ "type": "message", "id": "m", "content": [{ "type": "output_text", "text": text }] });
        let called = json!({ "type": "function_call", "call_id": "t", "name": "f", "arguments": arguments });
        let thinking = json!({ "type": "reasoning", "id": "r", "summary": [{ "type": "summary_text", "text": thought }] });
        let whole = json!({ "model": "m", "status": "completed", "output": [thinking, message, called] });
        let mut events = vec![json!({ "type": "response.created", "response": { "model": "m", "status": "in_progress", "output": [] } })];
        events.push(json!({ "type": "response.output_item.added", "output_index": 0, "item": { "type": "reasoning", "id": "r", "summary": [] } }));
        events.extend(cut(&thought, &sizes).into_iter().map(|piece| {
            json!({ "type": "response.reasoning_summary_text.delta", "output_index": 0, "summary_index": 0, "delta": piece })
        }));
        events.extend(cut(&text, &sizes).into_iter().map(|piece| {
            json!({ "type": "response.output_text.delta", "output_index": 1, "content_index": 0, "delta": piece })
        }));
        let item = json!({ "type": "function_call", "call_id": "t", "name": "f", "arguments": "" });
        events.push(json!({ "type": "response.output_item.added", "output_index": 2, "item": item }));
        events.extend(cut(&arguments, &sizes).into_iter().map(|piece| {
            json!({ "type": "response.function_call_arguments.delta", "output_index": 2, "delta": piece })
        }));
        events.push(json!({ "type": "response.completed", "response": { "model": "m", "status": "completed", "output": [] } }));
        check("openai-responses", &whole, &events)?;

        let part = |text: &str| json!([{ "type": "text", "text": text }]);
        let called = json!({ "type": "function_call", "id": "t", "name": "f", "arguments": input });
        let ran = json!({ "type": "code_execution_call", "id": "x", "arguments": { "code": value } });
        let gave = json!({ "type": "code_execution_result", "call_id": "x", "result": text });
        let steps = [
            json!({ "type": "thought", "signature": "S", "summary": part(&thought) }),
            json!({ "type": "model_output", "content": part(&text) }),
            ran.clone(),
            gave,
            called,
        ];
        let interaction = |status: &str| json!({ "id": "i", "model": "m", "status": status });
        let mut whole = interaction("requires_action");
        whole["steps"] = json!(steps);
        let mut events = vec![json!({ "event_type": "interaction.created", "interaction": interaction("in_progress") })];
        let starts = [
            json!({ "type": "thought" }),
            json!({ "type": "model_output" }),
            json!({ "type": "code_execution_call", "id": "x", "signature": "" }),
            json!({ "type": "code_execution_result", "call_id": "x", "signature": "" }),
            json!({ "type": "function_call", "id": "t", "name": "f", "arguments": {}, "signature": "" }),
        ];
        for (at, start) in starts.iter().enumerate() {
            events.push(json!({ "event_type": "step.start", "index": at, "step": start }));
            let deltas: Vec<Value> = match at {
                0 => cut(&thought, &sizes).iter().map(|it| json!({ "type": "thought_summary", "content": { "type": "text", "text": it } })).chain([json!({ "type": "thought_signature", "signature": "S" })]).collect(),
                1 => cut(&text, &sizes).iter().map(|it| json!({ "type": "text", "text": it })).collect(),
                2 => vec![json!({ "type": "code_execution_call", "arguments": ran["arguments"] })],
                3 => cut(&text, &sizes).iter().map(|it| json!({ "type": "code_execution_result", "result": it })).collect(),
                _ => cut(&arguments, &sizes).iter().map(|it| json!({ "type": "arguments_delta", "arguments": it })).collect(),
            };
            events.extend(deltas.iter().map(|delta| json!({ "event_type": "step.delta", "index": at, "delta": delta })));
            events.push(json!({ "event_type": "step.stop", "index": at }));
        }
        events.push(json!({ "event_type": "interaction.completed", "interaction": interaction("requires_action") }));
        check("gemini-interactions", &whole, &events)?;
    }
}

/// That the events give what the whole gives, as a list and as server-sent events.
fn check(provider: &str, whole: &Value, events: &[Value]) -> Result<(), TestCaseError> {
    let expected = said(&continuation(whole, provider).unwrap());
    prop_assert_eq!(&said(&continuation(&json!(events), provider).unwrap()), &expected);
    let sent: String = events.iter().map(|event| format!("event: x\r\ndata: {event}\r\n\r\n")).collect();
    prop_assert_eq!(&said(&continuation(&json!(sent), provider).unwrap()), &expected);
    Ok(())
}

/// What `continuation` gives is what `upsert` takes, with nothing to say about it.
#[test]
fn a_tree_takes_it_as_it_is() {
    let answer = continuation(&golden("openai-choices"), "openai").unwrap();
    let tree = json!({ "nodes": [{ "id": "q", "authorType": "human", "content": "what?" }], "edges": [] });
    let steps = json!([["upsert", answer], ["children", "q"]]);
    let result = call("LoomTree", &[tree], Some(steps.as_array().unwrap())).unwrap();
    assert_eq!(result[0]["diagnostics"], json!([]));
    assert_eq!(result[1].as_array().unwrap().len(), 4);
}
