//! The fields of a block or event in CBOR. What cannot be read of one is reported (docs/session-formats.md).

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::cbor::Item;
use crate::commits::transcript::{ConversionReport, parse_arguments};
use crate::content::Block;

/// The map with the content of a block or event.
pub(super) struct Fields<'i, 'n> {
    map: &'i Item<'i>,
    /// The type of the block or event, for reports.
    kind: &'i str,
    notes: &'n mut ConversionReport,
}

impl<'i, 'n> Fields<'i, 'n> {
    /// The fields of a `what` of this type; anything but a map is reported.
    pub(super) fn of(
        map: Option<&'i Item<'i>>,
        (what, kind): (&str, &'i str),
        notes: &'n mut ConversionReport,
    ) -> Option<Self> {
        let Some(map @ Item::Map(_)) = map else {
            notes.unknown(&format!("{what} {kind}"));
            return None;
        };
        Some(Self { map, kind, notes })
    }

    fn unknown(&mut self, key: &str) {
        self.notes.unknown(&format!("{key} of a {}", self.kind));
    }

    /// A text, empty if it is missing. Another value is reported; if the text is required, a missing or empty one too.
    fn read(&mut self, key: &str, is_required: bool) -> Cow<'static, str> {
        let value = self.map.get(key).filter(|value| **value != Item::Other);
        let text = value.and_then(Item::text).unwrap_or_default().to_owned();
        if text.is_empty() && (is_required || value.is_some_and(|value| value.text().is_none())) {
            self.unknown(key);
        }
        text.into()
    }

    /// A flag, false if it is missing. Another value is reported.
    pub(super) fn flag(&mut self, key: &str) -> bool {
        match self.map.get(key) {
            Some(Item::Bool(flag)) => return *flag,
            None | Some(Item::Other) => {}
            Some(_) => self.unknown(key),
        }
        false
    }

    /// A block of text.
    pub(super) fn text(mut self, key: &str) -> Option<Block<'static>> {
        Some(self.read(key, true)).filter(|text| !text.is_empty()).map(Block::Text)
    }

    /// A block of reasoning; its text may be missing if it is signed.
    pub(super) fn reasoning(mut self, [text, signature]: [&str; 2]) -> Option<Block<'static>> {
        let signature = Some(self.read(signature, false)).filter(|signature| !signature.is_empty());
        let text = self.read(text, signature.is_none());
        let is_empty = text.is_empty() && signature.is_none();
        (!is_empty).then_some(Block::Reasoning { text, signature, redacted: false })
    }

    /// A call, whose input is a text of JSON.
    pub(super) fn call(mut self, [id, name, input]: [&str; 3], server: bool) -> Block<'static> {
        let arguments = match self.read(input, false) {
            input if input.is_empty() => Value::Object(Map::new()),
            input => parse_arguments(&input),
        };
        Block::ToolCall {
            id: self.read(id, false),
            name: self.read(name, true),
            arguments: Box::new(Cow::Owned(arguments)),
            server,
        }
    }

    /// A result, which may be empty.
    pub(super) fn result(mut self, [id, output, is_error]: [&str; 3], server: bool) -> Block<'static> {
        let output = self.read(output, false);
        Block::ToolResult {
            tool_call_id: self.read(id, false),
            content: if output.is_empty() { Vec::new() } else { vec![Block::Text(output)] },
            is_error: self.flag(is_error).then_some(true),
            server,
        }
    }
}
