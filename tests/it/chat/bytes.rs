//! The size of the messages as JSON (docs/chats.md, `maxBytes`).

use ctxweave::Code;
use ctxweave::call::CallContext;
use ctxweave::chat::{Chat, FitOptions};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::media::{What, cases as media_cases, png, with};
use super::properties::{edits, strategy, turns};
use super::written::{FORMATS, write};
use super::{count, fit};
use crate::generate::cases;

/// Bytes of the messages as `JSON.stringify` writes them.
fn bytes(messages: &[Value]) -> u64 {
    serde_json::to_string(messages).unwrap().len() as u64
}

/// The smallest `maxBytes` with which a fit is the same, and the error below it.
fn required(messages: &Value, options: &Value, most: u64) -> Value {
    let mut options = options.clone();
    options["maxBytes"] = json!(most);
    let error = fit(messages, &options).unwrap_err();
    assert_eq!(error.code(), Code::RequestTooLarge, "{error}");
    assert_eq!(error.details()["limit"], most);
    assert_eq!(error.details()["overBy"].as_u64(), error.details()["required"].as_u64().map(|bytes| bytes - most));
    error.details()["required"].clone()
}

/// Images stay if edits and cuts bring the messages below the limit.
#[test]
fn images_stay_if_less_is_enough() {
    let text = |role: &str, text: &str| json!({ "role": role, "content": text });
    let image = json!({ "type": "image_url", "image_url": { "url": "https://example.org/a.png" } });
    let messages = json!([
        text("user", "Go."),
        text("assistant", &"wool ".repeat(1500)),
        { "role": "user", "content": [{ "type": "text", "text": "Look." }, image] },
        text("assistant", "Good."),
        text("user", "And now?"),
    ]);
    let mut options = json!({ "format": "openai", "maxTokens": 5500 });
    for previous in [None, Some(Value::Null)] {
        previous.into_iter().for_each(|previous| options["previous"] = previous);
        options.as_object_mut().unwrap().remove("maxBytes");
        let plain = fit(&messages, &options).unwrap();
        assert!(json!(plain.messages).to_string().contains("a.png"));
        options["maxBytes"] = json!(bytes(&plain.messages));
        assert_eq!(fit(&messages, &options).unwrap().messages, plain.messages);
    }
}

#[test]
fn media_are_measured_to_the_byte_in_every_format() {
    let large = png(6_000);
    let raw = large.len() as u64 / 4 * 3;
    let (mut removed, mut refused) = (0, 0);
    for (format, what, chat) in media_cases() {
        let mime = if what == What::File { "application/pdf" } else { "image/png" };
        let chat = with(&chat, &json!(large), &json!(format!("data:{mime};base64,{large}")));
        let list = chat.as_array().or_else(|| chat["messages"].as_array()).or_else(|| chat["contents"].as_array());
        let (list, case) = (list.unwrap().clone(), format!("{format} {what:?} {chat:.300}"));
        let whole = bytes(&list);
        let options = |most: u64| json!({ "format": format, "maxTokens": 999_999, "repair": "off", "edits": false, "maxBytes": most });
        assert!(fit(&chat, &options(whole)).unwrap().same.iter().all(|&same| same), "{case}");
        if what == What::Image {
            let fitted = fit(&chat, &options(whole - 1)).unwrap();
            assert!(!json!(fitted.messages).to_string().contains(&large), "{case}");
            let least = bytes(&fitted.messages);
            assert!(fit(&chat, &options(least)).is_ok(), "{case}");
            assert_eq!(required(&chat, &options(0), least - 1), least, "{case}");
            removed += 1;
        } else if !chat.is_object() {
            assert_eq!(required(&chat, &options(0), whole - 1), whole, "{case}");
            refused += 1;
        }
    }
    assert!(removed > 30 && refused > 20, "{removed} {refused}");
    // Bytes outside the module are measured as base64.
    for size in [0, 1, 2, 3, raw, raw + 1] {
        let chat = |data: Value| json!([{ "role": "user", "content": [{ "type": "file", "mediaType": "application/pdf", "data": data }] }]);
        let base64 = "A".repeat(size.div_ceil(3) as usize * 4);
        let options = json!({ "format": "ai-sdk", "maxTokens": 999_999 });
        let outside = required(&chat(json!({ "\0size": size })), &options, 9);
        assert_eq!(outside, bytes(chat(json!(base64)).as_array().unwrap()), "{size}");
    }
}

