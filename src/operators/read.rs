//! Reads tasks, assemblies and runs from JSON.
//!
//! `found` collects unknown options. Tasks, outputs and states may have unknown fields; their settings may not.

use crate::assembly::settings::Strategy;
use crate::call::CallContext;
use crate::error::{Diagnostic, DiagnosticCode, Result, Severity};
use crate::json::{Object, Value};
use crate::limits::{self, Limits, XML_DEPTH_MAX};
use crate::sorting::sort_by_key;

use super::assemble::{
    AssemblyRequest, AssemblyState, CountedBy, Headings, MemoryAnswer, Pending, Purpose, Sizes, StepOutput,
};
use super::budget::ContextBudget;
use super::failure::{ReduceFailureInput, SequentialFailureInput};
use super::kind::{Kind, OperatorRole};
use super::run::{AheadOutput, ReduceInput, Reduction, Run, RunResult, StepError};
use super::settings::{Accumulation, ContextManagement, Format, Fresh, Inherit, Origin, Origins};
use super::task::{Operator, RunTask, Span, Task};
use super::validate::ParseOptions;

const TASK: &str = "a task, an object";

pub(super) fn parse_options(value: Value<'_>, diagnostics: &mut Vec<Diagnostic>) -> Result<ParseOptions> {
    let options = value.object("options, an object")?;
    options.report_unknown(&["mode", "exclusive", "limits"], diagnostics);
    Ok(ParseOptions {
        strict: options.one_of("mode", &[("compat", false), ("strict", true)])?.unwrap_or_default(),
        exclusive: options.bool("exclusive")?.unwrap_or_default(),
        limits: Limits::read(options.get("limits")?, diagnostics)?,
    })
}

/// A task, no deeper than a template can be.
pub(super) fn task(value: Value<'_>, diagnostics: &mut Vec<Diagnostic>) -> Result<Task> {
    task_within(value, OperatorRole::Task, XML_DEPTH_MAX, diagnostics)
}

fn task_within(value: Value<'_>, role: OperatorRole, levels: u32, diagnostics: &mut Vec<Diagnostic>) -> Result<Task> {
    let too_deep = || limits::exceeded("jsonDepth", XML_DEPTH_MAX as usize + 1, XML_DEPTH_MAX);
    let levels = levels.checked_sub(1).ok_or_else(too_deep)?;
    let task = value.object(TASK)?;
    let operator = operator(value, role, diagnostics)?;
    let steps = task.read("steps", |steps| {
        let steps = steps.list("a list of tasks")?;
        steps.map(|step| task_within(step, OperatorRole::Step, levels, diagnostics)).collect()
    })?;
    let mut part = |name, role| task.read(name, |part| task_within(part, role, levels, diagnostics).map(Box::new));
    Ok(Task {
        operator,
        steps,
        inner_task: part("innerTask", OperatorRole::InnerTask)?,
        reduction_task: part("reductionTask", OperatorRole::ReductionTask)?,
        task: part("task", OperatorRole::Task)?,
        elements: Vec::new(),
        line: number(task, "line")?.unwrap_or_default(),
        column: number(task, "column")?.unwrap_or_default(),
        span: Span::default(),
        source: None,
    })
}

/// A task without its children. Every field is optional.
fn operator(value: Value<'_>, role: OperatorRole, diagnostics: &mut Vec<Diagnostic>) -> Result<Operator> {
    let task = value.object(TASK)?;
    let given_kind = task.string("type")?;
    let kind_origin = if given_kind.is_some() { Origin::Explicit } else { Origin::Default };
    let kind = given_kind.map_or(Kind::Atomic, |name| Kind::named(&name));
    let role = task.one_of("role", OperatorRole::NAMES)?.unwrap_or(role);
    let given = task.read("contextManagement", |settings| context_management(settings, &kind, diagnostics))?;
    let (context_management, mut origins) = given.unwrap_or_default().or(&ContextManagement::defaults(&kind, role));
    origins.kind = Some(kind_origin);
    if let Some(known) = task.get("origins")? {
        read_origins(known, &mut origins)?;
    }
    let (id, description) = (task.string("id")?, task.string("description")?);
    Ok(Operator { kind, role, id, description, context_management, origins })
}

