//! Preserved thinking (docs/agents.md): signed blocks after a change are invalid, and are left out.

use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

use super::properties::{edits, strategy, text};
use super::{Fitted, count, fit, plain};
use ctxweave::call::CallContext;

/// A signed block as the vendor sees it.
#[derive(Debug)]
struct Signed {
    signature: String,
    /// Everything before its message, without thinking.
    prefix: Vec<Value>,
    /// The signatures before it.
    chain: Vec<String>,
}

fn is_thinking(block: &Value) -> bool {
    block["type"] == "thinking" || block["type"] == "redacted_thinking"
}

/// The signed blocks of a request, in their order.
fn signed(messages: &[Value]) -> Vec<Signed> {
    let (mut found, mut prefix, mut chain) = (Vec::new(), Vec::new(), Vec::new());
    for message in messages {
        let mut rest = message.clone();
        if let Some(blocks) = rest["content"].as_array_mut() {
            for block in blocks.iter().filter(|block| is_thinking(block)) {
                let signature = block.get("signature").or(block.get("data")).unwrap().as_str().unwrap().to_owned();
                found.push(Signed { signature: signature.clone(), prefix: prefix.clone(), chain: chain.clone() });
                chain.push(signature);
            }
            blocks.retain(|block| !is_thinking(block));
        }
        // A message of thinking alone is no part of a prefix.
        if rest["content"] != json!([]) {
            prefix.push(rest);
        }
    }
    found
}

/// The messages from the last signed compaction on: everything before it is ignored.
fn from_compaction(messages: &[Value]) -> &[Value] {
    let is = |block: &Value| block["type"] == "compaction" && block["signature"].is_string();
    let has = |message: &Value| message["content"].as_array().is_some_and(|blocks| blocks.iter().any(is));
    &messages[messages.iter().rposition(has).unwrap_or(0)..]
}

/// The signatures that the vendor rejects in the sent messages: all were valid in the original conversation. A block is valid if its prefix is
/// unchanged, and if of the thinking before it only the beginning is missing.
pub(super) fn refused(original: &[Value], sent: &[Value]) -> Vec<String> {
    let (whole, rest) = (signed(original), signed(from_compaction(original)));
    let is_valid = |block: &Signed, known: &[Signed]| {
        known
            .iter()
            .any(|it| it.signature == block.signature && it.prefix == block.prefix && it.chain.ends_with(&block.chain))
    };
    let sent = signed(sent);
    let invalid = sent.iter().filter(|block| !is_valid(block, &whole) && !is_valid(block, &rest));
    invalid.map(|block| block.signature.clone()).collect()
}

/// A conversation of so many steps of an agent, each with a signed thought, a call and its result.
pub(super) fn steps(count: usize) -> Vec<Value> {
    let mut messages = vec![json!({ "role": "user", "content": "Fix the failing tests. ".repeat(20) })];
    for step in 0..count {
        messages.push(json!({ "role": "assistant", "content": [
            { "type": "thinking", "thinking": format!("I should look at file {step}. ").repeat(8), "signature": format!("s{step}") },
            { "type": "tool_use", "id": format!("c{step}"), "name": "read", "input": { "path": format!("src/{step}.rs") } },
        ] }));
        messages.push(json!({ "role": "user", "content": [
            { "type": "tool_result", "tool_use_id": format!("c{step}"), "content": "line of code; ".repeat(60) },
        ] }));
    }
    messages
}

fn reported(fitted: &Fitted) -> Vec<&Value> {
    let found = fitted.report["diagnostics"].as_array().unwrap().iter();
    found.filter(|found| found["code"] == "reasoning_prefix_changed").collect()
}

