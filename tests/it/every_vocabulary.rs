//! The guarantees of tokens, cuts, pieces and streams, in every vocabulary: OpenAI's encodings, and of each kind that open models
//! have one that normalizes and one that does not.

use std::rc::Rc;

use ctxweave::text::utf16_len;
use ctxweave::tokens::codec::{self, Specials};
use ctxweave::tokens::cut::{Boundary, Side, Split, Truncate, split, truncate};
use ctxweave::tokens::{Counter, IncrementalCount, TokenStream, Tokenizers};
use proptest::prelude::*;
use unicode_normalization::UnicodeNormalization as _;

use crate::bpe::every_vocabulary;
use crate::bpe::generate::Random;
use crate::generate::{cases, text};

const BOUNDARIES: [Boundary; 5] =
    [Boundary::Token, Boundary::Grapheme, Boundary::Word, Boundary::Line, Boundary::Sentence];
const SIDES: [Side; 3] = [Side::End, Side::Start, Side::Middle];

/// The counters, and whether they normalize.
fn counters() -> Vec<(Rc<dyn Counter>, bool)> {
    let tokenizers: Tokenizers = every_vocabulary();
    let open = (0..9).flat_map(|splitter| [format!("open-{splitter}"), format!("open-{splitter}-nfc")]);
    let openai = ["o200k_base", "o200k_harmony", "cl100k_base", "p50k_base", "p50k_edit", "r50k_base", "gpt2"];
    let names = openai.into_iter().map(str::to_owned).chain(open);
    names.map(|name| (tokenizers.get(&name).unwrap(), name.ends_with("-nfc"))).collect()
}

fn some_text() -> impl Strategy<Value = String> {
    let more = prop::sample::select(vec![
        "",
        "e\u{301}",
        "\u{1100}\u{1161}",
        "\u{212b}",
        ".:.:.",
        "中中中",
        "don't",
        "x1234567",
    ]);
    prop::collection::vec((text(), more), 1..5)
        .prop_map(|parts| parts.into_iter().map(|(text, more)| format!("{text}{more}")).collect::<Vec<_>>().join("\n"))
}

/// What a stream counts after each character is what the text so far counts.
fn streams(counter: &Rc<dyn Counter>, text: &str) -> Result<(), TestCaseError> {
    let mut stream = TokenStream::new(Rc::clone(counter));
    for (at, character) in text.char_indices() {
        let end = at + character.len_utf8();
        let tokens = stream.append(&text[at..end], "");
        prop_assert_eq!(tokens, counter.count(&text[..end]), "{} {} {:?}", counter.name(), end, text);
    }
    Ok(())
}

/// Characters that vocabularies have no tokens for, or only parts of: of each script several, so that runs of one and of few come about.
const RARE: [&str; 16] = [
    "\u{13192}\u{13000}\u{1342e}\u{13191}",
    "뷁쀍꿻힣쵏됬",
    "\u{20000}\u{2a6d6}\u{2f800}\u{30000}",
    "㐀䶵龦鿿",
    "😀🫠🦄🪬🧿",
    "\u{1f3fb}\u{200d}\u{fe0f}\u{1f9d1}",
    "\u{301}\u{316}\u{20e3}\u{1ab0}\u{e0100}",
    "ᄀ각\u{a960}\u{d7b0}",
    "\u{12000}\u{12345}\u{1d15e}\u{10330}",
    "ꆀꏿ\u{1b000}\u{16800}",
    "ཀྵ༁ཱིྀ",
    "ɐʬꜿɮᵿ",
    "\u{10ffff}\u{e000}\u{f8ff}\u{fffd}",
    "ꯀ꯭ꦀ᠀ᬀ",
    "٠۹०𝟘𞥐",
    "\u{2028}\u{85}\u{3000}\u{1680}",
];

