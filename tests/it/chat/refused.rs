//! What newer models of Anthropic's refuse is reported.

use ctxweave::call::CallContext;
use ctxweave::chat::resident::{METHODS, ResidentChat};
use ctxweave::content::{Block, Role};
use ctxweave::prompt::Message;
use ctxweave::prompt::bodies::{Hints, Provider, Target, write_body};
use serde_json::{Value, json};

use super::fit;

/// The codes of findings, with their paths.
fn found(diagnostics: &Value) -> Vec<String> {
    let codes =
        ["tool_choice_refused", "sampling_refused", "prefill_refused", "many_large_images", "cache_marks_refused"];
    let all = diagnostics.as_array().unwrap().iter().filter(|found| codes.contains(&found["code"].as_str().unwrap()));
    all.map(|found| format!("{} {}", found["code"].as_str().unwrap(), found["path"].as_str().unwrap_or("-"))).collect()
}

/// The findings of a resident chat with these messages.
fn resident(given: &Value, messages: &Value) -> Vec<String> {
    let mut chat = ResidentChat::from_json(given.to_string().as_bytes(), &CallContext::default()).unwrap();
    let mut call = |name: &str, request: Value| -> Value {
        let method = METHODS.iter().find(|method| method.name == name).unwrap();
        let answer = method.answer(&mut chat, request.to_string().as_bytes(), &[], &CallContext::default()).unwrap();
        serde_json::from_slice(&answer.json).unwrap()
    };
    call("splice", json!({ "at": 0, "remove": 0, "messages": messages }));
    found(&call("fit", json!({}))["report"]["diagnostics"])
}

/// The findings about a request with these fields, as a chat and as the target of a body.
fn of_fields(model: &str, fields: Value) -> Vec<String> {
    let fields = fields.as_object().unwrap().clone();
    let mut request =
        json!({ "model": model, "system": "Be brief.", "messages": [{ "role": "user", "content": "Hi" }] });
    request.as_object_mut().unwrap().extend(fields.clone());
    let of_chat = found(&fit(&request, &json!({ "maxTokens": 9_000 })).unwrap().report["diagnostics"]);
    let mut target = json!({ "provider": "anthropic", "model": model });
    target.as_object_mut().unwrap().extend(fields);
    let given = json!({ "options": { "maxTokens": 9_000 }, "target": target });
    let in_target = |found: &String| found.replacen("target.", "", 1);
    let of_resident = resident(&given, &json!([{ "role": "user", "content": "Hi" }]));
    assert_eq!(of_resident.iter().map(in_target).collect::<Vec<_>>(), of_chat);
    let target = Target::from_json(target.to_string().as_bytes()).unwrap();
    let of_body = found(&in_body(&target, &[message(Role::User, "Hi")]));
    assert_eq!(of_body, of_resident);
    of_chat
}

