//! How the items of a plan continue those of the last one.

use std::ops::Range;

use crate::assembly::item_treatment::ItemTreatment;

/// A marker, and for how many items it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CountedMarker {
    pub count: usize,
    pub text: String,
}

/// The series of dialogues that a plan is one of.
#[derive(Debug, Default)]
pub(crate) struct ItemSeries {
    /// What the last fit did to the items that are the same.
    pub last: Vec<(usize, ItemTreatment)>,
    pub last_marker: Option<CountedMarker>,
    /// Whether that is done again.
    pub repeats: bool,
    /// Items whose bound thinking is invalid by earlier changes.
    pub invalid: Vec<Range<usize>>,
    /// Those of them whose thinking was removed before.
    pub reported: Vec<Range<usize>>,
    /// The part of the limit that a step leaves used.
    pub cut_to: Option<f64>,
}

impl ItemSeries {
    /// Where the last marker stands: before the first item that was removed.
    pub(super) fn last_gap(&self) -> Option<usize> {
        self.last_marker.as_ref()?;
        self.last.iter().find(|(_, treatment)| treatment.is_removed()).map(|(at, _)| *at)
    }
}
