//! The state of an incremental count.

/// Maximum number of tokens kept of a long piece.
const MAX_KEPT_TOKENS: usize = 16;

/// Minimum number of tokens that are checked again.
pub(super) const MIN_RECHECKED_TOKENS: usize = 2;

/// How far a text was counted.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counted {
    /// Offset of the last pieces, which more text may change, and the number of tokens before them.
    pub(super) end: (usize, u64),
    /// The long pieces among these two.
    pub(super) long: [LongPiece; 2],
    /// All characters before this offset are known to be in the normal form of the vocabulary.
    pub(super) fixed: usize,
    /// No added token begins between the begin of the last pieces and this offset.
    pub(super) searched: usize,
}

impl Counted {
    /// Drops the text before the last pieces from the state; returns its length in bytes.
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
        self.fixed = self.fixed.saturating_sub(bytes);
        self.searched = self.searched.saturating_sub(bytes);
        bytes
    }
}

/// A long piece; unused if empty.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LongPiece {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) tokens: u64,
    /// The classes of its characters but the first.
    pub(super) classes: u8,
    /// Whether all its bytes are the same.
    pub(super) same: bool,
    /// Offset of the first kept token, the number of kept tokens, and the end of each, relative to that offset.
    pub(super) from: usize,
    pub(super) kept: usize,
    pub(super) ends: [u16; MAX_KEPT_TOKENS],
    /// How many of them are checked again at first.
    pub(super) few: usize,
}

impl LongPiece {
    /// Keeps the last tokens of a piece; `before` and `bounds` together are the bounds of tokens up to its end.
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

    /// The bounds of the kept tokens; entries after them are unused.
    pub(super) fn bounds(&self) -> [u32; MAX_KEPT_TOKENS + 1] {
        let mut bounds = [self.from as u32; MAX_KEPT_TOKENS + 1];
        for (bound, end) in bounds.iter_mut().skip(1).zip(self.ends) {
            *bound += u32::from(end);
        }
        bounds
    }
}
