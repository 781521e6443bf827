//! The blobs of a materialization, and their order (docs/commits.md).

use serde::Serialize;

use crate::commits::formats::{CustomFormat, NamedFormat};
use crate::commits::graph::CommitGraph;
use crate::commits::id::{derive, is_id};
use crate::commits::record::{CommitType, Record, Trigger};
use crate::commits::translate::{CrossFamily, unknown_target, unreadable_format};
use crate::error::{Code, Diagnostic, DiagnosticCode, Error, Result, Severity};

/// The format of a new conversation if the request names none.
pub const DEFAULT_FORMAT: &str = "generic-v1";

/// Where a materialization begins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Stop {
    /// At the nearest compaction or snapshot, which begins the result.
    #[default]
    Compaction,
    /// At the root: all deltas, without the compactions and snapshots that repeat them.
    Root,
    /// At this commit, which begins the result.
    At(String),
}

impl Stop {
    /// Reads `compaction`, `root` or an id.
    ///
    /// # Errors
    /// [`Code::UnknownValue`].
    pub fn from_name(name: &str) -> Result<Self> {
        match name {
            "compaction" => Ok(Self::Compaction),
            "root" => Ok(Self::Root),
            id if is_id(id) => Ok(Self::At(id.to_owned())),
            other => {
                let message = format!("`stop` is `{other}`; it must be `compaction`, `root` or the id of a commit");
                Err(Error::new(Code::UnknownValue, message)
                    .with("path", "stop")
                    .with("value", other)
                    .with("expected", vec!["compaction", "root"]))
            }
        }
    }

    /// Whether a walk towards the root ends with this record.
    pub(crate) fn is_at(&self, record: &Record) -> bool {
        match self {
            Self::Compaction => matches!(record.commit_type, CommitType::Compaction | CommitType::Snapshot),
            Self::Root => false,
            Self::At(id) => record.id == *id,
        }
    }

    /// Fails if a walk reached the root without the commit to stop at.
    pub(crate) fn at_root_of(&self, commit: &str) -> Result<()> {
        let Self::At(id) = self else { return Ok(()) };
        let message =
            format!("`{id}` is not in the chain of commit `{commit}`; stop at one of its ancestors, or at `root`");
        Err(Error::new(Code::StopNotInChain, message).with("commitId", commit).with("stop", id.as_str()))
    }

    /// The value in JSON.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Compaction => "compaction",
            Self::Root => "root",
            Self::At(id) => id,
        }
    }
}

/// A request to materialize.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlanRequest {
    /// The commit: a tip resumes, any other forks; `None` starts a new conversation.
    pub commit: Option<String>,
    /// Where to stop.
    pub stop: Stop,
    /// The format of the result; defaults to that of the commit.
    pub format: Option<String>,
    /// The translation of turns of another family of formats.
    pub cross_family: CrossFamily,
    /// Whether to skip the search for damaged lines and unknown kinds of records in blobs that are appended unparsed.
    pub skip_inspection: bool,
    /// Formats that are not built in.
    pub formats: Vec<CustomFormat>,
}

/// Why a commit of the chain is part of the result or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// It is a delta.
    Delta,
    /// The result begins with it: earlier messages are in it, or were not requested.
    Start,
    /// A compaction is left out, since the deltas that it summarizes are included.
    Summarised,
    /// A snapshot is left out, since the deltas that it repeats are included.
    Repeated,
}

/// A commit of the chain, and whether it is included.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PlanStep {
    /// The commit.
    pub id: String,
    /// Its blob, as in `refs`.
    pub artifact_ref: String,
    /// `delta`, `compaction` or `snapshot`.
    pub commit_type: String,
    /// The format of the blob.
    pub format: String,
    /// Whether the blob is part of the result.
    pub included: bool,
    /// The reason for that.
    pub reason: Reason,
}

/// The blobs that a materialization requires, and their use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The request, with the resulting format.
    pub request: PlanRequest,
    /// The format of the result.
    pub format: String,
    /// The blobs to fetch, each once, in the order of their first use.
    pub refs: Vec<String>,
    /// The commits of the chain, oldest first, the requested one last.
    pub steps: Vec<PlanStep>,
    /// A key for caching the result: equal for plans that yield the same bytes.
    pub cache_key: String,
    /// Diagnostics about the chain.
    pub diagnostics: Vec<Diagnostic>,
}

