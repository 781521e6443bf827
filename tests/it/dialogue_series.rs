//! Dialogues that continue one another: continuing fits and preserved thinking (docs/agents.md).

use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Value, json};

use crate::calls::call;
use crate::generate::cases;

/// A tree as a host has it, with the state of its last request.
#[derive(Clone, Debug)]
struct Host {
    nodes: Vec<Value>,
    edges: Vec<Value>,
    tip: Option<String>,
    options: Value,
    state: Value,
    /// The messages and the system context of the last result.
    last: Option<(Vec<Value>, Value)>,
    /// Nodes that came after the last request.
    appended: Vec<String>,
    /// What each thought was made after, by its node.
    bound: BTreeMap<String, Bound>,
}

/// What a signed thought is bound to.
#[derive(Clone, Debug, PartialEq)]
struct Bound {
    prefix: Vec<(String, Value)>,
    chain: Vec<String>,
}

fn is_signed(block: &Value) -> bool {
    block["type"] == "reasoning" && block["signature"].is_string()
}

fn blocks(message: &Value) -> Vec<Value> {
    match &message["content"] {
        Value::Array(blocks) => blocks.clone(),
        text => vec![json!({ "type": "text", "text": text })],
    }
}

/// Adds a block to the conversation: texts of one role are one text, as the vendor sees them.
fn add(prefix: &mut Vec<(String, Value)>, role: &str, block: &Value) {
    let text = |block: &Value| block["text"].as_str().filter(|_| block["type"] == "text").map(str::to_owned);
    if let (Some((last_role, last)), Some(more)) = (prefix.last_mut(), text(block))
        && last_role == role
        && let Some(before) = text(last)
    {
        *last = json!({ "type": "text", "text": format!("{before}\n\n{more}") });
        return;
    }
    prefix.push((role.to_owned(), block.clone()));
}

/// What stands before each signed thought of a request, and at its end.
fn bounds(system: &Value, messages: &[Value]) -> (Vec<(String, Bound)>, Bound) {
    let mut now = Bound { prefix: vec![("system".to_owned(), system.clone())], chain: Vec::new() };
    let mut found = Vec::new();
    for message in messages {
        for block in blocks(message) {
            if is_signed(&block) {
                let signature = block["signature"].as_str().unwrap().to_owned();
                found.push((signature.clone(), now.clone()));
                now.chain.push(signature);
            } else {
                add(&mut now.prefix, message["role"].as_str().unwrap(), &block);
            }
        }
    }
    (found, now)
}

impl Host {
    fn new(options: Value) -> Self {
        Self {
            nodes: Vec::new(),
            edges: Vec::new(),
            tip: None,
            options,
            state: Value::Null,
            last: None,
            appended: Vec::new(),
            bound: BTreeMap::new(),
        }
    }

    /// Adds a node after the tip. A thought of it is bound to the last result and what was appended.
    fn append(&mut self, author: &str, mut content: Vec<Value>) -> String {
        let id = format!("n{}", self.nodes.len());
        for block in content.iter_mut().filter(|block| is_signed(block)) {
            block["signature"] = json!(id);
        }
        if content.iter().any(is_signed) {
            let (messages, system) = self.last.clone().unwrap_or_default();
            let (_, mut now) = bounds(&system, &messages);
            for node in self.appended.clone() {
                self.add_node(&node, &mut now);
            }
            for block in content.iter().take_while(|block| !is_signed(block)) {
                add(&mut now.prefix, "assistant", block);
            }
            self.bound.insert(id.clone(), now);
        }
        self.nodes.push(json!({ "id": id, "authorType": author, "content": { "type": "mixed", "blocks": content } }));
        if let Some(tip) = &self.tip {
            self.edges.push(json!({ "id": format!("e{id}"), "sources": [{ "nodeId": tip }], "targetNodeId": id }));
        }
        self.tip = Some(id.clone());
        self.appended.push(id.clone());
        id
    }

    fn add_node(&self, id: &str, now: &mut Bound) {
        let node = self.nodes.iter().find(|node| node["id"] == id).unwrap();
        for block in node["content"]["blocks"].as_array().unwrap() {
            let is_result = block["type"] == "toolResult";
            let role = if node["authorType"] == "human" || is_result { "user" } else { "assistant" };
            if is_signed(block) {
                now.chain.push(id.to_owned());
            } else {
                add(&mut now.prefix, role, block);
            }
        }
    }

