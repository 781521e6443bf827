//! Options and fields of containers with a wrong type (docs/errors.md).

use ctxweave::call::CallContext;
use ctxweave::chat::CALLS;
use ctxweave::chat::resident::ResidentChat;
use ctxweave::{Code, Error};
use serde_json::{Value, json};

fn call(name: &str, messages: &Value, options: &Value) -> Result<(), Error> {
    let call = CALLS.iter().find(|call| call.name == name).unwrap();
    let request = serde_json::to_vec(&json!({ "messages": messages, "options": options })).unwrap();
    call.answer(&mut (), &request, &[], &CallContext::default()).map(drop)
}

/// The error of every call for such a value, at this path.
fn refused(error: &Error, path: &str) {
    let place = error.details()["path"].as_str().unwrap_or_default().to_owned();
    assert!(matches!(error.code(), Code::InvalidInput | Code::UnknownValue), "{error}");
    assert!(place.starts_with(path), "{path}: {error} at {place}");
}

const COUNTING: [&str; 2] = ["countMessages", "measureMessages"];

#[test]
fn tools_and_a_system_context_of_another_type_are_refused() {
    let chat = json!([{ "role": "user", "content": "Hi." }, { "role": "assistant", "content": "Yes?" }]);
    let tools = json!([{ "type": "function", "function": { "name": "look", "parameters": {} } }]);
    let texts = [tools.to_string(), String::new(), "{}".to_owned()];
    let wrong_tools = texts.into_iter().map(Value::from).chain([
        json!(5),
        json!(true),
        json!([5]),
        json!(["look"]),
        json!({ "look": 5 }),
    ]);
    let wrong_systems =
        [json!(5), json!(true), json!([5]), json!({}), json!([{}]), json!([["a", 7]]), json!({ "parts": 5 })];
    let wrong = wrong_tools.map(|value| ("tools", value)).chain(wrong_systems.map(|value| ("system", value)));
    for (field, value) in wrong {
        for name in COUNTING {
            refused(&call(name, &chat, &json!({ field: value })).unwrap_err(), &format!("options.{field}"));
        }
        refused(
            &call("fitMessages", &chat, &json!({ "maxTokens": 999, field: value })).unwrap_err(),
            &format!("options.{field}"),
        );
        let container = json!({ "messages": chat, field: value });
        let path = format!("messages.{field}");
        for (name, options) in [
            ("countMessages", json!({})),
            ("measureMessages", json!({})),
            ("fitMessages", json!({ "maxTokens": 999 })),
            ("convertMessages", json!({ "to": "anthropic" })),
            ("chatToLoomTree", json!({})),
        ] {
            refused(&call(name, &container, &options).unwrap_err(), &path);
        }
    }
    let error = call("countMessages", &chat, &json!({ "tools": tools.to_string() })).unwrap_err();
    assert!(error.message().contains("`JSON.parse`") && error.message().len() < 160, "{error}");
    for field in ["systemInstruction", "system_instruction"] {
        let container = json!({ "contents": [{ "parts": [{ "text": "Hi." }] }], field: 5 });
        refused(&call("countMessages", &container, &json!({})).unwrap_err(), &format!("messages.{field}"));
    }
}

/// A resident chat reports it at once.
#[test]
fn a_chat_refuses_them_when_it_is_made() {
    for (field, value) in [("tools", json!("[]")), ("tools", json!(5)), ("system", json!(5)), ("system", json!([5]))] {
        let request = json!({ "options": { "maxTokens": 999, field: value } }).to_string();
        let error = ResidentChat::from_json(request.as_bytes(), &CallContext::default()).map(drop).unwrap_err();
        refused(&error, &format!("options.{field}"));
    }
    let request = json!({ "options": { "maxTokens": 999, "tools": { "look": {} } } }).to_string();
    ResidentChat::from_json(request.as_bytes(), &CallContext::default()).unwrap();
}

#[test]
fn tools_by_name_are_those_of_the_ai_sdk() {
    let by_name = json!({ "look": { "description": "Looks", "inputSchema": {} }, "gone": null });
    let plain = json!([{ "role": "user", "content": "Hi." }]);
    let ai_sdk =
        json!([{ "role": "user", "content": [{ "type": "file", "mediaType": "text/plain", "data": "YQ==" }] }]);
    let openai = json!([{ "role": "user", "content": [{ "type": "image_url", "image_url": "https://a.example" }] }]);
    for chat in [&plain, &ai_sdk, &json!({ "system": "Be brief.", "messages": plain })] {
        call("countMessages", chat, &json!({ "tools": by_name })).unwrap();
    }
    for (chat, options) in [
        (&openai, json!({ "tools": by_name })),
        (&openai, json!({ "tools": {} })),
        (&plain, json!({ "tools": by_name, "format": "openai" })),
        (&plain, json!({ "tools": {}, "format": "anthropic" })),
    ] {
        refused(&call("countMessages", chat, &options).unwrap_err(), "options.tools");
    }
    call("countMessages", &plain, &json!({ "tools": by_name, "format": "ai-sdk" })).unwrap();
    call("countMessages", &plain, &json!({ "tools": null, "system": null })).unwrap();
}

/// Each option of a fit, with a value of each type that it does not have.
#[test]
fn every_option_of_another_type_is_refused() {
    let chat = json!([{ "role": "user", "content": "Hi." }]);
    let values = [json!(5), json!("five"), json!(true), json!([{}]), json!({ "five": 5 })];
    // Which of these each option accepts; an unknown field of an object is a diagnostic.
    let options: &[(&str, &[usize])] = &[
        ("format", &[]),
        ("maxTokens", &[0]),
        ("contextWindow", &[0]),
        ("tokenBuffer", &[0]),
        ("model", &[1]),
        ("tokenizer", &[]),
        ("tools", &[3]),
        ("system", &[1]),
        ("pinned", &[]),
        ("repair", &[]),
        ("keepFirst", &[0]),
        ("startOn", &[]),
        ("endOn", &[]),
        ("truncationStrategy", &[]),
        ("truncationMarker", &[1]),
        ("edits", &[4]),
        ("summary", &[4]),
    ];
    for &(option, taken) in options {
        for (at, value) in values.iter().enumerate().filter(|(at, _)| !taken.contains(at)) {
            let mut all = json!({ option: value });
            if option != "maxTokens" && option != "contextWindow" {
                all["maxTokens"] = json!(999);
            }
            if option == "contextWindow" {
                all["tokenBuffer"] = json!(1);
            }
            let error = call("fitMessages", &chat, &all).map(|()| at).expect_err(&format!("{option} {value}"));
            refused(&error, &format!("options.{option}"));
        }
    }
    for messages in
        [json!(5), json!("[]"), json!(true), json!({}), json!({ "messages": 5 }), json!({ "contents": "x" })]
    {
        refused(&call("countMessages", &messages, &json!({})).unwrap_err(), "messages");
    }
}
