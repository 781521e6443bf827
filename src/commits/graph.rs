//! The graph of commits: records without their blobs (docs/commits.md).
//!
//! A walk goes from a commit to its parent, without recursion. A missing parent and a cycle are errors: a damaged chain
//! is never returned as a shorter history. Every list is an index, so the cost of a call depends on its result, not on
//! the size of the graph.

use std::cell::OnceCell;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::commits::artifact::{RefForm, invalid_ref};
use crate::commits::record::{Origin, RECORD_VERSION, Record, required_time};
use crate::error::{Code, Error, Result};
use crate::json::quoted;
use crate::limits::{self, Limits};
use crate::maps::{SortedMap, SortedSet};
use crate::sorting;
use crate::time::Timestamp;

/// Records of commits, by id, with their links.
///
/// ```
/// use ctxweave::commits::{CommitGraph, CommitType, Record, artifact_ref};
/// let mut graph = CommitGraph::default();
/// let delta = |blob: &[u8]| Record::new(CommitType::Delta, &artifact_ref(blob), "generic-v1", "2026-03-01T09:30:00Z");
/// let root = graph.checkpoint(delta(b"one"))?.id.clone();
/// let tip = graph.checkpoint(Record { parent: Some(root.clone()), ..delta(b"two") })?.id.clone();
/// let history: Vec<&str> = graph.history(&tip, None)?.iter().map(|record| record.id.as_str()).collect();
/// assert_eq!(history, [tip, root]);
/// # Ok::<(), ctxweave::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct CommitGraph {
    records: Vec<Record>,
    by_id: SortedMap<String, usize>,
    /// The full artifact refs and those of other stores, each with the first commit that has it.
    by_artifact: SortedMap<String, usize>,
    /// By the parent's id, including parents that are not in the graph yet: an import may add them later.
    children: Lists,
    by_ticket: Lists,
    by_thread: Lists,
    by_session: Lists,
    tips: SortedSet<usize>,
    lacking_summary: SortedSet<usize>,
    /// By principal, in order of time.
    timelines: SortedMap<String, SortedMap<Timestamp, Vec<usize>>>,
    /// For each commit the one with the greatest [`Key`] on its chain, including itself; `None` if the chain has no
    /// root. Computed on demand, and again when a parent is added after its children.
    latest: OnceCell<Vec<Option<usize>>>,
    limits: Limits,
}

/// Indices of records, by a text of the records.
type Lists = SortedMap<String, Vec<usize>>;

/// The order of unrelated commits: by time, then those without a time (1), then those whose chain has no root (2); and
/// by id.
type Key<'g> = (u8, Option<Timestamp>, &'g str);

/// The changes of [`CommitGraph::update_metadata`]; `Some(None)` and an empty list remove.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MetadataUpdate {
    /// The new summary, if it changes.
    pub summary: Option<Option<String>>,
    /// The new tags, if they change.
    pub tags: Option<Vec<String>>,
}

impl CommitGraph {
    /// Creates an empty graph with these limits on its input.
    pub fn new(limits: Limits) -> Self {
        Self { limits, ..Self::default() }
    }

    /// The number of commits.
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// Whether the graph is empty.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// The limits on its input.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Adds a commit and returns its record with the id; an existing one is returned unchanged. An id in `record` must
    /// be the one derived from its fields.
    ///
    /// # Errors
    /// [`Code::CommitNotFound`] for a missing parent, [`Code::IdCollision`] if the id belongs to a commit with other
    /// content, [`Code::UnsupportedVersion`], [`Code::InvalidInput`] for a `created_at` that is not RFC 3339,
    /// [`Code::AmbiguousRef`] and [`Code::ArtifactNotFound`] for a short ref, [`Code::LimitExceeded`].
    pub fn checkpoint(&mut self, record: Record) -> Result<&Record> {
        self.checkpoint_after(record, false)
    }

