//! Turns a plan and its blobs into a conversation (docs/commits.md).
//!
//! Blobs are pushed one at a time, in the order of the plan, and each is first checked against its ref. If a format is
//! joined by appending bytes, the caller appends the blobs as each [`AppendAction`] states, and no bytes are stored
//! here.

use crate::commits::artifact::{ArtifactHasher, RefForm, artifact_ref};
use crate::commits::formats::append::{needs_newline, torn};
use crate::commits::formats::{BlobSource, Concatenator, Format};
use crate::commits::graph::CommitGraph;
use crate::commits::inspect::Inspector;
use crate::commits::plan::{Plan, PlanRequest, Stop, plan_chain};
use crate::commits::record::Record;
use crate::commits::translate::{Delta, Materialized, Tier, TranslateOptions, count_blob, translate};
use crate::error::{self, Code, Diagnostic, DiagnosticCode, Error, Result};
use crate::limits::{self, Limits};

/// The bytes that the caller has to append to the result for a blob.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AppendAction {
    /// The blob.
    Append,
    /// A newline, then the blob.
    AppendAfterNewline,
    /// Nothing: [`Materializer::finish`] returns the bytes.
    Consumed,
}

/// A running materialization: [`Materializer::push`] every blob, then [`Materializer::finish`].
#[derive(Debug)]
pub struct Materializer {
    plan: Plan,
    parts: Vec<PlannedBlob>,
    next: usize,
    mode: JoinMode,
    bytes: usize,
    message_count: u64,
    token_count: u64,
    diagnostics: Vec<Diagnostic>,
    limits: Limits,
}

/// A commit whose blob is part of the result.
#[derive(Debug)]
struct PlannedBlob {
    commit: String,
    artifact_ref: String,
    format: String,
    message_count: Option<u64>,
    token_count: Option<u64>,
    /// Only for translations.
    summary: Option<String>,
    time: Option<String>,
}

#[derive(Debug)]
enum JoinMode {
    /// Native, and joined by appending bytes, which the caller does.
    Append { format: Format, hasher: Box<ArtifactHasher>, last: Option<u8>, inspector: Option<Inspector> },
    /// Native, and joined in another way.
    Concatenate(Format, Box<Concatenator>, Option<Inspector>),
    /// Translated at the end.
    Translate(Vec<Vec<u8>>),
}

impl Materializer {
    /// Plans and begins a materialization; `planned` is the expected cache key of the plan.
    ///
    /// # Errors
    /// The errors of [`CommitGraph::plan`]; [`Code::PlanMismatch`].
    pub fn new(graph: &CommitGraph, request: PlanRequest, planned: Option<&str>) -> Result<Self> {
        let chain = graph.chain_of(&request)?;
        let plan = plan_chain(request, &chain, |record| graph.full_ref(record))?;
        Self::of(plan, &chain, planned, graph.limits())
    }

    /// Begins the materialization of a planned chain, whose records come newest first.
    pub(crate) fn of(plan: Plan, chain: &[&Record], planned: Option<&str>, limits: &Limits) -> Result<Self> {
        if let Some(cache_key) = planned.filter(|planned| *planned != plan.cache_key) {
            let commit = plan.request.commit.clone().unwrap_or_default();
            let message = format!("the plan for commit `{commit}` does not match the graph; plan again");
            return Err(Error::new(Code::PlanMismatch, message).with("commitId", commit).with("cacheKey", cache_key));
        }
        let native = Format::from_name(&plan.format).filter(|_| plan.is_native());
        let inspector = |format| {
            let through = through_compactions(&plan);
            (!plan.request.skip_inspection).then(|| Inspector::new(format, through))
        };
        let mut parts = Vec::new();
        for (step, record) in plan.steps.iter().zip(chain.iter().rev()).filter(|(step, _)| step.included) {
            parts.push(PlannedBlob {
                commit: step.id.clone(),
                artifact_ref: step.artifact_ref.clone(),
                format: step.format.clone(),
                message_count: record.message_count,
                token_count: record.token_count,
                summary: record.summary.clone().filter(|_| native.is_none()),
                time: Some(record.created_at.clone()).filter(|_| native.is_none()),
            });
        }
        let mode = match native {
            Some(format) if format.is_appended() => {
                JoinMode::Append { format, hasher: Box::default(), last: None, inspector: inspector(format) }
            }
            Some(format) => {
                let inspector = inspector(format).filter(|_| format == Format::GeminiV1);
                JoinMode::Concatenate(format, Box::new(Concatenator::new(format, limits, 0)), inspector)
            }
            None => JoinMode::Translate(Vec::new()),
        };
        Ok(Self {
            diagnostics: plan.diagnostics.clone(),
            plan,
            parts,
            next: 0,
            mode,
            bytes: 0,
            message_count: 0,
            token_count: 0,
            limits: *limits,
        })
    }

