//! From the JSON of a node's content to its blocks (SPEC §1 "Model").

use serde_json::{Map, Value};

use crate::error::{Code, Error, Result};
use crate::limits::{self, Limits};
use crate::loom::tree::Block;

/// What may still be read of a request's text.
#[derive(Debug)]
pub(crate) struct Budget {
    limits: Limits,
    bytes: usize,
}

impl Budget {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self { limits: *limits, bytes: 0 }
    }

    fn take(&mut self, text: &str) -> Result<()> {
        self.bytes = self.bytes.saturating_add(text.len());
        limits::check("inputBytes", self.bytes, self.limits.input_bytes)
    }
}

/// Reads the content of a node: a string, or one block.
pub(crate) fn read(content: Value, node: &str, budget: &mut Budget) -> Result<Vec<Block>> {
    let mut reader = Reader { node, budget, count: 0 };
    let mut blocks = Vec::new();
    reader.content(content, "content", 1, &mut blocks)?;
    Ok(blocks)
}

struct Reader<'r> {
    node: &'r str,
    budget: &'r mut Budget,
    count: usize,
}

impl Reader<'_> {
    fn content(&mut self, content: Value, at: &str, depth: u32, blocks: &mut Vec<Block>) -> Result<()> {
        self.count += 1;
        limits::check("contentBlocks", self.count, self.budget.limits.content_blocks)?;
        limits::check("jsonDepth", depth as usize, self.budget.limits.json_depth)?;
        match content {
            Value::String(text) => {
                self.budget.take(&text)?;
                blocks.push(Block::Text(text));
                Ok(())
            }
            Value::Object(mut fields) => {
                let kind = self.text(&mut fields, "type", at)?;
                self.block(&kind, fields, at, depth, blocks)
            }
            _ => Err(self.wrong(at, "a string or a block with a `type`")),
        }
    }

    fn block(
        &mut self,
        kind: &str,
        mut fields: Map<String, Value>,
        at: &str,
        depth: u32,
        blocks: &mut Vec<Block>,
    ) -> Result<()> {
        let block = match kind {
            "text" => Block::Text(self.text(&mut fields, "text", at)?),
            "image" => Block::Image {
                reference: self.text(&mut fields, "ref", at)?,
                mime_type: self.text(&mut fields, "mimeType", at)?,
                width: self.size(&mut fields, "width", at)?,
                height: self.size(&mut fields, "height", at)?,
                alt_text: self.text_opt(&mut fields, "altText", at)?,
            },
            "audio" => Block::Audio {
                reference: self.text(&mut fields, "ref", at)?,
                mime_type: self.text(&mut fields, "mimeType", at)?,
                duration_ms: self.size(&mut fields, "durationMs", at)?,
                transcript_ref: self.text_opt(&mut fields, "transcriptRef", at)?,
            },
            "mixed" => return self.mixed(&mut fields, at, depth, blocks),
            "toolCall" => Block::ToolCall {
                id: self.text(&mut fields, "id", at)?,
                name: self.text(&mut fields, "name", at)?,
                arguments: self.arguments(&mut fields, at, depth)?,
            },
            "toolResult" => {
                let mut content = Vec::new();
                let inner = fields.shift_remove("content").ok_or_else(|| self.lacks(at, "content"))?;
                self.content(inner, &format!("{at}.content"), depth.saturating_add(1), &mut content)?;
                let is_error = match fields.shift_remove("isError") {
                    None | Some(Value::Null) => None,
                    Some(Value::Bool(is_error)) => Some(is_error),
                    Some(_) => return Err(self.wrong(&format!("{at}.isError"), "true or false")),
                };
                Block::ToolResult { tool_call_id: self.text(&mut fields, "toolCallId", at)?, content, is_error }
            }
            "reasoning" => Block::Reasoning {
                text: self.text(&mut fields, "text", at)?,
                signature: self.text_opt(&mut fields, "signature", at)?,
            },
            other => return Err(self.unknown(at, other)),
        };
        blocks.push(block);
        Ok(())
    }

    fn mixed(&mut self, fields: &mut Map<String, Value>, at: &str, depth: u32, blocks: &mut Vec<Block>) -> Result<()> {
        let Some(Value::Array(inner)) = fields.shift_remove("blocks") else {
            return Err(self.wrong(&format!("{at}.blocks"), "a list of blocks"));
        };
        for (index, block) in inner.into_iter().enumerate() {
            // A list and a block: two levels of JSON.
            self.content(block, &format!("{at}.blocks[{index}]"), depth.saturating_add(2), blocks)?;
        }
        Ok(())
    }

    fn arguments(&mut self, fields: &mut Map<String, Value>, at: &str, depth: u32) -> Result<Value> {
        let arguments = fields.shift_remove("arguments").ok_or_else(|| self.lacks(at, "arguments"))?;
        let deepest = depth_of(&arguments).saturating_add(depth as usize);
        limits::check("jsonDepth", deepest, self.budget.limits.json_depth)?;
        Ok(arguments)
    }

    fn text(&mut self, fields: &mut Map<String, Value>, field: &str, at: &str) -> Result<String> {
        self.text_opt(fields, field, at)?.ok_or_else(|| self.lacks(at, field))
    }

    fn text_opt(&mut self, fields: &mut Map<String, Value>, field: &str, at: &str) -> Result<Option<String>> {
        match fields.shift_remove(field) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => {
                self.budget.take(&text)?;
                Ok(Some(text))
            }
            Some(_) => Err(self.wrong(&format!("{at}.{field}"), "a string")),
        }
    }

    fn size(&self, fields: &mut Map<String, Value>, field: &str, at: &str) -> Result<Option<u32>> {
        let Some(value) = fields.shift_remove(field).filter(|value| !value.is_null()) else { return Ok(None) };
        let size = value.as_f64().filter(|size| (0.0..=f64::from(u32::MAX)).contains(size));
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the range was checked")]
        let size = size.map(|size| size.ceil() as u32);
        size.map(Some).ok_or_else(|| self.wrong(&format!("{at}.{field}"), "a number from 0 to 4294967295"))
    }

    #[cold]
    fn lacks(&self, at: &str, field: &str) -> Error {
        let message = format!("node `{}` lacks `{at}.{field}`", self.node);
        Error::new(Code::InvalidInput, message).with("nodeId", self.node)
    }

    #[cold]
    fn wrong(&self, at: &str, expected: &str) -> Error {
        let message = format!("`{at}` of node `{}` must be {expected}", self.node);
        Error::new(Code::InvalidInput, message).with("nodeId", self.node)
    }

    #[cold]
    fn unknown(&self, at: &str, kind: &str) -> Error {
        let expected = ["text", "image", "audio", "mixed", "toolCall", "toolResult", "reasoning"];
        let message =
            format!("`{at}` of node `{}` has type `{kind}`; it must be one of `{}`", self.node, expected.join("`, `"));
        Error::new(Code::UnknownValue, message)
            .with("value", kind)
            .with("expected", expected.to_vec())
            .with("nodeId", self.node)
    }
}

/// How many levels of lists and objects a value has. The reader has bounded it already.
fn depth_of(value: &Value) -> usize {
    match value {
        Value::Array(values) => 1 + values.iter().map(depth_of).max().unwrap_or(0),
        Value::Object(values) => 1 + values.values().map(depth_of).max().unwrap_or(0),
        _ => 0,
    }
}