#[test]
fn texts_are_measured_as_json_writes_them() {
    let odd = ["", "plain", "\"quoted\"\\", "\n\r\t\u{8}\u{c}", "\u{0}\u{1f}\u{7f}", "Wörter, 言葉, 🙂\u{2028}"];
    for text in odd.map(|text| text.repeat(20)) {
        let messages = json!([{ "role": "user", "content": text, text.as_str(): [1.5, -0.25e30, null, true, {}, []] }]);
        let options = json!({ "format": "openai", "maxTokens": 9_000 });
        assert_eq!(required(&messages, &options, 9), bytes(messages.as_array().unwrap()), "{text}");
    }
    // White space between values, and escapes that nobody needs, do not count.
    let request = r#"{ "messages": [ { "role": "user", "content": "\u0041\/\ud800 \u00e9" } ], "options": { "maxTokens": 99, "maxBytes": 3 } }"#;
    let error = ctxweave::chat::CALLS[0].answer(&mut (), request.as_bytes(), &[], &CallContext::default()).unwrap_err();
    let written = r#"[{"role":"user","content":"A/\ud800 é"}]"#;
    assert_eq!(error.details()["required"], written.len());
}

fn question(at: usize, image: &str) -> Value {
    let source = json!({ "type": "base64", "media_type": "image/png", "data": image });
    let text = json!({ "type": "text", "text": format!("Look at {at}.") });
    json!({ "role": "user", "content": [text, { "type": "image", "source": source }] })
}

/// Questions with an image each, and answers.
fn screenshots(count: usize) -> Value {
    let image = png(3_000);
    let turn = |at: usize| [question(at, &image), json!({ "role": "assistant", "content": format!("I see {at}.") })];
    let mut messages: Vec<Value> = (0..count).flat_map(turn).collect();
    messages.pop();
    json!(messages)
}

/// Which messages have an image.
fn images(messages: &[Value]) -> Vec<usize> {
    let has = |message: &Value| message.to_string().contains("base64");
    messages.iter().enumerate().filter(|(_, message)| has(message)).map(|(at, _)| at).collect()
}

#[test]
fn the_oldest_images_go_until_the_messages_are_small_enough() {
    let messages = screenshots(10);
    let kept = |most: u64, more: Value| {
        let mut options = json!({ "maxTokens": 1_000_000, "maxBytes": most });
        options.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let fitted = fit(&messages, &options).unwrap();
        assert!(bytes(&fitted.messages) <= most);
        images(&fitted.messages)
    };
    assert_eq!(kept(43_000, json!({})).len(), 10);
    assert_eq!(kept(23_000, json!({})), [10, 12, 14, 16, 18]);
    assert_eq!(kept(6_000, json!({})), [18]);
    assert!(kept(2_000, json!({})).is_empty());
    assert_eq!(kept(10_000, json!({ "pinned": [0] })), [0, 18]);
    // In a series some room is left for the next images.
    assert_eq!(kept(40_000, json!({ "previous": null })), [6, 8, 10, 12, 14, 16, 18]);
    assert_eq!(kept(40_000, json!({})).len(), 9);
    // Images of results that the model has not read go last.
    let call = |id: &str| json!({ "role": "assistant", "content": [{ "type": "tool_use", "id": id, "name": "look", "input": {} }] });
    let result = |id: &str| {
        let image = question(0, &png(3_000))["content"][1].clone();
        json!({ "role": "user", "content": [{ "type": "tool_result", "tool_use_id": id, "content": [image] }] })
    };
    let messages = json!([{ "role": "user", "content": "Go." }, call("a"), result("a"), call("b"), result("b")]);
    let left = |most: u64| images(&fit(&messages, &json!({ "maxTokens": 99_999, "maxBytes": most })).unwrap().messages);
    assert_eq!((left(6_000), left(2_000)), (vec![4], vec![]));
}

