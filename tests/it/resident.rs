//! Resident trees (docs/resident.md): after any edits the results equal those of a new tree.

use std::borrow::Cow;

use ctxweave::content::Role;
use ctxweave::content::{Block, Image, Media, Vendor, VendorBlock};
use ctxweave::loom::{
    Annotations, Author, Change, Delta, Edge, EdgeKind, FitState, InstructionScope, LoomAware, LoomTree, Node, Options,
    Position, Preferences, Previous, Source, SourceRole, Strategy as Truncation, SystemPlacement, Tree, TreeSettings,
    assemble_buffer, assemble_dialogue, request_body, request_body_bytes,
};
use ctxweave::prompt::ImageRule;
use ctxweave::prompt::bodies::Target;
use ctxweave::time::Timestamp;
use ctxweave::tokens::memory::Memory;
use ctxweave::tokens::{Counter, Heuristic, IncrementalCount};
use ctxweave::{Code, Error, Limits};
use proptest::prelude::*;
use serde::Serialize;
use serde_json::{Value, json};
use std::rc::Rc;

use crate::generate::{COUNTERS, cases, preferences, text};
use crate::resident_navigation;

/// A change of a tree, or a question to it.
#[derive(Clone, Debug)]
enum Step {
    /// A node at the end of the path, and the edge to it.
    Append(Node<'static>),
    /// A node again, at its place or at another.
    Upsert(Node<'static>),
    /// More text for a node, or for the tip.
    Grow(Option<u8>, String),
    AddEdge {
        edge: u8,
        sources: Vec<(u8, SourceRole)>,
        target: u8,
        remark: bool,
    },
    RemoveNode(u8),
    RemoveEdge(u8),
    /// An edit that must fail, among valid ones.
    Fail(u8),
    System(Option<String>),
    Ask {
        tip: Option<u8>,
        window: u32,
        choice: bool,
        aware: bool,
        more: More,
    },
}

/// What else a question may say.
#[derive(Clone, Debug)]
struct More {
    pending: Vec<(u8, SourceRole)>,
    media: bool,
    image: ImageRule,
    versions: Vec<(u8, u8)>,
    annotations: Annotations,
    generation: bool,
    /// These nodes as an explicit path.
    path: Option<Vec<u8>>,
    /// The path to the tip as an explicit one.
    explicit: bool,
    now: bool,
}

fn more() -> impl Strategy<Value = More> {
    let role = prop::sample::select(vec![SourceRole::Context, SourceRole::Instruction]);
    let pending = prop::collection::vec((0..30u8, role), 0..3);
    let some_pending = prop_oneof![3 => Just(Vec::new()), 1 => pending];
    let versions = prop_oneof![3 => Just(Vec::new()), 1 => prop::collection::vec((0..30u8, 0..30u8), 1..3)];
    let named = prop::collection::btree_set((0..30u8).prop_map(id), 1..4)
        .prop_map(|ids| Annotations::Named(ids.into_iter().collect()));
    let annotations = prop_oneof![4 => Just(Annotations::None), 2 => Just(Annotations::All), 1 => named];
    let path = prop::option::weighted(0.1, prop::collection::vec(0..30u8, 0..6));
    let explicit = prop::bool::weighted(0.15);
    let image = prop::sample::select(vec![ImageRule::Unknown, ImageRule::anthropic(""), ImageRule::Flat(7)]);
    (
        some_pending,
        any::<bool>(),
        image,
        versions,
        annotations,
        prop::bool::weighted(0.2),
        path,
        explicit,
        any::<bool>(),
    )
        .prop_map(|(pending, media, image, versions, annotations, generation, path, explicit, now)| More {
            pending,
            media,
            image,
            versions,
            annotations,
            generation,
            path,
            explicit,
            now,
        })
}

impl More {
    fn apply(self, options: &mut Options, tree: &LoomTree) {
        let source = |(node, role): (u8, SourceRole)| Source { node: id(node).into(), role };
        options.pending_sources = self.pending.into_iter().map(source).collect();
        if self.media {
            options.media = Rc::new([("img".to_owned(), Media::Data("iVBORw0KGgo=".into()))].into());
        }
        options.image = self.image;
        // Most pairs are not versions of one node, and rejected; one in eight is left unchanged.
        for (key, value) in self.versions {
            let versions = [(id(key), id(value))];
            let mut alone = options.clone();
            alone.choices.versions = versions.clone().into_iter().collect();
            let refused = tree.path(&alone).is_err_and(|error| error.code() == Code::InvalidChoice);
            if !refused || key % 8 == 0 {
                options.choices.versions.extend(versions);
            }
        }
        options.annotations = self.annotations;
        if self.generation {
            options.instruction_scope = InstructionScope::Generation;
        }
        if let Some(path) = self.path {
            options.position = Position::Path(path.into_iter().map(id).collect());
        } else if self.explicit
            && let Ok(path) = tree.path(&options.clone())
        {
            options.position = Position::Path(path.into_iter().map(str::to_owned).collect());
        }
        if let Some(aware) = options.loom_aware.as_mut().filter(|_| self.now) {
            aware.now = Timestamp::parse("2026-03-01T12:00:00Z");
            aware.trace = vec!["looked around".to_owned()];
        }
    }
}

fn id(number: u8) -> String {
    format!("n{number}")
}

fn author() -> impl Strategy<Value = Author> {
    prop::sample::select(vec![Author::Human, Author::Model])
}

fn block() -> impl Strategy<Value = Block<'static>> {
    let call = (0..4u8).prop_map(|call| Block::ToolCall {
        id: format!("c{call}").into(),
        name: "look".into(),
        arguments: Box::new(Cow::Owned(json!({"q": call}))),
        server: false,
    });
    let result = (0..4u8, text()).prop_map(|(call, text)| Block::ToolResult {
        tool_call_id: format!("c{call}").into(),
        content: vec![Block::text(text)],
        is_error: None,
        server: false,
    });
    let image = Just(Block::Image(Box::new(Image {
        reference: Some("img".into()),
        mime_type: "image/png".into(),
        width: Some(20),
        height: Some(30),
        alt_text: Some("a cat".into()),
        media: None,
    })));
    prop_oneof![
        4 => text().prop_map(Block::text),
        2 => call,
        2 => result,
        1 => (text(), prop::option::of(Just("c2ln"))).prop_map(|(text, signature)| Block::Reasoning {
            text: text.into(),
            signature: signature.map(Into::into),
            redacted: false,
        }),
        1 => image,
        1 => vendor_block(),
    ]
}

/// A compaction of Anthropic's or OpenAI's, or another block.
fn vendor_block() -> impl Strategy<Value = Block<'static>> {
    (0..4u8, text()).prop_map(|(kind, text)| {
        let (vendor, value) = match kind {
            0 => (Vendor::Anthropic, json!({ "type": "compaction", "content": text, "signature": "c2ln" })),
            1 => (Vendor::Anthropic, json!({ "type": "compaction", "content": text })),
            2 => (Vendor::OpenAi, json!({ "type": "compaction", "id": text, "encrypted_content": "sealed" })),
            _ => (Vendor::Google, json!({ "executableCode": { "code": text } })),
        };
        Block::Vendor(Box::new(VendorBlock { vendor, value: Cow::Owned(value) }))
    })
}

