//! The JSON of a tree beyond the model. The tree keeps it and returns it with its nodes and edges: entities may hold
//! unknown fields.

use serde_json::{Map, Value as Json};

use crate::error::Result;
use crate::json::{self, Document, Kind, Object, Value};
use crate::loom::read;

/// The form of an entity's JSON, and the fields that the model does not name. Of content blocks, edge sources and
/// preferences, only fields of the model are kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Extra {
    /// Bits for the choice between equivalent forms of the JSON.
    form: u32,
    /// The other fields, an object as JSON text.
    fields: Option<Box<str>>,
}

/// The content is one text, written as a block.
const TEXT_BLOCK: u32 = 1;
/// The content is a mixed block although it holds one block.
const MIXED: u32 = 1 << 1;

/// The edge states that it is a continuation.
const KIND: u32 = 1 << 31;
/// Bits for sources that state that they are primary; later sources have no bits.
const SOURCES: usize = 31;

/// The tree states that it is a dialogue.
const MODE: u32 = 1;
/// The tree states that buffers have no system context.
const BUFFER_CONTEXT: u32 = 1 << 1;
/// The tree has an explicit empty preferences object.
const PREFERENCES: u32 = 1 << 2;

/// Settings that a tree may state although they are the default.
const SAID: [(&str, u32); 3] =
    [("mode", MODE), ("bufferModeSystemContext", BUFFER_CONTEXT), ("preferences", PREFERENCES)];

/// The form of a single text or a single block in the JSON of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ContentForm {
    /// A text is a string, a single block is an object, several are a mixed block.
    Plain,
    /// The one text is a block.
    TextBlock,
    /// The single block is in a mixed one.
    Mixed,
}

impl Extra {
    /// The extra data of a value that is known to be a node.
    pub(super) fn of_node(value: Value<'_>) -> Result<Self> {
        let mut extra = Self::default();
        let mut rest = Map::new();
        for (key, value) in value.object("a node, an object")?.entries() {
            let name = key.as_text().unwrap_or_default();
            match &*name {
                "content" => extra.form = content_form(value),
                "metadata" if !value.is_null() => {
                    let mut inner = Map::new();
                    let mut has_value = false;
                    for (key, value) in value.object("node metadata, an object")?.entries() {
                        let name = key.as_text().unwrap_or_default();
                        if matches!(&*name, "excluded" | "pruned") && value.bool().unwrap_or_default() {
                            has_value = true;
                        } else {
                            keep(&mut inner, &name, value);
                        }
                    }
                    if !has_value || !inner.is_empty() {
                        rest.insert(METADATA.to_owned(), Json::Object(inner));
                    }
                }
                "id" | "authorType" | "localId" | "authorAgentId" | "createdAt" | "editedFrom" if !value.is_null() => {}
                _ => keep(&mut rest, &name, value),
            }
        }
        Ok(extra.with(rest))
    }

    /// The extra data of a value that is known to be an edge.
    pub(super) fn of_edge(value: Value<'_>) -> Result<Self> {
        let mut extra = Self::default();
        let mut rest = Map::new();
        for (key, value) in value.object("an edge, an object")?.entries() {
            let name = key.as_text().unwrap_or_default();
            match &*name {
                "sources" => {
                    for (at, source) in value.list("a list of edge sources")?.enumerate().take(SOURCES) {
                        let role = source.object("an edge source, an object")?.get("role")?;
                        extra.form |= u32::from(role.is_some()) << at;
                    }
                }
                "edgeType" if !value.is_null() => extra.form |= KIND,
                "id" | "targetNodeId" => {}
                _ => keep(&mut rest, &name, value),
            }
        }
        Ok(extra.with(rest))
    }

    /// The extra data of a tree itself.
    pub(super) fn of_tree(fields: Object<'_>) -> Self {
        let mut extra = Self::default();
        let mut rest = Map::new();
        for (key, value) in fields.entries() {
            let name = key.as_text().unwrap_or_default();
            match SAID.iter().find(|(said, _)| *said == name) {
                Some((_, form)) => extra.form |= if value.is_null() { 0 } else { *form },
                None if !is_known(&name) => keep(&mut rest, &name, value),
                None => {}
            }
        }
        extra.with(rest)
    }

    /// The extra data of a tree after a change of settings: stated settings are added, `null` ones removed. `fields`
    /// replaces all fields that the model does not name.
    pub(super) fn restate(&mut self, given: Object<'_>) -> Result<()> {
        for (name, form) in SAID {
            match read::given(given, name)? {
                None => {}
                Some(None) => self.form &= !form,
                Some(Some(_)) => self.form |= form,
            }
        }
        if let Some(fields) = read::given(given, "fields")? {
            let fields = fields.map(|fields| fields.object("fields of the tree, an object")).transpose()?;
            let mut entries = fields.into_iter().flat_map(Object::entries);
            if let Some((_, value)) = entries.find(|(name, _)| is_known(&name.as_text().unwrap_or_default())) {
                return Err(value.mismatch("absent here: it is not a field of the host"));
            }
            self.fields = fields.and_then(|fields| Self::of_tree(fields).fields);
        }
        Ok(())
    }

