//! Details of sessions and records that are easily lost (docs/sessions.md, docs/commits.md).

use ctxweave::commits::formats::Format;
use ctxweave::commits::import::{ImportOptions, import_transcript};
use ctxweave::commits::translate::CrossFamily;
use ctxweave::commits::{
    CheckpointFields, Checkpointer, CheckpointerOptions, CommitGraph, CommitType, Record, Trigger, artifact_ref,
};
use ctxweave::{Code, DiagnosticCode, Limits};
use serde_json::{Value, json};

use crate::calls::call;
use crate::imports::plain_options;
use crate::transcripts::{lines, read, texts, translated};

const TIME: &str = "2026-03-02T10:00:00Z";

/// Two calls of one message share an id, as some servers for local models write them.
#[test]
fn calls_with_one_id_are_all_read() {
    let result = |output: &str| json!([{ "functionResponse": { "id": "call_1", "name": "look", "response": { "output": output } } }]);
    let call = |output: &str| json!({ "id": "call_1", "name": "look", "args": { "at": output }, "status": "success", "result": result(output) });
    let message = |id: &str, outputs: &[&str]| {
        let calls: Vec<Value> = outputs.iter().map(|output| call(output)).collect();
        json!({ "id": id, "timestamp": TIME, "type": "gemini", "content": "", "toolCalls": calls })
    };
    let file = lines(&[
        json!({ "sessionId": "s", "projectHash": "", "startTime": TIME, "lastUpdated": TIME }),
        json!({ "id": "1", "timestamp": TIME, "type": "user", "content": "look" }),
        message("2", &["one", "two"]),
        message("3", &["three"]),
    ]);
    let (transcript, found) = read(Format::GeminiV1, &file, false);
    assert_eq!(found, []);
    let all = format!("{:?}", transcript.turns);
    for output in ["one", "two", "three"] {
        assert_eq!(all.matches(&format!("Text(\"{output}\")")).count(), 1, "{all}");
    }
    assert_eq!(texts(&transcript).iter().map(|text| text.matches("call call_1").count()).sum::<usize>(), 3);
    // Our own translation of such calls gives each its own result.
    let item = |item: Value| json!({ "timestamp": TIME, "type": "response_item", "payload": item });
    let codex_call =
        || item(json!({ "type": "function_call", "name": "look", "arguments": "{}", "call_id": "call_1" }));
    let output = |text: &str| item(json!({ "type": "function_call_output", "call_id": "call_1", "output": text }));
    let codex = lines(&[codex_call(), output("one"), codex_call(), output("two")]);
    let done = translated(&[("codex-v1", &codex)], "gemini-v1", CrossFamily::Transcode);
    let again = format!("{:?}", read(Format::GeminiV1, &done.bytes, false).0.turns);
    assert!(again.contains("Text(\"one\")") && again.contains("Text(\"two\")"), "{again}");
}

