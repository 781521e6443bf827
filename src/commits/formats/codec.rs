//! Reading and writing conversations, by format.

use std::borrow::Cow;

use serde::Serialize;

use super::continuation::{Continuation, call_id};
use super::format::{BlobSource, Format};
use super::{bureau, cbor_array, claude, codex, entries, entry_shape, events, exchange, gemini, gemini_join, generic};
use crate::commits::transcript::{ConversionReport, Role, Transcript, Turn};
use crate::content::Block;
use crate::error::{Diagnostic, Result};
use crate::json;
use crate::jsonl::IsRecord;
use crate::limits::Limits;

/// The options for reading a conversation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadOptions<'a> {
    /// Whether to read through compactions and leave out their summaries, instead of beginning with the newest summary.
    pub through_compactions: bool,
    /// The source of the blob, for errors.
    pub source: BlobSource<'a>,
}

impl Format {
    /// Whether the kind of a record of a line-based format is known. `kind` is its `type`, for `generic-v1` its `role`;
    /// `has` returns whether it has a field that is not null.
    pub(crate) fn knows_record(self, kind: &str, has: impl Fn(&str) -> bool) -> bool {
        match self {
            Self::ClaudeCodeV1 => claude::knows_record(kind),
            Self::CodexV0 | Self::CodexV1 if has("payload") => codex::knows_record(kind),
            Self::CodexV0 | Self::CodexV1 => !kind.is_empty() || ["record_type", "id", "role"].into_iter().any(has),
            Self::GenericV1 => generic::knows_role(kind),
            Self::GeminiV1 => {
                let is_message = !kind.is_empty() || has("id");
                if is_message {
                    gemini_join::knows_type(kind)
                } else {
                    ["sessionId", "$set", "$rewindTo"].into_iter().any(has)
                }
            }
            Self::CopilotCliV1 | Self::PiV3 | Self::QwenCodeV1 | Self::Sts => entry_shape::knows_record(self, kind),
            Self::AtifV17
            | Self::BureauAgentV1
            | Self::ClineV1
            | Self::ContinueV1
            | Self::EventsV1
            | Self::OpencodeExport
            | Self::OtelGenai => true,
        }
    }

    /// Recognizes a record of a line-based format, to distinguish it from a part of a damaged one.
    pub(crate) fn is_record(self) -> IsRecord {
        match self {
            Self::ClaudeCodeV1 => claude::is_record,
            Self::CodexV0 | Self::CodexV1 => codex::is_record(self == Self::CodexV1),
            Self::GeminiV1 => gemini_join::is_record,
            Self::GenericV1 => generic::is_record,
            Self::AtifV17
            | Self::ClineV1
            | Self::ContinueV1
            | Self::CopilotCliV1
            | Self::OpencodeExport
            | Self::OtelGenai
            | Self::PiV3
            | Self::QwenCodeV1
            | Self::Sts => entry_shape::is_record(self),
            Self::BureauAgentV1 | Self::EventsV1 => |_| false,
        }
    }

    /// Reads a conversation into a transcript, with diagnostics about damage and unknown content.
    ///
    /// # Errors
    /// [`InvalidBlob`](crate::Code::InvalidBlob) and [`LimitExceeded`](crate::Code::LimitExceeded) for CBOR that is
    /// malformed or too deep. Damaged JSON yields a diagnostic.
    pub fn read(
        self,
        bytes: &[u8],
        options: ReadOptions<'_>,
        limits: &Limits,
    ) -> Result<(Transcript, Vec<Diagnostic>)> {
        let BlobSource { commit, artifact_ref } = options.source;
        self.read_with_seed(bytes, options, limits, || format!("{commit} {artifact_ref}"))
    }

    /// Like [`Self::read`], with the seed of ids for calls without one.
    pub(crate) fn read_with_seed(
        self,
        bytes: &[u8],
        options: ReadOptions<'_>,
        limits: &Limits,
        seed: impl FnOnce() -> String,
    ) -> Result<(Transcript, Vec<Diagnostic>)> {
        let (source, through) = (options.source, options.through_compactions);
        self.refuse_compressed(bytes, source)?;
        let mut notes = ConversionReport::at(source.name());
        let mut transcript = match self {
            Self::BureauAgentV1 => bureau::read(bytes, limits.cbor_depth, source, &mut notes)?,
            Self::EventsV1 => events::read(bytes, limits.cbor_depth, source, &mut notes)?,
            Self::ClaudeCodeV1 => claude::read(bytes, through, &mut notes),
            Self::CodexV0 | Self::CodexV1 => codex::read(bytes, self == Self::CodexV1, through, &mut notes),
            Self::GeminiV1 => gemini::read(bytes, &mut notes),
            Self::GenericV1 => generic::read(bytes, &mut notes),
            Self::AtifV17
            | Self::ClineV1
            | Self::ContinueV1
            | Self::CopilotCliV1
            | Self::OpencodeExport
            | Self::OtelGenai
            | Self::PiV3
            | Self::QwenCodeV1
            | Self::Sts => entries::read(self, bytes, through, &mut notes),
        };
        if transcript.turns.is_empty() {
            notes.no_messages(bytes);
        }
        assign_call_ids(&mut transcript.turns, seed);
        Ok((transcript, notes.finish()))
    }

    /// Writes a transcript, with diagnostics about content that the format cannot express. Missing ids are derived from
    /// `seed`: the same seed yields the same bytes.
    ///
    /// # Errors
    /// [`UnknownValue`](crate::Code::UnknownValue) for a format that is not among [`Self::WRITTEN`];
    /// [`InternalError`](crate::Code::InternalError) if the result cannot be written.
    pub fn write(self, transcript: &Transcript, seed: &str) -> Result<(Vec<u8>, Vec<Diagnostic>)> {
        let mut notes = ConversionReport::default();
        let mut continuation = Continuation::new(seed);
        let bytes = write_part(self, &transcript.turns, None, &mut continuation, &mut notes)?;
        Ok((bytes, notes.finish()))
    }
}

