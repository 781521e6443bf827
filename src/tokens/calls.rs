//! The calls of the area `tokens` (docs/tokens.md). Counting a text is a separate export, because it has to be fast.

use std::rc::Rc;

use crate::call::{Call, CallContext, Response, SmallResult};
use crate::error::Result;
use crate::json::{Object, Value};
use crate::tokens::{Counter, models};
use crate::vendors::openai_chat::count::{ChatOverhead, count_chat, count_tools};

/// The calls by their names.
pub const CALLS: &[Call] = &[
    Call::new("countTokens", &["text", "options"], |_, request, host| count(request, host)),
    Call::new("countTokensUpTo", &["text", "limit", "options"], |_, request, host| count_up_to(request, host)),
    Call::new("countChatTokens", &["messages", "options"], |_, request, host| count_chat_tokens(request, host)),
    Call::new("tokenizerName", &["options"], |_, request, host| tokenizer_name(request, host)),
    Call::new("modelInfo", &["name"], |_, request, _| model_info(request)),
];

fn arguments(request: Value<'_>) -> Result<Object<'_>> {
    request.object("arguments, an object")
}

/// The options of a count, and the counter that they name.
fn options<'t>(
    arguments: Object<'t>,
    known: &[&str],
    host: &CallContext,
) -> Result<(Option<Object<'t>>, Rc<dyn Counter>)> {
    let options = arguments.read("options", |options| options.object("options, an object"))?;
    let Some(options) = options else { return Ok((None, host.counter(None)?)) };
    Ok((Some(options), host.counter(options.only(known)?.get("tokenizer")?)?))
}

fn count(request: Value<'_>, host: &CallContext) -> Result<Response> {
    let arguments = arguments(request)?;
    let (_, counter) = options(arguments, &["tokenizer"], host)?;
    Ok(Response::small(SmallResult::Number(counter.count(&arguments.text("text")?).into())))
}

fn count_up_to(request: Value<'_>, host: &CallContext) -> Result<Response> {
    let arguments = arguments(request)?;
    let (_, counter) = options(arguments, &["tokenizer"], host)?;
    let limit = arguments.need("limit")?.whole(u32::MAX)?;
    let count = counter.count_up_to(&arguments.text("text")?, limit);
    Ok(Response::small(count.map_or(SmallResult::Null, |count| SmallResult::Number(count.into()))))
}

/// The name of the tokenizer in the options of a count, after validation.
fn tokenizer_name(request: Value<'_>, host: &CallContext) -> Result<Response> {
    let (_, counter) = options(arguments(request)?, &["tokenizer"], host)?;
    Ok(Response::small(SmallResult::Text(counter.name().to_owned())))
}

fn count_chat_tokens(request: Value<'_>, host: &CallContext) -> Result<Response> {
    let arguments = arguments(request)?;
    let options = arguments.read("options", |options| options.object("options, an object"))?;
    let options = options.map(|options| options.only(CHAT_OPTIONS)).transpose()?;
    let model = options.map(|options| options.read("model", |model| models::known(model, "tokenizer"))).transpose()?;
    let model = model.flatten();
    if let Some(options) = options {
        options.one_of("format", &[("openai", ()), ("generic", ())])?;
    }
    let counter = match (options.map(|options| options.get("tokenizer")).transpose()?.flatten(), &model) {
        (None, Some((_, model))) => host.tokenizers.get(model.tokenizer)?,
        (tokenizer, _) => host.counter(tokenizer)?,
    };
    let number = |name, default| -> Result<u32> {
        let number = options.map(|options| options.read(name, |value| value.whole(u32::MAX))).transpose()?.flatten();
        Ok(number.unwrap_or(default))
    };
    let defaults = ChatOverhead::default();
    let overhead = ChatOverhead {
        per_message: number("perMessage", defaults.per_message)?,
        per_name: number("perName", defaults.per_name)?,
        per_request: number("perRequest", defaults.per_request)?,
    };
    let tools =
        options.map(|options| options.read("tools", |tools| count_tools(tools, counter.as_ref()))).transpose()?;
    let model = model.as_ref().map_or("", |(name, _)| name);
    let messages = count_chat(arguments.need("messages")?, overhead, model, counter.as_ref())?;
    Ok(Response::small(SmallResult::Number(messages.saturating_add(tools.flatten().unwrap_or(0)))))
}

const CHAT_OPTIONS: &[&str] = &["format", "model", "perMessage", "perName", "perRequest", "tokenizer", "tools"];

fn model_info(request: Value<'_>) -> Result<Response> {
    let Some(model) = models::model(&arguments(request)?.text("name")?) else {
        return Ok(Response::small(SmallResult::Null));
    };
    let number = |number: u32| SmallResult::Number(number.into());
    Ok(Response::small(SmallResult::Object(vec![
        ("family", Some(SmallResult::Text(model.family.to_owned()))),
        ("tokenizer", Some(SmallResult::Text(model.tokenizer.to_owned()))),
        ("contextWindow", Some(number(model.context_window))),
        ("inputLimit", model.input_limit.map(number)),
        ("outputLimit", model.output_limit.map(number)),
        ("preservedThinking", Some(SmallResult::Bool(model.preserved_thinking))),
        ("countsAs", model.counts_as.map(|name| SmallResult::Text(name.to_owned()))),
        ("price", model.price.map(price)),
    ])))
}

fn price(price: models::Price) -> SmallResult {
    SmallResult::Object(vec![
        ("input", Some(SmallResult::Decimal(price.input))),
        ("output", price.output.map(SmallResult::Decimal)),
        ("cacheRead", price.cache_read.map(SmallResult::Decimal)),
        ("cacheWrite", price.cache_write.map(SmallResult::Decimal)),
        ("source", Some(SmallResult::Text(price.source.to_owned()))),
        ("date", Some(SmallResult::Text(price.date.to_owned()))),
    ])
}
