//! The cost of a chat outside its messages.

use super::chat_input::each_system_part;
use super::options::{Budget, FitOptions};
use crate::error::Result;
use crate::json::{Object, Value};
use crate::prompt::{ImageRule, Prices};
use crate::tokens::models;
use crate::vendors::detect::{Formats, WITH_TOOL_RECORDS};
use crate::vendors::format::Format;
use crate::vendors::openai_chat::count::{PER_TOOL, PER_TOOLS, count_of_tools};
use crate::vendors::pieces::message::{PER_REQUEST, Reader};

/// The prices of a chat of this format.
pub(super) fn prices<'b>(format: Format, options: &FitOptions, budget: &'b Budget) -> Prices<'b> {
    let model = options.model.as_deref().unwrap_or_default();
    let family = models::family(model).unwrap_or_default();
    let image = match (format, family) {
        (Format::OpenAi | Format::Responses | Format::Agents, _) => ImageRule::openai(model),
        (Format::Anthropic, _) => ImageRule::anthropic(model),
        (Format::Gemini | Format::Interactions, _) => ImageRule::gemini(model),
        // These formats can belong to any vendor.
        (_, "openai") => ImageRule::openai(model),
        (_, "claude") => ImageRule::anthropic(model),
        (_, "gemini") => ImageRule::gemini(model),
        _ => ImageRule::Unknown,
    };
    Prices { image, ..Prices::new(budget.counter.as_ref()) }
}

/// Tokens of the fields outside the messages: the system context, and the tool definitions.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RequestOverhead {
    pub system: u64,
    pub tools: u64,
}

impl RequestOverhead {
    /// The sum, including the overhead of the request.
    pub(super) fn tokens(self) -> u64 {
        self.system.saturating_add(self.tools).saturating_add(PER_REQUEST)
    }
}

/// System context and tools outside the messages: from the options, else from the container. `formats` are the possible
/// formats of the messages.
///
/// # Errors
/// [`crate::Code::InvalidInput`] for other values.
pub(super) fn overhead_of_request(
    options: Object<'_>,
    tools: Option<Value<'_>>,
    format: Format,
    formats: Formats,
    prices: &Prices<'_>,
) -> Result<RequestOverhead> {
    let system = options.get("system")?.map_or(Ok(0), |system| system_tokens(system, prices))?;
    let tools = options.get("tools")?.or(tools).map_or(Ok(0), |tools| tools_cost(tools, format, formats, prices))?;
    Ok(RequestOverhead { system, tools })
}

/// Tokens of a system context.
///
/// # Errors
/// Those of [`each_system_part`].
pub(super) fn system_tokens(system: Value<'_>, prices: &Prices<'_>) -> Result<u64> {
    let reader = Reader::new(*prices);
    let mut tokens = 0_u64;
    each_system_part(system, &mut |part| tokens = tokens.saturating_add(reader.prices.part(part)))?;
    Ok(tokens)
}

/// Tokens of the tool definitions: their JSON, and the vendor's additions.
fn tools_cost(tools: Value<'_>, format: Format, formats: Formats, prices: &Prices<'_>) -> Result<u64> {
    /// Anthropic's hidden prompt: the largest published for `auto` (Opus 4.7).
    const ANTHROPIC: u64 = 675;
    let count = count_of_tools(tools, formats & WITH_TOOL_RECORDS != 0)? as u64;
    if count == 0 {
        return Ok(0);
    }
    let hidden = if format == Format::Anthropic { ANTHROPIC } else { PER_TOOLS };
    Ok(prices.text(&tools.json()).saturating_add(PER_TOOL.saturating_mul(count)).saturating_add(hidden))
}
