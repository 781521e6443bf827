//! Installs what the other commands need. Each step that is already done is skipped.

use std::fs;
use std::sync::Mutex;

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use crate::Args;
use crate::process::{self, output, step, works};
use crate::project::Project;
use crate::stamp::Inputs;

const WASM: &str = "wasm32-unknown-unknown";

pub fn run(project: &Project, args: &mut Args) -> Result<()> {
    args.end()?;
    all(project)
}

/// Everything.
pub fn all(project: &Project) -> Result<()> {
    for_checks(project)?;
    npm_packages(project)?;
    test_programs(project)
}

/// What the checks take: the linters, and what building takes.
pub fn for_checks(project: &Project) -> Result<()> {
    lints(project)?;
    for_build(project)
}

/// What building takes besides npm packages, which load while cargo compiles: see [`npm_packages`].
pub fn for_build(project: &Project) -> Result<()> {
    // What must be there before: these we do not install for anyone.
    for program in ["cargo", "node", "npm"] {
        output(project.command(program).arg("--version"))?;
    }
    wasm_target(project)
}

/// The components of Rust that checks need.
fn lints(project: &Project) -> Result<()> {
    for component in ["clippy", "fmt"] {
        if !works(project.cargo().args([component, "--version"])) {
            bail!("`cargo {component}` is missing: run `rustup component add clippy rustfmt`");
        }
    }
    Ok(())
}

fn wasm_target(project: &Project) -> Result<()> {
    let library = output(project.command("rustc").args(["--print", "target-libdir", "--target", WASM]))?;
    if fs::exists(library.trim())? {
        return Ok(());
    }
    step("rustup target add wasm32-unknown-unknown");
    process::run(project.command("rustup").args(["target", "add", WASM])).with_context(|| {
        format!("the standard library for {WASM} is missing: install it with `rustup target add {WASM}` (Debian's own Rust: `apt-get install libstd-rust-dev-wasm32`)")
    })
}

/// The browser for the tests, pip, which fetches real files and tools of the tests, and a database for the stores.
pub fn test_programs(project: &Project) -> Result<()> {
    // Two threads may ask; the second one finds what the first one installed.
    static INSTALLING: Mutex<()> = Mutex::new(());
    let _guard = INSTALLING.lock();
    // Debian's programs of PostgreSQL's server are not in `PATH`.
    let postgres = "ls /usr/lib/postgresql/*/bin/postgres || pg_config --bindir";
    let programs: [(&[&str], _); 3] = [
        (&["chromium"], "chromium"),
        (&["python3", "-m", "pip"], "python3-pip"),
        (&["sh", "-c", postgres, "sh"], "postgresql"),
    ];
    let missing: Vec<_> = programs
        .into_iter()
        .filter(|(command, _)| !works(project.command(command[0]).args(&command[1..]).arg("--version")))
        .map(|(_, package)| package)
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    let advice = format!("install `{0}` (Debian: `apt-get install {0}`)", missing.join(" "));
    if !works(project.command("apt-get").arg("--version")) || output(project.command("id").arg("-u"))?.trim() != "0" {
        bail!("the tests need Chromium, pip and PostgreSQL: {advice}");
    }
    step(&format!("apt-get install {} (a minute or two)", missing.join(" ")));
    let apt = || {
        let mut apt = project.command("apt-get");
        apt.env("DEBIAN_FRONTEND", "noninteractive").arg("-q");
        apt
    };
    process::run(apt().arg("update"))?;
    process::run(apt().args(["install", "--yes", "--no-install-recommends"]).args(missing)).context(advice)
}

/// The version of a crate in Cargo.lock.
pub fn locked_version(project: &Project, name: &str) -> Result<String> {
    #[derive(Deserialize)]
    struct Lock {
        package: Vec<Package>,
    }
    #[derive(Deserialize)]
    struct Package {
        name: String,
        version: String,
    }
    let lock: Lock = toml::from_str(&fs::read_to_string(project.path("Cargo.lock"))?)?;
    let package = lock.package.into_iter().find(|package| package.name == name);
    Ok(package.with_context(|| format!("Cargo.lock has no `{name}`"))?.version)
}

/// Installs the npm packages.
pub fn npm_packages(project: &Project) -> Result<()> {
    // Two threads may ask; the second one finds what the first one installed.
    static INSTALLING: Mutex<()> = Mutex::new(());
    let _guard = INSTALLING.lock();
    let mut inputs = Inputs::default();
    for file in
        ["package.json", "package-lock.json", "pkg/package.json", "pkg/tiktoken/package.json", "www/package.json"]
    {
        inputs = inputs.path(&project.path(file))?;
    }
    let stamp = project.path("node_modules/.xtask-stamp");
    if inputs.are_done(&stamp) {
        return Ok(());
    }
    step("npm ci (half a minute)");
    process::run(project.command("npm").args(["ci", "--no-audit", "--no-fund"]))?;
    inputs.set_done(&stamp)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::install_hint;

    #[test]
    fn programs_that_setup_cannot_bring_have_a_hint() {
        for program in ["cargo", "rustc", "rustup", "node", "npm"] {
            assert!(install_hint(program).is_some(), "{program}");
        }
    }

    #[test]
    fn wasm_bindgen_and_what_reads_it_have_one_version() {
        let project = Project::find().unwrap();
        let [library, reader] =
            ["wasm-bindgen", "wasm-bindgen-cli-support"].map(|name| locked_version(&project, name).unwrap());
        assert_eq!(library, reader);
        assert!(library.starts_with("0.2."), "{library}");
    }
}
