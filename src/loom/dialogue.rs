//! Dialogue mode: a path becomes messages (SPEC §1 "Dialogue").

use std::borrow::Cow;

use serde::Serialize;

use crate::collect;
use crate::error::{Diagnostic, DiagnosticCode, Result, Severity};
use crate::loom::assemble::{Draft, leave_out};
use crate::loom::aware;
use crate::loom::bound;
use crate::loom::layout::{Item, Kept, Layout, render};
use crate::loom::parts;
use crate::loom::preferences::{DIALOGUE_MARKER, StartOn, Strategy, TEXT_MARKER};
use crate::loom::report::{Cached, Cut, Fate, Reason, Report, Tokens};
use crate::loom::request::{Options, SystemPlacement};
use crate::loom::select::Mode;
use crate::loom::shorten::{From, Shorten, inline_marker};
use crate::loom::tools;
use crate::loom::tree::Tree;
use crate::loom::truncate::Overfull;
use crate::prompt::{Content, Fingerprint, Message, Prices, Role};
use crate::tokens::Counter;

/// A dialogue ready to be sent.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DialogueAssembly<'a> {
    /// The combined system context; absent when empty, and when it stands in `messages`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system: Option<String>,
    /// The messages, oldest first.
    pub messages: Vec<Message<'a>>,
    /// What was done, and why.
    pub report: Report<'a>,
}

/// Assembles the path into messages that stay under the limit (SPEC §1).
///
/// # Errors
/// Those of the path ([`PathCycle`](crate::Code::PathCycle), [`NodeNotFound`](crate::Code::NodeNotFound),
/// [`AmbiguousPath`](crate::Code::AmbiguousPath), [`EdgeWithoutSource`](crate::Code::EdgeWithoutSource),
/// [`InvalidChoice`](crate::Code::InvalidChoice)) and of the budget ([`InvalidBudget`](crate::Code::InvalidBudget),
/// [`SystemContextTooLong`](crate::Code::SystemContextTooLong), [`ContextTooLong`](crate::Code::ContextTooLong)).
pub fn assemble_dialogue<'a>(
    tree: &'a Tree<'a>,
    options: &'a Options,
    counter: &'a dyn Counter,
) -> Result<DialogueAssembly<'a>> {
    assemble(tree, options, counter, false)
}

/// The same messages, where nobody asks for the report: what cannot be over the limit is not counted, and then the token
/// numbers of the report mean nothing.
pub(crate) fn assemble_messages<'a>(
    tree: &'a Tree<'a>,
    options: &'a Options,
    counter: &'a dyn Counter,
) -> Result<DialogueAssembly<'a>> {
    assemble(tree, options, counter, true)
}

fn assemble<'a>(
    tree: &'a Tree<'a>,
    options: &'a Options,
    counter: &'a dyn Counter,
    messages_only: bool,
) -> Result<DialogueAssembly<'a>> {
    let mut draft = Draft::new(tree, options, counter, Mode::Dialogue, DIALOGUE_MARKER)?;
    let conversation = {
        let selection = &mut draft.selection;
        tools::repair(tree, &selection.entries, &mut selection.rows, &mut draft.diagnostics)
    };
    if messages_only && bound::fits(&draft, &conversation) {
        draft.prices.counter = &bound::Uncounted;
    }
    let mut items = items(&mut draft, &conversation);
    if items.is_empty() && !draft.steps.is_empty() {
        let message = "every node of the path was left out, so there are no messages";
        draft.diagnostics.push(Diagnostic::new(DiagnosticCode::NoMessages, Severity::Warning, message));
    }

    let overhead = options.overhead;
    let system_message = matches!(options.system_placement, SystemPlacement::Message(_)) && !draft.system.is_empty();
    let system_tokens = draft.prices.text(&draft.system);
    let fixed = system_tokens + overhead.per_request + if system_message { overhead.per_message } else { 0 };
    draft.check_system(fixed)?;

    let mut units = conversation.units;
    let added = aware::apply(&mut draft, &mut items, &mut units, fixed)?;
    let marker = draft.settings.truncation_marker.clone();
    let layout = Layout::new(items, draft.prices, marker, fixed);
    let outcome = truncate(&draft, &layout, &units)?;

    let messages = render(outcome.items(&layout), outcome.kept, outcome.marker.as_deref());
    // The layout knows what the messages cost, but for texts that were shortened since.
    let content: u64 = match &outcome.shorter {
        None => {
            let overhead = options.overhead.per_message * messages.len() as u64;
            layout.costs().kept(outcome.kept, outcome.marker.is_some()).saturating_sub(fixed + overhead)
        }
        Some(_) => messages.iter().map(|message| draft.prices.message(message)).sum(),
    };
    debug_assert_eq!(content, messages.iter().map(|message| draft.prices.message(message)).sum::<u64>(), "the recount");
    let count = messages.len() as u64 + u64::from(system_message);
    let overhead = overhead.per_request + overhead.per_message * count;
    let tokens = Tokens {
        system: system_tokens,
        messages: content,
        overhead,
        total: system_tokens + content + overhead,
        tokenizer: counter.name().to_owned(),
        loom_aware: added.as_ref().map(|added| added.tokens(outcome.kept(&layout), &draft.prices)),
    };
    debug_assert!(tokens.total <= draft.limit, "over the limit");
    let mut assembly = finish(draft, &layout, outcome, messages, tokens, messages_only);
    if let Some(added) = added {
        added.report(&mut assembly.report);
    }
    Ok(assembly)
}