    /// Puts the diagnostics of the request before those of the plan.
    pub(crate) fn with_diagnostics(mut self, diagnostics: Vec<Diagnostic>) -> Self {
        error::put_before(diagnostics, &mut self.diagnostics);
        self
    }

    /// The refs of the blobs to push, in order, with repetitions.
    pub fn order(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().map(|part| part.artifact_ref.as_str())
    }

    /// The error for a missing next blob.
    pub fn missing(&self) -> Error {
        let Some(part) = self.parts.get(self.next) else {
            return Error::new(Code::InvalidInput, "all blobs of the plan were pushed; call `finish`");
        };
        let message =
            format!("the blob `{}` of commit `{}` is missing; fetch it and try again", part.artifact_ref, part.commit);
        part.source().about(Error::new(Code::BlobMissing, message))
    }

    /// Takes the next blob of the plan.
    ///
    /// # Errors
    /// [`Code::BlobMismatch`] for another blob, [`Code::LimitExceeded`], and those of its format.
    pub fn push(&mut self, blob: &[u8]) -> Result<AppendAction> {
        let Some(part) = self.parts.get(self.next) else { return Err(self.missing()) };
        let source = part.source();
        limits::check("blobBytes", blob.len(), self.limits.blob_bytes).map_err(|error| source.about(error))?;
        let actual = artifact_ref(blob);
        if !RefForm::of(&part.artifact_ref).is_some_and(|named| named.names(&actual)) {
            let message = format!(
                "the blob for commit `{}` has the ref `{actual}`, not `{}`; fetch it again",
                part.commit, part.artifact_ref
            );
            return Err(source.about(Error::new(Code::BlobMismatch, message)).with("actualRef", actual));
        }
        let newline = matches!(&self.mode, JoinMode::Append { last, .. } if needs_newline(*last, blob));
        let bytes = self.bytes.saturating_add(usize::from(newline)).saturating_add(blob.len());
        limits::check("materializedBytes", bytes, self.limits.materialized_bytes)
            .map_err(|error| source.about(error))?;
        let (action, format) = match &mut self.mode {
            JoinMode::Append { format, hasher, last, inspector } => {
                if newline {
                    hasher.update(b"\n");
                }
                hasher.update(blob);
                *last = blob.last().copied().or(*last);
                self.diagnostics.extend(torn(blob).map(|found| source.place(found)));
                if let Some(inspector) = inspector {
                    inspector.push(blob, source);
                }
                (if newline { AppendAction::AppendAfterNewline } else { AppendAction::Append }, Some(*format))
            }
            JoinMode::Concatenate(format, joined, inspector) => {
                joined.push(blob, source)?;
                if let Some(inspector) = inspector {
                    inspector.push(blob, source);
                }
                (AppendAction::Consumed, Some(*format))
            }
            JoinMode::Translate(blobs) => {
                blobs.push(blob.to_vec());
                (AppendAction::Consumed, None)
            }
        };
        self.bytes = bytes;
        let (messages, tokens) = match (part.message_count, part.token_count, format) {
            (Some(messages), Some(tokens), _) => (messages, tokens),
            // A translation is counted as a whole.
            (.., None) => (0, 0),
            (messages, tokens, Some(format)) => {
                let counted = count_blob(format, blob, &self.limits);
                (messages.unwrap_or(counted.0), tokens.unwrap_or(counted.1))
            }
        };
        self.message_count = self.message_count.saturating_add(messages);
        self.token_count = self.token_count.saturating_add(tokens);
        self.next = self.next.saturating_add(1);
        Ok(action)
    }

