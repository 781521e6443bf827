//! The options of a fit (SPEC §8 "FitOptions", "Limit", "Edits").

use std::borrow::Cow;
use std::rc::Rc;

use super::chat_input::ChatInput;
use super::detect::{FORMATS, Format};
use super::message::{ROLES, Role};
use super::report::Strategy;
use crate::assembly::budget;
use crate::assembly::settings::{self, CHAT_MARKER, Preferences, Settings, whole};
use crate::call::CallContext;
use crate::error::{Code, Diagnostic, DiagnosticCode, Error, Result, Severity};
use crate::json::{Kind, Object, Value, refuse_unknown};
use crate::text::is_blank;
use crate::tokens::{Counter, models};

const STRATEGIES: &[(&str, Strategy)] = &[
    ("truncateMiddle", Strategy::TruncateMiddle),
    ("rollingWindow", Strategy::RollingWindow),
    ("stopAtLimit", Strategy::StopAtLimit),
    ("keepStart", Strategy::KeepStart),
];

/// Which call it is: a whole fit, or one of the two halves around a summary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Fit,
    Plan,
    /// With the summary; none where there is none to be had.
    Finish(Option<String>),
}

impl Phase {
    /// Reads `{ phase?, summaryText? }` of a request.
    pub(super) fn read(request: Object<'_>) -> Result<Self> {
        Ok(match request.one_of("phase", &[("plan", false), ("finish", true)])? {
            None => Self::Fit,
            Some(false) => Self::Plan,
            Some(true) => Self::Finish(request.string("summaryText")?),
        })
    }
}

/// Which reasoning an edit removes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RemovedReasoning {
    All,
    BeforeLastUser,
}

/// What may be removed before anything is cut.
#[derive(Debug, Default)]
pub(super) struct Edits {
    /// Tokens above which edits are made; the limit where it is not given.
    pub trigger: Option<u64>,
    pub always: bool,
    pub min_tokens_freed: u64,
    pub results: Option<EditResults>,
    pub calls: Option<EditCalls>,
    pub reasoning: Option<RemovedReasoning>,
    /// How many of the last images stay.
    pub images: Option<u64>,
}

/// Which results are cleared, or shortened.
#[derive(Debug)]
pub(super) struct EditResults {
    pub keep_last: u64,
    pub max_tokens: Option<u64>,
    pub placeholder: String,
    pub exclude: Vec<String>,
}

/// Which calls are taken out, with their results.
#[derive(Debug)]
pub(super) struct EditCalls {
    pub keep_last: u64,
    pub exclude: Vec<String>,
}

impl Edits {
    /// Whether edits are made of a request of so many tokens.
    pub(super) fn is_due(&self, total: u64, target: u64) -> bool {
        let is_any =
            self.results.is_some() || self.calls.is_some() || self.reasoning.is_some() || self.images.is_some();
        is_any && (self.always || total > target)
    }
}

/// What becomes of signed thinking that is invalid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum PreservedThinking {
    #[default]
    Strip,
    /// It stays, and the request tells the provider to leave it out.
    DropBlock,
    Keep,
}

/// What a request says beside its messages that rules depend on: the container of a chat, or the target of its body.
#[derive(Clone, Debug, Default)]
pub(super) struct RequestFields {
    pub model: Option<String>,
    /// The field `thinking` of Anthropic's requests.
    pub thinking: Option<serde_json::Value>,
}

impl RequestFields {
    /// Those of a container.
    pub(super) fn of_chat(given: &ChatInput<'_>) -> Result<Self> {
        let model = given.model.and_then(Value::as_text).map(Cow::into_owned);
        Ok(Self { model, thinking: given.thinking.map(Value::to_json).transpose()? })
    }

    /// Those of a target.
    pub(super) fn of_target(target: Value<'_>) -> Result<Self> {
        let target = target.object("the target of a body, an object")?;
        let model = target.get("model")?.and_then(Value::as_text).map(Cow::into_owned);
        Ok(Self { model, thinking: target.get("thinking")?.map(Value::to_json).transpose()? })
    }

