//! The last requested path, with the selection along it (docs/resident.md).
//!
//! The lists run from the oldest node to the tip, so that moving the tip forward, or an edit near the tip, costs only
//! the new part: everything before the first step that may have changed is kept. A one-shot assembly advances an empty
//! state.

use std::rc::Rc;

use crate::content::Media;
use crate::error::{Diagnostic, DiagnosticCode, Result, Severity};
use crate::loom::path::{self, Choices, NewSteps, Position, Step};
use crate::loom::path_context::PathContext;
use crate::loom::request::{Annotations, InstructionScope, Options};
use crate::loom::select::{Mode, SelectionState};
use crate::loom::tree::{NodeIx, Tree};
use crate::maps::{SortedMap, SortedSet};
use crate::prompt::ImageRule;
use crate::tokens::memory::CounterId;

/// A path and its selection.
#[derive(Debug, Default)]
pub(crate) struct PathState {
    key: Option<PathKey>,
    pub steps: Vec<Step>,
    /// For each slot of the tree, its step on the path plus 1, or 0.
    on_path: Vec<u32>,
    /// Diagnostics of the path, by step, the last first.
    diagnostics: Vec<(usize, Diagnostic)>,
    pub selected: SelectionState,
    /// For each slot of the tree, the first step that depends on it plus 1, or 0.
    dependents: Vec<u32>,
    /// The slots with nonzero `dependents`, by step.
    dependencies: Vec<NodeIx>,
    /// The number of dependencies before each step.
    dependency_marks: Vec<usize>,
    /// Whether a node refers to a missing one, which any new node may be.
    dangling: bool,
    /// The first step that may have changed.
    dirty: usize,
    /// The number of leading steps unchanged since the last call of [`PathState::take_unchanged`].
    unchanged: usize,
}

#[derive(Debug)]
struct PathKey {
    mode: Mode,
    counter: Option<CounterId>,
    explicit: bool,
    choices: Choices,
    annotations: Annotations,
    scope: InstructionScope,
    image: ImageRule,
    audio_second: u64,
    media: Rc<SortedMap<String, Media<'static>>>,
}

impl PathKey {
    fn of(context: &PathContext<'_>) -> Self {
        let options = context.options;
        Self {
            mode: context.mode,
            counter: context.counter_id(),
            explicit: matches!(options.position, Position::Path(_)),
            choices: options.choices.clone(),
            annotations: options.annotations.clone(),
            scope: options.instruction_scope,
            image: options.image,
            audio_second: options.audio_second,
            media: Rc::clone(&options.media),
        }
    }

    fn is_of(&self, context: &PathContext<'_>, may_hold_media: bool) -> bool {
        let options = context.options;
        self.mode == context.mode
            && self.counter == context.counter_id()
            && self.explicit == matches!(options.position, Position::Path(_))
            && self.scope == options.instruction_scope
            && self.choices == options.choices
            && self.annotations == options.annotations
            && (!may_hold_media || self.has_media_of(options))
    }

    /// Takes the media costs of the options, which matter if the path holds media.
    fn take_media_of(&mut self, options: &Options) {
        (self.image, self.audio_second) = (options.image, options.audio_second);
        self.media = Rc::clone(&options.media);
    }

    fn has_media_of(&self, options: &Options) -> bool {
        self.image == options.image
            && self.audio_second == options.audio_second
            && (Rc::ptr_eq(&self.media, &options.media) || self.media == options.media)
    }
}

impl PathState {
    /// Records changes at these slots.
    pub(crate) fn touch(&mut self, places: &[NodeIx]) {
        for &place in places {
            match self.dependents.get(place as usize) {
                Some(&step) if step > 0 => self.dirty = self.dirty.min(step as usize - 1),
                _ if self.dangling => self.dirty = 0,
                _ => {}
            }
        }
    }

    /// Whether it can be advanced with these options.
    pub(crate) fn is_for(&self, context: &PathContext<'_>) -> bool {
        self.key.as_ref().is_none_or(|key| key.is_of(context, self.selected.may_hold_media))
    }

    pub(crate) fn diagnostics(&self, tree: &Tree<'_>, choices: &Choices) -> Vec<Diagnostic> {
        let mut diagnostics: Vec<Diagnostic> =
            self.diagnostics.iter().rev().map(|(_, diagnostic)| diagnostic.clone()).collect();
        diagnostics.extend(self.unused_choices(tree, choices));
        if self.steps.is_empty() {
            let message = "the path holds no nodes, so there is nothing to assemble";
            diagnostics.push(Diagnostic::new(DiagnosticCode::EmptyPath, Severity::Info, message));
        }
        diagnostics
    }