fn content() -> impl Strategy<Value = Vec<Block<'static>>> {
    prop_oneof![4 => text().prop_map(|text| vec![Block::text(text)]), 2 => prop::collection::vec(block(), 0..4)]
}

fn node(ids: std::ops::Range<u8>) -> impl Strategy<Value = Node<'static>> {
    (ids, content(), author(), prop::option::weighted(0.15, 0..30u8), 0..12u8).prop_map(
        |(number, content, author, edited, mark)| Node {
            created_at: match mark {
                11 => Some("yesterday".into()),
                9.. => Some(format!("2025-01-0{}T00:00:00Z", mark - 8).into()),
                _ => None,
            },
            edited_from: edited.map(|edited| id(edited).into()),
            excluded: mark == 0,
            pruned: mark == 1,
            ..Node::new(id(number), author, content)
        },
    )
}

/// What a reply is streamed in: short, and white space matters.
fn delta() -> impl Strategy<Value = String> {
    let text = prop_oneof![3 => "[ a-z]{0,5}", 1 => "[ \\n\\r]{1,3}"];
    prop_oneof![4 => text, 1 => text_of_any_kind(), 1 => prop::sample::select(vec!["/".to_owned(), "🙂".to_owned()])]
}

fn text_of_any_kind() -> impl Strategy<Value = String> {
    text()
}

fn steps(count: usize) -> impl Strategy<Value = Vec<Step>> {
    let role = prop::sample::select(vec![
        SourceRole::Primary,
        SourceRole::Primary,
        SourceRole::Context,
        SourceRole::Instruction,
    ]);
    let link = (0..30u8, prop::collection::vec((0..30u8, role), 0..4), 0..30u8, prop::bool::weighted(0.2))
        .prop_map(|(edge, sources, target, remark)| Step::AddEdge { edge, sources, target, remark });
    let window = prop_oneof![4 => 60..500u32, 1 => 20..60u32, 1 => Just(100_000u32)];
    let step = prop_oneof![
        8 => node(0..30).prop_map(Step::Append),
        4 => node(0..30).prop_map(Step::Upsert),
        6 => (prop::option::weighted(0.4, 0..30u8), delta()).prop_map(|(node, text)| Step::Grow(node, text)),
        2 => link,
        1 => (0..30u8).prop_map(Step::RemoveNode),
        1 => (0..30u8).prop_map(Step::RemoveEdge),
        2 => (0..8u8).prop_map(Step::Fail),
        1 => prop::option::of(text()).prop_map(Step::System),
        12 => (prop::option::weighted(0.3, 0..30u8), window, any::<bool>(), prop::bool::weighted(0.15), more())
            .prop_map(|(tip, window, choice, aware, more)| Step::Ask { tip, window, choice, aware, more }),
    ];
    prop::collection::vec(step, count)
}

/// The tree as plain lists, changed in the plainest way.
#[derive(Debug, Default)]
struct Plain {
    settings: TreeSettings,
    nodes: Vec<Node<'static>>,
    edges: Vec<Edge<'static>>,
    tip: Option<String>,
    fresh: u32,
}

impl Plain {
    fn has(&self, id: &str) -> bool {
        self.nodes.iter().any(|node| node.id == id)
    }

    fn put_node(&mut self, node: Node<'static>) {
        match self.nodes.iter_mut().find(|old| old.id == node.id) {
            Some(old) => *old = node,
            None => self.nodes.push(node),
        }
    }

