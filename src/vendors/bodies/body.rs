//! The fields of a body: those that providers share, and those that the caller sets.

use std::borrow::Cow;
use std::ops::Range;

use serde_json::Value;

use super::reuse::{Span, WrittenBody};
use crate::error::DiagnosticCode;
use crate::json::JsonWriter;
use crate::tokens::models;
use crate::vendors::bodies::ids::ToolNames;
use crate::vendors::bodies::normalize::{Item, Normalized};
use crate::vendors::bodies::sink::DiagnosticSink;
use crate::vendors::bodies::target::{Provider, Target};
use crate::vendors::bodies::tool::Tool;

/// A body while it is written: the provider's fields first, then the caller's.
#[derive(Debug)]
pub(crate) struct Body<'t> {
    pub target: &'t Target,
    /// Fields of the caller that were merged elsewhere.
    pub merged: Vec<&'static str>,
    pub names: ToolNames,
    /// The fields that the caller cannot set.
    pub written: Vec<&'static str>,
    pub chat: bool,
    /// The range of the list of turns, and the system context next to it.
    list: Range<usize>,
    system: Option<String>,
    json: JsonWriter,
    spans: Vec<Span>,
}

impl<'t> Body<'t> {
    pub(crate) fn open(target: &'t Target, capacity: usize) -> Self {
        let mut json = JsonWriter::with_capacity(capacity);
        json.open_object();
        Self {
            target,
            merged: Vec::new(),
            names: ToolNames::default(),
            written: Vec::new(),
            chat: false,
            list: 0..0,
            system: None,
            json,
            spans: Vec::new(),
        }
    }

    /// Whether a chat is written, of which only the list is used.
    pub(crate) fn is_chat(&self) -> bool {
        self.chat
    }

    /// Starts a field; its value has to follow.
    pub(crate) fn field(&mut self, name: &'static str) -> &mut JsonWriter {
        self.written.push(name);
        self.json.key(name);
        &mut self.json
    }

    /// Writes the field with the turns.
    pub(crate) fn turns(
        &mut self,
        name: &'static str,
        turns: &Normalized<'_>,
        write: &mut dyn FnMut(&mut JsonWriter, &[Item<'_>]),
    ) {
        let mut spans = Vec::new();
        self.list(name, turns, |json| spans = turns.write_turns(json, write));
        self.spans = spans;
    }

    /// Like [`Self::turns`], written by a function.
    pub(crate) fn list(&mut self, name: &'static str, turns: &Normalized<'_>, write: impl FnOnce(&mut JsonWriter)) {
        let json = self.field(name);
        let start = json.len();
        json.list(write);
        self.list = start..json.len();
        if self.is_chat() {
            self.system = turns.system.as_deref().map(str::to_owned);
        }
    }

    /// The list of turns alone, and the system context next to it.
    pub(crate) fn close_chat(mut self) -> (Option<String>, Vec<u8>) {
        self.json.close_object();
        let mut json = self.json.finish();
        json.truncate(self.list.end);
        (self.system, json.split_off(self.list.start))
    }

    pub(crate) fn model(&mut self) {
        if let Some(model) = &self.target.model {
            self.field("model").string(model.as_str());
        }
    }

    pub(crate) fn number(&mut self, name: &'static str, value: u64) {
        self.field(name).raw(&value.to_string());
    }

    /// Writes the output limit. Returns whether there is one.
    pub(crate) fn max_tokens(&mut self, name: &'static str, also: &str, sink: &mut DiagnosticSink<'_>) -> bool {
        let target = self.target;
        if let Some(tokens) = target.max_tokens {
            self.number(name, tokens);
        }
        let given = target.max_tokens.is_some() || target.fields.contains_key(name);
        let other = self.renamed_limit(name, also, given, sink);
        if let Some(value) = other {
            self.field(name).value(value);
        }
        given || other.is_some()
    }

    /// Writes the output limit if the caller sets it under another name and nothing else sets it. A model may `also`
    /// accept another.
    pub(crate) fn renamed_limit(
        &mut self,
        name: &'static str,
        also: &str,
        given: bool,
        sink: &mut DiagnosticSink<'_>,
    ) -> Option<&'t Value> {
        let target = self.target;
        let mut found = None;
        for other in ["max_completion_tokens", "max_output_tokens", "maxOutputTokens", "max_tokens"] {
            let Some(value) = target.fields.get(other).filter(|_| other != name) else { continue };
            if given || found.is_some() {
                let text = format!("`target.{other}` duplicates `{name}`; it was left out");
                sink.unused_field(format!("target.{other}"), text);
            } else if other == also {
                continue;
            } else {
                let provider = target.provider.name();
                let text = format!("`{provider}` does not accept `{other}` for this model; it was renamed to `{name}`");
                sink.info(DiagnosticCode::BodyFieldRenamed, None, text);
                found = Some(value);
            }
            self.merged.push(other);
        }
        found
    }

    /// Writes the settings with the same name everywhere except Gemini.
    pub(crate) fn settings(&mut self) {
        let target = self.target;
        if let Some(temperature) = &target.temperature {
            self.field("temperature").value(temperature);
        }
        if let Some(stream) = target.stream {
            self.field("stream").raw(if stream { "true" } else { "false" });
        }
    }

    /// Writes `tools`: `write` writes those of the target, with the names of the body.
    pub(crate) fn tools(&mut self, write: impl FnOnce(&mut JsonWriter, &[Cow<'_, Value>])) {
        let tools: Vec<_> = self.target.tools.iter().map(|tool| self.names.renamed(tool)).collect();
        if !tools.is_empty() {
            self.field("tools").list(|json| write(json, &tools));
        }
    }

    /// Writes `tools` for OpenAI and Gemini Interactions: those in no provider's shape are written as functions.
    pub(crate) fn functions(&mut self, write: impl Fn(&mut JsonWriter, &Tool<'_>)) {
        self.tools(|json, tools| {
            tools.iter().for_each(|value| match Tool::neutral(value) {
                Some(tool) => json.typed("function", |json| write(json, &tool)),
                None => json.value(value),
            });
        });
    }

    /// Writes the caller's fields and the end.
    pub(crate) fn close(mut self, sink: &mut DiagnosticSink<'_>) -> WrittenBody {
        let target = self.target;
        let takes_breakpoints = match target.provider {
            Provider::Anthropic => true,
            Provider::OpenAiResponses => target.model.as_deref().is_some_and(models::takes_breakpoints),
            _ => false,
        };
        if target.cache.is_some() && !takes_breakpoints {
            let message = format!(
                "`target.cache` applies to `anthropic`, and to `openai-responses` from gpt-5.6 on; it was ignored for `{}`",
                target.provider.name()
            );
            sink.info(DiagnosticCode::BodyFieldUnused, None, message);
        }
        for (name, value) in &target.fields {
            if self.merged.contains(&name.as_str()) {
                continue;
            }
            if self.written.contains(&name.as_str()) {
                let message = format!("`target.{name}` would replace a field of the body; it was left out");
                sink.unused_field(format!("target.{name}"), message);
            } else if matches!(name.as_str(), "tool_choice" | "toolConfig" | "tool_config") {
                self.json.value_field(name, &self.names.renamed(value));
            } else {
                self.json.value_field(name, value);
            }
        }
        self.json.close_object();
        WrittenBody { bytes: self.json.finish(), spans: self.spans }
    }
}
