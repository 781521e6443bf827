//! Random trees and options, with everything the rules speak of.

use std::borrow::Cow;

use ctxweave::Limits;
use ctxweave::call::CallContext;
use ctxweave::content::Role;
use ctxweave::content::{Block, Image, Media};
use ctxweave::loom::loom_context::{Addendum, Pinned, Stash};
use ctxweave::loom::{
    Annotations, Author, Edge, EdgeKind, Fill, LoomAware, Node, Options, Preferences, Protect, Source, SourceRole,
    StartOn, Strategy as Cut, SystemPlacement, Tree, TreeSettings,
};
use ctxweave::time::Timestamp;
use ctxweave::tokens::bpe::{Encoding, Vocabulary, pack};
use ctxweave::tokens::{Counter, Heuristic, Tokenizers};
use proptest::prelude::*;
use serde_json::json;
use std::rc::Rc;
use std::sync::LazyLock;

/// A tree and a request for it.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) tree: Tree<'static>,
    /// The edges of the tree, as they were given.
    pub(crate) edges: Vec<Edge<'static>>,
    pub(crate) options: Options,
    pub(crate) counter: &'static dyn Counter,
}

/// An exact tokenizer of the package, with a vocabulary made on the spot.
#[derive(Debug)]
struct Exact(LazyLock<Vocabulary>);

impl Counter for Exact {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn count(&self, text: &str) -> u32 {
        self.0.count(text)
    }

    fn count_up_to(&self, text: &str, limit: u32) -> Option<u32> {
        self.0.count_up_to(text, limit)
    }

    fn is_additive_before(&self, next: &str) -> bool {
        self.0.is_additive_before(next)
    }
}

static O200K: Exact = Exact(LazyLock::new(|| exact(Encoding::O200kBase, tiktoken_rs::o200k_base_singleton())));
static CL100K: Exact = Exact(LazyLock::new(|| exact(Encoding::Cl100kBase, tiktoken_rs::cl100k_base_singleton())));

fn exact(encoding: Encoding, reference: &tiktoken_rs::CoreBPE) -> Vocabulary {
    Vocabulary::load(encoding, &asset(encoding, reference)).unwrap()
}

fn asset(encoding: Encoding, reference: &tiktoken_rs::CoreBPE) -> Vec<u8> {
    let tokens: Vec<Vec<u8>> = (0..).map_while(|rank| reference.decode_bytes(&[rank]).ok()).collect();
    pack(encoding, &tokens).unwrap()
}

thread_local! {
    static TOKENIZERS: Tokenizers = {
        let mut tokenizers = Tokenizers::default();
        tokenizers.load("o200k_base", &asset(Encoding::O200kBase, tiktoken_rs::o200k_base_singleton())).unwrap();
        tokenizers.load("cl100k_base", &asset(Encoding::Cl100kBase, tiktoken_rs::cl100k_base_singleton())).unwrap();
        tokenizers
    };
}

/// The package's tokenizers, with both vocabularies.
pub(crate) fn tokenizers() -> Tokenizers {
    TOKENIZERS.with(Clone::clone)
}

/// A counter of a caller's own, of which nothing is known: rounding makes it cost less to join than to keep apart.
#[derive(Debug)]
struct Quarters;

impl Counter for Quarters {
    fn name(&self) -> &str {
        "quarters"
    }

    fn count(&self, text: &str) -> u32 {
        u32::try_from(text.len().div_ceil(4)).unwrap()
    }
}

pub(crate) const COUNTERS: [&dyn Counter; 4] = [&Heuristic, &O200K, &CL100K, &Quarters];

