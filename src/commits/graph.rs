//! The graph of commits: records and what can be asked of them (SPEC §5 "CommitGraph"). It holds no blobs.
//!
//! Every walk goes from a commit to its parent, without recursion. A parent that is not there and a cycle are errors:
//! a damaged chain is never a shorter history.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

use crate::collect;
use crate::commits::artifact::RefForm;
use crate::commits::record::{RECORD_VERSION, Record};
use crate::error::{Code, Error, Result};
use crate::limits::{self, Limits};
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
    by_id: BTreeMap<String, usize>,
    /// Also for parents that are not there (yet): what is imported later may come before them.
    children: BTreeMap<String, Vec<usize>>,
    /// By principal, in time.
    timelines: BTreeMap<String, BTreeMap<Timestamp, Vec<usize>>>,
    limits: Limits,
}

/// What [`CommitGraph::update_metadata`] changes. `Some(None)` and an empty list take away.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MetadataUpdate {
    /// The new summary.
    pub summary: Option<Option<String>>,
    /// The new tags.
    pub tags: Option<Vec<String>>,
}

impl CommitGraph {
    /// An empty graph with bounds of one's own.
    pub fn new(limits: Limits) -> Self {
        Self { limits, ..Self::default() }
    }

    /// How many commits there are.
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// The bounds on its input.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Adds a commit and gives its record with the id. A record that is there already is given back as it is: asking
    /// twice is harmless. Whatever id `record` has must be the one that follows from its fields.
    ///
    /// # Errors
    /// [`Code::CommitNotFound`] for a parent that is not there, [`Code::IdCollision`] when the id is taken by a commit that
    /// says something else, [`Code::UnsupportedVersion`], [`Code::InvalidInput`] for a `created_at` that is not RFC 3339,
    /// [`Code::AmbiguousRef`] and [`Code::ArtifactNotFound`] for a short ref, [`Code::LimitExceeded`].
    pub fn checkpoint(&mut self, record: Record) -> Result<&Record> {
        changeable(&record)?;
        if record.time().is_none() {
            let message = format!(
                "`created_at` is `{}`; it must be a date and time of RFC 3339, as `2026-03-01T09:30:00Z`",
                record.created_at
            );
            return Err(Error::new(Code::InvalidInput, message).with("path", "created_at"));
        }
        let named = record.id.clone();
        let record = Record { artifact_ref: self.resolve_artifact(&record.artifact_ref)?, ..record }.seal();
        let again = |there: &&Record| there.same_commit(&Record { id: named.clone(), ..record.clone() });
        if !named.is_empty() && named != record.id && self.find(&named).filter(again).is_none() {
            let message = format!(
                "the record says that its id is `{named}`, and its fields make it `{}`; leave `id` out, or import the record",
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
            if let Some(parent) = &record.parent {
                self.index_of(parent).map_err(|error| error.with("artifactRef", record.artifact_ref.as_str()))?;
            }
            limits::check("commits", self.records.len().saturating_add(1), self.limits.commits)?;
            self.insert(record);
        }
        self.show(&id)
    }

    /// Adds a record whose id is not there yet.
    pub(crate) fn insert(&mut self, record: Record) {
        let at = self.records.len();
        self.by_id.insert(record.id.clone(), at);
        if let Some(parent) = &record.parent {
            self.children.entry(parent.clone()).or_default().push(at);
        }
        if let (Some(principal), Some(time)) = (&record.principal, record.time()) {
            self.timelines.entry(principal.clone()).or_default().entry(time).or_default().push(at);
        }
        self.records.push(record);
    }

    /// The record of a commit, where it is there.
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
        Ok(Chain { graph: self, next: Some(Ok(first)), seen: vec![false; self.records.len()], walked: 0 })
    }

