//! Loads that continue: after accesses, for bodies of skills, after changes on disk (docs/agent-files.md).

use ctxweave::Code;
use serde_json::{Value, json};

use crate::agent_files::{call, load};

const SKILL: &str = "/r/.claude/skills/deploy/SKILL.md";

fn files(root: &str) -> Value {
    json!([
        { "path": "/r/.git/HEAD", "content": "" },
        { "path": "/r/CLAUDE.md", "content": root },
        { "path": "/r/api/CLAUDE.md", "content": "api" },
        { "path": SKILL, "content": "---\nname: deploy\ndescription: Deploys.\n---\n\nRun it.\n" },
    ])
}

fn started(files: &Value) -> Value {
    load(&json!({ "agent": "claude-code", "cwd": "/r", "files": files }))
}

fn texts(pieces: &Value) -> Vec<(&str, &str)> {
    pieces
        .as_array()
        .unwrap()
        .iter()
        .map(|piece| (piece["kind"].as_str().unwrap(), piece["text"].as_str().unwrap()))
        .collect()
}

#[test]
fn an_access_appends_pieces() {
    let files = files("root");
    let chain = started(&files);
    let access = json!({ "path": "/r/api/main.ts" });
    let next = call("newSince", &json!({ "chain": chain, "next": access, "options": { "files": files } })).unwrap();
    assert_eq!(next["status"], "ready");
    assert_eq!(texts(&next["append"]), [("context", "api")]);
    assert_eq!(next["append"][0]["step"], 1);
    assert_eq!(next["stale"], json!([]));
    // The result continues in turn, and loads nothing twice.
    let again = json!({ "chain": next["result"], "next": [access, { "path": "/r/api/other.ts" }], "options": { "files": files } });
    let again = call("newSince", &again).unwrap();
    assert_eq!((&again["append"], &again["stale"]), (&json!([]), &json!([])));
    assert_eq!(again["result"]["request"]["access"].as_array().unwrap().len(), 3);
}

#[test]
fn the_host_is_asked_for_files() {
    let files = files("root");
    let chain = started(&files);
    let mut plan = call("newSince", &json!({ "chain": chain, "next": { "path": "/r/api/main.ts" } })).unwrap();
    let mut rounds = 0;
    while plan["status"] == "read" {
        rounds += 1;
        assert!(rounds < 40);
        let found = |path: &Value| {
            let path = path.as_str().unwrap();
            let below = format!("{}/", path.trim_end_matches('/'));
            let all = files.as_array().unwrap();
            let known = all.iter().find(|file| file["path"] == path).cloned();
            let names: Vec<&str> =
                all.iter().filter_map(|file| file["path"].as_str()?.strip_prefix(&below)?.split('/').next()).collect();
            known.unwrap_or_else(|| match names.as_slice() {
                [] => json!({ "path": path, "missing": true }),
                names => json!({ "path": path, "entries": names }),
            })
        };
        let found: Vec<Value> = plan["paths"].as_array().unwrap().iter().map(found).collect();
        plan = call("finishAgentFiles", &json!({ "state": plan["state"], "files": found })).unwrap();
    }
    assert_eq!(texts(&plan["append"]), [("context", "api")]);
    assert_eq!(plan["stale"], json!([]));
}

