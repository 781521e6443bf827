//! The resident tree.

use std::cell::RefCell;
use std::rc::Rc;

use js_sys::{Array, Float64Array, Uint8Array};
use wasm_bindgen::prelude::*;

use super::call::{with_host, written};
use super::custom_counter::CustomCounter;
use super::data::{throw, to_js};
use crate::call::Host;
use crate::error::{self, Code, Error, Result};
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
    counter: RefCell<Option<Rc<CustomCounter>>>,
}

#[wasm_bindgen]
impl LoomTree {
    /// A tree from bytes of its JSON.
    #[wasm_bindgen(constructor)]
    pub fn new(tree: &[u8]) -> Thrown<LoomTree> {
        let handle = MEMORY.with(|memory| Handle::from_json(tree, memory)).map_err(|error| throw(&error))?;
        Ok(Self { handle: RefCell::new(handle), counter: RefCell::default() })
    }

    /// Calls a method by its name: see [`call`](super::call::call).
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
    #[wasm_bindgen(js_name = packDialogue)]
    pub fn pack_dialogue(&self, request: &[u8], bytes: &JsValue, tokenizer: &JsValue, have: u32) -> Thrown<JsValue> {
        self.answer(bytes, tokenizer, |handle, bytes, host| {
            let document = Document::read(request, bytes)?;
            let document: &Document<'_> = &document;
            handle.assemble(document.root(), host, |tree, options, counter, found| {
                let mut delta = tree.dialogue_delta(options, counter, have)?;
                error::put_before(found, &mut delta.report.diagnostics);
                let mut packed = PackedReport::default();
                put_report(&mut packed, &delta.report)?;
                put_dialogue(&mut packed, delta.number, delta.system.as_deref(), &delta.changes)?;
                Ok(packed.close())
            })
        })
    }

    /// The same with the whole report, with `put_rows` between the report and the dialogue.
    #[wasm_bindgen(js_name = packAssembly)]
    pub fn pack_assembly(&self, request: &[u8], bytes: &JsValue, tokenizer: &JsValue, have: u32) -> Thrown<JsValue> {
        self.answer(bytes, tokenizer, |handle, bytes, host| {
            let document = Document::read(request, bytes)?;
            let document: &Document<'_> = &document;
            handle.assemble(document.root(), host, |tree, options, counter, found| {
                let mut delta = tree.assembly_delta(options, counter, have)?;
                error::put_before(found, &mut delta.report.diagnostics);
                let mut packed = PackedReport::default();
                put_report(&mut packed, &ReportSummary::of(&delta.report))?;
                put_rows(&mut packed, &delta.report)?;
                put_dialogue(&mut packed, delta.number, delta.system.as_deref(), &delta.changes)?;
                Ok(packed.close())
            })
        })
    }

