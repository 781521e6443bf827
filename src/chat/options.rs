//! The options of a fit (SPEC §8 "FitOptions", "Limit", "Edits").

use std::rc::Rc;

use super::detect::{FORMATS, Format};
use super::message::{ROLES, Role};
use super::report::Strategy;
use crate::assembly::budget;
use crate::assembly::settings::{self, CHAT_MARKER, Preferences, Settings, whole};
use crate::call::Host;
use crate::error::{Code, Diagnostic, Error, Result};
use crate::json::{Kind, Object, Value};
use crate::tokens::{Counter, models};

const STRATEGIES: &[(&str, Strategy)] = &[
    ("truncateMiddle", Strategy::TruncateMiddle),
    ("rollingWindow", Strategy::RollingWindow),
    ("stopAtLimit", Strategy::StopAtLimit),
    ("keepStart", Strategy::KeepStart),
];

/// What is asked for: the whole of a fit, or one of the two halves around a summary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Fit,
    Plan,
    /// With the summary; none where there is none to be had.
    Finish(Option<String>),
}

/// Which reasoning an edit removes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RemovedReasoning {
    All,
    BeforeLastUser,
}

/// What may be cleared before anything is cut.
#[derive(Debug, Default)]
pub(super) struct Edits {
    /// Tokens above which edits are made; the limit where it is not given.
    pub trigger: Option<u64>,
    pub always: bool,
    pub at_least: u64,
    pub results: Option<EditResults>,
    /// How many of the last calls stay.
    pub calls: Option<u64>,
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

/// The options, read.
#[derive(Debug)]
pub(super) struct Options<'t> {
    pub format: Option<Format>,
    pub limit: u64,
    pub counter: Rc<dyn Counter>,
    pub tools: Option<Value<'t>>,
    pub system: Option<Value<'t>>,
    pub pinned: Vec<usize>,
    pub repair: bool,
    pub keep_first: u64,
    pub start_on: Vec<Role>,
    pub end_on: Vec<Role>,
    pub strategy: Strategy,
    pub settings: Settings,
    pub edits: Edits,
    /// Tokens that a summary may have.
    pub summary: u64,
    pub phase: Phase,
}

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
    "minimumRecentNodes",
    "truncationMarker",
    "cutQuantum",
    "edits",
    "summary",
    "phase",
    "summaryText",
];

