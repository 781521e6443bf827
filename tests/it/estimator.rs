//! The token estimator against its guarantees (docs/estimator.md): accuracy on the committed corpus and on short
//! messages, additivity at paragraph breaks, early stops, and long unbroken runs.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use ctxweave::tokens::heuristic::{count, count_up_to};
use ctxweave::tokens::{Counter, Tokenizers};
use proptest::prelude::*;
use regex_syntax::hir::{Class, HirKind};
use unicode_normalization::UnicodeNormalization;

/// A file of the committed corpus.
struct Sample {
    name: String,
    category: String,
    text: String,
    /// Its `o200k_base` tokens.
    tokens: u32,
}

fn directory() -> PathBuf {
    Path::new(crate::ROOT).join("tests/corpus")
}

#[expect(clippy::expect_used, clippy::disallowed_methods, reason = "a broken corpus fails the test")]
fn corpus() -> Vec<Sample> {
    let list = fs::read_to_string(directory().join("o200k.tsv")).expect("o200k.tsv");
    list.lines()
        .map(|line| {
            let (name, tokens) = line.split_once('\t').expect("a tab");
            let text = fs::read_to_string(directory().join(name)).expect(name);
            let category = name.split('/').next().expect("a folder").to_owned();
            Sample { name: name.to_owned(), category, text, tokens: tokens.parse().expect("a number") }
        })
        .collect()
}

fn error(estimate: u32, tokens: u32) -> f64 {
    100.0 * (f64::from(estimate) / f64::from(tokens) - 1.0)
}

#[test]
fn the_listed_counts_are_those_of_tiktoken() {
    let bpe = tiktoken_rs::o200k_base().expect("o200k_base");
    for sample in corpus() {
        assert_eq!(bpe.encode_ordinary(&sample.text).len(), sample.tokens as usize, "{}", sample.name);
    }
}

#[test]
fn every_file_of_the_corpus_is_listed() {
    let samples = corpus();
    for category in ["prose", "code", "data"] {
        for entry in fs::read_dir(directory().join(category)).expect(category) {
            let file = entry.expect("an entry").file_name();
            let name = format!("{category}/{}", file.to_string_lossy());
            assert!(samples.iter().any(|sample| sample.name == name), "{name} is not in o200k.tsv");
        }
    }
}

#[test]
fn estimates_stay_within_ten_percent_on_average_and_never_five_below() {
    let mut table = String::from("\n");
    let mut categories: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    let mut too_low = Vec::new();
    for sample in corpus() {
        let error = error(count(&sample.text), sample.tokens);
        writeln!(table, "{:<36} {:>6} {error:>+7.1} %", sample.name, sample.tokens).expect("a string takes it");
        if error < -5.0 {
            too_low.push(sample.name);
        }
        categories.entry(sample.category).or_default().push(error.abs());
    }
    assert!(too_low.is_empty(), "more than 5 % below: {too_low:?}{table}");
    for (category, errors) in categories {
        let mean = errors.iter().sum::<f64>() / errors.len() as f64;
        assert!(mean <= 10.0, "{category}: {mean:.1} % off on average{table}");
    }
}

/// Messages as people send them.
const MESSAGES: [&str; 44] = [
    "Hi!",
    "ok",
    "Thanks, that works.",
    "Can you explain this?",
    "yes",
    "No, I meant the other one.",
    "lol",
    "Good morning! How are you today?",
    "See you tomorrow at 10:30.",
    "What does this error mean?",
    "it still doesn't work :(",
    "Please fix the typo in README.md",
    "LGTM",
    "Summarize the text above in three sentences.",
    "cargo test --all",
    "https://example.com/docs",
    "why?",
    "👍",
    "🎉🎉🎉",
    "Great job 😀",
    "Danke schön!",
    "Das verstehe ich nicht.",
    "Wie spät ist es?",
    "Merci beaucoup !",
    "Où est la gare ?",
    "¿Puedes ayudarme con esto?",
    "Hola, ¿qué tal?",
    "Obrigado, funcionou.",
    "Va bene, a domani.",
    "Teşekkür ederim.",
    "Dziękuję bardzo!",
    "Привет!",
    "Спасибо, всё работает.",
    "Как дела?",
    "Ευχαριστώ πολύ!",
    "你好！",
    "谢谢你的帮助。",
    "これはどういう意味ですか？",
    "ありがとう",
    "안녕하세요",
    "شكرا جزيلا",
    "תודה רבה",
    "धन्यवाद, यह काम करता है।",
    "ขอบคุณครับ",
];

