//! Converts rules of one agent for another, with a report of every change of meaning.

use serde::Serialize;

use crate::error::{Diagnostic, Severity};
use crate::maps::SortedSet;
use crate::markdown::{line_end, without_bom};

use super::paths;
use super::patterns;
use super::preset::{At, Base, DIALECTS, Dialect, ItemKind, Load, Preset, RuleFolder, name_of};
use super::rules::{self, Mode, Rule};
use super::scan;
use super::translate::{Difference, translate};
use super::world::World;

/// What a conversion does with a rule whose mode the target does not have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Fallback {
    /// The rule always applies.
    #[default]
    Always,
    /// The rule is left out.
    Omit,
}

impl Fallback {
    pub(super) const NAMES: &[(&str, Self)] = &[("always", Self::Always), ("omit", Self::Omit)];
}

/// Converted rules.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Conversion {
    from: String,
    to: String,
    root: String,
    files: Vec<NewFile>,
    rules: Vec<ConvertedRule>,
    /// What changes for all rules.
    changes: Vec<Change>,
    /// Files that are no rules of the source agent.
    ignored: Vec<String>,
    pub diagnostics: Vec<Diagnostic>,
}

#[derive(Debug, Serialize)]
struct NewFile {
    path: String,
    content: String,
}

#[derive(Debug, Serialize)]
struct ConvertedRule {
    path: String,
    /// The new file; `None` if the rule is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    to: Option<String>,
    before: Activation,
    after: Activation,
    changes: Vec<Change>,
}

/// When a rule applies.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct Activation {
    mode: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    patterns: Vec<String>,
    /// The folder that the patterns are relative to.
    #[serde(skip_serializing_if = "Option::is_none")]
    base: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dialect: Option<&'static str>,
}

/// A change of meaning.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct Change {
    code: &'static str,
    severity: Severity,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pattern: Option<String>,
}

impl Change {
    fn new(code: &'static str, severity: Severity, message: String) -> Self {
        Self { code, severity, message, pattern: None }
    }
}

/// A folder of rules of an agent, as far as a conversion concerns it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules<'p> {
    preset: &'p Preset,
    /// The folder, relative to the one that holds it.
    folder: &'p str,
    settings: &'p RuleFolder,
    /// Whether rules are read in folders below the root.
    nested: bool,
    /// Whether a rule with patterns loads after an access.
    on_access: bool,
}

impl<'p> Rules<'p> {
    /// The folders of rules in a project, in the order in which the agent reads them.
    pub(super) fn of(preset: &'p Preset) -> Vec<Self> {
        let mut found: Vec<Self> = Vec::new();
        for source in preset.start.iter().filter(|source| !matches!(source.at, At::Home | At::Managed)) {
            for item in &source.items {
                let ItemKind::Rules(folder) = &item.what else { continue };
                let Some(settings) = preset.rules.get(folder.as_str()) else { continue };
                if folder.starts_with("~/") || found.iter().any(|known| known.folder == folder) {
                    continue;
                }
                let loads = |at: &[At], matching: bool| {
                    let is_here = |kind: &ItemKind| matches!(kind, ItemKind::Rules(name) if name == folder);
                    preset.access.iter().filter(|source| at.is_empty() || at.contains(&source.at)).any(|source| {
                        let mut items = source.items.iter();
                        items.any(|item| is_here(&item.what) && (!matching || item.load != Load::Always))
                    })
                };
                let nested = settings.base == Base::Holder && loads(&[At::Below, At::Touched], false);
                let on_access = settings.paths.is_some() && loads(&[], true) && !preset.verbs.is_empty();
                found.push(Self { preset, folder, settings, nested, on_access });
            }
        }
        found
    }

