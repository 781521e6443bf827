//! What a loom-aware agent is told beside the conversation (SPEC §1 "Loom-aware"): an addendum to the system prompt, an
//! operational memory block before the conversation, a header on each message, and a loom block at the end.
//!
//! Headers become part of their nodes' texts before anything is measured. The two blocks become items of the
//! conversation that no truncation takes. So layout, truncation and rendering see one and the same text, and a recount of
//! the result is the report.

mod blocks;
mod header;
mod local_id;
pub(crate) mod read;

use std::collections::{BTreeMap, BTreeSet};

use crate::collect;
use crate::error::{Code, Diagnostic, DiagnosticCode, Result, Severity};
use crate::limits;
use crate::loom::assemble::{Draft, over};
use crate::loom::layout::Item;
use crate::loom::parts::JOIN;
use crate::loom::report::{Fate, LocalId, LoomAwareTokens, NodePart, Reason, Report};
use crate::loom::request::Options;
use crate::loom::select::{Mode, Row};
use crate::loom::tree::{NodeIx, Tree};
use crate::prompt::Prices;
use crate::time::Timestamp;

use header::Headers;
use local_id::LocalIds;

/// What a loom-aware agent is told. The default has the addendum, the headers without ages, and the loom block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoomAware {
    /// What ages are counted up to; without it there are none.
    pub now: Option<Timestamp>,
    /// What is added to the system prompt.
    pub addendum: Addendum,
    /// Whether messages have headers.
    pub headers: bool,
    /// Whether the loom block stands at the end.
    pub loom_block: bool,
    /// What is always in view, in this order.
    pub pinned: Vec<Pinned>,
    /// What was called back from storage.
    pub stashes: Vec<Stash>,
    /// What was done lately, oldest first; a line for each.
    pub trace: Vec<String>,
    /// What the agent may do; `None` where nothing shall be said about it.
    pub permissions: Option<Vec<String>>,
    /// Names of agents, by the ids that nodes have as `author_agent_id`.
    pub authors: BTreeMap<String, String>,
}

impl Default for LoomAware {
    fn default() -> Self {
        Self {
            now: None,
            addendum: Addendum::default(),
            headers: true,
            loom_block: true,
            pinned: Vec::new(),
            stashes: Vec::new(),
            trace: Vec::new(),
            permissions: None,
            authors: BTreeMap::new(),
        }
    }
}

/// What is added to the system prompt.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Addendum {
    /// What the library has to say of the parts that are there.
    #[default]
    BuiltIn,
    /// A text of the caller's own.
    Own(String),
    /// Nothing.
    None,
}

/// Something that is always in view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pinned {
    /// A node of the tree, on the path or not.
    Node(String),
    /// A text from elsewhere.
    Text {
        /// What it is.
        label: Option<String>,
        /// What it says.
        text: String,
    },
}

/// Something called back from storage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stash {
    /// What it was stored as.
    pub label: String,
    /// What it says.
    pub text: String,
}

impl LoomAware {
    /// Every text that was given.
    pub(crate) fn texts(&self) -> impl Iterator<Item = &str> {
        let pinned = self.pinned.iter().flat_map(|pinned| match pinned {
            Pinned::Node(id) => [Some(id), None],
            Pinned::Text { label, text } => [label.as_ref(), Some(text)],
        });
        let addendum = if let Addendum::Own(text) = &self.addendum { Some(text) } else { None };
        let stashes = self.stashes.iter().flat_map(|stash| [&stash.label, &stash.text]);
        let permissions = self.permissions.iter().flatten();
        let all = pinned.flatten().chain(addendum).chain(stashes).chain(&self.trace).chain(permissions);
        all.chain(self.authors.values()).map(String::as_str)
    }
}

/// What is added to the system prompt; empty for other agents and in documents, which have none of this.
pub(crate) fn addendum(options: &Options, mode: Mode, diagnostics: &mut Vec<Diagnostic>) -> String {
    let Some(aware) = &options.loom_aware else { return String::new() };
    if mode == Mode::Buffer {
        let message = "`loomAware` is for dialogues; a document is one continuous text and has none of it";
        diagnostics.push(Diagnostic::new(DiagnosticCode::LoomAwareLeftOut, Severity::Info, message));
        return String::new();
    }
    blocks::addendum(aware)
}

/// What was added, for the report.
#[derive(Debug, Default)]
pub(crate) struct Added<'a> {
    tokens: LoomAwareTokens,
    local_ids: Vec<LocalId<'a>>,
    pinned: BTreeSet<&'a str>,
}

