//! The length of messages as JSON, with bytes as base64 (docs/chats.md, `maxBytes`).

use crate::json::{self, Value};
use crate::sorting;
use crate::vendors::pieces::message::{Change, Message, Path, Step};

/// The length of a message, and of every value in it that a fit may replace or remove.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct MessageSize {
    /// Bytes of the whole message.
    pub whole: u64,
    /// The values by path, in order.
    values: Vec<(Path, ValueSize)>,
}

/// The length of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ValueSize {
    bytes: u64,
    /// The number of items of a list.
    items: usize,
}

impl MessageSize {
    /// Measures a message that was read from this value.
    pub(super) fn of(message: &Message<'_>, value: Value<'_>) -> Self {
        let mut paths: Vec<Path> = vec![vec![Step::Key("id")]];
        for piece in &message.pieces {
            paths.extend(piece.places.iter().cloned());
            paths.extend(piece.places.iter().filter_map(|place| place.split_last()).map(|(_, list)| list.to_vec()));
            paths.extend(piece.texts.iter().map(|text| text.path.clone()));
            paths.extend(piece.images.iter().map(|image| image.path.clone()));
            paths.extend(piece.body.iter().map(|(path, _)| path.clone()));
            paths.extend(piece.input.iter().map(|input| input.path.clone()));
            paths.extend(piece.rest.clone());
        }
        sorting::sort(&mut paths);
        paths.dedup();
        let size = |path: Path| {
            let value = value_at(value, &path)?;
            let items = value.as_list().map_or(0, Iterator::count);
            Some((path, ValueSize { bytes: value.written_bytes(), items }))
        };
        Self { whole: value.written_bytes(), values: paths.into_iter().filter_map(size).collect() }
    }

    /// Bytes of the message with these changes.
    pub(super) fn with(&self, changes: &[Change]) -> u64 {
        let (mut gone, mut added) = (0, 0_u64);
        let mut removed: Vec<&[Step]> = Vec::new();
        for change in changes {
            match change {
                Change::Set(path, value) => {
                    added = added.saturating_add(json::text(value).len() as u64);
                    match self.find(path) {
                        Some(size) => gone += size.bytes,
                        // A new field.
                        None => added += path.last().map_or(0, |last| field_bytes(*last) + COMMA),
                    }
                }
                Change::Remove([path]) => {
                    let Some(size) = self.find(path) else { continue };
                    gone += size.bytes + path.last().map_or(0, |last| field_bytes(*last)) + COMMA;
                    removed.push(path);
                }
            }
        }
        // A list that becomes empty loses no comma.
        sorting::sort(&mut removed);
        let list_of = |path: &[Step]| match path.split_last() {
            Some((Step::At(_), list)) => self.find(list).map(|size| size.items),
            _ => None,
        };
        let parent = |path: &[Step]| path.split_last().map(|(_, list)| list.to_vec());
        let emptied = removed
            .chunk_by(|one, other| parent(one) == parent(other))
            .filter(|removed| removed.first().and_then(|first| list_of(first)) == Some(removed.len()));
        added += COMMA * emptied.count() as u64;
        self.whole.saturating_add(added).saturating_sub(gone)
    }

    fn find(&self, path: &[Step]) -> Option<ValueSize> {
        let at = self.values.binary_search_by(|(known, _)| known.as_slice().cmp(path)).ok()?;
        self.values.get(at).map(|(_, size)| *size)
    }
}

const COMMA: u64 = 1;

/// Bytes of a key with its quotes and the colon; 0 for an item of a list.
fn field_bytes(step: Step) -> u64 {
    match step {
        Step::Key(key) => key.len() as u64 + 3,
        Step::At(_) => 0,
    }
}

fn value_at<'t>(value: Value<'t>, path: &[Step]) -> Option<Value<'t>> {
    path.iter().try_fold(value, |value, step| match *step {
        Step::Key(key) => value.as_object()?.last(key),
        Step::At(at) => value.as_list()?.nth(at),
    })
}
