//! Unit tests of private items in `src/jsonl.rs`.

use super::*;

type Found = (DiagnosticCode, Option<u32>, Option<u32>);

fn read(text: &str) -> (Vec<(u32, String)>, Vec<Found>) {
    let mut reader = Reader::new(text.as_bytes());
    let records = reader.by_ref().map(|record| (record.line, Value::Object(record.value).to_string())).collect();
    (records, reader.finish().iter().map(|found| (found.code, found.line, found.column)).collect())
}

fn lines(text: &str) -> Vec<u32> {
    let (records, findings) = read(text);
    assert_eq!(findings, [], "{text:?}");
    records.into_iter().map(|(line, _)| line).collect()
}

#[test]
fn lines_end_at_lf_only() {
    assert_eq!(lines("{\"a\":1}\n{\"a\":2}\n"), [1, 2]);
    assert_eq!(lines("{\"a\":1}\r\n\r\n{\"a\":2}\r\n"), [1, 3]);
    assert_eq!(lines("\u{feff}{\"a\":1}\n{\"a\":2}"), [1, 2]);
    assert_eq!(lines("{\"a\":\"\u{2028}\u{85}\"}\n"), [1]);
    assert_eq!(lines(""), [] as [u32; 0]);
    assert_eq!(lines("\n \n\n"), [] as [u32; 0]);
}

#[test]
fn an_incomplete_last_line_is_reported() {
    let (records, findings) = read("{\"a\":1}\n{\"a\":\"b");
    assert_eq!(records.len(), 1);
    assert_eq!(findings, [(DiagnosticCode::TornLine, Some(2), None)]);
    let (records, findings) = read("{\"a\":1}\n{\"a\":\n{\"a\":2}\n");
    assert_eq!(records.len(), 2);
    assert_eq!(findings, [(DiagnosticCode::MalformedLine, Some(2), Some(5))]);
}

#[test]
fn lines_that_are_not_objects_are_skipped() {
    for line in ["5", "[1]", "null", "\"a\"", "x", "{a:1}", "{} 5", "}{", "\u{0}\u{0}"] {
        let (records, findings) = read(&format!("{{\"a\":1}}\n{line}\n{{\"a\":2}}\n"));
        assert_eq!(findings.len(), 1, "{line}");
        assert_eq!((findings[0].0, findings[0].1), (DiagnosticCode::MalformedLine, Some(2)), "{line}");
        assert_eq!(records.len(), 2 + usize::from(line == "{} 5"), "{line}");
    }
    let mut reader = Reader::new(b"\xff{\"a\":1}\n{}");
    assert_eq!(reader.by_ref().count(), 1);
    assert_eq!(reader.finish()[0].code, DiagnosticCode::MalformedLine);
}

#[test]
fn what_is_no_utf8_is_replaced_and_bytes_stay() {
    let first = b"{\"a\":\"\xf0\x9f\x98\"}";
    let text = [b" ", &first[..], b" {\"b\":\"\xff\xff\xc3\xa9\"}\n{\"c\":1}"].concat();
    let mut reader = Reader::new(&text);
    let records: Vec<_> = reader.by_ref().collect();
    let bytes: Vec<_> = records.iter().map(|record| record.bytes).collect();
    assert_eq!(bytes, [&first[..], b"{\"b\":\"\xff\xff\xc3\xa9\"}", b"{\"c\":1}"]);
    assert_eq!((&records[0].value["a"], &records[1].value["b"]), (&"\u{fffd}".into(), &"\u{fffd}\u{fffd}é".into()));
    let found = reader.finish();
    assert_eq!(found.iter().filter(|found| found.code == DiagnosticCode::InvalidUtf8).count(), 2);
    assert_eq!((found[0].line, found[0].column), (Some(1), Some(8)));
}

