//! From the crate to pkg/dist: the modules and the vocabularies, then the TypeScript around them.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::thread::{self, ScopedJoinHandle};

use anyhow::{Context, Result, anyhow, bail, ensure};

use crate::Args;
use crate::manifest::{Flavor, Manifest, PACKAGE};
use crate::module::{Job, Recipe, make_all};
use crate::process::{output, run as run_command, step};
use crate::project::Project;
use crate::stamp::Inputs;
use crate::{imports, setup};

/// The name of the quick module. No flavor has it.
const QUICK: &str = "quick";

pub fn run(project: &Project, args: &mut Args) -> Result<()> {
    let manifest = manifest_path(project, args)?;
    let out = args.value("--out")?;
    let only = args.value("--only")?;
    let quick = args.flag("--quick");
    args.end()?;
    setup::for_build(project)?;
    match (out, only, quick) {
        (Some(out), None, false) => wasm_of_all(project, &Manifest::read(&manifest)?, Path::new(&out)),
        (None, Some(only), false) => {
            make_package(project, &manifest, Scope::Only(&only.split(',').collect::<Vec<_>>()))
        }
        (None, None, true) => quick_package(project),
        (None, None, false) => shipped_package(project, &manifest),
        _ => bail!("`--out`, `--only` and `--quick` exclude each other"),
    }
}

/// `--manifest FILE`, or the project's own.
pub fn manifest_path(project: &Project, args: &mut Args) -> Result<PathBuf> {
    Ok(args.value("--manifest")?.map_or_else(|| own_manifest(project), PathBuf::from))
}

/// The project's own manifest.
pub fn own_manifest(project: &Project) -> PathBuf {
    project.path("wasm-pack.toml")
}

/// Where a flavor's files are, below the folder of all of them.
pub fn flavor_dir(out: &Path, name: &str) -> PathBuf {
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

/// Builds `dist` of each npm package as it is published, unless nothing that it depends on has changed. The modules and the
/// vocabularies are made aside and kept: only what has changed is made again.
pub fn shipped_package(project: &Project, manifest: &Path) -> Result<()> {
    make_package(project, manifest, Scope::Shipped)
}

/// Builds `dist` of each npm package around the quick module. If they are there as they are published and current, they stay.
pub fn quick_package(project: &Project) -> Result<()> {
    make_unless_current(project, Scope::Quick, &[Scope::Shipped])
}

/// Builds `dist` of the npm packages that the page uses around the quick module, unless they are there in another form and current.
pub fn demo_package(project: &Project) -> Result<()> {
    make_unless_current(project, Scope::Demo, &[Scope::Shipped, Scope::Quick])
}

fn make_unless_current(project: &Project, scope: Scope<'_>, better: &[Scope<'_>]) -> Result<()> {
    let manifest = own_manifest(project);
    for better in better {
        if is_current(project, &manifest, *better)? {
            return Ok(());
        }
    }
    make_package(project, &manifest, scope)
}

/// Which modules are made.
#[derive(Clone, Copy)]
enum Scope<'a> {
    /// All flavors.
    Shipped,
    /// These flavors; the others stay as they were last built.
    Only(&'a [&'a str]),
    /// One module with all areas for all flavors of `ctxweave`, and the other packages' flavors, all compiled quickly.
    Quick,
    /// The quick module without the other packages' flavors.
    Demo,
}

impl Scope<'_> {
    fn is_quick(&self) -> bool {
        matches!(self, Scope::Quick | Scope::Demo)
    }

    fn includes(&self, flavor: &Flavor) -> bool {
        !matches!(self, Scope::Demo) || flavor.package == PACKAGE
    }

    /// The name of the module that serves as a flavor.
    fn module<'b>(&self, name: &'b str, flavor: &Flavor) -> &'b str {
        if self.is_quick() && flavor.package == PACKAGE { QUICK } else { name }
    }

    /// The folder in which it is kept.
    fn folder(&self, project: &Project, name: &str, flavor: &Flavor) -> PathBuf {
        let folder = if self.is_quick() { "quick" } else { "flavors" };
        project.scratch().join(folder).join(self.module(name, flavor))
    }
}

