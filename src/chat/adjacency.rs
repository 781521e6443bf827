//! Results that do not follow their calls, and texts that are empty: providers refuse both (CHATS.md §1).

use super::messages::Messages;
use crate::content::Role;
use crate::error::{Diagnostic, DiagnosticCode, Severity};
use crate::text::is_blank;
use crate::tool_calls::ToolPairs;
use crate::vendors::format::Format;
use crate::vendors::pieces::message::{Kind, Message, Piece, Reason};

/// Reports results that stand apart from their calls. The order of messages is the caller's, so nothing is moved.
pub(super) fn report_apart(
    pairs: &ToolPairs<'_>,
    messages: &Messages<'_>,
    format: Format,
    diagnostics: &mut Vec<Diagnostic>,
) {
    // In a list of items a result is found by its call, wherever it stands after it.
    if matches!(format, Format::Responses | Format::Agents | Format::Interactions | Format::AiSdkUi | Format::Generic) {
        return;
    }
    let mut last = None;
    for &(call, result) in &pairs.answered {
        if call.0 >= result.0 || last == Some(result.0) {
            continue;
        }
        let between = messages.range(call.0 + 1, result.0).filter(|message| message.removed.is_none());
        // Gemini wants the results of a turn in one content.
        let is_apart = if format == Format::Gemini {
            between.count() > 0
        } else {
            between.into_iter().any(|message| !is_results(message))
        };
        if is_apart {
            last = Some(result.0);
            let text = format!(
                "the result in message {} does not directly follow its call in message {}, which providers refuse; put it there",
                result.0, call.0
            );
            let found = Diagnostic::new(DiagnosticCode::ToolPairApart, Severity::Warning, text);
            diagnostics.push(found.at_path(format!("messages[{}]", result.0)));
        }
    }
}

/// Whether a message is nothing but results and answers to approvals.
fn is_results(message: &Message<'_>) -> bool {
    let is_result = |piece: &Piece<'_>| matches!(piece.kind, Kind::Result { .. } | Kind::Approval { .. });
    message.role != Role::Assistant && message.pieces.iter().all(is_result)
}

/// Takes out empty texts, which Anthropic refuses; not in the last message, where an empty answer may begin.
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
        let text = format!("message {at} has an empty text; it was left out, since Anthropic refuses it");
        let found = Diagnostic::new(DiagnosticCode::EmptyText, Severity::Warning, text);
        diagnostics.push(found.at_path(format!("messages[{at}]")));
    }
}
