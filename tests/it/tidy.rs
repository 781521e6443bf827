//! Guarantees of the sources: which module may use which, and docs that agree with the code.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use ctxweave::limits::TABLE;
use ctxweave::{Code, DiagnosticCode};

fn root(path: &str) -> PathBuf {
    Path::new(crate::ROOT).join(path)
}

fn rust_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => rust_files(&path, found),
            false if path.extension().is_some_and(|ext| ext == "rs") => found.push(path),
            false => {}
        }
    }
    found.sort();
}

fn sources() -> Vec<(String, String)> {
    let mut found = Vec::new();
    rust_files(&root("src"), &mut found);
    let name = |path: &PathBuf| path.strip_prefix(root("src")).unwrap().to_string_lossy().into_owned();
    found.iter().map(|path| (name(path), fs::read_to_string(path).unwrap())).collect()
}

/// The part of the crate that a file belongs to: `loom/path.rs` is of `loom`.
fn part(file: &str) -> &str {
    file.split(['/', '.']).next().unwrap()
}

/// The part that a file is of when it comes to layers: the calls of `tokens` are an area, its counters are below `vendors`.
fn layered_part(file: &str) -> &str {
    if file.starts_with("tokens/") && file.ends_with("calls.rs") { "token_calls" } else { part(file) }
}

/// ARCHITECTURE.md "Direction": wasm → the areas → assembly → prompt → vendors → { call, tokens } → { content, json, text, .. }.
#[test]
fn dependencies_point_one_way() {
    const LAYERS: [&[&str]; 8] = [
        &["wasm"],
        &["identify"],
        &["agent_files", "chat", "loom", "loom_import", "workspace", "folders", "operators", "commits", "token_calls"],
        &["assembly"],
        &["prompt"],
        &["vendors"],
        &["call", "tokens", "tool_calls"],
        &[
            "content",
            "json",
            "jsonl",
            "input",
            "markdown",
            "text",
            "time",
            "limits",
            "error",
            "maps",
            "code_point_table",
            "sorting",
            "sorted_index",
            "hashing",
            "glob",
            "yaml",
        ],
    ];
    let layer = |part: &str| LAYERS.iter().position(|layer| layer.contains(&part));
    for (file, source) in sources() {
        let Some(from) = layer(layered_part(&file)) else {
            assert_eq!(file, "lib.rs", "{file} belongs to no layer");
            continue;
        };
        for used in source.split("crate::").skip(1) {
            let name: String = used.chars().take_while(|ch| ch.is_ascii_alphanumeric() || *ch == '_').collect();
            let Some(to) = layer(&name) else { continue };
            // The areas know nothing of each other; within the lower layers parts may help each other.
            let fine = name == part(&file) || to > from || (to == from && from >= 6);
            assert!(fine, "{file} names crate::{name}, which is not below it");
        }
    }
}

/// The imports of a file, as the paths after `crate::`, with `super` resolved and braces expanded.
fn imports(file: &str, source: &str) -> Vec<Vec<String>> {
    let module = module_of(file);
    let mut found = Vec::new();
    let code: String =
        source.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n");
    let code = code.split("\nmod tests {").next().unwrap();
    let flat: String = code.split_whitespace().collect::<Vec<_>>().join(" ");
    for (at, _) in flat.match_indices("crate::").chain(flat.match_indices("super::")) {
        let before = flat[..at].chars().next_back();
        if before.is_some_and(|ch| ch.is_alphanumeric() || ch == '_' || ch == ':') {
            continue;
        }
        expand(&flat[at..], &mut Vec::new(), &mut found);
    }
    // `use child::...` names a module of its own.
    for used in flat.split("use ").skip(1) {
        let first: String = used.chars().take_while(|ch| ch.is_alphanumeric() || *ch == '_').collect();
        if flat.contains(&format!("mod {first};")) {
            let mut paths = Vec::new();
            expand(used, &mut Vec::new(), &mut paths);
            let own = module.iter().cloned();
            found.extend(
                paths
                    .into_iter()
                    .map(|path| std::iter::once("crate".to_owned()).chain(own.clone()).chain(path).collect()),
            );
        }
    }
    let mut out = Vec::new();
    for path in found {
        let supers = path.iter().take_while(|name| *name == "super").count();
        let base = match supers {
            0 => Vec::new(),
            _ => module[..module.len().saturating_sub(supers)].to_vec(),
        };
        let rest = path.into_iter().skip_while(|name| name == "crate" || name == "super" || name == "self");
        out.push(base.into_iter().chain(rest).collect());
    }
    out
}

