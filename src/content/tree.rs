//! Turns as the data of a Loom tree: one node per turn (docs/sessions.md).

use std::borrow::Cow;

use serde::Serialize;
use serde_json::{Map, Value};

use super::block::Block;
use super::node_data::{EdgeData, MetadataData, Named, NodeData, SourceData};
use super::turn::{Role, Turn};
use crate::error::{Diagnostic, DiagnosticCode, Severity};
use crate::maps::SortedSet;

/// A transcript as a Loom tree: one node per turn, one edge between neighbors.
#[derive(Debug, Serialize)]
pub struct LoomTreeData {
    /// The tree, as `assembleDialogue` takes it.
    pub tree: TreeData,
    /// The newest node.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tip: Option<String>,
    /// The images by `ref`.
    pub media: Map<String, Value>,
    /// Findings: damage, unknown content, moved content.
    pub diagnostics: Vec<Diagnostic>,
}

/// A Loom tree with the fields that a transcript can fill.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TreeData {
    /// Always `dialogue`.
    pub mode: &'static str,
    /// The oldest node.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub root_node_id: Option<String>,
    /// The system messages at the beginning, joined by a blank line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system_context: Option<String>,
    /// The nodes, oldest first.
    pub nodes: Vec<NodeData>,
    /// One edge between neighbors.
    pub edges: Vec<EdgeData>,
}

/// Removes the leading system turns and joins their texts. Later system turns become user turns, which is reported.
pub(crate) fn take_system(turns: &mut Vec<Turn>, diagnostics: &mut Vec<Diagnostic>) -> Option<String> {
    let leading = turns.iter().take_while(|turn| turn.role == Role::System).count();
    let texts: Vec<String> = turns
        .drain(..leading)
        .flat_map(|turn| turn.blocks)
        .filter_map(|block| if let Block::Text(text) = block { Some(text.into_owned()) } else { None })
        .collect();
    let later = turns.iter().filter(|turn| turn.role == Role::System).count();
    if later > 0 {
        let message = format!("{later} system messages are inside the conversation; they became user messages");
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

/// An id for each turn: the turn's id if it is the first with it, else `turn-N`.
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