#[test]
fn short_messages_are_not_undercounted_in_total_and_overcounted_little() {
    let bpe = tiktoken_rs::o200k_base().expect("o200k_base");
    let mut table = String::from("\n");
    let (mut estimated, mut real) = (0, 0);
    for message in MESSAGES {
        let estimate = count(message);
        let tokens = u32::try_from(bpe.encode_ordinary(message).len()).expect("few");
        writeln!(table, "{estimate:>3} for {tokens:>3}  {message}").expect("a string takes it");
        estimated += estimate;
        real += tokens;
    }
    let off = error(estimated, real);
    assert!((0.0..=15.0).contains(&off), "{estimated} in total, really {real}: {off:+.1} %{table}");
}

#[test]
fn only_the_empty_text_counts_nothing() {
    assert_eq!(count(""), 0);
    for text in ["a", " ", "\n", "\r", "\n\n", "\u{300}", "\u{feff}", "\u{0}", "中", "😀", "\u{10ffff}"] {
        assert!(count(text) >= 1, "{text:?}");
    }
}

/// Runs and characters that no text is made of, and that a file may be full of: never much below what tiktoken counts.
#[test]
fn no_kind_of_text_collapses() {
    let bpe = tiktoken_rs::o200k_base().expect("o200k_base");
    for (unit, times) in [
        ("\r\n", 200),
        ("\r", 200),
        ("\n", 200),
        ("\t ", 200),
        (" \t", 200),
        ("\t", 200),
        (" ", 400),
        ("\u{a0}", 40),
        ("\u{a0}", 400),
        ("\u{3000}", 40),
        ("\u{2003}", 40),
        ("中", 100),
        ("あ", 100),
        ("ア", 100),
        ("ｱｲｳｴｵｶｷｸｹｺ", 20),
        ("ｱ", 100),
        ("⠁⠃⠉⠙⠑⠋⠛⠓", 20),
        ("⠿", 100),
        ("\u{e000}\u{e001}\u{e123}", 30),
        ("\u{1fffe}", 50),
        ("\u{e0080}", 50),
        ("\u{10fffd}", 50),
        ("𝐀𝐁𝐂", 30),
        ("\u{1}\u{2}\u{3}", 30),
        ("\0", 100),
        ("line one of text\rline two is here\rthe third line\r", 10),
        // Scripts and signs of which hardly any character is in the vocabulary.
        ("⼀⼆", 50),
        ("㐀㐁䶵", 30),
        ("ᠮᠣᠩᠭᠣᠯ ", 30),
        ("\u{1100}\u{1101}\u{1161}", 30),
        ("🀀🀁", 30),
        ("𝄞", 50),
        ("ꀀꀁ", 50),
        ("𐤀𐤁", 50),
        ("⤀⨀", 50),
        ("\u{200d}", 100),
        ("\u{feff}", 100),
        // What Unicode has not assigned.
        ("\u{a78}\u{a79}\u{a7f}", 30),
        ("\u{e5c}\u{e60}\u{e7f}", 30),
        ("\u{fe0}\u{ffd}", 40),
        ("\u{2430}\u{2450}", 40),
        ("\u{2e70}", 100),
        ("\u{2fe0}\u{31e8}", 40),
        ("\u{a630}\u{d7a8}", 40),
        ("\u{fae0}\u{fb0a}", 40),
        ("\u{fdd0}\u{fdd1}", 40),
    ] {
        let text = unit.repeat(times);
        let tokens = bpe.encode_ordinary(&text).len() as f64;
        let estimate = f64::from(count(&text));
        assert!(
            estimate >= 0.85 * tokens && estimate <= 2.0 * tokens + 2.0,
            "{unit:?}×{times}: {estimate} of {tokens}"
        );
    }
}

