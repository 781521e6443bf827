//! Finds mistakes in context files and rules, for the agents that have to read them.

use std::rc::Rc;

use serde::Serialize;

use crate::error::{Diagnostic, DiagnosticCode, Result, Severity};
use crate::maps::{SortedMap, SortedSet};
use crate::markdown::lines;
use crate::tokens::Counter;

use super::convert::Rules;
use super::load::load;
use super::paths;
use super::patterns;
use super::preset::{DIALECTS, ItemKind, Preset};
use super::session::{Access, Budget, Decision, Request, Session};
use super::statements::{Statement, statements};
use super::translate::can_match;
use super::world::World;

/// Characters of a line below which a repetition is not reported.
const MIN_REPEATED_CHARS: usize = 30;

/// Outcomes of files that an agent reads at some time.
const READ: [&str; 7] = ["loaded", "waiting", "onRequest", "manual", "duplicate", "sameText", "capped"];

/// What to check.
pub(super) struct Lint<'l> {
    pub agents: Vec<Preset>,
    /// Every preset, for the names of files that agents read.
    pub known: &'l [Preset],
    pub root: String,
    pub home: Option<String>,
    /// All paths of the project, if they are given.
    pub paths: Option<Vec<String>>,
}

/// A finding, with its place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct Finding {
    code: DiagnosticCode,
    severity: Severity,
    message: String,
    path: String,
    /// Line, from 1.
    line: u32,
    /// The agents that it concerns.
    agents: Vec<String>,
    /// The other place of a repetition or contradiction.
    #[serde(skip_serializing_if = "Option::is_none")]
    related: Option<FindingPlace>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct FindingPlace {
    path: String,
    line: u32,
}

/// All findings.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    agents: Vec<String>,
    root: String,
    findings: Vec<Finding>,
    errors: usize,
    warnings: usize,
    pub diagnostics: Vec<Diagnostic>,
}

/// Checks the files for the agents.
pub(super) fn lint(job: &Lint<'_>, world: &mut World) -> Result<Report> {
    let files: SortedMap<String, Rc<[Statement]>> = {
        let mut files = SortedMap::new();
        for (path, text) in world.files() {
            files.insert(path.to_owned(), statements(text).into());
        }
        files
    };
    let mut linter = Linter { job, found: SortedMap::new(), files, read: SortedSet::new(), shadowed: SortedMap::new() };
    let candidates: Vec<String> = linter.files.keys().filter(|path| linter.is_candidate(path)).cloned().collect();
    for agent in &job.agents {
        linter.agent(agent, world, &candidates)?;
    }
    linter.unread(&candidates);
    let mut findings: Vec<Finding> = linter.found.values().cloned().collect();
    crate::sorting::sort_by_key(&mut findings, |found| {
        (found.path.clone(), found.line, found.code, found.message.clone())
    });
    let count = |severity: Severity| findings.iter().filter(|found| found.severity == severity).count();
    let name = |preset: &Preset| format!("{}@{}", preset.name, preset.version);
    Ok(Report {
        agents: job.agents.iter().map(name).collect(),
        root: job.root.clone(),
        errors: count(Severity::Error),
        warnings: count(Severity::Warning),
        findings,
        diagnostics: Vec::new(),
    })
}

/// Counts nothing: no finding depends on tokens.
struct NoCounter;

impl Counter for NoCounter {
    fn name(&self) -> &'static str {
        "none"
    }

    fn count(&self, _: &str) -> u32 {
        0
    }
}

struct Linter<'l> {
    job: &'l Lint<'l>,
    /// Findings by what they state.
    found: SortedMap<String, Finding>,
    /// The statements of each file.
    files: SortedMap<String, Rc<[Statement]>>,
    /// The files that an agent of the job reads.
    read: SortedSet<String>,
    /// The files that take the place of others.
    shadowed: SortedMap<String, String>,
}

