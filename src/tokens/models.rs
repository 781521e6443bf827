//! Properties of models by name: family, tokenizer, context window and limits.
//!
//! The table is `models.txt`, whose first line names its source and date. A line `=family tokenizer` applies to the
//! lines below it. These have the window, `-` and the input limit if it is lower, `/` and the output limit if known,
//! `$` and the price if known, and the names. An unknown member of a known line, such as a version that is newer than the
//! table, counts as the newest of its line.

use serde::Serialize;

use crate::error::{Code, Error, Result};
use crate::json::Value;
use crate::text::{replace, split_once, whole_number};

/// The properties of a model.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Model {
    /// The vendor: `openai`, `claude`, `gemini`, `llama`, `qwen`, `deepseek`, `mistral`, `xai`, `zai`, `moonshot`,
    /// `minimax`, `cohere`, `nova` or `xiaomi`.
    pub family: &'static str,
    /// The value for `tokenizer`: an encoding, whose counts are exact; if the vendor publishes none, a multiple of the
    /// estimate for the family, or `heuristic`.
    pub tokenizer: &'static str,
    /// Maximum tokens of input and output together.
    pub context_window: u32,
    /// Maximum tokens of a request, if lower than the window.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_limit: Option<u32>,
    /// Maximum tokens of an answer, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_limit: Option<u32>,
    /// Whether its signed thinking is bound to everything before it: [`preserves_thinking`].
    pub preserved_thinking: bool,
    /// The model of the table that stands for it, if the name is an unknown member of a known line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counts_as: Option<&'static str>,
    /// The list price, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price: Option<Price>,
}

/// A list price in US dollars per million tokens, at the standard tier and below the vendor's threshold for long
/// requests.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Price {
    /// Tokens of the request.
    pub input: f64,
    /// Tokens of the answer. `None` for models that write none, such as embeddings.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<f64>,
    /// Tokens read from the cache. `None` if the vendor gives no discount.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_read: Option<f64>,
    /// Tokens written to the cache. `None` if they cost what `input` costs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_write: Option<f64>,
    /// The registry and its release.
    pub source: &'static str,
    /// The day on which the registry was read, as `YYYY-MM-DD`.
    pub date: &'static str,
}

const MODELS: &str = include_str!("models.txt");

/// The properties of the model with this name, in any case and with an optional provider before it (`openai/gpt-4o`,
/// `azure/eu/gpt-35-turbo`, `us.anthropic.claude-opus-4-5-20251101-v1:0`). A snapshot has the properties of its model
/// (`gpt-4o-2024-08-06`, `codex-mini-latest`), and so has a fine-tuned model (`ft:gpt-4o:acme::id`). An unknown member
/// of a known line (`claude-opus-9`, `gpt-6-foo`) has the properties of the newest model of the line. `None` for any
/// other name.
pub fn model(name: &str) -> Option<Model> {
    let name = base_name(name);
    // Routers write `claude-opus-4.5`, and the vendor's alias of a first version ends in `-0`.
    let dashed = replace(&name, ".", "-");
    let claude = Some(&*dashed).filter(|name| name.starts_with("claude-"));
    let claude = claude.map(|name| name.strip_suffix("-0").unwrap_or(name));
    let known = find(&name).or_else(|| find(undated(&name))).or_else(|| find(undated(claude?)));
    let model = known.or_else(|| newest(line(claude.unwrap_or(&name))?))?;
    Some(Model { preserved_thinking: preserves_thinking(&name), ..model })
}

/// The name in lower case, without provider, account of a fine-tuned model, or version of the service.
fn base_name(name: &str) -> String {
    let name = split_last(name, b'/').map_or(name, |(_, name)| name);
    let name = name.strip_prefix("ft:").unwrap_or(name);
    let name = split_once(name, ":").map_or(name, |(name, _)| name);
    let name: String = name.chars().map(|c| if c == '@' { '-' } else { c.to_ascii_lowercase() }).collect();
    let at_vendor = split_once(&name, "claude-").or_else(|| split_once(&name, "nova-"));
    let name = match (name.strip_prefix("gpt-35-"), at_vendor) {
        (Some(rest), _) => crate::text::concat(&["gpt-3.5-", rest]),
        // `us.anthropic.claude-opus-4-5`, `amazon.nova-pro`
        (None, Some((before, _))) if before.ends_with('.') => name.get(before.len()..).unwrap_or_default().to_owned(),
        (None, _) => name,
    };
    match name.strip_suffix("-v1") {
        Some(name) => name.to_owned(),
        None => name,
    }
}

/// The vendor of a model: by the table, else by the prefix of the name. `None` if neither matches.
pub fn family(name: &str) -> Option<&'static str> {
    if name.is_empty() {
        return None;
    }
    let name = base_name(name);
    let begins = |(begin, _): &&(&str, &'static str)| name.starts_with(begin);
    model(&name).map(|model| model.family).or_else(|| Some(BEGINNINGS.iter().find(begins)?.1))
}

