//! What models there are: src/tokens/models.txt, made anew from the registry that LiteLLM keeps and publishes in its Python package.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use anyhow::{Context, Result};
use serde_json::{Map, Value};

use crate::Args;
use crate::process::{output, run as start, step};
use crate::project::Project;

/// The registry within the package.
const REGISTRY: &str = "litellm/model_prices_and_context_window_backup.json";

/// Where the registry has a family's models, what their names begin with there, and what the names of the family begin with. What
/// comes first counts.
const SOURCES: &[(&str, &str, &str, &[&str])] = &[
    ("openai", "openai", "", &["gpt-", "o1", "o3", "o4", "codex-", "chatgpt-", "text-embedding-", "computer-use"]),
    ("openai", "azure", "azure/", &["gpt-", "o1", "o3", "o4", "codex-", "text-embedding-"]),
    ("openai", "groq", "groq/openai/", &["gpt-oss-"]),
    ("claude", "anthropic", "", &["claude-"]),
    ("claude", "vertex_ai-anthropic_models", "vertex_ai/", &["claude-"]),
    ("claude", "bedrock_converse", "anthropic.", &["claude-"]),
    ("claude", "bedrock", "anthropic.", &["claude-"]),
    ("gemini", "gemini", "gemini/", &["gemini-", "gemma-"]),
    ("gemini", "vertex_ai-language-models", "", &["gemini-"]),
    ("deepseek", "deepseek", "deepseek/", &["deepseek-"]),
    ("deepseek", "deepseek", "", &["deepseek-"]),
    (
        "mistral",
        "mistral",
        "mistral/",
        &["codestral", "devstral", "magistral", "ministral", "mistral", "open-mistral", "pixtral", "voxtral"],
    ),
    ("llama", "meta_llama", "meta_llama/", &["llama-"]),
    ("llama", "deepinfra", "deepinfra/meta-llama/", &["llama-", "meta-llama-"]),
    ("qwen", "dashscope", "dashscope/", &["qwen", "qwq"]),
    ("qwen", "deepinfra", "deepinfra/qwen/", &["qwen", "qwq"]),
    ("xai", "xai", "xai/", &["grok-"]),
    ("zai", "zai", "zai/", &["glm-"]),
    ("moonshot", "moonshot", "moonshot/", &["kimi-", "moonshot-"]),
    ("minimax", "minimax", "minimax/", &["minimax-"]),
    ("cohere", "cohere_chat", "", &["command-"]),
    ("nova", "amazon_nova", "amazon-nova/", &["nova-"]),
    ("nova", "bedrock_converse", "amazon.", &["nova-"]),
    ("xiaomi", "opencode_go", "opencode_go/", &["mimo-"]),
    ("xiaomi", "novita", "novita/xiaomimimo/", &["mimo-"]),
];

/// What the registry does not have any more and people still ask for, by the vendors' model pages: family, name, window and output.
const OLDER: &[(&str, &str, u64, u64)] = &[
    ("openai", "gpt-5.3-codex-spark", 128_000, 0),
    ("openai", "codex-mini", 200_000, 100_000),
    ("openai", "o1-preview", 128_000, 32_768),
    ("openai", "o1-mini", 128_000, 65_536),
    ("openai", "gpt-4-turbo-preview", 128_000, 4_096),
    ("openai", "gpt-4-32k", 32_768, 4_096),
    ("openai", "gpt-4.5-preview", 128_000, 16_384),
    ("openai", "gpt-4o-realtime-preview-2024-10-01", 128_000, 4_096),
    ("openai", "gpt-4-vision-preview", 128_000, 4_096),
    ("openai", "gpt-3.5-turbo-instruct", 4_096, 4_096),
    ("claude", "claude-2.1", 200_000, 4_096),
    ("gemini", "gemini-1.5-flash", 1_048_576, 8_192),
    ("gemini", "gemini-1.5-pro", 2_097_152, 8_192),
    ("gemini", "gemini-2.0-flash", 1_048_576, 8_192),
    ("gemini", "gemini-2.0-flash-lite", 1_048_576, 8_192),
];

/// Tokens; 0 where it is not known.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Model {
    window: u64,
    input: u64,
    output: u64,
    price: Price,
}

