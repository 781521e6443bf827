//! What a fit keeps: of conversations with the structure of real ones, and of any chat.

use ctxweave::DiagnosticCode;
use ctxweave::chat::{Edits, Fate, Fill, FitOptions, Fitted, Protect, ResultEdit, Strategy, ToolFilter, count, fit};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::properties::turns;
use super::written::write;
use crate::corpus::{corpus, text};
use crate::generate::cases;

/// What the fits of the corpus keep.
#[derive(Debug, Default)]
struct Kept {
    used: Vec<f64>,
    errors: usize,
    first_lost: usize,
    last_lost: usize,
    plans: usize,
    plans_lost: usize,
    calls: usize,
    calls_kept: usize,
}

fn calls(messages: &[Value]) -> usize {
    messages.iter().map(|message| message["tool_calls"].as_array().map_or(0, Vec::len)).sum()
}

const PLAN_TOOLS: [&str; 2] = ["TodoWrite", "update_plan"];

fn has_plan(message: &Value) -> bool {
    let calls = message["tool_calls"].as_array();
    calls.is_some_and(|calls| calls.iter().any(|call| PLAN_TOOLS.iter().any(|tool| call["function"]["name"] == *tool)))
}

fn kept(options: &FitOptions) -> Kept {
    let mut kept = Kept::default();
    for messages in corpus() {
        let total = count(&messages, &FitOptions::default()).unwrap();
        for percent in [10, 25, 50, 75, 90] {
            let options = FitOptions { max_tokens: Some(total * percent / 100), ..options.clone() };
            let Ok(Fitted { messages: fitted, report, .. }) = fit(&messages, &options) else {
                kept.errors += 1;
                continue;
            };
            assert!(report.tokens.total <= report.limit);
            assert_eq!(count(&fitted, &FitOptions::default()).unwrap(), report.tokens.total);
            kept.used.push(report.tokens.total as f64 / report.limit as f64);
            let is_lost = |at: usize| usize::from(report.messages[at].fate == Fate::Cut);
            kept.calls += calls(&messages);
            kept.calls_kept += calls(&fitted);
            if let Some(plan) = messages.iter().rposition(has_plan) {
                kept.plans += 1;
                kept.plans_lost += is_lost(plan);
            }
            // Next to a system context that takes nearly all of the limit nothing can be kept.
            if report.limit - report.tokens.system < 100 {
                continue;
            }
            let is_user = |message: &Value| message["role"] == "user";
            kept.first_lost += is_lost(messages.iter().position(is_user).unwrap());
            kept.last_lost += is_lost(messages.iter().rposition(is_user).unwrap());
        }
    }
    kept.used.sort_by(f64::total_cmp);
    kept
}

impl Kept {
    fn mean(&self) -> f64 {
        self.used.iter().sum::<f64>() / self.used.len() as f64
    }

    fn tenth_percentile(&self) -> f64 {
        self.used[self.used.len() / 10]
    }
}

/// Fits of the corpus that throw, since the system context alone is over the limit.
fn too_small() -> usize {
    kept(&FitOptions {
        edits: Some(Edits::default()),
        protect: Some(Vec::new()),
        fill: Fill::Off,
        ..FitOptions::default()
    })
    .errors
}

#[test]
fn the_middle_is_cut_where_least_is_lost() {
    let errors = too_small();
    for edits in [None, Some(Edits::default())] {
        let has_edits = edits.is_none();
        let kept = kept(&FitOptions { edits, ..FitOptions::default() });
        assert!(kept.mean() >= 0.98 && kept.tenth_percentile() >= 0.95, "{} {}", kept.mean(), kept.tenth_percentile());
        let fits = kept.used.len();
        assert!(kept.first_lost * 200 <= fits && kept.last_lost == 0, "{} {}", kept.first_lost, kept.last_lost);
        assert!(kept.plans_lost * 50 <= kept.plans + 1, "{} of {}", kept.plans_lost, kept.plans);
        assert!(!has_edits || kept.calls_kept * 100 >= kept.calls * 75, "{} of {}", kept.calls_kept, kept.calls);
        assert!(kept.errors <= errors, "{} {errors}", kept.errors);
    }
}

#[test]
fn windows_use_the_limit() {
    for truncation_strategy in [Strategy::RollingWindow, Strategy::KeepStart] {
        for edits in [None, Some(Edits::default())] {
            let kept = kept(&FitOptions { edits, truncation_strategy, ..FitOptions::default() });
            let (mean, tenth) = (kept.mean(), kept.tenth_percentile());
            assert!(mean >= 0.97 && tenth >= 0.93, "{truncation_strategy:?}: {mean} {tenth}");
            match truncation_strategy {
                Strategy::RollingWindow => assert_eq!(kept.last_lost, 0),
                _ => assert_eq!(kept.first_lost, 0),
            }
        }
    }
}

