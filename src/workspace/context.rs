//! The response to `read_context` (docs/workspace.md).

use serde::Serialize;

use crate::error::{Diagnostic, Result};
use crate::input::Content;
use crate::json;
use crate::limits::{self, Limits};
use crate::tokens::Counter;

use super::Sizes;
use super::brief::{Brief, genres_with, parse_brief};
use super::notes::{WorkspaceNotes, summarize};
use super::plan::{FileRole, Names};
use super::records::{Gap, LogEntry, recent_gaps, recent_log};
use super::tastes::{Tastes, read_tastes};

/// The files of a workspace that exist.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Workspace {
    /// The taste file that always loads.
    pub default_taste: Option<Content>,
    /// The genre files by name.
    pub genres: Vec<(String, Option<Content>)>,
    /// The names of genres that are declared in addition to those in the brief.
    pub listed: Vec<String>,
    /// The brief.
    pub brief: Option<Content>,
    /// The notes.
    pub notes: Option<Content>,
    /// The log, JSONL.
    pub log: Option<Content>,
    /// The vocabulary gaps, JSONL.
    pub gaps: Option<Content>,
    /// The names of the files in diagnostics.
    pub names: Names,
    /// Lines and records of the notes, the log and the gaps in the response.
    pub sizes: Sizes,
}

impl Workspace {
    fn bytes(&self) -> usize {
        let genres = self.genres.iter().filter_map(|(_, content)| content.as_ref());
        [&self.default_taste, &self.brief, &self.notes, &self.log, &self.gaps]
            .into_iter()
            .filter_map(Option::as_ref)
            .chain(genres)
            .fold(0_usize, |sum, content| sum.saturating_add(content.len()))
    }
}

/// The response. The order of its fields is that of the JSON.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Context {
    /// The tastes.
    pub tastes: Tastes,
    /// The brief.
    pub brief: Brief,
    /// The notes.
    pub notes: WorkspaceNotes,
    /// The last entries of the log, newest first.
    pub recent_log: Vec<LogEntry>,
    /// The last gap records, newest first.
    pub recent_gaps: Vec<Gap>,
}

/// The token cost of each section of a response, as the JSON text that `JSON.stringify` writes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ContextTokens {
    /// The tastes.
    pub tastes: u32,
    /// The brief.
    pub brief: u32,
    /// The notes.
    pub notes: u32,
    /// The log.
    pub recent_log: u32,
    /// The gaps.
    pub recent_gaps: u32,
    /// The sum of all five.
    pub total: u32,
    /// The name of the counter.
    pub tokenizer: String,
    /// The error of the counts in percent, if the tokenizer states one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokenizer_error: Option<u32>,
}

/// A response with its cost and diagnostics.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReadContext {
    /// The response.
    pub context: Context,
    /// The cost in tokens.
    pub tokens: ContextTokens,
    /// Damaged, rejected and omitted input.
    pub diagnostics: Vec<Diagnostic>,
}

/// Builds the response from the files.
///
/// # Errors
/// [`crate::Code::LimitExceeded`] if all files together exceed `inputBytes`.
pub fn read_context(workspace: &Workspace, limits: &Limits, counter: &dyn Counter) -> Result<ReadContext> {
    limits::check("inputBytes", workspace.bytes(), limits.input_bytes)?;
    let Workspace { names, sizes, .. } = workspace;
    let mut parsed = parse_brief(workspace.brief.as_ref(), &names.file(FileRole::Brief));
    let mut diagnostics = Vec::new();
    // Without a brief nothing is declared: the genres are those that the host passes.
    let declares = workspace.brief.is_some() || !workspace.listed.is_empty();
    let declared = declares.then(|| genres_with(&mut parsed, &workspace.listed));
    let (default, genres) = (workspace.default_taste.as_ref(), &workspace.genres);
    let tastes = read_tastes(default, genres, declared.as_deref(), names, &mut diagnostics);
    diagnostics.extend(parsed.diagnostics);
    let notes =
        match workspace.notes.as_ref().and_then(|content| content.text(&names.file(FileRole::Notes), &mut diagnostics))
        {
            Some(text) => summarize(text, sizes),
            None => WorkspaceNotes::default(),
        };
    let recent_log =
        recent_log(workspace.log.as_ref(), &names.file(FileRole::Log), sizes.log_entries, &mut diagnostics);
    let recent_gaps =
        recent_gaps(workspace.gaps.as_ref(), &names.file(FileRole::Gaps), sizes.gap_records, &mut diagnostics);
    let context = Context { tastes, brief: parsed.brief, notes, recent_log, recent_gaps };
    Ok(ReadContext { tokens: price(&context, counter)?, context, diagnostics })
}

fn price(context: &Context, counter: &dyn Counter) -> Result<ContextTokens> {
    let mut total = 0_u32;
    let mut count = |section: &dyn Fn() -> Result<Vec<u8>>| -> Result<u32> {
        let tokens = counter.count(&String::from_utf8_lossy(&section()?));
        total = total.saturating_add(tokens);
        Ok(tokens)
    };
    let mut tokens = ContextTokens {
        tastes: count(&|| json::write(&context.tastes))?,
        brief: count(&|| json::write(&context.brief))?,
        notes: count(&|| json::write(&context.notes))?,
        recent_log: count(&|| json::write(&context.recent_log))?,
        recent_gaps: count(&|| json::write(&context.recent_gaps))?,
        total: 0,
        tokenizer: counter.name().to_owned(),
        tokenizer_error: counter.error_percent(),
    };
    tokens.total = total;
    Ok(tokens)
}

/// The full text of the notes; empty if they are missing or unreadable, which [`read_context`] reports.
pub fn read_full_notes(notes: Option<&Content>) -> &str {
    notes.and_then(|content| content.text("notes.md", &mut Vec::new())).unwrap_or_default()
}
