//! Reads a request for an assembly: the tree and the options.
//!
//! The tree, its nodes and edges, agents and media are entities, which may hold unknown fields. Everything else is an
//! option, and an unknown one is reported.

use std::borrow::Cow;
use std::rc::Rc;

use super::fit_state::{FitState, Previous};
use super::loom_context;
use super::node_content::NodeContent;
use super::path::{Choices, Position};
use super::request::{Annotations, InstructionScope, Options, SystemPlacement};
use super::tree::{Author, Edge, EdgeKind, Node, Source, SourceRole, Tree, TreeMode, TreeSettings};
use super::{Preferences, StartOn, Strategy};
use crate::assembly::preserved::{PreservedThinking, ThinkingRule};
use crate::assembly::series::part_of_limit;
use crate::assembly::settings::{FILL, Protect, whole};
use crate::content::{ContentReader, Media, Role, TextOwnership, Vendor, own};
use crate::error::{Code, Diagnostic, Error, Result};
use crate::json::{Kind, List, Object, Value};
use crate::limits::{self, Limits};
use crate::maps::{SortedMap, SortedSet};
use crate::prompt::bodies::{Provider, Target};
use crate::prompt::{ImageRule, Overhead};
use crate::time::Timestamp;
use crate::tokens::models::preserves_thinking;

/// Every option of an assembly. A request that is not addressed to a resident tree also has a `tree`. A name with a dot
/// is the path of an option that is often misplaced at the top level.
pub(crate) const OPTIONS: &[&str] = &[
    "preferences.truncationStrategy",
    "preferences.minimumRecentNodes",
    "preferences.tokenBuffer",
    "preferences.truncationMarker",
    "preferences.cutStep",
    "preferences.startOn",
    "preferences.protect",
    "preferences.fill",
    "tip",
    "path",
    "choices",
    "versionSelections",
    "includeAnnotations",
    "pendingSources",
    "instructionScope",
    "agent",
    "contextWindow",
    "preferences",
    "appPreferences",
    "tokenizer",
    "provider",
    "systemRole",
    "media",
    "overhead",
    "mediaCosts",
    "loomAware",
    "preservedThinking",
    "bufferPrefix",
    "workingBuffer",
    "target",
    "previous",
    "cutTo",
    "limits",
    "tree",
];

/// The options of a request to a resident tree.
pub(crate) fn resident_options() -> &'static [&'static str] {
    OPTIONS.split_last().map_or(&[], |(_tree, options)| options)
}

/// The position that a request refers to, and whether it requires a window.
#[derive(Debug)]
pub(crate) enum RequestKind {
    /// An assembly: it has `tip` or `path`, and a `contextWindow`.
    Assembly,
    /// A path, of which nothing is cut: it has `tip` or `path`.
    Path,
    /// This node, regardless of the options.
    Node(String),
    /// The whole tree, or nodes that are named elsewhere.
    Tree,
    /// Assemblies whose tips are named elsewhere: a `contextWindow` is required.
    Tips,
}

