//! Damaged files, and very large ones.

#![expect(clippy::disallowed_types, reason = "only a clock shows quadratic time")]

use std::time::{Duration, Instant};

use ctxweave::Limits;
use ctxweave::loom_import::{FileFormat, ImportOptions, import_loom};
use serde_json::{Value, json};

use super::fixtures;
use crate::calls::{bytes, is_bytes};

struct Random(u32);

impl Random {
    fn below(&mut self, below: usize) -> usize {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (self.0 >> 8) as usize % below.max(1)
    }
}

fn files() -> Vec<(String, Vec<u8>)> {
    let given = |(name, args, _): (String, Vec<Value>, Option<Value>)| {
        let file = if is_bytes(&args[0]) { bytes(&args[0]) } else { serde_json::to_vec(&args[0]).unwrap() };
        (name, file)
    };
    fixtures().into_iter().map(given).collect()
}

/// What an import gives is a tree that holds together, whatever the file.
fn check(file: &[u8], options: &ImportOptions) {
    let Ok(import) = import_loom(file, options) else { return };
    if import.format == FileFormat::Ctxweave {
        // Returned unchanged, whatever the loom declares.
        return;
    }
    let import = serde_json::to_value(&import).unwrap();
    for imported in import["trees"].as_array().unwrap() {
        let tree = &imported["tree"];
        let result = crate::calls::call("LoomTree", std::slice::from_ref(tree), Some(&[]));
        assert!(result.is_ok(), "{result:?}: {}", String::from_utf8_lossy(file));
        if let Some(tip) = imported["tip"].as_str() {
            let steps = [json!(["path", tip])];
            let path = crate::calls::call("LoomTree", std::slice::from_ref(tree), Some(&steps)).unwrap();
            assert!(path[0].is_array(), "{path}: {}", String::from_utf8_lossy(file));
        }
    }
}

#[test]
fn mutated_files_never_trap() {
    let mut random = Random(7);
    let marks = b"{}[]\",:\\\n\x00\xff0e-tfn";
    for (_, file) in files() {
        for round in 0..if file.len() > 8000 { 30 } else { 120 } {
            let mut file = file.clone();
            for _ in 0..=random.below(4) {
                let (at, other) = (random.below(file.len()), random.below(file.len()));
                match random.below(5) {
                    0 => file.truncate(at.max(1)),
                    1 => file[at] = marks[random.below(marks.len())],
                    2 => file[at] = random.below(256) as u8,
                    3 => drop(file.drain(at.min(other)..at.max(other).min(at.min(other) + 40))),
                    _ => {
                        let part = file[at.min(other)..at.max(other).min(at.min(other) + 60)].to_vec();
                        file.splice(at..at, part);
                    }
                }
                if file.is_empty() {
                    break;
                }
            }
            let format = FileFormat::NAMES[round % FileFormat::NAMES.len()].1;
            check(&file, &ImportOptions { format: (round % 3 == 0).then_some(format), ..ImportOptions::default() });
        }
    }
}

/// Some values are replaced by others that may stand there, all of them JSON.
#[test]
fn files_of_wrong_types_never_trap() {
    let wrong = [
        json!(null),
        json!(true),
        json!(""),
        json!("1"),
        json!(0),
        json!(-1.5),
        json!(1e300),
        json!([]),
        json!({}),
        json!([[]]),
        json!({ "id": "1" }),
        json!("2024-13-45T99:00:00Z"),
        json!({ "\0": "NaN" }),
        json!(["a", "a"]),
        json!({ "a": { "parentId": "a" } }),
    ];
    fn count(value: &Value) -> usize {
        1 + match value {
            Value::Array(values) => values.iter().map(count).sum(),
            Value::Object(values) => values.values().map(count).sum(),
            _ => 0,
        }
    }
    let mut random = Random(3);
    for (_, args, _) in fixtures() {
        if is_bytes(&args[0]) {
            continue;
        }
        for _ in 0..60 {
            let text = replaced(&args[0], random.below(count(&args[0])), &wrong[random.below(wrong.len())]);
            check(text.to_string().as_bytes(), &ImportOptions::default());
        }
    }
}

