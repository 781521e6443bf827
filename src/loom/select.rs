//! What belongs to the path, in order, and what the rules leave out (SPEC §1 "Exclusion", "Context sources").

use std::collections::BTreeMap;

use crate::collect;
use crate::error::{Code, Diagnostic, DiagnosticCode, Error, Result, Severity};
use crate::limits;
use crate::loom::path::{self, Step};
use crate::loom::report::{Fate, NodePart, Reason};
use crate::loom::request::{Annotations, InstructionScope, Options};
use crate::loom::tree::{Author, Block, EdgeKind, Link, Node, NodeIx, SourceRole, Tree};
use crate::prompt::Role;

/// A node of the conversation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    pub node: NodeIx,
    pub role: Role,
    /// Its row in the report.
    pub row: usize,
}

/// A row of the report in the making.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    pub node: NodeIx,
    pub part: NodePart,
    pub fate: Fate,
    pub reason: Option<Reason>,
}

/// The nodes of the conversation and of the system context, and a row for each node that was looked at.
#[derive(Debug, Default)]
pub(crate) struct Selection {
    /// Nodes that no rule left out, oldest first.
    pub entries: Vec<Entry>,
    /// Nodes for the system context that no rule left out, in path order.
    pub instructions: Vec<Entry>,
    pub rows: Vec<Row>,
}

/// Which kind of result is assembled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    Dialogue,
    Buffer,
}

pub(crate) fn select(
    tree: &Tree,
    steps: &[Step],
    options: &Options,
    mode: Mode,
    diagnostics: &mut Vec<Diagnostic>,
) -> Result<Selection> {
    let pending = pending_links(tree, steps, options)?;
    let mut selector = Selector {
        tree,
        options,
        mode,
        out: Selection::default(),
        rows: collect::map(steps.iter().map(|step| (step.node, usize::MAX))),
        passed_over: Vec::new(),
    };
    for (at, step) in steps.iter().enumerate() {
        let next = steps.get(at.saturating_add(1));
        let links = match next {
            Some(next) => continuation_links(tree, next),
            None => pending.as_slice(),
        };
        // The tip's edge is the one that leads to the last step.
        let current = at.saturating_add(2) >= steps.len();
        selector.sources(step, links, current);
        selector.step(step);
        selector.annotations(step.node);
        selector.passed_over.extend(step.versions.iter().map(|&version| (version, NodePart::Version)));
        limits::check("pathNodes", selector.out.rows.len(), options.limits.path_nodes)?;
    }
    selector.rest();
    unknown_annotations(tree, &selector, diagnostics)?;
    Ok(selector.out)
}

struct Selector<'a> {
    tree: &'a Tree,
    options: &'a Options,
    mode: Mode,
    out: Selection,
    /// Where each node's row is; path nodes are here from the start, so that nothing else takes their place.
    rows: BTreeMap<NodeIx, usize>,
    /// Nodes that get a row only where they are nothing else.
    passed_over: Vec<(NodeIx, NodePart)>,
}