/// Prefixes of names, and their vendors.
const BEGINNINGS: &[(&str, &str)] = &[
    ("claude-", "claude"),
    ("gemini-", "gemini"),
    ("gpt-", "openai"),
    ("chatgpt-", "openai"),
    ("codex-", "openai"),
    ("o1", "openai"),
    ("o3", "openai"),
    ("o4", "openai"),
    ("llama-", "llama"),
    ("qwen", "qwen"),
    ("deepseek-", "deepseek"),
    ("mistral-", "mistral"),
    ("grok-", "xai"),
    ("glm-", "zai"),
    ("kimi-", "moonshot"),
    ("minimax-", "minimax"),
    ("command-", "cohere"),
    ("nova-", "nova"),
    ("mimo-", "xiaomi"),
];

/// Digits of a number in a version. Snapshot dates have more.
const MAX_VERSION_DIGITS: usize = 2;

/// A rule that applies to Anthropic models from a version on.
#[derive(Debug)]
pub(crate) struct RuleSince {
    /// The first version with the rule, by line.
    lines: &'static [(&'static str, (u32, u32))],
    /// The first version of all other lines.
    others: (u32, u32),
}

/// Signed thinking is bound to everything before it.
const PRESERVED_THINKING: RuleSince = RuleSince {
    lines: &[("fable", (5, 1)), ("mythos", (5, 1)), ("opus", (5, 5)), ("sonnet", (5, 5)), ("haiku", (5, 5))],
    others: (5, 1),
};
/// The vendor rejects a `tool_choice` that forces a call.
pub(crate) const NO_FORCED_TOOL: RuleSince = RuleSince {
    lines: &[("fable", (5, 1)), ("opus", (5, 5)), ("sonnet", (5, 5)), ("haiku", (u32::MAX, 0))],
    others: (5, 1),
};
/// The vendor rejects `temperature`, `top_p` and `top_k` unless they have their defaults.
pub(crate) const NO_SAMPLING: RuleSince = RuleSince { lines: &[], others: (4, 7) };
/// The vendor rejects a conversation that ends with the assistant.
pub(crate) const NO_PREFILL: RuleSince = RuleSince { lines: &[], others: (4, 6) };

impl RuleSince {
    /// Whether the rule applies to a model. An Anthropic model without a version in its name counts as new, unless it
    /// is in the table.
    pub(crate) fn includes(&self, name: &str) -> bool {
        let name = base_name(name);
        let Some(rest) = name.strip_prefix("claude-") else { return false };
        let groups = || rest.split(['-', '.']).map(|group| group.strip_prefix('v').unwrap_or(group));
        let since = self.lines.iter().find(|(line, _)| groups().any(|group| group == *line));
        let number = |group: &str| Some(group).filter(|group| group.len() <= MAX_VERSION_DIGITS).and_then(whole_number);
        let mut version = groups().map(number).skip_while(Option::is_none);
        match version.next().flatten() {
            Some(major) => {
                let minor = version.next().flatten().unwrap_or(0);
                (major, minor) >= since.map_or(self.others, |&(_, since)| since)
            }
            None => find(undated(&name)).is_none(),
        }
    }
}

/// Whether the vendor of a model binds its signed thinking to everything before it and rejects thinking after a change:
/// newer Anthropic models, by line and version. An Anthropic model without a version in its name counts as new, unless
/// it is in the table.
pub fn preserves_thinking(name: &str) -> bool {
    PRESERVED_THINKING.includes(name)
}

/// The first version of OpenAI's models that accept cache breakpoints and read the reasoning of all turns.
const GPT_5_6: (u32, u32) = (5, 6);

/// The version of a model of OpenAI's `gpt` line.
fn gpt_version(name: &str) -> Option<(u32, u32)> {
    let name = base_name(name);
    let (major, minor, _) = version(name.strip_prefix("gpt-")?)?;
    Some((major, minor))
}

/// Whether OpenAI accepts explicit cache breakpoints for a model.
pub(crate) fn takes_breakpoints(name: &str) -> bool {
    gpt_version(name).is_some_and(|version| version >= GPT_5_6)
}

/// Whether a model of OpenAI's reads, and bills, the reasoning of earlier turns unless configured; `None` for other
/// vendors.
pub(crate) fn reads_all_reasoning(name: &str) -> Option<bool> {
    if family(name) != Some("openai") {
        return None;
    }
    Some(gpt_version(name).is_some_and(|version| version >= GPT_5_6))
}

/// The name and the properties of the model that a request names. `instead` is the option to pass for an unknown model.
///
/// # Errors
/// [`Code::UnknownValue`] for an unknown name.
pub(crate) fn known(name: Value<'_>, instead: &str) -> Result<(String, Model)> {
    let text = name.text()?.into_owned();
    match model(&text) {
        Some(model) => Ok((text, model)),
        None => Err(unknown(&text, &name.path(), instead)),
    }
}

/// The error for an unknown model; `instead` is the option to pass for it.
pub(crate) fn unknown(name: &str, path: &str, instead: &str) -> Error {
    let message = format!(
        "`{path}` is `{name}`, an unknown model; correct the name, or leave it out and pass `options.{instead}`"
    );
    Error::new(Code::UnknownValue, message).with("path", path).with("value", name)
}

