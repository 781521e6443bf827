//! Sessions that are one JSON value: those of Cline, Roo Code, Continue and OpenCode (docs/session-formats.md).

use ctxweave::commits::CommitType;
use ctxweave::commits::formats::{Concatenator, Format, detect_format};
use ctxweave::commits::import::{Import, ImportOptions, import_transcript};
use ctxweave::commits::translate::{CrossFamily, Tier};
use ctxweave::{Code, DiagnosticCode, Limits, Severity};
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::{Value, json};

use crate::generate::cases;
use crate::growing_sessions::{Kept, in_pieces};
use crate::imports::{blob, chain, import_every, plain_options};
use crate::transcripts::{read, session, texts, translated};

const CLINE: &[u8] = include_bytes!("../sessions/cline-3.0.65.messages.json");
const CONTINUE: &[u8] = include_bytes!("../sessions/continue-1.5.47.json");

/// A session of OpenCode, in the shape of its command `export`.
pub(crate) fn opencode() -> Value {
    let message = |id: &str, role: &str, parts: Value| {
        let info = json!({ "id": id, "sessionID": "ses_1", "role": role, "time": { "created": 1_795_656_342_564_u64 }, "modelID": "mock", "finish": "stop" });
        json!({ "info": info, "parts": parts })
    };
    let tool = json!({ "type": "tool", "tool": "read", "callID": "call_1", "state": { "status": "completed",
        "input": { "path": "a.ts" }, "output": "1 | 2", "metadata": {}, "time": { "start": 1, "end": 2 } } });
    json!({
        "info": { "id": "ses_1", "directory": "/repo", "title": "New session", "time": { "created": 1, "updated": 2 } },
        "messages": [
            message("msg_1", "user", json!([{ "type": "text", "text": "hello" }, { "type": "text", "text": "hidden", "ignored": true }])),
            message("msg_2", "assistant", json!([{ "type": "step-start" }, tool, { "type": "step-finish" }])),
            message("msg_3", "assistant", json!([{ "type": "step-start" }, { "type": "text", "text": "ok" }, { "type": "step-finish" }])),
        ],
    })
}

/// The recorded sessions, and their messages as values.
fn files() -> Vec<(Format, Vec<u8>, &'static str)> {
    let opencode = serde_json::to_vec_pretty(&opencode()).unwrap();
    let array = serde_json::to_vec_pretty(&json!([
        { "role": "user", "content": [{ "type": "text", "text": "hello" }], "ts": 1_795_656_342_564_u64 },
        { "role": "assistant", "content": [{ "type": "tool_use", "id": "call_1", "name": "read_file", "input": { "path": "a.ts" } }], "ts": 1_795_656_342_565_u64 },
        { "role": "user", "content": [{ "type": "tool_result", "tool_use_id": "call_1", "content": "1 | 2" }], "ts": 1_795_656_342_566_u64 },
        { "role": "assistant", "content": [{ "type": "text", "text": "ok" }], "ts": 1_795_656_342_567_u64 },
    ]));
    vec![
        (Format::ClineV1, CLINE.to_vec(), "messages"),
        (Format::ClineV1, array.unwrap(), ""),
        (Format::ContinueV1, CONTINUE.to_vec(), "history"),
        (Format::OpencodeExport, opencode, "messages"),
    ]
}

fn messages<'v>(value: &'v Value, key: &str) -> &'v Vec<Value> {
    if key.is_empty() { value.as_array().unwrap() } else { value[key].as_array().unwrap() }
}

/// Messages of Continue have no time.
fn dated(limits: &Limits) -> ImportOptions<'_> {
    ImportOptions { created_at: Some("2026-11-26T01:30:00Z"), ..plain_options(limits) }
}

fn joined(format: Format, import: &Import<'_>, from: usize) -> Vec<u8> {
    let mut joined = Concatenator::new(format, &Limits::default(), 0);
    for record in &chain(import, import.tip.as_ref().unwrap())[from..] {
        joined.push(blob(import, record), Default::default()).unwrap();
    }
    joined.finish().unwrap().bytes
}

