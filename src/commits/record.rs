//! The record of a commit, in snake_case, with unknown fields preserved (docs/commits.md).

use crate::commits::artifact::{RefForm, invalid_ref};
use crate::commits::formats::BlobSource;
use crate::commits::id::{ID_PREFIX, commit_id, is_id};
use crate::error::{Code, Error, Result};
use crate::json::{self, Document, JsonWriter, Object, Value, append_compact};
use crate::maps::SortedSet;
use crate::time::Timestamp;

/// The version of records that this crate writes and can change.
pub const RECORD_VERSION: u32 = 1;

/// Declares an enum of wire names that preserves unknown ones, which a later version may have.
macro_rules! names {
    ($(#[$meta:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $wire:literal;)+ }) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum $name {
            $($(#[$doc])* $variant,)+
            /// A name of a later version of records.
            Other(String),
        }

        impl $name {
            /// Every name of version 1.
            pub const NAMES: &'static [&'static str] = &[$($wire),+];

            /// Reads a name.
            pub fn from_name(name: &str) -> Self {
                match name {
                    $($wire => Self::$variant,)+
                    other => Self::Other(other.to_owned()),
                }
            }

            /// Reads a name; an unknown one is only valid in a newer version of records.
            fn known(field: &str, name: &str, newer: bool) -> Result<Self> {
                match Self::from_name(name) {
                    Self::Other(name) if !newer => {
                        Err(json::unknown_value(&format!("`{field}`"), &name, Self::NAMES).with("path", field))
                    }
                    known => Ok(known),
                }
            }

            /// The name in JSON.
            pub fn as_str(&self) -> &str {
                match self {
                    $(Self::$variant => $wire,)+
                    Self::Other(name) => name,
                }
            }
        }
    };
}

names! {
    /// The kind of a commit's artifact.
    CommitType {
        /// The messages since the parent.
        Delta = "delta";
        /// A summary that replaces everything before it.
        Compaction = "compaction";
        /// The whole conversation up to there: a cache, or an imported conversation.
        Snapshot = "snapshot";
    }
}

names! {
    /// The reason for a commit.
    Trigger {
        /// The assistant has finished its answer.
        TurnBoundary = "turn_boundary";
        /// A tool has returned its result.
        ToolCall = "tool_call";
        /// The context was compacted.
        Compaction = "compaction";
        /// The session has ended.
        SessionEnd = "session_end";
        /// On request.
        Explicit = "explicit";
    }
}

/// A commit. An empty text is the same as an absent one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// The id, `ctx-…`.
    pub id: String,
    /// The version of the record's schema. Above [`RECORD_VERSION`] it can be read, not changed.
    pub version: u32,
    /// The parent commit; `None` for the root of a conversation.
    pub parent: Option<String>,
    /// The kind of the artifact.
    pub commit_type: CommitType,
    /// The ref of the blob: `blake3:` and 64 hex digits. In imported records it may be the short form.
    pub artifact_ref: String,
    /// The format of the blob, which determines how blobs are joined and read.
    pub format: String,
    /// The provenance.
    pub provenance: Provenance,
    /// The reason for the commit.
    pub checkpoint: Option<Trigger>,
    /// A summary of the agent's understanding, for people. Mutable.
    pub summary: Option<String>,
    /// Search terms. Mutable.
    pub tags: Vec<String>,
    /// Messages in the blob.
    pub message_count: Option<u64>,
    /// Tokens of the blob, approximately.
    pub token_count: Option<u64>,
    /// The time it was made, RFC 3339, as passed.
    pub created_at: String,
    /// Fields that version 1 does not have, as JSON text, in their order.
    pub other: Vec<(String, String)>,
}

/// The field in records of an imported side chain that names the commit which started it.
pub(crate) const SIDE_CHAIN_OF: &str = "side_chain_of";

/// The provenance of a commit, as far as known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Provenance {
    /// The kind of agent.
    pub template: Option<String>,
    /// The agent's identity.
    pub principal: Option<String>,
    /// The machine it runs on.
    pub machine: Option<String>,
    /// The session.
    pub session_id: Option<String>,
    /// The ticket.
    pub ticket_id: Option<String>,
    /// The thread.
    pub thread_id: Option<String>,
}

impl Provenance {
    /// The field names in records.
    pub(crate) const FIELDS: [&str; 6] = ["template", "principal", "machine", "session_id", "ticket_id", "thread_id"];
    /// The option names for importing a session file.
    pub(crate) const OPTIONS: [&str; 6] = ["template", "principal", "machine", "sessionId", "ticketId", "threadId"];

    pub(crate) fn read(names: [&str; 6], text: &dyn Fn(&str) -> Result<Option<String>>) -> Result<Self> {
        let mut read = Self::default();
        for (name, field) in names.into_iter().zip(read.fields()) {
            *field = text(name)?;
        }
        Ok(read)
    }

