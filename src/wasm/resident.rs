//! The resident tree.

use std::cell::RefCell;
use std::rc::Rc;

use js_sys::{Array, Float64Array, Uint8Array};
use wasm_bindgen::prelude::*;

use super::call::{with_host, written};
use super::data::{throw, to_js};
use super::own::OwnCounter;
use crate::call::Host;
use crate::error::{Code, Error, Result};
use crate::json::Document;
use crate::loom::resident::{Handle, METHODS};
use crate::loom::{Change, LoomAwareTokens, NodeReport, Report, ReportSummary};
use crate::prompt::{Content, Message};
use crate::tokens::memory::Memory;

thread_local! {
    /// What the trees of this instance remember of their texts, in common.
    static MEMORY: Memory = Memory::default();
}

type Thrown<T> = std::result::Result<T, JsValue>;

/// A resident tree; see `LoomTree` in the package's types.
///
/// Its methods never fail for good: what is thrown leaves it as it was, and a call from within another one, which only a
/// caller's own tokenizer can make, is an error.
#[wasm_bindgen]
#[derive(Debug)]
pub struct LoomTree {
    handle: RefCell<Handle>,
    /// The caller's own counter that was used last: the handle knows it again and need not count anew.
    counter: RefCell<Option<Rc<OwnCounter>>>,
}

#[wasm_bindgen]
impl LoomTree {
    /// A tree from bytes of its JSON.
    ///
    /// # Errors
    /// `{ code, message, details }`, as of every method.
    #[wasm_bindgen(constructor)]
    pub fn new(tree: &[u8]) -> Thrown<LoomTree> {
        let handle = MEMORY.with(|memory| Handle::from_json(tree, memory)).map_err(|error| throw(&error))?;
        Ok(Self { handle: RefCell::new(handle), counter: RefCell::default() })
    }

    /// Calls a method by its name: see [`call`](super::call::call).
    ///
    /// # Errors
    /// `{ code, message, details }`.
    pub fn call(&self, name: &str, request: &[u8], bytes: &JsValue, tokenizer: &JsValue) -> Thrown<JsValue> {
        self.answer(bytes, tokenizer, |handle, bytes, host| {
            let method = METHODS.iter().find(|method| method.name == name);
            let method =
                method.ok_or_else(|| Error::new(Code::InternalError, format!("there is no method `{name}`")))?;
            method.answer(handle, request, bytes, host).and_then(written)
        })
    }

    /// A dialogue with a short report, in a form that is quick to send: `[numbers, things]`, of which the package makes the
    /// same object.
    ///
    /// First comes the report, as `put_report` has it; then the number of the dialogue, and the system context among the
    /// things. Then, for the messages: the place of a message in the dialogue whose number is `have`, and how many from
    /// there on are the same; or, for a new one, −1 less its role, or −11 less its role where it is not to be kept, and how
    /// many nodes it holds, with its content and their ids among the things, and its spans as `put_spans` has them.
    ///
    /// # Errors
    /// `{ code, message, details }`.
    #[wasm_bindgen(js_name = packDialogue)]
    pub fn pack_dialogue(&self, request: &[u8], bytes: &JsValue, tokenizer: &JsValue, have: u32) -> Thrown<JsValue> {
        self.answer(bytes, tokenizer, |handle, bytes, host| {
            let document = Document::read(request, bytes)?;
            let document: &Document<'_> = &document;
            handle.assemble(document.root(), host, |tree, options, counter, found| {
                let mut delta = tree.dialogue_delta(options, counter, have)?;
                delta.report.diagnostics.splice(0..0, found);
                let mut parcel = Parcel::default();
                put_report(&mut parcel, &delta.report)?;
                put_dialogue(&mut parcel, delta.number, delta.system.as_deref(), &delta.changes)?;
                Ok(parcel.close())
            })
        })
    }