    /// The body for the options' target: the bytes, or `[bytes, report]` with the report as `put_report` has it.
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
                let mut packed = PackedReport::default();
                put_report(&mut packed, &report)?;
                Ok(Array::of2(&bytes, &packed.close()).into())
            })?
        })
    }

    fn answer(
        &self,
        bytes: &JsValue,
        tokenizer: &JsValue,
        answer: impl FnOnce(&mut Handle, &[Vec<u8>], &Host) -> Result<JsValue>,
    ) -> Thrown<JsValue> {
        let counter = CustomCounter::new(tokenizer).map(|counter| self.same_counter(counter));
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
    fn same_counter(&self, counter: Rc<CustomCounter>) -> Rc<CustomCounter> {
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
struct PackedReport {
    numbers: Vec<f64>,
    things: Array,
}

impl PackedReport {
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
fn put_report(packed: &mut PackedReport, report: &ReportSummary) -> Result<()> {
    let ReportSummary { tokens, cut, cache, preferences, diagnostics, .. } = report;
    packed.number(report.strategy as u32);
    packed.count(report.limit);
    [tokens.system, tokens.messages, tokens.overhead, tokens.total].into_iter().for_each(|count| packed.count(count));
    packed.text(Some(&tokens.tokenizer));
    match tokens.loom_aware {
        None => packed.number(-1),
        Some(LoomAwareTokens { addendum, memory, headers, loom_block }) => {
            [addendum, memory, headers, loom_block].into_iter().for_each(|count| packed.count(count));
        }
    }
    packed.number(u32::from(report.truncated));
    match cut {
        None => packed.number(-1),
        Some(cut) => {
            packed.size(cut.nodes);
            packed.size(cut.partial_nodes);
            packed.count(cut.tokens);
            packed.size(cut.position);
            packed.text(cut.marker.as_deref());
        }
    }
    match cache {
        None => packed.number(-1),
        Some(cache) => {
            packed.size(cache.messages);
            packed.count(cache.tokens);
            packed.text(cache.fingerprint.as_deref());
        }
    }
    packed.number(u32::from(report.minimum_recent_nodes_met));
    packed.size(report.path_length);
    packed.number(preferences.truncation_strategy as u32);
    packed.count(preferences.minimum_recent_nodes);
    packed.count(preferences.token_buffer);
    packed.text(Some(&preferences.truncation_marker));
    packed.count(preferences.cut_quantum);
    packed.number(preferences.start_on as u32);
    let none = diagnostics.is_empty();
    packed.things.push(&if none { JsValue::UNDEFINED } else { to_js(diagnostics)? });
    Ok(())
}

/// What a report has beside its numbers. First how many rows there are, and their ids in one text; then, for each, the
/// length of its id in UTF-16, a number of what it is, its tokens, and one more than its message. Then the lists of ids,
/// mostly as rows, how many nodes are not on the path, and the local ids.
fn put_rows(packed: &mut PackedReport, report: &Report<'_>) -> Result<()> {
    packed.size(report.nodes.len());
    let ids: String = report.nodes.iter().map(|row| row.node_id).collect();
    packed.text(Some(&ids));
    for row in &report.nodes {
        packed.size(row.node_id.encode_utf16().count());
        let reason = row.reason.map_or(0, |reason| reason as u32 + 1);
        packed.number(row.part as u32 + 8 * (row.fate as u32 + 4 * (u32::from(row.pinned) + 2 * reason)));
        packed.count(row.tokens);
        packed.size(row.message.map_or(0, |message| message + 1));
    }
    put_ids(packed, &report.path, report);
    if let Some(cut) = &report.cut {
        put_ids(packed, &cut.node_ids, report);
        put_ids(packed, &cut.partial_node_ids, report);
    }
    packed.size(report.not_on_path);
    let none = report.local_ids.is_empty();
    packed.things.push(&if none { JsValue::UNDEFINED } else { to_js(&report.local_ids)? });
    Ok(())
}

/// How many runs there are, and each of them: the first of so many rows, or −1 with the next id among the things.
fn put_ids(packed: &mut PackedReport, ids: &[&str], report: &Report<'_>) {
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
            packed.text(Some(id));
        }
    }
    packed.size(runs.len());
    for (from, count) in runs {
        match from {
            Some(from) => packed.size(from),
            None => packed.number(-1),
        }
        packed.size(count);
    }
}

/// The number of a dialogue, the system context, and what its messages are.
fn put_dialogue(packed: &mut PackedReport, number: u32, system: Option<&str>, changes: &[Change<'_>]) -> Result<()> {
    packed.number(number);
    packed.text(system);
    changes.iter().try_for_each(|change| put_change(packed, change))
}

fn put_change(packed: &mut PackedReport, change: &Change<'_>) -> Result<()> {
    match change {
        Change::Same { from, count } => {
            packed.size(*from);
            packed.size(*count);
        }
        Change::New { message, keep } => {
            packed.number(if *keep { -1 } else { -11 } - message.role as i32);
            packed.size(message.node_ids.len());
            match &message.content {
                Content::Text(text) => packed.text(Some(text)),
                parts => {
                    packed.things.push(&to_js(parts)?);
                }
            }
            message.node_ids.iter().for_each(|id| packed.text(Some(id)));
            put_spans(packed, message);
        }
    }
    Ok(())
}

/// How many spans there are, and each of them: which of the message's nodes, the part or −1, start and end.
fn put_spans(packed: &mut PackedReport, message: &Message<'_>) {
    packed.size(message.spans.len());
    let mut node = 0;
    for span in &message.spans {
        // They come in the order of the nodes.
        while message.node_ids.get(node).is_some_and(|id| *id != span.node_id) {
            node += 1;
        }
        packed.size(node);
        match span.part {
            Some(part) => packed.size(part),
            None => packed.number(-1),
        }
        packed.size(span.start);
        packed.size(span.end);
    }
}
