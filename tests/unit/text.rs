//! Unit tests of private items in `src/text/mod.rs`.

use super::*;

/// A million marks are one cluster: it is walked through once, however often it is asked about.
#[test]
fn a_long_cluster_is_walked_through_once() {
    for unit in ["\u{301}", "\u{200d}", "\u{94d}", "क्"] {
        let text = format!("ab c{}d", unit.repeat(100_000));
        // A letter begins a cluster of its own.
        let start = if unit.starts_with('क') { 4 } else { 3 };
        let clusters = Clusters::new(&text);
        for at in (5..text.len() - 1).step_by(7) {
            assert_eq!((clusters.floor(at), clusters.ceil(at)), (start, text.len() - 1), "{unit:?} at {at}");
        }
        assert_eq!(clusters.long.borrow().len(), 1);
        assert_eq!((clusters.head_end(text.len() - 1), clusters.tail_start(5)), (text.len() - 1, text.len() - 1));
    }
}

#[test]
fn utf16_is_that_of_the_standard_library() {
    let all: String = (0..=0x10_ffff).filter_map(char::from_u32).collect();
    let units = |text: &str| text.encode_utf16().collect::<Vec<u16>>();
    assert_eq!(utf16_of(all.as_bytes()), Some(units(&all)));
    // Truncated after any byte, or with any byte replaced, it is UTF-8 if the standard library accepts it.
    for text in ["", "a", "seventeen letters", "é", "漢字漢字漢字", "a😀b", "\u{7ff}\u{800}\u{ffff}\u{10000}"]
    {
        for end in 0..=text.len() {
            let mut bytes = text.as_bytes()[..end].to_vec();
            assert_eq!(utf16_of(&bytes), str::from_utf8(&bytes).ok().map(units), "{bytes:?}");
            for at in 0..end {
                for byte in 0..=255 {
                    let was = std::mem::replace(&mut bytes[at], byte);
                    assert_eq!(utf16_of(&bytes), str::from_utf8(&bytes).ok().map(units), "{bytes:?}");
                    bytes[at] = was;
                }
            }
        }
    }
    for lead in 0x80..=0xff {
        for second in 0..=255 {
            let bytes = [lead, second, 0x80, 0x80];
            for len in 1..=4 {
                assert_eq!(utf16_of(&bytes[..len]), str::from_utf8(&bytes[..len]).ok().map(units), "{bytes:?}");
            }
        }
    }
}

#[test]
fn whole_numbers_are_digits_alone() {
    for (text, number) in [("0", Some(0)), ("4294967295", Some(u32::MAX)), ("007", Some(7))] {
        assert_eq!(whole_number(text), number);
    }
    for text in ["", "4294967296", "+1", "-1", "1.", " 1", "１", "99999999999"] {
        assert_eq!(whole_number(text), None);
    }
}
