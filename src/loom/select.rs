//! Which nodes belong to the path, in order, and which are excluded (docs/loom.md).

use crate::content::{Block, Role};
use crate::error::{Code, Diagnostic, DiagnosticCode, Error, Result, Severity};
use crate::limits;
use crate::loom::path::{self, Step};
use crate::loom::report::{Fate, NodePart, Reason};
use crate::loom::request::{Annotations, InstructionScope, Options};
use crate::loom::tree::{Author, EdgeKind, Node, NodeIx, SourceRef, SourceRole, Tree};
use crate::maps::SortedSet;
use crate::text;

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

/// Sets the fate of a row.
pub(crate) fn set_fate(rows: &mut [Row], at: usize, fate: Fate, reason: Reason) {
    if let Some(row) = rows.get_mut(at) {
        (row.fate, row.reason) = (fate, Some(reason));
    }
}

/// The nodes of the conversation and of the system context, and a row for each visited node.
#[derive(Debug, Default)]
pub(crate) struct Selection {
    /// Nodes of the conversation that no rule excludes, oldest first.
    pub entries: Vec<Entry>,
    /// Nodes of the system context that no rule excludes, in path order.
    pub instructions: Vec<Entry>,
    pub rows: Vec<Row>,
}

/// The kind of the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    Dialogue,
    Buffer,
}

/// The selection for the steps of a path so far. It can be rolled back to any step and continued from there.
#[derive(Debug, Default)]
pub(crate) struct SelectionState {
    pub selection: Selection,
    /// For each slot of the tree: [`NOWHERE`], [`EXPECTED`], or the row of its node plus 1.
    index: Vec<u32>,
    /// Nodes that only get a row if they get no other one.
    passed_over: Vec<(NodeIx, NodePart)>,
    /// Sources and annotations without a row because they come later on the path.
    postponed: Vec<NodeIx>,
    /// The lengths of all lists before each step.
    marks: Vec<Mark>,
    /// Whether any visited node may hold media, whose prices depend on the options.
    pub may_hold_media: bool,
}

/// The node has no row.
const NOWHERE: u32 = 0;
/// The node is on the path and will have a row, so that it gets no other one.
const EXPECTED: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct Mark {
    rows: usize,
    entries: usize,
    instructions: usize,
    passed_over: usize,
    postponed: usize,
}

impl SelectionState {
    /// Reserves the rows of steps to come. False if one of them already has a row.
    pub(crate) fn expect(&mut self, tree: &Tree, steps: &[Step]) -> bool {
        self.index.resize(tree.places(), NOWHERE);
        let mut new = true;
        for step in steps {
            if let Some(place) = self.index.get_mut(step.node as usize) {
                new &= *place == NOWHERE;
                *place = EXPECTED;
            }
        }
        new
    }

    /// Visits the steps from `from` on.
    pub(crate) fn steps(
        &mut self,
        tree: &Tree,
        steps: &[Step],
        from: usize,
        options: &Options,
        mode: Mode,
    ) -> Result<()> {
        let pending = pending_links(tree, steps, options)?;
        let mut selection = PathSelection { tree, options, mode, state: self };
        for (at, step) in steps.iter().enumerate().skip(from) {
            let mark = selection.state.mark();
            selection.state.marks.push(mark);
            let next = steps.get(at.saturating_add(1));
            let links = match next {
                Some(next) => continuation_links(tree, next),
                None => pending.as_slice(),
            };
            // The tip's edge is the one that leads to the last step.
            let current = at.saturating_add(2) >= steps.len();
            selection.sources(step, links, current);
            selection.step(step);
            selection.annotations(step.node);
            let versions = step.versions.iter().map(|&version| (version, NodePart::Version));
            selection.state.passed_over.extend(versions);
            limits::check("pathNodes", selection.state.selection.rows.len(), options.limits.path_nodes)?;
        }
        Ok(())
    }

    fn mark(&self) -> Mark {
        Mark {
            rows: self.selection.rows.len(),
            entries: self.selection.entries.len(),
            instructions: self.selection.instructions.len(),
            passed_over: self.passed_over.len(),
            postponed: self.postponed.len(),
        }
    }

    /// Discards the steps from `from` on, of which `steps` were visited or expected.
    pub(crate) fn truncate(&mut self, from: usize, steps: &[Step]) {
        let Some(&mark) = self.marks.get(from) else { return };
        for row in self.selection.rows.drain(mark.rows..) {
            if let Some(place) = self.index.get_mut(row.node as usize) {
                *place = NOWHERE;
            }
        }
        for step in steps.iter().skip(from) {
            if let Some(place) = self.index.get_mut(step.node as usize) {
                *place = NOWHERE;
            }
        }
        self.selection.entries.truncate(mark.entries);
        self.selection.instructions.truncate(mark.instructions);
        self.passed_over.truncate(mark.passed_over);
        self.postponed.truncate(mark.postponed);
        self.marks.truncate(from);
    }

    /// Sources without a row because they come later on the path.
    pub(crate) fn postponed(&self) -> &[NodeIx] {
        &self.postponed
    }

    /// The rows of all nodes related to the path.
    pub(crate) fn rows(&self, tree: &Tree) -> Vec<Row> {
        let mut rows = self.selection.rows.clone();
        rows.extend(self.rest(tree));
        rows
    }

    /// Rows for skipped nodes without another row.
    fn rest(&self, tree: &Tree) -> Vec<Row> {
        let mut rows: Vec<Row> = Vec::new();
        let mut seen = SortedSet::new();
        for &(node, part) in &self.passed_over {
            if self.has_row(node) || !seen.insert(node) {
                continue;
            }
            let (fate, reason) = match part {
                NodePart::Version => (Fate::Skipped, Reason::OtherVersion),
                NodePart::Instruction => (Fate::Skipped, Reason::InstructionScope),
                _ => left_out_by_mark(tree.at(node)).unwrap_or((Fate::Excluded, Reason::Annotation)),
            };
            rows.push(Row { node, part, fate, reason: Some(reason) });
        }
        rows
    }

