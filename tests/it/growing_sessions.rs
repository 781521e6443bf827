//! Session files that are imported incrementally (docs/sessions.md, `importTranscript`): whatever the pieces, the
//! commits are those of one import at the end; and a replaced file is reported.

use std::collections::BTreeMap;

use ctxweave::Code;
use ctxweave::commits::formats::{Format, detect_format};
use ctxweave::commits::import::{Import, ImportOptions, Resume, import_transcript};
use ctxweave::commits::{Provenance, Record};
use ctxweave::tokens::Heuristic;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::transcripts::{SESSIONS, lines, session};

fn options(every: u32) -> ImportOptions<'static> {
    ImportOptions {
        format_name: None,
        provenance: Provenance { template: Some("reviewer".to_owned()), ..Provenance::default() },
        parent: None,
        created_at: Some("2026-03-02T12:00:00Z"),
        every,
        resume: None,
        growing: false,
        whole_file: false,
        counter: &Heuristic,
        limits: Box::leak(Box::default()),
    }
}

/// What a host has in the end: records and blobs by their names, and the tip.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Kept {
    pub(crate) records: BTreeMap<String, Record>,
    pub(crate) blobs: BTreeMap<String, Vec<u8>>,
    pub(crate) tip: Option<String>,
}

impl Kept {
    fn add(&mut self, import: &Import<'_>) {
        for record in &import.records {
            let before = self.records.insert(record.id.clone(), record.clone());
            assert!(before.is_none_or(|before| before == *record), "a commit is one record");
        }
        for (name, blob) in &import.blobs {
            self.blobs.insert(name.clone(), blob.to_vec());
        }
        self.tip.clone_from(&import.tip);
        for title in &import.titles {
            self.records.get_mut(&title.id).unwrap().summary = Some(title.summary.clone());
        }
    }

    pub(crate) fn of(format: Format, file: &[u8], every: u32) -> Self {
        let mut kept = Self::default();
        kept.add(&import_transcript(format, file, &options(every)).unwrap());
        kept
    }
}

/// A host that follows a file.
pub(crate) struct Host {
    format: Format,
    every: u32,
    pub(crate) kept: Kept,
    resume: Option<Resume>,
    /// How often it had to read the whole file.
    whole: u32,
}

impl Host {
    fn new(format: Format, every: u32) -> Self {
        Self { format, every, kept: Kept::default(), resume: None, whole: 0 }
    }

    fn read(&mut self, file: &[u8], growing: bool) -> Result<(), ctxweave::Error> {
        let from = self.resume.as_ref().map_or(0, |resume| resume.offset as usize);
        let mut options = ImportOptions { resume: self.resume.as_ref(), growing, ..options(self.every) };
        let unread = file.get(from..).unwrap_or_default();
        let import = match import_transcript(self.format, unread, &options) {
            Err(error) if error.code() == Code::ResumeIncomplete => {
                self.whole += 1;
                options.whole_file = true;
                import_transcript(self.format, file, &options)?
            }
            import => import?,
        };
        self.kept.add(&import);
        let resume = import.resume.unwrap();
        assert!(resume.consumed as usize <= file.len() && resume.offset <= resume.consumed);
        self.resume = Some(Resume::from_json(resume.to_json().as_bytes()).unwrap());
        Ok(())
    }
}

pub(crate) fn in_pieces(format: Format, file: &[u8], every: u32, cuts: &[usize]) -> Host {
    let mut host = Host::new(format, every);
    let mut ends: Vec<usize> = cuts.iter().map(|cut| cut % (file.len() + 1)).collect();
    ends.sort_unstable();
    for end in ends {
        host.read(&file[..end], true).unwrap();
    }
    host.read(file, false).unwrap();
    host
}

