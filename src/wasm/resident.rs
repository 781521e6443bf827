//! The tree that stays.

use std::cell::{RefCell, RefMut};
use std::rc::Rc;

use js_sys::{Array, Float64Array, Object, Reflect, Uint8Array};
use wasm_bindgen::prelude::*;

use super::data::{decode, encode, throw};
use super::own::OwnCounter;
use super::surrogates::lone_surrogates;
use super::tokens::tokenizers;
use crate::error::{Code, Diagnostic, Error};
use crate::loom::resident::wire::{Edited, Handle, Question, UpsertIn};
use crate::loom::wire::{RequestIn, TreeIn};
use crate::loom::{Change, LoomAwareTokens, NodeReport, Report, ReportSummary};
use crate::prompt::{Content, Message};
use crate::tokens::Counter;
use crate::tokens::memory::{CounterId, Memory};

thread_local! {
    /// What the trees of this instance remember of their texts, in common.
    static MEMORY: Memory = Memory::default();
}

type Thrown<T> = Result<T, JsValue>;

/// A tree that stays; see `LoomTree` in the package's types.
///
/// Its methods never fail for good: what is thrown leaves it as it was, and a call from within another one, which only a
/// caller's own tokenizer can make, is an error.
#[wasm_bindgen]
#[derive(Debug)]
pub struct LoomTree {
    handle: RefCell<Handle>,
    /// The caller's own counter that was used last, with the id that its counts are remembered by.
    own: RefCell<Option<(Rc<OwnCounter>, CounterId)>>,
    diagnostics: JsValue,
}

/// What a question is about.
enum Of {
    /// What its options say.
    Options,
    /// This tip, or none.
    Place(Option<String>),
}

/// A question, read.
struct Asked<'t> {
    handle: RefMut<'t, Handle>,
    question: Question,
    /// What had to be repaired in the options.
    found: Vec<Diagnostic>,
    own: Option<Rc<OwnCounter>>,
}

#[wasm_bindgen]
impl LoomTree {
    /// A tree from an object, or from bytes of its JSON.
    ///
    /// # Errors
    /// `{ code, message, details }`, as of every method.
    #[wasm_bindgen(constructor)]
    pub fn new(tree: JsValue) -> Thrown<LoomTree> {
        let made = MEMORY.with(|memory| match tree.dyn_ref::<Uint8Array>() {
            Some(bytes) => Handle::from_json(&bytes.to_vec(), memory),
            None => {
                let handle = Handle::new(decode::<TreeIn>(tree.clone())?, memory)?;
                let damaged = handle.tree().tree().nodes().any(|node| node.holds(char::REPLACEMENT_CHARACTER));
                Ok((handle, if damaged { lone_surrogates(&tree) } else { Vec::new() }))
            }
        });
        let (handle, diagnostics) = made.map_err(|error| throw(&error))?;
        let diagnostics = encode(&diagnostics)?;
        Ok(Self { handle: RefCell::new(handle), own: RefCell::default(), diagnostics })
    }

    /// What had to be repaired when it was made.
    #[wasm_bindgen(getter)]
    pub fn diagnostics(&self) -> JsValue {
        self.diagnostics.clone()
    }

    /// Adds nodes and edges, or puts them in the place of those with their ids.
    ///
    /// # Errors
    /// `{ code, message, details }`.
    pub fn upsert(&self, input: JsValue) -> Thrown<JsValue> {
        let read = |value: &JsValue| {
            let input = decode::<UpsertIn>(value.clone())?;
            let damaged = input.holds(char::REPLACEMENT_CHARACTER);
            Ok::<_, Error>((input, if damaged { lone_surrogates(value) } else { Vec::new() }))
        };
        self.ask(|handle| {
            let (input, diagnostics) = read(&input)?;
            handle.upsert(input)?;
            Ok(encode(&Edited { diagnostics }))
        })?
    }

    /// Removes nodes and edges.
    ///
    /// # Errors
    /// `{ code, message, details }`.
    pub fn remove(&self, input: JsValue) -> Thrown<JsValue> {
        self.ask(|handle| Ok(encode(&handle.remove(&decode(input)?)?)))?
    }

