//! What of a line is sent: chosen within a budget, and made into messages.

use std::borrow::Cow;
use std::cell::RefCell;
use std::ops::Range;
use std::rc::Rc;

use super::dialogue::{CutSummary, Measure, Previous, ReportSummary, signed};
use super::line::{Ground, Line, Member, Shape, View};
use super::turns::{Known, Run, Says, Stamped, Turn, Turns};
use crate::error::{Diagnostic, DiagnosticCode, Result, Severity};
use crate::loom::assemble::leave_out;
use crate::loom::body::with_fallback;
use crate::loom::layout::{Costs, Kept, render};
use crate::loom::parts::{self, JOIN};
use crate::loom::preferences::{Settings, StartOn, Strategy};
use crate::loom::report::{Cached, Cut, Fate, NodeReport, Reason, Report, Tokens};
use crate::loom::request::SystemPlacement;
use crate::loom::system;
use crate::loom::truncate::Overfull;
use crate::prompt::bodies::{Hints, MessageSource, Target, TextWriter, WrittenBody, write_body, write_texts};
use crate::prompt::{Content, Fingerprint, Message, Role, message_hash, system_hash};
use crate::tokens::Counter;

/// A line with a budget.
#[derive(Debug)]
pub(super) struct Budgeted<'l, 'a> {
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
#[derive(Debug)]
pub(super) struct Sent {
    kept: Kept,
    marker: Option<String>,
    pub turns: Rc<Turns>,
    /// Which message holds the marker.
    marker_at: Option<usize>,
    tokens: Tokens,
    /// What is the same as in the dialogue before, and that.
    since: Option<(Rc<Turns>, Vec<Run>)>,
}

impl Sent {
    /// What is the same as in a dialogue that somebody knows.
    pub(super) fn runs(&self, known: &Known) -> Vec<Run> {
        match &self.since {
            // Mostly it is the one before.
            Some((before, runs)) if Rc::ptr_eq(before, &known.turns) => runs.clone(),
            _ => known.runs(&self.turns),
        }
    }

    fn truncated(&self) -> bool {
        self.kept.tail > self.kept.head
    }

    /// What a message consists of.
    pub(super) fn says(&self, at: usize) -> Says {
        self.turns.turns.get(at).map_or(Says::Else, |turn| turn.says)
    }

    /// The member at a place among those that are kept.
    fn member<'l>(&self, line: &'l Line, index: usize) -> Option<&'l Member> {
        let Kept { head, tail } = self.kept;
        line.members.get(if index < head { index } else { index - head + tail })
    }

    /// Before which of the kept members the marker stands, where this message holds it.
    fn gap(&self, at: usize) -> Option<usize> {
        (self.marker_at == Some(at)).then_some(self.kept.head)
    }
}

/// A conversation of texts on its way into a body.
#[derive(Debug)]
struct SentTexts<'s, 'l, 'a> {
    budgeted: &'s Budgeted<'l, 'a>,
    sent: &'s Sent,
    /// How many messages stand before the texts.
    lead: usize,
    /// How many did in the body before.
    before: usize,
    runs: Vec<Run>,
}

impl MessageSource for SentTexts<'_, '_, '_> {
    fn count(&self) -> usize {
        self.sent.turns.turns.len() - self.lead
    }

    fn role(&self, at: usize) -> Role {
        self.sent.turns.turns.get(at + self.lead).map_or(Role::User, |turn| turn.role)
    }

    fn write_text(&self, at: usize, out: &mut TextWriter<'_>) {
        self.budgeted.tell(self.sent, at + self.lead, &mut |piece| out.plain(piece));
    }

    fn size_hint(&self, at: usize) -> usize {
        let mut len = 0;
        self.budgeted.tell(self.sent, at + self.lead, &mut |piece| len += piece.len());
        len
    }

    fn node(&self, at: usize) -> Option<&str> {
        let Range { start, end } = self.sent.turns.range(at + self.lead);
        let only = self.sent.member(self.budgeted.line, start).filter(|_| end == start + 1)?;
        Some(&self.budgeted.ground.tree.at(only.entry.node).id)
    }

    fn unchanged(&self, at: usize) -> Range<usize> {
        let at = at + self.lead;
        let run = self.runs.get(self.runs.partition_point(|run| run.from + run.count <= at));
        let known = run.and_then(|run| Some((run, run.known?.checked_sub(self.before)?)));
        known.map_or(0..0, |(run, known)| known + (at - run.from)..known + run.count)
    }
}

