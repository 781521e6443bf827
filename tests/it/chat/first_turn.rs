//! A conversation begins with a user turn if the vendor requires it (docs/chats.md).

use serde_json::{Value, json};

use super::written::{Call, FORMATS, Turn, is_assistant, is_user, write};
use super::{Fitted, count, fit, plain};
use crate::bodies::rules::broken_chat;
use ctxweave::Code;
use ctxweave::call::CallContext;

/// The formats whose vendors want the user first.
pub(super) const USER_FIRST: [&str; 7] =
    ["anthropic", "gemini", "gemini-interactions", "ai-sdk", "ai-sdk-ui", "langchain", "generic"];

/// The first message that is no instruction.
pub(super) fn first_turn(messages: &[Value]) -> Option<&Value> {
    messages.iter().find(|message| message["role"] != "system" && message["type"] != "system")
}

/// Whether what leaves begins with a turn of the model's, and may not.
pub(super) fn begins_with_model(format: &str, messages: &[Value]) -> bool {
    USER_FIRST.contains(&format) && first_turn(messages).is_some_and(is_assistant)
}

fn orphan() -> Value {
    json!([
        { "role": "user", "content": [{ "type": "tool_result", "tool_use_id": "gone", "content": "r" }] },
        { "role": "assistant", "content": "I see." },
        { "role": "user", "content": "Go on" },
    ])
}

fn texts(fitted: &Fitted) -> Vec<&str> {
    fitted.messages.iter().map(|message| message["content"].as_str().unwrap_or("…")).collect()
}

fn codes(fitted: &Fitted) -> Vec<&str> {
    let found = fitted.report["diagnostics"].as_array().unwrap().iter();
    found.map(|found| found["code"].as_str().unwrap()).collect()
}

#[test]
fn a_marker_stands_before_a_turn_of_the_models() {
    let fitted = fit(&orphan(), &json!({ "maxTokens": 1000 })).unwrap();
    assert_eq!(texts(&fitted), ["[… 1 earlier message omitted …]", "I see.", "Go on"]);
    assert_eq!((fitted.messages[0]["role"].as_str(), codes(&fitted)), (Some("user"), vec!["tool_pair_broken"]));
    assert_eq!(fitted.report["added"]["index"], 0);
    let total = count(&json!(fitted.messages), &json!({ "format": "anthropic" }), &CallContext::default()).unwrap();
    assert_eq!(fitted.report["tokens"]["total"], total);
    // What was fitted is left as it is.
    assert_eq!(fit(&json!(fitted.messages), &json!({ "maxTokens": 1000 })).unwrap().messages, fitted.messages);
    // Even without a marker.
    let silent = fit(&orphan(), &json!({ "maxTokens": 1000, "truncationMarker": "" })).unwrap();
    assert_eq!(texts(&silent)[0], "[… 1 earlier message omitted …]");
    assert_eq!(codes(&silent), ["tool_pair_broken", "option_ignored"]);
    let own = fit(&orphan(), &json!({ "maxTokens": 1000, "truncationMarker": "{count} gone" })).unwrap();
    assert_eq!(texts(&own)[0], "1 gone");
}

/// A marker before the first turn that does not fit is no reason to fail where less would do.
#[test]
fn a_larger_limit_does_not_fail_where_a_smaller_one_fits() {
    let chat = |text: &str| {
        let mut chat = orphan().as_array().unwrap().clone();
        chat.extend([json!({ "role": "assistant", "content": text }), json!({ "role": "user", "content": "More" })]);
        json!(chat)
    };
    for chat in [orphan(), chat("Yes."), chat(&"A long answer. ".repeat(30))] {
        for strategy in ["truncateMiddle", "rollingWindow", "keepStart"] {
            for marker in ["[… {count} earlier messages omitted …]", ""] {
                let mut fits = false;
                for limit in 5..200 {
                    let options =
                        json!({ "maxTokens": limit, "truncationStrategy": strategy, "truncationMarker": marker });
                    match fit(&chat, &options) {
                        Ok(fitted) => {
                            fits = true;
                            assert!(!begins_with_model("anthropic", &fitted.messages), "{limit} {strategy}");
                            let recount = json!(fitted.messages);
                            let recount = count(&recount, &json!({ "format": "anthropic" }), &CallContext::default());
                            assert!(recount.unwrap() <= limit, "{limit} {strategy}");
                        }
                        Err(error) => assert!(!fits, "{strategy} {marker:?} at {limit}: {error}"),
                    }
                }
            }
        }
    }
}

