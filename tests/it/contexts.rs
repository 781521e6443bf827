//! What the model saw before an answer (docs/sessions.md, `contextAt`).

use ctxweave::Code;
use serde_json::{Value, json};

use crate::calls::call;
use crate::transcripts::lines;

const CLAUDE: &str = include_str!("../sessions/claude-code-2.1.332.jsonl");
const COMPACTED: &str = include_str!("../sessions/claude-code-2.1.332-compacted.jsonl");
const CODEX: &str = include_str!("../sessions/codex-0.169.0.jsonl");
const CODEX_COMPACTED: &str = include_str!("../sessions/codex-0.169.0-compacted.jsonl");

fn context(format: &str, file: &str, turn: Option<usize>) -> Value {
    call("contextAt", &[json!(format), json!({ "$text": file }), json!({ "turn": turn })], None).unwrap()
}

/// The text of all messages, with their roles.
fn said(context: &Value) -> Vec<String> {
    let messages = context["messages"].as_array().unwrap();
    messages.iter().map(|message| format!("{}: {}", message["role"].as_str().unwrap(), message["content"])).collect()
}

#[test]
fn requests_that_claude_code_recorded_are_the_context() {
    for (turn, count) in [(0, 1), (1, 3), (2, 5)] {
        let found = context("claude-code-v1", CLAUDE, Some(turn));
        assert_eq!((found["turn"].as_u64(), found["answers"].as_u64()), (Some(turn as u64), Some(3)));
        assert_eq!(found["recorded"], true, "{turn}");
        assert_eq!(found["diagnostics"], json!([]), "{turn}");
        let said = said(&found);
        assert_eq!(said.len(), count, "{turn}: {said:#?}");
        assert!(found["system"].as_str().unwrap().starts_with("You are a Claude agent"));
        assert!(said[0].contains("MARK[packages/api/CLAUDE.md]") && said[0].contains("hello"), "{}", said[0]);
        // What was loaded because of a file that was read is in the result of that call.
        assert_eq!(said.iter().any(|text| text.contains("MARK[packages/api/src/CLAUDE.md]")), turn > 0);
    }
}

/// Without the recorded requests the context is put together from the records, with what was added for the model.
#[test]
fn contexts_are_put_together_from_records() {
    let is_request = |line: &&str| line.contains("\"type\":\"api-request");
    let file: String = CLAUDE.lines().filter(|line| !is_request(line)).flat_map(|line| [line, "\n"]).collect();
    for (turn, marks) in [(0, 1), (1, 3), (2, 3)] {
        let found = context("claude-code-v1", &file, Some(turn));
        assert_eq!(found["recorded"], false);
        let text = said(&found).join("\n");
        assert!(found["system"].as_str().unwrap().contains("characters of the tool's own text"));
        assert!(text.contains("hello") && text.contains("MARK[packages/api/CLAUDE.md]"), "{text}");
        assert_eq!(text.contains("MARK[packages/api/src/CLAUDE.md]"), marks > 1, "{turn}: {text}");
        assert_eq!(text.matches("toolu_call_1").count() > 0, turn > 0, "{text}");
    }
    // The next request begins with the summary of the compaction, and what it preserves.
    let next = context("claude-code-v1", COMPACTED, None);
    assert_eq!((next["turn"].as_u64(), next["answers"].as_u64()), (Some(3), Some(3)));
    let said = said(&next);
    assert!(said[0].contains("[1038 characters of the tool's own text]"), "{said:#?}");
    assert!(!said.iter().any(|text| text.contains("toolu_call_1")), "{said:#?}");
    // An answer before the compaction saw what was before it.
    assert_eq!(
        context("claude-code-v1", COMPACTED, Some(1))["messages"],
        context("claude-code-v1", CLAUDE, Some(1))["messages"]
    );
}

#[test]
fn contexts_of_codex_begin_with_its_instructions() {
    for (turn, count) in [(Some(0), 1), (Some(1), 3), (None, 4)] {
        let found = context("codex-v1", CODEX, turn);
        assert_eq!(found["answers"], 2);
        assert_eq!(said(&found).len(), count, "{:#?}", said(&found));
        assert!(found["system"].as_str().unwrap().contains("characters of the tool's own text"));
        assert!(said(&found)[0].contains("MARK[packages/AGENTS.md]"));
    }
    let all = context("codex-v1", CODEX_COMPACTED, None);
    let last = all["answers"].as_u64().unwrap() as usize - 1;
    let (first, last) =
        (context("codex-v1", CODEX_COMPACTED, Some(0)), context("codex-v1", CODEX_COMPACTED, Some(last)));
    assert_ne!(first["messages"], last["messages"]);
    assert!(said(&all).len() > said(&last).len());
}

#[test]
fn contexts_have_bounds_and_formats() {
    let refused = |format: &str, turn: u32| {
        let arguments = [json!(format), json!({ "$text": CODEX }), json!({ "turn": turn })];
        call("contextAt", &arguments, None).unwrap_err().code()
    };
    assert_eq!(refused("codex-v1", 3), Code::InvalidInput);
    assert_eq!(refused("gemini-v1", 0), Code::UnknownValue);
    assert_eq!(refused("nothing", 0), Code::UnknownValue);
    let empty = context("claude-code-v1", "", None);
    assert_eq!((&empty["answers"], &empty["messages"]), (&json!(0), &json!([])));
    let one = lines(&[
        json!({ "type": "user", "uuid": "a", "parentUuid": null, "message": { "role": "user", "content": "hi" } }),
    ]);
    let one = context("claude-code-v1", &String::from_utf8(one).unwrap(), None);
    assert_eq!(said(&one), ["user: \"hi\""]);
}
