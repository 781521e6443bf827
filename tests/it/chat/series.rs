//! Continuing fits, and preserved thinking in them (docs/agents.md).

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{Fitted, count, fit, fit_with};
use crate::generate::cases;
use ctxweave::call::CallContext;

/// A conversation that is fitted before each answer.
struct Series {
    messages: Vec<Value>,
    options: Value,
    state: Value,
    /// What the provider knows of each thought: the prefix that it was made with, without thoughts.
    bound: BTreeMap<String, Vec<Value>>,
    last: Option<Vec<Value>>,
    made: usize,
}

/// Blocks without those that the provider binds.
fn without_thoughts(message: &Value) -> Value {
    let mut message = message.clone();
    if let Some(blocks) = message["content"].as_array_mut() {
        blocks.retain(|block| block["type"] != "thinking");
        for block in blocks {
            block.as_object_mut().unwrap().remove("cache_control");
        }
    }
    message
}

impl Series {
    fn new(options: Value) -> Self {
        let (messages, state) = (Vec::new(), Value::Null);
        Self { messages, options, state, bound: BTreeMap::new(), last: None, made: 0 }
    }

    fn fit(&mut self) -> Fitted {
        let mut options = self.options.clone();
        options["previous"] = self.state.clone();
        let fitted = fit(&json!(self.messages), &options).unwrap();
        self.state = fitted.state.clone();
        fitted
    }

    /// Fits, checks what every request has to be, and lets the provider check the thoughts.
    fn request(&mut self) -> Fitted {
        let fitted = self.fit();
        let (report, limit) = (&fitted.report, self.options["maxTokens"].as_u64().unwrap());
        let total = report["tokens"]["total"].as_u64().unwrap();
        assert!(total <= limit, "{total} of {limit}");
        let counted = count(&json!(fitted.messages), &json!({ "format": "anthropic" }), &CallContext::default());
        assert_eq!(counted.unwrap(), total);
        if let Some(last) = &self.last {
            let same = last.iter().zip(&fitted.messages).take_while(|(one, other)| one == other).count();
            let prefix = &report["prefix"];
            // A message that was changed may be the same in the result.
            let is_changed = prefix["reason"] == "edited" || prefix["reason"] == "branched";
            let reported = prefix["messages"].as_u64().unwrap() as usize;
            assert!(reported == same || is_changed && reported < same, "{prefix}, {same}");
            assert!((prefix["stable"] == true) == (reported == last.len()), "{prefix}");
        }
        self.check_thoughts(&fitted.messages);
        self.last = Some(fitted.messages.clone());
        fitted
    }

    /// The provider's rule: each thought stands after what it was made after, and so do those before it.
    fn check_thoughts(&self, messages: &[Value]) {
        for (at, message) in messages.iter().enumerate() {
            for (place, block) in message["content"].as_array().into_iter().flatten().enumerate() {
                let Some(signature) = block["signature"].as_str() else { continue };
                let mut before: Vec<Value> = messages[..at].iter().map(without_thoughts).collect();
                let mut own = message.clone();
                own["content"].as_array_mut().unwrap().truncate(place);
                let own = without_thoughts(&own);
                if !own["content"].as_array().unwrap().is_empty() {
                    before.push(own);
                }
                let bound = &self.bound[signature];
                let differs = bound.iter().zip(&before).position(|(one, other)| one != other);
                assert!(
                    *bound == before,
                    "the thought {signature} of message {at}: {differs:?}, {} and {}",
                    bound.len(),
                    before.len()
                );
            }
        }
    }