fn context_management(value: Value<'_>, kind: &Kind, diagnostics: &mut Vec<Diagnostic>) -> Result<ContextManagement> {
    let settings = value.object("context settings, an object")?;
    settings.report_unknown(&["inheritContext", "accumulateData", "accumulationFormat", "freshContext"], diagnostics);
    let accumulate_data = settings.read("accumulateData", |value| match value.bool()? {
        true if !kind.accumulates() => Err(value.invalid(|setting| {
            format!("{setting} must not be true: a task of type `{}` accumulates nothing", kind.as_str())
        })),
        accumulates => Ok(accumulates),
    })?;
    Ok(ContextManagement {
        inherit_context: settings.one_of("inheritContext", Inherit::NAMES)?,
        accumulate_data,
        accumulation_format: settings.one_of("accumulationFormat", Format::NAMES)?,
        fresh_context: settings.one_of("freshContext", Fresh::NAMES)?,
    })
}

/// The settings of a parsed task are complete; its origins mark the defaults.
fn read_origins(value: Value<'_>, origins: &mut Origins) -> Result<()> {
    let known = value.object("origins, an object")?;
    for (name, origin) in [
        ("type", &mut origins.kind),
        ("inheritContext", &mut origins.inherit_context),
        ("accumulateData", &mut origins.accumulate_data),
        ("accumulationFormat", &mut origins.accumulation_format),
        ("freshContext", &mut origins.fresh_context),
    ] {
        let known = known.one_of(name, Origin::NAMES)?.filter(|known| *known != Origin::Explicit);
        if let (Some(known), Some(origin)) = (known, origin) {
            *origin = known;
        }
    }
    Ok(())
}

pub(super) fn assembly(
    value: Value<'_>,
    host: &CallContext,
    diagnostics: &mut Vec<Diagnostic>,
) -> Result<AssemblyRequest> {
    const FIELDS: &[&str] = &[
        "task",
        "taskText",
        "parentContext",
        "previousOutputs",
        "accumulation",
        "headings",
        "warnTokens",
        "maxTokens",
        "budget",
        "tokenizer",
        "limits",
    ];
    let request = value.object("an object")?;
    request.report_unknown(FIELDS, diagnostics);
    let limits = Limits::read(request.get("limits")?, diagnostics)?;
    let assembly = AssemblyRequest {
        task: operator(request.need("task")?, OperatorRole::Task, diagnostics)?.into(),
        task_text: request.string("taskText")?,
        parent_context: request.string("parentContext")?,
        previous_outputs: previous_outputs(request.get("previousOutputs")?)?,
        accumulation: request.one_of("accumulation", Accumulation::NAMES)?,
        headings: headings(request, diagnostics)?,
        sizes: sizes(request, host, diagnostics)?,
    };
    let mut bytes = [&assembly.task_text, &assembly.parent_context].into_iter().flatten().map(String::len).sum();
    for step in &assembly.previous_outputs {
        bytes += step.output.len() + step.notes.as_ref().map_or(0, String::len);
    }
    limits::check("inputBytes", bytes, limits.input_bytes)?;
    Ok(assembly)
}

fn headings(within: Object<'_>, diagnostics: &mut Vec<Diagnostic>) -> Result<Headings> {
    let defaults = Headings::default();
    let Some(headings) = within.get("headings")? else { return Ok(defaults) };
    let headings = headings.object("headings, an object")?;
    headings.report_unknown(&["task", "inheritedContext", "previousOutputs"], diagnostics);
    Ok(Headings {
        task: headings.string("task")?.unwrap_or(defaults.task),
        inherited_context: headings.string("inheritedContext")?.unwrap_or(defaults.inherited_context),
        previous_outputs: headings.string("previousOutputs")?.unwrap_or(defaults.previous_outputs),
    })
}

