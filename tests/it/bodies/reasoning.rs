//! Reasoning in bodies: its vendor, its place, and the field in which some models require it back.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::rules::broken;
use crate::calls::call;
use crate::generate::cases;
use ctxweave::prompt::bodies::Provider;

/// What OpenAI, Anthropic and Google sign with, in the shapes that theirs have.
const SEALED: &str = "gAAAAABpJb7dQm9keSBvZiBhIHNlYWxlZCB0aG91Z2h0IHRoYXQgbm9ib2R5IHJlYWRz";
const SIGNED: &str = "EqoBCkgIARABGAIiQL2UoU0b1OHYi5gK2xhbXBsZSBvZiBhIHNpZ25hdHVyZSBvZiBhIHRob3VnaHQ";
const REDACTED: &str = "EmwKAhgBEgy3va3pzix5LafPsn4aDFIT2Xlxh0L5L8rLVyIwxtE3rAFBa8cr3qpPkNRj2Yf";
const THOUGHT: &str = "EtsICtgIAXLI2nx5dGhlIHNpZ25hdHVyZSBvZiBhIHRob3VnaHQgb2YgR2VtaW5pJ3M";

const CODEX: &str = r#"{"timestamp":"2026-03-02T09:00:00.000Z","type":"session_meta","payload":{"id":"019a2d7a","timestamp":"2026-03-02T09:00:00.000Z","cwd":"/srv"}}
{"timestamp":"2026-03-02T09:00:01.000Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Is it off?"}]}}
{"timestamp":"2026-03-02T09:00:02.000Z","type":"response_item","payload":{"type":"reasoning","id":"rs_7","summary":[{"type":"summary_text","text":"Looking at the sum"}],"encrypted_content":"SEALED"}}
{"timestamp":"2026-03-02T09:00:02.000Z","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"By a cent."}]}}
{"timestamp":"2026-03-02T09:00:03.000Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Mend it."}]}}
"#;

const CLAUDE: &str = r#"{"type":"user","uuid":"u1","parentUuid":null,"sessionId":"s","timestamp":"2026-03-02T09:00:00Z","message":{"role":"user","content":"Is it off?"}}
{"type":"assistant","uuid":"a1","parentUuid":"u1","sessionId":"s","timestamp":"2026-03-02T09:00:01Z","message":{"id":"msg_1","role":"assistant","content":[{"type":"redacted_thinking","data":"odd data"},{"type":"thinking","thinking":"Looking at the sum","signature":"odd sig"},{"type":"text","text":"By a cent."}]}}
{"type":"user","uuid":"u2","parentUuid":"a1","sessionId":"s","timestamp":"2026-03-02T09:00:02Z","message":{"role":"user","content":"Mend it."}}
"#;

fn body_of(tree: &Value, target: &Value) -> (Value, Vec<Value>) {
    let request = json!({
        "tree": tree["tree"], "tip": tree["tip"], "contextWindow": 100_000, "target": target,
    });
    let answer = call("requestBodyWithReport", &[request], None).unwrap();
    let body = serde_json::from_str(answer["body"]["$text"].as_str().unwrap()).unwrap();
    (body, answer["report"]["diagnostics"].as_array().unwrap().clone())
}

fn target(provider: &str, model: &str) -> Value {
    json!({ "provider": provider, "model": model, "maxTokens": 100 })
}

fn tree_of(format: &str, text: &str) -> Value {
    call("transcriptToLoomTree", &[json!(format), json!({ "$text": text }), json!({})], None).unwrap()
}

/// A tree of a question, an answer with these blocks, and another question.
fn answered(blocks: &Value) -> Value {
    let node = |id: &str, author: &str, content: Value| json!({ "id": id, "authorType": author, "content": content });
    let edge =
        |id: &str, from: &str, to: &str| json!({ "id": id, "sources": [{ "nodeId": from }], "targetNodeId": to });
    json!({
        "tree": {
            "nodes": [
                node("q", "human", json!("Is it off?")),
                node("a", "model", json!({ "type": "mixed", "blocks": blocks })),
                node("z", "human", json!("Mend it.")),
            ],
            "edges": [edge("qa", "q", "a"), edge("az", "a", "z")],
        },
        "tip": "z",
    })
}

fn has(diagnostics: &[Value], code: &str) -> bool {
    diagnostics.iter().any(|found| found["code"] == code)
}

