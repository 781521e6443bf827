//! Checkpoints as an agent works: messages go in, commits come out when they are due (SPEC §5 "Checkpointer").
//!
//! The host stores what [`Checkpointer::checkpoint`] gives, and then calls [`Checkpointer::stored`]: until then the messages
//! stay pending and the head stays where it is. Each commit holds all messages since the head, so the host may report several
//! in any order: the head moves to the one that holds most.

use std::collections::VecDeque;

use crate::commits::artifact::artifact_ref;
use crate::commits::formats::{BlobSource, Concatenator, Format};
use crate::commits::record::{CommitType, Provenance, Record, Trigger, required_time};
use crate::commits::translate::count_blob;
use crate::error::{Code, Diagnostic, Error, Result};
use crate::limits::{self, Limits};

/// The fields that all commits of a session share, and when one is due.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckpointerOptions {
    /// The format of the messages.
    pub format: String,
    /// The commit that the session continues, or a new session.
    pub parent: Option<String>,
    /// After how many turns a commit is due; 1 or more.
    pub every: u32,
    /// Whether one is due after each tool result too.
    pub tool_calls: bool,
    /// Where its commits come from.
    pub provenance: Provenance,
}

impl CheckpointerOptions {
    /// A new conversation of that format, with a commit after every turn.
    pub fn new(format: &str) -> Self {
        Self { format: format.to_owned(), parent: None, every: 1, tool_calls: false, provenance: Provenance::default() }
    }
}

/// The fields of one checkpoint's record.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckpointFields {
    /// RFC 3339.
    pub created_at: String,
    /// A summary of the agent's understanding, for people.
    pub summary: Option<String>,
    /// Words to find it by.
    pub tags: Vec<String>,
}

/// A commit for the host to store: first the blob, then the record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PendingCommit {
    /// With id and ref.
    pub record: Record,
    /// The bytes that the ref names.
    pub blob: Vec<u8>,
    /// Diagnostics of putting the blob together.
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
    format: Format,
    limits: Limits,
    head: Option<String>,
    /// Messages that are in no stored commit, oldest first.
    pending: VecDeque<Vec<u8>>,
    /// How many messages are in stored commits.
    stored: u64,
    /// Turns that have ended.
    turns: u64,
    /// Turns that had ended when the last stored commit was given.
    stored_turns: u64,
    /// How many commits were given.
    given: u64,
    /// The number of the last stored one among them.
    head_number: u64,
    /// The last commits that were given, oldest first, so that `stored` knows them.
    outstanding: VecDeque<OutstandingCommit>,
}

/// How many given commits are remembered.
const OUTSTANDING: usize = 256;

#[derive(Debug)]
struct OutstandingCommit {
    id: String,
    /// Which of those that were given it is, from 1.
    number: u64,
    /// How many messages are in stored commits once this one is stored.
    stored: u64,
    /// How many turns had ended.
    turns: u64,
}

