//! Changes as calls: read from JSON, applied, and written as JSON.

use std::borrow::Cow;

use serde::Serialize;

use super::append::{self, Delta};
use super::change::{ChangeSet, OrderPosition, TailEdit, Upsert};
use super::extra::{Extra, extras};
use super::handle::{Handle, QUESTIONS};
use super::loom_tree::LoomTree;
use super::navigation_calls::NAVIGATION;
use super::preview::{Comparison, Question};
use super::search::{Field, Search};
use crate::call::{Call, CallContext, Response, SmallResult};
use crate::content::own;
use crate::error::{Diagnostic, Result};
use crate::json::{Object, Value, lone_surrogates, refuse_unknown};
use crate::limits::Limits;
use crate::loom::continuation::CONTINUATION_FIELDS;
use crate::loom::read::{self, RequestKind};
use crate::loom::tree::TreeMode;
use crate::maps::SortedMap;
use crate::prompt::bodies::Provider;

/// The methods by name. Options are merged over the defaults, which are stored outside.
pub const METHODS: &[&[Call<Handle>]] = &[QUESTIONS, NAVIGATION, CHANGES];

const CHANGES: &[Call<Handle>] = &[
    Call::new("upsert", &[], |handle, request, _| handle.upsert(request)),
    Call::new("append", &["nodeId", "text", "low", "high"], |handle, request, _| handle.append(request)),
    Call::new("remove", &[], |handle, request, _| handle.remove(request)),
    Call::new("apply", &[], |handle, request, _| handle.apply(request)),
    Call::new("revision", &[], |handle, _, _| Ok(Response::small(SmallResult::Number(handle.tree.revision().into())))),
    Call::new("snapshot", &[], |handle, _, _| {
        Ok(Response { json: Vec::new(), bytes: vec![handle.tree.snapshot()?], small: None })
    }),
    Call::new("toJSON", &[], |handle, _, _| {
        Ok(Response { json: handle.tree.snapshot()?, bytes: Vec::new(), small: None })
    }),
    Call::new("preview", &["change", "options", "then"], |handle, request, host| handle.preview(request, host)),
    Call::new("compare", &["options", "then"], |handle, request, host| handle.compare(request, host)),
    Call::new("search", &["query", "options"], |handle, request, _| handle.search(request)),
    Call::new("changesSince", &["revision"], |handle, request, _| handle.changes_since(request)),
];

/// The result of an edit.
#[derive(Serialize)]
struct Changed {
    diagnostics: Vec<Diagnostic>,
    inverse: ChangeSet,
}

/// The fields of a change; `revision`, which `changesSince` returns, is ignored.
const CHANGE: &[&str] = &["upsert", "remove", "before", "settings", "endings", "replace", "revision"];

impl Handle {
    fn upsert(&mut self, request: Value<'_>) -> Result<Response> {
        let mut diagnostics = request.repaired();
        let nodes = request.object("nodes and edges, an object")?.get("nodes")?;
        let halves = nodes.filter(|_| !diagnostics.is_empty()).map(append::halves).unwrap_or_default();
        let mut change = ChangeSet::default();
        read_upsert(request, &self.limits, &mut change, &mut diagnostics)?;
        let inverse = self.tree.apply(change, &self.limits)?.inverse;
        for (id, half) in halves {
            self.tree.note_half(&id, half);
        }
        Response::of(&Changed { diagnostics, inverse })
    }

    /// Appends to the text of a node. `low` and `high` are the halves of surrogate pairs before and after the text.
    fn append(&mut self, request: Value<'_>) -> Result<Response> {
        let mut diagnostics = request.repaired();
        let fields = request.object("a node and a text, an object")?;
        let text = fields.text("text")?;
        let half =
            |value: Value<'_>| value.whole(u32::from(u16::MAX)).map(|unit| u16::try_from(unit).unwrap_or_default());
        let (low, high) = (fields.read("low", half)?, fields.read("high", half)?);
        let appended = self.tree.append(&fields.text("nodeId")?, Delta { low, text: &text, high }, &self.limits)?;
        if appended.repaired && diagnostics.is_empty() {
            diagnostics.push(lone_surrogates(1).at_path("text"));
        }
        Response::of(&Changed { diagnostics, inverse: appended.inverse })
    }

