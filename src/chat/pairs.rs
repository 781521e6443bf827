//! The parts of a chat that belong together: calls, their results and their reasoning (docs/chats.md).

use std::borrow::Cow;
use std::ops::Range;

use super::messages::Messages;
use crate::content::Role;
use crate::error::{Diagnostic, DiagnosticCode, Severity};
use crate::maps::{SortedMap, SortedSet};
use crate::sorting;
use crate::tool_calls::{ToolPairs, Units};
use crate::vendors::format::Format;
use crate::vendors::pieces::message::{At, Kind, Message, Reason};

/// The calls of messages with their results, by call.
pub(super) fn find_pairs<'m>(messages: &'m [Message<'_>]) -> ToolPairs<'m> {
    let mut pairs = ToolPairs::default();
    add_pairs(&mut pairs, 0, messages, Cow::Borrowed);
    pairs
}

/// Adds the pairs of more messages, the first of which has the index `from`. `key` makes the stored ids. Returns the
/// first message with a call that was answered.
pub(super) fn add_pairs<'i, 'm>(
    pairs: &mut ToolPairs<'i>,
    from: usize,
    messages: &'m [Message<'_>],
    key: fn(&'m str) -> Cow<'i, str>,
) -> usize {
    let (mut first, mut last) = (usize::MAX, pairs.answered.last().map(|last| last.0));
    let mut is_sorted = true;
    for (index, message) in messages.iter().enumerate() {
        for (place, piece) in message.pieces.iter().enumerate() {
            let at = (from + index, place);
            match &piece.kind {
                Kind::Call { id, .. } => pairs.add_call(id, at, key),
                Kind::Result { id } => {
                    let Some(call) = pairs.add_result(id, at) else { continue };
                    first = first.min(call.0);
                    is_sorted &= last.is_none_or(|last| last < call);
                    last = Some(call);
                }
                _ => {}
            }
        }
    }
    if !is_sorted {
        sorting::sort(&mut pairs.answered);
    }
    first
}

/// Removes calls without results and results without calls. A call at the end is open, not broken.
pub(super) fn repair(pairs: &ToolPairs<'_>, messages: &mut Messages<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let calls = pairs.open_calls();
    if calls.is_empty() && pairs.orphans.is_empty() {
        return;
    }
    let is_turn = |message: &Message<'_>| {
        let is_result = |kind: &Kind<'_>| matches!(kind, Kind::Result { .. } | Kind::Approval { .. });
        message.role != Role::Tool
            && !(message.role == Role::User && message.pieces.iter().all(|piece| is_result(&piece.kind)))
    };
    let acts = |message: &Message<'_>| message.pieces.iter().any(|piece| matches!(piece.kind, Kind::Call { .. }));
    // Several consecutive items may be one turn of calls.
    let end = messages.iter().rposition(|message| is_turn(message) && !acts(message)).map_or(0, |last| last + 1);
    let open_from = messages.iter().enumerate().skip(end).filter(|(_, message)| is_turn(message)).map(|(at, _)| at);
    let open_from: Vec<usize> = open_from.collect();
    let last = open_from.last().copied();
    // Everything from the first call of the last run that no result separates.
    let first_open = last.map(|last| {
        let mut first = last;
        while first > end && messages.get(first - 1).is_some_and(is_turn) {
            first -= 1;
        }
        first
    });
    let broken = calls.into_iter().filter(|&(index, _)| first_open.is_none_or(|first| index < first));
    let broken: Vec<(At, &str)> = broken
        .map(|at| (at, "a call without its result"))
        .chain(pairs.orphans.iter().map(|&at| (at, "a result without its call")))
        .collect();
    for (at, what) in broken {
        let Some(piece) = messages.piece_mut(at) else { continue };
        piece.remove(Reason::ToolPairBroken);
        let message = format!("message {} has {what}; it was left out", at.0);
        diagnostics.push(
            Diagnostic::new(DiagnosticCode::ToolPairBroken, Severity::Warning, message)
                .at_path(format!("messages[{}]", at.0)),
        );
    }
}

