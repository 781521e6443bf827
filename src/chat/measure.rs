//! What each part of a chat costs (SPEC §8).

use serde::Serialize;

use super::detect::Format;
use super::message::{Kind, Message, Path, Piece};
use super::pairs::Pairs;
use super::request_overhead::RequestOverhead;

/// The costs of a chat as it is.
#[derive(Debug, Serialize)]
pub(super) struct Measured<'m> {
    format: &'static str,
    total: u64,
    /// Beside the messages.
    system: u64,
    tools: u64,
    messages: Vec<MessageCost<'m>>,
}

#[derive(Debug, Serialize)]
struct MessageCost<'m> {
    role: &'static str,
    tokens: u64,
    parts: Vec<PartCost<'m>>,
}

#[derive(Debug, Serialize)]
struct PartCost<'m> {
    kind: &'static str,
    tokens: u64,
    /// Everywhere it stands; an empty path is the whole message.
    paths: Vec<&'m Path>,
    /// Of a call and its result.
    #[serde(skip_serializing_if = "str::is_empty")]
    name: &'m str,
    /// Of a result.
    #[serde(skip_serializing_if = "Option::is_none")]
    call: Option<PartPosition>,
}

/// A message, and a part of it.
#[derive(Clone, Copy, Debug, Serialize)]
struct PartPosition {
    index: usize,
    part: usize,
}

/// Measures messages that were read.
pub(super) fn measured<'m>(format: Format, messages: &'m [Message<'_>], beside: RequestOverhead) -> Measured<'m> {
    const WHOLE: &Path = &Vec::new();
    let part = |piece: &'m Piece<'_>| PartCost {
        kind: kind(piece),
        tokens: piece.tokens,
        paths: match (&piece.kind, piece.places.as_slice(), piece.texts.first()) {
            (Kind::Text, [], Some(text)) => vec![&text.path],
            (_, [], _) => vec![WHOLE],
            (_, places, _) => places.iter().collect(),
        },
        name: name(piece),
        call: None,
    };
    let message = |message: &'m Message<'_>| MessageCost {
        role: message.role.name(),
        tokens: message.tokens(),
        parts: message.pieces.iter().map(part).collect(),
    };
    let mut rows: Vec<MessageCost<'m>> = messages.iter().map(message).collect();
    for ((index, part), result) in Pairs::find(messages, |id| id.into()).pairs {
        let call = messages.get(index).and_then(|message| message.pieces.get(part));
        let result = rows.get_mut(result.0).and_then(|row| row.parts.get_mut(result.1));
        if let (Some(call), Some(result)) = (call, result) {
            result.name = name(call);
            result.call = Some(PartPosition { index, part });
        }
    }
    let total = rows.iter().map(|row| row.tokens).fold(beside.tokens(), u64::saturating_add);
    Measured { format: format.name(), total, system: beside.system, tools: beside.tools, messages: rows }
}

fn name<'m>(piece: &'m Piece<'_>) -> &'m str {
    match &piece.kind {
        Kind::Call { name, .. } | Kind::CallAndResult { name } => name,
        _ => "",
    }
}

fn kind(piece: &Piece<'_>) -> &'static str {
    match &piece.kind {
        Kind::Text => "text",
        Kind::Call { .. } => "call",
        Kind::Result { .. } => "result",
        Kind::CallAndResult { .. } => "callAndResult",
        Kind::Reasoning => "reasoning",
        Kind::Image => "image",
        Kind::Linked { .. } => "approval",
        Kind::Other => "other",
    }
}
