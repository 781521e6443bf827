//! The characters beyond ASCII in the token estimator: ranges by script or kind. The class numbers are those of the
//! weights in heuristic_weights.bin.

/// How the characters of a range are classified.
#[derive(Clone, Copy, Debug)]
pub(super) enum How {
    Lower,
    Upper,
    Letter,
    Unspaced,
    Digit,
    Sign,
    Space,
    /// Capitals at even code points, lower case letters at odd ones.
    EvenUpper,
    /// Capitals at odd code points, lower case letters at even ones.
    OddUpper,
    /// A block of 128 in the layout of ISCII: digits at 0x66, dandas before them.
    Indic,
}

/// The number of dense classes: five for ASCII, the rest as numbered in [`LISTED`].
pub(super) const CLASSES: usize = 117;

/// The number of ranges.
const LEN: usize = 296;

/// [`LISTED`] as separate arrays, which gzip compresses better.
pub(super) struct Ranges {
    pub(super) starts: [u32; LEN],
    pub(super) classes: [u8; LEN],
    pub(super) hows: [How; LEN],
}

/// The ranges.
#[expect(clippy::indexing_slicing, reason = "a wrong index does not compile")]
pub(super) static RANGES: Ranges = {
    let mut ranges = Ranges { starts: [0; LEN], classes: [0; LEN], hows: [How::Sign; LEN] };
    let mut at = 0;
    while at < LEN {
        (ranges.starts[at], ranges.classes[at], ranges.hows[at]) = LISTED[at];
        at += 1;
    }
    ranges
};

