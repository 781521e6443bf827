//! Texts encoded, decoded, cut and split by their tokens, and counted incrementally (docs/tokens.md).

use std::rc::Rc;

use ctxweave::Code;
use ctxweave::call::CallContext;
use ctxweave::text::utf16_len;
use ctxweave::tokens::codec::{self, Specials};
use ctxweave::tokens::cut::{Boundary, Side, Split, Truncate, split, truncate};
use ctxweave::tokens::{Counter, TOKENIZER_CALLS, TokenStream};
use proptest::prelude::*;
use serde_json::{Value, json};
use unicode_segmentation::UnicodeSegmentation;

use crate::generate::{COUNTERS, cases, text, tokenizers};

const ENCODINGS: [&str; 2] = ["o200k_base", "cl100k_base"];
const SIDES: [Side; 3] = [Side::End, Side::Start, Side::Middle];
const BOUNDARIES: [Boundary; 5] =
    [Boundary::Token, Boundary::Grapheme, Boundary::Word, Boundary::Line, Boundary::Sentence];

/// All that can count: those that can be had by name, and one of a caller's own.
fn counters() -> Vec<Rc<dyn Counter>> {
    /// A caller's own, of which nothing is known.
    #[derive(Debug)]
    struct CustomCounter(&'static dyn Counter);

    impl Counter for CustomCounter {
        fn name(&self) -> &str {
            "own"
        }

        fn count(&self, text: &str) -> u32 {
            self.0.count(text)
        }
    }

    let tokenizers = tokenizers();
    let named = ["heuristic", "o200k_base", "cl100k_base"].map(|name| tokenizers.get(name).unwrap());
    named.into_iter().chain([Rc::new(CustomCounter(COUNTERS[3])) as Rc<dyn Counter>]).collect()
}

fn long_text() -> impl Strategy<Value = String> {
    prop::collection::vec(text(), 1..6).prop_map(|texts| texts.join("\n"))
}

fn specials_of(name: &str) -> Specials {
    let counter = tokenizers().get(name).unwrap();
    counter.codec().unwrap().specials().into_iter().map(|(text, special)| (text.to_owned(), special)).collect()
}

/// Where a text may be cut by a boundary that is easily found in another way; its end is one of them.
fn places(text: &str, boundary: Boundary, counter: &dyn Counter) -> Option<Vec<usize>> {
    let clusters: Vec<usize> = text.grapheme_indices(true).map(|(at, _)| at).chain([text.len()]).collect();
    match boundary {
        Boundary::Grapheme => Some(clusters),
        Boundary::Token => Some(match counter.codec() {
            None => clusters,
            Some(codec) => {
                let mut end = 0;
                let ends = codec::encode(codec, text, &Specials::new()).into_iter().map(|token| {
                    let mut bytes = Vec::new();
                    assert!(codec.append_token(token, &mut bytes));
                    end += bytes.len();
                    end
                });
                [0].into_iter().chain(ends).filter(|end| clusters.binary_search(end).is_ok()).collect()
            }
        }),
        Boundary::Line => {
            let mut lines = vec![0];
            let bytes = text.as_bytes();
            for at in 1..=bytes.len() {
                let ends = bytes[at - 1] == b'\n' || bytes[at - 1] == b'\r' && bytes.get(at) != Some(&b'\n');
                if ends || at == bytes.len() {
                    lines.push(at);
                }
            }
            Some(lines)
        }
        Boundary::Word | Boundary::Sentence => None,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(60)))]

    /// What tokens stand for is the text that they were made of, and their spans tile it.
    #[test]
    fn tokens_are_their_text(text in long_text()) {
        for name in ENCODINGS {
            let counter = tokenizers().get(name).unwrap();
            let codec = counter.codec().unwrap();
            for specials in [Specials::new(), specials_of(name)] {
                let tokens = codec::encode(codec, &text, &specials);
                prop_assert_eq!(codec::decode(codec, &tokens).unwrap(), text.as_bytes());
                let spans = codec::spans(codec, &text, &specials);
                prop_assert_eq!(&spans.ids, &tokens);
                prop_assert_eq!(spans.ends.len(), tokens.len());
                prop_assert_eq!(spans.ends.last().map_or(0, |&end| end as usize), utf16_len(&text));
                let units: Vec<u16> = text.encode_utf16().collect();
                let (mut start, mut pending) = (0, Vec::new());
                for (at, &end) in spans.ends.iter().enumerate() {
                    prop_assert!(start <= end);
                    pending.extend(codec::decode(codec, &tokens[at..=at]).unwrap());
                    let covered = String::from_utf16(&units[start as usize..end as usize]).unwrap();
                    // Of a token that ends inside a character the rest comes with the next.
                    let is_split = spans.splits.contains(&(at as u32));
                    prop_assert_eq!(is_split, pending.len() > covered.len(), "{:?} {}", text, at);
                    prop_assert_eq!(&pending[..covered.len()], covered.as_bytes());
                    pending.drain(..covered.len());
                    start = end;
                }
                prop_assert!(pending.is_empty());
            }
        }
    }

    /// Special tokens are tiktoken's where they are allowed.
    #[test]
    fn special_tokens_are_those_of_tiktoken(
        parts in prop::collection::vec(prop::sample::select(vec![
            "<|endoftext|>", "<|endofprompt|>", "<|fim_prefix|>", "<|", "|>", "<", "<|x|>", "a b", "  ", "\n", "漢",
        ]), 0..12),
    ) {
        let text = parts.concat();
        for (name, reference) in
            [("o200k_base", tiktoken_rs::o200k_base_singleton()), ("cl100k_base", tiktoken_rs::cl100k_base_singleton())]
        {
            let counter = tokenizers().get(name).unwrap();
            let codec = counter.codec().unwrap();
            let tokens = codec::encode(codec, &text, &specials_of(name));
            prop_assert_eq!(&tokens, &reference.encode_with_special_tokens(&text));
            prop_assert_eq!(codec::encode(codec, &text, &Specials::new()), reference.encode_ordinary(&text));
        }
    }

    /// A text that is cut has what the limit allows by a recount, tears no cluster, and is as long as its boundary lets it be.
    #[test]
    fn a_truncated_text_holds_by_a_recount(text in long_text(), most in 0..60_u32, marker in prop::sample::select(vec!["", "…", "\n\n[…]\n\n"])) {
        for counter in counters() {
            let counter = counter.as_ref();
            for side in SIDES {
                for boundary in BOUNDARIES {
                    let left = truncate(&text, most, Truncate { side, boundary, marker }, counter);
                    let whole = [left.head, left.marker, left.tail].concat();
                    let case = || format!("{} {side:?} {boundary:?} {most} {marker:?} {text:?}: {left:?}", counter.name());
                    prop_assert_eq!(counter.count(&whole), left.tokens, "{}", case());
                    prop_assert!(left.tokens <= most, "{}", case());
                    prop_assert_eq!(left.truncated, counter.count(&text) > most, "{}", case());
                    if !left.truncated {
                        prop_assert_eq!(whole, text.as_str());
                        continue;
                    }
                    prop_assert!(text.starts_with(left.head) && text.ends_with(left.tail), "{}", case());
                    prop_assert!(left.head.len() + left.tail.len() < text.len(), "{}", case());
                    prop_assert!(side != Side::End || left.tail.is_empty());
                    prop_assert!(side != Side::Start || left.head.is_empty());
                    let cuts = [left.head.len(), text.len() - left.tail.len()];
                    let clusters: Vec<usize> = text.grapheme_indices(true).map(|(at, _)| at).chain([text.len()]).collect();
                    prop_assert!(cuts.iter().all(|cut| clusters.binary_search(cut).is_ok()), "{}", case());
                    let Some(places) = places(&text, boundary, counter) else { continue };
                    prop_assert!(cuts.iter().all(|cut| places.contains(cut)), "{}", case());
                    if counter.count(marker) > most {
                        prop_assert_eq!(whole, "");
                        continue;
                    }
                    // With what stands up to the next place it is too much.
                    let more = match side {
                        Side::End => {
                            let next = places.iter().find(|&&place| place > left.head.len());
                            next.map(|&next| [&text[..next], marker].concat())
                        }
                        Side::Start => {
                            let next = places.iter().rev().find(|&&place| place < cuts[1]);
                            next.map(|&next| [marker, &text[next..]].concat())
                        }
                        Side::Middle => None,
                    };
                    // Of tokens, so many are looked for as may be needed, and not all of them.
                    if let Some(more) = more.filter(|more| more.len() < text.len()) {
                        prop_assert!(counter.count(&more) > most, "{}", case());
                    }
                }
            }
        }
    }

    /// The pieces of a text lose nothing of it, hold by a recount, and overlap by no more than they may.
    #[test]
    fn pieces_cover_a_text_and_hold_by_a_recount(
        text in long_text(), most in 12..60_u32, overlap in 0..30_u32, markdown in any::<bool>(),
    ) {
        for counter in counters() {
            let counter = counter.as_ref();
            for boundary in BOUNDARIES {
                let overlap = overlap.min(most / 2);
                let clusters: Vec<usize> = text.grapheme_indices(true).map(|(at, _)| at).chain([text.len()]).collect();
                let pieces = match split(&text, Split { max_tokens: most, overlap, boundary, markdown }, counter) {
                    Ok(pieces) => pieces,
                    Err(error) => {
                        prop_assert_eq!(error.code(), Code::InvalidInput);
                        prop_assert!(text.graphemes(true).any(|cluster| counter.count(cluster) > most), "{}", error);
                        continue;
                    }
                };
                let mut before: Option<(usize, usize)> = None;
                for piece in &pieces {
                    let case = || format!("{} {boundary:?} {most} {overlap} {markdown} {text:?}: {pieces:?}", counter.name());
                    let (start, end) = (piece.start, piece.end);
                    prop_assert_eq!(counter.count(&text[start..end]), piece.tokens, "{}", case());
                    prop_assert!(piece.tokens <= most, "{}", case());
                    prop_assert!(clusters.binary_search(&start).is_ok() && clusters.binary_search(&end).is_ok(), "{}", case());
                    let (last_start, last_end) = before.unwrap_or((0, 0));
                    prop_assert!(start <= last_end && end > last_end, "{}", case());
                    prop_assert!(before.is_none() || start > last_start, "{}", case());
                    prop_assert!(counter.count(&text[start..last_end]) <= overlap, "{}", case());
                    before = Some((start, end));
                }
                prop_assert_eq!(before.map_or(0, |(_, end)| end), text.len());
            }
        }
    }

    /// A text that comes in parts counts after each of them what it counts so far, halves of characters among them, and little of it
    /// is kept.
    #[test]
    fn a_stream_counts_what_there_is_so_far(deltas in prop::collection::vec(text(), 1..12), cut in 1..7_usize) {
        for counter in counters() {
            let mut stream = TokenStream::new(Rc::clone(&counter));
            let all = deltas.concat();
            let mut end = 0;
            while end < all.len() {
                let next = all.ceil_char_boundary((end + cut).min(all.len()));
                let tokens = counter.count(&all[..next]);
                let half = format!("{}\u{fffd}", &all[..end]);
                prop_assert_eq!(stream.append("", "\u{fffd}"), counter.count(&half), "{} {:?}", counter.name(), half);
                prop_assert_eq!(stream.append(&all[end..next], ""), tokens, "{} {:?}", counter.name(), &all[..next]);
                prop_assert_eq!(stream.append("", ""), tokens);
                end = next;
            }
            prop_assert_eq!(stream.count(), counter.count(&all));
            let widest = all.split_inclusive(char::is_whitespace).map(str::len).max().unwrap_or(0);
            prop_assert!(counter.name() == "own" || stream.kept() <= 3 * widest + 200, "{}: {}", counter.name(), stream.kept());
            stream.reset();
            prop_assert_eq!((stream.count(), stream.kept()), (0, 0));
            prop_assert_eq!(stream.append(&all, ""), counter.count(&all));
        }
    }
}

