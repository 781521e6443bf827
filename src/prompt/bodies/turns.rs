//! What is said, in an order that every provider takes: results directly after their calls, nobody's part in another's
//! message, and texts in the place of what cannot be sent.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::escape::Json;
use super::media::{self, Media};
use super::target::Target;
use super::texts::Flow;
use crate::error::{Diagnostic, DiagnosticCode, Severity};
use crate::prompt::{Content, Message, Part, Role, ToolCallPart, ToolResultPart};

/// What a provider takes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    /// Its name, for diagnostics.
    pub name: &'static str,
    /// Whether the first message has to be the user's.
    pub user_first: bool,
    /// Whether the system context has a field of its own.
    pub system_field: bool,
    /// Whether a piece of media can stand there.
    pub takes: fn(Place, &Media<'_>) -> bool,
    /// Whether reasoning with this text and signature can be handed back.
    pub takes_reasoning: fn(&str, Option<&str>) -> bool,
    /// The longest id of a tool call, and whether it may hold anything but letters, digits, `_` and `-`.
    pub id: (usize, bool),
}

/// Where a piece of media stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    User,
    Assistant,
    Result,
}

/// One thing that is said.
#[derive(Clone, Debug)]
pub(super) struct Saying<'m> {
    pub role: Role,
    /// The message it comes from; none for what was put there.
    pub message: Option<usize>,
    pub what: What<'m>,
}

#[derive(Clone, Debug)]
pub(super) enum What<'m> {
    Text(Cow<'m, str>),
    Media(Media<'m>),
    Call(Call<'m>),
    Answer(Answer<'m>),
    Thought { text: &'m str, signature: Option<&'m str> },
}

#[derive(Clone, Debug)]
pub(super) struct Call<'m> {
    pub id: Cow<'m, str>,
    pub name: &'m str,
    pub arguments: &'m Value,
}

#[derive(Clone, Debug)]
pub(super) struct Answer<'m> {
    pub id: Cow<'m, str>,
    /// The tool that was called.
    pub name: &'m str,
    pub content: Vec<Piece<'m>>,
    pub is_error: bool,
}

#[derive(Clone, Debug)]
pub(super) enum Piece<'m> {
    Text(Cow<'m, str>),
    Media(Media<'m>),
}

impl<'m> Piece<'m> {
    pub(super) fn media(&self) -> Option<&Media<'m>> {
        if let Self::Media(media) = self { Some(media) } else { None }
    }
}

impl Answer<'_> {
    /// The text, where there is nothing else.
    pub(super) fn text(&self) -> Option<&str> {
        match self.content.as_slice() {
            [] => Some(""),
            [Piece::Text(text)] => Some(text),
            _ => None,
        }
    }
}

/// A conversation as it is sent.
#[derive(Debug)]
pub(super) struct Plan<'m> {
    /// The system context; none where it stands among the sayings.
    pub system: Option<Cow<'m, str>>,
    pub sayings: Vec<Saying<'m>>,
}

/// What a body is written of: messages, or texts of which most was written before.
#[derive(Debug)]
pub(super) struct Talk<'t, 'm> {
    /// The system context that stands in no message, and who says it where there is no field for it.
    pub system: Option<(Role, &'m str)>,
    pub messages: &'m [Message<'m>],
    pub flow: Option<Flow<'t>>,
}