/// A session of Claude Code with a rewind, side agents, parallel calls and a compaction.
pub(crate) fn claude_session(steps: &[(u8, u16)]) -> Vec<u8> {
    let mut records: Vec<Value> = Vec::new();
    let mut known: Vec<String> = Vec::new();
    let mut last: Option<String> = None;
    for (number, &(kind, back)) in steps.iter().enumerate() {
        let id = |what: &str| format!("{number}-{what}");
        let time = format!("2026-03-02T09:{:02}:{:02}.000Z", number / 60 % 60, number % 60);
        if kind % 8 == 7 && !known.is_empty() {
            // One in eight goes back to an old message.
            last = Some(known[usize::from(back) % known.len()].clone());
        }
        let mut say = |uuid: &str, parent: Option<&str>, side: bool, kind: &str, message: Value| {
            records.push(
                json!({ "type": kind, "uuid": uuid, "parentUuid": parent, "isSidechain": side, "timestamp": time,
                "sessionId": "s", "message": message }),
            );
            if !side {
                known.push(uuid.to_owned());
            }
        };
        let user = |text: &str| json!({ "role": "user", "content": text });
        let (question, answer) = (id("q"), id("a"));
        say(&question, last.as_deref(), false, "user", user("question"));
        if kind % 5 == 0 {
            let side = id("s");
            say(&side, None, true, "user", user("work"));
            say(
                &id("t"),
                Some(&side),
                true,
                "assistant",
                json!({ "id": id("ms"), "role": "assistant", "content": "done" }),
            );
        }
        let call = |call: String| {
            json!({ "id": id("m"), "role": "assistant",
            "content": [{ "type": "tool_use", "id": call, "name": "n", "input": {} }] })
        };
        let result = |call: String| {
            json!({ "role": "user",
            "content": [{ "type": "tool_result", "tool_use_id": call, "content": "x" }] })
        };
        last = Some(answer.clone());
        if kind % 3 == 0 {
            let (other, one, two) = (id("b"), id("r"), id("p"));
            say(&answer, Some(&question), false, "assistant", call(id("c")));
            say(&one, Some(&answer), false, "user", result(id("c")));
            say(&other, Some(&answer), false, "assistant", call(id("d")));
            say(&two, Some(&other), false, "user", result(id("d")));
            let end = id("e");
            say(&end, Some(&two), false, "assistant", json!({ "id": id("n"), "role": "assistant", "content": "so" }));
            last = Some(end);
        } else {
            say(
                &answer,
                Some(&question),
                false,
                "assistant",
                json!({ "id": id("m"), "role": "assistant", "content": "so" }),
            );
        }
        if kind % 11 == 10 {
            let (boundary, summary) = (id("x"), id("y"));
            records
                .push(json!({ "type": "system", "subtype": "compact_boundary", "uuid": boundary, "parentUuid": null,
                "logicalParentUuid": last, "isSidechain": false, "timestamp": time }));
            records.push(json!({ "type": "user", "uuid": summary, "parentUuid": boundary, "isSidechain": false,
                "isCompactSummary": true, "timestamp": time, "message": user("summary") }));
            known.push(summary.clone());
            last = Some(summary);
        }
        if kind % 13 == 12 {
            records.push(json!({ "type": "summary", "summary": format!("title {number}"), "leafUuid": last }));
        }
    }
    lines(&records)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::generate::cases(48)))]

    /// The sessions in the examples, of every format that is lines, one or several times over.
    #[test]
    fn sessions_in_pieces_give_the_commits_of_one_import(
        cuts in prop::collection::vec(any::<usize>(), 0..12), every in prop::sample::select(vec![1_u32, 2, 100]), times in 1..4_usize,
    ) {
        for (name, format) in SESSIONS.into_iter().filter(|(name, _)| name.ends_with("jsonl")) {
            let file = session(name).repeat(times);
            let host = in_pieces(format, &file, every, &cuts);
            prop_assert_eq!(&host.kept, &Kept::of(format, &file, every), "{}", name);
            prop_assert!(host.resume.unwrap().to_json().len() < 8_000);
        }
    }

    #[test]
    fn branches_in_pieces_are_those_of_one_import(
        steps in prop::collection::vec(any::<(u8, u16)>(), 1..80),
        cuts in prop::collection::vec(any::<usize>(), 0..12), every in prop::sample::select(vec![1_u32, 3]),
    ) {
        let file = claude_session(&steps);
        let host = in_pieces(Format::ClaudeCodeV1, &file, every, &cuts);
        // Only the titles of dropped commits differ.
        let without_titles = |mut kept: Kept| {
            kept.records.values_mut().filter(|record| record.commit_type.as_str() == "delta").for_each(|record| record.summary = None);
            kept
        };
        prop_assert_eq!(without_titles(host.kept), without_titles(Kept::of(Format::ClaudeCodeV1, &file, every)));
    }
}

/// A rewind beyond the kept part requires the whole file once, and imports only the new lines.
#[test]
fn a_far_rewind_needs_the_whole_file() {
    let mut steps = vec![(1, 0); 100];
    steps.push((7, 3));
    steps.extend([(1, 0); 5]);
    let file = claude_session(&steps);
    let cuts: Vec<usize> = (1..40).map(|at| at * file.len() / 40).collect();
    let host = in_pieces(Format::ClaudeCodeV1, &file, 1, &cuts);
    assert_eq!(host.kept, Kept::of(Format::ClaudeCodeV1, &file, 1));
    assert_eq!(host.whole, 1);
    assert!(host.resume.unwrap().to_json().len() < 4_000);
}

/// An unterminated line is not consumed, and nothing is imported twice.
#[test]
fn a_line_that_is_not_whole_waits() {
    let file = session("generic.jsonl");
    let mut host = Host::new(Format::GenericV1, 1);
    for end in 0..file.len() {
        host.read(&file[..end], true).unwrap();
        let consumed = host.resume.as_ref().unwrap().consumed as usize;
        assert!(consumed == 0 || file[consumed - 1] == b'\n', "{end}");
    }
    host.read(&file, false).unwrap();
    assert_eq!(host.kept, Kept::of(Format::GenericV1, &file, 1));
}

