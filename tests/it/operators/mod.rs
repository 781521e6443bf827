//! Operators: XML context rules (docs/operators.md).

mod assembly;
mod hostile;
mod properties;
mod rules;
mod runs;
mod wire;
mod writing;

use ctxweave::Error;
use ctxweave::call::CallContext;
use ctxweave::operators::{
    self, AssemblyRequest, AssemblyState, Begun, ContextResult, MemoryAnswer, Operator, ParseOptions, ParsedTask,
    StepOutput, Task, parse_task,
};

/// What a template is read as.
fn parse(xml: &str) -> ParsedTask {
    parse_with(xml, ParseOptions::default())
}

fn parse_with(xml: &str, options: ParseOptions) -> ParsedTask {
    parse_task(xml, &options).unwrap_or_else(|error| panic!("{error}\n{xml}"))
}

/// The task of a template about which there is nothing to say.
fn clean(xml: &str) -> Task {
    let parsed = parse(xml);
    assert_eq!(parsed.diagnostics, [], "{xml}");
    parsed.task
}

/// `code severity line:column` of every diagnostic.
fn found(parsed: &ParsedTask) -> Vec<String> {
    // Every diagnostic has line and column.
    let place = |at: Option<u32>| at.unwrap();
    parsed
        .diagnostics
        .iter()
        .map(|it| format!("{} {:?} {}:{}", it.code, it.severity, place(it.line), place(it.column)).to_lowercase())
        .collect()
}

/// The settings in force in words, with `*` after a default: `full true* notes_only* enabled`; `-` for none.
fn settings(operator: &Operator) -> String {
    let (settings, origins) = (operator.context_management, operator.origins);
    let cells = [
        (settings.inherit_context.map(|it| it.as_str()), origins.inherit_context),
        (settings.accumulate_data.map(|it| if it { "true" } else { "false" }), origins.accumulate_data),
        (settings.accumulation_format.map(|it| it.as_str()), origins.accumulation_format),
        (settings.fresh_context.map(|it| it.as_str()), origins.fresh_context),
    ];
    let cells = cells.map(|(value, origin)| {
        assert_eq!(value.is_some(), origin.is_some(), "each value has an origin");
        let mark = match origin.map(|it| it.as_str()) {
            Some("default") => "*",
            Some("invalid") => "!",
            _ => "",
        };
        format!("{}{mark}", value.unwrap_or("-"))
    });
    cells.join(" ")
}

fn output(step: &str, output: &str, notes: Option<&str>) -> StepOutput {
    StepOutput { step: step.to_owned(), output: output.to_owned(), notes: notes.map(str::to_owned) }
}

fn begin(request: &AssemblyRequest) -> Result<Begun, Error> {
    operators::begin(request, &CallContext::default())
}

fn finish(state: AssemblyState, answer: MemoryAnswer) -> ContextResult {
    operators::finish(state, answer, &CallContext::default()).unwrap()
}

/// A request for a task with a parent and two steps before it.
fn request(task: &Operator) -> AssemblyRequest {
    AssemblyRequest {
        task_text: Some("TEXT".to_owned()),
        parent_context: Some("PARENT".to_owned()),
        previous_outputs: vec![output("s1", "OUT1", Some("NOTE1")), output("s2", "OUT2", Some("NOTE2"))],
        ..AssemblyRequest::new(task.clone())
    }
}
