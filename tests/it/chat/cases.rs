//! Chats of which every decision is known.

use ctxweave::Code;
use ctxweave::call::CallContext;
use serde_json::{Value, json};

use super::written::{Call, FORMATS, Turn, write};
use super::{count, fit, options, plain};
use crate::bodies::rules::broken_chat;

fn fates(report: &Value) -> Vec<&str> {
    report["messages"].as_array().unwrap().iter().map(|row| row["fate"].as_str().unwrap()).collect()
}

fn long(number: usize) -> String {
    format!("{number} ") + &"the river was low that summer ".repeat(10)
}

#[test]
fn the_format_is_found_by_shape() {
    let turns = [
        Turn::User("hello".to_owned()),
        Turn::Assistant {
            thought: None,
            text: Some("let me see".to_owned()),
            calls: vec![Call {
                id: "c1".to_owned(),
                name: "look".to_owned(),
                input: "x".to_owned(),
                result: Some("y".to_owned()),
            }],
        },
    ];
    for format in FORMATS {
        let fitted = fit(&json!(write(format, &turns)), &json!({ "maxTokens": 9000 })).unwrap();
        assert_eq!(fitted.report["format"], *format);
    }
    let found = |messages: Value| fit(&messages, &json!({ "maxTokens": 9000 })).unwrap().report["format"].clone();
    assert_eq!(found(json!([{ "role": "user", "content": "a" }, { "role": "assistant", "content": "b" }])), "generic");
    assert_eq!(found(json!({ "system": "be brief", "messages": [{ "role": "user", "content": "a" }] })), "anthropic");
    assert_eq!(found(json!({ "contents": [{ "parts": [{ "text": "a" }] }] })), "gemini");
    assert_eq!(
        found(
            json!([{ "lc": 1, "type": "constructor", "id": ["langchain_core", "messages", "HumanMessage"], "kwargs": { "content": "a" } }])
        ),
        "langchain"
    );
    assert_eq!(found(json!([])), "generic");
}

#[test]
fn an_invalid_message_is_rejected_with_its_index() {
    let error = |messages: Value| fit(&messages, &json!({ "maxTokens": 9000 })).unwrap_err();
    for (bad, index) in [
        (json!([{ "role": "user", "content": "a" }, 7]), 1),
        (json!([{ "text": "a" }]), 0),
        (json!([{ "role": "user", "content": "a" }, { "role": "user", "content": 5 }]), 1),
        (json!([{ "role": "assistant", "content": null, "tool_calls": [] }, { "parts": [{ "text": "a" }] }]), 1),
    ] {
        let error = error(bad);
        assert_eq!((error.code(), &error.details()["index"]), (Code::InvalidInput, &json!(index)), "{error}");
    }
    assert_eq!(error(json!("hello")).code(), Code::InvalidInput);
    let reference = error(json!([{ "type": "item_reference", "id": "msg_1" }]));
    assert!(reference.message().contains("cannot be counted"), "{reference}");
}

#[test]
fn a_limit_has_three_forms() {
    let chat = json!([{ "role": "user", "content": "a" }]);
    let limit = |options: Value| fit(&chat, &options).unwrap().report["limit"].as_u64().unwrap();
    assert_eq!(limit(json!({ "maxTokens": 500 })), 500);
    assert_eq!(limit(json!({ "contextWindow": 5000 })), 5000 - 1024);
    assert_eq!(limit(json!({ "contextWindow": 5000, "tokenBuffer": 1000 })), 4000);
    assert_eq!(limit(json!({ "model": "gpt-4o" })), 128_000 - 16_384);
    assert_eq!(limit(json!({ "model": "gpt-4o", "tokenBuffer": 1000 })), 127_000);
    let error = |options: Value| fit(&chat, &options).unwrap_err();
    assert_eq!(error(json!({})).code(), Code::InvalidInput);
    assert_eq!(error(json!({ "maxTokens": 0 })).code(), Code::InvalidBudget);
    let unknown = error(json!({ "model": "no-such-model" }));
    assert_eq!(unknown.code(), Code::UnknownValue);
    let expected = "`options.model` is `no-such-model`, an unknown model; correct the name, or leave it out and pass `options.contextWindow`";
    assert_eq!(unknown.message(), expected);
    for both in [
        json!({ "maxTokens": 500, "contextWindow": 5000 }),
        json!({ "maxTokens": 500, "contextWindow": 5000, "model": "gpt-4o" }),
    ] {
        let error = error(both);
        assert_eq!((error.code(), &error.details()["path"]), (Code::InvalidInput, &json!("options.contextWindow")));
        assert!(error.message().contains("`maxTokens`") && error.message().contains("`contextWindow`"), "{error}");
    }
    assert_eq!(error(json!({ "maxTokens": 9, "pinned": [4] })).code(), Code::InvalidInput);
    assert_eq!(error(json!({ "maxTokens": 9, "truncationStrategy": "middle" })).code(), Code::UnknownValue);
}

#[test]
fn no_option_is_ignored() {
    let given = json!({ "maxTokens": 9000, "truncateStrategy": 1, "edits": { "toolResult": {}, "toolCalls": { "keepLast": 1, "keep": 1 } }, "summary": { "max": 1 } });
    let report = fit(&json!([{ "role": "user", "content": "a" }]), &given).unwrap().report;
    let messages: Vec<&str> =
        report["diagnostics"].as_array().unwrap().iter().map(|found| found["message"].as_str().unwrap()).collect();
    assert_eq!(messages.len(), 4, "{messages:?}");
    assert!(messages[0].contains("truncationStrategy"), "{messages:?}");
    // Where the limit itself is misspelt there is no report to say so.
    let error = fit(&json!([]), &json!({ "maxToken": 9000 })).unwrap_err();
    assert_eq!(
        (error.code(), error.message()),
        (Code::InvalidInput, "unknown option `maxToken`; did you mean `maxTokens`?")
    );
    assert_eq!(error.details()["path"], "options.maxToken");
}

fn found(report: &Value) -> Vec<(&str, &str)> {
    let found = report["diagnostics"].as_array().unwrap().iter();
    found.map(|found| (found["code"].as_str().unwrap(), found["path"].as_str().unwrap_or_default())).collect()
}

#[test]
fn an_ignored_option_is_reported() {
    let chat = json!([{ "role": "user", "content": "a" }]);
    let fitted = fit(&chat, &json!({ "maxTokens": 500, "tokenBuffer": 9 })).unwrap();
    assert_eq!(found(&fitted.report), [("option_ignored", "options.tokenBuffer")]);
    let fitted = fit(&chat, &json!({ "contextWindow": 4000, "tokenBuffer": 9 })).unwrap();
    assert_eq!(found(&fitted.report), []);
}

/// A model selects its tokenizer. If it is not loaded, a fit estimates and reports that, and a count is an error.
#[test]
fn a_model_whose_vocabulary_is_not_loaded_is_estimated() {
    let chat = json!([{ "role": "user", "content": "a" }]);
    let fitted = fit(&chat, &json!({ "model": "gpt-4o" })).unwrap();
    assert_eq!(found(&fitted.report), [("tokens_estimated", "options.model")]);
    assert_eq!(fitted.report["tokens"]["tokenizer"], "heuristic");
    for options in [json!({ "model": "gpt-4o", "tokenizer": "heuristic" }), json!({ "model": "claude-opus-4-1" })] {
        assert_eq!(found(&fit(&chat, &options).unwrap().report), [], "{options}");
    }
    let host = CallContext::default();
    assert_eq!(count(&chat, &json!({ "model": "gpt-4o" }), &host).unwrap_err().code(), Code::VocabularyNotLoaded);
    assert_eq!(count(&chat, &json!({ "model": "claude-opus-4-1" }), &host).unwrap(), 8);
}

