//! Writes `pi-v3`, `sts`, `atif-1.7` and `otel-genai` (docs/session-formats.md).

use serde_json::{Map, Value, json};

use super::continuation::Continuation;
use super::document::SessionDocument;
use super::format::Format;
use crate::commits::transcript::{ConversionReport, Role, Turn};
use crate::content::Block;
use crate::maps::SortedMap;
use crate::time::Timestamp;
use crate::vendors::atif::Step;
use crate::vendors::blocks::Unknown as _;
use crate::vendors::left_out::LeftOut;
use crate::vendors::{otel, pi};

/// The version of ATIF that is written: the oldest with all fields that are needed.
const ATIF: &str = "ATIF-v1.7";

/// Turns as entries of pi.
pub(super) fn write_pi(turns: &[Turn], continuation: &mut Continuation, notes: &mut ConversionReport) -> Vec<Value> {
    let mut lines = Vec::new();
    if continuation.begins {
        let time = continuation.time(turns.first().and_then(|turn| turn.timestamp.as_deref()));
        let id = continuation.session();
        lines.push(json!({ "type": "session", "version": 3, "id": id, "timestamp": time, "cwd": "" }));
    }
    let names = call_names(turns);
    for turn in turns {
        let timestamp = continuation.time(turn.timestamp.as_deref());
        let mut add = |fields: Map<String, Value>| {
            let id = continuation.uuid();
            let parent = continuation.parent.replace(id.clone());
            let mut entry = json!({ "id": id, "parentId": parent, "timestamp": timestamp });
            if let Value::Object(entry) = &mut entry {
                entry.extend(fields);
            }
            lines.push(entry);
        };
        if let Some(summary) = summary_of(turn) {
            add(Map::from_iter([
                ("type".to_owned(), "compaction".into()),
                ("summary".to_owned(), summary.into()),
                ("firstKeptEntryId".to_owned(), "".into()),
                ("tokensBefore".to_owned(), 0.into()),
            ]));
            continue;
        }
        // Every message of pi has a time.
        let millis = millis_of(&timestamp).unwrap_or_default();
        for message in pi_messages(turn, Some(millis), &names, notes) {
            add(message);
        }
    }
    lines
}

/// Turns as messages of pi, for agents that Hugging Face does not know.
pub(super) fn write_sts(turns: &[Turn], continuation: &mut Continuation, notes: &mut ConversionReport) -> Vec<Value> {
    let mut lines = Vec::new();
    if continuation.begins {
        lines.push(json!({ "type": "session", "harness": "ctxweave", "id": continuation.session() }));
    }
    let names = call_names(turns);
    for turn in turns {
        let millis = continuation.known_time(turn.timestamp.as_deref()).and_then(|time| millis_of(&time));
        lines.extend(pi_messages(turn, millis, &names, notes).into_iter().map(Value::Object));
    }
    lines
}

/// The names of tools by the ids of their calls.
fn call_names(turns: &[Turn]) -> SortedMap<&str, &str> {
    let calls = turns.iter().flat_map(|turn| &turn.blocks).filter_map(|block| match block {
        Block::ToolCall { id, name, .. } => Some((&**id, &**name)),
        _ => None,
    });
    calls.collect()
}

/// A time in milliseconds since 1970.
fn millis_of(time: &str) -> Option<i64> {
    Timestamp::parse(time).map(Timestamp::unix_millis)
}

/// A turn as `{ type: "message", message }`.
fn pi_messages(
    turn: &Turn,
    millis: Option<i64>,
    names: &SortedMap<&str, &str>,
    notes: &mut ConversionReport,
) -> Vec<Map<String, Value>> {
    if turn.role == Role::System {
        notes.inexpressible("a system message, written as one of the user");
    }
    if turn.summary {
        notes.inexpressible("the mark of a summary");
    }
    let name_of = |id: &str| names.get(id).copied();
    let lost = &mut |what: LeftOut<'_>| notes.left_out(what);
    let messages = pi::write_messages(turn.role, &turn.blocks, turn.model.as_deref(), name_of, lost);
    let line = |mut message: Map<String, Value>| {
        message.extend(millis.map(|millis| ("timestamp".to_owned(), millis.into())));
        Map::from_iter([("type".to_owned(), "message".into()), ("message".to_owned(), message.into())])
    };
    messages.into_iter().map(line).collect()
}

/// The text of a summary that consists of texts.
fn summary_of(turn: &Turn) -> Option<String> {
    let texts: Option<Vec<&str>> = turn.blocks.iter().map(Block::as_text).collect();
    texts.filter(|texts| turn.summary && !texts.is_empty()).map(|texts| texts.join("\n\n"))
}

/// Turns as a trajectory of ATIF.
pub(super) fn write_atif(turns: &[Turn], continuation: &mut Continuation, notes: &mut ConversionReport) -> Vec<u8> {
    let mut session = SessionDocument::default();
    if continuation.begins {
        let model = turns.iter().find_map(|turn| turn.model.as_deref());
        let mut agent = json!({ "name": "unknown", "version": "unknown" });
        if let (Some(model), Value::Object(agent)) = (model, &mut agent) {
            agent.insert("model_name".to_owned(), model.into());
        }
        session.set_value("schema_version", &ATIF.into());
        session.set_value("session_id", &continuation.session().into());
        session.set_value("agent", &agent);
    }
    let mut steps: Vec<(&Turn, Step<'_>)> = Vec::new();
    for turn in turns {
        for mut step in Step::of(&turn.blocks) {
            // The results of calls are in the step of the calls, if nothing is between them.
            let before =
                steps.last_mut().filter(|(last, _)| last.role == Role::Assistant && turn.role != Role::Assistant);
            if let Some((_, last)) = before {
                step.give_results(last);
            }
            if !step.is_empty() {
                steps.push((turn, step));
            }
        }
    }
    for (number, (turn, step)) in (1_u32..).zip(&steps) {
        let mut lost = |what: LeftOut<'_>| notes.left_out(what);
        let mut fields = step.write(turn.role, turn.summary, &mut lost);
        fields.insert("step_id".to_owned(), number.into());
        let time = continuation.known_time(turn.timestamp.as_deref());
        fields.extend(time.map(|time| ("timestamp".to_owned(), time.into())));
        if let Some(model) = turn.model.as_deref().filter(|_| turn.role == Role::Assistant) {
            fields.insert("model_name".to_owned(), model.into());
        }
        session.push_value(&fields.into());
    }
    session.write(Format::AtifV17)
}

/// Turns as messages of OpenTelemetry.
pub(super) fn write_otel(turns: &[Turn], notes: &mut ConversionReport) -> Vec<u8> {
    let mut session = SessionDocument::default();
    for turn in turns {
        if turn.summary {
            notes.inexpressible("the mark of a summary");
        }
        let mut lost = |what: LeftOut<'_>| notes.left_out(what);
        for message in otel::write_messages(turn.role, &turn.blocks, &mut lost) {
            session.push_value(&message.into());
        }
    }
    session.write(Format::OtelGenai)
}
