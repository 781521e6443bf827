//! What leaves of a chat: which messages stay, what changes in them, and the account of it.

use std::borrow::Cow;

use serde_json::{Value as Json, json};

use super::detect::Format;
use super::fit::{Cut, Fit, SUMMARY_PREFIX};
use super::formats::{text_of, user_message};
use super::message::{Change, Kind, Message, PER_REQUEST, Piece, Role, Step};
use super::options::Phase;
use super::report::{Added, Edit, Fate, Reason, Report, Row, Tokens};
use crate::sorting;
use crate::text::is_blank;

/// What leaves.
#[derive(Debug)]
pub(super) struct Fitted {
    /// Messages by their index, with changes where there are any, and those that are put in; none where nothing changed.
    pub messages: Option<Vec<Json>>,
    pub report: Report,
    pub summarize: Option<Json>,
}

impl Fit<'_, '_> {
    /// What leaves, with the account of it.
    pub(super) fn fitted(self, cut: &Cut, edits: Vec<Edit>) -> Fitted {
        let is_summary = cut.added.as_ref().is_some_and(|(kind, _)| *kind == "summary");
        let (fate, reason) = if is_summary { (Fate::Summarized, None) } else { (Fate::Cut, Some(Reason::OverLimit)) };
        let lead = self.lead();
        let mut tokens = Tokens { system: self.system, tools: self.tools, overhead: PER_REQUEST, ..Tokens::default() };
        let mut leaves = Vec::with_capacity(self.messages.len());
        let mut rows = Vec::with_capacity(self.messages.len());
        let mut added = None;
        let mut next = 0;
        let mut summarized = Vec::new();
        for (index, message) in self.messages.iter().enumerate() {
            let from = next;
            while cut.atoms.get(next).is_some_and(|atom| atom.message == index) {
                next += 1;
            }
            let gone = cut.atoms.get(from..next).unwrap_or_default();
            let is_gone = |place: usize| gone.iter().any(|atom| (atom.from..atom.to).contains(&place));
            let is_left =
                |(place, piece): (usize, &Piece<'_>)| !is_gone(place) && piece.is_there() && !piece.is_silent();
            let is_whole = !gone.is_empty() && !message.pieces.iter().enumerate().any(is_left);
            let put = |leaves: &mut Vec<Json>, added: &mut Option<Added>| {
                if let (Some((kind, text)), None) = (&cut.added, &added) {
                    let cost = self.message_overhead().saturating_add(self.prices.text(text));
                    *added = Some(Added { kind, index: leaves.len(), text: text.clone(), tokens: cost });
                    leaves.push(user_message(self.format, text));
                }
            };
            let begins = gone.first().is_some_and(|atom| atom.from == 0);
            if begins {
                put(&mut leaves, &mut added);
            }
            let before = message.tokens();
            let row = if let Some(reason) = message.removed {
                let summarized = is_summary && reason == Reason::Replaced;
                Row {
                    index,
                    fate: if summarized { fate } else { Fate::Cut },
                    reason: Some(reason),
                    tokens: before,
                    parts: Vec::new(),
                }
            } else if is_whole {
                summarized.push(index);
                Row { index, fate, reason, tokens: before, parts: Vec::new() }
            } else {
                let (changes, parts) = self.changes(message, is_gone, (fate, reason));
                let kept: u64 = message
                    .pieces
                    .iter()
                    .enumerate()
                    .filter(|&(place, _)| !is_gone(place))
                    .map(|(_, piece)| piece.now)
                    .sum();
                let steps = message.steps.saturating_sub(gone.len() as u64);
                let content = if index < lead { &mut tokens.system } else { &mut tokens.messages };
                *content = content.saturating_add(kept);
                tokens.overhead = tokens.overhead.saturating_add(message.overhead.saturating_mul(steps));
                let is_changed = !changes.is_empty() || !parts.is_empty();
                leaves.push(if is_changed { json!([index, changes]) } else { json!(index) });
                let why = parts.first().and_then(|part| part.reason).filter(|_| is_changed);
                Row {
                    index,
                    fate: if is_changed { Fate::Changed } else { Fate::Kept },
                    reason: why,
                    tokens: before,
                    parts,
                }
            };
            rows.push(row);
            if !begins && !gone.is_empty() {
                put(&mut leaves, &mut added);
            }
        }
        if let Some(added) = &added {
            let overhead = self.message_overhead();
            tokens.overhead = tokens.overhead.saturating_add(overhead);
            tokens.messages = tokens.messages.saturating_add(added.tokens.saturating_sub(overhead));
        }
        tokens.total =
            tokens.system.saturating_add(tokens.messages).saturating_add(tokens.tools).saturating_add(tokens.overhead);
        self.prices.counter.name().clone_into(&mut tokens.tokenizer);
        debug_assert!(tokens.total <= self.options.limit || self.options.phase == Phase::Plan, "over the limit");
        let same = rows.iter().all(|row| row.fate == Fate::Kept);
        let is_plan = self.options.phase == Phase::Plan && is_summary && !summarized.is_empty();
        let summarize = is_plan.then(|| self.summarize(&summarized));
        let report = Report {
            format: self.format.name(),
            strategy: self.options.strategy,
            limit: self.options.limit,
            tokens,
            truncated: !same,
            messages: rows,
            edits,
            added,
            diagnostics: self.found,
        };
        Fitted { messages: (!same).then_some(leaves), report, summarize }
    }

    /// The changes of a message that stays, and the rows of its parts.
    fn changes(
        &self,
        message: &Message<'_>,
        is_gone: impl Fn(usize) -> bool,
        cut: (Fate, Option<Reason>),
    ) -> (Vec<Json>, Vec<Row>) {
        let mut changes = Vec::new();
        let mut parts = Vec::new();
        let mut removed: Vec<&[Step]> = Vec::new();
        for (index, piece) in message.pieces.iter().enumerate() {
            let tokens = piece.tokens;
            if is_gone(index) || !piece.is_there() {
                removed.extend(piece.places.iter().map(Vec::as_slice));
                let (fate, reason) = piece.removed.map_or(cut, |reason| (Fate::Cut, Some(reason)));
                parts.push(Row { index, fate, reason, tokens, parts: Vec::new() });
            } else if piece.changed.is_some() {
                for change in &piece.changes {
                    match change {
                        Change::Set(path, value) => changes.push(json!([path, value])),
                        Change::Remove(path) => changes.push(json!([path])),
                    }
                }
                parts.push(Row { index, fate: Fate::Changed, reason: piece.changed, tokens, parts: Vec::new() });
            }
        }
        // They are made from the back.
        sorting::sort(&mut removed);
        // A list of calls that is empty is refused: its key goes.
        let places = || message.pieces.iter().flat_map(|piece| &piece.places);
        let mut done: Vec<&[Step]> = Vec::new();
        for place in &removed {
            let list = place.split_last().map_or(&[][..], |(_, list)| list);
            let is_calls =
                list.last() == Some(&Step::Key("tool_calls")) && !(self.format == Format::LangChain && list.len() == 1);
            let count = |list: &[Step]| {
                places().filter(|place| place.split_last().is_some_and(|(_, in_list)| in_list == list)).count()
            };
            let gone = || {
                removed.iter().filter(|place| place.split_last().is_some_and(|(_, in_list)| in_list == list)).count()
            };
            if is_calls && count(list) == gone() {
                if !done.contains(&list) {
                    done.push(list);
                    changes.push(json!([list]));
                }
            } else {
                changes.push(json!([place]));
            }
        }
        (changes, parts)
    }

    /// What is to be summarized.
    fn summarize(&self, indices: &[usize]) -> Json {
        let mut text = String::new();
        for message in indices.iter().filter_map(|&at| self.messages.get(at)) {
            let who = match message.role {
                Role::System => "system",
                Role::User => "user",
                Role::Assistant => "assistant",
                Role::Tool => "tool",
            };
            for piece in message.pieces.iter().filter(|piece| piece.is_there()) {
                let said: Vec<&str> =
                    piece.texts.iter().map(|text| &*text.text).filter(|text| !is_blank(text)).collect();
                let line: Cow<'_, str> = match &piece.kind {
                    Kind::Call { name, .. } => format!("[calls {name}]").into(),
                    Kind::CallAndResult { name } => format!("[calls {name}]\n{}", said.join("\n")).into(),
                    Kind::Image => "[image]".into(),
                    _ if said.is_empty() => continue,
                    _ => said.join("\n").into(),
                };
                text.push_str(if text.is_empty() { "" } else { "\n\n" });
                text.push_str(who);
                text.push_str(": ");
                text.push_str(&line);
            }
        }
        let previous =
            self.messages.iter().filter(|message| message.removed == Some(Reason::Replaced)).find_map(|message| {
                text_of(message).and_then(|text| text.strip_prefix(SUMMARY_PREFIX)).map(str::to_owned)
            });
        let prefix = self.prices.text(SUMMARY_PREFIX);
        let mut input =
            json!({ "indices": indices, "text": text, "maxTokens": self.options.summary.saturating_sub(prefix) });
        if let (Some(previous), Some(input)) = (previous, input.as_object_mut()) {
            input.insert("previousSummary".to_owned(), Json::String(previous));
        }
        input
    }
}
