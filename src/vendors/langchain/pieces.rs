//! LangChain's messages: the fields of an instance, and their serialized forms.

use crate::content::Role;
use crate::error::Result;
use crate::json::{Kind as JsonKind, Object, Value};
use crate::maps::SortedMap;
use crate::text::split_once;
use crate::vendors::fields::text_in;
use crate::vendors::openai_chat::part::CalledTool;
use crate::vendors::part::{Field, Part, SignatureForm};
use crate::vendors::pieces::message::{
    Kind, Message, PER_MESSAGE, PER_NAME, Path, Piece, Reader, Step, TextShape, path,
};
use crate::vendors::pieces::parts::{At, Content, Key, call, content, inner, is_given, part_piece, result_content};
use crate::vendors::{anthropic, openai_chat};

/// The fields of messages and parts that are read, or that can be dropped without loss, next to those of Anthropic and
/// OpenAI. All others are reported.
pub(crate) const FIELDS: &str =
    "lc kwargs additional_kwargs tool_call_chunks args status source_type mime_type image file summary";

pub(crate) fn message<'t>(message: Object<'t>, mut reader: Reader<'_, 't>) -> Result<Message<'t>> {
    let (base, kind, fields) = unwrap(message)?;
    let Some((role, name_of_role)) = role_of(&kind) else {
        let expected = "a message of LangChain, whose type is human, ai, system, tool, function or generic";
        return Err(message.value().mismatch(expected));
    };
    let at = |key| path(base, &[Key(key)]);
    let [name, body, id, calls, extra, metadata] =
        fields.fields(["name", "content", "tool_call_id", "tool_calls", "additional_kwargs", "response_metadata"])?;
    let named = name.and_then(Value::as_text).map_or(0, |name| PER_NAME + reader.count(&name));
    let overhead = PER_MESSAGE + reader.count(name_of_role) + named;
    if let (Role::Tool, Some(id)) = (role, id.or(name)) {
        let id = id.text()?;
        reader.piece(Kind::Result { id }, None);
        result_content(&mut reader, at("content"), body, TextShape::String, Content::Parts)?;
        return Ok(reader.message(role, overhead));
    }
    content(&mut reader, at("content"), body, &mut part)?;
    // One call is in several places: it costs once, and is removed from all of them.
    let mut known = Calls::default();
    if let Some(calls) = calls {
        for (index, value) in calls.list("a list of calls")?.enumerate() {
            let [id, name, args, function] =
                value.object("a call, an object")?.fields(["id", "name", "args", "function"])?;
            let place = path(base, &[Key("tool_calls"), At(index)]);
            if function.is_some() {
                openai_call(&mut reader, &mut known, place, value)?;
            } else if let Some(id) = id {
                if !known.also_at(&mut reader, &id.text()?, &place) {
                    call(&mut reader, Some(place), id, name, args, &[Key("args")])?;
                }
            } else {
                reader.other(place, value, TextShape::TextPart);
            }
        }
    }
    let field = |value: Option<Value<'t>>, key| -> Result<Option<Value<'t>>> {
        let object = value.filter(|value| value.kind() == JsonKind::Object).map(|value| value.object(""));
        Ok(object.transpose()?.map(|object| object.get(key)).transpose()?.flatten())
    };
    if let Some(calls) = field(extra, "tool_calls")? {
        for (index, value) in calls.list("a list of calls")?.enumerate() {
            openai_call(
                &mut reader,
                &mut known,
                path(base, &[Key("additional_kwargs"), Key("tool_calls"), At(index)]),
                value,
            )?;
        }
    }
    if let Some(function) = field(extra, "function_call")? {
        openai_chat::pieces::function_call(
            &mut reader,
            path(base, &[Key("additional_kwargs"), Key("function_call")]),
            function,
        )?;
    }
    // Chunks of a streamed call.
    let chunks = fields.get("tool_call_chunks")?;
    for (index, chunk) in
        chunks.map(|chunks| chunks.list("a list of chunks")).transpose()?.into_iter().flatten().enumerate()
    {
        if let Some(id) = chunk.object("a chunk, an object")?.get("id")? {
            known.also_at(&mut reader, &id.text()?, &path(base, &[Key("tool_call_chunks"), At(index)]));
        }
    }
    if let Some(output) = field(metadata, "output")?.filter(|output| output.kind() == JsonKind::List) {
        for (index, value) in output.list("a list of items")?.enumerate() {
            let id = value.plain_object().map(|item| item.get("call_id")).transpose()?.flatten();
            if let Some(id) = id.and_then(Value::as_text) {
                known.also_at(&mut reader, &id, &path(base, &[Key("response_metadata"), Key("output"), At(index)]));
            }
            if inner(Some(value), "type").is_some_and(|kind| kind.is_string("compaction")) {
                reader.pieces.first_mut().into_iter().for_each(|piece| piece.is_compaction = true);
            }
        }
    }
    if let Some(reasoning) = field(extra, "reasoning_content")? {
        let place = path(base, &[Key("additional_kwargs"), Key("reasoning_content")]);
        reader.piece(Kind::Reasoning, Some(place)).value(Some(reasoning));
    }
    // A signature may be another vendor's.
    let provider = inner(metadata, "model_provider").and_then(Value::as_text);
    let is_anthropic =
        |provider: &str| ["anthropic", "bedrock"].iter().any(|name| split_once(provider, name).is_some());
    if provider.is_some_and(|provider| !is_anthropic(&provider)) {
        reader.pieces.iter_mut().for_each(|piece| piece.signed = false);
    }
    Ok(reader.message(role, overhead))
}