fn items<'a>(draft: &mut Draft<'a>, conversation: &tools::Conversation<'a>) -> Vec<Item<'a>> {
    let mut items = Vec::with_capacity(conversation.entries.len());
    for (entry, blocks) in conversation.entries.iter().zip(&conversation.blocks) {
        let id = draft.tree.at(entry.node).id.as_str();
        let parts = parts::parts(blocks, id, &draft.options.media, &mut draft.diagnostics);
        let alone = parts.iter().map(|part| draft.prices.part(part)).sum();
        items.push(Item { entry: *entry, id: Some(id), parts, alone, headed: None });
    }
    items
}

/// What is kept of the conversation.
struct Outcome<'a> {
    /// The items with some of them shortened, where that was needed.
    shorter: Option<Vec<Item<'a>>>,
    kept: Kept,
    marker: Option<String>,
    /// Which items were shortened.
    shortened: Vec<usize>,
}

impl<'a> Outcome<'a> {
    fn items<'o>(&'o self, layout: &'o Layout<'a>) -> &'o [Item<'a>] {
        self.shorter.as_deref().unwrap_or(&layout.items)
    }

    /// The items that are in the result.
    fn kept<'o>(&'o self, layout: &'o Layout<'a>) -> impl Iterator<Item = &'o Item<'a>> {
        let items = self.items(layout);
        let Kept { head, tail } = self.kept;
        items.iter().take(head).chain(items.iter().skip(tail))
    }
}

fn truncate<'a>(draft: &Draft<'a>, layout: &Layout<'a>, units: &[usize]) -> Result<Outcome<'a>> {
    let costs = layout.costs();
    let count = costs.len();
    let total = costs.total();
    if total <= draft.limit {
        let kept = Kept { head: count, tail: count };
        return Ok(Outcome { shorter: None, kept, marker: None, shortened: Vec::new() });
    }
    let of_each = || layout.items.iter().filter_map(|item| Some((item.id?, item.alone)));
    let strategy = draft.settings.truncation_strategy;
    let overfull = Overfull { layout: costs, units, limit: draft.limit, settings: &draft.settings };
    let (kept, from) = match strategy {
        Strategy::StopAtLimit => {
            let advice = "exclude nodes, or use a model with a larger context window";
            return Err(draft.too_long(total, of_each(), advice));
        }
        Strategy::TruncateMiddle => (overfull.middle(), From::Middle),
        Strategy::RollingWindow => (overfull.rolling(), From::Head),
    };
    if let Some(kept) = kept {
        let gap = kept.tail - kept.head;
        let marker = (strategy == Strategy::TruncateMiddle).then(|| costs.marker(gap)).flatten();
        return Ok(Outcome { shorter: None, kept, marker, shortened: Vec::new() });
    }
    let start = units.iter().rev().nth(1).copied().unwrap_or(0);
    shorten(draft, layout, start, from).ok_or_else(|| {
        let advice = "not even its newest message fits when it is shortened; use a larger context window";
        draft.too_long(total, of_each(), advice)
    })
}

/// Keeps the last unit alone, with its texts cut.
fn shorten<'a>(draft: &Draft<'a>, layout: &Layout<'a>, start: usize, from: From) -> Option<Outcome<'a>> {
    let costs = layout.costs();
    let lead = costs.lead();
    let before = start - lead;
    let gap = (from == From::Middle && before > 0).then(|| costs.marker(before)).flatten();
    let custom = &draft.settings.truncation_marker;
    let marker = if custom == DIALOGUE_MARKER {
        TEXT_MARKER.to_owned()
    } else {
        inline_marker(&costs.marker(before).unwrap_or_default())
    };
    let budget = draft.limit.checked_sub(costs.fixed)?;
    let shorten = Shorten { from, marker: &marker, gap: gap.clone(), lead, budget, prices: draft.prices };
    let blocks = layout.items.iter().take(lead);
    let whole: Vec<Item<'a>> = blocks.chain(layout.items.iter().skip(start)).cloned().collect();
    let (unit, cut) = shorten.unit(&whole)?;
    let mut items = layout.items.get(..start)?.to_vec();
    items.extend(unit.into_iter().skip(lead));
    let shortened = cut.iter().map(|at| at + before).collect();
    Some(Outcome { shorter: Some(items), kept: Kept { head: lead, tail: start }, marker: gap, shortened })
}

