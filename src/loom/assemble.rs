//! What both kinds of assembly begin with: settings, path, selection, system context, budget.

use crate::error::{Code, Diagnostic, DiagnosticCode, Error, Result, Severity};
use crate::loom::aware;
use crate::loom::path::{self, Step};
use crate::loom::preferences::{Settings, whole};
use crate::loom::report::{Fate, NodeReport, Reason, Report, Tokens};
use crate::loom::request::Options;
use crate::loom::select::{self, Mode, Selection};
use crate::loom::system;
use crate::loom::tree::Tree;
use crate::prompt::Prices;
use crate::tokens::Counter;

/// An assembly that knows its path and its limit, before anything is cut.
#[derive(Debug)]
pub(crate) struct Draft<'a> {
    pub tree: &'a Tree<'a>,
    pub options: &'a Options,
    pub prices: Prices<'a>,
    pub settings: Settings,
    /// `contextWindow − tokenBuffer`.
    pub limit: u64,
    pub steps: Vec<Step>,
    pub selection: Selection,
    /// Empty when there is none.
    pub system: String,
    pub diagnostics: Vec<Diagnostic>,
}

impl<'a> Draft<'a> {
    pub(crate) fn new(
        tree: &'a Tree<'a>,
        options: &'a Options,
        counter: &'a dyn Counter,
        mode: Mode,
        default_marker: &str,
    ) -> Result<Self> {
        let (settings, limit) = settings(tree, options, default_marker)?;
        let mut diagnostics = Vec::new();
        let steps = path::resolve(tree, &options.position, &options.choices, &options.limits, &mut diagnostics)?;
        if steps.is_empty() {
            let message = "the path holds no nodes, so there is nothing to assemble";
            diagnostics.push(Diagnostic::new(DiagnosticCode::EmptyPath, Severity::Info, message));
        }
        let mut selection = select::select(tree, &steps, options, mode, &mut diagnostics)?;
        let addendum = aware::addendum(options, mode, &mut diagnostics);
        let system = if mode == Mode::Dialogue || tree.settings().buffer_mode_system_context {
            let prompt = options.system_prompt.as_deref();
            system::combine(tree, prompt, &addendum, &selection.instructions, &mut diagnostics)
        } else {
            for entry in &selection.instructions {
                leave_out(&mut selection.rows, entry.row, Fate::Excluded, Reason::SystemContextOff);
            }
            String::new()
        };
        let prices =
            Prices { counter, overhead: options.overhead, image: options.image, audio_second: options.audio_second };
        Ok(Self { tree, options, prices, settings, limit, steps, selection, system, diagnostics })
    }

    /// Fails when what is always there is over the limit by itself.
    pub(crate) fn check_system(&self, required: u64) -> Result<()> {
        if required <= self.limit || self.system.is_empty() {
            return Ok(());
        }
        let message = format!(
            "the system context takes {required} tokens with its overhead, and the limit is {}; shorten it or use a larger context window",
            self.limit
        );
        Err(over(Code::SystemContextTooLong, message, self.limit, required))
    }

    /// The error for a conversation that cannot be made to fit, with what each node costs.
    #[cold]
    pub(crate) fn too_long(&self, required: u64, costs: impl Iterator<Item = (&'a str, u64)>, advice: &str) -> Error {
        let message = format!("the context takes {required} tokens, and the limit is {}; {advice}", self.limit);
        let nodes = costs.map(|(id, tokens)| serde_json::json!({ "nodeId": id, "tokens": tokens }));
        over(Code::ContextTooLong, message, self.limit, required).with("nodes", nodes.collect::<Vec<_>>())
    }

    /// The report of an assembly in which nothing was cut; the caller adds what was.
    pub(crate) fn report(self, tokens: Tokens, cost: impl Fn(usize) -> Option<u64>) -> Report<'a> {
        let Self { tree, prices, settings, limit, steps, selection, diagnostics, .. } = self;
        let uncounted = |node| crate::loom::parts::content_cost(tree.at(node), &prices);
        let nodes = selection.rows.iter().enumerate().map(|(at, row)| NodeReport {
            node_id: &tree.at(row.node).id,
            part: row.part,
            fate: row.fate,
            reason: row.reason,
            tokens: cost(at).unwrap_or_else(|| uncounted(row.node)),
            message: None,
            pinned: false,
        });
        let nodes: Vec<_> = nodes.collect();
        Report {
            strategy: settings.truncation_strategy,
            limit,
            tokens,
            truncated: false,
            cut: None,
            cache: None,
            minimum_recent_nodes_met: true,
            path: steps.iter().map(|step| tree.at(step.node).id.as_str()).collect(),
            not_on_path: tree.len().saturating_sub(nodes.len()),
            nodes,
            local_ids: Vec::new(),
            preferences: settings,
            diagnostics,
        }
    }
}

pub(crate) fn leave_out(rows: &mut [select::Row], at: usize, fate: Fate, reason: Reason) {
    if let Some(row) = rows.get_mut(at) {
        (row.fate, row.reason) = (fate, Some(reason));
    }
}

/// The settings in force, and the limit that follows from them.
pub(crate) fn settings(tree: &Tree, options: &Options, default_marker: &str) -> Result<(Settings, u64)> {
    let preferences = options.preferences.over(&tree.settings().preferences).over(&options.app_preferences);
    let settings = Settings::resolve(&preferences, default_marker)?;
    let limit = limit(options.context_window, settings.token_buffer)?;
    Ok((settings, limit))
}

fn limit(context_window: f64, token_buffer: u64) -> Result<u64> {
    let window = whole("contextWindow", context_window)?;
    window.checked_sub(token_buffer).filter(|&limit| limit > 0).ok_or_else(|| {
        let message = format!("`contextWindow` of {window} leaves nothing after `tokenBuffer` of {token_buffer}; use a larger window or a smaller buffer");
        Error::new(Code::InvalidBudget, message).with("setting", "contextWindow").with("value", window).with("tokenBuffer", token_buffer)
    })
}

pub(crate) fn over(code: Code, message: String, limit: u64, required: u64) -> Error {
    let over_by = required.saturating_sub(limit);
    Error::new(code, message).with("limit", limit).with("required", required).with("overBy", over_by)
}