/// A new model counts as the newest of its line, and the report names that.
#[test]
fn an_unknown_model_of_a_known_line_is_reported() {
    let chat = json!([{ "role": "user", "content": "a" }]);
    let limit = |model: &str| fit(&chat, &json!({ "model": model })).unwrap().report["limit"].clone();
    for (model, known) in [("claude-opus-9", "claude-opus-5-5"), ("gpt-6-foo", "gpt-6.1-sol")] {
        assert_eq!(limit(model), limit(known), "{model}");
        for options in [json!({ "model": model }), json!({ "model": model, "maxTokens": 500 })] {
            let report = fit(&chat, &options).unwrap().report;
            assert_eq!(found(&report), [("model_assumed", "options.model")], "{options}");
            assert!(report["diagnostics"][0]["message"].as_str().unwrap().contains(known), "{report}");
        }
    }
}

#[test]
fn a_count_takes_tools_and_the_system_context() {
    let count = |options: Value| count(&json!([{ "role": "user", "content": "a" }]), &options, &CallContext::default());
    assert_eq!(count(json!({})).unwrap(), 8);
    assert_eq!(count(json!({ "system": "a" })).unwrap(), 9);
    assert!(count(json!({ "tools": [{ "name": "look", "description": "looks" }] })).unwrap() > 8 + 22);
    let error = count(json!({ "maxTokens": 9 })).unwrap_err();
    assert_eq!(error.code(), Code::InvalidInput, "{error}");
}

/// What an image costs depends on the model: 1024 by 1024 pixels.
#[test]
fn images_cost_what_the_model_takes_for_them() {
    let png = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAABAAAAAQACAIAAAA=";
    let openai = json!([{ "role": "user", "content": [{ "type": "image_url", "image_url": { "url": png } }] }]);
    let host = CallContext::default();
    let image = |options: Value| {
        let mut options = options;
        options["tokenizer"] = json!("heuristic");
        count(&openai, &options, &host).unwrap()
            - count(&json!([{ "role": "user", "content": [] }]), &json!({}), &host).unwrap()
    };
    assert_eq!(image(json!({ "model": "gpt-4o" })), 765);
    assert_eq!(image(json!({ "model": "openai/gpt-5-mini" })), 1659);
    assert_eq!(image(json!({})), 2520);
    // A format for every vendor: the model selects the price of the image.
    let parts = json!([{ "type": "text", "text": "" }, { "type": "image", "mimeType": "image/png", "data": png }]);
    let langchain = json!([{ "type": "human", "content": parts }]);
    let cost = |options: Value| count(&langchain, &options, &host).unwrap();
    let without = cost(json!({ "format": "langchain" })) - 4784;
    assert_eq!(cost(json!({ "format": "langchain", "model": "claude-sonnet-4-5" })) - without, 1369);
    let options = json!({ "format": "langchain", "model": "gpt-4o", "tokenizer": "heuristic" });
    assert_eq!(cost(options) - without, 765);
}

#[test]
fn an_edit_sets_how_many_stay() {
    for edit in ["toolResults", "toolCalls", "images"] {
        let chat = json!([{ "role": "user", "content": "a" }]);
        let error = fit(&chat, &json!({ "maxTokens": 9, "edits": { edit: { "keep": 1 } } })).unwrap_err();
        assert_eq!(error.code(), Code::InvalidInput, "{error}");
        assert!(error.message().contains("lacks `keepLast`"), "{error}");
    }
}

#[test]
fn an_edit_leaves_the_tools_alone_that_it_excludes() {
    let mut chat = write("openai", &agent(6));
    chat.push(json!({ "role": "assistant", "content": "done" }));
    let chat = json!(chat);
    let calls = |edits: Value| {
        let fitted = fit(&chat, &json!({ "maxTokens": 90_000, "edits": edits })).unwrap();
        let acts = super::written::acts(&fitted.messages);
        acts.iter().filter(|act| act.starts_with('+')).count()
    };
    assert_eq!(calls(json!({ "when": "always" })), 6);
    assert_eq!(calls(json!({ "when": "always", "toolCalls": { "keepLast": 2 } })), 2);
    assert_eq!(calls(json!({ "when": "always", "toolCalls": { "keepLast": 2, "exclude": ["none"] } })), 2);
    assert_eq!(calls(json!({ "when": "always", "toolCalls": { "keepLast": 2, "exclude": ["read"] } })), 6);
}

/// OpenAI's `compaction_trigger` must be the last item: no strategy removes it.
#[test]
fn a_compaction_trigger_stays_last() {
    let mut items: Vec<Value> = (0..16)
        .map(|at| json!({ "role": if at % 2 == 0 { "user" } else { "assistant" }, "content": format!("message {at} of some words") }))
        .collect();
    items.push(json!({ "type": "compaction_trigger" }));
    let items = json!(items);
    for strategy in ["keepStart", "truncateMiddle", "rollingWindow"] {
        for limit in [60, 90, 120, 150] {
            let options = json!({ "maxTokens": limit, "truncationStrategy": strategy, "endOn": "user" });
            for options in [options.clone(), json!({ "maxTokens": limit, "truncationStrategy": strategy })] {
                let fitted = fit(&items, &options).unwrap();
                assert!(fitted.messages.len() < 17, "{options}");
                assert_eq!(fitted.messages.last().unwrap()["type"], "compaction_trigger", "{options}");
            }
        }
    }
}

/// Items of Responses as its SDK types them: results without a call stand alone, and nothing is rejected.
#[test]
fn items_that_belong_to_no_call_are_kept() {
    let items = json!([
        { "role": "user", "content": "go" },
        { "type": "additional_tools", "role": "developer", "tools": [{ "type": "function", "name": "f" }] },
        { "type": "function_call_output", "output": "pushed" },
        { "type": "function_call_output", "call_id": null, "output": "pushed" },
        { "type": "tool_search_output", "tools": [] },
        { "type": "compaction_trigger" },
    ]);
    let fitted = fit(&items, &json!({ "maxTokens": 9000 })).unwrap();
    assert_eq!(fitted.report["format"], "openai-responses");
    assert_eq!(json!(fitted.messages), items);
    assert_eq!(found(&fitted.report), []);
}

/// A program, the calls that it makes and all outputs stay or go together, and no edit takes one of them.
#[test]
fn a_program_stays_or_goes_with_its_calls() {
    let program = |id: &str| {
        vec![
            json!({ "type": "program", "id": format!("pr_{id}"), "call_id": id, "code": "f()", "fingerprint": "x" }),
            json!({ "type": "function_call", "call_id": format!("{id}_f"), "name": "f", "arguments": "{}", "caller": { "type": "program", "caller_id": id } }),
            json!({ "type": "function_call_output", "call_id": format!("{id}_f"), "output": long(1) }),
            json!({ "type": "program_output", "id": format!("po_{id}"), "call_id": id, "result": "1", "status": "completed" }),
        ]
    };
    let user = |text: &str| json!({ "role": "user", "content": text });
    let items = json!([vec![user("one")], program("a"), vec![user("two")], program("b"), vec![user("three")]].concat());
    let whole = fit(&items, &json!({ "maxTokens": 9000 })).unwrap();
    assert!(whole.same.iter().all(|same| *same), "{}", whole.report);
    let edits = json!({ "when": "always", "toolCalls": { "keepLast": 0 } });
    let edited = fit(&items, &json!({ "maxTokens": 9000, "edits": edits })).unwrap();
    assert!(edited.same.iter().all(|same| *same), "{}", edited.report);
    let total = whole.report["tokens"]["total"].as_u64().unwrap();
    for limit in 60..total {
        let options = json!({ "maxTokens": limit, "truncationStrategy": "rollingWindow" });
        let Ok(cut) = fit(&items, &options) else { continue };
        for id in ["a", "b"] {
            let of =
                |item: &&Value| ["call_id"].iter().any(|key| item[*key].as_str().is_some_and(|of| of.starts_with(id)));
            let count = cut.messages.iter().filter(of).count();
            assert!(count == 0 || count == 4, "{limit}: {:?}", cut.messages);
        }
    }
}

