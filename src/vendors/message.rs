//! The neutral message that every provider's body can be made from.

use serde::Serialize;

use crate::content::{self, Block, Role};

/// One message of a dialogue.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Message<'a> {
    /// Who it is from.
    pub role: Role,
    /// At least one block. Texts are trimmed, and joined where they would be neighbours; media have their bytes or URL. In JSON
    /// one text alone is a string.
    #[serde(serialize_with = "content::serialize")]
    pub content: Vec<Block<'a>>,
    /// The nodes it holds, in order; empty for a system message and for a marker.
    pub node_ids: Vec<&'a str>,
    /// Where each of its nodes stands in the content, in order and without its header; empty where `node_ids` is.
    pub spans: Vec<MessageSpan<'a>>,
}

/// Where a node is in the content of its message: offsets into the text, or with `part` into the text of that block. Both are
/// 0 for a block that is neither text nor reasoning.
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
