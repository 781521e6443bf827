//! Transcripts over the wire: options in, results out (SPEC §7).

use std::rc::Rc;

use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;

use crate::commits::artifact::artifact_ref;
use crate::commits::conversation::{LoomTreeData, Messages, to_loom_tree, to_messages};
use crate::commits::formats::{BlobSource, Format, ReadOptions};
use crate::commits::import::{Import, ImportOptions, import_transcript};
use crate::commits::translate::{Delta, Tier, TranslateOptions, cross_family, translate};
use crate::error::{Code, Diagnostic, Error, Result};
use crate::input::Content;
use crate::json::{self, AnyJson};
use crate::limits::{LimitOverrides, whole};
use crate::tokens::{Counter, TokenizerChoice, Tokenizers};

/// Bytes of a result: a `Uint8Array` in JavaScript, a list of numbers in JSON.
#[derive(Debug)]
pub struct Bytes(pub Vec<u8>);

impl Serialize for Bytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.0)
    }
}

/// Options of `transcriptToMessages` and `transcriptToLoomTree`.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, expecting = "options, an object")]
pub struct ReadIn {
    through_compactions: Option<bool>,
    limits: Option<LimitOverrides>,
}

/// Options of `importTranscript`.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, expecting = "options, an object")]
pub struct ImportIn {
    template: Option<String>,
    principal: Option<String>,
    machine: Option<String>,
    session_id: Option<String>,
    ticket_id: Option<String>,
    thread_id: Option<String>,
    parent: Option<String>,
    created_at: Option<String>,
    every_turns: Option<f64>,
    tokenizer: Option<TokenizerChoice>,
    limits: Option<LimitOverrides>,
}

/// What `importTranscript` gives.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ImportOut {
    #[serde(skip_serializing_if = "Option::is_none")]
    tip: Option<String>,
    records: Vec<Value>,
    blobs: Vec<BlobOut>,
    branches: Vec<BranchOut>,
    diagnostics: Vec<Diagnostic>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct BlobOut {
    artifact_ref: String,
    bytes: Bytes,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct BranchOut {
    tip: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<String>,
    side_chain: bool,
}

/// The request of `translateTranscript`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", expecting = "a request, an object with `parts` and `format`")]
pub struct TranslateIn {
    parts: Vec<PartIn>,
    format: String,
    cross_family: Option<String>,
    through_compactions: Option<bool>,
    tokenizer: Option<TokenizerChoice>,
    limits: Option<LimitOverrides>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", expecting = "a part, an object with `format` and `bytes`")]
struct PartIn {
    format: String,
    bytes: Content,
    commit: Option<String>,
    artifact_ref: Option<String>,
    summary: Option<String>,
}

/// What `translateTranscript` gives.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TranslateOut {
    bytes: Bytes,
    artifact_ref: String,
    format: String,
    tier: Tier,
    message_count: u32,
    token_count: u32,
    diagnostics: Vec<Diagnostic>,
}

/// Bytes, or a string for the UTF-8 of it.
fn bytes_of<'c>(content: &'c Content, path: &str) -> Result<&'c [u8]> {
    match content {
        Content::Text(text) => Ok(text.as_bytes()),
        Content::Bytes(bytes) => Ok(bytes),
        Content::Unreadable(_) => {
            Err(Error::new(Code::InvalidInput, format!("`{path}` must be bytes or a string")).with("path", path))
        }
    }
}

impl ReadIn {
    /// Answers `transcriptToMessages`.
    ///
    /// # Errors
    /// [`Code::UnknownValue`] for a format that is not known; those of [`Format::read`].
    pub fn messages(&self, format: &str, bytes: &[u8]) -> Result<Messages> {
        self.read(format, bytes).map(|(transcript, found)| to_messages(transcript, found))
    }

    /// Answers `transcriptToLoomTree`.
    ///
    /// # Errors
    /// [`Code::UnknownValue`] for a format that is not known; those of [`Format::read`].
    pub fn loom_tree(&self, format: &str, bytes: &[u8]) -> Result<LoomTreeData> {
        self.read(format, bytes).map(|(transcript, found)| to_loom_tree(transcript, found))
    }

    fn read(&self, format: &str, bytes: &[u8]) -> Result<(crate::commits::transcript::Transcript, Vec<Diagnostic>)> {
        let limits = self.limits.unwrap_or_default().resolve()?;
        crate::limits::check("inputBytes", bytes.len(), limits.input_bytes)?;
        let through_compactions = self.through_compactions.unwrap_or(false);
        let read = ReadOptions { through_compactions, source: BlobSource::default() };
        Format::named(format)?.read(bytes, read, &limits)
    }
}

