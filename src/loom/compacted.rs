//! A dialogue over its limit, from its newest compaction on (docs/loom.md).

use crate::assembly::costs::{Costs, Sums};
use crate::assembly::plan::{Compaction, SystemText};
use crate::assembly::settings::{Settings, Strategy};
use crate::content::{Vendor, VendorBlock};
use crate::loom::dialogue_state::DialogueState;
use crate::loom::path_context::PathContext;

/// The items from the newest compaction on.
#[derive(Debug)]
pub(crate) struct Compacted {
    /// The number of members before its unit.
    pub skipped: usize,
    pub sums: Sums,
    /// The start of each unit among the items, and the end.
    pub units: Vec<usize>,
    pub compaction: Compaction,
}

impl Compacted {
    /// The items from the newest compaction on that the provider supports, if there is one and the whole conversation
    /// is over the limit.
    pub(crate) fn new(
        context: &PathContext<'_>,
        state: &DialogueState,
        settings: &Settings,
        system: &SystemText,
        limit: u64,
    ) -> Option<Self> {
        let (skipped, breaks_prefix) = Self::newest(context, state, settings)?;
        let fixed = system.fixed(&context.prices);
        let whole = state.items(context);
        if Costs::new(&whole, &state.sums, context.prices, &settings.truncation_marker, fixed).total() <= limit {
            return None;
        }
        Self::after(context, state, skipped, breaks_prefix)
    }

    /// The number of members replaced by the newest compaction that the provider supports, and whether later thinking
    /// is bound to them.
    pub(crate) fn newest(
        context: &PathContext<'_>,
        state: &DialogueState,
        settings: &Settings,
    ) -> Option<(usize, bool)> {
        if settings.truncation_strategy == Strategy::StopAtLimit {
            return None;
        }
        let reads = |block: &VendorBlock<'_>| {
            block.summary().is_some() || context.options.vendors.is_none_or(|vendors| vendors.contains(&block.vendor))
        };
        let (member, block) = state.conversation.newest_compaction(context, reads)?;
        let lead = state.context_headers.lead();
        let starts = state.units();
        let unit = starts.partition_point(|&start| start <= member + lead).checked_sub(1)?;
        let skipped = starts.get(unit)?.checked_sub(lead)?;
        Some((skipped, skipped > 0 && block.vendor == Vendor::Anthropic && !block.is_signed()))
    }

    /// The items after the first `skipped` members, up to the unit of a compaction.
    pub(crate) fn after(
        context: &PathContext<'_>,
        state: &DialogueState,
        skipped: usize,
        breaks_prefix: bool,
    ) -> Option<Self> {
        let lead = state.context_headers.lead();
        let starts = state.units();
        let unit = starts.partition_point(|&start| start <= skipped + lead).checked_sub(1)?;
        let mut units: Vec<usize> = (0..lead).collect();
        units.extend(starts.iter().skip(unit).map(|start| start.saturating_sub(skipped)));
        let mut sums = Sums::default();
        sums.extend(&state.items_from(context, skipped), &context.prices);
        // The last unit is shortened if it does not fit.
        let is_last = unit + 2 >= starts.len();
        let end = starts.get(unit + 1).map_or(lead, |end| end.saturating_sub(skipped));
        let pinned = if is_last { 0 } else { end.saturating_sub(lead) };
        Some(Self { skipped, sums, units, compaction: Compaction { pinned, breaks_prefix } })
    }
}
