//! Unit tests of private items in `src/prompt/cache.rs`.

use super::*;

fn user(text: &str) -> Message<'_> {
    Message { role: Role::User, content: vec![Block::text(text)], node_ids: Vec::new(), spans: Vec::new() }
}

#[test]
fn messages_are_the_same_by_role_and_content() {
    assert_eq!(message_hash(&user("a")), message_hash(&user("a")));
    assert_ne!(message_hash(&user("a")), message_hash(&user("b")));
    assert_ne!(message_hash(&user("a")), message_hash(&Message { role: Role::Assistant, ..user("a") }));
    assert_ne!(system_hash(None), system_hash(Some("")));
}

#[test]
fn texts_do_not_run_into_one_another() {
    let of = |texts: &[&'static str]| {
        let content = texts.iter().map(|text| Block::text(*text)).collect();
        message_hash(&Message { content, ..user("") })
    };
    assert_ne!(of(&["ab", "c"]), of(&["a", "bc"]));
    assert_ne!(of(&["a\0"]), of(&["a"]));
}
