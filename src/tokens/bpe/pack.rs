//! Makes an asset from the tokens, and checks every condition that the engine relies on.

use super::Encoding;
use super::added_tokens::{self, FOUND, FOUND_NORMALIZED, Literal, LiteralKind};
use super::asset::{self, BYTES, Contents, invalid};
use super::joins::width;
use super::merge::Parts;
use super::normalize::Form;
use super::splitter::Splitter;
use super::token_table::{MAX_TOKEN_BYTES, MAX_TOKENS, NONE, Rank, SHORT, TokenTable};
use crate::error::{Error, Result};

/// The asset of a vocabulary of OpenAI's, from its ordinary tokens in rank order, as a rank file lists them.
///
/// The engine's exactness rests on the following conditions (docs/decisions/exact-counting.md):
///
/// - ranks 0 to 255 are the 256 single bytes, and there are fewer than 2¹⁸ tokens;
/// - byte pair encoding of each further token with the lower ranks alone leaves exactly two parts; those are the parts
///   that the asset records, and both rank lower than the token;
/// - no two tokens are equal, and only the single byte contains the byte `0xff`;
/// - no token is longer than 1024 bytes.
///
/// # Errors
/// [`Code::InvalidVocabulary`](crate::Code::InvalidVocabulary) if a condition does not hold.
pub fn pack(encoding: Encoding, tokens: &[Vec<u8>]) -> Result<Vec<u8>> {
    let gap = encoding.gap().unwrap_or(NONE);
    let ids: Vec<Rank> = (0..tokens.len() as Rank).map(|rank| rank + Rank::from(rank >= gap)).collect();
    pack_plan(&Plan {
        name: encoding.base().name(),
        splitter: encoding.splitter(),
        form: None,
        tokens,
        made: tokens.len(),
        ids: &ids,
        added: &[],
        others: None,
        listed: &|_, _| true,
    })
}

/// The input of an asset.
pub(super) struct Plan<'p> {
    /// The name of the encoding, or empty.
    pub(super) name: &'p str,
    pub(super) splitter: Splitter,
    pub(super) form: Option<Form>,
    /// The tokens in the order of their ranks.
    pub(super) tokens: &'p [Vec<u8>],
    /// The first tokens, this many of them, may be made by merging, the others not.
    pub(super) made: usize,
    /// Their ids.
    pub(super) ids: &'p [Rank],
    /// Added tokens, each with its id and its kind ([`added_tokens`]).
    pub(super) added: &'p [(Rank, u8, Vec<u8>)],
    /// The treatment of tokens that no two lower tokens make: `None` if they are an error, else the kind of those that
    /// no merge makes at all.
    pub(super) others: Option<LiteralKind>,
    /// Whether two adjacent tokens, by their ranks, merge into the token of the third rank.
    pub(super) listed: &'p dyn Fn((Rank, Rank), Rank) -> bool,
}

/// Builds the asset under the conditions of [`pack`].
pub(super) fn pack_plan(plan: &Plan<'_>) -> Result<Vec<u8>> {
    let &Plan { name, tokens, .. } = plan;
    if !(BYTES..MAX_TOKENS).contains(&tokens.len()) {
        return Err(invalid(name, "it has too few or too many tokens"));
    }
    let longer_bytes = tokens.iter().map(Vec::len).filter(|&len| len > SHORT).sum();
    let mut words = TokenTable::new(tokens.len(), longer_bytes);
    // The order is not known yet.
    words.inverted = true;
    let crowded = || invalid(name, "its tokens do not fit into the tables");
    let wrong = |reason: &str, rank: Rank| wrong_token(name, reason, rank);
    let (single, further) = tokens.split_at(BYTES);
    let mut bytes = [false; BYTES];
    for token in single {
        match token.as_slice() {
            &[byte] => bytes[usize::from(byte)] = true,
            _ => return Err(invalid(name, "its first 256 tokens are not single bytes")),
        }
        words.add(token).ok_or_else(crowded)?;
    }
    if bytes.contains(&false) {
        return Err(invalid(name, "a byte is not a token"));
    }

    let mut merges = Vec::with_capacity(further.len());
    let mut literals: Vec<Literal<'_>> = Vec::new();
    for (rank, token) in (BYTES as Rank..).zip(further) {
        if token.len() > MAX_TOKEN_BYTES || token.contains(&0xff) {
            return Err(wrong("a token is too long or holds the byte 255", rank));
        }
        if token.is_empty() || words.rank_of(token, 0, token.len()) != NONE {
            return Err(wrong("a token is empty or occurs twice", rank));
        }
        let merge = Some(token).filter(|_| (rank as usize) < plan.made).and_then(|token| merge_of(&words, token));
        match merge {
            Some(merge) if (plan.listed)(merge, rank) => merges.push(merge),
            Some(_) => return Err(wrong("a merge is missing", rank)),
            None => {
                let Some(kind) = plan.others else {
                    return Err(wrong("a token is not made of two lower ones", rank));
                };
                merges.push((0, 0));
                literals.push(Literal { rank, kind, text: token });
            }
        }
        words.add(token).ok_or_else(crowded)?;
    }
    for literal in &mut literals {
        let Literal { rank, text, .. } = *literal;
        let mut parts = Parts::default();
        parts.start(0, text.len());
        parts.merge(&words, text);
        if parts.len() == 1 && (rank as usize) < plan.made {
            literal.kind = LiteralKind::Inverted;
            let is_character = text.first().is_some_and(|&first| width(first) == text.len());
            let rank_of = |from: usize, to: usize| words.rank_of(text, from, to - from);
            let mut pairs = (1..text.len()).map(|middle| (rank_of(0, middle), rank_of(middle, text.len())));
            if is_character
                || !pairs.all(|(one, other)| one == NONE || other == NONE || (plan.listed)((one, other), rank))
            {
                return Err(wrong("a token ranks lower than its parts, which is not supported", rank));
            }
        }
    }
    let single: Vec<u8> = single.iter().flatten().copied().collect();
    let more = added_tokens::write(plan.ids, &literals, plan.added);
    Ok(asset::write(&Contents {
        name,
        splitter: plan.splitter,
        form: plan.form.map_or(0, |form| form as u8),
        bytes: &single,
        merges: &merges,
        longer_bytes,
        has_text_tokens: plan.added.iter().any(|(_, kind, _)| matches!(*kind, FOUND | FOUND_NORMALIZED)),
        more: &more,
    }))
}

fn wrong_token(name: &str, reason: &str, rank: Rank) -> Error {
    invalid(name, reason).with("token", rank)
}

/// The two tokens into which byte pair encoding with the tokens so far splits a further one, if it leaves exactly two.
fn merge_of(words: &TokenTable, token: &[u8]) -> Option<(Rank, Rank)> {
    let mut parts = Parts::default();
    parts.start(0, token.len());
    parts.merge(words, token);
    match *parts.bounds.as_slice() {
        [_, middle, end] => {
            let (middle, end) = (middle as usize, end as usize);
            Some((words.rank_of(token, 0, middle), words.rank_of(token, middle, end - middle)))
        }
        _ => None,
    }
}
