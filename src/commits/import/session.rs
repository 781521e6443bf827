//! Imports a session file as commits.

use std::borrow::Cow;

use super::builder::Builder;
use super::options::{Import, ImportOptions};
use super::{claude, deltas};
use crate::commits::formats::document::SessionDocument;
use crate::commits::formats::{BlobSource, Format, ReadOptions, is_gemini_lines, to_incremental_lines};
use crate::commits::record::{CommitType, Trigger, required_time};
use crate::error::{Code, Diagnostic, DiagnosticCode, Error, Result};
use crate::limits;

/// Makes commits of a session file, or of its next part.
///
/// # Errors
/// [`Code::InvalidInput`] if neither the lines nor `created_at` give a time, and if a format that is not line-based is
/// to be read in parts; [`Code::InvalidBlob`] and [`Code::LimitExceeded`] for an unreadable file;
/// [`Code::ResumeMismatch`] and [`Code::ResumeIncomplete`] if the part does not continue the earlier import.
pub fn import_transcript<'b: 'o, 'o>(
    format: Format,
    bytes: &'b [u8],
    options: &'o ImportOptions<'o>,
) -> Result<Import<'b>> {
    limits::check("inputBytes", bytes.len(), options.limits.input_bytes)?;
    if let Some(time) = options.created_at {
        required_time("createdAt", time)?;
    }
    if options.every == 0 {
        return Err(Error::new(Code::InvalidInput, "`everyTurns` must be 1 or more").with("path", "everyTurns"));
    }
    if options.whole_file && options.resume.is_none() {
        let message = "`wholeFile` requires `resume`; leave it out at the beginning of an import";
        return Err(Error::new(Code::InvalidInput, message).with("path", "wholeFile"));
    }
    format.refuse_compressed(bytes, BlobSource::default())?;
    if format.is_document() {
        return document(format, bytes, options);
    }
    let (mut builder, unread) = Builder::new(format, bytes, options)?;
    let found = match format {
        Format::ClaudeCodeV1 => claude::import(&mut builder, unread)?,
        Format::CodexV0 | Format::CodexV1 => deltas::codex(&mut builder, unread)?,
        Format::GenericV1 => deltas::generic(&mut builder, unread)?,
        Format::CopilotCliV1 | Format::PiV3 | Format::QwenCodeV1 | Format::Sts => {
            deltas::entries(&mut builder, unread)?
        }
        Format::GeminiV1 if !builder.is_whole() || is_gemini_lines(unread) || unread.trim_ascii().is_empty() => {
            deltas::gemini(&mut builder, unread)?
        }
        _ => {
            refuse_parts(format, options)?;
            return if format == Format::GeminiV1 { object(bytes, options) } else { snapshot(bytes, builder) };
        }
    };
    Ok(builder.finish(found))
}

/// Files that are not line-based are read as a whole.
fn refuse_parts(format: Format, options: &ImportOptions<'_>) -> Result<()> {
    let given = [("resume", options.resume.is_some()), ("growing", options.growing)];
    let Some((path, _)) = given.into_iter().find(|(_, given)| *given) else { return Ok(()) };
    let message = format!(
        "`{path}` applies to line-based files; this `{format}` file is one value and has to be imported as a whole"
    );
    Err(Error::new(Code::InvalidInput, message).with("path", path))
}

/// A session that is one value, as its equivalent lines.
fn document<'b>(format: Format, bytes: &[u8], options: &ImportOptions<'_>) -> Result<Import<'b>> {
    let session = SessionDocument::read(format, bytes);
    // A file that is read while it is written yields no commits: the next read is whole.
    let lines = if session.is_damaged && options.growing { Vec::new() } else { session.lines(format) };
    if let Some(resume) = options.resume.filter(|_| session.is_damaged && options.growing) {
        let tip = resume.state.tip.clone();
        return Ok(Import { tip, resume: Some(resume.clone()), diagnostics: session.diagnostics, ..Import::default() });
    }
    let (mut builder, unread) = Builder::new(format, &lines, options)?;
    builder.document = Some(session.is_list);
    let found = deltas::entries(&mut builder, unread)?;
    let Import { records, blobs, tip, resume, diagnostics: later, .. } = builder.finish(found);
    let blobs = blobs.into_iter().map(|(name, blob)| (name, Cow::Owned(blob.into_owned()))).collect();
    let mut diagnostics = session.diagnostics;
    diagnostics.extend(later);
    Ok(Import { records, blobs, tip, resume, diagnostics, ..Import::default() })
}

/// A session of Gemini CLI in one object, as its equivalent lines.
fn object<'b>(bytes: &[u8], options: &ImportOptions<'_>) -> Result<Import<'b>> {
    let lines = to_incremental_lines(bytes)?;
    let (mut builder, unread) = Builder::new(Format::GeminiV1, &lines, options)?;
    deltas::gemini(&mut builder, unread)?;
    let said = builder.has_turns;
    let Import { records, blobs, tip, .. } = builder.finish(Vec::new());
    let blobs = blobs.into_iter().map(|(name, blob)| (name, Cow::Owned(blob.into_owned()))).collect();
    let mut diagnostics = findings(Format::GeminiV1, bytes, options)?;
    diagnostics.retain(|finding| !said || finding.code != DiagnosticCode::NoMessages);
    Ok(Import { records, blobs, tip, diagnostics, ..Import::default() })
}

/// An array in CBOR as one snapshot, of the time of its last turn that has one.
fn snapshot<'b>(bytes: &'b [u8], mut builder: Builder<'b, '_>) -> Result<Import<'b>> {
    let format = builder.format;
    let diagnostics = findings(format, bytes, builder.options)?;
    let read = ReadOptions { source: BlobSource::default(), through_compactions: true };
    let turns = format.read(bytes, read, builder.options.limits)?.0.turns;
    builder.note_time(turns.iter().rev().find_map(|turn| turn.timestamp.as_deref()));
    if !turns.is_empty() {
        builder.commit_blob(CommitType::Snapshot, Cow::Borrowed(bytes), Trigger::Explicit)?;
    }
    Ok(Import { diagnostics, ..builder.finish(Vec::new()) })
}

/// The findings about a file that is read as a whole.
fn findings(format: Format, bytes: &[u8], options: &ImportOptions<'_>) -> Result<Vec<Diagnostic>> {
    let read = ReadOptions { source: BlobSource::default(), through_compactions: true };
    Ok(format.read(bytes, read, options.limits)?.1)
}