/// Reads everything except the tree.
pub(crate) fn options(
    request: Object<'_>,
    about: RequestKind,
    limits: Limits,
    diagnostics: &mut Vec<Diagnostic>,
) -> Result<(Options, Option<Target>)> {
    let position = match (&about, request.string("tip")?, request.get("path")?) {
        (RequestKind::Node(tip), ..) => Position::Tip(tip.clone()),
        (_, Some(tip), None) => Position::Tip(tip),
        (_, None, Some(path)) => Position::Path(path_of(path, &limits)?),
        (RequestKind::Tree | RequestKind::Tips, None, None) => Position::Tip(String::new()),
        (_, None, None) => {
            return Err(invalid("pass `tip`, the id of the node to end at, or `path`, a list of ids"));
        }
        (_, Some(_), Some(_)) => return Err(invalid("pass `tip` or `path`, not both")),
    };
    let context_window = match (about, request.read("contextWindow", Value::any_number)?) {
        (_, Some(window)) => window,
        (RequestKind::Assembly | RequestKind::Tips, None) => return Err(lacks(request, "contextWindow")),
        (_, None) => f64::from(u32::MAX),
    };
    let target = request.read("target", |target| Target::read(target, diagnostics))?;
    // The provider of the target is the default of `provider`.
    let model = target.as_ref().and_then(|target| target.model.as_deref()).unwrap_or_default();
    let (has_system_field, image) = match (request.get("provider")?, &target) {
        (Some(given), _) => provider(given, model, diagnostics)?,
        (None, Some(target)) => traits(target.provider, model),
        (None, None) => (true, ImageRule::Unknown),
    };
    let system_role = request.one_of("systemRole", &[("system", Role::System), ("developer", Role::Developer)])?;
    let agent = request.read("agent", |agent| agent.object("an agent, an object"))?;
    let configuration = match agent {
        Some(agent) => agent.read("configuration", |value| value.object("an agent's configuration, an object"))?,
        None => None,
    };
    let permissions = agent.map(|agent| agent.get("permissions")).transpose()?.flatten();
    let (image_cost, audio_second) = match request.get("mediaCosts")? {
        Some(costs) => media_costs(costs, diagnostics)?,
        None => (None, None),
    };
    let options = Options {
        choices: Choices {
            edges: request
                .read("choices", |value| names(value, "an object of edge ids by node id"))?
                .unwrap_or_default(),
            versions: request
                .read("versionSelections", |value| names(value, "an object of node ids by node id"))?
                .unwrap_or_default(),
        },
        annotations: request.read("includeAnnotations", annotations)?.unwrap_or_default(),
        pending_sources: request.read("pendingSources", pending_sources)?.unwrap_or_default(),
        instruction_scope: request
            .one_of(
                "instructionScope",
                &[("path", InstructionScope::Path), ("generation", InstructionScope::Generation)],
            )?
            .unwrap_or_default(),
        system_prompt: configuration.map(|agent| agent.string("systemPrompt")).transpose()?.flatten(),
        loom_aware: request
            .read("loomAware", |value| loom_context::read::read(value, permissions, diagnostics))?
            .flatten(),
        preferences: request
            .read("preferences", |value| preferences(value, Some(&mut *diagnostics)))?
            .unwrap_or_default(),
        app_preferences: request
            .read("appPreferences", |value| preferences(value, Some(&mut *diagnostics)))?
            .unwrap_or_default(),
        system_placement: match has_system_field {
            true => SystemPlacement::Field,
            false => SystemPlacement::Message(system_role.unwrap_or(Role::System)),
        },
        overhead: request.read("overhead", |value| overhead(value, diagnostics))?.unwrap_or_default(),
        image: image_cost.map_or(image, ImageRule::Flat),
        audio_second: audio_second.unwrap_or(crate::prompt::AUDIO_SECOND),
        media: Rc::new(request.read("media", media)?.unwrap_or_default()),
        buffer_prefix: request.string("bufferPrefix")?,
        working_buffer: request.string("workingBuffer")?.unwrap_or_default(),
        preserved_thinking: preserved_thinking(request, target.as_ref())?,
        vendors: provider_of(request, target.as_ref())?.map(vendors),
        provider: provider_of(request, target.as_ref())?,
        tools: target.as_ref().map(|target| target.tools.clone()).unwrap_or_default(),
        thinking: target.as_ref().and_then(|target| target.fields.get("thinking")).cloned(),
        previous: Previous::read(request, FitState::read)?,
        cut_to: request.read("cutTo", |part| part_of_limit(part.number()?))?,
        limits,
        ..Options::new(position, context_window)
    };
    let prefix = options.buffer_prefix.as_ref().map_or(0, String::len);
    limits::check("inputBytes", options.working_buffer.len().saturating_add(prefix), limits.input_bytes)?;
    Ok((options, target))
}

/// The error for a request that lacks an option; `path` is the option itself.
pub(crate) fn lacks(request: Object<'_>, option: &str) -> Error {
    let error = request.value().lacks(option);
    let path = match request.value().path() {
        path if path.is_empty() => option.to_owned(),
        path => format!("{path}.{option}"),
    };
    error.with("path", path)
}

