//! A naive walk per agent, written from its documentation and recorded runs alone, over random repositories.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::agent_files::load;
use crate::generate::cases;

const HOME: &str = "/h";

/// The front matter of a rule for files below `docs`, in the keys of every agent.
const DOCS: &str = "---\npaths: docs/**\napplyTo: docs/**\nglobs: docs/**\nfileMatchPattern: docs/**\ninclusion: fileMatch\ntrigger: glob\n---\n";
/// The front matter of a rule that is asked for, where an agent knows that.
const ASKED: &str = "---\ndescription: Ask\ninclusion: manual\ntrigger: manual\n---\n";

/// The front matter of a rule that always applies, where an agent needs that.
const ALWAYS: &str = "---\nalwaysApply: true\n---\n";

/// Which rules always apply.
#[derive(Clone, Copy, PartialEq)]
enum Always {
    /// All but those for files below `docs`.
    Plain,
    /// Those that are not asked for either.
    NotAsked,
    /// Those that state it.
    Stated,
    None,
}

/// Places of files in a folder; rules are below folders of rules.
const NAMES: [&str; 38] = [
    ".claude/AGENTS.md",
    ".claude/CLAUDE.md",
    ".claude/rules/one.md",
    ".claude/rules/x/two.md",
    ".clinerules/One.md",
    ".clinerules/workflows/never.md",
    ".clinerules/zwei.md",
    ".continue/rules/one.md",
    ".copilot/copilot-instructions.md",
    ".copilot/instructions/one.instructions.md",
    ".cursor/rules/one.mdc",
    ".cursor/rules/x/two.mdc",
    ".cursorrules",
    ".config/goose/AGENTS.md",
    ".config/opencode/AGENTS.md",
    ".config/kilo/AGENTS.md",
    ".codex/AGENTS.md",
    ".codex/AGENTS.override.md",
    ".gemini/GEMINI.md",
    ".github/copilot-instructions.md",
    ".github/instructions/one.instructions.md",
    ".goosehints",
    ".kilo/rules/one.md",
    ".kiro/steering/one.md",
    ".kiro/steering/x/never.md",
    ".pi/agent/CLAUDE.md",
    ".agents/AGENTS.md",
    ".qwen/AGENTS.md",
    ".qwen/rules/one.md",
    ".roo/rules/One.md",
    ".roorules",
    ".windsurf/rules/one.md",
    "AGENTS.md",
    "AGENTS.override.md",
    "CLAUDE.local.md",
    "CLAUDE.md",
    "CONTEXT.md",
    "GEMINI.md",
];

/// A repository, and an agent at work in it.
#[derive(Clone, Debug)]
struct Walk {
    files: BTreeMap<String, String>,
    cwd: String,
    access: Option<(String, &'static str)>,
    loaded: Vec<String>,
}

impl Walk {
    fn exists(&self, path: &str) -> bool {
        self.files.contains_key(path)
    }

    /// The folders from `/` to one, both included.
    fn line(to: &str) -> Vec<String> {
        let mut all = vec!["/".to_owned()];
        for name in to.split('/').filter(|name| !name.is_empty()) {
            let last = all.last().unwrap().trim_end_matches('/').to_owned();
            all.push(format!("{last}/{name}"));
        }
        all
    }

    /// The nearest folder with a `.git`, else the folder where the agent starts.
    fn root(&self) -> String {
        let line = Self::line(&self.cwd);
        line.into_iter().rev().find(|folder| self.exists(&at(folder, ".git/HEAD"))).unwrap_or_else(|| self.cwd.clone())
    }

    fn folders_to_cwd(&self) -> Vec<String> {
        let root = self.root();
        Self::line(&self.cwd).into_iter().filter(|folder| is_in(folder, &root)).collect()
    }

    /// The accessed path, if the agent reacts to the verb.
    fn accessed(&self, verbs: &[&str]) -> Option<String> {
        self.access.clone().filter(|(_, verb)| verbs.contains(verb)).map(|(path, _)| path)
    }

    fn folder_of(path: &str) -> String {
        path.rsplit_once('/').map_or("/", |(folder, _)| if folder.is_empty() { "/" } else { folder }).to_owned()
    }