fn sizes(within: Object<'_>, host: &CallContext, diagnostics: &mut Vec<Diagnostic>) -> Result<Sizes> {
    let tokenizer = within.read("tokenizer", |value| {
        let name = host.counter(Some(value))?.name().to_owned();
        Ok(value.as_text().map_or(CountedBy::Custom { name }, |name| CountedBy::Named(name.into_owned())))
    })?;
    Ok(Sizes {
        tokenizer,
        warn_tokens: number(within, "warnTokens")?,
        max_tokens: number(within, "maxTokens")?,
        budget: within.read("budget", |budget| self::budget(budget, diagnostics))?,
    })
}

fn budget(value: Value<'_>, diagnostics: &mut Vec<Diagnostic>) -> Result<ContextBudget> {
    const STRATEGIES: &[(&str, Strategy)] = &[
        ("truncateMiddle", Strategy::TruncateMiddle),
        ("rollingWindow", Strategy::RollingWindow),
        ("stopAtLimit", Strategy::StopAtLimit),
    ];
    let budget = value.object("a budget, an object with `maxTokens`")?;
    budget.report_unknown(&["maxTokens", "truncationStrategy", "truncationMarker"], diagnostics);
    Ok(ContextBudget {
        max_tokens: budget.need("maxTokens")?.whole(u32::MAX)?,
        truncation_strategy: budget.one_of("truncationStrategy", STRATEGIES)?,
        truncation_marker: budget.string("truncationMarker")?,
    })
}

fn number(within: Object<'_>, name: &str) -> Result<Option<u32>> {
    within.read(name, |value| value.whole(u32::MAX))
}

/// The outputs of earlier steps. A text is the output of a step without an id, and its notes.
fn previous_outputs(value: Option<Value<'_>>) -> Result<Vec<StepOutput>> {
    let Some(value) = value else { return Ok(Vec::new()) };
    let text = |at: usize, text: String| StepOutput {
        step: format!("step-{}", at.saturating_add(1)),
        output: text.clone(),
        notes: Some(text),
    };
    if let Some(only) = value.as_text() {
        return Ok(vec![text(0, only.into_owned())]);
    }
    let output = |(at, value): (usize, Value<'_>)| match value.as_text() {
        Some(output) => Ok(text(at, output.into_owned())),
        None => output(value, "step"),
    };
    value.list("a list of outputs")?.enumerate().map(output).collect()
}

/// The outputs of steps, or of the inner task for inputs; `id` is the name of the field with the step or input.
fn outputs(value: Option<Value<'_>>, id: &str) -> Result<Vec<StepOutput>> {
    let Some(value) = value else { return Ok(Vec::new()) };
    value.list("a list of outputs")?.map(|value| output(value, id)).collect()
}

fn output(value: Value<'_>, id: &str) -> Result<StepOutput> {
    let output = value.object(&format!("an output, an object with `{id}` and `output`"))?;
    Ok(StepOutput {
        step: output.need(id)?.string()?,
        output: output.need("output")?.string()?,
        notes: output.string("notes")?,
    })
}

pub(super) fn state(value: Value<'_>, host: &CallContext) -> Result<AssemblyState> {
    let state = value.object("the `state` that `beginContextAssembly` returned")?;
    let pending = state.need("pending")?.object("the unchanged assembly, an object")?;
    let diagnostics =
        pending.read("diagnostics", |all| all.list("a list of diagnostics")?.map(diagnostic).collect())?;
    let sizes = state.read("sizes", |value| sizes(value.object("sizes, an object")?, host, &mut Vec::new()))?;
    Ok(AssemblyState {
        pending: Pending {
            purpose: pending.need("purpose")?.one_of(Purpose::NAMES)?,
            inherited: pending.string("inherited")?,
            accumulated: pending.string("accumulated")?,
            diagnostics: diagnostics.unwrap_or_default(),
        },
        sizes: sizes.unwrap_or_default(),
    })
}

