//! `cargo xtask release --dry-run`: whether the crate and the npm packages may be published as they are, and how.

use std::collections::BTreeSet;
use std::fs;

use anyhow::{Context, Result, bail};
use serde::Deserialize;
use serde_json::Value;

use crate::Args;
use crate::build::PACKAGES;
use crate::module::is_quick;
use crate::process::output;
use crate::project::Project;

/// What a tarball may have, in bytes: packed, unpacked.
const MAX_TARBALL_BYTES: &[(&str, u64, u64)] =
    &[("ctxweave", 8_000_000, 16_000_000), ("ctxweave-tiktoken", 6_000_000, 12_000_000)];

/// What has to be in the crate: without these it does not compile, or nobody may use it.
const REQUIRED_CRATE_FILES: &[&str] =
    &["src/lib.rs", "docs/crate.md", "README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE"];

pub fn run(project: &Project, args: &mut Args) -> Result<()> {
    let dry = args.flag("--dry-run");
    args.end()?;
    if !dry {
        bail!("publishing is done by hand: `cargo xtask release --dry-run` checks everything and prints the commands");
    }
    let read = |path: &str| fs::read_to_string(project.path(path)).with_context(|| format!("cannot read `{path}`"));
    let json = |path: String| -> Result<Value> { Ok(serde_json::from_str(&read(&path)?)?) };
    let manifests = PACKAGES
        .iter()
        .map(|(name, folder)| Ok((*name, json(format!("{folder}/package.json"))?)))
        .collect::<Result<Vec<_>>>()?;
    let version = env!("CARGO_PKG_VERSION");

    let mut report = Report::default();
    report.check("versions", versions(version, &manifests, &read("pkg/src/version.ts")?));
    report.check("changelog", changelog(version, &read("CHANGELOG.md")?));
    report.check("git", git(project)?);
    report.check("crate ctxweave", crate_files(project)?);
    for (name, manifest) in &manifests {
        report.check(&format!("provenance of {name}"), provenance(manifest));
        report.check(&format!("package {name}"), package(project, name, &read("tests/packaging/files.txt")?)?);
    }

    println!("\nWould be published, as {version}, once `cargo xtask test --all` has passed:");
    println!("  cargo publish --package ctxweave");
    for (name, folder) in PACKAGES {
        println!("  npm publish ./{folder}    # {name}; where CI runs it, npm adds the provenance");
    }
    println!("  git tag v{version}");
    if report.wrong > 0 {
        bail!("{} of {} checks failed: nothing should be published yet", report.wrong, report.all);
    }
    Ok(())
}

/// What was checked so far.
#[derive(Default)]
struct Report {
    all: usize,
    wrong: usize,
}

impl Report {
    /// Prints what is good about it, or what is wrong.
    fn check(&mut self, what: &str, found: std::result::Result<String, String>) {
        self.all += 1;
        let (mark, text) = match found {
            Ok(text) => ("ok   ", text),
            Err(text) => {
                self.wrong += 1;
                ("wrong", text)
            }
        };
        println!("{mark}  {what:<32} {text}");
    }
}

type Found = std::result::Result<String, String>;

fn versions(version: &str, manifests: &[(&str, Value)], source: &str) -> Found {
    let other = manifests.iter().find(|(_, manifest)| manifest["version"] != version);
    if let Some((name, manifest)) = other {
        return Err(format!("Cargo.toml says {version}, package.json of {name} {}", manifest["version"]));
    }
    if !source.contains(&format!("export const version = \"{version}\";")) {
        return Err(format!("pkg/src/version.ts does not say {version}"));
    }
    Ok(format!("{version} everywhere"))
}

/// The topmost section is that of the version, and says something.
fn changelog(version: &str, text: &str) -> Found {
    let (_, rest) = text.split_once("\n## ").ok_or("CHANGELOG.md has no section")?;
    let (heading, rest) = rest.split_once('\n').unwrap_or((rest, ""));
    if heading.split([' ', '(']).next() != Some(version) {
        return Err(format!("the topmost section is `{heading}`: it has to be `{version}`, with its date"));
    }
    let entries = rest.split("\n## ").next().unwrap_or_default().lines().filter(|line| line.starts_with("- ")).count();
    if entries == 0 {
        return Err(format!("the section `{heading}` says nothing"));
    }
    Ok(format!("{entries} entries"))
}

fn git(project: &Project) -> Result<Found> {
    let changes = output(project.command("git").args(["status", "--porcelain"]))?;
    Ok(match changes.lines().count() {
        0 => Ok("everything is committed".to_owned()),
        count => Err(format!("{count} files are not committed")),
    })
}

fn crate_files(project: &Project) -> Result<Found> {
    let cargo = ["package", "--package", "ctxweave", "--list", "--offline", "--allow-dirty"];
    let listed = output(project.cargo().args(cargo))?;
    let listed: BTreeSet<&str> = listed.lines().collect();
    if let Some(missing) = REQUIRED_CRATE_FILES.iter().find(|file| !listed.contains(*file)) {
        return Ok(Err(format!("`{missing}` is not in it")));
    }
    // Cargo adds its own: the lock file, the manifest as it was written, the commit.
    let own = ["Cargo.lock", "Cargo.toml", "Cargo.toml.orig", ".cargo_vcs_info.json"];
    let is_ours = |file: &str| {
        REQUIRED_CRATE_FILES.contains(&file)
            || own.contains(&file)
            || file.starts_with("src/")
            || file.starts_with("tests/unit/")
    };
    Ok(match listed.iter().find(|file| !is_ours(file)) {
        Some(stray) => Err(format!("`{stray}` has no place in it")),
        None => Ok(format!("{} files", listed.len())),
    })
}