    fn grow(&mut self, id: &str, more: &str) {
        let node = self.nodes.iter_mut().find(|node| node.id == id).unwrap();
        let mut blocks = node.content.to_vec();
        match blocks.last_mut() {
            Some(Block::Text(text)) => *text = format!("{text}{more}").into(),
            _ if more.is_empty() => {}
            _ => blocks.push(Block::text(more.to_owned())),
        }
        node.content = blocks.into();
    }

    fn put_edge(&mut self, edge: Edge<'static>) {
        match self.edges.iter_mut().find(|old| old.id == edge.id) {
            Some(old) => *old = edge,
            None => self.edges.push(edge),
        }
    }

    fn remove_node(&mut self, id: &str) {
        self.nodes.retain(|node| node.id != id);
        self.edges.retain_mut(|edge| {
            let primary = |source: &Source| source.role == SourceRole::Primary;
            let origins: Vec<String> = match (edge.kind, edge.sources.iter().any(primary)) {
                (EdgeKind::Continuation, true) => {
                    edge.sources.iter().filter(|source| primary(source)).map(|source| source.node.to_string()).collect()
                }
                (EdgeKind::Continuation, false) => {
                    edge.sources.iter().take(1).map(|source| source.node.to_string()).collect()
                }
                (EdgeKind::Annotation, _) => edge.sources.iter().map(|source| source.node.to_string()).collect(),
            };
            let touched = edge.sources.iter().any(|source| source.node == id);
            edge.sources.retain(|source| source.node != id);
            edge.target != id && (!touched || origins.iter().any(|origin| origin != id))
        });
    }
}

/// What an assembly gives, as data.
fn shown<T: Serialize>(result: Result<T, Error>) -> Value {
    match result {
        Ok(result) => serde_json::to_value(result).unwrap(),
        Err(error) => json!({ "code": error.code().as_str(), "message": error.message(), "details": error.details() }),
    }
}

