//! A context under a token budget: its parts are cut like a document (docs/operators.md).

use serde::Serialize;

use crate::assembly::document::{DocumentPlan, KeptText, Places, SourcePart, SourceText};
use crate::assembly::render::JOIN;
use crate::assembly::settings::{Preferences, Settings, Strategy, TEXT_MARKER};
use crate::error::{Code, Error, Result};
use crate::prompt::Prices;
use crate::tokens::Counter;

/// The budget of a context.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ContextBudget {
    /// The limit.
    pub max_tokens: u32,
    /// The strategy when over the limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub truncation_strategy: Option<Strategy>,
    /// The text in the place of removed text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub truncation_marker: Option<String>,
}

/// A part of a context.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum ContextPart {
    /// The part from the parent.
    Inherited,
    /// The part from previous steps.
    Accumulated,
    /// The part from the memory system.
    Fresh,
}

/// The report on a budget: the fate and the cost of each part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ContextReport {
    /// The effective strategy.
    pub strategy: Strategy,
    /// The limit.
    pub limit: u32,
    /// The tokens of the context.
    pub tokens: ContextTokens,
    /// Whether anything was cut.
    pub truncated: bool,
    /// The cut.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cut: Option<ContextCut>,
    /// One row for each part.
    pub parts: Vec<PartReport>,
}

/// The tokens of a context.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ContextTokens {
    /// All of them.
    pub total: u64,
    /// The name of the counter.
    pub tokenizer: String,
}

/// The removed run of a context.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ContextCut {
    /// Tokens removed, counted alone.
    pub tokens: u64,
    /// The marker in the gap.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub marker: Option<String>,
}

/// The fate of one part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PartReport {
    /// The part.
    pub part: ContextPart,
    /// `kept`, `changed` or `cut`.
    pub fate: &'static str,
    /// The reason, unless it was kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<&'static str>,
    /// Tokens of the original part, counted alone.
    pub tokens: u64,
    /// Tokens of the remaining part, counted alone, if it was changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens_after: Option<u64>,
}

/// A context within its budget, with the text that remains of each part.
#[derive(Debug)]
pub(super) struct CutContext {
    pub context: String,
    pub parts: Vec<(ContextPart, Option<String>)>,
    pub report: ContextReport,
}

impl ContextBudget {
    /// Cuts the context if it is over the limit.
    pub(super) fn apply(&self, parts: &[(ContextPart, &str)], counter: &dyn Counter) -> Result<CutContext> {
        let preferences = Preferences {
            truncation_strategy: self.truncation_strategy,
            truncation_marker: self.truncation_marker.clone(),
            // The newest part is protected; the others share what it leaves.
            minimum_recent_nodes: Some(1.0),
            ..Preferences::default()
        };
        let settings = Settings::resolve(&preferences, TEXT_MARKER)?;
        let prices = Prices::new(counter);
        let mut source = SourceText::default();
        for (at, (_, text)) in parts.iter().enumerate() {
            source.push([if at == 0 { "" } else { JOIN }, text].into_iter(), &prices);
        }
        source.close("", &prices);
        let plan = DocumentPlan::new(&source, &settings, u64::from(self.max_tokens), "", 0, counter);
        // No strategy can make it fit, or none may.
        let whole = plan.cost(KeptText { head: source.text.len(), tail: source.text.len() });
        let kept =
            plan.choose(std::iter::empty()).map_err(|_| over_limit(whole, "budget.maxTokens", self.max_tokens))?;
        let (context, places) = plan.render(kept);
        let page = Page { source: &source, kept, places, context: &context, prices: &prices };
        let (parts, rows) = parts.iter().zip(&source.parts).map(|(part, at)| page.part(*part, *at)).unzip();
        let report = ContextReport {
            strategy: settings.truncation_strategy,
            limit: self.max_tokens,
            tokens: ContextTokens { total: plan.cost(kept), tokenizer: counter.name().to_owned() },
            truncated: kept.tail > kept.head,
            cut: page.cut(),
            parts: rows,
        };
        Ok(CutContext { context, parts, report })
    }
}

/// The error for a context that is over a limit and cannot be cut to it.
pub(super) fn over_limit(tokens: u64, option: &str, limit: u32) -> Error {
    let message = format!("the context has {tokens} tokens, over `{option}` of {limit}; inherit or accumulate less");
    let error = Error::new(Code::ContextTooLong, message).with("limit", limit).with("required", tokens);
    error.with("overBy", tokens.saturating_sub(u64::from(limit)))
}

/// A context and the places of its parts.
struct Page<'p> {
    source: &'p SourceText,
    kept: KeptText,
    places: Places,
    context: &'p str,
    prices: &'p Prices<'p>,
}

impl Page<'_> {
    /// What remains of a part, and its row.
    fn part(&self, (part, text): (ContextPart, &str), at: SourcePart) -> ((ContextPart, Option<String>), PartReport) {
        let start = at.end - text.len();
        let pieces: Vec<&str> =
            self.places.pieces(start, at.end).filter_map(|(from, to)| self.context.get(from..to)).collect();
        let tokens = self.prices.text(text);
        let length: usize = pieces.iter().map(|piece| piece.len()).sum();
        let row = |fate, reason| PartReport { part, fate, reason, tokens, tokens_after: None };
        if length == text.len() {
            return ((part, Some(text.to_owned())), row("kept", None));
        }
        if length == 0 {
            return ((part, None), row("cut", Some("overLimit")));
        }
        let left = pieces.join(self.context.get(self.places.marker()).unwrap_or_default());
        let tokens_after = Some(self.prices.text(&left));
        ((part, Some(left)), PartReport { tokens_after, ..row("changed", Some("shortened")) })
    }

    fn cut(&self) -> Option<ContextCut> {
        let removed = self.source.get(self.kept.head, self.kept.tail);
        let marker = self.context.get(self.places.marker()).filter(|marker| !marker.is_empty());
        (!removed.is_empty())
            .then(|| ContextCut { tokens: self.prices.text(removed), marker: marker.map(str::to_owned) })
    }
}
