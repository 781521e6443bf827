//! `events-v1`: the events of a live session of Bureau, and the fields of both formats in CBOR
//! (docs/session-formats.md).

use ctxweave::commits::CommitType;
use ctxweave::commits::formats::{Format, detect_format};
use ctxweave::commits::translate::{CrossFamily, Tier};
use ctxweave::{Code, DiagnosticCode};
use minicbor::Encoder;
use serde_json::{Value, json};

use crate::generate::cases;
use crate::imports::import_every;
use crate::transcripts::{read, texts, translated};

/// JSON as CBOR, with keys in the order of RFC 8949 and without nulls, as Bureau writes it. The keys `input`, `raw` and
/// `metadata` hold bytes.
fn cbor(value: &Value, out: &mut Encoder<&mut Vec<u8>>) {
    match value {
        Value::Null => drop(out.null().unwrap()),
        Value::Bool(value) => drop(out.bool(*value).unwrap()),
        Value::Number(number) => match number.as_i64() {
            Some(int) => drop(out.i64(int).unwrap()),
            None => drop(out.f64(number.as_f64().unwrap()).unwrap()),
        },
        Value::String(text) => drop(out.str(text).unwrap()),
        Value::Array(items) => {
            out.array(items.len() as u64).unwrap();
            items.iter().for_each(|item| cbor(item, out));
        }
        Value::Object(fields) => {
            let mut fields: Vec<_> = fields.iter().collect();
            fields.sort_by_key(|(key, _)| (key.len(), (*key).clone()));
            out.map(fields.len() as u64).unwrap();
            for (key, value) in fields {
                out.str(key).unwrap();
                if ["input", "raw", "metadata"].contains(&key.as_str()) {
                    out.bytes(value.to_string().as_bytes()).unwrap();
                } else {
                    cbor(value, out);
                }
            }
        }
    }
}

fn bytes(events: &[Value]) -> Vec<u8> {
    let mut out = Vec::new();
    cbor(&json!(events), &mut Encoder::new(&mut out));
    out
}

fn event(second: u32, kind: &str, content: Value) -> Value {
    json!({ "timestamp": 1_772_445_600 + second, "type": kind, kind: content })
}

fn session() -> Vec<Value> {
    vec![
        event(0, "system", json!({ "subtype": "init", "metadata": { "tools": [] } })),
        event(1, "prompt", json!({ "content": "Why does it fail?", "source": "initial" })),
        event(2, "thinking", json!({ "content": "I read first.", "signature": "c2ln" })),
        event(2, "response", json!({ "content": "I look." })),
        event(3, "tool_call", json!({ "id": "a", "name": "Read", "input": { "path": "x.rs" } })),
        event(3, "tool_call", json!({ "id": "b", "name": "Search", "server_tool": true })),
        event(4, "tool_result", json!({ "id": "b", "output": "found" })),
        event(4, "tool_result", json!({ "id": "a", "is_error": true, "output": "no such file" })),
        event(5, "prompt", json!({ "content": "Go on.", "source": "injected" })),
        event(6, "response", json!({ "content": "Done." })),
        event(7, "metric", json!({ "input_tokens": 12, "cost_usd": 0.5 })),
    ]
}

const SAID: [&str; 5] = [
    "user: Why does it fail?",
    "assistant: reasoning, I look., call a, call b, result b",
    "user: result a",
    "user: Go on.",
    "assistant: Done.",
];

#[test]
fn events_are_turns() {
    let file = bytes(&session());
    let (transcript, found) = read(Format::EventsV1, &file, false);
    assert_eq!(found, []);
    assert_eq!(texts(&transcript), SAID);
    assert_eq!(transcript.turns[0].timestamp.as_deref(), Some("2026-03-02T10:00:01Z"));
    let all = format!("{:?}", transcript.turns);
    assert!(all.contains("is_error: Some(true)") && all.contains("x.rs") && all.contains("c2ln"), "{all}");
    let odd =
        bytes(&[event(0, "output", json!({ "raw": {} })), event(0, "later", json!({})), json!({ "type": "prompt" })]);
    let (transcript, found) = read(Format::EventsV1, &odd, false);
    assert_eq!(transcript.turns, []);
    let unknown = found.iter().filter(|found| found.code == DiagnosticCode::UnknownRecord).count();
    assert_eq!(unknown, 3, "{found:?}");
}

