//! Unit tests of private items in `src/loom/loom_context/header.rs`.

use super::*;

#[test]
fn ages_are_whole_units() {
    let now = Timestamp::parse("2026-03-01T12:00:00Z").unwrap();
    for (then, expected) in [
        ("2026-03-01T12:00:00Z", "just now"),
        ("2026-03-01T11:59:00.001Z", "just now"),
        ("2026-03-01T12:00:59Z", "just now"),
        ("2026-03-01T11:59:00Z", "1m ago"),
        ("2026-03-01T11:00:01Z", "59m ago"),
        ("2026-03-01T11:00:00Z", "1h ago"),
        ("2026-03-01T12:00:00+02:00", "2h ago"),
        ("2026-02-28T12:00:01Z", "23h ago"),
        ("2026-02-28T12:00:00Z", "1d ago"),
        ("2025-03-01T12:00:01Z", "364d ago"),
        ("2025-03-01T12:00:00Z", "1y ago"),
        ("0000-01-01T00:00:00Z", "2027y ago"),
        ("2026-03-01T12:01:00Z", "in 1m"),
        ("2026-03-08T12:00:00Z", "in 7d"),
    ] {
        assert_eq!(age(now, Timestamp::parse(then).unwrap()), expected, "{then}");
    }
}