impl Plan {
    /// The commits whose blobs are part of the result, in order.
    pub fn included(&self) -> impl Iterator<Item = &PlanStep> {
        self.steps.iter().filter(|step| step.included)
    }

    /// Whether every blob has the format of the result, and can be joined. A single blob can, even in an unknown format.
    pub fn is_native(&self) -> bool {
        let is_joined = self.format_named(&self.format).is_some() || self.included().count() == 1;
        is_joined && self.included().all(|step| step.format == self.format)
    }

    /// A known format.
    pub(crate) fn format_named(&self, name: &str) -> Option<NamedFormat<'_>> {
        NamedFormat::find(name, &self.request.formats)
    }
}

impl CommitGraph {
    /// Plans a materialization: the blobs, their order, and the reasons. Without a commit the plan is empty.
    ///
    /// # Errors
    /// [`Code::CommitNotFound`] for the commit or a required parent, [`Code::ChainCycle`], [`Code::StopNotInChain`],
    /// [`Code::UnsupportedVersion`] for a kind of commit of a later version, [`Code::AmbiguousRef`],
    /// [`Code::LimitExceeded`].
    pub fn plan(&self, request: PlanRequest) -> Result<Plan> {
        plan_chain(request.clone(), &self.chain_of(&request)?, |record| self.full_ref(record))
    }

    /// The records of a plan, newest first.
    pub(crate) fn chain_of(&self, request: &PlanRequest) -> Result<Vec<&Record>> {
        request.commit.as_ref().map_or(Ok(Vec::new()), |commit| self.chain_until(commit, &request.stop))
    }

    /// A record for a snapshot of a plan's result, with the provenance of the requested commit, as its child; without a
    /// commit it has no parent.
    ///
    /// # Errors
    /// [`Code::InvalidInput`] for a plan that stopped in the middle of a conversation; those of [`CommitGraph::plan`].
    pub fn snapshot_of(
        &self,
        plan: &PlanRequest,
        artifact_ref: &str,
        format: &str,
        created_at: &str,
    ) -> Result<Record> {
        let record = Record::new(CommitType::Snapshot, artifact_ref, format, created_at);
        let Some(commit) = &plan.commit else { return Ok(record) };
        let first = self.plan(plan.clone())?.steps.first().map(|step| step.id.clone()).unwrap_or_default();
        let first = self.show(&first)?;
        if first.parent.is_some() && first.commit_type == CommitType::Delta {
            let message = format!(
                "the plan begins in the middle, at `{}`, but a snapshot holds the whole conversation; stop at `compaction` or `root`",
                first.id
            );
            return Err(Error::new(Code::InvalidInput, message).with("path", "plan").with("commitId", commit.as_str()));
        }
        let commit = self.show(commit)?.clone();
        Ok(Record {
            parent: Some(commit.id),
            provenance: commit.provenance,
            checkpoint: Some(Trigger::Explicit),
            ..record
        })
    }

    /// The chain from a commit back to the stop, newest first.
    fn chain_until(&self, commit: &str, stop: &Stop) -> Result<Vec<&Record>> {
        let mut chain = Vec::new();
        for record in self.chain(commit)? {
            let record = record?;
            chain.push(record);
            if stop.is_at(record) {
                return Ok(chain);
            }
        }
        stop.at_root_of(commit).map(|()| chain)
    }
}