/// What npm asks for before it says where a package was built.
fn provenance(manifest: &Value) -> Found {
    let config = &manifest["publishConfig"];
    if config["provenance"] != true || config["access"] != "public" {
        return Err("`publishConfig` has to say `provenance` and `access: public`".to_owned());
    }
    for field in ["description", "license", "keywords", "repository"] {
        if manifest[field].is_null() {
            return Err(format!("package.json has no `{field}`"));
        }
    }
    Ok("all fields are there".to_owned())
}

/// A tarball as `npm pack --json` describes it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Tarball {
    size: u64,
    unpacked_size: u64,
    files: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    path: String,
}

fn package(project: &Project, name: &str, listed: &str) -> Result<Found> {
    let (_, folder) = PACKAGES.iter().find(|(package, _)| *package == name).context("no such package")?;
    let mut npm = project.command("npm");
    npm.args(["pack", "--dry-run", "--json"]).current_dir(project.path(folder));
    let mut tarballs: Vec<Tarball> = serde_json::from_str(&output(&mut npm)?)?;
    let tarball = tarballs.pop().context("npm packed nothing")?;
    for file in tarball.files.iter().filter(|file| file.path.ends_with("ctxweave.wasm")) {
        if is_quick(&fs::read(project.path(folder).join(&file.path))?)? {
            return Ok(Err(format!("`{}` was built for tests: run `cargo xtask build`", file.path)));
        }
    }
    let largest = MAX_TARBALL_BYTES
        .iter()
        .find(|(package, ..)| *package == name)
        .map_or((u64::MAX, u64::MAX), |row| (row.1, row.2));
    Ok(tarball_content(name, &tarball, listed, largest))
}

/// Whether the tarball has just the files that are listed, and is no larger than it may be.
fn tarball_content(name: &str, tarball: &Tarball, listed: &str, (packed, unpacked): (u64, u64)) -> Found {
    let prefix = format!("{name}/");
    let expected: BTreeSet<&str> = listed.lines().filter_map(|line| line.strip_prefix(&prefix)).collect();
    let found: BTreeSet<&str> = tarball.files.iter().map(|file| file.path.as_str()).collect();
    if let Some(missing) = expected.difference(&found).next() {
        return Err(format!("`{missing}` is not there: run `cargo xtask build`"));
    }
    if let Some(stray) = found.difference(&expected).next() {
        return Err(format!("`{stray}` is not in tests/packaging/files.txt"));
    }
    let Tarball { size, unpacked_size, .. } = tarball;
    if *size > packed || *unpacked_size > unpacked {
        return Err(format!("{size} bytes packed and {unpacked_size} unpacked, at most {packed} and {unpacked}"));
    }
    Ok(format!("{} files, {size} bytes packed, {unpacked_size} unpacked", found.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_version_anywhere_is_found() {
        let manifest = |version: &str| ("ctxweave", serde_json::json!({ "version": version }));
        let source = "export const version = \"1.2.3\";";
        versions("1.2.3", &[manifest("1.2.3")], source).unwrap();
        versions("1.2.3", &[manifest("1.2.3"), manifest("1.2.4")], source).unwrap_err();
        versions("1.2.4", &[manifest("1.2.4")], source).unwrap_err();
    }

    #[test]
    fn the_topmost_section_is_of_the_version() {
        changelog("1.2.3", "# Changelog\n\n## 1.2.3 (2026-12-01)\n\n- More.\n\n## 1.2.2\n\n- Less.\n").unwrap();
        changelog("1.2.3", "# Changelog\n\n## Unreleased\n\n- More.\n\n## 1.2.3\n\n- Less.\n").unwrap_err();
        changelog("1.2.3", "# Changelog\n\n## 1.2.3\n\n## 1.2.2\n\n- Less.\n").unwrap_err();
        changelog("1.2.3", "# Changelog\n").unwrap_err();
    }

    #[test]
    fn a_tarball_has_just_what_is_listed() {
        let files = |names: &[&str]| names.iter().map(|path| Entry { path: (*path).to_owned() }).collect();
        let tarball = |names: &[&str]| Tarball { size: 10, unpacked_size: 20, files: files(names) };
        let listed = "a/one\na/two\nb/three\n";
        tarball_content("a", &tarball(&["one", "two"]), listed, (10, 20)).unwrap();
        tarball_content("a", &tarball(&["one"]), listed, (10, 20)).unwrap_err();
        tarball_content("a", &tarball(&["one", "two", "three"]), listed, (10, 20)).unwrap_err();
        tarball_content("a", &tarball(&["one", "two"]), listed, (9, 20)).unwrap_err();
    }

    #[test]
    fn provenance_takes_a_repository() {
        let publish = serde_json::json!({ "access": "public", "provenance": true });
        let mut manifest = serde_json::json!({
            "publishConfig": publish, "description": "d", "license": "l", "keywords": [], "repository": "r",
        });
        provenance(&manifest).unwrap();
        manifest["repository"] = Value::Null;
        provenance(&manifest).unwrap_err();
        manifest["publishConfig"] = Value::Null;
        provenance(&manifest).unwrap_err();
    }

    /// Without these the crate that is published does not compile, as once when its front page was not in it.
    #[test]
    fn the_crate_has_all_that_it_needs() {
        crate_files(&Project::find().unwrap()).unwrap().unwrap();
    }
}
