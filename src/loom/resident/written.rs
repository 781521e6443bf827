//! A tree, its nodes and edges, and changes to it as JSON, in the shape in which they were passed (docs/loom.md).

use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};
use serde_json::{Map, Value as Json};

use super::change::{ChangeSet, OrderPosition, TreeFields, Upsert};
use super::extra::{ContentForm, Extra};
use super::loom_tree::LoomTree;
use crate::assembly::settings::Preferences;
use crate::content::{self, Block};
use crate::error::Error;
use crate::json::number;
use crate::loom::tree::{Author, Edge, EdgeKind, Node, Source, SourceRole, TreeMode, TreeSettings};

/// The whole tree.
pub(super) struct WrittenTree<'a>(pub &'a LoomTree);

/// A node and its extra data beyond the model.
pub(super) struct WrittenNode<'a>(&'a Node<'a>, &'a Extra);

struct WrittenContent<'a>(&'a [Block<'a>], ContentForm);

struct WrittenEdge<'a>(&'a Edge<'a>, &'a Extra);

struct WrittenSource<'a>(&'a Source<'a>, bool);

struct WrittenPreferences<'a>(&'a Preferences);

/// The fields of a tree other than nodes and edges; unset ones are null, so that they are removed.
struct WrittenFields<'a>(&'a TreeFields);

/// A list whose items are written lazily.
struct Written<F>(F);

impl<I: Iterator<Item = T>, T: Serialize, F: Fn() -> I> Serialize for Written<F> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(None)?;
        for item in (self.0)() {
            list.serialize_element(&item)?;
        }
        list.end()
    }
}

impl LoomTree {
    /// A node as it was passed.
    pub(super) fn written_node(&self, id: &str) -> Result<WrittenNode<'_>, Error> {
        let place = self.tree().find(id)?;
        Ok(WrittenNode(self.tree().at(place), self.node_extras.get(place)))
    }
}

impl Serialize for WrittenTree<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let this = self.0;
        let (tree, extra) = (this.tree(), &this.extra);
        let settings = tree.settings();
        let mut map = serializer.serialize_map(None)?;
        members(&mut map, &extra.fields())?;
        said(&mut map, settings, extra, false)?;
        let nodes = || tree.node_order().iter().map(|ix| WrittenNode(tree.at(ix), this.node_extras.get(ix)));
        map.serialize_entry("nodes", &Written(nodes))?;
        map.serialize_entry("edges", &WrittenEdges(this))?;
        map.end()
    }
}

struct WrittenEdges<'a>(&'a LoomTree);

impl Serialize for WrittenEdges<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(None)?;
        for ix in self.0.tree().edge_order().iter() {
            if let Some(edge) = self.0.tree().edge_data(ix) {
                list.serialize_element(&WrittenEdge(&edge, self.0.edge_extras.get(ix)))?;
            }
        }
        list.end()
    }
}

impl Serialize for WrittenNode<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(node, extra) = self;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("id", &node.id)?;
        if let Some(local_id) = &node.local_id {
            map.serialize_entry("localId", local_id)?;
        }
        map.serialize_entry("content", &WrittenContent(&node.content, extra.content_form()))?;
        map.serialize_entry("authorType", if node.author == Author::Human { "human" } else { "model" })?;
        let texts = [
            ("authorAgentId", &node.author_agent_id),
            ("createdAt", &node.created_at),
            ("editedFrom", &node.edited_from),
        ];
        for (name, text) in texts {
            if let Some(text) = text {
                map.serialize_entry(name, text)?;
            }
        }
        let (fields, metadata) = if extra.has_fields() { extra.node_fields() } else { Default::default() };
        members(&mut map, &fields)?;
        if metadata.is_some() || node.excluded || node.pruned {
            let mut metadata = metadata.unwrap_or_default();
            for (name, is_set) in [("excluded", node.excluded), ("pruned", node.pruned)] {
                if is_set {
                    metadata.insert(name.to_owned(), Json::Bool(true));
                }
            }
            map.serialize_entry("metadata", &metadata)?;
        }
        map.end()
    }
}

impl Serialize for WrittenContent<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match (self.1, self.0) {
            (ContentForm::TextBlock, [only]) => only.serialize(serializer),
            (ContentForm::Mixed, blocks) => content::serialize_mixed(blocks, serializer),
            (_, blocks) => content::serialize_node(blocks, serializer),
        }
    }
}

impl Serialize for WrittenEdge<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(edge, extra) = self;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("id", &edge.id)?;
        let sources = || edge.sources.iter().enumerate().map(|(at, it)| WrittenSource(it, extra.has_role(at)));
        map.serialize_entry("sources", &Written(sources))?;
        map.serialize_entry("targetNodeId", &edge.target)?;
        if edge.kind != EdgeKind::default() || extra.has_kind() {
            let kind = if edge.kind == EdgeKind::Continuation { "continuation" } else { "annotation" };
            map.serialize_entry("edgeType", kind)?;
        }
        if extra.has_fields() {
            members(&mut map, &extra.fields())?;
        }
        map.end()
    }
}

impl Serialize for WrittenSource<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(source, has_role) = self;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("nodeId", &source.node)?;
        if source.role != SourceRole::default() || *has_role {
            let role = match source.role {
                SourceRole::Primary => "primary",
                SourceRole::Context => "context",
                SourceRole::Instruction => "instruction",
            };
            map.serialize_entry("role", role)?;
        }
        map.end()
    }
}

