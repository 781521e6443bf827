//! Importing a whole session file as commits (SPEC §5, §7 `importTranscript`).
//!
//! The lines become deltas, byte for byte, so that materialising the tip from its root gives the conversation again. A delta
//! ends where the assistant has finished an answer. Compactions of the format become compaction commits; branches that the
//! user left, and side chains of other agents, become branches. Every readable line is in exactly one blob, but for the
//! header, which the blob of a compaction repeats.

use std::mem::take;

use serde::Serialize;
use serde_json::Value;

use crate::commits::artifact::artifact_ref;
use crate::commits::formats::claude::{Session, mark, other_leaves, titles};
use crate::commits::formats::codex::{self, LineKind};
use crate::commits::formats::{BlobSource, Format, ReadOptions, gemini_lines, generic};
use crate::commits::record::{CommitType, Provenance, Record, Trigger, required_time};
use crate::commits::transcript::{Notes, Role, Transcript, list, object, owned, text};
use crate::content::Block;
use crate::error::{Code, Diagnostic, DiagnosticCode, Error, Result};
use crate::jsonl::Reader;
use crate::limits::{self, Limits};
use crate::maps::{SortedMap, SortedSet};
use crate::sorting;
use crate::text::Clusters;
use crate::time::Timestamp;
use crate::tokens::Counter;

/// How many bytes of a compaction's summary its record carries.
const SUMMARY_BYTES: usize = 1_000;

/// Facts that the file itself does not contain.
#[derive(Clone, Debug)]
pub struct ImportOptions<'a> {
    /// Where the commits come from; by default with the session that the file names.
    pub provenance: Provenance,
    /// The commit that the conversation continues.
    pub parent: Option<&'a str>,
    /// RFC 3339; for commits whose lines have no time.
    pub created_at: Option<&'a str>,
    /// A delta ends after this many answers of the assistant; 1 or more.
    pub every: u32,
    /// Counts the tokens of each blob.
    pub counter: &'a dyn Counter,
    /// Bounds on the input.
    pub limits: &'a Limits,
}

/// A branch that the user left, or the side chain of another agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ImportedBranch {
    /// Its newest commit.
    pub tip: String,
    /// The commit that it leaves the conversation at; for a side chain, the one that it was started from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Whether it is the conversation of another agent.
    pub side_chain: bool,
}

/// A session file as commits.
#[derive(Debug, Default)]
pub struct Import {
    /// The records, parents before children.
    pub records: Vec<Record>,
    /// The blobs by their refs, each once, in the order of the records.
    pub blobs: Vec<(String, Vec<u8>)>,
    /// The newest commit of the conversation, if the file has one.
    pub tip: Option<String>,
    /// The other branches.
    pub branches: Vec<ImportedBranch>,
    /// What was damaged or not known.
    pub diagnostics: Vec<Diagnostic>,
}

/// Makes commits of a session file.
///
/// # Errors
/// [`Code::InvalidInput`] where neither the lines nor `created_at` say when it was, [`Code::InvalidBlob`] and
/// [`Code::LimitExceeded`] for a file that cannot be read at all.
pub fn import_transcript(format: Format, bytes: &[u8], options: &ImportOptions<'_>) -> Result<Import> {
    limits::check("inputBytes", bytes.len(), options.limits.input_bytes)?;
    if let Some(time) = options.created_at {
        required_time("createdAt", time)?;
    }
    if options.every == 0 {
        return Err(Error::new(Code::InvalidInput, "`everyTurns` must be 1 or more").with("path", "everyTurns"));
    }
    let mut builder = Builder::new(format, options);
    let mut notes = Notes::default();
    match format {
        Format::ClaudeCodeV1 => claude(&mut builder, bytes, &mut notes)?,
        Format::CodexV0 | Format::CodexV1 => codex(&mut builder, bytes, &mut notes)?,
        Format::GeminiV1 => gemini(&mut builder, bytes, &mut notes)?,
        Format::GenericV1 => generic(&mut builder, bytes, &mut notes)?,
        Format::BureauAgentV1 => {
            let transcript = read_whole(format, bytes, options.limits, &mut notes)?;
            if !transcript.turns.is_empty() {
                builder.commit(CommitType::Snapshot, bytes.to_vec(), Trigger::Explicit)?;
            }
        }
    }
    if !builder.speaks {
        notes.nothing_said(bytes);
    }
    let mut import = builder.import;
    import.diagnostics = notes.finish();
    Ok(import)
}

