//! Incremental counts of texts: each costs only its new part.
//!
//! More text can change only the last two pieces: a run of white space or of capitals is at most two pieces, and every
//! other piece ends where the next begins. So these two are counted again. A long piece, such as a megabyte of letters
//! without a space, is not even scanned again: the classes of its last characters determine which characters extend it
//! ([`Splitter::continues_with`]), and only its last tokens are encoded again, together with the new text. From the
//! first token that both encodings have in common, the later one is valid (docs/decisions/exact-counting.md, windows).
//!
//! More text can also complete an added token that begins near the end of the text. So counting resumes only at places
//! from which no added token reaches the end.

use super::class::{self, BLANK, BREAK, CASELESS, LOWER, MARK, NUMBER, OTHER, UPPER};
use super::counted::{Counted, LongPiece, MIN_RECHECKED_TOKENS};
use super::joins;
use super::merge::meet;
use super::normalize::{Form, Origins};
use super::scratch::Scratch;
use super::split::LETTER;
use super::splitter::{Kind, Splitter};
use super::text_tokens::TextPart;
use super::vocabulary::Vocabulary;

/// Pieces of more bytes are long.
const LONG: usize = 256;

impl Vocabulary {
    /// Counts a text that begins with the one that was counted with `counted` before.
    pub(super) fn count_incremental(&self, text: &str, counted: &mut Counted, scratch: &mut Scratch) -> u64 {
        let tokens = self.more.text_tokens.as_ref();
        if let Some(form) = self.more.form {
            let new = text.get(counted.fixed..).unwrap_or_default();
            if !new.chars().all(|c| form.fixes(c)) {
                return self.count_parts(text, counted, scratch);
            }
        }
        if tokens.is_some_and(|tokens| tokens.is_in(text, counted.searched)) {
            return self.count_parts(text, counted, scratch);
        }
        let (bytes, reach) = (text.as_bytes(), self.reach());
        counted.fixed = bytes.len();
        counted.searched = counted.searched.max(bytes.len().saturating_sub(reach));
        scratch.cache.size_for(bytes.len().saturating_sub(counted.end.0));
        let (mut last, mut here) = (counted.end, counted.end);
        while here.0 < bytes.len() {
            let next = self.count_next(bytes, here, &mut counted.long, scratch);
            if next.0.saturating_add(reach) <= bytes.len() {
                counted.end = last;
            }
            (last, here) = (here, next);
        }
        scratch.shrink();
        here.1
    }

    /// The number of bytes at the end of a text within which an added token may begin that more text completes.
    fn reach(&self) -> usize {
        self.more.text_tokens.as_ref().map_or(0, |tokens| tokens.reach)
    }

    /// [`Self::count_incremental`] for texts whose end has added tokens or may have to be normalized.
    fn count_parts(&self, text: &str, counted: &mut Counted, scratch: &mut Scratch) -> u64 {
        let rest = text.get(counted.end.0..).unwrap_or_default();
        let mut segments = Segments { rest, from: 0, count: counted.end.1, resume: (0, counted.end.1) };
        match &self.more.text_tokens {
            None => self.count_segment(rest, &mut segments, scratch),
            Some(tokens) => {
                for (part, token) in tokens.original_parts(rest) {
                    if token.is_none() {
                        self.count_segment(part, &mut segments, scratch);
                    }
                    segments.from += part.len();
                    if token.is_some() {
                        segments.count += 1;
                        segments.resume_at(segments.from, segments.count, tokens.reach);
                    }
                }
            }
        }
        let (place, tokens) = segments.resume;
        counted.end = (counted.end.0 + place, tokens);
        (counted.fixed, counted.searched) = (counted.end.0, counted.end.0);
        counted.long = Default::default();
        scratch.shrink();
        segments.count
    }

    /// Counts the text between two added tokens of the original text. Counting resumes only at a piece that begins with
    /// a character that normalization leaves unchanged, whatever precedes it.
    fn count_segment(&self, part: &str, segments: &mut Segments<'_>, scratch: &mut Scratch) {
        let form = self.more.form;
        let normal = self.normalized(part);
        // The beginning of the normalized text that later text leaves unchanged.
        let mut settled = usize::MAX;
        if self.more.text_tokens.is_some() {
            let is_last = segments.from + part.len() == segments.rest.len();
            let begins = |&(_, c): &(usize, char)| form.is_some_and(|form| form.fixes(c));
            let stable = match form {
                Some(_) if is_last => {
                    let end = part.char_indices().rev().find(begins).map_or(0, |(at, _)| at);
                    self.normalized(part.get(..end).unwrap_or_default()).len()
                }
                _ => normal.len(),
            };
            settled = stable.saturating_sub(self.reach().saturating_mul(Form::max_bytes_per_byte(form)));
        }
        scratch.cache.size_for(normal.len());
        let mut origins = Origins::new(part, form);
        let mut resume = |segments: &mut Segments<'_>, at: usize, count: u64| {
            let (place, is_exact) = origins.at(at);
            let begins = |rest: &str| form.is_none_or(|form| rest.starts_with(|c| form.fixes(c)));
            if is_exact && part.get(place..).is_some_and(begins) {
                segments.resume_at(segments.from + place, count, self.reach());
            }
        };
        let mut from = 0;
        let mut count_part = |(part, token): TextPart<'_>| {
            let (mut last, mut here) = ((0, segments.count), (0, segments.count));
            while token.is_none() && here.0 < part.len() {
                let next = self.count_next(part.as_bytes(), here, &mut [LongPiece::default(); 2], scratch);
                if from + next.0 <= settled {
                    resume(segments, from + last.0, last.1);
                }
                (last, here) = (here, next);
            }
            segments.count = here.1 + u64::from(token.is_some());
            from += part.len();
            if token.is_some() && from <= settled {
                resume(segments, from, segments.count);
            }
        };
        match &self.more.text_tokens {
            None => count_part((&normal, None)),
            Some(tokens) => tokens.normalized_parts(&normal).for_each(count_part),
        }
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

/// The progress of a count by parts.
struct Segments<'t> {
    /// The text that is counted, in bytes the begin of the current part, and the number of tokens before it.
    rest: &'t str,
    from: usize,
    count: u64,
    /// Where the next count can resume, and the number of tokens before.
    resume: (usize, u64),
}

impl Segments<'_> {
    /// Resumes at this offset, unless an added token may begin before it and end after it in a longer text.
    fn resume_at(&mut self, place: usize, count: u64, reach: usize) {
        if place.saturating_add(reach) <= self.rest.len() {
            self.resume = (place, count);
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
