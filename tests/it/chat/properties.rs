//! What holds for every chat, in every format.

use std::collections::BTreeSet;

use ctxweave::Code;
use ctxweave::call::CallContext;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

use crate::bodies::rules::broken_chat;
use crate::generate::{COUNTERS, cases, own};

use super::first_turn::begins_with_model;
use super::written::{Call, FORMATS, Turn, acts, is_assistant, write};
use super::{Fitted, count, fit, fit_with, plain};

pub(super) fn text() -> impl Strategy<Value = String> {
    (select(vec!["word ", "Wörter, ", "言葉。", "code(); ", "🙂 ", "a\n\nb "]), 1usize..60)
        .prop_map(|(word, times)| word.repeat(times) + "end")
}

fn call() -> impl Strategy<Value = (String, String, String)> {
    (select(vec!["search", "read", "run"]).prop_map(str::to_owned), text(), text())
}

fn turn() -> impl Strategy<Value = Turn> {
    prop_oneof![
        3 => text().prop_map(Turn::User),
        1 => text().prop_map(Turn::Look),
        4 => (proptest::option::weighted(0.3, text()), proptest::option::weighted(0.7, text()), prop::collection::vec(call(), 0..3)).prop_map(
            |(thought, text, calls)| {
                let text = if calls.is_empty() { text.or_else(|| Some("done".to_owned())) } else { text };
                let call = |(name, input, result)| Call { id: String::new(), name, input, result: Some(result) };
                Turn::Assistant { thought, text, calls: calls.into_iter().map(call).collect() }
            }
        ),
    ]
}

/// A conversation that begins with the user, with an id for each call and, if requested, an open last call.
pub(super) fn turns() -> impl Strategy<Value = Vec<Turn>> {
    let first = (proptest::option::of(text()), text());
    (first, prop::collection::vec(turn(), 0..14), any::<bool>()).prop_map(|((system, user), rest, open)| {
        let mut turns: Vec<Turn> = system.map(Turn::System).into_iter().chain([Turn::User(user)]).chain(rest).collect();
        let mut number = 0;
        let count = turns.len();
        for (at, turn) in turns.iter_mut().enumerate() {
            if let Turn::Assistant { calls, .. } = turn {
                for call in calls.iter_mut() {
                    number += 1;
                    call.id = format!("call_{number}");
                    if open && at + 1 == count {
                        call.result = None;
                    }
                }
            }
        }
        turns
    })
}

pub(super) fn strategy() -> impl Strategy<Value = &'static str> {
    select(vec!["truncateMiddle", "rollingWindow", "keepStart"])
}

pub(super) fn edits() -> impl Strategy<Value = Value> {
    let keep = || 0u32..3;
    prop_oneof![
        4 => Just(Value::Null),
        1 => keep().prop_map(|keep| json!({ "toolResults": { "keepLast": keep } })),
        1 => (keep(), 1u32..40).prop_map(|(keep, most)| json!({ "toolResults": { "keepLast": keep, "maxTokens": most } })),
        1 => keep().prop_map(|keep| json!({ "toolCalls": { "keepLast": keep } })),
        1 => select(vec!["all", "beforeLastUser"]).prop_map(|which| json!({ "reasoning": { "remove": which } })),
        1 => keep().prop_map(|keep| json!({ "images": { "keepLast": keep }, "when": "always" })),
        1 => Just(json!(false)),
        1 => (1u32..60, any::<bool>()).prop_map(|(keep, same)| json!({ "toolResults": { "keepTokens": keep, "duplicates": same } })),
        1 => (keep(), 1u32..60).prop_map(|(keep, step)| json!({ "toolInputs": { "keepLast": keep }, "toolResults": { "keepLast": keep }, "step": step })),
        1 => (keep(), 0u32..200).prop_map(|(keep, least)| json!({ "toolResults": { "keepLast": keep }, "toolCalls": { "keepLast": keep }, "minTokensFreed": least })),
    ]
}

fn tokens(messages: &Value, format: &str, host: &CallContext, tokenizer: &Value) -> u64 {
    let options = json!({ "format": format, "maxTokens": 9_000_000, "repair": "off", "tokenizer": tokenizer });
    let whole = fit_with(messages, &options, host).unwrap();
    assert!(whole.same.iter().all(|same| *same));
    whole.report["tokens"]["total"].as_u64().unwrap()
}

/// Calls without results and results without calls.
fn unpaired(messages: &[Value]) -> Vec<String> {
    let mut open: Vec<String> = Vec::new();
    for act in acts(messages) {
        match act.strip_prefix('-') {
            None => open.push(act[1..].to_owned()),
            Some(id) => match open.iter().position(|known| known == id) {
                Some(at) => drop(open.remove(at)),
                None => open.push(act.clone()),
            },
        }
    }
    open
}

