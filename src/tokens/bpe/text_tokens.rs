//! Added tokens that every text may contain, such as the runs of white space of GPT-NeoX. They are found before the
//! pattern splits the text: first those of the original text, then, in the parts between them, those of its normal
//! form. Of all matches the leftmost wins, of matches at one place the longest.

use super::normalize::{self, Form};
use super::token_table::Rank;
use crate::text::is_whitespace;

/// An added token that every text may contain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextToken {
    /// Its text; if it is found in normalized texts, in the normal form.
    pub text: String,
    /// Its id.
    pub id: Rank,
    /// Whether it is found in the normal form of a text, not in the original.
    pub normalized: bool,
}

/// A part of a text: a token with its id, or the text between two tokens.
pub(crate) type TextPart<'t> = (&'t str, Option<Rank>);

/// Bytes of a character: normalization may replace the last one when the text continues.
const CHARACTER: usize = 4;

/// The added tokens of one vocabulary that every text may contain.
pub(super) struct TextTokens {
    pub(super) listed: Vec<TextToken>,
    original: Finder,
    normalized: Finder,
    /// No token extends over more bytes, and the character after it.
    pub(super) reach: usize,
    /// Whether a token has a line break before a character that is not white space.
    pub(super) crosses_lines: bool,
}

impl TextTokens {
    /// The given tokens, the first of those with the same text. `None` if there are none.
    pub(super) fn new(listed: Vec<TextToken>) -> Option<Self> {
        if listed.is_empty() {
            return None;
        }
        let (mut original, mut normalized) = (Finder::new(), Finder::new());
        let (mut longest, mut crosses_lines) = (0, false);
        for token in &listed {
            let finder = if token.normalized { &mut normalized } else { &mut original };
            finder.add(token.text.as_bytes(), token.id);
            longest = longest.max(token.text.len());
            let after = token.text.chars().skip(1);
            crosses_lines |= token.text.chars().zip(after).any(|(c, next)| c == '\n' && !is_whitespace(next));
        }
        Some(Self { listed, original, normalized, reach: longest + CHARACTER, crosses_lines })
    }

    /// Whether a token begins at or after byte `from` of a text that is its own normal form.
    pub(super) fn is_in(&self, text: &str, from: usize) -> bool {
        let is_in = |finder: &Finder| finder.find(text.as_bytes(), from).is_some();
        is_in(&self.original) || is_in(&self.normalized)
    }

    /// The tokens of the original text, and the text between them.
    pub(super) fn original_parts<'f, 't>(&'f self, text: &'t str) -> Parts<'f, 't> {
        self.original.parts(text)
    }

    /// Calls `each` for the tokens of the original text and the texts between them.
    pub(super) fn each_original_part<'t>(&self, text: &'t str, each: &mut dyn FnMut(&'t str, Option<Rank>)) {
        self.original.parts(text).for_each(|(part, token)| each(part, token));
    }

    /// The tokens of a part of the normalized text, and the text between them.
    pub(super) fn normalized_parts<'f, 't>(&'f self, normal: &'t str) -> Parts<'f, 't> {
        self.normalized.parts(normal)
    }

    /// Calls `each` for the tokens of a text and the normalized texts between them, until it returns `false`.
    pub(super) fn each_part(&self, text: &str, form: Option<Form>, mut each: impl FnMut(TextPart<'_>) -> bool) {
        for (part, token) in self.original_parts(text) {
            let continues = match token {
                Some(_) => each((part, token)),
                None => self.normalized_parts(&normalize::normalized(part, form)).all(&mut each),
            };
            if !continues {
                return;
            }
        }
    }
}

/// Finds texts in other texts: a tree of their bytes.
struct Finder {
    /// Whether a text begins with this byte.
    first: [bool; 256],
    /// The root first.
    nodes: Vec<Node>,
}

#[derive(Default)]
struct Node {
    children: Vec<(u8, u32)>,
    token: Option<Rank>,
}

/// A token in a text.
struct Match {
    start: usize,
    end: usize,
    token: Rank,
}

impl Finder {
    fn new() -> Self {
        Self { first: [false; 256], nodes: vec![Node::default()] }
    }

    fn add(&mut self, text: &[u8], token: Rank) {
        if let Some(&byte) = text.first() {
            self.first[usize::from(byte)] = true;
        }
        let mut node = 0;
        for &byte in text {
            node = match self.child(node, byte) {
                Some(child) => child,
                None => {
                    let child = self.nodes.len();
                    self.nodes[node].children.push((byte, child as u32));
                    self.nodes.push(Node::default());
                    child
                }
            };
        }
        self.nodes[node].token.get_or_insert(token);
    }

    fn child(&self, node: usize, byte: u8) -> Option<usize> {
        self.nodes[node].children.iter().find(|(known, _)| *known == byte).map(|(_, child)| *child as usize)
    }

    /// The first token at or after `from`.
    fn find(&self, bytes: &[u8], from: usize) -> Option<Match> {
        let mut start = from;
        loop {
            start += bytes.get(start..)?.iter().position(|&byte| self.first[usize::from(byte)])?;
            if let Some((end, token)) = self.longest(bytes, start) {
                return Some(Match { start, end, token });
            }
            start += 1;
        }
    }

    /// The longest token that begins at `start`, and its end.
    fn longest(&self, bytes: &[u8], start: usize) -> Option<(usize, Rank)> {
        let (mut node, mut longest) = (0, None);
        for (at, &byte) in bytes.iter().enumerate().skip(start) {
            let Some(child) = self.child(node, byte) else { break };
            node = child;
            longest = self.nodes[node].token.map(|token| (at + 1, token)).or(longest);
        }
        longest
    }

    fn parts<'f, 't>(&'f self, text: &'t str) -> Parts<'f, 't> {
        Parts { finder: self, text, at: 0, next: None }
    }
}

/// The parts of a text, none of them empty.
pub(super) struct Parts<'f, 't> {
    finder: &'f Finder,
    text: &'t str,
    at: usize,
    next: Option<Match>,
}

impl<'t> Iterator for Parts<'_, 't> {
    type Item = TextPart<'t>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.at >= self.text.len() {
            return None;
        }
        let found = self.next.take().or_else(|| self.finder.find(self.text.as_bytes(), self.at));
        let (end, token) = match found {
            None => (self.text.len(), None),
            Some(found) if found.start == self.at => (found.end, Some(found.token)),
            Some(found) => {
                let start = found.start;
                self.next = Some(found);
                (start, None)
            }
        };
        let part = self.text.get(self.at..end).unwrap_or_default();
        self.at = end;
        Some((part, token))
    }
}
