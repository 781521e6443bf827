//! The state of an import, as a host stores it.

use super::commit_index::CommitIndex;
use crate::commits::artifact::artifact_ref;
use crate::commits::formats::Format;
use crate::error::{Code, Error, Result};
use crate::json::{Document, JsonWriter, Object, Value};

/// The version of the state.
const VERSION: u32 = 1;

/// Consumed bytes that are passed again, to check that the file is the same.
const CHECKED: usize = 256;

/// Bytes of the longest header that is stored.
const LONGEST_HEADER: usize = 32 * 1024;

/// The state of an import. Its size does not depend on the file's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resume {
    /// The format of the file.
    pub format: Format,
    /// The offset in the file at which the bytes for the next import begin.
    pub offset: u64,
    /// The number of bytes of the file that are in commits or were skipped.
    pub consumed: u64,
    pub(super) state: State,
}

/// The data for the next import.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct State {
    /// A hash of the options that commits depend on.
    options: String,
    /// The ref of the bytes from `offset` to `consumed`.
    check: String,
    /// The number of lines consumed.
    pub line: u32,
    pub session: Option<String>,
    /// The newest time.
    pub time: Option<String>,
    /// The newest commit of the conversation.
    pub tip: Option<String>,
    /// The line with which a compaction's blob begins.
    pub header: Header<String>,
    /// For a Claude Code file: the records that later ones may refer to.
    pub known: Option<CommitIndex>,
}

impl State {
    fn write_json(&self, json: &mut JsonWriter) {
        json.object(|json| {
            json.text_field("options", &*self.options);
            json.text_field("check", &*self.check);
            json.value_field("line", &self.line);
            json.optional_text_field("session", self.session.as_deref());
            json.optional_text_field("time", self.time.as_deref());
            json.optional_text_field("tip", self.tip.as_deref());
            match &self.header {
                Header::None => {}
                Header::Line(line) => json.text_field("header", &**line),
                Header::NotKept => json.raw_field("header", "false"),
            }
            if let Some(known) = &self.known {
                json.key("known");
                known.write_json(json);
            }
        });
    }
}

/// The header of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Header<T> {
    /// No header, or none so far.
    #[default]
    None,
    Line(T),
    /// Too long to be stored, or not UTF-8.
    NotKept,
}

impl Header<&[u8]> {
    fn kept(self) -> Header<String> {
        match self {
            Self::None => Header::None,
            Self::Line(line) if line.len() <= LONGEST_HEADER => {
                std::str::from_utf8(line).map_or(Header::NotKept, |line| Header::Line(line.to_owned()))
            }
            Self::Line(_) | Self::NotKept => Header::NotKept,
        }
    }
}

impl Header<String> {
    pub(super) fn borrowed(&self) -> Header<&[u8]> {
        match self {
            Self::None => Header::None,
            Self::Line(line) => Header::Line(line.as_bytes()),
            Self::NotKept => Header::NotKept,
        }
    }
}

/// An offset before which everything is committed.
#[derive(Clone, Debug, Default)]
pub(super) struct CommittedPrefix<'a> {
    /// The offset in the bytes of this import.
    pub at: usize,
    pub line: u32,
    pub session: Option<String>,
    pub time: Option<String>,
    pub tip: Option<String>,
    pub header: Header<&'a [u8]>,
}

impl CommittedPrefix<'_> {
    /// The state to store. `bytes` begin at `base` in the file.
    pub(super) fn resume(
        &self,
        format: Format,
        bytes: &[u8],
        base: u64,
        options: &str,
        known: Option<&CommitIndex>,
    ) -> Resume {
        // A session that is one value is passed as a whole each time.
        let from = if format.is_document() { 0 } else { self.at.saturating_sub(CHECKED) };
        Resume {
            format,
            offset: base.saturating_add(from as u64),
            consumed: base.saturating_add(self.at as u64),
            state: State {
                options: options.to_owned(),
                check: artifact_ref(bytes.get(from..self.at).unwrap_or_default()),
                line: self.line,
                session: self.session.clone(),
                time: self.time.clone(),
                tip: self.tip.clone(),
                header: self.header.kept(),
                known: known.map(CommitIndex::kept),
            },
        }
    }
}