    /// Like [`Self::checkpoint`]. If `parent_stored`, the caller's store has the parent, so that the graph does not
    /// need its record; chains end there until it is imported.
    ///
    /// # Errors
    /// Those of [`CommitGraph::checkpoint`].
    pub fn checkpoint_after(&mut self, record: Record, parent_stored: bool) -> Result<&Record> {
        changeable(&record)?;
        record.check_ref(Origin::Request)?;
        required_time("created_at", &record.created_at)?;
        let named = record.id.clone();
        let record = Record { artifact_ref: self.resolve_artifact(&record.artifact_ref)?, ..record }.seal();
        let again = |there: &&Record| there.same_commit(&Record { id: named.clone(), ..record.clone() });
        if !named.is_empty() && named != record.id && self.find(&named).filter(again).is_none() {
            let message = format!(
                "the id of the record is `{named}`, but its fields give `{}`; leave `id` out or import the record",
                record.id
            );
            return Err(Error::new(Code::InvalidInput, message).with("path", "id").with("commitId", record.id));
        }
        let id = if named.is_empty() { record.id.clone() } else { named };
        if let Some(there) = self.find(&id) {
            if !there.same_commit(&Record { id: id.clone(), ..record.clone() }) {
                return Err(collision(there, &record));
            }
        } else {
            if let Some(parent) = record.parent.as_ref().filter(|_| !parent_stored) {
                self.index_of(parent).map_err(|error| error.with("artifactRef", record.artifact_ref.as_str()))?;
            }
            limits::check("commits", self.records.len().saturating_add(1), self.limits.commits)?;
            self.insert(record);
        }
        self.show(&id)
    }

    /// Adds a record with a new id.
    pub(crate) fn insert(&mut self, record: Record) {
        let at = self.records.len();
        let parent = record.parent.as_ref().and_then(|parent| self.by_id.get(parent)).copied();
        if let Some(parent) = parent {
            self.tips.remove(&parent);
        }
        for (list, key) in [
            (&mut self.children, &record.parent),
            (&mut self.by_ticket, &record.provenance.ticket_id),
            (&mut self.by_thread, &record.provenance.thread_id),
            (&mut self.by_session, &record.provenance.session_id),
        ] {
            if let Some(key) = key {
                list.or_default(key.clone()).push(at);
            }
        }
        if let (Some(principal), Some(time)) = (&record.provenance.principal, record.time()) {
            self.timelines.or_default(principal.clone()).or_default(time).push(at);
        }
        if let Some(form @ (RefForm::Full(_) | RefForm::Foreign(_))) = RefForm::of(&record.artifact_ref) {
            self.by_artifact.or_insert(form.full_prefix(), at);
        }
        if record.lacks_summary() {
            self.lacking_summary.insert(at);
        }
        let latest = self.latest.take();
        let has_children = self.children.contains_key(&record.id);
        self.by_id.insert(record.id.clone(), at);
        self.records.push(record);
        if !has_children {
            self.tips.insert(at);
            if let Some(mut latest) = latest {
                let before = parent.map(|parent| latest.get(parent).copied().flatten());
                latest.push(match before {
                    Some(None) => None,
                    before => Some(self.later(before.flatten(), at)),
                });
                self.latest = OnceCell::from(latest);
            }
        }
    }

