//! A compaction replaces everything before it, and is kept (docs/chats.md).

use serde_json::{Value, json};

use super::thinking::{refused, steps};
use super::{count, fit};
use crate::calls::call;
use ctxweave::call::CallContext;

fn words(number: usize) -> String {
    format!("{number} ") + &"the river was low that summer ".repeat(10)
}

/// Chats with a compaction in the middle, by format: the messages, and a text that only the compaction has.
fn chats() -> Vec<(&'static str, Vec<Value>)> {
    let openai = |agents: bool| {
        let mut items: Vec<Value> = (0..8).map(|at| json!({ "role": "user", "content": words(at) })).collect();
        items.push(if agents {
            json!({ "type": "compaction", "id": "cmp", "encryptedContent": "sealed", "encrypted_content": "sealed", "providerData": {} })
        } else {
            json!({ "type": "compaction", "id": "cmp", "encrypted_content": "sealed" })
        });
        items.extend((8..16).map(|at| json!({ "role": "user", "content": words(at) })));
        items
    };
    let talk = |compaction: Value, text: &dyn Fn(&str, String) -> Value| {
        let mut all: Vec<Value> = (0..8).map(|at| text(["user", "assistant"][at % 2], words(at))).collect();
        all.push(text("user", "Go on.".to_owned()));
        all.push(compaction);
        all.extend((8..16).map(|at| text(["user", "assistant"][at % 2], words(at))));
        all
    };
    let content = |role: &str, text: String| json!({ "role": role, "content": text });
    let langchain =
        |role: &str, text: String| json!({ "type": if role == "user" { "human" } else { "ai" }, "content": text });
    let ui =
        |role: &str, text: String| json!({ "id": text, "role": role, "parts": [{ "type": "text", "text": text }] });
    let block = json!({ "type": "compaction", "content": "sealed", "signature": "s" });
    let text = json!({ "type": "text", "text": "more" });
    let part =
        json!({ "type": "text", "text": "sealed", "providerOptions": { "anthropic": { "type": "compaction" } } });
    let of_ui =
        json!({ "type": "text", "text": "sealed", "providerMetadata": { "anthropic": { "type": "compaction" } } });
    let custom = json!({ "type": "custom", "kind": "openai.compaction", "providerOptions": { "openai": { "itemId": "sealed" } } });
    vec![
        ("openai-responses", openai(false)),
        ("openai-agents", openai(true)),
        ("anthropic", talk(json!({ "role": "assistant", "content": [block, text] }), &content)),
        ("ai-sdk", talk(json!({ "role": "assistant", "content": [part, text] }), &content)),
        ("ai-sdk", talk(json!({ "role": "assistant", "content": [custom, text] }), &content)),
        ("ai-sdk-ui", talk(json!({ "id": "c", "role": "assistant", "parts": [of_ui, text] }), &ui)),
        ("langchain", talk(json!({ "type": "ai", "content": [block, text] }), &langchain)),
    ]
}

/// At every limit and by every strategy, the compaction stays as it is, and everything before it goes first.
#[test]
fn a_compaction_outlasts_every_cut() {
    for (format, messages) in chats() {
        let place = messages.iter().position(|it| it.to_string().contains("sealed")).unwrap();
        let whole = count(&json!(messages), &json!({ "format": format }), &CallContext::default()).unwrap();
        let rest = count(&json!(messages[place..]), &json!({ "format": format }), &CallContext::default()).unwrap();
        for strategy in ["truncateMiddle", "rollingWindow", "keepStart"] {
            let mut fits = 0;
            for limit in (1..whole + 40).step_by(7) {
                let edits = json!({ "toolResults": { "keepLast": 0 }, "reasoning": { "remove": "all" } });
                let options =
                    json!({ "format": format, "maxTokens": limit, "truncationStrategy": strategy, "edits": edits });
                let Ok(fitted) = fit(&json!(messages), &options) else { continue };
                fits += 1;
                let at = fitted.from.iter().position(|from| *from == Some(place));
                assert!(at.is_some_and(|at| fitted.same[at]), "{format} {options}: {:?}", fitted.from);
                if limit < whole {
                    // No marker stands for what it stands for.
                    assert_eq!(at, Some(0), "{format} {options}: {:?}", fitted.from);
                    assert_eq!(fitted.report["messages"][0]["reason"], "compacted");
                }
                if limit < whole && limit >= rest {
                    assert_eq!(fitted.messages, messages[place..], "{format} {options}");
                    assert_eq!(fitted.report.get("added"), None);
                }
                if limit >= whole {
                    assert_eq!(fitted.messages, messages);
                }
            }
            assert!(fits > 20, "{format} {strategy}: {fits}");
        }
    }
}

#[test]
fn what_a_compaction_stands_for_is_not_pinned() {
    let (format, messages) = chats().swap_remove(0);
    let options = json!({ "format": format, "maxTokens": 700, "pinned": [1, 12], "keepFirst": 2 });
    let fitted = fit(&json!(messages), &options).unwrap();
    assert!(fitted.from.contains(&Some(8)) && fitted.from.contains(&Some(12)) && !fitted.from.contains(&Some(1)));
    let found = fitted.report["diagnostics"].as_array().unwrap();
    let paths: Vec<_> = found.iter().map(|it| (it["code"].as_str().unwrap(), it["path"].as_str().unwrap())).collect();
    assert_eq!(paths, [("option_ignored", "options.pinned"), ("option_ignored", "options.keepFirst")]);
}