/// A signature that Codex stored is OpenAI's, through a transcript and a tree, and OpenAI gets the item.
#[test]
fn the_reasoning_of_codex_goes_to_openai_alone() {
    let tree = tree_of("codex-v1", &CODEX.replace("SEALED", "sealed"));
    for provider in ["anthropic", "gemini", "gemini-interactions", "openai"] {
        let (body, diagnostics) = body_of(&tree, &target(provider, "m"));
        assert!(!body.to_string().contains("sealed"), "{provider}: {body:#}");
        assert!(has(&diagnostics, "body_reasoning_left_out"), "{provider}: {diagnostics:?}");
    }
    let (body, _) = body_of(&tree, &target("openai-responses", "m"));
    let item = json!({
        "type": "reasoning", "id": "rs_7", "summary": [{ "type": "summary_text", "text": "Looking at the sum" }],
        "encrypted_content": "sealed",
    });
    assert_eq!(body["input"][1], item);
}

/// The same for what Claude Code stored, redacted or not.
#[test]
fn the_thinking_of_claude_code_goes_to_anthropic_alone() {
    let tree = tree_of("claude-code-v1", CLAUDE);
    for provider in ["gemini", "gemini-interactions", "openai-responses", "openai"] {
        let (body, diagnostics) = body_of(&tree, &target(provider, "m"));
        assert!(!body.to_string().contains("odd"), "{provider}: {body:#}");
        assert!(has(&diagnostics, "body_reasoning_left_out"), "{provider}: {diagnostics:?}");
    }
    let (body, _) = body_of(&tree, &target("anthropic", "m"));
    assert_eq!(
        body["messages"][1]["content"],
        json!([
            { "type": "redacted_thinking", "data": "odd data" },
            { "type": "thinking", "thinking": "Looking at the sum", "signature": "odd sig" },
            { "type": "text", "text": "By a cent." },
        ])
    );
}

/// The messages of a transcript say whose a signature is as well, and chats made of trees keep it.
#[test]
fn a_signature_keeps_its_vendor_through_chats_and_trees() {
    let tree = tree_of("codex-v1", &CODEX.replace("SEALED", "sealed"));
    for (format, kept) in [("openai-responses", true), ("ai-sdk", true), ("anthropic", false), ("gemini", false)] {
        let options = json!({ "tip": tree["tip"], "format": format });
        let chat = call("loomTreeToChat", &[tree["tree"].clone(), options], None).unwrap();
        assert_eq!(chat["messages"].to_string().contains("sealed"), kept, "{format}: {chat:#}");
        let again = call("chatToLoomTree", &[chat["messages"].clone(), json!({ "from": format })], None).unwrap();
        let (body, _) = body_of(&again, &target("openai-responses", "m"));
        assert_eq!(body.to_string().contains("sealed"), kept, "{format}: {body:#}");
        let (body, _) = body_of(&again, &target("anthropic", "m"));
        assert!(!body.to_string().contains("sealed"), "{format}: {body:#}");
    }
    let messages = call("transcriptToMessages", &[json!("codex-v1"), json!({ "$text": CODEX }), json!({})], None);
    let signature = messages.unwrap()["messages"][1]["content"][0]["signature"].clone();
    let item = json!({ "type": "reasoning", "id": "rs_7", "encrypted_content": "SEALED" });
    assert_eq!(serde_json::from_str::<Value>(signature.as_str().unwrap()).unwrap(), item);
}

/// A signature without a vendor is sent to the one whose form it has; any other to the provider of the body.
#[test]
fn a_signature_of_a_known_shape_goes_to_its_vendor_alone() {
    let vendors = ["anthropic", "openai-responses", "gemini"];
    for (signature, vendor) in [
        (SEALED, "openai-responses"),
        (SIGNED, "anthropic"),
        (REDACTED, "anthropic"),
        (THOUGHT, "gemini"),
        ("one-of-a-test", ""),
    ] {
        let tree = answered(
            &json!([{ "type": "reasoning", "text": "hm", "signature": signature }, { "type": "text", "text": "Yes." }]),
        );
        for provider in vendors {
            let (body, diagnostics) = body_of(&tree, &target(provider, "m"));
            let goes = vendor.is_empty() || provider == vendor;
            assert_eq!(body.to_string().contains(signature), goes, "{provider}: {body:#}");
            assert_eq!(has(&diagnostics, "body_reasoning_left_out"), !goes, "{provider}: {diagnostics:?}");
        }
    }
}

