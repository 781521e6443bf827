//! The AI SDK's messages: those of a model, and those of a user interface.

use crate::content::Role;
use crate::json::JsonWriter;
use crate::text::is_blank;
use crate::vendors::bodies::arguments;
use crate::vendors::bodies::body::Body;
use crate::vendors::bodies::conversation::Conversation;
use crate::vendors::bodies::media::{Kind, Media, Source};
use crate::vendors::bodies::message::write_message;
use crate::vendors::bodies::normalize::{Item, ItemContent, Rules, ToolResult, normalize};
use crate::vendors::bodies::sink::DiagnosticSink;
use crate::vendors::frameworks::{result_content, role_of, rules};
use crate::vendors::openai_shared::url_field;
use crate::vendors::signature::ReasoningSignature;

/// Writes messages of a user interface if `is_ui`, else model messages.
pub(crate) fn write<'m>(
    body: &mut Body<'m>,
    conversation: Conversation<'m>,
    is_ui: bool,
    sink: &mut DiagnosticSink<'_>,
) {
    let rules = Rules {
        takes_reasoning: |text, signature| !is_blank(text) || signature.is_some_and(|text| readable(text).is_some()),
        failed_result_is_text: true,
        ..rules("the AI SDK", body.chat)
    };
    let normalized = normalize(conversation, body.target, &mut body.names, &rules, sink);
    let mut writer = Writer { is_ui, sink };
    if is_ui {
        let items = normalized.items();
        body.list("messages", &normalized, |json| writer.ui_messages(json, items));
    } else {
        body.turns("messages", &normalized, &mut |json, turn| writer.model_message(json, turn));
    }
}

/// Reads a signature from a field next to a part.
fn readable(signature: &str) -> Option<ReasoningSignature<'_>> {
    ReasoningSignature::read(signature).filter(|signature| !matches!(signature, ReasoningSignature::Field(..)))
}

struct Writer<'w, 's> {
    is_ui: bool,
    sink: &'w mut DiagnosticSink<'s>,
}

