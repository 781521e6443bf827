//! The formats that chats are in.

/// A format of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Generic,
    OpenAi,
    Responses,
    Agents,
    Anthropic,
    AiSdk,
    AiSdkUi,
    LangChain,
    Gemini,
}

/// Their names, the ones first that text alone is taken for.
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
];

impl Format {
    pub(crate) fn name(self) -> &'static str {
        FORMATS.iter().find(|&&(_, format)| format == self).map_or("", |(name, _)| name)
    }
}
