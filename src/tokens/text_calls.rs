//! The calls that encode and decode texts (docs/tokens.md).

use std::rc::Rc;

use crate::call::{CallContext, Response, SmallResult};
use crate::error::Result;
use crate::json::{Object, Value, unknown_value};
use crate::tokens::Counter;
use crate::tokens::bpe::Rank;
use crate::tokens::calibrate;
use crate::tokens::codec::{self, Codec, Specials};

/// The arguments, and the options among them.
pub(super) fn arguments<'t>(request: Value<'t>, known: &[&str]) -> Result<(Object<'t>, Option<Object<'t>>)> {
    let arguments = request.object("arguments, an object")?;
    let options = arguments.read("options", |options| options.object("options, an object")?.only(known))?;
    Ok((arguments, options))
}

pub(super) fn counter(options: Option<Object<'_>>, host: &CallContext) -> Result<Rc<dyn Counter>> {
    host.counter(options.map(|options| options.get("tokenizer")).transpose()?.flatten())
}

/// Calls a function with the exact tokenizer in the options.
fn with_codec<T>(
    options: Option<Object<'_>>,
    host: &CallContext,
    run: impl FnOnce(&dyn Codec) -> Result<T>,
) -> Result<T> {
    let counter = counter(options, host)?;
    let is_own = options.is_some_and(|options| options.last("tokenizer").is_some_and(|given| !given.is_text()));
    match counter.codec().filter(|_| !is_own) {
        Some(codec) => run(codec),
        None => {
            let name = if is_own && counter.name() != "heuristic" { "a custom counter" } else { counter.name() };
            let exact = host.tokenizers.exact_names();
            let exact: Vec<&str> = exact.iter().map(String::as_str).collect();
            let found = unknown_value("`options.tokenizer`", name, &exact);
            Err(found.with("path", "options.tokenizer"))
        }
    }
}

/// The special tokens that the options allow; defaults to none.
fn specials(options: Option<Object<'_>>, codec: &dyn Codec) -> Result<Specials> {
    let Some(allowed) = options.map(|options| options.get("allowedSpecial")).transpose()?.flatten() else {
        return Ok(Specials::default());
    };
    if allowed.is_string("all") {
        return Ok(Specials::allowed(codec, &|_| true));
    }
    let all = codec.specials();
    let mut names = Vec::new();
    for name in allowed.list("\"all\" or a list of special tokens")? {
        let text = name.text()?;
        // Naming a token that is found in every text is a no-op.
        let is_known =
            all.iter().any(|(known, _)| *known == text) || codec.text_tokens().iter().any(|token| token.text == text);
        if !is_known {
            // A tokenizer may have a thousand of them.
            let known: Vec<&str> = all.iter().map(|(known, _)| *known).take(MAX_LISTED_SPECIALS).collect();
            return Err(unknown_value(&format!("`{}`", name.path()), &text, &known).with("path", name.path()));
        }
        names.push(text);
    }
    Ok(Specials::allowed(codec, &|text| names.iter().any(|name| name == text)))
}

/// Maximum number of special tokens that an error lists.
const MAX_LISTED_SPECIALS: usize = 20;

/// A response of numbers.
pub(super) fn numbers(lists: &[&[u32]]) -> Response {
    let mut bytes = Vec::with_capacity(lists.iter().map(|list| list.len() * 4).sum());
    for list in lists {
        let from = bytes.len();
        bytes.resize(from + list.len() * 4, 0);
        let (places, _) = bytes.get_mut(from..).unwrap_or_default().as_chunks_mut();
        for (place, number) in places.iter_mut().zip(*list) {
            *place = number.to_le_bytes();
        }
    }
    Response { json: Vec::new(), bytes: vec![bytes], small: None }
}

const ENCODING: &[&str] = &["allowedSpecial", "tokenizer"];

pub(super) fn encode_tokens(request: Value<'_>, host: &CallContext) -> Result<Response> {
    let (arguments, options) = arguments(request, ENCODING)?;
    let text = arguments.text("text")?;
    with_codec(options, host, |codec| {
        let tokens = codec::encode(codec, &text, &specials(options, codec)?);
        Ok(numbers(&[&tokens]))
    })
}

pub(super) fn decode_token_bytes(request: Value<'_>, host: &CallContext) -> Result<Response> {
    let (arguments, options) = arguments(request, &["tokenizer"])?;
    let ids = arguments.need("ids")?;
    let tokens: Vec<Rank> = match ids.bytes() {
        Some(bytes) => bytes.as_chunks().0.iter().map(|number| Rank::from_le_bytes(*number)).collect(),
        None => ids.list("a list of tokens")?.read(|id| id.whole(u32::MAX))?,
    };
    with_codec(options, host, |codec| {
        Ok(Response { json: Vec::new(), bytes: vec![codec::decode(codec, &tokens)?], small: None })
    })
}

/// The number of tokens; then the tokens, their ends and the indices of those that end inside a character.
pub(super) fn token_spans(request: Value<'_>, host: &CallContext) -> Result<Response> {
    let (arguments, options) = arguments(request, ENCODING)?;
    let text = arguments.text("text")?;
    with_codec(options, host, |codec| {
        let spans = codec::spans(codec, &text, &specials(options, codec)?);
        Ok(numbers(&[&[number(spans.ids.len())], &spans.ids, &spans.ends, &spans.splits]))
    })
}

pub(super) fn calibrated(request: Value<'_>) -> Result<Response> {
    let samples = calibrate::samples(request.object("arguments, an object")?.need("samples")?)?;
    let fitted = calibrate::fit(&samples);
    Ok(Response::small(SmallResult::Object(vec![
        ("tokenizer", Some(SmallResult::Text(fitted.tokenizer))),
        ("error", Some(SmallResult::Number(fitted.error.into()))),
        ("samples", Some(SmallResult::Number(fitted.samples as u64))),
    ])))
}

pub(super) fn number(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// The asset of a `tokenizer.json`, whose bytes are passed outside the request. Paths in errors refer to the file.
pub(super) fn vocabulary_of(request: Value<'_>) -> Result<Response> {
    let (arguments, _) = arguments(request, &[])?;
    let file = arguments.need("tokenizerJson")?;
    let json = file.bytes().ok_or_else(|| file.mismatch("the bytes of a `tokenizer.json`"))?;
    Ok(Response { json: Vec::new(), bytes: vec![crate::tokens::bpe::vocabulary_of(&json)?], small: None })
}
