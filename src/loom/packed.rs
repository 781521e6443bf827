//! Dialogues and reports as `[numbers, ids, ...values]`, from which pkg/src/api/packed.ts makes objects. The numbers
//! and ids of large ones are passed as bytes. docs/decisions/json-boundary.md has the measurements.
//!
//! An absent value is −1 among the numbers and `null` among the values. Enumerations are indices of the lists in
//! packed.ts, which have the same order.

use std::ptr;

use serde::Serialize;

use super::dialogue::DialogueAssembly;
use super::fit_state::FitState;
use super::report::{LoomAwareTokens, NodeReport, Report, ReportSummary};
use super::resident::{Change, DialogueDelta};
use super::tree::{NodeIx, Tree};
use crate::assembly::settings::Protect;
use crate::call::Response;
use crate::content::Block;
use crate::error::Result;
use crate::json;
use crate::prompt::Message;
use crate::text::utf16_len;

/// At most this many numbers are written into the JSON.
const MAX_INLINE_NUMBERS: usize = 256;

#[derive(Debug)]
struct Packed<'t> {
    numbers: Vec<i64>,
    /// The ids of rows, concatenated. Separate from other texts, since ASCII is read faster.
    ids: String,
    /// JSON values, each followed by a comma.
    values: Vec<u8>,
    /// The tree, if the caller has its nodes: ids and texts are then indices of its nodes.
    tree: Option<&'t Tree<'t>>,
}

pub(super) fn report_summary(report: &ReportSummary, state: Option<&FitState>) -> Result<Response> {
    let mut packed = Packed::new(None);
    packed.report(report, state)?;
    packed.close()
}

/// The new part of a dialogue, with a report in numbers.
pub(super) fn dialogue_delta(delta: &DialogueDelta<'_>) -> Result<Response> {
    let mut packed = Packed::new(None);
    packed.report(&delta.report, delta.state.as_ref())?;
    packed.dialogue(delta)?;
    packed.close()
}

/// The new part of a dialogue, with the complete report.
pub(super) fn assembly_delta(delta: &DialogueDelta<'_, Report<'_>>) -> Result<Response> {
    let mut packed = Packed::new(None);
    packed.report(&ReportSummary::of(&delta.report), delta.state.as_ref())?;
    packed.rows(&delta.report)?;
    packed.dialogue(delta)?;
    packed.close()
}

/// A dialogue; with a `tree`, ids and texts are indices of its nodes.
pub(super) fn assembly(tree: Option<&Tree<'_>>, assembly: &DialogueAssembly<'_>) -> Result<Response> {
    let DialogueAssembly { system, messages, report, state } = assembly;
    let mut packed = Packed::new(tree);
    packed.report(&ReportSummary::of(report), state.as_ref())?;
    packed.rows(report)?;
    packed.number(0);
    packed.text(system.as_deref())?;
    messages.iter().try_for_each(|message| packed.message(message, false))?;
    packed.close()
}

impl<'t> Packed<'t> {
    fn new(tree: Option<&'t Tree<'t>>) -> Self {
        Self {
            numbers: Vec::with_capacity(MAX_INLINE_NUMBERS),
            ids: String::new(),
            values: Vec::with_capacity(1024),
            tree,
        }
    }

    fn number(&mut self, number: impl Into<i64>) {
        self.numbers.push(number.into());
    }

    fn count(&mut self, count: u64) {
        self.numbers.push(i64::try_from(count).unwrap_or(i64::MAX));
    }

    fn size(&mut self, size: usize) {
        self.count(size as u64);
    }

    fn value(&mut self, value: &impl Serialize) -> Result<()> {
        json::append(&mut self.values, value)?;
        self.values.push(b',');
        Ok(())
    }

    fn text(&mut self, text: Option<&str>) -> Result<()> {
        self.value(&text)
    }

    #[expect(clippy::cast_precision_loss, reason = "JavaScript has no other numbers")]
    fn close(self) -> Result<Response> {
        let Self { numbers, ids, values, .. } = self;
        let many = numbers.len() > MAX_INLINE_NUMBERS;
        let mut json = Vec::with_capacity(values.len() + 8 * MAX_INLINE_NUMBERS);
        json.push(b'[');
        json::append(&mut json, if many { &[][..] } else { &numbers })?;
        json.push(b',');
        json::append(&mut json, if many { "" } else { &ids })?;
        json.push(b',');
        json.extend_from_slice(&values);
        // Removes the comma after the last value.
        json.pop();
        json.push(b']');
        if !many {
            return Ok(Response { json, bytes: Vec::new(), small: None });
        }
        let mut bytes = vec![0; numbers.len() * size_of::<f64>()];
        for (place, number) in bytes.chunks_exact_mut(size_of::<f64>()).zip(numbers) {
            place.copy_from_slice(&(number as f64).to_le_bytes());
        }
        Ok(Response { json, bytes: vec![bytes, ids.into_bytes()], small: None })
    }

