//! The calls of this area: requests read from JSON, results written as JSON.

use super::convert::{convert_messages, to_loom_tree};
use super::options::{FitOptions, Phase, RequestFields};
use super::request::ChatRequest;
use crate::call::{Call, CallContext, Response};
use crate::error::Result;
use crate::json::Value;
use crate::vendors::openai_chat::body::limit_fields;

/// The calls by name.
pub const CALLS: &[Call] = &[
    Call::new("fitMessages", &["messages", "options", "phase", "summaryText", "target"], |_, request, host| {
        fit_messages(request, host)
    }),
    Call::new("countMessages", &["messages", "options"], |_, request, host| {
        Response::of(&chat_to_count(request, host)?.tokens())
    }),
    Call::new("measureMessages", &["messages", "options"], |_, request, host| {
        Response::of(&chat_to_count(request, host)?.measured())
    }),
    Call::new("convertMessages", &["messages", "options"], |_, request, _| convert_messages(request)),
    Call::new("chatToLoomTree", &["messages", "options"], |_, request, _| to_loom_tree(request)),
    Call::new("limitFields", &["model"], |_, request, _| {
        let model = request.object("a model, an object")?.text("model")?;
        Response::of(&limit_fields(&model))
    }),
];

fn fit_messages(request: Value<'_>, host: &CallContext) -> Result<Response> {
    let mut diagnostics = request.repaired();
    let request = request.object("a chat and options, an object")?;
    let object = request.need("options")?.object("options, an object")?;
    let phase = Phase::read(request)?;
    let target = request.read("target", RequestFields::of_target)?.unwrap_or_default();
    let options = FitOptions { request: target, ..FitOptions::read(object, host, &mut diagnostics)? };
    let budget = options.budget(&mut diagnostics)?;
    phase.check()?;
    let chat = ChatRequest::read(request.need("messages")?, object, &options, &budget)?;
    Response::of(&chat.fit(&options, &budget, phase, diagnostics)?)
}

/// A chat with options for a count.
fn chat_to_count<'t>(request: Value<'t>, host: &CallContext) -> Result<ChatRequest<'t>> {
    let request = request.object("a chat and options, an object")?;
    let object = request.need("options")?.object("options, an object")?;
    let options = FitOptions::read_to_count(object, host)?;
    ChatRequest::read(request.need("messages")?, object, &options, &options.budget_to_count()?)
}
