//! Unit tests of private items in `src/folders/glob.rs`.

use super::*;

fn expanded(pattern: &str) -> Vec<String> {
    expand(pattern, 100).unwrap()
}

#[test]
fn braces_expand() {
    assert_eq!(expanded("{a,b}/{c,d}"), ["a/c", "a/d", "b/c", "b/d"]);
    assert_eq!(expanded("x{a,{b,c}d,}y"), ["xay", "xbdy", "xcdy", "xy"]);
    assert_eq!(expanded("{a}{b{c,d}"), ["{a}{bc", "{a}{bd"]);
    assert_eq!(expanded("\\{a,b}[{,}]{"), ["\\{a,b}[{,}]{"]);
    assert_eq!(expanded("{a/b,c}"), ["a/b", "c"]);
    assert!(expand(&"{a,b}".repeat(30), 256).is_none());
    assert_eq!(expanded(&"{".repeat(100_000)).len(), 1);
}

#[test]
fn characters_are_characters() {
    assert!(matches("?", "é") && matches("[а-я]*", "жизнь") && matches("*ü?", "grüß"));
    assert!(!matches("?", "éé") && !matches("[а-в]", "я") && matches("[^é]", "e") && !matches("[^é]", "é"));
    assert!(matches("👩?", "👩x") && matches("*", "日本"));
}

#[test]
fn many_stars_take_no_time() {
    assert!(!matches(&"*a".repeat(2000), &"a".repeat(1999)));
    assert!(!matches(&format!("{}b", "*a".repeat(500)), &"a".repeat(5000)));
}
