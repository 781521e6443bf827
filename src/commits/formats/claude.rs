//! `claude-code-v1`: Claude Code's transcripts (docs/session-formats.md).
//!
//! Records are a graph: each names its parent by `parentUuid`. The conversation is the chain of the newest leaf:
//!
//! - `isSidechain` records (other agents) and `isMeta` records are not part of it, unless all records belong to a side
//!   chain;
//! - records of one API message share `message.id` and are one turn. Parallel calls are siblings next to the chain;
//!   they and their results belong to it;
//! - a `compact_boundary` starts a new history: the summary after it, then the messages that it preserves
//!   (`compactMetadata.preservedMessages.uuids`, in that order); `logicalParentUuid` names the previous record. A
//!   record whose parent is a preserved message continues after the compaction;
//! - records of other types are only links.
//!
//! A parent that is not in the file (a delta begins in the middle of its session) is replaced by the previous record.

use serde_json::{Map, Value, json};

use super::continuation::Continuation;
use crate::commits::transcript::{
    ConversionReport, Role, Transcript, Turn, flag, given_id, list, object, owned, set, text,
};
use crate::content::{Block, Vendor};
use crate::error::{DiagnosticCode, Result, Severity};
use crate::jsonl::{Reader, Record};
use crate::maps::{SortedMap, SortedSet};
use crate::sorting;
use crate::vendors::anthropic;
use crate::vendors::blocks::{Unknown as _, read_said, text_or};

/// Other types that Claude Code writes.
const ASIDE: &[&str] = &[
    "agent-color",
    "agent-name",
    "agent-setting",
    "ai-title",
    "api-request",
    "api-request-blob",
    "api-request-shape",
    "atis-latch",
    "attachment",
    "attribution-snapshot",
    "bridge-session",
    "content-replacement",
    "cost-state",
    "custom-title",
    "file-history-snapshot",
    "last-prompt",
    "mode",
    "permission-mode",
    "pr-continuation",
    "progress",
    "queue-operation",
    "result",
    "speculation-accept",
    "stream_event",
    "summary",
    "system",
    "tag",
    "task-summary",
    "tools-used",
    "worktree-state",
];

pub(super) fn knows_record(kind: &str) -> bool {
    matches!(kind, "user" | "assistant") || ASIDE.contains(&kind)
}

/// Recognizes a record: content blocks also have a type, but none of the other fields.
pub(crate) fn is_record(map: &Map<String, Value>) -> bool {
    const SESSION_FIELDS: [&str; 6] = ["uuid", "parentUuid", "sessionId", "session_id", "leafUuid", "messageId"];
    text(map, "type").is_some() && (SESSION_FIELDS.iter().any(|&key| map.contains_key(key)) || is_conversation(map))
}

/// Whether a record is a message.
pub(crate) fn is_conversation(map: &Map<String, Value>) -> bool {
    let content = match map.get("message") {
        Some(Value::Object(message)) => message.get("content"),
        content => content,
    };
    matches!(text(map, "type"), Some("user" | "assistant")) && content.is_some_and(|it| it.is_string() || it.is_array())
}

/// Whether a message record has content and is not marked `isMeta`.
pub(crate) fn is_said(map: &Map<String, Value>) -> bool {
    let content = map.get("message").and_then(|message| message.get("content")).or_else(|| map.get("message"));
    let is_empty = match content {
        Some(Value::String(text)) => text.is_empty(),
        Some(Value::Array(blocks)) => blocks.is_empty(),
        _ => true,
    };
    !is_empty && !flag(map, "isMeta")
}

#[derive(Debug)]
pub(crate) struct Entry<'a> {
    pub bytes: &'a [u8],
    pub map: Map<String, Value>,
    /// Whether it is part of the graph: its uuid is new, or it is a message.
    linked: bool,
    /// Whether it belongs to a side chain.
    pub side: bool,
    /// The index of its parent entry.
    pub parent: Option<usize>,
    /// The number of the parent's commit, if that is in an earlier part of the file.
    pub earlier: Option<usize>,
}

