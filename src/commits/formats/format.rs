//! The names of the formats, and the source of a blob for errors and diagnostics.

use std::fmt;

use crate::commits::transcript::within;
use crate::content::Vendor;
use crate::error::{Code, Diagnostic, Error, Result};
use crate::json::{Document, quoted};

/// The first bytes of compressed files, the compression, and a command that decompresses them.
const COMPRESSIONS: [(&[u8], &str, &str); 2] =
    [(b"\x28\xb5\x2f\xfd", "zstd", "zstd -d"), (b"\x1f\x8b", "gzip", "gzip -d")];

/// A format in the registry (docs/session-formats.md).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Format {
    /// `atif-1.7`: trajectories of the Agent Trajectory Interchange Format.
    AtifV17,
    /// `bureau-agent-v1`: a CBOR array of messages.
    BureauAgentV1,
    /// `claude-code-v1`: Claude Code's transcripts.
    ClaudeCodeV1,
    /// `cline-v1`: the sessions of Cline and Roo Code.
    ClineV1,
    /// `codex-v0`: Codex rollouts before items had an envelope.
    CodexV0,
    /// `codex-v1`: Codex rollouts.
    CodexV1,
    /// `continue-v1`: the sessions of Continue.
    ContinueV1,
    /// `copilot-cli-v1`: the events of Copilot CLI.
    CopilotCliV1,
    /// `events-v1`: a CBOR array of the events of a live session of Bureau.
    EventsV1,
    /// `gemini-v1`: Gemini CLI's session files.
    GeminiV1,
    /// `generic-v1`: a line of `{ role, content }` for each message.
    GenericV1,
    /// `opencode-export`: the sessions of OpenCode, as its command `export` writes them.
    OpencodeExport,
    /// `otel-genai`: messages of OpenTelemetry's conventions for generative AI.
    OtelGenai,
    /// `pi-v3`: the sessions of pi.
    PiV3,
    /// `qwen-code-v1`: the sessions of Qwen Code.
    QwenCodeV1,
    /// `sts`: sessions of any agent for Hugging Face, with messages as pi writes them.
    Sts,
}