impl Linter<'_> {
    fn report(&mut self, agent: &str, finding: Finding) {
        let related =
            finding.related.as_ref().map(|place| format!("{}:{}", place.path, place.line)).unwrap_or_default();
        let key = format!("{}\n{}\n{}\n{}\n{related}", finding.path, finding.line, finding.code, finding.message);
        let known = self.found.or_insert(key, finding);
        if !agent.is_empty() && !known.agents.iter().any(|name| name == agent) {
            known.agents.push(agent.to_owned());
        }
    }

    fn finding(
        &mut self,
        agent: &str,
        (code, severity): (DiagnosticCode, Severity),
        (path, line): (&str, u32),
        message: String,
    ) {
        let finding =
            Finding { code, severity, message, path: path.to_owned(), line, agents: Vec::new(), related: None };
        self.report(agent, finding);
    }

    /// Whether some agent would read a file of this name.
    fn is_candidate(&self, path: &str) -> bool {
        if paths::below(&self.job.root, path).is_none() {
            return false;
        }
        self.job.known.iter().any(|preset| {
            let named = |name: &String| path.ends_with(&format!("/{name}"));
            let items = preset.start.iter().chain(&preset.access).flat_map(|source| &source.items);
            let by_name =
                items.clone().any(|item| matches!(&item.what, ItemKind::Names(names) if names.iter().any(named)));
            let in_rules = |rules: &Rules<'_>| path.contains(&format!("/{}/", rules.folder()));
            by_name || Rules::of(preset).iter().any(in_rules)
        })
    }

    /// Everything that concerns one agent.
    fn agent(&mut self, agent: &Preset, world: &mut World, candidates: &[String]) -> Result<()> {
        let folders: SortedSet<String> = candidates.iter().map(|path| self.start_of(path)).collect();
        let root = self.job.root.clone();
        let mut starts = vec![(root.clone(), None)];
        starts.extend(folders.iter().filter(|folder| **folder != root).map(|folder| (folder.clone(), None)));
        starts.extend(candidates.iter().map(|path| (root.clone(), Some(path.clone()))));
        let mut rules: SortedMap<String, Decision> = SortedMap::new();
        let mut compared = SortedSet::new();
        while let Some((cwd, access)) = starts.pop() {
            let decisions = self.load(agent, world, &cwd, access)?;
            let chain: Vec<String> = decisions
                .iter()
                .filter(|file| file.outcome == "loaded" && file.kind != "skill")
                .map(|file| file.path.clone())
                .collect();
            if compared.insert(chain.join("\n")) {
                self.compare(agent, &chain);
            }
            for decision in decisions {
                if decision.kind == "rule" && !rules.contains_key(&decision.path) {
                    starts.extend(self.sample(&decision).map(|path| (root.clone(), Some(path))));
                    rules.insert(decision.path.clone(), decision);
                }
            }
        }
        for rule in rules.values() {
            self.rule(agent, world, rule);
        }
        self.lengths(agent, world);
        Ok(())
    }

    /// The folder in which an agent would start to read a file: the one that holds it, or its folder of rules.
    fn start_of(&self, path: &str) -> String {
        let hidden = path
            .find("/.")
            .and_then(|at| path.get(..at))
            .filter(|folder| paths::below(&self.job.root, folder).is_some());
        hidden.unwrap_or_else(|| paths::folder(path)).to_owned()
    }

    /// A path that a rule matches.
    fn sample(&self, rule: &Decision) -> Option<String> {
        self.all_paths().find(|path| matching(rule, path).next().is_some()).map(str::to_owned)
    }

    fn all_paths(&self) -> impl Iterator<Item = &str> {
        let given = self.job.paths.iter().flatten().map(String::as_str);
        let files = self.files.keys().map(String::as_str).filter(|_| self.job.paths.is_none());
        given.chain(files)
    }

    /// Loads one chain, and reports what the loader reports.
    fn load(&mut self, agent: &Preset, world: &mut World, cwd: &str, access: Option<String>) -> Result<Vec<Decision>> {
        let request = Request {
            preset: agent.clone(),
            variant: None,
            cwd: cwd.to_owned(),
            home: self.job.home.clone(),
            root: Some(self.job.root.clone()),
            access: access
                .map(|path| Access { path, verb: agent.verbs.first().cloned().unwrap_or_default() })
                .into_iter()
                .collect(),
            trusted: true,
            approve_imports: false,
            budget: Budget::default(),
        };
        let mut session = Session::new(&request, world, Rc::new(NoCounter));
        load(&mut session)?;
        let Session { decisions, diagnostics, losses, .. } = session;
        // An import is inside or outside as seen from the project, not from every folder in which an agent may start.
        let is_root = cwd == self.job.root;
        for found in diagnostics.into_iter().filter(|found| is_root || found.code != DiagnosticCode::AgentImportOutside)
        {
            let path = found.path.unwrap_or_default();
            let severity = match found.code {
                DiagnosticCode::AgentTextLost | DiagnosticCode::AgentImportTooDeep => Severity::Error,
                DiagnosticCode::AgentImportMissing if looks_like_path(&found.message) => Severity::Error,
                _ => found.severity,
            };
            let lost = losses.iter().find(|loss| loss.path == path && found.code == DiagnosticCode::AgentTextLost);
            let text = || world.text(&path).unwrap_or_default();
            let cut = lost.map(|loss| line_at(text(), text().len().saturating_sub(loss.bytes)));
            self.finding(&agent.name, (found.code, severity), (&path, found.line.or(cut).unwrap_or(1)), found.message);
        }
        for decision in &decisions {
            if READ.contains(&decision.outcome) {
                self.read.insert(decision.path.clone());
            } else if let Some(by) = decision.by.as_ref().filter(|_| decision.outcome == "shadowed") {
                self.shadowed.insert(decision.path.clone(), by.clone());
            }
        }
        Ok(decisions)
    }

    /// Rules that never load, and patterns that match nothing.
    fn rule(&mut self, agent: &Preset, world: &World, rule: &Decision) {
        let text = world.text(&rule.path).unwrap_or_default();
        if rule.outcome == "never" {
            let key = rule.key.as_deref().unwrap_or("paths");
            let message = format!("`{}` never loads a rule with this `{key}`", agent.name);
            let code = (DiagnosticCode::AgentRuleNeverLoads, Severity::Warning);
            self.finding(&agent.name, code, (&rule.path, line_of(text, key)), message);
            return;
        }
        let dialect = DIALECTS.iter().find(|(name, _)| Some(*name) == rule.dialect).map(|(_, dialect)| *dialect);
        let Some(dialect) = dialect else { return };
        let never: Vec<&String> = rule.patterns.iter().filter(|pattern| !can_match(pattern, dialect)).collect();
        for pattern in &never {
            let message = format!("the pattern `{pattern}` can match no path for `{}`", agent.name);
            let severity = if never.len() == rule.patterns.len() { Severity::Error } else { Severity::Warning };
            let code = (DiagnosticCode::AgentPatternNeverMatches, severity);
            self.finding(&agent.name, code, (&rule.path, line_of(text, pattern)), message);
        }
        let Some(first) = rule.patterns.first().filter(|_| never.len() < rule.patterns.len()) else { return };
        if self.job.paths.is_some() && self.sample(rule).is_none() {
            let message = format!("no pattern of the rule matches a file of the project for `{}`", agent.name);
            let code = (DiagnosticCode::AgentRuleMatchesNoFile, Severity::Warning);
            self.finding(&agent.name, code, (&rule.path, line_of(text, first)), message);
        }
    }

    /// Files that are longer than the agent's documentation advises, or than it reads.
    fn lengths(&mut self, agent: &Preset, world: &World) {
        let rules = Rules::of(agent);
        let read: Vec<String> = self.read.iter().cloned().collect();
        for path in read {
            let Some(text) = world.text(&path) else { continue };
            let count = text.chars().count();
            let max = rules.iter().find_map(|rules| rules.max_chars(&path)).filter(|max| count > *max);
            let rows = lines(text).count();
            if let Some(max) = max {
                let message = format!("the rule has {count} characters; `{}` reads at most {max}", agent.name);
                self.finding(&agent.name, (DiagnosticCode::AgentFileTooLong, Severity::Warning), (&path, 1), message);
            } else if let Some(max) = agent.advised_chars.filter(|max| count > *max) {
                let message = format!("the file has {count} characters; `{}` warns above {max}", agent.name);
                self.finding(&agent.name, (DiagnosticCode::AgentFileTooLong, Severity::Warning), (&path, 1), message);
            } else if let Some(max) = agent.advised_lines.filter(|max| rows > *max) {
                let message = format!("the file has {rows} lines; at most {max} are advised for `{}`", agent.name);
                let line = u32::try_from(max.saturating_add(1)).unwrap_or(u32::MAX);
                self.finding(&agent.name, (DiagnosticCode::AgentFileTooLong, Severity::Info), (&path, line), message);
            }
        }
    }

    /// Repetitions and contradictions in the files of one chain, in the order of the prompt.
    fn compare(&mut self, agent: &Preset, chain: &[String]) {
        let mut texts: SortedMap<String, (usize, Statement)> = SortedMap::new();
        let mut topics: SortedMap<String, (usize, Statement)> = SortedMap::new();
        let mut settings: SortedMap<String, (usize, Statement)> = SortedMap::new();
        for (number, path) in chain.iter().enumerate() {
            let Some(statements) = self.files.get(path.as_str()).cloned() else { continue };
            let place = |at: usize, line: u32| FindingPlace { path: chain.get(at).cloned().unwrap_or_default(), line };
            for one in statements.iter() {
                let finding = |code, severity, message: String, (at, other): &(usize, Statement)| Finding {
                    code,
                    severity,
                    message,
                    path: path.clone(),
                    line: one.line,
                    agents: Vec::new(),
                    related: Some(place(*at, other.line)),
                };
                let entry = || (number, one.clone());
                let mut found = Vec::new();
                if one.text.chars().count() >= MIN_REPEATED_CHARS {
                    match texts.get(one.text.as_str()) {
                        Some(other) if other.0 != number => {
                            let message = "the line repeats one of another file that the agent reads".to_owned();
                            found.push(finding(DiagnosticCode::AgentTextRepeated, Severity::Info, message, other));
                        }
                        Some(_) => {}
                        None => _ = texts.insert(one.text.clone(), entry()),
                    }
                }
                match topics.get(one.topic.as_str()) {
                    Some(other) if other.1.is_negative != one.is_negative => {
                        let message = format!("`{}` contradicts `{}`", one.text, other.1.text);
                        found.push(finding(DiagnosticCode::AgentContradiction, Severity::Warning, message, other));
                    }
                    Some(_) => {}
                    None => _ = topics.insert(one.topic.clone(), entry()),
                }
                if let Some((name, value)) = &one.setting {
                    let differs =
                        |other: &(usize, Statement)| other.1.setting.as_ref().is_some_and(|(_, other)| other != value);
                    match settings.get(name.as_str()) {
                        Some(other) if differs(other) => {
                            let message = format!("`{}` contradicts `{}`", one.text, other.1.text);
                            found.push(finding(DiagnosticCode::AgentContradiction, Severity::Warning, message, other));
                        }
                        Some(_) => {}
                        None => _ = settings.insert(name.clone(), entry()),
                    }
                }
                for finding in found {
                    self.report(&agent.name, finding);
                }
            }
        }
    }

    /// Files that no agent of the job reads.
    fn unread(&mut self, candidates: &[String]) {
        for path in candidates.iter().filter(|path| !self.read.contains(path.as_str())).cloned().collect::<Vec<_>>() {
            let own =
                |preset: &Preset| Rules::of(preset).iter().any(|rules| path.contains(&format!("/{}/", rules.folder())));
            let agents: Vec<String> =
                self.job.agents.iter().filter(|preset| own(preset)).map(|preset| preset.name.clone()).collect();
            let why = match self.shadowed.get(path.as_str()) {
                Some(by) => format!("no listed agent reads the file: `{by}` takes its place"),
                None if agents.is_empty() => "no listed agent reads the file".to_owned(),
                None => "the agent reads rules of this folder, but not the file; check its name and place".to_owned(),
            };
            let severity = if agents.is_empty() { Severity::Info } else { Severity::Warning };
            let related = None;
            let code = DiagnosticCode::AgentFileUnread;
            self.report("", Finding { code, severity, message: why, path, line: 1, agents, related });
        }
    }
}

/// The patterns of a rule that match a path.
fn matching<'d>(rule: &'d Decision, path: &'d str) -> impl Iterator<Item = &'d String> {
    let below = rule.base.as_deref().and_then(|base| paths::below(base, path));
    let dialect = DIALECTS.iter().find(|(name, _)| Some(*name) == rule.dialect).map(|(_, dialect)| *dialect);
    let both = below.zip(dialect);
    rule.patterns
        .iter()
        .filter(move |pattern| both.is_some_and(|(below, dialect)| patterns::matches(dialect, pattern, below)))
}

/// Whether the import in a message is meant as a path: `@name` alone can also be a person.
fn looks_like_path(message: &str) -> bool {
    let import = message.strip_prefix("`@").and_then(|rest| rest.split('`').next()).unwrap_or_default();
    import.contains('/') || import.ends_with(".md")
}

/// The first line that contains a text; 1 if none does.
fn line_of(text: &str, sought: &str) -> u32 {
    text.find(sought).map_or(1, |at| line_at(text, at))
}

/// The line of a byte, from 1.
fn line_at(text: &str, at: usize) -> u32 {
    let before = lines(text).take_while(|line| line.end <= at).count();
    u32::try_from(before.saturating_add(1)).unwrap_or(u32::MAX)
}