/// A marker at the front counts what was repaired, too.
#[test]
fn a_marker_at_the_front_counts_everything_that_is_gone() {
    let long = "word ".repeat(300);
    let mut chat = orphan().as_array().unwrap().clone();
    chat.splice(1..1, [json!({ "role": "assistant", "content": long }), json!({ "role": "user", "content": long })]);
    let fitted = fit(&json!(chat), &plain(json!({ "maxTokens": 100 }))).unwrap();
    assert_eq!(texts(&fitted), ["[… 3 earlier messages omitted …]", "I see.", "Go on"]);
    let cut = fitted.report["messages"].as_array().unwrap().iter().filter(|row| row["fate"] == "cut").count();
    assert_eq!(cut, 3);
}

fn talk(greeting: bool, turns: usize) -> Vec<Value> {
    let text = |number: usize| format!("{number} ") + &"the river was low that summer ".repeat(10);
    let role = |number: usize| if number.is_multiple_of(2) { "user" } else { "assistant" };
    let greeting = greeting.then(|| json!({ "role": "assistant", "content": "How can I help?" }));
    greeting.into_iter().chain((0..turns).map(|at| json!({ "role": role(at), "content": text(at) }))).collect()
}

/// The model decides whether there is such a rule.
#[test]
fn other_vendors_take_any_first_turn() {
    let messages = json!(talk(false, 20));
    let window = |limit: u64, options: Value| {
        let mut all = json!({ "maxTokens": limit, "truncationStrategy": "rollingWindow", "tokenizer": "heuristic" });
        all.as_object_mut().unwrap().extend(options.as_object().unwrap().clone());
        fit(&messages, &all).unwrap()
    };
    let begins_with_model = |limit: &u64| is_assistant(&window(*limit, json!({ "model": "gpt-4o" })).messages[0]);
    let limit = (300..900).step_by(20).find(begins_with_model).unwrap();
    for model in ["gpt-4o", "mistral-large", "qwen-max", "gpt-99"] {
        let fitted = window(limit, json!({ "model": model }));
        assert!(fitted.messages.first().is_some_and(is_assistant), "{model}: {:?}", texts(&fitted));
        assert_eq!(fitted.report.get("added"), None);
    }
    for model in [json!({}), json!({ "model": "claude-opus-5-5" }), json!({ "model": "gemini-3.5-flash" })] {
        let fitted = window(limit + 20, model);
        assert!(fitted.messages.first().is_some_and(is_user) && fitted.messages.get(1).is_some_and(is_assistant));
        assert_eq!(fitted.report["added"]["index"], 0);
    }
    let silent = window(limit + 20, json!({ "truncationMarker": "" }));
    assert!(texts(&silent)[0].ends_with("earlier messages omitted …]") && codes(&silent) == ["option_ignored"]);
}

/// A greeting is removed when something else changes; the marker replaces it and is the only one.
#[test]
fn a_greeting_is_removed_with_the_first_change() {
    let messages = talk(true, 20);
    let whole = fit(&json!(messages), &json!({ "maxTokens": 90_000 })).unwrap();
    assert_eq!(whole.messages, messages);
    for strategy in ["truncateMiddle", "rollingWindow", "keepStart"] {
        let options = json!({ "maxTokens": 400, "truncationStrategy": strategy });
        let fitted = fit(&json!(messages), &options).unwrap();
        assert!(is_user(&fitted.messages[0]), "{strategy}: {:?}", texts(&fitted));
        if strategy == "rollingWindow" {
            continue;
        }
        let markers = texts(&fitted).into_iter().filter(|text| text.contains("omitted")).count();
        assert_eq!((markers, is_user(&fitted.messages[0])), (1, true), "{strategy}: {:?}", texts(&fitted));
        assert!(texts(&fitted)[0].contains("omitted"), "{strategy}: {:?}", texts(&fitted));
        let gone = fitted.report["messages"].as_array().unwrap().iter().filter(|row| row["fate"] == "cut").count();
        assert!(texts(&fitted)[0].contains(&format!(" {gone} ")), "{gone}: {:?}", texts(&fitted));
        let mut silent = options.clone();
        silent["truncationMarker"] = json!("");
        if strategy == "truncateMiddle" {
            let fitted = fit(&json!(messages), &silent).unwrap();
            assert!(texts(&fitted)[0].starts_with("0 ") && codes(&fitted).is_empty(), "{:?}", texts(&fitted));
            assert_eq!(fitted.report["messages"][0]["reason"], "firstTurn");
        }
    }
    // A pinned one stays after the marker.
    for pin in [json!({ "pinned": [0] }), json!({ "keepFirst": 1 })] {
        let mut options = json!({ "maxTokens": 400 });
        options.as_object_mut().unwrap().extend(pin.as_object().unwrap().clone());
        let fitted = fit(&json!(messages), &options).unwrap();
        assert_eq!((fitted.from[0], fitted.from[1]), (None, Some(0)), "{pin}");
    }
    // It is summarized with what follows it.
    let summary = json!({ "maxTokens": 400, "phase": "plan" });
    let planned = fit(&json!(messages), &summary).unwrap();
    assert!(planned.summarize.unwrap()["text"].as_str().unwrap().starts_with("assistant: How can I help?"));
}

