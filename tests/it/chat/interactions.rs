//! Gemini Interactions: steps, their thoughts and calls, and what the provider has stored.

use ctxweave::call::CallContext;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::properties::turns;
use super::written::{FORMATS, Turn, write};
use super::{count, fit};
use crate::bodies::rules::broken_chat;
use crate::calls::call;
use crate::generate::cases;

fn said(kind: &str, text: &str) -> Value {
    json!({ "type": kind, "content": [{ "type": "text", "text": text }] })
}

fn thought(signature: &str) -> Value {
    json!({ "type": "thought", "signature": signature, "summary": [{ "type": "text", "text": "I look it up first." }] })
}

fn called(id: &str) -> Value {
    json!({ "type": "function_call", "id": id, "name": "look", "arguments": { "at": format!("a long argument of {id}") } })
}

fn result(id: &str) -> Value {
    json!({ "type": "function_result", "call_id": id, "name": "look", "result": format!("what was found for {id} ").repeat(9) })
}

/// Two turns: parallel calls after a thought, another call, an answer; then a question.
fn chat() -> Vec<Value> {
    vec![
        said("user_input", "Look."),
        thought("s1"),
        called("a"),
        called("b"),
        result("a"),
        result("b"),
        thought("s2"),
        called("c"),
        result("c"),
        said("model_output", "Found."),
        said("user_input", "And now?"),
        thought("s3"),
        called("d"),
        result("d"),
        said("model_output", "Found that, too."),
        said("user_input", "Thanks."),
    ]
}

fn thoughts(steps: &[Value]) -> Vec<&Value> {
    steps.iter().filter(|step| step["type"] == "thought").collect()
}

fn ids<'s>(steps: &'s [Value], kind: &str, field: &str) -> Vec<&'s str> {
    steps.iter().filter(|step| step["type"] == kind).map(|step| step[field].as_str().unwrap()).collect()
}

#[test]
fn steps_and_their_container_are_found_by_shape() {
    let format =
        |chat: &Value| fit(chat, &json!({ "maxTokens": 90_000 })).map(|it| it.report["format"].clone()).unwrap();
    let kinds = [
        said("user_input", "a"),
        said("model_output", "a"),
        json!({ "type": "thought", "signature": "s" }),
        json!({ "type": "function_call", "id": "c", "name": "f", "arguments": {} }),
        json!({ "type": "google_search_call", "id": "c", "arguments": {} }),
        json!({ "type": "url_context_result", "call_id": "c", "result": [] }),
        json!({ "type": "mcp_server_tool_result", "call_id": "c", "result": "r" }),
    ];
    for step in kinds {
        assert_eq!(format(&json!([step])), "gemini-interactions", "{step}");
    }
    assert_eq!(format(&json!({ "model": "gemini-3-flash", "input": chat() })), "gemini-interactions");
    // Responses have their calls by `call_id`.
    let item = json!({ "type": "function_call", "id": "fc_1", "call_id": "c", "name": "f", "arguments": "{}" });
    assert_eq!(format(&json!({ "model": "gpt-5", "instructions": "Be brief.", "input": [item] })), "openai-responses");
    let mixed = json!([said("user_input", "a"), { "role": "user", "content": "b" }]);
    assert!(fit(&mixed, &json!({ "maxTokens": 90_000 })).is_err());
}

/// Fields next to `input` cost what they cost as options, and stay in the container.
#[test]
fn a_container_has_its_system_context_and_tools() {
    let tools = json!([{ "type": "function", "name": "look", "parameters": { "type": "object" } }]);
    let container = json!({ "agent": "a", "system_instruction": "Be brief.", "tools": tools, "input": chat() });
    let of = |chat: &Value, options: Value| count(chat, &options, &CallContext::default()).unwrap();
    let options = json!({ "system": "Be brief.", "tools": tools });
    assert_eq!(of(&container, json!({})), of(&json!(chat()), options));
    let fitted = fit(&container, &json!({ "maxTokens": 200, "edits": false })).unwrap();
    assert!(fitted.report["truncated"] == true && fitted.messages.len() < chat().len());
    assert_eq!(broken_chat("gemini-interactions", &fitted.messages), Ok(()));
}

