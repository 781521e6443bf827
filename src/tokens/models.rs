//! What is known of models, by their names: family, tokenizer, context window and limits.
//!
//! The table is `models.txt`, whose first line names its source and date. A line `=family tokenizer` is about those below it, which
//! have the window, `-` and the limit of the input where that is less, `/` and that of the answer where it is known, and the names.
//! Names that are not there are not guessed.

use serde::Serialize;

use crate::error::{Code, Error, Result};
use crate::json::Value;
use crate::text::{replace, split_once, whole_number};

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
    let name = split_last(name, b'/').map_or(name, |(_, name)| name);
    let name = name.strip_prefix("ft:").unwrap_or(name);
    let name = split_once(name, ":").map_or(name, |(name, _)| name);
    let name: String = name.chars().map(|c| if c == '@' { '-' } else { c.to_ascii_lowercase() }).collect();
    let name = match (name.strip_prefix("gpt-35-"), split_last(&name, b'.')) {
        (Some(rest), _) => crate::text::concat(&["gpt-3.5-", rest]),
        (None, Some((_, claude))) if claude.starts_with("claude-") => claude.to_owned(),
        (None, _) => name,
    };
    let name = name.strip_suffix("-v1").unwrap_or(&name);
    // Routers write `claude-opus-4.5`, and the vendor's alias of a first version ends in `-0`.
    let dashed = replace(name, ".", "-");
    let claude = Some(&*dashed).filter(|name| name.starts_with("claude-"));
    let claude = claude.map(|name| name.strip_suffix("-0").unwrap_or(name));
    find(name).or_else(|| find(undated(name))).or_else(|| find(undated(claude?)))
}

/// What is known of the model that a request names, with the name. `instead` is an option that can be given for one that is not known.
///
/// # Errors
/// [`Code::UnknownValue`] for a name that is not known.
pub(crate) fn known(name: Value<'_>, instead: &str) -> Result<(String, Model)> {
    let text = name.text()?.into_owned();
    match model(&text) {
        Some(model) => Ok((text, model)),
        None => {
            let message = format!("`{text}` is no model that is known; give `{instead}` instead");
            Err(Error::new(Code::UnknownValue, message).with("path", name.path()).with("value", text))
        }
    }
}

fn find(name: &str) -> Option<Model> {
    let (mut family, mut tokenizer) = ("", "");
    let mut rest = MODELS;
    while let Some((line, behind)) = split_once(rest, "\n") {
        rest = behind;
        if let Some(heading) = line.strip_prefix('=') {
            (family, tokenizer) = split_once(heading, " ")?;
            continue;
        }
        let (sizes, mut names) = split_once(line, " ")?;
        while names != name {
            match split_once(names, " ") {
                Some((known, _)) if known == name => names = name,
                Some((_, more)) => names = more,
                None => break,
            }
        }
        if names == name {
            let (sizes, output) = split_once(sizes, "/").unwrap_or((sizes, ""));
            let (window, input) = split_once(sizes, "-").unwrap_or((sizes, ""));
            let (input_limit, output_limit) = (whole_number(input), whole_number(output));
            return Some(Model { family, tokenizer, context_window: whole_number(window)?, input_limit, output_limit });
        }
    }
    None
}

/// What stands before and behind the last place where a text has this character of ASCII.
fn split_last(text: &str, character: u8) -> Option<(&str, &str)> {
    let at = text.bytes().rposition(|byte| byte == character)?;
    Some((text.get(..at)?, text.get(at.checked_add(1)?..)?))
}

/// A name without `-latest` or the date of a snapshot: groups of two, four or eight digits.
fn undated(name: &str) -> &str {
    let mut name = name.strip_suffix("-latest").unwrap_or(name);
    let is_number = |group: &str| matches!(group.len(), 2 | 4 | 8) && group.bytes().all(|byte| byte.is_ascii_digit());
    while let Some((before, _)) = split_last(name, b'-').filter(|(_, group)| is_number(group)) {
        name = before;
    }
    name
}
