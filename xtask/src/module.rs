//! One module, from the crate to `ctxweave.wasm` and `glue.js`: cargo, wasm-bindgen, wasm-opt.

use std::collections::VecDeque;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::thread;

use anyhow::{Context, Result, anyhow, bail, ensure};
use wasm_bindgen_cli_support::Bindgen;
use wasmparser::{Parser, Payload};

use crate::manifest::Build;
use crate::process::{output, run as run_command, step, succeeded, watch};
use crate::project::Project;
use crate::stamp::Inputs;
use crate::{features, imports, order};

/// The custom section by which the package knows its own module and its version.
const VERSION_SECTION: &str = "ctxweave";

/// The custom section of a module that is not to be published. It names the cargo profile.
const QUICK_SECTION: &str = "quick-build";

const TARGET: &str = "wasm32-unknown-unknown";

/// How many modules with LTO are made at a time. Linking takes one core; more than two need more memory than they save time.
const MAX_LANES: usize = 2;

/// All that decides what becomes of the sources, besides [`Build`].
#[derive(Debug)]
pub struct Recipe {
    /// The cargo profile.
    pub profile: String,
    /// Whether the build fails unless rustc was told to optimise across crates.
    pub lto: bool,
    /// The flags that choose cargo features.
    pub features: Vec<String>,
    /// Flags of rustc for our own crate.
    pub rustc: Vec<String>,
    /// How hard wasm-opt tries. Without a level the module stays as wasm-bindgen writes it, and is marked as a quick one.
    pub wasm_opt_level: Option<String>,
    /// What the module may import.
    pub shared_imports: Vec<String>,
    /// What it must import besides.
    pub own_imports: Vec<String>,
}

/// A module to make.
pub struct Job {
    pub name: String,
    pub recipe: Recipe,
    /// The folder for `ctxweave.wasm` and `glue.js`.
    pub out: PathBuf,
    /// What it depends on, read before the build so that an edit during it leads to another build, and where that is noted at the end.
    pub stamp: Option<(Inputs, PathBuf)>,
}

/// Makes modules. Those with LTO are made two at a time, each in its own target folder, which cargo locks while rustc links. Without LTO
/// rustc uses all cores.
pub fn make_all(project: &Project, build: &Build, jobs: Vec<Job>) -> Result<()> {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let max_lanes = if jobs.iter().all(|job| job.recipe.lto) { MAX_LANES } else { 1 };
    let lanes = jobs.len().min(cores).min(max_lanes);
    let queue = Mutex::new(VecDeque::from(jobs));
    let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
    let run_lane = |lane: usize| -> Result<()> {
        let target = if lane == 0 { project.target.clone() } else { project.scratch().join(format!("lane-{lane}")) };
        while let Some(job) = next() {
            let name = job.name.clone();
            make(project, build, job, &target).with_context(|| format!("cannot build the module `{name}`"))?;
        }
        Ok(())
    };
    let run_lane = &run_lane;
    thread::scope(|scope| {
        let running: Vec<_> = (0..lanes).map(|lane| scope.spawn(move || run_lane(lane))).collect();
        running.into_iter().try_for_each(|thread| thread.join().map_err(|_| anyhow!("a thread panicked"))?)
    })
}

fn make(project: &Project, build: &Build, job: Job, target: &Path) -> Result<()> {
    let Job { name, recipe, out, stamp } = job;
    step(&format!("cargo rustc ({name}, for wasm32: about a minute)"));
    let mut module = compile(project, build, &recipe, target)?;
    features::mark_unused(&mut module, &build.without_features)?;

    step(&format!("wasm-bindgen ({name})"));
    let scratch = project.scratch().join("modules").join(&name);
    fs::create_dir_all(&scratch)?;
    let (mut module, glue) = bind(build, module, &scratch)?;
    if let Some(level) = &recipe.wasm_opt_level {
        step(&format!("wasm-opt ({name})"));
        module = optimize(project, build, level, &scratch)?;
    } else {
        append_custom_section(&mut module, QUICK_SECTION, &recipe.profile)?;
    }
    imports::check(&module, &recipe.shared_imports, &recipe.own_imports)?;
    append_custom_section(&mut module, VERSION_SECTION, env!("CARGO_PKG_VERSION"))?;

    fs::create_dir_all(&out)?;
    fs::write(out.join("ctxweave.wasm"), module)?;
    fs::write(out.join("glue.js"), glue)?;
    match stamp {
        Some((before, stamp)) => before.path(&out)?.set_done(&stamp),
        None => Ok(()),
    }
}

