//! Conversations of no format, written in each: what tests ask of a fit is asked of them all.

use serde_json::{Value, json};

pub(crate) const FORMATS: &[&str] = &[
    "generic",
    "openai",
    "openai-responses",
    "openai-agents",
    "anthropic",
    "gemini",
    "gemini-interactions",
    "ai-sdk",
    "ai-sdk-ui",
    "langchain",
];

/// A text, a call or another part of a chat.
#[derive(Clone, Debug)]
pub(crate) enum Turn {
    System(String),
    User(String),
    /// A user's text with an image.
    Look(String),
    /// Thoughts, a text, and calls with what they gave.
    Assistant {
        thought: Option<String>,
        text: Option<String>,
        calls: Vec<Call>,
    },
}

#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub id: String,
    pub name: String,
    pub input: String,
    /// None for one that is open.
    pub result: Option<String>,
}

/// A conversation in a format.
pub(crate) fn write(format: &str, turns: &[Turn]) -> Vec<Value> {
    let mut out = Vec::new();
    for (number, turn) in turns.iter().enumerate() {
        match turn {
            Turn::System(text) => out.push(match format {
                "langchain" => json!({ "type": "system", "content": text }),
                "ai-sdk-ui" => {
                    json!({ "id": number.to_string(), "role": "system", "parts": [{ "type": "text", "text": text }] })
                }
                "gemini" => json!({ "role": "user", "parts": [{ "text": text }] }),
                // Instructions have their own field there.
                "anthropic" | "gemini-interactions" => continue,
                _ => json!({ "role": "system", "content": text }),
            }),
            Turn::User(text) => out.push(user(format, number, json!(text))),
            Turn::Look(text) => out.push(look(format, number, text)),
            Turn::Assistant { thought, text, calls } => {
                assistant(format, number, thought.as_deref(), text.as_deref(), calls, &mut out)
            }
        }
    }
    out
}

fn user(format: &str, number: usize, text: Value) -> Value {
    match format {
        "gemini" => json!({ "role": "user", "parts": [{ "text": text }] }),
        "gemini-interactions" => json!({ "type": "user_input", "content": [{ "type": "text", "text": text }] }),
        "ai-sdk-ui" => {
            json!({ "id": number.to_string(), "role": "user", "parts": [{ "type": "text", "text": text }], "metadata": { "n": number } })
        }
        "langchain" => json!({ "type": "human", "content": text, "id": format!("h{number}") }),
        "openai-responses" => {
            json!({ "type": "message", "role": "user", "content": [{ "type": "input_text", "text": text }] })
        }
        "openai-agents" => {
            json!({ "type": "message", "role": "user", "content": text, "providerData": { "n": number } })
        }
        _ => json!({ "role": "user", "content": text, "extra": number }),
    }
}

fn look(format: &str, number: usize, text: &str) -> Value {
    let data = "iVBORw0KGgo=";
    let url = format!("data:image/png;base64,{data}");
    let parts = match format {
        "openai" | "langchain" => {
            json!([{ "type": "text", "text": text }, { "type": "image_url", "image_url": { "url": url } }])
        }
        "openai-responses" => {
            json!([{ "type": "input_text", "text": text }, { "type": "input_image", "image_url": url }])
        }
        "openai-agents" => json!([{ "type": "input_text", "text": text }, { "type": "input_image", "image": url }]),
        "anthropic" => {
            json!([{ "type": "image", "source": { "type": "base64", "media_type": "image/png", "data": data } }, { "type": "text", "text": text }])
        }
        "gemini" => {
            return json!({ "role": "user", "parts": [{ "text": text }, { "inlineData": { "mimeType": "image/png", "data": data } }] });
        }
        "gemini-interactions" => {
            return json!({ "type": "user_input", "content": [{ "type": "text", "text": text }, { "type": "image", "mime_type": "image/png", "data": data }] });
        }
        "ai-sdk" => {
            json!([{ "type": "text", "text": text }, { "type": "file", "mediaType": "image/png", "data": data }])
        }
        "ai-sdk-ui" => {
            return json!({ "id": number.to_string(), "role": "user", "parts": [{ "type": "text", "text": text }, { "type": "file", "mediaType": "image/png", "url": url }] });
        }
        _ => json!([{ "type": "text", "text": text }, { "type": "image", "mimeType": "image/png", "data": data }]),
    };
    if format == "langchain" {
        return json!({ "type": "human", "content": parts });
    }
    json!({ "role": "user", "content": parts })
}

