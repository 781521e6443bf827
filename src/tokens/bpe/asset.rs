//! The asset: a vocabulary as a list of merges.
//!
//! | bytes | |
//! |---|---|
//! | 0..4 | `CTXV` |
//! | 4..8 | version of the format, 4 |
//! | 8..24 | name of the encoding, padded with zeros; zeros alone where it was made of a `tokenizer.json` |
//! | 24..28 | number of tokens, n |
//! | 28..32 | how many bytes those of more than eight bytes have together |
//! | 32..40 | checksum of all the rest |
//! | 40..44 | the splitter: its kind, digits in a piece, options, zero |
//! | 44 | 1 where texts are normalized to NFC first, 2 for NFKC |
//! | 45..52 | zeros |
//! | 52..56 | length of what stands after the planes |
//! | 56..312 | the single bytes, which are tokens 0 to 255, in rank order |
//! | 312.. | six planes of n − 256 bytes: low, middle and high byte of the left part of each further token, then of the right |
//! | then | what else there is to know of it (`more`) |
//!
//! Numbers are little-endian. Of each token from 256 on it says the two tokens that merge into it; both are lower.
//! Planes compress better than numbers in a row, and better than the texts of the tokens.
//!
//! `inline(always)` is 32 % of the time that exact counting takes: docs/decisions/inlining.md.

use super::Encoding;
use super::split::load8;
use super::splitter::Splitter;
use super::token_table::MAX_TOKEN_BYTES;
use super::token_table::{MAX_TOKENS, Rank, SPREAD};
use crate::error::{Code, Error, Result};

const MAGIC: &[u8; 4] = b"CTXV";
const VERSION: u32 = 4;
const NAME: std::ops::Range<usize> = 8..24;
const CHECKSUM: std::ops::Range<usize> = 32..40;
const SPLITTER: usize = 40;
const FORM: usize = 44;
const MORE: usize = 52;
const HEADER: usize = 56;

/// Tokens of a single byte, which come first.
pub(super) const BYTES: usize = 256;

const PLANES: usize = 6;

/// Tokens of more than eight bytes have no more than so many together.
const MAX_LONGER_BYTES: usize = 1 << 26;

/// An asset whose header is in order.
#[derive(Debug)]
pub(super) struct Asset<'a> {
    /// How texts are cut.
    pub(super) splitter: Splitter,
    /// How they are normalized first, as a number.
    pub(super) form: u8,
    /// Number of tokens.
    pub(super) tokens: usize,
    /// How many bytes those of more than eight bytes have together.
    pub(super) longer_bytes: usize,
    /// The single bytes in rank order.
    pub(super) bytes: &'a [u8],
    planes: &'a [u8],
    /// What stands after the planes.
    pub(super) more: &'a [u8],
    checksum: Checksum,
    stated: u64,
}

/// Whether bytes begin as an asset does.
pub(crate) fn is_asset(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC)
}

impl<'a> Asset<'a> {
    /// Reads the header and checks all that needs no look at the merges.
    pub(super) fn read(name: &str, asset: &'a [u8]) -> Result<Self> {
        let number = |at: usize| load8(asset, at) as u32;
        if asset.get(..4) != Some(MAGIC) {
            return Err(invalid(name, "it is no vocabulary asset"));
        }
        if number(4) != VERSION {
            return Err(invalid(name, "it is for another version of ctxweave"));
        }
        let encoding = Encoding::from_name(name);
        if asset.get(NAME) != Some(&padded(encoding.map_or("", |encoding| encoding.base().name()))) {
            return Err(invalid(name, "it is the vocabulary of another encoding"));
        }
        let (tokens, longer_bytes, more) = (number(24) as usize, number(28) as usize, number(MORE) as usize);
        let body = asset.get(HEADER..).unwrap_or_default();
        let len = (BYTES..MAX_TOKENS).contains(&tokens).then(|| BYTES + (tokens - BYTES) * PLANES);
        let whole = len.and_then(|len| len.checked_add(more)) == Some(body.len()) && longer_bytes < MAX_LONGER_BYTES;
        let (true, Some((tables, more))) = (whole, body.split_at_checked(len.unwrap_or_default())) else {
            return Err(invalid(name, "its length is wrong: it may be cut off"));
        };
        let (bytes, planes) = tables.split_at_checked(BYTES).unwrap_or_default();
        let splitter = {
            let bytes = asset.get(SPLITTER..).and_then(|rest| rest.first_chunk());
            let splitter = bytes.and_then(|bytes| Splitter::from_bytes(*bytes));
            splitter.ok_or_else(|| invalid(name, "it is for another version of ctxweave"))?
        };
        // There are only these two.
        let checksum = Checksum::before_merges(asset, more);
        let stated = load8(asset, CHECKSUM.start);
        Ok(Self {
            splitter,
            form: asset.get(FORM).copied().unwrap_or_default(),
            tokens,
            longer_bytes,
            bytes,
            planes,
            more,
            checksum,
            stated,
        })
    }