impl Writer<'_, '_> {
    fn model_message(&mut self, json: &mut JsonWriter, turn: &[Item<'_>]) {
        match turn {
            [] => {}
            [Item { content: ItemContent::Result(_), .. }, ..] => json.object(|json| {
                json.text_field("role", "tool");
                json.key("content");
                self.parts(json, turn);
            }),
            [first, ..] => write_message(json, role_of(first), |json| match turn {
                [Item { content: ItemContent::Text(text), .. }] => json.string(text),
                _ => self.parts(json, turn),
            }),
        }
    }

    fn parts(&mut self, json: &mut JsonWriter, turn: &[Item<'_>]) {
        json.list(|json| {
            let mut carried = None;
            for (at, item) in turn.iter().enumerate() {
                match carried_signature(item, turn.get(at + 1)) {
                    Some(signature) => carried = Some(signature),
                    None => self.part(json, item, carried.take()),
                }
            }
        });
    }

    fn part(&mut self, json: &mut JsonWriter, item: &Item<'_>, signature: Option<ReasoningSignature<'_>>) {
        match &item.content {
            ItemContent::Text(text) => json.typed("text", |json| {
                json.text_field("text", text);
                self.metadata(json, signature);
            }),
            ItemContent::Media(found) => self.media(json, found),
            ItemContent::Reasoning { text, signature } => json.typed("reasoning", |json| {
                json.text_field("text", *text);
                self.metadata(json, signature.and_then(readable));
            }),
            ItemContent::Call { id, name, arguments } => {
                let input = arguments::object(arguments, name, item.message, self.sink);
                json.typed("tool-call", |json| {
                    json.text_field("toolCallId", id.as_ref());
                    json.text_field("toolName", name.as_ref());
                    json.raw_field("input", &input);
                    self.metadata(json, signature);
                });
            }
            ItemContent::Result(found) => result(json, found),
            ItemContent::Vendor(_) => {}
        }
    }

    /// Writes the fields next to a part that hold a signature.
    fn metadata(&self, json: &mut JsonWriter, signature: Option<ReasoningSignature<'_>>) {
        let name = if self.is_ui { "providerMetadata" } else { "providerOptions" };
        if let Some(signature) = signature {
            json.object_field(name, |json| provider_options(json, &signature));
        }
    }

    fn media(&self, json: &mut JsonWriter, media: &Media<'_>) {
        let (Kind::Image(mime) | Kind::Audio(mime)) = media.kind;
        let (Source::Data(source) | Source::Url(source)) = media.source;
        json.typed("file", |json| {
            json.text_field("mediaType", mime.unwrap_or_default());
            if self.is_ui {
                url_field(json, "url", media);
            } else {
                json.text_field("data", source);
            }
        });
    }

    /// Messages of a user interface: a run of the assistant is one message, with a step for each of its answers; a call
    /// and its result are one part.
    fn ui_messages(&mut self, json: &mut JsonWriter, items: &[Item<'_>]) {
        let is_one = |a: &Item<'_>, b: &Item<'_>| {
            is_run(a) == is_run(b) && (is_run(a) || (a.role == b.role && a.message == b.message))
        };
        for (number, message) in items.chunk_by(is_one).enumerate() {
            json.object(|json| {
                json.text_field("id", format!("message-{}", number + 1).as_str());
                json.text_field(
                    "role",
                    match message.first() {
                        Some(item) if is_run(item) => "assistant",
                        Some(item) if item.role.is_system() => "system",
                        _ => "user",
                    },
                );
                json.list_field("parts", |json| self.ui_parts(json, message));
            });
        }
    }

    fn ui_parts(&mut self, json: &mut JsonWriter, message: &[Item<'_>]) {
        let mut step_before = message.first().is_some_and(is_run);
        let mut carried = None;
        for (at, item) in message.iter().enumerate() {
            if matches!(item.content, ItemContent::Result(_)) {
                step_before = true;
                continue;
            }
            if std::mem::take(&mut step_before) {
                json.typed("step-start", |_| {});
            }
            if let Some(signature) = carried_signature(item, message.get(at + 1)) {
                carried = Some(signature);
                continue;
            }
            let ItemContent::Call { id, name, arguments } = &item.content else {
                self.part(json, item, carried.take());
                continue;
            };
            let rest = message.get(at..).unwrap_or_default();
            let answer = rest.iter().find_map(|item| match &item.content {
                ItemContent::Result(result) if result.id == *id => Some(result),
                _ => None,
            });
            let input = arguments::object(arguments, name, item.message, self.sink);
            ui_tool(json, [id, name, &input], answer, carried.take());
        }
    }
}

/// Whether an item belongs to a run of the assistant.
fn is_run(item: &Item<'_>) -> bool {
    item.role == Role::Assistant || matches!(item.content, ItemContent::Result(_))
}

/// The signature for the next part: Google's, of a call or a text.
fn carried_signature<'i>(item: &'i Item<'_>, next: Option<&Item<'_>>) -> Option<ReasoningSignature<'i>> {
    let ItemContent::Reasoning { text, signature: Some(signature) } = item.content else { return None };
    let is_said = |next: &Item<'_>| !matches!(next.content, ItemContent::Reasoning { .. } | ItemContent::Result(_));
    let carries = is_blank(text) && next.is_some_and(is_said);
    let signature = ReasoningSignature::read(signature).filter(|_| carries);
    signature.filter(|it| matches!(it, ReasoningSignature::Thought(_) | ReasoningSignature::Opaque(_)))
}

fn result(json: &mut JsonWriter, result: &ToolResult<'_>) {
    json.typed("tool-result", |json| {
        json.text_field("toolCallId", result.id.as_ref());
        json.text_field("toolName", result.name.as_ref());
        let kind = match result.text() {
            _ if result.is_error => "error-text",
            Some(_) => "text",
            None => "content",
        };
        json.object_field("output", |json| {
            json.text_field("type", kind);
            json.key("value");
            output(json, result);
        });
    });
}

/// The output of a tool: a text, or a list of parts. A failed tool's is a single text.
fn output(json: &mut JsonWriter, result: &ToolResult<'_>) {
    if result.is_error && result.text().is_none() {
        return json.string(result.joined().as_str());
    }
    result_content(json, result, "text", &|json, media| match media.source {
        Source::Data(data) => json.typed("image-data", |json| {
            json.text_field("data", data);
            if let Kind::Image(Some(mime)) = media.kind {
                json.text_field("mediaType", mime);
            }
        }),
        Source::Url(url) => json.typed("image-url", |json| json.text_field("url", url)),
    });
}

fn ui_tool(
    json: &mut JsonWriter,
    [id, name, input]: [&str; 3],
    answer: Option<&ToolResult<'_>>,
    signature: Option<ReasoningSignature<'_>>,
) {
    json.typed(&["tool-", name].concat(), |json| {
        json.text_field("toolCallId", id);
        let (state, key) = match answer {
            None => ("input-available", ""),
            Some(result) if result.is_error => ("output-error", "errorText"),
            Some(_) => ("output-available", "output"),
        };
        json.text_field("state", state);
        json.raw_field("input", input);
        if let Some(result) = answer {
            json.key(key);
            output(json, result);
        }
        if let Some(signature) = signature {
            json.object_field("callProviderMetadata", |json| provider_options(json, &signature));
        }
    });
}

/// Writes a signature where its vendor reads it. One of unknown origin is written where each vendor reads it.
fn provider_options(json: &mut JsonWriter, signature: &ReasoningSignature<'_>) {
    let mut vendor = |name, field, text: &str| json.object_field(name, |json| json.text_field(field, text));
    match signature {
        ReasoningSignature::Thinking(text) => vendor("anthropic", "signature", text),
        ReasoningSignature::Redacted(data) => vendor("anthropic", "redactedData", data),
        ReasoningSignature::Thought(text) => vendor("google", "thoughtSignature", text),
        ReasoningSignature::Opaque(text) => {
            vendor("anthropic", "signature", text);
            vendor("google", "thoughtSignature", text);
        }
        ReasoningSignature::Sealed(id, sealed) => json.object_field("openai", |json| {
            if let Some(id) = id {
                json.text_field("itemId", id.as_ref());
            }
            json.text_field("reasoningEncryptedContent", sealed.as_ref());
        }),
        ReasoningSignature::Field(..) => {}
    }
}
