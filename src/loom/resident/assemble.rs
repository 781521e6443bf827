//! Dialogues, documents and bodies from a resident tree.

use std::rc::Rc;

use serde::Serialize;

use super::loom_tree::{KeptMessages, LoomTree};
use crate::assembly::body::body;
use crate::assembly::message_index::{MessageKind, PreviousMessages};
use crate::assembly::plan::Planned;
use crate::error::Result;
use crate::loom::body::body_of_buffer;
use crate::loom::buffer::{self, BufferAssembly};
use crate::loom::dialogue::{DialogueAssembly, DialoguePlan, Purpose, plan_dialogue};
use crate::loom::fit_state::FitState;
use crate::loom::path_state::PathState;
use crate::loom::report::{Cut, Report, ReportSummary, Tokens};
use crate::loom::request::Options;
use crate::loom::select::Mode;
use crate::prompt::Message;
use crate::prompt::bodies::{Provider, Target};
use crate::tokens::memory::CachingCounter;

/// A dialogue with a report without node lists, whose size does not depend on the path.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DialogueSummary<'a> {
    /// The combined system context; absent if empty, or if it is in `messages`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system: Option<String>,
    /// The messages, oldest first.
    pub messages: Vec<Message<'a>>,
    /// The report in numbers.
    pub report: ReportSummary,
    /// The state for the next dialogue of a series; absent without [`Options::previous`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<FitState>,
}

/// The body of a request, with a report without node lists.
#[derive(Clone, Debug, PartialEq)]
pub struct SummarizedBody {
    /// JSON in UTF-8, ready to be sent.
    pub bytes: Vec<u8>,
    /// The report; its diagnostics include content that the provider cannot express.
    pub report: ReportSummary,
    /// The state for the next dialogue of a series; absent without [`Options::previous`].
    pub state: Option<FitState>,
}

/// The cost of a whole path, before any cut.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Measure {
    /// The limit: `contextWindow − tokenBuffer`.
    pub limit: u64,
    /// The cost of the request if the whole path were sent.
    pub tokens: Tokens,
    /// Tokens still free; negative if the path is over the limit.
    pub remaining: i64,
    /// Nodes of the conversation: nodes of the path and its sources that no rule excludes.
    pub nodes: usize,
    /// The number of nodes on the path, before exclusion.
    pub path_length: usize,
}

/// A dialogue for a caller that keeps the messages of the previous one, so that only new ones are transferred.
#[derive(Clone, Debug, PartialEq)]
pub struct DialogueDelta<'a, R = ReportSummary> {
    /// The number of this delta, to be passed to the next call; never 0.
    pub number: u32,
    /// The combined system context; absent if empty, or if it is in a message.
    pub system: Option<String>,
    /// The messages, oldest first.
    pub changes: Vec<Change<'a>>,
    /// The report: in numbers, or complete.
    pub report: R,
    /// The state for the next dialogue of a series; absent without [`Options::previous`].
    pub state: Option<FitState>,
}

/// The source of messages of a delta.
#[derive(Clone, Debug, PartialEq)]
pub enum Change<'a> {
    /// Unchanged messages of the previous dialogue.
    Same {
        /// Index of the first of them.
        from: usize,
        /// Their number.
        count: usize,
    },
    /// A new message.
    New {
        /// The message.
        message: Message<'a>,
        /// Whether a later delta may refer to it. If not, it still has an index.
        keep: bool,
    },
}

