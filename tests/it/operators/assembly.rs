//! The rules of docs/operators.md about assembly.

use ctxweave::operators::{
    AssemblyRequest, AssemblyState, Begun, ContextGenerationInput, ContextResult, Format, Fresh, Headings, Inherit,
    Kind, MemoryAnswer, Operator, OperatorRole, Purpose, Sizes,
};
use ctxweave::{Code, DiagnosticCode};
use serde_json::json;

use super::{begin, clean, finish, output, request};

fn operator(inherit: Inherit, accumulate: Option<Format>, fresh: Fresh) -> Operator {
    let mut operator = Operator::new(Kind::Sequential, OperatorRole::Task);
    operator.context_management.inherit_context = Some(inherit);
    operator.context_management.accumulate_data = Some(accumulate.is_some());
    operator.context_management.accumulation_format = accumulate;
    operator.context_management.fresh_context = Some(fresh);
    operator
}

fn ready(request: &AssemblyRequest) -> ContextResult {
    match begin(request).unwrap() {
        Begun::Ready { result } => result,
        Begun::Match { text, .. } => panic!("the memory system was asked: {text}"),
    }
}

/// What the memory system is asked.
struct Question {
    input: ContextGenerationInput,
    text: String,
    purpose: Purpose,
    state: AssemblyState,
}

fn asked(request: &AssemblyRequest) -> Question {
    match begin(request).unwrap() {
        Begun::Match { input, text, purpose, state } => Question { input, text, purpose, state },
        Begun::Ready { result } => panic!("the memory system was not asked: {result:?}"),
    }
}

fn answer() -> MemoryAnswer {
    let matches = vec![("z.md".to_owned(), json!({ "score": 0.1 })), ("a.md".to_owned(), json!(null))];
    MemoryAnswer { context: "FOUND".to_owned(), inherited: None, matches }
}

const ALL: [Option<Format>; 3] = [None, Some(Format::NotesOnly), Some(Format::FullOutput)];

/// All combinations of the settings, against an independent form of the rules.
#[test]
fn every_combination_assembles_as_the_rules_say() {
    for inherit in Inherit::ALL.iter().copied() {
        for accumulate in ALL {
            for fresh in Fresh::ALL.iter().copied() {
                for parent in [None, Some("PARENT")] {
                    let mut request = request(&operator(inherit, accumulate, fresh));
                    request.parent_context = parent.map(str::to_owned);
                    let name = format!("{inherit:?} {accumulate:?} {fresh:?} {parent:?}");

                    let filters = inherit == Inherit::Subset && parent.is_some();
                    let accumulated = accumulate.map(|format| match format {
                        Format::NotesOnly => "### s1\n\nNOTE1\n\n### s2\n\nNOTE2",
                        Format::FullOutput => "### s1\n\nOUT1\n\n### s2\n\nOUT2",
                    });
                    let asks = fresh == Fresh::Enabled || filters;
                    let result = if asks {
                        let question = asked(&request);
                        assert_eq!(question.input.task_text, "TEXT", "{name}");
                        let sent = parent.filter(|_| inherit != Inherit::None);
                        assert_eq!(question.input.inherited_context.as_deref(), sent, "{name}");
                        assert_eq!(question.input.previous_outputs.as_deref(), accumulated, "{name}");
                        finish(question.state.clone(), answer())
                    } else {
                        ready(&request)
                    };
                    let inherited = match inherit {
                        Inherit::Full => parent,
                        Inherit::None => None,
                        Inherit::Subset => (filters && fresh == Fresh::Disabled).then_some("FOUND"),
                    };
                    let found = (fresh == Fresh::Enabled).then_some("FOUND");
                    assert_eq!(result.inherited.as_deref(), inherited, "{name}");
                    assert_eq!(result.accumulated.as_deref(), accumulated, "{name}");
                    assert_eq!(result.fresh.as_deref(), found, "{name}");
                    let whole: Vec<&str> = [inherited, accumulated, found].into_iter().flatten().collect();
                    assert_eq!(result.context, whole.join("\n\n"), "{name}");
                    assert_eq!(result.matches, if asks { answer().matches } else { vec![] }, "{name}");
                }
            }
        }
    }
}

/// A text with a line that equals a heading is inserted unchanged and reported, as in folders.
#[test]
fn texts_with_headings_are_reported() {
    let mut request = request(&operator(Inherit::Full, Some(Format::FullOutput), Fresh::Enabled));
    request.parent_context = Some("a\n  ## Inherited Context \n```\n## Task\n```\n".to_owned());
    request.previous_outputs = vec![output("s", "## Task\n## Other", None)];
    let question = asked(&request);
    assert!(question.text.contains("\n  ## Inherited Context \n"));
    let found = finish(question.state, answer()).diagnostics;
    let found: Vec<_> = found.iter().map(|found| (found.code, found.path.as_deref().unwrap())).collect();
    assert_eq!(found, ["parentContext", "previousOutputs"].map(|path| (DiagnosticCode::PromptDelimiterInFile, path)));
    request.headings.task = "## Other".to_owned();
    request.headings.inherited_context.clear();
    assert_eq!(finish(asked(&request).state, answer()).diagnostics.len(), 1);
}

