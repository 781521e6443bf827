//! Patches of diff-match-patch, applied only where they match exactly.

use crate::json::Value;
use crate::loom_import::verbatim::Lenient;

/// A change of a text of UTF-16 code units: the removed units at a place, and the number of units there now.
#[derive(Debug)]
pub(super) struct Change {
    at: usize,
    removed: Vec<u16>,
    added: usize,
}

/// One step of a patch.
struct Step {
    sign: i8,
    units: Vec<u16>,
}

/// Applies patches in order, and returns the changes. If one does not match, the text is unchanged and the result is
/// `None`.
pub(super) fn apply(text: &mut Vec<u16>, patches: Value<'_>) -> Option<Vec<Change>> {
    let mut changes = Vec::new();
    for patch in patches.as_list()? {
        if apply_one(text, patch, &mut changes).is_none() {
            undo(text, changes);
            return None;
        }
    }
    Some(changes)
}

/// The parts that a patch keeps, removes and inserts are consecutive, so they form one change.
fn apply_one(text: &mut Vec<u16>, patch: Value<'_>, changes: &mut Vec<Change>) -> Option<()> {
    let patch = patch.as_object()?;
    let start = patch.field("start2").and_then(Value::as_number).filter(|start| *start >= 0.0)? as usize;
    let mut end = start;
    let mut new: Vec<u16> = Vec::new();
    for diff in patch.field("diffs")?.as_list()? {
        let Step { sign, units } = step(diff)?;
        if sign <= 0 {
            let after = end.checked_add(units.len())?;
            if text.get(end..after)? != units.as_slice() {
                return None;
            }
            end = after;
        }
        if sign >= 0 {
            new.extend(units);
        }
    }
    let old = text.get(start..end)?;
    let head = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let rest = (old.len() - head).min(new.len() - head);
    let tail = old.iter().rev().zip(new.iter().rev()).take(rest).take_while(|(old, new)| old == new).count();
    let (at, end) = (start + head, end - tail);
    new.truncate(new.len() - tail);
    new.drain(..head);
    let added = new.len();
    if at < end || added > 0 {
        let removed = text.splice(at..end, new).collect();
        changes.push(Change { at, removed, added });
    }
    Some(())
}

/// A step is `[sign, text]`, or an object that JavaScript made of that.
fn step(diff: Value<'_>) -> Option<Step> {
    let (sign, text) = match (diff.as_list(), diff.as_object()) {
        (Some(mut items), _) => (items.next()?, items.next()?),
        (_, Some(fields)) => (fields.field("0")?, fields.field("1")?),
        _ => return None,
    };
    let sign = match sign.raw() {
        "-1" => -1,
        "0" => 0,
        "1" => 1,
        _ => return None,
    };
    Some(Step { sign, units: text.as_utf16()? })
}

/// Undoes changes.
pub(super) fn undo(text: &mut Vec<u16>, changes: Vec<Change>) {
    for Change { at, removed, added } in changes.into_iter().rev() {
        let end = at.saturating_add(added).min(text.len());
        text.splice(at.min(end)..end, removed);
    }
}

/// The number of units moved by changes of a text that now has this length.
pub(super) fn moved(changes: &[Change], length: usize) -> usize {
    changes.iter().map(|change| length.saturating_sub(change.at)).fold(0, usize::saturating_add)
}

/// The first unit that changes can affect.
pub(super) fn first(changes: &[Change]) -> Option<usize> {
    changes.iter().map(|change| change.at).min()
}
