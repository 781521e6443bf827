//! Unit tests of private items in `src/json/value.rs`.

use super::*;

fn with<T>(text: &str, look: impl FnOnce(Value<'_>) -> T) -> T {
    let document = Document::read(text.as_bytes(), &[]).unwrap();
    let document: &Document<'_> = &document;
    look(document.root())
}

#[test]
fn numbers_are_as_javascript_has_them() {
    let value = with("[1, 1.0, -0.5, 1e3, 12345678901234567890]", |value| value.to_json().unwrap());
    assert_eq!(value.to_string(), "[1,1,-0.5,1000,1.2345678901234567e+19]");
}

/// A text as the npm package writes it.
fn as_it_is(text: &str) -> String {
    let digits = (0..5).map(|at| char::from((text.len() >> (7 * at) & 127) as u8));
    ['\x01'].into_iter().chain(digits).chain(text.chars()).collect()
}

#[test]
fn texts_may_stand_as_they_are() {
    let texts = ["", "\"", "\\ud800\\u0041 \\\"", "a\n\0", "é \u{1F600}", &"\"\n".repeat(200)];
    let list: Vec<String> = texts.iter().map(|text| as_it_is(text)).collect();
    let json = format!("\x01{{\"list\":[{}], \"text\": {}, \"n\":1.50}}", list.join(","), as_it_is("x\"y"));
    with(&json, |value| {
        let [list, text] = value.object("an object").unwrap().fields(["list", "text"]).unwrap();
        assert_eq!(list.unwrap().strings().unwrap(), texts);
        assert!(text.unwrap().is_string("x\"y"));
        assert_eq!(text.unwrap().path(), "text");
        assert!(list.unwrap().list("a list").unwrap().all(|text| text.first_repaired().is_none()));
        let plain = serde_json::json!({ "list": texts, "text": "x\"y" }).to_string();
        assert_eq!(value.json(), plain.replace("\"y\"}", "\"y\",\"n\":1.50}"));
    });
    assert!(Document::read(&json.as_bytes()[1..], &[]).is_err(), "only at the given place");
    for at in 0..json.len() {
        // Whatever is missing or damaged is an error at most.
        let _ = Document::read(&json.as_bytes()[..at], &[]).map(|document| document.root().to_json());
        let mut bytes = json.clone().into_bytes();
        bytes[at] ^= 0x15;
        let _ = Document::read(&bytes, &[]).map(|document| (document.root().to_json(), document.diagnostics()));
    }
}

/// To look for the path of each would take the square of their number.
#[test]
fn after_very_many_unknown_options_none_has_a_path() {
    let object = format!("{{{}}}", (0..50).map(|at| format!("\"k{at}\":1")).collect::<Vec<_>>().join(","));
    let mut found = Vec::new();
    with(&format!("[{}]", vec![object; 30].join(",")), |list| {
        for object in list.list("a list").unwrap() {
            object.object("an object").unwrap().report_unknown(&[], &mut found);
        }
    });
    assert_eq!(found.len(), 1500);
    for (at, found) in found.iter().enumerate() {
        let path = format!("[{}].k{}", at / 50, at % 50);
        assert_eq!(found.path, (at < 1050).then_some(path));
    }
}

#[test]
fn whole_numbers_are_those_without_a_fraction() {
    for (text, expected) in [
        ("-0", Some(0)),
        ("4.50e1", Some(45)),
        ("450e-1", Some(45)),
        ("1e-400", None),
        ("4294967295", Some(u32::MAX)),
        ("4294967296", None),
        ("-1", None),
        ("1.5", None),
        ("1e400", None),
        ("\"1\"", None),
    ] {
        assert_eq!(with(text, |value| value.whole(u32::MAX)).ok(), expected, "{text}");
    }
}

#[test]
fn depth_is_bounded() {
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    assert!(with(&nested(100), |value| value.to_json()).is_ok());
    for depth in [101, 127, 128, 129, 256] {
        let error = with(&nested(depth), |value| value.to_json()).unwrap_err();
        assert_eq!(error.code(), Code::LimitExceeded, "{depth}");
        assert_eq!(error.details()["limit"], "jsonDepth");
    }
    for depth in [257, 100_000] {
        let error = Document::read(nested(depth).as_bytes(), &[]).unwrap_err();
        assert_eq!(error.details()["limit"], "jsonDepth", "{depth}");
    }
}

#[test]
fn lone_surrogates_are_replaced_and_named() {
    let text = r#"{"a":["x\ud83d\ude00","\ud800y\udc00\udc01"],"b":{"c":"\\ud800","\udfff":1}}"#;
    let document = Document::read(text.as_bytes(), &[]).unwrap();
    let document: &Document<'_> = &document;
    let value = document.root().to_json().unwrap();
    assert_eq!(value["a"], serde_json::json!(["x\u{1F600}", "\u{FFFD}y\u{FFFD}\u{FFFD}"]));
    assert_eq!(value["b"], serde_json::json!({ "c": "\\ud800", "\u{FFFD}": 1 }));
    let diagnostics = document.diagnostics();
    let paths: Vec<_> = diagnostics.iter().map(|found| found.path.as_deref().unwrap()).collect();
    assert_eq!(paths, ["a[1]", "b.\u{FFFD}"]);
    assert!(diagnostics[0].message.starts_with('3'));
}

#[test]
fn what_serde_json_reads_is_read_the_same() {
    for text in [
        "null",
        " true ",
        "-0",
        "1e-7",
        r#""\"\\\/\b\f\n\r\t\u00e9é""#,
        "[]",
        "{}",
        "[[],{},[1,{\"a\":[null]}]]",
        r#"{"a b":{"c":[1,2,{"d":"e"}]},"f":""}"#,
        "\t[ 1 ,\n2 ]\r",
        "\u{FEFF}1",
    ] {
        let ours = with(text, |value| value.to_json().unwrap());
        let theirs: serde_json::Value = serde_json::from_str(text.trim_start_matches('\u{FEFF}')).unwrap();
        assert_eq!(ours.to_string(), theirs.to_string().replace("-0.0", "0").replace("1.0", "1"), "{text}");
    }
}

#[test]
fn invalid_json_is_rejected_with_its_place() {
    let refused =
        r#"[ { [1,] [,1] {"a"} {"a":} {a:1} {"a":1,} 01 1. - 1e +1 nul truee " "\x" "\u12" [1]] NaN 'a' ] {] [}"#;
    for text in refused.split(' ').chain(["", " ", "[1 2]", "\"\n\"", "1 1"]) {
        assert!(serde_json::from_str::<serde_json::Value>(text).is_err(), "{text}");
        let error = Document::read(text.as_bytes(), &[]).expect_err(text);
        assert_eq!(error.code(), Code::InvalidInput, "{text}");
        assert_eq!(error.details()["line"], 1, "{text}");
    }
    let error = Document::read("{\n  \"é\": x\n}".as_bytes(), &[]).unwrap_err();
    assert_eq!((error.details()["line"].as_u64(), error.details()["column"].as_u64()), (Some(2), Some(8)));
}

#[test]
fn errors_name_the_path() {
    let text = r#"{"tree":{"nodes":[{"id":"a"},{"id":5,"content":{"blocks":[1]}}],"nodes ":0},"x":1,"x":2}"#;
    with(text, |root| {
        let root = root.object("a request, an object").unwrap();
        let tree = root.need("tree").unwrap().object("a tree").unwrap();
        let mut nodes = tree.need("nodes").unwrap().list("a list of nodes").unwrap();
        assert_eq!(nodes.len(), 2);
        let (first, second) = (nodes.next().unwrap(), nodes.next().unwrap());
        let second = second.object("a node").unwrap();
        let error = second.text("id").unwrap_err();
        assert_eq!(error.message(), "`tree.nodes[1].id` must be a string");
        assert_eq!(error.details()["path"], "tree.nodes[1].id");
        let error = first.object("a node").unwrap().need("content").unwrap_err();
        assert_eq!(error.message(), "`tree.nodes[0]` lacks `content`");
        assert_eq!(root.get("x").unwrap_err().message(), "`x` occurs twice; remove one");
        let blocks = second.need("content").unwrap().object("content").unwrap().need("blocks").unwrap();
        assert_eq!(blocks.list("blocks").unwrap().next().unwrap().path(), "tree.nodes[1].content.blocks[0]");
    });
}

#[test]
fn unknown_options_are_named() {
    with(r#"{"maxtokens":1,"zzzzzzzz":2,"limit":3}"#, |root| {
        let root = root.object("options").unwrap();
        let mut found = Vec::new();
        root.report_unknown(&["maxTokens", "limit"], &mut found);
        let said: Vec<_> = found.iter().map(|found| (found.path.as_deref().unwrap(), &*found.message)).collect();
        assert_eq!(
            said,
            [
                ("maxtokens", "unknown option `maxtokens`; did you mean `maxTokens`?"),
                ("zzzzzzzz", "unknown option `zzzzzzzz`; known: `maxTokens`, `limit`"),
            ]
        );
        assert_eq!(refuse_unknown(&found).unwrap_err().details()["path"], "maxtokens");
        assert!(refuse_unknown(&[]).is_ok());
    });
}

