//! The vendor's rules for a chat, by its format and model (docs/chat-formats.md).

use super::options::{FitOptions, RequestFields};
use crate::tokens::models;
use crate::vendors::format::Format;
use crate::vendors::pieces::message::Message;

/// Rare content of messages; if absent, it is not searched for.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Marks {
    /// Thinking signed by Anthropic.
    pub signed: bool,
    /// Reasoning encrypted by OpenAI.
    pub sealed_by_openai: bool,
    pub compaction: bool,
    /// Messages that may be free: reasoning alone, and cleared instructions.
    pub may_be_free: bool,
    /// Images that Anthropic rejects if there are many.
    pub large_images: bool,
    /// Cache breakpoints of Anthropic.
    pub cache_marks: bool,
}

impl Marks {
    /// Adds the content of more messages.
    pub(super) fn add(&mut self, messages: &[Message<'_>]) {
        self.may_be_free |= messages.iter().any(|message| message.clears || message.is_thought());
        for piece in messages.iter().flat_map(|message| &message.pieces) {
            self.signed |= piece.signed;
            self.sealed_by_openai |= piece.is_sealed_by_openai;
            self.compaction |= piece.is_compaction;
            self.cache_marks |= !piece.cache_marks.is_empty();
            self.large_images |= piece.is_large_image || piece.images.iter().any(|image| image.is_large);
        }
    }
}

/// The rules of a chat's vendor.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    /// Whether there is signed thinking that Anthropic binds to all earlier messages.
    pub preserves_thinking: bool,
    /// Whether there is reasoning that OpenAI withholds from the model after a change.
    pub withholds_thinking: bool,
    /// Whether the first turn has to be the user's.
    pub user_first: bool,
    /// Whether messages may hold compactions.
    pub has_compactions: bool,
    /// Whether there are images that are rejected among many.
    pub limits_images: bool,
    /// Whether messages have cache breakpoints, of which Anthropic limits the number.
    pub has_cache_marks: bool,
    /// Whether the provider stores the messages before these.
    pub continues: bool,
}

impl Rules {
    /// The rules by the option `model`, otherwise by the fields of the request.
    pub(super) fn new(format: Format, options: &FitOptions, request: &RequestFields, marks: Marks) -> Self {
        let name = options.model.as_deref().or(request.model.as_deref());
        // The name of a deployment does not identify the model.
        let known = name.and_then(|name| Some((name, models::family(name)?)));
        let preserves_thinking = match known {
            Some((name, _)) => models::preserves_thinking(name),
            // The generic format holds signatures of all vendors.
            None => format != Format::Generic && !request.is_manual(),
        };
        let user_first = match format {
            Format::Anthropic | Format::Gemini | Format::Interactions => true,
            Format::AiSdk | Format::AiSdkUi | Format::LangChain | Format::Generic => {
                known.is_none_or(|(_, family)| matches!(family, "claude" | "gemini"))
            }
            Format::OpenAi | Format::Responses | Format::Agents => false,
        };
        let is_openai = known.is_none_or(|(_, family)| !matches!(family, "claude" | "gemini"));
        let is_claude = known.map_or(format == Format::Anthropic, |(_, family)| family == "claude");
        Self {
            preserves_thinking: preserves_thinking && marks.signed,
            withholds_thinking: is_openai && marks.sealed_by_openai,
            user_first,
            has_compactions: marks.compaction,
            limits_images: is_claude && marks.large_images,
            has_cache_marks: marks.cache_marks,
            continues: request.continues,
        }
    }
}
