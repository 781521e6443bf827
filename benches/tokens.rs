//! Exact counting natively: loading, splitting, counting, beside tiktoken-rs. `cargo bench --bench tokens`.

use std::fmt;
use std::path::Path;
use std::sync::LazyLock;

use ctxweave::tokens::Counter;
use ctxweave::tokens::bpe::{Encoding, Vocabulary, pack};
use divan::Bencher;
use divan::counter::BytesCount;

/// One encoding, loaded.
struct Loaded {
    asset: Vec<u8>,
    ours: Vocabulary,
    reference: &'static tiktoken_rs::CoreBPE,
}

static LOADED: LazyLock<Vec<Loaded>> = LazyLock::new(|| {
    let loaded = |(encoding, reference): (Encoding, &'static tiktoken_rs::CoreBPE)| {
        let tokens: Vec<Vec<u8>> = (0..).map_while(|rank| reference.decode_bytes(&[rank]).ok()).collect();
        let asset = pack(encoding, &tokens).unwrap_or_default();
        let ours = Vocabulary::load(encoding, &asset).unwrap_or_else(|error| std::process::exit(complain(&error)));
        Loaded { asset, ours, reference }
    };
    let references = [tiktoken_rs::o200k_base_singleton(), tiktoken_rs::cl100k_base_singleton()];
    ENCODINGS.into_iter().zip(references).map(loaded).collect()
});

/// Those that are measured.
const ENCODINGS: [Encoding; 2] = [Encoding::O200kBase, Encoding::Cl100kBase];

fn complain(error: &dyn fmt::Display) -> i32 {
    eprintln!("{error}");
    1
}

/// The texts of tests/corpus by folder, each as often as makes a few hundred KB.
static TEXTS: LazyLock<Vec<(&str, String)>> = LazyLock::new(|| {
    [
        ("english", "prose/english"),
        ("chinese", "prose/chinese-simplified"),
        ("rust", "code/rust"),
        ("markdown", "data/markdown"),
    ]
    .map(|(name, path)| (name, read(path).repeat(40)))
    .into()
});

#[expect(clippy::disallowed_methods, reason = "a benchmark reads its texts")]
fn read(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/corpus/{path}.txt"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| std::process::exit(complain(&error)))
}

/// What a benchmark runs on: an encoding and a text.
struct Case(&'static Loaded, &'static (&'static str, String));

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.0.ours.name(), self.1.0)
    }
}

fn cases() -> impl Iterator<Item = Case> {
    LOADED.iter().flat_map(|loaded| TEXTS.iter().map(move |text| Case(loaded, text)))
}

#[divan::bench(args = [0, 1])]
fn load(bencher: Bencher<'_, '_>, encoding: usize) {
    if let (Some(loaded), Some(&encoding)) = (LOADED.get(encoding), ENCODINGS.get(encoding)) {
        bencher.bench(|| Vocabulary::load(encoding, &loaded.asset));
    }
}

#[divan::bench(args = cases())]
fn split(bencher: Bencher<'_, '_>, case: &Case) {
    let Case(loaded, (_, text)) = case;
    bencher.counter(BytesCount::of_str(text)).bench(|| loaded.ours.split(text).count());
}

#[divan::bench(args = cases())]
fn count(bencher: Bencher<'_, '_>, case: &Case) {
    let Case(loaded, (_, text)) = case;
    bencher.counter(BytesCount::of_str(text)).bench(|| loaded.ours.count(text));
}

#[divan::bench(args = cases(), sample_count = 10)]
fn count_with_tiktoken_rs(bencher: Bencher<'_, '_>, case: &Case) {
    let Case(loaded, (_, text)) = case;
    bencher.counter(BytesCount::of_str(text)).bench(|| loaded.reference.count_ordinary(text));
}

fn main() {
    divan::main();
}
