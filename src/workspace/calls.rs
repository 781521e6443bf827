//! The calls of this area: requests read from JSON, results written as JSON.

use crate::call::{Call, CallContext, Response};
use crate::error::{self, Diagnostic, Result};
use crate::input::Content;
use crate::json::{Object, Value, refuse_unknown};
use crate::limits::Limits;

use super::{Names, Sizes, Workspace, parse_brief, plan_loading, read_context, read_full_notes};

/// The calls by name.
pub const CALLS: &[Call] = &[
    Call::new("parseBrief", &[], |_, request, _| brief(request)),
    Call::new("planContextLoading", &[], |_, request, _| plan(request)),
    Call::new("readContext", &[], |_, request, host| context(request, host)),
    Call::new("readFullNotes", &[], |_, request, _| full_notes(request)),
];

/// The fields of a workspace that each call reads.
const FIELDS: &[&str] =
    &["tastes", "genres", "brief", "notes", "log", "gaps", "tastesDir", "workspaceDir", "limits", "tokenizer"];

fn workspace<'t>(request: Value<'t>, diagnostics: &mut Vec<Diagnostic>) -> Result<Object<'t>> {
    let workspace = request.object("a workspace, an object")?;
    workspace.report_unknown(FIELDS, diagnostics);
    Ok(workspace)
}

fn brief(request: Value<'_>) -> Result<Response> {
    let content = if request.is_null() { None } else { Some(Content::read(request)?) };
    let mut parsed = parse_brief(content.as_ref(), "brief.md");
    error::put_before(request.repaired(), &mut parsed.diagnostics);
    Response::of(&parsed)
}

fn plan(request: Value<'_>) -> Result<Response> {
    let mut diagnostics = request.repaired();
    let input = workspace(request, &mut diagnostics)?;
    let genres = input.read("genres", Value::strings)?.unwrap_or_default();
    let mut plan = plan_loading(input.read("brief", Content::read)?.as_ref(), &genres, &names(input)?);
    error::put_before(diagnostics, &mut plan.diagnostics);
    Response::of(&plan)
}

fn context(request: Value<'_>, host: &CallContext) -> Result<Response> {
    let mut diagnostics = request.repaired();
    let input = workspace(request, &mut diagnostics)?;
    let (sizes, limits) = match input.get("limits")? {
        Some(limits) => self::limits(limits, &mut diagnostics)?,
        None => Default::default(),
    };
    let (default_taste, genres) = match input.get("tastes")? {
        Some(tastes) => self::tastes(tastes, &mut diagnostics)?,
        None => Default::default(),
    };
    let file = |name| input.read(name, Content::read);
    let workspace = Workspace {
        default_taste,
        genres,
        listed: input.read("genres", Value::strings)?.unwrap_or_default(),
        brief: file("brief")?,
        notes: file("notes")?,
        log: file("log")?,
        gaps: file("gaps")?,
        names: names(input)?,
        sizes,
    };
    let counter = host.counter(input.get("tokenizer")?)?;
    let mut result = read_context(&workspace, &limits, counter.as_ref())?;
    error::put_before(diagnostics, &mut result.diagnostics);
    Response::of(&result)
}

fn full_notes(request: Value<'_>) -> Result<Response> {
    let mut diagnostics = Vec::new();
    let notes = workspace(request, &mut diagnostics)?.read("notes", Content::read)?;
    refuse_unknown(&diagnostics)?;
    Response::of(&read_full_notes(notes.as_ref()))
}

fn names(input: Object<'_>) -> Result<Names> {
    let defaults = Names::default();
    Ok(Names {
        tastes_dir: input.string("tastesDir")?.unwrap_or(defaults.tastes_dir),
        workspace_dir: input.string("workspaceDir")?.unwrap_or(defaults.workspace_dir),
    })
}

type Tastes = (Option<Content>, Vec<(String, Option<Content>)>);

fn tastes(tastes: Value<'_>, diagnostics: &mut Vec<Diagnostic>) -> Result<Tastes> {
    let tastes = tastes.object("tastes, an object with `default` and `genres`")?;
    tastes.report_unknown(&["default", "genres"], diagnostics);
    let mut genres = Vec::new();
    let listed = tastes.get("genres")?.filter(|genres| genres.as_list().is_some());
    for file in listed.map(|files| files.list("")).transpose()?.into_iter().flatten() {
        let file = file.object("a genre file, an object with `name` and `content`")?;
        genres.push((file.need("name")?.string()?, file.read("content", Content::read)?));
    }
    for (name, text) in tastes
        .get("genres")?
        .filter(|_| listed.is_none())
        .map(|genres| genres.object("an object of texts, or a list of `{ name, content }`"))
        .transpose()?
        .iter()
        .flat_map(|genres| genres.entries())
    {
        genres.push((name.string()?, if text.is_null() { None } else { Some(Content::read(text)?) }));
    }
    Ok((tastes.read("default", Content::read)?, genres))
}

fn limits(limits: Value<'_>, diagnostics: &mut Vec<Diagnostic>) -> Result<(Sizes, Limits)> {
    let limits = limits.object("limits, an object")?;
    limits.report_unknown(&["notesHeadLines", "notesTailLines", "logEntries", "gapRecords", "inputBytes"], diagnostics);
    let number = |name, default: usize| -> Result<usize> {
        Ok(limits.read(name, |value| value.whole(u32::MAX))?.map_or(default, |number| number as usize))
    };
    let sizes = Sizes::default();
    let sizes = Sizes {
        notes_head_lines: number("notesHeadLines", sizes.notes_head_lines)?,
        notes_tail_lines: number("notesTailLines", sizes.notes_tail_lines)?,
        log_entries: number("logEntries", sizes.log_entries)?,
        gap_records: number("gapRecords", sizes.gap_records)?,
    };
    let mut bounds = Limits::default();
    if let Some(bytes) = limits.read("inputBytes", |value| value.whole(u32::MAX))? {
        bounds.input_bytes = bytes;
    }
    Ok((sizes, bounds))
}