    fn remove(&mut self, request: Value<'_>) -> Result<Response> {
        let [nodes, edges] = read_removal(request)?;
        Response::of(&self.tree.remove(&nodes, &edges)?)
    }

    fn apply(&mut self, request: Value<'_>) -> Result<Response> {
        let fields = request.object("a change, an object")?.only(CHANGE)?;
        let change = self.read_change(fields)?;
        Response::of(&self.tree.apply(change, &self.limits)?)
    }

    fn changes_since(&mut self, request: Value<'_>) -> Result<Response> {
        let revision = request.object("a revision")?.read("revision", |revision| revision.whole(u32::MAX))?;
        Response::of(&self.tree.changes_since(revision))
    }

    fn search(&mut self, request: Value<'_>) -> Result<Response> {
        let request = request.object("a text and options, an object")?;
        let mut search = Search { query: request.need("query")?.string()?, ..Search::default() };
        if let Some(options) = request.get("options")? {
            let options =
                options.object("options, an object")?.only(&["ignoreCase", "ignoreAccents", "fields", "limit"])?;
            search.ignore_case = options.bool("ignoreCase")?.unwrap_or_default();
            search.ignore_accents = options.bool("ignoreAccents")?.unwrap_or_default();
            if let Some(fields) = options.get("fields")? {
                search.fields = fields.list("a list of fields")?.read(|field| field.one_of(&Field::NAMES))?;
            }
            search.limit = options.read("limit", |limit| limit.whole(u32::MAX))?.map(|limit| limit as usize);
        }
        Response::of(&self.tree.search(&search))
    }

    fn preview(&mut self, request: Value<'_>, host: &CallContext) -> Result<Response> {
        let fields = request.object("a change and options, an object")?;
        let change =
            fields.get("change")?.map(|change| change.object("a change, an object")?.only(CHANGE)).transpose()?;
        let change = change.map(|change| self.read_change(change)).transpose()?.unwrap_or_default();
        self.compare_prompts(fields, host, |tree, limits, before, after| tree.preview(change, limits, before, after))
    }

    fn compare(&mut self, request: Value<'_>, host: &CallContext) -> Result<Response> {
        let fields = request.object("options and others, an object")?;
        self.compare_prompts(fields, host, |tree, _, before, after| tree.compare(before, after))
    }

    /// Compares the prompts of `options` and `then`; without a tokenizer, the second is counted like the first.
    fn compare_prompts(
        &mut self,
        request: Object<'_>,
        host: &CallContext,
        compare: impl FnOnce(&mut LoomTree, &Limits, Question<'_>, Question<'_>) -> Result<Comparison>,
    ) -> Result<Response> {
        let (given, then) = (request.need("options")?, request.need("then")?);
        let first = self.options_without_report(Some(given), RequestKind::Assembly, host)?;
        let second = self.options_without_report(Some(then), RequestKind::Assembly, host)?;
        let own_tokenizer = then.object("options, an object")?.get("tokenizer")?.is_some();
        let memory = self.tree.memory().clone();
        let counter = first.counter(&memory);
        let other = second.counter(&memory);
        let receivers = [receiver(given)?, receiver(then)?];
        let [mode, other_mode] = receivers.each_ref().map(|[provider, _]| {
            let provider = provider.as_deref()?;
            Some(if provider == Provider::Completion.name() { TreeMode::Buffer } else { TreeMode::Dialogue })
        });
        let before = Question { options: &first.options, counter: &counter, mode };
        let counter = if own_tokenizer { &other } else { &counter };
        let after = Question { options: &second.options, counter, mode: other_mode };
        let limits = self.limits;
        let mut compared = compare(&mut self.tree, &limits, before, after)?;
        let [one, other] = receivers;
        if one != other {
            compared.cached_tokens = 0;
        }
        Response::of(&compared)
    }

