//! Cache breakpoints of OpenAI's.

use ctxweave::DiagnosticCode;
use ctxweave::prompt::bodies::Provider;
use serde_json::{Value, json};

use super::rules::broken;
use crate::calls::call;

/// The body and the codes of its findings for a conversation of texts, with results of tools where they are given.
fn body(model: &str, cache: Value, nodes: &[(&str, Value)]) -> (Value, Vec<String>) {
    let node = |(at, (author, content)): (usize, &(&str, Value))| json!({ "id": format!("n{at}"), "authorType": author, "content": content });
    let edge = |at: usize| json!({ "id": format!("e{at}"), "sources": [{ "nodeId": format!("n{}", at - 1) }], "targetNodeId": format!("n{at}") });
    let edges: Vec<Value> = (1..nodes.len()).map(edge).collect();
    let tree = json!({ "systemContext": "Be brief.", "nodes": nodes.iter().enumerate().map(node).collect::<Vec<_>>(), "edges": edges });
    let target = json!({ "provider": "openai-responses", "model": model, "cache": cache });
    let tip = format!("n{}", nodes.len() - 1);
    let request = json!({ "tree": tree, "tip": tip, "contextWindow": 100_000, "target": target });
    let answer = call("requestBodyWithReport", &[request], None).unwrap();
    let body: Value = serde_json::from_str(answer["body"]["$text"].as_str().unwrap()).unwrap();
    assert_eq!(broken(Provider::OpenAiResponses, &body), Ok(()));
    let codes = answer["report"]["diagnostics"].as_array().unwrap().iter();
    (body, codes.map(|found| found["code"].as_str().unwrap().to_owned()).collect())
}

/// Which items have a breakpoint.
fn marked(body: &Value) -> Vec<usize> {
    let items = body["input"].as_array().unwrap().iter().enumerate();
    items.filter(|(_, item)| item.to_string().contains("prompt_cache_breakpoint")).map(|(at, _)| at).collect()
}

fn talk(turns: usize) -> Vec<(&'static str, Value)> {
    let turn = |at: usize| [("human", json!(format!("Question {at}?"))), ("model", json!(format!("Answer {at}.")))];
    let mut nodes: Vec<_> = (0..turns).flat_map(turn).collect();
    nodes.pop();
    nodes
}

#[test]
fn breakpoints_stand_where_anthropic_has_them() {
    for model in ["gpt-5.6", "gpt-5.6-mini", "openai/gpt-6", "gpt-6-foo"] {
        let (body, codes) = body(model, json!(true), &talk(4));
        assert_eq!(marked(&body), [4, 6], "{model}");
        assert_eq!(body["prompt_cache_options"], json!({ "mode": "explicit" }));
        let part =
            json!({ "type": "input_text", "text": "Question 3?", "prompt_cache_breakpoint": { "mode": "explicit" } });
        assert_eq!(body["input"][6], json!({ "role": "user", "content": [part] }));
        assert_eq!(body["input"][5], json!({ "role": "assistant", "content": "Answer 2." }));
        assert!(codes.is_empty(), "{codes:?}");
    }
    for model in ["gpt-5.5", "gpt-5", "gpt-4o", "o3"] {
        let (body, codes) = body(model, json!(true), &talk(4));
        assert!(marked(&body).is_empty() && body.get("prompt_cache_options").is_none(), "{model}");
        assert_eq!(codes, [DiagnosticCode::BodyFieldUnused.as_str()]);
    }
}

#[test]
fn breakpoints_at_named_places_stand_at_what_takes_them() {
    // After the model's messages none can stand: it stands before them.
    let (marks, _) = body("gpt-5.6", json!({ "messages": [1, 3, -1] }), &talk(4));
    assert_eq!(marked(&marks), [0, 2, 6]);
    let (capped, codes) = body("gpt-5.6", json!({ "messages": [0, 2, 4, 6, 8] }), &talk(6));
    assert_eq!(marked(&capped), [0, 2, 4, 6]);
    assert_eq!(codes, [DiagnosticCode::BodyCacheCapped.as_str()]);
    let (kept, _) = body("gpt-5.6", json!({ "ttl": "12h" }), &talk(2));
    assert_eq!(kept["prompt_cache_options"], json!({ "mode": "explicit", "ttl": "12h" }));
    let (kept, _) = body("gpt-5.6", json!({ "ttl": "5m" }), &talk(2));
    assert_eq!(kept["prompt_cache_options"], json!({ "mode": "explicit" }));
    // Without a place for one the cache stays as it is.
    let (none, _) = body("gpt-5.6", json!({ "messages": [] }), &talk(2));
    assert!(marked(&none).is_empty() && none.get("prompt_cache_options").is_none());
}

#[test]
fn a_result_takes_a_breakpoint() {
    let call =
        json!({ "type": "mixed", "blocks": [{ "type": "toolCall", "id": "c", "name": "look", "arguments": {} }] });
    let result =
        json!({ "type": "mixed", "blocks": [{ "type": "toolResult", "toolCallId": "c", "content": "found" }] });
    let (body, _) = body("gpt-5.6", json!(true), &[("human", json!("Look.")), ("model", call), ("human", result)]);
    let part = json!({ "type": "input_text", "text": "found", "prompt_cache_breakpoint": { "mode": "explicit" } });
    assert_eq!(body["input"][2]["output"], json!([part]));
}
