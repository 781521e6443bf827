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
    /// What to give as `tokenizer`: an encoding, whose counts are exact, or `heuristic` where the vendor publishes none.
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
    find(name).or_else(|| find(undated(name)))
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

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests {
    use super::*;
    use tiktoken_rs::tokenizer::{Tokenizer, get_tokenizer};

    fn names() -> impl Iterator<Item = (&'static str, Model)> {
        let lines = MODELS.lines().filter(|line| !line.starts_with(['#', '=']));
        lines.flat_map(|line| line.split(' ').skip(1)).filter_map(|name| Some((name, model(name)?)))
    }

    #[test]
    fn the_table_is_whole() {
        let mut families: Vec<_> = names().map(|(_, model)| model.family).collect();
        families.dedup();
        assert_eq!(families, ["claude", "deepseek", "gemini", "llama", "mistral", "openai", "qwen"]);
        assert!(names().count() > 200);
        for (name, model) in names() {
            assert!(model.context_window >= 2048, "{name}: {model:?}");
            assert!(model.input_limit.unwrap_or(model.context_window) <= model.context_window, "{name}: {model:?}");
            assert!(model.output_limit.is_none_or(|output| output <= model.context_window), "{name}: {model:?}");
            assert_eq!(names().filter(|(other, _)| *other == name).count(), 1, "{name} is there once");
        }
    }

    /// An exact tokenizer is the one that tiktoken has for the model; harmony counts texts as o200k_base does.
    #[test]
    fn tokenizers_are_as_tiktoken_has_them() {
        for (name, model) in names().filter(|(_, model)| model.tokenizer != "heuristic") {
            let expected = match get_tokenizer(name) {
                Some(Tokenizer::O200kBase | Tokenizer::O200kHarmony) => "o200k_base",
                Some(Tokenizer::Cl100kBase) => "cl100k_base",
                other => panic!("{name}: {other:?}"),
            };
            assert_eq!(model.tokenizer, expected, "{name}");
        }
        for name in ["gpt-4o", "gpt-5", "gpt-5.4-mini", "o3-deep-research", "gpt-oss-120b", "gpt-4.5-preview"] {
            assert_eq!(model(name).unwrap().tokenizer, "o200k_base", "{name}");
        }
    }

    /// Windows as OpenAI's model pages have them, by way of tiktoken-rs.
    #[test]
    fn windows_are_as_tiktoken_rs_has_them() {
        for name in [
            "gpt-4",
            "gpt-4o",
            "gpt-4.1-mini",
            "gpt-5",
            "gpt-5.1-codex",
            "gpt-5.4",
            "gpt-5.4-mini",
            "o3",
            "o4-mini",
            "codex-mini",
        ] {
            let window = tiktoken_rs::model::get_context_size(name).unwrap();
            assert_eq!(model(name).unwrap().context_window as usize, window, "{name}");
        }
        let gpt_5 = model("gpt-5").unwrap();
        assert_eq!((gpt_5.input_limit, gpt_5.output_limit), (Some(272_000), Some(128_000)));
    }

    #[test]
    fn names_are_known_as_people_write_them() {
        for (written, meant) in [
            ("gpt-4o-2024-08-06", "gpt-4o"),
            ("gpt-4-0613", "gpt-4"),
            ("codex-mini-latest", "codex-mini"),
            ("ft:gpt-4o-2024-08-06:acme::id", "gpt-4o"),
            ("openai/gpt-4o", "gpt-4o"),
            ("azure/eu/gpt-35-turbo-16k", "gpt-3.5-turbo-16k"),
            ("gpt-35-turbo", "gpt-3.5-turbo"),
            ("openrouter/openai/gpt-oss-120b", "gpt-oss-120b"),
            ("claude-opus-4-5-20251101", "claude-opus-4-5"),
            ("claude-sonnet-4-5@20250929", "claude-sonnet-4-5"),
            ("us.anthropic.claude-haiku-4-5-20251001-v1:0", "claude-haiku-4-5"),
            ("models/gemini-2.5-pro", "gemini-2.5-pro"),
            ("meta-llama/Llama-3.3-70B-Instruct", "llama-3.3-70b-instruct"),
            ("deepseek/deepseek-chat", "deepseek-chat"),
            ("mistral-large-latest", "mistral-large"),
        ] {
            assert_eq!(model(written), model(meant), "{written}");
            assert!(model(written).is_some(), "{written}");
        }
        assert_eq!(model("gpt-4-1106-preview").unwrap().context_window, 128_000);
        assert_eq!(model("gpt-4o-2024-05-13").unwrap().output_limit, Some(4_096));
        for name in [
            "",
            "gpt",
            "gpt-4o-ultra",
            "gpt-9",
            "claude",
            "gpt-4o-",
            "gpt-4o-x1",
            "o1x",
            "#",
            "heuristic",
            "LiteLLM",
            "200000",
        ] {
            assert_eq!(model(name), None, "{name}");
        }
    }
}
