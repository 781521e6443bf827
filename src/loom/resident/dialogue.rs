//! Dialogues from a tree that stays.
//!
//! This is [`assemble_dialogue`](crate::loom::assemble_dialogue) over a [`Line`](super::line::Line): the same steps, but
//! that what the line knows already is not done again, and only what is kept is looked at node by node. Where the line is
//! of no use (an explicit path, included annotations), or nothing fits whole, the general function does the work.

use std::cell::RefCell;
use std::rc::Rc;

use serde::Serialize;

use super::LoomTree;
use super::line::Ground;
use super::send::{Budgeted, Sent};
use super::turns::{Known, Run, Says, Turn, Turns};
use crate::error::{Diagnostic, Result};
use crate::loom::assemble;
use crate::loom::body::{body_of_buffer, body_of_dialogue};
use crate::loom::dialogue::{DialogueAssembly, assemble_dialogue};
use crate::loom::preferences::{DIALOGUE_MARKER, Settings, Strategy};
use crate::loom::report::{Cached, Cut, Report, Tokens};
use crate::loom::request::Options;
use crate::prompt::bodies::{Provider, Target, WrittenBody};
use crate::prompt::{Message, message_hash, system_hash};
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

/// A dialogue for somebody who keeps the messages of the one before, so that only what is new has to be handed over.
#[derive(Clone, Debug, PartialEq)]
pub struct DialogueDelta<'a, R = ReportSummary> {
    /// The number of this delta, to be given back with the next call; never 0.
    pub number: u32,
    /// The combined system context; absent when empty, and when it stands in a message.
    pub system: Option<String>,
    /// What the messages are, oldest first.
    pub changes: Vec<Change<'a>>,
    /// What was done: in numbers, or the whole account.
    pub report: R,
}

/// Where messages of a delta come from.
#[derive(Clone, Debug, PartialEq)]
pub enum Change<'a> {
    /// So many messages of the dialogue before, as they were.
    Same {
        /// The first of them.
        from: usize,
        /// How many.
        count: usize,
    },
    /// A message that was not in the dialogue before.
    New {
        /// The message.
        message: Message<'a>,
        /// Whether a later delta may refer to it. If not, it still takes a place in the list.
        keep: bool,
    },
}

/// The dialogue before, by the hashes of what it said.
#[derive(Debug, Default)]
pub(super) struct Previous {
    system: u64,
    known: Known,
}

impl Previous {
    pub(super) fn known(&self) -> &Known {
        &self.known
    }

    /// How many leading messages are the same; none where the system context is another.
    pub(super) fn shared(&self, system: u64, turns: &Turns) -> Option<usize> {
        let same = turns.turns.iter().zip(&self.known.turns.turns).take_while(|(now, before)| now.hash == before.hash);
        (self.system == system).then(|| same.count())
    }

    pub(super) fn replace(&mut self, system: u64, turns: Rc<Turns>, runs: &[Run]) {
        self.system = system;
        self.known.replace(turns, runs);
    }
}

/// The messages that somebody else keeps.
#[derive(Debug, Default)]
pub(super) struct Given {
    number: u32,
    known: Known,
}

