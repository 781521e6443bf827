//! The kinds of tasks, and the roles of a task in its parent (docs/operators.md).

use serde::{Serialize, Serializer};

/// Declares an enum whose values have exact names, the same in templates and in JSON.
macro_rules! named {
    ($(#[$meta:meta])* $name:ident { $($variant:ident = $text:literal, $doc:literal;)+ }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name { $(#[doc = $doc] $variant,)+ }

        impl $name {
            /// Every value.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            pub(super) const NAMES: &'static [(&'static str, Self)] = &[$(($text, Self::$variant),)+];

            /// The exact name.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text,)+ }
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }
    };
}

pub(super) use named;

/// How a task processes its children.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// One call.
    Atomic,
    /// Steps, in sequence.
    Sequential,
    /// An inner task for each input, and a reduction over the results.
    Reduce,
    /// A type of a later version; it has no defaults.
    Unknown(String),
}

impl Kind {
    /// The kind with this name in `type`.
    pub fn named(name: &str) -> Self {
        match name {
            "atomic" => Self::Atomic,
            "sequential" => Self::Sequential,
            "reduce" => Self::Reduce,
            other => Self::Unknown(other.to_owned()),
        }
    }

    /// Its `type`.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Atomic => "atomic",
            Self::Sequential => "sequential",
            Self::Reduce => "reduce",
            Self::Unknown(name) => name,
        }
    }

    pub(super) fn is_known(&self) -> bool {
        !matches!(self, Self::Unknown(_))
    }

    /// Whether a task of this kind can accumulate; an unknown one can.
    pub(super) fn accumulates(&self) -> bool {
        !matches!(self, Self::Atomic | Self::Reduce)
    }
}

impl Serialize for Kind {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

named! {
    /// The role of a task in its parent.
    OperatorRole {
        Task = "task", "The root, or a task that an inner or reduction task consists of.";
        Step = "step", "A step of a sequential task.";
        InnerTask = "innerTask", "The task that a reduce task runs for each input.";
        ReductionTask = "reductionTask", "The task that a reduce task runs over the results.";
    }
}