/// At every limit and by every strategy: the user first, calls with their results, and every thought that is left as it was, before
/// what followed from it.
#[test]
fn thoughts_go_back_as_they_were() {
    let chat = chat();
    for strategy in ["truncateMiddle", "rollingWindow", "keepStart"] {
        for edits in
            [json!(false), json!({ "toolResults": { "keepLast": 1 } }), json!({ "toolCalls": { "keepLast": 1 } })]
        {
            for limit in (90..700).step_by(13) {
                let options = json!({ "maxTokens": limit, "truncationStrategy": strategy, "edits": edits });
                let Ok(fitted) = fit(&json!(chat), &options) else { continue };
                let steps = &fitted.messages;
                assert_eq!(broken_chat("gemini-interactions", steps), Ok(()), "{options}: {steps:#?}");
                assert!(thoughts(steps).iter().all(|it| chat.contains(it)), "{options}: {steps:#?}");
                let is_followed = |two: &[Value]| {
                    two[0]["type"] != "thought"
                        || ["function_call", "model_output"].contains(&two[1]["type"].as_str().unwrap())
                };
                assert!(steps.windows(2).all(is_followed), "{options}: {steps:#?}");
                assert_ne!(steps.last().unwrap()["type"], "thought", "{options}: {steps:#?}");
            }
        }
    }
}

/// A thought that the model gave alone stays; one whose calls are removed goes with them.
#[test]
fn only_thoughts_without_their_calls_are_removed() {
    let mut chat = chat();
    chat.splice(1..1, [thought("alone"), said("user_input", "Go on.")]);
    assert_eq!(fit(&json!(chat), &json!({ "maxTokens": 90_000 })).unwrap().messages, chat);
    let edits = json!({ "when": "always", "toolCalls": { "keepLast": 0 } });
    let fitted = fit(&json!(chat), &json!({ "maxTokens": 90_000, "edits": edits })).unwrap();
    assert_eq!(ids(&fitted.messages, "function_call", "id"), Vec::<&str>::new());
    assert_eq!(ids(&fitted.messages, "thought", "signature"), ["alone"]);
    // The result of the last call is not read yet.
    let open = json!(chat[..11]);
    let fitted = fit(&open, &json!({ "maxTokens": 90_000, "edits": edits })).unwrap();
    assert_eq!(ids(&fitted.messages, "thought", "signature"), ["alone", "s2"]);
    // One of two parallel calls stays, and so does their thought.
    let edits = json!({ "when": "always", "toolCalls": { "keepLast": 1 } });
    let fitted = fit(&open, &json!({ "maxTokens": 90_000, "edits": edits })).unwrap();
    assert_eq!(ids(&fitted.messages, "function_call", "id"), ["b", "c"]);
    assert_eq!(ids(&fitted.messages, "thought", "signature"), ["alone", "s1", "s2"]);
}

/// The signature of a thought may be of the arguments of the call after it.
#[test]
fn arguments_after_a_thought_are_not_cleared() {
    let edits = json!({ "when": "always", "toolInputs": { "keepLast": 0 } });
    let fitted = fit(&json!(chat()), &json!({ "maxTokens": 90_000, "edits": edits })).unwrap();
    let cleared = fitted.messages.iter().filter(|step| step["arguments"] == json!({}));
    assert_eq!(cleared.map(|step| step["id"].as_str().unwrap()).collect::<Vec<_>>(), ["b"]);
}