    pub(crate) fn fields(&mut self) -> [&mut Option<String>; 6] {
        let Self { template, principal, machine, session_id, ticket_id, thread_id } = self;
        [template, principal, machine, session_id, ticket_id, thread_id]
    }
}

/// The origin of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// A request to make one: with defaults and an optional id.
    Request,
    /// A store: complete.
    Stored,
}

impl Record {
    /// A record with the required fields; [`Record::seal`] sets its id once the others are set.
    pub fn new(commit_type: CommitType, artifact_ref: &str, format: &str, created_at: &str) -> Self {
        Self {
            id: String::new(),
            version: RECORD_VERSION,
            parent: None,
            commit_type,
            artifact_ref: artifact_ref.to_owned(),
            format: format.to_owned(),
            provenance: Provenance::default(),
            checkpoint: None,
            summary: None,
            tags: Vec::new(),
            message_count: None,
            token_count: None,
            created_at: created_at.to_owned(),
            other: Vec::new(),
        }
    }

    /// Sets the id derived from its fields.
    #[must_use]
    pub fn seal(mut self) -> Self {
        self.id = self.derived_id();
        self
    }

    /// The id derived from its fields; records of other tools may have another one.
    pub fn derived_id(&self) -> String {
        commit_id(self.parent.as_deref(), &self.artifact_ref, &self.created_at, self.provenance.template.as_deref())
    }

    /// `created_at` as a time; `None` if it is not RFC 3339, which is possible in imported records.
    pub fn time(&self) -> Option<Timestamp> {
        Timestamp::parse(&self.created_at)
    }

    /// The source of its blob, for errors.
    pub(crate) fn source(&self) -> BlobSource<'_> {
        BlobSource { commit: &self.id, artifact_ref: &self.artifact_ref }
    }

    pub(crate) fn lacks_summary(&self) -> bool {
        self.summary.as_deref().is_none_or(|summary| summary.trim().is_empty())
    }

    /// Whether two records are equal except for summary, tags, and the commit that started a side chain, which changes
    /// when lines are added to that commit.
    pub(crate) fn same_commit(&self, other: &Self) -> bool {
        let unchanging = |record: &Self| {
            let mut record = Self { summary: None, tags: Vec::new(), ..record.clone() };
            record.other.retain(|(name, _)| name != SIDE_CHAIN_OF);
            record
        };
        unchanging(self) == unchanging(other)
    }

    /// Reads a record from JSON text.
    ///
    /// # Errors
    /// [`Code::InvalidInput`] for a field that is missing, duplicate or of the wrong kind, [`Code::UnknownValue`] for a
    /// name that version 1 does not have, [`Code::LimitExceeded`] for JSON that is too deep.
    pub fn from_json(text: &[u8]) -> Result<Self> {
        Self::read(Document::read(text, &[])?.root(), Origin::Stored)
    }

    pub(crate) fn read(record: Value<'_>, origin: Origin) -> Result<Self> {
        let fields = record.object("a record, an object")?;
        let text = |name: &str| given_text(fields, name);
        let required = |name| text(name)?.ok_or_else(|| missing(record, name));
        let version = fields.read("version", |version| version.whole(u32::MAX))?.unwrap_or(RECORD_VERSION);
        if version == 0 {
            return Err(Error::new(Code::InvalidInput, "`version` must be 1 or more").with("path", "version"));
        }
        let newer = version > RECORD_VERSION;
        let (commit_type, checkpoint) = match origin {
            Origin::Request => (Some("delta".to_owned()), Some("explicit".to_owned())),
            Origin::Stored => (None, None),
        };
        // An empty name is unknown, not missing.
        let commit_type =
            fields.string("commit_type")?.or(commit_type).ok_or_else(|| missing(record, "commit_type"))?;
        let checkpoint = fields.string("checkpoint")?.or(checkpoint);
        let read = Self {
            id: text("id")?.unwrap_or_default(),
            version,
            parent: text("parent")?,
            commit_type: CommitType::known("commit_type", &commit_type, newer)?,
            artifact_ref: required("artifact_ref")?,
            format: required("format")?,
            provenance: Provenance::read(Provenance::FIELDS, &text)?,
            checkpoint: checkpoint.map(|name| Trigger::known("checkpoint", &name, newer)).transpose()?,
            summary: text("summary")?,
            tags: fields.read("tags", Value::strings)?.unwrap_or_default(),
            message_count: fields.read("message_count", Value::safe_integer)?,
            token_count: fields.read("token_count", Value::safe_integer)?,
            created_at: match fields.get("created_at")? {
                Some(time) if origin == Origin::Request => Timestamp::text(time)?.into_owned(),
                _ => required("created_at")?,
            },
            other: other_fields(fields, &FIELDS)?,
        };
        if origin == Origin::Stored && read.id.is_empty() {
            return Err(missing(record, "id"));
        }
        read.check(origin)?;
        Ok(read)
    }

    fn check(&self, origin: Origin) -> Result<()> {
        let id_like = |field: &str, id: &str| {
            if is_id(id) {
                return Ok(());
            }
            let message = format!("`{field}` is `{id}`; the id of a commit begins with `{ID_PREFIX}`");
            Err(Error::new(Code::InvalidInput, message).with("path", field))
        };
        if !self.id.is_empty() {
            id_like("id", &self.id)?;
        }
        self.parent.as_deref().map_or(Ok(()), |parent| id_like("parent", parent))?;
        self.check_ref(origin)
    }

    /// Checks the form of the ref. Only an import may have one of another store.
    pub(crate) fn check_ref(&self, origin: Origin) -> Result<()> {
        let advice = match RefForm::of(&self.artifact_ref) {
            Some(RefForm::Full(_) | RefForm::Short(_)) => return Ok(()),
            Some(RefForm::Foreign(_)) if origin == Origin::Stored => return Ok(()),
            _ if origin == Origin::Stored => "; for another store `scheme:text` or `art-text`",
            _ => "",
        };
        Err(invalid_ref(&self.artifact_ref, "artifact_ref", advice))
    }

    /// The record as JSON text on one line: the fields of version 1 in the order of the data model, then the others.
    pub fn to_json(&self) -> String {
        let mut json = JsonWriter::default();
        self.write_json(&mut json);
        json.finish_text()
    }

    pub(crate) fn write_json(&self, json: &mut JsonWriter) {
        let from = &self.provenance;
        json.object(|json| {
            json.text_field("id", &*self.id);
            json.value_field("version", &self.version);
            json.optional_text_field("parent", self.parent.as_deref());
            json.text_field("commit_type", self.commit_type.as_str());
            json.text_field("artifact_ref", &*self.artifact_ref);
            json.text_field("format", &*self.format);
            json.optional_text_field("template", from.template.as_deref());
            json.optional_text_field("principal", from.principal.as_deref());
            json.optional_text_field("machine", from.machine.as_deref());
            json.optional_text_field("session_id", from.session_id.as_deref());
            json.optional_text_field("checkpoint", self.checkpoint.as_ref().map(Trigger::as_str));
            json.optional_text_field("ticket_id", from.ticket_id.as_deref());
            json.optional_text_field("thread_id", from.thread_id.as_deref());
            json.optional_text_field("summary", self.summary.as_deref());
            if !self.tags.is_empty() {
                json.list_field("tags", |json| self.tags.iter().for_each(|tag| json.string(&**tag)));
            }
            for (name, count) in [("message_count", self.message_count), ("token_count", self.token_count)] {
                if let Some(count) = count {
                    json.value_field(name, &count);
                }
            }
            json.text_field("created_at", &*self.created_at);
            self.other.iter().for_each(|(name, value)| json.raw_field(name, value));
        });
    }
}

