//! Rules: when one applies, by the front matter that its agent reads.

use serde_json::{Map, Value};

use crate::markdown::{FrontMatter, front_matter, lines};
use crate::yaml;

use super::patterns;
use super::preset::RuleFolder;

/// When a rule applies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    Always,
    /// When a path that matches is accessed.
    Matching(Vec<String>),
    /// When the model asks for it by its description.
    Request,
    /// When the user names it.
    Manual,
    /// It has no patterns, so it matches nothing.
    Never,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Rule {
    pub mode: Mode,
    /// The key that decided the mode, if one did.
    pub key: Option<String>,
    pub description: Option<String>,
    /// The keys of its front matter, in order.
    pub keys: Vec<String>,
    /// Byte offset of the body.
    pub body_start: usize,
    /// Why the front matter could not be read.
    pub problem: Option<String>,
}

/// Reads the front matter of a rule as its agent does.
pub(super) fn read(text: &str, folder: &RuleFolder) -> Rule {
    let (yaml, body_start) = match front_matter(text) {
        FrontMatter::Closed { yaml, body_start, .. } => (yaml, body_start),
        FrontMatter::Open | FrontMatter::Missing => ("", 0),
    };
    let (fields, problem) = if folder.by_line {
        (by_line(yaml), None)
    } else {
        match parse(yaml) {
            Ok(fields) => (fields, None),
            Err(problem) if folder.retry => match parse(&quoted(yaml)) {
                Ok(fields) => (fields, None),
                Err(_) => (Map::new(), Some(problem)),
            },
            Err(problem) => (Map::new(), Some(problem)),
        }
    };
    let (mode, key) = mode(&fields, folder);
    let description = fields.get("description").and_then(Value::as_str).map(str::to_owned);
    let keys = fields.keys().cloned().collect();
    Rule { mode, key, description, keys, body_start, problem }
}

fn parse(text: &str) -> Result<Map<String, Value>, String> {
    match yaml::read(text).map_err(|problem| problem.message)?.map(|node| node.to_json()) {
        Some(Value::Object(fields)) => Ok(fields),
        None | Some(Value::Null) => Ok(Map::new()),
        Some(_) => Err("it is no list of `key: value`".to_owned()),
    }
}

/// The YAML with the values of its lines in quotes.
fn quoted(yaml: &str) -> String {
    let mut out = String::with_capacity(yaml.len());
    for line in lines(yaml) {
        match line.text.split_once(": ") {
            Some((key, value)) if !value.trim().is_empty() && !value.trim_start().starts_with(['"', '\'']) => {
                let value = value.trim().replace('\\', "\\\\").replace('"', "\\\"");
                out.push_str(&format!("{key}: \"{value}\"\n"));
            }
            _ => {
                out.push_str(line.text);
                out.push('\n');
            }
        }
    }
    out
}

/// Front matter of lines `key: value`, the values as they are.
fn by_line(yaml: &str) -> Map<String, Value> {
    let mut fields = Map::new();
    for line in lines(yaml) {
        let Some((key, value)) = line.text.split_once(':') else { continue };
        let value = match value.trim() {
            "" => Value::Null,
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            text => Value::String(text.trim_matches(['"', '\'']).to_owned()),
        };
        fields.insert(key.trim().to_owned(), value);
    }
    fields
}

fn mode(fields: &Map<String, Value>, folder: &RuleFolder) -> (Mode, Option<String>) {
    let of = |key: &Option<String>| key.as_deref().and_then(|key| Some((fields.get(key)?, key.to_owned())));
    if let Some(inclusion) = &folder.inclusion {
        let Some(value) = fields.get(&inclusion.key) else { return (Mode::Always, None) };
        let key = Some(inclusion.key.clone());
        match value.as_str() {
            Some(value) if value == inclusion.manual => return (Mode::Manual, key),
            Some(value) if value == inclusion.request => return (Mode::Request, key),
            Some(value) if value == inclusion.matching => {}
            _ => return (Mode::Always, key),
        }
    }
    if let Some((Value::Bool(true), key)) = of(&folder.always) {
        return (Mode::Always, Some(key));
    }
    if let Some((value, key)) = of(&folder.paths) {
        match pattern_list(value, folder.one_pattern) {
            Some(list) if list.is_empty() && folder.empty_never => return (Mode::Never, Some(key)),
            Some(list) if patterns::is_always(folder.dialect, &list) => return (Mode::Always, Some(key)),
            Some(list) if !list.is_empty() => return (Mode::Matching(list), Some(key)),
            _ => {}
        }
    }
    if let Some((Value::String(_), key)) = of(&folder.request) {
        return (Mode::Request, Some(key));
    }
    (if folder.manual_without { Mode::Manual } else { Mode::Always }, None)
}

/// A list of patterns, or a text of them with commas unless it is one pattern. `None` for another type.
fn pattern_list(value: &Value, one_pattern: bool) -> Option<Vec<String>> {
    match value {
        Value::String(text) if one_pattern => {
            Some(vec![text.trim().to_owned()].into_iter().filter(|text| !text.is_empty()).collect())
        }
        Value::String(text) => Some(patterns::split(text)),
        Value::Array(items) => Some(
            items
                .iter()
                .filter_map(Value::as_str)
                .map(|text| text.trim().to_owned())
                .filter(|text| !text.is_empty())
                .collect(),
        ),
        _ => None,
    }
}
