//! From the crate to pkg/dist: cargo, wasm-bindgen, wasm-opt, then the TypeScript around it.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;

use anyhow::{Context, Result, anyhow, bail, ensure};

use crate::Args;
use crate::manifest::{Build, Flavour, Manifest, PACKAGE};
use crate::process::{output, run as run_command, step, succeeded, watch};
use crate::project::Project;
use crate::stamp::Inputs;
use crate::{closures, features, imports, order, panics, setup, unused};

/// The custom section by which the package knows its own module and its version.
const VERSION_SECTION: &str = "ctxweave";

const TARGET: &str = "wasm32-unknown-unknown";

pub fn run(project: &Project, args: &mut Args) -> Result<()> {
    let manifest = manifest_path(project, args)?;
    let out = args.value("--out")?;
    let only = args.value("--only")?;
    args.end()?;
    setup::for_build(project)?;
    match (out, only) {
        (Some(_), Some(_)) => bail!("`--only` is for pkg/dist: it does not go with `--out`"),
        (Some(out), None) => wasm_of_all(project, &Manifest::read(&manifest)?, Path::new(&out)),
        (None, Some(only)) => package_of(project, &manifest, Scope::Anew(&only.split(',').collect::<Vec<_>>())),
        (None, None) => package(project, &manifest),
    }
}

/// `--manifest FILE`, or the project's own.
pub fn manifest_path(project: &Project, args: &mut Args) -> Result<PathBuf> {
    Ok(args.value("--manifest")?.map_or_else(|| project.path("wasm-pack.toml"), PathBuf::from))
}

/// Where a flavour's files are, below the folder of all of them.
pub fn flavour_dir(out: &Path, name: &str) -> PathBuf {
    if name == "default" { out.to_owned() } else { out.join(name) }
}

/// Where the npm packages are, from the root.
pub const PACKAGES: &[(&str, &str)] =
    &[(PACKAGE, "pkg"), ("ctxweave-tiktoken", "pkg/tiktoken"), ("ctxweave-vocab", "pkg/vocabularies")];

/// The folder that is built for an npm package.
pub fn dist(project: &Project, package: &str) -> Result<PathBuf> {
    let found = PACKAGES.iter().find(|(name, _)| *name == package);
    let (_, folder) = found.with_context(|| format!("there is no npm package `{package}`"))?;
    Ok(project.path(folder).join("dist"))
}

/// Builds `dist` of each npm package, unless nothing that it depends on has changed. The modules and the vocabularies are
/// made aside and kept: only what has changed is made again.
pub fn package(project: &Project, manifest: &Path) -> Result<()> {
    package_of(project, manifest, Scope::All)
}

/// Which flavours are made, and what becomes of the others.
#[derive(Clone, Copy)]
enum Scope<'a> {
    All,
    /// These are made anew, the others stay as they were last built.
    Anew(&'a [&'a str]),
}

impl Scope<'_> {
    /// The flavours that are named; those of all are not.
    fn named(&self) -> &[&str] {
        match self {
            Scope::All => &[],
            Scope::Anew(names) => names,
        }
    }

    fn makes(&self, name: &str) -> bool {
        matches!(self, Scope::All) || self.named().contains(&name)
    }
}

fn package_of(project: &Project, manifest: &Path, scope: Scope<'_>) -> Result<()> {
    let parsed = Manifest::read(manifest)?;
    for name in scope.named() {
        ensure!(parsed.flavours.contains_key(*name), "there is no flavour `{name}`");
    }
    let mut jobs = Vec::new();
    for (name, flavour) in &parsed.flavours {
        if scope.makes(name) {
            jobs.extend(kept_wasm(project, &parsed.build, name, flavour)?);
        } else {
            let kept = kept_flavour(project, name);
            ensure!(kept.exists(), "flavour `{name}` was never built: build it, too");
        }
    }
    // The end of a module's compilation takes one core: the other one makes the vocabularies.
    thread::scope(|threads| {
        let assets = threads.spawn(|| vocabularies(project));
        modules(project, &parsed.build, jobs)?;
        assets.join().map_err(|_| anyhow!("a thread panicked"))?
    })?;

    let dists = PACKAGES.iter().map(|(name, _)| dist(project, name)).collect::<Result<Vec<_>>>()?;
    let stamp = project.scratch().join("build.stamp");
    let inputs = || dists.iter().try_fold(package_inputs(project, &parsed)?, |inputs, dist| inputs.path(dist));
    if inputs()?.are_done(&stamp) {
        return Ok(());
    }
    for ((package, _), dist) in PACKAGES.iter().zip(&dists) {
        let mut flavours: Vec<&String> =
            parsed.flavours.iter().filter(|(_, flavour)| flavour.package == *package).map(|(name, _)| name).collect();
        flavours.sort_by_key(|name| *name != "default");
        // Made aside and put in place at the end: whoever uses the package meanwhile never sees half of it.
        let fresh = project.scratch().join("dist");
        remove(&fresh)?;
        step(&format!("TypeScript ({package})"));
        let mut node = project.node();
        run_command(node.args(["pkg/build.mjs", package]).arg(project.scratch()).arg(&fresh).args(flavours))?;
        remove(dist)?;
        fs::rename(&fresh, dist).with_context(|| format!("cannot put the build into `{}`", dist.display()))?;
    }
    inputs()?.set_done(&stamp)
}

