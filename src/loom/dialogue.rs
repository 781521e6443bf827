//! Dialogue mode: a path becomes messages (docs/loom.md).
//!
//! [`plan_dialogue`] owns the control flow, for one-shot assemblies and for resident trees: advance the state along the
//! path, select, pair and count, add headers and blocks, apply the budget. The [`DialoguePlan`] then chooses, renders
//! and reports as requested.

use std::cell::RefCell;

use serde::Serialize;

use crate::assembly::budget;
use crate::assembly::choice::Choice;
use crate::assembly::message_index::PreviousDialogue;
use crate::assembly::plan::{Plan, Planned, SystemText};
use crate::assembly::preserved::{ThinkingRule, drop_blocks_request};
use crate::assembly::report::{Removed, Totals};
use crate::assembly::series::Prefix;
use crate::assembly::settings::{DIALOGUE_MARKER, Settings};
use crate::assembly::size_bound::{Size, fits};
use crate::error::{Diagnostic, DiagnosticCode, Result, Severity};
use crate::loom::budget::{ignored_fill, settings};
use crate::loom::compacted::Compacted;
use crate::loom::conversation::{ConversationItems, Member};
use crate::loom::dialogue_state::DialogueState;
use crate::loom::fit_state::{FitState, Previous};
use crate::loom::loom_context::{self, Added};
use crate::loom::parts;
use crate::loom::path_context::PathContext;
use crate::loom::report::{Cut, CutSummary, Fate, LoomAwareTokens, NodeReport, Reason, Report, ReportSummary, Tokens};
use crate::loom::request::{Options, SystemPlacement};
use crate::loom::select::{Mode, Row, check_annotations, set_fate};
use crate::loom::series::DialogueSeries;
use crate::loom::system;
use crate::loom::tree::{NodeIx, Tree};
use crate::prompt::Message;
use crate::tokens::Counter;

/// A dialogue ready to be sent.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DialogueAssembly<'a> {
    /// The combined system context; absent if empty, or if it is in `messages`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system: Option<String>,
    /// The messages, oldest first.
    pub messages: Vec<Message<'a>>,
    /// The report.
    pub report: Report<'a>,
    /// The state for the next dialogue of a series; absent without [`Options::previous`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<FitState>,
}

/// Assembles the path into messages within the limit (docs/loom.md).
///
/// # Errors
/// The errors of the path ([`PathCycle`](crate::Code::PathCycle), [`NodeNotFound`](crate::Code::NodeNotFound),
/// [`AmbiguousPath`](crate::Code::AmbiguousPath), [`EdgeWithoutSource`](crate::Code::EdgeWithoutSource),
/// [`InvalidChoice`](crate::Code::InvalidChoice)) and of the budget ([`InvalidBudget`](crate::Code::InvalidBudget),
/// [`SystemContextTooLong`](crate::Code::SystemContextTooLong), [`ContextTooLong`](crate::Code::ContextTooLong)).
pub fn assemble_dialogue<'a>(
    tree: &'a Tree<'a>,
    options: &'a Options,
    counter: &'a dyn Counter,
) -> Result<DialogueAssembly<'a>> {
    let context = PathContext::new(tree, options, Mode::Dialogue, counter);
    plan_dialogue(context, &mut DialogueState::default(), Purpose::Send, |plan| plan.assembly(None))
}

/// The purpose of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Send it, with a report.
    Send,
    /// Send it without a report: a conversation that certainly fits is not counted, and the token numbers of the report
    /// are then meaningless.
    SendUncounted,
    /// Measure the cost of the whole path, over the limit or not.
    Measure,
}

/// A dialogue and its budget.
#[derive(Debug)]
pub(crate) struct DialoguePlan<'l, 'a> {
    context: &'l PathContext<'a>,
    state: &'l DialogueState,
    pub(super) items: &'l ConversationItems<'l, 'a>,
    pub plan: Plan<'l, 'a>,
    /// The series of dialogues that it belongs to.
    pub(super) series: Option<&'l DialogueSeries<'a>>,
    added: Option<Added<'a>>,
    diagnostics: Vec<Diagnostic>,
}

/// The ends of a cut: the first and the last node that it removes at least in part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CutEnds {
    pub(crate) first: Option<String>,
    pub(crate) last: Option<String>,
}

/// The previous dialogue of a resident tree.
pub(crate) type Remembered<'r> = Option<&'r RefCell<Option<PreviousDialogue>>>;

