//! Chats from Rust: the typed functions give what the calls over JSON give.

use std::fs;
use std::path::Path;

use ctxweave::call::CallContext;
use ctxweave::chat::{
    CALLS, CallEdit, Chat, Edits, Fate, Fill, FitOptions, FitState, Fitted, Format, PreservedThinking, Previous,
    Protect, RemovedReasoning, ResultEdit, Role, Strategy, ToolFilter, convert, count, finish_fit, fit, measure,
    plan_fit,
};
use ctxweave::{Code, DiagnosticCode, Error};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::properties::{edits, strategy, turns};
use super::written::{FORMATS, write};
use crate::calls::chat::{converted, fitted, list_of};
use crate::calls::thrown;
use crate::generate::cases;

const ALL_FORMATS: [Format; 10] = [
    Format::Generic,
    Format::OpenAi,
    Format::Responses,
    Format::Agents,
    Format::Anthropic,
    Format::AiSdk,
    Format::AiSdkUi,
    Format::LangChain,
    Format::Gemini,
    Format::Interactions,
];

fn is_format(name: &Value) -> bool {
    ALL_FORMATS.iter().any(|format| format.name() == *name)
}

fn format(name: &Value) -> Format {
    ALL_FORMATS.into_iter().find(|format| format.name() == *name).unwrap()
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap()
}

fn role(value: &Value) -> Role {
    match value.as_str().unwrap() {
        "user" => Role::User,
        "assistant" => Role::Assistant,
        other => panic!("no role `{other}`"),
    }
}

fn edits_of(value: &Value) -> Edits {
    let names = |value: &Value| -> Option<Vec<String>> { serde_json::from_value(value.clone()).unwrap_or_default() };
    let tools =
        |edit: &Value| ToolFilter { only: names(&edit["only"]), exclude: names(&edit["exclude"]).unwrap_or_default() };
    let result = |edit: &Value| {
        let placeholder = edit["placeholder"].as_str().map(str::to_owned);
        let new = ResultEdit::new(edit["keepLast"].as_u64().unwrap_or(0));
        ResultEdit {
            max_tokens: edit["maxTokens"].as_u64(),
            placeholder: placeholder.unwrap_or(new.placeholder),
            keep_tokens: edit["keepTokens"].as_u64().unwrap_or(0),
            tools: tools(edit),
            duplicates: edit["duplicates"] == true,
            ..new
        }
    };
    let call_edit = |edit: &Value| CallEdit { keep_last: number(&edit["keepLast"]), tools: tools(edit) };
    let reasoning = |edit: &Value| match edit["remove"].as_str().unwrap() {
        "all" => RemovedReasoning::All,
        _ => RemovedReasoning::BeforeLastUser,
    };
    Edits {
        trigger: value["trigger"].as_u64(),
        always: value["when"] == "always",
        min_tokens_freed: value["minTokensFreed"].as_u64().unwrap_or(0),
        tool_results: value.get("toolResults").map(result),
        step: value["step"].as_u64().unwrap_or(0),
        tool_inputs: value.get("toolInputs").map(call_edit),
        tool_calls: value.get("toolCalls").map(call_edit),
        reasoning: value.get("reasoning").map(reasoning),
        images: value.get("images").map(|edit| number(&edit["keepLast"])),
    }
}

/// The options of a call as those of Rust.
fn typed(options: &Value) -> FitOptions {
    let mut typed = FitOptions::default();
    for (name, value) in options.as_object().unwrap().iter().filter(|(_, value)| !value.is_null()) {
        match name.as_str() {
            "format" => typed.format = Some(format(value)),
            "maxTokens" => typed.max_tokens = Some(number(value)),
            "contextWindow" => typed.context_window = Some(number(value)),
            "tokenBuffer" => typed.token_buffer = Some(number(value)),
            "model" => typed.model = Some(value.as_str().unwrap().to_owned()),
            "tokenizer" => typed.counter = Some(typed.tokenizers.get(value.as_str().unwrap()).unwrap()),
            "tools" => typed.tools = Some(value.clone()),
            "system" => typed.system = Some(value.clone()),
            "pinned" => typed.pinned = serde_json::from_value(value.clone()).unwrap(),
            "repair" => typed.repair = value == "drop",
            "keepFirst" => typed.keep_first = number(value),
            "keepLast" => typed.keep_last = number(value),
            "startOn" => typed.start_on = vec![role(value)],
            "endOn" => typed.end_on = vec![role(value)],
            "truncationStrategy" => {
                typed.truncation_strategy = match value.as_str().unwrap() {
                    "truncateMiddle" => Strategy::TruncateMiddle,
                    "rollingWindow" => Strategy::RollingWindow,
                    "stopAtLimit" => Strategy::StopAtLimit,
                    _ => Strategy::KeepStart,
                }
            }
            "truncationMarker" => typed.truncation_marker = value.as_str().unwrap().to_owned(),
            "cutStep" => typed.cut_step = number(value),
            "edits" => typed.edits = Some(if value == false { Edits::default() } else { edits_of(value) }),
            "protect" => {
                let protect = |one: &Value| if one == "firstUser" { Protect::FirstUser } else { Protect::LastUser };
                typed.protect = Some(value.as_array().unwrap().iter().map(protect).collect());
            }
            "protectTools" => typed.protect_tools = Some(serde_json::from_value(value.clone()).unwrap()),
            "fill" => {
                typed.fill = match value.as_str().unwrap() {
                    "all" => Fill::All,
                    "results" => Fill::Results,
                    _ => Fill::Off,
                }
            }
            "summary" => typed.summary_tokens = value["maxTokens"].as_u64(),
            "preservedThinking" => {
                typed.preserved_thinking = match value.as_str().unwrap() {
                    "strip" => PreservedThinking::Strip,
                    "dropBlock" => PreservedThinking::DropBlock,
                    _ => PreservedThinking::Keep,
                }
            }
            "costs" => typed.costs = Some(serde_json::from_value(value.clone()).unwrap()),
            other => panic!("no option `{other}`"),
        }
    }
    typed
}

