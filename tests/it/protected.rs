//! Dialogues keep the task and use the window (docs/loom.md: `protect`, `fill`, buffer mode).

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::calls::call;
use crate::generate::{case, cases};
use ctxweave::loom::{Fate, NodePart, Strategy as Cut, assemble_dialogue};

fn words(count: usize) -> String {
    (0..count).map(|at| format!("word{}", at % 97)).collect::<Vec<_>>().join(" ")
}

fn tree(nodes: &[(&str, Value)]) -> Value {
    let node = |(at, (author, content)): (usize, &(&str, Value))| json!({ "id": format!("n{at}"), "authorType": author, "content": content });
    let edge = |at: usize| json!({ "id": format!("e{at}"), "sources": [{ "nodeId": format!("n{}", at - 1) }], "targetNodeId": format!("n{at}") });
    json!({
        "nodes": nodes.iter().enumerate().map(node).collect::<Vec<_>>(),
        "edges": (1..nodes.len()).map(edge).collect::<Vec<_>>(),
    })
}

fn assembled(nodes: &[(&str, Value)], limit: u64, preferences: Value) -> Value {
    let mut merged = json!({ "tokenBuffer": 0 });
    merged.as_object_mut().unwrap().extend(preferences.as_object().unwrap().clone());
    let tip = format!("n{}", nodes.len() - 1);
    let media = json!({ "i": { "url": "https://example.com/i.png" } });
    let request =
        json!({ "tree": tree(nodes), "tip": tip, "contextWindow": limit, "preferences": merged, "media": media });
    call("assembleDialogue", &[request], None).unwrap()
}

fn fates(result: &Value) -> Vec<&str> {
    let rows = result["report"]["nodes"].as_array().unwrap().iter();
    rows.map(|row| row["fate"].as_str().unwrap()).collect()
}

fn total(result: &Value) -> u64 {
    result["report"]["tokens"]["total"].as_u64().unwrap()
}

fn text(result: &Value, message: usize) -> &str {
    result["messages"][message]["content"].as_str().unwrap()
}

/// A task and small steps: at this limit the head alone would not hold the task.
#[test]
fn the_task_is_kept() {
    let mut nodes = vec![("human", json!(words(500)))];
    nodes.extend((0..12).map(|at| (if at % 2 == 0 { "model" } else { "human" }, json!(words(100)))));
    let plain = assembled(&nodes, 2000, json!({ "protect": [], "fill": "off" }));
    assert_eq!((fates(&plain)[0], plain["report"]["cut"]["position"].clone()), ("cut", json!(0)));
    let kept = assembled(&nodes, 2000, json!({}));
    assert_ne!(fates(&kept)[0], "cut");
    assert!(text(&kept, 0).starts_with("word0 word1"), "{:.80}", text(&kept, 0));
    assert!(total(&kept) >= 1980, "{}", total(&kept));
}

/// A first message that is over the limit by itself, and two short replies: nothing is removed.
#[test]
fn a_long_first_message_is_shortened_to_the_window() {
    let nodes = [("human", json!(words(20_000))), ("model", json!("I see.")), ("human", json!("Continue."))];
    let result = assembled(&nodes, 7168, json!({}));
    assert_eq!(fates(&result), ["changed", "kept", "kept"]);
    assert!(total(&result) >= 7140, "{}", total(&result));
    let said = text(&result, 0);
    assert!(said.contains("[…]") && !said.contains("omitted"), "no node is removed");
    let row = &result["report"]["nodes"][0];
    assert_eq!((&row["reason"], row["tokens"].as_u64() > row["tokensAfter"].as_u64()), (&json!("shortened"), true));
    let cut = &result["report"]["cut"];
    assert_eq!((&cut["partialNodeIds"], &cut["nodeIds"], &cut["position"]), (&json!(["n0"]), &json!([]), &json!(0)));
}

