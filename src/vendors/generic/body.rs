//! The generic format: a role, and a content of text or blocks (docs/chat-formats.md).

use crate::json::JsonWriter;
use crate::vendors::bodies::arguments;
use crate::vendors::bodies::body::Body;
use crate::vendors::bodies::conversation::Conversation;
use crate::vendors::bodies::message::write_message;
use crate::vendors::bodies::normalize::{Item, ItemContent, Rules, normalize};
use crate::vendors::bodies::sink::DiagnosticSink;
use crate::vendors::frameworks::{content, media, result_content, role_of, rules};
use crate::vendors::vendor_block::BlockFormat;

pub(crate) fn write<'m>(body: &mut Body<'m>, conversation: Conversation<'m>, sink: &mut DiagnosticSink<'_>) {
    let rules = Rules { blocks: BlockFormat::ALL, phases: true, ..rules("the generic format", body.chat) };
    let normalized = normalize(conversation, body.target, &mut body.names, &rules, sink);
    body.turns("messages", &normalized, &mut |json, turn| {
        let Some(first) = turn.first() else { return };
        let parts: Vec<&Item<'_>> = turn.iter().collect();
        write_message(json, role_of(first), |json| content(json, &parts, &mut |json, item| part(json, item, sink)));
    });
}

fn part(json: &mut JsonWriter, item: &Item<'_>, sink: &mut DiagnosticSink<'_>) {
    match &item.content {
        ItemContent::Text(text) => json.text_block("text", text),
        ItemContent::Media(found) => media(json, found),
        ItemContent::Reasoning { text, signature } => json.typed("reasoning", |json| {
            json.text_field("text", *text);
            if let Some(signature) = signature {
                json.text_field("signature", *signature);
            }
        }),
        ItemContent::Vendor(block) => json.typed("vendor", |json| {
            json.text_field("vendor", block.vendor.as_str());
            json.value_field("value", &block.value);
        }),
        ItemContent::Call { id, name, arguments } => {
            let arguments = arguments::object(arguments, name, item.message, sink);
            json.typed("toolCall", |json| {
                json.text_field("id", id.as_ref());
                json.text_field("name", name.as_ref());
                json.raw_field("arguments", &arguments);
            });
        }
        ItemContent::Result(result) => json.typed("toolResult", |json| {
            json.text_field("toolCallId", result.id.as_ref());
            json.key("content");
            result_content(json, result, "text", &media);
            if result.is_error {
                json.raw_field("isError", "true");
            }
        }),
    }
}