/// Reads a path with its braces.
fn expand(text: &str, prefix: &mut Vec<String>, found: &mut Vec<Vec<String>>) -> usize {
    let name: String = text.chars().take_while(|ch| ch.is_alphanumeric() || *ch == '_' || *ch == '*').collect();
    let mut at = name.len();
    if text[at..].starts_with("::") {
        prefix.push(name);
        at += 2;
        if text[at..].starts_with('{') {
            at += 1;
            loop {
                at += text[at..].find(|ch: char| ch != ' ' && ch != ',').unwrap_or(0);
                if text[at..].starts_with('}') {
                    at += 1;
                    break;
                }
                let read = expand(&text[at..], prefix, found);
                at += read;
                at += text[at..].find([',', '}']).unwrap_or(text.len() - at);
                if read == 0 || at >= text.len() {
                    break;
                }
            }
        } else {
            at += expand(&text[at..], prefix, found);
        }
        prefix.pop();
    } else if !name.is_empty() {
        prefix.push(name);
        found.push(prefix.clone());
        prefix.pop();
    }
    at
}

/// The path of the module that a file is.
fn module_of(file: &str) -> Vec<String> {
    let names = file.trim_end_matches(".rs").split('/').map(str::to_owned);
    names.filter(|name| name != "mod" && name != "lib").collect()
}

/// The file that defines what a path names: through `pub use` of the files of modules.
fn defining_file<'f>(path: &[String], files: &'f BTreeMap<String, String>) -> Option<&'f str> {
    for len in (0..=path.len()).rev() {
        let base = path[..len].join("/");
        let candidates = [format!("{base}.rs"), format!("{base}/mod.rs"), "lib.rs".to_owned()];
        let candidates = if len == 0 { &candidates[2..] } else { &candidates[..2] };
        let Some((file, source)) = candidates.iter().find_map(|file| files.get_key_value(file)) else { continue };
        let Some(item) = path.get(len) else { return Some(file) };
        let is_hub = file == "lib.rs" || file.ends_with("/mod.rs");
        if is_hub {
            let flat = source.split_whitespace().collect::<Vec<_>>().join(" ");
            for (at, word) in flat.match_indices("use ") {
                let mut paths = Vec::new();
                expand(flat[at + word.len()..].trim_start_matches("crate::"), &mut Vec::new(), &mut paths);
                let from_root = flat[at + word.len()..].starts_with("crate::");
                for found in paths.into_iter().filter(|found| found.last() == Some(item) && found.len() > 1) {
                    let own = path[..len].iter().filter(|_| !from_root).cloned();
                    let target: Vec<String> = own.chain(found).collect();
                    if target[..] != path[..] {
                        return defining_file(&target, files);
                    }
                }
            }
        }
        return Some(file);
    }
    None
}

/// No file imports one that imports it.
#[test]
fn imports_have_no_circles() {
    let files: BTreeMap<String, String> = sources().into_iter().collect();
    let mut edges: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (file, source) in &files {
        let targets = imports(file, source).into_iter().filter_map(|path| defining_file(&path, &files));
        edges.insert(file, targets.filter(|target| target != file).collect());
    }
    assert!(edges["loom/dialogue.rs"].contains("assembly/plan.rs"), "imports are not read");
    let reachable = |from: &str| {
        let mut open: Vec<&str> = edges[from].iter().copied().collect();
        let mut seen = BTreeSet::new();
        while let Some(file) = open.pop() {
            if seen.insert(file) {
                open.extend(edges[file].iter().copied());
            }
        }
        seen
    };
    let circles: Vec<&str> = files.keys().map(String::as_str).filter(|file| reachable(file).contains(file)).collect();
    assert!(circles.is_empty(), "these files import one that imports them: {circles:?}");
}

/// The keys by which vendors' messages are recognized: the first ones that a second reader would name.
const WIRE_KEYS: [&str; 17] = [
    "cache_control",
    "encrypted_content",
    "functionCall",
    "functionResponse",
    "function_call_output",
    "function_result",
    "inlineData",
    "input_schema",
    "model_output",
    "reasoning_content",
    "thinkingSignature",
    "thoughtSignature",
    "toolRequests",
    "tool_calls",
    "tool_use_id",
    "transformedContent",
    "user_input",
];