    /// A report in numbers, in the order of its fields; in a series with the state for the next dialogue.
    fn report(&mut self, report: &ReportSummary, state: Option<&FitState>) -> Result<()> {
        let ReportSummary { tokens, cut, prefix, preferences, diagnostics, body, headers, .. } = report;
        self.number(report.strategy as u32);
        self.count(report.limit);
        [tokens.system, tokens.messages, tokens.overhead, tokens.total].into_iter().for_each(|count| self.count(count));
        self.text(Some(&tokens.tokenizer))?;
        self.number(tokens.tokenizer_error.map_or(-1, i64::from));
        match tokens.loom_aware {
            None => self.number(-1),
            Some(LoomAwareTokens { addendum, memory, headers, loom_block }) => {
                [addendum, memory, headers, loom_block].into_iter().for_each(|count| self.count(count));
            }
        }
        self.number(u32::from(report.truncated));
        match cut {
            None => self.number(-1),
            Some(cut) => {
                self.size(cut.nodes);
                self.size(cut.partial_nodes);
                self.count(cut.tokens);
                self.size(cut.position);
                self.text(cut.marker.as_deref())?;
            }
        }
        match prefix {
            None => self.number(-1),
            Some(prefix) => {
                self.number(1);
                self.value(prefix)?;
                self.value(&state)?;
            }
        }
        self.number(u32::from(report.minimum_recent_nodes_met));
        self.size(report.path_length);
        self.number(preferences.truncation_strategy as u32);
        self.count(preferences.minimum_recent_nodes);
        self.count(preferences.token_buffer);
        self.text(Some(&preferences.truncation_marker))?;
        self.count(preferences.cut_step);
        self.number(preferences.start_on as u32);
        let protects = |one| u32::from(preferences.protect.contains(&one));
        self.number(protects(Protect::FirstUser) + 2 * protects(Protect::LastUser));
        self.number(preferences.fill as u32);
        self.value(diagnostics)?;
        self.value(body)?;
        self.value(headers)
    }

    /// The parts of a report other than its numbers: whether nodes are slots; the number of rows; for each row its id,
    /// a code for its part, fate and reason, its tokens, for a changed node the remaining tokens, and its message plus
    /// one; the lists of ids; the number of nodes not on the path; and the local ids.
    ///
    /// The id of a row is the length of its part of the ids, in UTF-16, or the slot of a node if the caller has the
    /// nodes.
    fn rows(&mut self, report: &Report<'_>) -> Result<()> {
        self.number(u32::from(self.tree.is_some()));
        self.size(report.nodes.len());
        self.numbers.reserve(report.nodes.len() * 4);
        for row in &report.nodes {
            match self.tree {
                None => {
                    self.ids.push_str(row.node_id);
                    self.size(utf16_len(row.node_id));
                }
                Some(tree) => self.place(tree, row.node_id),
            }
            let reason = row.reason.map_or(0, |reason| reason as u32 + 1);
            self.number(row.part as u32 + 8 * (row.fate as u32 + 8 * (u32::from(row.pinned) + 2 * reason)));
            self.count(row.tokens);
            row.tokens_after.into_iter().for_each(|tokens| self.count(tokens));
            self.size(row.message.map_or(0, |message| message + 1));
        }
        self.ids(&report.path, report)?;
        if let Some(cut) = &report.cut {
            self.ids(&cut.node_ids, report)?;
            self.ids(&cut.partial_node_ids, report)?;
        }
        self.size(report.not_on_path);
        let local_ids = (!report.local_ids.is_empty()).then_some(&report.local_ids);
        self.value(&local_ids)
    }