    fn key(&self, at: usize) -> Key<'_> {
        self.records.get(at).map_or((0, None, ""), |record| {
            let time = record.time();
            (u8::from(time.is_none()), time, &record.id)
        })
    }

    /// The greater of two commits on one chain.
    fn later(&self, before: Option<usize>, at: usize) -> usize {
        before.filter(|&before| self.key(before) > self.key(at)).unwrap_or(at)
    }

    fn parent_of(&self, at: usize) -> Option<usize> {
        self.records.get(at)?.parent.as_ref().and_then(|parent| self.by_id.get(parent)).copied()
    }

    fn latest(&self) -> &[Option<usize>] {
        self.latest.get_or_init(|| {
            let mut latest = vec![None; self.records.len()];
            let roots = (0..self.records.len()).filter(|&at| self.parent_of(at).is_none());
            let mut open: Vec<(usize, Option<usize>)> = roots.map(|at| (at, None)).collect();
            while let Some((at, before)) = open.pop() {
                let (Some(record), Some(place)) = (self.records.get(at), latest.get_mut(at)) else { continue };
                *place = Some(self.later(before, at));
                let before = *place;
                open.extend(self.children.get(&record.id).into_iter().flatten().map(|&child| (child, before)));
            }
            latest
        })
    }

    /// The record of a commit, if the graph has it.
    pub fn find(&self, id: &str) -> Option<&Record> {
        self.by_id.get(id).and_then(|&at| self.records.get(at))
    }

    /// The record of a commit.
    ///
    /// # Errors
    /// [`Code::CommitNotFound`].
    pub fn show(&self, id: &str) -> Result<&Record> {
        self.find(id).ok_or_else(|| not_found(id))
    }

    fn index_of(&self, id: &str) -> Result<usize> {
        self.by_id.get(id).copied().ok_or_else(|| not_found(id))
    }

    /// The commits from `id` to the root, each once.
    pub(crate) fn chain<'g>(&'g self, id: &str) -> Result<Chain<'g>> {
        let first = self.index_of(id)?;
        // A chain with a root has no cycle.
        let rooted = self.latest().get(first).is_some_and(Option::is_some);
        let seen = if rooted { Vec::new() } else { vec![false; self.records.len()] };
        Ok(Chain { graph: self, next: Some(Ok(first)), seen, walked: 0 })
    }

    /// The chain of a commit towards the root: all of it, or the first `depth` commits.
    ///
    /// # Errors
    /// [`Code::CommitNotFound`] for the commit or a missing parent on the way, [`Code::ChainCycle`],
    /// [`Code::LimitExceeded`].
    pub fn history(&self, id: &str, depth: Option<usize>) -> Result<Vec<&Record>> {
        let mut history = Vec::new();
        for record in self.chain(id)?.take(depth.unwrap_or(usize::MAX)) {
            history.push(record?);
        }
        Ok(history)
    }

    /// The last commit that `principal` made at or before a time. Of several with the same time, the one that descends
    /// from the others.
    ///
    /// # Errors
    /// [`Code::AmbiguousCommit`] if none of them descends from all others; those of [`CommitGraph::history`].
    pub fn resolve(&self, principal: &str, time: Timestamp) -> Result<Option<&Record>> {
        let latest = self.timelines.get(principal).and_then(|timeline| {
            timeline.get(&time).or_else(|| timeline.before(&time).map(|(_, candidates)| candidates))
        });
        let Some(candidates) = latest else { return Ok(None) };
        let [single] = candidates.as_slice() else { return self.last_of(principal, candidates).map(Some) };
        Ok(self.records.get(*single))
    }

    /// The one of several commits that descends from all others.
    fn last_of(&self, principal: &str, candidates: &[usize]) -> Result<&Record> {
        let records = candidates.iter().filter_map(|&at| self.records.get(at));
        let mut left: SortedMap<&str, &Record> = records.clone().map(|record| (record.id.as_str(), record)).collect();
        let mut chains = records.map(|record| Ok(self.chain(&record.id)?.skip(1))).collect::<Result<Vec<_>>>()?;
        let mut walked = SortedSet::new();
        // Walks all chains in parallel, since usually one commit is a near ancestor of the other.
        while left.len() > 1 && !chains.is_empty() {
            let mut going = Vec::with_capacity(chains.len());
            for mut chain in chains {
                let Some(ancestor) = chain.next().transpose()? else { continue };
                left.remove(ancestor.id.as_str());
                if walked.insert(ancestor.id.as_str()) {
                    going.push(chain);
                }
            }
            chains = going;
        }
        if let (1, Some(last)) = (left.len(), left.values().next()) {
            return Ok(last);
        }
        let ids: Vec<&str> = left.keys().copied().collect();
        let message =
            format!("`{principal}` made several unrelated commits at that time: {}; name one of them", quoted(&ids));
        Err(Error::new(Code::AmbiguousCommit, message).with("principal", principal).with("candidates", ids))
    }

    /// Changes the summary or the tags of a commit; other fields are immutable.
    ///
    /// # Errors
    /// [`Code::CommitNotFound`], [`Code::UnsupportedVersion`].
    pub fn update_metadata(&mut self, id: &str, update: MetadataUpdate) -> Result<&Record> {
        let record = self.show(id)?;
        changeable(record)?;
        let summary = match update.summary {
            Some(summary) => summary.filter(|summary| !summary.is_empty()),
            None => record.summary.clone(),
        };
        let tags = update.tags.unwrap_or_else(|| record.tags.clone());
        self.set_metadata(id, summary, tags);
        self.show(id)
    }

    pub(crate) fn set_metadata(&mut self, id: &str, summary: Option<String>, tags: Vec<String>) {
        let Some(&at) = self.by_id.get(id) else { return };
        let Some(record) = self.records.get_mut(at) else { return };
        (record.summary, record.tags) = (summary, tags);
        if record.lacks_summary() {
            self.lacking_summary.insert(at);
        } else {
            self.lacking_summary.remove(&at);
        }
    }

    /// All commits, in an order independent of their insertion: parents before children, otherwise by time, then id.
    /// Commits of a chain without a root come last.
    pub fn commits(&self) -> Vec<&Record> {
        self.order().into_iter().filter_map(|at| self.records.get(at)).collect()
    }

    /// The indices of all records in the order of [`CommitGraph::commits`].
    fn order(&self) -> Vec<usize> {
        let mut ready = BinaryHeap::new();
        let mut pending = SortedMap::new();
        for (at, record) in self.records.iter().enumerate() {
            match self.parent_of(at) {
                None => ready.push(Reverse((self.key(at), at))),
                Some(_) => drop(pending.insert(record.id.as_str(), at)),
            }
        }
        let mut ordered = Vec::with_capacity(self.records.len());
        while let Some(Reverse(((.., id), at))) = ready.pop() {
            ordered.push(at);
            for &child in self.children.get(id).into_iter().flatten() {
                let key = self.key(child);
                pending.remove(key.2);
                ready.push(Reverse((key, child)));
            }
        }
        ordered.extend(pending.into_iter().map(|(_, at)| at));
        ordered
    }

    /// These commits in the order of [`CommitGraph::commits`], without ordering the others.
    fn in_order<'p>(&self, places: impl IntoIterator<Item = &'p usize>) -> Vec<&Record> {
        let mut places: Vec<usize> = places.into_iter().copied().collect();
        if places.len() > 1 {
            // Walking more steps than the graph has commits costs more than ordering all of it.
            let mut steps = self.records.len();
            let keyed: Option<Vec<_>> = places.iter().map(|&at| Some((self.order_key(at, &mut steps)?, at))).collect();
            places = match keyed {
                Some(keyed) => sorted(keyed),
                None => {
                    let wanted = SortedSet::from_iter(places);
                    self.order().into_iter().filter(|at| wanted.contains(at)).collect()
                }
            };
        }
        places.into_iter().filter_map(|at| self.records.get(at)).collect()
    }

    /// The sort key of a commit among all others: the greatest key on its chain, the greatest after that commit, and so
    /// on down to its own. This is the order of [`CommitGraph::order`], which always takes the least of the commits
    /// whose parents it has: of two branches it first finishes the one whose greatest key is less. Usually a commit is
    /// the latest of its chain, so the key is its own alone. `None` if `steps` are used up.
    fn order_key(&self, at: usize, steps: &mut usize) -> Option<Vec<Key<'_>>> {
        let own = self.key(at);
        let Some(latest) = self.latest().get(at).copied().flatten() else { return Some(vec![(2, None, own.2)]) };
        let mut keys = vec![own];
        let (mut at, mut greatest) = (at, own);
        while at != latest {
            *steps = steps.checked_sub(1)?;
            at = self.parent_of(at)?;
            let key = self.key(at);
            if key > greatest {
                greatest = key;
                keys.push(key);
            }
        }
        keys.reverse();
        Some(keys)
    }

    /// The commits for a ticket.
    pub fn by_ticket(&self, ticket_id: &str) -> Vec<&Record> {
        self.in_order(self.by_ticket.get(ticket_id).into_iter().flatten())
    }

    /// The commits of a thread.
    pub fn by_thread(&self, thread_id: &str) -> Vec<&Record> {
        self.in_order(self.by_thread.get(thread_id).into_iter().flatten())
    }

    /// The commits of a session.
    pub fn by_session(&self, session_id: &str) -> Vec<&Record> {
        self.in_order(self.by_session.get(session_id).into_iter().flatten())
    }

    /// The commits without a summary.
    pub fn lacking_summary(&self) -> Vec<&Record> {
        self.in_order(self.lacking_summary.iter())
    }

    /// The direct children of a commit.
    ///
    /// # Errors
    /// [`Code::CommitNotFound`].
    pub fn children(&self, id: &str) -> Result<Vec<&Record>> {
        self.index_of(id)?;
        let children = self.children.get(id).into_iter().flatten().map(|&at| (vec![self.key(at)], at)).collect();
        Ok(sorted(children).into_iter().filter_map(|at| self.records.get(at)).collect())
    }

    /// The tips of the branches: the commits without children.
    pub fn tips(&self) -> Vec<&Record> {
        self.in_order(self.tips.iter())
    }

    /// The last commit that the chains of two commits share, possibly one of the two.
    ///
    /// # Errors
    /// The errors of [`CommitGraph::history`], for either chain.
    pub fn common_ancestor(&self, one: &str, other: &str) -> Result<Option<&Record>> {
        let mut of_one = SortedSet::new();
        for record in self.chain(one)? {
            of_one.insert(record?.id.as_str());
        }
        let mut shared = None;
        // The whole other chain is walked, so that damage after the result is reported.
        for record in self.chain(other)? {
            let record = record?;
            if shared.is_none() && of_one.contains(record.id.as_str()) {
                shared = Some(record);
            }
        }
        Ok(shared)
    }

    /// The refs of all artifacts on the chains of these commits, sorted: those that garbage collection must keep.
    ///
    /// # Errors
    /// The errors of [`CommitGraph::history`].
    pub fn reachable_artifacts(&self, tips: &[impl AsRef<str>]) -> Result<Vec<String>> {
        let mut refs = SortedSet::new();
        let mut walked = SortedSet::new();
        for tip in tips {
            for record in self.chain(tip.as_ref())? {
                let record = record?;
                if !walked.insert(record.id.as_str()) {
                    break;
                }
                refs.insert(self.full_ref(record)?);
            }
        }
        Ok(refs.into_iter().collect())
    }

    /// The full ref of a record's blob; the short one if no record has the full one. One of another store is unchanged.
    pub(crate) fn full_ref(&self, record: &Record) -> Result<String> {
        match self.resolve_artifact(&record.artifact_ref) {
            Err(error) if error.code() == Code::ArtifactNotFound => Ok(record.artifact_ref.clone()),
            other => other.map_err(|error| error.with("commitId", record.id.as_str())),
        }
    }

    /// The full ref of a ref: a short one resolves to the only artifact of the graph that it matches. One of another
    /// store that the graph has is returned unchanged.
    ///
    /// # Errors
    /// [`Code::InvalidInput`] for an invalid ref; [`Code::ArtifactNotFound`] for a ref that no commit has, unless it is
    /// a full one; [`Code::AmbiguousRef`] for a short one.
    pub fn resolve_artifact(&self, artifact_ref: &str) -> Result<String> {
        let form = RefForm::of(artifact_ref).ok_or_else(|| invalid_ref(artifact_ref, "artifact_ref", ""))?;
        let prefix = form.full_prefix();
        match form {
            RefForm::Full(_) => return Ok(prefix),
            RefForm::Foreign(_) if self.by_artifact.contains_key(&prefix) => return Ok(prefix),
            _ => {}
        }
        let from = self.by_artifact.at_least(&prefix);
        let candidates: Vec<&str> = from.map(|(full, _)| full.as_str()).take_while(|full| form.names(full)).collect();
        match candidates.as_slice() {
            [full] => Ok((*full).to_owned()),
            [] => {
                let message = format!("no commit has an artifact that matches `{artifact_ref}`; use the full ref");
                Err(Error::new(Code::ArtifactNotFound, message).with("artifactRef", artifact_ref))
            }
            _ => {
                let message = format!("`{artifact_ref}` matches {} artifacts; use the full ref", candidates.len());
                let error = Error::new(Code::AmbiguousRef, message);
                Err(error.with("artifactRef", artifact_ref).with("candidates", candidates))
            }
        }
    }
}

