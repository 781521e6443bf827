//! A chat in neutral form, from which every format can be written: messages of blocks, made from the pieces that were
//! read.
//!
//! Format-specific places (the arguments of a call, the signature of reasoning) are looked up here by the names used in
//! all formats: they do not collide.

mod report;
mod results;

use std::borrow::Cow;

use serde_json::Value as Json;

use crate::content::{Block, Role, Vendor, VendorBlock};
use crate::error::{Result, Severity};
use crate::json::{Kind as JsonKind, Object, Value, object};
use crate::maps::SortedMap;
use crate::text::is_blank;
use crate::vendors::fields::{object_in, text_in};
use crate::vendors::format::Format;
use crate::vendors::gemini::body::NO_SIGNATURE;
use crate::vendors::gemini::part::Data;
use crate::vendors::left_out::LeftOut;
use crate::vendors::media::medium_of;
use crate::vendors::message::Message as BlockMessage;
use crate::vendors::openai_chat::fields::is_best_thought;
use crate::vendors::openai_responses::fields::ItemKind;
use crate::vendors::part::{Part, SignatureForm};
use crate::vendors::pieces::message::{Kind, Message, Path, Piece, Step};
use crate::vendors::signature::ReasoningSignature;
use crate::vendors::vendor_block::BlockFormat;
use crate::vendors::{ai_sdk, anthropic, gemini, gemini_interactions, langchain, openai_chat, openai_responses};
pub(crate) use report::ConversionReport;

/// A chat from which any format can be written.
#[derive(Debug)]
pub(crate) struct NormalizedChat<'t> {
    pub messages: Vec<BlockMessage<'t>>,
    /// For each message, the index of its source in the chat.
    pub from: Vec<usize>,
    /// Fields outside the messages.
    pub system: Option<String>,
    /// The empty messages of the chat.
    pub silent: Vec<usize>,
    /// Findings about content that the target cannot hold.
    pub notes: ConversionReport,
}

impl NormalizedChat<'_> {
    /// Reports the empty messages: providers reject them.
    pub(crate) fn note_silent(&mut self) {
        for &at in &self.silent {
            self.notes.message = at;
            self.notes.note("an empty message", Severity::Info);
        }
    }
}

/// Normalizes a chat for writing it in a format: with the signatures that the format accepts.
pub(crate) fn neutral<'t>(
    format: Format,
    target: Format,
    system: Option<Value<'t>>,
    list: &[Value<'t>],
    read: &[Message<'t>],
) -> Result<NormalizedChat<'t>> {
    let mut normalizer = ChatNormalizer {
        format,
        target,
        ids: SortedMap::new(),
        list: None,
        has_content: false,
        out: NormalizedChat {
            messages: Vec::new(),
            from: Vec::new(),
            system: None,
            silent: Vec::new(),
            notes: ConversionReport::new(format),
        },
    };
    if let Some(system) = system {
        normalizer.out.system = system_text(system);
        let parts = system.list("a list").into_iter().flatten();
        parts.filter_map(|part| part.plain_object()).for_each(|part| normalizer.out.notes.fields(part));
    }
    for (at, (message, &value)) in read.iter().zip(list).enumerate() {
        normalizer.out.notes.message = at;
        normalizer.list = None;
        normalizer.has_content = message.pieces.iter().any(|piece| piece.kind != Kind::Text);
        normalizer.message(value, message)?;
        if !normalizer.has_content {
            normalizer.out.silent.push(at);
        }
    }
    Ok(normalizer.out)
}

/// The text of a system context, at any place: a text, parts with texts, or a content with such parts.
pub(crate) fn system_text(system: Value<'_>) -> Option<String> {
    let mut texts: Vec<String> = Vec::new();
    each_text(system, &mut |text| texts.push(text.to_owned()));
    let text = texts.join("\n\n");
    (!is_blank(&text)).then_some(text)
}

/// Visits each text of a system context: a text, a list of parts with texts, or a content with such parts.
fn each_text(system: Value<'_>, each: &mut dyn FnMut(&str)) {
    if let Some(text) = system.as_text() {
        return each(&text);
    }
    match system.kind() {
        JsonKind::List => system.list("a list").into_iter().flatten().for_each(|part| each_text(part, each)),
        JsonKind::Object => {
            let found = system.object("a part").and_then(|part| part.fields(["text", "parts", "content"]));
            let [text, parts, content] = found.unwrap_or_default();
            text.or(parts).or(content).into_iter().for_each(|inner| each_text(inner, each));
        }
        _ => {}
    }
}