/// Where the module of a flavour is kept.
fn kept_flavour(project: &Project, name: &str) -> PathBuf {
    project.scratch().join("flavours").join(name)
}

/// Where the vocabulary assets are kept.
fn kept_vocabularies(project: &Project) -> PathBuf {
    project.scratch().join("vocab")
}

/// Everything that decides what is in pkg/dist, given the modules.
fn package_inputs(project: &Project, manifest: &Manifest) -> Result<Inputs> {
    let mut inputs = Inputs::default().path(&kept_vocabularies(project))?;
    for name in manifest.flavours.keys() {
        inputs = inputs.path(&kept_flavour(project, name))?;
    }
    for path in [
        "xtask/src/build.rs",
        "package-lock.json",
        "pkg/src",
        "pkg/build.mjs",
        "docs",
        "pkg/exports.mjs",
        "pkg/tsconfig.json",
        "pkg/tsconfig.types.json",
        "pkg/tiktoken/tsconfig.json",
        "pkg/vocabularies/tsconfig.json",
    ] {
        inputs = inputs.path(&project.path(path))?;
    }
    Ok(inputs)
}

/// A module to be made.
struct Job<'a> {
    name: &'a str,
    flavour: &'a Flavour,
    out: PathBuf,
    /// What it depends on and where that is noted once it is made. It was looked at before: whoever edits something
    /// meanwhile gets another build the next time.
    stamp: Option<(Inputs, PathBuf)>,
}

/// The module of a flavour that is kept, unless nothing that it depends on has changed.
fn kept_wasm<'a>(project: &Project, build: &Build, name: &'a str, flavour: &'a Flavour) -> Result<Option<Job<'a>>> {
    let dir = kept_flavour(project, name);
    let stamp = project.scratch().join(format!("wasm-{name}.stamp"));
    let inputs = || -> Result<Inputs> {
        let mut inputs = Inputs::default().text(&output(project.command("rustc").arg("-vV"))?);
        inputs = inputs.text(&format!(
            "{build:?} {:?} {:?} {:?}",
            cargo_features(flavour),
            flavour.rustc,
            flavour.wasm_opt_level
        ));
        inputs = inputs.text(&flavour.imports.join(" "));
        for path in [
            "src",
            "docs/crate.md",
            "Cargo.toml",
            "Cargo.lock",
            ".cargo",
            "xtask/src/build.rs",
            "xtask/src/closures.rs",
            "xtask/src/order.rs",
            "xtask/src/panics.rs",
            "xtask/src/unused.rs",
        ] {
            inputs = inputs.path(&project.path(path))?;
        }
        inputs.path(&project.path("package-lock.json"))
    };
    let before = inputs()?;
    if inputs()?.path(&dir)?.are_done(&stamp) {
        return Ok(None);
    }
    remove(&dir)?;
    Ok(Some(Job { name, flavour, out: dir, stamp: Some((before, stamp)) }))
}

