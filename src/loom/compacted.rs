//! A dialogue that is over its limit, from its newest compaction on (SPEC §8 "Compaction").

use crate::assembly::costs::{Costs, Sums};
use crate::assembly::plan::{Compaction, SystemText};
use crate::assembly::settings::{Settings, Strategy};
use crate::content::{Vendor, VendorBlock};
use crate::loom::dialogue_state::DialogueState;
use crate::loom::path_context::PathContext;

/// The items from the newest compaction on.
#[derive(Debug)]
pub(crate) struct Compacted {
    /// How many members come before its unit.
    pub skipped: usize,
    pub sums: Sums,
    /// Where each unit begins among the items, and the end.
    pub units: Vec<usize>,
    pub compaction: Compaction,
}

impl Compacted {
    /// The items from the newest compaction on that the provider reads, if there is one and the whole conversation is over the limit.
    pub(crate) fn new(
        context: &PathContext<'_>,
        state: &DialogueState,
        settings: &Settings,
        system: &SystemText,
        limit: u64,
    ) -> Option<Self> {
        if settings.truncation_strategy == Strategy::StopAtLimit {
            return None;
        }
        let reads = |block: &VendorBlock<'_>| {
            block.summary().is_some() || context.options.vendors.is_none_or(|vendors| vendors.contains(&block.vendor))
        };
        let (member, block) = state.conversation.newest_compaction(context, reads)?;
        let fixed = system.fixed(&context.prices);
        let whole = state.items(context);
        if Costs::new(&whole, &state.sums, context.prices, &settings.truncation_marker, fixed).total() <= limit {
            return None;
        }
        let lead = state.context_headers.lead();
        let starts = state.units();
        let unit = starts.partition_point(|&start| start <= member + lead).checked_sub(1)?;
        let skipped = starts.get(unit)?.checked_sub(lead)?;
        let mut units: Vec<usize> = (0..lead).collect();
        units.extend(starts.iter().skip(unit).map(|start| start - skipped));
        let mut sums = Sums::default();
        sums.extend(&state.items_from(context, skipped), &context.prices);
        // The last unit is shortened, if it does not fit.
        let is_last = unit + 2 >= starts.len();
        let end = starts.get(unit + 1).map_or(lead, |end| end - skipped);
        let compaction = Compaction {
            pinned: if is_last { 0 } else { end - lead },
            breaks_prefix: skipped > 0 && block.vendor == Vendor::Anthropic && !block.is_signed(),
        };
        Some(Self { skipped, sums, units, compaction })
    }
}
