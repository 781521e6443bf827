//! The tests, suite by suite; the last line counts them all.
//!
//! Two threads: one runs what needs cargo alone, while the other builds the npm packages. Then both run what uses the
//! packages.

use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Instant;

use anyhow::{Result, anyhow, ensure};

use crate::Args;
use crate::count::Count;
use crate::process::{Terminal, watch, works};
use crate::project::Project;
use crate::stamp::files;
use crate::{build, check, setup, size, wasm_tests};

/// The suites that need no npm package, in order.
const CARGO_SUITES: &[&str] = &["native", "doctests", "xtask", "checks", "wasm-node", "wasm-chromium"];

/// The suites that use the npm packages, after their build.
const PACKAGE_SUITES: &[&str] = &["build", "types", "packaging", "runtimes", "examples", "site", "page"];

/// The order in which they start: the long ones first, so that no thread ends long before the other.
const LONGEST_FIRST: &[&str] = &["bundlers", "runtimes", "page"];

/// The suites of `--all`, after those of the packages: they look at the modules as they are shipped.
const SHIPPED_SUITES: &[&str] = &["shipped", "size", "bundlers"];

/// What `--all` sets, unless it is set: every property at its full number of cases, every state of the page at every size, a
/// minute of load.
const FULL: &[(&str, &str)] =
    &[("CTXWEAVE_CASES", "1x"), ("CTXWEAVE_LOOKS", "all"), ("CTXWEAVE_LOAD", "60"), ("CTXWEAVE_SEEDS", "60")];

pub fn run(project: &Project, args: &mut Args) -> Result<ExitCode> {
    let plan = Plan::read(args)?;
    setup::for_checks(project)?;
    let suites = PackageSuites::new(&plan);
    let mut rows = thread::scope(|scope| {
        let (built, is_built) = mpsc::channel();
        let cargo = scope.spawn(|| {
            if plan.uses_packages() {
                // First, because cargo builds one thing at a time: the packages would wait for all that `native` compiles.
                // The other thread reports a failure.
                build::vocabularies(project).ok();
            }
            let mut rows = plan.cargo_suites(project)?;
            if is_built.into_iter().any(|built| built) {
                rows.extend(suites.run(project, Terminal::held)?);
            }
            anyhow::Ok(rows)
        });
        let packages = plan.build_packages(project).and_then(|(mut rows, is_built)| {
            // Nobody listens if the other thread has failed.
            built.send(is_built).ok();
            drop(built);
            if is_built {
                rows.extend(suites.run(project, Terminal::direct)?);
            }
            Ok(rows)
        });
        let cargo = cargo.join().map_err(|_| anyhow!("a thread panicked"))?;
        anyhow::Ok([cargo?, packages?].concat())
    })?;
    rows.sort_by_key(|row| plan.suites().position(|suite| row.name.starts_with(suite)));
    Ok(summary(&rows))
}

/// Which suites run.
struct Plan {
    is_all: bool,
    /// Only these, if there are any.
    only: Vec<String>,
}

impl Plan {
    fn read(args: &mut Args) -> Result<Self> {
        let plan = Self { is_all: args.flag("--all"), only: args.rest() };
        for name in &plan.only {
            ensure!(
                plan.suites().any(|suite| suite == name),
                "`{name}` is not a suite of this run: name some of `{}`",
                plan.suites().collect::<Vec<_>>().join("`, `")
            );
        }
        Ok(plan)
    }

