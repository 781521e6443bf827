//! The system context (docs/loom.md).

use crate::assembly::render::JOIN;
use crate::content::Block;
use crate::error::{Diagnostic, DiagnosticCode, Severity};
use crate::loom::select::Entry;
use crate::loom::tree::Tree;
use crate::text::trim;

/// Combines the agent's prompt with the loom-aware addendum, the tree's context, then the instructions: each trimmed,
/// without blank ones, joined by a blank line.
pub(crate) fn combine(
    tree: &Tree,
    system_prompt: Option<&str>,
    addendum: &str,
    instructions: &[Entry],
    diagnostics: &mut Vec<Diagnostic>,
) -> String {
    let mut system = String::new();
    append(&mut system, system_prompt.unwrap_or_default());
    append(&mut system, addendum);
    append(&mut system, tree.settings().system_context.as_deref().unwrap_or_default());
    for entry in instructions {
        let node = tree.at(entry.node);
        for block in &node.content {
            if let Block::Text(text) = block {
                append(&mut system, text);
            } else {
                let message =
                    "an instruction can hold text only; another block in it was left out of the system context";
                let diagnostic = Diagnostic::new(DiagnosticCode::NonTextLeftOut, Severity::Warning, message);
                diagnostics.push(diagnostic.about_node(&node.id));
            }
        }
    }
    system
}

fn append(system: &mut String, text: &str) {
    let text = trim(text);
    if !text.is_empty() {
        if !system.is_empty() {
            system.push_str(JOIN);
        }
        system.push_str(text);
    }
}
