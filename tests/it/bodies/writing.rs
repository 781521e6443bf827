//! What each provider's body looks like, message by message.

use std::borrow::Cow;

use ctxweave::DiagnosticCode;
use ctxweave::content::Role;
use ctxweave::content::{Block, Image, Media};
use ctxweave::prompt::Message;
use ctxweave::prompt::bodies::{CacheSettings, CacheTtl, Hints, Provider, Target, write_body, write_completion};
use serde_json::{Value, json};

use super::rules::broken;

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
    Block::ToolCall { id: id.into(), name: name.into(), arguments: Box::new(Cow::Borrowed(arguments)), server: false }
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
fn content_that_a_provider_cannot_show_is_reported() {
    let image = |mime_type: &'static str| {
        Block::Image(Box::new(Image {
            reference: Some("r".into()),
            mime_type: mime_type.into(),
            alt_text: Some("a cat".into()),
            media: Some(Media::Data("AAAA".into())),
            ..Image::default()
        }))
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
            "unknown option `where`; known: `system`, `messages`, `ttl`",
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
fn a_breakpoint_follows_content_other_than_thoughts() {
    let target = Target::from_json(
        json!({ "provider": "anthropic", "model": "m", "cache": { "system": false, "messages": [1] } })
            .to_string()
            .as_bytes(),
    )
    .unwrap();
    let thought = json!({ "type": "thinking", "thinking": "Hm.", "signature": "sig" });
    let messages = |first: Vec<Block<'static>>| {
        [
            text(Role::User, "Go."),
            parts(Role::Assistant, first),
            text(Role::Assistant, "I go."),
            text(Role::User, "And?"),
        ]
    };
    let (body, _) = body_of(&target, None, &messages(vec![think("Hm.", "sig"), say("I went.")]));
    let marked = json!({ "type": "text", "text": "I went.", "cache_control": { "type": "ephemeral" } });
    assert_eq!(body["messages"][1]["content"], json!([thought, marked, { "type": "text", "text": "I go." }]));
    // A message that is nothing else has no place for one.
    let (body, _) = body_of(&target, None, &messages(vec![think("Hm.", "sig")]));
    assert_eq!(body["messages"][1]["content"], json!([thought, { "type": "text", "text": "I go." }]));
}

/// Anthropic refuses a turn that ends in a thought, and Responses a thought that nothing came of.
#[test]
fn a_thought_stands_where_the_provider_takes_it() {
    let messages = [
        text(Role::User, "Go."),
        parts(Role::Assistant, vec![think("One.", "s1"), say("I go."), think("Two.", "s2")]),
        parts(Role::Assistant, vec![say("Still."), think("Three.", "s3")]),
        text(Role::User, "And?"),
        parts(Role::Assistant, vec![think("Four.", "s4")]),
    ];
    for (provider, kept) in [(Provider::Anthropic, 2), (Provider::OpenAiResponses, 2), (Provider::Gemini, 4)] {
        let (body, codes) = body(provider, None, &messages);
        let said = body.to_string();
        let thoughts = ["One.", "Two.", "Three.", "Four."].iter().filter(|thought| said.contains(*thought)).count();
        assert_eq!(thoughts, kept, "{body:#}");
        let left_out = codes.iter().filter(|code| **code == DiagnosticCode::BodyReasoningLeftOut).count();
        assert_eq!(left_out, 4 - kept);
        assert_eq!(broken(provider, &body), Ok(()));
    }
}

