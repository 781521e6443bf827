//! Blocks that only their vendor knows: kept unchanged in trees and for their vendor (docs/chats.md).

use ctxweave::call::CallContext;
use ctxweave::commits::translate::CrossFamily;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::calls::call;
use crate::chat::{count, fit};
use crate::generate::cases;
use crate::transcripts::translated;

const CLAUDE: &str = "claude-code-v1";

/// The codes of content that another vendor does not get.
const LOSSES: [&str; 2] = ["not_expressible", "content_left_out"];

/// Lines of a session.
fn lines(records: &[Value]) -> String {
    records.iter().map(|record| format!("{record}\n")).collect()
}

fn tree_of(format: &str, text: &str) -> Value {
    call("transcriptToLoomTree", &[json!(format), json!({ "$text": text }), json!({})], None).unwrap()
}

fn target(provider: &str) -> Value {
    json!({ "provider": provider, "model": "m", "maxTokens": 9 })
}

/// The body of a tree for a provider, and its diagnostics.
fn body_of(tree: &Value, provider: &str) -> (Value, Vec<Value>) {
    let request =
        json!({ "tree": tree["tree"], "tip": tree["tip"], "contextWindow": 100_000, "target": target(provider) });
    let answer = call("requestBodyWithReport", &[request], None).unwrap();
    let body = serde_json::from_str(answer["body"]["$text"].as_str().unwrap()).unwrap();
    (body, answer["report"]["diagnostics"].as_array().unwrap().clone())
}

fn codes(diagnostics: &[Value]) -> Vec<&str> {
    diagnostics.iter().map(|found| found["code"].as_str().unwrap()).collect()
}

fn compaction() -> Value {
    json!({ "type": "compaction", "content": "They spoke of the tides.", "encrypted_content": "c2VhbGVk", "signature": "c2ln", "tool_changes": [] })
}

/// A session of Claude Code with blocks that Claude Code writes as the API gives them.
fn claude() -> (String, Vec<Value>) {
    let blocks = vec![
        compaction(),
        json!({ "type": "text", "text": "On it." }),
        json!({ "type": "fallback", "from": { "model": "a" }, "to": { "model": "b" }, "trigger": null }),
        json!({ "type": "thinking", "thinking": "hm", "signature": "odd sig" }),
        json!({ "type": "from_the_future", "z": 1.5, "a": [null, "漢字"] }),
    ];
    let record = |uuid: &str, parent: Option<&str>, kind: &str, message: Value| json!({ "uuid": uuid, "parentUuid": parent, "type": kind, "message": message });
    let upload = json!({ "type": "container_upload", "file_id": "f" });
    let text = lines(&[
        record("q", None, "user", json!({ "role": "user", "content": [{ "type": "text", "text": "Go." }, upload] })),
        record("a", Some("q"), "assistant", json!({ "id": "msg", "role": "assistant", "content": blocks })),
        record("z", Some("a"), "user", json!({ "role": "user", "content": "More." })),
    ]);
    (text, blocks)
}

/// A session of Codex with a compaction and an item of another type.
fn codex() -> (String, Value, Value) {
    let item =
        |payload: Value| json!({ "timestamp": "2026-01-01T00:00:00Z", "type": "response_item", "payload": payload });
    let said = |role: &str, text: &str| json!({ "type": "message", "role": role, "content": [{ "type": if role == "user" { "input_text" } else { "output_text" }, "text": text }] });
    let compaction = json!({ "type": "compaction", "id": "cmp_1", "encrypted_content": "gAAAAABsealed" });
    let other = json!({ "type": "program_of_the_future", "id": "p_1", "code": "1 + 1" });
    let text = lines(&[
        json!({ "timestamp": "2026-01-01T00:00:00Z", "type": "session_meta", "payload": { "id": "s", "cwd": "/w" } }),
        item(said("user", "Go.")),
        item(compaction.clone()),
        item(other.clone()),
        item(said("assistant", "On it.")),
        item(json!({ "type": "ghost_snapshot" })),
        item(said("user", "More.")),
    ]);
    (text, compaction, other)
}

