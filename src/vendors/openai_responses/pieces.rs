//! Items of OpenAI's Responses, and of its Agents SDK, which uses camel case.

use crate::content::Role;
use crate::error::Result;
use crate::json::{Object, Value};
use crate::vendors::media::{Medium, find};
use crate::vendors::openai_chat;
use crate::vendors::openai_responses::fields::ItemKind;
use crate::vendors::pieces::message::{Kind, Message, PER_CALL, PER_MESSAGE, Path, Reader, TextShape, path};
use crate::vendors::pieces::parts::{Content, Key, call, content, is_given, part_piece, result_content};

pub(crate) fn item<'t>(item: Object<'t>, mut reader: Reader<'_, 't>) -> Result<Message<'t>> {
    let [kind, role] = item.fields(["type", "role"])?;
    let kind = kind.and_then(Value::as_text).unwrap_or_default();
    if let Some(role) = role {
        let (role, overhead) = reader.role(role, None)?;
        if !matches!(&*kind, "" | "message") {
            // For example additional tools, for the developer's part.
            reader.piece(Kind::Other, None).value(Some(item.value()));
            return Ok(reader.message(role, overhead));
        }
        content(&mut reader, vec![Key("content")], Some(item.need("content")?), &mut part)?;
        let has_id = item.get("id")?.is_some();
        return Ok(Message { has_id, ..reader.message(role, overhead) });
    }
    let [id, call_id, called, approval, caller] =
        item.fields(["id", "call_id", "callId", "approval_request_id", "caller"])?;
    let call_id = call_id.or(called).or(approval);
    let role = match ItemKind::of(&kind) {
        ItemKind::Reference => {
            let error = item.value().invalid(|place| {
                format!("{place} is an `item_reference`, whose tokens cannot be counted; pass the item itself")
            });
            return Err(error);
        }
        ItemKind::Reasoning => {
            reasoning(&mut reader, item)?;
            Role::Assistant
        }
        ItemKind::FunctionCall | ItemKind::CustomCall => {
            let called = openai_chat::part::read_called_tool(item)?;
            let id = call_id.ok_or_else(|| item.value().lacks("call_id"))?;
            let input = called.input;
            call(&mut reader, None, id, called.name, input.value, &[Key(input.name)])?.caller(caller);
            Role::Assistant
        }
        class @ (ItemKind::Output | ItemKind::VendorOutput) => {
            // The output of a local shell has the id of the call; an output with neither id belongs to no call.
            let id = call_id.or(id.filter(|_| kind.starts_with("local_shell"))).and_then(Value::as_text);
            reader.piece(id.map_or(Kind::Other, |id| Kind::Result { id }), None);
            let output = item.get("output")?;
            if class == ItemKind::Output {
                output_of(&mut reader, output)?;
            } else if kind.starts_with("computer_call") {
                let shot = output.and_then(|output| find(output, None)).map(|(_, shot)| shot);
                reader.tokens(reader.prices.medium(Medium::Image(shot)));
            } else {
                reader.value(output.or(Some(item.value())));
            }
            Role::Tool
        }
        class if class == ItemKind::VendorCall && call_id.is_some() || class == ItemKind::ApprovalRequest => {
            let id = call_id.or(id).ok_or_else(|| item.value().lacks("call_id"))?;
            let kind = Kind::Call { id: id.text()?, name: "".into() };
            reader.piece(kind, None).tokens(PER_CALL).json(Some(item.value())).caller(caller);
            Role::Assistant
        }
        ItemKind::Compaction => {
            reader.compaction(None, item.value(), true);
            Role::Assistant
        }
        ItemKind::Untyped => return Err(item.value().lacks("role")),
        // Tools that the vendor runs, and other items: call and result in one.
        _ => {
            reader.piece(Kind::Other, None).value(Some(item.value()));
            Role::Assistant
        }
    };
    let asks_compaction = kind == "compaction_trigger";
    Ok(Message { has_id: id.is_some(), asks_compaction, ..reader.message(role, PER_MESSAGE) })
}

/// An output: a text, a list of parts, or in the Agents SDK one part.
fn output_of<'t>(reader: &mut Reader<'_, 't>, output: Option<Value<'t>>) -> Result<()> {
    let at = vec![Key("output")];
    let part = output.and_then(|output| output.plain_object()).map(|part| part.get("text")).transpose()?.flatten();
    match part {
        Some(text) => {
            reader.body(at.clone(), TextShape::String);
            reader.text(path(&at, &[Key("text")]), text)?;
            Ok(())
        }
        None => result_content(reader, at, output, TextShape::String, Content::Parts),
    }
}

fn reasoning<'t>(reader: &mut Reader<'_, 't>, item: Object<'t>) -> Result<()> {
    let [summary, body, sealed, provider] = item.fields(["summary", "content", "encrypted_content", "providerData"])?;
    reader.piece(Kind::Reasoning, None).sealed(sealed);
    for list in [summary, body].into_iter().flatten() {
        for part in list.list("a list of texts")? {
            reader.value(part.object("a text, an object")?.get("text")?);
        }
    }
    let provider = provider.and_then(|provider| provider.plain_object());
    let of_provider =
        provider.map(|provider| provider.fields(["encrypted_content", "encryptedContent"])).transpose()?;
    let of_provider = of_provider.and_then(|[snake, camel]| snake.or(camel));
    reader.sealed(of_provider).sealed_by_openai(is_given(sealed) || is_given(of_provider));
    Ok(())
}

fn part<'t>(reader: &mut Reader<'_, 't>, at: Path, part: Object<'t>, kind: &str) -> Result<()> {
    part_piece(reader, at, part, openai_chat::part::read(part, kind)?, TextShape::InputText)
}
