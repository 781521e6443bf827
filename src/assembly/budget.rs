//! The limit, and the errors for exceeding it.

use crate::error::{Code, Error, Result};
use crate::json::object;

/// The limit: `contextWindow − tokenBuffer`.
pub(crate) fn limit(window: u64, token_buffer: u64) -> Result<u64> {
    window.checked_sub(token_buffer).filter(|&limit| limit > 0).ok_or_else(|| {
        let message = format!("`contextWindow` of {window} leaves nothing after `tokenBuffer` of {token_buffer}; use a larger window or a smaller buffer");
        Error::new(Code::InvalidBudget, message).with("setting", "contextWindow").with("value", window.to_string()).with("tokenBuffer", token_buffer)
    })
}

/// Fails if the system context with its overhead exceeds the limit.
pub(crate) fn check_system(system: &str, required: u64, limit: u64) -> Result<()> {
    if system.is_empty() { Ok(()) } else { check_lead("the system context costs", required, limit) }
}

/// Fails if what precedes all messages exceeds the limit. `part` names it, with its verb.
pub(crate) fn check_lead(part: &str, required: u64, limit: u64) -> Result<()> {
    if required <= limit {
        return Ok(());
    }
    let message = format!(
        "{part} {required} tokens with overhead, over the limit of {limit}; shorten or remove some, or use a larger context window"
    );
    Err(over(Code::SystemContextTooLong, message, limit, required))
}

pub(crate) fn too_long<'a>(
    limit: u64,
    required: u64,
    costs: impl Iterator<Item = (&'a str, u64)>,
    advice: &str,
) -> Error {
    let message = format!("the context costs {required} tokens, over the limit of {limit}; {advice}");
    let nodes = costs.map(|(id, tokens)| object([("nodeId", id.into()), ("tokens", tokens.into())]));
    over(Code::ContextTooLong, message, limit, required).with("nodes", nodes.collect::<Vec<_>>())
}

pub(crate) fn over(code: Code, message: String, limit: u64, required: u64) -> Error {
    let over_by = required.saturating_sub(limit);
    Error::new(code, message).with("limit", limit).with("required", required).with("overBy", over_by)
}
