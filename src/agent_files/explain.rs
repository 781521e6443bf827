//! Why a file is loaded, or is not.

use serde::Serialize;

use super::paths;
use super::patterns;
use super::preset::{DIALECTS, Dialect};
use super::session::Decision;

/// Each outcome of a file, and its reason. `{by}` is another file, `{key}` a key of its front matter.
pub(super) const OUTCOMES: &[(&str, &str)] = &[
    ("loaded", "loaded"),
    ("shadowed", "`{by}` takes its place"),
    ("blank", "it has no text"),
    ("duplicate", "`{by}` was loaded before"),
    ("sameText", "a file with the same text was loaded before"),
    ("untrusted", "the project is not trusted"),
    ("tooLarge", "it is over the agent's limit for one file"),
    ("linkText", "it is a link that was checked out as text"),
    ("capped", "it is over the agent's limit for all files"),
    ("overBudget", "it is over `maxTokens`"),
    ("waiting", "it waits for a path that matches `{key}`"),
    ("onRequest", "the model loads it by its description"),
    ("manual", "the user has to name it"),
    ("never", "the agent never loads it"),
    ("notListed", "the load did not list it as a skill"),
    ("missing", "`{by}` imports it and it is missing"),
    ("outside", "`{by}` imports it from outside the folder that imports are limited to"),
    ("tooDeep", "`{by}` imports it, too many imports deep"),
    ("cyclic", "`{by}` imports it in a cycle"),
    ("notText", "`{by}` imports it and its name does not end as that of a text"),
];

/// One file, as it concerns a path.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Explained {
    file: String,
    kind: &'static str,
    outcome: &'static str,
    loaded: bool,
    /// Whether an access to the path loads it.
    loads_on_access: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    step: Option<usize>,
    setting: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pattern: Option<String>,
    because: String,
}

pub(super) fn explain(decision: &Decision, path: &str, verbs: &[String]) -> Explained {
    let loaded = decision.outcome == "loaded";
    let pattern = matching(decision, path);
    let loads_on_access = decision.outcome == "waiting" && pattern.is_some() && !verbs.is_empty();
    Explained {
        file: decision.path.clone(),
        kind: decision.kind,
        outcome: decision.outcome,
        loaded,
        loads_on_access,
        step: decision.step,
        setting: decision.setting.clone(),
        because: because(decision, path, pattern.as_deref()),
        pattern,
    }
}

/// The first pattern of a rule that matches a path.
fn matching(decision: &Decision, path: &str) -> Option<String> {
    let below = paths::below(decision.base.as_deref()?, path)?;
    let (_, dialect): &(_, Dialect) = DIALECTS.iter().find(|(name, _)| Some(*name) == decision.dialect)?;
    decision.patterns.iter().find(|pattern| patterns::matches(*dialect, pattern, below)).cloned()
}

fn because(decision: &Decision, path: &str, pattern: Option<&str>) -> String {
    let base = decision.base.as_deref();
    match (decision.outcome, pattern, base) {
        ("loaded", Some(pattern), _) => format!("loaded: `{pattern}` matches"),
        ("loaded", None, _) => match (decision.kind, &decision.by, decision.step) {
            ("import", Some(by), _) => format!("loaded: `{by}` imports it"),
            (_, _, Some(step)) if step > 0 => format!("loaded after access {step}"),
            _ => "loaded at the start".to_owned(),
        },
        ("waiting", Some(pattern), _) => format!("loads when the path is accessed: `{pattern}` matches"),
        ("waiting", None, Some(base)) if paths::below(base, path).is_none() => {
            format!("the path is not below `{base}`, the folder of its patterns")
        }
        ("waiting", None, Some(_)) => {
            format!("no pattern of `{}` matches the path", decision.key.as_deref().unwrap_or_default())
        }
        (outcome, ..) => {
            let reason = OUTCOMES.iter().find(|(name, _)| *name == outcome).map_or("", |(_, reason)| reason);
            let by = decision.by.as_deref().unwrap_or("another file");
            reason.replace("{by}", by).replace("{key}", decision.key.as_deref().unwrap_or_default())
        }
    }
}