    /// The number of runs, and each run: its first row and the number of rows, or −1 with the next id in the list.
    fn ids(&mut self, ids: &[&str], report: &Report<'_>) -> Result<()> {
        let mut runs: Vec<(Option<usize>, usize)> = Vec::new();
        // Both are in the order of the path; after the first that is not, none is searched for.
        let mut next = Some(0);
        for id in ids {
            // Usually it is the same text in memory.
            let is_it = |(_, row): &(usize, &NodeReport<'_>)| ptr::eq(row.node_id, *id) || row.node_id == *id;
            let row = next.and_then(|next| report.nodes.iter().enumerate().skip(next).find(is_it)).map(|(at, _)| at);
            next = row.map(|row| row + 1);
            match (runs.last_mut(), row) {
                (Some((Some(from), count)), Some(row)) if *from + *count == row => *count += 1,
                _ => runs.push((row, 1)),
            }
            if row.is_none() {
                self.text(Some(id))?;
            }
        }
        self.size(runs.len());
        for (from, count) in runs {
            match from {
                Some(from) => self.size(from),
                None => self.number(-1),
            }
            self.size(count);
        }
        Ok(())
    }

    /// The number of a dialogue, the system context, and its messages: the index of a message in the previous dialogue
    /// with the number of equal messages from there on, or a new message.
    fn dialogue<R>(&mut self, delta: &DialogueDelta<'_, R>) -> Result<()> {
        self.number(delta.number);
        self.text(delta.system.as_deref())?;
        delta.changes.iter().try_for_each(|change| match change {
            Change::Same { from, count } => {
                self.size(*from);
                self.size(*count);
                Ok(())
            }
            Change::New { message, keep } => self.message(message, *keep),
        })
    }

    /// −1 minus the role of a message, or −11 minus its role if it is not to be kept; its nodes, its content, and its
    /// spans.
    fn message(&mut self, message: &Message<'_>, keep: bool) -> Result<()> {
        self.number(if keep { -1 } else { -11 } - message.role as i32);
        self.size(message.node_ids.len());
        for id in &message.node_ids {
            match self.tree {
                None => self.text(Some(id))?,
                Some(tree) => self.place(tree, id),
            }
        }
        self.content(message)?;
        self.spans(message);
        Ok(())
    }

    /// 0 with the content in the list; or the number of pieces of its text, and each piece: the slot of a node with
    /// exactly this text, or −1 with the text in the list.
    fn content(&mut self, message: &Message<'_>) -> Result<()> {
        let Some(pieces) = self.tree.and_then(|tree| pieces(tree, message)) else {
            self.number(0);
            return match message.content.as_slice() {
                [Block::Text(text)] => self.value(text),
                blocks => self.value(&blocks),
            };
        };
        self.size(pieces.len());
        pieces.into_iter().try_for_each(|piece| match piece {
            Piece::Node(place) => {
                self.number(place);
                Ok(())
            }
            Piece::Text(text) => {
                self.number(-1);
                self.text(Some(text))
            }
        })
    }

    /// The number of spans, and each span: the index of its node in the message, the part or −1, start and end.
    fn spans(&mut self, message: &Message<'_>) {
        self.size(message.spans.len());
        let mut node = 0;
        for span in &message.spans {
            // They are in the order of the nodes.
            while message.node_ids.get(node).is_some_and(|id| *id != span.node_id) {
                node += 1;
            }
            self.size(node);
            match span.part {
                Some(part) => self.size(part),
                None => self.number(-1),
            }
            self.size(span.start);
            self.size(span.end);
        }
    }

    fn place(&mut self, tree: &Tree<'_>, id: &str) {
        self.number(tree.find_opt(id).unwrap_or_default());
    }
}

enum Piece<'m> {
    Node(NodeIx),
    Text(&'m str),
}

/// The text of a message as texts of nodes and the text between them; `None` if one of them was trimmed or cut, or
/// follows a header.
fn pieces<'m>(tree: &Tree<'_>, message: &'m Message<'_>) -> Option<Vec<Piece<'m>>> {
    let [Block::Text(text)] = message.content.as_slice() else { return None };
    let mut rest: &'m str = text;
    let mut pieces = Vec::with_capacity(message.spans.len() * 2);
    for span in &message.spans {
        let place = tree.find_opt(span.node_id)?;
        let [Block::Text(node)] = tree.at(place).content.as_slice() else { return None };
        let joined = rest.strip_prefix("\n\n").filter(|_| !pieces.is_empty());
        if let Some(after) = joined {
            pieces.push(Piece::Text("\n\n"));
            rest = after;
        }
        let node: &str = node.as_ref();
        // The message of one node usually is that text itself.
        rest = if ptr::eq(rest, node) { "" } else { rest.strip_prefix(node)? };
        pieces.push(Piece::Node(place));
    }
    (rest.is_empty() && !pieces.is_empty()).then_some(pieces)
}