fn call(name: &str, request: &Value, bytes: &[Vec<u8>]) -> Result<Vec<u8>, ctxweave::Error> {
    let host = CallContext { tokenizers: tokenizers(), counter: Some(Rc::new(ctxweave::tokens::Heuristic)) };
    let call = TOKENIZER_CALLS.iter().find(|call| call.name == name).unwrap();
    let answer = call.answer(&mut (), request.to_string().as_bytes(), bytes, &host)?;
    let json = answer.to_json().into_owned();
    Ok(if json.is_empty() { answer.bytes.concat() } else { json })
}

fn numbers(bytes: &[u8]) -> Vec<u32> {
    bytes.as_chunks().0.iter().map(|number| u32::from_le_bytes(*number)).collect()
}

#[test]
fn tokens_come_and_go_as_bytes() {
    let options = json!({ "tokenizer": "o200k_base" });
    let bytes = call("encodeTokens", &json!({ "text": "hello world", "options": options }), &[]).unwrap();
    assert_eq!(numbers(&bytes), [24912, 2375]);
    let ids = json!({ "ids": { "\0bytes": 0 }, "options": options });
    assert_eq!(call("decodeTokenBytes", &ids, &[bytes]).unwrap(), b"hello world");
    let ids = json!({ "ids": [24912, 2375, 199_999], "options": options });
    assert_eq!(call("decodeTokenBytes", &ids, &[]).unwrap(), b"hello world<|endoftext|>");
    let special = json!({ "tokenizer": "cl100k_base", "allowedSpecial": ["<|fim_prefix|>"] });
    let text = "<|fim_prefix|><|endoftext|>";
    let bytes = call("encodeTokens", &json!({ "text": text, "options": special }), &[]).unwrap();
    assert_eq!((numbers(&bytes)[0], numbers(&bytes).len()), (100_258, 8));
    // A flag: each of its letters is several tokens, of which the first end inside it.
    let bytes = call("tokenSpans", &json!({ "text": "a🇳🇱", "options": options }), &[]).unwrap();
    let all = numbers(&bytes);
    let count = all[0] as usize;
    assert_eq!(all[count + 1], 1);
    assert_eq!(all[2 * count], 5);
    assert!(all.len() > 2 * count + 1, "{all:?}");
}

