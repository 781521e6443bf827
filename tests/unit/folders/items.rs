//! Unit tests of what is private in `src/folders/items.rs`.

use super::*;

#[test]
fn items_hold_their_lines() {
    let text = "- a\n  more\n  - nested\n* b\n\n- - -\n```\n- code\n```\n<!-- \n- c\n-->\n+ d\nlazy\n- e\n  ```\n  x\n  ```\n-";
    let found: Vec<_> = items(text).into_iter().map(|item| (item.text, item.first_line, item.goes_on)).collect();
    assert_eq!(
        items("- a\n**Never:**\n\n- b\n- c\n\n## H\n- d\n__Bold__\n- e\nWords.\n- f")
            .iter()
            .map(|item| item.lead.as_str())
            .collect::<Vec<_>>(),
        ["", "Never:", "Never:", "", "Bold", ""]
    );
    let expected =
        [("a\nmore\n- nested", 0, false), ("b", 3, false), ("d", 12, false), ("e", 14, true), ("", 18, false)];
    assert_eq!(found, expected.map(|(text, line, on)| (text.to_owned(), line, on)));
}
