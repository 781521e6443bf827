//! The vocabulary as a hash table from the bytes of a token to its rank.
//!
//! Most pieces of ordinary text are one token, so this look-up is the most frequent one; also, adjacent parts merge if
//! their bytes together are a token. The tokens are listed by rank, so that frequent ones are close together. An open
//! hash table next to the list holds a rank and 14 bits of the hash per slot, which is enough to reject most texts that
//! are not tokens.
//!
//! Without `inline(always)` exact counting takes 32 % longer: docs/decisions/inlining.md.

use super::split::load8;

/// A token's number, which is also its rank: of two merges, the one into the lower rank is done first.
pub type Rank = u32;

/// Flag in the end of a token that also ends a piece of the text. No token crosses piece boundaries.
pub const PIECE: usize = 1 << (usize::BITS - 1);

/// Not a token.
pub(super) const NONE: Rank = Rank::MAX;

/// Bits of a rank in a slot.
const RANK_BITS: u32 = 18;

/// Vocabularies have fewer tokens than this.
pub(super) const MAX_TOKENS: usize = 1 << RANK_BITS;

/// Maximum length of a token, in bytes.
pub(super) const MAX_TOKEN_BYTES: usize = 1024;

/// An odd number without a pattern, the multiplier of the hashes.
pub(super) const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// Tokens up to this length are stored in a word of the list.
pub(super) const SHORT: usize = 8;

/// All bytes of tokens up to this length enter the hash.
const TWO_WORDS: usize = 16;

/// Maximum distance of a token from its home slot. Without a limit, a damaged asset that repeats one token would take
/// minutes to be rejected.
const NEAR: usize = 512;

/// Copies and reads of whole words may overrun both ends by this many bytes.
const OVER: usize = 8;

/// An entry of the list.
///
/// Up to [`SHORT`] bytes are stored inline, from the lowest byte on, with each bit inverted, and zero-padded. Only one
/// token of a single byte contains `0xff`, so the length follows from the padding, and such words are joined by
/// shifting. A longer token is in the blob: zero in the lowest byte, then its length in two bytes, then its offset.
pub(super) type Text = u64;

/// A token joined from two.
pub(super) struct Joined {
    pub(super) text: Text,
    pub(super) hash: u64,
    /// The bytes before the seam, at the top of the word, and how many the left token has.
    pub(super) before: (u64, usize),
    /// The bytes after the seam, at the bottom of the word, and how many the right token has.
    pub(super) after: (u64, usize),
}

/// Whether a token is stored inline. The byte `0xff` counts as longer: it occurs neither in UTF-8 nor in any other
/// token.
#[inline(always)]
fn is_short(text: Text) -> bool {
    text as u8 != 0
}

/// The offset of a longer token in the blob, and its length.
#[inline(always)]
fn place(text: Text) -> (usize, usize) {
    ((text >> 24) as usize, (text >> 8) as usize & 0xffff)
}

/// The length of an inline token, in bits.
#[inline(always)]
fn bits(text: Text) -> u32 {
    64 - (text.leading_zeros() & !7)
}

/// The tokens of a vocabulary.
pub(super) struct TokenTable {
    /// All tokens by rank.
    texts: Vec<Text>,
    /// The longer tokens one after another, padded at both ends.
    blob: Vec<u8>,
    /// Where the next of them is appended.
    end: usize,
    /// The rank plus one, below the tag; zero if missing.
    slots: Vec<u32>,
    /// Whether a token may rank lower than one of its parts, so that merges do not come in the order of their ranks.
    pub(super) inverted: bool,
}

/// The word of up to eight bytes from `at`.
#[inline(always)]
fn short(bytes: &[u8], at: usize, len: usize) -> Text {
    debug_assert!(0 < len && len <= SHORT);
    !load8(bytes, at) & u64::MAX >> (64 - 8 * len)
}

#[inline(always)]
fn hash_short(text: Text) -> u64 {
    text.wrapping_mul(SPREAD)
}

/// The hash of more than eight bytes.
#[inline(always)]
fn hash_longer(bytes: &[u8], at: usize, len: usize) -> u64 {
    let ends = [load8(bytes, at), load8(bytes, at + len - 8)];
    if len <= TWO_WORDS {
        hash_two(ends, len)
    } else {
        // Long tokens are runs of one character or begin alike: the length distinguishes most of them, the ends the
        // rest.
        hash_two([hash_two(ends, len), load8(bytes, at + len / 2)], len)
    }
}

#[inline(always)]
fn hash_two([one, other]: [u64; 2], len: usize) -> u64 {
    (one.wrapping_mul(SPREAD).rotate_left(29) ^ other ^ len as u64).wrapping_mul(SPREAD)
}

/// The part of a hash that is stored above the rank: not the bits that determine the slot.
#[inline(always)]
fn tag(hash: u64) -> u32 {
    ((hash >> 32) as u32) << RANK_BITS
}

