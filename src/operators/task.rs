//! A task template, read: operators within operators. It never changes once it is read (SPEC §4).

use serde::Serialize;

use super::kind::{Kind, OperatorRole};
use super::settings::{ContextManagement, Origins};

/// One operator by itself: what the assembly of its context needs to know.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Operator {
    /// What it does.
    #[serde(rename = "type")]
    pub kind: Kind,
    /// What it is to the one around it.
    pub role: OperatorRole,
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
    /// An operator all of whose settings are the defaults.
    pub fn new(kind: Kind, role: OperatorRole) -> Self {
        let (context_management, origins) = ContextManagement::default().or(&ContextManagement::defaults(&kind, role));
        Self { kind, role, id: None, description: None, context_management, origins }
    }

    /// Its id; of a step without one, `step-` and its number from 1.
    pub(super) fn step_id(&self, index: usize) -> String {
        self.id.clone().unwrap_or_else(|| format!("step-{}", index.saturating_add(1)))
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Task {
    /// The task itself.
    #[serde(flatten)]
    pub operator: Operator,
    /// The tasks in `<steps>`, of a sequential task or one whose type is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steps: Option<Vec<Task>>,
    /// What a reduce task does with each input.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inner_task: Option<Box<Task>>,
    /// What a reduce task does with the results.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reduction_task: Option<Box<Task>>,
    /// The task that an inner or reduction task consists of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<Box<Task>>,
    /// The elements that mean nothing here, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub elements: Vec<Element>,
    /// The line of its start tag, from 1.
    pub line: u32,
    /// The column of its start tag in UTF-16 code units, from 1.
    pub column: u32,
    /// Where it stands in the template.
    pub span: Span,
    /// The whole template; of the root only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}