/// The failure of a tool is written as text, since Anthropic accepts nothing else.
#[test]
fn a_failed_result_is_a_text() {
    let none = json!({});
    let failed = |content: Vec<Block<'static>>| Block::ToolResult {
        tool_call_id: "a".into(),
        content,
        is_error: Some(true),
        server: false,
    };
    let of = |content: Vec<Block<'static>>| {
        let messages = [
            text(Role::User, "Go."),
            parts(Role::Assistant, vec![call("a", "shoot", &none)]),
            parts(Role::User, vec![failed(content), say("So?")]),
        ];
        let (anthropic, codes) = body(Provider::Anthropic, None, &messages);
        assert_eq!(broken(Provider::Anthropic, &anthropic), Ok(()));
        (anthropic["messages"][2]["content"].clone(), codes)
    };
    let result =
        |content: Value| json!({ "type": "tool_result", "tool_use_id": "a", "content": content, "is_error": true });
    let so = json!({ "type": "text", "text": "So?" });
    for empty in [vec![], vec![say("")], vec![say(" "), say("\n")]] {
        let (content, codes) = of(empty);
        assert_eq!(content, json!([result(json!("The tool failed and said nothing.")), so]));
        assert!(codes.contains(&DiagnosticCode::BodyPartReplaced));
    }
    let image = Block::Image(Box::new(Image {
        mime_type: "image/png".into(),
        media: Some(Media::Data("AAAA".into())),
        ..Image::default()
    }));
    let (content, codes) = of(vec![say("No light."), image]);
    let shown = json!({ "type": "image", "source": { "type": "base64", "media_type": "image/png", "data": "AAAA" } });
    let texts = json!([{ "type": "text", "text": "No light." }, { "type": "text", "text": "[image]" }]);
    let label = json!({ "type": "text", "text": "[shown by the result of shoot (a)]" });
    assert_eq!(content, json!([result(texts), label, shown, so]));
    assert!(codes.contains(&DiagnosticCode::BodyPartMoved));
}

/// A name is the same wherever a body has it, and no two tools come to have one.
#[test]
fn names_of_tools_are_ones_that_the_provider_takes() {
    let none = json!({});
    let messages = [
        text(Role::User, "Go."),
        parts(
            Role::Assistant,
            vec![call("a", "my tool!", &none), call("b", "my_tool_", &none), call("c", "9.x:y", &none)],
        ),
        parts(Role::User, vec![answer("a", "1"), answer("b", "2"), answer("c", "3")]),
    ];
    let names = |provider: &str, tools: &str, name: &str, calls: &str| {
        let defined = [json!({ "name": "my tool!" }), json!({ "name": "9.x:y" })];
        let target = json!({ "provider": provider, "model": "m", "maxTokens": 9, "tools": defined });
        let target = Target::from_json(target.to_string().as_bytes()).unwrap();
        let (body, codes) = body_of(&target, None, &messages);
        assert_eq!(codes.iter().filter(|code| **code == DiagnosticCode::BodyNameChanged).count(), 2, "{codes:?}");
        let at = |path: &str| body.pointer(path).unwrap_or_else(|| panic!("{path} in {body:#}")).clone();
        let tool = |number: usize| at(&format!("{tools}/{number}{name}"));
        // Steps are in the list of the messages.
        let first = usize::from(provider == "gemini-interactions");
        let called = |number: usize| at(&calls.replace('*', &(number + first).to_string()));
        assert_eq!((tool(0), tool(1)), (called(0), called(2)));
        assert_eq!(called(1), "my_tool_");
        [called(0), called(2)]
    };
    let plain = ["my_tool__2", "9_x_y"];
    assert_eq!(names("anthropic", "/tools", "/name", "/messages/1/content/*/name"), plain);
    assert_eq!(names("openai", "/tools", "/function/name", "/messages/1/tool_calls/*/function/name"), plain);
    let gemini = names("gemini", "/tools/0/functionDeclarations", "/name", "/contents/1/parts/*/functionCall/name");
    assert_eq!(gemini, ["my_tool__2", "_9.x:y"]);
    assert_eq!(names("gemini-interactions", "/tools", "/name", "/input/*/name"), gemini);
}

