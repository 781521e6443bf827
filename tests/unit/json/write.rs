//! Unit tests of what is private in `src/json/write.rs`.

use super::*;

#[test]
fn small_results_are_values() {
    let fields = [
        ("a", Some(StaticJson::Number(u64::MAX))),
        ("b", None),
        ("c\n", Some(StaticJson::Bool(false))),
        ("d", Some(StaticJson::Object(&[]))),
        ("e", Some(StaticJson::Null)),
        ("f", Some(StaticJson::Text("\u{2028}"))),
    ];
    let expected = r#"{"a":18446744073709551615,"c\n":false,"d":{},"e":null,"f":"\u2028"}"#;
    assert_eq!(StaticJson::Object(&fields).value(), serde_json::from_str::<Value>(expected).unwrap());
}