    /// Reads a change with known fields.
    pub(super) fn read_change(&self, fields: Object<'_>) -> Result<ChangeSet> {
        let mut diagnostics = Vec::new();
        let mut change = ChangeSet { replaces: fields.bool("replace")?.unwrap_or_default(), ..ChangeSet::default() };
        if let Some(upsert) = fields.get("upsert")? {
            read_upsert(upsert, &self.limits, &mut change, &mut diagnostics)?;
        }
        if let Some(removal) = fields.get("remove")? {
            [change.removed_nodes, change.removed_edges] = read_removal(removal)?;
        }
        if let Some(before) = fields.get("before")? {
            let before = before.object("places of nodes and edges, an object")?.only(&["nodes", "edges"])?;
            place(&mut change.nodes, before, "nodes", |node| &node.id)?;
            place(&mut change.edges, before, "edges", |edge| &edge.id)?;
        }
        if let Some(endings) = fields.get("endings")? {
            change.endings = endings.list("a list of endings of texts")?.read(read_ending)?;
        }
        if let Some(given) = fields.get("settings")? {
            let known = [read::TREE_SETTINGS, &["fields"]].concat();
            let given = given.object("settings, an object")?.only(&known)?;
            let mut fields = self.tree.fields();
            read::tree_settings(given, &mut fields.settings, Some(&mut diagnostics))?;
            fields.extra.restate(given)?;
            change.settings = Some(fields);
        }
        refuse_unknown(&diagnostics)?;
        Ok(change)
    }
}

fn read_upsert(
    request: Value<'_>,
    limits: &Limits,
    change: &mut ChangeSet,
    diagnostics: &mut Vec<Diagnostic>,
) -> Result<()> {
    let fields = request.object("nodes and edges, an object")?;
    fields.report_unknown(&[&["nodes", "edges"], &CONTINUATION_FIELDS[..]].concat(), diagnostics);
    let nodes = fields.read("nodes", |nodes| read::node_list(nodes, limits))?;
    let edges = fields.read("edges", |edges| read::edge_list(edges, limits))?;
    let nodes = nodes.map(|nodes| read::nodes(nodes, limits, own)).transpose()?.unwrap_or_default();
    let edges = edges.map(|edges| read::edges(edges, limits, own)).transpose()?.unwrap_or_default();
    change.nodes = with_extras(nodes, extras(fields, "nodes", Extra::of_node)?);
    change.edges = with_extras(edges, extras(fields, "edges", Extra::of_edge)?);
    Ok(())
}

fn with_extras<T>(entities: Vec<T>, extras: Vec<Extra>) -> Vec<Upsert<T>> {
    let put = |(entity, extra)| Upsert { entity, extra, place: OrderPosition::Kept };
    entities.into_iter().zip(extras).map(put).collect()
}

fn read_ending(value: Value<'_>) -> Result<TailEdit> {
    let fields = value.object("an ending of a text, an object")?.only(&["nodeId", "cut", "text"])?;
    Ok(TailEdit {
        node_id: fields.need("nodeId")?.string()?,
        cut: fields.read("cut", |cut| cut.whole(u32::MAX))?.unwrap_or_default() as usize,
        text: fields.string("text")?.unwrap_or_default(),
    })
}

/// Provider and model, each of which has a separate prompt cache.
fn receiver(options: Value<'_>) -> Result<[Option<String>; 2]> {
    let options = options.object("options, an object")?;
    let target = options.read("target", |target| target.object("a target, an object"))?;
    let field = |name: &str| target.map(|target| target.string(name)).transpose().map(Option::flatten);
    let provider = options.get("provider")?.and_then(Value::as_text).map(Cow::into_owned);
    Ok([provider.or(field("provider")?), field("model")?])
}

fn read_removal(request: Value<'_>) -> Result<[Vec<String>; 2]> {
    let fields = request.object("ids of nodes and edges, an object")?.only(&["nodes", "edges"])?;
    let nodes = fields.read("nodes", Value::strings)?.unwrap_or_default();
    Ok([nodes, fields.read("edges", Value::strings)?.unwrap_or_default()])
}

/// Sets the positions in `before` on the inserted entries; an id in `before` that is not inserted is an error.
fn place<T>(puts: &mut [Upsert<T>], before: Object<'_>, name: &str, id: impl Fn(&T) -> &str) -> Result<()> {
    let Some(given) = before.get(name)? else { return Ok(()) };
    let mut places = SortedMap::new();
    for (key, value) in given.object("an object of ids by id")?.entries() {
        let next = if value.is_null() { None } else { Some(value.string()?) };
        places.insert(key.string()?, OrderPosition::of(next));
    }
    for put in puts {
        put.place = places.remove(id(&put.entity)).unwrap_or_default();
    }
    match places.keys().next() {
        None => Ok(()),
        Some(id) => Err(given.invalid(|place| format!("{place} names `{id}`, which the change does not insert"))),
    }
}
