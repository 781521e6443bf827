//! An agent's first turn: the rules of docs/workspace.md, one by one.

use ctxweave::DiagnosticCode::{self, *};
use ctxweave::input::Content;
use ctxweave::limits::Limits;
use ctxweave::tokens::{Counter, Heuristic};
use ctxweave::workspace::{
    FileRole, Names, ReadContext, Sizes, Workspace, parse_brief, plan_loading, read_context, read_full_notes,
};
use proptest::prelude::*;
use serde_json::{Value, json};

fn text(text: impl Into<String>) -> Option<Content> {
    Some(Content::Text(text.into()))
}

fn read(workspace: &Workspace) -> ReadContext {
    read_context(workspace, &Limits::default(), &Heuristic).unwrap()
}

fn tastes(brief: &str) -> Vec<String> {
    parse_brief(text(brief).as_ref(), "brief.md").brief.tastes
}

fn codes(result: &ReadContext) -> Vec<(DiagnosticCode, &str, Option<u32>)> {
    result.diagnostics.iter().map(|found| (found.code, found.path.as_deref().unwrap_or(""), found.line)).collect()
}

fn genres(files: &[(&str, &str)]) -> Vec<(String, Option<Content>)> {
    files.iter().map(|(name, content)| ((*name).to_owned(), text(*content))).collect()
}

/// "Order: tastes, brief, notes, recent log, recent gaps"; "a plan (which files are wanted, in order) from the brief".
#[test]
fn the_plan_lists_the_files_in_loading_order() {
    let names = Names { tastes_dir: "/t".into(), workspace_dir: "w/".into() };
    let plan = plan_loading(text("Tastes: night, underwater\n").as_ref(), &[], &names);
    let files: Vec<_> = plan.files.iter().map(|file| (file.role, file.path.as_str())).collect();
    assert_eq!(
        files,
        [
            (FileRole::Default, "/t/_default.md"),
            (FileRole::Genre, "/t/night.md"),
            (FileRole::Genre, "/t/underwater.md"),
            (FileRole::Brief, "w/brief.md"),
            (FileRole::Notes, "w/notes.md"),
            (FileRole::Log, "w/log.jsonl"),
            (FileRole::Gaps, "w/vocabulary_gaps.jsonl"),
        ]
    );
    assert_eq!(plan_loading(None, &[], &Names::default()).files.len(), 5);
}

/// "Missing, empty and unreadable (invalid UTF-8) inputs give empty structures, the last with a diagnostic."
#[test]
fn a_fresh_workspace_and_a_damaged_one_both_work() {
    let fresh = read(&Workspace::default());
    let empty = Workspace {
        default_taste: text(""),
        brief: text(""),
        notes: text(""),
        log: text(""),
        gaps: Some(Content::Bytes(Vec::new())),
        ..Workspace::default()
    };
    assert_eq!(read(&empty).context, fresh.context);
    assert_eq!(
        serde_json::to_value(&fresh.context).unwrap(),
        json!({
            "tastes": { "default": "", "genres": {}, "conflicts": [] },
            "brief": { "raw": "", "intent": "", "tastes": [] },
            "notes": { "summary": "", "truncated": false },
            "recent_log": [],
            "recent_gaps": [],
        })
    );
    assert_eq!(fresh.diagnostics, []);
    let bad = || Some(Content::Bytes(b"a\nb\xff".to_vec()));
    let damaged = Workspace {
        default_taste: bad(),
        brief: text("Tastes: x"),
        genres: vec![("x".into(), Some(Content::Unreadable("no permission".into())))],
        notes: bad(),
        log: bad(),
        gaps: bad(),
        ..Workspace::default()
    };
    let result = read(&damaged);
    assert_eq!(
        codes(&result),
        [
            (InvalidUtf8, "tastes/_default.md", Some(2)),
            (FileUnreadable, "tastes/x.md", None),
            (InvalidUtf8, "notes.md", Some(2)),
            (InvalidUtf8, "log.jsonl", Some(2)),
            (InvalidUtf8, "vocabulary_gaps.jsonl", Some(2)),
        ]
    );
    assert_eq!(result.context.notes, fresh.context.notes);
    assert_eq!(result.context.recent_log, []);
    let brief = parse_brief(bad().as_ref(), "b.md");
    assert_eq!((brief.brief, brief.diagnostics[0].path.as_deref()), (Default::default(), Some("b.md")));
}

