//! Moments as RFC 3339 writes them.

use ctxweave::time::Timestamp;

fn parse(text: &str) -> Timestamp {
    Timestamp::parse(text).unwrap_or_else(|| panic!("{text} was refused"))
}

/// Every day there is, against a calendar that counts them one by one.
#[test]
fn days_follow_each_other() {
    let mut millis = parse("0000-01-01T00:00:00Z").unix_millis();
    for year in 0..10_000 {
        let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
        for (month, days) in [31, 28 + i32::from(leap), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31].into_iter().enumerate()
        {
            for day in 1..=days {
                let written = format!("{year:04}-{:02}-{day:02}T00:00:00Z", month + 1);
                assert_eq!(parse(&written).unix_millis(), millis);
                assert_eq!(Timestamp::from_unix_millis(millis).to_string(), written);
                millis += 86_400_000;
            }
        }
    }
}

/// What `Date.parse` gives in JavaScript.
#[test]
fn moments_are_those_of_javascript() {
    for (text, millis) in [
        ("1970-01-01T00:00:00Z", 0),
        ("0000-01-01T00:00:00Z", -62_167_219_200_000),
        ("9999-12-31T23:59:59.999Z", 253_402_300_799_999),
        ("1969-12-31T23:59:59.999Z", -1),
        ("2026-03-01T10:30:00.25+01:00", 1_772_357_400_250),
        ("2024-02-29T23:59:59-23:59", 1_709_337_539_000),
        ("2026-11-22T01:14:24.123456789Z", 1_795_310_064_123),
    ] {
        assert_eq!(parse(text).unix_millis(), millis, "{text}");
        assert_eq!(Timestamp::from_unix_millis(millis).unix_millis(), millis);
        assert_eq!(parse(&parse(text).to_string()), parse(text));
    }
}

/// RFC 3339 §5.6, §5.8: its own examples, and what its notes allow.
#[test]
fn the_examples_of_the_rfc_are_read() {
    assert_eq!(parse("1985-04-12T23:20:50.52Z").to_string(), "1985-04-12T23:20:50.520Z");
    assert_eq!(parse("1996-12-19T16:39:57-08:00"), parse("1996-12-20T00:39:57Z"));
    assert_eq!(parse("1990-12-31T23:59:60Z"), parse("1990-12-31T15:59:60-08:00"));
    assert_eq!(parse("1937-01-01T12:00:27.87+00:20").unix_millis(), -1_041_337_172_130);
    assert_eq!(parse("1985-04-12t23:20:50z"), parse("1985-04-12 23:20:50-00:00"));
    assert_eq!(parse("1985-04-12T23:20:50.1234567899Z").to_string(), "1985-04-12T23:20:50.123456789Z");
}

#[test]
fn moments_are_written_in_utc() {
    for (text, written) in [
        ("2025-01-01T01:30:09+02:00", "2024-12-31T23:30:09Z"),
        ("1969-12-31T23:59:59.5Z", "1969-12-31T23:59:59.500Z"),
        ("1985-04-12T23:20:50.1234567Z", "1985-04-12T23:20:50.123456700Z"),
        ("1990-12-31T15:59:60.25-08:00", "1990-12-31T23:59:60.250Z"),
    ] {
        assert_eq!(parse(text).to_string(), written);
    }
}

#[test]
fn moments_compare_by_when_they_are() {
    let ascending = [
        "2016-12-31T23:59:58Z",
        "2016-12-31T23:59:59.999999999Z",
        "2016-12-31T23:59:60Z",
        "2017-01-01T05:29:60.5+05:30",
        "2017-01-01T00:00:00Z",
        "2016-12-31T19:00:00.1-05:00",
        "2017-01-01T02:00:00+01:00",
    ];
    assert!(ascending.map(parse).is_sorted_by(|a, b| a < b));
}

#[test]
fn nonsense_is_refused() {
    let nonsense = "2026-03-01 2026-03-01T09:30:00 2026-03-01T09:30Z 2026-00-01T09:30:00Z 2026-13-01T09:30:00Z \
        2026-03-00T09:30:00Z 2026-02-29T09:30:00Z 1900-02-29T09:30:00Z 2026-04-31T09:30:00Z 2026-03-01T24:00:00Z \
        2026-03-01T09:60:00Z 2026-03-01T09:30:61Z 2026-03-01T09:30:60Z 2026-03-01T23:59:60Z \
        2026-03-31T23:59:60+01:00 2026-03-01T09:30:00.Z 2026-03-01T09:30:00,5Z 2026-03-01T09:30:00+24:00 \
        2026-03-01T09:30:00+01:60 2026-03-01T09:30:00+0100 +2026-03-01T09:30:00Z 26-03-01T09:30:00Z \
        2026-3-1T09:30:00Z 2026-03-01T09:30:00\u{2212}01:00 ٢٠٢٦-03-01T09:30:00Z 1772357400000";
    for text in nonsense.split(' ').chain(["", "2026-03-01T09:30:00Z ", " 2026-03-01T09:30:00Z", "Sun Mar 01 2026"]) {
        assert_eq!(Timestamp::parse(text), None, "{text}");
    }
}