/// Words one by one, as dictionaries have them: rarer ones than texts have.
const THAI_WORDS: &str = "นาน เกาหลี เทวทูต กระด้วมกระเดี้ยม เชย หด หกคะเมน กะละมัง เทวาลัย พะเนียง มโหรสพ หมับ สัตวแพทย์ แกว ไอ สาวิตร ปสันนะ นัด \
    วังศะ อัมพาต แจก จดุรงค์ นวการ อัทธาน แมงดา ละมาน ร้า อาปะ บุคคล ปริหาร เรียน กระบุง โอโซน เก้า จมูก โป๊ก วีชนี ไวน์ กัลปาวสาน กระเจ้า \
    กะหล่ำ วิจุรณ หนุ สิว กระสวย งอย สัพยอก เกลือก พยุหยาตรา สวาหะ ประทักษ์ โพบาย กะละแม ถนอม อนุพัทธ์ มังค่า ธิติ";

#[test]
fn lists_of_words_are_not_undercounted() {
    let bpe = tiktoken_rs::o200k_base().expect("o200k_base");
    let list = THAI_WORDS.replace(' ', "\n");
    let off = error(count(&list), u32::try_from(bpe.encode_ordinary(&list).len()).expect("few"));
    assert!((-5.0..=15.0).contains(&off), "{off:+.1} %");
}

/// A tab belongs to the word after it, as a space does, but few words have a token with a tab.
#[test]
fn columns_with_tabs_are_not_undercounted() {
    let bpe = tiktoken_rs::o200k_base().expect("o200k_base");
    let rows = "id\tname\tcountry\tarrived\tremark\n17\tanchor\tNorway\tWednesday\tbroken\n".repeat(8)
        + &"config NETWORK\n\tbool \"Networking\"\n\tdepends on MODULES\n\tselect CRYPTO\n\thelp\n".repeat(4);
    let off = error(count(&rows), u32::try_from(bpe.encode_ordinary(&rows).len()).expect("few"));
    assert!((-5.0..=25.0).contains(&off), "{off:+.1} %");
}

#[test]
fn long_unbroken_runs_are_counted_like_any_text() {
    for unit in
        ["a", "A", " ", "\n", "\r\n", "\t", "中", "ㅎ", "ก", "[", "=", "1", "😀", "é", "aB", "a1", " a", "\u{301}"]
    {
        let short = count(&unit.repeat(1 << 10));
        let long = count(&unit.repeat(1 << 20));
        let expected = u64::from(short) << 10;
        assert!(u64::from(long) <= expected + expected / 8 + 1024, "{unit:?}: {short} becomes {long}");
        assert!(u64::from(long) * 2 + 2048 >= expected || unit.trim().is_empty(), "{unit:?}: {short} becomes {long}");
    }
}

/// Texts with everything that the estimator distinguishes, more often than by chance.
fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "[a-z]{1,9}",
        "[A-Z]{1,4}[a-z]{0,4}",
        "[0-9]{1,7}",
        "[ \t]{1,6}",
        "(\r?\n){1,4}",
        "[-_.,;:!?'\"(){}<>/=+*#]{1,5}",
        "[а-яА-Яα-ωéüñßşığ]{1,8}",
        "[ก-๙一-龥ぁ-んァ-ン가-힣]{1,6}",
        "[ا-ي०-९अ-ह்க-ன]{1,6}",
        "[😀-🙏🇦-🇿∀-⋿]{1,3}",
        any::<String>(),
        Just("'s".to_owned()),
        Just(" ".to_owned()),
        Just("\u{2028}\u{a0}\u{3000}".to_owned()),
    ];
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

/// The estimator as a request gets it: with a memory for words.
fn caching_counter() -> Rc<dyn Counter> {
    Tokenizers::default().get("heuristic").unwrap()
}

#[test]
fn caches_change_no_count_of_the_corpus() {
    let caching = caching_counter();
    for _ in 0..3 {
        for sample in corpus() {
            assert_eq!(caching.count(&sample.text), count(&sample.text), "{}", sample.name);
        }
    }
}

/// What may stand before a word, and end the one before.
const COMPANY: [&str; 32] = [
    "", " ", "  ", "   ", "\t", "\u{a0}", "\u{3000}", "\n", "\n\n", "\r", "\r\n", " \r", "\n ", "'", "\"", " \"", "(",
    "\0", " \0", "’", "« ", "1", " 12 ", "é", "中", "中 ", "A", "I ", "👍", "\u{301}", "-", "--",
];

