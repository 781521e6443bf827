//! The registry of formats: the shapes in which agents keep their conversations, and how deltas of one shape become one
//! conversation (SPEC §5).
//!
//! | name | what | concatenation |
//! | --- | --- | --- |
//! | `claude-code-v1` | Claude Code's JSONL transcripts | bytes appended |
//! | `codex-v1` | Codex rollouts, enveloped JSONL | bytes appended |
//! | `codex-v0` | the older rollouts, bare items | bytes appended |
//! | `generic-v1` | JSONL of `{ role, content }` | bytes appended |
//! | `bureau-agent-v1` | a CBOR array of messages | items spliced under one header |
//! | `gemini-v1` | Gemini CLI's session files | lines appended; objects with `messages` merged |
//!
//! Concatenation does not read the conversation, so that it costs little more than copying: what it does not know passes
//! through byte for byte. [`crate::commits::formats::Format::read`] is what reads.

pub(crate) mod append;
mod blocks;
mod bureau;
mod cbor;
pub(crate) mod claude;
pub(crate) mod codex;
mod gemini;
mod gemini_join;
mod generic;
mod link;

use std::fmt;

use serde_json::Value;

pub(crate) use self::link::Link;
pub(crate) use crate::commits::transcript::ImageSource;
use crate::commits::transcript::{Block, Notes, Role, Transcript, Turn};
use crate::error::{Code, Diagnostic, Error, Result};
use crate::limits::Limits;

/// A format that the registry knows (SPEC §5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Format {
    /// `bureau-agent-v1`: a CBOR array of messages.
    BureauAgentV1,
    /// `claude-code-v1`: Claude Code's transcripts.
    ClaudeCodeV1,
    /// `codex-v0`: Codex rollouts before items had an envelope.
    CodexV0,
    /// `codex-v1`: Codex rollouts.
    CodexV1,
    /// `gemini-v1`: Gemini CLI's session files.
    GeminiV1,
    /// `generic-v1`: a line of `{ role, content }` for each message.
    GenericV1,
}

impl Format {
    /// Every format, in the order of their names.
    pub const ALL: &'static [Self] =
        &[Self::BureauAgentV1, Self::ClaudeCodeV1, Self::CodexV0, Self::CodexV1, Self::GeminiV1, Self::GenericV1];

    /// The name that records carry in `format`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::BureauAgentV1 => "bureau-agent-v1",
            Self::ClaudeCodeV1 => "claude-code-v1",
            Self::CodexV0 => "codex-v0",
            Self::CodexV1 => "codex-v1",
            Self::GeminiV1 => "gemini-v1",
            Self::GenericV1 => "generic-v1",
        }
    }

    /// The format of that name, where the registry knows it.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|format| format.name() == name)
    }

    /// The format of that name.
    ///
    /// # Errors
    /// [`Code::UnknownValue`], with the names that are known.
    pub fn named(name: &str) -> Result<Self> {
        Self::from_name(name).ok_or_else(|| unknown_format(name))
    }

    /// Whether conversations of the format are joined by appending bytes, as those of [`append`] are.
    pub(crate) const fn is_appended(self) -> bool {
        matches!(self, Self::ClaudeCodeV1 | Self::CodexV0 | Self::CodexV1 | Self::GenericV1)
    }

    /// Whether a line of an appended format is of a kind that is known, be it conversation or not: by its `type` or, of
    /// `generic-v1`, its `role`, and by whether it has `payload`, `record_type` and `id`.
    pub(crate) fn knows_record(self, kind: &str, [payload, record_type, id]: [bool; 3]) -> bool {
        match self {
            Self::ClaudeCodeV1 => claude::knows_record(kind),
            Self::CodexV0 | Self::CodexV1 if payload => codex::knows_record(kind),
            Self::CodexV0 | Self::CodexV1 => !kind.is_empty() || record_type || id,
            Self::GenericV1 => generic::knows_role(kind),
            Self::BureauAgentV1 | Self::GeminiV1 => true,
        }
    }

    /// The runtime that the format belongs to: versions of one family can be mapped field by field.
    pub const fn family(self) -> &'static str {
        match self {
            Self::BureauAgentV1 => "bureau-agent",
            Self::ClaudeCodeV1 => "claude-code",
            Self::CodexV0 | Self::CodexV1 => "codex",
            Self::GeminiV1 => "gemini",
            Self::GenericV1 => "generic",
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Whether the registry knows the format.
pub fn is_known(format: &str) -> bool {
    Format::from_name(format).is_some()
}

#[cold]
fn unknown_format(name: &str) -> Error {
    let expected: Vec<&str> = Format::ALL.iter().map(|format| format.name()).collect();
    let message = format!("the format `{name}` is not known; it must be one of `{}`", expected.join("`, `"));
    Error::new(Code::UnknownValue, message).with("value", name).with("expected", expected)
}

/// Which blob it is, for errors and diagnostics. Either may be empty where it is not known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BlobSource<'a> {
    /// The id of the commit.
    pub commit: &'a str,
    /// The ref of the blob.
    pub artifact_ref: &'a str,
}

