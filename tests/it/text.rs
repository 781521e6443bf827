//! Cuts between clusters, and offsets.

use ctxweave::text::{Clusters, Utf16Offsets, ceil_boundary, utf16_len};

#[test]
fn no_cut_falls_inside_a_cluster() {
    for cluster in ["👨‍👩‍👧‍👦", "🇳🇱", "e\u{301}", "\r\n", "🏳️‍🌈", "각", "क्षि"]
    {
        let text = format!("ab{cluster}cd");
        let (from, to) = (2, 2 + cluster.len());
        for at in from + 1..to {
            assert_eq!(Clusters::new(&text).floor(at), from, "{cluster:?} at {at}");
            assert_eq!(ceil_boundary(&text, at), to, "{cluster:?} at {at}");
        }
        assert_eq!(Clusters::new(&text).floor(to), to);
    }
}

#[test]
fn cuts_prefer_words_that_are_near() {
    let text = "one two three";
    assert_eq!(Clusters::new(text).head_end(9), 7);
    assert_eq!(Clusters::new(text).head_end(7), 7);
    assert_eq!(Clusters::new(text).head_end(8), 7);
    assert_eq!(Clusters::new(text).tail_start(5), 8);
    assert_eq!(Clusters::new(text).tail_start(7), 8);
    assert_eq!(Clusters::new(text).tail_start(8), 8);
    assert_eq!(Clusters::new(text).head_end(99), text.len());
    assert_eq!(Clusters::new(text).tail_start(99), text.len());
    let long = "x".repeat(200);
    assert_eq!((Clusters::new(&long).head_end(100), Clusters::new(&long).tail_start(100)), (100, 100));
}

#[test]
fn a_later_limit_never_begins_a_tail_earlier() {
    let text = "a  bb ccc \u{301}d 👨‍👩‍👧 eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee f\r\n\r\ng";
    for at in 1..text.len() {
        assert!(Clusters::new(text).tail_start(at - 1) <= Clusters::new(text).tail_start(at));
    }
}

#[test]
fn offsets_count_utf16_units() {
    let text = "aé👍b";
    let mut offsets = Utf16Offsets::new(text);
    assert_eq!([0, 1, 3, 7, 8].map(|at| offsets.at(at)), [0, 1, 2, 4, 5]);
    assert_eq!(utf16_len(text), 5);
}
