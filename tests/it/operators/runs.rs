//! The rules of docs/operators.md about sequences, reductions and their failures.

use ctxweave::Code;
use ctxweave::operators::{
    Accumulation, Begun, Failure, Format, Next, Partial, ReduceInput, Reduction, Run, RunResult, StepError,
};

use super::{begin, clean, parse};

fn out(output: &str, notes: &str) -> RunResult {
    RunResult::Output { output: output.to_owned(), notes: Some(notes.to_owned()), index: None }
}

fn failed(message: &str) -> RunResult {
    RunResult::Error(StepError { message: message.to_owned(), reason: None, index: None, cause: None })
}

fn context(context: &str) -> RunResult {
    RunResult::Context(context.to_owned())
}

/// What the request of the next step would be ready with, where the memory system is not asked.
fn sees(next: &Next) -> String {
    let request = match next {
        Next::Context { request }
        | Next::Step { request, .. }
        | Next::Inner { request, .. }
        | Next::Reduction { request, .. } => request,
        other => panic!("{other:?} has no request"),
    };
    match begin(request).unwrap() {
        Begun::Ready { result } => result.context,
        Begun::Match { text, .. } => format!("asks: {text}"),
    }
}

const SEQUENCE: &str = "<task type='sequential'>
  <context_management><inherit_context>full</inherit_context><accumulate_data>true</accumulate_data><accumulation_format>full_output</accumulation_format><fresh_context>disabled</fresh_context></context_management>
  <steps>
    <task type='atomic' id='a'><context_management><inherit_context>full</inherit_context><fresh_context>disabled</fresh_context></context_management></task>
    <task type='atomic'><context_management><inherit_context>none</inherit_context><fresh_context>disabled</fresh_context></context_management></task>
    <task type='atomic' id='c'><description>Close</description><context_management><inherit_context>subset</inherit_context><fresh_context>disabled</fresh_context></context_management></task>
  </steps>
</task>";

fn sequence(xml: &str) -> Run {
    Run { parent_context: Some("PARENT".to_owned()), ..Run::new(&parse(xml).task).unwrap() }
}

// A sequence's steps, each following the settings of its own level.
#[test]
fn a_sequence_runs_step_by_step() {
    let run = sequence(SEQUENCE);
    assert!(matches!(run.next(), Next::Context { .. }));
    assert_eq!(sees(&run.next()), "PARENT");
    let run = run.record(context("OWN")).unwrap();
    let Next::Step { id, index, total, .. } = run.next() else { panic!() };
    assert_eq!((id.as_str(), index, total), ("a", 0, 3));
    assert_eq!(sees(&run.next()), "OWN");
    let run = run.record(out("ONE", "one")).unwrap();
    // It inherits nothing, and still sees what the sequence accumulates.
    let Next::Step { id, request, .. } = run.next() else { panic!() };
    assert_eq!((id.as_str(), request.accumulation), ("step-2", Some(Accumulation::On(Format::FullOutput))));
    assert_eq!(sees(&run.next()), "### a\n\nONE");
    let run = run.record(out("TWO", "two")).unwrap();
    assert_eq!(
        sees(&run.next()),
        "asks: ## Task\n\nClose\n\n## Inherited Context\n\nOWN\n\n## Previous Outputs\n\n### a\n\nONE\n\n### step-2\n\nTWO"
    );
    let run = run.record(out("THREE", "three")).unwrap();
    let Next::Done { output, outputs, .. } = run.next() else { panic!() };
    assert_eq!((output.as_deref(), outputs.len()), (Some("THREE"), 3));
    let error = run.record(out("FOUR", "")).unwrap_err();
    assert_eq!((error.code(), error.details()["expected"].as_str()), (Code::RunOutOfOrder, Some("nothing")));
}