/// The error for chat messages in place of a tree.
pub(crate) fn chat_messages(fields: Object<'_>) -> Option<Error> {
    let messages = fields.get("messages").ok().flatten()?;
    Some(messages.invalid(|place| format!("{place} is not a Loom tree; use `chatToLoomTree` for chat messages")))
}

/// Reads a tree; `keep` makes its texts borrowed or owned.
pub(crate) fn tree<'t, 'b>(value: Value<'t>, limits: &Limits, keep: TextOwnership<'t, 'b>) -> Result<Tree<'b>> {
    let fields =
        value.object("a Loom tree, an object with `nodes` and `edges`; use `chatToLoomTree` for chat messages")?;
    let nodes = fields.get("nodes")?.ok_or_else(|| chat_messages(fields).unwrap_or_else(|| value.lacks("nodes")))?;
    let nodes = node_list(nodes, limits)?;
    let edges = edge_list(fields.need("edges")?, limits)?;
    let mut settings = TreeSettings::default();
    tree_settings(fields, &mut settings, None)?;
    Tree::new(settings, self::nodes(nodes, limits, keep)?, self::edges(edges, limits, keep)?, limits)
}

/// The settings of a tree.
pub(crate) const TREE_SETTINGS: &[&str] =
    &["title", "mode", "systemContext", "bufferModeSystemContext", "bufferPrefix", "preferences"];

/// Reads the settings of a tree. Absent ones are unchanged; `null` restores the default. Unknown preferences are
/// reported if a list for them is passed.
pub(crate) fn tree_settings(
    fields: Object<'_>,
    settings: &mut TreeSettings,
    diagnostics: Option<&mut Vec<Diagnostic>>,
) -> Result<()> {
    if let Some(title) = given(fields, "title")? {
        settings.title = title.map(Value::string).transpose()?;
    }
    if let Some(mode) = given(fields, "mode")? {
        let modes = [("dialogue", TreeMode::Dialogue), ("buffer", TreeMode::Buffer)];
        settings.mode = mode.map(|mode| mode.one_of(&modes)).transpose()?.unwrap_or_default();
    }
    if let Some(context) = given(fields, "systemContext")? {
        settings.system_context = context.map(Value::string).transpose()?;
    }
    if let Some(included) = given(fields, "bufferModeSystemContext")? {
        settings.buffer_mode_system_context = included.map(Value::bool).transpose()?.unwrap_or_default();
    }
    if let Some(prefix) = given(fields, "bufferPrefix")? {
        settings.buffer_prefix = prefix.map(Value::string).transpose()?;
    }
    if let Some(given) = given(fields, "preferences")? {
        settings.preferences = given.map(|value| preferences(value, diagnostics)).transpose()?.unwrap_or_default();
    }
    Ok(())
}

/// A setting: `None` if it is absent, `Some(None)` if it is `null`.
pub(crate) fn given<'t>(fields: Object<'t>, name: &str) -> Result<Option<Option<Value<'t>>>> {
    Ok(fields.get_or_null(name)?.map(|value| Some(value).filter(|value| !value.is_null())))
}

/// The list of a tree's nodes, within the limit.
pub(crate) fn node_list<'t>(nodes: Value<'t>, limits: &Limits) -> Result<List<'t>> {
    let list = nodes.list("a list of nodes")?;
    limits::check("nodes", list.len(), limits.nodes)?;
    Ok(list)
}

/// The list of a tree's edges, within the limit.
pub(crate) fn edge_list<'t>(edges: Value<'t>, limits: &Limits) -> Result<List<'t>> {
    let list = edges.list("a list of edges")?;
    limits::check("edges", list.len(), limits.edges)?;
    Ok(list)
}