/// Runs cargo and gives the module.
fn compile(project: &Project, build: &Build, recipe: &Recipe, target: &Path) -> Result<Vec<u8>> {
    let Recipe { profile, .. } = recipe;
    // What cargo printed when it last compiled with these profiles; it prints nothing if nothing has changed.
    let flags = [&build.target_features, &build.without_features, &build.llvm_args, &recipe.features, &recipe.rustc];
    let inputs = Inputs::default()
        .text(&format!("{profile} {flags:?} {}", target.display()))
        .path(&project.path("Cargo.toml"))?
        .path(&project.path(".cargo"))?;
    let record = project.scratch().join("lto").join(inputs.hash());
    let recorded = || fs::read_to_string(&record).ok()?.parse().ok();
    let mut has_lto = cargo_rustc(project, build, recipe, target)?.or_else(recorded);
    if has_lto.is_none() {
        let mut cargo = project.cargo();
        cargo.args(["clean", "--package", "ctxweave", "--target", TARGET, "--profile", profile]);
        run_command(cargo.arg("--target-dir").arg(target))?;
        has_lto = cargo_rustc(project, build, recipe, target)?;
    }
    let has_lto = has_lto.context("cargo compiled ctxweave without printing how")?;
    fs::create_dir_all(project.scratch().join("lto"))?;
    fs::write(&record, has_lto.to_string())?;
    if recipe.lto && !has_lto {
        bail!("cargo did not tell rustc to link with LTO: see the profile `{profile}` in Cargo.toml");
    }
    let compiled = target.join(TARGET).join(profile_dir(profile)).join("ctxweave.wasm");
    fs::read(&compiled).with_context(|| format!("cannot read `{}`", compiled.display()))
}

/// Compiles the module and returns whether with LTO; nothing if there was nothing to do.
fn cargo_rustc(project: &Project, build: &Build, recipe: &Recipe, target: &Path) -> Result<Option<bool>> {
    let mut cargo = project.cargo();
    // The crate type is given here, not in Cargo.toml: with more than one cargo turns LTO off (rust-lang/cargo#9672).
    cargo.args(["rustc", "--package", "ctxweave", "--lib", "--crate-type", "cdylib", "--target", TARGET]);
    cargo
        .args(["--locked", "--verbose", "--profile", &recipe.profile])
        .arg(format!("--features={}", recipe.features.join(",")));
    cargo.arg("--target-dir").arg(target).arg("--").args(&recipe.rustc);
    cargo.env("CARGO_ENCODED_RUSTFLAGS", rustflags(project, build)?).env("CARGO_TERM_COLOR", "never");
    let mut has_lto = None;
    let status = watch(&mut cargo, |line| {
        let line = line.trim_start();
        if line.starts_with("Running `") && line.contains(" --crate-name ctxweave ") {
            has_lto = Some(line.contains(" -C lto") && !line.contains(" -C lto=off"));
        }
        !(line.starts_with("Running `") || line.starts_with("Fresh ") || line.starts_with("Dirty "))
    })?;
    succeeded(&cargo, status)?;
    Ok(has_lto)
}

/// What rustc is told besides what the profile says.
fn rustflags(project: &Project, build: &Build) -> Result<String> {
    let mut flags = vec![remapped_paths(project)?];
    flags.extend(build.target_features.iter().map(|feature| format!("-Ctarget-feature=+{feature}")));
    flags.extend(build.without_features.iter().map(|feature| format!("-Ctarget-feature=-{feature}")));
    flags.extend(build.llvm_args.iter().map(|arg| format!("-Cllvm-args={arg}")));
    Ok(flags.join("\x1f"))
}

/// Panic messages hold the path of the source: without this the module would differ from machine to machine. The standard
/// library names its own sources by the commit, unless they are installed.
fn remapped_paths(project: &Project) -> Result<String> {
    let named = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = named.or_else(|| Some(std::env::home_dir()?.join(".cargo"))).context("there is no home folder")?;
    let sysroot = output(project.command("rustc").args(["--print", "sysroot"]))?;
    let about = output(project.command("rustc").arg("-vV"))?;
    let commit = about.lines().find_map(|line| line.strip_prefix("commit-hash: ")).context("rustc has no commit")?;
    let standard = Path::new(sysroot.trim()).join("lib/rustlib/src/rust");
    Ok(remap(&[(&home.join("registry/src"), ""), (&project.root, ""), (&standard, &format!("/rustc/{commit}"))]))
}