    /// The chain of a commit, from it towards the root: all of it, or the first `depth` commits.
    ///
    /// # Errors
    /// [`Code::CommitNotFound`] for the commit or the parent of one on the way, [`Code::ChainCycle`],
    /// [`Code::LimitExceeded`].
    pub fn history(&self, id: &str, depth: Option<usize>) -> Result<Vec<&Record>> {
        let mut history = Vec::new();
        for record in self.chain(id)?.take(depth.unwrap_or(usize::MAX)) {
            history.push(record?);
        }
        Ok(history)
    }

    /// The commit that `principal` had made last at a time: the latest at or before it; none where there is none. Of
    /// several at the same moment it is the one that the others led to.
    ///
    /// # Errors
    /// [`Code::AmbiguousCommit`] when at that moment two commits were made that do not lead to each other; those of
    /// [`CommitGraph::history`] when that cannot be told.
    pub fn resolve(&self, principal: &str, time: Timestamp) -> Result<Option<&Record>> {
        let latest = self.timelines.get(principal).and_then(|timeline| timeline.range(..=time).next_back());
        let Some((_, candidates)) = latest else { return Ok(None) };
        let [single] = candidates.as_slice() else { return self.last_of(principal, candidates).map(Some) };
        Ok(self.records.get(*single))
    }

    /// The one of several commits that the others are ancestors of.
    fn last_of(&self, principal: &str, candidates: &[usize]) -> Result<&Record> {
        let mut left = BTreeMap::new();
        for record in candidates.iter().filter_map(|&at| self.records.get(at)) {
            left.insert(record.id.as_str(), record);
        }
        let mut walked = BTreeSet::new();
        for record in candidates.iter().filter_map(|&at| self.records.get(at)) {
            for ancestor in self.chain(&record.id)?.skip(1) {
                let ancestor = ancestor?;
                left.remove(ancestor.id.as_str());
                if !walked.insert(ancestor.id.as_str()) {
                    break;
                }
            }
        }
        if let (1, Some((_, last))) = (left.len(), left.first_key_value()) {
            return Ok(last);
        }
        let ids: Vec<&str> = left.keys().copied().collect();
        let message = format!(
            "`{principal}` made several commits at that moment, and none of them led to the others: `{}`; name the one that is meant",
            ids.join("`, `")
        );
        Err(Error::new(Code::AmbiguousCommit, message).with("principal", principal).with("candidates", ids))
    }

    /// Changes the summary or the tags of a commit; nothing else ever changes.
    ///
    /// # Errors
    /// [`Code::CommitNotFound`], [`Code::UnsupportedVersion`].
    pub fn update_metadata(&mut self, id: &str, update: MetadataUpdate) -> Result<&Record> {
        let at = self.index_of(id)?;
        changeable(self.show(id)?)?;
        if let Some(record) = self.records.get_mut(at) {
            if let Some(summary) = update.summary {
                record.summary = summary.filter(|summary| !summary.is_empty());
            }
            if let Some(tags) = update.tags {
                record.tags = tags;
            }
        }
        self.show(id)
    }

    /// Gives a commit the summary and tags that two copies of its record agree on.
    pub(crate) fn set_metadata(&mut self, id: &str, summary: Option<String>, tags: Vec<String>) {
        if let Some(record) = self.by_id.get(id).copied().and_then(|at| self.records.get_mut(at)) {
            (record.summary, record.tags) = (summary, tags);
        }
    }

    /// All commits: parents before children, and otherwise by time, then id. The order in which they came does not
    /// matter. Those of a damaged chain that has no beginning come last.
    pub fn commits(&self) -> Vec<&Record> {
        let key = |at: usize, record: &Record| {
            let time = record.time();
            Reverse((time.is_none(), time, record.id.clone(), at))
        };
        let mut ready = BinaryHeap::new();
        let mut pending = BTreeMap::new();
        for (at, record) in self.records.iter().enumerate() {
            match record.parent.as_deref().filter(|parent| self.by_id.contains_key(*parent)) {
                None => ready.push(key(at, record)),
                Some(_) => {
                    pending.insert(record.id.as_str(), record);
                }
            }
        }
        let mut ordered = Vec::with_capacity(self.records.len());
        while let Some(Reverse((.., at))) = ready.pop() {
            let Some(record) = self.records.get(at) else { continue };
            ordered.push(record);
            for &child in self.children.get(&record.id).into_iter().flatten() {
                if let Some(record) = self.records.get(child) {
                    pending.remove(record.id.as_str());
                    ready.push(key(child, record));
                }
            }
        }
        ordered.extend(pending.into_values());
        ordered
    }

