//! Signed thinking after a cut: Anthropic binds a signature to every message before it, so that it does not hold once one of them
//! changed (SPEC §8 "Preserved thinking").

use serde_json::{Map, Value, json};

use crate::assembly::item::{Item, Kept, Shape};
use crate::assembly::plan::{Choice, Plan};
use crate::content::Block;
use crate::content::signature::is_anthropic;
use crate::error::{Diagnostic, DiagnosticCode, Result, Severity};
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
fn is_signed(block: &Block<'_>) -> bool {
    matches!(block, Block::Reasoning { signature, .. } if is_anthropic(signature.as_deref()))
}

fn without_thinking<'a>(item: &Item<'a>, prices: &Prices<'_>) -> Item<'a> {
    let mut header = item.header;
    if let Some(header) = &mut header {
        let before = item.parts.iter().take(header.part).filter(|part| is_signed(part)).count();
        header.part = header.part.saturating_sub(before);
    }
    let parts: Vec<Block<'a>> = item.parts.iter().filter(|part| !is_signed(part)).cloned().collect();
    let alone = parts.iter().map(|part| prices.block(part)).sum();
    Item { parts, alone, header, ..*item }
}

impl<'a> Plan<'_, 'a> {
    /// Chooses what is kept, without the thinking whose signatures do not hold then. What that frees is used for more units.
    pub(crate) fn choose(&self) -> Result<Choice<'a>> {
        let mut best: Option<Choice<'a>> = None;
        let mut budget = self.limit;
        loop {
            let choice = match self.choose_within(budget) {
                Ok(choice) => self.with_invalid_thinking(choice),
                Err(error) => return best.ok_or(error),
            };
            if choice.thinking.without.is_empty() {
                return Ok(best.unwrap_or(choice));
            }
            let planned = self.plan_messages(choice);
            let (choice, total) = (planned.choice, planned.totals.total());
            if total > self.limit {
                if let Some(best) = best {
                    return Ok(best);
                }
                // Texts that touch where thinking was are joined, which may cost more than the thinking did.
                budget = budget.saturating_sub(total - self.limit);
                continue;
            }
            let keeps = |choice: &Choice<'_>| choice.kept.head + (self.items.len() - choice.kept.tail);
            if let Some(best) = best.take_if(|best| keeps(best) >= keeps(&choice)) {
                return Ok(best);
            }
            let whole = self.costs().kept(choice.kept, choice.marker.is_some());
            let raised = self.limit.saturating_add(whole.saturating_sub(total));
            // A cut that moves in steps stays where it is.
            let is_fixed = self.settings.cut_quantum > 0 || !choice.shortened_at.is_empty();
            if raised <= budget || is_fixed {
                return Ok(choice);
            }
            (budget, best) = (raised, Some(choice));
        }
    }

    fn with_invalid_thinking(&self, mut choice: Choice<'a>) -> Choice<'a> {
        let Some(rule) = self.thinking.filter(|rule| *rule != PreservedThinking::DropBlock) else { return choice };
        let Some(first) = self.first_changed(&choice) else { return choice };
        let count = self.items.len();
        let mut invalid = InvalidThinking::default();
        for at in choice.kept_items(count).filter(|&at| at >= first) {
            if self.items.outline(at).is_none_or(|outline| outline.shape == Shape::Text) {
                continue;
            }
            let Some(item) = self.item(&choice, at).filter(|item| item.parts.iter().any(is_signed)) else { continue };
            invalid.items.push(at);
            if rule == PreservedThinking::Strip {
                invalid.without.insert(at, without_thinking(&item, &self.prices));
            }
        }
        let emptied = invalid.items.iter().filter(|&&at| invalid.is_emptied(at)).count();
        if emptied > 0 {
            invalid.places = Some(choice.kept_items(count).filter(|&at| !invalid.is_emptied(at)).collect());
            let removed = choice.kept.tail - choice.kept.head + emptied;
            choice.marker = choice.marker.take().and_then(|_| self.costs().marker(removed));
        }
        choice.thinking = invalid;
        choice
    }

    /// The first item of the first message that a cut changes.
    fn first_changed(&self, choice: &Choice<'a>) -> Option<usize> {
        let Kept { head, tail } = choice.kept;
        let is_gap = tail > head;
        let changed = if is_gap { tail } else { *choice.shortened_at.first()? };
        if is_gap && choice.marker.is_some() {
            return Some(changed);
        }
        // Items of one role are one message, on both sides of a gap without a marker too.
        let role = self.items.role(changed);
        let mut first = if is_gap { head } else { changed };
        while first > 0 && self.items.role(first - 1) == role {
            first -= 1;
        }
        Some(first)
    }
}