/// Does the steps to both, and compares whenever they are asked.
fn compare(steps: Vec<Step>, preferences: Preferences, counter: &'static dyn Counter, in_messages: bool) {
    let memory = Memory::default();
    let limits = Limits::default();
    let mut plain = Plain::default();
    let mut tree = LoomTree::new(Tree::default(), &memory);
    let counting = memory.remember(counter);
    let mut series = Previous::Start;
    let mut kept = Keeper::default();
    for (number, step) in steps.into_iter().enumerate() {
        match step {
            Step::Append(node) => {
                let at = node.id.clone();
                let mut edges = Vec::new();
                let known = plain.has(&at);
                if let Some(tip) = plain.tip.clone().filter(|tip| at != *tip && !known) {
                    plain.fresh += 1;
                    let source = Source { node: tip.into(), role: SourceRole::Primary };
                    let edge = format!("a{}", plain.fresh);
                    edges.push(Edge {
                        id: edge.into(),
                        sources: vec![source],
                        target: at.clone(),
                        kind: EdgeKind::Continuation,
                    });
                }
                plain.put_node(node.clone());
                edges.iter().for_each(|edge| plain.put_edge(edge.clone()));
                tree.upsert(vec![node], edges, &limits).unwrap();
                plain.tip = Some(at.into());
            }
            Step::Upsert(node) => {
                plain.put_node(node.clone());
                tree.upsert(vec![node], vec![], &limits).unwrap();
            }
            Step::Grow(number, more) => {
                let Some(id) = number.map(id).or(plain.tip.clone()) else { continue };
                let done = tree.append(&id, more.as_str(), &limits);
                assert_eq!(done.is_ok(), plain.has(&id));
                if done.is_ok() {
                    plain.grow(&id, &more);
                }
            }
            Step::AddEdge { edge, sources, target, remark } => {
                let sources = sources.into_iter().map(|(node, role)| Source { node: id(node).into(), role }).collect();
                let kind = if remark { EdgeKind::Annotation } else { EdgeKind::Continuation };
                let edge = Edge { id: format!("e{edge}").into(), sources, target: id(target).into(), kind };
                let right = plain.has(&edge.target) && edge.sources.iter().all(|source| plain.has(&source.node));
                let done = tree.upsert(vec![], vec![edge.clone()], &limits);
                assert_eq!(done.is_ok(), right);
                if right {
                    plain.put_edge(edge);
                }
            }
            Step::RemoveNode(number) => {
                let id = id(number);
                let done = tree.remove(std::slice::from_ref(&id), &[]);
                assert_eq!(done.is_ok(), plain.has(&id));
                let before: Vec<String> = plain.edges.iter().map(|edge| edge.id.to_string()).collect();
                plain.remove_node(&id);
                if let Ok(removal) = done {
                    let gone = before.iter().filter(|id| plain.edges.iter().all(|edge| edge.id != **id));
                    assert_eq!(sorted(gone.cloned()), sorted(removal.edges));
                }
                if plain.tip.as_ref() == Some(&id) {
                    plain.tip = plain.nodes.last().map(|node| node.id.to_string());
                }
            }
            Step::RemoveEdge(number) => {
                let id = format!("e{number}");
                let there = plain.edges.iter().any(|edge| edge.id == id);
                assert_eq!(tree.remove(&[], std::slice::from_ref(&id)).is_ok(), there);
                plain.edges.retain(|edge| edge.id != id);
            }
            Step::Fail(how) => fail(&mut tree, &plain, how),
            Step::System(system_context) => {
                plain.settings.system_context = system_context;
                tree.configure(plain.settings.clone());
            }
            Step::Ask { tip, window, choice, aware, more } => {
                let Some(tip) = tip.map(id).or(plain.tip.clone()) else { continue };
                let mut options = Options::from_tip(&tip, window);
                options.preferences = preferences.clone();
                options.loom_aware = aware.then(LoomAware::default);
                if choice {
                    // Whatever is ambiguous is settled by the first edge that was given.
                    for edge in plain.edges.iter().rev().filter(|edge| edge.kind == EdgeKind::Continuation) {
                        options.choices.edges.insert(edge.target.to_string(), edge.id.to_string());
                    }
                }
                if in_messages {
                    options.system_placement = SystemPlacement::Message(Role::System);
                }
                more.apply(&mut options, &tree);
                let fresh =
                    Tree::new(plain.settings.clone(), plain.nodes.clone(), plain.edges.clone(), &limits).unwrap();
                // Most dialogues continue the last one.
                if number % 5 != 0 {
                    options.previous = series.clone();
                }
                let expected = assemble_dialogue(&fresh, &options, counter);
                same(&shown(tree.assemble_dialogue(&options, &counting)), &shown(expected.clone()), "series");
                if let Ok(Some(state)) = expected.as_ref().map(|expected| expected.state.clone()) {
                    let written = FitState::from_json(&state.to_json());
                    assert_eq!(written, state);
                    series = Previous::State(written);
                }

                if number % 7 == 3 {
                    // A client that lost the earlier result gets the complete one again.
                    kept = Keeper::default();
                }
                if number % 2 == 0 {
                    if let Ok(delta) = tree.dialogue_delta(&options, &counting, kept.number) {
                        kept.take(delta.number, &delta.changes);
                        assert_eq!(delta.system, expected.as_ref().unwrap().system);
                        assert_eq!(delta.report.tokens, expected.as_ref().unwrap().report.tokens);
                    }
                } else if let Ok(delta) = tree.assembly_delta(&options, &counting, kept.number) {
                    kept.take(delta.number, &delta.changes);
                    assert_eq!(delta.report.nodes, expected.as_ref().unwrap().report.nodes);
                }
                if let Ok(expected) = &expected {
                    assert_eq!(json!(kept.messages()), json!(expected.messages), "kept");
                }
                options.previous = if number % 4 == 0 { Previous::None } else { series.clone() };
                // The body before was mostly for the same provider, and is copied from.
                let providers = ["anthropic", "openai", "openai-responses", "gemini", "gemini-interactions"];
                let provider = providers[(number / 40 + usize::from(number % 11 == 5)) % 5];
                let target = if provider == "anthropic" {
                    Target::from_json(
                        json!({ "provider": provider, "model": "m", "cache": true }).to_string().as_bytes(),
                    )
                    .unwrap()
                } else {
                    Target::from_json(json!({ "provider": provider, "model": "m" }).to_string().as_bytes()).unwrap()
                };
                let body = tree.request_body(&options, &target, &counting);
                let body =
                    body.map(|body| (text_of(body.bytes), body.report.diagnostics, body.report.prefix, body.state));
                let expected = request_body(&fresh, &options, &target, counter);
                let expected =
                    expected.map(|body| (text_of(body.bytes), body.report.diagnostics, body.report.prefix, body.state));
                assert_eq!(body, expected);
                let bytes = request_body_bytes(&fresh, &options, &target, counter).map(text_of);
                assert_eq!(bytes, expected.map(|(bytes, ..)| bytes));
                let expected = assemble_dialogue(&fresh, &options, counter);
                let measured = tree.measure_path(&options, &counting).map(|measure| measure.tokens.total);
                let cut = shown(tree.would_cut(&options, &counting).map(Option::unwrap_or_default));
                let summary = shown(tree.summarize_dialogue(&options, &counting));
                let given = shown(tree.assemble_dialogue(&options, &counting));
                if let Ok(expected) = &expected {
                    let whole = expected.report.truncated
                        || expected.report.cut.is_some()
                        || measured.as_ref().unwrap() == &expected.report.tokens.total;
                    assert!(whole, "measured {measured:?}");
                    assert_eq!(cut, serde_json::to_value(expected.report.cut.clone().unwrap_or_default()).unwrap());
                }
                let expected = shown(expected);
                same(&given, &expected, "");
                for same in [
                    "/messages",
                    "/system",
                    "/report/tokens",
                    "/report/diagnostics",
                    "/report/cut/marker",
                    "/report/cut/tokens",
                    "/report/prefix",
                    "/state",
                ] {
                    assert_eq!(summary.pointer(same), expected.pointer(same), "{same}");
                }
                if number % 3 == 0 {
                    let lists = (plain.nodes.as_slice(), plain.edges.as_slice());
                    let single = Options { previous: Previous::None, ..options.clone() };
                    resident_navigation::compare(&mut tree, &fresh, lists, &single, &counting, counter);
                }
                options.working_buffer = "and so on".to_owned();
                let document = shown(tree.assemble_buffer(&options, &counting));
                same(&document, &shown(assemble_buffer(&fresh, &options, counter)), "");
            }
        }
    }
}

fn text_of(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap()
}

/// Somebody who keeps the messages of deltas.
#[derive(Debug, Default)]
struct Keeper {
    number: u32,
    messages: Vec<(Value, bool)>,
}