/// The records in earlier parts of a file.
pub(crate) trait ParentLookup {
    /// The commit of the record with a uuid.
    fn with_uuid(&self, uuid: &str) -> Result<Option<usize>>;
    /// The commit of the newest linked record of the conversation, or of the side chains.
    fn newest(&self, side: bool) -> Option<usize>;
    /// The commit of the newest compaction of the conversation, or of the side chains.
    fn compaction(&self, side: bool) -> Option<usize>;
}

/// The place of a parent. Commits of earlier parts precede the records here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum ParentPosition {
    ParentLookup(usize),
    Here(usize),
}

/// For a file or a blob that is read alone.
struct NoEarlierPart;

impl ParentLookup for NoEarlierPart {
    fn with_uuid(&self, _: &str) -> Result<Option<usize>> {
        Ok(None)
    }

    fn newest(&self, _: bool) -> Option<usize> {
        None
    }

    fn compaction(&self, _: bool) -> Option<usize> {
        None
    }
}

impl<'a> Entry<'a> {
    fn new(record: Record<'a>) -> Self {
        let map = record.value;
        let is_message = matches!(text(&map, "type"), Some("user" | "assistant"));
        let linked = is_message || given_id(&map, "uuid").is_some();
        let side = flag(&map, "isSidechain") || text(&map, "parent_tool_use_id").is_some();
        Self { bytes: record.bytes, map, linked, side, parent: None, earlier: None }
    }
}

impl Entry<'_> {
    pub(crate) fn uuid(&self) -> Option<&str> {
        text(&self.map, "uuid").filter(|uuid| !uuid.is_empty())
    }

    pub(crate) const fn is_approval(&self) -> bool {
        self.linked
    }

    pub(crate) fn kind(&self) -> &str {
        text(&self.map, "type").unwrap_or_default()
    }

    /// Whether it is a message of the user or the assistant.
    pub(crate) fn is_message(&self) -> bool {
        self.linked && matches!(self.kind(), "user" | "assistant")
    }

    pub(crate) fn is_boundary(&self) -> bool {
        self.linked && self.kind() == "system" && text(&self.map, "subtype") == Some("compact_boundary")
    }

    /// The uuids of the messages that a compaction preserves, in order.
    pub(crate) fn preserved(&self) -> impl Iterator<Item = &str> {
        let metadata = object(&self.map, "compactMetadata").filter(|_| self.is_boundary());
        let preserved = metadata.and_then(|metadata| object(metadata, "preservedMessages"));
        let uuids = preserved.and_then(|preserved| preserved.get("uuids")).and_then(Value::as_array);
        uuids.into_iter().flatten().filter_map(Value::as_str)
    }

    pub(crate) fn is_summary(&self) -> bool {
        self.linked && flag(&self.map, "isCompactSummary")
    }

    fn message_id(&self) -> Option<&str> {
        object(&self.map, "message").and_then(|message| text(message, "id")).filter(|id| !id.is_empty())
    }

    /// The id shared by the records of one answer; else the record's uuid.
    pub(crate) fn answer_id(&self) -> Option<&str> {
        if !self.linked || self.kind() != "assistant" {
            return None;
        }
        self.message_id().or_else(|| text(&self.map, "uuid")).or(Some(""))
    }

    /// The content of its message, or the message itself if it is the content.
    fn content(&self) -> Option<&Value> {
        match self.map.get("message")? {
            Value::Object(message) => message.get("content"),
            content => Some(content),
        }
    }

    fn blocks(&self) -> impl Iterator<Item = &Map<String, Value>> {
        self.content().and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_object)
    }

    /// The ids of the calls whose results a user's record holds.
    pub(crate) fn answers(&self) -> Vec<&str> {
        let blocks = self.blocks().filter(|_| self.kind() == "user");
        blocks.filter_map(anthropic::blocks::answered_id).collect()
    }

    /// The ids of the calls whose results a user's record has to hold.
    pub(crate) fn client_calls(&self) -> impl Iterator<Item = &str> {
        self.blocks().filter_map(|block| anthropic::blocks::call_id(block, true))
    }

    fn calls(&self) -> impl Iterator<Item = &str> {
        self.blocks().filter_map(|block| anthropic::blocks::call_id(block, false))
    }
}

