//! The records of the earlier parts of a Claude Code file that later ones may refer to.

use std::collections::VecDeque;
use std::mem::take;

use crate::commits::formats::claude::ParentLookup;
use crate::commits::id::derive;
use crate::error::{Code, Error, Result};
use crate::json::{Document, JsonWriter, Value};
use crate::maps::SortedMap;
use crate::text::Clusters;

/// Commits whose last record is kept.
const COMMITS: usize = 32;

/// Records kept of each of the newest commits.
const RECORDS: usize = 16;

/// Titles kept until the records they refer to are read.
const TITLES: usize = 8;

/// Bytes kept of a title.
const TITLE_BYTES: usize = 300;

/// The fields that name single commits.
const NAMED: [&str; 4] = ["mainCompaction", "sideCompaction", "main", "side"];

const CONTEXT: &str = "ctxweave 2026-11-24 uuids of records, version 1";

/// The hash of a uuid.
pub(super) fn number(uuid: &str) -> u64 {
    u64::from_str_radix(derive(CONTEXT, [uuid]).get(..16).unwrap_or_default(), 16).unwrap_or_default()
}

/// Commits and their records.
#[derive(Clone, Debug, Default)]
pub(super) struct CommitIndex {
    /// The commits, by number.
    ids: Vec<String>,
    /// The newest commits, with the uuids of their newest records.
    recent: VecDeque<(usize, Vec<u64>)>,
    /// Whether other records were dropped.
    forgot: bool,
    /// The commit of the newest linked record of the conversation, and of the side chains.
    newest: [Option<usize>; 2],
    /// The commit of the newest compaction of the conversation, and of the side chains.
    compactions: [Option<usize>; 2],
    /// Whether the main agent has a message.
    pub main_spoke: bool,
    /// Titles of conversations whose newest record has not been read yet.
    titles: VecDeque<(u64, String)>,
    /// The commit of every record that this import knows; not stored.
    all: SortedMap<u64, usize>,
    /// The number of bytes consumed before, if it does not know all records.
    lacks: Option<u64>,
}

impl PartialEq for CommitIndex {
    fn eq(&self, other: &Self) -> bool {
        self.to_json() == other.to_json()
    }
}

impl Eq for CommitIndex {}

impl ParentLookup for CommitIndex {
    fn with_uuid(&self, uuid: &str) -> Result<Option<usize>> {
        match (self.all.get(&number(uuid)), self.lacks) {
            (Some(&commit), _) => Ok(Some(commit)),
            (None, None) => Ok(None),
            (None, Some(consumed)) => {
                Err(incomplete(consumed, &format!("a record continues `{uuid}`, which is too far back")))
            }
        }
    }

    fn newest(&self, side: bool) -> Option<usize> {
        let [main, side_chain] = self.newest;
        if side { side_chain } else { main }
    }

    fn compaction(&self, side: bool) -> Option<usize> {
        let [main, side_chain] = self.compactions;
        if side { side_chain } else { main }
    }
}

impl CommitIndex {
    /// Resumes from the stored state, when `consumed` bytes were consumed.
    pub(super) fn resumed(mut self, consumed: u64) -> Self {
        self.lacks = self.forgot.then_some(consumed);
        self
    }

    /// The part that a host stores.
    pub(super) fn kept(&self) -> Self {
        let json = self.to_json();
        Document::read(json.as_bytes(), &[]).and_then(|known| Self::read(known.root())).unwrap_or_default()
    }

    /// Whether one of the newest records has this uuid.
    pub(super) fn is_recent(&self, uuid: &str) -> bool {
        let number = number(uuid);
        self.recent.iter().any(|(_, uuids)| uuids.contains(&number))
    }

    pub(super) fn commit(&self, number: usize) -> Option<&str> {
        self.ids.get(number).map(String::as_str)
    }

    /// Records the title of the conversation that ends with a record.
    pub(super) fn add_title(&mut self, leaf: &str, title: &str) {
        let title = title.get(..Clusters::new(title).head_end(TITLE_BYTES)).unwrap_or(title);
        self.titles.push_back((number(leaf), title.to_owned()));
    }

    /// Takes the titles of commits that are known now.
    pub(super) fn take_titles(&mut self) -> Vec<(String, String)> {
        let mut found = Vec::new();
        for (leaf, title) in take(&mut self.titles) {
            match self.all.get(&leaf).and_then(|&commit| self.commit(commit)) {
                Some(id) => found.push((id.to_owned(), title)),
                None => self.titles.push_back((leaf, title)),
            }
        }
        let over = self.titles.len().saturating_sub(TITLES);
        self.titles.drain(..over);
        found
    }

    pub(super) fn add_commit(&mut self, id: &str) -> usize {
        self.ids.push(id.to_owned());
        self.ids.len().saturating_sub(1)
    }