impl Resume {
    /// Checks that the state belongs to this file and these options.
    pub(super) fn check(&self, format: Format, bytes: &[u8], options: &str, whole_file: bool) -> Result<()> {
        if self.format != format {
            return Err(self.mismatch(&format!("it belongs to a `{}` file", self.format)));
        }
        if self.state.options != options {
            return Err(self.mismatch("the options differ from those of the earlier import"));
        }
        if whole_file {
            return if (bytes.len() as u64) < self.consumed { Err(self.shorter()) } else { Ok(()) };
        }
        let Some(overlap) = bytes.get(..self.overlap()) else { return Err(self.shorter()) };
        if artifact_ref(overlap) != self.state.check {
            return Err(self.mismatch("the file was rewritten, or the bytes do not begin at `offset`"));
        }
        Ok(())
    }

    /// The number of given bytes that were already consumed.
    pub(super) fn overlap(&self) -> usize {
        usize::try_from(self.consumed.saturating_sub(self.offset)).unwrap_or(usize::MAX)
    }

    fn shorter(&self) -> Error {
        self.mismatch("the file was truncated, or the bytes do not begin at `offset`")
    }

    pub(super) fn mismatch(&self, reason: &str) -> Error {
        mismatch(reason).with("consumed", self.consumed)
    }

    /// The state as JSON text.
    pub fn to_json(&self) -> String {
        let mut json = JsonWriter::default();
        self.write_json(&mut json);
        json.finish_text()
    }

    pub(crate) fn write_json(&self, json: &mut JsonWriter) {
        json.object(|json| {
            json.value_field("version", &VERSION);
            json.text_field("format", self.format.name());
            json.value_field("offset", &self.offset);
            json.value_field("consumed", &self.consumed);
            json.key("state");
            self.state.write_json(json);
        });
    }

    /// Reads the output of [`Resume::to_json`].
    ///
    /// # Errors
    /// [`Code::InvalidInput`] for other JSON, [`Code::ResumeMismatch`] for another version.
    pub fn from_json(json: &[u8]) -> Result<Self> {
        Self::read(Document::read(json, &[])?.root())
    }

    pub(crate) fn read(value: Value<'_>) -> Result<Self> {
        let fields = value.object("the `resume` of an earlier import")?;
        if fields.need("version")?.whole(u32::MAX)? != VERSION {
            return Err(mismatch("it has another version"));
        }
        fields.only(&["version", "format", "offset", "consumed", "state"])?;
        let state = fields.need("state")?.object("an object")?;
        state.only(&["options", "check", "line", "session", "time", "tip", "header", "known"])?;
        let text = |object: Object<'_>, name: &str| object.need(name)?.string();
        let named = fields.need("format")?;
        let format = Format::named(&named.text()?).map_err(|error| error.with("path", named.path()))?;
        let (offset, consumed) = (fields.need("offset")?.safe_integer()?, fields.need("consumed")?.safe_integer()?);
        if offset > consumed {
            return Err(mismatch("its `offset` is past the consumed bytes"));
        }
        Ok(Self {
            format,
            offset,
            consumed,
            state: State {
                options: text(state, "options")?,
                check: text(state, "check")?,
                line: state.need("line")?.whole(u32::MAX)?,
                session: state.string("session")?,
                time: state.string("time")?,
                tip: state.string("tip")?,
                header: match state.get("header")? {
                    None => Header::None,
                    Some(header) => header.as_text().map_or(Header::NotKept, |line| Header::Line(line.into_owned())),
                },
                known: state.get("known")?.map(CommitIndex::read).transpose()?,
            },
        })
    }
}

fn mismatch(reason: &str) -> Error {
    let message = format!("`resume` does not match: {reason}; import the whole file without `resume`");
    Error::new(Code::ResumeMismatch, message).with("reason", reason)
}