/// Makes modules: each is compiled while wasm-opt is at work on the one before.
fn modules(project: &Project, build: &Build, jobs: Vec<Job<'_>>) -> Result<()> {
    thread::scope(|scope| {
        let mut running = Vec::new();
        for job in jobs {
            let name = job.name;
            let failed = move || format!("cannot build flavour `{name}`");
            step(&format!("cargo rustc ({name}, for wasm32: half a minute to a minute)"));
            let module = compile(project, build, job.flavour).with_context(failed)?;
            running.push(scope.spawn(move || finish(project, build, job, module).with_context(failed)));
        }
        running.into_iter().try_for_each(|thread| thread.join().map_err(|_| anyhow!("a thread panicked"))?)
    })
}

/// Makes the vocabulary assets, unless nothing that they depend on has changed.
fn vocabularies(project: &Project) -> Result<()> {
    let dir = kept_vocabularies(project);
    let stamp = project.scratch().join("vocab.stamp");
    let inputs = || -> Result<Inputs> {
        let version = setup::locked_version(project, "tiktoken-rs")?;
        let inputs = Inputs::default().text(&version).path(&project.path("xtask/src/vocab.rs"))?;
        inputs.path(&project.path("src/tokens/bpe"))
    };
    let before = inputs()?;
    if inputs()?.path(&dir)?.are_done(&stamp) {
        return Ok(());
    }
    step("vocabularies (a minute or two, once, in the background)");
    remove(&dir)?;
    let out = dir.to_str().context("the target folder has a name that is no text")?.to_owned();
    crate::with_tiktoken(project, "vocab", vec!["--out".to_owned(), out])?;
    before.path(&dir)?.set_done(&stamp)
}

fn wasm_of_all(project: &Project, manifest: &Manifest, out: &Path) -> Result<()> {
    let job = |(name, flavour)| Job { name, flavour, out: flavour_dir(out, name), stamp: None };
    modules(
        project,
        &manifest.build,
        manifest.flavours.iter().map(|(name, flavour)| job((name.as_str(), flavour))).collect(),
    )
}

/// Makes `ctxweave.wasm` and `glue.js` out of what cargo compiled.
fn finish(project: &Project, build: &Build, job: Job<'_>, module: Vec<u8>) -> Result<()> {
    let Job { name, flavour, out, stamp } = job;
    step(&format!("wasm-bindgen ({name})"));
    let mut module = unused::empty(&module)?;
    features::disclaim(&mut module, &build.without_features)?;
    let bound = project.scratch().join("bindgen").join(name);
    remove(&bound)?;
    fs::create_dir_all(&bound)?;
    let plain = bound.join("plain.wasm");
    fs::write(&plain, module)?;
    let mut bindgen = project.command(project.tool("wasm-bindgen"));
    bindgen.args(["--target", "web", "--no-typescript", "--out-name", "glue"]).args(&build.wasm_bindgen);
    run_command(bindgen.arg("--out-dir").arg(&bound).arg(plain))?;

    step(&format!("wasm-opt ({name})"));
    fs::create_dir_all(&out)?;
    let module = out.join("ctxweave.wasm");
    let trapping = bound.join("trapping.wasm");
    let mut glued = fs::read(bound.join("glue_bg.wasm"))?;
    closures::unlist(&mut glued)?;
    fs::write(&trapping, panics::trap(&glued)?)?;
    let mut opt = project.npm_bin("wasm-opt");
    // Its passes run in the order in which they are given: the level, which stands for most of them, comes last.
    opt.args(&build.wasm_opt).arg(&flavour.wasm_opt_level);
    run_command(opt.arg(&trapping).arg("-o").arg(&module))?;
    let named = bound.join("named.wasm");
    fs::write(&named, order::named(&fs::read(&module)?)?)?;
    let features = build.wasm_opt.iter().filter(|flag| flag.starts_with("--enable-"));
    let mut sort = project.npm_bin("wasm-opt");
    // The passes after the first keep what wasm-opt reads and writes again from becoming any larger.
    sort.args(features).args(["--reorder-functions-by-name", "--coalesce-locals", "--reorder-locals"]);
    sort.args(["--shrink-level=1", "--generate-stack-ir", "--optimize-stack-ir"]);
    run_command(sort.arg(&named).arg("-o").arg(&module))?;

    let mut bytes = fs::read(&module)?;
    imports::check(&bytes, &flavour.imports)?;
    append_custom_section(&mut bytes, VERSION_SECTION, env!("CARGO_PKG_VERSION"))?;
    fs::write(&module, bytes)?;
    // wasm-bindgen 0.2.130 starts a fresh instance with a function that a module without reference types does not have.
    let glue = fs::read_to_string(bound.join("glue.js"))?.replace("__wbindgen_start();", "__wbindgen_start?.();");
    // A name for the default export: what `default` is in CommonJS depends on who compiles it.
    fs::write(out.join("glue.js"), glue + "\nexport { __wbg_init as initAsync };\n")?;
    match stamp {
        Some((before, stamp)) => before.path(&out)?.set_done(&stamp),
        None => Ok(()),
    }
}