/// The begin of each range of characters, its dense class, and the classification of its characters.
const LISTED: [(u32, u8, How); LEN] = [
    (0x80, 5, How::Sign),          // latin1 sign
    (0xA0, 6, How::Space),         // space
    (0xA1, 5, How::Sign),          // latin1 sign
    (0xAA, 7, How::Letter),        // latin1
    (0xAB, 5, How::Sign),          // latin1 sign
    (0xB2, 8, How::Digit),         // digit
    (0xB4, 5, How::Sign),          // latin1 sign
    (0xB5, 7, How::Lower),         // latin1
    (0xB6, 5, How::Sign),          // latin1 sign
    (0xB9, 8, How::Digit),         // digit
    (0xBA, 7, How::Letter),        // latin1
    (0xBB, 5, How::Sign),          // latin1 sign
    (0xBC, 8, How::Digit),         // digit
    (0xBF, 5, How::Sign),          // latin1 sign
    (0xC0, 7, How::Upper),         // latin1
    (0xD7, 5, How::Sign),          // latin1 sign
    (0xD8, 7, How::Upper),         // latin1
    (0xDF, 7, How::Lower),         // latin1
    (0xF7, 5, How::Sign),          // latin1 sign
    (0xF8, 7, How::Lower),         // latin1
    (0x100, 9, How::EvenUpper),    // latin ext a
    (0x139, 9, How::OddUpper),     // latin ext a
    (0x14A, 9, How::EvenUpper),    // latin ext a
    (0x178, 9, How::Upper),        // latin ext a
    (0x179, 9, How::OddUpper),     // latin ext a
    (0x17F, 9, How::Lower),        // latin ext a
    (0x180, 10, How::Lower),       // latin ext b
    (0x1CD, 10, How::OddUpper),    // latin ext b
    (0x1DD, 10, How::EvenUpper),   // latin ext b
    (0x250, 11, How::Lower),       // ipa
    (0x2B0, 12, How::Letter),      // modifier letter
    (0x2C2, 13, How::Sign),        // modifier sign
    (0x2D0, 12, How::Letter),      // modifier letter
    (0x2D2, 13, How::Sign),        // modifier sign
    (0x2E0, 12, How::Letter),      // modifier letter
    (0x2E5, 13, How::Sign),        // modifier sign
    (0x300, 14, How::Letter),      // combining
    (0x370, 15, How::EvenUpper),   // greek
    (0x375, 15, How::Letter),      // greek
    (0x37E, 16, How::Sign),        // greek sign
    (0x37F, 15, How::Upper),       // greek
    (0x384, 16, How::Sign),        // greek sign
    (0x386, 15, How::Upper),       // greek
    (0x387, 16, How::Sign),        // greek sign
    (0x388, 15, How::Upper),       // greek
    (0x390, 15, How::Lower),       // greek
    (0x391, 15, How::Upper),       // greek
    (0x3AC, 15, How::Lower),       // greek
    (0x3D8, 15, How::EvenUpper),   // greek
    (0x400, 17, How::Upper),       // cyrillic
    (0x430, 17, How::Lower),       // cyrillic
    (0x450, 18, How::Lower),       // cyrillic ext
    (0x460, 18, How::EvenUpper),   // cyrillic ext
    (0x482, 18, How::Sign),        // cyrillic ext
    (0x483, 18, How::Letter),      // cyrillic ext
    (0x48A, 18, How::EvenUpper),   // cyrillic ext
    (0x4C1, 18, How::OddUpper),    // cyrillic ext
    (0x4D0, 18, How::EvenUpper),   // cyrillic ext
    (0x531, 19, How::Upper),       // armenian
    (0x559, 20, How::Sign),        // armenian sign
    (0x560, 19, How::Lower),       // armenian
    (0x589, 20, How::Sign),        // armenian sign
    (0x591, 21, How::Letter),      // hebrew mark
    (0x5BE, 22, How::Sign),        // hebrew sign
    (0x5BF, 21, How::Letter),      // hebrew mark
    (0x5C0, 22, How::Sign),        // hebrew sign
    (0x5C1, 21, How::Letter),      // hebrew mark
    (0x5D0, 23, How::Letter),      // hebrew
    (0x5F3, 22, How::Sign),        // hebrew sign
    (0x600, 24, How::Sign),        // arabic sign
    (0x610, 25, How::Letter),      // arabic mark
    (0x61B, 24, How::Sign),        // arabic sign
    (0x620, 26, How::Letter),      // arabic
    (0x64B, 25, How::Letter),      // arabic mark
    (0x660, 27, How::Digit),       // arabic digit
    (0x66A, 24, How::Sign),        // arabic sign
    (0x66E, 26, How::Letter),      // arabic
    (0x670, 25, How::Letter),      // arabic mark
    (0x671, 28, How::Letter),      // arabic ext
    (0x6D4, 24, How::Sign),        // arabic sign
    (0x6D5, 28, How::Letter),      // arabic ext
    (0x6D6, 25, How::Letter),      // arabic mark
    (0x6EE, 28, How::Letter),      // arabic ext
    (0x6F0, 27, How::Digit),       // arabic digit
    (0x6FA, 28, How::Letter),      // arabic ext
    (0x700, 29, How::Sign),        // syriac
    (0x710, 29, How::Letter),      // syriac
    (0x750, 28, How::Letter),      // arabic ext
    (0x780, 30, How::Letter),      // thaana
    (0x7C0, 31, How::Digit),       // nko
    (0x7CA, 31, How::Letter),      // nko
    (0x7F6, 31, How::Sign),        // nko
    (0x7FA, 31, How::Letter),      // nko
    (0x800, 32, How::Letter),      // other letter 2
    (0x8A0, 28, How::Letter),      // arabic ext
    (0x900, 33, How::Indic),       // devanagari
    (0x980, 34, How::Indic),       // bengali
    (0xA00, 35, How::Indic),       // gurmukhi
    (0xA77, 58, How::Sign),        // not assigned
    (0xA80, 36, How::Indic),       // gujarati
    (0xB00, 37, How::Indic),       // oriya
    (0xB78, 58, How::Sign),        // not assigned
    (0xB80, 38, How::Indic),       // tamil
    (0xBFB, 58, How::Sign),        // not assigned
    (0xC00, 39, How::Indic),       // telugu
    (0xC80, 40, How::Indic),       // kannada
    (0xCF4, 58, How::Sign),        // not assigned
    (0xD00, 41, How::Indic),       // malayalam
    (0xD80, 42, How::Indic),       // sinhala
    (0xDF4, 42, How::Sign),        // sinhala
    (0xDF5, 58, How::Sign),        // not assigned
    (0xE00, 43, How::Unspaced),    // thai
    (0xE3F, 43, How::Sign),        // thai
    (0xE40, 43, How::Unspaced),    // thai
    (0xE4F, 43, How::Sign),        // thai
    (0xE50, 44, How::Digit),       // thai digit
    (0xE5A, 43, How::Sign),        // thai
    (0xE5C, 58, How::Sign),        // not assigned
    (0xE80, 45, How::Unspaced),    // lao
    (0xED0, 44, How::Digit),       // thai digit
    (0xEDA, 45, How::Unspaced),    // lao
    (0xF00, 46, How::Unspaced),    // tibetan
    (0xF01, 47, How::Sign),        // tibetan sign
    (0xF18, 46, How::Unspaced),    // tibetan
    (0xF1A, 47, How::Sign),        // tibetan sign
    (0xF20, 48, How::Digit),       // tibetan digit
    (0xF34, 47, How::Sign),        // tibetan sign
    (0xF40, 46, How::Unspaced),    // tibetan
    (0xF85, 47, How::Sign),        // tibetan sign
    (0xF86, 46, How::Unspaced),    // tibetan
    (0xFBE, 47, How::Sign),        // tibetan sign
    (0xFDB, 58, How::Sign),        // not assigned
    (0x1000, 49, How::Unspaced),   // myanmar
    (0x1040, 44, How::Digit),      // thai digit
    (0x104A, 50, How::Sign),       // myanmar sign
    (0x1050, 49, How::Unspaced),   // myanmar
    (0x10A0, 51, How::Upper),      // georgian
    (0x10D0, 51, How::Lower),      // georgian
    (0x10FB, 51, How::Sign),       // georgian
    (0x10FC, 51, How::Lower),      // georgian
    (0x1100, 52, How::Letter),     // jamo
    (0x1200, 53, How::Letter),     // ethiopic
    (0x1360, 54, How::Sign),       // ethiopic sign
    (0x1369, 55, How::Digit),      // ethiopic digit
    (0x1380, 53, How::Letter),     // ethiopic
    (0x13A0, 56, How::Letter),     // cherokee
    (0x1400, 57, How::Letter),     // syllabics
    (0x1680, 58, How::Letter),     // other letter
    (0x1780, 59, How::Unspaced),   // khmer
    (0x17D4, 60, How::Sign),       // khmer sign
    (0x17D7, 59, How::Unspaced),   // khmer
    (0x17DB, 60, How::Sign),       // khmer sign
    (0x17DC, 59, How::Unspaced),   // khmer
    (0x17E0, 44, How::Digit),      // thai digit
    (0x17F0, 60, How::Digit),      // khmer sign
    (0x1800, 61, How::Sign),       // mongolian
    (0x180B, 61, How::Letter),     // mongolian
    (0x1810, 61, How::Digit),      // mongolian
    (0x1820, 61, How::Letter),     // mongolian
    (0x18B0, 57, How::Letter),     // syllabics
    (0x1900, 58, How::Letter),     // other letter
    (0x1950, 58, How::Unspaced),   // other letter
    (0x1A20, 58, How::Unspaced),   // other letter
    (0x1AB0, 58, How::Letter),     // other letter
    (0x1D00, 62, How::Letter),     // phonetic
    (0x1E00, 63, How::EvenUpper),  // latin ext add
    (0x1F00, 64, How::Lower),      // greek ext
    (0x2000, 6, How::Space),       // space
    (0x200B, 65, How::Sign),       // general punct
    (0x2028, 6, How::Space),       // space
    (0x202A, 65, How::Sign),       // general punct
    (0x202F, 6, How::Space),       // space
    (0x2030, 65, How::Sign),       // general punct
    (0x205F, 6, How::Space),       // space
    (0x2060, 65, How::Sign),       // general punct
    (0x2070, 66, How::Digit),      // script digit
    (0x207A, 67, How::Sign),       // math
    (0x2080, 66, How::Digit),      // script digit
    (0x208A, 67, How::Sign),       // math
    (0x2090, 62, How::Letter),     // phonetic
    (0x20A0, 68, How::Sign),       // currency
    (0x20D0, 69, How::Letter),     // combining 2
    (0x20F1, 58, How::Sign),       // not assigned
    (0x2100, 70, How::Letter),     // letterlike
    (0x2150, 71, How::Digit),      // number form
    (0x2190, 72, How::Sign),       // arrow
    (0x2200, 67, How::Sign),       // math
    (0x2300, 73, How::Sign),       // symbol
    (0x242A, 58, How::Sign),       // not assigned
    (0x2440, 73, How::Sign),       // symbol
    (0x244B, 58, How::Sign),       // not assigned
    (0x2460, 71, How::Digit),      // number form
    (0x249C, 73, How::Sign),       // symbol
    (0x2500, 74, How::Sign),       // box
    (0x25A0, 73, How::Sign),       // symbol
    (0x2600, 75, How::Sign),       // misc symbol
    (0x2776, 71, How::Digit),      // number form
    (0x2794, 72, How::Sign),       // arrow
    (0x27C0, 76, How::Sign),       // math 2
    (0x2800, 77, How::Sign),       // braille
    (0x2900, 76, How::Sign),       // math 2
    (0x2C00, 58, How::EvenUpper),  // other letter
    (0x2C60, 78, How::EvenUpper),  // latin ext c
    (0x2C80, 79, How::EvenUpper),  // coptic
    (0x2D00, 58, How::Letter),     // other letter
    (0x2D30, 80, How::Letter),     // tifinagh
    (0x2D80, 53, How::Letter),     // ethiopic
    (0x2DE0, 58, How::Letter),     // other letter
    (0x2E00, 81, How::Sign),       // punct 2
    (0x3000, 6, How::Space),       // space
    (0x3001, 82, How::Sign),       // cjk sign
    (0x3005, 83, How::Unspaced),   // han ext
    (0x3008, 82, How::Sign),       // cjk sign
    (0x3041, 84, How::Unspaced),   // hiragana
    (0x30A0, 85, How::Sign),       // katakana
    (0x30A1, 85, How::Unspaced),   // katakana
    (0x30FB, 85, How::Sign),       // katakana
    (0x30FC, 85, How::Unspaced),   // katakana
    (0x3100, 86, How::Unspaced),   // bopomofo
    (0x3130, 52, How::Letter),     // jamo
    (0x3190, 87, How::Sign),       // cjk symbol
    (0x3400, 83, How::Unspaced),   // han ext
    (0x4DC0, 87, How::Sign),       // cjk symbol
    (0x4E00, 88, How::Unspaced),   // han
    (0xA000, 89, How::Unspaced),   // yi
    (0xA490, 89, How::Sign),       // yi
    (0xA4D0, 90, How::Letter),     // lisu
    (0xA500, 91, How::Letter),     // vai
    (0xA640, 92, How::EvenUpper),  // cyrillic ext 2
    (0xA6A0, 58, How::Letter),     // other letter
    (0xA720, 93, How::EvenUpper),  // latin ext d
    (0xA800, 58, How::Letter),     // other letter
    (0xA8E0, 94, How::Letter),     // devanagari ext
    (0xA900, 58, How::Letter),     // other letter
    (0xA980, 95, How::Unspaced),   // javanese
    (0xA9E0, 49, How::Unspaced),   // myanmar
    (0xAA00, 58, How::Letter),     // other letter
    (0xAA60, 49, How::Unspaced),   // myanmar
    (0xAA80, 58, How::Unspaced),   // other letter
    (0xAAE0, 58, How::Letter),     // other letter
    (0xAB00, 53, How::Letter),     // ethiopic
    (0xAB30, 93, How::Lower),      // latin ext d
    (0xAB70, 56, How::Letter),     // cherokee
    (0xABC0, 96, How::Letter),     // meetei
    (0xAC00, 97, How::Letter),     // hangul
    (0xD7B0, 52, How::Letter),     // jamo
    (0xE000, 98, How::Sign),       // private use
    (0xF900, 83, How::Unspaced),   // han ext
    (0xFB00, 99, How::Letter),     // presentation
    (0xFB50, 100, How::Letter),    // arabic presentation
    (0xFE00, 101, How::Letter),    // variation
    (0xFE10, 81, How::Sign),       // punct 2
    (0xFE20, 69, How::Letter),     // combining 2
    (0xFE30, 81, How::Sign),       // punct 2
    (0xFE70, 100, How::Letter),    // arabic presentation
    (0xFEFF, 65, How::Sign),       // general punct
    (0xFF01, 102, How::Sign),      // fullwidth sign
    (0xFF10, 103, How::Digit),     // fullwidth digit
    (0xFF1A, 102, How::Sign),      // fullwidth sign
    (0xFF21, 104, How::Upper),     // fullwidth
    (0xFF3B, 102, How::Sign),      // fullwidth sign
    (0xFF41, 104, How::Lower),     // fullwidth
    (0xFF5B, 102, How::Sign),      // fullwidth sign
    (0xFF66, 105, How::Unspaced),  // katakana half
    (0xFFA0, 52, How::Letter),     // jamo
    (0xFFE0, 102, How::Sign),      // fullwidth sign
    (0x10000, 106, How::Letter),   // astral letter
    (0x10100, 107, How::Sign),     // astral sign
    (0x10280, 106, How::Letter),   // astral letter
    (0x11000, 108, How::Letter),   // astral indic
    (0x12000, 106, How::Letter),   // astral letter
    (0x13000, 106, How::Unspaced), // astral letter
    (0x16800, 106, How::Letter),   // astral letter
    (0x17000, 106, How::Unspaced), // astral letter
    (0x1B000, 106, How::Unspaced), // astral letter
    (0x1BC00, 106, How::Letter),   // astral letter
    (0x1D000, 107, How::Sign),     // astral sign
    (0x1D400, 109, How::Letter),   // math alnum
    (0x1D7CE, 109, How::Digit),    // math alnum
    (0x1D800, 107, How::Sign),     // astral sign
    (0x1E000, 106, How::Letter),   // astral letter
    (0x1E900, 110, How::Letter),   // adlam
    (0x1EC00, 107, How::Sign),     // astral sign
    (0x1F000, 111, How::Sign),     // emoji other
    (0x1F1E6, 112, How::Sign),     // emoji flag
    (0x1F200, 111, How::Sign),     // emoji other
    (0x1F300, 113, How::Sign),     // emoji
    (0x1F3FB, 114, How::Sign),     // emoji tone
    (0x1F400, 113, How::Sign),     // emoji
    (0x1F650, 111, How::Sign),     // emoji other
    (0x1F680, 113, How::Sign),     // emoji
    (0x1F700, 111, How::Sign),     // emoji other
    (0x1F900, 115, How::Sign),     // emoji new
    (0x1FB00, 111, How::Sign),     // emoji other
    (0x20000, 116, How::Unspaced), // han astral
    (0x40000, 98, How::Sign),      // private use
];