    /// Changes settings, after a look at what are to be the defaults of what is asked; those are kept outside.
    ///
    /// # Errors
    /// `{ code, message, details }`.
    pub fn configure(&self, settings: JsValue, defaults: JsValue) -> Thrown<()> {
        let own = OwnCounter::of(&defaults).map(|own| own as Rc<dyn Counter>);
        self.ask(|handle| {
            handle.check_defaults(decode(defaults)?, &tokenizers(), own)?;
            handle.configure(decode(settings)?)
        })
    }

    /// How large it is.
    ///
    /// # Errors
    /// `{ code, message, details }`.
    pub fn size(&self) -> Thrown<JsValue> {
        self.ask(|handle| Ok(encode(&handle.size())))?
    }

    /// The ids of the path to a node.
    ///
    /// # Errors
    /// `{ code, message, details }`.
    pub fn path(&self, tip: String, options: JsValue) -> Thrown<JsValue> {
        self.question(options, Of::Place(Some(tip)), |handle, question, _| Ok(encode(&handle.path(question)?)))
    }

    /// Tokens of nodes, each alone.
    ///
    /// # Errors
    /// `{ code, message, details }`.
    #[wasm_bindgen(js_name = tokensOf)]
    pub fn tokens_of(&self, ids: JsValue, options: JsValue) -> Thrown<JsValue> {
        self.question(options, Of::Place(None), |handle, question, _| {
            let ids: Vec<String> = decode(ids)?;
            Ok(encode(&handle.tokens_of(&ids, question)?))
        })
    }

    /// What a path costs.
    ///
    /// # Errors
    /// `{ code, message, details }`.
    #[wasm_bindgen(js_name = measurePath)]
    pub fn measure_path(&self, options: JsValue) -> Thrown<JsValue> {
        self.question(options, Of::Options, |handle, question, _| Ok(encode(&handle.measure(question)?)))
    }

    /// What would be cut; nothing where all fits.
    ///
    /// # Errors
    /// `{ code, message, details }`.
    #[wasm_bindgen(js_name = wouldCut)]
    pub fn would_cut(&self, options: JsValue) -> Thrown<JsValue> {
        self.question(options, Of::Options, |handle, question, _| {
            handle.would_cut(question, |cut| cut.map_or(Ok(JsValue::UNDEFINED), |cut| encode(&cut)))
        })
    }

    /// Assembles a dialogue, as one object. The package takes it packed; the goldens in WebAssembly compare this one.
    ///
    /// # Errors
    /// `{ code, message, details }`.
    #[wasm_bindgen(js_name = assembleDialogue)]
    pub fn assemble_dialogue(&self, options: JsValue) -> Thrown<JsValue> {
        self.question(options, Of::Options, |handle, question, found| {
            handle.dialogue(question, |mut result| {
                result.report.diagnostics.splice(0..0, found);
                encode(&result)
            })
        })
    }

    /// Assembles a dialogue with a short account of it.
    ///
    /// # Errors
    /// `{ code, message, details }`.
    #[wasm_bindgen(js_name = summarizeDialogue)]
    pub fn summarize_dialogue(&self, options: JsValue) -> Thrown<JsValue> {
        self.question(options, Of::Options, |handle, question, found| {
            handle.dialogue_summary(question, |mut result| {
                result.report.diagnostics.splice(0..0, found);
                encode(&result)
            })
        })
    }

    /// The same in a form that is quick to send: `[numbers, things]`, of which the package makes the same object.
    ///
    /// First comes the report, as `put_report` has it; then the number of the dialogue, and the system context among the
    /// things. Then, for the messages: the place of a message in the dialogue whose number is `have`, and how many from
    /// there on are the same; or, for a new one, −1 less its role, or −11 less its role where it is not to be kept, and how
    /// many nodes it holds, with its content and their ids among the things, and its spans as `put_spans` has them.
    ///
    /// # Errors
    /// `{ code, message, details }`.
    #[wasm_bindgen(js_name = packDialogue)]
    pub fn pack_dialogue(&self, options: JsValue, have: u32) -> Thrown<JsValue> {
        self.question(options, Of::Options, |handle, question, found| {
            handle.delta(question, have, |mut delta| {
                delta.report.diagnostics.splice(0..0, found);
                let mut parcel = Parcel::default();
                put_report(&mut parcel, &delta.report)?;
                put_dialogue(&mut parcel, delta.number, delta.system.as_deref(), &delta.changes)?;
                Ok(parcel.close())
            })
        })
    }