/// Reads a file for its findings. That it holds no conversation is reported by the import.
fn read_whole(format: Format, bytes: &[u8], limits: &Limits, notes: &mut Notes) -> Result<Transcript> {
    let read = ReadOptions { source: BlobSource::default(), through_compactions: true };
    let (transcript, mut found) = format.read(bytes, read, limits)?;
    found.retain(|finding| finding.code != DiagnosticCode::NoMessages);
    notes.extend(found);
    Ok(transcript)
}

struct Builder<'o> {
    format: Format,
    options: &'o ImportOptions<'o>,
    session: Option<String>,
    /// The commit that the next one follows.
    parent: Option<String>,
    /// The newest time of the lines so far.
    time: Option<String>,
    /// For records of a side chain: the commit it was started from.
    side_chain_of: Option<Option<String>>,
    /// Whether anything in the blobs is conversation.
    speaks: bool,
    known_blobs: SortedSet<String>,
    import: Import,
}

impl<'o> Builder<'o> {
    fn new(format: Format, options: &'o ImportOptions<'o>) -> Self {
        Self {
            format,
            options,
            session: options.provenance.session_id.clone(),
            parent: options.parent.map(str::to_owned),
            time: None,
            side_chain_of: None,
            speaks: false,
            known_blobs: SortedSet::new(),
            import: Import::default(),
        }
    }

    fn note_time(&mut self, time: Option<&str>) {
        if let Some(time) = time.filter(|time| Timestamp::parse(time).is_some()) {
            self.time = Some(time.to_owned());
        }
    }

    /// Makes the child of the last commit; gives its id.
    fn commit(&mut self, kind: CommitType, blob: Vec<u8>, trigger: Trigger) -> Result<String> {
        let options = self.options;
        let created_at = self.time.as_deref().or(options.created_at).ok_or_else(|| {
            let message = "the lines do not say when they were written; give `createdAt`";
            Error::new(Code::InvalidInput, message).with("path", "createdAt")
        })?;
        let reference = artifact_ref(&blob);
        let source = BlobSource { commit: "", artifact_ref: &reference };
        let whole = kind != CommitType::Compaction;
        let read = ReadOptions { through_compactions: whole, source };
        let (transcript, _) = self.format.read(&blob, read, options.limits)?;
        self.speaks |= !transcript.turns.is_empty();
        let mut record = Record::new(kind, &reference, self.format.name(), created_at);
        record.parent = self.parent.clone();
        record.provenance = Provenance { session_id: self.session.clone(), ..options.provenance.clone() };
        record.checkpoint = Some(trigger);
        record.message_count = Some(transcript.turns.len() as u64);
        record.token_count = Some(u64::from(transcript.count(options.counter)));
        if record.commit_type == CommitType::Compaction {
            let blocks = transcript.turns.iter().filter(|turn| turn.summary).flat_map(|turn| &turn.blocks);
            let texts = blocks.filter_map(Block::as_text);
            record.summary = Some(shortened(&texts.collect::<Vec<_>>().join("\n\n"))).filter(|text| !text.is_empty());
        }
        if let Some(from) = &self.side_chain_of {
            let from = from.as_deref().map_or(Value::Null, Value::from);
            record.other.push(("side_chain_of".to_owned(), from.to_string()));
        }
        let record = record.seal();
        let id = record.id.clone();
        self.parent = Some(id.clone());
        self.import.records.push(record);
        if self.known_blobs.insert(reference.clone()) {
            self.import.blobs.push((reference, blob));
        }
        self.import.tip = Some(id.clone());
        Ok(id)
    }
}

fn shortened(text: &str) -> String {
    let text = text.trim();
    if text.len() <= SUMMARY_BYTES {
        return text.to_owned();
    }
    format!("{} …", text.get(..Clusters::new(text).head_end(SUMMARY_BYTES)).unwrap_or_default())
}

/// Cuts the lines of a format without branches into deltas, which end after an answer.
#[derive(Default)]
struct DeltaSplitter {
    lines: Vec<u8>,
    answers: u32,
    answering: bool,
}

fn push_line(lines: &mut Vec<u8>, line: &[u8]) {
    lines.extend_from_slice(line);
    lines.push(b'\n');
}

impl DeltaSplitter {
    /// Called before a line that is not the assistant's.
    fn before_question(&mut self, builder: &mut Builder<'_>) -> Result<()> {
        if self.answering {
            self.answering = false;
            self.answers = self.answers.saturating_add(1);
            if self.answers >= builder.options.every {
                self.close(builder, Trigger::TurnBoundary)?;
            }
        }
        Ok(())
    }