/// A session of Gemini CLI with code that the vendor ran, and with signatures.
fn gemini() -> (String, Vec<Value>) {
    let parts = vec![
        json!({ "text": "I compute it.", "thoughtSignature": "c2lnMQ==" }),
        json!({ "executableCode": { "language": "PYTHON", "code": "print(1)" }, "thoughtSignature": "c2lnMg==" }),
        json!({ "codeExecutionResult": { "outcome": "OUTCOME_OK", "output": "1" } }),
        json!({ "functionCall": { "id": "c", "name": "look", "args": {} }, "thoughtSignature": "c2lnMw==" }),
    ];
    let message = |id: &str, kind: &str, content: Value| json!({ "id": id, "timestamp": "2026-01-01T00:00:00Z", "type": kind, "content": content });
    let answer = json!([{ "functionResponse": { "id": "c", "name": "look", "response": { "output": "seen" } } }]);
    let text = lines(&[
        json!({ "sessionId": "s", "projectHash": "h", "startTime": "2026-01-01T00:00:00Z", "lastUpdated": "2026-01-01T00:00:00Z", "kind": "main" }),
        message("q", "user", json!("Go.")),
        message("a", "gemini", json!(parts)),
        message("r", "user", answer),
        message("b", "gemini", json!([{ "text": "One." }, { "text": "", "thoughtSignature": "c2lnNA==" }])),
        message("z", "user", json!("More.")),
    ]);
    (text, parts)
}

/// What Claude Code stored is in the tree and goes back as it was.
#[test]
fn anthropic_gets_its_blocks_back() {
    let (text, blocks) = claude();
    let tree = tree_of(CLAUDE, &text);
    assert_eq!(tree["diagnostics"], json!([]));
    let (body, _) = body_of(&tree, "anthropic");
    assert_eq!(body["messages"][0]["content"][1], json!({ "type": "container_upload", "file_id": "f" }));
    assert_eq!(body["messages"][1]["content"], json!(blocks));
    // As it stands in a tree, with its keys in their order.
    let kept = &tree["tree"]["nodes"][1]["content"]["blocks"];
    assert_eq!(kept[0], json!({ "type": "vendor", "vendor": "anthropic", "value": compaction() }));
    assert_eq!(kept[4]["value"].to_string(), blocks[4].to_string());
    // Another vendor gets the summary; everything else is reported.
    for provider in ["openai", "openai-responses", "gemini", "gemini-interactions"] {
        let (body, found) = body_of(&tree, provider);
        let body = body.to_string();
        assert!(body.contains("They spoke of the tides.") && !body.contains("c2VhbGVk"), "{provider}: {body}");
        assert!(!body.contains("from_the_future") && !body.contains("fallback"), "{provider}: {body}");
        let lost: Vec<&str> = found
            .iter()
            .filter(|found| LOSSES.contains(&found["code"].as_str().unwrap()))
            .map(|it| it["message"].as_str().unwrap())
            .collect();
        assert_eq!(lost.len(), 4, "{provider}: {found:?}");
        assert!(
            found
                .iter()
                .all(|found| !LOSSES.contains(&found["code"].as_str().unwrap()) || found["severity"] == "warning")
        );
    }
}

/// The target decides about caching: the breakpoint of a stored block is dropped.
#[test]
fn a_block_brings_no_cache_mark() {
    let mut marked = compaction();
    marked["cache_control"] = json!({ "type": "ephemeral" });
    let block = json!({ "type": "vendor", "vendor": "anthropic", "value": marked });
    let tree = json!({ "nodes": [{ "id": "a", "authorType": "model", "content": block }], "edges": [] });
    let mut target = target("anthropic");
    let mut body = |cache: bool| {
        target["cache"] = json!(cache);
        let request = json!({ "tree": tree, "tip": "a", "contextWindow": 9000, "target": target });
        call("requestBody", &[request], None).unwrap()["$text"].as_str().unwrap().to_owned()
    };
    assert_eq!(body(false).matches("cache_control").count(), 0);
    assert_eq!(body(true).matches("cache_control").count(), 1);
}

