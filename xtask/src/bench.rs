//! Benchmarks: `benches/NAME.rs` with divan, `benches/NAME/*.mjs` beside what npm has.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use crate::Args;
use crate::process::{run as run_command, step};
use crate::project::Project;
use crate::stamp::files;
use crate::{build, setup};

/// The one that is a command of its own.
const ESTIMATOR: &str = "estimator";

pub fn run(project: &Project, args: &mut Args) -> Result<()> {
    let mut more: Vec<String> =
        ["--quick", "--first"].into_iter().filter(|flag| args.flag(flag)).map(str::to_owned).collect();
    for option in ["--rounds", "--runtime"] {
        more.extend(args.value(option)?.into_iter().flat_map(|value| [option.to_owned(), value]));
    }
    let asked = args.rest();
    let found = found(project)?;
    let names: Vec<&str> = found.keys().map(String::as_str).chain([ESTIMATOR]).collect();
    if let Some(unknown) = asked.iter().find(|name| !names.contains(&name.as_str())) {
        bail!("there is no benchmark `{unknown}`; there are `{}`", names.join("`, `"));
    }
    setup::all(project)?;
    build::shipped_package(project, &build::own_manifest(project))?;
    for name in names.into_iter().filter(|name| asked.is_empty() || asked.iter().any(|asked| asked == name)) {
        for file in found.get(name).into_iter().flatten() {
            one(project, name, file, &more)?;
        }
        if name == ESTIMATOR {
            step("the token estimator's error");
            crate::with_tiktoken(project, ESTIMATOR, Vec::new())?;
        }
    }
    Ok(())
}

/// The files of each benchmark.
fn found(project: &Project) -> Result<BTreeMap<String, Vec<PathBuf>>> {
    let folder = project.path("benches");
    let mut found: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
    for file in files(&folder)? {
        // What stands deeper, packages among it, is part of one.
        let name = match file.extension().and_then(|extension| extension.to_str()) {
            Some("rs") if file.parent() == Some(&folder) => file.file_stem(),
            Some("mjs") if file.parent().and_then(Path::parent) == Some(&folder) => {
                file.parent().and_then(Path::file_name)
            }
            _ => None,
        };
        if let Some(name) = name.and_then(|name| name.to_str()) {
            found.entry(name.to_owned()).or_default().push(file.clone());
        }
    }
    Ok(found)
}

fn one(project: &Project, name: &str, file: &Path, more: &[String]) -> Result<()> {
    let native = file.extension().is_some_and(|extension| extension == "rs");
    step(&format!("{name}, {}", if native { "natively" } else { "beside npm packages" }));
    if native {
        let mut cargo = project.cargo();
        cargo.args(["bench", "--package", "ctxweave", "--bench", name]);
        // Divan then runs each once.
        let quick = more.iter().any(|flag| flag == "--quick");
        return run_command(if quick { cargo.args(["--", "--test"]) } else { &mut cargo });
    }
    run_command(project.node().arg(file).args(more))
}