/// Gives calls and results without an id one derived from the seed and their order.
fn assign_call_ids(turns: &mut [Turn], seed: impl FnOnce() -> String) {
    let lacks_id = |block: &Block<'_>| match block {
        Block::ToolCall { id, .. } | Block::ToolResult { tool_call_id: id, .. } => id.is_empty(),
        _ => false,
    };
    if !turns.iter().flat_map(|turn| &turn.blocks).any(lacks_id) {
        return;
    }
    let seed = seed();
    // The number of ids assigned, and of calls that are answered or never will be.
    let (mut given, mut answered, mut role) = (0_u64, 0_u64, Role::User);
    for turn in turns {
        let begins = turn.role != std::mem::replace(&mut role, turn.role);
        if begins && turn.blocks.iter().any(|block| lacks_id(block) && matches!(block, Block::ToolCall { .. })) {
            answered = given;
        }
        for block in turn.blocks.iter_mut().filter(|block| lacks_id(block)) {
            let is_call = matches!(block, Block::ToolCall { .. });
            if let Block::ToolCall { id, .. } | Block::ToolResult { tool_call_id: id, .. } = block {
                if is_call || answered == given {
                    given = given.saturating_add(1);
                }
                if !is_call {
                    answered = answered.saturating_add(1);
                }
                *id = call_id([&seed, &(if is_call { given } else { answered }).to_string()]).into();
            }
        }
    }
}

/// Writes turns as a delta that continues the previous one; `title` is that of the conversation, if the format has one.
pub(crate) fn write_part(
    format: Format,
    turns: &[Turn],
    title: Option<&str>,
    continuation: &mut Continuation,
    notes: &mut ConversionReport,
) -> Result<Vec<u8>> {
    let turns = &by_role(turns);
    let mut lines = match format {
        Format::BureauAgentV1 => {
            let mut out = cbor_array::with_header(0);
            let count = bureau::write(turns, &mut out, notes);
            cbor_array::write_header(&mut out, count);
            return Ok(out);
        }
        Format::ClaudeCodeV1 => claude::write(turns, continuation, notes),
        Format::CodexV0 => codex::write(turns, false, continuation, notes),
        Format::CodexV1 => codex::write(turns, true, continuation, notes),
        Format::GeminiV1 => gemini::write(turns, continuation, notes),
        Format::GenericV1 => return to_lines(generic::write(turns)),
        Format::PiV3 => exchange::write_pi(turns, continuation, notes),
        Format::Sts => exchange::write_sts(turns, continuation, notes),
        Format::AtifV17 | Format::OtelGenai => {
            let bytes = match format {
                Format::AtifV17 => exchange::write_atif(turns, continuation, notes),
                _ => exchange::write_otel(turns, notes),
            };
            continuation.begins = false;
            return Ok(bytes);
        }
        _ => return Err(format.not_written()),
    };
    if let Some(title) = title {
        lines.extend(claude::write_title(title, continuation));
    }
    continuation.begins = false;
    to_lines(lines)
}

/// Maps deltas to another version of their family, field by field.
pub(crate) fn map_fields(
    bytes: &[u8],
    to: Format,
    through: bool,
    continuation: &mut Continuation,
    notes: &mut ConversionReport,
) -> Result<Vec<u8>> {
    let lines = match to {
        Format::CodexV0 => codex::to_v0(bytes, through, notes),
        _ => codex::to_v1(bytes, continuation, notes),
    };
    continuation.begins = false;
    to_lines(lines)
}

/// Records how a delta in the target format ends; false if it cannot be determined.
pub(crate) fn follow(format: Format, bytes: &[u8], continuation: &mut Continuation) -> bool {
    continuation.begins = false;
    match format {
        Format::ClaudeCodeV1 => claude::end(bytes, continuation),
        Format::PiV3 => entries::end(format, bytes, continuation),
        _ => true,
    }
}

fn to_lines(lines: impl IntoIterator<Item: Serialize>) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    for line in lines {
        json::append(&mut out, &line)?;
        out.push(b'\n');
    }
    Ok(out)
}

/// Splits turns so that all results are in user turns, and all calls and reasoning in model turns.
fn by_role(turns: &[Turn]) -> Cow<'_, [Turn]> {
    let role_of = |block: &Block, role: Role| match block {
        Block::Text(_) | Block::Image(_) | Block::Audio(_) | Block::Vendor(_) => role,
        Block::ToolResult { server: false, .. } => Role::User,
        Block::ToolResult { .. } | Block::ToolCall { .. } | Block::Reasoning { .. } => Role::Assistant,
    };
    if turns.iter().all(|turn| turn.blocks.iter().all(|block| role_of(block, turn.role) == turn.role)) {
        return Cow::Borrowed(turns);
    }
    let mut out: Vec<Turn> = Vec::with_capacity(turns.len());
    for turn in turns {
        let without_blocks = |role| Turn {
            role,
            blocks: Vec::new(),
            id: turn.id.clone(),
            timestamp: turn.timestamp.clone(),
            model: turn.model.clone(),
            summary: turn.summary,
        };
        let mut part = without_blocks(turn.role);
        for block in &turn.blocks {
            let role = role_of(block, part.role);
            if role != part.role {
                let before = std::mem::replace(&mut part, without_blocks(role));
                if !before.blocks.is_empty() {
                    out.push(before);
                }
            }
            part.blocks.push(block.clone());
        }
        out.push(part);
    }
    Cow::Owned(out)
}
