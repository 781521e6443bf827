//! Translates a chain of deltas in any formats into one conversation in one format (docs/sessions.md).
//!
//! Each delta is translated in its best tier, and the result names the lowest one used:
//!
//! 1. `native`: the format is the same; the bytes are joined.
//! 2. `fields`: another version of the same family; the fields are mapped.
//! 3. `transcode`, on request: another family; its turns are written as turns.
//! 4. `rendering`: another family; one user message narrates it.
//! 5. `raw`: a format without a reader; one message holds the artifact itself with a description.
//!
//! Consecutive deltas of one format are read together, so that a call and its result in the next delta are a pair.

use serde::Serialize;

use crate::commits::artifact::artifact_ref;
use crate::commits::formats::{
    BlobSource, Concatenator, Continuation, CustomFormat, Format, MARKDOWN, NamedFormat, ReadOptions, follow,
    map_fields, write_part,
};
use crate::commits::render;
use crate::commits::transcript::{ConversionReport, Role, Summary, Transcript, Turn};
use crate::content::Block;
use crate::error::{Diagnostic, DiagnosticCode, Error, Result, Severity};
use crate::limits::Limits;
use crate::maps::SortedSet;
use crate::text::is_blank;
use crate::tokens::{Counter, Heuristic};
use crate::tool_calls::ToolIds;

/// How a delta was translated, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Tier {
    /// Joined byte for byte.
    Native,
    /// Mapped field by field.
    Fields,
    /// Rewritten as turns of the target format.
    Transcode,
    /// Rendered as a narrative.
    Rendering,
    /// Returned unchanged, with a description.
    Raw,
}

/// How the turns of another family are translated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CrossFamily {
    /// A narrative: "here is what the previous session knew".
    #[default]
    Render,
    /// Real turns; content that the target cannot express yields a diagnostic.
    Transcode,
}

impl CrossFamily {
    pub(crate) const NAMES: &'static [(&'static str, Self)] =
        &[("render", Self::Render), ("transcode", Self::Transcode)];
}

/// One delta of a chain.
#[derive(Clone, Copy, Debug)]
pub struct Delta<'a> {
    /// The format of the blob.
    pub format: &'a str,
    /// Its bytes.
    pub blob: &'a [u8],
    /// The commit and the ref, for errors, diagnostics and descriptions.
    pub source: BlobSource<'a>,
    /// The commit's summary.
    pub summary: Option<&'a str>,
    /// The commit's time, for turns without one.
    pub time: Option<&'a str>,
}

/// The options of a translation.
#[derive(Clone, Copy, Debug)]
pub struct TranslateOptions<'a> {
    /// The translation of turns of another family.
    pub cross_family: CrossFamily,
    /// Whether compactions within the blobs are read through, as for a chain from its root.
    pub through_compactions: bool,
    /// Limits on the input.
    pub limits: &'a Limits,
    /// Counts the tokens of the result.
    pub counter: &'a dyn Counter,
    /// Formats that are not built in.
    pub formats: &'a [CustomFormat],
}

impl<'a> TranslateOptions<'a> {
    pub(crate) fn new(limits: &'a Limits) -> Self {
        Self {
            cross_family: CrossFamily::default(),
            through_compactions: false,
            limits,
            counter: &Heuristic,
            formats: &[],
        }
    }

    /// A known format.
    fn format(&self, name: &str) -> Option<NamedFormat<'a>> {
        NamedFormat::find(name, self.formats)
    }

    /// A known format that can be read.
    fn readable(&self, name: &str) -> Option<ReadableFormat<'a>> {
        let named = self.format(name)?;
        Some(ReadableFormat { named, reader: named.reader()? })
    }
}

/// A format with the reader that applies to it.
#[derive(Clone, Copy)]
struct ReadableFormat<'f> {
    named: NamedFormat<'f>,
    reader: Format,
}

impl ReadableFormat<'_> {
    const fn of(format: Format) -> Self {
        ReadableFormat { named: NamedFormat::BuiltIn(format), reader: format }
    }

    /// Whether another version of its family is this format.
    fn is_version_of(self, target: Format) -> bool {
        self.named.built_in().is_some_and(|from| from.family() == target.family())
    }
}

