//! `cargo xtask estimator [FOLDER]`: how far the token estimator is from what tiktoken-rs counts in the `.txt` files of a
//! folder, by default tests/corpus, in samples of several sizes. With `--counts` the counts of tests/corpus go into its o200k.tsv.
//!
//! With `--judge` it is measured by packages that were not fitted, too; `--fit` fits the weights to others. xtask/estimator.txt
//! names them all with their versions, and the weights that the fit goes on from; packages are fetched once, into target/corpus.
//! The same list gives the same weights: order, samples and arithmetic are fixed.

mod fit;
mod joins;
mod made;
mod texts;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use ctxweave::tokens::heuristic;
use tiktoken_rs::CoreBPE;

use crate::Args;
use crate::project::Project;
use crate::stamp::files;
use texts::Text;

const CORPUS: &str = "tests/corpus";

/// Characters of a sample.
const SIZES: [usize; 4] = [30, 100, 500, 2000];

/// Samples of a kind at most.
const SAMPLES: usize = 60;

pub fn run(project: &Project, args: &mut Args) -> Result<()> {
    let (mode, folder) = mode(args)?;
    let folder = folder.map_or_else(|| project.path(CORPUS), PathBuf::from);
    let bpe = tiktoken_rs::o200k_base()?;
    if mode == Some("--joins") {
        return fs::write(project.path("src/tokens/heuristic_joins.bin"), joins::table(&bpe))
            .context("cannot write the table");
    }
    let mut texts = in_folder(&folder)?;
    if mode == Some("--counts") {
        let rows = texts.iter().map(|text| format!("{}\t{}\n", text.kind, bpe.encode_ordinary(&text.text).len()));
        return fs::write(folder.join("o200k.tsv"), rows.collect::<String>()).context("cannot write the counts");
    }
    if mode.is_none() {
        report(&texts, &bpe);
        return Ok(());
    }
    let (from, to_fit, to_judge) = texts::gather(project)?;
    if mode == Some("--fit") {
        let weights = fit::fit(&from, &to_fit, &bpe);
        return fs::write(project.path("src/tokens/heuristic_weights.bin"), weights)
            .context("cannot write the weights");
    }
    texts.extend(to_judge);
    report(&texts, &bpe);
    Ok(())
}

/// The modes that read no folder.
const MODES: [&str; 4] = ["--counts", "--fit", "--joins", "--judge"];

/// The mode, or without one the folder of texts, if given.
fn mode(args: &mut Args) -> Result<(Option<&'static str>, Option<String>)> {
    let modes: Vec<&'static str> = MODES.into_iter().filter(|mode| args.flag(mode)).collect();
    let rest = args.rest();
    match (modes.as_slice(), rest.as_slice()) {
        ([], []) => Ok((None, None)),
        ([], [folder]) => Ok((None, Some(folder.clone()))),
        ([mode], []) => Ok((Some(mode), None)),
        _ => {
            let given = modes.into_iter().chain(rest.iter().map(String::as_str)).collect::<Vec<_>>().join(" ");
            bail!("pass one folder of texts or one of `{}`, not `{given}`", MODES.join("`, `"))
        }
    }
}

/// The texts of a folder, each a kind of its own.
fn in_folder(folder: &Path) -> Result<Vec<Text>> {
    let mut texts = Vec::new();
    for path in files(folder)?.into_iter().filter(|path| path.extension().is_some_and(|end| end == "txt")) {
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read `{}`", path.display()))?;
        let kind = path.strip_prefix(folder)?.to_string_lossy().replace('\\', "/");
        texts.push(Text { kind, text, weight: 0.0, aim: 0.0, is_code: false });
    }
    ensure!(!texts.is_empty(), "there are no .txt files in `{}`", folder.display());
    Ok(texts)
}

/// Errors relative to the real count.
#[derive(Default)]
struct Errors(Vec<f64>);

impl Errors {
    fn percent(&self, sum: f64) -> f64 {
        sum / self.0.len().max(1) as f64 * 100.0
    }

    fn mean(&self) -> f64 {
        self.percent(self.0.iter().sum())
    }

