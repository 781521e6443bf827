//! Formats without branches: their lines are split into deltas, which end after an answer.

use super::builder::{Builder, Lines, place_in};
use super::commit_index::incomplete;
use super::resume::Header;
use crate::commits::formats::Format;
use crate::commits::formats::codex::{self, LineKind};
use crate::commits::formats::{document, entries, entry_shape, gemini, generic};
use crate::commits::record::{CommitType, Trigger};
use crate::commits::transcript::{ConversionReport, Role, list, object, owned, text};
use crate::error::{Diagnostic, Result};
use crate::jsonl::{Reader, Record};
use crate::maps::SortedMap;
use serde_json::{Map, Value};

/// The lines of the current delta.
struct Deltas<'b, 'o> {
    /// The unread bytes, and their offset in the given bytes.
    unread: &'b [u8],
    begins: usize,
    lines: Lines<'b>,
    answers: u32,
    answering: bool,
    header: Header<&'o [u8]>,
}

impl<'b: 'o, 'o> Deltas<'b, 'o> {
    fn new(builder: &Builder<'b, 'o>, unread: &'b [u8]) -> Self {
        let resume = builder.options.resume.filter(|_| !builder.is_whole());
        Self {
            unread,
            begins: builder.committed.at,
            lines: builder.lines(),
            answers: 0,
            answering: false,
            header: resume.map_or(Header::None, |resume| resume.state.header.borrowed()),
        }
    }

    /// The offset of a record in the given bytes.
    fn place(&self, record: &[u8]) -> usize {
        self.begins.saturating_add(place_in(self.unread, record))
    }

    /// Called before a line that is not the assistant's. `line` is its number.
    fn before_question(&mut self, builder: &mut Builder<'b, 'o>, bytes: &[u8], line: u32) -> Result<()> {
        if self.answering {
            self.answering = false;
            self.answers = self.answers.saturating_add(1);
            if self.answers >= builder.options.every {
                self.close(builder)?;
                builder.commit_prefix(self.place(bytes), line.saturating_sub(1), self.header, None)?;
            }
        }
        Ok(())
    }

    /// Makes a commit of the lines so far. Later lines never change it, so that the extended session can be imported
    /// again.
    fn close(&mut self, builder: &mut Builder<'b, 'o>) -> Result<()> {
        self.answers = 0;
        if !self.lines.is_empty() {
            builder.commit(CommitType::Delta, &mut self.lines, Trigger::TurnBoundary)?;
        }
        Ok(())
    }

    /// Handles a compaction: commits the lines before it, then the summary, after the lines that it keeps.
    fn compact(
        &mut self,
        builder: &mut Builder<'b, 'o>,
        kept: &[&[u8]],
        (bytes, line): (&[u8], u32),
        time: Option<&str>,
    ) -> Result<()> {
        self.answering = false;
        self.close(builder)?;
        builder.note_time(time);
        match self.header {
            Header::None => {}
            Header::Line(header) => self.lines.push(header),
            Header::NotKept => {
                let consumed = builder.options.resume.map_or(0, |resume| resume.consumed);
                return Err(incomplete(
                    consumed,
                    "a compaction repeats the header of the file, which is too long to be stored",
                ));
            }
        }
        kept.iter().for_each(|line| self.lines.push(line));
        self.lines.push(bytes);
        builder.commit(CommitType::Compaction, &mut self.lines, Trigger::Compaction)?;
        let end = place_in(self.unread, bytes).saturating_add(bytes.len());
        // An earlier import may have ended with this line, before it had its newline.
        let is_over = self.unread.get(end) == Some(&b'\n') && !builder.stopped_at(self.begins.saturating_add(end));
        let at = self.begins.saturating_add(end).saturating_add(usize::from(is_over));
        let line = if is_over { line } else { line.saturating_sub(1) };
        builder.commit_prefix(at, line, self.header, None).map(drop)
    }

    /// Handles the end of the given bytes.
    fn end(mut self, builder: &mut Builder<'b, 'o>) -> Result<()> {
        builder.stop(None)?;
        if builder.options.growing { Ok(()) } else { self.close(builder) }
    }
}

