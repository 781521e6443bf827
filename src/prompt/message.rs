//! The neutral message that every provider's body can be made from.

use serde::Serialize;

use crate::content::{self, Block};

/// Who a message is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The system context, for providers that take it as a message.
    System,
    /// The system context, as newer OpenAI models call it.
    Developer,
    /// The human, tool results, and markers.
    User,
    /// The model.
    Assistant,
}

impl Role {
    pub(crate) fn is_system(self) -> bool {
        matches!(self, Self::System | Self::Developer)
    }
}

/// One message of a dialogue.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Message<'a> {
    /// Who it is from.
    pub role: Role,
    /// The content, at least one block: texts are trimmed and joined, so that no two stand side by side, and media have
    /// their bytes or their address. In JSON it is a text where it is nothing else.
    #[serde(serialize_with = "content::serialize")]
    pub content: Vec<Block<'a>>,
    /// The nodes it holds, in order; empty for a system message and for a marker.
    pub node_ids: Vec<&'a str>,
    /// Where each of its nodes stands in the content, in order and without its header; empty where `node_ids` is.
    pub spans: Vec<MessageSpan<'a>>,
}

/// Where a node stands in the content of its message. Without `part` the offsets are into the text; with it into that
/// block's text, and both are 0 where the block is neither text nor reasoning, but is the node's as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MessageSpan<'a> {
    /// The node.
    pub node_id: &'a str,
    /// Index of the block, where the content is more than a text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub part: Option<usize>,
    /// The first UTF-16 code unit.
    pub start: usize,
    /// The one after the last.
    pub end: usize,
}

/// The text for an image or a recording that cannot be sent.
pub(crate) fn placeholder(kind: &str, alt_text: Option<&str>) -> String {
    match alt_text.map(crate::text::trim).filter(|text| !text.is_empty()) {
        Some(text) => format!("[{kind}: {text}]"),
        None => format!("[{kind}]"),
    }
}