fn kinds(content: &Value) -> Vec<&str> {
    content.as_array().unwrap().iter().map(|block| block["type"].as_str().unwrap()).collect()
}

/// Only manual thinking (`enabled`) wants a thought first. With any other type, and without one, blocks keep their order, those
/// with an empty text among them.
#[test]
fn thoughts_keep_their_place_unless_thinking_is_manual() {
    let thought = |text: &str| json!({ "type": "reasoning", "text": text, "signature": "s" });
    let tree = answered(&json!([
        thought(""), { "type": "text", "text": "One." }, thought("hm"), { "type": "text", "text": "Two." }, thought(""),
        { "type": "text", "text": "Three." },
    ]));
    for kind in [None, Some("adaptive"), Some("between_tools"), Some("disabled"), Some("enabled")] {
        let mut target = target("anthropic", "claude-opus-5-5");
        if let Some(kind) = kind {
            target["thinking"] = json!({ "type": kind });
        }
        let (body, diagnostics) = body_of(&tree, &target);
        let order = match kind {
            Some("enabled") => ["thinking", "thinking", "thinking", "text", "text", "text"],
            _ => ["thinking", "text", "thinking", "text", "thinking", "text"],
        };
        assert_eq!(kinds(&body["messages"][1]["content"]), order, "{kind:?}");
        assert_eq!(has(&diagnostics, "body_part_moved"), kind == Some("enabled"), "{kind:?}: {diagnostics:?}");
        assert!(!has(&diagnostics, "body_reasoning_left_out"), "{kind:?}: {diagnostics:?}");
        assert_eq!(broken(Provider::Anthropic, &body), Ok(()));
    }
    // No turn ends in reasoning, and one that is nothing else is not sent.
    let (body, diagnostics) =
        body_of(&answered(&json!([{ "type": "text", "text": "One." }, thought("hm")])), &target("anthropic", "m"));
    assert_eq!(body["messages"][1]["content"], "One.");
    assert!(has(&diagnostics, "body_reasoning_left_out"));
    let (body, _) = body_of(&answered(&json!([thought("")])), &target("anthropic", "m"));
    assert_eq!(body["messages"].as_array().unwrap().len(), 1, "{body:#}");
    assert_eq!(broken(Provider::Anthropic, &body), Ok(()));
}

/// Names of models that want their reasoning back, as vendors, gateways and hosts write them; and of some that do not.
const REPLAYED: [&str; 24] = [
    "deepseek-v4-pro",
    "deepseek-reasoner",
    "deepseek/deepseek-reasoner",
    "deepseek-ai/DeepSeek-V3.2",
    "openrouter/deepseek/deepseek-v4:free",
    "us.deepseek.r1-v1:0",
    "kimi-k3",
    "kimi-k2-thinking",
    "moonshotai/kimi-k2-thinking",
    "moonshot.kimi-k2-thinking",
    "accounts/fireworks/models/kimi-k2p7",
    "glm-4.7",
    "zai/glm-5",
    "zai-org/GLM-4.7",
    "z-ai/glm-4.7",
    "zai.glm-4.7",
    "minimax-m3",
    "MiniMax-M2",
    "minimax/minimax-m2.5",
    "MiniMaxAI/MiniMax-M3",
    "mimo-v2-flash",
    "xiaomi/mimo-v2.5-pro",
    "XiaomiMiMo/MiMo-V2-Flash",
    "mimo-v2",
];
const OTHERS: [&str; 8] =
    ["gpt-4o", "gpt-5.6", "o3", "some-model", "qwen3-max", "mistral-large", "glmour-1", "anthropic/claude-opus-5-5"];

/// A conversation with a call, whose reasoning came in a field of the message.
fn after(message: &Value, model: &str) -> (Value, Vec<Value>) {
    let response =
        json!({ "model": model, "choices": [{ "index": 0, "message": message, "finish_reason": "tool_calls" }] });
    let options = json!({ "provider": "openai", "parent": "q", "ids": ["a"] });
    let read = call("continuation", &[response, options], None).unwrap();
    let node = &read["nodes"][0];
    let edges = [read["edges"][0].clone(), json!({ "id": "az", "sources": [{ "nodeId": "a" }], "targetNodeId": "z" })];
    let result = json!({ "type": "toolResult", "toolCallId": "c", "content": "done" });
    let tree = json!({
        "nodes": [
            { "id": "q", "authorType": "human", "content": "What?" }, node,
            { "id": "z", "authorType": "human", "content": result },
        ],
        "edges": edges,
    });
    body_of(&json!({ "tree": tree, "tip": "z" }), &target("openai", model))
}