/// So it is in definitions of the vendor's own shape and in the choice of a tool; tools that the vendor runs keep their names.
#[test]
fn a_changed_name_is_the_same_in_every_shape() {
    let none = json!({});
    let messages = [
        text(Role::User, "Go."),
        parts(Role::Assistant, vec![call("a", "my tool!", &none)]),
        parts(Role::User, vec![answer("a", "1")]),
    ];
    let schema = json!({ "type": "object", "name": "my tool!" });
    let cases = [
        (
            "anthropic",
            json!({
                "tools": [
                    { "name": "my tool!", "input_schema": schema },
                    { "type": "web_search_20250305", "name": "my_tool_" },
                    { "type": "custom", "name": "b c", "input_schema": schema },
                ],
                "tool_choice": { "type": "tool", "name": "my tool!" },
                "metadata": { "name": "my tool!" },
            }),
            json!([
                { "name": "my_tool__2", "input_schema": schema },
                { "type": "web_search_20250305", "name": "my_tool_" },
                { "type": "custom", "name": "b_c", "input_schema": schema },
            ]),
            "tool_choice",
            json!({ "type": "tool", "name": "my_tool__2" }),
        ),
        (
            "openai",
            json!({
                "tools": [
                    { "type": "function", "function": { "name": "my tool!", "parameters": schema } },
                    { "type": "custom", "custom": { "name": "b c" } },
                ],
                "tool_choice": { "type": "function", "function": { "name": "my tool!" } },
            }),
            json!([
                { "type": "function", "function": { "name": "my_tool_", "parameters": schema } },
                { "type": "custom", "custom": { "name": "b_c" } },
            ]),
            "tool_choice",
            json!({ "type": "function", "function": { "name": "my_tool_" } }),
        ),
        (
            "openai-responses",
            json!({
                "tools": [
                    { "type": "function", "name": "my tool!", "parameters": schema },
                    { "type": "mcp", "server_label": "s", "allowed_tools": ["my tool!", "b c"] },
                    { "type": "custom", "name": "b c" },
                ],
                "tool_choice": { "type": "allowed_tools", "mode": "auto", "tools": [{ "type": "function", "name": "my tool!" }] },
            }),
            json!([
                { "type": "function", "name": "my_tool_", "parameters": schema },
                { "type": "mcp", "server_label": "s", "allowed_tools": ["my tool!", "b c"] },
                { "type": "custom", "name": "b_c" },
            ]),
            "tool_choice",
            json!({ "type": "allowed_tools", "mode": "auto", "tools": [{ "type": "function", "name": "my_tool_" }] }),
        ),
        (
            "gemini",
            json!({
                "tools": [
                    { "functionDeclarations": [{ "name": "my tool!", "parametersJsonSchema": schema }, { "name": "b c" }] },
                    { "function_declarations": [{ "name": "d" }] },
                ],
                "tool_config": { "function_calling_config": { "allowed_function_names": ["b c"] } },
                "toolConfig": { "functionCallingConfig": { "mode": "ANY", "allowedFunctionNames": ["my tool!", "x"] } },
            }),
            json!([
                { "functionDeclarations": [{ "name": "my_tool_", "parametersJsonSchema": schema }, { "name": "b_c" }] },
                { "function_declarations": [{ "name": "d" }] },
            ]),
            "toolConfig",
            json!({ "functionCallingConfig": { "mode": "ANY", "allowedFunctionNames": ["my_tool_", "x"] } }),
        ),
    ];
    for (provider, given, tools, choice, chosen) in cases {
        let mut target = json!({ "provider": provider, "model": "m", "maxTokens": 9 });
        target.as_object_mut().unwrap().extend(given.as_object().unwrap().clone());
        let target = Target::from_json(target.to_string().as_bytes()).unwrap();
        let (body, codes) = body_of(&target, None, &messages);
        assert_eq!(broken(target.provider, &body), Ok(()), "{body:#}");
        assert_eq!(body["tools"], tools, "{provider}");
        assert_eq!(body[choice], chosen, "{provider}");
        assert_eq!(body["metadata"], given["metadata"]);
        let snake = body.pointer("/tool_config/function_calling_config/allowed_function_names/0");
        assert!(snake.is_none_or(|name| name == "b_c"));
        assert_eq!(codes.iter().filter(|code| **code == DiagnosticCode::BodyNameChanged).count(), 2, "{codes:?}");
    }
}

/// A breakpoint that the target sets on its last tool is not set twice.
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
    // Its own takes the place of ours; with that of another tool there is room for two more.
    let own = |name: &str| json!({ "name": name, "cache_control": { "type": "ephemeral" } });
    let target = json!({
        "provider": "anthropic", "model": "m", "maxTokens": 9, "cache": { "messages": [0, 1, 2] },
        "tools": [own("f"), own("g")],
    });
    let messages = [text(Role::User, "One."), text(Role::Assistant, "Two."), text(Role::User, "Three.")];
    let (body, codes) = body_of(&Target::from_json(target.to_string().as_bytes()).unwrap(), None, &messages);
    let marks = body.to_string().matches("cache_control").count();
    assert_eq!((marks, codes), (4, vec![DiagnosticCode::BodyCacheCapped]));
}

