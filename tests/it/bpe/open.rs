//! Vocabularies of open models, made of `tokenizer.json` files: of small ones that are made here, and of real ones where
//! benches/tokens/reference.py has fetched them.

use std::collections::BTreeMap;
use std::path::Path;

use ctxweave::tokens::bpe::{Vocabulary, vocabulary_of};
use ctxweave::tokens::codec::{self, Specials};
use ctxweave::tokens::{Counter, TokenStream, Tokenizers};
use fancy_regex::Regex;
use serde_json::{Value, json};
use unicode_normalization::UnicodeNormalization as _;

use super::generate::{self, Random};
use super::{REAL, chunks};

const LLAMA3: &str = concat!(
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}",
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
);
const QWEN2: &str = concat!(
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}",
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
);
const QWEN35: &str = concat!(
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}",
    r"| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
);
const GPT4: &str = concat!(
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}",
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+",
);
const TEKKEN: &str = concat!(
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+",
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*",
    r"|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
);
const GPT2: &str = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+";
const DEEPSEEK: [&str; 3] = [
    r"\p{N}{1,3}",
    "[一-龥\u{3040}-ゟ゠-ヿ]+",
    concat!(
        r##"[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"##,
        r"| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    ),
];

/// The stages of each splitter that is known, and its `pre_tokenizer`.
fn splitters() -> Vec<(Vec<&'static str>, Value)> {
    let byte_level =
        |use_regex: bool| json!({ "type": "ByteLevel", "add_prefix_space": false, "use_regex": use_regex });
    let split = |pattern: &str| json!({ "type": "Split", "pattern": { "Regex": pattern }, "behavior": "Isolated", "invert": false });
    let sequence = |stages: Vec<Value>| json!({ "type": "Sequence", "pretokenizers": stages });
    let mut all: Vec<(Vec<&str>, Value)> = [LLAMA3, QWEN2, QWEN35, GPT4, TEKKEN, tiktoken_rs::O200K_BASE_PAT_STR, GPT2]
        .into_iter()
        .map(|pattern| (vec![pattern], sequence(vec![split(pattern), byte_level(false)])))
        .collect();
    all.push((vec![GPT2], byte_level(true)));
    let digits = json!({ "type": "Digits", "individual_digits": true });
    all.push((vec![r"\p{N}", GPT2], sequence(vec![digits, byte_level(true)])));
    let stages = DEEPSEEK.map(split).into_iter().chain([byte_level(false)]).collect();
    all.push((DEEPSEEK.to_vec(), sequence(stages)));
    all
}

/// The pieces of a text: each stage cuts what the one before has left, at its matches and between them.
fn pieces<'t>(stages: &[Regex], text: &'t str) -> Vec<&'t str> {
    let mut pieces = vec![text];
    for stage in stages {
        let mut cut = Vec::new();
        for piece in pieces {
            let mut from = 0;
            for found in stage.find_iter(piece) {
                let found = found.unwrap();
                cut.extend([&piece[from..found.start()], found.as_str()]);
                from = found.end();
            }
            cut.push(&piece[from..]);
        }
        cut.retain(|piece| !piece.is_empty());
        pieces = cut;
    }
    pieces
}

/// A byte as byte-level tokenizers write it.
fn written(byte: u8) -> char {
    let visible = |byte: u8| matches!(byte, 0x21..=0x7e | 0xa1..=0xac | 0xae..=0xff);
    match visible(byte) {
        true => char::from(byte),
        false => char::from_u32(0x100 + (0..byte).filter(|&byte| !visible(byte)).count() as u32).unwrap(),
    }
}

fn write_token(token: &[u8]) -> String {
    token.iter().map(|&byte| written(byte)).collect()
}

/// A tokenizer, as a file and as what it does.
struct Tiny {
    file: Value,
    stages: Vec<Regex>,
    vocab: BTreeMap<Vec<u8>, u32>,
    merges: BTreeMap<(Vec<u8>, Vec<u8>), usize>,
    ignores_merges: bool,
    normalizes: bool,
}

