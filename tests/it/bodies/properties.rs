//! What holds of every body, for random conversations.

use std::borrow::Cow;

use ctxweave::content::Role;
use ctxweave::content::{Block, Image, Media};
use ctxweave::loom::{assemble_dialogue, request_body, request_body_bytes};
use ctxweave::prompt::Message;
use ctxweave::prompt::bodies::{CacheMessages, CacheSettings, Hints, Provider, Target, escape_into, write_body};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::rules::{broken, strings};
use crate::generate::{COUNTERS, case, cases, text};
use crate::model::trimmed;

const CHATS: [Provider; 5] =
    [Provider::Anthropic, Provider::OpenAi, Provider::OpenAiResponses, Provider::Gemini, Provider::GeminiInteractions];

/// A part of a message before it is one: texts, calls and results with few ids, so that they meet and miss each other.
#[derive(Clone, Debug)]
enum Seed {
    Say(String),
    /// Id, tool and arguments.
    Call(usize, usize, usize),
    /// Id, text, whether it failed, and an image.
    Response(usize, String, bool, Option<usize>),
    Think(String, Option<String>),
    Show(usize),
}

const IDS: [&str; 4] = ["a", "b", "call: b", "a_2"];
const TOOLS: [&str; 5] = ["look_up", "my tool!", "my_tool_", "9.lives", LONG];
/// The first hundred bytes do not tell it from others.
const LONG: &str = "mcp__a_server_with_a_long_name__a_tool_with_a_long_name_of_its_own_and_then_some_more_and_a_bit_beyond_the_limit_of_128_bytes_a";
const MIMES: [&str; 3] = ["image/png", "image/tiff", "IMAGE/JPG"];

fn seed() -> impl Strategy<Value = Seed> {
    prop_oneof![
        3 => text().prop_map(Seed::Say),
        3 => (0..4usize, 0..5usize, 0..5usize).prop_map(|(id, tool, arguments)| Seed::Call(id, tool, arguments)),
        3 => (0..4usize, prop_oneof![3 => text(), 1 => Just(" ".to_owned())], any::<bool>(), prop::option::weighted(0.3, 0..3usize))
            .prop_map(|(id, text, failed, image)| Seed::Response(id, text, failed, image)),
        1 => (text(), prop::option::of(Just("c2ln".to_owned()))).prop_map(|(text, sign)| Seed::Think(text, sign)),
        1 => (0..3usize).prop_map(Seed::Show),
    ]
}

fn conversation() -> impl Strategy<Value = Vec<(Role, Vec<Seed>)>> {
    let role = prop::sample::select(vec![Role::User, Role::Assistant, Role::User, Role::Assistant, Role::System]);
    prop::collection::vec((role, prop::collection::vec(seed(), 0..4)), 0..9)
}

fn image(mime: usize) -> Block<'static> {
    Block::Image(Box::new(Image {
        reference: Some("r".into()),
        mime_type: MIMES[mime].into(),
        alt_text: Some("a cat".into()),
        media: Some(Media::Data("AAAA".into())),
        ..Image::default()
    }))
}

fn messages<'a>(seeds: &'a [(Role, Vec<Seed>)], arguments: &'a [Value]) -> Vec<Message<'a>> {
    let part = |seed: &'a Seed| match seed {
        Seed::Say(text) => Block::text(text),
        Seed::Call(id, tool, at) => Block::ToolCall {
            id: IDS[*id].into(),
            name: TOOLS[*tool].into(),
            arguments: Box::new(Cow::Borrowed(&arguments[*at])),
            server: false,
        },
        Seed::Response(id, text, failed, mime) => Block::ToolResult {
            tool_call_id: IDS[*id].into(),
            content: std::iter::once(Block::text(text)).chain(mime.map(image)).collect(),
            is_error: failed.then_some(true),
            server: false,
        },
        Seed::Think(text, signature) => {
            Block::Reasoning { text: text.into(), signature: signature.as_deref().map(Cow::Borrowed), redacted: false }
        }
        Seed::Show(mime) => image(*mime),
    };
    let message = |(role, seeds): &'a (Role, Vec<Seed>)| {
        // System messages are texts only.
        let content = match role {
            Role::System => vec![Block::text("Be kind.")],
            _ => seeds.iter().map(part).collect(),
        };
        Message { role: *role, content, node_ids: Vec::new(), spans: Vec::new() }
    };
    seeds.iter().map(message).collect()
}