/// Anthropic takes four breakpoints in all: those that the target brings stay, and ours are as many as there is room for.
#[test]
fn breakpoints_of_the_target_count_too() {
    let mark = json!({ "type": "ephemeral" });
    let of = |own: usize, neutral: bool, more: Value, system: Option<&str>| {
        let tool = |at: usize| match neutral {
            true => json!({ "name": format!("f{at}"), "cache_control": mark }),
            false => json!({ "name": format!("f{at}"), "input_schema": { "type": "object" }, "cache_control": mark }),
        };
        let tools: Vec<Value> = (0..own).map(tool).chain([json!({ "name": "g" })]).collect();
        let mut target = json!({ "provider": "anthropic", "model": "m", "maxTokens": 9, "tools": tools });
        target.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let target = Target::from_json(target.to_string().as_bytes()).unwrap();
        let messages = [text(Role::User, "One."), text(Role::Assistant, "Two."), text(Role::User, "Three.")];
        let (body, codes) = body_of(&target, system, &messages);
        let said = body.to_string();
        let in_messages = body["messages"].to_string().matches("cache_control").count();
        let capped = codes.iter().filter(|code| **code == DiagnosticCode::BodyCacheCapped).count();
        assert_eq!(broken(target.provider, &body).is_ok(), said.matches("cache_control").count() <= 4, "{body:#}");
        (said.matches("cache_control").count() - in_messages, in_messages, capped)
    };
    let all = || json!({ "cache": { "messages": [0, 1, 2] } });
    for neutral in [false, true] {
        // One for the system context, or after the last tool, is ours.
        assert_eq!(of(0, neutral, all(), Some("Be kind.")), (1, 3, 0));
        assert_eq!(of(1, neutral, all(), None), (2, 2, 1));
        assert_eq!(of(2, neutral, all(), Some("Be kind.")), (3, 1, 1));
        assert_eq!(of(2, neutral, json!({ "cache": true }), Some("Be kind.")), (3, 1, 1));
        assert_eq!(of(3, neutral, all(), Some("Be kind.")), (4, 0, 1));
        assert_eq!(of(4, neutral, all(), Some("Be kind.")), (4, 0, 1));
        assert_eq!(of(4, neutral, json!({}), None), (4, 0, 0));
        // The target's own are the caller's.
        assert_eq!(of(5, neutral, json!({}), None), (5, 0, 1));
        assert_eq!(of(5, neutral, json!({ "cache": true }), None), (5, 0, 2));
    }
    let top = |mut more: Value| {
        more["cache_control"] = mark.clone();
        more
    };
    assert_eq!(of(0, true, top(all()), Some("Be kind.")), (2, 2, 1));
    assert_eq!(of(3, true, top(all()), Some("Be kind.")), (4, 0, 1));
    assert_eq!(of(4, true, top(json!({})), None), (5, 0, 1));
    // A system context that the target alone has.
    let system = json!([{ "type": "text", "text": "a", "cache_control": mark }]);
    assert_eq!(of(2, true, json!({ "system": system, "cache": { "messages": [0, 2] } }), None), (4, 0, 1));
}