/// Pseudo-random numbers, the same each time.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }

    fn words(&mut self, most: usize) -> String {
        "so it was ".repeat(1 + self.below(most))
    }
}

/// A chat as people have them: talk, work with tools alone or several at once, images, thoughts.
fn chat(numbers: &mut Numbers) -> Vec<Turn> {
    let mut turns = Vec::new();
    if numbers.below(3) == 0 {
        turns.push(Turn::System(numbers.words(3)));
    }
    let answer = |numbers: &mut Numbers, calls| Turn::Assistant {
        thought: (numbers.below(3) == 0).then(|| numbers.words(5)),
        text: Some(numbers.words(8)),
        calls,
    };
    if numbers.below(4) == 0 {
        turns.push(answer(numbers, Vec::new()));
    }
    let mut called = 0;
    for _ in 0..1 + numbers.below(5) {
        turns.push(if numbers.below(6) == 0 { Turn::Look(numbers.words(4)) } else { Turn::User(numbers.words(8)) });
        for _ in 0..numbers.below(3) {
            let calls = (0..1 + numbers.below(2)).map(|_| {
                called += 1;
                let (input, result) = (numbers.words(2), Some(numbers.words(12)));
                Call { id: format!("call_{called}"), name: "read".to_owned(), input, result }
            });
            let calls = calls.collect();
            turns.push(answer(numbers, calls));
        }
        turns.push(answer(numbers, Vec::new()));
    }
    turns
}

/// However a history is sliced, the changed part is valid afterwards.
#[test]
fn slices_of_chats_are_legal_once_they_are_fitted() {
    let mut numbers = Numbers(11);
    let mut fitted_slices = 0;
    for number in 0..520 {
        let turns = chat(&mut numbers);
        let format = FORMATS[number % FORMATS.len()];
        let messages = write(format, &turns);
        let strategy = ["truncateMiddle", "rollingWindow", "keepStart"][number / FORMATS.len() % 3];
        for at in 0..messages.len() {
            let slice = &messages[at..];
            let whole = count(&json!(slice), &json!({ "format": format }), &CallContext::default()).unwrap();
            for (share, marker) in [
                (200, "[… {count} earlier messages omitted …]"),
                (70, "[… {count} earlier messages omitted …]"),
                (70, ""),
                (40, ""),
            ] {
                let limit = (whole * share / 100).max(40);
                let options = json!({ "format": format, "maxTokens": limit, "truncationStrategy": strategy, "truncationMarker": marker });
                let fitted = match fit(&json!(slice), &options) {
                    Ok(fitted) => fitted,
                    Err(error) => {
                        assert!(matches!(error.code(), Code::ContextTooLong | Code::SystemContextTooLong), "{error}");
                        continue;
                    }
                };
                if fitted.report["truncated"] == false || fitted.messages.is_empty() {
                    continue;
                }
                fitted_slices += 1;
                assert!(!begins_with_model(format, &fitted.messages), "{format} {options}: {:?}", fitted.messages);
                assert!(fitted.from.iter().filter(|from| from.is_none()).count() <= 1, "{format} {options}");
                let wrong = broken_chat(format, &fitted.messages);
                assert!(wrong.is_ok(), "{format} {options}: {wrong:?} {:?}", fitted.messages);
                assert!(fitted.report["tokens"]["total"].as_u64().unwrap() <= limit);
            }
        }
    }
    assert!(fitted_slices > 5000, "{fitted_slices}");
}
