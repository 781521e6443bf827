//! Guarantees of dialogue assembly (docs/loom.md), on random trees and on small ones made for the purpose.

use std::collections::{BTreeMap, BTreeSet};

use crate::calls::loom::assemble_dialogue_json;
use ctxweave::loom::{Fate, NodePart, Options, Reason, Strategy as Cut, Tree, assemble_dialogue};
use ctxweave::{Code, Error};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::generate::{Case, case, cases};
use crate::recount;
use crate::{aware, model};

fn value(case: &Case) -> Result<Value, Error> {
    assemble_dialogue(&case.tree, &case.options, case.counter).map(|result| serde_json::to_value(&result).unwrap())
}

fn messages(result: &Value) -> &Vec<Value> {
    result["messages"].as_array().unwrap()
}

fn node_ids(result: &Value) -> Vec<String> {
    let ids = messages(result).iter().flat_map(|message| message["nodeIds"].as_array().unwrap());
    ids.map(|id| id.as_str().unwrap().to_owned()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(2000)))]

    /// An independent recount never exceeds the limit, and equals the reported total.
    #[test]
    fn the_recount_is_the_report(case in case()) {
        let Ok(result) = value(&case) else { return Ok(()) };
        recount::is_the_report(&result, recount::dialogue(&result, &case.options, case.counter))?;
    }

    /// Spans are in order, each is the text of its node, and text outside of them belongs to no node.
    #[test]
    fn spans_are_what_nodes_say(case in case()) {
        let Ok(result) = value(&case) else { return Ok(()) };
        let mut long = case.clone();
        long.options.context_window = 1e9;
        let whole = value(&long).unwrap();
        let broken = model::broken_blocks(&case.tree, &whole);
        let headers = aware::Headers::new(&case, &whole);
        let empty = Vec::new();
        let shortened = result["report"]["cut"]["partialNodeIds"].as_array().unwrap_or(&empty);
        let marker = result["report"]["cut"]["marker"].as_str().unwrap_or_default();
        for message in messages(&result) {
            let content = &message["content"];
            let text = |part: &Value| match (content, part.as_u64()) {
                (Value::String(text), None) => text.clone(),
                (Value::Array(parts), Some(part)) => parts[part as usize]["text"].as_str().unwrap_or_default().to_owned(),
                (content, part) => panic!("{part:?} of {content}"),
            };
            let mut rest = message["spans"].as_array().unwrap().as_slice();
            let mut covered: BTreeMap<String, Vec<(usize, usize)>> = BTreeMap::new();
            for id in message["nodeIds"].as_array().unwrap() {
                let said = model::parts(&case.tree, id.as_str().unwrap(), &case.options, &broken);
                let (own, others) = rest.split_at(said.len());
                rest = others;
                for (span, part) in own.iter().zip(&said) {
                    prop_assert_eq!(&span["nodeId"], id);
                    let at = |key: &str| span[key].as_u64().unwrap() as usize;
                    let units: Vec<u16> = text(&span["part"]).encode_utf16().collect();
                    let slice = String::from_utf16(&units[at("start")..at("end")]).unwrap();
                    if !shortened.contains(id) {
                        prop_assert_eq!(&slice, part["text"].as_str().unwrap_or_default());
                    }
                    if let Some(index) = span["part"].as_u64() {
                        prop_assert_eq!(&content[index as usize]["type"], &part["type"]);
                    }
                    let spans = covered.entry(span["part"].to_string()).or_default();
                    prop_assert!(spans.last().is_none_or(|last| last.1 < at("start")), "{}", message);
                    spans.push((at("start"), at("end")));
                }
            }
            prop_assert!(rest.is_empty(), "{}", message);
            // Text of no node: headers, blocks and the marker.
            let all: Vec<Value> = match content {
                Value::String(_) => vec![Value::Null],
                parts => (0..parts.as_array().unwrap().len()).map(|part| json!(part)).collect(),
            };
            if message["role"] == "system" {
                continue;
            }
            for part in all {
                let mut units: Vec<u16> = text(&part).encode_utf16().collect();
                for &(start, end) in covered.entry(part.to_string()).or_default().iter().rev() {
                    units.splice(start..end, "\n".encode_utf16());
                }
                let mut left = String::from_utf16(&units).unwrap();
                let bare = json!({ "type": "text", "text": "" });
                let headers = message["nodeIds"].as_array().unwrap().iter().map(|id| {
                    model::trimmed(headers.put(id.as_str().unwrap(), vec![bare.clone()])[0]["text"].as_str().unwrap()).to_owned()
                });
                let nobodys = aware::blocks(&result).into_iter().flatten().chain([marker.to_owned()]).chain(headers);
                for text in nobodys.filter(|text| !text.is_empty()) {
                    left = left.replacen(&text, "", 1);
                }
                prop_assert!(left.chars().all(|ch| ch == '\n'), "{left:?} is left of {message}");
            }
        }
    }

    /// Every node is accounted for exactly once.
    #[test]
    fn every_node_is_accounted_for(case in case()) {
        let Ok(result) = assemble_dialogue(&case.tree, &case.options, case.counter) else { return Ok(()) };
        let rows: BTreeMap<&str, Fate> = result.report.nodes.iter().map(|row| (row.node_id, row.fate)).collect();
        prop_assert_eq!(rows.len(), result.report.nodes.len());
        prop_assert_eq!(rows.len() + result.report.not_on_path, case.tree.len());
        let sent: Vec<&str> = result.messages.iter().flat_map(|message| message.node_ids.iter().copied()).collect();
        let distinct: BTreeSet<&str> = sent.iter().copied().collect();
        prop_assert_eq!(sent.len(), distinct.len());
        for row in &result.report.nodes {
            let elsewhere = [NodePart::Instruction, NodePart::Pinned].contains(&row.part);
            let whole = row.fate == Fate::Kept && !elsewhere;
            let there = whole || row.reason == Some(Reason::Shortened);
            prop_assert_eq!(there, distinct.contains(row.node_id), "{:?}", row);
            prop_assert_eq!(row.fate == Fate::Kept, row.reason.is_none(), "{:?}", row);
            prop_assert_eq!(row.message.is_some(), distinct.contains(row.node_id), "{:?}", row);
        }
        let cut = result.report.cut.unwrap_or_default();
        let gone: BTreeSet<&str> = cut.node_ids.iter().copied().collect();
        let over: BTreeSet<&str> = result.report.nodes.iter().filter(|row| row.reason == Some(Reason::OverLimit)).map(|row| row.node_id).collect();
        prop_assert_eq!(gone, over);
    }

    /// A call and its result are never sent apart.
    #[test]
    fn pairs_are_never_split(case in case()) {
        let Ok(result) = value(&case) else { return Ok(()) };
        let mut open = BTreeSet::new();
        for message in messages(&result) {
            for part in message["content"].as_array().into_iter().flatten() {
                match part["type"].as_str().unwrap() {
                    "toolCall" => prop_assert!(open.insert(part["id"].as_str().unwrap().to_owned())),
                    "toolResult" => prop_assert!(open.remove(part["toolCallId"].as_str().unwrap())),
                    _ => {}
                }
            }
        }
        prop_assert!(open.is_empty(), "calls without results: {:?}", open);
    }

    /// Consecutive nodes of one role merge, so roles alternate, before and after a cut.
    #[test]
    fn roles_alternate(case in case()) {
        let Ok(result) = value(&case) else { return Ok(()) };
        let roles: Vec<_> = messages(&result).iter().map(|message| message["role"].clone()).collect();
        prop_assert!(roles.windows(2).all(|pair| pair[0] != pair[1]), "{:?}", roles);
        prop_assert!(messages(&result).iter().all(|message| message["content"] != json!("") && message["content"] != json!([])));
    }

    /// Under the limit every strategy is the identity.
    #[test]
    fn under_the_limit_nothing_changes(mut case in case()) {
        case.options.context_window = 1e9;
        let mut of = |strategy| {
            case.options.preferences.truncation_strategy = Some(strategy);
            let mut result = value(&case).unwrap();
            let report = result["report"].take();
            assert_eq!(report["truncated"], false);
            assert_eq!(report["minimumRecentNodesMet"], true);
            (result, report["tokens"]["total"].as_u64().unwrap())
        };
        let whole = of(Cut::StopAtLimit);
        prop_assert_eq!(&of(Cut::TruncateMiddle), &whole);
        prop_assert_eq!(&of(Cut::RollingWindow), &whole);
        // At exactly the limit it still is.
        case.options.context_window = whole.1 as f64 + case.options.preferences.token_buffer.unwrap();
        for strategy in [Cut::StopAtLimit, Cut::TruncateMiddle, Cut::RollingWindow] {
            case.options.preferences.truncation_strategy = Some(strategy);
            if case.options.context_window > case.options.preferences.token_buffer.unwrap() {
                prop_assert_eq!(value(&case).unwrap()["report"]["truncated"].clone(), json!(false));
            }
        }
    }

    /// A rolling window has no holes, and a larger budget never keeps fewer units.
    #[test]
    fn rolling_windows_are_whole_and_monotonic(mut case in case(), more in 0..200u32) {
        case.options.preferences.truncation_strategy = Some(Cut::RollingWindow);
        case.options.preferences.protect = Some(Vec::new());
        let small = value(&case);
        case.options.context_window += f64::from(more);
        let (Ok(small), Ok(large)) = (small, value(&case)) else { return Ok(()) };
        case.options.context_window = 1e9;
        let all = node_ids(&value(&case).unwrap());
        prop_assert!(all.ends_with(&node_ids(&small)));
        prop_assert!(all.ends_with(&node_ids(&large)));
        prop_assert!(node_ids(&large).len() >= node_ids(&small).len());
    }

    /// `truncateMiddle` removes one contiguous run except protected nodes, and the report names its place.
    #[test]
    fn a_middle_cut_is_one_run(mut case in case()) {
        case.options.preferences.truncation_strategy = Some(Cut::TruncateMiddle);
        let Ok(result) = value(&case) else { return Ok(()) };
        case.options.context_window = 1e9;
        let all = node_ids(&value(&case).unwrap());
        let Some(cut) = result["report"]["cut"].as_object() else { return Ok(()) };
        let gone: Vec<String> = cut["nodeIds"].as_array().unwrap().iter().map(|id| id.as_str().unwrap().to_owned()).collect();
        let at = cut["position"].as_u64().unwrap() as usize;
        if case.options.preferences.protect == Some(Vec::new()) {
            prop_assert_eq!(&all[at..at + gone.len()], &gone[..]);
        }
        let (before, after) = all.split_at(at);
        prop_assert!(gone.first() == after.first() || gone.is_empty());
        let kept: Vec<String> = before.iter().chain(after.iter().filter(|id| !gone.contains(id))).cloned().collect();
        prop_assert_eq!(kept, node_ids(&result));
    }

    /// Same input, same bytes; the input stays unchanged.
    #[test]
    fn the_same_again(case in case()) {
        let before = format!("{:?}{:?}", case.tree, case.options);
        prop_assert_eq!(value(&case).map_err(|error| error.to_string()), value(&case).map_err(|error| error.to_string()));
        prop_assert_eq!(format!("{:?}{:?}", case.tree, case.options), before);
    }
}