struct ChatNormalizer<'t> {
    format: Format,
    target: Format,
    /// Whether the message has content.
    has_content: bool,
    /// The assigned ids of calls without one.
    ids: SortedMap<String, String>,
    /// The last visited list, so that walking through it takes one pass.
    list: Option<(Path, Vec<Value<'t>>)>,
    out: NormalizedChat<'t>,
}

impl<'t> ChatNormalizer<'t> {
    fn message(&mut self, value: Value<'t>, message: &Message<'t>) -> Result<()> {
        let object = value.object("a chat message, an object")?;
        let [role, name] = object.fields(["role", "name"])?;
        if name.is_some() && message.role != Role::Tool && role.is_some() {
            self.out.notes.lost(LeftOut::Field("name"));
        }
        // An item that is reported as a whole, or becomes the arguments of a call, has no separately reported fields.
        let is_whole = |piece: &Piece<'_>| {
            piece.places.is_empty() && matches!(&piece.kind, Kind::Other | Kind::Call { name: Cow::Borrowed(""), .. })
        };
        if !message.pieces.iter().any(is_whole) && !self.keeps_step(value) {
            self.out.notes.fields(object);
        }
        let role = match message.role {
            Role::System if role.is_some_and(|role| role.is_string("developer")) => Role::Developer,
            role @ (Role::System | Role::Developer) => role,
            Role::Assistant => Role::Assistant,
            Role::User | Role::Tool => Role::User,
        };
        let mut blocks = Vec::new();
        self.phase(object, &mut blocks);
        // The results that are in one part with their calls.
        let mut results = Vec::new();
        let mut step = 0;
        // Reasoning next to the content precedes it.
        let is_outside = |piece: &&Piece<'_>| {
            let place = piece.places.first().and_then(|place| place.last());
            piece.kind == Kind::Reasoning && matches!(place, Some(Step::Key(_)))
        };
        let outside = message.pieces.iter().filter(is_outside);
        for piece in outside.chain(message.pieces.iter().filter(|piece| !is_outside(piece))) {
            if piece.step != step {
                step = piece.step;
                self.push(role, &mut blocks);
                self.push(Role::User, &mut results);
            }
            let place = piece.places.first().map_or(&[][..], Vec::as_slice);
            let Some(part) = self.at(value, place) else { continue };
            if self.format != Format::OpenAi || is_best_thought(object, place) {
                self.piece(value, part, piece, &mut blocks, &mut results)?;
            }
        }
        if role.is_system() {
            let texts: Vec<&str> = blocks.iter().filter_map(Block::as_text).collect();
            if texts.len() > 1 {
                blocks = vec![Block::text(texts.join("\n\n"))];
            }
        }
        self.push(role, &mut blocks);
        self.push(Role::User, &mut results);
        Ok(())
    }

    /// Adds a message of these blocks. If each item is a message, those of one answer are merged.
    fn push(&mut self, role: Role, blocks: &mut Vec<Block<'t>>) {
        if blocks.is_empty() {
            return;
        }
        let mut content = std::mem::take(blocks);
        self.has_content |= content.iter().any(|block| block.as_text().is_none_or(|text| !is_blank(text)));
        let is_result = |block: &Block<'_>| matches!(block, Block::ToolResult { .. });
        let is_one = |last: &BlockMessage<'_>| {
            let results = last.content.iter().chain(&content).all(is_result);
            matches!(self.format, Format::Responses | Format::Agents | Format::Interactions)
                && last.role == role
                && (role == Role::Assistant || results)
        };
        if self.out.messages.last().is_some_and(is_one) {
            self.out.messages.last_mut().into_iter().for_each(|last| last.content.append(&mut content));
            return;
        }
        self.out.messages.push(BlockMessage { role, content, node_ids: Vec::new(), spans: Vec::new() });
        self.out.from.push(self.out.notes.message);
    }

    /// The value at a path.
    fn at(&mut self, value: Value<'t>, place: &[Step]) -> Option<Value<'t>> {
        let Some((Step::At(index), before)) = place.split_last() else { return walk(value, place) };
        if self.list.as_ref().is_none_or(|(path, _)| path != before) {
            let items = walk(value, before)?.as_list()?.collect();
            self.list = Some((before.to_vec(), items));
        }
        self.list.as_ref().and_then(|(_, items)| items.get(*index)).copied()
    }

    fn piece(
        &mut self,
        message: Value<'t>,
        part: Value<'t>,
        piece: &Piece<'t>,
        blocks: &mut Vec<Block<'t>>,
        results: &mut Vec<Block<'t>>,
    ) -> Result<()> {
        let part = if piece.kind == Kind::Reasoning { langchain::pieces::vendor_block(part) } else { part };
        let object = part.plain_object().filter(|_| !piece.places.is_empty());
        let signature = match object {
            Some(object) => {
                if piece.kind != Kind::Other {
                    self.out.notes.fields(object);
                }
                signature_of(self.format, object)
            }
            None if piece.kind == Kind::Reasoning => {
                part.plain_object().and_then(|item| signature_of(self.format, item))
            }
            None => None,
        };
        if (piece.kind == Kind::Other || self.keeps_step(part))
            && let Some(block) = self.vendor_block(part, piece)?
        {
            self.put_vendor_block(block, blocks);
            return Ok(());
        }
        if piece.is_compaction {
            self.compaction(part, piece, blocks);
            return Ok(());
        }
        // A signature of something other than reasoning is written before it.
        if let (Some(signature), true) = (&signature, piece.kind != Kind::Reasoning) {
            self.thought(Cow::Borrowed(""), Some(signature), blocks);
        }
        match &piece.kind {
            Kind::Text if piece.texts.is_empty() => blocks.extend(part.as_text().map(Block::Text)),
            Kind::Text => blocks.extend(piece.texts.iter().map(|text| Block::Text(text.text.clone()))),
            Kind::Call { id, name } => {
                let id = self.id(id);
                blocks.push(self.call(id, name, part)?);
            }
            Kind::Result { id } => {
                let id = self.id(id);
                let place = piece.body.as_ref().map(|(path, shape)| (path.as_slice(), *shape));
                let result = self.result(id, message, part, place)?;
                blocks.push(result);
            }
            Kind::CallAndResult { name } => {
                let id = part.object("a part")?.text("toolCallId")?;
                blocks.push(self.call(id.clone(), name, part)?);
                let place = piece.body.as_ref().map(|(path, shape)| (path.as_slice(), *shape));
                let result = self.result(id, message, part, place)?;
                results.push(result);
            }
            // Reasoning next to the content, each block with its signature.
            Kind::Reasoning if part.kind() == JsonKind::List => {
                for block in part.list("a list of thoughts")? {
                    let signature = signature_of(Format::Anthropic, block.object("a thought, an object")?);
                    let text = reasoning_text(block);
                    if signature.is_none() && is_blank(&text) {
                        self.out.notes.lost(LeftOut::Described("encrypted reasoning of an unknown vendor"));
                    }
                    self.thought(text, signature.as_ref(), blocks);
                }
            }
            Kind::Reasoning => {
                if self.is_vendor_step(part) {
                    self.out.notes.lost(LeftOut::Described("an image in reasoning"));
                }
                self.thought(reasoning_text(part), signature.as_ref(), blocks);
            }
            Kind::Image | Kind::Other => {
                let is_image = piece.kind == Kind::Image;
                let block = self.other(part, is_image);
                if let (Some(object), true, false) = (object, block.is_some(), is_image) {
                    self.out.notes.fields(object);
                }
                blocks.extend(block);
            }
            Kind::Approval { .. } => self.out.notes.lost(LeftOut::Described("an approval of a call")),
        }
        Ok(())
    }

    /// The id of a call: if the format has none, the call is matched by name and order, which gives no id for other
    /// formats.
    fn id(&mut self, id: &Cow<'t, str>) -> Cow<'t, str> {
        if !id.starts_with('\0') {
            return id.clone();
        }
        let number = self.ids.len() + 1;
        let made = match self.ids.get(&**id) {
            Some(made) => made.clone(),
            None => format!("call_{number}"),
        };
        self.ids.insert(id.to_string(), made.clone());
        Cow::Owned(made)
    }

    fn call(&mut self, id: Cow<'t, str>, name: &Cow<'t, str>, part: Value<'t>) -> Result<Block<'t>> {
        let (arguments, is_text) = arguments(part)?;
        let kind = part.plain_object().map(|call| call.get("type")).transpose()?.flatten().and_then(Value::as_text);
        let is_server = |kind: &str| kind.starts_with("server_") || kind.starts_with("mcp_");
        if kind.as_deref().is_some_and(is_server) || self.is_vendor_step(part) {
            self.out.notes.note("a call of a server tool, written as a call of a function", Severity::Info);
        }
        let arguments = match arguments {
            // The calls of a vendor's tools have no name: the whole call is the arguments.
            _ if name.is_empty() => {
                self.out.notes.note("a call of a vendor's tool, written as a call of a function", Severity::Info);
                Json::String(part.json().into_owned())
            }
            Some(text) if is_text => {
                self.out.notes.note(
                    "a call of a custom tool, written as a call of a function with the text as `input`",
                    Severity::Info,
                );
                object([("input", text.as_text().map(Cow::into_owned).into())])
            }
            // A text is the JSON of the arguments, so they stay unchanged.
            Some(value) => Json::String(
                value.as_text().filter(|_| self.has_json_text()).unwrap_or_else(|| value.json()).into_owned(),
            ),
            None => Json::Null,
        };
        let name = if name.is_empty() { kind.unwrap_or_default() } else { name.clone() };
        Ok(Block::ToolCall { id, name, arguments: Box::new(Cow::Owned(arguments)), server: false })
    }

    /// Whether the arguments of a call may be JSON in a text.
    fn has_json_text(&self) -> bool {
        !matches!(
            self.format,
            Format::Anthropic | Format::Gemini | Format::Interactions | Format::AiSdk | Format::AiSdkUi
        )
    }

    /// Whether a part is a step of a tool that the vendor runs, or reasoning with more than texts.
    fn is_vendor_step(&self, part: Value<'t>) -> bool {
        self.format == Format::Interactions && part.as_object().is_some_and(gemini_interactions::fields::is_vendor_step)
    }

    /// Whether a step is written unchanged to the target. For other targets it becomes a call of a function.
    fn keeps_step(&self, part: Value<'t>) -> bool {
        let is_step = |format: BlockFormat| format == BlockFormat::GeminiStep;
        (self.target == Format::Generic || BlockFormat::of(self.target).is_some_and(is_step))
            && self.is_vendor_step(part)
    }

    /// The block of a piece, if only its vendor can read it.
    fn vendor_block(&self, part: Value<'t>, piece: &Piece<'t>) -> Result<Option<VendorBlock<'static>>> {
        let Some(object) = part.plain_object() else { return Ok(None) };
        let kind = text_in(object, "type").unwrap_or_default();
        let (vendor, value) = if self.format == Format::Generic && kind == "vendor" {
            let [vendor, value] = object.fields(["vendor", "value"])?;
            let vendor = vendor.ok_or_else(|| part.lacks("vendor"))?.one_of(&Vendor::NAMES)?;
            (vendor, value.ok_or_else(|| part.lacks("value"))?)
        } else {
            let is_item = piece.places.is_empty();
            let format = BlockFormat::of(self.format).filter(|format| format.is_item() == is_item);
            let is_known = !piece.is_compaction && (medium_of(object).is_some() || kind == "image_generation_call");
            let Some(format) = format.filter(|_| !is_known) else { return Ok(None) };
            (format.vendor(), part)
        };
        Ok(Some(VendorBlock { vendor, value: Cow::Owned(value.to_json()?) }))
    }

    /// Adds the phase of an OpenAI message, before its texts.
    fn phase(&mut self, message: Object<'t>, blocks: &mut Vec<Block<'t>>) {
        let Some(phase) = text_in(message, "phase") else { return };
        if matches!(self.target, Format::Responses | Format::Agents | Format::Generic) {
            blocks.push(openai_responses::phase::block(&phase));
        } else {
            self.out.notes.note("the phase of a message", Severity::Info);
        }
    }

    /// Adds a block that only its vendor can read, or for another target the text that replaces it.
    fn put_vendor_block(&mut self, block: VendorBlock<'static>, blocks: &mut Vec<Block<'t>>) {
        if self.target == Format::Generic || BlockFormat::of(self.target) == Some(block.format()) {
            blocks.push(Block::Vendor(Box::new(block)));
            return;
        }
        let (text, what) = block.replacement();
        self.out.notes.lost(what);
        blocks.extend(text.map(|text| Block::text(text.to_owned())));
    }

    /// A library's compaction: its summary as a text, since no common block can replace the messages before it.
    fn compaction(&mut self, part: Value<'t>, piece: &Piece<'t>, blocks: &mut Vec<Block<'t>>) {
        let content = || {
            let object = part.plain_object()?;
            let inner = object_in(object, "value");
            text_in(object, "content").or_else(|| text_in(inner?, "content"))
        };
        let text = piece.texts.first().map(|text| text.text.clone()).or_else(content);
        match text.filter(|text| !is_blank(text)) {
            Some(text) => {
                self.out.notes.lost(LeftOut::Described("a compaction, written as the text of its summary"));
                blocks.push(Block::Text(text));
            }
            None => {
                self.out.notes.lost(LeftOut::Described("an encrypted compaction, with the messages that it replaces"))
            }
        }
    }

    /// A reasoning block, with its signature if the target accepts it.
    fn thought(&mut self, text: Cow<'t, str>, found: Option<&ReasoningSignature<'t>>, blocks: &mut Vec<Block<'t>>) {
        let signature = found.filter(|found| found.is_accepted_by(self.target)).map(ReasoningSignature::write);
        // A target without reasoning reports that itself.
        if found.is_some() && signature.is_none() && self.target != Format::OpenAi {
            self.out.notes.note("the signature of reasoning, which is another vendor's", Severity::Info);
        }
        if signature.is_some() || !is_blank(&text) {
            blocks.push(Block::Reasoning { text, signature: signature.map(Cow::Owned), redacted: false });
        }
    }
}

/// The value at the end of a path.
fn walk<'t>(value: Value<'t>, path: &[Step]) -> Option<Value<'t>> {
    path.iter().try_fold(value, |value, step| match step {
        Step::Key(key) => value.plain_object()?.get(key).ok()?,
        Step::At(at) => value.as_list()?.nth(*at),
    })
}

