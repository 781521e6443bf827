//! Markdown for people: one path, or the whole tree with a heading for each branch.

use super::tree::{ExportNode, ExportTree};
use crate::content::{Block, Image};
use crate::error::Result;
use crate::json;
use crate::loom_import::verbatim::Lenient;
use crate::text::trim;

pub(super) fn write(tree: &ExportTree<'_>) -> Result<String> {
    let is_document = tree.fields.field("mode").is_some_and(|mode| mode.is_string("buffer"));
    let mut page = Page { out: String::new(), is_document };
    if let Some(title) = tree.fields.text_at("title").filter(|title| !title.is_empty()) {
        page.block(&format!("# {}", title.replace(['\n', '\r'], " ")));
    }
    if let Some(system) = tree.fields.text_at("systemContext").filter(|system| !system.is_empty()) {
        page.block(&quoted(&system));
    }
    if is_document && !page.out.is_empty() {
        page.block("");
    }
    match tree.tip {
        Some(tip) => {
            let mut path = Vec::new();
            let mut here = Some(tip);
            while let Some(node) = here.and_then(|at| tree.node(at)) {
                path.push(node);
                here = node.parent;
            }
            let is_shown = |node: &&ExportNode<'_>| {
                let is = |flag| node.metadata.is_some_and(|metadata| metadata.is_true(flag));
                !is("excluded") && !is("pruned")
            };
            path.into_iter().rev().filter(is_shown).for_each(|node| page.node(node));
        }
        None => page.branches(tree),
    }
    let mut out = page.out;
    if !out.is_empty() && !out.ends_with('\n') {
        out.push('\n');
    }
    Ok(out)
}

struct Page {
    out: String,
    /// Whether a node's text continues the previous one.
    is_document: bool,
}

impl Page {
    /// Writes all nodes, each branch under the numbers of the forks that lead to it.
    fn branches(&mut self, tree: &ExportTree<'_>) {
        let has_several = tree.roots.len() > 1;
        let mut work: Vec<(usize, String, bool)> = Vec::new();
        let push = |work: &mut Vec<(usize, String, bool)>, nodes: &[usize], number: &str, is_branch: bool| {
            for (way, &at) in nodes.iter().enumerate().rev() {
                let number = match (is_branch, number) {
                    (false, number) => number.to_owned(),
                    (true, "") => (way + 1).to_string(),
                    (true, number) => format!("{number}.{}", way + 1),
                };
                work.push((at, number, is_branch));
            }
        };
        push(&mut work, &tree.roots, "", has_several);
        while let Some((at, number, begins_branch)) = work.pop() {
            let Some(node) = tree.node(at) else { continue };
            if begins_branch {
                let label = node.bookmark_label().map_or_else(String::new, |label| format!(": {label}"));
                self.block(&format!("## {number}{}", label.replace(['\n', '\r'], " ")));
                self.out.push_str("\n\n");
            }
            self.node(node);
            push(&mut work, &node.children, &number, node.children.len() > 1);
        }
    }

    /// Begins a paragraph with this text.
    fn block(&mut self, text: &str) {
        if !self.out.is_empty() && !self.out.ends_with("\n\n") {
            self.out.push_str(if self.out.ends_with('\n') { "\n" } else { "\n\n" });
        }
        self.out.push_str(text);
    }

    fn node(&mut self, node: &ExportNode<'_>) {
        if self.is_document {
            self.out.push_str(&node.text());
            let parts = node.blocks.iter().filter(|block| block.as_text().is_none()).map(shown);
            parts.filter(|part| !part.is_empty()).for_each(|part| self.block(&part));
            return;
        }
        let parts: Vec<String> = node.blocks.iter().map(shown).filter(|part| !part.is_empty()).collect();
        if !parts.is_empty() {
            let agent = node.fields.text_at("authorAgentId").filter(|_| node.is_model);
            let who = agent.unwrap_or_else(|| if node.is_model { "Model" } else { "Human" }.to_owned());
            self.block(&format!("**{who}:**"));
            parts.iter().for_each(|part| self.block(part));
        }
    }
}

fn shown(block: &Block<'_>) -> String {
    match block {
        Block::Text(text) => trim(text).to_owned(),
        Block::Reasoning { text, .. } => quoted(text),
        Block::Image(image) => {
            let Image { reference, alt_text, .. } = &**image;
            let alt = alt_text.as_deref().unwrap_or("image").replace(['[', ']', '\n'], " ");
            format!("![{alt}](<{}>)", reference.as_deref().unwrap_or_default())
        }
        Block::Audio(audio) => format!("[audio](<{}>)", audio.reference),
        Block::ToolCall { name, arguments, .. } => fenced(&format!("{name} {}", json::text(&***arguments))),
        Block::Vendor(block) if block.phase().is_some() => String::new(),
        Block::Vendor(block) => match block.summary() {
            Some(summary) => trim(summary).to_owned(),
            None => fenced(&json::text(&*block.value)),
        },
        Block::ToolResult { content, .. } => fenced(&content.iter().map(shown).collect::<Vec<_>>().join("\n")),
    }
}

fn quoted(text: &str) -> String {
    trim(text).split('\n').map(|line| ["> ", line].concat()).collect::<Vec<_>>().join("\n")
}

/// A code block with a fence longer than any run of backticks in it.
fn fenced(text: &str) -> String {
    let longest = text.split(|ch| ch != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    [&fence, "\n", text, "\n", &fence].concat()
}
