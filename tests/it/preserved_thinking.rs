//! Signed thinking after a cut, without `previous` (docs/agents.md).

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::calls::call;
use crate::generate::cases;

const SIGNED: &str = r#"{"type":"thinking","signature":"c2ln"}"#;
const SEALED: &str = r#"{"type":"reasoning","id":"rs_1","encrypted_content":"c2Vh"}"#;

fn say(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}

fn think(text: &str, signature: &str) -> Value {
    json!({ "type": "reasoning", "text": text, "signature": signature })
}

/// A path of nodes, each with its author and its blocks.
fn tree(nodes: &[(&str, Vec<Value>)]) -> Value {
    let node = |(at, (author, blocks)): (usize, &(&str, Vec<Value>))| json!({ "id": format!("n{at}"), "authorType": author, "content": { "type": "mixed", "blocks": blocks } });
    let edge = |at: usize| json!({ "id": format!("e{at}"), "sources": [{ "nodeId": format!("n{}", at - 1) }], "targetNodeId": format!("n{at}") });
    json!({
        "nodes": nodes.iter().enumerate().map(node).collect::<Vec<_>>(),
        "edges": (1..nodes.len()).map(edge).collect::<Vec<_>>(),
    })
}

/// Two questions and answers with thoughts, a long question in between, and a call after it.
fn story(signature: &str) -> Value {
    tree(&[
        ("human", vec![say("one")]),
        ("model", vec![think("first thought", signature), say("two")]),
        ("human", vec![say(&"long question. ".repeat(200))]),
        ("model", vec![think("", signature), say(&"long answer. ".repeat(200))]),
        ("human", vec![say("three")]),
        (
            "model",
            vec![
                think("second thought", signature),
                say("four"),
                json!({ "type": "toolCall", "id": "c", "name": "look", "arguments": {} }),
            ],
        ),
        ("human", vec![json!({ "type": "toolResult", "toolCallId": "c", "content": "seen" })]),
        ("model", vec![think("third thought", signature)]),
        ("human", vec![say("five")]),
    ])
}

fn request(tree: &Value, options: &Value) -> Value {
    let mut request =
        json!({ "tree": tree, "tip": "n8", "contextWindow": 200, "preferences": { "tokenBuffer": 0, "fill": "off" } });
    for (name, value) in options.as_object().unwrap() {
        request[name] = value.clone();
    }
    request
}

fn assembled(tree: &Value, options: &Value) -> Value {
    call("assembleDialogue", &[request(tree, options)], None).unwrap()
}

/// The thoughts that are sent.
fn thoughts(result: &Value) -> Vec<String> {
    let blocks = result["messages"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|message| message["content"].as_array().into_iter().flatten());
    blocks
        .filter(|block| block["type"] == "reasoning")
        .map(|block| block["text"].as_str().unwrap().to_owned())
        .collect()
}

fn found(result: &Value) -> Vec<(String, String)> {
    let of =
        |found: &Value| (found["nodeId"].as_str().unwrap().to_owned(), found["severity"].as_str().unwrap().to_owned());
    let diagnostics = result["report"]["diagnostics"].as_array().unwrap();
    diagnostics.iter().filter(|found| found["code"] == "reasoning_prefix_changed").map(of).collect()
}