/// In Responses a tool is strict unless it sets `strict`, which is written once.
#[test]
fn a_tool_is_marked_strict_once() {
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

/// A signature is written on the model's next part; without one it stays with the thought.
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

/// A missing media type is detected from the bytes or the URL; a provider that detects it itself needs none.
#[test]
fn an_image_of_any_kind_is_shown() {
    let image = |mime: &'static str, media: Media<'static>| {
        Block::Image(Box::new(Image { mime_type: mime.into(), media: Some(media), ..Image::default() }))
    };
    let data = |data: &'static str| image("image/*", Media::Data(data.into()));
    let at = |mime, url: &'static str| image(mime, Media::Url(url.into()));
    let show = |provider, image| body(provider, None, &[parts(Role::User, vec![image])]);
    for (image, mime) in [
        (data("iVBORw0KGgoAAAAN"), "image/png"),
        (data("/9j/4AAQ"), "image/jpeg"),
        (data("R0lGODlh"), "image/gif"),
        (data("UklGRiQAAABXRUJQVlA4"), "image/webp"),
    ] {
        let (anthropic, codes) = show(Provider::Anthropic, image);
        assert_eq!(anthropic["messages"][0]["content"][0]["source"]["media_type"], mime);
        assert!(!codes.contains(&DiagnosticCode::BodyPartReplaced));
    }
    let url = "https://a.example/cat?size=2.png";
    let (anthropic, _) = show(Provider::Anthropic, at("image/*", url));
    let source = json!({ "type": "image", "source": { "type": "url", "url": url } });
    assert_eq!(anthropic["messages"][0]["content"], json!([source]));
    let (chat, _) = show(Provider::OpenAi, at("", url));
    assert_eq!(chat["messages"][0]["content"][0]["image_url"], json!({ "url": url }));
    let (responses, _) = show(Provider::OpenAiResponses, at("image/*", url));
    assert_eq!(responses["input"][0]["content"][0]["image_url"], url);
    // Gemini requires a media type.
    let (_, codes) = show(Provider::Gemini, at("image/*", url));
    assert!(codes.contains(&DiagnosticCode::BodyPartReplaced));
    let (gemini, codes) = show(Provider::Gemini, at("image/*", "https://a.example/cat.JPG?x#y"));
    assert_eq!(gemini["contents"][0]["parts"][0]["fileData"]["mimeType"], "image/jpeg");
    assert!(codes.is_empty());
    for refused in [data("Qk0="), at("image/tiff", url), image("image/svg+xml", Media::Data("iVBORw0KGgo".into()))] {
        let (_, codes) = show(Provider::Anthropic, refused);
        assert!(codes.contains(&DiagnosticCode::BodyPartReplaced));
    }
}

/// OpenAI's reasoning models refuse `max_tokens`; servers that are only like OpenAI know no other name.
#[test]
fn a_field_has_the_name_that_the_model_takes() {
    let written = |model: &str, more: Value| {
        let mut target = json!({ "provider": "openai", "model": model, "max_tokens": 7 });
        target.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let target = Target::from_json(target.to_string().as_bytes()).unwrap();
        let (body, codes) = body_of(&target, None, &[text(Role::User, "Hi.")]);
        let fields = ["max_tokens", "max_completion_tokens"].map(|name| body[name].as_u64());
        (fields, codes)
    };
    for model in ["o1", "o3-mini", "o4-mini-2025-04-16", "gpt-5", "gpt-5.1-codex", "openai/gpt-5-nano"]
        .into_iter()
        .chain(["GPT-5", "ft:o4-mini-2025-04-16:org::id", "ft:gpt-5:x", "codex-mini-latest", "gpt-6-sol"])
    {
        assert_eq!(written(model, json!({})), ([None, Some(7)], vec![DiagnosticCode::BodyFieldRenamed]), "{model}");
    }
    for model in ["gpt-4o", "gpt-50", "o10", "llama-3", "mo1", "ft:gpt-4o:x", "GPT-4o"] {
        assert_eq!(written(model, json!({})), ([Some(7), None], vec![]), "{model}");
    }
    // Every model rejects both together: the one that every model accepts stays.
    for model in ["o3", "gpt-4o"] {
        let both = written(model, json!({ "maxTokens": 9 }));
        assert_eq!(both, ([None, Some(9)], vec![DiagnosticCode::BodyFieldUnused]));
        let both = written(model, json!({ "max_completion_tokens": 5 }));
        assert_eq!(both, ([None, Some(5)], vec![DiagnosticCode::BodyFieldUnused]));
    }
}

/// The limit of the answer has the provider's own name, whosever name the target gives it.
#[test]
fn a_limit_of_the_answer_has_the_providers_name() {
    const NAMES: [&str; 4] = ["max_completion_tokens", "max_output_tokens", "maxOutputTokens", "max_tokens"];
    let (renamed, unused) = (DiagnosticCode::BodyFieldRenamed, DiagnosticCode::BodyFieldUnused);
    let written = |provider: &str, more: Value| {
        let mut target = json!({ "provider": provider, "model": "m" });
        target.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let target = Target::from_json(target.to_string().as_bytes()).unwrap();
        let mut diagnostics = Vec::new();
        let bytes = match target.provider {
            Provider::Completion => write_completion(None, "Hi.", &target, &mut diagnostics),
            _ => write_body(None, &[text(Role::User, "Hi.")], &target, &Hints::default(), &mut diagnostics),
        };
        let body: Value = serde_json::from_slice(&bytes.unwrap()).unwrap();
        let config =
            ["generationConfig", "generation_config"].map(|name| body[name].as_object().cloned().unwrap_or_default());
        let config = config.into_iter().flatten();
        let limits: Vec<_> = body.as_object().unwrap().clone().into_iter().chain(config).collect();
        let limits: Vec<_> = limits.into_iter().filter(|(name, _)| NAMES.contains(&name.as_str())).collect();
        (json!(limits), diagnostics.iter().map(|diagnostic| diagnostic.code).collect::<Vec<_>>())
    };
    for (provider, name) in [
        ("anthropic", "max_tokens"),
        ("openai", "max_completion_tokens"),
        ("openai-responses", "max_output_tokens"),
        ("gemini", "maxOutputTokens"),
        ("gemini-interactions", "max_output_tokens"),
        ("completion", "max_tokens"),
    ] {
        let is = |tokens: u64| json!([[name, tokens]]);
        for other in NAMES {
            if other == name || (other, provider) == ("max_tokens", "openai") {
                continue;
            }
            assert_eq!(written(provider, json!({ other: 7 })), (is(7), vec![renamed]), "{provider} {other}");
            assert_eq!(
                written(provider, json!({ other: 7, "maxTokens": 5 })),
                (is(5), vec![unused]),
                "{provider} {other}"
            );
            let (own_name, own) = match provider {
                "gemini" => ("generationConfig", json!({ "maxOutputTokens": 5 })),
                "gemini-interactions" => ("generation_config", json!({ "max_output_tokens": 5 })),
                _ => (name, json!(5)),
            };
            assert_eq!(
                written(provider, json!({ other: 7, own_name: own })),
                (is(5), vec![unused]),
                "{provider} {other}"
            );
        }
        let all = json!({ "max_completion_tokens": 1, "max_output_tokens": 1, "maxOutputTokens": 1, "max_tokens": 1 });
        assert_eq!(written(provider, all).0, is(1), "{provider}");
    }
    // What Gemini has in another place is no limit twice.
    let both = json!({ "max_tokens": 7, "generationConfig": { "topK": 5 } });
    assert_eq!(written("gemini", both), (json!([["maxOutputTokens", 7]]), vec![renamed]));
}

/// With thinking on Anthropic wants a thought first where results come last.
#[test]
fn with_thinking_on_the_calls_that_are_answered_last_begin_with_a_thought() {
    let none: &'static Value = Box::leak(Box::new(json!({})));
    let mut target = Target::new(Provider::Anthropic, "m");
    target.fields.insert("thinking".to_owned(), json!({ "type": "enabled", "budget_tokens": 1024 }));
    let messages = |thought: Option<Block<'static>>| {
        let calls: Vec<Block<'static>> = thought.into_iter().chain([call("a", "f", none)]).collect();
        [
            text(Role::User, "q"),
            text(Role::Assistant, "a"),
            parts(Role::Assistant, calls),
            parts(Role::User, vec![answer("a", "r")]),
        ]
    };
    let kinds = |body: &Value| -> Vec<String> {
        let blocks = body["messages"][1]["content"].as_array().unwrap();
        blocks.iter().map(|block| block["type"].as_str().unwrap().to_owned()).collect()
    };
    let (body, codes) = body_of(&target, None, &messages(Some(think("hm", "s"))));
    assert_eq!(kinds(&body), ["thinking", "text", "tool_use"]);
    assert_eq!(codes.iter().filter(|code| **code == DiagnosticCode::BodyPartMoved).count(), 1, "{codes:?}");
    assert!(!codes.contains(&DiagnosticCode::BodyReasoningLeftOut));
    let (body, codes) = body_of(&target, None, &messages(None));
    assert_eq!(kinds(&body), ["text", "tool_use"]);
    assert!(codes.contains(&DiagnosticCode::BodyReasoningLeftOut));
    target.drop_reasoning = true;
    let (_, codes) = body_of(&target, None, &messages(Some(think("hm", "s"))));
    assert_eq!(codes.iter().filter(|code| **code == DiagnosticCode::BodyReasoningLeftOut).count(), 2);
    // Where the user speaks last, and where thinking is off, nothing is wanted.
    target.fields.insert("thinking".to_owned(), json!({ "type": "disabled" }));
    let (_, codes) = body_of(&target, None, &messages(None));
    assert!(!codes.contains(&DiagnosticCode::BodyReasoningLeftOut));
}

