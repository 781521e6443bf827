//! Results that do not follow their calls, and empty texts.

use serde_json::{Value, json};

use super::fit;
use crate::calls::call;

fn codes(fitted: &super::Fitted, code: &str) -> Vec<Value> {
    let found = fitted.report["diagnostics"].as_array().unwrap().iter();
    found.filter(|found| found["code"] == code).map(|found| found["path"].clone()).collect()
}

fn options(format: &str) -> Value {
    json!({ "format": format, "maxTokens": 90_000 })
}

#[test]
fn a_result_that_does_not_follow_its_call_is_reported_and_stays() {
    let call_of = |id: &str| json!({ "id": id, "type": "function", "function": { "name": "f", "arguments": "{}" } });
    let calls = |ids: &[&str]| json!({ "role": "assistant", "content": null, "tool_calls": ids.iter().map(|id| call_of(id)).collect::<Vec<_>>() });
    let result = |id: &str| json!({ "role": "tool", "tool_call_id": id, "content": "x" });
    let user = json!({ "role": "user", "content": "Go." });
    let apart = json!([user, calls(&["a"]), user, result("a")]);
    let fitted = fit(&apart, &options("openai")).unwrap();
    assert_eq!(codes(&fitted, "tool_pair_apart"), ["messages[3]"]);
    // The order is the caller's.
    assert_eq!(json!(fitted.messages), apart);
    // Conversions and bodies put it right.
    let put_right = call("convertMessages", &[apart, json!({ "to": "anthropic" })], None).unwrap();
    let roles: Vec<&str> =
        put_right["messages"].as_array().unwrap().iter().map(|it| it["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["user", "assistant", "user"]);
    for fine in [json!([user, calls(&["a", "b"]), result("b"), result("a"), user]), json!([user, calls(&["a"])])] {
        assert!(codes(&fit(&fine, &options("openai")).unwrap(), "tool_pair_apart").is_empty());
    }
    let off = json!({ "format": "openai", "maxTokens": 90_000, "repair": "off" });
    assert!(codes(&fit(&json!([user, calls(&["a"]), user, result("a")]), &off).unwrap(), "tool_pair_apart").is_empty());
}

#[test]
fn parallel_results_in_two_contents_are_reported_for_gemini_alone() {
    let user = json!({ "role": "user", "parts": [{ "text": "Go." }] });
    let part = |name: &str| json!({ "functionCall": { "id": name, "name": name, "args": {} } });
    let result = |name: &str| json!({ "role": "user", "parts": [{ "functionResponse": { "id": name, "name": name, "response": { "output": "x" } } }] });
    let calls = json!({ "role": "model", "parts": [part("a"), part("b")] });
    let fitted = fit(&json!([user, calls, result("a"), result("b")]), &options("gemini")).unwrap();
    assert_eq!(codes(&fitted, "tool_pair_apart"), ["messages[3]"]);
    // Anthropic joins messages of one role.
    let user = json!({ "role": "user", "content": "Go." });
    let block = |id: &str| json!({ "type": "tool_use", "id": id, "name": "f", "input": {} });
    let calls = json!({ "role": "assistant", "content": [block("a"), block("b")] });
    let result =
        |id: &str| json!({ "role": "user", "content": [{ "type": "tool_result", "tool_use_id": id, "content": "x" }] });
    let split = json!([user, calls, result("a"), result("b")]);
    assert!(codes(&fit(&split, &options("anthropic")).unwrap(), "tool_pair_apart").is_empty());
    let apart = json!([user, calls, result("a"), { "role": "assistant", "content": "Hm." }, result("b")]);
    assert_eq!(codes(&fit(&apart, &options("anthropic")).unwrap(), "tool_pair_apart"), ["messages[4]"]);
}

#[test]
fn empty_texts_go_where_the_provider_refuses_them() {
    let text = |text: &str| json!({ "type": "text", "text": text });
    let call = json!({ "type": "tool_use", "id": "c", "name": "f", "input": {} });
    let chat = json!([
        { "role": "user", "content": [text("Go."), text("")] },
        { "role": "assistant", "content": [text(" \n"), call] },
        { "role": "user", "content": [{ "type": "tool_result", "tool_use_id": "c", "content": "x" }] },
        { "role": "assistant", "content": "" },
        { "role": "user", "content": "Well?" },
        { "role": "assistant", "content": "" },
    ]);
    let fitted = fit(&chat, &options("anthropic")).unwrap();
    assert_eq!(fitted.from, [Some(0), Some(1), Some(2), Some(4), Some(5)]);
    assert_eq!(fitted.messages[0]["content"], json!([text("Go.")]));
    assert_eq!(fitted.messages[1]["content"], json!([call]));
    assert_eq!(codes(&fitted, "empty_text"), ["messages[0]", "messages[1]", "messages[3]"]);
    assert_eq!(fitted.report["messages"][0]["parts"][0]["reason"], "emptyText");
    // They are left out again by the next fit.
    let mut more = options("anthropic");
    more["previous"] = fitted.state.clone();
    let again = fit(&chat, &more).unwrap();
    assert_eq!((&again.messages, &again.report["prefix"]["stable"]), (&fitted.messages, &json!(true)));
    // OpenAI takes them.
    let chat =
        json!([{ "role": "user", "content": [{ "type": "text", "text": "" }, { "type": "text", "text": "Go." }] }]);
    assert!(fit(&chat, &options("openai")).unwrap().same.iter().all(|same| *same));
}
