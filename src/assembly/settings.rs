//! Settings that can be set in several places (docs/loom.md).

use serde::Serialize;

use crate::error::{Code, Error, Result};
use crate::json::{self, Value, number};

/// The strategy if the context is over the limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Strategy {
    /// Removes one contiguous run in the middle; keeps the beginning and the recent end.
    #[default]
    TruncateMiddle,
    /// Keeps only the longest run of recent units that fits.
    RollingWindow,
    /// Removes nothing: exceeding the limit is an error.
    StopAtLimit,
    /// Keeps only the longest beginning that fits. For chats only.
    KeepStart,
}

/// A message that is shortened rather than removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Protect {
    /// The first user message with content other than tool results.
    FirstUser,
    /// The last user message with content other than tool results.
    LastUser,
}

/// Texts that may be shortened at the edges of the gap, to use the rest of the limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Fill {
    /// Tool results, then texts.
    #[default]
    All,
    /// Tool results.
    Results,
    /// Nothing.
    Off,
}

/// The option values of [`Protect`].
const PROTECT: &[(&str, Protect)] = &[("firstUser", Protect::FirstUser), ("lastUser", Protect::LastUser)];
/// The option values of [`Fill`].
pub(crate) const FILL: &[(&str, Fill)] = &[("all", Fill::All), ("results", Fill::Results), ("off", Fill::Off)];

impl Protect {
    /// Reads the value of `protect`.
    pub(crate) fn read_all(value: Value<'_>) -> Result<Vec<Self>> {
        value.list("a list of `firstUser` and `lastUser`")?.map(|one| one.one_of(PROTECT)).collect()
    }
}

/// The role that a rolling window may begin with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum StartOn {
    /// Any message.
    #[default]
    Any,
    /// A user message.
    User,
}

/// Settings of one place, which take precedence over those of the next. Numbers are unchecked.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Preferences {
    /// The strategy when over the limit.
    pub truncation_strategy: Option<Strategy>,
    /// Nodes at the end that `truncateMiddle` protects.
    pub minimum_recent_nodes: Option<f64>,
    /// Tokens kept free for the answer.
    pub token_buffer: Option<f64>,
    /// The text that replaces removed nodes.
    pub truncation_marker: Option<String>,
    /// Removals are rounded up to a multiple of this many tokens.
    pub cut_step: Option<f64>,
    /// The role that a rolling window may begin with.
    pub start_on: Option<StartOn>,
    /// Messages of a dialogue that are shortened rather than removed.
    pub protect: Option<Vec<Protect>>,
    /// Texts of a dialogue that may be shortened at the edges of the gap.
    pub fill: Option<Fill>,
}

impl Preferences {
    /// These preferences, with missing ones taken from `below`.
    #[must_use]
    pub fn over(&self, below: &Self) -> Self {
        Self {
            truncation_strategy: self.truncation_strategy.or(below.truncation_strategy),
            minimum_recent_nodes: self.minimum_recent_nodes.or(below.minimum_recent_nodes),
            token_buffer: self.token_buffer.or(below.token_buffer),
            truncation_marker: self.truncation_marker.clone().or_else(|| below.truncation_marker.clone()),
            cut_step: self.cut_step.or(below.cut_step),
            start_on: self.start_on.or(below.start_on),
            protect: self.protect.clone().or_else(|| below.protect.clone()),
            fill: self.fill.or(below.fill),
        }
    }
}

/// The effective settings, checked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Settings {
    /// The strategy when over the limit.
    pub truncation_strategy: Strategy,
    /// Nodes at the end that `truncateMiddle` protects.
    pub minimum_recent_nodes: u64,
    /// Tokens kept free for the answer.
    pub token_buffer: u64,
    /// The text that replaces removed nodes.
    pub truncation_marker: String,
    /// Removals are rounded up to a multiple of this many tokens, unless it is 0.
    pub cut_step: u64,
    /// The role that a rolling window may begin with.
    pub start_on: StartOn,
    /// Messages of a dialogue that are shortened rather than removed.
    pub protect: Vec<Protect>,
    /// Texts of a dialogue that may be shortened at the edges of the gap. Off with a step.
    pub fill: Fill,
}