#[test]
fn an_item_of_reasoning_stands_once() {
    let item = r#"{"type":"reasoning","id":"rs_9","encrypted_content":"x"}"#;
    let messages = [
        text(Role::User, "q"),
        parts(Role::Assistant, vec![think("hm", item), say("a")]),
        parts(Role::Assistant, vec![think("hm", item), say("b")]),
    ];
    let (body, codes) = body(Provider::OpenAiResponses, None, &messages);
    assert_eq!(body.to_string().matches("rs_9").count(), 1);
    assert_eq!(codes.iter().filter(|code| **code == DiagnosticCode::BodyReasoningLeftOut).count(), 1);
}

#[test]
fn an_image_is_what_its_bytes_are() {
    let image = |mime: &'static str, data: &'static str| {
        Block::Image(Box::new(Image {
            mime_type: mime.into(),
            media: Some(Media::Data(data.into())),
            ..Image::default()
        }))
    };
    for (mime, data, real, told) in [
        ("image/jpeg", "iVBORw0KGgoAAAAN", "image/png", true),
        ("image/png", "iVBORw0KGgoAAAAN", "image/png", false),
        ("image/jpg", "/9j/4AAQ", "image/jpeg", false),
        ("image/png", "AAAA", "image/png", false),
    ] {
        let (anthropic, codes) = body(Provider::Anthropic, None, &[parts(Role::User, vec![image(mime, data)])]);
        assert_eq!(anthropic["messages"][0]["content"][0]["source"]["media_type"], real, "{mime}");
        assert_eq!(codes.contains(&DiagnosticCode::BodyPartReplaced), told, "{mime}");
    }
}

