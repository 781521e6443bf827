//! Requests as JSON: which errors are detected up front, and their paths.

use std::rc::Rc;

use ctxweave::call::CallContext;
use ctxweave::operators::CALLS;
use ctxweave::tokens::Counter;
use ctxweave::{Code, Error};
use serde_json::{Value, json};

fn call_text(name: &str, request: &str) -> Result<Value, Error> {
    let call = CALLS.iter().find(|call| call.name == name).unwrap();
    let answer = call.answer(&mut (), request.as_bytes(), &[], &CallContext::default())?;
    Ok(serde_json::from_slice(&answer.to_json()).unwrap())
}

fn call(name: &str, request: &Value) -> Result<Value, Error> {
    call_text(name, &request.to_string())
}

fn begin(request: &Value) -> Result<Value, Error> {
    call("beginContextAssembly", request)
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

/// A custom counter, which is not part of the state and is passed to the second step again.
#[test]
fn a_custom_counter_counts_a_context() {
    #[derive(Debug)]
    struct Letters;
    impl Counter for Letters {
        fn name(&self) -> &str {
            "letters"
        }
        fn count(&self, text: &str) -> u32 {
            text.len() as u32
        }
    }
    let host = CallContext { counter: Some(Rc::new(Letters)), ..CallContext::default() };
    let ask = |name: &str, request: &Value, host: &CallContext| {
        let call = CALLS.iter().find(|call| call.name == name).unwrap();
        let answer = call.answer(&mut (), request.to_string().as_bytes(), &[], host)?;
        Ok::<Value, Error>(serde_json::from_slice(&answer.to_json()).unwrap())
    };
    let task = json!({ "type": "atomic", "contextManagement": { "freshContext": "disabled" } });
    let request = json!({ "task": task, "parentContext": "abcde", "tokenizer": {} });
    assert_eq!(ask("beginContextAssembly", &request, &host).unwrap()["result"]["tokens"], 5);
    let request = json!({ "task": {}, "parentContext": "abcde", "tokenizer": {}, "maxTokens": 10 });
    let begun = ask("beginContextAssembly", &request, &host).unwrap();
    assert_eq!(begun["state"]["sizes"]["tokenizer"], json!({ "name": "letters" }));
    let finish = |answer: &str, host: &CallContext| {
        let answer = json!({ "context": answer, "matches": [] });
        let request = json!({ "state": begun["state"], "answer": answer, "options": { "tokenizer": {} } });
        ask("finishContextAssembly", &request, host)
    };
    assert_eq!(finish("xyz", &host).unwrap()["tokens"], 10);
    assert_eq!(finish("wxyz", &host).unwrap_err().details()["required"], 11);
    let error = finish("xyz", &CallContext::default()).unwrap_err();
    assert_eq!((error.code(), &error.details()["path"]), (Code::InvalidInput, &json!("state.sizes.tokenizer")));
}

/// Not only once the memory system has answered, and somebody has paid for that.
#[test]
fn sizes_that_make_no_sense_are_refused_before_the_memory_system_is_asked() {
    let request = json!({ "task": { "type": "atomic" }, "taskText": "t" });
    assert_eq!(begin(&request).unwrap()["status"], "match");
    for (field, value, code) in [
        ("tokenizer", json!("nonesuch"), Code::UnknownValue),
        ("tokenizer", json!({}), Code::InvalidInput),
        ("maxTokens", json!(-1), Code::InvalidInput),
        ("warnTokens", json!(0.5), Code::InvalidInput),
    ] {
        let mut request = request.clone();
        request[field] = value;
        let error = begin(&request).unwrap_err();
        assert_eq!((error.code(), error.details()["path"].as_str()), (code, Some(field)), "{error}");
    }
}

/// As deep as a template can be, and no deeper: an object from JavaScript has no limit.
#[test]
fn tasks_within_tasks_are_bounded() {
    let nested = |depth: usize| {
        let (open, close) = (r#"{"type":"reduce","innerTask":"#.repeat(depth - 1), "}".repeat(depth - 1));
        call_text("explainTask", &format!(r#"{open}{{"type":"atomic"}}{close}"#))
    };
    assert!(nested(100).is_ok());
    let error = nested(101).unwrap_err();
    assert_eq!(error.code(), Code::LimitExceeded, "{error}");
    let steps = |depth: usize| {
        let (open, close) = (r#"{"type":"sequential","steps":["#.repeat(depth - 1), "]}".repeat(depth - 1));
        call_text("explainTask", &format!(r#"{open}{{"type":"atomic"}}{close}"#))
    };
    assert!(steps(100).is_ok());
    assert_eq!(steps(101).unwrap_err().code(), Code::LimitExceeded);
}

/// `path code` of every diagnostic.
fn found(diagnostics: &Value) -> Vec<String> {
    let said = |it: &Value| format!("{} {}", it["path"].as_str().unwrap(), it["code"].as_str().unwrap());
    diagnostics.as_array().unwrap().iter().map(said).collect()
}

#[test]
fn unknown_options_are_diagnostics_in_results_with_diagnostics() {
    let settings = json!({ "inheritcontext": "none", "freshContext": "disabled" });
    let mut request = json!({
        "task": { "contextManagement": settings, "note": "a task may hold more" },
        "headings": { "Task": "# Task" },
        "limits": { "inputbytes": 1 },
        "maxToken": 5,
    });
    let expected = [
        "maxToken unknown_option",
        "limits.inputbytes unknown_option",
        "task.contextManagement.inheritcontext unknown_option",
        "headings.Task unknown_option",
    ];
    assert_eq!(found(&begin(&request).unwrap()["result"]["diagnostics"]), expected);
    request["task"]["contextManagement"]["freshContext"] = json!("enabled");
    let begun = begin(&request).unwrap();
    assert_eq!(found(&begun["state"]["pending"]["diagnostics"]), expected);
    let answer = json!({ "context": "", "matches": [], "more": 1 });
    let finished = call("finishContextAssembly", &json!({ "state": begun["state"], "answer": answer })).unwrap();
    assert_eq!(found(&finished["diagnostics"]), expected);

    let parsed =
        call("parseTask", &json!({ "xml": "<task type='atomic'/>", "options": { "Mode": "strict" } })).unwrap();
    assert_eq!(found(&parsed["diagnostics"]), ["options.Mode unknown_option"]);
}

#[test]
fn unknown_options_are_errors_in_results_without_diagnostics() {
    let task = json!({ "type": "sequential", "steps": [{ "contextManagement": { "fresh": "disabled" } }] });
    for (name, request, path) in [
        ("explainTask", task.clone(), "steps[0].contextManagement.fresh"),
        ("startRun", json!({ "task": task }), "task.steps[0].contextManagement.fresh"),
        ("startRun", json!({ "task": { "type": "reduce" }, "input": [] }), "input"),
        ("sequentialFailure", json!({ "task": {}, "failedStep": "a", "totalSteps": 1, "step": "a" }), "step"),
        ("reduceFailure", json!({ "total": 1 }), "total"),
    ] {
        let error = call(name, &request).unwrap_err();
        assert_eq!((error.code(), error.details()["path"].as_str()), (Code::InvalidInput, Some(path)), "{error}");
    }
    // What a call gave may hold more when it comes back.
    let run = call("startRun", &json!({ "task": { "type": "reduce" } })).unwrap();
    let mut kept = run.clone();
    kept["savedAt"] = json!("today");
    assert_eq!(call("recordResult", &json!({ "run": kept, "result": { "context": "" } })).unwrap()["context"], "");
    assert_eq!(call("nextRequest", &kept).unwrap(), call("nextRequest", &run).unwrap());
}

#[test]
fn halves_of_surrogate_pairs_in_a_template_have_a_place() {
    let xml = r#""<task type=\"atomic\">\n \ufffd\\ud800 <description>\ud83d\ude00\ud800\udbff</description></task>""#;
    let parsed = call_text("parseTask", &format!(r#"{{"xml":{xml}}}"#)).unwrap();
    let first = &parsed["diagnostics"][0];
    assert_eq!((&first["code"], &first["path"]), (&json!("lone_surrogate_replaced"), &json!("xml")));
    // The first of the two, not the character U+FFFD before it nor what only looks like an escape.
    assert_eq!((&first["line"], &first["column"]), (&json!(2), &json!(25)));
    assert_eq!(parsed["task"]["description"], "\u{1F600}\u{FFFD}\u{FFFD}");
}

#[test]
fn errors_name_the_argument() {
    let run = json!({ "task": { "type": "sequential", "steps": [{}, { "role": "walker" }] } });
    let error = call("recordResult", &json!({ "run": run, "result": {} })).unwrap_err();
    assert_eq!((error.code(), &error.details()["path"]), (Code::UnknownValue, &json!("run.task.steps[1].role")));
    assert_eq!(error.details()["expected"], json!(["task", "step", "innerTask", "reductionTask"]));
    let error = call("recordResult", &json!({ "run": { "task": { "type": "map" } }, "result": {} })).unwrap_err();
    assert_eq!(error.details()["path"], "run.task.type");
    let run = json!({ "task": { "type": "sequential" } });
    for result in [json!({}), json!({ "output": "a", "context": "b" })] {
        let error = call("recordResult", &json!({ "run": run, "result": result })).unwrap_err();
        assert_eq!(error.message(), "`result` must have exactly one of `context`, `output` and `error`");
    }
}
