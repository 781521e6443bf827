//! Nodes of the path, exclusions, and the system context (docs/loom.md).

use crate::calls::loom::assemble_dialogue_json;
use ctxweave::{Code, Error};
use serde_json::{Value, json};

fn node(id: &str, author: &str, content: Value) -> Value {
    json!({ "id": id, "authorType": author, "content": content })
}

fn edge(id: &str, sources: &[(&str, &str)], target: &str) -> Value {
    let sources: Vec<Value> = sources.iter().map(|(id, role)| json!({ "nodeId": id, "role": role })).collect();
    json!({ "id": id, "sources": sources, "targetNodeId": target })
}

fn assemble(nodes: Vec<Value>, edges: Vec<Value>, more: Value) -> Result<Value, Error> {
    let mut request = json!({ "tree": { "nodes": nodes, "edges": edges }, "contextWindow": 100_000 });
    for (key, value) in more.as_object().unwrap() {
        match key.strip_prefix("tree.") {
            Some(field) => request["tree"][field] = value.clone(),
            None => request[key] = value.clone(),
        }
    }
    assemble_dialogue_json(request.to_string().as_bytes()).map(|result| serde_json::from_slice(&result).unwrap())
}

fn row<'a>(result: &'a Value, id: &str) -> &'a Value {
    result["report"]["nodes"].as_array().unwrap().iter().find(|row| row["nodeId"] == id).unwrap()
}

fn said(result: &Value) -> Vec<(String, Value)> {
    let messages = result["messages"].as_array().unwrap().iter();
    messages.map(|message| (message["role"].as_str().unwrap().to_owned(), message["content"].clone())).collect()
}

/// Three edges, each with an instruction; contexts before a user and before an assistant primary.
fn sourced(more: Value) -> Value {
    let nodes = vec![
        node("u1", "human", json!("first")),
        node("m1", "model", json!("answer")),
        node("u2", "human", json!("second")),
        node("m2", "model", json!("end")),
        node("i1", "human", json!(" rule one ")),
        node("i2", "human", json!("rule two")),
        node("i3", "human", json!("rule three")),
        node("c1", "model", json!("context one")),
        node("c2", "human", json!("context two")),
    ];
    let edges = vec![
        edge("e1", &[("i1", "instruction"), ("c1", "context"), ("u1", "primary")], "m1"),
        edge("e2", &[("c2", "context"), ("c1", "context"), ("m1", "primary"), ("i2", "instruction")], "u2"),
        edge("e3", &[("u2", "primary"), ("i2", "instruction")], "m2"),
    ];
    let mut options = json!({ "tip": "m2", "tree.systemContext": "\ntree\n", "agent": { "configuration": { "systemPrompt": " agent " } } });
    options.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    assemble(nodes, edges, options).unwrap()
}

#[test]
fn the_system_context_is_agent_then_tree_then_instructions() {
    let result =
        sourced(json!({ "instructionScope": "path", "pendingSources": [{ "nodeId": "i3", "role": "instruction" }] }));
    assert_eq!(result["system"], "agent\n\ntree\n\nrule one\n\nrule two\n\nrule three");
    let last = sourced(json!({ "pendingSources": [{ "nodeId": "i3", "role": "instruction" }] }));
    // `i2` belongs to an earlier edge first, and to the tip's edge as well.
    assert_eq!(last["system"], "agent\n\ntree\n\nrule two\n\nrule three");
    assert_eq!(row(&last, "i1")["reason"], "instructionScope");
}

#[test]
fn context_comes_before_its_primary_and_only_once() {
    let result = sourced(json!({}));
    let expected = [
        ("user", json!("context one\n\nfirst")),
        ("assistant", json!("answer")),
        ("user", json!("second")),
        ("assistant", json!("end")),
    ];
    // `c2` stands before the assistant's `m1`, as a user message that merges with the one before it.
    let expected = expected.map(|(role, text)| {
        (
            role.to_owned(),
            if text == "context one\n\nfirst" { json!("context one\n\nfirst\n\ncontext two") } else { text },
        )
    });
    assert_eq!(said(&result), expected);
    assert_eq!(row(&result, "c1")["as"], "context");
}

