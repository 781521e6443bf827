//! The phase of messages of OpenAI's models: kept by fits, conversions, trees and bodies.

use serde_json::{Value, json};

use super::{count, fit};
use crate::calls::call;
use ctxweave::call::CallContext;

fn message(phase: &str, text: &str) -> Value {
    json!({ "type": "message", "role": "assistant", "phase": phase, "content": [{ "type": "output_text", "text": text }] })
}

/// A run in which the model comments on its call before it makes it.
fn run() -> Vec<Value> {
    vec![
        json!({ "role": "user", "content": "Look it up." }),
        json!({ "type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "sealed" }),
        message("commentary", "I look it up."),
        json!({ "type": "function_call", "call_id": "c", "name": "look", "arguments": "{}" }),
        json!({ "type": "function_call_output", "call_id": "c", "output": "found" }),
        message("final_answer", "It is there."),
        json!({ "role": "user", "content": "Thanks." }),
    ]
}

/// The phases of the model's messages, with the texts.
fn phases(items: &[Value]) -> Vec<(String, String)> {
    let of_model = items.iter().filter(|item| item["role"] == "assistant");
    let text = |item: &Value| item["content"].as_str().or(item["content"][0]["text"].as_str()).unwrap().to_owned();
    of_model.map(|item| (item["phase"].as_str().unwrap_or("none").to_owned(), text(item))).collect()
}

fn expected() -> Vec<(String, String)> {
    [("commentary", "I look it up."), ("final_answer", "It is there.")]
        .map(|(a, b)| (a.to_owned(), b.to_owned()))
        .to_vec()
}

fn convert(messages: &[Value], to: &str) -> Value {
    call("convertMessages", &[json!(messages), json!({ "to": to })], None).unwrap()
}

#[test]
fn a_fit_keeps_the_phase() {
    let mut long = run();
    for item in run().iter().cycle().take(60) {
        let mut item = item.clone();
        item["content"] = match item["content"].as_array() {
            Some(_) => json!([{ "type": "output_text", "text": "word ".repeat(200) }]),
            None => item["content"].clone(),
        };
        if item.get("type").is_none_or(|kind| kind == "message") {
            long.push(item);
        }
    }
    let fitted = fit(&json!(long), &json!({ "maxTokens": 1_500 })).unwrap();
    assert_eq!(fitted.report["truncated"], true);
    for (message, from) in fitted.messages.iter().zip(&fitted.from) {
        if let Some(at) = from {
            assert_eq!(message.get("phase"), long[*at].get("phase"));
        }
    }
}

#[test]
fn a_conversion_keeps_the_phase_where_it_has_a_place() {
    let agents = convert(&run(), "openai-agents");
    assert_eq!(phases(agents["messages"].as_array().unwrap()), expected());
    assert_eq!(agents["diagnostics"], json!([]));
    let back = convert(agents["messages"].as_array().unwrap(), "openai-responses");
    assert_eq!(phases(back["messages"].as_array().unwrap()), expected());
    let generic = convert(&run(), "generic");
    let options = json!({ "from": "generic", "to": "openai-responses" });
    let back = call("convertMessages", &[generic["messages"].clone(), options], None).unwrap();
    assert_eq!(phases(back["messages"].as_array().unwrap()), expected());
    // It costs nothing.
    let tokens = |messages: &Value| count(messages, &json!({ "format": "generic" }), &CallContext::default()).unwrap();
    let mut bare = generic["messages"].clone();
    for message in bare.as_array_mut().unwrap() {
        if let Some(blocks) = message["content"].as_array_mut() {
            blocks.retain(|block| block["value"]["phase"].is_null());
        }
    }
    assert_ne!(bare, generic["messages"]);
    assert_eq!(tokens(&bare), tokens(&generic["messages"]));
    for to in ["openai", "anthropic", "ai-sdk"] {
        let other = convert(&run(), to);
        assert!(!other["messages"].to_string().contains("phase"), "{to}");
        let found = other["diagnostics"].as_array().unwrap().iter();
        let texts: Vec<&str> = found.filter_map(|found| found["message"].as_str()).collect();
        assert!(texts.iter().any(|text| text.contains("phase")), "{to} {texts:?}");
    }
}

fn body(tree: Value, tip: &Value, provider: &str) -> Value {
    let target = json!({ "provider": provider, "model": "m", "maxTokens": 100 });
    let request = json!({ "tree": tree, "tip": tip, "contextWindow": 100_000, "target": target });
    let body = call("requestBody", &[request], None).unwrap();
    serde_json::from_str(body["$text"].as_str().or(body["body"]["$text"].as_str()).unwrap()).unwrap()
}

#[test]
fn a_tree_keeps_the_phase() {
    let made = call("chatToLoomTree", &[json!(run())], None).unwrap();
    let tip = made["tree"]["nodes"].as_array().unwrap().last().unwrap()["id"].clone();
    let items = body(made["tree"].clone(), &tip, "openai-responses");
    assert_eq!(phases(items["input"].as_array().unwrap()), expected());
    let other = body(made["tree"].clone(), &tip, "anthropic");
    assert!(!other.to_string().contains("phase"));
    assert_eq!(other["messages"][1]["content"][0], json!({ "type": "text", "text": "I look it up." }));
}

#[test]
fn an_answer_is_sent_back_with_its_phase() {
    let output: Vec<Value> = run()[1..4].to_vec();
    let response = json!({ "id": "r", "status": "completed", "model": "gpt-5.6", "output": output });
    let options = json!({ "provider": "openai-responses", "parent": "q", "ids": ["a"] });
    let answer = call("continuation", &[response, options], None).unwrap();
    assert_eq!(answer["diagnostics"], json!([]));
    let result = json!({ "type": "toolResult", "toolCallId": "c", "content": "found" });
    let tree = json!({
        "nodes": [
            { "id": "q", "authorType": "human", "content": "Look it up." },
            answer["nodes"][0],
            { "id": "z", "authorType": "human", "content": { "type": "mixed", "blocks": [result] } },
        ],
        "edges": [answer["edges"][0], { "id": "e", "sources": [{ "nodeId": "a" }], "targetNodeId": "z" }],
    });
    let items = body(tree, &json!("z"), "openai-responses");
    assert_eq!(phases(items["input"].as_array().unwrap()), expected()[..1]);
}

#[test]
fn a_session_keeps_the_phase() {
    let line = |item: &Value| {
        json!({ "timestamp": "2026-11-27T00:00:00Z", "type": "response_item", "payload": item }).to_string()
    };
    let meta = json!({ "timestamp": "2026-11-27T00:00:00Z", "type": "session_meta", "payload": { "id": "s", "timestamp": "2026-11-27T00:00:00Z", "cwd": "", "originator": "x", "cli_version": "0" } });
    let text = [meta.to_string()].into_iter().chain(run().iter().map(line)).collect::<Vec<_>>().join("\n");
    let made = call("transcriptToLoomTree", &[json!("codex-v1"), json!({ "$text": text })], None).unwrap();
    let tip = made["tree"]["nodes"].as_array().unwrap().last().unwrap()["id"].clone();
    let items = body(made["tree"].clone(), &tip, "openai-responses");
    assert_eq!(phases(items["input"].as_array().unwrap()), expected());
}
