//! What a fit gives to the next one of the same conversation (SPEC §8 "Continuing fits").

use serde::{Serialize, Serializer};
use serde_json::Value as Json;

use super::report::AddedKind;
use super::treatment::Treatment;
use crate::error::Result;
use crate::json::{self, Kind, Object, Value};
use crate::vendors::message_hash::{MessageHash, hash_to};

/// State of a conversation: JSON data, given to the next fit as [`FitOptions::previous`](super::FitOptions::previous). What it contains
/// is no interface.
///
/// It takes at most 2 KB, 32 bytes for each run of messages that were treated alike and for each shortened text, and the text of the
/// marker or summary.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FitState(Option<Box<KnownState>>);

/// Where a series of fits of one conversation stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Previous {
    /// A single fit.
    #[default]
    None,
    /// The first fit of a series.
    Start,
    /// The state that the last fit returned.
    State(FitState),
}

/// The version of the state.
const VERSION: u32 = 1;

/// Messages at the end whose hashes are recorded one by one.
const RECENT: usize = 200;

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

/// The hashes of the messages of a fit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct InputHash {
    pub count: usize,
    /// Of all of them, and of all but the last.
    all: u64,
    before_last: u64,
    last_parts: usize,
    last: u64,
    /// Of those before the recent ones.
    before_recent: u64,
    recent: Vec<u32>,
}

fn short(hash: u64) -> u32 {
    (hash >> 44) as u32
}

impl InputHash {
    pub(super) fn of(messages: &[MessageHash]) -> Self {
        let count = messages.len();
        let last = messages.last();
        let before_recent = count.saturating_sub(RECENT);
        Self {
            count,
            all: hash_to(messages, count),
            before_last: hash_to(messages, count.saturating_sub(1)),
            last_parts: last.map_or(0, MessageHash::parts),
            last: last.map_or(0, MessageHash::whole),
            before_recent: hash_to(messages, before_recent),
            recent: messages.iter().skip(before_recent).map(|message| short(message.whole())).collect(),
        }
    }

    /// Whether these messages begin with the earlier ones; the last of them may have more parts.
    pub(super) fn begins(&self, messages: &[MessageHash]) -> bool {
        let Some(last) = messages.get(self.count.wrapping_sub(1)) else { return self.count == 0 };
        self.is_whole(messages)
            || hash_to(messages, self.count - 1) == self.before_last && last.up_to(self.last_parts) == Some(self.last)
    }

    /// Whether these messages begin with all of the earlier ones, unchanged.
    pub(super) fn is_whole(&self, messages: &[MessageHash]) -> bool {
        messages.len() >= self.count && hash_to(messages, self.count) == self.all
    }

    /// The first message that differs, if so many agree that it is known.
    pub(super) fn branch(&self, messages: &[MessageHash]) -> Option<usize> {
        let from = self.count.saturating_sub(self.recent.len());
        if messages.len() < from || hash_to(messages, from) != self.before_recent {
            return None;
        }
        let rest = messages.get(from..).unwrap_or_default();
        let same =
            self.recent.iter().zip(rest).take_while(|(known, message)| **known == short(message.whole())).count();
        Some(from + same)
    }

    /// The messages from a branch on that were among the earlier ones: what they follow is another message now.
    pub(super) fn stale(&self, branch: usize, messages: &[MessageHash]) -> Vec<usize> {
        let from = branch.saturating_sub(self.count.saturating_sub(self.recent.len()));
        let known = self.recent.get(from..).unwrap_or_default();
        let is_known = |at: &usize| messages.get(*at).is_some_and(|message| known.contains(&short(message.whole())));
        (branch..messages.len()).filter(is_known).collect()
    }

    /// Whether the last message that both have is the same: one before it was edited.
    pub(super) fn ends_alike(&self, messages: &[MessageHash]) -> bool {
        let Some(last) = self.count.min(messages.len()).checked_sub(1) else { return false };
        let recent = last.checked_sub(self.count.saturating_sub(self.recent.len()));
        let known = recent.and_then(|recent| self.recent.get(recent));
        known.is_some() && known.copied() == messages.get(last).map(|message| short(message.whole()))
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
        let read = |text: Vec<u8>| {
            let document = json::Document::read(&text, &[]).ok()?;
            Some(Self::read(document.root()))
        };
        serde_json::to_vec(state).ok().and_then(read).unwrap_or(Self(None))
    }

    pub(super) fn read(state: Value<'_>) -> Self {
        Self(read_state(state).ok().flatten().map(Box::new))
    }

    /// The state as JSON.
    pub fn to_json(&self) -> Json {
        self.known().map_or_else(|| json::object([("version", 0.into())]), KnownState::to_json)
    }
}

impl Serialize for FitState {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        self.to_json().serialize(serializer)
    }
}