/// Short ones, long ones, and some with easily overlooked differences.
const WORDS: [&str; 14] = [
    "a",
    "I",
    "it",
    "It",
    "IT",
    "the",
    "The",
    "end",
    "ending",
    "abcdefghijklmno",
    "abcdefghijklmnop",
    "qqqq",
    "Zzzzzzz",
    "naïve",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::generate::cases(512)))]

    #[test]
    fn paragraphs_add_up(a in text(), b in text()) {
        let (a, b) = (a.trim(), b.trim());
        prop_assume!(!a.is_empty() && !b.is_empty());
        prop_assert_eq!(count(&format!("{a}\n\n{b}")), count(&format!("{a}\n\n")) + count(b));
    }

    /// A counter that has counted other texts before, and this one, too, gives the count of one that has not. Counters of
    /// several models share the caches.
    #[test]
    fn caches_change_no_count(mut texts in prop::collection::vec(text(), 1..6), limit in 0_u32..120) {
        let tokenizers = Tokenizers::default();
        texts.push(texts.concat());
        for _ in 0..3 {
            for name in ["heuristic", "claude"] {
                let (caching, fresh) = (tokenizers.get(name).unwrap(), Tokenizers::default().get(name).unwrap());
                for text in &texts {
                    prop_assert_eq!(caching.count(text), fresh.count(text), "{:?}", text);
                    prop_assert_eq!(caching.count_up_to(text, limit), fresh.count_up_to(text, limit), "{:?}", text);
                }
            }
            for text in &texts {
                prop_assert_eq!(tokenizers.get("heuristic").unwrap().count(text), count(text), "{:?}", text);
            }
        }
    }

    /// The same for few words in every company, so that each is remembered and met again.
    #[test]
    fn a_word_costs_the_same_in_every_company(parts in prop::collection::vec((0..COMPANY.len(), 0..WORDS.len()), 0..40)) {
        let text: String = parts.iter().flat_map(|&(company, word)| [COMPANY[company], WORDS[word]]).collect();
        let caching = caching_counter();
        prop_assert_eq!(caching.count(&text), count(&text));
        prop_assert_eq!(caching.count(&text), count(&text));
    }

    #[test]
    fn counting_up_to_a_limit_agrees_with_counting(text in text(), limit in 0_u32..120) {
        let full = count(&text);
        prop_assert_eq!(count_up_to(&text, limit), (full <= limit).then_some(full));
        prop_assert_eq!(count_up_to(&text, full), Some(full));
        if let Some(less) = full.checked_sub(1) {
            prop_assert_eq!(count_up_to(&text, less), None);
        }
    }
}

#[test]
fn paragraphs_of_the_corpus_add_up() {
    let samples = corpus();
    for pair in samples.windows(2) {
        let (a, b) = (pair[0].text.trim(), pair[1].text.trim());
        assert_eq!(count(&format!("{a}\n\n{b}")), count(&format!("{a}\n\n")) + count(b), "{}", pair[0].name);
    }
}

/// The languages of tests/corpus/prose that are not in Latin script, by their scripts.
const SCRIPTS: &[(&str, &[&str])] = &[
    ("Arabic", &["arabic", "persian", "urdu"]),
    ("Armenian", &["armenian"]),
    ("Bengali", &["bengali"]),
    ("Cherokee", &["cherokee"]),
    ("Cyrillic", &["bulgarian", "mongolian", "russian", "ukrainian"]),
    ("Devanagari", &["hindi", "marathi"]),
    ("Ethiopic", &["amharic"]),
    ("Georgian", &["georgian"]),
    ("Greek", &["greek"]),
    ("Gujarati", &["gujarati"]),
    ("Gurmukhi", &["punjabi"]),
    ("Han", &["chinese-simplified", "chinese-traditional"]),
    ("Hangul", &["korean"]),
    ("Hebrew", &["hebrew"]),
    ("Japanese", &["japanese"]),
    ("Kannada", &["kannada"]),
    ("Khmer", &["khmer"]),
    ("Lao", &["lao"]),
    ("Malayalam", &["malayalam"]),
    ("Myanmar", &["burmese"]),
    ("Sinhala", &["sinhala"]),
    ("Syllabics", &["inuktitut"]),
    ("Tamil", &["tamil"]),
    ("Telugu", &["telugu"]),
    ("Thaana", &["dhivehi"]),
    ("Thai", &["thai"]),
    ("Tibetan", &["tibetan"]),
    ("Vai", &["vai"]),
];