impl Serialize for WrittenPreferences<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let given = self.0;
        let mut map = serializer.serialize_map(None)?;
        if let Some(strategy) = given.truncation_strategy {
            map.serialize_entry("truncationStrategy", &strategy)?;
        }
        let numbers = [
            ("minimumRecentNodes", given.minimum_recent_nodes),
            ("tokenBuffer", given.token_buffer),
            ("cutStep", given.cut_step),
        ];
        for (name, value) in numbers {
            if let Some(value) = value {
                map.serialize_entry(name, &number(value))?;
            }
        }
        if let Some(marker) = &given.truncation_marker {
            map.serialize_entry("truncationMarker", marker)?;
        }
        if let Some(start_on) = given.start_on {
            map.serialize_entry("startOn", &start_on)?;
        }
        if let Some(protect) = &given.protect {
            map.serialize_entry("protect", protect)?;
        }
        if let Some(fill) = given.fill {
            map.serialize_entry("fill", &fill)?;
        }
        map.end()
    }
}

impl Serialize for WrittenFields<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let TreeFields { settings, extra } = self.0;
        let mut map = serializer.serialize_map(None)?;
        said(&mut map, settings, extra, true)?;
        map.serialize_entry("fields", &extra.fields())?;
        map.end()
    }
}

impl Serialize for ChangeSet {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        self.write_into(&mut map)?;
        map.end()
    }
}

impl ChangeSet {
    /// Writes its fields into a map.
    pub(super) fn write_into<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        if self.replaces {
            map.serialize_entry("replace", &true)?;
        }
        if let Some(settings) = &self.settings {
            map.serialize_entry("settings", &WrittenFields(settings))?;
        }
        map.serialize_entry("upsert", &Upserted(self))?;
        map.serialize_entry("remove", &Removed(self))?;
        if !self.endings.is_empty() {
            map.serialize_entry("endings", &self.endings)?;
        }
        let before = [("nodes", places(&self.nodes, |node| &node.id)), ("edges", places(&self.edges, |edge| &edge.id))];
        let before = Map::from_iter(
            before
                .into_iter()
                .filter(|(_, places)| !places.is_empty())
                .map(|(name, places)| (name.to_owned(), Json::Object(places))),
        );
        if !before.is_empty() && !self.replaces {
            map.serialize_entry("before", &before)?;
        }
        Ok(())
    }
}

struct Upserted<'a>(&'a ChangeSet);

impl Serialize for Upserted<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        let nodes = || self.0.nodes.iter().map(|put| WrittenNode(&put.entity, &put.extra));
        map.serialize_entry("nodes", &Written(nodes))?;
        let edges = || self.0.edges.iter().map(|put| WrittenEdge(&put.entity, &put.extra));
        map.serialize_entry("edges", &Written(edges))?;
        map.end()
    }
}

struct Removed<'a>(&'a ChangeSet);

impl Serialize for Removed<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("nodes", &self.0.removed_nodes)?;
        map.serialize_entry("edges", &self.0.removed_edges)?;
        map.end()
    }
}

/// The id after each entry with a specific position; null for the end.
fn places<T>(puts: &[Upsert<T>], id: impl Fn(&T) -> &str) -> Map<String, Json> {
    let mut places = Map::new();
    for put in puts {
        let before = match &put.place {
            OrderPosition::Kept => continue,
            OrderPosition::Last => Json::Null,
            OrderPosition::Before(other) => Json::String(other.clone()),
        };
        places.insert(id(&put.entity).to_owned(), before);
    }
    places
}

fn members<M: SerializeMap>(map: &mut M, fields: &Map<String, Json>) -> Result<(), M::Error> {
    fields.iter().try_for_each(|(name, value)| map.serialize_entry(name, value))
}

/// The settings that a tree states, and with `all` null for those it does not.
fn said<M: SerializeMap>(map: &mut M, settings: &TreeSettings, extra: &Extra, all: bool) -> Result<(), M::Error> {
    let is_default = settings.mode == TreeMode::default();
    let mode = Some(mode(settings.mode)).filter(|_| !is_default || extra.has_mode());
    let included = settings.buffer_mode_system_context;
    let included = Some(included).filter(|included| *included || extra.has_buffer_context());
    let preferences = Some(&settings.preferences);
    let preferences = preferences.filter(|given| **given != Preferences::default() || extra.has_preferences());
    let mut text = |name, text: Option<&str>| {
        if all || text.is_some() { map.serialize_entry(name, &text) } else { Ok(()) }
    };
    text("title", settings.title.as_deref())?;
    text("mode", mode)?;
    text("systemContext", settings.system_context.as_deref())?;
    text("bufferPrefix", settings.buffer_prefix.as_deref())?;
    if all || included.is_some() {
        map.serialize_entry("bufferModeSystemContext", &included)?;
    }
    if all || preferences.is_some() {
        map.serialize_entry("preferences", &preferences.map(WrittenPreferences))?;
    }
    Ok(())
}

fn mode(mode: TreeMode) -> &'static str {
    if mode == TreeMode::Dialogue { "dialogue" } else { "buffer" }
}
