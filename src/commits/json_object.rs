//! Writes JSON objects with fields that are JSON text already, such as the unknown ones of records.

/// An object that is being written.
#[derive(Debug, Default)]
pub(crate) struct JsonObject(String);

impl JsonObject {
    /// A field whose value is JSON text.
    pub(crate) fn raw(&mut self, name: &str, json: &str) {
        self.0.push(if self.0.is_empty() { '{' } else { ',' });
        self.0.push_str(&quoted(name));
        self.0.push(':');
        self.0.push_str(json);
    }

    /// Makes room, so that what is long is not copied while it grows.
    pub(crate) fn reserve(&mut self, bytes: usize) {
        self.0.reserve(bytes);
    }

    /// A list of values that are JSON text already, one after the other: it may be long.
    pub(crate) fn list(&mut self, name: &str, values: impl Iterator<Item = String>) {
        self.raw(name, "[");
        for (at, value) in values.enumerate() {
            if at > 0 {
                self.0.push(',');
            }
            self.0.push_str(&value);
        }
        self.0.push(']');
    }

    /// A text, if there is one.
    pub(crate) fn text(&mut self, name: &str, text: Option<&str>) {
        if let Some(text) = text {
            self.raw(name, &quoted(text));
        }
    }

    pub(crate) fn finish(mut self) -> String {
        self.0.push_str(if self.0.is_empty() { "{}" } else { "}" });
        self.0
    }
}

/// A list of values that are JSON text already.
pub(crate) fn list_of(values: impl Iterator<Item = String>) -> String {
    format!("[{}]", values.collect::<Vec<_>>().join(","))
}

/// A text as JSON.
pub(crate) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Writes JSON without the white space between its tokens.
pub(crate) fn write_compact(out: &mut Vec<u8>, json: &[u8]) {
    let (mut in_string, mut escaped) = (false, false);
    for &byte in json {
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
