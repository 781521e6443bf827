//! OpenAI Chat Completions.

use crate::content::Role;
use crate::error::Result;
use crate::json::{Object, Value};
use crate::vendors::media::{Medium, find};
use crate::vendors::openai_chat::part::{THOUGHTS, read, read_call, read_called_tool};
use crate::vendors::pieces::message::{Kind, Message, Path, Reader, Step, TextShape, path};
use crate::vendors::pieces::parts::{
    At, Content, Key, call, content, inner, is_given, is_signed_thought, part_piece, result_content,
};

pub(crate) fn message<'t>(message: Object<'t>, mut reader: Reader<'_, 't>) -> Result<Message<'t>> {
    let [name, body, id, calls] = message.fields(["name", "content", "tool_call_id", "tool_calls"])?;
    let (role, overhead) = reader.role(message.need("role")?, name)?;
    match (role, id, name) {
        (Role::Tool, Some(id), _) => {
            let id = id.text()?;
            reader.piece(Kind::Result { id }, None);
            result_content(&mut reader, vec![Key("content")], body, TextShape::String, Content::Parts)?;
        }
        // The older form has no ids: the name of the function pairs them.
        (Role::Tool, None, Some(name)) => {
            let id = name.text()?;
            reader.piece(Kind::Result { id }, None);
            result_content(&mut reader, vec![Key("content")], body, TextShape::String, Content::Parts)?;
        }
        (Role::Tool, None, None) => return Err(message.value().lacks("tool_call_id")),
        _ => content(&mut reader, vec![Key("content")], body, &mut part)?,
    }
    let [refusal, function, audio] = message.fields(["refusal", "function_call", "audio"])?;
    if let Some(refusal) = refusal {
        reader.piece(Kind::Text, Some(vec![Key("refusal")])).value(Some(refusal));
    }
    // The same reasoning in several places counts once.
    let mut thoughts = None;
    let reasoning = message.fields(THOUGHTS)?;
    let signed = reasoning.iter().any(Option::is_some) && is_signed(message);
    for (name, value) in THOUGHTS.into_iter().zip(reasoning) {
        let Some(value) = value else { continue };
        let tokens = thoughts.replace(value).is_none().then_some(value);
        reader.piece(Kind::Reasoning, Some(vec![Key(name)])).value(tokens).signed(signed);
    }
    if let Some(audio) = audio {
        let source = find(audio, None).map(|(_, source)| source);
        let tokens = reader.prices.medium(Medium::File(source, false));
        reader.piece(Kind::Other, Some(vec![Key("audio")])).tokens(tokens);
    }
    if let Some(function) = function {
        function_call(&mut reader, vec![Key("function_call")], function)?;
    }
    if let Some(calls) = calls {
        tool_calls(&mut reader, &[Key("tool_calls")], calls)?;
    }
    // LiteLLM puts Anthropic's compactions next to the message.
    let compactions = inner(message.get("provider_specific_fields")?, "compaction_blocks");
    if compactions.and_then(|blocks| blocks.as_list()?.next()).is_some() {
        reader.pieces.first_mut().into_iter().for_each(|piece| piece.is_compaction = true);
    }
    Ok(reader.message(role, overhead))
}

/// Whether the reasoning of a message is signed by Anthropic, as in LiteLLM and OpenRouter. All places have the same
/// reasoning.
fn is_signed(message: Object<'_>) -> bool {
    let any = |name, is: &dyn Fn(Value<'_>) -> bool| {
        let blocks = message.get(name).ok().flatten().and_then(|blocks| blocks.as_list());
        blocks.into_iter().flatten().any(is)
    };
    let of_anthropic = |detail: Value<'_>| {
        let format = inner(Some(detail), "format").and_then(Value::as_text);
        format.is_some_and(|format| format.starts_with("anthropic"))
            && ["signature", "data"].iter().any(|key| is_given(inner(Some(detail), key)))
    };
    any("thinking_blocks", &is_signed_thought) || any("reasoning_details", &of_anthropic)
}

/// The single call of the older form. Its name is its id.
pub(crate) fn function_call<'t>(reader: &mut Reader<'_, 't>, at: Path, function: Value<'t>) -> Result<()> {
    let called = read_called_tool(function.object("a call, an object")?)?;
    let name = called.name.ok_or_else(|| function.lacks("name"))?;
    call(reader, Some(at), name, Some(name), called.input.value, &[Key(called.input.name)])?;
    Ok(())
}

/// Whether a path leads to a list of calls, which is rejected if it is empty.
pub(crate) fn is_call_list(path: &[Step]) -> bool {
    path.last() == Some(&Key("tool_calls"))
}

/// Calls of the newer form, functions and custom tools.
pub(crate) fn tool_calls<'t>(reader: &mut Reader<'_, 't>, at: &[Step], calls: Value<'t>) -> Result<()> {
    for (index, value) in calls.list("a list of calls")?.enumerate() {
        let class = read_call(value.object("a call, an object")?)?;
        let id = class.id.ok_or_else(|| value.lacks("id"))?;
        let inner = class.tool.value.ok_or_else(|| value.lacks("function"))?;
        let called = read_called_tool(inner.object("a call, an object")?)?;
        let place = Some(path(at, &[At(index)]));
        let input = [Key(class.tool.name), Key(called.input.name)];
        call(reader, place, id, called.name, called.input.value, &input)?;
    }
    Ok(())
}

/// A part of a content.
fn part<'t>(reader: &mut Reader<'_, 't>, at: Path, part: Object<'t>, kind: &str) -> Result<()> {
    part_piece(reader, at, part, read(part, kind)?, TextShape::TextPart)
}