/// A session file, or a part of one, with its graph.
#[derive(Debug, Default)]
pub(crate) struct Session<'a> {
    /// The entries, in the order of the file.
    pub entries: Vec<Entry<'a>>,
    places: SortedMap<String, usize>,
    /// The present messages that each compaction preserves, by the index of its summary.
    preserved: SortedMap<usize, Vec<usize>>,
    /// The number of preserved messages that are missing.
    lacks_preserved: u32,
}

impl<'a> Session<'a> {
    /// Reads the records and finds their parents.
    pub(crate) fn read(bytes: &'a [u8], notes: &mut ConversionReport) -> Self {
        let mut session = Self::default();
        let mut reader = Reader::recovering(bytes, is_record);
        for record in reader.by_ref() {
            let entry = session.entry(record, &|_| false);
            session.push(entry, notes);
        }
        notes.extend(reader.finish());
        // The look-up cannot fail.
        let missing = session.find_parents(&NoEarlierPart).unwrap_or_default();
        report_missing(missing, notes);
        report_lost(session.lacks_preserved, notes);
        session
    }

    /// Makes an entry of a record; one with the uuid of an earlier record is not part of the graph.
    pub(crate) fn entry(&self, record: Record<'a>, is_known: &dyn Fn(&str) -> bool) -> Entry<'a> {
        let mut entry = Entry::new(record);
        entry.linked &= !entry.uuid().is_some_and(|uuid| self.places.contains_key(uuid) || is_known(uuid));
        entry
    }

    pub(crate) fn push(&mut self, entry: Entry<'a>, notes: &mut ConversionReport) {
        let kind = entry.kind();
        if !knows_record(kind) {
            notes.unknown(if kind.is_empty() { "a record without a type" } else { kind });
        }
        match entry.uuid() {
            Some(_) if !entry.linked => notes.unknown("a record with the uuid of an earlier one"),
            Some(uuid) => drop(self.places.insert(uuid.to_owned(), self.entries.len())),
            None => {}
        }
        self.entries.push(entry);
    }

    /// Finds each record's parent; returns the number of missing parents.
    pub(crate) fn find_parents(&mut self, before: &dyn ParentLookup) -> Result<u32> {
        // The newest linked record of the conversation and of the side chains.
        let mut newest = [false, true].map(|side| before.newest(side).map(ParentPosition::ParentLookup));
        let mut boundaries = [false, true].map(|side| before.compaction(side).map(ParentPosition::ParentLookup));
        let mut missing: u32 = 0;
        let mut compaction = Compaction::default();
        for (index, entry) in self.entries.iter_mut().enumerate().filter(|(_, entry)| entry.linked) {
            let [main, side] = &mut newest;
            let previous = if entry.side { side } else { main };
            let [main, side] = &mut boundaries;
            let boundary = if entry.side { side } else { main };
            if compaction.follow(entry, index, &self.places) {
                let lacks = compaction.uuids.len().saturating_sub(compaction.messages.len());
                self.lacks_preserved = self.lacks_preserved.saturating_add(u32::try_from(lacks).unwrap_or(u32::MAX));
                self.preserved.insert(index, compaction.messages.clone());
            }
            if compaction.repeats(entry, index) {
                // The named parent is in the history that the compaction replaces.
                entry.parent = compaction.summary.into_iter().chain(compaction.last).max();
                compaction.last = Some(index);
                *previous = Some(ParentPosition::Here(index));
                continue;
            }
            let place = |key: &str| -> Result<Option<ParentPosition>> {
                let Some(uuid) = text(&entry.map, key) else { return Ok(None) };
                if let Some(summary) = compaction.summary.filter(|_| compaction.uuids.contains(uuid)) {
                    let repeated = self.places.get(uuid).copied().filter(|&place| place > summary);
                    return Ok(Some(ParentPosition::Here(repeated.unwrap_or(summary))));
                }
                match self.places.get(uuid) {
                    Some(&here) => Ok(Some(ParentPosition::Here(here))),
                    None => Ok(before.with_uuid(uuid)?.map(ParentPosition::ParentLookup)),
                }
            };
            let mut found = match entry.map.get("parentUuid") {
                Some(Value::String(_)) => place("parentUuid")?.or_else(|| {
                    missing = missing.saturating_add(u32::from(previous.is_some()));
                    *previous
                }),
                Some(Value::Null) if entry.is_boundary() || entry.is_summary() => {
                    let named = place("logicalParentUuid")?;
                    let is_lost = named.is_none() && text(&entry.map, "logicalParentUuid").is_some();
                    missing = missing.saturating_add(u32::from(is_lost && previous.is_some()));
                    named.or(*previous)
                }
                Some(Value::Null) => place("logicalParentUuid")?,
                _ => *previous,
            };
            if entry.is_boundary() {
                // A compaction continues what follows the one before it, even if it names an older record.
                if found < *boundary {
                    missing = missing.saturating_add(1);
                    found = *previous;
                }
                *boundary = Some(ParentPosition::Here(index));
            }
            match found {
                Some(ParentPosition::Here(parent)) => entry.parent = Some(parent).filter(|&parent| parent != index),
                Some(ParentPosition::ParentLookup(commit)) => entry.earlier = Some(commit),
                None => {}
            }
            *previous = Some(ParentPosition::Here(index));
        }
        Ok(missing)
    }

    /// The index of the record with a uuid.
    pub(crate) fn place(&self, uuid: &str) -> Option<usize> {
        self.places.get(uuid).copied()
    }

    /// The newest message of the conversation, or of a side chain if there is no other.
    pub(crate) fn tip(&self) -> Option<usize> {
        let newest = |side: bool| self.entries.iter().rposition(|entry| entry.is_message() && entry.side == side);
        newest(false).or_else(|| newest(true))
    }

    /// The entries from the root, or from the newest compaction unless `through`, to `tip`, with siblings next to the
    /// chain.
    pub(crate) fn path(&self, tip: usize, through: bool, notes: &mut ConversionReport) -> Vec<usize> {
        let mut path = Vec::new();
        let mut seen = vec![false; self.entries.len()];
        let mut at = Some(tip);
        let mut summarized = false;
        while let Some(index) = at {
            if !mark(&mut seen, index) {
                let message = "`parentUuid` forms a cycle; the conversation begins where the cycle closes";
                notes.find(DiagnosticCode::BrokenChain, Severity::Error, message);
                break;
            }
            let Some(entry) = self.entries.get(index) else { break };
            // A compaction may preserve the summary of an earlier one.
            if !through && summarized && !entry.is_boundary() && !entry.is_summary() {
                break;
            }
            path.push(index);
            if !through && entry.is_boundary() {
                break;
            }
            summarized |= entry.is_summary();
            at = entry.parent;
        }
        path.reverse();
        self.with_preserved(self.attach(path, &seen))
    }

    /// Adds the messages that the compactions of a path preserve, each after its summary, unless the path has them.
    fn with_preserved(&self, path: Vec<usize>) -> Vec<usize> {
        if !path.iter().any(|index| self.preserved.get(index).is_some()) {
            return path;
        }
        let mut on_path = vec![false; self.entries.len()];
        for &index in &path {
            mark(&mut on_path, index);
        }
        let mut all = Vec::with_capacity(path.len());
        for index in path {
            all.push(index);
            let preserved = self.preserved.get(&index).into_iter().flatten();
            all.extend(preserved.copied().filter(|&index| mark(&mut on_path, index)));
        }
        all
    }

    /// Adds the other records of the messages on the path, and the results of their calls, each after its parent.
    fn attach(&self, path: Vec<usize>, seen: &[bool]) -> Vec<usize> {
        let mut messages: SortedSet<&str> = SortedSet::new();
        let mut open: SortedSet<&str> = SortedSet::new();
        let mut on_path = vec![false; self.entries.len()];
        for entry in path.iter().filter_map(|&index| self.entries.get(index)) {
            if entry.kind() == "assistant" {
                messages.extend(entry.message_id());
                open.extend(entry.calls());
            }
        }
        for &index in &path {
            mark(&mut on_path, index);
            if let Some(entry) = self.entries.get(index) {
                for id in entry.answers() {
                    open.remove(id);
                }
            }
        }
        let mut unvisited: SortedMap<usize, Vec<usize>> = SortedMap::new();
        for (index, entry) in self.entries.iter().enumerate() {
            if seen.get(index) == Some(&true) || !entry.is_message() {
                continue;
            }
            let Some(parent) = entry.parent.filter(|&parent| on_path.get(parent) == Some(&true)) else { continue };
            let belongs = if entry.kind() == "assistant" {
                entry.message_id().is_some_and(|id| messages.contains(id))
            } else {
                let answers = entry.answers();
                !answers.is_empty() && answers.iter().all(|id| open.contains(id))
            };
            if belongs {
                open.extend(entry.calls());
                for id in entry.answers() {
                    open.remove(id);
                }
                mark(&mut on_path, index);
                unvisited.or_default(parent).push(index);
            }
        }
        if unvisited.is_empty() {
            return path;
        }
        let in_order = path.is_sorted();
        let mut all = Vec::with_capacity(path.len());
        let mut next: Vec<usize> = Vec::new();
        for index in path {
            next.push(index);
            while let Some(index) = next.pop() {
                all.push(index);
                next.extend(unvisited.remove(&index).unwrap_or_default().into_iter().rev());
            }
        }
        // Usually the chain is in file order, and then so are its siblings.
        if in_order {
            sorting::sort(&mut all);
        }
        all
    }

    /// Whether a record belongs to the answer of its parent: another record of the answer, or results of its calls.
    pub(crate) fn belongs(&self, parent: usize, child: usize) -> bool {
        let (Some(parent), Some(child)) = (self.entries.get(parent), self.entries.get(child)) else { return false };
        if child.kind() == "assistant" {
            return parent.kind() == "assistant"
                && parent.message_id().is_some()
                && parent.message_id() == child.message_id();
        }
        let answers = child.answers();
        !answers.is_empty() && answers.iter().all(|id| parent.calls().any(|call| call == *id))
    }

    /// The turns of a path. Summaries are left out if `through`.
    pub(crate) fn turns(&self, path: &[usize], through: bool, notes: &mut ConversionReport) -> Vec<Turn> {
        let mut turns: Vec<Turn> = Vec::new();
        let mut places: SortedMap<&str, usize> = SortedMap::new();
        for entry in path.iter().filter_map(|&index| self.entries.get(index)).filter(|entry| entry.is_message()) {
            let summary = entry.is_summary();
            let hidden = flag(&entry.map, "isMeta") || flag(&entry.map, "isVisibleInTranscriptOnly");
            if (hidden && !summary) || (summary && through) {
                continue;
            }
            if let Some(message) = object(&entry.map, "message") {
                notes.unknown_fields(message, &[anthropic::blocks::MESSAGE_FIELDS]);
            }
            let blocks = read_said(entry.content(), Some(Vendor::Anthropic), notes);
            if blocks.is_empty() {
                continue;
            }
            let id = entry.message_id();
            if let Some(turn) = id.and_then(|id| places.get(id)).and_then(|&place| turns.get_mut(place)) {
                turn.blocks.extend(blocks);
                continue;
            }
            if let Some(id) = id {
                places.insert(id, turns.len());
            }
            let role = if entry.kind() == "assistant" { Role::Assistant } else { Role::User };
            turns.push(Turn {
                role,
                blocks,
                id: id.map(str::to_owned).or_else(|| owned(&entry.map, "uuid")),
                timestamp: owned(&entry.map, "timestamp"),
                model: object(&entry.map, "message").and_then(|message| owned(message, "model")),
                summary,
            });
        }
        turns
    }

    /// The first turn of a path before which the model saw something that its turns lack: a text that Claude Code added,
    /// the history of a message that a compaction preserves, or a summary.
    fn changed_from(&self, path: &[usize], through: bool) -> Option<usize> {
        let mut preserved: SortedSet<&str> = SortedSet::new();
        let at = path.iter().filter_map(|&index| self.entries.get(index)).position(|entry| {
            if entry.is_boundary() && !through {
                preserved.extend(entry.preserved());
            }
            let is_added = entry.kind() == "attachment" && !list(&entry.map, "rendered").is_empty();
            let is_hidden = entry.is_message() && flag(&entry.map, "isMeta");
            let is_left_out = if entry.is_summary() { through } else { is_added || is_hidden };
            is_left_out || entry.uuid().is_some_and(|uuid| preserved.contains(uuid))
        })?;
        Some(self.turns(path.get(..at)?, through, &mut ConversionReport::default()).len())
    }
}

/// The newest compaction so far.
#[derive(Debug, Default)]
struct Compaction {
    uuids: SortedSet<String>,
    /// The indices of its present messages, in order.
    messages: Vec<usize>,
    /// The index of its summary, once read.
    summary: Option<usize>,
    /// The index of its newest message after the summary.
    last: Option<usize>,
}

impl Compaction {
    /// Takes the next record; returns whether it is the summary of a compaction that preserves messages.
    fn follow(&mut self, entry: &Entry<'_>, index: usize, places: &SortedMap<String, usize>) -> bool {
        if entry.is_boundary() {
            *self = Self::default();
            for uuid in entry.preserved() {
                if self.uuids.insert(uuid.to_owned()) {
                    self.messages.extend(places.get(uuid));
                }
            }
        }
        let begins = self.summary.is_none() && !self.uuids.is_empty() && entry.is_summary();
        if begins {
            self.summary = Some(index);
        }
        begins
    }

