//! A dialogue that continues the last one: its treatment is applied again until a step is needed (docs/agents.md).

use crate::assembly::choice::Choice;
use crate::assembly::costs::{Sums, marker_text};
use crate::assembly::item::{Item, Kept};
use crate::assembly::item_series::{CountedMarker, ItemSeries};
use crate::assembly::item_treatment::ItemTreatment;
use crate::assembly::plan::{Compaction, Plan};
use crate::assembly::series::part_for_step;
use crate::assembly::settings::Strategy;
use crate::assembly::treated_items::TreatedItems;
use crate::assembly::treatments::first_difference;
use crate::error::Result;
use crate::maps::SortedMap;

/// How often a step lowers its target because joined texts cost more than separate ones.
const MAX_ATTEMPTS: usize = 16;

impl<'a> Plan<'_, 'a> {
    /// Repeats the choice of the last fit, or makes a step.
    pub(super) fn choose_in_series(&self, series: &ItemSeries) -> Result<Choice<'a>> {
        let repeated = self.with_change(self.repeated(series), series);
        let (mut repeated, total) = self.total_of(repeated);
        repeated.is_repeated = series.repeats;
        if total <= self.limit { Ok(repeated) } else { self.step(series) }
    }

    /// Whether the choice of the last fit is still within the limit.
    pub(crate) fn is_repeated_within_limit(&self) -> bool {
        let repeated = self.series.map(|series| self.with_change(self.repeated(series), series));
        repeated.is_none_or(|repeated| self.total_of(repeated).1 <= self.limit)
    }

    /// The choice of the last fit, or all items.
    fn repeated(&self, series: &ItemSeries) -> Choice<'a> {
        let last = if series.repeats { series.last.as_slice() } else { &[] };
        let removed = last.iter().filter(|(_, treatment)| treatment.is_removed()).map(|(at, _)| *at).collect();
        let mut shortened = SortedMap::new();
        for (at, treatment) in last.iter().filter(|(_, treatment)| !treatment.is_removed()) {
            let Some(mut item) = self.items.item(*at) else { continue };
            treatment.apply(&mut item, &self.prices);
            shortened.insert(*at, item);
        }
        let mut choice = self.composed(removed, shortened);
        let marker = series.last_marker.clone().filter(|_| series.repeats && choice.removed() > 0);
        self.set_marker(&mut choice, marker);
        choice
    }

    /// The choice without these items, without a marker.
    fn composed(&self, removed: Vec<usize>, shortened: SortedMap<usize, Item<'a>>) -> Choice<'a> {
        let count = self.items.len();
        let (head, tail) = match (removed.first(), removed.last()) {
            (Some(first), Some(last)) => (*first, last + 1),
            _ => (count, count),
        };
        let mut choice = Choice::new(Kept { head, tail }, None);
        let mut removed = removed.into_iter().peekable();
        choice.inside = (head..tail).filter(|at| removed.next_if_eq(at).is_none()).collect();
        choice.shortened = shortened;
        choice
    }

    /// Sets the marker and computes the places of the sent items.
    fn set_marker(&self, choice: &mut Choice<'a>, marker: Option<CountedMarker>) {
        (choice.marker_count, choice.marker) = marker.map(|marker| (marker.count, marker.text)).unzip();
        choice.place(self.items.len());
    }

    /// The choice without thinking that earlier changes or this choice made invalid.
    fn with_change(&self, mut choice: Choice<'a>, series: &ItemSeries) -> Choice<'a> {
        let treatments = self.treatments(&choice);
        let mut places = vec![first_difference(&series.last, &treatments), self.first_repaired];
        let last_marker = series.last_marker.as_ref().map(|marker| &marker.text);
        if last_marker != choice.marker.as_ref() || series.last_gap() != choice.gap() {
            places.extend([series.last_gap(), choice.gap()]);
        }
        places.push(self.compaction.filter(|compaction| compaction.breaks_prefix).map(|_| 0));
        choice.change = places.into_iter().flatten().min().filter(|change| *change < self.items.len());
        let from = choice.change.unwrap_or(usize::MAX);
        let is_invalid = |at: usize| at >= from || series.invalid.iter().any(|range| range.contains(&at));
        let is_new = |at: usize| !series.reported.iter().any(|range| range.contains(&at));
        self.without_invalid(choice, &is_invalid, &is_new)
    }

    /// The treatments of a choice, except removed thinking.
    pub(crate) fn treatments(&self, choice: &Choice<'a>) -> Vec<(usize, ItemTreatment)> {
        let Kept { head, tail } = choice.kept;
        let mut inside = choice.inside.iter().peekable();
        let removed = (head..tail).filter(|at| inside.next_if_eq(&at).is_none());
        let mut treatments: Vec<(usize, ItemTreatment)> = removed.map(|at| (at, ItemTreatment::Removed)).collect();
        let changed = choice
            .shortened
            .iter()
            .filter_map(|(&at, form)| Some((at, ItemTreatment::of_texts(&self.items.item(at)?, form)?)));
        treatments.extend(changed);
        crate::sorting::sort_by_key(&mut treatments, |(at, _)| *at);
        treatments
    }

    /// Cuts the result of the last fit down to the target of a step.
    fn step(&self, series: &ItemSeries) -> Result<Choice<'a>> {
        let repeated = self.without_changes(self.repeated(series), series);
        let treated = TreatedItems {
            items: self.items,
            places: repeated.kept_items(self.items.len()).collect(),
            forms: repeated.rewritten_items().filter_map(|at| Some((at, repeated.rewritten(at)?.clone()))).collect(),
        };
        let mut sums = Sums::default();
        sums.extend(&treated, &self.prices);
        let gap = (repeated.removed() > 0).then(|| treated.before(repeated.kept.head));
        let mut units: Vec<usize> = self.units.iter().map(|&start| treated.before(start)).collect();
        units.dedup();
        let compaction = self.compaction.map(|compaction| {
            let block = usize::from(self.items.is_block(0));
            let pinned = treated.before(block + compaction.pinned).saturating_sub(block);
            Compaction { pinned, ..compaction }
        });
        let removed = repeated.removed() + repeated.emptied();
        let plan = Plan {
            items: &treated,
            sums: &sums,
            units: &units,
            thinking: None,
            first_repaired: None,
            compaction,
            series: None,
            omitted: repeated.marker_count.unwrap_or(removed),
            most_head: gap.map_or(usize::MAX, |gap| units.partition_point(|&start| start < gap)),
            makes_step: true,
            ..*self
        };
        let mut budget = plan.step_limit(part_for_step(self.limit, series.cut_to));
        let mut attempts = 0;
        loop {
            let chosen = match plan.choose_over(budget) {
                Err(_) if budget < self.limit && attempts == 0 => plan.choose_over(self.limit),
                chosen => chosen,
            }?;
            let mut choice = self.with_counted_marker(self.after_step(&repeated, &treated, chosen));
            // The marker also counts items emptied of thinking, and is itself a change.
            for _ in 0..2 {
                choice = self.with_counted_marker(self.with_change(choice, series));
            }
            let (choice, total) = self.total_of(choice);
            attempts += 1;
            if total <= self.limit || attempts > MAX_ATTEMPTS {
                return Ok(choice);
            }
            budget = budget.saturating_sub(total - self.limit);
        }
    }

    /// The choice without thinking that was invalid before.
    fn without_changes(&self, choice: Choice<'a>, series: &ItemSeries) -> Choice<'a> {
        let is_invalid = |at: usize| series.invalid.iter().any(|range| range.contains(&at));
        self.without_invalid(choice, &is_invalid, &|_| false)
    }

    /// The combined choice of the last fit and a step over the items that it left.
    fn after_step(&self, before: &Choice<'a>, treated: &TreatedItems<'_, 'a>, step: Choice<'a>) -> Choice<'a> {
        let Kept { head, tail } = step.kept;
        let mut inside = step.inside.iter().peekable();
        let cut = (head..tail).filter(|at| inside.next_if_eq(&at).is_none());
        let cut: Vec<usize> = cut.filter_map(|place| treated.places.get(place).copied()).collect();
        let mut known = before.inside.iter().peekable();
        let mut removed: Vec<usize> =
            (before.kept.head..before.kept.tail).filter(|at| known.next_if_eq(&at).is_none()).collect();
        removed.extend(cut);
        crate::sorting::sort(&mut removed);
        let mut shortened = before.shortened.clone();
        for (place, item) in step.shortened {
            if let Some(&at) = treated.places.get(place) {
                shortened.insert(at, item);
            }
        }
        let shortened = shortened.into_iter().filter(|(at, _)| removed.binary_search(at).is_err()).collect();
        let mut choice = self.composed(removed, shortened);
        choice.is_last_resort = step.is_last_resort;
        choice
    }

    /// The choice with the marker for everything it removes, if its strategy has one.
    fn with_counted_marker(&self, mut choice: Choice<'a>) -> Choice<'a> {
        let removed = choice.removed() + choice.emptied();
        let is_marked = self.is_marked(&choice);
        let text = if is_marked { marker_text(&self.settings.truncation_marker, removed) } else { None };
        self.set_marker(&mut choice, text.map(|text| CountedMarker { count: removed, text }));
        choice
    }

    /// The limit of a step: its target, or the cost of the tail and the protected messages, to which only the full
    /// limit applies.
    fn step_limit(&self, target: u64) -> u64 {
        let costs = self.costs();
        let last = self.units.iter().rev().nth(1).copied().unwrap_or(0);
        let recent = match self.settings.truncation_strategy {
            Strategy::TruncateMiddle => costs.recent(self.settings.minimum_recent_nodes),
            _ => last,
        };
        let unit = self.units.partition_point(|&start| start <= recent).saturating_sub(1);
        let tail = self.units.get(unit).copied().unwrap_or(0).min(last);
        let protected = self.protected_units(costs.lead);
        let protected = protected.iter().filter(|unit| unit.range.end <= tail).map(|unit| unit.cost);
        let kept = protected.fold(costs.run_alone(tail, costs.len), u64::saturating_add);
        let fixed = costs.fixed.saturating_add(costs.blocks_alone()).saturating_add(costs.pinned_alone());
        target.max(fixed.saturating_add(kept)).min(self.limit)
    }
}