/// After `resume_incomplete` the whole file gives the new commits, wherever the earlier imports ended.
#[test]
fn the_whole_file_is_no_other_file() {
    let limits = Limits::default();
    let message = |id: u32| json!({ "id": id.to_string(), "timestamp": TIME, "type": if id.is_multiple_of(2) { "gemini" } else { "user" }, "content": "x" });
    let set = |id: u32| json!({ "$set": { "lastUpdated": TIME, "messages": [message(id)] } });
    let header = json!({ "sessionId": "s", "projectHash": "p".repeat(40_000), "startTime": TIME, "lastUpdated": TIME });
    let records =
        [header, message(1), message(2), set(2), message(3), message(4), message(5), set(4), message(7), message(8)];
    let file = lines(&records);
    let ends: Vec<usize> = (0..file.len()).filter(|&at| file[at] == b'\n').flat_map(|at| [at, at + 1]).collect();
    let mut incomplete = 0;
    for growing in [true, false] {
        for &first in &ends {
            let options = ImportOptions { growing, ..plain_options(&limits) };
            let earlier = import_transcript(Format::GeminiV1, &file[..first], &options).unwrap();
            let resume = earlier.resume.unwrap();
            for &second in ends.iter().filter(|&&second| second >= first) {
                let options = ImportOptions { resume: Some(&resume), growing, ..plain_options(&limits) };
                let part = &file[resume.offset as usize..second];
                let Err(error) = import_transcript(Format::GeminiV1, part, &options) else { continue };
                assert_eq!(error.code(), Code::ResumeIncomplete, "{first} {second}: {error}");
                incomplete += 1;
                let whole = ImportOptions { whole_file: true, ..options };
                let import = import_transcript(Format::GeminiV1, &file[..second], &whole);
                let import = import.unwrap_or_else(|error| panic!("{growing}, {first} of {second}: {error}"));
                let at_once = ImportOptions { growing, ..plain_options(&limits) };
                let at_once = import_transcript(Format::GeminiV1, &file[..second], &at_once).unwrap();
                assert_eq!(import.tip, at_once.tip, "{first} {second}");
            }
        }
    }
    assert!(incomplete > 20, "{incomplete}");
}

fn record(parent: Option<&str>, blob: &[u8]) -> Record {
    let mut record = Record::new(CommitType::Delta, &artifact_ref(blob), "generic-v1", TIME);
    record.parent = parent.map(str::to_owned);
    record
}

#[test]
fn a_depth_of_zero_is_no_limit() {
    let steps = [
        json!(["checkpoint", { "artifact_ref": artifact_ref(b"1"), "format": "generic-v1", "created_at": TIME }]),
        json!(["commits"]),
    ];
    let made = call("CommitGraph", &[], Some(&steps)).unwrap();
    let root = made[0]["id"].as_str().unwrap().to_owned();
    let steps = [
        steps[0].clone(),
        json!(["checkpoint", { "artifact_ref": artifact_ref(b"2"), "format": "generic-v1", "created_at": TIME, "parent": root }]),
    ];
    let tip = call("CommitGraph", &[], Some(&steps)).unwrap()[1]["id"].clone();
    let asked = |depth: u32| {
        let steps = [&steps[..], &[json!(["history", tip, { "depth": depth }])]].concat();
        call("CommitGraph", &[], Some(&steps)).unwrap()[2].as_array().unwrap().len()
    };
    assert_eq!([asked(0), asked(1), asked(2), asked(9)], [2, 1, 2, 2]);
}

/// Empty names are rejected, not treated as missing.
#[test]
fn empty_names_are_unknown() {
    for name in ["commit_type", "checkpoint"] {
        let mut request = json!({ "artifact_ref": artifact_ref(b"1"), "format": "generic-v1", "created_at": TIME });
        request[name] = json!("");
        let made =
            |request: &Value| call("CommitGraph", &[], Some(&[json!(["checkpoint", request])])).unwrap()[0].clone();
        assert_eq!(made(&request)["error"]["code"], "unknown_value", "{name}");
        request[name] = json!(null);
        assert!(made(&request)["id"].is_string(), "{name}");
    }
}

/// Of two commits at one time, the one that descends from the other is the later one.
#[test]
fn a_child_is_later_than_its_parent_at_the_same_time() {
    let mut graph = CommitGraph::default();
    let of = |mut record: Record| {
        record.provenance.principal = Some("@a".to_owned());
        record
    };
    let root = graph.checkpoint(of(record(None, b"1"))).unwrap().id.clone();
    let child = graph.checkpoint(of(record(Some(&root), b"2"))).unwrap().id.clone();
    let time = ctxweave::time::Timestamp::parse(TIME).unwrap();
    assert_eq!(graph.resolve("@a", time).unwrap().unwrap().id, child);
    graph.checkpoint(of(record(Some(&root), b"3"))).unwrap();
    assert_eq!(graph.resolve("@a", time).unwrap_err().code(), Code::AmbiguousCommit);
}

