//! `pi-v3`, `atif-1.7` and `otel-genai` as written (docs/session-formats.md). `tests/runtimes/trajectories.test.mjs` has
//! trajectories validated by Harbor.

use ctxweave::commits::formats::{Format, detect_format};
use ctxweave::commits::transcript::{Role, Transcript, Turn};
use ctxweave::commits::translate::CrossFamily;
use ctxweave::content::Block;
use ctxweave::{Diagnostic, DiagnosticCode};
use serde_json::{Value, json};

use crate::growing_sessions::{Kept, in_pieces};
use crate::transcripts::{SESSIONS, lines, read, session, texts, translated};

const NEW: [Format; 3] = [Format::PiV3, Format::AtifV17, Format::OtelGenai];

const RECORDED: [(Format, &[u8]); 4] = [
    (Format::ClaudeCodeV1, include_bytes!("../sessions/claude-code-2.1.332.jsonl")),
    (Format::ClaudeCodeV1, include_bytes!("../sessions/claude-code-2.1.332-compacted.jsonl")),
    (Format::CodexV1, include_bytes!("../sessions/codex-0.169.0.jsonl")),
    (Format::CodexV1, include_bytes!("../sessions/codex-0.169.0-compacted.jsonl")),
];

/// What every format can hold: the texts without the marks of summaries.
fn said(format: Format, bytes: &[u8]) -> Vec<String> {
    texts(&read(format, bytes, false).0)
}

#[test]
fn recorded_sessions_survive_the_way_there_and_back() {
    for (format, file) in RECORDED {
        let original = said(format, file);
        assert!(original.len() > 1);
        for target in NEW {
            let there = translated(&[(format.name(), file)], target.name(), CrossFamily::Transcode);
            assert_eq!(detect_format(&there.bytes), Some(target), "{format} to {target}");
            let found = said(target, &there.bytes);
            // pi has no system messages; its summaries are framed.
            let plain = |text: &String| text.split_once(": ").map_or("", |(_, rest)| rest).to_owned();
            assert_eq!(found.len(), original.len(), "{format} to {target}: {found:#?} {original:#?}");
            for other in original.iter().map(plain) {
                // Codex keeps messages before its summary, the others after it.
                assert!(
                    found.iter().map(plain).any(|one| one.contains(other.trim_end())),
                    "{format} to {target}: {other}"
                );
            }
            let back = translated(&[(target.name(), &there.bytes)], format.name(), CrossFamily::Transcode);
            assert_eq!(said(format, &back.bytes).len(), original.len(), "{target} to {format}");
            assert_eq!(in_pieces(target, &there.bytes, 1, &[30]).kept, Kept::of(target, &there.bytes, 1));
        }
    }
}

#[test]
fn every_session_is_translated_with_its_calls_and_results() {
    for (name, format) in SESSIONS {
        let file = session(name);
        for target in NEW {
            let done = translated(&[(format.name(), &file)], target.name(), CrossFamily::Transcode);
            let count =
                |texts: Vec<String>, what: &str| texts.iter().map(|text| text.matches(what).count()).sum::<usize>();
            for what in ["call ", "result "] {
                let (found, expected) = (count(said(target, &done.bytes), what), count(said(format, &file), what));
                assert!(found >= expected, "{name} to {target}, {what}: {found} of {expected}");
            }
            let value: Option<Value> = serde_json::from_slice(&done.bytes).ok();
            assert_eq!(value.is_some(), target != Format::PiV3, "{name} to {target}");
        }
    }
}

const OTHER_RECORDED: [(Format, &[u8]); 6] = [
    (Format::ClineV1, include_bytes!("../sessions/cline-3.0.65.messages.json")),
    (Format::ContinueV1, include_bytes!("../sessions/continue-1.5.47.json")),
    (Format::CopilotCliV1, include_bytes!("../sessions/copilot-cli-1.0.102.events.jsonl")),
    (Format::GeminiV1, include_bytes!("../sessions/gemini-cli-0.61.0.jsonl")),
    (Format::PiV3, include_bytes!("../sessions/pi-0.73.1.jsonl")),
    (Format::QwenCodeV1, include_bytes!("../sessions/qwen-code-0.24.4.jsonl")),
];

