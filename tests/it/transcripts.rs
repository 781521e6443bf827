//! Reading and writing transcripts in each format (docs/sessions.md).

use std::borrow::Cow;
use std::fs;
use std::path::Path;

use ctxweave::commits::conversation::to_messages;
use ctxweave::commits::formats::{BlobSource, Format, ReadOptions};
use ctxweave::commits::transcript::{Role, Transcript, Turn};
use ctxweave::commits::translate::{CrossFamily, Delta, Materialized, Tier, TranslateOptions, translate};
use ctxweave::content::{Block, Image, Media};
use ctxweave::tokens::Heuristic;
use ctxweave::{Code, Diagnostic, DiagnosticCode, Limits};
use proptest::prelude::*;
use serde_json::{Value, json};

pub(crate) const SESSIONS: [(&str, Format); 7] = [
    ("bureau-agent.cbor", Format::BureauAgentV1),
    ("claude-code.jsonl", Format::ClaudeCodeV1),
    ("codex-v0.jsonl", Format::CodexV0),
    ("codex-v1.jsonl", Format::CodexV1),
    ("gemini-lines.jsonl", Format::GeminiV1),
    ("gemini-object.json", Format::GeminiV1),
    ("generic.jsonl", Format::GenericV1),
];

pub(crate) fn session(name: &str) -> Vec<u8> {
    fs::read(Path::new(crate::ROOT).join("examples/sessions").join(name)).unwrap()
}

pub(crate) fn read(format: Format, bytes: &[u8], through: bool) -> (Transcript, Vec<Diagnostic>) {
    let options = ReadOptions { through_compactions: through, ..ReadOptions::default() };
    format.read(bytes, options, &Limits::default()).unwrap()
}

pub(crate) fn texts(transcript: &Transcript) -> Vec<String> {
    let said = |turn: &Turn| -> String {
        let text = |block: &Block| match block {
            Block::Text(text) => text.to_string(),
            Block::ToolCall { id, .. } => format!("call {id}"),
            Block::ToolResult { tool_call_id, .. } => format!("result {tool_call_id}"),
            Block::Reasoning { .. } => "reasoning".to_owned(),
            Block::Image(_) => "image".to_owned(),
            Block::Audio(_) => "audio".to_owned(),
            Block::Vendor(_) => "vendor".to_owned(),
        };
        turn.blocks.iter().map(text).collect::<Vec<_>>().join(", ")
    };
    transcript.turns.iter().map(|turn| format!("{}: {}", turn.role.as_str(), said(turn))).collect()
}

pub(crate) fn lines(records: &[Value]) -> Vec<u8> {
    records.iter().map(|record| format!("{record}\n")).collect::<String>().into_bytes()
}

fn claude(records: &[Value], through: bool) -> Vec<String> {
    let (transcript, found) = read(Format::ClaudeCodeV1, &lines(records), through);
    assert_eq!(found, [], "nothing is wrong");
    texts(&transcript)
}

fn user(uuid: &str, parent: Option<&str>, text: &str) -> Value {
    json!({ "type": "user", "uuid": uuid, "parentUuid": parent, "message": { "role": "user", "content": text } })
}

fn assistant(uuid: &str, parent: &str, id: &str, content: Value) -> Value {
    let message = json!({ "id": id, "role": "assistant", "content": content });
    json!({ "type": "assistant", "uuid": uuid, "parentUuid": parent, "message": message })
}

fn call(id: &str) -> Value {
    json!([{ "type": "tool_use", "id": id, "name": "Read", "input": {} }])
}

fn result(uuid: &str, parent: &str, id: &str) -> Value {
    let content = json!([{ "type": "tool_result", "tool_use_id": id, "content": "ok" }]);
    json!({ "type": "user", "uuid": uuid, "parentUuid": parent, "message": { "role": "user", "content": content } })
}

/// `isSidechain` and `isMeta` records are not part of the conversation.
#[test]
fn side_chains_and_meta_records_are_not_the_conversation() {
    let mut meta = user("m", Some("a"), "meta");
    meta["isMeta"] = json!(true);
    let mut side = user("s", None, "side");
    side["isSidechain"] = json!(true);
    let records = [user("a", None, "one"), meta, side.clone(), user("b", Some("m"), "two")];
    assert_eq!(claude(&records, false), ["user: one", "user: two"]);
    // A file that is all side chain is the conversation of that agent.
    assert_eq!(claude(&[side], false), ["user: side"]);
}

/// Records of one API message share `message.id` and are one turn; parallel calls make siblings of them, whose results
/// are outside the chain.
#[test]
fn records_of_one_message_are_one_turn() {
    let records = [
        user("u", None, "go"),
        assistant("a1", "u", "msg", json!([{ "type": "thinking", "thinking": "hm", "signature": "s" }])),
        assistant("a2", "a1", "msg", call("t1")),
        result("r1", "a2", "t1"),
        assistant("a3", "a2", "msg", call("t2")),
        assistant("a4", "a2", "msg", call("t3")),
        result("r3", "a4", "t3"),
        result("r2", "a3", "t2"),
        assistant("b", "r2", "next", json!([{ "type": "text", "text": "done" }])),
    ];
    assert_eq!(
        claude(&records, false),
        [
            "user: go",
            "assistant: reasoning, call t1, call t2, call t3",
            "user: result t1",
            "user: result t3",
            "user: result t2",
            "assistant: done"
        ]
    );
}

/// The conversation is the `parentUuid` chain of the newest leaf.
#[test]
fn the_conversation_is_the_chain_of_the_newest_leaf() {
    let records = [
        user("a", None, "one"),
        user("b", Some("a"), "left"),
        user("c", Some("a"), "taken"),
        json!({ "type": "progress", "uuid": "p", "parentUuid": "c" }),
        user("d", Some("p"), "on"),
        json!({ "type": "summary", "summary": "title", "leafUuid": "d" }),
    ];
    assert_eq!(claude(&records, false), ["user: one", "user: taken", "user: on"]);
}

/// A `compact_boundary` and the summary after it; if read through, the summaries are left out.
#[test]
fn a_compaction_starts_with_its_summary() {
    let mut summary = user("s", Some("b"), "summary");
    summary["isCompactSummary"] = json!(true);
    let boundary = json!({
        "type": "system", "subtype": "compact_boundary", "uuid": "b", "parentUuid": null, "logicalParentUuid": "a"
    });
    let records = [user("a", None, "one"), boundary, summary.clone(), user("c", Some("s"), "two")];
    assert_eq!(claude(&records, false), ["user: summary", "user: two"]);
    assert_eq!(claude(&records, true), ["user: one", "user: two"]);
    // Older versions wrote no boundary.
    summary["parentUuid"] = json!(null);
    let records = [user("a", None, "one"), summary, user("c", Some("s"), "two")];
    assert_eq!(claude(&records, false), ["user: summary", "user: two"]);
    assert_eq!(claude(&records, true), ["user: one", "user: two"]);
}

/// A missing parent is never a shorter history, and a cycle ends.
#[test]
fn a_missing_parent_is_no_shorter_history() {
    let records = [user("a", None, "one"), user("b", Some("lost"), "two"), user("c", Some("b"), "three")];
    let (transcript, found) = read(Format::ClaudeCodeV1, &lines(&records), false);
    assert_eq!(texts(&transcript), ["user: one", "user: two", "user: three"]);
    assert_eq!(found[0].code, DiagnosticCode::BrokenChain);
    let records = [user("a", Some("b"), "one"), user("b", Some("a"), "two")];
    let (transcript, found) = read(Format::ClaudeCodeV1, &lines(&records), false);
    assert_eq!(texts(&transcript), ["user: one", "user: two"]);
    assert_eq!(found[0].code, DiagnosticCode::BrokenChain);
    // Lines of a stream have no uuids at all.
    let said = |kind: &str, text: &str| json!({ "type": kind, "message": { "role": kind, "content": text } });
    let records = [json!({ "type": "system", "subtype": "init" }), said("user", "one"), said("assistant", "two")];
    assert_eq!(claude(&records, false), ["user: one", "assistant: two"]);
}

/// A session that was resumed may hold a record twice; the first one counts.
#[test]
fn a_record_that_comes_twice_is_read_once() {
    let records =
        [user("a", None, "one"), user("b", Some("a"), "two"), user("a", None, "one"), user("c", Some("b"), "three")];
    let (transcript, found) = read(Format::ClaudeCodeV1, &lines(&records), false);
    assert_eq!(texts(&transcript), ["user: one", "user: two", "user: three"]);
    assert_eq!(found[0].code, DiagnosticCode::UnknownRecord);
}

