//! A message as fitting sees it: pieces with a cost, a place in the message, and links.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::Value as Json;

use crate::content::Role;
use crate::error::Result;
use crate::hashing::Hasher;
use crate::json::{Value, object};
use crate::vendors::anthropic::images::is_large;
use crate::vendors::media::{Medium, medium_of};
use crate::vendors::price::Prices;
use crate::vendors::value_price::image_size;

/// A step of a path within a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(untagged)]
pub enum Step {
    /// A field of an object.
    Key(&'static str),
    /// An item of a list.
    At(usize),
}

/// A piece, by its message and its place there.
pub(crate) type At = (usize, usize);

/// The path of a value in its message.
pub type Path = Vec<Step>;

/// Appends steps to the path `base`.
pub(crate) fn path(base: &[Step], more: &[Step]) -> Path {
    [base, more].concat()
}

/// The names of roles in all formats.
pub(crate) const ROLES: &[(&str, Role)] = &[
    ("system", Role::System),
    ("developer", Role::System),
    ("user", Role::User),
    ("human", Role::User),
    ("assistant", Role::Assistant),
    ("ai", Role::Assistant),
    ("model", Role::Assistant),
    ("tool", Role::Tool),
    ("function", Role::Tool),
];

/// The kind of a piece.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Kind<'t> {
    Text,
    /// A call, with the id that its result names.
    Call {
        id: Cow<'t, str>,
        name: Cow<'t, str>,
    },
    /// The result of the call with this id.
    Result {
        id: Cow<'t, str>,
    },
    /// A call and its result in one.
    CallAndResult {
        name: Cow<'t, str>,
    },
    Reasoning,
    Image,
    /// Kept or removed with others of this id, for example the request and the answer of a call's approval.
    Approval {
        id: Cow<'t, str>,
        call: Option<Cow<'t, str>>,
    },
    Other,
}

/// Why a message is missing or changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Reason {
    /// Removed by the strategy.
    OverLimit,
    /// One of its texts was shortened: it is protected, at the edge of the gap, or part of the last unit that does not
    /// fit.
    Shortened,
    /// A call without its result, or a result without its call.
    ToolPairBroken,
    /// `edits.toolResults`: replaced by the placeholder.
    ResultCleared,
    /// `edits.toolResults`: shortened to `maxTokens`, or, as the last one, to the remaining tokens.
    ResultShortened,
    /// `edits.toolInputs`: the arguments of a call were cleared.
    InputCleared,
    /// `edits.toolCalls`.
    CallRemoved,
    /// `edits.reasoning`; or the `id` of an item of OpenAI whose reasoning was removed.
    ReasoningRemoved,
    /// `edits.images`.
    ImageRemoved,
    /// `endOn`: nothing may follow the last message of these roles.
    EndOn,
    /// An empty text, which Anthropic rejects.
    EmptyText,
    /// Nothing with content is left of it.
    NothingLeft,
    /// Signed thinking after the first changed message, which its vendor would reject.
    ReasoningPrefixChanged,
    /// Replaced by a compaction.
    Compacted,
    /// A turn of the model with which a conversation may not begin.
    FirstTurn,
    /// A marker or summary of an earlier fit that a new one replaces.
    Replaced,
}

/// How a format writes a text that replaces other content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TextShape {
    String,
    /// `{ type: "text", text }`
    TextPart,
    /// `{ type: "input_text", text }`
    InputText,
    /// `{ text }`.
    GeminiPart,
    /// `{ output }`, a function's response
    GeminiResponse,
    /// `{ type: "text", value }`, a tool's output
    AiSdkOutput,
    /// `{}`, the arguments of a call
    NoArguments,
}

impl TextShape {
    pub(crate) fn write(self, text: &str) -> Json {
        match self {
            Self::String => text.into(),
            Self::TextPart => object([("type", "text".into()), ("text", text.into())]),
            Self::InputText => object([("type", "input_text".into()), ("text", text.into())]),
            Self::GeminiPart => object([("text", text.into())]),
            Self::GeminiResponse => object([("output", text.into())]),
            Self::AiSdkOutput => object([("type", "text".into()), ("value", text.into())]),
            Self::NoArguments => Json::Object(serde_json::Map::new()),
        }
    }
}