/// Models that want their reasoning back get it in the field that it came in, and nothing else of it changes; all others get none.
#[test]
fn reasoning_goes_back_in_its_field() {
    let details = json!([
        { "type": "reasoning.text", "text": "hm", "id": "r1", "format": "MiniMax-response-v1", "index": 0 },
        { "type": "reasoning.encrypted", "data": "xyz", "index": 1 },
    ]);
    for (field, value) in
        [("reasoning_content", json!("hm \n")), ("reasoning", json!("hm \n")), ("reasoning_details", details)]
    {
        let mut message = json!({
            "role": "assistant", "content": "Let me look.",
            "tool_calls": [{ "id": "c", "type": "function", "function": { "name": "look", "arguments": "{}" } }],
        });
        message[field] = value;
        for model in REPLAYED {
            let (body, diagnostics) = after(&message, model);
            assert_eq!(body["messages"][1], message, "{model} {field}");
            assert_eq!(body["max_tokens"], 100, "{model}");
            assert!(body.get("max_completion_tokens").is_none(), "{model}");
            assert!(!has(&diagnostics, "body_reasoning_left_out"), "{model}");
        }
        for model in OTHERS {
            let (body, diagnostics) = after(&message, model);
            assert!(body["messages"][1].get(field).is_none(), "{model} {field}");
            assert_eq!(body["max_completion_tokens"], 100, "{model}");
            assert!(has(&diagnostics, "body_reasoning_left_out"), "{model}");
        }
    }
}

/// Reasoning that came in no field goes into the model's own, without the signature of another vendor.
#[test]
fn reasoning_of_other_origin_has_the_models_field() {
    let tree = |signature: Value| {
        answered(
            &json!([{ "type": "reasoning", "text": "hm", "signature": signature }, { "type": "text", "text": "Yes." }]),
        )
    };
    let plain = answered(&json!([{ "type": "reasoning", "text": "hm" }, { "type": "text", "text": "Yes." }]));
    let message = |tree: &Value, model: &str| body_of(tree, &target("openai", model)).0["messages"][1].clone();
    assert_eq!(message(&plain, "kimi-k3")["reasoning_content"], "hm");
    let detail = json!([{ "type": "reasoning.text", "text": "hm" }]);
    assert_eq!(message(&plain, "minimax-m3")["reasoning_details"], detail);
    for signature in [SIGNED, SEALED, THOUGHT] {
        let (body, diagnostics) = body_of(&tree(json!(signature)), &target("openai", "kimi-k3"));
        let expected = json!({ "role": "assistant", "content": "Yes.", "reasoning_content": "hm" });
        assert_eq!(body["messages"][1], expected, "{signature}");
        assert!(
            has(&diagnostics, "body_part_replaced") && !has(&diagnostics, "body_reasoning_left_out"),
            "{signature}"
        );
        let unreadable =
            json!([{ "type": "reasoning", "text": "", "signature": signature }, { "type": "text", "text": "Yes." }]);
        let (body, diagnostics) = body_of(&answered(&unreadable), &target("openai", "kimi-k3"));
        assert_eq!(body["messages"][1], json!({ "role": "assistant", "content": "Yes." }), "{signature}");
        assert!(has(&diagnostics, "body_reasoning_left_out"), "{signature}");
    }
    let (body, diagnostics) = body_of(&plain, &{
        let mut target = json!({ "provider": "openai", "model": "kimi-k3" });
        target["max_completion_tokens"] = json!(77);
        target
    });
    assert_eq!((&body["max_tokens"], body.get("max_completion_tokens")), (&json!(77), None));
    assert!(has(&diagnostics, "body_field_renamed"));
    // A turn with reasoning alone has no content.
    let silent = answered(&json!([{ "type": "reasoning", "text": "hm" }]));
    let (body, diagnostics) = body_of(&silent, &target("openai", "kimi-k3"));
    assert_eq!(broken(Provider::OpenAi, &body), Ok(()));
    assert!(has(&diagnostics, "body_reasoning_left_out"));
    assert!(!body.to_string().contains("hm"));
}