/// A thought without a following call is no reason to keep or to shorten the next message of the user.
#[test]
fn a_thought_alone_goes_by_itself() {
    let thought =
        json!({ "role": "assistant", "content": [{ "type": "thinking", "thinking": long(1), "signature": "x" }] });
    let chat = json!([{ "role": "user", "content": "go" }, thought, { "role": "user", "content": "on" }]);
    let fitted = fit(&chat, &json!({ "maxTokens": 40 })).unwrap();
    assert_eq!(fitted.messages.last().unwrap()["content"], "on");
    assert!(!json!(fitted.messages).to_string().contains("thinking"));
}

/// Anthropic merges turns of the assistant that are neighbours and wants a thought first; Gemini wants calls after the user's turn.
#[test]
fn what_goes_makes_no_neighbours_that_are_refused() {
    let user = |content: Value| json!({ "role": "user", "content": content });
    let assistant = |content: Value| json!({ "role": "assistant", "content": content });
    let call = |id: &str| json!({ "type": "tool_use", "id": id, "name": "f", "input": {} });
    let result = |id: &str| json!([{ "type": "tool_result", "tool_use_id": id, "content": "r" }]);
    let thinks = json!([{ "type": "thinking", "thinking": "t", "signature": "s" }, { "type": "text", "text": "so" }]);
    // An edit would remove the call: it stays, since its neighbors would be one turn.
    let edits = json!({ "when": "always", "toolCalls": { "keepLast": 0 } });
    let chat = json!([
        user(json!("a")),
        assistant(json!("b")),
        assistant(json!([call("1")])),
        user(result("1")),
        assistant(thinks.clone())
    ]);
    assert_eq!(broken_chat("anthropic", chat.as_array().unwrap()), Ok(()));
    let fitted = fit(&chat, &json!({ "maxTokens": 9000, "edits": edits })).unwrap();
    assert_eq!(broken_chat("anthropic", &fitted.messages), Ok(()), "{:?}", fitted.messages);
    assert_eq!(fitted.messages.len(), 5);
    // It is removed since its result is missing, with the rest of its turn.
    let text = json!({ "type": "text", "text": "b" });
    let chat = json!([user(json!("a")), assistant(json!([text, call("1")])), assistant(thinks)]);
    let fitted = fit(&chat, &json!({ "maxTokens": 9000, "format": "anthropic" })).unwrap();
    assert_eq!(broken_chat("anthropic", &fitted.messages), Ok(()), "{:?}", fitted.messages);
    assert_eq!(fitted.messages.len(), 2);
    let turn = |role: &str, part: Value| json!({ "role": role, "parts": [part] });
    let calls = |name: &str| {
        [
            turn("model", json!({ "functionCall": { "name": name, "args": {} } })),
            turn("user", json!({ "functionResponse": { "name": name, "response": {} } })),
        ]
    };
    let said = [
        turn("user", json!({ "text": "a" })),
        turn("user", json!({ "text": "b" })),
        turn("model", json!({ "text": "c" })),
    ];
    let chat = json!([&said[..], &calls("f"), &calls("g")].concat());
    let edits = json!({ "when": "always", "toolCalls": { "keepLast": 1 } });
    let fitted = fit(&chat, &json!({ "maxTokens": 9000, "edits": edits })).unwrap();
    assert_eq!(fitted.messages.len(), 7, "{:?}", fitted.messages);
}

#[test]
fn pinned_messages_stay_after_the_end() {
    let chat = json!([
        { "role": "user", "content": "a" },
        { "role": "assistant", "content": "b" },
        { "role": "user", "content": "c" },
        { "role": "user", "content": "d" },
    ]);
    let fitted = fit(&chat, &json!({ "maxTokens": 9000, "endOn": "assistant", "pinned": [3] })).unwrap();
    assert_eq!(fitted.from, [Some(0), Some(1), Some(3)]);
}

#[test]
fn a_refusal_is_content() {
    let call = json!({ "id": "a", "type": "function", "function": { "name": "f", "arguments": "{}" } });
    let chat = json!([
        { "role": "user", "content": "a" },
        { "role": "assistant", "content": null, "refusal": "I will not.", "tool_calls": [call] },
        { "role": "user", "content": "b" },
    ]);
    let fitted = fit(&chat, &json!({ "maxTokens": 9000 })).unwrap();
    assert_eq!(fitted.messages[1], json!({ "role": "assistant", "content": null, "refusal": "I will not." }));
}

#[test]
fn messages_omitted_at_the_end_are_not_edited() {
    let mut messages = write("openai", &finished(3));
    messages.push(json!({ "role": "user", "content": "go on" }));
    messages.extend(write("openai", &agent(2)).into_iter().skip(1).map(|mut message| {
        // Ids of their own.
        for field in ["tool_call_id"] {
            if let Some(id) = message.get(field).and_then(Value::as_str).map(|id| format!("b{id}")) {
                message[field] = json!(id);
            }
        }
        if let Some(id) = message["tool_calls"][0]["id"].as_str().map(|id| format!("b{id}")) {
            message["tool_calls"][0]["id"] = json!(id);
        }
        message
    }));
    let options =
        json!({ "maxTokens": 9000, "endOn": "user", "edits": { "toolResults": { "keepLast": 0 }, "when": "always" } });
    let report = fit(&json!(messages), &options).unwrap().report;
    assert_eq!(report["edits"][0]["count"], 3, "{report}");
}

#[test]
fn a_part_of_a_message_is_summarized() {
    let messages = json!(write("ai-sdk-ui", &agent(8)));
    let run = |more: Value| {
        let mut given = plain(json!({ "maxTokens": 320, "keepFirst": 1, "summary": { "maxTokens": 40 } }));
        given.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        fit(&messages, &given).unwrap()
    };
    let input = run(json!({ "phase": "plan" })).summarize.unwrap();
    assert_eq!(input["indices"], json!([1]));
    let text = input["text"].as_str().unwrap();
    assert!(text.contains("0 the river") && !text.contains("7 the river"), "{text}");
    let done = run(json!({ "phase": "finish", "summaryText": "They read." }));
    assert_eq!(done.report["added"]["kind"], "summary");
    assert_eq!(done.report["messages"][1]["parts"][0]["fate"], "summarized");
}

#[test]
fn a_pair_is_cut_as_a_whole() {
    let chat = json!([
        { "role": "system", "content": "be brief" },
        { "role": "user", "content": long(0) },
        { "role": "assistant", "content": null, "tool_calls": [{ "id": "a", "type": "function", "function": { "name": "f", "arguments": "{}" } }, { "id": "b", "type": "function", "function": { "name": "f", "arguments": "{}" } }] },
        { "role": "tool", "tool_call_id": "a", "content": long(1) },
        { "role": "tool", "tool_call_id": "b", "content": long(2) },
        { "role": "assistant", "content": "found" },
        { "role": "user", "content": "go on" },
    ]);
    let limit = |limit: u64, strategy: &str| {
        fit(&chat, &plain(json!({ "maxTokens": limit, "truncationStrategy": strategy }))).unwrap()
    };
    for limit_of in (30..230).step_by(7) {
        let fitted = limit(limit_of, "rollingWindow");
        let there: Vec<usize> = fitted.from.iter().flatten().copied().collect();
        assert!(there.contains(&0) && there.contains(&6), "{there:?}");
        assert_eq!(there.contains(&2), there.contains(&3) && there.contains(&4), "{there:?}");
    }
    let fitted = limit(60, "truncateMiddle");
    assert_eq!(fates(&fitted.report), ["kept", "cut", "cut", "cut", "cut", "kept", "kept"]);
    assert_eq!(fitted.messages[1], json!({ "role": "user", "content": "[… 4 earlier messages omitted …]" }));
    assert_eq!(fitted.report["added"]["index"], 1);
    // The longest beginning.
    let fitted = limit(120, "keepStart");
    assert_eq!(fates(&fitted.report), ["kept", "kept", "cut", "cut", "cut", "cut", "cut"]);
}