/// Removes turns of the model that hold only reasoning: providers reject them. One that is followed by a turn of the
/// model belongs to that turn.
pub(super) fn drop_lone_thoughts(messages: &mut Messages<'_>, format: Format, diagnostics: &mut Vec<Diagnostic>) {
    // Gemini accepts them, and plain messages have no reasoning.
    if matches!(format, Format::Gemini | Format::Interactions | Format::Generic | Format::OpenAi | Format::AiSdkUi) {
        return;
    }
    let mut next = None;
    for at in (0..messages.len()).rev() {
        let Some(message) = messages.get(at).filter(|message| message.removed.is_none()) else { continue };
        let role = message.role;
        let is_lone = role == Role::Assistant && message.is_thought() && next != Some(Role::Assistant);
        if !is_lone {
            next = Some(role);
            continue;
        }
        messages.get_mut(at).into_iter().for_each(|message| message.removed = Some(Reason::NothingLeft));
        let text = format!("message {at} holds only reasoning, which providers reject; it was left out");
        let found = Diagnostic::new(DiagnosticCode::ReasoningAlone, Severity::Warning, text);
        diagnostics.push(found.at_path(format!("messages[{at}]")));
    }
}

/// The reasoning before a removed call, if only removed calls followed it.
pub(super) fn thoughts_of_gone_calls(messages: &Messages<'_>, call: usize) -> Range<usize> {
    let is_call = |at: &usize| {
        let message = messages.get(*at).filter(|message| message.role == Role::Assistant);
        message.is_some_and(|message| message.pieces.iter().any(|piece| matches!(piece.kind, Kind::Call { .. })))
    };
    let is_thought = |at: &usize| messages.get(*at).is_some_and(Message::is_thought);
    let is_there = |at: usize| messages.get(at).is_some_and(|message| message.removed.is_none());
    let first = (0..call).rev().take_while(is_call).last().unwrap_or(call);
    if !is_call(&first) || (first..messages.len()).take_while(is_call).any(is_there) {
        return first..first;
    }
    (0..first).rev().take_while(is_thought).last().unwrap_or(first)..first
}

/// Whether a piece and its message remain.
pub(super) fn is_there(messages: &Messages<'_>, (message, piece): At) -> bool {
    let message = messages.get(message).filter(|message| message.removed.is_none());
    message.and_then(|message| message.pieces.get(piece)).is_some_and(|piece| piece.is_there())
}

/// Removes the approval request and its answer for removed calls.
pub(super) fn drop_links(messages: &mut Messages<'_>) {
    let changed = messages.changed();
    let changed = changed.iter().filter_map(|&at| messages.get(at));
    let calls = changed.flat_map(|message| &message.pieces).filter(|piece| !piece.is_there());
    let gone =
        calls.filter_map(|piece| if let Kind::Call { id, .. } = &piece.kind { Some(id.to_string()) } else { None });
    let gone: SortedSet<String> = gone.collect();
    if gone.is_empty() {
        return;
    }
    let mut requests: SortedSet<String> = SortedSet::new();
    for asks in [true, false] {
        let mut found: Vec<At> = Vec::new();
        for (index, message) in messages.iter().enumerate() {
            for (place, piece) in message.pieces.iter().enumerate() {
                let Kind::Approval { id, call } = &piece.kind else { continue };
                let goes = match call {
                    Some(call) if asks => gone.contains(&**call),
                    None if !asks => requests.contains(&**id),
                    _ => false,
                };
                if goes {
                    requests.insert(id.to_string());
                    found.push((index, place));
                }
            }
        }
        for at in found {
            if let Some(piece) = messages.piece_mut(at) {
                piece.remove(Reason::ToolPairBroken);
            }
        }
    }
}

/// The calls that made others, in the messages from `from` on.
pub(super) fn callers<'m>(messages: &'m Messages<'_>, from: usize) -> SortedSet<&'m str> {
    messages
        .range(from, messages.len())
        .flat_map(|message| &message.pieces)
        .filter_map(|piece| piece.caller.as_deref())
        .collect()
}