    /// The whole account in the same form, with `put_rows` between the report and the dialogue.
    ///
    /// # Errors
    /// `{ code, message, details }`.
    #[wasm_bindgen(js_name = packAssembly)]
    pub fn pack_assembly(&self, options: JsValue, have: u32) -> Thrown<JsValue> {
        self.question(options, Of::Options, |handle, question, found| {
            handle.assembly_delta(question, have, |mut delta| {
                delta.report.diagnostics.splice(0..0, found);
                let rows = delta.report;
                let mut parcel = Parcel::default();
                put_report(&mut parcel, &ReportSummary::of(&rows))?;
                put_rows(&mut parcel, &rows)?;
                put_dialogue(&mut parcel, delta.number, delta.system.as_deref(), &delta.changes)?;
                Ok(parcel.close())
            })
        })
    }

    /// Assembles a document.
    ///
    /// # Errors
    /// `{ code, message, details }`.
    #[wasm_bindgen(js_name = assembleBuffer)]
    pub fn assemble_buffer(&self, options: JsValue) -> Thrown<JsValue> {
        self.question(options, Of::Options, |handle, question, found| {
            handle.buffer(question, |mut result| {
                result.report.diagnostics.splice(0..0, found);
                encode(&result)
            })
        })
    }

    /// The body for the options' target: the bytes, or `[bytes, report]` with the report as `put_report` has it.
    ///
    /// # Errors
    /// `{ code, message, details }`.
    #[wasm_bindgen(js_name = requestBody)]
    pub fn request_body(&self, options: JsValue, with_report: bool) -> Thrown<JsValue> {
        self.question(options, Of::Options, |handle, question, found| {
            handle.body(question, |bytes, mut report| {
                let bytes: JsValue = Uint8Array::from(bytes).into();
                if !with_report {
                    return Ok(bytes);
                }
                report.diagnostics.splice(0..0, found);
                let mut parcel = Parcel::default();
                put_report(&mut parcel, &report)?;
                Ok(Array::of2(&bytes, &parcel.close()).into())
            })
        })
    }

    fn ask<T>(&self, answer: impl FnOnce(&mut Handle) -> Result<T, Error>) -> Thrown<T> {
        self.open().and_then(|mut handle| answer(&mut handle)).map_err(|error| throw(&error))
    }

    fn open(&self) -> Result<RefMut<'_, Handle>, Error> {
        self.handle.try_borrow_mut().map_err(|_| {
            let message = "the tree is in the middle of another call; a tokenizer of one's own must not use the tree";
            Error::new(Code::HandleBusy, message)
        })
    }

    /// Reads options and answers them.
    fn question(
        &self,
        options: JsValue,
        of: Of,
        answer: impl FnOnce(&mut Handle, &Question, Vec<Diagnostic>) -> Result<Thrown<JsValue>, Error>,
    ) -> Thrown<JsValue> {
        // What does not depend on the question stands in functions of its own, so that it is in the module once.
        let Asked { mut handle, question, found, own } = self.begin(&options, of)?;
        let answered = answer(&mut handle, &question, found);
        self.end(own.as_deref(), answered)
    }

    fn begin(&self, options: &JsValue, of: Of) -> Thrown<Asked<'_>> {
        let begin = || {
            let handle = self.open()?;
            let own = OwnCounter::of(options).map(|own| self.known(own, &handle));
            let request = decode::<Option<RequestIn>>(options.clone())?.unwrap_or_default();
            let request = match of {
                Of::Options => request,
                Of::Place(tip) => request.at(tip),
            };
            let counter = own.as_ref().map(|(own, id)| (Rc::clone(own) as Rc<dyn Counter>, *id));
            let question = handle.question(request, &tokenizers(), counter)?;
            let damaged = question.holds(char::REPLACEMENT_CHARACTER);
            let found = if damaged { lone_options(options) } else { Vec::new() };
            Ok(Asked { handle, question, found, own: own.map(|(own, _)| own) })
        };
        begin().map_err(|error| throw(&error))
    }

    /// What a caller's own tokenizer threw comes before what followed from it.
    fn end(&self, own: Option<&OwnCounter>, answered: Result<Thrown<JsValue>, Error>) -> Thrown<JsValue> {
        if let Some(Err(error)) = own.map(OwnCounter::check) {
            // What it gave may be worth nothing: the next one counts anew.
            self.own.replace(None);
            return Err(throw(&error));
        }
        answered.map_err(|error| throw(&error))?
    }

    /// The counter that was used last, where this is the same; else this one with an id of its own.
    fn known(&self, own: Rc<OwnCounter>, handle: &Handle) -> (Rc<OwnCounter>, CounterId) {
        let mut last = self.own.borrow_mut();
        match &*last {
            Some((known, id)) if known.is(&own) => (Rc::clone(known), *id),
            _ => {
                let id = handle.tree().memory().own_counter();
                *last = Some((Rc::clone(&own), id));
                (own, id)
            }
        }
    }
}

