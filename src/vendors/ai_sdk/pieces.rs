//! The AI SDK: ModelMessage, the prompt of a language model, and UIMessage.

use crate::error::Result;
use crate::json::{Object, Value};
use crate::vendors::ai_sdk::fields::DENIED;
use crate::vendors::ai_sdk::part::{Output, PartKind, is_denied, null_output, read_output};
use crate::vendors::media::medium_of;
use crate::vendors::pieces::message::{Kind, Message, PER_CALL, PER_MESSAGE, Path, Reader, TextShape, path};
use crate::vendors::pieces::parts::{At, Content, Key, call, content, inner, is_given, result_content, text_part};

pub(crate) fn model_message<'t>(message: Object<'t>, mut reader: Reader<'_, 't>) -> Result<Message<'t>> {
    let (role, overhead) = reader.role(message.need("role")?, None)?;
    content(&mut reader, vec![Key("content")], Some(message.need("content")?), &mut part)?;
    Ok(reader.message(role, overhead))
}

fn part<'t>(reader: &mut Reader<'_, 't>, at: Path, part: Object<'t>, kind: &str) -> Result<()> {
    match PartKind::of_model(kind) {
        PartKind::Call => {
            let [id, name, input] = part.fields(["toolCallId", "toolName", "input"])?;
            call(reader, Some(at), id.ok_or_else(|| part.value().lacks("toolCallId"))?, name, input, &[Key("input")])?;
        }
        PartKind::Result => result(reader, at, part)?,
        PartKind::Approval => {
            let id = part.text("approvalId")?;
            let call = part.get("toolCallId")?.map(Value::text).transpose()?;
            reader.piece(Kind::Approval { id, call }, Some(at)).value(part.get("reason")?);
        }
        kind => any_part(reader, at, part, kind)?,
    }
    Ok(())
}

/// Reads a part of both kinds of messages.
fn any_part<'t>(reader: &mut Reader<'_, 't>, at: Path, part: Object<'t>, kind: PartKind) -> Result<()> {
    match kind {
        PartKind::Text => text_part(reader, at, part, "text")?,
        PartKind::Reasoning => return reasoning(reader, at, part),
        PartKind::ReasoningFile => {
            let tokens = medium_of(part).map_or(0, |medium| reader.prices.medium(medium));
            reader.piece(Kind::Reasoning, Some(at)).tokens(tokens);
        }
        _ => reader.other(at, part.value(), TextShape::TextPart),
    }
    if matches!(kind, PartKind::Text | PartKind::Custom) {
        note_compaction(reader, part, kind);
    }
    Ok(())
}

/// The result of a tool, with its output.
fn result<'t>(reader: &mut Reader<'_, 't>, at: Path, part: Object<'t>) -> Result<()> {
    let id = part.text("toolCallId")?;
    reader.piece(Kind::Result { id }, Some(at.clone()));
    let at = path(&at, &[Key("output")]);
    reader.body(at.clone(), TextShape::AiSdkOutput);
    let output = part.get("output")?;
    let Some(object) = output.and_then(Value::as_object) else {
        reader.value(output);
        return Ok(());
    };
    match read_output(object)?.0 {
        Output::Json(value) => {
            reader.json(Some(value));
        }
        Output::Content(value) => {
            let outside = reader.pieces.last().map_or(0, |piece| piece.tokens);
            let at_value = path(&at, &[Key("value")]);
            result_content(reader, at_value, Some(value), TextShape::String, Content::Parts)?;
            if let Some(piece) = reader.pieces.last_mut() {
                (piece.body, piece.outside_body) = (Some((at, TextShape::AiSdkOutput)), outside);
            }
        }
        Output::Denied(Some(reason)) => {
            reader.text(path(&at, &[Key("reason")]), reason)?;
        }
        Output::Denied(None) => {
            reader.tokens(reader.count(DENIED));
        }
        Output::Other(value) => {
            reader.value(Some(value));
        }
    }
    Ok(())
}

/// The fields with vendor data: in a prompt, and in a message of a user interface.
const METADATA: [&str; 2] = ["providerOptions", "providerMetadata"];
/// The keys under which Anthropic's fields are found.
const ANTHROPIC: [&str; 2] = ["anthropic", "bedrock"];
const OPENAI: [&str; 2] = ["openai", "azure"];

/// The fields of a part for these vendors.
fn fields_of<'t>(part: Object<'t>, vendors: &[&str]) -> impl Iterator<Item = Value<'t>> {
    let found = METADATA.iter().filter_map(move |key| part.get(key).ok()?);
    found.flat_map(move |fields| vendors.iter().filter_map(move |vendor| inner(Some(fields), vendor)))
}