/// Codex: `compacted`, and the event that takes turns back.
#[test]
fn codex_rollouts_are_read_as_codex_resumes_them() {
    let (transcript, _) = read(Format::CodexV1, &session("codex-v1.jsonl"), true);
    let said = texts(&transcript).join("\n");
    assert!(!said.contains("Never mind") && !said.contains("Forgotten"), "{said}");
    assert!(said.contains("user: result call_1, result call_2"), "parallel outputs are one turn: {said}");
    assert!(!said.contains("rounded once.\nuser: Totals"), "read through, the summary is left out: {said}");
    let (transcript, _) = read(Format::CodexV1, &session("codex-v1.jsonl"), false);
    assert_eq!(texts(&transcript)[0], "user: Totals in src/total.py are rounded once.");
    assert!(transcript.turns[0].summary);
}

/// Gemini CLI: a repeated id replaces, `$rewindTo` takes back, `$set.messages` replaces all.
#[test]
fn gemini_sessions_are_read_as_gemini_resumes_them() {
    let message = |id: &str, text: &str| json!({ "id": id, "type": "user", "content": text });
    let header = json!({ "sessionId": "s", "projectHash": "p" });
    let file = |records: &[Value]| texts(&read(Format::GeminiV1, &lines(records), false).0);
    let all = [header.clone(), message("1", "a"), message("2", "b"), message("1", "A")];
    assert_eq!(file(&all), ["user: A", "user: b"]);
    let back = json!({ "$rewindTo": "2" });
    assert_eq!(
        file(&[header.clone(), message("1", "a"), message("2", "b"), back.clone(), message("3", "c")]),
        ["user: a", "user: c"]
    );
    assert_eq!(file(&[header.clone(), message("1", "a"), back, message("3", "c")]), ["user: c"]);
    let set = json!({ "$set": { "messages": [message("9", "z")] } });
    assert_eq!(file(&[header, message("1", "a"), set, message("3", "c")]), ["user: z", "user: c"]);
}

/// A `bureau-agent-v1` item: the keys, `Input` a byte string, RFC 8949 §4.2.1 order.
#[test]
fn bureau_items_are_written_in_deterministic_order() {
    let arguments = Box::new(Cow::Owned(json!({ "a": 1 })));
    let call = Block::ToolCall { id: "t".into(), name: "n".into(), arguments, server: false };
    let transcript = Transcript::from(vec![Turn { blocks: vec![call], ..Turn::new(Role::Assistant) }]);
    let (bytes, found) = Format::BureauAgentV1.write(&transcript, "").unwrap();
    assert_eq!(found, []);
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let text = |text: &str| {
        let bytes: String = text.bytes().map(|byte| format!("{byte:02x}")).collect();
        format!("{:02x}{bytes}", 0x60 + text.len())
    };
    let input = "{\"a\":1}".bytes().map(|byte| format!("{byte:02x}")).collect::<String>();
    let expected = [
        "81a2".to_owned(),
        text("Role") + &text("assistant"),
        text("Content") + "81a7",
        text("Text") + "f6",
        text("Type") + &text("tool_use"),
        text("ToolUse") + "a3" + &text("ID") + &text("t") + &text("Name") + &text("n") + &text("Input") + "47" + &input,
        text("Thinking") + "f6",
        text("ToolResult") + "f6",
        text("ServerToolUse") + "f6",
        text("ServerToolResult") + "f6",
    ];
    assert_eq!(hex, expected.concat());
    // The sample was written by another program, in the same order.
    let sample = session("bureau-agent.cbor");
    let (transcript, _) = read(Format::BureauAgentV1, &sample, false);
    let (again, _) = Format::BureauAgentV1.write(&transcript, "").unwrap();
    assert_eq!(again.len() + "a1".len() / 2 + "Type".len() + 1 + "from_the_future".len() + 1, sample.len());
}

fn parts<'a>(list: &'a [(&'a str, &'a [u8])]) -> Vec<Delta<'a>> {
    let part = |&(format, blob)| Delta {
        format,
        blob,
        source: BlobSource { commit: "ctx-1", artifact_ref: "" },
        summary: None,
        time: None,
    };
    list.iter().map(part).collect()
}

fn translate_options(cross_family: CrossFamily, limits: &Limits) -> TranslateOptions<'_> {
    TranslateOptions { cross_family, through_compactions: false, limits, counter: &Heuristic, formats: &[] }
}

pub(crate) fn translated(list: &[(&str, &[u8])], target: &str, cross_family: CrossFamily) -> Materialized {
    let limits = Limits::default();
    translate(&parts(list), target, &translate_options(cross_family, &limits)).unwrap()
}

/// The tiers of translation in order.
#[test]
fn each_tier_is_used_where_it_is_the_best() {
    let generic = &b"{\"role\":\"user\",\"content\":\"hello\"}\n"[..];
    let v0 = session("codex-v0.jsonl");
    let render = CrossFamily::Render;
    assert_eq!(translated(&[("generic-v1", generic)], "generic-v1", render).tier, Tier::Native);
    assert_eq!(translated(&[("generic-v1", generic)], "generic-v1", render).bytes, generic);
    assert_eq!(translated(&[("codex-v0", &v0)], "codex-v1", render).tier, Tier::Fields);
    assert_eq!(translated(&[("generic-v1", generic)], "codex-v1", render).tier, Tier::Rendering);
    assert_eq!(translated(&[("generic-v1", generic)], "codex-v1", CrossFamily::Transcode).tier, Tier::Transcode);
    assert_eq!(translated(&[("odd-v1", generic)], "codex-v1", render).tier, Tier::Raw);
    let mixed = translated(&[("generic-v1", generic), ("codex-v0", &v0)], "generic-v1", render);
    assert_eq!((mixed.tier, mixed.message_count), (Tier::Rendering, 2));
    assert!(mixed.bytes.starts_with(generic));
    // A mapping of fields reports the same as its source.
    let mapped = translated(&[("codex-v0", &v0)], "codex-v1", render);
    let before = texts(&read(Format::CodexV0, &v0, false).0);
    assert_eq!(texts(&read(Format::CodexV1, &mapped.bytes, false).0), before);
    let back = translated(&[("codex-v1", &session("codex-v1.jsonl"))], "codex-v0", render);
    let before = texts(&read(Format::CodexV1, &session("codex-v1.jsonl"), false).0);
    assert_eq!(texts(&read(Format::CodexV0, &back.bytes, false).0), before);
}

/// Chains may mix formats; a translated commit is part of the chain of the commits after it.
#[test]
fn translated_records_are_part_of_the_conversation() {
    let one = lines(&[user("a", None, "one")]);
    let other = b"{\"role\":\"assistant\",\"content\":\"two\"}\n";
    let chain: [(&str, &[u8]); 2] = [("claude-code-v1", &one), ("generic-v1", other)];
    let first = translated(&chain, "claude-code-v1", CrossFamily::Transcode);
    // The agent went on from what it was given.
    let (transcript, _) = read(Format::ClaudeCodeV1, &first.bytes, false);
    assert_eq!(texts(&transcript), ["user: one", "assistant: two"]);
    let last: Value =
        serde_json::from_slice(first.bytes.trim_ascii().split(|&b| b == b'\n').next_back().unwrap()).unwrap();
    let next = lines(&[user("c", last["uuid"].as_str(), "three")]);
    let chain: [(&str, &[u8]); 3] = [chain[0], chain[1], ("claude-code-v1", &next)];
    let whole = translated(&chain, "claude-code-v1", CrossFamily::Transcode);
    assert!(whole.bytes.starts_with(&first.bytes), "the same chain gives the same ids");
    let (transcript, found) = read(Format::ClaudeCodeV1, &whole.bytes, false);
    assert_eq!(texts(&transcript), ["user: one", "assistant: two", "user: three"]);
    assert_eq!(found, []);
}

/// A call that the vendor answered itself: Codex writes neither an id nor a result.
fn search(query: &str) -> Value {
    let action = json!({ "type": "search", "query": query });
    let payload = json!({ "type": "web_search_call", "status": "completed", "action": action });
    json!({ "timestamp": "2026-03-02T09:00:00Z", "type": "response_item", "payload": payload })
}

fn calls_and_results(transcript: &Transcript) -> (Vec<String>, Vec<String>) {
    let (mut calls, mut results) = (Vec::new(), Vec::new());
    for block in transcript.turns.iter().flat_map(|turn| &turn.blocks) {
        match block {
            Block::ToolCall { id, .. } => calls.push(id.to_string()),
            Block::ToolResult { tool_call_id, .. } => results.push(tool_call_id.to_string()),
            _ => {}
        }
    }
    (calls, results)
}