    /// Whether the node comes later on the path.
    fn is_expected(&self, node: NodeIx) -> bool {
        self.index.get(node as usize) == Some(&EXPECTED)
    }

    fn has_row(&self, node: NodeIx) -> bool {
        self.index.get(node as usize).is_some_and(|&place| place != NOWHERE)
    }
}

struct PathSelection<'a> {
    tree: &'a Tree<'a>,
    options: &'a Options,
    mode: Mode,
    state: &'a mut SelectionState,
}

impl PathSelection<'_> {
    fn sources(&mut self, step: &Step, links: &[SourceRef], current: bool) {
        for link in links.iter().filter(|link| link.node != step.node && !step.versions.contains(&link.node)) {
            if link.role == SourceRole::Primary {
                continue;
            }
            if self.state.has_row(link.node) {
                if self.state.is_expected(link.node) {
                    self.state.postponed.push(link.node);
                }
                continue;
            }
            let node = self.tree.at(link.node);
            if link.role == SourceRole::Context {
                self.add(link.node, NodePart::Context, Role::User, self.exclusion(node));
            } else {
                if !current && self.options.instruction_scope == InstructionScope::Generation {
                    self.state.passed_over.push((link.node, NodePart::Instruction));
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

    /// The annotations of a node, and the annotations of those.
    fn annotations(&mut self, node: NodeIx) {
        let mut open: Vec<NodeIx> = self.tree.annotations(node).rev().collect();
        while let Some(annotation) = open.pop() {
            let node = self.tree.at(annotation);
            if !self.options.annotations.include(&node.id) {
                self.state.passed_over.push((annotation, NodePart::Annotation));
            } else if self.state.is_expected(annotation) {
                self.state.postponed.push(annotation);
            } else if !self.state.has_row(annotation) {
                self.add(annotation, NodePart::Annotation, role_of(node), self.exclusion(node));
                open.extend(self.tree.annotations(annotation).rev());
            }
        }
    }

    fn add(&mut self, node: NodeIx, part: NodePart, role: Role, left_out: Option<(Fate, Reason)>) {
        let out = &mut self.state.selection;
        let row = out.rows.len();
        let (fate, reason) = left_out.map_or((Fate::Kept, None), |(fate, reason)| (fate, Some(reason)));
        out.rows.push(Row { node, part, fate, reason });
        if left_out.is_none() {
            let list = if part == NodePart::Instruction { &mut out.instructions } else { &mut out.entries };
            list.push(Entry { node, role, row });
        }
        self.state.may_hold_media |= self.tree.at(node).content.read_blocks().iter().any(may_hold_media);
        if let Some(place) = self.state.index.get_mut(node as usize) {
            *place = u32::try_from(row).unwrap_or(EXPECTED - 1).saturating_add(1);
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

    /// Why an instruction has no text.
    fn silent(&self, node: &Node) -> Option<(Fate, Reason)> {
        if is_blank(node) {
            return Some((Fate::Excluded, Reason::Blank));
        }
        (!has_text(node)).then_some((Fate::Excluded, Reason::NonText))
    }
}

/// The sources of the edge to a step, if that is a continuation.
fn continuation_links<'a>(tree: &'a Tree, to: &Step) -> &'a [SourceRef] {
    match to.edge {
        Some(edge) if tree.edge(edge).kind == EdgeKind::Continuation => tree.sources(edge),
        _ => &[],
    }
}

/// The sources of the edge about to be created. Its primary is the tip, whether stated or not.
fn pending_links(tree: &Tree, steps: &[Step], options: &Options) -> Result<Vec<SourceRef>> {
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
        Ok(SourceRef { node, role: source.role })
    };
    options.pending_sources.iter().enumerate().map(link).collect()
}

/// Reports named annotations that are not related to the path.
pub(crate) fn check_annotations(
    tree: &Tree,
    state: &SelectionState,
    options: &Options,
    diagnostics: &mut Vec<Diagnostic>,
) -> Result<()> {
    let Annotations::Named(ids) = &options.annotations else { return Ok(()) };
    let passed_over = SortedSet::from_iter(state.passed_over.iter().map(|&(node, _)| node));
    for id in ids.iter() {
        let node = tree.find(id)?;
        if !state.has_row(node) && !passed_over.contains(&node) {
            let message = format!("`{id}` is not an annotation of the path; it was ignored");
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

/// A node of tool results has the user's role, regardless of its author.
fn role_of(node: &Node) -> Role {
    let blocks = node.content.read_blocks();
    let has = |kind: fn(&Block) -> bool| blocks.iter().any(kind);
    let results = has(|block| matches!(block, Block::ToolResult { .. }));
    let calls = has(|block| matches!(block, Block::ToolCall { .. }));
    match node.author {
        Author::Model if !results || calls => Role::Assistant,
        Author::Human | Author::Model => Role::User,
    }
}

pub(crate) fn is_blank(node: &Node) -> bool {
    let is_blank = |block: &Block| matches!(block, Block::Text(text) if text::is_blank(text));
    node.content.escaped().is_none() && node.content.iter().all(is_blank)
}

fn may_hold_media(block: &Block<'_>) -> bool {
    match block {
        Block::Image(_) | Block::Audio(_) | Block::ToolResult { .. } | Block::Vendor(_) => true,
        Block::Text(_) | Block::ToolCall { .. } | Block::Reasoning { .. } => false,
    }
}

fn has_text(node: &Node) -> bool {
    node.content.iter().any(|block| matches!(block, Block::Text(_)))
}
