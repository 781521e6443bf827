//! Which characters beyond ASCII stand next to each other in a token of `o200k_base`, and which are more than one token
//! by themselves: a lower bound of the tokens of a text, however unlike real text it is.
//!
//! `cargo xtask estimator --joins` writes heuristic_joins.bin from tiktoken-rs.

/// The blocks of 128 characters with a bit for each pair of their characters.
pub(crate) const BLOCKS: [u32; 22] = [
    0x380, 0x400, 0x480, 0x500, 0x580, 0x600, 0x680, 0x900, 0x980, 0xA00, 0xA80, 0xB80, 0xC00, 0xC80, 0xD00, 0xD80,
    0xE00, 0x1000, 0x1080, 0x1780, 0x3000, 0x3080,
];
/// Where the blocks end, divided by 128.
const BLOCKS_END: usize = 0x62;
/// The index of each block, by its number; 255 for those that have no bits.
#[expect(clippy::indexing_slicing, reason = "a wrong index does not compile")]
static BLOCK_INDEX: [u8; BLOCKS_END] = {
    let mut index = [u8::MAX; BLOCKS_END];
    let mut at = 0;
    while at < BLOCKS.len() {
        index[(BLOCKS[at] >> 7) as usize] = at as u8;
        at += 1;
    }
    index
};

/// The ranges of characters with a cost: the first, the one after the last, and where the costs are.
pub(crate) const COSTS: [(u32, u32, usize); 5] = [
    (0x80, 0x3400, 0),
    (0x4E00, 0xA000, 0xCE0),
    (0xAC00, 0xD7B0, 0x2160),
    (0xF900, 0x1_0000, 0x2C4C),
    (0x1_F000, 0x1_FC00, 0x2E0C),
];
/// From here on pairs of characters are unknown.
pub(crate) const PAIRS_END: u32 = 0x3400;
/// The offsets of the parts of the table, in bytes.
const BLOCKS_AT: usize = 0x310C;
const RUNS_AT: usize = BLOCKS_AT + BLOCKS.len() * 2048;
const LISTED_PAIRS_AT: usize = RUNS_AT + 128;
/// The number of pairs outside the blocks.
const LISTED_PAIRS: usize = 1298;

/// Two bits for each character of [`COSTS`]: its tokens less one. A bit for each pair of a block that a token has. The
/// cost of each ASCII character in a run of itself, in 64ths of a token. All other pairs, sorted, in four columns of bytes.
static JOINS: &[u8; LISTED_PAIRS_AT + 4 * LISTED_PAIRS] = include_bytes!("heuristic_joins.bin");

/// The cost of an ASCII character in a long run of itself, in 64ths of a token.
pub(super) fn in_run(character: u8) -> u32 {
    JOINS.get(RUNS_AT + usize::from(character)).copied().unwrap_or_default().into()
}

fn bit(at: usize, bit: u32) -> bool {
    JOINS.get(at + (bit >> 3) as usize).is_some_and(|byte| byte >> (bit & 7) & 1 == 1)
}

/// The tokens of the character by itself, less one; `None` if it is not listed.
pub(super) fn more_tokens(code: u32) -> Option<u32> {
    let &(first, _, at) = COSTS.iter().find(|(first, end, _)| (*first..*end).contains(&code))?;
    let offset = code - first;
    let byte = JOINS.get(at + (offset >> 2) as usize)?;
    Some(u32::from(byte >> (2 * (offset & 3)) & 3))
}

/// Whether a token has these characters beyond ASCII one after the other.
pub(super) fn is_joined(first: u32, second: u32) -> bool {
    if first >> 7 == second >> 7
        && let Some(&index) = BLOCK_INDEX.get((second >> 7) as usize)
        && index != u8::MAX
    {
        return bit(BLOCKS_AT + usize::from(index) * 2048, (first & 127) << 7 | second & 127);
    }
    is_listed(first, second)
}

fn is_listed(first: u32, second: u32) -> bool {
    let column = |at: usize| {
        JOINS.get(LISTED_PAIRS_AT + at * LISTED_PAIRS..LISTED_PAIRS_AT + (at + 1) * LISTED_PAIRS).unwrap_or_default()
    };
    let columns = [0, 1, 2, 3].map(column);
    let pair = |at: usize| {
        columns.iter().fold(0, |pair, column| pair << 8 | column.get(at).map_or(0, |&byte| u32::from(byte)))
    };
    let key = first << 16 | second;
    let (mut low, mut high) = (0, LISTED_PAIRS);
    while low < high {
        let middle = low.midpoint(high);
        if pair(middle) < key { low = middle + 1 } else { high = middle }
    }
    first < 0x1_0000 && pair(low) == key
}
