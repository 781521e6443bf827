//! MiniLoom's patches, compared with a naive model that keeps the whole text of every node.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::path_to;
use crate::calls::call;

/// A patch from one text to another, with some of what stands around it.
fn patch(from: &[u16], to: &[u16], around: usize) -> Value {
    let head = from.iter().zip(to).take_while(|(one, other)| one == other).count();
    let rest = from.len().min(to.len()) - head;
    let tail = from.iter().rev().zip(to.iter().rev()).take(rest).take_while(|(one, other)| one == other).count();
    let (start, end) = (head.saturating_sub(around), (tail.saturating_sub(around)));
    let mut diffs = Vec::new();
    let mut push = |sign: i32, units: &[u16]| {
        if !units.is_empty() {
            diffs.push(json!([sign, String::from_utf16(units).ok()]));
        }
    };
    push(0, &from[start..head]);
    push(-1, &from[head..from.len() - tail]);
    push(1, &to[head..to.len() - tail]);
    push(0, &from[from.len() - tail..from.len() - end]);
    json!([{ "diffs": diffs, "start1": start, "start2": start, "length1": 0, "length2": 0 }])
}

/// A step: the parent, and what becomes of its text.
fn steps() -> impl Strategy<Value = Vec<(usize, u8, usize, usize)>> {
    proptest::collection::vec((0..40_usize, 0..6_u8, 0..20_usize, 0..4_usize), 1..25)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::generate::cases(200)))]

    /// The texts on the way to a node are together its whole text, however it was made; its children follow it, and
    /// what does not is an edit of it.
    #[test]
    fn patches_make_the_texts_that_a_naive_model_has(steps in steps()) {
        let words = ["the cat", " sat 糸", ". \n", "x"];
        let mut texts = vec![String::new()];
        let mut nodes = serde_json::Map::new();
        nodes.insert("1".into(), json!({ "id": "1", "type": "root", "parent": null, "children": [], "patch": "", "timestamp": 0 }));
        let mut parents = vec![0];
        for (at, (parent, what, place, word)) in steps.into_iter().enumerate() {
            let parent = parent % texts.len();
            let before: Vec<char> = texts[parent].chars().collect();
            let place = place.min(before.len());
            let text: String = match what {
                0..=2 => before.iter().collect::<String>() + words[word],
                3 => before[..place].iter().collect::<String>() + words[word] + &before[place..].iter().collect::<String>(),
                4 => before[..place].iter().collect(),
                _ => before[place..].iter().collect::<String>() + words[word],
            };
            let units = |text: &str| text.encode_utf16().collect::<Vec<u16>>();
            let patch = patch(&units(&texts[parent]), &units(&text), place % 5);
            let id = (at + 2).to_string();
            nodes.insert(id.clone(), json!({ "id": id, "type": "gen", "parent": (parent + 1).to_string(), "children": [], "patch": patch, "timestamp": 0 }));
            texts.push(text);
            parents.push(parent);
        }
        let file = json!({ "loomTree": { "nodeStore": nodes }, "focus": { "id": "1" } });
        let imported = call("importLoom", &[file], None).unwrap();
        let tree = &imported["trees"][0]["tree"];
        let content = |id: &str| tree["nodes"].as_array().unwrap().iter().find(|node| node["id"] == json!(id)).unwrap();
        for (at, text) in texts.iter().enumerate() {
            let id = (at + 1).to_string();
            let path = path_to(tree, &id);
            let joined: String = path.iter().map(|id| content(id)["content"].as_str().unwrap()).collect();
            prop_assert_eq!(&joined, text);
            let goes_on = text.starts_with(&texts[parents[at]]);
            let parent = (parents[at] + 1).to_string();
            if at > 0 && goes_on {
                prop_assert_eq!(&path[path.len() - 2], &parent);
            }
            prop_assert_eq!(content(&id).get("editedFrom").and_then(Value::as_str), (!goes_on).then_some(parent.as_str()));
        }
    }
}