    fn close(&mut self, builder: &mut Builder<'_>, trigger: Trigger) -> Result<()> {
        self.answers = 0;
        if !self.lines.is_empty() {
            builder.commit(CommitType::Delta, take(&mut self.lines), trigger)?;
        }
        Ok(())
    }

    /// A compaction: first what came before it, then the summary.
    fn compact(
        &mut self,
        builder: &mut Builder<'_>,
        header: Option<&[u8]>,
        line: &[u8],
        time: Option<&str>,
    ) -> Result<()> {
        self.answering = false;
        self.close(builder, Trigger::Compaction)?;
        builder.note_time(time);
        let mut blob = Vec::new();
        header.into_iter().chain([line]).for_each(|line| push_line(&mut blob, line));
        builder.commit(CommitType::Compaction, blob, Trigger::Compaction).map(drop)
    }
}

fn codex(builder: &mut Builder<'_>, bytes: &[u8], notes: &mut Notes) -> Result<()> {
    let mut splitter = DeltaSplitter::default();
    let mut header: Option<&[u8]> = None;
    let mut turns = Vec::new();
    for line in codex::lines(bytes, notes) {
        // Only for the findings: each blob is read again by itself.
        codex::apply(&mut turns, &line, false, notes);
        turns.clear();
        match &line.kind {
            LineKind::Session(session) => {
                header = header.or(Some(line.bytes));
                builder.session = builder.session.take().or_else(|| owned(session, "id"));
                builder.note_time(text(session, "timestamp"));
            }
            LineKind::Item(item) => {
                let kind = codex::item_kind(item);
                let is_prompt =
                    kind.ends_with("_output") || (kind == "message" && text(item, "role") != Some("assistant"));
                if is_prompt {
                    splitter.before_question(builder)?;
                } else if kind != "ghost_snapshot" {
                    splitter.answering = true;
                }
            }
            LineKind::Compacted(_) => {
                splitter.compact(builder, header, line.bytes, line.timestamp.as_deref())?;
                continue;
            }
            LineKind::RolledBack(_) | LineKind::Aside => {}
        }
        builder.note_time(line.timestamp.as_deref());
        push_line(&mut splitter.lines, line.bytes);
    }
    splitter.close(builder, Trigger::SessionEnd)
}

fn gemini(builder: &mut Builder<'_>, bytes: &[u8], notes: &mut Notes) -> Result<()> {
    let lines = gemini_lines(bytes)?;
    let mut splitter = DeltaSplitter::default();
    let mut header: Option<&[u8]> = None;
    let mut reader = Reader::new(&lines);
    for record in reader.by_ref() {
        let map = &record.value;
        let mut time = text(map, "timestamp").or_else(|| text(map, "startTime"));
        if map.contains_key("sessionId") && header.is_none() {
            header = Some(record.bytes);
            builder.session = builder.session.take().or_else(|| owned(map, "sessionId"));
        }
        if let Some(set) = object(map, "$set") {
            time = text(set, "lastUpdated");
            if !list(set, "messages").is_empty() {
                splitter.compact(builder, header, record.bytes, time)?;
                continue;
            }
        }
        match text(map, "type") {
            Some("user") => splitter.before_question(builder)?,
            Some("gemini" | "model") => splitter.answering = true,
            _ => {}
        }
        builder.note_time(time);
        push_line(&mut splitter.lines, record.bytes);
    }
    splitter.close(builder, Trigger::SessionEnd)?;
    read_whole(Format::GeminiV1, bytes, builder.options.limits, notes).map(drop)
}

fn generic(builder: &mut Builder<'_>, bytes: &[u8], notes: &mut Notes) -> Result<()> {
    let mut splitter = DeltaSplitter::default();
    let mut reader = Reader::new(bytes);
    for record in reader.by_ref() {
        match generic::turn(&record.value, notes).map(|turn| turn.role) {
            Some(Role::Assistant) => splitter.answering = true,
            Some(_) => splitter.before_question(builder)?,
            None => {}
        }
        builder.note_time(text(&record.value, "timestamp"));
        push_line(&mut splitter.lines, record.bytes);
    }
    splitter.close(builder, Trigger::SessionEnd)?;
    notes.extend(reader.finish());
    Ok(())
}

/// A conversation within a Claude Code file.
struct Branch {
    /// Its own entries, in order.
    entries: Vec<usize>,
    /// The entry of another branch that it leaves.
    fork: Option<usize>,
    side: bool,
}

