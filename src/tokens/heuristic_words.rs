//! A cache of word costs of the token estimator, by spelling, since words repeat.
//!
//! Without `inline(always)` estimating takes 16 % longer: docs/decisions/inlining.md.

use std::fmt;

/// The number of cached words. Each word has one slot, and a word with the same slot evicts it.
const PLACES: usize = 4096;
/// Maximum length of a word with the character before it, in bytes.
const WIDTH: usize = 16;

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = 0x8080_8080_8080_8080;

/// A short word of ASCII letters in lower case, of which the first may be a capital, with the one character before it
/// that belongs to its piece: everything that the piece's cost depends on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Word {
    /// The character before it, 0 if none belongs to it, and the letters; zero-padded.
    key: [u64; 2],
    /// The number of letters.
    pub(crate) letters: usize,
}

impl Word {
    /// The word whose first letter is at `at` and whose piece begins there or one byte before. `None` if the piece may
    /// not end with the word, or is too long.
    #[inline(always)]
    pub(crate) fn at(text: &[u8], from: usize, at: usize) -> Option<Self> {
        let before =
            if from == at { 0 } else { text.get(from).copied().filter(|&byte| byte != 0 && byte.is_ascii())? };
        let low = load(text, at);
        // The first letter may be a capital.
        let gap = !small_letters(low) & HIGH & !0xFF;
        let ((low, high), letters, next) = if gap == 0 {
            let high = load(text, at + 8);
            let gap = (!small_letters(high) & HIGH).trailing_zeros() & !7;
            ((low, high & mask(gap)), 8 + gap / 8, high >> (gap & 63))
        } else {
            let gap = gap.trailing_zeros() & !7;
            ((low & mask(gap), 0), gap / 8, low >> gap)
        };
        let letters = letters as usize;
        let next = (next & 0xFF) as u8;
        if letters >= WIDTH || !ends(next, letters, small_letters(low) & 0x80 != 0) {
            return None;
        }
        Some(Self { key: [low << 8 | u64::from(before), high << 8 | low >> 56], letters })
    }
}

/// The slot of a key among [`PLACES`].
#[inline(always)]
fn place_of([low, high]: [u64; 2]) -> usize {
    let mixed = (low ^ high.wrapping_mul(0xD6E8_FEB8_6659_FD93)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed >> 52) as usize % PLACES
}

/// The cost of the word with this key, if cached.
#[inline(always)]
fn cost_of(places: &[KnownWord; PLACES], key: [u64; 2]) -> Option<u32> {
    let &([low, high], cost) = places.get(place_of(key))?;
    if low == key[0] && high == key[1] { Some(cost) } else { None }
}

/// Bytes per window.
const WINDOW: usize = 64;

/// Continues a run with the cached words after it that are each preceded by a space.
///
/// The letters of a window of bytes are located at once, so that there are few steps from one word to the next.
#[inline(always)]
fn spaced(places: &[KnownWord; PLACES], text: &[u8], mut run: Run, max_cost: u64) -> Run {
    let mut padded = [0; WINDOW + WIDTH];
    while run.cost <= max_cost && text.get(run.end) == Some(&b' ') {
        let base = run.end;
        let rest = text.get(base..).unwrap_or_default();
        let window = rest.first_chunk().unwrap_or_else(|| {
            padded = [0; WINDOW + WIDTH];
            if let Some(to) = padded.get_mut(..rest.len()) {
                to.copy_from_slice(rest);
            }
            &padded
        });
        let Some(shown) = window.first_chunk() else { return run };
        let small = small_letters_in(shown);
        // The offset of the space before the next word. The last offset is left out, so that the word's first letter is
        // in the window.
        let mut from = 0;
        while from < WINDOW - 1 && window.get(from) == Some(&b' ') {
            let at = from + 1;
            // The first letter may be a capital.
            let is_small = small >> at & 1 != 0;
            let letters = (small >> at | 1).trailing_ones() as usize;
            let end = at + letters;
            let Some(chunk) = window.get(from..).and_then(|rest| rest.first_chunk::<WIDTH>()) else { break };
            if !is_small && !chunk[1].is_ascii_uppercase() || letters >= WIDTH {
                return run;
            }
            let next = window.get(end).copied().unwrap_or_default();
            if next != b' ' && !ends(next, letters, is_small) {
                return run;
            }
            if end >= WINDOW {
                break;
            }
            let bytes = u128::from_le_bytes(*chunk);
            let (low, high) = (bytes as u64, (bytes >> 64) as u64);
            let bits = letters as u32 * 8 + 8;
            let key = if bits <= 64 { [low & mask(bits), 0] } else { [low, high & mask(bits - 64)] };
            let Some(cost) = cost_of(places, key) else { return run };
            run.cost += u64::from(cost);
            run.end = base + end;
            if run.cost > max_cost {
                return run;
            }
            from = end;
        }
        if run.end == base || window.get(from) != Some(&b' ') {
            return run;
        }
    }
    run
}

/// Whether a word of this many letters ends before this byte. Letters of other kinds continue it, and so does text
/// after a carriage return. A capital begins a new piece only after a lower case letter.
#[inline(always)]
fn ends(next: u8, letters: usize, small: bool) -> bool {
    next.is_ascii() && next != b'\r' && (small || letters > 1 || !next.is_ascii_uppercase())
}

/// A bit for each byte that is a lower case ASCII letter, the lowest bit for the first byte.
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
#[inline(always)]
fn small_letters_in(window: &[u8; WINDOW]) -> u64 {
    use std::arch::wasm32::{u8x16_bitmask, u8x16_lt, u8x16_splat, u8x16_sub, u64x2};
    let mut bits = 0;
    for chunk in window.as_chunks().0 {
        let bytes = u128::from_le_bytes(*chunk);
        let from_a = u8x16_sub(u64x2(bytes as u64, (bytes >> 64) as u64), u8x16_splat(b'a'));
        bits = bits >> 16 | u64::from(u8x16_bitmask(u8x16_lt(from_a, u8x16_splat(26)))) << (WINDOW - 16);
    }
    bits
}

