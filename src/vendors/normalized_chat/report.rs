//! Reports of content and fields that the target cannot hold.

use crate::content::Counted;
use crate::error::{Diagnostic, DiagnosticCode, Severity};
use crate::json::{Object, Value};
use crate::vendors::fields::text_in;
use crate::vendors::format::Format;
use crate::vendors::left_out::{self, LeftOut};
use crate::vendors::media::{self, medium_of};
use crate::vendors::part::{Fields, is_known, is_one_of};
use crate::vendors::{
    ai_sdk, anthropic, gemini, gemini_interactions, generic, langchain, openai_chat, openai_responses,
};

/// Represents the fields outside the messages, in place of an index.
const SYSTEM: usize = usize::MAX;

/// Counts of content that the target cannot hold, by message.
#[derive(Debug)]
pub(crate) struct ConversionReport {
    counted: Counted,
    /// The current message.
    pub message: usize,
    /// The fields of the format of the chat.
    known: &'static [&'static str],
}

impl ConversionReport {
    /// The report of a chat in a format, at the fields outside the messages.
    pub(super) fn new(format: Format) -> Self {
        Self { counted: Counted::default(), message: SYSTEM, known: known_fields(format) }
    }

    /// Counts content that another form replaces, by its description.
    pub(super) fn note(&mut self, what: &'static str, severity: Severity) {
        self.counted.add(DiagnosticCode::NotExpressible, what.into(), severity, self.message);
    }

    /// Counts a field or content that is left out.
    pub(super) fn lost(&mut self, what: LeftOut<'_>) {
        self.counted.add(what.code(), what.name(), what.severity(), self.message);
    }

    /// A diagnostic for each kind, at the first message with it.
    pub(crate) fn finish(self, diagnostics: &mut Vec<Diagnostic>) {
        for kind in self.counted.into_kinds() {
            let text = left_out::message(kind.code, &kind.times(), ": the target format cannot hold it");
            let diagnostic = Diagnostic::new(kind.code, kind.severity, text);
            let path = if kind.place == SYSTEM { "system".to_owned() } else { format!("messages[{}]", kind.place) };
            diagnostics.push(diagnostic.at_path(path));
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
                            self.lost(LeftOut::Field(&[&name, ".", &key].concat()));
                        }
                    }
                }
                None if is_one_of(ai_sdk::fields::SIGNATURES, &key) || value.is_null() => {}
                None => self.lost(LeftOut::Field(&name)),
            }
        }
    }

    /// Reports the fields of a message or a part that its format does not have.
    pub(super) fn fields(&mut self, object: Object<'_>) {
        self.fields_in(object, false);
    }

    /// Reports the unknown fields of an object, which may be in the field of an image or a file.
    fn fields_in(&mut self, object: Object<'_>, is_in_file: bool) {
        let is_file = is_in_file || medium_of(object).is_some();
        // The answer to the request for an approval becomes the result.
        let is_read =
            |name: &str| is_file && media::is_field(name) || name == "approval" && ai_sdk::part::is_denied(object);
        object.each_unknown(self.known, &mut |name, value| match ai_sdk::fields::HOLDERS.contains(&name) {
            _ if is_read(name) => {}
            true => self.options(name, value),
            false => self.lost(LeftOut::Field(name)),
        });
        for (key, value) in object.entries() {
            let name = key.as_text().unwrap_or_default();
            let is_outer = is_one_of(OUTER, &name) && is_known(self.known, &name);
            if let Some(inner) = value.plain_object().filter(|_| is_outer || is_file && media::is_field(&name)) {
                self.fields_in(inner, is_file);
            }
        }
    }
}

/// The fields that hold other known fields, next to those of images and files.
const OUTER: &str = "additional_kwargs function custom kwargs data functionCall function_call functionResponse \
     function_response";

/// The fields of messages and parts of a format that are read, or that can be dropped without loss.
fn known_fields(format: Format) -> &'static [&'static str] {
    match format {
        Format::Generic => &[generic::part::FIELDS],
        Format::OpenAi => &[openai_chat::fields::FIELDS],
        Format::Responses | Format::Agents => &[openai_responses::fields::FIELDS],
        Format::Anthropic => &[anthropic::part::FIELDS],
        Format::AiSdk | Format::AiSdkUi => &[ai_sdk::fields::FIELDS],
        Format::LangChain => &[langchain::pieces::FIELDS, anthropic::part::FIELDS, openai_chat::fields::FIELDS],
        Format::Gemini => &[gemini::part::FIELDS],
        Format::Interactions => &[gemini_interactions::fields::FIELDS],
    }
}
