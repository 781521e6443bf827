//! The report of an assembly (docs/loom.md).

use serde::Serialize;
use serde_json::{Map, Value};

use crate::assembly::series::Prefix;
use crate::assembly::settings::{Settings, Strategy};
use crate::error::Diagnostic;

/// The report of an assembly, on every node and every token.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report<'a> {
    /// The effective strategy.
    pub strategy: Strategy,
    /// The limit: `contextWindow − tokenBuffer`.
    pub limit: u64,
    /// The tokens by part.
    pub tokens: Tokens,
    /// Whether anything was cut.
    pub truncated: bool,
    /// The cut.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cut: Option<Cut<'a>>,
    /// In a series, the part of the result that equals the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prefix: Option<Prefix>,
    /// Whether the protected recent nodes are all kept unchanged.
    pub minimum_recent_nodes_met: bool,
    /// The ids of the path, oldest first, before exclusion.
    pub path: Vec<&'a str>,
    /// One row for each node on the path, its sources, annotations and other versions.
    pub nodes: Vec<NodeReport<'a>>,
    /// The number of nodes of the tree without a row.
    pub not_on_path: usize,
    /// For loom-aware agents: the local id of each node of `nodes`, to resolve those in the model's answers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub local_ids: Vec<LocalId<'a>>,
    /// The effective settings.
    pub preferences: Settings,
    /// Diagnostics: damage, replacements and omissions.
    pub diagnostics: Vec<Diagnostic>,
    /// Fields that the body of the request requires.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<Map<String, Value>>,
    /// Headers that the request requires, by name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub headers: Option<Map<String, Value>>,
}

/// Token totals by part.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Tokens {
    /// The system context, as a field or as a message.
    pub system: u64,
    /// The content of all other messages, or the document.
    pub messages: u64,
    /// Per-message and per-request overhead.
    pub overhead: u64,
    /// The sum of the three.
    pub total: u64,
    /// The name of the counter.
    pub tokenizer: String,
    /// The error of the counts in percent, if the tokenizer states one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokenizer_error: Option<u32>,
    /// For loom-aware agents: the additions contained in `system` and `messages`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loom_aware: Option<LoomAwareTokens>,
}

/// Tokens of the loom-aware additions, each text counted alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LoomAwareTokens {
    /// The addendum to the system prompt.
    pub addendum: u64,
    /// The operational memory block.
    pub memory: u64,
    /// The headers of the nodes that were kept.
    pub headers: u64,
    /// The loom block.
    pub loom_block: u64,
}

/// The local id of a node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LocalId<'a> {
    /// The local id.
    pub local_id: String,
    /// The node.
    pub node_id: &'a str,
}

/// The removed run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Cut<'a> {
    /// The nodes removed completely, oldest first.
    pub node_ids: Vec<&'a str>,
    /// The nodes removed in part.
    pub partial_node_ids: Vec<&'a str>,
    /// Tokens removed, each node counted alone.
    pub tokens: u64,
    /// The number of nodes of the conversation before the cut.
    pub position: usize,
    /// The marker in the gap.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub marker: Option<String>,
}

/// The fate of one node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NodeReport<'a> {
    /// The node.
    pub node_id: &'a str,
    /// Its relation to the path.
    #[serde(rename = "as")]
    pub part: NodePart,
    /// Its fate.
    pub fate: Fate,
    /// The reason, unless it was kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    /// Tokens of its original content, counted alone.
    pub tokens: u64,
    /// Tokens of the remaining content, counted alone, if it was changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens_after: Option<u64>,
    /// Index of the message that holds it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<usize>,
    /// For loom-aware agents: whether its text is also in the operational memory.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub pinned: bool,
}

/// The role of a node for the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum NodePart {
    /// It is on the path.
    Path,
    /// It is reference material for a node on the path.
    Context,
    /// It is part of the system context.
    Instruction,
    /// It is an annotation of a node on the path.
    Annotation,
    /// It is another version of a node on the path.
    Version,
    /// It is only in the operational memory.
    Pinned,
}

/// The fate of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Fate {
    /// It is in the result completely.
    Kept,
    /// It is in the result in part.
    Changed,
    /// It was removed completely.
    Cut,
    /// A rule left it out.
    Excluded,
    /// It was not requested.
    Skipped,
}

/// Why a node is missing or changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Reason {
    /// `metadata.excluded`.
    Excluded,
    /// `metadata.pruned`.
    Pruned,
    /// Reached through an annotation edge and not included.
    Annotation,
    /// Its content is blank.
    Blank,
    /// It is a tool call without its result, or the reverse.
    ToolPairBroken,
    /// Another version of it is on the path.
    OtherVersion,
    /// An instruction of an earlier generation.
    InstructionScope,
    /// It holds only media, in a document or in the system context.
    NonText,
    /// The system context is left out of documents.
    SystemContextOff,
    /// Removed to stay within the limit.
    OverLimit,
    /// Shortened to stay within the limit.
    Shortened,
    /// Replaced by a compaction.
    Compacted,
}

/// A report without its lists of nodes.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReportSummary {
    /// The effective strategy.
    pub strategy: Strategy,
    /// The limit: `contextWindow − tokenBuffer`.
    pub limit: u64,
    /// The tokens by part.
    pub tokens: Tokens,
    /// Whether anything was cut.
    pub truncated: bool,
    /// The cut.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cut: Option<CutSummary>,
    /// In a series, the part of the result that equals the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prefix: Option<Prefix>,
    /// Whether the protected recent nodes are all kept unchanged.
    pub minimum_recent_nodes_met: bool,
    /// The number of nodes on the path, before exclusion.
    pub path_length: usize,
    /// The effective settings.
    pub preferences: Settings,
    /// Diagnostics: damage, replacements and omissions.
    pub diagnostics: Vec<Diagnostic>,
    /// Fields that the body of the request requires.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<Map<String, Value>>,
    /// Headers that the request requires, by name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub headers: Option<Map<String, Value>>,
}

/// The removed run, in numbers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CutSummary {
    /// Nodes removed completely.
    pub nodes: usize,
    /// Nodes removed in part.
    pub partial_nodes: usize,
    /// Tokens removed, each node counted alone.
    pub tokens: u64,
    /// The number of nodes of the conversation before the cut.
    pub position: usize,
    /// The marker in the gap.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub marker: Option<String>,
}

impl CutSummary {
    /// The numbers of a cut.
    pub fn of(cut: &Cut<'_>) -> Self {
        Self {
            nodes: cut.node_ids.len(),
            partial_nodes: cut.partial_node_ids.len(),
            tokens: cut.tokens,
            position: cut.position,
            marker: cut.marker.clone(),
        }
    }
}

impl ReportSummary {
    /// The numbers of a report.
    pub fn of(report: &Report<'_>) -> Self {
        Self {
            strategy: report.strategy,
            limit: report.limit,
            tokens: report.tokens.clone(),
            truncated: report.truncated,
            cut: report.cut.as_ref().map(CutSummary::of),
            prefix: report.prefix.clone(),
            minimum_recent_nodes_met: report.minimum_recent_nodes_met,
            path_length: report.path.len(),
            preferences: report.preferences.clone(),
            diagnostics: report.diagnostics.clone(),
            body: report.body.clone(),
            headers: report.headers.clone(),
        }
    }
}