    /// The folder that holds a rule and the rule's path below the folder of rules.
    pub(super) fn locate<'f>(&self, path: &'f str) -> Option<(&'f str, &'f str)> {
        let (holder, name) = crate::text::split_once(path, &format!("/{}/", self.folder))?;
        let settings = self.settings;
        let is_skipped = name.split('/').any(|segment| settings.skip.iter().any(|skipped| skipped == segment));
        let is_read = settings.ends.iter().any(|end| name.ends_with(end.as_str()));
        let holder = if holder.is_empty() { "/" } else { holder };
        (is_read && !is_skipped && !(settings.flat && name.contains('/'))).then_some((holder, name))
    }

    pub(super) fn folder(&self) -> &'p str {
        self.folder
    }

    /// The characters that the agent reads of a rule in this folder.
    pub(super) fn max_chars(&self, path: &str) -> Option<usize> {
        self.settings.max_chars.filter(|_| self.locate(path).is_some())
    }

    /// When a rule of this agent applies.
    fn mode(&self, rule: &Rule, is_nested: bool) -> Mode {
        match &rule.mode {
            Mode::Matching(_) if !self.on_access => Mode::Never,
            // A rule in a folder below applies once a path there is accessed.
            Mode::Always if is_nested => Mode::Matching(vec!["**/*".to_owned()]),
            mode => mode.clone(),
        }
    }

    fn has(&self, mode: &Mode) -> bool {
        let settings = self.settings;
        let by_key = settings.inclusion.is_some();
        match mode {
            Mode::Always => by_key || settings.always.is_some() || !settings.manual_without,
            Mode::Matching(_) => self.on_access,
            Mode::Request => by_key || settings.request.is_some(),
            Mode::Manual => by_key || settings.manual_without,
            Mode::Never => false,
        }
    }

    fn activation(&self, mode: &Mode, base: &str) -> Activation {
        let (name, patterns) = match mode {
            Mode::Always => ("always", Vec::new()),
            Mode::Matching(patterns) => ("matching", patterns.clone()),
            Mode::Request => ("onRequest", Vec::new()),
            Mode::Manual => ("manual", Vec::new()),
            Mode::Never => ("never", Vec::new()),
        };
        let is_matching = name == "matching";
        let dialect = is_matching.then(|| name_of(DIALECTS, self.settings.dialect));
        Activation { mode: name, patterns, base: is_matching.then(|| base.to_owned()), dialect }
    }
}

/// What to convert.
pub(super) struct Job<'p> {
    pub from: &'p Preset,
    pub to: Rules<'p>,
    pub root: Option<String>,
    pub fallback: Fallback,
}

/// Converts the rules among the files.
pub(super) fn convert(job: &Job<'_>, world: &World) -> Conversion {
    let sources = Rules::of(job.from);
    let located = |path: &str| {
        sources
            .iter()
            .find_map(|rules| rules.locate(path).map(|(holder, name)| (*rules, holder.to_owned(), name.to_owned())))
    };
    let holders = || world.files().filter_map(|(path, _)| located(path).map(|(_, holder, _)| holder));
    let root =
        job.root.clone().or_else(|| holders().min_by_key(|holder| holder.len())).unwrap_or_else(|| "/".to_owned());
    let name = |preset: &Preset| format!("{}@{}", preset.name, preset.version);
    let mut out =
        Conversion { from: name(job.from), to: name(job.to.preset), root: root.clone(), ..Conversion::default() };
    let mut used = SortedSet::new();
    for (path, text) in world.files() {
        let found = located(path)
            .filter(|(rules, holder, _)| *holder == root || (rules.nested && paths::below(&root, holder).is_some()));
        let Some((rules, holder, name)) = found else {
            out.ignored.push(path.to_owned());
            continue;
        };
        let mut one = One { job, rules, holder, root: &root, changes: Vec::new() };
        let (rule, file) = one.convert(path, text, &name, &mut used);
        out.rules.push(rule);
        out.files.extend(file);
    }
    general_changes(job, &sources, &mut out);
    out
}