fn diagnostic(value: Value<'_>) -> Result<Diagnostic> {
    const SEVERITIES: &[(&str, Severity)] =
        &[("error", Severity::Error), ("warning", Severity::Warning), ("info", Severity::Info)];
    let codes: Vec<_> = DiagnosticCode::ALL.iter().map(|&code| (code.as_str(), code)).collect();
    let found = value.object("a diagnostic, an object")?;
    let code = found.need("code")?.one_of(&codes)?;
    let severity = found.need("severity")?.one_of(SEVERITIES)?;
    let message = found.need("message")?.string()?;
    Ok(Diagnostic { path: found.string("path")?, ..Diagnostic::new(code, severity, message) })
}

pub(super) fn answer(value: Value<'_>) -> Result<MemoryAnswer> {
    let answer = value.object("an object with `context` and `matches`, the answer of the memory system")?;
    let pair = |value: Value<'_>| {
        const EXPECTED: &str = "a match, a path or a list of a path and its metadata";
        if value.is_text() {
            return Ok((value.string()?, serde_json::Value::Null));
        }
        let mut parts = value.list(EXPECTED)?;
        match (parts.next(), parts.next(), parts.next()) {
            (Some(path), None, _) => Ok((path.string()?, serde_json::Value::Null)),
            (Some(path), Some(metadata), None) => Ok((path.string()?, metadata.to_json()?)),
            _ => Err(value.mismatch(EXPECTED)),
        }
    };
    Ok(MemoryAnswer {
        context: answer.need("context")?.string()?,
        inherited: answer.string("inherited")?,
        matches: answer.need("matches")?.list("a list of matches")?.map(pair).collect::<Result<_>>()?,
    })
}

pub(super) fn sequential_failure(
    value: Value<'_>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Result<SequentialFailureInput> {
    let input = value.object("the state of the failure, an object")?;
    let fields = ["task", "outputs", "failedStep", "totalSteps", "reason", "message", "cause"];
    input.report_unknown(&fields, diagnostics);
    let task = input.need("task")?;
    let steps = task.object(TASK)?.read("steps", |steps| Ok(steps.list("a list of tasks")?.len()))?;
    let total_steps = number(input, "totalSteps")?.map(|total| total as usize).or(steps);
    Ok(SequentialFailureInput {
        accumulation: operator(task, OperatorRole::Task, diagnostics)?.context_management.accumulation(),
        outputs: outputs(input.get("outputs")?, "step")?,
        failed_step: Some(input.need("failedStep")?.string()?),
        total_steps: total_steps.ok_or_else(|| value.lacks("totalSteps"))?,
        reason: input.string("reason")?,
        message: input.string("message")?,
        cause: input.read("cause", Value::to_json)?,
    })
}

pub(super) fn reduce_failure(value: Value<'_>, diagnostics: &mut Vec<Diagnostic>) -> Result<ReduceFailureInput> {
    let input = value.object("the state of the failure, an object")?;
    let fields = ["failedInput", "outputs", "totalInputs", "accumulator", "reason", "message", "cause"];
    input.report_unknown(&fields, diagnostics);
    Ok(ReduceFailureInput {
        failed_input: input.string("failedInput")?,
        outputs: outputs(input.get("outputs")?, "input")?,
        total_inputs: number(input, "totalInputs")?.map(|total| total as usize),
        accumulator: input.string("accumulator")?,
        reason: input.string("reason")?,
        message: input.string("message")?,
        cause: input.read("cause", Value::to_json)?,
    })
}

