//! Buffer mode: a path becomes one document (docs/loom.md).

use serde::Serialize;

use crate::assembly::budget::check_system;
use crate::assembly::document::{DocumentPlan, KeptText, Places, SourceText};
use crate::assembly::render::JOIN;
use crate::assembly::settings::{Fill, TEXT_MARKER};
use crate::content::Block;
use crate::error::{Diagnostic, DiagnosticCode, Result, Severity};
use crate::loom::budget::settings;
use crate::loom::fit_state::Previous;
use crate::loom::loom_context;
use crate::loom::parts;
use crate::loom::path_context::PathContext;
use crate::loom::path_state::PathState;
use crate::loom::report::{Cut, Fate, NodeReport, Reason, Report, Tokens};
use crate::loom::request::{Options, SystemPlacement};
use crate::loom::select::{Entry, Mode, Row, check_annotations, set_fate};
use crate::loom::system;
use crate::loom::tree::Tree;
use crate::text::Utf16Offsets;
use crate::tokens::Counter;

/// A document ready to be sent.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BufferAssembly<'a> {
    /// The combined system context; absent if the tree does not request it, or if it begins the document.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system: Option<String>,
    /// The document.
    pub document: String,
    /// The place of each node in the document, in order. A node cut in its middle has two spans, one removed completely
    /// has none.
    pub spans: Vec<NodeSpan<'a>>,
    /// The place of the working buffer; absent without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub working_buffer_span: Option<Span>,
    /// The report.
    pub report: Report<'a>,
}

/// From `start` up to, not including, `end`, in UTF-16 code units.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Span {
    /// The first code unit.
    pub start: usize,
    /// The one after the last.
    pub end: usize,
}

/// The span of one node, in UTF-16 code units.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NodeSpan<'a> {
    /// The first code unit.
    pub start: usize,
    /// The one after the last.
    pub end: usize,
    /// The node.
    pub node_id: &'a str,
}

/// Assembles the path into one document within the limit (docs/loom.md).
///
/// # Errors
/// As [`assemble_dialogue`](crate::loom::assemble_dialogue).
pub fn assemble_buffer<'a>(
    tree: &'a Tree<'a>,
    options: &'a Options,
    counter: &'a dyn Counter,
) -> Result<BufferAssembly<'a>> {
    document(&PathContext::new(tree, options, Mode::Buffer, counter), &mut PathState::default())
}

/// Advances the state to the path of the options, and assembles the document.
pub(crate) fn document<'a>(context: &PathContext<'a>, state: &mut PathState) -> Result<BufferAssembly<'a>> {
    let PathContext { tree, options, prices, .. } = *context;
    let (mut settings, limit) = settings(tree, options, TEXT_MARKER)?;
    // Both apply to dialogues only: a document is cut exactly to the limit.
    (settings.protect, settings.fill) = (Vec::new(), Fill::Off);
    if !state.is_for(context) {
        *state = PathState::default();
    }
    if let Err(error) = state.advance(context) {
        *state = PathState::default();
        return Err(error);
    }
    let mut diagnostics = state.diagnostics(tree, &options.choices);
    check_annotations(tree, &state.selected, options, &mut diagnostics)?;
    let of_series = [("previous", options.previous != Previous::None), ("cutTo", options.cut_to.is_some())];
    for (name, _) in of_series.into_iter().filter(|(_, is_given)| *is_given) {
        let message = format!("`{name}` applies to dialogues only; it was ignored for a document");
        let ignored = Diagnostic::new(DiagnosticCode::OptionIgnored, Severity::Info, message);
        diagnostics.push(ignored.at_path(name));
    }
    let addendum = loom_context::addendum(options, context.mode, &mut diagnostics);
    let mut rows = state.selected.rows(tree);
    let selection = &state.selected.selection;
    let prompt = options.system_prompt.as_deref();
    let system = if tree.settings().buffer_mode_system_context {
        system::combine(tree, prompt, &addendum, &selection.instructions, &mut diagnostics)
    } else {
        for entry in &selection.instructions {
            set_fate(&mut rows, entry.row, Fate::Excluded, Reason::SystemContextOff);
        }
        let left_out = system::combine(tree, prompt, &addendum, &selection.instructions, &mut Vec::new());
        if !left_out.is_empty() {
            let message = "the system context was left out of the document; set `bufferModeSystemContext` in the tree to include it";
            diagnostics.push(Diagnostic::new(DiagnosticCode::SystemContextLeftOut, Severity::Info, message));
        }
        String::new()
    };
    let source = concatenate(context, &selection.entries, &mut diagnostics);

    let in_document = matches!(options.system_placement, SystemPlacement::Message(_)) && !system.is_empty();
    let mut preface = if in_document { format!("{system}{JOIN}") } else { String::new() };
    let system_field = if in_document { 0 } else { prices.text(&system) };
    let preface_tokens = prices.text(&preface);
    let fixed = system_field + options.overhead.per_request;
    check_system(&system, fixed + preface_tokens, limit)?;
    preface.push_str(options.buffer_prefix.as_ref().or(tree.settings().buffer_prefix.as_ref()).map_or("", |it| it));

    let plan = DocumentPlan::new(&source, &settings, limit, &preface, fixed, prices.counter);
    let kept = plan.choose(selection.entries.iter().map(|entry| &*tree.at(entry.node).id))?;
    let (document, places) = plan.render(kept);
    let total = plan.cost(kept);
    debug_assert_eq!(total, fixed + prices.text(&document), "the count by paragraphs differs from the count");
    debug_assert!(total <= limit, "over the limit");
    let system_tokens = if in_document { preface_tokens } else { system_field };
    let tokens = Tokens {
        system: system_tokens,
        messages: total.saturating_sub(system_tokens + options.overhead.per_request),
        overhead: options.overhead.per_request,
        total,
        tokenizer: context.tokenizer().to_owned(),
        tokenizer_error: context.tokenizer_error(),
        loom_aware: None,
    };
    let page = Page { context, entries: &selection.entries, source: &source, kept, places, document: &document };
    let (spans, working_buffer_span) = page.spans();
    let cut = page.cut(&mut rows);
    let truncated = kept.tail > kept.head;
    let met = kept.tail <= source.recent(settings.minimum_recent_nodes);
    let nodes = page.node_reports(&rows);
    let report = Report {
        strategy: settings.truncation_strategy,
        limit,
        tokens,
        truncated,
        cut: truncated.then_some(cut),
        prefix: None,
        minimum_recent_nodes_met: !truncated || met,
        path: state.ids(tree),
        not_on_path: tree.len().saturating_sub(nodes.len()),
        nodes,
        local_ids: Vec::new(),
        preferences: settings,
        diagnostics,
        body: None,
        headers: None,
    };
    let system = (!in_document && !system.is_empty()).then_some(system);
    Ok(BufferAssembly { system, document, spans, working_buffer_span, report })
}

