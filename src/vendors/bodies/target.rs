//! The `target` of a request: the provider, and the fields that the caller sets in the body.

use serde_json::Map;

use crate::error::{Diagnostic, Result};
use crate::json::{self, Document, Kind, Value, refuse_unknown};

/// A provider's interface (docs/bodies.md).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Provider {
    /// Anthropic Messages.
    Anthropic,
    /// OpenAI Chat Completions.
    OpenAi,
    /// OpenAI Responses.
    OpenAiResponses,
    /// Gemini generateContent.
    Gemini,
    /// Gemini Interactions.
    GeminiInteractions,
    /// A plain completion of one document.
    Completion,
}

impl Provider {
    /// Every provider with its name in requests.
    pub const NAMES: [(&'static str, Self); 6] = [
        ("anthropic", Self::Anthropic),
        ("openai", Self::OpenAi),
        ("openai-responses", Self::OpenAiResponses),
        ("gemini", Self::Gemini),
        ("gemini-interactions", Self::GeminiInteractions),
        ("completion", Self::Completion),
    ];

    /// The name in requests.
    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(_, provider)| *provider == self).map_or("", |(name, _)| name)
    }
}

/// The `target` of a request.
#[derive(Clone, Debug, PartialEq)]
pub struct Target {
    /// The provider whose shape the body has.
    pub provider: Provider,
    /// The model; optional only for Gemini, which has it in the URL, and for an agent of Gemini Interactions.
    pub model: Option<String>,
    /// The output limit in tokens, written to the provider's field.
    pub max_tokens: Option<u64>,
    /// The output limit if the provider requires one and the caller sets none: the `tokenBuffer`.
    pub fallback_max_tokens: u64,
    /// The temperature, a number.
    pub temperature: Option<serde_json::Value>,
    /// Whether the answer is streamed.
    pub stream: Option<bool>,
    /// Tool definitions: `{ name, description?, parameters? }`, or in the provider's shape.
    pub tools: Vec<serde_json::Value>,
    /// Whether to leave out all reasoning, which is required after another provider's model wrote it.
    pub drop_reasoning: bool,
    /// The user message that is inserted first if the provider requires one and the conversation has none.
    pub opening_text: String,
    /// Cache breakpoints, for Anthropic, and for OpenAI Responses from gpt-5.6 on.
    pub cache: Option<CacheSettings>,
    /// All other fields, with the provider's names; they are copied into the body.
    pub fields: Map<String, serde_json::Value>,
}

/// The default of [`Target::opening_text`].
pub const OPENING_TEXT: &str = "[start of the conversation]";

/// The use of a provider's prompt cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CacheSettings {
    /// Whether to put a breakpoint after the tools and the system context. Not for OpenAI.
    pub system: bool,
    /// The lifetime of the cache.
    pub ttl: Option<CacheTtl>,
    /// The messages to put breakpoints after.
    pub messages: CacheMessages,
}

impl Default for CacheSettings {
    fn default() -> Self {
        Self { system: true, ttl: None, messages: CacheMessages::Auto }
    }
}

/// Which messages have a cache breakpoint after them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CacheMessages {
    /// The last one, the last that equals the previous request's, and the last before the cut.
    Auto,
    /// Those at these indices among the assembled messages; negative ones count from the end.
    At(Vec<i64>),
}

/// The lifetime of a provider's cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CacheTtl {
    /// `5m`.
    FiveMinutes,
    /// `1h`.
    OneHour,
    /// `30m`, for OpenAI.
    HalfHour,
    /// `12h`, for OpenAI.
    TwelveHours,
}

impl CacheTtl {
    /// The value as the provider writes it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::FiveMinutes => "5m",
            Self::OneHour => "1h",
            Self::HalfHour => "30m",
            Self::TwelveHours => "12h",
        }
    }
}

/// Places after which a prompt cache is likely to hit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hints {
    /// The number of leading messages equal to the previous request.
    pub stable: usize,
    /// The number of messages before a truncation, if there is one.
    pub before_cut: Option<usize>,
}

impl Target {
    /// A target with only a provider and a model.
    pub fn new(provider: Provider, model: &str) -> Self {
        Self { model: Some(model.to_owned()), ..Self::bare(provider) }
    }

    fn bare(provider: Provider) -> Self {
        Self {
            provider,
            model: None,
            max_tokens: None,
            fallback_max_tokens: 1024,
            temperature: None,
            stream: None,
            tools: Vec::new(),
            drop_reasoning: false,
            opening_text: OPENING_TEXT.to_owned(),
            cache: None,
            fields: Map::new(),
        }
    }

