//! The table of models.

use ctxweave::tokens::models::{Model, Price, model, preserves_thinking};
use tiktoken_rs::tokenizer::{Tokenizer, get_tokenizer};

const MODELS: &str = include_str!("../../src/tokens/models.txt");

fn names() -> impl Iterator<Item = (&'static str, Model)> {
    let lines = MODELS.lines().filter(|line| !line.starts_with(['#', '=']));
    lines.flat_map(|line| line.split(' ').skip(1)).filter_map(|name| Some((name, model(name)?)))
}

#[test]
fn the_table_is_whole() {
    let mut families: Vec<_> = names().map(|(_, model)| model.family).collect();
    families.dedup();
    assert_eq!(
        families,
        [
            "claude", "cohere", "deepseek", "gemini", "llama", "minimax", "mistral", "moonshot", "nova", "openai",
            "qwen", "xai", "xiaomi", "zai"
        ]
    );
    let all: Vec<_> = names().collect();
    assert!(all.len() > 200);
    for (name, model) in &all {
        assert!(model.context_window >= 2048, "{name}: {model:?}");
        assert!(model.input_limit.unwrap_or(model.context_window) <= model.context_window, "{name}: {model:?}");
        assert!(model.output_limit.is_none_or(|output| output <= model.context_window), "{name}: {model:?}");
        assert_eq!(all.iter().filter(|(other, _)| other == name).count(), 1, "{name} is there once");
    }
}

/// An exact tokenizer is the one that tiktoken has for the model; harmony counts texts as o200k_base does.
#[test]
fn tokenizers_are_as_tiktoken_has_them() {
    for (name, model) in names().filter(|(_, model)| model.family == "openai" && model.tokenizer != "heuristic") {
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
        ("anthropic/claude-sonnet-4.5", "claude-sonnet-4-5"),
        ("claude-sonnet-4-0", "claude-sonnet-4"),
    ] {
        assert_eq!(model(written), model(meant), "{written}");
        assert!(model(written).is_some(), "{written}");
    }
    assert_eq!(model("gpt-4-1106-preview").unwrap().context_window, 128_000);
    assert_eq!(model("gpt-4o-2024-05-13").unwrap().output_limit, Some(4_096));
    for name in [
        "",
        "gpt",
        "claude",
        "claude-nova-9",
        "mistral-foo",
        "gpt-foo-9",
        "o1x",
        "o",
        "9",
        "-9",
        "#",
        "heuristic",
        "LiteLLM",
        "200000",
    ] {
        assert_eq!(model(name), None, "{name}");
    }
}

/// Prices of the table, also of snapshots, names with a provider and unknown members of a known line (docs/tokens.md).
#[test]
fn prices_are_those_of_the_table() {
    for (name, input, output, cache_read, cache_write) in [
        ("gpt-4o", 2.5, 10.0, Some(1.25), None),
        ("gpt-4o-2024-08-06", 2.5, 10.0, Some(1.25), None),
        ("openai/gpt-4o", 2.5, 10.0, Some(1.25), None),
        ("gpt-4-0613", 30.0, 60.0, None, None),
        ("claude-haiku-4-5-20251001", 1.0, 5.0, Some(0.1), Some(1.25)),
        ("us.anthropic.claude-haiku-4-5-20251001-v1:0", 1.0, 5.0, Some(0.1), Some(1.25)),
        ("anthropic/claude-sonnet-4.5", 3.0, 15.0, Some(0.3), Some(3.75)),
        ("claude-haiku-5-5", 0.1, 0.5, Some(0.01), Some(0.125)),
        ("claude-opus-9", 4.0, 20.0, Some(0.2), Some(5.0)),
    ] {
        let price = model(name).unwrap().price.unwrap_or_else(|| panic!("{name} has a price"));
        let Price { source, date, .. } = price;
        assert_eq!(price, Price { input, output: Some(output), cache_read, cache_write, source, date }, "{name}");
        assert!(source.starts_with("LiteLLM ") && date.len() == 10, "{source}, {date}");
    }
    assert_eq!(model("claude-2.1").unwrap().price, None);
    let priced = names().filter(|(_, model)| model.price.is_some()).count();
    assert!(priced * 10 > names().count() * 8, "{priced} of {} have a price", names().count());
    // Every price in the text was read, and is one of a request.
    let written =
        MODELS.lines().filter(|line| line.contains('$')).map(|line| line.split(' ').count() - 1).sum::<usize>();
    assert_eq!(priced, written);
    for (name, model) in names() {
        let Some(Price { input, cache_read, cache_write, .. }) = model.price else { continue };
        assert!(input > 0.0 && cache_read.is_none_or(|read| read <= input), "{name}: {model:?}");
        assert!(cache_write.is_none_or(|write| write > 0.0), "{name}: {model:?}");
    }
}

