//! `cargo xtask test-bundlers`: the package in every bundler, framework and runtime that docs/loading.md names.

use anyhow::Result;

use crate::Args;
use crate::process::{run as run_command, step};
use crate::project::Project;
use crate::{build, setup};

pub fn run(project: &Project, args: &mut Args) -> Result<()> {
    let words = args.rest();
    setup::all(project)?;
    build::shipped_package(project, &build::own_manifest(project))?;
    step(
        "bundlers and runtimes (half an hour; the tools are installed into target/loading and target/loading-frameworks, 2,000 packages, the first time)",
    );
    run_command(project.node().arg("tests/loading/run.mjs").args(words))
}