    fn suites(&self) -> impl Iterator<Item = &'static str> {
        let shipped = if self.is_all { SHIPPED_SUITES } else { &[] };
        [CARGO_SUITES, PACKAGE_SUITES, shipped].concat().into_iter()
    }

    fn uses_packages(&self) -> bool {
        !self.wanted(&[PACKAGE_SUITES, SHIPPED_SUITES].concat()).is_empty()
    }

    /// Those of a list that run.
    fn wanted(&self, of: &[&'static str]) -> Vec<&'static str> {
        let is_wanted = |suite: &&str| self.only.is_empty() || self.only.iter().any(|only| only == suite);
        self.suites().filter(|suite| of.contains(suite)).filter(is_wanted).collect()
    }

    fn environment(&self) -> Vec<(&'static str, &'static str)> {
        let is_unset = |(name, _): &&(&str, &str)| std::env::var_os(name).is_none();
        if self.is_all { FULL.iter().filter(is_unset).copied().collect() } else { Vec::new() }
    }

    /// Its output appears suite by suite, between that of the other thread.
    fn cargo_suites(&self, project: &Project) -> Result<Vec<Row>> {
        let mut rows = Vec::new();
        for name in self.wanted(CARGO_SUITES) {
            let mut terminal = Terminal::held();
            match name {
                "checks" => rows.extend(checks(name, |terminal| check::native(project, terminal), &mut terminal)),
                _ if name.starts_with("wasm") => {
                    let make =
                        |terminal: &mut Terminal| wasm_tests::command(project, name == "wasm-chromium", terminal);
                    rows.push(suite(name, make, &mut terminal));
                }
                _ => {
                    let mut command = cargo_command(project, name);
                    command.envs(self.environment());
                    rows.push(suite(name, |_| Ok(command), &mut terminal));
                }
            }
            terminal.release();
        }
        Ok(rows)
    }

    /// Builds what the suites of the packages use. A failure is a failed test, so that the other thread's results are seen.
    fn build(&self, project: &Project, terminal: &mut Terminal) -> Vec<&'static str> {
        let built = setup::test_programs(project).and_then(|()| {
            if self.is_all {
                build::shipped_package(project, &build::own_manifest(project))
            } else {
                build::quick_package(project)
            }
        });
        match built {
            Ok(()) => Vec::new(),
            Err(error) => {
                terminal.line(&format!("error: {error:#}"));
                vec!["packages"]
            }
        }
    }

    /// The rows of the build, and whether there is something to test.
    fn build_packages(&self, project: &Project) -> Result<(Vec<Row>, bool)> {
        if !self.uses_packages() {
            return Ok((Vec::new(), false));
        }
        let built = checks("build", |terminal| self.build(project, terminal), &mut Terminal::direct());
        let is_built = built.iter().all(|row| row.count.failed == 0);
        Ok((built, is_built))
    }
}

/// The suites that use the built packages, for two threads.
struct PackageSuites<'p> {
    plan: &'p Plan,
    names: Vec<&'static str>,
    started: AtomicUsize,
}

impl<'p> PackageSuites<'p> {
    fn new(plan: &'p Plan) -> Self {
        let mut names = plan.wanted(&[PACKAGE_SUITES, SHIPPED_SUITES].concat());
        names.retain(|name| *name != "build");
        names.sort_by_key(|name| LONGEST_FIRST.iter().position(|long| long == name).unwrap_or(LONGEST_FIRST.len()));
        Self { plan, names, started: AtomicUsize::new(0) }
    }

    /// Runs those that the other thread has not started.
    fn run(&self, project: &Project, terminal: impl Fn() -> Terminal) -> Result<Vec<Row>> {
        let mut rows = Vec::new();
        while let Some(&name) = self.names.get(self.started.fetch_add(1, Ordering::Relaxed)) {
            let mut terminal = terminal();
            match name {
                "types" => rows.extend(checks(name, |terminal| check::types(project, terminal), &mut terminal)),
                "size" => rows.extend(checks(name, |terminal| check_size(project, terminal), &mut terminal)),
                _ => {
                    let mut command = node_command(project, name)?;
                    command.envs(self.plan.environment());
                    rows.push(suite(name, |_| Ok(command), &mut terminal));
                }
            }
            terminal.release();
        }
        Ok(rows)
    }
}

/// The outcome of one suite.
#[derive(Clone)]
struct Row {
    name: String,
    count: Count,
    seconds: u64,
}

/// A check that failed counts as a failed test; one that passed counts as nothing.
fn checks(name: &str, run: impl FnOnce(&mut Terminal) -> Vec<&'static str>, terminal: &mut Terminal) -> Vec<Row> {
    let start = Instant::now();
    let failed = run(terminal);
    let seconds = start.elapsed().as_secs();
    let row = |name, failed| Row { name, count: Count { passed: 0, failed }, seconds };
    if failed.is_empty() {
        return vec![row(name.to_owned(), 0)];
    }
    failed.into_iter().map(|check| row(format!("{name}: {check}"), 1)).collect()
}

