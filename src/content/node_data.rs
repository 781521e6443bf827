//! Nodes and edges as data, for trees made from other data.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::{Map, Value};

use super::block::{Block, Media};
use super::turn::arguments_object;
use crate::content;

/// A node, made from one turn.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NodeData {
    /// The turn's id if it is the first with it, else `turn-N`.
    pub id: String,
    /// The content; images have the `ref` alone.
    #[serde(serialize_with = "content::serialize_node")]
    pub content: Vec<Block<'static>>,
    /// `model` or `human`.
    pub author_type: &'static str,
    /// The model that wrote it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub author_agent_id: Option<String>,
    /// The time, as the format wrote it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created_at: Option<String>,
    /// The id of the node that this one is an edit of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub edited_from: Option<String>,
    /// A short summary.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// Metadata; on the summary of a compaction a bookmark.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<MetadataData>,
}

/// An edge of a tree.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct EdgeData {
    /// The id, made from the ids of both nodes.
    pub id: String,
    /// The older node, before any reference material or instructions.
    pub sources: Vec<SourceData>,
    /// The newer node.
    pub target_node_id: String,
}

/// The source of an edge.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SourceData {
    /// The id of a node.
    pub node_id: String,
    /// `primary`, `context` or `instruction`; defaults to `primary`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<&'static str>,
}

/// The metadata of a node.
#[derive(Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MetadataData {
    /// Whether the node is left out of every context.
    #[serde(skip_serializing_if = "is_false")]
    pub excluded: bool,
    /// Whether it has a bookmark.
    #[serde(skip_serializing_if = "is_false")]
    pub bookmarked: bool,
    /// The label of the bookmark; `compaction` on the summary of one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bookmark_label: Option<Cow<'static, str>>,
    /// Data of the file for which a Loom tree has no field.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub imported: Map<String, Value>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn is_false(flag: &bool) -> bool {
    !flag
}

/// Gives calls without an id one derived from the message's, and their results in the same message the same.
pub(crate) fn name_calls(blocks: &mut [Block<'static>], message: &str) {
    let mut count = 0_u32;
    let mut open: Option<String> = None;
    for block in blocks {
        match block {
            Block::ToolCall { id, .. } => {
                if id.is_empty() {
                    count = count.saturating_add(1);
                    *id = format!("{message}.call{count}").into();
                }
                open = Some(id.to_string());
            }
            Block::ToolResult { tool_call_id, .. } if tool_call_id.is_empty() => {
                if let Some(id) = open.take() {
                    *tool_call_id = id.into();
                }
            }
            _ => {}
        }
    }
}

/// Names images and recordings: `image-N` and `audio-N`.
#[derive(Debug, Default)]
pub(crate) struct Named {
    count: u32,
    /// The prefix of each name.
    prefix: String,
    /// The media by name, for a tree; in messages each block carries its bytes or URL itself.
    pub media: Option<Map<String, Value>>,
}

impl Named {
    /// Names for the nodes of a tree.
    pub(crate) fn for_tree() -> Self {
        Self { media: Some(Map::new()), ..Self::default() }
    }

    /// Restarts the numbering, with this prefix.
    pub(crate) fn restart(&mut self, prefix: String) {
        (self.count, self.prefix) = (0, prefix);
    }

    /// A block for messages and nodes: without the flags of transcripts, the arguments of calls as an object.
    pub(crate) fn named(&mut self, block: Block<'static>) -> Block<'static> {
        match block {
            Block::Reasoning { text, signature, .. } => Block::Reasoning { text, signature, redacted: false },
            Block::ToolCall { id, name, arguments, .. } => Block::ToolCall {
                id,
                name,
                arguments: Box::new(Cow::Owned(arguments_object(*arguments))),
                server: false,
            },
            Block::ToolResult { tool_call_id, content, is_error, .. } => {
                let mut content: Vec<_> = content.into_iter().map(|block| self.named(block)).collect();
                if content.is_empty() {
                    content.push(Block::text(""));
                }
                Block::ToolResult { tool_call_id, content, is_error, server: false }
            }
            other => self.named_media(other),
        }
    }

    /// A block with only the names of its media changed.
    pub(crate) fn named_media(&mut self, block: Block<'static>) -> Block<'static> {
        match block {
            Block::Image(mut image) if image.reference.is_none() => {
                image.reference = Some(self.name("image-", &mut image.media));
                Block::Image(image)
            }
            Block::Audio(mut audio) if audio.reference.is_empty() => {
                audio.reference = self.name("audio-", &mut audio.media);
                Block::Audio(audio)
            }
            other => other,
        }
    }

    /// The next name; in a tree the media are stored under it.
    fn name(&mut self, kind: &str, media: &mut Option<Media<'static>>) -> Cow<'static, str> {
        self.count = self.count.saturating_add(1);
        let name = format!("{}{kind}{}", self.prefix, self.count);
        if let Some(all) = &mut self.media
            && let Some(media) = media.take()
        {
            let key = media.field().0;
            let (Media::Data(source) | Media::Url(source)) = media;
            let source = Map::from_iter([(key.to_owned(), source.into_owned().into())]);
            all.insert(name.clone(), Value::Object(source));
        }
        Cow::Owned(name)
    }
}
