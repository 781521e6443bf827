//! Adds headers and blocks to a conversation, and reports their cost.

use crate::assembly::budget::over;
use crate::assembly::plan::SystemText;
use crate::assembly::render::JOIN;
use crate::error::{Code, Diagnostic, DiagnosticCode, Result, Severity};
use crate::limits;
use crate::loom::dialogue_state::{ContextParts, DialogueState};
use crate::loom::loom_context::blocks;
use crate::loom::loom_context::header::Headers;
use crate::loom::loom_context::local_id::LocalIds;
use crate::loom::loom_context::loom_aware::{LoomAware, Pinned};
use crate::loom::path_context::PathContext;
use crate::loom::report::{Fate, LocalId, LoomAwareTokens, NodePart, Reason};
use crate::loom::request::Options;
use crate::loom::select::{Mode, Row};
use crate::loom::tree::{NodeIx, Tree};
use crate::maps::SortedSet;

/// The addition to the system prompt; empty for other agents and in documents.
pub(crate) fn addendum(options: &Options, mode: Mode, diagnostics: &mut Vec<Diagnostic>) -> String {
    let Some(aware) = &options.loom_aware else { return String::new() };
    if mode == Mode::Buffer {
        let message = "`loomAware` applies to dialogues only; it was ignored for a document";
        diagnostics.push(Diagnostic::new(DiagnosticCode::LoomAwareLeftOut, Severity::Info, message));
        return String::new();
    }
    blocks::addendum(aware)
}

/// The additions as the report lists them; the tokens of the headers are set later.
#[derive(Debug, Default)]
pub(crate) struct Added<'a> {
    pub tokens: LoomAwareTokens,
    pub local_ids: Vec<LocalId<'a>>,
    /// The nodes in the memory.
    pub pinned: SortedSet<NodeIx>,
    /// The rows of the report, including those of pinned nodes.
    pub rows: Vec<Row>,
}

/// Adds headers to the conversation of the state, and the two blocks around it, for loom-aware agents. `limit` applies
/// to the blocks with the system context.
///
/// # Errors
/// [`Code::NodeNotFound`] for a pinned node that is not in the tree; [`Code::LoomContextTooLong`] if the blocks alone
/// exceed the limit.
pub(crate) fn context_parts<'a>(
    context: &PathContext<'a>,
    state: &mut DialogueState,
    system: &SystemText,
    limit: Option<u64>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Result<Option<Added<'a>>> {
    let PathContext { tree, options, prices, .. } = *context;
    let Some(aware) = &options.loom_aware else {
        state.set_context_parts(context, ContextParts::default());
        return Ok(None);
    };
    limits::check("inputBytes", aware.texts().map(str::len).sum(), options.limits.input_bytes)?;
    let pinned = pinned_nodes(tree, aware)?;
    let mut added = Added { rows: state.path.selected.rows(tree), ..Added::default() };
    added.tokens.addendum = prices.text(&blocks::addendum(aware));
    if state.conversation.members.is_empty() {
        state.set_context_parts(context, ContextParts::default());
        return Ok(Some(added));
    }
    added.pinned = pin(tree, &mut added.rows, &pinned, diagnostics);
    let named = added.rows.iter().map(|row| row.node);
    let local_ids = LocalIds::new(tree, named.clone(), diagnostics);
    added.local_ids = local_ids.list(tree, named);
    let mut headers = Headers::new(tree, aware, &local_ids, diagnostics);
    let mut context_parts = ContextParts::default();
    if aware.headers {
        for member in &state.conversation.members {
            let takes = member.takes_header(context);
            context_parts.headers.push(takes.then(|| headers.line(member.entry.node, diagnostics)));
        }
    }
    let memory = blocks::memory(tree, aware, added.pinned.clone(), &mut headers, diagnostics);
    let loom_block =
        if aware.loom_block { blocks::loom(tree, aware, &state.path.steps, &local_ids) } else { String::new() };
    added.tokens.memory = prices.text(&memory);
    added.tokens.loom_block = prices.text(&loom_block);
    if let Some(limit) = limit {
        check(context, &memory, &loom_block, system, limit, &added.tokens)?;
    }
    context_parts.before = (!memory.is_empty()).then_some((memory, added.tokens.memory));
    context_parts.after = (!loom_block.is_empty()).then_some((loom_block, added.tokens.loom_block));
    state.set_context_parts(context, context_parts);
    Ok(Some(added))
}

fn pinned_nodes(tree: &Tree, aware: &LoomAware) -> Result<Vec<NodeIx>> {
    let ids = aware.pinned.iter().filter_map(|pinned| if let Pinned::Node(id) = pinned { Some(id) } else { None });
    ids.map(|id| tree.find(id)).collect()
}

/// Adds a row for each pinned node without one; returns those that can be in the memory.
fn pin(tree: &Tree, rows: &mut Vec<Row>, pinned: &[NodeIx], diagnostics: &mut Vec<Diagnostic>) -> SortedSet<NodeIx> {
    let mut there = SortedSet::new();
    if pinned.is_empty() {
        return there;
    }
    let with_row = SortedSet::from_iter(rows.iter().map(|row| row.node));
    let mut seen = SortedSet::new();
    for &node in pinned {
        let id = &tree.at(node).id;
        if !seen.insert(node) {
            diagnostics.push(not_pinned(id, "pinned twice; it was included once"));
            continue;
        }
        let left_out = blocks::left_out(tree.at(node));
        if !with_row.contains(&node) {
            let (fate, reason) = left_out.map_or((Fate::Kept, None), |(fate, reason)| (fate, Some(reason)));
            rows.push(Row { node, part: NodePart::Pinned, fate, reason });
        }
        match left_out {
            None => {
                there.insert(node);
            }
            Some((_, Reason::Excluded)) => diagnostics.push(not_pinned(id, "excluded")),
            Some((_, Reason::Pruned)) => diagnostics.push(not_pinned(id, "pruned")),
            Some(_) => diagnostics.push(not_pinned(id, "without text")),
        }
    }
    there
}

fn not_pinned(id: &str, why: &str) -> Diagnostic {
    let message = format!("`loomAware.pinned` names node `{id}`, which is {why}");
    Diagnostic::new(DiagnosticCode::MemoryLeftOut, Severity::Warning, message).about_node(id)
}

/// Fails if the parts that are always sent exceed the limit.
fn check(
    context: &PathContext<'_>,
    memory: &str,
    loom_block: &str,
    system: &SystemText,
    limit: u64,
    tokens: &LoomAwareTokens,
) -> Result<()> {
    let both: Vec<&str> = [memory, loom_block].into_iter().filter(|text| !text.is_empty()).collect();
    if both.is_empty() {
        return Ok(());
    }
    let prices = &context.prices;
    let required = system.fixed(prices) + prices.overhead.per_message + prices.text(&both.join(JOIN));
    if required <= limit {
        return Ok(());
    }
    let message = format!(
        "operational memory, loom block and system context cost {required} tokens, over the limit of {limit}; pin less or use a larger context window"
    );
    let error = over(Code::LoomContextTooLong, message, limit, required);
    Err(error.with("memory", tokens.memory).with("loomBlock", tokens.loom_block))
}
