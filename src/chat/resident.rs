//! A resident chat: its messages are read and counted once, when they are appended (docs/chats.md).
//!
//! [`ResidentChat`] makes the decisions of `fitMessages` for the same messages and options, with the same code. The
//! messages themselves stay with the caller; [`Chat`](super::Chat) stores them as well.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::ops::Range;

use serde::Serialize;

use super::billing::Billing;
use super::course::Course;
use super::fit::{EarlierMark, Fit};
use super::messages::{Messages, Sum};
use super::options::{Budget, FitOptions, Phase, RequestFields};
use super::outcome::FitDecisions;
use super::pairs::add_pairs;
use super::request_overhead::{RequestOverhead, overhead_of_request, prices};
use super::rules::{Marks, Rules};
use super::series::{ChatFacts, OutsideFacts};
use super::sizes::MessageSize;
use super::state::{FitState, Previous};
use super::unit_index::UnitIndex;
use crate::call::{Call, CallContext, Response};
use crate::error::{Code, Diagnostic, Error, Result};
use crate::json::{Document, Object, Value};
use crate::tokens::IncrementalCount;
use crate::tool_calls::ToolPairs;
use crate::vendors::chats;
use crate::vendors::detect::{Formats, bit, first_of, formats_next_to};
use crate::vendors::format::Format;
use crate::vendors::message_hash::MessageHash;
use crate::vendors::pieces::message::{Kind, Message, Path, Piece, Step};

/// The methods by name.
pub const METHODS: &[Call<ResidentChat>] = &[
    Call::new("splice", &["at", "remove", "messages", "pinned"], |chat, request, _| splice(chat, request)),
    Call::new("appendText", &[], |chat, request, _| Response::of(&chat.append_text(&request.text()?)?)),
    Call::new("fit", &["options", "target", "last"], |chat, request, host| fit(chat, request, host)),
    Call::new("state", &[], |chat, _, _| Response::of(&chat.state())),
];

/// The data of a chat that fitting requires.
#[derive(Debug)]
pub struct ResidentChat {
    /// JSON of `{ options }`, with `system` and `tools`.
    request: Vec<u8>,
    options: FitOptions,
    budget: Budget,
    /// Diagnostics about the options.
    diagnostics: Vec<Diagnostic>,
    format: Format,
    request_overhead: RequestOverhead,
    messages: Vec<Message<'static>>,
    /// Prefix sums of the costs of the messages.
    sums: Vec<Sum>,
    hashes: RefCell<Vec<MessageHash>>,
    /// The size of each message with `maxBytes`, otherwise empty.
    sizes: RefCell<Vec<MessageSize>>,
    /// Whether text was appended to the last message after it was hashed.
    has_grown: Cell<bool>,
    outside: OutsideFacts,
    /// The state after the last fit by the chat's options.
    state: RefCell<Previous>,
    /// The possible formats of each message, and of all of them together.
    shapes: Vec<Formats>,
    shape: Formats,
    pairs: ToolPairs<'static>,
    /// Whether ids other than those of pairs link messages.
    is_approval: bool,
    marks: Marks,
    /// Messages that may be markers or summaries of an earlier fit.
    earlier: Vec<usize>,
    /// Repairs of the messages' JSON: the message, and the path in it.
    repaired: Vec<(usize, Diagnostic)>,
    /// The incremental count of the text at the end.
    incremental: IncrementalCount,
    /// The index of the last fit by the chat's options, or of an earlier one.
    layout: RefCell<UnitIndex>,
}

/// The result of a change.
#[derive(Debug, Default, Serialize)]
pub(super) struct Changed {
    /// The format has changed: nothing was applied, and all messages have to be passed at once.
    pub again: bool,
    format: &'static str,
    /// The path of the extended text in the last message.
    pub path: Option<Path>,
    /// Tokens of each new or extended message.
    tokens: Vec<u64>,
    /// Tokens of other messages whose cost changed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    repriced: Vec<(usize, u64)>,
    total: u64,
}

/// Messages that replace others.
#[derive(Debug)]
pub(super) struct Splice<'t> {
    /// The first message that is replaced.
    pub at: usize,
    /// The number of replaced messages.
    pub remove: usize,
    pub messages: Value<'t>,
    /// Indices of new messages that are always kept.
    pub pinned: Option<Vec<usize>>,
    /// Repairs of the request.
    pub repaired: Vec<Diagnostic>,
}