/// Each call has a unique id and, in every format, a result; missing ones are reported.
#[test]
fn calls_without_an_id_or_a_result_are_given_both() {
    let bytes = lines(&[search("a"), search("a"), search("b")]);
    let (transcript, found) = read(Format::CodexV1, &bytes, false);
    assert_eq!(found, []);
    let (ids, results) = calls_and_results(&transcript);
    assert!(ids.iter().all(|id| !id.is_empty()) && ids[0] != ids[1] && ids[1] != ids[2] && ids[0] != ids[2], "{ids:?}");
    assert_eq!(results, [] as [String; 0]);
    assert_eq!(calls_and_results(&read(Format::CodexV1, &bytes, true).0).0, ids, "the same file, the same ids");
    for to in ["claude-code-v1", "gemini-v1", "generic-v1", "bureau-agent-v1"] {
        let done = translated(&[("codex-v1", &bytes)], to, CrossFamily::Transcode);
        let (again, _) = read(Format::named(to).unwrap(), &done.bytes, false);
        assert_eq!(calls_and_results(&again), (ids.clone(), ids.clone()), "{to}");
        let told = done.diagnostics.iter().any(|found| {
            found.code == DiagnosticCode::NotExpressible
                && found.message.contains("result")
                && found.message.contains('3')
        });
        assert!(told, "{to}: {:?}", done.diagnostics);
        // And back: no output without its call.
        let back = translated(&[(to, &done.bytes)], "codex-v1", CrossFamily::Transcode);
        let (calls, results) = calls_and_results(&read(Format::CodexV1, &back.bytes, false).0);
        assert_eq!((&calls, &results), (&ids, &ids), "{to}");
    }
}

fn codex_item(payload: Value) -> Value {
    json!({ "timestamp": "2026-03-02T09:00:00Z", "type": "response_item", "payload": payload })
}

/// A call in a delta of one format and its result in the next of another are a pair, whichever of them is rendered.
#[test]
fn a_pair_across_formats_is_not_torn() {
    let asked = lines(&[user("u", None, "go"), assistant("a", "u", "msg", call("t1"))]);
    let answered = lines(&[
        codex_item(json!({ "type": "function_call_output", "call_id": "t1", "output": "ok" })),
        codex_item(
            json!({ "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": "done" }] }),
        ),
    ]);
    let chain: [(&str, &[u8]); 2] = [("claude-code-v1", &asked), ("codex-v1", &answered)];
    for (to, expected) in [
        ("claude-code-v1", ["user: go", "assistant: call t1", "user: result t1"]),
        ("codex-v1", ["user: ", "assistant: call t1", "user: result t1"]),
    ] {
        let done = translated(&chain, to, CrossFamily::Render);
        let (transcript, found) = read(Format::named(to).unwrap(), &done.bytes, false);
        let said = texts(&transcript);
        for (said, expected) in said.iter().zip(expected) {
            assert!(said.starts_with(expected), "{to}: {said}");
        }
        let narrative = if to == "codex-v1" { &said[0] } else { &said[3] };
        assert!(narrative.contains("# Earlier conversation"), "{said:?}");
        assert!(!narrative.contains("Tool"), "what stands as a turn is not told again: {narrative}");
        assert_eq!(said.len(), 4);
        assert!(
            [&done.diagnostics[..], &found].concat().iter().all(|found| found.code != DiagnosticCode::ToolPairBroken)
        );
    }
    // Damage that cannot be repaired is reported.
    for (chain, id) in [
        ([("claude-code-v1", &asked[..]), ("odd-v1", &answered)], "t1"),
        ([("odd-v1", &asked), ("claude-code-v1", &lines(&[result("r", "x", "t2")]))], "t2"),
    ] {
        let done = translated(&chain, "claude-code-v1", CrossFamily::Render);
        let broken: Vec<_> =
            done.diagnostics.iter().filter(|found| found.code == DiagnosticCode::ToolPairBroken).collect();
        assert!(broken.len() == 1 && broken[0].message.contains(id), "{:?}", done.diagnostics);
    }
    // A delta that begins a separate chain does not have the call before it, whichever way that was translated.
    let asked = lines(&[
        json!({ "role": "assistant", "content": [{ "type": "toolCall", "id": "t3", "name": "n", "arguments": {} }] }),
    ]);
    let mut alone = result("r", "", "t3");
    alone["parentUuid"] = json!(null);
    for cross_family in [CrossFamily::Render, CrossFamily::Transcode] {
        let done = translated(
            &[("generic-v1", &asked), ("claude-code-v1", &lines(&[alone.clone()]))],
            "claude-code-v1",
            cross_family,
        );
        let (transcript, _) = read(Format::ClaudeCodeV1, &done.bytes, false);
        assert_eq!(texts(&transcript), ["user: result t3"]);
        let broken: Vec<_> =
            done.diagnostics.iter().filter(|found| found.code == DiagnosticCode::ToolPairBroken).collect();
        assert!(broken.len() == 1 && broken[0].message.contains("result of `t3`"), "{:?}", done.diagnostics);
    }
    let asked = lines(&[user("u", None, "go"), assistant("a", "u", "msg", call("t1"))]);
    // Pairs without text in between stay together; separated ones are reported once.
    let (silent, said) = (lines(&[json!({ "id": "s", "timestamp": "t" })]), session("codex-v0.jsonl"));
    for (between, broken) in [(&silent, 0), (&said, 1)] {
        let done = translated(
            &[("claude-code-v1", &asked), ("codex-v0", between), ("claude-code-v1", &lines(&[result("r", "a", "t1")]))],
            "claude-code-v1",
            CrossFamily::Render,
        );
        let told = done.diagnostics.iter().filter(|found| found.code == DiagnosticCode::ToolPairBroken).count();
        assert_eq!(told, broken, "{:?}", done.diagnostics);
    }
}

/// Versions of one family are no change of format to a pair: their calls and results stand in the target field by field.
#[test]
fn a_pair_across_versions_of_codex_is_not_torn() {
    let line = |format: &str, item: Value| lines(&[if format == "codex-v1" { codex_item(item) } else { item }]);
    let call =
        |format| line(format, json!({ "type": "function_call", "call_id": "t1", "name": "n", "arguments": "{}" }));
    let output = |format| line(format, json!({ "type": "function_call_output", "call_id": "t1", "output": "ok" }));
    let generic_call = lines(&[
        json!({ "role": "assistant", "content": [{ "type": "toolCall", "id": "t1", "name": "n", "arguments": {} }] }),
    ]);
    let generic_output = lines(&[json!({ "role": "tool", "tool_call_id": "t1", "content": "ok" })]);
    let words = lines(&[json!({ "role": "user", "content": "between" })]);
    let done = |chain: &[(&str, &[u8])], to: &str| {
        let done = translated(chain, to, CrossFamily::Render);
        let said = texts(&read(Format::named(to).unwrap(), &done.bytes, false).0);
        let broken = done.diagnostics.iter().filter(|found| found.code == DiagnosticCode::ToolPairBroken).count();
        (said, broken)
    };
    let pair = ["assistant: call t1", "user: result t1"].map(str::to_owned).to_vec();
    for from in ["codex-v0", "codex-v1"] {
        for to in ["codex-v0", "codex-v1"] {
            let (call, output) = (call(from), output(from));
            assert_eq!(done(&[(from, &call), ("generic-v1", &generic_output)], to), (pair.clone(), 0), "{from} {to}");
            assert_eq!(done(&[("generic-v1", &generic_call), (from, &output)], to), (pair.clone(), 0), "{from} {to}");
            let (said, broken) = done(&[(from, &call), ("generic-v1", &words), (from, &output)], to);
            assert_eq!((said.len(), broken), (3, 1), "{from} {to}: {said:?}");
            // Both versions before the result.
            let other = if from == "codex-v0" { "codex-v1" } else { "codex-v0" };
            let thought =
                line(other, json!({ "type": "reasoning", "summary": [{ "type": "summary_text", "text": "hm" }] }));
            let (said, broken) = done(&[(from, &call), (other, &thought), ("generic-v1", &generic_output)], to);
            let expected = ["assistant: call t1, reasoning", "user: result t1"].map(str::to_owned).to_vec();
            assert_eq!((said, broken), (expected, 0), "{from} {to}");
        }
    }
}

