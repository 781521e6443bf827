//! JSON text, written straight into bytes. Nothing in between is built of a body: most of it is texts that are escaped,
//! or spans of the body before that are copied.

use serde_json::Value;

use super::escape::escape_into;
use crate::content::Role;
use crate::json;

/// Writes texts between the quotes of a JSON string. Every text of a body goes through it, so that another form of text
/// is one function here.
#[derive(Debug)]
pub(crate) struct TextWriter<'o> {
    out: &'o mut Vec<u8>,
}

impl TextWriter<'_> {
    /// Appends a text that is not escaped yet.
    pub(crate) fn plain(&mut self, text: &str) {
        escape_into(self.out, text);
    }

    /// Appends a text that is.
    pub(crate) fn escaped(&mut self, text: &str) {
        self.out.extend_from_slice(text.as_bytes());
    }
}

/// Something that can be written as a JSON string.
pub(crate) trait WriteText {
    fn write_text(&self, out: &mut TextWriter<'_>);
}

impl WriteText for str {
    fn write_text(&self, out: &mut TextWriter<'_>) {
        out.plain(self);
    }
}

/// One string of several texts.
impl WriteText for [&str] {
    fn write_text(&self, out: &mut TextWriter<'_>) {
        self.iter().for_each(|text| out.plain(text));
    }
}

/// Writes JSON. Commas are added where needed: before a key or an element that is not the first.
#[derive(Debug)]
pub(crate) struct Json {
    out: Vec<u8>,
}

impl Json {
    /// Begins the object that all is in.
    pub(crate) fn begin_object(capacity: usize) -> Self {
        let mut out = Vec::with_capacity(capacity);
        out.push(b'{');
        Self { out }
    }

    /// Ends it.
    pub(crate) fn end_object(mut self) -> Vec<u8> {
        self.out.push(b'}');
        self.out
    }

    /// An object.
    pub(crate) fn object(&mut self, write: impl FnOnce(&mut Self)) {
        self.comma();
        self.out.push(b'{');
        write(self);
        self.out.push(b'}');
    }

    /// A list.
    pub(crate) fn list(&mut self, write: impl FnOnce(&mut Self)) {
        self.comma();
        self.out.push(b'[');
        write(self);
        self.out.push(b']');
    }

    /// An object that begins with its `type`.
    pub(crate) fn typed(&mut self, kind: &str, write: impl FnOnce(&mut Self)) {
        self.object(|json| {
            json.text_field("type", kind);
            write(json);
        });
    }

    /// `{"type":"…","text":"…"}`
    pub(crate) fn text_block(&mut self, kind: &str, text: &(impl WriteText + ?Sized)) {
        self.typed(kind, |json| json.text_field("text", text));
    }

    /// `{"role":"…","content":…}`, whose content `write` has to write; all but Gemini have it.
    pub(crate) fn message(&mut self, role: Role, write: impl FnOnce(&mut Self)) {
        // Written without escaping, since there are so many messages.
        self.raw(match role {
            Role::System => r#"{"role":"system","content":"#,
            Role::Developer => r#"{"role":"developer","content":"#,
            Role::User | Role::Tool => r#"{"role":"user","content":"#,
            Role::Assistant => r#"{"role":"assistant","content":"#,
        });
        write(self);
        self.out.push(b'}');
    }

    /// A key; its value has to follow.
    pub(crate) fn key(&mut self, name: &str) {
        self.string(name);
        self.out.push(b':');
    }

    /// A string.
    pub(crate) fn string(&mut self, text: &(impl WriteText + ?Sized)) {
        self.comma();
        self.out.push(b'"');
        text.write_text(&mut TextWriter { out: &mut self.out });
        self.out.push(b'"');
    }

    /// Elements that were written before; where they begin.
    pub(crate) fn copy(&mut self, elements: &[u8]) -> usize {
        self.comma();
        let start = self.out.len();
        self.out.extend_from_slice(elements);
        start
    }

    /// How many bytes there are.
    pub(crate) fn len(&self) -> usize {
        self.out.len()
    }

    /// Where the next element begins.
    pub(crate) fn next_at(&self) -> usize {
        self.out.len() + usize::from(self.wants_comma())
    }

    /// Text that is JSON already.
    pub(crate) fn raw(&mut self, json: &str) {
        self.comma();
        self.out.extend_from_slice(json.as_bytes());
    }

    pub(crate) fn value(&mut self, value: &Value) {
        self.raw(&json::text(value));
    }

    /// A key and a string.
    pub(crate) fn text_field(&mut self, name: &str, text: &(impl WriteText + ?Sized)) {
        self.key(name);
        self.string(text);
    }

    /// A key and a value.
    pub(crate) fn value_field(&mut self, name: &str, value: &Value) {
        self.key(name);
        self.value(value);
    }

    /// A key and an object.
    pub(crate) fn object_field(&mut self, name: &str, write: impl FnOnce(&mut Self)) {
        self.key(name);
        self.object(write);
    }

    /// A key and a list.
    pub(crate) fn list_field(&mut self, name: &str, write: impl FnOnce(&mut Self)) {
        self.key(name);
        self.list(write);
    }

    /// A key and text that is JSON already.
    pub(crate) fn raw_field(&mut self, name: &str, json: &str) {
        self.key(name);
        self.raw(json);
    }

    fn comma(&mut self) {
        if self.wants_comma() {
            self.out.push(b',');
        }
    }

    fn wants_comma(&self) -> bool {
        // Strings end in a quote, so the last byte is punctuation of ours.
        !matches!(self.out.last(), None | Some(b'{' | b'[' | b':'))
    }
}