/// "`Tastes:` at the start of a line, any case, also as `**Tastes:**`. Value: comma list, optional brackets and quotes."
#[test]
fn tastes_lines_are_found() {
    assert_eq!(tastes("Tastes: a, b"), ["a", "b"]);
    assert_eq!(tastes("x\r\ntAsTeS:[\"a\", 'b c']\r\ny"), ["a", "b c"]);
    assert_eq!(tastes("**Tastes:** a"), ["a"]);
    assert_eq!(tastes("**tastes**: a"), ["a"]);
    assert_eq!(tastes("\u{feff}Tastes: a"), ["a"]);
    assert_eq!(tastes("Tastes: a\u{feff},\u{feff}`b` , c\u{85}x"), ["a", "b"], "white space is that of JavaScript");
    assert_eq!(tastes("Tastes: a <!-- b -->"), ["a"]);
    assert_eq!(tastes("Tastes: <!-- a, -->b, c<!-- d"), ["b", "c"]);
    assert_eq!(tastes("__Tastes:__ `a`, `b c`\n__tastes__: d"), ["a", "b c", "d"]);
    for none in [" Tastes: a", "- Tastes: a", "My Tastes: a", "Tastes a", "Tastes", "Tastes:", "Tastes: []"] {
        assert!(tastes(none).is_empty(), "{none}");
    }
}

/// A line that looks like tastes but declares none is reported, and stays in the intent.
#[test]
fn ignored_tastes_are_reported() {
    for (brief, line) in [
        ("x\n Tastes: a", Some(2)),
        ("- Tastes: a", Some(1)),
        ("> **Tastes**: a", Some(1)),
        ("## Tastes: a", Some(1)),
        ("x\nTastes:\n\n- a\n- b", Some(2)),
        ("<!-- Tastes: a -->", Some(1)),
        ("<!--\nTastes: a\n-->", Some(2)),
        ("Tastes:\n  dark", Some(1)),
        ("Tastes:\ndark", Some(1)),
        ("Tastes:\n\n1. dark", Some(1)),
        ("Tastes:\n\nMake it dark.", None),
        ("1. Tastes: a", Some(1)),
        ("2) **Tastes**: a", Some(1)),
        ("- [ ] Tastes: a", Some(1)),
        ("- [x] Tastes: a", Some(1)),
        ("x\n## Tastes\n- a", Some(2)),
        ("**Tastes**\n\n- a", Some(1)),
        ("<h2>Tastes</h2>\n* a", Some(1)),
        ("## Tastes\n\nIt is a matter of these.", None),
        ("<b>Tastes:</b> a", Some(1)),
        ("<p><b>Tastes</b>: a", Some(1)),
        ("Tastes:\n", None),
        ("Tastes:\nTastes: a", None),
        ("Tastes: a\n- b", None),
        ("```\n- Tastes: a\n```", None),
        ("My Tastes: a", None),
    ] {
        let parsed = parse_brief(text(brief).as_ref(), "brief.md");
        let found: Vec<_> = parsed.diagnostics.iter().map(|found| (found.code, found.line)).collect();
        assert_eq!(found, line.map(|line| (TastesIgnored, Some(line))).into_iter().collect::<Vec<_>>(), "{brief}");
        assert!(line.is_none() || parsed.brief.tastes.is_empty() && parsed.brief.intent.contains('a'), "{brief}");
    }
}

/// "Several lines add up; names are unique, first mention first; a line inside a fenced code block does not count."
#[test]
fn tastes_lines_add_up_and_fenced_ones_do_not_count() {
    assert_eq!(tastes("Tastes: b, a\n\nmore\nTastes: a, c"), ["b", "a", "c"]);
    assert_eq!(tastes("```\nTastes: a\n```\nTastes: b\n~~~md\nTastes: c"), ["b"]);
}

/// "All Tastes lines leave the intent; the rest, trimmed, is the intent; `raw` stays as it was."
#[test]
fn the_intent_is_the_rest_of_the_brief() {
    let raw = "\u{feff}\nTastes: a\r\nOne.\r\n**Tastes:** b\n```\nTastes: c\n```\n\n";
    let brief = parse_brief(text(raw).as_ref(), "brief.md").brief;
    assert_eq!(brief.raw, raw);
    assert_eq!(brief.intent, "One.\r\n```\nTastes: c\n```");
    let brief = parse_brief(text("Tastes: a\n\u{feff}hello\u{feff}\u{85}").as_ref(), "brief.md").brief;
    assert_eq!(brief.intent, "hello\u{feff}\u{85}", "white space is that of JavaScript");
}