/// Formats that are no vendor's messages and have a key of the same name.
const OWN_KEYS: [(&str, &str, usize); 2] = [
    // An option of ours.
    ("commits/calls.rs", "tool_calls", 2),
    // A kind of block in Open WebUI's texts.
    ("loom_import/formats/open_webui.rs", "tool_calls", 1),
];

/// The string literals of a source file, without comments.
fn string_literals(source: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = source;
    while let Some(at) = rest.find(['"', '/', '\'']) {
        let from = &rest[at..];
        let len = if from.starts_with("//") {
            from.find('\n').unwrap_or(from.len())
        } else if from.starts_with("'\"'") || from.starts_with("'\\\"'") {
            4
        } else if let Some(body) = from.strip_prefix('"') {
            let hashes = rest[..at].chars().rev().take_while(|ch| *ch == '#').count();
            let is_raw = rest[..at].trim_end_matches('#').ends_with('r');
            let end = if is_raw {
                body.find(&format!("\"{}", "#".repeat(hashes)))
            } else {
                let mut escaped = false;
                body.find(|ch| {
                    let ends = ch == '"' && !escaped;
                    escaped = ch == '\\' && !escaped;
                    ends
                })
            };
            let end = end.unwrap_or(body.len());
            found.push(body[..end].to_owned());
            end + 2
        } else {
            1
        };
        rest = from.get(len..).unwrap_or_default();
    }
    found
}

/// How often a text has a word, as a whole identifier.
fn count_word(text: &str, word: &str) -> usize {
    let is_part = |ch: char| ch.is_alphanumeric() || ch == '_';
    text.split(|ch: char| !is_part(ch)).filter(|part| *part == word).count()
}

/// A vendor's wire format is known in `vendors` and nowhere else.
#[test]
fn wire_keys_are_in_vendors() {
    let mut seen = BTreeSet::new();
    let mut stray = Vec::new();
    for (file, source) in sources() {
        let literals = string_literals(&source);
        for key in WIRE_KEYS {
            let count: usize = literals.iter().map(|literal| count_word(literal, key)).sum();
            if part(&file) == "vendors" {
                seen.extend((count > 0).then_some(key));
                continue;
            }
            let own = OWN_KEYS.iter().find(|(at, name, _)| *at == file && *name == key).map_or(0, |own| own.2);
            assert!(count >= own, "{file} has `{key}` {count} times, and not {own}: correct OWN_KEYS");
            if count > own {
                stray.push(format!("{file} names `{key}` {count} times"));
            }
        }
    }
    assert_eq!(seen.len(), WIRE_KEYS.len(), "vendors has {seen:?}");
    assert!(stray.is_empty(), "wire keys are read through src/vendors: {stray:#?}");
}

/// Each type of B-tree and each type that is sorted would add its own kilobytes to the module.
#[test]
fn maps_and_sorts_are_ours() {
    for (file, source) in sources().into_iter().filter(|(file, _)| file != "sorting.rs") {
        let code = source.split("#[cfg(test)]").next().unwrap();
        for name in ["BTreeMap<", "BTreeSet<", "BTreeMap::", "BTreeSet::", ".sort(", ".sort_"] {
            assert!(!code.contains(name), "{file} has {name}; there are crate::maps and crate::sorting");
        }
    }
}

#[test]
fn each_dependency_has_one_home() {
    let homes = [
        ("tiktoken_rs", "tokens"),
        ("quick_xml", "operators"),
        ("blake3", "commits"),
        ("minicbor", "commits"),
        ("wasm_bindgen", "wasm"),
        ("js_sys", "wasm"),
        ("talc", "wasm"),
        ("fast_glob", "glob"),
        ("saphyr_parser", "yaml"),
    ];
    for (file, source) in sources() {
        for (name, home) in homes {
            // Normal forms and cases are the host's: functions of the text alone, whose tables of Unicode need not be in the module.
            let is_of_host = name == "js_sys" && file.as_str() == "text/unicode_js.rs";
            assert!(!source.contains(&format!("{name}::")) || part(&file) == home || is_of_host, "{file} names {name}");
        }
    }
}

