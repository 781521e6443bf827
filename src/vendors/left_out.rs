//! Fields and content of messages that a result has no place for. Every reader and every writer reports them here, in
//! the same words.

use std::borrow::Cow;

use crate::content::times;
use crate::error::{DiagnosticCode, Severity};

/// Maximal bytes of a name in a diagnostic.
const MAX_NAME_BYTES: usize = 60;

/// Something that a result has no place for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum LeftOut<'n> {
    /// A field of a message, a part, a call or a result, by its name.
    Field(&'n str),
    /// A part, a block, an item, a step or an event, by its type; empty if it has none.
    Type(&'n str),
    /// A message, by its role; empty if it has none.
    Role(&'n str),
    /// Known content, by its description, which states what replaces it.
    Described(&'static str),
}

/// Collects what a writer has no place for.
pub(crate) type Lost<'n> = &'n mut dyn FnMut(LeftOut<'_>);

impl LeftOut<'_> {
    /// The code of its diagnostic.
    pub(crate) fn code(self) -> DiagnosticCode {
        match self {
            Self::Field(_) => DiagnosticCode::FieldLeftOut,
            Self::Type(_) | Self::Role(_) => DiagnosticCode::ContentLeftOut,
            Self::Described(_) => DiagnosticCode::NotExpressible,
        }
    }

    /// The severity of its diagnostic: a field is seldom content.
    pub(crate) fn severity(self) -> Severity {
        if matches!(self, Self::Field(_)) { Severity::Info } else { Severity::Warning }
    }

    /// What it is, as diagnostics begin.
    pub(crate) fn name(self) -> Cow<'static, str> {
        let (what, name) = match self {
            Self::Described(what) => return Cow::Borrowed(what),
            Self::Type("") => return Cow::Borrowed("content without a type"),
            Self::Role("") => return Cow::Borrowed("a message without a role"),
            Self::Field(name) => ("the field", name),
            Self::Type(name) => ("content of type", name),
            Self::Role(name) => ("a message with the role", name),
        };
        let shown = name.get(..name.floor_char_boundary(MAX_NAME_BYTES)).unwrap_or_default();
        Cow::Owned([what, " `", shown, "`"].concat())
    }

    /// The message of a diagnostic about this alone; `otherwise` ends that of described content.
    pub(crate) fn message(self, otherwise: &str) -> String {
        match self {
            Self::Described(what) => [what, otherwise].concat(),
            _ => message(self.code(), &times(&self.name(), 1), otherwise),
        }
    }
}

/// The message of a diagnostic with this code, about things with their count; `otherwise` ends that of other codes.
pub(crate) fn message(code: DiagnosticCode, counted: &str, otherwise: &str) -> String {
    let is_left_out = matches!(code, DiagnosticCode::FieldLeftOut | DiagnosticCode::ContentLeftOut);
    let ending = if is_left_out { ": left out, since the result has no place for it" } else { otherwise };
    [counted, ending].concat()
}