/// With `previous_interaction_id` the provider has the calls of the first results.
#[test]
fn results_of_stored_calls_are_kept() {
    let rest = &chat()[4..];
    let dropped = fit(&json!({ "model": "gemini-3-flash", "input": rest }), &json!({ "maxTokens": 90_000 })).unwrap();
    assert!(!ids(&dropped.messages, "function_result", "call_id").contains(&"a"));
    let stored = json!({ "model": "gemini-3-flash", "previous_interaction_id": "v1_", "input": rest });
    let kept = fit(&stored, &json!({ "maxTokens": 90_000 })).unwrap();
    assert_eq!(kept.messages, rest);
    let target = json!({ "provider": "gemini-interactions", "model": "m", "previous_interaction_id": "v1_" });
    let kept = fit(&json!(rest), &json!({ "maxTokens": 90_000, "target": target })).unwrap();
    assert_eq!(kept.messages, rest);
    let response = json!({ "type": "function_call_output", "call_id": "c", "output": "r" });
    let stored = json!({ "model": "gpt-5", "previous_response_id": "r", "input": [response] });
    assert_eq!(fit(&stored, &json!({ "maxTokens": 90_000 })).unwrap().messages.len(), 1);
}

/// Steps of tools that the vendor runs stay with each other and are never changed; one without the other is repaired.
#[test]
fn steps_of_the_vendors_tools_stay_together() {
    let search = |id: &str| {
        [
            json!({ "type": "google_search_call", "id": id, "arguments": { "queries": ["a long query about the sea"] } }),
            json!({ "type": "google_search_result", "call_id": id, "result": [{ "search_suggestions": "sea ".repeat(40) }], "signature": "s" }),
        ]
    };
    let mut chat = vec![said("user_input", "Search.")];
    for id in ["a", "b", "c", "d", "e"] {
        chat.push(thought(id));
        chat.extend(search(id));
        chat.push(said("model_output", "The sea is deep."));
    }
    chat.push(said("user_input", "Thanks."));
    for limit in (60..600).step_by(17) {
        let Ok(fitted) = fit(&json!(chat), &json!({ "maxTokens": limit })) else { continue };
        let steps = &fitted.messages;
        let (calls, results) = (ids(steps, "google_search_call", "id"), ids(steps, "google_search_result", "call_id"));
        assert_eq!(calls, results, "{limit}");
        let kept = steps.iter().filter(|step| step["type"] != "user_input" && step["type"] != "model_output");
        assert!(kept.into_iter().all(|step| chat.contains(step)), "{limit}: {steps:#?}");
    }
    chat.remove(2);
    let fitted = fit(&json!(chat), &json!({ "maxTokens": 90_000 })).unwrap();
    assert!(!ids(&fitted.messages, "google_search_result", "call_id").contains(&"a"));
}

/// Older clients have results in the user's step.
#[test]
fn results_in_a_users_step_are_results() {
    let mut chat = chat();
    let results: Vec<Value> = chat.drain(4..6).collect();
    chat.insert(4, json!({ "type": "user_input", "content": results }));
    let edits = json!({ "when": "always", "toolResults": { "keepLast": 0 } });
    let fitted = fit(&json!(chat), &json!({ "maxTokens": 90_000, "edits": edits })).unwrap();
    let cleared = fitted.messages[4]["content"].as_array().unwrap();
    assert!(cleared.iter().all(|result| result["result"] == "[tool result cleared]"), "{cleared:?}");
}