fn splice(chat: &mut ResidentChat, request: Value<'_>) -> Result<Response> {
    let repaired = request.repaired();
    let request = request.object("messages and their place, an object")?;
    let pinned = request.read("pinned", |pinned| {
        let index = |index: Value<'_>| Ok(index.whole(u32::MAX)? as usize);
        pinned.list("a list of indices")?.read(index)
    })?;
    let at = request.need("at")?.whole(u32::MAX)? as usize;
    let remove = request.need("remove")?.whole(u32::MAX)? as usize;
    let messages = request.need("messages")?;
    Response::of(&chat.splice(Splice { at, remove, messages, pinned, repaired })?)
}

/// Fits by the chat's options, or by those of `{ options }` with the same format, tokenizer, system context and tools,
/// which are not passed again. Pinned messages are only passed if they differ.
fn fit(chat: &ResidentChat, request: Value<'_>, host: &CallContext) -> Result<Response> {
    let request_object = request.object("options, an object")?;
    if let Some(last) = request_object.get("last")? {
        chat.refresh_last(last);
    }
    let Some(given) = request_object.get("options")? else {
        return Response::of(&FitDecisions { state: None, ..chat.fit(None)? });
    };
    let mut diagnostics = request.repaired();
    let (request, given) = (request_object, given.object("options, an object")?);
    let target = request.read("target", RequestFields::of_target)?;
    let target = target.unwrap_or_else(|| chat.options.request.clone());
    let mut options = FitOptions { request: target, ..FitOptions::read(given, host, &mut diagnostics)? };
    if given.get("pinned")?.is_none() {
        options.pinned.clone_from(&chat.options.pinned);
    }
    Response::of(&FitDecisions { state: None, ..chat.fit(Some((&options, diagnostics)))? })
}

impl ResidentChat {
    /// A chat without messages, from the JSON of `{ options }`.
    ///
    /// # Errors
    /// Those of the options.
    pub fn from_json(request: &[u8], host: &CallContext) -> Result<Self> {
        let document = Document::read(request, &[])?;
        let document: &Document<'_> = &document;
        let mut diagnostics = document.diagnostics();
        let request_object = document.root().object("options, an object")?;
        let given = request_object.need("options")?.object("options, an object")?;
        let target = request_object.read("target", RequestFields::of_target)?.unwrap_or_default();
        let options = FitOptions { request: target, ..FitOptions::read(given, host, &mut diagnostics)? };
        Self::new(request.to_vec(), given, options, diagnostics)
    }

    /// A chat without messages. `request` is the JSON that holds `options_json`.
    pub(super) fn new(
        request: Vec<u8>,
        options_json: Object<'_>,
        options: FitOptions,
        mut diagnostics: Vec<Diagnostic>,
    ) -> Result<Self> {
        options.without_costs()?;
        let budget = options.budget(&mut diagnostics)?;
        let shape = Formats::MAX;
        let format = options.format.unwrap_or(first_of(shape));
        let formats = options.format.map_or(shape, bit);
        let request_overhead =
            overhead_of_request(options_json, None, format, formats, &prices(format, &options, &budget))?;
        let outside = OutsideFacts::read(options_json, None)?;
        let state = match &options.previous {
            Previous::None => Previous::Start,
            previous => previous.clone(),
        };
        Ok(Self {
            hashes: RefCell::default(),
            sizes: RefCell::default(),
            has_grown: Cell::new(false),
            outside,
            state: RefCell::new(state),
            request,
            options,
            budget,
            diagnostics,
            format,
            request_overhead,
            messages: Vec::new(),
            sums: vec![Sum::default()],
            shapes: Vec::new(),
            shape,
            pairs: ToolPairs::default(),
            is_approval: false,
            marks: Marks::default(),
            earlier: Vec::new(),
            repaired: Vec::new(),
            incremental: IncrementalCount::default(),
            layout: RefCell::default(),
        })
    }

    pub(super) fn options(&self) -> &FitOptions {
        &self.options
    }

    pub(super) fn format(&self) -> Format {
        self.format
    }

    pub(super) fn messages(&self) -> &[Message<'static>] {
        &self.messages
    }

    /// Tokens of the unfitted request.
    pub(super) fn total(&self) -> u64 {
        self.sums.last().copied().unwrap_or_default().total().saturating_add(self.request_overhead.tokens())
    }