/// Chat lines hold calls and thoughts next to their content, some of them without ids.
#[test]
fn calls_and_thoughts_next_to_the_content_are_read() {
    let message = |fields: Value| {
        let mut line = json!({ "role": "assistant", "content": "calling" });
        line.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        line
    };
    let called = |format: Format, line: Value| match read(format, &lines(&[line]), false) {
        (transcript, found) if found.is_empty() => {
            let blocks = transcript.turns[0].blocks.iter();
            blocks
                .filter_map(|block| match block {
                    Block::ToolCall { name, arguments, .. } => Some((name.to_string(), arguments.clone().into_owned())),
                    _ => None,
                })
                .next()
                .unwrap()
        }
        other => panic!("{other:?}"),
    };
    let function = |arguments: Value| json!({ "name": "f", "arguments": arguments });
    let expected = ("f".to_owned(), json!({ "a": 1 }));
    for arguments in [json!("{\"a\":1}"), json!({ "a": 1 })] {
        let old = message(json!({ "function_call": function(arguments.clone()) }));
        assert_eq!(called(Format::GenericV1, old), expected);
        let new = message(json!({ "tool_calls": [{ "function": function(arguments.clone()) }] }));
        assert_eq!(called(Format::GenericV1, new), expected);
        let codex = json!({ "type": "function_call", "call_id": "t", "name": "f", "arguments": arguments });
        assert_eq!(called(Format::CodexV0, codex), expected);
    }
    let custom = json!({ "type": "custom_tool_call", "call_id": "t", "name": "f", "input": { "a": 1 } });
    assert_eq!(called(Format::CodexV0, custom), expected);
    let (transcript, found) = read(Format::GenericV1, &lines(&[message(json!({ "reasoning_content": "hm" }))]), false);
    assert_eq!((texts(&transcript), found), (vec!["assistant: reasoning, calling".to_owned()], vec![]));
    for odd in [
        json!({ "tool_calls": 5 }),
        json!({ "tool_calls": "x" }),
        json!({ "tool_calls": {} }),
        json!({ "function_call": 5 }),
        json!({ "reasoning_content": 5 }),
    ] {
        let (transcript, found) = read(Format::GenericV1, &lines(&[message(odd.clone())]), false);
        let codes: Vec<_> = found.iter().map(|found| found.code).collect();
        assert_eq!(
            (texts(&transcript), codes),
            (vec!["assistant: calling".to_owned()], vec![DiagnosticCode::UnknownRecord]),
            "{odd}"
        );
    }
    for (key, value) in [
        ("tool_calls", json!(null)),
        ("tool_calls", json!([])),
        ("function_call", json!(null)),
        ("reasoning_content", json!("")),
    ] {
        let (transcript, found) = read(Format::GenericV1, &lines(&[message(json!({ key: value }))]), false);
        assert_eq!((texts(&transcript), found), (vec!["assistant: calling".to_owned()], vec![]), "{key}");
    }
}

/// Calls without ids, as Ollama writes them, get some that follow from the commit and their order, and so do their results.
#[test]
fn pairs_without_ids_are_given_some() {
    let asked = |names: &[&str]| {
        let calls: Vec<Value> =
            names.iter().map(|name| json!({ "function": { "name": name, "arguments": {} } })).collect();
        json!({ "role": "assistant", "content": "", "tool_calls": calls })
    };
    let answer = |text: &str| json!({ "role": "tool", "content": text });
    let older = [
        json!({ "role": "assistant", "content": null, "function_call": { "name": "c", "arguments": "{}" } }),
        json!({ "role": "function", "name": "c", "content": "3" }),
    ];
    let round = [asked(&["a", "b"]), answer("1"), answer("2")];
    let chat = lines(&[&round[..], &older[..]].concat());
    let (transcript, found) = read(Format::GenericV1, &chat, false);
    assert_eq!(found, []);
    let (calls, results) = calls_and_results(&transcript);
    assert_eq!(calls, results);
    assert!(calls.iter().all(|id| id.starts_with("call_")) && calls.len() == 3, "{calls:?}");
    let item = |kind: &str, text: &str| json!({ "type": kind, "name": "f", "arguments": "{}", "output": text });
    let codex = ["function_call", "function_call", "function_call_output", "function_call_output"];
    let (transcript, found) = read(Format::CodexV0, &lines(&codex.map(|kind| item(kind, "ok"))), false);
    let (calls, results) = calls_and_results(&transcript);
    assert!(found.is_empty() && calls == results && calls[0] != calls[1], "{calls:?} {results:?}");
    // One that was never answered does not take the next one's result.
    let (calls, results) = calls_and_results(
        &read(
            Format::GenericV1,
            &lines(&[asked(&["a"]), json!({ "role": "user", "content": "stop" }), asked(&["b"]), answer("2")]),
            false,
        )
        .0,
    );
    assert_eq!(calls[1..], results);
    // The same chat twice in a chain: four pairs of their own.
    let between = lines(&[user("u", None, "go")]);
    for to in ["claude-code-v1", "bureau-agent-v1", "codex-v1", "gemini-v1"] {
        let chain: [(&str, &[u8]); 3] = [("generic-v1", &chat), ("odd-v1", &between), ("generic-v1", &lines(&round))];
        let done = translated(&chain, to, CrossFamily::Transcode);
        let (mut calls, results) = calls_and_results(&read(Format::named(to).unwrap(), &done.bytes, false).0);
        assert_eq!(calls, results, "{to}");
        calls.sort();
        calls.dedup();
        assert!(calls.len() == 5 && !calls[0].is_empty(), "{to}: {calls:?}");
        assert!(
            done.diagnostics.iter().all(|found| found.code == DiagnosticCode::UnknownFormat),
            "{:?}",
            done.diagnostics
        );
    }
}

/// An image that only a vendor's store of files has is no image at a URL.
#[test]
fn an_image_in_a_store_of_files_is_reported() {
    let image = json!({ "type": "image", "source": { "type": "file", "file_id": "f" } });
    let record = json!({ "type": "user", "uuid": "a", "message": { "role": "user", "content": [image] } });
    let (transcript, found) = read(Format::ClaudeCodeV1, &lines(&[record]), false);
    assert_eq!(texts(&transcript), ["user: [image: f]"]);
    assert_eq!(found.iter().map(|found| found.code).collect::<Vec<_>>(), [DiagnosticCode::UnknownRecord]);
}

/// A `$rewindTo` that removes more than it states is reported.
#[test]
fn a_rewind_to_an_unknown_message_is_reported() {
    let message = |id: &str| json!({ "id": id, "type": "user", "content": id });
    let back = json!({ "$rewindTo": "lost" });
    let (transcript, found) = read(Format::GeminiV1, &lines(&[message("1"), back.clone(), message("2")]), false);
    assert_eq!(texts(&transcript), ["user: 2"]);
    assert_eq!(found.iter().map(|found| found.code).collect::<Vec<_>>(), [DiagnosticCode::BrokenChain]);
    assert_eq!(read(Format::GeminiV1, &lines(&[back, message("2")]), false).1, [], "nothing was there to lose");
}

/// docs/errors.md, `unknown_format`: an unknown target and an unknown delta are reported, each delta once.
#[test]
fn unknown_formats_are_reported() {
    let line = b"{\"role\":\"user\",\"content\":\"x\"}\n";
    let codes = |chain: &[(&str, &[u8])], to: &str| {
        let done = translated(chain, to, CrossFamily::Render);
        done.diagnostics.iter().map(|found| found.code).collect::<Vec<_>>()
    };
    let unknown = DiagnosticCode::UnknownFormat;
    assert_eq!(codes(&[("generic-v1", line)], "none-v1"), [unknown]);
    assert_eq!(codes(&[("odd-v1", line), ("odd-v1", line)], "generic-v1"), [unknown, unknown]);
    assert_eq!(codes(&[("odd-v1", line), ("odd-v1", line)], "odd-v1"), [unknown, unknown, unknown]);
    assert_eq!(codes(&[("odd-v1", line)], "odd-v1"), []);
}