fn assistant(
    format: &str,
    number: usize,
    thought: Option<&str>,
    text: Option<&str>,
    calls: &[Call],
    out: &mut Vec<Value>,
) {
    let parse = |input: &str| json!({ "q": input });
    match format {
        "openai" => {
            let mut message = json!({ "role": "assistant", "content": text });
            if let Some(thought) = thought {
                message["reasoning_content"] = json!(thought);
            }
            if !calls.is_empty() {
                let call = |call: &Call| json!({ "id": call.id, "type": "function", "function": { "name": call.name, "arguments": parse(&call.input).to_string() } });
                message["tool_calls"] = calls.iter().map(call).collect();
            }
            out.push(message);
            for (call, result) in answered(calls) {
                out.push(json!({ "role": "tool", "tool_call_id": call.id, "content": result }));
            }
        }
        "openai-responses" => {
            if let Some(thought) = thought {
                out.push(json!({ "type": "reasoning", "id": format!("rs_{number}"), "summary": [{ "type": "summary_text", "text": thought }] }));
            }
            if let Some(text) = text {
                out.push(json!({ "type": "message", "id": format!("msg_{number}"), "role": "assistant", "content": [{ "type": "output_text", "text": text, "annotations": [] }] }));
            }
            for call in calls {
                out.push(json!({ "type": "function_call", "id": format!("fc_{}", call.id), "call_id": call.id, "name": call.name, "arguments": parse(&call.input).to_string() }));
            }
            for (call, result) in answered(calls) {
                out.push(json!({ "type": "function_call_output", "call_id": call.id, "output": result }));
            }
        }
        "openai-agents" => {
            if let Some(thought) = thought {
                out.push(json!({ "type": "reasoning", "content": [{ "type": "input_text", "text": thought }], "providerData": {} }));
            }
            if let Some(text) = text {
                out.push(json!({ "type": "message", "id": format!("msg_{number}"), "role": "assistant", "status": "completed", "content": [{ "type": "output_text", "text": text }] }));
            }
            for call in calls {
                out.push(json!({ "type": "function_call", "id": format!("fc_{}", call.id), "callId": call.id, "name": call.name, "arguments": parse(&call.input).to_string() }));
            }
            for (call, result) in answered(calls) {
                out.push(json!({ "type": "function_call_result", "callId": call.id, "name": call.name, "status": "completed", "output": { "type": "text", "text": result } }));
            }
        }
        "anthropic" => {
            let mut blocks: Vec<Value> = Vec::new();
            blocks
                .extend(thought.map(|thought| json!({ "type": "thinking", "thinking": thought, "signature": "c2ln" })));
            blocks.extend(text.map(|text| json!({ "type": "text", "text": text })));
            blocks.extend(calls.iter().map(
                |call| json!({ "type": "tool_use", "id": call.id, "name": call.name, "input": parse(&call.input) }),
            ));
            out.push(json!({ "role": "assistant", "content": blocks }));
            let results = answered(calls)
                .map(|(call, result)| json!({ "type": "tool_result", "tool_use_id": call.id, "content": result }));
            push_some(out, results.collect(), |blocks| json!({ "role": "user", "content": blocks }));
        }
        "gemini" => {
            let mut parts: Vec<Value> = Vec::new();
            parts.extend(thought.map(|thought| json!({ "text": thought, "thought": true })));
            parts.extend(text.map(|text| json!({ "text": text })));
            parts.extend(
                calls.iter().map(|call| json!({ "functionCall": { "name": call.name, "args": parse(&call.input) } })),
            );
            out.push(json!({ "role": "model", "parts": parts }));
            let results = answered(calls).map(
                |(call, result)| json!({ "functionResponse": { "name": call.name, "response": { "output": result } } }),
            );
            push_some(out, results.collect(), |parts| json!({ "role": "user", "parts": parts }));
        }
        "gemini-interactions" => {
            if let Some(thought) = thought {
                out.push(
                    json!({ "type": "thought", "signature": "c2ln", "summary": [{ "type": "text", "text": thought }] }),
                );
            }
            if let Some(text) = text {
                out.push(json!({ "type": "model_output", "content": [{ "type": "text", "text": text }] }));
            }
            for call in calls {
                out.push(json!({ "type": "function_call", "id": call.id, "name": call.name, "arguments": parse(&call.input) }));
            }
            for (call, result) in answered(calls) {
                out.push(json!({ "type": "function_result", "call_id": call.id, "name": call.name, "result": result }));
            }
        }
        "ai-sdk" => {
            let mut parts: Vec<Value> = Vec::new();
            parts.extend(thought.map(|thought| json!({ "type": "reasoning", "text": thought })));
            parts.extend(text.map(|text| json!({ "type": "text", "text": text })));
            parts.extend(calls.iter().map(|call| json!({ "type": "tool-call", "toolCallId": call.id, "toolName": call.name, "input": parse(&call.input) })));
            out.push(json!({ "role": "assistant", "content": parts }));
            let results = answered(calls).map(|(call, result)| json!({ "type": "tool-result", "toolCallId": call.id, "toolName": call.name, "output": { "type": "text", "value": result } }));
            push_some(out, results.collect(), |parts| json!({ "role": "tool", "content": parts }));
        }
        "ai-sdk-ui" => {
            let mut parts: Vec<Value> = vec![json!({ "type": "step-start" })];
            parts.extend(thought.map(|thought| json!({ "type": "reasoning", "text": thought })));
            parts.extend(text.map(|text| json!({ "type": "text", "text": text })));
            parts.extend(calls.iter().map(|call| {
                let mut part = json!({ "type": format!("tool-{}", call.name), "toolCallId": call.id, "state": "input-available", "input": parse(&call.input) });
                if let Some(result) = &call.result {
                    part["state"] = json!("output-available");
                    part["output"] = json!(result);
                }
                part
            }));
            // Steps of one run are one message.
            match out.last_mut().filter(|last| last["role"] == "assistant") {
                Some(last) => last["parts"].as_array_mut().unwrap().extend(parts),
                None => out.push(json!({ "id": number.to_string(), "role": "assistant", "parts": parts })),
            }
        }
        "langchain" => {
            let mut blocks: Vec<Value> = Vec::new();
            blocks.extend(thought.map(|thought| json!({ "type": "thinking", "thinking": thought })));
            blocks.extend(text.map(|text| json!({ "type": "text", "text": text })));
            blocks.extend(calls.iter().map(
                |call| json!({ "type": "tool_use", "id": call.id, "name": call.name, "input": parse(&call.input) }),
            ));
            let tool_calls: Vec<Value> = calls
                .iter()
                .map(|call| json!({ "id": call.id, "name": call.name, "args": parse(&call.input) }))
                .collect();
            out.push(json!({ "type": "ai", "content": blocks, "tool_calls": tool_calls, "additional_kwargs": {} }));
            for (call, result) in answered(calls) {
                out.push(json!({ "type": "tool", "tool_call_id": call.id, "content": result }));
            }
        }
        _ => {
            let mut blocks: Vec<Value> = Vec::new();
            blocks.extend(thought.map(|thought| json!({ "type": "reasoning", "text": thought })));
            blocks.extend(text.map(|text| json!({ "type": "text", "text": text })));
            blocks.extend(calls.iter().map(
                |call| json!({ "type": "toolCall", "id": call.id, "name": call.name, "arguments": parse(&call.input) }),
            ));
            out.push(json!({ "role": "assistant", "content": blocks }));
            let results = answered(calls)
                .map(|(call, result)| json!({ "type": "toolResult", "toolCallId": call.id, "content": result }));
            push_some(out, results.collect(), |blocks| json!({ "role": "user", "content": blocks }));
        }
    }
}