/// Imports a rollout of Codex; returns the findings about its lines.
pub(super) fn codex<'b: 'o, 'o>(builder: &mut Builder<'b, 'o>, unread: &'b [u8]) -> Result<Vec<Diagnostic>> {
    let mut deltas = Deltas::new(builder, unread);
    let mut turns = Vec::new();
    let mut is_base_reported = false;
    let mut reader = Reader::after_lines(unread, builder.committed.line, builder.format.is_record());
    for record in reader.by_ref() {
        let number = record.line;
        let mut found = ConversionReport::default();
        let line = codex::line(record, &mut found);
        // Only for the findings: each blob is read again separately.
        codex::apply(&mut turns, &line, false, &mut found);
        turns.clear();
        match &line.kind {
            LineKind::Session(session) => {
                if deltas.header == Header::None {
                    deltas.header = Header::Line(line.bytes);
                }
                if let Some(missing) = codex::missing_base(session, Some(number)).filter(|_| !is_base_reported) {
                    is_base_reported = true;
                    builder.later.push(missing);
                }
                builder.session = builder.session.take().or_else(|| owned(session, "id"));
                builder.note_time(text(session, "timestamp"));
            }
            LineKind::Item(item) => {
                let kind = codex::item_kind(item);
                if codex::is_prompt(item) {
                    deltas.before_question(builder, line.bytes, number)?;
                } else if kind != "ghost_snapshot" {
                    deltas.answering = true;
                }
            }
            LineKind::Compacted(_) => {
                builder.later.absorb(found);
                deltas.compact(builder, &[], (line.bytes, number), line.timestamp.as_deref())?;
                continue;
            }
            LineKind::RolledBack(_) | LineKind::Aside => {}
        }
        builder.later.absorb(found);
        builder.note_time(line.timestamp.as_deref());
        deltas.lines.push(line.bytes);
    }
    deltas.end(builder)?;
    Ok(reader.finish())
}

/// Imports the lines of a session of Gemini CLI; returns the findings about them.
pub(super) fn gemini<'b: 'o, 'o>(builder: &mut Builder<'b, 'o>, unread: &'b [u8]) -> Result<Vec<Diagnostic>> {
    let mut deltas = Deltas::new(builder, unread);
    let mut noted = gemini::LineNotes::new(builder.is_whole());
    // Every earlier commit has messages.
    let mut has_messages = !builder.is_whole();
    let mut reader = Reader::after_lines(unread, builder.committed.line, builder.format.is_record());
    for Record { line, bytes, value: map } in reader.by_ref() {
        let mut time = text(&map, "timestamp").or_else(|| text(&map, "startTime"));
        if map.contains_key("sessionId") && deltas.header == Header::None {
            deltas.header = Header::Line(bytes);
            builder.session = builder.session.take().or_else(|| owned(&map, "sessionId"));
        }
        if let Some(set) = object(&map, "$set") {
            time = text(set, "lastUpdated");
            let messages = list(set, "messages");
            if !messages.is_empty() && has_messages {
                noted.add(&map, &mut builder.later);
                deltas.compact(builder, &[], (bytes, line), time)?;
                continue;
            }
            // The first messages replace nothing: Gemini CLI writes its session context in this way.
            has_messages |= !messages.is_empty();
            deltas.answering |= messages.iter().any(|message| is_gemini(message.get("type").and_then(Value::as_str)));
        }
        match text(&map, "type") {
            Some("user") => deltas.before_question(builder, bytes, line)?,
            kind => deltas.answering |= is_gemini(kind),
        }
        has_messages |= map.contains_key("type");
        noted.add(&map, &mut builder.later);
        builder.note_time(time);
        deltas.lines.push(bytes);
    }
    deltas.end(builder)?;
    Ok(reader.finish())
}

/// Whether a message of this type is the model's.
fn is_gemini(kind: Option<&str>) -> bool {
    matches!(kind, Some("gemini" | "model"))
}

/// Imports lines of `{ role, content }`; returns the findings about them.
pub(super) fn generic<'b: 'o, 'o>(builder: &mut Builder<'b, 'o>, unread: &'b [u8]) -> Result<Vec<Diagnostic>> {
    let mut deltas = Deltas::new(builder, unread);
    let mut reader = Reader::after_lines(unread, builder.committed.line, builder.format.is_record());
    for record in reader.by_ref() {
        let mut found = ConversionReport::default();
        match generic::turn(&record.value, &mut found).map(|turn| turn.role) {
            Some(Role::Assistant) => deltas.answering = true,
            Some(_) => deltas.before_question(builder, record.bytes, record.line)?,
            None => {}
        }
        builder.later.absorb(found);
        builder.note_time(text(&record.value, "timestamp"));
        deltas.lines.push(record.bytes);
    }
    deltas.end(builder)?;
    Ok(reader.finish())
}

