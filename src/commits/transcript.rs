//! The neutral transcript: what every format reads into and writes from (SPEC §5 "Formats").

use serde_json::{Map, Value};

use crate::error::{Diagnostic, DiagnosticCode, Severity};
use crate::json::Document;
use crate::maps::SortedMap;
use crate::tokens::Counter;

/// A conversation: its turns, oldest first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Transcript {
    /// The turns.
    pub turns: Vec<Turn>,
}

/// Who a turn is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// Instructions.
    System,
    /// The human, and the results of tools.
    User,
    /// The model.
    Assistant,
}

impl Role {
    /// The name on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::User => "user",
            Self::Assistant => "assistant",
        }
    }
}

/// One turn: what one side said at once. The calls of one answer are one turn, however many records they came in.
#[derive(Clone, Debug, PartialEq)]
pub struct Turn {
    /// Who it is from.
    pub role: Role,
    /// What it says.
    pub blocks: Vec<Block>,
    /// The id that the format gave it.
    pub id: Option<String>,
    /// When it was said, as the format wrote it.
    pub timestamp: Option<String>,
    /// The model that said it.
    pub model: Option<String>,
    /// Whether it is the summary of a compaction, in place of what came before.
    pub summary: bool,
}

impl Turn {
    /// A turn that says nothing yet.
    pub fn new(role: Role) -> Self {
        Self { role, blocks: Vec::new(), id: None, timestamp: None, model: None, summary: false }
    }

    /// A turn that says a text.
    pub fn text(role: Role, text: impl Into<String>) -> Self {
        Self { blocks: vec![Block::Text(text.into())], ..Self::new(role) }
    }
}

/// A piece of a turn.
#[derive(Clone, Debug, PartialEq)]
pub enum Block {
    /// Text.
    Text(String),
    /// What the model thought.
    Reasoning {
        /// The thoughts; empty where they are sealed.
        text: String,
        /// The vendor's proof of them, or the sealed thoughts themselves. It means nothing to another vendor.
        signature: Option<String>,
        /// Whether the thoughts are sealed: `signature` holds them.
        redacted: bool,
    },
    /// A call that the model made.
    ToolCall {
        /// Pairs the call with its result.
        id: String,
        /// The tool.
        name: String,
        /// The arguments: an object, or a string for tools that take plain text.
        arguments: Value,
        /// Whether the vendor ran the tool.
        server: bool,
    },
    /// What a tool answered.
    ToolResult {
        /// The call it answers.
        call_id: String,
        /// Texts and images.
        content: Vec<Block>,
        /// Whether the tool failed.
        is_error: bool,
        /// Whether the vendor ran the tool.
        server: bool,
    },
    /// An image.
    Image(Image),
}

/// An image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// Such as `image/png`.
    pub mime_type: String,
    /// Where it is.
    pub source: ImageSource,
}

/// Where an image is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ImageSource {
    /// Here: its bytes as base64.
    Data(String),
    /// There.
    Url(String),
}

impl Image {
    /// What stands in its place where there can be no image.
    pub(crate) fn placeholder(&self) -> String {
        format!("[image: {}]", self.mime_type)
    }

    /// Reads a `data:` URL or another one.
    pub(crate) fn from_url(url: &str) -> Self {
        if let Some((mime_type, data)) = url.strip_prefix("data:").and_then(|rest| rest.split_once(";base64,")) {
            return Self { mime_type: mime_type.to_owned(), source: ImageSource::Data(data.to_owned()) };
        }
        Self { mime_type: "image/*".to_owned(), source: ImageSource::Url(url.to_owned()) }
    }

    /// The URL of it; a `data:` one where its bytes are here.
    pub(crate) fn to_url(&self) -> String {
        match &self.source {
            ImageSource::Data(data) => format!("data:{};base64,{data}", self.mime_type),
            ImageSource::Url(url) => url.clone(),
        }
    }
}

impl Transcript {
    /// How many tokens the texts of the turns are, one by one. Images and what is sealed cost nothing here.
    pub fn count(&self, counter: &dyn Counter) -> u32 {
        self.turns.iter().flat_map(|turn| &turn.blocks).fold(0, |sum, block| sum.saturating_add(count(block, counter)))
    }
}

fn count(block: &Block, counter: &dyn Counter) -> u32 {
    match block {
        Block::Text(text) | Block::Reasoning { text, .. } => counter.count(text),
        Block::ToolCall { name, arguments, .. } => {
            counter.count(name).saturating_add(counter.count(&arguments_text(arguments)))
        }
        Block::ToolResult { content, .. } => {
            content.iter().fold(0, |sum, block| sum.saturating_add(count(block, counter)))
        }
        Block::Image(_) => 0,
    }
}

