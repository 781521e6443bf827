//! What each provider's body looks like, message by message.

use std::borrow::Cow;

use ctxweave::DiagnosticCode;
use ctxweave::content::{Block, Image, Media};
use ctxweave::prompt::bodies::{Hints, Provider, Target, write_body};
use ctxweave::prompt::{Message, Role};
use serde_json::{Value, json};

fn text(role: Role, text: &str) -> Message<'_> {
    parts(role, vec![say(text)])
}

fn parts(role: Role, content: Vec<Block<'_>>) -> Message<'_> {
    Message { role, content, node_ids: Vec::new(), spans: Vec::new() }
}

fn say(text: &str) -> Block<'_> {
    Block::text(text)
}

fn call<'a>(id: &'a str, name: &'a str, arguments: &'a Value) -> Block<'a> {
    Block::ToolCall { id: id.into(), name: name.into(), arguments: Cow::Borrowed(arguments), server: false }
}

fn answer<'a>(id: &'a str, text: &'a str) -> Block<'a> {
    Block::ToolResult { tool_call_id: id.into(), content: vec![say(text)], is_error: None, server: false }
}

fn think<'a>(text: &'a str, signature: &'a str) -> Block<'a> {
    Block::Reasoning { text: text.into(), signature: Some(signature.into()), redacted: false }
}