    /// The same with the whole report, with `put_rows` between the report and the dialogue.
    ///
    /// # Errors
    /// `{ code, message, details }`.
    #[wasm_bindgen(js_name = packAssembly)]
    pub fn pack_assembly(&self, request: &[u8], bytes: &JsValue, tokenizer: &JsValue, have: u32) -> Thrown<JsValue> {
        self.answer(bytes, tokenizer, |handle, bytes, host| {
            let document = Document::read(request, bytes)?;
            let document: &Document<'_> = &document;
            handle.assemble(document.root(), host, |tree, options, counter, found| {
                let mut delta = tree.assembly_delta(options, counter, have)?;
                delta.report.diagnostics.splice(0..0, found);
                let mut parcel = Parcel::default();
                put_report(&mut parcel, &ReportSummary::of(&delta.report))?;
                put_rows(&mut parcel, &delta.report)?;
                put_dialogue(&mut parcel, delta.number, delta.system.as_deref(), &delta.changes)?;
                Ok(parcel.close())
            })
        })
    }

    /// The body for the options' target: the bytes, or `[bytes, report]` with the report as `put_report` has it.
    ///
    /// # Errors
    /// `{ code, message, details }`.
    #[wasm_bindgen(js_name = requestBody)]
    pub fn request_body(
        &self,
        request: &[u8],
        bytes: &JsValue,
        tokenizer: &JsValue,
        with_report: bool,
    ) -> Thrown<JsValue> {
        self.answer(bytes, tokenizer, |handle, bytes, host| {
            let document = Document::read(request, bytes)?;
            let document: &Document<'_> = &document;
            handle.show_body(document.root(), host, with_report, |bytes, report| {
                let bytes: JsValue = Uint8Array::from(bytes).into();
                if !with_report {
                    return Ok(bytes);
                }
                let mut parcel = Parcel::default();
                put_report(&mut parcel, &report)?;
                Ok(Array::of2(&bytes, &parcel.close()).into())
            })?
        })
    }

    fn answer(
        &self,
        bytes: &JsValue,
        tokenizer: &JsValue,
        answer: impl FnOnce(&mut Handle, &[Vec<u8>], &Host) -> Result<JsValue>,
    ) -> Thrown<JsValue> {
        let counter = OwnCounter::new(tokenizer).map(|counter| self.same_counter(counter));
        with_host(bytes, counter.as_ref(), |bytes, host| {
            let mut handle = self.handle.try_borrow_mut().map_err(|_| {
                let message =
                    "the tree is in the middle of another call; a tokenizer of one's own must not use the tree";
                Error::new(Code::HandleBusy, message)
            })?;
            let answered = answer(&mut handle, bytes, host);
            if counter.as_ref().is_some_and(|counter| counter.has_failed()) {
                // What it gave may be worth nothing: the next one counts anew.
                self.counter.replace(None);
            }
            answered
        })
    }

    /// The counter that was used last, where this is the same.
    fn same_counter(&self, counter: Rc<OwnCounter>) -> Rc<OwnCounter> {
        let mut last = self.counter.borrow_mut();
        match &*last {
            Some(known) if known.is(&counter) => Rc::clone(known),
            _ => Rc::clone(last.insert(counter)),
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
fn put_report(parcel: &mut Parcel, report: &ReportSummary) -> Result<()> {
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
    parcel.things.push(&if none { JsValue::UNDEFINED } else { to_js(diagnostics)? });
    Ok(())
}

/// What a report has beside its numbers. First how many rows there are, and their ids in one text; then, for each, the
/// length of its id in UTF-16, a number of what it is, its tokens, and one more than its message. Then the lists of ids,
/// mostly as rows, how many nodes are not on the path, and the local ids.
fn put_rows(parcel: &mut Parcel, report: &Report<'_>) -> Result<()> {
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
    parcel.things.push(&if none { JsValue::UNDEFINED } else { to_js(&report.local_ids)? });
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
fn put_dialogue(parcel: &mut Parcel, number: u32, system: Option<&str>, changes: &[Change<'_>]) -> Result<()> {
    parcel.number(number);
    parcel.text(system);
    changes.iter().try_for_each(|change| put_change(parcel, change))
}

fn put_change(parcel: &mut Parcel, change: &Change<'_>) -> Result<()> {
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
                    parcel.things.push(&to_js(parts)?);
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