/// A text of a piece that may be cut.
#[derive(Clone, Debug)]
pub(crate) struct Text<'t> {
    pub path: Path,
    pub text: Cow<'t, str>,
    pub tokens: u64,
}

/// An image within a piece, such as those in the result of a tool.
#[derive(Clone, Debug)]
pub(crate) struct InnerImage {
    pub path: Path,
    /// How to write a replacing text; `None` if no text is allowed and it is removed.
    pub shape: Option<TextShape>,
    pub tokens: u64,
    /// Whether Anthropic rejects it in a request with many.
    pub is_large: bool,
}

/// A change of a message: a value that is set at a path, or a path that is removed. As JSON a list, `[path, value]` or
/// `[path]`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub(crate) enum Change {
    Set(Path, Json),
    Remove([Path; 1]),
}

/// The arguments of a call, which may be cleared.
#[derive(Clone, Debug)]
pub(crate) struct CallInput {
    pub path: Path,
    pub shape: TextShape,
    pub tokens: u64,
    /// The hash of its JSON: equal calls have equal arguments.
    pub hash: u64,
    /// Its beginning, for a summarizer.
    pub shown: String,
}

/// Characters of arguments in a summarizer's input.
const MAX_SHOWN: usize = 200;

/// The beginning of a text.
fn shown(text: &str) -> String {
    match text.char_indices().nth(MAX_SHOWN) {
        Some((end, _)) => [text.get(..end).unwrap_or_default(), "…"].concat(),
        None => text.to_owned(),
    }
}

/// A part of a message that is kept, changed or removed separately.
#[derive(Clone, Debug)]
pub(crate) struct Piece<'t> {
    pub kind: Kind<'t>,
    /// All its places; empty if it is the whole message.
    pub places: Vec<Path>,
    /// The texts that may be cut.
    pub texts: Vec<Text<'t>>,
    /// The place at which a text can replace it, and the form of that text: the content of a result, the part of an
    /// image.
    pub body: Option<(Path, TextShape)>,
    /// Another place with more of its body, which is removed when a text replaces the body.
    pub rest: Option<Path>,
    /// The images in its body that may be replaced, the last one first.
    pub images: Vec<InnerImage>,
    pub input: Option<CallInput>,
    /// Its original cost.
    pub tokens: u64,
    /// The part of that cost that remains if a text replaces its body.
    pub outside_body: u64,
    /// Its current cost.
    pub now: u64,
    /// The step within a run in one message that it belongs to.
    pub step: usize,
    /// The id of the call that made this call, of a program or a server tool: they are kept or removed together.
    pub caller: Option<Cow<'t, str>>,
    /// Whether Anthropic signed it: thinking or a compaction.
    pub signed: bool,
    /// Whether OpenAI encrypted it: reasoning that is withheld from the model once an earlier message changes.
    pub is_sealed_by_openai: bool,
    /// Whether it replaces everything before it.
    pub is_compaction: bool,
    /// Whether it is an image that Anthropic rejects in a request with many.
    pub is_large_image: bool,
    /// Anthropic's blocks with a cache breakpoint: itself, and those within it.
    pub cache_marks: Vec<Path>,
    /// Its cost if its message were billed.
    pub unbilled: u64,
    pub removed: Option<Reason>,
    pub changed: Option<Reason>,
    pub changes: Vec<Change>,
}

