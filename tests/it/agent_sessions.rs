//! Sessions recorded from pi, Qwen Code, Copilot CLI and Gemini CLI (docs/session-formats.md): what their next request held is read,
//! in any damage.

use ctxweave::commits::CommitType;
use ctxweave::commits::formats::{Concatenator, Format, detect_format};
use ctxweave::commits::translate::{CrossFamily, Tier};
use ctxweave::{Code, DiagnosticCode, Limits};
use serde_json::{Value, json};

use crate::generate::cases;
use crate::growing_sessions::{Kept, claude_session, in_pieces};
use crate::imports::{blob, chain, import_every};
use crate::transcripts::{lines, read, texts, translated};

const FILES: [(&str, Format, &[u8]); 4] = [
    ("pi", Format::PiV3, include_bytes!("../sessions/pi-0.73.1.jsonl")),
    ("Qwen Code", Format::QwenCodeV1, include_bytes!("../sessions/qwen-code-0.24.4.jsonl")),
    ("Copilot CLI", Format::CopilotCliV1, include_bytes!("../sessions/copilot-cli-1.0.102.events.jsonl")),
    ("Gemini CLI", Format::GeminiV1, include_bytes!("../sessions/gemini-cli-0.61.0.jsonl")),
];

fn records(file: &[u8]) -> Vec<Value> {
    String::from_utf8_lossy(file).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn recorded_sessions_are_what_the_tool_sent_next() {
    let two_calls = [
        "user: hello",
        "assistant: call call_1",
        "user: result call_1",
        "assistant: call call_2",
        "user: result call_2",
        "assistant: ok",
    ];
    for (name, format, file) in FILES {
        assert_eq!(detect_format(file), Some(format), "{name}");
        let (transcript, found) = read(format, file, false);
        assert_eq!(found, [], "{name}");
        let said = texts(&transcript);
        match format {
            Format::PiV3 => {
                assert_eq!(said, ["user: hello", "assistant: call call_1", "user: result call_1", "assistant: ok"])
            }
            Format::QwenCodeV1 => assert_eq!(said, two_calls),
            Format::GeminiV1 => {
                assert!(said[0].starts_with("user: <session_context>"), "{name}");
                let ids = |text: &str| text.replace("read_file__", "");
                assert_eq!(said[1..].iter().map(|text| ids(text)).collect::<Vec<_>>(), two_calls);
            }
            _ => {
                assert!(said[0].starts_with("system: You are the GitHub Copilot CLI"), "{name}");
                assert_eq!(
                    said[1],
                    "user: <current_datetime>2026-11-26T01:24:32.376+00:00</current_datetime>\n\nhello"
                );
                assert_eq!(said[2..], two_calls[1..]);
            }
        }
        assert!(transcript.turns.iter().all(|turn| turn.timestamp.is_some()), "{name}");
    }
}

#[test]
fn recorded_sessions_are_imported_whole_and_in_pieces() {
    for (name, format, file) in FILES {
        let import = import_every(format, file, 1);
        assert_eq!(import.diagnostics, [], "{name}");
        assert!(import.records.len() > 1 && import.records.iter().all(|record| record.provenance.session_id.is_some()));
        let mut joined = Concatenator::new(format, &Limits::default(), 0);
        for record in chain(&import, import.tip.as_ref().unwrap()) {
            joined.push(blob(&import, record), Default::default()).unwrap();
        }
        assert_eq!(joined.finish().unwrap().bytes, file, "{name}");
        for pieces in [2, 3, 7] {
            let cuts: Vec<usize> = (1..pieces).map(|piece| file.len() * piece / pieces).collect();
            assert_eq!(in_pieces(format, file, 1, &cuts).kept, Kept::of(format, file, 1), "{name}, {pieces}");
        }
    }
}

#[test]
fn recorded_sessions_are_translated() {
    for (name, format, file) in FILES {
        let said = |format: Format, bytes: &[u8]| texts(&read(format, bytes, false).0);
        for target in Format::WRITTEN.iter().filter(|target| **target != format) {
            let done = translated(&[(format.name(), file)], target.name(), CrossFamily::Transcode);
            assert_eq!(done.tier, Tier::Transcode, "{name}");
            let results = |texts: Vec<String>| texts.into_iter().filter(|text| !text.starts_with("system")).count();
            assert!(results(said(*target, &done.bytes)) >= results(said(format, file)), "{name} to {target}");
            assert!(!String::from_utf8_lossy(&done.bytes).contains("1970"), "{name} to {target}");
        }
        let native = translated(&[(format.name(), file)], format.name(), CrossFamily::Render);
        assert_eq!((native.tier, native.bytes.as_slice()), (Tier::Native, file));
        if Format::WRITTEN.contains(&format) {
            continue;
        }
        let error = format.write(&read(format, file, false).0, "").unwrap_err();
        assert_eq!(error.code(), Code::UnknownValue);
        assert!(error.message().contains("can be read but not written"), "{error}");
    }
}

/// Recorded sessions of other line-based formats, and those that ctxweave writes.
fn line_based() -> Vec<(&'static str, Format, Vec<u8>)> {
    let mut files: Vec<(&str, Format, Vec<u8>)> =
        FILES.iter().map(|&(name, format, file)| (name, format, file.to_vec())).collect();
    let recorded: [(&str, Format, &[u8]); 4] = [
        ("Claude Code", Format::ClaudeCodeV1, include_bytes!("../sessions/claude-code-2.1.332.jsonl")),
        (
            "Claude Code, compacted",
            Format::ClaudeCodeV1,
            include_bytes!("../sessions/claude-code-2.1.332-compacted.jsonl"),
        ),
        ("Codex", Format::CodexV1, include_bytes!("../sessions/codex-0.169.0.jsonl")),
        ("Codex, compacted", Format::CodexV1, include_bytes!("../sessions/codex-0.169.0-compacted.jsonl")),
    ];
    files.extend(recorded.map(|(name, format, file)| (name, format, file.to_vec())));
    for target in [Format::CodexV0, Format::GeminiV1, Format::GenericV1, Format::PiV3, Format::Sts] {
        let done = translated(&[("codex-v1", recorded[2].2)], target.name(), CrossFamily::Transcode);
        files.push((target.name(), target, done.bytes));
    }
    files
}

/// 600 damaged variants of each file: truncated, appended, glued, with NUL bytes, reordered. Each whole line is read, or its
/// loss is reported; and an import has it in a blob.
#[test]
fn damage_loses_no_whole_record_silently() {
    let mut state = 7_u32;
    let mut next = |below: usize| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as usize % below
    };
    for (name, format, file) in line_based() {
        let whole: Vec<&[u8]> = file.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()).collect();
        let said = texts(&read(format, &file, false).0);
        for variant in 0..cases(600) {
            let mut list: Vec<Vec<u8>> = whole.iter().map(|line| line.to_vec()).collect();
            let (at, other) = (next(list.len()), next(list.len()));
            let cut = 1 + next(whole[at].len() - 1);
            let mut lost = None;
            match variant % 5 {
                0 => lost = Some(std::mem::replace(&mut list[at], whole[at][..cut].to_vec())),
                1 => list[at].extend_from_slice(b" and more"),
                2 => {
                    let glued = [&list[at][..], whole[other]].concat();
                    list[at] = glued;
                }
                3 => list[at].splice(0..0, vec![0; 1 + cut % 4]).for_each(drop),
                _ => list.swap(at, other),
            }
            let damaged: Vec<u8> = list.iter().flat_map(|line| [line, &b"\n"[..]].concat()).collect();
            let (transcript, found) = read(format, &damaged, false);
            let import = import_every(format, &damaged, 1);
            let stored: Vec<u8> = import.blobs.iter().flat_map(|(_, bytes)| [bytes, &b"\n"[..]].concat()).collect();
            let stored = String::from_utf8_lossy(&stored);
            for line in whole.iter().filter(|line| lost.as_deref() != Some(**line)) {
                assert!(stored.contains(&*String::from_utf8_lossy(line)), "{name}, variant {variant}");
            }
            let [mut now, mut before] = [texts(&transcript), said.clone()];
            // Added bytes leave every record whole; two records on one line are both read.
            let is_kept = match variant % 5 {
                1 | 3 => now == before,
                // A repeated line that replaces the messages before it is reported.
                2 if other <= at && found.iter().all(|found| found.code != DiagnosticCode::BrokenChain) => {
                    let now = now.join("\n");
                    before.iter().all(|text| now.contains(text.split_once(": ").map_or("", |(_, said)| said)))
                }
                _ => true,
            };
            assert!(is_kept, "{name}, variant {variant}: {now:?}");
            let is_reordered = variant % 5 == 4;
            if is_reordered {
                // Neighbors of one author are one turn.
                let parts = |turns: &[String]| {
                    let said = turns.iter().map(|turn| turn.split_once(": ").map_or("", |(_, said)| said));
                    let mut parts: Vec<String> = said.flat_map(|said| said.split(", ")).map(str::to_owned).collect();
                    parts.sort();
                    parts
                };
                (now, before) = (parts(&now), parts(&before));
            }
            assert!(now == before || !found.is_empty(), "{name}, variant {variant}: {now:?}, not {before:?}");
            let is_reported = !found.is_empty() && !import.diagnostics.is_empty();
            assert!(is_reordered || is_reported, "{name}, variant {variant}: {found:?}");
        }
    }
}