impl Checkpointer {
    /// Begins or continues with a session.
    ///
    /// # Errors
    /// [`Code::UnknownValue`] for a format that is not known, [`Code::InvalidInput`] for `every` 0.
    pub fn new(options: CheckpointerOptions, limits: &Limits) -> Result<Self> {
        if options.every == 0 {
            return Err(Error::new(Code::InvalidInput, "`every` must be 1 or more turns").with("path", "every"));
        }
        Ok(Self {
            format: Format::named(&options.format)?,
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

    /// The last stored commit.
    pub fn head(&self) -> Option<&str> {
        self.head.as_deref()
    }

    /// Messages that went in so far: what a compaction that begins now covers.
    pub fn position(&self) -> u64 {
        self.stored.saturating_add(self.pending.len() as u64)
    }

    /// Messages that no stored commit holds.
    pub fn pending(&self) -> usize {
        self.pending.len()
    }

    /// Takes a message: a line of JSON for the formats that have lines, an item or an array of items in CBOR.
    ///
    /// # Errors
    /// [`Code::InvalidInput`] for one that is blank, [`Code::InvalidBlob`] for one that is not CBOR or JSON where the format
    /// needs to know, [`Code::LimitExceeded`].
    pub fn push(&mut self, message: &[u8]) -> Result<()> {
        limits::check("blobBytes", message.len(), self.limits.blob_bytes)?;
        if message.trim_ascii().is_empty() {
            return Err(Error::new(Code::InvalidInput, "the message is blank; give one entry of the conversation"));
        }
        let is_map = message.first().is_some_and(|first| first >> 5 == 5);
        let message = match self.format {
            // An array of one, which is how a delta of one message looks.
            Format::BureauAgentV1 if is_map => [&[0x81], message].concat(),
            _ => message.to_vec(),
        };
        // One that cannot be joined would stand in the way of all that come after it.
        if !self.format.is_appended() {
            self.join(&mut std::iter::once(message.as_slice()))?;
        }
        self.pending.push_back(message);
        Ok(())
    }

    /// Reports what happened, and gives the commit that is due now, if one is and if there are new messages. The messages of
    /// commits that were given and are not stored yet are in this one, too.
    ///
    /// # Errors
    /// [`Code::InvalidInput`] for a `created_at` that is not RFC 3339, and for [`Trigger::Compaction`], which
    /// [`Checkpointer::compact`] is for; errors of the format about the messages.
    pub fn checkpoint(&mut self, trigger: Trigger, fields: &CheckpointFields) -> Result<Vec<PendingCommit>> {
        required_time("created_at", &fields.created_at)?;
        if matches!(trigger, Trigger::Compaction | Trigger::Other(_)) {
            let message =
                format!("`{}` is not for `checkpoint`; a compaction has a summary: use `compact`", trigger.as_str());
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

    /// Compacts: gives a commit with the messages before, if there are new ones, and one with the summary, a blob in the format
    /// of the messages. `covered` is the [`Checkpointer::position`] when the summary was begun; later messages stay pending.
    ///
    /// # Errors
    /// [`Code::CompactionStale`] when stored messages are not covered, [`Code::InvalidInput`] for a `covered` beyond the position or
    /// a `created_at` that is not RFC 3339; errors of the format about the messages.
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
            let message = format!("`covered` is {covered}, and only {} messages went in", self.position());
            return Err(Error::new(Code::InvalidInput, message).with("path", "covered"));
        }
        if covered < self.stored {
            let message = format!(
                "the summary covers {covered} messages, and {} are stored: it would hide the rest; summarise again from the head",
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
        let mut messages = std::iter::once(summary);
        offered.push(self.commit(CommitType::Compaction, parent, Trigger::Compaction, &mut messages, fields)?);
        for commit in &offered {
            self.expect_storing(commit, covered);
        }
        Ok(offered)
    }

    /// Reports that the host has stored a commit and those that lead to it. The head moves there, unless it is further on
    /// already: stores may end in any order.
    ///
    /// # Errors
    /// [`Code::CommitNotFound`] for one that was not given.
    pub fn stored(&mut self, id: &str) -> Result<()> {
        self.stored_as(id, id)
    }

    /// The same for a commit that was stored under another id, since it had to be given another parent: the head moves to
    /// that one.
    ///
    /// # Errors
    /// Those of [`Checkpointer::stored`].
    pub fn stored_as(&mut self, id: &str, stored_id: &str) -> Result<()> {
        let Some(commit) = self.outstanding.iter().rev().find(|commit| commit.id == id) else {
            let message =
                format!("commit `{id}` is none that this checkpointer gave, or {OUTSTANDING} others came after it");
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
        let mut messages = self.pending.iter().take(count).map(Vec::as_slice);
        self.commit(CommitType::Delta, self.head.clone(), trigger, &mut messages, fields)
    }

    fn join(&self, messages: &mut dyn Iterator<Item = &[u8]>) -> Result<(Vec<u8>, Vec<Diagnostic>)> {
        let mut joined = Concatenator::new(self.format, &self.limits, 0);
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
        let (messages, tokens) = count_blob(self.format, &blob, &self.limits);
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