/// The texts that have to be in a body: those of results only where their call is there too.
fn texts<'m>(messages: &'m [Message<'_>]) -> Vec<&'m str> {
    let blocks = messages.iter().flat_map(|message| &message.content);
    let mut texts: Vec<&str> = blocks.filter_map(Block::as_text).collect();
    texts.retain(|text| !trimmed(text).is_empty());
    texts
}

/// A definition as the provider has it.
fn own_tool(provider: Provider, name: &str) -> Value {
    match provider {
        Provider::Anthropic => json!({ "name": name, "input_schema": { "type": "object" } }),
        Provider::OpenAi => json!({ "type": "function", "function": { "name": name } }),
        Provider::OpenAiResponses | Provider::GeminiInteractions => json!({ "type": "function", "name": name }),
        Provider::Gemini => json!({ "functionDeclarations": [{ "name": name }] }),
        Provider::Completion => json!(null),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(200)))]

    /// Whatever the messages, the body follows the provider's rules and contains the whole conversation.
    #[test]
    fn bodies_keep_the_rules(
        seeds in conversation(),
        system in prop::option::of(text()),
        tools in 0..3usize,
        marks in 0..4usize,
        top in any::<bool>(),
        thinking in prop::option::of(prop::sample::select(vec!["enabled", "adaptive", "between_tools", "disabled"])),
        model in prop::sample::select(vec!["m", "moonshotai/kimi-k3", "minimax-m3"]),
    ) {
        let arguments = [json!({}), json!("{\"q\": 1}"), json!("not json"), json!([1, 2]), json!(null)];
        let messages = messages(&seeds, &arguments);
        for provider in CHATS {
            let mut target = Target::new(provider, model);
            target.cache = Some(CacheSettings { messages: CacheMessages::At(vec![0, 1, 2, 3, -1]), ..CacheSettings::default() });
            target.max_tokens = thinking.map(|_| 100);
            if let (Provider::Anthropic, Some(kind)) = (provider, thinking) {
                target.fields.insert("thinking".to_owned(), json!({ "type": kind }));
            }
            let tool = if tools == 1 { |_: Provider, name: &str| json!({ "name": name }) } else { own_tool };
            if tools > 0 {
                target.tools = TOOLS.iter().map(|name| tool(provider, name)).collect();
            }
            if provider == Provider::Anthropic {
                let mark = json!({ "type": "ephemeral" });
                target.tools.iter_mut().rev().take(marks).for_each(|tool| tool["cache_control"] = mark.clone());
                target.fields.extend(top.then(|| ("cache_control".to_owned(), mark)));
            }
            let mut diagnostics = Vec::new();
            let bytes = write_body(system.as_deref(), &messages, &target, &Hints::default(), &mut diagnostics).unwrap();
            let body: Value = serde_json::from_slice(&bytes).unwrap();
            let verdict = broken(provider, &body);
            prop_assert!(verdict.is_ok(), "{provider:?}: {verdict:?}\n{body:#}");
            let mut said = Vec::new();
            strings(&body, &mut said);
            for text in texts(&messages).into_iter().chain(system.as_deref()) {
                prop_assert!(said.iter().any(|said| said.contains(text)), "{provider:?} lost {text:?}\n{body:#}");
            }
        }
    }

    /// Messages that need no normalizing are written as if they had been normalized: a text alone is the same as a text
    /// with a blank one after it.
    #[test]
    fn plain_messages_are_written_like_all_others(
        lines in prop::collection::vec("[ a-z\"\n]{0,3}[a-zé😀]", 1..7),
        system in 0..4usize,
        user_first in any::<bool>(),
    ) {
        let lead = (system > 1).then(|| Message {
            role: if system == 2 { Role::System } else { Role::Developer },
            content: vec![Block::text("Be kind.")],
            node_ids: Vec::new(),
            spans: Vec::new(),
        });
        let message = |(at, text): (usize, &'_ String), parts: bool| Message {
            role: if (at % 2 == 0) == user_first { Role::User } else { Role::Assistant },
            content: std::iter::once(Block::text(text.clone())).chain(parts.then(|| Block::text(" "))).collect(),
            node_ids: vec!["n"],
            spans: Vec::new(),
        };
        let write = |provider, parts| {
            let mut messages: Vec<Message<'_>> = lead.iter().cloned().collect();
            messages.extend(lines.iter().enumerate().map(|text| message(text, parts)));
            let mut target = Target::new(provider, "m");
            target.cache = Some(CacheSettings { messages: CacheMessages::At(vec![0, 2, -1]), ..CacheSettings::default() });
            let mut diagnostics = Vec::new();
            let system = (system == 1).then_some("Be brief.");
            let bytes = write_body(system, &messages, &target, &Hints::default(), &mut diagnostics).unwrap();
            (String::from_utf8(bytes).unwrap(), diagnostics)
        };
        for provider in CHATS {
            prop_assert_eq!(write(provider, false), write(provider, true));
        }
    }

    /// The same for what an assembly gives, cut or whole; and the bytes do not depend on whether anybody counts.
    #[test]
    fn bodies_of_assemblies_keep_the_rules(case in case()) {
        for provider in CHATS {
            let mut target = Target::new(provider, "m");
            let Ok(assembly) = assemble_dialogue(&case.tree, &case.options, case.counter) else { continue };
            target.max_tokens = Some(assembly.report.preferences.token_buffer);
            let mut diagnostics = Vec::new();
            let system = assembly.system.as_deref();
            let bytes = write_body(system, &assembly.messages, &target, &Hints::default(), &mut diagnostics).unwrap();
            let body: Value = serde_json::from_slice(&bytes).unwrap();
            let verdict = broken(provider, &body);
            prop_assert!(verdict.is_ok(), "{provider:?}: {verdict:?}\n{body:#}");
            let whole = request_body(&case.tree, &case.options, &target, case.counter).unwrap();
            prop_assert!(whole.report.diagnostics.ends_with(&diagnostics));
            prop_assert_eq!(&whole.bytes, &bytes);
            prop_assert_eq!(&request_body_bytes(&case.tree, &case.options, &target, case.counter).unwrap(), &bytes);
        }
    }

    /// Escaping is that of serde_json's writer, whatever the text.
    #[test]
    fn escaping_is_json(text in prop_oneof![any::<String>(), text(), "[\\x00-\\x7f]{0,40}"]) {
        let mut ours = vec![b'"'];
        escape_into(&mut ours, &text);
        ours.push(b'"');
        prop_assert_eq!(String::from_utf8(ours).unwrap(), serde_json::to_string(&text).unwrap());
    }

    /// No counter exceeds its maximum, so that content which certainly fits does fit.
    #[test]
    fn no_text_counts_more_than_the_most(text in prop_oneof![any::<String>(), text(), "\\PC{0,60}"]) {
        for counter in COUNTERS {
            if let Some(most) = counter.max_tokens_for_bytes(text.len()) {
                prop_assert!(u64::from(counter.count(&text)) <= most, "{counter:?}");
            }
        }
    }
}

