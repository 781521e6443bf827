//! Encodes texts as token ids, and decodes them (docs/tokens.md).

use crate::error::{Code, Error, Result};
use crate::maps::SortedMap;
use crate::text::Utf16Offsets;
pub use crate::tokens::bpe::PIECE;
pub use crate::tokens::bpe::TextToken;
use crate::tokens::bpe::{Form, Origins, Rank, normalized};

/// The tokens of an exact tokenizer, in addition to their count.
pub trait Codec {
    /// Appends the tokens of a text, special ones as plain text. With more than `max_tokens` it may stop at the end of
    /// a token that no further text changes.
    fn encode_ordinary(&self, text: &str, max_tokens: usize, tokens: &mut Vec<Rank>);

    /// The ends of the tokens of a text, with [`PIECE`] at the ends of pieces; it may stop like
    /// [`Self::encode_ordinary`], at the end of a piece. `None` if the pieces of a text are unknown.
    fn token_ends(&self, text: &str, max_tokens: usize) -> Option<Vec<usize>> {
        let _ = (text, max_tokens);
        None
    }

    /// The length of the first piece of a text, in bytes.
    fn first_piece(&self, text: &str) -> usize {
        text.len()
    }

    /// Appends the bytes of a token; `false` if no ordinary token has this id.
    fn append_token(&self, token: Rank, bytes: &mut Vec<u8>) -> bool;

    /// Appends the bytes of tokens up to the first that is not an ordinary one; returns how many those are.
    fn append_tokens(&self, tokens: &[Rank], bytes: &mut Vec<u8>) -> usize {
        tokens.iter().position(|&token| !self.append_token(token, bytes)).unwrap_or(tokens.len())
    }

    /// The special tokens that texts may contain: their text and their id.
    fn specials(&self) -> Vec<(&str, Rank)>;

    /// The added tokens that are found in every text, before it is split into pieces.
    fn text_tokens(&self) -> &[TextToken] {
        &[]
    }

    /// Calls `each` for the parts of a text that are normalized and encoded separately, and for the tokens between
    /// them, with their ids.
    fn each_part<'t>(&self, text: &'t str, each: &mut dyn FnMut(&'t str, Option<Rank>)) {
        each(text, None);
    }

    /// The normal form that texts are converted to first.
    fn form(&self) -> Option<Form> {
        None
    }
}

/// Special tokens by their text.
#[derive(Clone, Debug, Default)]
pub struct Specials {
    tokens: SortedMap<String, Rank>,
    /// The first bytes of the special tokens, and their lengths, longest first.
    first: Vec<u8>,
    lengths: Vec<usize>,
}

impl Specials {
    /// An empty set.
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
    /// The special tokens of a map without empty texts.
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

    /// The special tokens of a codec that `is_allowed`, next to the tokens that are found in every text: of those that
    /// begin at the same place the longest wins.
    pub fn allowed(codec: &dyn Codec, is_allowed: &dyn Fn(&str) -> bool) -> Self {
        let found = codec.text_tokens().iter().filter(|token| !token.normalized);
        let found = found.map(|token| (token.text.as_str(), token.id));
        let specials = codec.specials().into_iter().filter(|(text, _)| is_allowed(text));
        found.chain(specials).map(|(text, id)| (text.to_owned(), id)).collect()
    }
}

/// A part of a text.
enum Part<'t> {
    /// Ordinary text.
    Text(&'t str),
    /// A special token, and the length of its text.
    Special(Rank, usize),
}

impl Specials {
    /// Calls `each` for the parts of a text. Of special tokens that begin at the same place the longest wins.
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

    /// The special token at an offset, and its length.
    fn at(&self, text: &str, at: usize) -> Option<(Rank, usize)> {
        self.lengths.iter().find_map(|&len| {
            let special = self.tokens.get(text.get(at..at.checked_add(len)?)?)?;
            Some((*special, len))
        })
    }
}

/// The tokens of a text. The given special tokens are recognized in it, and separate the text before them from the text
/// after them.
pub fn encode(codec: &dyn Codec, text: &str, specials: &Specials) -> Vec<Rank> {
    let mut tokens = Vec::new();
    specials.each_part(text, &mut |part| match part {
        Part::Text(text) => codec.encode_ordinary(text, usize::MAX, &mut tokens),
        Part::Special(special, _) => tokens.push(special),
    });
    tokens
}

/// The bytes of tokens, the text for special ones. They need not be UTF-8.
///
/// # Errors
/// [`Code::InvalidInput`] with `path` and `value` for a number that is not a token.
pub fn decode(codec: &dyn Codec, tokens: &[Rank]) -> Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(tokens.len().saturating_mul(5));
    let mut rest = tokens;
    let mut specials = None;
    loop {
        let done = codec.append_tokens(rest, &mut bytes);
        let Some((token, after)) = rest.get(done..).and_then(<[Rank]>::split_first) else { return Ok(bytes) };
        if codec.append_token(*token, &mut bytes) {
            rest = after;
            continue;
        }
        let specials = specials.get_or_insert_with(|| codec.specials());
        let Some((special, _)) = specials.iter().find(|(_, number)| number == token) else {
            let index = tokens.len().saturating_sub(after.len()).saturating_sub(1);
            let message = format!("`ids[{index}]` is {token}, which is not a token of this encoding");
            return Err(Error::new(Code::InvalidInput, message)
                .with("path", format!("ids[{index}]"))
                .with("value", *token));
        };
        bytes.extend_from_slice(special.as_bytes());
        rest = after;
    }
}

/// The tokens of a text with their ends.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Spans {
    /// The tokens.
    pub ids: Vec<Rank>,
    /// The end of each, in UTF-16 code units; of a token that ends inside a character, the begin of that character. A
    /// segment that the vocabulary normalizes counts as one character.
    pub ends: Vec<u32>,
    /// Which tokens end inside a character, by index.
    pub splits: Vec<u32>,
}

/// The tokens of a text with their ends.
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

/// Calls `each` with the end of each token of a text, in bytes, and whether it lies between two characters; if not, the
/// end is the begin of that character.
pub(crate) fn each_end(codec: &dyn Codec, text: &str, tokens: &[Rank], mut each: impl FnMut(usize, bool)) {
    let (mut rest, mut token, mut from) = (tokens.iter(), Vec::new(), 0_usize);
    codec.each_part(text, &mut |part, found| {
        let mut origins = Origins::new(part, codec.form());
        let (mut end, len) = (0_usize, normalized(part, codec.form()).len());
        while found.is_none() && end < len {
            let Some(&id) = rest.next() else { return };
            token.clear();
            codec.append_token(id, &mut token);
            end += token.len();
            let (at, is_exact) = origins.at(end);
            let whole = part.floor_char_boundary(at);
            each(from + whole, is_exact && whole == at);
        }
        from += part.len();
        if found.is_some() && rest.next().is_some() {
            each(from, true);
        }
    });
}