    /// Reports choices for nodes that are not on the path.
    fn unused_choices(&self, tree: &Tree<'_>, choices: &Choices) -> Option<Diagnostic> {
        if choices.edges.is_empty() && choices.versions.is_empty() {
            return None;
        }
        // An edit is at the end of the edge to the node it edits.
        let ends = self.steps.iter().filter_map(|step| Some(tree.edge(step.edge?).target));
        let used = SortedSet::from_iter(self.steps.iter().map(|step| step.node).chain(ends));
        let ids = choices.edges.keys().chain(choices.versions.iter().map(|(_, version)| version));
        let count = ids.filter_map(|id| tree.find_opt(id)).filter(|node| !used.contains(node)).count();
        (count > 0).then(|| {
            let message = format!("{count} of `choices` and `versionSelections` name nodes that are not on this path");
            Diagnostic::new(DiagnosticCode::SelectionsIgnored, Severity::Info, message)
        })
    }

    pub(crate) fn ids<'a>(&self, tree: &'a Tree<'a>) -> Vec<&'a str> {
        self.steps.iter().map(|step| &*tree.at(step.node).id).collect()
    }

    /// The number of leading steps that are unchanged since the last call.
    pub(crate) fn take_unchanged(&mut self) -> usize {
        std::mem::replace(&mut self.unchanged, usize::MAX)
    }

    /// The step of a node.
    pub(crate) fn step_of(&self, node: NodeIx) -> Option<usize> {
        self.on_path.get(node as usize).and_then(|&step| (step as usize).checked_sub(1))
    }

    /// Makes this the path of the options, which [`Self::is_for`] must accept. Returns the number of unchanged entries
    /// of the selection.
    pub(crate) fn advance(&mut self, context: &PathContext<'_>) -> Result<usize> {
        let mut key = self.key.take().unwrap_or_else(|| PathKey::of(context));
        key.take_media_of(context.options);
        let mut new = self.new_steps(context)?;
        let postponed = self.selected.postponed();
        let leaves = |step: &Step| postponed.contains(&step.node);
        let mut recomputes = !postponed.is_empty() && self.steps.iter().skip(new.keep).any(leaves);
        self.resize(context.tree.places());
        if !recomputes {
            self.truncate(new.keep);
            recomputes = !self.selected.expect(context.tree, &new.steps);
        }
        if recomputes {
            // A node next to the path joins or leaves it: earlier steps would have chosen differently.
            let mut steps = std::mem::take(&mut self.steps);
            steps.truncate(new.keep);
            steps.append(&mut new.steps);
            let mut diagnostics = std::mem::take(&mut self.diagnostics);
            diagnostics.retain(|&(step, _)| step <= new.keep);
            diagnostics.append(&mut new.diagnostics);
            *self = Self::default();
            self.resize(context.tree.places());
            new = NewSteps { keep: 0, steps, diagnostics };
            self.selected.expect(context.tree, &new.steps);
        }
        let kept = self.extend(context, new)?;
        self.key = Some(key);
        Ok(kept)
    }

    fn resize(&mut self, places: usize) {
        self.on_path.resize(places, 0);
        self.dependents.resize(places, 0);
    }

    /// The changed steps.
    fn new_steps(&mut self, context: &PathContext<'_>) -> Result<NewSteps> {
        let PathContext { tree, options, .. } = *context;
        let versions = path::check_choices(tree, &options.choices)?;
        let mut new = match &options.position {
            Position::Tip(tip) => {
                let known = |node: NodeIx| {
                    let step = self.step_of(node)?;
                    let edge = self.steps.get(step).filter(|_| step < self.dirty)?.edge;
                    Some((step, edge))
                };
                path::walk_back(tree, tree.find(tip)?, &options.choices, &versions, &options.limits, &known)?
            }
            Position::Path(ids) => {
                let mut new = path::explicit(tree, ids, &options.choices, &options.limits)?;
                let same = self.steps.iter().zip(&new.steps).take_while(|(old, new)| old == new).count();
                // The nodes of a step depend on the step after it.
                new.keep = same.min(self.dirty).saturating_sub(1);
                new.steps.drain(..new.keep);
                self.diagnostics.clear();
                new
            }
        };
        if options.instruction_scope == InstructionScope::Generation {
            // The instructions that count depend on the end of the path.
            let ends = self.steps.len().min(new.keep + new.steps.len());
            let keep = new.keep.min(ends.saturating_sub(2));
            let again = self.steps.get(keep..new.keep).unwrap_or_default();
            new.steps.splice(0..0, again.iter().cloned());
            if matches!(options.position, Position::Tip(_)) {
                let stays = |(step, _): &&(usize, Diagnostic)| *step > keep && *step <= new.keep;
                let diagnostics: Vec<_> = self.diagnostics.iter().filter(stays).cloned().collect();
                new.diagnostics.splice(0..0, diagnostics);
            }
            new.keep = keep;
        }
        Ok(new)
    }

