//! What a loom-aware agent is told, as it is asked for.

use crate::maps::SortedMap;
use crate::time::Timestamp;

/// What a loom-aware agent is told. The default has the addendum, the headers without ages, and the loom block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoomAware {
    /// What ages are counted up to; without it there are none.
    pub now: Option<Timestamp>,
    /// What is added to the system prompt.
    pub addendum: Addendum,
    /// Whether messages have headers.
    pub headers: bool,
    /// Whether the loom block stands at the end.
    pub loom_block: bool,
    /// What is always in view, in this order.
    pub pinned: Vec<Pinned>,
    /// What was called back from storage.
    pub stashes: Vec<Stash>,
    /// What was done lately, oldest first; a line for each.
    pub trace: Vec<String>,
    /// What the agent may do; `None` where nothing shall be said about it.
    pub permissions: Option<Vec<String>>,
    /// Names of agents, by the ids that nodes have as `author_agent_id`.
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

/// What is added to the system prompt.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Addendum {
    /// What the library has to say of the parts that are there.
    #[default]
    BuiltIn,
    /// A text of the caller's own.
    Own(String),
    /// Nothing.
    None,
}

/// Something that is always in view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pinned {
    /// A node of the tree, on the path or not.
    Node(String),
    /// A text from elsewhere.
    Text {
        /// What it is.
        label: Option<String>,
        /// What it says.
        text: String,
    },
}

/// Something called back from storage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stash {
    /// What it was stored as.
    pub label: String,
    /// What it says.
    pub text: String,
}

impl LoomAware {
    pub(crate) fn texts(&self) -> impl Iterator<Item = &str> {
        let pinned = self.pinned.iter().flat_map(|pinned| match pinned {
            Pinned::Node(id) => [Some(id), None],
            Pinned::Text { label, text } => [label.as_ref(), Some(text)],
        });
        let addendum = if let Addendum::Own(text) = &self.addendum { Some(text) } else { None };
        let stashes = self.stashes.iter().flat_map(|stash| [&stash.label, &stash.text]);
        let permissions = self.permissions.iter().flatten();
        let all = pinned.flatten().chain(addendum).chain(stashes).chain(&self.trace).chain(permissions);
        all.chain(self.authors.values()).map(String::as_str)
    }
}