/// The text of a turn stays inside it: no fence or comment that it leaves open takes the turns after it, and no heading of
/// its own stands as high as theirs.
#[test]
fn a_narrative_is_not_broken_by_its_texts() {
    let rendered = |text: &str| {
        let bytes =
            lines(&[json!({ "role": "user", "content": text }), json!({ "role": "assistant", "content": "answer" })]);
        let done = translated(&[("generic-v1", &bytes)], "none-v1", CrossFamily::Render);
        let text = String::from_utf8(done.bytes).unwrap();
        let (_, text) = text.split_once("## 1. User\n\n").unwrap();
        text.strip_suffix("\n\n## 2. Assistant\n\nanswer\n").unwrap().to_owned()
    };
    assert_eq!(rendered("look\n```js\nlet a;"), "look\n```js\nlet a;\n```");
    assert_eq!(rendered("~~~~\n```\n# no heading"), "~~~~\n```\n# no heading\n~~~~");
    assert_eq!(rendered("````\n```\n# code\n````\n# heading"), "````\n```\n# code\n````\n### heading");
    assert_eq!(rendered("<!-- open\n# hidden"), "<!-- open\n# hidden\n-->");
    assert_eq!(
        rendered("# 1\n## 2\n### 3\n#### 4\n##### 5\n###### 6\n  # in\n#tag"),
        "### 1\n#### 2\n##### 3\n###### 4\n###### 5\n###### 6\n  ### in\n#tag"
    );
    assert_eq!(
        rendered("Title\n===\n\nOther\n---\ntext\n\n---\nend"),
        "Title\n\n===\n\nOther\n\n---\ntext\n\n---\nend"
    );
    for tag in ["pre", "script", "style", "textarea"] {
        assert_eq!(rendered(&format!("<{tag}>\n\n# raw\n```")), format!("<{tag}>\n\n# raw\n```\n</{tag}>"));
    }
    assert_eq!(rendered("<Script src=a>\nx</SCRIPT> y\n# read"), "<Script src=a>\nx</SCRIPT> y\n### read");
    assert_eq!(rendered("<pre>a</pre>\n# read\n<prefix>\n# read"), "<pre>a</pre>\n### read\n<prefix>\n### read");
    assert_eq!(rendered("- item\n  ```\n  code"), "- item\n  ```\n  code\n  ```");
    assert_eq!(rendered("- a\n\n  ```\n  x"), "- a\n\n  ```\n  x\n  ```");
    assert_eq!(rendered("> ```\n> q\n>\n> r"), "> ```\n> q\n>\n> r\n> ```");
    assert_eq!(rendered("- ~~~\n\n  x\n  ~~~\n# h"), "- ~~~\n\n  x\n  ~~~\n### h");
    assert_eq!(rendered("<![CDATA[ open"), "<![CDATA[ open\n]]>");
    assert_eq!(rendered("<?php open"), "<?php open\n?>");
    assert_eq!(rendered("<!DOCTYPE x"), "<!DOCTYPE x\n>");
    assert_eq!(rendered("text\r```\ropen"), "text\n```\nopen\n```");
    assert_eq!(rendered("text\r# cr"), "text\n### cr");
    assert_eq!(rendered("text\n---\n--\n--"), "text\n\n---\n\n--\n\n--");
    // What only a parser could tell goes into a fence; headings in lists and quotes are inside of them.
    for unsure in [
        "1. ```\n   x",
        "- a\n  ```\n  x\nout",
        "<div>\n```\n\nx",
        "- <!-- x",
        "<!-->\nx",
        "<style>\n</pre>\nx",
        "<pre></style>\nx",
    ] {
        let fence = if unsure.contains("```") { "````" } else { "```" };
        assert_eq!(rendered(unsure), format!("{fence}\n{unsure}\n{fence}"));
    }
    assert_eq!(rendered("- # h\n> # q"), "- # h\n> # q");
    let image =
        json!({ "role": "user", "content": [{ "type": "image", "mimeType": "image/png\n```", "data": "AA==" }] });
    let thought = json!({ "role": "assistant", "content": [{ "type": "reasoning", "text": "a\r# b" }] });
    let done = translated(&[("generic-v1", &lines(&[image, thought]))], "none-v1", CrossFamily::Render);
    let text = String::from_utf8(done.bytes).unwrap();
    assert!(text.contains("\n[image: image/png ```]\n") && text.contains("\n> a\n> # b\n"), "{text}");
    let odd = json!({ "role": "assistant", "content": [{ "type": "toolCall", "id": "1\n# 2", "name": "a\r# b", "arguments": {} }] });
    let done = translated(&[("generic-v1", &lines(&[odd]))], "none-v1", CrossFamily::Render);
    let text = String::from_utf8(done.bytes).unwrap();
    assert!(text.contains("Tool call `a # b` (`1 # 2`):"), "{text}");
    assert_eq!(rendered("no `#` here\r\n```\r\nclosed\r\n```"), "no `#` here\r\n```\r\nclosed\r\n```");
}

/// Content that the target cannot express is a diagnostic.
#[test]
fn inexpressible_content_is_reported() {
    let bytes = session("generic.jsonl");
    let done = translated(&[("generic-v1", &bytes)], "bureau-agent-v1", CrossFamily::Transcode);
    let said: Vec<&str> = done.diagnostics.iter().map(|found| found.message.as_str()).collect();
    assert!(said.iter().any(|said| said.starts_with("an image")), "{said:?}");
    let (transcript, _) = read(Format::BureauAgentV1, &done.bytes, false);
    assert!(texts(&transcript)[1].contains("[image: image/png]"));
}

/// Every truncation is reported, unless it is at the end of a record.
#[test]
fn every_truncation_is_reported() {
    for (name, format) in SESSIONS {
        let whole = session(name);
        let (_, usual) = read(format, &whole, true);
        for cut in 1..whole.len() {
            let head = &whole[..cut];
            let outcome = format.read(head, ReadOptions::default(), &Limits::default());
            let told = match &outcome {
                Err(error) => error.code() == Code::InvalidBlob,
                Ok((_, found)) => found.iter().any(|found| !usual.contains(found)),
            };
            let between_records = format != Format::BureauAgentV1
                && name != "gemini-object.json"
                && (whole[cut] == b'\n' || whole[cut - 1] == b'\n');
            assert!(told || between_records, "{name} cut at {cut}: {outcome:?}");
        }
    }
}

/// No single changed byte makes a reader panic; input that is no longer JSON or CBOR is reported.
#[test]
fn every_corruption_is_survived() {
    for (name, format) in SESSIONS {
        let whole = session(name);
        let usual = texts(&read(format, &whole, false).0).len();
        // Every third place, with one of five bytes in turn, and with one that is never UTF-8.
        for at in (0..whole.len()).step_by(3) {
            for byte in [[0, b'"', b'{', b'}', b'\n'][at % 5], 0xff] {
                let mut damaged = whole.clone();
                damaged[at] = byte;
                if let Ok((transcript, found)) = format.read(&damaged, ReadOptions::default(), &Limits::default()) {
                    let fewer = transcript.turns.len() < usual;
                    assert!(!fewer || !found.is_empty() || format != Format::BureauAgentV1, "{name} at {at}");
                }
            }
        }
    }
}

/// No input traps or overflows the stack, and quadratic time would not end here: ten thousand deltas without recursion.
#[test]
fn large_inputs_are_read_to_their_end() {
    let rollbacks = "{\"type\":\"event_msg\",\"payload\":{\"type\":\"thread_rolled_back\",\"num_turns\":4000000000}}\n";
    let deep = format!("{{\"role\":\"user\",\"content\":{}{}}}\n", "[".repeat(125_000), "]".repeat(125_000));
    let orphans: String = (0..2_000).map(|n| format!("{}\n", user(&n.to_string(), Some("0"), "x"))).collect();
    for text in [
        "a".repeat(1 << 18),
        " ".repeat(1 << 18),
        "文".repeat(90_000),
        "[".repeat(1 << 18),
        "{}".repeat(125_000),
        "}{".repeat(125_000),
        "\n".repeat(1 << 18),
        "\\ud800".repeat(40_000),
        "\"".repeat(1 << 18),
        rollbacks.repeat(2_500),
        deep,
        orphans,
    ] {
        for format in Format::WRITTEN {
            if let Err(error) = format.read(text.as_bytes(), ReadOptions::default(), &Limits::default()) {
                let code = error.code();
                assert!(matches!(code, Code::InvalidBlob | Code::LimitExceeded), "{code} for {:.20}", text);
            }
        }
    }
    let turn = &b"{\"role\":\"user\",\"content\":\"x\"}\n"[..];
    let other =
        &b"{\"type\":\"message\",\"role\":\"assistant\",\"content\":[{\"type\":\"output_text\",\"text\":\"y\"}]}\n"[..];
    let chain: Vec<(&str, &[u8])> =
        (0..10_000).map(|n| if n % 2 == 0 { ("generic-v1", turn) } else { ("codex-v0", other) }).collect();
    for target in ["claude-code-v1", "codex-v1", "bureau-agent-v1"] {
        assert_eq!(translated(&chain, target, CrossFamily::Transcode).message_count, 10_000, "{target}");
    }
}

fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-9_007_199_254_740_991_i64..9_007_199_254_740_991).prop_map(Value::from),
        any::<f64>()
            .prop_filter("a number with a fraction", |n| n.is_finite() && n.fract() != 0.0)
            .prop_map(Value::from),
        ".{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a-z]{1,3}", inner, 0..4).prop_map(|map| json!(map)),
        ]
    })
}

fn arguments() -> impl Strategy<Value = Value> {
    prop::collection::btree_map("[a-z]{1,3}", json_value(), 0..3).prop_map(|map| json!(map))
}

fn image() -> impl Strategy<Value = Block<'static>> {
    "[A-Za-z0-9+/]{4,8}".prop_map(|data| {
        let media = Some(Media::Data(data.into()));
        Block::Image(Box::new(Image { mime_type: "image/png".into(), media, ..Image::default() }))
    })
}