/// The default marker of a dialogue.
pub const DIALOGUE_MARKER: &str = "[… {count} earlier nodes omitted …]";
/// The default marker for one node.
pub(crate) const DIALOGUE_MARKER_OF_ONE: &str = "[… 1 earlier node omitted …]";
/// The default marker of a chat, and its form for one message.
pub(crate) const CHAT_MARKER: &str = "[… {count} earlier messages omitted …]";
pub(crate) const CHAT_MARKER_OF_ONE: &str = "[… 1 earlier message omitted …]";
/// The default marker of a document, and inside a text.
pub const TEXT_MARKER: &str = "\n\n[…]\n\n";

impl Settings {
    /// Checks preferences and fills in the defaults.
    ///
    /// # Errors
    /// [`Code::InvalidBudget`] for a number that is negative, not whole or not a number; [`Code::UnknownValue`] for
    /// [`Strategy::KeepStart`].
    pub fn resolve(preferences: &Preferences, default_marker: &str) -> Result<Self> {
        let truncation_strategy = preferences.truncation_strategy.unwrap_or_default();
        if truncation_strategy == Strategy::KeepStart {
            let message = "`keepStart` is a strategy of chats; use `truncateMiddle`, `rollingWindow` or `stopAtLimit`";
            return Err(Error::new(Code::UnknownValue, message).with("setting", "truncationStrategy"));
        }
        let protected = || match truncation_strategy {
            Strategy::TruncateMiddle => vec![Protect::FirstUser, Protect::LastUser],
            _ => Vec::new(),
        };
        let cut_step = whole("cutStep", preferences.cut_step.unwrap_or(0.0))?;
        let fill = preferences.fill.filter(|_| cut_step == 0);
        Ok(Self {
            truncation_strategy,
            minimum_recent_nodes: whole("minimumRecentNodes", preferences.minimum_recent_nodes.unwrap_or(4.0))?,
            token_buffer: whole("tokenBuffer", preferences.token_buffer.unwrap_or(1024.0))?,
            truncation_marker: preferences.truncation_marker.clone().unwrap_or_else(|| default_marker.to_owned()),
            cut_step,
            start_on: preferences.start_on.unwrap_or_default(),
            protect: preferences.protect.clone().unwrap_or_else(protected),
            fill: fill.unwrap_or(if cut_step == 0 { Fill::All } else { Fill::Off }),
        })
    }
}

/// The tokens over the limit, rounded up to a multiple of the step.
pub(crate) fn rounded_excess(total: u64, limit: u64, cut_step: u64) -> u64 {
    total.saturating_sub(limit).checked_next_multiple_of(cut_step).unwrap_or(u64::MAX)
}

/// A number as JavaScript writes it; the formatter of floats would add 11 KB of wasm.
pub(crate) fn shown_number(value: f64) -> String {
    if value.is_finite() { json::text(&number(value)) } else { "not a finite number".to_owned() }
}

/// A token setting as a whole number.
pub(crate) fn whole(setting: &str, value: f64) -> Result<u64> {
    whole_from(setting, value, 0)
}

/// A token setting as a whole number of at least `least`.
pub(crate) fn whole_from(setting: &str, value: f64, least: u32) -> Result<u64> {
    if value.fract() == 0.0 && (f64::from(least)..=9_007_199_254_740_991.0).contains(&value) {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole and within 53 bits")]
        return Ok(value as u64);
    }
    Err(not_whole(setting, value, least))
}

/// The error for a setting that is not a whole number of at least `least`.
pub(crate) fn not_whole(setting: &str, value: f64, least: u32) -> Error {
    let shown = shown_number(value);
    let message = format!("`{setting}` is {shown}; it must be a whole number of {least} or more");
    Error::new(Code::InvalidBudget, message).with("setting", setting).with("value", shown)
}
