//! Rules converted from one agent to another: loaded with both presets, a rule is active for the same accesses, or the
//! report has the difference.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::agent_files::{call, load};
use crate::generate::cases;

/// The agents with rules, and a folder, an end and the keys of their rules.
const AGENTS: [(&str, &str, &str); 11] = [
    ("claude-code", ".claude/rules", ".md"),
    ("cline", ".clinerules", ".md"),
    ("cline-cli", ".clinerules", ".md"),
    ("continue", ".continue/rules", ".md"),
    ("copilot-cli", ".github/instructions", ".instructions.md"),
    ("cursor", ".cursor/rules", ".mdc"),
    ("kilo", ".kilo/rules", ".md"),
    ("kiro", ".kiro/steering", ".md"),
    ("qwen-code", ".qwen/rules", ".md"),
    ("vscode-copilot", ".github/instructions", ".instructions.md"),
    ("windsurf", ".windsurf/rules", ".md"),
];

/// Paths to access.
const PATHS: [&str; 13] = [
    "a.ts",
    "src",
    "src/a.ts",
    "SRC/a.ts",
    "src/b.js",
    "src/x/a.ts",
    "src/x/y/a.ts",
    "src/a.ts/inner.md",
    "a.ts/inner.js",
    "docs/a.md",
    "packages/api/a.ts",
    "packages/api/src/a.ts",
    "!a",
];

fn pattern() -> impl Strategy<Value = String> {
    let segment =
        prop::sample::select(vec!["*", "**", "src", "x", "a.ts", "*.ts", "*.{ts,js}", "[a-c].ts", "?.ts", "a*"]);
    let plain = (prop::sample::select(vec!["", "/", "./", "!"]), prop::collection::vec(segment, 1..4), any::<bool>())
        .prop_map(|(start, segments, is_folder)| {
            format!("{start}{}{}", segments.join("/"), if is_folder && segments.len() % 2 == 0 { "/" } else { "" })
        });
    let odd = prop::sample::select(vec![
        "**",
        "**/*",
        "**/**",
        "src/**",
        "{src,docs}/**",
        "{a.ts,src/*}",
        "src//a.ts",
        "a\\*",
        "[",
        "{",
        "packages/**/a.ts",
        "#a",
        "./**",
        "/",
        ".",
        "../a.ts",
        "src/./a.ts",
        "a**",
        "*.ts,*.js",
    ]);
    prop_oneof![4 => plain, 3 => odd.prop_map(str::to_owned)]
}

/// A rule in the keys of any agent, as people write it.
fn rule() -> impl Strategy<Value = String> {
    let patterns = prop::collection::vec(pattern(), 0..3);
    let keys = prop::sample::select(vec!["paths", "globs", "applyTo", "fileMatchPattern"]);
    let mode = prop::sample::select(vec![
        "",
        "alwaysApply: true\n",
        "alwaysApply: false\n",
        "description: When testing\n",
        "inclusion: manual\n",
        "inclusion: auto\n",
        "inclusion: fileMatch\n",
        "trigger: glob\n",
        "trigger: manual\n",
        "trigger: model_decision\n",
        "trigger: always_on\n",
        "excludeAgent: code-review\n",
    ]);
    (patterns, keys, mode, 0..4).prop_map(|(patterns, key, mode, style)| {
        let list: String = patterns.iter().map(|pattern| format!("  - {}\n", json!(pattern))).collect();
        let patterns = match style {
            0 => return String::new(),
            1 => format!("{key}:\n{list}"),
            2 => format!("{key}: {}\n", json!(patterns.join(","))),
            _ => format!("{key}: {}\n", patterns.join(", ")),
        };
        format!("---\n{mode}{patterns}---\n")
    })
}

/// Rules of any agent, each with its own mark.
fn rules() -> impl Strategy<Value = Vec<(bool, String, String)>> {
    let name = prop::sample::select(vec!["one", "sub/two", "workflows/three", "sub.d/four"]).prop_map(str::to_owned);
    prop::collection::vec((prop::bool::weighted(0.2), name, rule()), 1..4)
}

/// The marks of the rules that an agent has read after an access.
fn active(agent: &str, files: &[Value], access: Option<(&str, &str)>) -> BTreeSet<String> {
    let mut all = files.to_vec();
    all.push(json!({ "path": "/r/.git/HEAD", "content": "" }));
    let access: Vec<Value> =
        access.into_iter().map(|(path, verb)| json!({ "path": format!("/r/{path}"), "verb": verb })).collect();
    let result = load(&json!({ "agent": agent, "cwd": "/r", "files": all, "access": access }));
    let texts = result["pieces"].as_array().unwrap().iter().map(|piece| piece["text"].as_str().unwrap());
    texts.flat_map(|text| text.split("MARK[").skip(1).map(|rest| rest.split(']').next().unwrap().to_owned())).collect()
}