    /// The commits that something is true of, in the order of [`CommitGraph::commits`].
    fn where_(&self, mut is: impl FnMut(&Record) -> bool) -> Vec<&Record> {
        let mut found = self.commits();
        found.retain(|record| is(record));
        found
    }

    /// The commits that were made for a ticket.
    pub fn by_ticket(&self, ticket_id: &str) -> Vec<&Record> {
        self.where_(|record| record.ticket_id.as_deref() == Some(ticket_id))
    }

    /// The commits of a thread.
    pub fn by_thread(&self, thread_id: &str) -> Vec<&Record> {
        self.where_(|record| record.thread_id.as_deref() == Some(thread_id))
    }

    /// The commits of a session.
    pub fn by_session(&self, session_id: &str) -> Vec<&Record> {
        self.where_(|record| record.session_id.as_deref() == Some(session_id))
    }

    /// The commits that nobody has written a summary for.
    pub fn lacking_summary(&self) -> Vec<&Record> {
        self.where_(|record| record.summary.as_deref().is_none_or(|summary| summary.trim().is_empty()))
    }

    /// The commits that come right after one.
    ///
    /// # Errors
    /// [`Code::CommitNotFound`].
    pub fn children(&self, id: &str) -> Result<Vec<&Record>> {
        self.index_of(id)?;
        let mut children: Vec<&Record> =
            self.children.get(id).into_iter().flatten().filter_map(|&at| self.records.get(at)).collect();
        children.sort_by_cached_key(|record| (record.time().is_none(), record.time(), record.id.clone()));
        Ok(children)
    }

    /// The ends of the branches: the commits that nothing comes after.
    pub fn tips(&self) -> Vec<&Record> {
        self.where_(|record| !self.children.contains_key(&record.id))
    }

    /// The last commit that the chains of two commits share, which may be one of the two; none where they have nothing
    /// in common.
    ///
    /// # Errors
    /// Those of [`CommitGraph::history`], for either chain.
    pub fn common_ancestor(&self, one: &str, other: &str) -> Result<Option<&Record>> {
        let mut of_one = BTreeSet::new();
        for record in self.chain(one)? {
            of_one.insert(record?.id.as_str());
        }
        let mut shared = None;
        // The whole of the other chain is walked: damage behind the answer is still damage.
        for record in self.chain(other)? {
            let record = record?;
            if shared.is_none() && of_one.contains(record.id.as_str()) {
                shared = Some(record);
            }
        }
        Ok(shared)
    }

