//! From the crate to pkg/dist: cargo, wasm-bindgen, wasm-opt, then the TypeScript around it.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};

use crate::Args;
use crate::manifest::{Build, Flavour, Manifest};
use crate::process::{output, run as run_command, step, succeeded, watch};
use crate::project::Project;
use crate::stamp::{Inputs, files};
use crate::{features, imports, setup};

/// The custom section by which the package knows its own module and its version.
const VERSION_SECTION: &str = "ctxweave";

const TARGET: &str = "wasm32-unknown-unknown";

pub fn run(project: &Project, args: &mut Args) -> Result<()> {
    let manifest = manifest_path(project, args)?;
    let out = args.value("--out")?;
    args.end()?;
    setup::all(project)?;
    match out {
        Some(out) => wasm_of_all(project, &Manifest::read(&manifest)?, Path::new(&out)),
        None => package(project, &manifest),
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

/// Builds pkg/dist, unless nothing that it depends on has changed. The modules and the vocabularies are made aside and
/// kept: only what has changed is made again.
pub fn package(project: &Project, manifest: &Path) -> Result<()> {
    let parsed = Manifest::read(manifest)?;
    vocabularies(project)?;
    for (name, flavour) in &parsed.flavours {
        kept_wasm(project, &parsed.build, name, flavour).with_context(|| format!("cannot build flavour `{name}`"))?;
    }

    let dist = project.path("pkg/dist");
    let stamp = project.scratch().join("build.stamp");
    if package_inputs(project, &parsed)?.path(&dist)?.are_done(&stamp) {
        return Ok(());
    }
    // Made aside and put in place at the end: whoever uses the package meanwhile never sees half of it.
    let fresh = project.scratch().join("dist");
    remove(&fresh)?;
    copy_files(&kept_vocabularies(project), &fresh.join("vocab"))?;
    for name in parsed.flavours.keys() {
        let dir = flavour_dir(&fresh, name);
        copy_files(&kept_flavour(project, name), &dir)?;
        step(&format!("TypeScript ({name})"));
        run_command(project.node().arg("pkg/build.mjs").arg(dir).arg(name))?;
    }
    remove(&dist)?;
    fs::rename(&fresh, &dist).with_context(|| format!("cannot put the build into `{}`", dist.display()))?;
    package_inputs(project, &parsed)?.path(&dist)?.set_done(&stamp)
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
    for path in ["xtask/src/build.rs", "package-lock.json", "pkg/src", "pkg/build.mjs", "pkg/tsconfig.json"] {
        inputs = inputs.path(&project.path(path))?;
    }
    Ok(inputs)
}

/// Makes the module of a flavour, unless nothing that it depends on has changed.
fn kept_wasm(project: &Project, build: &Build, name: &str, flavour: &Flavour) -> Result<()> {
    let dir = kept_flavour(project, name);
    let stamp = project.scratch().join(format!("wasm-{name}.stamp"));
    let inputs = || -> Result<Inputs> {
        let mut inputs = Inputs::default().text(&output(project.command("rustc").arg("-vV"))?);
        inputs = inputs.text(&format!("{build:?} {:?} {:?}", cargo_features(flavour), flavour.wasm_opt_level));
        inputs = inputs.text(&flavour.imports.join(" "));
        for path in
            ["src", "docs/crate.md", "Cargo.toml", "Cargo.lock", ".cargo", "xtask/src/build.rs", "package-lock.json"]
        {
            inputs = inputs.path(&project.path(path))?;
        }
        Ok(inputs)
    };
    // What it depends on is looked at before: whoever edits it meanwhile gets another build the next time.
    let before = inputs()?;
    if inputs()?.path(&dir)?.are_done(&stamp) {
        return Ok(());
    }
    remove(&dir)?;
    wasm(project, build, name, flavour, &dir)?;
    before.path(&dir)?.set_done(&stamp)
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
    step("vocabularies (a minute or two when the compiler has to begin from nothing)");
    remove(&dir)?;
    let out = dir.to_str().context("the target folder has a name that is no text")?.to_owned();
    crate::with_tiktoken(project, "vocab", vec!["--out".to_owned(), out])?;
    before.path(&dir)?.set_done(&stamp)
}

/// Copies the files of one folder into another one.
fn copy_files(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for file in files(from)? {
        let name = file.file_name().context("a file has a name")?;
        fs::copy(&file, to.join(name)).with_context(|| format!("cannot copy `{}`", file.display()))?;
    }
    Ok(())
}

fn wasm_of_all(project: &Project, manifest: &Manifest, out: &Path) -> Result<()> {
    for (name, flavour) in &manifest.flavours {
        let dir = flavour_dir(out, name);
        wasm(project, &manifest.build, name, flavour, &dir)
            .with_context(|| format!("cannot build flavour `{name}`"))?;
    }
    Ok(())
}

/// Makes `ctxweave.wasm` and `glue.js` of one flavour.
fn wasm(project: &Project, build: &Build, name: &str, flavour: &Flavour, out: &Path) -> Result<()> {
    step(&format!("cargo rustc ({name}, for wasm32)"));
    let compiled = compile(project, build, flavour)?;

    step(&format!("wasm-bindgen ({name})"));
    let mut module = fs::read(&compiled).with_context(|| format!("cannot read `{}`", compiled.display()))?;
    features::disclaim(&mut module, &build.without_features)?;
    let plain = project.scratch().join("plain.wasm");
    fs::write(&plain, module)?;
    let bound = project.scratch().join("bindgen").join(name);
    remove(&bound)?;
    let mut bindgen = project.command(project.tool("wasm-bindgen"));
    bindgen.args(["--target", "web", "--no-typescript", "--out-name", "glue"]).args(&build.wasm_bindgen);
    run_command(bindgen.arg("--out-dir").arg(&bound).arg(plain))?;

    step(&format!("wasm-opt ({name})"));
    fs::create_dir_all(out)?;
    let module = out.join("ctxweave.wasm");
    let mut opt = project.npm_bin("wasm-opt");
    // Its passes run in the order in which they are given: the level, which stands for most of them, comes last.
    opt.args(&build.wasm_opt).arg(&flavour.wasm_opt_level);
    run_command(opt.arg(bound.join("glue_bg.wasm")).arg("-o").arg(&module))?;

    let mut bytes = fs::read(&module)?;
    imports::check(&bytes, &flavour.imports)?;
    append_custom_section(&mut bytes, VERSION_SECTION, env!("CARGO_PKG_VERSION"))?;
    fs::write(&module, bytes)?;
    // wasm-bindgen 0.2.130 starts a fresh instance with a function that a module without reference types does not have.
    let glue = fs::read_to_string(bound.join("glue.js"))?.replace("__wbindgen_start();", "__wbindgen_start?.();");
    // A name for the default export: what `default` is in CommonJS depends on who compiles it.
    fs::write(out.join("glue.js"), glue + "\nexport { __wbg_init as initAsync };\n")?;
    Ok(())
}

/// Runs cargo and gives the path of the module.
fn compile(project: &Project, build: &Build, flavour: &Flavour) -> Result<PathBuf> {
    // What cargo said when it last compiled with these profiles; when nothing has changed it says nothing.
    let inputs = Inputs::default()
        .text(&build.profile)
        .text(&build.target_features.join(","))
        .text(&build.without_features.join(","))
        .text(&cargo_features(flavour).join(" "))
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
    Ok(project.target.join(TARGET).join(profile_dir(&build.profile)).join("ctxweave.wasm"))
}

/// Compiles the module and says whether with LTO; nothing when there was nothing to do.
fn cargo_rustc(project: &Project, build: &Build, flavour: &Flavour) -> Result<Option<bool>> {
    let mut cargo = project.cargo();
    // The crate type is given here, not in Cargo.toml: with more than one cargo turns LTO off (rust-lang/cargo#9672).
    cargo.args(["rustc", "--package", "ctxweave", "--lib", "--crate-type", "cdylib", "--target", TARGET]);
    cargo.args(["--locked", "--verbose", "--profile", &build.profile]).args(cargo_features(flavour));
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
    Ok(flags.join("\x1f"))
}

/// Panic messages hold the path of the source: without this the module would differ from machine to machine.
fn remapped_paths(project: &Project) -> Result<String> {
    let metadata = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = metadata.or_else(|| Some(std::env::home_dir()?.join(".cargo"))).context("there is no home folder")?;
    let flags = [home.join("registry/src"), project.root.clone()]
        .map(|from| format!("--remap-path-prefix={}=", from.display()));
    Ok(flags.join("\x1f"))
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