/// Puts headers on the items, and the two blocks around them; nothing for agents that are not loom-aware. `fixed` is
/// what the request costs without any item.
///
/// # Errors
/// [`Code::NodeNotFound`] for a pinned node that the tree does not have; [`Code::LoomContextTooLong`] where the blocks are
/// over the limit by themselves.
pub(crate) fn apply<'a>(
    draft: &mut Draft<'a>,
    items: &mut Vec<Item<'a>>,
    units: &mut Vec<usize>,
    fixed: u64,
) -> Result<Option<Added<'a>>> {
    let (tree, options) = (draft.tree, draft.options);
    let Some(aware) = &options.loom_aware else { return Ok(None) };
    limits::check("inputBytes", aware.texts().map(str::len).sum(), options.limits.input_bytes)?;
    let pinned = pinned_nodes(tree, aware)?;
    let mut added = Added::default();
    added.tokens.addendum = draft.prices.text(&blocks::addendum(aware));
    if items.is_empty() {
        return Ok(Some(added));
    }
    let rows = &mut draft.selection.rows;
    let pinned = pin(tree, rows, &pinned, &mut draft.diagnostics);
    added.pinned = collect::set(pinned.iter().map(|&node| tree.at(node).id.as_str()));
    let local_ids = LocalIds::new(tree, rows.iter().map(|row| row.node), &mut draft.diagnostics);
    added.local_ids = local_ids.list(tree, rows.iter().map(|row| row.node));
    let mut headers = Headers::new(tree, aware, &local_ids, &draft.diagnostics);
    if aware.headers {
        for item in items.iter_mut() {
            headers.put(item, &draft.prices, &mut draft.diagnostics);
        }
    }
    let memory = blocks::memory(tree, aware, pinned, &mut headers, &mut draft.diagnostics);
    let loom_block = if aware.loom_block { blocks::loom(tree, aware, &draft.steps, &local_ids) } else { String::new() };
    added.tokens.memory = draft.prices.text(&memory);
    added.tokens.loom_block = draft.prices.text(&loom_block);
    check(draft, &memory, &loom_block, fixed, &added.tokens)?;
    frame(items, units, memory, loom_block, &added.tokens);
    Ok(Some(added))
}

/// The pinned nodes in the order they were given.
fn pinned_nodes(tree: &Tree, aware: &LoomAware) -> Result<Vec<NodeIx>> {
    let ids = aware.pinned.iter().filter_map(|pinned| if let Pinned::Node(id) = pinned { Some(id) } else { None });
    ids.map(|id| tree.find(id)).collect()
}

/// Sees that each pinned node has a row in the report; gives those that can stand in the memory.
fn pin(tree: &Tree, rows: &mut Vec<Row>, pinned: &[NodeIx], diagnostics: &mut Vec<Diagnostic>) -> BTreeSet<NodeIx> {
    let mut there = BTreeSet::new();
    if pinned.is_empty() {
        return there;
    }
    let with_row = collect::set(rows.iter().map(|row| row.node));
    let mut seen = BTreeSet::new();
    for &node in pinned {
        let id = &tree.at(node).id;
        if !seen.insert(node) {
            diagnostics.push(not_pinned(id, "pinned twice; it stands there once"));
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

#[cold]
fn not_pinned(id: &str, why: &str) -> Diagnostic {
    let message = format!("`loomAware.pinned` names node `{id}`, which is {why}");
    Diagnostic::new(DiagnosticCode::MemoryLeftOut, Severity::Warning, message).about_node(id)
}

/// Fails when what is always there is over the limit by itself.
fn check(draft: &Draft<'_>, memory: &str, loom_block: &str, fixed: u64, tokens: &LoomAwareTokens) -> Result<()> {
    let both: Vec<&str> = [memory, loom_block].into_iter().filter(|text| !text.is_empty()).collect();
    if both.is_empty() {
        return Ok(());
    }
    let required = fixed + draft.prices.overhead.per_message + draft.prices.text(&both.join(JOIN));
    if required <= draft.limit {
        return Ok(());
    }
    let message = format!(
        "the operational memory and the loom block take {required} tokens with the system context, and the limit is {}; pin less, or use a larger context window",
        draft.limit
    );
    let error = over(Code::LoomContextTooLong, message, draft.limit, required);
    Err(error.with("memory", tokens.memory).with("loomBlock", tokens.loom_block))
}

/// Puts the blocks before the first item and behind the last, into units that truncation does not take: the memory is one
/// of its own, the loom block belongs to the last one.
fn frame(
    items: &mut Vec<Item<'_>>,
    units: &mut Vec<usize>,
    memory: String,
    loom_block: String,
    tokens: &LoomAwareTokens,
) {
    if !memory.is_empty() {
        items.insert(0, Item::block(memory, tokens.memory));
        for start in units.iter_mut() {
            *start = start.saturating_add(1);
        }
        units.insert(0, 0);
    }
    if !loom_block.is_empty() {
        items.push(Item::block(loom_block, tokens.loom_block));
        if let Some(end) = units.last_mut() {
            *end = end.saturating_add(1);
        }
    }
}

impl<'a> Added<'a> {
    /// What was added, with the headers of the items that were kept.
    pub(crate) fn tokens<'i>(&self, kept: impl Iterator<Item = &'i Item<'a>>, prices: &Prices<'_>) -> LoomAwareTokens
    where
        'a: 'i,
    {
        LoomAwareTokens {
            headers: kept.filter_map(Item::header).map(|header| prices.text(header)).sum(),
            ..self.tokens
        }
    }

    /// Says in the report what nodes are called and which are pinned.
    pub(crate) fn report(self, report: &mut Report<'a>) {
        for row in &mut report.nodes {
            row.pinned = self.pinned.contains(row.node_id);
        }
        report.local_ids = self.local_ids;
    }
}