/// Advances the state to the path of the options, and passes the plan for it to a function.
pub(crate) fn plan_dialogue<'a, R>(
    mut context: PathContext<'a>,
    state: &mut DialogueState,
    purpose: Purpose,
    then: impl FnOnce(DialoguePlan<'_, 'a>) -> Result<R>,
) -> Result<R> {
    let PathContext { tree, options, .. } = context;
    let (settings, limit) = settings(tree, options, DIALOGUE_MARKER)?;
    state.select(&context)?;
    let (text, mut diagnostics) = system_text(&context, state)?;
    diagnostics.extend(ignored_fill(tree, options, &settings));
    let is_single = options.previous == Previous::None && options.cut_to.is_none();
    if purpose == Purpose::SendUncounted && is_single && fits_for_certain(&context, state, &text, limit) {
        context = context.uncounted();
    }
    state.build_conversation(&context);
    diagnostics.extend(state.conversation.diagnostics().cloned());
    if state.conversation.members.is_empty() && !state.path.steps.is_empty() {
        let message = "every node of the path was left out, so there are no messages";
        diagnostics.push(Diagnostic::new(DiagnosticCode::NoMessages, Severity::Warning, message));
    }
    let role = match options.system_placement {
        SystemPlacement::Message(role) if !text.is_empty() => Some(role),
        _ => None,
    };
    let system = SystemText { tokens: context.prices.text(&text), text, role };
    let limited = (purpose != Purpose::Measure).then_some(limit);
    if let Some(limit) = limited {
        budget::check_system(&system.text, system.fixed(&context.prices), limit)?;
    }
    let added = loom_context::context_parts(&context, state, &system, limited, &mut diagnostics)?;
    let state: &DialogueState = state;
    let Some(limit) = limited else {
        let parts = PlanParts { context: &context, state, settings: &settings, limit, system: &system, series: None };
        return parts.with_plan(None, |items, plan| {
            then(DialoguePlan { context: &context, state, items, plan, series: None, added, diagnostics })
        });
    };
    let series = DialogueSeries::new(&context, state, &system, &settings);
    let series = series.as_ref();
    let parts = PlanParts { context: &context, state, settings: &settings, limit, system: &system, series };
    let compacted = parts.compacted();
    parts.with_plan(compacted.as_ref(), |items, plan| {
        then(DialoguePlan { context: &context, state, items, plan, series, added, diagnostics })
    })
}

/// The inputs of a plan.
#[derive(Clone, Copy, Debug)]
struct PlanParts<'l, 'a> {
    context: &'l PathContext<'a>,
    state: &'l DialogueState,
    settings: &'l Settings,
    limit: u64,
    system: &'l SystemText,
    series: Option<&'l DialogueSeries<'a>>,
}

impl<'a> PlanParts<'_, 'a> {
    /// The items from a compaction on, if it replaces those before.
    fn compacted(&self) -> Option<Compacted> {
        let Self { context, state, settings, limit, system, series } = *self;
        let Some(series) = series else { return Compacted::new(context, state, settings, system, limit) };
        let known = series.skipped();
        let last = if known > 0 { Compacted::after(context, state, known, false) } else { None };
        match Compacted::newest(context, state, settings) {
            Some((skipped, breaks_prefix))
                if skipped > known && !self.with_plan(last.as_ref(), |_, plan| plan.is_repeated_within_limit()) =>
            {
                Compacted::after(context, state, skipped, breaks_prefix)
            }
            _ => last,
        }
    }

    /// Makes the plan for all items, or those from a compaction on.
    fn with_plan<R>(
        &self,
        compacted: Option<&Compacted>,
        then: impl FnOnce(&ConversationItems<'_, 'a>, Plan<'_, 'a>) -> R,
    ) -> R {
        let Self { context, state, settings, limit, system, series } = *self;
        let (skipped, sums, units) = match compacted {
            Some(compacted) => (compacted.skipped, &compacted.sums, &*compacted.units),
            None => (0, &state.sums, state.units()),
        };
        let items = &state.items_from(context, skipped);
        let of_items = series.map(|series| series.of_items(items));
        let first_repaired = match series {
            Some(series) => series.first_repair(state),
            None => state.conversation.first_invalid(skipped),
        };
        let plan = Plan {
            items,
            sums,
            units,
            prices: context.prices,
            settings,
            limit,
            system,
            thinking: context.options.preserved_thinking,
            first_repaired: match context.options.preserved_thinking {
                // Headers and blocks differ in each request.
                Some(ThinkingRule::Refused(_)) if context.options.loom_aware.is_some() => Some(0),
                _ => first_repaired.and_then(|member| items.place(member.max(skipped))),
            },
            compaction: compacted.map(|compacted| compacted.compaction),
            series: of_items.as_ref(),
            omitted: 0,
            most_head: usize::MAX,
            makes_step: false,
        };
        then(items, plan)
    }
}

