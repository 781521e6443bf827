//! Making an asset out of the tokens themselves, with every condition checked that the engine relies on.

use super::Encoding;
use super::asset::{self, BYTES, invalid};
use super::merge::Parts;
use super::words::{MAX_TOKEN_BYTES, MAX_TOKENS, NONE, Rank, SHORT, Words};
use crate::error::Result;

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
    let longer_bytes = tokens.iter().map(Vec::len).filter(|&len| len > SHORT).sum();
    let mut words = Words::new(tokens.len(), longer_bytes);
    let crowded = || invalid(encoding, "its tokens do not fit into the tables");
    let (single, further) = tokens.split_at(BYTES);
    let mut bytes = [false; BYTES];
    for token in single {
        match token.as_slice() {
            &[byte] => bytes[usize::from(byte)] = true,
            _ => return Err(invalid(encoding, "its first 256 tokens are not single bytes")),
        }
        words.add(token).ok_or_else(crowded)?;
    }
    if bytes.contains(&false) {
        return Err(invalid(encoding, "a byte is no token"));
    }

    let mut merges = Vec::with_capacity(further.len());
    for (rank, token) in (BYTES as Rank..).zip(further) {
        if token.len() > MAX_TOKEN_BYTES || token.contains(&0xff) {
            return Err(invalid(encoding, "a token is too long or holds the byte 255").with("token", rank));
        }
        if token.is_empty() || words.rank(token, 0, token.len()) != NONE {
            return Err(invalid(encoding, "a token is empty, or equal to another").with("token", rank));
        }
        let Some(merge) = merge_of(&words, token) else {
            return Err(invalid(encoding, "a token is not made of two lower ones").with("token", rank));
        };
        words.add(token).ok_or_else(crowded)?;
        merges.push(merge);
    }
    let single: Vec<u8> = single.iter().flatten().copied().collect();
    Ok(asset::write(encoding, &single, &merges, longer_bytes as u32))
}

/// The two tokens that byte pair encoding with the tokens so far makes of a further one, if it makes two.
fn merge_of(words: &Words, token: &[u8]) -> Option<(Rank, Rank)> {
    let mut parts = Parts::default();
    parts.start(0, token.len());
    parts.merge(words, token);
    match *parts.bounds.as_slice() {
        [_, middle, end] => {
            let (middle, end) = (middle as usize, end as usize);
            Some((words.rank(token, 0, middle), words.rank(token, middle, end - middle)))
        }
        _ => None,
    }
}
