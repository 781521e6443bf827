//! Blocks that only their vendor can read.

use std::borrow::Cow;

use serde_json::Value;

/// A vendor of models.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vendor {
    /// Anthropic.
    Anthropic,
    /// OpenAI.
    OpenAi,
    /// Google.
    Google,
}

impl Vendor {
    /// Every vendor with its name in JSON.
    pub const NAMES: [(&'static str, Self); 3] =
        [("anthropic", Self::Anthropic), ("openai", Self::OpenAi), ("google", Self::Google)];

    /// The name in JSON.
    pub fn as_str(self) -> &'static str {
        Self::NAMES.iter().find(|(_, vendor)| *vendor == self).map_or("", |(name, _)| name)
    }
}

/// A content block of Anthropic's, an item of OpenAI's Responses, a part of Gemini's contents or a step of its
/// Interactions, as its vendor wrote it. Only that vendor accepts it back.
#[derive(Clone, Debug, PartialEq)]
pub struct VendorBlock<'a> {
    /// The vendor that wrote it.
    pub vendor: Vendor,
    /// The JSON object.
    pub value: Cow<'a, Value>,
}

impl VendorBlock<'_> {
    /// A copy that borrows from this block.
    pub(crate) fn borrowed(&self) -> VendorBlock<'_> {
        VendorBlock { vendor: self.vendor, value: Cow::Borrowed(&self.value) }
    }

    /// The block with an owned value.
    pub(crate) fn into_owned(self) -> VendorBlock<'static> {
        VendorBlock { vendor: self.vendor, value: Cow::Owned(self.value.into_owned()) }
    }
}