/// Letters of scripts that no text of the corpus has.
const LETTERS: &[(u32, u32)] = &[
    (0x710, 0x72F),     // Syriac
    (0x7CA, 0x7EA),     // N'Ko
    (0x800, 0x815),     // Samaritan
    (0x840, 0x858),     // Mandaic
    (0xB13, 0xB28),     // Oriya
    (0x1700, 0x1711),   // Tagalog
    (0x1720, 0x1731),   // Hanunoo
    (0x1820, 0x1878),   // Mongolian
    (0x1900, 0x191E),   // Limbu
    (0x1950, 0x196D),   // Tai Le
    (0x1980, 0x19AB),   // New Tai Lue
    (0x1A00, 0x1A16),   // Buginese
    (0x1A20, 0x1A54),   // Tai Tham
    (0x1B05, 0x1B33),   // Balinese
    (0x1B83, 0x1BA0),   // Sundanese
    (0x1C00, 0x1C23),   // Lepcha
    (0x1C5A, 0x1C77),   // Ol Chiki
    (0x2800, 0x28FF),   // Braille
    (0x2C00, 0x2C5F),   // Glagolitic
    (0x2C80, 0x2CE4),   // Coptic
    (0x2D30, 0x2D67),   // Tifinagh
    (0x3105, 0x312F),   // Bopomofo
    (0xA000, 0xA48C),   // Yi
    (0xA4D0, 0xA4F7),   // Lisu
    (0xA6A0, 0xA6E5),   // Bamum
    (0xA807, 0xA822),   // Syloti Nagri
    (0xA840, 0xA873),   // Phags-pa
    (0xA882, 0xA8B3),   // Saurashtra
    (0xA90A, 0xA925),   // Kayah Li
    (0xA930, 0xA946),   // Rejang
    (0xA984, 0xA9B2),   // Javanese
    (0xAA00, 0xAA28),   // Cham
    (0xAA80, 0xAAAF),   // Tai Viet
    (0xABC0, 0xABE2),   // Meetei Mayek
    (0x10000, 0x1000B), // Linear B
    (0x10330, 0x1034A), // Gothic
    (0x10400, 0x1044F), // Deseret
    (0x104B0, 0x104D3), // Osage
    (0x10900, 0x10915), // Phoenician
    (0x11005, 0x11037), // Brahmi
    (0x11083, 0x110AF), // Kaithi
    (0x11103, 0x11126), // Chakma
    (0x11480, 0x114AF), // Tirhuta
    (0x12000, 0x12399), // Cuneiform
    (0x13000, 0x1342E), // Egyptian hieroglyphs
    (0x1E900, 0x1E943), // Adlam
];

/// Words of letters from a range.
fn random_words((first, last): (u32, u32)) -> String {
    let mut seed = u64::from(first);
    let mut next = |below: u32| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        u32::try_from((seed >> 33) % u64::from(below)).unwrap_or(0)
    };
    let mut word = |_| {
        let length = 2 + next(5);
        (0..length).filter_map(|_| char::from_u32(first + next(last - first + 1))).collect::<String>()
    };
    (0..120).map(&mut word).collect::<Vec<_>>().join(" ")
}