fn message(role: Role, text: &'static str) -> Message<'static> {
    Message { role, content: vec![Block::text(text)], node_ids: Vec::new(), spans: Vec::new() }
}

fn in_body(target: &Target, messages: &[Message<'_>]) -> Value {
    let mut diagnostics = Vec::new();
    write_body(None, messages, target, &Hints::default(), &mut diagnostics).unwrap();
    serde_json::to_value(&diagnostics).unwrap()
}

#[test]
fn a_forced_call_is_reported() {
    let any = || json!({ "tool_choice": { "type": "any" } });
    let refused = ["tool_choice_refused tool_choice"];
    for model in ["claude-fable-5-1", "claude-opus-5-5", "claude-sonnet-5-5-20261001", "claude-opus-6", "claude-saga-6"]
    {
        assert_eq!(of_fields(model, any()), refused, "{model}");
        assert_eq!(of_fields(model, json!({ "tool_choice": { "type": "tool", "name": "f" } })), refused);
        // As routers have it.
        assert_eq!(of_fields(model, json!({ "tool_choice": "required" })), refused);
        for choice in [json!({ "type": "auto" }), json!({ "type": "none" }), json!("auto")] {
            assert!(of_fields(model, json!({ "tool_choice": choice })).is_empty(), "{model} {choice}");
        }
    }
    for model in ["claude-opus-5", "claude-fable-5", "claude-opus-4-8", "claude-haiku-5-5", "claude-3-5-sonnet-latest"]
    {
        assert!(of_fields(model, any()).is_empty(), "{model}");
    }
    assert_eq!(of_fields("us.anthropic.claude-opus-5-5-v1:0", any()), refused);
}

#[test]
fn sampling_other_than_the_default_is_reported() {
    for model in ["claude-sonnet-5", "claude-opus-4-7", "claude-opus-5-5", "claude-haiku-5-5"] {
        assert_eq!(of_fields(model, json!({ "temperature": 0.2 })), ["sampling_refused temperature"], "{model}");
        let several = json!({ "temperature": 1, "top_p": 0.9, "top_k": 40 });
        assert_eq!(of_fields(model, several), ["sampling_refused top_p", "sampling_refused top_k"]);
        assert!(of_fields(model, json!({ "temperature": 1.0, "top_p": 1 })).is_empty());
    }
    for model in ["claude-opus-4-6", "claude-sonnet-4-6", "claude-haiku-4-5-20251001"] {
        assert!(of_fields(model, json!({ "temperature": 0, "top_k": 4 })).is_empty(), "{model}");
    }
}

#[test]
fn a_prefill_is_reported() {
    let fitted = |model: &str, last: &str| {
        let messages = json!([{ "role": "user", "content": "Hi" }, { "role": last, "content": "So" }]);
        let request = json!({ "model": model, "system": "x", "messages": messages });
        found(&fit(&request, &json!({ "maxTokens": 9_000 })).unwrap().report["diagnostics"])
    };
    let body = |model: &str| {
        let target = Target::new(Provider::Anthropic, model);
        let diagnostics = in_body(&target, &[message(Role::User, "Hi"), message(Role::Assistant, "So")]);
        let codes = diagnostics.as_array().unwrap().iter().map(|found| found["code"].as_str().unwrap().to_owned());
        codes.filter(|code| code != "body_max_tokens_assumed").collect::<Vec<_>>()
    };
    for model in ["claude-opus-4-6", "claude-sonnet-5", "claude-fable-5-1", "claude-opus-7"] {
        assert_eq!(fitted(model, "assistant"), ["prefill_refused messages[1]"], "{model}");
        assert!(fitted(model, "user").is_empty());
        assert_eq!(body(model), ["prefill_refused"]);
    }
    for model in ["claude-opus-4-5", "claude-3-haiku"] {
        assert!(fitted(model, "assistant").is_empty(), "{model}");
        assert_eq!(body(model), ["body_ends_with_assistant"]);
    }
    // A list of messages is no request.
    let messages = json!([{ "role": "user", "content": "Hi" }, { "role": "assistant", "content": "So" }]);
    assert!(found(&fit(&messages, &json!({ "model": "claude-opus-5-5" })).unwrap().report["diagnostics"]).is_empty());
    let target = Target::new(Provider::OpenAi, "anthropic/claude-opus-5.5");
    let routed = found(&in_body(&target, &[message(Role::User, "Hi"), message(Role::Assistant, "So")]));
    assert_eq!(routed, ["prefill_refused messages[1]"]);
}

/// The head of a PNG of these sides, as base64.
fn png(width: u32, height: u32) -> String {
    let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
    bytes.extend(width.to_be_bytes());
    bytes.extend(height.to_be_bytes());
    super::media::base64(&bytes)
}

#[test]
fn large_images_among_many_are_reported() {
    let chat = |count: usize, large: usize, side: u32, in_result: bool| {
        let image = |at: usize| {
            let data = if at < large { png(600, side) } else { png(600, 600) };
            json!({ "type": "image", "source": { "type": "base64", "media_type": "image/png", "data": data } })
        };
        let images: Vec<Value> = (0..count).map(image).collect();
        let result = json!({ "type": "tool_result", "tool_use_id": "c", "content": images });
        json!([
            { "role": "user", "content": "Look." },
            { "role": "assistant", "content": [{ "type": "tool_use", "id": "c", "name": "look", "input": {} }] },
            { "role": "user", "content": if in_result { json!([result]) } else { json!([{ "type": "tool_result", "tool_use_id": "c", "content": "x" }]) } },
            { "role": "assistant", "content": "Seen." },
            { "role": "user", "content": if in_result { json!("So?") } else { json!(images) } },
        ])
    };
    let of = |messages: &Value, options: Value| found(&fit(messages, &options).unwrap().report["diagnostics"]);
    let options = json!({ "maxTokens": 900_000 });
    for in_result in [true, false] {
        let expected = [format!("many_large_images messages[{}]", if in_result { 2 } else { 4 })];
        assert_eq!(of(&chat(21, 21, 2001, in_result), options.clone()), expected);
        assert_eq!(of(&chat(21, 1, 2001, in_result), options.clone()), expected);
        assert!(of(&chat(20, 20, 2001, in_result), options.clone()).is_empty());
        assert!(of(&chat(25, 25, 2000, in_result), options.clone()).is_empty());
        // What was removed does not count.
        assert!(of(&chat(25, 25, 2001, in_result), json!({ "maxTokens": 900_000, "maxImages": 20 })).is_empty());
    }
    // Other vendors take them.
    let other = json!({ "format": "openai", "maxTokens": 900_000 });
    let image =
        json!({ "type": "image_url", "image_url": { "url": format!("data:image/png;base64,{}", png(3000, 600)) } });
    assert!(of(&json!([{ "role": "user", "content": vec![image; 30] }]), other).is_empty());
}

/// Anthropic counts the marks of the system context, the tools and all blocks, and of nothing else.
#[test]
fn cache_marks_are_counted_in_the_whole_request() {
    let mark = json!({ "type": "ephemeral" });
    let text = |marked: bool| match marked {
        true => json!({ "type": "text", "text": "Read \"cache_control\":{ here.", "cache_control": mark }),
        false => json!({ "type": "text", "text": "Read it." }),
    };
    let turns = |contents: &[Value]| -> Value {
        let role = |at: usize| if at.is_multiple_of(2) { "user" } else { "assistant" };
        contents.iter().enumerate().map(|(at, content)| json!({ "role": role(at), "content": content })).collect()
    };
    let of = |messages: &Value, more: Value| {
        let mut options = json!({ "format": "anthropic", "maxTokens": 9_000 });
        options.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let once = found(&fit(messages, &options).unwrap().report["diagnostics"]);
        assert_eq!(resident(&json!({ "options": options }), messages), once, "a resident chat with {options}");
        once
    };
    let tool = json!({ "name": "read", "input_schema": { "type": "object" }, "cache_control": mark });
    let outside =
        json!({ "system": [text(true), text(false)], "tools": [tool, { "name": "list", "input_schema": {} }] });
    let marked: Vec<Value> = [false, true, true, true, false].map(|is_marked| json!([text(is_marked)])).to_vec();
    assert!(of(&turns(&marked), json!({})).is_empty());
    assert_eq!(of(&turns(&marked), outside.clone()), ["cache_marks_refused messages[3]"]);
    assert!(of(&turns(&marked[..3]), outside.clone()).is_empty());
    // Those of the request itself, next to the messages.
    let mut request = json!({ "messages": turns(&marked), "cache_control": mark });
    let options = json!({ "format": "anthropic", "maxTokens": 9_000 });
    let in_request = |request: &Value| found(&fit(request, &options).unwrap().report["diagnostics"]);
    assert!(in_request(&request).is_empty());
    request["system"] = json!([text(true)]);
    assert_eq!(in_request(&request), ["cache_marks_refused messages[3]"]);
    let many = json!({ "system": vec![text(true); 5] });
    assert_eq!(of(&turns(&marked[..1]), many), ["cache_marks_refused -"]);

    // The arguments of calls hold no marks; the blocks of results and documents do.
    let call = |at: usize| json!({ "type": "tool_use", "id": format!("c{at}"), "name": "read", "input": { "cache_control": { "a": 1 } } });
    let result = |at: usize, content: Value| json!({ "type": "tool_result", "tool_use_id": format!("c{at}"), "content": content });
    let calls: Vec<Value> = (0..6).map(call).collect();
    let with_results = |content: Value| {
        let results: Vec<Value> = (0..6).map(|at| result(at, content.clone())).collect();
        turns(&[json!("Read."), json!(calls), json!(results), json!("Done."), json!("Thanks.")])
    };
    assert!(of(&with_results(json!("x")), json!({})).is_empty());
    let shown = with_results(json!([text(true), text(false)]));
    assert_eq!(of(&shown, json!({})), ["cache_marks_refused messages[2]"]);
    let document = json!({ "type": "document", "source": { "type": "content", "content": vec![text(true); 5] } });
    assert_eq!(of(&turns(&[json!([document])]), json!({})), ["cache_marks_refused messages[0]"]);
    // Marks that a fit removes do not count.
    let cleared = json!({ "edits": { "toolResults": { "keepLast": 0, "placeholder": "-" }, "when": "always" } });
    assert!(of(&shown, cleared).is_empty());
    let removed = json!({ "edits": { "toolCalls": { "keepLast": 0 }, "when": "always" } });
    assert!(of(&shown, removed).is_empty());
}
