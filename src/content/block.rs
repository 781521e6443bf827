//! The blocks of a content.

use std::borrow::Cow;

use serde_json::Value;

use super::vendor_block::{Vendor, VendorBlock};
use crate::json;
use crate::text::split_once;

/// One block of a content.
#[derive(Clone, Debug, PartialEq)]
pub enum Block<'a> {
    /// Text.
    Text(Cow<'a, str>),
    /// An image.
    Image(Box<Image<'a>>),
    /// An audio recording.
    Audio(Box<Audio<'a>>),
    /// A call by the model.
    ToolCall {
        /// The id that the result refers to.
        id: Cow<'a, str>,
        /// The tool's name.
        name: Cow<'a, str>,
        /// Any JSON value. A string is the JSON text of the arguments; in a transcript, the input of a free-form tool.
        arguments: Box<Cow<'a, Value>>,
        /// Whether the vendor ran the tool. Set in transcripts only.
        server: bool,
    },
    /// The result of a tool.
    ToolResult {
        /// The call it answers.
        tool_call_id: Cow<'a, str>,
        /// Text and media.
        content: Vec<Block<'a>>,
        /// Whether the tool failed, if recorded.
        is_error: Option<bool>,
        /// Whether the vendor ran the tool. Set in transcripts only.
        server: bool,
    },
    /// Reasoning of the model.
    Reasoning {
        /// The text; empty if it is encrypted.
        text: Cow<'a, str>,
        /// The provider's signature of the reasoning, or the encrypted reasoning itself. It is sent back unchanged.
        signature: Option<Cow<'a, str>>,
        /// Whether the reasoning is encrypted, so that `signature` holds it. Set in transcripts only.
        redacted: bool,
    },
    /// A block that only its vendor can read, such as a compaction.
    Vendor(Box<VendorBlock<'a>>),
}

/// An image.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Image<'a> {
    /// The key into the request's media; `None` in a transcript.
    pub reference: Option<Cow<'a, str>>,
    /// Such as `image/png`.
    pub mime_type: Cow<'a, str>,
    /// Pixels.
    pub width: Option<u32>,
    /// Pixels.
    pub height: Option<u32>,
    /// A description of the image.
    pub alt_text: Option<Cow<'a, str>>,
    /// The image data; `None` in a tree, which has the `ref` alone.
    pub media: Option<Media<'a>>,
}

/// An audio recording.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Audio<'a> {
    /// The key into the request's media.
    pub reference: Cow<'a, str>,
    /// Such as `audio/wav`.
    pub mime_type: Cow<'a, str>,
    /// Milliseconds.
    pub duration_ms: Option<u32>,
    /// The place of its transcript.
    pub transcript_ref: Option<Cow<'a, str>>,
    /// The audio data; `None` in a tree, which has the `ref` alone.
    pub media: Option<Media<'a>>,
}

/// The data of an image or a recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Media<'a> {
    /// The bytes, as base64.
    Data(Cow<'a, str>),
    /// The address from which the provider fetches the bytes.
    Url(Cow<'a, str>),
}

impl Media<'_> {
    /// The JSON field, `data` or `url`, and its value.
    pub(crate) fn field(&self) -> (&'static str, &str) {
        match self {
            Self::Data(data) => ("data", data),
            Self::Url(url) => ("url", url),
        }
    }

    pub(crate) fn borrowed(&self) -> Media<'_> {
        match self {
            Self::Data(data) => Media::Data(Cow::Borrowed(data)),
            Self::Url(url) => Media::Url(Cow::Borrowed(url)),
        }
    }
}

/// The arguments of a call as text: compact JSON, or the string itself.
pub(crate) fn arguments_text(arguments: &Value) -> Cow<'_, str> {
    match arguments {
        Value::String(text) => Cow::Borrowed(text),
        other => Cow::Owned(json::text(other)),
    }
}

/// The media type and the base64 of a `data:` URL.
pub(crate) fn data_url(url: &str) -> Option<(&str, &str)> {
    split_once(url.strip_prefix("data:")?, ";base64,")
}

impl<'a> Block<'a> {
    /// A text.
    pub fn text(text: impl Into<Cow<'a, str>>) -> Self {
        Self::Text(text.into())
    }