impl<'m> Talk<'_, 'm> {
    /// How many messages there are.
    pub(super) fn count(&self) -> usize {
        self.flow.as_ref().map_or(self.messages.len(), |flow| flow.texts.count())
    }

    /// Who says the message at this place.
    pub(super) fn role(&self, at: usize) -> Option<Role> {
        match &self.flow {
            Some(flow) => (at < flow.texts.count()).then(|| flow.texts.role(at)),
            None => self.messages.get(at).map(|message| message.role),
        }
    }

    /// Whether the assistant has the last word.
    pub(super) fn ends_with_assistant(&self, plan: &Plan<'_>) -> bool {
        let last = match &self.flow {
            Some(_) => self.count().checked_sub(1).and_then(|last| self.role(last)),
            None => plan.sayings.last().map(|last| last.role),
        };
        last == Some(Role::Assistant)
    }

    /// Writes the texts, which come after all sayings of the plan.
    pub(super) fn texts(&mut self, json: &mut Json, write: impl Fn(&mut Json, Role, Tell<'_>)) {
        self.texts_but(json, &BTreeSet::new(), |json, _, role, tell| write(json, role, tell));
    }

    /// The same, where the texts at these places are written in another form than the others.
    pub(super) fn texts_but(
        &mut self,
        json: &mut Json,
        apart: &BTreeSet<usize>,
        write: impl Fn(&mut Json, usize, Role, Tell<'_>),
    ) {
        if let Some(flow) = &mut self.flow {
            let texts = flow.texts;
            flow.pour(json, apart, |json, at| write(json, at, texts.role(at), &|say| texts.text(at, say)));
        }
    }
}

/// `{"role":"…","content":"…"}`, as all but Gemini have it.
pub(super) fn text_message(json: &mut Json, role: Role, tell: Tell<'_>) {
    // Written as it is, since there are so many of them.
    json.raw(match role {
        Role::Assistant => r#"{"role":"assistant","content":"#,
        _ => r#"{"role":"user","content":"#,
    });
    json.said(tell);
    json.close(b'}');
}

pub(super) fn speaker(role: Role) -> &'static str {
    if role == Role::Assistant { "assistant" } else { "user" }
}

/// What hands over a text, piece by piece.
pub(super) type Tell<'t> = &'t dyn Fn(&mut dyn FnMut(&str));

/// Takes down what was done to the conversation.
pub(super) struct Notes<'n> {
    pub list: &'n mut Vec<Diagnostic>,
    /// The node that a message holds, where it is a single one.
    pub holder: &'n dyn Fn(usize) -> Option<&'n str>,
}

impl Notes<'_> {
    #[cold]
    pub(super) fn add(&mut self, code: DiagnosticCode, severity: Severity, message: Option<usize>, text: String) {
        let mut diagnostic = Diagnostic::new(code, severity, text);
        if let Some(at) = message {
            diagnostic = diagnostic.at_path(format!("messages[{at}]"));
            if let Some(only) = (self.holder)(at) {
                diagnostic = diagnostic.about_node(only);
            }
        }
        self.list.push(diagnostic);
    }

    pub(super) fn warn(&mut self, code: DiagnosticCode, message: Option<usize>, text: String) {
        self.add(code, Severity::Warning, message, text);
    }

    pub(super) fn info(&mut self, code: DiagnosticCode, message: Option<usize>, text: String) {
        self.add(code, Severity::Info, message, text);
    }
}

/// Puts the conversation in the order in which it is sent. Texts come after all of it, as they are.
pub(super) fn plan<'m>(talk: &Talk<'_, 'm>, target: &'m Target, rules: &Rules, notes: &mut Notes<'_>) -> Plan<'m> {
    let messages = talk.messages;
    let mut plan = Plan { system: None, sayings: Vec::with_capacity(messages.len() + 1) };
    if let Some((role, system)) = talk.system {
        let system = Cow::Borrowed(system);
        if rules.system_field {
            plan.system = Some(system);
        } else {
            plan.sayings.push(Saying { role, message: None, what: What::Text(system) });
        }
    }
    let (flat, has_tools) = flatten(messages, rules, &mut plan, notes);
    let order = Order { target, rules, notes, pairs: if has_tools { Pairs::find(&flat) } else { Pairs::default() } };
    order.arrange(&flat, &mut plan.sayings);
    let first = plan.sayings.iter().position(|saying| !matches!(saying.role, Role::System | Role::Developer));
    let at = first.unwrap_or(plan.sayings.len());
    let begins = first.and_then(|at| plan.sayings.get(at)).map(|saying| saying.role);
    let begins = begins.or_else(|| talk.flow.as_ref().and_then(|_| talk.role(0)));
    // Without a single message, a system context alone is no request either.
    let wanted = begins.is_none_or(|role| rules.user_first && role != Role::User);
    if wanted {
        let text = Cow::Borrowed(target.opening_text.as_str());
        plan.sayings.insert(at, Saying { role: Role::User, message: None, what: What::Text(text) });
        let why = if begins.is_some() {
            format!("{} requires a user message first", rules.name)
        } else {
            "the conversation has no messages".to_owned()
        };
        let message = format!("{why}; `{}` stands there", target.opening_text);
        notes.info(DiagnosticCode::BodyMessageInserted, None, message);
    }
    plan
}

/// A part before it is put in order.
#[derive(Clone, Copy, Debug)]
struct Flat<'m> {
    role: Role,
    message: usize,
    part: FlatPart<'m>,
}

