//! What holds for every template, request and text.

use ctxweave::Limits;
use ctxweave::operators::{
    AssemblyRequest, Begun, Format, Fresh, Inherit, Kind, MemoryAnswer, Operator, OperatorRole, ParseOptions, Task,
    explain, parse_bytes, parse_task, write_task,
};
use proptest::prelude::*;
use proptest::sample::{Index, select};

use super::{begin, finish, output, parse, settings};

/// A setting's element, or nothing.
fn element(name: &'static str, values: &'static [&'static str]) -> impl Strategy<Value = String> {
    select(values).prop_map(move |value| match value {
        "" => String::new(),
        value => format!("<{name}>{value}</{name}>"),
    })
}

fn block() -> impl Strategy<Value = Vec<String>> {
    let fields = (
        element("inherit_context", &["", "full", "none", "subset", "all"]),
        element("accumulate_data", &["", "true", "false", "yes"]),
        element("accumulation_format", &["", "notes_only", "full_output"]),
        element("fresh_context", &["", "enabled", "disabled"]),
        select(&["", "<!-- why -->", "<other>x</other>", "\n    "][..]).prop_map(str::to_owned),
    );
    fields.prop_map(|(a, b, c, d, e)| vec![a, b, c, d, e])
}

/// The children of an element, in some order.
fn shuffled(children: Vec<String>) -> impl Strategy<Value = String> {
    Just(children).prop_shuffle().prop_map(|children| children.concat())
}

fn block_element() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(String::new()),
        Just("<context_management/>".to_owned()),
        block()
            .prop_flat_map(shuffled)
            .prop_map(|block| format!("\n  <context_management>{block}\n  </context_management>")),
    ]
}

/// What may stand in any task besides.
fn extra() -> impl Strategy<Value = String> {
    select(
        &["", "\n  <description>Do it &lt;now&gt;</description>", "<!-- é😀 -->", "<inputs a='1'/>", "stray", "\r\n\t"]
            [..],
    )
    .prop_map(str::to_owned)
}

fn task() -> impl Strategy<Value = String> {
    let kind = || select(&[" type='atomic'", " type=\"sequential\"", " type='reduce'", " type='map'", ""][..]);
    let leaf = (kind(), block_element(), extra())
        .prop_map(|(kind, block, extra)| format!("<task{kind}>{extra}{block}</task>"));
    leaf.prop_recursive(3, 24, 4, move |inner| {
        let steps =
            prop::collection::vec(inner.clone(), 0..4).prop_map(|steps| format!("<steps>{}</steps>", steps.concat()));
        let sequence = (block_element(), extra(), steps).prop_flat_map(|(block, extra, steps)| {
            shuffled(vec![block, extra, steps]).prop_map(|all| format!("<task type='sequential'>{all}</task>"))
        });
        let reduce = (block_element(), extra(), block_element(), inner.clone(), block_element()).prop_flat_map(
            |(block, extra, inner_block, inner, reduction_block)| {
                let inner = format!("<inner_task>{inner_block}{inner}</inner_task>");
                let reduction = format!("<reduction_task>{reduction_block}</reduction_task>");
                shuffled(vec![block, extra, inner, reduction])
                    .prop_map(|all| format!("<task type=\"reduce\">{all}\n</task>"))
            },
        );
        prop_oneof![sequence, reduce]
    })
}

