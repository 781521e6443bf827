//! The requests as they come over the wire: from JavaScript objects or from JSON text (SPEC §7).
//!
//! Reading has two steps. Serde gives the shape; then `RequestIn::finish` checks names by hand, so that an error can
//! say which node or edge holds the value that is not known.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::rc::Rc;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};

use crate::assembly::settings::{Preferences, StartOn, Strategy, whole};
use crate::error::{Code, Diagnostic, Error, Result};
use crate::json::{self, AnyJson};
use crate::limits::{self, LimitOverrides, Limits};
use crate::loom::aware::wire::LoomAwareIn;
use crate::loom::content;
use crate::loom::path::{Choices, Position};
use crate::loom::request::{Annotations, InstructionScope, Media, Options, SystemPlacement};
use crate::loom::text::Text;
use crate::loom::tree::{Author, Edge, EdgeKind, Node, Source, SourceRole, Tree, TreeMode, TreeSettings};
use crate::loom::{RequestBody, assemble_buffer, assemble_dialogue, request_body, request_body_bytes};
use crate::prompt::bodies::Target;
use crate::prompt::{Fingerprint, ImageRule, Overhead, Role};
use crate::tokens::{Counter, Tokenizers};

/// A request, checked.
#[derive(Debug)]
pub struct Request<'t> {
    /// The tree.
    pub tree: Tree<'t>,
    /// Everything else.
    pub options: Options,
    /// Counts tokens.
    pub counter: Rc<dyn Counter>,
    /// Whom a body is for; absent where none is asked for.
    pub target: Option<Target>,
    /// What had to be repaired while reading.
    pub diagnostics: Vec<Diagnostic>,
}

/// Assembles a dialogue from a request in JSON; the result is JSON too.
///
/// # Errors
/// Those of [`assemble_dialogue`] and of [`Request::from_json`].
pub fn assemble_dialogue_json(request: &[u8], tokenizers: &Tokenizers) -> Result<Vec<u8>> {
    let request = Request::from_json(request, tokenizers)?;
    let mut result = assemble_dialogue(&request.tree, &request.options, request.counter.as_ref())?;
    result.report.diagnostics.splice(0..0, request.diagnostics.iter().cloned());
    json::write(&result)
}

/// Assembles a document from a request in JSON; the result is JSON too.
///
/// # Errors
/// Those of [`assemble_buffer`] and of [`Request::from_json`].
pub fn assemble_buffer_json(request: &[u8], tokenizers: &Tokenizers) -> Result<Vec<u8>> {
    let request = Request::from_json(request, tokenizers)?;
    let mut result = assemble_buffer(&request.tree, &request.options, request.counter.as_ref())?;
    result.report.diagnostics.splice(0..0, request.diagnostics.iter().cloned());
    json::write(&result)
}

/// The body that a provider is sent, from a request in JSON that has a `target` (SPEC §7 `requestBody`).
///
/// # Errors
/// Those of [`request_body`] and of [`Request::from_json`].
pub fn request_body_json(request: &[u8], tokenizers: &Tokenizers) -> Result<Vec<u8>> {
    Request::from_json(request, tokenizers)?.body_bytes()
}

/// The body, and the report as JSON.
///
/// # Errors
/// As [`request_body_json`].
pub fn request_body_with_report_json(request: &[u8], tokenizers: &Tokenizers) -> Result<(Vec<u8>, Vec<u8>)> {
    let request = Request::from_json(request, tokenizers)?;
    let RequestBody { bytes, report } = request.body()?;
    Ok((bytes, json::write(&report)?))
}