#[derive(Clone, Copy, Debug)]
enum FlatPart<'m> {
    Text(&'m str),
    Part(&'m Part<'m>),
}

/// All parts, each with the role that it has by its nature: calls and thoughts are the model's, results the user's.
fn flatten<'m>(
    messages: &'m [Message<'m>],
    rules: &Rules,
    plan: &mut Plan<'m>,
    notes: &mut Notes<'_>,
) -> (Vec<Flat<'m>>, bool) {
    let mut flat = Vec::with_capacity(messages.len());
    let mut has_tools = false;
    for (at, message) in messages.iter().enumerate() {
        let is_system = matches!(message.role, Role::System | Role::Developer);
        match &message.content {
            Content::Text(text) if is_system && rules.system_field => {
                if !flat.is_empty() {
                    let said = format!("{} has one place for the system context; it stands there", rules.name);
                    notes.info(DiagnosticCode::BodyPartMoved, Some(at), said);
                }
                plan.system = Some(match plan.system.take() {
                    Some(before) => Cow::Owned(format!("{before}\n\n{text}")),
                    None => Cow::Borrowed(text),
                });
            }
            Content::Text(text) => {
                if !text.trim_start().is_empty() {
                    flat.push(Flat { role: message.role, message: at, part: FlatPart::Text(text) });
                }
            }
            Content::Parts(parts) => {
                for part in parts {
                    let role = match part {
                        Part::ToolCall(_) | Part::Reasoning { .. } => Role::Assistant,
                        Part::ToolResult(_) => Role::User,
                        Part::Text { text } if text.trim_start().is_empty() => continue,
                        _ => message.role,
                    };
                    has_tools |= matches!(part, Part::ToolCall(_) | Part::ToolResult(_));
                    flat.push(Flat { role, message: at, part: FlatPart::Part(part) });
                }
            }
        }
    }
    (flat, has_tools)
}

/// Which result answers which call, by places in the flat list.
#[derive(Debug, Default)]
struct Pairs {
    result_of: BTreeMap<usize, usize>,
    answered: BTreeSet<usize>,
    /// How many parts before a place are not results.
    others_before: Vec<usize>,
}

impl Pairs {
    /// A result belongs to the nearest call before it that has its id and no result yet.
    fn find(flat: &[Flat<'_>]) -> Self {
        let mut open: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        let mut pairs = Self::default();
        let mut others = 0;
        for (at, item) in flat.iter().enumerate() {
            pairs.others_before.push(others);
            match item.part {
                FlatPart::Part(Part::ToolCall(call)) => open.entry(call.id).or_default().push(at),
                FlatPart::Part(Part::ToolResult(result)) => {
                    if let Some(call) = open.get_mut(result.tool_call_id).and_then(Vec::pop) {
                        pairs.result_of.insert(call, at);
                        pairs.answered.insert(at);
                    }
                    continue;
                }
                _ => {}
            }
            others += 1;
        }
        pairs.others_before.push(others);
        pairs
    }

    /// Whether something else stands between a place and a result after it.
    fn apart(&self, from: usize, result: usize) -> bool {
        self.others_before.get(from) != self.others_before.get(result)
    }
}

struct Order<'o, 'n> {
    target: &'o Target,
    rules: &'o Rules,
    notes: &'o mut Notes<'n>,
    pairs: Pairs,
}

/// A call whose result has not been put in its place yet.
struct Open<'m> {
    at: usize,
    id: Cow<'m, str>,
    name: &'m str,
}

