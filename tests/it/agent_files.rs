//! Context files as agents load them: the recorded runs of the agents themselves, and what holds for any files.

use std::fs;
use std::path::{Path, PathBuf};

use ctxweave::agent_files::CALLS;
use ctxweave::call::CallContext;
use ctxweave::{Code, Error};
use serde_json::{Value, json};

pub(crate) fn call(name: &str, request: &Value) -> Result<Value, Error> {
    let call = CALLS.iter().find(|call| call.name == name).unwrap_or_else(|| panic!("no call {name}"));
    call.answer(&mut (), request.to_string().as_bytes(), &[], &CallContext::default())
        .map(|answer| serde_json::from_slice(&answer.to_json()).unwrap())
}

/// The result of a request that has all files.
pub(crate) fn load(request: &Value) -> Value {
    let planned = call("planAgentFiles", request).unwrap();
    assert_eq!(planned["status"], "ready", "{request}");
    planned["result"].clone()
}

fn root() -> PathBuf {
    Path::new(crate::ROOT).join("tests/agent-files")
}

fn add(folder: &Path, files: &mut Vec<Value>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            add(&path, files);
        } else {
            let below = path.strip_prefix(root().join("repos")).unwrap().to_string_lossy().replace('\\', "/");
            files.push(json!({ "path": format!("/srv/{below}"), "content": fs::read_to_string(&path).unwrap() }));
        }
    }
}

/// The sample repositories below `/srv`, each with a `.git`.
fn samples() -> Vec<Value> {
    let mut files = Vec::new();
    add(&root().join("repos"), &mut files);
    // In a submodule or worktree `.git` is a file.
    files.push(json!({ "path": "/srv/shapes/sub/.git", "content": "gitdir: ../.git/modules/sub" }));
    for repository in ["agents", "imports", "layers", "rules", "shapes"] {
        files.push(json!({ "path": format!("/srv/{repository}/.git/HEAD"), "content": "ref: refs/heads/main" }));
    }
    files
}

/// The request of a recorded run.
fn request(run: &str, steps: &[Value]) -> Value {
    let (tool, rest) = run.split_once('-').unwrap();
    let agent = match tool {
        "cc" => "claude-code",
        "gem" => "gemini-cli",
        "oc" => "opencode",
        "qwen" => "qwen-code",
        "copilot" => "copilot-cli",
        "cline" => "cline-cli",
        "cn" => "continue",
        other => other,
    };
    let (repository, variant) = match rest.split_once('-') {
        Some((repository, variant)) => (repository, Some(variant)),
        None if ["child", "untrusted", "untrusted2"].contains(&rest) => ("layers", None),
        None => (rest, None),
    };
    let cwd = match repository {
        "layers" | "agents" => format!("/srv/{repository}/packages/api"),
        "shapes" => "/srv/shapes/sub/pkg".to_owned(),
        "shapesroot" => "/srv/shapes".to_owned(),
        _ => format!("/srv/{repository}"),
    };
    let read = |step: &Value| step["at"].as_str().unwrap().strip_prefix("read ").map(|path| format!("/srv/{path}"));
    let access: Vec<Value> = steps.iter().filter_map(read).map(|path| json!({ "path": path })).collect();
    let home = if repository.starts_with("shapes") { "/srv/shapes-home" } else { "/srv/home" };
    let mut request = json!({ "agent": agent, "cwd": cwd, "home": home, "access": access, "files": samples() });
    if let Some(variant) = variant {
        request["variant"] = json!(variant);
    }
    // The run without an entry for the project is trusted; the one with `trust_level = "untrusted"` is not.
    if rest == "untrusted2" {
        request["trusted"] = json!(false);
    }
    request
}

/// The marks in the texts of each step, in order.
fn marks(result: &Value, steps: usize) -> Vec<Vec<String>> {
    let mut all = vec![Vec::new(); steps];
    for piece in result["pieces"].as_array().unwrap() {
        let step = usize::try_from(piece["step"].as_u64().unwrap()).unwrap();
        let text = piece["text"].as_str().unwrap();
        all[step].extend(text.split("MARK[").skip(1).map(|rest| rest.split(']').next().unwrap().to_owned()));
    }
    all
}

/// Runs whose order within one folder of rules, or of files that a glob lists, is that of the file system they were
/// recorded on. The presets sort by path, so that the same files give the same bytes.
const ORDER_OF_THE_FILE_SYSTEM: [(&str, &[&str]); 3] =
    [("cc-rules", &["claude-rule "]), ("cc-shapes", &["rule "]), ("kilo-rules", &["cursor "])];

/// Marks in a run whose file the sample repositories do not have.
const NOT_IN_THE_SAMPLES: [(&str, &str); 1] = [("cline-rules", "~/Documents/Cline/Rules")];

/// Neighbors that begin with a prefix, sorted.
fn sorted_within(mut marks: Vec<String>, prefixes: &[&str]) -> Vec<String> {
    for prefix in prefixes {
        marks.chunk_by_mut(|one, next| one.starts_with(prefix) && next.starts_with(prefix)).for_each(<[_]>::sort);
    }
    marks
}