impl TokenTable {
    /// A table for this many tokens, with this many bytes in tokens of more than [`SHORT`] bytes.
    pub(super) fn new(tokens: usize, longer_bytes: usize) -> Self {
        Self {
            texts: Vec::with_capacity(tokens),
            blob: vec![0; OVER + longer_bytes + OVER],
            end: OVER,
            // A load of three quarters, and spare slots at the end for collisions.
            slots: vec![0; tokens + tokens / 3 + NEAR],
            inverted: false,
        }
    }

    /// Whether merges come in the order of their ranks.
    #[inline(always)]
    pub(super) fn in_order(&self) -> bool {
        !self.inverted
    }

    /// The number of tokens.
    pub(super) fn len(&self) -> usize {
        self.texts.len()
    }

    /// The preferred slot of a token with this hash: the hash as a fraction of the table.
    #[inline(always)]
    fn home(&self, hash: u64) -> usize {
        (((hash >> 32) * (self.slots.len() - NEAR + 1) as u64) >> 32) as usize
    }

    /// The rank of the token with this hash that `is` accepts.
    #[inline(always)]
    fn find(&self, hash: u64, is: impl Fn(Text) -> bool) -> Rank {
        let tag = tag(hash);
        let mut at = self.home(hash);
        loop {
            match self.slots.get(at) {
                None | Some(0) => return NONE,
                Some(&slot) if (slot ^ tag) >> RANK_BITS == 0 => {
                    let rank = slot % MAX_TOKENS as u32 - 1;
                    if self.texts.get(rank as usize).is_some_and(|&text| is(text)) {
                        return rank;
                    }
                }
                _ => {}
            }
            at += 1;
        }
    }

    /// The rank of the `len` bytes from `at` as a token, or [`NONE`]. `len` is at least 1, and no byte is `0xff`.
    #[inline(always)]
    pub(super) fn rank(&self, bytes: &[u8], at: usize, len: usize) -> Rank {
        if len <= SHORT { self.rank_of_short(bytes, at, len) } else { self.rank_of_longer(bytes, at, len) }
    }

    /// [`Self::rank`] outside hot loops, in less code.
    pub(super) fn rank_of(&self, bytes: &[u8], at: usize, len: usize) -> Rank {
        self.rank(bytes, at, len)
    }

    /// [`Self::rank`] for one to [`SHORT`] bytes.
    #[inline(always)]
    pub(super) fn rank_of_short(&self, bytes: &[u8], at: usize, len: usize) -> Rank {
        let text = short(bytes, at, len);
        self.find(hash_short(text), |found| found == text)
    }

    /// [`Self::rank`] for more bytes.
    pub(super) fn rank_of_longer(&self, bytes: &[u8], at: usize, len: usize) -> Rank {
        if len > MAX_TOKEN_BYTES {
            return NONE;
        }
        self.find(hash_longer(bytes, at, len), |found| {
            found & 0xff_ffff == (len as u64) << 8 && {
                let start = (found >> 24) as usize;
                // The last word overlaps the previous one.
                let (mut next, last) = (0, len - 8);
                while next < last && load8(&self.blob, start + next) == load8(bytes, at + next) {
                    next = last.min(next + 8);
                }
                next == last && load8(&self.blob, start + next) == load8(bytes, at + next)
            }
        })
    }

    /// The token of this rank.
    #[inline(always)]
    pub(super) fn text(&self, rank: Rank) -> Option<Text> {
        self.texts.get(rank as usize).copied()
    }

    /// The length in bytes of the token of this rank.
    #[inline(always)]
    pub(super) fn len_of(&self, rank: Rank) -> usize {
        let text = self.text(rank).unwrap_or_default();
        if is_short(text) { bits(text) as usize / 8 } else { place(text).1 }
    }

    /// Appends the bytes of the token of this rank; `false` if missing.
    #[inline(always)]
    pub(super) fn append_to(&self, rank: Rank, bytes: &mut Vec<u8>) -> bool {
        let Some(text) = self.text(rank) else { return false };
        if is_short(text) {
            let from = bytes.len();
            bytes.extend_from_slice(&(!text).to_le_bytes());
            bytes.truncate(from + bits(text) as usize / 8);
        } else {
            let (start, len) = place(text);
            bytes.extend_from_slice(self.blob.get(start..start + len).unwrap_or_default());
        }
        true
    }

    /// Writes the token of this rank to `at` as a whole word and returns its end. `None` if it has more than [`SHORT`]
    /// bytes, is missing, or the word does not fit.
    #[inline(always)]
    pub(super) fn write_short(&self, rank: Rank, bytes: &mut [u8], at: usize) -> Option<usize> {
        let text = self.texts.get(rank as usize).copied().filter(|&text| is_short(text))?;
        *bytes.get_mut(at..)?.first_chunk_mut()? = (!text).to_le_bytes();
        Some(at + bits(text) as usize / 8)
    }

