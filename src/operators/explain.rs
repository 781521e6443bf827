//! Describes in words what each operator of a template will see, and why (docs/operators.md).
//!
//! Recursion is as deep as the nesting of tasks, which is limited when they are read.

use serde::Serialize;

use super::kind::{Kind, OperatorRole};
use super::settings::{Accumulation, ContextManagement, Format, Fresh, Inherit, Origin, Origins};
use super::task::{Operator, Task};
use super::xml::shown;

/// The view of one operator.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Explained {
    /// Its path in the task: `task.steps[0].innerTask`.
    pub path: String,
    /// Its nesting level.
    pub level: usize,
    /// Its role in the parent operator.
    pub role: OperatorRole,
    /// Its kind.
    pub r#type: Kind,
    /// Its id; a step without one has its assigned id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Its description.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Its line in the template, from 1.
    pub line: u32,
    /// Its column, from 1.
    pub column: u32,
    /// Its effective settings.
    pub context_management: ContextManagement,
    /// The origins of the settings.
    pub origins: Origins,
    /// When the memory system is queried: `always`, `withParentContext` or `never`; absent if unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asks_memory: Option<&'static str>,
    /// The part of the parent operator's context it sees: `all`, `part`, `nothing` or `unknown`.
    pub inherited: Look,
    /// The part of the previous steps it sees: `notes`, `outputs` or `nothing`.
    pub accumulated: Look,
    /// The part of the memory system's results it sees: `matched`, `nothing` or `unknown`.
    pub fresh: Look,
}

/// How much of a source is seen, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Look {
    /// One word.
    pub sees: &'static str,
    /// A sentence fragment.
    pub why: String,
}

/// Explains each operator, in the order of the template.
pub fn explain(task: &Task) -> Vec<Explained> {
    let mut all = Vec::new();
    walk(task, "task", None, &mut all);
    all
}

struct Around<'a> {
    path: &'a str,
    level: usize,
    /// The accumulation of the sequence, and the step's number from 0.
    step: Option<(Accumulation, Option<Origin>, usize)>,
}

fn walk(task: &Task, path: &str, around: Option<&Around<'_>>, all: &mut Vec<Explained>) {
    let level = around.map_or(0, |around| around.level);
    all.push(entry(task, path, level, around));
    let settings = &task.operator.context_management;
    for (index, step) in task.steps.iter().flatten().enumerate() {
        let origin = match settings.accumulation() {
            Accumulation::On(_) => task.operator.origins.accumulation_format,
            Accumulation::Off => task.operator.origins.accumulate_data,
        };
        let handed = (settings.accumulation(), origin, index);
        let around = Around { path, level: level.saturating_add(1), step: Some(handed) };
        walk(step, &format!("{path}.steps[{index}]"), Some(&around), all);
    }
    let parts = [("innerTask", &task.inner_task), ("reductionTask", &task.reduction_task), ("task", &task.task)];
    for (name, part) in parts {
        if let Some(part) = part {
            let around = Around { path, level: level.saturating_add(1), step: None };
            walk(part, &format!("{path}.{name}"), Some(&around), all);
        }
    }
}

fn entry(task: &Task, path: &str, level: usize, around: Option<&Around<'_>>) -> Explained {
    let operator = &task.operator;
    let settings = &operator.context_management;
    let step = around.and_then(|around| around.step);
    let id = step.map(|(_, _, index)| operator.step_id(index)).or_else(|| operator.id.clone());
    Explained {
        path: path.to_owned(),
        level,
        role: operator.role,
        r#type: operator.kind.clone(),
        id,
        description: operator.description.clone(),
        line: task.line,
        column: task.column,
        context_management: *settings,
        origins: operator.origins,
        asks_memory: match (settings.fresh_context, settings.inherit_context) {
            (Some(Fresh::Enabled), _) => Some("always"),
            (Some(Fresh::Disabled), Some(Inherit::Subset)) => Some("withParentContext"),
            (Some(Fresh::Disabled), Some(_)) => Some("never"),
            _ => None,
        },
        inherited: inherited(operator, around),
        accumulated: accumulated(operator, step),
        fresh: fresh(operator),
    }
}

fn because(setting: &str, value: &str, origin: Option<Origin>, operator: &Operator) -> String {
    match origin {
        Some(Origin::Explicit) => format!("`{setting}` is `{value}`"),
        Some(Origin::Invalid) => format!("`{setting}` is invalid in the template and counts as `{value}`"),
        _ => format!("`{setting}` is `{value}`, the default of {}", kind_of(operator)),
    }
}

fn kind_of(operator: &Operator) -> String {
    match operator.role {
        OperatorRole::InnerTask => "an inner task".to_owned(),
        OperatorRole::ReductionTask => "a reduction task".to_owned(),
        OperatorRole::Task | OperatorRole::Step => format!("{} tasks", shown(operator.kind.as_str())),
    }
}

fn inherited(operator: &Operator, around: Option<&Around<'_>>) -> Look {
    let from = match around {
        Some(around) => format!("the context of `{}`", around.path),
        None => "the caller's context".to_owned(),
    };
    let Some(inherit) = operator.context_management.inherit_context else {
        return Look { sees: "unknown", why: no_default("inherit_context", operator) };
    };
    let setting = because("inherit_context", inherit.as_str(), operator.origins.inherit_context, operator);
    let (sees, what) = match inherit {
        Inherit::Full => ("all", format!("{from} is passed unchanged")),
        Inherit::Subset => ("part", format!("the memory system returns the relevant part of {from}")),
        Inherit::None => ("nothing", format!("{from} is left out")),
    };
    Look { sees, why: format!("{setting}: {what}") }
}

fn accumulated(operator: &Operator, step: Option<(Accumulation, Option<Origin>, usize)>) -> Look {
    let Some((accumulation, origin, index)) = step else {
        let why = match operator.context_management.accumulation() {
            Accumulation::On(_) => "no steps precede it; it passes the outputs of its steps to later ones",
            Accumulation::Off => "no steps precede it",
        };
        return Look { sees: "nothing", why: why.to_owned() };
    };
    let from = match origin {
        Some(Origin::Explicit) => "",
        Some(Origin::Invalid) => ", as its setting is invalid",
        _ => ", the default",
    };
    match accumulation {
        Accumulation::Off => Look { sees: "nothing", why: format!("its sequence accumulates nothing{from}") },
        Accumulation::On(_) if index == 0 => Look { sees: "nothing", why: "it is the first step".to_owned() },
        Accumulation::On(format) => {
            let (sees, what) = match format {
                Format::NotesOnly => ("notes", "the notes"),
                Format::FullOutput => ("outputs", "the whole outputs"),
            };
            let whose = match index {
                1 => "the step before".to_owned(),
                n => format!("the {n} steps before"),
            };
            Look { sees, why: format!("its sequence accumulates {what}{from}: those of {whose}") }
        }
    }
}

fn fresh(operator: &Operator) -> Look {
    let Some(fresh) = operator.context_management.fresh_context else {
        return Look { sees: "unknown", why: no_default("fresh_context", operator) };
    };
    let setting = because("fresh_context", fresh.as_str(), operator.origins.fresh_context, operator);
    match fresh {
        Fresh::Enabled => Look { sees: "matched", why: format!("{setting}: the memory system is queried") },
        Fresh::Disabled => Look { sees: "nothing", why: format!("{setting}: the memory system is not queried") },
    }
}

fn no_default(setting: &str, operator: &Operator) -> String {
    format!("the template lacks `{setting}`, and type `{}` has no defaults", shown(operator.kind.as_str()))
}