impl<'t> Request<'t> {
    /// The body that the request's target is sent, with the report.
    ///
    /// # Errors
    /// [`Code::InvalidInput`] without a target, and those of [`request_body`].
    pub fn body(&self) -> Result<RequestBody<'_>> {
        let mut body = request_body(&self.tree, &self.options, self.for_whom()?, self.counter.as_ref())?;
        body.report.diagnostics.splice(0..0, self.diagnostics.iter().cloned());
        Ok(body)
    }

    fn for_whom(&self) -> Result<&Target> {
        self.target.as_ref().ok_or_else(|| lacks("the request", "target"))
    }

    /// The body alone. What cannot be over the limit is not even counted.
    ///
    /// # Errors
    /// As [`body`](Self::body).
    pub fn body_bytes(&self) -> Result<Vec<u8>> {
        request_body_bytes(&self.tree, &self.options, self.for_whom()?, self.counter.as_ref())
    }

    /// Reads a request from JSON text.
    ///
    /// # Errors
    /// [`Code::InvalidInput`], [`Code::UnknownValue`], [`Code::InvalidBudget`], [`Code::LimitExceeded`],
    /// [`Code::VocabularyNotLoaded`] and those of [`Tree::new`].
    pub fn from_json(text: &'t [u8], tokenizers: &Tokenizers) -> Result<Self> {
        // A reader refuses half of a surrogate pair, so that only text with one in it has to be read again.
        match json::read::<RequestIn<'t>>(text) {
            Ok(request) => request.finish(tokenizers, None),
            Err(error) => match json::repair_surrogates(text) {
                (_, diagnostics) if diagnostics.is_empty() => Err(error),
                (repaired, diagnostics) => {
                    let request = json::read::<RequestIn<'_>>(&repaired)?.finish(tokenizers, None)?;
                    let Request { tree, options, counter, target, .. } = request;
                    Ok(Self { tree: tree.into_owned(), options, counter, target, diagnostics })
                }
            },
        }
    }

    /// Whether any text of the request holds U+FFFD, which half of a surrogate pair becomes on its way in.
    #[cfg(target_arch = "wasm32")]
    pub(crate) fn holds_replacement(&self) -> bool {
        const REPLACEMENT: char = char::REPLACEMENT_CHARACTER;
        let settings = self.tree.settings();
        let said = [&settings.title, &settings.system_context];
        self.options.holds(REPLACEMENT)
            || self.target.as_ref().is_some_and(|target| target.holds(REPLACEMENT))
            || said.into_iter().flatten().any(|text| text.contains(REPLACEMENT))
            || self.tree.nodes().any(|node| node.holds(REPLACEMENT))
    }
}

/// What is asked of a tree.
#[derive(Debug)]
pub(crate) struct Asked {
    pub options: Options,
    pub counter: Rc<dyn Counter>,
    pub target: Option<Target>,
}

/// A request as it came.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, expecting = "a request, an object")]
pub(crate) struct RequestIn<'t> {
    #[serde(borrow)]
    tree: Option<TreeIn<'t>>,
    tip: Option<String>,
    path: Option<Vec<String>>,
    choices: Option<BTreeMap<String, String>>,
    version_selections: Option<BTreeMap<String, String>>,
    include_annotations: Option<AnyJson>,
    #[serde(borrow)]
    pending_sources: Option<Vec<SourceIn<'t>>>,
    instruction_scope: Option<String>,
    agent: Option<AgentIn>,
    context_window: Option<f64>,
    preferences: Option<PreferencesIn>,
    app_preferences: Option<PreferencesIn>,
    tokenizer: Option<TokenizerIn>,
    provider: Option<AnyJson>,
    system_role: Option<String>,
    media: Option<BTreeMap<String, MediaIn>>,
    overhead: Option<OverheadIn>,
    media_costs: Option<MediaCostsIn>,
    loom_aware: Option<LoomAwareIn>,
    working_buffer: Option<String>,
    target: Option<AnyJson>,
    previous: Option<String>,
    pub(crate) limits: Option<LimitOverrides>,
}

/// How to count: a name, or an object that the caller brings.
#[derive(Debug)]
enum TokenizerIn {
    Name(String),
    Own,
}

impl<'de> Deserialize<'de> for TokenizerIn {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct NameOrObject;

        impl<'de> Visitor<'de> for NameOrObject {
            type Value = TokenizerIn;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a tokenizer's name or an object with a function `count`")
            }

            fn visit_str<E>(self, name: &str) -> std::result::Result<TokenizerIn, E> {
                Ok(TokenizerIn::Name(name.to_owned()))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<TokenizerIn, A::Error> {
                while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(TokenizerIn::Own)
            }
        }

        deserializer.deserialize_any(NameOrObject)
    }
}

/// The name of an author, a role or a kind. There is one in each node and two in each edge, so that those that are known
/// are not kept as strings of their own.
#[derive(Debug)]
enum Name {
    Known(&'static str),
    Other(String),
}

impl Name {
    fn as_str(&self) -> &str {
        match self {
            Self::Known(name) => name,
            Self::Other(name) => name,
        }
    }
}

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct AnyName;