/// What the code is does not depend on what it is built for: see src/wasm/flavor.rs, which selects exports.
#[test]
fn conditions_of_the_build_are_few() {
    const MAX_CFG_LINES: usize = 30;
    let of_tests = |line: &&str| line.contains("cfg(test") || line.contains("cfg(all(test");
    let is_condition = |line: &&str| line.contains("#[cfg") || line.contains("cfg!(");
    let sources = sources();
    let lines = sources.iter().flat_map(|(_, source)| source.lines());
    let count = lines.filter(is_condition).filter(|line| !of_tests(line)).count();
    assert!(count <= MAX_CFG_LINES, "{count} lines with `cfg`, of which {MAX_CFG_LINES} are enough");
    assert!(count > 0, "no line with `cfg` was found: the search is broken");
}

/// `CTXWEAVE_CASES` scales each of them; see `generate::cases`.
#[test]
fn the_environment_scales_every_property() {
    let mut found = Vec::new();
    rust_files(&root("tests"), &mut found);
    let mut properties = 0;
    for path in found {
        let source = fs::read_to_string(&path).unwrap();
        let mut lines = source.lines();
        while lines.any(|line| line == "proptest! {") {
            let config = lines.next().unwrap_or_default().replace("with_cases(", "");
            assert!(config.contains("cases("), "{}: `{config}` after `proptest! {{`", path.display());
            properties += 1;
        }
    }
    assert!(properties > 20, "{properties} blocks were found");
}

#[test]
fn every_source_file_describes_its_purpose() {
    let mut found = Vec::new();
    for folder in ["src", "tests", "xtask/src"] {
        rust_files(&root(folder), &mut found);
    }
    for path in found {
        let source = fs::read_to_string(&path).unwrap();
        let first = source.lines().find(|line| !line.starts_with("// @generated")).unwrap_or_default();
        assert!(first.starts_with("//!") || first.starts_with("#![doc"), "{} has no module docs", path.display());
    }
}

/// The table of a docs file between its markers, compared with the code; `CTXWEAVE_BLESS=1` writes it.
fn check_table(file: &str, name: &str, table: &str) {
    let path = root(file);
    let text = fs::read_to_string(&path).unwrap();
    let (start, end) = (format!("<!-- {name}:start -->\n"), format!("<!-- {name}:end -->"));
    let (before, rest) = text.split_once(&start).unwrap_or_else(|| panic!("{file} lacks {start}"));
    let (found, after) = rest.split_once(&end).unwrap();
    if std::env::var_os("CTXWEAVE_BLESS").is_some() {
        fs::write(&path, format!("{before}{start}{table}{end}{after}")).unwrap();
    } else {
        assert_eq!(found, table, "{file} differs from the code; run CTXWEAVE_BLESS=1 cargo test tidy");
    }
}

#[test]
fn the_docs_list_every_error_code() {
    let row = |code: &Code| format!("| `{}` | {} |\n", code.as_str(), code.meaning());
    let rows: String = Code::ALL.iter().map(row).collect();
    check_table("docs/errors.md", "errors", &format!("| code | meaning |\n| --- | --- |\n{rows}"));
    let row = |code: &DiagnosticCode| format!("| `{}` | {} |\n", code.as_str(), code.meaning());
    let rows: String = DiagnosticCode::ALL.iter().map(row).collect();
    check_table("docs/errors.md", "diagnostics", &format!("| code | meaning |\n| --- | --- |\n{rows}"));
}

/// A code that nobody raises promises something that never happens.
#[test]
fn every_code_is_used() {
    let mut raised: String =
        sources().into_iter().filter(|(file, _)| file != "error.rs").map(|(_, text)| text).collect();
    for folder in ["pkg/src", "pkg/src/api", "pkg/src/stores"] {
        for path in fs::read_dir(root(folder)).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_file())
        {
            raised += &fs::read_to_string(path).unwrap();
        }
    }
    let named = |variant: String, code: &str| raised.contains(&variant) || raised.contains(&format!("\"{code}\""));
    for code in Code::ALL {
        assert!(named(format!("Code::{code:?}"), code.as_str()), "nobody raises {code:?}");
    }
    for code in DiagnosticCode::ALL {
        assert!(named(format!("DiagnosticCode::{code:?}"), code.as_str()), "nobody raises {code:?}");
    }
}

#[test]
fn the_docs_list_every_limit() {
    let row = |(name, default, meaning): &(&str, u32, &str)| format!("| `{name}` | {default} | {} |\n", meaning.trim());
    let rows: String = TABLE.iter().map(row).collect();
    check_table("docs/limits.md", "limits", &format!("| limit | default | meaning |\n| --- | --- | --- |\n{rows}"));
}

