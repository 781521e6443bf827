//! The table of src/tokens/heuristic_joins.rs, which describes its parts: what tokens have next to each other, from
//! the tokens of tiktoken-rs.

use std::collections::BTreeSet;

use tiktoken_rs::CoreBPE;

use super::fit::heuristic_joins::{BLOCKS, COSTS, PAIRS_END};

/// Length of the run of an ASCII character from which its cost is measured.
const RUN: usize = 200;

pub fn table(bpe: &CoreBPE) -> Vec<u8> {
    let pairs = pairs(bpe);
    let mut bytes = Vec::new();
    for (first, end, _) in COSTS {
        let codes: Vec<u32> = (first..end).collect();
        bytes.extend(codes.chunks(4).map(|four| {
            let costs = four.iter().map(|&code| (tokens(bpe, code).saturating_sub(1).min(3)) as u8);
            costs.rev().fold(0, |byte, cost| byte << 2 | cost)
        }));
    }
    for block in BLOCKS {
        let mut bits = [0_u8; 128 * 128 / 8];
        for (first, second) in pairs.iter().filter(|pair| of_block(**pair) == Some(block)) {
            let at = (first & 127) << 7 | second & 127;
            bits[(at >> 3) as usize] |= 1 << (at & 7);
        }
        bytes.extend(bits);
    }
    bytes.extend((0..128).map(|code| in_run(bpe, code)));
    let others: Vec<_> = pairs.into_iter().filter(|&pair| of_block(pair).is_none()).collect();
    // By columns, which gzip compresses better.
    for shift in [8, 0] {
        bytes.extend(others.iter().map(|(first, _)| (first >> shift) as u8));
    }
    for shift in [8, 0] {
        bytes.extend(others.iter().map(|(_, second)| (second >> shift) as u8));
    }
    bytes
}

/// The pairs of characters beyond ASCII in tokens.
fn pairs(bpe: &CoreBPE) -> BTreeSet<(u32, u32)> {
    let mut pairs = BTreeSet::new();
    for token in (0..).map_while(|rank| bpe.decode_bytes(&[rank]).ok()) {
        let codes: Vec<u32> = String::from_utf8(token).unwrap_or_default().chars().map(u32::from).collect();
        pairs.extend(codes.windows(2).filter_map(|pair| match *pair {
            [first @ 0x80..0x1_0000, second @ 0x80..PAIRS_END] if !(PAIRS_END..0xD7B0).contains(&first) => {
                Some((first, second))
            }
            _ => None,
        }));
    }
    pairs
}

fn of_block((first, second): (u32, u32)) -> Option<u32> {
    BLOCKS.into_iter().find(|&block| first & !127 == block && second & !127 == block)
}

fn tokens(bpe: &CoreBPE, code: u32) -> usize {
    char::from_u32(code).map_or(0, |c| bpe.encode_ordinary(&c.to_string()).len())
}

/// 64ths of a token that a letter or sign costs in a run of itself, less 7 %.
fn in_run(bpe: &CoreBPE, code: u8) -> u8 {
    if !code.is_ascii_graphic() || code.is_ascii_digit() {
        return 0;
    }
    let tokens = bpe.encode_ordinary(&char::from(code).to_string().repeat(RUN)).len();
    (tokens * 64 * 93 / 100).div_ceil(RUN - 2) as u8
}