    /// The model thinks and calls a tool after what it was sent.
    fn answer(&mut self, sent: &[Value], words: usize, calls: usize) {
        self.made += 1;
        let made = self.made;
        let signature = format!("s{made}");
        self.bound.insert(signature.clone(), sent.iter().map(without_thoughts).collect());
        let mut blocks = vec![json!({ "type": "thinking", "thinking": "hm", "signature": signature })];
        blocks.push(json!({ "type": "text", "text": "word ".repeat(words % 30 + 1) }));
        let call = |at: usize| json!({ "type": "tool_use", "id": format!("c{made}_{at}"), "name": "read", "input": { "at": made } });
        blocks.extend((0..calls).map(call));
        self.messages.push(json!({ "role": "assistant", "content": blocks }));
        let result = |at: usize| json!({ "type": "tool_result", "tool_use_id": format!("c{made}_{at}"), "content": "line ".repeat(words) });
        let results: Vec<Value> = (0..calls).map(result).collect();
        self.messages.push(match calls {
            0 => json!({ "role": "user", "content": [{ "type": "text", "text": format!("question {made} {}", "more ".repeat(words % 40)) }] }),
            _ => json!({ "role": "user", "content": results }),
        });
    }
}

fn started(options: Value) -> Series {
    let mut series = Series::new(options);
    series.messages.push(json!({ "role": "user", "content": [{ "type": "text", "text": "the task" }] }));
    series
}

fn signatures(messages: &[Value]) -> Vec<String> {
    let blocks = messages.iter().flat_map(|message| message["content"].as_array().into_iter().flatten());
    blocks.filter_map(|block| block["signature"].as_str().map(str::to_owned)).collect()
}

#[test]
fn results_stay_as_they_were_until_a_step() {
    let mut series = started(json!({ "maxTokens": 2_000, "format": "anthropic" }));
    let (mut steps, mut over) = (0, 0);
    for turn in 0..80 {
        let fitted = series.request();
        let reason = &fitted.report["prefix"]["reason"];
        assert!(turn == 0 || reason.is_null() || reason == "step", "{reason}");
        assert_eq!(turn == 0, reason == "first");
        steps += usize::from(reason == "step");
        over += usize::from(fitted.report["truncated"] == true);
        series.answer(&fitted.messages.clone(), 60, 1);
    }
    assert!(over > 40 && steps * 4 < over, "{steps} steps in {over}");
}

#[test]
fn valid_thoughts_stay() {
    let mut series = started(json!({ "maxTokens": 2_000, "format": "anthropic" }));
    for _ in 0..60 {
        let before = series.last.clone().unwrap_or_default();
        let fitted = series.request();
        if fitted.report["prefix"]["stable"] == true {
            let kept = signatures(&fitted.messages);
            assert_eq!(kept[..signatures(&before).len()], signatures(&before)[..]);
            assert!(kept.last().unwrap() == &format!("s{}", series.made));
        }
        series.answer(&fitted.messages.clone(), 60, 1);
    }
}

#[test]
fn a_larger_limit_alone_keeps_what_was_done() {
    let mut series = started(json!({ "maxTokens": 1_000, "format": "anthropic" }));
    for _ in 0..20 {
        let fitted = series.request();
        series.answer(&fitted.messages.clone(), 60, 1);
    }
    let last = series.request();
    series.options["maxTokens"] = json!(100_000);
    let larger = series.request();
    assert_eq!(larger.messages, last.messages);
    assert_eq!(larger.report["prefix"]["stable"], true);
    let afresh = fit(&json!(series.messages), &json!({ "maxTokens": 100_000, "format": "anthropic" })).unwrap();
    assert_eq!(afresh.messages, series.messages);
    assert!(afresh.report.get("prefix").is_none());
}

#[test]
fn a_result_that_comes_back_is_continued() {
    let mut series = started(json!({ "maxTokens": 1_500, "format": "anthropic" }));
    let mut stable = 0;
    for turn in 0..60 {
        let fitted = series.request();
        stable += usize::from(fitted.report["prefix"]["stable"] == true);
        let markers = fitted.messages.iter().filter(|message| message.to_string().contains("omitted")).count();
        assert!(markers <= 1, "{markers} markers in turn {turn}");
        series.messages.clone_from(&fitted.messages);
        series.answer(&fitted.messages.clone(), 60, 1);
    }
    assert!(stable > 45, "{stable}");
}