impl Piece<'_> {
    pub(crate) fn is_there(&self) -> bool {
        self.removed.is_none()
    }

    /// Removes it; returns the freed tokens.
    pub(crate) fn remove(&mut self, reason: Reason) -> u64 {
        if self.removed.is_some() {
            return 0;
        }
        self.removed = Some(reason);
        std::mem::take(&mut self.now)
    }

    /// The number of its cache breakpoints that its changes leave.
    pub(crate) fn cache_marks_left(&self) -> usize {
        let is_left = |mark: &&Path| {
            !self.changes.iter().any(|change| {
                let (Change::Set(path, _) | Change::Remove([path])) = change;
                mark.starts_with(path)
            })
        };
        self.cache_marks.iter().filter(is_left).count()
    }

    /// Replaces its body by a text; returns the freed tokens, or 0 without a change if none would be freed.
    pub(crate) fn put_text(&mut self, text: &str, tokens: u64, reason: Reason) -> u64 {
        let now = self.outside_body.saturating_add(tokens);
        let Some((path, shape)) = self.body.as_ref().filter(|_| self.removed.is_none() && now < self.now) else {
            return 0;
        };
        self.changes = vec![Change::Set(path.clone(), shape.write(text))];
        self.changes.extend(self.rest.clone().map(|path| Change::Remove([path])));
        self.changed = Some(reason);
        self.texts.clear();
        self.images.clear();
        std::mem::replace(&mut self.now, now).saturating_sub(now)
    }

    /// Clears its arguments; returns the freed tokens, or 0 without a change if none would be freed.
    pub(crate) fn clear_input(&mut self, tokens: u64, reason: Reason) -> u64 {
        // The copies of a call in several places would differ.
        let is_one = self.places.len() < 2 && self.removed.is_none();
        let Some(input) = self.input.take_if(|input| is_one && input.tokens > tokens) else { return 0 };
        let freed = input.tokens - tokens;
        self.changes.push(Change::Set(input.path, input.shape.write(EMPTY_INPUT)));
        self.changed = Some(reason);
        self.now = self.now.saturating_sub(freed);
        freed
    }

    /// Replaces its next image, or itself if it is one, by a text; returns the freed tokens, or 0 without a change if
    /// none would be freed.
    pub(crate) fn replace_image(&mut self, text: &str, tokens: u64, reason: Reason) -> u64 {
        if self.kind == Kind::Image {
            return self.put_text(text, tokens, reason);
        }
        let Some(image) = self.images.pop().filter(|_| self.removed.is_none()) else { return 0 };
        let tokens = if image.shape.is_some() { tokens } else { 0 };
        let Some(freed @ 1..) = image.tokens.checked_sub(tokens) else { return 0 };
        self.changes.push(match image.shape {
            Some(shape) => Change::Set(image.path, shape.write(text)),
            None => Change::Remove([image.path]),
        });
        self.changed = Some(reason);
        self.now = self.now.saturating_sub(freed);
        freed
    }

    /// Removes the id of its message, since the reasoning before it was removed.
    pub(crate) fn remove_id(&mut self) {
        let removed = Change::Remove([vec![Step::Key("id")]]);
        if !self.changes.contains(&removed) {
            self.changes.push(removed);
            self.changed = Some(Reason::ReasoningRemoved);
        }
    }

    /// Replaces one of its texts by a shorter one.
    pub(crate) fn shorten(&mut self, at: usize, text: String, tokens: u64, reason: Reason) {
        let Some(place) = self.texts.get_mut(at) else { return };
        self.now = self.now.saturating_sub(place.tokens).saturating_add(tokens);
        place.tokens = tokens;
        let is_same = |change: &Change| matches!(change, Change::Set(path, _) if *path == place.path);
        self.changes.retain(|change| !is_same(change));
        self.changes.push(Change::Set(place.path.clone(), Json::String(text.clone())));
        place.text = Cow::Owned(text);
        self.changed = Some(reason);
    }

    /// Whether it has no visible text: reasoning, or a blank text.
    pub(crate) fn is_silent(&self) -> bool {
        match self.kind {
            Kind::Reasoning => true,
            // A text that cannot be cut is not among the texts.
            Kind::Text => {
                let is_blank = |text: &Text<'_>| crate::text::is_blank(&text.text);
                if self.texts.is_empty() { self.now == 0 } else { self.texts.iter().all(is_blank) }
            }
            _ => false,
        }
    }
}

/// A message, read.
#[derive(Clone, Debug)]
pub(crate) struct Message<'t> {
    pub role: Role,
    /// Tokens of its role and name, and of its overhead, for each step.
    pub overhead: u64,
    /// Steps of a run in one message, else 1.
    pub steps: u64,
    pub pieces: Vec<Piece<'t>>,
    /// Whether it has an id at its vendor.
    pub has_id: bool,
    /// Whether it requests a compaction from the vendor, and so has to be last.
    pub asks_compaction: bool,
    /// Whether it is cleared, and free, once a user message follows.
    pub clears: bool,
    /// Its overhead if it were billed.
    pub unbilled: Option<u64>,
    /// Why it is removed, if it is.
    pub removed: Option<Reason>,
}

