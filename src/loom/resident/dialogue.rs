//! Dialogues from a tree that stays.
//!
//! This is [`assemble_dialogue`](crate::loom::assemble_dialogue) over a [`Line`](super::line::Line): the same steps, but
//! that what the line knows already is not done again, and only what is kept is looked at node by node. Where the line is
//! of no use (an explicit path, included annotations), or nothing fits whole, the general function does the work.

use std::borrow::Cow;
use std::cell::RefCell;

use serde::Serialize;

use super::LoomTree;
use super::line::{Ground, Line, Member, View};
use crate::error::{Diagnostic, DiagnosticCode, Result, Severity};
use crate::loom::assemble::{self, leave_out};
use crate::loom::body::{body_of_buffer, body_of_dialogue, with_fallback};
use crate::loom::dialogue::{DialogueAssembly, assemble_dialogue};
use crate::loom::layout::{Costs, Kept, render};
use crate::loom::parts;
use crate::loom::preferences::{DIALOGUE_MARKER, Settings, StartOn, Strategy};
use crate::loom::report::{Cached, Cut, Fate, NodeReport, Reason, Report, Tokens};
use crate::loom::request::{Options, SystemPlacement};
use crate::loom::system;
use crate::loom::tree::NodeIx;
use crate::loom::truncate::Overfull;
use crate::prompt::bodies::{Hints, Provider, Target, write_body};
use crate::prompt::{Content, Fingerprint, Message, Role};
use crate::tokens::Counter;
use crate::tokens::memory::Remembering;

/// A dialogue with the short account of it, whose size does not grow with the path.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DialogueSummary<'a> {
    /// The combined system context; absent when empty, and when it stands in `messages`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system: Option<String>,
    /// The messages, oldest first.
    pub messages: Vec<Message<'a>>,
    /// What was done, in numbers.
    pub report: ReportSummary,
}

/// A report without its lists of nodes.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReportSummary {
    /// The strategy in force.
    pub strategy: Strategy,
    /// `contextWindow − tokenBuffer`.
    pub limit: u64,
    /// Where the tokens went.
    pub tokens: Tokens,
    /// Whether anything was cut.
    pub truncated: bool,
    /// What was cut.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cut: Option<CutSummary>,
    /// How much of it is as it was in the previous one; there when the options have `previous`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache: Option<Cached>,
    /// Whether the protected recent nodes are all there, whole.
    pub minimum_recent_nodes_met: bool,
    /// How many nodes the path has, before exclusion.
    pub path_length: usize,
    /// The settings in force.
    pub preferences: Settings,
    /// What was found on the way.
    pub diagnostics: Vec<Diagnostic>,
}

/// The removed run, in numbers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CutSummary {
    /// How many nodes nothing is left of.
    pub nodes: usize,
    /// How many nodes a part is left of.
    pub partial_nodes: usize,
    /// Tokens removed, each node counted alone.
    pub tokens: u64,
    /// How many nodes of the conversation come before the cut.
    pub position: usize,
    /// The marker that stands in the gap.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub marker: Option<String>,
}

/// The body of a request, with the short account of it.
#[derive(Clone, Debug, PartialEq)]
pub struct SummarizedBody {
    /// JSON in UTF-8, ready to be sent.
    pub bytes: Vec<u8>,
    /// What was done; its diagnostics include what the provider cannot express.
    pub report: ReportSummary,
}

/// What a whole path costs, before anything is cut.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Measure {
    /// `contextWindow − tokenBuffer`.
    pub limit: u64,
    /// What the request would cost if all of the path were sent.
    pub tokens: Tokens,
    /// Tokens that are still free; negative by as much as the path is over the limit.
    pub remaining: i64,
    /// Nodes of the conversation: those of the path and its sources that no rule leaves out.
    pub nodes: usize,
    /// How many nodes the path has, before exclusion.
    pub path_length: usize,
}