impl Tiny {
    /// Of further tokens in the order of their ranks: all pairs that make one merge, as where a vocabulary of tiktoken's is
    /// converted. `first` is the number of the first byte.
    fn new(splitter: usize, tokens: &[Vec<u8>], first: u32, ignores_merges: bool, normalizes: bool) -> Self {
        let bytes = (0..=255).map(|byte| vec![byte]);
        let vocab: BTreeMap<Vec<u8>, u32> = bytes.chain(tokens.iter().cloned()).zip(first..).collect();
        let mut merges = Vec::new();
        for token in tokens {
            for middle in 1..token.len() {
                let (left, right) = token.split_at(middle);
                if vocab.contains_key(left) && vocab.contains_key(right) {
                    merges.push((left.to_vec(), right.to_vec()));
                }
            }
        }
        let (stages, pre_tokenizer) = splitters().swap_remove(splitter);
        let written: serde_json::Map<String, Value> =
            vocab.iter().map(|(token, id)| (write_token(token), json!(id))).collect();
        let listed: Vec<Value> = merges
            .iter()
            .enumerate()
            .map(|(at, (left, right))| match at % 2 {
                0 => json!([write_token(left), write_token(right)]),
                _ => json!(format!("{} {}", write_token(left), write_token(right))),
            })
            .collect();
        let file = json!({
            "version": "1.0",
            "added_tokens": [
                { "id": 1, "content": "<s>", "special": true },
                { "id": 2, "content": "<s>>", "special": false, "normalized": false },
                { "id": 70_000, "content": "[MASK]", "special": true, "lstrip": true },
            ],
            "normalizer": if normalizes { json!({ "type": "NFC" }) } else { Value::Null },
            "pre_tokenizer": pre_tokenizer,
            "post_processor": null,
            "decoder": { "type": "ByteLevel" },
            "model": {
                "type": "BPE", "dropout": null, "unk_token": null, "continuing_subword_prefix": "", "byte_fallback": false,
                "ignore_merges": ignores_merges, "vocab": written, "merges": listed,
            },
        });
        let stages = stages.into_iter().map(|stage| Regex::new(stage).unwrap()).collect();
        let merges = merges.into_iter().enumerate().map(|(at, pair)| (pair, at)).collect();
        Self { file, stages, vocab, merges, ignores_merges, normalizes }
    }

    fn vocabulary(&self) -> Result<Vocabulary, ctxweave::Error> {
        Vocabulary::load("tiny", &vocabulary_of(self.file.to_string().as_bytes())?)
    }

    /// What the reference does: of all neighbours that the list of merges has, the first in the list, the leftmost of equals.
    fn encode(&self, text: &str) -> Vec<u32> {
        let text: String = if self.normalizes { text.nfc().collect() } else { text.to_owned() };
        let mut ids = Vec::new();
        for piece in pieces(&self.stages, &text) {
            if let Some(id) = self.vocab.get(piece.as_bytes()).filter(|_| self.ignores_merges) {
                ids.push(*id);
                continue;
            }
            let mut parts: Vec<Vec<u8>> = piece.bytes().map(|byte| vec![byte]).collect();
            while let Some((_, at)) = parts
                .windows(2)
                .enumerate()
                .filter_map(|(at, pair)| Some((*self.merges.get(&(pair[0].clone(), pair[1].clone()))?, at)))
                .min()
            {
                let right = parts.remove(at + 1);
                parts[at].extend(right);
            }
            ids.extend(parts.iter().map(|part| self.vocab[part]));
        }
        ids
    }
}

/// A vocabulary of each kind of splitter, out of these tokens in the order of their ranks, with the number of the kind in its name: `open-0`, and with
/// `-nfc` those that normalize. Some have tokens that are found as whole pieces alone.
pub(crate) fn assets(tokens: &[Vec<u8>]) -> Vec<(String, Vec<u8>)> {
    let mut tokens: Vec<Vec<u8>> = tokens.iter().filter(|token| token.len() > 1).cloned().collect();
    // No merge makes these.
    tokens.extend([".:.:.", "中中中", " \u{301}\u{302}\u{303}"].map(|token| token.as_bytes().to_vec()));
    let assets = (0..splitters().len()).flat_map(|splitter| {
        [false, true].map(|normalizes| {
            let tiny = Tiny::new(splitter, &tokens, 1000, splitter % 2 == 0, normalizes);
            let asset = vocabulary_of(tiny.file.to_string().as_bytes()).unwrap();
            (format!("open-{splitter}{}", if normalizes { "-nfc" } else { "" }), asset)
        })
    });
    assets.collect()
}

const UNITS: [&str; 12] = ["a", "b", ".", ":", " ", "é", "e\u{301}", "中", "文", "1", "\n", "\u{1f600}"];