impl Message<'_> {
    /// A copy with owned texts.
    pub(crate) fn to_owned(&self) -> Message<'static> {
        self.with_texts(&|text| Cow::Owned(text.to_owned()))
    }

    /// A copy that borrows its texts.
    pub(crate) fn borrowed(&self) -> Message<'_> {
        self.with_texts(&|text| Cow::Borrowed(text))
    }

    /// A copy without pieces.
    pub(crate) fn without_pieces(&self) -> Message<'static> {
        Message { pieces: Vec::new(), ..*self }
    }

    fn with_texts<'m, 'u>(&'m self, text: &dyn Fn(&'m str) -> Cow<'u, str>) -> Message<'u> {
        let kind = |kind: &'m Kind<'_>| match kind {
            Kind::Text => Kind::Text,
            Kind::Call { id, name } => Kind::Call { id: text(id), name: text(name) },
            Kind::Result { id } => Kind::Result { id: text(id) },
            Kind::CallAndResult { name } => Kind::CallAndResult { name: text(name) },
            Kind::Reasoning => Kind::Reasoning,
            Kind::Image => Kind::Image,
            Kind::Approval { id, call } => Kind::Approval { id: text(id), call: call.as_deref().map(text) },
            Kind::Other => Kind::Other,
        };
        let of_text = |it: &'m Text<'_>| Text { path: it.path.clone(), text: text(&it.text), tokens: it.tokens };
        let piece = |piece: &'m Piece<'_>| Piece {
            kind: kind(&piece.kind),
            places: piece.places.clone(),
            texts: piece.texts.iter().map(of_text).collect(),
            body: piece.body.clone(),
            rest: piece.rest.clone(),
            images: piece.images.clone(),
            input: piece.input.clone(),
            changes: piece.changes.clone(),
            cache_marks: piece.cache_marks.clone(),
            caller: piece.caller.as_deref().map(text),
            ..*piece
        };
        Message { pieces: self.pieces.iter().map(piece).collect(), ..*self }
    }

    /// Whether it is a user message with content other than tool results.
    pub(crate) fn has_user_content(&self) -> bool {
        let mut pieces = self.pieces.iter().filter(|piece| piece.is_there() && !piece.is_silent());
        self.role == Role::User
            && self.removed.is_none()
            && pieces.any(|piece| !matches!(piece.kind, Kind::Result { .. }))
    }

    /// Whether it holds only reasoning.
    pub(crate) fn is_thought(&self) -> bool {
        !self.pieces.is_empty() && self.pieces.iter().all(|piece| piece.kind == Kind::Reasoning)
    }

    /// Sets whether it is billed; otherwise it costs nothing. Returns whether that changes it.
    pub(crate) fn set_billed(&mut self, is_billed: bool) -> bool {
        match (is_billed, self.unbilled.take()) {
            (true, Some(overhead)) => {
                self.overhead = overhead;
                for piece in &mut self.pieces {
                    piece.tokens = piece.unbilled;
                    piece.now = piece.unbilled;
                }
                true
            }
            (false, None) => {
                self.unbilled = Some(std::mem::take(&mut self.overhead));
                for piece in &mut self.pieces {
                    piece.unbilled = std::mem::take(&mut piece.tokens);
                    piece.now = 0;
                }
                true
            }
            (_, unbilled) => {
                self.unbilled = unbilled;
                false
            }
        }
    }

    /// Its original cost.
    pub(crate) fn tokens(&self) -> u64 {
        self.overhead.saturating_mul(self.steps).saturating_add(self.pieces.iter().map(|piece| piece.tokens).sum())
    }

    /// Its current cost.
    pub(crate) fn now(&self) -> u64 {
        if self.removed.is_some() {
            return 0;
        }
        self.overhead.saturating_mul(self.steps).saturating_add(self.pieces.iter().map(|piece| piece.now).sum())
    }
}

/// Cleared arguments of a call, as JSON.
pub(crate) const EMPTY_INPUT: &str = "{}";

