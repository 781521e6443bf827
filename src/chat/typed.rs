//! Chats from Rust: the messages as [`serde_json::Value`]s, in any format.

use serde_json::Value as Json;

use super::convert::UncountedChat;
use super::fitted::Fitted;
use super::measure::Measurement;
use super::options::{FitOptions, Phase};
use super::outcome::SummaryInput;
use super::request::ChatRequest;
use crate::error::{Diagnostic, Result};
use crate::json::{self, Document, Object, Value};
use crate::prompt::Format;

/// Fits messages to the limit of the options.
///
/// Within the limit the messages are unchanged, except for edits that are always made, broken pairs of calls and
/// results, and invalid signed thinking. Over it, edits run first, then the strategy removes messages. The order is
/// preserved, and at most one message is added: the marker. The report covers every message and every token.
///
/// ```
/// use ctxweave::chat::{Fate, FitOptions, fit};
/// use serde_json::json;
///
/// let turn = |role: &str, text: &str| json!({ "role": role, "content": text });
/// let messages = [
///     turn("system", "Answer briefly."),
///     turn("user", "What is a loom?"),
///     turn("assistant", &"A loom holds threads under tension while others are woven in. ".repeat(9)),
///     turn("user", "And the shuttle?"),
/// ];
/// let fitted = fit(&messages, &FitOptions { max_tokens: Some(60), keep_last: 1, ..FitOptions::default() })?;
/// assert!(fitted.report.tokens.total <= 60);
/// assert_eq!(fitted.report.messages[2].fate, Fate::Cut);
/// # Ok::<(), ctxweave::Error>(())
/// ```
///
/// # Errors
/// - [`crate::Code::InvalidInput`], with `path` and `index`, for a message in an unknown format or in another format
///   than earlier ones; for options without a limit; for a pinned index without a message.
/// - [`crate::Code::InvalidBudget`] for a limit that leaves no tokens.
/// - [`crate::Code::UnknownValue`] for an unknown model without another limit.
/// - [`crate::Code::SystemContextTooLong`] and [`crate::Code::ContextTooLong`], with all costs, if not even the
///   messages that are always kept fit.
pub fn fit(messages: &[Json], options: &FitOptions) -> Result<Fitted> {
    fit_phase(messages, options, Phase::Fit).map(|(fitted, _)| fitted)
}

/// Returns the content to summarize so that the messages fit, or `None` if they fit without a summary. [`finish_fit`]
/// takes the summary.
///
/// # Errors
/// Those of [`fit`].
pub fn plan_fit(messages: &[Json], options: &FitOptions) -> Result<Option<SummaryInput>> {
    fit_phase(messages, options, Phase::Plan).map(|(_, summarize)| summarize)
}

/// Fits messages with a summary in the place of those that are removed. Without one (`None`) they are removed as [`fit`] does, and
/// `summary_failed` is reported.
///
/// ```
/// use ctxweave::chat::{FitOptions, finish_fit, plan_fit};
/// # use serde_json::json;
/// # let turn = |role: &str, text: &str| json!({ "role": role, "content": text });
/// # let messages: Vec<_> = (0..40).map(|at| turn(if at % 2 == 0 { "user" } else { "assistant" }, "A long turn of a chat.")).collect();
/// # fn summarize(_: &str, _: u64) -> String { "They talked for long.".to_owned() }
///
/// let options = FitOptions { max_tokens: Some(200), ..FitOptions::default() };
/// let summary = plan_fit(&messages, &options)?.map(|input| summarize(&input.text, input.max_tokens));
/// let fitted = finish_fit(&messages, &options, summary.as_deref())?;
/// assert!(fitted.report.tokens.total <= 200);
/// # Ok::<(), ctxweave::Error>(())
/// ```
///
/// # Errors
/// Those of [`fit`], and [`crate::Code::InvalidInput`] for an empty summary.
pub fn finish_fit(messages: &[Json], options: &FitOptions, summary: Option<&str>) -> Result<Fitted> {
    fit_phase(messages, options, Phase::Finish(summary.map(str::to_owned))).map(|(fitted, _)| fitted)
}

