//! Unit tests of private items in `src/input.rs`.

use super::*;
use crate::json::Document;

#[test]
fn the_first_bad_byte_has_its_place() {
    for (bytes, place) in [
        (&b"\xff"[..], (1, 1)),
        (b"ab\xff", (1, 3)),
        (b"ab\n\xff", (2, 1)),
        (b"ab\r\ncd\xff\n", (2, 3)),
        (b"\xf0\x9f\x91\x8d\xff", (1, 3)),
    ] {
        let mut found = Vec::new();
        assert_eq!(Content::Bytes(bytes.to_vec()).text("x.md", &mut found), None);
        assert_eq!((found[0].line, found[0].column), (Some(place.0), Some(place.1)), "{bytes:?}");
        assert_eq!(found[0].code, DiagnosticCode::InvalidUtf8);
    }
}

#[test]
fn content_is_text_or_bytes() {
    let read = |json: &str| Content::read(Document::read(json.as_bytes(), &[]).unwrap().root());
    assert_eq!(read("\"a\"").unwrap(), Content::Text("a".into()));
    assert_eq!(read("[97,255]").unwrap(), Content::Bytes(vec![97, 255]));
    assert_eq!(read("{\"unreadable\":\"no\"}").unwrap(), Content::Unreadable("no".into()));
    assert!(read("{}").is_err() && read("5").is_err() && read("[256]").is_err() && read("{\"a\":1}").is_err());
}
