//! Findings in context files: which there are, their places, and their agreement with the files that agents load.

use std::collections::BTreeSet;

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::agent_files::{call, load};
use crate::agent_files_properties::{AGENTS, READ, files, list, paths, request};
use crate::generate::cases;

fn lint(all: &[(&str, &str)], options: Value) -> Value {
    let files: Vec<Value> = all.iter().map(|(path, content)| json!({ "path": path, "content": content })).collect();
    call("lintAgentFiles", &json!({ "files": files, "options": options })).unwrap()
}

/// `code path:line severity agents`, in order.
fn found(result: &Value) -> Vec<String> {
    let line = |finding: &Value| {
        let agents: Vec<&str> =
            finding["agents"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
        let code = finding["code"].as_str().unwrap().trim_start_matches("agent_");
        let (path, severity) = (finding["path"].as_str().unwrap(), finding["severity"].as_str().unwrap());
        format!("{code} {path}:{} {severity} {}", finding["line"], agents.join(","))
    };
    result["findings"].as_array().unwrap().iter().map(line).collect()
}

fn claude(all: &[(&str, &str)]) -> Vec<String> {
    found(&lint(all, json!({ "agents": ["claude-code"], "root": "/r" })))
}

#[test]
fn broken_imports_have_their_line() {
    let text = "# A\n\nSee @docs/none.md and @octocat\n\n@docs/one.md\n";
    let files = [("/r/CLAUDE.md", text), ("/r/docs/one.md", "---\na: b\n---\n@../CLAUDE.md\n@/etc/x.md\n")];
    assert_eq!(
        claude(&files),
        [
            "import_missing /r/CLAUDE.md:3 error claude-code",
            "import_missing /r/CLAUDE.md:3 info claude-code",
            "import_cyclic /r/docs/one.md:4 warning claude-code",
            "import_outside /r/docs/one.md:5 warning claude-code",
        ]
    );
}

#[test]
fn rules_that_cannot_match_are_found_in_the_dialect_of_the_agent() {
    let rule = "---\npaths:\n  - src/**\n  - ./docs/*.md\n---\nText\n";
    let files = [
        ("/r/.claude/rules/a.md", rule),
        ("/r/.claude/rules/b.md", "---\npaths: ./src\n---\nText\n"),
        ("/r/src/a.ts", ""),
    ];
    assert_eq!(
        claude(&files),
        [
            "pattern_never_matches /r/.claude/rules/a.md:4 warning claude-code",
            "pattern_never_matches /r/.claude/rules/b.md:2 error claude-code",
        ]
    );
    // With the paths of the project: a pattern that could match, and does not.
    let rule = [("/r/.claude/rules/a.md", "---\npaths: lib/**\n---\nText\n")];
    assert_eq!(claude(&rule), [""; 0]);
    let options = |path: &str| json!({ "agents": ["claude-code"], "root": "/r", "paths": [path] });
    assert_eq!(
        found(&lint(&rule, options("/r/src/a.ts"))),
        ["rule_matches_no_file /r/.claude/rules/a.md:2 warning claude-code"]
    );
    assert_eq!(found(&lint(&rule, options("/r/lib/a.ts"))), [""; 0]);
    // An agent that never loads rules with patterns.
    let rule = [("/r/.continue/rules/a.md", "---\nglobs: lib/**\n---\nText\n")];
    assert_eq!(
        found(&lint(&rule, json!({ "agents": ["continue"], "root": "/r" }))),
        [
            "file_unread /r/.continue/rules/a.md:1 warning continue",
            "rule_never_loads /r/.continue/rules/a.md:2 warning continue"
        ]
    );
}

#[test]
fn files_that_no_listed_agent_reads_are_found() {
    let files = [
        ("/r/AGENTS.md", "One\n"),
        ("/r/CLAUDE.md", "Two\n"),
        ("/r/.cursor/rules/a.md", "Text\n"),
        ("/r/a/b/AGENTS.md", "Deep\n"),
        ("/r/README.md", "No context\n"),
    ];
    assert_eq!(claude(&files), ["file_unread /r/.cursor/rules/a.md:1 info ", "file_unread /r/AGENTS.md:1 info "]);
    let both = lint(&files, json!({ "agents": ["codex", "cursor"], "root": "/r" }));
    assert_eq!(found(&both), ["file_unread /r/.cursor/rules/a.md:1 warning cursor"]);
    assert_eq!((&both["errors"], &both["warnings"]), (&json!(0), &json!(1)));
    let codex = lint(
        &[("/r/AGENTS.md", "One\n"), ("/r/AGENTS.override.md", "Two\n")],
        json!({ "agents": ["codex"], "root": "/r" }),
    );
    assert!(codex["findings"][0]["message"].as_str().unwrap().contains("`/r/AGENTS.override.md` takes its place"));
}

#[test]
fn text_over_a_limit_and_long_files_are_found() {
    let long = "x\n".repeat(20_000);
    let files = [("/r/AGENTS.md", long.as_str()), ("/r/a/AGENTS.md", "lost\n")];
    let codex = lint(&files, json!({ "agents": ["codex"], "root": "/r" }));
    assert_eq!(found(&codex), ["text_lost /r/AGENTS.md:16385 error codex", "text_lost /r/a/AGENTS.md:1 error codex"]);
    assert_eq!(claude(&[("/r/CLAUDE.md", &"x\n".repeat(201))]), ["file_too_long /r/CLAUDE.md:201 info claude-code"]);
    assert_eq!(claude(&[("/r/CLAUDE.md", &"x".repeat(40_001))]), ["file_too_long /r/CLAUDE.md:1 warning claude-code"]);
    let rule = format!("---\ntrigger: always_on\n---\n{}", "x".repeat(12_000));
    let windsurf = lint(&[("/r/.windsurf/rules/a.md", &rule)], json!({ "agents": ["windsurf"], "root": "/r" }));
    assert_eq!(found(&windsurf), ["file_too_long /r/.windsurf/rules/a.md:1 warning windsurf"]);
}

#[test]
fn repetitions_and_contradictions_are_found_along_a_chain() {
    let root = "# A\n- Always run the tests before you commit anything\n- Use tabs\n## Style\n- Indent: 2 spaces\n```\n- Never use tabs\n```\n";
    let near =
        "- Always run the tests before you commit anything\n- Never use tabs.\n# A\n## Style\n- Indent: 4 spaces\n";
    let chain = [("/r/CLAUDE.md", root), ("/r/a/CLAUDE.md", near)];
    let result = lint(&chain, json!({ "agents": ["claude-code"], "root": "/r" }));
    assert_eq!(
        found(&result),
        [
            "text_repeated /r/a/CLAUDE.md:1 info claude-code",
            "contradiction /r/a/CLAUDE.md:2 warning claude-code",
            "contradiction /r/a/CLAUDE.md:5 warning claude-code",
        ]
    );
    assert_eq!(result["findings"][1]["related"], json!({ "path": "/r/CLAUDE.md", "line": 3 }));
    // Siblings are never read together at the start of an agent, so they may differ.
    let siblings = [("/r/a/CLAUDE.md", "- Use tabs\n"), ("/r/b/CLAUDE.md", "- Do not use tabs\n")];
    assert_eq!(claude(&siblings), [""; 0]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(200)))]

    /// Every place is in a given file, and unread files are in no chain of the agents.
    #[test]
    fn findings_agree_with_loads(files in files(), agents in prop::sample::subsequence(AGENTS.to_vec(), 1..3)) {
        let all = list(&files);
        let options = json!({ "agents": agents, "root": "/r", "home": "/home" });
        let result = call("lintAgentFiles", &json!({ "files": all, "options": options })).unwrap();
        let mut unread = BTreeSet::new();
        for finding in result["findings"].as_array().unwrap() {
            let text = files.get(finding["path"].as_str().unwrap());
            prop_assert!(text.is_some(), "{}", finding);
            let rows = text.unwrap().lines().count().max(1) as u64;
            prop_assert!((1..=rows).contains(&finding["line"].as_u64().unwrap()), "{} of {} lines", finding, rows);
            prop_assert!(finding["related"].is_null() || files.contains_key(finding["related"]["path"].as_str().unwrap()));
            if finding["code"] == "agent_file_unread" {
                unread.insert(finding["path"].as_str().unwrap());
            }
        }
        for agent in agents {
            for access in [&[][..], &[READ], &["/r/x.ts"]] {
                let chain = load(&request(agent, &all, access));
                for path in paths(&chain) {
                    prop_assert!(!unread.contains(path), "{} reads {}", agent, path);
                }
            }
        }
    }
}
