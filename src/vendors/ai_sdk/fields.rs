//! The provider fields next to a part, in the AI SDK and the Agents SDK.

use crate::json::Object;
use crate::vendors::fields::{object_in, text_in};
use crate::vendors::signature::ReasoningSignature;

/// The state of a denied call in a message of the AI SDK.
pub(crate) const DENIED_STATE: &str = "output-denied";
/// The default text for the model if no reason is given.
pub(crate) const DENIED: &str = "Tool execution denied.";

/// The fields of messages and parts that are read, or that can be dropped without loss. All others are reported.
pub(crate) const FIELDS: &str = "type role content parts id state text image file data url filename mediaType input output toolCallId \
     toolName errorText isError approvalId kind";

/// The fields of a part that hold provider data.
pub(crate) const HOLDERS: [&str; 4] = ["providerOptions", "providerMetadata", "callProviderMetadata", "providerData"];

/// The signature fields in them.
pub(crate) const SIGNATURES: &str =
    "signature redactedData thoughtSignature reasoningEncryptedContent encrypted_content encryptedContent";

/// The signature next to a part.
pub(crate) fn signature<'t>(part: Object<'t>) -> Option<ReasoningSignature<'t>> {
    let holder = HOLDERS.into_iter().find_map(|name| object_in(part, name))?;
    let sealed = text_in(holder, "encrypted_content").or_else(|| text_in(holder, "encryptedContent"));
    if let Some(sealed) = sealed {
        return Some(ReasoningSignature::Sealed(text_in(part, "id"), sealed));
    }
    let vendor = ["anthropic", "google", "vertex", "openai"].into_iter().find_map(|name| object_in(holder, name))?;
    text_in(vendor, "redactedData")
        .map(ReasoningSignature::Redacted)
        .or_else(|| text_in(vendor, "signature").map(ReasoningSignature::Thinking))
        .or_else(|| text_in(vendor, "thoughtSignature").map(ReasoningSignature::Thought))
        .or_else(|| {
            Some(ReasoningSignature::Sealed(text_in(vendor, "itemId"), text_in(vendor, "reasoningEncryptedContent")?))
        })
}
