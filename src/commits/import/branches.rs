//! The branches of a Claude Code file, or of a part of one.

use super::options::{Import, ImportedBranch};
use crate::commits::formats::claude::{Session, mark, other_leaves};
use crate::commits::record::SIDE_CHAIN_OF;
use crate::commits::transcript::ConversionReport;
use crate::maps::{SortedMap, SortedSet};
use crate::sorting;

/// A conversation within a Claude Code file.
pub(super) struct Branch {
    /// The entries that belong to this branch only, in order.
    pub entries: Vec<usize>,
    /// The entry of another branch at which it begins.
    pub fork: Option<usize>,
    /// The number of the commit that it continues, if that is in an earlier part.
    pub earlier: Option<usize>,
    pub side: bool,
}

/// The conversation, then the branches and side chains, each with the entries that no earlier one has.
pub(super) fn find_branches(session: &Session<'_>, tip: usize, notes: &mut ConversionReport) -> Vec<Branch> {
    let count = session.entries.len();
    let mut owners = Owners(vec![None; count]);
    let mut branches = Vec::new();
    let path = session.path(tip, true, notes);
    path.iter().for_each(|&index| owners.set(index, 0));
    let leaves = other_leaves(session, &path);
    let main_is_side = session.entries.get(tip).is_some_and(|entry| entry.side);
    let earlier = |root: Option<usize>| root.and_then(|root| session.entries.get(root)?.earlier);
    branches.push(Branch { earlier: earlier(path.first().copied()), entries: path, fork: None, side: main_is_side });
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); count];
    for (index, entry) in session.entries.iter().enumerate() {
        if let Some(children) = entry.parent.and_then(|parent| children.get_mut(parent)) {
            children.push(index);
        }
    }
    // The newest branches first, so that a branch of a branch begins at the one that continued.
    for &leaf in leaves.iter().rev() {
        if owners.of(leaf).is_some() {
            continue;
        }
        let number = branches.len();
        let mut entries = Vec::new();
        let mut at = Some(leaf);
        while let Some(index) = at.filter(|&index| owners.of(index).is_none()) {
            owners.set(index, number);
            entries.push(index);
            at = session.entries.get(index).and_then(|entry| entry.parent);
        }
        // A cycle ends in an entry of the branch itself, which is not a fork.
        let fork = at.filter(|&fork| owners.of(fork) != Some(number));
        let earlier = earlier(entries.last().copied().filter(|_| at.is_none()));
        // Parallel records of one answer and their results are siblings, not branches.
        let mut next = 0;
        while let Some(&index) = entries.get(next) {
            next = next.saturating_add(1);
            for &child in children.get(index).into_iter().flatten() {
                if session.belongs(index, child) && owners.of(child).is_none() {
                    owners.set(child, number);
                    entries.push(child);
                }
            }
        }
        sorting::sort(&mut entries);
        let side = session.entries.get(leaf).is_some_and(|entry| entry.side);
        branches.push(Branch { entries, fork, earlier, side });
    }
    // Branches are in the order of the file; each after the one at which it begins.
    assign_remaining(session, &mut owners, &mut branches);
    if let Some((_, others)) = branches.split_first_mut() {
        sorting::sort_by_key(others, |branch| branch.fork.or_else(|| branch.entries.first().copied()));
    }
    forks_after_origins(branches)
}

/// The number of each entry's branch.
struct Owners(Vec<Option<usize>>);

impl Owners {
    fn of(&self, entry: usize) -> Option<usize> {
        self.0.get(entry).copied().flatten()
    }

    fn set(&mut self, entry: usize, branch: usize) {
        if let Some(owner) = self.0.get_mut(entry) {
            *owner = Some(branch);
        }
    }
}

/// Adds the remaining entries to the branch of their parent, else to the conversation.
fn assign_remaining(session: &Session<'_>, owners: &mut Owners, branches: &mut [Branch]) {
    let mut added: Vec<bool> = vec![false; branches.len()];
    for (index, entry) in session.entries.iter().enumerate() {
        if owners.of(index).is_some() {
            continue;
        }
        let number = entry.parent.and_then(|parent| owners.of(parent)).unwrap_or(0);
        owners.set(index, number);
        if let Some(branch) = branches.get_mut(number) {
            branch.entries.push(index);
            mark(&mut added, number);
        }
    }
    for (branch, _) in branches.iter_mut().zip(added).filter(|(_, added)| *added) {
        sorting::sort(&mut branch.entries);
    }
}

/// Sorts branches so that each follows the one at which it begins.
fn forks_after_origins(branches: Vec<Branch>) -> Vec<Branch> {
    let mut of_entry: SortedMap<usize, usize> = SortedMap::new();
    for (number, branch) in branches.iter().enumerate() {
        for &index in &branch.entries {
            of_entry.insert(index, number);
        }
    }
    let parents: Vec<Option<usize>> =
        branches.iter().map(|branch| branch.fork.and_then(|fork| of_entry.get(&fork).copied())).collect();
    let mut placed = vec![false; branches.len()];
    let mut order = Vec::with_capacity(branches.len());
    for number in 0..branches.len() {
        let mut waiting = Vec::new();
        let mut at = Some(number);
        while let Some(number) = at.filter(|&number| mark(&mut placed, number)) {
            waiting.push(number);
            at = parents.get(number).copied().flatten();
        }
        order.extend(waiting.into_iter().rev());
    }
    let mut branches: Vec<Option<Branch>> = branches.into_iter().map(Some).collect();
    order.into_iter().filter_map(|number| branches.get_mut(number).and_then(Option::take)).collect()
}

/// The imported leaves other than that of the conversation; `sides` is whether each record belongs to a side chain,
/// `before` is the conversation's newest commit so far.
pub(super) fn imported(import: &Import<'_>, sides: &[bool], before: Option<&str>) -> Vec<ImportedBranch> {
    let places: SortedMap<&str, usize> =
        import.records.iter().enumerate().map(|(place, record)| (record.id.as_str(), place)).collect();
    let parents: SortedSet<&str> = import.records.iter().filter_map(|record| record.parent.as_deref()).collect();
    let mut passed = vec![false; import.records.len()];
    // The commit at which a chain leaves those visited; `None` if it begins separately.
    let mut leave = |tip: &str| -> Option<String> {
        let mut at = tip.to_owned();
        loop {
            let Some(&place) = places.get(at.as_str()).filter(|&&place| mark(&mut passed, place)) else {
                return Some(at);
            };
            let record = import.records.get(place)?;
            let Some(parent) = &record.parent else {
                let started = record.other.iter().find(|(name, _)| name == SIDE_CHAIN_OF);
                return started.and_then(|(_, id)| serde_json::from_str(id).ok());
            };
            at.clone_from(parent);
        }
    };
    let tip = import.tip.as_deref();
    let left = tip.and_then(&mut leave);
    let mut branches = Vec::new();
    // The newest first, so that a branch of a branch begins at the one that continued.
    for (record, &side_chain) in import.records.iter().zip(sides).rev() {
        if tip != Some(record.id.as_str()) && !parents.contains(record.id.as_str()) {
            branches.push(ImportedBranch { tip: record.id.clone(), from: leave(&record.id), side_chain });
        }
    }
    if let Some(before) = before.filter(|&before| tip != Some(before) && !parents.contains(before)) {
        branches.push(ImportedBranch { tip: before.to_owned(), from: left, side_chain: false });
    }
    branches.reverse();
    branches
}