impl Keeper {
    fn take(&mut self, number: u32, changes: &[Change<'_>]) {
        let mut messages = Vec::new();
        for change in changes {
            match change {
                Change::Same { from, count } => {
                    let same = &self.messages[*from..from + count];
                    assert!(same.iter().all(|(_, keep)| *keep), "a message that is not to be kept");
                    messages.extend_from_slice(same);
                }
                Change::New { message, keep } => messages.push((json!(message), *keep)),
            }
        }
        (self.number, self.messages) = (number, messages);
    }

    fn messages(&self) -> Vec<&Value> {
        self.messages.iter().map(|(message, _)| message).collect()
    }
}

/// Each of these is rejected as a whole.
fn fail(tree: &mut LoomTree, plain: &Plain, how: u8) {
    let limits = Limits::default();
    let new = |id: &str| Node::new(id.to_owned(), Author::Human, vec![Block::text("never there".to_owned())]);
    let edge = |id: &str, from: &str, to: &str| Edge {
        id: id.to_owned().into(),
        sources: vec![Source { node: from.to_owned().into(), role: SourceRole::Primary }],
        target: to.to_owned().into(),
        kind: EdgeKind::Continuation,
    };
    let first = plain.nodes.first().map(|node| node.id.to_string()).unwrap_or_else(|| "x".to_owned());
    let (done, code) = match how {
        0 => (tree.upsert(vec![new(&first), new("y"), new("y")], vec![], &limits), Code::DuplicateId),
        1 => (tree.upsert(vec![new(&first)], vec![edge("z", &first, "nowhere")], &limits), Code::EdgeNodeNotFound),
        2 => (tree.upsert(vec![new("y")], vec![edge("z", "y", "y"), edge("z", "y", "y")], &limits), Code::DuplicateId),
        3 => (tree.remove(&[first, "nowhere".to_owned()], &[]).map(|applied| applied.inverse), Code::NodeNotFound),
        4 => {
            let nodes: Vec<String> = plain.nodes.iter().map(|node| node.id.to_string()).collect();
            (tree.remove(&nodes, &["nowhere".to_owned()]).map(|applied| applied.inverse), Code::EdgeNotFound)
        }
        5 => (tree.append("nowhere", "never there", &limits).map(|appended| appended.inverse), Code::NodeNotFound),
        6 if plain.has(&first) => {
            let tight = Limits { input_bytes: 1, ..limits };
            (tree.append(&first, "never there", &tight).map(|appended| appended.inverse), Code::LimitExceeded)
        }
        _ => {
            let tight = Limits { nodes: 0, ..limits };
            (tree.upsert(vec![new(&first)], vec![], &tight), Code::LimitExceeded)
        }
    };
    assert_eq!(done.unwrap_err().code(), code);
}

/// Compares two results, and reports their first difference.
fn same(given: &Value, expected: &Value, at: &str) {
    match (given, expected) {
        (Value::Object(a), Value::Object(b)) => {
            assert_eq!(a.keys().collect::<Vec<_>>(), b.keys().collect::<Vec<_>>(), "{at}");
            a.iter().for_each(|(key, value)| same(value, &b[key], &format!("{at}/{key}")));
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            a.iter().zip(b).enumerate().for_each(|(index, (a, b))| same(a, b, &format!("{at}/{index}")));
        }
        _ => assert_eq!(given, expected, "{at}"),
    }
}

fn sorted(ids: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut ids: Vec<String> = ids.into_iter().collect();
    ids.sort();
    ids
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(12)))]

    /// A thousand edits, some of which fail, and the result is that of a new tree.
    #[test]
    fn a_thousand_edits_leave_no_trace(
        steps in steps(1000), preferences in preferences(), counter in prop::sample::select(COUNTERS.to_vec()), in_messages: bool,
    ) {
        compare(steps, preferences, counter, in_messages);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(600)))]

    /// The same over few edits, so that what goes wrong is small.
    #[test]
    fn a_few_edits_leave_no_trace(
        steps in steps(24), preferences in preferences(), counter in prop::sample::select(COUNTERS.to_vec()), in_messages: bool,
    ) {
        compare(steps, preferences, counter, in_messages);
    }
}

fn chain(count: usize) -> (Vec<Node<'static>>, Vec<Edge<'static>>) {
    let text = |at: usize| format!("message {at}{}", ", and so on".repeat(at % 7));
    let author = |at: usize| if at.is_multiple_of(2) { Author::Human } else { Author::Model };
    let node = |at: usize| Node::new(format!("n{at}"), author(at), vec![Block::text(text(at))]);
    let edge = |at: usize| Edge {
        id: format!("e{at}").into(),
        sources: vec![Source { node: format!("n{}", at - 1).into(), role: SourceRole::Primary }],
        target: format!("n{at}").into(),
        kind: EdgeKind::Continuation,
    };
    ((0..count).map(node).collect(), (1..count).map(edge).collect())
}

/// Counts how often it is asked.
#[derive(Debug, Default)]
struct Asked(std::cell::Cell<usize>, std::cell::RefCell<std::collections::BTreeMap<String, usize>>);

impl Counter for Asked {
    fn name(&self) -> &str {
        "asked"
    }

    fn count(&self, text: &str) -> u32 {
        self.0.set(self.0.get() + 1);
        *self.1.borrow_mut().entry(text.to_owned()).or_default() += 1;
        u32::try_from(text.len()).unwrap()
    }

