//! Grapheme clusters, against `unicode-segmentation`.

use ctxweave::text::Clusters;
use proptest::prelude::*;
use unicode_segmentation::UnicodeSegmentation;

/// Whether both end clusters at the same places.
fn same(text: &str) -> Result<(), TestCaseError> {
    let expected: Vec<usize> = text.grapheme_indices(true).map(|(at, _)| at).collect();
    let clusters = Clusters::new(text);
    let found: Vec<usize> = (0..text.len()).filter(|&at| clusters.is_boundary(at)).collect();
    prop_assert_eq!(found, expected, "{:?}", text);
    Ok(())
}

/// A character of each class, and the ones that rules name.
const CLASSES: &[&str] = &[
    "a",
    "\r",
    "\n",
    "\u{1}",
    "\u{200c}",
    "\u{200d}",
    "\u{301}",
    "\u{94d}",
    "\u{93c}",
    "\u{903}",
    "\u{600}",
    "क",
    "ષ",
    "©",
    "👩",
    "🇦",
    "\u{1100}",
    "\u{1161}",
    "\u{11a8}",
    "가",
    "각",
    "\u{1f3fd}",
    "\u{e0061}",
];

#[test]
fn every_character_next_to_every_class_agrees_with_unicode_segmentation() {
    assert_eq!(unicode_segmentation::UNICODE_VERSION, (17, 0, 0), "run `cargo xtask vocab --unicode`");
    let indexed = (0..0x2_0000).chain(0xe_0000..0xe_1100);
    // Above are ideographs, unassigned code points and private use, of which some are checked.
    let sampled = (0x2_0000..0x11_0000).step_by(997);
    for c in indexed.chain(sampled).filter_map(char::from_u32) {
        let pairs: String = CLASSES.iter().map(|class| format!("{c}{class}")).collect();
        let between = format!("{c}a©{c}\u{200d}©{c}©क\u{94d}{c}क{c}क\u{94d}{c}क{c}{c}");
        same(&(pairs + &between)).unwrap();
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::generate::cases(256)))]

    #[test]
    fn clusters_are_those_of_unicode_segmentation(parts in prop::collection::vec(prop::sample::select(CLASSES), 0..24)) {
        same(&parts.concat())?;
    }
}

/// Rows of flags are counted once, whatever is asked first.
#[test]
fn flags_are_pairs_wherever_one_looks_first() {
    let text = format!("a{}b{}", "🇦".repeat(9), "🇧".repeat(6));
    let expected: Vec<usize> = text.grapheme_indices(true).map(|(at, _)| at).collect();
    let places: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
    for step in [1, 3, 5, 7, 11, 13] {
        let clusters = Clusters::new(&text);
        for at in (0..places.len()).map(|number| places[number * step % places.len()]) {
            assert_eq!(clusters.is_boundary(at), expected.contains(&at), "{at} by {step}");
        }
    }
}
