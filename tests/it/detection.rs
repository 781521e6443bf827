//! Detection of the agent that wrote a file (docs/sessions.md): a format is named only if a record of its conversation
//! can be read.

use ctxweave::commits::formats::{Format, detect_format};
use serde_json::{Value, json};

use crate::transcripts::{SESSIONS, lines, session};

/// Sessions that are one value, and files next to them that are none.
fn values() -> Vec<(Option<Format>, Value)> {
    let cline = json!({ "version": 1, "agent": "lead", "sessionId": "1795656342180_piiod", "origin": { "source": "cli", "sessionId": "1795656342180_piiod" },
        "messages": [
            { "id": "1687252c", "role": "user", "content": [{ "type": "text", "text": "hello" }], "ts": 1 },
            { "id": "msg_CX2", "role": "assistant", "content": [{ "type": "tool_use", "id": "call_1", "name": "read_files", "input": {} }], "ts": 2 },
        ] });
    let cline_metadata = json!({ "sessionId": "1795656342180_piiod", "type": "cli", "version": 1, "cwd": "/repo" });
    let continued = json!({ "sessionId": "daaee16c", "title": "Untitled Session", "workspaceDirectory": "/repo",
        "history": [
            { "message": { "role": "user", "content": "hello" }, "contextItems": [] },
            { "message": { "role": "assistant", "content": "", "toolCalls": [{ "id": "call_1", "type": "function", "function": { "name": "Read", "arguments": "{}" } }] } },
        ] });
    let silent =
        json!({ "sessionId": "a", "messages": [{ "id": "1", "role": "user", "content": [], "ts": 1 }], "history": [] });
    vec![
        (Some(Format::ClineV1), cline.clone()),
        (Some(Format::ClineV1), cline["messages"].clone()),
        (Some(Format::ContinueV1), continued),
        (Some(Format::OpencodeExport), crate::document_sessions::opencode()),
        (None, cline_metadata),
        (None, silent),
    ]
}

/// The beginnings of sessions of today's versions, shortened: what comes before the first message names no format.
fn known() -> Vec<(Format, Vec<u8>)> {
    let codex = |kind: &str, payload: Value| json!({ "timestamp": "2026-11-26T01:21:53.705Z", "ordinal": 0, "type": kind, "payload": payload });
    let codex = [
        codex("session_meta", json!({ "session_id": "01a2", "id": "01a2", "cwd": "/repo", "cli_version": "0.169.0" })),
        codex("event_msg", json!({ "type": "task_started", "turn_id": "01a2" })),
        codex("world_state", json!({ "full": true, "state": {} })),
        codex(
            "response_item",
            json!({ "type": "message", "role": "user", "content": [{ "type": "input_text", "text": "hello" }] }),
        ),
    ];
    let claude = [
        json!({ "type": "queue-operation", "operation": "enqueue", "timestamp": "2026-11-26T01:21:30.628Z", "sessionId": "s", "content": "hello" }),
        json!({ "type": "atis-latch", "sessionId": "s" }),
        json!({ "parentUuid": null, "isSidechain": false, "type": "user", "message": { "role": "user", "content": "hello" }, "uuid": "98c8cedd", "sessionId": "s" }),
    ];
    let gemini = [
        json!({ "sessionId": "1934f880", "projectHash": "30fe", "startTime": "2026-11-26T01:22:46.068Z", "lastUpdated": "2026-11-26T01:22:46.068Z", "kind": "main" }),
        json!({ "id": "0b8ec980", "timestamp": "2026-11-26T01:22:46.086Z", "type": "user", "content": [{ "text": "hello" }] }),
    ];
    vec![(Format::CodexV1, lines(&codex)), (Format::ClaudeCodeV1, lines(&claude)), (Format::GeminiV1, lines(&gemini))]
}

/// The beginning of a session is enough if it has a whole message.
#[test]
fn a_session_that_is_one_value_has_a_format_from_its_first_text() {
    for (format, value) in values() {
        for file in [value.to_string().into_bytes(), serde_json::to_vec_pretty(&value).unwrap()] {
            assert_eq!(detect_format(&file), format, "{value}");
            for damage in [&b"\0\0\0"[..], b"\xef\xbb\xbf", b"{\"cut"] {
                let damaged = [damage, &file[..]].concat();
                assert_eq!(detect_format(&damaged), format, "{value}");
            }
            let found: Vec<Option<Format>> = (0..file.len()).map(|end| detect_format(&file[..end])).collect();
            let first = found.iter().position(Option::is_some).unwrap_or(file.len());
            assert!(found[..first].iter().all(Option::is_none) && found[first..].iter().all(|it| *it == format));
            assert_eq!(first < file.len(), format.is_some(), "{value}");
        }
    }
}

#[test]
fn a_session_has_a_format_from_its_first_text() {
    for (format, file) in known() {
        let first = file.iter().take(file.len() - 1).rposition(|&byte| byte == b'\n').unwrap() + 1;
        for end in 0..file.len() {
            let expected = (end >= file.len() - 1).then_some(format);
            assert_eq!(detect_format(&file[..end]), expected, "{format}, {end}");
        }
        let (before, said) = file.split_at(first);
        for damage in [&b"\0\0\0"[..], b"{\"type\":\"x\",\"a\":\"cut", b"{\"type\":\"cut\",\"a\":"] {
            let damaged = [before, damage, said].concat();
            assert_eq!(detect_format(&damaged), Some(format), "{format} {}", String::from_utf8_lossy(damage));
        }
        let long = [before.repeat(200), said.to_vec()].concat();
        assert_eq!(detect_format(&long), Some(format), "{format}: however much comes before");
    }
    for (name, format) in SESSIONS {
        assert_eq!(detect_format(&session(name)), Some(format), "{name}");
    }
}

/// A record of which no message is read names no format.
#[test]
fn a_session_without_a_text_has_no_format() {
    let said = json!({ "parentUuid": null, "type": "user", "message": { "role": "user", "content": "x" }, "uuid": "a", "sessionId": "s" });
    assert_eq!(detect_format(said.to_string().as_bytes()), Some(Format::ClaudeCodeV1));
    let mut meta = said.clone();
    meta["isMeta"] = json!(true);
    let mut empty = said;
    (empty["type"], empty["message"]) = (json!("assistant"), json!({ "role": "assistant", "content": [] }));
    let gemini = json!({ "sessionId": "s", "messages": [{ "id": "1", "type": "user", "content": "" }] });
    for record in [meta, empty, gemini] {
        assert_eq!(detect_format(record.to_string().as_bytes()), None, "{record}");
    }
}

#[test]
fn cbor_is_a_conversation_if_it_has_messages() {
    for (bytes, expected) in [
        (&[0x80][..], false),
        (&[0xf6], false),
        (&[0x9f, 0xff], false),
        (b"\x81\xa2\x64Role\x64user\x67Cont", true),
        (b"\x82\x01\x02", false),
        (b"\x81\x65hello", false),
        (b"\x93\xe4\xfa hello", false),
        (b"\x81\xa1\x61a\x01", false),
    ] {
        assert_eq!(detect_format(bytes).is_some(), expected, "{bytes:?}");
    }
    let file = session("bureau-agent.cbor");
    assert_eq!(detect_format(&file[..40]), Some(Format::BureauAgentV1));
}
