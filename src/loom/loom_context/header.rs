//! The header on each message (docs/loom.md).

use crate::error::{Diagnostic, DiagnosticCode};
use crate::loom::created::created;
use crate::loom::loom_context::lines::{SEPARATOR, counted, one_line};
use crate::loom::loom_context::local_id::LocalIds;
use crate::loom::loom_context::loom_aware::LoomAware;
use crate::loom::tree::{Author, Node, NodeIx, Tree};
use crate::maps::SortedSet;
use crate::time::Timestamp;

#[derive(Debug)]
pub(crate) struct Headers<'h> {
    tree: &'h Tree<'h>,
    aware: &'h LoomAware,
    local_ids: &'h LocalIds,
    /// Nodes whose `createdAt` was reported as unreadable.
    reported: SortedSet<String>,
}

impl<'h> Headers<'h> {
    pub(crate) fn new(
        tree: &'h Tree<'h>,
        aware: &'h LoomAware,
        local_ids: &'h LocalIds,
        diagnostics: &[Diagnostic],
    ) -> Self {
        let unreadable = diagnostics.iter().filter(|found| found.code == DiagnosticCode::TimestampUnreadable);
        let reported = SortedSet::from_iter(unreadable.filter_map(|found| found.node_id.clone()));
        Self { tree, aware, local_ids, reported }
    }

    /// The header of a node: `[name] author · age · connections`.
    pub(crate) fn line(&mut self, ix: NodeIx, diagnostics: &mut Vec<Diagnostic>) -> String {
        let node = self.tree.at(ix);
        let mut line = format!("[{}] {}", self.local_ids.get(ix), self.author(node));
        if let Some(now) = self.aware.now
            && let Some(created) = self.created(node, diagnostics)
        {
            line.push_str(SEPARATOR);
            line.push_str(&age(now, created));
        }
        for (count, one) in [
            (self.visible(self.tree.continuations(ix)), "continuation"),
            (self.visible(self.tree.annotations(ix)), "annotation"),
        ] {
            if count > 0 {
                line.push_str(SEPARATOR);
                line.push_str(&counted(count, one));
            }
        }
        line
    }

    fn author(&self, node: &Node) -> String {
        let kind = match node.author {
            Author::Human => "human",
            Author::Model => "model",
        };
        let name = node.author_agent_id.as_ref().and_then(|id| self.aware.authors.get(&**id));
        match name.map(|name| one_line(name)).filter(|name| !name.is_empty()) {
            Some(name) => format!("{name} ({kind})"),
            None => kind.to_owned(),
        }
    }

    fn created(&mut self, node: &Node, diagnostics: &mut Vec<Diagnostic>) -> Option<Timestamp> {
        let mut found = Vec::new();
        let created = created(node, &mut found);
        if !found.is_empty() && self.reported.insert(node.id.to_string()) {
            diagnostics.append(&mut found);
        }
        created
    }

    /// The number of these nodes that are not deleted.
    fn visible(&self, nodes: impl Iterator<Item = NodeIx>) -> usize {
        SortedSet::from_iter(nodes.filter(|&node| !self.tree.at(node).pruned)).len()
    }
}

/// The age of a node in its largest whole unit.
fn age(now: Timestamp, then: Timestamp) -> String {
    let seconds = now.unix_millis().saturating_sub(then.unix_millis()) / 1000;
    let (minutes, hours, days) = (seconds.abs() / 60, seconds.abs() / 3600, seconds.abs() / 86_400);
    let amount = match (days, hours, minutes) {
        (0, 0, 0) => return "just now".to_owned(),
        (0, 0, minutes) => format!("{minutes}m"),
        (0, hours, _) => format!("{hours}h"),
        (days, ..) if days < 365 => format!("{days}d"),
        (days, ..) => format!("{}y", days / 365),
    };
    if seconds < 0 { format!("in {amount}") } else { format!("{amount} ago") }
}

#[cfg(test)]
#[path = "../../../tests/unit/loom/loom_context/header.rs"]
mod tests;
