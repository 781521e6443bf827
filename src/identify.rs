//! Identifies a file or a value, with evidence (docs/identify.md).
//!
//! The detectors are those of the readers: of chat messages, session files, loom files and templates. This module sets
//! their order.

use std::borrow::Cow;

use serde::Serialize;

use crate::call::{Call, Response};
use crate::chat::ChatIdentity;
use crate::commits::formats::{Format, detect_with_line};
use crate::error::Result;
use crate::folders::paths::CONTEXT_FILE_NAMES;
use crate::json::{Kind, Object, Value};
use crate::limits::{self, Limits};
use crate::loom_import::{BINARY, FileFormat, Shape, detect_with_mark, read_text};
use crate::operators::is_template;
use crate::tokens::bpe::asset::is_asset;
use crate::workspace::is_workspace_file;

/// The calls by name.
pub const CALLS: &[Call] = &[Call::new("identify", &["input", "options"], |_, request, _| identify(request))];

/// The kind of a file or value.
#[derive(Debug, Default, Serialize)]
struct Identification {
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    format: Option<&'static str>,
    /// All formats that the messages of a chat can be in.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    formats: Vec<&'static str>,
    /// The field that holds the messages or the tree; empty for the value itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    field: Option<&'static str>,
    /// Messages in a chat.
    #[serde(skip_serializing_if = "Option::is_none")]
    count: Option<usize>,
    /// The provider whose request body a chat is.
    #[serde(skip_serializing_if = "Option::is_none")]
    body: Option<&'static str>,
    evidence: Vec<Evidence>,
}

/// Evidence for the kind, and its place.
#[derive(Debug, Serialize)]
struct Evidence {
    found: Cow<'static, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
}

impl Identification {
    fn new(kind: &'static str, found: impl Into<Cow<'static, str>>) -> Self {
        let evidence = vec![Evidence { found: found.into(), path: None, line: None }];
        Self { kind, evidence, ..Self::default() }
    }

    fn with_format(self, format: &'static str) -> Self {
        Self { format: Some(format), ..self }
    }

    fn at_path(mut self, path: String) -> Self {
        self.evidence.iter_mut().for_each(|evidence| evidence.path = Some(path.clone()));
        self
    }

    fn at_line(mut self, line: u32) -> Self {
        self.evidence.iter_mut().filter(|_| line > 0).for_each(|evidence| evidence.line = Some(line));
        self
    }
}

fn identify(request: Value<'_>) -> Result<Response> {
    let arguments = request.object("arguments, an object")?;
    let options = arguments.read("options", |options| options.object("options, an object"))?;
    let path = match options {
        Some(options) => options.only(&["path"])?.string("path")?,
        None => None,
    };
    let input = arguments.get_or_null("input")?.unwrap_or(request);
    let by_path = path.as_deref().and_then(of_path);
    Response::of(&match (input.attached_bytes(), input.as_text()) {
        (Some(bytes), _) => of_bytes(bytes, by_path)?,
        (None, Some(text)) => of_text(text.as_bytes(), &text, by_path)?,
        (None, None) => by_path.unwrap_or_else(|| of_value(input)),
    })
}

/// Identifies a file by its name.
fn of_path(path: &str) -> Option<Identification> {
    let name = path.rsplit(['/', '\\']).next().unwrap_or_default();
    if CONTEXT_FILE_NAMES.contains(&name) {
        let found = Identification::new("contextFile", "the name of a context file");
        return Some(found.at_path(path.to_owned()));
    }
    is_workspace_file(path)
        .then(|| Identification::new("workspace", "the name of a file of a workspace").at_path(path.to_owned()))
}

fn of_bytes(bytes: &[u8], by_path: Option<Identification>) -> Result<Identification> {
    limits::check("inputBytes", bytes.len(), Limits::default().input_bytes)?;
    if is_asset(bytes) {
        return Ok(Identification::new("tokenizer", "the header of a vocabulary asset").with_format("ctxweave"));
    }
    if let Some((_, what)) = BINARY.iter().find(|(first, _)| bytes.starts_with(first)) {
        return Ok(Identification::new("unknown", *what));
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => of_text(bytes, text, by_path),
        Err(error) => {
            // Reads sessions in CBOR, and JSON of which a part is damaged.
            let text = String::from_utf8_lossy(bytes);
            match session(bytes) {
                Some(session) => Ok(session),
                None if text.trim_start_matches('\u{feff}').trim_start().starts_with(['{', '[']) => {
                    of_text(bytes, &text, by_path)
                }
                None => Ok(Identification::new(
                    "unknown",
                    format!("bytes that are not UTF-8, at byte {}", error.valid_up_to()),
                )),
            }
        }
    }
}

