//! A transcript as provider messages, and as the data of a Loom tree (docs/sessions.md).

use serde::Serialize;

use crate::assembly::preserved::{ThinkingFate, is_signed};
use crate::commits::transcript::{Role, Transcript, Turn};
use crate::content::node_data::Named;
pub use crate::content::node_data::{EdgeData, MetadataData, NodeData, SourceData};
pub use crate::content::tree::{LoomTreeData, TreeData};
use crate::content::tree::{ids, take_system};
use crate::content::{self, Block, Vendor};
use crate::error::Diagnostic;
use crate::tokens::models::preserves_thinking;

/// A transcript as messages in the shape of an assembled dialogue.
#[derive(Debug, Serialize)]
pub struct Messages {
    /// The leading system messages, joined by a blank line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system: Option<String>,
    /// The other turns. Adjacent turns of one role are one message.
    pub messages: Vec<Message>,
    /// Findings: damage, unknown content, moved content.
    pub diagnostics: Vec<Diagnostic>,
}

/// A message of one turn or several.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Message {
    /// [`Role::User`] or [`Role::Assistant`].
    pub role: Role,
    /// The content: a single text if it holds only texts.
    #[serde(serialize_with = "content::serialize")]
    pub content: Vec<Block<'static>>,
    /// The ids of its turns.
    pub node_ids: Vec<String>,
}

/// The transcript as messages, without thinking that is no longer valid. Texts and images are moved, not copied.
pub fn to_messages(transcript: Transcript, mut diagnostics: Vec<Diagnostic>) -> Messages {
    let mut turns = valid_turns(transcript, &mut diagnostics);
    let system = take_system(&mut turns, &mut diagnostics);
    let ids = ids(&turns);
    let mut messages: Vec<Message> = Vec::new();
    let mut images = Named::default();
    for (turn, id) in turns.into_iter().zip(ids) {
        let role = if turn.role == Role::Assistant { Role::Assistant } else { Role::User };
        let blocks = turn.blocks.into_iter().map(|block| images.named(block));
        match messages.last_mut().filter(|last| last.role == role) {
            Some(last) => {
                last.content.extend(blocks);
                last.node_ids.push(id);
            }
            None => messages.push(Message { role, content: blocks.collect(), node_ids: vec![id] }),
        }
    }
    for Message { content, .. } in &mut messages {
        if let Some(texts) = content.iter().map(Block::as_text).collect::<Option<Vec<_>>>() {
            *content = vec![Block::text(texts.join("\n\n"))];
        }
    }
    Messages { system, messages, diagnostics }
}

/// The transcript as a Loom tree, without thinking that is no longer valid. Texts and images are moved, not copied.
pub fn to_loom_tree(transcript: Transcript, mut diagnostics: Vec<Diagnostic>) -> LoomTreeData {
    let turns = valid_turns(transcript, &mut diagnostics);
    content::tree::loom_tree(turns, diagnostics)
}

/// The turns without thinking whose signature is bound to something that they lack. Only older models accept it.
fn valid_turns(transcript: Transcript, diagnostics: &mut Vec<Diagnostic>) -> Vec<Turn> {
    let Transcript { turns, changed_from } = transcript;
    let Some(first) = changed_from else { return turns };
    let mut valid = Vec::with_capacity(turns.len());
    for (at, (id, mut turn)) in ids(&turns).into_iter().zip(turns).enumerate() {
        let count = turn.blocks.len();
        if at >= first && turn.model.as_deref().is_none_or(preserves_thinking) {
            turn.blocks.retain(|block| !is_signed(block, Vendor::Anthropic));
        }
        let is_changed = turn.blocks.len() < count;
        if is_changed {
            diagnostics.push(ThinkingFate::Removed.in_tree(&id));
        }
        if !is_changed || !turn.blocks.is_empty() {
            valid.push(turn);
        }
    }
    valid
}