    /// Whether thinking is manual, which older models alone have.
    pub(super) fn is_manual(&self) -> bool {
        self.thinking.as_ref().is_some_and(|thinking| thinking.get("type").is_some_and(|kind| kind == "enabled"))
    }
}

/// The options, read.
#[derive(Debug)]
pub(super) struct Options {
    pub format: Option<Format>,
    pub limit: u64,
    pub counter: Rc<dyn Counter>,
    /// The name of the model, and what is known of it.
    pub model: Option<(String, Option<models::Model>)>,
    pub pinned: Vec<usize>,
    pub repair: bool,
    pub keep_first: u64,
    pub start_on: Vec<Role>,
    pub end_on: Vec<Role>,
    pub strategy: Strategy,
    pub settings: Settings,
    pub edits: Edits,
    /// Tokens that a summary may have.
    pub summary: Option<u64>,
    pub preserved_thinking: PreservedThinking,
    /// What the request says beside the chat: its container, or the target of its body.
    pub request: RequestFields,
    pub phase: Phase,
}

const THINKING: &[(&str, PreservedThinking)] = &[
    ("strip", PreservedThinking::Strip),
    ("dropBlock", PreservedThinking::DropBlock),
    ("keep", PreservedThinking::Keep),
];

const KNOWN: &[&str] = &[
    "format",
    "tokenizer",
    "tools",
    "system",
    "pinned",
    "repair",
    "keepFirst",
    "startOn",
    "endOn",
    "maxTokens",
    "contextWindow",
    "tokenBuffer",
    "model",
    "truncationStrategy",
    "keepLast",
    "truncationMarker",
    "cutStep",
    "edits",
    "summary",
    "preservedThinking",
];

impl Options {
    /// Reads the options; those that are not known become diagnostics.
    pub(super) fn read(options: Object<'_>, host: &CallContext, found: &mut Vec<Diagnostic>) -> Result<Self> {
        options.report_unknown(KNOWN, found);
        let chat = Self::of_chat(options, host, Some(&mut *found))?;
        let limit = limit(options, chat.model.as_ref().and_then(|(_, model)| model.as_ref()), found)?;
        let number = |name| options.read(name, Value::number);
        let preferences = Preferences {
            minimum_recent_nodes: number("keepLast")?,
            cut_step: number("cutStep")?,
            truncation_marker: options.string("truncationMarker")?,
            ..Preferences::default()
        };
        let strategy = options.one_of("truncationStrategy", STRATEGIES)?.unwrap_or_default();
        let mut settings = Settings::resolve(&preferences, CHAT_MARKER)?;
        settings.truncation_strategy = match strategy {
            Strategy::TruncateMiddle => settings::Strategy::TruncateMiddle,
            Strategy::StopAtLimit => settings::Strategy::StopAtLimit,
            Strategy::RollingWindow | Strategy::KeepStart => settings::Strategy::RollingWindow,
        };
        let start_on = roles(options.get("startOn")?)?;
        if !start_on.is_empty() {
            settings.start_on = settings::StartOn::User;
        }
        let summary = options.read("summary", |summary| {
            let summary = summary.object("settings of a summary, an object")?;
            summary.report_unknown(&["maxTokens"], found);
            tokens(summary, "maxTokens")
        })?;
        Ok(Self {
            limit,
            pinned: options.read("pinned", indices)?.unwrap_or_default(),
            repair: options.one_of("repair", &[("drop", true), ("off", false)])?.unwrap_or(true),
            keep_first: tokens(options, "keepFirst")?.unwrap_or(0),
            start_on,
            end_on: roles(options.get("endOn")?)?,
            strategy,
            settings,
            edits: options.read("edits", |edits| read_edits(edits, found))?.unwrap_or_default(),
            summary: summary.flatten(),
            preserved_thinking: options.one_of("preservedThinking", THINKING)?.unwrap_or_default(),
            ..chat
        })
    }