/// Each prompt is a turn, next to results too; other adjacent events of one author are one turn.
#[test]
fn a_prompt_shares_its_turn_with_nothing() {
    let result = |id: &str| event(2, "tool_result", json!({ "id": id, "output": "x" }));
    let prompt = |text: &str| event(2, "prompt", json!({ "content": text }));
    let answer = |text: &str| event(3, "response", json!({ "content": text }));
    let events = [prompt("go"), result("9"), result("8"), prompt("on"), prompt("now"), answer("a"), answer("b")];
    let (transcript, _) = read(Format::EventsV1, &bytes(&events), false);
    let expected = ["user: go", "user: result 9, result 8", "user: on", "user: now", "assistant: a, b"];
    assert_eq!(texts(&transcript), expected);
}

/// The counts of unknown content, without the rest of the message.
fn unknown(format: Format, file: &[u8]) -> (Vec<String>, String) {
    let (transcript, found) = read(format, file, false);
    let kinds = found.iter().filter(|found| found.code == DiagnosticCode::UnknownRecord);
    let kinds = kinds.map(|found| found.message.split('`').nth(1).unwrap().to_owned()).collect();
    (kinds, format!("{:?}", transcript.turns))
}

/// A field that is missing although an event needs it, and one of another type, is never an empty text silently.
#[test]
fn fields_are_read_or_reported() {
    for (kind, content, expected) in [
        ("prompt", json!({}), vec!["content of a prompt"]),
        ("prompt", json!({ "content": "" }), vec!["content of a prompt"]),
        ("prompt", json!({ "content": 7 }), vec!["content of a prompt"]),
        ("prompt", json!("go"), vec!["event prompt"]),
        ("response", json!({ "content": null }), vec!["content of a response"]),
        ("thinking", json!({}), vec!["content of a thinking"]),
        ("thinking", json!({ "signature": "c2ln" }), vec![]),
        ("thinking", json!({ "content": "x", "signature": 7 }), vec!["signature of a thinking"]),
        ("tool_call", json!({}), vec!["name of a tool_call"]),
        ("tool_call", json!({ "name": "Read" }), vec![]),
        (
            "tool_call",
            json!({ "id": 9, "name": "Read", "server_tool": 1 }),
            vec!["id of a tool_call", "server_tool of a tool_call"],
        ),
        ("tool_call", json!(["Read"]), vec!["event tool_call"]),
        ("tool_result", json!({ "id": "a" }), vec![]),
        ("tool_result", json!({ "id": "a", "output": "", "is_error": null }), vec![]),
        (
            "tool_result",
            json!({ "id": "a", "output": ["x"], "is_error": "yes" }),
            vec!["is_error of a tool_result", "output of a tool_result"],
        ),
    ] {
        let (found, _) = unknown(Format::EventsV1, &bytes(&[event(0, kind, content.clone())]));
        assert_eq!(found, expected, "{kind} {content}");
    }
    // The input of a call is a text of JSON; a map of CBOR is not read.
    let mut file = Vec::new();
    let mut out = Encoder::new(&mut file);
    out.array(1).unwrap().map(2).unwrap().str("type").unwrap().str("tool_call").unwrap().str("tool_call").unwrap();
    out.map(2).unwrap().str("name").unwrap().str("Read").unwrap();
    out.str("input").unwrap().map(1).unwrap().str("a").unwrap().u8(1).unwrap();
    assert_eq!(unknown(Format::EventsV1, &file).0, ["input of a tool_call"]);
}

