//! The options and the result of an import.

use std::borrow::Cow;

use serde::Serialize;

use super::resume::Resume;
use crate::commits::id::derive;
use crate::commits::record::{Provenance, Record};
use crate::error::Diagnostic;
use crate::limits::Limits;
use crate::tokens::Counter;

/// Facts that the file itself does not contain.
#[derive(Clone, Debug)]
pub struct ImportOptions<'a> {
    /// The provenance of the commits; the session defaults to the one in the file.
    pub provenance: Provenance,
    /// The name of the format in records, if it is a registered one.
    pub format_name: Option<&'a str>,
    /// The commit that the conversation continues.
    pub parent: Option<&'a str>,
    /// The time, RFC 3339, of commits whose lines have none.
    pub created_at: Option<&'a str>,
    /// The number of answers after which a delta ends; at least 1.
    pub every: u32,
    /// The state of an earlier import. The bytes then begin at [`Resume::offset`] of the file.
    pub resume: Option<&'a Resume>,
    /// Whether the file may be extended: an incomplete commit is left for the next import.
    pub growing: bool,
    /// Whether the bytes are the whole file although `resume` is set.
    pub whole_file: bool,
    /// Counts the tokens of each blob.
    pub counter: &'a dyn Counter,
    /// Limits on the input.
    pub limits: &'a Limits,
}

const CONTEXT: &str = "ctxweave 2026-11-24 options of an import that is resumed, version 1";

impl ImportOptions<'_> {
    /// A hash of the options that commits depend on, except `created_at`, which only applies to lines without a time.
    pub(super) fn key(&self) -> String {
        let mut provenance = self.provenance.clone();
        let mut fields = vec![self.every.to_string(), self.parent.unwrap_or_default().to_owned()];
        fields.extend(provenance.fields().map(|field| field.take().unwrap_or_default()));
        let key = derive(CONTEXT, fields.iter().map(String::as_str));
        key.get(..16).unwrap_or(&key).to_owned()
    }
}

/// A branch that the user left, or the side chain of another agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ImportedBranch {
    /// Its newest commit.
    pub tip: String,
    /// The commit at which it leaves the conversation; for a side chain, the commit that started it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Whether it is the conversation of another agent.
    pub side_chain: bool,
}

/// A title in the file for a commit of an earlier import.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Title {
    /// The commit.
    pub id: String,
    /// The title: the commit's new summary.
    pub summary: String,
}

/// A session file as commits.
#[derive(Debug, Default)]
pub struct Import<'b> {
    /// The records, parents before children.
    pub records: Vec<Record>,
    /// The blobs by ref, without duplicates, in the order of the records. Most are ranges of the given bytes.
    pub blobs: Vec<(String, Cow<'b, [u8]>)>,
    /// The newest commit of the conversation, if the file has one.
    pub tip: Option<String>,
    /// The other branches; in a file that is read in parts, those that the part began, continued or left.
    pub branches: Vec<ImportedBranch>,
    /// Titles of commits of earlier imports.
    pub titles: Vec<Title>,
    /// The state for the next import; `None` for a format that is not line-based.
    pub resume: Option<Resume>,
    /// Diagnostics: damage and unknown content.
    pub diagnostics: Vec<Diagnostic>,
}