    fn is_additive_before(&self, _: &str) -> bool {
        true
    }
}

/// Counts are cached by content, whichever node or tree holds it, and released with the last node.
#[test]
fn nothing_is_counted_twice_and_all_is_given_back() {
    let memory = Memory::default();
    let counter = Asked::default();
    let counting = memory.remember(&counter);
    let (nodes, edges) = chain(200);
    let limits = Limits::default();
    let whole = Tree::new(TreeSettings::default(), nodes.clone(), edges.clone(), &limits).unwrap();
    let mut one = LoomTree::new(whole.clone(), &memory);
    let mut other = LoomTree::new(whole, &memory);
    assert_eq!((memory.texts(), memory.counts()), (200, 0));
    let options = Options::from_tip("n199", 3000);
    one.assemble_dialogue(&options, &counting).unwrap();
    other.assemble_dialogue(&options, &counting).unwrap();
    assert_eq!(memory.counts(), 200);
    for node in &nodes {
        let Block::Text(text) = &node.content[0] else { panic!() };
        assert_eq!(counter.1.borrow()[crate::model::trimmed(text)], 1, "{text}");
    }

    // The same again, and from elsewhere on the path: nothing but markers and the empty system context.
    let before = counter.0.get();
    one.assemble_dialogue(&options, &counting).unwrap();
    one.tokens_of(Some(&["n7".to_owned()]), &options, &counting).unwrap();
    assert!(counter.0.get() - before < 8, "{}", counter.0.get() - before);

    let ids: Vec<String> = nodes.iter().map(|node| node.id.to_string()).collect();
    one.remove(&ids[..150], &[]).unwrap();
    assert_eq!((memory.texts(), memory.counts()), (200, 200), "the other tree holds them still");
    other.remove(&ids[100..], &[]).unwrap();
    assert_eq!((memory.texts(), memory.counts()), (150, 150));
    drop(one);
    assert_eq!(memory.texts(), 100);
    drop(other);
    assert_eq!((memory.texts(), memory.counts()), (0, 0));
}

/// An edit without an edge has the parents of the edited node, however far back.
#[test]
fn what_an_edit_is_an_edit_of_is_looked_at_too() {
    let node = |id: &str, origin: Option<&str>| Node {
        edited_from: origin.map(|origin| origin.to_owned().into()),
        ..Node::new(id.to_owned(), Author::Human, vec![Block::text(format!("text of {id}"))])
    };
    let edge = |from: &str, to: &str| Edge {
        id: format!("{from}-{to}").into(),
        sources: vec![Source { node: from.to_owned().into(), role: SourceRole::Primary }],
        target: to.to_owned().into(),
        kind: EdgeKind::Continuation,
    };
    let nodes = vec![
        node("p", None),
        node("q", None),
        node("one", None),
        node("two", None),
        node("between", Some("one")),
        node("tip", Some("between")),
    ];
    let limits = Limits::default();
    let edges = vec![edge("p", "one"), edge("q", "two")];
    let made = Tree::new(TreeSettings::default(), nodes, edges, &limits).unwrap();
    let mut tree = LoomTree::new(made, &Memory::default());
    let memory = tree.memory().clone();
    let counter = Asked::default();
    let counting = memory.remember(&counter);
    let options = Options::from_tip("tip", 5000);
    let path = |tree: &mut LoomTree| -> Vec<String> {
        let report = tree.assemble_dialogue(&options, &counting).unwrap().report;
        report.path.iter().map(|id| (*id).to_owned()).collect()
    };
    assert_eq!(path(&mut tree), ["p", "tip"]);
    tree.upsert(vec![node("between", Some("two"))], vec![], &limits).unwrap();
    assert_eq!(path(&mut tree), ["q", "tip"]);
}

/// What images cost may change for as long as there are none, and counts from the first one on.
#[test]
fn the_first_image_has_the_cost_of_the_request() {
    let (nodes, edges) = chain(4);
    let limits = Limits::default();
    let made = Tree::new(TreeSettings::default(), nodes, edges, &limits).unwrap();
    let mut tree = LoomTree::new(made, &Memory::default());
    let memory = tree.memory().clone();
    let counter = Asked::default();
    let counting = memory.remember(&counter);
    let total = |tree: &mut LoomTree, image: u64| {
        let mut options = Options::from_tip("n3", 100_000);
        options.image = ImageRule::Flat(image);
        options.media = Rc::new([("img".to_owned(), Media::Data("iVBORw0KGgo=".into()))].into());
        tree.measure_path(&options, &counting).unwrap().tokens.total
    };
    let texts = total(&mut tree, 1);
    assert_eq!(total(&mut tree, 10), texts);
    let image = Image {
        reference: Some("img".into()),
        mime_type: "image/png".into(),
        width: None,
        height: None,
        alt_text: None,
        media: None,
    };
    tree.upsert(
        vec![Node::new("n3", Author::Model, vec![Block::text("message 3"), Block::Image(Box::new(image))])],
        vec![],
        &limits,
    )
    .unwrap();
    let with_image = total(&mut tree, 10);
    assert_eq!(total(&mut tree, 1), with_image - 9);
    assert_eq!(total(&mut tree, 10), with_image);
}

