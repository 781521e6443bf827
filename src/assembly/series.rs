//! A series of fits of one conversation: the common part of chats and dialogues (docs/agents.md).

use serde::Serialize;
use serde_json::Value as Json;

use crate::assembly::settings::shown_number;
use crate::error::{Code, Error, Result};
use crate::json::{self, Object, Value};

/// The position in a series of fits, with the state of the last one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Previous<S> {
    /// A single fit.
    #[default]
    None,
    /// The first fit of a series.
    Start,
    /// The state that the last fit returned.
    State(S),
}

impl<S> Previous<S> {
    /// Reads the option `previous`: absent for a single fit, `null` at the beginning of a series.
    pub(crate) fn read(options: Object<'_>, read: impl FnOnce(Value<'_>) -> S) -> Result<Self> {
        Ok(match options.get_or_null("previous")? {
            None => Self::None,
            Some(null) if null.is_null() => Self::Start,
            Some(state) => {
                state.object("the `state` that the last fit returned, or `null`")?;
                Self::State(read(state))
            }
        })
    }
}

/// Reads state from JSON; `None` if it is damaged.
pub(crate) fn state_from_json<S>(state: &Json, read: impl FnOnce(Value<'_>) -> Option<S>) -> Option<S> {
    let text = serde_json::to_vec(state).ok()?;
    let document = json::Document::read(&text, &[]).ok()?;
    read(document.root())
}

/// State as JSON; without state, JSON of no valid version.
pub(crate) fn state_to_json(state: Option<Json>) -> Json {
    state.unwrap_or_else(|| json::object([("version", 0.into())]))
}

/// How much of a request equals the previous one of its series.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Prefix {
    /// Whether each message of the previous result is unchanged at the same index; the last may have parts appended.
    pub stable: bool,
    /// Leading messages of the result that equal the previous request's.
    pub messages: usize,
    /// Tokens of these messages, with the system context and the tools.
    pub tokens: u64,
    /// Indices of messages of the result after which a cache mark pays: the last that equals the previous request's,
    /// and the last message.
    pub breakpoints: Vec<usize>,
    /// Why the requests differ, unless `stable`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<PrefixReason>,
}

impl Prefix {
    /// The messages after which a cache mark pays, given the number of equal messages and of all messages.
    pub(crate) fn breakpoints(same: usize, all: usize) -> Vec<usize> {
        let mut breakpoints: Vec<usize> = [same, all].into_iter().filter_map(|end| end.checked_sub(1)).collect();
        breakpoints.dedup();
        breakpoints
    }
}

/// Why a request does not begin with the previous one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PrefixReason {
    /// It is the first of its series.
    First,
    /// The request was over the limit, or over the trigger of an edit.
    Step,
    /// The messages differ at the end.
    Branched,
    /// An earlier message was changed.
    Edited,
    /// Options differ that the result depends on.
    Options,
    /// The system context outside the messages differs.
    System,
    /// The tools differ.
    Tools,
    /// The messages are in another format.
    Format,
    /// The state is damaged, of another version or of another conversation.
    StateUnusable,
}

/// The default fraction of the limit that a step cuts to.
const DEFAULT_CUT_TO: f64 = 0.75;

/// The target of a step for a limit in tokens, images or bytes.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "a part of a limit"
)]
pub(crate) fn part_for_step(limit: u64, cut_to: Option<f64>) -> u64 {
    (limit as f64 * cut_to.unwrap_or(DEFAULT_CUT_TO)).floor() as u64
}

/// Checks the option `cutTo`, a fraction of the limit.
///
/// # Errors
/// [`Code::InvalidBudget`] unless it is above 0 and at most 1.
pub(crate) fn part_of_limit(part: f64) -> Result<f64> {
    if part > 0.0 && part <= 1.0 {
        return Ok(part);
    }
    let shown = shown_number(part);
    let message = format!("`cutTo` is {shown}; it must be above 0 and at most 1");
    Err(Error::new(Code::InvalidBudget, message).with("setting", "cutTo").with("value", shown))
}