/// The value with the one at a place, in the order of a walk, replaced.
fn replaced(value: &Value, place: usize, by: &Value) -> Value {
    fn walk(value: &Value, left: &mut usize, by: &Value) -> Value {
        if *left == 0 {
            *left = usize::MAX;
            return by.clone();
        }
        *left = left.wrapping_sub(1);
        match value {
            Value::Array(values) => values.iter().map(|value| walk(value, left, by)).collect(),
            Value::Object(values) => values.iter().map(|(key, value)| (key.clone(), walk(value, left, by))).collect(),
            other => other.clone(),
        }
    }
    walk(value, &mut place.clone(), by)
}

/// A file of about so many bytes, made of many parts.
fn repeated(head: &str, part: impl Fn(usize) -> String, tail: &str, size: usize) -> String {
    let mut file = head.to_owned();
    let mut at = 0;
    while file.len() < size {
        file.push_str(&part(at));
        at += 1;
    }
    file.pop();
    file + tail
}

/// Files that a reader might take the square of their size for.
fn large(size: usize) -> Vec<(&'static str, String)> {
    let text = "warp and weft ".repeat(8);
    let deep = |count: usize| {
        let open: String =
            (0..count).map(|at| format!("{{\"id\":\"{at}\",\"text\":\"{text}\",\"children\":[")).collect();
        format!("{{\"root\":{open}{}}}", "]}".repeat(count))
    };
    let node = |at: usize, parent: &str| {
        format!(
            "\"{at}\":{{\"text\":\"{text}\",\"parentId\":{parent},\"collapsed\":true,\"unread\":false,\"bookmarked\":false}},"
        )
    };
    let message = |at: usize, parent: usize| {
        format!(
            "\"{at}\":{{\"id\":\"{at}\",\"parent\":\"{parent}\",\"children\":[],\"message\":{{\"author\":{{\"role\":\"{}\"}},\"content\":{{\"content_type\":\"text\",\"parts\":[\"{text}\"]}}}}}},",
            if at.is_multiple_of(3) { "system" } else { "user" }
        )
    };
    let mini = |at: usize, start: usize, text: &str| {
        format!(
            "\"{}\":{{\"id\":\"{}\",\"type\":\"gen\",\"parent\":\"{}\",\"children\":[],\"timestamp\":0,\"patch\":[{{\"diffs\":[[1,\"{text}\"]],\"start1\":{start},\"start2\":{start}}}]}},",
            at + 1,
            at + 1,
            at
        )
    };
    let chat = "{\"mapping\":{";
    let note = "{\"current\":\"0\",\"nodes\":{";
    let loom = "{\"focus\":{},\"loomTree\":{\"nodeStore\":{";
    vec![
        ("pyloom, deep", deep(9_000)),
        (
            "pyloom, wide",
            repeated(
                "{\"root\":{\"text\":\"\",\"children\":[",
                |_| format!("{{\"id\":\"same\",\"text\":\"{text}\",\"children\":[],\"apiKey\":\"k\"}},"),
                "]}}",
                size,
            ),
        ),
        ("loomsidian, a chain", repeated(note, |at| node(at, &format!("\"{}\"", at as i64 - 1)), "}}", size)),
        ("loomsidian, a circle", repeated(note, |at| node(at, &format!("\"{}\"", at + 1)), "}}", size)),
        ("loomsidian, siblings", repeated(note, |at| node(at, if at == 0 { "null" } else { "\"0\"" }), "}}", size)),
        ("chatgpt, a chain", repeated(chat, |at| message(at, at.wrapping_sub(1)), "}}", size)),
        (
            "chatgpt, bridged",
            repeated(
                chat,
                |at| {
                    if at % 2 == 0 {
                        message(at, at.wrapping_sub(1))
                    } else {
                        format!("\"{at}\":{{\"id\":\"{at}\",\"parent\":\"{}\",\"message\":null}},", at - 1)
                    }
                },
                "}}",
                size,
            ),
        ),
        ("miniloom, a chain", repeated(loom, |at| mini(at, at * text.len(), &text), "}}}", size)),
        (
            "sillytavern",
            repeated(
                "{\"user_name\":\"a\",\"character_name\":\"b\"}\n",
                |_| format!("{{\"name\":\"b\",\"mes\":\"{text}\",\"swipes\":[\"{text}\",\"x\",\"y\"]}}\n"),
                "",
                size,
            ),
        ),
        (
            "claude",
            repeated(
                "[",
                |at| {
                    format!(
                        "{{\"uuid\":\"{at}\",\"chat_messages\":[{{\"uuid\":\"m\",\"sender\":\"assistant\",\"content\":[{{\"type\":\"odd{at}\"}},{{\"type\":\"text\",\"text\":\"{text}\"}}]}}]}},"
                    )
                },
                "]",
                size,
            ),
        ),
        (
            "unknown fields",
            repeated(
                "[{\"text\":\"\",\"children\":[]},",
                |at| format!("{{\"text\":\"\",\"f{at}\":1,\"children\":[],\"\\ud800\":\"\\ud800\"}},"),
                "]",
                size,
            ),
        ),
        ("brackets", "[".repeat(size)),
        ("spaces", " ".repeat(size)),
        ("letters", "a".repeat(size)),
        (
            "open elements",
            format!(
                "[{{\"chat\":{{\"history\":{{\"messages\":{{\"a\":{{\"role\":\"assistant\",\"content\":{}}}}}}}}}}}]",
                json!("<details type=\"reasoning\">".repeat(size / 30))
            ),
        ),
        (
            "closed elements",
            format!(
                "[{{\"chat\":{{\"history\":{{\"messages\":{{\"a\":{{\"role\":\"assistant\",\"content\":{}}}}}}}}}}}]",
                json!("<details type=\"tool_calls\" name=\"n\" arguments=\"{}\"></details>".repeat(size / 70))
            ),
        ),
    ]
}

