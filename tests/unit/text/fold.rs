//! Unit tests of private items in `src/text/fold.rs`.

use super::*;

fn found(query: &str, text: &str, case: bool, accents: bool) -> Vec<String> {
    let mut pattern = Pattern::new(query, Folding { case, accents });
    pattern.matches(text).into_iter().map(|(from, to)| text.get(from..to).unwrap().to_owned()).collect()
}

#[test]
fn letters_are_found_in_another_case() {
    assert_eq!(found("sea", "Sea, SEA, sea", false, false), ["sea"]);
    assert_eq!(found("sea", "Sea, SEA, sea", true, false), ["Sea", "SEA", "sea"]);
    assert_eq!(found("STRASSE", "Straße", true, false), ["Straße"]);
    assert_eq!(found("σοφος", "ΣΟΦΟΣ σοφος", true, false), ["ΣΟΦΟΣ", "σοφος"]);
    assert_eq!(found("i", "İ", true, false), Vec::<String>::new());
    assert_eq!(found("i", "İ", true, true), ["İ"]);
    assert_eq!(found("é", "É e\u{301}", true, false), ["É"]);
}

#[test]
fn letters_are_found_with_other_marks() {
    assert_eq!(found("naive", "naïve nai\u{308}ve Naïve", false, true), ["naïve", "nai\u{308}ve"]);
    assert_eq!(found("é", "cafe café cafe\u{301}s", false, true), ["e", "é", "e\u{301}"]);
    assert_eq!(found("שלום", "שָׁלוֹם", false, true), ["שָׁלוֹם"]);
    // A syllable is not half of another, and a sign that changes a sound is no accent.
    assert_eq!(found("가", "각 가", false, true), ["가"]);
    assert_eq!(found("か", "が か", false, true), ["か"]);
    assert_eq!(found("क", "कु", false, true), ["क"]);
}

/// One half of what a letter becomes is no letter.
#[test]
fn no_letter_is_found_by_half() {
    assert_eq!(found("s", "ß", true, false), Vec::<String>::new());
    assert_eq!(found("ss", "ß sß", true, false), ["ß"]);
    assert_eq!(found("\u{301}", "é", false, true), Vec::<String>::new());
}

#[test]
fn places_are_those_of_the_text() {
    let mut next = crate::sorted_index::random_numbers();
    let letters = ["a", "A", "á", "ß", "s", "S", "İ", "i", "e\u{301}", "漢", " ", "🙂", "Ω"];
    for _ in 0..5_000 {
        let word = |next: &mut dyn FnMut(usize) -> usize, length: usize| -> String {
            (0..length).map(|_| letters[next(letters.len())]).collect()
        };
        let (text, query) = (word(&mut next, 12), word(&mut next, 2));
        for (case, accents) in [(false, false), (true, false), (false, true), (true, true)] {
            let mut pattern = Pattern::new(&query, Folding { case, accents });
            let mut last = 0;
            for (from, to) in pattern.matches(&text) {
                assert!(last <= from && from < to, "{query:?} in {text:?}");
                last = to;
                let folded = pattern.fold(text.get(from..to).unwrap());
                assert_eq!(folded, pattern.query, "{query:?} in {text:?}");
            }
        }
    }
}
