//! Exact counting, against tiktoken-rs and against the patterns themselves.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a test that panics has failed; the lints are lifted in test functions but not in what they call"
)]

mod added;
pub(crate) mod generate;
pub(crate) mod open;

use std::fmt::Write as _;
use std::path::Path;
use std::sync::LazyLock;

use ctxweave::Code;
use ctxweave::tokens::bpe::{CachingCounter, Encoding, Vocabulary, pack};
use ctxweave::tokens::{Counter, Tokenizers};
use fancy_regex::Regex;
use generate::Random;
use tiktoken_rs::CoreBPE;

/// The pattern of cl100k_base as tiktoken-rs 0.12 has it, which does not export it.
const CL100K_PATTERN: &str = concat!(
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+",
    r"|\s++$|\s*[\r\n]|\s+(?!\S)|\s",
);

/// The pattern of the older encodings, as OpenAI has it.
const GPT2_PATTERN: &str = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+";

/// The reference of an encoding.
fn reference(encoding: Encoding) -> &'static CoreBPE {
    match encoding {
        Encoding::O200kBase => tiktoken_rs::o200k_base_singleton(),
        Encoding::O200kHarmony => tiktoken_rs::o200k_harmony_singleton(),
        Encoding::Cl100kBase => tiktoken_rs::cl100k_base_singleton(),
        Encoding::P50kBase => tiktoken_rs::p50k_base_singleton(),
        Encoding::P50kEdit => tiktoken_rs::p50k_edit_singleton(),
        Encoding::R50kBase | Encoding::Gpt2 => tiktoken_rs::r50k_base_singleton(),
    }
}

thread_local! {
    static EVERY: Tokenizers = {
        let mut tokenizers = Tokenizers::default();
        for &encoding in Encoding::ALL {
            tokenizers.load(encoding.name(), &asset(encoding.base()).1).unwrap();
        }
        let (tokens, _) = asset(Encoding::Cl100kBase);
        for (name, asset) in open::assets(&tokens[..4000]) {
            tokenizers.load(&name, &asset).unwrap();
        }
        tokenizers
    };
}

/// All of OpenAI's encodings, and a vocabulary of each kind that open models have: see [`open::assets`].
pub(crate) fn every_vocabulary() -> Tokenizers {
    EVERY.with(Clone::clone)
}

/// The tokens of an encoding, and its asset.
fn asset(encoding: Encoding) -> (Vec<Vec<u8>>, Vec<u8>) {
    let reference = reference(encoding);
    let specials = encoding.specials();
    let all = (0..).map_while(|rank| Some((rank, reference.decode_bytes(&[rank]).ok()?)));
    let ordinary = all.filter(|(rank, _)| specials.iter().all(|(_, special)| special != rank));
    let tokens: Vec<Vec<u8>> = ordinary.map(|(_, token)| token).collect();
    let asset = pack(encoding, &tokens).unwrap();
    (tokens, asset)
}

/// One encoding twice: the reference and ours.
struct Pair {
    encoding: Encoding,
    reference: &'static CoreBPE,
    pattern: Regex,
    asset: Vec<u8>,
    ours: Vocabulary,
    /// Tokens that are text.
    tokens: Vec<String>,
}

impl Pair {
    fn new(encoding: Encoding) -> Self {
        let reference = reference(encoding);
        let pattern = match encoding {
            Encoding::O200kBase => tiktoken_rs::O200K_BASE_PAT_STR,
            Encoding::Cl100kBase => CL100K_PATTERN,
            _ => GPT2_PATTERN,
        };
        let (tokens, asset) = asset(encoding);
        let ours = Vocabulary::load(encoding, &asset).unwrap();
        let tokens = tokens.into_iter().filter_map(|token| String::from_utf8(token).ok()).collect();
        Self { encoding, reference, pattern: Regex::new(pattern).unwrap(), asset, ours, tokens }
    }

    /// Pieces, tokens and counts of one text, compared.
    fn compare(&self, text: &str) -> Result<(), String> {
        let differs = |what: &str, expected: String, found: String| {
            let name = self.encoding.name();
            Err(format!("{name}: {what} of {text:?}\nexpected {expected}\n   found {found}"))
        };
        let mut pieces = self.encoding.split(text);
        for expected in self.pattern.find_iter(text) {
            let expected = expected.map_err(|error| error.to_string())?;
            let found = pieces.next();
            if found != Some(expected.as_str()) {
                return differs("pieces", format!("{expected:?}"), format!("{found:?}"));
            }
        }
        if let Some(piece) = pieces.next() {
            return differs("pieces", "no more".to_owned(), format!("{piece:?}"));
        }
        let expected = self.reference.encode_ordinary(text);
        let found = self.ours.encode(text);
        if found != expected {
            return differs("tokens", format!("{expected:?}"), format!("{found:?}"));
        }
        let count = self.ours.count(text);
        if count as usize != expected.len() {
            return differs("count", expected.len().to_string(), count.to_string());
        }
        for limit in [count.saturating_sub(1), count] {
            let found = self.ours.count_up_to(text, limit);
            if found != Some(count).filter(|_| count <= limit) {
                return differs(&format!("count up to {limit}"), count.to_string(), format!("{found:?}"));
            }
        }
        Ok(())
    }