/// The texts, calls and results of a session, which every format can hold; and its images and reasoning.
fn contents(transcript: &Transcript) -> (Vec<String>, Vec<String>) {
    let (mut kept, mut may_be_lost) = (Vec::new(), Vec::new());
    for block in transcript.turns.iter().flat_map(|turn| &turn.blocks) {
        match block {
            Block::Text(text) => kept.push(text.trim().to_owned()),
            Block::ToolCall { id, name, arguments, .. } => kept.push(format!("{id} {name} {arguments}")),
            Block::ToolResult { tool_call_id, content, is_error, .. } => {
                let texts: Vec<&str> = content.iter().filter_map(Block::as_text).map(str::trim).collect();
                kept.push(format!("{tool_call_id} {is_error:?} {}", texts.join("\n")));
                may_be_lost.extend(content.iter().filter(|it| it.as_text().is_none()).map(|it| format!("{it:?}")));
            }
            other => may_be_lost.push(format!("{other:?}")),
        }
    }
    (kept, may_be_lost)
}

/// Whether a diagnostic reports lost content.
fn is_loss(found: &Diagnostic) -> bool {
    matches!(found.code, DiagnosticCode::NotExpressible | DiagnosticCode::ContentLeftOut)
}

/// Every recorded and every sample session, in every format and back: texts, calls and results are kept, and each other
/// loss is reported.
#[test]
fn every_session_goes_to_every_format_and_back() {
    let samples: Vec<_> = SESSIONS.iter().map(|&(name, format)| (format, session(name))).collect();
    let recorded = RECORDED.iter().chain(&OTHER_RECORDED).map(|&(format, file)| (format, file.to_vec()));
    for (format, file) in recorded.chain(samples) {
        let (transcript, found) = read(format, &file, false);
        let (kept, may_be_lost) = contents(&transcript);
        assert!(kept.len() > 1, "{format}");
        assert!(found.iter().all(|found| found.code != DiagnosticCode::FieldLeftOut), "{format}: {found:?}");
        let holds = |way: &str, target: Format, bytes: &[u8], is_reported: bool| {
            let (now, others) = contents(&read(target, bytes, false).0);
            // A format may join texts, frame a summary, or describe an image within a result.
            for one in &kept {
                assert!(now.iter().any(|text| text.contains(one)), "{format} {way}: {one}\n{now:#?}");
            }
            assert!(is_reported || may_be_lost.iter().all(|one| others.contains(one)), "{format} {way}: {others:?}");
        };
        for target in Format::WRITTEN.iter().filter(|target| **target != format) {
            let there = translated(&[(format.name(), &file)], target.name(), CrossFamily::Transcode);
            let is_reported = there
                .diagnostics
                .iter()
                .any(|found| [DiagnosticCode::NotExpressible, DiagnosticCode::ContentLeftOut].contains(&found.code));
            holds(&format!("to {target}"), *target, &there.bytes, is_reported);
            for other in Format::WRITTEN.iter().filter(|other| *other != target) {
                let back = translated(&[(target.name(), &there.bytes)], other.name(), CrossFamily::Transcode);
                let again = back.diagnostics.iter().any(is_loss);
                holds(&format!("to {target} to {other}"), *other, &back.bytes, is_reported || again);
            }
        }
    }
}

/// A summary that is not the first turn hides nothing that its format shows with it.
#[test]
fn turns_before_a_summary_stay_in_the_context() {
    let summary = json!({ "role": "user", "content": "so far", "summary": true });
    let say = |role: &str, content: &str| json!({ "role": role, "content": content });
    let older = json!({ "role": "user", "content": "older", "summary": true });
    let file = lines(&[say("system", "be brief"), older, say("user", "kept"), summary, say("assistant", "next")]);
    for target in Format::WRITTEN.iter().filter(|target| **target != Format::GenericV1) {
        let there = translated(&[("generic-v1", &file)], target.name(), CrossFamily::Transcode);
        let now = said(*target, &there.bytes).join("\n");
        for text in ["be brief", "older", "kept", "so far", "next"] {
            assert_eq!(now.matches(text).count(), 1, "{target}: {now}");
        }
        let back = translated(&[(target.name(), &there.bytes)], "generic-v1", CrossFamily::Transcode);
        let now = said(Format::GenericV1, &back.bytes).join("\n");
        assert!(
            ["be brief", "older", "kept", "so far", "next"].iter().all(|text| now.contains(text)),
            "{target}: {now}"
        );
    }
    // Codex has the kept turns in the compaction, in their order.
    let there = translated(&[("generic-v1", &file)], "codex-v1", CrossFamily::Transcode);
    let (transcript, found) = read(Format::CodexV1, &there.bytes, false);
    assert_eq!(found, []);
    let expected = ["system: be brief", "user: older", "user: kept", "user: so far", "assistant: next"];
    assert_eq!(texts(&transcript), expected);
    assert_eq!(transcript.turns.iter().position(|turn| turn.summary), Some(3));
}