#[test]
fn a_branch_after_the_last_step_keeps_what_was_done() {
    let mut series = started(json!({ "maxTokens": 1_500, "format": "anthropic" }));
    let mut last_step = 0;
    for _ in 0..30 {
        let fitted = series.request();
        if fitted.report["prefix"]["reason"] == "step" {
            last_step = series.messages.len();
        }
        series.answer(&fitted.messages.clone(), 40, 1);
    }
    series.options["maxTokens"] = json!(2_500);
    let before = series.request();
    assert!(last_step + 2 < series.messages.len() && before.report["prefix"]["stable"] == true);
    // Another answer replaces the last one.
    series.messages.truncate(series.messages.len() - 2);
    let sent = series.fit();
    assert_eq!(sent.report["prefix"]["reason"], "branched");
    series.answer(&sent.messages.clone(), 30, 0);
    let branched = series.fit();
    let same = before.messages.iter().zip(&branched.messages).take_while(|(one, other)| one == other).count();
    assert_eq!(same, before.messages.len() - 2);
    series.check_thoughts(&branched.messages);
    // An earlier message that differs begins afresh.
    series.messages[1]["content"][1]["text"] = json!("something else");
    let edited = series.fit();
    assert_eq!(edited.report["prefix"]["reason"], "edited");
    assert_eq!(edited.report["prefix"]["messages"], 1);
}

#[test]
fn an_invalid_state_is_reported_and_the_fit_starts_from_scratch() {
    let mut series = started(json!({ "maxTokens": 1_000, "format": "anthropic" }));
    for _ in 0..20 {
        let fitted = series.request();
        series.answer(&fitted.messages.clone(), 60, 1);
    }
    series.fit();
    let state = series.state.clone();
    let first =
        fit(&json!(series.messages), &json!({ "maxTokens": 1_000, "format": "anthropic", "previous": null })).unwrap();
    let with = |previous: Value, options: Value| {
        let mut all = json!({ "maxTokens": 1_000, "format": "anthropic", "previous": previous });
        all.as_object_mut().unwrap().extend(options.as_object().unwrap().clone());
        fit(&json!(series.messages), &all).unwrap()
    };
    let damaged = |path: &str, value: Value| {
        let mut state = state.clone();
        *state.pointer_mut(path).unwrap() = value;
        state
    };
    for previous in [
        json!({}),
        damaged("/version", json!(99)),
        damaged("/treated", json!([[5, 9_000_000, "!o"]])),
        damaged("/treated", json!([[0, 1, "c0-99999999999"]])),
        damaged("/input/6", json!("zz")),
    ] {
        let fitted = with(previous, json!({}));
        assert_eq!(fitted.report["prefix"]["reason"], "state_unusable");
        assert_eq!(fitted.messages, first.messages);
    }
    let reason = |options: Value| with(state.clone(), options).report["prefix"]["reason"].clone();
    assert_eq!(reason(json!({ "edits": false })), "options");
    assert_eq!(reason(json!({ "system": "Be brief." })), "system");
    assert_eq!(reason(json!({ "tools": [{ "name": "read", "input_schema": {} }] })), "tools");
    let other = json!([{ "role": "user", "content": "Hi" }, { "role": "assistant", "content": "Hello" }]);
    let other = fit(&other, &json!({ "maxTokens": 1_000, "previous": state, "format": "anthropic" })).unwrap();
    assert_eq!(other.report["prefix"]["reason"], "state_unusable");
    let error = fit(&json!(series.messages), &json!({ "maxTokens": 1_000, "previous": "state" })).unwrap_err();
    assert_eq!(error.details()["path"], "options.previous");
    let error = fit(&json!(series.messages), &json!({ "maxTokens": 1_000, "cutTo": 1.5 })).unwrap_err();
    assert_eq!(error.message(), "`cutTo` is 1.5; it must be above 0 and at most 1");
}