/// Contents cost what they cost as contents of Gemini's; only turns are counted differently, since here each step is one.
#[test]
fn contents_cost_what_they_cost_in_geminis_other_chats() {
    let tokens = |chat: Value| count(&chat, &json!({}), &CallContext::default()).unwrap();
    let step = |step: Value| tokens(json!([step]));
    let content = |role: &str, parts: Value| tokens(json!([{ "role": role, "parts": parts }]));
    let image = "iVBORw0KGgoAAAANSUhEUgAAAMgAAADICAIAAAA=";
    let text = "Ein Schiff, 船, a ship; and so on.";
    for (kind, role) in [("user_input", "user"), ("model_output", "model")] {
        assert_eq!(step(said(kind, text)), content(role, json!([{ "text": text }])));
        let shown = json!({ "type": kind, "content": [{ "type": "image", "mime_type": "image/png", "data": image }] });
        assert_eq!(step(shown), content(role, json!([{ "inlineData": { "mimeType": "image/png", "data": image } }])));
    }
    // A step costs 3 tokens, and a turn the word for its role as well.
    let role = |name: &str| {
        count(&json!([{ "role": name, "parts": [] }]), &json!({ "format": "gemini" }), &CallContext::default()).unwrap()
            - 6
    };
    let call = json!({ "type": "function_call", "id": "c", "name": "look", "arguments": { "at": text } });
    let part = json!({ "functionCall": { "name": "look", "args": { "at": text } } });
    assert_eq!(step(call) + role("model"), content("model", json!([part])));
    let thought = json!({ "type": "thought", "signature": "s", "summary": [{ "type": "text", "text": text }] });
    assert_eq!(
        step(thought) + role("model"),
        content("model", json!([{ "text": text, "thought": true, "thoughtSignature": "s" }]))
    );
    let result = json!({ "type": "function_result", "call_id": "c", "name": "look", "result": text });
    let part = json!({ "functionResponse": { "name": "look", "response": { "output": text } } });
    assert_eq!(step(result) + role("user"), content("user", json!([part])));
}

/// The cost of the parts of all messages, without what messages cost by themselves.
fn cost_of_parts(chat: &[Value]) -> u64 {
    let measured = call("measureMessages", &[json!(chat), json!({})], None).unwrap();
    let messages = measured["messages"].as_array().unwrap().iter();
    messages.flat_map(|message| message["parts"].as_array().unwrap()).map(|part| part["tokens"].as_u64().unwrap()).sum()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(40)))]

    /// The same for whole conversations: their parts cost the same in both of Gemini's formats.
    #[test]
    fn conversations_cost_what_they_cost_in_geminis_other_chats(turns in turns()) {
        let turns: Vec<Turn> = turns.into_iter().filter(|turn| !matches!(turn, Turn::System(_))).collect();
        let (steps, contents) = (write("gemini-interactions", &turns), write("gemini", &turns));
        prop_assert_eq!(cost_of_parts(&steps), cost_of_parts(&contents), "{:?}", steps);
    }
}

/// Content that steps cannot hold is reported, and the rest is preserved.
#[test]
fn conversions_report_what_has_no_place() {
    let mut chat = chat();
    chat[9]["content"][0]["annotations"] = json!([{ "type": "url_citation", "url": "https://a.example" }]);
    chat.insert(9, json!({ "type": "code_execution_call", "id": "x", "arguments": { "code": "print(1)" } }));
    chat.insert(10, json!({ "type": "code_execution_result", "call_id": "x", "result": "1" }));
    for to in FORMATS.iter().filter(|to| **to != "gemini-interactions") {
        let there = call("convertMessages", &[json!(chat), json!({ "to": to })], None).unwrap();
        let found = there["diagnostics"].to_string();
        assert!(found.contains("annotations"), "{to}: {found}");
        assert_eq!(found.contains("a call of a server tool"), *to != "generic", "{to}: {found}");
        assert!(there["messages"].to_string().contains("print(1)"), "{to}: {there}");
    }
    let foreign = json!(write("openai", &[]));
    let there =
        call("convertMessages", &[foreign, json!({ "from": "openai", "to": "gemini-interactions" })], None).unwrap();
    assert_eq!(there["messages"], json!([]));
    let unsigned =
        json!([{ "role": "user", "content": "q" }, { "role": "assistant", "content": "a", "reasoning_content": "hm" }]);
    let there = call("convertMessages", &[unsigned, json!({ "to": "gemini-interactions" })], None).unwrap();
    assert_eq!(there["messages"], json!([said("user_input", "q"), said("model_output", "a")]));
    assert_eq!(there["diagnostics"][0]["code"], "body_reasoning_left_out");
}
