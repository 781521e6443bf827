//! The resident chat: after any changes it returns the result of `fitMessages` for the same messages.

use std::cell::Cell;
use std::rc::Rc;

use ctxweave::call::{CallContext, Response};
use ctxweave::chat::resident::{METHODS, ResidentChat};
use ctxweave::tokens::{Counter, IncrementalCount};
use ctxweave::{Code, Error};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

use super::properties::{edits, strategy, text, turns};
use super::written::{FORMATS, Turn, write};
use crate::calls::chat::fitted;
use crate::calls::thrown;
use crate::generate::{COUNTERS, cases, own, tokenizers};

/// A chat with its messages, as the package keeps both.
struct Kept {
    chat: ResidentChat,
    list: Vec<Value>,
    tokens: Vec<Value>,
    total: u64,
    options: Value,
    host: CallContext,
    /// Pins by a function of the index: one in nine.
    pins: Option<usize>,
    /// Of the last fit by its own options.
    state: Value,
    has_grown: bool,
}

fn call(chat: &mut ResidentChat, name: &str, request: &Value, host: &CallContext) -> Result<Value, Error> {
    let method = METHODS.iter().find(|method| method.name == name).unwrap();
    let request = serde_json::to_vec(request).unwrap();
    let Response { json, .. } = method.answer(chat, &request, &[], host)?;
    Ok(serde_json::from_slice(&json).unwrap())
}

impl Kept {
    fn new(options: Value, host: CallContext, pins: Option<usize>) -> Self {
        let request = serde_json::to_vec(&json!({ "options": options })).unwrap();
        let chat = ResidentChat::from_json(&request, &host).unwrap();
        let (list, tokens, state) = (Vec::new(), Vec::new(), Value::Null);
        let mut this = Self { chat, list, tokens, total: 0, options, host, pins, state, has_grown: false };
        this.splice(0, 0, &[]).unwrap();
        this
    }

    fn pinned(&self, from: usize, list: &[Value]) -> Option<Vec<usize>> {
        let pins = self.pins?;
        Some((from..from + list.len()).filter(|at| at % 9 == pins).collect())
    }

    fn splice(&mut self, at: usize, remove: usize, messages: &[Value]) -> Result<(), Error> {
        let mut list = self.list.clone();
        list.splice(at..at + remove, messages.iter().cloned());
        let ask = |this: &mut Self, at: usize, remove: usize, messages: &[Value]| {
            let mut request = json!({ "at": at, "remove": remove, "messages": messages });
            if let Some(pinned) = this.pinned(at, messages) {
                request["pinned"] = json!(pinned);
            }
            call(&mut this.chat, "splice", &request, &this.host)
        };
        let mut answer = ask(self, at, remove, messages)?;
        if answer["again"] == true {
            answer = ask(self, 0, self.list.len(), &list)?;
            assert_eq!(answer["again"], false);
            self.tokens.clear();
            self.tokens.extend_from_slice(answer["tokens"].as_array().unwrap());
        } else {
            self.tokens.splice(at..at + remove, answer["tokens"].as_array().unwrap().iter().cloned());
        }
        self.reprice(&answer);
        self.total = answer["total"].as_u64().unwrap();
        self.list = list;
        self.has_grown = false;
        Ok(())
    }

    fn append_text(&mut self, delta: &str) -> Result<(), Error> {
        let answer = call(&mut self.chat, "appendText", &json!(delta), &self.host)?;
        let Some(path) = answer["path"].as_array() else { return Ok(()) };
        let mut text = self.list.last_mut().unwrap();
        for step in path {
            text = match step {
                Value::String(key) => &mut text[key],
                step => &mut text[step.as_u64().unwrap() as usize],
            };
        }
        *text = json!(text.as_str().unwrap().to_owned() + delta);
        *self.tokens.last_mut().unwrap() = answer["tokens"][0].clone();
        self.reprice(&answer);
        self.total = answer["total"].as_u64().unwrap();
        self.has_grown = true;
        Ok(())
    }

    /// Takes the costs that changed because of other messages.
    fn reprice(&mut self, answer: &Value) {
        for repriced in answer["repriced"].as_array().into_iter().flatten() {
            self.tokens[repriced[0].as_u64().unwrap() as usize] = repriced[1].clone();
        }
    }

    fn fit(&mut self, options: &Value) -> Value {
        let mut request = if options.is_null() { json!({}) } else { json!({ "options": options }) };
        if std::mem::take(&mut self.has_grown) {
            request["last"] = self.list.last().unwrap().clone();
        }
        let answer = call(&mut self.chat, "fit", &request, &self.host);
        answer.map_or_else(|error| thrown(&error), |answer| self.unpacked(answer))
    }

