//! The record of a commit: the seed's data model in snake_case, and what it did not foresee (SPEC §5 "Record").

use std::collections::BTreeSet;
use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeOwned, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::commits::artifact::{RefForm, invalid_ref};
use crate::commits::id::{ID_PREFIX, commit_id, is_id};
use crate::commits::json_object::{JsonObject, quoted};
use crate::error::{Code, Error, Result};
use crate::json::{self, AnyJson};
use crate::time::Timestamp;

/// The version of records that this crate writes and can change.
pub const RECORD_VERSION: u32 = 1;

/// Declares an enum of wire names that keeps the names it does not know: a later version may have more of them.
macro_rules! names {
    ($(#[$meta:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $wire:literal;)+ }) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum $name {
            $($(#[$doc])* $variant,)+
            /// A name that only a later version of records knows.
            Other(String),
        }

        impl $name {
            /// Every name that version 1 has.
            pub const NAMES: &'static [&'static str] = &[$($wire),+];

            /// Reads a name.
            pub fn from_name(name: &str) -> Self {
                match name {
                    $($wire => Self::$variant,)+
                    other => Self::Other(other.to_owned()),
                }
            }

            /// The name on the wire.
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
    /// What the artifact of a commit is.
    CommitType {
        /// What is new since the parent.
        Delta = "delta";
        /// A summary that replaces everything before it.
        Compaction = "compaction";
        /// The whole conversation up to there: a cache, or a conversation from elsewhere.
        Snapshot = "snapshot";
    }
}

names! {
    /// Why a commit was made.
    Trigger {
        /// The assistant has finished its answer.
        TurnBoundary = "turn_boundary";
        /// A tool has given its result.
        ToolCall = "tool_call";
        /// The context was compacted.
        Compaction = "compaction";
        /// The session is over.
        SessionEnd = "session_end";
        /// Somebody asked for it.
        Explicit = "explicit";
    }
}

/// One commit. Absent and empty texts are the same: absent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// `ctx-…`.
    pub id: String,
    /// The version of the record's form. Above [`RECORD_VERSION`] it can be read, not changed.
    pub version: u32,
    /// The commit before it; none for the root of a conversation.
    pub parent: Option<String>,
    /// What the artifact is.
    pub commit_type: CommitType,
    /// The blob: `blake3:` and 64 hex digits. In records from elsewhere it may be the short form.
    pub artifact_ref: String,
    /// The format of the blob, which says how blobs are put together and read.
    pub format: String,
    /// What kind of agent it is.
    pub template: Option<String>,
    /// Who executed it.
    pub principal: Option<String>,
    /// Where it ran.
    pub machine: Option<String>,
    /// The session it was made in.
    pub session_id: Option<String>,
    /// Why it was made.
    pub checkpoint: Option<Trigger>,
    /// The ticket that was being worked on.
    pub ticket_id: Option<String>,
    /// The thread that it is part of.
    pub thread_id: Option<String>,
    /// What the agent understood, for people. May be changed.
    pub summary: Option<String>,
    /// Words to find it by. May be changed.
    pub tags: Vec<String>,
    /// Messages in the blob.
    pub message_count: Option<u64>,
    /// Tokens of the blob, approximately.
    pub token_count: Option<u64>,
    /// When it was made, RFC 3339, as it was given.
    pub created_at: String,
    /// Fields that version 1 does not have, as JSON text, in the order they came in.
    pub other: Vec<(String, String)>,
}

/// Whether a record is being made or was stored somewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// A request to make one: has defaults, need not have an id.
    Request,
    /// Stored: says everything itself.
    Stored,
}

impl Record {
    /// A record with nothing but what every one has; [`Record::seal`] gives it its id once the rest is filled in.
    pub fn new(commit_type: CommitType, artifact_ref: &str, format: &str, created_at: &str) -> Self {
        Self {
            id: String::new(),
            version: RECORD_VERSION,
            parent: None,
            commit_type,
            artifact_ref: artifact_ref.to_owned(),
            format: format.to_owned(),
            template: None,
            principal: None,
            machine: None,
            session_id: None,
            checkpoint: None,
            ticket_id: None,
            thread_id: None,
            summary: None,
            tags: Vec::new(),
            message_count: None,
            token_count: None,
            created_at: created_at.to_owned(),
            other: Vec::new(),
        }
    }

    /// Gives it the id that follows from its fields.
    #[must_use]
    pub fn seal(mut self) -> Self {
        self.id = self.derived_id();
        self
    }

    /// The id that follows from its fields; records from elsewhere have another one.
    pub fn derived_id(&self) -> String {
        commit_id(self.parent.as_deref(), &self.artifact_ref, &self.created_at, self.template.as_deref())
    }

    /// When it was made; nothing where `created_at` is not RFC 3339, which only records from elsewhere have.
    pub fn time(&self) -> Option<Timestamp> {
        Timestamp::parse(&self.created_at)
    }

    /// Whether nobody has written a summary for it.
    pub(crate) fn lacks_summary(&self) -> bool {
        self.summary.as_deref().is_none_or(|summary| summary.trim().is_empty())
    }

    /// Whether two records say the same in everything that never changes.
    pub(crate) fn same_commit(&self, other: &Self) -> bool {
        let unchanging = |record: &Self| Self { summary: None, tags: Vec::new(), ..record.clone() };
        unchanging(self) == unchanging(other)
    }

    /// Reads a record from JSON text.
    ///
    /// # Errors
    /// [`Code::InvalidInput`] for a field that is missing, twice there or of the wrong kind, [`Code::UnknownValue`] for a
    /// name that version 1 does not have, [`Code::LimitExceeded`] for JSON that is too deep.
    pub fn from_json(text: &[u8]) -> Result<Self> {
        Self::read(text, Origin::Stored)
    }

    pub(crate) fn read(text: &[u8], origin: Origin) -> Result<Self> {
        let mut fields = Fields::from_json(text)?;
        let version = fields.count("version")?.unwrap_or(u64::from(RECORD_VERSION));
        let Some(version) = u32::try_from(version).ok().filter(|&version| version > 0) else {
            let message = format!("`version` must be a whole number from 1 to {}", u32::MAX);
            return Err(Error::new(Code::InvalidInput, message).with("path", "version"));
        };
        let newer = version > RECORD_VERSION;
        let (commit_type, checkpoint) = match origin {
            Origin::Request => (fields.text("commit_type")?.or(Some("delta".to_owned())), Some("explicit".to_owned())),
            Origin::Stored => (fields.text("commit_type")?, None),
        };
        let checkpoint = fields.text("checkpoint")?.or(checkpoint);
        let commit_type = commit_type.ok_or_else(|| missing("commit_type"))?;
        let record = Self {
            id: fields.text("id")?.unwrap_or_default(),
            version,
            parent: fields.text("parent")?,
            commit_type: known_name("commit_type", CommitType::from_name(&commit_type), newer)?,
            artifact_ref: fields.text("artifact_ref")?.ok_or_else(|| missing("artifact_ref"))?,
            format: fields.text("format")?.ok_or_else(|| missing("format"))?,
            template: fields.text("template")?,
            principal: fields.text("principal")?,
            machine: fields.text("machine")?,
            session_id: fields.text("session_id")?,
            checkpoint: checkpoint
                .map(|name| known_name("checkpoint", Trigger::from_name(&name), newer))
                .transpose()?,
            ticket_id: fields.text("ticket_id")?,
            thread_id: fields.text("thread_id")?,
            summary: fields.text("summary")?,
            tags: fields.texts("tags")?,
            message_count: fields.count("message_count")?,
            token_count: fields.count("token_count")?,
            created_at: fields.text("created_at")?.ok_or_else(|| missing("created_at"))?,
            other: fields.rest()?,
        };
        record.check(origin)?;
        Ok(record)
    }

    fn check(&self, origin: Origin) -> Result<()> {
        let id_like = |field: &str, id: &str| {
            if is_id(id) {
                return Ok(());
            }
            let message = format!("`{field}` is `{id}`; the id of a commit is `{ID_PREFIX}` and what follows");
            Err(Error::new(Code::InvalidInput, message).with("path", field))
        };
        if origin == Origin::Stored && self.id.is_empty() {
            return Err(missing("id"));
        }
        if !self.id.is_empty() {
            id_like("id", &self.id)?;
        }
        self.parent.as_deref().map_or(Ok(()), |parent| id_like("parent", parent))?;
        if RefForm::of(&self.artifact_ref).is_none() {
            return Err(invalid_ref(&self.artifact_ref, "artifact_ref"));
        }
        Ok(())
    }

    /// The record as JSON text on one line: the fields of version 1 in the order of the data model, then the others.
    pub fn to_json(&self) -> String {
        let mut out = JsonObject::default();
        out.text("id", Some(&self.id));
        out.raw("version", &self.version.to_string());
        out.text("parent", self.parent.as_deref());
        out.text("commit_type", Some(self.commit_type.as_str()));
        out.text("artifact_ref", Some(&self.artifact_ref));
        out.text("format", Some(&self.format));
        out.text("template", self.template.as_deref());
        out.text("principal", self.principal.as_deref());
        out.text("machine", self.machine.as_deref());
        out.text("session_id", self.session_id.as_deref());
        out.text("checkpoint", self.checkpoint.as_ref().map(Trigger::as_str));
        out.text("ticket_id", self.ticket_id.as_deref());
        out.text("thread_id", self.thread_id.as_deref());
        out.text("summary", self.summary.as_deref());
        if !self.tags.is_empty() {
            let tags: Vec<String> = self.tags.iter().map(|tag| quoted(tag)).collect();
            out.raw("tags", &format!("[{}]", tags.join(",")));
        }
        for (name, count) in [("message_count", self.message_count), ("token_count", self.token_count)] {
            if let Some(count) = count {
                out.raw(name, &count.to_string());
            }
        }
        out.text("created_at", Some(&self.created_at));
        for (name, value) in &self.other {
            out.raw(name, value);
        }
        out.finish()
    }
}

#[cold]
fn missing(field: &str) -> Error {
    Error::new(Code::InvalidInput, format!("the record missing `{field}`")).with("path", field)
}

/// A name that a record of version 1 can have.
fn known_name<T: WireName>(field: &str, name: T, newer: bool) -> Result<T> {
    match name.unknown() {
        Some(other) if !newer => {
            let message = format!("`{field}` is `{other}`; it must be one of `{}`", T::NAMES.join("`, `"));
            Err(Error::new(Code::UnknownValue, message)
                .with("path", field)
                .with("value", other)
                .with("expected", T::NAMES))
        }
        _ => Ok(name),
    }
}

trait WireName {
    const NAMES: &'static [&'static str];
    fn unknown(&self) -> Option<&str>;
}