fn fit_phase(messages: &[Json], options: &FitOptions, phase: Phase) -> Result<(Fitted, Option<SummaryInput>)> {
    let mut diagnostics = Vec::new();
    let budget = options.budget(&mut diagnostics)?;
    phase.check()?;
    let request = RequestJson::new(messages, options)?;
    let document = Document::read(&request.0, &[])?;
    let (list, options_json) = fields(&document)?;
    let mut decisions =
        ChatRequest::read(list, options_json, options, &budget)?.fit(options, &budget, phase, diagnostics)?;
    let summarize = decisions.summarize.take();
    Ok((Fitted::new(messages, decisions), summarize))
}

/// Tokens of the unfitted request: the total that [`fit`] reports if it changes nothing. The tokenizer of
/// `options.model` must be loaded.
///
/// # Errors
/// As [`fit`] for messages and model; [`crate::Code::VocabularyNotLoaded`].
pub fn count(messages: &[Json], options: &FitOptions) -> Result<u64> {
    with_chat(messages, options, |chat| chat.tokens())
}

/// Token costs of the unfitted request, by message and part. The tokenizer of `options.model` must be loaded.
///
/// # Errors
/// Those of [`count`].
pub fn measure(messages: &[Json], options: &FitOptions) -> Result<Measurement> {
    with_chat(messages, options, |chat| chat.measured())
}

fn with_chat<T>(messages: &[Json], options: &FitOptions, result: impl FnOnce(&ChatRequest<'_>) -> T) -> Result<T> {
    let budget = options.budget_to_count()?;
    let request = RequestJson::new(messages, options)?;
    let document = Document::read(&request.0, &[])?;
    let (list, options_json) = fields(&document)?;
    Ok(result(&ChatRequest::read(list, options_json, options, &budget)?))
}

/// A chat in another format.
#[derive(Clone, Debug, PartialEq)]
pub struct Converted {
    /// The messages; those of the input if the format is the same.
    pub messages: Vec<Json>,
    /// The system context, if the format has it outside the messages.
    pub system: Option<String>,
    /// Content that the format cannot carry.
    pub diagnostics: Vec<Diagnostic>,
}

/// Converts messages to another format. `from` is detected by their shape if unset. What the other format cannot carry is reported.
///
/// ```
/// use ctxweave::chat::{Format, convert};
/// use serde_json::json;
///
/// let messages = [json!({ "role": "user", "parts": [{ "text": "What is a loom?" }] })];
/// let converted = convert(&messages, None, Format::OpenAi)?;
/// assert_eq!(converted.messages, [json!({ "role": "user", "content": "What is a loom?" })]);
/// # Ok::<(), ctxweave::Error>(())
/// ```
///
/// # Errors
/// [`crate::Code::InvalidInput`], with `path` and `index`, for a message in no format or in another than those before.
pub fn convert(messages: &[Json], from: Option<Format>, to: Format) -> Result<Converted> {
    let request = json::write(&json::object([("messages", messages.into())]))?;
    let document = Document::read(&request, &[])?;
    let list = document.root().object("a chat, an object")?.need("messages")?;
    let converted = UncountedChat::read(list, from, Vec::new())?.convert(to, "")?;
    let messages = match converted.messages {
        None => messages.to_vec(),
        Some(json) => {
            let written = Document::read(&json, &[])?;
            written.root().list("a list of messages")?.read(Value::to_json)?
        }
    };
    Ok(Converted { messages, system: converted.system, diagnostics: converted.diagnostics })
}

/// JSON of `{ messages, options: { system, tools } }`: the counted part of a request, as JSON.
#[derive(Debug)]
pub(super) struct RequestJson(pub Vec<u8>);

impl RequestJson {
    pub(super) fn new(messages: &[Json], options: &FitOptions) -> Result<Self> {
        #[derive(serde::Serialize)]
        struct Request<'r> {
            messages: &'r [Json],
            options: CountedOptions<'r>,
        }
        #[derive(serde::Serialize)]
        struct CountedOptions<'r> {
            system: &'r Option<Json>,
            tools: &'r Option<Json>,
        }
        let options = CountedOptions { system: &options.system, tools: &options.tools };
        json::write(&Request { messages, options }).map(Self)
    }
}

/// The messages and the options of a request.
pub(super) fn fields<'t>(document: &'t Document<'t>) -> Result<(Value<'t>, Object<'t>)> {
    let request = document.root().object("a chat and options, an object")?;
    Ok((request.need("messages")?, request.need("options")?.object("options, an object")?))
}
