//! What a fit gives to the next one of the same conversation (SPEC §8 "Continuing fits").

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

/// State of a conversation: JSON data, given to the next fit as [`FitOptions::previous`](super::FitOptions::previous). What it contains
/// is no interface.
///
/// It takes at most 2 KB, 32 bytes for each run of messages that were treated alike and for each shortened text, and the text of the
/// marker or summary.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FitState(Option<Box<KnownState>>);

/// Where a series of fits of one chat stands.
pub type Previous = series::Previous<FitState>;

/// The version of the state.
const VERSION: u32 = 1;

/// State that this version wrote.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct KnownState {
    pub format: String,
    /// Hashes of the options that the treatment depends on, of the pinned messages, and of the system context and the tools outside the
    /// messages.
    pub options: u64,
    pub pinned: u64,
    pub system: u64,
    pub tools: u64,
    pub input: InputHash,
    /// How many messages there were at the last step, and their hash.
    pub step: (usize, u64),
    /// How many messages the result had, and their hash.
    pub result: (usize, u64),
    /// What was done to messages, by their index. What is not listed was kept.
    pub treatments: Vec<(usize, Treatment)>,
    pub added: Option<RecordedGap>,
}

/// The marker or summary of a fit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RecordedGap {
    pub kind: AddedKind,
    pub text: String,
    /// The message of the input that it stands before.
    pub before: usize,
    /// How many messages the marker counts; of a summary, those that were removed after it was made.
    pub omitted: usize,
    /// Whether it stands before the first turn, wherever the gap is.
    pub is_first: bool,
    /// The text of the summary alone.
    pub summary: Option<String>,
}

impl RecordedGap {
    /// Where the message is in the result, next to what was done to the others, with its text.
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

    /// Reads state from JSON. What is damaged, or of another version, begins a series afresh, and the report states it.
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