#[test]
fn system_messages_go_where_the_provider_wants_them() {
    for (provider, role) in [
        (json!("openai"), "system"),
        (json!("completion"), "system"),
        (json!({ "nativeSystemPrompt": false }), "system"),
    ] {
        let result = sourced(json!({ "provider": provider }));
        assert_eq!(said(&result)[0].0, role);
        assert_eq!(result.get("system"), None);
    }
    let result = sourced(json!({ "provider": "openai", "systemRole": "developer" }));
    assert_eq!(said(&result)[0].0, "developer");
    for provider in ["anthropic", "gemini", "gemini-interactions", "openai-responses"] {
        let result = sourced(json!({ "provider": provider }));
        assert!(result["system"].is_string(), "{provider}");
        assert_eq!(said(&result)[0].0, "user");
    }
}

#[test]
fn marks_and_blanks_are_left_out_with_their_reason() {
    let mut nodes = vec![
        node("a", "human", json!("one")),
        node("b", "model", json!("two")),
        node("c", "human", json!("three")),
        node("d", "human", json!("\u{a0}\n")),
        node("e", "human", json!({ "type": "mixed", "blocks": [] })),
    ];
    nodes[1]["metadata"] = json!({ "excluded": true, "pruned": true });
    nodes[2]["metadata"] = json!({ "pruned": true, "excluded": null });
    let edges = ["a", "b", "c", "d"]
        .windows(2)
        .map(|pair| edge(pair[1], &[(pair[0], "primary")], pair[1]))
        .chain([edge("z", &[("d", "primary")], "e")])
        .collect();
    let result = assemble(nodes, edges, json!({ "tip": "e" })).unwrap();
    assert_eq!(said(&result), [("user".to_owned(), json!("one"))]);
    for (id, reason) in [("b", "excluded"), ("c", "pruned"), ("d", "blank"), ("e", "blank")] {
        assert_eq!(
            (&row(&result, id)["fate"], &row(&result, id)["reason"]),
            (&json!("excluded"), &json!(reason)),
            "{id}"
        );
    }
}

#[test]
fn an_empty_result_is_reported() {
    let nodes = || vec![node("a", "human", json!(" "))];
    let blank = assemble(nodes(), vec![], json!({ "tip": "a" })).unwrap();
    assert_eq!(blank["report"]["diagnostics"][0]["code"], "no_messages");
    let empty = assemble(nodes(), vec![], json!({ "path": [] })).unwrap();
    assert_eq!((&empty["messages"], &empty["report"]["diagnostics"][0]["code"]), (&json!([]), &json!("empty_path")));
    assert_eq!(empty["report"]["notOnPath"], 1);
}

#[test]
fn annotations_follow_their_source_in_their_authors_role() {
    let nodes = || {
        vec![
            node("a", "human", json!("story")),
            node("b", "model", json!("goes on")),
            node("n1", "model", json!("a remark")),
            node("n2", "human", json!("a remark on it")),
            node("n3", "human", json!("another")),
        ]
    };
    let remark = |id: &str, from: &str, to: &str| {
        let mut remark = edge(id, &[(from, "primary")], to);
        remark["edgeType"] = json!("annotation");
        remark
    };
    let edges = || {
        vec![
            edge("e", &[("a", "primary")], "b"),
            remark("r1", "a", "n1"),
            remark("r2", "n1", "n2"),
            remark("r3", "b", "n3"),
        ]
    };
    let none = assemble(nodes(), edges(), json!({ "tip": "b" })).unwrap();
    assert_eq!(none["report"]["notOnPath"], 1, "the remark on a remark");
    assert_eq!((&row(&none, "n1")["fate"], &row(&none, "n1")["reason"]), (&json!("excluded"), &json!("annotation")));
    let all = assemble(nodes(), edges(), json!({ "tip": "b", "includeAnnotations": "all" })).unwrap();
    let expected = [
        ("user", "story"),
        ("assistant", "a remark"),
        ("user", "a remark on it"),
        ("assistant", "goes on"),
        ("user", "another"),
    ];
    assert_eq!(said(&all), expected.map(|(role, text)| (role.to_owned(), json!(text))));
    let one = assemble(nodes(), edges(), json!({ "tip": "b", "includeAnnotations": ["n3", "a"] })).unwrap();
    assert_eq!(said(&one).len(), 3);
    let unknown = assemble(nodes(), edges(), json!({ "tip": "b", "includeAnnotations": ["zzz"] })).unwrap_err();
    assert_eq!(unknown.code(), Code::NodeNotFound);
    let elsewhere = assemble(nodes(), edges(), json!({ "tip": "a", "includeAnnotations": ["n3"] })).unwrap();
    assert_eq!(elsewhere["report"]["diagnostics"][0]["code"], "annotation_not_found");
}