/// Claude Code writes the records of an agent that a call started into a file of their own. They all belong to a side
/// chain, and are the conversation of that agent.
#[test]
fn the_file_of_a_subagent_is_its_conversation() {
    let steps: Vec<(u8, u16)> = (0..40).map(|step: u16| (((step * 5) % 7) as u8, step * 3)).collect();
    let main = claude_session(&steps);
    let mut agent = records(&main);
    agent.retain(|record| record["isSidechain"] != json!(true));
    let main = lines(&agent);
    for record in &mut agent {
        (record["isSidechain"], record["agentId"]) = (json!(true), json!("a7f3b2"));
    }
    let agent = lines(&agent);
    assert_eq!(detect_format(&agent), Some(Format::ClaudeCodeV1));
    let said = |file: &[u8]| texts(&read(Format::ClaudeCodeV1, file, false).0);
    assert!(said(&agent).len() > 4);
    assert_eq!(said(&agent), said(&main));
    let (of_agent, of_main) =
        (import_every(Format::ClaudeCodeV1, &agent, 1), import_every(Format::ClaudeCodeV1, &main, 1));
    assert_eq!(of_agent.records.len(), of_main.records.len());
    assert_eq!(of_agent.diagnostics, of_main.diagnostics);
    assert!(of_agent.records.iter().all(|record| record.other.is_empty()), "they are no side chains of another commit");
    for cut in [agent.len() / 3, agent.len() / 2] {
        assert_eq!(in_pieces(Format::ClaudeCodeV1, &agent, 1, &[cut]).kept, Kept::of(Format::ClaudeCodeV1, &agent, 1));
    }
    let parts = [(Format::ClaudeCodeV1.name(), agent.as_slice())];
    let done = translated(&parts, Format::CodexV1.name(), CrossFamily::Transcode);
    let of_main = translated(&[(Format::ClaudeCodeV1.name(), &main)], Format::CodexV1.name(), CrossFamily::Transcode);
    assert_eq!(
        texts(&read(Format::CodexV1, &done.bytes, false).0),
        texts(&read(Format::CodexV1, &of_main.bytes, false).0)
    );
}