// A request for the memory system, also rendered as one text under the headings `## Task`, `## Inherited Context`, `##
// Previous Outputs` (settable).
#[test]
fn the_input_is_rendered_under_headings() {
    let mut request = request(&operator(Inherit::Full, Some(Format::NotesOnly), Fresh::Enabled));
    let text = asked(&request).text;
    assert_eq!(
        text,
        "## Task\n\nTEXT\n\n## Inherited Context\n\nPARENT\n\n## Previous Outputs\n\n### s1\n\nNOTE1\n\n### s2\n\nNOTE2"
    );
    request.headings =
        Headings { task: "# A".to_owned(), inherited_context: "# B".to_owned(), previous_outputs: "# C".to_owned() };
    let text = asked(&request).text;
    assert!(text.starts_with("# A\n\nTEXT\n\n# B\n\nPARENT\n\n# C\n\n### s1"), "{text}");
    request.parent_context = None;
    request.previous_outputs.clear();
    assert_eq!(asked(&request).text, "# A\n\nTEXT");
}

// `taskText` defaults to the task's description.
#[test]
fn the_task_text_is_the_description_unless_given() {
    let task = clean("<task type='atomic'><description>\n  Sum it up\u{feff}\n</description></task>").operator;
    let mut request = AssemblyRequest::new(task);
    assert_eq!(asked(&request).input.task_text, "Sum it up");
    request.task_text = Some("Other".to_owned());
    assert_eq!(asked(&request).input.task_text, "Other");
    let nothing = AssemblyRequest::new(Operator::new(Kind::Atomic, OperatorRole::Task));
    assert_eq!(asked(&nothing).input.task_text, "");
}

// full: the parent context, unchanged, is in the result.
#[test]
fn full_takes_the_parent_as_it_is() {
    let parent = "  \r\n# Parent\u{0}\u{FFFD} \n\n\n";
    let mut full = request(&operator(Inherit::Full, None, Fresh::Enabled));
    full.parent_context = Some(parent.to_owned());
    let result = finish(asked(&full).state, answer());
    assert_eq!(result.inherited.as_deref(), Some(parent));
    assert!(result.context.starts_with(parent));
    // Whatever the memory system answers.
    let memory = MemoryAnswer { inherited: Some("less".to_owned()), ..answer() };
    assert_eq!(finish(asked(&full).state, memory).inherited.as_deref(), Some(parent));
}

// none: the parent context is absent.
#[test]
fn none_takes_nothing() {
    let none = request(&operator(Inherit::None, Some(Format::FullOutput), Fresh::Enabled));
    let question = asked(&none);
    assert!(!question.text.contains("PARENT"));
    let result = finish(question.state.clone(), answer());
    assert_eq!(result.inherited, None);
    assert!(!result.context.contains("PARENT"));
}

// subset: the parent goes to the memory system, and only its answer is used; with fresh disabled the memory system is
// still queried, as a filter only.
#[test]
fn subset_is_a_filter() {
    let question = asked(&request(&operator(Inherit::Subset, None, Fresh::Disabled)));
    assert_eq!(question.purpose, Purpose::Filter);
    assert_eq!(question.input.inherited_context.as_deref(), Some("PARENT"));
    let result = finish(question.state.clone(), answer());
    assert_eq!((result.inherited.as_deref(), result.fresh), (Some("FOUND"), None));
    assert_eq!(result.context, "FOUND");
    // Whichever field its answer comes in.
    let kept = MemoryAnswer { inherited: Some("KEPT".to_owned()), ..answer() };
    assert_eq!(finish(question.state.clone(), kept).inherited.as_deref(), Some("KEPT"));
    let blank = MemoryAnswer { inherited: Some(String::new()), ..answer() };
    assert_eq!(finish(question.state.clone(), blank).inherited.as_deref(), Some("FOUND"));

    let question = asked(&request(&operator(Inherit::Subset, None, Fresh::Enabled)));
    assert_eq!(question.purpose, Purpose::FilterAndMatch);
    let result = finish(question.state.clone(), answer());
    assert_eq!((result.inherited, result.fresh.as_deref()), (None, Some("FOUND")));
    // A memory system that distinguishes the two takes precedence.
    let apart = MemoryAnswer { inherited: Some("KEPT".to_owned()), ..answer() };
    let result = finish(question.state.clone(), apart);
    assert_eq!((result.inherited.as_deref(), result.fresh.as_deref()), (Some("KEPT"), Some("FOUND")));
    assert_eq!(result.context, "KEPT\n\nFOUND");
    assert_eq!(asked(&request(&operator(Inherit::Full, None, Fresh::Enabled))).purpose, Purpose::Match);
}