fn finish<'a>(
    mut draft: Draft<'a>,
    layout: &Layout<'a>,
    outcome: Outcome<'a>,
    mut messages: Vec<Message<'a>>,
    tokens: Tokens,
    messages_only: bool,
) -> DialogueAssembly<'a> {
    let Outcome { shorter, kept, marker, shortened } = outcome;
    let items = shorter.as_deref().unwrap_or(&layout.items);
    let mut cut = Cut { position: kept.head.saturating_sub(layout.costs().lead()), ..Cut::default() };
    for item in layout.items.get(kept.head..kept.tail).unwrap_or_default() {
        cut.node_ids.extend(item.id);
        cut.tokens += item.alone;
        leave_out(&mut draft.selection.rows, item.entry.row, Fate::Cut, Reason::OverLimit);
    }
    for (before, after) in shortened.iter().filter_map(|&at| layout.items.get(at).zip(items.get(at))) {
        cut.partial_node_ids.extend(before.id);
        let left: u64 = after.parts.iter().map(|part| draft.prices.part(part)).sum();
        cut.tokens += before.alone.saturating_sub(left);
        leave_out(&mut draft.selection.rows, before.entry.row, Fate::Cut, Reason::Shortened);
    }
    cut.marker = marker;

    let mut costs = vec![None; draft.selection.rows.len()];
    for item in &layout.items {
        if let Some(cost) = costs.get_mut(item.entry.row) {
            *cost = Some(item.alone);
        }
    }
    let truncated = kept.tail > kept.head || !shortened.is_empty();
    let met = kept.tail <= layout.costs().recent(draft.settings.minimum_recent_nodes) && shortened.is_empty();
    if truncated
        && draft.settings.start_on == StartOn::User
        && messages.first().is_some_and(|first| first.role != Role::User)
    {
        let message = "no user message fits into the window; it begins with an assistant message";
        draft.diagnostics.push(Diagnostic::new(DiagnosticCode::StartOnUserUnmet, Severity::Warning, message));
    }

    let mut system = (!draft.system.is_empty()).then(|| std::mem::take(&mut draft.system));
    if let SystemPlacement::Message(role) = draft.options.system_placement
        && let Some(text) = system.take()
    {
        messages.insert(0, Message { role, content: Content::Text(Cow::Owned(text)), node_ids: Vec::new() });
    }
    let cache = cached(draft.options, system.as_deref(), &messages, &draft.prices, &tokens);
    let mut report = draft.report(tokens, |row| costs.get(row).copied().flatten());
    report.truncated = truncated;
    report.cut = truncated.then_some(cut);
    report.cache = cache;
    report.minimum_recent_nodes_met = !truncated || met;
    // Where nothing was cut, the body of a request has no use for this.
    if !messages_only || truncated {
        let places = places(&messages);
        for node in report.nodes.iter_mut() {
            node.message = places.get(node.node_id).copied();
        }
    }
    DialogueAssembly { system, messages, report }
}

/// How much of a dialogue is as it was in the previous one, where the options say what that was.
pub(crate) fn cached(
    options: &Options,
    system: Option<&str>,
    messages: &[Message<'_>],
    prices: &Prices<'_>,
    tokens: &Tokens,
) -> Option<Cached> {
    let previous = options.previous.as_ref()?;
    let now = Fingerprint::of(system, messages);
    let known = now.shared(previous);
    let messages = messages.get(..known.unwrap_or(0)).unwrap_or_default();
    let costs = messages.iter().map(|message| prices.message(message) + prices.overhead.per_message);
    let system = if known.is_some() && system.is_some() { tokens.system } else { 0 };
    Some(Cached { messages: messages.len(), tokens: costs.sum::<u64>() + system, fingerprint: Some(now.to_text()) })
}

/// For each node, the message that holds it.
fn places<'a>(messages: &[Message<'a>]) -> std::collections::BTreeMap<&'a str, usize> {
    let ids = messages.iter().enumerate().flat_map(|(at, message)| message.node_ids.iter().map(move |&id| (id, at)));
    collect::map(ids)
}