/// The next unit is one large result: it is shortened rather than left out.
#[test]
fn a_result_at_the_edge_fills_the_window() {
    let call = json!({ "type": "toolCall", "id": "c", "name": "read", "arguments": { "path": "a" } });
    let result = json!({ "type": "toolResult", "toolCallId": "c", "content": words(2000) });
    let mixed = |block: Value| json!({ "type": "mixed", "blocks": [block] });
    let nodes = [
        ("human", json!("Read it.")),
        ("model", mixed(call.clone())),
        ("human", mixed(result)),
        ("model", json!("Read.")),
        ("human", json!("What is in it?")),
    ];
    let result = assembled(&nodes, 1000, json!({ "minimumRecentNodes": 2 }));
    assert_eq!(fates(&result), ["kept", "kept", "changed", "kept", "kept"]);
    assert_eq!(result["messages"][1]["content"][0], call);
    assert!(total(&result) >= 985, "{}", total(&result));
    let off = assembled(&nodes, 1000, json!({ "minimumRecentNodes": 2, "fill": "off" }));
    assert_eq!(fates(&off), ["kept", "cut", "cut", "kept", "kept"]);
    // A result that would keep less than 64 tokens is cleared, as in chats.
    let cleared = assembled(&nodes, 100, json!({ "minimumRecentNodes": 2 }));
    assert_eq!(cleared["messages"][2]["content"][0]["content"], "[tool result cleared]");
    // Texts are never shortened with `results`.
    let words = [("human", json!("a")), ("model", json!(words(2000))), ("human", json!("b"))];
    let only =
        |fill: &str| fates(&assembled(&words, 1000, json!({ "minimumRecentNodes": 1, "fill": fill })))[1].to_owned();
    assert_eq!((only("results"), only("all")), ("cut".to_owned(), "changed".to_owned()));
}

/// A result with an image cannot be shortened to the window: it is cleared, and the units before it use the window.
#[test]
fn a_cleared_result_leaves_room_for_others() {
    let image = json!({ "type": "image", "ref": "i", "mimeType": "image/png", "width": 3000, "height": 3000 });
    let blocks = |block: Value| json!({ "type": "mixed", "blocks": [block] });
    let mut nodes: Vec<(&str, Value)> =
        (0..20).map(|at| (if at % 2 == 0 { "human" } else { "model" }, json!(words(60)))).collect();
    nodes.push(("human", json!("Look.")));
    nodes.push(("model", blocks(json!({ "type": "toolCall", "id": "c", "name": "look", "arguments": {} }))));
    nodes.push((
        "human",
        blocks(json!({ "type": "toolResult", "toolCallId": "c", "content": { "type": "mixed", "blocks": [image] } })),
    ));
    nodes.extend([("model", json!("A cat.")), ("human", json!("Thanks."))]);
    let result = assembled(&nodes, 1500, json!({ "minimumRecentNodes": 2 }));
    assert_eq!(fates(&result)[20..], ["kept", "kept", "changed", "kept", "kept"]);
    assert!(total(&result) >= 1430, "{}", total(&result));
    // A window ends there: with a larger limit the result may be shortened, and then nothing before it fits.
    let window = assembled(&nodes, 1500, json!({ "truncationStrategy": "rollingWindow" }));
    assert_eq!(fates(&window)[20..], ["cut", "kept", "changed", "kept", "kept"]);
}

#[test]
fn the_last_user_message_is_kept_outside_a_window() {
    let mut nodes = vec![("human", json!("Begin.")), ("model", json!("Yes?")), ("human", json!("The task: count."))];
    nodes.extend((0..30).map(|_| ("model", json!(words(60)))));
    let window = |protect: Value| {
        assembled(&nodes, 1000, json!({ "truncationStrategy": "rollingWindow", "protect": protect, "fill": "off" }))
    };
    assert_eq!(fates(&window(json!([])))[..3], ["cut"; 3]);
    let kept = window(json!(["lastUser"]));
    assert_eq!(fates(&kept)[..4], ["cut", "cut", "kept", "cut"]);
    assert!(text(&kept, 0).contains("omitted") && text(&kept, 0).contains("The task: count."));
}

/// A long run of the model after the last question: neither the head nor the tail holds it.
#[test]
fn the_last_user_message_is_kept_in_the_middle() {
    let mut nodes =
        vec![("human", json!(words(200))), ("model", json!(words(300))), ("human", json!("The task: count."))];
    nodes.extend((0..30).map(|_| ("model", json!(words(60)))));
    let fate = |preferences: Value| fates(&assembled(&nodes, 1000, preferences))[2].to_owned();
    assert_eq!(fate(json!({ "protect": ["firstUser"] })), "cut");
    let kept = assembled(&nodes, 1000, json!({}));
    assert_eq!(fates(&kept)[2], "kept");
    let place = |text: &str| kept["messages"].to_string().find(text).unwrap();
    assert!(place("word0 word1") < place("omitted") && place("omitted") < place("The task: count."));
    assert_eq!(kept["messages"].to_string().matches("omitted").count(), 1);
}