#[test]
fn a_sequence_accumulates_on_its_own() {
    let notes = SEQUENCE.replace("full_output", "notes_only");
    let run = sequence(&notes).record(context("OWN")).unwrap().record(out("ONE", "one")).unwrap();
    assert_eq!(sees(&run.next()), "### a\n\none");
    let off = SEQUENCE.replace("<accumulate_data>true", "<accumulate_data>false");
    let run = sequence(&off).record(context("OWN")).unwrap().record(out("ONE", "one")).unwrap();
    let Next::Step { request, .. } = run.next() else { panic!() };
    assert_eq!(request.previous_outputs, []);
    assert_eq!(sees(&run.next()), "");
    // A sequence within a sequence sees what the outer one hands on, not what its own settings say to its own steps.
    let nested = "<task type='sequential'><context_management><inherit_context>full</inherit_context><accumulate_data>false</accumulate_data></context_management><steps><task type='atomic'/><task type='sequential'><context_management><inherit_context>none</inherit_context><accumulate_data>true</accumulate_data><accumulation_format>notes_only</accumulation_format><fresh_context>disabled</fresh_context></context_management><steps/></task></steps></task>";
    let run = Run::new(&clean(nested)).unwrap();
    let run = run.record(context("")).unwrap().record(out("ONE", "one")).unwrap();
    assert_eq!(sees(&run.next()), "");
}

/// The memory system may fail before the first step: no step and no input has failed then.
#[test]
fn a_run_takes_the_failure_of_its_own_context() {
    let run = sequence(SEQUENCE).record(failed("no memory")).unwrap();
    let Next::Failed { failure: Failure::Sequential(failure) } = run.next() else { panic!() };
    assert_eq!((failure.failed_step, failure.total_steps, failure.message.as_str()), (None, 3, "no memory"));
    assert_eq!((failure.reason.as_str(), failure.notes.partial_results), ("context_retrieval_failure", vec![]));
    let inputs = vec![ReduceInput { id: "i".to_owned(), text: "I".to_owned() }];
    let run = Run { inputs, ..Run::new(&parse("<task type='reduce'/>").task).unwrap() };
    let error =
        StepError { message: "no memory".to_owned(), reason: Some("mine".to_owned()), index: None, cause: None };
    let Next::Failed { failure: Failure::Reduce(failure) } = run.record(RunResult::Error(error)).unwrap().next() else {
        panic!()
    };
    assert_eq!((failure.failed_input, failure.reason.as_str(), failure.total_inputs), (None, "mine", Some(1)));
}