    /// Whether a record is one of its messages repeated after the summary, as in the blob of a commit.
    fn repeats(&self, entry: &Entry<'_>, index: usize) -> bool {
        self.summary.is_some_and(|summary| summary < index)
            && entry.uuid().is_some_and(|uuid| self.uuids.contains(uuid))
    }
}

/// Marks an index; returns whether it was valid and unmarked.
pub(crate) fn mark(places: &mut [bool], at: usize) -> bool {
    places.get_mut(at).is_some_and(|place| !std::mem::replace(place, true))
}

/// Reports records whose parent is missing.
pub(crate) fn report_missing(missing: u32, notes: &mut ConversionReport) {
    if missing > 0 {
        let records = if missing == 1 { "record names" } else { "records name" };
        let message =
            format!("{missing} {records} a missing or outdated parent; the previous record was used for each");
        notes.find(DiagnosticCode::BrokenChain, Severity::Info, message);
    }
}

/// Reports missing messages that a compaction preserves.
pub(crate) fn report_lost(lost: u32, notes: &mut ConversionReport) {
    if lost > 0 {
        let message = format!(
            "{lost} messages that a compaction preserves are not in the file; they are missing after its summary"
        );
        notes.find(DiagnosticCode::BrokenChain, Severity::Warning, message);
    }
}

pub(super) fn read(bytes: &[u8], through: bool, notes: &mut ConversionReport) -> Transcript {
    let session = Session::read(bytes, notes);
    let Some(tip) = session.tip() else { return Transcript::default() };
    let path = session.path(tip, through, notes);
    let on_path: SortedSet<usize> = path.iter().copied().collect();
    let entries = || session.entries.iter().enumerate();
    // A record on the path may be before its parent too, and separate it from what continues from it.
    if entries().any(|(index, entry)| entry.is_message() && !on_path.contains(&index)) {
        notes.before_followed(entries().filter(|(index, entry)| entry.parent > Some(*index)).count());
    }
    Transcript { turns: session.turns(&path, through, notes), changed_from: session.changed_from(&path, through) }
}

/// Records the uuid that the next record has to name as its parent, and the session; false if missing.
pub(super) fn end(bytes: &[u8], continuation: &mut Continuation) -> bool {
    let session = Session::read(bytes, &mut ConversionReport::default());
    let Some(entry) = session.tip().and_then(|tip| session.entries.get(tip)) else { return false };
    let Some(uuid) = owned(&entry.map, "uuid") else { return false };
    continuation.parent = Some(uuid);
    continuation.session = owned(&entry.map, "sessionId").or_else(|| continuation.session.take());
    continuation.timestamp = owned(&entry.map, "timestamp").or_else(|| continuation.timestamp.take());
    true
}

/// The text that replaces a recording or another vendor's block, if any.
fn text_for(block: &Block<'_>, notes: &mut ConversionReport) -> Option<String> {
    match block {
        Block::Vendor(block) => notes.replacement(block).map(str::to_owned),
        block => Some(notes.recording(block)),
    }
}

pub(super) fn write(turns: &[Turn], continuation: &mut Continuation, notes: &mut ConversionReport) -> Vec<Value> {
    let mut lines = Vec::new();
    for turn in turns {
        let timestamp = continuation.time(turn.timestamp.as_deref());
        let session = continuation.session();
        if turn.summary {
            let uuid = continuation.uuid();
            let before = continuation.parent.replace(uuid.clone());
            lines.push(json!({
                "parentUuid": null, "logicalParentUuid": before, "isSidechain": false, "type": "system",
                "subtype": "compact_boundary", "content": "Conversation compacted", "uuid": uuid, "timestamp": timestamp,
                "sessionId": session, "compactMetadata": { "trigger": "manual", "preTokens": 0 },
            }));
        }
        let uuid = continuation.uuid();
        let mut write = |blocks: &[Block<'_>]| anthropic::blocks::write(blocks, &mut |block| text_for(block, notes));
        let content = match turn.blocks.as_slice() {
            blocks if turn.role == Role::Assistant => Value::Array(write(blocks)),
            blocks => text_or(blocks, write),
        };
        let mut line = json!({
            "parentUuid": continuation.parent, "isSidechain": false, "userType": "external", "sessionId": session,
        });
        let parts = match turn.role {
            Role::Assistant => json!({
                "type": "assistant",
                "message": {
                    "id": turn.id.clone().unwrap_or_else(|| format!("msg_{uuid}")), "type": "message", "role": "assistant",
                    "model": turn.model.as_deref().unwrap_or("unknown"), "content": content,
                    "stop_reason": null, "stop_sequence": null,
                    "usage": { "input_tokens": 0, "output_tokens": 0 },
                },
            }),
            Role::System | Role::Developer | Role::User | Role::Tool => {
                if turn.role.is_system() {
                    notes.inexpressible("a system message, written as one of the user");
                }
                json!({ "type": "user", "message": { "role": "user", "content": content } })
            }
        };
        if let (Some(line), Value::Object(parts)) = (line.as_object_mut(), parts) {
            line.extend(parts);
        }
        if turn.summary {
            set(&mut line, "isCompactSummary", true);
            set(&mut line, "isVisibleInTranscriptOnly", true);
        }
        set(&mut line, "uuid", uuid.as_str());
        set(&mut line, "timestamp", timestamp);
        continuation.parent = Some(uuid);
        lines.push(line);
    }
    lines
}

/// The record with the title of the conversation so far.
pub(super) fn write_title(title: &str, continuation: &Continuation) -> Option<Value> {
    let leaf = continuation.parent.as_deref()?;
    Some(json!({ "type": "summary", "summary": title, "leafUuid": leaf }))
}

/// The leaves of other branches: the newest record of each, in the order of the file.
pub(crate) fn other_leaves(session: &Session<'_>, path: &[usize]) -> Vec<usize> {
    let mut inner = vec![false; session.entries.len()];
    for &index in path {
        mark(&mut inner, index);
    }
    // A record with a child message is not a leaf. In damaged files parents may follow their children, so each record
    // marks its ancestors up to a marked one.
    let mut reached = vec![false; session.entries.len()];
    for entry in session.entries.iter().filter(|entry| entry.is_message()) {
        let mut at = entry.parent;
        while let Some(index) = at.filter(|&index| mark(&mut reached, index)) {
            at = session.entries.get(index).and_then(|entry| entry.parent);
        }
    }
    let is_leaf = |&index: &usize| {
        session.entries.get(index).is_some_and(Entry::is_message)
            && inner.get(index) != Some(&true)
            && reached.get(index) != Some(&true)
    };
    (0..session.entries.len()).filter(is_leaf).collect()
}

/// The title in a `summary` record, and the uuid of its leaf.
pub(crate) fn title<'e>(entry: &'e Entry<'_>) -> Option<(&'e str, &'e str)> {
    let title = text(&entry.map, "summary").filter(|_| entry.kind() == "summary")?;
    text(&entry.map, "leafUuid").map(|leaf| (leaf, title))
}
