//! Makes commits from lines.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::mem::take;

use serde_json::Value;

use super::commit_index::CommitIndex;
use super::options::{Import, ImportOptions};
use super::resume::{CommittedPrefix, Header, Resume};
use crate::commits::artifact::artifact_ref;
use crate::commits::formats::{BlobSource, Format, ReadOptions, document};
use crate::commits::record::{CommitType, Provenance, Record, SIDE_CHAIN_OF, Trigger};
use crate::commits::transcript::ConversionReport;
use crate::content::Block;
use crate::error::{Code, Diagnostic, DiagnosticCode, Error, Result};
use crate::sorted_index::SortedIndex;
use crate::text::Clusters;
use crate::time::Timestamp;

/// Bytes of a compaction's summary in its record.
const SUMMARY_BYTES: usize = 1_000;

/// Lines that will be a blob: a range of the file if they are adjacent in it, else a copy.
#[derive(Debug)]
pub(super) struct Lines<'b> {
    file: &'b [u8],
    /// Start and end.
    range: (usize, usize),
    copied: Vec<u8>,
}

impl<'b> Lines<'b> {
    pub(super) const fn of(file: &'b [u8]) -> Self {
        Self { file, range: (0, 0), copied: Vec::new() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.range.0 == self.range.1 && self.copied.is_empty()
    }

    /// Adds a line of the file, with its newline.
    pub(super) fn push(&mut self, line: &[u8]) {
        let from = place_in(self.file, line);
        let to = from.saturating_add(line.len());
        let is_whole = self.file.get(to) == Some(&b'\n') && self.file.get(from..to) == Some(line);
        let (start, end) = self.range;
        if is_whole && self.copied.is_empty() && (start == end || end == from) {
            self.range = (if start == end { from } else { start }, to.saturating_add(1));
            return;
        }
        self.copied.extend_from_slice(self.file.get(start..end).unwrap_or_default());
        self.range = (0, 0);
        self.copied.extend_from_slice(line);
        self.copied.push(b'\n');
    }

    /// Takes the collected bytes and starts over.
    fn take(&mut self) -> Cow<'b, [u8]> {
        let (start, end) = take(&mut self.range);
        match take(&mut self.copied) {
            copied if copied.is_empty() => Cow::Borrowed(self.file.get(start..end).unwrap_or_default()),
            copied => Cow::Owned(copied),
        }
    }
}

/// The place of a part in the file; past its end for bytes that are not in it.
pub(super) fn place_in(file: &[u8], part: &[u8]) -> usize {
    part.as_ptr().addr().wrapping_sub(file.as_ptr().addr())
}

pub(super) struct Builder<'b, 'o> {
    pub format: Format,
    pub options: &'o ImportOptions<'o>,
    /// The given bytes, and the offset in the file at which they begin.
    file: &'b [u8],
    base: u64,
    pub session: Option<String>,
    /// The parent of the next commit.
    pub parent: Option<String>,
    /// The newest time of the lines so far.
    pub time: Option<String>,
    /// For records of a side chain: the commit that started it.
    pub side_chain_of: Option<Option<String>>,
    /// For a session that is one value: whether it is a list.
    pub document: Option<bool>,
    /// Whether the blobs hold any conversation.
    pub has_turns: bool,
    pub import: Import<'b>,
    /// The records in the order of their ids, and the blobs in that of their refs.
    ids: SortedIndex,
    refs: SortedIndex,
    /// For each record, whether it belongs to a side chain.
    pub sides: Vec<bool>,
    pub committed: CommittedPrefix<'o>,
    /// Findings before and after that.
    notes: ConversionReport,
    pub later: ConversionReport,
    /// The place where an earlier import stopped, until the whole file was read to that place.
    until: Option<&'o Resume>,
}

/// Adds to a list with a sorted index of names; false if the name exists. `read` is the number of bytes read for the
/// list so far, and of all bytes.
fn add<T>(list: &mut Vec<T>, order: &mut SortedIndex, item: T, name: fn(&T) -> &str, read: (usize, usize)) -> bool {
    let place = order.find(&mut |number| list.get(number).map_or(Ordering::Less, |known| name(known).cmp(name(&item))));
    if place.found.is_some() {
        return false;
    }
    order.insert(place, list.len());
    if list.len() == list.capacity() {
        list.reserve_exact(expected_records(list.len(), read));
    }
    list.push(item);
    true
}

