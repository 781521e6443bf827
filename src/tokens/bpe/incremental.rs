//! Incremental counts of texts: each costs only its new part.
//!
//! More text can change only the last two pieces: a run of white space or of capitals is at most two pieces, and every
//! other piece ends where the next begins. So these two are counted again. A long piece, such as a megabyte of letters
//! without a space, is not even scanned again: the classes of its last characters determine which characters extend it
//! ([`Splitter::continues_with`]), and only its last tokens are encoded again, together with the new text. From the
//! first token that both encodings have in common, the later one is valid (docs/decisions/exact-counting.md, windows).

use super::class::{self, BLANK, BREAK, CASELESS, LOWER, MARK, NUMBER, OTHER, UPPER};
use super::counted::{Counted, LongPiece, MIN_RECHECKED_TOKENS};
use super::joins;
use super::merge::meet;
use super::normalize::Origins;
use super::scratch::Scratch;
use super::split::LETTER;
use super::splitter::{Kind, Splitter};
use super::vocabulary::Vocabulary;

/// Pieces of more bytes are long.
const LONG: usize = 256;

impl Vocabulary {
    /// Counts a text that begins with the one that was counted with `counted` before.
    pub(super) fn count_incremental(&self, text: &str, counted: &mut Counted, scratch: &mut Scratch) -> u64 {
        if let Some(form) = self.more.form {
            let new = text.get(counted.fixed..).unwrap_or_default();
            if !new.chars().all(|c| form.fixes(c)) {
                return self.count_normalized(text, counted, scratch);
            }
            counted.fixed = text.len();
        }
        let bytes = text.as_bytes();
        scratch.cache.size_for(bytes.len().saturating_sub(counted.end.0));
        let (mut last, mut here) = (counted.end, counted.end);
        while here.0 < bytes.len() {
            (counted.end, last) = (last, here);
            here = self.count_next(bytes, here, &mut counted.long, scratch);
        }
        scratch.shrink();
        here.1
    }

    /// [`Self::count_incremental`] for texts whose end may have to be normalized. It resumes only at a piece that
    /// begins with a character that normalization leaves unchanged, whatever precedes it.
    fn count_normalized(&self, text: &str, counted: &mut Counted, scratch: &mut Scratch) -> u64 {
        let Some((form, rest)) = self.more.form.zip(text.get(counted.end.0..)) else { return counted.end.1 };
        let normal = self.normalized(rest);
        let bytes = normal.as_bytes();
        scratch.cache.size_for(bytes.len());
        let mut origins = Origins::new(rest, Some(form));
        let (mut last, mut here) = ((0, counted.end.1), (0, counted.end.1));
        let mut end = last;
        while here.0 < bytes.len() {
            let (place, is_exact) = origins.at(last.0);
            if is_exact && rest.get(place..).is_some_and(|rest| rest.starts_with(|c| form.fixes(c))) {
                end = (place, last.1);
            }
            last = here;
            here = self.count_next(bytes, here, &mut [LongPiece::default(); 2], scratch);
        }
        counted.end = (counted.end.0 + end.0, end.1);
        counted.fixed = counted.end.0;
        counted.long = Default::default();
        scratch.shrink();
        here.1
    }

    /// Counts the next piece.
    fn count_next(
        &self,
        bytes: &[u8],
        (at, count): (usize, u64),
        long: &mut [LongPiece; 2],
        scratch: &mut Scratch,
    ) -> (usize, u64) {
        let known = long.iter().position(|long| long.start == at && long.end > at);
        let end = if known.is_some_and(|known| self.continues(bytes, &long[known])) {
            bytes.len()
        } else {
            self.splitter().end(bytes, at)
        };
        let tokens = if end - at > LONG {
            // Replaces the slot of the piece that begins earlier.
            let slot = known.unwrap_or(usize::from(long[1].start < long[0].start));
            self.count_long(bytes, (at, end), &mut long[slot], scratch)
        } else {
            self.count_short(bytes, at, end, scratch)
        };
        (end, count + tokens)
    }

    /// Whether a long piece continues to the end of the text.
    fn continues(&self, bytes: &[u8], long: &LongPiece) -> bool {
        let splitter = self.splitter();
        let (mut at, mut classes) = (long.end, long.classes);
        while at < bytes.len() {
            let (class, len) = splitter.class_at(bytes, at);
            if class & splitter.continues_with(bytes, long.start, classes) == 0 {
                return false;
            }
            classes |= class;
            at += len;
        }
        true
    }

