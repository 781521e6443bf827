//! Loads what an agent reads: at its start, and after each access to a path.

use std::rc::Rc;

use serde_json::Value;

use crate::error::{DiagnosticCode, Result, Severity};
use crate::glob;
use crate::maps::SortedSet;
use crate::sorting::{sort, sort_by_key};
use crate::text::is_blank;

use super::budget::apply_budget;
use super::expand::expand;
use super::paths;
use super::patterns;
use super::preset::{At, Base, DIALECTS, Item, ItemKind, Load, RuleFolder, Sort, Source, Take, Top, name_of};
use super::rules::{self, Mode, Rule};
use super::session::{Decision, Piece, SKILL, SKILL_BODY, Session};
use super::world::Entry;

/// A file that a source loads.
#[derive(Clone, Debug)]
struct Candidate {
    path: String,
    kind: &'static str,
    setting: String,
    /// The order within a source that sorts by title.
    title: String,
    /// The place of its name among those of its item.
    name_place: usize,
    /// Whether its name begins with `~/`.
    is_home: bool,
    trim: bool,
    same_text: bool,
    /// The text in place of the file's.
    text: Option<String>,
    /// The decision of a rule, without its outcome.
    rule: Decision,
}

/// Loads the start and all accesses into the session.
pub(super) fn load(session: &mut Session<'_>) -> Result<()> {
    find_top(session);
    let request = session.request;
    run(session, &request.preset.start, "start", None)?;
    apply_budget(session, 0);
    for (number, access) in request.access.iter().enumerate() {
        session.step = number.saturating_add(1);
        let placed = session.pieces.len();
        if access.verb == SKILL {
            load_skill_body(session, &access.path);
        } else if request.preset.verbs.contains(&access.verb) {
            run(session, &request.preset.access, "access", Some(&access.path))?;
        }
        apply_budget(session, placed);
    }
    Ok(())
}

/// Loads the body of a listed skill, the text after its front matter, once.
fn load_skill_body(session: &mut Session<'_>, path: &str) {
    let listed = session.decision(path, SKILL).filter(|listed| matches!(listed.outcome, "loaded" | "overBudget"));
    let setting = listed.map(|listed| listed.setting.clone());
    let decision = Decision { path: path.to_owned(), kind: SKILL_BODY, ..Decision::default() };
    let Some(setting) = setting else { return session.decide(Decision { outcome: "notListed", ..decision }) };
    if session.decision(path, SKILL_BODY).is_some_and(|body| body.outcome == "loaded") {
        return;
    }
    let Some((text, _)) = session.world.file(path) else { return };
    let body_start = rules::read(&text, &RuleFolder::default()).body_start;
    let text = text.get(body_start..).unwrap_or_default().trim().to_owned();
    let decision = Decision { setting: setting.clone(), ..decision };
    if text.is_empty() {
        return session.decide(Decision { outcome: "blank", ..decision });
    }
    session.decide(Decision { outcome: "loaded", step: Some(session.step), ..decision });
    let scope = session.pieces.iter().find(|piece| piece.path == path).map_or("project", |listed| listed.scope);
    let path = path.to_owned();
    session.push(Piece { path, kind: SKILL_BODY, scope, placement: "tool", setting, text, ..Piece::default() });
}

fn find_top(session: &mut Session<'_>) {
    let request = session.request;
    let marked = |folder: &&str, session: &mut Session<'_>| {
        request.preset.markers.iter().any(|marker| session.world.exists(&paths::join(folder, marker)))
    };
    let root = request.root.clone().or_else(|| {
        let mut up = paths::upwards(&request.cwd).into_iter();
        up.find(|folder| marked(folder, session)).map(str::to_owned)
    });
    session.root = root.unwrap_or_else(|| request.cwd.clone());
    session.top = match request.preset.top {
        Top::MarkerFolder if request.root.is_none() => {
            let is_marked = |folder: &&str| {
                let mut markers = request.preset.markers.iter();
                markers.any(|marker| matches!(session.world.look(&paths::join(folder, marker)), Entry::Folder(_)))
            };
            paths::upwards(&request.cwd).into_iter().find(is_marked).unwrap_or(&request.cwd).to_owned()
        }
        Top::Marker | Top::MarkerFolder => session.root.clone(),
        Top::Disk => "/".to_owned(),
    };
}

