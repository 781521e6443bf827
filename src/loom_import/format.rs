//! The formats that can be imported.

use serde::Serialize;

/// The format of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "they are the names of programs")]
pub enum FileFormat {
    Athanor,
    #[serde(rename = "chatbot-ui")]
    ChatbotUi,
    #[serde(rename = "chatgpt")]
    ChatGpt,
    Claude,
    Coloom,
    Ctxweave,
    #[serde(rename = "exoloom")]
    ExoLoom,
    #[serde(rename = "koboldai")]
    KoboldAi,
    #[serde(rename = "librechat")]
    LibreChat,
    #[serde(rename = "llama-cpp")]
    LlamaCpp,
    Loomsidian,
    Messages,
    #[serde(rename = "miniloom")]
    MiniLoom,
    #[serde(rename = "nextchat")]
    NextChat,
    #[serde(rename = "open-webui")]
    OpenWebUi,
    Pyloom,
    #[serde(rename = "sillytavern")]
    SillyTavern,
}

impl FileFormat {
    /// The names in JSON.
    pub const NAMES: &'static [(&'static str, Self)] = &[
        ("athanor", Self::Athanor),
        ("chatbot-ui", Self::ChatbotUi),
        ("chatgpt", Self::ChatGpt),
        ("claude", Self::Claude),
        ("coloom", Self::Coloom),
        ("ctxweave", Self::Ctxweave),
        ("exoloom", Self::ExoLoom),
        ("koboldai", Self::KoboldAi),
        ("librechat", Self::LibreChat),
        ("llama-cpp", Self::LlamaCpp),
        ("loomsidian", Self::Loomsidian),
        ("messages", Self::Messages),
        ("miniloom", Self::MiniLoom),
        ("nextchat", Self::NextChat),
        ("open-webui", Self::OpenWebUi),
        ("pyloom", Self::Pyloom),
        ("sillytavern", Self::SillyTavern),
    ];

    /// The name in JSON.
    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(_, format)| *format == self).map_or("", |(name, _)| name)
    }
}