/// The body that was written last.
#[derive(Debug)]
pub(super) struct LastBody {
    provider: Provider,
    written: WrittenBody,
    known: Known,
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
            if let Some((budgeted, mut sent)) = this.send(&ground, settings, limit) {
                let report = budgeted.report(&mut sent, &this.previous);
                let system = budgeted.system().map(str::to_owned);
                return Ok(DialogueAssembly { system, messages: budgeted.messages(&sent), report });
            }
        }
        this.assemble_anew(options, counter)
    }

    /// What the line is of no use for.
    fn assemble_anew<'a>(&'a self, options: &'a Options, counter: &'a Remembering<'a>) -> Result<DialogueAssembly<'a>> {
        let mut assembly = assemble_dialogue(&self.tree, options, counter)?;
        let system = system_hash(assembly.system.as_deref());
        let turn =
            |message: &Message<'_>| Turn { role: message.role, end: 0, says: Says::Else, hash: message_hash(message) };
        let turns = Turns { turns: assembly.messages.iter().map(turn).collect(), nodes: Vec::new() };
        let mut previous = self.previous.borrow_mut();
        if options.previous.is_none() {
            let shared = previous.as_ref().and_then(|previous| previous.shared(system, &turns));
            let prices = self.ground(options, counter).prices();
            let messages = assembly.messages.iter().take(shared.unwrap_or(0));
            let tokens: u64 = messages.map(|message| prices.message(message) + prices.overhead.per_message).sum();
            let system = if shared.is_some() && assembly.system.is_some() { assembly.report.tokens.system } else { 0 };
            let messages = shared.unwrap_or(0);
            assembly.report.cache = Some(Cached { messages, tokens: tokens + system, fingerprint: None });
        }
        previous.get_or_insert_default().replace(system, Rc::new(turns), &[]);
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
        let ready = self.ready(options, counter)?;
        let this: &'a Self = self;
        if let Some((settings, limit)) = ready {
            let ground = this.ground(options, counter);
            if let Some((budgeted, mut sent)) = this.send(&ground, settings, limit) {
                let (report, _) = budgeted.sum_up(&mut sent, &this.previous);
                let system = budgeted.system().map(str::to_owned);
                return Ok(DialogueSummary { system, messages: budgeted.messages(&sent), report });
            }
        }
        Ok(summary(this.assemble_anew(options, counter)?))
    }

    /// The same for somebody who keeps the messages of the delta with the number `have`, which is the last that this tree
    /// gave; with any other number, such as 0, all messages are new.
    ///
    /// # Errors
    /// As [`LoomTree::assemble_dialogue`].
    pub fn dialogue_delta<'a>(
        &'a mut self,
        options: &'a Options,
        counter: &'a Remembering<'a>,
        have: u32,
    ) -> Result<DialogueDelta<'a>> {
        let sum_up = |budgeted: &Budgeted<'_, 'a>, sent: &mut Sent, previous: &_| budgeted.sum_up(sent, previous).0;
        self.delta(options, counter, have, sum_up, report_summary)
    }

    /// The same with the whole account.
    ///
    /// # Errors
    /// As [`LoomTree::assemble_dialogue`].
    pub fn assembly_delta<'a>(
        &'a mut self,
        options: &'a Options,
        counter: &'a Remembering<'a>,
        have: u32,
    ) -> Result<DialogueDelta<'a, Report<'a>>> {
        let report = |budgeted: &Budgeted<'_, 'a>, sent: &mut Sent, previous: &_| budgeted.report(sent, previous);
        self.delta(options, counter, have, report, |report| report)
    }

    fn delta<'a, R>(
        &'a mut self,
        options: &'a Options,
        counter: &'a Remembering<'a>,
        have: u32,
        report: impl Fn(&Budgeted<'_, 'a>, &mut Sent, &RefCell<Option<Previous>>) -> R,
        shorten: impl Fn(Report<'a>) -> R,
    ) -> Result<DialogueDelta<'a, R>> {
        let ready = self.ready(options, counter)?;
        let this: &'a Self = self;
        let mut given = this.given.borrow_mut();
        if have == 0 || have != given.number {
            given.known = Known::default();
        }
        let number = given.number.checked_add(1).unwrap_or(1);
        if let Some((settings, limit)) = ready {
            let ground = this.ground(options, counter);
            if let Some((budgeted, mut sent)) = this.send(&ground, settings, limit) {
                let report = report(&budgeted, &mut sent, &this.previous);
                let runs = sent.runs(&given.known);
                let mut changes = Vec::new();
                for run in &runs {
                    match run.known {
                        Some(from) => changes.push(Change::Same { from, count: run.count }),
                        None => changes.extend((run.from..).take(run.count).map(|at| Change::New {
                            message: budgeted.message(&sent, at),
                            keep: sent.says(at) == Says::Texts,
                        })),
                    }
                }
                given.known.replace(Rc::clone(&sent.turns), &runs);
                given.number = number;
                let system = budgeted.system().map(str::to_owned);
                return Ok(DialogueDelta { number, system, changes, report });
            }
        }
        let DialogueAssembly { system, messages, report } = this.assemble_anew(options, counter)?;
        (given.known, given.number) = (Known::default(), number);
        let changes = messages.into_iter().map(|message| Change::New { message, keep: false }).collect();
        Ok(DialogueDelta { number, system, changes, report: shorten(report) })
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
        self.show_body(options, target, counter, |bytes, report| SummarizedBody { bytes: bytes.to_vec(), report })
    }

    /// The same, with a look at the bytes: where the tree keeps them, they are not copied.
    ///
    /// # Errors
    /// As [`LoomTree::request_body`].
    pub fn show_body<R>(
        &mut self,
        options: &Options,
        target: &Target,
        counter: &Remembering<'_>,
        show: impl FnOnce(&[u8], ReportSummary) -> R,
    ) -> Result<R> {
        if target.provider == Provider::Completion {
            let assembly = self.assemble_buffer(options, counter)?;
            let (bytes, found) = body_of_buffer(&assembly, target)?;
            let mut report = report_summary(assembly.report);
            report.diagnostics.extend(found);
            return Ok(show(&bytes, report));
        }
        let last = self.last_body.take().filter(|last| last.provider == target.provider);
        if let Some((settings, limit)) = self.ready(options, counter)? {
            let ground = self.ground(options, counter);
            if let Some((budgeted, mut sent)) = self.send(&ground, settings, limit) {
                let (mut report, hints) = budgeted.sum_up(&mut sent, &self.previous);
                let (before, known) = match last {
                    Some(LastBody { written, known, .. }) => (written, known),
                    None => Default::default(),
                };
                let written = budgeted.texts(&sent, target, &hints, (&before, &known), &mut report.diagnostics)?;
                if let Some((written, runs)) = written {
                    let mut known = known;
                    known.replace(Rc::clone(&sent.turns), &runs);
                    let shown = show(&written.bytes, report);
                    self.last_body = Some(LastBody { provider: target.provider, written, known });
                    return Ok(shown);
                }
                let bytes = budgeted.body(&sent, target, &hints, &mut report.diagnostics)?;
                return Ok(show(&bytes, report));
            }
        }
        let assembly = self.assemble_anew(options, counter)?;
        let (bytes, found) = body_of_dialogue(&assembly, target)?;
        let mut report = report_summary(assembly.report);
        report.diagnostics.extend(found);
        Ok(show(&bytes, report))
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
    ) -> Option<(Budgeted<'l, 'a>, Sent)>
    where
        'a: 'l,
    {
        let budgeted = Budgeted::new(ground, &self.line, settings, limit);
        let (kept, marker) = budgeted.choose()?;
        let sent = budgeted.send(kept, marker, &self.stamps);
        Some((budgeted, sent))
    }
}

/// The largest window that the settings take.
const ROOMY: f64 = 9_007_199_254_740_991.0;

/// The short account of an assembly.
fn summary(assembly: DialogueAssembly<'_>) -> DialogueSummary<'_> {
    let DialogueAssembly { system, messages, report } = assembly;
    DialogueSummary { system, messages, report: report_summary(report) }
}

fn report_summary(report: Report<'_>) -> ReportSummary {
    ReportSummary::of(&report)
}

impl ReportSummary {
    /// The numbers of a whole account.
    pub fn of(report: &Report<'_>) -> Self {
        let cut = report.cut.as_ref().map(|cut| CutSummary {
            nodes: cut.node_ids.len(),
            partial_nodes: cut.partial_node_ids.len(),
            tokens: cut.tokens,
            position: cut.position,
            marker: cut.marker.clone(),
        });
        Self {
            strategy: report.strategy,
            limit: report.limit,
            tokens: report.tokens.clone(),
            truncated: report.truncated,
            cut,
            cache: report.cache.clone(),
            minimum_recent_nodes_met: report.minimum_recent_nodes_met,
            path_length: report.path.len(),
            preferences: report.preferences.clone(),
            diagnostics: report.diagnostics.clone(),
        }
    }
}

pub(super) fn signed(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}