/// A chain of nodes n0, n1, … of alternating authors.
fn chain(texts: &[&str]) -> Value {
    let author = |at: usize| if at.is_multiple_of(2) { "human" } else { "model" };
    let nodes: Vec<Value> = texts
        .iter()
        .enumerate()
        .map(|(at, text)| json!({ "id": format!("n{at}"), "content": text, "authorType": author(at) }))
        .collect();
    let edge = |at: usize| json!({ "id": format!("e{at}"), "sources": [{ "nodeId": format!("n{}", at - 1) }], "targetNodeId": format!("n{at}") });
    let edges: Vec<Value> = (1..texts.len()).map(edge).collect();
    json!({ "nodes": nodes, "edges": edges })
}

fn assemble(request: Value) -> Result<Value, Error> {
    assemble_dialogue_json(request.to_string().as_bytes()).map(|result| serde_json::from_slice(&result).unwrap())
}

/// `cutStep`: the cut stays put while the conversation grows by less than the step.
#[test]
fn a_quantised_cut_stays_put() {
    let words = "All work and no play makes Jack a dull boy, and so on it goes for a line or two more. ".repeat(3);
    for (strategy, step, most) in
        [("truncateMiddle", 1000, 8), ("rollingWindow", 1000, 8), ("truncateMiddle", 0, 80), ("rollingWindow", 0, 80)]
    {
        let mut cuts = BTreeSet::new();
        let mut turns = 0;
        for length in 60..140 {
            let tree = chain(&vec![words.as_str(); length]);
            let result = assemble(json!({
                "tree": tree, "tip": format!("n{}", length - 1), "contextWindow": 4000,
                "preferences": { "truncationStrategy": strategy, "cutStep": step, "tokenBuffer": 0 },
            }))
            .unwrap();
            if let Some(cut) = result["report"]["cut"].as_object() {
                turns += 1;
                cuts.insert((cut["position"].as_u64(), cut["nodeIds"].as_array().unwrap().len()));
            }
        }
        assert!(turns >= 70, "{strategy}: {turns} turns over the limit");
        assert!(cuts.len() <= most, "{strategy} {step}: {} cuts", cuts.len());
        // Without the step nearly every turn moves the cut: the test can tell the difference.
        assert!(step > 0 || cuts.len() > 30, "{strategy} {step}: {} cuts", cuts.len());
    }
}

