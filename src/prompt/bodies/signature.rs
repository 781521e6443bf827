//! Signatures of reasoning: opaque, or the JSON text of the block that the provider gave.

use std::borrow::Cow;

use crate::json::{self, Document};

/// A signature that a vendor gives with a thought, or with a call that follows from it, and wants back unchanged.
#[derive(Debug)]
pub(crate) enum Proof<'s> {
    /// Anthropic's, of a thought that can be read.
    Thinking(Cow<'s, str>),
    /// Anthropic's, of one that cannot.
    Redacted(Cow<'s, str>),
    /// Gemini's.
    Thought(Cow<'s, str>),
    /// OpenAI's, with the id of its item.
    Sealed(Option<Cow<'s, str>>, Cow<'s, str>),
    /// One whose provider is not known.
    Opaque(Cow<'s, str>),
}

impl<'s> Proof<'s> {
    /// What a signature is; none where it is empty, or a block that no vendor has.
    pub(crate) fn read(signature: &'s str) -> Option<Self> {
        Self::of(Cow::Borrowed(signature))
    }

    /// The same of a text of its own.
    pub(crate) fn of(signature: Cow<'s, str>) -> Option<Self> {
        let block = Some(signature.trim_start()).filter(|text| text.starts_with('{'));
        let Some(document) = block.and_then(|text| Document::read(text.as_bytes(), &[]).ok()) else {
            return (!signature.is_empty()).then_some(Self::Opaque(signature));
        };
        let names = ["type", "signature", "data", "thoughtSignature", "id", "encrypted_content"];
        let fields = document.root().object("").and_then(|block| block.fields(names)).ok()?;
        let texts = fields.map(|field| field?.as_text().map(|text| Cow::Owned(text.into_owned())));
        let [kind, thinking, data, thought, id, sealed] = texts;
        let Some(kind) = kind else { return Some(Self::Opaque(signature)) };
        match &*kind {
            "thinking" => thinking.map(Self::Thinking),
            "redacted_thinking" => data.map(Self::Redacted),
            "thought" => thought.map(Self::Thought),
            "reasoning" => Some(Self::Sealed(id, sealed?)),
            _ => None,
        }
    }

    /// The signature that says whose it is.
    pub(crate) fn write(&self) -> String {
        let (kind, name, text) = match self {
            Self::Thinking(text) => ("thinking", "signature", text),
            Self::Redacted(data) => ("redacted_thinking", "data", data),
            Self::Thought(text) => ("thought", "thoughtSignature", text),
            Self::Sealed(_, sealed) => ("reasoning", "encrypted_content", sealed),
            Self::Opaque(text) => return text.to_string(),
        };
        let id = if let Self::Sealed(Some(id), _) = self {
            ["\"id\":", &json::text(id), ","].concat()
        } else {
            String::new()
        };
        ["{\"type\":\"", kind, "\",", &id, "\"", name, "\":", &json::text(text), "}"].concat()
    }
}

/// Whether a signature is Anthropic's, or may be.
pub(super) fn is_anthropic(signature: Option<&str>) -> bool {
    matches!(signature.and_then(Proof::read), Some(Proof::Thinking(_) | Proof::Redacted(_) | Proof::Opaque(_)))
}