    /// What the package makes of runs.
    fn unpacked(&self, mut answer: Value) -> Value {
        let run = |entry: &Value| Some(entry[0].as_u64()?..entry[1].as_u64()?);
        if let Some(entries) = answer.get_mut("messages") {
            let each = |entry: &Value| run(entry).map_or(vec![entry.clone()], |run| run.map(|at| json!(at)).collect());
            *entries = entries.as_array().unwrap().iter().flat_map(each).collect();
        }
        let row = |rows: &Value| match run(rows) {
            None => vec![rows.clone()],
            Some(run) => run
                .map(|at| {
                    let mut row = json!({ "index": at, "fate": rows[2] });
                    if !rows[3].is_null() {
                        row["reason"] = rows[3].clone();
                    }
                    row["tokens"] = self.tokens[at as usize].clone();
                    row
                })
                .collect(),
        };
        answer["report"]["messages"] =
            answer.get("rows").and_then(Value::as_array).into_iter().flatten().flat_map(row).collect();
        fitted(&json!(self.list), &answer)
    }

    /// What `fitMessages` gives that continues the last fit, with the state after it.
    fn continued(&self, options: &Value) -> (Value, Value) {
        let mut options = if options.is_null() { self.options.clone() } else { options.clone() };
        options["previous"] = self.state.clone();
        self.fitted(options)
    }

    fn fitted(&self, mut options: Value) -> (Value, Value) {
        if let Some(pinned) = self.pinned(0, &self.list) {
            options["pinned"] = json!(pinned);
        }
        let request = serde_json::to_vec(&json!({ "messages": self.list, "options": options })).unwrap();
        let answer = ctxweave::chat::CALLS[0].answer(&mut (), &request, &[], &self.host);
        match answer {
            Err(error) => (thrown(&error), self.state.clone()),
            Ok(answer) => {
                let mut answer: Value = serde_json::from_slice(&answer.to_json()).unwrap();
                let state = answer.as_object_mut().unwrap().shift_remove("state").unwrap();
                (fitted(&json!(self.list), &answer), state)
            }
        }
    }

    fn check(&mut self) -> Result<(), TestCaseError> {
        let (kept, (continued, state)) = (self.fit(&Value::Null), self.continued(&Value::Null));
        prop_assert_eq!(kept.to_string(), continued.to_string(), "{:?}", self.list);
        self.state = state;
        let own = call(&mut self.chat, "state", &Value::Null, &self.host).unwrap();
        prop_assert_eq!(&own, &self.state);
        let mut whole = self.options.clone();
        for name in ["edits", "endOn", "maxBytes"] {
            whole.as_object_mut().unwrap().remove(name);
        }
        whole["maxTokens"] = json!(u32::MAX);
        whole["repair"] = json!("off");
        prop_assert_eq!(&self.fitted(whole).0["report"]["tokens"]["total"], self.total);
        Ok(())
    }
}

/// A change of a chat. Numbers are shares of its length.
#[derive(Clone, Debug)]
enum Step {
    Append(usize),
    AppendText(String),
    Replace(usize, usize),
    Truncate(usize),
    /// An invalid change.
    Fail(usize),
    /// Fitted with other options, for once.
    Other(Value),
}

fn delta() -> impl Strategy<Value = String> {
    let piece = select(vec![
        " a", "b", "C", "DEF", "'", "l", "'ll", " ", "  ", "\n", "\r", "\n\n", "1", "23", "!", "/", "é", "\u{301}",
        "中", "文字", "👍", "\u{3000}", "\t", "s", "word", "[", "…",
    ]);
    prop::collection::vec(piece, 0..6).prop_map(|pieces| pieces.concat())
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (1usize..5).prop_map(Step::Append),
        6 => delta().prop_map(Step::AppendText),
        2 => (0usize..100, 0usize..100).prop_map(|(at, with)| Step::Replace(at, with)),
        1 => (0usize..100).prop_map(Step::Truncate),
        1 => (0usize..5).prop_map(Step::Fail),
        2 => (1u32..400, strategy(), select(vec!["", "[gone]", "[{count} gone]"])).prop_map(|(most, strategy, marker)| {
            Step::Other(json!({ "maxTokens": most, "truncationStrategy": strategy, "truncationMarker": marker }))
        }),
    ]
}