#[test]
fn documents_hold_what_the_tool_sent_next() {
    let said = ["user: hello", "assistant: call call_1", "user: result call_1", "assistant: ok"];
    for (format, file, _) in files() {
        assert_eq!(detect_format(&file), Some(format));
        let (transcript, found) = read(format, &file, false);
        assert_eq!(found, [], "{format}");
        let mut found = texts(&transcript);
        if format == Format::ClineV1 && file == CLINE {
            assert!(found.remove(0).starts_with("system: [4027 characters"));
            found[0] = found[0].replace("<user_input mode=\"act\">hello there</user_input>", "hello");
            let result = format!("{:?}", transcript.turns[3].blocks);
            assert!(result.contains("1 | 2") && result.contains("query"), "{result}");
        }
        assert_eq!(found, said, "{format}");
        let is_timed = transcript
            .turns
            .iter()
            .filter(|turn| turn.role != ctxweave::commits::transcript::Role::System)
            .all(|turn| turn.timestamp.is_some());
        assert_eq!(is_timed, format != Format::ContinueV1);
    }
}

#[test]
fn documents_are_imported_whole_and_while_they_are_extended() {
    for (format, file, key) in files() {
        let whole: Value = serde_json::from_slice(&file).unwrap();
        let import = import_every(format, &file, 1);
        assert_eq!(import.diagnostics, [], "{format}");
        assert!(import.records.len() > 1, "{format}");
        let is_named = import.records.iter().all(|record| record.provenance.session_id.is_some());
        assert_eq!(is_named, !key.is_empty(), "{format}");
        let again: Value = serde_json::from_slice(&joined(format, &import, 0)).unwrap();
        assert_eq!(again, whole, "{format}");
        for (record, bytes) in import.records.iter().zip(&import.blobs) {
            let part: Value = serde_json::from_slice(&bytes.1).unwrap();
            assert_eq!(record.artifact_ref, bytes.0);
            assert!(!messages(&part, key).is_empty());
        }
        // The agent writes the whole file each time, with other metadata.
        let mut resume = None;
        let mut kept = Vec::new();
        let count = messages(&whole, key).len();
        for length in 1..=count {
            let mut file = whole.clone();
            match key {
                "" => file.as_array_mut().unwrap().truncate(length),
                key => file[key].as_array_mut().unwrap().truncate(length),
            }
            if !key.is_empty() && length < count {
                file["updated_at"] = json!(length);
            }
            let limits = Limits::default();
            let options = ImportOptions { resume: resume.as_ref(), growing: length < count, ..dated(&limits) };
            let file = serde_json::to_vec(&file).unwrap();
            // A file that is read while it is written changes nothing.
            if options.growing {
                let torn = import_transcript(format, &file[..file.len() - 3], &options).unwrap();
                assert_eq!(torn.records, []);
                assert_eq!(torn.diagnostics[0].code, DiagnosticCode::MalformedLine);
            }
            let import = import_transcript(format, &file, &options).unwrap();
            kept.extend(import.records);
            resume = import.resume;
            assert_eq!(resume.as_ref().unwrap().offset, 0);
        }
        let limits = Limits::default();
        let whole_bytes = serde_json::to_vec(&whole).unwrap();
        let at_once = import_transcript(format, &whole_bytes, &dated(&limits)).unwrap();
        assert_eq!(kept, at_once.records, "{format}");
        let mut rewritten = whole.clone();
        match key {
            "" => rewritten[0]["content"] = json!("other"),
            key => rewritten[key][0]["changed"] = json!("other"),
        }
        let options = ImportOptions { resume: resume.as_ref(), ..dated(&limits) };
        let error = import_transcript(format, &serde_json::to_vec(&rewritten).unwrap(), &options).unwrap_err();
        assert_eq!(error.code(), Code::ResumeMismatch);
        assert_eq!(in_pieces(format, &file, 1, &[40, file.len() / 2]).kept, Kept::of(format, &file, 1));
    }
}

