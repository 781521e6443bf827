//! The part of a vocabulary asset after its merges. Numbers are little-endian:
//!
//! - the number of id runs, then per run the rank and the id of its first token, four bytes each; then the indices of
//!   the runs in that list, four bytes each, in the order of their ids;
//! - the number of literals, then per literal its rank (four bytes), its kind, its length (two bytes) and its bytes.
//!   Kind 0: a token that merges in an order other than that of the ranks; 1: a token that no merge makes and that
//!   counts only as a whole piece; 2: a token that is only decoded;
//! - the number of added tokens, then per token its id (four bytes), its kind, its length (two bytes) and its text.
//!   Kind 0: a special token that texts may contain; 1: a token that is only decoded; [`FOUND`]: a token that is found
//!   in every text; [`FOUND_NORMALIZED`]: one that is found in the normal form of every text. Assets with a token of the
//!   last two kinds have a version of their own.

use super::text_tokens::TextToken;
use super::token_table::{NONE, Rank, SHORT, TokenTable};
use crate::maps::SortedMap;

/// The kind of an added token that is found in every text.
pub(super) const FOUND: u8 = 2;
/// The kind of an added token that is found in the normal form of every text.
pub(super) const FOUND_NORMALIZED: u8 = 3;

/// A token that is spelled out because no two lower tokens make it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Literal<'a> {
    pub(super) rank: Rank,
    pub(super) kind: LiteralKind,
    pub(super) text: &'a [u8],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LiteralKind {
    /// One of its parts ranks higher.
    Inverted,
    /// No merge makes it. It is a token only as a whole piece.
    Whole,
    /// No text contains it: it is only decoded.
    Decoded,
}

/// The result of [`read`].
#[derive(Debug, Default)]
pub(super) struct AddedTokens<'a> {
    pub(super) ids: Ids,
    pub(super) literals: Vec<Literal<'a>>,
    pub(super) specials: Vec<(String, Rank)>,
    /// Tokens that are found in every text.
    pub(super) found: Vec<TextToken>,
    /// Tokens that no merge makes and that are not special: they are decoded only here.
    pub(super) decoded: Vec<(Rank, Vec<u8>)>,
}

/// Reads the bytes after the planes; `None` if they are malformed.
pub(super) fn read(bytes: &[u8], tokens: usize) -> Option<AddedTokens<'_>> {
    let mut more = AddedTokens::default();
    let mut rest = bytes;
    if bytes.is_empty() {
        return Some(more);
    }
    let mut runs = Vec::new();
    for _ in 0..number(&mut rest)? {
        runs.push((number(&mut rest)?, number(&mut rest)?));
    }
    let mut by_id = Vec::with_capacity(runs.len());
    for _ in &runs {
        let place = number(&mut rest)? as usize;
        let &(rank, id) = runs.get(place)?;
        let end = runs.get(place + 1).map_or(tokens as Rank, |&(end, _)| end);
        by_id.push((id, rank, end.checked_sub(rank)?));
    }
    more.ids = Ids::new(runs, by_id)?;
    for _ in 0..number(&mut rest)? {
        let (rank, kind, text) = entry(&mut rest)?;
        let kind = match kind {
            0 => LiteralKind::Inverted,
            1 => LiteralKind::Whole,
            2 => LiteralKind::Decoded,
            _ => return None,
        };
        let follows = more.literals.last().is_none_or(|last| last.rank < rank);
        more.literals.push(Some(Literal { rank, kind, text }).filter(|_| follows && !text.is_empty())?);
    }
    for _ in 0..number(&mut rest)? {
        match entry(&mut rest)? {
            (_, _, []) => return None,
            (id, 0, text) => more.specials.push((str::from_utf8(text).ok()?.to_owned(), id)),
            (id, kind, text) => {
                if matches!(kind, FOUND | FOUND_NORMALIZED) {
                    let found = str::from_utf8(text).ok()?.to_owned();
                    more.found.push(TextToken { text: found, id, normalized: kind == FOUND_NORMALIZED });
                }
                more.decoded.push((id, text.to_owned()));
            }
        }
    }
    rest.is_empty().then_some(more)
}

fn number(rest: &mut &[u8]) -> Option<u32> {
    let (number, after) = rest.split_first_chunk()?;
    *rest = after;
    Some(u32::from_le_bytes(*number))
}

fn entry<'a>(rest: &mut &'a [u8]) -> Option<(u32, u8, &'a [u8])> {
    let id = number(rest)?;
    let (&[kind, low, high], after) = rest.split_first_chunk()?;
    let (text, after) = after.split_at_checked(u16::from_le_bytes([low, high]).into())?;
    *rest = after;
    Some((id, kind, text))
}

