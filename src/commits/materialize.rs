//! Turns a plan and its blobs into a conversation (docs/commits.md).
//!
//! Blobs are pushed one at a time, in the order of the plan, and each is first checked against its ref. If a format is
//! joined by appending bytes, the caller appends the blobs as each [`AppendAction`] states, and no bytes are stored
//! here.

use crate::commits::artifact::{ArtifactHasher, RefForm, artifact_ref};
use crate::commits::formats::append::{needs_newline, torn};
use crate::commits::formats::{BlobSource, Concatenator, JoinRule, NamedFormat};
use crate::commits::graph::CommitGraph;
use crate::commits::inspect::Inspector;
use crate::commits::plan::{Plan, PlanRequest, Stop, plan_chain};
use crate::commits::record::Record;
use crate::commits::translate::{Delta, Materialized, Tier, TranslateOptions, count_blob, translate};
use crate::error::{self, Code, Diagnostic, DiagnosticCode, Error, Result, Severity};
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
    /// Nothing yet: the caller has to verify the blob, and to push it again with the result.
    Verify,
}

/// Whether the caller can verify a blob whose ref is not its BLAKE3 hash.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Verification {
    /// It cannot: the blob is used unverified, and reported.
    #[default]
    Unavailable,
    /// It can, if [`AppendAction::Verify`] asks it to.
    Available,
    /// The blob belongs to the ref.
    Confirmed,
    /// It does not.
    Refused,
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
    Append { rule: JoinRule, hasher: Box<ArtifactHasher>, last: Option<u8>, inspector: Option<Inspector> },
    /// Native, and joined in another way.
    Concatenate(Box<Concatenator>, Option<Inspector>),
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
        let is_native = plan.is_native();
        let format = plan.format_named(&plan.format);
        let inspector = |format: Option<NamedFormat<'_>>| {
            let format = format.and_then(NamedFormat::reader).filter(|_| !plan.request.skip_inspection)?;
            Some(Inspector::new(format, through_compactions(&plan)))
        };
        let mut parts = Vec::new();
        for (step, record) in plan.steps.iter().zip(chain.iter().rev()).filter(|(step, _)| step.included) {
            parts.push(PlannedBlob {
                commit: step.id.clone(),
                artifact_ref: step.artifact_ref.clone(),
                format: step.format.clone(),
                message_count: record.message_count,
                token_count: record.token_count,
                summary: record.summary.clone().filter(|_| !is_native),
                time: Some(record.created_at.clone()).filter(|_| !is_native),
            });
        }
        let rule = format.map_or(JoinRule::Bytes, NamedFormat::rule);
        let mode = match (rule, format) {
            _ if !is_native => JoinMode::Translate(Vec::new()),
            (rule, Some(format)) if !rule.is_appended() => {
                let inspector = inspector(Some(format)).filter(|_| rule == JoinRule::Gemini);
                JoinMode::Concatenate(Box::new(Concatenator::of(format, limits, 0)), inspector)
            }
            _ => {
                let inspector = inspector(format).filter(|_| rule == JoinRule::Records);
                JoinMode::Append { rule, hasher: Box::default(), last: None, inspector }
            }
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

    /// Takes the next blob of the plan. A ref of another store cannot be verified here, which is reported.
    ///
    /// # Errors
    /// [`Code::BlobMismatch`] for another blob, [`Code::LimitExceeded`], and those of its format.
    pub fn push(&mut self, blob: &[u8]) -> Result<AppendAction> {
        self.push_verified(blob, Verification::Unavailable)
    }

    /// Like [`Self::push`], for a caller that can verify refs of other stores.
    ///
    /// # Errors
    /// Those of [`Materializer::push`].
    pub fn push_verified(&mut self, blob: &[u8], verification: Verification) -> Result<AppendAction> {
        let Some(part) = self.parts.get(self.next) else { return Err(self.missing()) };
        let source = part.source();
        limits::check("blobBytes", blob.len(), self.limits.blob_bytes).map_err(|error| source.about(error))?;
        match part.check(blob, verification)? {
            BlobCheck::Passed => {}
            BlobCheck::Unverified(finding) => self.diagnostics.push(finding),
            BlobCheck::NeedsCaller => return Ok(AppendAction::Verify),
        }
        let newline = matches!(&self.mode, JoinMode::Append { rule, last, .. }
            if *rule != JoinRule::Bytes && needs_newline(*last, blob));
        let bytes = self.bytes.saturating_add(usize::from(newline)).saturating_add(blob.len());
        limits::check("materializedBytes", bytes, self.limits.materialized_bytes)
            .map_err(|error| source.about(error))?;
        // A translation is counted as a whole.
        let (messages, tokens) = match self.mode {
            JoinMode::Translate(_) => (0, 0),
            _ => part.counts(self.plan.format_named(&part.format), blob, &self.limits),
        };
        let action = match &mut self.mode {
            JoinMode::Append { rule, hasher, last, inspector } => {
                if newline {
                    hasher.update(b"\n");
                }
                hasher.update(blob);
                *last = blob.last().copied().or(*last);
                if *rule == JoinRule::Records {
                    self.diagnostics.extend(torn(blob).map(|found| source.place(found)));
                }
                if let Some(inspector) = inspector {
                    inspector.push(blob, source);
                }
                if newline { AppendAction::AppendAfterNewline } else { AppendAction::Append }
            }
            JoinMode::Concatenate(joined, inspector) => {
                joined.push(blob, source)?;
                if let Some(inspector) = inspector {
                    inspector.push(blob, source);
                }
                AppendAction::Consumed
            }
            JoinMode::Translate(blobs) => {
                blobs.push(blob.to_vec());
                AppendAction::Consumed
            }
        };
        self.bytes = bytes;
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
            JoinMode::Concatenate(joined, inspector) => {
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
                    formats: &self.plan.request.formats,
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

    /// Messages and tokens of the blob: those of the record, else counted.
    fn counts(&self, format: Option<NamedFormat<'_>>, blob: &[u8], limits: &Limits) -> (u64, u64) {
        match (self.message_count, self.token_count) {
            (Some(messages), Some(tokens)) => (messages, tokens),
            (messages, tokens) => {
                let counted = count_blob(format, blob, limits);
                (messages.unwrap_or(counted.0), tokens.unwrap_or(counted.1))
            }
        }
    }

    /// Checks that the blob is that of the ref. The caller's answer is final, so a blob is hashed once at most.
    fn check(&self, blob: &[u8], verification: Verification) -> Result<BlobCheck> {
        let form = RefForm::of(&self.artifact_ref);
        let may_be_short = form.is_some_and(RefForm::may_be_short);
        let is_foreign = matches!(form, Some(RefForm::Foreign(_)));
        match verification {
            Verification::Confirmed if is_foreign || may_be_short => return Ok(BlobCheck::Passed),
            Verification::Refused if is_foreign || may_be_short => return Err(self.rejected()),
            Verification::Available if is_foreign => return Ok(BlobCheck::NeedsCaller),
            Verification::Unavailable if is_foreign && !may_be_short => {
                let message = format!(
                    "the ref `{}` is of another store, so its blob was used unverified; pass `verifyArtifact`",
                    self.artifact_ref
                );
                let finding = Diagnostic::new(DiagnosticCode::ArtifactUnverified, Severity::Warning, message);
                return Ok(BlobCheck::Unverified(self.source().place(finding)));
            }
            _ => {}
        }
        let actual = artifact_ref(blob);
        if form.is_some_and(|named| named.names(&actual)) {
            return Ok(BlobCheck::Passed);
        }
        if may_be_short && verification == Verification::Available {
            return Ok(BlobCheck::NeedsCaller);
        }
        let advice = if may_be_short { ", or pass `verifyArtifact` if the ref is of another store" } else { "" };
        let message = format!(
            "the blob for commit `{}` has the ref `{actual}`, not `{}`; fetch it again{advice}",
            self.commit, self.artifact_ref
        );
        let error = Error::new(Code::BlobMismatch, message);
        Err(self.source().about(error).with("actualRef", actual))
    }

    /// The error for a blob that the caller did not confirm.
    fn rejected(&self) -> Error {
        let message = format!(
            "`verifyArtifact` rejected the blob of `{}` for commit `{}`; fetch it again",
            self.artifact_ref, self.commit
        );
        self.source().about(Error::new(Code::BlobMismatch, message))
    }
}

/// The result of checking a blob against its ref.
enum BlobCheck {
    /// It is that of the ref.
    Passed,
    /// Nothing can verify it, which is reported.
    Unverified(Diagnostic),
    /// The caller has to verify it.
    NeedsCaller,
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
            AppendAction::Consumed | AppendAction::Verify => continue,
            AppendAction::AppendAfterNewline => appended.push(b'\n'),
            AppendAction::Append => {}
        }
        appended.extend_from_slice(blob);
    }
    let result = work.finish()?;
    Ok(if appended.is_empty() { result } else { Materialized { bytes: appended, ..result } })
}
