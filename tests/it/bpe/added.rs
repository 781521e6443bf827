//! Added tokens that every text may contain, such as the white space of GPT-NeoX, compared with the package `tokenizers` of
//! PyPI: its tokens are recorded in added.json, which benches/tokens/added_tokens.py writes.

use ctxweave::tokens::bpe::vocabulary_of;
use ctxweave::tokens::codec::{self, Codec, Specials};
use ctxweave::tokens::cut::{Boundary, Side, Split, Truncate, split, truncate};
use ctxweave::tokens::{Counter, TokenStream, Tokenizers};
use serde_json::{Value, json};
use unicode_normalization::UnicodeNormalization as _;

use super::generate::Random;

struct Recorded {
    name: String,
    tokenizers: Tokenizers,
    form: String,
    cases: Vec<Case>,
}

struct Case {
    text: String,
    plain: Vec<u32>,
    special: Vec<u32>,
}

#[expect(clippy::disallowed_methods, reason = "where a longer comparison is comes from the command line")]
fn recorded() -> Vec<Recorded> {
    let file = match std::env::var_os("CTXWEAVE_ADDED_TOKENS") {
        Some(path) => std::fs::read_to_string(path).unwrap(),
        None => include_str!("added.json").to_owned(),
    };
    let ids = |ids: &Value| ids.as_array().map(|ids| ids.iter().map(|id| id.as_u64().unwrap() as u32).collect());
    let read = |one: &Value| {
        let name = one["name"].as_str().unwrap().to_owned();
        let mut tokenizers = Tokenizers::default();
        tokenizers.load(&name, &vocabulary_of(one["file"].to_string().as_bytes()).unwrap()).unwrap();
        let case = |case: &Value| {
            let plain: Vec<u32> = ids(&case["plain"]).unwrap();
            let special = ids(&case["special"]).unwrap_or_else(|| plain.clone());
            Case { text: case["text"].as_str().unwrap().to_owned(), plain, special }
        };
        let form = one["file"]["normalizer"]["type"].as_str().unwrap_or("").to_owned();
        Recorded { name, tokenizers, form, cases: one["cases"].as_array().unwrap().iter().map(case).collect() }
    };
    let files: Value = serde_json::from_str(&file).unwrap();
    files.as_array().unwrap().iter().map(read).collect()
}

impl Recorded {
    fn counter(&self) -> std::rc::Rc<dyn Counter> {
        self.tokenizers.get(&self.name).unwrap()
    }

    fn normal(&self, text: &str) -> String {
        match self.form.as_str() {
            "NFC" => text.nfc().collect(),
            "NFKC" => text.nfkc().collect(),
            _ => text.to_owned(),
        }
    }
}

fn all_specials(codec: &dyn Codec) -> Specials {
    Specials::allowed(codec, &|_| true)
}

#[test]
fn added_tokens_are_those_of_the_reference() {
    for one in recorded() {
        let (name, counter) = (&one.name, one.counter());
        let codec = counter.codec().unwrap();
        let mut found = 0;
        for Case { text, plain, special } in &one.cases {
            assert_eq!(&codec::encode(codec, text, &Specials::new()), plain, "{name}: {text:?}");
            assert_eq!(
                &codec::encode(codec, text, &all_specials(codec)),
                special,
                "{name}: {text:?} with special tokens"
            );
            assert_eq!(counter.count(text) as usize, plain.len(), "{name}: {text:?}");
            for limit in [0, plain.len() / 2, plain.len()] {
                let expected = Some(plain.len() as u32).filter(|&count| count <= limit as u32);
                assert_eq!(counter.count_up_to(text, limit as u32), expected, "{name}: {text:?} up to {limit}");
            }
            found += codec
                .text_tokens()
                .iter()
                .map(|token| plain.iter().filter(|id| **id == token.id).count())
                .sum::<usize>();
        }
        assert!(
            found > one.cases.len() / 2 && one.cases.iter().any(|case| case.special != case.plain),
            "{name}: {found}"
        );
    }
}

#[test]
fn added_tokens_decode_and_have_spans() {
    for one in recorded() {
        let (name, counter) = (&one.name, one.counter());
        let codec = counter.codec().unwrap();
        for Case { text, plain, special } in &one.cases {
            let decoded = String::from_utf8(codec::decode(codec, special).unwrap()).unwrap();
            assert_eq!(one.normal(&decoded), one.normal(text), "{name}: {text:?}");
            for (specials, ids) in [(Specials::new(), plain), (all_specials(codec), special)] {
                let spans = codec::spans(codec, text, &specials);
                assert_eq!(&spans.ids, ids);
                assert!(spans.ends.is_sorted() && spans.ends.len() == ids.len(), "{name}: {text:?}");
                assert_eq!(
                    spans.ends.last().copied().unwrap_or(0),
                    text.encode_utf16().count() as u32,
                    "{name}: {text:?}"
                );
            }
            // Added tokens that are found in the original text end where they end there.
            let spans = codec::spans(codec, text, &Specials::new());
            let units: Vec<u16> = text.encode_utf16().collect();
            for token in codec.text_tokens().iter().filter(|token| !token.normalized) {
                for at in (0..plain.len()).filter(|&at| plain[at] == token.id) {
                    let end = spans.ends[at] as usize;
                    let start = end - token.text.encode_utf16().count();
                    assert_eq!(String::from_utf16(&units[start..end]).unwrap(), token.text, "{name}: {text:?}");
                }
            }
        }
    }
}

