//! What is known of models, by their names: family, tokenizer, context window and limits.
//!
//! The table is `models.txt`, whose first line names its source and date. A line `=family tokenizer` is about those below it, which
//! have the window, `-` and the limit of the input where that is less, `/` and that of the answer where it is known, and the names.
//! Names that are not there are not guessed.

use serde::Serialize;

/// What is known of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Model {
    /// Whose it is: `openai`, `claude`, `gemini`, `llama`, `qwen`, `deepseek` or `mistral`.
    pub family: &'static str,
    /// What to give as `tokenizer`: an encoding, whose counts are exact, or where the vendor publishes none a multiple of the
    /// estimate for the family, or `heuristic`.
    pub tokenizer: &'static str,
    /// Tokens that the model can take in, its answer included.
    pub context_window: u32,
    /// The most that a request may have, where that is less than the window.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_limit: Option<u32>,
    /// The most that an answer can have, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_limit: Option<u32>,
}

const MODELS: &str = include_str!("models.txt");

/// What is known of the model of this name, in any case and with a provider before it (`openai/gpt-4o`, `azure/eu/gpt-35-turbo`,
/// `us.anthropic.claude-opus-4-5-20251101-v1:0`). A snapshot is known by its model (`gpt-4o-2024-08-06`, `codex-mini-latest`), and
/// so is a fine-tuned one (`ft:gpt-4o:acme::id`). Nothing for a name that is not known.
pub fn model(name: &str) -> Option<Model> {
    let name = name.rsplit('/').next().unwrap_or(name);
    let name = name.strip_prefix("ft:").unwrap_or(name);
    let name = name.split(':').next().unwrap_or(name);
    let name: String = name.chars().map(|c| if c == '@' { '-' } else { c.to_ascii_lowercase() }).collect();
    let name = match (name.strip_prefix("gpt-35-"), name.rsplit_once('.')) {
        (Some(rest), _) => ["gpt-3.5-", rest].concat(),
        (None, Some((_, claude))) if claude.starts_with("claude-") => claude.to_owned(),
        (None, _) => name,
    };
    let name = name.strip_suffix("-v1").unwrap_or(&name);
    // Routers write `claude-opus-4.5`, and the vendor's alias of a first version ends in `-0`.
    let dashed = name.replace('.', "-");
    let claude = Some(&*dashed).filter(|name| name.starts_with("claude-"));
    let claude = claude.map(|name| name.strip_suffix("-0").unwrap_or(name));
    find(name).or_else(|| find(undated(name))).or_else(|| find(undated(claude?)))
}

fn find(name: &str) -> Option<Model> {
    let (mut family, mut tokenizer) = ("", "");
    MODELS.lines().find_map(|line| {
        if let Some(heading) = line.strip_prefix('=') {
            (family, tokenizer) = heading.split_once(' ')?;
        }
        let (sizes, names) = line.split_once(' ')?;
        if !names.split(' ').any(|known| known == name) {
            return None;
        }
        let (sizes, output) = sizes.split_once('/').unwrap_or((sizes, ""));
        let (window, input) = sizes.split_once('-').unwrap_or((sizes, ""));
        let (context_window, input_limit, output_limit) =
            (window.parse().ok()?, input.parse().ok(), output.parse().ok());
        Some(Model { family, tokenizer, context_window, input_limit, output_limit })
    })
}

/// A name without `-latest` or the date of a snapshot: groups of two, four or eight digits.
fn undated(name: &str) -> &str {
    let mut name = name.strip_suffix("-latest").unwrap_or(name);
    let is_number = |group: &str| matches!(group.len(), 2 | 4 | 8) && group.bytes().all(|byte| byte.is_ascii_digit());
    while let Some((before, _)) = name.rsplit_once('-').filter(|(_, group)| is_number(group)) {
        name = before;
    }
    name
}
