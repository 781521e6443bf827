//! Reading and writing transcripts in each format (SPEC §5 "Formats", "claude-code-v1", "bureau-agent-v1 item").

use std::fs;
use std::path::Path;

use ctxweave::commits::formats::{Format, ReadOptions};
use ctxweave::commits::transcript::Transcript;
use ctxweave::{Diagnostic, Limits};

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
    fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/sessions").join(name)).unwrap()
}

pub(crate) fn read(format: Format, bytes: &[u8], through: bool) -> (Transcript, Vec<Diagnostic>) {
    let options = ReadOptions { through_compactions: through, ..ReadOptions::default() };
    format.read(bytes, options, &Limits::default()).unwrap()
}

#[test]
fn look() {
    for (name, format) in SESSIONS {
        let (transcript, found) = read(format, &session(name), false);
        println!("=== {name}");
        print!("{}", String::from_utf8(Format::GenericV1.write(&transcript, "").unwrap().0).unwrap());
        found.iter().for_each(|found| println!("{:?} {:?} {}", found.code, found.line, found.message));
    }
}
