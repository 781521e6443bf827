//! Steps of ATIF, the Agent Trajectory Interchange Format: a call and its result are in one step.

use std::borrow::Cow;

use serde_json::{Map, Value, json};

use crate::content::{Block, Media, Role, arguments_object};
use crate::vendors::blocks::{Unknown, flag, image_at, image_url, lacking, list, object, objects, owned, text};
use crate::vendors::left_out::{LeftOut, Lost};
use crate::vendors::signature::ReasoningSignature;

/// The media types of images that a step can hold.
const IMAGES: [&str; 4] = ["image/jpeg", "image/png", "image/gif", "image/webp"];

/// The fields of a step, in all versions.
const STEP_FIELDS: &str = "step_id timestamp source message reasoning_content reasoning_effort model_name tool_calls \
     observation metrics is_copied_context llm_call_count extra";

/// The authors and the blocks of a step: its content, and the results of its calls.
pub(crate) fn read_step(step: &Map<String, Value>, notes: &mut dyn Unknown) -> Vec<(Role, Vec<Block<'static>>)> {
    let role = match text(step, "source").unwrap_or_default() {
        "system" => Role::System,
        "user" => Role::User,
        "agent" => Role::Assistant,
        other => {
            notes.left_out(LeftOut::Role(other));
            return Vec::new();
        }
    };
    notes.unknown_fields(step, &[STEP_FIELDS]);
    let mut blocks = Vec::new();
    if let Some(thought) = text(step, "reasoning_content").filter(|text| !text.is_empty()) {
        let signature = object(step, "extra").and_then(|extra| owned(extra, "signature"));
        blocks.push(Block::Reasoning { text: thought.to_owned().into(), signature, redacted: false });
    } else if let Some(signature) = object(step, "extra").and_then(|extra| text(extra, "signature")) {
        let redacted = matches!(ReasoningSignature::read(signature), Some(ReasoningSignature::Redacted(_)));
        let signature = Some(signature.to_owned().into());
        blocks.push(Block::Reasoning { text: Cow::default(), signature, redacted });
    }
    blocks.extend(read_content(step.get("message"), notes));
    for call in objects(list(step, "tool_calls"), "a call that is not an object", notes) {
        notes.unknown_fields(call, &["tool_call_id function_name arguments extra"]);
        blocks.push(Block::ToolCall {
            id: owned(call, "tool_call_id").unwrap_or_default(),
            name: owned(call, "function_name").unwrap_or_default(),
            arguments: Box::new(Cow::Owned(call.get("arguments").cloned().unwrap_or_else(|| json!({})))),
            server: object(call, "extra").is_some_and(|extra| flag(extra, "server")),
        });
    }
    let results = object(step, "observation").map_or(&[][..], |observation| list(observation, "results"));
    let results = objects(results, "a result that is not an object", notes);
    let results = results.into_iter().map(|result| read_result(result, notes)).collect();
    vec![(role, blocks), (Role::User, results)]
}

/// Whether a step is the summary of a compaction.
pub(crate) fn is_summary(step: &Map<String, Value>) -> bool {
    object(step, "extra").is_some_and(|extra| flag(extra, "summary"))
}

fn read_result(result: &Map<String, Value>, notes: &mut dyn Unknown) -> Block<'static> {
    notes.unknown_fields(result, &["source_call_id content extra"]);
    let extra = object(result, "extra");
    let orphan = || extra.and_then(|extra| owned(extra, "tool_call_id"));
    Block::ToolResult {
        tool_call_id: owned(result, "source_call_id").or_else(orphan).unwrap_or_default(),
        content: read_content(result.get("content"), notes),
        is_error: extra.is_some_and(|extra| flag(extra, "is_error")).then_some(true),
        server: false,
    }
}

fn read_content(content: Option<&Value>, notes: &mut dyn Unknown) -> Vec<Block<'static>> {
    let parts = match content {
        Some(Value::String(text)) if text.is_empty() => return Vec::new(),
        Some(Value::String(text)) => return vec![Block::text(text.clone())],
        Some(Value::Array(parts)) => objects(parts, "a part that is not an object", notes),
        _ => return Vec::new(),
    };
    let mut blocks = Vec::new();
    for part in parts {
        let source = object(part, "source");
        notes.unknown_fields(part, &["type text source"]);
        source.into_iter().for_each(|source| notes.unknown_fields(source, &["media_type path"]));
        let path = source.and_then(|source| text(source, "path"));
        match (text(part, "type").unwrap_or_default(), path) {
            ("text", _) => blocks.extend(owned(part, "text").or_else(|| lacking("text", notes)).map(Block::Text)),
            ("image", Some(path)) => {
                let mut image = image_at(path);
                if let Some(kind) = source.and_then(|source| text(source, "media_type")) {
                    image.mime_type = kind.to_owned().into();
                }
                blocks.push(Block::Image(Box::new(image)));
            }
            (kind, path) => {
                notes.left_out(LeftOut::Type(kind));
                blocks.extend(path.map(|path| Block::text(format!("[{kind}: {path}]"))));
            }
        }
    }
    blocks
}

/// A step to write. Its parts come in a fixed order: reasoning, message, calls, results.
#[derive(Debug, Default)]
pub(crate) struct Step<'b> {
    reasoning: Option<&'b Block<'b>>,
    message: Vec<&'b Block<'b>>,
    calls: Vec<&'b Block<'b>>,
    results: Vec<&'b Block<'b>>,
}