/// A line with a budget.
struct Budgeted<'l, 'a> {
    ground: &'l Ground<'a>,
    line: &'l Line,
    settings: Settings,
    limit: u64,
    system: String,
    system_tokens: u64,
    /// Whether the system context is a message.
    in_message: bool,
    fixed: u64,
    diagnostics: Vec<Diagnostic>,
}

/// What of a line is sent.
struct Sent<'a> {
    kept: Kept,
    marker: Option<String>,
    messages: Vec<Message<'a>>,
    /// Which of them holds the marker.
    marker_at: Option<usize>,
    tokens: Tokens,
}

impl LoomTree {
    /// Assembles a dialogue: what [`assemble_dialogue`] gives for the tree as it is.
    ///
    /// # Errors
    /// As there.
    pub fn assemble_dialogue<'a>(
        &'a mut self,
        options: &'a Options,
        counter: &'a Remembering<'a>,
    ) -> Result<DialogueAssembly<'a>> {
        let ready = self.ready(options, counter)?;
        let this: &'a Self = self;
        if let Some((settings, limit)) = ready {
            let ground = this.ground(options, counter);
            if let Some((budgeted, sent)) = this.send(&ground, settings, limit) {
                return Ok(budgeted.finish(sent, &this.previous));
            }
        }
        this.assemble_anew(options, counter)
    }

    /// What the line is of no use for.
    fn assemble_anew<'a>(&'a self, options: &'a Options, counter: &'a Remembering<'a>) -> Result<DialogueAssembly<'a>> {
        let mut assembly = assemble_dialogue(&self.tree, options, counter)?;
        let now = Fingerprint::of(assembly.system.as_deref(), &assembly.messages);
        if options.previous.is_none() {
            let shared = now.shared(&self.previous.borrow());
            let prices = self.ground(options, counter).prices();
            let messages = assembly.messages.iter().take(shared.unwrap_or(0));
            let tokens: u64 = messages.map(|message| prices.message(message) + prices.overhead.per_message).sum();
            let system = if shared.is_some() && assembly.system.is_some() { assembly.report.tokens.system } else { 0 };
            let messages = shared.unwrap_or(0);
            assembly.report.cache = Some(Cached { messages, tokens: tokens + system, fingerprint: None });
        }
        self.previous.replace(now);
        Ok(assembly)
    }

    /// Assembles a dialogue with a short account of it. With this, what an assembly costs does not grow with the part
    /// of the path that is cut.
    ///
    /// # Errors
    /// As [`LoomTree::assemble_dialogue`].
    pub fn summarize_dialogue<'a>(
        &'a mut self,
        options: &'a Options,
        counter: &'a Remembering<'a>,
    ) -> Result<DialogueSummary<'a>> {
        self.summarize_with_places(options, counter).map(|(summary, _)| summary)
    }

    /// The same, and where it is known the places of the nodes that the messages hold, in order, each with how often what
    /// is there changed.
    pub(crate) fn summarize_with_places<'a>(
        &'a mut self,
        options: &'a Options,
        counter: &'a Remembering<'a>,
    ) -> Result<(DialogueSummary<'a>, Option<Vec<(NodeIx, u32)>>)> {
        let ready = self.ready(options, counter)?;
        let this: &'a Self = self;
        if let Some((settings, limit)) = ready {
            let ground = this.ground(options, counter);
            if let Some((budgeted, sent)) = this.send(&ground, settings, limit) {
                let Kept { head, tail } = sent.kept;
                let members = this.line.members.iter();
                let kept = members.clone().take(head).chain(members.skip(tail.max(head)));
                let stamp = |place: NodeIx| (place, this.stamps.get(place as usize).copied().unwrap_or(0));
                let places = kept.map(|member| stamp(member.entry.node)).collect();
                return Ok((budgeted.summarize(sent, &this.previous), Some(places)));
            }
        }
        Ok((summary(this.assemble_anew(options, counter)?), None))
    }

    /// Assembles the path and writes the body for a target, with a short account; as
    /// [`request_body`](crate::loom::request_body) writes it.
    ///
    /// # Errors
    /// As there.
    pub fn request_body(
        &mut self,
        options: &Options,
        target: &Target,
        counter: &Remembering<'_>,
    ) -> Result<SummarizedBody> {
        if target.provider == Provider::Completion {
            let assembly = self.assemble_buffer(options, counter)?;
            let (bytes, found) = body_of_buffer(&assembly, target)?;
            let mut report = report_summary(assembly.report);
            report.diagnostics.extend(found);
            return Ok(SummarizedBody { bytes, report });
        }
        if let Some((settings, limit)) = self.ready(options, counter)? {
            let ground = self.ground(options, counter);
            if let Some((budgeted, sent)) = self.send(&ground, settings, limit) {
                return budgeted.body(sent, target, &self.previous);
            }
        }
        let assembly = self.assemble_anew(options, counter)?;
        let (bytes, found) = body_of_dialogue(&assembly, target)?;
        let mut report = report_summary(assembly.report);
        report.diagnostics.extend(found);
        Ok(SummarizedBody { bytes, report })
    }

    /// What the whole path costs as a dialogue, and how far that is from the limit. Nothing is rendered.
    ///
    /// # Errors
    /// Those of the path and of the settings.
    pub fn measure_path(&mut self, options: &Options, counter: &Remembering<'_>) -> Result<Measure> {
        if let Some((settings, limit)) = self.ready(options, counter)? {
            let ground = self.ground(options, counter);
            return Ok(Budgeted::new(&ground, &self.line, settings, limit).measure());
        }
        // As much room as there can be: then nothing is cut, and the total is what all of it costs.
        let (_, limit) = assemble::settings(&self.tree, options, DIALOGUE_MARKER)?;
        let mut roomy = options.clone();
        roomy.context_window = ROOMY;
        roomy.preferences.token_buffer = Some(0.0);
        let assembly = assemble_dialogue(&self.tree, &roomy, counter)?;
        let total = assembly.report.tokens.total;
        Ok(Measure {
            limit,
            remaining: signed(limit).saturating_sub(signed(total)),
            nodes: assembly.messages.iter().map(|message| message.node_ids.len()).sum(),
            path_length: assembly.report.path.len(),
            tokens: assembly.report.tokens,
        })
    }

    /// What would be cut from the path as a dialogue, in the form that reports have; nothing where all of it fits.
    ///
    /// # Errors
    /// As [`LoomTree::assemble_dialogue`].
    pub fn would_cut<'a>(&'a mut self, options: &'a Options, counter: &'a Remembering<'a>) -> Result<Option<Cut<'a>>> {
        let ready = self.ready(options, counter)?;
        let this: &'a Self = self;
        if let Some((settings, limit)) = ready {
            let ground = this.ground(options, counter);
            let budgeted = Budgeted::new(&ground, &this.line, settings, limit);
            if let Some((kept, marker)) = budgeted.choose() {
                return Ok((kept.tail > kept.head).then(|| budgeted.cut(kept, marker)));
            }
        }
        Ok(assemble_dialogue(&this.tree, options, counter)?.report.cut)
    }

    fn ground<'a>(&'a self, options: &'a Options, counter: &'a Remembering<'a>) -> Ground<'a> {
        Ground { tree: &self.tree, held: &self.held, options, counter }
    }

    /// Settings and limit, with the line where the options want it; nothing where it cannot be of use for them.
    fn ready(&mut self, options: &Options, counter: &Remembering<'_>) -> Result<Option<(Settings, u64)>> {
        let (settings, limit) = assemble::settings(&self.tree, options, DIALOGUE_MARKER)?;
        Ok(self.line(options, counter)?.map(|_| (settings, limit)))
    }

    fn send<'l, 'a>(
        &'a self,
        ground: &'l Ground<'a>,
        settings: Settings,
        limit: u64,
    ) -> Option<(Budgeted<'l, 'a>, Sent<'a>)>
    where
        'a: 'l,
    {
        let budgeted = Budgeted::new(ground, &self.line, settings, limit);
        let (kept, marker) = budgeted.choose()?;
        let sent = budgeted.send(kept, marker);
        Some((budgeted, sent))
    }
}

