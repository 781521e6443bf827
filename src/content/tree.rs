//! Turns as the data of a Loom tree: a node a turn (SPEC §5, last line; §7 "chats").

use std::borrow::Cow;

use serde::Serialize;
use serde_json::{Map, Value};

use super::block::{Block, Media};
use super::turn::{Role, Turn, arguments_object};
use crate::content;
use crate::error::{Diagnostic, DiagnosticCode, Severity};
use crate::maps::SortedSet;

/// A transcript as a Loom tree: one node a turn, one edge between neighbours.
#[derive(Debug, Serialize)]
pub struct LoomTreeData {
    /// The tree, as `assembleDialogue` takes it.
    pub tree: TreeData,
    /// The newest node.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tip: Option<String>,
    /// The images by their `ref`s.
    pub media: Map<String, Value>,
    /// What was damaged, unknown or moved.
    pub diagnostics: Vec<Diagnostic>,
}

/// A Loom tree with the fields that a transcript can fill.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TreeData {
    /// `dialogue`.
    pub mode: &'static str,
    /// The oldest node.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub root_node_id: Option<String>,
    /// The system messages at the beginning, joined by a blank line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system_context: Option<String>,
    /// Oldest first.
    pub nodes: Vec<NodeData>,
    /// One between neighbours.
    pub edges: Vec<EdgeData>,
}

/// A node of such a tree: a turn.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NodeData {
    /// The turn's id if it is the first with it, else `turn-N`.
    pub id: String,
    /// Its content; images have the `ref` alone.
    #[serde(serialize_with = "content::serialize_node")]
    pub content: Vec<Block<'static>>,
    /// `model` or `human`.
    pub author_type: &'static str,
    /// The model that said it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub author_agent_id: Option<String>,
    /// When it was said, as the format wrote it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created_at: Option<String>,
    /// The id of the node that it is an edit of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub edited_from: Option<String>,
    /// What it says, in short.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// What is noted about it; on the summary of a compaction a bookmark.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<MetadataData>,
}

/// An edge of such a tree.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct EdgeData {
    /// The ids of both nodes.
    pub id: String,
    /// The older node, before others that are reference material or instructions.
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
    /// `primary`, `context` or `instruction`; without it `primary`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<&'static str>,
}

/// What is noted about a node.
#[derive(Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MetadataData {
    /// Whether it is left out of every context.
    #[serde(skip_serializing_if = "is_false")]
    pub excluded: bool,
    /// Whether it has a bookmark.
    #[serde(skip_serializing_if = "is_false")]
    pub bookmarked: bool,
    /// What the bookmark says; `compaction` on the summary of one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bookmark_label: Option<Cow<'static, str>>,
    /// What the file says of it and a Loom tree has no field for.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub imported: Map<String, Value>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn is_false(flag: &bool) -> bool {
    !flag
}

/// Takes out the leading system turns and joins their texts. Later ones become the user's, which is reported.
pub(crate) fn take_system(turns: &mut Vec<Turn>, diagnostics: &mut Vec<Diagnostic>) -> Option<String> {
    let leading = turns.iter().take_while(|turn| turn.role == Role::System).count();
    let texts: Vec<String> = turns
        .drain(..leading)
        .flat_map(|turn| turn.blocks)
        .filter_map(|block| if let Block::Text(text) = block { Some(text.into_owned()) } else { None })
        .collect();
    let later = turns.iter().filter(|turn| turn.role == Role::System).count();
    if later > 0 {
        let message = format!("{later} system messages stand within the conversation; they became the user's");
        diagnostics.push(Diagnostic::new(DiagnosticCode::NotExpressible, Severity::Warning, message));
    }
    Some(texts.join("\n\n")).filter(|text| !text.is_empty())
}

/// Turns as a Loom tree. Texts and images are moved, not copied.
pub(crate) fn loom_tree(mut turns: Vec<Turn>, mut diagnostics: Vec<Diagnostic>) -> LoomTreeData {
    let system_context = take_system(&mut turns, &mut diagnostics);
    let ids = ids(&turns);
    let mut images = Named::for_tree();
    let edge = |(before, id): (&String, &String)| {
        let sources = vec![SourceData { node_id: before.clone(), role: None }];
        EdgeData { id: format!("{before}>{id}"), sources, target_node_id: id.clone() }
    };
    let edges = ids.iter().zip(ids.iter().skip(1)).map(edge).collect();
    let (root_node_id, tip) = (ids.first().cloned(), ids.last().cloned());
    let node = |(turn, id): (Turn, String)| NodeData {
        id,
        content: turn.blocks.into_iter().map(|block| images.named(block)).collect(),
        author_type: if turn.role == Role::Assistant { "model" } else { "human" },
        author_agent_id: turn.model,
        created_at: turn.timestamp,
        edited_from: None,
        summary: None,
        metadata: turn.summary.then(|| MetadataData {
            bookmarked: true,
            bookmark_label: Some(Cow::Borrowed("compaction")),
            ..MetadataData::default()
        }),
    };
    let nodes = turns.into_iter().zip(ids).map(node).collect();
    let tree = TreeData { mode: "dialogue", root_node_id, system_context, nodes, edges };
    LoomTreeData { tree, tip, media: images.media.unwrap_or_default(), diagnostics }
}

/// An id for each turn: its own if it is the first with it, else `turn-N`.
pub(crate) fn ids(turns: &[Turn]) -> Vec<String> {
    let mut known = SortedSet::new();
    let own: Vec<Option<&str>> =
        turns.iter().map(|turn| turn.id.as_deref().filter(|id| !id.is_empty() && known.insert(*id))).collect();
    let mut made = 0_u32;
    let make = |own: Option<&str>| match own {
        Some(own) => own.to_owned(),
        None => loop {
            made = made.saturating_add(1);
            let id = format!("turn-{made}");
            if !known.contains(id.as_str()) {
                break id;
            }
        },
    };
    own.into_iter().map(make).collect()
}

/// Gives images and recordings their names, `image-N` and `audio-N`.
#[derive(Debug, Default)]
pub(crate) struct Named {
    count: u32,
    /// They by name for a tree; in messages each carries its bytes or URL itself.
    pub media: Option<Map<String, Value>>,
}

impl Named {
    /// For the nodes of a tree.
    pub(crate) fn for_tree() -> Self {
        Self { media: Some(Map::new()), ..Self::default() }
    }

    /// A block as messages and nodes have it: without the flags of transcripts, the arguments of calls as an object.
    pub(crate) fn named(&mut self, block: Block<'static>) -> Block<'static> {
        match block {
            Block::Reasoning { text, signature, .. } => Block::Reasoning { text, signature, redacted: false },
            Block::ToolCall { id, name, arguments, .. } => {
                Block::ToolCall { id, name, arguments: Cow::Owned(arguments_object(arguments)), server: false }
            }
            Block::ToolResult { tool_call_id, content, is_error, .. } => {
                let mut content: Vec<_> = content.into_iter().map(|block| self.named(block)).collect();
                if content.is_empty() {
                    content.push(Block::text(""));
                }
                Block::ToolResult { tool_call_id, content, is_error, server: false }
            }
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

    /// The next name; in a tree the media are kept under it.
    fn name(&mut self, kind: &str, media: &mut Option<Media<'static>>) -> Cow<'static, str> {
        self.count = self.count.saturating_add(1);
        let name = format!("{kind}{}", self.count);
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