fn run(session: &mut Session<'_>, sources: &[Source], name: &str, accessed: Option<&str>) -> Result<()> {
    for (number, source) in sources.iter().enumerate() {
        let folders = folders(session, source.at, accessed);
        let mut found = Vec::new();
        let mut first_names: Vec<Option<String>> = vec![None; source.items.len()];
        for (item, first) in source.items.iter().zip(&mut first_names) {
            if item.take == Take::FirstName {
                *first = first_name(session, item, &folders);
            }
        }
        for folder in &folders {
            for (place, item) in source.items.iter().enumerate() {
                let setting = format!("{name}[{number}].items[{place}]");
                let first = first_names.get(place).and_then(Option::as_deref);
                candidates(session, item, folder, first, accessed, &setting, &mut found);
            }
        }
        match source.sort {
            Sort::None => {}
            Sort::Path => sort_by_key(&mut found, |file| file.path.clone()),
            // The names of a preset may have a folder at home before them.
            Sort::Name => sort_by_key(&mut found, |file| file.name_place),
            Sort::Title => sort_by_key(&mut found, |file| (file.title.clone(), file.path.clone())),
        }
        for candidate in found {
            if source.trusted && !session.request.trusted {
                decide(session, &candidate, "untrusted", None);
            } else {
                load_file(session, source, candidate)?;
            }
        }
    }
    Ok(())
}

/// The folders of a source, in order.
fn folders(session: &Session<'_>, at: At, accessed: Option<&str>) -> Vec<String> {
    let request = session.request;
    let chain = |from: &str| -> Vec<String> {
        let is_inside = |folder: &&str| paths::below(&session.top, folder).is_some();
        let is_counted = |folder: &&str| **folder != *"/" || request.preset.with_disk_root || session.top != "/";
        let up = paths::upwards(from).into_iter();
        up.filter(is_inside).filter(is_counted).map(str::to_owned).collect()
    };
    let reversed = |mut folders: Vec<String>| {
        folders.reverse();
        folders
    };
    let touched = accessed.map(paths::folder);
    match at {
        At::Managed => request.preset.managed.iter().cloned().collect(),
        At::Home => request.home.iter().cloned().collect(),
        At::Cwd => vec![request.cwd.clone()],
        At::Root => vec![session.root.clone()],
        At::Down => reversed(chain(&request.cwd)),
        At::Up => chain(&request.cwd),
        At::Edges => {
            let up = chain(&request.cwd);
            let mut folders: Vec<String> = up.last().into_iter().chain(up.first()).cloned().collect();
            folders.extend(up.into_iter().skip(1));
            let mut seen = SortedSet::new();
            folders.into_iter().filter(|folder| seen.insert(folder.clone())).collect()
        }
        At::Below => {
            let below = |folder: &&str| paths::below(&request.cwd, folder).is_some_and(|below| !below.is_empty());
            let up = touched.map(paths::upwards).unwrap_or_default().into_iter();
            reversed(up.filter(below).map(str::to_owned).collect())
        }
        At::Touched => reversed(touched.map(chain).unwrap_or_default()),
    }
}

/// The first name of an item that any of the folders has.
fn first_name(session: &mut Session<'_>, item: &Item, folders: &[String]) -> Option<String> {
    let ItemKind::Names(names) = &item.what else { return None };
    let has = |name: &&String| folders.iter().any(|folder| session.world.file(&paths::join(folder, name)).is_some());
    names.iter().find(has).cloned()
}

/// Adds the files of an item in a folder.
fn candidates(
    session: &mut Session<'_>,
    item: &Item,
    folder: &str,
    first: Option<&str>,
    accessed: Option<&str>,
    setting: &str,
    found: &mut Vec<Candidate>,
) {
    let candidate = |path: String, kind: &'static str| Candidate {
        title: item.title.clone().unwrap_or_else(|| paths::name(&path).to_lowercase()),
        path,
        kind,
        setting: setting.to_owned(),
        name_place: 0,
        is_home: false,
        trim: item.trim,
        same_text: item.same_text,
        text: None,
        rule: Decision::default(),
    };
    match &item.what {
        ItemKind::Names(names) => {
            let paths = names_in(session, item, names, folder, first, setting);
            for (path, name) in paths {
                let name_place = names.iter().position(|known| *known == name).unwrap_or_default();
                found.push(Candidate { name_place, is_home: name.starts_with("~/"), ..candidate(path, "context") });
            }
        }
        ItemKind::Skills(skills) => {
            let skills = paths::join(folder, skills);
            for name in &*session.world.names(&skills) {
                let path = paths::join(&skills, &format!("{name}/SKILL.md"));
                if let Some(text) = session.world.file(&path).and_then(|(text, _)| skill(&text)) {
                    found.push(Candidate { text: Some(text), ..candidate(path, SKILL) });
                }
            }
        }
        ItemKind::Config(config) => {
            for path in configured(session, folder, config) {
                found.push(candidate(path, "context"));
            }
        }
        ItemKind::Rules(rules) => rule_candidates(session, item, rules, folder, accessed, candidate, found),
    }
}

