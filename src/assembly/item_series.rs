//! How the items of a plan relate to those of the last one.

use std::ops::Range;

use crate::assembly::item_treatment::ItemTreatment;

/// A marker, and the number of items that it counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CountedMarker {
    pub count: usize,
    pub text: String,
}

/// The place of a plan in a series of dialogues.
#[derive(Debug, Default)]
pub(crate) struct ItemSeries {
    /// The treatments of the last fit for the items that are unchanged.
    pub last: Vec<(usize, ItemTreatment)>,
    pub last_marker: Option<CountedMarker>,
    /// Whether these treatments are applied again.
    pub repeats: bool,
    /// Items whose bound thinking earlier changes made invalid.
    pub invalid: Vec<Range<usize>>,
    /// Those whose thinking was already removed before.
    pub reported: Vec<Range<usize>>,
    /// The fraction of the limit that a step cuts to.
    pub cut_to: Option<f64>,
}

impl ItemSeries {
    /// The place of the last marker: before the first removed item.
    pub(super) fn last_gap(&self) -> Option<usize> {
        self.last_marker.as_ref()?;
        self.last.iter().find(|(_, treatment)| treatment.is_removed()).map(|(at, _)| *at)
    }
}