#[test]
fn very_many_unknown_options_are_counted() {
    let keys: Vec<String> = (0..200_000).map(|at| format!("\"k{at}\":0")).collect();
    with(&format!("{{\"options\":{{{},\"{}\":1}}}}", keys.join(","), "x".repeat(1 << 20)), |root| {
        let options = root.object("a request").unwrap().need("options").unwrap().object("options").unwrap();
        let mut found = Vec::new();
        options.report_unknown(&["limit"], &mut found);
        assert_eq!(found.len(), MAX_LISTED_UNKNOWN + 1);
        assert_eq!(found[7].path.as_deref(), Some("options.k7"));
        assert_eq!(found[MAX_LISTED_UNKNOWN].message, "199901 more options are unknown");
        assert_eq!(found[MAX_LISTED_UNKNOWN].path.as_deref(), Some("options"));
    });
}

#[test]
fn what_json_cannot_carry_is_named() {
    let bytes = [b"ab".to_vec()];
    let text = br#"{"a":{"\u0000":"NaN"},"b":{"\u0000bytes":0},"c":[1,255],"d":[256],"e":{"f":1},"g":{"\u0000h":1}}"#;
    let document = Document::read(text, &bytes).unwrap();
    let document: &Document<'_> = &document;
    let root = document.root().object("a request, an object").unwrap();
    let error = root.read("a", Value::number).unwrap_err();
    assert_eq!(error.message(), "`a` is NaN, which JSON cannot carry; it must be a number");
    assert!(root.need("a").unwrap().to_json().is_err());
    assert_eq!(root.need("b").unwrap().bytes().as_deref(), Some(&b"ab"[..]));
    assert_eq!(root.text("b").unwrap_err().message(), "`b` is bytes; it must be a string");
    assert_eq!(root.need("c").unwrap().bytes().as_deref(), Some(&[1, 255][..]));
    assert!(root.need("d").unwrap().bytes().is_none());
    // What stands for something else is no object; another object of one key is.
    for (name, is_object) in [("a", false), ("b", false), ("e", true), ("g", true)] {
        assert_eq!(root.need(name).unwrap().object("an object").is_ok(), is_object, "{name}");
    }
}