        impl Visitor<'_> for AnyName {
            type Value = Name;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_str<E>(self, name: &str) -> std::result::Result<Name, E> {
                const KNOWN: [&str; 7] =
                    ["human", "model", "primary", "context", "instruction", "continuation", "annotation"];
                let known = KNOWN.iter().find(|known| **known == name);
                Ok(known.map_or_else(|| Name::Other(name.to_owned()), |known| Name::Known(known)))
            }
        }

        deserializer.deserialize_str(AnyName)
    }
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", expecting = "a Loom tree, an object with `nodes` and `edges`")]
pub(crate) struct TreeIn<'t> {
    title: Option<String>,
    system_context: Option<String>,
    buffer_mode_system_context: Option<bool>,
    preferences: Option<PreferencesIn>,
    mode: Option<String>,
    #[serde(borrow)]
    nodes: Vec<NodeIn<'t>>,
    #[serde(borrow)]
    edges: Vec<EdgeIn<'t>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", expecting = "a node, an object")]
pub(crate) struct NodeIn<'t> {
    #[serde(borrow)]
    id: Text<'t>,
    content: AnyJson,
    author_type: Name,
    local_id: Option<Text<'t>>,
    author_agent_id: Option<Text<'t>>,
    created_at: Option<Text<'t>>,
    edited_from: Option<Text<'t>>,
    metadata: Option<MetadataIn>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, expecting = "node metadata, an object")]
struct MetadataIn {
    excluded: Option<bool>,
    pruned: Option<bool>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", expecting = "an edge, an object")]
pub(crate) struct EdgeIn<'t> {
    #[serde(borrow)]
    id: Text<'t>,
    sources: Vec<SourceIn<'t>>,
    target_node_id: Text<'t>,
    edge_type: Option<Name>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", expecting = "an edge source, an object with `nodeId`")]
struct SourceIn<'t> {
    #[serde(borrow)]
    node_id: Text<'t>,
    role: Option<Name>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, expecting = "preferences, an object")]
pub(crate) struct PreferencesIn {
    truncation_strategy: Option<String>,
    minimum_recent_nodes: Option<f64>,
    token_buffer: Option<f64>,
    truncation_marker: Option<String>,
    cut_quantum: Option<f64>,
    start_on: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, expecting = "an agent, an object")]
struct AgentIn {
    configuration: Option<ConfigurationIn>,
    permissions: Option<AnyJson>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, expecting = "an agent's configuration, an object")]
struct ConfigurationIn {
    system_prompt: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, expecting = "media, an object with `data` or `url`")]
pub(crate) struct MediaIn {
    data: Option<String>,
    url: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, expecting = "overhead, an object")]
struct OverheadIn {
    per_message: Option<f64>,
    per_request: Option<f64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, expecting = "media costs, an object")]
struct MediaCostsIn {
    image: Option<f64>,
    audio_second: Option<f64>,
}

impl<'t> RequestIn<'t> {
    /// Whether media came with it.
    pub(crate) fn has_media(&self) -> bool {
        self.media.is_some()
    }

    /// Makes a request of options that need no path, or have it apart, and no window.
    pub(crate) fn at(mut self, tip: Option<String>) -> Self {
        self.context_window = self.context_window.or(Some(f64::from(u32::MAX)));
        if tip.is_some() || self.path.is_none() {
            self.tip = tip.or(self.tip).or_else(|| Some(String::new()));
        }
        self
    }

