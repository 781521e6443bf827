//! Reports of content and fields that the target cannot hold.

use std::borrow::Cow;

use crate::content::Counted;
use crate::error::{Diagnostic, DiagnosticCode, Severity};
use crate::json::{Kind as JsonKind, Object, Value};
use crate::vendors::ai_sdk;
use crate::vendors::fields::text_in;
use crate::vendors::replies::stream::is_one_of;

/// Represents the fields outside the messages, in place of an index.
const SYSTEM: usize = usize::MAX;

/// Counts of content that the target cannot hold, by message.
#[derive(Debug)]
pub(crate) struct ConversionReport {
    counted: Counted,
    /// The current message.
    pub message: usize,
}

impl Default for ConversionReport {
    fn default() -> Self {
        Self { counted: Counted::default(), message: SYSTEM }
    }
}

impl ConversionReport {
    pub(super) fn note(&mut self, what: impl Into<Cow<'static, str>>, severity: Severity) {
        self.counted.add(what.into(), severity, self.message);
    }

    pub(super) fn lost(&mut self, what: impl Into<Cow<'static, str>>) {
        self.note(what, Severity::Warning);
    }

    /// A diagnostic for each kind, at the first message with it.
    pub(crate) fn finish(self, diagnostics: &mut Vec<Diagnostic>) {
        for kind in self.counted.into_kinds() {
            let text = format!("{}: the target format cannot hold it", kind.times());
            let found = Diagnostic::new(DiagnosticCode::NotExpressible, kind.severity, text);
            let path = if kind.place == SYSTEM { "system".to_owned() } else { format!("messages[{}]", kind.place) };
            diagnostics.push(found.at_path(path));
        }
    }

    /// Reports vendor fields next to a part other than signatures.
    fn options(&mut self, name: &str, options: Value<'_>) {
        let Some(options) = options.plain_object() else { return };
        for (key, value) in options.entries() {
            let key = key.as_text().unwrap_or_default();
            let name = [name, ".", &key].concat();
            match value.plain_object() {
                Some(vendor) => {
                    let is_sealed = text_in(vendor, "reasoningEncryptedContent").is_some();
                    for (key, value) in vendor.entries() {
                        let key = key.as_text().unwrap_or_default();
                        let is_kept = is_one_of(ai_sdk::fields::SIGNATURES, &key) || (is_sealed && key == "itemId");
                        if !is_kept && !value.is_null() {
                            self.note(format!("the field `{name}.{key}`"), Severity::Info);
                        }
                    }
                }
                None if is_one_of(ai_sdk::fields::SIGNATURES, &key) || value.is_null() => {}
                None => self.note(format!("the field `{name}`"), Severity::Info),
            }
        }
    }

    /// Reports the fields of a message or a part that were not used.
    pub(super) fn fields(&mut self, object: Object<'_>) {
        for (key, value) in object.entries() {
            let is_empty = match value.kind() {
                JsonKind::Null => true,
                JsonKind::List => value.as_list().is_some_and(|list| list.len() == 0),
                JsonKind::Object => value.plain_object().is_some_and(|object| object.len() == 0),
                _ => false,
            };
            let Some(key) = key.as_text().filter(|_| !is_empty) else { continue };
            if ai_sdk::fields::HOLDERS.contains(&&*key) {
                self.options(&key, value);
                continue;
            }
            if is_one_of(READ, &key) {
                if let Some(inner) = value.plain_object().filter(|_| is_one_of(HOLDERS, &key)) {
                    self.fields(inner);
                }
                continue;
            }
            self.note(format!("the field `{}`", key.chars().take(40).collect::<String>()), Severity::Info);
        }
    }
}

/// The fields of messages and parts that are read, or that can be dropped without loss.
const READ: &str = "type role content parts id status state name text thinking reasoning reasoning_content thinking_blocks \
     reasoning_details signature additional_kwargs tool_call_chunks \
     summary rawContent encrypted_content thought thoughtSignature thought_signature data url image image_url source \
     source_type file file_data fileData filename title inlineData inline_data input_audio audio format mediaType \
     mimeType mime_type media_type altText width height ref input args arguments function custom index call_id callId \
     tool_call_id tool_use_id toolCallId toolName tool_calls function_call functionCall functionResponse \
     function_response output result uri errorText is_error isError refusal lc kwargs approvalId phase";

/// Those that have subfields.
const HOLDERS: &str =
    "additional_kwargs image_url source file input_audio inlineData inline_data fileData function kwargs data";