/// Models of `cl100k_base` without their vocabulary: the estimate of no script is more than 15 % too low.
#[test]
fn every_script_is_near_cl100k() {
    let bpe = tiktoken_rs::cl100k_base().expect("cl100k_base");
    let estimator = Tokenizers::default().get("gpt-4").expect("an estimate");
    let mut wrong = Vec::new();
    let mut table = String::new();
    let mut check = |name: &str, texts: &[String]| {
        let tokens: usize = texts.iter().map(|text| bpe.encode_ordinary(text).len()).sum();
        let estimate: u32 = texts.iter().map(|text| estimator.count(text)).sum();
        let plain: u32 = texts.iter().map(|text| count(text)).sum();
        let [part, before] = [estimate, plain].map(|estimate| f64::from(estimate) / tokens as f64);
        writeln!(table, "| {name} | {before:.2} | {part:.2} |").expect("a line");
        if !(0.85..=1.8).contains(&part) {
            wrong.push(format!("{name} {part:.2}"));
        }
    };
    let read = |language: &&str| fs::read_to_string(directory().join(format!("prose/{language}.txt"))).expect(language);
    let all = fs::read_dir(directory().join("prose")).expect("prose").map(|entry| entry.expect("an entry").file_name());
    let languages: Vec<String> = all.map(|file| file.to_string_lossy().trim_end_matches(".txt").to_owned()).collect();
    let is_latin = |language: &&String| SCRIPTS.iter().all(|(_, others)| !others.contains(&language.as_str()));
    let latin: Vec<String> = languages.iter().filter(is_latin).map(|language| read(&language.as_str())).collect();
    check("Latin", &latin);
    for (script, languages) in SCRIPTS {
        check(script, &languages.iter().map(&read).collect::<Vec<_>>());
    }
    let english = ["prose/english.txt", "code/python.txt", "code/rust.txt", "data/json-pretty.txt"];
    for name in english {
        check(name, &[fs::read_to_string(directory().join(name)).expect(name)]);
    }
    for &letters in LETTERS {
        check(&format!("U+{:04X}", letters.0), &[random_words(letters)]);
    }
    println!("{table}");
    assert!(wrong.is_empty(), "{wrong:?}");
}

/// The scripts of Unicode, as its tables name them.
const UNICODE_SCRIPTS: &str = "Adlam Ahom Anatolian_Hieroglyphs Arabic Armenian Avestan Balinese Bamum Bassa_Vah Batak Bengali Bhaiksuki \
    Bopomofo Brahmi Braille Buginese Buhid Canadian_Aboriginal Carian Caucasian_Albanian Chakma Cham Cherokee \
    Chorasmian Common Coptic Cuneiform Cypriot Cypro_Minoan Cyrillic Deseret Devanagari Dives_Akuru Dogra \
    Duployan Egyptian_Hieroglyphs Elbasan Elymaic Ethiopic Garay Georgian Glagolitic Gothic Grantha Greek \
    Gujarati Gunjala_Gondi Gurmukhi Gurung_Khema Han Hangul Hanifi_Rohingya Hanunoo Hatran Hebrew Hiragana \
    Imperial_Aramaic Inherited Inscriptional_Pahlavi Inscriptional_Parthian Javanese Kaithi Kannada Katakana \
    Kawi Kayah_Li Kharoshthi Khitan_Small_Script Khmer Khojki Khudawadi Kirat_Rai Lao Latin Lepcha Limbu \
    Linear_A Linear_B Lisu Lycian Lydian Mahajani Makasar Malayalam Mandaic Manichaean Marchen Masaram_Gondi \
    Medefaidrin Meetei_Mayek Mende_Kikakui Meroitic_Cursive Meroitic_Hieroglyphs Miao Modi Mongolian Mro \
    Multani Myanmar Nabataean Nag_Mundari Nandinagari New_Tai_Lue Newa Nko Nushu Nyiakeng_Puachue_Hmong Ogham \
    Ol_Chiki Ol_Onal Old_Hungarian Old_Italic Old_North_Arabian Old_Permic Old_Persian Old_Sogdian \
    Old_South_Arabian Old_Turkic Old_Uyghur Oriya Osage Osmanya Pahawh_Hmong Palmyrene Pau_Cin_Hau Phags_Pa \
    Phoenician Psalter_Pahlavi Rejang Runic Samaritan Saurashtra Sharada Shavian Siddham SignWriting Sinhala \
    Sogdian Sora_Sompeng Soyombo Sundanese Sunuwar Syloti_Nagri Syriac Tagalog Tagbanwa Tai_Le Tai_Tham \
    Tai_Viet Takri Tamil Tangsa Tangut Telugu Thaana Thai Tibetan Tifinagh Tirhuta Todhri Toto Tulu_Tigalari \
    Ugaritic Vai Vithkuqi Wancho Warang_Citi Yezidi Yi Zanabazar_Square";