/// The TypeScript types are the contract: their unions of codes and their limits are the code's.
#[test]
fn the_types_list_every_code_and_limit() {
    let types = fs::read_to_string(root("pkg/src/types/common.ts")).unwrap();
    let union = |name: &str| -> BTreeSet<String> {
        let (_, rest) = types.split_once(&format!("export type {name} =")).unwrap();
        let body = rest.split(';').next().unwrap();
        body.split('"').skip(1).step_by(2).map(str::to_owned).collect()
    };
    let codes: BTreeSet<String> = Code::ALL.iter().map(|code| code.as_str().to_owned()).collect();
    let (_, rest) = types.split_once("export interface ErrorDetails {").unwrap();
    let fields = rest.split("\n}").next().unwrap().lines();
    let fields = fields.filter_map(|line| line.strip_prefix("  ").filter(|line| !line.starts_with([' ', '}'])));
    let details: BTreeSet<String> = fields.map(|line| line.split(':').next().unwrap().to_owned()).collect();
    assert_eq!(details, codes);
    let codes: BTreeSet<String> = DiagnosticCode::ALL.iter().map(|code| code.as_str().to_owned()).collect();
    assert_eq!(union("DiagnosticCode"), codes);
    let (_, rest) = types.split_once("export interface Limits {").unwrap();
    let body = rest.split("\n}").next().unwrap();
    let named: Vec<&str> = body.lines().filter_map(|line| line.trim().strip_suffix("?: number | undefined;")).collect();
    let known: Vec<&str> = TABLE.iter().map(|(name, ..)| *name).collect();
    assert_eq!(named, known);
    for (name, default, _) in TABLE {
        assert!(body.contains(&format!("Default {default}")), "the default of `{name}` is {default}");
    }
}

/// tests/README.md and ARCHITECTURE.md name the tests of each invariant; the tests must exist.
#[test]
fn the_invariants_name_tests_that_exist() {
    let mut all = String::new();
    let mut found = Vec::new();
    for folder in ["src", "tests", "xtask/src"] {
        rust_files(&root(folder), &mut found);
    }
    found.iter().for_each(|path| all.push_str(&fs::read_to_string(path).unwrap()));
    let mut tests = 0;
    for file in ["tests/README.md", "ARCHITECTURE.md"] {
        let text = fs::read_to_string(root(file)).unwrap();
        for word in text.split('`') {
            if let Some(name) = word.strip_prefix("test:") {
                assert!(all.contains(&format!("fn {name}(")), "{file} names the test {name}, which does not exist");
                tests += 1;
            } else if word.starts_with("tests/") && word.ends_with(".mjs") {
                assert!(root(word).exists(), "{file} names {word}, which does not exist");
            }
        }
    }
    assert!(tests >= 60, "only {tests} tests are named");
}

/// docs/decisions/inlining.md.
#[test]
fn pages_are_short() {
    let lines = |path: &Path| std::fs::read_to_string(path).unwrap().lines().count();
    let pages: Vec<_> = std::fs::read_dir(root("docs")).unwrap().map(|entry| entry.unwrap().path()).collect();
    let mut all: Vec<(PathBuf, usize)> = pages
        .into_iter()
        .filter(|path| path.extension().is_some_and(|end| end == "md"))
        .map(|path| (path, 250))
        .collect();
    assert!(all.len() > 30, "{all:?}");
    all.extend([(root("ARCHITECTURE.md"), 150), (root("CONTRIBUTING.md"), 120)]);
    for (path, most) in all {
        assert!(lines(&path) <= most, "{} has {} lines, of which {most} are enough", path.display(), lines(&path));
    }
    let readme = std::fs::read(root("README.md")).unwrap().len();
    assert!(readme <= 8_192, "README.md has {readme} bytes, of which 8,192 are enough");
}

#[test]
fn attributes_for_the_optimizer_have_a_reason() {
    for (file, source) in sources() {
        let code = |attribute: &str| source.lines().any(|line| line.trim() == attribute);
        assert!(!code("#[cold]"), "{file}");
        if code("#[inline(always)]") || code("#[inline(never)]") {
            assert!(source.contains("docs/decisions/inlining.md"), "{file} does not say what its attributes gain");
        }
        for (_, after) in
            source.match_indices("#[inline(never)]\n").map(|(at, found)| source.split_at(at + found.len()))
        {
            let name = after.split("fn ").nth(1).and_then(|name| name.split(['(', '<']).next()).unwrap();
            assert!(name.ends_with("_turn"), "{file}: `{name}` is never inlined");
        }
    }
}