fn claude(builder: &mut Builder<'_>, bytes: &[u8], notes: &mut Notes) -> Result<()> {
    let session = Session::read(bytes, notes);
    let Some(tip) = session.tip() else { return Ok(()) };
    // Only for the findings, those of branches and side chains too.
    session.turns(&(0..session.entries.len()).collect::<Vec<_>>(), false, notes);
    let entry = |index: usize| session.entries.get(index);
    let session_id = session.entries.iter().find_map(|entry| owned(&entry.map, "sessionId"));
    builder.session = builder.session.take().or(session_id);
    let branches = find_branches(&session, tip, notes);
    // A delta has to end where another branch leaves.
    let forks: SortedSet<usize> = branches.iter().filter_map(|branch| branch.fork).collect();
    let titles = titles(&session);
    let mut commits = EntryCommits::default();
    let (root, start) = (builder.parent.clone(), builder.time.clone());
    let mut main_tip = None;
    for (number, branch) in branches.iter().enumerate() {
        let from = branch.fork.and_then(|fork| commits.commit_of.get(&fork)).cloned();
        let started = branch.entries.first().and_then(|&first| commits.commit_of.before(&first));
        let started = started.map(|(_, commit)| commit.clone());
        let side = number > 0 && branch.side && from.is_none();
        builder.parent = if number == 0 || (from.is_none() && !side) { root.clone() } else { from.clone() };
        builder.side_chain_of = side.then(|| started.clone());
        builder.time = start.clone();
        // The last entry of each answer, which may be several records.
        let mut last_of: SortedMap<&str, usize> = SortedMap::new();
        for (place, entry) in branch.entries.iter().filter_map(|&index| entry(index)).enumerate() {
            if let Some(id) = entry.answer_id() {
                last_of.insert(id, place);
            }
        }
        let mut answers: u32 = 0;
        let mut compacting = false;
        for (place, &index) in branch.entries.iter().enumerate() {
            let Some(found) = entry(index) else { continue };
            let opens = found.is_boundary() || (found.is_summary() && !compacting);
            if opens {
                commits.close(builder, CommitType::Delta, Trigger::Compaction)?;
                compacting = true;
                answers = 0;
            }
            builder.note_time(text(&found.map, "timestamp"));
            push_line(&mut commits.lines, found.bytes);
            commits.pending.push(index);
            if compacting {
                // A boundary without its summary is closed by the next message.
                if found.speaks() {
                    let kind = if found.is_summary() { CommitType::Compaction } else { CommitType::Delta };
                    commits.close(builder, kind, Trigger::Compaction)?;
                    compacting = false;
                }
                continue;
            }
            let answered = found.answer_id().is_some_and(|id| last_of.get(id) == Some(&place));
            answers = answers.saturating_add(u32::from(answered));
            if answers >= builder.options.every || forks.contains(&index) {
                commits.close(builder, CommitType::Delta, Trigger::TurnBoundary)?;
                answers = 0;
            }
        }
        commits.close(builder, CommitType::Delta, Trigger::SessionEnd)?;
        let newest = branch.entries.last().and_then(|last| commits.commit_of.get(last)).cloned();
        if number == 0 {
            main_tip = newest;
        } else if let Some(tip) = newest {
            let from = from.or(started.filter(|_| side));
            builder.import.branches.push(ImportedBranch { tip, from, side_chain: branch.side });
        }
    }
    let mut title_of: SortedMap<&str, &str> = SortedMap::new();
    for (index, commit) in commits.commit_of.iter() {
        let uuid = entry(*index).and_then(|entry| text(&entry.map, "uuid"));
        if let Some(title) = uuid.and_then(|uuid| titles.get(uuid)) {
            title_of.insert(commit, title);
        }
    }
    for record in &mut builder.import.records {
        if let Some(title) = title_of.get(record.id.as_str()) {
            record.summary = Some((*title).to_owned());
        }
    }
    builder.import.tip = main_tip;
    Ok(())
}

/// Entries of a Claude Code file that will be one commit, and the commits of those before them.
#[derive(Default)]
struct EntryCommits {
    lines: Vec<u8>,
    pending: Vec<usize>,
    commit_of: SortedMap<usize, String>,
}

impl EntryCommits {
    fn close(&mut self, builder: &mut Builder<'_>, kind: CommitType, trigger: Trigger) -> Result<()> {
        if !self.lines.is_empty() {
            let id = builder.commit(kind, take(&mut self.lines), trigger)?;
            self.commit_of.extend(self.pending.drain(..).map(|index| (index, id.clone())));
        }
        Ok(())
    }
}

