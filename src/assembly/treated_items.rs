//! The items that a fit left, in the form in which it left them.

use std::borrow::Cow;
use std::ops::Range;

use crate::assembly::costs::break_after;
use crate::assembly::item::{CutItems, Item, Items, Outline, Shape};
use crate::assembly::message_index::{ItemKey, MessageIndex, MessageKind};
use crate::content::{Block, Role};
use crate::maps::SortedMap;
use crate::prompt::Prices;

/// A subset of a conversation's items, some of them rewritten.
#[derive(Debug)]
pub(crate) struct TreatedItems<'t, 'a> {
    pub items: &'t dyn Items<'a>,
    /// The remaining items.
    pub places: Vec<usize>,
    /// The rewritten ones.
    pub forms: SortedMap<usize, Item<'a>>,
}

impl<'a> TreatedItems<'_, 'a> {
    /// The number of remaining items before an item.
    pub(crate) fn before(&self, item: usize) -> usize {
        self.places.partition_point(|&place| place < item)
    }

    fn at(&self, at: usize) -> usize {
        self.places.get(at).copied().unwrap_or(usize::MAX)
    }

    fn form(&self, at: usize) -> Option<&Item<'a>> {
        self.forms.get(&self.at(at))
    }
}

impl CutItems for TreatedItems<'_, '_> {
    fn len(&self) -> usize {
        self.places.len()
    }

    fn outline(&self, at: usize) -> Option<Outline> {
        match self.form(at) {
            Some(form) => Some(Outline { alone: form.alone, merged_by: Some((form.role, Shape::of(&form.parts))) }),
            None => self.items.outline(self.at(at)),
        }
    }

    fn may_begin(&self, at: usize) -> bool {
        self.items.may_begin(self.at(at))
    }

    fn is_block(&self, at: usize) -> bool {
        self.items.is_block(self.at(at))
    }

    fn first_text(&self, at: usize) -> Option<Cow<'_, str>> {
        match self.form(at) {
            Some(form) => form.parts.first().and_then(Block::as_text).map(Cow::Borrowed),
            None => self.items.first_text(self.at(at)),
        }
    }

    fn last_text(&self, at: usize) -> Option<Cow<'_, str>> {
        match self.form(at) {
            Some(form) => form.parts.last().and_then(Block::as_text).map(Cow::Borrowed),
            None => self.items.last_text(self.at(at)),
        }
    }

    fn break_after(&self, at: usize, prices: &Prices<'_>) -> i64 {
        match self.form(at) {
            Some(_) => self.last_text(at).map_or(0, |text| break_after(&text, prices)),
            None => self.items.break_after(self.at(at), prices),
        }
    }
}

impl<'a> Items<'a> for TreatedItems<'_, 'a> {
    fn role(&self, at: usize) -> Option<Role> {
        self.items.role(self.at(at))
    }

    fn id(&self, at: usize) -> Option<&'a str> {
        self.items.id(self.at(at))
    }

    fn text(&self, at: usize, takes_escaped: bool) -> Option<(&str, &str, bool)> {
        self.items.text(self.at(at), takes_escaped).filter(|_| self.form(at).is_none())
    }

    fn borrowed_text(&self, at: usize) -> Option<&'a str> {
        self.items.borrowed_text(self.at(at)).filter(|_| self.form(at).is_none())
    }

    fn utf16_len(&self, at: usize) -> usize {
        self.items.utf16_len(self.at(at))
    }

    fn item(&self, at: usize) -> Option<Item<'a>> {
        self.form(at).cloned().or_else(|| self.items.item(self.at(at)))
    }

    fn is_user_text(&self, at: usize) -> bool {
        self.items.is_user_text(self.at(at))
    }

    fn add_to(&self, index: &mut MessageIndex, range: Range<usize>) {
        for place in range {
            let at = self.at(place);
            match self.form(place) {
                Some(form) => index.add(form.role, MessageKind::Parts, Some(ItemKey::BLOCK), 0),
                None => self.items.add_to(index, at..at.saturating_add(1)),
            }
        }
    }
}