#[test]
fn what_has_no_tokens_or_is_none_is_refused() {
    for (name, request, code, path, message) in [
        (
            "encodeTokens",
            json!({ "text": "a" }),
            Code::UnknownValue,
            "options.tokenizer",
            "`options.tokenizer` is `heuristic`; it must be one of `o200k_base`, `cl100k_base`",
        ),
        (
            "tokenSpans",
            json!({ "text": "a", "options": { "tokenizer": {} } }),
            Code::UnknownValue,
            "options.tokenizer",
            "`options.tokenizer` is ",
        ),
        (
            "encodeTokens",
            json!({ "text": "a", "options": { "tokenizer": "o200k_base", "allowedSpecial": ["<|endoftext|>", "<|fim_prefix|>"] } }),
            Code::UnknownValue,
            "options.allowedSpecial[1]",
            "`options.allowedSpecial[1]` is `<|fim_prefix|>`; it must be one of `<|endoftext|>`, `<|endofprompt|>`",
        ),
        (
            "encodeTokens",
            json!({ "text": "a", "options": { "tokenizer": "o200k_base", "allowedSpecials": "all" } }),
            Code::InvalidInput,
            "options.allowedSpecials",
            "unknown option `allowedSpecials`; did you mean `allowedSpecial`?",
        ),
        (
            "decodeTokenBytes",
            json!({ "ids": [1, 199_998], "options": { "tokenizer": "o200k_base" } }),
            Code::InvalidInput,
            "ids[1]",
            "`ids[1]` is 199998, which is not a token of this encoding",
        ),
        (
            "splitText",
            json!({ "text": "a", "options": { "maxTokens": 0 } }),
            Code::InvalidInput,
            "options.maxTokens",
            "`options.maxTokens` is 0; it must be at least 1",
        ),
        (
            "splitText",
            json!({ "text": "a", "options": { "maxTokens": 10, "overlap": 6 } }),
            Code::InvalidInput,
            "options.overlap",
            "`options.overlap` is 6, more than half of `maxTokens` (10); lower it",
        ),
        (
            "splitText",
            json!({ "text": "👨‍👩‍👧‍👦", "options": { "maxTokens": 1 } }),
            Code::InvalidInput,
            "options.maxTokens",
            "`options.maxTokens` is 1, but a single character costs more tokens; raise it",
        ),
        (
            "truncateText",
            json!({ "text": "a", "maxTokens": 1, "options": { "side": "left" } }),
            Code::UnknownValue,
            "options.side",
            "`options.side` is `left`; it must be one of `end`, `start`, `middle`",
        ),
    ] {
        let error = call(name, &request, &[]).unwrap_err();
        assert_eq!(error.code(), code, "{error}");
        assert_eq!(error.details()["path"], path, "{error}");
        assert!(error.message().starts_with(message), "{error}");
    }
}