#[test]
fn images_go_in_steps_by_their_size() {
    let mut state = Value::Null;
    let (mut changes, mut before) = (0, Vec::new());
    for count in 1..40 {
        let options = json!({ "maxTokens": 1_000_000, "maxBytes": 50_000, "previous": state });
        let fitted = fit(&screenshots(count), &options).unwrap();
        assert!(bytes(&fitted.messages) <= 50_000);
        let is_step = fitted.report["prefix"]["reason"] == "step";
        assert!(is_step || fitted.messages.starts_with(&before));
        changes += usize::from(is_step);
        state = fitted.state.clone();
        before = fitted.messages;
    }
    assert!((1..=8).contains(&changes), "{changes}");
}

/// What a cut removes is not part of the request.
#[test]
fn removed_messages_do_not_count() {
    let file = json!({ "type": "document", "source": { "type": "base64", "media_type": "application/pdf", "data": png(60_000) } });
    let mut messages = screenshots(12);
    messages[2]["content"] = json!([file]);
    let options = |most: u64| json!({ "maxTokens": 2_000, "maxBytes": most, "protect": [] });
    let fitted = fit(&messages, &options(60_000)).unwrap();
    assert!(bytes(&fitted.messages) <= 60_000 && !json!(fitted.messages).to_string().contains("pdf"));
}

#[test]
fn a_chat_is_measured_as_it_grows() {
    let options = FitOptions { max_tokens: Some(9_000), max_bytes: Some(60), ..FitOptions::default() };
    let message = |text: &str| json!({ "role": "user", "content": text });
    let mut chat = Chat::new(options.clone()).unwrap();
    chat.append(&[message("A \"")]).unwrap();
    chat.append_text(" loom\n").unwrap();
    assert!(chat.fit().is_ok());
    chat.append_text(" holds threads under tension").unwrap();
    let error = chat.fit().unwrap_err();
    assert_eq!(error.details()["required"], bytes(chat.messages()));
    // A preview measures everything where the chat did not.
    let mut chat = Chat::new(FitOptions { max_bytes: None, ..options.clone() }).unwrap();
    chat.append(&[message(&"word ".repeat(20))]).unwrap();
    assert!(chat.fit().is_ok());
    assert_eq!(chat.fit_with(&options).unwrap_err().code(), Code::RequestTooLarge);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(60)))]

    /// Whatever a fit does to a chat: the size that it takes is that of the messages that come out.
    #[test]
    fn the_size_is_that_of_the_result(
        turns in turns(),
        strategy in strategy(),
        edits in edits(),
        share in 20u64..130,
        percent in 30u64..110,
    ) {
        for format in FORMATS {
            let messages = json!(write(format, &turns));
            let whole = count(&messages, &json!({ "format": format }), &CallContext::default()).unwrap();
            let mut options = json!({ "format": format, "maxTokens": (whole * share / 100).max(1), "truncationStrategy": strategy });
            if !edits.is_null() {
                options["edits"] = edits.clone();
            }
            let Ok(plain) = fit(&messages, &options) else { continue };
            let size = bytes(&plain.messages);
            options["maxBytes"] = json!(size.max(bytes(messages.as_array().unwrap())));
            prop_assert_eq!(&fit(&messages, &options).unwrap().messages, &plain.messages);
            // With images that have to go, or with an error.
            options["maxBytes"] = json!(size * percent / 100);
            match fit(&messages, &options) {
                Ok(fitted) => prop_assert!(bytes(&fitted.messages) <= size * percent / 100),
                Err(error) => {
                    prop_assert_eq!(error.code(), Code::RequestTooLarge, "{}", error);
                    let least = error.details()["required"].clone();
                    options["maxBytes"] = least.clone();
                    let fitted = fit(&messages, &options).unwrap();
                    prop_assert!(bytes(&fitted.messages) <= least.as_u64().unwrap());
                    if images(&plain.messages).is_empty() && !json!(plain.messages).to_string().contains("image") {
                        prop_assert_eq!(bytes(&fitted.messages), least.as_u64().unwrap(), "{:?}", fitted.messages);
                    }
                }
            }
        }
    }
}
