//! The project's own commands: `cargo xtask <command>`. Each does by itself whatever it depends on, and skips what is
//! already done.

mod bench;
mod build;
#[cfg(feature = "calibrate")]
mod calibrate;
mod check;
mod count;
mod demo;
mod imports;
mod manifest;
mod process;
mod project;
mod setup;
mod size;
mod stamp;
mod test;
mod tidy;

use std::process::ExitCode;

use anyhow::{Result, bail};
use project::Project;

const USAGE: &str = "\
cargo xtask <command>

  setup              install what the other commands need: wasm target, wasm-bindgen, npm packages, Chromium
  build              the wasm and the npm package, into pkg/dist
                       --manifest FILE  another wasm-pack.toml      --out DIR  the wasm only, into DIR
  check              formatting, lints, docs and types; warnings are errors
  test               setup, build, check and every test there is
  size               the size table, into README.md; fails above the ceilings
                       --manifest FILE      --out DIR  where `build` put the wasm      --check  write nothing
  demo               print an assembled prompt, build the page and serve it on localhost
                       --once  all but the serving
  bench              the benchmarks and the error table of the token estimator
  calibrate          fit the token estimator again
";

fn main() -> ExitCode {
    match dispatch() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Without the backtrace that `RUST_BACKTRACE` would add: the chain of causes says it all.
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn dispatch() -> Result<()> {
    let mut args: Vec<String> = std::env::args().skip(1).collect();
    let command = if args.is_empty() { String::new() } else { args.remove(0) };
    let project = Project::find()?;
    match command.as_str() {
        "setup" => setup::run(&project, &mut Args(args)),
        "build" => build::run(&project, &mut Args(args)),
        "check" => check::run(&project, &mut Args(args)),
        "test" => test::run(&project, &mut Args(args)),
        "size" => size::run(&project, &mut Args(args)),
        "demo" => demo::run(&project, &mut Args(args)),
        "bench" => bench::run(&project, &mut Args(args)),
        "calibrate" => calibrate(&project, args),
        "" | "help" | "--help" | "-h" => {
            print!("{USAGE}");
            Ok(())
        }
        other => bail!("there is no command `{other}`\n\n{USAGE}"),
    }
}

#[cfg(feature = "calibrate")]
fn calibrate(project: &Project, args: Vec<String>) -> Result<()> {
    calibrate::run(&project.root, &args)
}

/// Runs xtask again with the feature: the calibration needs tiktoken-rs, whose compilation nobody else should wait for.
#[cfg(not(feature = "calibrate"))]
fn calibrate(project: &Project, args: Vec<String>) -> Result<()> {
    let mut cargo = project.cargo();
    cargo.args(["run", "--quiet", "--release", "--package", "xtask", "--features", "calibrate", "--", "calibrate"]);
    process::run(cargo.args(args))
}

/// The arguments of one command, taken one by one; what is left at the end is a mistake.
pub struct Args(Vec<String>);

impl Args {
    /// Takes `--name`.
    pub fn flag(&mut self, name: &str) -> bool {
        let at = self.0.iter().position(|arg| arg == name);
        at.map(|at| self.0.remove(at)).is_some()
    }

    /// Takes `--name VALUE`.
    pub fn value(&mut self, name: &str) -> Result<Option<String>> {
        let Some(at) = self.0.iter().position(|arg| arg == name) else { return Ok(None) };
        if at + 1 == self.0.len() {
            bail!("`{name}` needs a value");
        }
        self.0.remove(at);
        Ok(Some(self.0.remove(at)))
    }

    /// Complains about what nothing took.
    pub fn end(&self) -> Result<()> {
        match self.0.first() {
            Some(arg) => bail!("unknown argument `{arg}`\n\n{USAGE}"),
            None => Ok(()),
        }
    }
}