    /// Checks what came and makes a request of it. `own` is the caller's own counter, where `tokenizer` is an object.
    pub(crate) fn finish(mut self, tokenizers: &Tokenizers, own: Option<Rc<dyn Counter>>) -> Result<Request<'t>> {
        let limits = self.limits.unwrap_or_default().resolve()?;
        let tree = self.tree.take().ok_or_else(|| lacks("the request", "tree"))?.finish(&limits)?;
        let Asked { options, counter, target } = self.asked(limits, tokenizers, own)?;
        Ok(Request { tree, options, counter, target, diagnostics: Vec::new() })
    }

    /// Everything but the tree.
    pub(crate) fn asked(self, limits: Limits, tokenizers: &Tokenizers, own: Option<Rc<dyn Counter>>) -> Result<Asked> {
        let position = match (self.tip, self.path) {
            (Some(tip), None) => Position::Tip(tip),
            (None, Some(path)) => Position::Path(path),
            (None, None) => return Err(invalid("give `tip`, the id of the node to end at, or `path`, a list of ids")),
            (Some(_), Some(_)) => return Err(invalid("give `tip` or `path`, not both")),
        };
        let target = self.target.filter(|target| !target.0.is_null());
        let target = target.map(|target| Target::read(target.0)).transpose()?;
        // The provider that the body is for is the provider, unless the request says something else.
        let provider = match (self.provider, &target) {
            (Some(provider), _) => ProviderIn::read(provider.0)?,
            (None, Some(target)) => ProviderIn::read(target.provider.name().into())?,
            (None, None) => ProviderIn::default(),
        };
        let system_role = known(
            "systemRole",
            self.system_role.as_deref(),
            &[("system", Role::System), ("developer", Role::Developer)],
        )?;
        let placement = if provider.native_system_prompt {
            SystemPlacement::Field
        } else {
            SystemPlacement::Message(system_role.unwrap_or(Role::System))
        };
        let scopes = [("path", InstructionScope::Path), ("generation", InstructionScope::Generation)];
        let overhead = self.overhead.unwrap_or_default();
        let costs = self.media_costs.unwrap_or_default();
        let defaults = Overhead::default();
        let agent = self.agent.unwrap_or_default();
        let context_window = self.context_window.ok_or_else(|| lacks("the request", "contextWindow"))?;
        let options = Options {
            choices: Choices {
                edges: self.choices.unwrap_or_default(),
                versions: self.version_selections.unwrap_or_default(),
            },
            annotations: self.include_annotations.map(|value| annotations(value.0)).transpose()?.unwrap_or_default(),
            pending_sources: self
                .pending_sources
                .unwrap_or_default()
                .into_iter()
                .map(|source| Ok(source.finish(None)?.into_owned()))
                .collect::<Result<_>>()?,
            instruction_scope: known("instructionScope", self.instruction_scope.as_deref(), &scopes)?
                .unwrap_or_default(),
            system_prompt: agent.configuration.and_then(|configuration| configuration.system_prompt),
            loom_aware: self
                .loom_aware
                .map_or(Ok(None), |aware| aware.finish(agent.permissions.as_ref().map(|any| &any.0)))?,
            preferences: self.preferences.unwrap_or_default().finish()?,
            app_preferences: self.app_preferences.unwrap_or_default().finish()?,
            system_placement: placement,
            overhead: Overhead {
                per_message: cost("overhead.perMessage", overhead.per_message)?.unwrap_or(defaults.per_message),
                per_request: cost("overhead.perRequest", overhead.per_request)?.unwrap_or(defaults.per_request),
            },
            image: cost("mediaCosts.image", costs.image)?.map_or(provider.image, ImageRule::Flat),
            audio_second: cost("mediaCosts.audioSecond", costs.audio_second)?.unwrap_or(crate::prompt::AUDIO_SECOND),
            media: Rc::new(media(self.media.unwrap_or_default())?),
            working_buffer: self.working_buffer.unwrap_or_default(),
            previous: self.previous.as_deref().map(Fingerprint::parse).transpose()?,
            limits,
            ..Options::new(position, context_window)
        };
        limits::check("inputBytes", options.working_buffer.len(), limits.input_bytes)?;
        let counter = match self.tokenizer {
            None => tokenizers.get("heuristic")?,
            Some(TokenizerIn::Name(name)) => tokenizers.get(&name)?,
            Some(TokenizerIn::Own) => {
                let wrong = || invalid("`tokenizer` must be a tokenizer's name or an object with a function `count`");
                own.ok_or_else(|| wrong().with("path", "tokenizer"))?
            }
        };
        Ok(Asked { options, counter, target })
    }
}

