//! Benchmarks: `benches/NAME.rs` with divan, `benches/NAME/NAME.mjs` beside what npm has.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use crate::Args;
use crate::process::{run as run_command, step};
use crate::project::Project;
use crate::stamp::files;
use crate::{build, setup};

/// The one that xtask does itself.
const ESTIMATOR: &str = "estimator";

pub fn run(project: &Project, args: &mut Args) -> Result<()> {
    let quick = args.flag("--quick");
    let asked = args.rest();
    let found = found(project)?;
    let names: Vec<&str> = found.keys().map(String::as_str).chain([ESTIMATOR]).collect();
    if let Some(unknown) = asked.iter().find(|name| !names.contains(&name.as_str())) {
        bail!("there is no benchmark `{unknown}`; there are `{}`", names.join("`, `"));
    }
    setup::all(project)?;
    build::package(project, &project.path("wasm-pack.toml"))?;
    for name in names.into_iter().filter(|name| asked.is_empty() || asked.iter().any(|asked| asked == name)) {
        for file in found.get(name).into_iter().flatten() {
            one(project, name, file, quick)?;
        }
        if name == ESTIMATOR {
            step("the token estimator's error");
            crate::with_tiktoken(project, "calibrate", vec!["--table".to_owned()])?;
        }
    }
    Ok(())
}

/// The files of each benchmark.
fn found(project: &Project) -> Result<BTreeMap<String, Vec<PathBuf>>> {
    let folder = project.path("benches");
    let mut found: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
    for file in files(&folder)? {
        let Some(name) = file.file_stem().and_then(|name| name.to_str()).map(str::to_owned) else { continue };
        // What else stands in a benchmark's folder, its packages among it, belongs to it.
        if file == folder.join(&name).with_extension("rs")
            || file == folder.join(&name).join(&name).with_extension("mjs")
        {
            found.entry(name).or_default().push(file);
        }
    }
    Ok(found)
}

fn one(project: &Project, name: &str, file: &Path, quick: bool) -> Result<()> {
    let native = file.extension().is_some_and(|extension| extension == "rs");
    step(&format!("{name}, {}", if native { "natively" } else { "beside npm packages" }));
    if native {
        let mut cargo = project.cargo();
        cargo.args(["bench", "--package", "ctxweave", "--bench", name]);
        // Divan then runs each once.
        return run_command(if quick { cargo.args(["--", "--test"]) } else { &mut cargo });
    }
    run_command(project.node().arg(file).args(quick.then_some("--quick")))
}
