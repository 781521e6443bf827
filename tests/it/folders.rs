//! Folders with AGENTS.md files: the rules of docs/folders.md, one by one.

use ctxweave::DiagnosticCode::{self, *};
use ctxweave::folders::*;
use ctxweave::input::Content;
use ctxweave::time::Timestamp;
use ctxweave::tokens::{Counter, Heuristic};
use ctxweave::{Code, Limits};
use serde_json::json;

fn limits() -> Limits {
    Limits::default()
}

fn files(files: &[(&str, &str)]) -> Vec<VaultFile> {
    let file = |(path, content): &(&str, &str)| VaultFile {
        path: (*path).to_owned(),
        content: Content::Text((*content).to_owned()),
    };
    files.iter().map(file).collect()
}

fn strings(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

fn select(folders: &[&str]) -> Selection {
    Selection { folders: strings(folders), ..Selection::default() }
}

fn chain(all: &[VaultFile], selection: &Selection) -> Chain {
    build_chain(all, selection, &Heuristic, &limits()).unwrap()
}

fn paths(chain: &Chain) -> Vec<&str> {
    chain.files.iter().map(|file| file.path.as_str()).collect()
}

fn codes(diagnostics: &[ctxweave::Diagnostic]) -> Vec<(DiagnosticCode, &str, Option<u32>)> {
    diagnostics.iter().map(|found| (found.code, found.path.as_deref().unwrap_or(""), found.line)).collect()
}

fn watching(watches: &[&str]) -> String {
    let list: String = watches.iter().map(|watch| format!("  - {}\n", json!(watch))).collect();
    format!("---\nwatch:\n{list}---\n# Title\n")
}

/// The patterns of a watcher at `watcher` that match the folder `changed`.
fn matched(watcher: &str, patterns: &[&str], changed: &str) -> Vec<String> {
    let all = files(&[(watcher, &watching(patterns))]);
    let found = WatchIndex::of_files(&all, &limits()).unwrap().watchers_of(changed, &limits()).unwrap();
    found.into_iter().flat_map(|watcher| watcher.patterns).collect()
}

fn is_matched(pattern: &str, changed: &str) -> bool {
    !matched("zz/AGENTS.md", &[pattern], changed).is_empty()
}

/// "A folder's context file is `AGENTS.md`, else `CLAUDE.md`; neither: skipped, no error."
#[test]
fn agents_md_comes_before_claude_md() {
    let all = files(&[("a/CLAUDE.md", "claude"), ("a/AGENTS.md", "agents"), ("b/CLAUDE.md", "claude"), ("c/x.md", "")]);
    let chain = chain(&all, &select(&["a", "b", "c", "d"]));
    assert_eq!(paths(&chain), ["a/AGENTS.md", "b/CLAUDE.md"]);
    assert_eq!(
        codes(&chain.diagnostics),
        [
            (NotAContextFile, "c/x.md", None),
            (ContextFileMissing, "c/AGENTS.md", None),
            (ContextFileMissing, "d/AGENTS.md", None)
        ]
    );
}

/// "Discovery from a list of paths".
#[test]
fn discovery_finds_the_folders() {
    let all =
        ["b/CLAUDE.md", "AGENTS.md", "b\\AGENTS.md", "./c//CLAUDE.md", "c/notes.md", "agents.md", "x/../../AGENTS.md"];
    let found = discover(all, &SKIPPED_FOLDERS, &limits()).unwrap();
    let rows: Vec<_> =
        found.folders.iter().map(|f| (f.path.as_str(), f.file.as_str(), f.has_agents_md, f.has_claude_md)).collect();
    assert_eq!(
        rows,
        [("", "AGENTS.md", true, false), ("b", "b/AGENTS.md", true, true), ("c", "c/CLAUDE.md", false, true)]
    );
    assert_eq!(codes(&found.diagnostics), [(PathOutsideVault, "x/../../AGENTS.md", None)]);
}

#[test]
fn discovery_skips_folders_of_tools() {
    let all =
        ["a/AGENTS.md", "node_modules/x/AGENTS.md", "a/node_modules/AGENTS.md", ".git/AGENTS.md", "vendor/AGENTS.md"];
    let found = |skip: &[&str]| -> Vec<String> {
        discover(all, skip, &limits()).unwrap().folders.into_iter().map(|folder| folder.path).collect()
    };
    assert_eq!(found(&SKIPPED_FOLDERS), ["a", "vendor"]);
    assert_eq!(found(&["vendor"]), [".git", "a", "a/node_modules", "node_modules/x"]);
}

/// The working directory's file and legacy contexts share the budget, and are in the report.
#[test]
fn files_outside_the_folders_share_the_budget() {
    let own = files(&[("/srv/AGENTS.md", &lines("own", 5_000))]);
    let mut all = files(&[("AGENTS.md", &lines("root", 50)), ("Chat/contexts/a-context.md", &lines("legacy", 50))]);
    let mut selection = select(&[""]);
    selection.working_directory = own.first().cloned();
    selection.contexts = strings(&["Chat/contexts/a-context.md"]);
    let whole = chain(&all, &selection);
    assert_eq!(paths(&whole), ["AGENTS.md", "Chat/contexts/a-context.md", "/srv/AGENTS.md"]);
    assert!(whole.total_tokens > 20_000);
    for max in [0, 10, 50, 300] {
        let cut = chain(&all, &Selection { max_tokens: Some(max), ..selection.clone() });
        assert!(cut.total_tokens <= max, "{} of {max}", cut.total_tokens);
        assert_eq!(cut.files.len() + cut.omitted.len(), 3);
        let shown = Heuristic.count(&render_prompt(&cut.files, None));
        assert!(shown <= max + 80, "{shown} tokens of a prompt for {max}");
    }
    // A file that the chain has, by path or by text, is there once.
    all.push(own[0].clone());
    selection.working_directory = files(&[("x/AGENTS.md", &lines("root", 50))]).pop();
    assert_eq!(paths(&chain(&all, &selection)), ["AGENTS.md", "Chat/contexts/a-context.md"]);
}

#[test]
fn a_selected_ancestor_keeps_its_reason() {
    let all = files(&[
        ("AGENTS.md", "root"),
        ("a/AGENTS.md", &watching(&["../"])),
        ("a/b/AGENTS.md", &watching(&["../", "/"])),
    ]);
    for parent_chain in [false, true] {
        let chain = chain(&all, &Selection { parent_chain, ..select(&["a/b", "a"]) });
        let reason = |path: &str| chain.files.iter().find(|file| file.path == path).map(|file| file.reason);
        assert_eq!(reason("a/AGENTS.md"), Some(Reason::Selected));
        assert_eq!(reason("AGENTS.md"), Some(if parent_chain { Reason::Ancestor } else { Reason::Watched }));
    }
}

/// "Paths are vault-relative, `/`-separated, normalised; a path that leaves the vault is refused."
#[test]
fn paths_are_normalised_and_stay_in_the_vault() {
    for (path, expected) in [
        ("a/./b//c/", "a/b/c"),
        ("a\\b", "a/b"),
        ("a/../b", "b"),
        ("", ""),
        ("./", ""),
        ("/", ""),
        ("a b/é/…", "a b/é/…"),
        ("C:x", "C:x"),
    ] {
        assert_eq!(normalize(path, &limits()).unwrap(), expected);
    }
    for path in ["..", "../a", "a/../../b", "/etc/passwd", "\\\\host\\x", "C:\\x", "c:/x", "C:", "a\0b"] {
        assert_eq!(normalize(path, &limits()).unwrap_err().code(), Code::PathOutsideVault, "{path}");
        assert_eq!(
            parse_file(path, &Content::Text(String::new()), &limits()).unwrap_err().code(),
            Code::PathOutsideVault
        );
    }
    let deep = "a/".repeat(257);
    assert_eq!(normalize(&deep, &limits()).unwrap_err().code(), Code::LimitExceeded);
    let all = files(&[("../AGENTS.md", "x"), ("a/AGENTS.md", "a")]);
    let chain = chain(&all, &select(&["../..", "a"]));
    assert_eq!(paths(&chain), ["a/AGENTS.md"]);
    assert_eq!(
        codes(&chain.diagnostics),
        [(PathOutsideVault, "../AGENTS.md", None), (PathOutsideVault, "../..", None)]
    );
}

fn parse(text: &str) -> ParsedFile {
    parse_file("a/AGENTS.md", &Content::Text(text.to_owned()), &limits()).unwrap()
}

/// "Front matter: YAML between `---` lines at the file's start; `watch` is a string or a list of strings."
#[test]
fn front_matter_lists_the_watches() {
    for (yaml, expected) in [
        ("watch: Projects/*", &["Projects/*"][..]),
        ("watch:\n  - \"Projects/*\"  # all\n  - ../\n", &["Projects/*", "../"]),
        ("watch: [Projects/*, '../', Projects/*]", &["Projects/*", "../"]),
        ("watch:", &[]),
        ("title: x", &[]),
        ("", &[]),
    ] {
        for eol in ["\n", "\r\n"] {
            let text = format!("---\n{}\n---\nBody\n", yaml.trim_end()).replace('\n', eol);
            let parsed = parse(&text);
            assert_eq!(parsed.watch, expected, "{text:?}");
            assert_eq!(parsed.diagnostics, []);
            assert_eq!(parsed.body, format!("Body{eol}"));
            assert_eq!(parse(&format!("\u{feff}{text}")).watch, expected);
        }
    }
    let parsed = parse("---\nwatch: x\ntags: [a, 1, true, ~]\n---\n\n---\nwatch: y\n---\n");
    assert_eq!(parsed.front_matter, Some(json!({ "watch": "x", "tags": ["a", 1, true, null] })));
    assert_eq!((parsed.body_line, parsed.body.as_str()), (5, "\n---\nwatch: y\n---\n"));
    assert_eq!(parse("\n---\nwatch: x\n---\n").watch, [] as [&str; 0]);
    assert_eq!(parse("---\nJust a rule, not closed").diagnostics, []);
}

/// "Bad YAML is a warning and no watches." An unquoted `*` is a YAML alias error.
#[test]
fn bad_yaml_is_a_warning_and_no_watches() {
    for (yaml, line) in [
        ("watch: *", 2),
        ("x: 1\nwatch:\n  - ok\n  - *.md", 5),
        ("watch: {a,b}/*", 2),
        ("watch: [a", 3),
        ("watch:\n\t- a", 3),
        ("- a\n- b", 2),
        ("just text", 2),
        ("watch: a\nwatch: b", 3),
        ("watch: \"Projects\\*\"", 2),
    ] {
        let parsed = parse(&format!("---\n{yaml}\n---\nBody\n"));
        assert_eq!(parsed.watch, [] as [&str; 0], "{yaml}");
        assert_eq!(codes(&parsed.diagnostics), [(FrontMatterInvalid, "a/AGENTS.md", Some(line))], "{yaml}");
        assert_eq!(parsed.body, "Body\n", "nothing is lost");
    }
    let hint = |yaml: &str| parse(&format!("---\n{yaml}\n---\n")).diagnostics[0].message.contains("in quotes");
    assert!(hint("watch: *") && hint("watch:\n - *.md") && hint("watch: [*]") && !hint("watch: a\nwatch: b"));
    let open = parse("---\nwatch: x\nBody");
    assert_eq!(codes(&open.diagnostics), [(FrontMatterInvalid, "a/AGENTS.md", Some(1))]);
    assert_eq!(open.body, "---\nwatch: x\nBody");
    let long = parse(&format!("---\nx: {}\n---\nBody", "y".repeat(70_000)));
    assert_eq!((long.diagnostics[0].code, long.body.as_str()), (FrontMatterInvalid, "Body"));
    assert_eq!(parse(&format!("---\nwatch: {}\n---\n", "[".repeat(50_000))).diagnostics[0].code, FrontMatterInvalid);
}

/// An unusable watch is reported and left out; the others stay.
#[test]
fn an_unusable_watch_is_reported() {
    let parsed =
        parse("---\nwatch:\n  - ok\n  - 5\n  - ''\n  - !tag x\n  - [a]\n  - 'a/[b'\n  - '*/../b'\n  - fine\n---\n");
    assert_eq!(parsed.watch, ["ok", "a/[b", "*/../b", "fine"]);
    let lines: Vec<_> = parsed.diagnostics.iter().map(|found| (found.code, found.line.unwrap())).collect();
    assert_eq!(lines, [4, 5, 6, 7, 8, 9].map(|line| (WatchInvalid, line)));
    let many: Vec<String> = (0..1001).map(|n| format!("f{n}")).collect();
    let parsed = parse(&watching(&many.iter().map(String::as_str).collect::<Vec<_>>()));
    assert_eq!((parsed.watch.len(), parsed.diagnostics.len()), (1000, 1));
    let braces = "{a,b}".repeat(9);
    assert_eq!(parse(&watching(&[&braces])).diagnostics[0].code, WatchInvalid);
    let parsed = parse(&watching(&["Projects\\parachute"]));
    assert_eq!(parsed.diagnostics[0].code, WatchRewritten);
    assert!(is_matched("Projects\\parachute", "Projects/parachute"));
}

const VAULT: [(&str, &str); 6] = [
    ("AGENTS.md", "---\nwatch: Projects/*\n---\nroot"),
    ("Projects/AGENTS.md", "projects"),
    ("Projects/parachute/AGENTS.md", "---\nwatch: ../\n---\nparachute"),
    ("Projects/parachute/chat/AGENTS.md", "chat"),
    ("Projects/unforced/AGENTS.md", "unforced"),
    ("Areas/taiji/AGENTS.md", "taiji"),
];

/// "Selection is explicit. Selecting a folder loads that folder's file. An ancestor is loaded when it is itself selected,
/// or when a loaded file watches it".
#[test]
fn only_selected_or_watched_files_are_loaded() {
    let all = files(&VAULT);
    assert_eq!(
        paths(&chain(&all, &select(&["Projects/unforced", "Areas/taiji"]))),
        ["Areas/taiji/AGENTS.md", "Projects/unforced/AGENTS.md"]
    );
    let watched = chain(&all, &select(&["Projects/parachute/AGENTS.md"]));
    assert_eq!(paths(&watched), ["Projects/AGENTS.md", "Projects/parachute/AGENTS.md"]);
    assert_eq!((watched.files[0].reason, watched.files[1].reason), (Reason::Watched, Reason::Selected));
    assert_eq!(watched.files[0].watched_by, ["Projects/parachute/AGENTS.md"]);
    assert_eq!(paths(&chain(&all, &select(&["", "Projects/unforced"]))), ["AGENTS.md", "Projects/unforced/AGENTS.md"]);
    assert_eq!(paths(&chain(&all, &select(&["Projects/parachute/chat"]))), ["Projects/parachute/chat/AGENTS.md"]);
}

/// "(`includeWatched: \"ancestors\"`, the default; `\"all\"`, `\"none\"`)"; watches of what a watch loaded count, too.
#[test]
fn what_watches_load_can_be_chosen() {
    let mut all = files(&VAULT);
    let with = |include_watched, folders: &[&str]| Selection { include_watched, ..select(folders) };
    assert_eq!(
        paths(&chain(&all, &with(IncludeWatched::None, &["Projects/parachute"]))),
        ["Projects/parachute/AGENTS.md"]
    );
    let everything = chain(&all, &with(IncludeWatched::All, &[""]));
    assert_eq!(
        paths(&everything),
        ["AGENTS.md", "Projects/AGENTS.md", "Projects/parachute/AGENTS.md", "Projects/unforced/AGENTS.md"]
    );
    assert_eq!(everything.files[1].watched_by, ["Projects/parachute/AGENTS.md"]);
    all[3].content = Content::Text("---\nwatch: ../\n---\nchat".into());
    let chained = chain(&all, &select(&["Projects/parachute/chat"]));
    assert_eq!(
        paths(&chained),
        ["Projects/AGENTS.md", "Projects/parachute/AGENTS.md", "Projects/parachute/chat/AGENTS.md"]
    );
    all[0].content = Content::Text("---\nwatch: '**'\n---\nroot".into());
    assert_eq!(
        paths(&chain(&all, &select(&["", "Areas/taiji"]))),
        ["AGENTS.md", "Areas/taiji/AGENTS.md"],
        "ancestors only"
    );
}

/// "`parentChain: true` is the older mode that always adds ancestors and the root."
#[test]
fn the_parent_chain_adds_all_ancestors() {
    let all = files(&VAULT);
    let chain = chain(&all, &Selection { parent_chain: true, ..select(&["Projects/parachute/chat"]) });
    let rows: Vec<_> = chain.files.iter().map(|file| (file.path.as_str(), file.level, file.reason)).collect();
    assert_eq!(
        rows,
        [
            ("AGENTS.md", Level::Root, Reason::Ancestor),
            ("Projects/AGENTS.md", Level::Parent, Reason::Ancestor),
            ("Projects/parachute/AGENTS.md", Level::Parent, Reason::Ancestor),
            ("Projects/parachute/chat/AGENTS.md", Level::Direct, Reason::Selected),
        ]
    );
}

/// "`parentChain: true` is the older mode that always adds ancestors and the root": those of watched files, too.
#[test]
fn the_parent_chain_has_the_ancestors_of_watched_files() {
    let all = files(&[
        ("a/AGENTS.md", "---\nwatch: x/y/z\n---\na"),
        ("x/AGENTS.md", "---\nwatch: q\n---\nx"),
        ("x/y/z/AGENTS.md", "z"),
        ("q/AGENTS.md", "q"),
        ("other/AGENTS.md", "other"),
    ]);
    let all_of = Selection { include_watched: IncludeWatched::All, parent_chain: true, ..select(&["a"]) };
    let found = chain(&all, &all_of);
    assert_eq!(paths(&found), ["a/AGENTS.md", "q/AGENTS.md", "x/AGENTS.md", "x/y/z/AGENTS.md"]);
    assert_eq!((found.files[2].reason, found.files[2].level), (Reason::Ancestor, Level::Parent));
}

/// "Levels: `root`; `parent` (an ancestor of another loaded folder); `direct`. Order: root, then by depth, then by path."
#[test]
fn levels_and_order() {
    let all = files(&[
        ("b/AGENTS.md", ""),
        ("a/z/AGENTS.md", ""),
        ("a/AGENTS.md", ""),
        ("AGENTS.md", ""),
        ("a-b/AGENTS.md", ""),
    ]);
    let chain = chain(&all, &select(&["b", "a/z", "a", "", "a-b"]));
    let rows: Vec<_> = chain.files.iter().map(|file| (file.folder.as_str(), file.level)).collect();
    assert_eq!(
        rows,
        [("", Level::Root), ("a", Level::Parent), ("a-b", Level::Direct), ("b", Level::Direct), ("a/z", Level::Direct)]
    );
}

/// "`*` stays within a segment, `**` crosses, `?`, `[..]`, `{a,b}` work".
#[test]
fn watch_patterns_are_globs_on_folders() {
    for (pattern, yes, no) in [
        ("Projects/*", &["Projects/a", "Projects/b c"][..], &["Projects", "Projects/a/b", "X/Projects/a", ""][..]),
        ("Projects/**", &["Projects", "Projects/a", "Projects/a/b"], &["Projectsa", "X"]),
        ("**/chat", &["chat", "a/chat", "a/b/chat"], &["a/chat/b", "achat"]),
        ("**", &["", "a", "a/b"], &[".git", "a/.x"]),
        ("*", &["a", "b"], &["", "a/b", ".git"]),
        ("a?c/x", &["abc/x", "aéc/x"], &["ac/x", "a/c/x"]),
        ("[a-c]x", &["ax", "cx", "[a-c]x"], &["dx", "x"]),
        ("[!a]x", &["bx"], &["ax"]),
        ("{Projects,Areas}/*", &["Projects/a", "Areas/b"], &["Other/a"]),
        ("{a/b,c}/{d,}", &["a/b/d", "a/b", "c/d", "c"], &["a", "b"]),
        ("a/**/b/*", &["a/b/x", "a/c/d/b/x"], &["a/b"]),
        (".obsidian/*", &[".obsidian/x"], &["obsidian/x"]),
        (".*", &[".git"], &["git"]),
        ("!a", &["!a"], &["b"]),
        ("\\*", &["*"], &["a"]),
    ] {
        yes.iter().for_each(|folder| assert!(is_matched(pattern, folder), "{pattern} should match {folder}"));
        no.iter().for_each(|folder| assert!(!is_matched(pattern, folder), "{pattern} should not match {folder}"));
    }
}

/// A watch takes time linear in its length, and is no longer than a file can declare.
#[test]
fn long_watches_end() {
    let rows = |pattern: String| {
        [WatchRecord { watcher_path: "a/AGENTS.md".into(), watch_pattern: pattern, resolved_paths: None }]
    };
    let told = |pattern: &str, limits: &Limits| {
        let index = WatchIndex::of_records(&rows(pattern.to_owned()), limits).unwrap();
        index.watchers_of("b", limits).unwrap().len()
    };
    // With time by the square of it, this would take hours.
    let open = Limits { front_matter_bytes: u32::MAX, ..limits() };
    assert_eq!(told(&"[".repeat(4_000_000), &open), 0);
    assert_eq!(told(&format!("{{{},b}}", "[a/".repeat(1_000_000)), &open), 0);
    assert_eq!(told("{b,x[}", &open), 0, "a `[` may close after a brace, and this one does not");
    assert_eq!(told("{b,x[,]}", &open), 1);
    // 64 KiB are the limit.
    assert_eq!(
        (
            told(&format!("b/{}", "./".repeat(32_767)), &limits()),
            told(&format!("b/{}", "./".repeat(32_768)), &limits())
        ),
        (1, 0)
    );
}

/// Syntax of other globs is literal here, and reported.
#[test]
fn unsupported_glob_syntax_is_reported() {
    for (pattern, is_said) in [
        ("v{1..3}", true),
        ("[[:alpha:]]x", true),
        ("@(a|b)", true),
        ("a+(b)", true),
        ("(a|b)", true),
        ("(a)", true),
        ("x(a)", true),
        ("x[!a]", true),
        ("[^!]", false),
        ("{a,}", true),
        ("x/{a,b/{c,}}/d", true),
        ("{a,}{b,}", true),
        ("x{a,}/{b/,}c/", false),
        ("*/**", false),
        ("{a..b,c}", false),
        ("C (old)", false),
        ("a|b", false),
        ("[:]", false),
    ] {
        let found = parse_file("a/AGENTS.md", &Content::Text(watching(&[pattern])), &limits()).unwrap().diagnostics;
        let found: Vec<_> = found.iter().map(|found| found.code).collect();
        assert_eq!(found, if is_said { vec![WatchRewritten] } else { vec![] }, "{pattern}");
    }
    assert!(is_matched("v{1..3}", "v{1..3}") && !is_matched("v{1..3}", "v2"));
    assert!(is_matched("@(a|b)", "@(a|b)") && !is_matched("@(a|b)", "a"));
    assert!(is_matched("*/**", "a") && is_matched("*/**", "a/b") && !is_matched("*/**", ""));
}

/// "`../` and `./` resolve against the watcher's folder, stop at the root and name exactly that folder. A trailing `/` or
/// `/AGENTS.md` does not matter."
#[test]
fn relative_watches_resolve_against_the_watchers_folder() {
    let told = |pattern: &str, changed: &str| !matched("a/b/AGENTS.md", &[pattern], changed).is_empty();
    assert!(told("../", "a") && told("..", "a/AGENTS.md") && !told("../", "a/c") && !told("../", ""));
    assert!(told("../../", "") && told("../../../..", "") && told("../../AGENTS.md", "AGENTS.md"));
    assert!(told("./c", "a/b/c") && told("./c/AGENTS.md", "a/b/c") && !told("c", "a/b/c") && told("c", "c"));
    assert!(told("../*", "a/c") && told("./**", "a/b/x/y") && told("/c/", "c") && told("c/CLAUDE.md", "c/CLAUDE.md"));
    assert!(told("../c/../d", "a/d"));
    assert!(!matched("[x]/AGENTS.md", &["./[y]"], "[x]/y").is_empty(), "the watcher's own folder is no pattern");
}

/// "A file never watches itself."
#[test]
fn a_file_never_watches_itself() {
    assert!(matched("a/AGENTS.md", &["**", "./", "a", "*"], "a/AGENTS.md").is_empty());
    assert!(matched("AGENTS.md", &["**", "./", "../"], "").is_empty());
    assert!(matched("a/CLAUDE.md", &["a"], "a").is_empty());
}

/// "given the watches and a changed path, the watchers, in path order, each once with the patterns that matched."
#[test]
fn watchers_come_in_path_order_with_their_patterns() {
    let all = files(&[
        ("z/AGENTS.md", &watching(&["Projects/*", "nothing", "**/a", "{Projects,X}/a", "Projects/?"])),
        ("AGENTS.md", &watching(&["Projects/*"])),
        ("Projects/a/AGENTS.md", &watching(&["Projects/*"])),
        ("m/AGENTS.md", &watching(&["Areas/*"])),
    ]);
    let index = WatchIndex::of_files(&all, &limits()).unwrap();
    let expected = [
        Watcher { path: "AGENTS.md".into(), patterns: strings(&["Projects/*"]) },
        Watcher {
            path: "z/AGENTS.md".into(),
            patterns: strings(&["Projects/*", "**/a", "{Projects,X}/a", "Projects/?"]),
        },
    ];
    assert_eq!(index.watchers_of("Projects/a/AGENTS.md", &limits()).unwrap(), expected);
    assert_eq!(index.watchers_of("./Projects/a/", &limits()).unwrap(), expected);
    assert_eq!(index.watchers_of("Projects/a/CLAUDE.md", &limits()).unwrap(), [], "it is hidden by its AGENTS.md");
    assert_eq!(index.watchers_of("../x", &limits()).unwrap_err().code(), Code::PathOutsideVault);
    let (records, _) = watch_records(&all, &limits()).unwrap();
    let rows = WatchIndex::of_records(&records, &limits()).unwrap();
    assert_eq!(rows.watchers_of("Projects/a/AGENTS.md", &limits()).unwrap(), expected, "rows of the table do as well");
}

fn bubbled(all: &[VaultFile], changed: &[&str], depth: usize) -> Vec<(String, usize, Vec<String>)> {
    let index = WatchIndex::of_files(all, &limits()).unwrap();
    let told = index.bubble(&strings(changed), depth, &limits()).unwrap();
    told.into_iter()
        .map(|told| (told.path, told.depth, told.because.into_iter().map(|cause| cause.path).collect()))
        .collect()
}

/// "`bubble(changes, maxDepth)` follows watchers of watchers, each file once, so that cycles end."
#[test]
fn bubbling_follows_watchers_of_watchers_and_ends() {
    let all = files(&[
        ("a/AGENTS.md", &watching(&["c"])),
        ("b/AGENTS.md", &watching(&["a"])),
        ("c/AGENTS.md", &watching(&["b", "d"])),
        ("d/AGENTS.md", &watching(&["a", "b"])),
    ]);
    let a = "a/AGENTS.md";
    let told = bubbled(&all, &[a], usize::MAX);
    let expected =
        [("b/AGENTS.md", 1, &[a][..]), ("d/AGENTS.md", 1, &[a]), ("c/AGENTS.md", 2, &["b/AGENTS.md", "d/AGENTS.md"])];
    let expected = expected.map(|(path, depth, because)| (path.to_owned(), depth, strings(because)));
    assert_eq!(told, expected);
    assert_eq!(bubbled(&all, &[a], 1), expected[..2]);
    assert_eq!(bubbled(&all, &[a], 0), []);
    assert_eq!(bubbled(&all, &[], 9), []);
    // Of two files that changed, the one that watches the other has to be notified, and no file for its own change.
    let told = bubbled(&all, &[a, "b"], usize::MAX);
    assert_eq!(told[0], ("b/AGENTS.md".to_owned(), 1, strings(&[a])));
    assert_eq!(told.iter().filter(|(path, ..)| path == "b/AGENTS.md" || path == a).count(), 1);
}

/// "Chain report: files with path, level, tokens, truncated; the total."
#[test]
fn the_total_is_the_sum_of_the_shown_files() {
    let chain = chain(&files(&VAULT), &Selection { parent_chain: true, ..select(&["Projects/parachute/chat"]) });
    for file in &chain.files {
        assert_eq!((file.tokens, file.truncated), (Heuristic.count(&file.content), false));
    }
    assert_eq!(chain.total_tokens, chain.files.iter().map(|file| file.tokens).sum::<u32>());
    assert_eq!(
        (chain.files[0].content.as_str(), chain.tokenizer.as_str()),
        ("root", "heuristic"),
        "front matter stays out"
    );
}

fn lines(name: &str, count: usize) -> String {
    (0..count).map(|n| format!("- {name} {n} has some words\n")).collect()
}

/// "Budget: the most specific file is protected: direct first, then nearest ancestors, root last; prompt order does not
/// change. A file that only partly fits is cut at a line end with a visible marker; one that does not fit is listed as
/// omitted."
#[test]
fn the_most_specific_file_is_protected() {
    let all = files(&[
        ("AGENTS.md", &lines("root", 20)),
        ("p/AGENTS.md", &lines("parent", 20)),
        ("p/q/AGENTS.md", &lines("direct", 20)),
        ("x/AGENTS.md", &lines("other", 20)),
    ]);
    let selection = Selection { parent_chain: true, ..select(&["p/q", "x"]) };
    let whole = chain(&all, &selection);
    let cost: Vec<u32> = whole.files.iter().map(|file| file.tokens).collect();
    let with = |max| chain(&all, &Selection { max_tokens: Some(max), ..selection.clone() });
    assert_eq!(with(whole.total_tokens), whole);
    // Direct files are whole, the parent is cut, the root is omitted.
    let cut = with(cost[2] + cost[3] + 60);
    assert_eq!(paths(&cut), ["p/AGENTS.md", "x/AGENTS.md", "p/q/AGENTS.md"]);
    assert_eq!(cut.files.iter().map(|file| file.truncated).collect::<Vec<_>>(), [true, false, false]);
    assert_eq!(
        cut.omitted.iter().map(|file| (file.path.as_str(), file.tokens)).collect::<Vec<_>>(),
        [("AGENTS.md", cost[0])]
    );
    let content = &cut.files[0].content;
    let (kept, marker) = content.rsplit_once('\n').unwrap();
    assert!(lines("parent", 20).starts_with(&format!("{kept}\n")), "{content}");
    assert_eq!(marker, format!("[… {} more lines omitted …]", 20 - kept.lines().count()));
    assert!(cut.total_tokens <= cost[2] + cost[3] + 60);
    assert_eq!(with(0).omitted.len(), 4);
    let marker = Some("<{count} of {path}>".into());
    let marked = Selection { truncation_marker: marker, max_tokens: Some(60), folders: strings(&["p/q"]), ..selection };
    assert!(chain(&all, &marked).files[0].content.ends_with(" of p/q/AGENTS.md>"));
    // Of direct files that nobody has picked the deepest is protected.
    let all = files(&[
        ("a/AGENTS.md", "---\nwatch: [x, p/q]\n---\na"),
        ("p/q/AGENTS.md", &lines("deep", 20)),
        ("x/AGENTS.md", &lines("flat", 20)),
    ]);
    let selection = Selection { include_watched: IncludeWatched::All, max_tokens: Some(150), ..select(&["a"]) };
    assert_eq!(paths(&chain(&all, &selection)), ["a/AGENTS.md", "p/q/AGENTS.md"]);
}

/// "Folders that were picked by name share first: none of them is left out while another takes more than its fair share."
#[test]
fn picked_folders_share_the_budget() {
    let all = files(&[
        ("AGENTS.md", &lines("root", 400)),
        ("a/AGENTS.md", &lines("large", 400)),
        ("b/AGENTS.md", "small"),
        ("c/d/AGENTS.md", &lines("deep", 400)),
        ("w/AGENTS.md", "w"),
        ("b/v/AGENTS.md", "---\nwatch: w\n---\nv"),
    ]);
    let folders = select(&["", "a", "b", "b/v", "c/d"]);
    let with = |max| {
        chain(&all, &Selection { include_watched: IncludeWatched::All, max_tokens: Some(max), ..folders.clone() })
    };
    let cut = with(600);
    // What was picked is there, the small ones whole, and of the large ones each has as much.
    assert_eq!(paths(&cut), ["AGENTS.md", "a/AGENTS.md", "b/AGENTS.md", "b/v/AGENTS.md", "c/d/AGENTS.md"]);
    let large: Vec<u32> = cut.files.iter().filter(|file| file.truncated).map(|file| file.tokens).collect();
    assert!(large.len() == 3 && large.iter().all(|tokens| (180..200).contains(tokens)), "{large:?}");
    // Then come the others.
    assert_eq!(cut.omitted.iter().map(|file| file.path.as_str()).collect::<Vec<_>>(), ["w/AGENTS.md"]);
    let whole = with(u32::MAX);
    assert_eq!(with(whole.total_tokens), whole);
    assert_eq!(paths(&with(whole.total_tokens - 1)).len(), 5);
}

/// What a picked file leaves that cannot be shown goes to the other picked files.
#[test]
fn what_an_omitted_file_leaves_goes_to_the_others() {
    let long = "word ".repeat(4000);
    let all = files(&[
        ("AGENTS.md", "root"),
        ("a/AGENTS.md", &long),
        ("b/AGENTS.md", &lines("b", 50)),
        ("c/AGENTS.md", &long),
    ]);
    let with = |max| chain(&all, &Selection { max_tokens: Some(max), parent_chain: true, ..select(&["a", "b", "c"]) });
    let b = Heuristic.count(lines("b", 50).trim_end());
    let cut = with(b);
    assert_eq!((paths(&cut), cut.total_tokens, cut.files[0].truncated), (vec!["b/AGENTS.md"], b, false));
    assert_eq!(cut.omitted.len(), 3, "what was not picked comes after all that was");
    assert!(with(b - 1).total_tokens > b - 40);
    // One of two long ones has what the other leaves.
    let long = Heuristic.count(&long);
    assert_eq!(paths(&with(b + long)), ["a/AGENTS.md", "b/AGENTS.md"]);
    assert_eq!(with(b + 2 * long).files.len(), 3);
}

/// A bullet that gives way to one further down is not lost where that one is cut off.
#[test]
fn a_text_truncated_below_stays_above() {
    let all =
        files(&[("AGENTS.md", "- ask first\n- brief\n"), ("a/AGENTS.md", &(lines("long", 40) + "- ask first\n"))]);
    let with = |max| chain(&all, &Selection { max_tokens: Some(max), ..select(&["", "a"]) });
    let content = |max| with(max).files[0].content.clone();
    assert_eq!(content(10_000), "- brief");
    assert!(with(100).files[1].truncated);
    assert_eq!(content(100), "- ask first\n- brief");
}

/// What comes after the file that does not fit is counted for the report, and not tried in parts.
#[test]
fn nothing_is_cut_once_the_budget_is_spent() {
    #[derive(Debug, Default)]
    struct Counted(std::cell::RefCell<Vec<String>>);
    impl Counter for Counted {
        fn name(&self) -> &str {
            "counted"
        }
        fn count(&self, text: &str) -> u32 {
            self.0.borrow_mut().push(text.to_owned());
            Heuristic.count(text)
        }
    }
    let all =
        files(&[("AGENTS.md", &lines("root", 20)), ("p/AGENTS.md", &lines("parent", 20)), ("p/q/AGENTS.md", "q")]);
    let counter = Counted::default();
    let selection = Selection { parent_chain: true, max_tokens: Some(40), ..select(&["p/q"]) };
    let chain = build_chain(&all, &selection, &counter, &limits()).unwrap();
    assert_eq!(paths(&chain), ["p/AGENTS.md", "p/q/AGENTS.md"]);
    let texts = counter.0.into_inner();
    assert!(texts.iter().filter(|text| text.contains("- parent 0")).count() > 2, "it was cut by trying");
    assert_eq!(texts.iter().filter(|text| text.contains("- root 0")).count(), 1);
}

/// A file that is cut within a code block must not make code of what follows.
#[test]
fn a_cut_closes_what_it_opens() {
    let all = files(&[("a/AGENTS.md", &format!("# A\n\n~~~~sh\n{}~~~~\nend\n", lines("code", 30)))]);
    let chain = chain(&all, &Selection { max_tokens: Some(80), ..select(&["a"]) });
    let content = &chain.files[0].content;
    assert!(chain.files[0].truncated && content.contains("\n~~~~\n[…"), "{content}");
}

/// The prompt has the structure of the example in docs/folders.md.
#[test]
fn the_prompt_has_the_documented_structure() {
    let all = files(&[
        ("AGENTS.md", "I am Ann.\n"),
        ("Projects/AGENTS.md", "---\nwatch: x\n---\n\nAll projects.\n\n"),
        ("Projects/parachute/AGENTS.md", "The app."),
        ("Inbox/CLAUDE.md", "New things."),
        ("Areas/well-being/AGENTS.md", "Sleep."),
        ("Empty/AGENTS.md", "---\nwatch: x\n---\n"),
    ]);
    let chain = chain(&all, &select(&["", "Projects", "Projects/parachute", "Inbox", "Areas/well-being", "Empty"]));
    let with = |path: &str, text: &str| {
        render_prompt(&chain.files, Some(&VaultFile { path: path.into(), content: Content::Text(text.into()) }))
    };
    let expected = "\
## Project Knowledge

The following context has been loaded for your reference:

### Root Context (AGENTS.md)
I am Ann.

### Inbox Context (Inbox/CLAUDE.md)
New things.

### Projects Overview (Projects/AGENTS.md)
All projects.

### Well Being Area (Areas/well-being/AGENTS.md)
Sleep.

### Parachute Project (Projects/parachute/AGENTS.md)
The app.
";
    assert_eq!(render_prompt(&chain.files, None), expected);
    let working = format!("{expected}\n---\n\n## Working Directory Context\n\nUse tabs.\n");
    assert_eq!(with("/srv/ann/code/CLAUDE.md", "---\na: b\n---\nUse tabs.\n"), working);
    // "when it is a different file"
    assert_eq!(with("./Projects/parachute/AGENTS.md", "Newer text."), expected);
    assert_eq!(with("Projects/parachute/CLAUDE.md", "The app.\n"), expected);
    assert_eq!(with("CLAUDE.md", " \n"), expected);
    assert_eq!(render_prompt(&[], files(&[("CLAUDE.md", "x")]).first()), "## Working Directory Context\n\nx\n");
    assert_eq!(render_prompt(&[], None), "");
}

/// "Where levels repeat the same bullet under the same heading path, the child's stays (with its continuation lines);
/// `overrides: "none"` turns that off."
#[test]
fn a_bullet_gives_way_only_to_one_under_the_same_headings() {
    let root = "# Root\n\nOf all.\n\n## Never run\n- npm publish\n- rm\n  -rf\n\n## Style\n<!-- How to write -->\n### Code\n- Tabs\n\n### Words\n- Short\n## Old\n";
    let all = files(&[
        ("AGENTS.md", root),
        (
            "a/AGENTS.md",
            "# A\n## May run\n- npm publish\n- rm\n## never RUN\u{feff}\n- rm\n  -rf\u{feff}\n- rm\n## Style\n<!-- How to write -->\n#### Code\n- Tabs\n",
        ),
        ("a/b/AGENTS.md", "## Style\n<!-- How to write -->\n### Words\n* Short\n"),
    ]);
    let selection = select(&["", "a", "a/b"]);
    let content = |selection: &Selection| chain(&all, selection).files[0].content.clone();
    // Headings below which nothing is left go, with their comments; those that were empty before stay.
    assert_eq!(content(&selection), "# Root\n\nOf all.\n\n## Never run\n- npm publish\n\n## Old");
    assert_eq!(content(&Selection { overrides: Overrides::None, ..selection.clone() }), root.trim_end());
    let gone = |text: &str, child: &str| {
        let all = files(&[("AGENTS.md", text), ("a/AGENTS.md", child)]);
        chain(&all, &select(&["", "a"])).files[0].content.clone()
    };
    assert_eq!(gone("# T\n- x\n", "# t\n- x"), "", "a title is a heading, too");
    assert_eq!(gone("# T\n## S\n- x\n### E\n", "## S\n- x"), "# T\n## S\n### E");
    assert_eq!(gone("---\n---\n## S\n- x\n\n---\n", "## S\n- x\n- - -"), "## S\n\n---");
}

/// The introduction of a list, and any text next to it, may explain its bullets: then they stay.
#[test]
fn bullets_stay_where_a_text_may_say_what_they_mean() {
    for (never, allowed) in [
        ("# Never run:\n", "# Allowed:\n"),
        ("# Never\n## Tools\n- y\n# Ask\n## Tools\n", "# Allowed\n## Tools\n"),
        ("Never run\n---------\n", "Allowed\n-------\n"),
        ("Never run\n=========\n### Tools\n", "Allowed\n=======\n### Tools\n"),
        ("Never run these\n\n", "You may run\n\n"),
        ("What must never run?\n", "What may run?\n"),
        ("> Never run\n", "> Run\n"),
        ("<h2>Never</h2>\n", "<h2>Always</h2>\n"),
        ("<h2>Never</h2>\n\n### Tools\n", "### Tools\n"),
        ("## Tools\nNever run:\n\n- y\n\nAnd\n", "## Tools\nRun:\n\n- z\n\nAnd\n"),
        ("## Tools\nNever run:\n### npm\n", "## Tools\nRun:\n### npm\n"),
        ("## Tools\n<!-- never -->\n", "## Tools\n<!-- always -->\n"),
        ("**Never:**\n", "**Always:**\n"),
        ("## Tools\nNever:\n", "## Tools\n"),
        ("## Tools\n", "## Tools\nNever:\n"),
        ("Never:\n", "Never:\n"),
    ] {
        let [never, allowed] = [never, allowed].map(|lead| format!("{lead}- npm publish"));
        let all = files(&[("AGENTS.md", &never), ("a/AGENTS.md", &allowed)]);
        let chain = chain(&all, &select(&["", "a"]));
        assert_eq!((&chain.files[0].content, &chain.files[0].overridden), (&never, &vec![]), "{allowed}");
    }
    // So may the text after it.
    let all = files(&[
        ("AGENTS.md", "## Tools\n- npm publish\n\nNone of these."),
        ("a/AGENTS.md", "## Tools\n- npm publish"),
    ]);
    assert!(chain(&all, &select(&["", "a"])).files[0].overridden.is_empty());
}

/// "Where levels repeat the same bullet, the child's stays."
#[test]
fn the_childs_bullet_stays() {
    let all = files(&[
        (
            "AGENTS.md",
            "# Root\n\n## Facts\n- uses npm\n- keeps\n* speaks Dutch\n  at home\n\n## Code\n```\n- uses npm\n```\n",
        ),
        ("a/AGENTS.md", "# A\n## Facts\n- uses npm\n- own\n"),
        ("a/b/AGENTS.md", "## Facts\n- own\n- speaks Dutch\n  at home\n"),
        ("c/AGENTS.md", "## Facts\n- own\n"),
    ]);
    let chain = chain(&all, &select(&["", "a", "a/b", "c"]));
    let content: Vec<_> = chain.files.iter().map(|file| file.content.as_str()).collect();
    assert_eq!(
        content,
        [
            "# Root\n\n## Facts\n- keeps\n\n## Code\n```\n- uses npm\n```",
            "# A\n## Facts\n- uses npm",
            "## Facts\n- own",
            "## Facts\n- own\n- speaks Dutch\n  at home"
        ]
    );
    let gone: Vec<_> =
        chain.files[0].overridden.iter().map(|gone| (gone.text.as_str(), gone.line, gone.by.as_str())).collect();
    assert_eq!(gone, [("uses npm", 4, "a/AGENTS.md"), ("speaks Dutch\nat home", 6, "a/b/AGENTS.md")]);
}

/// File text that contains the library's delimiters stays unchanged, and is reported.
#[test]
fn prompt_headings_of_a_file_are_reported() {
    let all = files(&[
        (
            "a/AGENTS.md",
            "---\nx: 1\n---\n\n# A\n## Working Directory Context\n### Root Context (AGENTS.md)\n### B (b/AGENTS.md)\n```\n## Project Knowledge\n```\n",
        ),
        ("b/AGENTS.md", "b"),
    ]);
    let found = chain(&all, &select(&["a", "b"])).diagnostics;
    assert_eq!(
        codes(&found),
        [(PromptDelimiterInFile, "a/AGENTS.md", Some(6)), (PromptDelimiterInFile, "a/AGENTS.md", Some(8))]
    );
}

const FILE: &str = "\
---
watch: ../
---
# Project Name

> Brief description
> in two lines

---

## Facts
<!-- Key facts that can be updated by the curator -->
- Fact 1
- Fact 2

### Deeper
text

## Current Focus ##
<!-- What's actively being worked on -->
- Active task

## History
<!-- Append-only section for curator updates -->

<!-- Added by curator on 2025-01-06 12:00 UTC -->
- Completed feature X
";

/// "Files are parsed into title, description, sections, bullets."
#[test]
fn files_are_parsed() {
    let parsed = parse(FILE);
    assert_eq!(parsed.title.as_deref(), Some("Project Name"));
    assert_eq!(parsed.description.as_deref(), Some("Brief description\nin two lines"));
    let sections: Vec<_> =
        parsed.sections.iter().map(|s| (s.title.as_str(), s.level, s.line, s.bullets.len())).collect();
    assert_eq!(
        sections,
        [("Facts", 2, 11, 2), ("Deeper", 3, 16, 0), ("Current Focus", 2, 19, 1), ("History", 2, 23, 1)]
    );
    assert_eq!(parsed.sections[0].bullets[1], Bullet { text: "Fact 2".into(), line: 14 });
    assert_eq!(parsed.sections[1].text, "text");
    assert!(FILE.ends_with(&parsed.body));
    let none = parse("text\n```\n# no\n```\n<!--\n## no\n-->\n## yes");
    assert_eq!((none.title, none.sections.len()), (None, 1));
}

fn edit(text: &str, edit: Edit) -> Edited {
    edit_file(text, &edit, Some("a/AGENTS.md"), &limits()).unwrap()
}

fn section_edit(action: SectionEdit, section: &str, content: &str) -> Edit {
    Edit::Section { action, section: section.into(), content: content.into(), create: false }
}

fn append(section: &str, content: &str) -> Edit {
    section_edit(SectionEdit::Append, section, content)
}

fn replace(section: &str, content: &str) -> Edit {
    section_edit(SectionEdit::Replace, section, content)
}

fn history(content: &str) -> Edit {
    let time = Timestamp::parse("2025-02-01T10:30:59+02:00").unwrap();
    section_edit(SectionEdit::AddHistory { time, author: "curator".into() }, "History", content)
}

/// "Curator edits (`append`, `replace section`, `add history` with a caller-given UTC time) give the new text and touch
/// nothing else, byte for byte."
#[test]
fn edits_touch_nothing_else() {
    for eol in ["\n", "\r\n"] {
        let file = FILE.replace('\n', eol);
        let check = |edit: Edit, from: &str, to: &str| {
            let (from, to) = (from.replace('\n', eol), to.replace('\n', eol));
            assert_eq!(file.matches(&from).count(), 1);
            let edited = self::edit(&file, edit);
            assert_eq!(edited.text, file.replace(&from, &to));
            let undone = self::edit(&edited.text, Edit::Undo(edited.change));
            assert_eq!(undone.text, file);
        };
        check(append("facts", "\n- Key fact\n- Another\n\n"), "- Fact 2\n", "- Fact 2\n- Key fact\n- Another\n");
        check(append(" Deeper ", "more"), "text\n", "text\nmore\n");
        check(replace("Current focus", "- New task"), "- Active task\n", "- New task\n");
        check(
            replace("current focus", "<!-- new -->\n- x"),
            "<!-- What's actively being worked on -->\n- Active task\n",
            "<!-- new -->\n- x\n",
        );
        check(replace("FACTS", "- only"), "- Fact 1\n- Fact 2\n\n### Deeper\ntext\n", "- only\n");
        check(replace("Current Focus", ""), "- Active task\n", "");
        check(
            history("- Did Y"),
            "- Completed feature X\n",
            "- Completed feature X\n\n<!-- Added by curator on 2025-02-01 08:30 UTC -->\n- Did Y\n",
        );
    }
}

/// "Editing touches nothing else": a file whose lines end with CR keeps that, when it is edited, cut and migrated.
#[test]
fn lines_that_end_with_cr_stay_so() {
    assert_eq!(edit("## Facts\r- One\r", append("facts", "- Two\n- Three")).text, "## Facts\r- One\r- Two\r- Three\r");
    let migrated =
        migration(&[("a/AGENTS.md", "# A\rx"), ("Chat/contexts/a.md", "y")], &["a"], &["Chat/contexts/a.md"], &[]);
    assert!(!format!("{migrated:?}").contains("\\n"), "{migrated:?}");
    let all = files(&[("a/AGENTS.md", &lines("cr", 40).replace('\n', "\r"))]);
    let cut = chain(&all, &Selection { max_tokens: Some(80), ..select(&["a"]) });
    assert!(cut.files[0].truncated && !cut.files[0].content.contains('\n') && cut.files[0].content.contains("\r[…"));
}

/// Odd places: no line end at the end, an empty section, a break between sections, no section yet.
#[test]
fn edits_find_their_place() {
    assert_eq!(edit("## A\n- x", append("a", "- y")).text, "## A\n- x\n- y");
    assert_eq!(edit("## A", append("a", "- y")).text, "## A\n- y");
    assert_eq!(edit("## A\n\n## B\n", append("a", "- y")).text, "## A\n- y\n\n## B\n");
    assert_eq!(edit("## A\n- x\n\n---\n\n## B\n", append("a", "- y")).text, "## A\n- x\n- y\n\n---\n\n## B\n");
    assert_eq!(edit("## A\n\n\n- x\n\n\n## B\n", replace("a", "- y")).text, "## A\n\n\n- y\n\n\n## B\n");
    assert_eq!(edit("## A\n<!-- c -->\n", replace("a", "- y")).text, "## A\n<!-- c -->\n- y\n");
    assert_eq!(
        edit("## History\n", history("- z")).text,
        "## History\n\n<!-- Added by curator on 2025-02-01 08:30 UTC -->\n- z\n"
    );
    let create = |text: &str| {
        let (action, section, content) = (SectionEdit::Append, "New".to_owned(), "- y".to_owned());
        edit(text, Edit::Section { action, section, content, create: true }).text
    };
    assert_eq!(create(""), "## New\n- y\n");
    assert_eq!(create("# A"), "# A\n\n## New\n- y\n");
    assert_eq!(create("# A\n"), "# A\n\n## New\n- y\n");
    assert_eq!(create("# A\n\n"), "# A\n\n## New\n- y\n");
    assert_eq!(create("---\nwatch: x\n---\n"), "---\nwatch: x\n---\n## New\n- y\n");
    assert_eq!(edit("😀\n## A\n", append("a", "b")).change.at, 8);
}

/// "Errors name the file and the section."
#[test]
fn edit_errors_name_the_file_and_the_section() {
    let error = |text: &str, edit: Edit| edit_file(text, &edit, Some("a/AGENTS.md"), &limits()).unwrap_err();
    let missing = error(FILE, append("Goals", "- x"));
    assert_eq!(missing.code(), Code::SectionNotFound);
    assert_eq!((&missing.details()["path"], &missing.details()["section"]), (&json!("a/AGENTS.md"), &json!("Goals")));
    assert!(
        missing.message().contains("`a/AGENTS.md`")
            && missing.message().contains("`Goals`")
            && missing.message().contains("`Facts`")
    );
    for (text, edit) in [
        (FILE, append("Facts", "## Evil\n- x")),
        (FILE, append("Facts", "# Evil")),
        (FILE, append("Facts", "```\nopen")),
        (FILE, append("Facts", "<!-- open")),
        (FILE, append("Facts", " \n ")),
        (FILE, history("")),
        ("## A\n```\nopen", append("a", "- x")),
        ("## A\n## a\n", append("a", "- x")),
        (FILE, Edit::Undo(Change { at: 3, removed: String::new(), inserted: "nope".into() })),
        (
            FILE,
            section_edit(
                SectionEdit::AddHistory {
                    time: Timestamp::parse("2025-01-01T00:00:00Z").unwrap(),
                    author: "-->".into(),
                },
                "History",
                "x",
            ),
        ),
    ] {
        let error = error(text, edit.clone());
        assert_eq!((error.code(), &error.details()["path"]), (Code::InvalidEdit, &json!("a/AGENTS.md")), "{edit:?}");
    }
    assert_eq!(edit(FILE, append("Facts", "```\n## code\n```\n### Fine")).text.matches("### Fine").count(), 1);
}

fn migration(all: &[(&str, &str)], folders: &[&str], contexts: &[&str], map: &[(&str, &str)]) -> Migration {
    let input = MigrationInput {
        files: files(all),
        folders: strings(folders),
        map: map.iter().map(|(from, to)| ((*from).to_owned(), (*to).to_owned())).collect(),
        contexts: strings(contexts),
    };
    migrate_legacy(&input, &limits()).unwrap()
}

/// "legacy `Chat/contexts/*.md` migration": `general-context.md` is the root's, `parachute-context.md` that of
/// `Projects/parachute`.
#[test]
fn legacy_contexts_move_to_their_folders() {
    let all = [
        ("Chat/contexts/general-context.md", "I am Ann.\n"),
        ("Chat/contexts/parachute-context.md", "---\na: b\n---\n# Parachute\n- app\n"),
        ("Chat/contexts/My_Garden-context.md", "Beans."),
        ("Chat/contexts/music.md", "Piano."),
        ("Chat/contexts/lost-context.md", "?"),
        ("Chat/contexts/deep/x.md", "no legacy file"),
        ("AGENTS.md", "# Root\n"),
        ("Projects/parachute/CLAUDE.md", "claude"),
    ];
    let contexts = [
        "Chat/contexts/parachute-context.md",
        "Chat/contexts/general-context.md",
        "Areas/taiji",
        "Chat/contexts/gone.md",
    ];
    let plan = migration(&all, &["Areas/my garden", "Areas/music", "Archive/music"], &contexts, &[]);
    let moves: Vec<_> = plan.moves.iter().map(|step| (step.from.as_str(), step.to.as_str(), step.action)).collect();
    assert_eq!(
        moves,
        [
            ("Chat/contexts/My_Garden-context.md", "Areas/my garden/AGENTS.md", Action::Create),
            ("Chat/contexts/general-context.md", "AGENTS.md", Action::Merge),
            ("Chat/contexts/parachute-context.md", "Projects/parachute/CLAUDE.md", Action::Merge),
        ]
    );
    assert_eq!(plan.moves[1].content, "# Root\n\n<!-- Migrated from Chat/contexts/general-context.md -->\nI am Ann.\n");
    assert_eq!(
        plan.moves[2].content,
        "claude\n\n<!-- Migrated from Chat/contexts/parachute-context.md -->\n# Parachute\n- app\n"
    );
    assert_eq!(plan.context_folders, ["Projects/parachute", "", "Areas/taiji"]);
    let open: Vec<_> = plan.unresolved.iter().map(|open| (open.from.as_str(), open.candidates.join(" "))).collect();
    assert_eq!(
        open,
        [
            ("Chat/contexts/lost-context.md", "Projects/lost".into()),
            ("Chat/contexts/music.md", "Archive/music Areas/music".into())
        ]
    );
    assert!(codes(&plan.diagnostics).contains(&(LegacyContextUnresolved, "Chat/contexts/gone.md", None)));

    let again: Vec<_> = plan
        .moves
        .iter()
        .map(|step| (step.to.as_str(), step.content.as_str()))
        .chain(all[..3].iter().copied())
        .collect();
    let plan = migration(&again, &[], &[], &[]);
    assert!(
        plan.moves.iter().all(|step| step.action == Action::Unchanged),
        "a second time nothing changes: {:?}",
        plan.moves
    );
    let named = migration(&all[4..5], &[], &[], &[("Chat/contexts/lost-context.md", "Areas/found/AGENTS.md")]);
    assert_eq!((named.moves[0].folder.as_str(), named.moves[0].action), ("Areas/found", Action::Create));
}

/// "The host's tables (`session_contexts`, `context_watches`) have plain record types and diffing: rows to insert and
/// delete after a file changed."
#[test]
fn tables_are_kept_by_diffs() {
    let before = files(&[
        ("AGENTS.md", &watching(&["Projects/*", "Areas/*"])),
        ("Projects/a/AGENTS.md", "a"),
        ("b/AGENTS.md", "---\nwatch: '['\n---\n"),
    ]);
    let after = files(&[
        ("AGENTS.md", &watching(&["Projects/*", "b"])),
        ("Projects/a/AGENTS.md", "a"),
        ("Projects/c/AGENTS.md", "c"),
        ("b/AGENTS.md", ""),
    ]);
    let (before, found) = watch_records(&before, &limits()).unwrap();
    assert_eq!(codes(&found), [(WatchInvalid, "b/AGENTS.md", Some(2))]);
    let (after, _) = watch_records(&after, &limits()).unwrap();
    let row = |pattern: &str, resolved: &[&str]| WatchRecord {
        watcher_path: "AGENTS.md".into(),
        watch_pattern: pattern.into(),
        resolved_paths: Some(strings(resolved)),
    };
    assert_eq!(before, [row("Projects/*", &["Projects/a/AGENTS.md"]), row("Areas/*", &[])]);
    let changes = diff(&before, &after).unwrap();
    assert_eq!(changes.insert, [row("b", &["b/AGENTS.md"])]);
    assert_eq!(changes.update, [row("Projects/*", &["Projects/a/AGENTS.md", "Projects/c/AGENTS.md"])]);
    assert_eq!(changes.delete, [row("Areas/*", &[])]);
    assert_eq!(diff(&after, &after).unwrap(), Diff { insert: vec![], update: vec![], delete: vec![] });

    let rows = |folders: &[&str], at| session_records("s", &strings(folders), at, &limits()).unwrap();
    let (old, new) = (rows(&["a", "b/AGENTS.md", "a/"], Some("then")), rows(&["b", "c"], Some("now")));
    assert_eq!(old.iter().map(|row| row.folder_path.as_str()).collect::<Vec<_>>(), ["a", "b"]);
    let changes = diff(&old, &new).unwrap();
    assert_eq!((changes.insert, changes.update, changes.delete), (new[1..].to_vec(), vec![], old[..1].to_vec()));
    assert_eq!(diff(&[old.clone(), old.clone()].concat(), &[]).unwrap_err().code(), Code::InvalidInput);
}

/// By path, and not by folder: `-` comes before the separator.
#[test]
fn resolved_paths_come_in_path_order() {
    let all = files(&[("AGENTS.md", &watching(&["*"])), ("a/AGENTS.md", "a"), ("a-b/AGENTS.md", "b")]);
    let (rows, _) = watch_records(&all, &limits()).unwrap();
    assert_eq!(rows[0].resolved_paths, Some(strings(&["a-b/AGENTS.md", "a/AGENTS.md"])));
}

/// Bad input of every kind: a clear diagnostic, nothing lost, and the other files are there.
#[test]
fn damaged_files_are_reported_and_the_others_stay() {
    let mut all = files(&[("a/AGENTS.md", "a"), ("a/AGENTS.md", "again"), ("c/AGENTS.md", "---\nwatch: *\n---\nc")]);
    all.push(VaultFile { path: "b/AGENTS.md".into(), content: Content::Bytes(b"x\n\xc3(".to_vec()) });
    all.push(VaultFile { path: "d/AGENTS.md".into(), content: Content::Unreadable("denied".into()) });
    let chain = chain(&all, &select(&["a", "b", "c", "d"]));
    assert_eq!(chain.files.iter().map(|file| file.content.as_str()).collect::<Vec<_>>(), ["a", "", "c", ""]);
    assert_eq!(
        codes(&chain.diagnostics),
        [
            (DuplicateFile, "a/AGENTS.md", None),
            (InvalidUtf8, "b/AGENTS.md", Some(2)),
            (FrontMatterInvalid, "c/AGENTS.md", Some(2)),
            (FileUnreadable, "d/AGENTS.md", None),
        ]
    );
}

/// Exceeded limits are named (docs/limits.md).
#[test]
fn the_vault_is_bounded() {
    let all = files(&VAULT);
    let error = |limits: Limits| {
        build_chain(&all, &select(&["a"]), &Heuristic, &limits).unwrap_err().details()["limit"].clone()
    };
    assert_eq!(error(Limits { context_files: 5, ..limits() }), "contextFiles");
    assert_eq!(error(Limits { input_bytes: 20, ..limits() }), "inputBytes");
    assert_eq!(error(Limits { folder_depth: 2, ..limits() }), "folderDepth");
}
