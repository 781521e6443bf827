//! The asset: a vocabulary as a list of merges.
//!
//! | bytes | |
//! |---|---|
//! | 0..4 | `CTXV` |
//! | 4..8 | version of the format, 3 |
//! | 8..24 | name of the encoding, padded with zeros |
//! | 24..28 | number of tokens, n |
//! | 28..32 | how many bytes those of more than eight bytes have together |
//! | 32..40 | checksum of all the rest |
//! | 40..296 | the single bytes, which are tokens 0 to 255, in rank order |
//! | 296.. | six planes of n − 256 bytes: low, middle and high byte of the left part of each further token, then of the right |
//!
//! Numbers are little-endian. Of each token from 256 on it says the two tokens that merge into it; both are lower.
//! Planes compress better than numbers in a row, and better than the texts of the tokens.

use super::Encoding;
use super::split::load8;
use super::words::{MAX_TOKENS, Rank, SPREAD};
use crate::error::{Code, Error, Result};

const MAGIC: &[u8; 4] = b"CTXV";
const VERSION: u32 = 3;
const NAME: usize = 16;
const CHECKSUM: std::ops::Range<usize> = 32..40;
const HEADER: usize = 40;

/// Tokens of a single byte, which come first.
pub(super) const BYTES: usize = 256;

const PLANES: usize = 6;

/// An asset whose header is in order.
#[derive(Debug)]
pub(super) struct Asset<'a> {
    /// Number of tokens.
    pub(super) tokens: usize,
    /// How many bytes those of more than eight bytes have together.
    pub(super) longer_bytes: usize,
    /// The single bytes in rank order.
    pub(super) bytes: &'a [u8],
    planes: &'a [u8],
    checksum: Checksum,
}

impl<'a> Asset<'a> {
    /// Reads the header and checks all that needs no look at the merges.
    pub(super) fn read(encoding: Encoding, asset: &'a [u8]) -> Result<Self> {
        let number = |at: usize| load8(asset, at) as u32;
        if asset.get(..4) != Some(MAGIC) {
            return Err(invalid(encoding, "it is no vocabulary asset"));
        }
        if number(4) != VERSION {
            return Err(invalid(encoding, "it is for another version of ctxweave"));
        }
        if asset.get(8..8 + NAME) != Some(&name(encoding)) {
            return Err(invalid(encoding, "it is the vocabulary of another encoding"));
        }
        let (tokens, longer_bytes) = (number(24) as usize, number(28) as usize);
        let body = asset.get(HEADER..).unwrap_or_default();
        let whole = (BYTES..MAX_TOKENS).contains(&tokens) && body.len() == BYTES + (tokens - BYTES) * PLANES;
        let (true, Some((bytes, planes))) = (whole, body.split_at_checked(BYTES)) else {
            return Err(invalid(encoding, "its length is wrong: it may be cut off"));
        };
        let checksum = load8(asset, CHECKSUM.start);
        if checksum != encoding.checksum() {
            return Err(invalid(encoding, "it is not the vocabulary that this version of ctxweave knows")
                .with("checksum", format!("{checksum:016x}")));
        }
        Ok(Self { tokens, longer_bytes, bytes, planes, checksum: Checksum::of_head(asset) })
    }

    /// Looks at all of an asset, for those who have what is in it.
    pub(super) fn check(encoding: Encoding, asset: &[u8]) -> Result<()> {
        let asset = Asset::read(encoding, asset)?;
        let mut checksum = asset.checksum;
        asset.merges(BYTES).for_each(|merge| checksum.add(merge));
        if checksum.is_known(encoding) { Ok(()) } else { Err(invalid(encoding, "it is damaged")) }
    }

