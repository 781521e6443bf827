//! Shared by Gemini's two interfaces.

use serde_json::{Map, Value};

use crate::vendors::bodies::body::Body;
use crate::vendors::bodies::ids::IdRule;
use crate::vendors::bodies::sink::DiagnosticSink;

/// The rule for names of functions.
pub(crate) const TOOL_NAME: IdRule = IdRule { longest: 128, others: Some(".:"), letter_first: true };

/// The names of the settings of a request.
pub(crate) struct ConfigNames {
    /// The field with all settings.
    pub field: &'static str,
    /// The output limit in it.
    pub limit: &'static str,
    /// The path of the output limit.
    pub limit_path: &'static str,
}

/// Writes the settings, and the other ones that the caller sets in the same field.
pub(crate) fn generation_config(body: &mut Body<'_>, names: &ConfigNames, sink: &mut DiagnosticSink<'_>) {
    let ConfigNames { field, limit, limit_path } = *names;
    let target = body.target;
    let mut config = Map::new();
    if let Some(tokens) = target.max_tokens {
        config.insert(limit.to_owned(), tokens.into());
    }
    if let Some(temperature) = &target.temperature {
        config.insert("temperature".to_owned(), temperature.clone());
    }
    let given = target.fields.get(field);
    let is_limited = target.max_tokens.is_some() || given.is_some_and(|given| given.get(limit).is_some());
    if let Some(tokens) = body.renamed_limit(limit_path, "", is_limited, sink) {
        config.insert(limit.to_owned(), tokens.clone());
    }
    match given {
        Some(Value::Object(given)) => {
            for (name, value) in given {
                if config.contains_key(name) {
                    let path = format!("target.{field}.{name}");
                    let text = format!("`{path}` duplicates a field of `target`; it was left out");
                    sink.unused_field(path, text);
                } else if name == "tool_choice" {
                    config.insert(name.clone(), body.names.renamed(value).into_owned());
                } else {
                    config.insert(name.clone(), value.clone());
                }
            }
        }
        // A value other than an object is passed through, unless it would replace the settings.
        Some(_) if !config.is_empty() => {
            let text = format!(
                "`target.{field}` is not an object and would replace other fields of `target`; it was left out"
            );
            sink.unused_field(format!("target.{field}"), text);
        }
        _ => {}
    }
    if !config.is_empty() {
        body.field(field).value(&Value::Object(config));
        body.merged.push(field);
    }
}
