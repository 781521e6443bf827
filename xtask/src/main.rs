//! The project's commands: `cargo xtask <command>`. Each first runs the steps that it depends on, and skips those that
//! are up to date.

mod bench;
mod build;
mod check;
mod count;
mod demo;
#[cfg(feature = "tiktoken")]
mod estimator;
mod features;
mod imports;
mod manifest;
mod models;
mod module;
mod order;
mod process;
mod project;
mod release;
mod setup;
mod site;
mod size;
mod stamp;
mod test;
mod test_bundlers;
mod tidy;
#[cfg(feature = "tiktoken")]
mod vocab;
mod wasm_tests;
mod words;

use std::process::ExitCode;

use anyhow::{Result, bail};
use project::Project;

const USAGE: &str = "\
cargo xtask <command>

  setup              install everything that the other commands need: wasm target, npm packages, Chromium, pip, PostgreSQL
  build              build the wasm modules and the npm package, into pkg/dist
                       --manifest FILE  use another wasm-pack.toml      --out DIR  build the wasm modules only, into DIR
                       --only NAMES     build only these flavors, such as `loom,tokens`; keep the last build of the others
                       --quick          build one module for all entry points in a minute, as `test` and `demo` do
  check              check formatting, lints, docs and types; warnings are errors
  test [SUITE]...    run the checks that a change has to pass: setup, `build --quick`, check and all tests; or only these suites
                       --all  also test the shipped flavors, their sizes, every case, state and bundler
  size               write the size table into docs/loading.md; fail above the ceilings
                       --manifest FILE      --out DIR  the output of `build`      --check  write nothing
  demo               print an assembled prompt, build the page and serve it on localhost
                       --once  do not serve the page
  bench [NAME]...    run these benchmarks, or all of them; `estimator` prints the error table of the token estimator
                       --quick  only check that they run
  release --dry-run  check whether pkg/dist and the crate may be published, and print the commands; publishing is done by hand
  estimator          print the error table of the token estimator for tests/corpus
                       FOLDER   for the .txt files of FOLDER instead      --counts  write tests/corpus/o200k.tsv instead
                       --judge  for the test packages of xtask/estimator.txt, fetched into target/corpus
                       --fit    fit src/tokens/heuristic_weights.bin to the other packages
                       --joins  write src/tokens/heuristic_joins.bin from tiktoken-rs
  test-bundlers [WORD]...
                     test the package in every bundler, framework and runtime, and write the table of docs/loading.md; with
                     words, test only the cases whose names contain all of them, and write no table
  site               build the documentation with search and the API as a site, into target/site/dist
  models             write the table of models, src/tokens/models.txt, from the registry in LiteLLM's Python package
                       --registry FILE  from this JSON file instead
  vocab              build the vocabulary assets that `build` puts into pkg/dist/vocab
                       --out DIR    into DIR      --unicode  build the tables of character classes instead
                       --from FILE  convert this `tokenizer.json` into the file of `--out`
                       --counts     write tiktoken's counts into tests/runtimes/counts.json
  words              print the messages of all errors and diagnostics in tests/golden as a table; `!` marks those over 160 characters
";

fn main() -> ExitCode {
    match dispatch() {
        Ok(code) => code,
        Err(error) => {
            // Without the backtrace that `RUST_BACKTRACE` would add: the chain of causes suffices.
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn dispatch() -> Result<ExitCode> {
    let mut args: Vec<String> = std::env::args().skip(1).collect();
    let command = if args.is_empty() { String::new() } else { args.remove(0) };
    let project = Project::find()?;
    match command.as_str() {
        "setup" => setup::run(&project, &mut Args(args)),
        "build" => build::run(&project, &mut Args(args)),
        "check" => check::run(&project, &mut Args(args)),
        // Failed tests are no error to print: their count is the last line.
        "test" => return test::run(&project, &mut Args(args)),
        "size" => size::run(&project, &mut Args(args)),
        "demo" => demo::run(&project, &mut Args(args)),
        "release" => release::run(&project, &mut Args(args)),
        "site" => site::run(&project, &mut Args(args)),
        "test-bundlers" => test_bundlers::run(&project, &mut Args(args)),
        "models" => models::run(&project, &mut Args(args)),
        "bench" => bench::run(&project, &mut Args(args)),
        "words" => words::run(&project, &mut Args(args)),
        "estimator" | "vocab" => with_tiktoken(&project, &command, args),
        "" | "help" | "--help" | "-h" => {
            print!("{USAGE}");
            Ok(())
        }
        other => bail!("unknown command `{other}`\n\n{USAGE}"),
    }?;
    Ok(ExitCode::SUCCESS)
}

/// The commands that need tiktoken-rs.
#[cfg(feature = "tiktoken")]
pub fn with_tiktoken(project: &Project, command: &str, args: Vec<String>) -> Result<()> {
    match command {
        "estimator" => estimator::run(project, &mut Args(args)),
        _ => vocab::run(project, &mut Args(args)),
    }
}

/// Runs xtask again with the feature, so that other commands do not wait for the compilation of tiktoken-rs. The
/// estimator is optimised, but without LTO, which would take longer than it saves. The vocabularies use the crates that
/// the tests have compiled already.
#[cfg(not(feature = "tiktoken"))]
pub fn with_tiktoken(project: &Project, command: &str, args: Vec<String>) -> Result<()> {
    let mut cargo = project.cargo();
    cargo.args(["run", "--quiet", "--package", "xtask", "--features", "tiktoken"]);
    if command == "estimator" {
        cargo.args([
            "--release",
            "--config",
            "profile.release.lto=false",
            "--config",
            "profile.release.codegen-units=16",
        ]);
    }
    process::run(cargo.args(["--", command]).args(args))
}

/// The arguments of one command, taken one by one; any left at the end are an error.
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

    /// Takes all that is left.
    pub fn rest(&mut self) -> Vec<String> {
        std::mem::take(&mut self.0)
    }

    /// Complains about what nothing took.
    pub fn end(&self) -> Result<()> {
        match self.0.first() {
            Some(arg) => bail!("unknown argument `{arg}`\n\n{USAGE}"),
            None => Ok(()),
        }
    }
}
