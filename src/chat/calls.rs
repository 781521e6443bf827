//! The calls of this area: requests read from JSON, results written as JSON (SPEC §7).

use std::cell::RefCell;

use super::chat_input::ChatInput;
use super::convert::{convert_messages, to_loom_tree};
use super::course::Course;
use super::detect::Format;
use super::fit::Fit;
use super::formats;
use super::measure::measured;
use super::message::Message;
use super::messages::{Messages, Sum};
use super::options::{Options, Phase, RequestFields};
use super::pairs::Pairs;
use super::request_overhead::{RequestOverhead, beside_messages, prices, system_tokens};
use super::rules::{Marks, Rules};
use crate::call::{Call, CallContext, Response};
use crate::error::{Code, Error, Result};
use crate::json::{Object, Value};
use crate::text::is_blank;

/// The calls by their names.
pub const CALLS: &[Call] = &[
    Call::new("fitMessages", &["messages", "options", "phase", "summaryText", "target"], |_, request, host| {
        fit_messages(request, host)
    }),
    Call::new("countMessages", &["messages", "options"], |_, request, host| count_messages(request, host)),
    Call::new("measureMessages", &["messages", "options"], |_, request, host| measure_messages(request, host)),
    Call::new("convertMessages", &["messages", "options"], |_, request, _| convert_messages(request)),
    Call::new("chatToLoomTree", &["messages", "options"], |_, request, _| to_loom_tree(request)),
];

fn fit_messages(request: Value<'_>, host: &CallContext) -> Result<Response> {
    let mut found = request.repaired();
    let request = request.object("a chat and options, an object")?;
    let object = request.need("options")?.object("options, an object")?;
    let target = request.read("target", RequestFields::of_target)?.unwrap_or_default();
    let options = Options { phase: Phase::read(request)?, request: target, ..Options::read(object, host, &mut found)? };
    if let Phase::Finish(Some(summary)) = &options.phase
        && is_blank(summary)
    {
        return Err(Error::new(
            Code::InvalidInput,
            "the summary is empty; give a text, or `{ error }` to go on without one",
        )
        .with("path", "summary"));
    }
    let read = Read::new(request.need("messages")?, object, &options)?;
    let prices = prices(read.format, &options);
    let pairs = Pairs::find(&read.messages, |id| id.into());
    let mut sums = Vec::new();
    Sum::extend(&mut sums, &read.messages);
    let mut fit = Fit {
        options: &options,
        format: read.format,
        messages: Messages::new(&read.messages, &sums),
        pairs: &pairs,
        earlier: None,
        prices,
        beside: read.beside,
        layout: &RefCell::default(),
        can_reuse_layout: false,
        rules: read.rules,
        thinking: read.request.thinking,
        course: Course::default(),
        summary_room: 0,
        found,
    };
    let (cut, edits) = fit.run()?;
    let fitted = fit.fitted(&cut, edits);
    Response::of(&fitted.each(&read.messages))
}

/// The cost of a chat as it is: the total that a fit reports if it changes nothing.
fn count_messages(request: Value<'_>, host: &CallContext) -> Result<Response> {
    let read = Read::to_count(request, host)?;
    Response::of(&read.messages.iter().map(Message::now).fold(read.beside.tokens(), u64::saturating_add))
}

/// The same, by message and part.
fn measure_messages(request: Value<'_>, host: &CallContext) -> Result<Response> {
    let read = Read::to_count(request, host)?;
    Response::of(&measured(read.format, &read.messages, read.beside))
}

/// A chat, read in the format that the options name or that its shape says.
struct Read<'t> {
    format: Format,
    messages: Vec<Message<'t>>,
    beside: RequestOverhead,
    rules: Rules,
    request: RequestFields,
}

impl<'t> Read<'t> {
    /// A chat and options for counting it.
    fn to_count(request: Value<'t>, host: &CallContext) -> Result<Self> {
        let request = request.object("a chat and options, an object")?;
        let object = request.need("options")?.object("options, an object")?;
        Self::new(request.need("messages")?, object, &Options::of_count(object, host)?)
    }

    fn new(given: Value<'t>, object: Object<'_>, options: &Options) -> Result<Self> {
        let given = ChatInput::read(given)?;
        let (format, formats) = given.format(options.format)?;
        let prices = prices(format, options);
        let mut beside = beside_messages(object, given.tools, format, formats, &prices)?;
        if let Some(system) = given.system {
            beside.system = beside.system.saturating_add(system_tokens(system, &prices)?);
        }
        let messages = formats::read(format, &given.list, prices)?;
        let mut marks = Marks::default();
        marks.add(&messages);
        let of_chat = RequestFields::of_chat(&given)?;
        let RequestFields { model, thinking } = options.request.clone();
        let request = RequestFields { model: of_chat.model.or(model), thinking: of_chat.thinking.or(thinking) };
        let rules = Rules::new(format, options, &request, marks);
        Ok(Self { format, messages, beside, rules, request })
    }
}