    fn request(&self) -> Value {
        let mut request = self.options.clone();
        request["tree"] = json!({ "nodes": self.nodes, "edges": self.edges });
        request["tip"] = json!(self.tip);
        request
    }

    /// Assembles the path, and takes the state for the next time.
    fn send(&mut self) -> Result<Value, String> {
        let mut request = self.request();
        request["previous"] = self.state.clone();
        let result = call("assembleDialogue", &[request], None).map_err(|error| error.to_string())?;
        self.state = result["state"].clone();
        self.last = Some((result["messages"].as_array().unwrap().clone(), result["system"].clone()));
        self.appended.clear();
        Ok(result)
    }

    /// The thoughts that the vendor refuses.
    fn refused(&self, result: &Value) -> Vec<String> {
        let (found, _) = bounds(&result["system"], result["messages"].as_array().unwrap());
        let is_valid = |(id, now): &(String, Bound)| {
            let made = &self.bound[id];
            made.prefix == now.prefix && made.chain.ends_with(&now.chain)
        };
        found.into_iter().filter(|one| !is_valid(one)).map(|(id, _)| id).collect()
    }

    /// Thoughts that are valid, and missing in a node that is kept.
    fn lost(&self, result: &Value) -> Vec<String> {
        let messages = result["messages"].as_array().unwrap();
        let (found, _) = bounds(&result["system"], messages);
        let mut lost = Vec::new();
        for (id, made) in &self.bound {
            // A node that is shortened is another message itself.
            let holds = |message: &&Value| message["nodeIds"].as_array().unwrap().contains(&json!(id));
            let is_kept =
                messages.iter().find(holds).is_some_and(|message| !message["content"].to_string().contains("[…]"));
            if !is_kept || found.iter().any(|(sent, _)| sent == id) {
                continue;
            }
            // What stands before the node in the request.
            let mut now = Bound { prefix: vec![("system".to_owned(), result["system"].clone())], chain: Vec::new() };
            'before: for message in messages {
                let ids: Vec<&str> =
                    message["nodeIds"].as_array().unwrap().iter().map(|id| id.as_str().unwrap()).collect();
                let has = ids.contains(&id.as_str());
                for (at, block) in blocks(message).iter().enumerate() {
                    if has && ids[0] == *id && at == 0 {
                        break 'before;
                    }
                    if is_signed(block) {
                        now.chain.push(block["signature"].as_str().unwrap().to_owned());
                    } else {
                        add(&mut now.prefix, message["role"].as_str().unwrap(), block);
                    }
                }
                if has {
                    // Its own beginning within a message of several nodes is not looked for.
                    now.prefix.clear();
                    break;
                }
            }
            if made.prefix == now.prefix && made.chain.ends_with(&now.chain) {
                lost.push(id.clone());
            }
        }
        lost
    }
}

/// How many leading messages are the same, and whether all of the earlier ones are; the last may have more.
fn compare(before: &[Value], now: &[Value]) -> (usize, bool) {
    let is_same = |(one, other): &(&Value, &Value)| one["role"] == other["role"] && one["content"] == other["content"];
    let same = before.iter().zip(now).take_while(is_same).count();
    let grew = || {
        let (Some(one), Some(other)) = (before.last(), now.get(same)) else { return false };
        let (known, more) = (blocks(one), blocks(other));
        let Some((last, first)) = known.split_last() else { return false };
        let begins = more.len() >= known.len() && more[..first.len()] == *first;
        let next = &more.get(first.len()).cloned().unwrap_or_default();
        let text = |block: &Value| block["text"].as_str().filter(|_| block["type"] == "text").map(str::to_owned);
        let longer = match (text(last), text(next)) {
            (Some(last), Some(next)) => next.starts_with(&format!("{last}\n\n")),
            _ => false,
        };
        one["role"] == other["role"] && begins && (next == last || longer)
    };
    (same, same == before.len() || same + 1 == before.len() && grew())
}

fn say(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}

fn think(text: &str) -> Value {
    json!({ "type": "reasoning", "text": text, "signature": "" })
}

fn options(window: u32) -> Value {
    json!({ "contextWindow": window, "preferences": { "tokenBuffer": 0 } })
}