/// One of the counters as a caller's own.
#[derive(Debug)]
struct CustomCounter(&'static dyn Counter);

impl Counter for CustomCounter {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn count(&self, text: &str) -> u32 {
        self.0.count(text)
    }
}

/// A host that brings a counter: requests ask for it by `tokenizer: {}`.
pub(crate) fn own(counter: &'static dyn Counter) -> CallContext {
    CallContext { counter: Some(Rc::new(CustomCounter(counter))), ..CallContext::default() }
}

/// How many cases a property looks at, of the `full` number of a long run: a fifth, at least eight. `CTXWEAVE_CASES=1x` has all of
/// them, `10x` ten times as many, `500` that many in every property.
pub(crate) fn cases(full: u32) -> u32 {
    let setting = std::env::var("CTXWEAVE_CASES");
    let invalid = |number: &str| panic!("`CTXWEAVE_CASES={number}` is invalid; set a number, or a factor as in `10x`");
    let read = |number: &str| number.parse::<u32>().unwrap_or_else(|_| invalid(number));
    match setting.as_deref() {
        Ok(setting) => setting.strip_suffix('x').map_or_else(|| read(setting), |factor| full * read(factor)),
        Err(_) => (full / 5).max(full.min(8)),
    }
}

/// Every character. Whole planes have none that is assigned, or private ones alone: of these a few, unless a property looks at
/// all of its cases.
pub(crate) fn characters() -> impl Iterator<Item = char> {
    let is_full = cases(100) >= 100;
    let is_alike = |code: u32| {
        matches!(code >> 16, 4..=13 | 15..=16) && !(code & 0xffff).is_multiple_of(61) && code & 0xffff < 0xfffd
    };
    (0..=0x10_ffff).filter(move |&code| is_full || !is_alike(code)).filter_map(char::from_u32)
}

/// Texts that are awkward in one way or another.
pub(crate) fn text() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec![
        "a",
        "the",
        "context",
        "tokens,",
        "done.",
        "/path",
        "/",
        "?!",
        "42",
        "1234567",
        "naïve",
        "漢字かな",
        "ไทย",
        "עברית",
        "👨‍👩‍👧‍👦",
        "🇳🇱",
        "e\u{301}",
        "\r\n",
        "\n\n",
        "\n",
        "  ",
        "\t",
        "\u{feff}",
        "\u{200b}",
        "<|endoftext|>",
        "{\"k\":1}",
        "unbelievable",
        "Supercalifragilisticexpialidocious",
        "fn main() {}",
        "\u{2028}",
        "\u{0}",
    ]);
    let words = |range| prop::collection::vec(word.clone(), range).prop_map(|words| words.join(" "));
    prop_oneof![
        8 => words(1..12usize),
        2 => words(12..60usize),
        1 => Just("x".repeat(90)),
        1 => Just(" \n\t ".to_owned()),
    ]
}

/// One step of a conversation.
#[derive(Clone, Debug)]
enum Piece {
    Say { author: Author, text: String, mark: u8, extras: u8 },
    Act { thought: bool, calls: usize, together: bool, spoken: Option<String>, results: Vec<String>, broken: u8 },
    Look { alt: String },
}

fn piece() -> impl Strategy<Value = Piece> {
    let author = prop_oneof![Just(Author::Human), Just(Author::Model)];
    let say = (author, text(), 0..12u8, 0..10u8).prop_map(|(author, text, mark, extras)| Piece::Say {
        author,
        text,
        mark,
        extras,
    });
    let act =
        (any::<bool>(), 1..4usize, any::<bool>(), prop::option::of(text()), prop::collection::vec(text(), 3), 0..8u8)
            .prop_map(|(thought, calls, together, spoken, results, broken)| Piece::Act {
                thought,
                calls,
                together,
                spoken,
                results,
                broken,
            });
    let look = text().prop_map(|alt| Piece::Look { alt });
    prop_oneof![6 => say, 2 => act, 1 => look]
}

#[derive(Default)]
struct Grower {
    nodes: Vec<Node<'static>>,
    edges: Vec<Edge<'static>>,
    path: Vec<String>,
    calls: usize,
}

impl Grower {
    fn node(&mut self, author: Author, content: Vec<Block<'static>>, mark: u8) -> String {
        let at = self.nodes.len();
        // Some of these are the beginning of others.
        let id = format!("node-{at}");
        let created_at = match at % 6 {
            0 => None,
            1 => Some("yesterday".into()),
            _ => Some(format!("2026-03-01T09:{:02}:00+0{}:00", at % 60, at % 4).into()),
        };
        let local_id = (at % 7 == 3).then(|| format!("node-{}", at / 14).into());
        let author_agent_id = at.is_multiple_of(5).then(|| "ada".into());
        self.nodes.push(Node {
            excluded: mark == 1,
            pruned: mark == 2,
            created_at,
            local_id,
            author_agent_id,
            ..Node::new(id.clone(), author, content)
        });
        id
    }