/// The conversation, then the branches and side chains, each with the entries that no earlier one has.
fn find_branches(session: &Session<'_>, tip: usize, notes: &mut Notes) -> Vec<Branch> {
    let count = session.entries.len();
    let mut owners = Owners(vec![None; count]);
    let mut branches = Vec::new();
    let path = session.path(tip, true, notes);
    path.iter().for_each(|&index| owners.set(index, 0));
    let leaves = other_leaves(session, &path);
    let main_is_side = session.entries.get(tip).is_some_and(|entry| entry.side);
    branches.push(Branch { entries: path, fork: None, side: main_is_side });
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); count];
    for (index, entry) in session.entries.iter().enumerate() {
        if let Some(children) = entry.parent.and_then(|parent| children.get_mut(parent)) {
            children.push(index);
        }
    }
    // The newest branches first, so that a branch of a branch leaves from the one that went on.
    for &leaf in leaves.iter().rev() {
        if owners.of(leaf).is_some() {
            continue;
        }
        let number = branches.len();
        let mut entries = Vec::new();
        let mut at = Some(leaf);
        while let Some(index) = at.filter(|&index| owners.of(index).is_none()) {
            owners.set(index, number);
            entries.push(index);
            at = session.entries.get(index).and_then(|entry| entry.parent);
        }
        // A circle ends in an entry of the branch itself, which is no fork.
        let fork = at.filter(|&fork| owners.of(fork) != Some(number));
        // Parallel records of one answer and their results are siblings: they are no branches of their own.
        let mut next = 0;
        while let Some(&index) = entries.get(next) {
            next = next.saturating_add(1);
            for &child in children.get(index).into_iter().flatten() {
                if session.belongs(index, child) && owners.of(child).is_none() {
                    owners.set(child, number);
                    entries.push(child);
                }
            }
        }
        sorting::sort(&mut entries);
        let side = session.entries.get(leaf).is_some_and(|entry| entry.side);
        branches.push(Branch { entries, fork, side });
    }
    // Branches come in the order of the file; each after the one that it leaves from.
    assign_remaining(session, &mut owners, &mut branches);
    if let Some((_, others)) = branches.split_first_mut() {
        sorting::sort_by_key(others, |branch| branch.fork.or_else(|| branch.entries.first().copied()));
    }
    forks_after_origins(branches)
}

/// The number of the branch that each entry belongs to.
struct Owners(Vec<Option<usize>>);

impl Owners {
    fn of(&self, entry: usize) -> Option<usize> {
        self.0.get(entry).copied().flatten()
    }

    fn set(&mut self, entry: usize, branch: usize) {
        if let Some(owner) = self.0.get_mut(entry) {
            *owner = Some(branch);
        }
    }
}

/// Adds the entries that no branch has to the branch of their parent, else to the conversation.
fn assign_remaining(session: &Session<'_>, owners: &mut Owners, branches: &mut [Branch]) {
    let mut added: Vec<bool> = vec![false; branches.len()];
    for (index, entry) in session.entries.iter().enumerate() {
        if owners.of(index).is_some() {
            continue;
        }
        let number = entry.parent.and_then(|parent| owners.of(parent)).unwrap_or(0);
        owners.set(index, number);
        if let Some(branch) = branches.get_mut(number) {
            branch.entries.push(index);
            mark(&mut added, number);
        }
    }
    for (branch, _) in branches.iter_mut().zip(added).filter(|(_, added)| *added) {
        sorting::sort(&mut branch.entries);
    }
}

/// The same branches, each after the one that it leaves from.
fn forks_after_origins(branches: Vec<Branch>) -> Vec<Branch> {
    let mut of_entry: SortedMap<usize, usize> = SortedMap::new();
    for (number, branch) in branches.iter().enumerate() {
        for &index in &branch.entries {
            of_entry.insert(index, number);
        }
    }
    let parents: Vec<Option<usize>> =
        branches.iter().map(|branch| branch.fork.and_then(|fork| of_entry.get(&fork).copied())).collect();
    let mut placed = vec![false; branches.len()];
    let mut order = Vec::with_capacity(branches.len());
    for number in 0..branches.len() {
        let mut waiting = Vec::new();
        let mut at = Some(number);
        while let Some(number) = at.filter(|&number| mark(&mut placed, number)) {
            waiting.push(number);
            at = parents.get(number).copied().flatten();
        }
        order.extend(waiting.into_iter().rev());
    }
    let mut branches: Vec<Option<Branch>> = branches.into_iter().map(Some).collect();
    order.into_iter().filter_map(|number| branches.get_mut(number).and_then(Option::take)).collect()
}