#[test]
fn codex_compactions_are_no_reasoning() {
    let (text, compaction, other) = codex();
    let tree = tree_of("codex-v1", &text);
    assert_eq!(tree["diagnostics"], json!([]));
    assert!(!tree["tree"].to_string().contains("\"reasoning\""), "{tree:#}");
    let (body, _) = body_of(&tree, "openai-responses");
    assert_eq!(body["input"][1], compaction);
    assert_eq!(body["input"][2], other);
    for provider in ["anthropic", "openai", "gemini", "gemini-interactions"] {
        let (body, found) = body_of(&tree, provider);
        assert!(!body.to_string().contains("gAAAAABsealed") && !body.to_string().contains("program_of"), "{body}");
        assert_eq!(codes(&found).iter().filter(|code| LOSSES.contains(code)).count(), 2, "{provider}: {found:?}");
    }
    // Twice in a path, as after a copy, it is sent once.
    let copied = text.replace(&format!("{compaction}"), "COPY");
    assert!(copied.contains("COPY"));
    let twice = text.lines().flat_map(|line| std::iter::repeat_n(line, if line.contains("cmp_1") { 2 } else { 1 }));
    let (body, _) =
        body_of(&tree_of("codex-v1", &twice.map(|line| format!("{line}\n")).collect::<String>()), "openai-responses");
    assert_eq!(body["input"].as_array().unwrap().iter().filter(|item| item["type"] == "compaction").count(), 1);
}

#[test]
fn gemini_gets_its_parts_and_signatures_back() {
    let (text, parts) = gemini();
    let tree = tree_of("gemini-v1", &text);
    assert_eq!(tree["diagnostics"], json!([]));
    let (body, _) = body_of(&tree, "gemini");
    assert_eq!(body["contents"][1]["parts"], json!(parts));
    assert_eq!(body["contents"][3]["parts"], json!([{ "text": "One.", "thoughtSignature": "c2lnNA==" }]));
    // Gemini's other interface takes the signatures, and no parts.
    let (body, found) = body_of(&tree, "gemini-interactions");
    assert!(body.to_string().contains("c2lnNA==") && !body.to_string().contains("executableCode"), "{body}");
    assert_eq!(codes(&found).iter().filter(|code| LOSSES.contains(code)).count(), 2, "{found:?}");
    for provider in ["anthropic", "openai", "openai-responses"] {
        let (body, found) = body_of(&tree, provider);
        let body = body.to_string();
        for gone in ["c2ln", "executableCode", "codeExecutionResult"] {
            assert!(!body.contains(gone), "{provider}: {body}");
        }
        let codes = codes(&found);
        assert_eq!(codes.iter().filter(|code| LOSSES.contains(code)).count(), 2, "{provider}: {found:?}");
        assert_eq!(codes.iter().filter(|code| **code == "body_reasoning_left_out").count(), 3, "{provider}: {found:?}");
    }
}

/// A signed thought keeps its signature before a part that Gemini gets back as it was, and no other part gets it.
#[test]
fn a_signed_thought_before_code_keeps_its_signature() {
    let thought = json!({ "text": "I compute it.", "thought": true, "thoughtSignature": "c2lnMQ==" });
    let code = json!({ "executableCode": { "language": "PYTHON", "code": "print(1)" } });
    for parts in
        [json!([thought, code]), json!([thought, code, { "text": "One." }]), json!([thought, code, thought, code])]
    {
        let chat = json!([{ "role": "user", "parts": [{ "text": "Go." }] }, { "role": "model", "parts": parts }]);
        let tree = call("chatToLoomTree", &[chat, json!({ "from": "gemini" })], None).unwrap();
        let (body, _) = body_of(&tree, "gemini");
        assert_eq!(body["contents"][1]["parts"], parts);
    }
}