/// Adds the rules of a folder that apply now: first those that always apply, then those that match.
fn rule_candidates(
    session: &mut Session<'_>,
    item: &Item,
    rules: &str,
    folder: &str,
    accessed: Option<&str>,
    candidate: impl Fn(String, &'static str) -> Candidate,
    found: &mut Vec<Candidate>,
) {
    let Some(settings) = session.request.preset.rules.get(rules).cloned() else { return };
    let Some(top) = session.resolve(folder, rules) else { return };
    let mut files = Vec::new();
    rule_files(session, &top, &settings, &mut files);
    let mut matching = Vec::new();
    for path in files {
        let Some((text, _)) = session.world.file(&path) else { continue };
        let rule = rules::read(&text, &settings);
        let mut file = candidate(path, "rule");
        file.rule = rule_decision(session, &rule, &settings, folder);
        if !settings.keep_front_matter {
            file.text = text.get(rule.body_start..).map(str::to_owned);
        }
        report_problem(session, &file.path, &rule);
        match applies(&file.rule, &rule.mode, &settings, item.load, accessed) {
            Some(true) => matching.push(file),
            Some(false) => found.push(file),
            None => {
                let is_empty = is_blank(file.text.as_deref().unwrap_or(&text));
                let outcome = if is_empty { "blank" } else { waiting(session, rules, &rule.mode) };
                decide(session, &file, outcome, None);
            }
        }
    }
    found.append(&mut matching);
}

fn report_problem(session: &mut Session<'_>, path: &str, rule: &Rule) {
    let is_known = |path: &str| session.decisions.iter().any(|known| known.path == path);
    if let Some(problem) = rule.problem.as_ref().filter(|_| !is_known(path)) {
        let message = format!("the front matter of the rule is not YAML and was not read: {problem}");
        session.diagnose(DiagnosticCode::FrontMatterInvalid, Severity::Warning, message, path);
    }
}

/// Whether a rule is loaded now: because it matches (true) or always (false).
fn applies(
    decision: &Decision,
    mode: &Mode,
    settings: &RuleFolder,
    load: Load,
    accessed: Option<&str>,
) -> Option<bool> {
    match mode {
        Mode::Always => (load != Load::Matching).then_some(false),
        Mode::Matching(patterns) if load != Load::Always => {
            let path = paths::below(decision.base.as_deref()?, accessed?)?;
            patterns.iter().any(|pattern| patterns::matches(settings.dialect, pattern, path)).then_some(true)
        }
        _ => None,
    }
}

/// The outcome of a rule that is not loaded now.
fn waiting(session: &Session<'_>, folder: &str, mode: &Mode) -> &'static str {
    let waits =
        |item: &Item| item.load != Load::Always && matches!(&item.what, ItemKind::Rules(rules) if rules == folder);
    let preset = &session.request.preset;
    match mode {
        Mode::Matching(_) if !preset.access.iter().flat_map(|source| &source.items).any(waits) => "never",
        Mode::Always | Mode::Matching(_) => "waiting",
        Mode::Request => "onRequest",
        Mode::Manual => "manual",
        Mode::Never => "never",
    }
}

fn rule_decision(session: &Session<'_>, rule: &Rule, settings: &RuleFolder, holder: &str) -> Decision {
    let is_home = session.request.home.as_deref() == Some(holder);
    let base = match settings.base {
        Base::Holder if !is_home => holder.to_owned(),
        Base::Holder | Base::Cwd => session.request.cwd.clone(),
        Base::Root => session.root.clone(),
    };
    let patterns = match &rule.mode {
        Mode::Matching(patterns) => patterns.clone(),
        _ => Vec::new(),
    };
    let matching = !patterns.is_empty();
    Decision {
        key: rule.key.clone(),
        base: matching.then_some(base),
        dialect: matching.then(|| name_of(DIALECTS, settings.dialect)),
        patterns,
        ..Decision::default()
    }
}

/// The files of a folder of rules, by path, those of its subfolders included.
fn rule_files(session: &mut Session<'_>, folder: &str, settings: &RuleFolder, found: &mut Vec<String>) {
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for name in &*session.world.names(&folder) {
            let path = paths::join(&folder, name);
            if settings.skip.contains(name) {
                continue;
            }
            if settings.ends.iter().any(|end| name.ends_with(end.as_str())) {
                found.push(path);
            } else if !settings.flat && (!name.contains('.') || matches!(session.world.look(&path), Entry::Folder(_))) {
                open.push(path);
            }
        }
    }
    sort(found);
}

/// The files of an item that a folder has and the agent takes, each with its name.
fn names_in(
    session: &mut Session<'_>,
    item: &Item,
    names: &[String],
    folder: &str,
    first: Option<&str>,
    setting: &str,
) -> Vec<(String, String)> {
    let mut taken: Vec<(String, String)> = Vec::new();
    let hider = hider(session, item, folder);
    for name in names {
        let Some(path) = session.resolve(folder, name) else { continue };
        let Some((text, _)) = session.world.file(&path) else { continue };
        let blank = item.take == Take::FirstNonBlank && is_blank(&text);
        let by = match item.take {
            _ if hider.is_some() => hider.clone(),
            Take::First | Take::FirstNonBlank => taken.first().map(|(path, _)| path.clone()),
            Take::FirstName if first != Some(name) => first.map(str::to_owned),
            Take::All | Take::FirstName => None,
        };
        if by.is_none() && !blank {
            taken.push((path, name.clone()));
            continue;
        }
        let outcome = if blank { "blank" } else { "shadowed" };
        session.decide(Decision {
            path,
            kind: "context",
            outcome,
            by,
            setting: setting.to_owned(),
            ..Decision::default()
        });
    }
    taken
}

/// The file because of which an item loads nothing in a folder.
fn hider(session: &mut Session<'_>, item: &Item, folder: &str) -> Option<String> {
    if item.unless.is_empty() {
        return None;
    }
    let folders = if item.unless_anywhere { folders(session, At::Down, None) } else { vec![folder.to_owned()] };
    let mut all = folders.iter().flat_map(|folder| item.unless.iter().map(move |name| (folder, name)));
    let hides = all.find(|(folder, name)| {
        let path = paths::join(folder, name);
        let is_folder = name.ends_with('/') && !session.world.names(&path).is_empty();
        is_folder || session.world.file(&path).is_some()
    });
    hides.map(|(folder, name)| paths::join(folder, name))
}

/// The line that announces a skill; `None` without a description.
fn skill(text: &str) -> Option<String> {
    let settings = RuleFolder { request: Some("description".to_owned()), ..RuleFolder::default() };
    let description = rules::read(text, &settings).description?;
    let name = text.lines().find_map(|line| line.strip_prefix("name:")).map(str::trim).unwrap_or_default();
    Some(format!("- {name}: {description}"))
}

/// The files that the `instructions` of a configuration list.
fn configured(session: &mut Session<'_>, folder: &str, config: &str) -> Vec<String> {
    let path = paths::join(folder, config);
    let Some((text, _)) = session.world.file(&path) else { return Vec::new() };
    let Ok(value) = serde_json::from_str::<Value>(&text) else {
        let message = format!("`{path}` is not JSON, so its `instructions` were not read");
        session.diagnose(DiagnosticCode::AgentTextLost, Severity::Warning, message, &path);
        return Vec::new();
    };
    let mut found = Vec::new();
    for entry in value.get("instructions").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str) {
        if entry.contains("://") {
            let message = format!("`{entry}` is an address, which is not fetched; load its text yourself");
            session.diagnose(DiagnosticCode::AgentTextLost, Severity::Warning, message, &path);
        } else if let Some(pattern) = session.resolve(folder, entry) {
            found.append(&mut globbed(session, &pattern));
        }
    }
    found
}

