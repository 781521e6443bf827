//! Validation of a `<context_management>` block (docs/operators.md).

use crate::error::{Diagnostic, DiagnosticCode, Severity};
use crate::limits::Limits;

use super::kind::{Kind, OperatorRole};
use super::settings::{Accumulation, ContextManagement, Format, Fresh, Inherit, Origin, Origins};
use super::xml::{TextPosition, is_white, shown};

/// How strictly a template is read.
#[derive(Clone, Copy, Debug, Default)]
pub struct ParseOptions {
    /// Whether a missing required field is an error instead of a warning.
    pub strict: bool,
    /// Whether a task that inherits cannot also have fresh context.
    pub exclusive: bool,
    /// Limits on the template.
    pub limits: Limits,
}

/// The settings, by the names of their elements, in a fixed order.
pub(super) const FIELDS: [&str; 4] = ["inherit_context", "accumulate_data", "accumulation_format", "fresh_context"];

/// Takes the value of this name.
fn pick<T: Copy>(names: &[(&'static str, T)], name: &str, value: &mut Option<T>) -> Result<(), Vec<&'static str>> {
    match names.iter().find(|(known, _)| *known == name) {
        Some(&(_, known)) => {
            *value = Some(known);
            Ok(())
        }
        None => Err(names.iter().map(|&(name, _)| name).collect()),
    }
}

#[derive(Debug, Default)]
pub(super) struct Block {
    pub(super) given: ContextManagement,
    /// The start of each setting's element, in the order of [`FIELDS`].
    pub(super) places: [Option<TextPosition>; 4],
    /// The start of the block.
    pub(super) place: Option<TextPosition>,
    /// Which settings have an invalid value, in the order of [`FIELDS`].
    pub(super) invalid: [bool; 4],
}

impl Block {
    /// Takes the trimmed value of a setting.
    pub(super) fn set(&mut self, field: usize, value: &str, at: TextPosition) -> Result<(), Diagnostic> {
        let value = value.trim_matches(is_white);
        let given = &mut self.given;
        let picked = match field {
            0 => pick(Inherit::NAMES, value, &mut given.inherit_context),
            1 => pick(&[("true", true), ("false", false)], value, &mut given.accumulate_data),
            2 => pick(Format::NAMES, value, &mut given.accumulation_format),
            _ => pick(Fresh::NAMES, value, &mut given.fresh_context),
        };
        picked.map_err(|names| {
            let is = match value {
                "" => "has no value".to_owned(),
                value => format!("is `{}`", shown(value)),
            };
            let name = FIELDS.get(field).copied().unwrap_or_default();
            self.invalid(field, at, &format!("`{name}` {is}; write `{}`", names.join("` or `")))
        })
    }

    /// Gives a setting with an invalid value its narrowest value, so that a typing error never widens what a task sees.
    pub(super) fn invalid(&mut self, field: usize, at: TextPosition, message: &str) -> Diagnostic {
        let (given, narrowest) = (&mut self.given, ContextManagement::NARROWEST);
        let counts_as = match field {
            0 => {
                given.inherit_context = narrowest.inherit_context;
                given.inherit_context.map(Inherit::as_str)
            }
            1 => {
                given.accumulate_data = narrowest.accumulate_data;
                Some("false")
            }
            2 => {
                given.accumulation_format = narrowest.accumulation_format;
                given.accumulation_format.map(Format::as_str)
            }
            _ => {
                given.fresh_context = narrowest.fresh_context;
                given.fresh_context.map(Fresh::as_str)
            }
        };
        if let Some(invalid) = self.invalid.get_mut(field) {
            *invalid = true;
        }
        let message = format!("{message}; it counts as `{}`", counts_as.unwrap_or_default());
        at.diagnostic(DiagnosticCode::InvalidValue, Severity::Error, message)
    }

    fn mark_invalid(&self, origins: &mut Origins) {
        let Origins { kind: _, inherit_context, accumulate_data, accumulation_format, fresh_context } = origins;
        let fields = [inherit_context, accumulate_data, accumulation_format, fresh_context];
        for (origin, _) in fields.into_iter().zip(self.invalid).filter(|(origin, invalid)| *invalid && origin.is_some())
        {
            *origin = Some(Origin::Invalid);
        }
    }

    fn has(&self, field: usize) -> Option<TextPosition> {
        self.places.get(field).copied().flatten()
    }

    /// The effective settings, their origins, and the diagnostics.
    pub(super) fn finish(
        &self,
        kind: &Kind,
        role: OperatorRole,
        options: &ParseOptions,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> (ContextManagement, Origins) {
        let mut given = self.given;
        let accumulates = kind.accumulates();
        let wants = given.accumulate_data == Some(true);
        if !accumulates {
            given.accumulate_data = None;
            given.accumulation_format = None;
        }
        let (settings, mut origins) = given.or(&ContextManagement::defaults(kind, role));
        self.mark_invalid(&mut origins);
        let Some(block) = self.place else { return (settings, origins) };
        let mut report = |place: TextPosition, code, severity, message: String| {
            diagnostics.push(place.diagnostic(code, severity, message));
        };
        let required = if options.strict { Severity::Error } else { Severity::Warning };
        let missing = |field: &str, default: &str| {
            let means = if options.strict { "add it" } else { "add it; the default is used" };
            format!("`<context_management>` lacks `<{field}>`; {means}: `{default}`")
        };
        let task = match role {
            OperatorRole::InnerTask => "an inner task".to_owned(),
            OperatorRole::ReductionTask => "a reduction task".to_owned(),
            OperatorRole::Task | OperatorRole::Step => format!("this {} task", shown(kind.as_str())),
        };
        if kind.is_known() && self.has(0).is_none() {
            report(block, DiagnosticCode::MissingField, required, missing("inherit_context", "full"));
        }
        if *kind == Kind::Sequential && self.has(1).is_none() {
            report(block, DiagnosticCode::MissingField, required, missing("accumulate_data", "true"));
        }
        match (self.has(1), self.has(2)) {
            (Some(place), _) if wants && !accumulates => {
                let message =
                    format!("{task} cannot accumulate, only a sequential one can; remove `<accumulate_data>`");
                report(place, DiagnosticCode::AccumulationNotAllowed, Severity::Error, message);
            }
            (Some(place), None) if wants => {
                let message = "`accumulate_data` is `true` and `<accumulation_format>` is missing; write `notes_only` or `full_output`";
                report(place, DiagnosticCode::MissingFormat, Severity::Error, message.to_owned());
            }
            (_, Some(place)) if settings.accumulation() == Accumulation::Off && self.invalid == [false; 4] => {
                let message = format!("`accumulation_format` has no effect: {task} accumulates nothing; remove it");
                report(place, DiagnosticCode::FormatWithoutAccumulation, Severity::Warning, message);
            }
            _ => {}
        }
        if settings.is_empty() && self.invalid == [false; 4] {
            let message =
                format!("{task} has no context: it inherits nothing, accumulates nothing and gets no fresh context");
            report(block, DiagnosticCode::NoContext, Severity::Warning, message);
        }
        let inherits = settings.inherit_context.filter(|inherit| *inherit != Inherit::None);
        if let (true, Some(inherit), Some(Fresh::Enabled)) = (options.exclusive, inherits, settings.fresh_context) {
            let place = self.has(3).or(self.has(0)).unwrap_or(block);
            let message = format!(
                "`inherit_context` is `{}` and `fresh_context` is `enabled`; `exclusive` allows one of them: write `disabled` or `none`",
                inherit.as_str()
            );
            report(place, DiagnosticCode::ExclusiveConflict, Severity::Error, message);
        }
        (settings, origins)
    }
}

impl TextPosition {
    pub(super) fn diagnostic(self, code: DiagnosticCode, severity: Severity, message: impl Into<String>) -> Diagnostic {
        let (line, column) = (Some(self.line), Some(self.column));
        Diagnostic { line, column, ..Diagnostic::new(code, severity, message) }
    }
}
