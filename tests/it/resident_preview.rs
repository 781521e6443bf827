//! Previews and comparisons of a resident tree equal doing it (docs/resident.md).

use std::collections::BTreeSet;

use ctxweave::tokens::{Counter, Heuristic};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::generate::cases;
use crate::resident_changes::{Js, Plain, edit};

/// A change of a tree, or a question to it.
#[derive(Clone, Debug)]
enum Step {
    Edit(&'static str, Value),
    Preview { edit: Option<(&'static str, Value)>, before: Asked, after: Asked },
    Assemble(Asked),
}

/// Options, as far as they do not follow from the tree.
#[derive(Clone, Debug)]
struct Asked {
    /// Which node is the tip, among those there are.
    tip: usize,
    more: Value,
}

impl Asked {
    fn options(&self, plain: &Plain) -> Option<Value> {
        let ids = plain.ids();
        let tip = ids.get(self.tip.checked_rem(ids.len())?)?;
        let mut options = self.more.clone();
        options["tip"] = tip.clone();
        options["choices"] = plain.first_edges();
        Some(options)
    }
}

fn asked() -> impl Strategy<Value = Asked> {
    let more = (
        prop::sample::select(vec![60, 100, 200, 1000]),
        prop::sample::select(vec!["truncateMiddle", "rollingWindow", "stopAtLimit"]),
        prop::sample::select(vec!["anthropic", "openai", "completion"]),
        prop::sample::select(vec![json!(null), json!(null), json!(null), json!({ "headers": true }), json!(true)]),
        prop::sample::select(vec![json!([]), json!("all")]),
    );
    (any::<usize>(), more).prop_map(|(tip, (window, strategy, provider, aware, annotations))| Asked {
        tip,
        more: json!({
            "contextWindow": window,
            "preferences": { "truncationStrategy": strategy, "tokenBuffer": 0, "minimumRecentNodes": 2 },
            "provider": provider,
            "loomAware": aware,
            "includeAnnotations": annotations,
        }),
    })
}

fn steps(count: usize) -> impl Strategy<Value = Vec<Step>> {
    let after = || prop_oneof![2 => Just(None), 1 => asked().prop_map(Some)];
    let preview = (prop::option::weighted(0.8, edit()), asked(), after()).prop_map(|(edit, before, after)| {
        Step::Preview { edit, after: after.unwrap_or_else(|| before.clone()), before }
    });
    let step = prop_oneof![
        3 => edit().prop_map(|(name, request)| Step::Edit(name, request)),
        3 => preview,
        1 => asked().prop_map(Step::Assemble),
    ];
    prop::collection::vec(step, count)
}

/// What a change is to `preview`.
fn change_of(name: &str, request: &Value) -> Value {
    match name {
        "apply" => request.clone(),
        "append" => json!({ "endings": [request] }),
        name => json!({ name: request }),
    }
}

/// Ids and tokens of the nodes in a prompt.
fn sent(assembly: &Value) -> BTreeSet<(String, u64)> {
    let rows = assembly["report"]["nodes"].as_array().unwrap().iter();
    let sent = rows.filter(|row| row["fate"] == "kept" || row["reason"] == "shortened");
    let sent = sent.filter(|row| row["as"] != "pinned");
    sent.map(|row| (row["nodeId"].as_str().unwrap().to_owned(), row["tokens"].as_u64().unwrap())).collect()
}

fn listed(nodes: &Value) -> BTreeSet<(String, u64)> {
    let nodes = nodes.as_array().unwrap().iter();
    nodes.map(|node| (node["nodeId"].as_str().unwrap().to_owned(), node["tokens"].as_u64().unwrap())).collect()
}

/// The prompt for these options.
fn assemble(tree: &mut Js, options: &Value) -> Option<Value> {
    let call = if options["provider"] == "completion" { "assembleBuffer" } else { "assembleDialogue" };
    tree.call(call, options).ok()
}

/// What two documents share from their beginning, in tokens; nothing unless both are documents.
fn shared_tokens(one: &Value, other: &Value) -> Option<u32> {
    let (one, other) = (one["document"].as_str()?, other["document"].as_str()?);
    let shared: String =
        one.chars().zip(other.chars()).take_while(|(one, other)| one == other).map(|it| it.0).collect();
    Some(Heuristic.count(&shared))
}

/// Tokens of the system context and the messages that two dialogues share from their beginning; nothing where one of these is more than
/// text, unless all are the same.
fn shared_prefix(one: &Value, other: &Value) -> Option<u64> {
    if one["system"] != other["system"] {
        return Some(0);
    }
    let messages = |dialogue: &Value| dialogue["messages"].as_array().cloned().unwrap_or_default();
    let (before, now) = (messages(one), messages(other));
    let is_same = |(one, other): &(&Value, &Value)| one["role"] == other["role"] && one["content"] == other["content"];
    let same = before.iter().zip(&now).take_while(is_same).count();
    let tokens = &other["report"]["tokens"];
    if same == now.len() {
        return Some(tokens["total"].as_u64()? - 3);
    }
    let of_message = |message: &Value| Some(u64::from(Heuristic.count(message["content"].as_str()?)) + 4);
    let content = now.iter().take(same).map(of_message).sum::<Option<u64>>()?;
    Some(content + if other["system"].is_null() { 0 } else { tokens["system"].as_u64()? })
}

/// By doing it: the first prompt, the change, the second.
fn done(plain: &Plain, edit: Option<&(&'static str, Value)>, before: &Value, after: &Value) -> Option<Value> {
    let mut tree = Js::of(&plain.tree());
    let first = assemble(&mut tree, before)?;
    if let Some((name, request)) = edit {
        // A change treats missing nodes as removed.
        let change = change_of(name, request);
        tree.call("apply", &change).ok()?;
    }
    let second = assemble(&mut tree, after)?;
    let changed: Value = serde_json::from_str(&tree.snapshot()).unwrap();
    let said = |tree: &Value, id: &str| {
        let node = tree["nodes"].as_array().unwrap().iter().find(|node| node["id"] == id).unwrap();
        // A text is the same in either form.
        let content = if node["content"]["type"] == "text" { &node["content"]["text"] } else { &node["content"] };
        let only = &content["blocks"][0]["text"];
        let alone = content["type"] == "mixed" && content["blocks"].as_array().unwrap().len() == 1;
        (if alone { only.clone() } else { content.clone() }, node["authorType"].clone())
    };
    let (one, other) = (sent(&first), sent(&second));
    let ids = |nodes: &BTreeSet<(String, u64)>| nodes.iter().map(|node| node.0.clone()).collect::<BTreeSet<_>>();
    let only = |nodes: &BTreeSet<(String, u64)>, others: &BTreeSet<String>| -> BTreeSet<(String, u64)> {
        let differs = |id: &str| !others.contains(id) || said(&plain.tree(), id) != said(&changed, id);
        nodes.iter().filter(|node| differs(&node.0)).cloned().collect()
    };
    let (added, removed) = (only(&other, &ids(&one)), only(&one, &ids(&other)));
    let path = |assembly: &Value| assembly["report"]["path"].as_array().unwrap().clone();
    let shared = path(&first).into_iter().zip(path(&second)).take_while(|(one, other)| one == other).last();
    let gone = |result: &Value| ["nodeIds", "partialNodeIds"].map(|ids| result["report"]["cut"][ids].clone());
    let is_dialogue = |prompt: &Value| prompt.get("messages").is_some();
    let same_provider = before["provider"] == after["provider"];
    Some(json!({
        "before": first["report"]["tokens"],
        "after": second["report"]["tokens"],
        "added": added,
        "removed": removed,
        "cached": match shared_tokens(&first, &second) {
            Some(tokens) => json!(tokens),
            None if same_provider && is_dialogue(&first) == is_dialogue(&second) => json!(shared_prefix(&first, &second)),
            None => json!(0),
        },
        "truncated": [first["report"]["truncated"], second["report"]["truncated"]],
        "sameCut": gone(&first) == gone(&second) && added.is_empty() && removed.is_empty(),
        "partsAfter": shared.map(|(id, _)| id),
    }))
}

fn run(steps: Vec<Step>) {
    let mut plain = Plain::new();
    let mut tree = Js::of(&plain.tree());
    for step in steps {
        match step {
            Step::Edit(name, request) => {
                if tree.call(name, &request).is_ok() {
                    plain.edit(name, &request);
                }
            }
            Step::Assemble(asked) => {
                let Some(options) = asked.options(&plain) else { continue };
                let given = tree.call("assembleDialogue", &options);
                let expected = Js::of(&plain.tree()).call("assembleDialogue", &options);
                assert_eq!(given.map_err(|it| it.to_string()), expected.map_err(|it| it.to_string()));
            }
            Step::Preview { edit, before, after } => {
                let mut changed = plain.clone();
                if let Some((name, request)) = &edit {
                    changed.edit(name, request);
                }
                let (Some(before), Some(after)) = (before.options(&plain), after.options(&changed)) else { continue };
                let (was, revision) = (tree.snapshot(), tree.call("revision", &Value::Null).unwrap());
                let given = match &edit {
                    Some((name, request)) => {
                        let change = change_of(name, request);
                        tree.call("preview", &json!({ "change": change, "options": before, "then": after }))
                    }
                    None => tree.call("compare", &json!({ "options": before, "then": after })),
                };
                assert_eq!(tree.snapshot(), was);
                assert_eq!(tree.call("revision", &Value::Null).unwrap(), revision);
                let expected = done(&plain, edit.as_ref(), &before, &after);
                let Some(expected) = expected else {
                    assert!(given.is_err(), "{given:?}");
                    continue;
                };
                let given = given.unwrap();
                for part in ["system", "messages", "overhead", "total"] {
                    let of = |which: &str| given[which][part].as_i64().unwrap();
                    assert_eq!(of("difference"), of("after") - of("before"));
                }
                let [one, other] = [0, 1].map(|at| expected["truncated"][at] == true);
                assert_eq!([given.get("cutBefore").is_some(), given.get("cutAfter").is_some()], [one, other]);
                if one != other || !one || expected["sameCut"] == true {
                    assert_eq!(given["cutMoved"], one != other, "{given}");
                }
                let given = json!({
                    "before": given["before"],
                    "after": given["after"],
                    "added": listed(&given["added"]),
                    "removed": listed(&given["removed"]),
                    "cached": if expected["cached"].is_null() { &Value::Null } else { &given["cachedTokens"] },
                    "truncated": expected["truncated"],
                    "sameCut": expected["sameCut"],
                    "partsAfter": given["partsAfter"],
                });
                assert_eq!(given, expected);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(6)))]

    /// A preview equals the change itself, and leaves no trace.
    #[test]
    fn previews_equal_doing_it(steps in steps(400)) {
        run(steps);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(400)))]

    /// The same over few steps, so that what goes wrong is small.
    #[test]
    fn a_few_previews_equal_doing_it(steps in steps(10)) {
        run(steps);
    }
}