/// Runs cargo and gives the module.
fn compile(project: &Project, build: &Build, flavour: &Flavour) -> Result<Vec<u8>> {
    // What cargo said when it last compiled with these profiles; when nothing has changed it says nothing.
    let inputs = Inputs::default()
        .text(&build.profile)
        .text(&build.target_features.join(","))
        .text(&build.without_features.join(","))
        .text(&build.llvm_args.join(","))
        .text(&cargo_features(flavour).join(" "))
        .text(&flavour.rustc.join(" "))
        .path(&project.path("Cargo.toml"))?
        .path(&project.path(".cargo"))?;
    let record = project.scratch().join("lto").join(inputs.hash());
    let mut lto = cargo_rustc(project, build, flavour)?.or_else(|| fs::read_to_string(&record).ok()?.parse().ok());
    if lto.is_none() {
        let clean = ["clean", "--package", "ctxweave", "--target", TARGET, "--profile", &build.profile];
        run_command(project.cargo().args(clean))?;
        lto = cargo_rustc(project, build, flavour)?;
    }
    let lto = lto.context("cargo compiled ctxweave without saying how")?;
    fs::create_dir_all(project.scratch().join("lto"))?;
    fs::write(&record, lto.to_string())?;
    if build.lto && !lto {
        bail!("cargo did not tell rustc to link with LTO: see the profile `{}` in Cargo.toml", build.profile);
    }
    let compiled = project.target.join(TARGET).join(profile_dir(&build.profile)).join("ctxweave.wasm");
    fs::read(&compiled).with_context(|| format!("cannot read `{}`", compiled.display()))
}

/// Compiles the module and says whether with LTO; nothing when there was nothing to do.
fn cargo_rustc(project: &Project, build: &Build, flavour: &Flavour) -> Result<Option<bool>> {
    let mut cargo = project.cargo();
    // The crate type is given here, not in Cargo.toml: with more than one cargo turns LTO off (rust-lang/cargo#9672).
    cargo.args(["rustc", "--package", "ctxweave", "--lib", "--crate-type", "cdylib", "--target", TARGET]);
    cargo.args(["--locked", "--verbose", "--profile", &build.profile]).args(cargo_features(flavour));
    // The relocations are for `unused`.
    cargo.arg("--").args(&flavour.rustc).arg("-Clink-arg=--emit-relocs");
    cargo.env("CARGO_ENCODED_RUSTFLAGS", rustflags(project, build)?).env("CARGO_TERM_COLOR", "never");
    let mut lto = None;
    let status = watch(&mut cargo, |line| {
        let line = line.trim_start();
        if line.starts_with("Running `") && line.contains(" --crate-name ctxweave ") {
            lto = Some(line.contains(" -C lto"));
        }
        !(line.starts_with("Running `") || line.starts_with("Fresh ") || line.starts_with("Dirty "))
    })?;
    succeeded(&cargo, status)?;
    Ok(lto)
}

/// The flags that choose the areas and what else is in a flavour.
fn cargo_features(flavour: &Flavour) -> Vec<String> {
    let none = (!flavour.default_features).then(|| "--no-default-features".to_owned());
    none.into_iter().chain([format!("--features={}", flavour.features.join(","))]).collect()
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

/// Adds a custom section at the end of a module.
fn append_custom_section(module: &mut Vec<u8>, name: &str, content: &str) -> Result<()> {
    let size = 1 + name.len() + content.len();
    ensure!(size < 0x80, "a custom section of {size} bytes needs a longer size field");
    module.extend([0, size as u8, name.len() as u8]);
    module.extend(name.bytes().chain(content.bytes()));
    Ok(())
}

fn remove(dir: &Path) -> Result<()> {
    if dir.exists() {
        fs::remove_dir_all(dir).with_context(|| format!("cannot remove `{}`", dir.display()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

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
