//! Requests as JSON: what is refused before anything is done with them (SPEC §0.8, §7).

use ctxweave::operators::wire::{begin_json, explain_task_json};
use ctxweave::tokens::Tokenizers;
use ctxweave::{Code, Error};
use serde_json::{Value, json};

fn begin(request: &Value) -> Result<Value, Error> {
    let result = begin_json(request.to_string().as_bytes(), &Tokenizers::default())?;
    Ok(serde_json::from_slice(&result).unwrap())
}

#[test]
fn every_text_counts_against_the_bound_on_input() {
    let text = "x".repeat(100);
    let outputs = |output: &str, notes: &str| json!([{ "step": "s", "output": output, "notes": notes }]);
    let task = json!({ "type": "atomic" });
    for request in [
        json!({ "task": task, "taskText": text }),
        json!({ "task": task, "parentContext": text }),
        json!({ "task": task, "previousOutputs": outputs(&text, "") }),
        json!({ "task": task, "previousOutputs": outputs("", &text) }),
    ] {
        for (bound, fits) in [(100, true), (99, false)] {
            let mut request = request.clone();
            request["limits"] = json!({ "inputBytes": bound });
            match begin(&request) {
                Ok(_) => assert!(fits, "{request}"),
                Err(error) => {
                    assert!(!fits, "{error}: {request}");
                    assert_eq!(error.code(), Code::LimitExceeded);
                    assert_eq!(error.details()["limit"], "inputBytes");
                }
            }
        }
    }
}

/// Not only once the memory system has answered, and somebody has paid for that.
#[test]
fn sizes_that_make_no_sense_are_refused_before_the_memory_system_is_asked() {
    let request = json!({ "task": { "type": "atomic" }, "taskText": "t" });
    assert_eq!(begin(&request).unwrap()["status"], "match");
    for (field, value, code) in [
        ("tokenizer", json!("nonesuch"), Code::UnknownValue),
        ("maxTokens", json!(-1), Code::InvalidInput),
        ("warnTokens", json!(0.5), Code::InvalidInput),
    ] {
        let mut request = request.clone();
        request[field] = value;
        assert_eq!(begin(&request).unwrap_err().code(), code, "{request}");
    }
}

/// As deep as a template can be, and no deeper: an object from JavaScript has no bound of its own.
#[test]
fn tasks_within_tasks_are_bounded() {
    let nested = |depth: usize| {
        let (open, close) = (r#"{"type":"reduce","innerTask":"#.repeat(depth - 1), "}".repeat(depth - 1));
        explain_task_json(format!(r#"{open}{{"type":"atomic"}}{close}"#).as_bytes())
    };
    assert!(nested(100).is_ok());
    let error = nested(101).unwrap_err();
    assert_eq!(error.code(), Code::LimitExceeded, "{error}");
    let steps = |depth: usize| {
        let (open, close) = (r#"{"type":"sequential","steps":["#.repeat(depth - 1), "]}".repeat(depth - 1));
        explain_task_json(format!(r#"{open}{{"type":"atomic"}}{close}"#).as_bytes())
    };
    assert!(steps(50).is_ok());
    assert_eq!(steps(101).unwrap_err().code(), Code::LimitExceeded);
}