/// Tokens of the overhead of a message, by OpenAI's cookbook; other vendors publish none.
pub(crate) const PER_MESSAGE: u64 = 3;
/// Tokens of a request.
pub(crate) const PER_REQUEST: u64 = 3;
/// For a name in addition to its tokens, and for a call in addition to its name and arguments.
pub(crate) const PER_NAME: u64 = 1;
pub(crate) const PER_CALL: u64 = 3;
/// Collects the pieces of a message.
#[derive(Debug)]
pub(crate) struct Reader<'r, 't> {
    pub prices: Prices<'r>,
    pub pieces: Vec<Piece<'t>>,
    pub step: usize,
}

impl<'r, 't> Reader<'r, 't> {
    pub(crate) fn new(prices: Prices<'r>) -> Self {
        Self { prices, pieces: Vec::new(), step: 0 }
    }

    pub(crate) fn count(&self, text: &str) -> u64 {
        self.prices.text(text)
    }

    /// A new piece at a place; `None` for one that is the whole message.
    pub(crate) fn piece(&mut self, kind: Kind<'t>, place: Option<Path>) -> &mut Self {
        self.pieces.push(Piece {
            kind,
            places: place.into_iter().collect(),
            texts: Vec::new(),
            body: None,
            rest: None,
            images: Vec::new(),
            input: None,
            tokens: 0,
            outside_body: 0,
            now: 0,
            step: self.step,
            caller: None,
            signed: false,
            is_sealed_by_openai: false,
            is_compaction: false,
            is_large_image: false,
            cache_marks: Vec::new(),
            unbilled: 0,
            removed: None,
            changed: None,
            changes: Vec::new(),
        });
        self
    }

