//! Making an asset out of the tokens themselves, with every condition checked that the engine relies on.

use super::Encoding;
use super::asset::{self, BYTES, invalid};
use super::merge::Parts;
use super::pairs::{MAX_TOKENS, NONE, Pairs, Rank};
use crate::error::Result;

/// Tokens are no longer than this.
const MAX_TOKEN_BYTES: usize = 128;

/// The asset for a vocabulary: its ordinary tokens in the order of their ranks, as a rank file lists them.
///
/// The engine's exactness rests on what is checked here (docs/counting.md says how):
///
/// - ranks 0 to 255 are the 256 single bytes, and there are fewer than 2¹⁸ tokens;
/// - byte pair encoding with the lower ranks alone makes of each further token's bytes exactly two parts; those are the
///   parts that the asset records, and both rank lower than the token;
/// - no two tokens are equal, and none but the single byte has the byte `0xff`;
/// - no token is longer than 128 bytes.
///
/// # Errors
/// [`Code::InvalidVocabulary`](crate::Code::InvalidVocabulary) where one of them does not hold.
pub fn pack(encoding: Encoding, tokens: &[Vec<u8>]) -> Result<Vec<u8>> {
    if !(BYTES..MAX_TOKENS).contains(&tokens.len()) {
        return Err(invalid(encoding, "it has too few or too many tokens"));
    }
    let (single, further) = tokens.split_at(BYTES);
    let mut ranks = [NONE; BYTES];
    for (rank, token) in (0..).zip(single) {
        match token.as_slice() {
            &[byte] => ranks[usize::from(byte)] = rank,
            _ => return Err(invalid(encoding, "its first 256 tokens are not single bytes")),
        }
    }
    if ranks.contains(&NONE) {
        return Err(invalid(encoding, "a byte is no token"));
    }

    let mut pairs = Pairs::new(ranks, further.len());
    let mut merges = Vec::with_capacity(further.len());
    let mut token_bytes = BYTES;
    for (rank, token) in (BYTES as Rank..).zip(further) {
        if token.len() > MAX_TOKEN_BYTES || token.contains(&0xff) {
            return Err(invalid(encoding, "a token is too long or holds the byte 255").with("token", rank));
        }
        let Some((left, right)) = parts(&pairs, token) else {
            return Err(invalid(encoding, "a token is not made of two lower ones").with("token", rank));
        };
        if pairs.get(left, right) != NONE {
            return Err(invalid(encoding, "two tokens are equal").with("token", rank));
        }
        pairs.insert(left, right, rank);
        merges.push((left, right));
        token_bytes += token.len();
    }
    let single: Vec<u8> = single.iter().flatten().copied().collect();
    Ok(asset::write(encoding, &single, &merges, token_bytes as u32))
}

/// What byte pair encoding with the pairs so far makes of a token, if that is two parts.
fn parts(pairs: &Pairs, token: &[u8]) -> Option<(Rank, Rank)> {
    let mut parts = Parts::default();
    parts.start(pairs, token);
    parts.merge(pairs);
    match parts.ranks.as_slice() {
        &[left, right] => Some((left, right)),
        _ => None,
    }
}