    fn grow(&mut self, author: Author, content: Vec<Block<'static>>, mark: u8, extras: u8) {
        let id = self.node(author, content, mark);
        if let Some(last) = self.path.last().cloned() {
            let mut sources = vec![Source { node: last.clone().into(), role: SourceRole::Primary }];
            if extras == 1 {
                let context = self.node(Author::Human, vec![Block::text(format!("context of {id}"))], 0);
                sources.push(Source { node: context.into(), role: SourceRole::Context });
            }
            if extras == 2 {
                let instruction = self.node(Author::Human, vec![Block::text(format!("obey {id}"))], 0);
                sources.insert(0, Source { node: instruction.into(), role: SourceRole::Instruction });
            }
            self.edges.push(Edge {
                id: format!("e-{id}").into(),
                sources,
                target: id.clone().into(),
                kind: EdgeKind::Continuation,
            });
        }
        if extras == 3 {
            let remark = self.node(author, vec![Block::text(format!("remark on {id}"))], 0);
            let sources = vec![Source { node: id.clone().into(), role: SourceRole::Primary }];
            self.edges.push(Edge {
                id: format!("r-{id}").into(),
                sources,
                target: remark.into(),
                kind: EdgeKind::Annotation,
            });
        }
        self.path.push(id);
    }

    fn piece(&mut self, piece: Piece) {
        match piece {
            Piece::Say { author, text, mark, extras } => self.grow(author, vec![Block::text(text)], mark, extras),
            Piece::Look { alt } => {
                let image = Block::Image(Box::new(Image {
                    reference: Some("img".into()),
                    mime_type: "image/png".into(),
                    width: Some(300),
                    height: Some(200),
                    alt_text: Some(alt.clone().into()),
                    media: None,
                }));
                self.grow(Author::Human, vec![Block::text(alt), image, Block::text("What is it?".to_owned())], 0, 0);
            }
            Piece::Act { thought, calls, together, spoken, results, broken } => {
                let text = || "Let me think about it.".into();
                let think = || Block::Reasoning { text: text(), signature: None, redacted: false };
                if thought {
                    self.grow(Author::Model, vec![think()], 0, 0);
                }
                let ids: Vec<String> = (0..calls).map(|at| format!("call{}", self.calls + at)).collect();
                self.calls += calls;
                let call = |id: &String| Block::ToolCall {
                    id: id.clone().into(),
                    name: "look_up".into(),
                    arguments: Box::new(Cow::Owned(json!({ "query": "weather", "limit": 3 }))),
                    server: false,
                };
                let content = spoken.map(Block::text).into_iter().chain(ids.iter().map(call)).collect();
                self.grow(Author::Model, content, u8::from(broken == 1), 0);
                let result = |(id, text): (&String, &String)| Block::ToolResult {
                    tool_call_id: id.clone().into(),
                    content: vec![Block::text(text.clone())],
                    is_error: None,
                    server: false,
                };
                let mut answers: Vec<Block<'static>> = ids.iter().zip(&results).map(result).collect();
                if broken == 2 {
                    answers.pop();
                }
                if together {
                    self.grow(Author::Human, answers, u8::from(broken == 3), 0);
                } else {
                    for (at, answer) in answers.into_iter().enumerate() {
                        self.grow(Author::Model, vec![answer], u8::from(broken == 3 && at == 0), 0);
                    }
                }
            }
        }
    }
}

pub(crate) fn preferences() -> impl Strategy<Value = Preferences> {
    let strategy = prop::sample::select(vec![Cut::TruncateMiddle, Cut::RollingWindow]);
    let marker = prop::option::weighted(0.4, prop::sample::select(vec!["[…]", "", "/cut {count}", "{count} gone."]));
    let step = prop_oneof![3 => Just(None), 1 => (1..120u32).prop_map(|tokens| Some(f64::from(tokens)))];
    let start = prop::option::of(prop::sample::select(vec![StartOn::Any, StartOn::User]));
    let protect = prop::sample::subsequence(vec![Protect::FirstUser, Protect::LastUser], 0..=2);
    let fill = prop::option::of(prop::sample::select(vec![Fill::All, Fill::Results, Fill::Off]));
    (strategy, prop::option::of(0..7u32), 0..20u32, marker, step, start, prop::option::of(protect), fill).prop_map(
        |(strategy, recent, buffer, marker, step, start_on, protect, fill)| Preferences {
            truncation_strategy: Some(strategy),
            minimum_recent_nodes: recent.map(f64::from),
            token_buffer: Some(buffer.into()),
            truncation_marker: marker.map(str::to_owned),
            cut_step: step,
            start_on,
            protect,
            fill,
        },
    )
}