fn some_text(random: &mut Random, most: usize) -> String {
    (0..1 + random.below(most)).map(|_| UNITS[random.below(UNITS.len())]).collect()
}

/// Tokens over a few characters in any order of ranks: some are made of higher ones, some by no merge at all.
fn tokens(random: &mut Random) -> Vec<Vec<u8>> {
    let mut tokens: Vec<Vec<u8>> = Vec::new();
    for _ in 0..10 + random.below(60) {
        let mut token = match tokens.len() {
            len if len > 3 && random.below(2) == 0 => {
                [tokens[random.below(len)].clone(), tokens[random.below(len)].clone()].concat()
            }
            _ => some_text(random, 3).into_bytes(),
        };
        if random.below(8) == 0 {
            token.truncate(random.below(token.len()));
        }
        if token.len() > 1 && token.len() < 40 && !tokens.contains(&token) {
            tokens.push(token);
        }
    }
    for _ in 0..random.below(8) {
        let (one, other) = (random.below(tokens.len()), random.below(tokens.len()));
        tokens.swap(one, other);
    }
    tokens
}

#[test]
fn small_vocabularies_of_every_kind_have_the_tokens_of_the_reference() {
    let mut random = Random(5);
    let (mut refused, mut compared, mut whole, mut late) = (0, 0, 0, 0);
    for round in 0..400 {
        let splitter = round % splitters().len();
        let (ignores_merges, normalizes) = (random.below(4) > 0, random.below(3) == 0);
        let tiny = Tiny::new(splitter, &tokens(&mut random), [0, 3, 1000][random.below(3)], ignores_merges, normalizes);
        let Ok(vocabulary) = tiny.vocabulary() else {
            refused += 1;
            continue;
        };
        // How the vocabulary is made: some of its tokens rank below a part, some are whole pieces alone.
        let is_late = |(pair, _): (&(Vec<u8>, Vec<u8>), &usize)| {
            let joined = tiny.vocab[&[pair.0.clone(), pair.1.clone()].concat()];
            pair.0.len() > 1 && tiny.vocab[&pair.0] > joined || pair.1.len() > 1 && tiny.vocab[&pair.1] > joined
        };
        late += usize::from(tiny.merges.iter().any(is_late));
        for turn in 0..60 {
            let text = match turn % 3 {
                0 => some_text(&mut random, 12),
                1 => some_text(&mut random, 300),
                _ => UNITS[random.below(5)].repeat(1 + random.below(200)) + &some_text(&mut random, 3),
            };
            let expected = tiny.encode(&text);
            assert_eq!(vocabulary.encode(&text), expected, "{text:?} in round {round}");
            assert_eq!(vocabulary.count(&text) as usize, expected.len(), "{text:?} in round {round}");
            compared += 1;
        }
        for token in tiny.vocab.keys() {
            let Ok(text) = str::from_utf8(token) else { continue };
            let expected = tiny.encode(text);
            whole += usize::from(expected.len() == 1);
            assert_eq!(vocabulary.encode(text), expected, "{text:?} in round {round}");
        }
    }
    assert!(refused < 200 && compared > 10_000 && whole > 1_000 && late > 50, "{refused} {compared} {whole} {late}");
}

#[test]
fn every_known_pattern_has_the_pieces_of_the_expressions() {
    let mut random = Random(9);
    for (splitter, (stages, _)) in splitters().into_iter().enumerate() {
        let tiny = Tiny::new(splitter, &[b"ab".to_vec()], 0, false, false);
        let vocabulary = tiny.vocabulary().unwrap();
        let compare = |text: &str| {
            let found: Vec<&str> = vocabulary.split(text).collect();
            assert_eq!(found, pieces(&tiny.stages, text), "{stages:?}");
        };
        for _ in 0..crate::generate::cases(700) {
            for kind in 0..generate::KINDS.len() {
                compare(&generate::text(kind, &mut random, &["the".to_owned(), "\u{301}\u{200b}".to_owned()], &REAL));
            }
        }
        chunks(&REAL, 20_000).into_iter().take(40).for_each(compare);
        let mut text = String::new();
        for character in crate::generate::characters() {
            text.extend([character, 'a', 'B', character, ' ', character, '!', character, '\u{301}', '1']);
            if text.len() > 20_000 {
                compare(&text);
                text.clear();
            }
        }
    }
}