    /// A block that only this vendor can read.
    pub(crate) fn vendor(vendor: Vendor, value: impl Into<Value>) -> Self {
        Self::Vendor(Box::new(VendorBlock { vendor, value: Cow::Owned(value.into()) }))
    }

    /// The text of a text block.
    pub fn as_text(&self) -> Option<&str> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }

    /// Visits the texts that count: of a call its name and its arguments as compact JSON, of a result those of its
    /// blocks. `vendors` decides about the texts of a vendor's block.
    pub(crate) fn counted_texts(&self, count: &mut dyn FnMut(&str)) {
        match self {
            Self::Text(text) | Self::Reasoning { text, .. } => count(text),
            Self::ToolCall { name, arguments, .. } => {
                count(name);
                count(&arguments_text(arguments));
            }
            Self::ToolResult { content, .. } => content.iter().for_each(|block| block.counted_texts(count)),
            Self::Image(_) | Self::Audio(_) | Self::Vendor(_) => {}
        }
    }

    /// A copy that borrows from this block.
    pub fn borrowed(&self) -> Block<'_> {
        match self {
            Self::Text(text) => Block::Text(Cow::Borrowed(text)),
            Self::Image(image) => Block::Image(Box::new(Image {
                reference: image.reference.as_deref().map(Cow::Borrowed),
                mime_type: Cow::Borrowed(&image.mime_type),
                alt_text: image.alt_text.as_deref().map(Cow::Borrowed),
                media: image.media.as_ref().map(Media::borrowed),
                ..**image
            })),
            Self::Audio(audio) => Block::Audio(Box::new(Audio {
                reference: Cow::Borrowed(&audio.reference),
                mime_type: Cow::Borrowed(&audio.mime_type),
                transcript_ref: audio.transcript_ref.as_deref().map(Cow::Borrowed),
                media: audio.media.as_ref().map(Media::borrowed),
                ..**audio
            })),
            Self::ToolCall { id, name, arguments, server } => Block::ToolCall {
                id: Cow::Borrowed(id),
                name: Cow::Borrowed(name),
                arguments: Box::new(Cow::Borrowed(arguments)),
                server: *server,
            },
            Self::ToolResult { tool_call_id, content, is_error, server } => Block::ToolResult {
                tool_call_id: Cow::Borrowed(tool_call_id),
                content: content.iter().map(Block::borrowed).collect(),
                is_error: *is_error,
                server: *server,
            },
            Self::Reasoning { text, signature, redacted } => Block::Reasoning {
                text: Cow::Borrowed(text),
                signature: signature.as_deref().map(Cow::Borrowed),
                redacted: *redacted,
            },
            Self::Vendor(block) => Block::Vendor(Box::new(block.borrowed())),
        }
    }

    /// The block with owned texts.
    pub(crate) fn into_owned(self) -> Block<'static> {
        let own = |text: Cow<'_, str>| Cow::Owned(text.into_owned());
        let own_media = |media: Media<'_>| match media {
            Media::Data(data) => Media::Data(own(data)),
            Media::Url(url) => Media::Url(own(url)),
        };
        match self {
            Self::Text(text) => Block::Text(own(text)),
            Self::Image(image) => Block::Image(Box::new(Image {
                reference: image.reference.map(own),
                mime_type: own(image.mime_type),
                width: image.width,
                height: image.height,
                alt_text: image.alt_text.map(own),
                media: image.media.map(own_media),
            })),
            Self::Audio(audio) => Block::Audio(Box::new(Audio {
                reference: own(audio.reference),
                mime_type: own(audio.mime_type),
                duration_ms: audio.duration_ms,
                transcript_ref: audio.transcript_ref.map(own),
                media: audio.media.map(own_media),
            })),
            Self::ToolCall { id, name, arguments, server } => Block::ToolCall {
                id: own(id),
                name: own(name),
                arguments: Box::new(Cow::Owned(arguments.into_owned())),
                server,
            },
            Self::ToolResult { tool_call_id, content, is_error, server } => Block::ToolResult {
                tool_call_id: own(tool_call_id),
                content: content.into_iter().map(Block::into_owned).collect(),
                is_error,
                server,
            },
            Self::Reasoning { text, signature, redacted } => {
                Block::Reasoning { text: own(text), signature: signature.map(own), redacted }
            }
            Self::Vendor(block) => Block::Vendor(Box::new(block.into_owned())),
        }
    }
}
