//! Tasks and operators, as they came.

use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

use super::super::explain::{Explained, explain};
use super::super::settings::{ContextManagement, Format, Fresh, Inherit, Origin, Origins};
use super::super::task::{Kind, Operator, Role, Span, Task};
use super::{invalid, known, named};
use crate::error::Result;
use crate::json;
use crate::limits::XML_DEPTH_MAX;

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, expecting = "context settings, an object")]
struct SettingsIn {
    inherit_context: Option<String>,
    accumulate_data: Option<bool>,
    accumulation_format: Option<String>,
    fresh_context: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, expecting = "origins, an object")]
struct OriginsIn {
    r#type: Option<String>,
    inherit_context: Option<String>,
    accumulate_data: Option<String>,
    accumulation_format: Option<String>,
    fresh_context: Option<String>,
}

/// An operator as it came. All of it may be left out.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, expecting = "a task, an object")]
pub(super) struct OperatorIn {
    r#type: Option<String>,
    role: Option<String>,
    id: Option<String>,
    description: Option<String>,
    context_management: Option<SettingsIn>,
    origins: Option<OriginsIn>,
}

impl OperatorIn {
    pub(super) fn finish(self, path: &str, role: Role) -> Result<Operator> {
        let kind_said = self.r#type.is_some();
        let kind = Kind::named(self.r#type.as_deref().unwrap_or("atomic"));
        let at = |field: &str| format!("{path}.{field}");
        let roles = named(Role::ALL, Role::as_str);
        let role = known(&at("role"), self.role.as_deref(), &roles)?.unwrap_or(role);
        let said = self.context_management.unwrap_or_default();
        let in_settings = |field: &str| at(&format!("contextManagement.{field}"));
        let said = ContextManagement {
            inherit_context: known(
                &in_settings("inheritContext"),
                said.inherit_context.as_deref(),
                &named(Inherit::ALL, Inherit::as_str),
            )?,
            accumulate_data: said.accumulate_data,
            accumulation_format: known(
                &in_settings("accumulationFormat"),
                said.accumulation_format.as_deref(),
                &named(Format::ALL, Format::as_str),
            )?,
            fresh_context: known(
                &in_settings("freshContext"),
                said.fresh_context.as_deref(),
                &named(Fresh::ALL, Fresh::as_str),
            )?,
        };
        if said.accumulate_data == Some(true) && matches!(kind, Kind::Atomic | Kind::Reduce) {
            let message = format!("must not be true: a task of type `{}` accumulates nothing", kind.as_str());
            return Err(invalid(&in_settings("accumulateData"), &message));
        }
        let (context_management, given) = said.or(&ContextManagement::defaults(&kind, role));
        let overlay = |name: &Option<String>, given: Option<Origin>| match (name.as_deref(), given) {
            // Of a parsed task it is known that a value was not said.
            (Some("default"), Some(_)) => Some(Origin::Default),
            (_, given) => given,
        };
        let origins = self.origins.unwrap_or_default();
        let kind_origin = if kind_said { Origin::Explicit } else { Origin::Default };
        let origins = Origins {
            kind: overlay(&origins.r#type, Some(kind_origin)),
            inherit_context: overlay(&origins.inherit_context, given.inherit_context),
            accumulate_data: overlay(&origins.accumulate_data, given.accumulate_data),
            accumulation_format: overlay(&origins.accumulation_format, given.accumulation_format),
            fresh_context: overlay(&origins.fresh_context, given.fresh_context),
        };
        Ok(Operator { kind, role, id: self.id, description: self.description, context_management, origins })
    }
}

/// A task with all that is in it, as it came.
#[derive(Debug, Default)]
pub(crate) struct TaskIn {
    operator: OperatorIn,
    steps: Option<Vec<TaskIn>>,
    inner_task: Option<Box<TaskIn>>,
    reduction_task: Option<Box<TaskIn>>,
    task: Option<Box<TaskIn>>,
    line: Option<u32>,
    column: Option<u32>,
}

impl TaskIn {
    fn finish(self, path: &str, role: Role) -> Result<Task> {
        let part = |part: Option<Box<Self>>, name: &str, role: Role| {
            part.map(|part| part.finish(&format!("{path}.{name}"), role).map(Box::new)).transpose()
        };
        let steps = self.steps.map(|steps| {
            let steps = steps.into_iter().enumerate();
            steps.map(|(index, step)| step.finish(&format!("{path}.steps[{index}]"), Role::Step)).collect()
        });
        Ok(Task {
            steps: steps.transpose()?,
            inner_task: part(self.inner_task, "innerTask", Role::InnerTask)?,
            reduction_task: part(self.reduction_task, "reductionTask", Role::ReductionTask)?,
            task: part(self.task, "task", Role::Task)?,
            operator: self.operator.finish(path, role)?,
            elements: Vec::new(),
            line: self.line.unwrap_or_default(),
            column: self.column.unwrap_or_default(),
            span: Span::default(),
            source: None,
        })
    }
}

impl<'de> Deserialize<'de> for TaskIn {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        // A task within a task is at least one element deeper.
        Nested { left: XML_DEPTH_MAX }.deserialize(deserializer)
    }
}

/// Reads a task that may hold others, but not deeper than any template can be.
#[derive(Clone, Copy, Debug)]
struct Nested {
    left: u32,
}

#[derive(Deserialize)]
#[serde(field_identifier, rename_all = "camelCase")]
enum Field {
    Type,
    Role,
    Id,
    Description,
    ContextManagement,
    Origins,
    Steps,
    InnerTask,
    ReductionTask,
    Task,
    Line,
    Column,
    #[serde(other)]
    Other,
}

const TASK_FIELDS: &[&str] = &[
    "type",
    "role",
    "id",
    "description",
    "contextManagement",
    "origins",
    "steps",
    "innerTask",
    "reductionTask",
    "task",
    "line",
    "column",
];

impl<'de> DeserializeSeed<'de> for Nested {
    type Value = TaskIn;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> std::result::Result<TaskIn, D::Error> {
        deserializer.deserialize_struct("Task", TASK_FIELDS, self)
    }
}

impl<'de> Visitor<'de> for Nested {
    type Value = TaskIn;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a task, an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<TaskIn, A::Error> {
        let inner = Self { left: self.left.checked_sub(1).ok_or_else(json::too_deep)? };
        let mut task = TaskIn::default();
        let operator = &mut task.operator;
        while let Some(field) = map.next_key()? {
            match field {
                Field::Type => operator.r#type = map.next_value()?,
                Field::Role => operator.role = map.next_value()?,
                Field::Id => operator.id = map.next_value()?,
                Field::Description => operator.description = map.next_value()?,
                Field::ContextManagement => operator.context_management = map.next_value()?,
                Field::Origins => operator.origins = map.next_value()?,
                Field::Steps => task.steps = map.next_value_seed(Optional(List(inner)))?,
                Field::InnerTask => task.inner_task = map.next_value_seed(Optional(inner))?.map(Box::new),
                Field::ReductionTask => task.reduction_task = map.next_value_seed(Optional(inner))?.map(Box::new),
                Field::Task => task.task = map.next_value_seed(Optional(inner))?.map(Box::new),
                Field::Line => task.line = map.next_value()?,
                Field::Column => task.column = map.next_value()?,
                Field::Other => drop(map.next_value::<serde::de::IgnoredAny>()?),
            }
        }
        Ok(task)
    }
}

/// What may be left out.
struct Optional<S>(S);

impl<'de, S: DeserializeSeed<'de>> DeserializeSeed<'de> for Optional<S> {
    type Value = Option<S::Value>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> std::result::Result<Self::Value, D::Error> {
        deserializer.deserialize_option(self)
    }
}