/// A turn of an agent: a thought, a call and its result.
fn turn(host: &mut Host, at: usize) {
    let call = json!({ "type": "toolCall", "id": format!("c{at}"), "name": "read", "arguments": { "path": format!("{at}.rs") } });
    host.append("model", vec![think(&format!("I should read file {at}. ").repeat(4)), say("I read on."), call]);
    let result =
        json!({ "type": "toolResult", "toolCallId": format!("c{at}"), "content": "a line of code; ".repeat(20) });
    host.append("human", vec![result]);
}

#[test]
fn a_series_changes_its_beginning_only_in_steps() {
    for strategy in ["truncateMiddle", "rollingWindow"] {
        let mut options = options(2_000);
        options["preferences"]["truncationStrategy"] = json!(strategy);
        let mut host = Host::new(options);
        host.append("human", vec![say("Fix the tests.")]);
        let (mut steps, mut over) = (0, 0);
        for at in 0..120 {
            let before = host.last.clone();
            let result = host.send().unwrap();
            let prefix = &result["report"]["prefix"];
            let total = result["report"]["tokens"]["total"].as_u64().unwrap();
            assert!(total <= 2_000);
            assert!(host.refused(&result).is_empty(), "{at} {:?}", host.refused(&result));
            assert!(host.lost(&result).is_empty(), "{at} {:?}", host.lost(&result));
            match before {
                None => assert_eq!(prefix["reason"], "first"),
                Some((before, _)) => {
                    let now = result["messages"].as_array().unwrap();
                    let (same, stable) = compare(&before, now);
                    assert_eq!(
                        (prefix["messages"].as_u64().unwrap() as usize, &prefix["stable"]),
                        (same, &json!(stable)),
                        "{at}"
                    );
                    if result["report"]["truncated"] == true {
                        over += 1;
                    }
                    if !stable {
                        steps += 1;
                        assert_eq!(prefix["reason"], "step", "{at}");
                        assert!(total <= 1_500, "{at}: {total}");
                    }
                }
            }
            turn(&mut host, at);
        }
        assert!(over > 90 && steps * 4 < over && steps > 5, "{strategy}: {steps} of {over}");
    }
}

#[test]
fn state_is_small_and_damage_begins_afresh() {
    let mut host = Host::new(options(16_000));
    host.append("human", vec![say("Fix the tests.")]);
    for at in 0..200 {
        turn(&mut host, at);
    }
    host.send().unwrap();
    turn(&mut host, 200);
    host.send().unwrap();
    let text = host.state.to_string();
    let runs = host.state["treated"].as_array().unwrap().len();
    let marker = host.state["marker"][1].as_str().unwrap().len();
    assert!(text.len() <= 2048 + 32 * runs + marker, "{} {text}", text.len());
    // Nothing of it is relied on.
    let mut host = Host::new(options(1_000));
    host.append("human", vec![say("Fix the tests.")]);
    for at in 0..12 {
        turn(&mut host, at);
    }
    host.send().unwrap();
    turn(&mut host, 12);
    host.send().unwrap();
    let whole = host.clone();
    let fields: Vec<String> = host.state.as_object().unwrap().keys().cloned().collect();
    for field in fields {
        for damage in [json!("x"), json!([]), json!([1]), json!({}), json!(-1), json!(1e300), Value::Null] {
            let mut damaged = whole.clone();
            damaged.state[&field] = damage;
            let result = damaged.send().unwrap();
            assert!(result["report"]["tokens"]["total"].as_u64().unwrap() <= 1_000);
        }
    }
    for other in [json!({}), json!({ "version": 99 }), json!({ "version": 1 })] {
        let mut other = Host { state: other, ..whole.clone() };
        assert_eq!(other.send().unwrap()["report"]["prefix"]["reason"], "state_unusable");
    }
    let mut marked = whole.clone();
    assert!(marked.state["marker"][1].is_string());
    marked.state["marker"][1] = json!("zap ".repeat(1_000));
    let result = marked.send().unwrap();
    assert_eq!(result["report"]["prefix"]["reason"], "state_unusable");
    assert!(!result.to_string().contains("zap"));
    for wrong in [json!("state"), json!(1), json!([])] {
        let mut wrong = Host { state: wrong, ..whole.clone() };
        assert!(wrong.send().unwrap_err().contains("invalid_input"));
    }
}

