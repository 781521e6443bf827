//! Unit tests of private items in `src/folders/items.rs`.

use super::*;

#[test]
fn items_hold_their_lines() {
    let text = "- a\n  more\n  - nested\n* b\n\n- - -\n```\n- code\n```\n<!-- \n- c\n-->\n+ d\nlazy\n- e\n  ```\n  x\n  ```\n-";
    let found: Vec<_> = items(text).into_iter().map(|item| (item.text, item.first_line)).collect();
    let expected = [("a\nmore\n- nested", 0), ("b", 3), ("d", 12), ("e", 14), ("", 18)];
    assert_eq!(found, expected.map(|(text, line)| (text.to_owned(), line)));
}
