//! Signatures of reasoning: opaque, or the JSON text of the block that the provider sent.

use std::borrow::Cow;

use serde_json::Value;

use crate::content::Vendor;
use crate::json::{Document, JsonWriter, Object};
use crate::vendors::format::Format;

/// A signature that a vendor attaches to reasoning, or to a call after it, and requires back unchanged.
#[derive(Debug)]
pub(crate) enum ReasoningSignature<'s> {
    /// Anthropic's, of readable thinking.
    Thinking(Cow<'s, str>),
    /// Anthropic's, of redacted thinking.
    Redacted(Cow<'s, str>),
    /// Gemini's.
    Thought(Cow<'s, str>),
    /// OpenAI's, with the id of its item.
    Sealed(Option<Cow<'s, str>>, Cow<'s, str>),
    /// No signature, but the field of a chat message that the reasoning came in, and the items if that is a list.
    Field(&'static str, Vec<Value>),
    /// A signature of unknown origin.
    Opaque(Cow<'s, str>),
}

/// The type of [`ReasoningSignature::Field`].
const FIELD: &str = "reasoning_field";

/// The fields of chat messages that hold reasoning; the last one is a list.
const FIELDS: [&str; 3] = ["reasoning_content", "reasoning", DETAILS];
pub(crate) const DETAILS: &str = "reasoning_details";

impl<'s> ReasoningSignature<'s> {
    /// Classifies a signature; `None` if it is empty, or a block that no vendor has.
    pub(crate) fn read(signature: &'s str) -> Option<Self> {
        Self::of(Cow::Borrowed(signature))
    }

    /// Like [`Self::read`], for an owned or borrowed text.
    pub(crate) fn of(signature: Cow<'s, str>) -> Option<Self> {
        let block = Some(signature.trim_start()).filter(|text| text.starts_with('{'));
        let Some(document) = block.and_then(|text| Document::read(text.as_bytes(), &[]).ok()) else {
            return (!signature.is_empty()).then(|| Self::of_shape(signature));
        };
        let block = document.root().plain_object()?;
        let text = |name: &str| Some(Cow::Owned(block.last(name)?.as_text()?.into_owned()));
        let Some(kind) = text("type") else { return Some(Self::Opaque(signature)) };
        match &*kind {
            "thinking" => text("signature").map(Self::Thinking),
            "redacted_thinking" => text("data").map(Self::Redacted),
            "thought" => text("thoughtSignature").map(Self::Thought),
            "reasoning" => Some(Self::Sealed(text("id"), text("encrypted_content")?)),
            FIELD => field(block),
            _ => None,
        }
    }

    /// Classifies a signature that does not name its vendor, by its shape.
    fn of_shape(signature: Cow<'s, str>) -> Self {
        // OpenAI's are Fernet tokens: a version, and the seconds as eight bytes, in base64.
        if signature.starts_with("gAAAAA") {
            return Self::Sealed(None, signature);
        }
        match first_field(&signature) {
            Some(SIGNED_BY_GOOGLE) => Self::Thought(signature),
            Some(kind) if SIGNED_BY_ANTHROPIC.contains(&kind) => Self::Thinking(signature),
            _ => Self::Opaque(signature),
        }
    }

    /// A signature as in a vendor's files.
    pub(crate) fn of_vendor(vendor: Vendor, is_redacted: bool, signature: Cow<'s, str>) -> Self {
        match vendor {
            Vendor::Anthropic if is_redacted => Self::Redacted(signature),
            Vendor::Anthropic => Self::Thinking(signature),
            Vendor::OpenAi => Self::Sealed(None, signature),
            Vendor::Google => Self::Thought(signature),
        }
    }

    /// Whether a chat in a format can hold it.
    pub(crate) fn is_accepted_by(&self, target: Format) -> bool {
        match target {
            Format::AiSdk | Format::AiSdkUi | Format::Generic => true,
            Format::LangChain => matches!(self, Self::Thinking(_) | Self::Redacted(_)),
            Format::Anthropic => matches!(self, Self::Thinking(_) | Self::Redacted(_) | Self::Opaque(_)),
            Format::Gemini | Format::Interactions => {
                matches!(self, Self::Thought(_) | Self::Opaque(_))
            }
            Format::Responses => matches!(self, Self::Sealed(..) | Self::Opaque(_)),
            Format::Agents => matches!(self, Self::Sealed(..)),
            Format::OpenAi => false,
        }
    }

    /// The signature in the form that names its vendor.
    pub(crate) fn write(&self) -> String {
        let (kind, name, text): (_, _, &str) = match self {
            Self::Thinking(text) => ("thinking", "signature", text),
            Self::Redacted(data) => ("redacted_thinking", "data", data),
            Self::Thought(text) => ("thought", "thoughtSignature", text),
            Self::Sealed(_, sealed) => ("reasoning", "encrypted_content", sealed),
            Self::Field(name, _) => (FIELD, "name", name),
            Self::Opaque(text) => return text.to_string(),
        };
        let mut json = JsonWriter::default();
        json.typed(kind, |json| {
            if let Self::Sealed(Some(id), _) = self {
                json.text_field("id", &**id);
            }
            json.text_field(name, text);
            if let Self::Field(_, items) = self
                && !items.is_empty()
            {
                json.value_field("items", items);
            }
        });
        json.finish_text()
    }
}

/// The field that a block names.
fn field<'s>(block: Object<'_>) -> Option<ReasoningSignature<'s>> {
    let name = block.last("name")?.as_text()?;
    let name = *FIELDS.iter().find(|field| **field == name)?;
    let items = match block.last("items").map(|items| items.to_json()) {
        Some(Ok(Value::Array(items))) => items,
        _ => Vec::new(),
    };
    ((name == DETAILS) != items.is_empty()).then_some(ReasoningSignature::Field(name, items))
}

/// A signature without the block that names its vendor.
pub(crate) fn bare_signature(signature: &str) -> Cow<'_, str> {
    match ReasoningSignature::read(signature) {
        Some(
            ReasoningSignature::Thinking(bare)
            | ReasoningSignature::Redacted(bare)
            | ReasoningSignature::Thought(bare)
            | ReasoningSignature::Sealed(_, bare),
        ) => bare,
        _ => Cow::Borrowed(signature),
    }
}

/// Whether a signature is, or may be, Anthropic's.
pub(crate) fn is_anthropic(signature: Option<&str>) -> bool {
    matches!(
        signature.and_then(ReasoningSignature::read),
        Some(ReasoningSignature::Thinking(_) | ReasoningSignature::Redacted(_) | ReasoningSignature::Opaque(_))
    )
}

/// Whether a signature is OpenAI's.
pub(crate) fn is_openai(signature: Option<&str>) -> bool {
    matches!(signature.and_then(ReasoningSignature::read), Some(ReasoningSignature::Sealed(..)))
}

/// The first byte of the message in a signature: at Google a version byte, at Anthropic the tag of a number.
const SIGNED_BY_GOOGLE: u8 = 0x01;
const SIGNED_BY_ANTHROPIC: [u8; 3] = [0x08, 0x10, 0x18];

/// The first byte of the nested message in a signature, which is base64 of protocol buffers.
fn first_field(signature: &str) -> Option<u8> {
    let mut bytes = base64(signature);
    let mut tag = bytes.next()?;
    if tag == 0x12 {
        length(&mut bytes)?;
        tag = bytes.next()?;
    }
    if tag != 0x0A {
        return None;
    }
    length(&mut bytes)?;
    bytes.next()
}

/// Reads the length of a message, a number in groups of seven bits.
fn length(bytes: &mut impl Iterator<Item = u8>) -> Option<()> {
    let mut groups = bytes.take(4);
    groups.find(|group| group & 0x80 == 0).map(drop)
}

/// The bytes of base64, in either alphabet, up to the first invalid character.
fn base64(text: &str) -> impl Iterator<Item = u8> + '_ {
    let digit = |byte: u8| {
        Some(match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return None,
        })
    };
    let mut digits = text.bytes().map_while(digit);
    let (mut bits, mut count) = (0_u32, 0_u32);
    std::iter::from_fn(move || {
        while count < 8 {
            bits = (bits << 6 | u32::from(digits.next()?)) & 0xFFFF;
            count += 6;
        }
        count -= 8;
        u8::try_from(bits >> count & 0xFF).ok()
    })
}
