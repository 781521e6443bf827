//! Claude Code's files: a graph of records, split into parts that later records never change.
//!
//! A part ends when the conversation's answer is complete: before the next question or the next answer. It is committed
//! as a whole: the conversation, and its branches and side chains. A branch that leaves an earlier part begins at the
//! commit with the record that it continues.

use super::branches::{Branch, find_branches, imported};
use super::builder::{Builder, Lines, place_in};
use super::commit_index::{CommitIndex, incomplete, number};
use super::options::Title;
use super::resume::Header;
use crate::commits::formats::claude::{Entry, ParentLookup, Session, is_record, report_lost, report_missing, title};
use crate::commits::record::{CommitType, Trigger};
use crate::commits::transcript::{ConversionReport, owned, text};
use crate::error::{Diagnostic, Result};
use crate::jsonl::Reader;
use crate::maps::{SortedMap, SortedSet};

/// Tracks the answers in consecutive records.
#[derive(Default)]
struct Answers {
    /// The number of complete answers.
    count: u32,
    /// The id of the current answer.
    current: Option<String>,
    /// Its calls without a result.
    open: SortedSet<String>,
}

impl Answers {
    /// Whether `every` answers are complete before a record.
    fn ends_turn(&mut self, entry: &Entry<'_>, every: u32) -> bool {
        let Some(current) = &self.current else { return false };
        let is_over = match entry.answer_id() {
            Some(id) => id != current,
            None => entry.is_message() && entry.answers().is_empty() && self.open.is_empty(),
        };
        if is_over {
            self.count = self.count.saturating_add(1);
            self.current = None;
        }
        is_over && self.count >= every
    }

    fn add(&mut self, entry: &Entry<'_>) {
        if let Some(id) = entry.answer_id() {
            if self.current.as_deref() != Some(id) {
                self.open = SortedSet::new();
                self.current = Some(id.to_owned());
            }
            self.open.extend(entry.client_calls().map(str::to_owned));
        }
        for id in entry.answers() {
            self.open.remove(id);
        }
    }
}

/// The current part.
#[derive(Default)]
struct Part<'b> {
    session: Session<'b>,
    answers: Answers,
    /// Whether the conversation has a message.
    spoke: bool,
    /// Whether the summary of a compaction is expected.
    compacting: bool,
    /// The uuids of the messages that the newest compaction preserves: after its summary they belong to its commit.
    preserved: SortedSet<String>,
}

impl<'b> Part<'b> {
    /// Whether the part ends before a record.
    fn ends_before(&mut self, entry: &Entry<'_>, is_main: bool, every: u32) -> bool {
        let compacts = entry.is_boundary() || (entry.is_summary() && !self.compacting);
        is_main && self.spoke && !self.preserves(entry) && (compacts || self.answers.ends_turn(entry, every))
    }

    fn preserves(&self, entry: &Entry<'_>) -> bool {
        entry.uuid().is_some_and(|uuid| self.preserved.contains(uuid))
    }

    fn push(&mut self, entry: Entry<'b>, is_main: bool, notes: &mut ConversionReport) {
        if is_main && entry.is_boundary() {
            self.preserved = SortedSet::new();
            self.preserved.extend(entry.preserved().map(str::to_owned));
        }
        if is_main && !self.preserves(&entry) {
            self.answers.add(&entry);
            self.spoke |= entry.is_message();
            self.compacting = (self.compacting || entry.is_boundary()) && !entry.is_message();
        }
        self.session.push(entry, notes);
    }
}

/// Imports a file, or its new part; returns the findings about its lines.
pub(super) fn import<'b: 'o, 'o>(builder: &mut Builder<'b, 'o>, unread: &'b [u8]) -> Result<Vec<Diagnostic>> {
    let resume = builder.options.resume.filter(|_| !builder.is_whole());
    let known = resume.and_then(|resume| Some(resume.state.known.clone()?.resumed(resume.consumed)));
    let root = builder.options.parent.map(str::to_owned);
    let before = builder.import.tip.clone();
    let mut file = File {
        known: known.unwrap_or_default(),
        root,
        titles: Vec::new(),
        missing: 0,
        lost: 0,
        lines: SortedMap::new(),
        begins_after: resume.map(|resume| resume.consumed),
    };
    let begins = builder.committed.at;
    let every = builder.options.every;
    let mut part = Part::default();
    let mut reader = Reader::after_lines(unread, builder.committed.line, is_record);
    for record in reader.by_ref() {
        let (at, line) = (place_in(unread, record.bytes), record.line);
        let entry = part.session.entry(record, &|uuid| file.known.is_recent(uuid));
        let main_spoke = file.known.main_spoke || (entry.is_message() && !entry.side);
        let is_main = !entry.side || !main_spoke;
        if part.ends_before(&entry, is_main, every) {
            file.commit(builder, part)?;
            part = Part::default();
            let at = begins.saturating_add(at);
            if builder.commit_prefix(at, line.saturating_sub(1), Header::None, Some(&file.known))? {
                file.titles.clear();
            }
        }
        file.known.main_spoke = main_spoke;
        part.push(entry, is_main, &mut builder.later);
    }
    builder.stop(Some(&file.known))?;
    if !builder.options.growing {
        file.commit(builder, part)?;
    }
    report_missing(file.missing, &mut builder.later);
    report_lost(file.lost, &mut builder.later);
    file.give_titles(builder);
    builder.import.branches = imported(&builder.import, &builder.sides, before.as_deref());
    Ok(reader.finish())
}