/// The entries read so far.
#[derive(Default)]
struct Entries<'b> {
    /// By id: the id of each parent, and the line.
    by_id: SortedMap<String, (Option<String>, &'b [u8])>,
    /// The ids and lines of OpenCode's messages, in order.
    list: Vec<(String, &'b [u8])>,
    /// The requests for compactions of OpenCode: the first message that each keeps.
    requests: SortedMap<String, String>,
}

impl<'b> Entries<'b> {
    fn add(&mut self, format: Format, entry: &Map<String, Value>, bytes: &'b [u8]) {
        if let Some((id, parent)) = entry_shape::links(format, entry) {
            self.by_id.or_insert(id.to_owned(), (parent.map(str::to_owned), bytes));
        }
        if format != Format::OpencodeExport {
            return;
        }
        self.list.extend(entry_shape::entry_id(format, entry).map(|id| (id, bytes)));
        if let Some((id, first)) = entry_shape::compaction_request(format, entry) {
            self.requests.insert(id.to_owned(), first.to_owned());
        }
    }

    /// The messages of OpenCode that a summary keeps.
    fn kept_by(&self, request: &str) -> Vec<&'b [u8]> {
        let first = self.requests.get(request).and_then(|first| self.list.iter().position(|(id, _)| id == first));
        let kept = first.and_then(|first| self.list.get(first..)).unwrap_or_default();
        kept.iter().map(|(_, line)| *line).collect()
    }
}

/// Imports the entries of a session; returns the findings about their lines.
pub(super) fn entries<'b: 'o, 'o>(builder: &mut Builder<'b, 'o>, unread: &'b [u8]) -> Result<Vec<Diagnostic>> {
    let format = builder.format;
    let mut deltas = Deltas::new(builder, unread);
    let mut known = Entries::default();
    if format.is_document() {
        // The whole session is given each time.
        let earlier = Reader::recovering(builder.earlier(), format.is_record());
        earlier.for_each(|record| known.add(format, &record.value, record.bytes));
    }
    // Whether the last answer was followed by the results of its calls.
    let mut is_answered = false;
    let mut reader = Reader::after_lines(unread, builder.committed.line, format.is_record());
    for Record { line, bytes, value: map } in reader.by_ref() {
        if let Some(fields) = object(&map, document::FIELDS).filter(|_| format.is_document()) {
            let info = object(fields, "info");
            let named = owned(fields, "sessionId").or_else(|| owned(fields, "session_id"));
            let session = named.or_else(|| info.and_then(|info| owned(info, "id")));
            builder.session = builder.session.take().or(session);
            if deltas.header == Header::None && line == 1 {
                deltas.header = Header::Line(bytes);
            }
            deltas.lines.push(bytes);
            continue;
        }
        let mut found = ConversionReport::default();
        let content = entries::content(format, &map, &mut found);
        builder.later.absorb(found);
        builder.session = builder.session.take().or_else(|| entry_shape::session_id(format, &map));
        if entry_shape::is_header(format, &map) && deltas.header == Header::None {
            deltas.header = Header::Line(bytes);
        }
        let time = entry_shape::time(format, &map);
        if content.compacts() {
            let kept = kept_lines(builder, &map, &known)?;
            deltas.compact(builder, &kept, (bytes, line), time.as_deref())?;
        } else {
            match content.turns.first().map(|turn| turn.role) {
                Some(Role::Assistant) => {
                    if is_answered {
                        deltas.before_question(builder, bytes, line)?;
                    }
                    deltas.answering = true;
                }
                Some(Role::System) | None => {}
                Some(_) => deltas.before_question(builder, bytes, line)?,
            }
            builder.note_time(time.as_deref());
            deltas.lines.push(bytes);
        }
        is_answered = content.turns.len() > 1;
        known.add(format, &map, bytes);
    }
    deltas.end(builder)?;
    Ok(reader.finish())
}

/// The lines before a compaction that it keeps, oldest first.
fn kept_lines<'b>(
    builder: &Builder<'_, '_>,
    compaction: &Map<String, Value>,
    known: &Entries<'b>,
) -> Result<Vec<&'b [u8]>> {
    if let Some(request) = entry_shape::answered_request(builder.format, compaction) {
        return Ok(known.kept_by(request));
    }
    let links = entry_shape::links(builder.format, compaction);
    let (Some(first), Some((_, Some(parent)))) = (entry_shape::first_kept(builder.format, compaction), links) else {
        return Ok(Vec::new());
    };
    let mut kept = Vec::new();
    let mut at = Some(parent);
    while let Some(id) = at.filter(|_| kept.len() <= known.by_id.len()) {
        let Some((parent, line)) = known.by_id.get(id) else { break };
        kept.push(*line);
        if id == first {
            kept.reverse();
            return Ok(kept);
        }
        at = parent.as_deref();
    }
    let consumed = builder.options.resume.filter(|_| !builder.is_whole()).map(|resume| resume.consumed);
    match consumed {
        Some(consumed) => Err(incomplete(consumed, &format!("a compaction keeps `{first}`, which is further back"))),
        None => Ok(Vec::new()),
    }
}