#[test]
fn cache_marks_change_nothing() {
    let mut series = started(json!({ "maxTokens": 1_500, "format": "anthropic" }));
    for turn in 0..30 {
        let fitted = series.request();
        series.answer(&fitted.messages.clone(), 60, 1);
        // The mark moves to the newest message.
        for message in &mut series.messages {
            let last = message["content"].as_array_mut().unwrap().last_mut().unwrap();
            last.as_object_mut().unwrap().remove("cache_control");
        }
        let marked = series.messages.len() - 1;
        series.messages[marked]["content"][0]["cache_control"] = json!({ "type": "ephemeral" });
        series.last = None;
        assert_eq!(fitted.report["prefix"]["reason"].as_str().unwrap_or("step") == "first", turn == 0);
    }
}

#[test]
fn the_state_is_small() {
    let mut series = started(json!({ "maxTokens": 20_000, "format": "anthropic" }));
    for _ in 0..400 {
        let fitted = series.fit();
        series.answer(&fitted.messages.clone(), 60, 1);
    }
    let state = &series.state;
    let runs = state["treated"].as_array().unwrap().len();
    let text = state["added"].to_string().len();
    let size = state.to_string().len();
    assert!(runs > 20);
    assert!(size <= 2_048 + 32 * runs + text, "{size} bytes, {runs} runs");
}

#[test]
fn a_summary_is_made_once_a_step_and_knows_the_last_one() {
    let mut series = started(json!({ "maxTokens": 1_500, "format": "anthropic", "edits": false }));
    let (mut summaries, mut sent) = (0, 0);
    let mut summary = String::new();
    for _ in 0..80 {
        let mut options = series.options.clone();
        options["previous"] = series.state.clone();
        options["phase"] = json!("plan");
        let planned = fit(&json!(series.messages), &options).unwrap();
        options["phase"] = json!("finish");
        if let Some(input) = &planned.summarize {
            summaries += 1;
            let text = input["text"].as_str().unwrap();
            sent += text.len();
            // The summarizer sees what was called, and which result is whose.
            assert!(
                text.contains("[call 1: read {\"at\":") && text.contains("[result of call 1: read]\nline"),
                "{text}"
            );
            assert_eq!(input.get("previousSummary").and_then(Value::as_str).unwrap_or_default(), summary);
            summary = format!("They talked, part {summaries}.");
            options["summaryText"] = json!(summary);
        } else {
            options.as_object_mut().unwrap().remove("phase");
        }
        let fitted = fit_with(&json!(series.messages), &options, &CallContext::default()).unwrap();
        let text = json!(fitted.messages).to_string();
        assert_eq!(text.matches("Summary of the conversation so far").count(), usize::from(summaries > 0));
        assert!(
            text.contains(&summary),
            "{:?} {} {:#}",
            planned.summarize,
            fitted.report["added"],
            fitted.report["prefix"]
        );
        series.state = fitted.state.clone();
        series.check_thoughts(&fitted.messages);
        series.answer(&fitted.messages.clone(), 60, 1);
    }
    assert!((2..20).contains(&summaries), "{summaries} summaries");
    // Each message is in the text to be summarized at most once.
    assert!(sent < json!(series.messages).to_string().len());
    // Without a summarizer the last summary stays, and the marker follows it.
    for _ in 0..20 {
        let fitted = series.request();
        assert!(json!(fitted.messages).to_string().contains(&summary));
        series.answer(&fitted.messages.clone(), 60, 1);
    }
    let text = json!(series.fit().messages).to_string();
    assert!(text.contains("earlier messages omitted"), "{text}");
}

