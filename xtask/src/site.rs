//! `cargo xtask site`: the documentation as a site.

use anyhow::Result;

use crate::Args;
use crate::process::{run as run_command, step};
use crate::project::Project;
use crate::{build, setup};

pub fn run(project: &Project, args: &mut Args) -> Result<()> {
    args.end()?;
    setup::for_build(project)?;
    build::demo_package(project)?;
    step("the site, into target/site/dist (half a minute)");
    let mut npm = project.command("npm");
    run_command(npm.args(["ci", "--prefix", "site"]))?;
    run_command(project.node().arg("site/build.mjs"))
}