impl<'t> TreeIn<'t> {
    pub(crate) fn finish(self, limits: &Limits) -> Result<Tree<'t>> {
        limits::check("nodes", self.nodes.len(), limits.nodes)?;
        limits::check("edges", self.edges.len(), limits.edges)?;
        let modes = [("dialogue", TreeMode::Dialogue), ("buffer", TreeMode::Buffer)];
        let settings = TreeSettings {
            title: self.title,
            mode: known("tree.mode", self.mode.as_deref(), &modes)?.unwrap_or_default(),
            system_context: self.system_context,
            buffer_mode_system_context: self.buffer_mode_system_context.unwrap_or(false),
            preferences: self.preferences.unwrap_or_default().finish()?,
        };
        let mut budget = content::Budget::new(limits);
        let nodes = self.nodes.into_iter().map(|node| node.finish(&mut budget)).collect::<Result<_>>()?;
        let edges = self.edges.into_iter().map(EdgeIn::finish).collect::<Result<_>>()?;
        Tree::new(settings, nodes, edges, limits)
    }
}

impl<'t> NodeIn<'t> {
    /// Whether a text of the node holds this character.
    #[cfg(target_arch = "wasm32")]
    pub(crate) fn holds(&self, ch: char) -> bool {
        fn inside(value: &serde_json::Value, ch: char) -> bool {
            match value {
                serde_json::Value::String(text) => text.contains(ch),
                serde_json::Value::Array(values) => values.iter().any(|value| inside(value, ch)),
                serde_json::Value::Object(values) => values.values().any(|value| inside(value, ch)),
                _ => false,
            }
        }
        self.id.contains(ch) || inside(&self.content.0, ch)
    }

    pub(crate) fn finish(self, budget: &mut content::Budget) -> Result<Node<'t>> {
        let authors = [("human", Author::Human), ("model", Author::Model)];
        let author = find(self.author_type.as_str(), &authors).ok_or_else(|| {
            unknown(&format!("node `{}` has `authorType`", self.id), self.author_type.as_str(), &authors)
                .with("nodeId", self.id.as_str())
        })?;
        let metadata = self.metadata.unwrap_or_default();
        Ok(Node {
            content: content::read(self.content.0, &self.id, budget)?,
            id: self.id,
            author,
            local_id: self.local_id,
            author_agent_id: self.author_agent_id,
            created_at: self.created_at,
            edited_from: self.edited_from,
            excluded: metadata.excluded.unwrap_or(false),
            pruned: metadata.pruned.unwrap_or(false),
        })
    }
}

impl<'t> EdgeIn<'t> {
    pub(crate) fn finish(self) -> Result<Edge<'t>> {
        let kinds = [("continuation", EdgeKind::Continuation), ("annotation", EdgeKind::Annotation)];
        let kind = match self.edge_type.as_ref().map(Name::as_str) {
            None => EdgeKind::default(),
            Some(name) => find(name, &kinds).ok_or_else(|| {
                unknown(&format!("edge `{}` has `edgeType`", self.id), name, &kinds).with("edgeId", self.id.as_str())
            })?,
        };
        let sources = self.sources.into_iter().map(|source| source.finish(Some(&self.id))).collect::<Result<_>>()?;
        Ok(Edge { sources, target: self.target_node_id, kind, id: self.id })
    }
}

impl<'t> SourceIn<'t> {
    fn finish(self, edge: Option<&str>) -> Result<Source<'t>> {
        let roles = [
            ("primary", SourceRole::Primary),
            ("context", SourceRole::Context),
            ("instruction", SourceRole::Instruction),
        ];
        let role = match self.role.as_ref().map(Name::as_str) {
            None => SourceRole::default(),
            Some(name) => find(name, &roles).ok_or_else(|| match edge {
                Some(edge) => {
                    unknown(&format!("edge `{edge}` has a source with `role`"), name, &roles).with("edgeId", edge)
                }
                None => unknown("`pendingSources` has a source with `role`", name, &roles)
                    .with("nodeId", self.node_id.as_str()),
            })?,
        };
        Ok(Source { node: self.node_id, role })
    }
}

impl PreferencesIn {
    pub(crate) fn finish(self) -> Result<Preferences> {
        let strategies = [
            ("truncateMiddle", Strategy::TruncateMiddle),
            ("rollingWindow", Strategy::RollingWindow),
            ("stopAtLimit", Strategy::StopAtLimit),
        ];
        Ok(Preferences {
            truncation_strategy: known("truncationStrategy", self.truncation_strategy.as_deref(), &strategies)?,
            minimum_recent_nodes: self.minimum_recent_nodes,
            token_buffer: self.token_buffer,
            truncation_marker: self.truncation_marker,
            cut_quantum: self.cut_quantum,
            start_on: known("startOn", self.start_on.as_deref(), &[("any", StartOn::Any), ("user", StartOn::User)])?,
        })
    }
}

