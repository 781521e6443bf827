//! A naive model of the strategies, written for clarity: it renders and recounts every candidate. The real thing
//! must agree with it on every random tree.

use std::collections::BTreeSet;

use ctxweave::content::Block;
use ctxweave::loom::{Fill, Options, StartOn, Strategy as Cut, Tree, assemble_dialogue};
use ctxweave::tokens::Counter;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::aware;
use crate::generate::{Case, case, cases};
use crate::recount;

/// A node of the conversation as the report of an uncut assembly has it: its id, its role, its parts.
struct Entry {
    id: String,
    role: String,
    parts: Vec<Value>,
}

pub(crate) struct Model<'a> {
    options: &'a Options,
    counter: &'a dyn Counter,
    system: String,
    entries: Vec<Entry>,
    /// Indices where units begin, and the end.
    units: Vec<usize>,
    limit: u64,
    /// The text before and after the entries, whatever is cut.
    blocks: [Option<String>; 2],
}

/// What the model expects.
#[derive(Debug, PartialEq)]
pub(crate) enum Expected {
    /// Entries `0..head` and `tail..` are kept.
    Keep { head: usize, tail: usize, messages: Vec<Value> },
    /// Not even one unit fits.
    LastResort,
}

impl<'a> Model<'a> {
    /// Takes the nodes one at a time from the tree, so that nothing of the real merging is used.
    pub(crate) fn new(case: &'a Case) -> Self {
        let mut options = case.options.clone();
        options.context_window = 1e9;
        let whole = assemble_dialogue(&case.tree, &options, case.counter).unwrap();
        let whole = serde_json::to_value(&whole).unwrap();
        let messages = whole["messages"].as_array().unwrap();
        let first = &messages.first().map_or(Value::Null, |message| message["role"].clone());
        let system = match first.as_str() {
            Some("system") => messages[0]["content"].as_str().unwrap(),
            _ => whole["system"].as_str().unwrap_or(""),
        };
        let broken = broken_blocks(&case.tree, &whole);
        let headers = aware::Headers::new(case, &whole);
        let mut entries = Vec::new();
        for message in messages.iter().filter(|message| message["role"] != "system") {
            for id in message["nodeIds"].as_array().unwrap() {
                let id = id.as_str().unwrap().to_owned();
                let parts = headers.put(&id, parts(&case.tree, &id, &case.options, &broken));
                entries.push(Entry { role: message["role"].as_str().unwrap().to_owned(), parts, id });
            }
        }
        let units = units(&entries);
        let buffer = case.options.preferences.token_buffer.unwrap();
        let limit = (case.options.context_window - buffer) as u64;
        let blocks = aware::blocks(&whole);
        Self { options: &case.options, counter: case.counter, system: system.to_owned(), entries, units, limit, blocks }
    }

    fn marker(&self, count: usize) -> String {
        let marker = match (self.options.preferences.truncation_marker.as_deref(), count) {
            (None, 1) => "[… 1 earlier node omitted …]",
            (None, _) => "[… {count} earlier nodes omitted …]",
            (Some(own), _) => own,
        };
        trimmed(&marker.replace("{count}", &count.to_string())).to_owned()
    }

    fn render(&self, head: usize, tail: usize, marker: bool) -> Vec<Value> {
        self.render_with(head, tail, marker, &self.blocks)
    }

    fn render_with(&self, head: usize, tail: usize, marker: bool, blocks: &[Option<String>; 2]) -> Vec<Value> {
        let mut messages: Vec<(String, Vec<Value>, Vec<String>)> = Vec::new();
        let mut say = |role: &str, parts: &[Value], id: Option<&str>| {
            if messages.last().is_none_or(|last| last.0 != role) {
                messages.push((role.to_owned(), Vec::new(), Vec::new()));
            }
            let last = messages.last_mut().unwrap();
            for part in parts {
                let joins = part["type"] == "text" && last.1.last().is_some_and(|before| before["type"] == "text");
                if joins {
                    let before = last.1.last_mut().unwrap();
                    before["text"] =
                        json!(format!("{}\n\n{}", before["text"].as_str().unwrap(), part["text"].as_str().unwrap()));
                } else {
                    last.1.push(part.clone());
                }
            }
            last.2.extend(id.map(str::to_owned));
        };
        let block = |text: &String| json!({ "type": "text", "text": text });
        if let Some(memory) = &blocks[0] {
            say("user", &[block(memory)], None);
        }
        for entry in &self.entries[..head] {
            say(&entry.role, &entry.parts, Some(&entry.id));
        }
        let text = self.marker(tail - head);
        if marker && !text.is_empty() {
            say("user", &[json!({ "type": "text", "text": text })], None);
        }
        for entry in &self.entries[tail..] {
            say(&entry.role, &entry.parts, Some(&entry.id));
        }
        if let Some(loom) = &blocks[1] {
            say("user", &[block(loom)], None);
        }
        let finish = |(role, parts, ids): (String, Vec<Value>, Vec<String>)| {
            let content = match parts.as_slice() {
                [part] if part["type"] == "text" => part["text"].clone(),
                _ => Value::Array(parts),
            };
            json!({ "role": role, "content": content, "nodeIds": ids })
        };
        messages.into_iter().map(finish).collect()
    }

