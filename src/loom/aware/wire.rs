//! `loomAware` as it comes over the wire.

use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::Value;

use crate::error::{Code, Error, Result};
use crate::json::AnyJson;
use crate::loom::aware::{Addendum, LoomAware, Pinned, Stash};
use crate::time::Timestamp;

/// `true`, `false`, or what the agent is told.
#[derive(Debug)]
pub(crate) enum LoomAwareIn {
    Plain(bool),
    Fields(Box<FieldsIn>),
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, expecting = "a boolean or an object")]
pub(crate) struct FieldsIn {
    now: Option<AnyJson>,
    addendum: Option<AnyJson>,
    headers: Option<bool>,
    loom_block: Option<bool>,
    pinned: Option<Vec<PinnedIn>>,
    stashes: Option<Vec<StashIn>>,
    trace: Option<Vec<String>>,
    permissions: Option<Vec<String>>,
    authors: Option<BTreeMap<String, String>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, expecting = "an object with `nodeId` or `text`")]
struct PinnedIn {
    node_id: Option<String>,
    label: Option<String>,
    text: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(expecting = "a stash, an object with `label` and `text`")]
struct StashIn {
    label: String,
    text: String,
}

impl<'de> Deserialize<'de> for LoomAwareIn {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct BoolOrFields;

        impl<'de> Visitor<'de> for BoolOrFields {
            type Value = LoomAwareIn;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a boolean or an object")
            }

            fn visit_bool<E>(self, on: bool) -> std::result::Result<LoomAwareIn, E> {
                Ok(LoomAwareIn::Plain(on))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> std::result::Result<LoomAwareIn, A::Error> {
                FieldsIn::deserialize(MapAccessDeserializer::new(map)).map(Box::new).map(LoomAwareIn::Fields)
            }
        }

        deserializer.deserialize_any(BoolOrFields)
    }
}

impl LoomAwareIn {
    /// Checks what came. `agent` is what its entity says it may do, for where the request does not.
    pub(crate) fn finish(self, agent: Option<&Value>) -> Result<Option<LoomAware>> {
        let fields = match self {
            Self::Plain(false) => return Ok(None),
            Self::Plain(true) => FieldsIn::default(),
            Self::Fields(fields) => *fields,
        };
        let pinned = fields.pinned.unwrap_or_default().into_iter().enumerate();
        Ok(Some(LoomAware {
            now: fields.now.map(|now| moment(&now.0)).transpose()?,
            addendum: match fields.addendum.map(|addendum| addendum.0) {
                None | Some(Value::Null | Value::Bool(true)) => Addendum::BuiltIn,
                Some(Value::Bool(false)) => Addendum::None,
                Some(Value::String(text)) => Addendum::Own(text),
                Some(_) => return Err(wrong("loomAware.addendum", "a boolean or a text")),
            },
            headers: fields.headers.unwrap_or(true),
            loom_block: fields.loom_block.unwrap_or(true),
            pinned: pinned.map(|(at, pinned)| pinned.finish(at)).collect::<Result<_>>()?,
            stashes: fields
                .stashes
                .unwrap_or_default()
                .into_iter()
                .map(|StashIn { label, text }| Stash { label, text })
                .collect(),
            trace: fields.trace.unwrap_or_default(),
            permissions: fields.permissions.or_else(|| agent.and_then(names)),
            authors: fields.authors.unwrap_or_default(),
        }))
    }
}

impl PinnedIn {
    fn finish(self, at: usize) -> Result<Pinned> {
        match (self.node_id, self.text) {
            (Some(id), None) if self.label.is_none() => Ok(Pinned::Node(id)),
            (None, Some(text)) => Ok(Pinned::Text { label: self.label, text }),
            _ => Err(wrong(&format!("loomAware.pinned[{at}]"), "`{ nodeId }` or `{ label?, text }`")),
        }
    }
}

/// What an agent may do by its own account: those of `{ read: true, write: false }` that are true, or a list of names.
fn names(permissions: &Value) -> Option<Vec<String>> {
    match permissions {
        Value::Object(fields) => {
            let granted = fields.iter().filter(|(_, may)| **may == Value::Bool(true));
            Some(granted.map(|(name, _)| name.clone()).collect())
        }
        Value::Array(names) => Some(names.iter().filter_map(Value::as_str).map(str::to_owned).collect()),
        _ => None,
    }
}

/// A moment: RFC 3339, or milliseconds since 1970 as `Date.now()` gives them.
fn moment(value: &Value) -> Result<Timestamp> {
    let found = match value {
        Value::String(text) => Timestamp::parse(text),
        Value::Number(number) => number.as_f64().filter(|millis| millis.abs() <= MILLIS_MAX).map(|millis| {
            #[expect(clippy::cast_possible_truncation, reason = "the range was checked; a fraction is dropped")]
            let millis = millis.floor() as i64;
            Timestamp::from_unix_millis(millis)
        }),
        _ => None,
    };
    found
        .ok_or_else(|| wrong("loomAware.now", "a date and time of RFC 3339 with an offset, or milliseconds since 1970"))
}

/// The last moment that a `Date` can hold.
const MILLIS_MAX: f64 = 8.64e15;

#[cold]
fn wrong(path: &str, expected: &str) -> Error {
    Error::new(Code::InvalidInput, format!("`{path}` must be {expected}")).with("path", path)
}