fn answered(calls: &[Call]) -> impl Iterator<Item = (&Call, &str)> {
    calls.iter().filter_map(|call| Some((call, call.result.as_deref()?)))
}

fn push_some(out: &mut Vec<Value>, items: Vec<Value>, message: impl Fn(Vec<Value>) -> Value) {
    if !items.is_empty() {
        out.push(message(items));
    }
}

/// The calls and results of messages, in order: `+id` and `-id`. Where one part is both, or where ids are not given, it is what can be
/// told: calls of Gemini have their names.
pub(crate) fn acts(messages: &[Value]) -> Vec<String> {
    let mut found = Vec::new();
    messages.iter().for_each(|message| acts_in(message, &mut found));
    found
}

fn acts_in(value: &Value, found: &mut Vec<String>) {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    match value {
        Value::Array(items) => items.iter().for_each(|item| acts_in(item, found)),
        Value::Object(fields) => {
            let kind = value["type"].as_str().unwrap_or_default();
            if let Some(id) = fields.get("tool_call_id").or(fields.get("tool_use_id")) {
                found.push(format!("-{}", text(id)));
                return;
            }
            match kind {
                "function_call" => {
                    let id = fields.get("call_id").or(fields.get("callId")).or(fields.get("id"));
                    found.push(format!("+{}", text(id.unwrap())))
                }
                "function_call_output" | "function_call_result" | "function_result" => {
                    found.push(format!("-{}", text(fields.get("call_id").or(fields.get("callId")).unwrap())))
                }
                "function" | "tool_use" | "toolCall" => found.push(format!("+{}", text(&value["id"]))),
                "tool-call" => found.push(format!("+{}", text(&value["toolCallId"]))),
                "tool-result" | "toolResult" => found.push(format!("-{}", text(&value["toolCallId"]))),
                _ if fields.contains_key("functionCall") => {
                    found.push(format!("+{}", text(&value["functionCall"]["name"])))
                }
                _ if fields.contains_key("functionResponse") => {
                    found.push(format!("-{}", text(&value["functionResponse"]["name"])))
                }
                _ => {
                    for key in ["content", "parts", "tool_calls"] {
                        // LangChain's calls stand in the content, too.
                        if !(key == "tool_calls" && kind == "ai") {
                            fields.get(key).into_iter().for_each(|inner| acts_in(inner, found));
                        }
                    }
                }
            }
        }
        _ => {}
    }
}

/// Whether a message is the user's.
pub(crate) fn is_user(message: &Value) -> bool {
    message["role"] == "user" || message["type"] == "human" || message["type"] == "user_input"
}

/// Whether a message is the assistant's.
pub(crate) fn is_assistant(message: &Value) -> bool {
    let is_step = ["model_output", "thought", "function_call"].iter().any(|kind| message["type"] == *kind);
    message["role"] == "assistant" || message["role"] == "model" || message["type"] == "ai" || is_step
}
