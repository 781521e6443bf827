//! Counts with tiktoken-rs (cargo feature `tiktoken`): all its encodings, nothing to load, and the reference
//! for our engine. The only module that names tiktoken_rs.
//!
//! Texts are plain text throughout, including special tokens in them. Two problems are worked around: on a run of some
//! hundred thousand spaces or more the regular expression engine of tiktoken-rs runs out of its stack and the call
//! panics; and a piece of a million letters takes half a second to merge, and many times its size in memory. Such a
//! piece is cut out exactly at its boundaries, and encoded by our merge with the tokens of tiktoken-rs. No text is
//! rejected, and every count is what tiktoken-rs would return if it had more stack.

use std::fmt;

use tiktoken_rs::CoreBPE;

use super::Counter;
use super::bpe::Rank;
use super::bpe::{Encoding, ForeignMerges};
use super::codec::Codec;
use crate::error::{Code, Error, Result};
use crate::maps::SortedMap;

/// Pieces longer than this, in bytes, are not passed to tiktoken-rs, whose regular expression engine handles 400,000
/// characters of white space, but not a million.
const LONG: usize = 100_000;

/// How the encodings split texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pattern {
    /// As in one of our encodings.
    Ours(Encoding),
    /// GPT-2's pattern, which ends in `|\s++$|\s+(?!\S)|\s`. Only pieces of white space are cut out.
    Gpt2,
}

impl Pattern {
    /// The number of tokens before the first special one.
    fn ordinary(self) -> u32 {
        match self {
            Self::Ours(Encoding::Cl100kBase) => 100_256,
            Self::Ours(_) => 199_998,
            // A special one precedes those of white space, and it is not white space.
            Self::Gpt2 => u32::MAX,
        }
    }
}

/// A part of a text.
enum Run<'t> {
    /// A text for tiktoken-rs.
    Text(&'t str),
    /// A piece that is too long for it.
    Long(&'t [u8], &'t ForeignMerges),
}

/// Counts with tiktoken-rs.
#[derive(Clone, Copy)]
pub struct Tiktoken {
    name: &'static str,
    pattern: Pattern,
    bpe: &'static CoreBPE,
}