/// `CTXWEAVE_SIZE` makes the files larger, in megabytes, and prints the times.
#[test]
fn large_files_take_linear_time() {
    let megabytes: Option<usize> = std::env::var("CTXWEAVE_SIZE").ok().and_then(|size| size.parse().ok());
    for (name, file) in large(megabytes.unwrap_or(2) << 20) {
        let begin = Instant::now();
        let result = import_loom(file.as_bytes(), &ImportOptions::default());
        let took = begin.elapsed();
        if megabytes.is_some() {
            let nodes = result.map(|import| {
                serde_json::to_value(&import).unwrap()["trees"][0]["tree"]["nodes"].as_array().unwrap().len()
            });
            println!(
                "{name}: {:.1} MB in {took:?}, {:?} nodes",
                file.len() as f64 / 1e6,
                nodes.map_err(|error| error.code())
            );
        } else {
            // The machine may be busy; the square would take minutes.
            assert!(took < Duration::from_secs(20), "{name} took {took:?}");
        }
    }
}

/// A file of small changes to a long text stands for far more than it holds.
#[test]
fn texts_that_are_rewritten_again_and_again_are_bounded() {
    let long = "x".repeat(100_000);
    let change = |at: usize| {
        format!(
            "\"{0}\":{{\"id\":\"{0}\",\"type\":\"rewrite\",\"parent\":\"{1}\",\"patch\":[{{\"diffs\":[[1,\"y\"]],\"start1\":0,\"start2\":0}}]}}",
            at + 2,
            at + 1
        )
    };
    let changes: Vec<String> = (0..1000).map(change).collect();
    let file = format!(
        "{{\"focus\":{{}},\"loomTree\":{{\"nodeStore\":{{\"1\":{{\"id\":\"1\",\"type\":\"root\",\"parent\":null,\"patch\":[{{\"diffs\":[[1,\"{long}\"]],\"start1\":0,\"start2\":0}}]}},{}}}}}}}",
        changes.join(",")
    );
    let limits = Limits { input_bytes: 10_000_000, ..Limits::default() };
    let error = import_loom(file.as_bytes(), &ImportOptions { limits, ..ImportOptions::default() }).unwrap_err();
    assert_eq!((error.code().as_str(), &error.details()["limit"]), ("limit_exceeded", &json!("inputBytes")));
    assert!(import_loom(file.as_bytes(), &ImportOptions::default()).is_ok());
    let deep = format!("{}{}", "{\"text\":\"\",\"children\":[".repeat(200), "]}".repeat(200));
    let limits = Limits { file_depth: 300, ..Limits::default() };
    let error = import_loom(deep.as_bytes(), &ImportOptions { limits, ..ImportOptions::default() }).unwrap_err();
    assert_eq!(error.details()["limit"], json!("fileDepth"));
    let limits = Limits { nodes: 100, ..Limits::default() };
    let error = import_loom(deep.as_bytes(), &ImportOptions { limits, ..ImportOptions::default() }).unwrap_err();
    assert_eq!(error.details()["limit"], json!("nodes"));
}