fn call(name: &str, request: &Value) -> Result<Value, Error> {
    let call = CALLS.iter().find(|call| call.name == name).unwrap();
    let answer = call.answer(&mut (), &serde_json::to_vec(request).unwrap(), &[], &CallContext::default())?;
    Ok(serde_json::from_slice(&answer.to_json()).unwrap())
}

fn result(fitted: Result<Fitted, Error>) -> Value {
    let all = |it: Fitted| json!({ "messages": it.messages, "report": it.report, "state": it.state });
    fitted.map_or_else(|error| thrown(&error), all)
}

/// What the call over JSON gives, with its decisions carried out.
fn over_json(messages: &[Value], options: &Value) -> Value {
    let given = json!(messages);
    let answer = call("fitMessages", &json!({ "messages": given, "options": options }));
    answer.map_or_else(|error| thrown(&error), |answer| fitted(&given, &answer))
}

/// A chat made of the messages, some of them at first, some later, the last one replaced.
fn resident(messages: &[Value], options: FitOptions) -> Result<Fitted, Error> {
    let mut chat = Chat::new(options)?;
    let half = messages.len() / 2;
    chat.append(&messages[..half])?;
    chat.append(&messages[half..])?;
    if let Some((last, rest)) = messages.split_last() {
        chat.replace(rest.len(), last.clone())?;
        chat.truncate(half)?;
        chat.append(&messages[half..])?;
    }
    assert_eq!(chat.messages(), messages);
    chat.fit()
}

/// The recorded chats, with the options of each.
fn recorded(name: &str) -> Vec<(String, Vec<Value>, Value)> {
    let folder = Path::new(crate::ROOT).join("tests/golden/chat");
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let goldens = files.filter(|path| !path.to_string_lossy().ends_with(".expected.json"));
    let read = |path: std::path::PathBuf| -> Option<(String, Vec<Value>, Value)> {
        let golden: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        let args = golden["args"].as_array().filter(|_| golden["call"] == name)?;
        let mut options = args.get(1).cloned().unwrap_or(json!({}));
        // A container's fields are options of Rust.
        let fields = args[0].as_object().into_iter().flatten();
        for (key, value) in fields.filter(|(key, _)| ["system", "tools", "model"].contains(&key.as_str())) {
            options[key] = options.get(key).unwrap_or(value).clone();
        }
        Some((path.display().to_string(), list_of(&args[0])?, options))
    };
    goldens.filter_map(read).collect()
}

#[test]
fn the_recorded_chats_come_out_as_over_json() {
    let recorded = recorded("fitMessages");
    assert!(recorded.len() >= 20, "only {} chats", recorded.len());
    for (name, messages, mut options) in recorded {
        // A misspelled option cannot be written in Rust.
        options.as_object_mut().unwrap().shift_remove("unknwon");
        let expected = over_json(&messages, &options).to_string();
        assert_eq!(result(fit(&messages, &typed(&options))).to_string(), expected, "{name}");
        // The path of an error is in what was appended.
        options["previous"] = Value::Null;
        let expected = over_json(&messages, &options).to_string();
        if let Ok(fitted) = resident(&messages, typed(&options)) {
            assert_eq!(result(Ok(fitted)).to_string(), expected, "{name}, resident");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(200), ..ProptestConfig::default() })]

    #[test]
    fn any_chat_comes_out_as_over_json(
        turns in turns(), format in prop::sample::select(FORMATS.to_vec()), strategy in strategy(), edits in edits(),
        limit in 20u64..900, keep in 0u64..4, marker in proptest::option::of(Just("")),
    ) {
        let messages = write(format, &turns);
        let options = json!({
            "format": format, "maxTokens": limit, "truncationStrategy": strategy, "edits": edits, "keepLast": keep,
            "truncationMarker": marker, "system": "Be brief.", "cutStep": keep * 20,
        });
        let expected = over_json(&messages, &options).to_string();
        let fitted = fit(&messages, &typed(&options));
        if let Ok(fitted) = &fitted {
            prop_assert_eq!(&FitState::from_json(&fitted.state.to_json()), &fitted.state);
        }
        prop_assert_eq!(&result(fitted).to_string(), &expected);
        let mut options = options;
        options["previous"] = Value::Null;
        let expected = over_json(&messages, &options).to_string();
        prop_assert_eq!(&result(resident(&messages, typed(&options))).to_string(), &expected);
    }
}

