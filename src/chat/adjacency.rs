//! Finds results that do not follow their calls, and removes empty texts: providers reject both (docs/chat-formats.md).

use super::messages::Messages;
use crate::content::Role;
use crate::error::{Diagnostic, DiagnosticCode, Severity};
use crate::sorting;
use crate::text::is_blank;
use crate::tool_calls::{PartPosition, ToolPairs};
use crate::vendors::format::Format;
use crate::vendors::pieces::message::{Kind, Message, Piece, Reason};

/// A message of results that is put directly after the message of their calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MovedResult {
    pub result: usize,
    pub call: usize,
}

/// Finds messages of results that are apart from their calls, and reports them. A message that also holds anything else is not moved.
pub(super) fn results_apart(
    pairs: &ToolPairs<'_>,
    messages: &Messages<'_>,
    format: Format,
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<MovedResult> {
    let mut moved = Vec::new();
    // In a list of items a result is matched by id, at any place after its call.
    if matches!(format, Format::Responses | Format::Agents | Format::Interactions | Format::AiSdkUi | Format::Generic) {
        return moved;
    }
    let is_apart = |&(call, result): &(PartPosition, PartPosition)| {
        let mut between = messages.range(call.0 + 1, result.0).filter(|message| message.removed.is_none());
        // Gemini requires the results of a turn in one content.
        if format == Format::Gemini { between.next().is_some() } else { !between.all(is_results) }
    };
    let mut apart: Vec<_> = pairs.answered.iter().copied().filter(is_apart).collect();
    sorting::sort_by_key(&mut apart, |(_, result)| result.0);
    for apart in apart.chunk_by(|(_, one), (_, other)| one.0 == other.0) {
        let Some(&(call, result)) = apart.first() else { continue };
        let is_whole = messages.get(result.0).is_some_and(|it| is_results(it) && it.pieces.len() == apart.len());
        let is_of_one_message = apart.iter().all(|(other, _)| other.0 == call.0);
        let is_alone = format != Format::Gemini || messages.get(call.0).is_some_and(|it| calls(it) == apart.len());
        let (severity, advice) = if is_whole && is_of_one_message && is_alone {
            moved.push(MovedResult { result: result.0, call: call.0 });
            (Severity::Info, "it was put there")
        } else {
            (Severity::Warning, "providers reject this, so move it")
        };
        let text = format!(
            "the result in message {} does not directly follow its call in message {}; {advice}",
            result.0, call.0
        );
        let found = Diagnostic::new(DiagnosticCode::ToolPairApart, severity, text);
        diagnostics.push(found.at_path(format!("messages[{}]", result.0)));
    }
    moved
}

/// Whether a message holds only results and answers to approvals.
pub(super) fn is_results(message: &Message<'_>) -> bool {
    let is_result = |piece: &Piece<'_>| matches!(piece.kind, Kind::Result { .. } | Kind::Approval { .. });
    message.role != Role::Assistant && message.pieces.iter().all(is_result)
}

/// The number of calls in a message.
fn calls(message: &Message<'_>) -> usize {
    message.pieces.iter().filter(|piece| matches!(piece.kind, Kind::Call { .. })).count()
}

/// Removes empty texts, which Anthropic rejects; not in the last message, which may be the start of an answer.
pub(super) fn drop_empty_texts(messages: &mut Messages<'_>, format: Format, diagnostics: &mut Vec<Diagnostic>) {
    if format != Format::Anthropic {
        return;
    }
    for at in 0..messages.len().saturating_sub(1) {
        let Some(message) = messages.get(at).filter(|message| message.removed.is_none()) else { continue };
        let is_empty = |piece: &Piece<'_>| {
            piece.is_there()
                && piece.kind == Kind::Text
                && !piece.texts.is_empty()
                && piece.texts.iter().all(|text| is_blank(&text.text))
        };
        let empty: Vec<usize> =
            (0..).zip(&message.pieces).filter(|(_, piece)| is_empty(piece)).map(|(at, _)| at).collect();
        if empty.is_empty() {
            continue;
        }
        for place in empty {
            messages.piece_mut((at, place)).map(|piece| piece.remove(Reason::EmptyText));
        }
        let text = format!("message {at} has an empty text, which Anthropic rejects; it was left out");
        let found = Diagnostic::new(DiagnosticCode::EmptyText, Severity::Warning, text);
        diagnostics.push(found.at_path(format!("messages[{at}]")));
    }
}