/// A run of an agent, fitted before each step: no request has an invalid block, and each removal is reported.
#[test]
fn sixty_steps_of_an_agent_send_no_invalid_thinking() {
    for strategy in ["truncateMiddle", "rollingWindow", "keepStart"] {
        for is_plain in [true, false] {
            let (mut invalid, mut lost) = (0, 0);
            for count in 1..=60 {
                let messages = steps(count);
                let options = json!({ "maxTokens": 6000, "truncationStrategy": strategy });
                let options = if is_plain { plain(options) } else { options };
                let fitted = fit(&json!(messages), &options).unwrap();
                invalid += refused(&messages, &fitted.messages).len();
                lost += reported(&fitted).len();
                if fitted.report["truncated"] == false {
                    assert_eq!(fitted.messages, messages);
                } else if strategy != "keepStart" && is_plain {
                    // What it frees is used, if more than the least had to go.
                    let gone =
                        fitted.report["messages"].as_array().unwrap().iter().filter(|row| row["fate"] == "cut").count();
                    let total = fitted.report["tokens"]["total"].as_u64().unwrap();
                    assert!(gone <= 2 || total > 5500, "{strategy} {count}: {total}");
                }
            }
            assert_eq!(invalid, 0, "{strategy}");
            assert_eq!(lost > 0, !is_plain || strategy != "keepStart", "{strategy}");
        }
    }
}

/// The model decides: the option, otherwise that of the container; without one manual thinking is that of older models.
#[test]
fn thinking_is_left_out_where_the_model_preserves_it() {
    let messages = steps(60);
    let kept = |chat: &Value, options: Value| {
        let mut all = json!({ "maxTokens": 6000, "format": "anthropic" });
        all.as_object_mut().unwrap().extend(options.as_object().unwrap().clone());
        let fitted = fit(chat, &all).unwrap();
        (signed(&fitted.messages).len(), refused(&messages, &fitted.messages).len(), reported(&fitted).len())
    };
    let list = json!(messages);
    for model in ["claude-opus-5-5", "claude-opus-6", "anthropic/claude-fable-7.1", "my-deployment"] {
        let (all, invalid, reports) = kept(&list, json!({ "model": model }));
        assert!(all > 0 && invalid == 0 && reports > 0, "{model}: {all} {invalid} {reports}");
    }
    for model in ["claude-opus-4-8", "claude-sonnet-5", "gpt-5"] {
        let (all, invalid, reports) = kept(&list, json!({ "model": model }));
        assert!(all > 5 && invalid > 5 && reports == 0, "{model}: {all} {invalid} {reports}");
    }
    let container = |more: Value| {
        let mut container = json!({ "messages": messages });
        container.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        kept(&container, json!({})).1 == 0
    };
    assert!(container(json!({ "model": "claude-opus-5-5" })));
    assert!(!container(json!({ "model": "claude-opus-4-5" })));
    assert!(container(json!({ "thinking": { "type": "adaptive" } })));
    assert!(!container(json!({ "thinking": { "type": "enabled", "budget_tokens": 2000 } })));
    // The option is the model that it is sent to.
    let chat = json!({ "messages": messages, "model": "claude-opus-4-5" });
    assert_eq!(kept(&chat, json!({ "model": "claude-opus-5-5" })).1, 0);
}

#[test]
fn thinking_may_stay_for_the_provider_to_drop() {
    let messages = steps(60);
    let fitted = |how: &str| {
        fit(&json!(messages), &json!({ "maxTokens": 6000, "preservedThinking": how, "model": "claude-opus-5-5" }))
            .unwrap()
    };
    let strip = fitted("strip");
    assert_eq!((strip.report.get("body"), strip.report.get("headers")), (None, None));
    let places: Vec<&str> = reported(&strip).iter().map(|found| found["path"].as_str().unwrap()).collect();
    assert!(places.contains(&"messages[119].content[0]"), "{places:?}");
    let row = &strip.report["messages"][119];
    assert_eq!((&row["fate"], &row["reason"]), (&json!("changed"), &json!("reasoningPrefixChanged")));
    let drop = fitted("dropBlock");
    assert!(reported(&drop).is_empty() && !refused(&messages, &drop.messages).is_empty());
    let binding = json!({ "type": "adaptive", "block_binding": { "prefix_mismatch_behavior": "drop_block" } });
    assert_eq!(drop.report["body"], json!({ "thinking": binding }));
    assert_eq!(drop.report["headers"], json!({ "anthropic-beta": "thinking-binding-controls-2026-08-01" }));
    let keep = fitted("keep");
    assert_eq!(reported(&keep).len(), refused(&messages, &keep.messages).len());
    assert!(reported(&keep).iter().all(|found| found["severity"] == "warning"));
    let error = fit(&json!(messages), &json!({ "maxTokens": 6000, "preservedThinking": "no" })).unwrap_err();
    assert_eq!(error.code(), ctxweave::Code::UnknownValue);
}

