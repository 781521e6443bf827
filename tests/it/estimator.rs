//! The token estimator against its promises (SPEC §6): accuracy on the committed corpus and on short messages,
//! additivity at paragraph breaks, stopping early, and no trouble on long unbroken runs.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use ctxweave::tokens::heuristic::{count, count_up_to};
use ctxweave::tokens::{Counter, Tokenizers};
use proptest::prelude::*;

/// A file of the committed corpus.
struct Sample {
    name: String,
    category: String,
    text: String,
    /// Its `o200k_base` tokens.
    tokens: u32,
}

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus")
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

/// Texts with everything the estimator tells apart, more often than chance would bring it.
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
fn what_is_remembered_changes_no_count_of_the_corpus() {
    let caching = caching_counter();
    for _ in 0..2 {
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

/// Short ones, long ones, and some that differ in what is forgotten easily.
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

    /// A counter that has counted other texts before, and this one, too, gives the count of one that has not.
    #[test]
    fn what_is_remembered_changes_no_count(texts in prop::collection::vec(text(), 1..6), limit in 0_u32..120) {
        let caching = caching_counter();
        for _ in 0..2 {
            for text in &texts {
                prop_assert_eq!(caching.count(text), count(text), "{:?}", text);
                prop_assert_eq!(caching.count_up_to(text, limit), count_up_to(text, limit), "{:?}", text);
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