fn make_package(project: &Project, manifest: &Path, scope: Scope<'_>) -> Result<()> {
    let parsed = Manifest::read(manifest)?;
    let jobs = jobs(project, &parsed, scope)?;
    // Linking a module takes one core: the other one makes the vocabularies.
    thread::scope(|threads| {
        let packages = threads.spawn(|| setup::npm_packages(project));
        let assets = threads.spawn(|| vocabularies(project));
        for job in &jobs {
            remove(&job.out)?;
        }
        let join =
            |thread: ScopedJoinHandle<'_, Result<()>>| thread.join().map_err(|_| anyhow!("a thread panicked"))?;
        if scope.is_quick() {
            make_all(project, &parsed.build, jobs)?;
            join(packages)?;
        } else {
            // wasm-opt is one of them.
            join(packages)?;
            make_all(project, &parsed.build, jobs)?;
        }
        join(assets)
    })?;
    if matches!(scope, Scope::Shipped) {
        let module = |(name, flavor)| fs::read(scope.folder(project, name, flavor).join("ctxweave.wasm"));
        let modules = parsed.flavors.iter().map(|(name, flavor)| module((name, flavor)));
        imports::check_shared(&modules.collect::<Result<Vec<_>, _>>()?, &parsed.build.imports)?;
    }

    let stamp = package_stamp(project);
    if package_inputs(project, &parsed, scope)?.are_done(&stamp) {
        return Ok(());
    }
    for (package, _) in PACKAGES {
        let mut flavors: Vec<_> = parsed.flavors.iter().filter(|(_, flavor)| flavor.package == *package).collect();
        if flavors.iter().any(|(_, flavor)| !scope.includes(flavor)) {
            continue;
        }
        flavors.sort_by_key(|(name, _)| *name != "default");
        let modules = flavors.into_iter().map(|(name, flavor)| {
            let folder = scope.folder(project, name, flavor);
            format!("{name}={}", folder.display())
        });
        // Made aside and put in place at the end: whoever uses the package meanwhile never sees half of it.
        let fresh = project.scratch().join("dist");
        remove(&fresh)?;
        step(&format!("TypeScript ({package})"));
        let mut node = project.node();
        node.args(["pkg/build.mjs", package]).arg(kept_vocabularies(project)).arg(&fresh).args(modules);
        run_command(&mut node)?;
        let dist = dist(project, package)?;
        remove(&dist)?;
        fs::rename(&fresh, &dist).with_context(|| format!("cannot put the build into `{}`", dist.display()))?;
    }
    package_inputs(project, &parsed, scope)?.set_done(&stamp)
}

/// The modules that have to be made.
fn jobs(project: &Project, manifest: &Manifest, scope: Scope<'_>) -> Result<Vec<Job>> {
    if let Scope::Only(names) = scope {
        for name in names {
            ensure!(manifest.flavors.contains_key(*name), "unknown flavor `{name}`");
        }
    }
    let mut jobs = Vec::new();
    let mut seen = BTreeSet::new();
    for (name, flavor) in manifest.flavors.iter().filter(|(_, flavor)| scope.includes(flavor)) {
        let folder = scope.folder(project, name, flavor);
        match scope {
            Scope::Only(names) if !names.contains(&name.as_str()) => {
                ensure!(folder.exists(), "flavor `{name}` was never built: build it, too");
            }
            _ if seen.insert(folder.clone()) => {
                let recipe = recipe(manifest, scope, flavor)?;
                jobs.extend(outdated(project, manifest, scope.module(name, flavor), recipe, folder)?);
            }
            _ => {}
        }
    }
    // The one that takes longest must not come last.
    jobs.sort_by_key(|job| !matches!(job.name.as_str(), QUICK | "default"));
    Ok(jobs)
}

fn recipe(manifest: &Manifest, scope: Scope<'_>, flavor: &Flavor) -> Result<Recipe> {
    let Manifest { build, quick, .. } = manifest;
    if !scope.is_quick() {
        return Ok(Recipe {
            profile: build.profile.clone(),
            lto: build.lto,
            features: flavor.features.clone(),
            rustc: exports(flavor).chain(flavor.rustc.iter().cloned()).collect(),
            wasm_opt_level: Some(flavor.wasm_opt_level.clone()),
            shared_imports: build.imports.clone(),
            own_imports: flavor.imports.clone(),
        });
    }
    let quick = quick.as_ref().context("the manifest has no section `quick`")?;
    let beyond = manifest.flavor_imports().into_iter().map(str::to_owned);
    Ok(Recipe {
        profile: quick.profile.clone(),
        lto: false,
        features: flavor.features.clone(),
        rustc: Vec::new(),
        wasm_opt_level: None,
        shared_imports: build.imports.iter().cloned().chain(beyond).collect(),
        own_imports: Vec::new(),
    })
}