#[test]
fn a_larger_limit_keeps_the_treatment_and_no_previous_starts_over() {
    let mut host = Host::new(options(1_500));
    host.append("human", vec![say("Fix the tests.")]);
    for at in 0..20 {
        turn(&mut host, at);
    }
    let first = host.send().unwrap();
    assert_eq!(first["report"]["truncated"], true);
    host.options["contextWindow"] = json!(100_000);
    let second = host.send().unwrap();
    assert_eq!((&second["messages"], &second["report"]["prefix"]["stable"]), (&first["messages"], &json!(true)));
    let single = call("assembleDialogue", &[host.request()], None).unwrap();
    assert_eq!(single["report"]["truncated"], false);
    assert!(single.get("state").is_none() && single["report"].get("prefix").is_none());
}

#[test]
fn reasons_are_reported() {
    let mut host = Host::new(options(1_200));
    host.options["agent"] = json!({ "configuration": { "systemPrompt": "Be brief." } });
    host.append("human", vec![say("Fix the tests.")]);
    for at in 0..20 {
        host.send().unwrap();
        turn(&mut host, at);
    }
    let mut stable = 0;
    loop {
        stable = if host.send().unwrap()["report"]["prefix"]["stable"] == true { stable + 1 } else { 0 };
        if stable == 2 {
            break;
        }
        let at = host.nodes.len();
        turn(&mut host, at);
    }
    let reason = |host: &Host, change: &dyn Fn(&mut Host)| {
        let mut other = host.clone();
        change(&mut other);
        let result = other.send().unwrap();
        assert_eq!(other.refused(&result), Vec::<String>::new(), "{:#}", result["report"]);
        (result["report"]["prefix"]["reason"].as_str().unwrap_or("none").to_owned(), result)
    };
    assert_eq!(reason(&host, &|_| ()).0, "none");
    assert_eq!(reason(&host, &|host| host.state = Value::Null).0, "first");
    assert_eq!(reason(&host, &|host| host.options["preferences"]["truncationMarker"] = json!("(cut)")).0, "options");
    let (found, result) =
        reason(&host, &|host| host.options["agent"]["configuration"]["systemPrompt"] = json!("Be long."));
    assert_eq!((found.as_str(), &result["report"]["prefix"]["messages"]), ("system", &json!(0)));
    let tools = |host: &mut Host| {
        host.options["target"] =
            json!({ "provider": "anthropic", "model": "claude-opus-5-5", "tools": [{ "name": "look" }] })
    };
    assert_eq!(reason(&host, &tools).0, "tools");
    let first = |host: &mut Host| host.nodes[0]["content"]["blocks"][0]["text"] = json!("Fix all tests.");
    assert_eq!(reason(&host, &first).0, "edited");
    let retry = |host: &mut Host| {
        host.tip = Some(format!("n{}", host.nodes.len() - 3));
        host.append("human", vec![say("Try again.")]);
    };
    let (found, result) = reason(&host, &retry);
    assert_eq!(found, "branched");
    // What was done up to the last step stays.
    let (before, _) = host.last.clone().unwrap();
    let (same, _) = compare(&before, result["messages"].as_array().unwrap());
    assert!(same + 3 >= before.len(), "{same} of {}", before.len());
    let mut provider = host.clone();
    provider.options["provider"] = json!("anthropic");
    provider.send().unwrap();
    // No other provider takes its thinking.
    provider.options["provider"] = json!("openai");
    let result = provider.send().unwrap();
    assert_eq!(
        (&result["report"]["prefix"]["reason"], &result["report"]["prefix"]["messages"]),
        (&json!("format"), &json!(0))
    );
}