/// Unknown models of a known line count as its newest (docs/tokens.md).
#[test]
fn an_unknown_member_of_a_known_line_counts_as_its_newest() {
    for (name, newest) in [
        ("claude-opus-9", "claude-opus-5-5"),
        ("claude-opus-10-20290101", "claude-opus-5-5"),
        ("anthropic/claude-sonnet-6.2", "claude-sonnet-5-5"),
        ("us.anthropic.claude-haiku-7-v1:0", "claude-haiku-5-5"),
        ("claude-opus-latest", "claude-opus-5-5"),
        ("gpt-6-foo", "gpt-6.1-sol"),
        ("GPT-10", "gpt-6.1-sol"),
        ("openai/gpt-4o-ultra", "gpt-6.1-sol"),
        ("gemini-4-pro", "gemini-4-argon"),
        ("models/gemini-5-flash", "gemini-4-argon"),
        ("o5-mini", "o4-mini"),
        ("deepseek-v9", "deepseek-v4-flash"),
        ("mistral-large-7", "mistral-large-4"),
    ] {
        let known = model(newest).unwrap();
        assert_eq!(known.counts_as, None, "{newest}");
        let model = model(name).unwrap_or_else(|| panic!("{name}"));
        let expected = Model { counts_as: Some(newest), preserved_thinking: preserves_thinking(name), ..known };
        assert_eq!(model, expected, "{name}");
    }
    assert!(model("claude-opus-9").unwrap().preserved_thinking);
    // A model of the table never counts as another one.
    assert!(names().all(|(_, model)| model.counts_as.is_none()));
}

/// Preserved thinking: Fable and Mythos from 5.1, Opus, Sonnet and Haiku from 5.5, and all later ones.
#[test]
fn newer_models_of_anthropic_preserve_thinking() {
    for name in [
        "claude-fable-5-1",
        "claude-mythos-5-1",
        "claude-opus-5-5",
        "claude-sonnet-5-5",
        "claude-haiku-5-5",
        "claude-opus-5-5-20260901",
        "claude-opus-5.5",
        "anthropic/claude-fable-5.2",
        "us.anthropic.claude-sonnet-5-5-20260901-v1:0",
        "claude-opus-5-5@20260901",
        "claude-opus-6",
        "claude-fable-7-1",
        "claude-opus-latest",
        "Claude-Haiku-10",
    ] {
        assert!(preserves_thinking(name), "{name}");
    }
    for name in [
        "claude-opus-5",
        "claude-opus-5-0",
        "claude-opus-5-20260401",
        "claude-fable-5",
        "claude-mythos-5",
        "claude-mythos-preview",
        "claude-sonnet-5",
        "claude-opus-4-8",
        "claude-haiku-4-5",
        "claude-3-5-haiku-20241022",
        "anthropic.claude-v2",
        "claude-instant",
        "gpt-6-sol",
        "gemini-4-argon",
        "opus-5-5",
    ] {
        assert!(!preserves_thinking(name), "{name}");
    }
    // The entries of the table give the same.
    assert!(names().all(|(name, model)| model.preserved_thinking == preserves_thinking(name)));
    assert_eq!(names().filter(|(_, model)| model.preserved_thinking).count(), 5);
}

#[test]
fn every_vendor_of_the_table_is_known_by_its_names() {
    for (name, family) in [
        ("grok-4.5", "xai"),
        ("xai/grok-9", "xai"),
        ("zai/glm-5.3", "zai"),
        ("glm-9", "zai"),
        ("moonshotai/kimi-k3", "moonshot"),
        ("kimi-k2-thinking", "moonshot"),
        ("minimax/MiniMax-M3", "minimax"),
        ("command-a-03-2025", "cohere"),
        ("cohere/command-r-plus-08-2024", "cohere"),
        ("amazon.nova-pro-v1:0", "nova"),
        ("us.amazon.nova-premier-v1:0", "nova"),
        ("nova-lite", "nova"),
        ("xiaomi/mimo-v2.5-pro", "xiaomi"),
    ] {
        let model = model(name).unwrap_or_else(|| panic!("{name} is not known"));
        assert_eq!((model.family, model.tokenizer, model.preserved_thinking), (family, "heuristic", false), "{name}");
        assert_eq!(ctxweave::tokens::models::family(name), Some(family));
        assert!(model.context_window >= 128_000, "{name}");
    }
    for (name, newest) in [("gpt-6", "gpt-6.1-sol"), ("claude-fable-5-2", "claude-fable-5-1"), ("grok-9", "grok-4.20")]
    {
        assert!(model(name).unwrap().counts_as.is_some_and(|known| known.starts_with(newest)), "{name}");
    }
}
