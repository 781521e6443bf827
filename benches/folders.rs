//! Folders natively, at two sizes, so that growth can be read off: `cargo bench --bench folders`.

use ctxweave::agent_files::CALLS;
use ctxweave::call::CallContext;
use ctxweave::folders::{SKIPPED_FOLDERS, Selection, VaultFile, WatchIndex, build_chain, discover};
use ctxweave::input::Content;
use ctxweave::limits::Limits;
use ctxweave::tokens::Heuristic;
use divan::{Bencher, black_box};

/// Files, each with one watch.
const SIZES: [usize; 2] = [1_000, 10_000];

/// A vault of areas, projects in them and parts in those. Files watch their parent, their area, or what a glob says.
fn vault(size: usize) -> Vec<VaultFile> {
    let file = |at: usize| {
        let (area, project) = (at % 50, at % 500);
        let watch = match at % 5 {
            0 => "../".to_owned(),
            1 => format!("area-{}/*", (at + 1) % 50),
            2 => format!("area-{area}/project-{}", (at + 7) % 500),
            3 => format!("area-{}/**/part-{at}", (at + 3) % 50),
            _ => format!("area-{area}/proj*-{}/part-?{}", (at + 11) % 500, at % 10),
        };
        VaultFile {
            path: format!("area-{area}/project-{project}/part-{at}/AGENTS.md"),
            content: Content::Text(format!(
                "---\nwatch:\n  - \"{watch}\"\n---\n# Part {at}\n\n> One of many\n\n## Facts\n- Fact {at}\n- A fact that many have\n"
            )),
        }
    };
    (0..size).map(file).collect()
}

fn failed<T>(error: ctxweave::Error) -> T {
    eprintln!("{error}");
    std::process::exit(1)
}

fn main() {
    divan::main();
}

/// A request to load what Claude Code reads in a repository of this size, with a nested context file or rule in every
/// tenth folder and imports, after an access.
fn agent_request(size: usize) -> Vec<u8> {
    let file = |at: usize| {
        let (area, project) = (at % 50, at % 500);
        let folder = format!("/srv/repo/area-{area}/project-{project}");
        let (path, content) = match at % 100 {
            0 => (format!("{folder}/CLAUDE.md"), format!("# Project {project}\n\nSee @notes-{at}.md\n")),
            50 => (
                format!("/srv/repo/.claude/rules/rule-{at}.md"),
                format!("---\npaths: area-{area}/**\n---\nRule {at}\n"),
            ),
            _ => (format!("{folder}/notes-{at}.md"), format!("Notes {at}\n")),
        };
        serde_json::json!({ "path": path, "content": content })
    };
    let mut files: Vec<_> = (0..size).map(file).collect();
    files.push(serde_json::json!({ "path": "/srv/repo/.git/HEAD", "content": "" }));
    let access = [serde_json::json!({ "path": "/srv/repo/area-0/project-0/src/main.rs" })];
    let limits = serde_json::json!({ "contextFiles": size + 1 });
    let request = serde_json::json!({ "agent": "claude-code", "cwd": "/srv/repo", "files": files, "access": access, "limits": limits });
    request.to_string().into_bytes()
}

/// Plans and loads, the JSON of the request included.
#[divan::bench(args = SIZES)]
fn agent_files(bencher: Bencher<'_, '_>, size: usize) {
    let request = agent_request(size);
    let host = CallContext::default();
    let Some(plan) = CALLS.iter().find(|call| call.name == "planAgentFiles") else { return };
    bencher
        .bench_local(|| plan.answer(&mut (), black_box(&request), &[], &host).unwrap_or_else(failed).to_json().len());
}

#[divan::bench(args = SIZES)]
fn discovery(bencher: Bencher<'_, '_>, size: usize) {
    let files = vault(size);
    let limits = Limits::default();
    bencher.bench(|| {
        discover(black_box(&files).iter().map(|file| file.path.as_str()), &SKIPPED_FOLDERS, &limits)
            .unwrap_or_else(failed)
    });
}

#[divan::bench(args = SIZES)]
fn chain_of_twenty(bencher: Bencher<'_, '_>, size: usize) {
    let files = vault(size);
    let folders = (0..20).map(|at| format!("area-{}/project-{}/part-{}", at % 50, at % 500, at)).collect();
    let selection = Selection { folders, parent_chain: true, max_tokens: Some(500), ..Selection::default() };
    let limits = Limits::default();
    bencher.bench(|| build_chain(black_box(&files), &selection, &Heuristic, &limits).unwrap_or_else(failed));
}

#[divan::bench(args = SIZES)]
fn chain_of_all(bencher: Bencher<'_, '_>, size: usize) {
    let files = vault(size);
    let folders = files.iter().map(|file| file.path.clone()).collect();
    let selection = Selection { folders, ..Selection::default() };
    let limits = Limits::default();
    bencher.bench(|| build_chain(black_box(&files), &selection, &Heuristic, &limits).unwrap_or_else(failed));
}

#[divan::bench(args = SIZES)]
fn reading_all_watches(bencher: Bencher<'_, '_>, size: usize) {
    let files = vault(size);
    let limits = Limits::default();
    bencher.bench(|| WatchIndex::of_files(black_box(&files), &limits).unwrap_or_else(failed));
}

#[divan::bench(args = SIZES)]
fn watchers_of_one_change(bencher: Bencher<'_, '_>, size: usize) {
    let files = vault(size);
    let limits = Limits::default();
    let index = WatchIndex::of_files(&files, &limits).unwrap_or_else(failed);
    bencher.bench(|| {
        index.watchers_of(black_box("area-7/project-107/part-607/AGENTS.md"), &limits).unwrap_or_else(failed)
    });
}