#[test]
fn broken_pairs_are_left_out_and_open_calls_stay() {
    let call = |id: &str| json!({ "id": id, "type": "function", "function": { "name": "f", "arguments": "{}" } });
    let chat = json!([
        { "role": "tool", "tool_call_id": "gone", "content": "x" },
        { "role": "user", "content": "a" },
        { "role": "assistant", "content": "I look", "tool_calls": [call("a"), call("b")] },
        { "role": "tool", "tool_call_id": "a", "content": "y" },
        { "role": "user", "content": "b" },
        { "role": "assistant", "content": null, "tool_calls": [call("c")] },
        { "role": "user", "content": "c" },
        { "role": "assistant", "content": null, "tool_calls": [call("d")] },
    ]);
    let fitted = fit(&chat, &json!({ "maxTokens": 9000 })).unwrap();
    assert_eq!(fates(&fitted.report), ["cut", "kept", "changed", "kept", "kept", "cut", "kept", "kept"]);
    assert_eq!(fitted.messages[1]["tool_calls"], json!([call("a")]));
    assert_eq!(fitted.report["diagnostics"].as_array().unwrap().len(), 3);
    let off = fit(&chat, &json!({ "maxTokens": 9000, "repair": "off" })).unwrap();
    assert!(off.same.iter().all(|same| *same));
    // Without calls the field is removed, since providers reject an empty list.
    let chat = json!([{ "role": "user", "content": "a" }, { "role": "assistant", "content": "b", "tool_calls": [call("a")] }, { "role": "user", "content": "c" }]);
    assert_eq!(
        fit(&chat, &json!({ "maxTokens": 9000 })).unwrap().messages[1],
        json!({ "role": "assistant", "content": "b" })
    );
}

fn agent(steps: usize) -> Vec<Turn> {
    let step = |at: usize| Turn::Assistant {
        thought: Some(format!("I think of {at}")),
        text: None,
        calls: vec![Call {
            id: format!("c{at}"),
            name: "read".to_owned(),
            input: at.to_string(),
            result: Some(long(at)),
        }],
    };
    [Turn::User("do it".to_owned())].into_iter().chain((0..steps).map(step)).collect()
}

/// The same, with a last turn in which the model has read all results.
fn finished(steps: usize) -> Vec<Turn> {
    let done = Turn::Assistant { thought: None, text: Some("done".to_owned()), calls: Vec::new() };
    agent(steps).into_iter().chain([done]).collect()
}

#[test]
fn edits_go_before_cuts_and_only_as_far_as_they_must() {
    for format in FORMATS {
        let messages = json!(write(format, &finished(8)));
        let run = |limit: u64, edits: Value| {
            fit(&messages, &json!({ "format": format, "maxTokens": limit, "edits": edits })).unwrap()
        };
        let whole = run(9_000_000, json!({})).report["tokens"]["total"].as_u64().unwrap();
        let cleared = run(whole - 100, json!({ "toolResults": { "keepLast": 2 } }));
        assert_eq!(cleared.messages.len(), messages.as_array().unwrap().len(), "{format}");
        assert_eq!(cleared.report["edits"][0]["count"], 2, "{format}: {}", cleared.report);
        assert!(json!(cleared.messages).to_string().matches("[tool result cleared]").count() == 2);
        // All of them, always.
        let all = run(9_000_000, json!({ "toolResults": { "keepLast": 2 }, "when": "always" }));
        assert_eq!(all.report["edits"][0]["count"], 6, "{format}");
        // Nothing if it frees too little.
        let none =
            run(9_000_000, json!({ "toolResults": { "keepLast": 2 }, "when": "always", "minTokensFreed": 100_000 }));
        assert!(none.same.iter().all(|same| *same), "{format}");
        // Under the trigger nothing, over it down to it.
        let trigger = run(9_000_000, json!({ "toolResults": { "keepLast": 0 }, "trigger": whole - 1 }));
        assert_eq!(trigger.report["edits"][0]["count"], 1, "{format}");
        // Shortened instead of cleared.
        let short = run(9_000_000, json!({ "toolResults": { "keepLast": 7, "maxTokens": 30 }, "when": "always" }));
        let text = json!(short.messages).to_string();
        assert!(text.contains("0 the river") && text.contains("[…]"), "{format}");
        // Calls go with their results.
        let calls = run(9_000_000, json!({ "toolCalls": { "keepLast": 3 }, "when": "always" }));
        assert_eq!(calls.report["edits"][0]["count"], 5, "{format}");
        assert!(!json!(calls.messages).to_string().contains("4 the river"), "{format}");
        let thoughts = run(9_000_000, json!({ "reasoning": { "remove": "all" }, "when": "always" }));
        assert_eq!(json!(thoughts.messages).to_string().contains("I think"), *format == "anthropic", "{format}");
        let excluded =
            run(9_000_000, json!({ "toolResults": { "keepLast": 0, "exclude": ["read"] }, "when": "always" }));
        assert!(excluded.same.iter().all(|same| *same), "{format}");
    }
}

/// Anthropic rejects a fifth mark of the cache, wherever it is.
#[test]
fn more_cache_marks_than_anthropic_accepts_are_reported() {
    for marks in 0..300_usize {
        let (marks, at_end) = (marks % 9, marks % 2 == 0);
        let messages: Vec<Value> = (0..20)
            .map(|at| {
                let is_marked = if at_end { at + marks >= 20 } else { at < marks };
                let mut part = json!({ "type": "text", "text": format!("\"cache_control\":{{ {at}") });
                if is_marked {
                    part["cache_control"] = json!({ "type": "ephemeral" });
                }
                json!({ "role": if at % 2 == 0 { "user" } else { "assistant" }, "content": [part] })
            })
            .collect();
        let whole = fit(&json!(messages), &json!({ "maxTokens": 10_000, "format": "anthropic" })).unwrap();
        let cut =
            json!({ "maxTokens": 120, "format": "anthropic", "truncationStrategy": "rollingWindow", "fill": "off" });
        for fitted in [whole, fit(&json!(messages), &cut).unwrap()] {
            let left = json!(fitted.messages).to_string().matches(r#""cache_control":{"type""#).count();
            let is_reported = fitted.report["diagnostics"].to_string().contains("cache_marks_refused");
            assert_eq!(is_reported, left > 4, "{marks} marks, {left} left: {}", fitted.report["diagnostics"]);
        }
    }
}

/// OpenAI rejects reasoning before another item than its own.
#[test]
fn reasoning_stands_before_no_other_call_than_its_own() {
    let (mut removed, mut reasoning, mut calls_kept) = (0, 0, 0);
    for seed in 0..300_u64 {
        let mut state = seed;
        let mut below = |count: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % count
        };
        let mut messages = vec![json!({ "type": "message", "role": "user", "content": "Read the files." })];
        let (mut steps, mut own) = (2 + below(6), Vec::new());
        while steps > 0 {
            steps -= 1;
            if below(4) > 0 {
                let id = format!("rs_{steps}");
                own.push((id.clone(), messages.len() + 1));
                messages.push(json!({ "type": "reasoning", "id": id, "summary": [], "encrypted_content": "c2ln" }));
            }
            let calls: Vec<String> = (0..1 + below(3)).map(|call| format!("call_{steps}_{call}")).collect();
            for id in &calls {
                let name = if below(2) == 0 { "read" } else { "list" };
                messages.push(json!({ "type": "function_call", "id": format!("fc_{id}"), "call_id": id, "name": name, "arguments": "{}" }));
            }
            for id in &calls {
                messages.push(json!({ "type": "function_call_output", "call_id": id, "output": "a file" }));
            }
        }
        messages.push(json!({ "type": "message", "role": "user", "content": "Go on." }));
        let edits = match below(3) {
            0 => json!({ "toolCalls": { "keepLast": below(4) }, "when": "always" }),
            1 => json!({ "toolCalls": { "keepLast": 0, "exclude": ["list"] }, "when": "always" }),
            _ => json!({ "toolCalls": { "keepLast": below(3), "exclude": ["read"] }, "when": "always" }),
        };
        let fitted = fit(&json!(messages), &json!({ "maxTokens": 100_000, "edits": edits })).unwrap();
        removed += messages.len() - fitted.messages.len();
        let is_kept = |kind: &str, id: &Value| {
            fitted.messages.iter().any(|message| message["type"] == kind && message["call_id"] == *id)
        };
        for (id, next) in own {
            let call = &messages[next]["call_id"];
            let at = fitted.messages.iter().position(|message| message["id"] == id);
            let follower = at.map(|at| &fitted.messages[at + 1]["call_id"]);
            let expected = is_kept("function_call", call).then_some(call);
            assert_eq!(follower, expected, "{seed}: {id} in {:#?}", fitted.messages);
            reasoning += usize::from(at.is_some());
        }
        for call in fitted.messages.iter().filter(|message| message["type"] == "function_call") {
            assert!(is_kept("function_call_output", &call["call_id"]), "{seed}: {call}");
            calls_kept += 1;
        }
    }
    assert!(removed > 500 && reasoning > 200 && calls_kept > 500, "{removed} {reasoning} {calls_kept}");
}