    fn truncate(&mut self, keep: usize) {
        self.unchanged = self.unchanged.min(keep);
        self.selected.truncate(keep, &self.steps);
        for step in self.steps.drain(keep.min(self.steps.len())..) {
            if let Some(place) = self.on_path.get_mut(step.node as usize) {
                *place = 0;
            }
        }
        // The diagnostic of the step itself was found on the edge to it, which is kept.
        self.diagnostics.retain(|&(step, _)| step <= keep);
        if let Some(&mark) = self.dependency_marks.get(keep) {
            for place in self.dependencies.drain(mark..) {
                if let Some(step) = self.dependents.get_mut(place as usize) {
                    *step = 0;
                }
            }
            self.dependency_marks.truncate(keep);
        }
    }

    /// Adds new steps. Returns the number of unchanged entries of the selection.
    fn extend(&mut self, context: &PathContext<'_>, new: NewSteps) -> Result<usize> {
        let NewSteps { keep, steps, diagnostics } = new;
        for (at, step) in (keep..).zip(&steps) {
            if let Some(place) = self.on_path.get_mut(step.node as usize) {
                *place = u32::try_from(at).unwrap_or(u32::MAX - 1) + 1;
            }
        }
        self.steps.extend(steps);
        self.diagnostics.extend(diagnostics);
        let kept = self.selected.selection.entries.len();
        self.selected.steps(context.tree, &self.steps, keep, context.options, context.mode)?;
        if context.is_resident() {
            for at in keep..self.steps.len() {
                self.note_dependencies(context, at);
            }
        }
        self.dirty = usize::MAX;
        Ok(kept)
    }

    fn note_dependencies(&mut self, context: &PathContext<'_>, at: usize) {
        let tree: &Tree<'_> = context.tree;
        self.dependency_marks.push(self.dependencies.len());
        let (Some(step), next) = (self.steps.get(at), self.steps.get(at + 1)) else { return };
        let Self { dependents, dependencies, dangling, on_path, .. } = self;
        let number = u32::try_from(at).unwrap_or(u32::MAX - 1) + 1;
        let mut note = |place: NodeIx| {
            if let Some(dependent) = dependents.get_mut(place as usize).filter(|step| **step == 0) {
                *dependent = number;
                dependencies.push(place);
            }
        };
        note(step.node);
        // A selected node next to the path joins it when it becomes a version of a node on it.
        if at == 0 {
            let ids = context.options.choices.versions.iter().flat_map(|(key, version)| [key, version]);
            let places = ids.filter_map(|id| tree.find_opt(id)).flat_map(|place| path::origins(tree, place));
            places.filter(|&place| on_path.get(place as usize) == Some(&0)).for_each(&mut note);
        }
        // Annotations of included annotations also belong to the step.
        let mut open: Vec<NodeIx> = tree.annotations(step.node).collect();
        let mut followed = Vec::new();
        while let Some(annotation) = open.pop() {
            note(annotation);
            if context.options.annotations.include(&tree.at(annotation).id) && !followed.contains(&annotation) {
                followed.push(annotation);
                open.extend(tree.annotations(annotation));
            }
        }
        step.versions.iter().copied().for_each(&mut note);
        if let Some(edge) = next.and_then(|next| next.edge) {
            tree.sources(edge).iter().for_each(|link| note(link.node));
        }
        // An edit without an edge, and versions of one node, depend on the nodes they edit.
        let edited = step.edge.is_none_or(|edge| tree.edge(edge).target != step.node);
        let own = (edited || !step.versions.is_empty()).then_some(&step.node);
        for &version in own.into_iter().chain(&step.versions) {
            let chain = path::origins(tree, version);
            let last = chain.last().and_then(|&last| tree.at(last).edited_from.as_deref());
            *dangling |= last.is_some_and(|id| tree.find_opt(id).is_none());
            chain.into_iter().for_each(&mut note);
        }
    }
}