/// "A name that is not a plain file stem (`/`, `\`, `..`, empty) is refused with a diagnostic."
#[test]
fn names_that_are_no_file_stems_are_refused() {
    let raw = "x\nTastes: ../secret, a/b, a\\b, .., , \".\", ok, _default, n\0l";
    let parsed = parse_brief(text(raw).as_ref(), "brief.md");
    assert_eq!(parsed.brief.tastes, ["ok"]);
    assert_eq!(parsed.diagnostics.len(), 8);
    for found in &parsed.diagnostics {
        assert_eq!((found.code, found.path.as_deref(), found.line), (TasteRefused, Some("brief.md"), Some(2)));
    }
    assert!(
        plan_loading(text(raw).as_ref(), &[], &Names::default()).files.iter().all(|file| !file.path.contains(".."))
    );
}

/// The brief selects the genre files: missing ones are reported, others left out.
#[test]
fn the_brief_picks_the_genre_files() {
    let given = genres(&[("a", "A"), ("b", "B"), ("c", "C")]);
    let result = read(&Workspace { brief: text("Tastes: c, d, a"), genres: given.clone(), ..Workspace::default() });
    let names: Vec<&str> = result.context.tastes.genres.0.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["c", "a"]);
    assert_eq!(codes(&result), [(TasteMissing, "tastes/d.md", None), (TasteNotDeclared, "tastes/b.md", None)]);
    let result = read(&Workspace { genres: given, ..Workspace::default() });
    assert_eq!(result.context.tastes.genres.0.len(), 3, "without a brief, those that the host picked");
    assert_eq!(result.diagnostics, []);
}

/// "Conflicts: a line, trimmed, not blank, not starting with `#`, holding at least one letter or digit …, that stands in
/// two or more different genre files; order of first appearance; files in declared order; the default file takes no part."
#[test]
fn conflicts_are_lines_that_genres_share() {
    let workspace = Workspace {
        default_taste: text("warm tones\nonly default and a\n"),
        brief: text("Tastes: b, a, c"),
        genres: genres(&[
            ("a", "\u{feff}cool shadows\n# Look\n---\nwarm tones\nonly default and a\n"),
            ("b", "  warm tones  \r\n# Look\n---\n* * *\nwarm tones\nnö\n1"),
            ("c", "cool shadows\u{feff}\nwarm tones\n\nNö\n1"),
        ]),
        ..Workspace::default()
    };
    let conflicts = read(&workspace).context.tastes.conflicts;
    let found: Vec<_> = conflicts.iter().map(|found| (found.point.as_str(), found.files.join(" "))).collect();
    assert_eq!(found, [("warm tones", "b a c".into()), ("1", "b c".into()), ("cool shadows", "a c".into())]);
}

fn numbered(count: usize, end: &str) -> String {
    (1..=count).map(|n| format!("line {n}{end}")).collect()
}

fn notes(raw: &str) -> (String, bool) {
    let notes = read(&Workspace { notes: text(raw), ..Workspace::default() }).context.notes;
    (notes.summary, notes.truncated)
}

/// "40 lines or fewer come back raw. Longer: first 10, `\n\n... [N lines elided] ...\n\n`, last 30; `truncated: true`.
/// Lines end at LF, CRLF or CR; a final line end does not add a line."
#[test]
fn long_notes_are_head_marker_and_tail() {
    for end in ["\n", "\r\n", "\r"] {
        let short = numbered(40, end);
        assert_eq!(notes(&short), (short.clone(), false));
        let long = numbered(41, end);
        let line = |n: std::ops::RangeInclusive<usize>| n.map(|n| format!("line {n}")).collect::<Vec<_>>().join(end);
        let expected = format!("{}\n\n... [1 lines elided] ...\n\n{}", line(1..=10), line(12..=41));
        assert_eq!(notes(&long), (expected.clone(), true));
        assert_eq!(notes(long.trim_end()), (expected, true));
    }
    assert!(!notes(&"\u{2028}\u{85}\u{b}".repeat(100)).1);
}

/// "`read_full_notes` gives the whole text."
#[test]
fn full_notes_are_whole() {
    let long = format!("\u{feff}{}", numbered(100, "\r\n"));
    assert_eq!(read_full_notes(text(long.as_str()).as_ref()), long);
    assert_eq!(read_full_notes(None), "");
    assert_eq!(read_full_notes(Some(&Content::Bytes(vec![0xff]))), "");
}