    /// Looks at all of an asset, for those who have what is in it: it is that of the checksum.
    pub(super) fn check(name: &str, asset: &[u8], loaded: u64) -> Result<()> {
        let asset = Asset::read(name, asset)?;
        let mut checksum = asset.checksum;
        asset.merges(BYTES).for_each(|merge| checksum.add(merge));
        if asset.is_whole(checksum) && asset.stated == loaded {
            return Ok(());
        }
        Err(invalid(name, "it is damaged, or another one is loaded under this name"))
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

    /// The checksum of all but the merges.
    pub(super) fn checksum(&self) -> Checksum {
        self.checksum
    }

    /// The checksum that the asset has itself.
    pub(super) fn stated(&self) -> u64 {
        self.stated
    }

    /// Whether that is the checksum that the asset has itself.
    pub(super) fn is_whole(&self, checksum: Checksum) -> bool {
        self.stated == checksum.0
    }
}

/// What an asset is written of.
#[derive(Debug)]
pub(super) struct Contents<'c> {
    /// The name of the encoding, or nothing.
    pub(super) name: &'c str,
    pub(super) splitter: Splitter,
    pub(super) form: u8,
    /// The single bytes in rank order.
    pub(super) bytes: &'c [u8],
    /// The merges of all further tokens.
    pub(super) merges: &'c [(Rank, Rank)],
    /// How many bytes the tokens of more than eight bytes have together.
    pub(super) longer_bytes: usize,
    pub(super) more: &'c [u8],
}

/// Writes an asset.
pub(super) fn write(contents: &Contents<'_>) -> Vec<u8> {
    let &Contents { name, splitter, form, bytes, merges, longer_bytes, more } = contents;
    debug_assert!(longer_bytes < MAX_LONGER_BYTES && MAX_TOKEN_BYTES < MAX_LONGER_BYTES);
    let mut asset = Vec::with_capacity(HEADER + BYTES + merges.len() * PLANES + more.len());
    asset.extend(MAGIC);
    asset.extend(VERSION.to_le_bytes());
    asset.extend(padded(name));
    asset.extend(((BYTES + merges.len()) as u32).to_le_bytes());
    asset.extend((longer_bytes as u32).to_le_bytes());
    asset.extend([0; 8]);
    asset.extend(splitter.to_bytes());
    asset.extend([form, 0, 0, 0, 0, 0, 0, 0]);
    asset.extend((more.len() as u32).to_le_bytes());
    asset.extend(bytes);
    let mut checksum = Checksum::before_merges(&asset, more);
    for plane in 0..3 {
        asset.extend(merges.iter().map(|(left, _)| (left >> (plane * 8)) as u8));
    }
    for plane in 0..3 {
        asset.extend(merges.iter().map(|(_, right)| (right >> (plane * 8)) as u8));
    }
    asset.extend(more);
    merges.iter().for_each(|&merge| checksum.add(merge));
    for (to, byte) in asset.iter_mut().skip(CHECKSUM.start).zip(checksum.0.to_le_bytes()) {
        *to = byte;
    }
    asset
}

/// 64 bits over all but their own place: the head, what stands after the planes, and the merges, one after the other. Each
/// step is a bijection of the state, so a change to one merge always shows; wider damage goes unseen with a chance of 2⁻⁶⁴. It
/// guards against damage, not against forgery.
///
/// The merges are taken in as they are read, which costs a program that starts next to nothing; a pass of its own over the
/// asset would be one more loop that the engine sets out to optimize, at the cost of the one that matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Checksum(u64);

impl Checksum {
    fn before_merges(asset: &[u8], more: &[u8]) -> Self {
        let head = (0..CHECKSUM.start).chain(CHECKSUM.end..HEADER + BYTES).step_by(8).map(|at| load8(asset, at));
        let rest = (0..more.len()).step_by(8).map(|at| load8(more, at));
        Self(head.chain(rest).fold(0, step))
    }

    /// Takes in the next merge.
    #[inline(always)]
    pub(super) fn add(&mut self, (left, right): (Rank, Rank)) {
        self.0 = step(self.0, u64::from(left) | u64::from(right) << 32);
    }
}

#[inline(always)]
fn step(state: u64, word: u64) -> u64 {
    let state = (state ^ word).wrapping_mul(SPREAD);
    state ^ state >> 32
}

fn padded(name: &str) -> [u8; 16] {
    let mut padded = [0; 16];
    for (to, byte) in padded.iter_mut().zip(name.bytes()) {
        *to = byte;
    }
    padded
}

/// The error about an asset that cannot be used.
pub(super) fn invalid(name: &str, reason: &str) -> Error {
    let message = {
        let instead = match Encoding::from_name(name) {
            Some(encoding) => format!("load `{}.bin` of the same version of ctxweave", encoding.base().name()),
            None => "make it again with `vocabularyOf`".to_owned(),
        };
        format!("the vocabulary for `{name}` cannot be used: {reason}; {instead}")
    };
    Error::new(Code::InvalidVocabulary, message).with("tokenizer", name).with("reason", reason)
}
