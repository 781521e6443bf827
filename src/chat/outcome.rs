//! The decisions of a fit: the kept messages, the changes in them, and the report.

use serde::Serialize;

use super::entry::{Entry, move_results};
use super::fit::{Cut, Fit, SUMMARY_PREFIX};
use super::options::Phase;
use super::pairs::MessageSlice;
use super::report::{AddedKind, AddedMessage, EditEffect, Fate, Report, ReportRow, Tokens};
use super::state::FitState;
use crate::sorting;
use crate::text::is_blank;
use crate::vendors::chats::{text_of, user_message};
use crate::vendors::format::Format;
use crate::vendors::openai_chat;
use crate::vendors::pieces::message::{Change, Kind, Message, PER_REQUEST, Piece, Reason, Step};

/// The decisions of a fit about the messages of a chat.
#[derive(Debug, Serialize)]
pub(super) struct FitDecisions {
    /// The messages of the result; `None` if nothing changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub messages: Option<Vec<Entry>>,
    pub same: bool,
    /// The rows of the report, until they are moved into it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rows: Vec<Rows>,
    pub report: Report,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summarize: Option<SummaryInput>,
    /// The state for the next fit; a resident chat stores it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<FitState>,
}

impl FitDecisions {
    /// Expands all entries and rows one by one.
    pub(super) fn each(mut self, read: &[Message<'_>]) -> Self {
        for rows in std::mem::take(&mut self.rows) {
            match rows {
                Rows::One(row) => self.report.messages.push(row),
                Rows::Run(from, to, fate, reason) => {
                    for (index, message) in read.iter().enumerate().take(to).skip(from) {
                        let tokens = message.tokens();
                        self.report.messages.push(ReportRow {
                            index,
                            fate,
                            reason,
                            tokens,
                            tokens_after: None,
                            parts: Vec::new(),
                        });
                    }
                }
            }
        }
        if let Some(entries) = &mut self.messages {
            let mut all = Vec::with_capacity(read.len());
            for entry in entries.drain(..) {
                all.extend(entry.single());
            }
            *entries = all;
        }
        self
    }
}

/// The input of a summarizer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SummaryInput {
    /// Indices of the messages that are removed at least in part.
    pub indices: Vec<usize>,
    /// The removed content as text.
    pub text: String,
    /// The token limit of the summary.
    pub max_tokens: u64,
    /// The summary of an earlier fit, which the new one replaces.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub previous_summary: Option<String>,
}

/// Rows of the report.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum Rows {
    One(ReportRow),
    /// From one index to another, all without parts.
    Run(usize, usize, Fate, Option<Reason>),
}

/// Collects entries and rows.
#[derive(Debug, Default)]
struct Outcome {
    entries: Vec<Entry>,
    rows: Vec<Rows>,
    /// Messages in the result so far.
    count: usize,
    /// The message after the marker or summary.
    gap_before: Option<usize>,
}

impl Outcome {
    /// Adds unchanged messages.
    fn keep(&mut self, from: usize, to: usize) {
        self.count += to - from;
        match self.entries.last_mut() {
            Some(Entry::Run(_, end)) if *end == from => *end = to,
            _ => self.entries.push(Entry::Run(from, to)),
        }
        self.rows(from, to, Fate::Kept, None);
    }

    fn leave(&mut self, entry: Entry) {
        self.count += 1;
        self.entries.push(entry);
    }

    fn rows(&mut self, from: usize, to: usize, fate: Fate, reason: Option<Reason>) {
        match self.rows.last_mut() {
            Some(Rows::Run(_, end, last, why)) if *end == from && *last == fate && *why == reason => *end = to,
            _ => self.rows.push(Rows::Run(from, to, fate, reason)),
        }
    }
}

