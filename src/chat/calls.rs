//! The calls of this area: requests read from JSON, results written as JSON (SPEC §7).

use serde::Serialize;

use super::detect::{self, Format};
use super::fit::Fit;
use super::formats;
use super::options::{Options, Phase};
use super::outcome::Fitted;
use super::report::Report;
use crate::call::{Answer, Call, Host};
use crate::error::{Code, Error, Result};
use crate::json::{Kind, Object, Value};
use crate::prompt::{ImageRule, Prices};
use crate::text::is_blank;

/// The calls by their names.
pub const CALLS: &[Call] =
    &[Call::new("fitMessages", &["messages", "options"], |_, request, host| fit_messages(request, host))];

/// What leaves: messages by their index, `[index, changes]` of those that are changed, and whole messages that are new.
#[derive(Debug, Serialize)]
struct Decisions {
    #[serde(skip_serializing_if = "Option::is_none")]
    messages: Option<Vec<serde_json::Value>>,
    same: bool,
    report: Report,
    #[serde(skip_serializing_if = "Option::is_none")]
    summarize: Option<serde_json::Value>,
}

fn fit_messages(request: Value<'_>, host: &Host) -> Result<Answer> {
    let mut found = request.repaired();
    let request = request.object("a chat and options, an object")?;
    let given = request.need("messages")?;
    let options = Options::read(request.need("options")?.object("options, an object")?, host, &mut found)?;
    if let Phase::Finish(Some(summary)) = &options.phase
        && is_blank(summary)
    {
        return Err(Error::new(
            Code::InvalidInput,
            "the summary is empty; give a text, or `{ error }` to go on without one",
        )
        .with("path", "summary"));
    }
    let Chat { list, system, tools, of_contents } = Chat::read(given)?;
    let container = detect::container(of_contents, given.kind() == Kind::List);
    let format = match options.format {
        Some(format) => format,
        None => {
            let found = detect::detect(&list, container)?;
            // `{ system, messages }` is Anthropic's.
            if found == Format::Generic && system.is_some() { Format::Anthropic } else { found }
        }
    };
    let image = match format {
        Format::OpenAi | Format::Responses | Format::Agents => ImageRule::OpenAi,
        Format::Anthropic => ImageRule::Anthropic,
        Format::Gemini => ImageRule::Gemini,
        Format::Generic | Format::AiSdk | Format::AiSdkUi | Format::LangChain => ImageRule::Unknown,
    };
    let prices = Prices { image, ..Prices::new(options.counter.as_ref()) };
    let messages = formats::read(format, &list, prices)?;
    let system = [system, options.system].into_iter().flatten().map(|system| texts(system, &prices)).sum();
    let tools = options.tools.or(tools).map_or(0, |tools| tools_cost(tools, format, &prices));
    let mut fit = Fit { options: &options, format, messages, prices, system, tools, found };
    let Fitted { messages, report, summarize } = {
        let (cut, edits) = fit.run()?;
        fit.fitted(&cut, edits)
    };
    Answer::of(&Decisions { same: messages.is_none(), messages, report, summarize })
}

/// The messages, and what stands beside them in a container.
struct Chat<'t> {
    list: Vec<Value<'t>>,
    system: Option<Value<'t>>,
    tools: Option<Value<'t>>,
    of_contents: bool,
}

impl<'t> Chat<'t> {
    fn read(given: Value<'t>) -> Result<Self> {
        const EXPECTED: &str = "a list of chat messages, `{ system?, messages }` or `{ systemInstruction?, contents }`";
        if given.kind() == Kind::List {
            return Ok(Self { list: given.list(EXPECTED)?.collect(), system: None, tools: None, of_contents: false });
        }
        let container = given.object(EXPECTED)?;
        let [contents, messages, system, instruction, snake, tools] =
            container.fields(["contents", "messages", "system", "systemInstruction", "system_instruction", "tools"])?;
        let of_contents = contents.is_some();
        let list = contents.or(messages).ok_or_else(|| given.mismatch(EXPECTED))?.list(EXPECTED)?.collect();
        Ok(Self { list, system: system.or(instruction).or(snake), tools, of_contents })
    }
}

/// Tokens of a system context: a text, a list of parts with texts, or a content with such parts.
fn texts(system: Value<'_>, prices: &Prices<'_>) -> u64 {
    if let Some(text) = system.as_text() {
        return prices.text(&text);
    }
    let of_object = |object: Object<'_>| -> u64 {
        let [text, parts, content] = object.fields(["text", "parts", "content"]).unwrap_or_default();
        text.or(parts).or(content).map_or(0, |inner| texts(inner, prices))
    };
    match system.kind() {
        Kind::List => system.list("a list").map_or(0, |parts| parts.map(|part| texts(part, prices)).sum()),
        Kind::Object => system.object("a part").map_or(0, of_object),
        _ => 0,
    }
}

/// Tokens of the definitions of tools: their JSON, and what the vendor adds to it.
fn tools_cost(tools: Value<'_>, format: Format, prices: &Prices<'_>) -> u64 {
    /// OpenAI's for each tool, and Anthropic's hidden prompt, the largest that is published for `auto` (Opus 4.7).
    const PER_TOOL: u64 = 10;
    const ANTHROPIC: u64 = 675;
    let count = match tools.kind() {
        Kind::List => tools.list("a list").map_or(0, |tools| tools.len()),
        Kind::Object => tools.object("tools").map_or(0, Object::len),
        _ => return 0,
    } as u64;
    if count == 0 {
        return 0;
    }
    let hidden = if format == Format::Anthropic { ANTHROPIC } else { 12 };
    prices.text(&tools.json()).saturating_add(PER_TOOL.saturating_mul(count)).saturating_add(hidden)
}