/// "Head, tail and record limits are settable."
#[test]
fn sizes_are_settable() {
    let sizes = Sizes { notes_head_lines: 2, notes_tail_lines: 0, log_entries: 1, gap_records: 0 };
    let log = text("{\"op\":\"a\"}\n{\"op\":\"b\"}\n");
    let workspace =
        Workspace { notes: text(numbered(5, "\n")), log: log.clone(), gaps: log, sizes, ..Workspace::default() };
    let context = read(&workspace).context;
    assert_eq!(context.notes.summary, "line 1\nline 2\n\n... [3 lines elided] ...\n\n");
    assert_eq!(context.recent_log.iter().map(|entry| entry.op.as_str()).collect::<Vec<_>>(), ["b"]);
    assert_eq!(context.recent_gaps, []);
    let none = Sizes { notes_head_lines: 0, ..sizes };
    let context = read(&Workspace { sizes: none, ..workspace }).context;
    assert_eq!(context.notes.summary, "\n\n... [5 lines elided] ...\n\n");
}

fn log(jsonl: &str) -> ReadContext {
    read(&Workspace { log: text(jsonl), ..Workspace::default() })
}

/// "JSONL split on LF only; last 10 readable records, newest first."
#[test]
fn the_last_ten_records_come_newest_first() {
    let lines: String = (1..=12).map(|n| format!("{{\"op\":\"{n}\u{2028}\u{85}\"}}\r\n\n")).collect();
    let result = log(&lines);
    let ops: Vec<_> = result.context.recent_log.iter().map(|entry| entry.op.clone()).collect();
    let expected: Vec<_> = (3..=12).rev().map(|n| format!("{n}\u{2028}\u{85}")).collect();
    assert_eq!(ops, expected);
    assert_eq!(result.diagnostics, []);
}

/// "A malformed or non-object line is skipped, does not count, and is a diagnostic with its line number (a torn last line
/// says so)."
#[test]
fn damaged_lines_are_skipped_and_named() {
    let mut lines: String = (1..=10).map(|n| format!("{{\"op\":\"{n}\"}}\n")).collect();
    lines.insert_str(0, "nonsense\n");
    lines.push_str("[1]\n{\"op\": \"to");
    let result = log(&lines);
    assert_eq!(result.context.recent_log.len(), 10);
    assert_eq!(
        codes(&result),
        [
            (MalformedLine, "log.jsonl", Some(1)),
            (MalformedLine, "log.jsonl", Some(12)),
            (TornLine, "log.jsonl", Some(13))
        ]
    );
}

/// A number that is too large for JavaScript is no damage.
#[test]
fn numbers_without_bounds_are_read() {
    let result = log("{\"op\":\"a\",\"x\":1e400,\"y\":[-1e999]}");
    assert_eq!(result.diagnostics, []);
    assert_eq!(result.context.recent_log[0].op, "a");
    assert_eq!(Value::Object(result.context.recent_log[0].details.clone()), json!({ "x": "1e400", "y": ["-1e999"] }));
}

