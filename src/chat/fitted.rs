//! A fitted chat: applies the decisions of a fit.

use serde_json::Value as Json;

use super::entry::Entry;
use super::outcome::FitDecisions;
use super::report::Report;
use super::state::FitState;
use crate::sorting;
use crate::vendors::pieces::message::{Change, Path, Step};

/// A chat that fits, and its report.
#[derive(Clone, Debug, PartialEq)]
pub struct Fitted {
    /// The messages, in the format of the input.
    pub messages: Vec<Json>,
    /// The report on every message and every token.
    pub report: Report,
    /// The state for the next fit of the conversation: [`FitOptions::previous`](super::FitOptions::previous).
    pub state: FitState,
}

impl Fitted {
    /// Applies decisions to these messages.
    pub(super) fn new(messages: &[Json], decisions: FitDecisions) -> Self {
        let FitDecisions { messages: entries, report, state, .. } = decisions;
        let state = state.unwrap_or_default();
        let Some(entries) = entries else { return Self { messages: messages.to_vec(), report, state } };
        let mut fitted = Vec::with_capacity(entries.len());
        for entry in entries {
            match entry {
                Entry::One(at) => fitted.extend(messages.get(at).cloned()),
                Entry::Run(from, to) => fitted.extend_from_slice(messages.get(from..to).unwrap_or_default()),
                Entry::Changed(at, changes) => fitted.extend(messages.get(at).map(|message| changed(message, changes))),
                Entry::Added(message) => fitted.push(message),
            }
        }
        Self { messages: fitted, report, state }
    }
}

/// A message with changes: values are set first, then places are removed from the last to the first.
fn changed(message: &Json, changes: Vec<Change>) -> Json {
    let mut message = message.clone();
    let mut removed: Vec<Path> = Vec::new();
    for change in changes {
        match change {
            Change::Set(path, value) => {
                if let Some(place) = value_at(&mut message, &path) {
                    *place = value;
                }
            }
            Change::Remove([path]) => removed.push(path),
        }
    }
    sorting::sort(&mut removed);
    for path in removed.iter().rev() {
        let Some((last, parent)) = path.split_last() else { continue };
        match (value_at(&mut message, parent), last) {
            (Some(Json::Array(items)), &Step::At(at)) if at < items.len() => {
                items.remove(at);
            }
            (Some(Json::Object(fields)), &Step::Key(key)) => {
                fields.shift_remove(key);
            }
            _ => {}
        }
    }
    message
}

/// The value at a path. A missing field is added.
pub(super) fn value_at<'v>(value: &'v mut Json, path: &[Step]) -> Option<&'v mut Json> {
    path.iter().try_fold(value, |value, step| match *step {
        Step::Key(key) => Some(value.as_object_mut()?.entry(key).or_insert(Json::Null)),
        Step::At(at) => value.get_mut(at),
    })
}
