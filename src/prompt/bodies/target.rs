//! The `target` of a request: the provider, and the fields that the caller wants in the body.

use serde_json::{Map, Value};

use crate::error::{Code, Error, Result};

/// A provider's interface (SPEC §7).
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
    /// A plain completion of one document.
    Completion,
}

impl Provider {
    /// Every provider with the name that requests give it.
    pub const NAMES: [(&'static str, Self); 5] = [
        ("anthropic", Self::Anthropic),
        ("openai", Self::OpenAi),
        ("openai-responses", Self::OpenAiResponses),
        ("gemini", Self::Gemini),
        ("completion", Self::Completion),
    ];

    /// The name that requests give it.
    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(_, provider)| *provider == self).map_or("", |(name, _)| name)
    }

    fn from_name(name: &str) -> Result<Self> {
        let found = Self::NAMES.iter().find(|(known, _)| *known == name);
        found.map(|&(_, provider)| provider).ok_or_else(|| {
            let expected: Vec<&str> = Self::NAMES.iter().map(|(name, _)| *name).collect();
            let message = format!("`target.provider` is `{name}`; it must be one of `{}`", expected.join("`, `"));
            Error::new(Code::UnknownValue, message).with("value", name).with("expected", expected)
        })
    }
}

/// The `target` of a request.
#[derive(Clone, Debug, PartialEq)]
pub struct Target {
    /// The provider whose shape the body has.
    pub provider: Provider,
    /// The model; absent only for Gemini, which has it in the address.
    pub model: Option<String>,
    /// Tokens of the answer at most, in the provider's own field.
    pub max_tokens: Option<u64>,
    /// The value where the provider requires the field and the caller gave none: the `tokenBuffer`.
    pub fallback_max_tokens: u64,
    /// The temperature, a number.
    pub temperature: Option<Value>,
    /// Whether the answer shall be streamed.
    pub stream: Option<bool>,
    /// Tool definitions: `{ name, description?, parameters? }`, or in the provider's own shape.
    pub tools: Vec<Value>,
    /// Leave all reasoning out, as is needed after another provider's model wrote it.
    pub drop_reasoning: bool,
    /// The user message that is put first where the provider requires one and the conversation has none.
    pub opening_text: String,
    /// Where Anthropic's cache breakpoints go.
    pub cache: Option<CacheSettings>,
    /// All other fields, in the provider's own names; they are copied into the body.
    pub fields: Map<String, Value>,
}

/// The default of [`Target::opening_text`].
pub const OPENING_TEXT: &str = "[start of the conversation]";

/// How Anthropic's prompt cache is to be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CacheSettings {
    /// A breakpoint after the tools and the system context.
    pub system: bool,
    /// How long the provider keeps what is cached.
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
    /// Those at these places among the assembled messages; negative ones count from the end.
    At(Vec<i64>),
}

/// How long Anthropic keeps what is cached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CacheTtl {
    /// `5m`
    FiveMinutes,
    /// `1h`
    OneHour,
}

impl CacheTtl {
    /// As the provider writes it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::FiveMinutes => "5m",
            Self::OneHour => "1h",
        }
    }
}

/// Where a prompt cache is likely to hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hints {
    /// How many leading messages are those of the previous request.
    pub stable: usize,
    /// How many messages come before what truncation removed, where it did.
    pub before_cut: Option<usize>,
}

impl Target {
    /// A target with nothing but a provider and a model.
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