impl fmt::Debug for Tiktoken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tiktoken").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Tiktoken {
    /// The names of the encodings.
    pub const NAMES: &'static [&'static str] =
        &["o200k_base", "o200k_harmony", "cl100k_base", "p50k_base", "p50k_edit", "r50k_base", "gpt2"];

    /// The counter of an encoding. The first call for each builds its tables, which takes some tenths of a second; they
    /// are kept as long as the program runs.
    ///
    /// # Errors
    /// [`Code::UnknownValue`] for a name that is not in [`Self::NAMES`]. `details`: `value`, `expected`.
    pub fn new(name: &str) -> Result<Self> {
        let Some(&name) = Self::NAMES.iter().find(|&&known| known == name) else {
            let message = format!("`{name}` is not an encoding of tiktoken; use one of {}", Self::NAMES.join(", "));
            return Err(Error::new(Code::UnknownValue, message).with("value", name).with("expected", Self::NAMES));
        };
        let (pattern, bpe) = match name {
            "o200k_base" => (Pattern::Ours(Encoding::O200kBase), tiktoken_rs::o200k_base_singleton()),
            "o200k_harmony" => (Pattern::Ours(Encoding::O200kBase), tiktoken_rs::o200k_harmony_singleton()),
            "cl100k_base" => (Pattern::Ours(Encoding::Cl100kBase), tiktoken_rs::cl100k_base_singleton()),
            "p50k_base" => (Pattern::Gpt2, tiktoken_rs::p50k_base_singleton()),
            "p50k_edit" => (Pattern::Gpt2, tiktoken_rs::p50k_edit_singleton()),
            _ => (Pattern::Gpt2, tiktoken_rs::r50k_base_singleton()),
        };
        Ok(Self { name, pattern, bpe })
    }

    /// The count, without passing pieces of more than `long` bytes to tiktoken-rs.
    fn count_with(&self, text: &str, long: usize, merges: Option<&ForeignMerges>) -> u32 {
        let mut count = 0_usize;
        self.each_run(text, long, merges, |run| {
            count += match run {
                Run::Text(text) => self.bpe.count_ordinary(text),
                Run::Long(piece, merges) => merges.count(piece),
            };
        });
        u32::try_from(count).unwrap_or(u32::MAX)
    }

    /// Calls `each` with the pieces of more than `long` bytes, and with the texts between them. The merges of the
    /// pieces are built on demand and not kept.
    fn each_run(&self, text: &str, long: usize, merges: Option<&ForeignMerges>, mut each: impl FnMut(Run<'_>)) {
        let kept = self.long_pieces(text, long);
        let bytes = |&(start, end): &(usize, usize)| text.get(start..end).unwrap_or_default().as_bytes();
        let mut made = None;
        let mut rest = 0;
        for piece in &kept {
            let &(start, end) = piece;
            // The text before it begins and ends at piece boundaries, and only the pattern of white space looks ahead,
            // and white space does not end it: so it splits as it would in place.
            each(Run::Text(text.get(rest..start).unwrap_or_default()));
            let merges = merges.unwrap_or_else(|| made.get_or_insert_with(|| self.merges(kept.iter().map(bytes))));
            each(Run::Long(bytes(piece), merges));
            rest = end;
        }
        each(Run::Text(text.get(rest..).unwrap_or_default()));
    }

    /// The merges for these pieces.
    fn merges<'p>(&self, pieces: impl Iterator<Item = &'p [u8]>) -> ForeignMerges {
        let ordinary = self.pattern.ordinary();
        ForeignMerges::new(pieces, |rank| self.bpe.decode_bytes(&[rank]).ok().filter(|_| rank < ordinary))
    }

    /// The offsets of the pieces that are longer than `long` bytes, and of the white space pieces immediately before
    /// them.
    fn long_pieces(&self, text: &str, long: usize) -> Vec<(usize, usize)> {
        let mut found = Vec::new();
        if text.len() <= long {
            return found;
        }
        match self.pattern {
            Pattern::Ours(encoding) => {
                let mut start = 0;
                let mut white_before = 0;
                for piece in encoding.split(text) {
                    let end = start + piece.len();
                    let white = piece.chars().all(char::is_whitespace);
                    found.push((start, end));
                    if piece.len() > long {
                        white_before = 0;
                    } else if white {
                        white_before += 1;
                    } else {
                        found.truncate(found.len() - 1 - white_before);
                        white_before = 0;
                    }
                    start = end;
                }
                found.truncate(found.len() - white_before);
            }
            Pattern::Gpt2 => {
                for (start, end) in white_runs(text) {
                    // The whole run at the end of the text, elsewhere all but the last character.
                    let run = text.get(start..end).unwrap_or_default();
                    let last = run.chars().next_back().map_or(0, char::len_utf8);
                    let end = if end == text.len() { end } else { end - last };
                    if end - start > long {
                        found.push((start, end));
                    }
                }
            }
        }
        found
    }
}

/// The bounds of the longest runs of white space.
fn white_runs(text: &str) -> impl Iterator<Item = (usize, usize)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = text.get(at..)?;
        let start = at + rest.find(char::is_whitespace)?;
        let run = text.get(start..)?;
        at = run.find(|c: char| !c.is_whitespace()).map_or(text.len(), |len| start + len);
        Some((start, at))
    })
}

impl Counter for Tiktoken {
    fn name(&self) -> &str {
        self.name
    }

    fn count(&self, text: &str) -> u32 {
        self.count_with(text, LONG, None)
    }

    fn codec(&self) -> Option<&dyn Codec> {
        Some(self)
    }

    fn is_additive_before(&self, next: &str) -> bool {
        match self.pattern {
            Pattern::Ours(encoding) => encoding.is_additive_before(next),
            Pattern::Gpt2 => false, // "\n\n" is one piece at the end of a text and two before a word
        }
    }
}

impl Codec for Tiktoken {
    /// All tokens: tiktoken-rs cannot stop early.
    fn encode_ordinary(&self, text: &str, _: usize, tokens: &mut Vec<Rank>) {
        self.each_run(text, LONG, None, |run| match run {
            Run::Text(text) => tokens.extend(self.bpe.encode_ordinary(text)),
            Run::Long(piece, merges) => merges.encode(piece, tokens),
        });
    }

    fn append_token(&self, token: Rank, bytes: &mut Vec<u8>) -> bool {
        self.bpe.decode_bytes(&[token]).is_ok_and(|token| {
            bytes.extend(token);
            true
        })
    }