/// From a session to one of another agent: the summary stays, no signature of another vendor does, and losses are reported.
#[test]
fn sessions_of_other_agents_get_the_summary() {
    let (claude, _) = claude();
    let (codex, ..) = codex();
    let (gemini, _) = gemini();
    let all = [(CLAUDE, claude), ("codex-v1", codex), ("gemini-v1", gemini)];
    for (from, text) in &all {
        for to in [CLAUDE, "codex-v1", "gemini-v1", "bureau-agent-v1", "generic-v1"] {
            if from == &to {
                continue;
            }
            let result = translated(&[(from, text.as_bytes())], to, CrossFamily::Transcode);
            let bytes = String::from_utf8_lossy(&result.bytes).into_owned();
            for gone in
                ["c2ln", "c2VhbGVk", "gAAAAABsealed", "odd sig", "from_the_future", "executableCode", "program_of"]
            {
                assert!(!bytes.contains(gone), "{from} {to}: {gone} in {bytes}");
            }
            assert_eq!(bytes.contains("They spoke of the tides."), *from == CLAUDE, "{from} {to}: {bytes}");
            let found = json!(result.diagnostics);
            assert!(LOSSES.iter().any(|code| found.to_string().contains(code)), "{from} {to}: {found}");
        }
    }
}

/// A chat that becomes a tree and a chat again is the same.
#[test]
fn chats_survive_trees() {
    let (_, blocks) = claude();
    let (_, item, other) = codex();
    let user = |text: &str| json!({ "role": "user", "content": text });
    let chats = [
        ("anthropic", vec![user("Go."), json!({ "role": "assistant", "content": blocks }), user("More.")]),
        (
            "openai-responses",
            vec![user("Go."), item, other, json!({ "role": "assistant", "content": "On it." }), user("More.")],
        ),
        (
            "gemini",
            vec![
                json!({ "role": "user", "parts": [{ "text": "Go." }] }),
                json!({ "role": "model", "parts": [{ "executableCode": { "language": "PYTHON", "code": "print(1)" }, "thoughtSignature": "c2lnMg==" }, { "text": "One." }] }),
                json!({ "role": "user", "parts": [{ "text": "More." }] }),
            ],
        ),
        (
            "gemini-interactions",
            vec![
                json!({ "type": "user_input", "content": [{ "type": "text", "text": "Go." }] }),
                json!({ "type": "thought", "signature": "c2lnMg==", "summary": [{ "type": "text", "text": "hm" }] }),
                json!({ "type": "code_execution_call", "id": "x", "arguments": { "code": "print(1)" } }),
                json!({ "type": "code_execution_result", "call_id": "x", "result": "1", "signature": "c2lnMw==" }),
                json!({ "type": "from_the_future", "of": "words" }),
                json!({ "type": "model_output", "content": [{ "type": "text", "text": "One." }] }),
                json!({ "type": "user_input", "content": [{ "type": "text", "text": "More." }] }),
            ],
        ),
    ];
    for (format, chat) in chats {
        let tree = call("chatToLoomTree", &[json!(chat), json!({ "from": format })], None).unwrap();
        assert_eq!(tree["diagnostics"], json!([]), "{format}");
        let back =
            call("loomTreeToChat", &[tree["tree"].clone(), json!({ "tip": tree["tip"], "format": format })], None)
                .unwrap();
        assert_eq!(back["messages"], json!(chat), "{format}");
        // Our own messages hold the same and cost the same.
        let own = call("convertMessages", &[json!(chat), json!({ "from": format, "to": "generic" })], None).unwrap();
        assert_eq!(own["diagnostics"], json!([]), "{format}");
        let back =
            call("convertMessages", &[own["messages"].clone(), json!({ "from": "generic", "to": format })], None)
                .unwrap();
        assert_eq!(back["messages"], json!(chat), "{format}: {own}");
    }
}