impl WireName for CommitType {
    const NAMES: &'static [&'static str] = Self::NAMES;
    fn unknown(&self) -> Option<&str> {
        if let Self::Other(name) = self { Some(name) } else { None }
    }
}

impl WireName for Trigger {
    const NAMES: &'static [&'static str] = Self::NAMES;
    fn unknown(&self) -> Option<&str> {
        if let Self::Other(name) = self { Some(name) } else { None }
    }
}

/// The name of a trigger, which must be one of version 1.
pub(crate) fn trigger(name: &str, path: &str) -> Result<Trigger> {
    known_name(path, Trigger::from_name(name), false)
}

/// An object's fields as they stand in the text. Numbers that no type here could hold stay what they are.
#[derive(Debug)]
pub(crate) struct Fields(Vec<Field>);

#[derive(Debug)]
struct Field {
    name: String,
    value: Box<RawValue>,
    taken: bool,
}

impl Fields {
    /// Reads an object from JSON text.
    pub(crate) fn from_json(text: &[u8]) -> Result<Self> {
        let fields = json::read::<Self>(text)?;
        let mut seen = BTreeSet::new();
        for field in &fields.0 {
            if !seen.insert(field.name.as_str()) {
                let message = format!("`{}` is there twice", field.name);
                return Err(Error::new(Code::InvalidInput, message).with("path", field.name.as_str()));
            }
        }
        Ok(fields)
    }