impl BlobSource<'_> {
    /// The error for a blob that cannot be read.
    #[cold]
    pub(crate) fn invalid(&self, format: Format, reason: &str) -> Error {
        let place = match (self.artifact_ref, self.commit) {
            ("", "") => "the blob".to_owned(),
            (blob, "") => format!("the blob `{blob}`"),
            ("", commit) => format!("the blob of commit `{commit}`"),
            (blob, commit) => format!("the blob `{blob}` of commit `{commit}`"),
        };
        let mut error = Error::new(Code::InvalidBlob, format!("{place} cannot be read as `{format}`: {reason}"))
            .with("format", format.name())
            .with("reason", reason);
        if !self.commit.is_empty() {
            error = error.with("commitId", self.commit);
        }
        if !self.artifact_ref.is_empty() {
            error = error.with("artifactRef", self.artifact_ref);
        }
        error
    }

    /// Says in which blob a finding was made.
    pub(crate) fn place(&self, mut finding: Diagnostic) -> Diagnostic {
        let place = if self.commit.is_empty() { self.artifact_ref } else { self.commit };
        if !place.is_empty() {
            finding.path = Some(match finding.path.take() {
                Some(inner) => format!("{place}: {inner}"),
                None => place.to_owned(),
            });
        }
        finding
    }
}

/// What native concatenation counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// The messages; known where the format itself counts its items, which JSONL does not.
    pub messages: Option<u32>,
}

/// Joins deltas of one format, blob by blob. Memory is the result; what it costs beyond copying is linear in the blob.
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
    gemini: gemini_join::Joined,
    diagnostics: Vec<Diagnostic>,
}

/// What a [`Concatenator`] gives.
#[derive(Debug)]
pub struct Concatenated {
    /// The conversation, in the format of its deltas.
    pub bytes: Vec<u8>,
    /// What could be counted without reading the conversation.
    pub counts: Counts,
    /// What was found at the seams.
    pub diagnostics: Vec<Diagnostic>,
}

impl Concatenator {
    /// Room for `capacity` bytes: the sum of the blobs' lengths saves every later copy.
    pub fn new(format: Format, limits: &Limits, capacity: usize) -> Self {
        Self {
            format,
            depth: limits.cbor_depth,
            bytes: match format {
                Format::BureauAgentV1 => bureau::room(capacity),
                _ => Vec::with_capacity(capacity),
            },
            items: 0,
            gemini: gemini_join::Joined::default(),
            diagnostics: Vec::new(),
        }
    }

    /// Takes the next blob.
    ///
    /// # Errors
    /// [`Code::InvalidBlob`] where the format needs to be well-formed to be joined (CBOR, and Gemini's JSON objects);
    /// [`Code::LimitExceeded`] for nesting.
    pub fn push(&mut self, blob: &[u8], source: BlobSource<'_>) -> Result<()> {
        match self.format {
            Format::ClaudeCodeV1 | Format::CodexV0 | Format::CodexV1 | Format::GenericV1 => {
                append::push(&mut self.bytes, blob, &mut |finding| self.diagnostics.push(source.place(finding)));
                Ok(())
            }
            Format::BureauAgentV1 => {
                self.items = self.items.saturating_add(bureau::splice(&mut self.bytes, blob, self.depth, source)?);
                Ok(())
            }
            Format::GeminiV1 => {
                gemini_join::push(&mut self.gemini, &mut self.bytes, blob, source, &mut self.diagnostics)
            }
        }
    }

    /// The conversation so far.
    ///
    /// # Errors
    /// [`Code::InternalError`], should the result not be writable.
    pub fn finish(mut self) -> Result<Concatenated> {
        let mut counts = Counts::default();
        match self.format {
            Format::BureauAgentV1 => {
                bureau::write_header(&mut self.bytes, self.items);
                counts.messages = Some(u32::try_from(self.items).unwrap_or(u32::MAX));
            }
            Format::GeminiV1 => self.bytes = gemini_join::finish(self.gemini, self.bytes)?,
            _ => {}
        }
        Ok(Concatenated { bytes: self.bytes, counts, diagnostics: self.diagnostics })
    }
}

/// Joins deltas of one format into `out`, with the limits of default.
///
/// # Errors
/// [`Code::UnknownValue`] for a format that is not known; those of [`Concatenator::push`].
pub fn concatenate(
    format: &str,
    blobs: &[&[u8]],
    out: &mut Vec<u8>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Result<Counts> {
    let capacity = blobs.iter().map(|blob| blob.len()).sum();
    let mut joined = Concatenator::new(Format::named(format)?, &Limits::default(), capacity);
    for blob in blobs {
        joined.push(blob, BlobSource::default())?;
    }
    let joined = joined.finish()?;
    if out.is_empty() {
        *out = joined.bytes;
    } else {
        out.extend_from_slice(&joined.bytes);
    }
    diagnostics.extend(joined.diagnostics);
    Ok(joined.counts)
}

/// How to read a conversation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadOptions<'a> {
    /// Reads on through compactions and leaves their summaries out, instead of beginning with the newest summary.
    pub through_compactions: bool,
    /// Which blob it is.
    pub source: BlobSource<'a>,
}