/// The largest window that the settings take.
const ROOMY: f64 = 9_007_199_254_740_991.0;

impl<'l, 'a> Budgeted<'l, 'a> {
    fn new(ground: &'l Ground<'a>, line: &'l Line, settings: Settings, limit: u64) -> Self {
        let options = ground.options;
        let mut diagnostics: Vec<Diagnostic> = line.path_found.iter().rev().map(|(_, found)| found.clone()).collect();
        let instructions = &line.picked.selection.instructions;
        let prompt = options.system_prompt.as_deref();
        let system = system::combine(ground.tree, prompt, "", instructions, &mut diagnostics);
        let found = line.tools_found.iter().chain(&line.parts_found);
        diagnostics.extend(found.map(|(_, found)| found.clone()));
        if line.members.is_empty() {
            let message = "every node of the path was left out, so there are no messages";
            diagnostics.push(Diagnostic::new(DiagnosticCode::NoMessages, Severity::Warning, message));
        }
        let system_tokens = ground.prices().text(&system);
        let in_message = matches!(options.system_placement, SystemPlacement::Message(_)) && !system.is_empty();
        let overhead = options.overhead;
        let fixed = system_tokens + overhead.per_request + if in_message { overhead.per_message } else { 0 };
        Self { ground, line, settings, limit, system, system_tokens, in_message, fixed, diagnostics }
    }

