//! Shared by the chats of libraries: the AI SDK's two, LangChain's, those of the OpenAI Agents SDK, and the generic
//! format.
//!
//! None of them is sent directly: the library makes a request from it. So they accept any id and name, reasoning
//! anywhere, and consecutive messages of one role.

use crate::content::Role;
use crate::json::JsonWriter;
use crate::text::is_blank;
use crate::vendors::bodies::ids::IdRule;
use crate::vendors::bodies::media::{Kind, Media, Source};
use crate::vendors::bodies::normalize::{Item, ItemContent, MediaHolder, ReasoningPlace, Rules, ToolResult};

/// The rules of the chat format with this name: all media, and reasoning with a text or a signature.
pub(crate) fn rules(name: &'static str, chat: bool) -> Rules {
    Rules {
        name,
        user_first: false,
        turns_alternate: false,
        system_field: false,
        results_apart: true,
        takes: takes_anywhere,
        takes_reasoning: |text, signature| !is_blank(text) || signature.is_some(),
        id: IdRule::any(usize::MAX),
        tool_name: IdRule::any(usize::MAX),
        failed_result_is_text: false,
        reasoning: ReasoningPlace::Anywhere,
        phases: false,
        blocks: &[],
        chat,
    }
}

fn takes_anywhere(place: MediaHolder, media: &Media<'_>) -> bool {
    match media.kind {
        Kind::Image(mime) => mime.is_some(),
        Kind::Audio(mime) => mime.is_some() && place == MediaHolder::User,
    }
}

/// Whether a format that allows media only in user messages and results, and recordings only as data, accepts media.
pub(crate) fn takes_of_user(place: MediaHolder, media: &Media<'_>) -> bool {
    let is_here = matches!((media.kind, media.source), (Kind::Image(_), _) | (_, Source::Data(_)));
    place != MediaHolder::Assistant && is_here && takes_anywhere(place, media)
}

/// Only OpenAI has developers.
pub(crate) fn role_of(item: &Item<'_>) -> Role {
    if item.role.is_system() { Role::System } else { item.role }
}

/// An image or a recording by media type, with its data or URL.
pub(crate) fn media(json: &mut JsonWriter, media: &Media<'_>) {
    let (kind, mime) = match media.kind {
        Kind::Image(mime) => ("image", mime.unwrap_or_default()),
        Kind::Audio(mime) => ("audio", mime.unwrap_or_default()),
    };
    let (field, source) = match media.source {
        Source::Data(data) => ("data", data),
        Source::Url(url) => ("url", url),
    };
    json.typed(kind, |json| {
        json.text_field("mimeType", mime);
        json.text_field(field, source);
    });
}

/// A single text as a string, else the list of the parts that `part` writes.
pub(crate) fn content(json: &mut JsonWriter, parts: &[&Item<'_>], part: &mut dyn FnMut(&mut JsonWriter, &Item<'_>)) {
    match parts {
        [] => json.raw("\"\""),
        [Item { content: ItemContent::Text(text), .. }] => json.string(text),
        _ => json.list(|json| parts.iter().for_each(|item| part(json, item))),
    }
}

/// The content of a result: a text, or a list of texts of this kind and media.
pub(crate) fn result_content(
    json: &mut JsonWriter,
    result: &ToolResult<'_>,
    text_kind: &str,
    media: &dyn Fn(&mut JsonWriter, &Media<'_>),
) {
    if let Some(text) = result.text() {
        return json.string(text);
    }
    json.list(|json| {
        for content in &result.content {
            match (content.media(), content.as_text()) {
                (Some(found), _) => media(json, found),
                (None, Some(text)) => json.text_block(text_kind, text),
                (None, None) => {}
            }
        }
    });
}