/// A keystroke costs the new text, not the size of the tree.
#[test]
fn an_appended_node_costs_only_its_text() {
    let memory = Memory::default();
    let counter = Asked::default();
    let counting = memory.remember(&counter);
    let (nodes, edges) = chain(2000);
    let limits = Limits::default();
    let mut tree = LoomTree::new(Tree::new(TreeSettings::default(), nodes, edges, &limits).unwrap(), &memory);
    tree.summarize_dialogue(&Options::from_tip("n1999", 5000), &counting).unwrap();
    for at in 2000..2050 {
        let node = Node::new(format!("n{at}"), Author::Human, vec![Block::text(format!("typed {at}"))]);
        let source = Source { node: format!("n{}", at - 1).into(), role: SourceRole::Primary };
        let edge = Edge {
            id: format!("e{at}").into(),
            sources: vec![source],
            target: node.id.clone(),
            kind: EdgeKind::Continuation,
        };
        tree.upsert(vec![node], vec![edge], &limits).unwrap();
        let before = counter.0.get();
        let options = Options::from_tip(&format!("n{at}"), 5000);
        let summary = tree.summarize_dialogue(&options, &counting).unwrap();
        assert!(summary.report.truncated);
        let asked = counter.0.get() - before;
        assert!(asked < 32, "{asked} texts were counted");
    }
}

/// Counts what it looks at: a text that grows from where it grew.
#[derive(Debug, Default)]
struct Looked(std::cell::Cell<usize>);

impl Counter for Looked {
    fn name(&self) -> &str {
        Heuristic.name()
    }

    fn count(&self, text: &str) -> u32 {
        self.0.set(self.0.get() + text.len());
        Heuristic.count(text)
    }

    fn count_incremental(&self, text: &str, incremental: &mut IncrementalCount) -> u32 {
        Heuristic.count_incremental(text, incremental)
    }

    fn is_additive_before(&self, next: &str) -> bool {
        Heuristic.is_additive_before(next)
    }
}

/// A streaming reply costs its new text: nothing is recounted, whether it is the whole node or follows other blocks.
#[test]
fn a_reply_that_streams_is_not_counted_again() {
    let memory = Memory::default();
    let counter = Looked::default();
    let counting = memory.remember(&counter);
    let limits = Limits::default();
    let (mut nodes, edges) = chain(20);
    let thought = Block::Reasoning { text: "let me think".into(), signature: None, redacted: false };
    nodes[17].content = vec![thought].into();
    let made = Tree::new(TreeSettings::default(), nodes.clone(), edges.clone(), &limits).unwrap();
    let mut tree = LoomTree::new(made, &memory);
    let options = Options::from_tip("n19", 50_000);
    tree.measure_path(&options, &counting).unwrap();
    let before = counter.0.get();
    for at in 0..1000 {
        for number in [17, 19] {
            let more = format!(" word{at}");
            tree.append(&format!("n{number}"), more.as_str(), &limits).unwrap();
            let mut blocks = nodes[number].content.to_vec();
            match blocks.last_mut() {
                Some(Block::Text(text)) => text.to_mut().push_str(&more),
                _ => blocks.push(Block::text(more)),
            }
            nodes[number].content = blocks.into();
        }
        let measure = tree.measure_path(&options, &counting).unwrap();
        if at % 100 == 99 {
            let fresh = Tree::new(TreeSettings::default(), nodes.clone(), edges.clone(), &limits).unwrap();
            let whole = assemble_dialogue(&fresh, &options, &Heuristic).unwrap();
            assert_eq!(measure.tokens, whole.report.tokens);
        }
    }
    let looked = counter.0.get() - before;
    // The thought and the breaks after texts, but not the 8,000 bytes of either reply.
    assert!(looked < 100_000, "{looked} bytes were counted");
    let bytes: usize = nodes.iter().flat_map(|node| &node.content).map(text_len).sum();
    assert_eq!(tree.size().text_bytes, bytes);
    // The replacement is another text, and the memory holds all of them again.
    tree.upsert(nodes, vec![], &limits).unwrap();
    assert_eq!(memory.texts(), 22);
}

fn text_len(block: &Block) -> usize {
    match block {
        Block::Text(text) | Block::Reasoning { text, .. } => text.len(),
        _ => 0,
    }
}

/// If more texts stream than can be held, the first counts as finished, and continues there when more arrives.
#[test]
fn many_replies_stream_at_once() {
    let memory = Memory::default();
    let limits = Limits::default();
    let (nodes, edges) = chain(100);
    let made = Tree::new(TreeSettings::default(), nodes, edges, &limits).unwrap();
    let mut tree = LoomTree::new(made, &memory);
    let counting = memory.remember(&Heuristic);
    let options = Options::from_tip("n99", 100_000);
    for round in 0..5 {
        for at in 0..100 {
            tree.append(&format!("n{at}"), if at % 3 == 0 { "ab" } else { " ab" }, &limits).unwrap();
        }
        let measured = tree.measure_path(&options, &counting).unwrap().tokens;
        let fresh = assemble_dialogue(tree.tree(), &options, &Heuristic).unwrap().report.tokens;
        assert_eq!(measured, fresh, "round {round}");
    }
    assert_eq!(memory.texts(), 100 - 32);
    let ids: Vec<String> = (0..100).map(|at| format!("n{at}")).collect();
    tree.remove(&ids, &[]).unwrap();
    assert_eq!((memory.texts(), tree.size().text_bytes), (0, 0));
}