/// Reasoning that OpenAI sealed, as each format has it, after a question that is too long.
fn sealed() -> Vec<(&'static str, Vec<Value>)> {
    let long = "long question. ".repeat(400);
    let user = |text: &str| json!({ "role": "user", "content": text });
    let items = |seal: &Value| {
        let mut reasoning = json!({ "type": "reasoning", "id": "rs_1" });
        reasoning.as_object_mut().unwrap().extend(seal.as_object().unwrap().clone());
        if reasoning.get("summary").is_none() {
            reasoning["summary"] = json!([]);
        }
        let answer =
            json!({ "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": "yes" }] });
        vec![user("one"), answer.clone(), user(&long), reasoning, answer, user("two")]
    };
    let options = json!({ "openai": { "itemId": "rs_1", "reasoningEncryptedContent": "gAAAAAB" } });
    let thought = json!({ "type": "reasoning", "text": "", "providerOptions": options });
    let answer = json!({ "type": "text", "text": "yes" });
    vec![
        ("openai-responses", items(&json!({ "encrypted_content": "gAAAAAB" }))),
        ("openai-agents", items(&json!({ "content": [], "providerData": { "encryptedContent": "gAAAAAB" } }))),
        (
            "ai-sdk",
            vec![
                user("one"),
                json!({ "role": "assistant", "content": [answer] }),
                user(&long),
                json!({ "role": "assistant", "content": [thought, answer] }),
                user("two"),
            ],
        ),
    ]
}

/// The `thinking` of the target or the container stays next to the option that drops blocks.
#[test]
fn fields_that_drop_blocks_keep_the_thinking_of_the_request() {
    let messages = steps(60);
    let options = json!({ "maxTokens": 6000, "preservedThinking": "dropBlock", "model": "claude-opus-5-5" });
    let fields = |thinking: Value| {
        let chat = json!({ "messages": messages, "thinking": thinking });
        let of_container = fit(&chat, &options).unwrap();
        let mut with_target = options.clone();
        with_target["target"] = json!({ "thinking": thinking });
        let of_target = fit(&json!(messages), &with_target).unwrap();
        assert_eq!(of_container.report, of_target.report);
        (of_container.report["body"].clone(), of_container.report.get("headers").is_some())
    };
    let binding = json!({ "prefix_mismatch_behavior": "drop_block" });
    for kind in ["adaptive", "between_tools"] {
        let thinking = json!({ "type": kind, "display": "summarized" });
        let expected = json!({ "type": kind, "display": "summarized", "block_binding": binding });
        assert_eq!(fields(thinking), (json!({ "thinking": expected }), true));
    }
    for kind in ["enabled", "disabled"] {
        assert_eq!(fields(json!({ "type": kind })), (Value::Null, false), "{kind}");
    }
}

#[test]
fn the_target_sets_whether_thinking_is_preserved() {
    let messages = steps(60);
    let refused_of = |target: Value| {
        let fitted = fit(&json!(messages), &json!({ "maxTokens": 6000, "target": target })).unwrap();
        refused(&messages, &fitted.messages).len()
    };
    assert!(refused_of(json!({ "thinking": { "type": "enabled", "budget_tokens": 1024 } })) > 5);
    assert!(refused_of(json!({ "model": "claude-sonnet-4-5" })) > 5);
    assert_eq!(refused_of(json!({ "model": "claude-opus-5-5", "thinking": { "type": "enabled" } })), 0);
    assert_eq!(refused_of(json!({ "thinking": { "type": "adaptive" } })), 0);
}

