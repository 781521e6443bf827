//! The promises of folders, for whatever files there are, and a naive matcher of watch patterns to compare with.

use ctxweave::Limits;
use ctxweave::folders::*;
use ctxweave::input::Content;
use ctxweave::tokens::{Counter, Heuristic};
use proptest::prelude::*;

/// Whether a pattern without braces matches a folder, segment by segment, by trying everything.
fn segments_match(pattern: &[&str], folder: &[&str]) -> bool {
    match (pattern.split_first(), folder.split_first()) {
        (None, None) => true,
        (Some((&"**", rest)), _) if segments_match(rest, folder) => true,
        (Some((&"**", _)), Some((name, below))) => !name.starts_with('.') && segments_match(pattern, below),
        (Some((one, rest)), Some((name, below))) => {
            let hidden = name.starts_with('.') && one.starts_with(['*', '?']);
            let (one, name): (Vec<char>, Vec<char>) = (one.chars().collect(), name.chars().collect());
            !hidden && name_matches(&one, &name) && segments_match(rest, below)
        }
        _ => false,
    }
}

fn name_matches(pattern: &[char], name: &[char]) -> bool {
    match (pattern.first(), name.first()) {
        (None, None) => true,
        (Some('*'), _) => name_matches(&pattern[1..], name) || (!name.is_empty() && name_matches(pattern, &name[1..])),
        (Some('?'), Some(_)) => name_matches(&pattern[1..], &name[1..]),
        (Some('['), Some(ch)) => {
            let end = pattern.iter().position(|ch| *ch == ']').unwrap();
            let (class, negated) = match pattern[1] {
                '!' | '^' => (&pattern[2..end], true),
                _ => (&pattern[1..end], false),
            };
            let within = match class {
                [from, '-', to] => (from..=to).contains(&ch),
                _ => class.contains(ch),
            };
            within != negated && name_matches(&pattern[end + 1..], &name[1..])
        }
        (Some(one), Some(ch)) => one == ch && name_matches(&pattern[1..], &name[1..]),
        _ => false,
    }
}

/// All that the first braces can be, and so on.
fn expanded(pattern: &str) -> Vec<String> {
    let Some(start) = pattern.find('{') else { return vec![pattern.to_owned()] };
    let end = start + pattern[start..].find('}').unwrap();
    let choices = pattern[start + 1..end].split(',');
    choices.flat_map(|choice| expanded(&format!("{}{choice}{}", &pattern[..start], &pattern[end + 1..]))).collect()
}

fn naive(pattern: &str, folder: &str) -> bool {
    let folder: Vec<&str> = folder.split('/').filter(|name| !name.is_empty()).collect();
    let literal: Vec<&str> = pattern.split('/').filter(|name| !name.is_empty()).collect();
    (pattern.contains('[') && literal == folder)
        || expanded(pattern).iter().any(|one| {
            let one: Vec<&str> = one.split('/').filter(|name| !name.is_empty()).collect();
            segments_match(&one, &folder)
        })
}

fn pattern() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        6 => "[abé.]{1,2}",
        2 => Just("*".to_owned()),
        1 => Just("?".to_owned()),
        1 => Just("[ab]".to_owned()),
        1 => Just("[^a]".to_owned()),
        1 => Just("[!b-é]".to_owned()),
        2 => "\\{[abé*/]{0,2},[ab]{0,1}(,\\*\\*?)?\\}",
    ];
    let segment = prop_oneof![1 => Just("**".to_owned()), 5 => proptest::collection::vec(part, 1..4).prop_map(|parts| parts.concat())];
    proptest::collection::vec(segment, 1..4).prop_map(|segments| segments.join("/")).prop_filter(
        "`.` and `..` are not names",
        |pattern| {
            expanded(pattern)
                .iter()
                .all(|one| one.split('/').all(|name| name != "." && name != ".." && !name.contains("***")))
        },
    )
}