    /// [`Self::compare`], and where that fails, with as little of the text as fails.
    fn check(&self, text: &str) {
        let Err(first) = self.compare(text) else { return };
        let (mut text, mut report) = (text.to_owned(), first);
        'smaller: loop {
            let indices: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
            for width in [indices.len() / 2, indices.len() / 4, 8, 3, 1] {
                for window in indices.windows(width.max(1) + 1) {
                    let smaller = format!("{}{}", &text[..window[0]], &text[window[window.len() - 1]..]);
                    if let Err(error) = self.compare(&smaller) {
                        (text, report) = (smaller, error);
                        continue 'smaller;
                    }
                }
            }
            panic!("{report}");
        }
    }
}

static PAIRS: LazyLock<Vec<Pair>> = LazyLock::new(|| BASES.into_iter().map(Pair::new).collect());

/// The encodings that have an asset.
const BASES: [Encoding; 4] = [Encoding::O200kBase, Encoding::Cl100kBase, Encoding::P50kBase, Encoding::R50kBase];

/// Real text: what the repository holds, and a few sentences in many languages.
static REAL: LazyLock<String> = LazyLock::new(|| {
    let mut text = String::from(include_str!("bpe/languages.txt"));
    gather(Path::new(crate::ROOT), &mut text);
    text.truncate(floor(&text, 1_500_000));
    text
});

/// More real text, from the folder that `CTXWEAVE_TEXTS` names.
fn more_real_text() -> String {
    let mut text = String::new();
    if let Some(folder) = std::env::var_os("CTXWEAVE_TEXTS") {
        gather(Path::new(&folder), &mut text);
    }
    text
}