/// What surrounds the tokens: special ones, spans, streams and the name.
#[test]
fn a_custom_vocabulary_does_all_that_others_do() {
    let mut random = Random(3);
    for splitter in 0..splitters().len() {
        let tiny = Tiny::new(splitter, &tokens(&mut random), 1000, true, true);
        let Ok(asset) = vocabulary_of(tiny.file.to_string().as_bytes()) else { continue };
        let mut tokenizers = Tokenizers::default();
        tokenizers.load("mine", &asset).unwrap();
        tokenizers.load("mine", &asset).unwrap();
        let counter = tokenizers.get("mine").unwrap();
        let codec = counter.codec().unwrap();
        assert_eq!((counter.name(), codec.specials()), ("mine", vec![("<s>", 1)]));
        let unknown = tokenizers.get("other").unwrap_err();
        assert!(unknown.details()["expected"].as_array().unwrap().contains(&json!("mine")));

        let specials = Specials::allowed(codec, &|_| true);
        assert_eq!(codec::encode(codec, "<s><s>><s", &specials)[..2], [1, 2]);
        assert_eq!(codec::encode(codec, "<s>><s", &Specials::new())[0], 2);
        assert_eq!(codec::decode(codec, &[2, 70_000, 1]).unwrap(), b"<s>>[MASK]<s>");
        assert!(codec::decode(codec, &[69_999]).is_err());
        for _ in 0..50 {
            let text = format!("{}<s>{}", some_text(&mut random, 40), some_text(&mut random, 40));
            let spans = codec::spans(codec, &text, &specials);
            assert_eq!(spans.ids, codec::encode(codec, &text, &specials));
            assert_eq!(spans.ends.last(), Some(&(text.encode_utf16().count() as u32)));
            assert!(spans.ends.is_sorted());
            let decoded = String::from_utf8(codec::decode(codec, &spans.ids).unwrap()).unwrap();
            assert!(decoded.nfc().eq(text.nfc()), "{text:?}");
            let mut stream = TokenStream::new(tokenizers.get("mine").unwrap());
            let mut so_far = String::new();
            for character in text.chars() {
                so_far.push(character);
                assert_eq!(stream.append(character.encode_utf8(&mut [0; 4]), ""), counter.count(&so_far), "{so_far:?}");
            }
        }
        for at in (0..asset.len()).step_by(7) {
            let mut damaged = asset.clone();
            damaged[at] ^= 4;
            assert_eq!(Vocabulary::load("mine", &damaged).unwrap_err().code(), ctxweave::Code::InvalidVocabulary);
            assert!(tokenizers.load("mine", &damaged).is_err());
        }
        let other = Tiny::new(splitter, &[b"zz".to_vec()], 1000, true, true).file.to_string();
        let other = vocabulary_of(other.as_bytes()).unwrap();
        assert!(tokenizers.load("mine", &other).unwrap_err().message().contains("another one is loaded"));
        assert!(tokenizers.load("o200k_base", &asset).unwrap_err().message().contains("another encoding"));
        assert_eq!(tokenizers.load("heuristic", &asset).unwrap_err().code(), ctxweave::Code::UnknownValue);
    }
}

#[test]
fn what_cannot_be_converted_is_named() {
    let good = Tiny::new(0, &[b"ab".to_vec()], 0, false, false).file;
    assert!(vocabulary_of(good.to_string().as_bytes()).is_ok());
    for (pointer, value, path, words) in [
        ("/model/type", json!("Unigram"), "model.type", "`Unigram`"),
        ("/model/type", json!("WordPiece"), "model.type", "`WordPiece`"),
        ("/model/byte_fallback", json!(true), "model.byte_fallback", "SentencePiece"),
        ("/model/continuing_subword_prefix", json!("##"), "model.continuing_subword_prefix", "not supported"),
        ("/model/vocab", json!({ "a": 0 }), "model.vocab", "256 bytes"),
        ("/model/merges/0", json!("x"), "model.merges[0]", "two tokens"),
        ("/model/merges/0", json!(["a", "c"]), "model.merges[0]", "not in"),
        ("/pre_tokenizer", Value::Null, "", "no `pre_tokenizer`"),
        ("/pre_tokenizer", json!({ "type": "Metaspace" }), "pre_tokenizer", "`Metaspace`"),
        ("/pre_tokenizer/pretokenizers/0/pattern/Regex", json!(r"\w+"), "pre_tokenizer", r"`\w+`"),
        ("/pre_tokenizer/pretokenizers/0/behavior", json!("Removed"), "pre_tokenizer", "`Removed`"),
        ("/pre_tokenizer/pretokenizers/1/add_prefix_space", json!(true), "pre_tokenizer.pretokenizers[1]", "space"),
        ("/normalizer", json!({ "type": "Lowercase" }), "normalizer", "`Lowercase`"),
        ("/added_tokens/0/content", json!("  "), "added_tokens[0].content", "visible"),
    ] {
        let mut file = good.clone();
        *file.pointer_mut(pointer).unwrap() = value;
        let error = vocabulary_of(file.to_string().as_bytes()).unwrap_err();
        assert_eq!(error.code(), ctxweave::Code::InvalidInput, "{error}");
        assert_eq!(error.details().get("path").and_then(Value::as_str).unwrap_or(""), path, "{error}");
        assert!(error.message().contains(words), "{error}");
    }
    assert!(vocabulary_of(b"{").is_err() && vocabulary_of(b"{}").is_err() && vocabulary_of(b"[]").is_err());
}

