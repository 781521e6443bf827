//! The state that a fit passes to the next one of the same conversation (docs/agents.md).

use serde::{Serialize, Serializer};
use serde_json::Value as Json;

use super::report::AddedKind;
use super::treatment::Treatment;
use crate::assembly::input_hash::InputHash;
use crate::assembly::series;
use crate::assembly::state_values::{hash_at, hex, number_at};
use crate::assembly::treatments::{read_runs, runs};
use crate::error::Result;
use crate::json::{self, Kind, Value};

/// The state of a conversation: JSON data, passed to the next fit as
/// [`FitOptions::previous`](super::FitOptions::previous). Its content is not an interface.
///
/// Its size is at most 2 KB, plus 32 bytes for each run of messages with the same treatment and for each shortened
/// text, plus the text of the marker or summary.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FitState(Option<Box<KnownState>>);

/// The position in a series of fits of one chat.
pub type Previous = series::Previous<FitState>;

/// The version of the state.
const VERSION: u32 = 1;

/// State of this version.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct KnownState {
    pub format: String,
    /// Hashes of the options that the treatment depends on, of the pinned messages, and of the system context and the
    /// tools outside the messages.
    pub options: u64,
    pub pinned: u64,
    pub system: u64,
    pub tools: u64,
    pub input: InputHash,
    /// The number of messages at the last step, and their hash.
    pub step: (usize, u64),
    /// The number of messages of the result, and their hash.
    pub result: (usize, u64),
    /// The treatments of messages, by index. Unlisted messages were kept.
    pub treatments: Vec<(usize, Treatment)>,
    pub added: Option<RecordedGap>,
}

/// The marker or summary of a fit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RecordedGap {
    pub kind: AddedKind,
    pub text: String,
    /// The input message that it precedes.
    pub before: usize,
    /// The number of messages that the marker counts; for a summary, those removed after it was made.
    pub omitted: usize,
    /// Whether it precedes the first turn, regardless of the gap's place.
    pub is_first: bool,
    /// The text of the summary without the prefix and marker.
    pub summary: Option<String>,
}

impl RecordedGap {
    /// The text of the message and its index in the result, given the treatments of the others.
    pub(super) fn in_result(&self, treatments: &[(usize, Treatment)]) -> (&str, usize) {
        let before = treatments.iter().take_while(|(at, _)| *at < self.before);
        let removed = before.filter(|(_, treatment)| treatment.is_removed()).count();
        (&self.text, self.before.saturating_sub(removed))
    }
}

impl FitState {
    pub(super) fn new(state: KnownState) -> Self {
        Self(Some(Box::new(state)))
    }

    pub(super) fn known(&self) -> Option<&KnownState> {
        self.0.as_deref()
    }

    /// Reads state from JSON. Damaged state, and state of another version, starts from scratch, which the report
    /// states.
    pub fn from_json(state: &Json) -> Self {
        series::state_from_json(state, |state| Some(Self::read(state))).unwrap_or(Self(None))
    }

    pub(super) fn read(state: Value<'_>) -> Self {
        Self(read_state(state).ok().flatten().map(Box::new))
    }

    /// The state as JSON.
    pub fn to_json(&self) -> Json {
        series::state_to_json(self.known().map(KnownState::to_json))
    }
}

impl Serialize for FitState {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        self.to_json().serialize(serializer)
    }
}

impl KnownState {
    fn to_json(&self) -> Json {
        let options = [self.options, self.pinned, self.system, self.tools].map(hex);
        let mut state = json::object([
            ("version", VERSION.into()),
            ("format", self.format.as_str().into()),
            ("options", Json::Array(options.to_vec())),
            ("input", self.input.to_json()),
            ("step", Json::Array(vec![self.step.0.into(), hex(self.step.1)])),
            ("result", Json::Array(vec![self.result.0.into(), hex(self.result.1)])),
            ("treated", runs(&self.treatments)),
        ]);
        if let (Some(added), Some(fields)) = (&self.added, state.as_object_mut()) {
            let RecordedGap { kind, text, before, omitted, is_first, summary } = added;
            let is_summary = *kind == AddedKind::Summary;
            let summary = summary.as_deref().map_or(Json::Null, Json::from);
            let text = Json::from(text.as_str());
            let added = vec![is_summary.into(), text, (*before).into(), (*omitted).into(), (*is_first).into(), summary];
            fields.insert("added".to_owned(), Json::Array(added));
        }
        state
    }
}

fn read_state(state: Value<'_>) -> Result<Option<KnownState>> {
    let state = state.object("state, an object")?;
    if state.need("version")?.whole(u32::MAX)? != VERSION {
        return Ok(None);
    }
    let list = |name: &str| state.need(name)?.list("a list").map(Vec::from_iter);
    let (options, input, step, result) = (list("options")?, list("input")?, list("step")?, list("result")?);
    let mut known = KnownState { format: state.text("format")?.into_owned(), ..KnownState::default() };
    let read = || {
        known.options = hash_at(&options, 0)?;
        known.pinned = hash_at(&options, 1)?;
        known.system = hash_at(&options, 2)?;
        known.tools = hash_at(&options, 3)?;
        known.input = InputHash::read(&input)?;
        known.step = (number_at(&step, 0)?, hash_at(&step, 1)?);
        known.result = (number_at(&result, 0)?, hash_at(&result, 1)?);
        known.treatments = read_runs(state.last("treated")?, known.input.count)?;
        known.added = match state.last("added") {
            Some(added) => Some(read_added(added)?),
            None => None,
        };
        Some(known)
    };
    Ok(read())
}

fn read_added(added: Value<'_>) -> Option<RecordedGap> {
    let fields: Vec<Value<'_>> = added.as_list()?.collect();
    let summary = fields.get(5)?;
    Some(RecordedGap {
        kind: if fields.first()?.bool().ok()? { AddedKind::Summary } else { AddedKind::Marker },
        text: fields.get(1)?.as_text()?.into_owned(),
        before: number_at(&fields, 2)?,
        omitted: number_at(&fields, 3)?,
        is_first: fields.get(4)?.bool().ok()?,
        summary: if summary.kind() == Kind::Null { None } else { Some(summary.as_text()?.into_owned()) },
    })
}