#[test]
fn items_that_follow_from_reasoning_lose_their_id_with_it() {
    let messages = json!(write("openai-responses", &agent(2)));
    let fitted =
        fit(&messages, &json!({ "maxTokens": 9000, "edits": { "reasoning": { "remove": "all" }, "when": "always" } }))
            .unwrap();
    let calls: Vec<&Value> = fitted.messages.iter().filter(|message| message["type"] == "function_call").collect();
    assert!(calls.len() == 2 && calls.iter().all(|call| call.get("id").is_none()), "{calls:?}");
}

/// The ids of the items that a fit leaves, by `type` if they have none.
fn ids_left(fitted: &super::Fitted) -> Vec<String> {
    let id = |item: &Value| item["id"].as_str().or_else(|| item["type"].as_str()).unwrap_or_default().to_owned();
    fitted.messages.iter().map(id).collect()
}

#[test]
fn edits_of_calls_leave_the_latest_plan() {
    let plan = |id: &str, input: &str| Turn::Assistant {
        thought: None,
        text: None,
        calls: vec![Call {
            id: id.to_owned(),
            name: "update_plan".to_owned(),
            input: input.to_owned(),
            result: Some("The plan is updated.".to_owned()),
        }],
    };
    let first = [Turn::User("do it".to_owned()), plan("p1", "an older plan"), plan("p2", "weave, then cut")];
    let turns: Vec<Turn> = first.into_iter().chain(finished(6).into_iter().skip(1)).collect();
    for format in FORMATS {
        let messages = json!(write(format, &turns));
        // Arguments that are in several places are not cleared.
        let edits: &[&str] = if *format == "langchain" { &["toolCalls"] } else { &["toolCalls", "toolInputs"] };
        for &edit in edits {
            for tools in [json!({}), json!({ "only": ["update_plan"] })] {
                let mut edits = json!({ "when": "always", edit: tools });
                edits[edit]["keepLast"] = json!(1);
                let options = json!({ "format": format, "maxTokens": 9000, "edits": edits });
                let fitted = fit(&messages, &options).unwrap();
                let left = json!(fitted.messages).to_string();
                assert!(left.contains("weave, then cut"), "{format} {edits}: {left}");
                assert!(left.matches("The plan is updated.").count() > usize::from(edit == "toolInputs"), "{format}");
                assert!(fitted.report["edits"][0]["count"].as_u64() > Some(0), "{format} {edits}");
                assert!(!left.contains("an older plan"), "{format} {edits}: {left}");
                let mut options = options;
                options["protectTools"] = json!([]);
                let left = json!(fit(&messages, &options).unwrap().messages).to_string();
                assert!(!left.contains("weave, then cut"), "{format} {edits}: {left}");
            }
        }
    }
}

/// OpenAI rejects an item with an id whose reasoning is missing, whatever removed it.
#[test]
fn items_lose_their_id_with_the_reasoning_before_them() {
    let user = |id: &str| json!({ "type": "message", "id": id, "role": "user", "content": "Read the files." });
    let thought = json!({ "type": "reasoning", "id": "r1", "summary": [], "content": [] });
    let said = |id: &str| {
        let text = json!([{ "type": "output_text", "text": long(1) }]);
        json!({ "type": "message", "id": id, "role": "assistant", "status": "completed", "content": text })
    };
    let call = |format: &str, id: &str, name: &str| {
        let key = if format == "openai-agents" { "callId" } else { "call_id" };
        json!({ "type": "function_call", "id": id, key: id, "name": name, "arguments": "{}" })
    };
    let output = |format: &str, id: &str, text: &str| match format {
        "openai-agents" => {
            json!({ "type": "function_call_result", "callId": id, "name": "read", "status": "completed", "output": { "type": "text", "text": text } })
        }
        _ => json!({ "type": "function_call_output", "call_id": id, "output": text }),
    };
    for format in ["openai-responses", "openai-agents"] {
        let (call, output) =
            (|id: &str, name: &str| call(format, id, name), |id: &str, text: &str| output(format, id, text));
        let left = |messages: &[Value], options: Value| {
            let mut options = options;
            options["format"] = json!(format);
            let fitted = fit(&json!(messages), &options).unwrap();
            // A second fit changes nothing more.
            let again = fit(&json!(fitted.messages), &json!({ "format": format, "maxTokens": 9000 })).unwrap();
            assert!(again.same.iter().all(|same| *same), "{format}: {:?}", again.messages);
            ids_left(&fitted)
        };
        let result = output("b", "x")["type"].as_str().unwrap().to_owned();
        // Repair: the reasoning goes with the call that has no result.
        let broken =
            [user("u"), thought.clone(), call("a", "read"), call("b", "read"), output("b", "x"), said("m"), user("v")];
        let enough = json!({ "maxTokens": 9000 });
        assert_eq!(left(&broken, enough.clone()), ["u", "function_call", &result, "m", "v"], "{format}");
        let broken = [user("u"), thought.clone(), call("a", "read"), said("m"), user("v")];
        assert_eq!(left(&broken, enough.clone()), ["u", "message", "v"], "{format}");
        // A cut between reasoning and a later item of the same answer.
        let whole = [user("u"), thought.clone(), said("m"), call("b", "read"), output("b", "x"), user("v")];
        assert_eq!(left(&whole, enough), ["u", "r1", "m", "b", &result, "v"], "{format}");
        let window = plain(json!({ "maxTokens": 80, "truncationStrategy": "rollingWindow" }));
        assert_eq!(left(&whole, window), ["function_call", &result, "v"], "{format}");
    }
}

#[test]
fn the_last_message_is_shortened_where_it_does_not_fit() {
    for format in FORMATS {
        let turns = [
            Turn::User(long(1)),
            Turn::Assistant { thought: None, text: Some("b".to_owned()), calls: Vec::new() },
            Turn::User(long(2).repeat(9)),
        ];
        let fitted = fit(&json!(write(format, &turns)), &json!({ "format": format, "maxTokens": 150 })).unwrap();
        assert_eq!(fitted.report["messages"][2]["reason"], "shortened", "{format}");
        assert!(fitted.report["tokens"]["total"].as_u64().unwrap() > 110, "{format}: {}", fitted.report);
    }
}

#[test]
fn a_run_in_one_message_is_cut_at_its_steps() {
    let messages = json!(write("ai-sdk-ui", &agent(8)));
    assert_eq!(messages.as_array().unwrap().len(), 2);
    let fitted = fit(&messages, &json!({ "maxTokens": 300 })).unwrap();
    assert_eq!(fates(&fitted.report), ["kept", "changed"]);
    let parts = fitted.messages.last().unwrap()["parts"].as_array().unwrap();
    assert!(parts.len() < 24 && parts.len().is_multiple_of(3), "{parts:?}");
    assert!(parts.last().unwrap()["output"].as_str().unwrap().starts_with("7 "));
}