#[test]
fn reasoning_that_openai_may_withhold_stays_and_is_reported() {
    for (format, messages) in sealed() {
        let options = |limit: u64| json!({ "maxTokens": limit, "format": format });
        let whole = fit(&json!(messages), &options(10_000)).unwrap();
        assert_eq!(reported(&whole), Vec::<&Value>::new(), "{format}");
        let cut = fit(&json!(messages), &options(80)).unwrap();
        assert_eq!(cut.report["truncated"], true, "{format}");
        let [found] = reported(&cut)[..] else { panic!("{format}: {:?}", cut.report) };
        assert_eq!(found["severity"], "info", "{format}");
        let path = if format == "ai-sdk" { "messages[3].content[0]" } else { "messages[3]" };
        assert_eq!(found["path"], path, "{format}");
        assert!(cut.messages.iter().any(|message| message.to_string().contains("gAAAAAB")), "{format}");
    }
}

/// A repair is a change, too, under the limit as well; what stands before it stays.
#[test]
fn a_repair_invalidates_the_thinking_after_it() {
    let mut messages = steps(4);
    messages.insert(
        5,
        json!({ "role": "user", "content": [
        { "type": "tool_result", "tool_use_id": "gone", "content": "?" }, { "type": "text", "text": "Go on." },
    ] }),
    );
    let fitted = fit(&json!(messages), &json!({ "maxTokens": 90_000 })).unwrap();
    assert_eq!(signed(&fitted.messages).len(), 2);
    assert_eq!(refused(&messages, &fitted.messages), [""; 0]);
}

/// A call stays without its thought; a message of nothing but thought goes like one that is cut.
#[test]
fn a_message_of_thinking_alone_goes() {
    let mut messages = steps(3);
    messages[1]["content"]
        .as_array_mut()
        .unwrap()
        .push(json!({ "type": "tool_use", "id": "open", "name": "a", "input": {} }));
    messages.insert(
        5,
        json!({ "role": "assistant", "content": [{ "type": "thinking", "thinking": "hm", "signature": "alone" }] }),
    );
    let fitted = fit(&json!(messages), &json!({ "maxTokens": 90_000 })).unwrap();
    assert_eq!(refused(&messages, &fitted.messages), [""; 0]);
    assert_eq!(signed(&fitted.messages).len(), 0);
    assert!(!fitted.from.contains(&Some(5)) && fitted.from.contains(&Some(6)));
    assert_eq!(fitted.report["messages"][5]["reason"], "reasoningPrefixChanged");
    assert_eq!(fitted.messages.last().unwrap()["content"][0]["tool_use_id"], "c2");
}