    /// Counts a long piece; `known` may be the beginning of it, or another piece.
    fn count_long(&self, bytes: &[u8], (at, end): (usize, usize), known: &mut LongPiece, scratch: &mut Scratch) -> u64 {
        if self.whole_piece(bytes, at, end).is_some() {
            return 1;
        }
        let continues = known.start == at && (at + 1..=end).contains(&known.end);
        if continues && known.end == end {
            return known.tokens;
        }
        let splitter = self.splitter();
        let (mut seen, mut classes) = if continues { (known.end, known.classes) } else { (at, 0) };
        while seen < end {
            let (class, len) = splitter.class_at(bytes, seen);
            classes |= if seen == at { 0 } else { class };
            seen += len.max(1);
        }
        let new = bytes.get(if continues { known.end } else { at }..end).unwrap_or_default();
        let same = (known.same || !continues) && new.iter().all(|byte| Some(byte) == bytes.get(at));
        // The tokens before the new text that stay valid: their end and their number.
        let (old, mut held, mut tokens, mut few) = (known.bounds(), 0, 0, MIN_RECHECKED_TOKENS);
        scratch.bounds.clear();
        if continues {
            let old = old.get(..=known.kept).unwrap_or_default();
            few = known.few;
            while held == 0 {
                let first = known.kept.saturating_sub(few);
                let some = old.get(first..).unwrap_or_default();
                self.bounds(bytes, some.first().map_or(at, |&from| from as usize), end, same, scratch);
                if let Some((i, j)) = meet(some, &scratch.bounds) {
                    held = first + i + 1;
                    tokens = known.tokens - (known.kept - (first + i)) as u64;
                    scratch.bounds.drain(..=j);
                    few = (few - 1).max(MIN_RECHECKED_TOKENS);
                    break;
                }
                scratch.bounds.clear();
                if first == 0 {
                    break;
                }
                few *= 2;
            }
        }
        if held == 0 {
            self.bounds(bytes, at, end, same, scratch);
            tokens = scratch.bounds.len() as u64 - 1;
        } else {
            tokens += scratch.bounds.len() as u64;
        }
        *known = LongPiece { start: at, end, tokens, classes, same, few, ..LongPiece::default() };
        known.keep(old.get(..held).unwrap_or_default(), &scratch.bounds);
        tokens
    }

    /// Appends the bounds of the tokens of a part of a piece. `same` if all its bytes are equal.
    fn bounds(&self, bytes: &[u8], at: usize, end: usize, same: bool, scratch: &mut Scratch) {
        let Scratch { parts, bounds, runs, .. } = scratch;
        let byte = bytes.get(at).copied().filter(|_| same);
        if byte.is_some_and(|byte| runs.bounds(byte, at, end - at, bounds)) {
            return;
        }
        bounds.push(at as u32);
        // A token may begin within a character. The rest of that character is not valid UTF-8 and falls apart into
        // bytes.
        let inner = bytes.get(at..end).unwrap_or_default().iter().take_while(|&&byte| joins::width(byte) == 0).count();
        let first = at + inner;
        let mut is_first = inner > 0;
        self.tables.joins.each_unit(bytes, first, end, |start, stop| {
            if std::mem::take(&mut is_first) {
                parts.start(at, stop);
                parts.merge(&self.tables.words, bytes);
                bounds.extend(parts.bounds.iter().skip(1));
            } else if self.is_token(bytes, start, stop) {
                bounds.push(stop as u32);
            } else {
                self.leaves(bytes, start, stop, &mut parts.bounds);
                parts.merge(&self.tables.words, bytes);
                bounds.extend(parts.bounds.iter().skip(1));
            }
        });
        if let Some(byte) = byte {
            runs.learn(byte, bounds);
        }
    }
}

