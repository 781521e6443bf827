//! The YAML of front matter: values with their places, from the events of saphyr-parser.
//!
//! Depth is limited, and so is the expansion of aliases.

use saphyr_parser::{Event, Parser, ScalarStyle, Tag};
use serde_json::{Map, Value};

use crate::json;
use crate::maps::SortedMap;

const DEPTH_MAX: usize = 32;
const NODES_MAX: usize = 20_000;

/// A value and its place.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub kind: Kind,
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// Number of nodes in it, including itself.
    size: usize,
}

#[derive(Clone, Debug)]
pub(crate) enum Kind {
    /// A resolved scalar: null, true, a number, a string.
    Scalar(Value),
    /// A scalar with an unknown tag.
    Tagged,
    List(Vec<Node>),
    Map(Vec<(Node, Node)>),
}

#[derive(Debug)]
pub(crate) struct Problem {
    pub message: String,
    pub line: usize,
    pub column: usize,
}

impl Node {
    pub(crate) fn as_str(&self) -> Option<&str> {
        match &self.kind {
            Kind::Scalar(Value::String(text)) => Some(text),
            _ => None,
        }
    }

    /// The value as JSON; keys become text.
    pub(crate) fn to_json(&self) -> Value {
        match &self.kind {
            Kind::Scalar(value) => value.clone(),
            Kind::Tagged => Value::Null,
            Kind::List(items) => items.iter().map(Self::to_json).collect(),
            Kind::Map(entries) => {
                let mut object = Map::new();
                for (key, value) in entries {
                    object.insert(key.key(), value.to_json());
                }
                Value::Object(object)
            }
        }
    }

    fn key(&self) -> String {
        self.as_str().map_or_else(|| self.to_json().to_string(), str::to_owned)
    }
}

/// A list or a map that has not ended.
struct Open {
    node: Node,
    anchor: usize,
    /// The key whose value has not been read.
    key: Option<Node>,
}

/// Parses the document, if there is one.
pub(crate) fn read(text: &str) -> Result<Option<Node>, Problem> {
    let mut open: Vec<Open> = Vec::new();
    let mut anchors: SortedMap<usize, Node> = SortedMap::new();
    let mut root: Option<Node> = None;
    let mut nodes = 0_usize;
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| Problem {
            message: error.info().trim_end_matches('.').to_owned(),
            line: error.marker().line(),
            column: error.marker().col().saturating_add(1),
        })?;
        let (line, column) = (span.start.line(), span.start.col().saturating_add(1));
        let problem = |message: &str| Problem { message: message.to_owned(), line, column };
        let node = |kind| Node { kind, line, column, size: 1 };
        let (done, anchor) = match event {
            Event::Scalar(text, style, anchor, tag) => (node(scalar(&text, style, tag.as_deref())), anchor),
            Event::Alias(id) => {
                let known = anchors.get(&id).ok_or_else(|| problem("an alias is inside the anchor it refers to"))?;
                (Node { line, column, ..known.clone() }, 0)
            }
            Event::SequenceStart(anchor, _) | Event::MappingStart(anchor, _) if open.len() >= DEPTH_MAX => {
                let _ = anchor;
                return Err(problem("it is nested too deep"));
            }
            Event::SequenceStart(anchor, _) => {
                open.push(Open { node: node(Kind::List(Vec::new())), anchor, key: None });
                continue;
            }
            Event::MappingStart(anchor, _) => {
                open.push(Open { node: node(Kind::Map(Vec::new())), anchor, key: None });
                continue;
            }
            Event::SequenceEnd | Event::MappingEnd => match open.pop() {
                Some(Open { node, anchor, .. }) => (node, anchor),
                None => continue,
            },
            Event::DocumentStart(_) if root.is_some() => return Err(problem("more than one document")),
            _ => continue,
        };
        nodes = nodes.saturating_add(done.size);
        if nodes > NODES_MAX {
            return Err(problem("its aliases expand to too much"));
        }
        if anchor != 0 {
            anchors.insert(anchor, done.clone());
        }
        match open.last_mut() {
            None => root = Some(done),
            Some(parent) => add(parent, done)?,
        }
    }
    Ok(root)
}

fn add(parent: &mut Open, child: Node) -> Result<(), Problem> {
    parent.node.size = parent.node.size.saturating_add(child.size);
    match (&mut parent.node.kind, parent.key.take()) {
        (Kind::List(items), _) => items.push(child),
        (Kind::Map(_), None) => parent.key = Some(child),
        (Kind::Map(entries), Some(key)) => {
            let name = key.key();
            if entries.iter().any(|(other, _)| other.key() == name) {
                let message = format!("duplicate key `{name}`");
                return Err(Problem { message, line: key.line, column: key.column });
            }
            entries.push((key, child));
        }
        (Kind::Scalar(_) | Kind::Tagged, _) => {}
    }
    Ok(())
}

fn scalar(text: &str, style: ScalarStyle, tag: Option<&Tag>) -> Kind {
    match tag {
        Some(tag) if tag.is_yaml_core_schema() && tag.suffix == "str" => Kind::Scalar(Value::String(text.to_owned())),
        Some(tag) if !tag.is_yaml_core_schema() => Kind::Tagged,
        _ if style == ScalarStyle::Plain => Kind::Scalar(plain(text)),
        _ => Kind::Scalar(Value::String(text.to_owned())),
    }
}

/// The type of a plain scalar in YAML's core schema.
fn plain(text: &str) -> Value {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Value::Null,
        "true" | "True" | "TRUE" => return Value::Bool(true),
        "false" | "False" | "FALSE" => return Value::Bool(false),
        _ => {}
    }
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let numeric = digits.starts_with(|ch: char| ch.is_ascii_digit() || ch == '.')
        && digits.contains(|ch: char| ch.is_ascii_digit())
        && digits.chars().all(|ch| ch.is_ascii_digit() || matches!(ch, '.' | 'e' | 'E' | '-' | '+'));
    match json::float(text).filter(|number| numeric && number.is_finite()) {
        Some(number) => json::number(number),
        None => Value::String(text.to_owned()),
    }
}

#[cfg(test)]
#[path = "../tests/unit/yaml.rs"]
mod tests;
