//! What words cost by the token estimator, remembered by their spelling: most words of most texts come again.

use std::fmt;

/// How many words are remembered. A word has one place, and another with the same place drives it out.
const PLACES: usize = 4096;
/// How long a word may be with what stands before it, in bytes.
const WIDTH: usize = 16;

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = 0x8080_8080_8080_8080;

/// A short word of small ASCII letters, of which the first may be a capital, with the one character that belongs to its
/// piece: all that the piece's cost depends on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Word {
    /// The character before it, 0 where none belongs to it, and the letters; filled up with zeros.
    key: [u64; 2],
    /// How many letters it has.
    pub(crate) letters: usize,
}

impl Word {
    /// The word whose first letter is at `at` and whose piece begins there or one byte before. Nothing where the piece may
    /// not end with the word, or is too long.
    #[inline(always)]
    pub(crate) fn at(text: &[u8], from: usize, at: usize) -> Option<Self> {
        let before =
            if from == at { 0 } else { text.get(from).copied().filter(|&byte| byte != 0 && byte.is_ascii())? };
        let [low, high] = load(text, at);
        let (small_low, small_high) = (small_letters(low) | 0x80, small_letters(high));
        let letters = match (!small_low & HIGH, !small_high & HIGH) {
            (0, 0) => return None,
            (0, gap) => 8 + gap.trailing_zeros() / 8,
            (gap, _) => gap.trailing_zeros() / 8,
        };
        let next = if letters < 8 { low >> (letters * 8) } else { high >> (letters * 8 - 64) };
        let next = (next & 0xFF) as u8;
        // More letters of other kinds go on, and so does what follows a carriage return. A capital begins a new piece
        // behind a small letter only.
        let alone = letters == 1 && small_letters(low) & 0x80 == 0;
        if !next.is_ascii() || next == b'\r' || alone && next.is_ascii_uppercase() {
            return None;
        }
        let (keep_low, keep_high) = match letters {
            0..=7 => ((1 << (letters * 8)) - 1, 0),
            _ => (u64::MAX, (1 << (letters * 8 - 64)) - 1),
        };
        let (low, high) = (low & keep_low, high & keep_high);
        let key = [low << 8 | u64::from(before), high << 8 | low >> 56];
        Some(Self { key, letters: letters as usize })
    }

    /// Its place among [`PLACES`].
    #[inline(always)]
    fn place(&self) -> usize {
        let [low, high] = self.key;
        let mixed = (low ^ high.wrapping_mul(0xD6E8_FEB8_6659_FD93)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        (mixed >> 52) as usize % PLACES
    }
}

/// The sixteen bytes from `at` on, with zeros behind the end of the text.
#[inline(always)]
fn load(text: &[u8], at: usize) -> [u64; 2] {
    let rest = text.get(at..).unwrap_or_default();
    let whole = rest.first_chunk::<WIDTH>().copied();
    let bytes = whole.unwrap_or_else(|| {
        let mut bytes = [0; WIDTH];
        bytes.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
        bytes
    });
    let all = u128::from_le_bytes(bytes);
    [all as u64, (all >> 64) as u64]
}

/// The highest bit of each byte that is a small ASCII letter.
#[inline(always)]
fn small_letters(bytes: u64) -> u64 {
    let plain = bytes & !HIGH;
    let from_a = plain + ONES * u64::from(0x80 - b'a');
    let above_z = plain + ONES * u64::from(0x7F - b'z');
    from_a & !above_z & !bytes & HIGH
}

/// What words cost that were counted before.
pub(crate) struct Words {
    /// Empty until there is something to remember.
    places: Vec<([u64; 2], u32)>,
}

impl Words {
    /// Nothing is remembered yet.
    pub(crate) const fn new() -> Self {
        Self { places: Vec::new() }
    }

    /// What the word costs, in units.
    #[inline(always)]
    pub(crate) fn recall(&self, word: &Word) -> Option<u32> {
        let &(key, cost) = self.places.get(word.place())?;
        (key == word.key).then_some(cost)
    }

    /// Remembers what the word costs.
    pub(crate) fn learn(&mut self, word: &Word, cost: u32) {
        // No word has this key.
        self.places.resize(PLACES, ([0; 2], 0));
        if let Some(place) = self.places.get_mut(word.place()) {
            *place = (word.key, cost);
        }
    }
}

impl fmt::Debug for Words {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Words").finish_non_exhaustive()
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
