//! The reasoning that gateways add to chat messages.

use crate::json::{Object, Value};
use crate::vendors::fields::text_in;
use crate::vendors::openai_chat::part::THOUGHTS;
use crate::vendors::pieces::message::Step;
use crate::vendors::signature::ReasoningSignature;

/// The fields of messages and parts that are read, or that can be dropped without loss. All others are reported.
pub(crate) const FIELDS: &str = "index type role content id name text refusal audio input_audio image_url url file file_data filename \
     format data tool_calls tool_call_id function_call function custom arguments input reasoning_content \
     reasoning thinking_blocks reasoning_details signature thought_signature";

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