/// The marker is present whenever the middle was cut, even if leaving it out could keep one more unit.
#[test]
fn a_cut_middle_has_its_marker() {
    let texts = ["first of four", "second of four", "third of four", "fourth of four"];
    let mut cut = 0;
    for window in 10..40 {
        let preferences = json!({ "tokenBuffer": 0 });
        let request =
            json!({ "tree": chain(&texts), "tip": "n3", "contextWindow": window, "preferences": preferences });
        let Ok(result) = assemble(request) else { continue };
        let is_cut = result["report"].get("cut").is_some_and(|cut| cut["nodeIds"] != json!([]));
        cut += usize::from(is_cut);
        assert_eq!(result["report"]["cut"].get("marker").is_some(), is_cut, "{window}: {result}");
    }
    assert!(cut > 3, "{cut}");
}

#[test]
fn stop_at_limit_reports_the_cost_of_each_node() {
    let tree = chain(&["one two three", "four five six", "seven"]);
    let error = assemble(json!({ "tree": tree, "tip": "n2", "contextWindow": 20, "preferences": { "truncationStrategy": "stopAtLimit", "tokenBuffer": 0 } })).unwrap_err();
    assert_eq!(error.code(), Code::ContextTooLong);
    let details = error.details();
    let (limit, required) = (details["limit"].as_u64().unwrap(), details["required"].as_u64().unwrap());
    assert_eq!((limit, details["overBy"].as_u64().unwrap()), (20, required - limit));
    let ids: Vec<_> =
        details["nodes"].as_array().unwrap().iter().map(|node| node["nodeId"].as_str().unwrap()).collect();
    assert_eq!(ids, ["n0", "n1", "n2"]);
}