    fn fixed(&self) -> u64 {
        let in_messages = self.options.system_placement != ctxweave::loom::SystemPlacement::Field;
        let message = if in_messages && !self.system.is_empty() { self.options.overhead.per_message } else { 0 };
        u64::from(self.counter.count(&self.system)) + self.options.overhead.per_request + message
    }

    fn messages_cost(&self, messages: &[Value]) -> u64 {
        let said: u64 =
            messages.iter().map(|message| recount::content(&message["content"], self.options, self.counter)).sum();
        said + self.options.overhead.per_message * messages.len() as u64
    }

    pub(crate) fn cost(&self, head: usize, tail: usize, marker: bool) -> u64 {
        self.fixed() + self.messages_cost(&self.render(head, tail, marker))
    }

    /// The strategies of docs/loom.md, step by step.
    pub(crate) fn expect(&self) -> Expected {
        let all = self.entries.len();
        let total = self.cost(all, all, false);
        if total <= self.limit {
            return self.keep(all, all, false);
        }
        match self.options.preferences.truncation_strategy.unwrap() {
            Cut::TruncateMiddle => self.middle(total),
            Cut::RollingWindow => self.rolling(total),
            Cut::StopAtLimit | Cut::KeepStart => panic!("not generated"),
        }
    }

    fn keep(&self, head: usize, tail: usize, marker: bool) -> Expected {
        Expected::Keep { head, tail, messages: self.render(head, tail, marker) }
    }

    /// The blocks, with the marker for no nodes between them.
    fn blocks_alone(&self) -> u64 {
        let texts: Vec<String> = [self.blocks[0].clone(), Some(self.marker(0)), self.blocks[1].clone()]
            .into_iter()
            .flatten()
            .filter(|text| !text.is_empty())
            .collect();
        match texts.len() {
            0 => 0,
            _ => u64::from(self.counter.count(&texts.join("\n\n"))) + self.options.overhead.per_message,
        }
    }

    fn step(&self) -> u64 {
        self.options.preferences.cut_step.unwrap_or(0.0) as u64
    }

    fn middle(&self, total: u64) -> Expected {
        let unit = |at: usize| self.units[at];
        let fits = |head: usize, tail: usize| self.cost(unit(head), unit(tail), true) <= self.limit;
        let count = self.units.len() - 1;
        let minimum = self.options.preferences.minimum_recent_nodes.unwrap_or(4.0) as usize;
        // The protected tail: whole units that hold the last `minimum` nodes, shrunk from its old end down to one unit.
        let mut protected = count - 1;
        while protected > 1 && self.entries.len() - unit(protected) < minimum {
            protected -= 1;
        }
        while protected < count - 1 && !fits(0, protected) {
            protected += 1;
        }
        if count < 2 || !fits(0, protected) {
            return Expected::LastResort;
        }
        let half = self.limit.saturating_sub(self.fixed() + self.blocks_alone()) / 2;
        let head_cost =
            |head: usize| self.messages_cost(&self.render_with(unit(head), self.entries.len(), false, &[None, None]));
        if self.step() > 0 {
            let mut head = 0;
            while head + 1 < protected && head_cost(head + 1) <= half {
                head += 1;
            }
            let target = (total - self.limit).div_ceil(self.step()) * self.step();
            let mut tail = head + 1;
            while tail < protected && total.saturating_sub(self.cost(unit(head), unit(tail), true)) < target {
                tail += 1;
            }
            if fits(head, tail) {
                return self.keep(unit(head), unit(tail), true);
            }
        }
        let (mut head, mut tail) = (0, protected);
        while head + 1 < protected && head_cost(head + 1) <= half && fits(head + 1, protected) {
            head += 1;
        }
        loop {
            let before = (head, tail);
            while tail > head + 1 && fits(head, tail - 1) {
                tail -= 1;
            }
            while head + 1 < tail && fits(head + 1, tail) {
                head += 1;
            }
            if before == (head, tail) {
                return self.keep(unit(head), unit(tail), true);
            }
        }
    }