/// The state of the file so far.
struct File<'b> {
    known: CommitIndex,
    /// The bytes of each linked record, by the hash of its uuid: a compaction repeats the messages that it preserves.
    lines: SortedMap<u64, &'b [u8]>,
    /// The number of bytes of the file before those read, if any.
    begins_after: Option<u64>,
    /// The commit that the conversation continues.
    root: Option<String>,
    /// Titles of commits.
    titles: Vec<(String, String)>,
    missing: u32,
    /// The number of preserved messages that are not in the file.
    lost: u32,
}

impl<'b> File<'b> {
    /// The bytes of a record before a compaction; `None` if it is not in the file.
    fn line(&self, uuid: &str) -> Result<Option<&'b [u8]>> {
        match (self.lines.get(&number(uuid)), self.begins_after) {
            (None, Some(consumed)) => {
                Err(incomplete(consumed, &format!("a compaction preserves `{uuid}`, which is further back")))
            }
            (line, _) => Ok(line.copied()),
        }
    }

    /// Makes the commits of a part.
    fn commit<'o>(&mut self, builder: &mut Builder<'b, 'o>, part: Part<'b>) -> Result<()>
    where
        'b: 'o,
    {
        let mut session = part.session;
        let missing = session.find_parents(&self.known)?;
        self.missing = self.missing.saturating_add(missing);
        for (leaf, title) in session.entries.iter().filter_map(title) {
            self.known.add_title(leaf, title);
        }
        for entry in session.entries.iter().filter(|entry| entry.is_approval()) {
            if let Some(uuid) = entry.uuid() {
                self.lines.insert(number(uuid), entry.bytes);
            }
        }
        let before = builder.import.tip.clone();
        let all: Vec<usize> = (0..session.entries.len()).collect();
        let branches = match (session.tip(), &before) {
            (Some(tip), _) => find_branches(&session, tip, &mut builder.later),
            // Without a message it continues at the conversation's newest commit.
            (None, Some(_)) => {
                vec![Branch { entries: all.clone(), fork: None, earlier: self.known.newest(false), side: false }]
            }
            (None, None) => return Ok(()),
        };
        // Only for the findings, including those of branches and side chains.
        session.turns(&all, false, &mut builder.later);
        let session_id = session.entries.iter().find_map(|entry| owned(&entry.map, "sessionId"));
        builder.session = builder.session.take().or(session_id);
        // A delta has to end where another branch begins.
        let forks: SortedSet<usize> = branches.iter().filter_map(|branch| branch.fork).collect();
        let mut commits = EntryCommits::new(builder.lines());
        let start = builder.time.clone();
        let (mut tip, mut newest_time) = (before.clone(), start.clone());
        for (number, branch) in branches.iter().enumerate() {
            let earlier = branch.earlier.and_then(|commit| self.known.commit(commit));
            let from = branch.fork.and_then(|fork| commits.commit_of.get(&fork)).map(String::as_str).or(earlier);
            let from = from.map(str::to_owned);
            let started = branch.entries.first().and_then(|&first| commits.commit_of.before(&first));
            let started = started.map(|(_, commit)| commit.clone()).or_else(|| before.clone());
            let side = number > 0 && branch.side && from.is_none();
            builder.parent = if from.is_none() && !side { self.root.clone() } else { from };
            builder.side_chain_of = side.then_some(started);
            builder.time = start.clone();
            let first = builder.import.records.len();
            commits.branch(builder, &session, &branch.entries, &forks, &|uuid| self.line(uuid))?;
            builder.sides.truncate(first);
            builder.sides.resize(builder.import.records.len(), branch.side);
            if number == 0 {
                newest_time = builder.time.clone();
                tip = branch.entries.last().and_then(|last| commits.commit_of.get(last)).cloned().or(tip);
            }
        }
        (builder.import.tip, builder.time, builder.side_chain_of) = (tip, newest_time, None);
        let mut numbers: SortedMap<&str, usize> = SortedMap::new();
        let known = &mut self.known;
        for (_, commit) in commits.commit_of.iter() {
            if !numbers.contains_key(commit.as_str()) {
                numbers.insert(commit, known.add_commit(commit));
            }
        }
        for (index, commit) in commits.commit_of.iter() {
            let boundary = session.entries.get(*index).filter(|entry| entry.is_boundary());
            if let (Some(boundary), Some(&number)) = (boundary, numbers.get(commit.as_str())) {
                known.add_compaction(number, boundary.side);
            }
        }
        let linked = commits.commit_of.iter().filter_map(|(index, commit)| {
            let entry = session.entries.get(*index).filter(|entry| entry.is_approval())?;
            Some((*index, *numbers.get(commit.as_str())?, entry))
        });
        // A record whose parent is a preserved message continues after the compaction.
        let with_preserved = linked.flat_map(|(index, commit, entry)| {
            let preserved = commits.preserved.get(&index).into_iter().flatten();
            let preserved = preserved.map(move |uuid| (commit, Some(uuid.as_str()), entry.side));
            std::iter::once((commit, entry.uuid(), entry.side)).chain(preserved)
        });
        known.add(with_preserved);
        self.lost = self.lost.saturating_add(commits.lost);
        self.titles.extend(known.take_titles());
        Ok(())
    }

    /// Sets the titles of commits.
    fn give_titles(self, builder: &mut Builder<'_, '_>) {
        let import = &mut builder.import;
        for (id, summary) in self.titles {
            match import.records.iter_mut().rfind(|record| record.id == id) {
                Some(record) => record.summary = Some(summary),
                None => import.titles.push(Title { id, summary }),
            }
        }
    }
}