impl Fit<'_> {
    /// The result, with the report.
    pub(super) fn fitted(self, cut: &Cut, edits: Vec<EditEffect>) -> FitDecisions {
        let is_summary = cut.added.as_ref().is_some_and(|(kind, _)| *kind == AddedKind::Summary);
        let (fate, reason) = if is_summary { (Fate::Summarized, None) } else { (Fate::Cut, Some(Reason::OverLimit)) };
        let lead = self.lead();
        let mut tokens = Tokens {
            system: self.request_overhead.system,
            tools: self.request_overhead.tools,
            overhead: PER_REQUEST,
            ..Tokens::default()
        };
        let mut outcome = Outcome::default();
        let mut added = None;
        let mut next = 0;
        // Collects the messages to summarize.
        let (mut indices, mut summarized) = (Vec::new(), Transcript::default());
        let changed = self.messages.changed();
        let mut changed = changed.iter().copied().peekable();
        let (mut before, count) = (0, self.messages.len());
        // A marker before the first turn precedes everything except leading instructions.
        let mut first = cut.is_first.then_some(lead).or(cut.stands_before);
        let is_placed = first.is_some();
        while before < count {
            if first.take_if(|first| *first <= before).is_some() {
                self.put(cut, before, &mut outcome, &mut added);
            }
            let first_cut = cut.slices.get(next).map_or(count, |slice| slice.message);
            let index = first_cut.min(changed.peek().copied().unwrap_or(count)).min(first.unwrap_or(count));
            if before < index {
                // Unchanged.
                outcome.keep(before, index);
                let sums = [(before, index.min(lead)), (before.max(lead), index)];
                let [system, messages] = sums.map(|(from, to)| self.messages.read_sum(from, to.max(from)));
                tokens.system = tokens.system.saturating_add(system.content);
                tokens.messages = tokens.messages.saturating_add(messages.content);
                tokens.overhead = tokens.overhead.saturating_add(system.overhead).saturating_add(messages.overhead);
            }
            if first == Some(index) {
                before = index;
                continue;
            }
            if !is_summary {
                // Removed completely, and not changed otherwise.
                let end = changed.peek().copied().unwrap_or(count);
                let slices = cut.slices.get(next..).unwrap_or_default().iter().zip(index..end);
                let whole = slices.take_while(|(slice, at)| self.is_whole(slice, *at)).count();
                if whole > 0 {
                    if !is_placed {
                        self.put(cut, index, &mut outcome, &mut added);
                    }
                    outcome.rows(index, index + whole, fate, reason);
                    (before, next) = (index + whole, next + whole);
                    continue;
                }
            }
            before = index + 1;
            changed.next_if_eq(&index);
            let Some(message) = self.messages.get(index) else { break };
            let from = next;
            while cut.slices.get(next).is_some_and(|slice| slice.message == index) {
                next += 1;
            }
            let gone = cut.slices.get(from..next).unwrap_or_default();
            let is_gone = |place: usize| {
                let before = gone.partition_point(|slice| slice.from <= place).checked_sub(1);
                before.and_then(|at| gone.get(at)).is_some_and(|slice| place < slice.to)
            };
            let is_left =
                |(place, piece): (usize, &Piece<'_>)| !is_gone(place) && piece.is_there() && !piece.is_silent();
            let is_whole = !gone.is_empty() && !message.pieces.iter().enumerate().any(is_left);
            if is_summary && (!gone.is_empty() || message.removed == Some(Reason::FirstTurn)) {
                let is_gone = |place| is_gone(place) || message.removed.is_some();
                summarized.add(message, is_gone);
                indices.push(index);
            }
            // The calls of a message that continues after the gap would otherwise stay open.
            let begins = gone.first().is_some_and(|slice| slice.from == 0)
                || gone.last().is_some_and(|slice| slice.to < message.pieces.len());
            if begins && !is_placed {
                self.put(cut, index, &mut outcome, &mut added);
            }
            if let Some(reason) = message.removed {
                let is_covered = matches!(reason, Reason::Replaced | Reason::FirstTurn | Reason::OverLimit);
                let summarized = is_summary && is_covered;
                let why = Some(reason).filter(|reason| !(summarized && *reason == Reason::OverLimit));
                outcome.rows(index, index + 1, if summarized { fate } else { Fate::Cut }, why);
            } else if is_whole {
                outcome.rows(index, index + 1, fate, reason);
            } else {
                let (changes, parts) = self.changes(message, is_gone, (fate, reason));
                let pieces = message.pieces.iter().enumerate().filter(|&(place, _)| !is_gone(place));
                let kept: u64 = pieces.map(|(_, piece)| piece.now).sum();
                let steps = message.steps.saturating_sub(gone.len() as u64);
                let content = if index < lead { &mut tokens.system } else { &mut tokens.messages };
                *content = content.saturating_add(kept);
                tokens.overhead = tokens.overhead.saturating_add(message.overhead.saturating_mul(steps));
                if changes.is_empty() && parts.is_empty() {
                    outcome.keep(index, index + 1);
                } else {
                    outcome.leave(Entry::Changed(index, changes));
                    let reason = parts.first().and_then(|part| part.reason);
                    let tokens = message.tokens();
                    let tokens_after = Some(kept.saturating_add(message.overhead.saturating_mul(steps)));
                    let fate = Fate::Changed;
                    outcome.rows.push(Rows::One(ReportRow { index, fate, reason, tokens, tokens_after, parts }));
                }
            }
            if !begins && !gone.is_empty() && !is_placed {
                self.put(cut, index + 1, &mut outcome, &mut added);
            }
        }
        if first.is_some() {
            self.put(cut, count, &mut outcome, &mut added);
        }
        if !self.moved.is_empty() {
            outcome.entries = move_results(outcome.entries, &self.moved, &self.messages);
            let place = outcome.entries.iter().position(|entry| matches!(entry, Entry::Added(_)));
            added.as_mut().zip(place).into_iter().for_each(|(added, place)| added.index = place);
        }
        if let Some(added) = &added {
            let overhead = self.message_overhead();
            tokens.overhead = tokens.overhead.saturating_add(overhead);
            tokens.messages = tokens.messages.saturating_add(added.tokens.saturating_sub(overhead));
        }
        tokens.total =
            tokens.system.saturating_add(tokens.messages).saturating_add(tokens.tools).saturating_add(tokens.overhead);
        self.prices.counter.name().clone_into(&mut tokens.tokenizer);
        tokens.tokenizer_error = self.prices.counter.error_percent();
        debug_assert!(tokens.total <= self.limit || self.phase == Phase::Plan, "over the limit");
        let is_kept = |rows: &Rows| matches!(rows, Rows::Run(_, _, Fate::Kept, _));
        let same = outcome.rows.iter().all(is_kept) && added.is_none();
        let is_plan = self.phase == Phase::Plan && is_summary && cut.summary.is_none();
        let summarize = is_plan.then(|| self.summarize(indices, summarized.text));
        let (body, headers) = self.drop_block().unzip();
        let (state, prefix) = self.concluded(cut, &outcome.entries, outcome.gap_before);
        let report = Report {
            format: self.format,
            strategy: self.options.truncation_strategy,
            limit: self.limit,
            tokens,
            truncated: !same,
            messages: Vec::new(),
            edits,
            added,
            prefix,
            body,
            headers,
            diagnostics: self.diagnostics,
        };
        let state = Some(FitState::new(state));
        FitDecisions {
            messages: (!same || !self.moved.is_empty()).then_some(outcome.entries),
            same: same && self.moved.is_empty(),
            rows: outcome.rows,
            report,
            summarize,
            state,
        }
    }

    /// Puts the marker or the summary before a message, unless it is already in the result.
    fn put(&self, cut: &Cut, before: usize, outcome: &mut Outcome, added: &mut Option<AddedMessage>) {
        if let (Some((kind, text)), None) = (&cut.added, &added) {
            let tokens = self.message_overhead().saturating_add(self.prices.text(text));
            outcome.gap_before = Some(before);
            *added = Some(AddedMessage { kind: *kind, index: outcome.count, text: text.clone(), tokens });
            outcome.leave(Entry::Added(user_message(self.format, text)));
        }
    }

    /// Whether a slice is the whole message.
    fn is_whole(&self, slice: &MessageSlice, message: usize) -> bool {
        let pieces = self.messages.get(message).map(|message| message.pieces.len());
        slice.message == message && slice.from == 0 && pieces == Some(slice.to)
    }

    /// The changes of a kept message, and the rows of its parts.
    pub(super) fn changes(
        &self,
        message: &Message<'_>,
        is_gone: impl Fn(usize) -> bool,
        cut: (Fate, Option<Reason>),
    ) -> (Vec<Change>, Vec<ReportRow>) {
        let mut changes = Vec::new();
        let mut parts = Vec::new();
        let mut removed: Vec<&[Step]> = Vec::new();
        for (index, piece) in message.pieces.iter().enumerate() {
            let tokens = piece.tokens;
            if is_gone(index) || !piece.is_there() {
                removed.extend(piece.places.iter().map(Vec::as_slice));
                let (fate, reason) = piece.removed.map_or(cut, |reason| (Fate::Cut, Some(reason)));
                parts.push(ReportRow { index, fate, reason, tokens, tokens_after: None, parts: Vec::new() });
            } else if piece.changed.is_some() {
                changes.extend_from_slice(&piece.changes);
                let (fate, reason, tokens_after) = (Fate::Changed, piece.changed, Some(piece.now));
                parts.push(ReportRow { index, fate, reason, tokens, tokens_after, parts: Vec::new() });
            }
        }
        // Removals are made from the last to the first.
        sorting::sort(&mut removed);
        let list_of = |place: &[Step]| place.split_last().map_or(0, |(_, list)| list.len());
        for places in removed.chunk_by(|one, other| one.get(..list_of(one)) == other.get(..list_of(other))) {
            let list = places.first().and_then(|place| place.get(..list_of(place))).unwrap_or_default();
            let is_calls =
                openai_chat::pieces::is_call_list(list) && !(self.format == Format::LangChain && list.len() == 1);
            let all = message.pieces.iter().flat_map(|piece| &piece.places);
            let is_in_list = |place: &&Vec<Step>| place.get(..list_of(place)) == Some(list);
            // An empty list of calls is rejected: its key is removed.
            if is_calls && all.filter(is_in_list).count() == places.len() {
                changes.push(Change::Remove([list.to_vec()]));
            } else {
                changes.extend(places.iter().map(|place| Change::Remove([place.to_vec()])));
            }
        }
        (changes, parts)
    }

    /// The input of a summarizer.
    fn summarize(&self, indices: Vec<usize>, text: String) -> SummaryInput {
        let previous_summary =
            self.messages.iter().filter(|message| message.removed == Some(Reason::Replaced)).find_map(|message| {
                text_of(message).and_then(|text| text.strip_prefix(SUMMARY_PREFIX)).map(str::to_owned)
            });
        let max_tokens = self.summary_limit.saturating_sub(self.prices.text(SUMMARY_PREFIX));
        SummaryInput { indices, text, max_tokens, previous_summary: self.recorded_summary().or(previous_summary) }
    }
}