/// Millionths of a US dollar per million tokens: input, output, cache read, cache write. 0 where the registry has none.
type Price = [u64; 4];

/// The registry's fields of a price: US dollars per token.
const PRICES: [&str; 4] =
    ["input_cost_per_token", "output_cost_per_token", "cache_read_input_token_cost", "cache_creation_input_token_cost"];

pub fn run(project: &Project, args: &mut Args) -> Result<()> {
    let given = args.value("--registry")?;
    args.end()?;
    let (registry, source) = match given {
        Some(file) => (fs::read_to_string(&file).with_context(|| file.clone())?, "a file".to_owned()),
        None => fetch(project)?,
    };
    let registry: Map<String, Value> = serde_json::from_str(&registry)?;
    let mut families: BTreeMap<&str, BTreeMap<String, Model>> = BTreeMap::new();
    for &(family, provider, prefix, begins) in SOURCES {
        let models = families.entry(family).or_default();
        for (key, entry) in &registry {
            let Some(name) = name(key, prefix) else { continue };
            let known = begins.iter().any(|begin| name.starts_with(begin));
            let writes_media =
                ["image_generation", "audio_speech", "video_generation"].iter().any(|mode| entry["mode"] == *mode);
            if entry["litellm_provider"] != provider || !known || writes_media {
                continue;
            }
            let Some(model) = read(family, entry) else { continue };
            let before = models.entry(name).or_insert(model);
            if before.price == Price::default() {
                before.price = model.price;
            }
            // Of two vendors of one window, one may leave out that the answer is part of it.
            if before.window == model.window && family == "openai" {
                before.input = before.input.min(model.input);
            }
        }
    }
    for &(family, name, window, output) in OLDER {
        let model = Model { window, input: window, output, price: Price::default() };
        families.entry(family).or_default().entry(name.to_owned()).or_insert(model);
    }
    let path = project.path("src/tokens/models.txt");
    fs::write(&path, written(families, &source, &output(&mut today(project))?))?;
    println!("{}", path.display());
    Ok(())
}

/// Downloads the package, and takes the registry out.
fn fetch(project: &Project) -> Result<(String, String)> {
    step("LiteLLM's registry of models");
    let folder = project.scratch().join("models");
    fs::remove_dir_all(&folder).ok();
    fs::create_dir_all(&folder)?;
    let mut pip = project.command("python3");
    start(
        pip.args(["-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:", "--dest"])
            .arg(&folder)
            .arg("litellm"),
    )?;
    let wheel = fs::read_dir(&folder)?.next().context("pip downloaded nothing")??.path();
    let name = wheel.file_name().unwrap_or_default().to_string_lossy();
    let version = name.split('-').nth(1).unwrap_or("?").to_owned();
    start(project.command("python3").args(["-m", "zipfile", "-e"]).arg(&wheel).arg(&folder))?;
    Ok((fs::read_to_string(folder.join(REGISTRY))?, format!("LiteLLM {version}")))
}

fn today(project: &Project) -> std::process::Command {
    let mut date = project.command("date");
    date.args(["-u", "+%Y-%m-%d"]);
    date
}

/// The name that people know a model by; nothing where the prefix is another.
fn name(key: &str, prefix: &str) -> Option<String> {
    let key = key.to_lowercase();
    let name = key.strip_prefix(prefix)?.split(':').next()?.replace("gpt-35-", "gpt-3.5-").replace('@', "-");
    let name =
        ["-v1", "-v2", "-default"].iter().fold(name.as_str(), |name, end| name.strip_suffix(end).unwrap_or(name));
    (!name.contains('/') && !name.starts_with("gemini-gemma-")).then(|| name.to_owned())
}

/// The registry gives what a model takes in. OpenAI's windows of 400,000 and 1,050,000 hold the answer beside that.
fn read(family: &str, entry: &Value) -> Option<Model> {
    let input = entry["max_input_tokens"].as_u64()?;
    let output = entry["max_output_tokens"].as_u64().unwrap_or(0);
    let both = input + output;
    let window = if family == "openai" && [400_000, 1_050_000].contains(&both) { both } else { input };
    // What writes more than it reads writes speech.
    (output <= window).then_some(Model { window, input, output, price: price(entry) })
}