/// The arguments of a call as text: JSON, or the text they are.
pub(crate) fn arguments_text(arguments: &Value) -> String {
    match arguments {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// The text of a result, with placeholders for its images.
pub(crate) fn result_text(content: &[Block]) -> String {
    let mut out = String::new();
    for (at, block) in content.iter().enumerate() {
        if at > 0 {
            out.push('\n');
        }
        match block {
            Block::Text(text) => out.push_str(text),
            Block::Image(image) => out.push_str(&image.placeholder()),
            Block::Reasoning { .. } | Block::ToolCall { .. } | Block::ToolResult { .. } => {}
        }
    }
    out
}

/// How many kinds of unknown things are told apart.
const MAX_KINDS: usize = 100;

/// How much of the name of an unknown kind is told.
const MAX_NAME: usize = 60;

/// What was found while reading or writing: findings one by one, and things of the same kind as one number.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    findings: Vec<Diagnostic>,
    kinds: SortedMap<(DiagnosticCode, String), u32>,
    place: String,
}

impl Notes {
    /// Notes about what is at `place`, which may be empty.
    pub(crate) fn at(place: &str) -> Self {
        Self { place: place.to_owned(), ..Self::default() }
    }

    /// One finding.
    pub(crate) fn find(&mut self, code: DiagnosticCode, severity: Severity, message: impl Into<String>) {
        self.push(Diagnostic::new(code, severity, message));
    }

    /// One finding that has its line.
    pub(crate) fn push(&mut self, mut finding: Diagnostic) {
        if !self.place.is_empty() {
            finding.path = Some(match finding.path.take() {
                Some(inner) => format!("{}: {inner}", self.place),
                None => self.place.clone(),
            });
        }
        self.findings.push(finding);
    }

    /// What a reader found.
    pub(crate) fn extend(&mut self, findings: Vec<Diagnostic>) {
        findings.into_iter().for_each(|finding| self.push(finding));
    }

    /// One more record or block of a kind that is not known.
    pub(crate) fn unknown(&mut self, kind: &str) {
        self.count(DiagnosticCode::UnknownRecord, kind);
    }

    /// One more thing that the target format cannot say.
    pub(crate) fn inexpressible(&mut self, what: &str) {
        self.count(DiagnosticCode::NotExpressible, what);
    }

    fn count(&mut self, code: DiagnosticCode, kind: &str) {
        let kind: String = kind.chars().take(MAX_NAME).collect();
        let key = (code, if self.kinds.len() < MAX_KINDS { kind } else { "others".to_owned() });
        let count = self.kinds.or_default(key);
        *count = count.saturating_add(1);
    }

    /// Everything, in order; counted kinds at the end.
    pub(crate) fn finish(self) -> Vec<Diagnostic> {
        let mut all = self.findings;
        for ((code, kind), count) in self.kinds {
            let things = if count == 1 { "time" } else { "times" };
            let message = match code {
                DiagnosticCode::UnknownRecord => {
                    format!("`{kind}`, {count} {things}: not known, so no part of the conversation that was read")
                }
                _ => format!("{kind}, {count} {things}: the target format has no place for it"),
            };
            let severity = if code == DiagnosticCode::UnknownRecord { Severity::Info } else { Severity::Warning };
            let finding = Diagnostic::new(code, severity, message);
            all.push(if self.place.is_empty() { finding } else { finding.at_path(self.place.clone()) });
        }
        all
    }
}

/// The text under a key.
pub(crate) fn text<'m>(map: &'m Map<String, Value>, key: &str) -> Option<&'m str> {
    map.get(key).and_then(Value::as_str)
}

/// The text under a key, owned.
pub(crate) fn owned(map: &Map<String, Value>, key: &str) -> Option<String> {
    text(map, key).map(str::to_owned)
}

/// Whether the flag under a key is set.
pub(crate) fn flag(map: &Map<String, Value>, key: &str) -> bool {
    map.get(key).and_then(Value::as_bool).unwrap_or(false)
}

/// The object under a key.
pub(crate) fn object<'m>(map: &'m Map<String, Value>, key: &str) -> Option<&'m Map<String, Value>> {
    map.get(key).and_then(Value::as_object)
}

/// The list under a key; nothing is an empty one.
pub(crate) fn list<'m>(map: &'m Map<String, Value>, key: &str) -> &'m [Value] {
    map.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// The arguments that a JSON text says; a text that is no JSON object is the arguments itself.
pub(crate) fn parse_arguments(json: &str) -> Value {
    match Document::read(json.as_bytes(), &[]).and_then(|document| document.root().to_json()) {
        Ok(value @ Value::Object(_)) => value,
        _ => Value::String(json.to_owned()),
    }
}

/// The arguments as the object that most vendors want; plain text becomes `{ "input": text }`.
pub(crate) fn arguments_object(arguments: Value) -> Value {
    match arguments {
        Value::Object(_) => arguments,
        other => object_of([("input", other)]),
    }
}

/// An object with these fields; unlike `json!` it copies none of them.
pub(crate) fn object_of<const N: usize>(fields: [(&str, Value); N]) -> Value {
    Value::Object(fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
}

/// Sets a field of an object.
pub(crate) fn set(object: &mut Value, key: &str, value: impl Into<Value>) {
    if let Value::Object(map) = object {
        map.insert(key.to_owned(), value.into());
    }
}