/// What changes for all rules.
fn general_changes(job: &Job<'_>, sources: &[Rules<'_>], out: &mut Conversion) {
    let (from, to) = (job.from, job.to.preset);
    let is_matching = |rule: &ConvertedRule| rule.before.mode == "matching" && rule.after.mode == "matching";
    if out.rules.iter().any(is_matching) {
        let lacks = |of: &[String], other: &[String]| {
            let missing: Vec<&str> =
                of.iter().map(String::as_str).filter(|verb| !other.iter().any(|known| known == verb)).collect();
            missing.join(", ")
        };
        for (verbs, effect, agent) in [
            (lacks(&from.verbs, &to.verbs), "no longer load", &to.name),
            (lacks(&to.verbs, &from.verbs), "now also load", &to.name),
        ] {
            if !verbs.is_empty() {
                let message = format!("rules with patterns {effect} in `{agent}` after: {verbs}");
                out.changes.push(Change::new("verbs", Severity::Info, message));
            }
        }
    }
    let ignores_case = |rules: &Rules<'_>| rules.settings.dialect == Dialect::Gitignore;
    if out.rules.iter().any(is_matching) && sources.iter().any(|rules| ignores_case(rules) != ignores_case(&job.to)) {
        let effect = if ignores_case(&job.to) { "without case" } else { "with case, other than the source" };
        out.changes.push(Change::new("case", Severity::Info, format!("`{}` compares patterns {effect}", to.name)));
    }
    let at_start = |rules: &Rules<'_>| rules.settings.base == Base::Cwd;
    if !out.rules.is_empty() && at_start(&job.to) && !sources.iter().all(at_start) {
        let message =
            format!("`{}` reads rules only in the folder in which it starts; start it in `{}`", to.name, out.root);
        out.changes.push(Change::new("start", Severity::Info, message));
    }
}

/// The conversion of one rule.
struct One<'c> {
    job: &'c Job<'c>,
    rules: Rules<'c>,
    holder: String,
    root: &'c str,
    changes: Vec<Change>,
}