#[test]
fn the_reserve_of_a_step_can_be_chosen() {
    let total = |options: Value| {
        let mut host = Host::new(options);
        host.append("human", vec![say("Fix the tests.")]);
        for at in 0..40 {
            turn(&mut host, at);
        }
        host.send().unwrap()["report"]["tokens"]["total"].as_u64().unwrap()
    };
    let with = |part: Value| {
        let mut options = options(2_000);
        options["cutTo"] = part;
        options
    };
    assert!(total(options(2_000)) <= 1_500);
    let half = total(with(json!(0.5)));
    assert!((700..=1_000).contains(&half), "{half}");
    assert!(total(with(json!(1))) > 1_600);
    // A single fit with `cutTo`.
    let mut host = Host::new(with(json!(0.5)));
    host.append("human", vec![say(&"words and more. ".repeat(200))]);
    for at in 0..40 {
        turn(&mut host, at);
    }
    let single = call("assembleDialogue", &[host.request()], None).unwrap();
    assert!(single["report"]["tokens"]["total"].as_u64().unwrap() <= 1_000 && single.get("state").is_none());
    for wrong in [json!(0), json!(1.5), json!(-1)] {
        let mut host = Host::new(with(wrong));
        host.append("human", vec![say("x")]);
        assert!(host.send().unwrap_err().contains("cutTo"));
    }
}

/// Anthropic's cache marks stand after what equals the last request, and after the last message.
#[test]
fn cache_marks_follow_the_prefix() {
    let mut options = options(2_000);
    options["target"] = json!({ "provider": "anthropic", "model": "claude-opus-5-5", "maxTokens": 9, "cache": true });
    let mut host = Host::new(options);
    host.append("human", vec![say("Fix the tests.")]);
    for at in 0..12 {
        turn(&mut host, at);
        let mut request = host.request();
        request["previous"] = host.state.clone();
        let answer = call("requestBodyWithReport", std::slice::from_ref(&request), None).unwrap();
        let bytes = call("requestBody", &[request], None).unwrap();
        assert_eq!(bytes["$text"], answer["body"]["$text"]);
        let body: Value = serde_json::from_str(bytes["$text"].as_str().unwrap()).unwrap();
        let is_marked = |message: &Value| blocks(message).iter().any(|block| block.get("cache_control").is_some());
        let messages = body["messages"].as_array().unwrap();
        let marked: Vec<usize> = (0..messages.len()).filter(|at| is_marked(&messages[*at])).collect();
        for place in answer["report"]["prefix"]["breakpoints"].as_array().unwrap() {
            assert!(marked.contains(&(place.as_u64().unwrap() as usize)), "{at} {place} {marked:?}");
        }
        host.state = answer["state"].clone();
        assert!(host.state.is_object());
    }
}

/// A compaction that replaced what stands before it does so again, with a larger limit too.
#[test]
fn a_compaction_stays() {
    let mut host = Host::new(options(700));
    host.append("human", vec![say("Fix the tests.")]);
    for at in 0..6 {
        turn(&mut host, at);
    }
    let compaction = json!({ "type": "vendor", "vendor": "anthropic", "value": { "type": "compaction", "content": "So far.", "signature": "c" } });
    host.append("model", vec![compaction, say("I go on.")]);
    host.append("human", vec![say("Do.")]);
    let first = host.send().unwrap();
    assert!(first["report"]["nodes"].as_array().unwrap().iter().any(|row| row["reason"] == "compacted"));
    for (at, window) in [(10, 700), (11, 100_000), (12, 700)] {
        turn(&mut host, at);
        host.options["contextWindow"] = json!(window);
        let result = host.send().unwrap();
        assert_eq!(result["messages"][0], first["messages"][0]);
        assert_eq!(result["report"]["prefix"]["stable"], true, "{at} {:#}", result["report"]["prefix"]);
        assert!(result["report"]["tokens"]["total"].as_u64().unwrap() <= window);
    }
}

/// What was appended since the last dialogue was made after it, whichever node was edited then.
#[test]
fn thoughts_appended_before_an_edit_go() {
    let thought = |at: usize| json!({ "type": "reasoning", "text": "hm", "signature": format!("s{at}") });
    for (edited, expected) in [(0, vec![]), (2, vec!["n1"])] {
        let mut host = Host::new(options(9_000));
        host.append("human", vec![say("Q0")]);
        host.append("model", vec![thought(0), say("A0")]);
        host.append("human", vec![say("Q1")]);
        host.send().unwrap();
        host.append("model", vec![thought(1), say("A1")]);
        host.append("human", vec![say("Q2")]);
        host.nodes[edited]["content"] = json!("another");
        let result = host.send().unwrap();
        let sent: Vec<String> = bounds(&result["system"], result["messages"].as_array().unwrap())
            .0
            .into_iter()
            .map(|(signature, _)| signature)
            .collect();
        assert_eq!(sent, expected);
    }
}

