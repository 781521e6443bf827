//! What needs no test to be seen: formatting, lints, docs, types, tidiness. Warnings are errors, on both targets.

use std::process::Command;

use anyhow::{Result, bail};

use crate::Args;
use crate::process::Terminal;
use crate::project::Project;
use crate::{build, setup, tidy};

pub fn run(project: &Project, args: &mut Args) -> Result<()> {
    args.end()?;
    setup::for_checks(project)?;
    // The page is checked against the types of the built package.
    build::quick_package(project)?;
    let mut terminal = Terminal::direct();
    let failed = [native(project, &mut terminal), types(project, &mut terminal)].concat();
    if !failed.is_empty() {
        bail!("failed: {}", failed.join(", "));
    }
    println!("all checks passed");
    Ok(())
}

/// Runs every check that needs no built package, and returns the names of those that failed.
pub fn native(project: &Project, terminal: &mut Terminal) -> Vec<&'static str> {
    let mut failed = run_all(native_commands(project), terminal);
    terminal.step("tidy");
    let problems = tidy::problems(project).unwrap_or_else(|error| vec![format!("error: {error:#}")]);
    if !problems.is_empty() {
        problems.iter().for_each(|problem| terminal.line(problem));
        failed.push("tidy");
    }
    failed
}

/// Runs every check against the types of the built package, and returns the names of those that failed.
pub fn types(project: &Project, terminal: &mut Terminal) -> Vec<&'static str> {
    run_all(type_commands(project), terminal)
}

fn run_all(commands: Vec<(&'static str, Command)>, terminal: &mut Terminal) -> Vec<&'static str> {
    let mut failed = Vec::new();
    for (name, mut command) in commands {
        terminal.step(name);
        if let Err(error) = terminal.run(&mut command) {
            terminal.line(&format!("error: {error:#}"));
            failed.push(name);
        }
    }
    failed
}

fn native_commands(project: &Project) -> Vec<(&'static str, Command)> {
    let cargo = |args: &[&str]| {
        let mut cargo = project.cargo();
        cargo.args(args).env("RUSTDOCFLAGS", "-D warnings");
        cargo
    };
    let clippy = |args: &[&str]| cargo(&[&["clippy"], args, &["--", "-D", "warnings"]].concat());
    let wasm = "--target=wasm32-unknown-unknown";
    vec![
        ("rustfmt", cargo(&["fmt", "--all", "--check"])),
        ("clippy", clippy(&["--workspace", "--all-targets", "--all-features"])),
        ("clippy for wasm32", clippy(&["-p", "ctxweave", wasm, "--lib", "--test", "wasm"])),
        ("rustdoc", cargo(&["doc", "-p", "ctxweave", "--no-deps"])),
        ("rustdoc for wasm32", cargo(&["doc", "-p", "ctxweave", "--no-deps", wasm])),
    ]
}

fn type_commands(project: &Project) -> Vec<(&'static str, Command)> {
    let mut prettier = project.npm_bin("prettier");
    prettier.args(["--check", "--log-level=warn", "."]);
    let mut package = project.npm_bin("tsc");
    package.args(["--noEmit", "-p", "pkg"]);
    let mut page = project.npm_bin("tsc");
    page.args(["--noEmit", "-p", "www"]);
    vec![("prettier", prettier), ("tsc for pkg", package), ("tsc for www", page)]
}