/// The role of a message by its type or its role, and the counted name of that role.
fn role_of(kind: &str) -> Option<(Role, &'static str)> {
    Some(match kind {
        "human" | "user" | "generic" | "chat" | "remove" => (Role::User, "user"),
        "ai" | "assistant" => (Role::Assistant, "assistant"),
        "system" | "developer" => (Role::System, "system"),
        "tool" | "function" => (Role::Tool, "tool"),
        _ => return None,
    })
}

/// Whether messages have this type. `user` and `assistant` are roles.
pub(crate) fn is_message_type(kind: &str) -> bool {
    role_of(kind).is_some() && !matches!(kind, "user" | "assistant")
}

/// Whether only LangChain's content has blocks of this type.
pub(crate) fn is_block_type(kind: &str) -> bool {
    matches!(kind, "tool_call" | "server_tool_call" | "non_standard" | "text-plain")
}

/// The path of the fields, the type, and the fields.
fn unwrap(message: Object<'_>) -> Result<(&'static [Step], std::borrow::Cow<'_, str>, Object<'_>)> {
    let [lc, kind, role, kwargs, data] = message.fields(["lc", "type", "role", "kwargs", "data"])?;
    if let (Some(_), Some(kwargs)) = (lc, kwargs) {
        let id = message.need("id")?.list("the path of a class")?.last();
        let class = id.and_then(Value::as_text).unwrap_or_default();
        let kind = class.strip_suffix("Chunk").unwrap_or(&class).trim_end_matches("Message").to_ascii_lowercase();
        return Ok((&[Key("kwargs")], kind.into(), kwargs.object("the fields of a message, an object")?));
    }
    let kind = match kind.or(role) {
        Some(kind) => kind.text()?,
        None => return Err(message.value().lacks("type")),
    };
    match data {
        Some(data) => Ok((&[Key("data")], kind, data.object("the fields of a message, an object")?)),
        None => Ok((&[], kind, message)),
    }
}

/// A call in OpenAI's form.
fn openai_call<'t>(reader: &mut Reader<'_, 't>, known: &mut Calls, place: Path, value: Value<'t>) -> Result<()> {
    let class = openai_chat::part::read_call(value.object("a call, an object")?)?;
    let Some(id) = class.id else {
        reader.other(place, value, TextShape::TextPart);
        return Ok(());
    };
    if known.also_at(reader, &id.text()?, &place) {
        return Ok(());
    }
    let Some(called) = class.tool.value else {
        call(reader, Some(place), id, None, None, &[])?;
        return Ok(());
    };
    let CalledTool { name, input } = openai_chat::part::read_called_tool(called.object("a function, an object")?)?;
    call(reader, Some(place), id, name, input.value, &[Key(class.tool.name), Key(input.name)])?;
    Ok(())
}

