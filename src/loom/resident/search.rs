//! Text search in a tree.

use serde::Serialize;

use super::loom_tree::LoomTree;
use crate::content::Block;
use crate::loom::tree::NodeIx;
use crate::text::{Utf16Offsets, fold};

/// The query of a search.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Search {
    /// The text.
    pub query: String,
    /// Whether case is ignored.
    pub ignore_case: bool,
    /// Whether marks on letters are ignored.
    pub ignore_accents: bool,
    /// The fields to search; all if empty.
    pub fields: Vec<Field>,
    /// The maximal number of matches.
    pub limit: Option<usize>,
}

/// A searchable field of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Field {
    /// The texts of its content, including reasoning and tool results.
    Text,
    /// `summary`.
    Summary,
    /// `metadata.bookmarkLabel`.
    BookmarkLabel,
    /// `authorAgentId`.
    Author,
}

impl Field {
    /// All with their names.
    pub const NAMES: [(&'static str, Self); 4] = [
        ("text", Self::Text),
        ("summary", Self::Summary),
        ("bookmarkLabel", Self::BookmarkLabel),
        ("author", Self::Author),
    ];
}

/// A match of the query.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Match<'a> {
    /// The node.
    pub node_id: &'a str,
    /// The field.
    pub field: Field,
    /// The index of the block of its content, if that has several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block: Option<usize>,
    /// The start in the text, in UTF-16 code units.
    pub start: usize,
    /// The end.
    pub end: usize,
}

impl LoomTree {
    /// Finds the query, in path order: each node before its children, which are in the order of the edges; a branch is
    /// walked to its end before the next. Matches of one text do not overlap.
    pub fn search(&self, search: &Search) -> Vec<Match<'_>> {
        let mut found = Vec::new();
        let folding = fold::Folding { case: search.ignore_case, accents: search.ignore_accents };
        let mut pattern = fold::Pattern::new(&search.query, folding);
        let max_matches = search.limit.unwrap_or(usize::MAX);
        if search.query.is_empty() {
            return found;
        }
        let wants = |field: Field| search.fields.is_empty() || search.fields.contains(&field);
        for place in self.path_order() {
            if found.len() >= max_matches {
                break;
            }
            let node = self.tree.at(place);
            let mut look = |field: Field, block: Option<usize>, text: &str| {
                let mut offsets = Utf16Offsets::new(text);
                for (start, end) in pattern.matches(text) {
                    let start = offsets.at(start);
                    found.push(Match { node_id: &node.id, field, block, start, end: offsets.at(end) });
                }
            };
            if wants(Field::Text) {
                let several = node.content.len() > 1;
                for (at, block) in node.content.iter().enumerate() {
                    for text in texts(block) {
                        look(Field::Text, several.then_some(at), text);
                    }
                }
            }
            let extra = self.node_extras.get(place);
            if extra.has_fields() && (wants(Field::Summary) || wants(Field::BookmarkLabel)) {
                let (fields, metadata) = extra.node_fields();
                if let Some(summary) =
                    fields.get("summary").and_then(|it| it.as_str()).filter(|_| wants(Field::Summary))
                {
                    look(Field::Summary, None, summary);
                }
                let label = metadata.as_ref().and_then(|metadata| metadata.get("bookmarkLabel")?.as_str());
                if let Some(label) = label.filter(|_| wants(Field::BookmarkLabel)) {
                    look(Field::BookmarkLabel, None, label);
                }
            }
            if let Some(author) = node.author_agent_id.as_deref().filter(|_| wants(Field::Author)) {
                look(Field::Author, None, author);
            }
        }
        found.truncate(max_matches);
        found
    }

    /// All nodes, each once: first those without an incoming edge, in the order of nodes, each with its descendants;
    /// then those only in cycles.
    fn path_order(&self) -> Vec<NodeIx> {
        let mut order = Vec::with_capacity(self.tree.len());
        let mut seen = vec![false; self.tree.places()];
        let is_root =
            |&place: &NodeIx| self.tree.incoming(place).is_empty() && self.tree.annotated_by(place).is_empty();
        let roots = self.tree.node_order().iter().filter(is_root);
        let mut open = Vec::new();
        for start in roots.chain(self.tree.node_order().iter()) {
            open.push(start);
            while let Some(place) = open.pop() {
                match seen.get_mut(place as usize) {
                    Some(seen) if !*seen => *seen = true,
                    _ => continue,
                }
                order.push(place);
                let next = self.tree.outgoing(place).iter().rev();
                open.extend(next.map(|&edge| self.tree.edge(edge).target));
            }
        }
        order
    }
}

/// The readable texts of a block.
fn texts<'b>(block: &'b Block<'_>) -> Vec<&'b str> {
    match block {
        Block::Text(text) | Block::Reasoning { text, .. } => vec![text],
        Block::ToolResult { content, .. } => content.iter().filter_map(Block::as_text).collect(),
        Block::Vendor(block) => block.summary().into_iter().collect(),
        Block::Image(_) | Block::Audio(_) | Block::ToolCall { .. } => Vec::new(),
    }
}