/// The context of a loom-aware agent; none for most. Some texts are far larger than what most windows hold.
fn loom_aware() -> impl Strategy<Value = Option<LoomAware>> {
    let addendum = prop_oneof![
        3 => Just(Addendum::None),
        2 => Just(Addendum::Custom("You are in a loom.".to_owned())),
        1 => Just(Addendum::BuiltIn),
    ];
    let node = (0..20usize).prop_map(|at| Pinned::Node(format!("node-{at}")));
    let own = (prop::option::of(text()), text()).prop_map(|(label, text)| Pinned::Text { label, text });
    let pinned = prop::collection::vec(prop_oneof![node, own], 0..3);
    let stashes = prop::collection::vec((text(), text()).prop_map(|(label, text)| Stash { label, text }), 0..2);
    let trace = prop::collection::vec(text(), 0..3);
    let memory = (pinned, stashes, trace);
    let remember = any::<bool>();
    let now = prop::option::of(Just(Timestamp::parse("2026-03-01T12:00:00Z").unwrap()));
    let aware = (addendum, memory, remember, now, any::<[bool; 2]>(), prop::option::of(text())).prop_map(
        |(addendum, (pinned, stashes, trace), remember, now, [headers, loom_block], permission)| {
            let memory = LoomAware { pinned, stashes, trace, ..LoomAware::default() };
            LoomAware {
                now,
                addendum,
                headers,
                loom_block,
                permissions: permission.map(|name| vec![name]),
                authors: [("ada".to_owned(), "Ada\nLovelace".to_owned())].into(),
                ..if remember { memory } else { LoomAware::default() }
            }
        },
    );
    prop::option::weighted(0.4, aware)
}

/// A random case. The window is often smaller than the conversation, and sometimes far too small.
pub(crate) fn case() -> impl Strategy<Value = Case> {
    let pieces = prop::collection::vec(piece(), 1..14);
    let window = prop_oneof![4 => 60..700u32, 1 => 21..60u32, 1 => Just(100_000u32)];
    let system = prop::option::of(text());
    let counter = prop::sample::select(COUNTERS.to_vec());
    (pieces, window, preferences(), system, any::<[bool; 4]>(), counter, (text(), loom_aware())).prop_map(
        |(pieces, window, preferences, system, [annotations, in_messages, media, whole_system], counter, rest)| {
            let (working, mut loom_aware) = rest;
            let mut grower = Grower::default();
            pieces.into_iter().for_each(|piece| grower.piece(piece));
            let mut options = Options::from_tip(grower.path.last().unwrap(), window);
            if let Some(aware) = &mut loom_aware {
                // Room for the blocks, so that it is the conversation that is cut.
                options.context_window += 120.0;
                let known = |pinned: &Pinned| match pinned {
                    Pinned::Node(id) => grower.nodes.iter().any(|node| node.id == *id),
                    Pinned::Text { .. } => true,
                };
                aware.pinned.retain(known);
            }
            options.loom_aware = loom_aware;
            options.preferences = preferences;
            options.annotations = if annotations { Annotations::All } else { Annotations::None };
            options.system_prompt = system;
            // A prefix in the options, in the tree, in both or in neither.
            let prefix = |has: bool| has.then(|| "e\u{301} Once, \r\n".to_owned());
            options.buffer_prefix = prefix(working.len() % 3 == 1);
            let tree_prefix = prefix(working.len() % 5 < 2);
            options.working_buffer = working;
            if in_messages {
                options.system_placement = SystemPlacement::Message(Role::System);
            }
            if media {
                let image = Media::Data("iVBORw0KGgo=".into());
                options.media = Rc::new([("img".to_owned(), image)].into());
                options.image = ctxweave::prompt::ImageRule::Flat(30);
            }
            let settings = TreeSettings {
                buffer_mode_system_context: whole_system,
                buffer_prefix: tree_prefix,
                ..TreeSettings::default()
            };
            let tree = Tree::new(settings, grower.nodes, grower.edges.clone(), &Limits::default()).unwrap();
            Case { tree, edges: grower.edges, options, counter }
        },
    )
}