fn concatenate(context: &PathContext<'_>, entries: &[Entry], diagnostics: &mut Vec<Diagnostic>) -> SourceText {
    let mut source = SourceText::default();
    for entry in entries {
        let node = context.tree.at(entry.node);
        let texts = node.content.iter().filter_map(|block| match block {
            Block::Text(text) => Some(&**text),
            _ => {
                let message = "a document can hold text only; another block was left out";
                let diagnostic = Diagnostic::new(DiagnosticCode::NonTextLeftOut, Severity::Warning, message);
                diagnostics.push(diagnostic.about_node(&node.id));
                None
            }
        });
        source.push(texts, &context.prices);
    }
    source.close(&context.options.working_buffer, &context.prices);
    source
}

/// A document and its nodes, for the report.
struct Page<'p, 'a> {
    context: &'p PathContext<'a>,
    /// The entries, in the order of the parts of the source.
    entries: &'p [Entry],
    source: &'p SourceText,
    kept: KeptText,
    places: Places,
    document: &'p str,
}

impl<'a> Page<'_, 'a> {
    fn id(&self, entry: &Entry) -> &'a str {
        &self.context.tree.at(entry.node).id
    }

    /// The places of each node and of the working buffer.
    fn spans(&self) -> (Vec<NodeSpan<'a>>, Option<Span>) {
        let mut offsets = Utf16Offsets::new(self.document);
        let parts = self.entries.iter().zip(&self.source.parts);
        let pieces = parts.flat_map(|(entry, part)| {
            self.places.pieces(part.start, part.end).map(move |(start, end)| (start, end, self.id(entry)))
        });
        let mut spans = Vec::with_capacity(self.entries.len());
        for (start, end, node_id) in pieces {
            let start = offsets.at(start);
            spans.push(NodeSpan { start, end: offsets.at(end), node_id });
        }
        let working = self.source.working_buffer();
        let pieces: Vec<(usize, usize)> = self.places.pieces(working.start, working.end).collect();
        let span = match (pieces.first(), pieces.last()) {
            (Some(first), Some(last)) if !working.is_empty() => {
                let start = offsets.at(first.0);
                Some(Span { start, end: offsets.at(last.1) })
            }
            _ => None,
        };
        (spans, span)
    }

    /// The cut, which is also recorded in the rows.
    fn cut(&self, rows: &mut [Row]) -> Cut<'a> {
        let mut cut = Cut::default();
        for (entry, part) in self.entries.iter().zip(&self.source.parts) {
            let pieces: Vec<(usize, usize)> = self.places.pieces(part.start, part.end).collect();
            let left: usize = pieces.iter().map(|(start, end)| end - start).sum();
            if part.end <= self.kept.head {
                cut.position += 1;
            }
            if left == part.end - part.start && !pieces.is_empty() {
                continue;
            }
            let (list, fate, reason) = if left == 0 {
                (&mut cut.node_ids, Fate::Cut, Reason::OverLimit)
            } else {
                (&mut cut.partial_node_ids, Fate::Changed, Reason::Shortened)
            };
            list.push(self.id(entry));
            set_fate(rows, entry.row, fate, reason);
        }
        cut.tokens = self.context.prices.text(self.source.get(self.kept.head, self.kept.tail));
        let marker = self.document.get(self.places.marker()).unwrap_or_default();
        cut.marker = (!marker.is_empty()).then(|| marker.to_owned());
        cut
    }

    fn node_reports(&self, rows: &[Row]) -> Vec<NodeReport<'a>> {
        let mut costs = vec![(None, None); rows.len()];
        let PathContext { tree, prices, .. } = self.context;
        for (entry, part) in self.entries.iter().zip(&self.source.parts) {
            let is_changed = rows.get(entry.row).is_some_and(|row| row.fate == Fate::Changed);
            let pieces = self.places.pieces(part.start, part.end);
            let left =
                || pieces.map(|(start, end)| prices.text(self.document.get(start..end).unwrap_or_default())).sum();
            let cost = (Some(part.tokens), is_changed.then(left));
            costs.get_mut(entry.row).into_iter().for_each(|place| *place = cost);
        }
        let report = |(row, (tokens, tokens_after)): (&Row, (Option<u64>, Option<u64>))| NodeReport {
            node_id: &tree.at(row.node).id,
            part: row.part,
            fate: row.fate,
            reason: row.reason,
            tokens: tokens.unwrap_or_else(|| parts::content_cost(tree.at(row.node), prices)),
            tokens_after,
            message: None,
            pinned: false,
        };
        rows.iter().zip(costs).map(report).collect()
    }
}