    fn rolling(&self, total: u64) -> Expected {
        let unit = |at: usize| self.units[at];
        let count = self.units.len() - 1;
        let cost = |tail: usize| self.cost(0, unit(tail), false);
        if cost(count - 1) > self.limit {
            return Expected::LastResort;
        }
        let mut tail = count - 1;
        while tail > 0 && cost(tail - 1) <= self.limit {
            tail -= 1;
        }
        if self.step() > 0 {
            let target = (total - self.limit).div_ceil(self.step()) * self.step();
            let enough = (tail..count).find(|&at| total.saturating_sub(cost(at)) >= target && cost(at) <= self.limit);
            tail = enough.unwrap_or(tail);
        }
        if self.options.preferences.start_on == Some(StartOn::User) && self.blocks[0].is_none() {
            tail = (tail..count).find(|&at| self.entries[unit(at)].role == "user").unwrap_or(tail);
        }
        self.keep(0, unit(tail), false)
    }
}

/// Calls and results that the assembly left out, by call id: those named in its diagnostics.
pub(crate) fn broken_blocks(tree: &Tree, whole: &Value) -> BTreeSet<String> {
    let mut sent: BTreeSet<String> = BTreeSet::new();
    for message in whole["messages"].as_array().unwrap() {
        for part in message["content"].as_array().into_iter().flatten() {
            sent.extend(part["toolCallId"].as_str().or(part["id"].as_str()).map(str::to_owned));
        }
    }
    let ids = tree.nodes().flat_map(|node| &node.content).filter_map(|block| match block {
        Block::ToolCall { id, .. } => Some(id.to_string()),
        Block::ToolResult { tool_call_id, .. } => Some(tool_call_id.to_string()),
        _ => None,
    });
    ids.filter(|id| !sent.contains(id)).collect()
}

pub(crate) fn parts(tree: &Tree, id: &str, options: &Options, broken: &BTreeSet<String>) -> Vec<Value> {
    let node = tree.node(id).unwrap();
    let mut parts: Vec<Value> = Vec::new();
    let text = |parts: &mut Vec<Value>, text: &str| match parts.last_mut() {
        _ if text.is_empty() => {}
        Some(last) if last["type"] == "text" => {
            last["text"] = json!(format!("{}\n\n{text}", last["text"].as_str().unwrap()))
        }
        _ => parts.push(json!({ "type": "text", "text": text })),
    };
    for block in &node.content {
        match block {
            Block::Text(said) => text(&mut parts, trimmed(said)),
            Block::Image(image) if options.media.is_empty() => {
                let alt = trimmed(image.alt_text.as_deref().unwrap());
                let stand_in = if alt.is_empty() { "[image]".to_owned() } else { format!("[image: {alt}]") };
                text(&mut parts, &stand_in);
            }
            Block::Image(image) => parts.push(json!({
                "type": "image", "ref": image.reference, "mimeType": image.mime_type, "width": image.width,
                "height": image.height, "altText": image.alt_text, "data": "iVBORw0KGgo=",
            })),
            Block::ToolCall { id, .. } if broken.contains(&**id) => {}
            Block::ToolCall { id, name, arguments, .. } => {
                parts.push(json!({ "type": "toolCall", "id": id, "name": name, "arguments": arguments }));
            }
            Block::ToolResult { tool_call_id, .. } if broken.contains(&**tool_call_id) => {}
            Block::ToolResult { tool_call_id, content, .. } => {
                let [Block::Text(answer)] = content.as_slice() else { panic!() };
                parts.push(json!({ "type": "toolResult", "toolCallId": tool_call_id, "content": answer }));
            }
            Block::Reasoning { text, .. } => parts.push(json!({ "type": "reasoning", "text": text })),
            Block::Audio(_) | Block::Vendor(_) => panic!(),
        }
    }
    parts
}

