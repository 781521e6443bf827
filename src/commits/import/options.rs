//! What an import is given, and what it gives.

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
    /// Where the commits come from; by default with the session that the file names.
    pub provenance: Provenance,
    /// The commit that the conversation continues.
    pub parent: Option<&'a str>,
    /// RFC 3339; for commits whose lines have no time.
    pub created_at: Option<&'a str>,
    /// A delta ends after this many answers of the assistant; 1 or more.
    pub every: u32,
    /// Where an earlier import stopped. The bytes are then those of the file from [`Resume::offset`] on.
    pub resume: Option<&'a Resume>,
    /// Whether the file still grows: what is not a whole commit yet is left for the next import.
    pub growing: bool,
    /// Whether the bytes are the whole file, although there is a `resume`.
    pub whole_file: bool,
    /// Counts the tokens of each blob.
    pub counter: &'a dyn Counter,
    /// Bounds on the input.
    pub limits: &'a Limits,
}

const CONTEXT: &str = "ctxweave 2026-11-24 options of an import that is resumed, version 1";

impl ImportOptions<'_> {
    /// A hash of those that commits depend on, but for `created_at`, which is for lines without a time.
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
    /// The commit that it leaves the conversation at; for a side chain, the one that it was started from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Whether it is the conversation of another agent.
    pub side_chain: bool,
}

/// A title that the file gives a commit of an earlier import.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Title {
    /// The commit.
    pub id: String,
    /// The title, its new summary.
    pub summary: String,
}

/// A session file as commits.
#[derive(Debug, Default)]
pub struct Import<'b> {
    /// The records, parents before children.
    pub records: Vec<Record>,
    /// The blobs by their refs, each once, in the order of the records. Most are ranges of the bytes that were given.
    pub blobs: Vec<(String, Cow<'b, [u8]>)>,
    /// The newest commit of the conversation, if the file has one.
    pub tip: Option<String>,
    /// The other branches; of a file that is read in parts, those that the part began, went on with or left.
    pub branches: Vec<ImportedBranch>,
    /// Titles of commits of earlier imports.
    pub titles: Vec<Title>,
    /// Where the next import continues; none for a format that is not lines.
    pub resume: Option<Resume>,
    /// What was damaged or not known.
    pub diagnostics: Vec<Diagnostic>,
}