/// What happens between two requests.
#[derive(Clone, Debug)]
enum Event {
    Answer { words: usize, calls: usize },
    Retry,
    DropLast,
    EditLast,
    EditEarly(usize),
    Limit(u64),
    Lose,
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        12 => (0..120_usize, 0..4_usize).prop_map(|(words, calls)| Event::Answer { words, calls }),
        1 => Just(Event::Retry),
        1 => Just(Event::DropLast),
        1 => Just(Event::EditLast),
        1 => (0..40_usize).prop_map(Event::EditEarly),
        1 => (700..4_000_u64).prop_map(Event::Limit),
        1 => Just(Event::Lose),
    ]
}

fn settings() -> impl Strategy<Value = Value> {
    let strategies = prop_oneof![3 => Just("truncateMiddle"), 1 => Just("rollingWindow"), 1 => Just("keepStart")];
    let edits = prop_oneof![
        2 => Just(json!({})),
        1 => Just(json!({ "edits": false })),
        1 => Just(json!({ "edits": { "toolResults": { "keepLast": 1, "maxTokens": 20 }, "reasoning": { "remove": "beforeLastUser" } } })),
        1 => Just(json!({ "edits": { "toolCalls": { "keepLast": 2 } } })),
        1 => Just(json!({ "edits": { "toolInputs": { "keepLast": 2 }, "toolResults": { "keepTokens": 100, "duplicates": true } } })),
    ];
    (strategies, edits, 0..3_usize, prop_oneof![Just(0.5), Just(0.75), Just(1.0)]).prop_map(
        |(strategy, edits, marker, cut_to)| {
            let mut options =
                json!({ "maxTokens": 2_000, "format": "anthropic", "truncationStrategy": strategy, "cutTo": cut_to });
            options.as_object_mut().unwrap().extend(edits.as_object().unwrap().clone());
            if marker == 1 {
                options["truncationMarker"] = json!("");
            }
            options
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(400), ..ProptestConfig::default() })]

    /// No thought that is sent is invalid, whatever happens to the conversation. Where state is lost, limit and messages stay
    /// the same: a shorter conversation could fit unchanged, with thoughts that were made after a cut.
    #[test]
    fn no_thought_is_invalid(options in settings(), loses in any::<bool>(), events in prop::collection::vec(event(), 10..60)) {
        let mut series = started(options);
        let mut sent = series.request().messages;
        for event in events {
            match event {
                Event::Answer { words, calls } => series.answer(&sent, words, calls),
                Event::Retry => {}
                Event::DropLast if !loses && series.messages.len() > 4 => {
                    series.messages.truncate(series.messages.len() - 2);
                }
                Event::EditLast if !loses && series.messages.len() > 2 => {
                    let last = series.messages.len() - 1;
                    if series.messages[last]["content"][0]["type"] == "text" {
                        series.messages[last]["content"][0]["text"] = json!("another question");
                    }
                }
                Event::EditEarly(at)
                    if !loses
                        && at < series.messages.len()
                        && series.messages[at]["content"][0]["type"] == "text" =>
                {
                    series.messages[at]["content"][0]["text"] = json!("it was different");
                }
                Event::Limit(limit) if !loses => series.options["maxTokens"] = json!(limit),
                Event::Lose if loses => {
                    series.state = Value::Null;
                    series.last = None;
                }
                _ => {}
            }
            let mut options = series.options.clone();
            options["previous"] = series.state.clone();
            match fit(&json!(series.messages), &options) {
                Ok(_) => sent = series.request().messages,
                Err(error) => {
                    prop_assert!(error.code().as_str().contains("too_long"), "{error}");
                    break;
                }
            }
        }
    }
}

