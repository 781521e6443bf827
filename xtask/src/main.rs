//! The project's own commands: `cargo xtask <command>`. Each does by itself whatever it depends on, and skips what is
//! already done.

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
mod words;

use std::process::ExitCode;

use anyhow::{Result, bail};
use project::Project;

const USAGE: &str = "\
cargo xtask <command>

  setup              install what the other commands need: wasm target, npm packages, Chromium, pip, PostgreSQL, wasm-bindgen-test-runner
  build              the wasm and the npm package, into pkg/dist
                       --manifest FILE  another wasm-pack.toml      --out DIR  the wasm only, into DIR
                       --only NAMES     of the flavors only these, as `loom,tokens`; the others stay as they were last built
                       --quick          one module for all entry points, compiled in a minute, as `test` and `demo` use it
  check              formatting, lints, docs and types; warnings are errors
  test [SUITE]...    what must hold before a change lands: setup, `build --quick`, check and the tests; with names only these suites
                       --all  everything: the flavors as they are shipped, their sizes, every case, state and bundler
  size               the size table, into docs/loading.md; fails above the ceilings
                       --manifest FILE      --out DIR  where `build` put the wasm      --check  write nothing
  demo               print an assembled prompt, build the page and serve it on localhost
                       --once  all but the serving
  bench [NAME]...    the benchmarks, `estimator` (the error table of the token estimator) among them; all of them
                     without a name
                       --quick  only to see that they run
  release            whether what is in pkg/dist and the crate may be published, and by which commands
                       --dry-run  only that; it is all that there is: publishing is done by hand
  estimator          the error table of the token estimator
                       FOLDER  of its .txt files, not of tests/corpus      --counts  tests/corpus/o200k.tsv instead
                       --judge  of the packages in xtask/estimator.txt that are not fitted, fetched into target/corpus
                       --fit    fits src/tokens/heuristic_weights.bin to the others
                       --joins  writes src/tokens/heuristic_joins.bin from tiktoken-rs
  test-bundlers [WORD]...
                     the package in every bundler, framework and runtime, and the table of docs/loading.md; with words only the
                     cases whose names have them all, and no table
  site               the documentation with a search and the API, as a site, into target/site/dist
  models             what models there are, into src/tokens/models.txt, from the registry in LiteLLM's Python package
                       --registry FILE  from that JSON instead
  vocab              the vocabulary assets, which `build` puts into pkg/dist/vocab
                       --out DIR    into DIR      --unicode  the tables of character classes instead
                       --from FILE  of that `tokenizer.json`, into the file that `--out` names
                       --counts     what tiktoken counts, into tests/runtimes/counts.json
  words              the messages of all errors and diagnostics in tests/golden, as a table; `!` marks those over 160 characters
";

fn main() -> ExitCode {
    match dispatch() {
        Ok(code) => code,
        Err(error) => {
            // Without the backtrace that `RUST_BACKTRACE` would add: the chain of causes says it all.
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

/// Runs xtask again with the feature: nobody else should wait for the compilation of tiktoken-rs. The estimator is optimised, but
/// without LTO, which would take longer than it saves. The vocabularies use the crates that the tests have compiled already.
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
