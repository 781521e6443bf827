//! Makes an asset out of a byte-level BPE `tokenizer.json` of Hugging Face.

use std::borrow::Cow;
use std::fmt;

use super::added_tokens::{FOUND, FOUND_NORMALIZED, LiteralKind};
use super::asset::BYTES;
use super::normalize::{self, Form};
use super::pack::{Plan, pack_plan};
use super::splitter::Splitter;
use super::token_table::{MAX_TOKEN_BYTES, MAX_TOKENS, NONE, Rank, SHORT, TokenTable};
use crate::error::{Code, Error, Result};
use crate::json::{Document, Object, Value};
use crate::maps::SortedMap;
use crate::text::{is_whitespace, split_once};

/// The error for a value that cannot be converted; `what` follows its path.
fn refused(value: Value<'_>, what: fmt::Arguments<'_>) -> Error {
    value.invalid(|place| format!("{place} {what}; count with `heuristic`, or a custom counter"))
}

/// The vocabulary asset of a `tokenizer.json` of Hugging Face, to be loaded under any name that is not an encoding of
/// OpenAI's.
///
/// The file has to be byte-level byte pair encoding with one of the known patterns (docs/vocabularies.md lists them).
/// Special tokens that are added to the model are recognized only if the caller allows them, other added tokens in every
/// text. Text that `post_processor` adds is not part of it.
///
/// # Errors
/// [`Code::InvalidInput`](crate::Code::InvalidInput) with `path` for an invalid file and for a tokenizer that cannot be
/// converted, such as one of SentencePiece; [`Code::InvalidVocabulary`](crate::Code::InvalidVocabulary) if its merges
/// violate what the engine relies on.
pub fn vocabulary_of(tokenizer_json: &[u8]) -> Result<Vec<u8>> {
    check_file(tokenizer_json)?;
    let document = Document::read(tokenizer_json, &[])?;
    let document: &Document<'_> = &document;
    let file = document.root().object("a `tokenizer.json`, an object")?;
    let model = file.need("model")?.object("a model, an object")?;
    check_model(model)?;
    let form = file.read("normalizer", form_of)?.flatten();
    let splitter = splitter_of(file)?;
    let mut added = AddedList::read(file, form)?;
    let vocab = Vocab::read(model, &mut added)?;
    let ignores_merges = model.bool("ignore_merges")?.unwrap_or(false);

    let mut ranks = Ranks::of_bytes(&vocab, model)?;
    // The merges in their order, and the index of the first merge into each token.
    let (mut pairs, mut begins) = (Vec::new(), vec![0; ranks.order.len()]);
    for merge in model.need("merges")?.list("a list of merges")? {
        let pair = merge_of(merge, &vocab)?;
        let joined = [vocab.token(pair.0), vocab.token(pair.1)].concat();
        let Some(product) = vocab.find(&joined) else {
            return Err(refused(merge, format_args!("makes a token that is not in `model.vocab`")));
        };
        let rank = ranks.of(product) as usize;
        // All merges into one token have its rank.
        if rank + 1 != ranks.order.len() {
            return Err(refused(
                merge,
                format_args!("makes the same token as another merge, with others between them"),
            ));
        }
        if begins.len() <= rank {
            begins.push(pairs.len());
        }
        pairs.push(pair);
    }
    let made = ranks.order.len();
    // No merge makes the remaining tokens.
    for token in 0..vocab.tokens.len() as u32 {
        ranks.of(token);
    }
    let is_listed = |merge: (Rank, Rank), rank: Rank| {
        let end = begins.get(rank as usize + 1).copied().unwrap_or(pairs.len());
        let into = begins.get(rank as usize).and_then(|&begin| pairs.get(begin..end)).unwrap_or_default();
        into.iter().any(|&(left, right)| merge == (ranks.known(left), ranks.known(right)))
    };
    let tokens: Vec<Vec<u8>> = ranks.order.iter().map(|&token| vocab.token(token).to_vec()).collect();
    let ids: Vec<Rank> = ranks.order.iter().map(|&token| vocab.id(token)).collect();
    pack_plan(&Plan {
        name: "",
        splitter,
        form,
        tokens: &tokens,
        made,
        ids: &ids,
        added: &added.listed,
        others: Some(if ignores_merges { LiteralKind::Whole } else { LiteralKind::Decoded }),
        listed: &is_listed,
    })
}

