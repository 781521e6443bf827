//! How large the modules and the vocabularies are, as a table in docs/loading.md, and whether they stay under their ceilings.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};

use crate::Args;
use crate::build::{self, flavor_dir, manifest_path};
use crate::manifest::{Manifest, PACKAGE};
use crate::process::output;
use crate::project::Project;
use crate::setup;

/// The page with the table.
const PAGE: &str = "docs/loading.md";
const START: &str = "<!-- size:start -->";
const END: &str = "<!-- size:end -->";

/// Zlib's gzip and Google's brotli at their best, as a content delivery network would serve the file.
const MEASURE: &str = "
  const { brotliCompressSync, gzipSync } = require('node:zlib');
  const bytes = require('node:fs').readFileSync(process.argv[1]);
  console.log(bytes.length, gzipSync(bytes, { level: 9 }).length, brotliCompressSync(bytes).length);
";

pub fn run(project: &Project, args: &mut Args) -> Result<()> {
    let manifest = manifest_path(project, args)?;
    let out = args.value("--out")?.map(PathBuf::from);
    let check_only = args.flag("--check");
    args.end()?;
    if out.is_none() {
        setup::for_build(project)?;
        build::shipped_package(project, &manifest)?;
    }
    let rows = measure(project, &Manifest::read(&manifest)?, out.as_deref())?;
    let table = table(&rows);
    print!("{table}");
    under_ceilings(&rows)?;
    let page = project.path(PAGE);
    match (out.is_none(), check_only) {
        (false, _) => Ok(()),
        (true, true) => compare(&fs::read_to_string(&page)?, &rows),
        (true, false) => {
            let text = fs::read_to_string(&page).with_context(|| format!("cannot read {PAGE}"))?;
            let changed = replaced(&text, &table)?;
            if changed != text {
                fs::write(&page, changed)?;
            }
            Ok(())
        }
    }
}

/// One file, measured.
struct Row {
    file: String,
    /// Bytes: raw, gzip, brotli.
    sizes: [u64; 3],
    max_gzip: u64,
}

/// Measures what is in the packages, or the modules in the folder that they were built into.
fn measure(project: &Project, manifest: &Manifest, out: Option<&Path>) -> Result<Vec<Row>> {
    let dist = build::dist(project, PACKAGE)?;
    let mut files = Vec::new();
    for (name, flavor) in &manifest.flavors {
        let file = flavor_dir(Path::new(""), name).join("ctxweave.wasm");
        match out {
            Some(out) => files.push((out.join(&file), file, flavor.max_gzip)),
            None if flavor.package == PACKAGE => files.push((dist.join(&file), file, flavor.max_gzip)),
            None => {
                let path = build::dist(project, &flavor.package)?.join("ctxweave.wasm");
                files.push((path, Path::new(&flavor.package).join("ctxweave.wasm"), flavor.max_gzip));
            }
        }
    }
    // `build --out` makes the modules only.
    for (name, vocabulary) in manifest.vocabularies.iter().filter(|_| out.is_none()) {
        let own = Path::new(name).with_extension("bin");
        if vocabulary.package == PACKAGE {
            let file = Path::new("vocab").join(own);
            files.push((dist.join(&file), file, vocabulary.max_gzip));
        } else {
            let path = build::dist(project, &vocabulary.package)?.join(&own);
            files.push((path, Path::new(&vocabulary.package).join(own), vocabulary.max_gzip));
        }
    }
    let mut rows = Vec::new();
    for (path, file, max_gzip) in files {
        ensure!(path.exists(), "`{}` is not there: run `cargo xtask build` first", path.display());
        let printed = output(project.node().arg("-e").arg(MEASURE).arg(&path))?;
        let sizes: Vec<u64> = printed.split_whitespace().map(str::parse).collect::<Result<_, _>>()?;
        let sizes = sizes.try_into().ok().context("the measuring script broke")?;
        rows.push(Row { file: file.display().to_string(), sizes, max_gzip });
    }
    Ok(rows)
}

fn table(rows: &[Row]) -> String {
    let mut text = String::from("| bytes | raw | gzip | brotli | gzip, at most |\n| --- | --: | --: | --: | --: |\n");
    for Row { file, sizes: [raw, gzip, brotli], max_gzip } in rows {
        let [raw, gzip, brotli, max_gzip] = [raw, gzip, brotli, max_gzip].map(|size| grouped(*size));
        text += &format!("| `{file}` | {raw} | {gzip} | {brotli} | {max_gzip} |\n");
    }
    text
}

/// 1234567 → `1,234,567`.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

fn under_ceilings(rows: &[Row]) -> Result<()> {
    let over = |row: &&Row| row.sizes[1] > row.max_gzip;
    let describe =
        |row: &Row| format!("`{}` has {}, at most {}", row.file, grouped(row.sizes[1]), grouped(row.max_gzip));
    let found: Vec<_> = rows.iter().filter(over).map(describe).collect();
    ensure!(found.is_empty(), "bytes (gzip) over the ceiling in the manifest: {}", found.join("; "));
    Ok(())
}

/// The page with the table between its markers.
fn replaced(page: &str, table: &str) -> Result<String> {
    let (before, rest) = page.split_once(START).with_context(|| format!("{PAGE} has no `{START}`"))?;
    let (_, after) = rest.split_once(END).with_context(|| format!("{PAGE} has no `{END}`"))?;
    Ok(format!("{before}{START}\n\n{table}\n{END}{after}"))
}

/// Fails if the sizes in the page are more than 2 % off: another patch release of the compiler should not turn a build red, but the
/// table has to stay true.
fn compare(page: &str, rows: &[Row]) -> Result<()> {
    for Row { file, sizes, .. } in rows {
        let start = format!("| `{file}` |");
        let line = page.lines().find(|line| line.starts_with(&start));
        let line = line.with_context(|| format!("{PAGE} has no size of `{file}`: run `cargo xtask size`"))?;
        let stated = line[start.len()..].split('|').map(|cell| cell.trim().replace(',', "").parse::<u64>());
        for (stated, size) in stated.zip(sizes) {
            let stated = stated.unwrap_or(0);
            if stated.abs_diff(*size) * 50 > *size {
                bail!("{PAGE} states {stated} bytes, but `{file}` has {size}: run `cargo xtask size`");
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(sizes: [u64; 3]) -> Vec<Row> {
        vec![Row { file: "ctxweave.wasm".into(), sizes, max_gzip: 500 }]
    }

    #[test]
    fn a_module_over_its_ceiling_fails() {
        under_ceilings(&rows([1000, 500, 400])).unwrap();
        let error = under_ceilings(&rows([1000, 501, 400])).unwrap_err().to_string();
        assert!(error.contains("`ctxweave.wasm` has 501, at most 500"), "{error}");
    }

    #[test]
    fn the_table_goes_between_the_markers_and_stays_true() {
        let written = replaced(&format!("a\n{START}\nold\n{END}\nb\n"), &table(&rows([1000, 500, 400]))).unwrap();
        assert!(written.starts_with("a\n") && written.ends_with("\nb\n") && !written.contains("old"), "{written}");
        compare(&written, &rows([1010, 500, 400])).unwrap();
        assert!(compare(&written, &rows([1000, 500, 300])).is_err());
        assert!(compare("no table", &rows([1000, 500, 400])).is_err());
        assert!(replaced("no markers", "").is_err());
    }

    #[test]
    fn digits_are_grouped() {
        assert_eq!([5, 999, 1000, 1234567].map(grouped), ["5", "999", "1,000", "1,234,567"]);
    }
}