#[test]
fn a_system_context_that_does_not_fit_is_an_error() {
    let mut tree = chain(&["hello"]);
    tree["systemContext"] = json!("You are a helpful assistant. ".repeat(40));
    for strategy in ["truncateMiddle", "rollingWindow", "stopAtLimit"] {
        let error = assemble(json!({ "tree": tree, "tip": "n0", "contextWindow": 100, "preferences": { "truncationStrategy": strategy, "tokenBuffer": 0 } })).unwrap_err();
        assert_eq!(error.code(), Code::SystemContextTooLong, "{strategy}");
    }
}

/// An oversized newest message neither loops nor vanishes.
#[test]
fn the_last_resort_cuts_the_newest_text() {
    let long = "word ".repeat(5000);
    let tree = chain(&["short", "also short", &long]);
    let request = |strategy: &str, window: u32| json!({ "tree": tree, "tip": "n2", "contextWindow": window, "preferences": { "truncationStrategy": strategy, "tokenBuffer": 0, "protect": [] } });
    let middle = assemble(request("truncateMiddle", 300)).unwrap();
    let said = messages(&middle)[0]["content"].as_str().unwrap();
    assert!(said.starts_with("[… 2 earlier nodes omitted …]\n\nword word"), "{said:.60}");
    assert!(said.contains("word\n\n[…]\n\nword") && said.ends_with("word"));
    assert_eq!(middle["report"]["minimumRecentNodesMet"], false);
    assert_eq!(middle["report"]["cut"]["partialNodeIds"], json!(["n2"]));
    let total = middle["report"]["tokens"]["total"].as_u64().unwrap();
    assert!((280..=300).contains(&total), "{total} of 300");
    let rolling = assemble(request("rollingWindow", 300)).unwrap();
    assert!(messages(&rolling)[0]["content"].as_str().unwrap().starts_with("[…]\n\nword"));
    assert_eq!(messages(&rolling).len(), 1);
    for strategy in ["truncateMiddle", "rollingWindow"] {
        assert_eq!(assemble(request(strategy, 8)).unwrap_err().code(), Code::ContextTooLong);
    }
}