/// Reads nodes.
pub(crate) fn nodes<'t, 'b>(list: List<'t>, limits: &Limits, keep: TextOwnership<'t, 'b>) -> Result<Vec<Node<'b>>> {
    let mut contents = ContentReader::new(limits, keep);
    // If no limit can be reached, texts are not counted.
    let fits =
        limits.content_blocks > 0 && limits.json_depth > 0 && list.request_bytes() <= limits.input_bytes as usize;
    let may_wait = fits && matches!(keep(Cow::Borrowed("")), Cow::Borrowed(_));
    list.read(|value| node(value, &mut contents, keep, may_wait))
}

/// Reads a node, whose text may stay escaped if `may_wait`.
fn node<'t, 'b>(
    value: Value<'t>,
    contents: &mut ContentReader<'t, 'b>,
    keep: TextOwnership<'t, 'b>,
    may_wait: bool,
) -> Result<Node<'b>> {
    let [id, content, author, local_id, author_agent_id, created_at, edited_from, metadata] = value
        .object("a node, an object")?
        .fields(["id", "content", "authorType", "localId", "authorAgentId", "createdAt", "editedFrom", "metadata"])?;
    let id = keep(id.ok_or_else(|| value.lacks("id"))?.text()?);
    let text = |value: Value<'t>| value.text().map(keep);
    let mut read = || {
        let content = content.ok_or_else(|| value.lacks("content"))?;
        let author = author.ok_or_else(|| value.lacks("authorType"))?;
        let [excluded, pruned] = match metadata {
            Some(metadata) => metadata.object("node metadata, an object")?.fields(["excluded", "pruned"])?,
            None => [None; 2],
        };
        Ok(Node {
            id: id.clone(),
            author: author.one_of(&[("human", Author::Human), ("model", Author::Model)])?,
            content: match content.escaped_text().filter(|_| may_wait).map(|text| keep(Cow::Borrowed(text))) {
                Some(Cow::Borrowed(text)) => NodeContent::of_escaped(text),
                _ => contents.read(content)?.into(),
            },
            local_id: local_id.map(text).transpose()?,
            author_agent_id: author_agent_id.map(text).transpose()?,
            created_at: created_at.map(|value| time(value, keep)).transpose()?,
            edited_from: edited_from.map(text).transpose()?,
            excluded: excluded.map(Value::bool).transpose()?.unwrap_or_default(),
            pruned: pruned.map(Value::bool).transpose()?.unwrap_or_default(),
        })
    };
    read().map_err(|error| of_entity(error, "nodeId", &id))
}