/// A block costs the same in a tree, in its vendor's chat and in our own messages.
#[test]
fn a_block_costs_what_it_costs_in_chats() {
    let image = format!("iVBORw0KGgo{}", "A".repeat(4000));
    let anthropic = |block: &Value| json!([{ "role": "assistant", "content": [block] }]);
    let responses = |item: &Value| json!([item]);
    let gemini = |part: &Value| json!([{ "role": "model", "parts": [part] }]);
    let sealed = "c2VhbGVk".repeat(40);
    let blocks: Vec<(&str, &str, Value, Value)> = [
        ("anthropic", "anthropic", compaction(), &anthropic as &dyn Fn(&Value) -> Value),
        ("anthropic", "anthropic", json!({ "type": "compaction", "content": null, "encrypted_content": sealed }), &anthropic),
        ("anthropic", "anthropic", json!({ "type": "compaction", "content": null }), &anthropic),
        ("anthropic", "anthropic", json!({ "type": "from_the_future", "of": "words and words" }), &anthropic),
        ("openai", "openai-responses", json!({ "type": "compaction", "id": "c", "encrypted_content": sealed }), &responses),
        ("openai", "openai-responses", json!({ "type": "web_search_call", "id": "w", "action": { "query": "tides" } }), &responses),
        ("openai", "openai-responses", json!({ "type": "shown", "id": "w", "picture": { "type": "image", "data": image, "mimeType": "image/png" } }), &responses),
        ("google", "gemini", json!({ "executableCode": { "language": "PYTHON", "code": "print(1)" } }), &gemini),
        ("google", "gemini-interactions", json!({ "type": "google_search_call", "id": "w", "arguments": { "queries": ["tides"] } }), &responses),
        ("google", "gemini-interactions", json!({ "type": "from_the_future", "of": "words and words" }), &responses),
    ]
    .into_iter()
    .map(|(vendor, format, block, chat)| (vendor, format, block.clone(), chat(&block)))
    .collect();
    for (vendor, format, value, chat) in blocks {
        let empty = match format {
            "anthropic" => json!([{ "role": "assistant", "content": [] }]),
            "gemini" => json!([{ "role": "model", "parts": [] }]),
            "gemini-interactions" => json!([{ "type": "thought" }]),
            _ => json!([{ "type": "reasoning", "summary": [] }]),
        };
        let of =
            |chat: &Value, format: &str| count(chat, &json!({ "format": format }), &CallContext::default()).unwrap();
        let in_chat = of(&chat, format) - of(&empty, format);
        let block = json!({ "type": "vendor", "vendor": vendor, "value": value });
        let own = |content: Value| of(&json!([{ "role": "assistant", "content": content }]), "generic");
        assert_eq!(own(json!([block])) - own(json!([])), in_chat, "{value}");
        let tree = json!({ "nodes": [{ "id": "a", "authorType": "model", "content": block }], "edges": [] });
        let result =
            call("assembleDialogue", &[json!({ "tree": tree, "tip": "a", "contextWindow": 100_000 })], None).unwrap();
        assert_eq!(result["report"]["nodes"][0]["tokens"], in_chat, "{value}");
        assert_eq!(result["report"]["tokens"]["messages"], in_chat, "{value}");
    }
}

/// A compaction in our own format replaces what comes before it, as in its vendor's.
#[test]
fn our_own_messages_are_cut_at_a_compaction() {
    let words = "the river was low that summer ".repeat(20);
    let block = json!({ "type": "vendor", "vendor": "anthropic", "value": compaction() });
    let user = |text: &str| json!({ "role": "user", "content": text });
    let chat = json!([user(&words), { "role": "assistant", "content": [block] }, user("More.")]);
    let fitted = fit(&chat, &json!({ "maxTokens": 80, "format": "generic" })).unwrap();
    assert_eq!(fitted.from, [Some(1), Some(2)]);
}

#[test]
fn a_damaged_block_is_refused() {
    for (block, path) in [
        (json!({ "type": "vendor", "vendor": "anthropic" }), "value"),
        (json!({ "type": "vendor", "vendor": "mistral", "value": {} }), "vendor"),
        (json!({ "type": "vendor", "vendor": "openai", "value": "text" }), "value"),
        (json!({ "type": "vendor", "value": {} }), "vendor"),
    ] {
        let tree = json!({ "nodes": [{ "id": "a", "authorType": "model", "content": block }], "edges": [] });
        let error =
            call("assembleDialogue", &[json!({ "tree": tree, "tip": "a", "contextWindow": 900 })], None).unwrap_err();
        assert!(format!("{error:?}").contains(path), "{error:?}");
    }
}

