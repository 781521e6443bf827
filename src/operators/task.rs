//! A parsed task template: nested operators. It is immutable (docs/operators.md).

use serde::Serialize;

use super::kind::{Kind, OperatorRole};
use super::settings::{ContextManagement, Origins};

/// One operator without its children: the input of the assembly of its context.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Operator {
    /// Its kind.
    #[serde(rename = "type")]
    pub kind: Kind,
    /// Its role in the parent.
    pub role: OperatorRole,
    /// The template's `id` attribute.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The template's `<description>`, without the white space around it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The effective settings.
    pub context_management: ContextManagement,
    /// The origins of the settings.
    pub origins: Origins,
}

impl Operator {
    /// An operator with all settings at their defaults.
    pub fn new(kind: Kind, role: OperatorRole) -> Self {
        let (context_management, origins) = ContextManagement::default().or(&ContextManagement::defaults(&kind, role));
        Self { kind, role, id: None, description: None, context_management, origins }
    }

    /// The id; for a step without one, `step-` and its number from 1.
    pub(super) fn step_id(&self, index: usize) -> String {
        self.id.clone().unwrap_or_else(|| format!("step-{}", index.saturating_add(1)))
    }
}

/// A task to run, with its children: a [`Task`] without its places in the template.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RunTask {
    /// The task itself.
    #[serde(flatten)]
    pub operator: Operator,
    /// The steps of a sequential task.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<RunTask>,
    /// The inner task of a reduce task; defaults to one with default settings.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inner_task: Option<Box<RunTask>>,
    /// The reduction task of a reduce task; defaults to one with default settings.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reduction_task: Option<Box<RunTask>>,
    /// The task that an inner or reduction task consists of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<Box<RunTask>>,
}

impl From<Operator> for RunTask {
    fn from(operator: Operator) -> Self {
        Self { operator, steps: Vec::new(), inner_task: None, reduction_task: None, task: None }
    }
}

impl From<&Task> for RunTask {
    fn from(task: &Task) -> Self {
        let child = |child: &Option<Box<Task>>| child.as_ref().map(|child| Box::new(Self::from(&**child)));
        Self {
            operator: task.operator.clone(),
            steps: task.steps.iter().flatten().map(Self::from).collect(),
            inner_task: child(&task.inner_task),
            reduction_task: child(&task.reduction_task),
            task: child(&task.task),
        }
    }
}

/// A part of a text, in UTF-16 code units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Span {
    /// Where it begins.
    pub start: usize,
    /// Where it ends.
    pub end: usize,
}

/// An element without a meaning here, as in the template.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Element {
    /// Its name.
    pub name: String,
    /// Its XML, including its tags.
    pub xml: String,
    /// Its line, from 1.
    pub line: u32,
    /// Its column in UTF-16 code units, from 1.
    pub column: u32,
}

/// A task with its children.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Task {
    /// The task itself.
    #[serde(flatten)]
    pub operator: Operator,
    /// The tasks in `<steps>`, of a sequential task or one of unknown type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steps: Option<Vec<Task>>,
    /// The task that a reduce task runs for each input.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inner_task: Option<Box<Task>>,
    /// The task that a reduce task runs over the results.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reduction_task: Option<Box<Task>>,
    /// The task that an inner or reduction task consists of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<Box<Task>>,
    /// The elements without a meaning here, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub elements: Vec<Element>,
    /// The line of its start tag, from 1.
    pub line: u32,
    /// The column of its start tag in UTF-16 code units, from 1.
    pub column: u32,
    /// Its place in the template.
    pub span: Span,
    /// The whole template; of the root only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}