pub(crate) fn media(given: BTreeMap<String, MediaIn>) -> Result<BTreeMap<String, Media>> {
    let mut media = BTreeMap::new();
    for (reference, given) in given {
        let one = match (given.data, given.url) {
            (Some(data), None) => Media::Data(data),
            (None, Some(url)) => Media::Url(url),
            _ => {
                let message = format!("`media` must give `{reference}` either `data` or `url`");
                return Err(invalid(&message).with("path", format!("media.{reference}")));
            }
        };
        media.insert(reference, one);
    }
    Ok(media)
}

/// What a provider means for the assembly.
struct ProviderIn {
    native_system_prompt: bool,
    image: ImageRule,
}

impl Default for ProviderIn {
    fn default() -> Self {
        Self { native_system_prompt: true, image: ImageRule::Unknown }
    }
}

impl ProviderIn {
    fn read(value: serde_json::Value) -> Result<Self> {
        let names = [
            ("anthropic", (true, ImageRule::Anthropic)),
            ("openai", (false, ImageRule::OpenAi)),
            ("openai-responses", (true, ImageRule::OpenAi)),
            ("gemini", (true, ImageRule::Gemini)),
            ("completion", (false, ImageRule::Unknown)),
        ];
        if let Some(native_system_prompt) = value.get("nativeSystemPrompt").and_then(serde_json::Value::as_bool) {
            return Ok(Self { native_system_prompt, ..Self::default() });
        }
        let Some(name) = value.as_str() else {
            return Err(invalid("`provider` must be a provider's name or an object with `nativeSystemPrompt`")
                .with("path", "provider"));
        };
        let (native_system_prompt, image) = find(name, &names).ok_or_else(|| unknown("`provider` is", name, &names))?;
        Ok(Self { native_system_prompt, image })
    }
}

fn annotations(value: serde_json::Value) -> Result<Annotations> {
    let wrong =
        || invalid("`includeAnnotations` must be a list of node ids or \"all\"").with("path", "includeAnnotations");
    match value {
        serde_json::Value::String(all) if all == "all" => Ok(Annotations::All),
        serde_json::Value::Array(given) => {
            let mut ids = BTreeSet::new();
            for id in given {
                ids.insert(id.as_str().ok_or_else(wrong)?.to_owned());
            }
            Ok(Annotations::Named(ids))
        }
        _ => Err(wrong()),
    }
}

/// A cost in tokens. The bound keeps every sum of costs far from overflow.
fn cost(setting: &str, value: Option<f64>) -> Result<Option<u64>> {
    let Some(value) = value.map(|value| whole(setting, value)).transpose()? else { return Ok(None) };
    limits::check(setting, usize::try_from(value).unwrap_or(usize::MAX), 1_000_000_000)?;
    Ok(Some(value))
}

/// The value that a field's name stands for; nothing where the field is absent.
pub(crate) fn known<T: Copy>(field: &str, name: Option<&str>, names: &[(&str, T)]) -> Result<Option<T>> {
    let Some(name) = name else { return Ok(None) };
    find(name, names).map(Some).ok_or_else(|| unknown(&format!("`{field}` is"), name, names).with("path", field))
}

fn find<T: Copy>(name: &str, names: &[(&str, T)]) -> Option<T> {
    names.iter().find(|(known, _)| *known == name).map(|&(_, value)| value)
}

#[cold]
fn unknown<T>(what: &str, value: &str, names: &[(&str, T)]) -> Error {
    unknown_of(what, value, names.iter().map(|(name, _)| *name).collect())
}

#[cold]
#[inline(never)]
fn unknown_of(what: &str, value: &str, expected: Vec<&str>) -> Error {
    let message = format!("{what} `{value}`; it must be one of `{}`", expected.join("`, `"));
    Error::new(Code::UnknownValue, message).with("value", value).with("expected", expected)
}

#[cold]
fn invalid(message: &str) -> Error {
    Error::new(Code::InvalidInput, message)
}

#[cold]
pub(crate) fn lacks(what: &str, field: &str) -> Error {
    invalid(&format!("{what} lacks `{field}`")).with("path", field)
}
