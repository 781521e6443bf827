//! Workspaces as they come over the wire: from JavaScript objects or from JSON text (SPEC §7).
//!
//! What JavaScript could not say in UTF-8, half of a surrogate pair, arrives as U+FFFD and is a diagnostic.

use std::fmt;
use std::marker::PhantomData;
use std::rc::Rc;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};

use crate::error::{Diagnostic, Result};
use crate::input::Content;
use crate::json;
use crate::limits::{LimitOverrides, Limits, whole};
use crate::tokens::{Counter, TokenizerChoice, Tokenizers};

use super::{Names, ParsedBrief, ReadContext, Sizes, Workspace, parse_brief, plan_loading, read_context};

/// Answers `parseBrief`; in and out JSON.
///
/// # Errors
/// [`crate::Code::InvalidInput`] for what is neither text nor bytes.
pub fn parse_brief_json(text: &[u8]) -> Result<Vec<u8>> {
    let (text, lone) = json::repair_surrogates(text);
    json::write(&brief(json::read(&text)?, lone))
}

/// Answers `planContextLoading`; in and out JSON.
///
/// # Errors
/// [`crate::Code::InvalidInput`] for another shape.
pub fn plan_context_loading_json(input: &[u8]) -> Result<Vec<u8>> {
    let (input, lone) = json::repair_surrogates(input);
    let mut plan = json::read::<PlanIn>(&input)?.answer();
    plan.diagnostics.splice(0..0, lone);
    json::write(&plan)
}

/// Answers `readContext`; in and out JSON.
///
/// # Errors
/// [`crate::Code::InvalidInput`] for another shape, [`crate::Code::LimitExceeded`], and those of
/// [`Tokenizers::get`].
pub fn read_context_json(input: &[u8], tokenizers: &Tokenizers) -> Result<Vec<u8>> {
    let (input, lone) = json::repair_surrogates(input);
    json::write(&json::read::<WorkspaceIn>(&input)?.answer(tokenizers, None, lone)?)
}

/// Answers `readFullNotes`; in and out JSON.
///
/// # Errors
/// [`crate::Code::InvalidInput`] for another shape.
pub fn read_full_notes_json(input: &[u8]) -> Result<Vec<u8>> {
    let (input, _) = json::repair_surrogates(input);
    json::write(&super::read_full_notes(json::read::<NotesIn>(&input)?.notes.as_ref()))
}

/// Reads a brief, with what was found wrong with it on its way in.
pub(crate) fn brief(content: Option<Content>, lone: Vec<Diagnostic>) -> ParsedBrief {
    let mut parsed = parse_brief(content.as_ref(), "brief.md");
    parsed.diagnostics.splice(0..0, lone);
    parsed
}

/// The input of `readFullNotes`.
#[derive(Debug, Default, Deserialize)]
#[serde(default, expecting = "a workspace, an object")]
pub(crate) struct NotesIn {
    /// The notes.
    pub notes: Option<Content>,
}

/// The input of `planContextLoading`.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, expecting = "a workspace, an object")]
pub(crate) struct PlanIn {
    brief: Option<Content>,
    tastes_dir: Option<String>,
    workspace_dir: Option<String>,
}

impl PlanIn {
    /// The plan.
    pub(crate) fn answer(self) -> super::LoadingPlan {
        plan_loading(self.brief.as_ref(), &names(self.tastes_dir, self.workspace_dir))
    }
}

/// The input of `readContext`.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, expecting = "a workspace, an object")]
pub(crate) struct WorkspaceIn {
    tastes: Option<TastesIn>,
    brief: Option<Content>,
    notes: Option<Content>,
    log: Option<Content>,
    gaps: Option<Content>,
    tastes_dir: Option<String>,
    workspace_dir: Option<String>,
    limits: Option<LimitsIn>,
    tokenizer: Option<TokenizerChoice>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, expecting = "tastes, an object with `default` and `genres`")]
struct TastesIn {
    default: Option<Content>,
    genres: Option<Entries<Option<Content>>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, expecting = "limits, an object")]
struct LimitsIn {
    notes_head_lines: Option<f64>,
    notes_tail_lines: Option<f64>,
    log_entries: Option<f64>,
    gap_records: Option<f64>,
    input_bytes: Option<f64>,
}

impl LimitsIn {
    fn finish(&self) -> Result<(Sizes, Limits)> {
        let mut sizes = Sizes::default();
        for (name, value, place) in [
            ("notesHeadLines", self.notes_head_lines, &mut sizes.notes_head_lines),
            ("notesTailLines", self.notes_tail_lines, &mut sizes.notes_tail_lines),
            ("logEntries", self.log_entries, &mut sizes.log_entries),
            ("gapRecords", self.gap_records, &mut sizes.gap_records),
        ] {
            if let Some(value) = value {
                *place = whole(name, value)? as usize;
            }
        }
        Ok((sizes, LimitOverrides { input_bytes: self.input_bytes, ..LimitOverrides::default() }.resolve()?))
    }
}

impl WorkspaceIn {
    /// Whether any text holds U+FFFD, which half of a surrogate pair becomes on its way in.
    #[cfg(target_arch = "wasm32")]
    pub(crate) fn holds_replacement(&self) -> bool {
        let tastes = self.tastes.as_ref();
        let genres = tastes.and_then(|tastes| tastes.genres.as_ref());
        [&self.brief, &self.notes, &self.log, &self.gaps]
            .into_iter()
            .filter_map(Option::as_ref)
            .chain(tastes.and_then(|tastes| tastes.default.as_ref()))
            .chain(genres.into_iter().flat_map(|genres| genres.0.iter().filter_map(|(_, content)| content.as_ref())))
            .any(Content::holds_replacement)
    }

    /// The response.
    pub(crate) fn answer(
        self,
        tokenizers: &Tokenizers,
        own: Option<Rc<dyn Counter>>,
        lone: Vec<Diagnostic>,
    ) -> Result<ReadContext> {
        let (sizes, limits) = self.limits.unwrap_or_default().finish()?;
        let counter = TokenizerChoice::counter(self.tokenizer.as_ref(), tokenizers, own)?;
        let tastes = self.tastes.unwrap_or_default();
        let workspace = Workspace {
            default_taste: tastes.default,
            genres: tastes.genres.unwrap_or_default().0,
            brief: self.brief,
            notes: self.notes,
            log: self.log,
            gaps: self.gaps,
            names: names(self.tastes_dir, self.workspace_dir),
            sizes,
        };
        let mut result = read_context(&workspace, &limits, counter.as_ref())?;
        result.diagnostics.splice(0..0, lone);
        Ok(result)
    }
}

fn names(tastes_dir: Option<String>, workspace_dir: Option<String>) -> Names {
    let defaults = Names::default();
    Names {
        tastes_dir: tastes_dir.unwrap_or(defaults.tastes_dir),
        workspace_dir: workspace_dir.unwrap_or(defaults.workspace_dir),
    }
}

/// The entries of an object, in its order.
#[derive(Debug)]
struct Entries<T>(Vec<(String, T)>);

impl<T> Default for Entries<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Entries<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct Object<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for Object<T> {
            type Value = Entries<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of texts")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Entries<T>, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Entries(entries))
            }
        }

        deserializer.deserialize_map(Object(PhantomData))
    }
}