/// However such an answer is streamed, its reasoning is the same.
#[test]
fn streamed_reasoning_goes_back_in_its_field() {
    let chunk = |delta: Value| json!({ "model": "minimax-m3", "choices": [{ "index": 0, "delta": delta }] });
    let piece = |text: &str| {
        let detail =
            json!({ "type": "reasoning.text", "id": "r1", "format": "MiniMax-response-v1", "index": 0, "text": text });
        chunk(json!({ "reasoning_details": [detail], "reasoning": text }))
    };
    let mut events = vec![chunk(json!({ "role": "assistant", "content": "" })), piece("one "), piece("two")];
    events.push(chunk(json!({ "content": "Yes." })));
    events.push(json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": "stop" }] }));
    let options = json!({ "provider": "openai", "parent": "q", "ids": ["a"] });
    let read = call("continuation", &[json!(events), options], None).unwrap();
    let tree = answered(&read["nodes"][0]["content"]["blocks"]);
    let (body, _) = body_of(&tree, &target("openai", "minimax-m3"));
    let detail =
        json!({ "type": "reasoning.text", "id": "r1", "format": "MiniMax-response-v1", "index": 0, "text": "one two" });
    assert_eq!(body["messages"][1], json!({ "role": "assistant", "content": "Yes.", "reasoning_details": [detail] }));
    assert_eq!(read["nodes"][0]["content"]["blocks"][0]["text"], "one two");
}

/// What a signature of a vendor looks like, named or known by its shape.
fn signature() -> impl Strategy<Value = (String, &'static str)> {
    let named = |fields: Value| fields.to_string();
    let name = "[a-z0-9]{12}";
    prop_oneof![
        name.prop_map(move |it| (named(json!({ "type": "thinking", "signature": it })), "anthropic")),
        name.prop_map(move |it| (named(json!({ "type": "redacted_thinking", "data": it })), "anthropic")),
        name.prop_map(move |it| (named(json!({ "type": "thought", "thoughtSignature": it })), "gemini")),
        name.prop_map(move |it| (named(json!({ "type": "reasoning", "encrypted_content": it })), "openai-responses")),
        name.prop_map(|it| (format!("{SEALED}{it}"), "openai-responses")),
        name.prop_map(|it| (format!("{SIGNED}{it}"), "anthropic")),
        name.prop_map(|it| (format!("{THOUGHT}{it}"), "gemini")),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(100), ..ProptestConfig::default() })]

    /// No body has a signature of another vendor, and its own appear in their original order.
    #[test]
    fn signatures_go_to_their_vendor_alone(
        signatures in prop::collection::vec(signature(), 1..5),
        thinking in 0..4usize,
    ) {
        let blocks: Vec<Value> = signatures
            .iter()
            .enumerate()
            .flat_map(|(at, (signature, _))| {
                [json!({ "type": "text", "text": format!("t{at}") }), json!({ "type": "reasoning", "text": "", "signature": signature })]
            })
            .chain([json!({ "type": "text", "text": "end" })])
            .collect();
        let tree = answered(&json!(blocks));
        // What a vendor sees of it: the last twelve characters that differ.
        let mark = |signature: &str| signature.trim_end_matches("\"}").chars().rev().take(12).collect::<String>();
        for provider in ["anthropic", "openai-responses", "gemini", "gemini-interactions", "openai"] {
            let mut target = target(provider, "deepseek-v4");
            if let (true, Some(kind)) = (provider == "anthropic", [None, Some("adaptive"), Some("between_tools"), Some("disabled")][thinking]) {
                target["thinking"] = json!({ "type": kind });
            }
            let (body, _) = body_of(&tree, &target);
            let reversed: String = body.to_string().chars().rev().collect();
            for (signature, vendor) in &signatures {
                let is_own = *vendor == provider || *vendor == "gemini" && provider == "gemini-interactions";
                prop_assert_eq!(reversed.contains(&mark(signature)), is_own, "{} {}\n{:#}", provider, signature, body);
            }
            if provider == "anthropic" {
                let own = signatures.iter().filter(|(_, vendor)| *vendor == "anthropic").count();
                let said = kinds_of(&body["messages"][1]["content"]);
                prop_assert_eq!(said.iter().filter(|kind| kind.contains("thinking")).count(), own);
                // Every text but the last stands before the thought that came after it.
                prop_assert_eq!(said.first().copied(), Some("text"));
            }
        }
    }
}

fn kinds_of(content: &Value) -> Vec<&str> {
    if content.is_string() { vec!["text"] } else { kinds(content) }
}