/// The flags that put other folders in place of these. The last that fits counts.
fn remap(folders: &[(&Path, &str)]) -> String {
    let flags = folders.iter().map(|(from, to)| format!("--remap-path-prefix={}={to}", from.display()));
    flags.collect::<Vec<_>>().join("\x1f")
}

/// The folder that cargo names after a profile.
fn profile_dir(profile: &str) -> &str {
    match profile {
        "dev" | "test" => "debug",
        "bench" => "release",
        other => other,
    }
}

/// Runs wasm-bindgen, into a folder: the module, `glue_bg.wasm`, and its glue.
fn bind(build: &Build, module: Vec<u8>, folder: &Path) -> Result<(Vec<u8>, String)> {
    let mut bindgen = Bindgen::new();
    bindgen.web(true)?.typescript(false).input_bytes("glue", module);
    build.wasm_bindgen.iter().for_each(|option| option.apply(&mut bindgen));
    // Only the file that it writes is formatted.
    bindgen.generate(folder)?;
    // wasm-bindgen 0.2.130 starts a fresh instance with a function that a module without reference types does not have.
    let glue = fs::read_to_string(folder.join("glue.js"))?.replace("__wbindgen_start();", "__wbindgen_start?.();");
    // A name for the default export: what `default` is in CommonJS depends on who compiles it.
    let glue = glue + "\nexport { __wbg_init as initAsync };\n";
    Ok((fs::read(folder.join("glue_bg.wasm"))?, glue))
}

/// Runs wasm-opt, and again to put the functions into an order that compresses well. `folder` has the module that
/// wasm-bindgen wrote.
fn optimize(project: &Project, build: &Build, level: &str, folder: &Path) -> Result<Vec<u8>> {
    let [bound, optimized, named, ordered] =
        ["glue_bg", "optimized", "named", "ordered"].map(|stage| folder.join(stage).with_extension("wasm"));
    let mut opt = project.npm_bin("wasm-opt");
    // Its passes run in the order in which they are given: the level, which stands for most of them, comes last.
    run_command(opt.args(&build.wasm_opt).arg(level).arg(&bound).arg("-o").arg(&optimized))?;
    fs::write(&named, order::with_sorting_names(&fs::read(&optimized)?)?)?;
    let features = build.wasm_opt.iter().filter(|flag| flag.starts_with("--enable-"));
    let mut sort = project.npm_bin("wasm-opt");
    // The passes after the first keep what wasm-opt reads and writes again from becoming any larger.
    sort.args(features).args(["--reorder-functions-by-name", "--coalesce-locals", "--reorder-locals"]);
    sort.args(["--shrink-level=1", "--generate-stack-ir", "--optimize-stack-ir"]);
    run_command(sort.arg(&named).arg("-o").arg(&ordered))?;
    Ok(fs::read(&ordered)?)
}

/// Whether a module is marked as one that is not to be published.
pub fn is_quick(module: &[u8]) -> Result<bool> {
    for payload in Parser::new(0).parse_all(module) {
        if let Payload::CustomSection(section) = payload.context("the module is damaged")?
            && section.name() == QUICK_SECTION
        {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Adds a custom section at the end of a module.
fn append_custom_section(module: &mut Vec<u8>, name: &str, content: &str) -> Result<()> {
    let size = 1 + name.len() + content.len();
    ensure!(size < 0x80, "a custom section of {size} bytes needs a longer size field");
    module.extend([0, size as u8, name.len() as u8]);
    module.extend(name.bytes().chain(content.bytes()));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quick_module_is_known_by_its_section() {
        let mut module = b"\0asm\x01\0\0\0".to_vec();
        append_custom_section(&mut module, VERSION_SECTION, "1.2.3").unwrap();
        assert!(!is_quick(&module).unwrap());
        append_custom_section(&mut module, QUICK_SECTION, "wasm-quick").unwrap();
        assert!(is_quick(&module).unwrap());
    }

    #[test]
    fn no_folder_of_this_machine_gets_into_a_module() {
        let project = Project::find().unwrap();
        let flags = remapped_paths(&project).unwrap();
        let flags: Vec<_> = flags.split('\x1f').collect();
        assert!(flags.contains(&format!("--remap-path-prefix={}=", project.root.display()).as_str()), "{flags:?}");
        // The sources of the standard library are there only where the component `rust-src` is installed.
        let standard = flags.iter().find(|flag| flag.contains("/lib/rustlib/src/rust=/rustc/")).unwrap();
        let (_, commit) = standard.rsplit_once('/').unwrap();
        assert!(commit.len() == 40 && commit.bytes().all(|byte| byte.is_ascii_hexdigit()), "{standard}");
    }
}