#[test]
fn the_limit_is_over_by_what_stays() {
    let chat = json!([{ "role": "system", "content": long(1) }, { "role": "user", "content": long(2) }, { "role": "user", "content": "c" }]);
    let error = |more: Value| fit(&chat, &options(more)).unwrap_err();
    assert_eq!(error(json!({ "maxTokens": 40 })).code(), Code::SystemContextTooLong);
    let tools = json!([{ "name": "read", "description": long(1), "input_schema": { "type": "object" } }]);
    let message = |chat: &Value| {
        let error = fit(chat, &options(json!({ "maxTokens": 40, "tools": tools }))).unwrap_err();
        assert_eq!(error.code(), Code::SystemContextTooLong);
        error.message().to_owned()
    };
    assert!(message(&chat).starts_with("the system context and the tool definitions cost "), "{}", message(&chat));
    let alone = json!([{ "role": "user", "content": "c" }]);
    assert!(message(&alone).starts_with("the tool definitions cost "), "{}", message(&alone));
    assert_eq!(error(json!({ "maxTokens": 110, "pinned": [1] })).code(), Code::ContextTooLong);
    let stop = error(json!({ "maxTokens": 110, "truncationStrategy": "stopAtLimit" }));
    assert_eq!(stop.code(), Code::ContextTooLong);
    assert_eq!(stop.details()["messages"].as_array().unwrap().len(), 3);
}

#[test]
fn tools_and_a_system_context_next_to_the_messages_are_counted() {
    let chat = json!([{ "role": "user", "content": "a" }]);
    let tokens = |more: Value| fit(&chat, &more).unwrap().report["tokens"].clone();
    let plain = tokens(json!({ "maxTokens": 9000 }));
    let more = tokens(
        json!({ "maxTokens": 9000, "system": long(1), "tools": [{ "type": "function", "function": { "name": "f", "parameters": { "type": "object" } } }] }),
    );
    assert!(more["system"].as_u64() > Some(50) && more["tools"].as_u64() > Some(20), "{more}");
    let body = json!({ "system": long(1), "messages": chat, "tools": [{ "name": "f", "input_schema": { "type": "object" } }] });
    let of_body = fit(&body, &json!({ "maxTokens": 9000 })).unwrap().report["tokens"].clone();
    assert!(of_body["system"].as_u64() > Some(50) && of_body["tools"].as_u64() > Some(20), "{of_body}");
    assert_eq!(plain["system"], 0);
    assert_eq!(plain["tools"], 0);
}

#[test]
fn a_summary_stands_where_the_cut_was() {
    for format in FORMATS {
        let turns: Vec<Turn> = (0..12)
            .map(|at| {
                if at % 2 == 0 {
                    Turn::User(long(at))
                } else {
                    Turn::Assistant { thought: None, text: Some(long(at)), calls: Vec::new() }
                }
            })
            .collect();
        let messages = json!(write(format, &turns));
        let run = |messages: &Value, more: Value| {
            let mut given = json!({ "format": format, "maxTokens": 500, "summary": { "maxTokens": 60 } });
            given.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            fit(messages, &given)
        };
        let plan = run(&messages, json!({ "phase": "plan" })).unwrap();
        let input = plan.summarize.unwrap();
        assert!(input["text"].as_str().unwrap().contains("the river"), "{format}");
        assert!(input.get("previousSummary").is_none());
        let cut: Vec<Value> = input["indices"].as_array().unwrap().clone();
        let done = run(&messages, json!({ "phase": "finish", "summaryText": "They spoke of a river." })).unwrap();
        let rows = done.report["messages"].as_array().unwrap();
        let summarized: Vec<Value> =
            rows.iter().filter(|row| row["fate"] == "summarized").map(|row| row["index"].clone()).collect();
        assert_eq!(cut, summarized, "{format}");
        let text = json!(done.messages).to_string();
        assert!(text.contains("[Summary of the conversation so far]\\n\\nThey spoke of a river."), "{format}");
        assert!(done.report["tokens"]["total"].as_u64().unwrap() <= 500);
        // The next one builds on it.
        let mut longer = done.messages.clone();
        longer.extend(write(format, &turns));
        let plan = run(&json!(longer), json!({ "phase": "plan" })).unwrap();
        assert_eq!(plan.summarize.unwrap()["previousSummary"], "They spoke of a river.", "{format}");
        let done =
            run(&json!(longer), json!({ "phase": "finish", "summaryText": "Still of rivers. ".repeat(100) })).unwrap();
        assert_eq!(json!(done.messages).to_string().matches("[Summary of").count(), 1, "{format}");
        assert!(done.report["tokens"]["total"].as_u64().unwrap() <= 500);
        // Without a summary it is cut and reported; an existing summary stays.
        let failed = run(&json!(longer), json!({ "phase": "finish" })).unwrap();
        assert_eq!(failed.report["diagnostics"][0]["code"], "summary_failed", "{format}");
        assert_eq!(json!(failed.messages).to_string().matches("They spoke of a river").count(), 1, "{format}");
        assert_eq!(
            run(&messages, json!({ "phase": "finish", "summaryText": " " })).unwrap_err().code(),
            Code::InvalidInput
        );
        // Under the limit there is nothing to summarize.
        assert!(run(&messages, json!({ "phase": "plan", "maxTokens": 9_000_000 })).unwrap().summarize.is_none());
    }
}

#[test]
fn the_end_can_be_asked_to_be_someones() {
    let chat = json!([
        { "role": "user", "content": "a" }, { "role": "assistant", "content": "b" }, { "role": "user", "content": "c" }, { "role": "assistant", "content": "d" },
    ]);
    let run = |more: Value| fit(&chat, &more).unwrap();
    assert_eq!(fates(&run(json!({ "maxTokens": 900, "endOn": "user" })).report), ["kept", "kept", "kept", "cut"]);
    let unmet = run(json!({ "maxTokens": 900, "endOn": ["tool"] }));
    assert_eq!(unmet.report["diagnostics"][0]["code"], "role_not_found");
    let chat = json!(
        (0..9)
            .map(|at| json!({ "role": if at % 2 == 0 { "user" } else { "assistant" }, "content": long(at) }))
            .collect::<Vec<_>>()
    );
    for limit in (100..600).step_by(13) {
        let fitted =
            fit(&chat, &json!({ "maxTokens": limit, "truncationStrategy": "rollingWindow", "startOn": "user" }))
                .unwrap();
        assert_eq!(fitted.messages[0]["role"], "user", "{limit}");
    }
}

#[test]
fn without_a_marker_the_conversation_begins_with_the_users_turn() {
    let turn = |at: usize| match at % 3 {
        0 => Turn::User(long(at)),
        _ => Turn::Assistant { thought: None, text: Some(long(at)), calls: Vec::new() },
    };
    let turns: Vec<Turn> = (0..12).map(turn).collect();
    for format in ["anthropic", "gemini"] {
        for limit in (230..900).step_by(29) {
            for strategy in ["rollingWindow", "truncateMiddle"] {
                let options = json!({ "format": format, "maxTokens": limit, "truncationMarker": "", "truncationStrategy": strategy });
                let fitted = fit(&json!(write(format, &turns)), &options).unwrap();
                assert_eq!(fitted.messages[0]["role"], "user", "{format} {limit} {strategy}: {}", fitted.report);
                // A turn of the model's has the default marker before it.
                if let Some(added) = fitted.report.get("added") {
                    assert_eq!(added["index"], json!(0), "{format} {limit} {strategy}");
                    assert!(found(&fitted.report).contains(&("option_ignored", "options.truncationMarker")));
                    assert_ne!(fitted.messages[1]["role"], "user");
                }
            }
        }
    }
}

