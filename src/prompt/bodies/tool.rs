//! Definitions of tools.

use serde_json::Value;

use super::json::Json;

/// A tool definition in our shape: `{ name, description?, parameters? }` and other fields.
#[derive(Debug)]
pub(super) struct Tool<'t> {
    pub name: &'t str,
    parameters: Option<&'t Value>,
    /// Everything but name and parameters.
    pub rest: Vec<(&'t str, &'t Value)>,
}

impl<'t> Tool<'t> {
    pub(super) fn neutral(value: &'t Value) -> Option<Self> {
        let fields = value.as_object()?;
        let name = fields.get("name")?.as_str()?;
        let foreign = ["type", "input_schema", "function", "functionDeclarations"];
        if foreign.iter().any(|field| fields.contains_key(*field)) {
            return None;
        }
        let rest = fields.iter().filter(|(key, _)| *key != "name" && *key != "parameters");
        let rest = rest.map(|(key, value)| (key.as_str(), value)).collect();
        Some(Self { name, parameters: fields.get("parameters").filter(|value| !value.is_null()), rest })
    }

    /// The fields, with the name in the body and the provider's name of the parameters.
    pub(super) fn fields(&self, json: &mut Json, name: &str, parameters: &str) {
        json.text_field("name", name);
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
