//! The tests in WebAssembly: compiled by cargo, bound by wasm-bindgen, run by tests/wasm/run.mjs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use serde::Deserialize;
use wasm_bindgen_cli_support::Bindgen;

use crate::process::{Terminal, succeeded, watch};
use crate::project::Project;
use crate::setup;
use crate::stamp::Inputs;

/// Makes the tests, and gives the command that runs them.
pub fn command(project: &Project, is_browser: bool, terminal: &mut Terminal) -> Result<Command> {
    setup::test_programs(project)?;
    let module = compile(project, terminal)?;
    let folder = project.scratch().join("wasm-tests");
    let stamp = project.scratch().join("wasm-tests.stamp");
    let made = || Inputs::default().path(&module)?.path(&folder);
    // Once for both runtimes.
    if !made()?.are_done(&stamp) {
        bind(&module, &folder)?;
        made()?.set_done(&stamp)?;
    }
    let mut node = project.node();
    node.arg("tests/wasm/run.mjs").arg(folder);
    if is_browser {
        setup::npm_packages(project)?;
        node.arg("--chromium");
    }
    Ok(node)
}

/// Runs wasm-bindgen.
fn bind(module: &Path, folder: &Path) -> Result<()> {
    fs::create_dir_all(folder)?;
    let mut bindgen = Bindgen::new();
    bindgen.web(true)?.typescript(false).input_path(module).out_name("tests");
    // The tests are plain exports, reached through `__wasm`. What would start is the harness for native tests.
    bindgen.debug(true).export_wasm(true).emit_start(false).generate(folder)?;
    // Otherwise Node could take the glue for CommonJS.
    Ok(fs::write(folder.join("package.json"), "{ \"type\": \"module\" }\n")?)
}

/// Runs cargo and gives the path of the module.
fn compile(project: &Project, terminal: &mut Terminal) -> Result<PathBuf> {
    let goldens = Inputs::default().path(&project.path("tests/golden"))?.path(&project.path("examples/trees"))?;
    let mut cargo = project.cargo();
    cargo.args(["test", "--package", "ctxweave", "--target", "wasm32-unknown-unknown", "--test", "wasm", "--no-run"]);
    cargo.arg("--message-format=json-render-diagnostics").env("CTXWEAVE_GOLDENS", goldens.hash());
    // Goldens run for seconds; the crate would be compiled for minutes.
    cargo.args(["--config", "profile.dev.package.ctxweave.opt-level=0"]);
    let mut module = None;
    let status = watch(&mut cargo, |line| {
        if line.starts_with('{') {
            module = executable(line).or(module.take());
        } else {
            terminal.line(line);
        }
        false
    })?;
    succeeded(&cargo, status)?;
    module.context("cargo compiled the tests without printing where they are")
}

/// The file that a message of cargo names, if it is about one that runs.
fn executable(message: &str) -> Option<PathBuf> {
    #[derive(Deserialize)]
    struct Message {
        executable: Option<PathBuf>,
    }
    serde_json::from_str::<Message>(message).ok()?.executable
}