fn pi(id: &str, parent: Option<&str>, role: &str, text: &str) -> Value {
    json!({ "type": "message", "id": id, "parentId": parent, "timestamp": "2026-11-26T01:27:01.953Z",
        "message": { "role": role, "content": [{ "type": "text", "text": text }] } })
}

fn pi_session(compaction: Value) -> Vec<u8> {
    let header =
        json!({ "type": "session", "version": 3, "id": "s", "timestamp": "2026-11-26T01:27:01.923Z", "cwd": "/" });
    lines(&[
        header,
        pi("a", None, "user", "one"),
        pi("b", Some("a"), "assistant", "two"),
        pi("c", Some("b"), "user", "three"),
        pi("d", Some("c"), "assistant", "four"),
        compaction,
        pi("f", Some("e"), "user", "five"),
        pi("g", Some("f"), "assistant", "six"),
    ])
}

/// pi keeps the entries from the one that a compaction names, after the summary.
#[test]
fn a_compaction_of_pi_keeps_its_entries() {
    let compaction = json!({ "type": "compaction", "id": "e", "parentId": "d", "timestamp": "2026-11-26T01:28:00.000Z",
        "summary": "so far", "firstKeptEntryId": "c", "tokensBefore": 9 });
    let file = pi_session(compaction.clone());
    let (transcript, found) = read(Format::PiV3, &file, false);
    assert_eq!(found, []);
    assert!(transcript.turns[0].summary && texts(&transcript)[0].contains("<summary>\nso far\n</summary>"));
    assert_eq!(texts(&transcript)[1..], ["user: three", "assistant: four", "user: five", "assistant: six"]);
    let all = ["user: one", "assistant: two", "user: three", "assistant: four", "user: five", "assistant: six"];
    assert_eq!(texts(&read(Format::PiV3, &file, true).0), all);
    let import = import_every(Format::PiV3, &file, 1);
    let chain = chain(&import, import.tip.as_ref().unwrap());
    let at = chain.iter().position(|record| record.commit_type == CommitType::Compaction).unwrap();
    let joined = |from: usize| {
        let mut joined = Concatenator::new(Format::PiV3, &Limits::default(), 0);
        chain[from..].iter().for_each(|record| joined.push(blob(&import, record), Default::default()).unwrap());
        joined.finish().unwrap().bytes
    };
    assert_eq!(texts(&read(Format::PiV3, &joined(at), false).0), texts(&transcript));
    let (whole, found) = read(Format::PiV3, &joined(0), true);
    assert_eq!((texts(&whole), found), (all.map(str::to_owned).to_vec(), vec![]));
    for cut in [40, file.len() / 2, file.len() * 2 / 3] {
        assert_eq!(in_pieces(Format::PiV3, &file, 1, &[cut]).kept, Kept::of(Format::PiV3, &file, 1));
    }
    let mut lost = compaction;
    lost["firstKeptEntryId"] = json!("nobody");
    let (transcript, found) = read(Format::PiV3, &pi_session(lost), false);
    assert_eq!(texts(&transcript)[1..], ["user: five", "assistant: six"]);
    assert_eq!(found[0].code, DiagnosticCode::BrokenChain);
}

