//! Classifies the parts of contents and the functions of calls, in both of OpenAI's interfaces, and the calls and
//! reasoning next to a content.

use crate::vendors::part::{Field, Fields, Part, field};

/// Fields for reasoning that others added to OpenAI's messages: DeepSeek, OpenRouter, and LiteLLM, which includes
/// Anthropic's signatures. Later ones take precedence.
pub(crate) const THOUGHTS: [&str; 4] = ["reasoning_content", "reasoning", "thinking_blocks", "reasoning_details"];

/// A call next to the content of a message.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Call<V> {
    pub id: Option<V>,
    /// The function or the custom tool.
    pub tool: Field<V>,
    /// Whether it is a custom tool, whose input is a text.
    pub is_custom: bool,
}

/// The name and the input of a called function or custom tool.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CalledTool<V> {
    pub name: Option<V>,
    pub input: Field<V>,
}

/// Classifies a call next to the content of a message.
///
/// # Errors
/// As [`Fields::fields`].
pub(crate) fn read_call<F: Fields>(call: F) -> Result<Call<F::Value>, F::Error> {
    let [id, function, custom] = call.fields(["id", "function", "custom"])?;
    let is_custom = function.is_none() && custom.is_some();
    let tool = Field { name: if is_custom { "custom" } else { "function" }, value: function.or(custom) };
    Ok(Call { id, tool, is_custom })
}

/// Reads a called function or custom tool: an object in a call, or an item of Responses.
///
/// # Errors
/// As [`Fields::fields`].
pub(crate) fn read_called_tool<F: Fields>(called: F) -> Result<CalledTool<F::Value>, F::Error> {
    let [name, arguments, input] = called.fields(["name", "arguments", "input"])?;
    let field = if arguments.is_some() || input.is_none() { "arguments" } else { "input" };
    Ok(CalledTool { name, input: Field { name: field, value: arguments.or(input) } })
}

/// Classifies a part of a content by its type.
///
/// # Errors
/// As [`Fields::fields`].
pub(crate) fn read<F: Fields>(part: F, kind: &str) -> Result<Part<F::Value>, F::Error> {
    Ok(match kind {
        "text" | "input_text" | "output_text" => Part::Text(field(part, "text")?),
        "refusal" => Part::Text(field(part, "refusal")?),
        _ => Part::Other,
    })
}

/// Whether parts of this type are OpenAI's, in both of its interfaces.
pub(crate) fn is_shared_type(kind: &str) -> bool {
    matches!(kind, "input_audio" | "refusal")
}
