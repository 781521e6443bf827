//! Signed thinking after a cut: Anthropic binds a signature to every message before it, so that it does not hold once one of them
//! changed (SPEC §8 "Preserved thinking").

use serde_json::{Map, Value, json};

use crate::assembly::item::Item;
use crate::content::Block;
use crate::content::signature::is_anthropic;
use crate::error::{Diagnostic, DiagnosticCode, Severity};
use crate::maps::SortedMap;
use crate::prompt::Prices;

/// What happens to signed thinking from the first changed message on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PreservedThinking {
    /// It is removed.
    #[default]
    Strip,
    /// It stays, and the provider is told to drop what does not hold.
    DropBlock,
    /// It stays.
    Keep,
}

impl PreservedThinking {
    /// The fields of the body and the headers that a request needs.
    pub(crate) fn needs(self) -> Option<(Map<String, Value>, Map<String, Value>)> {
        if self != Self::DropBlock {
            return None;
        }
        let mut body = Map::new();
        drop_blocks(&mut body);
        let headers = Map::from_iter([("anthropic-beta".to_owned(), json!("thinking-binding-controls-2026-08-01"))]);
        Some((body, headers))
    }
}

/// Tells the provider to drop thinking whose signature does not hold, next to what the fields of a body say of thinking.
pub(crate) fn drop_blocks(fields: &mut Map<String, Value>) {
    let thinking = fields.entry("thinking").or_insert_with(|| json!({ "type": "adaptive" }));
    if let Value::Object(thinking) = thinking
        && let Value::Object(binding) = thinking.entry("block_binding").or_insert_with(|| json!({}))
    {
        binding.insert("prefix_mismatch_behavior".to_owned(), json!("drop_block"));
    }
}

/// The thinking of a choice whose signatures do not hold.
#[derive(Debug, Default)]
pub(crate) struct InvalidThinking<'a> {
    /// The items that have such thinking.
    pub items: Vec<usize>,
    /// These items without it, if it is removed.
    pub without: SortedMap<usize, Item<'a>>,
    /// The items of which something is sent, if some are nothing without it.
    pub places: Option<Vec<usize>>,
}

impl InvalidThinking<'_> {
    /// Whether nothing is left of an item.
    pub(crate) fn is_emptied(&self, at: usize) -> bool {
        self.without.get(&at).is_some_and(|item| item.parts.is_empty())
    }

    /// The diagnostics for each item, which `node` names.
    pub(crate) fn diagnostics<'s>(
        &'s self,
        rule: PreservedThinking,
        node: impl Fn(usize) -> Option<&'s str> + 's,
    ) -> impl Iterator<Item = Diagnostic> + 's {
        let (severity, what) = match rule {
            PreservedThinking::Keep => (Severity::Warning, "the provider refuses its signed thinking"),
            _ => (Severity::Info, "its signed thinking was left out"),
        };
        self.items.iter().filter_map(move |&at| {
            let node = node(at)?;
            let message = format!("messages before `{node}` were cut, so {what}");
            Some(Diagnostic::new(DiagnosticCode::ReasoningPrefixChanged, severity, message).about_node(node))
        })
    }
}

/// Whether a block is thinking whose signature is Anthropic's, or may be.
pub(super) fn is_signed(block: &Block<'_>) -> bool {
    matches!(block, Block::Reasoning { signature, .. } if is_anthropic(signature.as_deref()))
}

/// An item without its signed thinking.
pub(super) fn without_thinking<'a>(item: &Item<'a>, prices: &Prices<'_>) -> Item<'a> {
    let mut header = item.header;
    if let Some(header) = &mut header {
        let before = item.parts.iter().take(header.part).filter(|part| is_signed(part)).count();
        header.part = header.part.saturating_sub(before);
    }
    let parts: Vec<Block<'a>> = item.parts.iter().filter(|part| !is_signed(part)).cloned().collect();
    let alone = parts.iter().map(|part| prices.block(part)).sum();
    Item { parts, alone, header, ..*item }
}