impl Splitter {
    /// The classes of characters that extend the long piece that begins at `start`, whose other characters have these
    /// classes. It may be extended by other classes, too.
    fn continues_with(self, bytes: &[u8], start: usize, classes: u8) -> u8 {
        let within = |set: u8| classes & !set == 0;
        match self.kind {
            // No upper case letter follows a lower case one, and no letter with both cases or neither precedes one.
            Kind::Cased if within(LETTER | MARK) => LOWER | CASELESS | MARK | if classes == UPPER { UPPER } else { 0 },
            Kind::Staged if within(LOWER | CASELESS | MARK) => match bytes.get(start) {
                Some(first) if first.is_ascii_punctuation() => LOWER,
                _ => LOWER | CASELESS | MARK,
            },
            Kind::Staged if within(UPPER) || within(OTHER) => classes,
            Kind::Staged if !within(BLANK | BREAK | OTHER) => 0,
            Kind::Cased => self.others_with(classes),
            _ if within(LETTER) => LETTER,
            _ => self.others_with(classes),
        }
    }

    /// [`Self::continues_with`] for pieces other than words.
    fn others_with(self, classes: u8) -> u8 {
        let within = |set: u8| classes & !set == 0;
        if self.kind == Kind::Spaced && within(BLANK | BREAK) {
            return BLANK | BREAK;
        }
        match () {
            () if within(OTHER | MARK) => OTHER | MARK,
            () if within(NUMBER) && self.digits() == usize::MAX => NUMBER,
            () if within(BLANK) => BLANK,
            () if classes == BLANK | BREAK && self.ends_whole() => BLANK | BREAK,
            () if classes & BREAK != 0 => BREAK,
            () => 0,
        }
    }

    /// The class of a character and its length in bytes, for [`Self::continues_with`]. For DeepSeek's first patterns,
    /// numbers have no class, and Chinese and Japanese share one with capitals; ASCII letters count as lower case,
    /// others as caseless.
    fn class_at(self, bytes: &[u8], at: usize) -> (u8, usize) {
        if self.kind == Kind::Staged {
            return match (super::split::stage(bytes, at), class::at(bytes, at)) {
                ((class::END, _), (NUMBER, len)) => (class::END, len),
                ((class::END, _), (_, len)) => (UPPER, len),
                ((class, len), _) if class & LETTER != 0 => (if len == 1 { LOWER } else { CASELESS }, len),
                (other, _) => other,
            };
        }
        class::at(bytes, at)
    }
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests {
    use super::super::splitter::{CONTRACTIONS, NUMBERS_FIRST, SLASHES};
    use super::*;

    /// Every text of six characters, one per class and those that patterns name: if five are a piece that may
    /// continue with the class of the sixth, six are a piece.
    #[test]
    fn a_piece_continues_with_the_stated_classes() {
        const CHARACTERS: [char; 13] =
            ['A', 's', 'é', 'ก', '中', '\u{301}', '1', ' ', '\n', '\'', '/', '。', '\u{200b}'];
        let cased = |digits, options| Splitter { kind: Kind::Cased, digits, options };
        let letters = |digits, options| Splitter { kind: Kind::Letters, digits, options };
        let splitters = [
            Splitter::O200K,
            Splitter::CL100K,
            Splitter::GPT2,
            cased(1, SLASHES),
            letters(3, CONTRACTIONS),
            letters(1, CONTRACTIONS),
            Splitter { kind: Kind::Spaced, digits: 1, options: CONTRACTIONS | NUMBERS_FIRST },
            Splitter { kind: Kind::Staged, digits: 3, options: 0 },
        ];
        for splitter in splitters {
            let is_piece = |text: &str| splitter.split(text).next() == Some(text);
            let (mut pieces, mut longer, mut said) = (0, 0, 0);
            for number in 0..CHARACTERS.len().pow(5) {
                let text: String =
                    (0..5).map(|at| CHARACTERS[number / CHARACTERS.len().pow(at) % CHARACTERS.len()]).collect();
                if !is_piece(&text) {
                    continue;
                }
                pieces += 1;
                let class_of = |(at, _)| splitter.class_at(text.as_bytes(), at).0;
                let classes = text.char_indices().skip(1).map(class_of).fold(0, |all, class| all | class);
                let more = splitter.continues_with(text.as_bytes(), 0, classes);
                for character in CHARACTERS {
                    let text = format!("{text}{character}");
                    let continues = splitter.class_at(text.as_bytes(), text.len() - character.len_utf8()).0 & more != 0;
                    longer += usize::from(is_piece(&text));
                    said += usize::from(continues);
                    assert!(!continues || is_piece(&text), "{splitter:?} {text:?}");
                }
            }
            // Most continuations are predicted.
            assert!(pieces > 100 && said * 10 > longer * 7, "{splitter:?}: {said} of {longer}, {pieces} pieces");
        }
    }
}
