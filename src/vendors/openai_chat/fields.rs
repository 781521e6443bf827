//! Calls of chat messages, and the reasoning that gateways add to them.

use crate::error::Result;
use crate::json::{Object, Value};
use crate::vendors::fields::text_in;
use crate::vendors::pieces::message::Step;
use crate::vendors::signature::ReasoningSignature;

/// Fields for reasoning that others added to OpenAI's messages: DeepSeek, OpenRouter, and LiteLLM, which includes
/// Anthropic's signatures. Later ones take precedence.
pub(crate) const THOUGHTS: [&str; 4] = ["reasoning_content", "reasoning", "thinking_blocks", "reasoning_details"];

/// The function or custom tool of a call, and whether it is a custom tool, whose input is a text.
pub(crate) fn called<'t>(call: Object<'t>) -> Result<Option<(Value<'t>, bool)>> {
    let [function, custom] = call.fields(["function", "custom"])?;
    Ok(function.or(custom).map(|inner| (inner, custom.is_some())))
}

/// Whether a detail of OpenRouter is encrypted reasoning, of any vendor.
pub(crate) fn is_sealed_detail(detail: Object<'_>) -> bool {
    text_in(detail, "type").is_some_and(|kind| kind == "reasoning.encrypted") && text_in(detail, "data").is_some()
}

/// The signature of encrypted reasoning; `None` for an unknown vendor.
pub(crate) fn sealed_detail<'t>(detail: Object<'t>) -> Option<ReasoningSignature<'t>> {
    let data = text_in(detail, "data")?;
    let vendor = text_in(detail, "format").unwrap_or_default();
    match vendor.split('-').next() {
        Some("anthropic") => Some(ReasoningSignature::Redacted(data)),
        Some("google") => Some(ReasoningSignature::Thought(data)),
        Some("openai" | "azure" | "xai") => Some(ReasoningSignature::Sealed(text_in(detail, "id"), data)),
        _ => None,
    }
}

/// Whether no other place has the same reasoning with its signature.
pub(crate) fn is_best_thought(message: Object<'_>, place: &[Step]) -> bool {
    let &[Step::Key(name)] = place else { return true };
    let better = THOUGHTS.into_iter().skip_while(|&other| other != name).skip(1);
    !THOUGHTS.contains(&name) || better.into_iter().all(|other| message.last(other).is_none_or(Value::is_null))
}
