//! The result of a load: pieces in the order of the prompt, the messages they make, and every decision.

use serde::Serialize;

use crate::error::Diagnostic;
use crate::text::replace;

use super::preset::Frame;
use super::session::{Decision, Loss, Piece, Session};

/// What an agent reads.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Chain {
    agent: String,
    verified: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    variant: Option<String>,
    root: String,
    pieces: Vec<Piece>,
    messages: Vec<Message>,
    total_tokens: u32,
    tokenizer: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    tokenizer_error: Option<u32>,
    losses: Vec<Loss>,
    decisions: Vec<Decision>,
    /// The kinds of access after which the agent loads more.
    verbs: Vec<String>,
    pub diagnostics: Vec<Diagnostic>,
}

/// A text as the agent sends it.
#[derive(Debug, Serialize)]
struct Message {
    step: usize,
    placement: &'static str,
    text: String,
}

/// The result of a finished session.
pub(super) fn chain(session: Session<'_>) -> Chain {
    let request = session.request;
    let preset = &request.preset;
    Chain {
        agent: format!("{}@{}", preset.name, preset.version),
        verified: preset.verified,
        variant: request.variant.clone(),
        root: session.root,
        messages: messages(&session.pieces, &preset.frame, &request.cwd),
        total_tokens: session.pieces.iter().fold(0, |sum, piece| sum.saturating_add(piece.tokens)),
        pieces: session.pieces,
        tokenizer: session.counter.name().to_owned(),
        tokenizer_error: session.counter.error_percent(),
        losses: session.losses,
        decisions: session.decisions,
        verbs: preset.verbs.clone(),
        diagnostics: session.diagnostics,
    }
}

/// Pieces of one step and placement make one message. Skills are a list of their own.
fn messages(pieces: &[Piece], frame: &Frame, cwd: &str) -> Vec<Message> {
    let key = |piece: &Piece| (piece.step, piece.placement, piece.kind == "skill");
    pieces
        .chunk_by(|one, next| key(one) == key(next))
        .filter_map(|group| {
            let first = group.first()?;
            let is_skill = first.kind == "skill";
            let text = if is_skill { skills(group) } else { framed(group, frame, cwd) };
            Some(Message { step: first.step, placement: first.placement, text })
        })
        .collect()
}

fn skills(group: &[Piece]) -> String {
    let lines: Vec<&str> = group.iter().map(|piece| piece.text.as_str()).collect();
    lines.join("\n")
}

fn framed(group: &[Piece], frame: &Frame, cwd: &str) -> String {
    let mut text = replace(&frame.open, "{cwd}", cwd);
    let mut scope = None;
    for piece in group {
        match (scope.replace(piece.scope), &frame.scope_join) {
            (Some(before), Some(join)) if before != piece.scope => text.push_str(join),
            (Some(_), _) => text.push_str(&frame.join),
            (None, _) => {}
        }
        text.push_str(&replace(&frame.before, "{path}", &piece.path));
        text.push_str(&piece.text);
        text.push_str(&replace(&frame.after, "{path}", &piece.path));
    }
    text.push_str(&frame.close);
    text
}