/// Truncated, rewritten or another file: an error with its code; the kept state continues with the right file.
#[test]
fn a_changed_file_is_reported() {
    for (name, format) in SESSIONS.into_iter().filter(|(name, _)| name.ends_with("jsonl")) {
        let file = session(name).repeat(2);
        let mut host = Host::new(format, 1);
        host.read(&file[..file.len() * 4 / 5], true).unwrap();
        let consumed = host.resume.as_ref().unwrap().consumed as usize;
        assert!(consumed > 0, "{name}");
        let mut altered = file.clone();
        altered[consumed - 20] ^= 1;
        let shifted = [b"\n", &file[..]].concat();
        for (what, wrong) in [
            ("cut", &file[..consumed - 1]),
            ("cut to nothing", &[][..]),
            ("altered", &altered),
            ("shifted", &shifted),
            ("another", &session("claude-code.jsonl").repeat(2)[9..]),
        ] {
            for growing in [false, true] {
                let error = host.read(wrong, growing).unwrap_err();
                assert_eq!(error.code(), Code::ResumeMismatch, "{name}, {what}: {error}");
                assert!(error.details()["reason"].is_string());
            }
        }
        // Altered further back: only the whole file shows it.
        let mut altered = file.clone();
        let at = file.windows(9).position(|window| window == b"timestamp" || window == b"\"content\"").unwrap();
        altered[at + 1] = b'_';
        let options = ImportOptions { resume: host.resume.as_ref(), whole_file: true, ..options(1) };
        let error = import_transcript(format, &altered, &options).unwrap_err();
        assert_eq!(error.code(), Code::ResumeMismatch, "{name}");
        host.read(&file, false).unwrap();
        assert_eq!(host.kept, Kept::of(format, &file, 1), "{name}");
    }
}

/// Other options, another format, a form of a later version.
#[test]
fn a_resume_that_does_not_fit_is_refused() {
    let file = session("generic.jsonl");
    let first = import_transcript(Format::GenericV1, &file, &options(1)).unwrap();
    let resume = first.resume.as_ref();
    let rest = &file[resume.unwrap().offset as usize..];
    let every = ImportOptions { resume, ..options(2) };
    assert_eq!(import_transcript(Format::GenericV1, rest, &every).unwrap_err().code(), Code::ResumeMismatch);
    let format = ImportOptions { resume, ..options(1) };
    assert_eq!(import_transcript(Format::CodexV1, rest, &format).unwrap_err().code(), Code::ResumeMismatch);
    let whole_file = ImportOptions { whole_file: true, ..options(1) };
    assert_eq!(import_transcript(Format::GenericV1, &file, &whole_file).unwrap_err().code(), Code::InvalidInput);
}

/// A file that is one value cannot be imported in parts.
#[test]
fn one_value_is_not_read_in_parts() {
    for (name, format) in SESSIONS.into_iter().filter(|(name, _)| !name.ends_with("jsonl")) {
        let file = session(name);
        assert_eq!(import_transcript(format, &file, &options(1)).unwrap().resume, None, "{name}");
        let growing = ImportOptions { growing: true, ..options(1) };
        let error = import_transcript(format, &file, &growing).unwrap_err();
        assert_eq!((error.code(), error.details()["path"].as_str()), (Code::InvalidInput, Some("growing")), "{name}");
    }
}

/// The format is detected from the first line on.
#[test]
fn formats_are_known_by_their_shape() {
    for (name, format) in SESSIONS {
        let file = session(name);
        assert_eq!(detect_format(&file), Some(format), "{name}");
        if name.ends_with("jsonl") {
            let damaged = [b"{\"cut\n\n", &file[..file.len() - 7]].concat();
            assert_eq!(detect_format(&damaged), Some(format), "{name}");
        }
    }
    for (file, format) in [
        ("", None),
        ("{}", None),
        ("[1]", None),
        ("words", None),
        ("{\"a\":1}\n{\"b\":", None),
        ("\u{feff}{\"role\":\"user\",\"content\":\"x\"}", Some(Format::GenericV1)),
        ("{\"role\":\"user\",\"content\":\"x\"}\n{\"ro", Some(Format::GenericV1)),
        (
            "{\n  \"sessionId\": \"s\",\n  \"messages\": [\n    { \"type\": \"user\", \"content\": \"x\" },\n    {}\n  ]\n}\n",
            Some(Format::GeminiV1),
        ),
        ("{\"type\":\"function_call_output\",\"call_id\":\"c\"}", Some(Format::CodexV0)),
    ] {
        assert_eq!(detect_format(file.as_bytes()), format, "{file}");
    }
    assert_eq!(detect_format(&[0xf6]), None);
}