/// What a provider answers is kept, whole or streamed.
#[test]
fn replies_keep_blocks() {
    let options = |provider: &str| json!({ "provider": provider, "parent": "q", "ids": "a" });
    let kept = |response: Value, provider: &str| {
        let answer = call("continuation", &[response, options(provider)], None).unwrap();
        assert_eq!(answer["diagnostics"], json!([]), "{provider}");
        let content = answer["nodes"][0]["content"].clone();
        content.get("blocks").and_then(Value::as_array).cloned().unwrap_or_else(|| vec![content])
    };
    let vendor = |vendor: &str, value: &Value| json!({ "type": "vendor", "vendor": vendor, "value": value });
    let block = json!({ "type": "compaction", "content": "The tides.", "encrypted_content": "c2Vh" });
    let fallback = json!({ "type": "fallback", "from": { "model": "a" }, "to": { "model": "b" }, "trigger": { "type": "refusal" } });
    let expected = [vendor("anthropic", &block), vendor("anthropic", &fallback)];
    let message =
        json!({ "type": "message", "role": "assistant", "content": [block, fallback], "stop_reason": "end_turn" });
    assert_eq!(kept(message, "anthropic"), expected);
    let events = [
        json!({ "type": "message_start", "message": { "type": "message", "role": "assistant", "content": [] } }),
        json!({ "type": "content_block_start", "index": 0, "content_block": { "type": "compaction", "content": null, "encrypted_content": null } }),
        json!({ "type": "content_block_delta", "index": 0, "delta": { "type": "compaction_delta", "content": "The tides.", "encrypted_content": "c2Vh" } }),
        json!({ "type": "content_block_stop", "index": 0 }),
        json!({ "type": "content_block_start", "index": 1, "content_block": fallback }),
        json!({ "type": "content_block_stop", "index": 1 }),
        json!({ "type": "message_delta", "delta": { "stop_reason": "end_turn" } }),
        json!({ "type": "message_stop" }),
    ];
    let stream: String =
        events.iter().map(|event| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap())).collect();
    assert_eq!(kept(json!(stream), "anthropic"), expected);
    let items = [
        json!({ "type": "compaction", "id": "c", "encrypted_content": "s" }),
        json!({ "type": "web_search_call", "id": "w", "status": "completed", "action": { "query": "tides" } }),
    ];
    let response = json!({ "object": "response", "status": "completed", "output": items });
    assert_eq!(kept(response, "openai-responses"), items.map(|item| vendor("openai", &item)));
    let part = json!({ "executableCode": { "language": "PYTHON", "code": "print(1)" }, "thoughtSignature": "c2ln" });
    let response =
        json!({ "candidates": [{ "content": { "role": "model", "parts": [part] }, "finishReason": "STOP" }] });
    assert_eq!(kept(response, "gemini"), [vendor("google", &part)]);
    let steps = [
        json!({ "type": "google_search_call", "id": "w", "arguments": { "queries": ["tides"] } }),
        json!({ "type": "google_search_result", "call_id": "w", "result": [{ "search_suggestions": "s" }] }),
    ];
    let interaction = json!({ "id": "v1_", "status": "completed", "steps": steps });
    assert_eq!(kept(interaction, "gemini-interactions"), steps.map(|step| vendor("google", &step)));
}

/// A node: its author, its words, and what else it holds.
type Seed = (bool, usize, u8);