fn codes(changes: &Value) -> BTreeSet<&str> {
    changes.as_array().unwrap().iter().map(|change| change["code"].as_str().unwrap()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(1000)))]

    #[test]
    fn a_converted_rule_is_active_as_before_or_reported(
        rules in rules(), from in prop::sample::select(AGENTS.to_vec()), to in prop::sample::select(AGENTS.to_vec()),
        omit in any::<bool>(),
    ) {
        let (agent, folder, end) = from;
        let mut files: BTreeMap<String, String> = BTreeMap::new();
        for (nested, name, front) in &rules {
            let below = if *nested { "packages/api/" } else { "" };
            let path = format!("/r/{below}{folder}/{name}{end}");
            let text = format!("{front}MARK[{path}]\n");
            files.insert(path, text);
        }
        let files: Vec<Value> = files.iter().map(|(path, text)| json!({ "path": path, "content": text })).collect();
        let options = json!({ "from": agent, "to": to.0, "root": "/r", "fallback": if omit { "omit" } else { "always" } });
        let converted = call("convertRules", &json!({ "files": files, "options": options })).unwrap();
        let new = converted["files"].as_array().unwrap();
        let written: BTreeSet<&str> = new.iter().map(|file| file["path"].as_str().unwrap()).collect();
        prop_assert_eq!(written.len(), new.len());
        let of: BTreeMap<&str, &Value> =
            converted["rules"].as_array().unwrap().iter().map(|rule| (rule["path"].as_str().unwrap(), rule)).collect();
        let general = codes(&converted["changes"]);
        let accesses = PATHS.iter().flat_map(|path| [Some((*path, "read")), Some((*path, "write"))]);
        for access in accesses.chain([None]) {
            let (before, after) = (active(agent, &files, access), active(to.0, new, access));
            for file in &files {
                let path = file["path"].as_str().unwrap();
                let (was, is) = (before.contains(path), after.contains(path));
                let Some(rule) = of.get(path) else {
                    prop_assert!(!was && !is, "{} is read and was not converted", path);
                    continue;
                };
                let found = codes(&rule["changes"]);
                let explains = |codes: &[&str]| codes.iter().any(|code| found.contains(code));
                let by_case = access.is_some_and(|(path, _)| path.contains("SRC")) && general.contains("case");
                let by_verb = access.is_some_and(|(_, verb)| verb == "write") && general.contains("verbs");
                let is_explained = match (was, is) {
                    (true, false) => by_verb || by_case || explains(&["activation", "omitted", "narrower", "differs"]),
                    (false, true) => by_verb || by_case || explains(&["activation", "wider", "differs"]),
                    _ => true,
                };
                prop_assert!(is_explained, "{} to {}, access {:?}: was {} is {}\n{}\n{:#}\n{:#}", agent, to.0, access, was, is, file, rule, converted["files"]);
                // Rules without a reported change of mode have the mode in the report.
                prop_assert_eq!(explains(&["activation"]), rule["before"]["mode"] != rule["after"]["mode"] && !explains(&["omitted"]));
                if access.is_none() {
                    prop_assert_eq!(is, rule["after"]["mode"] == "always");
                }
            }
        }
    }

    /// The text of a rule arrives unchanged.
    #[test]
    fn a_conversion_keeps_the_text(body in "(---\n)?[a-z #`\n]{0,40}", front in rule(), to in prop::sample::select(AGENTS.to_vec())) {
        let text = format!("---\nalwaysApply: true\n{}---\n{body}", front.replace("---\n", ""));
        let files = json!([{ "path": "/r/.cursor/rules/a.mdc", "content": text }]);
        let converted = call("convertRules", &json!({ "files": files, "options": { "from": "cursor", "to": to.0 } })).unwrap();
        let content = converted["files"][0]["content"].as_str().unwrap();
        prop_assert!(content.ends_with(&body), "{:?}", content);
        let all = json!([{ "path": converted["files"][0]["path"], "content": content }]);
        let result = load(&json!({ "agent": to.0, "cwd": "/r", "files": all, "access": [{ "path": "/r/a.ts" }] }));
        let pieces = result["pieces"].as_array().unwrap();
        let mode = converted["rules"][0]["after"]["mode"].as_str().unwrap();
        prop_assert!(mode != "always" || body.trim().is_empty() || pieces.len() == 1, "{}", content);
        for piece in pieces {
            prop_assert!(piece["text"].as_str().unwrap().ends_with(&body));
        }
    }
}

