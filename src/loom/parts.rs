//! Converts the blocks of a node to those of a message.

use std::borrow::Cow;

use crate::assembly::render::{JOIN, content, push_text};
use crate::assembly::size_bound::Size;
use crate::content::{Audio, Block, Image, Media};
use crate::error::{Diagnostic, DiagnosticCode, Severity};
use crate::json;
use crate::loom::node_content::NodeContent;
use crate::loom::tree::Node;
use crate::maps::SortedMap;
use crate::prompt::Prices;
use crate::text::trim;
use crate::vendors::message::placeholder;

/// The blocks of a message from a node's blocks: texts trimmed, blank ones dropped, adjacent ones joined, media
/// resolved by `ref`.
pub(crate) fn parts<'a>(
    blocks: &mut dyn Iterator<Item = &'a Block<'a>>,
    node: &str,
    media: &'a SortedMap<String, Media<'static>>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<Block<'a>> {
    let mut parts = Vec::with_capacity(blocks.size_hint().0);
    for block in blocks {
        match block {
            Block::Text(text) => match trim(text) {
                "" => {}
                text => push_text(&mut parts, Cow::Borrowed(text)),
            },
            Block::Image(_) | Block::Audio(_) => push_media(&mut parts, block, node, media, diagnostics),
            Block::ToolResult { tool_call_id, content, is_error, server } => parts.push(Block::ToolResult {
                tool_call_id: Cow::Borrowed(tool_call_id),
                content: result_content(content, node, media, diagnostics),
                is_error: *is_error,
                server: *server,
            }),
            Block::ToolCall { .. } | Block::Reasoning { .. } | Block::Vendor(_) => parts.push(block.borrowed()),
        }
    }
    parts
}

/// The text of a tool result is not trimmed: its white space may matter.
fn result_content<'a>(
    blocks: &'a [Block<'a>],
    node: &str,
    media: &'a SortedMap<String, Media<'static>>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<Block<'a>> {
    let mut parts = Vec::with_capacity(blocks.len());
    for block in blocks {
        match block {
            Block::Text(text) => push_text(&mut parts, Cow::Borrowed(text)),
            Block::Image(_) | Block::Audio(_) => push_media(&mut parts, block, node, media, diagnostics),
            Block::ToolCall { .. } | Block::ToolResult { .. } | Block::Reasoning { .. } | Block::Vendor(_) => {
                let message = "a tool result can hold text and media only; another block in it was left out";
                let diagnostic = Diagnostic::new(DiagnosticCode::NonTextLeftOut, Severity::Warning, message);
                diagnostics.push(diagnostic.about_node(node));
            }
        }
    }
    content(parts)
}

/// Appends an image or a recording resolved by its `ref`, or its placeholder text.
fn push_media<'a>(
    parts: &mut Vec<Block<'a>>,
    block: &'a Block<'a>,
    node: &str,
    media: &'a SortedMap<String, Media<'static>>,
    diagnostics: &mut Vec<Diagnostic>,
) {
    let mut part = block.borrowed();
    let (reference, place, kind, words) = match &mut part {
        Block::Image(image) => {
            let Image { reference, media, alt_text, .. } = &mut **image;
            (reference.as_deref().unwrap_or_default(), media, "image", alt_text.as_deref())
        }
        Block::Audio(audio) => {
            let Audio { reference, media, .. } = &mut **audio;
            (&**reference, media, "audio", None)
        }
        _ => return,
    };
    *place = media.get(reference).map(Media::borrowed);
    if place.is_some() {
        return parts.push(part);
    }
    let stand_in = placeholder(kind, words);
    let message = format!("`media` lacks `{reference}`; `{stand_in}` replaces it");
    diagnostics.push(Diagnostic::new(DiagnosticCode::MediaMissing, Severity::Warning, message).about_node(node));
    push_text(parts, Cow::Owned(stand_in));
}

/// The cost of a node outside the conversation: the cost of its texts, since the rest is unknown.
pub(crate) fn content_cost(node: &Node, prices: &Prices<'_>) -> u64 {
    node.content.iter().map(|block| block_cost(block, prices)).sum()
}

fn block_cost(block: &Block, prices: &Prices<'_>) -> u64 {
    match block {
        Block::Text(text) => prices.text(trim(text)),
        Block::ToolResult { content, .. } => content.iter().map(|block| block_cost(block, prices)).sum(),
        other => prices.block(other),
    }
}

/// Adds the maximal size of a node's content.
pub(crate) fn add_size(size: &mut Size, content: &NodeContent<'_>, prices: &Prices<'_>) {
    match content.escaped() {
        // Escapes are longer than the characters they represent.
        Some(text) => add_bytes(size, text.len()),
        None => content.iter().for_each(|block| add_block_size(size, block, prices)),
    }
}

fn add_bytes(size: &mut Size, bytes: usize) {
    // `[image: ]` is longer than a join.
    size.bytes = size.bytes.saturating_add(bytes).saturating_add(JOIN.len() + 10);
}

fn add_block_size(size: &mut Size, block: &Block, prices: &Prices<'_>) {
    let (bytes, tokens) = match block {
        Block::Text(text) | Block::Reasoning { text, .. } => (text.len(), 0),
        Block::ToolCall { name, arguments, .. } => (name.len().saturating_add(json::text(&***arguments).len()), 0),
        Block::ToolResult { content, .. } => {
            content.iter().for_each(|block| add_block_size(size, block, prices));
            (0, 0)
        }
        Block::Image(image) => (image.alt_text.as_ref().map_or(0, |words| words.len()), prices.block(block)),
        Block::Audio(_) | Block::Vendor(_) => (0, prices.block(block)),
    };
    add_bytes(size, bytes);
    size.tokens = size.tokens.saturating_add(tokens);
}