#[test]
fn recorded_runs_are_reproduced_in_order() {
    let expected: Value = serde_json::from_slice(&fs::read(root().join("expected.json")).unwrap()).unwrap();
    let runs = expected.as_object().unwrap();
    assert_eq!(runs.len(), 34);
    let mut wrong = Vec::new();
    for (run, recorded) in runs {
        let steps = recorded["steps"].as_array().unwrap();
        let result = load(&request(run, steps));
        let prefixes = ORDER_OF_THE_FILE_SYSTEM.iter().find(|(name, _)| name == run).map_or(&[][..], |(_, all)| all);
        let absent = |mark: &String| NOT_IN_THE_SAMPLES.contains(&(run.as_str(), mark.as_str()));
        for (step, found) in steps.iter().zip(marks(&result, steps.len())) {
            let wanted = step["loaded"].as_array().unwrap().iter().map(|mark| mark.as_str().unwrap().to_owned());
            let wanted = sorted_within(wanted.filter(|mark| !absent(mark)).collect(), prefixes);
            let found = sorted_within(found, prefixes);
            if wanted != found {
                wrong.push(format!("{run} at {}:\n  recorded {wanted:?}\n  loaded   {found:?}", step["at"]));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn an_invalid_request_names_its_error() {
    let error = |request: Value| call("planAgentFiles", &request).unwrap_err();
    assert_eq!(error(json!({ "agent": "claude", "cwd": "/a" })).code(), Code::UnknownValue);
    assert_eq!(error(json!({ "agent": "codex", "cwd": "a" })).code(), Code::InvalidInput);
    let unknown = load(&json!({ "agent": "codex", "cwd": "/a", "files": [], "maxToken": 1 }));
    assert_eq!(unknown["diagnostics"][0]["code"], "unknown_option");
    let variant = error(json!({ "agent": "codex", "cwd": "/a", "variant": "x" }));
    assert_eq!(variant.message(), "unknown variant `x`; omit it");
}

/// Bytes do not outlive the request that brought them, so a state keeps them as text.
#[test]
fn a_state_keeps_bytes() {
    let plan = call("planAgentFiles", &json!({ "agent": "codex", "cwd": "/r" })).unwrap();
    let state = plan["state"].clone();
    let finish = CALLS.iter().find(|call| call.name == "finishAgentFiles").unwrap();
    let files = json!([{ "path": "/.git", "missing": true }, { "path": "/r/.git", "missing": true },
        { "path": "/r/AGENTS.override.md", "content": { "\0bytes": 0 } }, { "path": "/r/AGENTS.md", "content": [255] }]);
    let request = json!({ "state": state, "files": files }).to_string();
    let answer = finish.answer(&mut (), request.as_bytes(), &[b"bytes".to_vec()], &CallContext::default()).unwrap();
    let kept: Value = serde_json::from_slice(&answer.to_json()).unwrap();
    assert_eq!(kept["state"]["files"][2]["content"], "bytes");
    assert_eq!(kept["state"]["files"][3]["content"], json!([255]));
}

/// The request that a load keeps has no files, so contents as bytes do not concern it.
#[test]
fn files_of_a_request_are_bytes() {
    let plan = CALLS.iter().find(|call| call.name == "planAgentFiles").unwrap();
    let request = json!({ "agent": "codex", "cwd": "/r", "diagnostics": [],
        "files": [{ "path": "/r/AGENTS.md", "content": { "\0bytes": 0 } }] });
    let answer = plan.answer(&mut (), request.to_string().as_bytes(), &[b"bytes".to_vec()], &CallContext::default());
    let chain: Value = serde_json::from_slice(&answer.unwrap().to_json()).unwrap();
    assert_eq!(chain["result"]["pieces"][0]["text"], "bytes");
    assert_eq!(chain["result"]["request"], json!({ "agent": "codex", "cwd": "/r" }));
}

fn outcome<'r>(result: &'r Value, path: &str) -> &'r str {
    let decisions = result["decisions"].as_array().unwrap();
    decisions
        .iter()
        .find(|decision| decision["path"] == path)
        .map_or("none", |found| found["outcome"].as_str().unwrap())
}

#[test]
fn text_that_an_agent_loses_is_reported() {
    let file = |path: &str, content: &str| json!({ "path": path, "content": content });
    let files = json!([file("/r/.git/HEAD", ""), file("/r/CLAUDE.md", "AGENTS.md\n"), file("/r/AGENTS.md", "Text")]);
    let link = load(&json!({ "agent": "claude-code", "cwd": "/r", "files": files }));
    assert_eq!(link["pieces"], json!([]));
    assert_eq!((outcome(&link, "/r/CLAUDE.md"), outcome(&link, "/r/AGENTS.md")), ("linkText", "shadowed"));
    assert_eq!(link["losses"][0], json!({ "path": "/r/CLAUDE.md", "reason": "linkText", "bytes": 10 }));

    // The cap cuts inside a character, and takes the nearest file.
    let files = json!([
        file("/r/.git/HEAD", ""),
        file("/r/AGENTS.md", "ééé"),
        file("/r/a/AGENTS.md", "near"),
        file("/r/b/AGENTS.md", "near"),
        file("/r/b/AGENTS.override.md", " ")
    ]);
    let capped =
        |cwd: &str| load(&json!({ "agent": "codex", "cwd": cwd, "files": files, "preset": { "capBytes": 3 } }));
    let cut = capped("/r/a");
    assert_eq!((&cut["pieces"][0]["text"], &cut["pieces"][0]["truncated"]), (&json!("é\u{fffd}"), &json!(true)));
    let lost: Vec<(&str, u64)> = cut["losses"]
        .as_array()
        .unwrap()
        .iter()
        .map(|loss| (loss["path"].as_str().unwrap(), loss["bytes"].as_u64().unwrap()))
        .collect();
    assert_eq!(lost, [("/r/AGENTS.md", 3), ("/r/a/AGENTS.md", 4)]);
    assert_eq!(outcome(&cut, "/r/a/AGENTS.md"), "capped");
    assert_eq!(outcome(&capped("/r/b"), "/r/b/AGENTS.md"), "shadowed");
}
