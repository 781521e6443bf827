//! Unit tests of what is private in `src/text.rs`.

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