/// The same in every format that carries Anthropic's signatures; other vendors' are never left out.
#[test]
fn every_format_that_carries_signed_thinking_loses_it() {
    let broken = json!({ "type": "tool_result", "tool_use_id": "gone", "content": "?" });
    let cases = [
        (
            "ai-sdk",
            json!([
                { "role": "tool", "content": [{ "type": "tool-result", "toolCallId": "gone", "toolName": "a", "output": { "type": "text", "value": "?" } }] },
                { "role": "user", "content": "a" },
                { "role": "assistant", "content": [
                    { "type": "reasoning", "text": "hm", "providerOptions": { "anthropic": { "signature": "s" } } },
                    { "type": "reasoning", "text": "", "providerOptions": { "anthropic": { "redactedData": "s" } } },
                    { "type": "reasoning", "text": "stays", "providerOptions": { "google": { "thoughtSignature": "s" } } },
                    { "type": "text", "text": "b" },
                ] },
            ]),
        ),
        (
            "ai-sdk-ui",
            json!([
                { "id": "1", "role": "user", "parts": [{ "type": "text", "text": "a" }] },
                { "id": "2", "role": "assistant", "parts": [
                    { "type": "step-start" },
                    { "type": "tool-a", "toolCallId": "gone", "state": "input-available", "input": {} },
                    { "type": "text", "text": "I look." },
                ] },
                { "id": "3", "role": "user", "parts": [{ "type": "text", "text": "a" }] },
                { "id": "4", "role": "assistant", "parts": [
                    { "type": "reasoning", "text": "hm", "providerMetadata": { "anthropic": { "signature": "s" } } },
                    { "type": "reasoning", "text": "stays" },
                    { "type": "text", "text": "b" },
                ] },
            ]),
        ),
        (
            "langchain",
            json!([
                { "type": "tool", "tool_call_id": "gone", "content": "?" },
                { "type": "human", "content": "a" },
                { "type": "ai", "content": [
                    { "type": "thinking", "thinking": "hm", "signature": "s" },
                    { "type": "redacted_thinking", "data": "s" },
                    { "type": "non_standard", "value": { "type": "redacted_thinking", "data": "s" } },
                    { "type": "reasoning", "reasoning": "stays" },
                    { "type": "text", "text": "b" },
                ] },
                { "type": "ai", "response_metadata": { "model_provider": "google-genai" }, "content": [
                    { "type": "thinking", "thinking": "stays", "signature": "s" }, { "type": "text", "text": "b" },
                ] },
            ]),
        ),
        (
            "openai",
            json!([
                { "role": "tool", "tool_call_id": "gone", "content": "?" },
                { "role": "user", "content": "a" },
                { "role": "assistant", "content": "b", "reasoning_content": "hm", "thinking_blocks": [{ "type": "thinking", "thinking": "hm", "signature": "s" }] },
                { "role": "assistant", "content": "b", "reasoning_content": "stays" },
            ]),
        ),
        (
            "anthropic",
            json!([
                { "role": "user", "content": [broken, { "type": "text", "text": "a" }] },
                { "role": "assistant", "content": [
                    { "type": "thinking", "thinking": "hm", "signature": "s" },
                    { "type": "thinking", "thinking": "stays", "signature": "" },
                    { "type": "text", "text": "b" },
                ] },
            ]),
        ),
        (
            "openai-responses",
            json!([
                { "type": "function_call_output", "call_id": "gone", "output": "?" },
                { "role": "user", "content": "a" },
                { "type": "reasoning", "id": "r", "summary": [], "encrypted_content": "stays" },
                { "role": "assistant", "content": [{ "type": "output_text", "text": "b" }] },
            ]),
        ),
        (
            "gemini",
            json!([
                { "role": "user", "parts": [{ "functionResponse": { "name": "gone", "response": {} } }, { "text": "a" }] },
                { "role": "model", "parts": [{ "text": "stays", "thought": true, "thoughtSignature": "s" }, { "text": "b" }] },
            ]),
        ),
    ];
    for (format, messages) in cases {
        let fitted = fit(&messages, &json!({ "maxTokens": 9000, "format": format })).unwrap();
        let text = json!(fitted.messages).to_string();
        assert!(!text.contains("\"hm\"") && !text.contains("redacted"), "{format}: {text}");
        assert_eq!(text.contains("stays"), messages.to_string().contains("stays"), "{format}: {text}");
        let whole = count(&json!(fitted.messages), &json!({ "format": format }), &CallContext::default()).unwrap();
        assert_eq!(fitted.report["tokens"]["total"], whole, "{format}");
        // Of other models nothing is left out.
        let older = json!({ "maxTokens": 9000, "format": format, "model": "claude-opus-4-5" });
        let text = json!(fit(&messages, &older).unwrap().messages).to_string();
        assert_eq!(text.contains("\"hm\""), messages.to_string().contains("\"hm\""), "{format}: {text}");
    }
}

fn block(number: usize, seed: usize, text: &str) -> Vec<Value> {
    let signed =
        |signature: usize| json!({ "type": "thinking", "thinking": text, "signature": format!("s{signature}") });
    match seed % 6 {
        0 => vec![],
        1 => vec![json!({ "type": "redacted_thinking", "data": format!("s{number}") })],
        2 => vec![signed(number), signed(number + 100_000)],
        3 => vec![json!({ "type": "thinking", "thinking": "", "signature": format!("s{number}") })],
        _ => vec![signed(number)],
    }
}