fn reasoning<'t>(reader: &mut Reader<'_, 't>, at: Path, part: Object<'t>) -> Result<()> {
    reader.piece(Kind::Reasoning, Some(at)).value(part.get("text")?).signed(is_signed(part));
    let is_sealed = |fields| is_given(inner(Some(fields), "reasoningEncryptedContent"));
    reader.sealed_by_openai(fields_of(part, &OPENAI).any(is_sealed));
    Ok(())
}

/// Whether Anthropic signed a reasoning part.
fn is_signed(part: Object<'_>) -> bool {
    let is_signed = |fields| ["signature", "redactedData"].iter().any(|key| is_given(inner(Some(fields), key)));
    fields_of(part, &ANTHROPIC).any(is_signed)
}

/// Marks the last piece as replacing everything before it, for compactions of Anthropic, which are texts, and of
/// OpenAI.
fn note_compaction(reader: &mut Reader<'_, '_>, part: Object<'_>, kind: PartKind) {
    const NAME: &str = "compaction";
    let is_typed = |fields| inner(Some(fields), "type").is_some_and(|kind| kind.is_string(NAME));
    let named = || part.get("kind").ok().flatten().and_then(Value::as_text).is_some_and(|kind| kind.ends_with(NAME));
    if fields_of(part, &ANTHROPIC).chain(fields_of(part, &OPENAI)).any(is_typed) || kind == PartKind::Custom && named()
    {
        reader.stands_for_all(true).signed(is_signed(part));
    }
}

/// A message of a user interface: a run of an agent is one message, whose steps begin at `step-start`.
pub(crate) fn ui_message<'t>(message: Object<'t>, mut reader: Reader<'_, 't>) -> Result<Message<'t>> {
    let (role, overhead) = reader.role(message.need("role")?, None)?;
    for (index, value) in message.need("parts")?.list("a list of parts")?.enumerate() {
        let at = vec![Key("parts"), At(index)];
        let part = value.object("a part, an object")?;
        let name = part.need("type")?.text()?;
        match PartKind::of_ui(&name) {
            PartKind::StepStart => {
                reader.step += 1;
                reader.piece(Kind::Text, Some(at));
            }
            PartKind::Tool => tool(&mut reader, at, part, &name)?,
            // Parts for display only are not sent.
            PartKind::Display => {
                reader.piece(Kind::Other, Some(at));
            }
            PartKind::Text if part.get("text")?.is_none() => reader.other(at, value, TextShape::TextPart),
            kind => any_part(&mut reader, at, part, kind)?,
        }
    }
    Ok(reader.message(role, overhead))
}

/// A call, with its result if present.
fn tool<'t>(reader: &mut Reader<'_, 't>, at: Path, part: Object<'t>, kind: &str) -> Result<()> {
    let [id, name, state, input, output, error, approval] =
        part.fields(["toolCallId", "toolName", "state", "input", "output", "errorText", "approval"])?;
    let id = id.ok_or_else(|| part.value().lacks("toolCallId"))?;
    let named = name.and_then(Value::as_text).or_else(|| kind.strip_prefix("tool-").map(|name| name.to_owned().into()));
    let named = named.unwrap_or_default();
    let is_closed = state.and_then(Value::as_text).is_some_and(|state| state.starts_with("output-"));
    let tokens = PER_CALL + reader.count(&named);
    let kind = if is_closed { Kind::CallAndResult { name: named } } else { Kind::Call { id: id.text()?, name: named } };
    // As two messages it has twice the overhead.
    reader.piece(kind, Some(at.clone())).tokens(tokens).input(path(&at, &[Key("input")]), input);
    if is_closed {
        reader.tokens(PER_MESSAGE + 1);
        let reason = approval.and_then(|approval| approval.plain_object()?.last("reason"));
        let (place, body) = match (error, output, reason) {
            (Some(_), ..) => (path(&at, &[Key("errorText")]), error),
            (None, None, Some(_)) => (path(&at, &[Key("approval"), Key("reason")]), reason),
            (None, output, _) => (path(&at, &[Key("output")]), output),
        };
        if body.is_none() && is_denied(part) {
            reader.tokens(reader.count(DENIED));
        }
        result_content(reader, place, body, TextShape::String, Content::Any)?;
        reader.json(null_output(part).filter(|_| body.is_none()));
    }
    Ok(())
}