// sequential returns an error result with `notes.partialResults`, failed step, total; no retry. Every completed step is
// in it with its notes, or with its output if it has no notes or the format is `full_output`.
#[test]
fn a_failed_step_keeps_what_was_done() {
    let run = |xml: &str| {
        let run = sequence(xml).record(context("OWN")).unwrap().record(out("ONE", "one")).unwrap();
        run.record(failed("no answer")).unwrap()
    };
    let Next::Failed { failure: Failure::Sequential(failure) } = run(SEQUENCE).next() else { panic!() };
    assert_eq!(
        (failure.r#type, failure.reason.as_str(), failure.message.as_str()),
        ("TASK_FAILURE", "subtask_failure", "no answer")
    );
    assert_eq!((failure.failed_step.as_deref(), failure.total_steps), (Some("step-2"), 3));
    let full = Partial::Output { step: "a".to_owned(), output: "ONE".to_owned() };
    assert_eq!(failure.notes.partial_results, [full]);
    let Next::Failed { failure: Failure::Sequential(failure) } =
        run(&SEQUENCE.replace("full_output", "notes_only")).next()
    else {
        panic!()
    };
    let notes = Partial::Notes { step: "a".to_owned(), notes: "one".to_owned() };
    assert_eq!(failure.notes.partial_results, std::slice::from_ref(&notes));
    let off = run(&SEQUENCE.replace("<accumulate_data>true", "<accumulate_data>false"));
    let Next::Failed { failure: Failure::Sequential(failure) } = off.next() else { panic!() };
    assert_eq!(failure.notes.partial_results, [notes]);
    // A step without notes is there with its output, in every format.
    for xml in [
        SEQUENCE.to_owned(),
        SEQUENCE.replace("full_output", "notes_only"),
        SEQUENCE.replace("<accumulate_data>true", "<accumulate_data>false"),
    ] {
        let started = sequence(&xml).record(context("OWN")).unwrap();
        let without = RunResult::Output { output: "ONE".to_owned(), notes: None, index: None };
        let run = started.record(without).unwrap().record(failed("no answer")).unwrap();
        let Next::Failed { failure: Failure::Sequential(failure) } = run.next() else { panic!() };
        assert_eq!(
            failure.notes.partial_results,
            [Partial::Output { step: "a".to_owned(), output: "ONE".to_owned() }],
            "{xml}"
        );
    }
    // It is over: nothing is tried again.
    assert_eq!(off.record(out("AGAIN", "")).unwrap_err().code(), Code::RunOutOfOrder);
}

const REDUCE: &str = "<task type='reduce'>
  <context_management><inherit_context>none</inherit_context><fresh_context>enabled</fresh_context></context_management>
  <inner_task><context_management><inherit_context>full</inherit_context></context_management></inner_task>
  <reduction_task><context_management><inherit_context>none</inherit_context><fresh_context>enabled</fresh_context></context_management><description>Join</description></reduction_task>
</task>";

fn reduce(each: bool) -> Run {
    Run {
        inputs: ["x", "y"].map(|id| ReduceInput { id: id.to_owned(), text: format!("text of {id}") }).to_vec(),
        reduction: if each { Reduction::Each } else { Reduction::All },
        parent_context: Some("PARENT".to_owned()),
        ..Run::new(&clean(REDUCE)).unwrap()
    }
}

// A reduce task: inner task per input, reduction task over results.
#[test]
fn a_reduction_runs_over_all_results() {
    let run = reduce(false);
    assert_eq!(sees(&run.next()), "asks: ## Task\n\n");
    let run = run.record(context("OWN")).unwrap();
    let Next::Inner { id, index, total, input, .. } = run.next() else { panic!() };
    assert_eq!((id.as_str(), index, total, input.as_str()), ("x", 0, 2, "text of x"));
    assert_eq!(sees(&run.next()), "OWN");
    let run = run.record(out("X", "")).unwrap().record(out("Y", "")).unwrap();
    let Next::Reduction { results, accumulator, .. } = run.next() else { panic!() };
    assert_eq!(results.iter().map(|it| it.output.as_str()).collect::<Vec<_>>(), ["X", "Y"]);
    assert_eq!((accumulator, sees(&run.next()).as_str()), (None, "asks: ## Task\n\nJoin"));
    let run = run.record(out("XY", "")).unwrap();
    let Next::Done { output, outputs, .. } = run.next() else { panic!() };
    assert_eq!((output.as_deref(), outputs.len()), (Some("XY"), 2));
}

#[test]
fn a_reduction_can_run_after_each_result() {
    let run = reduce(true).record(context("OWN")).unwrap().record(out("X", "")).unwrap();
    let Next::Reduction { results, accumulator, .. } = run.next() else { panic!() };
    assert_eq!((results.len(), accumulator), (1, None));
    let run = run.record(out("(X)", "")).unwrap();
    assert!(matches!(run.next(), Next::Inner { .. }));
    let run = run.record(out("Y", "")).unwrap();
    let Next::Reduction { results, accumulator, .. } = run.next() else { panic!() };
    assert_eq!((results[0].output.as_str(), accumulator.as_deref()), ("Y", Some("(X)")));
    let run = run.record(out("(XY)", "")).unwrap();
    assert!(matches!(run.next(), Next::Done { output: Some(output), .. } if output == "(XY)"));
}

// reduce returns the failing input, processed inputs, the accumulator, `notes.partialResults`; no retry.
#[test]
fn a_failed_input_keeps_what_was_done() {
    let started = reduce(true).record(context("OWN")).unwrap().record(out("X", "")).unwrap();
    let reducing = started.clone().record(failed("cannot join")).unwrap();
    let Next::Failed { failure: Failure::Reduce(failure) } = reducing.next() else { panic!() };
    assert_eq!((failure.failed_input.as_deref(), failure.accumulator), (Some("x"), None));
    let second = started.record(out("(X)", "")).unwrap().record(failed("cannot read")).unwrap();
    let Next::Failed { failure: Failure::Reduce(failure) } = second.next() else { panic!() };
    assert_eq!(
        (failure.r#type, failure.reason.as_str(), failure.message.as_str()),
        ("TASK_FAILURE", "subtask_failure", "cannot read")
    );
    assert_eq!(failure.failed_input.as_deref(), Some("y"));
    assert_eq!((failure.processed_inputs, failure.total_inputs), (vec!["x".to_owned()], Some(2)));
    assert_eq!(failure.accumulator.as_deref(), Some("(X)"));
    let partial = Partial::Input { input: "x".to_owned(), output: "X".to_owned(), notes: None };
    assert_eq!(failure.notes.partial_results, [partial]);
    assert_eq!(second.record(out("AGAIN", "")).unwrap_err().code(), Code::RunOutOfOrder);

    let all = reduce(false).record(context("")).unwrap().record(out("X", "")).unwrap().record(out("Y", "")).unwrap();
    let Next::Failed { failure: Failure::Reduce(failure) } = all.record(failed("cannot join")).unwrap().next() else {
        panic!()
    };
    assert_eq!((failure.failed_input, failure.processed_inputs.len()), (None, 2));

    // The notes of an inner task are kept next to its output.
    let noted = reduce(false).record(context("")).unwrap().record(out("X", "about X")).unwrap();
    let Next::Failed { failure: Failure::Reduce(failure) } = noted.record(failed("cannot read")).unwrap().next() else {
        panic!()
    };
    let partial = Partial::Input { input: "x".to_owned(), output: "X".to_owned(), notes: Some("about X".to_owned()) };
    assert_eq!(failure.notes.partial_results, [partial]);
}

#[test]
fn a_run_names_its_open_task() {
    let run = sequence(SEQUENCE);
    let error = run.clone().record(out("ONE", "")).unwrap_err();
    let details = |error: &ctxweave::Error| (error.details()["expected"].clone(), error.details()["given"].clone());
    assert_eq!((error.code(), details(&error)), (Code::RunOutOfOrder, ("context".into(), "output".into())));
    let over = run.clone().record(failed("x")).unwrap();
    assert_eq!(details(&over.record(failed("y")).unwrap_err()), ("nothing".into(), "error".into()));
    let run = run.record(context("OWN")).unwrap();
    assert_eq!(details(&run.record(context("OWN")).unwrap_err()), ("output".into(), "context".into()));
    let unknown = Run::new(&parse("<task type='map'/>").task).unwrap_err();
    assert_eq!(unknown.code(), Code::InvalidInput);
    // Nothing to do is done at once.
    let empty = Run::new(&clean("<task type='sequential'/>")).unwrap().record(context("")).unwrap();
    assert!(matches!(empty.next(), Next::Done { output: None, .. }));
    let empty = Run::new(&parse("<task type='reduce'/>").task).unwrap().record(context("")).unwrap();
    assert!(matches!(empty.next(), Next::Done { output: None, .. }));
}

#[test]
fn a_reduce_task_without_its_parts_runs_with_defaults() {
    let inputs = vec![ReduceInput { id: "x".to_owned(), text: "X".to_owned() }];
    let run = Run { inputs, ..Run::new(&parse("<task type='reduce'/>").task).unwrap() };
    let run = run.record(context("OWN")).unwrap();
    assert_eq!(sees(&run.next()), "OWN");
    let run = run.record(out("X", "")).unwrap();
    assert!(sees(&run.next()).starts_with("asks: "));
}

#[test]
fn an_atomic_task_is_a_run_of_one_step() {
    let task = clean("<task type='atomic' id='a'><description>Answer</description></task>");
    let run = Run { parent_context: Some("PARENT".to_owned()), ..Run::new(&task).unwrap() };
    let Next::Step { id, index, total, .. } = run.next() else { panic!() };
    assert_eq!((id.as_str(), index, total), ("a", 0, 1));
    assert_eq!(sees(&run.next()), "asks: ## Task\n\nAnswer\n\n## Inherited Context\n\nPARENT");
    let done = run.clone().record(out("ANSWER", "note")).unwrap();
    let Next::Done { output, notes, .. } = done.next() else { panic!() };
    assert_eq!((output.as_deref(), notes.as_deref()), (Some("ANSWER"), Some("note")));
    let Next::Failed { failure: Failure::Sequential(failure) } = run.record(failed("x")).unwrap().next() else {
        panic!()
    };
    assert_eq!((failure.failed_step.as_deref(), failure.total_steps), (Some("a"), 1));
}

#[test]
fn a_request_carries_its_whole_task() {
    let inner = "<task type='sequential'><steps><task type='atomic' id='deep'/></steps></task>";
    let xml = format!(
        "<task type='sequential'><steps><task type='reduce'><inner_task>{inner}</inner_task></task></steps></task>"
    );
    let Next::Step { request, .. } = Run::new(&clean_of(&xml)).unwrap().record(context("")).unwrap().next() else {
        panic!()
    };
    let inner = request.task.inner_task.unwrap();
    assert_eq!(inner.task.as_ref().unwrap().steps[0].operator.id.as_deref(), Some("deep"));
    // An inner task that holds a task is a run of one step, which inherits its context.
    let run = Run::new(*inner).unwrap().record(context("OF INNER")).unwrap();
    let Next::Step { total, request, .. } = run.next() else { panic!() };
    assert_eq!((total, request.parent_context.as_deref()), (1, Some("OF INNER")));
    assert_eq!(request.task.steps.len(), 1);
}

fn clean_of(xml: &str) -> ctxweave::operators::Task {
    parse(xml).task
}

fn output_of(index: usize, output: &str) -> RunResult {
    RunResult::Output { output: output.to_owned(), notes: None, index: Some(index) }
}

fn many(each: bool) -> Run {
    let inputs = ["a", "b", "c", "d"].map(|id| ReduceInput { id: id.to_owned(), text: id.to_uppercase() }).to_vec();
    Run { inputs, ..reduce(each) }.record(context("OWN")).unwrap()
}

fn indices(all: &[Next]) -> Vec<usize> {
    let index = |next: &Next| match next {
        Next::Inner { index, .. } => *index,
        other => panic!("{other:?}"),
    };
    all.iter().map(index).collect()
}

#[test]
fn outputs_in_any_order_keep_the_order_of_the_inputs() {
    let run = many(false);
    assert_eq!(indices(&run.upcoming(2)), [0, 1]);
    let run = run.record(output_of(1, "B")).unwrap();
    assert_eq!(indices(&run.upcoming(2)), [0, 2]);
    assert_eq!(run.ahead.len(), 1);
    let run = run.record(output_of(3, "D")).unwrap().record(output_of(0, "A")).unwrap();
    assert_eq!(run.outputs.iter().map(|it| it.output.as_str()).collect::<Vec<_>>(), ["A", "B"]);
    let again = run.clone().record(output_of(3, "D")).unwrap_err();
    assert_eq!((again.code(), again.details()["index"].as_u64()), (Code::RunOutOfOrder, Some(3)));
    assert_eq!(run.clone().record(output_of(4, "E")).unwrap_err().code(), Code::RunOutOfOrder);
    let run = run.record(output_of(2, "C")).unwrap();
    let Next::Reduction { results, .. } = run.next() else { panic!() };
    assert_eq!(results.iter().map(|it| it.input.as_str()).collect::<Vec<_>>(), ["a", "b", "c", "d"]);
}

#[test]
fn a_reduction_after_each_result_takes_them_one_by_one() {
    let mut run = many(true).record(output_of(1, "B")).unwrap().record(output_of(0, "A")).unwrap();
    for expected in ["A", "B"] {
        let Next::Reduction { results, .. } = run.next() else { panic!() };
        assert_eq!(results.iter().map(|it| it.output.as_str()).collect::<Vec<_>>(), [expected]);
        run = run.record(out(expected, "")).unwrap();
    }
    assert_eq!(indices(&run.upcoming(9)), [2, 3]);
}

#[test]
fn a_failed_input_keeps_outputs_that_were_ahead() {
    let run = many(false).record(output_of(0, "A")).unwrap().record(output_of(3, "D")).unwrap();
    let cause = serde_json::json!({ "type": "TASK_FAILURE" });
    let error = StepError { message: "no".to_owned(), reason: None, index: Some(2), cause: Some(cause.clone()) };
    let Next::Failed { failure: Failure::Reduce(failure) } = run.record(RunResult::Error(error)).unwrap().next() else {
        panic!()
    };
    assert_eq!((failure.failed_input.as_deref(), failure.processed_inputs), (Some("c"), vec!["a".into(), "d".into()]));
    assert_eq!((failure.notes.partial_results.len(), failure.cause), (2, Some(cause)));
}
