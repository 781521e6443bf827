//! The additions to the nodes of a conversation: a block before and one after all of them, and a header on each.

use crate::assembly::render::JOIN;
use crate::loom::tree::NodeIx;
use crate::prompt::Prices;

#[derive(Debug, Default)]
pub(crate) struct ContextHeaders {
    /// The block before all nodes, and its tokens.
    pub before: Option<(String, u64)>,
    /// The block after all nodes.
    pub after: Option<(String, u64)>,
    /// The header of each member; empty without headers.
    headers: Vec<MemberHeader>,
    /// The last header of the node at each slot.
    lines: Vec<HeaderLine>,
    last_revision: u32,
}

/// A header line with the break after it.
#[derive(Clone, Debug, Default)]
pub(crate) struct HeaderLine {
    pub text: String,
    pub tokens: u64,
    /// Tokens of the line without the break.
    pub line_tokens: u64,
    /// Equal for equal lines of one slot; 0 for no line.
    revision: u32,
}

/// The place of a member's header.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlacedHeader {
    /// The part that it begins or consists of.
    pub part: usize,
    pub before_text: bool,
    /// Tokens of the member with its header, as a separate message.
    pub alone: u64,
}

#[derive(Clone, Copy, Debug)]
struct MemberHeader {
    revision: u32,
    /// `None` if the member cannot have a header.
    placed: Option<PlacedHeader>,
}

impl ContextHeaders {
    /// An empty set with revisions that differ from those of this one.
    pub(crate) fn renewed(&self) -> Self {
        Self { last_revision: self.last_revision, ..Self::default() }
    }

    /// Blocks before the nodes: 0 or 1.
    pub(crate) fn lead(&self) -> usize {
        usize::from(self.before.is_some())
    }

    pub(crate) fn header(&self, node: NodeIx, number: usize) -> Option<(PlacedHeader, &str)> {
        Some((self.headers.get(number)?.placed?, self.lines.get(node as usize)?.text.as_str()))
    }

    /// The revision of a member's header; 0 without one.
    pub(crate) fn revision(&self, number: usize) -> u32 {
        self.headers.get(number).map_or(0, |header| header.revision)
    }

    pub(crate) fn line_tokens(&self, node: NodeIx, number: usize) -> u64 {
        let line = self.headers.get(number).and_then(|header| header.placed).and(self.lines.get(node as usize));
        line.map_or(0, |line| line.line_tokens)
    }

    pub(crate) fn truncate(&mut self, len: usize) {
        self.headers.truncate(len);
    }

    pub(crate) fn has_headers(&self) -> bool {
        !self.headers.is_empty()
    }

    /// Sets the header of a member, after those before it. Returns whether it is unchanged.
    pub(crate) fn set_header(
        &mut self,
        number: usize,
        node: NodeIx,
        line: Option<&str>,
        prices: &Prices<'_>,
        place: impl FnOnce(&HeaderLine) -> Option<PlacedHeader>,
    ) -> bool {
        let known = self.headers.get(number).map_or(0, |header| header.revision);
        let Self { headers, lines, last_revision, .. } = self;
        let line = line.and_then(|line| set_line(lines, last_revision, node, line, prices));
        let revision = line.map_or(0, |line| line.revision);
        if known == revision && number < headers.len() {
            return true;
        }
        let header = MemberHeader { revision, placed: line.and_then(place) };
        match headers.get_mut(number) {
            Some(known) => *known = header,
            None => headers.push(header),
        }
        known == revision
    }
}

fn set_line<'l>(
    lines: &'l mut Vec<HeaderLine>,
    last_revision: &mut u32,
    node: NodeIx,
    line: &str,
    prices: &Prices<'_>,
) -> Option<&'l HeaderLine> {
    let at = node as usize;
    if lines.len() <= at {
        lines.resize_with(at + 1, HeaderLine::default);
    }
    let last = lines.get_mut(at)?;
    if last.revision == 0 || last.text.strip_suffix(JOIN) != Some(line) {
        *last_revision = last_revision.wrapping_add(1).max(1);
        let text = [line, JOIN].concat();
        let (tokens, line_tokens) = (prices.text(&text), prices.text(line));
        *last = HeaderLine { text, tokens, line_tokens, revision: *last_revision };
    }
    Some(last)
}