/// Rejects the binary model of SentencePiece, `tokenizer.model`: a message of Protocol Buffers with a list of pieces, the
/// first of which is `<unk>` or `<pad>`.
fn check_file(bytes: &[u8]) -> Result<()> {
    let begin = bytes.get(..16).unwrap_or_default();
    let has = |name: &[u8]| begin.windows(name.len()).any(|window| window == name);
    if begin.first() == Some(&b'\n') && (has(b"<unk>") || has(b"<pad>")) {
        let message = "the file is a model of SentencePiece, and only a `tokenizer.json` with byte-level `BPE` can be converted; count \
             with `heuristic`, or a custom counter";
        return Err(Error::new(Code::InvalidInput, message));
    }
    Ok(())
}

/// Rejects other kinds of models.
fn check_model(model: Object<'_>) -> Result<()> {
    let kind = model.need("type")?;
    let name = kind.text()?;
    if name != "BPE" {
        return Err(refused(kind, format_args!("is `{name}`, and only byte-level `BPE` can be converted")));
    }
    if let Some(fallback) = model.get("byte_fallback")?.filter(|fallback| fallback.raw() == "true") {
        let what =
            format_args!("is `true`, as in tokenizers of SentencePiece, and only byte-level `BPE` can be converted");
        return Err(refused(fallback, what));
    }
    for name in ["dropout", "continuing_subword_prefix", "end_of_word_suffix"] {
        if let Some(value) =
            model.get(name)?.filter(|value| !value.is_string("") && !matches!(value.raw(), "0" | "0.0"))
        {
            return Err(refused(value, format_args!("is not supported")));
        }
    }
    Ok(())
}

/// The items of `list` in a normalizer or pre-tokenizer of kind `Sequence`, or the single one.
fn flattened<'t>(value: Value<'t>, list: &str, found: &mut Vec<Object<'t>>) -> Result<()> {
    let stage = value.object("an object with a `type`")?;
    if stage.need("type")?.is_string("Sequence") {
        return stage.need(list)?.list("a list")?.try_for_each(|inner| flattened(inner, list, found));
    }
    found.push(stage);
    Ok(())
}

fn form_of(normalizer: Value<'_>) -> Result<Option<Form>> {
    let mut stages = Vec::new();
    flattened(normalizer, "normalizers", &mut stages)?;
    let mut names = String::new();
    for stage in &stages {
        names.push_str(if names.is_empty() { "" } else { "`, `" });
        names.push_str(&stage.text("type")?);
    }
    match &*names {
        _ if stages.is_empty() => Ok(None),
        "NFC" => Ok(Some(Form::Nfc)),
        "NFKC" => Ok(Some(Form::Nfkc)),
        _ => Err(refused(normalizer, format_args!("is `{names}`, and only `NFC` or `NFKC` alone can be converted"))),
    }
}

fn splitter_of(file: Object<'_>) -> Result<Splitter> {
    let Some(value) = file.get("pre_tokenizer")? else {
        return Err(refused(file.value(), format_args!("has no `pre_tokenizer`, so it is not byte-level")));
    };
    let mut stages = Vec::new();
    flattened(value, "pretokenizers", &mut stages)?;
    let unknown = |what: fmt::Arguments<'_>| refused(value, format_args!("has {what}, which is not supported"));
    let Some((last, before)) = stages.split_last() else { return Err(unknown(format_args!("no stages"))) };
    if !last.need("type")?.is_string("ByteLevel") {
        let name = last.text("type")?;
        return Err(refused(last.value(), format_args!("is `{name}`, but the last stage must be `ByteLevel`")));
    }
    if last.bool("add_prefix_space")?.unwrap_or(true) {
        return Err(refused(last.value(), format_args!("has `add_prefix_space`, which adds a space before each text")));
    }
    let gpt2 = last.bool("use_regex")?.unwrap_or(true);
    let mut patterns: Vec<Cow<'_, str>> = Vec::new();
    for stage in before {
        let name = stage.text("type")?;
        match &*name {
            "Split" => {
                let pattern = stage.need("pattern")?.object("a pattern, an object")?;
                let Some(pattern) = pattern.get("Regex")? else {
                    return Err(unknown(format_args!("a pattern that is not a `Regex`")));
                };
                let behavior = stage.text("behavior")?;
                let inverted = stage.bool("invert")?.unwrap_or(false);
                // The patterns of one stage match everything.
                let is_known = behavior == "Isolated" || behavior == "Removed" && inverted && before.len() == 1;
                if !is_known {
                    return Err(unknown(format_args!("a split with the behavior `{behavior}`")));
                }
                patterns.push(pattern.text()?);
            }
            "Digits" if gpt2 && before.len() == 1 && stage.bool("individual_digits")? == Some(true) => {
                return Splitter::GPT2.with_single_digits().ok_or_else(|| unknown(format_args!("`Digits`")));
            }
            name => return Err(unknown(format_args!("`{name}`"))),
        }
    }
    match (gpt2, patterns.as_slice()) {
        (true, []) => Ok(Splitter::GPT2),
        (false, [first, more @ ..]) => Splitter::of_patterns(&patterns).ok_or_else(|| match more {
            [] => unknown(format_args!("the pattern `{first}`")),
            _ => unknown(format_args!("the pattern `{first}` and others after it")),
        }),
        _ => Err(unknown(format_args!("a split by several patterns"))),
    }
}

