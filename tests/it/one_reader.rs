//! The same part is the same in a chat and in an answer: one function per vendor classifies it.

use serde_json::{Value, json};

use crate::calls::call;

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
