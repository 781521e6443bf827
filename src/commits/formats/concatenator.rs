//! Joins deltas of one format, by the rules of that format.

use super::document::DocumentJoin;
use super::format::{BlobSource, Format};
use super::{append, bureau, gemini_join};
use crate::error::{Diagnostic, Result};
use crate::limits::Limits;

/// Joins deltas of one format, blob by blob. Memory is that of the result; the work beyond copying is linear in the
/// blob.
///
/// ```
/// use ctxweave::commits::formats::{BlobSource, Concatenator, Format};
///
/// let mut joined = Concatenator::new(Format::GenericV1, &ctxweave::Limits::default(), 0);
/// joined.push(br#"{"role":"user","content":"hello"}"#, BlobSource::default())?;
/// joined.push(br#"{"role":"assistant","content":"hi"}"#, BlobSource::default())?;
/// let joined = joined.finish()?;
/// assert_eq!(joined.bytes.iter().filter(|&&byte| byte == b'\n').count(), 1);
/// # Ok::<(), ctxweave::Error>(())
/// ```
#[derive(Debug)]
pub struct Concatenator {
    format: Format,
    depth: u32,
    bytes: Vec<u8>,
    items: u64,
    gemini: gemini_join::JoinState,
    documents: DocumentJoin,
    diagnostics: Vec<Diagnostic>,
}

/// The result of a [`Concatenator`].
#[derive(Debug)]
pub struct Concatenated {
    /// The conversation, in the format of its deltas.
    pub bytes: Vec<u8>,
    /// Diagnostics about the seams.
    pub diagnostics: Vec<Diagnostic>,
}

impl Concatenator {
    /// Reserves `capacity` bytes: with the sum of the blobs' lengths no copy is needed later.
    pub fn new(format: Format, limits: &Limits, capacity: usize) -> Self {
        Self {
            format,
            depth: limits.cbor_depth,
            bytes: match format {
                Format::BureauAgentV1 => bureau::with_header(capacity),
                _ => Vec::with_capacity(capacity),
            },
            items: 0,
            gemini: gemini_join::JoinState::default(),
            documents: DocumentJoin::default(),
            diagnostics: Vec::new(),
        }
    }

    /// Takes the next blob.
    ///
    /// # Errors
    /// [`crate::Code::InvalidBlob`] if the format requires well-formed blobs for joining (CBOR, and sessions
    /// that are one JSON value); [`crate::Code::LimitExceeded`] for nesting.
    pub fn push(&mut self, blob: &[u8], source: BlobSource<'_>) -> Result<()> {
        match self.format {
            Format::ClaudeCodeV1
            | Format::CodexV0
            | Format::CodexV1
            | Format::CopilotCliV1
            | Format::GenericV1
            | Format::PiV3
            | Format::QwenCodeV1 => {
                append::push(&mut self.bytes, blob, &mut |finding| self.diagnostics.push(source.place(finding)));
                Ok(())
            }
            Format::BureauAgentV1 => {
                self.items = self.items.saturating_add(bureau::splice(&mut self.bytes, blob, self.depth, source)?);
                Ok(())
            }
            Format::AtifV17 | Format::ClineV1 | Format::ContinueV1 | Format::OpencodeExport | Format::OtelGenai => {
                self.documents.push(self.format, &mut self.bytes, blob, source, &mut self.diagnostics)
            }
            Format::GeminiV1 => {
                gemini_join::push(&mut self.gemini, &mut self.bytes, blob, source, &mut self.diagnostics)
            }
        }
    }

    /// The joined conversation.
    ///
    /// # Errors
    /// [`crate::Code::InternalError`] if the result cannot be written.
    pub fn finish(mut self) -> Result<Concatenated> {
        match self.format {
            Format::BureauAgentV1 => bureau::write_header(&mut self.bytes, self.items),
            Format::GeminiV1 => self.bytes = gemini_join::finish(self.gemini, self.bytes)?,
            format => self.bytes = self.documents.finish(format, self.bytes),
        }
        Ok(Concatenated { bytes: self.bytes, diagnostics: self.diagnostics })
    }
}