    /// The JSON text of a field, which counts as taken from now on; null is the same as absent.
    fn raw(&mut self, name: &str) -> Option<&str> {
        let field = self.0.iter_mut().find(|field| field.name == name)?;
        field.taken = true;
        Some(field.value.get()).filter(|text| *text != "null")
    }

    pub(crate) fn take<T: DeserializeOwned>(&mut self, name: &str, expected: &str) -> Result<Option<T>> {
        let Some(text) = self.raw(name) else { return Ok(None) };
        let wrong = |_| Error::new(Code::InvalidInput, format!("`{name}` must be {expected}")).with("path", name);
        serde_json::from_str(text).map(Some).map_err(wrong)
    }

    /// A text; the empty one is the same as none.
    pub(crate) fn text(&mut self, name: &str) -> Result<Option<String>> {
        Ok(self.take::<String>(name, "a string")?.filter(|text| !text.is_empty()))
    }

    pub(crate) fn texts(&mut self, name: &str) -> Result<Vec<String>> {
        Ok(self.take(name, "a list of strings")?.unwrap_or_default())
    }

    /// A count: a whole number that JavaScript tells from its neighbours.
    pub(crate) fn count(&mut self, name: &str) -> Result<Option<u64>> {
        const MAX: u64 = (1 << 53) - 1;
        let Some(number) = self.take::<f64>(name, "a whole number, 0 or more")? else { return Ok(None) };
        if number.fract() != 0.0 || !(0.0..=MAX as f64).contains(&number) {
            let message = format!("`{name}` must be a whole number from 0 to {MAX}");
            return Err(Error::new(Code::InvalidInput, message).with("path", name));
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole and in range")]
        Ok(Some(number as u64))
    }

    /// What was not taken, each on one line. Each is read once, so that whoever gets it can read it.
    pub(crate) fn rest(self) -> Result<Vec<(String, String)>> {
        let mut rest = Vec::new();
        for field in self.0.into_iter().filter(|field| !field.taken) {
            json::read::<AnyJson>(field.value.get().as_bytes())?;
            rest.push((field.name, compact(field.value.get())));
        }
        Ok(rest)
    }

    /// Whether a field is there, be it null.
    pub(crate) fn given(&self, name: &str) -> bool {
        self.0.iter().any(|field| field.name == name)
    }

    /// The name of a field that was not taken.
    pub(crate) fn left(&self) -> Option<&str> {
        self.0.iter().find(|field| !field.taken).map(|field| field.name.as_str())
    }
}

/// JSON text without the white space between its tokens.
fn compact(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let (mut quoted, mut escaped) = (false, false);
    for ch in text.chars() {
        if quoted || !matches!(ch, ' ' | '\t' | '\n' | '\r') {
            out.push(ch);
        }
        if !escaped && ch == '"' {
            quoted = !quoted;
        }
        escaped = quoted && !escaped && ch == '\\';
    }
    out
}

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct ObjectVisitor;