fn check_size(project: &Project, terminal: &mut Terminal) -> Vec<&'static str> {
    terminal.step("size");
    match size::run(project, &mut Args(vec!["--check".to_owned()])) {
        Ok(()) => Vec::new(),
        Err(error) => {
            terminal.line(&format!("error: {error:#}"));
            vec!["ceilings"]
        }
    }
}

fn cargo_command(project: &Project, name: &str) -> Command {
    let mut cargo = project.cargo();
    // xtask apart: it is built already, and together with it dependencies get other features than in `doctests`.
    let apart = ["--workspace", "--exclude", "xtask"];
    let of_xtask = ["--package", "xtask"];
    let packages: &[&str] = if name == "xtask" { &of_xtask } else { &apart };
    match name {
        "native" | "xtask" if works(project.cargo().args(["nextest", "--version"])) => {
            cargo.args(["nextest", "run", "--no-fail-fast", "--status-level=slow"]).args(packages);
        }
        "native" => {
            cargo.args(["test", "--lib", "--bins", "--tests", "--no-fail-fast"]).args(packages);
        }
        "xtask" => {
            cargo.args(["test", "--bins", "--no-fail-fast"]).args(packages);
        }
        _ => {
            // They run for a second; cargo compiles the crate for them alone.
            cargo.args(["test", "--doc", "--config", "profile.dev.package.ctxweave.opt-level=0"]).args(packages);
        }
    }
    cargo
}

fn node_command(project: &Project, name: &str) -> Result<Command> {
    let mut node = project.node();
    if name == "bundlers" {
        node.args(["tests/loading/run.mjs", "--no-table"]);
        return Ok(node);
    }
    if name == "page" {
        node.arg("tests/page/run.mjs");
    }
    // Two files at a time: one of them always waits, for a browser or a bundler.
    node.args(["--expose-gc", "--test", "--test-concurrency=2", "--test-reporter=spec"]);
    node.args(test_files(&project.path("tests").join(name))?);
    Ok(node)
}

/// Node 20 looks for tests in a folder by other rules than Node 22, so they are named one by one.
fn test_files(folder: &std::path::Path) -> Result<Vec<PathBuf>> {
    let mut found = files(folder)?;
    found.retain(|path| path.to_string_lossy().ends_with(".test.mjs"));
    Ok(found)
}

/// Runs the command of a suite, which `make` gives.
fn suite(name: &str, make: impl FnOnce(&mut Terminal) -> Result<Command>, terminal: &mut Terminal) -> Row {
    terminal.step(name);
    let start = Instant::now();
    let mut count = Count::default();
    let status = make(terminal).and_then(|mut command| {
        watch(&mut command, |line| {
            count.read_line(line);
            terminal.line(line);
            false
        })
    });
    let succeeded = match status {
        Ok(status) => status.success(),
        Err(error) => {
            terminal.line(&format!("error: {error:#}"));
            false
        }
    };
    // Tests that do not compile, a runner that crashes and a suite that runs nothing have no failed test to count.
    if count.failed == 0 && (!succeeded || count.passed == 0) {
        let why = if succeeded { "ran no test" } else { "failed without counting a test" };
        terminal.line(&format!("error: `{name}` {why}"));
        count.failed = 1;
    }
    Row { name: name.to_owned(), count, seconds: start.elapsed().as_secs() }
}

/// Prints a row per suite, and the sums as the last line.
fn summary(rows: &[Row]) -> ExitCode {
    println!("\n{:<24} {:>7} {:>7} {:>6}", "suite", "passed", "failed", "time");
    for Row { name, count: Count { passed, failed }, seconds } in rows {
        println!("{name:<24} {passed:>7} {failed:>7} {seconds:>5}s");
    }
    let passed: u64 = rows.iter().map(|row| row.count.passed).sum();
    let failed: u64 = rows.iter().map(|row| row.count.failed).sum();
    println!("\n{passed} passed, {failed} failed");
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
