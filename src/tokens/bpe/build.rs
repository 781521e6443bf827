//! From the asset to the tables, in one pass over the merges.
//!
//! This is most of what stands between a program and its first count, and it runs in code that a WebAssembly engine has
//! not optimized yet, in memory that the process has not touched yet. So it makes one pass, puts short tokens together
//! within a register, and takes as little memory as it can.
//!
//! And it is one function. For each that runs hot the engine has another thread optimize it, and where there are few
//! processors the second of those threads takes the program's own: it stood still for up to two milliseconds.

use super::Encoding;
use super::asset::{Asset, Checksum, invalid};
use super::joins::{Characters, Joins};
use super::words::{Joined, Words};
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
        let damaged = || invalid(encoding, "it is damaged");
        let words = Words::new(asset.tokens, asset.longer_bytes);
        let mut tables = Self { words, joins: Joins::new(), characters: Characters::new() };
        for &byte in asset.bytes {
            tables.words.add(&[byte]).ok_or_else(damaged)?;
        }
        let mut checksum = asset.checksum();
        while tables.words.len() < asset.tokens {
            tables.add_turn(&asset, &mut checksum).ok_or_else(damaged)?;
        }
        if !checksum.is_known(encoding) {
            return Err(damaged());
        }
        Ok((tables, asset.tokens))
    }

    /// Adds the next tokens. `None` where their merges do not make sense.
    #[inline(never)]
    fn add_turn(&mut self, asset: &Asset<'_>, checksum: &mut Checksum) -> Option<()> {
        for merge in asset.merges(self.words.len()).take(TURN) {
            checksum.add(merge);
            let (left, right) = (self.words.text(merge.0)?, self.words.text(merge.1)?);
            let Joined { text, hash, before, behind } = self.words.join(left, right)?;
            self.words.push(text, hash)?;
            if (before.0 >> 56 | behind.0) & 0x80 != 0 {
                self.joins.note(before, behind);
                if before.1 + behind.1 <= 3 {
                    self.characters.note(!text as u32, before.1 + behind.1);
                }
            }
        }
        Some(())
    }
}