#[test]
fn a_stored_parent_need_not_be_in_the_graph() {
    let mut graph = CommitGraph::default();
    let mut store = CommitGraph::default();
    let root = store.checkpoint(record(None, b"1")).unwrap().clone();
    let child = record(Some(&root.id), b"2");
    assert_eq!(graph.checkpoint(child.clone()).unwrap_err().code(), Code::CommitNotFound);
    let made = graph.checkpoint_after(child.clone(), true).unwrap().clone();
    assert_eq!(store.checkpoint(child).unwrap(), &made);
    assert_eq!(graph.history(&made.id, None).unwrap_err().code(), Code::CommitNotFound);
    assert_eq!(graph.tips().len(), 1);
    graph.checkpoint(root.clone()).unwrap();
    assert_eq!(graph.history(&made.id, None).unwrap().len(), 2);
    assert_eq!(graph.children(&root.id).unwrap(), [&made]);
}

/// 64 digits are the ref `blake3:…` in every place.
#[test]
fn refs_without_their_prefix_are_full_refs() {
    let full = artifact_ref(b"{\"role\":\"user\",\"content\":\"x\"}");
    let digits = full.strip_prefix("blake3:").unwrap();
    let mut graph = CommitGraph::default();
    let made = graph.checkpoint(Record::new(CommitType::Delta, digits, "generic-v1", TIME)).unwrap().clone();
    assert_eq!(made.artifact_ref, full);
    assert_eq!(graph.resolve_artifact(digits).unwrap(), full);
    // Records of other tools keep it; their blobs are those of the full ref.
    let foreign = made.to_json().replace(&full, digits).replace(&made.id, "ctx-other");
    let mut graph = CommitGraph::default();
    graph.import_jsonl(foreign.as_bytes()).unwrap();
    assert_eq!(graph.show("ctx-other").unwrap().artifact_ref, digits);
    let plan = graph
        .plan(ctxweave::commits::PlanRequest { commit: Some("ctx-other".to_owned()), ..Default::default() })
        .unwrap();
    assert_eq!(plan.refs, [full]);
}

/// A checkpointer of Bureau's messages takes plain ones too, and reports what CBOR cannot hold.
#[test]
fn plain_messages_become_items() {
    let mut session = Checkpointer::new(CheckpointerOptions::new("bureau-agent-v1"), &Limits::default()).unwrap();
    session.push(br#"{"role":"user","content":"look"}"#).unwrap();
    let call = json!({ "role": "assistant", "content": [{ "type": "text", "text": "I look." }, { "type": "toolCall", "id": "a", "name": "look", "arguments": {} }] });
    session.push(call.to_string().as_bytes()).unwrap();
    let image = json!({ "role": "user", "content": [{ "type": "toolResult", "toolCallId": "a", "content": [{ "type": "image", "mimeType": "image/png", "data": "aGk=" }] }] });
    session.push(image.to_string().as_bytes()).unwrap();
    for wrong in [&b"{}"[..], b"{\"role\":\"nobody\",\"content\":\"x\"}", b"{\"role\":\"user\"}", b"{\"role\"", b"text"]
    {
        assert!(session.push(wrong).is_err(), "{}", String::from_utf8_lossy(wrong));
    }
    assert_eq!(session.position(), 3);
    let fields = CheckpointFields { created_at: TIME.to_owned(), ..CheckpointFields::default() };
    let offered = session.checkpoint(Trigger::TurnBoundary, &fields).unwrap();
    assert_eq!(offered[0].record.message_count, Some(3));
    assert!(offered[0].diagnostics.iter().any(|found| found.code == DiagnosticCode::NotExpressible));
    let said = texts(&read(Format::BureauAgentV1, &offered[0].blob, false).0);
    assert_eq!(said[0], "user: look");
    assert!(said[1].contains("I look.") && said[1].contains("call a") && said[2].contains("result a"), "{said:?}");
}