/// Reads edges.
pub(crate) fn edges<'t, 'b>(list: List<'t>, limits: &Limits, keep: TextOwnership<'t, 'b>) -> Result<Vec<Edge<'b>>> {
    list.read(|value| edge(value, limits, keep))
}

fn edge<'t, 'b>(value: Value<'t>, limits: &Limits, keep: TextOwnership<'t, 'b>) -> Result<Edge<'b>> {
    let [id, sources, target, kind] =
        value.object("an edge, an object")?.fields(["id", "sources", "targetNodeId", "edgeType"])?;
    let id = keep(id.ok_or_else(|| value.lacks("id"))?.text()?);
    let read = || {
        let list = sources.ok_or_else(|| value.lacks("sources"))?.list("a list of edge sources")?;
        limits::check("edgeSources", list.len(), limits.edge_sources)?;
        let sources = list.read(|value| source(value, keep))?;
        let kinds = [("continuation", EdgeKind::Continuation), ("annotation", EdgeKind::Annotation)];
        Ok(Edge {
            id: id.clone(),
            sources,
            target: keep(target.ok_or_else(|| value.lacks("targetNodeId"))?.text()?),
            kind: kind.map(|kind| kind.one_of(&kinds)).transpose()?.unwrap_or_default(),
        })
    };
    read().map_err(|error| of_entity(error, "edgeId", &id))
}

fn source<'t, 'b>(value: Value<'t>, keep: TextOwnership<'t, 'b>) -> Result<Source<'b>> {
    let [node, role] = value.object("an edge source, an object with `nodeId`")?.fields(["nodeId", "role"])?;
    let roles =
        [("primary", SourceRole::Primary), ("context", SourceRole::Context), ("instruction", SourceRole::Instruction)];
    Ok(Source {
        node: keep(node.ok_or_else(|| value.lacks("nodeId"))?.text()?),
        role: role.map(|role| role.one_of(&roles)).transpose()?.unwrap_or_default(),
    })
}

fn time<'t, 'b>(value: Value<'t>, keep: TextOwnership<'t, 'b>) -> Result<Cow<'b, str>> {
    Timestamp::text(value).map(keep)
}

/// Adds the id of the node or the edge to an error about its fields.
fn of_entity(error: Error, key: &'static str, id: &str) -> Error {
    if error.code() == Code::LimitExceeded { error } else { error.with(key, id) }
}

fn path_of(path: Value<'_>, limits: &Limits) -> Result<Vec<String>> {
    let ids = path.list("a list of node ids")?;
    limits::check("pathNodes", ids.len(), limits.path_nodes)?;
    ids.read(Value::string)
}

fn names(value: Value<'_>, expected: &str) -> Result<SortedMap<String, String>> {
    value.object(expected)?.map(Value::string)
}

fn annotations(value: Value<'_>) -> Result<Annotations> {
    if value.is_string("all") {
        return Ok(Annotations::All);
    }
    let mut ids = SortedSet::new();
    for id in value.list("a list of node ids or \"all\"")? {
        ids.insert(id.string()?);
    }
    Ok(Annotations::Named(ids))
}

fn pending_sources(value: Value<'_>) -> Result<Vec<Source<'static>>> {
    value.list("a list of edge sources")?.read(|value| source(value, own))
}

/// Reads preferences; unknown ones are reported if a list for them is passed.
fn preferences(value: Value<'_>, diagnostics: Option<&mut Vec<Diagnostic>>) -> Result<Preferences> {
    const FIELDS: &[&str] = &[
        "truncationStrategy",
        "minimumRecentNodes",
        "tokenBuffer",
        "truncationMarker",
        "cutStep",
        "startOn",
        "protect",
        "fill",
    ];
    const STRATEGIES: &[(&str, Strategy)] = &[
        ("truncateMiddle", Strategy::TruncateMiddle),
        ("rollingWindow", Strategy::RollingWindow),
        ("stopAtLimit", Strategy::StopAtLimit),
    ];
    let fields = value.object("preferences, an object")?;
    if let Some(diagnostics) = diagnostics {
        fields.report_unknown(FIELDS, diagnostics);
    }
    Ok(Preferences {
        truncation_strategy: fields.one_of("truncationStrategy", STRATEGIES)?,
        minimum_recent_nodes: fields.read("minimumRecentNodes", Value::any_number)?,
        token_buffer: fields.read("tokenBuffer", Value::any_number)?,
        truncation_marker: fields.string("truncationMarker")?,
        cut_step: fields.read("cutStep", Value::any_number)?,
        start_on: fields.one_of("startOn", &[("any", StartOn::Any), ("user", StartOn::User)])?,
        protect: fields.read("protect", Protect::read_all)?,
        fill: fields.one_of("fill", FILL)?,
    })
}

/// Reads the media by `ref`.
pub(crate) fn media(value: Value<'_>) -> Result<SortedMap<String, Media<'static>>> {
    value.object("an object of media")?.map(|value| {
        let fields = value.object("media, an object with `data` or `url`")?;
        match (fields.string("data")?, fields.string("url")?) {
            (Some(data), None) => Ok(Media::Data(data.into())),
            (None, Some(url)) => Ok(Media::Url(url.into())),
            _ => Err(value.invalid(|place| format!("{place} must have either `data` or `url`"))),
        }
    })
}

/// Whether a provider has a separate field for the system context, and the cost of its images.
fn traits(provider: Provider, model: &str) -> (bool, ImageRule) {
    match provider {
        Provider::Anthropic => (true, ImageRule::anthropic(model)),
        Provider::OpenAi => (false, ImageRule::openai(model)),
        Provider::OpenAiResponses => (true, ImageRule::openai(model)),
        Provider::Gemini | Provider::GeminiInteractions => (true, ImageRule::gemini(model)),
        Provider::Completion => (false, ImageRule::Unknown),
    }
}

/// The vendors whose blocks a provider accepts unchanged.
fn vendors(provider: Provider) -> &'static [Vendor] {
    match provider {
        Provider::Anthropic => &[Vendor::Anthropic],
        Provider::OpenAiResponses => &[Vendor::OpenAi],
        Provider::Gemini | Provider::GeminiInteractions => &[Vendor::Google],
        Provider::OpenAi | Provider::Completion => &[],
    }
}

/// The provider of a request, if it names one.
fn provider_of(request: Object<'_>, target: Option<&Target>) -> Result<Option<Provider>> {
    if let Some(target) = target {
        return Ok(Some(target.provider));
    }
    let named = request.get("provider")?.filter(|provider| provider.kind() == Kind::String);
    named.map(|provider| provider.one_of(&Provider::NAMES)).transpose()
}

/// The rule for signed thinking after a cut; `None` if the provider or the model does not bind signatures to earlier
/// messages.
fn preserved_thinking(request: Object<'_>, target: Option<&Target>) -> Result<Option<ThinkingRule>> {
    const RULES: &[(&str, PreservedThinking)] = &[
        ("strip", PreservedThinking::Strip),
        ("dropBlock", PreservedThinking::DropBlock),
        ("keep", PreservedThinking::Keep),
    ];
    let rule = request.one_of("preservedThinking", RULES)?.unwrap_or_default();
    let provider = provider_of(request, target)?;
    let is_manual = target
        .and_then(|target| target.fields.get("thinking")?.get("type"))
        .is_some_and(|kind| kind.as_str() == Some("enabled"));
    let is_bound = match target.and_then(|target| target.model.as_deref()) {
        Some(model) => preserves_thinking(model),
        None => !is_manual,
    };
    Ok(match provider {
        Some(Provider::OpenAiResponses) => Some(ThinkingRule::Withheld),
        None | Some(Provider::Anthropic) if is_bound => Some(ThinkingRule::Refused(rule)),
        _ => None,
    })
}

fn provider(value: Value<'_>, model: &str, diagnostics: &mut Vec<Diagnostic>) -> Result<(bool, ImageRule)> {
    const EXPECTED: &str = "a provider's name or an object with `nativeSystemPrompt`";
    if value.kind() == Kind::String {
        return value.one_of(&Provider::NAMES).map(|provider| traits(provider, model));
    }
    let fields = value.object(EXPECTED)?;
    fields.report_unknown(&["nativeSystemPrompt"], diagnostics);
    Ok((fields.bool("nativeSystemPrompt")?.ok_or_else(|| value.mismatch(EXPECTED))?, ImageRule::Unknown))
}

fn overhead(value: Value<'_>, diagnostics: &mut Vec<Diagnostic>) -> Result<Overhead> {
    let fields = value.object("overhead, an object")?;
    fields.report_unknown(&["perMessage", "perRequest"], diagnostics);
    let defaults = Overhead::default();
    Ok(Overhead {
        per_message: cost(fields, "perMessage", "overhead.perMessage")?.unwrap_or(defaults.per_message),
        per_request: cost(fields, "perRequest", "overhead.perRequest")?.unwrap_or(defaults.per_request),
    })
}

/// Tokens of an image and of a second of audio.
fn media_costs(value: Value<'_>, diagnostics: &mut Vec<Diagnostic>) -> Result<(Option<u64>, Option<u64>)> {
    let fields = value.object("media costs, an object")?;
    fields.report_unknown(&["image", "audioSecond"], diagnostics);
    Ok((cost(fields, "image", "mediaCosts.image")?, cost(fields, "audioSecond", "mediaCosts.audioSecond")?))
}

/// A cost in tokens. The bound keeps every sum of costs far from overflow.
fn cost(fields: Object<'_>, name: &str, setting: &str) -> Result<Option<u64>> {
    let Some(cost) = fields.read(name, |value| whole(setting, value.number()?))? else { return Ok(None) };
    limits::check(setting, usize::try_from(cost).unwrap_or(usize::MAX), 1_000_000_000)?;
    Ok(Some(cost))
}

fn invalid(message: &str) -> Error {
    Error::new(Code::InvalidInput, message)
}
