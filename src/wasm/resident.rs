//! The tree that stays.

use std::borrow::Cow;
use std::cell::{RefCell, RefMut};
use std::collections::BTreeMap;
use std::rc::Rc;

use js_sys::{Array, Object, Reflect, Uint8Array, Uint32Array};
use serde::Serialize;
use wasm_bindgen::prelude::*;

use super::data::{decode, encode, lone_surrogates, throw};
use super::tokens::{OwnCounter, tokenizers};
use crate::error::{Code, Diagnostic, Error};
use crate::loom::resident::wire::{Edited, Handle, Question, UpsertIn};
use crate::loom::wire::{RequestIn, TreeIn};
use crate::loom::{DialogueSummary, ReportSummary};
use crate::prompt::Content;
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
    /// What JavaScript was given of each place: as of which change, and whether the text was with it.
    given: RefCell<BTreeMap<u32, (u32, bool)>>,
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
        Ok(Self { handle: RefCell::new(handle), own: RefCell::default(), diagnostics, given: RefCell::default() })
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
        self.question(
            options,
            |request| request.at(Some(tip)),
            |handle, question, _| Ok(encode(&handle.path(question)?)),
        )
    }

    /// Tokens of nodes, each alone.
    ///
    /// # Errors
    /// `{ code, message, details }`.
    #[wasm_bindgen(js_name = tokensOf)]
    pub fn tokens_of(&self, ids: JsValue, options: JsValue) -> Thrown<JsValue> {
        let alone = |request: RequestIn<'static>| request.at(None);
        self.question(options, alone, |handle, question, _| {
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
        self.question(options, |request| request, |handle, question, _| Ok(encode(&handle.measure(question)?)))
    }

    /// What would be cut; nothing where all fits.
    ///
    /// # Errors
    /// `{ code, message, details }`.
    #[wasm_bindgen(js_name = wouldCut)]
    pub fn would_cut(&self, options: JsValue) -> Thrown<JsValue> {
        self.question(
            options,
            |request| request,
            |handle, question, _| {
                handle.would_cut(question, |cut| cut.map_or(Ok(JsValue::UNDEFINED), |cut| encode(&cut)))
            },
        )
    }

    /// Assembles a dialogue.
    ///
    /// # Errors
    /// `{ code, message, details }`.
    #[wasm_bindgen(js_name = assembleDialogue)]
    pub fn assemble_dialogue(&self, options: JsValue) -> Thrown<JsValue> {
        self.question(
            options,
            |request| request,
            |handle, question, found| {
                handle.dialogue(question, |mut result| {
                    result.report.diagnostics.splice(0..0, found);
                    encode(&result)
                })
            },
        )
    }

    /// Assembles a dialogue with a short account of it.
    ///
    /// # Errors
    /// `{ code, message, details }`.
    #[wasm_bindgen(js_name = summarizeDialogue)]
    pub fn summarize_dialogue(&self, options: JsValue) -> Thrown<JsValue> {
        self.question(
            options,
            |request| request,
            |handle, question, found| {
                handle.dialogue_summary(question, |mut result| {
                    result.report.diagnostics.splice(0..0, found);
                    encode(&result)
                })
            },
        )
    }

    /// The same in a form that is quick to send: `[plan, news, contents, rest]`, of which the package makes the same
    /// object. A text that JavaScript was given once is not sent again.
    ///
    /// The plan begins with 1 where all that was given before is to be forgotten. Then, for each message: its role, whether
    /// its content is the text of its one node (0) or the next of `contents` (1), how many nodes it holds, and their
    /// places. `news` has place, text and id of each place that is new or changed.
    ///
    /// # Errors
    /// `{ code, message, details }`.
    #[wasm_bindgen(js_name = packDialogue)]
    pub fn pack_dialogue(&self, options: JsValue) -> Thrown<JsValue> {
        self.question(
            options,
            |request| request,
            |handle, question, found| {
                handle.packed(question, |mut result, places| {
                    result.report.diagnostics.splice(0..0, found);
                    match places {
                        Some(places) => self.pack(&result, &places),
                        None => encode(&result),
                    }
                })
            },
        )
    }

    fn pack(&self, summary: &DialogueSummary<'_>, places: &[(u32, u32)]) -> Thrown<JsValue> {
        let mut given = self.given.borrow_mut();
        // What JavaScript keeps is bounded by the window, not by all that was ever in it.
        let forget = given.len() > 2 * places.len() + 1024;
        if forget {
            given.clear();
        }
        let (news, contents) = (Array::new(), Array::new());
        let mut plan = vec![u32::from(forget)];
        let mut places = places.iter();
        for message in &summary.messages {
            plan.push(message.role as u32);
            let held: Vec<&(u32, u32)> = places.by_ref().take(message.node_ids.len()).collect();
            let text = match &message.content {
                Content::Text(Cow::Borrowed(text)) if held.len() == 1 => Some(*text),
                _ => None,
            };
            plan.push(u32::from(text.is_none()));
            plan.push(u32::try_from(held.len()).unwrap_or(u32::MAX));
            for (&&(place, stamp), id) in held.iter().zip(&message.node_ids) {
                plan.push(place);
                // A node whose text was not sent yet is news again once it is wanted.
                let known = (stamp, text.is_some());
                let before = given.get(&place).copied();
                if before != Some(known) && before != Some((stamp, true)) {
                    given.insert(place, known);
                    news.push(&place.into());
                    news.push(&text.map_or(JsValue::UNDEFINED, JsValue::from_str));
                    news.push(&JsValue::from_str(id));
                }
            }
            if text.is_none() {
                contents.push(&encode(&message.content)?);
            }
        }
        #[derive(Serialize)]
        struct Rest<'r> {
            #[serde(skip_serializing_if = "Option::is_none")]
            system: Option<&'r str>,
            report: &'r ReportSummary,
        }
        let rest = encode(&Rest { system: summary.system.as_deref(), report: &summary.report })?;
        Ok(Array::of4(&Uint32Array::from(plan.as_slice()), &news, &contents, &rest).into())
    }

    /// Assembles a document.
    ///
    /// # Errors
    /// `{ code, message, details }`.
    #[wasm_bindgen(js_name = assembleBuffer)]
    pub fn assemble_buffer(&self, options: JsValue) -> Thrown<JsValue> {
        self.question(
            options,
            |request| request,
            |handle, question, found| {
                handle.buffer(question, |mut result| {
                    result.report.diagnostics.splice(0..0, found);
                    encode(&result)
                })
            },
        )
    }

    /// The body for the options' target: `[bytes, report]`.
    ///
    /// # Errors
    /// `{ code, message, details }`.
    #[wasm_bindgen(js_name = requestBody)]
    pub fn request_body(&self, options: JsValue, with_report: bool) -> Thrown<JsValue> {
        self.question(
            options,
            |request| request,
            |handle, question, found| {
                let mut body = handle.body(question)?;
                let bytes: JsValue = Uint8Array::from(body.bytes.as_slice()).into();
                if !with_report {
                    return Ok(Ok(bytes));
                }
                body.report.diagnostics.splice(0..0, found);
                Ok(encode(&body.report).map(|report| Array::of2(&bytes, &report).into()))
            },
        )
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

    /// Reads options and answers them. What a caller's own tokenizer threw comes before what followed from it.
    fn question(
        &self,
        options: JsValue,
        shape: impl FnOnce(RequestIn<'static>) -> RequestIn<'static>,
        answer: impl FnOnce(&mut Handle, &Question, Vec<Diagnostic>) -> Result<Thrown<JsValue>, Error>,
    ) -> Thrown<JsValue> {
        self.ask(|handle| {
            let own = OwnCounter::of(&options).map(|own| self.known(own, handle));
            let request = decode::<Option<RequestIn>>(options.clone())?.unwrap_or_default();
            let counter = own.as_ref().map(|(own, id)| (Rc::clone(own) as Rc<dyn Counter>, *id));
            let question = handle.question(shape(request), &tokenizers(), counter)?;
            let damaged = question.holds(char::REPLACEMENT_CHARACTER);
            let found = if damaged { lone_options(&options) } else { Vec::new() };
            let result = answer(handle, &question, found);
            if let Some((own, _)) = &own
                && let Err(error) = own.check()
            {
                // What it gave may be worth nothing: the next one counts anew.
                self.own.replace(None);
                return Err(error);
            }
            result
        })?
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