    fn last(&mut self) -> Option<&mut Piece<'t>> {
        self.pieces.last_mut()
    }

    /// Sets the caller of the last piece, a call; `None` if it was the model itself.
    pub(crate) fn caller(&mut self, caller: Option<Value<'t>>) {
        let caller = caller.and_then(|caller| caller.plain_object()?.fields(["caller_id", "tool_id"]).ok());
        let caller = caller.and_then(|[program, tool]| program.or(tool)).and_then(Value::as_text);
        self.last().into_iter().for_each(|piece| piece.caller.clone_from(&caller));
    }

    /// Sets whether Anthropic signed the last piece.
    pub(crate) fn signed(&mut self, signed: bool) {
        self.last().into_iter().for_each(|piece| piece.signed = signed);
    }

    /// Sets whether OpenAI encrypted the last piece.
    pub(crate) fn sealed_by_openai(&mut self, sealed: bool) {
        self.last().into_iter().for_each(|piece| piece.is_sealed_by_openai = sealed);
    }

    /// Adds a compaction, which replaces everything before it if `is_whole`.
    pub(crate) fn compaction(&mut self, place: Option<Path>, value: Value<'t>, is_whole: bool) -> &mut Self {
        let tokens = self.prices.compaction(value);
        self.piece(Kind::Other, place).tokens(tokens).stands_for_all(is_whole)
    }

    /// Sets whether the last piece replaces everything before it.
    pub(crate) fn stands_for_all(&mut self, is_compaction: bool) -> &mut Self {
        self.last().into_iter().for_each(|piece| piece.is_compaction = is_compaction);
        self
    }

    /// Adds tokens to the last piece.
    pub(crate) fn tokens(&mut self, tokens: u64) -> &mut Self {
        self.last().into_iter().for_each(|piece| piece.tokens = piece.tokens.saturating_add(tokens));
        self
    }

    /// Adds a text that may be cut to the last piece.
    pub(crate) fn text(&mut self, at: Path, value: Value<'t>) -> Result<&mut Self> {
        let text = value.text()?;
        let tokens = self.count(&text);
        self.last()
            .into_iter()
            .for_each(|piece| piece.texts.push(Text { path: at.clone(), text: text.clone(), tokens }));
        Ok(self.tokens(tokens))
    }

    /// Adds a value that is never changed to the last piece: a string costs its text, everything else its JSON, with
    /// images, recordings and files in it at their cost.
    pub(crate) fn value(&mut self, value: Option<Value<'t>>) -> &mut Self {
        let tokens = value.map_or(0, |value| self.prices.value(value));
        self.tokens(tokens)
    }

    /// Adds a value to the last piece that the model reads as the text of its JSON.
    pub(crate) fn json(&mut self, value: Option<Value<'t>>) -> &mut Self {
        let tokens = value.map_or(0, |value| match value.as_text() {
            Some(text) => self.count(&text),
            None => self.count(&value.json()),
        });
        self.tokens(tokens)
    }

    /// Sets the arguments of the last piece, a call, which may be cleared.
    pub(crate) fn input(&mut self, at: Path, value: Option<Value<'t>>) -> &mut Self {
        let Some(value) = value else { return self };
        let json = value.json();
        let text = value.as_text();
        let shape = if text.is_some() { TextShape::String } else { TextShape::NoArguments };
        let written: &str = text.as_deref().unwrap_or(&json);
        let tokens = self.count(written);
        let mut hasher = Hasher::default();
        hasher.text(&json);
        let input = CallInput { path: at, shape, tokens, hash: hasher.finish(), shown: shown(written) };
        if let Some(piece) = self.last() {
            piece.input = Some(input);
        }
        self.tokens(tokens)
    }

    /// Adds encrypted reasoning to the last piece.
    pub(crate) fn sealed(&mut self, value: Option<Value<'t>>) -> &mut Self {
        let tokens = self.prices.sealed(value);
        self.tokens(tokens)
    }

    /// Sets the place at which a text can replace the last piece, except its cost so far.
    pub(crate) fn body(&mut self, at: Path, shape: TextShape) -> &mut Self {
        if let Some(piece) = self.last() {
            piece.body = Some((at, shape));
            piece.outside_body = piece.tokens;
        }
        self
    }

    /// Adds an image at a place, which a text can replace.
    fn image(&mut self, at: Path, shape: TextShape, source: Option<Value<'t>>) {
        let size = image_size(source);
        let tokens = self.prices.image.tokens(size);
        self.piece(Kind::Image, Some(at.clone())).body(at, shape).tokens(tokens);
        self.last().into_iter().for_each(|piece| piece.is_large_image = size.is_some_and(is_large));
    }

    /// Sets another place of the last piece's body, which is removed with it.
    pub(crate) fn rest(&mut self, at: Path) {
        self.last().into_iter().for_each(|piece| piece.rest = Some(at.clone()));
    }

    /// Adds an image in the body of the last piece; `shape` is that of a replacing text, if one is allowed.
    pub(crate) fn inner_image(&mut self, path: Path, shape: Option<TextShape>, source: Option<Value<'t>>) {
        let size = image_size(source);
        let (tokens, is_large) = (self.prices.image.tokens(size), size.is_some_and(is_large));
        let image = InnerImage { path, shape, tokens, is_large };
        self.last().into_iter().for_each(|piece| piece.images.push(image.clone()));
        self.tokens(tokens);
    }

    /// Adds a part that is not a text, call or result: an image, a recording or a file of any vendor's, or an unknown
    /// one, which costs its JSON. `shape` is that of a text that replaces an image.
    pub(crate) fn other(&mut self, at: Path, value: Value<'t>, shape: TextShape) {
        match value.plain_object().and_then(medium_of) {
            Some(Medium::Image(source)) => self.image(at, shape, source),
            _ => {
                let tokens = self.prices.unknown_part(value);
                self.piece(Kind::Other, Some(at)).tokens(tokens);
            }
        }
    }

    /// The message of these pieces.
    pub(crate) fn message(self, role: Role, overhead: u64) -> Message<'t> {
        let mut pieces = self.pieces;
        for piece in &mut pieces {
            piece.now = piece.tokens;
            piece.images.reverse();
        }
        let steps = self.step.max(1) as u64;
        Message {
            role,
            overhead,
            steps,
            pieces,
            has_id: false,
            asks_compaction: false,
            clears: false,
            unbilled: None,
            removed: None,
        }
    }

    /// The role of a message by its name, and the cost of it and of a name.
    pub(crate) fn role(&self, role: Value<'t>, name: Option<Value<'t>>) -> Result<(Role, u64)> {
        let known = role.one_of(ROLES)?;
        let tokens = PER_MESSAGE + self.count(&role.text()?);
        // The name of a function replaces its role.
        let per_name = if role.is_string("function") { 0 } else { PER_NAME };
        let name = name.and_then(Value::as_text).map_or(0, |name| per_name + self.count(&name));
        Ok((known, tokens + name))
    }
}