/// Only the newest counts, and leading instructions stay.
#[test]
fn the_newest_compaction_counts() {
    let compaction = |id: &str| json!({ "type": "compaction", "id": id, "encrypted_content": "sealed" });
    let user = |at: usize| json!({ "role": "user", "content": words(at) });
    let messages = json!([
        { "role": "developer", "content": "Be brief." }, user(0), compaction("a"), user(1),
        { "role": "developer", "content": "Be kind." }, compaction("b"), user(2),
    ]);
    let fitted = fit(&messages, &json!({ "maxTokens": 200 })).unwrap();
    assert_eq!(fitted.from, [Some(0), Some(4), Some(5), Some(6)]);
}

/// A run in one message is cut at the compaction's step.
#[test]
fn a_compaction_inside_a_run_stays_with_its_step() {
    let step = |at: usize| {
        let text = if at == 4 {
            json!({ "type": "text", "text": "sealed", "providerMetadata": { "anthropic": { "type": "compaction" } } })
        } else {
            json!({ "type": "text", "text": words(at) })
        };
        [json!({ "type": "step-start" }), text]
    };
    let parts: Vec<Value> = (0..9).flat_map(step).collect();
    let messages = json!([
        { "id": "1", "role": "user", "parts": [{ "type": "text", "text": words(0) }] },
        { "id": "2", "role": "assistant", "parts": parts },
        { "id": "3", "role": "user", "parts": [{ "type": "text", "text": "Go on." }] },
    ]);
    let whole = count(&messages, &json!({}), &CallContext::default()).unwrap();
    for strategy in ["truncateMiddle", "rollingWindow", "keepStart"] {
        for limit in (60..whole).step_by(11) {
            let options = json!({ "maxTokens": limit, "truncationStrategy": strategy });
            let Ok(fitted) = fit(&messages, &options) else { continue };
            let text = json!(fitted.messages).to_string();
            assert!(text.contains("sealed") && !text.contains("\"3 the"), "{options}: {text}");
            let total =
                count(&json!(fitted.messages), &json!({ "format": "ai-sdk-ui" }), &CallContext::default()).unwrap();
            assert_eq!(fitted.report["tokens"]["total"], total, "{options}: {text}");
        }
    }
}

/// Thinking after a signed compaction stays valid; after another one it does not.
#[test]
fn the_prefix_of_thinking_begins_at_a_signed_compaction() {
    let signed = |signed: bool| {
        let mut messages = steps(8);
        let mut block = json!({ "type": "compaction", "content": "It went well." });
        if signed {
            block["signature"] = json!("c");
        }
        messages.insert(9, json!({ "role": "assistant", "content": [block] }));
        messages.insert(10, json!({ "role": "user", "content": "Go on." }));
        let limit = count(&json!(messages), &json!({ "format": "anthropic" }), &CallContext::default()).unwrap() - 10;
        let fitted = fit(&json!(messages), &json!({ "maxTokens": limit })).unwrap();
        assert_eq!(fitted.from, (9..19).map(Some).collect::<Vec<_>>());
        assert_eq!(refused(&messages, &fitted.messages), [""; 0]);
        fitted.same.iter().all(|same| *same)
    };
    assert!(signed(true));
    assert!(!signed(false));
}

/// A tree keeps it for its vendor. In another format its summary stays as a text, and its signature is sent as nothing else.
#[test]
fn a_compaction_is_no_thought_in_a_tree_or_another_format() {
    let block = json!({ "type": "compaction", "content": "SUM", "signature": "CS" });
    let chat = json!([{ "role": "assistant", "content": [block] }, { "role": "user", "content": "q" }]);
    let tree = call("chatToLoomTree", &[chat.clone(), json!({ "from": "anthropic" })], None).unwrap();
    assert_eq!(tree["diagnostics"], json!([]));
    let body = |provider: &str| {
        let target = json!({ "provider": provider, "model": "claude-opus-5-5", "maxTokens": 9 });
        let request = json!({ "tree": tree["tree"], "tip": tree["tip"], "contextWindow": 900, "preferences": { "tokenBuffer": 0 }, "target": target });
        let body = call("requestBodyWithReport", &[request], None).unwrap()["body"]["$text"].clone();
        serde_json::from_str::<Value>(body.as_str().unwrap()).unwrap()
    };
    assert_eq!(body("anthropic")["messages"], chat);
    for provider in ["openai", "openai-responses", "gemini", "gemini-interactions"] {
        let body = body(provider).to_string();
        assert!(body.contains("SUM") && !body.contains("CS"), "{body}");
    }
    for to in ["ai-sdk", "openai", "openai-responses", "gemini", "gemini-interactions", "langchain"] {
        let converted =
            call("convertMessages", &[chat.clone(), json!({ "from": "anthropic", "to": to })], None).unwrap();
        let found = converted["diagnostics"].as_array().unwrap();
        let told = found.iter().filter(|it| it["code"] == "not_expressible" && it["severity"] == "warning").count();
        assert_eq!(told, 1, "{converted}");
        assert!(!converted.to_string().contains("CS") && converted.to_string().contains("SUM"), "{converted}");
    }
    let sealed = json!([
        { "role": "user", "content": "p" },
        { "type": "compaction", "encrypted_content": "gAAAAAB" },
        { "role": "user", "content": "q" },
    ]);
    let tree = call("chatToLoomTree", &[sealed.clone(), json!({ "from": "openai-responses" })], None).unwrap();
    assert_eq!(tree["diagnostics"], json!([]));
    let converted =
        call("convertMessages", &[sealed, json!({ "from": "openai-responses", "to": "anthropic" })], None).unwrap();
    assert!(!converted["messages"].to_string().contains("gAAAAAB"), "{converted}");
    assert_eq!(converted["diagnostics"][0]["severity"], "warning");
}
