//! Writes JSON text piece by piece: for results that are large, copied in part, or have fields that are JSON text
//! already. Values are written by serde (`write.rs`), with the same bytes.

use serde::Serialize;

use super::escape::escape_into;
use super::write::append;

/// Writes texts inside the quotes of a JSON string. Every text goes through it, so that another form of text needs one
/// function here.
#[derive(Debug)]
pub(crate) struct TextWriter<'o> {
    out: &'o mut Vec<u8>,
}

impl TextWriter<'_> {
    /// Appends an unescaped text.
    pub(crate) fn plain(&mut self, text: &str) {
        escape_into(self.out, text);
    }

    /// Appends an escaped text.
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

/// Several texts as one string.
impl WriteText for [&str] {
    fn write_text(&self, out: &mut TextWriter<'_>) {
        self.iter().for_each(|text| out.plain(text));
    }
}

/// Writes JSON. Commas are added where needed: before a key or an element that is not the first.
#[derive(Debug, Default)]
pub(crate) struct JsonWriter {
    out: Vec<u8>,
}

impl JsonWriter {
    /// A writer with this capacity.
    pub(crate) fn with_capacity(bytes: usize) -> Self {
        Self { out: Vec::with_capacity(bytes) }
    }

    /// A writer that appends lines to `out`.
    pub(crate) fn after_lines(out: Vec<u8>) -> Self {
        Self { out }
    }

    /// The written bytes.
    pub(crate) fn finish(self) -> Vec<u8> {
        self.out
    }

    /// The written text.
    pub(crate) fn finish_text(self) -> String {
        String::from_utf8(self.out).unwrap_or_default()
    }

    /// Begins an object, for levels that a loop opens and closes. [`Self::object`] also ends it.
    pub(crate) fn open_object(&mut self) {
        self.comma();
        self.out.push(b'{');
    }

    /// Ends the innermost object.
    pub(crate) fn close_object(&mut self) {
        self.out.push(b'}');
    }

    /// Begins a list.
    pub(crate) fn open_list(&mut self) {
        self.comma();
        self.out.push(b'[');
    }

    /// Ends the innermost list.
    pub(crate) fn close_list(&mut self) {
        self.out.push(b']');
    }

    /// Writes an object.
    pub(crate) fn object(&mut self, write: impl FnOnce(&mut Self)) {
        self.open_object();
        write(self);
        self.close_object();
    }

    /// Writes a list.
    pub(crate) fn list(&mut self, write: impl FnOnce(&mut Self)) {
        self.open_list();
        write(self);
        self.close_list();
    }

    /// Writes an object that begins with its `type`.
    pub(crate) fn typed(&mut self, kind: &str, write: impl FnOnce(&mut Self)) {
        self.object(|json| {
            json.text_field("type", kind);
            write(json);
        });
    }

    /// Writes `{"type":"…","text":"…"}`.
    pub(crate) fn text_block(&mut self, kind: &str, text: &(impl WriteText + ?Sized)) {
        self.typed(kind, |json| json.text_field("text", text));
    }

    /// Writes a key; its value has to follow.
    pub(crate) fn key(&mut self, name: &str) {
        self.string(name);
        self.out.push(b':');
    }

    /// Writes a string.
    pub(crate) fn string(&mut self, text: &(impl WriteText + ?Sized)) {
        self.comma();
        self.out.push(b'"');
        text.write_text(&mut TextWriter { out: &mut self.out });
        self.out.push(b'"');
    }

    /// Writes JSON in UTF-8, one value or the elements of a list; returns its place.
    pub(crate) fn copy(&mut self, json: &[u8]) -> usize {
        self.comma();
        let start = self.out.len();
        self.out.extend_from_slice(json);
        start
    }

    /// The number of bytes written.
    pub(crate) fn len(&self) -> usize {
        self.out.len()
    }

    /// The place of the next element.
    pub(crate) fn next_at(&self) -> usize {
        self.out.len() + usize::from(self.wants_comma())
    }

    /// Writes text that is JSON already.
    pub(crate) fn raw(&mut self, json: &str) {
        self.comma();
        self.out.extend_from_slice(json.as_bytes());
    }

    /// Writes a value with serde.
    pub(crate) fn value<T: Serialize + ?Sized>(&mut self, value: &T) {
        self.comma();
        append(&mut self.out, value).unwrap_or_default();
    }

    /// Writes a key and a string.
    pub(crate) fn text_field(&mut self, name: &str, text: &(impl WriteText + ?Sized)) {
        self.key(name);
        self.string(text);
    }

    /// Writes a key and a string, if present.
    pub(crate) fn optional_text_field(&mut self, name: &str, text: Option<&str>) {
        if let Some(text) = text {
            self.text_field(name, text);
        }
    }

    /// Writes a key and a value.
    pub(crate) fn value_field<T: Serialize + ?Sized>(&mut self, name: &str, value: &T) {
        self.key(name);
        self.value(value);
    }

    /// Writes a key and an object.
    pub(crate) fn object_field(&mut self, name: &str, write: impl FnOnce(&mut Self)) {
        self.key(name);
        self.object(write);
    }

    /// Writes a key and a list.
    pub(crate) fn list_field(&mut self, name: &str, write: impl FnOnce(&mut Self)) {
        self.key(name);
        self.list(write);
    }

    /// Writes JSON text without the white space between its tokens.
    pub(crate) fn compact(&mut self, json: &str) {
        self.comma();
        append_compact(&mut self.out, json);
    }

    /// Writes a key and text that is JSON already.
    pub(crate) fn raw_field(&mut self, name: &str, json: &str) {
        self.key(name);
        self.raw(json);
    }

    /// Ends a line of JSONL.
    pub(crate) fn end_line(&mut self) {
        self.out.push(b'\n');
    }

    fn comma(&mut self) {
        if self.wants_comma() {
            self.out.push(b',');
        }
    }

    fn wants_comma(&self) -> bool {
        // Strings end in a quote, so the last byte is punctuation of the writer. A line end separates documents.
        !matches!(self.out.last(), None | Some(b'{' | b'[' | b':' | b'\n'))
    }
}

/// Appends JSON without the white space between its tokens.
pub(crate) fn append_compact(out: &mut Vec<u8>, json: &str) {
    let (mut in_string, mut escaped) = (false, false);
    for &byte in json.as_bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b' ' | b'\t' | b'\r' | b'\n' if !in_string => continue,
            _ => {}
        }
        out.push(byte);
    }
}