    fn view(&self) -> View<'l, 'a> {
        View { ground: self.ground, members: &self.line.members }
    }

    fn costs<'c>(&'c self, view: &'c View<'l, 'a>) -> Costs<'c> {
        let marker = &self.settings.truncation_marker;
        Costs { items: view, sums: &self.line.sums, prices: self.ground.prices(), marker, fixed: self.fixed }
    }

    /// What is kept, and the marker for what is not. Nothing where the general function has to say it: where a text has
    /// to be cut, and where nothing may be or can be.
    fn choose(&self) -> Option<(Kept, Option<String>)> {
        if self.fixed > self.limit {
            return None;
        }
        let view = self.view();
        let costs = self.costs(&view);
        let count = costs.len();
        if costs.total() <= self.limit {
            return Some((Kept { head: count, tail: count }, None));
        }
        let units = &self.line.units;
        let overfull = Overfull { layout: costs, units, limit: self.limit, settings: &self.settings };
        match self.settings.truncation_strategy {
            Strategy::StopAtLimit => None,
            Strategy::TruncateMiddle => {
                let kept = overfull.middle()?;
                Some((kept, costs.marker(kept.tail - kept.head)))
            }
            Strategy::RollingWindow => Some((overfull.rolling()?, None)),
        }
    }

    fn send(&self, kept: Kept, marker: Option<String>) -> Sent<'a> {
        let (messages, marker_at) = self.messages(kept, marker.as_deref());
        let view = self.view();
        let costs = self.costs(&view);
        let total = costs.kept(kept, marker.is_some());
        let overhead = self.ground.options.overhead;
        let extra = self.fixed - self.system_tokens + overhead.per_message * messages.len() as u64;
        let tokens = self.tokens(total, extra);
        debug_assert_eq!(
            tokens.messages,
            messages.iter().map(|message| self.ground.prices().message(message)).sum::<u64>(),
            "the sums are the count"
        );
        Sent { kept, marker, messages, marker_at, tokens }
    }

    fn tokens(&self, total: u64, overhead: u64) -> Tokens {
        Tokens {
            system: self.system_tokens,
            messages: total.saturating_sub(self.system_tokens + overhead),
            overhead,
            total,
            tokenizer: self.ground.counter.name().to_owned(),
            loom_aware: None,
        }
    }

    fn measure(&self) -> Measure {
        let view = self.view();
        let costs = self.costs(&view);
        let total = costs.total();
        let count = costs.messages(0, costs.len());
        let overhead = self.fixed - self.system_tokens + self.ground.options.overhead.per_message * count;
        Measure {
            limit: self.limit,
            tokens: self.tokens(total, overhead),
            remaining: signed(self.limit).saturating_sub(signed(total)),
            nodes: costs.len(),
            path_length: self.line.steps.len(),
        }
    }

    /// The messages of what is kept, merged by role, with the marker in the gap; and which of them holds that.
    fn messages(&self, kept: Kept, marker: Option<&str>) -> (Vec<Message<'a>>, Option<usize>) {
        let members = &self.line.members;
        let head = members.get(..kept.head).unwrap_or(members);
        let tail = members.get(kept.tail..).unwrap_or_default();
        let mut messages = Vec::with_capacity(head.len() + tail.len() + 1);
        let mut marker_at = None;
        let gap = marker.map(|_| None);
        let sequence = head.iter().map(Some).chain(gap).chain(tail.iter().map(Some));
        let role = |member: &Option<&Member>| member.map_or(Role::User, |member| member.entry.role);
        let mut turn: Vec<Option<&Member>> = Vec::new();
        for next in sequence {
            if turn.first().is_some_and(|first| role(first) != role(&next)) {
                messages.extend(self.turn(&turn, marker));
                turn.clear();
            }
            if next.is_none() {
                marker_at = Some(messages.len());
            }
            turn.push(next);
        }
        messages.extend(self.turn(&turn, marker));
        (messages, marker_at)
    }

    /// The message of neighbours of one role, of which none stands for the marker.
    fn turn(&self, turn: &[Option<&Member>], marker: Option<&str>) -> Option<Message<'a>> {
        let view = self.view();
        if let [Some(member)] = turn
            && let Some(text) = view.text(member)
        {
            let id = self.ground.tree.at(member.entry.node).id.as_str();
            return Some(Message {
                role: member.entry.role,
                content: Content::Text(Cow::Borrowed(text)),
                node_ids: vec![id],
            });
        }
        let items: Vec<_> = turn.iter().flatten().map(|member| view.item(member)).collect();
        let gap = turn.iter().position(Option::is_none);
        let head = gap.unwrap_or(items.len());
        render(&items, Kept { head, tail: head }, marker.filter(|_| gap.is_some())).pop()
    }

    fn cut(&self, kept: Kept, marker: Option<String>) -> Cut<'a> {
        let removed = self.line.members.get(kept.head..kept.tail).unwrap_or_default();
        Cut {
            node_ids: removed.iter().map(|member| self.ground.tree.at(member.entry.node).id.as_str()).collect(),
            partial_node_ids: Vec::new(),
            tokens: removed.iter().map(|member| member.alone).sum(),
            position: kept.head,
            marker,
        }
    }

    /// Puts the system context where it belongs and says what is to be said of the messages.
    fn place(&mut self, sent: &mut Sent<'a>) -> (Option<String>, bool, bool) {
        let truncated = sent.kept.tail > sent.kept.head;
        let recent = usize::try_from(self.settings.minimum_recent_nodes).unwrap_or(usize::MAX);
        let met = sent.kept.tail <= self.line.members.len().saturating_sub(recent);
        if truncated
            && self.settings.start_on == StartOn::User
            && sent.messages.first().is_some_and(|first| first.role != Role::User)
        {
            let message = "no user message fits into the window; it begins with an assistant message";
            self.diagnostics.push(Diagnostic::new(DiagnosticCode::StartOnUserUnmet, Severity::Warning, message));
        }
        let mut system = (!self.system.is_empty()).then(|| std::mem::take(&mut self.system));
        if let SystemPlacement::Message(role) = self.ground.options.system_placement
            && let Some(text) = system.take()
        {
            let message = Message { role, content: Content::Text(Cow::Owned(text)), node_ids: Vec::new() };
            sent.messages.insert(0, message);
            sent.marker_at = sent.marker_at.map(|at| at + 1);
        }
        (system, truncated, !truncated || met)
    }

    /// How much of what is sent is as it was, and what it is now. The sums say what that costs: nothing is counted.
    fn cache(&self, sent: &Sent<'a>, system: Option<&str>, remembered: &RefCell<Fingerprint>) -> Cached {
        let previous = &self.ground.options.previous;
        let now = Fingerprint::of(system, &sent.messages);
        let shared = match previous {
            Some(previous) => now.shared(previous),
            None => now.shared(&remembered.borrow()),
        };
        let known = shared.unwrap_or(0);
        let view = self.view();
        let costs = self.costs(&view);
        let leading = sent.messages.get(..known).unwrap_or_default();
        let nodes: usize = leading.iter().map(|message| message.node_ids.len()).sum();
        let count = costs.len();
        let Kept { head, tail } = sent.kept;
        let kept = head + (count - tail);
        let marked = sent.marker.is_some() && sent.marker_at.is_some_and(|at| at < known);
        // The system context as a message is in what is always there.
        let in_messages = self.in_message && known > 0;
        let tokens = if nodes <= head && !marked {
            costs.run_alone(0, nodes)
        } else {
            let rest = costs.run_alone(count - (kept - nodes).min(count), count);
            sent.tokens.total.saturating_sub(self.fixed).saturating_sub(rest)
        };
        let overhead = if in_messages { self.ground.options.overhead.per_message } else { 0 };
        let system = if in_messages || (shared.is_some() && system.is_some()) { self.system_tokens } else { 0 };
        let fingerprint = previous.as_ref().map(|_| now.to_text());
        remembered.replace(now);
        Cached { messages: known, tokens: tokens + system + overhead, fingerprint }
    }

    fn summarize(self, sent: Sent<'a>, previous: &RefCell<Fingerprint>) -> DialogueSummary<'a> {
        self.summed_up(sent, previous).0
    }

    /// The short account, and where a cache is likely to hold.
    fn summed_up(mut self, mut sent: Sent<'a>, previous: &RefCell<Fingerprint>) -> (DialogueSummary<'a>, Hints) {
        let (system, truncated, minimum_recent_nodes_met) = self.place(&mut sent);
        let cache = self.cache(&sent, system.as_deref(), previous);
        let hints = Hints { stable: cache.messages, before_cut: truncated.then(|| self.before_cut(&sent)).flatten() };
        let Sent { kept, marker, messages, tokens, .. } = sent;
        let view = self.view();
        let cut = truncated.then(|| CutSummary {
            nodes: kept.tail - kept.head,
            partial_nodes: 0,
            tokens: self.costs(&view).alone(kept.head, kept.tail),
            position: kept.head,
            marker,
        });
        let report = ReportSummary {
            strategy: self.settings.truncation_strategy,
            limit: self.limit,
            tokens,
            truncated,
            cut,
            cache: Some(cache),
            minimum_recent_nodes_met,
            path_length: self.line.steps.len(),
            preferences: self.settings,
            diagnostics: self.diagnostics,
        };
        (DialogueSummary { system, messages, report }, hints)
    }

    fn body(self, sent: Sent<'a>, target: &Target, previous: &RefCell<Fingerprint>) -> Result<SummarizedBody> {
        let target = with_fallback(target, self.settings.token_buffer);
        let (DialogueSummary { system, messages, mut report }, hints) = self.summed_up(sent, previous);
        let bytes = write_body(system.as_deref(), &messages, &target, &hints, &mut report.diagnostics)?;
        Ok(SummarizedBody { bytes, report })
    }

    /// How many messages come before the cut and hold nothing from behind it: they stay as they are while the cut does.
    fn before_cut(&self, sent: &Sent<'a>) -> Option<usize> {
        let last = sent.kept.head.checked_sub(1)?;
        let mut nodes = 0;
        let at = sent.messages.iter().position(|message| {
            nodes += message.node_ids.len();
            nodes > last
        })?;
        // A marker is the user's, and joins a user message.
        let user = sent.messages.get(at).is_some_and(|message| message.role == Role::User);
        Some(if user || nodes > last + 1 { at } else { at + 1 })
    }

    fn finish(mut self, mut sent: Sent<'a>, previous: &RefCell<Fingerprint>) -> DialogueAssembly<'a> {
        let (system, truncated, minimum_recent_nodes_met) = self.place(&mut sent);
        let cache = Some(self.cache(&sent, system.as_deref(), previous));
        let Sent { kept, marker, messages, tokens, .. } = sent;
        let Self { ground, line, settings, limit, .. } = &self;
        let tree = ground.tree;
        let mut rows = line.picked.selection.rows.clone();
        rows.extend(line.picked.rest(tree));
        for member in line.members.get(kept.head..kept.tail).unwrap_or_default() {
            leave_out(&mut rows, member.entry.row, Fate::Cut, Reason::OverLimit);
        }
        let mut costs = vec![None; rows.len()];
        for member in &line.members {
            costs.get_mut(member.entry.row).into_iter().for_each(|cost| *cost = Some(member.alone));
        }
        // Messages hold the kept members in order.
        let mut places = vec![None; rows.len()];
        let kept_members = line.members.get(..kept.head).into_iter().chain(line.members.get(kept.tail..)).flatten();
        let holders = messages.iter().enumerate().flat_map(|(at, message)| message.node_ids.iter().map(move |_| at));
        for (member, at) in kept_members.zip(holders) {
            places.get_mut(member.entry.row).into_iter().for_each(|place| *place = Some(at));
        }
        let prices = ground.prices();
        let nodes: Vec<NodeReport<'a>> = rows
            .iter()
            .zip(costs)
            .zip(places)
            .map(|((row, cost), message)| NodeReport {
                node_id: &tree.at(row.node).id,
                part: row.part,
                fate: row.fate,
                reason: row.reason,
                tokens: cost.unwrap_or_else(|| parts::content_cost(tree.at(row.node), &prices)),
                message,
                pinned: false,
            })
            .collect();
        let report = Report {
            strategy: settings.truncation_strategy,
            limit: *limit,
            tokens,
            truncated,
            cut: truncated.then(|| self.cut(kept, marker)),
            cache,
            minimum_recent_nodes_met,
            path: line.steps.iter().map(|step| tree.at(step.node).id.as_str()).collect(),
            not_on_path: tree.len().saturating_sub(nodes.len()),
            nodes,
            local_ids: Vec::new(),
            preferences: self.settings,
            diagnostics: self.diagnostics,
        };
        DialogueAssembly { system, messages, report }
    }
}

/// The short account of an assembly.
fn summary(assembly: DialogueAssembly<'_>) -> DialogueSummary<'_> {
    let DialogueAssembly { system, messages, report } = assembly;
    DialogueSummary { system, messages, report: report_summary(report) }
}

fn report_summary(report: Report<'_>) -> ReportSummary {
    let cut = report.cut.map(|cut| CutSummary {
        nodes: cut.node_ids.len(),
        partial_nodes: cut.partial_node_ids.len(),
        tokens: cut.tokens,
        position: cut.position,
        marker: cut.marker,
    });
    ReportSummary {
        strategy: report.strategy,
        limit: report.limit,
        tokens: report.tokens,
        truncated: report.truncated,
        cut,
        cache: report.cache,
        minimum_recent_nodes_met: report.minimum_recent_nodes_met,
        path_length: report.path.len(),
        preferences: report.preferences,
        diagnostics: report.diagnostics,
    }
}

fn signed(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}