/// The text of reasoning.
fn reasoning_text<'t>(part: Value<'t>) -> Cow<'t, str> {
    let Some(object) = part.plain_object() else { return part.as_text().unwrap_or_default() };
    let text =
        ["thinking", "text", "reasoning", "content", "summary"].into_iter().find_map(|name| text_in(object, name));
    if let Some(text) = text {
        return text;
    }
    let mut texts: Vec<String> = Vec::new();
    for name in ["summary", "content", "rawContent"] {
        if let (Some(list), true) = (object.last(name), texts.is_empty()) {
            each_text(list, &mut |text| texts.push(text.to_owned()));
        }
    }
    Cow::Owned(texts.join("\n\n"))
}

/// The arguments of a call, and whether they are a text other than JSON.
fn arguments(call: Value<'_>) -> Result<(Option<Value<'_>>, bool)> {
    let Some(object) = call.plain_object() else { return Ok((None, false)) };
    let call = openai_chat::part::read_call(object)?;
    if let Some(called) = call.tool.value {
        let (found, is_text) = arguments(called)?;
        return Ok((found, is_text || call.is_custom));
    }
    if let Data::Call(_, inner) = gemini::part::read(object)?.data
        && inner.kind() == JsonKind::Object
    {
        return arguments(inner);
    }
    let [arguments, args, input] = object.fields(["arguments", "args", "input"])?;
    Ok((arguments.or(args).or(input), ItemKind::of_item(object) == ItemKind::CustomCall))
}

