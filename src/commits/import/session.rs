//! A session file as commits: the one call.

use std::borrow::Cow;

use super::builder::Builder;
use super::options::{Import, ImportOptions};
use super::{claude, deltas};
use crate::commits::formats::{BlobSource, Format, ReadOptions, is_gemini_lines, to_incremental_lines};
use crate::commits::record::{CommitType, Trigger, required_time};
use crate::error::{Code, Diagnostic, DiagnosticCode, Error, Result};
use crate::limits;

/// Makes commits of a session file, or of the next part of one.
///
/// # Errors
/// [`Code::InvalidInput`] where neither the lines nor `created_at` say when it was, and for a format that is not lines where it
/// is to be read in parts; [`Code::InvalidBlob`] and [`Code::LimitExceeded`] for a file that cannot be read at all;
/// [`Code::ResumeMismatch`] and [`Code::ResumeIncomplete`] where the part does not follow.
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
        let message = "`wholeFile` goes with `resume`; leave it out where the import begins";
        return Err(Error::new(Code::InvalidInput, message).with("path", "wholeFile"));
    }
    let (mut builder, unread) = Builder::new(format, bytes, options)?;
    let found = match format {
        Format::ClaudeCodeV1 => claude::import(&mut builder, unread)?,
        Format::CodexV0 | Format::CodexV1 => deltas::codex(&mut builder, unread)?,
        Format::GenericV1 => deltas::generic(&mut builder, unread)?,
        Format::GeminiV1 if !builder.is_whole() || is_gemini_lines(unread) || unread.trim_ascii().is_empty() => {
            deltas::gemini(&mut builder, unread)?
        }
        Format::GeminiV1 | Format::BureauAgentV1 => {
            refuse_parts(format, options)?;
            return if format == Format::GeminiV1 { object(bytes, options) } else { snapshot(bytes, builder) };
        }
    };
    Ok(builder.finish(found))
}

/// What is no lines is read as a whole.
fn refuse_parts(format: Format, options: &ImportOptions<'_>) -> Result<()> {
    let given = [("resume", options.resume.is_some()), ("growing", options.growing)];
    let Some((path, _)) = given.into_iter().find(|(_, given)| *given) else { return Ok(()) };
    let message = format!(
        "`{path}` is for files that are lines; this `{format}` file is one value, which is imported when it is complete"
    );
    Err(Error::new(Code::InvalidInput, message).with("path", path))
}

/// A session of Gemini CLI that is one object, as the lines that it says.
fn object<'b>(bytes: &[u8], options: &ImportOptions<'_>) -> Result<Import<'b>> {
    let lines = to_incremental_lines(bytes)?;
    let (mut builder, unread) = Builder::new(Format::GeminiV1, &lines, options)?;
    deltas::gemini(&mut builder, unread)?;
    let said = builder.speaks;
    let Import { records, blobs, tip, .. } = builder.finish(Vec::new());
    let blobs = blobs.into_iter().map(|(name, blob)| (name, Cow::Owned(blob.into_owned()))).collect();
    let mut diagnostics = findings(Format::GeminiV1, bytes, options)?;
    diagnostics.retain(|finding| !said || finding.code != DiagnosticCode::NoMessages);
    Ok(Import { records, blobs, tip, diagnostics, ..Import::default() })
}

/// An array of messages as one snapshot.
fn snapshot<'b>(bytes: &'b [u8], mut builder: Builder<'b, '_>) -> Result<Import<'b>> {
    let diagnostics = findings(Format::BureauAgentV1, bytes, builder.options)?;
    let read = ReadOptions { source: BlobSource::default(), through_compactions: true };
    if !Format::BureauAgentV1.read(bytes, read, builder.options.limits)?.0.turns.is_empty() {
        builder.commit_blob(CommitType::Snapshot, Cow::Borrowed(bytes), Trigger::Explicit)?;
    }
    Ok(Import { diagnostics, ..builder.finish(Vec::new()) })
}

/// What is odd about a file that is read as a whole.
fn findings(format: Format, bytes: &[u8], options: &ImportOptions<'_>) -> Result<Vec<Diagnostic>> {
    let read = ReadOptions { source: BlobSource::default(), through_compactions: true };
    Ok(format.read(bytes, read, options.limits)?.1)
}
