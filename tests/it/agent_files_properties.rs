//! What holds for context files of any agent, whatever the files are.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::agent_files::{call, load};
use crate::generate::cases;

pub(crate) const AGENTS: [&str; 17] = [
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
    "qwen-code",
    "roo",
    "vscode-copilot",
    "windsurf",
];

/// Places where agents look.
const PLACES: [&str; 29] = [
    "/r/AGENTS.md",
    "/r/CLAUDE.md",
    "/r/GEMINI.md",
    "/r/CLAUDE.local.md",
    "/r/.claude/CLAUDE.md",
    "/r/a/AGENTS.md",
    "/r/a/CLAUDE.md",
    "/r/a/GEMINI.md",
    "/r/a/AGENTS.override.md",
    "/r/a/b/AGENTS.md",
    "/r/a/b/CLAUDE.md",
    "/r/a/b/GEMINI.md",
    "/r/.claude/rules/one.md",
    "/r/.claude/rules/x/two.md",
    "/r/a/b/.claude/rules/three.md",
    "/r/.github/instructions/four.instructions.md",
    "/r/.cursor/rules/five.mdc",
    "/r/.kiro/steering/six.md",
    "/r/.clinerules/seven.md",
    "/r/docs/one.md",
    "/r/docs/two.md",
    "/h/.claude/CLAUDE.md",
    "/h/.codex/AGENTS.md",
    "/h/.claude/rules/user.md",
    "/r/.qwen/rules/eight.md",
    "/r/opencode.json",
    "/r/.goosehints",
    "/r/a/.roo/rules/nine.md",
    "/r/.windsurf/rules/ten.md",
];

fn text() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        4 => "[a-z]{1,6}",
        1 => Just(String::new()),
        3 => prop::sample::select(vec![
            "@docs/one.md", "@docs/two.md", "@../docs/one.md", "@one.md", "@two.md", "@./one.md", "see @/r/docs/two.md.",
            "`@docs/one.md`", "```", "~~~", "    @two.md", "<!-- @one.md", "-->", "AGENTS.md", "(@docs/two.md)", "@~/x.md",
        ]).prop_map(str::to_owned),
    ];
    let patterns = ["**", "**/*", "*.ts", "a", "a/**", "b/*.ts", "/a/b/", "./a/b/x.ts", "{a,b}/**", "!a", "[", ""];
    let key = prop::sample::select(vec!["paths", "applyTo", "globs", "fileMatchPattern", "inclusion", "alwaysApply"]);
    let front = (key, prop::sample::select(patterns.to_vec()), any::<bool>()).prop_map(|(key, pattern, quoted)| {
        let value = if quoted { format!("'{pattern}'") } else { pattern.to_owned() };
        format!("---\n{key}: {value}\n---\n")
    });
    (prop::option::of(front), prop::collection::vec(line, 0..6))
        .prop_map(|(front, lines)| front.unwrap_or_default() + &lines.join("\n"))
}

pub(crate) fn files() -> impl Strategy<Value = BTreeMap<String, String>> {
    let path = prop::sample::select(PLACES.to_vec()).prop_map(str::to_owned);
    prop::collection::btree_map(path, text(), 0..20).prop_map(|mut files| {
        files.insert("/r/.git/HEAD".to_owned(), String::new());
        files
    })
}

pub(crate) fn list(files: &BTreeMap<String, String>) -> Vec<Value> {
    files.iter().map(|(path, content)| json!({ "path": path, "content": content })).collect()
}

pub(crate) fn request(agent: &str, files: &[Value], access: &[&str]) -> Value {
    let access: Vec<Value> = access.iter().map(|path| json!({ "path": path })).collect();
    json!({ "agent": agent, "cwd": "/r/a", "home": "/home", "files": files, "access": access })
}

/// What a host with these files finds at a path.
fn found(files: &BTreeMap<String, String>, path: &str) -> Value {
    if let Some(content) = files.get(path) {
        return json!({ "path": path, "content": content });
    }
    let prefix = if path == "/" { path.to_owned() } else { format!("{path}/") };
    let below = files.keys().filter_map(|known| known.strip_prefix(&prefix));
    let names: std::collections::BTreeSet<&str> = below.map(|rest| rest.split('/').next().unwrap()).collect();
    if names.is_empty() { json!({ "path": path, "missing": true }) } else { json!({ "path": path, "entries": names }) }
}