fn body(provider: Provider, system: Option<&str>, messages: &[Message<'_>]) -> (Value, Vec<DiagnosticCode>) {
    body_of(&Target::new(provider, "m"), system, messages)
}

fn body_of(target: &Target, system: Option<&str>, messages: &[Message<'_>]) -> (Value, Vec<DiagnosticCode>) {
    let mut diagnostics = Vec::new();
    let bytes = write_body(system, messages, target, &Hints::default(), &mut diagnostics).unwrap();
    let codes = diagnostics.iter().map(|diagnostic| diagnostic.code).collect();
    (serde_json::from_slice(&bytes).unwrap(), codes)
}

#[test]
fn plain_texts_are_plain_everywhere() {
    let messages = [text(Role::User, "Hi \"you\"\n"), text(Role::Assistant, "Hello")];
    let ours = json!([{ "role": "user", "content": "Hi \"you\"\n" }, { "role": "assistant", "content": "Hello" }]);
    let (anthropic, codes) = body(Provider::Anthropic, Some("Be brief."), &messages);
    assert_eq!(anthropic, json!({ "model": "m", "max_tokens": 1024, "system": "Be brief.", "messages": ours }));
    assert_eq!(codes, [DiagnosticCode::BodyMaxTokensAssumed, DiagnosticCode::BodyEndsWithAssistant]);
    let (chat, codes) = body(Provider::OpenAi, Some("Be brief."), &messages);
    assert_eq!(chat["messages"][0], json!({ "role": "system", "content": "Be brief." }));
    assert_eq!(chat["messages"][2], ours[1]);
    assert!(codes.is_empty());
    let (responses, _) = body(Provider::OpenAiResponses, Some("Be brief."), &messages);
    assert_eq!(responses, json!({ "model": "m", "instructions": "Be brief.", "input": ours }));
    let (gemini, _) = body(Provider::Gemini, Some("Be brief."), &messages);
    assert_eq!(
        gemini,
        json!({
            "systemInstruction": { "parts": [{ "text": "Be brief." }] },
            "contents": [
                { "role": "user", "parts": [{ "text": "Hi \"you\"\n" }] },
                { "role": "model", "parts": [{ "text": "Hello" }] },
            ],
        })
    );
}

#[test]
fn results_stand_directly_after_their_calls() {
    let (first, second) = (json!({ "q": 1 }), json!("{\"q\": 2}"));
    let messages = [
        text(Role::User, "Look it up."),
        parts(Role::Assistant, vec![say("Yes."), call("a", "find", &first), call("b", "find", &second)]),
        parts(Role::User, vec![say("Hurry."), answer("b", "two"), answer("a", "one")]),
    ];
    let (anthropic, codes) = body(Provider::Anthropic, None, &messages);
    assert_eq!(
        anthropic["messages"][2]["content"],
        json!([
            { "type": "tool_result", "tool_use_id": "a", "content": "one" },
            { "type": "tool_result", "tool_use_id": "b", "content": "two" },
            { "type": "text", "text": "Hurry." },
        ])
    );
    assert_eq!(anthropic["messages"][1]["content"][2]["input"], json!({ "q": 2 }));
    assert!(codes.contains(&DiagnosticCode::BodyPartMoved));
    let (chat, _) = body(Provider::OpenAi, None, &messages);
    let roles: Vec<_> = chat["messages"].as_array().unwrap().iter().map(|m| m["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["user", "assistant", "tool", "tool", "user"]);
    assert_eq!(chat["messages"][1]["tool_calls"][1]["function"]["arguments"], "{\"q\": 2}");
    let (responses, _) = body(Provider::OpenAiResponses, None, &messages);
    let kinds: Vec<_> = responses["input"].as_array().unwrap().iter().map(|i| i["type"].as_str()).collect();
    let (call, output) = (Some("function_call"), Some("function_call_output"));
    assert_eq!(kinds, [None, None, call, call, output, output, None]);
    let (gemini, _) = body(Provider::Gemini, None, &messages);
    assert_eq!(
        gemini["contents"][2]["parts"][0]["functionResponse"],
        json!({ "id": "a", "name": "find", "response": { "output": "one" } })
    );
    assert_eq!(gemini["contents"][3], json!({ "role": "user", "parts": [{ "text": "Hurry." }] }));
}

#[test]
fn a_result_without_its_call_is_never_sent() {
    let messages = [parts(Role::User, vec![say("So?"), answer("gone", "lost")])];
    for (_, provider) in &Provider::NAMES[..4] {
        let (body, codes) = body(*provider, None, &messages);
        assert!(codes.contains(&DiagnosticCode::ToolPairBroken));
        assert!(!body.to_string().contains("lost"), "{body}");
    }
}

#[test]
fn what_a_provider_cannot_show_is_said() {
    let image = |mime_type: &'static str| {
        Block::Image(Image {
            reference: Some("r".into()),
            mime_type: mime_type.into(),
            alt_text: Some("a cat".into()),
            media: Some(Media::Data("AAAA".into())),
            ..Image::default()
        })
    };
    let messages = [parts(Role::User, vec![image("image/jpg"), image("image/tiff")])];
    let (anthropic, codes) = body(Provider::Anthropic, None, &messages);
    assert_eq!(
        anthropic["messages"][0]["content"],
        json!([
            { "type": "image", "source": { "type": "base64", "media_type": "image/jpeg", "data": "AAAA" } },
            { "type": "text", "text": "[image: a cat]" },
        ])
    );
    assert!(codes.contains(&DiagnosticCode::BodyPartReplaced));
}

#[test]
fn ids_fit_and_stand_for_one_call_each() {
    let none = json!({});
    let messages = [
        text(Role::User, "Go."),
        parts(Role::Assistant, vec![call("x:1", "f", &none)]),
        parts(Role::User, vec![answer("x:1", "1")]),
        parts(Role::Assistant, vec![call("x:1", "f", &none)]),
        parts(Role::User, vec![answer("x:1", "2")]),
    ];
    let (anthropic, codes) = body(Provider::Anthropic, None, &messages);
    assert_eq!(anthropic["messages"][1]["content"][0]["id"], "x_1");
    assert_eq!(anthropic["messages"][4]["content"][0]["tool_use_id"], "x_1_2");
    assert_eq!(codes.iter().filter(|code| **code == DiagnosticCode::BodyIdChanged).count(), 2);
    // One that was made is taken, too.
    let also = [parts(Role::Assistant, vec![call("x_1_2", "f", &none)]), parts(Role::User, vec![answer("x_1_2", "3")])];
    let (anthropic, _) = body(Provider::Anthropic, None, &[messages.as_slice(), &also].concat());
    assert_eq!(anthropic["messages"][5]["content"][0]["id"], "x_1_2_2");
    assert_eq!(anthropic["messages"][6]["content"][0]["tool_use_id"], "x_1_2_2");
}

#[test]
fn a_target_is_read_as_it_is_given() {
    let read = |value: Value| Target::from_json(value.to_string().as_bytes()).map_err(|error| error.to_string());
    let target = read(json!({
        "provider": "openai", "model": "m", "maxTokens": 9, "temperature": 0.5, "stream": false,
        "tool_choice": null, "top_p": 0.1,
    }));
    let (body, codes) = body_of(&target.unwrap(), None, &[text(Role::User, "Hi.")]);
    let messages = json!([{ "role": "user", "content": "Hi." }]);
    let expected = json!({
        "model": "m", "messages": messages, "max_completion_tokens": 9, "temperature": 0.5, "stream": false, "top_p": 0.1,
    });
    assert_eq!((body, codes), (expected, vec![]));
    for (wrong, said) in [
        (json!("anthropic"), "the request must be an object with `provider` and `model`"),
        (json!({ "model": "m" }), "the request lacks `provider`"),
        (json!({ "provider": "anthropic" }), "the request lacks `model`"),
        (json!({ "provider": "gemini", "temperature": "hot" }), "`temperature` must be a number"),
        (json!({ "provider": "gemini", "stream": 1 }), "`stream` must be true or false"),
        (json!({ "provider": "gemini", "maxTokens": 1.5 }), "`maxTokens` must be a whole number from 0 to 4294967295"),
        (json!({ "provider": "gemini", "openingText": " " }), "`openingText` must be a text that is not blank"),
        (
            json!({ "provider": "gemini", "cache": { "messages": [0.5] } }),
            "`cache.messages` must be \"auto\" or a list of places",
        ),
        (
            json!({ "provider": "gemini", "cache": { "where": 1 } }),
            "there is no option `where`; there are `system`, `messages`, `ttl`",
        ),
    ] {
        assert_eq!(read(wrong).unwrap_err(), format!("invalid_input: {said}"));
    }
}

#[test]
fn a_temperature_is_sent_when_it_is_asked_for() {
    let target = Target { temperature: Some(json!(0.2)), ..Target::new(Provider::Anthropic, "m") };
    let (body, _) = body_of(&target, None, &[text(Role::User, "Hi.")]);
    assert_eq!(body["temperature"], json!(0.2));
}

/// A call that was never answered does not take the result of a later one of its id.
#[test]
fn a_result_belongs_to_the_nearest_call_of_its_id() {
    let (lost, kept) = (json!({ "n": 1 }), json!({ "n": 2 }));
    let messages = [
        text(Role::User, "Go."),
        parts(Role::Assistant, vec![say("Once."), call("a", "f", &lost)]),
        text(Role::User, "Again."),
        parts(Role::Assistant, vec![call("a", "f", &kept)]),
        parts(Role::User, vec![answer("a", "done")]),
    ];
    let (anthropic, codes) = body(Provider::Anthropic, None, &messages);
    assert_eq!(codes.iter().filter(|code| **code == DiagnosticCode::ToolPairBroken).count(), 1);
    assert_eq!(anthropic["messages"][1]["content"], "Once.");
    assert_eq!(anthropic["messages"][3]["content"][0]["input"], kept);
    assert_eq!(anthropic["messages"][4]["content"][0]["content"], "done");
}

/// Anthropic refuses a breakpoint on a thinking block.
#[test]
fn a_breakpoint_stands_behind_what_is_no_thought() {
    let target = Target::from_json(
        json!({ "provider": "anthropic", "model": "m", "cache": { "system": false, "messages": [1] } })
            .to_string()
            .as_bytes(),
    );
    let thought = think("Hm.", "sig");
    let messages =
        [text(Role::User, "Go."), parts(Role::Assistant, vec![say("I went."), thought]), text(Role::User, "And?")];
    let (body, _) = body_of(&target.unwrap(), None, &messages);
    let content = &body["messages"][1]["content"];
    assert_eq!(content[0], json!({ "type": "text", "text": "I went.", "cache_control": { "type": "ephemeral" } }));
    assert_eq!(content[1], json!({ "type": "thinking", "thinking": "Hm.", "signature": "sig" }));
}

/// What the target says of its last tool is not said again.
#[test]
fn a_tool_keeps_its_own_breakpoint() {
    let read = |tool: Value| {
        let cache = json!({ "system": true, "messages": [] });
        let target = json!({ "provider": "anthropic", "model": "m", "maxTokens": 9, "cache": cache, "tools": [tool] });
        let target = Target::from_json(target.to_string().as_bytes()).unwrap();
        let messages = [text(Role::User, "Go.")];
        String::from_utf8(write_body(None, &messages, &target, &Hints::default(), &mut Vec::new()).unwrap()).unwrap()
    };
    let own = read(json!({ "name": "f", "cache_control": { "type": "ephemeral", "ttl": "1h" } }));
    assert_eq!((own.matches("cache_control").count(), own.matches("1h").count()), (1, 1), "{own}");
    let given = read(json!({ "name": "f" }));
    assert_eq!(given.matches("cache_control").count(), 1, "{given}");
}

/// In Responses a tool is strict unless it says otherwise; what it says is said once.
#[test]
fn a_tool_says_once_whether_it_is_strict() {
    for (tool, expected) in [(json!({ "name": "f" }), "false"), (json!({ "name": "f", "strict": true }), "true")] {
        let target = json!({ "provider": "openai-responses", "model": "m", "tools": [tool] });
        let target = Target::from_json(target.to_string().as_bytes()).unwrap();
        let messages = [text(Role::User, "Go.")];
        let body = write_body(None, &messages, &target, &Hints::default(), &mut Vec::new()).unwrap();
        let body = String::from_utf8(body).unwrap();
        assert_eq!(body.matches("\"strict\"").count(), 1, "{body}");
        assert!(body.contains(&format!("\"strict\":{expected}")), "{body}");
    }
}

/// A signature goes on what the model did next; where it did nothing more, it stays with the thought.
#[test]
fn no_signature_of_a_thought_is_lost() {
    let messages = [
        text(Role::User, "Go."),
        parts(Role::Assistant, vec![think("One.", "s1"), think("Two.", "s2"), say("I go."), think("Three.", "s3")]),
        text(Role::User, "And?"),
    ];
    let (gemini, _) = body(Provider::Gemini, None, &messages);
    assert_eq!(
        gemini["contents"][1]["parts"],
        json!([
            { "text": "One.", "thought": true, "thoughtSignature": "s1" },
            { "text": "Two.", "thought": true },
            { "text": "I go.", "thoughtSignature": "s2" },
            { "text": "Three.", "thought": true, "thoughtSignature": "s3" },
        ])
    );
}