/// The signature of reasoning or a part, in any vendor's form. Gateways mix several in one format.
fn signature_of<'t>(format: Format, part: Object<'t>) -> Option<ReasoningSignature<'t>> {
    let signed = gemini::part::read(part).ok().and_then(|part| part.signature).and_then(Value::as_text);
    if let Some(signature) = signed {
        return (signature != NO_SIGNATURE).then_some(ReasoningSignature::Thought(signature));
    }
    let kind = text_in(part, "type").unwrap_or_default();
    if let Ok(Part::Reasoning { signature, form: SignatureForm::Redacted, .. }) = anthropic::part::read(part, &kind) {
        return signature.and_then(Value::as_text).map(ReasoningSignature::Redacted);
    }
    if openai_chat::fields::is_sealed_detail(part) {
        return openai_chat::fields::sealed_detail(part);
    }
    match (format, text_in(part, "signature").filter(|signature| !signature.is_empty())) {
        (Format::Interactions, signature) => signature.map(ReasoningSignature::Thought),
        (Format::Generic, Some(signature)) => ReasoningSignature::of(signature),
        (_, Some(signature)) => Some(ReasoningSignature::Thinking(signature)),
        (_, None) => openai_responses::fields::sealed(part).or_else(|| ai_sdk::fields::signature(part)),
    }
}