pub(crate) fn paths(result: &Value) -> Vec<&str> {
    result["pieces"].as_array().unwrap().iter().map(|piece| piece["path"].as_str().unwrap()).collect()
}

pub(crate) const READ: &str = "/r/a/b/x.ts";

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(300)))]

    #[test]
    fn the_order_of_the_files_has_no_effect(files in files(), agent in prop::sample::select(AGENTS.to_vec())) {
        let mut list = list(&files);
        let one = load(&request(agent, &list, &[READ]));
        list.reverse();
        prop_assert_eq!(one, load(&request(agent, &list, &[READ])));
    }

    #[test]
    fn asking_for_files_gives_what_all_files_give(files in files(), agent in prop::sample::select(AGENTS.to_vec())) {
        let whole = load(&request(agent, &list(&files), &[READ]));
        let mut open = request(agent, &[], &[READ]);
        open.as_object_mut().unwrap().remove("files");
        let mut plan = call("planAgentFiles", &open).unwrap();
        let mut rounds = 0;
        while plan["status"] == "read" {
            rounds += 1;
            prop_assert!(rounds < 40, "{}", plan["paths"]);
            let asked = plan["paths"].as_array().unwrap().iter().map(|path| found(&files, path.as_str().unwrap()));
            let asked: Vec<Value> = asked.collect();
            plan = call("finishAgentFiles", &json!({ "state": plan["state"], "files": asked })).unwrap();
        }
        prop_assert_eq!(&plan["result"], &whole);
    }

    #[test]
    fn explanations_agree_with_loads(files in files(), agent in prop::sample::select(AGENTS.to_vec())) {
        let list = list(&files);
        let (before, after) = (load(&request(agent, &list, &[])), load(&request(agent, &list, &[READ])));
        let explained = |chain: &Value| call("explainAgentFiles", &json!({ "chain": chain, "path": READ })).unwrap();
        for (chain, is_before) in [(&before, true), (&after, false)] {
            let text = chain["messages"].to_string();
            for file in explained(chain).as_array().unwrap() {
                let name = file["file"].as_str().unwrap();
                let is_piece = paths(chain).contains(&name);
                // An import in place is in the text of its importer.
                prop_assert!(file["loaded"] == is_piece || file["kind"] == "import", "{} {}", file, text);
                if file["kind"] == "rule" && is_before {
                    let loads = paths(&after).contains(&name) && !is_piece;
                    prop_assert_eq!(file["loadsOnAccess"].as_bool().unwrap(), loads, "{}", file);
                }
                prop_assert!(!file["because"].as_str().unwrap().is_empty());
            }
            for path in paths(chain) {
                prop_assert!(explained(chain).as_array().unwrap().iter().any(|file| file["file"] == path));
            }
        }
    }

    #[test]
    fn the_budget_of_tokens_holds_and_placed_text_stays(
        files in files(), agent in prop::sample::select(AGENTS.to_vec()), max in 0_u32..60,
    ) {
        let list = list(&files);
        let mut budgeted = request(agent, &list, &[]);
        budgeted["maxTokens"] = json!(max);
        let start = load(&budgeted);
        budgeted["access"] = json!([{ "path": READ }, { "path": "/r/a/b/x.ts", "verb": "shell" }]);
        let after = load(&budgeted);
        prop_assert!(after["totalTokens"].as_u64().unwrap() <= u64::from(max));
        let (placed, all) = (start["pieces"].as_array().unwrap(), after["pieces"].as_array().unwrap());
        prop_assert_eq!(&placed[..], &all[..placed.len()]);
        let whole = load(&request(agent, &list, &[READ]));
        let lost = after["losses"].as_array().unwrap().iter().filter(|loss| loss["reason"] == "budget").count();
        prop_assert_eq!(all.len() + lost, whole["pieces"].as_array().unwrap().len());
    }

    /// Budgets per file and per level hold, also with imports, and cut or omitted text is a loss.
    #[test]
    fn budgets_per_file_and_level_hold(
        files in files(), agent in prop::sample::select(AGENTS.to_vec()), file in prop::option::of(0_u32..20),
        home in prop::option::of(0_u32..20), project in prop::option::of(0_u32..40), total in prop::option::of(0_u32..40),
    ) {
        let list = list(&files);
        let whole = load(&request(agent, &list, &[READ]));
        let mut budgeted = request(agent, &list, &[READ]);
        budgeted["home"] = json!("/h");
        let unlimited = load(&budgeted);
        budgeted["budget"] = json!({});
        for (name, max) in [("file", file), ("home", home), ("project", project)] {
            if let Some(max) = max {
                budgeted["budget"][name] = json!(max);
            }
        }
        if let Some(max) = total {
            budgeted["maxTokens"] = json!(max);
        }
        let result = load(&budgeted);
        prop_assert_eq!(load(&request(agent, &list, &[READ])), whole);
        let pieces = result["pieces"].as_array().unwrap();
        let cost = |level: &str| -> u64 {
            pieces.iter().filter(|piece| level.is_empty() || piece["scope"] == level).map(|piece| piece["tokens"].as_u64().unwrap()).sum()
        };
        for (level, max) in [("home", home), ("project", project), ("", total)] {
            prop_assert!(max.is_none_or(|max| cost(level) <= u64::from(max)), "{}", level);
        }
        let lost = |path: &str| result["losses"].as_array().unwrap().iter().any(|loss| loss["path"] == path && loss["reason"] == "budget");
        for piece in pieces {
            let path = piece["path"].as_str().unwrap();
            prop_assert!(file.is_none_or(|max| piece["tokens"].as_u64().unwrap() <= u64::from(max)));
            prop_assert!(piece["truncated"] == false || lost(path) || agent == "codex");
        }
        for path in paths(&unlimited) {
            prop_assert!(paths(&result).contains(&path) || lost(path), "{} is gone", path);
        }
    }

    #[test]
    fn new_pieces_are_appended(files in files(), agent in prop::sample::select(AGENTS.to_vec())) {
        let list = list(&files);
        let (before, after) = (load(&request(agent, &list, &[])), load(&request(agent, &list, &[READ])));
        let changes = call("newSince", &json!({ "chain": before, "next": after })).unwrap();
        let continued = call("newSince", &json!({ "chain": before, "next": { "path": READ }, "options": { "files": list } })).unwrap();
        prop_assert_eq!(&continued["append"], &changes["append"]);
        prop_assert_eq!(&continued["stale"], &changes["stale"]);
        prop_assert_eq!(&continued["result"], &after);
        let placed = before["pieces"].as_array().unwrap().len();
        prop_assert_eq!(&changes["append"], &json!(&after["pieces"].as_array().unwrap()[placed..]));
        prop_assert_eq!(&changes["stale"], &json!([]));
    }
}

