//! `cargo xtask vocab`: the vocabulary assets, out of the rank files that the tiktoken-rs crate carries; with `--from` one out of a
//! `tokenizer.json`; with `--unicode` the tables of character classes, out of the regex-syntax crate that tiktoken-rs matches
//! with and of unicode-segmentation; with `--counts` what tiktoken-rs counts in the texts by which the runtimes are tested.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use ctxweave::tokens::bpe::{Encoding, Vocabulary, pack, vocabulary_of};
use regex_syntax::hir::{Class, ClassUnicodeRange, HirKind};
use serde_json::Value;
use unicode_segmentation::UnicodeSegmentation;

use crate::Args;
use crate::project::Project;

/// Where the table of character classes goes, from the root.
const CLASS_TABLE: &str = "src/tokens/bpe/classes.bin";

/// Where that goes which tells symbols apart, too.
const SYMBOL_TABLE: &str = "src/tokens/bpe/classes_and_symbols.bin";

/// Where that of the classes by which grapheme clusters end goes.
const CLUSTER_TABLE: &str = "src/text/graphemes.bin";

/// The texts and what is counted in them, from the root.
const COUNTS: &str = "tests/runtimes/counts.json";

pub fn run(project: &Project, args: &mut Args) -> Result<()> {
    let out = args.value("--out")?.map(PathBuf::from);
    let from = args.value("--from")?;
    let (unicode, counts) = (args.flag("--unicode"), args.flag("--counts"));
    args.end()?;
    if let Some(from) = from {
        return convert(Path::new(&from), &out.context("`--from` needs `--out FILE`")?);
    }
    if unicode {
        let tables =
            [(CLASS_TABLE, class_table(false)?), (SYMBOL_TABLE, class_table(true)?), (CLUSTER_TABLE, cluster_table()?)];
        for (path, table) in tables {
            fs::write(project.path(path), table).with_context(|| format!("cannot write `{path}`"))?;
        }
    }
    if counts {
        write_counts(&project.path(COUNTS))?;
    }
    if unicode || counts { Ok(()) } else { assets(&out.unwrap_or_else(|| project.path("pkg/dist/vocab"))) }
}

/// Makes an asset of a `tokenizer.json`.
fn convert(from: &Path, out: &Path) -> Result<()> {
    let json = fs::read(from).with_context(|| format!("cannot read `{}`", from.display()))?;
    let with_details = |error: ctxweave::Error| anyhow::anyhow!("{error} {:?}", error.details());
    let asset = vocabulary_of(&json).map_err(with_details)?;
    Vocabulary::load("converted", &asset).map_err(with_details)?;
    fs::write(out, &asset).with_context(|| format!("cannot write `{}`", out.display()))?;
    println!("{}: {} bytes", out.display(), asset.len());
    Ok(())
}

fn assets(folder: &Path) -> Result<()> {
    fs::create_dir_all(folder)?;
    for &encoding in Encoding::ALL.iter().filter(|encoding| encoding.base() == **encoding) {
        let name = encoding.name();
        let reference = reference(encoding);
        let tokens = tokens(encoding);
        let with_details = |error: ctxweave::Error| anyhow::anyhow!("{name}: {error}, {:?}", error.details());
        let asset = pack(encoding, &tokens).map_err(with_details)?;
        let vocabulary = Vocabulary::load(encoding, &asset).map_err(with_details)?;
        for text in SAMPLES {
            let expected = reference.encode_ordinary(text);
            ensure!(vocabulary.encode(text) == expected, "{name} gives other tokens for {text:?}");
        }
        fs::write(folder.join(encoding.file_name()), &asset)?;
        println!("{name}: {} tokens in {} bytes", tokens.len(), asset.len());
    }
    Ok(())
}

/// Counts the texts in the file, `[text, { encoding: count }]` each, with tiktoken-rs, and writes it anew.
fn write_counts(path: &Path) -> Result<()> {
    let listed = fs::read_to_string(path).with_context(|| format!("cannot read `{}`", path.display()))?;
    let listed: Vec<Value> = serde_json::from_str(&listed)?;
    let mut rows = Vec::new();
    for row in &listed {
        let text = row.get(0).and_then(Value::as_str).context("each row begins with a text")?;
        let counts = Encoding::ALL.iter().map(|&encoding| {
            (encoding.name().to_owned(), Value::from(reference(encoding).encode_ordinary(text).len()))
        });
        rows.push(Value::from(vec![Value::from(text), Value::Object(counts.collect())]));
    }
    // What is not ASCII is escaped: half of these characters cannot be seen.
    let mut out = String::new();
    for unit in serde_json::to_string(&rows)?.replace("],[", "],\n  [").encode_utf16() {
        match u8::try_from(unit) {
            Ok(byte) if byte.is_ascii() => out.push(char::from(byte)),
            _ => write!(out, "\\u{unit:04x}")?,
        }
    }
    fs::write(path, out + "\n").context("cannot write the counts")
}

/// A few texts that an asset has to get right before it is written. The real comparison is in the tests.
const SAMPLES: &[&str] = &[
    "The quick brown fox doesn't jump over 1234567 lazy dogs.\n\n\tfn main() { println!(\"{}\", 1_000); }\r\n",
    "<|endoftext|> Grüße aus Köln, Привет, γειά σου, 日本語のテキスト、한국어 문장, नमस्ते, ไทย 👩‍👩‍👧‍👦🏳️‍🌈",
];

fn reference(encoding: Encoding) -> &'static tiktoken_rs::CoreBPE {
    match encoding {
        Encoding::O200kBase => tiktoken_rs::o200k_base_singleton(),
        Encoding::O200kHarmony => tiktoken_rs::o200k_harmony_singleton(),
        Encoding::Cl100kBase => tiktoken_rs::cl100k_base_singleton(),
        Encoding::P50kBase => tiktoken_rs::p50k_base_singleton(),
        Encoding::P50kEdit => tiktoken_rs::p50k_edit_singleton(),
        Encoding::R50kBase | Encoding::Gpt2 => tiktoken_rs::r50k_base_singleton(),
    }
}

