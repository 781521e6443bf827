//! Every test there is, one suite after the other; the last line counts them all.

use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

use anyhow::{Result, bail};

use crate::Args;
use crate::count::Count;
use crate::process::{step, watch, works};
use crate::project::Project;
use crate::stamp::{Inputs, files};
use crate::{build, check, setup, size};

pub fn run(project: &Project, args: &mut Args) -> Result<()> {
    args.end()?;
    setup::all(project)?;
    build::package(project, &project.path("wasm-pack.toml"))?;

    let mut rows: Vec<Row> = Vec::new();
    for name in check::all(project) {
        rows.push(Row::failure(format!("check: {name}")));
    }
    for (name, command) in suites(project)? {
        rows.push(suite(name, command));
    }
    step("size");
    if let Err(error) = size::run(project, &mut Args(vec!["--check".to_owned()])) {
        eprintln!("error: {error:#}");
        rows.push(Row::failure("size".to_owned()));
    }
    summary(&rows)
}

/// What came out of one suite.
struct Row {
    name: String,
    count: Count,
    seconds: u64,
}

impl Row {
    /// A check that failed counts as a failed test; one that passed counts as nothing.
    fn failure(name: String) -> Self {
        Self { name, count: Count { passed: 0, failed: 1 }, seconds: 0 }
    }
}

fn suites(project: &Project) -> Result<Vec<(&'static str, Command)>> {
    let mut suites = Vec::new();

    let mut native = project.cargo();
    if works(project.cargo().args(["nextest", "--version"])) {
        native.args(["nextest", "run", "--workspace", "--no-fail-fast", "--status-level=slow"]);
    } else {
        native.args(["test", "--workspace", "--lib", "--bins", "--tests", "--no-fail-fast"]);
    }
    suites.push(("native", native));

    let mut doc = project.cargo();
    doc.args(["test", "--package", "ctxweave", "--doc"]);
    suites.push(("doctests", doc));

    let goldens = Inputs::default().path(&project.path("tests/golden"))?.path(&project.path("examples/trees"))?;
    let goldens = goldens.hash();
    for (name, browser) in [("wasm in Node", false), ("wasm in Chromium", true)] {
        let mut wasm = project.cargo();
        wasm.args(["test", "--package", "ctxweave", "--target", "wasm32-unknown-unknown", "--test", "wasm"]);
        wasm.env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUNNER", project.tool("wasm-bindgen-test-runner"));
        wasm.env("WASM_BINDGEN_TEST_TIMEOUT", "300");
        wasm.env("CTXWEAVE_GOLDENS", &goldens);
        if browser {
            wasm.env("WASM_BINDGEN_USE_BROWSER", "1").env("CHROMEDRIVER", "chromedriver");
            wasm.env("WASM_BINDGEN_TEST_WEBDRIVER_JSON", project.path("tests/webdriver.json"));
        }
        suites.push((name, wasm));
    }

    for (name, folder) in [
        ("packaging", "tests/packaging"),
        ("runtimes", "tests/runtimes"),
        ("examples", "tests/examples"),
        ("page", "tests/page"),
        ("site", "tests/site"),
    ] {
        let found = test_files(&project.path(folder))?;
        if !found.is_empty() {
            let mut node = project.node();
            // Two files at a time: one of them always waits, for a browser or a bundler.
            node.args(["--expose-gc", "--test", "--test-concurrency=2", "--test-reporter=spec"]).args(found);
            suites.push((name, node));
        }
    }
    Ok(suites)
}

/// Node 20 looks for tests in a folder by other rules than Node 22, so they are named one by one.
fn test_files(folder: &std::path::Path) -> Result<Vec<PathBuf>> {
    let mut found = files(folder)?;
    found.retain(|path| path.to_string_lossy().ends_with(".test.mjs"));
    Ok(found)
}

fn suite(name: &str, mut command: Command) -> Row {
    step(name);
    let start = Instant::now();
    let mut count = Count::default();
    let status = watch(&mut command, |line| {
        count.see(line);
        true
    });
    let succeeded = match status {
        Ok(status) => status.success(),
        Err(error) => {
            eprintln!("error: {error:#}");
            false
        }
    };
    // Tests that do not compile, a runner that crashes and a suite that runs nothing have no failed test to count.
    if count.failed == 0 && (!succeeded || count.passed == 0) {
        eprintln!("error: `{name}` {}", if succeeded { "ran no test" } else { "failed without counting a test" });
        count.failed = 1;
    }
    Row { name: name.to_owned(), count, seconds: start.elapsed().as_secs() }
}

fn summary(rows: &[Row]) -> Result<()> {
    println!("\n{:<24} {:>7} {:>7} {:>6}", "suite", "passed", "failed", "time");
    for Row { name, count: Count { passed, failed }, seconds } in rows {
        println!("{name:<24} {passed:>7} {failed:>7} {seconds:>5}s");
    }
    let passed: u64 = rows.iter().map(|row| row.count.passed).sum();
    let failed: u64 = rows.iter().map(|row| row.count.failed).sum();
    println!("\n{passed} passed, {failed} failed");
    if failed > 0 {
        bail!("not every test passed");
    }
    Ok(())
}
