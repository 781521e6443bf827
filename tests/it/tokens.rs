//! Counting by name, and the calls around it (docs/tokens.md).

use ctxweave::Code;
use ctxweave::call::CallContext;
use ctxweave::tokens::{CALLS, Counter, Tokenizers};
use serde_json::{Value, json};

use crate::generate::{COUNTERS, own};

fn counter(name: &str) -> &'static dyn Counter {
    COUNTERS.into_iter().find(|counter| counter.name() == name).unwrap()
}

fn count_chat(messages: &Value, tokenizer: &str) -> Result<u64, ctxweave::Error> {
    let host = own(counter(tokenizer));
    let request = json!({ "messages": messages, "options": { "tokenizer": {} } }).to_string();
    let call = CALLS.iter().find(|call| call.name == "countChatTokens").unwrap();
    let answer = call.answer(&mut (), request.as_bytes(), &[], &host)?;
    Ok(serde_json::from_slice(&answer.to_json()).unwrap())
}

/// The six messages of the cookbook's example, and what its author got from the API for them.
#[test]
fn the_cookbooks_example_has_its_count() {
    let corporate =
        "You are a helpful, pattern-following assistant that translates corporate jargon into plain English.";
    let leverage =
        "Let's circle back when we have more bandwidth to touch base on opportunities for increased leverage.";
    let late = "This late pivot means we don't have time to boil the ocean for the client deliverable.";
    let messages = json!([
        { "role": "system", "content": corporate },
        { "role": "system", "name": "example_user", "content": "New synergies will help drive top-line growth." },
        { "role": "system", "name": "example_assistant", "content": "Things working well together will increase revenue." },
        { "role": "system", "name": "example_user", "content": leverage },
        { "role": "system", "name": "example_assistant", "content": "Let's talk later when we're less busy about how to do better." },
        { "role": "user", "content": late },
    ]);
    assert_eq!(count_chat(&messages, "o200k_base").unwrap(), 124);
    assert_eq!(count_chat(&messages, "cl100k_base").unwrap(), 129);
}

/// The whole content of an OpenAI message is counted: calls, parts, refusals, reasoning. Ids and marks cost nothing.
#[test]
fn the_content_of_a_chat_is_counted() {
    let words = |text: &str| u64::from(counter("o200k_base").count(text));
    let cost = |message: Value| count_chat(&json!([message]), "o200k_base").unwrap() - 3;
    let arguments = "{\"path\":\"a\"}".repeat(300);
    let function = json!({ "name": "read_file", "arguments": arguments });
    let called = 3 + words("assistant") + 3 + words("read_file") + words(&arguments);
    let call = json!({ "id": "call_1", "type": "function", "function": function });
    for (message, expected) in [
        (json!({ "role": "assistant", "content": null, "tool_calls": [call] }), called),
        (json!({ "role": "assistant", "tool_calls": [call], "cache_control": { "type": "ephemeral" } }), called),
        (json!({ "role": "assistant", "content": null, "function_call": function }), called),
        (
            json!({ "role": "assistant", "tool_calls": [{ "type": "custom", "custom": { "name": "read_file", "input": arguments } }] }),
            called,
        ),
        (json!({ "role": "assistant", "content": "so", "tool_calls": [] }), 3 + words("assistant") + words("so")),
        (json!({ "role": "assistant", "content": null }), 3 + words("assistant")),
        (json!({ "role": "assistant", "refusal": "I will not." }), 3 + words("assistant") + words("I will not.")),
        (
            json!({ "role": "assistant", "content": "Yes.", "reasoning_content": "Hm." }),
            3 + words("assistant") + words("Yes.") + words("Hm."),
        ),
        (
            json!({ "role": "user", "content": [{ "type": "text", "text": "One." }, { "type": "text", "text": "Two." }] }),
            3 + words("user") + words("One.") + words("Two."),
        ),
        (json!({ "role": "tool", "tool_call_id": "call_1", "content": "42" }), 3 + words("tool") + words("42")),
        (
            json!({ "role": "user", "content": [{ "type": "image_url", "image_url": { "url": "https://example.org/a.png" } }] }),
            3 + words("user") + 4784,
        ),
        (json!({ "role": "user", "name": "ann", "content": "hi" }), 3 + words("user") + words("hi") + words("ann") + 1),
        // The name of a function stands for its role.
        (
            json!({ "role": "function", "name": "ann", "content": "hi" }),
            3 + words("function") + words("hi") + words("ann"),
        ),
    ] {
        assert_eq!(cost(message.clone()), expected, "{message}");
    }
}

/// Content that cannot be counted is an error with its place, never left out.
#[test]
fn what_cannot_be_counted_is_refused() {
    let recording = json!({ "type": "input_audio", "input_audio": { "data": "AAAA", "format": "wav" } });
    for (message, expected) in [
        (
            json!({ "role": "user", "content": [{ "type": "text", "text": "a" }, recording] }),
            "`messages[0].content[1].type` is `input_audio`; it must be one of `text`, `refusal`, `image_url`",
        ),
        (json!({ "role": "user", "content": 5 }), "`messages[0].content` must be a string or a list of parts"),
        (
            json!({ "role": "assistant", "content": null, "audio": { "id": "a" } }),
            "`messages[0].audio` is a recording, whose tokens are not known",
        ),
        (json!({ "role": "user", "parts": [{ "text": "of Gemini" }] }), "`messages[0]` lacks `content`"),
        (
            json!({ "role": "assistant", "tool_calls": [{ "id": "a", "function": { "name": "f", "arguments": {} } }] }),
            "`messages[0].tool_calls[0].function.arguments` must be a string",
        ),
    ] {
        assert_eq!(count_chat(&json!([message]), "heuristic").unwrap_err().message(), expected);
    }
}