impl One<'_> {
    fn change(&mut self, code: &'static str, severity: Severity, message: impl Into<String>) {
        self.changes.push(Change::new(code, severity, message.into()));
    }

    fn convert(
        &mut self,
        path: &str,
        text: &str,
        name: &str,
        used: &mut SortedSet<String>,
    ) -> (ConvertedRule, Option<NewFile>) {
        let to = self.job.to;
        let rule = rules::read(text, self.rules.settings);
        let is_nested = self.holder != self.root;
        let before = self.rules.mode(&rule, is_nested);
        let base = if self.rules.settings.base == Base::Holder { &self.holder } else { self.root }.to_owned();
        let stays = is_nested && to.nested;
        let target = if stays { self.holder.clone() } else { self.root.to_owned() };
        let start = self.rules.activation(&before, &base);
        let body = without_bom(text.get(rule.body_start..).unwrap_or_default());
        self.report_lost_fields(&rule);
        self.report_imports(body);
        let wanted =
            if stays && rule.mode == Mode::Always { Some(Mode::Always) } else { self.wanted(&before, &base, &target) };
        let written = wanted.map(|mode| (self.written(&mode, &rule, name, body, line_end(text)), mode));
        let (after, file) = match written {
            Some((content, mode)) => {
                let (read, real) = (rules::read(&content, to.settings), mode);
                if read.mode != real {
                    let message =
                        format!("the front matter of `{}` cannot express the patterns exactly", to.preset.name);
                    self.change("differs", Severity::Warning, message);
                }
                let after = to.mode(&read, stays);
                if let Some(max) = to.settings.max_chars.filter(|max| content.chars().count() > *max) {
                    let message = format!("the rule is over the {max} characters that `{}` reads", to.preset.name);
                    self.change("tooLong", Severity::Warning, message);
                }
                (after, Some(NewFile { path: self.new_path(&target, name, is_nested && !stays, used), content }))
            }
            None => (Mode::Never, None),
        };
        let end = to.activation(&after, &target);
        if file.is_none() {
            let never = before == Mode::Never;
            let (why, severity) =
                if never { ("never loads", Severity::Info) } else { ("is left out", Severity::Warning) };
            self.change(
                "omitted",
                severity,
                format!("the rule {why}: `{}` cannot load it {}", to.preset.name, when(start.mode)),
            );
        } else if start.mode != end.mode {
            let message = format!("the rule loaded {} and now loads {}", when(start.mode), when(end.mode));
            self.change("activation", Severity::Warning, message);
        }
        let to = file.as_ref().map(|file| file.path.clone());
        let changes = std::mem::take(&mut self.changes);
        (ConvertedRule { path: path.to_owned(), to, before: start, after: end, changes }, file)
    }

    /// The mode of the target that stands for one of the source; `None` leaves the rule out.
    fn wanted(&mut self, mode: &Mode, base: &str, target: &str) -> Option<Mode> {
        let to = self.job.to;
        let fallback = (self.job.fallback == Fallback::Always).then_some(Mode::Always);
        match mode {
            Mode::Never => None,
            Mode::Matching(patterns) if to.on_access => {
                let translated = self.patterns(patterns, base, target);
                (!translated.is_empty()).then_some(Mode::Matching(translated))
            }
            mode if to.has(mode) => Some(mode.clone()),
            _ => fallback.map(|always| if to.has(&always) { always } else { Mode::Matching(vec!["**/*".to_owned()]) }),
        }
    }

    fn patterns(&mut self, all: &[String], base: &str, target: &str) -> Vec<String> {
        let (from, to) = (self.rules.settings.dialect, self.job.to.settings.dialect);
        let prefix = paths::below(target, base).unwrap_or_default();
        let mut seen = SortedSet::new();
        let mut out = Vec::new();
        for pattern in all {
            let translation = translate(pattern, from, to, prefix);
            for difference in translation.differences.iter() {
                self.report_difference(pattern, *difference);
            }
            out.extend(translation.patterns.into_iter().filter(|pattern| seen.insert(pattern.clone())));
        }
        if patterns::is_always(to, &out) {
            out.push("**/*".to_owned());
        }
        out
    }

    fn report_difference(&mut self, pattern: &str, difference: Difference) {
        let name = &self.job.to.preset.name;
        let (code, severity, message) = match difference {
            Difference::WiderBelowFiles => {
                ("wider", Severity::Info, format!("`{name}` also matches files below a folder of that name"))
            }
            Difference::NarrowerBelowFiles => {
                ("narrower", Severity::Info, format!("`{name}` does not match files below a folder of that name"))
            }
            Difference::WiderBelow => {
                ("wider", Severity::Warning, format!("`{name}` also matches everything below a folder that matches"))
            }
            Difference::WiderDepth => {
                ("wider", Severity::Warning, format!("`{name}` matches the name in every folder, not only in one"))
            }
            Difference::Syntax => (
                "differs",
                Severity::Warning,
                format!("the pattern has syntax that `{name}` may read in another way; check it"),
            ),
            Difference::Nothing => {
                ("neverMatches", Severity::Warning, "the pattern matches nothing and is left out".to_owned())
            }
        };
        let message = format!("`{pattern}`: {message}");
        self.changes.push(Change { code, severity, message, pattern: Some(pattern.to_owned()) });
    }

    /// Reports front matter that has no meaning in the target.
    fn report_lost_fields(&mut self, rule: &Rule) {
        let (from, to) = (self.rules.settings, self.job.to);
        if let Some(problem) = &rule.problem {
            let message =
                format!("the front matter is not YAML, so `{}` reads none of it: {problem}", self.job.from.name);
            self.change("frontMatter", Severity::Warning, message);
        }
        let inclusion = from.inclusion.as_ref().map(|inclusion| &inclusion.key);
        let known = [from.paths.as_ref(), from.always.as_ref(), from.request.as_ref(), inclusion];
        let writes_description = to.settings.request.is_some() || to.settings.inclusion.is_some();
        for key in &rule.keys {
            let is_known = known.contains(&Some(key)) || (key == "description" && writes_description);
            if !is_known && key != "description" {
                self.change(
                    "key",
                    Severity::Info,
                    format!("the key `{key}` is left out: `{}` does not read it", to.preset.name),
                );
            }
        }
    }

    /// Reports imports that the target reads in another way.
    fn report_imports(&mut self, body: &str) {
        let of = |preset: &Preset| {
            let settings = preset.imports.as_ref().filter(|imports| imports.files.is_empty());
            settings.map(|settings| scan::imports(body, settings)).unwrap_or_default()
        };
        let (from, to) = (of(self.job.from), of(self.job.to.preset));
        let name = &self.job.to.preset.name;
        let message = match (from.first(), to.first()) {
            (Some(import), None) => format!("`{name}` does not expand `@{}`", import.path),
            (None, Some(import)) => format!("`{name}` takes `@{}` for an import", import.path),
            (Some(import), Some(_)) => {
                format!("`{name}` expands `@{}` by its own rules, from the new folder", import.path)
            }
            (None, None) => return,
        };
        self.change("imports", Severity::Warning, message);
    }

    /// The text of the new rule.
    fn written(&mut self, mode: &Mode, rule: &Rule, name: &str, body: &str, end: &str) -> String {
        let settings = self.job.to.settings;
        let mut fields = Fields { settings, lines: Vec::new() };
        if let Some(inclusion) = &settings.inclusion {
            let value = match mode {
                Mode::Matching(_) => &inclusion.matching,
                Mode::Request => &inclusion.request,
                Mode::Manual => &inclusion.manual,
                Mode::Always | Mode::Never => &inclusion.always,
            };
            fields.lines.push(format!("{}: {value}", inclusion.key));
        }
        let key = settings.request.clone().or(settings.inclusion.as_ref().map(|_| "description".to_owned()));
        let key = key.filter(|_| *mode != Mode::Manual || settings.inclusion.is_some());
        if let Some(key) = key {
            let one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
            match rule.description.as_deref().map(one_line).filter(|text| !text.is_empty()) {
                Some(description) => fields.text(&key, &description),
                None if *mode == Mode::Request => {
                    let stem = paths::name(name).split('.').next().unwrap_or_default();
                    self.change(
                        "description",
                        Severity::Warning,
                        "the rule has no description; its name stands for it",
                    );
                    fields.text(&key, stem);
                }
                None => {}
            }
        }
        if let (Mode::Matching(patterns), Some(key)) = (mode, &settings.paths) {
            fields.patterns(key, patterns);
        }
        if let Some(key) = &settings.always {
            fields.lines.push(format!("{key}: {}", *mode == Mode::Always));
        }
        let would_be_read = || rules::read(body, settings).body_start > 0;
        if fields.lines.is_empty() && !would_be_read() {
            return body.to_owned();
        }
        let mut out = format!("---{end}");
        for line in fields.lines {
            out.push_str(&line);
            out.push_str(end);
        }
        out.push_str("---");
        out.push_str(end);
        out.push_str(body);
        out
    }

    /// The path of the new rule, which no other has.
    fn new_path(&self, target: &str, name: &str, moved: bool, used: &mut SortedSet<String>) -> String {
        let (from, to) = (self.rules.settings, self.job.to.settings);
        let ends = from.ends.iter().filter(|end| name.ends_with(end.as_str()));
        let end = ends.max_by_key(|end| end.len()).map_or(0, String::len);
        let stem = name.get(..name.len().saturating_sub(end)).unwrap_or(name);
        let below = if moved { paths::below(self.root, &self.holder).unwrap_or_default() } else { "" };
        let mut stem = if below.is_empty() { stem.to_owned() } else { format!("{below}/{stem}") };
        let is_skipped = stem.split('/').any(|segment| to.skip.iter().any(|skipped| skipped == segment));
        if to.flat || is_skipped {
            stem = stem.replace('/', "-");
        }
        let end = to.ends.first().map_or("", String::as_str);
        let path = |stem: &str| paths::join(target, &format!("{}/{stem}{end}", self.job.to.folder));
        let mut found = path(&stem);
        let mut number = 2_u32;
        while !used.insert(found.clone()) {
            found = path(&format!("{stem}-{number}"));
            number = number.saturating_add(1);
        }
        found
    }
}

fn when(mode: &str) -> &'static str {
    match mode {
        "always" => "always",
        "matching" => "on a matching path",
        "onRequest" => "when the model asks for it",
        "manual" => "when the user names it",
        _ => "never",
    }
}

/// Lines of front matter, as an agent reads them.
struct Fields<'s> {
    settings: &'s RuleFolder,
    lines: Vec<String>,
}

impl Fields<'_> {
    /// A text: as it is where the agent reads lines, else in quotes.
    fn quoted(&self, text: &str) -> String {
        if self.settings.by_line { text.to_owned() } else { serde_json::Value::from(text).to_string() }
    }

    fn text(&mut self, key: &str, text: &str) {
        self.lines.push(format!("{key}: {}", self.quoted(text)));
    }

    fn patterns(&mut self, key: &str, patterns: &[String]) {
        if self.settings.joined {
            return self.text(key, &patterns.join(","));
        }
        self.lines.push(format!("{key}:"));
        for pattern in patterns {
            self.lines.push(format!("  - {}", self.quoted(pattern)));
        }
    }
}