/// Every place of every byte that needs an escape, in words of eight bytes and next to their edges.
#[test]
fn every_byte_is_escaped_in_every_place() {
    for byte in 0..=0x7Fu8 {
        for at in 0..20 {
            let mut text = "é".repeat(3) + &"x".repeat(14);
            text.insert(text.floor_char_boundary(at), char::from(byte));
            let mut ours = Vec::new();
            escape_into(&mut ours, &text);
            let theirs = serde_json::to_string(&text).unwrap();
            assert_eq!(String::from_utf8(ours).unwrap(), theirs[1..theirs.len() - 1], "{byte:#x} at {at}");
        }
    }
}

/// A node with thousands of calls of one id takes no longer for each than one with few.
#[test]
fn many_calls_of_one_id_are_no_trouble() {
    let none = json!({});
    let call = || Block::ToolCall {
        id: "a".into(),
        name: "f".into(),
        arguments: Box::new(Cow::Borrowed(&none)),
        server: false,
    };
    let answer = || Block::ToolResult {
        tool_call_id: "a".into(),
        content: vec![Block::text("x")],
        is_error: None,
        server: false,
    };
    let parts: Vec<Block<'_>> = (0..20_000).map(|_| call()).chain((0..20_000).map(|_| answer())).collect();
    let messages = [Message { role: Role::Assistant, content: parts, node_ids: Vec::new(), spans: Vec::new() }];
    for provider in CHATS {
        let target = Target::new(provider, "m");
        let mut diagnostics = Vec::new();
        let bytes = write_body(None, &messages, &target, &Hints::default(), &mut diagnostics).unwrap();
        let body: Value = serde_json::from_slice(&bytes).unwrap();
        assert_eq!(broken(provider, &body), Ok(()));
    }
}