/// A path of nodes: words, calls with their results, and the compactions at `places`.
fn path(seeds: &[Seed], places: &[(usize, Value)]) -> Value {
    let mut nodes: Vec<Value> = Vec::new();
    for (at, &(is_human, words, kind)) in seeds.iter().enumerate() {
        let mut blocks: Vec<Value> = places.iter().filter(|(place, _)| *place == at).map(|(_, block)| json!({ "type": "vendor", "vendor": if block.get("id").is_some() { "openai" } else { "anthropic" }, "value": block })).collect();
        let is_model = !is_human || !blocks.is_empty();
        blocks.push(json!({ "type": "text", "text": format!("{at} {}", "river ".repeat(words)) }));
        if kind == 0 && is_model {
            blocks.push(json!({ "type": "toolCall", "id": format!("c{at}"), "name": "look", "arguments": {} }));
        }
        let author = if is_model { "model" } else { "human" };
        nodes.push(
            json!({ "id": format!("n{at}"), "authorType": author, "content": { "type": "mixed", "blocks": blocks } }),
        );
        if kind == 0 && is_model {
            let result =
                json!({ "type": "toolResult", "toolCallId": format!("c{at}"), "content": "seen ".repeat(words) });
            nodes.push(json!({ "id": format!("r{at}"), "authorType": "human", "content": result }));
        }
    }
    let edge = |at: usize| json!({ "id": format!("e{at}"), "sources": [{ "nodeId": nodes[at - 1]["id"] }], "targetNodeId": nodes[at]["id"] });
    json!({ "nodes": nodes, "edges": (1..nodes.len()).map(edge).collect::<Vec<_>>() })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(300), ..ProptestConfig::default() })]

    /// At every limit the newest compaction stays; over it nothing before the compaction does, without a marker. Within it nothing
    /// changes. Every node is accounted for, and a resident tree gives the same.
    #[test]
    fn a_compaction_in_a_tree_outlasts_every_cut(
        seeds in prop::collection::vec((any::<bool>(), 1..12usize, 0..5u8), 3..12),
        place in any::<prop::sample::Index>(),
        is_sealed in any::<bool>(),
        rolling in any::<bool>(),
        framed in any::<bool>(),
        recent in 0..3u32,
        step in prop::option::of(1..60u32),
    ) {
        let place = place.index(seeds.len());
        let block = if is_sealed { json!({ "type": "compaction", "id": "cmp", "encrypted_content": "sealed" }) } else { compaction() };
        let earlier = json!({ "type": "compaction", "content": "An earlier one.", "signature": "s" });
        let tree = path(&seeds, &[(place / 2, earlier), (place, block.clone())]);
        let nodes = tree["nodes"].as_array().unwrap();
        let ids: Vec<&str> = nodes.iter().map(|node| node["id"].as_str().unwrap()).collect();
        let at = ids.iter().position(|id| *id == format!("n{place}")).unwrap();
        let mut preferences = json!({ "tokenBuffer": 0, "minimumRecentNodes": recent, "truncationStrategy": if rolling { "rollingWindow" } else { "truncateMiddle" } });
        step.iter().for_each(|step| preferences["cutStep"] = json!(step));
        let mut options = json!({ "tip": ids[ids.len() - 1], "contextWindow": 1_000_000, "preferences": preferences });
        if framed {
            options["loomAware"] = json!(true);
        }
        let assemble = |window: u64| {
            let mut request = options.clone();
            request["tree"] = tree.clone();
            request["contextWindow"] = json!(window);
            call("assembleDialogue", &[request], None)
        };
        let whole = assemble(1_000_000).unwrap();
        let total = whole["report"]["tokens"]["total"].as_u64().unwrap();
        let mut steps = Vec::new();
        let mut expected = Vec::new();
        for window in (1..total + 20).step_by(11) {
            let result = assemble(window);
            let mut question = options.clone();
            question["contextWindow"] = json!(window);
            steps.push(json!(["assembleDialogue", question]));
            let Ok(result) = result else {
                expected.push(None);
                continue;
            };
            let kept: Vec<&str> = result["messages"].as_array().unwrap().iter().flat_map(|message| message["nodeIds"].as_array().unwrap()).map(|id| id.as_str().unwrap()).collect();
            if window >= total {
                prop_assert_eq!(&result["messages"], &whole["messages"]);
                prop_assert_eq!(&result["report"]["truncated"], false);
            } else {
                prop_assert_eq!(kept.first(), Some(&ids[at]), "{}: {:#}", window, result);
                let gone: Vec<&str> = result["report"]["cut"]["nodeIds"].as_array().unwrap().iter().map(|id| id.as_str().unwrap()).collect();
                let mut all = [kept.clone(), gone].concat();
                all.sort_unstable();
                let mut sorted = ids.clone();
                sorted.sort_unstable();
                prop_assert_eq!(all, sorted);
                for row in result["report"]["nodes"].as_array().unwrap().iter().take(at) {
                    prop_assert_eq!(&row["reason"], "compacted");
                }
                prop_assert!(json!(result["messages"]).to_string().contains(&block.to_string()));
                // The marker counts only nodes after the compaction.
                let cut = ids.len() - at - kept.len();
                if let Some(marker) = result["report"]["cut"]["marker"].as_str() {
                    prop_assert!(marker.contains(&cut.to_string()) || cut == 1, "{}: {}", cut, marker);
                }
                prop_assert!(cut > 0 || result["report"]["cut"].get("marker").is_none());
                prop_assert!(result["report"]["tokens"]["total"].as_u64().unwrap() <= window);
            }
            expected.push(Some(result));
        }
        let answers = call("LoomTree", std::slice::from_ref(&tree), Some(&steps)).unwrap();
        for (answer, expected) in answers.as_array().unwrap().iter().zip(expected) {
            if let Some(expected) = expected {
                prop_assert_eq!(&answer["messages"], &expected["messages"]);
                for part in ["tokens", "cut", "nodes", "truncated"] {
                    prop_assert_eq!(&answer["report"][part], &expected["report"][part], "{}", part);
                }
            }
        }
    }
}

