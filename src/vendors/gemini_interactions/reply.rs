//! Gemini Interactions.

use serde_json::{Map, Value};

use crate::content::{Block, Vendor};
use crate::vendors::blocks::{Unknown as _, list, owned, text};
use crate::vendors::gemini_interactions::blocks::{read_part, summary_text};
use crate::vendors::gemini_interactions::fields::StepKind;
use crate::vendors::left_out::LeftOut;
use crate::vendors::replies::reply::{Replies, Reply, StopReason, name, usage};
use crate::vendors::replies::stream::{extend, index, kind, merge, put, set, take};
use crate::vendors::replies::unread_fields::UnreadFields;
use crate::vendors::signature::ReasoningSignature;

/// Internal fields of a streamed answer: the steps before those of the streaming interaction, and the tokens of earlier
/// interactions.
const STEPS_BEFORE: &str = "\0stepsBefore";
const USAGE_BEFORE: &str = "\0usageBefore";

/// Adds an event; false for an unknown one.
pub(crate) fn add(whole: &mut Map<String, Value>, mut event: Map<String, Value>, notes: &mut UnreadFields) -> bool {
    let event_type = text(&event, "event_type").unwrap_or_default().to_owned();
    let at = index(whole, STEPS_BEFORE).saturating_add(index(&event, "index"));
    match event_type.as_str() {
        "interaction.created" => begin(whole),
        "step.start" => {
            let mut step = take(&mut event, "step");
            // Signatures come later; an empty text in their place counts as missing.
            if let Value::Object(fields) = &mut step
                && text(fields, "signature") == Some("")
            {
                fields.shift_remove("signature");
            }
            put(whole, "steps", at, step);
        }
        "step.delta" => {
            let step = whole.get_mut("steps").and_then(|steps| steps.get_mut(usize::try_from(at).ok()?));
            if let (Some(Value::Object(step)), Value::Object(delta)) = (step, take(&mut event, "delta")) {
                add_delta(step, delta, notes);
            }
        }
        "step.stop" => {}
        kind if kind.starts_with("interaction.") => {
            let mut said = Map::new();
            for field in ["status", "usage"] {
                set(&mut said, field, take(&mut event, field));
            }
            merge(whole, said);
        }
        other => {
            notes.left_out(LeftOut::Type(other));
            return false;
        }
    }
    if let Value::Object(mut interaction) = take(&mut event, "interaction") {
        let steps = take(&mut interaction, "steps");
        merge(whole, interaction);
        // An event may have all steps so far.
        for (place, step) in (index(whole, STEPS_BEFORE)..).zip(steps.as_array().into_iter().flatten()) {
            put(whole, "steps", place, step.clone());
        }
    }
    true
}

/// Begins an interaction. A long answer consists of several, each with separate steps and tokens.
fn begin(whole: &mut Map<String, Value>) {
    let count = list(whole, "steps").len();
    set(whole, STEPS_BEFORE, count);
    let Value::Object(usage) = take(whole, "usage") else { return };
    let mut before = match take(whole, USAGE_BEFORE) {
        Value::Object(before) => before,
        _ => Map::new(),
    };
    add_numbers(&mut before, &usage);
    set(whole, USAGE_BEFORE, before);
}

fn add_numbers(sums: &mut Map<String, Value>, more: &Map<String, Value>) {
    for (name, number) in more {
        if let Some(number) = number.as_u64() {
            let sum = index(sums, name).saturating_add(number);
            set(sums, name, sum);
        }
    }
}

/// Adds the delta of an event to its step.
fn add_delta(step: &mut Map<String, Value>, mut delta: Map<String, Value>, notes: &mut UnreadFields) {
    match kind(&delta) {
        "text" | "image" | "audio" | "document" | "video" => push(step, "content", delta),
        "text_annotation_delta" | "text_annotation" => {
            if let Some(Value::Object(part)) =
                step.get_mut("content").and_then(Value::as_array_mut).and_then(|parts| parts.last_mut())
            {
                push_all(part, "annotations", take(&mut delta, "annotations"));
            }
        }
        "arguments_delta" => {
            // The step begins with an empty object as arguments.
            let more = owned::<String>(&delta, "arguments").unwrap_or_default();
            match step.get_mut("arguments") {
                Some(Value::String(arguments)) => arguments.push_str(&more),
                _ => set(step, "arguments", more),
            }
        }
        "thought_summary" => {
            if let Value::Object(part) = take(&mut delta, "content") {
                push(step, "summary", part);
            }
        }
        "thought_signature" => replace(step, delta),
        _ if kind(&delta) == kind(step) => {
            let result = take(&mut delta, "result");
            match (step.get_mut("result"), result) {
                (_, Value::Null) => {}
                (Some(Value::Array(results)), Value::Array(more)) => results.extend(more),
                (Some(Value::String(result)), Value::String(more)) => result.push_str(&more),
                (_, result) => set(step, "result", result),
            }
            replace(step, delta);
        }
        _ => notes.left_out(LeftOut::Type(kind(&delta))),
    }
}