fn sorted(mut keyed: Vec<(Vec<Key<'_>>, usize)>) -> Vec<usize> {
    sorting::sort(&mut keyed);
    keyed.into_iter().map(|(_, at)| at).collect()
}

#[derive(Debug)]
pub(crate) struct Chain<'g> {
    graph: &'g CommitGraph,
    next: Option<Result<usize>>,
    /// Empty if the chain has a root.
    seen: Vec<bool>,
    walked: usize,
}

impl<'g> Iterator for Chain<'g> {
    type Item = Result<&'g Record>;

    fn next(&mut self) -> Option<Self::Item> {
        let step = self.next.take()?;
        Some(step.and_then(|at| self.step(at)))
    }
}

impl<'g> Chain<'g> {
    fn step(&mut self, at: usize) -> Result<&'g Record> {
        let Some(record) = self.graph.records.get(at) else {
            return Err(Error::new(Code::InternalError, "a record of the graph is missing"));
        };
        if self.seen.get_mut(at).is_some_and(|seen| std::mem::replace(seen, true)) {
            return Err(cycle(record));
        }
        self.walked = self.walked.saturating_add(1);
        limits::check("chainDepth", self.walked, self.graph.limits.chain_depth)?;
        self.next = record.parent.as_deref().map(|parent| {
            self.graph.index_of(parent).map_err(|_| parent_not_found(&record.id, &record.artifact_ref, parent))
        });
        Ok(record)
    }
}

