//! Texts as the numbers of their tokens, and back (SPEC §6).

use crate::error::{Code, Error, Result};
use crate::maps::SortedMap;
use crate::text::Utf16Offsets;
pub use crate::tokens::bpe::PIECE;
use crate::tokens::bpe::Rank;

/// An exact tokenizer, beside counting: what its tokens are.
pub trait Codec {
    /// Appends the tokens of a text, those that are special as the plain text they are. Once there are more than `most` it may
    /// stop, where a token ends that no text behind it changes.
    fn encode_ordinary(&self, text: &str, most: usize, tokens: &mut Vec<Rank>);

    /// Where the tokens of a text end, with [`PIECE`] where a piece of the text does; it may stop as [`Self::encode_ordinary`], at
    /// the end of a piece. Nothing where it is not known of what pieces a text is.
    fn token_ends(&self, text: &str, most: usize) -> Option<Vec<usize>> {
        let _ = (text, most);
        None
    }

    /// How many bytes the first piece of a text has.
    fn first_piece(&self, text: &str) -> usize {
        text.len()
    }

    /// Appends the bytes of a token; false where there is no ordinary one of that number.
    fn append_token(&self, token: Rank, bytes: &mut Vec<u8>) -> bool;

    /// Appends the bytes of tokens up to the first that is no ordinary one, and says how many those are.
    fn append_tokens(&self, tokens: &[Rank], bytes: &mut Vec<u8>) -> usize {
        tokens.iter().position(|&token| !self.append_token(token, bytes)).unwrap_or(tokens.len())
    }

    /// The special tokens: their text, which begins with `<|` and ends with `|>`, and their number.
    fn specials(&self) -> Vec<(&str, Rank)>;
}

/// Special tokens by their text.
pub type Specials = SortedMap<String, Rank>;

/// No special token is longer, in bytes.
const LONGEST_SPECIAL: usize = 64;

/// The tokens of a text. What of it is one of the special tokens given is that token, and parts what is before it from what is
/// behind it.
pub fn encode(codec: &dyn Codec, text: &str, specials: &Specials) -> Vec<Rank> {
    let mut tokens = Vec::new();
    let mut rest = text;
    let mut from = 0;
    while let Some(at) = rest.get(from..).filter(|_| !specials.is_empty()).and_then(|rest| rest.find("<|")) {
        let at = from.saturating_add(at);
        let Some((before, behind)) = rest.split_at_checked(at) else { break };
        match special_at(behind, specials) {
            Some((special, len)) => {
                codec.encode_ordinary(before, usize::MAX, &mut tokens);
                tokens.push(special);
                (rest, from) = (behind.get(len..).unwrap_or_default(), 0);
            }
            None => from = at.saturating_add(1),
        }
    }
    codec.encode_ordinary(rest, usize::MAX, &mut tokens);
    tokens
}

/// The special token that a text begins with, and its length.
fn special_at(text: &str, specials: &Specials) -> Option<(Rank, usize)> {
    let head = text.get(..text.floor_char_boundary(LONGEST_SPECIAL))?;
    let len = head.find("|>")?.saturating_add(2);
    specials.get(head.get(..len)?).map(|&special| (special, len))
}

/// The bytes that tokens stand for, special ones for their text. They need not be UTF-8.
///
/// # Errors
/// [`Code::InvalidInput`] with `path` and `value` for a number that is no token.
pub fn decode(codec: &dyn Codec, tokens: &[Rank]) -> Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(tokens.len().saturating_mul(5));
    let mut rest = tokens;
    let mut specials = None;
    loop {
        let done = codec.append_tokens(rest, &mut bytes);
        let Some((token, behind)) = rest.get(done..).and_then(<[Rank]>::split_first) else { return Ok(bytes) };
        let specials = specials.get_or_insert_with(|| codec.specials());
        let Some((special, _)) = specials.iter().find(|(_, number)| number == token) else {
            let index = tokens.len().saturating_sub(behind.len()).saturating_sub(1);
            let message = format!("`ids[{index}]` is {token}, which is no token of this encoding");
            return Err(Error::new(Code::InvalidInput, message)
                .with("path", format!("ids[{index}]"))
                .with("value", *token));
        };
        bytes.extend_from_slice(special.as_bytes());
        rest = behind;
    }
}

/// Where the tokens of a text end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Spans {
    /// The tokens.
    pub ids: Vec<Rank>,
    /// Where each of them ends, in UTF-16 code units; of one that ends inside a character, where that begins.
    pub ends: Vec<u32>,
    /// Which tokens end inside a character, by their index.
    pub splits: Vec<u32>,
}

/// The tokens of a text, and where they end.
pub fn spans(codec: &dyn Codec, text: &str, specials: &Specials) -> Spans {
    let ids = encode(codec, text, specials);
    let mut spans = Spans { ends: Vec::with_capacity(ids.len()), ..Spans::default() };
    let mut offsets = Utf16Offsets::new(text);
    let number = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    let len_of_special = |id| specials.iter().find(|&(_, &special)| special == id).map_or(0, |(text, _)| text.len());
    let mut token = Vec::new();
    let mut end = 0_usize;
    for &id in &ids {
        token.clear();
        let len = if codec.append_token(id, &mut token) { token.len() } else { len_of_special(id) };
        end = end.saturating_add(len);
        let whole = text.floor_char_boundary(end);
        if whole < end {
            spans.splits.push(number(spans.ends.len()));
        }
        spans.ends.push(number(offsets.at(whole)));
    }
    spans.ids = ids;
    spans
}
