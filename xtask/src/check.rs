//! What needs no test to be seen: formatting, lints, docs, types, tidiness. Warnings are errors, on both targets.

use std::process::Command;

use anyhow::{Result, bail};

use crate::Args;
use crate::process::{self, step};
use crate::project::Project;
use crate::{build, setup, tidy};

pub fn run(project: &Project, args: &mut Args) -> Result<()> {
    args.end()?;
    setup::all(project)?;
    // The page is checked against the types of the built package.
    build::package(project, &project.path("wasm-pack.toml"))?;
    let failed = all(project);
    if !failed.is_empty() {
        bail!("failed: {}", failed.join(", "));
    }
    println!("all checks passed");
    Ok(())
}

/// Runs every check, whatever the others say, and gives the names of those that failed.
pub fn all(project: &Project) -> Vec<&'static str> {
    let mut failed = Vec::new();
    for (name, mut command) in commands(project) {
        step(name);
        if let Err(error) = process::run(&mut command) {
            eprintln!("error: {error:#}");
            failed.push(name);
        }
    }
    step("tidy");
    match tidy::problems(project) {
        Ok(problems) if problems.is_empty() => {}
        Ok(problems) => {
            eprintln!("{}", problems.join("\n"));
            failed.push("tidy");
        }
        Err(error) => {
            eprintln!("error: {error:#}");
            failed.push("tidy");
        }
    }
    failed
}

fn commands(project: &Project) -> Vec<(&'static str, Command)> {
    let cargo = |args: &[&str]| {
        let mut cargo = project.cargo();
        cargo.args(args).env("RUSTDOCFLAGS", "-D warnings");
        cargo
    };
    let clippy = |args: &[&str]| cargo(&[&["clippy"], args, &["--", "-D", "warnings"]].concat());
    let wasm = "--target=wasm32-unknown-unknown";
    let alone = ["-p", "ctxweave", "--lib", "--no-default-features"];
    let mut prettier = project.npm_bin("prettier");
    prettier.args(["--check", "--log-level=warn", "."]);
    let mut tsc = project.npm_bin("tsc");
    tsc.args(["--noEmit", "-p", "pkg"]);
    let mut commands = vec![
        ("rustfmt", cargo(&["fmt", "--all", "--check"])),
        ("clippy", clippy(&["--workspace", "--all-targets", "--all-features"])),
        ("clippy for wasm32", clippy(&["-p", "ctxweave", wasm, "--lib", "--test", "wasm"])),
        ("rustdoc", cargo(&["doc", "-p", "ctxweave", "--no-deps"])),
        ("rustdoc for wasm32", cargo(&["doc", "-p", "ctxweave", "--no-deps", wasm])),
        ("prettier", prettier),
        ("tsc for pkg", tsc),
    ];
    for (name, features) in [
        ("clippy for wasm32, chat alone", "--features=chat"),
        ("clippy for wasm32, commits alone", "--features=commits"),
        ("clippy for wasm32, folders alone", "--features=folders"),
        ("clippy for wasm32, import alone", "--features=import"),
        ("clippy for wasm32, loom alone", "--features=loom"),
        ("clippy for wasm32, operators alone", "--features=operators"),
        ("clippy for wasm32, workspace alone", "--features=workspace"),
        ("clippy for wasm32, tokens alone", "--features=convert,cut"),
    ] {
        commands.push((name, clippy(&[&alone[..], &[features, wasm]].concat())));
    }
    if project.path("www/tsconfig.json").exists() {
        let mut tsc = project.npm_bin("tsc");
        tsc.args(["--noEmit", "-p", "www"]);
        commands.push(("tsc for www", tsc));
    }
    commands
}