/// Entries that will be one commit, and the commits of earlier ones.
struct EntryCommits<'b> {
    lines: Lines<'b>,
    pending: Vec<usize>,
    commit_of: SortedMap<usize, String>,
    /// The uuids of the messages that the commit of a summary repeats, by the index of the summary.
    preserved: SortedMap<usize, Vec<String>>,
    /// The number of these that are not in the file.
    lost: u32,
}

/// Returns the bytes of a record by its uuid.
type LineOf<'l, 'b> = &'l dyn Fn(&str) -> Result<Option<&'b [u8]>>;

impl<'b> EntryCommits<'b> {
    fn new(lines: Lines<'b>) -> Self {
        Self { lines, pending: Vec::new(), commit_of: SortedMap::new(), preserved: SortedMap::new(), lost: 0 }
    }

    /// Makes the commits of a branch. Later lines never change them, so that the extended session can be imported
    /// again.
    fn branch<'o>(
        &mut self,
        builder: &mut Builder<'b, 'o>,
        session: &Session<'b>,
        entries: &[usize],
        forks: &SortedSet<usize>,
        line_of: LineOf<'_, 'b>,
    ) -> Result<()>
    where
        'b: 'o,
    {
        let mut answers = Answers::default();
        let mut compacting = false;
        let mut preserved: Vec<&str> = Vec::new();
        for &index in entries {
            // Preserved messages after the summary of a compaction are in its commit.
            let is_new = self.commit_of.get(&index).is_none();
            let Some(found) = session.entries.get(index).filter(|_| is_new) else { continue };
            if found.is_boundary() || (found.is_summary() && !compacting) {
                self.close(builder, CommitType::Delta, Trigger::TurnBoundary)?;
                compacting = true;
                answers = Answers::default();
                preserved = found.preserved().collect();
            } else if answers.ends_turn(found, builder.options.every) {
                self.close(builder, CommitType::Delta, Trigger::TurnBoundary)?;
                answers = Answers::default();
            }
            builder.note_time(text(&found.map, "timestamp"));
            self.lines.push(found.bytes);
            self.pending.push(index);
            if compacting {
                // A boundary without a summary ends at the next message.
                if found.is_message() {
                    let kind = if found.is_summary() { CommitType::Compaction } else { CommitType::Delta };
                    if found.is_summary() {
                        self.preserve(session, index, &preserved, line_of)?;
                    }
                    self.close(builder, kind, Trigger::Compaction)?;
                    compacting = false;
                }
                continue;
            }
            answers.add(found);
            if forks.contains(&index) {
                self.close(builder, CommitType::Delta, Trigger::TurnBoundary)?;
                answers = Answers::default();
            }
        }
        self.close(builder, CommitType::Delta, Trigger::TurnBoundary)
    }

    /// Adds the messages that a compaction preserves to its commit, after the summary at `index`.
    fn preserve(
        &mut self,
        session: &Session<'b>,
        index: usize,
        preserved: &[&str],
        line_of: LineOf<'_, 'b>,
    ) -> Result<()> {
        let mut seen: SortedSet<&str> = SortedSet::new();
        for &uuid in preserved.iter().filter(|&&uuid| seen.insert(uuid)) {
            let after = session.place(uuid).filter(|&place| place > index);
            match (after.and_then(|place| Some((place, session.entries.get(place)?))), line_of(uuid)?) {
                (Some((place, entry)), _) => {
                    self.lines.push(entry.bytes);
                    self.pending.push(place);
                }
                (None, Some(line)) => self.lines.push(line),
                (None, None) => self.lost = self.lost.saturating_add(1),
            }
        }
        if !preserved.is_empty() {
            self.preserved.insert(index, preserved.iter().map(|&uuid| uuid.to_owned()).collect());
        }
        Ok(())
    }

    fn close<'o>(&mut self, builder: &mut Builder<'b, 'o>, kind: CommitType, trigger: Trigger) -> Result<()>
    where
        'b: 'o,
    {
        if !self.lines.is_empty() {
            let id = builder.commit(kind, &mut self.lines, trigger)?;
            self.commit_of.extend(self.pending.drain(..).map(|index| (index, id.clone())));
        }
        Ok(())
    }
}
