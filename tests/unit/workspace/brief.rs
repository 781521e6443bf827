//! Unit tests of private items in `src/workspace/brief.rs`.

use super::*;

#[test]
fn lists_may_have_brackets_and_quotes() {
    for (value, expected) in [
        (" a, b ,c", &["a", "b", "c"][..]),
        (" [a, \"b\", 'c']", &["a", "b", "c"]),
        (" \"a, b\", c", &["a, b", "c"]),
        ("", &[]),
        (" []", &[]),
        (" a,,b,", &["a", "", "b", ""]),
        (" \"a", &["\"a"]),
        (" `a`, [b]", &["a", "[b]"]),
        (" it's, d", &["it's", "d"]),
    ] {
        assert_eq!(names(value), expected, "{value}");
    }
}
