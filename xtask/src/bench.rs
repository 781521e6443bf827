//! Benchmarks.

use anyhow::Result;

use crate::Args;
use crate::process::{run as run_command, step};
use crate::project::Project;
use crate::stamp::files;
use crate::{build, setup};

pub fn run(project: &Project, args: &mut Args) -> Result<()> {
    args.end()?;
    setup::all(project)?;
    build::package(project, &project.path("wasm-pack.toml"))?;
    let mut benches = files(&project.path("benches"))?;
    // The peers that a bench installs beside itself have benches of their own.
    benches.retain(|path| !path.components().any(|part| part.as_os_str() == "node_modules"));
    let with = |extension: &str| {
        benches.iter().filter(|path| path.extension().is_some_and(|e| e == extension)).collect::<Vec<_>>()
    };
    if !with("rs").is_empty() {
        step("cargo bench");
        run_command(project.cargo().args(["bench", "--package", "ctxweave"]))?;
    }
    for script in with("mjs") {
        step(&script.file_name().unwrap_or_default().to_string_lossy());
        run_command(project.node().arg(script))?;
    }
    step("the token estimator's error");
    crate::with_tiktoken(project, "calibrate", vec!["--table".to_owned()])
}