/// What stays of a text by words and by sentences.
#[test]
fn words_and_sentences_are_not_torn() {
    let counter = tokenizers().get("o200k_base").unwrap();
    let left = |text: &str, most, side, boundary| {
        let left = truncate(text, most, Truncate { side, boundary, marker: "" }, counter.as_ref());
        [left.head, left.tail].concat()
    };
    let text = "Dr. Smith said \"No.\" twice! Was it e.g. nothing? Nobody knows.";
    assert_eq!(left(text, 9, Side::End, Boundary::Sentence), "Dr. ");
    assert_eq!(left(text, 13, Side::End, Boundary::Sentence), "Dr. Smith said \"No.\" twice! ");
    assert_eq!(left(text, 5, Side::Start, Boundary::Sentence), "Nobody knows.");
    assert_eq!(left("unbelievable don't_stop", 4, Side::End, Boundary::Word), "unbelievable ");
    assert_eq!(left("一二三。四五六。七八九。", 8, Side::End, Boundary::Sentence), "一二三。四五六。");
    assert_eq!(left("one two three", 0, Side::End, Boundary::Word), "");
}

/// Sections first, then blocks that are whole; a heading stays with what follows it.
#[test]
fn markdown_is_split_between_its_blocks() {
    let counter = tokenizers().get("o200k_base").unwrap();
    let code = format!("```js\n{}```\n", "let a = 1;\n\n".repeat(6));
    let table = "| a | b |\n| - | - |\n| 1 | 2 |\n| 3 | 4 |\n";
    let list = "- one\n- two\n\n  more of two\n- three\n";
    let text = format!("# Title\n\n## Code\n\nSome words here.\n\n{code}\n## Rest\n\n{list}\n{table}\nThe end.\n");
    let pieces = |most| -> Vec<&str> {
        let options = Split { max_tokens: most, overlap: 0, boundary: Boundary::Line, markdown: true };
        let pieces = split(&text, options, counter.as_ref()).unwrap();
        pieces.iter().map(|piece| &text[piece.start..piece.end]).collect()
    };
    assert_eq!(pieces(1000), [&text]);
    let code_and_title = counter.count(&text[..text.find("## Rest").unwrap()]);
    let sections = pieces(code_and_title);
    assert!(sections.len() == 2 && sections[1].starts_with("## Rest"), "{sections:?}");
    for most in 12..code_and_title {
        let pieces = pieces(most);
        assert!(pieces.iter().all(|piece| !piece.trim_end().lines().last().unwrap().starts_with('#')), "{pieces:?}");
        for block in [format!("{code}\n"), format!("{table}\n"), format!("## Rest\n\n{list}\n")] {
            let is_whole = pieces.iter().any(|piece| piece.contains(&block));
            assert!(is_whole || counter.count(&block) > most, "{most} {block:?} {pieces:?}");
        }
    }
}