#[test]
fn counts_and_measures_are_those_over_json() {
    for (name, messages, options) in recorded("measureMessages") {
        let request = json!({ "messages": messages, "options": options });
        let measured = measure(&messages, &typed(&options)).unwrap();
        assert_eq!(json!(measured).to_string(), call("measureMessages", &request).unwrap().to_string(), "{name}");
        assert_eq!(count(&messages, &typed(&options)).unwrap(), measured.total, "{name}");
    }
}

#[test]
fn conversions_are_those_over_json() {
    // An unknown format cannot be written in Rust.
    let recorded = recorded("convertMessages").into_iter().filter(|(_, _, options)| is_format(&options["to"]));
    for (name, messages, options) in recorded {
        let from = options.get("from").map(format);
        let typed = convert(&messages, from, format(&options["to"])).unwrap();
        let request = json!({ "messages": messages, "options": { "from": options["from"], "to": options["to"] } });
        let expected = converted(&json!(messages), call("convertMessages", &request).unwrap());
        assert_eq!(json!(typed.messages), expected["messages"], "{name}");
        assert_eq!(json!(typed.diagnostics), expected["diagnostics"], "{name}");
        assert_eq!(typed.system.as_deref(), expected["system"].as_str(), "{name}");
    }
}

#[test]
fn a_conversion_comes_back() {
    let messages = [
        json!({ "role": "user", "content": "Is the shuttle there?" }),
        json!({ "role": "assistant", "content": null, "tool_calls": [{ "id": "c1", "type": "function", "function": { "name": "look", "arguments": "{\"at\":1}" } }] }),
        json!({ "role": "tool", "tool_call_id": "c1", "content": "It is." }),
        json!({ "role": "assistant", "content": "Yes." }),
    ];
    let there = convert(&messages, None, Format::Anthropic).unwrap();
    assert_eq!(there.messages[1]["content"][0]["type"], "tool_use");
    let back = convert(&there.messages, Some(Format::Anthropic), Format::OpenAi).unwrap();
    assert_eq!(back.messages[2..], messages[2..]);
    assert_eq!(back.messages[1]["tool_calls"], messages[1]["tool_calls"]);
    let same = convert(&messages, None, Format::OpenAi).unwrap();
    assert_eq!((same.messages.as_slice(), same.diagnostics.len()), (messages.as_slice(), 0));
}

fn user(text: &str) -> Value {
    json!({ "role": "user", "content": text })
}

#[test]
fn errors_have_a_code_and_a_place() {
    let max_tokens = |limit| FitOptions { max_tokens: Some(limit), ..FitOptions::default() };
    let refused = |messages: &[Value], options: &FitOptions, code, path: &str| {
        let error = fit(messages, options).unwrap_err();
        assert_eq!((error.code(), error.details()["path"].as_str().unwrap_or_default()), (code, path), "{error}");
        error
    };
    refused(&[user("a")], &FitOptions::default(), Code::InvalidInput, "options");
    refused(&[user("a")], &max_tokens(0), Code::InvalidBudget, "");
    let window = FitOptions { context_window: Some(1000), ..FitOptions::default() };
    refused(&[user("a")], &window, Code::InvalidBudget, "");
    let model = FitOptions { model: Some("no-such-model".to_owned()), ..FitOptions::default() };
    refused(&[user("a")], &model, Code::UnknownValue, "options.model");
    let pinned = FitOptions { pinned: vec![4], ..max_tokens(99) };
    refused(&[user("a")], &pinned, Code::InvalidInput, "options.pinned");
    let tools = FitOptions { tools: Some(json!(5)), ..max_tokens(99) };
    refused(&[user("a")], &tools, Code::InvalidInput, "options.tools");
    let error = refused(&[user("a"), json!({ "text": "b" })], &max_tokens(99), Code::InvalidInput, "messages[1]");
    assert_eq!(error.details()["index"], 1);
    let long = "word ".repeat(300);
    let stop = FitOptions { truncation_strategy: Strategy::StopAtLimit, ..max_tokens(99) };
    let error = refused(&[user(&long)], &stop, Code::ContextTooLong, "");
    assert_eq!(error.details()["limit"], 99);
    let error = finish_fit(&[user("a")], &max_tokens(99), Some(" ")).unwrap_err();
    assert_eq!((error.code(), &error.details()["path"]), (Code::InvalidInput, &json!("summary")));
    let vocabulary = FitOptions { model: Some("gpt-4o".to_owned()), ..FitOptions::default() };
    assert_eq!(count(&[user("a")], &vocabulary).unwrap_err().code(), Code::VocabularyNotLoaded);
    let found = fit(&[user("a")], &vocabulary).unwrap().report.diagnostics;
    assert_eq!(found[0].code, DiagnosticCode::TokensEstimated);
}