/// The capacity to reserve: as many records as the rest of the file is expected to have. A long list that is extended
/// repeatedly leaves a hole in memory each time, which the next one does not fit into.
fn expected_records(len: usize, (read, all): (usize, usize)) -> usize {
    let rest = (len as u64).wrapping_mul(all.saturating_sub(read) as u64) / (read as u64).max(1);
    // The beginning of a file may differ from the rest.
    let rest = usize::try_from(rest).unwrap_or(usize::MAX).min(len.saturating_mul(3));
    rest.saturating_add(len / 8 + 16)
}

impl<'b, 'o> Builder<'b, 'o> {
    /// Begins an import, or resumes an earlier one. Also returns the bytes to read.
    pub(super) fn new(format: Format, file: &'b [u8], options: &'o ImportOptions<'o>) -> Result<(Self, &'b [u8])> {
        let mut builder = Self {
            format,
            options,
            file,
            base: 0,
            session: options.provenance.session_id.clone(),
            parent: options.parent.map(str::to_owned),
            time: None,
            side_chain_of: None,
            document: None,
            has_turns: false,
            import: Import::default(),
            ids: SortedIndex::new(),
            refs: SortedIndex::new(),
            sides: Vec::new(),
            committed: CommittedPrefix::default(),
            notes: ConversionReport::default(),
            later: ConversionReport::default(),
            until: None,
        };
        if let Some(resume) = options.resume {
            resume.check(format, file, &options.key(), options.whole_file)?;
            if options.whole_file {
                builder.until = Some(resume).filter(|resume| resume.consumed > 0);
            } else {
                builder.go_on(resume);
            }
        }
        builder.committed.session.clone_from(&builder.session);
        let end = if options.growing {
            file.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1)
        } else {
            file.len()
        };
        let unread = file.get(builder.committed.at..end.max(builder.committed.at)).unwrap_or_default();
        Ok((builder, unread))
    }

    fn go_on(&mut self, resume: &'o Resume) {
        let state = &resume.state;
        self.base = resume.offset;
        self.session.clone_from(&state.session);
        self.parent = state.tip.clone().or_else(|| self.parent.take());
        self.time.clone_from(&state.time);
        self.import.tip.clone_from(&state.tip);
        self.committed = CommittedPrefix {
            at: resume.overlap(),
            line: state.line,
            session: state.session.clone(),
            time: state.time.clone(),
            tip: state.tip.clone(),
            header: state.header.borrowed(),
        };
    }

    /// Whether the bytes start at the beginning of the file.
    pub(super) const fn is_whole(&self) -> bool {
        self.base == 0 && self.committed.at == 0
    }

    pub(super) fn lines(&self) -> Lines<'b> {
        Lines::of(self.file)
    }

    /// The bytes before the unread ones, as far as they were given.
    pub(super) fn earlier(&self) -> &'b [u8] {
        self.file.get(..self.committed.at).unwrap_or_default()
    }

    pub(super) fn note_time(&mut self, time: Option<&str>) {
        if let Some(time) = time.filter(|time| Timestamp::parse(time).is_some()) {
            self.time = Some(time.to_owned());
        }
    }

    /// Declares that everything before byte `at`, `line` lines of the file, is in commits and final. Returns whether
    /// the new part begins here, if the whole file is read again.
    pub(super) fn commit_prefix(
        &mut self,
        at: usize,
        line: u32,
        header: Header<&'o [u8]>,
        known: Option<&CommitIndex>,
    ) -> Result<bool> {
        self.notes.absorb(take(&mut self.later));
        let (session, time, tip) = (self.session.clone(), self.time.clone(), self.import.tip.clone());
        self.committed = CommittedPrefix { at, line, session, time, tip, header };
        let Some(until) = self.until.filter(|until| until.consumed <= at as u64) else { return Ok(false) };
        if *until != self.resume(known) {
            return Err(until.mismatch("the file was rewritten"));
        }
        // The new part begins here.
        self.until = None;
        self.notes = ConversionReport::default();
        (self.ids, self.refs) = (SortedIndex::new(), SortedIndex::new());
        self.import.records.clear();
        self.import.blobs.clear();
        self.sides.clear();
        Ok(true)
    }

    /// Whether an earlier import of the file, which is read again, ended at this byte.
    pub(super) fn stopped_at(&self, at: usize) -> bool {
        self.until.is_some_and(|until| until.consumed == at as u64)
    }

    fn resume(&self, known: Option<&CommitIndex>) -> Resume {
        self.committed.resume(self.format, self.file, self.base, &self.options.key(), known)
    }

    /// Records where the next import continues. Called before the unfinished part becomes a commit.
    pub(super) fn stop(&mut self, known: Option<&CommitIndex>) -> Result<()> {
        if let Some(until) = self.until.take() {
            return Err(until.mismatch("the file was rewritten"));
        }
        self.import.resume = Some(self.resume(known));
        Ok(())
    }

    /// Makes the child of the last commit; returns its id.
    pub(super) fn commit(&mut self, kind: CommitType, lines: &mut Lines<'b>, trigger: Trigger) -> Result<String> {
        let mut blob = lines.take();
        if let Some(is_list) = self.document {
            blob = Cow::Owned(document::of_lines(self.format, &blob, is_list));
        }
        self.commit_blob(kind, blob, trigger)
    }

    pub(super) fn commit_blob(&mut self, kind: CommitType, blob: Cow<'b, [u8]>, trigger: Trigger) -> Result<String> {
        let options = self.options;
        let created_at = self.time.as_deref().or(options.created_at).ok_or_else(|| {
            let message = "the messages have no time; pass `createdAt`";
            Error::new(Code::InvalidInput, message).with("path", "createdAt")
        })?;
        let reference = artifact_ref(&blob);
        let source = BlobSource { commit: "", artifact_ref: &reference };
        let whole = kind != CommitType::Compaction;
        let read = ReadOptions { through_compactions: whole, source };
        let (transcript, _) = self.format.read(&blob, read, options.limits)?;
        self.has_turns |= !transcript.turns.is_empty();
        let format_name = options.format_name.unwrap_or(self.format.name());
        let mut record = Record::new(kind, &reference, format_name, created_at);
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
            record.other.push((SIDE_CHAIN_OF.to_owned(), from.to_string()));
        }
        let record = record.seal();
        let id = record.id.clone();
        self.parent = Some(id.clone());
        // A history that was written twice yields its commits once.
        let read = (self.committed.at, self.file.len());
        let Import { records, blobs, .. } = &mut self.import;
        add(blobs, &mut self.refs, (reference, blob), |(known, _)| known, read);
        if add(records, &mut self.ids, record, |known| &known.id, read) {
            self.sides.push(false);
        }
        self.import.tip = Some(id.clone());
        Ok(id)
    }

    /// The result. `diagnostics` are the findings of the reader about lines.
    pub(super) fn finish(mut self, mut diagnostics: Vec<Diagnostic>) -> Import<'b> {
        let (growing, line) = (self.options.growing, self.committed.line);
        if !growing {
            self.notes.absorb(take(&mut self.later));
        }
        // The finished part may end within a line: the next part does not see the damage before the record that
        // follows.
        let last = self.committed.at.checked_sub(1).and_then(|at| self.file.get(at));
        let begun_line = last.filter(|&&byte| byte != b'\n').map(|_| line.saturating_add(1));
        let is_committed = |finding: &Diagnostic| {
            let is_damage = matches!(finding.code, DiagnosticCode::MalformedLine | DiagnosticCode::GluedRecords);
            finding.line.is_some_and(|at| at <= line || (is_damage && Some(at) == begun_line))
        };
        diagnostics.retain(|finding| !growing || is_committed(finding));
        let mut notes = ConversionReport::default();
        notes.extend(diagnostics);
        notes.absorb(self.notes);
        if !self.has_turns && !growing && self.options.resume.is_none() {
            notes.no_messages(self.file);
        }
        self.import.diagnostics = notes.finish();
        self.import
    }
}

fn shortened(text: &str) -> String {
    let text = text.trim();
    if text.len() <= SUMMARY_BYTES {
        return text.to_owned();
    }
    format!("{} …", text.get(..Clusters::new(text).head_end(SUMMARY_BYTES)).unwrap_or_default())
}
