//! From a node's blocks to the parts of a message.

use std::borrow::Cow;

use crate::assembly::render::{JOIN, content, push_text};
use crate::assembly::size_bound::Size;
use crate::error::{Diagnostic, DiagnosticCode, Severity};
use crate::loom::request::Media;
use crate::loom::tree::{Block, Node};
use crate::maps::SortedMap;
use crate::prompt::{AudioPart, Content, ImagePart, Part, Prices, ToolCallPart, ToolResultPart, placeholder};

/// The parts that a node's blocks give: texts trimmed, blank ones dropped, neighbouring ones joined.
pub(crate) fn parts<'a>(
    blocks: &[&'a Block],
    node: &str,
    media: &'a SortedMap<String, Media>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<Part<'a>> {
    let mut parts = Vec::with_capacity(blocks.len());
    for block in blocks {
        match block {
            Block::Text(text) => match text.trim() {
                "" => {}
                text => push_text(&mut parts, Cow::Borrowed(text)),
            },
            Block::Image { .. } | Block::Audio { .. } => push_media(&mut parts, block, node, media, diagnostics),
            Block::ToolCall { id, name, arguments } => parts.push(Part::ToolCall(ToolCallPart { id, name, arguments })),
            Block::ToolResult { tool_call_id, content, is_error } => {
                let content = result_content(content, node, media, diagnostics);
                parts.push(Part::ToolResult(ToolResultPart { tool_call_id, content, is_error: *is_error }));
            }
            Block::Reasoning { text, signature } => {
                parts.push(Part::Reasoning { text, signature: signature.as_deref() });
            }
        }
    }
    parts
}

/// What a tool answered stays as it is: its white space may matter.
fn result_content<'a>(
    blocks: &'a [Block],
    node: &str,
    media: &'a SortedMap<String, Media>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Content<'a> {
    let mut parts = Vec::with_capacity(blocks.len());
    for block in blocks {
        match block {
            Block::Text(text) => push_text(&mut parts, Cow::Borrowed(text)),
            Block::Image { .. } | Block::Audio { .. } => push_media(&mut parts, block, node, media, diagnostics),
            Block::ToolCall { .. } | Block::ToolResult { .. } | Block::Reasoning { .. } => {
                let message = "a tool result can hold text and media only; another block in it was left out";
                let diagnostic = Diagnostic::new(DiagnosticCode::NonTextLeftOut, Severity::Warning, message);
                diagnostics.push(diagnostic.about_node(node));
            }
        }
    }
    content(parts)
}

fn push_media<'a>(
    parts: &mut Vec<Part<'a>>,
    block: &'a Block,
    node: &str,
    media: &'a SortedMap<String, Media>,
    diagnostics: &mut Vec<Diagnostic>,
) {
    let find = |reference: &str| match media.get(reference)? {
        Media::Data(data) => Some((Some(data.as_str()), None)),
        Media::Url(url) => Some((None, Some(url.as_str()))),
    };
    let (reference, stand_in) = match block {
        Block::Image { reference, mime_type, width, height, alt_text } => {
            if let Some((data, url)) = find(reference) {
                let alt_text = alt_text.as_deref();
                let (width, height) = (*width, *height);
                parts.push(Part::Image(ImagePart { reference, mime_type, width, height, alt_text, data, url }));
                return;
            }
            (reference, placeholder("image", alt_text.as_deref()))
        }
        Block::Audio { reference, mime_type, duration_ms, transcript_ref } => {
            if let Some((data, url)) = find(reference) {
                let transcript_ref = transcript_ref.as_deref();
                parts.push(Part::Audio(AudioPart {
                    reference,
                    mime_type,
                    duration_ms: *duration_ms,
                    transcript_ref,
                    data,
                    url,
                }));
                return;
            }
            (reference, placeholder("audio", None))
        }
        _ => return,
    };
    let message = format!("`media` has nothing for `{reference}`; `{stand_in}` stands in its place");
    diagnostics.push(Diagnostic::new(DiagnosticCode::MediaMissing, Severity::Warning, message).about_node(node));
    push_text(parts, Cow::Owned(stand_in));
}

/// What a node's content costs that is not in the conversation, as far as it can be told: its texts.
pub(crate) fn content_cost(node: &Node, prices: &Prices<'_>) -> u64 {
    node.content.iter().map(|block| block_cost(block, prices)).sum()
}

fn block_cost(block: &Block, prices: &Prices<'_>) -> u64 {
    match block {
        Block::Text(text) => prices.text(text.trim()),
        Block::Reasoning { text, .. } => prices.text(text),
        Block::ToolCall { id, name, arguments } => prices.part(&Part::ToolCall(ToolCallPart { id, name, arguments })),
        Block::ToolResult { content, .. } => content.iter().map(|block| block_cost(block, prices)).sum(),
        Block::Image { width, height, .. } => prices.image.tokens(width.zip(*height)),
        Block::Audio { duration_ms, .. } => prices.audio(*duration_ms),
    }
}

/// Adds the most that a block may come to.
pub(crate) fn add_size(size: &mut Size, block: &Block, prices: &Prices<'_>) {
    let (bytes, tokens) = match block {
        Block::Text(text) => (text.len(), 0),
        Block::Reasoning { text, .. } => (text.len(), 0),
        Block::ToolCall { name, arguments, .. } => (name.len().saturating_add(arguments.to_string().len()), 0),
        Block::ToolResult { content, .. } => {
            content.iter().for_each(|block| add_size(size, block, prices));
            (0, 0)
        }
        Block::Image { alt_text, width, height, .. } => {
            (alt_text.as_ref().map_or(0, String::len), prices.image.tokens(width.zip(*height)))
        }
        Block::Audio { duration_ms, .. } => (0, prices.audio(*duration_ms)),
    };
    // `[image: ]` is longer than a join.
    size.bytes = size.bytes.saturating_add(bytes).saturating_add(JOIN.len() + 10);
    size.tokens = size.tokens.saturating_add(tokens);
}