        impl<'de> Visitor<'de> for ObjectVisitor {
            type Value = Fields;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Fields, A::Error> {
                let mut fields = Vec::new();
                while let Some((name, value)) = map.next_entry()? {
                    fields.push(Field { name, value, taken: false });
                }
                Ok(Fields(fields))
            }
        }

        deserializer.deserialize_map(ObjectVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BLOB: &str = "blake3:af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262";

    fn with(more: &str) -> Result<Record> {
        let text = format!(
            r#"{{"id":"ctx-a","commit_type":"delta","artifact_ref":"{BLOB}","format":"f","created_at":"2026-01-01T00:00:00Z"{more}}}"#
        );
        Record::from_json(text.as_bytes())
    }

    #[test]
    fn unknown_fields_survive_to_the_last_digit() {
        let other = r#""x":{"a":[1.0,1e300,12345678901234567890.10],"b":"\u2028 \" }"},"":null,"y":-0"#;
        let record = with(&format!(",{other}")).unwrap();
        assert!(record.to_json().ends_with(&format!("{other}}}")), "{}", record.to_json());
        assert_eq!(Record::from_json(record.to_json().as_bytes()).unwrap(), record);
    }

    #[test]
    fn what_comes_on_many_lines_leaves_on_one() {
        let record = with(",\n \"x\": [ 1,\r\n\t\"a \\\\\", \" \\\" \" ]").unwrap();
        assert_eq!(record.other, [("x".to_owned(), r#"[1,"a \\"," \" "]"#.to_owned())]);
    }

    #[test]
    fn damage_is_named() {
        let error = |more: &str| with(more).unwrap_err();
        assert_eq!(error(r#","parent":"tkt-1""#).details()["path"], "parent");
        assert_eq!(error(r#","message_count":1.5"#).details()["path"], "message_count");
        assert_eq!(error(r#","message_count":-1"#).code(), Code::InvalidInput);
        assert_eq!(error(r#","summary":5"#).details()["path"], "summary");
        assert_eq!(error(r#","format":"g""#).message(), "`format` is there twice");
        assert_eq!(error(r#","checkpoint":"now""#).code(), Code::UnknownValue);
        assert_eq!(error(r#","version":0"#).details()["path"], "version");
        assert_eq!(error(&format!(r#","x":{}{}"#, "[".repeat(200), "]".repeat(200))).code(), Code::LimitExceeded);
        assert_eq!(Record::from_json(b"[]").unwrap_err().code(), Code::InvalidInput);
    }

    #[test]
    fn later_versions_may_have_other_names() {
        let record = with(r#","version":2,"checkpoint":"now""#).unwrap();
        assert_eq!(record.checkpoint, Some(Trigger::Other("now".to_owned())));
        assert!(record.to_json().contains(r#""checkpoint":"now""#));
    }

    #[test]
    fn empty_and_null_are_absent() {
        assert_eq!(with(r#","parent":"","summary":null,"tags":[]"#).unwrap(), with("").unwrap());
    }
}
