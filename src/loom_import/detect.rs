//! Detects the format of a file, by its shape.

use super::file::Shape;
use super::format::FileFormat;
use super::verbatim::Lenient;
use crate::json::{Kind, Object, Value};

/// Items of a list that are inspected.
const LOOKED_AT: usize = 100;

/// The format of a file; `None` if its shape is unknown.
pub(super) fn detect(shape: Shape<'_, '_>) -> Option<FileFormat> {
    detect_with_mark(shape).map(|(format, _)| format)
}

/// The format of a file, and the evidence.
pub(crate) fn detect_with_mark(shape: Shape<'_, '_>) -> Option<(FileFormat, &'static str)> {
    FORMATS.iter().find(|(_, _, is)| is(shape)).map(|&(format, mark, _)| (format, mark))
}

/// Whether a file has the shape of a format.
pub(super) fn has_shape(shape: Shape<'_, '_>, format: FileFormat) -> bool {
    FORMATS.iter().any(|(known, _, is)| *known == format && is(shape))
}

type Test = fn(Shape<'_, '_>) -> bool;

/// Formats with a unique mark come first.
const FORMATS: &[(FileFormat, &str, Test)] = &[
    (FileFormat::Ctxweave, "lists of `nodes` and `edges`", |shape| {
        one(shape, |file| has(file, "nodes", Kind::List) && has(file, "edges", Kind::List))
    }),
    (FileFormat::ExoLoom, "`loomType` is `Exoloom`", |shape| one(shape, |file| is_text(file, "loomType", "Exoloom"))),
    (FileFormat::MiniLoom, "`loomTree.nodeStore`", |shape| {
        one(shape, |file| file.object_at("loomTree").is_some_and(|tree| tree.object_at("nodeStore").is_some()))
    }),
    (FileFormat::Coloom, "`nodes` as an object, and `cursors`", |shape| {
        one(shape, |file| has(file, "nodes", Kind::Object) && file.field("cursors").is_some())
    }),
    (FileFormat::Athanor, "`nodes` as an object, and the id in `root`", |shape| {
        one(shape, |file| has(file, "nodes", Kind::Object) && has(file, "root", Kind::String))
    }),
    (FileFormat::Loomsidian, "`nodes` and `current` of a note", |shape| {
        one(shape, |file| is_note(file) || notes(file).is_some_and(has_note))
    }),
    (FileFormat::ChatGpt, "`mapping` of a conversation", |shape| any(shape, |file| has(file, "mapping", Kind::Object))),
    (FileFormat::Claude, "`chat_messages` of a conversation", |shape| {
        any(shape, |file| has(file, "chat_messages", Kind::List))
            || one(shape, |file| {
                file.items_at("conversations")
                    .filter_map(Value::as_object)
                    .any(|it| it.field("chat_messages").is_some())
            })
    }),
    (FileFormat::OpenWebUi, "`chat.history.messages`", |shape| {
        any(shape, |file| {
            let history = file.object_at("chat").and_then(|chat| chat.object_at("history"));
            history.is_some_and(|history| has(history, "messages", Kind::Object))
        })
    }),
    (FileFormat::LlamaCpp, "`conv` with `currNode` and messages, or a header with `currNode`", |shape| match shape {
        Shape::One(_) => any(shape, |file| {
            let conversation = file.object_at("conv");
            has(file, "messages", Kind::List) && conversation.is_some_and(|conv| conv.last("currNode").is_some())
        }),
        Shape::Lines(lines) => objects(lines).any(is_llama_header),
    }),
    (FileFormat::LibreChat, "`conversationId` and messages", |shape| {
        any(shape, |file| {
            let has_messages = has(file, "messages", Kind::List) || has(file, "messagesTree", Kind::List);
            file.field("conversationId").is_some() && has_messages
        })
    }),
    (FileFormat::KoboldAi, "`actions`, and `prompt` or `gamestarted`", |shape| {
        one(shape, |file| {
            file.field("actions").is_some() && (file.field("prompt").is_some() || file.field("gamestarted").is_some())
        })
    }),
    (FileFormat::SillyTavern, "`mes`, or the header of a chat", |shape| match shape {
        Shape::One(file) => file.as_object().is_some_and(is_tavern_header),
        Shape::Lines(lines) => objects(lines).any(|line| is_tavern_header(line) || has(line, "mes", Kind::String)),
    }),
    (FileFormat::NextChat, "`sessions` with `messages`", |shape| {
        one(shape, |file| {
            let store = file.object_at("chat-next-web-store").unwrap_or(file);
            store.items_at("sessions").take(LOOKED_AT).filter_map(Value::as_object).any(is_session)
        })
    }),
    (FileFormat::ChatbotUi, "`history` with `messages`", |shape| {
        one(shape, |file| {
            file.items_at("history")
                .take(LOOKED_AT)
                .filter_map(Value::as_object)
                .any(|it| it.field("messages").is_some())
        })
    }),
    (FileFormat::Pyloom, "nodes with `text`", |shape| match shape {
        Shape::One(file) => {
            let root = |file: Object<'_>| file.object_at("root").is_some_and(is_delta_node);
            any(shape, is_delta_node) || file.as_object().is_some_and(root)
        }
        Shape::Lines(lines) => {
            let is_node = |line: Object<'_>| line.field("id").is_some() && has(line, "text", Kind::String);
            objects(lines).any(|line| line.field("role").is_none() && is_node(line))
        }
    }),
    (FileFormat::Messages, "messages with `role` and `content`", |shape| match shape {
        Shape::One(file) => {
            any(shape, is_message)
                || file
                    .as_object()
                    .is_some_and(|file| file.items_at("messages").any(|it| it.as_object().is_some_and(is_message)))
        }
        Shape::Lines(lines) => objects(lines).any(is_message),
    }),
];

