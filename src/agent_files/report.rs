//! The result of a load: pieces in the order of the prompt, the messages they make, and every decision.

use serde::Serialize;

use crate::error::Diagnostic;
use crate::text::replace;

use super::preset::Wrapper;
use super::session::{Decision, Loss, Piece, SKILL, SKILL_BODY, Session};

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
    /// The request without its files, from which a later load continues.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request: Option<serde_json::Value>,
    pub diagnostics: Vec<Diagnostic>,
}

impl Chain {
    pub(super) fn pieces(&self) -> &[Piece] {
        &self.pieces
    }
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
        messages: messages(&session.pieces, &preset.wrapper, &request.cwd),
        total_tokens: session.pieces.iter().fold(0, |sum, piece| sum.saturating_add(piece.tokens)),
        pieces: session.pieces,
        tokenizer: session.counter.name().to_owned(),
        tokenizer_error: session.counter.error_percent(),
        losses: session.losses,
        decisions: session.decisions,
        verbs: preset.verbs.clone(),
        request: None,
        diagnostics: session.diagnostics,
    }
}

/// Pieces of one step and placement make one message. Skills are a list of their own, and the body of one is a message.
fn messages(pieces: &[Piece], wrapper: &Wrapper, cwd: &str) -> Vec<Message> {
    let key = |piece: &Piece| (piece.step, piece.placement, is_of_skill(piece));
    pieces
        .chunk_by(|one, next| key(one) == key(next))
        .filter_map(|group| {
            let first = group.first()?;
            let text = if is_of_skill(first) { skills(group) } else { wrapped(group, wrapper, cwd) };
            Some(Message { step: first.step, placement: first.placement, text })
        })
        .collect()
}

fn is_of_skill(piece: &Piece) -> bool {
    matches!(piece.kind, SKILL | SKILL_BODY)
}

fn skills(group: &[Piece]) -> String {
    let lines: Vec<&str> = group.iter().map(|piece| piece.text.as_str()).collect();
    lines.join("\n")
}

fn wrapped(group: &[Piece], wrapper: &Wrapper, cwd: &str) -> String {
    let mut text = replace(&wrapper.open, "{cwd}", cwd);
    let mut scope = None;
    for piece in group {
        match (scope.replace(piece.scope), &wrapper.scope_join) {
            (Some(before), Some(join)) if before != piece.scope => text.push_str(join),
            (Some(_), _) => text.push_str(&wrapper.join),
            (None, _) => {}
        }
        text.push_str(&replace(&wrapper.before, "{path}", &piece.path));
        text.push_str(&piece.text);
        text.push_str(&replace(&wrapper.after, "{path}", &piece.path));
    }
    text.push_str(&wrapper.close);
    text
}
