//! Blocks that only their vendor accepts: which of them are compactions, and what replaces them for other vendors.

use std::borrow::Cow;

use serde_json::Value;

use crate::content::{Vendor, VendorBlock};
use crate::json;
use crate::text::is_blank;
use crate::vendors::format::Format;
use crate::vendors::left_out::LeftOut;

/// Whether a block or an item of this type is a compaction.
pub(crate) fn is_compaction_type(kind: &str) -> bool {
    matches!(kind, "compaction" | "compaction_summary" | "context_compaction")
}

/// A wire format with vendor blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BlockFormat {
    /// Blocks of Anthropic's messages.
    Anthropic,
    /// Items of OpenAI's Responses.
    OpenAiItem,
    /// Parts of Gemini's contents.
    GeminiPart,
    /// Steps of Gemini's Interactions.
    GeminiStep,
}

impl BlockFormat {
    pub(crate) const ALL: &[Self] = &[Self::Anthropic, Self::OpenAiItem, Self::GeminiPart, Self::GeminiStep];

    /// The form of the vendor blocks in a chat's format.
    pub(crate) fn of(format: Format) -> Option<Self> {
        match format {
            Format::Anthropic => Some(Self::Anthropic),
            Format::Responses => Some(Self::OpenAiItem),
            Format::Gemini => Some(Self::GeminiPart),
            Format::Interactions => Some(Self::GeminiStep),
            _ => None,
        }
    }

    /// The vendor of the format.
    pub(crate) fn vendor(self) -> Vendor {
        match self {
            Self::Anthropic => Vendor::Anthropic,
            Self::OpenAiItem => Vendor::OpenAi,
            Self::GeminiPart | Self::GeminiStep => Vendor::Google,
        }
    }

    /// Whether its blocks are next to messages instead of within them.
    pub(crate) fn is_item(self) -> bool {
        matches!(self, Self::OpenAiItem | Self::GeminiStep)
    }
}

impl VendorBlock<'_> {
    /// Its wire format. Steps have a type, parts have none.
    pub(crate) fn format(&self) -> BlockFormat {
        match self.vendor {
            Vendor::Anthropic => BlockFormat::Anthropic,
            Vendor::OpenAi => BlockFormat::OpenAiItem,
            Vendor::Google if self.kind().is_empty() => BlockFormat::GeminiPart,
            Vendor::Google => BlockFormat::GeminiStep,
        }
    }

    fn text(&self, field: &str) -> Option<&str> {
        self.value.get(field).and_then(Value::as_str)
    }

    /// Its type; empty for a part of Gemini's, which has none.
    pub(crate) fn kind(&self) -> &str {
        self.text("type").unwrap_or_default()
    }

    /// The id of an OpenAI item. A request may contain it once.
    pub(crate) fn item_id(&self) -> Option<&str> {
        self.text("id").filter(|_| self.vendor == Vendor::OpenAi)
    }

    /// Whether its type is that of a compaction.
    pub(crate) fn is_of_compaction(&self) -> bool {
        self.vendor != Vendor::Google && is_compaction_type(self.kind())
    }

    /// Whether it replaces everything before it. A compaction of Anthropic without content has failed.
    pub(crate) fn is_compaction(&self) -> bool {
        let is_given = |field| self.value.get(field).is_some_and(|value| !value.is_null());
        self.is_of_compaction()
            && (self.vendor == Vendor::OpenAi || ["content", "encrypted_content"].into_iter().any(is_given))
    }

    /// Whether it has content that only its vendor can read.
    pub(crate) fn is_sealed(&self) -> bool {
        self.text("encrypted_content").is_some()
    }

    /// Whether its vendor signed it.
    pub(crate) fn is_signed(&self) -> bool {
        self.text("signature").is_some_and(|signature| !signature.is_empty())
    }

    /// The readable summary of a compaction.
    pub(crate) fn summary(&self) -> Option<&str> {
        self.text("content").filter(|text| self.is_of_compaction() && !is_blank(text))
    }

    /// Its name for diagnostics: its type, or the first field of a part.
    pub(crate) fn name(&self) -> &str {
        let field = || Some(self.value.as_object()?.keys().next()?.as_str());
        match self.kind() {
            "" => field().unwrap_or_default(),
            kind => kind,
        }
    }

    /// The text that replaces it where vendor blocks are not supported, the summary of a compaction, and the loss to
    /// report.
    pub(crate) fn replacement(&self) -> (Option<&str>, LeftOut<'_>) {
        let lost = match self.summary() {
            Some(_) => LeftOut::Described("a compaction, written as the text of its summary"),
            None if self.phase().is_some() => LeftOut::Described("the phase of a message"),
            None if self.is_compaction() => {
                LeftOut::Described("an encrypted compaction, with the messages that it replaces")
            }
            None => LeftOut::Type(self.name()),
        };
        (self.summary(), lost)
    }

    /// Its counted text: the summary of a compaction, or the JSON of another block.
    pub(crate) fn counted_text(&self) -> Option<Cow<'_, str>> {
        if self.phase().is_some() {
            return None;
        }
        match self.is_of_compaction() {
            true => self.summary().map(Cow::Borrowed),
            false => Some(Cow::Owned(json::text(&*self.value))),
        }
    }
}