fn objects<'v, 't>(lines: &'v [Value<'t>]) -> impl Iterator<Item = Object<'t>> + use<'v, 't> {
    lines.iter().take(LOOKED_AT).filter_map(|line| line.as_object())
}

/// Whether the file is one object with a property.
fn one(shape: Shape<'_, '_>, is: impl Fn(Object<'_>) -> bool) -> bool {
    match shape {
        Shape::One(file) => file.as_object().is_some_and(is),
        Shape::Lines(_) => false,
    }
}

/// Whether the file is an object with a property, or a list with such objects.
fn any(shape: Shape<'_, '_>, is: impl Fn(Object<'_>) -> bool) -> bool {
    match shape {
        Shape::One(file) => match file.as_list() {
            Some(list) => list.take(LOOKED_AT).filter_map(Value::as_object).any(is),
            None => file.as_object().is_some_and(is),
        },
        Shape::Lines(_) => false,
    }
}

fn has(object: Object<'_>, field: &str, kind: Kind) -> bool {
    object.field(field).is_some_and(|value| value.kind() == kind)
}

fn is_text(object: Object<'_>, field: &str, text: &str) -> bool {
    object.field(field).is_some_and(|value| value.is_string(text))
}

fn is_delta_node(node: Object<'_>) -> bool {
    has(node, "text", Kind::String) && has(node, "children", Kind::List)
}

fn is_tavern_header(line: Object<'_>) -> bool {
    let names = line.field("user_name").is_some() && line.field("character_name").is_some();
    names || line.field("chat_metadata").is_some()
}

fn is_message(message: Object<'_>) -> bool {
    has(message, "role", Kind::String) && message.last("content").is_some()
}

/// Whether a session of NextChat has a list of messages, and nothing else in it.
fn is_session(session: Object<'_>) -> bool {
    has(session, "messages", Kind::List)
        && session.items_at("messages").take(LOOKED_AT).all(|it| it.as_object().is_some_and(is_message))
}

/// Whether a line is the header of a conversation of llama.cpp's web interface.
pub(super) fn is_llama_header(line: Object<'_>) -> bool {
    let is_named = || line.text_at("harness").is_some_and(|harness| harness.starts_with("llama."));
    is_text(line, "type", "session") && (line.last("currNode").is_some() || is_named())
}

/// Whether an object is the tree of a Loomsidian note.
pub(super) fn is_note(file: Object<'_>) -> bool {
    file.field("nodes").is_some() && file.last("current").is_some() && file.field("roots").is_none()
}

/// The trees in the data file of the plugin, by the paths of their notes.
pub(super) fn notes(file: Object<'_>) -> Option<Object<'_>> {
    file.object_at("state")
}

fn has_note(notes: Object<'_>) -> bool {
    let mut all = notes.entries().take(LOOKED_AT);
    all.any(|(_, note)| note.as_object().is_some_and(is_note))
}