impl<'de, S: DeserializeSeed<'de>> Visitor<'de> for Optional<S> {
    type Value = Option<S::Value>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a task, a list of tasks, or nothing")
    }

    fn visit_none<E>(self) -> std::result::Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> std::result::Result<Self::Value, D::Error> {
        self.0.deserialize(deserializer).map(Some)
    }
}

/// Tasks one after another.
struct List(Nested);

impl<'de> DeserializeSeed<'de> for List {
    type Value = Vec<TaskIn>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> std::result::Result<Self::Value, D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for List {
    type Value = Vec<TaskIn>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of tasks")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> std::result::Result<Vec<TaskIn>, A::Error> {
        let mut tasks = Vec::new();
        while let Some(task) = seq.next_element_seed(self.0)? {
            tasks.push(task);
        }
        Ok(tasks)
    }
}

/// A task and the operators right below it.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, expecting = "a task, an object")]
pub(super) struct RunTaskIn {
    r#type: Option<String>,
    role: Option<String>,
    id: Option<String>,
    description: Option<String>,
    context_management: Option<SettingsIn>,
    origins: Option<OriginsIn>,
    pub(super) steps: Option<Vec<OperatorIn>>,
    pub(super) inner_task: Option<OperatorIn>,
    pub(super) reduction_task: Option<OperatorIn>,
}

impl RunTaskIn {
    pub(super) fn head(self) -> OperatorIn {
        let Self { r#type, role, id, description, context_management, origins, .. } = self;
        OperatorIn { r#type, role, id, description, context_management, origins }
    }
}

/// Explains a task.
pub(crate) fn explain_task(task: TaskIn) -> Result<Vec<Explained>> {
    Ok(explain(&task.finish("task", Role::Task)?))
}

/// Explains a task in JSON; the result is JSON too.
///
/// # Errors
/// [`InvalidInput`](crate::Code::InvalidInput), [`UnknownValue`](crate::Code::UnknownValue) and
/// [`LimitExceeded`](crate::Code::LimitExceeded).
pub fn explain_task_json(task: &[u8]) -> Result<Vec<u8>> {
    json::write(&explain_task(json::read(task)?)?)
}
