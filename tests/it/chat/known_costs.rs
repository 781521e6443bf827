//! Costs that the caller knows (docs/chats.md).

use ctxweave::Code;
use ctxweave::call::CallContext;
use ctxweave::chat::resident::ResidentChat;
use serde_json::{Value, json};

use super::fit;

fn chat() -> Value {
    json!([
        { "role": "system", "content": "Be brief." },
        { "role": "user", "content": "First question." },
        { "role": "assistant", "content": "First answer." },
        { "role": "user", "content": "Second question." },
        { "role": "assistant", "content": "Second answer." },
    ])
}

#[test]
fn an_unchanged_message_has_the_callers_cost() {
    let costs = [10, 0, 7, 1_000_000, 13];
    let fitted = fit(&chat(), &json!({ "maxTokens": 2_000_000, "costs": costs })).unwrap();
    let rows = fitted.report["messages"].as_array().unwrap();
    assert_eq!(rows.iter().map(|row| row["tokens"].as_u64().unwrap()).collect::<Vec<_>>(), costs);
    assert_eq!(fitted.report["tokens"]["total"], 3 + costs.iter().sum::<u64>());
    assert!(fitted.same.iter().all(|&same| same));
}

#[test]
fn the_cut_follows_from_the_costs() {
    let options = |costs: Value| json!({ "maxTokens": 100, "truncationStrategy": "rollingWindow", "truncationMarker": "", "costs": costs });
    let kept = |costs: Value| {
        let fitted = fit(&chat(), &options(costs)).unwrap();
        assert!(fitted.report["tokens"]["total"].as_u64().unwrap() <= 100, "{}", fitted.report);
        fitted.from.into_iter().flatten().collect::<Vec<_>>()
    };
    assert_eq!(kept(json!([10, 20, 20, 20, 20])), [0, 1, 2, 3, 4]);
    assert_eq!(kept(json!([10, 90, 20, 20, 20])), [0, 2, 3, 4]);
    assert_eq!(kept(json!([10, 20, 20, 60, 20])), [0, 3, 4]);
}

#[test]
fn a_message_that_is_too_long_is_shortened_and_counted() {
    let long = "A sentence of some words. ".repeat(400);
    let chat = json!([{ "role": "user", "content": long }]);
    let fitted = fit(&chat, &json!({ "maxTokens": 200, "costs": [5000] })).unwrap();
    assert_eq!(fitted.report["messages"][0]["tokens"], 5000);
    assert_eq!(fitted.report["messages"][0]["reason"], "shortened");
    let text = fitted.messages[0]["content"].as_str().unwrap();
    assert!(!text.is_empty() && text.len() < long.len());
    assert!(fitted.report["tokens"]["total"].as_u64().unwrap() <= 200);
}

#[test]
fn parts_share_the_cost_of_their_message() {
    let result = |id: &str, text: &str| json!({ "type": "tool_result", "tool_use_id": id, "content": text });
    let call = |id: &str| json!({ "type": "tool_use", "id": id, "name": "read", "input": {} });
    let chat = json!([
        { "role": "user", "content": "Read both." },
        { "role": "assistant", "content": [call("a"), call("b")] },
        { "role": "user", "content": [result("a", &"short ".repeat(10)), result("b", &"long ".repeat(1000))] },
        { "role": "assistant", "content": "Done." },
    ]);
    let edits = json!({ "toolResults": { "keepLast": 0 } });
    let fitted = fit(&chat, &json!({ "maxTokens": 500, "costs": [10, 40, 2000, 10], "edits": edits })).unwrap();
    let freed = fitted.report["edits"][0]["tokens"].as_u64().unwrap();
    assert!((1500..2000).contains(&freed), "{freed}");
    assert_eq!(fitted.report["tokens"]["total"], 3 + 10 + 40 + 2000 + 10 - freed);
}

#[test]
fn costs_of_another_number_or_kind_are_refused() {
    for (costs, path) in [
        (json!([1, 2, 3, 4]), "options.costs"),
        (json!([1, 2, 3, 4, 5, 6]), "options.costs"),
        (json!([]), "options.costs"),
        (json!(5), "options.costs"),
        (json!({ "0": 1 }), "options.costs"),
        (json!([1, 2, 3, 4, -1]), "options.costs[4]"),
        (json!([1, 2, 3, 4, 1.5]), "options.costs[4]"),
        (json!([1, 2, 3, 4, "5"]), "options.costs[4]"),
        (json!([1, null, 3, 4, 5]), "options.costs[1]"),
    ] {
        let error = fit(&chat(), &json!({ "maxTokens": 100, "costs": costs })).unwrap_err();
        assert_eq!((error.code(), &error.details()["path"]), (Code::InvalidInput, &json!(path)), "{error}");
    }
}

#[test]
fn a_chat_itself_takes_no_costs() {
    let request = json!({ "options": { "maxTokens": 100, "costs": [1] } }).to_string();
    let error = ResidentChat::from_json(request.as_bytes(), &CallContext::default()).unwrap_err();
    assert_eq!(error.message(), "`options.costs` is not an option of a chat; pass it to `fit`");
}