/// The characters with this property.
fn characters(property: &str) -> Vec<char> {
    let class =
        regex_syntax::parse(&format!(r"\p{{{property}}}")).unwrap_or_else(|error| panic!("{property}: {error}"));
    let Class::Unicode(ranges) = (match class.into_kind() {
        HirKind::Class(class) => class,
        _ => panic!("{property} is one character"),
    }) else {
        panic!("{property} is no class")
    };
    ranges.iter().flat_map(|range| range.start()..=range.end()).collect()
}

/// Samples of 200 characters of these: any of them, in words, in their order, few of them, and runs of one.
fn samples(characters: &[char]) -> Vec<(&'static str, String)> {
    const LENGTH: usize = 200;
    let count = characters.len();
    let mut seed = count as u64 + 7;
    let mut next = |below: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % below
    };
    let mut samples = Vec::new();
    for _ in 0..6 {
        samples.push(("any", (0..LENGTH).map(|_| characters[next(count)]).collect()));
        let mut words = String::new();
        let mut left = LENGTH;
        while left > 1 {
            let letters = (2 + next(7)).min(left - 1);
            words.extend((0..letters).map(|_| characters[next(count)]));
            words.push(' ');
            left -= letters + 1;
        }
        samples.push(("words", words));
        let first = next(count);
        samples.push(("in order", (0..LENGTH).map(|at| characters[(first + at) % count]).collect()));
        let few: Vec<char> = (0..5).map(|_| characters[next(count)]).collect();
        samples.push(("few", (0..LENGTH).map(|_| few[next(few.len())]).collect()));
    }
    let runs = characters.iter().step_by((count / 200).max(1));
    samples.extend(runs.map(|&character| ("a run", std::iter::repeat_n(character, LENGTH).collect())));
    samples
}

/// Text of any script, however unlike real text it is, costs at least 85 % of what tiktoken counts.
#[test]
fn no_script_collapses() {
    let bpe = tiktoken_rs::o200k_base().expect("o200k_base");
    let mut scripts: Vec<(&str, Vec<char>)> =
        UNICODE_SCRIPTS.split_whitespace().map(|script| (script, characters(&format!("Script={script}")))).collect();
    let assigned: usize = scripts.iter().map(|(_, characters)| characters.len()).sum();
    let unassigned = characters("Cn");
    let private = characters("Co");
    // Neither is in a script. A newer table may have a script that is not listed.
    assert_eq!(assigned + unassigned.len() + private.len(), 0x11_0000 - 0x800, "a script is missing");
    let gaps = unassigned.iter().copied().filter(|&character| character < '\u{10000}').collect();
    scripts.extend([("unassigned", unassigned), ("unassigned gaps", gaps), ("private use", private)]);
    let mut low = Vec::new();
    for (script, characters) in &scripts {
        for (kind, text) in samples(characters) {
            let part = f64::from(count(&text)) / bpe.encode_ordinary(&text).len() as f64;
            if part < 0.85 {
                low.push(format!("{script}, {kind}: {part:.2} of {:?}", text.chars().take(5).collect::<String>()));
            }
        }
    }
    assert!(low.is_empty(), "{} samples: {low:#?}", low.len());
}

/// Korean in conjoining jamo, Hebrew with points, compatibility jamo, rare ideographs.
#[test]
fn unusual_spellings_do_not_collapse() {
    let bpe = tiktoken_rs::o200k_base().expect("o200k_base");
    let korean = fs::read_to_string(directory().join("prose/korean.txt")).expect("korean");
    let decomposed: String = korean.nfd().take(2000).collect();
    let pointed = "בְּרֵאשִׁית בָּרָא אֱלֹהִים אֵת הַשָּׁמַיִם וְאֵת הָאָרֶץ ".repeat(4);
    for text in [&decomposed, &pointed, &"ㄱㄴㄷ".repeat(70), &"龘".repeat(200), &"龘齾爨麤".repeat(50)] {
        let part = f64::from(count(text)) / bpe.encode_ordinary(text).len() as f64;
        assert!((0.85..=1.6).contains(&part), "{part:.2} of {:?}", text.chars().take(9).collect::<String>());
    }
}
