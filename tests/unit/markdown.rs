//! Unit tests of private items in `src/markdown.rs`.

use super::*;

#[test]
fn lines_end_at_lf_crlf_and_cr() {
    let found: Vec<_> = lines("a\nb\r\nc\rd\n\ne").map(|line| (line.text, line.start, line.end)).collect();
    assert_eq!(found, [("a", 0, 2), ("b", 2, 5), ("c", 5, 7), ("d", 7, 9), ("", 9, 10), ("e", 10, 11)]);
    assert_eq!(lines("").count(), 0);
    assert_eq!(lines("\n").count(), 1);
    assert_eq!(lines("a\u{2028}b\u{85}c").count(), 1);
}

#[test]
fn fences_close_with_their_own_kind() {
    let text = "a\n````rs\n```\n~~~~\n````\nb\n~~~\n```\n~~~ x\n~~~\nc\n``` a`b\nd\n    ```\ne\n```\nf";
    let mut blocks = Blocks::default();
    let prose: Vec<&str> =
        lines(text).filter(|line| blocks.next(line.text) == Part::Prose).map(|line| line.text).collect();
    assert_eq!(prose, ["a", "b", "c", "``` a`b", "d", "    ```", "e"]);
    assert_eq!(blocks.closing_fence().as_deref(), Some("```"));
}

#[test]
fn comments_may_span_lines() {
    let text = "<!-- a -->\nb\n<!--\n## c\n```\n-->\nd <!-- e\nf";
    let mut blocks = Blocks::default();
    let parts: Vec<Part> = lines(text).map(|line| blocks.next(line.text)).collect();
    use Part::{Comment, Prose};
    assert_eq!(parts, [Comment, Prose, Comment, Comment, Comment, Comment, Prose, Prose]);
}

#[test]
fn headings_are_atx() {
    assert_eq!(heading("## Facts ##"), Some((2, "Facts")));
    assert_eq!(heading("   # A#"), Some((1, "A#")));
    assert_eq!(heading("#"), Some((1, "")));
    assert_eq!(heading("### ###"), Some((3, "")));
    for line in ["#tag", "    # code", "####### seven", "a # b", ""] {
        assert_eq!(heading(line), None, "{line}");
    }
}