/// The headers for a loom-aware agent change with the time, and thoughts after them are invalid.
#[test]
fn headers_change_the_prefix() {
    let mut options = options(3_000);
    let aware = |minute: u32| json!({ "now": format!("2026-03-01T09:{minute:02}:00Z"), "loomBlock": false });
    options["loomAware"] = aware(0);
    let mut host = Host::new(options);
    host.append("human", vec![say("Fix the tests.")]);
    host.nodes[0]["createdAt"] = json!("2026-03-01T08:59:00Z");
    host.send().unwrap();
    for at in 0..6 {
        turn(&mut host, at);
        host.options["loomAware"] = aware(at as u32 * 3 + 3);
        let result = host.send().unwrap();
        let prefix = &result["report"]["prefix"];
        assert_eq!((&prefix["stable"], &prefix["reason"]), (&json!(false), &json!("options")), "{at}");
        assert!(bounds(&result["system"], result["messages"].as_array().unwrap()).0.is_empty());
    }
}

/// The example of docs/agents.md.
#[test]
fn the_example_of_the_docs() {
    let mut host = Host::new(options(1_000));
    host.append("human", vec![say("Read the files.")]);
    let mut found = Vec::new();
    for at in 0..30 {
        let report = host.send().unwrap()["report"].clone();
        let prefix = &report["prefix"];
        if prefix["stable"] == false {
            found.push(format!(
                "{at} {} {} {}",
                report["tokens"]["total"],
                prefix["messages"],
                prefix["reason"].as_str().unwrap()
            ));
        }
        host.append("model", vec![say(&format!("File {at}."))]);
        host.append("human", vec![say(&"It says much. ".repeat(20))]);
    }
    let docs = include_str!("../../docs/agents.md");
    assert!(docs.contains(&format!("```text\n{}\n```", found.join("\n"))), "{}", found.join("\n"));
}

#[derive(Clone, Debug)]
enum Op {
    /// Nodes: whether a human's, words, and whether there is a thought.
    Append(bool, String, Option<String>),
    Turn,
    /// The tip becomes an earlier node.
    Branch(Index),
    Edit(Index, String),
    Window(u32),
    Lose(bool),
    System(String),
}

fn words() -> impl Strategy<Value = String> {
    let words = prop::collection::vec(select(vec!["a", "river", "of", "words,", "漢字", "and so on.", "\n\n"]), 1..40);
    words.prop_map(|words| words.join(" "))
}

fn op() -> impl Strategy<Value = Op> {
    let thought = prop::option::of(select(vec!["", "hm", "a long thought, which goes on. "]).prop_map(str::to_owned));
    prop_oneof![
        8 => (any::<bool>(), words(), thought).prop_map(|(human, words, thought)| Op::Append(human, words, thought)),
        6 => Just(Op::Turn),
        1 => any::<Index>().prop_map(Op::Branch),
        1 => (any::<Index>(), words()).prop_map(|(at, words)| Op::Edit(at, words)),
        1 => (60..700u32).prop_map(Op::Window),
        1 => any::<bool>().prop_map(Op::Lose),
        1 => words().prop_map(Op::System),
    ]
}