    fn specials(&self) -> Vec<(&str, Rank)> {
        let number = |text| self.bpe.encode_with_special_tokens(text).first().map(|&token| (token, text));
        let ordered: SortedMap<Rank, &str> = self.bpe.special_tokens().into_iter().filter_map(number).collect();
        ordered.iter().map(|(&token, &text)| (text, token)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_from_tiktoken_counts_as_it_would_have() {
        let parts = [
            " ", " ", " ", "\n", "\t", "\r\n", "\u{3000}", "\u{85}", "a", "B", "!", "/", "1", "'s", "\u{301}", "  ",
            "        ", "the", "漢字", "👍",
        ];
        let mut state = 1_u64;
        let mut kept = 0;
        for &name in Tiktoken::NAMES {
            let counter = Tiktoken::new(name).unwrap();
            let all: Vec<u8> = (0..=255).collect();
            let merges = counter.merges([all.as_slice()].into_iter());
            for _ in 0..1_000 {
                let mut text = String::new();
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                for i in 0..1 + (state >> 60) * 3 {
                    let part = parts[(state >> (i % 50)) as usize % parts.len()];
                    (0..1 + (state >> (i % 40)) % 9).for_each(|_| text.push_str(part));
                    state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                }
                let expected = counter.bpe.count_ordinary(&text);
                for long in [1, 2, 5] {
                    assert_eq!(
                        counter.count_with(&text, long, Some(&merges)) as usize,
                        expected,
                        "{name} {long} {text:?}"
                    );
                    kept += counter.long_pieces(&text, long).len();
                }
            }
            for length in 1..300 {
                for unit in [" ", "\n", "\t", "\u{3000}", " \n", "\t "] {
                    let text = unit.repeat(length);
                    assert_eq!(
                        counter.count_with(&text, 0, Some(&merges)) as usize,
                        counter.bpe.count_ordinary(&text),
                        "{name} {text:?}"
                    );
                }
            }
        }
        assert!(kept > 10_000, "{kept}");
    }

    #[test]
    fn a_long_piece_of_many_scripts_counts_as_it_would_have() {
        let mut state = 7_u64;
        for name in ["o200k_base", "cl100k_base"] {
            let counter = Tiktoken::new(name).unwrap();
            // Ranges without capitals, which would end a piece.
            for ranges in [
                &[(0x4e00, 0x5200)][..],
                &[(0x4e00, 0x40), (0x3041, 0x50), (0x30a1, 0x50), (0xac00, 0x2ba4)],
                &[(0x05d0, 27), (0x0621, 26), (0x0905, 48), (0x0e01, 46), (0x0430, 32), (0x61, 26), (0xe0, 23)],
                &[(0x1f300, 0x200), (0x2600, 0x80), (0x2190, 0x70)],
            ] {
                let text: String = (0..60_000)
                    .map(|_| {
                        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                        let (from, count) = ranges[(state >> 33) as usize % ranges.len()];
                        char::from_u32(from + (state >> 40) as u32 % count).unwrap()
                    })
                    .collect();
                let kept: usize = counter.long_pieces(&text, LONG).iter().map(|(start, end)| end - start).sum();
                assert!(kept > LONG, "{name} {ranges:x?}: {kept}");
                assert_eq!(counter.count(&text) as usize, counter.bpe.count_ordinary(&text), "{name} {ranges:x?}");
            }
        }
    }

    #[test]
    fn a_million_of_one_thing_does_not_panic() {
        for name in ["o200k_base", "cl100k_base", "p50k_base"] {
            let counter = Tiktoken::new(name).unwrap();
            for unit in [" ", "\t", "\n", "\u{3000}"] {
                for after in ["", "x"] {
                    let text = unit.repeat(1_000_000) + after;
                    assert!(counter.count(&text) > 0);
                }
            }
            for unit in ["a", "漢", "👍", "\t!", "xyz"] {
                let text = unit.repeat(150_000);
                assert_eq!(counter.count(&text) as usize, counter.bpe.count_ordinary(&text), "{name} {unit:?}");
            }
        }
    }

    #[test]
    fn every_encoding_is_there_and_others_are_an_error() {
        for &name in Tiktoken::NAMES {
            let counter = Tiktoken::new(name).unwrap();
            assert_eq!((counter.name(), counter.count("<|endoftext|>")), (name, 7));
            assert_eq!(counter.count(""), 0);
        }
        assert_eq!(Tiktoken::new("o300k").unwrap_err().code(), Code::UnknownValue);
    }
}