fn of_text(bytes: &[u8], text: &str, by_path: Option<Identification>) -> Result<Identification> {
    limits::check("inputBytes", bytes.len(), Limits::default().input_bytes)?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.contains('\0') {
        return Ok(Identification::new("unknown", "NUL characters"));
    }
    if let Some(by_path) = by_path {
        return Ok(by_path);
    }
    let start = text.trim_start();
    if start.is_empty() {
        return Ok(Identification::new("unknown", "nothing but white space"));
    }
    if start.starts_with('<') && is_template(text) {
        return Ok(Identification::new("template", "the root element `task`"));
    }
    if !start.starts_with(['{', '[', '"']) {
        return Ok(Identification::new("text", "text without another shape"));
    }
    let depth = Limits::default().file_depth;
    if let Some(session) = session(bytes) {
        // llama.cpp's web interface writes trees in lines that are also sessions for Hugging Face.
        let may_be_tree = session.format == Some(Format::Sts.name());
        let tree = may_be_tree.then(|| read_text(text, depth, &mut Vec::new(), |shape| Ok(loom_file(shape))));
        let tree = tree.and_then(|tree| tree.ok().flatten());
        return Ok(tree.filter(|tree| tree.format == Some(FileFormat::LlamaCpp.name())).unwrap_or(session));
    }
    let read = read_text(text, depth, &mut Vec::new(), |shape| {
        Ok(match shape {
            Shape::One(value) => of_json(value),
            Shape::Lines(_) => {
                loom_file(shape).unwrap_or_else(|| Identification::new("unknown", "JSON lines of no known shape"))
            }
        })
    });
    let is_json = start.starts_with("{\"") || start.starts_with(['[', '{']) && begins_json(start);
    Ok(match read {
        Ok(found) => found,
        Err(error) if is_json => Identification::new("unknown", format!("damaged JSON: {}", error.message())),
        Err(_) => Identification::new("text", "text without another shape"),
    })
}

/// Whether the first bracket of a text is followed by what JSON may have there.
fn begins_json(text: &str) -> bool {
    let mut rest = text.chars().skip(1).filter(|ch| !ch.is_ascii_whitespace());
    matches!(rest.next(), None | Some('"' | '{' | '[' | '}' | ']'))
}

fn session(bytes: &[u8]) -> Option<Identification> {
    let (format, line) = detect_with_line(bytes)?;
    Some(Identification::new("session", "a record of the conversation").with_format(format.name()).at_line(line))
}

/// Identifies a value that was passed as such, not in a file.
fn of_value(value: Value<'_>) -> Identification {
    let json = (value.kind() == Kind::Object).then(|| value.json());
    match json.and_then(|json| session(json.as_bytes())) {
        Some(session) => session,
        None => of_json(value),
    }
}

/// Identifies a JSON value that is not a session.
fn of_json(value: Value<'_>) -> Identification {
    let named = value.as_object().and_then(of_fields).or_else(|| of_paths(value)).or_else(|| of_chat(value));
    named
        .or_else(|| loom_file(Shape::One(value)))
        .unwrap_or_else(|| Identification::new("unknown", "JSON of no known shape"))
}

fn of_fields(object: Object<'_>) -> Option<Identification> {
    let has_tree = |object: Object<'_>| {
        let is_list = |name| object.last(name).is_some_and(|value| value.kind() == Kind::List);
        is_list("nodes") && is_list("edges")
    };
    let tree =
        |field| Identification { field: Some(field), ..Identification::new("tree", "lists of `nodes` and `edges`") };
    if has_tree(object) {
        return Some(tree(""));
    }
    if object.last("tree").and_then(Value::as_object).is_some_and(has_tree) {
        return Some(tree("tree"));
    }
    let model = object.last("model").and_then(Value::as_object);
    if model.is_some_and(|model| model.last("vocab").is_some()) {
        return Some(
            Identification::new("tokenizer", "a `vocab`").with_format("huggingface").at_path("model.vocab".to_owned()),
        );
    }
    let has_tastes =
        object.last("tastes").and_then(Value::as_object).is_some_and(|tastes| tastes.last("genres").is_some());
    let files = ["brief", "notes", "log", "gaps"].iter().filter(|name| object.last(name).is_some()).count();
    (has_tastes || files > 1).then(|| Identification::new("workspace", "the files of a workspace, as fields"))
}

/// A list of paths, or of files with a `path`.
fn of_paths(value: Value<'_>) -> Option<Identification> {
    value.as_list()?.find_map(|item| {
        let path = item.as_object().map_or(Some(item), |file| file.last("path"))?;
        of_path(&path.as_text()?)
    })
}

fn of_chat(value: Value<'_>) -> Option<Identification> {
    let chat = ChatIdentity::of(value)?;
    let place = format!("{}[{}]", chat.field, chat.decided_by);
    Some(Identification {
        formats: chat.formats.iter().map(|format| format.name()).collect(),
        field: Some(chat.field),
        count: Some(chat.count),
        body: chat.body,
        ..Identification::new("chat", "the first message that determines the format")
            .with_format(chat.format.name())
            .at_path(place)
    })
}

fn loom_file(shape: Shape<'_, '_>) -> Option<Identification> {
    let (format, mark) = detect_with_mark(shape)?;
    Some(Identification::new("loomFile", mark).with_format(format.name()))
}
