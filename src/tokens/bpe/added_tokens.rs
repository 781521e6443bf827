//! What there is to know of a vocabulary next to its merges. In the asset, numbers are little-endian:
//!
//! - how many runs of numbers there are, and of each the rank and the number of its first token, four bytes each; then the places
//!   of the runs in that list, four bytes each, in the order of their numbers;
//! - how many tokens are spelt out, and of each its rank (four bytes), its kind, its length (two bytes) and its bytes: 0 for one that
//!   merges in another order than that of the ranks, 1 for one that no merge makes and that is a token where it is a whole
//!   piece, 2 for one that is only decoded;
//! - how many special tokens there are, and of each its number (four bytes), its kind, its length (two bytes) and its text: 0 for one
//!   that texts may have, 1 for one that is only decoded.

use super::token_table::{NONE, Rank, SHORT, TokenTable};
use crate::maps::SortedMap;

/// A token that is spelt out, since no two lower ones make it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Literal<'a> {
    pub(super) rank: Rank,
    pub(super) kind: LiteralKind,
    pub(super) text: &'a [u8],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LiteralKind {
    /// One of its parts has a higher rank.
    Inverted,
    /// No merge makes it. Where it is a whole piece it is a token all the same.
    Whole,
    /// No text has it.
    Decoded,
}

/// What [`read`] finds.
#[derive(Debug, Default)]
pub(super) struct More<'a> {
    pub(super) ids: Ids,
    pub(super) literals: Vec<Literal<'a>>,
    pub(super) specials: Vec<(String, Rank)>,
    /// Special tokens that are only decoded.
    pub(super) decoded: Vec<(Rank, Vec<u8>)>,
}

/// Reads what stands after the planes; nothing where it makes no sense.
pub(super) fn read(bytes: &[u8], tokens: usize) -> Option<More<'_>> {
    let mut more = More::default();
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
            (id, _, text) => more.decoded.push((id, text.to_owned())),
        }
    }
    rest.is_empty().then_some(more)
}

fn number(rest: &mut &[u8]) -> Option<u32> {
    let (number, behind) = rest.split_first_chunk()?;
    *rest = behind;
    Some(u32::from_le_bytes(*number))
}

fn entry<'a>(rest: &mut &'a [u8]) -> Option<(u32, u8, &'a [u8])> {
    let id = number(rest)?;
    let (&[kind, low, high], behind) = rest.split_first_chunk()?;
    let (text, behind) = behind.split_at_checked(u16::from_le_bytes([low, high]).into())?;
    *rest = behind;
    Some((id, kind, text))
}

/// What [`read`] reads.
pub(super) fn write(ids: &[Rank], literals: &[Literal<'_>], specials: &[(Rank, u8, Vec<u8>)]) -> Vec<u8> {
    let mut runs: Vec<(Rank, Rank)> = Vec::new();
    for (rank, &id) in (0..).zip(ids) {
        if runs.last().is_none_or(|&(first, first_id)| id.wrapping_sub(first_id) != rank - first) {
            runs.push((rank, id));
        }
    }
    if runs == [(0, 0)] && literals.is_empty() && specials.is_empty() {
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
    bytes.extend((specials.len() as u32).to_le_bytes());
    for (id, kind, text) in specials {
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

/// The numbers of the tokens, where they are not their ranks.
#[derive(Clone, Debug, Default)]
pub(super) struct Ids {
    /// Of each run of tokens whose numbers go up with their ranks the first rank and its number. None where rank and number
    /// are the same throughout.
    runs: Vec<(Rank, Rank)>,
    /// The same by number, and how many there are.
    by_id: Vec<(Rank, Rank, Rank)>,
}

impl Ids {
    /// Nothing where the runs do not begin with 0, are not in order or have a number twice.
    fn new(runs: Vec<(Rank, Rank)>, by_id: Vec<(Rank, Rank, Rank)>) -> Option<Self> {
        if *runs == [(0, 0)] {
            return Some(Self::default());
        }
        let apart = by_id.is_sorted_by(|one, other| one.0.checked_add(one.2).is_some_and(|end| end <= other.0));
        let in_order = runs.first()?.0 == 0 && runs.is_sorted_by(|one, other| one.0 < other.0);
        (apart && in_order).then_some(Self { runs, by_id })
    }

    /// Whether they are the ranks themselves.
    pub(super) fn are_ranks(&self) -> bool {
        self.runs.is_empty()
    }

    /// Puts numbers in place of ranks.
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

    /// The rank of the token of this number, or [`NONE`].
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

/// The tokens that are one only where they are a whole piece.
pub(super) struct WholePieces {
    texts: TokenTable,
    ranks: Vec<Rank>,
}

impl WholePieces {
    /// Those of a vocabulary that has such. Nothing where they do not fit into the table.
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

    /// The rank of such a token.
    pub(super) fn rank(&self, bytes: &[u8], at: usize, len: usize) -> Option<Rank> {
        self.ranks.get(self.texts.rank_of(bytes, at, len) as usize).copied()
    }
}
