//! The additions for a loom-aware agent.

use crate::maps::SortedMap;
use crate::time::Timestamp;

/// The additions for a loom-aware agent. The default has the addendum, headers without ages, and the loom block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoomAware {
    /// The reference time of ages; without it headers have none.
    pub now: Option<Timestamp>,
    /// The addition to the system prompt.
    pub addendum: Addendum,
    /// Whether messages have headers.
    pub headers: bool,
    /// Whether there is a loom block at the end.
    pub loom_block: bool,
    /// Content that is always in the memory, in this order.
    pub pinned: Vec<Pinned>,
    /// Stashes recalled from storage.
    pub stashes: Vec<Stash>,
    /// The trace of recent actions, oldest first, one line each.
    pub trace: Vec<String>,
    /// The agent's permissions, if they are included.
    pub permissions: Option<Vec<String>>,
    /// Names of agents, by `author_agent_id`.
    pub authors: SortedMap<String, String>,
}

impl Default for LoomAware {
    fn default() -> Self {
        Self {
            now: None,
            addendum: Addendum::default(),
            headers: true,
            loom_block: true,
            pinned: Vec::new(),
            stashes: Vec::new(),
            trace: Vec::new(),
            permissions: None,
            authors: SortedMap::new(),
        }
    }
}

/// The addition to the system prompt.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Addendum {
    /// A description of the included parts.
    #[default]
    BuiltIn,
    /// The caller's text.
    Custom(String),
    /// No addition.
    None,
}

/// Content that is always in the memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pinned {
    /// A node of the tree, on the path or not.
    Node(String),
    /// A text from another source.
    Text {
        /// Its label.
        label: Option<String>,
        /// The text.
        text: String,
    },
}

/// Content recalled from storage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stash {
    /// Its label.
    pub label: String,
    /// The text.
    pub text: String,
}

impl LoomAware {
    pub(crate) fn texts(&self) -> impl Iterator<Item = &str> {
        let pinned = self.pinned.iter().flat_map(|pinned| match pinned {
            Pinned::Node(id) => [Some(id), None],
            Pinned::Text { label, text } => [label.as_ref(), Some(text)],
        });
        let addendum = if let Addendum::Custom(text) = &self.addendum { Some(text) } else { None };
        let stashes = self.stashes.iter().flat_map(|stash| [&stash.label, &stash.text]);
        let permissions = self.permissions.iter().flatten();
        let all = pinned.flatten().chain(addendum).chain(stashes).chain(&self.trace).chain(permissions);
        all.chain(self.authors.values()).map(String::as_str)
    }
}