/// A protected message takes a fifth and what the tail leaves, never the place of the tail.
#[test]
fn a_protected_message_leaves_the_tail() {
    let mut nodes = vec![("human", json!(words(3000)))];
    nodes.extend((0..5).map(|at| (if at % 2 == 0 { "model" } else { "human" }, json!(words(80)))));
    let tail = total(&assembled(&nodes[2..], 100_000, json!({})));
    let limit = tail * 4 / 3 + 40;
    let result = assembled(&nodes, limit, json!({ "fill": "off" }));
    assert_eq!(fates(&result), ["changed", "cut", "kept", "kept", "kept", "kept"]);
    assert_eq!(result["report"]["minimumRecentNodesMet"], true);
    let left = result["report"]["nodes"][0]["tokensAfter"].as_u64().unwrap();
    assert!((limit / 5..=limit - tail).contains(&left), "{left} of {limit}, the tail has {tail}");
}

#[test]
fn with_a_step_nothing_is_filled() {
    let nodes: Vec<(&str, Value)> =
        (0..40).map(|at| (if at % 2 == 0 { "human" } else { "model" }, json!(words(60)))).collect();
    let codes = |preferences: Value| {
        let result = assembled(&nodes, 2000, preferences);
        assert!(!fates(&result).contains(&"changed"));
        let diagnostics = result["report"]["diagnostics"].as_array().unwrap();
        diagnostics.iter().map(|known| known["code"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(codes(json!({ "cutStep": 200, "fill": "all" })), ["option_ignored"]);
    assert!(codes(json!({ "cutStep": 200 })).is_empty());
}

/// The beginning of a document keeps a quarter, although the last four nodes would take all of it.
#[test]
fn a_document_keeps_its_beginning() {
    let nodes: Vec<(&str, Value)> = (0..4).map(|at| ("model", json!(format!("{at} {}", words(400))))).collect();
    for (count, limit) in [(1, 300), (2, 400), (4, 1000)] {
        let tip = format!("n{}", count - 1);
        let request = json!({ "tree": tree(&nodes[..count]), "tip": tip, "contextWindow": limit, "preferences": { "tokenBuffer": 0 } });
        let result = call("assembleBuffer", &[request], None).unwrap();
        let (head, tail) = result["document"].as_str().unwrap().split_once("[…]").unwrap();
        let [head, tail] =
            [head, tail].map(|text| call("countTokens", &[json!(text)], None).unwrap().as_u64().unwrap());
        assert!(head + 15 >= limit / 4 && tail >= limit / 4, "{count} nodes: {head} and {tail} of {limit}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(1000)))]

    /// With the defaults no user message that begins or ends the conversation is lost among small ones, and fates are those of the
    /// messages.
    #[test]
    fn user_messages_stay_where_they_fit(mut case in case()) {
        let preferences = &mut case.options.preferences;
        preferences.truncation_strategy = Some(Cut::TruncateMiddle);
        (preferences.protect, preferences.cut_step) = (None, None);
        let window = std::mem::replace(&mut case.options.context_window, 1e9);
        let whole = assemble_dialogue(&case.tree, &case.options, case.counter).map(|whole| serde_json::to_value(&whole).unwrap());
        case.options.context_window = window;
        let result = assemble_dialogue(&case.tree, &case.options, case.counter);
        let (Ok(whole), Ok(result)) = (whole, result) else { return Ok(()) };
        let report = &result.report;
        for row in &report.nodes {
            let is_sent = result.messages.iter().any(|message| message.node_ids.contains(&row.node_id));
            prop_assert_eq!(matches!(row.fate, Fate::Kept | Fate::Changed) && row.message.is_some(), is_sent && row.part != NodePart::Pinned, "{:?}", row);
            prop_assert_eq!(row.tokens_after.is_some(), row.fate == Fate::Changed);
            prop_assert!(row.tokens_after.is_none_or(|after| after < row.tokens));
        }
        let overhead = case.options.overhead;
        let fixed = report.tokens.system + overhead.per_request + 2 * overhead.per_message + 40;
        let share = report.limit.saturating_sub(fixed) / 10;
        let has_tools = whole["messages"].to_string().contains("toolCall");
        let is_small = report.nodes.iter().all(|row| row.tokens + overhead.per_message <= share);
        if has_tools || !is_small || case.options.loom_aware.is_some() {
            return Ok(());
        }
        let messages = whole["messages"].as_array().unwrap();
        let of_users = messages.iter().filter(|message| message["role"] == "user");
        let ids: Vec<&str> = of_users.flat_map(|message| message["nodeIds"].as_array().unwrap()).map(|id| id.as_str().unwrap()).collect();
        for id in ids.first().into_iter().chain(ids.last()) {
            let row = report.nodes.iter().find(|row| row.node_id == *id && row.part != NodePart::Pinned).unwrap();
            prop_assert_ne!(row.fate, Fate::Cut, "{}", id);
        }
    }
}