/// Anthropic accepts instructions in the middle only after a user's turn and before an assistant's.
#[test]
fn instructions_in_the_middle_stay_in_their_place() {
    let mut chat = Vec::new();
    for at in 0..6 {
        chat.push(json!({ "role": "user", "content": [{ "type": "text", "text": long(at) }] }));
        chat.push(json!({ "role": "system", "content": "now be brief" }));
        chat.push(json!({ "role": "assistant", "content": [{ "type": "thinking", "thinking": "hm", "signature": "x" }, { "type": "text", "text": "yes" }] }));
    }
    for limit in (120..400).step_by(11) {
        let fitted = fit(&json!(chat), &json!({ "maxTokens": limit })).unwrap();
        let roles: Vec<&str> = fitted.messages.iter().map(|message| message["role"].as_str().unwrap()).collect();
        for (at, role) in roles.iter().enumerate().filter(|(_, role)| **role == "system") {
            assert!(at > 0 && roles[at - 1] == "user" && roles[at + 1] == "assistant", "{role} {roles:?}");
        }
    }
}

/// Sizes as files say them; made by hand, a header each.
#[test]
fn an_image_costs_by_its_size() {
    let images = [
        ("iVBORw0KGgoAAAANSUhEUgAAAMgAAADICAIAAAA=", "a PNG of 200 by 200"),
        ("R0lGODlhyADIAA==", "a GIF"),
        ("/9j/4AAEAAD/wAALCADIAMgBAREA", "a JPEG"),
        ("UklGRgAAAABXRUJQVlA4WAoAAAAAAAAAxwAAxwAA", "a WebP"),
    ];
    for (data, what) in images {
        let chat = json!([{ "role": "user", "content": [
            { "type": "image", "source": { "type": "base64", "media_type": "image/png", "data": data } }, { "type": "text", "text": "" },
        ] }]);
        let tokens = fit(&chat, &json!({ "maxTokens": 90_000 })).unwrap().report["tokens"]["messages"].clone();
        assert_eq!(tokens, 64, "{what}");
    }
    let chat = json!([{ "role": "user", "content": [{ "type": "image_url", "image_url": { "url": "https://example.org/a.png" } }] }]);
    assert_eq!(fit(&chat, &json!({ "maxTokens": 90_000 })).unwrap().report["tokens"]["messages"], 4784);
}

/// The first call of a turn of Gemini's has the signature of all; a call cannot follow the model's turn.
#[test]
fn edits_leave_gemini_a_chat_that_it_takes() {
    let call = |name: &str, signature: Option<&str>| {
        let mut part = json!({ "functionCall": { "name": name, "args": {} } });
        signature.into_iter().for_each(|signature| part["thoughtSignature"] = json!(signature));
        part
    };
    let results = |names: &[&str]| {
        let part = |name: &&str| json!({ "functionResponse": { "name": name, "response": { "output": "r" } } });
        json!({ "role": "user", "parts": names.iter().map(part).collect::<Vec<_>>() })
    };
    let model = |parts: Value| json!({ "role": "model", "parts": parts });
    let chat = json!([
        { "role": "user", "parts": [{ "text": "go" }] },
        model(json!([{ "text": "first" }, call("a", Some("S1")), call("b", None)])),
        results(&["a", "b"]),
        model(json!([call("c", Some("S2"))])),
        results(&["c"]),
        model(json!([{ "text": "done" }])),
        { "role": "user", "parts": [{ "text": "thanks" }] },
    ]);
    assert_eq!(broken_chat("gemini", chat.as_array().unwrap()), Ok(()));
    for (keep, exclude, left) in [
        (0, json!([]), vec!["a"]),
        (1, json!([]), vec!["a", "c"]),
        (2, json!([]), vec!["a", "b", "c"]),
        (3, json!([]), vec!["a", "b", "c"]),
        (0, json!(["b"]), vec!["a", "b"]),
        (0, json!(["c"]), vec!["a", "c"]),
    ] {
        let edits = json!({ "when": "always", "toolCalls": { "keepLast": keep, "exclude": exclude } });
        let fitted = fit(&chat, &json!({ "maxTokens": 9000, "edits": edits })).unwrap();
        assert_eq!(broken_chat("gemini", &fitted.messages), Ok(()), "{keep} {exclude}: {:?}", fitted.messages);
        let calls = fitted.messages.iter().flat_map(|message| message["parts"].as_array().unwrap());
        let calls: Vec<&Value> = calls.filter(|part| part.get("functionCall").is_some()).collect();
        let names: Vec<&str> = calls.iter().map(|part| part["functionCall"]["name"].as_str().unwrap()).collect();
        assert_eq!(names, left, "{keep} {exclude}");
        assert!(calls.iter().all(|part| part["functionCall"]["name"] == "b" || part.get("thoughtSignature").is_some()));
    }
}

/// A long run of an agent has one turn of the user, the first: cut, it would begin with the model.
#[test]
fn where_no_turn_of_the_user_is_left_a_marker_stands_after_all() {
    let mut turns = vec![Turn::User("go".to_owned())];
    turns.extend(agent(12).into_iter().filter(|turn| !matches!(turn, Turn::User(_))));
    for format in ["anthropic", "gemini"] {
        for limit in (120..900).step_by(31) {
            for strategy in ["rollingWindow", "truncateMiddle"] {
                let options = json!({ "format": format, "maxTokens": limit, "truncationMarker": "", "truncationStrategy": strategy });
                let Ok(fitted) = fit(&json!(write(format, &turns)), &options) else { continue };
                assert_eq!(fitted.messages[0]["role"], "user", "{format} {limit} {strategy}: {}", fitted.report);
                let told = found(&fitted.report).contains(&("option_ignored", "options.truncationMarker"));
                assert_eq!(told, fitted.report.get("added").is_some(), "{format} {limit} {strategy}");
            }
        }
    }
}

#[test]
fn a_summary_has_room_and_leaves_some() {
    let turns: Vec<Turn> = (0..30).map(|at| Turn::User(long(at))).collect();
    let messages = json!(write("openai", &turns));
    let run = |most: u64, phase: Value| {
        let mut given = json!({ "maxTokens": 500, "summary": { "maxTokens": most } });
        given.as_object_mut().unwrap().extend(phase.as_object().unwrap().clone());
        fit(&messages, &given).unwrap()
    };
    for (most, told) in [(1, true), (20, true), (100, false), (240, false), (480, true), (500, true), (90_000, true)] {
        let planned = run(most, json!({ "phase": "plan" }));
        let room = planned.summarize.unwrap()["maxTokens"].as_u64().unwrap();
        assert!((16..=250).contains(&room), "{most}: {room}");
        let done = run(most, json!({ "phase": "finish", "summaryText": "They spoke of a river." }));
        assert!(done.report["added"]["text"].as_str().unwrap().ends_with("They spoke of a river."), "{most}");
        assert!(done.report["tokens"]["total"].as_u64().unwrap() <= 500);
        assert_eq!(found(&done.report).contains(&("invalid_value", "options.summary.maxTokens")), told, "{most}");
    }
}

#[test]
fn a_limit_below_one_message_is_reported() {
    let error = fit(&json!([{ "role": "user", "content": "hello" }]), &json!({ "maxTokens": 1 })).unwrap_err();
    assert_eq!(error.code(), Code::ContextTooLong);
    assert!(error.to_string().contains("raise the limit"), "{error}");
}