fn call(id: &str) -> Value {
    json!({ "type": "toolCall", "id": id, "name": "look", "arguments": { "at": id } })
}

fn answer(id: &str) -> Value {
    json!({ "type": "toolResult", "toolCallId": id, "content": format!("answer to {id}") })
}

fn mixed(blocks: &[Value]) -> Value {
    json!({ "type": "mixed", "blocks": blocks })
}

fn conversation(nodes: Vec<Value>, more: Value) -> Value {
    let ids: Vec<String> = nodes.iter().map(|node| node["id"].as_str().unwrap().to_owned()).collect();
    let edges = ids.windows(2).map(|pair| edge(&pair[1], &[(&pair[0], "primary")], &pair[1])).collect();
    let mut options = json!({ "tip": ids.last().unwrap() });
    options.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    assemble(nodes, edges, options).unwrap()
}

/// An excluded node in the middle of a pair.
#[test]
fn a_broken_pair_goes_as_a_whole() {
    let thought = json!({ "type": "reasoning", "text": "hm", "signature": "s" });
    let mut nodes = vec![
        node("u", "human", json!("do it")),
        node("m", "model", mixed(&[thought.clone(), json!("I will"), call("a"), call("b")])),
        node("ra", "human", answer("a")),
        node("rb", "human", answer("b")),
        node("end", "model", json!("done")),
    ];
    nodes[2]["metadata"] = json!({ "excluded": true });
    // Thinking that is bound to what stands before it goes with the repair.
    let bound = conversation(nodes.clone(), json!({}));
    assert_eq!(said(&bound)[1].1, json!([{ "type": "text", "text": "I will" }, call("b")]));
    let one = conversation(nodes.clone(), json!({ "provider": "openai" }));
    assert_eq!(
        said(&one)[1].1,
        json!([thought, { "type": "text", "text": "I will" }, call("b")]),
        "the other call keeps its reasoning"
    );
    assert_eq!(one["report"]["diagnostics"].as_array().unwrap().len(), 1);
    assert_eq!(one["report"]["diagnostics"][0]["code"], "tool_pair_broken");
    nodes[3]["metadata"] = json!({ "excluded": true });
    let both = conversation(nodes.clone(), json!({}));
    assert_eq!(said(&both)[1].1, json!("I will\n\ndone"), "without calls the reasoning goes too");
    nodes[1]["metadata"] = json!({ "excluded": true });
    nodes[2].as_object_mut().unwrap().remove("metadata");
    let orphan = conversation(nodes, json!({}));
    assert_eq!(row(&orphan, "ra")["reason"], "toolPairBroken");
    assert_eq!(said(&orphan).len(), 2);
}

#[test]
fn results_speak_as_the_user_whoever_wrote_them() {
    let nodes = vec![
        node("u", "human", json!("go")),
        node("m", "model", call("a")),
        node("r", "model", answer("a")),
        node("e", "model", json!("ok")),
    ];
    let roles: Vec<String> = said(&conversation(nodes, json!({}))).into_iter().map(|(role, _)| role).collect();
    assert_eq!(roles, ["user", "assistant", "user", "assistant"]);
}

#[test]
fn the_same_call_id_may_come_again() {
    let turn = |at: usize| [node(&format!("m{at}"), "model", call("x")), node(&format!("r{at}"), "human", answer("x"))];
    let nodes = std::iter::once(node("u", "human", json!("go"))).chain((0..3).flat_map(turn)).collect();
    let result = conversation(nodes, json!({}));
    assert_eq!(said(&result).len(), 7);
    assert_eq!(result["report"]["diagnostics"], json!([]));
}