/// A conversation that every family but bureau-agent can hold: prompts, answers with thoughts and calls, results. The
/// last block of an answer is a call or the only text, since formats differ in whether two texts stay apart.
fn conversation(images: bool) -> impl Strategy<Value = Transcript> {
    let text = "[^\\p{C}]{0,6}\\PC{1,6}";
    let prompt = (text, prop::option::of(image())).prop_map(move |(said, image)| {
        let blocks = [Block::text(said)].into_iter().chain(image.filter(|_| images)).collect();
        Turn { blocks, ..Turn::new(Role::User) }
    });
    let shown = (text, prop::option::of(image())).prop_map(move |(said, image)| {
        [Block::text(said)].into_iter().chain(image.filter(|_| images)).collect::<Vec<_>>()
    });
    let answer = (
        prop::option::of(text),
        prop::option::of(text),
        prop::collection::vec(("[a-z]{1,6}", arguments(), shown, any::<bool>()), 0..3),
    );
    let round = (prompt, answer);
    prop::collection::vec(round, 0..4).prop_map(|rounds| {
        let mut turns = Vec::new();
        for (number, (prompt, (thought, said, calls))) in rounds.into_iter().enumerate() {
            turns.push(prompt);
            let thought = thought.map(|text| Block::Reasoning { text: text.into(), signature: None, redacted: false });
            let mut blocks: Vec<Block<'static>> = thought.into_iter().chain(said.map(Block::text)).collect();
            let mut results = Vec::new();
            for (at, (name, arguments, content, is_error)) in calls.into_iter().enumerate() {
                let id = format!("call-{number}-{at}");
                let (name, arguments) = (name.into(), Box::new(Cow::Owned(arguments)));
                blocks.push(Block::ToolCall { id: id.clone().into(), name, arguments, server: false });
                let is_error = is_error.then_some(true);
                results.push(Block::ToolResult { tool_call_id: id.into(), content, is_error, server: false });
            }
            for (role, blocks) in [(Role::Assistant, blocks), (Role::User, results)] {
                if !blocks.is_empty() {
                    turns.push(Turn { blocks, ..Turn::new(role) });
                }
            }
        }
        Transcript::from(turns)
    })
}

/// Roles and blocks; ids and times are made up where a format needs them.
fn essence(transcript: &Transcript) -> Vec<(Role, Vec<Block<'static>>)> {
    transcript.turns.iter().map(|turn| (turn.role, turn.blocks.clone())).collect()
}

/// The ATX and setext headings of a Markdown text that stand in no quote and no list, as CommonMark finds them. The text has no tabs.
fn root_headings(text: &str) -> Vec<String> {
    #[derive(Clone, Copy, PartialEq)]
    enum Leaf {
        None,
        Paragraph,
        Fence(char, usize),
        Html(&'static [&'static str]),
        HtmlUntilBlank,
    }
    const RAW: &[&str] = &["</pre>", "</script>", "</style>", "</textarea>"];
    let indent = |text: &str| text.len() - text.trim_start_matches(' ').len();
    let fence_of = |text: &str| -> Option<(char, usize, String)> {
        let mark = text.chars().next().filter(|mark| "`~".contains(*mark))?;
        let after = text.trim_start_matches(mark);
        (text.len() - after.len() >= 3).then(|| (mark, text.len() - after.len(), after.trim_matches(' ').to_owned()))
    };
    let quote = |text: &str| -> Option<String> {
        let inner = text.trim_start_matches(' ').strip_prefix('>').filter(|_| indent(text) <= 3)?;
        Some(inner.strip_prefix(' ').unwrap_or(inner).to_owned())
    };
    let is_break = |text: &str| {
        let marks = text.replace(' ', "");
        marks.len() >= 3 && ["-", "*", "_"].iter().any(|mark| marks.replace(mark, "").is_empty())
    };
    // The width of a marker, what it is, and what follows it.
    let marker = |inner: &str| -> Option<(usize, bool)> {
        let digits = inner.len() - inner.trim_start_matches(|ch: char| ch.is_ascii_digit()).len();
        let after = &inner[digits..];
        let fine =
            if digits == 0 { after.starts_with(['-', '+', '*']) } else { digits <= 9 && after.starts_with(['.', ')']) };
        let rest = after.get(1..).filter(|rest| fine && (rest.is_empty() || rest.starts_with(' ')))?;
        Some((digits + 1, (digits == 0 || &inner[..digits] == "1") && !rest.trim_matches(' ').is_empty()))
    };
    // Quotes, and list items with indented content.
    let mut containers: Vec<Option<usize>> = Vec::new();
    let (mut leaf, mut headings, mut paragraph) = (Leaf::None, Vec::new(), String::new());
    for line in text.replace("\r\n", "\n").replace('\r', "\n").split('\n') {
        let (mut rest, mut matched) = (line.to_owned(), 0);
        for container in &containers {
            rest = match *container {
                None => match quote(&rest) {
                    Some(inner) => inner,
                    None => break,
                },
                Some(_) if rest.trim_matches(' ').is_empty() => String::new(),
                Some(width) if indent(&rest) >= width => rest.split_off(width),
                Some(_) => break,
            };
            matched += 1;
        }
        let all = matched == containers.len();
        let inner = rest.trim_start_matches(' ').to_owned();
        match leaf {
            Leaf::Fence(mark, length) if all => {
                let closes = fence_of(&inner)
                    .is_some_and(|(other, long, after)| other == mark && long >= length && after.is_empty());
                if closes && indent(&rest) <= 3 {
                    leaf = Leaf::None;
                }
                continue;
            }
            Leaf::Html(ends) if all => {
                if ends.iter().any(|end| inner.to_lowercase().contains(end)) {
                    leaf = Leaf::None;
                }
                continue;
            }
            Leaf::HtmlUntilBlank if all && !rest.trim_matches(' ').is_empty() => continue,
            Leaf::Paragraph => {}
            _ => leaf = Leaf::None,
        }
        let direct = all && leaf == Leaf::Paragraph;
        let underline =
            ["=", "-"].iter().any(|mark| inner.trim_end_matches(' ').replace(mark, "").is_empty()) && !inner.is_empty();
        if direct && underline && indent(&rest) <= 3 {
            if containers.is_empty() {
                headings.push(format!("{} {paragraph}", if inner.starts_with('=') { "#" } else { "##" }));
            }
            leaf = Leaf::None;
            continue;
        }
        let mut now = containers[..matched].to_vec();
        let mut fresh = false;
        while !rest.trim_matches(' ').is_empty() && indent(&rest) <= 3 {
            let inner = rest.trim_start_matches(' ').to_owned();
            if let Some(inner) = quote(&rest) {
                (rest, fresh) = (inner, true);
                now.push(None);
            } else if let (false, Some((width, interrupts))) = (is_break(&inner), marker(&inner)) {
                if direct && !fresh && !interrupts {
                    break;
                }
                let after = &inner[width..];
                let space = match indent(after) {
                    _ if after.trim_matches(' ').is_empty() => 1,
                    5.. => 1,
                    space => space,
                };
                now.push(Some(indent(&rest) + width + space));
                (rest, fresh) = (after.get(space..).unwrap_or_default().to_owned(), true);
            } else {
                break;
            }
        }
        let inner = rest.trim_start_matches(' ').to_owned();
        let goes_on = leaf == Leaf::Paragraph && !fresh;
        if rest.trim_matches(' ').is_empty() {
            (containers, leaf) = (now, Leaf::None);
            continue;
        }
        let lower = inner.to_lowercase();
        let name: String =
            lower.trim_start_matches(['<', '/']).chars().take_while(char::is_ascii_alphanumeric).collect();
        let found = if indent(&rest) > 3 {
            None
        } else if let Some((mark, length, after)) =
            fence_of(&inner).filter(|(mark, _, after)| *mark == '~' || !after.contains('`'))
        {
            let _ = after;
            Some(Leaf::Fence(mark, length))
        } else if lower.starts_with('<')
            && ["pre", "script", "style", "textarea"].contains(&&*name)
            && !lower.starts_with("</")
        {
            Some(Leaf::Html(RAW))
        } else if inner.starts_with("<!--") {
            Some(Leaf::Html(&["-->"]))
        } else if inner.starts_with("<![CDATA[") {
            Some(Leaf::Html(&["]]>"]))
        } else if inner.starts_with("<?") {
            Some(Leaf::Html(&["?>"]))
        } else if inner.starts_with("<!D") {
            Some(Leaf::Html(&[">"]))
        } else if inner.starts_with('<') && (name == "div" || (!goes_on && inner.trim_end_matches(' ').ends_with('>')))
        {
            Some(Leaf::HtmlUntilBlank)
        } else if inner.trim_start_matches('#').starts_with(' ')
            && inner.starts_with('#')
            && !inner.starts_with("#######")
        {
            if now.is_empty() {
                headings.push(inner.clone());
            }
            Some(Leaf::None)
        } else if is_break(&inner) {
            Some(Leaf::None)
        } else {
            None
        };
        let found = found.map(|found| match found {
            Leaf::Html(ends) if ends.iter().any(|end| lower.contains(end)) => Leaf::None,
            found => found,
        });
        match found {
            Some(found) => (containers, leaf) = (now, found),
            // If it is lazy, its containers continue as well.
            None if goes_on => {}
            None if indent(&rest) > 3 => (containers, leaf) = (now, Leaf::None),
            None => {
                (containers, leaf) = (now, Leaf::Paragraph);
                paragraph = inner;
            }
        }
    }
    headings
}