#[test]
fn tools_of_another_type_are_refused() {
    let call = CALLS.iter().find(|call| call.name == "countChatTokens").unwrap();
    let messages = json!([{ "role": "user", "content": "Hi." }]);
    for (tools, path) in [
        (json!("[]"), "options.tools"),
        (json!(5), "options.tools"),
        (json!({}), "options.tools"),
        (json!([{}, 5]), "options.tools[1]"),
    ] {
        let request = json!({ "messages": messages, "options": { "tools": tools } }).to_string();
        let error = call.answer(&mut (), request.as_bytes(), &[], &CallContext::default()).unwrap_err();
        assert_eq!((error.code(), error.details()["path"].as_str()), (Code::InvalidInput, Some(path)), "{error}");
        assert_eq!(error.to_string().contains("`JSON.parse`"), tools.is_string(), "{error}");
    }
}

#[test]
fn a_missing_vocabulary_is_an_error_that_names_its_module() {
    let mut tokenizers = Tokenizers::default();
    let error = tokenizers.get("cl100k_base").unwrap_err();
    assert_eq!((error.code(), error.details()["tokenizer"].as_str()), (Code::VocabularyNotLoaded, Some("cl100k_base")));
    assert!(error.message().contains("loadVocabulary"), "{error}");
    assert_eq!(tokenizers.get("gpt5").unwrap_err().code(), Code::UnknownValue);
    let error = tokenizers.get("gpt2").unwrap_err();
    assert_eq!(error.code(), Code::VocabularyNotLoaded);
    assert!(error.to_string().contains("`ctxweave-vocab/gpt2`"), "{error}");
    assert_eq!(tokenizers.load("gpt2", &[]).unwrap_err().code(), Code::InvalidVocabulary);
    assert_eq!(tokenizers.load("gpt5", &[]).unwrap_err().code(), Code::InvalidVocabulary);
    assert_eq!(tokenizers.load("heuristic", &[]).unwrap_err().code(), Code::UnknownValue);
    assert_eq!(tokenizers.load("o200k_base", b"<!doctype html>").unwrap_err().code(), Code::InvalidVocabulary);
    assert_eq!(tokenizers.get("heuristic").unwrap().name(), "heuristic");
}

/// An image costs the price of the model at OpenAI, by its size; a model selects its tokenizer.
#[test]
fn images_of_a_chat_cost_by_model() {
    let call = CALLS.iter().find(|call| call.name == "countChatTokens").unwrap();
    let host = ctxweave::call::CallContext { tokenizers: crate::generate::tokenizers(), counter: None };
    let counted = |content: Value, options: Value| -> Result<u64, ctxweave::Error> {
        let request = json!({ "messages": [{ "role": "user", "content": content }], "options": options });
        let answer = call.answer(&mut (), request.to_string().as_bytes(), &[], &host)?;
        Ok(serde_json::from_slice(&answer.to_json()).unwrap())
    };
    // The beginning of a PNG of 1024 by 1024 pixels: 765 tokens at gpt-4o, as OpenAI's example has it.
    let png = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAABAAAAAQACAIAAADwf7zU";
    for (url, model, tokens) in
        [(png, "gpt-4o", 765), (png, "gpt-4o-mini", 25_501), ("https://a.example/b", "gpt-4o", 4784)]
    {
        let text = counted(json!("Look."), json!({ "model": model })).unwrap();
        for image in [json!(url), json!({ "url": url, "detail": "high" })] {
            let content = json!([{ "type": "text", "text": "Look." }, { "type": "image_url", "image_url": image }]);
            assert_eq!(counted(content, json!({ "model": model })).unwrap(), text + tokens, "{model} {url}");
        }
        assert_eq!(text, counted(json!("Look."), json!({ "tokenizer": "o200k_base", "format": "openai" })).unwrap());
        assert_eq!(text, counted(json!("Look."), json!({ "model": model, "format": "generic" })).unwrap());
    }
    let code = |content: Value, options: Value| counted(content, options).unwrap_err().code();
    assert_eq!(code(json!("a"), json!({ "model": "no-such-model" })), Code::UnknownValue);
    let unknown = counted(json!("a"), json!({ "model": "no-such-model" })).unwrap_err();
    let expected = "`options.model` is `no-such-model`, an unknown model; correct the name, or leave it out and pass `options.tokenizer`";
    assert_eq!((unknown.message(), &unknown.details()["path"]), (expected, &json!("options.model")));
    assert_eq!(
        code(json!([{ "type": "text", "text": "a" }]), json!({ "tools": { "\u{0}size": 3 } })),
        Code::InvalidInput
    );
    assert_eq!(code(json!("a"), json!({ "format": "gemini" })), Code::UnknownValue);
    assert_eq!(code(json!([{ "type": "image_url", "image_url": 1 }]), json!({})), Code::InvalidInput);
    assert_eq!(code(json!([{ "type": "input_audio", "input_audio": {} }]), json!({})), Code::UnknownValue);
}