#[test]
fn glued_records_are_both_read() {
    let (records, findings) = read("{\"a\":1}{\"b\":\"}{\"} {\"c\":{}}\n{\"d\":1}{\"e\":");
    let said: Vec<&str> = records.iter().map(|(_, text)| text.as_str()).collect();
    assert_eq!(said, [r#"{"a":1}"#, r#"{"b":"}{"}"#, r#"{"c":{}}"#, r#"{"d":1}"#]);
    assert_eq!(
        findings,
        [
            (DiagnosticCode::GluedRecords, Some(1), None),
            (DiagnosticCode::GluedRecords, Some(1), None),
            (DiagnosticCode::TornLine, Some(2), None)
        ]
    );
}

#[test]
fn lone_surrogates_are_replaced_and_bytes_stay() {
    let text = br#" {"a":"\ud800","b":"}"}{"c":"\udc00x"} "#;
    let mut reader = Reader::new(text);
    let records: Vec<_> = reader.by_ref().collect();
    assert_eq!(records[0].bytes, br#"{"a":"\ud800","b":"}"}"#);
    assert_eq!(records[1].bytes, br#"{"c":"\udc00x"}"#);
    assert_eq!(records[1].value["c"], "\u{fffd}x");
    let codes: Vec<_> = reader.finish().iter().map(|found| found.code).collect();
    assert!(codes.contains(&DiagnosticCode::LoneSurrogateReplaced));
}

#[test]
fn depth_and_findings_are_bounded() {
    let deep = format!("{{\"a\":{}{}}}\n", "[".repeat(100_000), "]".repeat(100_000));
    let (records, findings) = read(&deep);
    assert!(records.is_empty());
    assert_eq!(findings[0].0, DiagnosticCode::MalformedLine);
    let (_, findings) = read(&"x\n".repeat(1000));
    assert_eq!(findings.len(), MAX_FINDINGS + 1);
    let (records, _) = read(&"{}".repeat(200_000));
    assert_eq!(records.len(), 200_000);
}

/// The records found if a field identifies them.
fn recovered(text: &str) -> (Vec<String>, Vec<Found>) {
    let mut reader = Reader::recovering(text.as_bytes(), |record| record.contains_key("r"));
    let records = reader.by_ref().map(|record| {
        assert_eq!(serde_json::from_slice::<Value>(record.bytes).unwrap(), Value::Object(record.value.clone()));
        Value::Object(record.value).to_string()
    });
    let records = records.collect();
    (records, reader.finish().iter().map(|found| (found.code, found.line, found.column)).collect())
}

#[test]
fn a_whole_record_after_damage_is_read() {
    let whole = r#"{"r":1,"a":[{"r":2}]}"#;
    let cut = r#"{"r":0,"b":"x{}\"y","c":[1,{"d":"é"},tr"#;
    for cut in (1..cut.len()).filter_map(|at| cut.get(..at)) {
        for text in [format!("{}{whole}", cut), format!("{} {whole}\r", cut), format!("{}\0\0{whole}\0", cut)] {
            let (records, findings) = recovered(&text);
            assert_eq!(records, [whole], "{text:?}");
            assert!(findings.iter().all(|it| it.0 == DiagnosticCode::MalformedLine), "{text:?}: {findings:?}");
        }
        let twice = format!("{whole}{}{whole}{}{whole}", cut, cut);
        assert_eq!(recovered(&twice).0, [whole; 3], "{twice}");
        assert_eq!(recovered(cut).0, [] as [&str; 0]);
    }
    let (records, findings) = recovered("\0\0{\"r\":1}\n\0\n{\"r\":2}");
    assert_eq!(records, ["{\"r\":1}", "{\"r\":2}"]);
    assert_eq!(
        findings,
        [(DiagnosticCode::MalformedLine, Some(1), Some(1)), (DiagnosticCode::MalformedLine, Some(2), Some(1))]
    );
    // A part of the damaged record is none, nor is what stands after something else.
    for text in
        [r#"{"r":1,"a":{"b":2}"#, r#"{"r":1,"a":"{\"r\":2}"#, r#"{"r":1 "a":{"r":2}}"#, r#"x{"r":1}"#, r#"[{"r":1}"#]
    {
        assert_eq!(recovered(text).0, [] as [&str; 0], "{text}");
    }
    // Only the beginning of the record before it is missing.
    let torn = r#"{"r":0,"b":"x{}\"y","c":[1,{"d":"é"}],"e":{"r":3}}"#;
    for tail in (1..torn.len()).filter_map(|at| torn.get(at..)).filter(|tail| !tail.starts_with('{')) {
        for text in [format!("{tail}{whole}"), format!("{tail} {whole}\r"), format!("{tail}{whole}{whole}")] {
            let (records, findings) = recovered(&text);
            let glued = text.matches(whole).count();
            assert_eq!(records, vec![whole; glued], "{text:?}");
            assert_eq!(findings.iter().filter(|it| it.0 == DiagnosticCode::MalformedLine).count(), 1, "{text:?}");
        }
        let (records, findings) = recovered(&format!("{whole}{tail}{whole}"));
        assert_eq!((records, findings.len()), (vec![whole.to_owned(); 2], 1), "{tail}: {findings:?}");
        assert_eq!(recovered(tail).0, [] as [&str; 0], "{tail}");
    }
    // Where a reader does not know its records, nothing is recovered.
    assert_eq!(read("{\"r\":\"x{\"r\":1}\n\0{\"r\":2}").0, []);
}
