//! Expands the imports of a file: in place, or as files after it.

use std::rc::Rc;

use crate::error::{Diagnostic, DiagnosticCode, Result, Severity};
use crate::maps::SortedSet;
use crate::markdown::{FrontMatter, front_matter};
use crate::text::replace;

use super::paths;
use super::preset::{Base, Imports, Repeat};
use super::scan::{self, Import};
use super::session::{Decision, Session};
use super::world::Entry;

/// Nested imports for an agent without a limit of its own. It keeps recursion far from the end of the stack.
const IMPORT_DEPTH_MAX: usize = 100;

/// A file that is placed after its importer.
#[derive(Clone, Debug)]
pub(super) struct Imported {
    pub path: String,
    pub importer: String,
    pub text: String,
}

/// The expansion of one root file.
struct Expansion<'e> {
    settings: &'e Imports,
    boundary: Option<String>,
    setting: &'e str,
    /// Real paths on the way to the current file.
    chain: Vec<Rc<str>>,
    /// Real paths expanded below this root file.
    seen: SortedSet<String>,
    after: Vec<Imported>,
    /// The line of the current import in its file, from 1.
    line: u32,
}

/// The line in its file at which a part of it begins.
fn first_line(session: &mut Session<'_>, path: &str, text: &str) -> u32 {
    let Some((whole, _)) = session.world.file(path) else { return 1 };
    let before = whole.find(text).and_then(|at| whole.get(..at)).unwrap_or_default();
    u32::try_from(before.matches('\n').count().saturating_add(1)).unwrap_or(u32::MAX)
}

/// Expands the imports of a root file. Returns its text and the files to place after it.
pub(super) fn expand(
    session: &mut Session<'_>,
    settings: &Imports,
    path: &str,
    real: Rc<str>,
    is_project: bool,
    setting: &str,
    text: &str,
) -> Result<(String, Vec<Imported>)> {
    let boundary = settings.boundary.filter(|_| !session.request.approve_imports).and_then(|base| match base {
        Base::Cwd => is_project.then(|| session.request.cwd.clone()),
        _ if is_project && paths::below(&session.root, path).is_some() => Some(session.root.clone()),
        _ => Some(paths::folder(path).to_owned()),
    });
    let seen = SortedSet::new();
    let mut expansion = Expansion { settings, boundary, setting, chain: vec![real], seen, after: Vec::new(), line: 1 };
    let text = expansion.text(session, path, text, 0)?;
    Ok((text, expansion.after))
}

