//! Lines of sessions that hold more than one record, or a part of one (docs/sessions.md): every complete record is read
//! and imported once.

use ctxweave::DiagnosticCode::{self, GluedRecords, MalformedLine};
use ctxweave::commits::CommitGraph;
use ctxweave::commits::formats::Format;
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::{Map, Value};

use crate::generate::cases;
use crate::imports::{blob, import_every};
use crate::transcripts::{SESSIONS, read, session};

fn files() -> Vec<(&'static str, Format, Vec<Vec<u8>>)> {
    let is_record = |line: &&[u8]| {
        serde_json::from_slice::<Map<String, Value>>(line).is_ok_and(|it| it.len() > 1 || it.contains_key("$set"))
    };
    let lines = |file: Vec<u8>| file.split(|&byte| byte == b'\n').filter(is_record).map(<[u8]>::to_vec).collect();
    let sessions = SESSIONS.into_iter().filter(|(name, _)| name.ends_with("jsonl"));
    sessions.map(|(name, format)| (name, format, lines(session(name)))).collect()
}

fn joined(lines: &[Vec<u8>]) -> Vec<u8> {
    lines.iter().flat_map(|line| [line, &b"\n"[..]].concat()).collect()
}

/// A file with damage before a line is read like the file without it, and the damage is reported once; and its commits hold each
/// whole line as often as those of the file without the damage.
fn is_read(name: &str, format: Format, lines: &[Vec<u8>], at: usize, damage: &[u8], code: DiagnosticCode) {
    let mut damaged = lines.to_vec();
    damaged[at] = [damage, &lines[at]].concat();
    let (whole, damaged) = (joined(lines), joined(&damaged));
    for through in [false, true] {
        let (expected, found) = (read(format, &whole, through), read(format, &damaged, through));
        let shown = String::from_utf8_lossy(damage);
        assert_eq!(found.0, expected.0, "{name}, line {at}: {shown}");
        let reported = found.1.iter().filter(|it| it.code == code && it.line == Some(at as u32 + 1)).count();
        assert_eq!(reported, 1, "{name}, line {at}, {shown}: {:?}", found.1);
        assert_eq!(found.1.len(), expected.1.len() + 1, "{:?}", found.1);
    }
    let (expected, found) = (import_every(format, &whole, 1), import_every(format, &damaged, 1));
    assert_eq!(found.records, expected.records, "{name}, line {at}");
    for record in &found.records {
        assert_eq!(blob(&found, record), blob(&expected, record));
    }
    assert_eq!(found.diagnostics.iter().filter(|it| it.code == code).count(), 1, "{:?}", found.diagnostics);
}