/// OpenAI's items keep their ids only with the reasoning before them.
fn check_ids(format: &str, messages: &[Value], fitted: &Fitted) -> Result<(), TestCaseError> {
    if !matches!(format, "openai-responses" | "openai-agents") {
        return Ok(());
    }
    let place = |at: usize| fitted.from.iter().position(|from| *from == Some(at));
    let mut thought = None;
    for (at, item) in messages.iter().enumerate() {
        if item["type"] == "reasoning" {
            thought = Some(at);
        } else if !is_assistant(item) {
            thought = None;
        } else if let (Some(thought), Some(place)) = (thought, place(at)) {
            let has_id = fitted.messages[place].get("id").is_some();
            prop_assert_eq!(has_id, fitted.from.contains(&Some(thought)), "{} in {:?}", item, fitted.messages);
        }
    }
    Ok(())
}

fn check(
    format: &str,
    messages: &[Value],
    options: &Value,
    fitted: &Fitted,
    host: &CallContext,
) -> Result<(), TestCaseError> {
    let report = &fitted.report;
    let limit = report["limit"].as_u64().unwrap();
    let total = report["tokens"]["total"].as_u64().unwrap();
    prop_assert_eq!(&report["format"], format);
    // Never over the limit, by a recount of what comes out.
    prop_assert!(total <= limit, "{} of {}", total, limit);
    prop_assert_eq!(
        tokens(&json!(fitted.messages), format, host, &options["tokenizer"]),
        total,
        "{:?}",
        fitted.messages
    );
    let sum = ["system", "messages", "tools", "overhead"]
        .iter()
        .map(|part| report["tokens"][part].as_u64().unwrap())
        .sum::<u64>();
    prop_assert_eq!(sum, total);
    // The order stays, and each message has a row.
    let order: Vec<usize> = fitted.from.iter().flatten().copied().collect();
    prop_assert!(order.is_sorted() && order.iter().collect::<BTreeSet<_>>().len() == order.len());
    let rows = report["messages"].as_array().unwrap();
    prop_assert_eq!(rows.len(), messages.len());
    for (at, row) in rows.iter().enumerate() {
        let place = fitted.from.iter().position(|from| *from == Some(at));
        let fate = match place {
            None if row["fate"] == "summarized" && options.get("phase").is_some() => "summarized",
            None => "cut",
            Some(place) if fitted.same[place] => "kept",
            Some(_) => "changed",
        };
        prop_assert_eq!(&row["fate"], fate, "{}", row);
        prop_assert_eq!(&row["index"], at);
        // Summarized messages need no reason, nor do those that lost a part to the summary.
        let of_parts = row["parts"].as_array().into_iter().flatten();
        let is_summarized = of_parts.chain([row]).any(|part| part["fate"] == "summarized");
        prop_assert!(is_summarized || (fate == "kept") == row.get("reason").is_none(), "{}", row);
    }
    // What belongs together stays together, and an open call at the end is no broken one.
    let open = unpaired(messages);
    let left = unpaired(&fitted.messages);
    prop_assert!(left.iter().all(|id| open.contains(id)), "{:?} is open in {:?}", left, fitted.messages);
    // The beginning is the user's where the provider wants that.
    prop_assert!(report["truncated"] == false || !begins_with_model(format, &fitted.messages), "{:?}", fitted.messages);
    // What the vendor takes before, it takes after. A message of the assistant's that is pinned in the middle may become the
    // neighbour of one that begins with a thought: that is the caller's choice.
    let is_pinned = format == "anthropic" && options.get("pinned").is_some();
    if !is_pinned && broken_chat(format, messages).is_ok() && !fitted.messages.is_empty() {
        let wrong = broken_chat(format, &fitted.messages);
        prop_assert!(wrong.is_ok(), "{:?}: {:?}", wrong, fitted.messages);
    }
    check_ids(format, messages, fitted)?;
    // Leading instructions stay.
    for (at, message) in messages
        .iter()
        .enumerate()
        .take_while(|(_, message)| message["role"] == "system" || message["type"] == "system")
    {
        let place = fitted.from.iter().position(|from| *from == Some(at));
        prop_assert!(place.is_some_and(|place| fitted.messages[place] == *message));
    }
    // No field of a message that stays is lost, but for what was taken out of it.
    for (place, from) in fitted.from.iter().enumerate() {
        let Some(before) = from.map(|at| &messages[at]) else { continue };
        let after = fitted.messages[place].as_object().unwrap();
        for key in before
            .as_object()
            .unwrap()
            .keys()
            .filter(|key| !["tool_calls", "reasoning_content", "id"].contains(&key.as_str()))
        {
            prop_assert!(after.contains_key(key), "{} of {}", key, before);
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(400)))]

    /// The guarantees of a fit, under every strategy, with edits, pins and a custom counter.
    #[test]
    fn a_fit_keeps_its_promises(
        turns in turns(),
        strategy in strategy(),
        edits in edits(),
        share in 5u64..130,
        counter in select(COUNTERS.to_vec()),
        pin in proptest::option::of(0usize..6),
        first in 0u32..3,
        summary in proptest::option::weighted(0.2, 0u32..60),
    ) {
        let (host, tokenizer) = (own(counter), json!({}));
        for format in FORMATS {
            let messages = write(format, &turns);
            let given = json!(messages);
            let whole = tokens(&given, format, &host, &tokenizer);
            let limit = (whole * share / 100).max(1);
            let mut options = json!({ "format": format, "maxTokens": limit, "truncationStrategy": strategy, "tokenizer": tokenizer, "keepFirst": first });
            if !edits.is_null() {
                options["edits"] = edits.clone();
            }
            if let Some(most) = summary {
                options["phase"] = json!("finish");
                options["summaryText"] = json!("What was said before, in short. ".repeat(9));
                options["summary"] = json!({ "maxTokens": most });
            }
            let pin = pin.filter(|pin| *pin < messages.len());
            if let Some(pin) = pin {
                options["pinned"] = json!([pin]);
            }
            let fitted = match fit_with(&given, &options, &host) {
                Ok(fitted) => fitted,
                Err(error) => {
                    prop_assert!(matches!(error.code(), Code::ContextTooLong | Code::SystemContextTooLong), "{}", error);
                    prop_assert!(whole > limit);
                    continue;
                }
            };
            check(format, &messages, &options, &fitted, &host)?;
            if whole <= limit && edits.is_null() {
                prop_assert!(fitted.same.iter().all(|same| *same) && fitted.messages.len() == messages.len());
            }
            if let Some(pin) = pin {
                prop_assert!(fitted.from.contains(&Some(pin)), "{} is pinned", pin);
            }
            // The same again gives the same; and what was fitted fits, without a second marker.
            let again = fit_with(&json!(fitted.messages), &json!({ "format": format, "maxTokens": limit, "tokenizer": tokenizer }), &host).unwrap();
            prop_assert!(again.same.iter().all(|same| *same), "{:?}", again.report);
        }
    }

    /// A count is the total that a fit without changes reports; of OpenAI's messages, that of the tokens area.
    #[test]
    fn a_count_is_the_total_of_a_report(turns in turns(), counter in select(COUNTERS.to_vec())) {
        let (host, tokenizer) = (own(counter), json!({}));
        for format in FORMATS {
            let messages = json!(write(format, &turns));
            let options = json!({ "format": format, "tokenizer": tokenizer });
            let counted = count(&messages, &options, &host).unwrap();
            prop_assert_eq!(counted, tokens(&messages, format, &host, &tokenizer));
            if *format == "openai" {
                let request = json!({ "messages": messages, "options": { "tokenizer": tokenizer } }).to_string();
                let call = ctxweave::tokens::CALLS.iter().find(|call| call.name == "countChatTokens").unwrap();
                let of_tokens = call.answer(&mut (), request.as_bytes(), &[], &host).unwrap();
                prop_assert_eq!(serde_json::from_slice::<u64>(&of_tokens.to_json()).unwrap(), counted);
            }
        }
    }

    /// A marker is known again: a smaller limit puts one in its place.
    #[test]
    fn markers_do_not_pile_up(turns in turns(), share in 30u64..90, then in 40u64..95) {
        for format in FORMATS {
            let messages = json!(write(format, &turns));
            let whole = tokens(&messages, format, &CallContext::default(), &json!("heuristic"));
            let Ok(once) = fit(&messages, &json!({ "format": format, "maxTokens": whole * share / 100 })) else { continue };
            let limit = once.report["tokens"]["total"].as_u64().unwrap() * then / 100;
            let Ok(twice) = fit(&json!(once.messages), &json!({ "format": format, "maxTokens": limit })) else { continue };
            let is_marker = |message: &&Value| message.to_string().contains("omitted …]");
            prop_assert!(twice.messages.iter().filter(is_marker).count() <= 1, "{:?}", twice.messages);
        }
    }

    /// A larger limit keeps no less, in a rolling window.
    #[test]
    fn a_larger_limit_keeps_no_less(turns in turns(), share in 10u64..99, more in 1u64..50) {
        for format in FORMATS {
            let messages = json!(write(format, &turns));
            let whole = tokens(&messages, format, &CallContext::default(), &json!("heuristic"));
            let limit = whole * share / 100;
            let at = |limit: u64| {
                let window = json!({ "format": format, "maxTokens": limit, "truncationStrategy": "rollingWindow" });
                fit(&messages, &plain(window)).ok()
            };
            let (Some(small), Some(large)) = (at(limit), at(limit + more)) else { continue };
            let is_whole = |fitted: &Fitted| fitted.report["messages"].as_array().unwrap().iter().filter(|row| row["fate"] == "kept").count();
            // A marker that has to be the first user's message may take the place of a short one.
            let marked = large.report.get("added").is_some() != small.report.get("added").is_some();
            prop_assert!(marked || is_whole(&large) >= is_whole(&small), "{} {}", limit, more);
        }
    }
}