/// Lines that leave something open, or close it, or seem to.
const NASTY: &[&str] = &[
    "- item",
    "  ```",
    "```",
    "~~~",
    "````",
    "   ```js",
    "> ```",
    "> q",
    ">",
    "- ```",
    "1. ```",
    "1. a",
    "2. b",
    "<pre>",
    "</pre>",
    "<!-- x",
    "-->",
    "<?php",
    "?>",
    "<!DOCTYPE x",
    "<![CDATA[",
    "]]>",
    "<div>",
    "<a>",
    "# h",
    "===",
    "---",
    "--",
    "    code",
    "    ```",
    "text",
    "",
    "",
    "- # h",
    "> # q",
    "  - deep",
    "      x",
    "  x",
    "* * *",
    "<!-->",
    "10. ten",
    "    - ~~~",
    "    ~~~",
    "> - ```",
    ">   ```",
    ">   x",
    "  # in",
    "## two",
    "-",
    "  <!-- y",
    "<pre>a</pre>",
    "``` a`b",
    "```\u{a0}",
    "\u{a0}",
];

fn nasty() -> impl Strategy<Value = String> {
    let line = (prop::sample::select(NASTY), prop::sample::select(&["\n", "\n", "\n", "\r", "\r\n"][..]));
    prop::collection::vec(line, 0..8)
        .prop_map(|lines| lines.iter().flat_map(|(line, end)| [*line, *end]).collect::<String>())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::generate::cases(2_000)))]

    /// Whatever turns say, all headings of turns are headings, and nothing else is as high.
    #[test]
    fn every_turn_of_a_narrative_is_found(turns in prop::collection::vec(prop::collection::vec(nasty(), 1..3), 1..4)) {
        let texts = |turn: &Vec<String>| turn.iter().map(|text| json!({ "type": "text", "text": text })).collect::<Vec<_>>();
        let records: Vec<Value> = turns.iter().map(|turn| json!({ "role": "user", "content": texts(turn) })).collect();
        let done = translated(&[("generic-v1", &lines(&records))], "none-v1", CrossFamily::Render);
        let text = String::from_utf8(done.bytes).unwrap();
        let mut found = root_headings(&text);
        found.retain(|heading| heading.starts_with("# ") || heading.starts_with("## "));
        let own = (1..=turns.len()).map(|number| format!("## {number}. User"));
        let expected: Vec<String> = ["# Earlier conversation".to_owned()].into_iter().chain(own).collect();
        prop_assert_eq!(found, expected, "{}", text);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::generate::cases(64)))]

    /// A transcript that is written and read again is the same, in every format.
    #[test]
    fn transcripts_survive_every_format(transcript in conversation(true), plain in conversation(false)) {
        for format in Format::WRITTEN {
            let transcript = if *format == Format::BureauAgentV1 { &plain } else { &transcript };
            let (bytes, found) = format.write(transcript, "seed").unwrap();
            prop_assert_eq!(found, []);
            let (again, found) = read(*format, &bytes, false);
            let told = found.iter().all(|found| found.code == DiagnosticCode::NoMessages);
            prop_assert!(found.is_empty() || (told && transcript.turns.is_empty()), "{:?}", found);
            prop_assert_eq!(essence(&again), essence(transcript), "{}", format);
            // Writing what was read gives the same bytes: nothing is made up twice.
            let (same, _) = format.write(transcript, "seed").unwrap();
            prop_assert_eq!(same, bytes);
        }
    }

    /// Transcoding from any format to any other keeps the conversation.
    #[test]
    fn transcoding_keeps_the_conversation(transcript in conversation(false)) {
        for from in Format::WRITTEN {
            let (bytes, _) = from.write(&transcript, "seed").unwrap();
            for to in Format::WRITTEN {
                let done = translated(&[(from.name(), &bytes)], to.name(), CrossFamily::Transcode);
                let (again, _) = read(*to, &done.bytes, false);
                prop_assert_eq!(essence(&again), essence(&transcript), "{} to {}", from, to);
            }
        }
    }

    /// No bytes make a reader panic.
    #[test]
    fn readers_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..300), text in "[{}\\[\\]\",:a-z0-9\\\\\n$ ]{0,200}") {
        for format in Format::WRITTEN {
            let _ = format.read(&bytes, ReadOptions::default(), &Limits::default());
            let _ = format.read(text.as_bytes(), ReadOptions::default(), &Limits::default());
        }
    }
}