    /// The folders below the start on the way to a path.
    fn below(&self, path: &str) -> Vec<String> {
        Self::line(&Self::folder_of(path)).into_iter().filter(|one| is_in(one, &self.cwd) && *one != self.cwd).collect()
    }

    fn touched(&self, path: &str) -> Vec<String> {
        let root = self.root();
        Self::line(&Self::folder_of(path)).into_iter().filter(|one| is_in(one, &root)).collect()
    }

    fn read(&mut self, path: String) {
        let text = self.files.get(&path).map(|text| text.replace(DOCS, "").replace(ASKED, "").replace(ALWAYS, ""));
        if text.is_some_and(|text| !text.trim().is_empty()) && !self.loaded.contains(&path) {
            self.loaded.push(path);
        }
    }

    fn read_all(&mut self, folder: &str, names: &[&str]) {
        names.iter().for_each(|name| self.read(at(folder, name)));
    }

    fn read_first(&mut self, folder: &str, names: &[&str]) {
        if let Some(name) = names.iter().find(|name| self.exists(&at(folder, name))) {
            self.read(at(folder, name));
        }
    }

    fn rules(&self, folder: &str, ends: &str, flat: bool) -> Vec<String> {
        let below =
            |path: &&String| path.strip_prefix(&format!("{folder}/")).is_some_and(|rest| !flat || !rest.contains('/'));
        self.files.keys().filter(below).filter(|path| path.ends_with(ends)).cloned().collect()
    }

    fn is(&self, path: &str, front: &str) -> bool {
        self.files[path].starts_with(front)
    }

    fn always(&mut self, rules: Vec<String>, which: Always) {
        for path in rules {
            let (docs, asked) = (self.is(&path, DOCS), self.is(&path, ASKED));
            let applies = match which {
                Always::Plain => !docs,
                Always::NotAsked => !docs && !asked,
                Always::Stated => self.is(&path, ALWAYS),
                Always::None => false,
            };
            if applies {
                self.read(path);
            }
        }
    }

