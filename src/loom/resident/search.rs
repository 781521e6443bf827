//! Where a text occurs in a tree.

use serde::Serialize;

use super::loom_tree::LoomTree;
use crate::content::Block;
use crate::loom::tree::NodeIx;
use crate::text::{Utf16Offsets, fold};

/// What is looked for, and where.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Search {
    /// The text.
    pub query: String,
    /// Whether small and capital letters are the same.
    pub ignore_case: bool,
    /// Whether letters are the same with and without marks.
    pub ignore_accents: bool,
    /// Where to look; everywhere if it is empty.
    pub fields: Vec<Field>,
    /// How many matches there may be at most.
    pub limit: Option<usize>,
}

/// What of a node is searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Field {
    /// The texts of its content, reasoning and results of tools among them.
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

/// One place where the query stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Match<'a> {
    /// The node.
    pub node_id: &'a str,
    /// What of it.
    pub field: Field,
    /// Which block of its content, where that has several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block: Option<usize>,
    /// Where it begins in the text, in UTF-16 code units.
    pub start: usize,
    /// Where it ends.
    pub end: usize,
}

impl LoomTree {
    /// Where the query stands, in path order: each node before its children, whose order is that of the edges; a
    /// branch is walked to its end before the next. Matches of one text do not overlap.
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

    /// All nodes, each once: first the ones that no edge leads to, in the order of nodes, each with all that comes after it;
    /// then those that are only in circles.
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

/// The texts of a block that can be read.
fn texts<'b>(block: &'b Block<'_>) -> Vec<&'b str> {
    match block {
        Block::Text(text) | Block::Reasoning { text, .. } => vec![text],
        Block::ToolResult { content, .. } => content.iter().filter_map(Block::as_text).collect(),
        Block::Vendor(block) => block.summary().into_iter().collect(),
        Block::Image(_) | Block::Audio(_) | Block::ToolCall { .. } => Vec::new(),
    }
}
