//! The header on each message (SPEC §1 "Loom-aware").

use std::borrow::Cow;
use std::collections::BTreeSet;

use crate::collect;
use crate::error::{Diagnostic, DiagnosticCode};
use crate::loom::aware::LoomAware;
use crate::loom::aware::blocks::one_line;
use crate::loom::aware::local_id::LocalIds;
use crate::loom::created::created;
use crate::loom::layout::{Headed, Item};
use crate::loom::parts::JOIN;
use crate::loom::tree::{Author, Node, NodeIx, Tree};
use crate::prompt::{Part, Prices};
use crate::time::Timestamp;

/// Writes headers.
#[derive(Debug)]
pub(crate) struct Headers<'h> {
    tree: &'h Tree<'h>,
    aware: &'h LoomAware,
    local_ids: &'h LocalIds,
    /// The nodes whose `createdAt` is known to be unreadable.
    reported: BTreeSet<String>,
}

impl<'h> Headers<'h> {
    pub(crate) fn new(
        tree: &'h Tree<'h>,
        aware: &'h LoomAware,
        local_ids: &'h LocalIds,
        diagnostics: &[Diagnostic],
    ) -> Self {
        let unreadable = diagnostics.iter().filter(|found| found.code == DiagnosticCode::TimestampUnreadable);
        let reported = collect::set(unreadable.filter_map(|found| found.node_id.clone()));
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

    /// Puts its header before the first text or media of a node, as a paragraph of its own. A node that has neither has
    /// no words to stand at the head of: calls and thoughts stay as the provider gave them, results as the tool did.
    pub(crate) fn put(&mut self, item: &mut Item<'_>, prices: &Prices<'_>, diagnostics: &mut Vec<Diagnostic>) {
        let speaks = |part: &Part<'_>| matches!(part, Part::Text { .. } | Part::Image(_) | Part::Audio(_));
        let Some(at) = item.parts.iter().position(speaks) else { return };
        let mut header = self.line(item.entry.node, diagnostics);
        let costs = |text: &str| prices.text(text);
        if let Some(Part::Text { text }) = item.parts.get_mut(at) {
            header.push_str(JOIN);
            let len = header.len();
            // Where counts add up, the text need not be counted once more.
            let more = if prices.counter.adds_up_before(text) {
                costs(&header)
            } else {
                let before = costs(text);
                header.push_str(text);
                let both = costs(&header);
                header.truncate(len);
                item.alone = item.alone.saturating_sub(before);
                both
            };
            item.alone = item.alone.saturating_add(more);
            header.push_str(text);
            *text = Cow::Owned(header);
            item.headed = Some(Headed { part: at, len });
        } else {
            item.alone = item.alone.saturating_add(costs(&header));
            item.headed = Some(Headed { part: at, len: header.len() });
            item.parts.insert(at, Part::Text { text: Cow::Owned(header) });
        }
    }

    fn author(&self, node: &Node) -> String {
        let kind = match node.author {
            Author::Human => "human",
            Author::Model => "model",
        };
        let name = node.author_agent_id.as_ref().and_then(|id| self.aware.authors.get(id.as_str()));
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

    /// How many of these nodes there are, the deleted ones not counted.
    fn visible(&self, nodes: impl Iterator<Item = NodeIx>) -> usize {
        collect::set(nodes.filter(|&node| !self.tree.at(node).pruned)).len()
    }
}

/// What stands between the parts of a line.
pub(crate) const SEPARATOR: &str = " · ";

/// `1 annotation`, `2 annotations`.
pub(crate) fn counted(count: usize, one: &str) -> String {
    format!("{count} {one}{}", if count == 1 { "" } else { "s" })
}

/// How long ago something was, in its largest whole unit.
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
mod tests {
    use super::*;

    #[test]
    fn ages_are_whole_units() {
        let now = Timestamp::parse("2026-03-01T12:00:00Z").unwrap();
        for (then, expected) in [
            ("2026-03-01T12:00:00Z", "just now"),
            ("2026-03-01T11:59:00.001Z", "just now"),
            ("2026-03-01T12:00:59Z", "just now"),
            ("2026-03-01T11:59:00Z", "1m ago"),
            ("2026-03-01T11:00:01Z", "59m ago"),
            ("2026-03-01T11:00:00Z", "1h ago"),
            ("2026-03-01T12:00:00+02:00", "2h ago"),
            ("2026-02-28T12:00:01Z", "23h ago"),
            ("2026-02-28T12:00:00Z", "1d ago"),
            ("2025-03-01T12:00:01Z", "364d ago"),
            ("2025-03-01T12:00:00Z", "1y ago"),
            ("0000-01-01T00:00:00Z", "2027y ago"),
            ("2026-03-01T12:01:00Z", "in 1m"),
            ("2026-03-08T12:00:00Z", "in 7d"),
        ] {
            assert_eq!(age(now, Timestamp::parse(then).unwrap()), expected, "{then}");
        }
    }
}