fn convert(from: &str, to: &str, path: &str, text: &str) -> Value {
    let files = json!([{ "path": path, "content": text }]);
    call("convertRules", &json!({ "files": files, "options": { "from": from, "to": to } })).unwrap()
}

/// Conversions that change nothing report nothing: a report of everything would also pass the property.
#[test]
fn exact_conversions_report_nothing() {
    let cursor = "---\ndescription: Tests\nglobs: src/**/*, docs/**\nalwaysApply: false\n---\nText\n";
    let out = convert("cursor", "claude-code", "/r/.cursor/rules/a.mdc", cursor);
    assert_eq!(
        out["files"][0],
        json!({ "path": "/r/.claude/rules/a.md", "content": "---\npaths:\n  - \"src/**/*\"\n  - \"docs/**\"\n---\nText\n" })
    );
    assert_eq!(out["rules"][0]["changes"], json!([]));
    let out = convert("cursor", "windsurf", "/r/.cursor/rules/a.mdc", cursor);
    assert_eq!((&out["rules"][0]["changes"], &out["changes"]), (&json!([]), &json!([])));
    let out = convert("claude-code", "cursor", "/r/.claude/rules/a.md", "---\npaths: src/\n---\nText\n");
    assert_eq!(out["files"][0]["content"], "---\nglobs: **/src/**/*\nalwaysApply: false\n---\nText\n");
    assert_eq!(out["rules"][0]["changes"], json!([]));
    let out = convert("kiro", "vscode-copilot", "/r/.kiro/steering/a.md", "---\ninclusion: manual\n---\nText\n");
    assert_eq!((&out["files"][0]["content"], &out["rules"][0]["changes"]), (&json!("Text\n"), &json!([])));
}

/// What other converters change without a word.
#[test]
fn changes_of_meaning_are_reported() {
    let changes = |from: &str, to: &str, path: &str, text: &str| -> Vec<String> {
        let out = convert(from, to, path, text);
        codes(&out["rules"][0]["changes"]).into_iter().map(str::to_owned).collect()
    };
    let cursor =
        |front: &str| changes("cursor", "claude-code", "/r/.cursor/rules/a.mdc", &format!("---\n{front}\n---\nText\n"));
    assert_eq!(cursor("alwaysApply: true"), [""; 0]);
    assert_eq!(cursor("description: When testing"), ["activation"]);
    assert_eq!(cursor("globs:"), ["activation"]);
    assert_eq!(cursor("globs: *.ts"), ["wider"]);
    assert_eq!(cursor("globs: src/*"), ["wider"]);
    assert_eq!(cursor("globs: src/"), ["neverMatches", "omitted"]);
    assert_eq!(
        changes("claude-code", "cline-cli", "/r/.claude/rules/a.md", "---\npaths: a/**\n---\nText @b.md\n"),
        ["activation", "imports"]
    );
    assert_eq!(
        changes(
            "vscode-copilot",
            "cursor",
            "/r/.github/instructions/a.instructions.md",
            "---\napplyTo: a/**\nexcludeAgent: code-review\n---\nText\n"
        ),
        ["key"]
    );
    assert_eq!(
        changes("cursor", "vscode-copilot", "/r/.cursor/rules/a.mdc", "---\nalwaysApply: true\n---\nText\n"),
        ["activation"]
    );
    let long = "x".repeat(12_001);
    assert_eq!(
        changes("cursor", "windsurf", "/r/.cursor/rules/a.mdc", &format!("---\nalwaysApply: true\n---\n{long}")),
        ["tooLong"]
    );
}

/// Nested rules keep their folder if the target reads rules there, and otherwise take it into their patterns.
#[test]
fn nested_rules_keep_their_base() {
    let nested = "/r/packages/api/.claude/rules/a.md";
    let files = json!([{ "path": nested, "content": "---\npaths: /src/**\n---\nText\n" }, { "path": "/r/.claude/rules/a.md", "content": "Root\n" }, { "path": "/r/CLAUDE.md", "content": "No rule\n" }]);
    let to = |to: &str| {
        call("convertRules", &json!({ "files": files, "options": { "from": "claude-code", "to": to } })).unwrap()
    };
    let cursor = to("cursor");
    assert_eq!(cursor["files"][1]["path"], "/r/.cursor/rules/packages/api/a.mdc");
    assert_eq!(cursor["files"][1]["content"], "---\nglobs: packages/api/src/**\nalwaysApply: false\n---\nText\n");
    assert_eq!(cursor["ignored"], json!(["/r/CLAUDE.md"]));
    let windsurf = to("windsurf");
    assert_eq!(windsurf["files"][1]["path"], "/r/.windsurf/rules/packages-api-a.md");
}