/// A marker before a turn of the model goes when a step removes that turn; all thoughts were made after it.
#[test]
fn thoughts_after_a_marker_that_goes_are_removed() {
    let (mut random, mut gone) = (1_u32, 0);
    let mut next = |below: u32| {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (random >> 16) as usize % below as usize
    };
    for _ in 0..60 {
        let options = json!({ "maxTokens": 800, "format": "anthropic", "truncationStrategy": "rollingWindow", "cutTo": 1.0, "edits": false });
        let mut series = started(options);
        let mut sent = series.request().messages;
        for _ in 0..30 {
            series.answer(&sent, next(120), next(4));
            let before = sent[0]["content"].is_string();
            sent = series.request().messages;
            gone += usize::from(before && !sent[0]["content"].is_string());
        }
    }
    assert!(gone > 10, "{gone} markers");
}

fn words(role: &str, count: usize) -> Value {
    json!({ "role": role, "content": "word ".repeat(count) })
}

/// Calls, and results of so many words.
fn calls(results: &[(&str, usize)]) -> [Value; 2] {
    let call = |(id, _): &(&str, usize)| json!({ "type": "tool_use", "id": id, "name": "read", "input": {} });
    let result = |(id, count): &(&str, usize)| json!({ "type": "tool_result", "tool_use_id": id, "content": "word ".repeat(*count) });
    let (calls, results): (Vec<Value>, Vec<Value>) = results.iter().map(|it| (call(it), result(it))).unzip();
    [json!({ "role": "assistant", "content": calls }), json!({ "role": "user", "content": results })]
}

#[test]
fn a_summary_stays_within_the_limit() {
    let user = |count| words("user", count);
    let model = |count| words("assistant", count);
    let first = vec![user(12), model(30), user(19), model(7), user(248), model(16), user(32)];
    let [call, result] = calls(&[("c0", 59)]);
    let second = vec![user(18), call, result];
    for (messages, more, options) in [
        (
            first,
            calls(&[("c0", 19), ("c1", 36), ("c2", 22)]),
            json!({ "maxTokens": 200, "format": "anthropic", "truncationStrategy": "rollingWindow", "pinned": [1] }),
        ),
        (
            second,
            calls(&[("c1", 21), ("c2", 12), ("c3", 26)]),
            json!({ "maxTokens": 100, "format": "anthropic", "edits": { "toolCalls": { "keepLast": 0 } } }),
        ),
    ] {
        let mut finish = options.clone();
        finish["previous"] = Value::Null;
        finish["phase"] = json!("finish");
        finish["summaryText"] = json!("They spoke. word word word");
        let before = fit(&json!(messages), &finish).unwrap();
        let mut options = options;
        options["previous"] = before.state.clone();
        let fitted = fit(&json!([messages, more.to_vec()].concat()), &options).unwrap();
        assert!(fitted.report["tokens"]["total"].as_u64().unwrap() <= options["maxTokens"].as_u64().unwrap());
        let text = json!(fitted.messages).to_string();
        assert_eq!(text.contains("They spoke."), json!(before.messages).to_string().contains("They spoke."), "{text}");
    }
}

#[test]
fn a_plan_without_a_summary_is_the_fit() {
    let messages = json!([words("assistant", 1), words("user", 5), words("assistant", 1), words("user", 40)]);
    let mut options = json!({ "maxTokens": 60, "truncationStrategy": "keepStart", "pinned": [3] });
    let expected = fit(&messages, &options).unwrap();
    options["phase"] = json!("plan");
    let planned = fit(&messages, &options).unwrap();
    assert!(planned.summarize.is_none());
    assert_eq!((planned.messages, planned.report), (expected.messages, expected.report));
}