/// The conversation is the chain of the newest entry; the branch that the user left is in the file only.
#[test]
fn a_branch_of_pi_that_was_left_is_not_read() {
    let file = lines(&[
        pi("a", None, "user", "one"),
        pi("b", Some("a"), "assistant", "left"),
        json!({ "type": "branch_summary", "id": "c", "parentId": "a", "timestamp": "2026-11-26T01:27:02Z", "fromId": "b", "summary": "was left" }),
        pi("d", Some("c"), "user", "two"),
        pi("e", Some("d"), "assistant", "taken"),
    ]);
    let (transcript, found) = read(Format::PiV3, &file, false);
    let said = texts(&transcript);
    assert!(said[1].contains("<summary>\nwas left</summary>"), "{said:?}");
    assert_eq!(
        (said[0].as_str(), &said[2..]),
        ("user: one", &["user: two".to_owned(), "assistant: taken".to_owned()][..])
    );
    assert_eq!(found, []);
}

/// Qwen Code and Copilot CLI record the history after a compaction, or its summary.
#[test]
fn compactions_of_other_agents_replace_what_precedes_them() {
    let mut qwen = records(FILES[1].2);
    let content = |role: &str, text: &str| json!({ "role": role, "parts": [{ "text": text }] });
    let newest = qwen.last().unwrap()["uuid"].clone();
    qwen.push(json!({ "uuid": "z", "parentUuid": newest, "sessionId": "s", "timestamp": "2026-11-26T01:30:00Z", "type": "system",
        "subtype": "chat_compression", "systemPayload": { "info": {}, "compressedHistory": [content("user", "so far"), content("model", "Got it")] } }));
    qwen.push(
        json!({ "uuid": "y", "parentUuid": "z", "sessionId": "s", "timestamp": "2026-11-26T01:30:01Z", "type": "user",
        "message": content("user", "go on") }),
    );
    let (transcript, found) = read(Format::QwenCodeV1, &lines(&qwen), false);
    assert_eq!(
        (texts(&transcript), found),
        (["user: so far", "assistant: Got it", "user: go on"].map(str::to_owned).to_vec(), vec![])
    );
    let mut copilot = records(FILES[2].2);
    let event = |kind: &str, data: Value| json!({ "type": kind, "data": data, "id": "x", "timestamp": "2026-11-26T01:30:00Z", "parentId": null });
    copilot.push(event("session.compaction_complete", json!({ "success": true, "summaryContent": "so far" })));
    copilot.push(event("user.message", json!({ "content": "go on", "transformedContent": "<now/> go on" })));
    copilot.push(event(
        "assistant.message",
        json!({ "content": "another agent", "toolRequests": [], "parentToolCallId": "call_9" }),
    ));
    let (transcript, found) = read(Format::CopilotCliV1, &lines(&copilot), false);
    assert_eq!(
        (texts(&transcript), found),
        (["user: so far", "user: <now/> go on"].map(str::to_owned).to_vec(), vec![])
    );
    for (format, file) in [(Format::QwenCodeV1, lines(&qwen)), (Format::CopilotCliV1, lines(&copilot))] {
        let import = import_every(format, &file, 1);
        assert_eq!(import.diagnostics, []);
        assert_eq!(import.records.iter().filter(|record| record.commit_type == CommitType::Compaction).count(), 1);
    }
}