/// The price of short requests at the standard tier.
fn price(entry: &Value) -> Price {
    PRICES.map(|field| (entry[field].as_f64().unwrap_or(0.0) * 1e12).round() as u64)
}

/// `$2.5,10,1.25`, without what is missing at the end; nothing for a model without a price.
fn written_price(price: Price) -> String {
    let numbers = price.map(|micros| if micros == 0 { String::new() } else { (micros as f64 / 1e6).to_string() });
    let text = numbers.join(",");
    let text = text.trim_end_matches(',');
    if text.is_empty() { String::new() } else { format!("${text}") }
}

/// A name without the date of a snapshot.
fn undated(name: &str) -> &str {
    let name = name.strip_suffix("-latest").unwrap_or(name);
    let is_number = |group: &str| [2, 4, 8].contains(&group.len()) && group.bytes().all(|byte| byte.is_ascii_digit());
    let mut rest = name;
    while let Some((before, _)) = rest.rsplit_once('-').filter(|(_, group)| is_number(group)) {
        rest = before;
    }
    rest
}

/// The table, as src/tokens/models.rs says.
fn written(families: BTreeMap<&str, BTreeMap<String, Model>>, source: &str, date: &str) -> String {
    let mut lines: BTreeMap<(String, &str, Model), BTreeSet<String>> = BTreeMap::new();
    for (family, mut models) in families {
        // A model of which there are snapshots alone is as the newest of them.
        for (name, model) in models.clone() {
            let base = undated(&name).to_owned();
            if base != name && !models.contains_key(&base) {
                let newest =
                    models.iter().filter(|(other, _)| undated(other) == base).map(|(_, model)| *model).next_back();
                models.insert(base, newest.unwrap_or(model));
            }
        }
        for (name, model) in &models {
            if undated(name) == name || models.get(undated(name)) != Some(model) {
                let tokenizer = tokenizer(family, name);
                lines.entry((family.to_owned(), tokenizer, *model)).or_default().insert(name.clone());
            }
        }
    }
    // By name within one size, so that the order does not depend on prices.
    let mut lines: Vec<_> = lines.into_iter().collect();
    lines.sort_by(|((family, tokenizer, model), names), ((other_family, other_tokenizer, other), other_names)| {
        let sizes = |model: &Model| (model.window, model.input, model.output);
        let (one, another) =
            ((family, tokenizer, sizes(model), names), (other_family, other_tokenizer, sizes(other), other_names));
        one.cmp(&another)
    });
    let mut text = format!("# {source}, {}; written by `cargo xtask models`.\n", date.trim());
    let mut above = String::new();
    for ((family, tokenizer, Model { window, input, output, price }), names) in lines {
        let heading = format!("={family} {tokenizer}\n");
        if above != heading {
            text += &heading;
            above = heading;
        }
        let input = if input < window { format!("-{input}") } else { String::new() };
        let output = if output > 0 { format!("/{output}") } else { String::new() };
        let names: Vec<String> = names.into_iter().collect();
        text += &format!("{window}{input}{output}{} {}\n", written_price(price), names.join(" "));
    }
    text
}

/// How OpenAI's tiktoken maps names. It has none for gpt-6, and other vendors publish none for their services; for two of them
/// there is a multiple of the estimate (docs/estimator.md).
fn tokenizer(family: &str, name: &str) -> &'static str {
    let begins = |names: &[&str]| names.iter().any(|begin| name.starts_with(begin));
    if family == "claude" {
        // Opus 4.7 and what came later have another tokenizer than what came before.
        let older = [
            "claude-instant",
            "claude-2",
            "claude-3",
            "claude-opus-4-1",
            "claude-opus-4-5",
            "claude-opus-4-6",
            "claude-sonnet-4",
            "claude-haiku-4",
        ];
        if name == "claude-opus-4" || begins(&older) { "claude-3" } else { "claude" }
    } else if family == "gemini" {
        "gemini"
    } else if family != "openai" {
        "heuristic"
    } else if begins(&["gpt-4o", "gpt-4.", "gpt-5", "gpt-oss-", "o1", "o3", "o4", "chatgpt-4o", "codex-mini"]) {
        "o200k_base"
    } else if begins(&["gpt-4", "gpt-3.5", "text-embedding-"]) {
        "cl100k_base"
    } else {
        "heuristic"
    }
}