/// Budget 0 is not taken for unset, and NaN is rejected.
#[test]
fn budgets_are_checked() {
    let tree = chain(&["hello"]);
    let with = |window: Value, preferences: Value| {
        assemble(json!({ "tree": tree, "tip": "n0", "contextWindow": window, "preferences": preferences }))
    };
    for (window, preferences) in [
        (json!(0), json!({ "tokenBuffer": 0 })),
        (json!(1024), json!({})),
        (json!(-1), json!({})),
        (json!(1500.5), json!({})),
        (json!(5000), json!({ "tokenBuffer": -1 })),
        (json!(5000), json!({ "tokenBuffer": 5000 })),
        (json!(5000), json!({ "minimumRecentNodes": -1 })),
        (json!(5000), json!({ "minimumRecentNodes": 0.5 })),
        (json!(5000), json!({ "cutStep": -7 })),
    ] {
        let error = with(window.clone(), preferences.clone()).unwrap_err();
        assert_eq!(error.code(), Code::InvalidBudget, "{window} {preferences}: {error}");
        assert!(error.details().get("setting").is_some());
    }
    let tree = Tree::new(Default::default(), vec![], vec![], &Default::default()).unwrap();
    let mut options = Options::from_tip("n0", 1);
    options.context_window = f64::NAN;
    assert_eq!(
        assemble_dialogue(&tree, &options, &ctxweave::tokens::Heuristic).unwrap_err().code(),
        Code::InvalidBudget
    );
}

/// Preferences: request over tree over app over defaults, field by field.
#[test]
fn preferences_resolve_field_by_field() {
    let mut tree = chain(&["hello"]);
    tree["preferences"] = json!({ "tokenBuffer": 200, "truncationStrategy": "rollingWindow" });
    let result = assemble(json!({
        "tree": tree, "tip": "n0", "contextWindow": 5000,
        "preferences": { "truncationStrategy": "stopAtLimit" },
        "appPreferences": { "truncationStrategy": "truncateMiddle", "tokenBuffer": 7, "minimumRecentNodes": 9 },
    }))
    .unwrap();
    assert_eq!(
        result["report"]["preferences"],
        json!({
            "truncationStrategy": "stopAtLimit", "minimumRecentNodes": 9, "tokenBuffer": 200,
            "truncationMarker": "[… {count} earlier nodes omitted …]", "cutStep": 0, "startOn": "any",
            "protect": [], "fill": "all",
        })
    );
    assert_eq!(result["report"]["limit"], 4800);
}

/// `startOn`: a window may lose its leading assistant messages, and reports if it cannot.
#[test]
fn a_window_can_start_on_a_user_message() {
    let texts = vec!["a dozen words or so that take about fifteen tokens of the budget, roughly"; 20];
    let request = |window: u32| json!({ "tree": chain(&texts), "tip": "n19", "contextWindow": window, "preferences": { "truncationStrategy": "rollingWindow", "startOn": "user", "tokenBuffer": 0 } });
    for window in 50..150 {
        let result = assemble(request(window)).unwrap();
        assert_eq!(messages(&result)[0]["role"], "user", "{window}");
    }
    let result = assemble(request(28)).unwrap();
    assert_eq!(messages(&result)[0]["role"], "assistant");
    assert_eq!(result["report"]["diagnostics"][0]["code"], "start_on_user_unmet");
}

/// No input takes more than about linear time; this test only has to end.
#[test]
fn long_unbroken_texts_are_no_trouble() {
    for unit in ["a", " ", "漢", "[", "👨‍👩‍👧‍👦", "\n\n", "e\u{301}"] {
        let text = format!("x{}", unit.repeat(200_000 / unit.len()));
        for strategy in ["truncateMiddle", "rollingWindow"] {
            let result = assemble(json!({ "tree": chain(&[&text, "ok", &text]), "tip": "n2", "contextWindow": 1000, "preferences": { "truncationStrategy": strategy, "tokenBuffer": 0 } })).unwrap();
            assert!(result["report"]["tokens"]["total"].as_u64().unwrap() <= 1000);
        }
    }
}

/// Each half of a surrogate pair becomes U+FFFD, with a diagnostic that names the place.
#[test]
fn lone_surrogates_are_replaced() {
    let request = br#"{"tree":{"nodes":[{"id":"a","content":"x\ud800y","authorType":"human"}],"edges":[]},"tip":"a","contextWindow":5000}"#;
    let result: Value = serde_json::from_slice(&assemble_dialogue_json(request).unwrap()).unwrap();
    assert_eq!(messages(&result)[0]["content"], "x\u{fffd}y");
    assert_eq!(result["report"]["diagnostics"][0]["code"], "lone_surrogate_replaced");
    assert_eq!(result["report"]["diagnostics"][0]["path"], "tree.nodes[0].content");
}
