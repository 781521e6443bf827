//! What a request may contain besides tokens: images, turns of reasoning alone, and limits of unknown models.

use serde_json::{Value, json};

use super::fit;

fn image(at: usize) -> Value {
    let source = json!({ "type": "base64", "media_type": "image/png", "data": format!("iVBORw0KGgo{at}") });
    json!({ "type": "image", "source": source })
}

/// Questions with an image each, and answers.
fn screenshots(count: usize) -> Value {
    let turn = |at: usize| {
        let question =
            json!({ "role": "user", "content": [{ "type": "text", "text": format!("Look at {at}.") }, image(at)] });
        [question, json!({ "role": "assistant", "content": format!("I see {at}.") })]
    };
    let mut messages: Vec<Value> = (0..count).flat_map(turn).collect();
    messages.pop();
    json!(messages)
}

/// Which messages have an image.
fn images(messages: &[Value]) -> Vec<usize> {
    let has = |message: &Value| {
        message["content"].as_array().is_some_and(|blocks| blocks.iter().any(|block| block["type"] == "image"))
    };
    messages.iter().enumerate().filter(|(_, message)| has(message)).map(|(at, _)| at).collect()
}

#[test]
fn the_oldest_images_go_above_the_limit() {
    let messages = screenshots(10);
    let kept = |options: Value| {
        let mut options = options;
        options["maxTokens"] = json!(1_000_000);
        let fitted = fit(&messages, &options).unwrap();
        let changed =
            fitted.report["messages"].as_array().unwrap().iter().filter(|row| row["reason"] == "imageRemoved");
        assert_eq!(changed.count() + images(&fitted.messages).len(), 10);
        images(&fitted.messages)
    };
    assert_eq!(kept(json!({ "maxImages": 10 })).len(), 10);
    assert_eq!(kept(json!({ "maxImages": 3 })), [14, 16, 18]);
    assert_eq!(kept(json!({ "maxImages": 1 })), [18]);
    assert!(kept(json!({ "maxImages": 0 })).is_empty());
    assert_eq!(kept(json!({ "maxImages": 2, "pinned": [0] })), [0, 18]);
    // In a series some room is left for the next images.
    assert_eq!(kept(json!({ "maxImages": 8, "previous": null })), [8, 10, 12, 14, 16, 18]);
    assert_eq!(kept(json!({ "maxImages": 8 })).len(), 8);
}

#[test]
fn images_go_in_steps() {
    let mut state = Value::Null;
    let mut changes = 0;
    for count in 1..40 {
        let options = json!({ "maxTokens": 1_000_000, "maxImages": 12, "previous": state });
        let fitted = fit(&screenshots(count), &options).unwrap();
        assert!(images(&fitted.messages).len() <= 12);
        changes += usize::from(fitted.report["prefix"]["reason"] == "step");
        state = fitted.state.clone();
    }
    assert!((1..=8).contains(&changes), "{changes}");
}

#[test]
fn a_turn_of_reasoning_alone_is_not_sent() {
    let thought = json!({ "type": "thinking", "thinking": "hm", "signature": "s" });
    let messages = json!([
        { "role": "user", "content": "One?" },
        { "role": "assistant", "content": [thought] },
        { "role": "assistant", "content": [{ "type": "text", "text": "Yes." }] },
        { "role": "user", "content": "Two?" },
        { "role": "assistant", "content": [thought] },
        { "role": "user", "content": "Well?" },
        { "role": "assistant", "content": [thought] },
    ]);
    let fitted = fit(&messages, &json!({ "maxTokens": 9_000 })).unwrap();
    assert_eq!(fitted.from, [Some(0), Some(1), Some(2), Some(3), Some(5)]);
    let found = fitted.report["diagnostics"].as_array().unwrap().iter();
    let paths: Vec<&Value> =
        found.filter(|found| found["code"] == "reasoning_alone").map(|found| &found["path"]).collect();
    assert_eq!(paths, ["messages[6]", "messages[4]"]);
    let all = fit(&messages, &json!({ "maxTokens": 9_000, "repair": "off" })).unwrap();
    assert_eq!(all.from.len(), 7);
}

#[test]
fn an_unknown_model_has_the_default_window() {
    let messages = json!([{ "role": "user", "content": "Hi" }]);
    let limit = |options: Value| fit(&messages, &options).map(|fitted| fitted.report["limit"].clone());
    assert_eq!(limit(json!({ "model": "my-own", "defaultWindow": 9_000 })).unwrap(), 7_976);
    assert_eq!(limit(json!({ "model": "my-own", "defaultWindow": 9_000, "tokenBuffer": 0 })).unwrap(), 9_000);
    assert_eq!(limit(json!({ "model": "gpt-4o", "defaultWindow": 9_000 })).unwrap(), 111_616);
    assert_eq!(limit(json!({ "maxTokens": 50, "defaultWindow": 9_000 })).unwrap(), 50);
    assert!(limit(json!({ "defaultWindow": 9_000 })).is_err());
    assert!(limit(json!({ "model": "my-own" })).is_err());
}

#[test]
fn blocks_of_one_vendor_alone_show_the_format() {
    let user = json!({ "role": "user", "content": "Hi" });
    let format = |message: Value| {
        let fitted = fit(&json!([user, message]), &json!({ "maxTokens": 9_000 }));
        fitted.map(|fitted| fitted.report["format"].as_str().unwrap().to_owned())
    };
    for block in [
        json!({ "type": "web_search_tool_result", "tool_use_id": "s", "content": [] }),
        json!({ "type": "compaction", "content": "so far", "signature": "s" }),
        json!({ "type": "container_upload", "file_id": "f" }),
        json!({ "type": "mcp_tool_result", "tool_use_id": "m", "content": [] }),
    ] {
        assert_eq!(format(json!({ "role": "assistant", "content": [block] })).unwrap(), "anthropic");
    }
    // Input that another format would read as an empty message is rejected.
    for part in [
        json!({ "type": "text", "content": "what was said" }),
        json!({ "type": "tool_call", "id": "c", "name": "f", "arguments": {} }),
        json!({ "type": "tool_call_response", "id": "c", "response": "x" }),
    ] {
        let error = format(json!({ "role": "assistant", "parts": [part] })).unwrap_err();
        assert_eq!(error.details()["index"], 1);
    }
}