#[expect(clippy::disallowed_methods, reason = "a test may read the files of the repository")]
fn gather(folder: &Path, text: &mut String) {
    let mut entries: Vec<_> =
        std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    entries.sort();
    for path in entries {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if path.is_dir() {
            if !["target", "node_modules", "dist"].contains(&&*name) && !name.starts_with('.') {
                gather(&path, text);
            }
        } else if name.rsplit_once('.').is_some_and(|(_, end)| {
            ["rs", "md", "ts", "mjs", "toml", "json", "txt", "css", "html", "jsonl", "lock"].contains(&end)
        }) && let Ok(file) = std::fs::read_to_string(&path)
        {
            text.push_str(&file);
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "how long the comparison runs comes from the command line")]
fn setting(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// Compares random texts of every kind: `texts` of each, from a seed.
fn compare_random(seed: u64, texts: usize) -> (usize, usize) {
    let mut random = Random(seed);
    let (mut count, mut bytes) = (0, 0);
    for _ in 0..texts {
        for kind in 0..generate::KINDS.len() {
            for pair in PAIRS.iter() {
                let text = generate::text(kind, &mut random, &pair.tokens, &REAL);
                pair.check(&text);
                count += 1;
                bytes += text.len();
            }
        }
    }
    (count, bytes)
}

/// A bounded comparison, or one as long as you like: `CTXWEAVE_FUZZ_SECONDS=600 cargo test --release -p ctxweave-tests --
/// --nocapture random_texts`. `CTXWEAVE_FUZZ_SEED` begins elsewhere; a failure prints the text.
#[test]
#[expect(clippy::disallowed_methods, clippy::disallowed_types, reason = "it may run for a given time")]
fn random_texts_of_every_kind_have_the_pieces_tokens_and_counts_of_tiktoken() {
    let mut seed = setting("CTXWEAVE_FUZZ_SEED").unwrap_or(1);
    let seconds = setting("CTXWEAVE_FUZZ_SECONDS").unwrap_or(0);
    let start = std::time::Instant::now();
    let (mut count, mut bytes) = compare_random(seed, 1_500);
    while start.elapsed().as_secs() < seconds {
        seed += 1;
        let done = compare_random(seed, 500);
        (count, bytes) = (count + done.0, bytes + done.1);
    }
    assert!(count >= 20_000, "only {count} texts were compared");
    println!("{count} texts, {bytes} bytes, seeds up to {seed}: no difference");
}

/// Counts are those of a vocabulary that remembers nothing: twice in a row, short texts and long ones, and more different
/// texts than there is room for.
#[test]
fn caches_change_no_count() {
    for pair in PAIRS.iter() {
        let warm = CachingCounter::new(pair.ours.clone());
        let mut random = Random(7);
        let kinds = (0..generate::KINDS.len()).cycle().take(6_000);
        let texts: Vec<String> = kinds.map(|kind| generate::text(kind, &mut random, &pair.tokens, &REAL)).collect();
        let texts = || texts.iter().map(String::as_str).chain(chunks(&REAL, 3_000)).chain([REAL.as_str()]);
        let remembered: usize = texts().map(|text| pair.encoding.split(text).count()).sum();
        assert!(remembered > 300_000, "{remembered} pieces");
        for text in texts().flat_map(|text| [text, text]) {
            let count = pair.ours.count(text);
            assert_eq!(warm.count(text), count, "{text:?}");
            assert_eq!(warm.count_up_to(text, count), Some(count));
            assert_eq!(warm.count_up_to(text, count.saturating_sub(1)), Some(count).filter(|&count| count == 0));
        }
    }
}

/// Cuts a text about every `size` bytes.
fn chunks(text: &str, size: usize) -> Vec<&str> {
    let mut chunks = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let mut at = size.min(rest.len());
        while !rest.is_char_boundary(at) {
            at += 1;
        }
        let (chunk, after) = rest.split_at(at);
        chunks.push(chunk);
        rest = after;
    }
    chunks
}

#[test]
fn real_text_has_the_pieces_tokens_and_counts_of_tiktoken() {
    for pair in PAIRS.iter() {
        for chunk in chunks(&REAL, 20_000) {
            pair.check(chunk);
        }
        for chunk in chunks(&more_real_text(), 50_000) {
            pair.check(chunk);
        }
    }
}

fn floor(text: &str, mut at: usize) -> usize {
    at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

#[test]
fn every_token_that_is_text_is_as_tiktoken_has_it() {
    for pair in PAIRS.iter() {
        for text in &pair.tokens {
            let expected = pair.reference.encode_ordinary(text);
            assert_eq!(pair.ours.encode(text), expected, "{text:?}");
            assert_eq!(pair.ours.count(text) as usize, expected.len(), "{text:?}");
        }
    }
}

#[test]
fn every_character_is_as_tiktoken_has_it() {
    for pair in PAIRS.iter() {
        let mut text = String::new();
        for character in crate::generate::characters() {
            // Every character once, a letter and a space between them, which show its class.
            write!(text, "{character}aB{character} ").unwrap();
            if text.len() > 20_000 || character == char::MAX {
                pair.check(&text);
                text.clear();
            }
        }
    }
}

#[test]
fn special_cases() {
    let [o200k, cl100k, ..] = &PAIRS[..] else { panic!("two encodings") };
    let seven = "<|endoftext|>";
    assert_eq!((o200k.ours.count(seven), cl100k.ours.count(seven)), (7, 7));
    for pair in PAIRS.iter() {
        assert_eq!(pair.ours.count(""), 0);
        assert_eq!(pair.ours.count_up_to("", 0), Some(0));
        assert_eq!(pair.ours.count_up_to("hello", 0), None);
        assert_eq!(pair.ours.encode(""), Vec::<u32>::new());
        for item in [
            "\u{feff}",
            "\u{85}",
            "\u{2028}",
            "\u{180e}",
            "\u{17f}",
            "'\u{17f}",
            "\u{378}",
            "\0",
            "\u{10ffff}",
            "\u{fffd}",
            "ABC\u{301}",
            "\u{301}ABC",
            "\u{301}\u{301}ABC",
            "\u{301}'s",
            "\u{aa}BC",
            "!\u{301}",
            " \u{301}",
            "a'\u{17f}s",
            "DON'T",
            "don't",
            "'tis",
            "'sure",
            "x\n\n/y",
            "!\n\n/y",
            "!/\r\n/",
            "\n ",
            " \n",
            "\n  \n  a",
            "   ",
            "   a",
            "\t\ta",
            "\t!",
            " \t!",
            "\u{a0}!",
            "\u{3000}\u{4e2d}",
            "1234567",
            "\u{663}\u{664}a",
            "\u{2167}1\u{bd}2",
        ] {
            pair.check(item);
            for around in ["a", "A", " ", "\n", "!", "1", "\u{4e2d}", "\u{301}"] {
                pair.check(&format!("{around}{item}{around}"));
                pair.check(&format!("{item}{around}{item}"));
            }
        }
    }
}

#[test]
fn runs_around_the_lengths_where_the_code_changes() {
    // Eight-byte words, sixteen-byte keys, 64 parts, nodes of 16: every length up to well beyond.
    for pair in PAIRS.iter() {
        for unit in
            ["a", "A", "aB", "e", " ", "\n", "=", "x1", "\u{e9}", "\u{436}", "\u{4e2d}", "\u{3042}", "\u{1f600}"]
        {
            let mut text = String::new();
            for _ in 0..150 {
                text.push_str(unit);
                pair.check(&text);
            }
            for count in [255, 256, 257, 258, 4095, 4096, 4097, 4098, 5000] {
                pair.check(&unit.repeat(count));
            }
        }
    }
}

#[test]
fn counts_add_up_at_paragraph_breaks_if_declared() {
    let mut random = Random(7);
    let mut said = 0;
    let mut broken_at_slash = 0;
    for _ in 0..3_000 {
        for kind in 0..generate::KINDS.len() {
            for pair in PAIRS.iter() {
                let before = generate::text(kind, &mut random, &pair.tokens, &REAL);
                let before = format!("{}\n\n", before.trim_end());
                let next = generate::text(random.below(8), &mut random, &pair.tokens, &REAL);
                let mut next = next.trim_start().to_owned();
                if random.below(8) == 0 {
                    next.insert(0, '/');
                }
                let sum = pair.ours.count(&before) + pair.ours.count(&next);
                let joined = pair.ours.count(&format!("{before}{next}"));
                if before.trim_end().is_empty() || next.is_empty() {
                    continue;
                }
                if pair.ours.is_additive_before(&next) {
                    said += 1;
                    assert_eq!(joined, sum, "{}: {before:?} then {next:?}", pair.encoding.name());
                } else if pair.encoding == Encoding::O200kBase {
                    assert!(next.starts_with('/'));
                    broken_at_slash += usize::from(joined != sum);
                } else {
                    assert!(matches!(pair.encoding, Encoding::P50kBase | Encoding::R50kBase));
                }
            }
        }
    }
    assert!(said > 10_000 && broken_at_slash > 0, "{said} {broken_at_slash}");
}

#[test]
fn a_damaged_asset_is_an_error() {
    for pair in PAIRS.iter() {
        let whole = &pair.asset;
        // After a good load a damaged asset is rejected too, and the loaded one stays.
        let mut loaded = Tokenizers::default();
        loaded.load(pair.encoding.name(), whole).unwrap();
        loaded.load(pair.encoding.name(), whole).unwrap();
        let mut refused = |asset: &[u8], what: &str| {
            let again = loaded.load(pair.encoding.name(), asset).expect_err(what);
            assert_eq!(again.code(), Code::InvalidVocabulary, "{what}");
            assert_eq!(loaded.get(pair.encoding.name()).unwrap().count("a b"), 2, "{what}");
            let error = Vocabulary::load(pair.encoding, asset).expect_err(what);
            assert_eq!(error.code(), Code::InvalidVocabulary, "{what}");
            assert!(error.details().get("reason").is_some() && error.details().get("tokenizer").is_some(), "{what}");
        };
        let mut random = Random(3);
        let sample: Vec<usize> = (0..300).chain((0..200).map(|_| random.below(whole.len()))).collect();
        for &len in &sample {
            refused(&whole[..len], "cut off");
        }
        refused(&whole[..whole.len() - 1], "cut off by one");
        refused(&[whole.as_slice(), &[0]].concat(), "too long");
        let mut damaged = whole.clone();
        for &at in sample.iter().chain([&(whole.len() - 1)]) {
            let flip = 1 << random.below(8);
            damaged[at] ^= flip;
            refused(&damaged, "a flipped bit");
            damaged[at] ^= flip;
        }
        for _ in 0..50 {
            let (from, to) = (random.below(whole.len()), random.below(whole.len()));
            if whole[from] != whole[to] {
                damaged.swap(from, to);
                refused(&damaged, "two bytes swapped");
                damaged.swap(from, to);
            }
        }
        assert_eq!(&damaged, whole);
        for from in [312, whole.len() / 2, whole.len() - 1000] {
            damaged[from..].fill(0);
            // In the smaller vocabularies the last plane is nothing else.
            if &damaged != whole {
                refused(&damaged, "zeros from some place on");
            }
            damaged.copy_from_slice(whole);
        }
        for other in PAIRS.iter().filter(|other| other.encoding != pair.encoding) {
            refused(&other.asset, "another encoding");
        }
    }
}

#[test]
fn a_vocabulary_that_breaks_a_condition_is_not_packed() {
    let bytes: Vec<Vec<u8>> = (0..=255).map(|byte| vec![byte]).collect();
    let with = |tokens: &[&[u8]]| {
        let tokens: Vec<Vec<u8>> = bytes.iter().cloned().chain(tokens.iter().map(|token| token.to_vec())).collect();
        pack(Encoding::O200kBase, &tokens)
    };
    assert!(with(&[b"ab", b"abc", b"abcd", b"cd"]).is_ok());
    for (tokens, why) in [
        (&[&b"ab"[..], b"ab"][..], "equal tokens"),
        (&[b"abc"], "made of three"),
        (&[b"abc", b"ab"], "a part that ranks higher"),
        (&[b"ab", b"cd", b"bc", b"xabcd", b"abcd"], "a token that encoding does not reach"),
        (&[b"a\xff"], "the byte 255"),
        (&[b""], "empty"),
        (&[b"z"], "a byte twice"),
    ] {
        let error = with(tokens).expect_err(why);
        assert_eq!(error.code(), Code::InvalidVocabulary, "{why}");
    }
    assert!(pack(Encoding::O200kBase, &bytes[1..]).is_err());
    let mut swapped = bytes.clone();
    swapped[7] = vec![8];
    assert!(pack(Encoding::O200kBase, &swapped).is_err());
}

/// A million of any character is counted in roughly linear time.
#[test]
fn a_million_of_one_thing_is_counted() {
    let mut random = Random(11);
    let letters: String = (0..1_000_000).map(|_| (b'a' + random.below(26) as u8) as char).collect();
    let ideographs: String =
        (0..1_000_000).map(|_| char::from_u32(0x4e00 + random.below(0x5000) as u32).unwrap()).collect();
    let texts = ["a", " ", "\n", "\u{4e2d}", "\u{1f600}", "\u{301}", "A", "!", "7", "\u{e9}", "a\u{301}"]
        .map(|unit| unit.repeat(1_000_000));
    for pair in PAIRS.iter() {
        for text in texts.iter().chain([&letters, &ideographs]) {
            let count = pair.ours.count(text);
            assert!(count > 0 && count as usize <= text.len());
        }
        // What the reference can do too.
        for text in [&texts[0], &letters] {
            assert_eq!(pair.ours.count(text) as usize, pair.reference.encode_ordinary(text).len());
        }
    }
}

#[test]
fn pieces_are_the_whole_text_and_need_no_vocabulary() {
    for encoding in Encoding::ALL {
        assert_eq!(Encoding::from_name(encoding.name()), Some(*encoding));
        let text = &REAL[..floor(&REAL, 100_000)];
        assert_eq!(encoding.split(text).collect::<String>(), text);
        assert_eq!(encoding.split("").next(), None);
    }
    assert_eq!(Encoding::from_name("o300k_base"), None);
}

/// Encodings that share an asset have the same tokens, and their own special ones: all that the reference has.
#[test]
fn every_encoding_has_the_special_tokens_of_tiktoken() {
    let mut tokenizers = Tokenizers::default();
    for &encoding in Encoding::ALL {
        let pair = PAIRS.iter().find(|pair| pair.encoding == encoding.base()).unwrap();
        tokenizers.load(encoding.name(), &pair.asset).unwrap();
        let counter = tokenizers.get(encoding.name()).unwrap();
        assert_eq!(counter.name(), encoding.name());
        let codec = counter.codec().unwrap();
        let reference = reference(encoding);
        let specials = codec.specials();
        assert_eq!(specials.len(), reference.special_tokens().len(), "{}", encoding.name());
        for &(text, special) in &specials {
            assert_eq!(reference.encode_with_special_tokens(text), [special], "{text}");
            let mut bytes = Vec::new();
            assert!(!codec.append_token(special, &mut bytes), "{text}");
        }
        let text: String = specials.iter().take(30).map(|(text, _)| format!("a {text}b\n\n1234 ")).collect();
        let allowed = specials.iter().map(|&(text, special)| (text.to_owned(), special)).collect();
        let tokens = ctxweave::tokens::codec::encode(codec, &text, &allowed);
        assert_eq!(tokens, reference.encode_with_special_tokens(&text), "{}", encoding.name());
        assert_eq!(ctxweave::tokens::codec::decode(codec, &tokens).unwrap(), text.as_bytes());
    }
}