    /// The parts of each token from the given one on, which is none of the single bytes.
    #[inline(always)]
    pub(super) fn merges(&self, from: usize) -> impl Iterator<Item = (Rank, Rank)> {
        let rows = self.tokens - BYTES;
        let plane = |i: usize| self.planes.get(i * rows + from - BYTES..(i + 1) * rows).unwrap_or_default().iter();
        let number = |((&low, &middle), &high): ((&u8, &u8), &u8)| Rank::from_le_bytes([low, middle, high, 0]);
        let left = plane(0).zip(plane(1)).zip(plane(2)).map(number);
        let right = plane(3).zip(plane(4)).zip(plane(5)).map(number);
        left.zip(right)
    }

    /// The checksum of all that comes before the merges.
    pub(super) fn checksum(&self) -> Checksum {
        self.checksum
    }
}

/// Writes an asset out of what [`Asset`] gives back: the single bytes, the merges of all further tokens, and how many bytes
/// those of more than eight bytes have together.
pub(super) fn write(encoding: Encoding, bytes: &[u8], merges: &[(Rank, Rank)], longer_bytes: u32) -> Vec<u8> {
    let mut asset = Vec::with_capacity(HEADER + BYTES + merges.len() * PLANES);
    asset.extend(MAGIC);
    asset.extend(VERSION.to_le_bytes());
    asset.extend(name(encoding));
    asset.extend(((BYTES + merges.len()) as u32).to_le_bytes());
    asset.extend(longer_bytes.to_le_bytes());
    asset.extend([0; 8]);
    asset.extend(bytes);
    for plane in 0..3 {
        asset.extend(merges.iter().map(|(left, _)| (left >> (plane * 8)) as u8));
    }
    for plane in 0..3 {
        asset.extend(merges.iter().map(|(_, right)| (right >> (plane * 8)) as u8));
    }
    let mut checksum = Checksum::of_head(&asset);
    merges.iter().for_each(|&merge| checksum.add(merge));
    for (to, byte) in asset.iter_mut().skip(CHECKSUM.start).zip(checksum.0.to_le_bytes()) {
        *to = byte;
    }
    asset
}

/// 64 bits over the head, all but their own place, and over the merges, one after the other. Each step is a bijection of the state,
/// so a change to one merge always shows; wider damage goes unseen with a chance of 2⁻⁶⁴. It guards against damage, not
/// against forgery.
///
/// The merges are taken in as they are read, which costs a program that starts next to nothing; a pass of its own over the
/// asset would be one more loop that the engine sets out to optimize, at the cost of the one that matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Checksum(u64);

impl Checksum {
    fn of_head(asset: &[u8]) -> Self {
        let words = (0..CHECKSUM.start).chain(CHECKSUM.end..HEADER + BYTES).step_by(8);
        Self(words.fold(0, |state, at| step(state, load8(asset, at))))
    }

    /// Takes in the next merge.
    #[inline(always)]
    pub(super) fn add(&mut self, (left, right): (Rank, Rank)) {
        self.0 = step(self.0, u64::from(left) | u64::from(right) << 32);
    }

    /// Whether it is that of the vocabulary that this version of ctxweave knows.
    pub(super) fn is_known(self, encoding: Encoding) -> bool {
        self.0 == encoding.checksum()
    }
}

#[inline(always)]
fn step(state: u64, word: u64) -> u64 {
    let state = (state ^ word).wrapping_mul(SPREAD);
    state ^ state >> 32
}

fn name(encoding: Encoding) -> [u8; NAME] {
    let mut padded = [0; NAME];
    for (to, byte) in padded.iter_mut().zip(encoding.name().bytes()) {
        *to = byte;
    }
    padded
}

/// The error about an asset that cannot be used.
#[cold]
pub(super) fn invalid(encoding: Encoding, reason: &str) -> Error {
    let message = format!(
        "the vocabulary for `{}` cannot be used: {reason}; load `{}` of the same version of ctxweave",
        encoding.name(),
        encoding.file_name()
    );
    Error::new(Code::InvalidVocabulary, message).with("tokenizer", encoding.name()).with("reason", reason)
}