/// Turns without a time have that of their commit; the summaries of commits are in the narrative, or the newest is the title.
#[test]
fn translations_have_the_times_and_summaries_of_their_commits() {
    let limits = Limits::default();
    let blobs = [r#"{"role":"user","content":"one"}"#, r#"{"role":"assistant","content":"two"}"#].map(str::as_bytes);
    let times = ["2026-03-01T09:00:00Z", "2026-03-02T10:00:00Z"];
    let part = |at: usize| Delta {
        format: "generic-v1",
        blob: blobs[at],
        source: BlobSource { commit: ["ctx-1", "ctx-2"][at], artifact_ref: "" },
        summary: Some(["began", "ended"][at]),
        time: Some(times[at]),
    };
    for target in ["claude-code-v1", "codex-v1", "gemini-v1", "generic-v1x"] {
        for cross_family in [CrossFamily::Render, CrossFamily::Transcode] {
            let options = translate_options(cross_family, &limits);
            let done = translate(&[part(0), part(1)], target, &options).unwrap();
            let text = String::from_utf8(done.bytes).unwrap();
            assert!(!text.contains("1970"), "{target}: {text}");
            assert!(times.iter().all(|time| text.contains(time)), "{target}: {text}");
            if done.tier == Tier::Rendering {
                assert!(text.contains("- `ctx-1`: began") && text.contains("- `ctx-2`: ended"), "{target}: {text}");
                assert_eq!(done.diagnostics.iter().filter(|it| it.code == DiagnosticCode::NotExpressible).count(), 0);
            } else {
                let reported = done.diagnostics.iter().any(|it| it.message.starts_with("the summary of a commit"));
                assert!(reported, "{target}: {:?}", done.diagnostics);
                assert_eq!(text.contains("\"summary\":\"ended\""), target == "claude-code-v1");
            }
        }
    }
}

/// Content that a reader does not know is counted, whether it is a block or a field of one, and joined bytes keep it.
#[test]
fn unknown_fields_of_content_are_reported() {
    let block = |more: Value| {
        let mut block = json!({ "type": "text", "text": "hi" });
        block.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        block
    };
    let message = |content: Value| json!({ "role": "assistant", "content": content });
    let claude = |content: Value| json!({ "type": "assistant", "uuid": "1", "parentUuid": null, "message": message(content), "requestId": "r" });
    let codex =
        |payload: Value| json!({ "timestamp": "2026-03-02T10:00:00Z", "type": "response_item", "payload": payload });
    let gemini = |part: Value| json!({ "id": "1", "type": "user", "content": [part] });
    let qwen = |part: Value| json!({ "uuid": "1", "parentUuid": null, "type": "user", "message": { "role": "user", "parts": [part] } });
    let call = json!({ "type": "tool_use", "id": "a", "name": "Read", "input": {}, "caller": { "type": "program" } });
    let result = json!({ "type": "tool_result", "tool_use_id": "a", "content": [block(json!({ "inner": 1 }))] });
    let function = json!({ "name": "f", "arguments": "{}", "strict": true });
    let calls = json!({ "role": "assistant", "content": "", "tool_calls": [
        { "id": "a", "type": "function", "function": function, "extra_content": { "x": 1 } },
    ] });
    let item =
        json!({ "type": "function_call", "name": "f", "arguments": "{}", "call_id": "a", "caller": { "id": 1 } });
    for (format, line, expected) in [
        (
            Format::ClaudeCodeV1,
            claude(json!([block(json!({ "citations": [1], "later": "x" }))])),
            vec!["citations", "later"],
        ),
        (Format::ClaudeCodeV1, claude(json!([block(json!({ "citations": null, "later": "" }))])), vec![]),
        (Format::ClaudeCodeV1, claude(json!([call])), vec!["caller"]),
        (Format::ClaudeCodeV1, claude(json!([result])), vec!["inner"]),
        (Format::GenericV1, message(json!([block(json!({ "later": 1 }))])), vec!["later"]),
        (Format::GenericV1, calls, vec!["extra_content", "strict"]),
        (Format::CodexV1, codex(item), vec!["caller"]),
        (Format::CodexV1, codex(json!({ "type": "web_search_call", "action": { "query": "x" } })), vec![]),
        (Format::CodexV1, codex(json!({ "type": "later", "of": "vendor" })), vec![]),
        (Format::GeminiV1, gemini(json!({ "text": "hi", "videoMetadata": { "fps": 1 } })), vec!["videoMetadata"]),
        (Format::QwenCodeV1, qwen(json!({ "text": "hi", "later": 1 })), vec!["later"]),
        (Format::QwenCodeV1, qwen(json!({ "functionCall": { "name": "f", "args": {}, "later": 1 } })), vec!["later"]),
        (Format::QwenCodeV1, qwen(json!({ "executableCode": { "code": "1" }, "later": 1 })), vec![]),
    ] {
        let file = lines(std::slice::from_ref(&line));
        let (_, found) = read(format, &file, false);
        assert_eq!(fields_left_out(&found), expected, "{format} {line}");
        let done = translated(&[(format.name(), &file)], format.name(), CrossFamily::Render);
        assert_eq!((done.bytes, done.diagnostics), (file, Vec::new()), "{format}");
    }
}

/// The fields that these diagnostics report, one each.
fn fields_left_out(found: &[Diagnostic]) -> Vec<&str> {
    fn field(found: &Diagnostic) -> &str {
        assert_eq!(found.code, DiagnosticCode::FieldLeftOut);
        let sentence = ("the field `", "`, 1 time: left out, since the result has no place for it");
        let name = found.message.strip_prefix(sentence.0).and_then(|rest| rest.strip_suffix(sentence.1));
        name.unwrap_or_else(|| panic!("{}", found.message))
    }
    found.iter().map(field).collect()
}

/// A field of an image, or of a message whose fields are all known, is counted too.
#[test]
fn unknown_fields_of_images_and_messages_are_reported() {
    let with = |mut object: Value, more: Value| {
        object.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        object
    };
    let message = |content: Value| json!({ "role": "user", "content": content });
    let claude = |message: Value| json!({ "type": "user", "uuid": "1", "parentUuid": null, "message": message, "requestId": "r" });
    let codex =
        |payload: Value| json!({ "timestamp": "2026-03-02T10:00:00Z", "type": "response_item", "payload": payload });
    let item = |content: Value| codex(with(message(content), json!({ "type": "message" })));
    let gemini = |part: Value| json!({ "id": "1", "type": "user", "content": [part] });
    let pi = |message: Value| json!({ "type": "message", "id": "1", "parentId": null, "message": message });
    let sts = |message: Value| json!({ "type": "message", "message": message });
    let cline = |message: Value| json!({ "messages": [with(message, json!({ "ts": 1 }))] });
    let continue_dev = |message: Value| json!({ "history": [{ "message": message, "contextItems": [] }] });
    let atif = |step: Value| json!({ "schema_version": "ATIF-v1.7", "steps": [step] });
    let step = |message: Value| json!({ "step_id": 1, "source": "user", "message": message });
    let otel = |message: Value| json!({ "gen_ai.input.messages": [message] });
    let hi = || message(json!("hi"));
    let later = || json!({ "later": 1 });
    let source = json!({ "type": "base64", "media_type": "image/png", "data": "aGk=", "later": 1 });
    let image = json!({ "type": "image", "source": source, "title": "x" });
    let bare = json!({ "type": "image", "data": "aGk=", "mimeType": "image/png", "altText": "x" });
    let url = |url: Value| json!({ "type": "image_url", "image_url": url });
    let input = json!({ "type": "input_image", "image_url": "data:image/png;base64,aGk=", "detail": "high" });
    let inline = json!({ "inlineData": { "mimeType": "image/png", "data": "aGk=", "displayName": "x" } });
    let path = json!({ "media_type": "image/png", "path": "a.png", "later": 1 });
    let uri = json!({ "type": "uri", "modality": "image", "mime_type": "image/png", "uri": "https://a.example/b", "later": 1 });
    for (format, line, expected) in [
        (Format::ClaudeCodeV1, claude(message(json!([image]))), vec!["later", "title"]),
        (Format::ClaudeCodeV1, claude(with(hi(), json!({ "stop_details": { "a": 1 }, "later": 1 }))), vec!["later"]),
        (Format::GenericV1, message(json!([bare])), vec!["altText"]),
        (Format::GenericV1, message(json!([url(json!({ "url": "https://a.example/b", "detail": "low" }))])), vec![]),
        (Format::GenericV1, message(json!([url(json!({ "url": "https://a.example/b", "later": 1 }))])), vec!["later"]),
        (Format::GenericV1, with(hi(), json!({ "name": "Ann", "images": ["aGk="] })), vec!["images", "name"]),
        (Format::GenericV1, json!({ "role": "tool", "name": "f", "tool_call_id": "a", "content": "ok" }), vec![]),
        (Format::CodexV1, item(json!([input])), vec![]),
        (Format::CodexV1, item(json!([with(input, later())])), vec!["later"]),
        (
            Format::CodexV1,
            codex(with(hi(), json!({ "type": "message", "metadata": { "a": 1 }, "later": 1 }))),
            vec!["later"],
        ),
        (Format::CodexV0, with(hi(), json!({ "type": "message", "later": 1 })), vec!["later"]),
        (Format::GeminiV1, gemini(inline), vec!["displayName"]),
        (Format::GeminiV1, with(gemini(json!({ "text": "hi" })), later()), vec!["later"]),
        (
            Format::QwenCodeV1,
            json!({ "uuid": "1", "parentUuid": null, "type": "user", "later": 1,
            "message": { "role": "user", "parts": [{ "text": "hi" }], "inner": 1 } }),
            vec!["inner"],
        ),
        (Format::PiV3, pi(with(hi(), later())), vec!["later"]),
        (Format::PiV3, pi(message(json!([with(bare.clone(), later())]))), vec!["altText", "later"]),
        (Format::Sts, sts(with(hi(), later())), vec!["later"]),
        (Format::ClineV1, cline(with(hi(), json!({ "reasoning_content": "hm" }))), vec!["reasoning_content"]),
        (Format::ContinueV1, continue_dev(with(hi(), later())), vec!["later"]),
        (Format::AtifV17, atif(with(step(json!("hi")), json!({ "extra": { "a": 1 }, "later": 1 }))), vec!["later"]),
        (Format::AtifV17, atif(step(json!([{ "type": "image", "source": path }]))), vec!["later"]),
        (
            Format::OtelGenai,
            otel(json!({ "role": "user", "name": "Ann", "parts": [{ "type": "text", "content": "hi" }] })),
            vec!["name"],
        ),
        (Format::OtelGenai, otel(json!({ "role": "user", "parts": [uri] })), vec!["later"]),
    ] {
        let (transcript, found) = read(format, &lines(std::slice::from_ref(&line)), false);
        assert_eq!(transcript.turns.len(), 1, "{format} {line}");
        assert_eq!(fields_left_out(&found), expected, "{format} {line}");
    }
}

/// A session of Claude Code with two thoughts of a model, the second after a record.
fn with_thoughts(model: Option<&str>, between: Value) -> Vec<u8> {
    let said = |uuid: &str, parent: Value, role: &str, content: Value| json!({ "type": role, "uuid": uuid, "parentUuid": parent, "sessionId": "s", "message": { "role": role, "model": model, "content": content } });
    let thought = |text: &str| json!([{ "type": "thinking", "thinking": text, "signature": "c2ln" }, { "type": "text", "text": "ok" }]);
    lines(&[
        said("1", Value::Null, "user", json!("one")),
        said("2", json!("1"), "assistant", thought("first")),
        between,
        said("4", json!("3"), "user", json!("two")),
        said("5", json!("4"), "assistant", thought("second")),
    ])
}

#[test]
fn thinking_bound_to_hidden_messages_is_left_out() {
    let hidden = |mut record: Value| {
        record["uuid"] = json!("3");
        record["parentUuid"] = json!("2");
        record["sessionId"] = json!("s");
        record
    };
    let added = hidden(
        json!({ "type": "attachment", "attachment": { "type": "date_change" }, "rendered": [{ "role": "system", "content": "a new day" }] }),
    );
    let meta = hidden(json!({ "type": "user", "isMeta": true, "message": { "role": "user", "content": "a caveat" } }));
    let unseen = hidden(json!({ "type": "attachment", "attachment": { "type": "date_change" } }));
    let thoughts = |session: &[u8]| {
        let (transcript, found) = read(Format::ClaudeCodeV1, session, false);
        assert_eq!(found, []);
        let made = to_messages(transcript, Vec::new());
        let text = serde_json::to_string(&made.messages).unwrap();
        let kept = ["first", "second"].map(|thought| text.contains(thought));
        assert_eq!(text.matches("\"ok\"").count(), 2);
        (kept, made.diagnostics.into_iter().map(|found| (found.code, found.node_id)).collect::<Vec<_>>())
    };
    let removed = vec![(DiagnosticCode::ReasoningPrefixChanged, Some("5".to_owned()))];
    for record in [&added, &meta] {
        let session = with_thoughts(Some("claude-opus-5-5"), record.clone());
        assert_eq!(thoughts(&session), ([true, false], removed.clone()), "{record}");
        // An unknown model counts as one that binds signatures; older ones do not.
        assert_eq!(thoughts(&with_thoughts(None, record.clone())).0, [true, false]);
        assert_eq!(thoughts(&with_thoughts(Some("claude-sonnet-4-5"), record.clone())).0, [true, true]);
    }
    assert_eq!(thoughts(&with_thoughts(Some("claude-opus-5-5"), unseen)), ([true, true], Vec::new()));
}