/// The ordinary tokens of an encoding, in order.
fn tokens(encoding: Encoding) -> Vec<Vec<u8>> {
    let specials = encoding.specials();
    let reference = reference(encoding);
    let all = (0..).map_while(|rank| Some((rank, reference.decode_bytes(&[rank]).ok()?)));
    all.filter(|(rank, _)| specials.iter().all(|(_, special)| special != rank)).map(|(_, token)| token).collect()
}

/// The classes in the order of their bits in `class.rs`, the last for all the rest.
const CLASSES: [&str; 7] =
    [r"[\p{Lu}\p{Lt}]", r"\p{Ll}", r"[\p{Lm}\p{Lo}]", r"\p{M}", r"\p{N}", r"[\s--\r\n]", r"[\r\n]"];
const OTHER: u8 = 7;

/// Characters in one block.
const BLOCK: usize = 128;
/// The code points from here on are not in the table.
const INDEXED: usize = 0x32400;

/// The table, as src/tokens/bpe/class.rs describes it; with `symbols` the second one.
fn class_table(symbols: bool) -> Result<Vec<u8>> {
    let mut classes = vec![OTHER; 0x11_0000];
    for (class, pattern) in (0..).zip(CLASSES) {
        let hir = regex_syntax::parse(pattern)?;
        let HirKind::Class(Class::Unicode(set)) = hir.kind() else { anyhow::bail!("`{pattern}` is no class") };
        for range in set.ranges() {
            for slot in &mut classes[range.start() as usize..=range.end() as usize] {
                ensure!(*slot == OTHER, "`{pattern}` overlaps another class");
                *slot = class;
            }
        }
    }
    // Far above everything else stand the variation selectors supplement, which `class::of` knows, and nothing more.
    const MARK: u8 = 3;
    let selectors = 0xE_0100..=0xE_01EF;
    ensure!(classes[selectors.clone()].iter().all(|&class| class == MARK), "the variation selectors are not marks");
    classes[selectors].fill(OTHER);
    let used = classes.iter().rposition(|&class| class != OTHER).context("no classes")? + 1;
    classes.truncate(used.next_multiple_of(BLOCK));
    ensure!(
        classes.len() == INDEXED,
        "the table ends at {:#x} now: say so in src/tokens/bpe/class.rs and here",
        classes.len()
    );

    if symbols {
        let hir = regex_syntax::parse(r"[\p{P}\p{S}]")?;
        let HirKind::Class(Class::Unicode(set)) = hir.kind() else { anyhow::bail!("no class") };
        let is_symbol = |code: usize| {
            let is_in = |range: &ClassUnicodeRange| (range.start() as usize..=range.end() as usize).contains(&code);
            set.ranges().iter().any(is_in)
        };
        for code in (0..classes.len()).filter(|&code| !is_symbol(code)).collect::<Vec<_>>() {
            classes[code] |= if classes[code] == OTHER { 8 } else { 0 };
        }
    }

    packed(&classes)
}

/// A number for each code point as src/code_point_table.rs reads them.
fn packed(numbers: &[u8]) -> Result<Vec<u8>> {
    let mut blocks: Vec<&[u8]> = Vec::new();
    let mut table = Vec::new();
    for block in numbers.chunks(BLOCK) {
        let known = blocks.iter().position(|&other| other == block);
        let number = known.unwrap_or_else(|| {
            blocks.push(block);
            blocks.len() - 1
        });
        table.push(u8::try_from(number).context("so many different blocks do not fit in a byte")?);
    }
    table.extend(blocks.concat().chunks(2).map(|pair| pair[0] | pair[1] << 4));
    Ok(table)
}

/// The code points from here on are not in the table of clusters.
const CLUSTERS_INDEXED: u32 = 0x2_0000;

/// The table of src/text/graphemes.rs.
fn cluster_table() -> Result<Vec<u8>> {
    let class = |code: u32| char::from_u32(code).map_or(0, cluster_class);
    for code in CLUSTERS_INDEXED..0x11_0000 {
        let known = match code {
            0xe_0020..0xe_0080 | 0xe_0100..0xe_01f0 => 2,
            0xe_0000..0xe_1000 => 1,
            _ => 0,
        };
        ensure!(class(code) == known, "{code:#x} has another class than src/text/graphemes.rs says");
    }
    let classes: Vec<u8> = (0..CLUSTERS_INDEXED).map(class).collect();
    packed(&classes)
}

/// The class of a character, by what it does beside others. The order is that of src/text/graphemes.rs.
fn cluster_class(c: char) -> u8 {
    let is_one = |text: String| text.graphemes(true).count() == 1;
    let before = |other: &str| is_one(format!("{c}{other}"));
    let after = |other: &str| is_one(format!("{other}{c}"));
    let tests: [(u8, bool); 13] = [
        (1, !before("\u{301}")),
        (6, before("a")),
        (4, after("a") && is_one(format!("©{c}©"))),
        (3, after("a") && is_one(format!("क{c}क"))),
        (2, after("a") && is_one(format!("©{c}\u{200d}©"))),
        (5, after("a")),
        (7, after("क\u{94d}")),
        (8, after("©\u{200d}")),
        (9, after("🇦")),
        (10, before("\u{1100}")),
        (12, after("\u{11a8}")),
        (11, after("\u{1161}")),
        (13, after("\u{1100}")),
    ];
    tests.into_iter().find_map(|(class, is)| is.then_some(class)).unwrap_or(0)
}