impl ImportIn {
    /// Answers `importTranscript`.
    ///
    /// # Errors
    /// [`Code::UnknownValue`] for a format that is not known; those of [`import_transcript`].
    pub fn answer(
        self,
        format: &str,
        bytes: &[u8],
        tokenizers: &Tokenizers,
        own: Option<Rc<dyn Counter>>,
    ) -> Result<ImportOut> {
        let counter = TokenizerChoice::counter(self.tokenizer.as_ref(), tokenizers, own)?;
        let limits = self.limits.unwrap_or_default().resolve()?;
        let every = self.every_turns.map_or(Ok(1), |every| whole("everyTurns", every))?;
        let options = ImportOptions {
            template: self.template.as_deref(),
            principal: self.principal.as_deref(),
            machine: self.machine.as_deref(),
            session_id: self.session_id.as_deref(),
            ticket_id: self.ticket_id.as_deref(),
            thread_id: self.thread_id.as_deref(),
            parent: self.parent.as_deref(),
            created_at: self.created_at.as_deref(),
            every,
            counter: counter.as_ref(),
            limits: &limits,
        };
        let Import { records, blobs, tip, branches, diagnostics } =
            import_transcript(Format::named(format)?, bytes, &options)?;
        let records = records.iter().map(|record| {
            let AnyJson(value) = json::read(record.to_json().as_bytes())?;
            Ok(value)
        });
        let branch = |branch: crate::commits::import::ImportedBranch| BranchOut {
            tip: branch.tip,
            from: branch.from,
            side_chain: branch.side_chain,
        };
        Ok(ImportOut {
            tip,
            records: records.collect::<Result<_>>()?,
            blobs: blobs
                .into_iter()
                .map(|(artifact_ref, bytes)| BlobOut { artifact_ref, bytes: Bytes(bytes) })
                .collect(),
            branches: branches.into_iter().map(branch).collect(),
            diagnostics,
        })
    }
}

impl PartIn {
    fn with<'p>(&'p self, blob: &'p [u8]) -> Delta<'p> {
        let source = BlobSource {
            commit: self.commit.as_deref().unwrap_or_default(),
            artifact_ref: self.artifact_ref.as_deref().unwrap_or_default(),
        };
        Delta { format: &self.format, blob, source, summary: self.summary.as_deref() }
    }
}

impl TranslateIn {
    /// Answers `translateTranscript`.
    ///
    /// # Errors
    /// [`Code::UnknownValue`] for a `crossFamily` that is not known; those of [`translate`].
    pub fn answer(self, tokenizers: &Tokenizers, own: Option<Rc<dyn Counter>>) -> Result<TranslateOut> {
        let counter = TokenizerChoice::counter(self.tokenizer.as_ref(), tokenizers, own)?;
        let limits = self.limits.unwrap_or_default().resolve()?;
        let blobs =
            self.parts.iter().enumerate().map(|(at, part)| bytes_of(&part.bytes, &format!("parts[{at}].bytes")));
        let blobs = blobs.collect::<Result<Vec<_>>>()?;
        crate::limits::check("inputBytes", blobs.iter().map(|blob| blob.len()).sum(), limits.input_bytes)?;
        let parts: Vec<Delta<'_>> = self.parts.iter().zip(&blobs).map(|(part, blob)| part.with(blob)).collect();
        let options = TranslateOptions {
            cross_family: cross_family(self.cross_family.as_deref())?,
            through_compactions: self.through_compactions.unwrap_or(false),
            limits: &limits,
            counter: counter.as_ref(),
        };
        let done = translate(&parts, &self.format, &options)?;
        Ok(TranslateOut {
            artifact_ref: artifact_ref(&done.bytes),
            bytes: Bytes(done.bytes),
            format: self.format,
            tier: done.tier,
            message_count: done.message_count,
            token_count: done.token_count,
            diagnostics: done.diagnostics,
        })
    }
}

/// Reads options from JSON text; absent ones are those of default.
///
/// # Errors
/// [`Code::InvalidInput`] for another shape.
pub fn options_from_json<T: for<'de> Deserialize<'de> + Default>(text: &[u8]) -> Result<T> {
    Ok(json::read::<Option<T>>(text)?.unwrap_or_default())
}

/// Reads a request from JSON text, bytes as lists of numbers.
///
/// # Errors
/// [`Code::InvalidInput`] for another shape.
pub fn translate_from_json(text: &[u8]) -> Result<TranslateIn> {
    json::read(text)
}