fn folder() -> impl Strategy<Value = String> {
    proptest::collection::vec("[abé]{1,3}|\\.[ab]", 0..4).prop_map(|names| names.join("/"))
}

fn vault_file(path: String, content: String) -> VaultFile {
    VaultFile { path, content: Content::Text(content) }
}

fn file_in(folder: &str) -> String {
    if folder.is_empty() { "AGENTS.md".to_owned() } else { format!("{folder}/AGENTS.md") }
}

fn watching(patterns: &[String]) -> String {
    format!("---\nwatch: {}\n---\n", serde_json::json!(patterns))
}

/// A vault whose files have bullets, headings, code and watches.
fn vault() -> impl Strategy<Value = Vec<VaultFile>> {
    let line = prop_oneof![4 => "- [a-d]{1,2}", 2 => "[a-z ]{0,30}", 1 => Just("## H".to_owned()), 1 => Just("```".to_owned()), 1 => Just("  more".to_owned())];
    let content = (proptest::collection::vec(pattern(), 0..3), proptest::collection::vec(line, 0..12));
    proptest::collection::btree_map(folder(), content, 1..8).prop_map(|files| {
        let file = |(folder, (watch, lines)): (String, (Vec<String>, Vec<String>))| {
            let front = if watch.is_empty() { String::new() } else { watching(&watch) };
            vault_file(file_in(&folder), front + &lines.join("\n"))
        };
        files.into_iter().map(file).collect()
    })
}

/// A counter whose counts do not grow with the text.
struct Noise;

impl Counter for Noise {
    fn name(&self) -> &'static str {
        "noise"
    }

    fn count(&self, text: &str) -> u32 {
        let length = u32::try_from(text.len()).unwrap();
        if length == 0 { 0 } else { length * 7 % 13 + length / 4 }
    }
}

fn numbered(lines: usize) -> String {
    (0..lines).map(|at| format!("line {at} of this file\n")).collect()
}

/// Nested folders whose files repeat bullets of each other; every other line is there once.
fn numbered_vault() -> impl Strategy<Value = Vec<VaultFile>> {
    let folder = prop::sample::select(vec!["", "a", "a/b", "a/b/a", "a/é", "b", "b/a"]).prop_map(str::to_owned);
    let line = (any::<bool>(), "[a-d]{1,2}", 1..40_usize);
    proptest::collection::btree_map(folder, proptest::collection::vec(line, 1..30), 1..8).prop_map(|folders| {
        let text = |(at, (is_bullet, text, length)): (usize, (bool, String, usize))| {
            if is_bullet { format!("- {text}") } else { format!("{at}{}", "x".repeat(length)) }
        };
        let file = |(folder, lines): (String, Vec<_>)| {
            let lines: Vec<String> = lines.into_iter().enumerate().map(text).collect();
            vault_file(file_in(&folder), lines.join("\n"))
        };
        folders.into_iter().map(file).collect()
    })
}

fn selection() -> impl Strategy<Value = Selection> {
    let include = prop_oneof![Just(IncludeWatched::Ancestors), Just(IncludeWatched::All), Just(IncludeWatched::None)];
    (proptest::collection::vec(folder(), 0..6), include, any::<bool>()).prop_map(
        |(folders, include_watched, parent_chain)| Selection {
            folders,
            include_watched,
            parent_chain,
            ..Selection::default()
        },
    )
}

fn build(files: &[VaultFile], selection: &Selection) -> Chain {
    build_chain(files, selection, &Heuristic, &Limits::default()).unwrap()
}

/// How much of each file is shown: lines, the marker not counted.
fn shown(chain: &Chain) -> std::collections::BTreeMap<String, usize> {
    let lines = |file: &ChainFile| match file.truncated {
        true => file.content.lines().count() - 1,
        false => usize::MAX,
    };
    chain.files.iter().map(|file| (file.path.clone(), lines(file))).collect()
}

