//! The input of a chat: a list of messages, or a container with one.

use crate::error::Result;
use crate::json::{Kind, Object, Value};
use crate::vendors::detect::{self, Formats, ListField, bit, first_of};
use crate::vendors::format::Format;
use crate::vendors::media::medium_of;

/// The messages, and the fields next to them in a container.
#[derive(Debug)]
pub(super) struct ChatInput<'t> {
    pub list: Vec<Value<'t>>,
    pub system: Option<Value<'t>>,
    pub tools: Option<Value<'t>>,
    /// The object that holds the messages, and its field.
    pub container: Option<(Object<'t>, ListField)>,
}

impl<'t> ChatInput<'t> {
    pub(super) fn read(given: Value<'t>) -> Result<Self> {
        const EXPECTED: &str = "a list of chat messages, `{ system?, messages }`, `{ systemInstruction?, contents }` or `{ instructions?, input }`";
        if given.kind() == Kind::List {
            let list = given.list(EXPECTED)?.collect();
            return Ok(Self { list, system: None, tools: None, container: None });
        }
        let container = given.object(EXPECTED)?;
        let [contents, messages, input, tools] = container.fields(["contents", "messages", "input", "tools"])?;
        let [system, instruction, snake, instructions] =
            container.fields(["system", "systemInstruction", "system_instruction", "instructions"])?;
        let lists = [(contents, ListField::Contents), (messages, ListField::Messages), (input, ListField::Input)];
        let (list, field) =
            lists.into_iter().find_map(|(list, field)| Some((list?, field))).ok_or_else(|| given.mismatch(EXPECTED))?;
        let instructions = instructions.filter(|it| field == ListField::Input && it.is_text());
        let system = system.or(instruction).or(snake).or(instructions);
        system.map_or(Ok(()), |system| each_system_part(system, &mut |_| {}))?;
        let list = list.list(EXPECTED)?.collect();
        Ok(Self { list, system, tools, container: Some((container, field)) })
    }

    /// The field of the messages, in a container.
    pub(super) fn field(&self) -> Option<ListField> {
        self.container.map(|(_, field)| field)
    }

    /// The format (detected from the shape of the messages if unset), and all possible formats.
    pub(super) fn format(&self, said: Option<Format>) -> Result<(Format, Formats)> {
        if let Some(format) = said {
            return Ok((format, bit(format)));
        }
        let field = self.field();
        let formats = detect::detect(&self.list, field.map_or(Formats::MAX, ListField::formats))?;
        let found = first_of(formats);
        // The container `{ system, messages }` is Anthropic's.
        let is_anthropic = found == Format::Generic && self.system.is_some() && field == Some(ListField::Messages);
        Ok((if is_anthropic { Format::Anthropic } else { found }, formats))
    }
}

/// Visits each text and each other part of a system context: a text, a list of parts, or a content with such parts.
///
/// # Errors
/// [`crate::Code::InvalidInput`] for any other value.
pub(super) fn each_system_part<'t>(system: Value<'t>, each: &mut dyn FnMut(Value<'t>)) -> Result<()> {
    const EXPECTED: &str = "a text, a list of parts, or an object with `text`, `parts` or `content`";
    match system.kind() {
        Kind::String => each(system),
        Kind::List => return system.list(EXPECTED)?.try_for_each(|part| each_system_part(part, each)),
        _ => {
            let part = system.object(EXPECTED)?;
            let [text, parts, content, kwargs, kind] = part.fields(["text", "parts", "content", "kwargs", "type"])?;
            match text.or(parts).or(content).or(kwargs) {
                Some(inner) => return each_system_part(inner, each),
                None if kind.is_some() || medium_of(part).is_some() => each(system),
                None => return Err(system.mismatch(EXPECTED)),
            }
        }
    }
    Ok(())
}