/// The settings in force in a task and in all tasks within it.
fn in_force(task: &Task) -> Vec<(String, String)> {
    explain(task)
        .iter()
        .map(|it| (it.path.clone(), format!("{} {:?}", it.r#type.as_str(), it.context_management)))
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::generate::cases(256)))]

    #[test]
    fn parse_then_write_then_parse_is_identity(xml in task()) {
        let first = parse(&xml);
        let written = write_task(&first.task, Limits::default()).unwrap();
        let second = parse(&written);
        prop_assert_eq!(in_force(&first.task), in_force(&second.task));
        prop_assert_eq!(&write_task(&second.task, Limits::default()).unwrap(), &written);
        // All that was there is still there, in order.
        let mut rest = written.chars();
        prop_assert!(xml.chars().all(|ch| rest.any(|other| other == ch)), "{} became {}", xml, written);
        // What was invalid stays for its author; everything else is explicit now.
        for (entry, origins) in explain(&second.task).iter().map(|it| (it, it.origins)) {
            if !xml.contains(">all<") && !xml.contains(">yes<") && entry.r#type != Kind::Sequential {
                prop_assert!(origins.inherit_context.is_none_or(|it| it.as_str() == "explicit"), "{entry:?}");
                prop_assert!(origins.fresh_context.is_none_or(|it| it.as_str() == "explicit"), "{entry:?}");
            }
        }
    }

    #[test]
    fn settings_do_not_depend_on_the_order_of_siblings(fields in block(), kind in select(&["atomic", "sequential", "reduce", "map"][..]), seed in any::<prop::sample::Index>()) {
        let task = |fields: &[String]| format!("<task type='{kind}'><context_management>{}</context_management></task>", fields.concat());
        let mut turned = fields.clone();
        turned.rotate_left(seed.index(fields.len()));
        let mut reversed = turned.clone();
        reversed.reverse();
        let expected = settings(&parse(&task(&fields)).task.operator);
        for order in [turned, reversed] {
            let parsed = parse(&task(&order));
            prop_assert_eq!(&settings(&parsed.task.operator), &expected);
        }
    }

    #[test]
    fn assembly_keeps_its_promises(
        inherit in select(Inherit::ALL),
        format in select(&[None, Some(Format::NotesOnly), Some(Format::FullOutput)][..]),
        fresh in select(Fresh::ALL),
        parent in prop::option::of("[a-zé😀\\n #]{0,12}"),
        steps in prop::collection::vec(("[a-z]{1,3}", "[A-Z ]{0,6}", prop::option::of("[A-Z]{0,4}")), 0..4),
        answer in "[0-9]{0,6}",
    ) {
        let mut task = Operator::new(Kind::Sequential, OperatorRole::Task);
        task.context_management.inherit_context = Some(inherit);
        task.context_management.accumulate_data = Some(format.is_some());
        task.context_management.accumulation_format = format;
        task.context_management.fresh_context = Some(fresh);
        // A mark that nothing else can hold.
        let parent = parent.map(|parent| if parent.is_empty() { parent } else { format!("§{parent}§") });
        let request = AssemblyRequest {
            task_text: Some("T".to_owned()),
            parent_context: parent.clone(),
            previous_outputs: steps.iter().map(|(id, out, notes)| output(id, out, notes.as_deref())).collect(),
            ..AssemblyRequest::new(task)
        };
        let begun = begin(&request).unwrap();
        let has_parent = parent.as_ref().is_some_and(|parent| !parent.is_empty());
        let asks = fresh == Fresh::Enabled || (inherit == Inherit::Subset && has_parent);
        prop_assert_eq!(matches!(begun, Begun::Match { .. }), asks, "asked exactly when the rules say");
        let result = match begun {
            Begun::Ready { result } => result,
            Begun::Match { text, state, .. } => {
                if inherit == Inherit::None {
                    prop_assert!(!text.contains('§'));
                }
                let matches = vec![("b".to_owned(), serde_json::Value::Null), ("a".to_owned(), serde_json::json!([1]))];
                let result = finish(state, MemoryAnswer { context: answer.clone(), inherited: None, matches: matches.clone() });
                prop_assert_eq!(&result.matches, &matches);
                result
            }
        };
        if let (Inherit::Full, Some(parent)) = (inherit, &parent) {
            prop_assert!(result.context.contains(parent.as_str()), "a full parent is always in the result, unchanged");
            prop_assert_eq!(result.inherited.as_ref(), Some(parent).filter(|parent| !parent.is_empty()));
        }
        if inherit == Inherit::None {
            prop_assert!(!result.context.contains('§') && result.inherited.is_none(), "nothing of a `none` parent ever is");
        }
        let parts: Vec<&str> = [&result.inherited, &result.accumulated, &result.fresh].into_iter().flatten().map(String::as_str).collect();
        prop_assert_eq!(&result.context, &parts.join("\n\n"));
        prop_assert_eq!(result.accumulated.is_some() && format.is_none(), false);
        prop_assert_eq!(result.fresh.is_some() && fresh == Fresh::Disabled, false);
    }

    #[test]
    fn bytes_never_trap(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = parse_bytes(&bytes, &ParseOptions::default());
    }

    #[test]
    fn what_looks_like_xml_never_traps(pieces in prop::collection::vec(select(&[
        "<", ">", "/", "task", "<task", "</task>", "<task>", "<steps>", "</steps>", "<context_management>", "</context_management>",
        "<inherit_context>", "full", "</inherit_context>", " type='", "sequential'", "reduce\"", "<inner_task>", "</inner_task>",
        "<!--", "--", "-->", "<![CDATA[", "]]>", "<?", "?>", "<?xml version='1.0'", "&", "&amp;", "&#", "x41;", ";", "=", "\"", "'",
        " ", "\n", "\r", "\u{0}", "😀", "\u{FEFF}", "<!DOCTYPE", "[", "]",
    ][..]), 0..40)) {
        check_any(&pieces.concat())?;
    }

    #[test]
    fn mutated_templates_never_trap(xml in task(), cuts in prop::collection::vec((any::<Index>(), any::<Index>(), select(&["", "<", ">", "&", "\"", "</", "/>", "<task>", "\u{1}", "]]>"][..])), 1..4)) {
        let mut chars: Vec<char> = xml.chars().collect();
        for (from, to, with) in cuts {
            let (from, to) = (from.index(chars.len() + 1), to.index(chars.len() + 1));
            // A few characters are taken out, and something is put in.
            let end = from.max(to.min(from + 3));
            chars.splice(from..end, with.chars());
        }
        check_any(&chars.into_iter().collect::<String>())?;
    }
}

/// Whatever the text is, the answer is a task or an error with a place that is in the text.
fn check_any(xml: &str) -> Result<(), TestCaseError> {
    let lines = xml.replace("\r\n", "\n").replace('\r', "\n").split('\n').count() as u64;
    let inside = |line: u64, column: u64| {
        (1..=lines).contains(&line) && (1..=xml.encode_utf16().count() as u64 + 1).contains(&column)
    };
    match parse_task(xml, &ParseOptions::default()) {
        Ok(parsed) => {
            for it in &parsed.diagnostics {
                prop_assert!(inside(it.line.unwrap().into(), it.column.unwrap().into()), "{it:?} in {xml:?}");
            }
            let written = write_task(&parsed.task, Limits::default()).unwrap();
            let again = parse_task(&written, &ParseOptions::default());
            prop_assert!(again.is_ok(), "{written:?}: {again:?}");
            prop_assert_eq!(in_force(&parsed.task), in_force(&again.unwrap().task));
        }
        Err(error) => {
            let details = error.details();
            let place = (details["line"].as_u64().unwrap(), details["column"].as_u64().unwrap());
            prop_assert!(inside(place.0, place.1), "{error} in {xml:?}");
        }
    }
    Ok(())
}
