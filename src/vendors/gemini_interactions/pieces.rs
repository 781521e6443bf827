//! Steps of Gemini Interactions.

use crate::content::Role;
use crate::error::Result;
use crate::json::{Kind as JsonKind, Object};
use crate::vendors::fields::text_in;
use crate::vendors::gemini_interactions::fields::{StepKind, tool_of};
use crate::vendors::gemini_interactions::part::{Part, read};
use crate::vendors::pieces::message::{Kind, Message, PER_CALL, PER_MESSAGE, Path, Reader, TextShape, path};
use crate::vendors::pieces::parts::{Content, Key, call, content, is_given, result_content, text_part};

pub(crate) fn step<'t>(step: Object<'t>, mut reader: Reader<'_, 't>) -> Result<Message<'t>> {
    let kind = step.need("type")?.text()?;
    let role = match StepKind::of(&kind) {
        StepKind::UserInput => return said(step, reader, Role::User, "user"),
        StepKind::ModelOutput => return said(step, reader, Role::Assistant, "model"),
        StepKind::Thought => {
            thought(&mut reader, step)?;
            Role::Assistant
        }
        StepKind::FunctionCall => {
            let [id, name, arguments, signature] = step.fields(["id", "name", "arguments", "signature"])?;
            let id = id.ok_or_else(|| step.value().lacks("id"))?;
            let name = name.ok_or_else(|| step.value().lacks("name"))?;
            if is_given(signature) {
                // A signature may cover the arguments.
                let kind = Kind::Call { id: id.text()?, name: name.text()? };
                reader.piece(kind, None).tokens(PER_CALL).json(Some(name)).json(arguments);
            } else {
                call(&mut reader, None, id, Some(name), arguments, &[Key("arguments")])?;
            }
            Role::Assistant
        }
        StepKind::FunctionResult => {
            result(&mut reader, None, step)?;
            Role::Tool
        }
        StepKind::ServerCall => {
            let name = || text_in(step, "name").unwrap_or_else(|| tool_of(&kind).0.to_owned().into());
            let call = text_in(step, "id").map(|id| Kind::Call { id, name: name() });
            reader.piece(call.unwrap_or(Kind::Other), None).value(Some(step.value()));
            Role::Assistant
        }
        StepKind::ServerResult => {
            let result = text_in(step, "call_id").map(|id| Kind::Result { id });
            reader.piece(result.unwrap_or(Kind::Other), None).value(Some(step.value()));
            Role::Assistant
        }
        StepKind::Unknown => {
            reader.piece(Kind::Other, None).value(Some(step.value()));
            Role::Assistant
        }
    };
    Ok(reader.message(role, PER_MESSAGE))
}

/// A step of the user or the model, with the cost of a turn in Gemini's other chats.
fn said<'t>(step: Object<'t>, mut reader: Reader<'_, 't>, role: Role, name: &str) -> Result<Message<'t>> {
    content(&mut reader, vec![Key("content")], step.get("content")?, &mut part)?;
    let overhead = PER_MESSAGE + reader.count(name);
    Ok(reader.message(role, overhead))
}

fn part<'t>(reader: &mut Reader<'_, 't>, at: Path, part: Object<'t>, kind: &str) -> Result<()> {
    match read(part, kind)? {
        Part::Text(text) => text_part(reader, at, part, text.name),
        Part::Result => result(reader, Some(at), part),
        Part::Media(_) | Part::Other => {
            reader.other(at, part.value(), TextShape::TextPart);
            Ok(())
        }
    }
}

/// Reasoning is sent back unchanged: none of its texts may be cut.
fn thought<'t>(reader: &mut Reader<'_, 't>, step: Object<'t>) -> Result<()> {
    reader.piece(Kind::Reasoning, None);
    if let Some(summary) = step.get("summary")? {
        for part in summary.list("a list of texts and images")? {
            let tokens = reader.prices.part(part);
            reader.tokens(tokens);
        }
    }
    Ok(())
}

/// The result of a function: a text, a list of parts, or any JSON object.
fn result<'t>(reader: &mut Reader<'_, 't>, at: Option<Path>, step: Object<'t>) -> Result<()> {
    let [id, name, result] = step.fields(["call_id", "name", "result"])?;
    let id = id.ok_or_else(|| step.value().lacks("call_id"))?.text()?;
    let place = path(at.as_deref().unwrap_or_default(), &[Key("result")]);
    reader.piece(Kind::Result { id }, at).json(name);
    let is_list = result.is_some_and(|result| result.kind() == JsonKind::List);
    result_content(reader, place, result, TextShape::String, if is_list { Content::Parts } else { Content::Any })
}