    fn matching(&mut self, rules: Vec<String>, base: &str, accessed: &str) {
        for path in rules {
            if self.is(&path, DOCS) && accessed.starts_with(&at(base, "docs/")) {
                self.read(path);
            }
        }
    }
}

fn at(folder: &str, name: &str) -> String {
    format!("{}/{name}", folder.trim_end_matches('/'))
}

fn is_in(folder: &str, top: &str) -> bool {
    folder == top || top == "/" || folder.starts_with(&format!("{top}/"))
}

const RW: [&str; 2] = ["read", "write"];

fn claude(walk: &mut Walk) {
    let own = ["CLAUDE.md", ".claude/CLAUDE.md", "CLAUDE.local.md"];
    let agents = ["AGENTS.md", ".claude/AGENTS.md"];
    let rules = |walk: &Walk, folder: &str| walk.rules(&at(folder, ".claude/rules"), ".md", false);
    walk.read(at(HOME, ".claude/CLAUDE.md"));
    walk.always(rules(walk, HOME), Always::Plain);
    let line: Vec<String> = Walk::line(&walk.cwd).into_iter().skip(1).collect();
    let has_own = |walk: &Walk, folder: &String| own.iter().any(|name| walk.exists(&at(folder, name)));
    let has_any = line.iter().any(|folder| has_own(walk, folder));
    for folder in &line {
        walk.read_all(folder, &own[..2]);
        walk.always(rules(walk, folder), Always::Plain);
        walk.read_all(folder, &own[2..]);
        if !has_any {
            walk.read_all(folder, &agents);
        }
    }
    let Some(accessed) = walk.accessed(&RW) else { return };
    let below = walk.below(&accessed);
    for folder in &below {
        if !has_own(walk, folder) {
            walk.read_all(folder, &agents);
        }
    }
    walk.matching(rules(walk, HOME), &walk.cwd.clone(), &accessed);
    for folder in &below {
        walk.read_all(folder, &own[..2]);
        walk.always(rules(walk, folder), Always::Plain);
        walk.matching(rules(walk, folder), folder, &accessed);
        walk.read_all(folder, &own[2..]);
    }
    for folder in &line {
        walk.matching(rules(walk, folder), folder, &accessed);
    }
}

fn codex(walk: &mut Walk) {
    let blank = |walk: &Walk, path: &str| walk.files.get(path).is_none_or(|text| text.trim().is_empty());
    let home = [".codex/AGENTS.override.md", ".codex/AGENTS.md"].map(|name| at(HOME, name));
    if let Some(path) = home.iter().find(|path| !blank(walk, path)) {
        walk.read(path.clone());
    }
    for folder in walk.folders_to_cwd() {
        walk.read_first(&folder, &["AGENTS.override.md", "AGENTS.md"]);
    }
}

fn gemini(walk: &mut Walk) {
    let mut all: Vec<String> = walk.folders_to_cwd().iter().map(|folder| at(folder, "GEMINI.md")).collect();
    all.sort();
    all.into_iter().for_each(|path| walk.read(path));
    walk.read(at(HOME, ".gemini/GEMINI.md"));
    if let Some(accessed) = walk.accessed(&RW) {
        walk.below(&accessed).iter().for_each(|folder| walk.read(at(folder, "GEMINI.md")));
    }
}

fn qwen(walk: &mut Walk) {
    for name in ["QWEN.md", "AGENTS.md"] {
        walk.read(at(HOME, &format!(".qwen/{name}")));
        walk.folders_to_cwd().iter().for_each(|folder| walk.read(at(folder, name)));
    }
    let root = walk.root();
    let rules = walk.rules(&at(&root, ".qwen/rules"), ".md", false);
    walk.always(rules.clone(), Always::Plain);
    if let Some(accessed) = walk.accessed(&["read"]) {
        walk.matching(rules, &root, &accessed);
    }
}

fn copilot(walk: &mut Walk) {
    const NAMES: [&str; 3] = ["AGENTS.md", "CLAUDE.md", "GEMINI.md"];
    let root = walk.root();
    let own = |walk: &Walk, folder: &str, name: &str| walk.rules(&at(folder, name), ".instructions.md", false);
    let claude = |walk: &Walk, folder: &str| walk.rules(&at(folder, ".claude/rules"), ".md", false);
    walk.read(at(HOME, ".copilot/copilot-instructions.md"));
    walk.read(at(&root, ".github/copilot-instructions.md"));
    walk.read_all(&root, &NAMES);
    for folder in walk.folders_to_cwd().into_iter().rev() {
        walk.read_all(&folder, &NAMES);
    }
    walk.always(own(walk, &root, ".github/instructions"), Always::Plain);
    walk.always(claude(walk, &root), Always::Plain);
    walk.always(own(walk, HOME, ".copilot/instructions"), Always::Plain);
    let Some(accessed) = walk.accessed(&["read"]) else { return };
    for folder in walk.touched(&accessed) {
        walk.read_all(&folder, &NAMES);
        walk.always(claude(walk, &folder), Always::Plain);
        walk.matching(claude(walk, &folder), &folder, &accessed);
    }
    walk.matching(own(walk, &root, ".github/instructions"), &root, &accessed);
    walk.matching(own(walk, HOME, ".copilot/instructions"), &root, &accessed);
}

fn opencode(walk: &mut Walk, home: &str, rules: bool) {
    const NAMES: [&str; 3] = ["AGENTS.md", "CLAUDE.md", "CONTEXT.md"];
    walk.read_first(HOME, &[home, ".claude/CLAUDE.md"]);
    let up: Vec<String> = walk.folders_to_cwd().into_iter().rev().collect();
    let name = NAMES.iter().find(|name| up.iter().any(|folder| walk.exists(&at(folder, name))));
    for folder in name.iter().flat_map(|_| &up) {
        walk.read(at(folder, name.unwrap()));
    }
    if rules {
        // Front matter is not read; it is text.
        for path in walk.rules(&at(&walk.root(), ".kilo/rules"), ".md", false) {
            walk.loaded.extend((!walk.files[&path].trim().is_empty()).then_some(path));
        }
    }
    if let Some(accessed) = walk.accessed(&["read"]) {
        walk.below(&accessed).iter().for_each(|folder| walk.read_first(folder, &NAMES));
    }
}

fn pi(walk: &mut Walk) {
    let names = ["AGENTS.md", "AGENTS.MD", "CLAUDE.md", "CLAUDE.MD"];
    walk.read_first(HOME, &names.map(|name| format!(".pi/agent/{name}")).each_ref().map(String::as_str));
    Walk::line(&walk.cwd).iter().for_each(|folder| walk.read_first(folder, &names));
}

fn cline_rules(walk: &Walk) -> Vec<String> {
    let mut rules = walk.rules(&at(&walk.cwd, ".clinerules"), ".md", false);
    rules.retain(|path| !path.contains("/workflows/"));
    rules
}

fn cline_cli(walk: &mut Walk) {
    let title = |path: &String| path.rsplit('/').next().unwrap().to_lowercase();
    let mut all: Vec<(String, String)> = cline_rules(walk).into_iter().map(|path| (title(&path), path)).collect();
    all.push(("home agents".to_owned(), at(HOME, ".agents/AGENTS.md")));
    all.push(("workspace agents".to_owned(), at(&walk.cwd, "AGENTS.md")));
    all.sort();
    all.into_iter().for_each(|(_, path)| walk.read(path));
}

fn cline(walk: &mut Walk) {
    walk.read(at(HOME, ".agents/AGENTS.md"));
    walk.always(cline_rules(walk), Always::Plain);
    walk.read_all(&walk.cwd.clone(), &[".cursorrules", ".windsurfrules", "AGENTS.md"]);
    if let Some(accessed) = walk.accessed(&RW) {
        walk.matching(cline_rules(walk), &walk.cwd.clone(), &accessed);
    }
}

/// Agents whose rules are at the root, and their names there, before or after the rules.
fn at_root(walk: &mut Walk, rules: (&str, &str, bool, Always), before: &[&str], after: &[&str]) -> Option<String> {
    let root = walk.root();
    let found = walk.rules(&at(&root, rules.0), rules.1, rules.2);
    walk.read_all(&root, before);
    walk.always(found.clone(), rules.3);
    walk.read_all(&root, after);
    let accessed = walk.accessed(&RW)?;
    walk.matching(found, &root, &accessed);
    Some(accessed)
}

fn goose(walk: &mut Walk) {
    let names = [".goosehints", "AGENTS.md"];
    walk.read_all(HOME, &[".config/goose/.goosehints", ".config/goose/AGENTS.md", ".agents/AGENTS.md"]);
    walk.folders_to_cwd().iter().for_each(|folder| walk.read_all(folder, &names));
    if let Some(accessed) = walk.accessed(&["read", "write", "shell"]) {
        walk.below(&accessed).iter().for_each(|folder| walk.read_all(folder, &names));
    }
}

fn roo(walk: &mut Walk) {
    let cwd = walk.cwd.clone();
    for folder in [HOME, &cwd] {
        // Front matter is text.
        let rules = walk.rules(&at(folder, ".roo/rules"), ".md", false);
        walk.loaded.extend(rules.into_iter().filter(|path| !walk.files[path].trim().is_empty()).collect::<Vec<_>>());
    }
    if walk.rules(&at(&cwd, ".roo/rules"), "", false).is_empty() {
        walk.read_first(&cwd, &[".roorules", ".clinerules"]);
    }
    walk.read_first(&cwd, &["AGENTS.md", "AGENT.md"]);
    walk.read(at(&cwd, "AGENTS.local.md"));
}

fn expected(agent: &str, walk: &mut Walk) {
    match agent {
        "claude-code" => claude(walk),
        "codex" => codex(walk),
        "gemini-cli" => gemini(walk),
        "qwen-code" => qwen(walk),
        "copilot-cli" => copilot(walk),
        "opencode" => opencode(walk, ".config/opencode/AGENTS.md", false),
        "kilo" => opencode(walk, ".config/kilo/AGENTS.md", true),
        "pi" => pi(walk),
        "cline-cli" => cline_cli(walk),
        "cline" => cline(walk),
        "goose" => goose(walk),
        "roo" => roo(walk),
        "continue" => {
            walk.read(at(&walk.cwd, "AGENTS.md"));
            walk.always(walk.rules(&at(&walk.cwd, ".continue/rules"), ".md", false), Always::Plain);
        }
        "agents-md" => {
            walk.folders_to_cwd().iter().for_each(|folder| walk.read(at(folder, "AGENTS.md")));
            if let Some(accessed) = walk.accessed(&RW) {
                walk.below(&accessed).iter().for_each(|folder| walk.read(at(folder, "AGENTS.md")));
            }
        }
        "cursor" => {
            if let Some(accessed) =
                at_root(walk, (".cursor/rules", ".mdc", false, Always::Stated), &[], &["AGENTS.md", "CLAUDE.md"])
            {
                walk.touched(&accessed).iter().for_each(|folder| walk.read(at(folder, "AGENTS.md")));
            }
        }
        "kiro" => {
            walk.always(walk.rules(&at(HOME, ".kiro/steering"), ".md", true), Always::NotAsked);
            at_root(walk, (".kiro/steering", ".md", true, Always::NotAsked), &[], &["AGENTS.md"]);
        }
        "vscode-copilot" => {
            let own = ["AGENTS.md", "CLAUDE.md", ".claude/CLAUDE.md", "CLAUDE.local.md"];
            let rules = (".github/instructions", ".instructions.md", false, Always::None);
            at_root(walk, rules, &[".github/copilot-instructions.md"], &own);
        }
        "windsurf" => {
            if let Some(accessed) =
                at_root(walk, (".windsurf/rules", ".md", true, Always::NotAsked), &[], &["AGENTS.md"])
            {
                walk.touched(&accessed).iter().for_each(|folder| walk.read(at(folder, "AGENTS.md")));
            }
        }
        other => panic!("no walk of {other}"),
    }
}

const AGENTS: [&str; 18] = [
    "agents-md",
    "claude-code",
    "cline",
    "cline-cli",
    "codex",
    "continue",
    "copilot-cli",
    "cursor",
    "gemini-cli",
    "goose",
    "kilo",
    "kiro",
    "opencode",
    "pi",
    "qwen-code",
    "roo",
    "vscode-copilot",
    "windsurf",
];

fn repository() -> impl Strategy<Value = Walk> {
    let folder = prop::sample::select(vec!["/", "/h", "/w", "/w/r", "/w/r/a", "/w/r/a/b", "/w/r/docs"]);
    let place = (folder, prop::sample::select(NAMES.to_vec())).prop_map(|(folder, name)| at(folder, name));
    let kind = prop::sample::select(vec!["", ALWAYS, DOCS, ASKED, "blank"]);
    let cwd = prop::sample::select(vec!["/w/r", "/w/r/a", "/w/r/a/b"]).prop_map(str::to_owned);
    let accessed =
        prop::sample::select(vec!["/w/r/a/b/x.ts", "/w/r/docs/d.md", "/w/r/a/docs/d.md", "/w/x.ts", "/w/r/x.ts"]);
    let verb = prop::sample::select(vec!["read", "write", "shell"]);
    let access = prop::option::weighted(0.8, (accessed.prop_map(str::to_owned), verb));
    (prop::collection::btree_map(place, kind, 0..40), cwd, access, prop::bool::weighted(0.8)).prop_map(
        |(places, cwd, access, git)| {
            let mut files: BTreeMap<String, String> = BTreeMap::new();
            for (path, kind) in places {
                let is_rule = path.contains("/rules/")
                    || path.contains("/steering/")
                    || path.contains("/instructions/")
                    || path.contains(".clinerules/");
                let text = match kind {
                    "blank" => " \n".to_owned(),
                    front if is_rule => format!("{front}Text of {path}\n"),
                    _ => format!("Text of {path}\n"),
                };
                files.insert(path, text);
            }
            if git {
                files.insert("/w/r/.git/HEAD".to_owned(), String::new());
            }
            Walk { files, cwd, access, loaded: Vec::new() }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(2000)))]

    #[test]
    fn a_naive_walk_per_agent_loads_the_same_files_in_the_same_order(walk in repository()) {
        let files: Vec<Value> = walk.files.iter().map(|(path, text)| json!({ "path": path, "content": text })).collect();
        for agent in AGENTS {
            let access: Vec<Value> = walk.access.iter().map(|(path, verb)| json!({ "path": path, "verb": verb })).collect();
            let request = json!({ "agent": agent, "cwd": walk.cwd, "home": HOME, "files": files, "access": access });
            let result = load(&request);
            let found: Vec<&str> = result["pieces"].as_array().unwrap().iter().map(|piece| piece["path"].as_str().unwrap()).collect();
            let mut naive = walk.clone();
            expected(agent, &mut naive);
            prop_assert_eq!(found, naive.loaded, "{}", agent);
        }
    }
}