    fn with(self, rest: Map<String, Json>) -> Self {
        Self { fields: (!rest.is_empty()).then(|| json::text(&rest).into()), ..self }
    }

    /// The other fields.
    pub(super) fn fields(&self) -> Map<String, Json> {
        let read = |text: &str| {
            let document = Document::read(text.as_bytes(), &[]).ok()?;
            let document: &Document<'_> = &document;
            document.root().to_json().ok()
        };
        let Some(Json::Object(fields)) = self.fields.as_deref().and_then(read) else { return Map::new() };
        fields
    }

    /// The other fields of a node, with those of its metadata separate.
    pub(super) fn node_fields(&self) -> (Map<String, Json>, Option<Map<String, Json>>) {
        let mut fields = self.fields();
        match fields.shift_remove(METADATA) {
            Some(Json::Object(metadata)) => (fields, Some(metadata)),
            Some(other) => {
                fields.insert(METADATA.to_owned(), other);
                (fields, None)
            }
            None => (fields, None),
        }
    }

    /// Whether there are any other fields.
    pub(super) fn has_fields(&self) -> bool {
        self.fields.is_some()
    }

    pub(super) fn content_form(&self) -> ContentForm {
        match self.form {
            form if form & TEXT_BLOCK > 0 => ContentForm::TextBlock,
            form if form & MIXED > 0 => ContentForm::Mixed,
            _ => ContentForm::Plain,
        }
    }

    pub(super) fn has_kind(&self) -> bool {
        self.form & KIND > 0
    }

    /// Whether the source at an index states that it is primary.
    pub(super) fn has_role(&self, at: usize) -> bool {
        at < SOURCES && self.form & (1 << at) > 0
    }

    /// The extra data of an edge with only some of its sources.
    pub(super) fn with_sources(&self, stay: impl Iterator<Item = bool>) -> Self {
        let left = stay.enumerate().filter(|(_, stays)| *stays).map(|(at, _)| self.has_role(at));
        let roles = left.take(SOURCES).enumerate().fold(0, |form, (at, has_role)| form | u32::from(has_role) << at);
        Self { form: self.form & KIND | roles, fields: self.fields.clone() }
    }

    pub(super) fn has_mode(&self) -> bool {
        self.form & MODE > 0
    }

    pub(super) fn has_buffer_context(&self) -> bool {
        self.form & BUFFER_CONTEXT > 0
    }

    pub(super) fn has_preferences(&self) -> bool {
        self.form & PREFERENCES > 0
    }
}

const METADATA: &str = "metadata";

/// Whether the model of a tree has a field of this name.
fn is_known(name: &str) -> bool {
    matches!(name, "nodes" | "edges") || read::TREE_SETTINGS.contains(&name)
}

/// Values that JSON cannot represent are dropped.
fn keep(rest: &mut Map<String, Json>, name: &str, value: Value<'_>) {
    if let Ok(value) = value.to_json() {
        rest.insert(name.to_owned(), value);
    }
}

fn content_form(content: Value<'_>) -> u32 {
    if content.kind() != Kind::Object {
        return 0;
    }
    let Some(fields) = content.plain_object() else { return 0 };
    let kind = fields.last("type");
    let is = |name: &str| kind.is_some_and(|kind| kind.is_string(name));
    let blocks = || fields.last("blocks").and_then(|blocks| blocks.as_list());
    match () {
        () if is("text") => TEXT_BLOCK,
        () if is("mixed") && blocks().is_some_and(|blocks| blocks.len() == 1) => MIXED,
        () => 0,
    }
}

/// The extra data of a list of nodes or edges that were read.
pub(super) fn extras<'t>(
    fields: Object<'t>,
    name: &str,
    of: impl Fn(Value<'t>) -> Result<Extra>,
) -> Result<Vec<Extra>> {
    fields.get(name)?.map_or_else(|| Ok(Vec::new()), |list| list.list("a list")?.read(of))
}

/// The extra data of all nodes or edges, by slot. Takes no memory if all are empty.
#[derive(Clone, Debug, Default)]
pub(super) struct Extras(Vec<Extra>);

impl Extras {
    /// The extra data of a list, in the order of slots.
    pub(super) fn of(list: Vec<Extra>) -> Self {
        if list.iter().all(|extra| *extra == Extra::default()) { Self::default() } else { Self(list) }
    }

    pub(super) fn get(&self, place: u32) -> &Extra {
        const NONE: &Extra = &Extra { form: 0, fields: None };
        self.0.get(place as usize).unwrap_or(NONE)
    }

    pub(super) fn set(&mut self, place: u32, extra: Extra) {
        let at = place as usize;
        if at >= self.0.len() {
            if extra == Extra::default() {
                return;
            }
            self.0.resize(at + 1, Extra::default());
        }
        if let Some(here) = self.0.get_mut(at) {
            *here = extra;
        }
    }
}