#[test]
fn a_body_of_a_skill_is_loaded_on_request() {
    let files = files("root");
    let chain = started(&files);
    assert_eq!(texts(&chain["pieces"]), [("skill", "- deploy: Deploys."), ("context", "root")]);
    let request = json!({ "path": SKILL, "verb": "skill" });
    let next = call("newSince", &json!({ "chain": chain, "next": request, "options": { "files": files } })).unwrap();
    assert_eq!(texts(&next["append"]), [("skillBody", "Run it.")]);
    assert_eq!((&next["append"][0]["placement"], &next["append"][0]["path"]), (&json!("tool"), &json!(SKILL)));
    assert_eq!(next["append"][0]["setting"], chain["pieces"][0]["setting"]);
    assert_eq!(next["result"]["messages"].as_array().unwrap().last().unwrap()["text"], "Run it.");
    let twice =
        call("newSince", &json!({ "chain": next["result"], "next": request, "options": { "files": files } })).unwrap();
    assert_eq!(twice["append"], json!([]));
    // Names and descriptions have a budget of their own; bodies are under that of all texts.
    let limited = |budget: Value, max: Value| {
        let request = json!({ "agent": "claude-code", "cwd": "/r", "files": files, "budget": budget, "maxTokens": max,
            "access": [{ "path": SKILL, "verb": "skill" }] });
        texts(&load(&request)["pieces"]).iter().map(|(kind, _)| (*kind).to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(limited(json!({ "skills": 0 }), json!(1000)), ["context", "skillBody"]);
    assert_eq!(limited(json!({}), json!(0)), [] as [&str; 0]);
}

/// The decisions on a path: kind and outcome.
fn decided<'c>(chain: &'c Value, path: &str) -> Vec<(&'c str, &'c str)> {
    let decisions = chain["decisions"].as_array().unwrap().iter().filter(|file| file["path"] == path);
    decisions.map(|file| (file["kind"].as_str().unwrap(), file["outcome"].as_str().unwrap())).collect()
}

#[test]
fn only_listed_skills_have_bodies() {
    let blank = "/r/.claude/skills/blank/SKILL.md";
    let unlisted = "/r/docs/SKILL.md";
    let mut files = files("root");
    let front = "---\nname: blank\ndescription: Says nothing.\n---\n\n \n";
    files.as_array_mut().unwrap().extend([
        json!({ "path": blank, "content": front }),
        json!({ "path": unlisted, "content": "---\nname: other\ndescription: Other.\n---\nSecret." }),
    ]);
    let absent = "/r/.claude/skills/none/SKILL.md";
    let access: Vec<Value> =
        [blank, unlisted, absent, "/r/CLAUDE.md", SKILL].map(|path| json!({ "path": path, "verb": "skill" })).into();
    let mut request = json!({ "agent": "claude-code", "cwd": "/r", "files": files, "access": access });
    let chain = load(&request);
    assert_eq!(texts(&chain["pieces"]).last(), Some(&("skillBody", "Run it.")));
    assert_eq!(chain["pieces"].as_array().unwrap().iter().filter(|piece| piece["kind"] == "skillBody").count(), 1);
    assert_eq!(decided(&chain, SKILL), [("skill", "loaded"), ("skillBody", "loaded")]);
    assert_eq!(decided(&chain, blank), [("skill", "loaded"), ("skillBody", "blank")]);
    assert_eq!(decided(&chain, unlisted), [("skillBody", "notListed")]);
    assert_eq!(decided(&chain, absent), [("skillBody", "notListed")]);
    assert_eq!(decided(&chain, "/r/CLAUDE.md"), [("context", "loaded"), ("skillBody", "notListed")]);
    let why = call("explainAgentFiles", &json!({ "chain": chain, "path": unlisted })).unwrap();
    let why = why.as_array().unwrap().iter().find(|file| file["file"] == unlisted).unwrap();
    assert_eq!(why["because"], "the load did not list it as a skill");

    // A body over the budget leaves the decision on the list alone.
    request["budget"] = json!({ "file": 8 });
    let body = "word ".repeat(100);
    request["files"][3]["content"] = format!("---\nname: deploy\ndescription: Deploys.\n---\n\n{body}").into();
    assert_eq!(decided(&load(&request), SKILL), [("skill", "loaded"), ("skillBody", "overBudget")]);
    // A project that is not trusted lists no skills.
    request["trusted"] = json!(false);
    assert!(texts(&load(&request)["pieces"]).iter().all(|(kind, _)| *kind != "skillBody"));
}

#[test]
fn what_changed_is_stale() {
    let chain = started(&files("root"));
    let changed = json!({ "path": "/r/CLAUDE.md", "verb": "changed" });
    let next =
        call("newSince", &json!({ "chain": chain, "next": changed, "options": { "files": files("new") } })).unwrap();
    assert_eq!(texts(&next["append"]), [("context", "new")]);
    assert_eq!(texts(&next["stale"]), [("context", "root")]);
    assert_eq!(next["result"]["request"]["access"], json!([]));
    // A retraction is stale too.
    let gone = json!([{ "path": "/r/.git/HEAD", "content": "" }]);
    let next = call("newSince", &json!({ "chain": chain, "next": changed, "options": { "files": gone } })).unwrap();
    assert_eq!(next["append"], json!([]));
    assert_eq!(next["stale"].as_array().unwrap().len(), 2);
}

#[test]
fn wrong_input_is_an_error() {
    let files = files("root");
    let chain = started(&files);
    for next in [json!(5), json!({ "path": "relative" }), json!({ "path": "/r", "verb": "open" }), json!([[]])] {
        let error =
            call("newSince", &json!({ "chain": chain, "next": next, "options": { "files": files } })).unwrap_err();
        assert!(matches!(error.code(), Code::InvalidInput | Code::UnknownValue), "{next}: {error}");
    }
    // A file that changed is an event like others: its path is absolute, and it has no other fields.
    for (next, text) in [
        (json!({ "verb": "changed" }), "`next` lacks `path`"),
        (json!({ "path": "CLAUDE.md", "verb": "changed" }), "absolute"),
        (json!({ "path": "/r/CLAUDE.md", "verb": "changed", "text": "new" }), "unknown option `text`"),
        (json!({ "path": "/r/CLAUDE.md", "verb": "altered" }), "`changed`"),
    ] {
        let error =
            call("newSince", &json!({ "chain": chain, "next": next, "options": { "files": files } })).unwrap_err();
        assert!(error.to_string().contains(text), "{next}: {error}");
    }
    let error = call("newSince", &json!({ "chain": { "pieces": [] }, "next": { "path": "/r" } })).unwrap_err();
    assert_eq!(error.code(), Code::InvalidInput);
}