#[test]
fn several_shortened_texts_stay_as_they_were() {
    let long = |word: &str| format!("{word} begins \n {} ends\n \n", format!("{word} ").repeat(90));
    let [call, mut result] = calls(&[("a", 1), ("b", 1)]);
    result["content"][0]["content"] = json!(long("wool"));
    result["content"][1]["content"] = json!(long("silk"));
    let mut messages = vec![words("user", 2), call, result, words("assistant", 1), words("user", 1)];
    let edits = json!({ "toolResults": { "keepLast": 0, "maxTokens": 12 } });
    let options = |previous: Value, limit: u64| json!({ "maxTokens": limit, "format": "anthropic", "edits": edits, "previous": previous });
    let first = fit(&json!(messages), &options(Value::Null, 150)).unwrap();
    assert_ne!(first.messages[2], messages[2]);
    messages.extend([words("assistant", 3), words("user", 3)]);
    let second = fit(&json!(messages), &options(first.state.clone(), 1_000)).unwrap();
    assert_eq!(second.messages[..5], first.messages[..]);
    assert_eq!(second.report["prefix"]["stable"], true);
    // The state has no texts, however long they are.
    let lines: String = (0..9_000).map(|at| format!("line {at} {}\n", "ab ".repeat(at % 7))).collect();
    let long = fit(
        &json!([words("user", 1), words("assistant", 1), { "role": "user", "content": lines }]),
        &json!({ "maxTokens": 9_000, "previous": null, "truncationStrategy": "rollingWindow" }),
    )
    .unwrap();
    assert!(long.state.to_string().len() < 1_000);
}

#[test]
fn a_format_that_shows_later_is_no_change() {
    let mut messages = vec![json!({ "role": "user", "content": "Hi" })];
    let first = fit(&json!(messages), &json!({ "maxTokens": 900, "previous": null })).unwrap();
    let thought = json!({ "type": "thinking", "thinking": "hm", "signature": "s" });
    messages.push(json!({ "role": "assistant", "content": [thought, { "type": "text", "text": "Hello" }] }));
    messages.push(json!({ "role": "user", "content": "More" }));
    let second = fit(&json!(messages), &json!({ "maxTokens": 900, "previous": first.state })).unwrap();
    assert_eq!((second.messages, &second.report["prefix"]["stable"]), (messages, &json!(true)));
}

#[test]
fn thoughts_after_an_edited_message_go() {
    let thought = |at: usize| json!({ "role": "assistant", "content": [{ "type": "thinking", "thinking": "hm", "signature": format!("s{at}") }, { "type": "text", "text": format!("A{at}") }] });
    let question = |text: &str| json!({ "role": "user", "content": text });
    let messages = vec![question("Q0"), thought(0), question("Q1"), thought(1), question("Q2")];
    let options = |previous: &Value| json!({ "maxTokens": 900, "format": "anthropic", "previous": previous });
    let state = fit(&json!(messages), &options(&Value::Null)).unwrap().state;
    let edited = |at: usize| {
        let mut messages = messages.clone();
        messages[at] = question("another");
        messages
    };
    let removed = [&messages[..1], &messages[3..]].concat();
    for (messages, expected) in
        [(edited(0), vec![]), (edited(2), vec!["s0"]), (removed, vec![]), (edited(4), vec!["s0", "s1"])]
    {
        let fitted = fit(&json!(messages), &options(&state)).unwrap();
        assert_eq!(signatures(&fitted.messages), expected);
        let reported = fitted.report["diagnostics"].as_array().unwrap().len();
        assert_eq!(reported + expected.len(), signatures(&messages).len());
    }
}

/// What was appended since the last fit was made after its result, whichever message was edited then.
#[test]
fn thoughts_appended_before_an_edit_go() {
    let thought = |at: usize| json!({ "role": "assistant", "content": [{ "type": "thinking", "thinking": "hm", "signature": format!("s{at}") }, { "type": "text", "text": format!("A{at}") }] });
    let question = |text: &str| json!({ "role": "user", "content": text });
    let first = vec![question("Q0"), thought(0), question("Q1")];
    let options = |previous: &Value| json!({ "maxTokens": 900, "format": "anthropic", "previous": previous });
    let state = fit(&json!(first), &options(&Value::Null)).unwrap().state;
    for (edited, expected) in [(0, vec![]), (2, vec!["s0"])] {
        let mut messages = [&first[..], &[thought(1), question("Q2")]].concat();
        messages[edited] = question("another");
        let fitted = fit(&json!(messages), &options(&state)).unwrap();
        assert_eq!(signatures(&fitted.messages), expected);
        // The next one is valid.
        messages.extend([thought(2), question("Q3")]);
        let next = fit(&json!(messages), &options(&fitted.state)).unwrap();
        assert_eq!(signatures(&next.messages), [expected, vec!["s2"]].concat());
    }
}

