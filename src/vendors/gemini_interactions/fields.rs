//! Types of steps.

use crate::json::{Object, Value};
use crate::vendors::fields::text_in;

/// The fields of steps, and of their parts, that are read, or that can be dropped without loss. All others are
/// reported.
pub(crate) const FIELDS: &str = "type content summary signature id name arguments text mime_type data uri call_id result is_error \
     status";

/// The kind of a step, by its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StepKind {
    UserInput,
    ModelOutput,
    Thought,
    FunctionCall,
    FunctionResult,
    /// A call of a tool that the vendor runs.
    ServerCall,
    /// The result of such a call.
    ServerResult,
    Unknown,
}

impl StepKind {
    pub(crate) fn of(kind: &str) -> Self {
        match kind {
            "user_input" => Self::UserInput,
            "model_output" => Self::ModelOutput,
            "thought" => Self::Thought,
            "function_call" => Self::FunctionCall,
            "function_result" => Self::FunctionResult,
            kind if kind.ends_with("_call") => Self::ServerCall,
            kind if kind.ends_with("_result") => Self::ServerResult,
            _ => Self::Unknown,
        }
    }
}

/// The tools that the vendor runs, as prefixes of the types of their calls and results.
const SERVER_TOOLS: [&str; 8] = [
    "code_execution",
    "file_search",
    "google_maps",
    "google_search",
    "mcp_server_tool",
    "processing",
    "retrieval",
    "url_context",
];

/// The tool in the type of a step, and whether the vendor runs it.
pub(crate) fn tool_of(kind: &str) -> (&str, bool) {
    let tool = kind.strip_suffix("_call").or_else(|| kind.strip_suffix("_result")).unwrap_or(kind);
    (tool, SERVER_TOOLS.contains(&tool))
}

/// Whether only Gemini can read a step: a tool that it runs, or reasoning with more than texts.
pub(crate) fn is_vendor_step(step: Object<'_>) -> bool {
    match StepKind::of(&text_in(step, "type").unwrap_or_default()) {
        StepKind::ServerCall | StepKind::ServerResult => true,
        StepKind::Thought => {
            let parts = step.last("summary").and_then(Value::as_list).into_iter().flatten();
            let is_text = |part: Value<'_>| {
                part.as_object().is_some_and(|part| part.last("type").is_some_and(|kind| kind.is_string("text")))
            };
            !parts.into_iter().all(is_text)
        }
        _ => false,
    }
}
