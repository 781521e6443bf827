//! What kinds of tasks there are, and what a task is to the one around it (SPEC §4).

use serde::{Serialize, Serializer};

/// Declares an enum whose values have exact names, which are the same in templates and in JSON.
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

/// What a task does with what is in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// One call.
    Atomic,
    /// Steps, one after the other.
    Sequential,
    /// An inner task for each input, and a reduction over the results.
    Reduce,
    /// Something that later versions may know; it has no defaults.
    Unknown(String),
}

impl Kind {
    /// The kind that has this name as its `type`.
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

    /// Whether a task of this kind accumulates; an unknown one may.
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
    /// What a task is to the one around it.
    OperatorRole {
        Task = "task", "The root, or a task that an inner or reduction task consists of.";
        Step = "step", "A step of a sequential task.";
        InnerTask = "innerTask", "What a reduce task does with each input.";
        ReductionTask = "reductionTask", "What a reduce task does with the results.";
    }
}