/// Files that import each other as often as they can: every agent ends, and soon.
#[test]
fn imports_end() {
    for agent in AGENTS {
        let many: String = (0..12).map(|number| format!("@./{number}.md\n")).collect();
        let mut files: BTreeMap<String, String> =
            (0..12).map(|number| (format!("/r/{number}.md"), many.clone())).collect();
        for name in ["AGENTS.md", "CLAUDE.md", "GEMINI.md", ".git/HEAD"] {
            files.insert(format!("/r/{name}"), many.clone());
        }
        let mut deep = files.clone();
        for number in 0..500 {
            deep.insert(format!("/r/deep/{number}.md"), format!("@./{}.md", number + 1));
        }
        deep.insert("/r/AGENTS.md".to_owned(), "@deep/0.md".to_owned());
        for files in [files, deep] {
            let request = json!({ "agent": agent, "cwd": "/r", "files": list(&files) });
            let result = load(&request);
            assert!(result["pieces"].as_array().unwrap().len() < 1000, "{agent}");
        }
    }
}

#[test]
#[expect(clippy::disallowed_types, reason = "it has to end")]
fn a_megabyte_of_anything_takes_no_time_to_scan() {
    for unit in ["@", "`", "``", "@a ", "```\n", "<!--", "    @a\n", "`a``b", "{a,", "@a/"] {
        let content = unit.repeat(1_000_000 / unit.len());
        for agent in ["claude-code", "gemini-cli", "copilot-cli", "qwen-code"] {
            let files =
                json!([{ "path": "/r/AGENTS.md", "content": content }, { "path": "/r/.git/HEAD", "content": "" }]);
            let start = std::time::Instant::now();
            load(&json!({ "agent": agent, "cwd": "/r", "files": files, "preset": { "names": ["AGENTS.md"] } }));
            assert!(start.elapsed().as_secs() < 10, "{agent} {unit}");
        }
    }
}