fn more_options() -> impl Strategy<Value = Value> {
    select(vec![
        json!({}),
        json!({ "keepFirst": 2, "keepLast": 1 }),
        json!({ "system": "Be kind to all.", "tools": [{ "name": "search", "description": "finds things" }] }),
        json!({ "startOn": "user", "cutStep": 40 }),
        json!({ "endOn": ["user", "tool"] }),
        json!({ "repair": "off" }),
        json!({ "maxBytes": 900 }),
        json!({ "model": "gpt-5" }),
        json!({ "maxtokens": 7 }),
    ])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(60)))]

    /// Any changes, in every format and by every counter, and a fit after each.
    #[test]
    fn a_chat_gives_what_fit_messages_gives(
        said in turns(),
        others in turns(),
        steps in prop::collection::vec(step(), 1..12),
        strategy in strategy(),
        edits in edits(),
        more in more_options(),
        most in 20u32..900,
        counter in select(vec!["heuristic", "o200k_base", "cl100k_base", "own"]),
        pins in proptest::option::weighted(0.2, 0usize..9),
        named in any::<bool>(),
    ) {
        for format in FORMATS {
            let of_host = (counter == "own").then(|| own(COUNTERS[3]).counter).flatten();
            let host = CallContext { counter: of_host, tokenizers: tokenizers() };
            let tokenizer = if counter == "own" { json!({}) } else { json!(counter) };
            let mut options = json!({ "maxTokens": most, "truncationStrategy": strategy, "tokenizer": tokenizer });
            options.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            if !edits.is_null() {
                options["edits"] = edits.clone();
            }
            if named {
                options["format"] = json!(format);
            }
            let mut kept = Kept::new(options, host, pins);
            kept.check()?;
            let (said, others) = (write(format, &said), write(format, &others));
            let left = write(format, &[Turn::User("[… 3 earlier messages omitted …]".to_owned())]);
            let mut said = said.iter().chain(&left).chain(&others).cycle();
            for step in &steps {
                let count = kept.list.len();
                // A message of the other conversation may be in another format, as long as it has only texts.
                let before = kept.list.clone();
                let done = match step {
                    Step::Append(count) => {
                        let more: Vec<Value> = said.by_ref().take(*count).cloned().collect();
                        kept.splice(kept.list.len(), 0, &more)
                    }
                    Step::AppendText(delta) => kept.append_text(delta),
                    Step::Replace(at, with) if count > 0 => {
                        let (at, with) = (at * count / 100, others[with * others.len() / 100].clone());
                        let rest: Vec<Value> = [with].into_iter().chain(kept.list[at + 1..].iter().cloned()).collect();
                        if *format == "gemini" { kept.splice(at, count - at, &rest) } else { kept.splice(at, 1, &rest[..1]) }
                    }
                    Step::Truncate(to) => {
                        let to = to * count / 100;
                        kept.splice(to, count - to, &[])
                    }
                    Step::Fail(which) => {
                        let good = said.clone().next().unwrap().clone();
                        // Steps of unknown types are kept unchanged.
                        let other = if *format == "gemini-interactions" { "function_call" } else { "item_reference" };
                        let bad = [json!(7), json!({}), json!({ "role": "clown", "content": 1 }), json!({ "type": other, "call_id": "x" })];
                        let error = kept.splice(count, 0, &[good, bad[which % bad.len()].clone()]).unwrap_err();
                        prop_assert_eq!(&error.details()["index"], count + 1, "{}", error);
                        Ok(())
                    }
                    // Without its own limit a chat does not measure its messages.
                    Step::Other(other) if other.get("maxBytes").is_some() && kept.options.get("maxBytes").is_none() => Ok(()),
                    Step::Other(other) => {
                        let mut options = kept.options.clone();
                        options.as_object_mut().unwrap().extend(other.as_object().unwrap().clone());
                        let (continued, _) = kept.continued(&options);
                        options.as_object_mut().unwrap().retain(|key, _| key != "system" && key != "tools");
                        prop_assert_eq!(kept.fit(&options).to_string(), continued.to_string());
                        Ok(())
                    }
                    Step::Replace(..) => Ok(()),
                };
                if let Err(error) = done {
                    prop_assert_eq!(error.code(), Code::InvalidInput, "{}", error);
                    prop_assert_eq!(&kept.list, &before);
                }
                kept.check()?;
            }
        }
    }

    /// A text that grows counts at each step what it counts as a whole.
    #[test]
    fn a_growing_text_counts_what_it_counts_whole(first in text(), deltas in prop::collection::vec(delta(), 1..40)) {
        let tokenizers = tokenizers();
        for name in ["heuristic", "o200k_base", "cl100k_base"] {
            let counter = tokenizers.get(name).unwrap();
            for first in ["", &*first] {
                let (mut text, mut incremental) = (first.to_owned(), IncrementalCount::default());
                for delta in &deltas {
                    text.push_str(delta);
                    prop_assert_eq!(counter.count_incremental(&text, &mut incremental), counter.count(&text), "{} {:?}", name, text);
                }
            }
        }
    }
}

