//! Hashes of messages and system contexts, used to compare two requests.
//!
//! They are fast and not cryptographic: texts constructed to collide count as equal.

use crate::content::{Block, Media, Role};
use crate::hashing::Hasher;
use crate::json;
use crate::vendors::message::Message;

/// The hash of a system context or of its absence.
pub(crate) fn system_hash(system: Option<&str>) -> u64 {
    let mut hasher = Hasher::default();
    hasher.optional(system);
    hasher.finish()
}

pub(crate) fn message_hash(message: &Message<'_>) -> u64 {
    let mut hasher = Hasher::default();
    hasher.message(message);
    hasher.finish()
}

impl Hasher {
    fn message(&mut self, message: &Message<'_>) {
        self.word(match message.role {
            Role::System => 1,
            Role::Developer => 2,
            Role::User => 3,
            Role::Assistant => 4,
            Role::Tool => 5,
        });
        self.content(&message.content);
    }

    fn content(&mut self, blocks: &[Block<'_>]) {
        self.word(blocks.len() as u64);
        blocks.iter().for_each(|block| self.block(block));
    }

    fn block(&mut self, block: &Block<'_>) {
        match block {
            Block::Text(text) => {
                self.word(10);
                self.text(text);
            }
            Block::Image(image) => {
                self.word(11);
                self.text(&image.mime_type);
                self.media(image.media.as_ref());
                self.optional(image.alt_text.as_deref());
            }
            Block::Audio(audio) => {
                self.word(12);
                self.text(&audio.mime_type);
                self.media(audio.media.as_ref());
            }
            Block::ToolCall { id, name, arguments, .. } => {
                self.word(13);
                self.text(id);
                self.text(name);
                self.text(&json::text(&***arguments));
            }
            Block::ToolResult { tool_call_id, content, is_error, .. } => {
                self.word(14);
                self.text(tool_call_id);
                self.word((*is_error == Some(true)).into());
                self.content(content);
            }
            Block::Reasoning { text, signature, .. } => {
                self.word(15);
                self.text(text);
                self.optional(signature.as_deref());
            }
            Block::Vendor(block) => {
                self.word(16);
                self.text(block.vendor.as_str());
                self.text(&json::text(&*block.value));
            }
        }
    }

    fn media(&mut self, media: Option<&Media<'_>>) {
        let (data, url) = match media {
            Some(Media::Data(data)) => (Some(&**data), None),
            Some(Media::Url(url)) => (None, Some(&**url)),
            None => (None, None),
        };
        self.optional(data);
        self.optional(url);
    }
}

#[cfg(test)]
#[path = "../../tests/unit/prompt/cache.rs"]
mod tests;
