//! Unit tests of private items in `src/time.rs`.

use super::*;

#[test]
fn a_time_of_a_request_is_text_or_milliseconds() {
    let read = |json: &str| {
        let document = crate::json::Document::read(json.as_bytes(), &[]).unwrap();
        let document: &crate::json::Document<'_> = &document;
        Timestamp::read(document.root())
    };
    let utc = Timestamp::parse("2026-03-01T09:30:00.250Z").unwrap();
    for json in ["\"2026-03-01T10:30:00.25+01:00\"", "1772357400250", "1.7723574002509e12"] {
        assert_eq!(read(json).unwrap(), utc, "{json}");
    }
    assert_eq!(read("253402300799999.9").unwrap().to_string(), "9999-12-31T23:59:59.999Z");
    for json in ["\"yesterday\"", "253402300800000", "-62167219200001", "1e999", "true", "{\"\\u0000\":\"NaN\"}"] {
        assert_eq!(read(json).unwrap_err().code(), crate::Code::InvalidInput, "{json}");
    }
}
