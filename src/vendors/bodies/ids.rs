//! Ids and names within a provider's rules.

use std::borrow::Cow;

use serde_json::Value;

use super::sink::DiagnosticSink;
use super::target::Target;
use super::tool;
use crate::content::Block;
use crate::error::DiagnosticCode;
use crate::maps::SortedMap;
use crate::vendors::message::Message;

/// A provider's rule for ids of calls or names of tools.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IdRule {
    /// Maximal length in bytes.
    pub longest: usize,
    /// The characters allowed in addition to letters, digits, `_` and `-`; `None` if all are.
    pub others: Option<&'static str>,
    /// Whether the first character has to be a letter or `_`.
    pub letter_first: bool,
}

impl IdRule {
    pub(crate) const fn plain(longest: usize) -> Self {
        Self { longest, others: Some(""), letter_first: false }
    }

    pub(crate) const fn any(longest: usize) -> Self {
        Self { longest, others: None, letter_first: false }
    }

    fn takes_char(&self, ch: char) -> bool {
        ch.is_ascii_alphanumeric()
            || ch == '_'
            || ch == '-'
            || self.others.is_none_or(|others| others.chars().any(|other| other == ch))
    }

    fn takes_first(&self, id: &str) -> bool {
        !self.letter_first || id.starts_with(|ch: char| ch.is_ascii_alphabetic() || ch == '_')
    }

    fn takes(&self, id: &str) -> bool {
        !id.is_empty() && id.len() <= self.longest && self.takes_first(id) && id.chars().all(|ch| self.takes_char(ch))
    }

    /// The allowed part of an id, or `empty` if nothing is left.
    fn repair<'i>(&self, id: &'i str, empty: &'i str) -> Cow<'i, str> {
        if self.takes(id) {
            return Cow::Borrowed(id);
        }
        let mut clean = String::with_capacity(id.len().min(self.longest));
        clean.extend(id.chars().take(self.longest).map(|ch| if self.takes_char(ch) { ch } else { '_' }));
        if clean.is_empty() {
            clean.push_str(empty);
        }
        if !self.takes_first(&clean) {
            clean.insert(0, '_');
        }
        clean.truncate(clean.floor_char_boundary(self.longest));
        Cow::Owned(clean)
    }
}

/// Unique ids within a provider's rules.
#[derive(Debug)]
pub(crate) struct Ids {
    rule: IdRule,
    /// The replacement of an id without allowed characters.
    empty: &'static str,
    /// The last number appended to each id.
    used: SortedMap<String, usize>,
}

impl Ids {
    pub(crate) fn new(rule: IdRule, empty: &'static str) -> Self {
        Self { rule, empty, used: SortedMap::new() }
    }

    pub(crate) fn assign<'m>(&mut self, id: &'m str) -> Cow<'m, str> {
        let base = self.rule.repair(id, self.empty);
        let Some(&last) = self.used.get(base.as_ref()) else {
            self.used.insert(base.clone().into_owned(), 1);
            return base;
        };
        let mut number = last;
        loop {
            number += 1;
            let tail = format!("_{number}");
            let head_len = self.rule.longest.saturating_sub(tail.len());
            let head = base.get(..base.floor_char_boundary(head_len)).unwrap_or_default();
            let candidate = format!("{head}{tail}");
            if !self.used.contains_key(&candidate) {
                self.used.insert(base.into_owned(), number);
                self.used.insert(candidate.clone(), 1);
                return Cow::Owned(candidate);
            }
        }
    }
}

/// The changed names of tools.
#[derive(Debug, Default)]
pub(crate) struct ToolNames {
    changed: SortedMap<String, String>,
}

impl ToolNames {
    /// The names of the target's tools and of called tools.
    pub(crate) fn of(target: &Target, messages: &[Message<'_>], rule: IdRule, sink: &mut DiagnosticSink<'_>) -> Self {
        let mut names: Vec<(Option<usize>, &str)> = Vec::new();
        names.extend(target.tools.iter().flat_map(tool::names).map(|(_, name)| (None, name)));
        for (at, message) in messages.iter().enumerate() {
            for block in &message.content {
                if let Block::ToolCall { name, .. } = block {
                    names.push((Some(at), name));
                }
            }
        }
        let mut ids = Ids::new(rule, "tool");
        // A valid name is kept, regardless of what an earlier one would become; so are names of tools that the provider
        // runs.
        let given = target.tools.iter().filter_map(|tool| tool.get("name")?.as_str());
        for name in names.iter().map(|(_, name)| *name).chain(given) {
            if rule.takes(name) && !ids.used.contains_key(name) {
                ids.assign(name);
            }
        }
        let mut changed: SortedMap<String, String> = SortedMap::new();
        for (message, name) in names {
            if !rule.takes(name) && !changed.contains_key(name) {
                let new = ids.assign(name).into_owned();
                let text =
                    format!("the tool `{name}` was renamed to `{new}` in its definition, its choice and its calls");
                sink.warn(DiagnosticCode::BodyNameChanged, message, text);
                changed.insert(name.to_owned(), new);
            }
        }
        Self { changed }
    }

    /// The name of a tool in the body.
    pub(crate) fn get<'n>(&'n self, name: &'n str) -> &'n str {
        self.changed.get(name).map_or(name, String::as_str)
    }

    /// A definition or a choice, with the names of the body.
    pub(crate) fn renamed<'v>(&self, value: &'v Value) -> Cow<'v, Value> {
        let mut renamed = Cow::Borrowed(value);
        if !self.changed.is_empty() {
            for (place, name) in tool::names(value) {
                if let Some(new) = self.changed.get(name)
                    && let Some(old) = tool::at_mut(renamed.to_mut(), &place)
                {
                    *old = new.as_str().into();
                }
            }
        }
        renamed
    }
}