/// The same holds for `bureau-agent-v1`.
#[test]
fn fields_of_messages_are_read_or_reported() {
    for (block, expected, read) in [
        (json!({ "Type": "text", "Text": "x" }), vec![], "Text(\"x\")"),
        (json!({ "Type": "text", "Text": null }), vec!["Text of a text"], "blocks: []"),
        (json!({ "Type": "text", "Text": 7 }), vec!["Text of a text"], "blocks: []"),
        (json!({ "Type": "thinking", "Thinking": {} }), vec!["Content of a thinking"], "blocks: []"),
        (json!({ "Type": "thinking", "Thinking": { "Signature": "c2ln" } }), vec![], "c2ln"),
        (json!({ "Type": "thinking", "Thinking": null }), vec!["block thinking"], "blocks: []"),
        (json!({ "Type": "tool_use", "ToolUse": {} }), vec!["Name of a tool_use"], "ToolCall"),
        (json!({ "Type": "tool_use", "ServerToolUse": {} }), vec!["block tool_use"], "blocks: []"),
        (json!({ "Type": "server_tool_use", "ServerToolUse": { "Name": "s" } }), vec![], "server: true"),
        (
            json!({ "Type": "tool_use", "ToolUse": { "Name": "s", "Input": {} } }),
            vec!["Input of a tool_use"],
            "ToolCall",
        ),
        (
            json!({ "Type": "tool_result", "ToolResult": { "ToolUseID": "a", "Content": [], "IsError": 1 } }),
            vec!["Content of a tool_result", "IsError of a tool_result"],
            "ToolResult",
        ),
        (json!({ "Type": "tool_result", "ToolResult": { "ToolUseID": "a" } }), vec![], "ToolResult"),
        (json!({ "Type": "server_tool_result", "ServerToolResult": {} }), vec![], "server: true"),
        (json!({ "Type": "", "": {} }), vec!["block "], "blocks: []"),
        (json!({ "Type": "later", "later": {} }), vec!["block later"], "blocks: []"),
    ] {
        let message = json!({ "Role": "assistant", "Content": [block] });
        let (found, turns) = unknown(Format::BureauAgentV1, &bytes(&[message]));
        assert_eq!(found, expected, "{block}");
        assert!(turns.contains(read), "{block}: {turns}");
    }
}

#[test]
fn times_are_numbers_or_texts() {
    let time = |timestamp: Value| {
        let event = json!({ "timestamp": timestamp, "type": "prompt", "prompt": { "content": "x" } });
        read(Format::EventsV1, &bytes(&[event]), false).0.turns[0].timestamp.clone()
    };
    assert_eq!(time(json!(1_772_445_600)).as_deref(), Some("2026-03-02T10:00:00Z"));
    assert_eq!(time(json!(1_772_445_600.5)).as_deref(), Some("2026-03-02T10:00:00.500Z"));
    assert_eq!(time(json!("2026-03-02T10:00:00+01:00")).as_deref(), Some("2026-03-02T10:00:00+01:00"));
    for none in [json!("yesterday"), json!(1e300), json!(-1e300), json!(null), json!(true)] {
        assert_eq!(time(none), None);
    }
}

#[test]
fn sessions_are_joined_imported_translated_and_detected() {
    let events = session();
    let whole = bytes(&events);
    for cut in 0..=events.len() {
        let parts = [bytes(&events[..cut]), bytes(&events[cut..])];
        let chain: Vec<(&str, &[u8])> = parts.iter().map(|part| ("events-v1", part.as_slice())).collect();
        let joined = translated(&chain, "events-v1", CrossFamily::Render);
        assert_eq!((joined.tier, &joined.bytes), (Tier::Native, &whole), "cut at {cut}");
    }
    assert_eq!(detect_format(&whole), Some(Format::EventsV1));
    assert_eq!(detect_format(&whole[..40]), Some(Format::EventsV1));
    assert_eq!(detect_format(b"\x80"), None);
    let import = import_every(Format::EventsV1, &whole, 1);
    assert_eq!(import.records.len(), 1);
    assert_eq!(import.records[0].commit_type, CommitType::Snapshot);
    assert_eq!(import.records[0].created_at, "2026-03-02T10:00:06Z");
    for target in Format::WRITTEN {
        let done = translated(&[("events-v1", &whole)], target.name(), CrossFamily::Transcode);
        let said = texts(&read(*target, &done.bytes, false).0).join("\n");
        for part in ["Why does it fail?", "I look.", "call a", "result a", "result b", "Go on.", "Done."] {
            assert!(said.contains(part), "{target}: {said}");
        }
    }
    let error = Format::EventsV1.write(&read(Format::EventsV1, &whole, false).0, "").unwrap_err();
    assert_eq!(error.code(), Code::UnknownValue);
}

/// Every damage is an error or read: nothing of an array in CBOR is lost silently.
#[test]
fn damage_is_an_error() {
    let whole = bytes(&session());
    let options = Default::default();
    let limits = Default::default();
    let mut state = 7_u32;
    for variant in 0..cases(600) {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let at = 1 + (state >> 8) as usize % (whole.len() - 1);
        let damaged = match variant % 4 {
            0 => whole[..at].to_vec(),
            1 => [&whole[..], &whole[..at]].concat(),
            2 => [&vec![0; 1 + at % 4][..], &whole].concat(),
            _ => [&whole[..], b" and more"].concat(),
        };
        let error = Format::EventsV1.read(&damaged, options, &limits).unwrap_err();
        assert_eq!(error.code(), Code::InvalidBlob, "variant {variant} at {at}");
    }
}