    /// Reads the options of a count; one that is not known is an error, since a number has no diagnostics.
    pub(super) fn of_count(options: Object<'_>, host: &CallContext) -> Result<Self> {
        options.only(&["format", "tokenizer", "model", "tools", "system"])?;
        Self::of_chat(options, host, None)
    }

    /// Reads what is said of the chat itself.
    fn of_chat(options: Object<'_>, host: &CallContext, found: Option<&mut Vec<Diagnostic>>) -> Result<Self> {
        let model = options.read("model", |name| model(options, name))?;
        Ok(Self {
            format: options.one_of("format", FORMATS)?,
            limit: u64::MAX,
            counter: counter(options, model.as_ref(), host, found)?,
            model,
            pinned: Vec::new(),
            repair: true,
            keep_first: 0,
            start_on: Vec::new(),
            end_on: Vec::new(),
            strategy: Strategy::default(),
            settings: Settings::resolve(&Preferences::default(), CHAT_MARKER)?,
            edits: Edits::default(),
            summary: None,
            preserved_thinking: PreservedThinking::default(),
            request: RequestFields::default(),
            phase: Phase::Fit,
        })
    }
}

/// What is known of a model. Next to a limit it may be one that is not known.
fn model(options: Object<'_>, name: Value<'_>) -> Result<(String, Option<models::Model>)> {
    let has_limit = options.get("maxTokens")?.or(options.get("contextWindow")?).is_some();
    let text = name.text()?;
    if has_limit && models::model(&text).is_none() {
        return Ok((text.into_owned(), None));
    }
    let (name, model) = models::known(name, "contextWindow")?;
    Ok((name, Some(model)))
}

/// The counter that is asked for, or the model's. Where that is not loaded the estimate stands in and a diagnostic says so.
fn counter(
    options: Object<'_>,
    model: Option<&(String, Option<models::Model>)>,
    host: &CallContext,
    found: Option<&mut Vec<Diagnostic>>,
) -> Result<Rc<dyn Counter>> {
    let (None, Some((name, model))) = (options.get("tokenizer")?, model) else {
        return host.counter(options.get("tokenizer")?);
    };
    let tokenizer = match (model, models::family(name)) {
        (Some(model), _) => model.tokenizer,
        // New models count as the newest.
        (None, Some(family @ ("claude" | "gemini"))) => family,
        (None, _) => "",
    };
    match (host.tokenizers.get(tokenizer), found) {
        (Err(_), Some(found)) => {
            let message = if tokenizer.is_empty() {
                format!("`{name}` has no tokenizer that is known; the counts are estimates")
            } else {
                format!("`{name}` counts by `{tokenizer}`, which is not loaded; the counts are estimates")
            };
            let estimated = Diagnostic::new(DiagnosticCode::TokensEstimated, Severity::Info, message);
            found.push(estimated.at_path("options.model"));
            host.counter(None)
        }
        (counter, _) => counter,
    }
}

/// `maxTokens`, or `contextWindow − tokenBuffer`, or what a model leaves.
fn limit(options: Object<'_>, model: Option<&models::Model>, found: &mut Vec<Diagnostic>) -> Result<u64> {
    let buffer = tokens(options, "tokenBuffer")?;
    if let Some(most) = tokens(options, "maxTokens")? {
        if most == 0 {
            let message = "`maxTokens` is 0; it must be above that".to_owned();
            return Err(Error::new(Code::InvalidBudget, message).with("setting", "maxTokens").with("value", 0));
        }
        for unused in ["contextWindow", "tokenBuffer"] {
            if options.get(unused)?.is_some() {
                let message = format!("`maxTokens` is the limit by itself; `{unused}` was not used");
                let diagnostic = Diagnostic::new(DiagnosticCode::OptionIgnored, Severity::Warning, message);
                found.push(diagnostic.at_path(format!("options.{unused}")));
            }
        }
        return Ok(most);
    }
    if let Some(window) = options.read("contextWindow", Value::number)? {
        return budget::limit(window, buffer.unwrap_or(DEFAULT_BUFFER));
    }
    let Some(model) = model else {
        // The limit may stand there under a name that is not known.
        refuse_unknown(found)?;
        return Err(options
            .value()
            .invalid(|place| format!("{place} says no limit; give `maxTokens`, `contextWindow` or `model`")));
    };
    // An answer that may be as long as the window is no room that could be kept free for it.
    let longest = model.output_limit.filter(|&longest| longest < model.context_window);
    let buffer = buffer.unwrap_or(longest.map_or(DEFAULT_BUFFER, u64::from));
    let limit = budget::limit(f64::from(model.context_window), buffer)?;
    Ok(model.input_limit.map_or(limit, |most| limit.min(u64::from(most))))
}

