//! Builds the tables from the asset, in one pass over the merges.
//!
//! This is most of the time before a program's first count. It runs in code that a WebAssembly engine has not optimized
//! yet, in memory that the process has not touched yet. So it makes one pass, joins short tokens within a register, and
//! takes as little memory as it can.
//!
//! It is a single function because the engine optimizes each hot function on another thread. With few processors the
//! second of those threads preempts the program's own: it stalled for up to two milliseconds.

use super::added_tokens::{Literal, LiteralKind};
use super::asset::{Asset, Checksum, invalid};
use super::joins::{Characters, Joins};
use super::token_table::{Joined, TokenTable};
use crate::error::Result;

/// Tokens per turn. WebAssembly engines switch to optimized code only when a function is called again.
const TURN: usize = 1024;

/// The tables that counting needs.
pub(super) struct Tables {
    pub(super) words: TokenTable,
    pub(super) joins: Joins,
    pub(super) characters: Characters,
}

impl Tables {
    /// Builds the tables from the asset of the vocabulary `name`.
    pub(super) fn build(name: &str, asset: &Asset<'_>, literals: &[Literal<'_>]) -> Result<Self> {
        let damaged = || invalid(name, "it is damaged");
        let words = TokenTable::new(asset.tokens, asset.longer_bytes);
        let mut tables = Self { words, joins: Joins::new(), characters: Characters::new() };
        for &byte in asset.bytes {
            tables.words.add(&[byte]).ok_or_else(damaged)?;
        }
        let mut checksum = asset.checksum();
        let mut literals = literals.iter().peekable();
        while tables.words.len() < asset.tokens {
            let turn = TURN;
            let turn = match literals.peek() {
                Some(literal) if literal.rank as usize <= tables.words.len() => {
                    tables.add_literal(asset, &mut checksum, literal).ok_or_else(damaged)?;
                    literals.next();
                    continue;
                }
                Some(literal) => turn.min(literal.rank as usize - tables.words.len()),
                None => turn,
            };
            tables.add_turn(asset, &mut checksum, turn).ok_or_else(damaged)?;
        }
        if !asset.is_whole(checksum) {
            return Err(damaged());
        }
        Ok(tables)
    }

    /// Adds the next tokens. `None` if their merges are invalid.
    // Not inlined, so that the engine can replace it while a long text is read: docs/decisions/inlining.md.
    #[inline(never)]
    fn add_turn(&mut self, asset: &Asset<'_>, checksum: &mut Checksum, max_merges: usize) -> Option<()> {
        for merge in asset.merges(self.words.len()).take(max_merges) {
            checksum.add(merge);
            let (left, right) = (self.words.text(merge.0)?, self.words.text(merge.1)?);
            let Joined { text, hash, before, after } = self.words.join(left, right)?;
            self.words.push(text, hash)?;
            if (before.0 >> 56 | after.0) & 0x80 != 0 {
                self.joins.note(before, after);
                if before.1 + after.1 <= 3 {
                    self.characters.note(!text as u32, before.1 + after.1);
                }
            }
        }
        Some(())
    }

    /// Adds the next token, which is spelled out. `None` if it is not the next one.
    fn add_literal(&mut self, asset: &Asset<'_>, checksum: &mut Checksum, literal: &Literal<'_>) -> Option<()> {
        checksum.add(asset.merges(self.words.len()).next().filter(|_| literal.rank as usize == self.words.len())?);
        if literal.kind != LiteralKind::Inverted {
            return self.words.hide(literal.text);
        }
        self.words.inverted = true;
        self.joins.note_all(literal.text);
        self.words.add(literal.text)
    }
}
