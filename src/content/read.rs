//! Blocks from the JSON of a node's content (docs/loom.md).

use std::borrow::Cow;

use super::block::{Audio, Block, Image};
use super::vendor_block::{Vendor, VendorBlock};
use crate::error::Result;
use crate::json::{Object, Value};
use crate::limits::{self, Limits};

/// How a text is stored: borrowed, by [`identity`](std::convert::identity), or [`own`]ed.
pub(crate) type TextOwnership<'t, 'b> = fn(Cow<'t, str>) -> Cow<'b, str>;

pub(crate) fn own<'b>(text: Cow<'_, str>) -> Cow<'b, str> {
    Cow::Owned(text.into_owned())
}

/// Reads the contents of nodes within the limits.
#[derive(Debug)]
pub(crate) struct ContentReader<'t, 'b> {
    limits: Limits,
    keep: TextOwnership<'t, 'b>,
    /// Bytes of text read so far.
    bytes: usize,
    /// Blocks of this node read so far.
    blocks: usize,
}

#[derive(Clone, Copy)]
enum Kind {
    Text,
    Image,
    Audio,
    Mixed,
    ToolCall,
    ToolResult,
    Reasoning,
    Vendor,
}

const KINDS: &[(&str, Kind)] = &[
    ("text", Kind::Text),
    ("image", Kind::Image),
    ("audio", Kind::Audio),
    ("mixed", Kind::Mixed),
    ("toolCall", Kind::ToolCall),
    ("toolResult", Kind::ToolResult),
    ("reasoning", Kind::Reasoning),
    ("vendor", Kind::Vendor),
];

impl<'t, 'b> ContentReader<'t, 'b> {
    pub(crate) fn new(limits: &Limits, keep: TextOwnership<'t, 'b>) -> Self {
        Self { limits: *limits, keep, bytes: 0, blocks: 0 }
    }

    /// Reads a content: a string or one block.
    pub(crate) fn read(&mut self, content: Value<'t>) -> Result<Vec<Block<'b>>> {
        self.blocks = 0;
        let mut blocks = Vec::with_capacity(1);
        self.content(content, 1, &mut blocks)?;
        Ok(blocks)
    }

    fn content(&mut self, content: Value<'t>, depth: u32, blocks: &mut Vec<Block<'b>>) -> Result<()> {
        self.count_blocks(1)?;
        limits::check("jsonDepth", depth as usize, self.limits.json_depth)?;
        if let Some(text) = content.as_text() {
            blocks.push(Block::Text(self.counted(text)?));
            return Ok(());
        }
        let fields =
            content.object("a string or a block with a `type`; several parts are `{ type: \"mixed\", blocks }`")?;
        let block = match fields.need("type")?.one_of(KINDS)? {
            Kind::Text => Block::Text(self.text(fields, "text")?),
            Kind::Image => Block::Image(Box::new(Image {
                reference: Some(self.text(fields, "ref")?),
                mime_type: self.text(fields, "mimeType")?,
                width: fields.read("width", size)?,
                height: fields.read("height", size)?,
                alt_text: self.text_opt(fields, "altText")?,
                media: None,
            })),
            Kind::Audio => Block::Audio(Box::new(Audio {
                reference: self.text(fields, "ref")?,
                mime_type: self.text(fields, "mimeType")?,
                duration_ms: fields.read("durationMs", size)?,
                transcript_ref: self.text_opt(fields, "transcriptRef")?,
                media: None,
            })),
            Kind::Mixed => {
                let inner = fields.need("blocks")?.list("a list of blocks")?;
                limits::check("contentBlocks", self.blocks.saturating_add(inner.len()), self.limits.content_blocks)?;
                for block in inner {
                    // A list and a block are two levels of JSON.
                    self.content(block, depth.saturating_add(2), blocks)?;
                }
                return Ok(());
            }
            Kind::ToolCall => Block::ToolCall {
                id: self.text(fields, "id")?,
                name: self.text(fields, "name")?,
                arguments: Box::new(Cow::Owned(self.json(fields, "arguments", depth)?)),
                server: false,
            },
            Kind::ToolResult => {
                let mut content = Vec::new();
                self.content(fields.need("content")?, depth.saturating_add(1), &mut content)?;
                let is_error = fields.bool("isError")?;
                Block::ToolResult { tool_call_id: self.text(fields, "toolCallId")?, content, is_error, server: false }
            }
            Kind::Reasoning => Block::Reasoning {
                text: self.text(fields, "text")?,
                signature: self.text_opt(fields, "signature")?,
                redacted: false,
            },
            Kind::Vendor => {
                fields.need("value")?.object("a block as its vendor wrote it, an object")?;
                let vendor = fields.need("vendor")?.one_of(&Vendor::NAMES)?;
                let value = Cow::Owned(self.json(fields, "value", depth)?);
                Block::Vendor(Box::new(VendorBlock { vendor, value }))
            }
        };
        blocks.push(block);
        Ok(())
    }

    fn count_blocks(&mut self, count: usize) -> Result<()> {
        self.blocks = self.blocks.saturating_add(count);
        limits::check("contentBlocks", self.blocks, self.limits.content_blocks)
    }

    /// Any JSON value, including `null`.
    fn json(&self, fields: Object<'_>, field: &'static str, depth: u32) -> Result<serde_json::Value> {
        let value = fields.get_or_null(field)?.ok_or_else(|| fields.value().lacks(field))?.to_json()?;
        let deepest = depth_of(&value).saturating_add(depth as usize);
        limits::check("jsonDepth", deepest, self.limits.json_depth)?;
        Ok(value)
    }

    fn text(&mut self, fields: Object<'t>, field: &str) -> Result<Cow<'b, str>> {
        let text = fields.text(field)?;
        self.counted(text)
    }

    fn text_opt(&mut self, fields: Object<'t>, field: &str) -> Result<Option<Cow<'b, str>>> {
        fields.read(field, Value::text)?.map(|text| self.counted(text)).transpose()
    }

    fn counted(&mut self, text: Cow<'t, str>) -> Result<Cow<'b, str>> {
        self.bytes = self.bytes.saturating_add(text.len());
        limits::check("inputBytes", self.bytes, self.limits.input_bytes)?;
        Ok((self.keep)(text))
    }
}

/// Pixels or milliseconds, rounded up.
fn size(value: Value<'_>) -> Result<u32> {
    let size = value.as_number().filter(|size| (0.0..=f64::from(u32::MAX)).contains(size));
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the range was checked")]
    size.map(|size| size.ceil() as u32).ok_or_else(|| value.mismatch("a number from 0 to 4294967295"))
}

/// The nesting depth of a value, which is limited.
fn depth_of(value: &serde_json::Value) -> usize {
    match value {
        serde_json::Value::Array(values) => 1 + values.iter().map(depth_of).max().unwrap_or(0),
        serde_json::Value::Object(values) => 1 + values.values().map(depth_of).max().unwrap_or(0),
        _ => 0,
    }
}