#[test]
fn documents_are_translated() {
    for (format, file, _) in files() {
        for target in Format::WRITTEN {
            let done = translated(&[(format.name(), &file)], target.name(), CrossFamily::Transcode);
            assert_eq!(done.tier, Tier::Transcode);
            let without_system =
                |texts: Vec<String>| texts.into_iter().filter(|text| !text.starts_with("system")).count();
            let (said, original) = (read(*target, &done.bytes, false).0, read(format, &file, false).0);
            assert!(without_system(texts(&said)) >= without_system(texts(&original)), "{format} to {target}");
        }
        let native = translated(&[(format.name(), &file)], format.name(), CrossFamily::Render);
        assert_eq!((native.tier, native.bytes), (Tier::Native, file));
    }
}

/// OpenCode keeps the messages from one that the request for the compaction names, before the summary.
#[test]
fn a_compaction_of_opencode_keeps_its_messages() {
    for tail in [None, Some("msg_3")] {
        let mut session = opencode();
        let list = session["messages"].as_array_mut().unwrap();
        let mut add = |info: Value, parts: Value| list.push(json!({ "info": info, "parts": parts }));
        let time = json!({ "created": 1_795_656_343_000_u64 });
        add(
            json!({ "id": "msg_4", "sessionID": "ses_1", "role": "user", "time": time }),
            json!([{ "type": "compaction", "tail_start_id": tail }]),
        );
        add(
            json!({ "id": "msg_5", "sessionID": "ses_1", "role": "assistant", "time": time, "summary": true, "finish": "stop", "parentID": "msg_4" }),
            json!([{ "type": "text", "text": "so far" }]),
        );
        add(
            json!({ "id": "msg_6", "sessionID": "ses_1", "role": "user", "time": time }),
            json!([{ "type": "text", "text": "go on" }]),
        );
        let file = session.to_string().into_bytes();
        let (transcript, found) = read(Format::OpencodeExport, &file, false);
        assert_eq!(found, []);
        let mut expected = vec!["user: What did we do so far?", "assistant: so far", "user: go on"];
        if tail.is_some() {
            expected.insert(0, "assistant: ok");
        }
        assert_eq!(texts(&transcript), expected);
        let all = ["user: hello", "assistant: call call_1", "user: result call_1", "assistant: ok", "user: go on"];
        assert_eq!(texts(&read(Format::OpencodeExport, &file, true).0), all);
        let import = import_every(Format::OpencodeExport, &file, 1);
        assert_eq!(import.diagnostics, []);
        let records = chain(&import, import.tip.as_ref().unwrap());
        let at = records.iter().position(|record| record.commit_type == CommitType::Compaction).unwrap();
        assert_eq!(records[at].summary.as_deref(), Some("so far"));
        let from_compaction = joined(Format::OpencodeExport, &import, at);
        assert_eq!(texts(&read(Format::OpencodeExport, &from_compaction, false).0), expected);
        let (whole, found) = read(Format::OpencodeExport, &joined(Format::OpencodeExport, &import, 0), true);
        assert_eq!((texts(&whole), found), (all.map(str::to_owned).to_vec(), vec![]));
    }
}

#[test]
fn summaries_of_continue_and_roo_replace_what_precedes_them() {
    let mut session: Value = serde_json::from_slice(CONTINUE).unwrap();
    session["history"][2]["conversationSummary"] = json!("so far");
    session["history"].as_array_mut().unwrap().push(json!({ "message": { "role": "user", "content": "go on" }, "contextItems": [{ "content": "a file", "name": "a", "description": "" }] }));
    let file = session.to_string().into_bytes();
    let (transcript, found) = read(Format::ContinueV1, &file, false);
    assert_eq!(found, []);
    let said = texts(&transcript);
    assert!(said[0].ends_with("so far") && transcript.turns[0].summary, "{said:?}");
    assert!(said[1].contains("a file") && said[1].contains("go on"), "{said:?}");
    let through = texts(&read(Format::ContinueV1, &file, true).0);
    assert_eq!(through.len(), 5);
    let import = import_every(Format::ContinueV1, &file, 1);
    assert_eq!(texts(&read(Format::ContinueV1, &joined(Format::ContinueV1, &import, 0), true).0), through);

    let say = |role: &str, text: &str| json!({ "role": role, "content": [{ "type": "text", "text": text }], "ts": 1_795_656_342_564_u64 });
    let mut summary = say("assistant", "so far");
    summary["isSummary"] = json!(true);
    let file = json!([say("user", "one"), say("assistant", "two"), summary, say("user", "three")]).to_string();
    let (transcript, found) = read(Format::ClineV1, file.as_bytes(), false);
    assert_eq!((texts(&transcript), found), (vec!["assistant: so far".to_owned(), "user: three".to_owned()], vec![]));
    assert_eq!(texts(&read(Format::ClineV1, file.as_bytes(), true).0), ["user: one", "assistant: two", "user: three"]);
}