    /// Appends messages, replaces as many, or replaces all from one on. For Gemini, whose calls have no ids, the
    /// messages after the change are passed again.
    pub(super) fn splice(&mut self, splice: Splice<'_>) -> Result<Changed> {
        let Splice { at, remove, messages: given, pinned, repaired } = splice;
        let count = self.messages.len();
        let at = at.min(count);
        let end = at.saturating_add(remove).min(count);
        let list: Vec<Value<'_>> = given.list("a list of chat messages")?.collect();
        if end < count && list.len() != end - at {
            return Err(given.mismatch("as many messages as they replace"));
        }
        let (shapes, shape) = self.shapes_with(at, end, &list)?;
        let format = self.options.format.unwrap_or(first_of(shape));
        if format != self.format && count > end - at {
            return Ok(Changed { again: true, ..Changed::default() });
        }
        let prices = prices(format, &self.options, &self.budget);
        let read = chats::read_after(self.messages.get(..at).unwrap_or_default(), format, &list, prices)?;
        let mut request_overhead = self.request_overhead;
        if format != self.format {
            let document = Document::read(&self.request, &[])?;
            let document: &Document<'_> = &document;
            let options = document.root().object("")?.need("options")?.object("")?;
            request_overhead =
                overhead_of_request(options, None, format, self.options.format.map_or(shape, bit), &prices)?;
        }
        self.check_counter()?;
        // From here on nothing can fail.
        (self.shape, self.format, self.request_overhead) = (shape, format, request_overhead);
        self.put(at, end, &read, shapes);
        if self.options.max_bytes.is_some() {
            let sizes = read.iter().zip(&list).map(|(message, &value)| MessageSize::of(message, value));
            self.sizes.get_mut().splice(at..end, sizes);
        }
        self.has_grown.set(false);
        self.hashes.get_mut().splice(at..end, list.iter().map(|&message| MessageHash::of(message)));
        let came = at..at + list.len();
        let stays = |index: &usize| *index < at || *index >= end;
        if let Some(pinned) = pinned {
            self.options.pinned.retain(stays);
            self.options.pinned.extend(pinned);
        }
        self.earlier.retain(stays);
        came.clone().for_each(|index| self.note_earlier(index));
        let before = self.repaired.partition_point(|&(index, _)| index < at);
        let tail = self.repaired.split_off(before);
        for diagnostic in repaired {
            if let Some((index, path)) = place_of(&diagnostic) {
                let diagnostic = diagnostic.clone().at_path(path);
                self.repaired.push((at + index, diagnostic));
            }
        }
        self.repaired.extend(tail.into_iter().filter(|(index, _)| *index >= end));
        self.incremental = IncrementalCount::default();
        let repriced = self.reprice(&came);
        let tokens = self.messages.get(came).unwrap_or_default().iter().map(Message::tokens).collect();
        Ok(Changed { format: format.name(), tokens, repriced, total: self.total(), ..Changed::default() })
    }

    /// Sets the costs of messages by the current billing rules; returns changed costs of messages outside `came`.
    fn reprice(&mut self, came: &Range<usize>) -> Vec<(usize, u64)> {
        if !self.marks.may_be_free {
            return Vec::new();
        }
        let changed = Billing::new(self.format, &self.options, &self.options.request).apply(&mut self.messages);
        let Some(&first) = changed.first() else { return Vec::new() };
        self.sums.truncate(first + 1);
        Sum::extend(&mut self.sums, &self.messages);
        self.layout.get_mut().truncate(first);
        let tokens = |at: usize| self.messages.get(at).map_or(0, Message::tokens);
        changed.into_iter().filter(|at| !came.contains(at)).map(|at| (at, tokens(at))).collect()
    }

    /// Replaces messages, and updates the data about all of them.
    fn put(&mut self, at: usize, end: usize, read: &[Message<'_>], shapes: Vec<Formats>) {
        let count = self.messages.len();
        let gone = self.messages.get(at..end).unwrap_or_default();
        let acts = |message: &Message<'_>| {
            message.pieces.iter().any(|piece| matches!(piece.kind, Kind::Call { .. } | Kind::Result { .. }))
        };
        // Pairs stay unchanged if removed messages have no calls or results, and new ones are at the end or have none.
        let pairs_stay = !gone.iter().any(acts) && (end == count || !read.iter().any(acts));
        let (mut tail, mut tail_shapes) = (self.messages.split_off(end), self.shapes.split_off(end));
        self.messages.truncate(at);
        self.messages.extend(read.iter().map(Message::to_owned));
        self.messages.append(&mut tail);
        self.shapes.truncate(at);
        self.shapes.extend(shapes);
        self.shapes.append(&mut tail_shapes);
        self.sums.truncate(at + 1);
        Sum::extend(&mut self.sums, &self.messages);
        if !pairs_stay {
            self.pairs = ToolPairs::default();
        }
        let is_approval = |piece: &Piece<'_>| matches!(piece.kind, Kind::Approval { .. }) || piece.caller.is_some();
        self.is_approval |= read.iter().any(|message| message.pieces.iter().any(is_approval));
        self.marks.add(read);
        // Up to there the units are unchanged.
        let mut first = if self.is_approval { 0 } else { at };
        if !pairs_stay || end == count {
            let from = if pairs_stay { at } else { 0 };
            let messages = self.messages.get(from..).unwrap_or_default();
            first = first.min(add_pairs(&mut self.pairs, from, messages, |id| Cow::Owned(id.to_owned())));
        }
        self.layout.get_mut().truncate(first);
    }