/// The text to summarize.
#[derive(Debug, Default)]
struct Transcript {
    text: String,
    /// The ids and tools of its calls.
    calls: Vec<(String, String)>,
}

impl Transcript {
    /// Adds the removed content of a message.
    fn add(&mut self, message: &Message<'_>, is_gone: impl Fn(usize) -> bool) {
        let gone = message.pieces.iter().enumerate().filter(|&(place, piece)| is_gone(place) && piece.is_there());
        for (_, piece) in gone {
            let texts: Vec<&str> = piece.texts.iter().map(|text| &*text.text).filter(|text| !is_blank(text)).collect();
            let texts = texts.join("\n");
            let line = match &piece.kind {
                Kind::Call { id, name } => self.call(id, name, piece),
                Kind::CallAndResult { name } => [self.call("", name, piece), texts].join("\n"),
                Kind::Result { id } if !texts.is_empty() => [self.result(id), texts].join("\n"),
                Kind::Image => "[image]".to_owned(),
                _ if texts.is_empty() => continue,
                _ => texts,
            };
            self.text.push_str(if self.text.is_empty() { "" } else { "\n\n" });
            self.text.push_str(message.role.as_str());
            self.text.push_str(": ");
            self.text.push_str(&line);
        }
    }

    /// A call with its number, which its result also has, and the beginning of its arguments.
    fn call(&mut self, id: &str, name: &str, piece: &Piece<'_>) -> String {
        self.calls.push((id.to_owned(), name.to_owned()));
        let number = self.calls.len();
        match &piece.input {
            Some(input) => format!("[call {number}: {name} {}]", input.shown),
            None => format!("[call {number}: {name}]"),
        }
    }

    fn result(&self, id: &str) -> String {
        let number = self.calls.iter().rposition(|(known, _)| known == id);
        match number.and_then(|number| Some((number, self.calls.get(number)?))) {
            Some((number, (_, name))) => format!("[result of call {}: {name}]", number + 1),
            None => "[result]".to_owned(),
        }
    }
}