impl Order<'_, '_> {
    fn arrange<'m>(mut self, flat: &[Flat<'m>], out: &mut Vec<Saying<'m>>) {
        let mut ids = Ids { rule: self.rules.id, used: BTreeMap::new() };
        let mut open: Vec<Open<'m>> = Vec::new();
        for (at, item) in flat.iter().enumerate() {
            if item.role != Role::Assistant {
                self.answers(flat, at, &mut open, out);
            }
            let message = Some(item.message);
            let what = match item.part {
                FlatPart::Text(text) => What::Text(Cow::Borrowed(text)),
                FlatPart::Part(Part::Text { text }) => What::Text(Cow::Borrowed(text)),
                FlatPart::Part(Part::Image(image)) => {
                    let Some(media) = Media::image(image) else {
                        out.push(self.missing(item, media::stand_in("image", image.alt_text)));
                        continue;
                    };
                    self.media(media, place(item.role), item.message)
                }
                FlatPart::Part(Part::Audio(audio)) => {
                    let Some(media) = Media::audio(audio) else {
                        out.push(self.missing(item, media::stand_in("audio", None)));
                        continue;
                    };
                    self.media(media, place(item.role), item.message)
                }
                FlatPart::Part(Part::Reasoning { text, signature }) => {
                    if !self.reasoning(text, *signature, item.message) {
                        continue;
                    }
                    What::Thought { text, signature: *signature }
                }
                FlatPart::Part(Part::ToolCall(call)) => {
                    if !self.pairs.result_of.contains_key(&at) {
                        self.broken(item.message, format!("tool call `{}` has no result after it", call.id));
                        continue;
                    }
                    let id = self.id(&mut ids, call, item.message);
                    open.push(Open { at, id: id.clone(), name: call.name });
                    What::Call(Call { id, name: call.name, arguments: call.arguments })
                }
                FlatPart::Part(Part::ToolResult(result)) => {
                    if !self.pairs.answered.contains(&at) {
                        let said = format!("the result of tool call `{}` has no call before it", result.tool_call_id);
                        self.broken(item.message, said);
                    }
                    continue;
                }
            };
            out.push(Saying { role: item.role, message, what });
        }
        self.answers(flat, flat.len(), &mut open, out);
    }

    /// The results of the calls that the turn before `at` made, wherever they stand.
    fn answers<'m>(&mut self, flat: &[Flat<'m>], at: usize, open: &mut Vec<Open<'m>>, out: &mut Vec<Saying<'m>>) {
        for call in open.drain(..) {
            let Some(&place) = self.pairs.result_of.get(&call.at) else { continue };
            let Some(Flat { message, part: FlatPart::Part(Part::ToolResult(result)), .. }) = flat.get(place) else {
                continue;
            };
            if self.pairs.apart(at, place) {
                let said = format!(
                    "the result of tool call `{}` stands directly after its call, before what came between",
                    result.tool_call_id
                );
                self.notes.info(DiagnosticCode::BodyPartMoved, Some(*message), said);
            }
            let content = self.pieces(result, *message);
            let is_error = result.is_error == Some(true);
            let answer = Answer { id: call.id, name: call.name, content, is_error };
            out.push(Saying { role: Role::User, message: Some(*message), what: What::Answer(answer) });
        }
    }

    fn pieces<'m>(&mut self, result: &'m ToolResultPart<'m>, message: usize) -> Vec<Piece<'m>> {
        let parts = match &result.content {
            Content::Text(text) => return vec![Piece::Text(Cow::Borrowed(text))],
            Content::Parts(parts) => parts,
        };
        let mut pieces = Vec::with_capacity(parts.len());
        for part in parts {
            let (media, stand_in) = match part {
                Part::Text { text } if text.trim_start().is_empty() => continue,
                Part::Text { text } => {
                    pieces.push(Piece::Text(Cow::Borrowed(text)));
                    continue;
                }
                Part::Image(image) => (Media::image(image), media::stand_in("image", image.alt_text)),
                Part::Audio(audio) => (Media::audio(audio), media::stand_in("audio", None)),
                Part::ToolCall(_) | Part::ToolResult(_) | Part::Reasoning { .. } => {
                    let said = "a tool result can hold text and media only; another part in it was left out";
                    self.notes.warn(DiagnosticCode::NonTextLeftOut, Some(message), said.to_owned());
                    continue;
                }
            };
            pieces.push(match media.map(|media| self.media(media, Place::Result, message)) {
                Some(What::Media(media)) => Piece::Media(media),
                Some(What::Text(text)) => Piece::Text(text),
                _ => {
                    self.lacks_bytes(message, &stand_in);
                    Piece::Text(Cow::Owned(stand_in))
                }
            });
        }
        pieces
    }

    fn media<'m>(&mut self, media: Media<'m>, place: Place, message: usize) -> What<'m> {
        if (self.rules.takes)(place, &media) {
            return What::Media(media);
        }
        let (where_, stand_in) = (place.name(), media.stand_in());
        let said = format!(
            "{} takes no {} in {where_}; `{stand_in}` stands in its place",
            self.rules.name,
            media.description()
        );
        self.notes.warn(DiagnosticCode::BodyPartReplaced, Some(message), said);
        What::Text(Cow::Owned(stand_in))
    }

    fn missing<'m>(&mut self, item: &Flat<'m>, stand_in: String) -> Saying<'m> {
        self.lacks_bytes(item.message, &stand_in);
        Saying { role: item.role, message: Some(item.message), what: What::Text(Cow::Owned(stand_in)) }
    }

    fn lacks_bytes(&mut self, message: usize, stand_in: &str) {
        let said = format!("a part has neither `data` nor `url`; `{stand_in}` stands in its place");
        self.notes.warn(DiagnosticCode::MediaMissing, Some(message), said);
    }

    fn reasoning(&mut self, text: &str, signature: Option<&str>, message: usize) -> bool {
        if self.target.drop_reasoning {
            let said = "reasoning was left out, as `target.dropReasoning` says";
            self.notes.info(DiagnosticCode::BodyReasoningLeftOut, Some(message), said.to_owned());
            return false;
        }
        let takes = (self.rules.takes_reasoning)(text, signature);
        if !takes {
            let which = if signature.is_some() { "this reasoning" } else { "reasoning without a signature of its own" };
            let said = format!("{} does not take {which} back; it was left out", self.rules.name);
            self.notes.warn(DiagnosticCode::BodyReasoningLeftOut, Some(message), said);
        }
        takes
    }

    fn id<'m>(&mut self, ids: &mut Ids, call: &ToolCallPart<'m>, message: usize) -> Cow<'m, str> {
        let id = ids.assign(call.id);
        if id != call.id {
            let said =
                format!("the id `{}` of a tool call is `{id}` in the body, for the call and its result", call.id);
            self.notes.info(DiagnosticCode::BodyIdChanged, Some(message), said);
        }
        id
    }

    fn broken(&mut self, message: usize, what: String) {
        self.notes.warn(DiagnosticCode::ToolPairBroken, Some(message), format!("{what}; it was left out"));
    }
}

