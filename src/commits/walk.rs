//! A walk along a chain whose records are supplied one page at a time (docs/commits.md).
//!
//! [`ChainWalk::wanted`] returns the id of the record needed next, [`ChainWalk::push`] takes it and any of its
//! ancestors in the same page. Nothing is fetched here, and no other records of the store are needed.

use crate::commits::artifact::normalized;
use crate::commits::graph::{cycle, not_found, parent_not_found};
use crate::commits::id::is_own_form;
use crate::commits::materialize::Materializer;
use crate::commits::plan::{Plan, PlanRequest, plan_chain};
use crate::commits::record::Record;
use crate::error::{Code, Error, Result};
use crate::limits::{self, Limits};
use crate::maps::{SortedMap, SortedSet};

/// A walk from a commit towards its root.
///
/// ```
/// use ctxweave::commits::{ChainWalk, CommitType, PlanRequest, Record, Stop, artifact_ref};
/// let delta = |blob: &[u8]| Record::new(CommitType::Delta, &artifact_ref(blob), "generic-v1", "2026-03-01T09:30:00Z");
/// let root = delta(b"one").seal();
/// let tip = Record { parent: Some(root.id.clone()), ..delta(b"two") }.seal();
/// let request = PlanRequest { commit: Some(tip.id.clone()), stop: Stop::Root, ..Default::default() };
/// let mut walk = ChainWalk::new(request.clone(), Default::default());
/// while let Some(wanted) = walk.wanted() {
///     let record = if wanted == tip.id { &tip } else { &root };
///     walk.push(record.to_json().as_bytes())?;
/// }
/// assert_eq!(walk.plan(request)?.steps.len(), 2);
/// # Ok::<(), ctxweave::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct ChainWalk {
    request: PlanRequest,
    /// The chain, newest first; empty if only the passed records are of interest.
    chain: Vec<Record>,
    passing: bool,
    seen: SortedSet<String>,
    wanted: Option<String>,
    /// The id and ref of the commit whose parent is wanted.
    child: Option<(String, String)>,
    limits: Limits,
}

impl ChainWalk {
    /// A walk over all records that the plan of a request requires.
    pub fn new(request: PlanRequest, limits: Limits) -> Self {
        let wanted = request.commit.clone();
        Self { request, chain: Vec::new(), passing: false, seen: SortedSet::new(), wanted, child: None, limits }
    }

    /// The same walk for inspecting the passed records: only their ids are stored, and nothing can be planned.
    #[must_use]
    pub fn passing(self) -> Self {
        Self { passing: true, ..self }
    }

    /// The id of the record needed next; `None` if the walk is finished.
    pub fn wanted(&self) -> Option<&str> {
        self.wanted.as_deref()
    }

    /// Takes a page with one record per line: the wanted one, and those wanted after it. Other records are ignored.
    /// Returns the taken ones, newest first. An error leaves the walk unchanged.
    ///
    /// # Errors
    /// [`Code::CommitNotFound`] if the wanted record is not in the page, [`Code::RecordMismatch`] if another one is in
    /// its place, or a record whose id does not match its fields; [`Code::ChainCycle`], [`Code::StopNotInChain`],
    /// [`Code::LimitExceeded`].
    pub fn push(&mut self, page: &[u8]) -> Result<Vec<Record>> {
        let mut records: SortedMap<String, Record> = SortedMap::new();
        let mut damaged = false;
        for line in page.split(|&byte| byte == b'\n').filter(|line| !line.trim_ascii().is_empty()) {
            match Record::from_json(line) {
                Ok(record) => drop(records.insert(record.id.clone(), record)),
                Err(_) => damaged = true,
            }
        }
        let mut place = WalkPosition { wanted: self.wanted.clone(), child: self.child.clone(), new: SortedSet::new() };
        let mut taken: Vec<Record> = Vec::new();
        while let Some(record) = place.wanted.as_deref().and_then(|wanted| records.remove(wanted)) {
            place.step(&record, self)?;
            taken.push(record);
        }
        if taken.is_empty() {
            return Err(self.missing(damaged, records.keys().next()));
        }
        (self.wanted, self.child) = (place.wanted, place.child);
        self.seen.extend(place.new);
        if !self.passing {
            // Fields that plans do not use are not stored.
            let slim = |record: &Record| Record { tags: Vec::new(), other: Vec::new(), ..record.clone() };
            self.chain.extend(taken.iter().map(slim));
        }
        Ok(taken)
    }