#[test]
fn a_chat_extends_and_its_text_grows() {
    let options = || FitOptions { max_tokens: Some(60), keep_last: 1, ..FitOptions::default() };
    let mut chat = Chat::new(options()).unwrap();
    let mut messages = vec![user("What is a loom?"), json!({ "role": "assistant", "content": "A loom" })];
    chat.append(&messages).unwrap();
    for delta in ["", " holds threads", " under tension.", &" And more of it.".repeat(20)] {
        chat.append_text(delta).unwrap();
        messages[1]["content"] = json!(messages[1]["content"].as_str().unwrap().to_owned() + delta);
        assert_eq!(chat.messages(), messages);
        assert_eq!(chat.tokens(), count(&messages, &options()).unwrap());
        let previous = chat.state().map_or(Previous::Start, Previous::State);
        assert_eq!(chat.fit(), fit(&messages, &FitOptions { previous, ..options() }));
    }
    let previous = Previous::State(chat.state().unwrap());
    chat.append(&[user("And the shuttle?")]).unwrap();
    messages.push(user("And the shuttle?"));
    let fitted = chat.fit().unwrap();
    assert_eq!(fitted, fit(&messages, &FitOptions { previous, ..options() }).unwrap());
    assert_ne!(fitted.report.messages[1].fate, Fate::Kept);
    let wide = FitOptions { max_tokens: Some(4000), model: Some("gpt-4o".to_owned()), ..FitOptions::default() };
    assert_eq!(chat.fit_with(&wide).unwrap().messages, messages);
    // Failed changes leave no trace.
    assert_eq!(chat.append(&[json!(7)]).unwrap_err().code(), Code::InvalidInput);
    assert_eq!(chat.replace(9, user("a")).unwrap_err().code(), Code::InvalidInput);
    let again = chat.fit().unwrap();
    assert_eq!((chat.messages(), again.messages), (messages.as_slice(), fitted.messages));
    assert!(again.report.prefix.unwrap().stable);
    // State goes through JSON.
    let state = FitState::from_json(&again.state.to_json());
    assert_eq!(state, again.state);
    chat.truncate(0).unwrap();
    assert_eq!(chat.append_text("a").unwrap_err().code(), Code::InvalidInput);
}

/// Texts alone are of no certain format; the first message of another kind decides, and all are read again.
#[test]
fn a_chat_may_find_its_format_late() {
    let mut chat = Chat::new(FitOptions { max_tokens: Some(900), ..FitOptions::default() }).unwrap();
    chat.append(&[user("a")]).unwrap();
    assert_eq!(chat.fit().unwrap().report.format, Format::Generic);
    chat.append(&[
        json!({ "role": "assistant", "content": [{ "type": "tool_use", "id": "c", "name": "f", "input": {} }] }),
    ])
    .unwrap();
    assert_eq!(chat.fit().unwrap().report.format, Format::Anthropic);
    assert_eq!(chat.messages().len(), 2);
}

#[test]
fn a_summary_replaces_removed_messages() {
    let long = "The river was low that summer. ".repeat(9);
    let messages: Vec<Value> = (0..12).map(|_| user(&long)).collect();
    let options = FitOptions { max_tokens: Some(400), summary_tokens: Some(60), ..FitOptions::default() };
    assert_eq!(plan_fit(&messages[..1], &options).unwrap(), None);
    let input = plan_fit(&messages, &options).unwrap().unwrap();
    assert!(!input.indices.is_empty() && input.max_tokens <= 60 && input.text.contains("river"));
    let fitted = finish_fit(&messages, &options, Some("A dry summer.")).unwrap();
    let added = fitted.report.added.unwrap();
    assert!(added.text.ends_with("A dry summer."));
    assert_eq!(fitted.messages[added.index]["content"], json!(added.text));
    let without = finish_fit(&messages, &options, None).unwrap();
    assert_eq!(without.report.diagnostics[0].code, DiagnosticCode::SummaryFailed);
}