/// Sets the fields of a delta, except its type; an empty text counts as missing.
fn replace(step: &mut Map<String, Value>, delta: Map<String, Value>) {
    for (name, value) in delta {
        if name != "type" && !value.is_null() && value != "" {
            set(step, &name, value);
        }
    }
}

/// Adds a part to the list of a field; a text continues the previous one.
fn push(step: &mut Map<String, Value>, field: &str, part: Map<String, Value>) {
    push_all(step, field, Value::Array(vec![Value::Object(part)]));
}

fn push_all(fields: &mut Map<String, Value>, field: &str, items: Value) {
    let Value::Array(items) = items else { return };
    if !fields.get(field).is_some_and(Value::is_array) {
        set(fields, field, Vec::<Value>::new());
    }
    if let Some(Value::Array(list)) = fields.get_mut(field) {
        extend(list, items);
    }
}

pub(crate) fn read(whole: &Map<String, Value>, notes: &mut UnreadFields) -> Replies {
    notes.begin(0);
    let mut reply = Reply::default();
    for step in list(whole, "steps").iter().filter_map(Value::as_object) {
        read_step(step, &mut reply, notes);
    }
    let status = name(whole, "status").filter(|status| !matches!(&**status, "in_progress" | "queued"));
    let is_incomplete = status.as_deref() == Some("incomplete");
    reply.end(status, false);
    if is_incomplete {
        reply.stop_reason = Some(StopReason::Length);
    }
    let tokens = match (whole.get("usage"), whole.get(USAGE_BEFORE)) {
        (Some(Value::Object(usage)), Some(Value::Object(before))) => {
            let mut sums = before.clone();
            add_numbers(&mut sums, usage);
            Some(Value::Object(sums))
        }
        (given, before) => given.filter(|given| given.is_object()).or(before).cloned(),
    };
    let tokens = usage(
        tokens.as_ref(),
        [
            "total_input_tokens total_tool_use_tokens",
            "total_output_tokens total_thought_tokens",
            "total_cached_tokens",
            "",
            "total_thought_tokens",
        ],
    );
    let replies = Replies { usage: tokens, ..Replies::of(whole, "model", vec![reply]) };
    Replies { model: replies.model.or_else(|| name(whole, "agent")), ..replies }
}

/// The fields of every step that are read, or have no content.
const STEP: &str = "type id status";

fn read_step(step: &Map<String, Value>, reply: &mut Reply, notes: &mut UnreadFields) {
    let signature = || name(step, "signature").map(|signature| ReasoningSignature::Thought(signature.into()));
    match StepKind::of(kind(step)) {
        StepKind::ModelOutput => {
            notes.unknown_fields(step, &[STEP, "content"]);
            for part in list(step, "content").iter().filter_map(Value::as_object) {
                read_output(part, reply, notes);
            }
        }
        StepKind::Thought => match summary_text(step) {
            Some(summary) => {
                notes.unknown_fields(step, &[STEP, "summary signature"]);
                let signature = signature();
                if signature.is_none() && !summary.is_empty() {
                    notes.aside("reasoning that cannot be sent back, since it has no signature");
                }
                reply.thought(&summary, signature);
            }
            None => reply.add(Block::vendor(Vendor::Google, step.clone()), notes),
        },
        StepKind::FunctionCall => {
            notes.unknown_fields(step, &[STEP, "signature name arguments"]);
            reply.thought("", signature());
            let arguments = step.get("arguments").cloned().unwrap_or_default();
            let [id, called] = ["id", "name"].map(|field| text(step, field).unwrap_or_default());
            reply.call(id, called, arguments, notes);
        }
        // The input, which some interactions repeat.
        StepKind::UserInput | StepKind::FunctionResult => notes.aside("a step of the input, which is not the answer"),
        StepKind::Unknown if kind(step).is_empty() => notes.left_out(LeftOut::Type("")),
        StepKind::ServerCall | StepKind::ServerResult | StepKind::Unknown => {
            reply.add(Block::vendor(Vendor::Google, step.clone()), notes);
        }
    }
}

fn read_output(part: &Map<String, Value>, reply: &mut Reply, notes: &mut UnreadFields) {
    let block = read_part(part);
    match &block {
        Block::Vendor(_) => {}
        Block::Text(_) => notes.unknown_fields(part, &["type text"]),
        _ => notes.unknown_fields(part, &["type mime_type", if part.contains_key("data") { "data" } else { "uri" }]),
    }
    reply.add(block, notes);
}