#[test]
fn thinking_after_a_cut_is_removed() {
    let story = story(SIGNED);
    let result = assembled(&story, &json!({}));
    assert_eq!(result["report"]["cut"]["nodeIds"], json!(["n2", "n3", "n7"]));
    assert_eq!(thoughts(&result), ["first thought"]);
    assert_eq!(found(&result), [("n5".to_owned(), "info".to_owned()), ("n7".to_owned(), "info".to_owned())]);
    // The call stays; the node that was nothing but a thought is gone, and the user's messages around it are one.
    let roles: Vec<_> =
        result["messages"].as_array().unwrap().iter().map(|message| message["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["user", "assistant", "user", "assistant", "user"]);
    assert_eq!(result["messages"][4]["nodeIds"], json!(["n6", "n8"]));
    assert_eq!(result["report"]["cut"]["partialNodeIds"], json!(["n5"]));
    // Within the limit nothing is.
    let result = assembled(&story, &json!({ "contextWindow": 100_000 }));
    assert_eq!(thoughts(&result).len(), 4);
    assert!(found(&result).is_empty());
}

#[test]
fn thinking_goes_by_provider_and_model() {
    let kept = |signature: &str, options: Value| thoughts(&assembled(&story(signature), &options)).len() == 3;
    let target = |provider: &str, model: &str| json!({ "target": { "provider": provider, "model": model } });
    for model in [
        "claude-opus-5-5",
        "claude-fable-5.1",
        "us.anthropic.claude-sonnet-5-5-v1:0",
        "anthropic/claude-haiku-6",
        "claude-opus",
    ] {
        assert!(!kept(SIGNED, target("anthropic", model)), "{model}");
    }
    for model in ["claude-opus-5", "claude-sonnet-4-6", "claude-3-7-sonnet-20250219", "claude-fable-5", "some-model"] {
        assert!(kept(SIGNED, target("anthropic", model)), "{model}");
    }
    assert!(!kept(SIGNED, json!({ "provider": "anthropic" })));
    assert!(!kept(SIGNED, json!({ "provider": { "nativeSystemPrompt": true } })));
    assert!(kept(SEALED, json!({})));
    for provider in ["openai", "openai-responses", "gemini", "gemini-interactions"] {
        assert!(kept(SIGNED, json!({ "provider": provider })), "{provider}");
        assert!(kept(SIGNED, target(provider, "claude-opus-5-5")), "{provider}");
    }
    assert!(
        call("assembleDialogue", &[request(&story(SIGNED), &json!({ "preservedThinking": "drop" }))], None).is_err()
    );
}

#[test]
fn thinking_may_stay_for_the_provider_to_drop() {
    let story = story(SIGNED);
    let options = |rule: &str| json!({ "preservedThinking": rule, "target": { "provider": "anthropic", "model": "claude-opus-5-5", "maxTokens": 9, "thinking": { "type": "adaptive", "display": "omitted" } } });
    let binding = json!({ "prefix_mismatch_behavior": "drop_block" });
    let headers = json!({ "anthropic-beta": "thinking-binding-controls-2026-08-01" });
    for (rule, reported) in [("dropBlock", &[][..]), ("keep", &["n5", "n7"])] {
        let result = assembled(&story, &options(rule));
        assert_eq!(thoughts(&result), ["first thought", "second thought", "third thought"]);
        let warned = |node: &&str| ((*node).to_owned(), "warning".to_owned());
        assert_eq!(found(&result), reported.iter().map(warned).collect::<Vec<_>>());
        let is_dropped = rule == "dropBlock";
        assert_eq!(result["report"].get("headers"), is_dropped.then_some(&headers));
        let fields = json!({ "thinking": { "type": "adaptive", "display": "omitted", "block_binding": binding } });
        assert_eq!(result["report"].get("body"), is_dropped.then_some(&fields));
        let answer = call("requestBodyWithReport", &[request(&story, &options(rule))], None).unwrap();
        let body: Value = serde_json::from_str(answer["body"]["$text"].as_str().unwrap()).unwrap();
        assert_eq!(body["thinking"].get("block_binding"), is_dropped.then_some(&binding));
        assert_eq!(body["thinking"]["display"], "omitted");
        assert_eq!(answer["report"].get("headers"), is_dropped.then_some(&headers));
    }
    // Without Anthropic's thinking there is nothing to drop.
    let other = self::story(SEALED);
    let report = &assembled(&other, &options("dropBlock"))["report"];
    assert!(report.get("body").is_none() && report.get("headers").is_none());
    let answer = call("requestBodyWithReport", &[request(&other, &options("dropBlock"))], None).unwrap();
    assert!(!answer["body"]["$text"].as_str().unwrap().contains("block_binding"));
    let answer = call("requestBodyWithReport", &[request(&story, &options("strip"))], None).unwrap();
    let body = answer["body"]["$text"].as_str().unwrap();
    assert!(body.contains("first thought") && !body.contains("second thought") && !body.contains("block_binding"));
}

#[test]
fn reasoning_that_openai_may_withhold_stays_and_is_reported() {
    let target = json!({ "target": { "provider": "openai-responses", "model": "gpt-5.6", "maxTokens": 9 } });
    let result = assembled(&story(SEALED), &target);
    assert_eq!(thoughts(&result), ["first thought", "second thought", "third thought"]);
    let info = |node: &str| (node.to_owned(), "info".to_owned());
    assert_eq!(found(&result), ["n5", "n7"].map(info));
    let mut whole = target.clone();
    whole["contextWindow"] = json!(10_000);
    assert_eq!(found(&assembled(&story(SEALED), &whole)), []);
    // Anthropic's signatures are not sent to OpenAI.
    assert_eq!(found(&assembled(&story(SIGNED), &target)), []);
}

/// Questions and answers with thoughts, and a call in between that has no result.
fn broken(call_alone: bool) -> Value {
    let call = json!({ "type": "toolCall", "id": "c", "name": "look", "arguments": {} });
    let other = json!({ "type": "toolCall", "id": "d", "name": "look", "arguments": {} });
    let result = json!({ "type": "toolResult", "toolCallId": "d", "content": "seen" });
    let alone = vec![call.clone()];
    let together = vec![think("thought of calls", SIGNED), say("I look."), call, other];
    tree(&[
        ("human", vec![say("zero")]),
        ("model", vec![think("first thought", SIGNED), say("one")]),
        ("human", vec![say("two")]),
        ("model", if call_alone { alone } else { together }),
        ("human", vec![if call_alone { say("three") } else { result }]),
        ("model", vec![think("second thought", SIGNED), say("four")]),
        ("human", vec![say("five")]),
        ("model", vec![think("third thought", SIGNED)]),
        ("human", vec![say("six")]),
    ])
}

/// A repair is a change, within the limit too: thinking from the message on that lost a call is invalid, and what stands before stays.
#[test]
fn thinking_after_a_repair_is_removed() {
    for call_alone in [true, false] {
        let story = broken(call_alone);
        let options = |more: Value| {
            let mut options = json!({ "contextWindow": 9_000 });
            options.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            options
        };
        let invalid: &[&str] = if call_alone { &["n5", "n7"] } else { &["n3", "n5", "n7"] };
        let result = assembled(&story, &options(json!({})));
        assert_eq!(thoughts(&result), ["first thought"]);
        assert_eq!(found(&result), invalid.iter().map(|id| ((*id).to_owned(), "info".to_owned())).collect::<Vec<_>>());
        assert_eq!(result["report"]["truncated"], false);
        // The node of a thought is gone, and its neighbours are one message.
        assert_eq!(result["messages"].as_array().unwrap().last().unwrap()["nodeIds"], json!(["n6", "n8"]));
        assert_eq!(result["report"]["nodes"][7]["reason"], "toolPairBroken");
        let kept = assembled(&story, &options(json!({ "preservedThinking": "keep" })));
        assert_eq!(thoughts(&kept).len(), 3 + usize::from(!call_alone));
        assert_eq!(found(&kept), invalid.iter().map(|id| ((*id).to_owned(), "warning".to_owned())).collect::<Vec<_>>());
        let target = |model: &str| json!({ "provider": "anthropic", "model": model, "maxTokens": 9 });
        let old = assembled(&story, &options(json!({ "target": target("claude-opus-5") })));
        assert_eq!(
            thoughts(&old).len(),
            3 + usize::from(!call_alone),
            "signatures of older models are bound to nothing"
        );
        assert_eq!(found(&old), []);
        // A body gives the same, and a resident tree after either call.
        let body = |model: &str| {
            let request = request(&story, &options(json!({ "target": target(model) })));
            call("requestBody", &[request], None).unwrap()["$text"].as_str().unwrap().to_owned()
        };
        let [new, old_body] = ["claude-opus-5-5", "claude-opus-5"].map(body);
        assert!(new.contains("first thought") && !new.contains("second thought"), "{new}");
        assert!(old_body.contains("first thought") && old_body.contains("second thought"), "{old_body}");
        let question = |more: Value| {
            let mut question = request(&story, &options(more));
            question.as_object_mut().unwrap().remove("tree");
            json!(["assembleDialogue", question])
        };
        let keep = json!({ "preservedThinking": "keep" });
        let steps =
            [json!({}), keep.clone(), json!({ "target": target("claude-opus-5") }), json!({}), keep].map(question);
        let answers = call("LoomTree", std::slice::from_ref(&story), Some(&steps)).unwrap();
        for (answer, expected) in answers.as_array().unwrap().iter().zip([&result, &kept, &old, &result, &kept]) {
            for part in ["/messages", "/report/tokens", "/report/nodes", "/report/diagnostics"] {
                assert_eq!(answer.pointer(part), expected.pointer(part), "{part}");
            }
        }
    }
}

/// The result of a tool that Anthropic runs is a message of its own in a body: thinking that came after it in one answer is bound to
/// other messages. That of an agent's run that is one node is not: its calls had such results before.
#[test]
fn thinking_after_the_result_of_a_server_tool_is_removed_from_bodies() {
    let run = |id: &str| {
        let call = json!({ "type": "toolCall", "id": id, "name": "web_search", "arguments": {} });
        let result = json!({ "type": "toolResult", "toolCallId": id, "content": "found" });
        let blocks = [think("first thought", SIGNED), call, result, think("second thought", SIGNED), say("four")];
        tree(&[
            ("human", vec![say("zero")]),
            ("model", blocks.to_vec()),
            ("human", vec![say("five")]),
            ("model", vec![think("third thought", SIGNED), say("six")]),
            ("human", vec![say("seven")]),
        ])
    };
    let body = |id: &str, model: &str, rule: &str| {
        let target = json!({ "provider": "anthropic", "model": model, "maxTokens": 9 });
        let options = json!({ "tip": "n4", "contextWindow": 9_000, "preservedThinking": rule, "target": target });
        let answer = call("requestBodyWithReport", &[request(&run(id), &options)], None).unwrap();
        let body: Value = serde_json::from_str(answer["body"]["$text"].as_str().unwrap()).unwrap();
        let contents = body["messages"].as_array().unwrap().iter().filter_map(|message| message["content"].as_array());
        let thoughts = contents.flatten().filter_map(|block| block["thinking"].as_str().map(str::to_owned));
        (thoughts.collect::<Vec<_>>(), found(&answer))
    };
    let all = ["first thought", "second thought", "third thought"];
    let reported = |severity: &str| vec![("n1".to_owned(), severity.to_owned())];
    for id in ["srvtoolu_1", "mcptoolu_1"] {
        assert_eq!(
            body(id, "claude-opus-5-5", "strip"),
            (vec![all[0].to_owned(), all[2].to_owned()], reported("info"))
        );
        assert_eq!(body(id, "claude-opus-5-5", "keep"), (all.map(str::to_owned).to_vec(), reported("warning")));
        assert_eq!(body(id, "claude-opus-5-5", "dropBlock"), (all.map(str::to_owned).to_vec(), Vec::new()));
        assert_eq!(body(id, "claude-opus-5", "strip"), (all.map(str::to_owned).to_vec(), Vec::new()));
    }
    assert_eq!(body("toolu_1", "claude-opus-5-5", "strip"), (all.map(str::to_owned).to_vec(), Vec::new()));
}

/// A loom-aware dialogue has other headers and blocks in each request, so that no earlier thinking is bound to its present text.
#[test]
fn loom_aware_dialogues_have_no_signed_thinking() {
    let story = story(SIGNED);
    let options = |more: Value| {
        let mut options = json!({ "contextWindow": 9_000, "loomAware": { "now": "2026-03-01T00:00:00Z" } });
        options.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        options
    };
    let target = |model: &str| json!({ "target": { "provider": "anthropic", "model": model, "maxTokens": 9 } });
    let reported = |severity: &str| ["n1", "n3", "n5", "n7"].map(|id| (id.to_owned(), severity.to_owned())).to_vec();
    let every = ["first thought", "", "second thought", "third thought"];
    let stripped = assembled(&story, &options(json!({})));
    assert_eq!((thoughts(&stripped), found(&stripped)), (Vec::new(), reported("info")));
    let kept = assembled(&story, &options(json!({ "preservedThinking": "keep" })));
    assert_eq!((thoughts(&kept), found(&kept)), (every.map(str::to_owned).to_vec(), reported("warning")));
    let dropped = assembled(&story, &options(json!({ "preservedThinking": "dropBlock" })));
    assert_eq!((thoughts(&dropped).len(), found(&dropped)), (4, Vec::new()));
    assert!(dropped["report"].get("body").is_some());
    let old = assembled(&story, &options(target("claude-opus-5")));
    assert_eq!((thoughts(&old).len(), found(&old)), (4, Vec::new()));
    let plain = assembled(&story, &json!({ "contextWindow": 9_000 }));
    assert_eq!((thoughts(&plain).len(), found(&plain)), (4, Vec::new()));
    // A resident tree gives the same, whatever was asked for before, and measures it.
    let asked = [json!({}), json!({ "preservedThinking": "keep" }), json!({}), target("claude-opus-5"), json!({})];
    let without = json!({ "contextWindow": 9_000 });
    let all: Vec<Value> = asked.into_iter().map(options).flat_map(|aware| [aware, without.clone()]).collect();
    let question = |method: &str, options: &Value| {
        let mut question = request(&story, options);
        question.as_object_mut().unwrap().remove("tree");
        json!([method, question])
    };
    let steps: Vec<Value> =
        all.iter().flat_map(|options| ["assembleDialogue", "measurePath"].map(|it| question(it, options))).collect();
    let answers = call("LoomTree", std::slice::from_ref(&story), Some(&steps)).unwrap();
    for (pair, options) in answers.as_array().unwrap().chunks(2).zip(&all) {
        let fresh = assembled(&story, options);
        assert_eq!(pair[0]["messages"], fresh["messages"], "{options}");
        for part in ["tokens", "nodes", "diagnostics"] {
            assert_eq!(pair[0]["report"][part], fresh["report"][part], "{options} {part}");
        }
        assert_eq!(pair[1]["tokens"]["total"], fresh["report"]["tokens"]["total"], "{options}");
    }
}

/// The prefix of thinking begins again at a signed compaction.
#[test]
fn a_repair_before_a_signed_compaction_is_no_change_after_it() {
    let mut story = broken(true);
    let block = json!({ "type": "vendor", "vendor": "anthropic", "value": { "type": "compaction", "content": "So far.", "signature": "c" } });
    story["nodes"][5]["content"]["blocks"].as_array_mut().unwrap().insert(0, block);
    assert_eq!(thoughts(&assembled(&story, &json!({ "contextWindow": 9_000 }))).len(), 3);
}

/// A node: who it is of, its words, and its thought with its signature.
type Seed = (bool, Option<String>, Option<(String, usize)>);

fn seed() -> impl Strategy<Value = Seed> {
    let words = prop::collection::vec(prop::sample::select(vec!["a", "river", "of", "words,", "漢字", "\n\n"]), 1..30);
    let words = words.prop_map(|words| words.join(" "));
    let thought = prop_oneof![Just(String::new()), Just("hm".to_owned()), Just("a long thought. ".repeat(8))];
    (any::<bool>(), prop::option::weighted(0.8, words), prop::option::of((thought, 0..4usize)))
}

fn is_signed(block: &Value) -> bool {
    [SIGNED, "c2ln"].contains(&block["signature"].as_str().unwrap_or_default())
}

/// The content of a message without signed thinking, whose removal changes nothing for the thinking after it.
fn unsigned(message: &Value) -> Vec<Value> {
    match &message["content"] {
        Value::Array(blocks) => blocks.iter().filter(|block| !is_signed(block)).cloned().collect(),
        text => vec![say(text.as_str().unwrap())],
    }
}

/// What the counter of the call counts of a request, by its parts.
fn recount(result: &Value) -> u64 {
    let text = |text: &Value| call("countTokens", std::slice::from_ref(text), None).unwrap().as_u64().unwrap();
    let messages = result["messages"].as_array().unwrap();
    let content = |message: &Value| match &message["content"] {
        Value::Array(parts) => parts.iter().map(|part| text(&part["text"])).sum(),
        said => text(said),
    };
    messages.iter().map(content).sum::<u64>() + 4 * messages.len() as u64 + 3
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(300), ..ProptestConfig::default() })]

    /// No signed thinking stands after something that differs from the whole path; nothing else is lost; and
    /// the tokens are an exact recount within the limit, for a resident tree too.
    #[test]
    fn no_signature_outlives_its_prefix(
        seeds in prop::collection::vec(seed(), 3..14),
        window in 20..260u32,
        rolling in any::<bool>(),
        marker in prop::option::of(Just("")),
    ) {
        let signatures = [Some(SIGNED), Some("c2ln"), Some(SEALED), None];
        let nodes: Vec<(&str, Vec<Value>)> = seeds
            .iter()
            .enumerate()
            .map(|(at, (is_human, words, thought))| {
                let mut blocks: Vec<Value> = Vec::new();
                if let (false, Some((text, kind))) = (is_human, thought) {
                    let mut block = json!({ "type": "reasoning", "text": text });
                    signatures[*kind].into_iter().for_each(|signature| block["signature"] = json!(signature));
                    blocks.push(block);
                }
                if words.is_some() || blocks.is_empty() {
                    blocks.push(say(&format!("{at}: {}", words.as_deref().unwrap_or("x"))));
                }
                (if *is_human { "human" } else { "model" }, blocks)
            })
            .collect();
        let tree = tree(&nodes);
        let mut preferences = json!({ "tokenBuffer": 0, "minimumRecentNodes": 1, "truncationStrategy": if rolling { "rollingWindow" } else { "truncateMiddle" } });
        marker.iter().for_each(|marker| preferences["truncationMarker"] = json!(marker));
        let options = |window: u32, rule: &str| {
            let tip = format!("n{}", nodes.len() - 1);
            json!({ "tree": tree, "tip": tip, "contextWindow": window, "preferences": preferences, "preservedThinking": rule })
        };
        let whole = call("assembleDialogue", &[options(1_000_000, "strip")], None).unwrap();
        let Ok(result) = call("assembleDialogue", &[options(window, "strip")], None) else { return Ok(()) };
        let messages = result["messages"].as_array().unwrap();
        let all = whole["messages"].as_array().unwrap();
        for (at, message) in messages.iter().enumerate() {
            let blocks = message["content"].as_array().map_or(&[][..], Vec::as_slice);
            for (place, _) in blocks.iter().enumerate().filter(|(_, block)| is_signed(block)) {
                let before = |messages: &[Value]| {
                    let within = messages.get(at)?["content"].as_array()?.get(..place)?.to_vec();
                    Some((messages[..at].iter().map(unsigned).collect::<Vec<_>>(), unsigned(&json!({ "content": within }))))
                };
                prop_assert_eq!(before(messages), before(all), "{:#}", result);
            }
        }
        for two in messages.windows(2) {
            prop_assert_ne!(&two[0]["role"], &two[1]["role"]);
        }
        prop_assert_eq!(recount(&result), result["report"]["tokens"]["total"].as_u64().unwrap(), "{:#}", result);
        prop_assert!(recount(&result) <= u64::from(window));
        // The report lists the removed blocks, and each kept node has the rest.
        let lost: Vec<String> = found(&result).into_iter().map(|(node, _)| node).collect();
        let shown = json!(messages).to_string();
        let cut: Vec<&str> = result["report"]["cut"]["nodeIds"].as_array().into_iter().flatten().map(|id| id.as_str().unwrap()).collect();
        let partial = result["report"]["cut"]["partialNodeIds"].to_string();
        // In the last resort the text of the last node is cut.
        let is_short = nodes.len() - cut.len() < 2;
        for (at, (_, blocks)) in nodes.iter().enumerate() {
            let id = format!("n{at}");
            if cut.contains(&&*id) || is_short {
                continue;
            }
            for block in blocks {
                let text = json!(block["text"].as_str().unwrap().trim()).to_string();
                let is_shortened = block["type"] == "text" && partial.contains(&id) && shown.contains("[…]");
                prop_assert!(is_shortened || is_signed(block) && lost.contains(&id) || shown.contains(text.trim_matches('"')), "{} {:#}", id, result);
            }
        }
        // The same of a resident tree, and of a body without a report.
        let resident = options(window, "strip");
        let mut question = resident.as_object().unwrap().clone();
        question.remove("tree");
        let steps = vec![json!(["assembleDialogue", question]), json!(["assembleDialogue", question])];
        let answers = call("LoomTree", std::slice::from_ref(&tree), Some(&steps)).unwrap();
        for answer in answers.as_array().unwrap() {
            prop_assert_eq!(&answer["messages"], &result["messages"]);
            prop_assert_eq!(&answer["report"]["tokens"], &result["report"]["tokens"]);
            prop_assert_eq!(&answer["report"]["cut"], &result["report"]["cut"]);
        }
    }
}
