//! Conversations with the structure and sizes of real ones (tests/corpus/conversations.json), and what vendors demand of everything that is
//! made of them.

use ctxweave::prompt::bodies::Provider;
use serde_json::{Value, json};

use crate::bodies::rules::{broken, broken_chat};
use crate::calls::call;
use crate::generate::cases;

const WORDS: [&str; 6] = ["the", "red", "house", "of", "a", "man"];

pub(crate) fn text(tokens: u64) -> String {
    let words = (0..tokens.max(1) as usize).map(|at| WORDS[(at * 5 + at / 7) % WORDS.len()]);
    words.collect::<Vec<_>>().join(" ")
}

/// A conversation of the corpus: its rows have roles and sizes.
fn chat(rows: &[Value]) -> Vec<Value> {
    let message = |row: &Value| {
        let tokens = row[1].as_u64().unwrap().saturating_sub(4);
        match row[0].as_str().unwrap() {
            "c" => {
                let calls = row[2].as_array().unwrap();
                let cost: u64 = calls.iter().map(|call| call[2].as_u64().unwrap()).sum();
                let call = |call: &Value| {
                    let input = json!({ "input": text(call[2].as_u64().unwrap().saturating_sub(9)) }).to_string();
                    json!({
                        "id": format!("call_{}", call[0]),
                        "type": "function",
                        "function": { "name": call[1], "arguments": input },
                    })
                };
                let content = if row[3] == 1 { json!(text(tokens.saturating_sub(cost))) } else { Value::Null };
                json!({ "role": "assistant", "content": content, "tool_calls": calls.iter().map(call).collect::<Vec<_>>() })
            }
            "t" => json!({ "role": "tool", "tool_call_id": format!("call_{}", row[2]), "content": text(tokens) }),
            kind => {
                let role = match kind {
                    "s" => "system",
                    "d" => "developer",
                    "u" => "user",
                    _ => "assistant",
                };
                json!({ "role": role, "content": text(tokens) })
            }
        }
    };
    rows.iter().map(message).collect()
}

pub(crate) fn corpus() -> Vec<Vec<Value>> {
    let json: Value = serde_json::from_str(include_str!("../corpus/conversations.json")).unwrap();
    json.as_array().unwrap().iter().map(|conversation| chat(conversation["m"].as_array().unwrap())).collect()
}

const STRATEGIES: [&str; 3] = ["truncateMiddle", "rollingWindow", "keepStart"];
const PERCENTS: [u64; 5] = [10, 25, 50, 75, 90];

/// Each conversation in a format that has a checker, with each strategy, limit, and with and without edits. Runs of few cases take
/// some of them.
fn combinations(formats: &[&'static str]) -> impl Iterator<Item = (usize, &'static str, &'static str, u64, bool)> {
    let mut all = Vec::new();
    for at in 0..corpus().len() {
        for format in formats {
            for strategy in STRATEGIES {
                for percent in PERCENTS {
                    all.extend([true, false].map(|edits| (at, *format, strategy, percent, edits)));
                }
            }
        }
    }
    let taken = cases(all.len() as u32 / 10).max(1) as usize;
    // Neighbors differ in one thing only.
    let step = (all.len() / taken.min(all.len())) | 1;
    let count = all.len();
    (0..count).step_by(step).map(move |at| all[at])
}

const FORMATS: [&str; 4] = ["openai", "openai-responses", "anthropic", "gemini"];

fn options_for(format: &str, strategy: &str, limit: u64, edits: bool) -> Value {
    let mut options = json!({ "format": format, "maxTokens": limit, "truncationStrategy": strategy });
    if !edits {
        options["edits"] = json!(false);
    }
    options
}

#[test]
fn fits_of_the_corpus_keep_the_vendors_rules() {
    let corpus = corpus();
    let mut fitted = 0;
    for (at, format, strategy, percent, edits) in combinations(&FORMATS) {
        let options = json!({ "from": "openai", "to": format });
        let chat = call("convertMessages", &[json!(corpus[at]), options], None).unwrap();
        let messages = &chat["messages"];
        if broken_chat(format, messages.as_array().unwrap()).is_err() {
            // Its calls have equal ids.
            continue;
        }
        let measured = call("measureMessages", &[messages.clone(), json!({ "format": format })], None).unwrap();
        let total = measured["total"].as_u64().unwrap();
        let options = options_for(format, strategy, total * percent / 100, edits);
        let Ok(fit) = call("fitMessages", &[messages.clone(), options], None) else { continue };
        fitted += 1;
        let sent = fit["messages"].as_array().unwrap();
        assert_eq!(broken_chat(format, sent), Ok(()), "{at} {format} {strategy} {percent} {edits}");
    }
    assert!(fitted > 0, "every conversation was refused");
}

const PROVIDERS: [(&str, Provider); 4] = [
    ("openai", Provider::OpenAi),
    ("openai-responses", Provider::OpenAiResponses),
    ("anthropic", Provider::Anthropic),
    ("gemini", Provider::Gemini),
];

#[test]
fn bodies_of_the_corpus_keep_the_vendors_rules() {
    let corpus = corpus();
    let mut written = 0;
    for (at, name, strategy, percent, fills) in combinations(&PROVIDERS.map(|(name, _)| name)) {
        let chat = call("chatToLoomTree", &[json!(corpus[at]), json!({ "from": "openai" })], None).unwrap();
        let total = call("countChatTokens", &[json!(corpus[at]), json!({})], None).unwrap().as_u64().unwrap();
        let fill = if fills { "all" } else { "off" };
        let request = json!({
            "tree": chat["tree"],
            "tip": chat["tip"],
            "contextWindow": (total * percent / 100).max(1),
            "preferences": { "truncationStrategy": strategy, "tokenBuffer": 0, "fill": fill },
            "target": { "provider": name, "model": "m", "maxTokens": 1 },
        });
        let Ok(body) = call("requestBody", &[request], None) else { continue };
        written += 1;
        let body: Value = serde_json::from_str(body["$text"].as_str().unwrap()).unwrap();
        let (_, provider) = PROVIDERS.into_iter().find(|(known, _)| *known == name).unwrap();
        assert_eq!(broken(provider, &body), Ok(()), "{at} {name} {strategy} {percent} {fills}");
    }
    assert!(written > 0, "every conversation was refused");
}
