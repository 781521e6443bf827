//! How far a text that grows was counted.

/// At most so many tokens of a long piece are kept.
const MAX_KEPT_TOKENS: usize = 16;

/// So many of them are looked at again at least.
pub(super) const MIN_RECHECKED_TOKENS: usize = 2;

/// How far a text was counted.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counted {
    /// Where the last two pieces begin, and the tokens before them.
    pub(super) end: (usize, u64),
    /// The long ones of these two.
    pub(super) long: [LongPiece; 2],
    /// Up to here all characters are known to be in the normal form of the vocabulary.
    pub(super) fixed: usize,
}

impl Counted {
    /// From now on the text is without what comes before the last two pieces: so many bytes.
    pub(crate) fn invalidate(&mut self) -> usize {
        let (bytes, tokens) = self.end;
        if bytes == 0 {
            return 0;
        }
        self.end = (0, tokens);
        for long in &mut self.long {
            *long = match long.start.checked_sub(bytes) {
                Some(start) => LongPiece { start, end: long.end - bytes, from: long.from - bytes, ..*long },
                None => LongPiece::default(),
            };
        }
        {
            self.fixed = self.fixed.saturating_sub(bytes);
        }
        bytes
    }
}

/// A long piece; none where it is empty.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LongPiece {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) tokens: u64,
    /// The classes of its characters but the first.
    pub(super) classes: u8,
    /// Whether all its bytes are the same.
    pub(super) same: bool,
    /// Where the last tokens begin, how many they are, and where each ends after that.
    pub(super) from: usize,
    pub(super) kept: usize,
    pub(super) ends: [u16; MAX_KEPT_TOKENS],
    /// So many of them are looked at again, to begin with.
    pub(super) few: usize,
}

impl LongPiece {
    /// Keeps the last tokens of a piece, of which these two lists together are the bounds of some, up to its end.
    pub(super) fn keep(&mut self, before: &[u32], bounds: &[u32]) {
        let first = (before.len() + bounds.len()).saturating_sub(MAX_KEPT_TOKENS + 1);
        let bounds = bounds.get(first.saturating_sub(before.len())..).unwrap_or_default();
        let mut last = before.get(first..).unwrap_or_default().iter().chain(bounds);
        let from = last.next().copied().unwrap_or_default();
        (self.from, self.kept) = (from as usize, 0);
        for (kept, end) in self.ends.iter_mut().zip(last) {
            // A token has at most 1024 bytes.
            *kept = (end - from) as u16;
            self.kept += 1;
        }
    }

    /// The bounds of the tokens that are kept; what is after them means nothing.
    pub(super) fn bounds(&self) -> [u32; MAX_KEPT_TOKENS + 1] {
        let mut bounds = [self.from as u32; MAX_KEPT_TOKENS + 1];
        for (bound, end) in bounds.iter_mut().skip(1).zip(self.ends) {
            *bound += u32::from(end);
        }
        bounds
    }
}