/// "`details` of a log entry holds every other key, in order. Null or absent timestamp/op is `\"\"`; other scalars become
/// text."
#[test]
fn log_entries_keep_every_other_key_in_order() {
    let result = log(concat!(
        r#"{"z":1,"op":7,"details":{"b":2,"a":1},"timestamp":null,"a":[true]}"#,
        "\n",
        r#"{"op":true,"timestamp":1.50}"#,
    ));
    let shown = serde_json::to_string(&result.context.recent_log).unwrap();
    let second = r#"{"timestamp":"","op":"7","details":{"z":1,"details":{"b":2,"a":1},"a":[true]}}"#;
    assert_eq!(shown, format!(r#"[{{"timestamp":"1.5","op":"true","details":{{}}}},{second}]"#));
}

/// Gaps have the defaults of docs/workspace.md, with `workaround: ""` after `description`; a null or empty
/// `intent_category` becomes `uncategorized`; unknown fields are dropped.
#[test]
fn gaps_have_the_documented_defaults() {
    let gaps = concat!(
        r#"{"intent_category":"","unknown":1,"satisfaction":-1,"operations_involved":["a"],"vocabulary_used":"v"}"#,
        "\n",
        r#"{"intent_category":"color","workaround":"w","session_id":"s","notes":null}"#,
        "\n{}\n",
    );
    let result = read(&Workspace { gaps: text(gaps), ..Workspace::default() });
    let defaults = concat!(
        r#"{"timestamp":"","image_id":"","description":"","workaround":"","session_id":null,"snapshot_hash":null,"#,
        r#""intent":null,"intent_category":"uncategorized","missing_capability":null,"operations_involved":[],"#,
        r#""vocabulary_used":[],"satisfaction":null,"notes":""}"#
    );
    let shown: Vec<String> = result.context.recent_gaps.iter().map(|gap| serde_json::to_string(gap).unwrap()).collect();
    assert_eq!(shown[0], defaults);
    let second = defaults.replace("\"workaround\":\"\"", "\"workaround\":\"w\"");
    assert_eq!(
        shown[1],
        second.replace("uncategorized", "color").replace("\"session_id\":null", "\"session_id\":\"s\"")
    );
    let oldest: Value = serde_json::from_str(&shown[2]).unwrap();
    assert_eq!(oldest["intent_category"], "uncategorized");
    assert_eq!(oldest["satisfaction"], -1);
    assert_eq!((&oldest["operations_involved"], &oldest["vocabulary_used"]), (&json!(["a"]), &json!(["v"])));
    assert!(oldest.get("unknown").is_none());
}

/// The response has exactly these keys in this order; diagnostics are returned next to it, not in it.
#[test]
fn the_response_has_the_documented_keys_in_order() {
    let result = read(&Workspace { notes: Some(Content::Bytes(vec![0xff])), ..Workspace::default() });
    let shown = serde_json::to_string(&result.context).unwrap();
    let expected = concat!(
        r#"{"tastes":{"default":"","genres":{},"conflicts":[]},"brief":{"raw":"","intent":"","tastes":[]},"#,
        r#""notes":{"summary":"","truncated":false},"recent_log":[],"recent_gaps":[]}"#
    );
    assert_eq!(shown, expected);
    assert_eq!(result.diagnostics.len(), 1);
}

/// "A token total per section comes with it": that of the section's JSON text, and their sum.
#[test]
fn sections_are_counted_as_they_are_sent() {
    let workspace =
        Workspace { brief: text("Tastes: a\n\"Hello\"\n"), notes: text(numbered(50, "\n")), ..Workspace::default() };
    let ReadContext { context, tokens, .. } = read(&workspace);
    let context = serde_json::to_value(&context).unwrap();
    let count = |key: &str| Heuristic.count(&context[key].to_string());
    let counts = [tokens.tastes, tokens.brief, tokens.notes, tokens.recent_log, tokens.recent_gaps];
    assert_eq!(counts, ["tastes", "brief", "notes", "recent_log", "recent_gaps"].map(count));
    assert_eq!(tokens.total, counts.iter().sum::<u32>());
    assert_eq!(tokens.tokenizer, "heuristic");
}

/// Exceeded limits are named (docs/limits.md).
#[test]
fn input_bytes_are_bounded() {
    let limits = Limits { input_bytes: 10, ..Limits::default() };
    let workspace = Workspace { notes: text("123456"), genres: genres(&[("a", "12345")]), ..Workspace::default() };
    let error = read_context(&workspace, &limits, &Heuristic).unwrap_err();
    assert_eq!((error.code().as_str(), &error.details()["value"]), ("limit_exceeded", &json!(11)));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::generate::cases(256)))]

    /// Whatever the files hold, there is a response, it is the same again, and each section is within its size.
    #[test]
    fn any_files_make_a_response(
        brief in "(Tastes:|[a-c, \\[\\]\"'/.\n`~*]|\\PC){0,40}",
        notes in "[a\r\n]{0,200}",
        log in proptest::collection::vec(any::<u8>(), 0..60),
        gaps in "([{}\\[\\]\":,a0\n]|\\PC){0,60}",
    ) {
        let workspace = Workspace {
            brief: text(brief.clone()), notes: text(notes.clone()), log: Some(Content::Bytes(log)), gaps: text(gaps),
            ..Workspace::default()
        };
        let result = read(&workspace);
        prop_assert_eq!(&result, &read(&workspace));
        let context = &result.context;
        prop_assert_eq!(&context.brief.raw, &brief);
        prop_assert!(context.brief.tastes.iter().all(|name| !name.is_empty() && !name.contains(['/', '\\'])));
        let count = notes.replace("\r\n", "\n").replace('\r', "\n").lines().count();
        prop_assert_eq!(context.notes.truncated, count > 40);
        prop_assert!(context.notes.truncated || context.notes.summary == notes);
        prop_assert!(context.recent_log.len() <= 10 && context.recent_gaps.len() <= 10);
    }
}