impl Expansion<'_> {
    fn text(&mut self, session: &mut Session<'_>, path: &str, text: &str, depth: usize) -> Result<String> {
        let found = scan::imports(text, self.settings);
        let mut out = String::new();
        let mut at = 0_usize;
        let mut line = if found.is_empty() { 1 } else { first_line(session, path, text) };
        let mut counted = 0_usize;
        for import in &found {
            let between = text.get(counted..import.range.start).unwrap_or_default();
            line = line.saturating_add(u32::try_from(between.matches('\n').count()).unwrap_or(u32::MAX));
            counted = import.range.start;
            self.line = line;
            if let Some(replacement) = self.import(session, path, import, depth)? {
                out.push_str(text.get(at..import.range.start).unwrap_or_default());
                out.push_str(&replacement);
                at = import.range.end;
            }
        }
        out.push_str(text.get(at..).unwrap_or_default());
        Ok(if self.settings.drop_comments { scan::without_comments(&out) } else { out })
    }

    /// The text in place of an import; `None` if it stays as written.
    fn import(
        &mut self,
        session: &mut Session<'_>,
        from: &str,
        import: &Import,
        depth: usize,
    ) -> Result<Option<String>> {
        let settings = self.settings;
        let Some(path) = session.resolve(paths::folder(from), &import.path) else {
            return Ok(self.outside(session, from, import, &import.path));
        };
        let name = paths::name(&path);
        if settings.text_only && name.rsplit_once('.').is_some_and(|(_, end)| !TEXT_ENDS.contains(&end)) {
            self.decide(session, from, &path, "notText");
            return Ok(None);
        }
        if self.boundary.as_deref().is_some_and(|boundary| paths::below(boundary, &path).is_none()) {
            return Ok(self.outside(session, from, import, &path));
        }
        let (text, real) = match session.world.look(&path) {
            Entry::File { text, real } => (text, real),
            missing => {
                let reason = if missing == Entry::Missing { "ENOENT: no such file" } else { "EISDIR: a folder" };
                self.refuse(session, from, import, &path, "missing");
                return Ok(settings.failed.as_deref().map(|failed| filled(failed, import, &path, reason)));
            }
        };
        if let Some(repeated) = self.repeated(session, from, import, &path, &real) {
            return Ok(repeated);
        }
        if depth >= settings.depth.unwrap_or(IMPORT_DEPTH_MAX) || !session.may_expand(text.len()) {
            self.refuse(session, from, import, &path, "tooDeep");
            return Ok(None);
        }
        self.load(session, from, import, (path, text, real), depth)
    }

    /// What stands for a file that was loaded already; `None` if it is loaded again.
    fn repeated(
        &mut self,
        session: &mut Session<'_>,
        from: &str,
        import: &Import,
        path: &str,
        real: &Rc<str>,
    ) -> Option<Option<String>> {
        let settings = self.settings;
        let on_chain = self.chain.contains(real);
        if on_chain {
            self.refuse(session, from, import, path, "cyclic");
        }
        let (is_repeated, text) = match settings.repeat {
            Repeat::Never => (on_chain || session.loaded.contains(&**real), None),
            Repeat::Branch => (on_chain, settings.cyclic.as_deref()),
            Repeat::Marked => (on_chain || self.seen.contains(&**real), settings.repeated.as_deref()),
        };
        is_repeated.then(|| text.map(|text| filled(text, import, path, "")))
    }

    fn load(
        &mut self,
        session: &mut Session<'_>,
        from: &str,
        import: &Import,
        (path, text, real): (String, Rc<str>, Rc<str>),
        depth: usize,
    ) -> Result<Option<String>> {
        let settings = self.settings;
        self.decide(session, from, &path, "loaded");
        self.seen.insert((*real).to_owned());
        let body = match front_matter(&text) {
            FrontMatter::Closed { body_start, .. } if settings.drop_front_matter => {
                text.get(body_start..).unwrap_or_default()
            }
            _ => &text,
        };
        if settings.repeat == Repeat::Never {
            session.loaded.insert((*real).to_owned());
        }
        let place = self.after.len();
        if !settings.inline {
            let imported = Imported { path: path.clone(), importer: from.to_owned(), text: String::new() };
            self.after.push(imported);
        }
        self.chain.push(real);
        let expanded = self.text(session, &path, body, depth.saturating_add(1));
        self.chain.pop();
        let expanded = expanded?;
        if settings.inline {
            let around = |text: &str| filled(text, import, &path, "");
            let expanded = expanded.trim_end().to_owned();
            return Ok(Some([around(&settings.before), expanded, around(&settings.after)].concat()));
        }
        if let Some(imported) = self.after.get_mut(place) {
            imported.text = expanded;
        }
        Ok(None)
    }

    fn outside(&self, session: &mut Session<'_>, from: &str, import: &Import, path: &str) -> Option<String> {
        self.refuse(session, from, import, path, "outside");
        self.settings.outside.as_deref().map(|text| filled(text, import, path, "path traversal"))
    }

    /// Decides that an import is not loaded, and reports it once per importer.
    fn refuse(&self, session: &mut Session<'_>, from: &str, import: &Import, path: &str, outcome: &'static str) {
        if !session.is_first_report(from, path, outcome) {
            return;
        }
        self.decide(session, from, path, outcome);
        let quiet = outcome == "missing" && self.settings.failed.is_none();
        let severity = if quiet { Severity::Info } else { Severity::Warning };
        let (code, what) = match outcome {
            "missing" => (DiagnosticCode::AgentImportMissing, "names no file; correct the path or remove the `@`"),
            "outside" => (
                DiagnosticCode::AgentImportOutside,
                "is outside the folder that imports are limited to and was not loaded",
            ),
            "tooDeep" => (DiagnosticCode::AgentImportTooDeep, "is too many imports deep and was not loaded"),
            _ => (DiagnosticCode::AgentImportCyclic, "imports itself; remove one of the imports"),
        };
        let message = format!("`@{}` in `{from}` {what}", import.path);
        session
            .diagnostics
            .push(Diagnostic { line: Some(self.line), ..Diagnostic::new(code, severity, message).at_path(from) });
    }

    fn decide(&self, session: &mut Session<'_>, from: &str, path: &str, outcome: &'static str) {
        session.decide(Decision {
            path: path.to_owned(),
            kind: "import",
            outcome,
            step: (outcome == "loaded").then_some(session.step),
            setting: format!("{}.imports", self.setting),
            by: Some(from.to_owned()),
            ..Decision::default()
        });
    }
}

fn filled(template: &str, import: &Import, absolute: &str, reason: &str) -> String {
    replace(&replace(&replace(template, "{path}", &import.path), "{abs}", absolute), "{reason}", reason)
}

/// The ends of names that Claude Code imports.
const TEXT_ENDS: &[&str] = &[
    "md",
    "txt",
    "text",
    "json",
    "yaml",
    "yml",
    "toml",
    "xml",
    "csv",
    "html",
    "htm",
    "css",
    "scss",
    "sass",
    "less",
    "js",
    "ts",
    "tsx",
    "jsx",
    "mjs",
    "cjs",
    "mts",
    "cts",
    "py",
    "pyi",
    "pyw",
    "rb",
    "erb",
    "rake",
    "go",
    "rs",
    "java",
    "kt",
    "kts",
    "scala",
    "c",
    "cpp",
    "cc",
    "cxx",
    "h",
    "hpp",
    "hxx",
    "cs",
    "swift",
    "sh",
    "bash",
    "zsh",
    "fish",
    "ps1",
    "bat",
    "cmd",
    "env",
    "ini",
    "cfg",
    "conf",
    "config",
    "properties",
    "sql",
    "graphql",
    "gql",
    "proto",
    "vue",
    "svelte",
    "astro",
    "ejs",
    "hbs",
    "pug",
    "jade",
    "php",
    "pl",
    "pm",
    "lua",
    "r",
    "R",
    "dart",
    "ex",
    "exs",
    "erl",
    "hrl",
    "clj",
    "cljs",
    "cljc",
    "edn",
    "hs",
    "lhs",
    "elm",
    "ml",
    "mli",
    "f",
    "f90",
    "f95",
    "for",
    "cmake",
    "make",
    "makefile",
    "gradle",
    "sbt",
    "rst",
    "adoc",
    "asciidoc",
    "org",
    "tex",
    "latex",
    "lock",
    "log",
    "diff",
    "patch",
];
