//! Unit tests of private items in `src/yaml.rs`.

use super::*;

fn json(text: &str) -> String {
    match read(text) {
        Ok(node) => node.map_or("nothing".to_owned(), |node| node.to_json().to_string()),
        Err(problem) => format!("{}:{}", problem.line, problem.column),
    }
}

#[test]
fn scalars_resolve_by_the_core_schema() {
    let text = "[a, 1, -2.5, 1e3, ~, null, true, \"1\", 'x', 2025-01-06, 1.2.3, ., -, !!str 5, +7]";
    let expected = r#"["a",1,-2.5,1000,null,null,true,"1","x","2025-01-06","1.2.3",".","-","5",7]"#;
    assert_eq!(json(&text.replace(" -,", " \"-\",")), expected);
    assert_eq!(json(""), "nothing");
    assert_eq!(json("a: 1\nb: {c: [d]}\n3: x"), r#"{"a":1,"b":{"c":["d"]},"3":"x"}"#);
}

#[test]
fn bad_yaml_has_its_place() {
    assert_eq!(json("watch: *"), "1:8");
    assert_eq!(json("a: 1\na: 2"), "2:1");
    assert!(json("a: [b").contains(':'));
    assert!(json("a:\n\t- b").contains(':'));
}

#[test]
fn depth_and_aliases_are_bounded() {
    assert!(json(&"[".repeat(100_000)).contains(':'));
    let mut bomb = "a0: &a0 [x,x,x,x,x,x,x,x,x]\n".to_owned();
    for n in 1..20 {
        bomb.push_str(&format!("a{n}: &a{n} [{}]\n", vec![format!("*a{}", n - 1); 9].join(",")));
    }
    assert!(json(&bomb).contains(':'));
    assert!(json("a: &a [*a]").contains(':'));
    assert_eq!(json("a: &x [1]\nb: *x"), r#"{"a":[1],"b":[1]}"#);
}
