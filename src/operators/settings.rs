//! The three dimensions of context, and their defaults (docs/operators.md).

use serde::{Serialize, Serializer};

use super::kind::{Kind, OperatorRole, named};

named! {
    /// The part of the parent's context that a task inherits.
    Inherit {
        Full = "full", "All of it, unchanged.";
        None = "none", "Nothing of it.";
        Subset = "subset", "The part of it that the memory system returns.";
    }
}

named! {
    /// The part of a step's result that is kept for later steps.
    Format {
        NotesOnly = "notes_only", "Its notes.";
        FullOutput = "full_output", "Its whole output.";
    }
}

named! {
    /// Whether the memory system is queried for new context.
    Fresh {
        Enabled = "enabled", "It is.";
        Disabled = "disabled", "It is not queried.";
    }
}

named! {
    /// The origin of an effective value.
    Origin {
        Explicit = "explicit", "The template sets it.";
        Default = "default", "The table of defaults.";
        Invalid = "invalid", "The template has an invalid value; the narrowest one is used instead.";
    }
}

/// The effective settings of one operator. A field is absent if the operator has no such setting, or no default for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ContextManagement {
    /// The part of the parent's context that is inherited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inherit_context: Option<Inherit>,
    /// Whether outputs of steps are kept for later ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accumulate_data: Option<bool>,
    /// The part of an output that is kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accumulation_format: Option<Format>,
    /// Whether the memory system is queried for new context.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fresh_context: Option<Fresh>,
}

/// The origin of each effective value; the fields are those of the settings, and the type.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Origins {
    /// The origin of the type.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<Origin>,
    /// The origin of `inherit_context`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inherit_context: Option<Origin>,
    /// The origin of `accumulate_data`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accumulate_data: Option<Origin>,
    /// The origin of `accumulation_format`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accumulation_format: Option<Origin>,
    /// The origin of `fresh_context`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fresh_context: Option<Origin>,
}

/// How the outputs of previous steps reach a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Accumulation {
    /// They are not passed on.
    Off,
    /// They are passed on in this form.
    On(Format),
}

impl Accumulation {
    pub(super) const NAMES: &'static [(&'static str, Self)] = &[
        ("off", Self::Off),
        (Format::NotesOnly.as_str(), Self::On(Format::NotesOnly)),
        (Format::FullOutput.as_str(), Self::On(Format::FullOutput)),
    ];
}

impl Serialize for Accumulation {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.serialize_str(match self {
            Self::Off => "off",
            Self::On(format) => format.as_str(),
        })
    }
}

impl ContextManagement {
    /// The table of defaults. An unknown type has none; an inner task gets no fresh context.
    pub fn defaults(kind: &Kind, role: OperatorRole) -> Self {
        if !kind.is_known() {
            return Self::default();
        }
        let accumulates = *kind == Kind::Sequential;
        Self {
            inherit_context: Some(Inherit::Full),
            accumulate_data: accumulates.then_some(true),
            accumulation_format: accumulates.then_some(Format::NotesOnly),
            fresh_context: Some(if role == OperatorRole::InnerTask { Fresh::Disabled } else { Fresh::Enabled }),
        }
    }

    /// The values that replace invalid ones: those that give a task the least.
    pub(super) const NARROWEST: Self = Self {
        inherit_context: Some(Inherit::None),
        accumulate_data: Some(false),
        accumulation_format: Some(Format::NotesOnly),
        fresh_context: Some(Fresh::Disabled),
    };

    /// These settings, with missing ones taken from `defaults`, and the origin of each.
    pub fn or(&self, defaults: &Self) -> (Self, Origins) {
        fn pick<T: Copy>(given: Option<T>, default: Option<T>) -> (Option<T>, Option<Origin>) {
            match (given, default) {
                (Some(value), _) => (Some(value), Some(Origin::Explicit)),
                (None, Some(value)) => (Some(value), Some(Origin::Default)),
                (None, None) => (None, None),
            }
        }
        let (inherit_context, inherit_origin) = pick(self.inherit_context, defaults.inherit_context);
        let (accumulate_data, accumulate_origin) = pick(self.accumulate_data, defaults.accumulate_data);
        let (accumulation_format, format_origin) = pick(self.accumulation_format, defaults.accumulation_format);
        let (fresh_context, fresh_origin) = pick(self.fresh_context, defaults.fresh_context);
        let settings = Self { inherit_context, accumulate_data, accumulation_format, fresh_context };
        let origins = Origins {
            kind: None,
            inherit_context: inherit_origin,
            accumulate_data: accumulate_origin,
            accumulation_format: format_origin,
            fresh_context: fresh_origin,
        };
        (settings, origins)
    }

    /// How the outputs of previous steps reach a task with these settings.
    pub fn accumulation(&self) -> Accumulation {
        match self.accumulate_data {
            Some(true) => Accumulation::On(self.accumulation_format.unwrap_or(Format::NotesOnly)),
            _ => Accumulation::Off,
        }
    }

    /// Whether a task with these settings sees nothing at all.
    pub fn is_empty(&self) -> bool {
        self.inherit_context == Some(Inherit::None)
            && self.accumulation() == Accumulation::Off
            && self.fresh_context == Some(Fresh::Disabled)
    }
}