fn missing(record: Value<'_>, field: &str) -> Error {
    let message = format!("the record lacks `{field}`{}", record.misspelling(field));
    Error::new(Code::InvalidInput, message).with("path", field)
}

impl Trigger {
    /// Reads the name of a trigger of version 1.
    pub(crate) fn read(name: Value<'_>) -> Result<Self> {
        Self::known(&name.path(), &name.text()?, false)
    }
}

/// The fields of version 1.
const FIELDS: [&str; 18] = [
    "id",
    "version",
    "parent",
    "commit_type",
    "artifact_ref",
    "format",
    "template",
    "principal",
    "machine",
    "session_id",
    "checkpoint",
    "ticket_id",
    "thread_id",
    "summary",
    "tags",
    "message_count",
    "token_count",
    "created_at",
];

/// A text that is not empty.
pub(crate) fn given_text(object: Object<'_>, name: &str) -> Result<Option<String>> {
    Ok(object.string(name)?.filter(|text| !text.is_empty()))
}

/// Reads a time, which must be RFC 3339.
pub(crate) fn required_time(path: &str, text: &str) -> Result<Timestamp> {
    Timestamp::parse(text).ok_or_else(|| {
        let message =
            format!("`{path}` is `{text}`; it must be an RFC 3339 date and time, such as `2026-03-01T09:30:00Z`");
        Error::new(Code::InvalidInput, message).with("path", path)
    })
}

/// The other fields, with their values as JSON text on one line. Each value is parsed once, so that no later reader
/// rejects it.
pub(crate) fn other_fields(object: Object<'_>, known: &[&str]) -> Result<Vec<(String, String)>> {
    let mut names = SortedSet::new();
    let mut others = Vec::new();
    for (key, value) in object.entries() {
        let name = key.string()?;
        if known.contains(&name.as_str()) {
            continue;
        }
        if !names.insert(name.clone()) {
            return Err(value.invalid(|place| format!("{place} occurs twice; remove one")));
        }
        value.to_json()?;
        let mut json = Vec::new();
        append_compact(&mut json, &value.json());
        others.push((name, String::from_utf8(json).unwrap_or_default()));
    }
    Ok(others)
}
