//! From the asset to the tables, in one pass over the merges.
//!
//! This is most of what stands between a program and its first count, and it runs in code that a WebAssembly engine has
//! not optimized yet, in memory that the process has not touched yet. So it makes one pass, puts short tokens together
//! within a register, and takes as little memory as it can.

use super::Encoding;
use super::asset::{Asset, invalid};
use super::joins::{Characters, Joins};
use super::words::{Rank, Text, Words, bits, is_short};
use crate::error::Result;

/// Tokens to a turn. WebAssembly engines put optimized code in place only when a function is called again.
const TURN: usize = 1024;

/// The tables that counting needs.
pub(super) struct Tables {
    pub(super) words: Words,
    pub(super) joins: Joins,
    pub(super) characters: Characters,
}

impl Tables {
    /// Builds them out of the asset for the encoding; also how many tokens there are.
    pub(super) fn build(encoding: Encoding, asset: &[u8]) -> Result<(Self, usize)> {
        let asset = Asset::read(encoding, asset)?;
        let senseless = || invalid(encoding, "its merges do not make sense");
        let words = Words::new(asset.tokens, asset.longer_bytes);
        let mut tables = Self { words, joins: Joins::new(), characters: Characters::new() };
        for &byte in asset.bytes {
            tables.words.push(&[byte]).ok_or_else(senseless)?;
        }
        let mut merges = [(0, 0); TURN];
        while tables.words.len() < asset.tokens {
            let count = asset.read_turn(tables.words.len(), &mut merges);
            tables.add_turn(merges.get(..count).unwrap_or_default()).ok_or_else(senseless)?;
        }
        Ok((tables, asset.tokens))
    }

    /// Adds the next tokens, given the parts of each. `None` where they do not make sense.
    #[inline(never)]
    fn add_turn(&mut self, merges: &[(Rank, Rank)]) -> Option<()> {
        for &(left, right) in merges {
            let (left, right) = (self.words.text(left)?, self.words.text(right)?);
            let (left_bits, right_bits) = (bits(left), bits(right));
            if left_bits + right_bits > 64 || !is_short(left) || !is_short(right) {
                self.add_longer(left, right)?;
                continue;
            }
            let text = left | right << left_bits;
            self.words.push_short(text)?;
            // The bits are inverted: these two are of ASCII.
            if left >> (left_bits - 1) & right >> 7 & 1 == 0 {
                let (left_len, right_len) = (left_bits as usize / 8, right_bits as usize / 8);
                self.joins.note((!left << (64 - left_bits), left_len), (!right, right_len));
                if left_len + right_len <= 3 {
                    self.characters.note(!text as u32, left_len + right_len);
                }
            }
        }
        Some(())
    }

    /// Adds a token of more than eight bytes.
    #[inline(never)]
    fn add_longer(&mut self, left: Text, right: Text) -> Option<()> {
        let (middle, left_len, right_len) = self.words.push_joined(left, right)?;
        let (before, behind) = self.words.around(middle)?;
        if (before >> 56 | behind) & 0x80 != 0 {
            self.joins.note((before, left_len), (behind, right_len));
        }
        Some(())
    }
}