impl KnownState {
    fn to_json(&self) -> Json {
        let InputHash { count, all, before_last, last_parts, last, before_recent, recent } = &self.input;
        let mut of_recent = String::with_capacity(SHORT_DIGITS * recent.len());
        recent.iter().for_each(|hash| push_hex(u64::from(*hash), SHORT_DIGITS, &mut of_recent));
        let options = [self.options, self.pinned, self.system, self.tools].map(hex);
        let input = vec![
            (*count).into(),
            hex(*all),
            hex(*before_last),
            (*last_parts).into(),
            hex(*last),
            hex(*before_recent),
            of_recent.into(),
        ];
        let mut state = json::object([
            ("version", VERSION.into()),
            ("format", self.format.as_str().into()),
            ("options", Json::Array(options.to_vec())),
            ("input", Json::Array(input)),
            ("step", Json::Array(vec![self.step.0.into(), hex(self.step.1)])),
            ("result", Json::Array(vec![self.result.0.into(), hex(self.result.1)])),
            ("treated", Json::Array(runs(&self.treatments))),
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

/// Hexadecimal digits of a hash, and of a short one.
const DIGITS: usize = 16;
const SHORT_DIGITS: usize = 5;

fn hex(hash: u64) -> Json {
    let mut text = String::with_capacity(DIGITS);
    push_hex(hash, DIGITS, &mut text);
    text.into()
}

fn push_hex(hash: u64, digits: usize, text: &mut String) {
    for at in (0..digits).rev() {
        let digit = (hash >> (4 * at)) & 0xF;
        text.push(char::from_digit(digit as u32, 16).unwrap_or_default());
    }
}

fn from_hex(text: &str) -> Option<u64> {
    let digit = |hash: u64, digit: char| Some(hash << 4 | u64::from(digit.to_digit(16)?));
    if text.len() > DIGITS { None } else { text.chars().try_fold(0, digit) }
}

/// Runs of messages that were treated alike.
fn runs(treatments: &[(usize, Treatment)]) -> Vec<Json> {
    let mut runs = Vec::new();
    let mut rest = treatments.iter().peekable();
    while let Some((from, treatment)) = rest.next() {
        let mut count = 1;
        while rest.next_if(|(at, next)| *at == from + count && next == treatment).is_some() {
            count += 1;
        }
        let (text, markers) = treatment.to_text();
        let mut run: Vec<Json> = vec![(*from).into(), count.into(), text.into()];
        run.extend(markers.into_iter().map(Json::from));
        runs.push(Json::Array(run));
    }
    runs
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
        known.input = InputHash {
            count: number_at(&input, 0)?,
            all: hash_at(&input, 1)?,
            before_last: hash_at(&input, 2)?,
            last_parts: number_at(&input, 3)?,
            last: hash_at(&input, 4)?,
            before_recent: hash_at(&input, 5)?,
            recent: recent_hashes(&input.get(6)?.as_text()?)?,
        };
        known.step = (number_at(&step, 0)?, hash_at(&step, 1)?);
        known.result = (number_at(&result, 0)?, hash_at(&result, 1)?);
        known.treatments = read_runs(state, known.input.count)?;
        known.added = match state.last("added") {
            Some(added) => Some(read_added(added)?),
            None => None,
        };
        Some(known)
    };
    Ok(read())
}

fn number_at(list: &[Value<'_>], at: usize) -> Option<usize> {
    list.get(at)?.whole(u32::MAX).ok().map(|number| number as usize)
}

fn hash_at(list: &[Value<'_>], at: usize) -> Option<u64> {
    from_hex(&list.get(at)?.as_text()?)
}

fn recent_hashes(text: &str) -> Option<Vec<u32>> {
    let (groups, rest) = text.as_bytes().as_chunks::<SHORT_DIGITS>();
    let hash = |group: &[u8; SHORT_DIGITS]| from_hex(std::str::from_utf8(group).ok()?).map(|hash| hash as u32);
    if rest.is_empty() { groups.iter().map(hash).collect() } else { None }
}

fn read_runs(state: Object<'_>, count: usize) -> Option<Vec<(usize, Treatment)>> {
    let mut treatments: Vec<(usize, Treatment)> = Vec::new();
    for run in state.last("treated")?.as_list()? {
        let run: Vec<Value<'_>> = run.as_list()?.collect();
        let (from, length) = (number_at(&run, 0)?, number_at(&run, 1)?);
        let marker = |marker: &Value<'_>| Some(marker.as_text()?.into_owned());
        let markers = run.iter().skip(3).map(marker).collect::<Option<Vec<String>>>()?;
        let treatment = Treatment::parse(&run.get(2)?.as_text()?, markers)?;
        let is_ordered = treatments.last().is_none_or(|(last, _)| *last < from);
        let end = from.checked_add(length).filter(|end| *end <= count && is_ordered)?;
        treatments.extend((from..end).map(|at| (at, treatment.clone())));
    }
    Some(treatments)
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