fn edits() -> impl Strategy<Value = Vec<Edit>> {
    let content = "(- [a-zé]{1,5}\r?\n){1,3}";
    let section = prop_oneof![Just("Facts".to_owned()), Just("history".to_owned()), Just("New".to_owned())];
    let edit = (0..3, section, content).prop_map(|(kind, section, content): (i32, String, String)| {
        let time = ctxweave::time::Timestamp::parse("2025-01-06T12:00:00Z").unwrap();
        let action = match kind {
            0 => SectionEdit::Append,
            1 => SectionEdit::Replace,
            _ => SectionEdit::AddHistory { time, author: "curator".into() },
        };
        Edit::Section { action, section, content, create: true }
    });
    proptest::collection::vec(edit, 1..6)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::generate::cases(512)))]

    /// Watchers are those whose patterns match by the naive matcher, with just those patterns.
    #[test]
    fn watchers_agree_with_a_naive_matcher(
        watchers in proptest::collection::btree_map("w[a-e]", proptest::collection::vec(pattern(), 1..4), 1..5),
        folders in proptest::collection::vec(folder(), 1..12),
    ) {
        let files: Vec<VaultFile> = watchers
            .iter()
            .map(|(folder, patterns)| vault_file(file_in(folder), watching(patterns)))
            .collect();
        let index = WatchIndex::of_files(&files, &Limits::default()).unwrap();
        for folder in &folders {
            let found = index.watchers_of(&file_in(folder), &Limits::default()).unwrap();
            let mut expected = Vec::new();
            for (watcher, patterns) in &watchers {
                let mut matching: Vec<String> = Vec::new();
                for pattern in patterns {
                    if naive(pattern, folder) && !matching.contains(pattern) {
                        matching.push(pattern.clone());
                    }
                }
                if !matching.is_empty() {
                    expected.push(Watcher { path: file_in(watcher), patterns: matching });
                }
            }
            prop_assert_eq!(found, expected, "of {}", folder);
        }
    }

    /// The order of files and of the selection does not matter.
    #[test]
    fn the_chain_does_not_depend_on_the_order_of_its_input(
        (files, shuffled) in vault().prop_flat_map(|files| (Just(files.clone()), Just(files).prop_shuffle())),
        selection in selection(),
        max_tokens in proptest::option::of(0..200_u32),
    ) {
        let selection = Selection { max_tokens, ..selection };
        let mut turned = selection.clone();
        turned.folders.reverse();
        let (one, other) = (build(&files, &selection), build(&shuffled, &turned));
        prop_assert_eq!(&one.files, &other.files);
        prop_assert_eq!(&one.omitted, &other.omitted);
        let depths: Vec<(usize, &str)> = one
            .files
            .iter()
            .map(|file| (file.folder.split('/').filter(|name| !name.is_empty()).count(), file.folder.as_str()))
            .collect();
        prop_assert!(depths.is_sorted());
    }

    /// The total is the sum of the shown files, and within the budget; each file is shown, cut or omitted, once.
    #[test]
    fn the_budget_holds_and_every_file_is_accounted_for(files in vault(), selection in selection(), max in 0..150_u32) {
        let bullets = build(&files, &Selection { max_tokens: Some(max), ..selection.clone() });
        let selection = Selection { overrides: Overrides::None, ..selection };
        let whole = build(&files, &selection);
        let chain = build(&files, &Selection { max_tokens: Some(max), ..selection.clone() });
        let all: Vec<&str> = whole.files.iter().map(|file| file.path.as_str()).collect();
        for chain in [&chain, &bullets] {
            prop_assert_eq!(chain.total_tokens, chain.files.iter().map(|file| file.tokens).sum::<u32>());
            prop_assert!(chain.total_tokens <= max);
            let mut found: Vec<&str> = chain.files.iter().map(|file| file.path.as_str()).collect();
            found.extend(chain.omitted.iter().map(|file| file.path.as_str()));
            found.sort_by_key(|path| all.iter().position(|other| other == path));
            prop_assert_eq!(&found, &all);
        }
        // What gives way stands in a file that is whole.
        for gone in bullets.files.iter().flat_map(|file| &file.overridden) {
            prop_assert!(bullets.files.iter().any(|file| file.path == gone.by && !file.truncated), "{} is lost", gone.text);
        }
        for file in chain.files.iter().filter(|file| !file.truncated) {
            prop_assert!(whole.files.contains(file), "uncut files are complete");
        }
        // The fair share of those that are shown, a token at a time.
        let is_shown = |file: &&ChainFile| chain.omitted.iter().all(|other| other.path != file.path);
        let picked = whole.files.iter().filter(|file| file.reason == Reason::Selected);
        let left_out: Vec<&ChainFile> = picked.clone().filter(|file| !is_shown(file)).collect();
        let picked: Vec<&ChainFile> = picked.filter(is_shown).collect();
        let fits = |share: u32| picked.iter().map(|file| file.tokens.min(share)).sum::<u32>() <= max;
        let share = (0..=max).rev().find(|share| fits(*share)).unwrap_or(0);
        for file in picked.iter().filter(|file| file.tokens <= share) {
            prop_assert!(chain.files.contains(file), "{} has its share and is not whole", file.path);
        }
        let mut shown = chain.files.iter().filter(|file| file.reason == Reason::Selected);
        prop_assert!(shown.all(|file| file.tokens <= share), "more than its share");
        for one in left_out {
            let fits = |share: u32| picked.iter().chain([&one]).map(|file| file.tokens.min(share)).sum::<u32>() <= max;
            let share = (0..=max).rev().find(|share| fits(*share)).unwrap_or(0);
            let alone = build(&files, &Selection {
                folders: vec![one.folder.clone()],
                include_watched: IncludeWatched::None,
                parent_chain: false,
                max_tokens: Some(share),
                ..selection.clone()
            });
            prop_assert!(alone.files.is_empty(), "{} is left out, and its share would show it", one.path);
        }
    }

    /// A larger budget never shows less of a file.
    #[test]
    fn a_larger_budget_never_shows_less_of_a_file(files in vault(), selection in selection(), max in 0..150_u32, more in 0..60_u32) {
        let with = |overrides, max| build(&files, &Selection { overrides, max_tokens: Some(max), ..selection.clone() });
        let picked = |chain: &Chain| chain.files.iter().filter(|file| file.reason == Reason::Selected).count();
        let (less, most) = (with(Overrides::None, max), with(Overrides::None, max + more));
        // Where one more of those that were picked is shown, the others make room for it.
        let is_same = picked(&less) == picked(&most);
        let most = shown(&most);
        for (path, lines) in shown(&less) {
            prop_assert!(most.get(&path).is_some_and(|other| !is_same || *other >= lines), "{} shrank", path);
        }
        // Once what repeats a bullet is whole, that gives way: where lines go, only whole files can be compared.
        let (less, most) = (with(Overrides::Bullets, max), with(Overrides::Bullets, max + more));
        let is_same = picked(&less) == picked(&most);
        let most = shown(&most);
        for (path, _) in shown(&less).into_iter().filter(|(_, lines)| is_same && *lines == usize::MAX) {
            prop_assert_eq!(most.get(&path), Some(&usize::MAX), "{} is cut", path);
        }
    }

    /// With the same selected files, a larger budget keeps every line of every file, with any counter. A bullet may be
    /// overridden, and then stands in a file that is whole.
    #[test]
    fn a_larger_budget_keeps_every_line(
        files in numbered_vault(), selection in selection(), max in 0..400_u32, more in 0..100_u32,
        is_noisy in any::<bool>(), selects_all in any::<bool>(), own in prop::option::of(0..20_usize),
    ) {
        let mut selection = Selection { overrides: Overrides::Bullets, ..selection };
        if selects_all {
            selection.folders = files.iter().map(|file| file.path.clone()).collect();
        }
        selection.working_directory = own.map(|lines| vault_file("/srv/AGENTS.md".to_owned(), numbered(lines)));
        let counter: &dyn Counter = if is_noisy { &Noise } else { &Heuristic };
        for overrides in [Overrides::Bullets, Overrides::None] {
            let with = |max| {
                let selection = Selection { overrides, max_tokens: Some(max), ..selection.clone() };
                build_chain(&files, &selection, counter, &Limits::default()).unwrap()
            };
            let picked = |chain: &Chain| -> Vec<String> {
                let shares = |file: &&ChainFile| matches!(file.reason, Reason::Selected | Reason::WorkingDirectory);
                chain.files.iter().filter(shares).map(|file| file.path.clone()).collect()
            };
            let (less, most) = (with(max), with(max + more));
            prop_assert!(picked(&less).len() <= picked(&most).len(), "fewer of those that were selected");
            if picked(&less).len() < picked(&most).len() {
                continue;
            }
            for file in &less.files {
                let other = most.files.iter().find(|other| other.path == file.path);
                prop_assert!(other.is_some(), "{} is gone", file.path);
                let other = other.unwrap();
                let lines = file.content.lines().take(file.content.lines().count() - usize::from(file.truncated));
                for line in lines {
                    let stands = other.content.lines().any(|one| one == line);
                    let gives_way = || other.overridden.iter().any(|bullet| format!("- {}", bullet.text) == line);
                    prop_assert!(stands || gives_way(), "{} lost {}", file.path, line);
                }
            }
        }
    }

    /// Edits change one run of bytes each; taken back in reverse order, they leave the file as it was.
    #[test]
    fn edits_compose_and_can_be_taken_back(
        head in "(---\r?\nwatch: x\r?\n---\r?\n)?(# T\r?\n)?[a-z😀\r\n]{0,20}",
        facts in "(\n## Facts\r?\n(<!-- c -->\r?\n)?(- [a-z]\r?\n){0,3}\r?\n?)?",
        history in "(\n## History\r?\n(- [a-z]\r?\n){0,3})?(- last)?",
        edits in edits(),
    ) {
        let original = format!("{head}{facts}{history}");
        let limits = Limits::default();
        let mut text = original.clone();
        let mut changes = Vec::new();
        for edit in &edits {
            let Ok(edited) = edit_file(&text, edit, None, &limits) else { continue };
            let units: Vec<u16> = text.encode_utf16().collect();
            let after: Vec<u16> = edited.text.encode_utf16().collect();
            let Change { at, removed, inserted } = &edited.change;
            prop_assert_eq!(&units[..*at], &after[..*at]);
            let (removed, inserted) = (removed.encode_utf16().count(), inserted.encode_utf16().count());
            prop_assert_eq!(&units[at + removed..], &after[at + inserted..]);
            text = edited.text;
            changes.push(edited.change);
        }
        for change in changes.into_iter().rev() {
            text = edit_file(&text, &Edit::Undo(change), None, &limits).unwrap().text;
        }
        prop_assert_eq!(text, original);
    }

    /// Whatever a file holds, reading it ends, and its body is a part of it.
    #[test]
    fn any_file_can_be_read(content in proptest::collection::vec(any::<u8>(), 0..200), text in "(---|watch:|[-*&!{}\\[\\]'\"#`>\n: ]|\\PC){0,60}") {
        let limits = Limits::default();
        parse_file("a/AGENTS.md", &Content::Bytes(content), &limits).unwrap();
        let text = format!("---\n{text}");
        let parsed = parse_file("a/AGENTS.md", &Content::Text(text.clone()), &limits).unwrap();
        prop_assert!(text.ends_with(&parsed.body));
        let files = [vault_file("a/AGENTS.md".into(), text)];
        WatchIndex::of_files(&files, &limits).unwrap().bubble(&["b".into()], 9, &limits).unwrap();
    }
}