/// Runs that are one piece, or one cluster, or many of both, cut and split: counts derived from the whole equal a recount of its parts.
#[test]
fn long_pieces_are_cut_like_a_recount() {
    let mut seed = 7_u32;
    let mut random = |most: u32| {
        seed = seed.wrapping_mul(1_103_515_245).wrapping_add(12_345);
        (seed >> 8) % most
    };
    let letters: String = (0..6000).map(|_| char::from(b'a' + random(26) as u8)).collect();
    let ideographs: String = (0..2000).map(|_| char::from_u32(0x4e00 + random(20_000)).unwrap()).collect();
    let signs: String = (0..4000).map(|_| char::from(b"!#$%&*+"[random(7) as usize])).collect();
    let texts = [
        letters.clone(),
        letters.to_uppercase(),
        ideographs.clone(),
        signs,
        "a".repeat(5000),
        " ".repeat(5000),
        format!("{}\n{}", letters.get(..3000).unwrap(), ideographs),
        "e\u{301}".repeat(2000),
        "🇳🇱👩‍🚀".repeat(300),
        format!("{}  x", "A".repeat(700)).repeat(4),
        format!("{}'s {}\r\n", "b".repeat(300), " ".repeat(300)).repeat(5),
    ];
    for name in ENCODINGS {
        let counter = tokenizers().get(name).unwrap();
        let counter = counter.as_ref();
        for text in &texts {
            for boundary in BOUNDARIES {
                for (most, overlap) in [(40, 0), (100, 20), (700, 300)] {
                    let pieces =
                        split(text, Split { max_tokens: most, overlap, boundary, markdown: false }, counter).unwrap();
                    let mut end = 0;
                    for piece in &pieces {
                        assert_eq!(
                            counter.count(&text[piece.start..piece.end]),
                            piece.tokens,
                            "{name} {boundary:?} {piece:?}"
                        );
                        assert!(
                            piece.tokens <= most && piece.start <= end && piece.end > end,
                            "{name} {boundary:?} {piece:?}"
                        );
                        assert!(counter.count(&text[piece.start..end]) <= overlap, "{name} {boundary:?} {piece:?}");
                        end = piece.end;
                    }
                    assert_eq!(end, text.len());
                    for side in SIDES {
                        for marker in ["", "…"] {
                            let left = truncate(text, most, Truncate { side, boundary, marker }, counter);
                            let whole = [left.head, left.marker, left.tail].concat();
                            assert_eq!(counter.count(&whole), left.tokens, "{name} {side:?} {boundary:?} {most}");
                            assert!(left.tokens <= most, "{name} {side:?} {boundary:?} {most}");
                        }
                    }
                }
            }
        }
    }
}