    /// The formats of messages after a replacement, and those that are possible for all messages.
    fn shapes_with(&self, at: usize, end: usize, list: &[Value<'_>]) -> Result<(Vec<Formats>, Formats)> {
        if self.options.format.is_some() {
            return Ok((vec![Formats::MAX; list.len()], Formats::MAX));
        }
        let mut shape = self.shape;
        if at < self.shapes.len() {
            let tail = self.shapes.get(end..).unwrap_or_default();
            shape = self.shapes.iter().take(at).chain(tail).fold(Formats::MAX, |all, these| all & these);
        }
        let mut shapes = Vec::with_capacity(list.len());
        for (index, &message) in list.iter().enumerate() {
            let these = formats_next_to(shape, message, at + index)?;
            shape &= these;
            shapes.push(these);
        }
        Ok((shapes, shape))
    }

    /// Records whether a message may be from an earlier fit.
    fn note_earlier(&mut self, index: usize) {
        let is =
            self.messages.get(index).is_some_and(|it| EarlierMark::of(it, &self.options.truncation_marker).is_some());
        let place = self.earlier.partition_point(|&known| known < index);
        match (is, self.earlier.get(place) == Some(&index)) {
            (true, false) => self.earlier.insert(place, index),
            (false, true) => {
                self.earlier.remove(place);
            }
            _ => {}
        }
    }

    /// Fails if the counter failed: the wasm edge has the reason.
    fn check_counter(&self) -> Result<()> {
        if self.budget.counter.has_failed() {
            return Err(Error::new(Code::TokenizerFailed, "the tokenizer failed"));
        }
        Ok(())
    }

    /// Appends to the text at the end of the last message; `None` if the message does not end in text.
    pub(super) fn append_text(&mut self, delta: &str) -> Result<Changed> {
        let mut incremental = self.incremental;
        let pieces = self.messages.last_mut().map(|message| &mut message.pieces);
        let piece = pieces.and_then(|pieces| extensible_piece(pieces));
        let Some(piece) = piece else { return Ok(Changed::default()) };
        if let Some(text) = piece.texts.last_mut() {
            let before = text.text.len();
            text.text.to_mut().push_str(delta);
            let tokens = u64::from(self.budget.counter.count_incremental(&text.text, &mut incremental));
            if self.budget.counter.has_failed() {
                text.text.to_mut().truncate(before);
            } else {
                piece.tokens = piece.tokens.saturating_sub(text.tokens).saturating_add(tokens);
                (piece.now, text.tokens, self.incremental) = (piece.tokens, tokens, incremental);
            }
        }
        let path = piece.texts.last().map(|text| text.path.clone());
        self.has_grown.set(true);
        self.check_counter()?;
        self.layout.get_mut().truncate(self.messages.len().saturating_sub(1));
        self.sums.truncate(self.messages.len());
        Sum::extend(&mut self.sums, &self.messages);
        self.note_earlier(self.messages.len().saturating_sub(1));
        let last = self.messages.len().saturating_sub(1);
        let repriced = self.reprice(&(last..self.messages.len()));
        let tokens = self.messages.last().map(Message::tokens).into_iter().collect();
        Ok(Changed { path, tokens, repriced, total: self.total(), ..Changed::default() })
    }

    /// Whether the last message was extended, so that it has to be passed again before a fit.
    pub(super) fn has_grown(&self) -> bool {
        self.has_grown.get()
    }

    /// Takes the last message after text was appended to it.
    pub(super) fn refresh_last(&self, message: Value<'_>) {
        if let Some(last) = self.hashes.borrow_mut().last_mut() {
            *last = MessageHash::of(message);
            self.has_grown.set(false);
        }
        if let (Some(size), Some(read)) = (self.sizes.borrow_mut().last_mut(), self.messages.last()) {
            *size = MessageSize::of(read, message);
        }
    }

    /// Fails for options with `maxBytes` if the chat was made without: the sizes of its messages are unknown.
    fn check_bytes(&self, options: &FitOptions) -> Result<()> {
        if options.max_bytes.is_none() || self.options.max_bytes.is_some() {
            return Ok(());
        }
        let message =
            "the chat was created without `maxBytes` and has no message sizes; set it in the options of the chat";
        Err(Error::new(Code::InvalidInput, message).with("path", "options.maxBytes"))
    }

    /// The state after the last fit by the chat's options.
    pub(super) fn state(&self) -> Option<FitState> {
        match &*self.state.borrow() {
            Previous::State(state) => Some(state.clone()),
            Previous::None | Previous::Start => None,
        }
    }

    /// Fits by the chat's options, continuing the last such fit; or, as a preview, by other options with the same
    /// format and tokenizer.
    pub(super) fn fit(&self, others: Option<(&FitOptions, Vec<Diagnostic>)>) -> Result<FitDecisions> {
        let mut diagnostics: Vec<Diagnostic> = Vec::with_capacity(self.repaired.len());
        for (index, diagnostic) in &self.repaired {
            let path = format!("messages[{index}]{}", diagnostic.path.as_deref().unwrap_or_default());
            diagnostics.push(diagnostic.clone().at_path(path));
        }
        let is_other = others.is_some();
        let (options, budget) = match others {
            None => {
                diagnostics.extend_from_slice(&self.diagnostics);
                (&self.options, self.budget.clone())
            }
            Some((options, of_options)) => {
                options.without_costs()?;
                self.check_bytes(options)?;
                diagnostics.extend(of_options);
                (options, options.budget(&mut diagnostics)?)
            }
        };
        let own = self.state.borrow().clone();
        let previous = if options.previous == Previous::None || !is_other { &own } else { &options.previous };
        let (hashes, sizes) = (self.hashes.borrow(), self.sizes.borrow());
        let is_same_marker = options.truncation_marker == self.options.truncation_marker;
        let mut fit = Fit {
            facts: ChatFacts { hashes: &hashes, sizes: &sizes, outside: self.outside },
            previous,
            series: None,
            options,
            edits: options.edits(),
            limit: budget.limit,
            phase: Phase::Fit,
            format: self.format,
            messages: Messages::new(&self.messages, &self.sums),
            pairs: &self.pairs,
            earlier: is_same_marker.then_some(self.earlier.as_slice()),
            prices: prices(self.format, options, &budget),
            request_overhead: self.request_overhead,
            layout: &self.layout,
            can_reuse_layout: !is_other,
            rules: Rules::new(self.format, options, &options.request, self.marks),
            fields: &options.request,
            fields_at: "target.",
            course: Course::default(),
            moved: Vec::new(),
            summary_limit: 0,
            diagnostics,
        };
        let ran = fit.run();
        if budget.counter.has_failed() {
            // Its counts for markers may be wrong.
            self.layout.take();
        }
        let (cut, edits) = ran?;
        let decisions = fit.fitted(&cut, edits);
        if !is_other {
            self.state.replace(Previous::State(decisions.state.clone().unwrap_or_default()));
        }
        Ok(decisions)
    }
}

/// The piece whose text can be extended: the last one with a text, unless other parts follow it.
fn extensible_piece<'p>(pieces: &'p mut [Piece<'static>]) -> Option<&'p mut Piece<'static>> {
    let at = pieces.iter().rposition(|piece| piece.kind == Kind::Text && !piece.texts.is_empty())?;
    let list_of = |piece: &Piece<'_>| match piece.places.first()?.split_last()? {
        (Step::At(_), list) => Some(list.to_vec()),
        _ => None,
    };
    let list = pieces.get(at).and_then(list_of);
    let is_last = list.is_none() || pieces.iter().skip(at + 1).all(|piece| list_of(piece) != list);
    pieces.get_mut(at).filter(|_| is_last)
}

/// The message that a diagnostic is about, and the path in it.
fn place_of(diagnostic: &Diagnostic) -> Option<(usize, &str)> {
    let (index, path) = diagnostic.path.as_deref()?.strip_prefix("messages[")?.split_once(']')?;
    Some((index.parse().ok()?, path))
}