/// The flags of rustc that select the exports of a flavor; without them everything is exported.
fn exports(flavor: &Flavor) -> impl Iterator<Item = String> {
    let each = flavor.exports.iter().map(|name| format!("--cfg=exports=\"{name}\""));
    std::iter::once("--cfg=flavor".to_owned()).chain(each)
}

/// The module as a job, unless nothing that it depends on has changed.
fn outdated(
    project: &Project,
    manifest: &Manifest,
    name: &str,
    recipe: Recipe,
    folder: PathBuf,
) -> Result<Option<Job>> {
    let prefix = if recipe.wasm_opt_level.is_some() { "wasm" } else { "quick" };
    let stamp = project.scratch().join(format!("{prefix}-{name}.stamp"));
    let inputs = || -> Result<Inputs> {
        let mut inputs = Inputs::default().text(&output(project.command("rustc").arg("-vV"))?);
        inputs = inputs.text(&format!("{:?} {recipe:?}", manifest.build));
        for path in [
            "src",
            "docs/crate.md",
            "Cargo.toml",
            "Cargo.lock",
            ".cargo",
            "xtask/src/features.rs",
            "xtask/src/module.rs",
            "xtask/src/order.rs",
            "package-lock.json",
        ] {
            inputs = inputs.path(&project.path(path))?;
        }
        Ok(inputs)
    };
    if inputs()?.path(&folder)?.are_done(&stamp) {
        return Ok(None);
    }
    let before = inputs()?;
    Ok(Some(Job { name: name.to_owned(), recipe, out: folder, stamp: Some((before, stamp)) }))
}

fn package_stamp(project: &Project) -> PathBuf {
    project.scratch().join("build.stamp")
}

/// Whether the packages are there as the scope has them, and nothing that they depend on has changed.
fn is_current(project: &Project, manifest: &Path, scope: Scope<'_>) -> Result<bool> {
    let manifest = Manifest::read(manifest)?;
    let is_done = package_inputs(project, &manifest, scope)?.are_done(&package_stamp(project));
    Ok(is_done && jobs(project, &manifest, scope)?.is_empty())
}

/// All that decides what is in the packages, given the modules, and what is in them.
fn package_inputs(project: &Project, manifest: &Manifest, scope: Scope<'_>) -> Result<Inputs> {
    let mut inputs = Inputs::default().path(&kept_vocabularies(project))?;
    for (name, flavor) in manifest.flavors.iter().filter(|(_, flavor)| scope.includes(flavor)) {
        inputs = inputs.text(name).path(&scope.folder(project, name, flavor))?;
    }
    for path in [
        "xtask/src/build.rs",
        "package-lock.json",
        "pkg/src",
        "pkg/build.mjs",
        "docs",
        "CHANGELOG.md",
        "README.md",
        "pkg/notices.mjs",
        "pkg/package-readme.mjs",
        "pkg/README.md",
        "pkg/exports.mjs",
        "pkg/tsconfig.json",
        "pkg/tsconfig.types.json",
        "pkg/tiktoken/tsconfig.json",
        "pkg/vocabularies/tsconfig.json",
    ] {
        inputs = inputs.path(&project.path(path))?;
    }
    for (package, _) in PACKAGES {
        inputs = inputs.path(&dist(project, package)?)?;
    }
    Ok(inputs)
}

/// Where the vocabulary assets are kept.
fn kept_vocabularies(project: &Project) -> PathBuf {
    project.scratch().join("vocab")
}

/// Makes the vocabulary assets, unless nothing that they depend on has changed. A second thread waits for the first.
pub fn vocabularies(project: &Project) -> Result<()> {
    static UNDER_WAY: Mutex<()> = Mutex::new(());
    let _under_way = UNDER_WAY.lock();
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
    setup::npm_packages(project)?;
    let mut jobs = Vec::new();
    for (name, flavor) in &manifest.flavors {
        let recipe = recipe(manifest, Scope::Shipped, flavor)?;
        jobs.push(Job { name: name.clone(), recipe, out: flavor_dir(out, name), stamp: None });
    }
    make_all(project, &manifest.build, jobs)
}

fn remove(dir: &Path) -> Result<()> {
    if dir.exists() {
        fs::remove_dir_all(dir).with_context(|| format!("cannot remove `{}`", dir.display()))?;
    }
    Ok(())
}