/// A fitted estimator counts the samples as reported, and is accepted wherever a tokenizer is.
#[test]
fn a_calibrated_estimator_counts_its_samples() {
    let samples = |factors: [u32; 3]| -> Vec<Value> {
        let counted = tokenizers().get(&format!("calibrated:{},{},{},0", factors[0], factors[1], factors[2])).unwrap();
        [
            "the quick brown fox jumps over the lazy dog ",
            "let a = [1, 22, 333]; // {}\n",
            "漢字かな交じり文。",
            "a = b; 漢字 and words ",
        ]
        .map(|unit| unit.repeat(60))
        .map(|text| json!({ "text": text, "tokens": counted.count(&text) }))
        .to_vec()
    };
    for factors in [[100, 100, 100], [155, 140, 130], [80, 200, 120], [300, 60, 100]] {
        let samples = samples(factors);
        let found = call("calibrate", &json!({ "samples": samples }), &[]).unwrap();
        let found: Value = serde_json::from_slice(&found).unwrap();
        assert_eq!(found["samples"], 4);
        let counter = tokenizers().get(found["tokenizer"].as_str().unwrap()).unwrap();
        assert_eq!(counter.error_percent(), found["error"].as_u64().map(|error| error as u32));
        assert!(found["error"].as_u64().unwrap() < 20, "{factors:?} {found}");
        for sample in &samples {
            let count = f64::from(counter.count(sample["text"].as_str().unwrap()));
            let tokens = sample["tokens"].as_f64().unwrap();
            let error = counter.error_percent().unwrap();
            assert!(
                (tokens - count).abs() <= count * f64::from(error) / 100.0 + 2.0,
                "{factors:?} {found} {count} {tokens}"
            );
        }
    }
    for (samples, path) in [
        (json!([]), "samples"),
        (json!([{ "text": "a", "tokens": 0 }]), "samples[0].tokens"),
        (json!([{ "text": "a", "tokens": 1 }, { "text": "b" }]), "samples[1]"),
        (json!([{ "text": "a", "tokens": 1, "token": 2 }]), "samples[0].token"),
    ] {
        let error = call("calibrate", &json!({ "samples": samples }), &[]).unwrap_err();
        assert_eq!((error.code(), error.details()["path"].as_str().unwrap()), (Code::InvalidInput, path), "{error}");
    }
}

