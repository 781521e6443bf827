//! Unit tests of what is private in `src/json/write.rs`.

use super::*;

#[test]
fn small_results_are_what_serde_writes() {
    let controls: String = (0..0x80).filter_map(char::from_u32).collect();
    for text in ["", "plain", "\"quoted\" \\ \u{2028} 🧵 é", &controls] {
        assert_eq!(StaticJson::Text(text).json(), serde_json::to_string(text).unwrap());
    }
    let fields = [("a", Some(StaticJson::Number(u64::MAX))), ("b", None), ("c\n", Some(StaticJson::Bool(false)))];
    assert_eq!(StaticJson::Object(&fields).json(), "{\"a\":18446744073709551615,\"c\\n\":false}");
    let inner =
        [("d", Some(StaticJson::Object(&[]))), ("e", Some(StaticJson::Null)), ("f", Some(StaticJson::Bool(true)))];
    assert_eq!(StaticJson::Object(&inner).json(), r#"{"d":{},"e":null,"f":true}"#);
}
