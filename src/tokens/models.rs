//! Which encoding and context window a model has, by name.
//!
//! Source: the tables of tiktoken-rs 0.12.1 (2026), which follow OpenAI's model pages; a test compares the two. Names that
//! are not here are not guessed: other vendors do not publish their tokenizers.

use serde::Serialize;

use crate::tokens::bpe::Encoding;

/// What is known of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Model {
    /// Name of the encoding, as `tokenizer` takes it.
    pub tokenizer: &'static str,
    /// Tokens that the model can take in, its answer included.
    pub context_window: u32,
}

/// Name, encoding, context window.
const MODELS: &[(&str, Encoding, u32)] = &[
    ("gpt-5.4", Encoding::O200kBase, 1_050_000),
    ("gpt-5.4-pro", Encoding::O200kBase, 1_050_000),
    ("gpt-5.4-mini", Encoding::O200kBase, 400_000),
    ("gpt-5.4-nano", Encoding::O200kBase, 400_000),
    ("gpt-5.3-codex", Encoding::O200kBase, 400_000),
    ("gpt-5.3-codex-spark", Encoding::O200kBase, 128_000),
    ("gpt-5.2", Encoding::O200kBase, 400_000),
    ("gpt-5.2-pro", Encoding::O200kBase, 400_000),
    ("gpt-5.2-codex", Encoding::O200kBase, 400_000),
    ("gpt-5.1", Encoding::O200kBase, 400_000),
    ("gpt-5.1-codex", Encoding::O200kBase, 400_000),
    ("gpt-5.1-codex-mini", Encoding::O200kBase, 400_000),
    ("gpt-5", Encoding::O200kBase, 400_000),
    ("gpt-5-codex", Encoding::O200kBase, 400_000),
    ("gpt-5-mini", Encoding::O200kBase, 400_000),
    ("gpt-5-nano", Encoding::O200kBase, 400_000),
    ("gpt-5-pro", Encoding::O200kBase, 400_000),
    ("codex-mini", Encoding::O200kBase, 200_000),
    ("o1", Encoding::O200kBase, 200_000),
    ("o1-mini", Encoding::O200kBase, 128_000),
    ("o1-preview", Encoding::O200kBase, 128_000),
    ("o1-pro", Encoding::O200kBase, 200_000),
    ("o3", Encoding::O200kBase, 200_000),
    ("o3-mini", Encoding::O200kBase, 200_000),
    ("o3-pro", Encoding::O200kBase, 200_000),
    ("o4-mini", Encoding::O200kBase, 200_000),
    ("gpt-4.1", Encoding::O200kBase, 1_047_576),
    ("gpt-4.1-mini", Encoding::O200kBase, 1_047_576),
    ("gpt-4.1-nano", Encoding::O200kBase, 1_047_576),
    ("gpt-4o", Encoding::O200kBase, 128_000),
    ("gpt-4o-mini", Encoding::O200kBase, 128_000),
    ("gpt-4-turbo-preview", Encoding::Cl100kBase, 128_000),
    ("gpt-4-32k", Encoding::Cl100kBase, 32_768),
    ("gpt-4", Encoding::Cl100kBase, 8_192),
    ("gpt-3.5-turbo", Encoding::Cl100kBase, 16_385),
    ("gpt-3.5-turbo-16k", Encoding::Cl100kBase, 16_385),
    ("text-embedding-ada-002", Encoding::Cl100kBase, 8_192),
];

/// What is known of the model of this name. A snapshot is known by its model (`gpt-4o-2024-08-06`, `gpt-4-0613`,
/// `codex-mini-latest`), and so is a fine-tuned one (`ft:gpt-4o:acme::id`). Nothing for a name that is not known.
pub fn model(name: &str) -> Option<Model> {
    let name = name.strip_prefix("ft:").map_or(name, |rest| rest.split(':').next().unwrap_or(rest));
    // OpenAI gave two dated snapshots of GPT-4 a larger window than the model of that name.
    if name.starts_with("gpt-4-0125") || name.starts_with("gpt-4-1106") {
        return Some(Model { tokenizer: Encoding::Cl100kBase.name(), context_window: 128_000 });
    }
    let found = MODELS.iter().find(|(known, ..)| name.strip_prefix(known).is_some_and(is_snapshot));
    found.map(|&(_, encoding, context_window)| Model { tokenizer: encoding.name(), context_window })
}

/// Nothing, `-latest`, or a date: groups of digits, each behind a hyphen.
fn is_snapshot(suffix: &str) -> bool {
    if suffix.is_empty() || suffix == "-latest" {
        return true;
    }
    let groups = |suffix: &str| {
        suffix.split('-').all(|group| group.len() >= 2 && group.bytes().all(|byte| byte.is_ascii_digit()))
    };
    suffix.strip_prefix('-').is_some_and(groups)
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests {
    use super::*;

    #[test]
    fn models_are_as_tiktoken_has_them() {
        for &(name, encoding, context_window) in MODELS {
            assert_eq!(model(name), Some(Model { tokenizer: encoding.name(), context_window }), "{name}");
            assert_eq!(tiktoken_rs::model::get_context_size(name), Some(context_window as usize), "{name}");
            let expected = match encoding {
                Encoding::O200kBase => tiktoken_rs::tokenizer::Tokenizer::O200kBase,
                Encoding::Cl100kBase => tiktoken_rs::tokenizer::Tokenizer::Cl100kBase,
            };
            assert_eq!(tiktoken_rs::tokenizer::get_tokenizer(name), Some(expected), "{name}");
        }
    }

    #[test]
    fn snapshots_are_known_and_nothing_is_guessed() {
        assert_eq!(model("gpt-4o-2024-08-06"), model("gpt-4o"));
        assert_eq!(model("gpt-4-0613"), model("gpt-4"));
        assert_eq!(model("gpt-4-1106-preview").unwrap().context_window, 128_000);
        assert_eq!(model("codex-mini-latest"), model("codex-mini"));
        assert_eq!(model("ft:gpt-4o-2024-08-06:acme::id"), model("gpt-4o"));
        for name in
            ["", "gpt", "gpt-4o-ultra", "gpt-9", "claude-sonnet-4-5", "gemini-2.5-pro", "gpt-4o-", "gpt-4o-x1", "o1x"]
        {
            assert_eq!(model(name), None, "{name}");
        }
    }
}
