//! Shows what it is for: a prompt in the terminal, then the page.

use anyhow::Result;

use crate::Args;
use crate::process::{run as run_command, step};
use crate::project::Project;
use crate::{build, setup};

pub fn run(project: &Project, args: &mut Args) -> Result<()> {
    let once = args.flag("--once");
    args.end()?;
    println!(
        "The first build takes some five minutes on two cores. It is compiled quickly: larger and slower than what is published\n\
         (`cargo xtask build`)."
    );
    setup::for_build(project)?;
    build::demo_package(project)?;
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
