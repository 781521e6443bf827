//! `cl100k_base` tokens per `o200k_base` token that the estimator expects, by kind of character.
//!
//! Measured in November 2026 with tiktoken on tests/corpus (the Universal Declaration of Human Rights from article 20
//! on, in 55 languages) and, for kinds that occur in none of these, on random words of their characters.
//! docs/estimator.md has the errors.

use super::heuristic_ranges::CLASSES;

/// Percent of a kind that is not listed.
const SAME: u16 = 100;

/// Percent by kind, each with its name in heuristic_ranges.rs. Measured on texts of the script, plus 5 %.
const OF_TEXTS: &[(usize, u16)] = &[
    (7, 150),  // latin1
    (9, 160),  // latin ext a
    (10, 150), // latin ext b
    (63, 210), // latin ext add
    (14, 220), // combining
    (15, 260), // greek
    (17, 185), // cyrillic
    (18, 220), // cyrillic ext
    (19, 730), // armenian
    (23, 275), // hebrew
    (26, 240), // arabic
    (28, 300), // arabic ext
    (30, 100), // thaana
    (33, 340), // devanagari
    (34, 370), // bengali
    (35, 310), // gurmukhi
    (36, 510), // gujarati
    (38, 430), // tamil
    (39, 410), // telugu
    (40, 475), // kannada
    (41, 490), // malayalam
    (42, 335), // sinhala
    (43, 240), // thai
    (45, 118), // lao
    (46, 138), // tibetan
    (49, 325), // myanmar
    (51, 685), // georgian
    (53, 148), // ethiopic
    (56, 100), // cherokee
    (57, 100), // syllabics
    (59, 265), // khmer
    (84, 140), // hiragana
    (85, 145), // katakana
    (88, 145), // han
    (91, 100), // vai
    (97, 178), // hangul
];

/// The same, measured on random words.
const OF_WORDS: &[(usize, u16)] = &[
    (6, 300),   // space
    (11, 135),  // ipa
    (12, 110),  // modifier letter
    (13, 130),  // modifier sign
    (16, 140),  // greek sign
    (20, 165),  // armenian sign
    (21, 290),  // hebrew mark
    (22, 140),  // hebrew sign
    (24, 250),  // arabic sign
    (25, 155),  // arabic mark
    (27, 245),  // arabic digit
    (37, 260),  // oriya
    (44, 175),  // thai digit
    (47, 125),  // tibetan sign
    (50, 240),  // myanmar sign
    (52, 160),  // jamo
    (54, 140),  // ethiopic sign
    (55, 185),  // ethiopic digit
    (60, 290),  // khmer sign
    (61, 110),  // mongolian
    (62, 105),  // phonetic
    (64, 140),  // greek ext
    (65, 130),  // general punct
    (66, 120),  // script digit
    (67, 145),  // math
    (68, 215),  // currency
    (69, 190),  // combining 2
    (71, 165),  // number form
    (72, 170),  // arrow
    (73, 155),  // symbol
    (74, 170),  // box
    (75, 130),  // misc symbol
    (76, 115),  // math 2
    (79, 105),  // coptic
    (81, 125),  // punct 2
    (82, 150),  // cjk sign
    (83, 110),  // han ext
    (86, 230),  // bopomofo
    (87, 170),  // cjk symbol
    (98, 110),  // private use
    (99, 215),  // presentation
    (100, 132), // arabic presentation
    (101, 170), // variation
    (102, 150), // fullwidth sign
    (103, 120), // fullwidth digit
    (104, 130), // fullwidth
    (105, 122), // katakana half
    (107, 155), // astral sign
    (109, 155), // math alnum
    (111, 158), // emoji other
    (112, 185), // emoji flag
    (113, 135), // emoji
    (114, 178), // emoji tone
    (115, 120), // emoji new
    (116, 115), // han astral
];

/// Percent by kind of character.
#[expect(clippy::indexing_slicing, reason = "a wrong index does not compile")]
pub(super) static FACTORS: [u16; CLASSES] = {
    let mut factors = [SAME; CLASSES];
    let lists = [OF_TEXTS, OF_WORDS];
    let mut list = 0;
    while list < lists.len() {
        let mut at = 0;
        while at < lists[list].len() {
            factors[lists[list][at].0] = lists[list][at].1;
            at += 1;
        }
        list += 1;
    }
    factors
};

/// The largest of them.
pub(super) const MAX_FACTOR_PERCENT: u64 = 730;