/// The same without vector instructions.
#[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
fn small_letters_in(window: &[u8; WINDOW]) -> u64 {
    let mut bits = 0;
    for word in window.as_chunks::<8>().0 {
        let letters = small_letters(u64::from_le_bytes(*word)) >> 7;
        // The multiplication gathers the lowest bits of eight bytes in the highest byte.
        bits = bits >> 8 | letters.wrapping_mul(0x0102_0408_1020_4080) & 0xFF << (WINDOW - 8);
    }
    bits
}

/// The lowest `bits` bits.
#[inline(always)]
fn mask(bits: u32) -> u64 {
    1_u64.checked_shl(bits).unwrap_or(0).wrapping_sub(1)
}

/// The eight bytes from `at`, zero-padded after the end of the text.
#[inline(always)]
fn load(text: &[u8], at: usize) -> u64 {
    let rest = text.get(at..).unwrap_or_default();
    match rest.first_chunk() {
        Some(bytes) => u64::from_le_bytes(*bytes),
        None => load_last(rest),
    }
}

fn load_last(rest: &[u8]) -> u64 {
    rest.iter().rev().fold(0, |bytes, &byte| bytes << 8 | u64::from(byte))
}

/// The highest bit of each byte that is a lower case ASCII letter.
#[inline(always)]
fn small_letters(bytes: u64) -> u64 {
    let plain = bytes & !HIGH;
    let from_a = plain + ONES * u64::from(0x80 - b'a');
    let above_z = plain + ONES * u64::from(0x7F - b'z');
    from_a & !above_z & !bytes & HIGH
}

/// The cached costs of words.
pub(crate) struct WordCostCache {
    /// `None` until there is something to cache.
    places: Option<Box<[KnownWord; PLACES]>>,
}

/// A word's key, and its cost in units. No word has a key of zeros.
type KnownWord = ([u64; 2], u32);

/// Cached words in a row with a space between them.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Run {
    /// Units.
    pub(crate) cost: u64,
    /// The end of the last one.
    pub(crate) end: usize,
}

impl WordCostCache {
    /// An empty cache.
    pub(crate) const fn new() -> Self {
        Self { places: None }
    }

    /// The cached words from the one whose first letter is at `at`, if it is cached, until they cost more than
    /// `max_cost`. Its piece begins at `from`.
    pub(crate) fn run(&self, text: &[u8], from: usize, at: usize, max_cost: u64) -> Option<Run> {
        let places = self.places.as_deref()?;
        let run = if from < at && text.get(from) == Some(&b' ') {
            spaced(places, text, Run { cost: 0, end: from }, max_cost)
        } else {
            let word = Word::at(text, from, at)?;
            let first = Run { cost: cost_of(places, word.key)?.into(), end: at + word.letters };
            spaced(places, text, first, max_cost)
        };
        (run.end > from).then_some(run)
    }

    /// Caches the cost of the word.
    pub(crate) fn learn(&mut self, word: &Word, cost: u32) {
        // Not created on the stack, which is small.
        self.places = self.places.take().or_else(|| vec![([0; 2], 0); PLACES].into_boxed_slice().try_into().ok());
        if let Some(place) = self.places.as_deref_mut().and_then(|places| places.get_mut(place_of(word.key))) {
            *place = (word.key, cost);
        }
    }
}

impl fmt::Debug for WordCostCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WordCostCache").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Letter by letter.
    fn naive(text: &[u8], from: usize, at: usize) -> Option<(Vec<u8>, usize)> {
        let rest = &text[at..];
        let letters = 1 + rest[1..].iter().take_while(|byte| byte.is_ascii_lowercase()).count();
        let next = rest.get(letters).copied().unwrap_or(b' ');
        let small = rest[..letters].iter().any(u8::is_ascii_lowercase);
        let ends = next.is_ascii() && next != b'\r' && (small || !next.is_ascii_uppercase());
        let before = text[from..at].iter().all(|byte| byte.is_ascii() && *byte != 0);
        (ends && before && letters < WIDTH).then(|| (text[from..at + letters].to_vec(), letters))
    }

    #[test]
    fn words_end_where_their_letters_do() {
        let befores = ["", " ", "'", "\0", "é"];
        let ends = ["", " ", "\n", "\r", "A", "é", "1", "'", "\0", "`", "{", "[", "@", "\u{7f}", "\u{80}"];
        for before in befores {
            for first in ["a", "z", "A", "Z", "m"] {
                for length in 0..20 {
                    for end in ends {
                        for tail in ["", "abcdefghijklmnopqrstuvwxyz"] {
                            let text = format!("{before}{first}{}{end}{tail}", "qz".repeat(10).split_at(length).0);
                            let (bytes, at) = (text.as_bytes(), before.len());
                            let from = at.saturating_sub(1);
                            let found = Word::at(bytes, from, at);
                            let expected = naive(bytes, from, at);
                            assert_eq!(
                                found.map(|word| word.letters),
                                expected.as_ref().map(|word| word.1),
                                "{text:?}"
                            );
                            let Some((word, (spelling, _))) = found.zip(expected) else { continue };
                            let mut key = vec![0; usize::from(from == at)];
                            key.extend(spelling);
                            key.resize(WIDTH, 0);
                            let all = [word.key[0].to_le_bytes(), word.key[1].to_le_bytes()].concat();
                            assert_eq!(all, key, "{text:?}");
                        }
                    }
                }
            }
        }
    }
}
