//! The content of a node: blocks, or one text that is still escaped as in the request.

use std::cell::OnceCell;
use std::ops::Deref;

use crate::content::Block;
use crate::json::unescape;

/// The content of a node: its blocks, as a slice. A single text may keep the escapes of its JSON until it is accessed:
/// a body that requires no counting copies it.
#[derive(Clone, Debug, Default)]
pub struct NodeContent<'t>(Form<'t>);

#[derive(Clone, Debug, Default)]
enum Form<'t> {
    #[default]
    Nothing,
    Blocks(Vec<Block<'t>>),
    Escaped(&'t str, OnceCell<Box<Block<'static>>>),
}

impl<'t> NodeContent<'t> {
    /// No content.
    pub(crate) const NOTHING: Self = Self(Form::Nothing);

    /// One text, escaped as in a body; not blank and without white space at its ends.
    pub(crate) fn of_escaped(text: &'t str) -> Self {
        Self(Form::Escaped(text, OnceCell::new()))
    }

    /// The escaped text, if it is one.
    pub(crate) fn escaped(&self) -> Option<&'t str> {
        if let Form::Escaped(text, _) = self.0 { Some(text) } else { None }
    }

    /// The blocks; empty for a text that is still escaped. For callers that look for anything but texts.
    pub(crate) fn read_blocks(&self) -> &[Block<'t>] {
        if self.escaped().is_some() { &[] } else { self }
    }

    /// Changes the text at the end. If the last block is not a text, an empty one is appended first.
    pub(crate) fn edit_last_text(&mut self, edit: impl FnOnce(&mut String)) {
        if !matches!(self.0, Form::Blocks(_)) {
            self.0 = Form::Blocks(self.as_slice().to_vec());
        }
        let Form::Blocks(blocks) = &mut self.0 else { return };
        if !matches!(blocks.last(), Some(Block::Text(_))) {
            blocks.push(Block::text(""));
        }
        if let Some(Block::Text(text)) = blocks.last_mut() {
            edit(text.to_mut());
        }
    }

    /// The blocks.
    pub fn as_slice(&self) -> &[Block<'t>] {
        match &self.0 {
            Form::Nothing => &[],
            Form::Blocks(blocks) => blocks,
            Form::Escaped(text, block) => {
                std::slice::from_ref(block.get_or_init(|| Box::new(Block::text(unescape(text)))))
            }
        }
    }
}

impl<'t> Deref for NodeContent<'t> {
    type Target = [Block<'t>];

    fn deref(&self) -> &[Block<'t>] {
        self.as_slice()
    }
}

impl PartialEq for NodeContent<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.as_slice() == other.as_slice()
    }
}

impl<'t> From<Vec<Block<'t>>> for NodeContent<'t> {
    fn from(blocks: Vec<Block<'t>>) -> Self {
        Self(Form::Blocks(blocks))
    }
}

impl<'c, 't> IntoIterator for &'c NodeContent<'t> {
    type Item = &'c Block<'t>;
    type IntoIter = std::slice::Iter<'c, Block<'t>>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}