    /// The refs of all artifacts that the chains of these commits need, sorted: what a host that collects garbage must
    /// keep.
    ///
    /// # Errors
    /// Those of [`CommitGraph::history`]: where a chain is damaged, nobody knows what it needs.
    pub fn reachable_artifacts(&self, tips: &[impl AsRef<str>]) -> Result<Vec<String>> {
        let mut refs = BTreeSet::new();
        let mut walked = BTreeSet::new();
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

    /// The ref of a record's blob in the form that says most: a short one stays short only where no record has the full
    /// one.
    pub(crate) fn full_ref(&self, record: &Record) -> Result<String> {
        match self.resolve_artifact(&record.artifact_ref) {
            Err(error) if error.code() == Code::ArtifactNotFound => Ok(record.artifact_ref.clone()),
            other => other.map_err(|error| error.with("commitId", record.id.as_str())),
        }
    }

    /// The full ref that a ref stands for. A full one stands for itself; a short one for the one artifact of the graph
    /// that begins so.
    ///
    /// # Errors
    /// [`Code::InvalidInput`] for something that is no ref, [`Code::ArtifactNotFound`] and [`Code::AmbiguousRef`] for a
    /// short one.
    pub fn resolve_artifact(&self, artifact_ref: &str) -> Result<String> {
        let form = RefForm::of(artifact_ref)
            .ok_or_else(|| crate::commits::artifact::invalid_ref(artifact_ref, "artifact_ref"))?;
        if matches!(form, RefForm::Full(_)) {
            return Ok(artifact_ref.to_owned());
        }
        let named = |full: &&str| form.names(full);
        let found = collect::set(self.records.iter().map(|record| record.artifact_ref.as_str()).filter(named));
        match (found.len(), found.first()) {
            (1, Some(full)) => Ok((*full).to_owned()),
            (0, _) => {
                let message =
                    format!("no commit has an artifact that `{artifact_ref}` is short for; give the full ref");
                Err(Error::new(Code::ArtifactNotFound, message).with("artifactRef", artifact_ref))
            }
            _ => {
                let candidates: Vec<&str> = found.into_iter().collect();
                let message =
                    format!("`{artifact_ref}` is short for {} artifacts; give the full ref", candidates.len());
                let error = Error::new(Code::AmbiguousRef, message);
                Err(error.with("artifactRef", artifact_ref).with("candidates", candidates))
            }
        }
    }
}

/// Walks from a commit to the root.
#[derive(Debug)]
pub(crate) struct Chain<'g> {
    graph: &'g CommitGraph,
    next: Option<Result<usize>>,
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
        let (Some(record), Some(seen)) = (self.graph.records.get(at), self.seen.get_mut(at)) else {
            return Err(Error::new(Code::InternalError, "the graph has lost a record"));
        };
        if std::mem::replace(seen, true) {
            let message = format!("the chain comes back to `{}`; import records of a chain that has a root", record.id);
            return Err(about(Error::new(Code::ChainCycle, message), record));
        }
        self.walked = self.walked.saturating_add(1);
        limits::check("chainDepth", self.walked, self.graph.limits.chain_depth)?;
        self.next = record.parent.as_deref().map(|parent| {
            self.graph.index_of(parent).map_err(|_| {
                let message = format!(
                    "commit `{}` has the parent `{parent}`, which is not in the graph; import its record too",
                    record.id
                );
                Error::new(Code::CommitNotFound, message)
                    .with("commitId", parent)
                    .with("childId", record.id.as_str())
                    .with("artifactRef", record.artifact_ref.as_str())
            })
        });
        Ok(record)
    }
}

/// Adds which commit and which artifact an error is about.
pub(crate) fn about(error: Error, record: &Record) -> Error {
    error.with("commitId", record.id.as_str()).with("artifactRef", record.artifact_ref.as_str())
}

#[cold]
fn not_found(id: &str) -> Error {
    Error::new(Code::CommitNotFound, format!("commit `{id}` is not in the graph")).with("commitId", id)
}

#[cold]
pub(crate) fn collision(there: &Record, other: &Record) -> Error {
    let message = format!(
        "the id `{}` belongs to a commit that says something else; give this one another `created_at`, or import only one of them",
        there.id
    );
    about(Error::new(Code::IdCollision, message), there).with("otherArtifactRef", other.artifact_ref.as_str())
}

/// Fails for a record of a version that only a later ctxweave may change.
pub(crate) fn changeable(record: &Record) -> Result<()> {
    if record.version <= RECORD_VERSION {
        return Ok(());
    }
    let message = format!(
        "the record is of version {}, and this ctxweave changes records up to version {RECORD_VERSION} only; use a later one",
        record.version
    );
    Err(about(Error::new(Code::UnsupportedVersion, message), record).with("version", record.version))
}
