//! The formats of chats.

use serde::{Serialize, Serializer};

/// A format of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// `{ role, content }` with a text, or the blocks of this crate.
    Generic,
    /// OpenAI Chat Completions.
    OpenAi,
    /// Items of OpenAI Responses.
    Responses,
    /// Items of the OpenAI Agents SDK.
    Agents,
    /// Anthropic Messages.
    Anthropic,
    /// `ModelMessage` of the AI SDK.
    AiSdk,
    /// `UIMessage` of the AI SDK.
    AiSdkUi,
    /// Messages of LangChain, also as they are serialized.
    LangChain,
    /// `Content` of Gemini.
    Gemini,
    /// Steps of Gemini Interactions.
    Interactions,
}

/// Their names; those that plain text can be in come first.
pub(crate) const FORMATS: &[(&str, Format)] = &[
    ("generic", Format::Generic),
    ("openai", Format::OpenAi),
    ("openai-responses", Format::Responses),
    ("openai-agents", Format::Agents),
    ("anthropic", Format::Anthropic),
    ("ai-sdk", Format::AiSdk),
    ("ai-sdk-ui", Format::AiSdkUi),
    ("langchain", Format::LangChain),
    ("gemini", Format::Gemini),
    ("gemini-interactions", Format::Interactions),
];

impl Format {
    /// The name in JSON.
    pub fn name(self) -> &'static str {
        FORMATS.iter().find(|&&(_, format)| format == self).map_or("", |(name, _)| name)
    }
}

impl Serialize for Format {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}
