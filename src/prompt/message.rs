//! The neutral message that every provider's body can be made from.

use std::borrow::Cow;

use serde::{Serialize, Serializer};
use serde_json::Value;

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
    /// Whether it is one of the roles of the system context.
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
    /// The content.
    pub content: Content<'a>,
    /// The nodes it holds, in order; empty for a system message and for a marker.
    pub node_ids: Vec<&'a str>,
    /// Where each of its nodes stands in the content, in order and without its header; empty where `node_ids` is.
    pub spans: Vec<MessageSpan<'a>>,
}

/// Where a node stands in the content of its message. Without `part` the offsets are into the text; with it into that
/// part's text, and both are 0 where the part is neither text nor reasoning, but is the node's as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MessageSpan<'a> {
    /// The node.
    pub node_id: &'a str,
    /// Index of the part, where the content is a list of parts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub part: Option<usize>,
    /// The first UTF-16 code unit.
    pub start: usize,
    /// The one after the last.
    pub end: usize,
}

/// The content of a message or of a tool result: text whenever it is text only.
#[derive(Clone, Debug, PartialEq)]
pub enum Content<'a> {
    /// Text only.
    Text(Cow<'a, str>),
    /// At least one part is not text.
    Parts(Vec<Part<'a>>),
}

impl Serialize for Content<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text(text) => serializer.serialize_str(text),
            Self::Parts(parts) => parts.serialize(serializer),
        }
    }
}

/// One part of a message, as it is rendered: it borrows from the tree and the request, its texts are trimmed and joined,
/// and its media are resolved. A tree stores `loom::Block` instead, which owns its texts and has only the `ref` of media.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum Part<'a> {
    /// Text.
    Text {
        /// The text.
        text: Cow<'a, str>,
    },
    /// An image.
    Image(ImagePart<'a>),
    /// A recording.
    Audio(AudioPart<'a>),
    /// A call that the model made.
    ToolCall(ToolCallPart<'a>),
    /// What a tool answered.
    ToolResult(ToolResultPart<'a>),
    /// Reasoning of the model.
    Reasoning {
        /// Its text.
        text: &'a str,
        /// The provider's signature, handed back unchanged.
        #[serde(skip_serializing_if = "Option::is_none")]
        signature: Option<&'a str>,
    },
}

/// An image with the bytes or the address that its `ref` stands for.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ImagePart<'a> {
    /// Key into the request's media.
    #[serde(rename = "ref")]
    pub reference: &'a str,
    /// Such as `image/png`.
    pub mime_type: &'a str,
    /// Pixels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub width: Option<u32>,
    /// Pixels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub height: Option<u32>,
    /// What the image shows, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alt_text: Option<&'a str>,
    /// The bytes as base64, or else `url`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<&'a str>,
    /// Where the provider finds the bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<&'a str>,
}

/// A recording with the bytes or the address that its `ref` stands for.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AudioPart<'a> {
    /// Key into the request's media.
    #[serde(rename = "ref")]
    pub reference: &'a str,
    /// Such as `audio/wav`.
    pub mime_type: &'a str,
    /// Milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u32>,
    /// Where the words of it are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transcript_ref: Option<&'a str>,
    /// The bytes as base64, or else `url`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<&'a str>,
    /// Where the provider finds the bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<&'a str>,
}

/// A call that the model made.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ToolCallPart<'a> {
    /// Pairs the call with its result.
    pub id: &'a str,
    /// The tool.
    pub name: &'a str,
    /// Any JSON value; a string is the JSON text of the arguments.
    pub arguments: &'a Value,
}

/// What a tool answered.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolResultPart<'a> {
    /// The call it answers.
    pub tool_call_id: &'a str,
    /// Text, or text and media.
    pub content: Content<'a>,
    /// Whether the tool failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_error: Option<bool>,
}

/// The text in the place of an image or a recording that cannot be sent, with what it shows in words.
pub(crate) fn placeholder(kind: &str, alt_text: Option<&str>) -> String {
    match alt_text.map(str::trim).filter(|text| !text.is_empty()) {
        Some(text) => format!("[{kind}: {text}]"),
        None => format!("[{kind}]"),
    }
}
