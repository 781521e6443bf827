//! Checkpoints during a session: takes messages, and returns commits when they are due (docs/commits.md).
//!
//! The host stores the result of [`Checkpointer::checkpoint`], and then calls [`Checkpointer::stored`]: until then the
//! messages stay pending and the head is unchanged. Each commit holds all messages since the head, so the host may
//! report several in any order: the head moves to the one with the most messages.

use std::collections::VecDeque;

use serde_json::Value;

use crate::commits::artifact::artifact_ref;
use crate::commits::formats::{
    BlobSource, Concatenator, Continuation, CustomFormat, Format, JoinRule, NamedFormat, generic, read_json, write_part,
};
use crate::commits::record::{CommitType, Provenance, Record, Trigger, required_time};
use crate::commits::transcript::ConversionReport;
use crate::commits::translate::count_blob;
use crate::error::{Code, Diagnostic, Error, Result};
use crate::limits::{self, Limits};

/// The common fields of all commits of a session, and their schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckpointerOptions {
    /// The format of the messages.
    pub format: String,
    /// The commit that the session continues; `None` for a new session.
    pub parent: Option<String>,
    /// The number of turns after which a commit is due; at least 1.
    pub every: u32,
    /// Whether a commit is also due after each tool result.
    pub tool_calls: bool,
    /// The provenance of its commits.
    pub provenance: Provenance,
    /// Formats that are not built in.
    pub formats: Vec<CustomFormat>,
}

impl CheckpointerOptions {
    /// A new conversation in this format, with a commit after every turn.
    pub fn new(format: &str) -> Self {
        Self {
            format: format.to_owned(),
            parent: None,
            every: 1,
            tool_calls: false,
            provenance: Provenance::default(),
            formats: Vec::new(),
        }
    }
}

/// The fields of one checkpoint's record.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckpointFields {
    /// The time, RFC 3339.
    pub created_at: String,
    /// A summary of the agent's understanding, for people.
    pub summary: Option<String>,
    /// Search terms.
    pub tags: Vec<String>,
}

/// A commit for the host to store: first the blob, then the record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PendingCommit {
    /// The record, with id and ref.
    pub record: Record,
    /// The blob of the ref.
    pub blob: Vec<u8>,
    /// Diagnostics of joining the blob.
    pub diagnostics: Vec<Diagnostic>,
}

/// Turns messages into commits.
///
/// ```
/// use ctxweave::commits::{CheckpointFields, Checkpointer, CheckpointerOptions, Trigger};
/// let mut session = Checkpointer::new(CheckpointerOptions::new("generic-v1"), &Default::default())?;
/// session.push(br#"{"role":"user","content":"hello"}"#)?;
/// session.push(br#"{"role":"assistant","content":"hi"}"#)?;
/// let at = CheckpointFields { created_at: "2026-03-01T09:30:00Z".into(), ..Default::default() };
/// let offered = session.checkpoint(Trigger::TurnBoundary, &at)?;
/// // Store offered[0].blob and offered[0].record, and then:
/// session.stored(&offered[0].record.id)?;
/// assert_eq!(session.head(), Some(offered[0].record.id.as_str()));
/// # Ok::<(), ctxweave::Error>(())
/// ```
#[derive(Debug)]
pub struct Checkpointer {
    options: CheckpointerOptions,
    limits: Limits,
    head: Option<String>,
    /// Messages in no stored commit, oldest first, with the findings about each.
    pending: VecDeque<(Vec<u8>, Vec<Diagnostic>)>,
    /// The number of messages in stored commits.
    stored: u64,
    /// The number of finished turns.
    turns: u64,
    /// The number of turns finished when the last stored commit was returned.
    stored_turns: u64,
    /// The number of commits returned.
    given: u64,
    /// The number of the last stored one among them.
    head_number: u64,
    /// The last returned commits, oldest first, for `stored`.
    outstanding: VecDeque<OutstandingCommit>,
}

/// Returned commits that are tracked.
const OUTSTANDING: usize = 256;

