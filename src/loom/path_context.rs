//! The context for reading a path: tree, options, and a counter that may cache its counts.

use std::borrow::Cow;
use std::rc::Rc;

use serde_json::Value;
use smallvec::SmallVec;

use crate::assembly::costs::break_after;
use crate::content::Block;
use crate::hashing::Hasher;
use crate::json;
use crate::loom::chunked_vec::ChunkedVec;
use crate::loom::fit_state::Previous;
use crate::loom::incremental_texts::IncrementalTexts;
use crate::loom::request::Options;
use crate::loom::select::Mode;
use crate::loom::tree::{NodeIx, Tree};
use crate::prompt::Prices;
use crate::prompt::bodies::Target;
use crate::tokens::Counter;
use crate::tokens::Uncounted;
use crate::tokens::memory::{CachingCounter, CounterId, InternedText};

/// The context of a path.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PathContext<'a> {
    pub tree: &'a Tree<'a>,
    pub options: &'a Options,
    pub mode: Mode,
    pub prices: Prices<'a>,
    /// Whether anything has to be counted.
    pub counts: bool,
    /// A hash of the tools of the request, in a series of dialogues.
    pub tools: u64,
    remembered: Option<Remembered<'a>>,
}

/// The interned texts of a node. Most have one.
pub(crate) type InternedTexts = SmallVec<[Rc<InternedText>; 1]>;

/// The cache of a resident tree, by slot.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Remembered<'a> {
    pub counter: &'a CachingCounter<'a>,
    /// The counted texts: the first is the node's only text, if it has one.
    pub texts: &'a ChunkedVec<InternedTexts>,
    /// The incremental texts, which are not among them.
    pub incremental_texts: &'a IncrementalTexts,
    /// How often the node at each slot changed.
    pub revisions: &'a ChunkedVec<u32>,
}

impl<'a> PathContext<'a> {
    /// The context of a single assembly.
    pub(crate) fn new(tree: &'a Tree<'a>, options: &'a Options, mode: Mode, counter: &'a dyn Counter) -> Self {
        let Options { overhead, image, audio_second, .. } = *options;
        let prices = Prices { counter, overhead, image, audio_second };
        let this = Self { tree, options, mode, prices, counts: true, tools: 0, remembered: None };
        this.with_tools(&options.tools)
    }

    /// The context of a request with the tools of a target.
    pub(crate) fn for_target(self, target: &Target) -> Self {
        self.with_tools(&target.tools)
    }

    fn with_tools(self, tools: &[Value]) -> Self {
        if self.options.previous == Previous::None {
            return self;
        }
        let mut hasher = Hasher::default();
        tools.iter().for_each(|tool| hasher.text(&json::text(tool)));
        Self { tools: hasher.finish(), ..self }
    }

    /// The context of a resident tree.
    pub(crate) fn resident(tree: &'a Tree<'a>, options: &'a Options, mode: Mode, remembered: Remembered<'a>) -> Self {
        Self { remembered: Some(remembered), ..Self::new(tree, options, mode, remembered.counter) }
    }

    /// The same context without counting.
    pub(crate) fn uncounted(self) -> Self {
        Self { prices: Prices { counter: &Uncounted, ..self.prices }, counts: false, remembered: None, ..self }
    }

    pub(crate) fn is_resident(&self) -> bool {
        self.remembered.is_some()
    }

    /// The counter's name.
    pub(crate) fn tokenizer(&self) -> &'a str {
        self.prices.counter.name()
    }

    /// The error of the counts in percent.
    pub(crate) fn tokenizer_error(&self) -> Option<u32> {
        self.prices.counter.error_percent()
    }

    pub(crate) fn counter_id(&self) -> Option<CounterId> {
        self.remembered.map(|remembered| remembered.counter.id())
    }

    /// How often the node at this slot changed.
    pub(crate) fn revision(&self, node: NodeIx) -> u32 {
        self.remembered.and_then(|remembered| remembered.revisions.get(node as usize).copied()).unwrap_or(0)
    }

    /// Tokens of the only text of a node.
    pub(crate) fn text_tokens(&self, node: NodeIx, text: &str) -> u64 {
        if let Some(tokens) = self.incremental_tokens(node, text) {
            return tokens;
        }
        match self.interned(node) {
            Some((counter, interned)) => counter.interned(interned, text).into(),
            None => self.prices.text(text),
        }
    }

    /// Tokens of a part of the message of a node.
    pub(crate) fn part_tokens(&self, node: NodeIx, part: &Block<'_>) -> u64 {
        let incremental =
            if let Block::Text(Cow::Borrowed(text)) = part { self.incremental_tokens(node, text) } else { None };
        incremental.unwrap_or_else(|| self.prices.block(part))
    }

    /// Tokens of a text of a node, if it is the incremental one.
    fn incremental_tokens(&self, node: NodeIx, text: &str) -> Option<u64> {
        let remembered = self.remembered?;
        remembered.incremental_texts.tokens(node, self.tree.at(node), text, remembered.counter).map(u64::from)
    }

    /// The cost of a paragraph break after the only text of a node.
    pub(crate) fn break_after(&self, node: NodeIx, text: &str) -> i64 {
        let find = || break_after(text, &self.prices);
        match self.interned(node) {
            Some((counter, interned)) => interned.break_after(counter.id(), find),
            None => find(),
        }
    }

    fn interned(&self, node: NodeIx) -> Option<(&'a CachingCounter<'a>, &'a InternedText)> {
        let remembered = self.remembered?;
        Some((remembered.counter, remembered.texts.get(node as usize)?.first()?))
    }
}
