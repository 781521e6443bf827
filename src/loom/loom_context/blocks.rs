//! The texts of the addendum, the operational memory and the loom block (docs/loom.md).

use crate::assembly::render::JOIN;
use crate::content::Block;
use crate::error::{Diagnostic, DiagnosticCode, Severity};
use crate::loom::loom_context::header::Headers;
use crate::loom::loom_context::lines::{SEPARATOR, counted, one_line};
use crate::loom::loom_context::local_id::LocalIds;
use crate::loom::loom_context::loom_aware::{Addendum, LoomAware, Pinned};
use crate::loom::path::Step;
use crate::loom::report::{Fate, Reason};
use crate::loom::select;
use crate::loom::tree::{Node, NodeIx, Tree, TreeMode};
use crate::maps::SortedSet;
use crate::text::{is_blank, trim};

/// Nodes before the tip that the loom block names.
const NAMED: usize = 4;

/// The addition to the system prompt: the caller's text, or a description of the parts.
pub(crate) fn addendum(aware: &LoomAware) -> String {
    match &aware.addendum {
        Addendum::Custom(text) => return trim(text).to_owned(),
        Addendum::None => return String::new(),
        Addendum::BuiltIn => {}
    }
    let mut text = "You are working in a loom: a tree of messages in which every message can have several continuations. You see the path from the root of the tree to the message where you are now.".to_owned();
    text.push('\n');
    if aware.headers {
        text.push_str("\n- A message begins with a header: its local id in brackets, its author, its age, and how many continuations and annotations it has. The headers are put there for you; do not write them.");
    }
    text.push_str("\n- \"Operational Memory\" comes before the conversation: what is pinned, what was recalled, what was done lately. It is absent while there is nothing in it.");
    if aware.loom_block {
        text.push_str(
            "\n- \"Loom Context\" comes at the end: which tree this is, where in it you are, and what you may do.",
        );
    }
    if aware.headers || aware.loom_block {
        text.push_str("\n- Refer to a message by its local id.");
    }
    text
}

/// Why a pinned node is not in the memory.
pub(crate) fn left_out(node: &Node) -> Option<(Fate, Reason)> {
    select::left_out_by_mark(node).or_else(|| {
        let silent = text_of(node).is_empty();
        silent.then_some((Fate::Excluded, if select::is_blank(node) { Reason::Blank } else { Reason::NonText }))
    })
}

/// The operational memory, which may be empty. `pinned` are the nodes that can be in it.
pub(crate) fn memory(
    tree: &Tree,
    aware: &LoomAware,
    mut pinned: SortedSet<NodeIx>,
    headers: &mut Headers<'_>,
    diagnostics: &mut Vec<Diagnostic>,
) -> String {
    let mut lines = Lines::default();
    for (at, pin) in aware.pinned.iter().enumerate() {
        match pin {
            Pinned::Node(id) => {
                let Some(ix) = tree.find_opt(id).filter(|ix| pinned.remove(ix)) else { continue };
                let node = tree.at(ix);
                if node.content.iter().any(|block| !matches!(block, Block::Text(_))) {
                    let message =
                        "the operational memory can hold text only; another block of a pinned node was left out";
                    let diagnostic = Diagnostic::new(DiagnosticCode::NonTextLeftOut, Severity::Warning, message);
                    diagnostics.push(diagnostic.about_node(id));
                }
                lines.entry("Pinned:", &headers.line(ix, diagnostics), &text_of(node));
            }
            Pinned::Text { label, text } => {
                if is_blank(text) {
                    diagnostics.push(blank(format!("loomAware.pinned[{at}]")));
                } else {
                    lines.entry("Pinned:", label.as_deref().unwrap_or_default(), text);
                }
            }
        }
    }
    for (at, stash) in aware.stashes.iter().enumerate() {
        if is_blank(&stash.text) {
            diagnostics.push(blank(format!("loomAware.stashes[{at}]")));
        } else {
            lines.entry("Recalled:", &stash.label, &stash.text);
        }
    }
    for (at, action) in aware.trace.iter().enumerate() {
        let action = one_line(action);
        if action.is_empty() {
            diagnostics.push(blank(format!("loomAware.trace[{at}]")));
        } else {
            lines.section("Recent actions:");
            lines.line(1, &action);
        }
    }
    lines.between("=== Operational Memory ===")
}

fn blank(path: String) -> Diagnostic {
    let message = "the entry is blank and was left out of the operational memory";
    Diagnostic::new(DiagnosticCode::MemoryLeftOut, Severity::Warning, message).at_path(path)
}

/// The tree, the position in it, and the agent's permissions.
pub(crate) fn loom(tree: &Tree, aware: &LoomAware, steps: &[Step], local_ids: &LocalIds) -> String {
    let settings = tree.settings();
    let mode = match settings.mode {
        TreeMode::Dialogue => "dialogue mode",
        TreeMode::Buffer => "buffer mode",
    };
    let mut lines = Lines::default();
    match settings.title.as_deref().map(one_line).filter(|title| !title.is_empty()) {
        Some(title) => lines.line(0, &format!("Tree: \"{title}\" ({mode})")),
        None => lines.line(0, &format!("Tree: untitled ({mode})")),
    }
    let branches = match tree.branches() {
        1 => "1 branch".to_owned(),
        several => format!("{several} branches"),
    };
    let depth = format!("depth {}", steps.len().saturating_sub(1));
    lines.line(0, &[counted(tree.len(), "node"), branches, depth].join(SEPARATOR));
    let first = steps.len().saturating_sub(NAMED + 1);
    let near = steps.iter().skip(first).map(|step| format!("[{}]", local_ids.get(step.node)));
    let trace: Vec<String> = (first > 0).then(|| "…".to_owned()).into_iter().chain(near).collect();
    lines.line(0, &format!("Position: {}", trace.join(" → ")));
    if let Some(permissions) = &aware.permissions {
        let named: Vec<String> =
            permissions.iter().map(|name| one_line(name)).filter(|name| !name.is_empty()).collect();
        let named = if named.is_empty() { "none".to_owned() } else { named.join(", ") };
        lines.line(0, &format!("Permissions: {named}"));
    }
    lines.between("=== Loom Context ===")
}

#[derive(Debug, Default)]
struct Lines {
    text: String,
    section: &'static str,
}

impl Lines {
    /// Begins a section, unless it is the current one.
    fn section(&mut self, title: &'static str) {
        if self.section != title {
            self.section = title;
            self.line(0, title);
        }
    }

    /// A labeled text, indented so that no line can be taken for the end of the block.
    fn entry(&mut self, section: &'static str, label: &str, text: &str) {
        self.section(section);
        let label = one_line(label);
        self.line(1, if label.is_empty() { "untitled" } else { &label });
        for line in trim(text).split('\n') {
            self.line(2, line);
        }
    }

    fn line(&mut self, depth: usize, line: &str) {
        if !is_blank(line) {
            for _ in 0..depth {
                self.text.push_str("  ");
            }
        }
        self.text.push_str(line);
        self.text.push('\n');
    }

    /// The block, unless it has no lines.
    fn between(self, first: &str) -> String {
        if self.text.is_empty() { String::new() } else { format!("{first}\n{}===", self.text) }
    }
}

/// The texts of a node, trimmed and joined as in a conversation.
fn text_of(node: &Node) -> String {
    let texts =
        node.content.iter().filter_map(|block| if let Block::Text(text) = block { Some(trim(text)) } else { None });
    texts.filter(|text| !text.is_empty()).collect::<Vec<_>>().join(JOIN)
}
