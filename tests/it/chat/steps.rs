//! What `minTokensFreed` and `step` do in fits that continue: they apply to a step as a whole.

use serde_json::{Value, json};

use super::fit;

/// A run of calls whose results and arguments have so many words.
fn run(steps: usize, result: usize, input: usize) -> Value {
    let mut messages = vec![json!({ "role": "user", "content": "Go." })];
    for at in 0..steps {
        let id = format!("c{at}");
        let arguments = json!({ "text": "word ".repeat(input) }).to_string();
        let call = json!({ "id": id, "type": "function", "function": { "name": "f", "arguments": arguments } });
        messages.push(json!({ "role": "assistant", "content": null, "tool_calls": [call] }));
        messages.push(json!({ "role": "tool", "tool_call_id": id, "content": "word ".repeat(result) }));
    }
    messages.push(json!({ "role": "assistant", "content": "Done." }));
    json!(messages)
}

fn total(report: &Value) -> u64 {
    report["tokens"]["total"].as_u64().unwrap()
}

/// Each of two edits frees less than `minTokensFreed`; together they free more.
#[test]
fn the_edits_of_a_step_free_the_least_together() {
    let messages = run(8, 40, 40);
    let whole = total(&fit(&messages, &json!({ "maxTokens": 900_000, "edits": false })).unwrap().report);
    let edits = json!({ "toolResults": { "keepLast": 1 }, "toolInputs": { "keepLast": 1 }, "minTokensFreed": 400 });
    let options = |more: Value| {
        let mut options = json!({ "maxTokens": whole - 50, "edits": edits, "fill": "off", "protect": [] });
        options.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        options
    };
    let step = fit(&messages, &options(json!({ "previous": null }))).unwrap();
    let made: Vec<&Value> = step.report["edits"].as_array().unwrap().iter().map(|edit| &edit["edit"]).collect();
    assert_eq!(made, ["toolResults", "toolInputs"]);
    let freed: u64 = step.report["edits"].as_array().unwrap().iter().map(|edit| edit["tokens"].as_u64().unwrap()).sum();
    assert!(freed >= 400 && step.messages.len() == messages.as_array().unwrap().len(), "{freed}");
    // A single fit asks it of each edit.
    let single = fit(&messages, &options(json!({}))).unwrap();
    assert!(single.report.get("edits").is_none());
    // A step that would free too little by edits cuts.
    let mut small = options(json!({ "previous": null }));
    small["edits"] = json!({ "toolResults": { "keepLast": 7 }, "minTokensFreed": 400 });
    small["maxTokens"] = json!(whole - 30);
    let cut = fit(&messages, &small).unwrap();
    assert!(cut.report.get("edits").is_none() && whole - total(&cut.report) >= 200, "{}", cut.report);
}

/// Edits that free too little are not made either where a cut is needed after them.
#[test]
fn edits_that_free_too_little_leave_it_to_the_cut() {
    let messages = run(8, 40, 4);
    let edits = json!({ "toolResults": { "keepLast": 6 }, "minTokensFreed": 400 });
    let options = json!({ "maxTokens": 300, "edits": edits, "fill": "off", "protect": [], "previous": null });
    let fitted = fit(&messages, &options).unwrap();
    assert!(fitted.report.get("edits").is_none(), "{}", fitted.report);
    assert!(total(&fitted.report) <= 300 && fitted.messages.len() < messages.as_array().unwrap().len());
}

/// `step` rounds what edits and cut free together.
#[test]
fn a_step_frees_a_multiple() {
    let messages = run(20, 40, 4);
    let whole = total(&fit(&messages, &json!({ "maxTokens": 900_000, "edits": false })).unwrap().report);
    let left = |step: u64| {
        let edits = json!({ "toolResults": { "keepLast": 19 }, "step": step });
        let options = json!({ "maxTokens": whole - 100, "cutTo": 0.9, "previous": null, "edits": edits, "fill": "off", "protect": [] });
        total(&fit(&messages, &options).unwrap().report)
    };
    let target = (whole - 100) * 9 / 10;
    assert!(left(0) <= target && left(0) + 120 > target, "{} of {target}", left(0));
    let rounded = whole - (whole - target).next_multiple_of(500);
    assert!(left(500) <= rounded && left(500) + 120 > rounded, "{} of {rounded}", left(500));
}

/// The arguments of the protected call of a plan tool are the plan.
#[test]
fn cleared_arguments_are_not_those_of_the_plan() {
    let mut messages = run(8, 40, 40);
    messages[3]["tool_calls"][0]["function"]["name"] = json!("update_plan");
    let edits = json!({ "when": "always", "toolInputs": { "keepLast": 1 } });
    let inputs = |protect_tools: Value| {
        let options = json!({ "maxTokens": 900_000, "edits": edits, "protectTools": protect_tools });
        let fitted = fit(&messages, &options).unwrap().messages;
        let arguments = fitted.into_iter().map(|message| message["tool_calls"][0]["function"]["arguments"].clone());
        arguments.filter_map(|arguments| arguments.as_str().map(|text| text == "{}")).collect::<Vec<_>>()
    };
    let all_but_last = [true, true, true, true, true, true, true, false];
    assert_eq!(inputs(json!([])), all_but_last);
    let mut all_but_the_plan = all_but_last;
    all_but_the_plan[1] = false;
    assert_eq!(inputs(json!(["update_plan"])), all_but_the_plan);
}