// Accumulated outputs are in the result whether or not fresh context is on.
#[test]
fn accumulation_does_not_depend_on_fresh_context() {
    let off = ready(&request(&operator(Inherit::None, Some(Format::FullOutput), Fresh::Disabled)));
    let on = asked(&request(&operator(Inherit::None, Some(Format::FullOutput), Fresh::Enabled)));
    let on = finish(on.state, answer());
    assert_eq!(off.accumulated, on.accumulated);
    assert_eq!(off.context, "### s1\n\nOUT1\n\n### s2\n\nOUT2");
}

// Matches are returned in the given order, unranked.
#[test]
fn matches_are_untouched() {
    let matches: Vec<_> =
        [9, 3, 7, 3].iter().map(|n| (format!("{n}.md"), json!({ "rank": n, "x": [null, "b"] }))).collect();
    let question = asked(&request(&operator(Inherit::Full, None, Fresh::Enabled)));
    let given = MemoryAnswer { matches: matches.clone(), ..answer() };
    assert_eq!(finish(question.state.clone(), given).matches, matches);
}

// `notes_only` keeps each step's notes, `full_output` its whole output, each under its step id.
#[test]
fn steps_without_notes_are_reported() {
    let mut request = request(&operator(Inherit::None, Some(Format::NotesOnly), Fresh::Disabled));
    request.previous_outputs = vec![output("a", "A", None), output("b", "B", Some("note")), output("c", "C", Some(""))];
    let result = ready(&request);
    assert_eq!(result.accumulated.as_deref(), Some("### b\n\nnote\n\n### c\n\n"));
    let codes: Vec<_> = result.diagnostics.iter().map(|it| (it.code, it.path.as_deref())).collect();
    assert_eq!(codes, [(DiagnosticCode::NotesMissing, Some("previousOutputs[0]"))]);
    request.task.operator.context_management.accumulation_format = Some(Format::FullOutput);
    assert_eq!(ready(&request).accumulated.as_deref(), Some("### a\n\nA\n\n### b\n\nB\n\n### c\n\nC"));
}

// An unknown type has no defaults.
#[test]
fn a_task_without_settings_cannot_be_assembled() {
    let mut task = Operator::new(Kind::Unknown("map".to_owned()), OperatorRole::Task);
    let error = begin(&AssemblyRequest::new(task.clone())).unwrap_err();
    assert_eq!((error.code(), error.details()["setting"].as_str()), (Code::MissingSetting, Some("inherit_context")));
    task.context_management.inherit_context = Some(Inherit::Full);
    let error = begin(&AssemblyRequest::new(task.clone())).unwrap_err();
    assert_eq!(error.details()["setting"].as_str(), Some("fresh_context"));
    task.context_management.fresh_context = Some(Fresh::Disabled);
    assert_eq!(ready(&AssemblyRequest::new(task)).context, "");
}

// Warnings about size thresholds inform and never change the flow; only the hard limit does.
#[test]
fn sizes_warn_and_only_the_limit_refuses() {
    let mut full = request(&operator(Inherit::Full, None, Fresh::Disabled));
    full.parent_context = Some("word ".repeat(100));
    let plain = ready(&full);
    let sized = |warn_tokens, max_tokens| {
        let sizes = Sizes { warn_tokens, max_tokens, ..Sizes::default() };
        begin(&AssemblyRequest { sizes, ..full.clone() }).map(|begun| match begun {
            Begun::Ready { result } => result,
            Begun::Match { text, .. } => panic!("the memory system was asked: {text}"),
        })
    };
    assert_eq!(plain.tokens, None);
    let warned = sized(Some(10), Some(10_000)).unwrap();
    assert_eq!(warned.diagnostics.iter().map(|it| it.code).collect::<Vec<_>>(), [DiagnosticCode::ContextNearLimit]);
    assert_eq!((&warned.context, &warned.inherited), (&plain.context, &plain.inherited));
    let tokens = warned.tokens.unwrap();
    let exact = sized(Some(tokens), Some(tokens)).unwrap();
    assert_eq!(exact.diagnostics, []);
    let error = sized(None, Some(tokens - 1)).unwrap_err();
    assert_eq!((error.code(), error.details()["overBy"].as_u64()), (Code::ContextTooLong, Some(1)));
}
