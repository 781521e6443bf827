//! Types of items, and their encrypted reasoning.

use crate::json::Object;
use crate::vendors::fields::{has_any, text_in};
use crate::vendors::signature::ReasoningSignature;
use crate::vendors::vendor_block::is_compaction_type;

/// The fields of items, and of their parts, that are read, or that can be dropped without loss, in Responses and the
/// Agents SDK. All others are reported.
pub(crate) const FIELDS: &str = "index type id role status content summary rawContent encrypted_content call_id callId name arguments \
     input output text refusal phase image image_url url file file_data filename input_audio audio data \
     format result";

/// The fields that Codex adds to items of its session files.
pub(crate) const FIELDS_OF_CODEX: &str = "timestamp metadata internal_chat_message_metadata_passthrough end_turn";

/// The kind of an item, by its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ItemKind {
    Message,
    Reasoning,
    FunctionCall,
    /// A call of a custom tool, whose input is a text.
    CustomCall,
    /// The output of a function or a custom tool: a text or parts.
    Output,
    /// A call of one of the vendor's tools. Only those that the client or a program answers have a `call_id`.
    VendorCall,
    /// The output of such a call, in a form of its own.
    VendorOutput,
    ApprovalRequest,
    Compaction,
    Reference,
    Untyped,
    Unknown,
}

impl ItemKind {
    pub(crate) fn of(kind: &str) -> Self {
        match kind {
            "" => Self::Untyped,
            "message" => Self::Message,
            "reasoning" => Self::Reasoning,
            "function_call" => Self::FunctionCall,
            "custom_tool_call" => Self::CustomCall,
            "program" => Self::VendorCall,
            "mcp_approval_request" => Self::ApprovalRequest,
            "mcp_approval_response" => Self::VendorOutput,
            "item_reference" => Self::Reference,
            kind if is_compaction_type(kind) => Self::Compaction,
            kind if kind.ends_with("_call") => Self::VendorCall,
            kind if kind.ends_with("_output") || kind.ends_with("_result") => {
                let is_output = kind.starts_with("function_call") || kind.starts_with("custom_tool_call");
                if is_output { Self::Output } else { Self::VendorOutput }
            }
            _ => Self::Unknown,
        }
    }

    /// The kind of an item.
    pub(crate) fn of_item(item: Object<'_>) -> Self {
        Self::of(&text_in(item, "type").unwrap_or_default())
    }
}

/// The encrypted reasoning of an item, with its id.
pub(crate) fn sealed<'t>(item: Object<'t>) -> Option<ReasoningSignature<'t>> {
    Some(ReasoningSignature::Sealed(text_in(item, "id"), text_in(item, "encrypted_content")?))
}

/// Whether parts of this type are those of items.
pub(crate) fn is_part_type(kind: &str) -> bool {
    matches!(kind, "input_text" | "input_image" | "input_file" | "output_text")
}

/// Whether an item of this type, other than a call or an output, is OpenAI's.
pub(crate) fn is_item_type(kind: &str) -> bool {
    matches!(ItemKind::of(kind), ItemKind::Compaction | ItemKind::Reference | ItemKind::ApprovalRequest)
        || matches!(
            kind,
            "compaction_trigger" | "program" | "configuration_update" | "mcp_list_tools" | "mcp_approval_response"
        )
}

/// Whether a search of files has the fields of an item.
pub(crate) fn is_search(item: Object<'_>) -> bool {
    has_any(item, &["queries", "results", "status"])
}
