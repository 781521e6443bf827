//! Unit tests of private items in `src/tokens/bpe/caching.rs`.

use serde_json::{Map, json};

use super::super::scratch::KEPT_BOUNDS;
use super::super::vocabulary_of;
use super::*;
use crate::error::Result;

/// The bytes, `ab` and `ba`, of texts in the normal form NFC.
fn counter() -> Result<CachingCounter> {
    let mut others = 0x100..;
    let letters = (0..=u8::MAX).map(|byte| match byte {
        b'!'..=b'~' | 0xa1..=0xac | 0xae.. => char::from(byte),
        _ => others.next().and_then(char::from_u32).unwrap_or_default(),
    });
    let tokens = letters.map(String::from).chain(["ab".to_owned(), "ba".to_owned()]);
    let vocab: Map<_, _> = tokens.zip(0..).map(|(token, id)| (token, json!(id))).collect();
    let tokenizer = json!({
        "normalizer": { "type": "NFC" },
        "model": { "type": "BPE", "vocab": vocab, "merges": ["a b", "b a"] },
        "pre_tokenizer": { "type": "ByteLevel", "add_prefix_space": false, "use_regex": true },
    });
    let asset = vocabulary_of(tokenizer.to_string().as_bytes())?;
    Ok(CachingCounter::new(Vocabulary::load("small", &asset)?))
}

#[test]
fn what_a_long_piece_takes_is_given_back() -> Result<()> {
    let counter = counter()?;
    let capacity = |room: &RefCell<Scratch>| {
        let room = room.borrow();
        [room.parts.capacity(), room.bounds.capacity()]
    };
    let long = "ab".repeat(100_000);
    // Two bytes, once the letter and its accent are one.
    let normalized = format!("{long}e\u{301}");
    for (text, tokens) in [("aba", 2), (long.as_str(), 100_000), (normalized.as_str(), 100_002), ("baba", 3)] {
        let is_small =
            || [&counter.counting, &counter.encoding].map(capacity).iter().flatten().all(|&room| room <= KEPT_BOUNDS);
        assert_eq!((counter.count(text), is_small()), (tokens, true));
        let mut encoded = Vec::new();
        counter.encode_ordinary(text, usize::MAX, &mut encoded);
        assert_eq!((encoded.len() as u32, is_small()), (tokens, true));
        assert_eq!((counter.count_incremental(text, &mut IncrementalCount::default()), is_small()), (tokens, true));
    }
    // What a short one takes stays there for the next.
    assert!(capacity(&counter.counting)[0] > 0 && capacity(&counter.encoding)[0] > 0);
    Ok(())
}
