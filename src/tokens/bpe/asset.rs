//! The asset: a vocabulary as a list of merges.
//!
//! | bytes | |
//! |---|---|
//! | 0..4 | `CTXV` |
//! | 4..8 | format version, 4; 5 if every text may contain added tokens |
//! | 8..24 | name of the encoding, padded with zeros; all zeros if made of a `tokenizer.json` |
//! | 24..28 | number of tokens, n |
//! | 28..32 | total bytes of the tokens of more than eight bytes |
//! | 32..40 | checksum of the rest |
//! | 40..44 | the splitter: its kind, digits per piece, options, zero |
//! | 44 | 1 if texts are normalized to NFC first, 2 for NFKC |
//! | 45..52 | zeros |
//! | 52..56 | length of the part after the planes |
//! | 56..312 | the single bytes, which are tokens 0 to 255, in rank order |
//! | 312.. | six planes of n − 256 bytes: low, middle and high byte of the left part of each further token, then of the
//! right |
//! | then | ids, literals and special tokens ([`super::added_tokens`]) |
//!
//! Numbers are little-endian. Each token from 256 on is recorded as the two tokens that merge into it; both rank lower.
//! Planes compress better than consecutive numbers, and better than the texts of the tokens.
//!
//! Without `inline(always)` exact counting takes 32 % longer: docs/decisions/inlining.md.

use super::Encoding;
use super::split::load8;
use super::splitter::Splitter;
use super::token_table::MAX_TOKEN_BYTES;
use super::token_table::{MAX_TOKENS, Rank, SPREAD};
use crate::error::{Code, Error, Result};

const MAGIC: &[u8; 4] = b"CTXV";
const VERSION: u32 = 4;
/// The version of assets with added tokens that every text may contain.
const VERSION_WITH_TEXT_TOKENS: u32 = 5;
const NAME: std::ops::Range<usize> = 8..24;
const CHECKSUM: std::ops::Range<usize> = 32..40;
const SPLITTER: usize = 40;
const FORM: usize = 44;
const MORE: usize = 52;
const HEADER: usize = 56;

/// Number of single-byte tokens, which come first.
pub(super) const BYTES: usize = 256;

const PLANES: usize = 6;

/// Maximum total bytes of the tokens of more than eight bytes.
const MAX_LONGER_BYTES: usize = 1 << 26;

/// An asset with a valid header.
#[derive(Debug)]
pub(super) struct Asset<'a> {
    /// How texts are split.
    pub(super) splitter: Splitter,
    /// The normal form of texts, as a number.
    pub(super) form: u8,
    /// Number of tokens.
    pub(super) tokens: usize,
    /// Total bytes of the tokens of more than eight bytes.
    pub(super) longer_bytes: usize,
    /// The single bytes in rank order.
    pub(super) bytes: &'a [u8],
    planes: &'a [u8],
    /// The part after the planes.
    pub(super) more: &'a [u8],
    checksum: Checksum,
    stated: u64,
}

/// Whether the bytes begin with the magic number of an asset.
pub(crate) fn is_asset(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC)
}

impl<'a> Asset<'a> {
    /// Reads the header and checks everything but the merges.
    pub(super) fn read(name: &str, asset: &'a [u8]) -> Result<Self> {
        let number = |at: usize| load8(asset, at) as u32;
        if asset.get(..4) != Some(MAGIC) {
            return Err(invalid(name, "it is not a vocabulary asset"));
        }
        if !matches!(number(4), VERSION | VERSION_WITH_TEXT_TOKENS) {
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
            return Err(invalid(name, "its length is wrong, it may be truncated"));
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

    /// Checks a whole asset against the checksum of the loaded one.
    pub(super) fn check(name: &str, asset: &[u8], loaded: u64) -> Result<()> {
        let asset = Asset::read(name, asset)?;
        let mut checksum = asset.checksum;
        asset.merges(BYTES).for_each(|merge| checksum.add(merge));
        if asset.is_whole(checksum) && asset.stated == loaded {
            return Ok(());
        }
        Err(invalid(name, "it is damaged, or another one is loaded under this name"))
    }

    /// The parts of each token from rank `from` on; `from` is at least [`BYTES`].
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

    /// The checksum in the header.
    pub(super) fn stated(&self) -> u64 {
        self.stated
    }

    /// Whether the checksum equals the one in the header.
    pub(super) fn is_whole(&self, checksum: Checksum) -> bool {
        self.stated == checksum.0
    }
}

/// The contents of a new asset.
#[derive(Debug)]
pub(super) struct Contents<'c> {
    /// The name of the encoding, or empty.
    pub(super) name: &'c str,
    pub(super) splitter: Splitter,
    pub(super) form: u8,
    /// The single bytes in rank order.
    pub(super) bytes: &'c [u8],
    /// The merges of all further tokens.
    pub(super) merges: &'c [(Rank, Rank)],
    /// Total bytes of the tokens of more than eight bytes.
    pub(super) longer_bytes: usize,
    /// Whether there are added tokens that every text may contain.
    pub(super) has_text_tokens: bool,
    pub(super) more: &'c [u8],
}

/// Writes an asset.
pub(super) fn write(contents: &Contents<'_>) -> Vec<u8> {
    let &Contents { name, splitter, form, bytes, merges, longer_bytes, has_text_tokens, more } = contents;
    debug_assert!(longer_bytes < MAX_LONGER_BYTES && MAX_TOKEN_BYTES < MAX_LONGER_BYTES);
    let mut asset = Vec::with_capacity(HEADER + BYTES + merges.len() * PLANES + more.len());
    asset.extend(MAGIC);
    asset.extend(if has_text_tokens { VERSION_WITH_TEXT_TOKENS } else { VERSION }.to_le_bytes());
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

/// A 64-bit checksum of everything but itself: the header, the part after the planes, and the merges, in this order.
/// Each step is a bijection of the state, so a change to a single merge is always detected; wider damage goes unnoticed
/// with a probability of 2⁻⁶⁴. It guards against damage, not against forgery.
///
/// The merges are added as they are read, which costs almost nothing at startup; a separate pass over the asset would
/// be one more loop for the engine to optimize, at the expense of the one that matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Checksum(u64);

impl Checksum {
    fn before_merges(asset: &[u8], more: &[u8]) -> Self {
        let head = (0..CHECKSUM.start).chain(CHECKSUM.end..HEADER + BYTES).step_by(8).map(|at| load8(asset, at));
        let rest = (0..more.len()).step_by(8).map(|at| load8(more, at));
        Self(head.chain(rest).fold(0, step))
    }

    /// Adds the next merge.
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

/// The error for an unusable asset.
pub(super) fn invalid(name: &str, reason: &str) -> Error {
    let message = {
        let instead = match Encoding::from_name(name) {
            Some(encoding) => format!("load `{}.bin` of the same version of ctxweave", encoding.base().name()),
            None => "recreate it with `vocabularyOf`".to_owned(),
        };
        format!("the vocabulary for `{name}` cannot be used: {reason}; {instead}")
    };
    Error::new(Code::InvalidVocabulary, message).with("tokenizer", name).with("reason", reason)
}