/// The nodes of the path, oldest first.
fn path(host: &Host) -> Vec<String> {
    let mut path: Vec<String> = host.tip.iter().cloned().collect();
    while let Some(edge) = host.edges.iter().find(|edge| edge["targetNodeId"] == json!(path.last())) {
        path.push(edge["sources"][0]["nodeId"].as_str().unwrap().to_owned());
    }
    path.reverse();
    path
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(300), ..ProptestConfig::default() })]

    /// Whatever happens to a tree, no request is over the limit, no invalid thought is sent, and the report states what comparing the
    /// messages one by one shows.
    #[test]
    fn a_series_of_dialogues_keeps_its_promises(
        ops in prop::collection::vec(op(), 1..40),
        window in 100..700u32,
        strategy in select(vec!["truncateMiddle", "truncateMiddle", "rollingWindow"]),
        marker in prop::option::of(Just("")),
        recent in 0..5u32,
        fill in select(vec!["all", "results", "off"]),
    ) {
        let mut options = options(window);
        options["preferences"]["truncationStrategy"] = json!(strategy);
        options["preferences"]["minimumRecentNodes"] = json!(recent);
        options["preferences"]["fill"] = json!(fill);
        marker.iter().for_each(|marker| options["preferences"]["truncationMarker"] = json!(marker));
        let mut host = Host::new(options);
        let mut is_only_growing = true;
        host.append("human", vec![say("zero")]);
        for (number, op) in ops.into_iter().enumerate() {
            let mut is_lost = false;
            match op {
                Op::Append(human, words, thought) => {
                    let mut content: Vec<Value> = thought.filter(|_| !human).map(|text| think(&text)).into_iter().collect();
                    let text = format!("{number}: {words}");
                    content.push(say(text.trim()));
                    host.append(if human { "human" } else { "model" }, content);
                }
                Op::Turn => turn(&mut host, number),
                Op::Branch(at) => {
                    let path = path(&host);
                    host.tip = Some(at.get(&path).clone());
                    host.appended.clear();
                    is_only_growing = false;
                }
                Op::Edit(at, words) => {
                    let path = path(&host);
                    let id = at.get(&path).clone();
                    let node = host.nodes.iter_mut().find(|node| node["id"] == json!(id)).unwrap();
                    let blocks = node["content"]["blocks"].as_array_mut().unwrap();
                    blocks.iter_mut().filter(|block| block["type"] == "text").for_each(|block| block["text"] = json!(words.trim()));
                    is_only_growing = false;
                }
                Op::Window(window) => host.options["contextWindow"] = json!(window),
                Op::Lose(whole) => {
                    host.state = if whole { Value::Null } else { json!({ "version": 0 }) };
                    is_lost = true;
                }
                Op::System(text) => {
                    let text = text.trim().get(..8).unwrap_or("x").trim().to_owned();
                    host.options["agent"] = json!({ "configuration": { "systemPrompt": text } });
                }
            }
            if is_lost {
                // Nothing is known of the requests before: what a single fit takes for valid is what the whole path is.
                host.bound.clear();
                host.nodes.iter_mut().for_each(|node| {
                    node["content"]["blocks"].as_array_mut().unwrap().retain(|block| !is_signed(block));
                    if node["content"]["blocks"] == json!([]) {
                        node["content"]["blocks"] = json!([say("x")]);
                    }
                });
            }
            let before = host.last.clone();
            let window = host.options["contextWindow"].as_u64().unwrap();
            let result = match host.send() {
                Ok(result) => result,
                Err(_) if is_lost => return Ok(()),
                Err(_) => continue,
            };
            let report = &result["report"];
            prop_assert!(report["tokens"]["total"].as_u64().unwrap() <= window);
            prop_assert_eq!(host.refused(&result), Vec::<String>::new(), "{} {:#}", number, result);
            if is_only_growing {
                prop_assert_eq!(host.lost(&result), Vec::<String>::new(), "{} {:#}", number, result);
            }
            let prefix = &report["prefix"];
            prop_assert_eq!(prefix["stable"].as_bool().unwrap(), prefix.get("reason").is_none());
            let now = result["messages"].as_array().unwrap();
            if let Some((before, system)) = before.filter(|_| !is_lost) {
                let (same, stable) = if system == result["system"] { compare(&before, now) } else { (0, false) };
                prop_assert_eq!(prefix["messages"].as_u64().unwrap() as usize, same, "{} {:#}", number, result);
                // A node that has more blocks itself, since its call has a result now, is another node.
                let is_told = prefix["stable"].as_bool().unwrap();
                prop_assert!(stable || !is_told, "{} {:#}", number, result);
                prop_assert!(is_told || !stable || same < before.len(), "{} {:#}", number, result);
            }
        }
    }
}

/// A document has no series, and a diagnostic states it.
#[test]
fn documents_do_not_continue() {
    let tree = json!({ "nodes": [{ "id": "a", "authorType": "human", "content": "Once." }], "edges": [] });
    let request = json!({ "tree": tree, "tip": "a", "contextWindow": 4_000, "previous": null, "cutTo": 0.5 });
    let result = call("assembleBuffer", &[request], None).unwrap();
    let found = result["report"]["diagnostics"].as_array().unwrap();
    let found: Vec<_> = found.iter().map(|it| (it["code"].as_str().unwrap(), it["path"].as_str().unwrap())).collect();
    assert_eq!(found, [("option_ignored", "previous"), ("option_ignored", "cutTo")]);
}