impl<'t> Options<'t> {
    /// Reads the options; those that are not known become diagnostics.
    pub(super) fn read(options: Object<'t>, host: &Host, found: &mut Vec<Diagnostic>) -> Result<Self> {
        options.report_unknown(KNOWN, found);
        let (limit, tokenizer) = limit(options)?;
        let counter = match (options.get("tokenizer")?, tokenizer) {
            (None, Some(name)) => host.tokenizers.get(name).or_else(|_| host.counter(None))?,
            (tokenizer, _) => host.counter(tokenizer)?,
        };
        let number = |name| options.read(name, Value::number);
        let preferences = Preferences {
            minimum_recent_nodes: number("minimumRecentNodes")?,
            cut_quantum: number("cutQuantum")?,
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
        let phase = options.one_of("phase", &[("plan", false), ("finish", true)])?;
        Ok(Self {
            format: options.one_of("format", FORMATS)?,
            limit,
            counter,
            tools: options.get("tools")?,
            system: options.get("system")?,
            pinned: options.read("pinned", indices)?.unwrap_or_default(),
            repair: options.one_of("repair", &[("drop", true), ("off", false)])?.unwrap_or(true),
            keep_first: tokens(options, "keepFirst")?.unwrap_or(0),
            start_on,
            end_on: roles(options.get("endOn")?)?,
            strategy,
            settings,
            edits: options.read("edits", |edits| read_edits(edits, found))?.unwrap_or_default(),
            summary: summary.flatten().unwrap_or(limit / 4),
            phase: match phase {
                None => Phase::Fit,
                Some(false) => Phase::Plan,
                Some(true) => Phase::Finish(options.string("summaryText")?),
            },
        })
    }
}

/// `maxTokens`, or `contextWindow − tokenBuffer`, or what a model leaves; with the tokenizer of the model.
fn limit(options: Object<'_>) -> Result<(u64, Option<&'static str>)> {
    let buffer = tokens(options, "tokenBuffer")?;
    let model = options.read("model", |name| {
        let known = models::model(&name.text()?);
        known.ok_or_else(|| {
            let message = format!(
                "`{}` is no model that is known; give `contextWindow` instead",
                name.text().unwrap_or_default()
            );
            Error::new(Code::UnknownValue, message)
                .with("path", name.path())
                .with("value", name.text().unwrap_or_default().into_owned())
        })
    })?;
    let tokenizer = model.map(|model| model.tokenizer);
    if let Some(most) = tokens(options, "maxTokens")? {
        if most == 0 {
            let message = "`maxTokens` is 0; it must be above that".to_owned();
            return Err(Error::new(Code::InvalidBudget, message).with("setting", "maxTokens").with("value", 0));
        }
        return Ok((most, tokenizer));
    }
    if let Some(window) = options.read("contextWindow", Value::number)? {
        return Ok((budget::limit(window, buffer.unwrap_or(DEFAULT_BUFFER))?, tokenizer));
    }
    let Some(model) = model else {
        return Err(options
            .value()
            .invalid(|place| format!("{place} says no limit; give `maxTokens`, `contextWindow` or `model`")));
    };
    let buffer = buffer.unwrap_or(model.output_limit.map_or(DEFAULT_BUFFER, u64::from));
    let limit = budget::limit(f64::from(model.context_window), buffer)?;
    Ok((model.input_limit.map_or(limit, |most| limit.min(u64::from(most))), tokenizer))
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

fn read_edits(value: Value<'_>, found: &mut Vec<Diagnostic>) -> Result<Edits> {
    let edits = value.object("edits, an object")?;
    edits.report_unknown(&["trigger", "when", "atLeast", "toolResults", "toolCalls", "reasoning", "images"], found);
    let results = edits.read("toolResults", |value| {
        let edit = value.object("an edit, an object")?;
        edit.report_unknown(&["keepLast", "maxTokens", "placeholder", "exclude"], found);
        Ok::<_, Error>(EditResults {
            keep_last: tokens(edit, "keepLast")?.unwrap_or(0),
            max_tokens: tokens(edit, "maxTokens")?,
            placeholder: edit.string("placeholder")?.unwrap_or_else(|| PLACEHOLDER.to_owned()),
            exclude: edit.read("exclude", Value::strings)?.unwrap_or_default(),
        })
    })?;
    let mut last = |name, known: &[&str]| {
        edits.read(name, |value| {
            let edit = value.object("an edit, an object")?;
            edit.report_unknown(known, found);
            Ok(tokens(edit, "keepLast")?.unwrap_or(0))
        })
    };
    let calls = last("toolCalls", &["keepLast"])?;
    let images = last("images", &["keepLast"])?;
    let reasoning = edits.read("reasoning", |value| {
        let edit = value.object("an edit, an object")?;
        edit.report_unknown(&["remove"], found);
        let names = &[("all", RemovedReasoning::All), ("beforeLastUser", RemovedReasoning::BeforeLastUser)];
        edit.need("remove")?.one_of(names)
    })?;
    Ok(Edits {
        trigger: tokens(edits, "trigger")?,
        always: edits.one_of("when", &[("needed", false), ("always", true)])?.unwrap_or(false),
        at_least: tokens(edits, "atLeast")?.unwrap_or(0),
        results,
        calls,
        reasoning,
        images,
    })
}

/// Stands for a result that was cleared.
const PLACEHOLDER: &str = "[tool result cleared]";