/// What an earlier fit left at the beginning was the turn of the user that is wanted first.
#[test]
fn a_fit_of_what_was_fitted_begins_with_the_user() {
    for format in &["anthropic", "gemini", "openai"] {
        for limit in (80..400).step_by(37) {
            for summarizes in [false, true] {
                let mut messages: Vec<Value> = Vec::new();
                for round in 0..14 {
                    let turns = if round % 2 == 0 {
                        vec![Turn::User(long(round))]
                    } else {
                        vec![
                            Turn::Assistant { thought: None, text: Some(long(round)), calls: Vec::new() },
                            Turn::User("so?".to_owned()),
                        ]
                    };
                    messages.extend(write(format, &turns));
                    let mut options = json!({ "format": format, "maxTokens": limit });
                    if summarizes {
                        options["phase"] = json!("finish");
                        options["summaryText"] = json!(format!("Told up to {round}."));
                        options["summary"] = json!({ "maxTokens": 40 });
                    }
                    let Ok(fitted) = fit(&json!(messages), &options) else { continue };
                    messages = fitted.messages;
                    let begins =
                        messages.iter().position(|message| message["role"] != "system").map(|at| &messages[at]);
                    let wants_user = *format != "openai";
                    assert!(
                        !wants_user || begins.unwrap()["role"] == "user",
                        "{format} {limit} {round}: {messages:#?}"
                    );
                    // A summary covers the messages before those that stay after it.
                    let told = messages.iter().position(|message| message.to_string().contains("Summary of the conv"));
                    if let Some(told) = told.filter(|_| fitted.report.get("added").is_some()) {
                        let first = messages.iter().position(|message| message.to_string().contains("river"));
                        assert!(
                            first.is_none_or(|first| first > told || fitted.from[first] == Some(first)),
                            "{messages:#?}"
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn a_step_of_a_run_whose_call_goes_leaves_no_thought_alone() {
    let tool = |id: &str, state: &str| json!({ "type": "tool-read", "toolCallId": id, "state": state, "input": {}, "output": "r" });
    let step = json!({ "type": "step-start" });
    let thought = |text: &str| json!({ "type": "reasoning", "text": text });
    let run = |first: Value| {
        json!([
            { "id": "1", "role": "user", "parts": [{ "type": "text", "text": "go" }] },
            { "id": "2", "role": "assistant", "parts": [step, thought("one"), first, step, thought("two"), tool("b", "output-available"), step, { "type": "text", "text": "done" }] },
            { "id": "3", "role": "user", "parts": [{ "type": "text", "text": "thanks" }] },
        ])
    };
    let edits = json!({ "when": "always", "toolCalls": { "keepLast": 1 } });
    for (chat, options) in [
        (run(tool("a", "output-available")), json!({ "maxTokens": 9000, "edits": edits })),
        (
            run(json!({ "type": "tool-read", "toolCallId": "a", "state": "input-available", "input": {} })),
            json!({ "maxTokens": 9000 }),
        ),
    ] {
        let fitted = fit(&chat, &options).unwrap();
        let kinds: Vec<&str> =
            fitted.messages[1]["parts"].as_array().unwrap().iter().map(|part| part["type"].as_str().unwrap()).collect();
        assert_eq!(kinds, ["step-start", "reasoning", "tool-read", "step-start", "text"]);
        let total = count(&json!(fitted.messages), &json!({}), &CallContext::default()).unwrap();
        assert_eq!(fitted.report["tokens"]["total"].as_u64(), Some(total));
    }
}

/// As some servers make them: each call has its own result, whatever the id.
#[test]
fn langchains_calls_with_one_id_are_several() {
    for id in ["a", ""] {
        let call = json!({ "id": id, "name": "f", "args": { "text": "the same" } });
        let result = json!({ "type": "tool", "tool_call_id": id, "content": "r" });
        let chat = json!([{ "type": "human", "content": "go" }, { "type": "ai", "content": "", "tool_calls": [call, call] }, result, result]);
        let fitted = fit(&chat, &json!({ "maxTokens": 9000 })).unwrap();
        assert!(fitted.same.iter().all(|same| *same) && fitted.messages.len() == 4, "{}", fitted.report);
        let mut others = chat;
        others[1]["tool_calls"][1]["id"] = json!("b");
        others[3]["tool_call_id"] = json!("b");
        let distinct = fit(&others, &json!({ "maxTokens": 9000 })).unwrap();
        assert_eq!(fitted.report["tokens"], distinct.report["tokens"]);
    }
}

/// What an edit frees is what the request has less of afterwards, messages of which nothing is left among it.
#[test]
fn an_edit_frees_the_reported_tokens() {
    for format in FORMATS {
        let messages = json!(write(format, &agent(6)));
        let before = count(&messages, &json!({ "format": format }), &CallContext::default()).unwrap();
        for edits in [
            json!({ "toolCalls": { "keepLast": 2 } }),
            json!({ "toolResults": { "keepLast": 2 } }),
            json!({ "reasoning": { "remove": "all" } }),
        ] {
            let mut given = edits;
            given["when"] = json!("always");
            let report = fit(
                &messages,
                &json!({ "format": format, "maxTokens": 90_000, "edits": given, "preservedThinking": "keep" }),
            )
            .unwrap()
            .report;
            let freed: u64 = report["edits"]
                .as_array()
                .map_or(0, |edits| edits.iter().map(|edit| edit["tokens"].as_u64().unwrap()).sum());
            let after = report["tokens"]["total"].as_u64().unwrap();
            assert!(*format == "ai-sdk-ui" || before - after == freed, "{format} {given}: {before} {after} {freed}");
        }
    }
}

#[test]
fn a_beginning_ends_as_it_is_asked_to() {
    let chat = json!([
        { "role": "user", "content": "a" },
        { "role": "assistant", "content": "b" },
        { "role": "user", "content": "c" },
        { "role": "assistant", "content": long(1).repeat(3) },
    ]);
    let options = |end: &str| json!({ "maxTokens": 40, "truncationStrategy": "keepStart", "endOn": end });
    assert_eq!(fit(&chat, &options("assistant")).unwrap().messages.len(), 2);
    assert_eq!(fit(&chat, &options("user")).unwrap().messages.len(), 3);
    let report = fit(&chat, &options("tool")).unwrap().report;
    assert!(found(&report).contains(&("role_not_found", "options.endOn")), "{report}");
}

/// A pinned message divides the removed messages into two gaps, and only one has the marker.
#[test]
fn pinned_turns_of_the_model_follow_a_user_turn() {
    let user = |text: String| json!({ "role": "user", "content": text });
    let model = |text: &str| json!({ "role": "assistant", "content": text });
    let chat = json!([user(long(0)), model("pin"), user(long(1)), model("y"), user("z".to_owned())]);
    for (marker, strategy) in
        [("", "rollingWindow"), ("", "truncateMiddle"), ("[…]", "rollingWindow"), ("[…]", "truncateMiddle")]
    {
        let options = json!({ "format": "anthropic", "maxTokens": 90, "pinned": [1], "truncationMarker": marker, "truncationStrategy": strategy });
        let fitted = fit(&chat, &options).unwrap();
        assert_eq!(broken_chat("anthropic", &fitted.messages), Ok(()), "{marker} {strategy}: {:?}", fitted.messages);
        assert_eq!(fitted.messages[0]["role"], "user", "{marker} {strategy}: {:?}", fitted.messages);
    }
    let part = |role: &str, part: Value| json!({ "role": role, "parts": [part] });
    let chat = json!([
        part("user", json!({ "text": "q" })),
        part("model", json!({ "text": "pin" })),
        part("user", json!({ "text": long(1) })),
        part("model", json!({ "functionCall": { "name": "f", "args": {} } })),
        part("user", json!({ "functionResponse": { "name": "f", "response": { "output": "r" } } })),
        part("model", json!({ "text": "done" })),
        part("user", json!({ "text": "next" })),
    ]);
    for strategy in ["rollingWindow", "truncateMiddle"] {
        for limit in (60..130).step_by(3) {
            let options = json!({ "maxTokens": limit, "pinned": [1], "truncationStrategy": strategy });
            let Ok(fitted) = fit(&chat, &options) else { continue };
            assert_eq!(broken_chat("gemini", &fitted.messages), Ok(()), "{strategy} {limit}: {:?}", fitted.messages);
        }
    }
}
