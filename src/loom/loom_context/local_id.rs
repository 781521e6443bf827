//! Local ids: short names of nodes (docs/loom.md).

use crate::error::{Diagnostic, DiagnosticCode, Severity};
use crate::loom::loom_context::lines::one_line;
use crate::loom::report::LocalId;
use crate::loom::tree::{NodeIx, Tree};
use crate::maps::{SortedMap, SortedSet};
use crate::text;

const MIN_LOCAL_ID_LENGTH: usize = 6;

/// A unique name for each node of a context.
#[derive(Debug)]
pub(crate) struct LocalIds {
    names: SortedMap<NodeIx, String>,
}

impl LocalIds {
    /// Names the nodes by their `localId`, else by the shortest prefix of the id, with at least six characters, that is
    /// unique among the ids of the tree and the names of these nodes.
    pub(crate) fn new(
        tree: &Tree,
        nodes: impl Iterator<Item = NodeIx> + Clone,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Self {
        let mut names = SortedMap::new();
        let mut taken = SortedSet::new();
        for ix in nodes.clone() {
            let node = tree.at(ix);
            let given = node.local_id.as_deref().map(one_line).filter(|name| !name.is_empty());
            let Some(name) = given.filter(|_| !names.contains_key(&ix)) else { continue };
            if taken.insert(name.clone()) {
                names.insert(ix, name);
            } else {
                let message = format!("another node has the `localId` `{name}`; this one is shown by its id");
                let diagnostic = Diagnostic::new(DiagnosticCode::LocalIdNotUnique, Severity::Warning, message);
                diagnostics.push(diagnostic.about_node(&node.id));
            }
        }
        for ix in nodes {
            if !names.contains_key(&ix) {
                let name = derive(tree, &tree.at(ix).id, &taken);
                taken.insert(name.clone());
                names.insert(ix, name);
            }
        }
        Self { names }
    }

    pub(crate) fn get(&self, node: NodeIx) -> &str {
        self.names.get(&node).map_or("", String::as_str)
    }

    pub(crate) fn list<'a>(&self, tree: &'a Tree, nodes: impl Iterator<Item = NodeIx>) -> Vec<LocalId<'a>> {
        nodes.map(|node| LocalId { local_id: self.get(node).to_owned(), node_id: &tree.at(node).id }).collect()
    }
}

fn derive(tree: &Tree, id: &str, taken: &SortedSet<String>) -> String {
    let shared = tree.adjacent_ids(id).into_iter().flatten().map(|other| shared_prefix(id, other)).max().unwrap_or(0);
    let least = id.char_indices().nth(MIN_LOCAL_ID_LENGTH).map_or(id.len(), |(at, _)| at);
    // A prefix is unique if it is longer than what it shares with the adjacent ids.
    let mut end = text::ceil_boundary(id, least.max(shared.saturating_add(1)));
    loop {
        let name = one_line(id.get(..end).unwrap_or(id));
        if !name.is_empty() && !taken.contains(&name) {
            return name;
        }
        if end >= id.len() {
            break;
        }
        end = text::ceil_boundary(id, end.saturating_add(1));
    }
    // The whole id is the name of another node.
    let numbered = |number: u32| format!("{}-{number}", one_line(id));
    (2..).map(numbered).find(|name| !taken.contains(name)).unwrap_or_default()
}

/// The length of the common prefix of two ids, in bytes.
fn shared_prefix(a: &str, b: &str) -> usize {
    a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count()
}
