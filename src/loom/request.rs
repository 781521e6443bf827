//! The options of an assembly (docs/loom.md).

use std::rc::Rc;

use serde_json::Value;

use crate::assembly::preserved::{PreservedThinking, ThinkingRule};
use crate::assembly::settings::Preferences;
use crate::content::{Media, Role, Vendor};
use crate::limits::Limits;
use crate::loom::fit_state::Previous;
use crate::loom::loom_context::LoomAware;
use crate::loom::path::{Choices, Position};
use crate::loom::tree::Source;
use crate::maps::{SortedMap, SortedSet};
use crate::prompt::bodies::Provider;
use crate::prompt::{ImageRule, Overhead};

/// A request without its tree.
#[derive(Clone, Debug)]
pub struct Options {
    /// The path.
    pub position: Position,
    /// Choices at ambiguous places of the tree.
    pub choices: Choices,
    /// Which annotations are part of the context.
    pub annotations: Annotations,
    /// Sources of the edge about to be created at the tip.
    pub pending_sources: Vec<Source<'static>>,
    /// The instructions to include.
    pub instruction_scope: InstructionScope,
    /// The agent's system prompt.
    pub system_prompt: Option<String>,
    /// The context window of the model in tokens, including its answer; unchecked.
    pub context_window: f64,
    /// The settings of the request.
    pub preferences: Preferences,
    /// The settings of the application, which the tree's override.
    pub app_preferences: Preferences,
    /// The placement of the system context.
    pub system_placement: SystemPlacement,
    /// The provider's overhead of messages.
    pub overhead: Overhead,
    /// The cost of images.
    pub image: ImageRule,
    /// Tokens of a second of audio.
    pub audio_second: u64,
    /// Images and recordings by `ref`.
    pub media: Rc<SortedMap<String, Media<'static>>>,
    /// The rule for signed thinking after a cut; `None` if signatures are not bound to earlier messages.
    pub preserved_thinking: Option<ThinkingRule>,
    /// The vendors whose blocks the provider accepts unchanged; `None` if it is unknown.
    pub vendors: Option<&'static [Vendor]>,
    /// The field `thinking` of the request, as JSON.
    pub thinking: Option<Value>,
    /// The additions for a loom-aware agent.
    pub loom_aware: Option<LoomAware>,
    /// Buffer mode: the text before that of the path; defaults to the tree's.
    pub buffer_prefix: Option<String>,
    /// Buffer mode: text that is not a node yet.
    pub working_buffer: String,
    /// The provider, if the request names one. A series of dialogues does not continue with another one.
    pub provider: Option<Provider>,
    /// The tools of the request, which a series of dialogues compares.
    pub tools: Vec<Value>,
    /// The dialogue that this one continues. Its treatment is applied again, so that the result begins with the last
    /// one, until the limit is exceeded; then a step cuts down to `cut_to`.
    pub previous: Previous,
    /// The fraction of the limit that a step cuts to, above 0 and at most 1. Defaults to 0.75 in a series; a single fit
    /// uses the whole limit.
    pub cut_to: Option<f64>,
    /// Limits on the input.
    pub limits: Limits,
}

impl Options {
    /// Defaults for a path that ends at `tip`.
    pub fn from_tip(tip: &str, context_window: u32) -> Self {
        Self::new(Position::Tip(tip.to_owned()), context_window.into())
    }

    pub(crate) fn new(position: Position, context_window: f64) -> Self {
        Self {
            position,
            choices: Choices::default(),
            annotations: Annotations::None,
            pending_sources: Vec::new(),
            instruction_scope: InstructionScope::default(),
            system_prompt: None,
            context_window,
            preferences: Preferences::default(),
            app_preferences: Preferences::default(),
            system_placement: SystemPlacement::Field,
            overhead: Overhead::default(),
            image: ImageRule::Unknown,
            audio_second: crate::prompt::AUDIO_SECOND,
            media: Rc::default(),
            preserved_thinking: Some(ThinkingRule::Refused(PreservedThinking::default())),
            vendors: None,
            thinking: None,
            loom_aware: None,
            buffer_prefix: None,
            working_buffer: String::new(),
            provider: None,
            tools: Vec::new(),
            previous: Previous::None,
            cut_to: None,
            limits: Limits::default(),
        }
    }
}

/// Which annotations are part of the context.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Annotations {
    /// No annotations.
    #[default]
    None,
    /// All annotations of the path.
    All,
    /// The named annotations.
    Named(SortedSet<String>),
}

impl Annotations {
    pub(crate) fn include(&self, id: &str) -> bool {
        match self {
            Self::None => false,
            Self::All => true,
            Self::Named(ids) => ids.contains(id),
        }
    }
}

/// The instruction sources to include.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum InstructionScope {
    /// The sources of every edge on the path, and the pending ones.
    Path,
    /// The sources of the tip's edge, and the pending ones.
    #[default]
    Generation,
}

/// The placement of the system context.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SystemPlacement {
    /// In a separate field.
    #[default]
    Field,
    /// In the first message, with this role; in a document, at its beginning.
    Message(Role),
}