    /// The error for a page without the wanted record.
    fn missing(&self, damaged: bool, other: Option<&String>) -> Error {
        let Some(wanted) = &self.wanted else {
            return Error::new(Code::InvalidInput, "no record is wanted; the walk is finished").with("path", "records");
        };
        if damaged || other.is_some() {
            return mismatch(wanted, other);
        }
        match &self.child {
            None => not_found(wanted),
            Some((child, artifact_ref)) => parent_not_found(child, artifact_ref, wanted),
        }
    }

    /// Fails while records are wanted, and for a request about another chain.
    fn check(&self, request: &PlanRequest) -> Result<()> {
        if let Some(wanted) = self.wanted.as_deref().or_else(|| self.passing.then_some("")) {
            let message = if self.passing {
                "the walk stores no records, so nothing can be planned; begin one without `passing`".to_owned()
            } else {
                format!("the record of `{wanted}` is wanted first; pass it to `push`")
            };
            return Err(Error::new(Code::InvalidInput, message).with("path", "request"));
        }
        for (path, same) in
            [("commit", request.commit == self.request.commit), ("stop", request.stop == self.request.stop)]
        {
            if !same {
                let message = format!("`{path}` differs from that of the walk; begin a walk for each chain");
                return Err(Error::new(Code::InvalidInput, message).with("path", path));
            }
        }
        Ok(())
    }

    /// Plans the materialization of the walked chain; see [`CommitGraph::plan`](crate::commits::CommitGraph::plan). A
    /// short ref stays short.
    ///
    /// # Errors
    /// [`Code::InvalidInput`] while records are wanted or if the request is about another chain, [`Code::UnsupportedVersion`]
    /// for a kind of commit of a later version.
    pub fn plan(&self, request: PlanRequest) -> Result<Plan> {
        self.check(&request)?;
        plan_chain(request, &self.chain.iter().collect::<Vec<_>>(), |record| Ok(normalized(&record.artifact_ref)))
    }

    /// Begins a materialization; `planned` is the expected cache key of the plan.
    ///
    /// # Errors
    /// Those of [`ChainWalk::plan`]; [`Code::PlanMismatch`].
    pub fn begin(&self, request: PlanRequest, planned: Option<&str>) -> Result<Materializer> {
        let plan = self.plan(request)?;
        Materializer::of(plan, &self.chain.iter().collect::<Vec<_>>(), planned, &self.limits)
    }
}

/// The state of a walk while it reads a page.
struct WalkPosition {
    wanted: Option<String>,
    child: Option<(String, String)>,
    new: SortedSet<String>,
}

impl WalkPosition {
    fn step(&mut self, record: &Record, walk: &ChainWalk) -> Result<()> {
        let ChainWalk { request, seen, limits, .. } = walk;
        if is_own_form(&record.id) && record.derived_id() != record.id {
            return Err(mismatch(&record.id, None));
        }
        if seen.contains(record.id.as_str()) || !self.new.insert(record.id.clone()) {
            return Err(cycle(record));
        }
        limits::check("chainDepth", seen.len().saturating_add(self.new.len()), limits.chain_depth)?;
        self.child = Some((record.id.clone(), record.artifact_ref.clone()));
        let over = request.stop.is_at(record);
        self.wanted = record.parent.clone().filter(|_| !over);
        if over || self.wanted.is_some() {
            return Ok(());
        }
        request.stop.at_root_of(request.commit.as_deref().unwrap_or_default())
    }
}

fn mismatch(wanted: &str, actual: Option<&String>) -> Error {
    let message = match actual {
        Some(actual) => format!("the record of `{wanted}` is that of `{actual}`; fetch it again"),
        None => format!("the record of `{wanted}` is damaged: its id does not match it, or it is not a record"),
    };
    let error = Error::new(Code::RecordMismatch, message).with("commitId", wanted);
    match actual {
        Some(actual) => error.with("actualId", actual.as_str()),
        None => error,
    }
}