/// What a compaction of Codex keeps is in the context of other agents too.
#[test]
fn messages_that_a_compaction_keeps_are_translated() {
    let (format, file) = RECORDED[3];
    let original = said(format, file);
    for target in Format::WRITTEN.iter().filter(|target| target.family() != "codex") {
        let done = translated(&[(format.name(), file)], target.name(), CrossFamily::Transcode);
        assert!(
            said(*target, &done.bytes).iter().any(|text| text.contains("AGENTS.override")),
            "{target}: {original:?}"
        );
    }
}

/// The summary of a compaction is one in pi and ATIF too, and what precedes it stays in the file.
#[test]
fn summaries_stay_summaries() {
    let summary = Turn { summary: true, ..Turn::text(Role::User, "so far") };
    let turns = vec![Turn::text(Role::User, "one"), summary, Turn::text(Role::User, "two")];
    for format in [Format::PiV3, Format::AtifV17] {
        let (bytes, found) = format.write(&Transcript::from(turns.clone()), "seed").unwrap();
        assert_eq!(found, []);
        let (transcript, _) = read(format, &bytes, false);
        assert!(transcript.turns[0].summary && texts(&transcript)[0].contains("so far"));
        assert_eq!(texts(&transcript)[1..], ["user: two"]);
        assert_eq!(texts(&read(format, &bytes, true).0), ["user: one", "user: two"]);
    }
}

/// A part of a chain continues the part before it: pi's entries name the last one as their parent.
#[test]
fn parts_of_other_formats_continue_a_session_of_pi() {
    let native = lines(&[
        json!({ "type": "session", "version": 3, "id": "s", "timestamp": "2026-11-26T01:27:01.923Z", "cwd": "/" }),
        json!({ "type": "message", "id": "a", "parentId": null, "timestamp": "2026-11-26T01:27:01.953Z", "message": { "role": "user", "content": "one" } }),
    ]);
    let other =
        lines(&[json!({ "role": "assistant", "content": "two" }), json!({ "role": "user", "content": "three" })]);
    let parts = [("pi-v3", native.as_slice()), ("generic-v1", &other), ("pi-v3", &native[native.len()..])];
    let done = translated(&parts, "pi-v3", CrossFamily::Transcode);
    let (transcript, found) = read(Format::PiV3, &done.bytes, false);
    assert_eq!(
        (texts(&transcript), found),
        (["user: one", "assistant: two", "user: three"].map(str::to_owned).to_vec(), vec![])
    );
    let third: Value = serde_json::from_str(String::from_utf8_lossy(&done.bytes).lines().nth(2).unwrap()).unwrap();
    assert_eq!(third["parentId"], "a");
    // The steps of joined trajectories are numbered again.
    let (one, _) = Format::AtifV17.write(&Transcript::from(vec![Turn::text(Role::User, "one")]), "1").unwrap();
    let parts = [("atif-1.7", one.as_slice()), ("generic-v1", &other), ("atif-1.7", &one)];
    let done = translated(&parts, "atif-1.7", CrossFamily::Transcode);
    let trajectory: Value = serde_json::from_slice(&done.bytes).unwrap();
    let numbers: Vec<&Value> = trajectory["steps"].as_array().unwrap().iter().map(|step| &step["step_id"]).collect();
    assert_eq!(numbers, [1, 2, 3, 4]);
    assert_eq!(trajectory["schema_version"], "ATIF-v1.7");
}

