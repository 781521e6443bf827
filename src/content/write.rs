//! Blocks as JSON (docs/loom.md).

use serde::ser::{Serialize, SerializeMap, Serializer};

use super::block::{Block, Media};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// In messages and transcripts: a single text as a string, anything else as a list.
    Message,
    /// In trees: a single text as a string, one block as an object, several as a mixed block.
    Node,
    /// In trees: always a mixed block.
    MixedNode,
    /// The list of a mixed block.
    Mixed,
}

struct WrittenBlocks<'b, 'a>(&'b [Block<'a>], Form);

struct WrittenBlock<'b, 'a>(&'b Block<'a>, Form);

/// Writes the content of a message.
pub(crate) fn serialize<S: Serializer>(blocks: &[Block<'_>], serializer: S) -> Result<S::Ok, S::Error> {
    WrittenBlocks(blocks, Form::Message).serialize(serializer)
}

/// Writes the content of a node.
pub(crate) fn serialize_node<S: Serializer>(blocks: &[Block<'_>], serializer: S) -> Result<S::Ok, S::Error> {
    WrittenBlocks(blocks, Form::Node).serialize(serializer)
}

/// Writes the content of a node as a mixed block.
pub(crate) fn serialize_mixed<S: Serializer>(blocks: &[Block<'_>], serializer: S) -> Result<S::Ok, S::Error> {
    WrittenBlocks(blocks, Form::MixedNode).serialize(serializer)
}

impl Serialize for WrittenBlocks<'_, '_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match *self {
            Self([Block::Text(text)], Form::Message | Form::Node) => serializer.serialize_str(text),
            Self([only], Form::Node) => WrittenBlock(only, Form::Node).serialize(serializer),
            Self(blocks, Form::Node | Form::MixedNode) => {
                let mut map = serializer.serialize_map(None)?;
                map.serialize_entry("type", "mixed")?;
                map.serialize_entry("blocks", &WrittenBlocks(blocks, Form::Mixed))?;
                map.end()
            }
            Self(blocks, form) => {
                let inner = if form == Form::Mixed { Form::Node } else { form };
                serializer.collect_seq(blocks.iter().map(|block| WrittenBlock(block, inner)))
            }
        }
    }
}

impl Serialize for Block<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        WrittenBlock(self, Form::Message).serialize(serializer)
    }
}

impl Serialize for WrittenBlock<'_, '_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = Fields(serializer.serialize_map(None)?);
        match self.0 {
            Block::Text(text) => {
                fields.text("type", "text")?;
                fields.text("text", text)?;
            }
            Block::Image(image) => {
                fields.text("type", "image")?;
                fields.some("ref", image.reference.as_deref())?;
                fields.text("mimeType", &image.mime_type)?;
                fields.some("width", image.width)?;
                fields.some("height", image.height)?;
                fields.some("altText", image.alt_text.as_deref())?;
                fields.media(image.media.as_ref())?;
            }
            Block::Audio(audio) => {
                fields.text("type", "audio")?;
                fields.text("ref", &audio.reference)?;
                fields.text("mimeType", &audio.mime_type)?;
                fields.some("durationMs", audio.duration_ms)?;
                fields.some("transcriptRef", audio.transcript_ref.as_deref())?;
                fields.media(audio.media.as_ref())?;
            }
            Block::ToolCall { id, name, arguments, server } => {
                fields.text("type", "toolCall")?;
                fields.text("id", id)?;
                fields.text("name", name)?;
                fields.0.serialize_entry("arguments", &***arguments)?;
                fields.some("server", server.then_some(true))?;
            }
            Block::ToolResult { tool_call_id, content, is_error, server } => {
                fields.text("type", "toolResult")?;
                fields.text("toolCallId", tool_call_id)?;
                fields.0.serialize_entry("content", &WrittenBlocks(content, self.1))?;
                fields.some("isError", *is_error)?;
                fields.some("server", server.then_some(true))?;
            }
            Block::Reasoning { text, signature, redacted } => {
                fields.text("type", "reasoning")?;
                fields.text("text", text)?;
                fields.some("signature", signature.as_deref())?;
                fields.some("redacted", redacted.then_some(true))?;
            }
            Block::Vendor(block) => {
                fields.text("type", "vendor")?;
                fields.text("vendor", block.vendor.as_str())?;
                fields.0.serialize_entry("value", &*block.value)?;
            }
        }
        fields.0.end()
    }
}

struct Fields<M>(M);

impl<M: SerializeMap> Fields<M> {
    fn text(&mut self, name: &'static str, text: &str) -> Result<(), M::Error> {
        self.0.serialize_entry(name, text)
    }

    fn some(&mut self, name: &'static str, value: Option<impl Serialize>) -> Result<(), M::Error> {
        value.map_or(Ok(()), |value| self.0.serialize_entry(name, &value))
    }

    fn media(&mut self, media: Option<&Media<'_>>) -> Result<(), M::Error> {
        media.map_or(Ok(()), |media| {
            let (name, text) = media.field();
            self.text(name, text)
        })
    }
}
