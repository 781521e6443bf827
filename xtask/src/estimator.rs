//! `cargo xtask estimator [FOLDER]`: how far the token estimator is from what tiktoken-rs counts in the `.txt` files of a
//! folder, by default tests/corpus, file by file in samples of several sizes. With `--counts` the counts of tests/corpus go
//! into its o200k.tsv.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use ctxweave::tokens::heuristic;
use tiktoken_rs::CoreBPE;

use crate::Args;
use crate::project::Project;
use crate::stamp::files;

const CORPUS: &str = "tests/corpus";

/// Characters of a sample.
const SIZES: [usize; 3] = [100, 500, 2000];

pub fn run(project: &Project, args: &mut Args) -> Result<()> {
    let counts = args.flag("--counts");
    let folder = match args.rest().as_slice() {
        [] => project.path(CORPUS),
        [folder] if !counts => PathBuf::from(folder),
        more => anyhow::bail!("one folder of texts, and none with `--counts`, not `{}`", more.join(" ")),
    };
    let bpe = tiktoken_rs::o200k_base()?;
    let texts = texts(&folder)?;
    if counts {
        let rows = texts.iter().map(|(name, text)| format!("{name}\t{}\n", bpe.encode_ordinary(text).len()));
        return fs::write(folder.join("o200k.tsv"), rows.collect::<String>()).context("cannot write the counts");
    }
    for size in SIZES {
        report(&texts, size, &bpe);
    }
    Ok(())
}

/// The texts of a folder with their paths in it.
fn texts(folder: &Path) -> Result<Vec<(String, String)>> {
    let mut texts = Vec::new();
    for path in files(folder)?.into_iter().filter(|path| path.extension().is_some_and(|end| end == "txt")) {
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read `{}`", path.display()))?;
        texts.push((path.strip_prefix(folder)?.to_string_lossy().replace('\\', "/"), text));
    }
    ensure!(!texts.is_empty(), "there are no .txt files in `{}`", folder.display());
    Ok(texts)
}

/// Errors relative to the real count.
#[derive(Default)]
struct Errors(Vec<f64>);

impl Errors {
    fn row(&self, name: &str) -> String {
        let count = self.0.len().max(1) as f64;
        let percent = |sum: f64| sum / count * 100.0;
        let (lowest, highest) = self.0.iter().fold((0.0_f64, 0.0_f64), |(low, high), e| (low.min(*e), high.max(*e)));
        format!(
            "| {name} | {} | {:+.1} % | {:.1} % | {:+.1} % | {:+.1} % | {:.1} % |",
            self.0.len(),
            percent(self.0.iter().sum()),
            percent(self.0.iter().map(|error| error.abs()).sum()),
            lowest * 100.0,
            highest * 100.0,
            percent(self.0.iter().filter(|error| **error < -0.05).count() as f64),
        )
    }
}

fn report(texts: &[(String, String)], size: usize, bpe: &CoreBPE) {
    println!("\nSamples of about {size} characters:\n");
    println!("| text | samples | mean error | mean absolute | worst under | worst over | more than 5 % under |");
    println!("|---|---|---|---|---|---|---|");
    let mut all = Errors::default();
    for (name, text) in texts {
        let mut errors = Errors::default();
        for sample in samples(text, size) {
            let count = bpe.encode_ordinary(sample).len() as f64;
            errors.0.push(f64::from(heuristic::count(sample)) / count - 1.0);
        }
        println!("{}", errors.row(name));
        all.0.extend(errors.0);
    }
    println!("{}", all.row("all"));
}

/// A text in samples of about so many characters, cut at white space where there is any. What is left over at the end is one
/// when it has two thirds of them, and so is a text that is shorter.
fn samples(text: &str, size: usize) -> Vec<&str> {
    let mut samples = Vec::new();
    let (mut start, mut length) = (0, 0);
    for (at, c) in text.char_indices() {
        length += 1;
        // From here on stand the scripts that are written without spaces.
        let unspaced = u32::from(c) > 0x0E00;
        if length >= size && (c.is_whitespace() || length >= size + if unspaced { 20 } else { 200 }) {
            samples.push(text[start..at].trim());
            (start, length) = (at, 0);
        }
    }
    if samples.is_empty() || length * 3 > size * 2 {
        samples.push(text[start..].trim());
    }
    samples.retain(|sample| !sample.is_empty());
    samples
}
