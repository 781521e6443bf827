//! How many leading messages of a conversation are the same as in the last request, and so may be in a provider's prompt cache.
//!
//! A [`Fingerprint`] of the previous conversation tells: a hash of the system context, then one for each message that covers
//! all before it.

use crate::content::{Block, Media, Role};
use crate::error::{Code, Error, Result};
use crate::hashing::Hasher;
use crate::json;
use crate::vendors::message::Message;

/// Tells how many leading messages a later conversation has in common with this one. Takes 8 characters a message.
///
/// The hashes are fast and not cryptographic: two texts made to collide on purpose are reported as the same message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fingerprint {
    hashes: Vec<u64>,
}

/// 8 characters of 6 bits.
const BITS: u32 = 48;
const CHARS: usize = 8;
const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

impl Fingerprint {
    /// The fingerprint of a conversation.
    pub fn of(system: Option<&str>, messages: &[Message<'_>]) -> Self {
        Self::of_hashes(system_hash(system), messages.iter().map(message_hash))
    }

    /// The fingerprint of these [`system_hash`] and [`message_hash`]es.
    pub(crate) fn of_hashes(system: u64, messages: impl Iterator<Item = u64>) -> Self {
        let mut hasher = Hasher::default();
        let hashes = std::iter::once(system).chain(messages).map(|hash| {
            hasher.word(hash);
            hasher.finish() >> (64 - BITS)
        });
        Self { hashes: hashes.collect() }
    }

    /// How many leading messages are those of the previous conversation; `None` if the system context differs.
    pub fn shared(&self, previous: &Self) -> Option<usize> {
        let same = self.hashes.iter().zip(&previous.hashes).take_while(|(now, before)| now == before).count();
        same.checked_sub(1)
    }

    /// As text, to be given with the next request.
    pub fn to_text(&self) -> String {
        let mut text = String::with_capacity(self.hashes.len() * CHARS);
        for hash in &self.hashes {
            for at in (0..CHARS).rev() {
                let six = (hash >> (6 * at)) & 0x3F;
                text.push(ALPHABET.get(six as usize).copied().unwrap_or_default().into());
            }
        }
        text
    }

    /// Reads what [`to_text`](Self::to_text) gave; an empty text is the fingerprint of no conversation.
    ///
    /// # Errors
    /// [`Code::InvalidInput`] for anything else.
    pub fn parse(text: &str) -> Result<Self> {
        let wrong = || {
            let message = "`previous` must be the `cache.fingerprint` of an earlier report, or empty";
            Error::new(Code::InvalidInput, message).with("path", "previous")
        };
        let (groups, rest) = text.as_bytes().as_chunks::<CHARS>();
        if !rest.is_empty() {
            return Err(wrong());
        }
        let mut hashes = Vec::with_capacity(groups.len());
        for group in groups {
            let mut hash = 0;
            for &byte in group {
                hash = (hash << 6) | six_bits(byte).ok_or_else(wrong)?;
            }
            hashes.push(hash);
        }
        Ok(Self { hashes })
    }
}

fn six_bits(byte: u8) -> Option<u64> {
    let value = match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'-' => 62,
        b'_' => 63,
        _ => return None,
    };
    Some(value.into())
}

/// A hash of a system context or its absence.
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