/// Writes the format that [`read`] reads.
pub(super) fn write(ids: &[Rank], literals: &[Literal<'_>], added: &[(Rank, u8, Vec<u8>)]) -> Vec<u8> {
    let mut runs: Vec<(Rank, Rank)> = Vec::new();
    for (rank, &id) in (0..).zip(ids) {
        if runs.last().is_none_or(|&(first, first_id)| id.wrapping_sub(first_id) != rank - first) {
            runs.push((rank, id));
        }
    }
    if runs == [(0, 0)] && literals.is_empty() && added.is_empty() {
        return Vec::new();
    }
    let mut bytes = Vec::new();
    bytes.extend((runs.len() as u32).to_le_bytes());
    for (rank, id) in &runs {
        bytes.extend(rank.to_le_bytes());
        bytes.extend(id.to_le_bytes());
    }
    let by_id: SortedMap<Rank, u32> = (0..).zip(&runs).map(|(place, &(_, id))| (id, place)).collect();
    by_id.iter().for_each(|(_, place)| bytes.extend(place.to_le_bytes()));
    bytes.extend((literals.len() as u32).to_le_bytes());
    for literal in literals {
        append(&mut bytes, literal.rank, literal.kind as u8, literal.text);
    }
    bytes.extend((added.len() as u32).to_le_bytes());
    for (id, kind, text) in added {
        append(&mut bytes, *id, *kind, text);
    }
    bytes
}

fn append(bytes: &mut Vec<u8>, id: Rank, kind: u8, text: &[u8]) {
    bytes.extend(id.to_le_bytes());
    bytes.push(kind);
    bytes.extend((text.len() as u16).to_le_bytes());
    bytes.extend(text);
}

/// The ids of the tokens, if they differ from the ranks.
#[derive(Clone, Debug, Default)]
pub(super) struct Ids {
    /// The first rank and the id of each run of tokens whose ids rise with their ranks. `None` if rank and id are the
    /// same throughout.
    runs: Vec<(Rank, Rank)>,
    /// The same sorted by id, with the length of each run.
    by_id: Vec<(Rank, Rank, Rank)>,
}

impl Ids {
    /// `None` if the runs do not begin with 0, are out of order or contain an id twice.
    fn new(runs: Vec<(Rank, Rank)>, by_id: Vec<(Rank, Rank, Rank)>) -> Option<Self> {
        if *runs == [(0, 0)] {
            return Some(Self::default());
        }
        let apart = by_id.is_sorted_by(|one, other| one.0.checked_add(one.2).is_some_and(|end| end <= other.0));
        let in_order = runs.first()?.0 == 0 && runs.is_sorted_by(|one, other| one.0 < other.0);
        (apart && in_order).then_some(Self { runs, by_id })
    }

    /// Whether the ids are the ranks.
    pub(super) fn are_ranks(&self) -> bool {
        self.runs.is_empty()
    }

    /// Replaces ranks by ids.
    pub(super) fn number(&self, tokens: &mut [Rank]) {
        match *self.runs.as_slice() {
            [] => {}
            [(_, first)] => tokens.iter_mut().for_each(|token| *token = token.wrapping_add(first)),
            _ => tokens.iter_mut().for_each(|token| *token = self.of_rank(*token)),
        }
    }

    fn of_rank(&self, token: Rank) -> Rank {
        let run = self.runs.partition_point(|&(rank, _)| rank <= token).saturating_sub(1);
        self.runs.get(run).map_or(token, |&(rank, id)| token.wrapping_sub(rank).wrapping_add(id))
    }

    /// The rank of the token with this id, or [`NONE`].
    pub(super) fn rank(&self, number: Rank) -> Rank {
        if self.runs.is_empty() {
            return number;
        }
        let run = self.by_id.partition_point(|&(id, _, _)| id <= number);
        match run.checked_sub(1).and_then(|run| self.by_id.get(run)) {
            Some(&(id, rank, len)) if number - id < len => number - id + rank,
            _ => NONE,
        }
    }
}

/// The tokens that count only as a whole piece.
pub(super) struct WholePieces {
    texts: TokenTable,
    ranks: Vec<Rank>,
}

impl WholePieces {
    /// The whole-piece tokens of a vocabulary: the inner `None` if it has none, the outer one if they do not fit into
    /// the table.
    pub(super) fn new(literals: &[Literal<'_>]) -> Option<Option<Self>> {
        let pieces = || literals.iter().filter(|literal| literal.kind == LiteralKind::Whole);
        let longer_bytes = pieces().map(|piece| piece.text.len()).filter(|&len| len > SHORT).sum();
        let mut whole = Self { texts: TokenTable::new(pieces().count() * 2, longer_bytes), ranks: Vec::new() };
        for piece in pieces() {
            whole.texts.add(piece.text)?;
            whole.ranks.push(piece.rank);
        }
        Some(Some(whole).filter(|whole| !whole.ranks.is_empty()))
    }

    /// The rank of a whole-piece token.
    pub(super) fn rank(&self, bytes: &[u8], at: usize, len: usize) -> Option<Rank> {
        self.ranks.get(self.texts.rank_of(bytes, at, len) as usize).copied()
    }
}