impl Selector<'_> {
    fn sources(&mut self, step: &Step, links: &[Link], current: bool) {
        for link in links.iter().filter(|link| link.node != step.node && !step.versions.contains(&link.node)) {
            if link.role == SourceRole::Primary || self.rows.contains_key(&link.node) {
                continue;
            }
            let node = self.tree.at(link.node);
            if link.role == SourceRole::Context {
                self.add(link.node, NodePart::Context, Role::User, self.exclusion(node));
            } else {
                if !current && self.options.instruction_scope == InstructionScope::Generation {
                    self.passed_over.push((link.node, NodePart::Instruction));
                    continue;
                }
                let left_out = left_out_by_mark(node).or_else(|| self.silent(node));
                self.add(link.node, NodePart::Instruction, Role::System, left_out);
            }
        }
    }

    fn step(&mut self, step: &Step) {
        let node = self.tree.at(step.node);
        let remark = path::is_annotation(self.tree, step) && !self.options.annotations.include(&node.id);
        let left_out = left_out_by_mark(node)
            .or_else(|| remark.then_some((Fate::Excluded, Reason::Annotation)))
            .or_else(|| self.empty(node));
        self.add(step.node, NodePart::Path, role_of(node), left_out);
    }

    /// The remarks about a node, and the remarks about those.
    fn annotations(&mut self, node: NodeIx) {
        let mut open: Vec<NodeIx> = self.tree.annotations(node).iter().rev().copied().collect();
        while let Some(annotation) = open.pop() {
            let node = self.tree.at(annotation);
            if !self.options.annotations.include(&node.id) {
                self.passed_over.push((annotation, NodePart::Annotation));
            } else if !self.rows.contains_key(&annotation) {
                self.add(annotation, NodePart::Annotation, role_of(node), self.exclusion(node));
                open.extend(self.tree.annotations(annotation).iter().rev());
            }
        }
    }

    /// Rows for what was passed over and is nothing else.
    fn rest(&mut self) {
        for (node, part) in std::mem::take(&mut self.passed_over) {
            if self.rows.contains_key(&node) {
                continue;
            }
            let left_out = match part {
                NodePart::Version => (Fate::Skipped, Reason::OtherVersion),
                NodePart::Instruction => (Fate::Skipped, Reason::InstructionScope),
                _ => left_out_by_mark(self.tree.at(node)).unwrap_or((Fate::Excluded, Reason::Annotation)),
            };
            self.add(node, part, Role::User, Some(left_out));
        }
    }

    fn add(&mut self, node: NodeIx, part: NodePart, role: Role, left_out: Option<(Fate, Reason)>) {
        let row = self.out.rows.len();
        self.rows.insert(node, row);
        let (fate, reason) = left_out.map_or((Fate::Kept, None), |(fate, reason)| (fate, Some(reason)));
        self.out.rows.push(Row { node, part, fate, reason });
        if left_out.is_none() {
            let list = if part == NodePart::Instruction { &mut self.out.instructions } else { &mut self.out.entries };
            list.push(Entry { node, role, row });
        }
    }

    fn exclusion(&self, node: &Node) -> Option<(Fate, Reason)> {
        left_out_by_mark(node).or_else(|| self.empty(node))
    }

    fn empty(&self, node: &Node) -> Option<(Fate, Reason)> {
        match self.mode {
            Mode::Dialogue => is_blank(node).then_some((Fate::Excluded, Reason::Blank)),
            Mode::Buffer => (!node.content.is_empty() && !has_text(node)).then_some((Fate::Excluded, Reason::NonText)),
        }
    }

    /// Why an instruction has nothing to say.
    fn silent(&self, node: &Node) -> Option<(Fate, Reason)> {
        if is_blank(node) {
            return Some((Fate::Excluded, Reason::Blank));
        }
        (!has_text(node)).then_some((Fate::Excluded, Reason::NonText))
    }
}

/// The sources of the edge that leads to a step, where that is a continuation.
fn continuation_links<'a>(tree: &'a Tree, to: &Step) -> &'a [Link] {
    match to.edge {
        Some(edge) if tree.edge(edge).kind == EdgeKind::Continuation => tree.sources(edge),
        _ => &[],
    }
}

/// The sources of the edge about to be created. Its primary is the tip, whether or not it says so.
fn pending_links(tree: &Tree, steps: &[Step], options: &Options) -> Result<Vec<Link>> {
    let tip = steps.last().map(|step| step.node);
    let link = |(at, source): (usize, &crate::loom::tree::Source)| {
        let node = tree.find(&source.node)?;
        if source.role == SourceRole::Primary && Some(node) != tip {
            let message = format!(
                "`{}` is a primary source of the pending edge, but the path ends elsewhere; only its tip can be",
                source.node
            );
            return Err(Error::new(Code::InvalidInput, message).with("path", format!("pendingSources[{at}]")));
        }
        Ok(Link { node, role: source.role })
    };
    options.pending_sources.iter().enumerate().map(link).collect()
}

fn unknown_annotations(tree: &Tree, selector: &Selector<'_>, diagnostics: &mut Vec<Diagnostic>) -> Result<()> {
    let Annotations::Named(ids) = &selector.options.annotations else { return Ok(()) };
    let remarks = collect::set(selector.out.rows.iter().map(|row| row.node));
    for id in ids {
        if !remarks.contains(&tree.find(id)?) {
            let message = format!("`{id}` is no annotation of the path; it was left out");
            diagnostics
                .push(Diagnostic::new(DiagnosticCode::AnnotationNotFound, Severity::Warning, message).about_node(id));
        }
    }
    Ok(())
}

pub(crate) fn left_out_by_mark(node: &Node) -> Option<(Fate, Reason)> {
    if node.excluded {
        return Some((Fate::Excluded, Reason::Excluded));
    }
    node.pruned.then_some((Fate::Excluded, Reason::Pruned))
}

/// A node of tool results speaks as the user, whoever its author is.
fn role_of(node: &Node) -> Role {
    let has = |kind: fn(&Block) -> bool| node.content.iter().any(kind);
    let results = has(|block| matches!(block, Block::ToolResult { .. }));
    let calls = has(|block| matches!(block, Block::ToolCall { .. }));
    match node.author {
        Author::Model if !results || calls => Role::Assistant,
        Author::Human | Author::Model => Role::User,
    }
}

pub(crate) fn is_blank(node: &Node) -> bool {
    node.content.iter().all(|block| matches!(block, Block::Text(text) if text.trim().is_empty()))
}

fn has_text(node: &Node) -> bool {
    node.content.iter().any(|block| matches!(block, Block::Text(_)))
}
