//! Texts as the numbers of their tokens, and back (SPEC §6).

use crate::error::{Code, Error, Result};
use crate::maps::SortedMap;
use crate::text::Utf16Offsets;
pub use crate::tokens::bpe::PIECE;
use crate::tokens::bpe::{Form, Origins, Rank};

/// An exact tokenizer, next to counting: what its tokens are.
pub trait Codec {
    /// Appends the tokens of a text, those that are special as the plain text they are. Once there are more than `max_tokens` it may
    /// stop, where a token ends that no text after it changes.
    fn encode_ordinary(&self, text: &str, max_tokens: usize, tokens: &mut Vec<Rank>);

    /// Where the tokens of a text end, with [`PIECE`] where a piece of the text does; it may stop as [`Self::encode_ordinary`], at
    /// the end of a piece. Nothing where it is not known of what pieces a text is.
    fn token_ends(&self, text: &str, max_tokens: usize) -> Option<Vec<usize>> {
        let _ = (text, max_tokens);
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

    /// The special tokens that texts may have: their text and their number.
    fn specials(&self) -> Vec<(&str, Rank)>;

    /// The normal form that texts are brought to first.
    fn form(&self) -> Option<Form> {
        None
    }
}

/// Special tokens by their text.
#[derive(Clone, Debug, Default)]
pub struct Specials {
    tokens: SortedMap<String, Rank>,
    /// The bytes that they begin with, and how long they are, from the longest.
    first: Vec<u8>,
    lengths: Vec<usize>,
}

impl Specials {
    /// None.
    pub fn new() -> Self {
        Self::default()
    }
}

impl FromIterator<(String, Rank)> for Specials {
    fn from_iter<I: IntoIterator<Item = (String, Rank)>>(tokens: I) -> Self {
        Self::of(tokens.into_iter().collect())
    }
}

impl Specials {
    /// Those of a map, none of which is empty.
    pub(crate) fn of(tokens: SortedMap<String, Rank>) -> Self {
        let (mut first, mut lengths) = (Vec::new(), Vec::new());
        for (text, _) in tokens.iter() {
            let begin = text.bytes().next().unwrap_or_default();
            if !first.contains(&begin) {
                first.push(begin);
            }
            if let Err(at) = lengths.binary_search_by(|len| text.len().cmp(len)) {
                lengths.insert(at, text.len());
            }
        }
        Self { tokens, first, lengths }
    }
}

/// What a text falls apart into.
enum Part<'t> {
    /// Ordinary text.
    Text(&'t str),
    /// A special token, and how long its text is.
    Special(Rank, usize),
}

impl Specials {
    /// Gives the parts of a text. Of special tokens that begin at the same place the longest is taken.
    fn each_part<'t>(&self, text: &'t str, each: &mut dyn FnMut(Part<'t>)) {
        let (mut from, mut at) = (0, 0_usize);
        let begins = |byte: &u8| self.first.contains(byte);
        while let Some(next) =
            text.as_bytes().get(at..).filter(|_| !self.first.is_empty()).and_then(|rest| rest.iter().position(begins))
        {
            at += next;
            match self.at(text, at) {
                Some((special, len)) => {
                    each(Part::Text(text.get(from..at).unwrap_or_default()));
                    each(Part::Special(special, len));
                    at += len;
                    from = at;
                }
                None => at += 1,
            }
        }
        each(Part::Text(text.get(from..).unwrap_or_default()));
    }

    /// The special token that stands at a place, and its length.
    fn at(&self, text: &str, at: usize) -> Option<(Rank, usize)> {
        self.lengths.iter().find_map(|&len| {
            let special = self.tokens.get(text.get(at..at.checked_add(len)?)?)?;
            Some((*special, len))
        })
    }
}

/// The tokens of a text. What of it is one of the special tokens given is that token, and parts what is before it from what is
/// after it.
pub fn encode(codec: &dyn Codec, text: &str, specials: &Specials) -> Vec<Rank> {
    let mut tokens = Vec::new();
    specials.each_part(text, &mut |part| match part {
        Part::Text(text) => codec.encode_ordinary(text, usize::MAX, &mut tokens),
        Part::Special(special, _) => tokens.push(special),
    });
    tokens
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
    /// Where each of them ends, in UTF-16 code units; of one that ends inside a character, where that begins. What a vocabulary
    /// normalizes is as one character.
    pub ends: Vec<u32>,
    /// Which tokens end inside a character, by their index.
    pub splits: Vec<u32>,
}

/// The tokens of a text, and where they end.
pub fn spans(codec: &dyn Codec, text: &str, specials: &Specials) -> Spans {
    let mut spans = Spans::default();
    let mut offsets = Utf16Offsets::new(text);
    let number = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    let mut from = 0_usize;
    specials.each_part(text, &mut |part| {
        let known = spans.ids.len();
        let len = match part {
            Part::Text(part) => {
                codec.encode_ordinary(part, usize::MAX, &mut spans.ids);
                each_end(codec, part, spans.ids.get(known..).unwrap_or_default(), |end, is_whole| {
                    if !is_whole {
                        spans.splits.push(number(spans.ends.len()));
                    }
                    spans.ends.push(number(offsets.at(from + end)));
                });
                part.len()
            }
            Part::Special(special, len) => {
                spans.ids.push(special);
                spans.ends.push(number(offsets.at(from + len)));
                len
            }
        };
        from += len;
    });
    spans
}

/// Gives where each of the tokens of a text ends, in bytes, and whether that is between two characters; else it is before that
/// character.
pub(crate) fn each_end(codec: &dyn Codec, text: &str, tokens: &[Rank], mut each: impl FnMut(usize, bool)) {
    let mut origins = Origins::new(text, codec.form());
    let (mut token, mut end) = (Vec::new(), 0_usize);
    for &id in tokens {
        token.clear();
        codec.append_token(id, &mut token);
        end += token.len();
        let (at, is_exact) = origins.at(end);
        let whole = text.floor_char_boundary(at);
        each(whole, is_exact && whole == at);
    }
}