    /// The same for longer tokens, in whole words.
    #[inline(always)]
    pub(super) fn write_longer(&self, rank: Rank, bytes: &mut [u8], at: usize) -> Option<usize> {
        let (start, len) = place(self.texts.get(rank as usize).copied().filter(|&text| !is_short(text))?);
        for from in (0..len).step_by(8) {
            *bytes.get_mut(at + from..)?.first_chunk_mut()? = load8(&self.blob, start + from).to_le_bytes();
        }
        Some(at + len)
    }

    /// Joins two tokens; a result of more than [`SHORT`] bytes is appended to the blob. `None` if the announced
    /// capacity of the blob is exceeded, or if a part is not a token.
    #[inline(always)]
    pub(super) fn join(&mut self, left: Text, right: Text) -> Option<Joined> {
        let (left_bits, right_bits) = (bits(left), bits(right));
        if left_bits + right_bits <= 64 && is_short(left) && is_short(right) {
            let text = left | right << left_bits;
            let before = (!left << (64 - left_bits), left_bits as usize / 8);
            return Some(Joined { text, hash: hash_short(text), before, after: (!right, right_bits as usize / 8) });
        }
        let start = self.end;
        self.append(left)?;
        let middle = self.end;
        self.append(right)?;
        let (text, hash) = self.appended(start)?;
        let before = (load8(&self.blob, middle.checked_sub(8)?), middle - start);
        Some(Joined { text, hash, before, after: (load8(&self.blob, middle), self.end - middle) })
    }

    /// Adds the next token. `None` as for [`Self::join`] and [`Self::push`].
    pub(super) fn add(&mut self, token: &[u8]) -> Option<()> {
        let (text, hash) = self.put(token)?;
        self.push(text, hash)
    }

    /// Adds the next token with a rank and a text, but never finds it.
    pub(super) fn hide(&mut self, token: &[u8]) -> Option<()> {
        let (text, _) = self.put(token)?;
        self.texts.push(text);
        Some(())
    }

    /// A token and its hash; a longer one is appended to the blob.
    fn put(&mut self, token: &[u8]) -> Option<(Text, u64)> {
        if token.len() <= SHORT {
            let text = short(token, 0, token.len());
            return Some((text, hash_short(text)));
        }
        let start = self.end;
        self.end += token.len();
        self.blob.get_mut(start..self.end)?.copy_from_slice(token);
        self.appended(start)
    }

    /// The token in the blob from `start` to its end, and its hash.
    #[inline(always)]
    fn appended(&self, start: usize) -> Option<(Text, u64)> {
        let len = self.end - start;
        let text = (start as u64) << 24 | (len as u64) << 8;
        (SHORT + 1..=MAX_TOKEN_BYTES).contains(&len).then(|| (text, hash_longer(&self.blob, start, len)))
    }

    /// Adds the next token, which must be new. `None` if no slot is near enough.
    #[inline(always)]
    pub(super) fn push(&mut self, text: Text, hash: u64) -> Option<()> {
        let home = self.home(hash);
        let slot = self.slots.get_mut(home..)?.iter_mut().take(NEAR).find(|slot| **slot == 0)?;
        *slot = tag(hash) | (self.texts.len() as u32 + 1);
        self.texts.push(text);
        Some(())
    }

    /// Appends a token to the blob in whole words; the overrun is overwritten by the next one.
    #[inline(always)]
    fn append(&mut self, text: Text) -> Option<()> {
        if is_short(text) {
            *self.blob.get_mut(self.end..)?.first_chunk_mut()? = (!text).to_le_bytes();
            self.end += bits(text) as usize / 8;
            return Some(());
        }
        let (start, len) = place(text);
        for at in (0..len).step_by(8) {
            let word = load8(&self.blob, start + at);
            *self.blob.get_mut(self.end + at..)?.first_chunk_mut()? = word.to_le_bytes();
        }
        self.end += len;
        Some(())
    }
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_shares_slot_and_tag_with_a_token_is_another_text() {
        // In a table this small almost all hashes share a slot, so only the tags and the texts distinguish them:
        // of 100,000 texts some have the tag of the token.
        for len in [5, 8, 9, 12, 16, 17, 20, 40, 128, 300, 1024] {
            let token: Vec<u8> = (0..len).map(|at| b'a' + (at % 26) as u8).collect();
            let mut words = TokenTable::new(1, len);
            words.add(&token).unwrap();
            assert_eq!(words.rank(&token, 0, len), 0);
            let mut text = token.clone();
            for number in 0..100_000_u32 {
                text.copy_from_slice(&token);
                text[len - 3..].copy_from_slice(&number.to_le_bytes()[..3]);
                assert_eq!(words.rank(&text, 0, len), NONE, "{text:?}");
            }
            // Bytes that are not part of the hash must count, too.
            for at in 0..len {
                text.copy_from_slice(&token);
                text[at] = b'-';
                assert_eq!(words.rank(&text, 0, len), NONE, "{text:?}");
            }
        }
    }
}
