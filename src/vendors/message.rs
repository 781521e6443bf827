//! The neutral message from which every provider's body is made.

use serde::Serialize;

use crate::content::{self, Block, Role};

/// One message of a dialogue.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Message<'a> {
    /// The author.
    pub role: Role,
    /// At least one block. Texts are trimmed, and adjacent ones joined; media have their data or URL. In JSON a single
    /// text is a string.
    #[serde(serialize_with = "content::serialize")]
    pub content: Vec<Block<'a>>,
    /// Its nodes, in order; empty for a system message and for a marker.
    pub node_ids: Vec<&'a str>,
    /// The place of each of its nodes in the content, in order and without headers; empty if `node_ids` is.
    pub spans: Vec<MessageSpan<'a>>,
}

/// The place of a node in the content of its message: offsets into the text, or with `part` into the text of that
/// block. Both are 0 for a block that is neither text nor reasoning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MessageSpan<'a> {
    /// The node.
    pub node_id: &'a str,
    /// Index of the block, if the content is more than a text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub part: Option<usize>,
    /// The first UTF-16 code unit.
    pub start: usize,
    /// The one after the last.
    pub end: usize,
}

/// The placeholder for an image or a recording that cannot be sent.
pub(crate) fn placeholder(kind: &str, alt_text: Option<&str>) -> String {
    match alt_text.map(crate::text::trim).filter(|text| !text.is_empty()) {
        Some(text) => format!("[{kind}: {text}]"),
        None => format!("[{kind}]"),
    }
}