/// A new run, or a stored one.
pub(super) fn run(value: Value<'_>, diagnostics: &mut Vec<Diagnostic>) -> Result<Run> {
    const FIELDS: &[&str] = &[
        "task",
        "inputs",
        "reduction",
        "parentContext",
        "headings",
        "context",
        "outputs",
        "ahead",
        "reduced",
        "accumulator",
        "accumulatorNotes",
        "failure",
    ];
    let input = value.object("a run, an object")?;
    input.report_unknown(FIELDS, diagnostics);
    let task = input.need("task")?;
    let not_a_run = |error: crate::error::Error| error.with("path", format!("{}.type", task.path()));
    Ok(Run {
        inputs: input.read("inputs", inputs)?.unwrap_or_default(),
        reduction: input.one_of("reduction", Reduction::NAMES)?.unwrap_or(Reduction::All),
        parent_context: input.string("parentContext")?,
        headings: headings(input, diagnostics)?,
        context: input.string("context")?,
        outputs: outputs(input.get("outputs")?, "step")?,
        ahead: input.read("ahead", ahead)?.unwrap_or_default(),
        reduced: number(input, "reduced")?.unwrap_or_default() as usize,
        accumulator: input.string("accumulator")?,
        accumulator_notes: input.string("accumulatorNotes")?,
        failure: input.read("failure", step_error)?,
        ..Run::new(run_task(task, diagnostics)?).map_err(not_a_run)?
    })
}

fn run_task(value: Value<'_>, diagnostics: &mut Vec<Diagnostic>) -> Result<RunTask> {
    Ok(RunTask::from(&task(value, diagnostics)?))
}

/// Outputs of the inner task that wait for those of earlier inputs; sorted, as `recordResult` requires it.
fn ahead(value: Value<'_>) -> Result<Vec<AheadOutput>> {
    let ahead = |value: Value<'_>| {
        let index = value.object("an output, an object with `index`")?.need("index")?.whole(u32::MAX)? as usize;
        Ok(AheadOutput { index, output: output(value, "step")? })
    };
    let mut all = value.list("a list of outputs")?.map(ahead).collect::<Result<Vec<_>>>()?;
    sort_by_key(&mut all, |ahead| ahead.index);
    Ok(all)
}

/// The inputs of a reduce task: a text, or a text with an id.
fn inputs(value: Value<'_>) -> Result<Vec<ReduceInput>> {
    let input = |(index, value): (usize, Value<'_>)| {
        let (id, text) = match value.as_text() {
            Some(text) => (None, text.into_owned()),
            None => {
                let input = value.object("a text, or an object with `id` and `text`")?;
                (input.string("id")?, input.need("text")?.string()?)
            }
        };
        Ok(ReduceInput { id: id.unwrap_or_else(|| format!("input-{}", index + 1)), text })
    };
    value.list("a list of inputs")?.enumerate().map(input).collect()
}

fn step_error(value: Value<'_>) -> Result<StepError> {
    let error = value.object("a failure, an object with `message`")?;
    Ok(StepError {
        message: error.need("message")?.string()?,
        reason: error.string("reason")?,
        index: number(error, "index")?.map(|index| index as usize),
        cause: error.read("cause", Value::to_json)?,
    })
}

/// Exactly one of `context`, `output` and `error`.
pub(super) fn run_result(value: Value<'_>) -> Result<RunResult> {
    let result = value.object("a result, an object with `context`, `output` or `error`")?;
    match (result.string("context")?, result.string("output")?, result.read("error", step_error)?) {
        (Some(context), None, None) => Ok(RunResult::Context(context)),
        (None, Some(output), None) => {
            let index = number(result, "index")?.map(|index| index as usize);
            Ok(RunResult::Output { output, notes: result.string("notes")?, index })
        }
        (None, None, Some(error)) => Ok(RunResult::Error(error)),
        _ => Err(value.invalid(|result| format!("{result} must have exactly one of `context`, `output` and `error`"))),
    }
}