#[test]
fn parameters_that_say_nothing_are_those_of_an_object() {
    let schema = json!({ "type": "object", "properties": {} });
    for (provider, path) in [
        (Provider::Anthropic, "/tools/0/input_schema"),
        (Provider::OpenAi, "/tools/0/function/parameters"),
        (Provider::OpenAiResponses, "/tools/0/parameters"),
        (Provider::Gemini, "/tools/0/functionDeclarations/0/parametersJsonSchema"),
        (Provider::GeminiInteractions, "/tools/0/parameters"),
    ] {
        let target = Target { tools: vec![json!({ "name": "f", "parameters": {} })], ..Target::new(provider, "m") };
        let (body, _) = body_of(&target, None, &[text(Role::User, "q")]);
        assert_eq!(body.pointer(path), Some(&schema), "{body}");
    }
}

/// Anthropic rejects a one-hour breakpoint after a five-minute one.
#[test]
fn no_breakpoint_lasts_longer_than_one_before_it() {
    for (ttl, short) in [(json!(null), true), (json!("5m"), true), (json!("1h"), false)] {
        let mut control = json!({ "type": "ephemeral" });
        if !ttl.is_null() {
            control["ttl"] = ttl;
        }
        let cache = CacheSettings { ttl: Some(CacheTtl::OneHour), ..CacheSettings::default() };
        let target = Target {
            tools: vec![json!({ "name": "f", "cache_control": control }), json!({ "name": "g" })],
            cache: Some(cache),
            ..Target::new(Provider::Anthropic, "m")
        };
        let (body, codes) = body_of(&target, Some("s"), &[text(Role::User, "q")]);
        let ours = &body["system"][0]["cache_control"];
        assert_eq!(ours.get("ttl").is_none(), short, "{body}");
        assert_eq!(codes.contains(&DiagnosticCode::BodyCacheCapped), short);
    }
}
