//! Gemini's contents. REST also accepts snake case.

use std::borrow::Cow;

use crate::content::Role;
use crate::error::Result;
use crate::json::{Object, Value};
use crate::maps::SortedMap;
use crate::vendors::gemini::part::{Data, read};
use crate::vendors::media::{Medium, medium_of};
use crate::vendors::pieces::message::{Kind, Message, PER_CALL, PER_MESSAGE, Path, Reader, Step, TextShape, path};
use crate::vendors::pieces::parts::{At, Key, call_by_name, called_by_name};

/// The state that a content inherits from earlier ones: most calls have no ids, and are answered by name and order.
#[derive(Debug, Default)]
pub(crate) struct Contents {
    index: usize,
    /// The content with the last calls.
    calls: usize,
    /// The number of calls of each name there, and of answers since.
    called: SortedMap<String, usize>,
    answered: SortedMap<String, usize>,
}

impl Contents {
    /// The state for the content after these.
    pub(crate) fn after(messages: &[Message<'_>]) -> Self {
        let calls = |message: &Message<'_>| message.pieces.iter().any(|it| matches!(it.kind, Kind::Call { .. }));
        let calls = messages.iter().rposition(calls).map_or(0, |at| at + 1);
        let mut this = Self { index: messages.len(), calls, ..Self::default() };
        let since = messages.get(calls.saturating_sub(1)..).unwrap_or_default();
        for piece in since.iter().flat_map(|message| &message.pieces) {
            let (id, names) = match &piece.kind {
                Kind::Call { id, .. } => (id, &mut this.called),
                Kind::Result { id } => (id, &mut this.answered),
                _ => continue,
            };
            if let Some((name, before)) = called_by_name(id, calls) {
                names.insert(name.to_owned(), before + 1);
            }
        }
        this
    }

    pub(crate) fn message<'t>(&mut self, content: Object<'t>, mut reader: Reader<'_, 't>) -> Result<Message<'t>> {
        self.index += 1;
        let (role, overhead) = match content.get("role")? {
            Some(role) => reader.role(role, None)?,
            None => (Role::User, PER_MESSAGE + 1),
        };
        for (index, part) in content.need("parts")?.list("a list of parts")?.enumerate() {
            self.part(&mut reader, vec![Key("parts"), At(index)], part.object("a part, an object")?)?;
        }
        // `function` and `tool` are the user's in old code.
        Ok(reader.message(if role == Role::Tool { Role::User } else { role }, overhead))
    }

    fn part<'t>(&mut self, reader: &mut Reader<'_, 't>, at: Path, part: Object<'t>) -> Result<()> {
        let class = read(part)?;
        match class.data {
            Data::Text(text) if class.is_thought => {
                reader.piece(Kind::Reasoning, Some(at)).value(Some(text));
            }
            Data::Text(text) => {
                reader.piece(Kind::Text, Some(at.clone())).text(path(&at, &[Key("text")]), text)?;
            }
            Data::Call(field, call) => {
                let is_signed = class.signature.is_some();
                self.call(reader, &at, field, call.object("a call, an object")?, is_signed)?;
            }
            Data::Response(field, response) => {
                self.response(reader, &at, field, response.object("a response, an object")?)?;
            }
            Data::Media(..) | Data::Other => reader.other(at, part.value(), TextShape::GeminiPart),
        }
        Ok(())
    }

    fn call<'t>(
        &mut self,
        reader: &mut Reader<'_, 't>,
        at: &[Step],
        field: &'static str,
        call: Object<'t>,
        is_signed: bool,
    ) -> Result<()> {
        let [id, name, args] = call.fields(["id", "name", "args"])?;
        let name = name.ok_or_else(|| call.value().lacks("name"))?;
        if self.calls != self.index {
            self.called = SortedMap::new();
            self.answered = SortedMap::new();
            self.calls = self.index;
        }
        let id = match id {
            Some(id) => id.text()?,
            None => numbered(self.calls, &mut self.called, name.text()?),
        };
        let reader =
            reader.piece(Kind::Call { id, name: name.text()? }, Some(at.to_vec())).tokens(PER_CALL).json(Some(name));
        // A signature may cover the arguments.
        if is_signed {
            reader.json(args);
        } else {
            reader.input(path(at, &[Key(field), Key("args")]), args);
        }
        Ok(())
    }

    fn response<'t>(
        &mut self,
        reader: &mut Reader<'_, 't>,
        at: &[Step],
        field: &'static str,
        response: Object<'t>,
    ) -> Result<()> {
        let [id, name, body, parts] = response.fields(["id", "name", "response", "parts"])?;
        let id = match id {
            Some(id) => id.text()?,
            None => {
                numbered(self.calls, &mut self.answered, name.ok_or_else(|| response.value().lacks("name"))?.text()?)
            }
        };
        reader.piece(Kind::Result { id }, Some(at.to_vec())).json(name);
        let at = path(at, &[Key(field)]);
        let at_body = path(&at, &[Key("response")]);
        reader.body(at_body.clone(), TextShape::GeminiResponse);
        if let Some(parts) = parts {
            response_parts(reader, &path(&at, &[Key("parts")]), parts)?;
        }
        texts_of(reader, &at_body, body)
    }
}

/// The media of a function's response. A text cannot replace them.
fn response_parts<'t>(reader: &mut Reader<'_, 't>, at: &[Step], parts: Value<'t>) -> Result<()> {
    reader.rest(at.to_vec());
    for (index, part) in parts.list("a list of parts")?.enumerate() {
        match part.plain_object().and_then(medium_of) {
            Some(Medium::Image(source)) => reader.inner_image(path(at, &[At(index)]), None, source),
            Some(medium) => {
                reader.tokens(reader.prices.medium(medium));
            }
            None => {
                reader.value(Some(part));
            }
        }
    }
    Ok(())
}

/// The texts of a function's response: its `output`, `result` or `error` if these are texts.
fn texts_of<'t>(reader: &mut Reader<'_, 't>, at: &[Step], body: Option<Value<'t>>) -> Result<()> {
    let object = body.and_then(|body| body.plain_object());
    let texts = object.map(|object| object.fields(["output", "result", "error"])).transpose()?.unwrap_or_default();
    let mut rest = object.map_or(0, Object::len);
    for (key, value) in ["output", "result", "error"].into_iter().zip(texts) {
        if let Some(value) = value.filter(|value| value.is_text()) {
            reader.text(path(at, &[Key(key)]), value)?;
            rest -= 1;
        }
    }
    if rest > 0 || object.is_none() {
        reader.json(body);
    }
    Ok(())
}

/// An id for the next call of this name, or its answer.
fn numbered<'t>(content: usize, names: &mut SortedMap<String, usize>, name: Cow<'t, str>) -> Cow<'t, str> {
    let before = names.get(&*name).copied().unwrap_or(0);
    let id = call_by_name(content, &name, before);
    names.insert(name.into_owned(), before + 1);
    Cow::Owned(id)
}