impl<'l, 'a> Budgeted<'l, 'a> {
    pub(super) fn new(ground: &'l Ground<'a>, line: &'l Line, settings: Settings, limit: u64) -> Self {
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
    pub(super) fn choose(&self) -> Option<(Kept, Option<String>)> {
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

    /// What is sent of what is kept.
    pub(super) fn send(&self, kept: Kept, marker: Option<String>, stamps: &[u32]) -> Sent {
        let (turns, marker_at) = self.turns(kept, marker.is_some(), stamps);
        let view = self.view();
        let costs = self.costs(&view);
        let total = costs.kept(kept, marker.is_some());
        let overhead = self.ground.options.overhead;
        let count = turns.turns.len() - self.lead();
        let tokens = self.tokens(total, self.fixed - self.system_tokens + overhead.per_message * count as u64);
        let sent = Sent { kept, marker, turns: Rc::new(turns), marker_at, tokens, since: None };
        debug_assert_eq!(
            sent.tokens.messages,
            self.messages(&sent)
                .iter()
                .skip(self.lead())
                .map(|message| self.ground.prices().message(message))
                .sum::<u64>(),
            "the sums are the count"
        );
        sent
    }

    /// How many messages stand before the conversation: that of the system context, or none.
    fn lead(&self) -> usize {
        usize::from(self.in_message)
    }

    /// The system context, where it has a place of its own.
    pub(super) fn system(&self) -> Option<&str> {
        (!self.in_message && !self.system.is_empty()).then_some(self.system.as_str())
    }

    /// Who says the system context, where it is a message.
    fn system_role(&self) -> Option<Role> {
        match self.ground.options.system_placement {
            SystemPlacement::Message(role) if self.in_message => Some(role),
            _ => None,
        }
    }

    /// Which nodes the messages hold, and which message holds the marker.
    fn turns(&self, kept: Kept, marked: bool, stamps: &[u32]) -> (Turns, Option<usize>) {
        let members = &self.line.members;
        let head = members.get(..kept.head).unwrap_or(members);
        let tail = members.get(kept.tail..).unwrap_or_default();
        let count = head.len() + tail.len();
        let mut turns = Turns { turns: Vec::with_capacity(count + 2), nodes: Vec::with_capacity(count) };
        turns.turns.extend(self.system_role().map(|role| Turn { role, end: 0, says: Says::Else, hash: 0 }));
        let add = |turns: &mut Turns, role: Role, says: Says, node: Option<Stamped>| {
            turns.nodes.extend(node);
            let end = turns.nodes.len();
            match turns.turns.last_mut().filter(|turn| turn.role == role) {
                Some(turn) => (turn.end, turn.says) = (end, turn.says.max(says)),
                None => turns.turns.push(Turn { role, end, says, hash: 0 }),
            }
        };
        let hold = |turns: &mut Turns, members: &[Member]| {
            for Member { entry, shape, .. } in members {
                let says = if *shape == Shape::Text { Says::Texts } else { Says::Else };
                let stamp = stamps.get(entry.node as usize).copied().unwrap_or(0);
                add(turns, entry.role, says, Some((entry.node, stamp)));
            }
        };
        hold(&mut turns, head);
        let mut marker_at = None;
        if marked {
            add(&mut turns, Role::User, Says::Marker, None);
            marker_at = turns.turns.len().checked_sub(1);
        }
        hold(&mut turns, tail);
        (turns, marker_at)
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

    pub(super) fn measure(&self) -> Measure {
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

    /// All messages.
    pub(super) fn messages(&self, sent: &Sent) -> Vec<Message<'a>> {
        (0..sent.turns.turns.len()).map(|at| self.message(sent, at)).collect()
    }

    /// One message.
    pub(super) fn message(&self, sent: &Sent, at: usize) -> Message<'a> {
        if let Some(role) = self.system_role().filter(|_| at == 0) {
            return Message { role, content: Content::Text(Cow::Owned(self.system.clone())), node_ids: Vec::new() };
        }
        let view = self.view();
        let members = || sent.turns.range(at).filter_map(|index| sent.member(self.line, index));
        let role = sent.turns.turns.get(at).map_or(Role::User, |turn| turn.role);
        let content = match sent.says(at) {
            Says::Else => {
                let items: Vec<_> = members().map(|member| view.item(member)).collect();
                let gap = sent.gap(at).map_or(items.len(), |gap| gap - sent.turns.range(at).start);
                let marker = sent.marker.as_deref().filter(|_| sent.gap(at).is_some());
                let rendered = render(&items, Kept { head: gap, tail: gap }, marker).pop();
                rendered.map_or(Content::Text(Cow::Borrowed("")), |message| message.content)
            }
            Says::Texts if sent.turns.range(at).len() == 1 => {
                Content::Text(Cow::Borrowed(members().find_map(|member| view.text(member)).unwrap_or_default()))
            }
            Says::Texts | Says::Marker => {
                let mut text = String::new();
                self.tell(sent, at, &mut |piece| text.push_str(piece));
                Content::Text(Cow::Owned(text))
            }
        };
        let id = |member: &Member| self.ground.tree.at(member.entry.node).id.as_str();
        Message { role, content, node_ids: members().map(id).collect() }
    }

    /// The text of a message that is nothing else, piece by piece.
    fn tell(&self, sent: &Sent, at: usize, say: &mut dyn FnMut(&str)) {
        let view = self.view();
        let range = sent.turns.range(at);
        let gap = sent.gap(at);
        let mut first = true;
        let mut join = |text: &str| {
            if !std::mem::take(&mut first) {
                say(JOIN);
            }
            say(text);
        };
        for index in range.start..=range.end {
            if gap == Some(index) {
                sent.marker.iter().for_each(|marker| join(marker));
            }
            let member = sent.member(self.line, index).filter(|_| index < range.end);
            member.and_then(|member| view.text(member)).into_iter().for_each(&mut join);
        }
    }

    pub(super) fn cut(&self, kept: Kept, marker: Option<String>) -> Cut<'a> {
        let removed = self.line.members.get(kept.head..kept.tail).unwrap_or_default();
        Cut {
            node_ids: removed.iter().map(|member| self.ground.tree.at(member.entry.node).id.as_str()).collect(),
            partial_node_ids: Vec::new(),
            tokens: removed.iter().map(|member| member.alone).sum(),
            position: kept.head,
            marker,
        }
    }

    /// Says what is to be said of the messages.
    fn found(&self, sent: &Sent) -> Vec<Diagnostic> {
        let mut diagnostics = self.diagnostics.clone();
        let first = sent.turns.turns.get(self.lead());
        if sent.truncated()
            && self.settings.start_on == StartOn::User
            && first.is_some_and(|first| first.role != Role::User)
        {
            let message = "no user message fits into the window; it begins with an assistant message";
            diagnostics.push(Diagnostic::new(DiagnosticCode::StartOnUserUnmet, Severity::Warning, message));
        }
        diagnostics
    }

    /// Whether the protected recent nodes are all there.
    fn met(&self, sent: &Sent) -> bool {
        let recent = usize::try_from(self.settings.minimum_recent_nodes).unwrap_or(usize::MAX);
        !sent.truncated() || sent.kept.tail <= self.line.members.len().saturating_sub(recent)
    }

    /// How much of what is sent is as it was, and what it is now. The sums say what that costs: nothing is counted, and
    /// no text is looked at but of what is new.
    fn cache(&self, sent: &mut Sent, remembered: &RefCell<Option<Previous>>) -> Cached {
        let mut remembered = remembered.borrow_mut();
        let system = system_hash(self.system());
        let nothing = Known::default();
        let known = remembered.as_ref().map_or(&nothing, Previous::known);
        let runs = known.runs(&sent.turns);
        let mut hashes = Vec::with_capacity(sent.turns.turns.len());
        for Run { from, count, known: there } in &runs {
            match there {
                Some(there) => {
                    let turns = known.turns.turns.iter().skip(*there).take(*count);
                    hashes.extend(turns.map(|turn| turn.hash));
                }
                None => hashes.extend((*from..from + count).map(|at| message_hash(&self.message(sent, at)))),
            }
        }
        let before = Rc::clone(&known.turns);
        if let Some(turns) = Rc::get_mut(&mut sent.turns) {
            turns.turns.iter_mut().zip(hashes).for_each(|(turn, hash)| turn.hash = hash);
        }
        let previous = &self.ground.options.previous;
        let now = previous.as_ref().map(|_| {
            let hashes = sent.turns.turns.iter().map(|turn| turn.hash);
            Fingerprint::of_hashes(system, hashes)
        });
        let shared = match (previous, &now) {
            (Some(previous), Some(now)) => now.shared(previous),
            _ => remembered.as_ref().and_then(|remembered| remembered.shared(system, &sent.turns)),
        };
        let known = shared.unwrap_or(0);
        let view = self.view();
        let costs = self.costs(&view);
        let nodes = known.checked_sub(1).map_or(0, |last| sent.turns.range(last).end);
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
        let in_field = shared.is_some() && self.system().is_some();
        let system_tokens = if in_messages || in_field { self.system_tokens } else { 0 };
        remembered.get_or_insert_default().replace(system, Rc::clone(&sent.turns), &runs);
        sent.since = Some((before, runs));
        Cached { messages: known, tokens: tokens + system_tokens + overhead, fingerprint: now.map(|now| now.to_text()) }
    }

    /// The short account, and where a cache is likely to hold.
    pub(super) fn sum_up(&self, sent: &mut Sent, previous: &RefCell<Option<Previous>>) -> (ReportSummary, Hints) {
        let cache = self.cache(sent, previous);
        let truncated = sent.truncated();
        let hints = Hints { stable: cache.messages, before_cut: truncated.then(|| self.before_cut(sent)).flatten() };
        let Kept { head, tail } = sent.kept;
        let view = self.view();
        let cut = truncated.then(|| CutSummary {
            nodes: tail - head,
            partial_nodes: 0,
            tokens: self.costs(&view).alone(head, tail),
            position: head,
            marker: sent.marker.clone(),
        });
        let report = ReportSummary {
            strategy: self.settings.truncation_strategy,
            limit: self.limit,
            tokens: sent.tokens.clone(),
            truncated,
            cut,
            cache: Some(cache),
            minimum_recent_nodes_met: self.met(sent),
            path_length: self.line.steps.len(),
            preferences: self.settings.clone(),
            diagnostics: self.found(sent),
        };
        (report, hints)
    }

    /// The body, written anew.
    pub(super) fn body(
        &self,
        sent: &Sent,
        target: &Target,
        hints: &Hints,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Result<Vec<u8>> {
        let target = with_fallback(target, self.settings.token_buffer);
        write_body(self.system(), &self.messages(sent), &target, hints, diagnostics)
    }

    /// The body of a conversation that is nothing but texts, of which what the last body has is copied. Nothing where it
    /// is none.
    pub(super) fn texts(
        &self,
        sent: &Sent,
        target: &Target,
        hints: &Hints,
        (last, known): (&WrittenBody, &Known),
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Result<Option<(WrittenBody, Vec<Run>)>> {
        let lead = self.lead();
        let texts = sent.turns.turns.get(lead..).unwrap_or_default();
        if texts.is_empty() || texts.iter().any(|turn| turn.says == Says::Else) {
            return Ok(None);
        }
        let system = match self.system_role() {
            Some(role) => Some((Some(role), self.system.as_str())),
            None => self.system().map(|system| (None, system)),
        };
        // A system context that is a message is none of the texts.
        let before = known.turns.turns.iter().take_while(|turn| !matches!(turn.role, Role::User | Role::Assistant));
        let texts = SentTexts { budgeted: self, sent, lead, before: before.count(), runs: sent.runs(known) };
        let target = with_fallback(target, self.settings.token_buffer);
        let written = write_texts(system, &texts, &target, hints, last, diagnostics)?;
        Ok(Some((written, texts.runs)))
    }

    /// How many messages come before the cut and hold nothing from behind it: they stay as they are while the cut does.
    fn before_cut(&self, sent: &Sent) -> Option<usize> {
        let last = sent.kept.head.checked_sub(1)?;
        let at = sent.turns.turns.partition_point(|turn| turn.end <= last);
        let turn = sent.turns.turns.get(at)?;
        // A marker is the user's, and joins a user message.
        Some(if turn.role == Role::User || turn.end > last + 1 { at } else { at + 1 })
    }

    /// The whole account.
    pub(super) fn report(&self, sent: &mut Sent, previous: &RefCell<Option<Previous>>) -> Report<'a> {
        let cache = Some(self.cache(sent, previous));
        let kept = sent.kept;
        let Self { ground, line, settings, limit, .. } = self;
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
        let mut places = vec![None; rows.len()];
        for at in 0..sent.turns.turns.len() {
            for member in sent.turns.range(at).filter_map(|index| sent.member(line, index)) {
                places.get_mut(member.entry.row).into_iter().for_each(|place| *place = Some(at));
            }
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
        Report {
            strategy: settings.truncation_strategy,
            limit: *limit,
            tokens: sent.tokens.clone(),
            truncated: sent.truncated(),
            cut: sent.truncated().then(|| self.cut(kept, sent.marker.clone())),
            cache,
            minimum_recent_nodes_met: self.met(sent),
            path: line.steps.iter().map(|step| tree.at(step.node).id.as_str()).collect(),
            not_on_path: tree.len().saturating_sub(nodes.len()),
            nodes,
            local_ids: Vec::new(),
            preferences: settings.clone(),
            diagnostics: self.found(sent),
        }
    }
}