/// Files of another format are reported, and not joined.
#[test]
fn other_values_are_no_sessions() {
    for format in [Format::ClineV1, Format::ContinueV1, Format::OpencodeExport] {
        for text in ["{}", "5", "{\"messages\":5}", "nothing", "{\"history\":{}}"] {
            let (transcript, found) = read(format, text.as_bytes(), false);
            assert!(transcript.turns.is_empty(), "{text}");
            assert!(found.iter().any(|it| it.code == DiagnosticCode::MalformedLine), "{format}, {text}: {found:?}");
            let mut joined = Concatenator::new(format, &Limits::default(), 0);
            assert_eq!(joined.push(text.as_bytes(), Default::default()).unwrap_err().code(), Code::InvalidBlob);
        }
        let (_, found) = read(format, b"", false);
        assert_eq!(found[0].code, DiagnosticCode::NoMessages);
        let (_, found) = read(format, b"{\"messages\":[5],\"history\":[5]}", false);
        assert_eq!(found[0].code, DiagnosticCode::MalformedLine);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(600)))]

    /// Of a damaged session every whole message is read and imported, and the damage is reported.
    #[test]
    fn damage_to_a_document_loses_no_whole_message(kind in 0..5_u8, at in any::<Index>(), other in any::<Index>(), is_compact in any::<bool>()) {
        for (format, file, key) in files() {
            let value: Value = serde_json::from_slice(&file).unwrap();
            let file = if is_compact { serde_json::to_vec(&value).unwrap() } else { file };
            let at = at.index(file.len());
            let mut damaged = file.clone();
            match kind {
                0 => damaged.truncate(at),
                1 => damaged.extend_from_slice(&file[at..]),
                2 => damaged = [&file[..at], &file].concat(),
                3 => damaged.splice(at..at, vec![0; 1 + other.index(4)]).for_each(drop),
                _ => damaged = [&file, &b"\n"[..], &file].concat(),
            }
            let (transcript, found) = read(format, &damaged, false);
            let import = import_every(format, &damaged, 1);
            let is_whole = serde_json::from_slice::<Value>(&damaged).is_ok_and(|it| it == value);
            prop_assert!(is_whole || !found.is_empty() && !import.diagnostics.is_empty(), "{} {}: {:?}", format, kind, found);
            let stored: Vec<Value> = import.blobs.iter().flat_map(|(_, bytes)| {
                let part: Value = serde_json::from_slice(bytes).unwrap();
                part.as_array().or_else(|| part[key].as_array()).unwrap().clone()
            }).collect();
            let written = |message: &Value| {
                let text = serde_json::to_string(message).unwrap();
                let shown = if is_compact { text } else { serde_json::to_string_pretty(message).unwrap() };
                let plain: String = String::from_utf8_lossy(&damaged).split_whitespace().collect();
                plain.contains(&shown.split_whitespace().collect::<String>())
            };
            for message in messages(&value, key) {
                prop_assert!(!written(message) || stored.contains(message), "{} {} {}: {}", format, kind, at, message);
            }
            prop_assert!(transcript.turns.len() >= stored.len().min(1));
        }
    }
}