/// Every token of real vocabularies over real and random texts, as benches/tokens/reference.py has them from the reference. Its
/// tables of Unicode are older than ours: texts with characters that came later may differ, and are counted apart.
#[test]
#[expect(clippy::disallowed_methods, reason = "where the files are comes from the command line")]
fn open_models_have_the_tokens_of_their_reference() {
    let Some(folder) = std::env::var_os("CTXWEAVE_TOKENIZERS") else { return };
    let read = |name: &str| std::fs::read(Path::new(&folder).join(name)).unwrap();
    let texts = read("texts.bin");
    let number = |bytes: &[u8]| u32::from_le_bytes(bytes[..4].try_into().unwrap());
    let mut names: Vec<String> = std::fs::read_dir(&folder)
        .unwrap()
        .filter_map(|entry| Some(entry.unwrap().file_name().to_str()?.strip_suffix(".ids")?.to_owned()))
        .collect();
    names.sort();
    assert!(!names.is_empty());
    let newer = Regex::new(r"[^\p{Age:12.0}]").unwrap();
    let mut wrong = 0;
    for name in names {
        let asset = vocabulary_of(&read(&format!("{name}.json")))
            .unwrap_or_else(|error| panic!("{name}: {error} {:?}", error.details()));
        let mut tokenizers = Tokenizers::default();
        tokenizers.load(&name, &asset).unwrap();
        let counter = tokenizers.get(&name).unwrap();
        let codec = counter.codec().unwrap();
        let specials = Specials::allowed(codec, &|_| true);
        let ids = read(&format!("{name}.ids"));
        let (mut text_at, mut ids_at, mut count, mut tokens, mut different, mut later) = (0, 0, 0, 0, 0, 0);
        while text_at < texts.len() {
            let len = number(&texts[text_at..]) as usize;
            let text = str::from_utf8(&texts[text_at + 4..][..len]).unwrap();
            text_at += 4 + len;
            let len = number(&ids[ids_at..]) as usize * 4;
            let expected: Vec<u32> = ids[ids_at + 4..][..len].chunks(4).map(number).collect();
            ids_at += 4 + len;
            let found = codec::encode(codec, text, &specials);
            if found != expected && newer.is_match(text).unwrap() {
                later += 1;
            } else if found != expected {
                different += 1;
                if different <= 5 {
                    let at = found.iter().zip(&expected).take_while(|(one, other)| one == other).count();
                    let around = |ids: &[u32]| {
                        let near = &ids[at.saturating_sub(3)..(at + 8).min(ids.len())];
                        String::from_utf8_lossy(&codec::decode(codec, near).unwrap()).into_owned()
                    };
                    println!(
                        "{name}: text {count} at token {at}: {:?} {:?}",
                        around(&found),
                        &found[at..(at + 8).min(found.len())]
                    );
                    println!("   expected {:?} {:?}", around(&expected), &expected[at..(at + 8).min(expected.len())]);
                }
            }
            (count, tokens) = (count + 1, tokens + expected.len());
        }
        println!(
            "{name}: {count} texts, {} bytes, {tokens} tokens, asset of {} bytes: {different} differ, and {later} with newer characters",
            texts.len() - 4 * count,
            asset.len(),
        );
        wrong += different;
    }
    assert_eq!(wrong, 0);
}
