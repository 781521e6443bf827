//! The fields of a body: those that providers share, and those that the caller gives.

use std::ops::Range;

use serde_json::Value;

use super::json::Json;
use super::normalize::{Item, Normalized};
use super::reuse::{Span, WrittenBody};
use super::sink::DiagnosticSink;
use super::target::{ONLY_CHATS, Provider, Target};
use super::tool::Tool;
use crate::error::DiagnosticCode;

/// A body while it is written: its own fields, then those that the caller gives.
#[derive(Debug)]
pub(super) struct Body<'t> {
    pub target: &'t Target,
    /// A field of the caller's that stands elsewhere.
    pub merged: Option<&'static str>,
    /// The fields that are not the caller's to give.
    pub written: Vec<&'static str>,
    pub chat: bool,
    /// Where the list of turns is, and the system context that stands beside it.
    list: Range<usize>,
    system: Option<String>,
    json: Json,
    spans: Vec<Span>,
}

impl<'t> Body<'t> {
    pub(super) fn open(target: &'t Target, room: usize) -> Self {
        Self {
            target,
            merged: None,
            written: Vec::new(),
            chat: false,
            list: 0..0,
            system: None,
            json: Json::begin_object(room),
            spans: Vec::new(),
        }
    }

    /// Whether a chat is written, of which the list alone is wanted.
    pub(super) fn is_chat(&self) -> bool {
        ONLY_CHATS || self.chat
    }

    /// Starts a field; its value has to follow.
    pub(super) fn field(&mut self, name: &'static str) -> &mut Json {
        self.written.push(name);
        self.json.key(name);
        &mut self.json
    }

    /// The field with the turns.
    pub(super) fn turns(
        &mut self,
        name: &'static str,
        turns: &Normalized<'_>,
        write: &mut dyn FnMut(&mut Json, &[Item<'_>]),
    ) {
        let mut spans = Vec::new();
        self.list(name, turns, |json| spans = turns.write_turns(json, write));
        self.spans = spans;
    }

    /// The same, written by the caller.
    pub(super) fn list(&mut self, name: &'static str, turns: &Normalized<'_>, write: impl FnOnce(&mut Json)) {
        let json = self.field(name);
        let start = json.len();
        json.list(write);
        self.list = start..json.len();
        if self.is_chat() {
            self.system = turns.system.as_deref().map(str::to_owned);
        }
    }

    /// The list of turns alone, and the system context that stands beside it.
    #[cfg(feature = "chat")]
    pub(super) fn close_chat(self) -> (Option<String>, Vec<u8>) {
        let mut json = self.json.end_object();
        json.truncate(self.list.end);
        (self.system, json.split_off(self.list.start))
    }

    pub(super) fn model(&mut self) {
        if let Some(model) = &self.target.model {
            self.field("model").string(model.as_str());
        }
    }

    pub(super) fn number(&mut self, name: &'static str, value: u64) {
        self.field(name).raw(&value.to_string());
    }

    pub(super) fn max_tokens(&mut self, name: &'static str) {
        if let Some(tokens) = self.target.max_tokens {
            self.number(name, tokens);
        }
    }

    /// Writes a field of the caller's under another name, unless the body has that already.
    pub(super) fn rename(&mut self, from: &'static str, to: &'static str, sink: &mut DiagnosticSink<'_>) {
        let Some(value) = self.target.fields.get(from) else { return };
        self.merged = Some(from);
        if self.written.contains(&to) {
            let text = format!("`target.{from}` would say again what `{to}` says; it was left out");
            return sink.unused_field(format!("target.{from}"), text);
        }
        self.field(to).value(value);
        let text = format!("this model does not take `{from}`; it is `{to}` in the body");
        sink.info(DiagnosticCode::BodyFieldRenamed, None, text);
    }

    /// The settings that have the same name everywhere but at Gemini.
    pub(super) fn settings(&mut self) {
        let target = self.target;
        if let Some(temperature) = &target.temperature {
            self.field("temperature").value(temperature);
        }
        if let Some(stream) = target.stream {
            self.field("stream").raw(if stream { "true" } else { "false" });
        }
    }

    /// `tools`, each written from its place and value.
    pub(super) fn tools(&mut self, write: impl Fn(&mut Json, usize, &Value)) {
        let tools = &self.target.tools;
        if !tools.is_empty() {
            let json = self.field("tools");
            json.list(|json| tools.iter().enumerate().for_each(|(at, value)| write(json, at, value)));
        }
    }

    /// `tools` of OpenAI: those that are in nobody's shape are written as functions.
    pub(super) fn functions(&mut self, write: impl Fn(&mut Json, &Tool<'_>)) {
        self.tools(|json, _, value| match Tool::neutral(value) {
            Some(tool) => json.typed("function", |json| write(json, &tool)),
            None => json.value(value),
        });
    }

    /// The caller's own fields, and the end.
    pub(super) fn close(mut self, sink: &mut DiagnosticSink<'_>) -> WrittenBody {
        let target = self.target;
        if target.cache.is_some() && target.provider != Provider::Anthropic {
            let message =
                format!("`target.cache` is for `anthropic` only; {} needs no breakpoints", target.provider.name());
            sink.info(DiagnosticCode::BodyFieldUnused, None, message);
        }
        for (name, value) in &target.fields {
            if self.merged == Some(name.as_str()) {
                continue;
            }
            if self.written.contains(&name.as_str()) {
                let message = format!("`target.{name}` would replace what the body already has; it was left out");
                sink.unused_field(format!("target.{name}"), message);
            } else {
                self.json.value_field(name, value);
            }
        }
        WrittenBody { bytes: self.json.end_object(), spans: self.spans }
    }
}