    fn too_low(&self) -> f64 {
        self.percent(self.0.iter().filter(|error| **error < -0.05).count() as f64)
    }

    fn row(&self, name: &str) -> String {
        let (lowest, highest) = self.0.iter().fold((0.0_f64, 0.0_f64), |(low, high), e| (low.min(*e), high.max(*e)));
        format!(
            "| {name} | {} | {:+.1} % | {:.1} % | {:+.1} % | {:+.1} % | {:.1} % |",
            self.0.len(),
            self.mean(),
            self.percent(self.0.iter().map(|error| error.abs()).sum()),
            lowest * 100.0,
            highest * 100.0,
            self.too_low(),
        )
    }
}

/// The errors at each size, and by kind at 500 characters.
fn report(texts: &[Text], bpe: &CoreBPE) {
    let mut sums = Vec::new();
    for size in SIZES {
        let mut kinds: BTreeMap<&str, Errors> = BTreeMap::new();
        for text in texts {
            let errors = kinds.entry(&text.kind).or_default();
            for sample in samples(&text.text, size).into_iter().take(SAMPLES.saturating_sub(errors.0.len())) {
                let real = bpe.encode_ordinary(sample).len() as f64;
                errors.0.push(f64::from(heuristic::count(sample)) / real - 1.0);
            }
        }
        if size == 500 {
            table("kind");
            kinds.iter().for_each(|(kind, errors)| println!("{}", errors.row(kind)));
            let off = |limit: f64| kinds.values().filter(|errors| errors.mean() > limit).count();
            let low = kinds.values().filter(|errors| errors.mean() < 0.0).count();
            let [eight, twelve] = [8.0, 12.0].map(off);
            println!("\n{} kinds, {eight} above +8 % in the mean, {twelve} above +12 %, {low} below 0.", kinds.len());
            // Of each sort, by what the names of its kinds begin with: languages, mostly.
            let mut sorts: BTreeMap<&str, Vec<&Errors>> = BTreeMap::new();
            for (kind, errors) in &kinds {
                let sort = kind.split([' ', '/', ':']).next().unwrap_or(kind);
                sorts.entry(sort).or_default().push(errors);
            }
            table("kinds");
            for (sort, all) in sorts.iter().filter(|(_, all)| all.len() > 2) {
                let name = format!("{sort} ({})", all.len());
                println!("{}", Errors(all.iter().flat_map(|errors| errors.0.clone()).collect()).row(&name));
            }
        }
        sums.push(Errors(kinds.into_values().flat_map(|errors| errors.0).collect()).row(&format!("{size} characters")));
    }
    table("samples of about");
    println!("{}", sums.join("\n"));
}

fn table(first: &str) {
    println!("\n| {first} | samples | mean error | mean absolute | worst under | worst over | more than 5 % under |");
    println!("|---|---|---|---|---|---|---|");
}

/// A text in samples of about so many characters. What is left over at the end is one when it has two thirds of them, and so is
/// a text that is shorter.
fn samples(text: &str, size: usize) -> Vec<&str> {
    split(text, size, size * 2 / 3)
}

/// A text cut at white space, where there is any, after so many characters; the end too when it is longer than `least`.
fn split(text: &str, size: usize, least: usize) -> Vec<&str> {
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
    if samples.is_empty() || length > least {
        samples.push(text[start..].trim());
    }
    samples.retain(|sample| !sample.is_empty());
    samples
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode_of(args: &str) -> Result<(Option<&'static str>, Option<String>)> {
        mode(&mut Args(args.split_whitespace().map(str::to_owned).collect()))
    }

    #[test]
    fn a_folder_or_one_mode_is_accepted() {
        assert_eq!(mode_of("").unwrap(), (None, None));
        assert_eq!(mode_of("texts").unwrap(), (None, Some("texts".to_owned())));
        for mode in MODES {
            assert_eq!(mode_of(mode).unwrap(), (Some(mode), None));
            let error = mode_of(&format!("texts {mode}")).unwrap_err().to_string();
            assert!(MODES.iter().all(|mode| error.contains(mode)) && error.contains("texts"), "{error}");
        }
        assert!(mode_of("texts more").is_err() && mode_of("--fit --judge").is_err());
    }
}