/// Numbers and other things on their way to JavaScript: a number crosses more quickly among others than as a field of an
/// object.
#[derive(Debug, Default)]
struct Parcel {
    numbers: Vec<f64>,
    things: Array,
}

impl Parcel {
    fn number(&mut self, number: impl Into<f64>) {
        self.numbers.push(number.into());
    }

    #[expect(clippy::cast_precision_loss, reason = "JavaScript has no other numbers")]
    fn count(&mut self, count: u64) {
        self.numbers.push(count as f64);
    }

    fn size(&mut self, size: usize) {
        self.count(size as u64);
    }

    fn text(&mut self, text: Option<&str>) {
        self.things.push(&text.map_or(JsValue::UNDEFINED, JsValue::from_str));
    }

    fn close(self) -> JsValue {
        Array::of2(&Float64Array::from(self.numbers.as_slice()), &self.things).into()
    }
}

/// A report of numbers, in the order of its fields. What is absent is −1, or undefined among the things.
fn put_report(parcel: &mut Parcel, report: &ReportSummary) -> Thrown<()> {
    let ReportSummary { tokens, cut, cache, preferences, diagnostics, .. } = report;
    parcel.number(report.strategy as u32);
    parcel.count(report.limit);
    [tokens.system, tokens.messages, tokens.overhead, tokens.total].into_iter().for_each(|count| parcel.count(count));
    parcel.text(Some(&tokens.tokenizer));
    match tokens.loom_aware {
        None => parcel.number(-1),
        Some(LoomAwareTokens { addendum, memory, headers, loom_block }) => {
            [addendum, memory, headers, loom_block].into_iter().for_each(|count| parcel.count(count));
        }
    }
    parcel.number(u32::from(report.truncated));
    match cut {
        None => parcel.number(-1),
        Some(cut) => {
            parcel.size(cut.nodes);
            parcel.size(cut.partial_nodes);
            parcel.count(cut.tokens);
            parcel.size(cut.position);
            parcel.text(cut.marker.as_deref());
        }
    }
    match cache {
        None => parcel.number(-1),
        Some(cache) => {
            parcel.size(cache.messages);
            parcel.count(cache.tokens);
            parcel.text(cache.fingerprint.as_deref());
        }
    }
    parcel.number(u32::from(report.minimum_recent_nodes_met));
    parcel.size(report.path_length);
    parcel.number(preferences.truncation_strategy as u32);
    parcel.count(preferences.minimum_recent_nodes);
    parcel.count(preferences.token_buffer);
    parcel.text(Some(&preferences.truncation_marker));
    parcel.count(preferences.cut_quantum);
    parcel.number(preferences.start_on as u32);
    let none = diagnostics.is_empty();
    parcel.things.push(&if none { JsValue::UNDEFINED } else { encode(diagnostics)? });
    Ok(())
}

