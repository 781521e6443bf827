//! The report of an assembly (SPEC §1 "Result", §0.3).

use serde::Serialize;
use serde_json::{Map, Value};

use crate::assembly::series::Prefix;
use crate::assembly::settings::{Settings, Strategy};
use crate::error::Diagnostic;

/// The account of an assembly: where every node and every token went.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report<'a> {
    /// The strategy in force.
    pub strategy: Strategy,
    /// `contextWindow − tokenBuffer`.
    pub limit: u64,
    /// Where the tokens went.
    pub tokens: Tokens,
    /// Whether anything was cut.
    pub truncated: bool,
    /// The cut.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cut: Option<Cut<'a>>,
    /// How much of the result equals that of the last fit, in a series.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prefix: Option<Prefix>,
    /// Whether the protected recent nodes are all kept whole.
    pub minimum_recent_nodes_met: bool,
    /// The ids of the path, oldest first, before exclusion.
    pub path: Vec<&'a str>,
    /// One row for each node on the path, its sources, annotations and other versions.
    pub nodes: Vec<NodeReport<'a>>,
    /// How many nodes of the tree have no row.
    pub not_on_path: usize,
    /// Loom-aware: the local id of each node of `nodes`, to resolve those in the model's answers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub local_ids: Vec<LocalId<'a>>,
    /// The settings in force.
    pub preferences: Settings,
    /// What was damaged, replaced or left out.
    pub diagnostics: Vec<Diagnostic>,
    /// Fields that the body of the request needs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<Map<String, Value>>,
    /// Headers that the request needs, by their names.
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
    /// How they were counted.
    pub tokenizer: String,
    /// By how many percent the counts may be off, where the tokenizer says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokenizer_error: Option<u32>,
    /// Loom-aware: the additions that `system` and `messages` contain.
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
    /// Its local id, for a loom-aware agent.
    pub local_id: String,
    /// The node.
    pub node_id: &'a str,
}

/// The removed run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Cut<'a> {
    /// The nodes removed whole, oldest first.
    pub node_ids: Vec<&'a str>,
    /// The nodes removed in part.
    pub partial_node_ids: Vec<&'a str>,
    /// Tokens removed, each node counted alone.
    pub tokens: u64,
    /// How many nodes of the conversation come before the cut.
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
    /// Why it is missing or not whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    /// Tokens of its whole content, counted alone.
    pub tokens: u64,
    /// Of one that is not whole, tokens of what is left, counted alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens_after: Option<u64>,
    /// Index of the message that holds it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<usize>,
    /// Loom-aware: whether its text is in the operational memory, too.
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
    /// It is a remark about a node on the path.
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
    /// All of it is in the result.
    Kept,
    /// A part of it is in the result.
    Changed,
    /// Nothing of it is left.
    Cut,
    /// A rule left it out.
    Excluded,
    /// It was not requested.
    Skipped,
}

/// Why a node is missing or not whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Reason {
    /// `metadata.excluded`.
    Excluded,
    /// `metadata.pruned`.
    Pruned,
    /// Reached through an annotation edge and not included.
    Annotation,
    /// It is blank.
    Blank,
    /// It is a tool call without its result, or the reverse.
    ToolPairBroken,
    /// Another version of it is on the path.
    OtherVersion,
    /// An instruction of an earlier generation.
    InstructionScope,
    /// It is only media, in a document or in the system context.
    NonText,
    /// The system context is left out of documents.
    SystemContextOff,
    /// Removed whole to stay under the limit.
    OverLimit,
    /// Shortened to stay under the limit.
    Shortened,
    /// Replaced by a compaction.
    Compacted,
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
    /// The cut.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cut: Option<CutSummary>,
    /// How much of the result equals that of the last fit, in a series.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prefix: Option<Prefix>,
    /// Whether the protected recent nodes are all kept whole.
    pub minimum_recent_nodes_met: bool,
    /// How many nodes the path has, before exclusion.
    pub path_length: usize,
    /// The settings in force.
    pub preferences: Settings,
    /// What was damaged, replaced or left out.
    pub diagnostics: Vec<Diagnostic>,
    /// Fields that the body of the request needs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<Map<String, Value>>,
    /// Headers that the request needs, by their names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub headers: Option<Map<String, Value>>,
}

/// The removed run, in numbers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CutSummary {
    /// Nodes removed whole.
    pub nodes: usize,
    /// Nodes removed in part.
    pub partial_nodes: usize,
    /// Tokens removed, each node counted alone.
    pub tokens: u64,
    /// How many nodes of the conversation come before the cut.
    pub position: usize,
    /// The marker that stands in the gap.
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