/// The system context of the selection, and the diagnostics so far.
fn system_text(context: &PathContext<'_>, state: &DialogueState) -> Result<(String, Vec<Diagnostic>)> {
    let PathContext { tree, options, .. } = *context;
    let mut diagnostics = state.path.diagnostics(tree, &options.choices);
    check_annotations(tree, &state.path.selected, options, &mut diagnostics)?;
    let addendum = loom_context::addendum(options, context.mode, &mut diagnostics);
    let instructions = &state.path.selected.selection.instructions;
    let text = system::combine(tree, options.system_prompt.as_deref(), &addendum, instructions, &mut diagnostics);
    Ok((text, diagnostics))
}

/// Whether any conversation with texts of these lengths is below the limit.
fn fits_for_certain(context: &PathContext<'_>, state: &DialogueState, system: &str, limit: u64) -> bool {
    // The additions for a loom-aware agent are not text of the tree.
    if context.options.loom_aware.is_some() {
        return false;
    }
    let entries = &state.path.selected.selection.entries;
    let mut size = Size { bytes: system.len(), tokens: 0, messages: entries.len() as u64 + 1 };
    for entry in entries {
        parts::add_size(&mut size, &context.tree.at(entry.node).content, &context.prices);
    }
    fits(size, &context.prices, limit)
}

