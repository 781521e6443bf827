//! Guarantees of buffer assembly (docs/loom.md).

use crate::calls::loom::assemble_buffer_json;
use ctxweave::Code;
use ctxweave::content::Block;
use ctxweave::loom::{Fate, Reason, Strategy as Cut, assemble_buffer};
use proptest::prelude::*;
use serde_json::{Value, json};
use unicode_segmentation::UnicodeSegmentation;

use crate::generate::{Case, case, cases};
use crate::recount;

/// The text of a node as a document has it.
fn text_of(case: &Case, id: &str) -> String {
    let blocks = &case.tree.node(id).unwrap().content;
    blocks.iter().filter_map(Block::as_text).collect()
}

/// The whole text that a case concatenates, from the report of an uncut assembly.
fn whole(case: &Case) -> String {
    let mut case = case.clone();
    case.options.context_window = 1e9;
    let result = assemble_buffer(&case.tree, &case.options, case.counter).unwrap();
    let kept = result
        .report
        .nodes
        .iter()
        .filter(|row| row.fate == Fate::Kept && row.part != ctxweave::loom::NodePart::Instruction);
    let nodes: String = kept.map(|row| text_of(&case, row.node_id)).collect();
    nodes + &case.options.working_buffer
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(2000)))]

    /// An independent recount never exceeds the limit, and equals the reported total.
    #[test]
    fn the_recount_is_the_report(case in case()) {
        let Ok(result) = assemble_buffer(&case.tree, &case.options, case.counter) else { return Ok(()) };
        let result = serde_json::to_value(&result).unwrap();
        recount::is_the_report(&result, recount::document(&result, &case.options, case.counter))?;
    }

    /// Contents are concatenated unchanged; a truncated one keeps a head and a tail.
    #[test]
    fn the_document_is_the_text_less_one_run(case in case()) {
        let Ok(result) = assemble_buffer(&case.tree, &case.options, case.counter) else { return Ok(()) };
        let whole = whole(&case);
        let mut document = result.document.as_str();
        let prefix = case.options.buffer_prefix.as_ref().or(case.tree.settings().buffer_prefix.as_ref());
        let in_document = case.options.system_placement != ctxweave::loom::SystemPlacement::Field;
        let has_system = in_document && case.tree.settings().buffer_mode_system_context && result.report.tokens.system > 0;
        if has_system || prefix.is_some() {
            let mut long = case.clone();
            long.options.context_window = 1e9;
            let uncut = assemble_buffer(&long.tree, &long.options, long.counter).unwrap();
            let preface = uncut.document.strip_suffix(whole.as_str()).unwrap().to_owned();
            prop_assert!(preface.ends_with(prefix.map_or("", |prefix| prefix)));
            prop_assert!(has_system || preface == prefix.map_or("", |prefix| prefix));
            document = document.strip_prefix(preface.as_str()).unwrap();
        }
        let Some(cut) = &result.report.cut else {
            prop_assert_eq!(document, whole);
            return Ok(());
        };
        let marker = cut.marker.as_deref().unwrap_or("");
        let boundaries: Vec<usize> = whole.grapheme_indices(true).map(|(at, _)| at).chain([whole.len()]).collect();
        // Some place for the marker makes the document a head and a tail of the text, cut between grapheme clusters.
        let splits = document.match_indices(marker).map(|(at, _)| (&document[..at], &document[at + marker.len()..]));
        let found = splits.into_iter().any(|(head, tail)| {
            head.len() + tail.len() < whole.len()
                && whole.starts_with(head)
                && whole.ends_with(tail)
                && boundaries.contains(&head.len())
                && boundaries.contains(&(whole.len() - tail.len()))
        });
        prop_assert!(found, "{:?} of {:?}", document, whole);
        prop_assert!(case.options.preferences.truncation_strategy != Some(Cut::RollingWindow) || marker.is_empty());
    }

    /// The result maps every node to its span.
    #[test]
    fn spans_hold_their_nodes(case in case()) {
        let Ok(result) = assemble_buffer(&case.tree, &case.options, case.counter) else { return Ok(()) };
        let units: Vec<u16> = result.document.encode_utf16().collect();
        let at = |start: usize, end: usize| String::from_utf16(&units[start..end]).unwrap();
        let mut end = 0;
        for span in &result.spans {
            prop_assert!(span.start >= end && span.end >= span.start);
            end = span.end;
            prop_assert!(text_of(&case, span.node_id).contains(&at(span.start, span.end)));
        }
        for row in &result.report.nodes {
            let spans: Vec<_> = result.spans.iter().filter(|span| span.node_id == row.node_id).collect();
            let left: String = spans.iter().map(|span| at(span.start, span.end)).collect();
            match (row.part, row.fate, row.reason) {
                (ctxweave::loom::NodePart::Instruction, ..) => prop_assert!(spans.is_empty()),
                (_, Fate::Kept, _) => prop_assert_eq!(left, text_of(&case, row.node_id)),
                (_, Fate::Changed, Some(Reason::Shortened)) => prop_assert!(!left.is_empty() && left.len() < text_of(&case, row.node_id).len()),
                _ => prop_assert!(left.is_empty()),
            }
        }
        if let Some(span) = result.working_buffer_span {
            prop_assert!(span.start >= end);
            prop_assert_eq!(span.end, units.len());
            if result.report.cut.is_none() {
                prop_assert_eq!(at(span.start, span.end), case.options.working_buffer.clone());
            }
        }
    }

    /// The working buffer is removed last.
    #[test]
    fn the_working_buffer_goes_last(case in case()) {
        let Ok(result) = assemble_buffer(&case.tree, &case.options, case.counter) else { return Ok(()) };
        let nodes_left = !result.spans.iter().all(|span| span.start == span.end);
        if nodes_left && result.report.truncated {
            prop_assert!(result.document.ends_with(&case.options.working_buffer));
        }
    }

    #[test]
    fn a_rolling_window_is_monotonic(mut case in case(), more in 0..300u32) {
        case.options.preferences.truncation_strategy = Some(Cut::RollingWindow);
        case.options.preferences.cut_step = None;
        let small = assemble_buffer(&case.tree, &case.options, case.counter).map(|result| result.document);
        case.options.context_window += f64::from(more);
        let large = assemble_buffer(&case.tree, &case.options, case.counter).map(|result| result.document);
        let (Ok(small), Ok(large)) = (small, large) else { return Ok(()) };
        prop_assert!(large.len() >= small.len());
    }
}