/// What a report has beside its numbers. First how many rows there are, and their ids in one text; then, for each, the
/// length of its id in UTF-16, a number of what it is, its tokens, and one more than its message. Then the lists of ids,
/// mostly as rows, how many nodes are not on the path, and the local ids.
fn put_rows(parcel: &mut Parcel, report: &Report<'_>) -> Thrown<()> {
    parcel.size(report.nodes.len());
    let ids: String = report.nodes.iter().map(|row| row.node_id).collect();
    parcel.text(Some(&ids));
    for row in &report.nodes {
        parcel.size(row.node_id.encode_utf16().count());
        let reason = row.reason.map_or(0, |reason| reason as u32 + 1);
        parcel.number(row.part as u32 + 8 * (row.fate as u32 + 4 * (u32::from(row.pinned) + 2 * reason)));
        parcel.count(row.tokens);
        parcel.size(row.message.map_or(0, |message| message + 1));
    }
    put_ids(parcel, &report.path, report);
    if let Some(cut) = &report.cut {
        put_ids(parcel, &cut.node_ids, report);
        put_ids(parcel, &cut.partial_node_ids, report);
    }
    parcel.size(report.not_on_path);
    let none = report.local_ids.is_empty();
    parcel.things.push(&if none { JsValue::UNDEFINED } else { encode(&report.local_ids)? });
    Ok(())
}

/// How many runs there are, and each of them: the first of so many rows, or −1 with the next id among the things.
fn put_ids(parcel: &mut Parcel, ids: &[&str], report: &Report<'_>) {
    let mut runs: Vec<(Option<usize>, usize)> = Vec::new();
    // Both come in the order of the path; after the first that does not, none is looked for.
    let mut next = Some(0);
    for id in ids {
        let is_it = |(_, row): &(usize, &NodeReport<'_>)| row.node_id == *id;
        let row = next.and_then(|next| report.nodes.iter().enumerate().skip(next).find(is_it)).map(|(at, _)| at);
        next = row.map(|row| row + 1);
        match (runs.last_mut(), row) {
            (Some((Some(from), count)), Some(row)) if *from + *count == row => *count += 1,
            _ => runs.push((row, 1)),
        }
        if row.is_none() {
            parcel.text(Some(id));
        }
    }
    parcel.size(runs.len());
    for (from, count) in runs {
        match from {
            Some(from) => parcel.size(from),
            None => parcel.number(-1),
        }
        parcel.size(count);
    }
}

/// The number of a dialogue, the system context, and what its messages are.
fn put_dialogue(parcel: &mut Parcel, number: u32, system: Option<&str>, changes: &[Change<'_>]) -> Thrown<()> {
    parcel.number(number);
    parcel.text(system);
    changes.iter().try_for_each(|change| put_change(parcel, change))
}

fn put_change(parcel: &mut Parcel, change: &Change<'_>) -> Thrown<()> {
    match change {
        Change::Same { from, count } => {
            parcel.size(*from);
            parcel.size(*count);
        }
        Change::New { message, keep } => {
            parcel.number(if *keep { -1 } else { -11 } - message.role as i32);
            parcel.size(message.node_ids.len());
            match &message.content {
                Content::Text(text) => parcel.text(Some(text)),
                parts => {
                    parcel.things.push(&encode(parts)?);
                }
            }
            message.node_ids.iter().for_each(|id| parcel.text(Some(id)));
            put_spans(parcel, message);
        }
    }
    Ok(())
}

/// How many spans there are, and each of them: which of the message's nodes, the part or −1, start and end.
fn put_spans(parcel: &mut Parcel, message: &Message<'_>) {
    parcel.size(message.spans.len());
    let mut node = 0;
    for span in &message.spans {
        // They come in the order of the nodes.
        while message.node_ids.get(node).is_some_and(|id| *id != span.node_id) {
            node += 1;
        }
        parcel.size(node);
        match span.part {
            Some(part) => parcel.size(part),
            None => parcel.number(-1),
        }
        parcel.size(span.start);
        parcel.size(span.end);
    }
}

/// A diagnostic for each string of the options that holds half of a surrogate pair.
fn lone_options(options: &JsValue) -> Vec<Diagnostic> {
    // Media is base64 or an address, and can be large.
    let Some(object) = options.dyn_ref::<Object>().filter(|options| options.is_object()) else { return Vec::new() };
    let said = ["agent", "workingBuffer", "loomAware"];
    let mut found = Vec::new();
    for key in said {
        let Ok(value) = Reflect::get(object, &key.into()) else { continue };
        for mut diagnostic in lone_surrogates(&value) {
            let rest = diagnostic.path.take().filter(|path| !path.is_empty());
            let path = rest.map_or_else(|| key.to_owned(), |rest| format!("{key}.{rest}"));
            found.push(diagnostic.at_path(path));
        }
    }
    found
}
