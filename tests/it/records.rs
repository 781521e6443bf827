//! Records of commits, as JSON lines.

use ctxweave::commits::{Record, Trigger};
use ctxweave::{Code, Result};

const BLOB: &str = "blake3:af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262";

fn with(more: &str) -> Result<Record> {
    let text = format!(
        r#"{{"id":"ctx-a","commit_type":"delta","artifact_ref":"{BLOB}","format":"f","created_at":"2026-01-01T00:00:00Z"{more}}}"#
    );
    Record::from_json(text.as_bytes())
}

#[test]
fn unknown_fields_survive_to_the_last_digit() {
    let other = r#""x":{"a":[1.0,1e300,12345678901234567890.10],"b":"\u2028 \" }"},"":null,"y":-0"#;
    let record = with(&format!(",{other}")).unwrap();
    assert!(record.to_json().ends_with(&format!("{other}}}")), "{}", record.to_json());
    assert_eq!(Record::from_json(record.to_json().as_bytes()).unwrap(), record);
}

#[test]
fn what_comes_on_many_lines_leaves_on_one() {
    let record = with(",\n \"x\": [ 1,\r\n\t\"a \\\\\", \" \\\" \" ]").unwrap();
    assert_eq!(record.other, [("x".to_owned(), r#"[1,"a \\"," \" "]"#.to_owned())]);
}

#[test]
fn damage_is_named() {
    let error = |more: &str| with(more).unwrap_err();
    assert_eq!(error(r#","parent":"tkt-1""#).details()["path"], "parent");
    assert_eq!(error(r#","message_count":1.5"#).details()["path"], "message_count");
    assert_eq!(error(r#","message_count":-1"#).code(), Code::InvalidInput);
    assert_eq!(error(r#","summary":5"#).details()["path"], "summary");
    assert_eq!(error(r#","format":"g""#).details()["path"], "format");
    assert_eq!(error(r#","x":1,"x":2"#).details()["path"], "x");
    assert_eq!(error(r#","checkpoint":"now""#).code(), Code::UnknownValue);
    assert_eq!(error(r#","version":0"#).details()["path"], "version");
    assert_eq!(error(&format!(r#","x":{}{}"#, "[".repeat(200), "]".repeat(200))).code(), Code::LimitExceeded);
    assert_eq!(Record::from_json(b"[]").unwrap_err().code(), Code::InvalidInput);
}

#[test]
fn later_versions_may_have_other_names() {
    let record = with(r#","version":2,"checkpoint":"now""#).unwrap();
    assert_eq!(record.checkpoint, Some(Trigger::Other("now".to_owned())));
    assert!(record.to_json().contains(r#""checkpoint":"now""#));
}

#[test]
fn empty_and_null_are_absent() {
    assert_eq!(with(r#","parent":"","summary":null,"tags":[]"#).unwrap(), with("").unwrap());
}