/// The calls of a message by id.
#[derive(Debug, Default)]
struct Calls {
    calls: SortedMap<String, OfId>,
    /// The number of pieces visited.
    seen: usize,
}

/// Whether a piece is in a list.
fn is_in(piece: &Piece<'_>, list: &[Step]) -> bool {
    piece.places.iter().any(|place| place.split_last().is_some_and(|(_, before)| before == list))
}

/// The calls with one id.
#[derive(Debug, Default)]
struct OfId {
    pieces: Vec<usize>,
    /// The list visited last, the number of calls before it, and the number of them found in it.
    list: Path,
    before: usize,
    found: usize,
}

impl Calls {
    /// Records another place of a call; returns whether the call is known.
    fn also_at(&mut self, reader: &mut Reader<'_, '_>, call: &str, place: &Path) -> bool {
        for (at, piece) in reader.pieces.iter().enumerate().skip(self.seen) {
            if let Kind::Call { id, .. } = &piece.kind {
                self.calls.or_default(id.to_string()).pieces.push(at);
            }
        }
        self.seen = reader.pieces.len();
        let Some(known) = self.calls.get_mut(call) else { return false };
        // Calls in one list are distinct, regardless of their ids.
        let list = place.split_last().map_or(&[][..], |(_, list)| list);
        if known.list != list {
            let before =
                known.pieces.iter().filter(|&&at| !reader.pieces.get(at).is_some_and(|piece| is_in(piece, list)));
            (known.before, known.found) = (before.count(), 0);
            known.list = list.to_vec();
        }
        let at = known.pieces.get(known.found).filter(|_| known.found < known.before);
        let piece = at.and_then(|&at| reader.pieces.get_mut(at));
        known.found += 1;
        piece.map(|piece| piece.places.push(place.clone())).is_some()
    }
}

/// The vendor's block in a non-standard one; otherwise the block itself.
pub(crate) fn vendor_block(block: Value<'_>) -> Value<'_> {
    let fields = block.plain_object().and_then(|block| block.fields(["type", "value"]).ok());
    match fields {
        Some([Some(kind), Some(value)]) if kind.is_string("non_standard") => value,
        _ => block,
    }
}

/// A content block: of version 1, or the vendor's.
fn part<'t>(reader: &mut Reader<'_, 't>, at: Path, block: Object<'t>, kind: &str) -> Result<()> {
    let held = if kind == "non_standard" { block.get("value")?.and_then(Value::as_object) } else { None };
    let Some(value) = held else {
        return part_piece(reader, at, block, read_part(block, kind)?, TextShape::TextPart);
    };
    // The vendor's block in a non-standard one is not changed.
    match anthropic::part::read(value, &text_in(value, "type").unwrap_or_default())? {
        thought @ Part::Reasoning { .. } => part_piece(reader, at, value, thought, TextShape::TextPart)?,
        Part::Compaction { signature, .. } => {
            reader.other(at, block.value(), TextShape::TextPart);
            reader.stands_for_all(true).signed(is_given(signature));
        }
        _ => reader.other(at, block.value(), TextShape::TextPart),
    }
    Ok(())
}

/// Classifies a block by its type.
fn read_part<'t>(block: Object<'t>, kind: &str) -> Result<Part<Value<'t>>> {
    Ok(match kind {
        "reasoning" => {
            let [reasoning, text, signature, extras] = block.fields(["reasoning", "text", "signature", "extras"])?;
            let text = Field { name: "reasoning", value: reasoning.or(text) };
            let signature = signature.filter(|_| is_given(signature)).or(inner(extras, "signature"));
            Part::Reasoning { text, signature, form: SignatureForm::Thinking, redacted: false }
        }
        "tool_call" | "server_tool_call" => {
            let [id, name, args] = block.fields(["id", "name", "args"])?;
            let [id_field, input] = [("id", id), ("args", args)].map(|(name, value)| Field { name, value });
            let call = Part::Call { id: id_field, name, input, caller: None, server: kind != "tool_call" };
            if id.is_some() { call } else { Part::Other }
        }
        _ => match anthropic::part::read(block, kind)? {
            Part::Other => openai_chat::part::read(block, kind)?,
            part => part,
        },
    })
}