/// Tokens kept free for the answer where nothing says how many.
const DEFAULT_BUFFER: u64 = 1024;

/// A number of tokens, or of something else.
fn tokens(options: Object<'_>, name: &'static str) -> Result<Option<u64>> {
    options.read(name, Value::any_number)?.map(|number| whole(name, number)).transpose()
}

fn indices(value: Value<'_>) -> Result<Vec<usize>> {
    value.list("a list of indices, or a function")?.map(|index| Ok(index.whole(u32::MAX)? as usize)).collect()
}

/// A role, or several.
fn roles(value: Option<Value<'_>>) -> Result<Vec<Role>> {
    match value {
        None => Ok(Vec::new()),
        Some(value) if value.kind() == Kind::List => {
            value.list("a list of roles")?.map(|role| role.one_of(ROLES)).collect()
        }
        Some(value) => Ok(vec![value.one_of(ROLES)?]),
    }
}

/// How many of the last an edit leaves as they are.
fn keep_last(edit: Object<'_>) -> Result<u64> {
    tokens(edit, "keepLast")?.ok_or_else(|| edit.value().lacks("keepLast"))
}

/// The tools that an edit leaves alone.
fn excluded(edit: Object<'_>) -> Result<Vec<String>> {
    Ok(edit.read("exclude", Value::strings)?.unwrap_or_default())
}

fn read_edits(value: Value<'_>, found: &mut Vec<Diagnostic>) -> Result<Edits> {
    let edits = value.object("edits, an object")?;
    edits.report_unknown(
        &["trigger", "when", "minTokensFreed", "toolResults", "toolCalls", "reasoning", "images"],
        found,
    );
    let results = edits.read("toolResults", |value| {
        let edit = value.object("an edit, an object")?;
        edit.report_unknown(&["keepLast", "maxTokens", "placeholder", "exclude"], found);
        Ok::<_, Error>(EditResults {
            keep_last: keep_last(edit)?,
            max_tokens: tokens(edit, "maxTokens")?,
            placeholder: edit
                .string("placeholder")?
                .filter(|text| !is_blank(text))
                .unwrap_or_else(|| PLACEHOLDER.to_owned()),
            exclude: excluded(edit)?,
        })
    })?;
    let calls = edits.read("toolCalls", |value| {
        let edit = value.object("an edit, an object")?;
        edit.report_unknown(&["keepLast", "exclude"], found);
        Ok::<_, Error>(EditCalls { keep_last: keep_last(edit)?, exclude: excluded(edit)? })
    })?;
    let images = edits.read("images", |value| {
        let edit = value.object("an edit, an object")?;
        edit.report_unknown(&["keepLast"], found);
        keep_last(edit)
    })?;
    let reasoning = edits.read("reasoning", |value| {
        let edit = value.object("an edit, an object")?;
        edit.report_unknown(&["remove"], found);
        let names = &[("all", RemovedReasoning::All), ("beforeLastUser", RemovedReasoning::BeforeLastUser)];
        edit.need("remove")?.one_of(names)
    })?;
    Ok(Edits {
        trigger: tokens(edits, "trigger")?,
        always: edits.one_of("when", &[("needed", false), ("always", true)])?.unwrap_or(false),
        min_tokens_freed: tokens(edits, "minTokensFreed")?.unwrap_or(0),
        results,
        calls,
        reasoning,
        images,
    })
}

/// Stands for a result that was cleared.
const PLACEHOLDER: &str = "[tool result cleared]";