#[derive(Debug)]
struct OutstandingCommit {
    id: String,
    /// Its number among the returned commits, from 1.
    number: u64,
    /// The number of messages in stored commits after this one is stored.
    stored: u64,
    /// The number of finished turns.
    turns: u64,
}

impl Checkpointer {
    /// Begins or resumes a session.
    ///
    /// # Errors
    /// [`Code::UnknownValue`] for an unknown format, [`Code::InvalidInput`] if `every` is 0.
    pub fn new(options: CheckpointerOptions, limits: &Limits) -> Result<Self> {
        if options.every == 0 {
            return Err(Error::new(Code::InvalidInput, "`every` must be 1 or more turns").with("path", "every"));
        }
        if NamedFormat::find(&options.format, &options.formats).is_none() {
            Format::named(&options.format)?;
        }
        Ok(Self {
            head: options.parent.clone(),
            options,
            limits: *limits,
            pending: VecDeque::new(),
            stored: 0,
            turns: 0,
            stored_turns: 0,
            given: 0,
            head_number: 0,
            outstanding: VecDeque::new(),
        })
    }

    fn format(&self) -> NamedFormat<'_> {
        let format = NamedFormat::find(&self.options.format, &self.options.formats);
        format.unwrap_or(NamedFormat::BuiltIn(Format::GenericV1))
    }

    /// The last stored commit.
    pub fn head(&self) -> Option<&str> {
        self.head.as_deref()
    }

    /// The number of messages pushed so far: the coverage of a compaction that begins now.
    pub fn position(&self) -> u64 {
        self.stored.saturating_add(self.pending.len() as u64)
    }

    /// The number of messages in no stored commit.
    pub fn pending(&self) -> usize {
        self.pending.len()
    }

    /// Takes a message: a line of JSON for line-based formats, an item or an array of items for arrays. For
    /// `bureau-agent-v1` an item or an array of items in CBOR, or a `{ role, content }` as in `generic-v1`, which is
    /// converted; content that the format cannot hold is reported with the commit.
    ///
    /// # Errors
    /// [`Code::InvalidInput`] for a blank message, [`Code::InvalidBlob`] for invalid CBOR or JSON if the format
    /// requires it, [`Code::LimitExceeded`].
    pub fn push(&mut self, message: &[u8]) -> Result<()> {
        limits::check("blobBytes", message.len(), self.limits.blob_bytes)?;
        if message.trim_ascii().is_empty() {
            return Err(Error::new(Code::InvalidInput, "the message is blank; pass one entry of the conversation"));
        }
        let (message, found) = self.converted(message)?;
        // A message that cannot be joined would block all later ones.
        if !self.format().rule().is_appended() {
            self.join(&mut std::iter::once(message.as_slice()))?;
        }
        self.pending.push_back((message, found));
        Ok(())
    }

    /// A message as a delta of the format.
    fn converted(&self, message: &[u8]) -> Result<(Vec<u8>, Vec<Diagnostic>)> {
        let is_map = message.first().is_some_and(|first| first >> 5 == 5);
        let is_json_object = message.trim_ascii_start().starts_with(b"{");
        match self.format().rule() {
            // An array of one is a delta of one message.
            JoinRule::CborArray if is_map => Ok(([&[0x81], message].concat(), Vec::new())),
            // CBOR that begins like JSON is no message.
            JoinRule::CborArray if is_json_object && self.format().reader() == Some(Format::BureauAgentV1) => {
                plain_message(message)
            }
            JoinRule::JsonArray if is_json_object => Ok(([b"[", message, b"]"].concat(), Vec::new())),
            _ => Ok((message.to_vec(), Vec::new())),
        }
    }

    /// Reports an event, and returns the commit that is due, if there are new messages. It includes messages of
    /// returned commits that are not stored yet.
    ///
    /// # Errors
    /// [`Code::InvalidInput`] for a `created_at` that is not RFC 3339, and for [`Trigger::Compaction`], which requires
    /// [`Checkpointer::compact`]; errors of the format about the messages.
    pub fn checkpoint(&mut self, trigger: Trigger, fields: &CheckpointFields) -> Result<Vec<PendingCommit>> {
        required_time("created_at", &fields.created_at)?;
        if matches!(trigger, Trigger::Compaction | Trigger::Other(_)) {
            let message = format!(
                "`{}` is not a trigger of `checkpoint`; use `compact`, which takes the summary",
                trigger.as_str()
            );
            return Err(Error::new(Code::InvalidInput, message).with("path", "trigger"));
        }
        self.turns = self.turns.saturating_add(u64::from(trigger == Trigger::TurnBoundary));
        let due = match trigger {
            Trigger::TurnBoundary => self.turns.saturating_sub(self.stored_turns) >= u64::from(self.options.every),
            Trigger::ToolCall => self.options.tool_calls,
            _ => true,
        };
        if !due || self.pending.is_empty() {
            return Ok(Vec::new());
        }
        let delta = self.delta(self.position(), trigger, fields)?;
        self.expect_storing(&delta, self.position());
        Ok(vec![delta])
    }

    /// Compacts: returns a commit with the preceding messages, if any are new, and one with the summary, a blob in the
    /// format of the messages. `covered` is the [`Checkpointer::position`] at the start of the summary; later messages
    /// stay pending.
    ///
    /// # Errors
    /// [`Code::CompactionStale`] if stored messages are not covered, [`Code::InvalidInput`] for a `covered` beyond the
    /// position or a `created_at` that is not RFC 3339; errors of the format about the messages.
    pub fn compact(
        &mut self,
        summary: &[u8],
        covered: Option<u64>,
        fields: &CheckpointFields,
    ) -> Result<Vec<PendingCommit>> {
        required_time("created_at", &fields.created_at)?;
        limits::check("blobBytes", summary.len(), self.limits.blob_bytes)?;
        let covered = covered.unwrap_or_else(|| self.position());
        if covered > self.position() {
            let message = format!("`covered` is {covered}, but only {} messages were pushed", self.position());
            return Err(Error::new(Code::InvalidInput, message).with("path", "covered"));
        }
        if covered < self.stored {
            let message = format!(
                "the summary covers {covered} messages, but {} are stored and would be hidden; summarize again from the head",
                self.stored
            );
            return Err(Error::new(Code::CompactionStale, message)
                .with("covered", covered)
                .with("stored", self.stored));
        }
        let mut offered = Vec::new();
        if covered > self.stored {
            offered.push(self.delta(covered, Trigger::Compaction, fields)?);
        }
        let parent = offered.first().map(|delta| delta.record.id.clone()).or_else(|| self.head.clone());
        let (summary, found) = self.converted(summary)?;
        let mut messages = std::iter::once(summary.as_slice());
        let mut compaction = self.commit(CommitType::Compaction, parent, Trigger::Compaction, &mut messages, fields)?;
        compaction.diagnostics.extend(found);
        offered.push(compaction);
        for commit in &offered {
            self.expect_storing(commit, covered);
        }
        Ok(offered)
    }

    /// Reports that the host has stored a commit and its ancestors. The head moves there, unless it is already further
    /// ahead: stores may finish in any order.
    ///
    /// # Errors
    /// [`Code::CommitNotFound`] for a commit that was not returned.
    pub fn stored(&mut self, id: &str) -> Result<()> {
        self.stored_as(id, id)
    }

    /// Like [`Self::stored`], for a commit that was stored under another id because it needed another parent: the head
    /// moves to that one.
    ///
    /// # Errors
    /// Those of [`Checkpointer::stored`].
    pub fn stored_as(&mut self, id: &str, stored_id: &str) -> Result<()> {
        let Some(commit) = self.outstanding.iter().rev().find(|commit| commit.id == id) else {
            let message = format!("commit `{id}` is not one of the last {OUTSTANDING} that this checkpointer returned");
            return Err(Error::new(Code::CommitNotFound, message).with("commitId", id));
        };
        if (commit.stored, commit.number) > (self.stored, self.head_number) {
            let new = usize::try_from(commit.stored.saturating_sub(self.stored)).unwrap_or(usize::MAX);
            self.pending.drain(..new.min(self.pending.len()));
            self.stored = commit.stored;
            self.stored_turns = self.stored_turns.max(commit.turns);
            self.head_number = commit.number;
            self.head = Some(stored_id.to_owned());
        }
        Ok(())
    }

    fn expect_storing(&mut self, commit: &PendingCommit, stored: u64) {
        self.given = self.given.saturating_add(1);
        let id = commit.record.id.clone();
        self.outstanding.push_back(OutstandingCommit { id, number: self.given, stored, turns: self.turns });
        if self.outstanding.len() > OUTSTANDING {
            self.outstanding.pop_front();
        }
    }

    /// The commit with the pending messages up to a position.
    fn delta(&self, until: u64, trigger: Trigger, fields: &CheckpointFields) -> Result<PendingCommit> {
        let count = usize::try_from(until.saturating_sub(self.stored)).unwrap_or(usize::MAX);
        let mut messages = self.pending.iter().take(count).map(|(message, _)| message.as_slice());
        let mut commit = self.commit(CommitType::Delta, self.head.clone(), trigger, &mut messages, fields)?;
        let found = self.pending.iter().take(count).flat_map(|(_, found)| found.iter().cloned());
        commit.diagnostics.extend(found);
        Ok(commit)
    }

    fn join(&self, messages: &mut dyn Iterator<Item = &[u8]>) -> Result<(Vec<u8>, Vec<Diagnostic>)> {
        let mut joined = Concatenator::of(self.format(), &self.limits, 0);
        for message in messages {
            joined.push(message, BlobSource::default())?;
        }
        let joined = joined.finish()?;
        Ok((joined.bytes, joined.diagnostics))
    }

    fn commit(
        &self,
        commit_type: CommitType,
        parent: Option<String>,
        trigger: Trigger,
        messages: &mut dyn Iterator<Item = &[u8]>,
        fields: &CheckpointFields,
    ) -> Result<PendingCommit> {
        let (blob, diagnostics) = self.join(messages)?;
        let (messages, tokens) = count_blob(Some(self.format()), &blob, &self.limits);
        // The summary and the tags belong to the compaction, not to the delta before it.
        let is_described = trigger != Trigger::Compaction || commit_type == CommitType::Compaction;
        let record = Record {
            parent,
            provenance: self.options.provenance.clone(),
            checkpoint: Some(trigger),
            summary: fields.summary.clone().filter(|_| is_described),
            tags: if is_described { fields.tags.clone() } else { Vec::new() },
            message_count: Some(messages),
            token_count: Some(tokens),
            ..Record::new(commit_type, &artifact_ref(&blob), &self.options.format, &fields.created_at)
        };
        Ok(PendingCommit { record: record.seal(), blob, diagnostics })
    }
}

/// A message of `generic-v1` as a delta of `bureau-agent-v1`.
fn plain_message(message: &[u8]) -> Result<(Vec<u8>, Vec<Diagnostic>)> {
    let invalid =
        |reason: &str| Error::new(Code::InvalidInput, format!("the message {reason}")).with("path", "message");
    let text = std::str::from_utf8(message).map_err(|_| invalid("is not UTF-8"))?;
    let document = read_json(text, "the message").map_err(|error| error.with("path", "message"))?;
    let Ok(Value::Object(fields)) = document.root().to_json() else { return Err(invalid("is not an object")) };
    let mut notes = ConversionReport::default();
    let turn = generic::turn(&fields, &mut notes).filter(|turn| !turn.blocks.is_empty());
    let turn = turn.ok_or_else(|| invalid("has no content; pass `{ role, content }`, or an item in CBOR"))?;
    let bytes = write_part(Format::BureauAgentV1, &[turn], None, &mut Continuation::new(""), &mut notes)?;
    Ok((bytes, notes.finish()))
}
