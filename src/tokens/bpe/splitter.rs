//! The splitter of an encoding: a few numbers, which are part of the asset.
//!
//! Without `inline(always)` exact counting takes 32 % longer: docs/decisions/inlining.md.

/// How a pattern treats letters, and with that everything else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Words end at a change from lower to upper case; one character that is neither letter, number nor line break
    /// belongs to the word after it, and marks count as letters: `o200k_base` and its relatives.
    Cased,
    /// Words are letters, with one such character before them: `cl100k_base` and its relatives.
    Letters,
    /// Words, numbers and the rest, each with a space before it: GPT-2.
    Spaced,
    /// DeepSeek: numbers first, then Chinese and Japanese, then words with their marks, punctuation and symbols.
    Staged,
}

/// How texts are split into pieces that tokens never cross.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Splitter {
    pub(super) kind: Kind,
    /// Maximum digits per piece; unlimited if 0.
    pub(super) digits: u8,
    pub(super) options: u8,
}

/// `'s`, `'t`, `'re` and the like are split off the word before them, or belong to it.
pub(super) const CONTRACTIONS: u8 = 1 << 0;
/// Punctuation takes along slashes next to the line breaks after it.
pub(super) const SLASHES: u8 = 1 << 1;
/// White space at the end of a text is one piece, including its line breaks.
const WHOLE_END: u8 = 1 << 2;
/// Numbers are split off first: the text before a number ends like a text.
pub(super) const NUMBERS_FIRST: u8 = 1 << 3;
/// Marks belong to words like letters.
pub(super) const MARKS: u8 = 1 << 4;

impl Splitter {
    /// The splitter of `o200k_base`.
    pub(super) const O200K: Self = Self { kind: Kind::Cased, digits: 3, options: CONTRACTIONS | SLASHES };
    /// The splitter of `cl100k_base`.
    pub(super) const CL100K: Self = Self { kind: Kind::Letters, digits: 3, options: CONTRACTIONS | WHOLE_END };

    #[inline(always)]
    fn has(self, option: u8) -> bool {
        self.options & option != 0
    }

    /// Maximum digits per piece.
    #[inline(always)]
    pub(super) fn digits(self) -> usize {
        match self.digits {
            0 => usize::MAX,
            digits => digits.into(),
        }
    }

    #[inline(always)]
    pub(super) fn has_contractions(self) -> bool {
        self.has(CONTRACTIONS)
    }

    #[inline(always)]
    pub(super) fn takes_slashes(self) -> bool {
        self.has(SLASHES)
    }

    #[inline(always)]
    pub(super) fn ends_whole(self) -> bool {
        self.has(WHOLE_END)
    }

    /// Whether counts add up at a paragraph break before `next`: see
    /// [`Counter`](crate::tokens::Counter::is_additive_before).
    ///
    /// After a line break a piece begins with the next character that is not white space, except that punctuation may
    /// include the line breaks *and slashes* that follow it. For GPT-2 two line breaks are one piece at the end of a
    /// text and two before a word.
    pub fn is_additive_before(self, next: &str) -> bool {
        match self.kind {
            Kind::Cased => !(self.takes_slashes() && next.starts_with('/')),
            Kind::Letters => true,
            Kind::Spaced => false,
            Kind::Staged => true,
        }
    }
}

impl Splitter {
    /// The splitter of GPT-2.
    pub(super) const GPT2: Self = Self { kind: Kind::Spaced, digits: 0, options: CONTRACTIONS };

    #[inline(always)]
    pub(super) fn has_numbers_first(self) -> bool {
        self.has(NUMBERS_FIRST)
    }

    #[inline(always)]
    pub(super) fn has_marks(self) -> bool {
        self.has(MARKS)
    }

    /// Its bytes in the asset.
    pub(super) const fn to_bytes(self) -> [u8; 4] {
        let kind = match self.kind {
            Kind::Cased => 0,
            Kind::Letters => 1,
            Kind::Spaced => 2,
            Kind::Staged => 3,
        };
        [kind, self.digits, self.options, 0]
    }

    /// Reads the bytes of an asset; `None` if they are not a splitter.
    pub(super) fn from_bytes([kind, digits, options, rest]: [u8; 4]) -> Option<Self> {
        let kind = match kind {
            0 => Kind::Cased,
            1 => Kind::Letters,
            2 => Kind::Spaced,
            3 => Kind::Staged,
            _ => return None,
        };
        (rest == 0 && options < MARKS << 1).then_some(Self { kind, digits, options })
    }
}