/// The files that an absolute glob names, by path.
fn globbed(session: &mut Session<'_>, pattern: &str) -> Vec<String> {
    const SKIPPED: [&str; 2] = ["node_modules", ".git"];
    let mut open = vec!["/".to_owned()];
    for segment in pattern.split('/').filter(|segment| !segment.is_empty()) {
        let mut next = Vec::new();
        for folder in open {
            if segment == "**" {
                let mut below = vec![folder];
                while let Some(folder) = below.pop() {
                    for name in session.world.names(&folder).iter().filter(|name| !SKIPPED.contains(&name.as_str())) {
                        below.push(paths::join(&folder, name));
                    }
                    next.push(folder);
                }
            } else if segment.contains(['*', '?', '[', '{']) {
                let names = session.world.names(&folder);
                let matching = names.iter().filter(|name| glob::matches(segment, name));
                next.extend(matching.map(|name| paths::join(&folder, name)));
            } else {
                next.push(paths::join(&folder, segment));
            }
        }
        open = next;
    }
    open.retain(|path| session.world.file(path).is_some());
    sort(&mut open);
    open
}

fn decide(session: &mut Session<'_>, file: &Candidate, outcome: &'static str, by: Option<String>) {
    let step = (outcome == "loaded").then_some(session.step);
    let (path, setting) = (file.path.clone(), file.setting.clone());
    session.decide(Decision { path, kind: file.kind, outcome, step, setting, by, ..file.rule.clone() });
}