impl<'a> DialoguePlan<'_, 'a> {
    /// The kept items as messages.
    pub(crate) fn choose(&self) -> Result<Planned<'a>> {
        Ok(self.plan.planned(self.plan.choose()?))
    }

    /// The whole assembly.
    pub(crate) fn assembly(&self, remembered: Remembered<'_>) -> Result<DialogueAssembly<'a>> {
        let mut planned = self.choose()?;
        let report = self.report(&mut planned, remembered);
        let state = self.fit_state(&planned);
        Ok(DialogueAssembly { system: self.system(), messages: self.plan.messages(&planned), report, state })
    }

    /// The system context, if it is a separate field.
    pub(crate) fn system(&self) -> Option<String> {
        self.plan.system.field().map(str::to_owned)
    }

    /// The cut that an assembly would make; `None` if everything fits.
    pub(crate) fn would_cut(&self) -> Result<Option<Cut<'a>>> {
        let choice = self.plan.choose()?;
        Ok(self.is_truncated(&choice).then(|| self.cut(&choice)))
    }

    fn is_truncated(&self, choice: &Choice<'a>) -> bool {
        choice.truncated() || self.items.skipped > 0
    }

    /// The members that a compaction replaces.
    fn skipped(&self) -> &[Member] {
        self.state.conversation.members.get(..self.items.skipped).unwrap_or_default()
    }

    /// The costs of all members, including those that a compaction replaces.
    fn tokens_of_members(&self) -> impl Iterator<Item = u64> {
        let lead = self.state.context_headers.lead();
        let sums = &self.state.sums;
        (0..self.state.conversation.members.len()).map(move |number| sums.alone_at(lead + number))
    }

    /// Tokens of the whole path, and the number of its nodes in the conversation.
    pub(crate) fn whole(&self) -> (Tokens, usize) {
        let members = self.state.conversation.members.len();
        let context_headers = self.plan.items.len() - members;
        (self.tokens(self.plan.whole(), 0..members + context_headers), members)
    }

    /// The nodes that are sent at least in part, with the tokens of each content; those of the system context first.
    pub(crate) fn sent_nodes(&self, choice: &Choice<'a>) -> impl Iterator<Item = (NodeIx, u64)> {
        let PathContext { tree, prices, .. } = self.context;
        let instructions = self.state.path.selected.selection.instructions.iter();
        let instructions = instructions.map(|entry| (entry.node, parts::content_cost(tree.at(entry.node), prices)));
        let costs = self.plan.costs();
        let kept = choice.kept_items(self.plan.items.len());
        let kept = kept.filter_map(move |at| Some((self.items.member(at)?.entry.node, costs.alone(at, at + 1))));
        instructions.chain(kept)
    }

    /// The ends of the cut; `None` without a cut.
    pub(crate) fn cut_ends(&self, choice: &Choice<'a>) -> Option<CutEnds> {
        let id = |at: usize| Some(self.context.tree.at(self.items.member(at)?.entry.node).id.to_string());
        self.is_truncated(choice).then(|| {
            let removed = self.plan.removed(choice);
            let partial = removed.partial.iter().map(|&(at, _)| at);
            let items = removed.ends().chain(removed.emptied.iter().copied()).chain(partial);
            let skipped = |member: Option<&Member>| Some(self.node_id(member?).to_owned());
            CutEnds {
                first: skipped(self.skipped().first()).or_else(|| items.clone().min().and_then(id)),
                last: items.max().and_then(id).or_else(|| skipped(self.skipped().last())),
            }
        })
    }

    /// The number of nodes on the path.
    pub(crate) fn path_length(&self) -> usize {
        self.state.path.steps.len()
    }

    /// The part that equals the last request of the series. Hashes the messages if a comparison is requested.
    pub(crate) fn compare(&self, planned: &mut Planned<'a>, remembered: Remembered<'_>) -> Option<Prefix> {
        if self.series.is_some() || remembered.is_some() {
            self.plan.hash_messages(planned, remembered);
        }
        self.prefix(planned)
    }

    /// Whether a block comes after all nodes.
    pub(super) fn has_block_after(&self) -> bool {
        self.state.context_headers.after.is_some()
    }

    /// The number of calls and results that were repaired.
    pub(super) fn repairs(&self) -> usize {
        self.state.conversation.repairs()
    }

    fn tokens(&self, totals: Totals, items: impl Iterator<Item = usize>) -> Tokens {
        let loom_aware = self.added.as_ref().map(|added| {
            let context_headers = &self.state.context_headers;
            let headers = items.filter_map(|at| {
                let member = self.items.member(at)?;
                Some(context_headers.line_tokens(member.entry.node, self.items.number(at)?))
            });
            LoomAwareTokens { headers: headers.sum(), ..added.tokens }
        });
        Tokens {
            system: totals.system,
            messages: totals.content,
            overhead: totals.overhead,
            total: totals.total(),
            tokenizer: self.context.tokenizer().to_owned(),
            tokenizer_error: self.context.tokenizer_error(),
            loom_aware,
        }
    }

    fn sent_tokens(&self, planned: &Planned<'a>) -> Tokens {
        self.tokens(planned.totals, planned.choice.kept_items(self.plan.items.len()))
    }

    fn cut(&self, choice: &Choice<'a>) -> Cut<'a> {
        let removed = self.plan.removed(choice);
        let id = |member| self.node_id(member);
        let skipped = self.skipped();
        let left_out = skipped.iter().chain(self.removed_members(&removed));
        Cut {
            node_ids: left_out.map(id).collect(),
            partial_node_ids: removed.partial.iter().filter_map(|&(at, _)| self.items.member(at)).map(id).collect(),
            tokens: removed.tokens.saturating_add(self.skipped_tokens()),
            position: if skipped.is_empty() { removed.position } else { 0 },
            marker: removed.marker,
        }
    }

    fn node_id(&self, member: &Member) -> &'a str {
        &self.context.tree.at(member.entry.node).id
    }

    fn skipped_tokens(&self) -> u64 {
        self.tokens_of_members().take(self.items.skipped).sum()
    }

    /// The members that are removed completely.
    fn removed_members<'s>(&'s self, removed: &'s Removed) -> impl Iterator<Item = &'s Member> {
        removed.items().filter_map(|at| self.items.member(at))
    }

    fn all_diagnostics(&self, planned: &Planned<'a>) -> Vec<Diagnostic> {
        let mut diagnostics = self.diagnostics.clone();
        diagnostics.extend(self.plan.start_on_unmet(planned));
        if let Some(rule) = self.plan.thinking {
            let tree = self.context.tree;
            let node = |at: usize| Some(&*tree.at(self.items.member(at)?.entry.node).id);
            diagnostics.extend(planned.choice.thinking.diagnostics(rule, node));
        }
        diagnostics
    }

    /// The report without node lists, whose cost does not depend on the removed part of the path.
    pub(crate) fn summary(&self, planned: &mut Planned<'a>, remembered: Remembered<'_>) -> ReportSummary {
        let prefix = self.compare(planned, remembered);
        let truncated = self.is_truncated(&planned.choice);
        let drops_blocks = planned.choice.thinking.drops_blocks;
        let thinking = self.context.options.thinking.as_ref();
        let (body, headers) = drops_blocks.then(|| drop_blocks_request(thinking)).flatten().unzip();
        let cut = truncated.then(|| {
            let removed = self.plan.removed(&planned.choice);
            CutSummary {
                nodes: self.items.skipped + removed.count(),
                partial_nodes: removed.partial.len(),
                tokens: removed.tokens.saturating_add(self.skipped_tokens()),
                position: if self.items.skipped == 0 { removed.position } else { 0 },
                marker: removed.marker,
            }
        });
        ReportSummary {
            strategy: self.plan.settings.truncation_strategy,
            limit: self.plan.limit,
            tokens: self.sent_tokens(planned),
            truncated,
            cut,
            prefix,
            minimum_recent_nodes_met: self.plan.minimum_recent_met(&planned.choice),
            path_length: self.path_length(),
            preferences: self.plan.settings.clone(),
            diagnostics: self.all_diagnostics(planned),
            body,
            headers,
        }
    }

    /// The complete report.
    pub(crate) fn report(&self, planned: &mut Planned<'a>, remembered: Remembered<'_>) -> Report<'a> {
        let ReportSummary {
            strategy,
            limit,
            tokens,
            truncated,
            prefix,
            minimum_recent_nodes_met,
            preferences,
            diagnostics,
            body,
            headers,
            ..
        } = self.summary(planned, remembered);
        let tree = self.context.tree;
        let rows = self.added.as_ref().map(|added| added.rows.clone());
        let rows = rows.unwrap_or_else(|| self.state.path.selected.rows(tree));
        let cut = truncated.then(|| self.cut(&planned.choice));
        let nodes = self.node_reports(rows, planned);
        Report {
            strategy,
            limit,
            tokens,
            truncated,
            cut,
            prefix,
            minimum_recent_nodes_met,
            path: self.state.path.ids(tree),
            not_on_path: tree.len().saturating_sub(nodes.len()),
            nodes,
            local_ids: self.added.as_ref().map(|added| added.local_ids.clone()).unwrap_or_default(),
            preferences,
            diagnostics,
            body,
            headers,
        }
    }

    /// The fate of each node.
    fn node_reports(&self, mut rows: Vec<Row>, planned: &Planned<'a>) -> Vec<NodeReport<'a>> {
        let removed = self.plan.removed(&planned.choice);
        for member in self.skipped() {
            set_fate(&mut rows, member.entry.row, Fate::Cut, Reason::Compacted);
        }
        for member in self.removed_members(&removed) {
            set_fate(&mut rows, member.entry.row, Fate::Cut, Reason::OverLimit);
        }
        let mut left = vec![None; rows.len()];
        for &(at, tokens) in &removed.partial {
            let Some(member) = self.items.member(at) else { continue };
            set_fate(&mut rows, member.entry.row, Fate::Changed, Reason::Shortened);
            left.get_mut(member.entry.row).into_iter().for_each(|place| *place = Some(tokens));
        }
        let members = &self.state.conversation.members;
        let mut tokens = vec![None; rows.len()];
        for (cost, member) in self.tokens_of_members().zip(members) {
            let place = tokens.get_mut(member.entry.row);
            place.into_iter().for_each(|place| *place = Some(cost));
        }
        let mut messages = vec![None; rows.len()];
        for (at, message) in planned.item_messages() {
            let member = self.items.number(at).and_then(|number| members.get(number));
            let place = member.and_then(|member| messages.get_mut(member.entry.row));
            place.into_iter().for_each(|place| *place = Some(message));
        }
        let tree = self.context.tree;
        let pinned = |row: &Row| self.added.as_ref().is_some_and(|added| added.pinned.contains(&row.node));
        let report = |(at, (row, tokens)): (usize, (&Row, Option<u64>))| NodeReport {
            node_id: &tree.at(row.node).id,
            part: row.part,
            fate: row.fate,
            reason: row.reason,
            tokens: tokens.unwrap_or_else(|| parts::content_cost(tree.at(row.node), &self.context.prices)),
            tokens_after: left.get(at).copied().flatten(),
            message: messages.get(at).copied().flatten(),
            pinned: pinned(row),
        };
        rows.iter().zip(tokens).enumerate().map(report).collect()
    }
}