/// Files that are one value: those of the agents, and those that ctxweave writes. The key names their messages; none for
/// a value whose damage is an error as a whole.
fn values() -> Vec<(Format, Vec<u8>, Option<&'static str>)> {
    let codex = include_bytes!("../sessions/codex-0.169.0.jsonl");
    let made = |target: Format| translated(&[("codex-v1", codex)], target.name(), CrossFamily::Transcode).bytes;
    let compact = |file: &[u8]| serde_json::from_slice::<Value>(file).unwrap().to_string().into_bytes();
    let mut all: Vec<(Format, Vec<u8>, Option<&str>)> =
        files().into_iter().map(|(format, file, key)| (format, compact(&file), Some(key))).collect();
    all.push((Format::AtifV17, made(Format::AtifV17), Some("steps")));
    all.push((Format::OtelGenai, made(Format::OtelGenai), Some("gen_ai.input.messages")));
    all.push((Format::BureauAgentV1, session("bureau-agent.cbor"), None));
    all.push((Format::GeminiV1, session("gemini-object.json"), None));
    all
}

/// The texts of the messages that are whole in the first bytes of a file.
fn whole_before(format: Format, file: &[u8], key: &str, end: usize) -> Vec<String> {
    let mut value: Value = serde_json::from_slice(file).unwrap();
    let text = std::str::from_utf8(file).unwrap();
    let mut at = 0;
    let mut whole = 0;
    for message in messages(&value, key) {
        let message = message.to_string();
        at += text[at..].find(&message).unwrap() + message.len();
        whole += usize::from(at <= end);
    }
    let list = if key.is_empty() { &mut value } else { &mut value[key] };
    list.as_array_mut().unwrap().truncate(whole);
    let mut said = texts(&read(format, value.to_string().as_bytes(), false).0);
    // Fields of the session are known if it is whole.
    said.retain(|text| !text.starts_with("system: "));
    said
}

fn sorted(mut texts: Vec<String>) -> Vec<String> {
    texts.sort_unstable();
    texts
}

/// Damaged variants of each file: truncated, appended, glued, with NUL bytes, reordered. Each whole message is read, or the
/// loss is reported.
#[test]
fn damage_to_a_value_loses_no_message_silently() {
    let mut state = 7_u32;
    let mut next = |below: usize| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as usize % below
    };
    let limits = Limits::default();
    for (format, file, key) in values() {
        let said = sorted(texts(&read(format, &file, false).0));
        // Without a list of messages nothing can be reordered.
        let kinds = if key.is_some() { 5 } else { 4 };
        for variant in 0..cases(600) {
            let kind = variant % kinds;
            let at = 1 + next(file.len() - 1);
            let damaged = match (kind, key) {
                (0, _) => file[..at].to_vec(),
                (1, _) => [&file[..], b" and more"].concat(),
                (2, _) => [&file[..], &file[..at]].concat(),
                (4, Some(key)) => {
                    let mut value: Value = serde_json::from_slice(&file).unwrap();
                    let list = if key.is_empty() { &mut value } else { &mut value[key] };
                    let list = list.as_array_mut().unwrap();
                    let (one, other) = (next(list.len()), next(list.len()));
                    list.swap(one, other);
                    value.to_string().into_bytes()
                }
                _ => [&vec![0; 1 + at % 4][..], &file].concat(),
            };
            let place = format!("{format}, variant {variant} at {at}");
            let found = match format.read(&damaged, Default::default(), &limits) {
                Err(error) => {
                    assert_eq!((error.code(), format), (Code::InvalidBlob, Format::BureauAgentV1), "{place}");
                    assert!(import_transcript(format, &damaged, &dated(&limits)).is_err(), "{place}");
                    continue;
                }
                Ok((transcript, found)) => {
                    let mut now = texts(&transcript);
                    if kind == 4 {
                        // Messages in another order are no damage.
                        let now = sorted(now);
                        assert!(now == said || !found.is_empty(), "{place}: {now:?} {said:?}");
                        continue;
                    }
                    if let Some(key) = key {
                        now.retain(|text| !text.starts_with("system: "));
                        let whole = whole_before(format, &file, key, if kind == 0 { at } else { file.len() });
                        assert!(now.starts_with(&whole), "{place}: {now:?} {whole:?}");
                    }
                    found
                }
            };
            assert!(found.iter().any(|found| found.severity == Severity::Error), "{place}: {found:?}");
            if let Ok(import) = import_transcript(format, &damaged, &dated(&limits)) {
                assert!(import.diagnostics.iter().any(|found| found.severity == Severity::Error), "{place}");
            }
        }
    }
}