/// Loads one file with its imports, as far as the agent reads it.
fn load_file(session: &mut Session<'_>, source: &Source, file: Candidate) -> Result<()> {
    let Some((whole, real)) = session.world.file(&file.path) else { return Ok(()) };
    let preset = &session.request.preset;
    if session.loaded.contains(&*real) {
        decide(session, &file, "duplicate", Some((*real).to_owned()));
        return Ok(());
    }
    if let Some(max) = preset.max_file_bytes.filter(|max| whole.len() > *max) {
        let message = format!("the file has {} bytes, over the agent's limit of {max}; it is not read", whole.len());
        session.lose(&file.path, "tooLarge", whole.len(), message);
        decide(session, &file, "tooLarge", None);
        return Ok(());
    }
    if preset.link_text && is_link_text(session, &file.path, &whole) {
        let message = "the file is a link that was checked out as text; it loads nothing and hides others".to_owned();
        session.lose(&file.path, "linkText", whole.len(), message);
        decide(session, &file, "linkText", None);
        return Ok(());
    }
    let text = file.text.clone().unwrap_or_else(|| (*whole).to_owned());
    let text = if file.trim { text.trim().to_owned() } else { text };
    if is_blank(&text) {
        decide(session, &file, "blank", None);
        return Ok(());
    }
    if file.same_text && session.texts.contains(text.trim()) {
        decide(session, &file, "sameText", None);
        return Ok(());
    }
    session.texts.insert(text.trim().to_owned());
    let Some((text, truncated)) = capped(session, source, &file, text) else { return Ok(()) };
    session.loaded.insert((*real).to_owned());
    decide(session, &file, "loaded", None);
    place(session, source, &file, real, (text, truncated))
}

/// Whether a text is the path of another file in the same folder.
fn is_link_text(session: &mut Session<'_>, path: &str, text: &str) -> bool {
    let target = text.trim();
    let is_path = !target.is_empty() && target.len() < 256 && !target.contains(char::is_whitespace);
    is_path && {
        let target = paths::join(paths::folder(path), target);
        target != path && session.world.file(&target).is_some()
    }
}

/// The text within the cap of all project files together, and whether it was cut. The file that crosses the cap is cut
/// at the byte; later ones are not read.
fn capped(session: &mut Session<'_>, source: &Source, file: &Candidate, text: String) -> Option<(String, bool)> {
    if matches!(source.at, At::Home | At::Managed) || file.kind == SKILL {
        return Some((text, false));
    }
    let Some(left) = session.cap_left else { return Some((text, false)) };
    session.cap_left = Some(left.saturating_sub(text.len()));
    if text.len() <= left {
        return Some((text, false));
    }
    let lost = text.len().saturating_sub(left);
    let max = session.request.preset.cap_bytes.unwrap_or_default();
    let message = format!("{lost} bytes of the file are over the agent's limit of {max} bytes for all files");
    session.lose(&file.path, "cap", lost, message);
    if left == 0 {
        decide(session, file, "capped", None);
        return None;
    }
    let head = text.as_bytes().get(..left).unwrap_or_default();
    Some((String::from_utf8_lossy(head).into_owned(), true))
}

fn place(
    session: &mut Session<'_>,
    source: &Source,
    file: &Candidate,
    real: Rc<str>,
    (text, truncated): (String, bool),
) -> Result<()> {
    let scope = match source.at {
        At::Managed => "managed",
        At::Home => "home",
        _ if file.is_home => "home",
        _ => "project",
    };
    let piece = |path: &str, kind: &'static str, text: String| Piece {
        path: path.to_owned(),
        kind,
        scope,
        placement: source.placement.name(),
        setting: file.setting.clone(),
        text,
        truncated,
        ..Piece::default()
    };
    let request = session.request;
    let imports = request.preset.imports.as_ref().filter(|imports| {
        let name = paths::name(&file.path);
        file.kind != SKILL && (imports.files.is_empty() || imports.files.iter().any(|known| known == name))
    });
    let Some(imports) = imports else {
        session.push(piece(&file.path, file.kind, text));
        return Ok(());
    };
    let is_project = scope == "project";
    let (text, after) = expand(session, imports, &file.path, real, is_project, &file.setting, &text)?;
    session.push(piece(&file.path, file.kind, text));
    for imported in after {
        let imported_by = Some(imported.importer);
        session.push(Piece { imported_by, ..piece(&imported.path, "import", imported.text) });
    }
    Ok(())
}