/// A message, or a step of a run in one message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MessageSlice {
    pub message: usize,
    /// The pieces from here up to the next slice.
    pub from: usize,
    pub to: usize,
}

/// Adds the slices of the messages from `from` on. Removed messages have none.
pub(super) fn add_slices(slices: &mut Vec<MessageSlice>, messages: &Messages<'_>, from: usize) {
    slices.reserve(messages.len().saturating_sub(from));
    let messages = (from..).zip(messages.range(from, messages.len()));
    for (index, message) in messages.filter(|(_, message)| message.removed.is_none()) {
        let (mut from, mut step) = (0, None);
        for (at, piece) in message.pieces.iter().enumerate().filter(|(_, piece)| piece.is_there()) {
            // Parts before the first step belong to it.
            if piece.step > 1 && step.is_some_and(|step| step != piece.step) {
                slices.push(MessageSlice { message: index, from, to: at });
                from = at;
            }
            step = Some(piece.step);
        }
        slices.push(MessageSlice { message: index, from, to: message.pieces.len() });
    }
}

/// The start of each unit among the slices, from the start of `from` on; the last element closes the last unit.
pub(super) fn units(
    messages: &Messages<'_>,
    slices: &[MessageSlice],
    from: usize,
    pairs: &[(At, At)],
    format: Format,
) -> Vec<usize> {
    let base = from;
    let slices = slices.get(base..).unwrap_or_default();
    let Some(first) = slices.first() else { return vec![base] };
    let mut units = Units::new(slices.len());
    let atom_of = |(message, piece): At| {
        let after = slices.partition_point(|slice| (slice.message, slice.from) <= (message, piece));
        after.checked_sub(1)
    };
    // No pair crosses the start of a unit.
    let before = pairs.partition_point(|&(call, _)| call < (first.message, first.from));
    let pairs = pairs.get(before..).unwrap_or_default();
    let mut join = |first: Option<usize>, last: Option<usize>| {
        if let (Some(first), Some(last)) = (first, last) {
            let (first, last) = (first.min(last), first.max(last));
            units.join(first, last);
        }
    };
    let there = |at: At| is_there(messages, at);
    for &(call, result) in pairs.iter().filter(|&&(call, result)| there(call) && there(result)) {
        join(atom_of(call), atom_of(result));
    }
    let callers = callers(messages, first.message);
    let mut links: SortedMap<&str, usize> = SortedMap::new();
    for (number, slice) in slices.iter().enumerate() {
        let Some(message) = messages.get(slice.message) else { continue };
        for piece in message.pieces.iter().take(slice.to).skip(slice.from).filter(|piece| piece.is_there()) {
            let link = match (&piece.kind, &piece.caller) {
                (Kind::Approval { id, .. }, _) | (_, Some(id)) => id,
                (Kind::Call { id, .. }, None) if callers.contains(&**id) => id,
                _ => continue,
            };
            match links.get(&**link) {
                Some(&first) => join(Some(first), Some(number)),
                None => {
                    links.insert(link, number);
                }
            }
        }
        let mut live = message.pieces.iter().filter(|piece| piece.is_there()).peekable();
        let thinks = live.peek().is_some() && live.all(|piece| piece.kind == Kind::Reasoning);
        let next = slices.get(number + 1).and_then(|next| messages.get(next.message));
        // Reasoning belongs to the content that follows it.
        if thinks && next.is_some_and(|next| next.role == Role::Assistant) {
            join(Some(number), Some(number + 1));
        }
        // Anthropic accepts instructions inside a conversation only between a user turn and an assistant turn.
        if format == Format::Anthropic && message.role == Role::System && number > 0 {
            join(number.checked_sub(1), Some(number));
            join(Some(number), Some(number + 1).filter(|&next| next < slices.len()));
        }
    }
    units.starts().into_iter().map(|start| base + start).collect()
}
