//! The supported patterns of `tokenizer.json` files.

use std::borrow::Cow;

use super::splitter::{CONTRACTIONS, Kind, MARKS, NUMBERS_FIRST, SLASHES, Splitter};
use crate::text::replace;

const CASED: &str = concat!(
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
);
const TEKKEN: &str = concat!(
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+",
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*",
    r"|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
);
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
/// `cl100k_base` as first published.
const GPT4: &str = concat!(
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}",
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+",
);
const GPT4_POSSESSIVE: &str = concat!(
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,3}",
    r"| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+",
);
const GPT2: &str = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+";
const GPT2_SHORT: &str = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+";
/// DeepSeek's patterns since V3, applied one after another.
const DEEPSEEK: [&str; 3] = [
    r"\p{N}{1,3}",
    "[一-龥\u{3040}-ゟ゠-ヿ]+",
    concat!(
        r##"[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"##,
        r"| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    ),
];

impl Splitter {
    /// The splitter of a single pattern, whose matches and the text between them are the pieces.
    fn of_pattern(pattern: &str) -> Option<Self> {
        let letters = |digits, options| Self { kind: Kind::Letters, digits, options: CONTRACTIONS | options };
        Some(match pattern {
            CASED => Self::O200K,
            TEKKEN => Self { kind: Kind::Cased, digits: 1, options: SLASHES },
            // A greedy `\s*` leaves at most one line break for what follows it: `[\r\n]` and `[\r\n]+` are equivalent.
            LLAMA3 | GPT4 | GPT4_POSSESSIVE => letters(3, 0),
            QWEN2 => letters(1, 0),
            QWEN35 => letters(1, MARKS),
            GPT2 | GPT2_SHORT => Self::GPT2,
            _ => return None,
        })
    }

    /// The splitter of several patterns, each applied to what the previous one left.
    pub(super) fn of_patterns(patterns: &[Cow<'_, str>]) -> Option<Self> {
        // Some files contain the line breaks themselves.
        let is_last = |pattern: &str| replace(&replace(pattern, "\r", r"\r"), "\n", r"\n") == DEEPSEEK[2];
        match patterns {
            [one] => Self::of_pattern(one),
            [numbers, ideographs, last] if numbers == DEEPSEEK[0] && ideographs == DEEPSEEK[1] && is_last(last) => {
                Some(Self { kind: Kind::Staged, digits: 3, options: NUMBERS_FIRST })
            }
            _ => None,
        }
    }

    /// The same with each digit split off first.
    pub(super) fn with_single_digits(self) -> Option<Self> {
        let options = self.options | NUMBERS_FIRST;
        (self == Self::GPT2).then_some(Self { digits: 1, options, ..self })
    }
}