/// The tokens that are added to the model, with their ids and kinds.
struct AddedList {
    listed: Vec<(Rank, u8, Vec<u8>)>,
}

impl AddedList {
    fn read(file: Object<'_>, form: Option<Form>) -> Result<Self> {
        let mut listed = Vec::new();
        for added in file.read("added_tokens", |added| added.list("a list of tokens"))?.into_iter().flatten() {
            let added = added.object("a token, an object")?;
            let (id, content) = (added.need("id")?.whole(u32::MAX)?, added.need("content")?);
            let text = content.text()?;
            let special = added.bool("special")?.unwrap_or(false);
            if text.is_empty() || special && text.chars().all(is_whitespace) {
                return Err(refused(content, format_args!("is a special token without a visible character")));
            }
            if text.len() > usize::from(u16::MAX) {
                return Err(refused(content, format_args!("is too long")));
            }
            // Special tokens that take adjacent white space along, or only match whole words, are only decoded.
            let mut decoded = false;
            for name in ["lstrip", "rstrip", "single_word"] {
                if !added.bool(name)?.unwrap_or(false) {
                    continue;
                }
                if !special {
                    let what = format_args!("has `{name}`, which is not supported for a token that is not special");
                    return Err(refused(added.value(), what));
                }
                decoded = true;
            }
            let normalized = added.bool("normalized")?.unwrap_or(!special);
            let (kind, text) = match (special, normalized) {
                (true, _) => (u8::from(decoded), text),
                (false, false) => (FOUND, text),
                (false, true) => (FOUND_NORMALIZED, Cow::Owned(normalize::normalized(&text, form).into_owned())),
            };
            listed.push((id, kind, text.into_owned().into_bytes()));
        }
        Ok(Self { listed })
    }

    /// Whether a token of the model is also an added one; `special` if a special one.
    fn has(&self, id: Rank, text: &str, special: bool) -> bool {
        let of_kind = |kind: u8| !(special && matches!(kind, FOUND | FOUND_NORMALIZED));
        self.listed.iter().any(|(known, kind, content)| *known == id && of_kind(*kind) && content == text.as_bytes())
    }
}

/// The tokens of the model.
struct Vocab {
    tokens: Vec<(Vec<u8>, Rank)>,
    words: TokenTable,
}

impl Vocab {
    fn read(model: Object<'_>, added: &mut AddedList) -> Result<Self> {
        let vocab = model.need("vocab")?.object("tokens and their ids, an object")?;
        let mut tokens = Vec::with_capacity(vocab.len());
        for (key, value) in vocab.entries() {
            let (text, id) = (key.text()?, value.whole(u32::MAX)?);
            // Merges may also make a token that is found in every text.
            if added.has(id, &text, true) {
                continue;
            }
            let token = bytes_of(&text).filter(|token| !token.is_empty() && token.len() <= MAX_TOKEN_BYTES);
            let Some(token) = token else {
                if added.has(id, &text, false) {
                    continue;
                }
                let what = format_args!("is a token that is not byte-level or has more than {MAX_TOKEN_BYTES} bytes");
                return Err(refused(value, what));
            };
            if token.len() > 1 && token.contains(&0xff) {
                // No text contains it.
                added.listed.push((id, 1, token));
            } else {
                tokens.push((token, id));
            }
        }
        let refuse = |what: &str| refused(vocab.value(), format_args!("{what}"));
        if tokens.len() >= MAX_TOKENS {
            return Err(refuse("has too many tokens"));
        }
        let longer_bytes = tokens.iter().map(|(token, _)| token.len()).filter(|&len| len > SHORT).sum();
        let mut words = TokenTable::new(tokens.len(), longer_bytes);
        for (token, _) in &tokens {
            let is_new = words.rank_of(token, 0, token.len()) == NONE;
            words.add(token).filter(|()| is_new).ok_or_else(|| refuse("contains a token twice"))?;
        }
        Ok(Self { tokens, words })
    }

