//! From the asset to the tables, in one pass over the merges.
//!
//! This is most of what stands between a program and its first count, and it runs in code that a WebAssembly engine has
//! not optimized yet, in memory that the process has not touched yet. So it makes one pass, puts short tokens together
//! within a register, and takes as little memory as it can.

use std::ops::Range;

use super::Encoding;
use super::asset::{Asset, BYTES, invalid};
use super::joins::{Characters, Joins};
use super::split::load8;
use super::words::{MAX_TOKEN_BYTES, Rank, SHORT, Words};
use crate::error::Result;

/// Tokens to a turn. WebAssembly engines put optimized code in place only when a function is called again.
const TURN: usize = 2048;

/// Tokens that are put together before they go into the tables.
const BATCH: usize = 32;

/// The tables that counting needs.
pub(super) struct Tables {
    pub(super) words: Words,
    pub(super) joins: Joins,
    pub(super) characters: Characters,
}

impl Tables {
    /// Builds them out of the asset for the encoding.
    pub(super) fn build(encoding: Encoding, asset: &[u8]) -> Result<(Self, usize)> {
        let asset = Asset::read(encoding, asset)?;
        let senseless = || invalid(encoding, "its merges do not make sense");
        let mut builder = Builder::new(&asset);
        builder.insert(0..BYTES).ok_or_else(senseless)?;
        for from in (BYTES..asset.tokens).step_by(TURN) {
            builder.add_turn(&asset, from).ok_or_else(senseless)?;
        }
        Ok((builder.tables, asset.tokens))
    }
}

/// The texts of the tokens so far.
struct Builder {
    /// The key of each token of up to [`SHORT`] bytes, as in [`Words`]; of the longer ones, where they begin in the blob.
    heads: Vec<u64>,
    /// How long each token is.
    lens: Vec<u8>,
    /// The longer tokens, one behind the other, and room for the last copy to go over.
    blob: Vec<u8>,
    /// Where the next of them goes.
    end: usize,
    /// What was found in the tables: nothing that matters.
    found: u64,
    tables: Tables,
}

impl Builder {
    fn new(asset: &Asset<'_>) -> Self {
        let sizes = asset.sizes;
        let mut builder = Self {
            heads: vec![0; asset.tokens],
            lens: vec![0; asset.tokens],
            blob: vec![0; sizes.middle_bytes + sizes.long_bytes + MAX_TOKEN_BYTES],
            end: 0,
            found: 0,
            tables: Tables { words: Words::new(sizes), joins: Joins::new(), characters: Characters::new() },
        };
        for (rank, &byte) in asset.bytes.iter().enumerate() {
            builder.heads[rank] = u64::from(!byte);
            builder.lens[rank] = 1;
        }
        builder
    }

    /// Adds the next tokens. `None` where they do not make sense.
    #[inline(never)]
    fn add_turn(&mut self, asset: &Asset<'_>, from: usize) -> Option<()> {
        let mut merges = asset.merges(from);
        let end = asset.tokens.min(from + TURN);
        for from in (from..end).step_by(BATCH) {
            let ranks = from..end.min(from + BATCH);
            self.put_together(ranks.clone(), &mut merges)?;
            self.insert(ranks)?;
        }
        Some(())
    }

    /// Makes the texts of the next tokens out of their parts.
    #[inline(always)]
    fn put_together(&mut self, ranks: Range<usize>, merges: &mut impl Iterator<Item = (Rank, Rank)>) -> Option<()> {
        for (rank, (left, right)) in ranks.zip(merges) {
            let (left, right) = (left as usize, right as usize);
            let (left_len, right_len) = (usize::from(*self.lens.get(left)?), usize::from(*self.lens.get(right)?));
            let len = left_len + right_len;
            if len > SHORT {
                self.add_longer(rank, (left, left_len), (right, right_len))?;
                continue;
            }
            let (left, right) = (self.heads[left], self.heads[right]);
            // Both are tokens that are there already: no others have a length.
            if left_len == 0 || right_len == 0 {
                return None;
            }
            let key = left | right << (8 * left_len);
            self.heads[rank] = key;
            self.lens[rank] = len as u8;
            self.found ^= self.tables.words.home_of_short(key);
            let (left, right) = (!left << (64 - 8 * left_len), !right);
            if (left >> 56 | right) & 0x80 != 0 {
                self.tables.joins.note((left, left_len), (right, right_len));
                if len <= 3 {
                    self.tables.characters.note(!key as u32, len);
                }
            }
        }
        Some(())
    }

    /// Puts tokens into the table.
    #[inline(always)]
    fn insert(&mut self, ranks: Range<usize>) -> Option<()> {
        for rank in ranks {
            let (head, len) = (self.heads[rank], usize::from(self.lens[rank]));
            if len <= SHORT {
                self.tables.words.insert_short(head, rank as Rank)?;
            } else {
                self.tables.words.insert_longer(&self.blob, head as usize, len, rank as Rank)?;
            }
        }
        Some(())
    }

    /// Puts together a token of more than [`SHORT`] bytes.
    #[inline(never)]
    fn add_longer(&mut self, rank: usize, left: (usize, usize), right: (usize, usize)) -> Option<()> {
        let (start, middle) = (self.end, self.end + left.1);
        self.append(left)?;
        self.append(right)?;
        let len = self.end - start;
        if len > MAX_TOKEN_BYTES || left.1 == 0 || right.1 == 0 {
            return None;
        }
        self.heads[rank] = start as u64;
        self.lens[rank] = len as u8;
        self.found ^= self.tables.words.home_of_longer(&self.blob, start, len);
        if (self.blob[middle - 1] | self.blob[middle]) & 0x80 != 0 {
            let before = left.1.min(8);
            let last = load8(&self.blob, middle - before) << (64 - 8 * before);
            self.tables.joins.note((last, before), (load8(&self.blob, middle), right.1));
        }
        Some(())
    }

    /// Appends the text of a token to the blob, in whole words, past its end: what comes next overwrites that.
    #[inline(always)]
    fn append(&mut self, (rank, len): (usize, usize)) -> Option<()> {
        let head = self.heads[rank];
        if len <= SHORT {
            *self.blob.get_mut(self.end..)?.first_chunk_mut()? = (!head).to_le_bytes();
        } else {
            for at in (0..len).step_by(8) {
                let word = load8(&self.blob, head as usize + at);
                *self.blob.get_mut(self.end + at..)?.first_chunk_mut()? = word.to_le_bytes();
            }
        }
        self.end += len;
        Some(())
    }
}