fn user(text: &str) -> Value {
    json!({ "role": "user", "content": text })
}

fn assistant(text: &str) -> Value {
    json!({ "role": "assistant", "content": text })
}

/// A task and small steps, over the limit by the task alone.
#[test]
fn the_task_is_shortened_rather_than_removed() {
    let mut messages = vec![user(&text(1000))];
    for at in 0..12 {
        messages.push(if at % 2 == 0 { assistant(&text(90)) } else { user(&text(90)) });
    }
    let fitted = fit(&messages, &FitOptions { max_tokens: Some(2000), ..FitOptions::default() }).unwrap();
    assert_ne!(fitted.report.messages[0].fate, Fate::Cut);
    assert!(fitted.report.tokens.total >= 1900, "{}", fitted.report.tokens.total);
    let huge = [user(&text(30_000)), assistant("I see."), user("Go on")];
    let fitted = fit(&huge, &FitOptions { max_tokens: Some(7168), ..FitOptions::default() }).unwrap();
    let [row, ..] = fitted.report.messages.as_slice() else { panic!() };
    assert_eq!((row.fate, fitted.messages.len()), (Fate::Changed, 3));
    assert!(fitted.report.tokens.total >= 7000 && row.tokens_after.is_some_and(|after| after < row.tokens));
}

#[test]
fn the_marker_parts_what_the_gap_joins() {
    let messages = [user("My name is Ann, I live in Oslo."), assistant(&text(80)), user("Where do I live?")];
    let options = FitOptions { max_tokens: Some(45), keep_last: 1, ..FitOptions::default() };
    let fitted = fit(&messages, &options).unwrap();
    let [first, marker, last] = fitted.messages.as_slice() else { panic!("{:?}", fitted.messages) };
    assert_eq!((&messages[0], &messages[2]), (first, last));
    assert_eq!(marker["content"], "[… 1 earlier message omitted …]");
}

#[test]
fn the_latest_plan_stays_without_what_was_called_with_it() {
    let call = |id: &str, name: &str, input: &str| json!({ "id": id, "type": "function", "function": { "name": name, "arguments": input } });
    let result = |id: &str, content: &str| json!({ "role": "tool", "tool_call_id": id, "content": content });
    let mut messages = vec![
        user("Do it."),
        json!({
            "role": "assistant",
            "content": text(50),
            "tool_calls": [
                call("a", "read", &json!({ "path": text(900) }).to_string()),
                call("b", "update_plan", "{\"plan\":[\"weave\"]}"),
            ],
        }),
        result("a", &text(2000)),
        result("b", "ok"),
    ];
    messages.extend((0..10).map(|at| if at % 2 == 0 { assistant(&text(100)) } else { user(&text(100)) }));
    let fitted = fit(&messages, &FitOptions { max_tokens: Some(1000), ..FitOptions::default() }).unwrap();
    let plan = fitted.messages.iter().find(|message| message["tool_calls"].is_array()).unwrap();
    assert_eq!(plan["tool_calls"].as_array().unwrap().len(), 1);
    assert_eq!(plan["tool_calls"][0]["id"], "b");
    assert!(fitted.messages.iter().any(|message| message["tool_call_id"] == "b"));
    let off = FitOptions { max_tokens: Some(1000), protect_tools: Some(Vec::new()), ..FitOptions::default() };
    assert_eq!(calls(&fit(&messages, &off).unwrap().messages), 0);
}

#[test]
fn old_results_are_cleared_and_the_last_of_them_is_shortened() {
    let messages = reads(5, 400, |_| "read");
    let fitted = fit(&messages, &FitOptions { max_tokens: Some(1500), ..FitOptions::default() }).unwrap();
    let contents: Vec<&str> = [2, 4, 6].map(|at| fitted.messages[at]["content"].as_str().unwrap()).to_vec();
    assert_eq!(contents[0], "[tool result cleared]");
    assert!(contents[1].contains("[…]") && contents[2] == text(400), "{contents:?}");
    assert!(fitted.report.tokens.total >= 1485, "{}", fitted.report.tokens.total);
    let off = FitOptions { max_tokens: Some(1500), fill: Fill::Off, ..FitOptions::default() };
    assert_eq!(fit(&messages, &off).unwrap().messages[4]["content"], "[tool result cleared]");
}

/// An agent that reads so many files, and its answer.
fn reads(files: usize, tokens: u64, tool: impl Fn(usize) -> &'static str) -> Vec<Value> {
    let mut messages = vec![user("Read.")];
    for at in 0..files {
        let id = format!("c{at}");
        let call = json!({ "id": id, "type": "function", "function": { "name": tool(at), "arguments": "{}" } });
        messages.push(json!({ "role": "assistant", "content": null, "tool_calls": [call] }));
        messages.push(json!({ "role": "tool", "tool_call_id": id, "content": text(tokens) }));
    }
    messages.push(assistant("Done."));
    messages
}

