//! The costs of a chat by message and part (docs/chat-costs.md).

use serde::Serialize;

use super::pairs::find_pairs;
use super::request_overhead::RequestOverhead;
use crate::content::Role;
use crate::vendors::format::Format;
use crate::vendors::pieces::message::{Kind, Message, Path, Piece};

/// The costs of an unfitted chat.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Measurement {
    /// The given or detected format.
    pub format: Format,
    /// Tokens of the whole request.
    pub total: u64,
    /// Tokens of the system context outside the messages.
    pub system: u64,
    /// Tokens of the tool definitions.
    pub tools: u64,
    /// The costs of each message, in order.
    pub messages: Vec<MessageCost>,
}

/// The cost of a message.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MessageCost {
    /// The author; developers are `system`.
    pub role: Role,
    /// Tokens of its parts, its role and name, and its overhead.
    pub tokens: u64,
    /// The costs of its parts, in order.
    pub parts: Vec<PartCost>,
}

/// The cost of a part of a message.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PartCost {
    /// `text`, `call`, `result`, `callAndResult`, `reasoning`, `image`, `approval` or `other`.
    pub kind: &'static str,
    /// Its tokens.
    pub tokens: u64,
    /// The paths to all its places in the message; an empty path is the whole message.
    pub paths: Vec<Path>,
    /// The tool of a call, or of a result with a known call; otherwise empty.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// The call of a result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call: Option<PartPosition>,
}

/// Position of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct PartPosition {
    /// Index of the message.
    pub index: usize,
    /// Index of the part in the message.
    pub part: usize,
}

/// Measures the messages.
pub(super) fn measured(format: Format, messages: &[Message<'_>], overhead: RequestOverhead) -> Measurement {
    let part = |piece: &Piece<'_>| PartCost {
        kind: kind(piece),
        tokens: piece.tokens,
        paths: match (&piece.kind, piece.places.as_slice(), piece.texts.first()) {
            (Kind::Text, [], Some(text)) => vec![text.path.clone()],
            (_, [], _) => vec![Path::new()],
            (_, places, _) => places.to_vec(),
        },
        name: name(piece).to_owned(),
        call: None,
    };
    let message = |message: &Message<'_>| MessageCost {
        role: message.role,
        tokens: message.tokens(),
        parts: message.pieces.iter().map(part).collect(),
    };
    let mut rows: Vec<MessageCost> = messages.iter().map(message).collect();
    for ((index, part), result) in find_pairs(messages).answered {
        let call = messages.get(index).and_then(|message| message.pieces.get(part));
        let result = rows.get_mut(result.0).and_then(|row| row.parts.get_mut(result.1));
        if let (Some(call), Some(result)) = (call, result) {
            name(call).clone_into(&mut result.name);
            result.call = Some(PartPosition { index, part });
        }
    }
    let total = rows.iter().map(|row| row.tokens).fold(overhead.tokens(), u64::saturating_add);
    Measurement { format, total, system: overhead.system, tools: overhead.tools, messages: rows }
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
        Kind::Approval { .. } => "approval",
        Kind::Other => "other",
    }
}
