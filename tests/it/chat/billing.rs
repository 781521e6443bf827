//! What a provider does not bill costs nothing.

use ctxweave::call::CallContext;
use serde_json::{Value, json};

use super::{count, fit};

fn tokens(messages: &Value, options: Value) -> u64 {
    let counted = count(messages, &options, &CallContext::default());
    let mut options = options;
    let target = options.as_object_mut().unwrap().shift_remove("target");
    options["maxTokens"] = json!(9_000_000);
    if let Some(target) = target {
        options["target"] = target;
        return fit(messages, &options).unwrap().report["tokens"]["total"].as_u64().unwrap();
    }
    let fitted = fit(messages, &options).unwrap();
    let total = fitted.report["tokens"]["total"].as_u64().unwrap();
    assert_eq!(counted.unwrap(), total);
    total
}

/// Two turns with sealed reasoning, the second of which is open.
fn turns() -> Value {
    let thought =
        |id: &str| json!({ "type": "reasoning", "id": id, "summary": [], "encrypted_content": "sealed".repeat(500) });
    let said = |text: &str| json!({ "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": text }] });
    json!([
        { "role": "user", "content": "One?" },
        thought("rs_1"),
        said("Yes."),
        { "role": "user", "content": "Two?" },
        thought("rs_2"),
        { "type": "function_call", "call_id": "c", "name": "look", "arguments": "{}" },
        { "type": "function_call_output", "call_id": "c", "output": "found" },
    ])
}

fn without(messages: &Value, gone: &[usize]) -> Value {
    let all = messages.as_array().unwrap().iter().enumerate();
    all.filter(|(at, _)| !gone.contains(at)).map(|(_, message)| message.clone()).collect()
}

#[test]
fn earlier_reasoning_costs_by_the_model_and_the_context() {
    let (all, tokenizer) = (turns(), "heuristic");
    let of = |model: &str, messages: &Value| tokens(messages, json!({ "model": model, "tokenizer": tokenizer }));
    // Before gpt-5.6 only the reasoning of the current turn is read.
    for model in ["gpt-5", "gpt-5.5", "o3"] {
        assert_eq!(of(model, &all), of(model, &without(&all, &[1])), "{model}");
        assert!(of(model, &all) > of(model, &without(&all, &[4])) + 500, "{model}");
    }
    for model in ["gpt-5.6", "gpt-5.6-mini", "gpt-6"] {
        assert!(of(model, &all) > of(model, &without(&all, &[1])) + 500, "{model}");
    }
    // Without a model everything may be billed.
    assert_eq!(tokens(&all, json!({})), of("gpt-5.6", &all));
    let in_context = |model: &str, context: &str| {
        let target = json!({ "provider": "openai-responses", "model": model, "reasoning": { "context": context } });
        tokens(&all, json!({ "tokenizer": tokenizer, "target": target }))
    };
    assert_eq!(in_context("gpt-5.6", "current_turn"), of("gpt-5", &all));
    assert_eq!(in_context("gpt-5", "all_turns"), of("gpt-5.6", &all));
    assert_eq!(in_context("gpt-5", "auto"), of("gpt-5", &all));
    assert_eq!(in_context("gpt-5.6", "auto"), of("gpt-5.6", &all));
}

#[test]
fn reasoning_that_costs_nothing_is_not_removed_for_its_tokens() {
    let mut all = turns();
    all[2]["content"][0]["text"] = json!("word ".repeat(400));
    let options = json!({ "model": "gpt-5", "tokenizer": "heuristic", "maxTokens": 900, "edits": { "reasoning": { "remove": "all" } } });
    let fitted = fit(&all, &options).unwrap();
    let rows = fitted.report["messages"].as_array().unwrap();
    assert_eq!(rows[1]["reason"].as_str().filter(|reason| *reason == "reasoningRemoved"), None);
}

#[test]
fn cleared_instructions_cost_nothing_and_stay_in_place() {
    let note = json!({ "role": "system", "content": "Mind the gap. ".repeat(50), "clear_at": "next_user_message" });
    let user = |text: &str| json!({ "role": "user", "content": text });
    let model = |text: &str| json!({ "role": "assistant", "content": text });
    let options = || json!({ "format": "anthropic" });
    let (one, two) = (json!([user("One?"), note]), json!([user("One?"), note, model("Yes."), user("Two?")]));
    assert!(tokens(&one, options()) > tokens(&json!([user("One?")]), options()) + 100);
    assert_eq!(tokens(&two, options()), tokens(&json!([user("One?"), model("Yes."), user("Two?")]), options()));
    // A result alone is no message of the user's.
    let call = json!({ "role": "assistant", "content": [{ "type": "tool_use", "id": "c", "name": "f", "input": {} }] });
    let result = json!({ "role": "user", "content": [{ "type": "tool_result", "tool_use_id": "c", "content": "x" }] });
    let (with, bare) = (json!([user("One?"), note, call, result]), json!([user("One?"), call, result]));
    assert!(tokens(&with, options()) > tokens(&bare, options()) + 100);
    let mut kept = note.clone();
    kept.as_object_mut().unwrap().shift_remove("clear_at");
    assert!(
        tokens(&json!([user("One?"), kept, model("Yes."), user("Two?")]), options()) > tokens(&two, options()) + 100
    );
    // It goes with its neighbours, or stays between them.
    let mut long: Vec<Value> = Vec::new();
    for at in 0..30 {
        long.push(user(&format!("Question {at}? {}", "word ".repeat(40))));
        if at % 3 == 0 {
            long.push(note.clone());
        }
        long.push(model(&format!("Answer {at}. {}", "word ".repeat(40))));
    }
    long.push(user("So?"));
    for limit in (300..2_500).step_by(100) {
        let fitted = fit(&json!(long), &json!({ "format": "anthropic", "maxTokens": limit, "edits": false })).unwrap();
        for (at, from) in fitted.from.iter().enumerate() {
            if from.is_some_and(|from| long[from]["role"] == "system") {
                let neighbours = [at.wrapping_sub(1), at + 1].map(|at| fitted.messages[at]["role"].clone());
                assert_eq!(neighbours, ["user", "assistant"], "{limit}");
            }
        }
        let recount = count(&json!(fitted.messages), &options(), &CallContext::default()).unwrap();
        assert_eq!(fitted.report["tokens"]["total"], recount, "{limit}");
    }
}