/// Plans a chain: its records from the requested commit to the stop. `full_ref` returns the full ref of a record's
/// blob.
pub(crate) fn plan_chain(
    request: PlanRequest,
    chain: &[&Record],
    full_ref: impl Fn(&Record) -> Result<String>,
) -> Result<Plan> {
    let mut diagnostics = Vec::new();
    let mut steps = Vec::with_capacity(chain.len());
    for (place, record) in chain.iter().rev().enumerate() {
        let reason = reason(record, place == 0, &request.stop)?;
        let included = matches!(reason, Reason::Delta | Reason::Start);
        if !included && record.parent.is_none() {
            let message = format!(
                "the compaction `{}` at the beginning of the chain was left out; the messages it summarizes are not in the graph",
                record.id
            );
            diagnostics.push(Diagnostic::new(DiagnosticCode::CompactionLeftOut, Severity::Warning, message));
        }
        steps.push(PlanStep {
            id: record.id.clone(),
            artifact_ref: full_ref(record)?,
            commit_type: record.commit_type.as_str().to_owned(),
            format: record.format.clone(),
            included,
            reason,
        });
    }
    let tip_format = chain.first().map_or(DEFAULT_FORMAT, |tip| tip.format.as_str());
    let format = request.format.clone().unwrap_or_else(|| tip_format.to_owned());
    let mut seen = crate::maps::SortedSet::new();
    let mut refs = Vec::new();
    for step in steps.iter().filter(|step| step.included) {
        if seen.insert(step.artifact_ref.as_str()) {
            refs.push(step.artifact_ref.clone());
        }
    }
    let mut plan = Plan { request, format, refs, steps, cache_key: String::new(), diagnostics };
    if !plan.is_native() {
        let found = unreadable(&plan);
        plan.diagnostics.extend(found);
    }
    plan.cache_key = cache_key(&plan, chain);
    Ok(plan)
}

/// Findings about the formats of a translation that cannot be read or written.
fn unreadable(plan: &Plan) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for step in plan.included() {
        let format = plan.format_named(&step.format);
        if format.and_then(NamedFormat::reader).is_none() {
            found.push(unreadable_format(&step.format, &format!(" of commit `{}`", step.id), format.is_some()));
        }
    }
    if plan.format_named(&plan.format).and_then(NamedFormat::built_in).is_none() {
        found.push(unknown_target(&plan.format));
    }
    found
}

/// Why a commit is included or not; `first` is the oldest of the chain.
fn reason(record: &Record, first: bool, stop: &Stop) -> Result<Reason> {
    match (&record.commit_type, stop) {
        (CommitType::Delta, _) => Ok(if first { Reason::Start } else { Reason::Delta }),
        // A compaction that `stop` names begins the result.
        (CommitType::Compaction, Stop::Compaction | Stop::At(_)) if first => Ok(Reason::Start),
        // On the way to the root the first is the root itself; as a snapshot it is an import.
        (CommitType::Snapshot, _) if first => Ok(Reason::Start),
        (CommitType::Compaction, _) => Ok(Reason::Summarised),
        (CommitType::Snapshot, _) => Ok(Reason::Repeated),
        (CommitType::Other(name), _) => {
            let message = format!(
                "commit `{}` is a `{name}`, of version {} of records; materialize it with a later ctxweave",
                record.id, record.version
            );
            let error = Error::new(Code::UnsupportedVersion, message).with("version", record.version);
            Err(record.source().about(error))
        }
    }
}

/// The context string of BLAKE3's derive-key mode for cache keys. It changes if the output changes.
const CACHE_CONTEXT: &str = "ctxweave 2026-11-22 materialization, version 1";

/// The version of translations; a new one changes the cache keys of translated results only.
const TRANSLATION_VERSION: &str = "translation 4";

/// A key of everything that determines the bytes of the result.
fn cache_key(plan: &Plan, chain: &[&Record]) -> String {
    let mut fields = vec![plan.format.as_str()];
    let native = plan.is_native();
    if !native {
        fields.push(TRANSLATION_VERSION);
        fields.push(match plan.request.cross_family {
            CrossFamily::Render => "render",
            CrossFamily::Transcode => "transcode",
        });
    }
    if native && plan.format_named(&plan.format).is_none() {
        fields.push("verbatim");
    }
    for format in &plan.request.formats {
        if format.name() == plan.format || plan.included().any(|step| step.format == format.name()) {
            fields.extend(format.key());
        }
    }
    for (step, record) in plan.steps.iter().zip(chain.iter().rev()).filter(|(step, _)| step.included) {
        fields.extend([step.commit_type.as_str(), &step.format, &step.artifact_ref]);
        // A narrative contains ids and summaries of its commits.
        if !native {
            let texts = [&record.provenance.template, &record.summary].map(|text| text.as_deref().unwrap_or_default());
            fields.extend([step.id.as_str(), record.created_at.as_str()].into_iter().chain(texts));
        }
    }
    let key = derive(CACHE_CONTEXT, fields);
    format!("mat-{}", key.get(..32).unwrap_or(&key))
}
