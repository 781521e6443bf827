//! Joins deltas of one format, by the rules of that format.

use super::custom::{JoinRule, NamedFormat};
use super::document::DocumentJoin;
use super::format::{BlobSource, Format};
use super::{append, cbor_array, gemini_join, json_array};
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
    name: String,
    rule: JoinRule,
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
        Self::of(NamedFormat::BuiltIn(format), limits, capacity)
    }

    /// Joins deltas of any known format.
    pub(crate) fn of(format: NamedFormat<'_>, limits: &Limits, capacity: usize) -> Self {
        let rule = format.rule();
        Self {
            name: format.name().to_owned(),
            rule,
            depth: limits.cbor_depth,
            bytes: match rule {
                JoinRule::CborArray => cbor_array::with_header(capacity),
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
        match self.rule {
            JoinRule::Bytes => self.bytes.extend_from_slice(blob),
            JoinRule::Lines => append::push(&mut self.bytes, blob, &mut |_| {}),
            JoinRule::Records => {
                append::push(&mut self.bytes, blob, &mut |finding| self.diagnostics.push(source.place(finding)));
            }
            JoinRule::CborArray => {
                let count = cbor_array::splice(&mut self.bytes, blob, &self.name, self.depth, source)?;
                self.items = self.items.saturating_add(count);
            }
            JoinRule::JsonArray => json_array::splice(&mut self.bytes, blob, &self.name, source)?,
            JoinRule::Document(format) => {
                self.documents.push(format, &mut self.bytes, blob, source, &mut self.diagnostics)?;
            }
            JoinRule::Gemini => {
                gemini_join::push(&mut self.gemini, &mut self.bytes, blob, source, &mut self.diagnostics)?;
            }
        }
        Ok(())
    }

    /// The joined conversation.
    ///
    /// # Errors
    /// [`crate::Code::InternalError`] if the result cannot be written.
    pub fn finish(mut self) -> Result<Concatenated> {
        match self.rule {
            JoinRule::Bytes | JoinRule::Lines | JoinRule::Records => {}
            JoinRule::CborArray => cbor_array::write_header(&mut self.bytes, self.items),
            JoinRule::JsonArray => json_array::close(&mut self.bytes),
            JoinRule::Document(format) => self.bytes = self.documents.finish(format, self.bytes),
            JoinRule::Gemini => self.bytes = gemini_join::finish(self.gemini, self.bytes)?,
        }
        Ok(Concatenated { bytes: self.bytes, diagnostics: self.diagnostics })
    }
}
