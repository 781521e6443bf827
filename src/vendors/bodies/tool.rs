//! Definitions of tools, and the choice of one.

use serde_json::{Map, Value};

use crate::json::JsonWriter;
use crate::text::whole_number;

/// A tool definition in this crate's shape: `{ name, description?, parameters? }` and other fields.
#[derive(Debug)]
pub(crate) struct Tool<'t> {
    name: &'t str,
    parameters: Option<&'t Value>,
    /// Everything except name and parameters.
    pub rest: Vec<(&'t str, &'t Value)>,
}

impl<'t> Tool<'t> {
    pub(crate) fn neutral(value: &'t Value) -> Option<Self> {
        let fields = value.as_object()?;
        let name = fields.get("name")?.as_str()?;
        let foreign = ["type", "input_schema", "function", "functionDeclarations"];
        if foreign.iter().any(|field| fields.contains_key(*field)) {
            return None;
        }
        let rest = fields.iter().filter(|(key, _)| *key != "name" && *key != "parameters");
        let rest = rest.map(|(key, value)| (key.as_str(), value)).collect();
        Some(Self { name, parameters: fields.get("parameters").filter(|value| !is_empty(value)), rest })
    }

    /// The fields, with the provider's name of the parameters.
    pub(crate) fn fields(&self, json: &mut JsonWriter, parameters: &str) {
        json.text_field("name", self.name);
        for (name, value) in &self.rest {
            json.value_field(name, value);
        }
        json.key(parameters);
        match self.parameters {
            Some(schema) => json.value(schema),
            None => json.raw(r#"{"type":"object","properties":{}}"#),
        }
    }
}

/// Whether a schema is empty; every provider requires one of an object.
fn is_empty(schema: &Value) -> bool {
    schema.is_null() || schema.as_object().is_some_and(Map::is_empty)
}

/// The names of functions in a definition or a choice, in any vendor's shape, each with its place, a JSON pointer.
/// Tools that the provider runs have a special type and keep their names.
pub(crate) fn names(value: &Value) -> Vec<(String, &str)> {
    let mut found = Vec::new();
    find_names(value, String::new(), &mut found);
    found
}

/// The value at a place found by [`names`]. `Value::pointer_mut` unescapes each step with the search of the standard
/// library.
pub(crate) fn at_mut<'v>(value: &'v mut Value, place: &str) -> Option<&'v mut Value> {
    place.split('/').skip(1).try_fold(value, |value, step| match value {
        Value::Object(fields) => fields.get_mut(step),
        Value::Array(values) => values.get_mut(whole_number(step)? as usize),
        _ => None,
    })
}

fn find_names<'v>(value: &'v Value, at: String, found: &mut Vec<(String, &'v str)>) {
    match value {
        Value::String(name) => found.push((at, name)),
        Value::Array(values) => {
            values.iter().enumerate().for_each(|(number, value)| find_names(value, format!("{at}/{number}"), found));
        }
        Value::Object(fields) => {
            let kind = fields.get("type").map(|kind| kind.as_str().unwrap_or_default());
            if kind.is_some_and(|kind| !matches!(kind, "function" | "custom" | "tool" | "allowed_tools")) {
                return;
            }
            for (key, value) in fields {
                let has_names = match key.as_str() {
                    "name" => value.is_string(),
                    "function" | "custom" | "allowed_tools" => value.is_object(),
                    "functionCallingConfig" | "function_calling_config" => value.is_object(),
                    "tools" | "functionDeclarations" | "function_declarations" => value.is_array(),
                    "allowedFunctionNames" | "allowed_function_names" => value.is_array(),
                    _ => false,
                };
                if has_names {
                    find_names(value, format!("{at}/{key}"), found);
                }
            }
        }
        _ => {}
    }
}
