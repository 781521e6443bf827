//! What may be cut of a chat, as the strategies see it.

use std::borrow::Cow;
use std::ops::Range;

use super::pairs::Atom;
use crate::assembly::item::{Item, Items, Outline, Shape};
use crate::assembly::message_index::MessageIndex;
use crate::prompt::{Prices, Role};

/// The atoms that may be cut.
#[derive(Debug)]
pub(super) struct Free {
    pub atoms: Vec<Atom>,
    pub costs: Vec<u64>,
    /// Where each unit begins; a last element closes the last unit.
    pub starts: Vec<usize>,
    /// Whether a window may begin there.
    pub begins: Vec<bool>,
}

/// As items they are never merged, and only `startOn` asks for a role: that of a user is where a window may begin.
impl<'a> Items<'a> for Free {
    fn len(&self) -> usize {
        self.atoms.len()
    }

    fn outline(&self, at: usize) -> Option<Outline> {
        let shape = Shape::Parts { single: false, begins_with_text: false, ends_with_text: false };
        Some(Outline { role: self.role(at)?, alone: *self.costs.get(at)?, shape })
    }

    fn role(&self, at: usize) -> Option<Role> {
        self.begins.get(at).map(|&begins| if begins { Role::User } else { Role::Assistant })
    }

    fn is_block(&self, _: usize) -> bool {
        false
    }

    fn id(&self, _: usize) -> Option<&'a str> {
        None
    }

    fn text(&self, _: usize, _: bool) -> Option<(&str, &str, bool)> {
        None
    }

    fn borrowed_text(&self, _: usize) -> Option<&'a str> {
        None
    }

    fn utf16_len(&self, _: usize) -> usize {
        0
    }

    fn first_text(&self, _: usize) -> Option<Cow<'_, str>> {
        None
    }

    fn last_text(&self, _: usize) -> Option<Cow<'_, str>> {
        None
    }

    fn break_after(&self, _: usize, _: &Prices<'_>) -> i64 {
        0
    }

    fn item(&self, _: usize) -> Option<Item<'a>> {
        None
    }

    fn add_to(&self, _: &mut MessageIndex, _: Range<usize>) {}
}
