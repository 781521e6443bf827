//! The body of a provider's request, from a plan.

use std::ops::Range;

use crate::assembly::message_index::{MessageKind, PreviousMessages, Run};
use crate::assembly::plan::{Plan, Planned};
use crate::assembly::preserved::{PreservedThinking, ThinkingFate, ThinkingRule, drop_blocks, is_signed};
use crate::content::{Block, Role, Vendor};
use crate::error::{Diagnostic, Result};
use crate::json::TextWriter;
use crate::prompt::bodies::{Hints, Provider, Target, write_body, write_texts};
use crate::vendors::anthropic::blocks::is_server_call_id;
use crate::vendors::bodies::reuse::{MessageSource, WrittenBody};
use crate::vendors::message::Message;

/// The target, with `token_buffer` as the default output limit.
pub(crate) fn with_fallback(target: &Target, token_buffer: u64) -> Target {
    Target { fallback_max_tokens: token_buffer, ..target.clone() }
}

/// The last written body, and its messages.
#[derive(Debug, Default)]
pub(crate) struct PreviousBody {
    pub written: WrittenBody,
    pub known: PreviousMessages,
}

/// The body. If the conversation is plain texts, unchanged parts are copied from the last body, and the runs that the
/// next body can copy are returned; otherwise there are no runs.
pub(crate) fn body<'a>(
    plan: &Plan<'_, 'a>,
    planned: &Planned<'a>,
    target: &Target,
    hints: &Hints,
    last: &PreviousBody,
    diagnostics: &mut Vec<Diagnostic>,
) -> Result<(WrittenBody, Vec<Run>)> {
    let mut target = with_fallback(target, plan.settings.token_buffer);
    if planned.choice.thinking.drops_blocks && target.provider == Provider::Anthropic {
        drop_blocks(&mut target.fields);
    }
    let lead = plan.system.messages();
    let texts = planned.index.messages.get(lead..).unwrap_or_default();
    if texts.is_empty() || texts.iter().any(|message| message.kind == MessageKind::Parts) {
        let mut messages: Vec<_> = (0..planned.index.messages.len()).map(|at| plan.content_of(planned, at)).collect();
        if let (Provider::Anthropic, Some(ThinkingRule::Refused(rule))) = (target.provider, plan.thinking) {
            settle_separated_thinking(&mut messages, rule, diagnostics);
        }
        let bytes = write_body(plan.system.field(), &messages, &target, hints, diagnostics)?;
        return Ok((WrittenBody::new(bytes), Vec::new()));
    }
    let system = match plan.system.role {
        Some(role) => Some((Some(role), plan.system.text.as_str())),
        None => plan.system.field().map(|system| (None, system)),
    };
    // A system context that is a message is not one of the texts.
    let is_system = |role: Role| !matches!(role, Role::User | Role::Assistant);
    let lead_before = last.known.index.messages.iter().take_while(|message| is_system(message.role)).count();
    let texts = PlannedTexts { plan, planned, lead, lead_before, runs: planned.runs(&last.known) };
    let written = write_texts(system, &texts, &target, hints, &last.written, diagnostics)?;
    Ok((written, texts.runs))
}

/// Removes or reports signed thinking after the result of a tool that Anthropic ran. The vendor wrote both in one
/// message; in a body the call is a function's, whose result is a separate message, so the thinking would be bound to
/// other messages.
fn settle_separated_thinking(messages: &mut [Message<'_>], rule: PreservedThinking, diagnostics: &mut Vec<Diagnostic>) {
    for Message { content, node_ids, .. } in messages.iter_mut().filter(|message| message.role == Role::Assistant) {
        let is_result =
            |block: &Block| matches!(block, Block::ToolResult { tool_call_id, .. } if is_server_call_id(tool_call_id));
        let Some(result) = content.iter().position(is_result) else { continue };
        let is_invalid = |block: &Block| is_signed(block, Vendor::Anthropic);
        let fate = match rule {
            PreservedThinking::Strip => ThinkingFate::Removed,
            PreservedThinking::Keep => ThinkingFate::Refused,
            PreservedThinking::DropBlock => continue,
        };
        let after = content.split_off(result);
        if after.iter().any(is_invalid) {
            diagnostics.extend(node_ids.first().map(|node| fate.in_tree(node)));
        }
        content.extend(after.into_iter().filter(|block| rule == PreservedThinking::Keep || !is_invalid(block)));
    }
}

#[derive(Debug)]
struct PlannedTexts<'s, 'p, 'a> {
    plan: &'s Plan<'p, 'a>,
    planned: &'s Planned<'a>,
    /// Messages before the texts.
    lead: usize,
    /// Messages before the texts in the last body.
    lead_before: usize,
    runs: Vec<Run>,
}

impl MessageSource for PlannedTexts<'_, '_, '_> {
    fn count(&self) -> usize {
        self.planned.index.messages.len() - self.lead
    }

    fn role(&self, at: usize) -> Role {
        self.planned.index.role(at + self.lead)
    }

    fn write_text(&self, at: usize, out: &mut TextWriter<'_>) {
        let write = &mut |text: &str, is_escaped, _| if is_escaped { out.escaped(text) } else { out.plain(text) };
        self.plan.write_text(self.planned, at + self.lead, true, write);
    }

    fn size_hint(&self, at: usize) -> usize {
        self.planned.index.messages.get(at + self.lead).map_or(0, |message| message.bytes as usize)
    }

    fn node(&self, at: usize) -> Option<&str> {
        let mut ids = self.plan.message_ids(self.planned, at + self.lead);
        ids.next().filter(|_| ids.next().is_none())
    }

    fn unchanged(&self, at: usize) -> Range<usize> {
        let at = at + self.lead;
        let run = self.runs.get(self.runs.partition_point(|run| run.from + run.count <= at));
        let known = run.and_then(|run| Some((run, run.known?.checked_sub(self.lead_before)?)));
        known.map_or(0..0, |(run, known)| known + (at - run.from)..known + run.count)
    }
}