    /// Reads the `target` of a request.
    ///
    /// # Errors
    /// [`Code::InvalidInput`] with the path of what does not fit, [`Code::UnknownValue`] for a provider that is not
    /// known.
    pub fn read(value: Value) -> Result<Self> {
        let Value::Object(mut given) = value else {
            return Err(wrong("target", "an object with `provider` and `model`"));
        };
        let mut take = |name: &str| given.shift_remove(name).filter(|value| !value.is_null());
        let provider = match take("provider") {
            Some(Value::String(name)) => Provider::from_name(&name)?,
            _ => return Err(wrong("target.provider", "a provider's name")),
        };
        let mut target = Self::bare(provider);
        target.model = text(take("model"), "target.model")?;
        if target.model.is_none() && provider != Provider::Gemini {
            return Err(wrong("target.model", "the name of a model"));
        }
        if let Some(value) = take("maxTokens") {
            let tokens = value.as_u64().filter(|tokens| *tokens <= u64::from(u32::MAX));
            target.max_tokens = Some(tokens.ok_or_else(|| wrong("target.maxTokens", "a whole number, 0 or more"))?);
        }
        target.temperature = take("temperature");
        if target.temperature.as_ref().is_some_and(|value| !value.is_number()) {
            return Err(wrong("target.temperature", "a number"));
        }
        target.stream = flag(take("stream"), "target.stream")?;
        if let Some(tools) = take("tools") {
            let Value::Array(tools) = tools else { return Err(wrong("target.tools", "a list of tools")) };
            if let Some(at) = tools.iter().position(|tool| !tool.is_object()) {
                return Err(wrong(&format!("target.tools[{at}]"), "a tool, an object"));
            }
            target.tools = tools;
        }
        target.drop_reasoning = flag(take("dropReasoning"), "target.dropReasoning")?.unwrap_or(false);
        if let Some(opening) = text(take("openingText"), "target.openingText")? {
            if opening.trim().is_empty() {
                return Err(wrong("target.openingText", "a text that is not blank"));
            }
            target.opening_text = opening;
        }
        target.cache = take("cache").map(cache).transpose()?.flatten();
        // What is null, or undefined in JavaScript, is absent.
        given.retain(|_, value| !value.is_null());
        target.fields = given;
        Ok(target)
    }
}

#[cfg(target_arch = "wasm32")]
impl Target {
    /// Whether anything that the caller wrote holds this character.
    pub(crate) fn holds(&self, ch: char) -> bool {
        let own = [self.model.as_deref(), Some(&self.opening_text)];
        own.into_iter().flatten().any(|text| text.contains(ch))
            || self.tools.iter().any(|tool| tool.to_string().contains(ch))
            || self.fields.iter().any(|(name, value)| name.contains(ch) || value.to_string().contains(ch))
    }
}

/// `true`, `false`, or `{ system?, messages?, ttl? }`.
fn cache(value: Value) -> Result<Option<CacheSettings>> {
    let shape = || wrong("target.cache", "true, false or an object with `system`, `messages` and `ttl`");
    let mut given = match value {
        Value::Bool(on) => return Ok(on.then(CacheSettings::default)),
        Value::Object(given) => given,
        _ => return Err(shape()),
    };
    let mut take = |name: &str| given.shift_remove(name).filter(|value| !value.is_null());
    let mut settings = CacheSettings::default();
    if let Some(system) = flag(take("system"), "target.cache.system")? {
        settings.system = system;
    }
    settings.ttl = match text(take("ttl"), "target.cache.ttl")?.as_deref() {
        None => None,
        Some("5m") => Some(CacheTtl::FiveMinutes),
        Some("1h") => Some(CacheTtl::OneHour),
        Some(other) => {
            let message = format!("`target.cache.ttl` is `{other}`; it must be one of `5m`, `1h`");
            return Err(Error::new(Code::UnknownValue, message)
                .with("value", other)
                .with("expected", vec!["5m", "1h"]));
        }
    };
    settings.messages = match take("messages") {
        None => CacheMessages::Auto,
        Some(Value::String(auto)) if auto == "auto" => CacheMessages::Auto,
        Some(Value::Array(places)) => {
            let places: Option<Vec<i64>> = places.iter().map(Value::as_i64).collect();
            CacheMessages::At(places.ok_or_else(|| wrong("target.cache.messages", "\"auto\" or a list of places"))?)
        }
        Some(_) => return Err(wrong("target.cache.messages", "\"auto\" or a list of places")),
    };
    if let Some(unknown) = given.keys().next() {
        return Err(wrong(&format!("target.cache.{unknown}"), "left out; `cache` has `system`, `messages` and `ttl`"));
    }
    Ok(Some(settings))
}

fn text(value: Option<Value>, path: &str) -> Result<Option<String>> {
    match value {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(wrong(path, "a string")),
    }
}

fn flag(value: Option<Value>, path: &str) -> Result<Option<bool>> {
    match value {
        None => Ok(None),
        Some(Value::Bool(flag)) => Ok(Some(flag)),
        Some(_) => Err(wrong(path, "true or false")),
    }
}

#[cold]
fn wrong(path: &str, expected: &str) -> Error {
    Error::new(Code::InvalidInput, format!("`{path}` must be {expected}")).with("path", path)
}
