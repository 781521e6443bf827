//! Unit tests of what is private in `src/prompt/cache.rs`.

use super::*;

fn user(text: &str) -> Message<'_> {
    Message { role: Role::User, content: vec![Block::text(text)], node_ids: Vec::new(), spans: Vec::new() }
}

#[test]
fn leading_messages_are_recognized() {
    let before = Fingerprint::of(Some("s"), &[user("a"), user("b"), user("c")]);
    let shared = |system, messages: &[Message<'_>]| Fingerprint::of(system, messages).shared(&before);
    assert_eq!(shared(Some("s"), &[user("a"), user("b"), user("c"), user("d")]), Some(3));
    assert_eq!(shared(Some("s"), &[user("a"), user("x"), user("c")]), Some(1));
    assert_eq!(shared(Some("s"), &[]), Some(0));
    assert_eq!(shared(None, &[user("a")]), None);
    assert_eq!(shared(Some(""), &[user("a")]), None);
    let assistant = Message { role: Role::Assistant, ..user("b") };
    assert_eq!(shared(Some("s"), &[user("a"), assistant]), Some(1));
}

#[test]
fn texts_do_not_run_into_one_another() {
    let of = |messages: &[Message<'_>]| Fingerprint::of(None, messages).hashes.last().copied();
    assert_ne!(of(&[user("ab"), user("c")]), of(&[user("a"), user("bc")]));
    assert_ne!(of(&[user("a\0")]), of(&[user("a")]));
}

#[test]
fn a_fingerprint_can_be_written_and_read() {
    let one = Fingerprint::of(None, &[user("héllo"), user("x")]);
    let text = one.to_text();
    assert_eq!(text.len(), 24);
    assert_eq!(Fingerprint::parse(&text).unwrap(), one);
    assert_eq!(Fingerprint::parse("").unwrap(), Fingerprint::default());
    assert_eq!(Fingerprint::default().shared(&Fingerprint::default()), None);
    for wrong in ["abc", "abcdefg!", "ééééé"] {
        assert_eq!(Fingerprint::parse(wrong).unwrap_err().code(), Code::InvalidInput, "{wrong}");
    }
}