impl<'b> Step<'b> {
    /// The blocks of a turn as steps: a block that would be out of order begins another.
    pub(crate) fn of(blocks: &'b [Block<'b>]) -> Vec<Self> {
        let mut steps = vec![Self::default()];
        for block in blocks {
            let fits = steps.last().is_some_and(|step| match block {
                Block::Reasoning { .. } => step.reasoning.is_none() && step.message.is_empty() && step.calls.is_empty(),
                Block::ToolCall { .. } | Block::ToolResult { .. } => true,
                _ => step.calls.is_empty() && step.results.is_empty(),
            });
            if !fits {
                steps.push(Self::default());
            }
            let Some(step) = steps.last_mut() else { continue };
            match block {
                Block::Reasoning { .. } => step.reasoning = Some(block),
                Block::ToolCall { .. } => step.calls.push(block),
                Block::ToolResult { .. } => step.results.push(block),
                block => step.message.push(block),
            }
        }
        steps
    }

    /// Whether the step made a call.
    pub(crate) fn calls(&self, id: &str) -> bool {
        self.calls.iter().any(|call| matches!(call, Block::ToolCall { id: known, .. } if known == id))
    }

    /// Moves the results of another step's calls there.
    pub(crate) fn give_results(&mut self, to: &mut Self) {
        self.results.retain(|result| {
            let answers = matches!(result, Block::ToolResult { tool_call_id, .. } if to.calls(tool_call_id));
            to.results.extend(answers.then_some(*result));
            !answers
        });
    }

    /// Whether nothing is left of the step.
    pub(crate) fn is_empty(&self) -> bool {
        self.reasoning.is_none() && self.message.is_empty() && self.calls.is_empty() && self.results.is_empty()
    }

    /// The fields of the step that hold its content.
    pub(crate) fn write(&self, role: Role, summary: bool, lost: Lost<'_>) -> Map<String, Value> {
        let source = match role {
            Role::Assistant => "agent",
            Role::System | Role::Developer => "system",
            _ => "user",
        };
        let mut step = Map::new();
        let mut extra = Map::new();
        step.insert("source".to_owned(), source.into());
        step.insert("message".to_owned(), write_content(&self.message, lost));
        if let Some(Block::Reasoning { text, signature, redacted }) = self.reasoning {
            if !redacted && !text.is_empty() {
                step.insert("reasoning_content".to_owned(), text.as_ref().into());
            }
            if let Some(signature) = signature {
                extra.insert("signature".to_owned(), signature.as_ref().into());
            }
        }
        let calls: Vec<Value> = self.calls.iter().filter_map(|call| write_call(call)).collect();
        if !calls.is_empty() {
            step.insert("tool_calls".to_owned(), calls.into());
        }
        let results: Vec<Value> = self.results.iter().filter_map(|result| self.write_result(result, lost)).collect();
        if !results.is_empty() {
            step.insert("observation".to_owned(), json!({ "results": results }));
        }
        if summary {
            extra.insert("summary".to_owned(), true.into());
        }
        if !extra.is_empty() {
            step.insert("extra".to_owned(), extra.into());
        }
        step
    }

    /// A result; that of a call in another step has its id in `extra`.
    fn write_result(&self, result: &Block<'_>, lost: Lost<'_>) -> Option<Value> {
        let Block::ToolResult { tool_call_id, content, is_error, .. } = result else { return None };
        let mut fields = Map::new();
        let mut extra = Map::new();
        if self.calls(tool_call_id) {
            fields.insert("source_call_id".to_owned(), tool_call_id.as_ref().into());
        } else {
            extra.insert("tool_call_id".to_owned(), tool_call_id.as_ref().into());
        }
        fields.insert("content".to_owned(), write_content(&content.iter().collect::<Vec<_>>(), lost));
        if *is_error == Some(true) {
            extra.insert("is_error".to_owned(), true.into());
        }
        if !extra.is_empty() {
            fields.insert("extra".to_owned(), extra.into());
        }
        Some(fields.into())
    }
}

fn write_call(call: &Block<'_>) -> Option<Value> {
    let Block::ToolCall { id, name, arguments, server } = call else { return None };
    let mut call =
        json!({ "tool_call_id": id, "function_name": name, "arguments": arguments_object(*arguments.clone()) });
    if let (true, Value::Object(fields)) = (server, &mut call) {
        fields.insert("extra".to_owned(), json!({ "server": true }));
    }
    Some(call)
}

/// A text alone as a string, other content as parts.
fn write_content(blocks: &[&Block<'_>], lost: Lost<'_>) -> Value {
    match blocks {
        [] => "".into(),
        [Block::Text(text)] => text.as_ref().into(),
        blocks => blocks.iter().filter_map(|block| write_part(block, lost)).collect(),
    }
}

fn write_part(block: &Block<'_>, lost: Lost<'_>) -> Option<Value> {
    let text = match block {
        Block::Text(text) => text.to_string(),
        Block::Image(image) if matches!(&image.media, Some(Media::Data(_) | Media::Url(_))) => {
            let is_known = IMAGES.contains(&image.mime_type.as_ref());
            if !is_known {
                lost(LeftOut::Described("the media type of an image, written as image/png"));
            }
            let media_type = if is_known { &image.mime_type } else { "image/png" };
            let source = json!({ "media_type": media_type, "path": image_url(image) });
            return Some(json!({ "type": "image", "source": source }));
        }
        Block::Vendor(block) => {
            let (text, what) = block.replacement();
            lost(what);
            text?.to_owned()
        }
        Block::Audio(audio) => {
            lost(LeftOut::Described("a recording, written as its description"));
            format!("[audio: {}]", audio.mime_type)
        }
        _ => return None,
    };
    Some(json!({ "type": "text", "text": text }))
}