#[test]
fn media_without_bytes_becomes_words() {
    let image = json!({ "type": "image", "ref": "pic", "mimeType": "image/png", "altText": "a cat" });
    let nodes = || {
        vec![node(
            "u",
            "human",
            mixed(&[json!("Look:"), image.clone(), json!({ "type": "audio", "ref": "talk", "mimeType": "audio/wav" })]),
        )]
    };
    let without = assemble(nodes(), vec![], json!({ "tip": "u" })).unwrap();
    assert_eq!(said(&without)[0].1, "Look:\n\n[image: a cat]\n\n[audio]");
    assert_eq!(without["report"]["diagnostics"].as_array().unwrap().len(), 2);
    let with = assemble(
        nodes(),
        vec![],
        json!({ "tip": "u", "media": { "pic": { "url": "cat.png" }, "talk": { "data": "UklGRg==" } } }),
    )
    .unwrap();
    assert_eq!(said(&with)[0].1[1]["url"], "cat.png");
    assert_eq!(said(&with)[0].1[2]["data"], "UklGRg==");
    let words = u64::from(ctxweave::tokens::heuristic::count("Look:"));
    assert_eq!(
        with["report"]["tokens"]["messages"],
        4784 + 60 * 32 + words,
        "an unknown size, a minute of unknown length"
    );
}

#[test]
fn unknown_values_are_errors_that_name_the_id() {
    let with = |node: Value| assemble(vec![node], vec![], json!({ "tip": "n" })).unwrap_err();
    let author = with(node("n", "robot", json!("x")));
    assert_eq!((author.code(), &author.details()["nodeId"]), (Code::UnknownValue, &json!("n")));
    let kind = with(node("n", "human", json!({ "type": "video", "ref": "v" })));
    assert_eq!((kind.code(), &kind.details()["value"]), (Code::UnknownValue, &json!("video")));
    let role =
        assemble(vec![node("n", "human", json!("x"))], vec![edge("e", &[("n", "boss")], "n")], json!({ "tip": "n" }))
            .unwrap_err();
    assert_eq!((role.code(), &role.details()["edgeId"]), (Code::UnknownValue, &json!("e")));
    for (field, value) in
        [("instructionScope", "all"), ("provider", "acme"), ("tokenizer", "gpt5"), ("systemRole", "user")]
    {
        let error =
            assemble(vec![node("n", "human", json!("x"))], vec![], json!({ "tip": "n", field: value })).unwrap_err();
        assert_eq!(error.code(), Code::UnknownValue, "{field}");
        assert!(error.message().contains(value) && !error.message().ends_with('.'), "{error}");
    }
}

#[test]
fn content_within_content_is_bounded() {
    let mut content = json!("core");
    for _ in 0..30 {
        content = mixed(&[content]);
    }
    assert!(assemble(vec![node("n", "human", content.clone())], vec![], json!({ "tip": "n" })).is_ok());
    let deep = assemble(
        vec![node("n", "human", content.clone())],
        vec![],
        json!({ "tip": "n", "limits": { "jsonDepth": 20 } }),
    )
    .unwrap_err();
    assert_eq!((deep.code(), &deep.details()["limit"]), (Code::LimitExceeded, &json!("jsonDepth")));
    let wide =
        assemble(vec![node("n", "human", content)], vec![], json!({ "tip": "n", "limits": { "contentBlocks": 20 } }))
            .unwrap_err();
    assert_eq!(&wide.details()["limit"], "contentBlocks");
    let big = assemble(
        vec![node("n", "human", json!("12345"))],
        vec![],
        json!({ "tip": "n", "limits": { "inputBytes": 4 } }),
    )
    .unwrap_err();
    assert_eq!(&big.details()["limit"], "inputBytes");
}

/// White space is JavaScript's, which has U+FEFF and not U+0085.
#[test]
fn texts_are_trimmed_as_javascript_trims() {
    let nodes = vec![
        node("a", "human", json!("\u{feff} \u{2003}one\u{a0}\u{feff}\n")),
        node("b", "model", json!("\u{85}two\u{85}")),
        node("c", "human", json!("\u{feff}\t\u{feff}")),
        node("d", "human", json!("\u{85}")),
    ];
    let edges = ["ab", "bc", "cd"]
        .map(|ids| json!({ "id": ids, "sources": [{ "nodeId": &ids[..1] }], "targetNodeId": &ids[1..] }));
    let result = assemble(nodes, edges.to_vec(), json!({ "tip": "d" })).unwrap();
    let said: Vec<_> = result["messages"].as_array().unwrap().iter().map(|message| &message["content"]).collect();
    assert_eq!(said, ["one", "\u{85}two\u{85}", "\u{85}"]);
    assert_eq!(result["report"]["nodes"][2]["reason"], "blank");
}