/// The families are the estimate times a factor, say by how much they may be off, and add up, stop and grow as it does.
#[test]
fn families_are_multiples_of_the_estimate() {
    let heuristic = tokenizers().get("heuristic").unwrap();
    assert_eq!(heuristic.error_percent(), None);
    let text =
        "Words of prose, some of them capital. ".repeat(40) + "\n\n" + &"if (a[0] != b) { return 12; }\n".repeat(40);
    for (name, least, most) in
        [("claude", 1.35, 1.6), ("claude-3", 1.0, 1.4), ("gemini", 1.0, 1.15), ("calibrated:50,50,50,5", 0.45, 0.55)]
    {
        let counter = tokenizers().get(name).unwrap();
        assert_eq!(counter.name(), name);
        assert!(counter.error_percent().is_some_and(|error| error >= 5));
        let ratio = f64::from(counter.count(&text)) / f64::from(heuristic.count(&text));
        assert!((least..most).contains(&ratio), "{name} {ratio}");
        let paragraphs: u32 = text.split_inclusive("\n\n").map(|part| counter.count(part)).sum();
        assert_eq!(counter.count(&text), paragraphs);
        for limit in [0, 10, counter.count(&text) - 1, counter.count(&text)] {
            let expected = Some(counter.count(&text)).filter(|&count| count <= limit);
            assert_eq!(counter.count_up_to(&text, limit), expected);
        }
        let mut stream = TokenStream::new(Rc::clone(&counter));
        for end in (3..text.len()).step_by(7) {
            let from = end.saturating_sub(7).min(end - 3);
            let from = if end == 3 { 0 } else { from };
            assert_eq!(stream.append(&text[from..end], ""), counter.count(&text[..end]), "{name} {end}");
        }
    }
    for name in [
        "claude-4",
        "calibrated:",
        "calibrated:1,2,3",
        "calibrated:1,2,3,4,5",
        "calibrated:401,1,1,1",
        "calibrated:1,1,1,-1",
    ] {
        assert_eq!(tokenizers().get(name).unwrap_err().code(), Code::UnknownValue, "{name}");
    }
}

/// Definitions of tools cost their JSON, 10 each and 12 for all of them.
#[test]
fn tools_of_a_chat_are_counted() {
    let tools = json!([{ "type": "function", "function": { "name": "weave", "parameters": {} } }]);
    let counted = |options: Value| -> u64 {
        let request = json!({ "messages": [{ "role": "user", "content": "Hi" }], "options": options });
        let call = ctxweave::tokens::CALLS.iter().find(|call| call.name == "countChatTokens").unwrap();
        let host = CallContext { tokenizers: tokenizers(), counter: None };
        let answer = call.answer(&mut (), request.to_string().as_bytes(), &[], &host).unwrap();
        serde_json::from_slice(&answer.to_json()).unwrap()
    };
    for tokenizer in ["o200k_base", "heuristic", "claude"] {
        let counter = tokenizers().get(tokenizer).unwrap();
        let without = counted(json!({ "tokenizer": tokenizer }));
        assert_eq!(counted(json!({ "tokenizer": tokenizer, "tools": [] })), without);
        let expected = without + u64::from(counter.count(&tools.to_string())) + 22;
        assert_eq!(counted(json!({ "tokenizer": tokenizer, "tools": tools })), expected);
    }
}