/// Short texts of all kinds of characters, a character at a time.
#[test]
fn every_short_text_grows_exactly() {
    let characters: Vec<char> = "aA中\u{301}'l1 \n\r!/s\u{3000}".chars().collect();
    let tokenizers = tokenizers();
    for name in ["heuristic", "o200k_base", "cl100k_base"] {
        let counter = tokenizers.get(name).unwrap();
        let mut all = vec![(String::new(), IncrementalCount::default())];
        for _ in 0..5 {
            let mut longer = Vec::new();
            for (text, incremental) in &all {
                for character in &characters {
                    let (mut text, mut incremental) = (format!("{text}{character}"), *incremental);
                    assert_eq!(
                        counter.count_incremental(&text, &mut incremental),
                        counter.count(&text),
                        "{name} {text:?}"
                    );
                    // The text after it shows whether it ended there.
                    text.shrink_to_fit();
                    longer.push((text, incremental));
                }
            }
            all = longer;
            if all.len() > 100_000 {
                break;
            }
        }
    }
}

/// Counts characters, and how often it was asked.
#[derive(Debug, Default)]
struct Asked(Cell<usize>);

impl Counter for Asked {
    fn name(&self) -> &str {
        "asked"
    }

    fn count(&self, text: &str) -> u32 {
        self.0.set(self.0.get() + text.len());
        text.chars().count() as u32
    }
}

#[test]
fn a_turn_counts_only_new_text() {
    let asked = Rc::new(Asked::default());
    let host = CallContext { counter: Some(Rc::<Asked>::clone(&asked)), ..CallContext::default() };
    // The edges of the gap are filled again by each fit, which counts what they are shortened to.
    let mut kept = Kept::new(json!({ "maxTokens": 4000, "tokenizer": {}, "fill": "off", "protect": [] }), host, None);
    let message = |at: usize| json!({ "role": if at.is_multiple_of(2) { "user" } else { "assistant" }, "content": "x".repeat(1000) });
    for at in 0..50 {
        kept.splice(at, 0, &[message(at)]).unwrap();
        kept.fit(&Value::Null);
        let asked = asked.0.take();
        // The message and its role; of markers, those that are tried.
        assert!(asked < 2000, "{at}: {asked}");
    }
}

#[test]
fn repairs_are_reported_at_their_place() {
    let mut kept = Kept::new(json!({ "maxTokens": 4000 }), CallContext::default(), None);
    let good = json!({ "role": "user", "content": "hi" });
    kept.splice(0, 0, &[good.clone(), good.clone()]).unwrap();
    let request = br#"{"at":2,"remove":0,"messages":[{"role":"user","content":"a\ud800b"}]}"#;
    METHODS[0].answer(&mut kept.chat, request, &[], &kept.host).unwrap();
    let answer = call(&mut kept.chat, "fit", &json!({}), &kept.host).unwrap();
    assert_eq!(answer["report"]["diagnostics"][0]["path"], "messages[2].content");
}

/// An approval is asked for in one message and given in another, which is not the next.
#[test]
fn what_an_id_joins_stays_joined_as_it_comes() {
    let user = |text: &str| json!({ "role": "user", "content": text });
    let asked = json!([
        { "type": "tool-call", "toolCallId": "c1", "toolName": "delete", "input": {} },
        { "type": "tool-approval-request", "approvalId": "a1", "toolCallId": "c1" },
    ]);
    let given = json!([{ "type": "tool-approval-response", "approvalId": "a1", "approved": true }]);
    let messages = [
        user("Tidy up, and ask me first, whatever it is that you find there."),
        json!({ "role": "assistant", "content": asked }),
        user("Wait, which of all these files is it that you want to delete?"),
        user("Never mind, it is the log."),
        json!({ "role": "tool", "content": given }),
    ];
    for most in 10..120 {
        let options =
            json!({ "maxTokens": most, "format": "ai-sdk", "truncationStrategy": "rollingWindow", "repair": "off" });
        let mut kept = Kept::new(options, CallContext::default(), None);
        for message in &messages {
            kept.splice(kept.list.len(), 0, std::slice::from_ref(message)).unwrap();
            kept.check().unwrap();
        }
    }
}