#[test]
fn added_tokens_are_counted_as_they_arrive() {
    let mut random = Random(11);
    for one in recorded() {
        let (name, counter) = (&one.name, one.counter());
        let mut rest = String::new();
        for (at, Case { text, .. }) in one.cases.iter().enumerate() {
            let mut stream = TokenStream::new(one.counter());
            let most = [1, 3, 12][at % 3];
            let (mut so_far, mut delta) = (String::new(), String::new());
            // A long piece comes first in some.
            let long = ["", "x", " ", "ab"][at / 3 % 4].repeat([0, 300, 700][random.below(3)]);
            for character in long.chars().chain(text.chars()) {
                delta.push(character);
                if random.below(most) == 0 {
                    so_far.push_str(&delta);
                    assert_eq!(stream.append(&delta, ""), counter.count(&so_far), "{name}: {so_far:?}");
                    delta.clear();
                }
            }
            rest.push_str(text);
        }
        // The end of the text is all that a stream keeps.
        let mut stream = TokenStream::new(one.counter());
        for chunk in rest.chars().collect::<Vec<char>>().chunks(7) {
            stream.append(&chunk.iter().collect::<String>(), "");
            assert!(stream.kept() < 1000, "{name}: {} bytes", stream.kept());
        }
        assert_eq!(stream.count(), counter.count(&rest), "{name}");
    }
}

#[test]
fn texts_with_added_tokens_are_cut_to_size() {
    for one in recorded() {
        let (name, counter) = (&one.name, one.counter());
        let counter = &*counter;
        for (at, Case { text, plain, .. }) in one.cases.iter().enumerate() {
            let limit = plain.len() as u32 / 2 + 1;
            for boundary in [Boundary::Token, Boundary::Grapheme, Boundary::Word, Boundary::Line] {
                let side = [Side::End, Side::Start, Side::Middle][at % 3];
                let marker = ["", "…", "  "][at / 3 % 3];
                let cut = truncate(text, limit, Truncate { side, boundary, marker }, counter);
                let joined = [cut.head, cut.marker, cut.tail].concat();
                assert!(cut.tokens <= limit && cut.tokens == counter.count(&joined), "{name}: {text:?} {boundary:?}");
                let options = Split { max_tokens: 12, overlap: [0, 3][at % 2], boundary, markdown: at % 4 == 3 };
                let Ok(pieces) = split(text, options, counter) else { continue };
                assert_eq!(pieces.last().map_or(0, |piece| piece.end), text.len());
                for piece in pieces {
                    let cut = &text[piece.start..piece.end];
                    assert!(piece.tokens <= 12 && piece.tokens == counter.count(cut), "{name}: {cut:?} {boundary:?}");
                }
            }
        }
    }
}

#[test]
fn counts_with_added_tokens_add_up_if_declared() {
    let mut said = Vec::new();
    for one in recorded() {
        let counter = one.counter();
        for pair in one.cases.windows(2) {
            let (before, next) = (format!("{}\n\n", pair[0].text.trim_end()), pair[1].text.trim_start());
            if !before.trim().is_empty() && !next.is_empty() && counter.is_additive_before(next) {
                let joined = counter.count(&format!("{before}{next}"));
                assert_eq!(joined, counter.count(&before) + counter.count(next), "{}: {before:?} {next:?}", one.name);
                said.push(one.name.clone());
            }
        }
    }
    // GPT-2's pattern never adds up, and a token of the others is a line break with a `#`.
    said.dedup();
    assert_eq!(said, ["qwen3.5"]);
}

#[test]
fn added_tokens_that_are_not_supported_are_named() {
    let files: Value = serde_json::from_str(include_str!("added.json")).unwrap();
    let good = &files[0]["file"];
    assert!(vocabulary_of(good.to_string().as_bytes()).is_ok());
    for (pointer, value, path, words) in [
        ("/added_tokens/5/lstrip", json!(true), "added_tokens[5]", "`lstrip`"),
        ("/added_tokens/5/rstrip", json!(true), "added_tokens[5]", "`rstrip`"),
        ("/added_tokens/5/single_word", json!(true), "added_tokens[5]", "`single_word`"),
        ("/added_tokens/5/content", json!(""), "added_tokens[5].content", "without a visible character"),
        ("/added_tokens/5/special", json!(true), "added_tokens[5].content", "without a visible character"),
    ] {
        let mut file = good.clone();
        *file.pointer_mut(pointer).unwrap() = value;
        let error = vocabulary_of(file.to_string().as_bytes()).unwrap_err();
        assert_eq!(error.code(), ctxweave::Code::InvalidInput, "{error}");
        assert_eq!(error.details()["path"], path, "{error}");
        assert!(error.message().contains(words), "{error}");
    }
}