/// A run of a few characters of one script, or of two.
fn run() -> impl Strategy<Value = String> {
    let alphabet = (0..RARE.len(), 0..RARE.len(), any::<bool>());
    (alphabet, 1_usize..4, 1_usize..220, any::<u64>()).prop_map(|((one, other, mixed), few, most, seed)| {
        let of = |at: usize| RARE[at].chars().cycle().skip(seed as usize % 7).take(few);
        let alphabet: Vec<char> = of(one).chain(of(other).filter(|_| mixed)).collect();
        let mut random = Random(seed);
        (0..most).map(|_| alphabet[random.below(alphabet.len())]).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(12)))]

    #[test]
    fn tokens_are_the_text_as_normalized_and_spans_tile_it(text in some_text()) {
        for (counter, normalizes) in counters() {
            let codec = counter.codec().unwrap();
            let tokens = codec::encode(codec, &text, &Specials::new());
            let expected: String = if normalizes { text.nfc().collect() } else { text.clone() };
            let decoded = codec::decode(codec, &tokens).unwrap();
            prop_assert_eq!(String::from_utf8(decoded).unwrap(), expected, "{}", counter.name());
            prop_assert_eq!(tokens.len(), counter.count(&text) as usize, "{}", counter.name());
            let spans = codec::spans(codec, &text, &Specials::new());
            prop_assert_eq!(&spans.ids, &tokens);
            prop_assert_eq!(spans.ends.len(), tokens.len());
            prop_assert!(spans.ends.is_sorted());
            prop_assert_eq!(spans.ends.last().map_or(0, |&end| end as usize), utf16_len(&text));
        }
    }

    #[test]
    fn cuts_and_splits_hold_by_a_recount(text in some_text(), most in 12..60_u32, overlap in 0..30_u32, marker in prop::sample::select(vec!["", "…"])) {
        for (counter, _) in counters() {
            let counter = counter.as_ref();
            for boundary in BOUNDARIES {
                for side in SIDES {
                    let left = truncate(&text, most, Truncate { side, boundary, marker }, counter);
                    let whole = [left.head, left.marker, left.tail].concat();
                    prop_assert_eq!(counter.count(&whole), left.tokens, "{} {:?} {:?} {:?}", counter.name(), side, boundary, left);
                    prop_assert!(left.tokens <= most);
                    prop_assert!(text.starts_with(left.head) && text.ends_with(left.tail));
                    prop_assert_eq!(left.truncated, counter.count(&text) > most);
                }
                let overlap = overlap.min(most / 2);
                let Ok(pieces) = split(&text, Split { max_tokens: most, overlap, boundary, markdown: false }, counter) else { continue };
                let mut end = 0;
                for piece in pieces {
                    let case = || format!("{} {boundary:?} {most} {overlap} {piece:?} {text:?}", counter.name());
                    prop_assert_eq!(counter.count(&text[piece.start..piece.end]), piece.tokens, "{}", case());
                    prop_assert!(piece.tokens <= most && piece.start <= end && piece.end > end, "{}", case());
                    prop_assert!(counter.count(&text[piece.start..end]) <= overlap, "{}", case());
                    end = piece.end;
                }
                prop_assert_eq!(end, text.len());
            }
        }
    }

    #[test]
    fn runs_of_rare_characters_grow_exactly(runs in prop::collection::vec(run(), 1..4), seed in any::<u64>()) {
        let text = runs.concat();
        let mut random = Random(seed);
        for name in ["o200k_base", "cl100k_base", "r50k_base", "open-4", "heuristic"] {
            let counter = every_vocabulary().get(name).unwrap();
            streams(&counter, &text)?;
            // In pieces of any length.
            let (mut stream, mut from) = (TokenStream::new(Rc::clone(&counter)), 0);
            while from < text.len() {
                let most = 1 << random.below(9);
                let end = text.ceil_char_boundary((from + 1 + random.below(most)).min(text.len()));
                let tokens = stream.append(&text[from..end], "");
                prop_assert_eq!(tokens, counter.count(&text[..end]), "{} {} {:?}", name, end, &text);
                from = end;
            }
        }
    }

    #[test]
    fn streams_count_what_there_is_so_far(text in some_text()) {
        for (counter, _) in counters() {
            streams(&counter, &text)?;
        }
    }
}

/// A run of each of many characters around the length from which a piece is long, grown by one at a time.
#[test]
fn a_run_of_any_character_grows_exactly() {
    for name in ["o200k_base", "cl100k_base"] {
        let counter = every_vocabulary().get(name).unwrap();
        let characters = (0x80..0x3_2000).step_by(13).chain([0x13192, 0xbdc1, 0xd7a3]);
        for character in characters.filter_map(char::from_u32) {
            let first = 240 / character.len_utf8();
            let mut text = String::from_iter(std::iter::repeat_n(character, first));
            let mut incremental = IncrementalCount::default();
            counter.count_incremental(&text, &mut incremental);
            for _ in 0..40 {
                text.push(character);
                let count = counter.count_incremental(&text, &mut incremental);
                assert_eq!(count, counter.count(&text), "{name} {:x} {}", u32::from(character), text.chars().count());
            }
        }
    }
}

/// Runs that are one piece, a character at a time, and what ends them.
#[test]
fn long_pieces_that_grow_count_what_they_count_whole() {
    let mut random = Random(11);
    let mut run = |alphabet: &str, most: usize| -> String {
        let alphabet: Vec<char> = alphabet.chars().collect();
        (0..most).map(|_| alphabet[random.below(alphabet.len())]).collect()
    };
    let letters: String = ('a'..='z').collect();
    let texts = [
        run("a", 700),
        run(&letters, 700),
        run(&letters.to_uppercase(), 500) + "bc d",
        run("ab", 600) + "'s" + &run("ab", 600) + " x",
        run("中文字一二三", 400) + "。a",
        run("กำขะ", 400) + "A",
        run("\u{301}\u{302}\u{316}", 400) + "a",
        "a".to_owned() + &run("\u{301}\u{302}\u{316}", 400) + "b\u{301}",
        run(" ", 700) + "x",
        run("\n", 600) + &run(" ", 600) + "y\n",
        "!".to_owned() + &run("\n", 600) + "/ z",
        run(".:-/", 600) + "\n/\n" + &run(" \n", 400),
        run("0123456789", 600) + "a",
        run("ab", 400) + &run("AB", 400) + &run(" ", 400) + &run("!", 400),
        run("あいう", 300) + &run("ab", 300),
        run("🇳🇱👩‍🚀", 300),
        run("\u{200b}\u{ad}", 300) + "a",
    ];
    for (counter, _) in counters() {
        for text in &texts {
            streams(&counter, text).unwrap();
        }
    }
}