impl Format {
    /// Reads a conversation into the neutral transcript; with it come the findings about what was damaged or not known.
    ///
    /// # Errors
    /// [`Code::InvalidBlob`] and [`Code::LimitExceeded`] for CBOR that is not well-formed or too deep. JSON that is
    /// damaged is a finding.
    pub fn read(
        self,
        bytes: &[u8],
        options: ReadOptions<'_>,
        limits: &Limits,
    ) -> Result<(Transcript, Vec<Diagnostic>)> {
        let source = options.source;
        let mut notes = Notes::at(if source.commit.is_empty() { source.artifact_ref } else { source.commit });
        let through = options.through_compactions;
        let transcript = match self {
            Self::BureauAgentV1 => bureau::read(bytes, limits.cbor_depth, source, &mut notes)?,
            Self::ClaudeCodeV1 => claude::read(bytes, through, &mut notes),
            Self::CodexV0 | Self::CodexV1 => codex::read(bytes, through, &mut notes),
            Self::GeminiV1 => gemini::read(bytes, &mut notes),
            Self::GenericV1 => generic::read(bytes, &mut notes),
        };
        Ok((transcript, notes.finish()))
    }

    /// Writes a transcript as a conversation of its own, with findings about what the format cannot express. What it needs
    /// and the transcript has not (ids) follows from `seed`: the same seed gives the same bytes.
    ///
    /// # Errors
    /// [`Code::InternalError`], should the result not be writable.
    pub fn write(self, transcript: &Transcript, seed: &str) -> Result<(Vec<u8>, Vec<Diagnostic>)> {
        let mut notes = Notes::default();
        let mut link = Link::new(seed);
        let bytes = write_part(self, &transcript.turns, &mut link, &mut notes)?;
        Ok((bytes, notes.finish()))
    }
}

/// Writes turns as a delta that follows on what `link` remembers.
pub(crate) fn write_part(format: Format, turns: &[Turn], link: &mut Link, notes: &mut Notes) -> Result<Vec<u8>> {
    let turns = &by_role(turns);
    let lines = match format {
        Format::BureauAgentV1 => {
            let mut out = bureau::room(0);
            let count = bureau::write(turns, &mut out, notes);
            bureau::write_header(&mut out, count);
            return Ok(out);
        }
        Format::ClaudeCodeV1 => claude::write(turns, link, notes),
        Format::CodexV0 => codex::write(turns, false, link, notes),
        Format::CodexV1 => codex::write(turns, true, link, notes),
        Format::GeminiV1 => gemini::write(turns, link, notes),
        Format::GenericV1 => generic::write(turns),
    };
    link.begins = false;
    to_lines(&lines)
}

/// Maps deltas to another version of their family, field by field.
pub(crate) fn map_fields(
    bytes: &[u8],
    to: Format,
    through: bool,
    link: &mut Link,
    notes: &mut Notes,
) -> Result<Vec<u8>> {
    let lines = match to {
        Format::CodexV0 => codex::to_v0(bytes, through, notes),
        _ => codex::to_v1(bytes, link, notes),
    };
    link.begins = false;
    to_lines(&lines)
}

/// Remembers how a delta in the target format ends, so that what is written after it follows on. Whether that is known
/// now; otherwise the delta before it may say.
pub(crate) fn follow(format: Format, bytes: &[u8], link: &mut Link) -> bool {
    link.begins = false;
    format != Format::ClaudeCodeV1 || claude::end(bytes, link)
}

/// A session file of Gemini CLI as lines, whichever kind it is.
pub(crate) fn gemini_lines(bytes: &[u8]) -> Result<std::borrow::Cow<'_, [u8]>> {
    gemini_join::to_lines(bytes)
}

fn to_lines(lines: &[Value]) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    for line in lines {
        serde_json::to_writer(&mut out, line).map_err(|error| Error::new(Code::InternalError, error.to_string()))?;
        out.push(b'\n');
    }
    Ok(out)
}

/// Splits turns so that the user has the results and the model has the calls and the thoughts, as every vendor wants it.
fn by_role(turns: &[Turn]) -> Vec<Turn> {
    let mut out: Vec<Turn> = Vec::with_capacity(turns.len());
    for turn in turns {
        let mut part = Turn { blocks: Vec::new(), ..turn.clone() };
        for block in &turn.blocks {
            let role = match block {
                Block::Text(_) | Block::Image(_) => part.role,
                Block::ToolResult { server: false, .. } => Role::User,
                Block::ToolResult { .. } | Block::ToolCall { .. } | Block::Reasoning { .. } => Role::Assistant,
            };
            if role != part.role {
                let next = Turn { role, blocks: Vec::new(), ..part.clone() };
                let before = std::mem::replace(&mut part, next);
                if !before.blocks.is_empty() {
                    out.push(before);
                }
            }
            part.blocks.push(block.clone());
        }
        out.push(part);
    }
    out
}
