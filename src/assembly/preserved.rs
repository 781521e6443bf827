//! Signed thinking after a cut: Anthropic binds a signature to every earlier message, so it becomes invalid if one of
//! them changes (docs/agents.md).

use serde_json::{Map, Value};

use crate::assembly::item::Item;
use crate::content::{Block, Vendor};
use crate::error::{Diagnostic, DiagnosticCode, Severity};
use crate::json::object;
use crate::maps::SortedMap;
use crate::prompt::Prices;
use crate::vendors::signature::{is_anthropic, is_openai};

/// The treatment of signed thinking from the first changed message on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PreservedThinking {
    /// It is removed.
    #[default]
    Strip,
    /// It stays, and the request asks the provider to drop invalid blocks.
    DropBlock,
    /// It stays.
    Keep,
}

/// The rule of a vendor for thinking with an invalid signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThinkingRule {
    /// Anthropic rejects it.
    Refused(PreservedThinking),
    /// OpenAI withholds it from the model.
    Withheld,
}

/// The fields of the body and the headers that ask the provider to drop invalid thinking, for a request with this field
/// `thinking`; `None` if that is manual or off, since no binding applies then.
pub(crate) fn drop_blocks_request(thinking: Option<&Value>) -> Option<(Map<String, Value>, Map<String, Value>)> {
    let mut body = Map::from_iter(thinking.map(|thinking| ("thinking".to_owned(), thinking.clone())));
    let headers = Map::from_iter([("anthropic-beta".to_owned(), "thinking-binding-controls-2026-08-01".into())]);
    drop_blocks(&mut body).then_some((body, headers))
}

/// Adds the fields that ask the provider to drop invalid thinking, next to the body's field `thinking`; false if that
/// is manual or off.
pub(crate) fn drop_blocks(fields: &mut Map<String, Value>) -> bool {
    let thinking = fields.entry("thinking").or_insert_with(|| object([("type", "adaptive".into())]));
    if thinking.get("type").is_some_and(|kind| kind == "enabled" || kind == "disabled") {
        return false;
    }
    if let Value::Object(thinking) = thinking
        && let Value::Object(binding) = thinking.entry("block_binding").or_insert_with(|| object([]))
    {
        binding.insert("prefix_mismatch_behavior".to_owned(), "drop_block".into());
        return true;
    }
    false
}

/// The thinking in a choice with invalid signatures.
#[derive(Debug, Default)]
pub(crate) struct InvalidThinking<'a> {
    /// The items that have such thinking.
    pub items: Vec<usize>,
    /// These items without it, if it is removed.
    pub without: SortedMap<usize, Item<'a>>,
    /// Whether signed thinking is sent and the request asks the provider to drop invalid blocks.
    pub drops_blocks: bool,
}

impl InvalidThinking<'_> {
    /// Whether an item becomes empty.
    pub(crate) fn is_emptied(&self, at: usize) -> bool {
        self.without.get(&at).is_some_and(|item| item.parts.is_empty())
    }

    /// The diagnostics for each item; `node` returns its id.
    pub(crate) fn diagnostics<'s>(
        &'s self,
        rule: ThinkingRule,
        node: impl Fn(usize) -> Option<&'s str> + 's,
    ) -> impl Iterator<Item = Diagnostic> + 's {
        let fate = match rule {
            ThinkingRule::Refused(PreservedThinking::Keep) => ThinkingFate::Refused,
            ThinkingRule::Withheld => ThinkingFate::Withheld { count: 1 },
            ThinkingRule::Refused(_) => ThinkingFate::Removed,
        };
        self.items.iter().filter_map(move |&at| Some(fate.in_tree(node(at)?)))
    }
}

/// The treatment of thinking after an earlier message changed.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ThinkingFate {
    /// It is removed, since its signature is invalid.
    Removed,
    /// It stays, and the provider rejects it.
    Refused,
    /// OpenAI may withhold this many reasoning items from the model.
    Withheld { count: usize },
}

impl ThinkingFate {
    fn diagnostic(self, message: String) -> Diagnostic {
        let severity = if let Self::Refused = self { Severity::Warning } else { Severity::Info };
        Diagnostic::new(DiagnosticCode::ReasoningPrefixChanged, severity, message)
    }

    /// The diagnostic for thinking of a node.
    pub(crate) fn in_tree(self, node: &str) -> Diagnostic {
        let what = match self {
            Self::Removed => "its signed thinking was left out",
            Self::Refused => "the provider rejects its signed thinking",
            Self::Withheld { .. } => "OpenAI may withhold its reasoning from the model",
        };
        self.diagnostic(format!("messages before `{node}` were changed or removed, so {what}")).about_node(node)
    }

    /// The diagnostic for a reasoning block of a message; of several withheld ones, for the first.
    pub(crate) fn in_chat(self, message: usize, path: String) -> Diagnostic {
        let bound = |fate| {
            format!("signed thinking of message {message} is bound to messages that were changed or removed; it {fate}")
        };
        let withheld = |what: &str| {
            format!("messages before `{path}` were changed or removed, so OpenAI may withhold {what} from the model")
        };
        let text = match self {
            Self::Removed => bound("was left out"),
            Self::Refused => bound("stays, and its provider rejects it"),
            Self::Withheld { count: 1 } => withheld("this reasoning"),
            Self::Withheld { count } => withheld(&format!("the {count} reasoning items that follow")),
        };
        self.diagnostic(text).at_path(path)
    }
}

/// Whether a block is signed thinking: signed by Anthropic or an unknown vendor, or by OpenAI.
pub(crate) fn is_signed(block: &Block<'_>, vendor: Vendor) -> bool {
    let Block::Reasoning { signature, .. } = block else { return false };
    let is_signed = if vendor == Vendor::OpenAi { is_openai } else { is_anthropic };
    is_signed(signature.as_deref())
}

/// An item without its signed thinking.
pub(super) fn without_thinking<'a>(item: &Item<'a>, prices: &Prices<'_>) -> Item<'a> {
    let mut header = item.header;
    if let Some(header) = &mut header {
        let before = item.parts.iter().take(header.part).filter(|part| is_signed(part, Vendor::Anthropic)).count();
        header.part = header.part.saturating_sub(before);
    }
    let parts: Vec<Block<'a>> = item.parts.iter().filter(|part| !is_signed(part, Vendor::Anthropic)).cloned().collect();
    let alone = parts.iter().map(|part| prices.block(part)).sum();
    Item { parts, alone, header, ..*item }
}
