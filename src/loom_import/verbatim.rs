//! Data for which a Loom tree has no field, as in the file. Keys to services are never included.

use serde_json::{Map, Value as Json};

use super::context::Context;
use crate::error::{DiagnosticCode, Severity};
use crate::json::{Kind, Object, Value, number};

/// Deeper data become JSON text: otherwise no other call would accept the tree.
const DEEPEST: usize = 60;

impl Context<'_> {
    /// The fields of an object except known and `null` ones, each counted as not expressed.
    pub(super) fn rest(&mut self, object: Object<'_>, known: &[&str], node: Option<&str>) -> Map<String, Json> {
        let mut rest = Map::new();
        for (key, value) in object.entries() {
            let name = key.as_text().unwrap_or_default();
            if known.contains(&&*name) || value.is_null() {
                continue;
            }
            if let Some(json) = self.kept(&name, value) {
                if !is_empty(&json) {
                    self.findings.not_expressed(&name, node);
                }
                rest.insert(name.into_owned(), json);
            }
        }
        rest
    }

    /// Reads content, and preserves these fields of an object if some of it is not expressible as blocks.
    pub(super) fn keeping<T>(
        &mut self,
        object: Object<'_>,
        fields: &[&str],
        imported: &mut Map<String, Json>,
        read: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let before = self.findings.unsupported_so_far();
        let read = read(self);
        if self.findings.unsupported_so_far() > before {
            for field in fields {
                let kept = object.field(field).and_then(|value| self.kept(field, value));
                imported.extend(kept.map(|kept| ((*field).to_owned(), kept)));
            }
        }
        read
    }

    /// Reports fields of a file outside its trees.
    pub(super) fn fields_of_file(&mut self, file: Object<'_>, known: &[&str]) {
        for (key, value) in file.entries() {
            let name = key.as_text().unwrap_or_default();
            if !known.contains(&&*name) && !value.is_null() {
                self.findings.count(
                    DiagnosticCode::ImportNotExpressed,
                    Severity::Info,
                    &format!("`{name}`, which is outside the trees, was left out"),
                    None,
                );
            }
        }
    }

    /// A preserved field of the file; `None` if it holds a key to a service.
    pub(super) fn kept(&mut self, name: &str, value: Value<'_>) -> Option<Json> {
        self.verbatim(name, value, DEEPEST)
    }

    fn verbatim(&mut self, name: &str, value: Value<'_>, levels: usize) -> Option<Json> {
        Some(match value.kind() {
            Kind::Null => Json::Null,
            Kind::Bool => (value.raw() == "true").into(),
            Kind::Number => value.as_number().filter(|it| it.is_finite()).map_or_else(|| value.raw().into(), number),
            Kind::String => {
                let text = value.as_text().unwrap_or_default();
                if !text.is_empty() && is_secret(name) {
                    let what = format!("`{name}`, which may be a key to a service, was left out");
                    self.findings.count(DiagnosticCode::ImportSecretLeftOut, Severity::Info, &what, None);
                    return None;
                }
                text.into()
            }
            Kind::List | Kind::Object if levels == 0 => {
                self.findings.unsupported("JSON that is nested very deeply, which is kept as its text", None);
                value.as_written().into()
            }
            Kind::List => {
                let items = value.as_list().into_iter().flatten();
                Json::Array(items.filter_map(|item| self.verbatim(name, item, levels.saturating_sub(1))).collect())
            }
            Kind::Object => {
                let mut map = Map::new();
                for (key, value) in value.as_object().into_iter().flat_map(Object::entries) {
                    let key = key.as_text().unwrap_or_default().into_owned();
                    if let Some(value) = self.verbatim(&key, value, levels.saturating_sub(1)) {
                        map.insert(key, value);
                    }
                }
                Json::Object(map)
            }
        })
    }
}

/// Whether a field of this name holds a secret.
fn is_secret(name: &str) -> bool {
    const ENDS: [&str; 8] =
        ["secret", "password", "authorization", "accesstoken", "authtoken", "refreshtoken", "apitoken", "privatekey"];
    if name.len() > 100 {
        return false;
    }
    let name: String = name.chars().filter(char::is_ascii_alphanumeric).map(|ch| ch.to_ascii_lowercase()).collect();
    name.contains("apikey") || ENDS.iter().any(|end| name.ends_with(end))
}

/// Whether a value is empty.
pub(super) fn is_empty(value: &Json) -> bool {
    match value {
        Json::Null | Json::Bool(false) => true,
        Json::String(text) => text.is_empty(),
        Json::Array(values) => values.is_empty(),
        Json::Object(values) => values.is_empty(),
        _ => false,
    }
}

/// Lenient access to the fields of a file's object: a value of another kind counts as absent.
pub(super) trait Lenient<'t>: Copy {
    /// A field as `JSON.parse` resolves it; `None` if it is `null`.
    fn field(self, name: &str) -> Option<Value<'t>>;

    /// A field that is a string.
    fn text_at(self, name: &str) -> Option<String> {
        self.field(name)?.as_text().map(std::borrow::Cow::into_owned)
    }

    /// An id: a string that is not empty, or a number in decimal.
    fn id_at(self, name: &str) -> Option<String> {
        self.field(name).and_then(id_of)
    }

    /// A field that is an object.
    fn object_at(self, name: &str) -> Option<Object<'t>> {
        self.field(name)?.as_object()
    }

    /// The items of a field that is a list; none for any other value.
    fn items_at(self, name: &str) -> impl Iterator<Item = Value<'t>> {
        self.field(name).and_then(Value::as_list).into_iter().flatten()
    }

    /// Whether a field is `true`.
    fn is_true(self, name: &str) -> bool {
        self.field(name).is_some_and(|value| value.kind() == Kind::Bool && value.raw() == "true")
    }
}

impl<'t> Lenient<'t> for Object<'t> {
    fn field(self, name: &str) -> Option<Value<'t>> {
        self.last(name).filter(|value| !value.is_null())
    }
}

/// A value as an id.
pub(super) fn id_of(value: Value<'_>) -> Option<String> {
    match value.kind() {
        Kind::Number => Some(value.raw().to_owned()),
        _ => value.as_text().map(std::borrow::Cow::into_owned).filter(|id| !id.is_empty()),
    }
}
