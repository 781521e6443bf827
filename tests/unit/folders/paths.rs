//! Unit tests of private items in `src/folders/paths.rs`.

use super::*;

#[test]
fn ancestors_end_at_the_root() {
    assert_eq!(ancestors("a/b/c").collect::<Vec<_>>(), ["a/b", "a", ""]);
    assert_eq!(ancestors("a").collect::<Vec<_>>(), [""]);
    assert_eq!(ancestors("").count(), 0);
    assert_eq!((depth(""), depth("a"), depth("a/b")), (0, 1, 2));
}