/// An agent's conversation with signed thinking: steps with calls, texts, images, and sometimes a broken pair.
fn agent() -> impl Strategy<Value = Vec<Value>> {
    let step = (0usize..100, text(), prop::collection::vec(text(), 0..3), 0usize..20);
    (text(), prop::collection::vec(step, 1..20)).prop_map(|(task, steps)| {
        let mut messages = vec![json!({ "role": "user", "content": task })];
        for (number, (seed, said, results, odd)) in steps.into_iter().enumerate() {
            let mut content = block(number, seed, &said);
            if seed % 3 == 0 || results.is_empty() {
                content.push(json!({ "type": "text", "text": said }));
            }
            let id = |at: usize| format!("c{number}_{at}");
            content.extend((0..results.len()).map(|at| json!({ "type": "tool_use", "id": id(at), "name": "read", "input": { "path": said } })));
            messages.push(json!({ "role": "assistant", "content": content }));
            let result = |(at, result): (usize, &String)| json!({ "type": "tool_result", "tool_use_id": id(at), "content": result });
            let mut back: Vec<Value> = results.iter().enumerate().map(result).collect();
            match odd {
                0 => drop(back.pop()),
                1 => back.push(json!({ "type": "image", "source": { "type": "url", "url": "https://a.example/b.png" } })),
                2 => back.push(json!({ "type": "text", "text": "Go on." })),
                _ => {}
            }
            match back.is_empty() {
                true => messages.push(json!({ "role": "user", "content": "Go on." })),
                false => messages.push(json!({ "role": "user", "content": back })),
            }
        }
        messages
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::generate::cases(300)))]

    /// Whatever is removed, edited or summarized, the vendor rejects no sent block, and within the limit nothing is
    /// left out.
    #[test]
    fn no_thinking_that_is_sent_is_refused(
        messages in agent(),
        strategy in strategy(),
        edits in edits(),
        share in 5u64..130,
        first in 0u32..3,
        marker in select(vec!["[…]", "", "{count} gone"]),
        summary in any::<bool>(),
    ) {
        let chat = json!(messages);
        let whole = count(&chat, &json!({ "format": "anthropic" }), &CallContext::default()).unwrap();
        let limit = (whole * share / 100).max(1);
        let mut options = json!({ "format": "anthropic", "maxTokens": limit, "truncationStrategy": strategy, "keepFirst": first, "truncationMarker": marker });
        if !edits.is_null() {
            options["edits"] = edits.clone();
        }
        if summary {
            options["phase"] = json!("finish");
            options["summaryText"] = json!("What was said before, in short. ".repeat(9));
        }
        let Ok(fitted) = fit(&chat, &options) else { return Ok(()) };
        prop_assert_eq!(refused(&messages, &fitted.messages), Vec::<String>::new());
        let total = count(&json!(fitted.messages), &json!({ "format": "anthropic" }), &CallContext::default()).unwrap();
        prop_assert_eq!(&fitted.report["tokens"]["total"], total);
        prop_assert!(total <= limit);
        let is_repaired = fitted.report["diagnostics"].as_array().unwrap().iter().any(|found| found["code"] == "tool_pair_broken");
        if whole <= limit && edits.is_null() && !is_repaired {
            prop_assert_eq!(&fitted.messages, &messages);
        }
        // With `keep` rejected blocks are reported, and nothing else.
        options["preservedThinking"] = json!("keep");
        let Ok(kept) = fit(&chat, &options) else { return Ok(()) };
        let told: Vec<String> = reported(&kept).iter().map(|found| {
            let path = found["path"].as_str().unwrap();
            let numbers: Vec<usize> = path.split(|ch: char| !ch.is_ascii_digit()).filter_map(|it| it.parse().ok()).collect();
            let block = &messages[numbers[0]]["content"][numbers[1]];
            block.get("signature").or(block.get("data")).unwrap().as_str().unwrap().to_owned()
        }).collect();
        for signature in refused(&messages, &kept.messages) {
            prop_assert!(told.contains(&signature), "{} is not told in {:?}", signature, told);
        }
    }
}