pub(crate) fn cycle(record: &Record) -> Error {
    let message = format!("the chain has a cycle at `{}`; import records of a chain with a root", record.id);
    record.source().about(Error::new(Code::ChainCycle, message))
}

/// The error for a parent whose record is missing; it names the child with the ref of its blob.
pub(crate) fn parent_not_found(child: &str, artifact_ref: &str, parent: &str) -> Error {
    Error::new(Code::CommitNotFound, missing_parent(child, parent))
        .with("commitId", parent)
        .with("childId", child)
        .with("artifactRef", artifact_ref)
}

pub(crate) fn not_found(id: &str) -> Error {
    Error::new(Code::CommitNotFound, format!("commit `{id}` is not in the graph")).with("commitId", id)
}

pub(crate) fn missing_parent(id: &str, parent: &str) -> String {
    format!("commit `{id}` has the parent `{parent}`, which is not in the graph; import its record")
}

pub(crate) fn collision(there: &Record, other: &Record) -> Error {
    let message = format!(
        "the id `{}` belongs to a commit with other content; use another `created_at`, or import only one of them",
        there.id
    );
    there.source().about(Error::new(Code::IdCollision, message)).with("otherArtifactRef", other.artifact_ref.as_str())
}

/// Fails for a record of a later version.
pub(crate) fn changeable(record: &Record) -> Result<()> {
    if record.version <= RECORD_VERSION {
        return Ok(());
    }
    let message = format!(
        "the record has version {}, but this version of ctxweave changes records up to version {RECORD_VERSION} only; upgrade it",
        record.version
    );
    Err(record.source().about(Error::new(Code::UnsupportedVersion, message)).with("version", record.version))
}