fn story(texts: &[&str]) -> Value {
    let nodes: Vec<Value> = texts
        .iter()
        .enumerate()
        .map(|(at, text)| json!({ "id": format!("n{at}"), "content": text, "authorType": "human" }))
        .collect();
    let edge = |at: usize| json!({ "id": format!("e{at}"), "sources": [{ "nodeId": format!("n{}", at - 1) }], "targetNodeId": format!("n{at}") });
    let edges: Vec<Value> = (1..texts.len()).map(edge).collect();
    json!({ "nodes": nodes, "edges": edges })
}

fn assemble(request: Value) -> Result<Value, ctxweave::Error> {
    assemble_buffer_json(request.to_string().as_bytes()).map(|result| serde_json::from_slice(&result).unwrap())
}

#[test]
fn the_system_context_is_off_by_default() {
    let mut tree = story(&["Once upon a time"]);
    tree["systemContext"] = json!("Write well.");
    let request =
        |tree: &Value| json!({ "tree": tree, "tip": "n0", "contextWindow": 5000, "workingBuffer": ", there was" });
    let off = assemble(request(&tree)).unwrap();
    assert_eq!(off["document"], "Once upon a time, there was");
    assert_eq!(off.get("system"), None);
    assert_eq!(off["report"]["diagnostics"][0]["code"], "system_context_left_out");
    assert_eq!(off["workingBufferSpan"], json!({ "start": 16, "end": 27 }));
    tree["bufferModeSystemContext"] = json!(true);
    let on = assemble(request(&tree)).unwrap();
    assert_eq!(on["system"], "Write well.");
    assert_eq!(on["report"]["diagnostics"], json!([]));
    let mut completion = request(&tree);
    completion["provider"] = json!("completion");
    let within = assemble(completion).unwrap();
    assert_eq!(within["document"], "Write well.\n\nOnce upon a time, there was");
    assert_eq!(within.get("system"), None);
    assert_eq!(within["spans"][0], json!({ "start": 13, "end": 29, "nodeId": "n0" }));
}

/// The cut uses the budget: the rest is less than a few words.
#[test]
fn cuts_leave_little_unused() {
    let text = "The quick brown fox jumps over the lazy dog and runs away. ".repeat(200);
    for strategy in ["truncateMiddle", "rollingWindow"] {
        for window in [50, 200, 1000] {
            let request = json!({ "tree": story(&[&text, &text, &text]), "tip": "n2", "contextWindow": window, "preferences": { "truncationStrategy": strategy, "tokenBuffer": 0 } });
            let total = assemble(request).unwrap()["report"]["tokens"]["total"].as_u64().unwrap();
            assert!(total <= window && total + 6 >= window, "{strategy}: {total} of {window}");
        }
    }
}

#[test]
fn a_document_that_cannot_be_cut_enough_is_an_error() {
    let request = json!({ "tree": story(&["x".repeat(100).as_str()]), "tip": "n0", "contextWindow": 5, "preferences": { "tokenBuffer": 0 } });
    assert_eq!(assemble(request).unwrap_err().code(), Code::ContextTooLong);
}