/// A conversation in the requested format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Materialized {
    /// The conversation. Empty if the caller appended the blobs.
    pub bytes: Vec<u8>,
    /// The ref of the conversation's bytes.
    pub artifact_ref: String,
    /// The format.
    pub format: String,
    /// The lowest tier used.
    pub tier: Tier,
    /// The number of commits whose blobs it consists of.
    pub commit_count: u64,
    /// The number of messages. If nothing was translated, those in the records, counted if a record has none.
    pub message_count: u64,
    /// Tokens of its texts, with the same exception.
    pub token_count: u64,
    /// Diagnostics: damage, unknown and inexpressible content.
    pub diagnostics: Vec<Diagnostic>,
}

/// Translates a chain, oldest first. For a target that cannot be written the result is Markdown: narratives and
/// artifacts, with the format `markdown`. A single delta in the target format is unchanged, known or not. A chain in
/// the target format yields the same bytes as a [`Concatenator`], which does not parse them and is faster.
///
/// # Errors
/// [`crate::Code::InvalidBlob`] and [`crate::Code::LimitExceeded`] for an unreadable blob; both name commit and ref.
pub fn translate(parts: &[Delta<'_>], target: &str, options: &TranslateOptions<'_>) -> Result<Materialized> {
    if let Some(joined) = join_native(parts, target, options)? {
        return Ok(joined);
    }
    let target_format = Format::from_name(target);
    let mut diagnostics = Vec::new();
    if target_format.is_none() {
        diagnostics.push(unknown_target(target));
    }
    let mut tier = Tier::Native;
    let mut out = Output::new(target_format, parts, options.limits);
    let mut rest = parts;
    while let Some(first) = rest.first() {
        let before = parts.get(..parts.len().saturating_sub(rest.len())).unwrap_or_default();
        let run = rest.iter().take_while(|part| part.format == first.format).count();
        let (run, after) = rest.split_at_checked(run).unwrap_or((rest, &[]));
        rest = after;
        let used = out.add((before, after), run, first, options, &mut diagnostics)?;
        tier = tier.max(used);
    }
    let bytes = out.finish(&mut diagnostics)?;
    let (message_count, token_count) = match target_format {
        Some(format) => {
            let (transcript, found) = read_back(format, &bytes, options)?;
            report_missing_bases(found, &mut diagnostics);
            if tier > Tier::Native {
                report_orphans(&transcript, &mut diagnostics);
            }
            counts(&transcript, options)
        }
        None => count_text(&bytes, options),
    };
    let format = if target_format.is_some() { target } else { MARKDOWN }.to_owned();
    let artifact_ref = artifact_ref(&bytes);
    let commit_count = parts.len() as u64;
    Ok(Materialized { bytes, artifact_ref, format, tier, commit_count, message_count, token_count, diagnostics })
}

/// Deltas that all have a target format that is not built in: joined as the format states, or a single one of an unknown
/// format unchanged. `None` for others.
fn join_native(parts: &[Delta<'_>], target: &str, options: &TranslateOptions<'_>) -> Result<Option<Materialized>> {
    let named = options.format(target);
    let is_joined = match named {
        Some(NamedFormat::BuiltIn(_)) => false,
        Some(NamedFormat::Custom(_)) => true,
        None => parts.len() == 1,
    };
    if !is_joined || parts.iter().any(|part| part.format != target) {
        return Ok(None);
    }
    let mut diagnostics = Vec::new();
    let bytes = match (named, parts) {
        (None, [part]) => part.blob.to_vec(),
        (None, _) => return Ok(None),
        (Some(format), _) => join(format, parts, options.limits, &mut diagnostics)?,
    };
    let (message_count, token_count) = match named.and_then(NamedFormat::reader) {
        Some(_) => count(named, &bytes, options)?,
        None => parts
            .iter()
            .map(|part| count_text(part.blob, options))
            .fold((0, 0), |sum, count| (u64::saturating_add(sum.0, count.0), u64::saturating_add(sum.1, count.1))),
    };
    let (artifact_ref, format, tier) = (artifact_ref(&bytes), target.to_owned(), Tier::Native);
    let commit_count = parts.len() as u64;
    Ok(Some(Materialized { bytes, artifact_ref, format, tier, commit_count, message_count, token_count, diagnostics }))
}

/// The number of turns of a conversation, and the tokens of their texts. A conversation that cannot be read is one
/// message.
fn count(format: Option<NamedFormat<'_>>, bytes: &[u8], options: &TranslateOptions<'_>) -> Result<(u64, u64)> {
    match format.and_then(|named| Some((named, named.reader()?))) {
        None => Ok(count_text(bytes, options)),
        Some((named, reader)) => {
            let readable = named.readable(bytes, BlobSource::default())?;
            Ok(counts(&read_back(reader, &readable, options)?.0, options))
        }
    }
}

/// One message, with the tokens of a text.
fn count_text(bytes: &[u8], options: &TranslateOptions<'_>) -> (u64, u64) {
    (u64::from(!bytes.is_empty()), options.counter.count(&String::from_utf8_lossy(bytes)).into())
}

fn read_back(format: Format, bytes: &[u8], options: &TranslateOptions<'_>) -> Result<(Transcript, Vec<Diagnostic>)> {
    let read = ReadOptions { through_compactions: options.through_compactions, source: BlobSource::default() };
    format.read(bytes, read, options.limits)
}

/// Takes the findings about the bases of forks in deltas that were joined unparsed.
fn report_missing_bases(read: Vec<Diagnostic>, diagnostics: &mut Vec<Diagnostic>) {
    for base in read.into_iter().filter(|read| read.code == DiagnosticCode::MissingBase) {
        if diagnostics.iter().all(|known| known.message != base.message) {
            diagnostics.push(base);
        }
    }
}

fn counts(transcript: &Transcript, options: &TranslateOptions<'_>) -> (u64, u64) {
    (transcript.turns.len() as u64, transcript.count(options.counter).into())
}

/// The diagnostic for a target format that cannot be written.
pub(crate) fn unknown_target(format: &str) -> Diagnostic {
    let message = format!("the format `{format}` of the result cannot be written; the result is Markdown");
    Diagnostic::new(DiagnosticCode::UnknownFormat, Severity::Warning, message)
}

/// The diagnostic for a format of a delta that cannot be read; `of` names the delta. A registered one has no reader.
pub(crate) fn unreadable_format(format: &str, of: &str, is_registered: bool) -> Diagnostic {
    let (reason, advice) =
        if is_registered { ("has no reader", "; register it with `like`") } else { ("is unknown", "") };
    let message =
        format!("the format `{format}`{of} {reason}; its blob is returned unchanged, with a description{advice}");
    Diagnostic::new(DiagnosticCode::UnknownFormat, Severity::Warning, message)
}

/// A call or a result without its other half.
fn broken_pair(what: &str, id: &str) -> Diagnostic {
    let message = format!("the {what} of `{id}` is not next to its other half; providers may reject it");
    Diagnostic::new(DiagnosticCode::ToolPairBroken, Severity::Warning, message)
}

/// Reports each tool result without a preceding call, unless it was already reported.
fn report_orphans(transcript: &Transcript, diagnostics: &mut Vec<Diagnostic>) {
    let (mut calls, mut reported) = (SortedSet::new(), SortedSet::new());
    for finding in diagnostics.iter().filter(|finding| finding.code == DiagnosticCode::ToolPairBroken) {
        reported.insert(finding.message.clone());
    }
    for block in transcript.turns.iter().flat_map(|turn| &turn.blocks) {
        match block {
            Block::ToolCall { id, .. } => drop(calls.insert(&**id)),
            Block::ToolResult { tool_call_id, server: false, .. } if !calls.contains(&**tool_call_id) => {
                let orphan = broken_pair("result", tool_call_id);
                if reported.insert(orphan.message.clone()) {
                    diagnostics.push(orphan);
                }
            }
            _ => {}
        }
    }
}

/// Messages and tokens of a blob whose record lacks the numbers; 0 for an unreadable one.
pub(crate) fn count_blob(format: Option<NamedFormat<'_>>, blob: &[u8], limits: &Limits) -> (u64, u64) {
    count(format, blob, &TranslateOptions::new(limits)).unwrap_or_default()
}

#[derive(Debug)]
struct Conversation {
    format: Format,
    joined: Concatenator,
    continuation: Continuation,
    /// The seed of its first ids.
    seed: String,
}

#[derive(Debug)]
enum Output {
    Conversation(Box<Conversation>),
    Markdown(String),
}

impl Output {
    fn new(format: Option<Format>, parts: &[Delta<'_>], limits: &Limits) -> Self {
        let Some(format) = format else { return Self::Markdown(String::new()) };
        let capacity = parts.iter().map(|part| part.blob.len()).sum();
        // Generated values are derived from the chain.
        let seed = parts.first().map(seed).unwrap_or_default();
        let joined = Concatenator::new(format, limits, capacity);
        Self::Conversation(Box::new(Conversation { format, joined, continuation: Continuation::new(&seed), seed }))
    }

    /// Adds deltas of one format, between all those `before` and `after`; returns the tier.
    fn add(
        &mut self,
        (before, after): (&[Delta<'_>], &[Delta<'_>]),
        run: &[Delta<'_>],
        first: &Delta<'_>,
        options: &TranslateOptions<'_>,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Result<Tier> {
        let from = options.readable(first.format);
        if from.is_none() {
            let is_registered = options.format(first.format).is_some();
            let finding = || unreadable_format(first.format, "", is_registered);
            diagnostics.extend(run.iter().map(|part| part.source.place(finding())));
        }
        let (target, joined, continuation, first_seed) = match self {
            Self::Markdown(text) => {
                let (narrative, tier) = match from {
                    Some(from) => {
                        let turns = dated(from, run, options, diagnostics)?;
                        (render::narrative(&turns, &from.named, &summaries(run, &turns)), Tier::Rendering)
                    }
                    None => (run.iter().map(raw).collect::<Vec<_>>().join("\n"), Tier::Raw),
                };
                if !text.is_empty() {
                    text.push('\n');
                }
                text.push_str(&narrative);
                return Ok(tier);
            }
            Self::Conversation(conversation) => {
                (conversation.format, &mut conversation.joined, &mut conversation.continuation, &conversation.seed)
            }
        };
        if first.format == target.name() {
            for part in run {
                joined.push(part.blob, part.source)?;
            }
            return Ok(Tier::Native);
        }
        // Reading how the previous deltas end only pays if something is written after them.
        let native = before.iter().rev().take_while(|part| part.format == target.name());
        for part in native {
            if follow(target, part.blob, continuation) {
                break;
            }
        }
        let run_seed = seed(first);
        if *first_seed != run_seed {
            continuation.reseed(&run_seed);
        }
        let mut notes = ConversionReport::at(first.source.name());
        let mut title = None;
        let (turns, tier) = match from {
            Some(from) if from.is_version_of(target) => {
                let older = join(from.named, run, options.limits, diagnostics)?;
                first.time.into_iter().for_each(|time| continuation.advance(time));
                let bytes = map_fields(&older, target, options.through_compactions, continuation, &mut notes)?;
                joined.push(&bytes, first.source)?;
                diagnostics.extend(notes.finish());
                return Ok(Tier::Fields);
            }
            Some(from) => {
                let turns = dated(from, run, options, diagnostics)?;
                let turns = if target.hides_before_summary() { summary_first(turns) } else { turns };
                let summaries = summaries(run, &turns);
                match options.cross_family {
                    CrossFamily::Transcode => {
                        title = titled(target, &summaries, &mut notes);
                        (foreign(turns, &mut notes), Tier::Transcode)
                    }
                    CrossFamily::Render => {
                        let pairs = OpenPairs::read(target, before, after, options)?;
                        (pairs.around(turns, &from.named, &summaries, &mut notes), Tier::Rendering)
                    }
                }
            }
            None => {
                OpenPairs::read(target, before, after, options)?.report(true, &mut notes);
                let time = |part: &Delta<'_>| part.time.map(str::to_owned);
                let turn = |part| Turn { timestamp: time(part), ..Turn::text(Role::User, raw(part)) };
                (run.iter().map(turn).collect(), Tier::Raw)
            }
        };
        let bytes = write_part(target, &turns, title, continuation, &mut notes)?;
        joined.push(&bytes, first.source)?;
        diagnostics.extend(notes.finish());
        Ok(tier)
    }

    fn finish(self, diagnostics: &mut Vec<Diagnostic>) -> Result<Vec<u8>> {
        match self {
            Self::Markdown(text) => Ok(text.into_bytes()),
            Self::Conversation(conversation) => {
                let joined = conversation.joined.finish()?;
                diagnostics.extend(joined.diagnostics);
                Ok(joined.bytes)
            }
        }
    }
}

/// Calls and results in deltas of the target's family, which are joined unchanged, without their other half.
struct OpenPairs {
    /// Earlier calls without a result.
    calls: SortedSet<String>,
    /// Later results without a call.
    results: SortedSet<String>,
}

impl OpenPairs {
    /// Reads the deltas of the family directly `before` and `after`.
    fn read(target: Format, before: &[Delta<'_>], after: &[Delta<'_>], options: &TranslateOptions<'_>) -> Result<Self> {
        let is_kin =
            |part: &&Delta<'_>| Format::from_name(part.format).is_some_and(|from| from.family() == target.family());
        let kin = before.iter().rev().take_while(is_kin).count();
        let before = before.get(before.len().saturating_sub(kin)..).unwrap_or_default();
        let after = after.get(..after.iter().take_while(is_kin).count()).unwrap_or_default();
        let halves = |run: &[Delta<'_>]| {
            // The reader of a family accepts all its versions.
            let target = ReadableFormat::of(target);
            let turns = if run.is_empty() { Vec::new() } else { read(target, run, options, &mut Vec::new())?.turns };
            Ok::<_, Error>(ToolIds::of_blocks(turns.iter().flat_map(|turn| &turn.blocks)))
        };
        let (ToolIds { mut calls, results: answered }, ToolIds { calls: later_calls, mut results }) =
            (halves(before)?, halves(after)?);
        for id in answered.iter() {
            calls.remove(id);
        }
        for id in later_calls.iter() {
            results.remove(id);
        }
        Ok(Self { calls, results })
    }

    /// Turns of another format as one narrative, with the other halves of open pairs as turns before and after it.
    /// Missing halves are reported.
    fn around(
        mut self,
        mut turns: Vec<Turn>,
        from: &NamedFormat<'_>,
        summaries: &[Summary<'_>],
        notes: &mut ConversionReport,
    ) -> Vec<Turn> {
        let results = take(&mut turns, Role::User, |block| match block {
            Block::ToolResult { tool_call_id, .. } => self.calls.remove(&**tool_call_id),
            _ => false,
        });
        let calls = take(&mut turns, Role::Assistant, |block| match block {
            Block::ToolCall { id, .. } => self.results.remove(&**id),
            _ => false,
        });
        turns.retain(|turn| !turn.blocks.is_empty());
        self.report(!turns.is_empty(), notes);
        let narrative = (!turns.is_empty()).then(|| {
            let timestamp = turns.iter().rev().find_map(|turn| turn.timestamp.clone());
            Turn { timestamp, ..Turn::text(Role::User, render::narrative(&turns, from, summaries)) }
        });
        [results, narrative, calls].into_iter().flatten().collect()
    }

    /// Reports these calls and results, unless both halves meet with nothing between them.
    fn report(&self, separated: bool, notes: &mut ConversionReport) {
        let mut find = |what, id: &String| notes.push(broken_pair(what, id));
        let calls = self.calls.iter().filter(|id| separated || !self.results.contains(id.as_str()));
        calls.for_each(|id| find("call", id));
        self.results.iter().filter(|id| !self.calls.contains(id.as_str())).for_each(|id| find("result", id));
    }
}

/// Moves blocks out of the turns into one turn.
fn take(turns: &mut [Turn], role: Role, mut wanted: impl FnMut(&Block<'_>) -> bool) -> Option<Turn> {
    let mut taken = Turn::new(role);
    for turn in turns {
        turn.blocks.retain(|block| {
            let wanted = wanted(block);
            if wanted {
                taken.timestamp.clone_from(&turn.timestamp);
                taken.blocks.push(block.clone());
            }
            !wanted
        });
    }
    (!taken.blocks.is_empty()).then_some(taken)
}

/// The seed of the generated ids of a delta: its commit and ref.
fn seed(part: &Delta<'_>) -> String {
    let blob = match part.source.artifact_ref {
        "" => artifact_ref(part.blob),
        known => known.to_owned(),
    };
    format!("{} {blob}", part.source.commit)
}

fn join(
    format: NamedFormat<'_>,
    run: &[Delta<'_>],
    limits: &Limits,
    diagnostics: &mut Vec<Diagnostic>,
) -> Result<Vec<u8>> {
    let mut joined = Concatenator::of(format, limits, run.iter().map(|part| part.blob.len()).sum());
    for part in run {
        joined.push(part.blob, part.source)?;
    }
    let joined = joined.finish()?;
    diagnostics.extend(joined.diagnostics);
    Ok(joined.bytes)
}

fn read(
    format: ReadableFormat<'_>,
    run: &[Delta<'_>],
    options: &TranslateOptions<'_>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Result<Transcript> {
    let through_compactions = options.through_compactions;
    // Generated ids depend on the first delta only, regardless of how many are read with it.
    let seed = || run.first().map(seed).unwrap_or_default();
    let (transcript, found) = match run {
        [part] => {
            let read = ReadOptions { through_compactions, source: part.source };
            let readable = format.named.readable(part.blob, part.source)?;
            format.reader.read_with_seed(&readable, read, options.limits, seed)?
        }
        parts => {
            let joined = join(format.named, parts, options.limits, diagnostics)?;
            let readable = format.named.readable(&joined, BlobSource::default())?;
            // The findings are about the joined deltas: they name the first and the last.
            let between = |of: for<'s> fn(&BlobSource<'s>) -> &'s str| -> String {
                let ends = [parts.first(), parts.last()].into_iter().flatten();
                ends.map(|part| of(&part.source)).filter(|name| !name.is_empty()).collect::<Vec<_>>().join("..")
            };
            let (commit, blob) = (between(|source| source.commit), between(|source| source.artifact_ref));
            let source = BlobSource { commit: &commit, artifact_ref: &blob };
            format.reader.read_with_seed(
                &readable,
                ReadOptions { through_compactions, source },
                options.limits,
                seed,
            )?
        }
    };
    diagnostics.extend(found);
    Ok(transcript)
}

/// The turns for another vendor: without signatures and encrypted reasoning, and with a result for each call that the
/// first vendor answered without recording the result.
fn foreign(turns: Vec<Turn>, notes: &mut ConversionReport) -> Vec<Turn> {
    let answered = ToolIds::of_blocks(turns.iter().flat_map(|turn| &turn.blocks)).results;
    let mut out = Vec::with_capacity(turns.len());
    for mut turn in turns {
        turn.id = None;
        turn.blocks.retain_mut(|block| match block {
            Block::Reasoning { redacted: true, .. } => {
                notes.inexpressible("encrypted reasoning of another vendor, left out");
                false
            }
            Block::Reasoning { signature, text, .. } => {
                let is_signed = signature.take().is_some();
                if is_signed {
                    notes.inexpressible("the signature of another vendor's reasoning, left out");
                }
                // The signature of another block is in a reasoning block without text.
                !is_signed || !is_blank(text)
            }
            Block::Vendor(vendor_block) => match notes.replacement(vendor_block).map(str::to_owned) {
                Some(text) => {
                    *block = Block::text(text);
                    true
                }
                None => false,
            },
            _ => true,
        });
        if turn.blocks.is_empty() {
            continue;
        }
        let mut blocks = Vec::with_capacity(turn.blocks.len());
        for block in turn.blocks {
            let open = match &block {
                Block::ToolCall { id, server: true, .. } if !answered.contains(&**id) => Some(id.clone()),
                _ => None,
            };
            blocks.push(block);
            if let Some(tool_call_id) = open {
                notes.inexpressible("a call without its result, given one that says so");
                let content = vec![Block::text("(the result was not kept)")];
                blocks.push(Block::ToolResult { tool_call_id, content, is_error: None, server: true });
            }
        }
        out.push(Turn { blocks, ..turn });
    }
    out
}

/// Puts the newest summary before the turns that precede it, such as those that a compaction kept. Only it stays marked.
fn summary_first(mut turns: Vec<Turn>) -> Vec<Turn> {
    if let Some(at) = turns.iter().rposition(|turn| turn.summary)
        && let Some(kept) = turns.get_mut(..=at)
    {
        kept.rotate_right(1);
        kept.iter_mut().skip(1).for_each(|turn| turn.summary = false);
    }
    turns
}

/// The turns of deltas; those without a time have that of their commit.
fn dated(
    format: ReadableFormat<'_>,
    run: &[Delta<'_>],
    options: &TranslateOptions<'_>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Result<Vec<Turn>> {
    let mut turns = read(format, run, options, diagnostics)?.turns;
    if turns.iter().all(|turn| turn.timestamp.is_some()) {
        return Ok(turns);
    }
    // Formats whose records have no time have a turn for each record, so each delta has its own.
    let mut counts = Vec::with_capacity(run.len());
    for part in run {
        counts.push(read(format, std::slice::from_ref(part), options, &mut Vec::new())?.turns.len());
    }
    if counts.iter().sum::<usize>() != turns.len() {
        counts = vec![turns.len()];
    }
    let mut rest = turns.iter_mut();
    for (part, count) in run.iter().zip(counts) {
        for turn in rest.by_ref().take(count).filter(|turn| turn.timestamp.is_none()) {
            turn.timestamp = part.time.map(str::to_owned);
        }
    }
    Ok(turns)
}

/// The summaries of commits, except those that repeat the summary of a compaction among the turns.
fn summaries<'a>(run: &[Delta<'a>], turns: &[Turn]) -> Vec<Summary<'a>> {
    let given = run.iter().filter_map(|part| Some((part.source.commit, part.summary.filter(|text| !is_blank(text))?)));
    let of_turns = turns.iter().filter(|turn| turn.summary).flat_map(|turn| &turn.blocks).filter_map(Block::as_text);
    let said: Vec<&str> = of_turns.collect();
    given
        .filter(|(_, summary)| {
            // A long one is shortened in its record.
            let beginning = summary.trim_end_matches(" …").lines().next().unwrap_or_default();
            !said.iter().any(|text| text.trim_start().starts_with(beginning))
        })
        .collect()
}

/// The newest summary, as the title of the conversation, if the target has titles. Others are reported.
fn titled<'a>(target: Format, summaries: &[Summary<'a>], notes: &mut ConversionReport) -> Option<&'a str> {
    let (newest, older) = summaries.split_last()?;
    older.iter().for_each(|_| notes.inexpressible("the summary of a commit"));
    if target == Format::ClaudeCodeV1 {
        return Some(newest.1);
    }
    notes.inexpressible("the summary of a commit");
    None
}

/// An artifact in an unknown format, with a description (docs/sessions.md, tier `raw`).
fn raw(part: &Delta<'_>) -> String {
    let mut lines = vec![
        format!("# Context in the format `{}`", render::one_line(part.format)),
        String::new(),
        "What follows is the stored artifact as it is: its format cannot be read here.".to_owned(),
        String::new(),
    ];
    let facts =
        [("Commit", Some(part.source.commit)), ("Artifact", Some(part.source.artifact_ref)), ("Summary", part.summary)];
    for (name, fact) in facts {
        if let Some(fact) = fact.filter(|fact| !fact.is_empty()) {
            lines.push(format!("- {name}: {}", render::one_line(fact)));
        }
    }
    let (how, text) = match std::str::from_utf8(part.blob) {
        Ok(text) => ("text", text.to_owned()),
        Err(_) => ("hexadecimal", hex(part.blob)),
    };
    lines.push(format!("- Size: {} bytes, shown as {how}", part.blob.len()));
    lines.push(String::new());
    let fence = render::fence(&text);
    lines.extend([fence.clone(), text.trim_end_matches('\n').to_owned(), fence, String::new()]);
    lines.join("\n")
}

fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |value: u8| DIGITS.get(usize::from(value)).map_or('0', |&digit| char::from(digit));
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}