    /// Records that a commit is a compaction.
    pub(super) fn add_compaction(&mut self, commit: usize, side: bool) {
        let [main, side_chain] = &mut self.compactions;
        *(if side { side_chain } else { main }) = Some(commit);
    }

    /// Adds the records of a part, with their commits, in the order of the file.
    pub(super) fn add<'e>(&mut self, records: impl Iterator<Item = (usize, Option<&'e str>, bool)>) {
        for (_, uuids) in &mut self.recent {
            self.forgot |= shorten(uuids, 1);
        }
        for (commit, uuid, side) in records {
            let [main, side_chain] = &mut self.newest;
            *(if side { side_chain } else { main }) = Some(commit);
            let place = self.recent.iter().rposition(|(known, _)| *known == commit);
            let place = place.unwrap_or_else(|| {
                self.recent.push_back((commit, Vec::new()));
                self.recent.len().saturating_sub(1)
            });
            if let (Some(uuid), Some((_, uuids))) = (uuid, self.recent.get_mut(place)) {
                let number = number(uuid);
                self.all.insert(number, commit);
                uuids.push(number);
                self.forgot |= shorten(uuids, RECORDS);
            }
            while self.recent.len() > COMMITS {
                self.forgot = true;
                self.recent.pop_front();
            }
        }
    }

    fn to_json(&self) -> String {
        let mut json = JsonWriter::default();
        self.write_json(&mut json);
        json.finish_text()
    }

    /// Writes the index as JSON.
    pub(super) fn write_json(&self, json: &mut JsonWriter) {
        let id = |commit: usize| self.commit(commit).unwrap_or_default();
        json.object(|json| {
            json.list_field("recent", |json| {
                for (commit, uuids) in &self.recent {
                    let uuids: Vec<String> = uuids.iter().map(|uuid| format!("{uuid:016x}")).collect();
                    json.string(&*format!("{} {}", id(*commit), uuids.join(" ")));
                }
            });
            for (name, commit) in NAMED.into_iter().zip(self.compactions.into_iter().chain(self.newest)) {
                json.optional_text_field(name, commit.map(id));
            }
            if !self.titles.is_empty() {
                json.list_field("titles", |json| {
                    for (leaf, title) in &self.titles {
                        json.string(&*format!("{leaf:016x} {title}"));
                    }
                });
            }
            for (name, flag) in [("forgot", self.forgot), ("mainSpoke", self.main_spoke)] {
                if flag {
                    json.raw_field(name, "true");
                }
            }
        });
    }

    pub(super) fn read(value: Value<'_>) -> Result<Self> {
        let known_fields = [NAMED.as_slice(), &["recent", "titles", "forgot", "mainSpoke"]].concat();
        let fields = value.object("an object")?.only(&known_fields)?;
        let mut known = Self::default();
        let recent = fields.need("recent")?.strings()?;
        let mut named = NAMED.map(|_| None);
        for (id, name) in named.iter_mut().zip(NAMED) {
            *id = fields.string(name)?;
        }
        // Those that are not recent are older.
        for id in named.iter().flatten() {
            let is_recent = recent.iter().any(|line| line.split(' ').next() == Some(id));
            if !is_recent && !known.ids.contains(id) {
                known.ids.push(id.clone());
            }
        }
        for line in recent {
            let mut words = line.split(' ');
            let commit = known.add_commit(words.next().unwrap_or_default());
            let uuids: Vec<u64> = words.filter_map(|word| u64::from_str_radix(word, 16).ok()).collect();
            known.all.extend(uuids.iter().map(|&uuid| (uuid, commit)));
            known.recent.push_back((commit, uuids));
        }
        let [main_compaction, side_compaction, main, side] =
            named.map(|id| known.ids.iter().rposition(|known| Some(known) == id.as_ref()));
        (known.compactions, known.newest) = ([main_compaction, side_compaction], [main, side]);
        for line in fields.read("titles", Value::strings)?.unwrap_or_default() {
            if let Some((leaf, title)) = line.split_once(' ') {
                known.titles.push_back((u64::from_str_radix(leaf, 16).unwrap_or_default(), title.to_owned()));
            }
        }
        known.forgot = fields.bool("forgot")?.unwrap_or(false);
        known.main_spoke = fields.bool("mainSpoke")?.unwrap_or(false);
        Ok(known)
    }
}

/// Keeps only the last uuids; returns whether some were dropped.
fn shorten(uuids: &mut Vec<u64>, keep: usize) -> bool {
    let over = uuids.len().saturating_sub(keep);
    uuids.drain(..over);
    over > 0
}

/// The error for a record that is too far back.
pub(super) fn incomplete(consumed: u64, reason: &str) -> Error {
    let message = format!("{reason}; pass the whole file, with `wholeFile`");
    Error::new(Code::ResumeIncomplete, message).with("consumed", consumed).with("reason", reason)
}
