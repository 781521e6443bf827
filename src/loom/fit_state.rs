//! The state that an assembly of a dialogue passes to the next one of the same conversation (docs/agents.md).

use serde::{Serialize, Serializer};
use serde_json::Value as Json;

use crate::assembly::input_hash::InputHash;
use crate::assembly::item_series::CountedMarker;
use crate::assembly::item_treatment::ItemTreatment;
use crate::assembly::result_hash::ResultHash;
use crate::assembly::series;
use crate::assembly::state_values::{hash_at, hex, number_at};
use crate::assembly::treatments::{read_runs, runs};
use crate::error::Result;
use crate::json::{self, Value};

/// The state of a conversation: JSON data, passed to the next assembly as
/// [`Options::previous`](super::Options::previous). Its content is not an interface.
///
/// Its size is at most 2 KB, plus 32 bytes for each run of nodes with the same treatment and for each shortened text,
/// plus the marker's text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FitState(Option<Box<KnownState>>);

/// The position in a series of assemblies of one conversation.
pub type Previous = series::Previous<FitState>;

/// The version of the state.
const VERSION: u32 = 1;

/// State of this version. Nodes are those of the conversation, by index.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct KnownState {
    /// The provider's name; empty without one.
    pub provider: String,
    pub hashes: RequestHashes,
    pub input: InputHash,
    /// The number of nodes at the last step, and their hash.
    pub step: (usize, u64),
    pub result: ResultHash,
    /// The treatments of nodes. Unlisted nodes were kept.
    pub treatments: Vec<(usize, ItemTreatment)>,
    pub marker: Option<CountedMarker>,
    /// The number of leading nodes that a compaction replaced.
    pub skipped: usize,
    /// Whether a block followed all nodes.
    pub has_block_after: bool,
    /// The number of calls and results that were repaired.
    pub repairs: usize,
    /// The changes that made thinking invalid: the first node whose prefix differed, and the number of nodes.
    pub changes: Vec<(usize, usize)>,
}

/// Hashes of the parts of a request other than nodes, for comparison.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RequestHashes {
    /// The options that the treatment depends on.
    pub options: u64,
    pub system: u64,
    pub tools: u64,
    /// The block before the nodes, and the headers.
    pub headers: u64,
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
        let RequestHashes { options, system, tools, headers } = self.hashes;
        let changes = self.changes.iter().map(|&(place, length)| Json::Array(vec![place.into(), length.into()]));
        let mut state = json::object([
            ("version", VERSION.into()),
            ("provider", self.provider.as_str().into()),
            ("request", Json::Array([options, system, tools, headers].map(hex).to_vec())),
            ("input", self.input.to_json()),
            ("step", Json::Array(vec![self.step.0.into(), hex(self.step.1)])),
            ("result", self.result.to_json()),
            ("treated", runs(&self.treatments)),
            ("skipped", self.skipped.into()),
            ("blockAfter", self.has_block_after.into()),
            ("repairs", self.repairs.into()),
            ("changes", Json::Array(changes.collect())),
        ]);
        if let (Some(CountedMarker { count, text }), Some(fields)) = (&self.marker, state.as_object_mut()) {
            fields.insert("marker".to_owned(), Json::Array(vec![(*count).into(), text.as_str().into()]));
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
    let (request, input, step, result) = (list("request")?, list("input")?, list("step")?, list("result")?);
    let changes = list("changes")?;
    let (provider, skipped) = (state.text("provider")?.into_owned(), state.need("skipped")?.whole(u32::MAX)?);
    let has_block_after = state.need("blockAfter")?.bool()?;
    let repairs = state.need("repairs")?.whole(u32::MAX)?;
    let read = || {
        let input = InputHash::read(&input)?;
        let change = |change: &Value<'_>| {
            let change: Vec<Value<'_>> = change.as_list()?.collect();
            Some((number_at(&change, 0)?, number_at(&change, 1)?))
        };
        let hash = |at| hash_at(&request, at);
        Some(KnownState {
            provider,
            hashes: RequestHashes { options: hash(0)?, system: hash(1)?, tools: hash(2)?, headers: hash(3)? },
            step: (number_at(&step, 0)?, hash_at(&step, 1)?),
            result: ResultHash::read(&result)?,
            treatments: read_runs(state.last("treated")?, input.count)?,
            marker: match state.last("marker") {
                Some(marker) => Some(read_marker(marker)?),
                None => None,
            },
            skipped: skipped as usize,
            has_block_after,
            repairs: repairs as usize,
            changes: changes.iter().map(change).collect::<Option<_>>()?,
            input,
        })
    };
    Ok(read())
}

fn read_marker(marker: Value<'_>) -> Option<CountedMarker> {
    let fields: Vec<Value<'_>> = marker.as_list()?.collect();
    Some(CountedMarker { count: number_at(&fields, 0)?, text: fields.get(1)?.as_text()?.into_owned() })
}
