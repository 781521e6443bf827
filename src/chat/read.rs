//! The options of a fit as JSON.

use std::borrow::Cow;

use super::chat_input::ChatInput;
use super::options::{CallEdit, Edits, FitOptions, Phase, RemovedReasoning, RequestFields, ResultEdit, ToolFilter};
use super::state::{FitState, Previous};
use crate::assembly::preserved::PreservedThinking;
use crate::assembly::series::part_of_limit;
use crate::assembly::settings::{FILL, Fill, Protect, Strategy, whole, whole_from};
use crate::call::CallContext;
use crate::content::Role;
use crate::error::{Diagnostic, Result};
use crate::json::{Kind, Object, Value};
use crate::text::is_blank;
use crate::vendors::anthropic::refused::REFUSABLE;
use crate::vendors::detect::ListField;
use crate::vendors::fields::continues_stored;
use crate::vendors::format::FORMATS;
use crate::vendors::pieces::message::ROLES;

const STRATEGIES: &[(&str, Strategy)] = &[
    ("truncateMiddle", Strategy::TruncateMiddle),
    ("rollingWindow", Strategy::RollingWindow),
    ("stopAtLimit", Strategy::StopAtLimit),
    ("keepStart", Strategy::KeepStart),
];

const PRESERVED_THINKING: &[(&str, PreservedThinking)] = &[
    ("strip", PreservedThinking::Strip),
    ("dropBlock", PreservedThinking::DropBlock),
    ("keep", PreservedThinking::Keep),
];

const FIT_OPTIONS: &[&str] = &[
    "format",
    "tokenizer",
    "tools",
    "system",
    "costs",
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
    "protect",
    "protectTools",
    "fill",
    "edits",
    "summary",
    "preservedThinking",
    "previous",
    "cutTo",
    "defaultWindow",
    "maxImages",
    "maxBytes",
];

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

impl RequestFields {
    /// The fields of a container.
    pub(super) fn of_chat(given: &ChatInput<'_>) -> Result<Self> {
        let Some((container, field)) = given.container else { return Ok(Self::default()) };
        let fields = Self::of_object(container)?;
        Ok(Self { continues: fields.continues && field == ListField::Input, ..fields })
    }

    /// The fields of the target of a body.
    pub(super) fn of_target(target: Value<'_>) -> Result<Self> {
        Self::of_object(target.object("the target of a body, an object")?)
    }

    fn of_object(request: Object<'_>) -> Result<Self> {
        let [model, thinking, reasoning] = request.fields(["model", "thinking", "reasoning"])?;
        let [tool_choice, temperature, top_p, top_k] = request.fields(REFUSABLE)?;
        let json = |value: Option<Value<'_>>| value.map(Value::to_json).transpose();
        Ok(Self {
            model: model.and_then(Value::as_text).map(Cow::into_owned),
            thinking: json(thinking)?,
            reasoning: json(reasoning)?,
            tool_choice: json(tool_choice)?,
            temperature: json(temperature)?,
            top_p: json(top_p)?,
            top_k: json(top_k)?,
            continues: continues_stored(request),
        })
    }
}

impl FitOptions {
    /// Reads options; unknown ones become diagnostics. `system` and `tools` stay in the request, where their text is
    /// counted.
    pub(super) fn read(options: Object<'_>, host: &CallContext, diagnostics: &mut Vec<Diagnostic>) -> Result<Self> {
        options.report_unknown(FIT_OPTIONS, diagnostics);
        let defaults = Self::read_of_chat(options, host)?;
        let number = |name| options.read(name, |value| whole(name, value.number()?));
        let summary = options.read("summary", |summary| {
            let summary = summary.object("settings of a summary, an object")?;
            summary.report_unknown(&["maxTokens"], diagnostics);
            tokens(summary, "maxTokens")
        })?;
        let truncation_strategy = options.one_of("truncationStrategy", STRATEGIES)?.unwrap_or_default();
        let fill = options.one_of("fill", FILL)?;
        let cut_step = number("cutStep")?.unwrap_or(defaults.cut_step);
        if fill.is_some_and(|fill| fill != Fill::Off) && cut_step > 0 {
            diagnostics.push(Diagnostic::ignored_fill("options.fill"));
        }
        Ok(Self {
            max_tokens: read_limit(options)?,
            context_window: number("contextWindow")?,
            token_buffer: tokens(options, "tokenBuffer")?,
            default_window: number("defaultWindow")?,
            max_images: number("maxImages")?,
            max_bytes: number("maxBytes")?,
            costs: options.read("costs", costs)?,
            pinned: options.read("pinned", indices)?.unwrap_or_default(),
            repair: options.one_of("repair", &[("drop", true), ("off", false)])?.unwrap_or(defaults.repair),
            keep_first: tokens(options, "keepFirst")?.unwrap_or(defaults.keep_first),
            keep_last: number("keepLast")?.unwrap_or(defaults.keep_last),
            start_on: roles(options.get("startOn")?)?,
            end_on: roles(options.get("endOn")?)?,
            truncation_strategy,
            truncation_marker: options.string("truncationMarker")?.unwrap_or(defaults.truncation_marker),
            cut_step,
            protect: options.read("protect", Protect::read_all)?,
            protect_tools: options.read("protectTools", Value::strings)?,
            fill: fill.unwrap_or_default(),
            edits: options.read("edits", |edits| read_edits(edits, diagnostics))?,
            summary_tokens: summary.flatten(),
            preserved_thinking: options.one_of("preservedThinking", PRESERVED_THINKING)?.unwrap_or_default(),
            previous: Previous::read(options, FitState::read)?,
            cut_to: options.read("cutTo", |part| part_of_limit(part.number()?))?,
            ..defaults
        })
    }