/// Two neighbours are of one unit when a call before the gap has its result after it, or reasoning before it led, within
/// the model's turn, to a call after it.
fn units(entries: &[Entry]) -> Vec<usize> {
    let ids = |entry: &Entry, kind: &str, key: &str| -> Vec<String> {
        let of_kind = entry.parts.iter().filter(|part| part["type"] == kind);
        of_kind.map(|part| part[key].as_str().unwrap().to_owned()).collect()
    };
    let together = |gap: usize| {
        let pair = entries[..gap]
            .iter()
            .flat_map(|entry| ids(entry, "toolCall", "id"))
            .any(|call| entries[gap..].iter().any(|entry| ids(entry, "toolResult", "toolCallId").contains(&call)));
        // The first call after the gap, with nothing but the model speaking in between, and thoughts before the gap.
        let next = (gap..entries.len())
            .take_while(|&at| entries[at].role == "assistant")
            .find(|&at| !ids(&entries[at], "toolCall", "id").is_empty());
        let thought = next.is_some() && {
            let turn = entries[..gap]
                .iter()
                .rev()
                .take_while(|entry| entry.role == "assistant" && ids(entry, "toolCall", "id").is_empty());
            turn.into_iter().any(|entry| entry.parts.iter().any(|part| part["type"] == "reasoning"))
        };
        pair || thought
    };
    let inner = (1..entries.len()).filter(|&gap| !together(gap));
    std::iter::once(0).take(usize::from(!entries.is_empty())).chain(inner).chain([entries.len()]).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(3000)))]

    #[test]
    fn the_model_agrees(mut case in case()) {
        (case.options.preferences.protect, case.options.preferences.fill) = (Some(Vec::new()), Some(Fill::Off));
        let result = assemble_dialogue(&case.tree, &case.options, case.counter);
        let Ok(result) = result else { return Ok(()) };
        let result = serde_json::to_value(&result).unwrap();
        let model = Model::new(&case);
        let mut messages: Vec<Value> = result["messages"].as_array().unwrap().iter().filter(|message| message["role"] != "system").cloned().collect();
        // `spans_are_what_nodes_say` checks the spans.
        messages.iter_mut().for_each(|message| drop(message.as_object_mut().unwrap().remove("spans")));
        match model.expect() {
            Expected::Keep { messages: expected, .. } => prop_assert_eq!(messages, expected),
            Expected::LastResort => {
                let report = &result["report"];
                prop_assert!(!report["cut"]["partialNodeIds"].as_array().unwrap().is_empty());
            }
        }
    }

    /// Neither message next to the removed run could be put back within the limit.
    #[test]
    fn cuts_are_maximal(mut case in case()) {
        let preferences = &mut case.options.preferences;
        (preferences.cut_step, preferences.start_on) = (None, None);
        (preferences.protect, preferences.fill) = (Some(Vec::new()), Some(Fill::Off));
        let Ok(result) = assemble_dialogue(&case.tree, &case.options, case.counter) else { return Ok(()) };
        let Some(cut) = &result.report.cut else { return Ok(()) };
        if !cut.partial_node_ids.is_empty() {
            return Ok(());
        }
        let model = Model::new(&case);
        let middle = case.options.preferences.truncation_strategy == Some(Cut::TruncateMiddle);
        let marker = middle;
        let (head, tail) = (cut.position, cut.position + cut.node_ids.len());
        let at = |index: usize| model.units.iter().position(|&start| start == index).unwrap();
        if middle && at(head) + 1 < at(tail) {
            prop_assert!(model.cost(model.units[at(head) + 1], tail, marker) > model.limit);
        }
        if at(tail) > at(head) + usize::from(middle) {
            prop_assert!(model.cost(head, model.units[at(tail) - 1], marker) > model.limit);
        }
    }
}

/// What `trim` of JavaScript leaves: its white space, one by one.
pub(crate) fn trimmed(text: &str) -> &str {
    const WHITE: &str = "\t\n\u{b}\u{c}\r \u{a0}\u{1680}\u{2000}\u{2001}\u{2002}\u{2003}\u{2004}\u{2005}\u{2006}\u{2007}\u{2008}\u{2009}\u{200a}\u{2028}\u{2029}\u{202f}\u{205f}\u{3000}\u{feff}";
    text.trim_matches(|ch| WHITE.contains(ch))
}
