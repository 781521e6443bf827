//! The phase of a model message, `commentary` or `final_answer`, which OpenAI requires back.
//!
//! In a content it precedes the texts of its message, as a block of OpenAI's, `{ type: "message", phase }`, so that the
//! texts stay texts.

use serde_json::{Map, Value};

use crate::content::{Block, Vendor, VendorBlock};
use crate::json;
use crate::vendors::blocks::text;

/// The block for the phase of an item, if the item states one.
pub(crate) fn of_item(item: &Map<String, Value>) -> Option<Block<'static>> {
    text(item, "phase").map(block)
}

/// The block for a phase.
pub(crate) fn block(phase: &str) -> Block<'static> {
    Block::vendor(Vendor::OpenAi, json::object([("type", "message".into()), ("phase", phase.into())]))
}

impl VendorBlock<'_> {
    /// The phase of the texts after it, if the block holds nothing else.
    pub(crate) fn phase(&self) -> Option<&str> {
        let is_phase = self.vendor == Vendor::OpenAi && self.kind() == "message" && self.value.get("content").is_none();
        self.value.get("phase").and_then(Value::as_str).filter(|_| is_phase)
    }
}