#[test]
fn a_record_after_nul_bytes_is_read() {
    for (name, format, lines) in files() {
        for at in 0..lines.len() {
            for damage in [&b"\0"[..], b"\0\0\0\0 \0\0", b"{\"cut\":\"off\0\0\0\0"] {
                is_read(name, format, &lines, at, damage, MalformedLine);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(48)))]

    /// A process died while it wrote a record, and the next one went on on the same line.
    #[test]
    fn a_record_after_a_cut_off_one_is_read(at in any::<Index>(), cut_line in any::<Index>(), cut in any::<Index>(), nuls in 0..3_usize) {
        for (name, format, lines) in files() {
            let (at, cut_line) = (at.index(lines.len()), &lines[cut_line.index(lines.len())]);
            let cut = 1 + cut.index(cut_line.len() - 1);
            let damage = [&cut_line[..cut], &vec![0; nuls]].concat();
            is_read(name, format, &lines, at, &damage, MalformedLine);
        }
    }

    /// The file begins within a record, or a block of the disk was lost, and the next record follows on the same line.
    #[test]
    fn a_record_after_one_without_its_beginning_is_read(at in any::<Index>(), cut_line in any::<Index>(), cut in any::<Index>()) {
        for (name, format, lines) in files() {
            let (at, cut_line) = (at.index(lines.len()), &lines[cut_line.index(lines.len())]);
            let cut = 1 + cut.index(cut_line.len() - 1);
            // What begins as a record is one, whatever it was part of.
            if cut_line[cut] != b'{' {
                is_read(name, format, &lines, at, &cut_line[cut..], MalformedLine);
            }
        }
    }

    /// The same several times on one line, with whole records between.
    #[test]
    fn every_whole_record_of_a_line_is_read(cuts in prop::collection::vec(any::<Index>(), 1..5)) {
        for (name, format, lines) in files() {
            let mut line = Vec::new();
            for (at, cut) in cuts.iter().enumerate() {
                let text = lines[at % lines.len()].as_slice();
                line.extend_from_slice(&text[..1 + cut.index(text.len() - 1)]);
                line.extend_from_slice(text);
            }
            line.extend(lines[cuts.len() % lines.len()..].join(&b'\n'));
            let whole: Vec<Vec<u8>> = (0..cuts.len()).map(|at| lines[at % lines.len()].clone()).chain(lines[cuts.len() % lines.len()..].to_vec()).collect();
            prop_assert_eq!(read(format, &line, true).0, read(format, &joined(&whole), true).0, "{}", name);
        }
    }

    /// A line that stops in the middle, and holds no other record, is no record.
    #[test]
    fn a_part_of_a_record_is_none(at in any::<Index>(), cut in any::<Index>()) {
        for (name, format, lines) in files() {
            let at = at.index(lines.len());
            let cut = 1 + cut.index(lines[at].len() - 1);
            let (mut damaged, mut without) = (lines.clone(), lines);
            damaged[at].truncate(cut);
            without.remove(at);
            prop_assert_eq!(read(format, &joined(&damaged), true).0, read(format, &joined(&without), true).0, "{}", name);
        }
    }
}

#[test]
fn glued_records_are_both_read() {
    for (name, format, lines) in files() {
        for at in 0..lines.len() - 1 {
            let mut glued = lines.clone();
            let next = glued.remove(at + 1);
            glued[at].extend(next);
            let (expected, found) = (read(format, &joined(&lines), true), read(format, &joined(&glued), true));
            assert_eq!(found.0, expected.0, "{name}, line {at}");
            assert_eq!(found.1.iter().filter(|it| it.code == GluedRecords).count(), 1, "{name}, line {at}");
        }
    }
}

#[test]
fn records_of_commits_after_damage_are_imported() {
    let import = import_every(Format::GenericV1, &session("generic.jsonl"), 1);
    let text = String::from_utf8(crate::commits::jsonl(import.records.clone())).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines.len() > 2);
    for cut in 1..lines[0].len() - 1 {
        let (beginning, end) = lines[0].split_at(cut);
        for damage in [beginning.to_owned(), format!("{beginning}\0\0"), end.to_owned()] {
            if damage.starts_with('{') && damage.ends_with('}') {
                continue;
            }
            let mut graph = CommitGraph::default();
            let file = format!("{damage}{}\n{}\n", lines[1], lines[2]);
            let report = graph.import_jsonl(file.as_bytes()).unwrap();
            assert_eq!(report.added.len(), 2, "{cut}: {report:?}");
            assert!(report.diagnostics.iter().any(|it| it.code == MalformedLine), "{cut}");
        }
    }
}

/// No input takes more than roughly linear time.
#[test]
fn hostile_lines_take_linear_time() {
    let hostile = [
        "{",
        "{\"",
        "{\"a\":",
        "{\"a\":{}",
        "{\"a\":{\"b\":1},",
        "{\"a\":\"{",
        "{\"a\":[",
        "{}x",
        "{\"a\":1}{",
        "{\"a\":1}\0",
        "\0{\"a\":\"\\",
        "{\"a\":\"}",
        "{\"a\":[{}],",
    ];
    for text in hostile {
        let line = text.repeat(1_000_000 / text.len());
        // A quadratic algorithm would take hours.
        for format in [Format::ClaudeCodeV1, Format::GenericV1] {
            let (_, found) = read(format, line.as_bytes(), false);
            assert!(!found.is_empty(), "{text}");
        }
        CommitGraph::default().import_jsonl(line.as_bytes()).unwrap();
    }
}