/// What tracing tools write: instructions and the answer have fields of their own.
#[test]
fn spans_are_read_with_instructions_and_answers() {
    let span = json!({
        "gen_ai.system_instructions": [{ "type": "text", "content": "be brief" }],
        "gen_ai.input.messages": [
            { "role": "user", "parts": [{ "type": "text", "content": "weather?" }] },
            { "role": "assistant", "parts": [{ "type": "reasoning", "content": "hm" }, { "type": "tool_call", "id": "call_1", "name": "weather", "arguments": { "in": "Paris" } }] },
            { "role": "tool", "parts": [{ "type": "tool_call_response", "id": "call_1", "response": { "sky": "grey" } }] },
        ],
        "gen_ai.output.messages": [{ "role": "assistant", "parts": [{ "type": "text", "content": "Grey." }], "finish_reason": "stop" }],
    });
    let file = span.to_string();
    assert_eq!(detect_format(file.as_bytes()), Some(Format::OtelGenai));
    let (transcript, found) = read(Format::OtelGenai, file.as_bytes(), false);
    assert_eq!(found, []);
    let said = texts(&transcript);
    assert_eq!((said[0].as_str(), said[4].as_str(), said.len()), ("system: be brief", "assistant: Grey.", 5));
    assert!(format!("{:?}", transcript.turns[3]).contains("grey"), "{said:?}");
    // The list of messages alone is one too; that of another vendor is not.
    assert_eq!(detect_format(span["gen_ai.input.messages"].to_string().as_bytes()), Some(Format::OtelGenai));
    let gemini = json!([{ "role": "user", "parts": [{ "text": "hi" }] }]);
    assert_eq!(detect_format(gemini.to_string().as_bytes()), None);
}

/// Sessions of any agent for Hugging Face: a header with the harness, then pi's messages.
#[test]
fn sessions_for_hugging_face_hold_messages_of_pi() {
    for (format, file) in RECORDED {
        let there = translated(&[(format.name(), file)], "sts", CrossFamily::Transcode);
        assert_eq!(detect_format(&there.bytes), Some(Format::Sts), "{format}");
        let text = String::from_utf8(there.bytes.clone()).unwrap();
        let records: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!((&records[0]["type"], records[0]["harness"].is_string()), (&json!("session"), true));
        assert!(records[0]["id"].is_string());
        for record in &records[1..] {
            assert_eq!(record["type"], "message");
            let role = record["message"]["role"].as_str().unwrap();
            assert!(["user", "assistant", "toolResult"].contains(&role), "{role}");
        }
        assert_eq!(said(Format::Sts, &there.bytes).len(), said(format, file).len(), "{format}");
        let back = translated(&[("sts", &there.bytes)], format.name(), CrossFamily::Transcode);
        assert_eq!(said(format, &back.bytes).len(), said(format, file).len(), "{format}");
        assert_eq!(in_pieces(Format::Sts, &there.bytes, 1, &[30]).kept, Kept::of(Format::Sts, &there.bytes, 1));
        let parts: Vec<(&str, &[u8])> = vec![(format.name(), file), (format.name(), file)];
        let twice = translated(&parts, "sts", CrossFamily::Transcode);
        let twice = String::from_utf8(twice.bytes).unwrap();
        assert_eq!(twice.matches("\"harness\"").count(), 1, "one header");
    }
}

/// A time that the session does not have is left out where the format allows it, and is never 1970.
#[test]
fn an_unknown_time_is_not_written() {
    let mut turns = vec![Turn::text(Role::User, "one"), Turn::text(Role::Assistant, "two")];
    for is_timed in [false, true] {
        if is_timed {
            turns[1].timestamp = Some("2026-03-02T10:00:00Z".to_owned());
        }
        for format in [Format::Sts, Format::AtifV17] {
            let (bytes, _) = format.write(&Transcript::from(turns.clone()), "seed").unwrap();
            let text = String::from_utf8(bytes.clone()).unwrap();
            assert_eq!(text.matches("\"timestamp\":").count(), usize::from(is_timed), "{text}");
            let times: Vec<_> = read(format, &bytes, false).0.turns.into_iter().map(|turn| turn.timestamp).collect();
            assert!(times[0].is_none() && times[1].is_some() == is_timed, "{times:?}");
        }
    }
}