/// A character whose halves come in two deltas is whole when both are there; a half alone is U+FFFD.
#[test]
fn halves_of_characters_join() {
    let memory = Memory::default();
    let limits = Limits::default();
    let (nodes, edges) = chain(2);
    let made = Tree::new(TreeSettings::default(), nodes, edges, &limits).unwrap();
    let mut tree = LoomTree::new(made, &memory);
    let counting = memory.remember(&Heuristic);
    let options = Options::from_tip("n1", 50_000);
    let high = |text| Delta { low: None, text, high: Some(0xD83D) };
    let low = |text| Delta { low: Some(0xDE42), text, high: None };
    let mut add = |delta: Delta<'_>, expected: &str, joined: bool| {
        let appended = tree.append("n1", delta, &limits).unwrap();
        assert_eq!(appended.joined, joined);
        let text = tree.tree().node("n1").unwrap().content[0].as_text().unwrap().to_owned();
        assert!(text.ends_with(expected), "{text}");
        let measured = tree.measure_path(&options, &counting).unwrap().tokens;
        assert_eq!(measured, assemble_dialogue(tree.tree(), &options, &Heuristic).unwrap().report.tokens);
        assert_eq!(tree.size().text_bytes, "message 0".len() + text.len());
        appended.repaired
    };
    assert!(add(high("one "), "one \u{FFFD}", false));
    assert!(!add("".into(), "one \u{FFFD}", false));
    assert!(!add(low(" two"), "one 🙂 two", true));
    assert!(add(low(""), "🙂 two\u{FFFD}", false));
    assert!(add(high(""), "two\u{FFFD}\u{FFFD}", false));
    assert!(!add(" three".into(), "two\u{FFFD}\u{FFFD} three", false));
    assert!(add(low(""), "three\u{FFFD}", false));
    assert!(add(high(""), "three\u{FFFD}\u{FFFD}", false));
    assert!(add(Delta { low: Some(0xDE42), text: "", high: Some(0xD83D) }, "three\u{FFFD}🙂\u{FFFD}", true));
    assert!(!add(low(""), "three\u{FFFD}🙂🙂", true));
}

/// The result of a keystroke has only the new text, and bodies are copied from each other, wherever the change is.
#[test]
fn known_results_are_neither_sent_nor_written_again() {
    let (mut nodes, mut edges) = chain(300);
    let limits = Limits::default();
    let made = Tree::new(TreeSettings::default(), nodes.clone(), edges.clone(), &limits).unwrap();
    let mut tree = LoomTree::new(made, &Memory::default());
    let memory = tree.memory().clone();
    let counter = Asked::default();
    let counting = memory.remember(&counter);
    let mut kept = Keeper::default();
    for round in 0..60 {
        let strategy = if round < 30 { Truncation::RollingWindow } else { Truncation::TruncateMiddle };
        let at = match round % 3 {
            // A node at the end, an edit near it, and one at the other end.
            0 => nodes.len(),
            1 => nodes.len() - 5,
            _ => 3,
        };
        let author = if at.is_multiple_of(2) { Author::Human } else { Author::Model };
        let node = Node::new(format!("n{at}"), author, vec![Block::text(format!("\"round\" {round}"))]);
        if at == nodes.len() {
            let source = Source { node: format!("n{}", at - 1).into(), role: SourceRole::Primary };
            let (id, target) = (format!("e{at}").into(), node.id.clone());
            edges.push(Edge { id, sources: vec![source], target, kind: EdgeKind::Continuation });
            nodes.push(node.clone());
            tree.upsert(vec![node], vec![edges[at - 1].clone()], &limits).unwrap();
        } else {
            nodes[at] = node.clone();
            tree.upsert(vec![node], vec![], &limits).unwrap();
        }
        let mut options = Options::from_tip(&nodes[nodes.len() - 1].id, 4000);
        options.preferences.truncation_strategy = Some(strategy);
        let provider = ["anthropic", "openai", "openai-responses", "gemini", "gemini-interactions"][round / 5 % 5];
        // A system message comes and goes, and moves the places of all others.
        if provider == "openai" {
            options.system_placement = SystemPlacement::Message(Role::System);
            options.system_prompt = round.is_multiple_of(2).then(|| "be brief".to_owned());
        }
        let delta = tree.dialogue_delta(&options, &counting, kept.number).unwrap();
        assert!(delta.report.truncated);
        let new = delta.changes.iter().filter(|change| matches!(change, Change::New { .. })).count();
        kept.take(delta.number, &delta.changes);
        // The new node, what grew at the edge of the window, the marker with a neighbour, the system message.
        assert!(new <= 5 || round == 0 || round == 30, "{new} messages were new in round {round}");
        let fresh = Tree::new(TreeSettings::default(), nodes.clone(), edges.clone(), &limits).unwrap();
        let expected = assemble_dialogue(&fresh, &options, &counter).unwrap();
        assert_eq!(json!(kept.messages()), json!(expected.messages));
        let mut target = json!({ "provider": provider, "model": "m" });
        if provider == "anthropic" {
            target["cache"] = json!({ "messages": [round, round + 7, -1] });
        }
        let target = Target::from_json(target.to_string().as_bytes()).unwrap();
        let body = text_of(tree.request_body(&options, &target, &counting).unwrap().bytes);
        assert_eq!(body, text_of(request_body(&fresh, &options, &target, &counter).unwrap().bytes), "round {round}");
    }
}
