//! A task template, read: operators within operators. It never changes once it is read (SPEC §4).

use serde::{Serialize, Serializer};

use super::settings::{ContextManagement, Origins};

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
}

impl Serialize for Kind {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// What a task is to the one around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The root, or a task that an inner or reduction task consists of.
    Task,
    /// A step of a sequential task.
    Step,
    /// What a reduce task does with each input.
    InnerTask,
    /// What a reduce task does with the results.
    ReductionTask,
}

impl Role {
    /// Every role.
    pub const ALL: &'static [Self] = &[Self::Task, Self::Step, Self::InnerTask, Self::ReductionTask];

    /// The name in JavaScript.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Task => "task",
            Self::Step => "step",
            Self::InnerTask => "innerTask",
            Self::ReductionTask => "reductionTask",
        }
    }
}

impl Serialize for Role {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// One operator by itself: what the assembly of its context needs to know.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Operator {
    /// What it does.
    #[serde(rename = "type")]
    pub kind: Kind,
    /// What it is to the one around it.
    pub role: Role,
    /// The template's `id` attribute.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The template's `<description>`, without the white space around it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The settings in force.
    pub context_management: ContextManagement,
    /// Where they came from.
    pub origins: Origins,
}

impl Operator {
    /// An operator that says nothing, so that all its settings are the defaults.
    pub fn new(kind: Kind, role: Role) -> Self {
        let (context_management, origins) = ContextManagement::default().or(&ContextManagement::defaults(&kind, role));
        Self { kind, role, id: None, description: None, context_management, origins }
    }
}

/// Part of a text, in UTF-16 code units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Span {
    /// Where it begins.
    pub start: usize,
    /// Where it has ended.
    pub end: usize,
}

/// An element that means nothing here, as it stands in the template.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Element {
    /// Its name.
    pub name: String,
    /// All of it, its tags included.
    pub xml: String,
    /// Its line, from 1.
    pub line: u32,
    /// Its column in UTF-16 code units, from 1.
    pub column: u32,
}

/// A task and all that is in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// The task itself.
    pub operator: Operator,
    /// The tasks in `<steps>`, of a sequential task or one whose type is not known.
    pub steps: Option<Vec<Task>>,
    /// What a reduce task does with each input.
    pub inner_task: Option<Box<Task>>,
    /// What a reduce task does with the results.
    pub reduction_task: Option<Box<Task>>,
    /// The task that an inner or reduction task consists of.
    pub task: Option<Box<Task>>,
    /// The elements that mean nothing here, in order.
    pub elements: Vec<Element>,
    /// The line of its start tag, from 1.
    pub line: u32,
    /// The column of its start tag in UTF-16 code units, from 1.
    pub column: u32,
    /// Where it stands in the template.
    pub span: Span,
    /// The whole template; of the root only.
    pub source: Option<String>,
}

impl Serialize for Task {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Out<'a> {
            r#type: &'a Kind,
            role: Role,
            #[serde(skip_serializing_if = "Option::is_none")]
            id: &'a Option<String>,
            #[serde(skip_serializing_if = "Option::is_none")]
            description: &'a Option<String>,
            context_management: ContextManagement,
            origins: Origins,
            #[serde(skip_serializing_if = "Option::is_none")]
            steps: &'a Option<Vec<Task>>,
            #[serde(skip_serializing_if = "Option::is_none")]
            inner_task: &'a Option<Box<Task>>,
            #[serde(skip_serializing_if = "Option::is_none")]
            reduction_task: &'a Option<Box<Task>>,
            #[serde(skip_serializing_if = "Option::is_none")]
            task: &'a Option<Box<Task>>,
            #[serde(skip_serializing_if = "<[Element]>::is_empty")]
            elements: &'a [Element],
            line: u32,
            column: u32,
            span: Span,
            #[serde(skip_serializing_if = "Option::is_none")]
            source: &'a Option<String>,
        }
        Out {
            r#type: &self.operator.kind,
            role: self.operator.role,
            id: &self.operator.id,
            description: &self.operator.description,
            context_management: self.operator.context_management,
            origins: self.operator.origins,
            steps: &self.steps,
            inner_task: &self.inner_task,
            reduction_task: &self.reduction_task,
            task: &self.task,
            elements: &self.elements,
            line: self.line,
            column: self.column,
            span: self.span,
            source: &self.source,
        }
        .serialize(serializer)
    }
}