    fn find(&self, token: &[u8]) -> Option<u32> {
        Some(token)
            .filter(|token| !token.is_empty() && (token.len() == 1 || !token.contains(&0xff)))
            .map(|token| self.words.rank_of(token, 0, token.len()))
            .filter(|&at| at != NONE)
    }

    fn token(&self, at: u32) -> &[u8] {
        self.tokens.get(at as usize).map_or(&[], |(token, _)| token)
    }

    fn id(&self, at: u32) -> Rank {
        self.tokens.get(at as usize).map_or(NONE, |(_, id)| *id)
    }
}

/// The ranks of the tokens: the single bytes first, the others in the order in which they are made.
struct Ranks {
    /// By token.
    ranks: Vec<Rank>,
    /// By rank.
    order: Vec<u32>,
}

impl Ranks {
    fn of_bytes(vocab: &Vocab, model: Object<'_>) -> Result<Self> {
        let bytes: SortedMap<Rank, u32> =
            (0..=255).filter_map(|byte: u8| vocab.find(&[byte])).map(|token| (vocab.id(token), token)).collect();
        if bytes.len() < BYTES {
            return Err(refused(
                model.need("vocab")?,
                format_args!("lacks some of the 256 bytes, so it is not byte-level"),
            ));
        }
        let mut ranks = Self { ranks: vec![NONE; vocab.tokens.len()], order: Vec::new() };
        bytes.iter().for_each(|(_, &token)| {
            ranks.of(token);
        });
        Ok(ranks)
    }

    /// The rank of a token: the next free one if it has none yet.
    fn of(&mut self, token: u32) -> Rank {
        let next = self.order.len() as Rank;
        match self.ranks.get_mut(token as usize) {
            Some(rank) if *rank == NONE => {
                *rank = next;
                self.order.push(token);
                next
            }
            Some(rank) => *rank,
            None => NONE,
        }
    }

    fn known(&self, token: u32) -> Rank {
        self.ranks.get(token as usize).copied().unwrap_or(NONE)
    }
}

/// The two tokens of a merge: `"a b"`, or `["a", "b"]`.
fn merge_of(merge: Value<'_>, vocab: &Vocab) -> Result<(u32, u32)> {
    let wrong = || refused(merge, format_args!("must be two tokens of `model.vocab`"));
    let find = |token: &str| vocab.find(&bytes_of(token)?);
    if let Some(text) = merge.as_text() {
        let (left, right) = split_once(&text, " ").ok_or_else(wrong)?;
        return find(left).zip(find(right)).ok_or_else(wrong);
    }
    let mut pair = merge.list("two tokens")?;
    match (pair.next(), pair.next(), pair.next()) {
        (Some(left), Some(right), None) => find(&left.text()?).zip(find(&right.text()?)).ok_or_else(wrong),
        _ => Err(wrong()),
    }
}

/// The bytes of a token as byte-level tokenizers write them, one character per byte. `None` if it is not written so.
fn bytes_of(text: &str) -> Option<Vec<u8>> {
    text.chars().map(byte_of).collect()
}

/// Bytes that are visible in Latin-1 map to themselves; the others to the characters from U+0100 on, in order.
fn byte_of(c: char) -> Option<u8> {
    match u32::from(c) {
        code @ (0x21..=0x7e | 0xa1..=0xac | 0xae..=0xff) => Some(code as u8),
        code @ 0x100..=0x120 => Some((code - 0x100) as u8),
        code @ 0x121..=0x142 => Some((code - 0x121 + 0x7f) as u8),
        0x143 => Some(0xad),
        _ => None,
    }
}