impl Format {
    /// Every format, in the order of their names.
    pub const ALL: &'static [Self] = &[
        Self::AtifV17,
        Self::BureauAgentV1,
        Self::ClaudeCodeV1,
        Self::ClineV1,
        Self::CodexV0,
        Self::CodexV1,
        Self::ContinueV1,
        Self::CopilotCliV1,
        Self::EventsV1,
        Self::GeminiV1,
        Self::GenericV1,
        Self::OpencodeExport,
        Self::OtelGenai,
        Self::PiV3,
        Self::QwenCodeV1,
        Self::Sts,
    ];

    /// The formats that can be written; the others are only read and joined.
    pub const WRITTEN: &'static [Self] = &[
        Self::AtifV17,
        Self::BureauAgentV1,
        Self::ClaudeCodeV1,
        Self::CodexV0,
        Self::CodexV1,
        Self::GeminiV1,
        Self::GenericV1,
        Self::OtelGenai,
        Self::PiV3,
        Self::Sts,
    ];

    /// The name in the field `format` of records.
    pub const fn name(self) -> &'static str {
        match self {
            Self::AtifV17 => "atif-1.7",
            Self::BureauAgentV1 => "bureau-agent-v1",
            Self::ClaudeCodeV1 => "claude-code-v1",
            Self::ClineV1 => "cline-v1",
            Self::CodexV0 => "codex-v0",
            Self::CodexV1 => "codex-v1",
            Self::ContinueV1 => "continue-v1",
            Self::CopilotCliV1 => "copilot-cli-v1",
            Self::EventsV1 => "events-v1",
            Self::GeminiV1 => "gemini-v1",
            Self::GenericV1 => "generic-v1",
            Self::OpencodeExport => "opencode-export",
            Self::OtelGenai => "otel-genai",
            Self::PiV3 => "pi-v3",
            Self::QwenCodeV1 => "qwen-code-v1",
            Self::Sts => "sts",
        }
    }

    /// The format of this name, if it is in the registry.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|format| format.name() == name)
    }

    /// The format of this name.
    ///
    /// # Errors
    /// [`Code::UnknownValue`], with the known names and the path `format`.
    pub fn named(name: &str) -> Result<Self> {
        Self::from_name(name).ok_or_else(|| unknown_format(name))
    }

    /// Whether conversations of the format are joined by appending bytes, as in [`super::append`].
    pub(crate) const fn is_appended(self) -> bool {
        !matches!(self, Self::GeminiV1) && !self.is_cbor() && !self.is_document()
    }

    /// Whether a session is an array in CBOR.
    pub(crate) const fn is_cbor(self) -> bool {
        matches!(self, Self::BureauAgentV1 | Self::EventsV1)
    }

    /// Whether a session is one JSON value, which the agent writes as a whole.
    pub(crate) const fn is_document(self) -> bool {
        matches!(self, Self::AtifV17 | Self::ClineV1 | Self::ContinueV1 | Self::OpencodeExport | Self::OtelGenai)
    }

    /// Whether a summary in such a file hides everything before it.
    pub(crate) const fn hides_before_summary(self) -> bool {
        matches!(self, Self::AtifV17 | Self::ClaudeCodeV1 | Self::PiV3)
    }

    /// The error for a format that cannot be written.
    pub(crate) fn not_written(self) -> Error {
        let expected: Vec<&str> = Self::WRITTEN.iter().map(|format| format.name()).collect();
        let message = format!("`{self}` can be read but not written; use one of {}", quoted(&expected));
        Error::new(Code::UnknownValue, message)
            .with("path", "format")
            .with("value", self.name())
            .with("expected", expected)
    }

    /// Refuses a compressed file, as Codex leaves its older rollouts.
    ///
    /// # Errors
    /// [`Code::InvalidBlob`].
    pub(crate) fn refuse_compressed(self, bytes: &[u8], source: BlobSource<'_>) -> Result<()> {
        match COMPRESSIONS.iter().find(|(first, ..)| bytes.starts_with(first)) {
            Some((_, name, program)) => Err(source.invalid(
                self.name(),
                &format!("it is compressed by {name}; decompress it first, for example with `{program}`"),
            )),
            None => Ok(()),
        }
    }

    /// The vendor whose models sign the reasoning in such a file; `None` for a format of several vendors.
    pub(crate) const fn vendor(self) -> Option<Vendor> {
        match self {
            Self::BureauAgentV1 | Self::ClaudeCodeV1 => Some(Vendor::Anthropic),
            Self::CodexV0 | Self::CodexV1 => Some(Vendor::OpenAi),
            Self::GeminiV1 | Self::QwenCodeV1 => Some(Vendor::Google),
            Self::AtifV17
            | Self::ClineV1
            | Self::ContinueV1
            | Self::CopilotCliV1
            | Self::EventsV1
            | Self::GenericV1
            | Self::OpencodeExport
            | Self::OtelGenai
            | Self::PiV3
            | Self::Sts => None,
        }
    }

    /// The family of the format: versions of one family can be mapped field by field.
    pub const fn family(self) -> &'static str {
        match self {
            Self::AtifV17 => "atif",
            Self::BureauAgentV1 => "bureau-agent",
            Self::ClaudeCodeV1 => "claude-code",
            Self::ClineV1 => "cline",
            Self::CodexV0 | Self::CodexV1 => "codex",
            Self::ContinueV1 => "continue",
            Self::CopilotCliV1 => "copilot-cli",
            Self::EventsV1 => "events",
            Self::GeminiV1 => "gemini",
            Self::GenericV1 => "generic",
            Self::OpencodeExport => "opencode",
            Self::OtelGenai => "otel",
            Self::PiV3 => "pi",
            Self::QwenCodeV1 => "qwen-code",
            Self::Sts => "sts",
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

fn unknown_format(name: &str) -> Error {
    let expected: Vec<&str> = Format::ALL.iter().map(|format| format.name()).collect();
    let message = format!("unknown format `{name}`; use one of {}", quoted(&expected));
    Error::new(Code::UnknownValue, message).with("path", "format").with("value", name).with("expected", expected)
}

/// Reads a JSON text that the caller did not pass as a request; `what` is its name in errors.
///
/// # Errors
/// [`Code::InvalidInput`] if the text is not one JSON value, [`Code::LimitExceeded`] if it is too deep.
pub(crate) fn read_json<'t>(text: &'t str, what: &str) -> Result<Document<'t>> {
    let (document, end) = Document::read_first(text).map_err(|stopped| stopped.error(text, what))?;
    if text.get(end..).unwrap_or_default().trim_ascii().is_empty() {
        return Ok(document);
    }
    Err(Error::new(Code::InvalidInput, format!("{what} has trailing data after the JSON value at byte {end}")))
}

/// The source of a blob, for errors and diagnostics. Unknown fields are empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BlobSource<'a> {
    /// The id of the commit.
    pub commit: &'a str,
    /// The ref of the blob.
    pub artifact_ref: &'a str,
}

impl BlobSource<'_> {
    pub(crate) fn invalid(&self, format: &str, reason: &str) -> Error {
        let place = match (self.artifact_ref, self.commit) {
            ("", "") => "the blob".to_owned(),
            (blob, "") => format!("the blob `{blob}`"),
            ("", commit) => format!("the blob of commit `{commit}`"),
            (blob, commit) => format!("the blob `{blob}` of commit `{commit}`"),
        };
        let mut error = Error::new(Code::InvalidBlob, format!("{place} cannot be read as `{format}`: {reason}"))
            .with("format", format)
            .with("reason", reason);
        if !self.commit.is_empty() {
            error = error.with("commitId", self.commit);
        }
        if !self.artifact_ref.is_empty() {
            error = error.with("artifactRef", self.artifact_ref);
        }
        error
    }

    /// The commit, else the blob, for findings.
    pub(crate) fn name(&self) -> &str {
        if self.commit.is_empty() { self.artifact_ref } else { self.commit }
    }

    /// Adds the blob to a finding.
    pub(crate) fn place(&self, finding: Diagnostic) -> Diagnostic {
        within(self.name(), finding)
    }

    /// Adds the blob to an error.
    pub(crate) fn about(&self, error: Error) -> Error {
        error.with("commitId", self.commit).with("artifactRef", self.artifact_ref)
    }
}