    /// Reads a `target` from its JSON.
    ///
    /// # Errors
    /// [`Code::InvalidInput`](crate::Code::InvalidInput) with the path of the invalid value, and [`Code::UnknownValue`](crate::Code::UnknownValue).
    pub fn from_json(text: &[u8]) -> Result<Self> {
        let document = Document::read(text, &[])?;
        let document: &Document<'_> = &document;
        let mut diagnostics = Vec::new();
        let target = Self::read(document.root(), &mut diagnostics)?;
        refuse_unknown(&diagnostics)?;
        Ok(target)
    }

    /// Reads `target`. Unknown fields are passed to the provider, except in `cache`.
    pub(crate) fn read(value: Value<'_>, diagnostics: &mut Vec<Diagnostic>) -> Result<Self> {
        let given = value.object("an object with `provider` and `model`")?;
        let mut target = Self::bare(given.need("provider")?.one_of(&Provider::NAMES)?);
        target.model = given.string("model")?;
        let has_no_model = match target.provider {
            Provider::Gemini => true,
            Provider::GeminiInteractions => given.get("agent")?.is_some(),
            _ => false,
        };
        if target.model.is_none() && !has_no_model {
            return Err(value.lacks("model"));
        }
        target.max_tokens = given.read("maxTokens", |tokens| tokens.whole(u32::MAX))?.map(u64::from);
        target.temperature = given.read("temperature", |value| value.number().map(json::number))?;
        target.stream = given.bool("stream")?;
        if let Some(tools) = given.get("tools")? {
            let tool = |tool: Value<'_>| tool.object("a tool, an object")?.value().to_json();
            target.tools = tools.list("a list of tools")?.read(tool)?;
        }
        target.drop_reasoning = given.bool("dropReasoning")?.unwrap_or_default();
        if let Some(opening) = given.get("openingText")? {
            target.opening_text = opening.string()?;
            if target.opening_text.trim().is_empty() {
                return Err(opening.mismatch("a text that is not blank"));
            }
        }
        let provider = target.provider;
        target.cache = given.read("cache", |value| cache(value, provider, diagnostics))?.flatten();
        for (name, value) in given.entries() {
            let name = name.string()?;
            if !FIELDS.contains(&&*name) && !value.is_null() {
                target.fields.insert(name, value.to_json()?);
            }
        }
        Ok(target)
    }
}

/// The fields that are not the provider's.
const FIELDS: &[&str] =
    &["provider", "model", "maxTokens", "temperature", "stream", "tools", "dropReasoning", "openingText", "cache"];

const TTLS: [(&str, CacheTtl); 4] = [
    ("5m", CacheTtl::FiveMinutes),
    ("1h", CacheTtl::OneHour),
    ("30m", CacheTtl::HalfHour),
    ("12h", CacheTtl::TwelveHours),
];
const ANTHROPIC_TTLS: &[(&str, CacheTtl)] = &[("5m", CacheTtl::FiveMinutes), ("1h", CacheTtl::OneHour)];

/// `true`, `false`, or `{ system?, messages?, ttl? }`.
fn cache(value: Value<'_>, provider: Provider, diagnostics: &mut Vec<Diagnostic>) -> Result<Option<CacheSettings>> {
    if value.kind() == Kind::Bool {
        return Ok(value.bool()?.then(CacheSettings::default));
    }
    let given = value.object("true, false or an object with `system`, `messages` and `ttl`")?;
    given.report_unknown(&["system", "messages", "ttl"], diagnostics);
    Ok(Some(CacheSettings {
        system: given.bool("system")?.unwrap_or(true),
        ttl: given.one_of("ttl", if provider == Provider::OpenAiResponses { &TTLS } else { ANTHROPIC_TTLS })?,
        messages: given.read("messages", cache_messages)?.unwrap_or(CacheMessages::Auto),
    }))
}

fn cache_messages(value: Value<'_>) -> Result<CacheMessages> {
    const EXPECTED: &str = "\"auto\" or a list of places";
    if value.as_text().is_some_and(|text| text == "auto") {
        return Ok(CacheMessages::Auto);
    }
    let place = |place: Value<'_>| {
        let place = place.as_number().filter(|place| place.fract() == 0.0 && place.abs() <= f64::from(u32::MAX));
        #[expect(clippy::cast_possible_truncation, reason = "the range was checked")]
        place.map(|place| place as i64).ok_or_else(|| value.mismatch(EXPECTED))
    };
    value.list(EXPECTED)?.read(place).map(CacheMessages::At)
}
