//! Shows what it is for: a prompt in the terminal, then the page.

use anyhow::Result;

use crate::Args;
use crate::process::{run as run_command, step};
use crate::project::Project;
use crate::{build, setup};

pub fn run(project: &Project, args: &mut Args) -> Result<()> {
    let once = args.flag("--once");
    args.end()?;
    if !project.scratch().join("build.stamp").exists() {
        println!(
            "The first time this takes some ten minutes on two cores, most of it compiling: a tool that reads what Rust makes of\n\
             WebAssembly, the vocabularies, a module for each area. Later it begins at once."
        );
    }
    setup::for_build(project)?;
    // The page has each area by its own module.
    build::package(project, &project.path("wasm-pack.toml"))?;
    step("a prompt, assembled by the npm package (examples/prompt.mjs)");
    run_command(project.node().arg("examples/prompt.mjs"))?;
    step("the page (some seconds)");
    run_command(project.npm_bin("vite").args(["build", "www", "--log-level", "warn"]))?;
    if once {
        println!("built into www/dist; `cargo xtask demo` without `--once` serves it");
        return Ok(());
    }
    // Only on this machine. It prints the address and serves until it is interrupted.
    run_command(project.npm_bin("vite").args(["preview", "www", "--host", "127.0.0.1"]))
}