/// A question and an answer, a compaction, and a thought after it.
fn compacted(block: Value, vendor: &str) -> Value {
    let thought =
        json!({ "type": "reasoning", "text": "I know.", "signature": r#"{"type":"thinking","signature":"c2ln"}"# });
    let content = [
        ("human", json!("the river was low that summer ".repeat(20))),
        ("model", json!("Yes.")),
        ("model", json!({ "type": "vendor", "vendor": vendor, "value": block })),
        ("human", json!("Go on.")),
        ("model", json!({ "type": "mixed", "blocks": [thought, "It rose."] })),
        ("human", json!("And then?")),
    ];
    let nodes = content
        .iter()
        .enumerate()
        .map(|(at, (author, content))| json!({ "id": format!("n{at}"), "authorType": author, "content": content }));
    let edge = |at: usize| json!({ "id": format!("e{at}"), "sources": [{ "nodeId": format!("n{}", at - 1) }], "targetNodeId": format!("n{at}") });
    json!({ "nodes": nodes.collect::<Vec<_>>(), "edges": (1..content.len()).map(edge).collect::<Vec<_>>() })
}

fn small_body(tree: &Value, provider: &str, model: &str, window: u32) -> Value {
    let target = json!({ "provider": provider, "model": model, "maxTokens": 9 });
    let request = json!({ "tree": tree, "tip": "n5", "contextWindow": window, "preferences": { "tokenBuffer": 0 }, "target": target });
    let body = call("requestBody", &[request], None).unwrap();
    serde_json::from_str(body["$text"].as_str().unwrap()).unwrap()
}

/// A body may begin with a compaction. Thinking after a signed one stays valid, after another one it does not.
#[test]
fn a_body_begins_with_the_compaction() {
    let body = small_body(&compacted(compaction(), "anthropic"), "anthropic", "claude-opus-5-5", 100);
    let messages = body["messages"].as_array().unwrap();
    assert_eq!(messages.len(), 4, "{body:#}");
    assert_eq!(messages[0], json!({ "role": "assistant", "content": [compaction()] }));
    assert_eq!(messages[2]["content"][0]["signature"], "c2ln");
    let mut unsigned = compaction();
    unsigned.as_object_mut().unwrap().shift_remove("signature");
    let body = small_body(&compacted(unsigned, "anthropic"), "anthropic", "claude-opus-5-5", 100);
    assert_eq!(body["messages"][2], json!({ "role": "assistant", "content": "It rose." }), "{body:#}");
    // Another provider gets the summary, and begins as it must.
    let body = small_body(&compacted(compaction(), "anthropic"), "gemini", "gemini-3-pro", 100);
    assert_eq!(body["contents"][0]["role"], "user");
    assert_eq!(body["contents"][1]["parts"][0]["text"], "They spoke of the tides.");
}

/// A compaction that the provider cannot read replaces nothing: the messages before it stay.
#[test]
fn a_sealed_compaction_counts_for_its_vendor_alone() {
    let item = json!({ "type": "compaction", "id": "c", "encrypted_content": "sealed" });
    let tree = compacted(item.clone(), "openai");
    let body = small_body(&tree, "openai-responses", "gpt-5.6", 60);
    assert_eq!(body["input"][0], item);
    let body = small_body(&tree, "anthropic", "claude-opus-5-5", 60);
    assert!(
        body["messages"].to_string().contains("messages omitted") || body["messages"].to_string().contains("omitted"),
        "{body:#}"
    );
}