    /// The result. Its bytes are empty if the caller appended the blobs.
    ///
    /// # Errors
    /// [`Code::BlobMissing`] if a blob was not pushed.
    pub fn finish(mut self) -> Result<Materialized> {
        if self.next < self.parts.len() {
            return Err(self.missing());
        }
        let (bytes, artifact_ref) = match self.mode {
            JoinMode::Append { hasher, inspector, .. } => {
                self.diagnostics.extend(inspector.map(Inspector::finish).unwrap_or_default());
                (Vec::new(), hasher.artifact_ref())
            }
            JoinMode::Concatenate(_, joined, inspector) => {
                let joined = joined.finish()?;
                self.diagnostics.extend(joined.diagnostics);
                self.diagnostics.extend(inspector.map(Inspector::finish).unwrap_or_default());
                let artifact_ref = artifact_ref(&joined.bytes);
                (joined.bytes, artifact_ref)
            }
            JoinMode::Translate(blobs) => {
                let deltas: Vec<Delta<'_>> = self.parts.iter().zip(&blobs).map(PlannedBlob::delta).collect();
                let options = TranslateOptions {
                    cross_family: self.plan.request.cross_family,
                    through_compactions: through_compactions(&self.plan),
                    ..TranslateOptions::new(&self.limits)
                };
                let mut translated = translate(&deltas, &self.plan.format, &options)?;
                // The plan has already reported it.
                translated.diagnostics.retain(|found| found.code != DiagnosticCode::UnknownFormat);
                error::put_before(self.diagnostics, &mut translated.diagnostics);
                return Ok(translated);
            }
        };
        Ok(Materialized {
            bytes,
            artifact_ref,
            format: self.plan.format,
            tier: Tier::Native,
            commit_count: self.parts.len() as u64,
            message_count: self.message_count,
            token_count: self.token_count,
            diagnostics: self.diagnostics,
        })
    }
}

/// Whether to read through compactions within blobs: not if the result begins with a compaction.
fn through_compactions(plan: &Plan) -> bool {
    let begins_with_summary = plan.included().next().is_some_and(|step| step.commit_type == "compaction");
    plan.request.stop != Stop::Compaction && !begins_with_summary
}

impl PlannedBlob {
    fn delta<'d>((part, blob): (&'d Self, &'d Vec<u8>)) -> Delta<'d> {
        Delta {
            format: &part.format,
            blob,
            source: part.source(),
            summary: part.summary.as_deref(),
            time: part.time.as_deref(),
        }
    }

    fn source(&self) -> BlobSource<'_> {
        BlobSource { commit: &self.commit, artifact_ref: &self.artifact_ref }
    }
}

/// Materializes at once, from blobs that are all available.
///
/// ```
/// use ctxweave::commits::{CommitGraph, CommitType, PlanRequest, Record, artifact_ref, materialize};
/// let blob = br#"{"role":"user","content":"hello"}"#;
/// let mut graph = CommitGraph::default();
/// let record = Record::new(CommitType::Delta, &artifact_ref(blob), "generic-v1", "2026-03-01T09:30:00Z");
/// let tip = graph.checkpoint(record)?.id.clone();
/// let request = PlanRequest { commit: Some(tip), ..Default::default() };
/// assert_eq!(materialize(&graph, request, |_| Some(blob.as_slice()))?.bytes, blob);
/// # Ok::<(), ctxweave::Error>(())
/// ```
///
/// # Errors
/// The errors of [`CommitGraph::plan`] and of [`Materializer::push`]; [`Code::BlobMissing`].
pub fn materialize<'b>(
    graph: &CommitGraph,
    request: PlanRequest,
    mut blob_of: impl FnMut(&str) -> Option<&'b [u8]>,
) -> Result<Materialized> {
    let mut work = Materializer::new(graph, request, None)?;
    let mut appended = Vec::new();
    while let Some(part) = work.parts.get(work.next) {
        let Some(blob) = blob_of(&part.artifact_ref) else { return Err(work.missing()) };
        match work.push(blob)? {
            AppendAction::Consumed => continue,
            AppendAction::AppendAfterNewline => appended.push(b'\n'),
            AppendAction::Append => {}
        }
        appended.extend_from_slice(blob);
    }
    let result = work.finish()?;
    Ok(if appended.is_empty() { result } else { Materialized { bytes: appended, ..result } })
}