#[test]
fn messages_that_end_on_removed_come_back_as_a_change() {
    let thought = |at: usize| json!({ "type": "thinking", "thinking": "hm", "signature": format!("s{at}") });
    let [mut call, result] = calls(&[("c", 1)]);
    call["content"].as_array_mut().unwrap().insert(0, thought(0));
    // Only the results of the call follow: they are left out with it.
    let mut messages = vec![json!({ "role": "system", "content": "Sys" }), words("user", 1), call, result];
    messages.remove(0);
    let options =
        |previous: &Value| json!({ "maxTokens": 900, "format": "anthropic", "endOn": "user", "previous": previous });
    let first = fit(&json!(messages), &options(&Value::Null)).unwrap();
    let answer = json!({ "role": "assistant", "content": [thought(1), { "type": "text", "text": "A" }] });
    messages.extend([answer, words("user", 1)]);
    let second = fit(&json!(messages), &options(&first.state)).unwrap();
    let same = first.messages.iter().zip(&second.messages).take_while(|(one, other)| one == other).count();
    assert_eq!(second.report["prefix"]["messages"], same);
    let is_whole = first.messages.len() == messages.len() - 2;
    assert_eq!(signatures(&second.messages).contains(&"s1".to_owned()), is_whole);
}

#[test]
fn a_marker_without_a_number_is_counted_where_it_stands() {
    let (mut messages, mut state, mut last) = (Vec::new(), Value::Null, Vec::new());
    let mut steps = 0;
    for (at, count) in [7, 22, 23, 10, 23, 22, 7, 18, 15, 38, 7, 9, 30, 20, 25].into_iter().enumerate() {
        let text = format!("m{at} {}", "word ".repeat(count));
        let role = if at % 2 == 0 { "user" } else { "assistant" };
        messages.push(json!({ "role": role, "content": text }));
        if role == "assistant" {
            continue;
        }
        let options = json!({ "maxTokens": 200, "format": "generic", "truncationMarker": "x", "previous": state });
        let fitted = fit(&json!(messages), &options).unwrap();
        let same = fitted.messages.iter().zip(&last).take_while(|(one, other)| one == other).count();
        assert_eq!(fitted.report["prefix"]["messages"], same);
        steps += usize::from(fitted.report["prefix"]["reason"] == "step");
        (state, last) = (fitted.state, fitted.messages);
    }
    assert!(steps > 1);
}

#[test]
fn a_conversation_that_is_cut_short_begins_afresh() {
    let of = |role: &str, text: &str| json!({ "role": role, "content": text });
    let long = |text: &str| format!("{text} {}", "word ".repeat(60));
    let messages = [
        of("system", "Sys"),
        of("user", &long("Q0")),
        of("assistant", &long("A0")),
        of("user", "Q1"),
        of("assistant", "A1"),
    ];
    let options =
        |previous: &Value| json!({ "maxTokens": 100, "format": "generic", "protect": [], "previous": previous });
    let first = fit(&json!(messages[..1]), &options(&Value::Null)).unwrap().state;
    let state = fit(&json!(messages), &options(&first)).unwrap().state;
    for short in [&messages[..1], &messages[..2]] {
        let fitted = fit(&json!(short), &options(&state)).unwrap();
        assert_eq!(fitted.messages, short);
        assert!(fitted.report.get("added").is_none());
        let counted = count(&json!(short), &json!({ "format": "generic" }), &CallContext::default()).unwrap();
        assert_eq!(fitted.report["tokens"]["total"], counted);
    }
}