#[test]
fn a_step_clears_ahead() {
    let messages = reads(8, 100, |_| "read");
    let total = count(&messages, &FitOptions::default()).unwrap();
    let cleared = |step: u64| {
        let edits = Edits { step, tool_results: Some(ResultEdit::new(0)), ..Edits::default() };
        let options = FitOptions { max_tokens: Some(total - 50), edits: Some(edits), ..FitOptions::default() };
        fit(&messages, &options).unwrap().report.edits[0].count
    };
    assert_eq!((cleared(0), cleared(300)), (1, 4));
}

#[test]
fn an_edit_reaches_the_named_tools_only() {
    let messages = reads(4, 200, |at| if at % 2 == 0 { "read" } else { "find" });
    let tools = ToolFilter { only: Some(vec!["find".to_owned()]), ..ToolFilter::default() };
    let edits =
        Edits { always: true, tool_results: Some(ResultEdit { tools, ..ResultEdit::new(0) }), ..Edits::default() };
    let options = FitOptions { max_tokens: Some(9000), edits: Some(edits), ..FitOptions::default() };
    let fitted = fit(&messages, &options).unwrap();
    let is_cleared = |at: &usize| fitted.messages[*at]["content"] == "[tool result cleared]";
    assert_eq!([2, 4, 6, 8].into_iter().filter(is_cleared).collect::<Vec<_>>(), [4, 8]);
}

#[test]
fn a_plan_over_its_share_is_reported() {
    let mut messages = reads(1, 10, |_| "update_plan");
    messages[1]["tool_calls"][0]["function"]["arguments"] = json!(json!({ "plan": text(600) }).to_string());
    messages.extend((0..10).map(|at| if at % 2 == 0 { user(&text(100)) } else { assistant(&text(100)) }));
    let fitted = fit(&messages, &FitOptions { max_tokens: Some(800), ..FitOptions::default() }).unwrap();
    let codes: Vec<_> = fitted.report.diagnostics.iter().map(|known| known.code).collect();
    assert_eq!(codes, [DiagnosticCode::ProtectionDropped]);
    assert_eq!(calls(&fitted.messages), 0);
}

/// The last user message, which does not fit into its share, precedes a newest message that fits without that share.
#[test]
fn a_reserve_that_does_not_suffice_is_given_up() {
    let image = json!({ "type": "image_url", "image_url": { "url": "https://example.com/a.png" } });
    let messages = [json!({ "role": "user", "content": [image] }), assistant(&text(85))];
    let newest = count(&messages[1..], &FitOptions::default()).unwrap();
    let options = FitOptions {
        max_tokens: Some(newest),
        truncation_strategy: Strategy::RollingWindow,
        fill: Fill::Off,
        ..FitOptions::default()
    };
    let fitted = fit(&messages, &options).unwrap();
    assert_eq!(fitted.messages, messages[1..]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(200)))]

    /// A larger limit never removes a message that a smaller one kept.
    #[test]
    fn windows_grow_with_the_limit(turns in turns(), smaller in 20_u64..400, more in 1_u64..200, is_start: bool) {
        let messages = write("openai", &turns);
        let truncation_strategy = if is_start { Strategy::KeepStart } else { Strategy::RollingWindow };
        let fit_to = |limit| {
            fit(&messages, &FitOptions { max_tokens: Some(limit), truncation_strategy, ..FitOptions::default() })
        };
        if let (Ok(small), Ok(large)) = (fit_to(smaller), fit_to(smaller + more)) {
            for (small, large) in small.report.messages.iter().zip(&large.report.messages) {
                prop_assert!(small.fate == Fate::Cut || large.fate != Fate::Cut, "{small:?} {large:?}");
            }
        }
    }

    /// A removed message of the middle leaves a marker, and the protected ones stay where they fit into their share.
    #[test]
    fn the_middle_has_its_marker(turns in turns(), limit in 30_u64..600, fills: bool) {
        let messages = write("openai", &turns);
        let fill = if fills { Fill::All } else { Fill::Off };
        let protect = Some(vec![Protect::FirstUser, Protect::LastUser]);
        if let Ok(fitted) = fit(&messages, &FitOptions { max_tokens: Some(limit), fill, protect, ..FitOptions::default() }) {
            let report = &fitted.report;
            let is_cut = report.messages.iter().any(|row| row.reason == Some(ctxweave::chat::Reason::OverLimit) && row.fate == Fate::Cut);
            prop_assert_eq!(is_cut, report.added.is_some());
        }
    }
}