    /// Reads the options of a count; an unknown one is an error, since a number carries no diagnostics.
    pub(super) fn read_to_count(options: Object<'_>, host: &CallContext) -> Result<Self> {
        options.only(&["format", "tokenizer", "model", "tools", "system"])?;
        Self::read_of_chat(options, host)
    }

    /// Reads the options that describe the chat.
    fn read_of_chat(options: Object<'_>, host: &CallContext) -> Result<Self> {
        Ok(Self {
            format: options.one_of("format", FORMATS)?,
            model: options.string("model")?,
            counter: options.read("tokenizer", |tokenizer| host.counter(Some(tokenizer)))?,
            tokenizers: host.tokenizers.clone(),
            ..Self::default()
        })
    }
}

/// A number of tokens, or of other units.
fn tokens(options: Object<'_>, name: &'static str) -> Result<Option<u64>> {
    options.read(name, Value::any_number)?.map(|number| whole(name, number)).transpose()
}

/// The limit, `maxTokens`.
fn read_limit(options: Object<'_>) -> Result<Option<u64>> {
    const NAME: &str = "maxTokens";
    options.read(NAME, Value::any_number)?.map(|number| whole_from(NAME, number, 1)).transpose()
}

fn costs(value: Value<'_>) -> Result<Vec<u32>> {
    value.list("a list of token counts")?.map(|cost| cost.whole(u32::MAX)).collect()
}

fn indices(value: Value<'_>) -> Result<Vec<usize>> {
    value.list("a list of indices, or a function")?.map(|index| Ok(index.whole(u32::MAX)? as usize)).collect()
}

/// One role or several.
fn roles(value: Option<Value<'_>>) -> Result<Vec<Role>> {
    match value {
        None => Ok(Vec::new()),
        Some(value) if value.kind() == Kind::List => {
            value.list("a list of roles")?.map(|role| role.one_of(ROLES)).collect()
        }
        Some(value) => Ok(vec![value.one_of(ROLES)?]),
    }
}

/// The number of last items that an edit keeps.
fn keep_last(edit: Object<'_>) -> Result<u64> {
    tokens(edit, "keepLast")?.ok_or_else(|| edit.value().lacks("keepLast"))
}

/// The tools that an edit applies to.
fn tools(edit: Object<'_>) -> Result<ToolFilter> {
    let exclude = edit.read("exclude", Value::strings)?.unwrap_or_default();
    Ok(ToolFilter { only: edit.read("only", Value::strings)?, exclude })
}

fn read_call_edit(value: Value<'_>, diagnostics: &mut Vec<Diagnostic>) -> Result<CallEdit> {
    let edit = value.object("an edit, an object")?;
    edit.report_unknown(&["keepLast", "only", "exclude"], diagnostics);
    Ok(CallEdit { keep_last: keep_last(edit)?, tools: tools(edit)? })
}

fn read_result_edit(value: Value<'_>, diagnostics: &mut Vec<Diagnostic>) -> Result<ResultEdit> {
    let edit = value.object("an edit, an object")?;
    let known = &["keepLast", "keepTokens", "maxTokens", "placeholder", "only", "exclude", "duplicates"];
    edit.report_unknown(known, diagnostics);
    let keep_tokens = tokens(edit, "keepTokens")?;
    // One of the two suffices.
    let keep_last = if keep_tokens.is_some() { tokens(edit, "keepLast")?.unwrap_or(0) } else { keep_last(edit)? };
    let defaults = ResultEdit::new(keep_last);
    Ok(ResultEdit {
        keep_tokens: keep_tokens.unwrap_or(0),
        max_tokens: tokens(edit, "maxTokens")?,
        placeholder: edit.string("placeholder")?.filter(|text| !is_blank(text)).unwrap_or(defaults.placeholder),
        tools: tools(edit)?,
        duplicates: edit.read("duplicates", Value::bool)?.unwrap_or(false),
        ..defaults
    })
}

fn read_edits(value: Value<'_>, diagnostics: &mut Vec<Diagnostic>) -> Result<Edits> {
    if value.kind() == Kind::Bool && !value.bool()? {
        return Ok(Edits::default());
    }
    let edits = value.object("edits, an object, or `false`")?;
    edits.report_unknown(
        &["trigger", "when", "minTokensFreed", "step", "toolResults", "toolInputs", "toolCalls", "reasoning", "images"],
        diagnostics,
    );
    let images = edits.read("images", |value| {
        let edit = value.object("an edit, an object")?;
        edit.report_unknown(&["keepLast"], diagnostics);
        keep_last(edit)
    })?;
    let reasoning = edits.read("reasoning", |value| {
        let edit = value.object("an edit, an object")?;
        edit.report_unknown(&["remove"], diagnostics);
        let names = &[("all", RemovedReasoning::All), ("beforeLastUser", RemovedReasoning::BeforeLastUser)];
        edit.need("remove")?.one_of(names)
    })?;
    Ok(Edits {
        trigger: tokens(edits, "trigger")?,
        always: edits.one_of("when", &[("needed", false), ("always", true)])?.unwrap_or(false),
        min_tokens_freed: tokens(edits, "minTokensFreed")?.unwrap_or(0),
        step: tokens(edits, "step")?.unwrap_or(0),
        tool_results: edits.read("toolResults", |value| read_result_edit(value, diagnostics))?,
        tool_inputs: edits.read("toolInputs", |value| read_call_edit(value, diagnostics))?,
        tool_calls: edits.read("toolCalls", |value| read_call_edit(value, diagnostics))?,
        reasoning,
        images,
    })
}
