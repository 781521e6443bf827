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
fn a_result_is_put_after_its_call() {
    let call_of = |id: &str| json!({ "id": id, "type": "function", "function": { "name": "f", "arguments": "{}" } });
    let calls = |ids: &[&str]| json!({ "role": "assistant", "content": null, "tool_calls": ids.iter().map(|id| call_of(id)).collect::<Vec<_>>() });
    let result = |id: &str| json!({ "role": "tool", "tool_call_id": id, "content": "x" });
    let user = json!({ "role": "user", "content": "Go." });
    let apart = json!([user, calls(&["a"]), user, result("a")]);
    let fitted = fit(&apart, &options("openai")).unwrap();
    assert_eq!(codes(&fitted, "tool_pair_apart"), ["messages[3]"]);
    assert_eq!(fitted.from, [Some(0), Some(1), Some(3), Some(2)]);
    assert_eq!(json!(fitted.messages), json!([user, calls(&["a"]), result("a"), user]));
    assert_eq!((&fitted.report["truncated"], &fitted.report["tokens"]["total"]), (&json!(false), &measured(&apart)));
    // After the results that stand there, each after its call.
    let crossed = json!([user, calls(&["a", "b"]), calls(&["c"]), result("c"), user, result("b"), user, result("a")]);
    let fitted = fit(&crossed, &options("openai")).unwrap();
    assert_eq!(fitted.from, [0, 1, 5, 7, 2, 3, 4, 6].map(Some));
    assert_eq!(codes(&fitted, "tool_pair_apart"), ["messages[5]", "messages[7]"]);
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

fn measured(chat: &Value) -> Value {
    call("measureMessages", &[chat.clone(), json!({ "format": "openai" })], None).unwrap()["total"].clone()
}

#[test]
fn a_marker_keeps_its_place_after_results_are_moved() {
    let call_of = json!({ "id": "a", "type": "function", "function": { "name": "f", "arguments": "{}" } });
    let long = |role: &str| json!({ "role": role, "content": "word ".repeat(300) });
    let chat = json!([
        { "role": "user", "content": "Begin." },
        { "role": "assistant", "content": null, "tool_calls": [call_of] },
        long("user"),
        { "role": "tool", "tool_call_id": "a", "content": "x" },
        long("assistant"),
        long("user"),
        { "role": "assistant", "content": "Yes." },
        { "role": "user", "content": "End." },
    ]);
    for limit in (100..=1_300).step_by(25) {
        for strategy in ["truncateMiddle", "rollingWindow", "keepStart"] {
            let options = json!({ "format": "openai", "maxTokens": limit, "truncationStrategy": strategy });
            let Ok(fitted) = fit(&chat, &options) else { continue };
            let at = |index: usize| fitted.from.iter().position(|from| *from == Some(index));
            assert_eq!(at(1).map(|call| call + 1), at(3), "{limit} {strategy}");
            if let Some(index) = fitted.report["added"]["index"].as_u64() {
                let index = usize::try_from(index).unwrap();
                assert_eq!((fitted.from[index], &fitted.messages[index]["role"]), (None, &json!("user")));
            }
            let recount = measured(&json!(fitted.messages));
            assert_eq!(fitted.report["tokens"]["total"], recount, "{limit} {strategy}");
            let again = json!({ "format": "openai", "maxTokens": limit, "truncationStrategy": strategy, "cutTo": 1, "previous": null });
            let Ok(first) = fit(&chat, &again) else { continue };
            let mut more = again.clone();
            more["previous"] = first.state.clone();
            let mut longer = chat.as_array().unwrap().clone();
            longer.push(json!({ "role": "assistant", "content": "Ok." }));
            let second = fit(&json!(longer), &more).unwrap();
            let stable = second.report["prefix"]["stable"].as_bool().unwrap();
            assert_eq!(stable, second.messages.starts_with(&first.messages), "{limit} {strategy}");
        }
    }
}

#[test]
fn a_result_that_is_new_breaks_the_prefix_at_its_call() {
    let block = json!({ "type": "tool_use", "id": "a", "name": "f", "input": {} });
    let thinking = |text: &str| json!({ "type": "thinking", "thinking": text, "signature": "c2ln" });
    let said =
        |text: &str| json!({ "role": "assistant", "content": [thinking("So."), { "type": "text", "text": text }] });
    let user = |text: &str| json!({ "role": "user", "content": text });
    let result = json!({ "role": "user", "content": [{ "type": "tool_result", "tool_use_id": "a", "content": "x" }] });
    let call_of = json!({ "role": "assistant", "content": [thinking("First."), block] });
    let first = json!([user("Go."), call_of]);
    let mut options =
        json!({ "format": "anthropic", "maxTokens": 90_000, "model": "claude-opus-5-5", "previous": null });
    let before = fit(&first, &options).unwrap();
    let mut more = first.as_array().unwrap().clone();
    more.extend([user("Hm?"), said("One."), result, user("And?"), said("Two.")]);
    options["previous"] = before.state.clone();
    let after = fit(&json!(more), &options).unwrap();
    assert_eq!(after.from, [0, 1, 4, 2, 3, 5, 6].map(Some));
    // Nothing before the call is another, and the request before ended with it.
    assert_eq!(after.report["prefix"]["stable"], true);
    // Each thought after the call was made without the result there.
    let thoughts = after.messages.iter().filter(|it| it.to_string().contains("signature")).count();
    assert!(thoughts <= 1, "{:?}", after.messages);
    // From then on nothing moves.
    options["previous"] = after.state.clone();
    more.push(user("Well."));
    let last = fit(&json!(more), &options).unwrap();
    assert_eq!(last.report["prefix"]["stable"], true);
    assert!(last.messages.starts_with(&after.messages));
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
    let fitted = fit(&apart, &options("anthropic")).unwrap();
    assert_eq!(codes(&fitted, "tool_pair_apart"), ["messages[4]"]);
    assert_eq!(fitted.from, [0, 1, 2, 4, 3].map(Some));
    // A message with other content stays at its place.
    let mut mixed = apart.clone();
    mixed[4]["content"].as_array_mut().unwrap().push(json!({ "type": "text", "text": "And?" }));
    let fitted = fit(&mixed, &options("anthropic")).unwrap();
    assert_eq!((codes(&fitted, "tool_pair_apart"), json!(fitted.messages)), (vec![json!("messages[4]")], mixed));
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