impl LoomTree {
    /// Assembles a dialogue, with the result of [`assemble_dialogue`](crate::loom::assemble_dialogue) for the current
    /// tree.
    ///
    /// # Errors
    /// As [`assemble_dialogue`](crate::loom::assemble_dialogue).
    pub fn assemble_dialogue<'a>(
        &'a mut self,
        options: &'a Options,
        counter: &'a CachingCounter<'a>,
    ) -> Result<DialogueAssembly<'a>> {
        let this: &'a Self = self;
        this.plan(options, counter, Purpose::Send, |plan| plan.assembly(Some(&this.previous)))
    }

    /// Assembles a dialogue with a report without node lists. Its cost does not depend on the removed part of the path.
    ///
    /// # Errors
    /// As [`LoomTree::assemble_dialogue`].
    pub fn summarize_dialogue<'a>(
        &'a mut self,
        options: &'a Options,
        counter: &'a CachingCounter<'a>,
    ) -> Result<DialogueSummary<'a>> {
        let this: &'a Self = self;
        this.plan(options, counter, Purpose::Send, |plan| {
            let mut planned = plan.choose()?;
            let report = plan.summary(&mut planned, Some(&this.previous));
            let state = plan.fit_state(&planned);
            Ok(DialogueSummary { system: plan.system(), messages: plan.plan.messages(&planned), report, state })
        })
    }

    /// Assembles a dialogue for a caller that keeps the messages of the delta with the number `have`, the last that
    /// this tree returned; with any other number, such as 0, all messages are new.
    ///
    /// # Errors
    /// As [`LoomTree::assemble_dialogue`].
    pub fn dialogue_delta<'a>(
        &'a mut self,
        options: &'a Options,
        counter: &'a CachingCounter<'a>,
        have: u32,
    ) -> Result<DialogueDelta<'a>> {
        let this: &'a Self = self;
        this.delta(options, counter, have, |plan, planned| plan.summary(planned, Some(&this.previous)))
    }

    /// Like [`Self::dialogue_delta`], with the complete report.
    ///
    /// # Errors
    /// As [`LoomTree::assemble_dialogue`].
    pub fn assembly_delta<'a>(
        &'a mut self,
        options: &'a Options,
        counter: &'a CachingCounter<'a>,
        have: u32,
    ) -> Result<DialogueDelta<'a, Report<'a>>> {
        let this: &'a Self = self;
        this.delta(options, counter, have, |plan, planned| plan.report(planned, Some(&this.previous)))
    }

    fn delta<'a, R>(
        &'a self,
        options: &'a Options,
        counter: &'a CachingCounter<'a>,
        have: u32,
        report: impl Fn(&DialoguePlan<'_, 'a>, &mut Planned<'a>) -> R,
    ) -> Result<DialogueDelta<'a, R>> {
        let mut kept = self.kept.borrow_mut();
        if have == 0 || have != kept.number {
            kept.known = PreviousMessages::default();
        }
        let KeptMessages { number, known } = &mut *kept;
        self.plan(options, counter, Purpose::Send, |plan| {
            let mut planned = plan.choose()?;
            let report = report(&plan, &mut planned);
            let runs = planned.runs(known);
            let mut changes = Vec::new();
            for run in &runs {
                match run.known {
                    Some(from) => changes.push(Change::Same { from, count: run.count }),
                    None => changes.extend((run.from..).take(run.count).map(|at| Change::New {
                        message: plan.plan.message(&planned, at),
                        keep: planned.index.kind(at) == MessageKind::ItemTexts,
                    })),
                }
            }
            known.replace(Rc::clone(&planned.index), &runs);
            *number = number.checked_add(1).unwrap_or(1);
            let state = plan.fit_state(&planned);
            Ok(DialogueDelta { number: *number, system: plan.system(), changes, report, state })
        })
    }

    /// Assembles the path and writes the body for a target, as [`request_body`](crate::loom::request_body), with a
    /// report without node lists.
    ///
    /// # Errors
    /// As [`request_body`](crate::loom::request_body).
    pub fn request_body(
        &mut self,
        options: &Options,
        target: &Target,
        counter: &CachingCounter<'_>,
    ) -> Result<SummarizedBody> {
        self.show_body(options, target, counter, |bytes, report, state| SummarizedBody {
            bytes: bytes.to_vec(),
            report,
            state,
        })
    }

    /// Like [`Self::request_body`], but lends the bytes to a function: if the tree keeps them, they are not copied.
    ///
    /// # Errors
    /// As [`LoomTree::request_body`].
    pub fn show_body<R>(
        &mut self,
        options: &Options,
        target: &Target,
        counter: &CachingCounter<'_>,
        show: impl FnOnce(&[u8], ReportSummary, Option<FitState>) -> R,
    ) -> Result<R> {
        if target.provider == Provider::Completion {
            let assembly = self.assemble_buffer(options, counter)?;
            let (bytes, found) = body_of_buffer(&assembly, target)?;
            let mut report = ReportSummary::of(&assembly.report);
            report.diagnostics.extend(found);
            return Ok(show(&bytes, report, None));
        }
        let mut last_body = self.last_body.borrow_mut();
        let last = last_body.take().filter(|(provider, _)| *provider == target.provider);
        let mut last = last.map(|(_, body)| body).unwrap_or_default();
        let context = self.context(options, counter, Mode::Dialogue).for_target(target);
        plan_dialogue(context, &mut self.dialogue.borrow_mut(), Purpose::Send, |plan| {
            let mut planned = plan.choose()?;
            let mut report = plan.summary(&mut planned, Some(&self.previous));
            let hints = plan.plan.hints(&planned, report.prefix.as_ref());
            let (written, runs) = body(&plan.plan, &planned, target, &hints, &last, &mut report.diagnostics)?;
            let shown = show(&written.bytes, report, plan.fit_state(&planned));
            if !runs.is_empty() {
                last.known.replace(Rc::clone(&planned.index), &runs);
                last.written = written;
                *last_body = Some((target.provider, last));
            }
            Ok(shown)
        })
    }

    /// The cost of the whole path as a dialogue, and its distance from the limit. Nothing is rendered.
    ///
    /// # Errors
    /// Those of the path and of the settings.
    pub fn measure_path(&mut self, options: &Options, counter: &CachingCounter<'_>) -> Result<Measure> {
        self.plan(options, counter, Purpose::Measure, |plan| {
            let (tokens, nodes) = plan.whole();
            let limit = plan.plan.limit;
            let remaining = signed(limit).saturating_sub(signed(tokens.total));
            Ok(Measure { limit, remaining, nodes, path_length: plan.path_length(), tokens })
        })
    }

    /// The cut that a dialogue of the path would have, as in reports; `None` if the whole path fits.
    ///
    /// # Errors
    /// As [`LoomTree::assemble_dialogue`].
    pub fn would_cut<'a>(
        &'a mut self,
        options: &'a Options,
        counter: &'a CachingCounter<'a>,
    ) -> Result<Option<Cut<'a>>> {
        self.plan(options, counter, Purpose::Send, |plan| plan.would_cut())
    }

    /// Assembles a document, with the result of [`assemble_buffer`](crate::loom::assemble_buffer) for the current tree.
    ///
    /// # Errors
    /// As [`assemble_buffer`](crate::loom::assemble_buffer).
    pub fn assemble_buffer<'a>(
        &'a self,
        options: &'a Options,
        counter: &'a CachingCounter<'a>,
    ) -> Result<BufferAssembly<'a>> {
        let context = self.context(options, counter, Mode::Buffer);
        match self.document.try_borrow_mut() {
            Ok(mut state) => buffer::document(&context, &mut state),
            // A custom counter may request a document while it counts one.
            Err(_) => buffer::document(&context, &mut PathState::default()),
        }
    }

    fn plan<'a, R>(
        &'a self,
        options: &'a Options,
        counter: &'a CachingCounter<'a>,
        purpose: Purpose,
        then: impl FnOnce(DialoguePlan<'_, 'a>) -> Result<R>,
    ) -> Result<R> {
        let context = self.context(options, counter, Mode::Dialogue);
        plan_dialogue(context, &mut self.dialogue.borrow_mut(), purpose, then)
    }
}

fn signed(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}