fn place(role: Role) -> Place {
    if role == Role::Assistant { Place::Assistant } else { Place::User }
}

impl Place {
    fn name(self) -> &'static str {
        match self {
            Self::User => "a user message",
            Self::Assistant => "an assistant message",
            Self::Result => "a tool result",
        }
    }
}

/// Ids that a provider takes, each for one call only.
struct Ids {
    rule: (usize, bool),
    /// For each id in use, the number that was last put behind it.
    used: BTreeMap<String, usize>,
}

impl Ids {
    fn assign<'m>(&mut self, id: &'m str) -> Cow<'m, str> {
        let (longest, any) = self.rule;
        let fits = |ch: char| any || ch.is_ascii_alphanumeric() || ch == '_' || ch == '-';
        let fine = !id.is_empty() && id.len() <= longest && id.chars().all(fits);
        let base = if fine {
            Cow::Borrowed(id)
        } else {
            let short = id.get(..id.floor_char_boundary(longest)).unwrap_or_default();
            let clean: String = short.chars().map(|ch| if fits(ch) { ch } else { '_' }).collect();
            Cow::Owned(if clean.is_empty() { "call".to_owned() } else { clean })
        };
        let Some(&last) = self.used.get(base.as_ref()) else {
            self.used.insert(base.clone().into_owned(), 1);
            return base;
        };
        let mut number = last;
        loop {
            number += 1;
            let tail = format!("_{number}");
            let room = longest.saturating_sub(tail.len());
            let head = base.get(..base.floor_char_boundary(room)).unwrap_or_default();
            let candidate = format!("{head}{tail}");
            if !self.used.contains_key(&candidate) {
                self.used.insert(base.into_owned(), number);
                self.used.insert(candidate.clone(), 1);
                return Cow::Owned(candidate);
            }
        }
    }
}

/// The block that a provider gave, where a signature is the JSON text of one: an object with a `type`.
pub(super) fn vendor_block(signature: &str) -> Option<Value> {
    let text = signature.trim_start();
    if !text.starts_with('{') {
        return None;
    }
    let block: Value = serde_json::from_str(text).ok()?;
    block.get("type").is_some_and(Value::is_string).then_some(block)
}

/// A string of such a block.
pub(super) fn string_of<'b>(block: &'b Value, kind: &str, field: &str) -> Option<&'b str> {
    let is = block.get("type").and_then(Value::as_str) == Some(kind);
    block.get(field).and_then(Value::as_str).filter(|_| is)
}