/// The model of this name in the table.
fn find(name: &str) -> Option<Model> {
    Some(last(&mut |known| known == name)?.1)
}

/// The newest model of a line; the first by name if several have the same version.
fn newest(line: &str) -> Option<Model> {
    let mut latest = None;
    let (name, model) = last(&mut |known| {
        let version = known.strip_prefix(line).and_then(|rest| version(rest.strip_prefix('-').unwrap_or(rest)));
        let Some(version) = version else { return false };
        let is_newer = latest.is_none_or(|(last, name)| version > last || version == last && known < name);
        latest = if is_newer { Some((version, known)) } else { latest };
        is_newer
    })?;
    Some(Model { counts_as: Some(name), ..model })
}

/// The last model of the table whose name `accepts` returns `true` for.
fn last(accepts: &mut dyn FnMut(&'static str) -> bool) -> Option<(&'static str, Model)> {
    let (mut family, mut tokenizer, mut found) = ("", "", None);
    for line in MODELS.lines().filter(|line| !line.starts_with('#')) {
        if let Some(heading) = line.strip_prefix('=') {
            (family, tokenizer) = split_once(heading, " ")?;
            continue;
        }
        let (sizes, names) = split_once(line, " ")?;
        for name in names.split(' ') {
            if accepts(name) {
                found = Some((name, family, tokenizer, sizes));
            }
        }
    }
    let (name, family, tokenizer, sizes) = found?;
    let (sizes, price) = split_once(sizes, "$").map_or((sizes, None), |(sizes, price)| (sizes, self::price(price)));
    let (sizes, output) = split_once(sizes, "/").unwrap_or((sizes, ""));
    let (window, input) = split_once(sizes, "-").unwrap_or((sizes, ""));
    let (input_limit, output_limit) = (whole_number(input), whole_number(output));
    let context_window = whole_number(window)?;
    let limits = Model {
        family,
        tokenizer,
        context_window,
        input_limit,
        output_limit,
        preserved_thinking: false,
        counts_as: None,
        price,
    };
    Some((name, limits))
}

/// The price in a line: input, output, cache read and cache write, each empty if unknown.
fn price(text: &str) -> Option<Price> {
    let heading = MODELS.lines().next()?.strip_prefix("# ")?;
    let (source, rest) = split_once(heading, ", ")?;
    let (date, _) = split_once(rest, ";")?;
    let mut numbers = text.split(',').map(dollars);
    let mut next = || numbers.next().flatten();
    let (input, output, cache_read, cache_write) = (next()?, next(), next(), next());
    Some(Price { input, output, cache_read, cache_write, source, date })
}

/// Digits after the point of a price, at most.
const PRICE_DIGITS: usize = 6;

/// A decimal number such as `0.125`. Division of whole numbers rounds as correctly as parsing would, in less code.
fn dollars(text: &str) -> Option<f64> {
    let (whole, fraction) = split_once(text, ".").unwrap_or((text, ""));
    let missing = PRICE_DIGITS.checked_sub(fraction.len())?;
    let zeros = "000000".get(..missing)?;
    let millionths = whole_number(&crate::text::concat(&[whole, fraction, zeros]))?;
    Some(f64::from(millionths) / 1e6)
}

/// The prefix of a line's names, up to the version: `gpt-`, `o`, `claude-opus` of `claude-opus-latest`.
fn line(name: &str) -> Option<&str> {
    let Some(at) = name.find(|c: char| c.is_ascii_digit()) else {
        return Some(name.strip_suffix("-latest").unwrap_or(name)).filter(|line| line.contains('-'));
    };
    let (line, rest) = name.split_at_checked(at)?;
    // `gpt-4o` is of the line `gpt-`; `o1x` is of none.
    let is_version = line.ends_with('-') || version(rest).is_some_and(|(_, _, is_whole)| is_whole);
    (!line.is_empty() && is_version).then_some(line)
}

/// The version at the begin of the rest of a name, and whether its first group is only a number.
fn version(rest: &str) -> Option<(u32, u32, bool)> {
    let mut groups = rest.split(['-', '.']);
    let first = groups.next()?;
    let digits = first.trim_end_matches(|c: char| !c.is_ascii_digit());
    let number = |group: &str| Some(group).filter(|group| group.len() <= MAX_VERSION_DIGITS).and_then(whole_number);
    Some((number(digits)?, groups.next().and_then(number).unwrap_or(0), digits == first))
}

/// The text before and after the last occurrence of an ASCII character.
fn split_last(text: &str, character: u8) -> Option<(&str, &str)> {
    let at = text.bytes().rposition(|byte| byte == character)?;
    Some((text.get(..at)?, text.get(at.checked_add(1)?..)?))
}

/// A name without `-latest` or a snapshot date: groups of two, four or eight digits.
fn undated(name: &str) -> &str {
    let mut name = name.strip_suffix("-latest").unwrap_or(name);
    let is_number = |group: &str| matches!(group.len(), 2 | 4 | 8) && group.bytes().all(|byte| byte.is_ascii_digit());
    while let Some((before, _)) = split_last(name, b'-').filter(|(_, group)| is_number(group)) {
        name = before;
    }
    name
}
