//! Fields of a request that newer models reject.

use serde_json::Value;

use crate::error::DiagnosticCode;
use crate::json::{self, Kind};
use crate::tokens::models::{NO_FORCED_TOOL, NO_PREFILL, NO_SAMPLING};
use crate::vendors::bodies::breakpoints::MAX_BREAKPOINTS;
use crate::vendors::pieces::message::{Path, Step, path};

/// A field that a model rejects.
#[derive(Debug)]
pub(crate) struct RefusedField {
    pub code: DiagnosticCode,
    pub name: &'static str,
    pub message: String,
}

/// Fields that models of Anthropic may reject.
pub(crate) const REFUSABLE: [&str; 4] = ["tool_choice", "temperature", "top_p", "top_k"];

/// The fields that this model rejects. Models of other vendors reject none.
pub(crate) fn refused_fields<'v>(model: &str, field: impl Fn(&str) -> Option<&'v Value>) -> Vec<RefusedField> {
    let is_refused = |name: &str, value: &Value| match name {
        "tool_choice" => NO_FORCED_TOOL.includes(model) && forces_call(value),
        "top_k" => NO_SAMPLING.includes(model) && !value.is_null(),
        // The default is 1.
        _ => NO_SAMPLING.includes(model) && !value.is_null() && value.as_f64() != Some(1.0),
    };
    let refused = |name: &'static str| {
        field(name).filter(|value| is_refused(name, value))?;
        let is_choice = name == "tool_choice";
        Some(RefusedField {
            code: if is_choice { DiagnosticCode::ToolChoiceRefused } else { DiagnosticCode::SamplingRefused },
            name,
            message: if is_choice {
                format!(
                    "`{model}` rejects a `tool_choice` that forces a call; use `auto` and name the tool in the prompt"
                )
            } else {
                format!("`{model}` only accepts the default `{name}`; leave it out")
            },
        })
    };
    REFUSABLE.into_iter().filter_map(refused).collect()
}

/// The finding about a conversation that ends with an assistant message, if this model rejects it.
pub(crate) fn refused_prefill(model: &str) -> Option<String> {
    let message =
        || format!("`{model}` rejects a conversation that ends with the assistant; end it with a user message");
    NO_PREFILL.includes(model).then(message)
}

/// Whether the model has to call a tool: any, or a specific one. OpenAI's form is used by routers.
fn forces_call(choice: &Value) -> bool {
    let kind = choice.as_str().or_else(|| choice.get("type")?.as_str());
    kind.is_some_and(|kind| !matches!(kind, "auto" | "none"))
}

/// The finding about more cache breakpoints than a request may have.
pub(crate) fn refused_cache_marks(count: usize) -> Option<String> {
    (count > MAX_BREAKPOINTS).then(|| {
        format!("the request has {count} `cache_control` marks, and Anthropic accepts {MAX_BREAKPOINTS}; remove some")
    })
}

/// Adds the paths of the blocks with a cache breakpoint: of a value, a block or a list of them, and of those within it.
pub(crate) fn add_cache_marks(value: json::Value<'_>, at: &[Step], marks: &mut Vec<Path>) {
    if value.kind() == Kind::List {
        for (index, block) in value.list("a list").into_iter().flatten().enumerate() {
            add_cache_marks(block, &path(at, &[Step::At(index)]), marks);
        }
        return;
    }
    let fields = value.plain_object().and_then(|block| block.fields(["cache_control", "content", "source"]).ok());
    let Some([mark, content, source]) = fields else { return };
    marks.extend(mark.filter(|mark| mark.kind() == Kind::Object).map(|_| at.to_vec()));
    for (name, inner) in [("content", content), ("source", source)] {
        inner.into_iter().for_each(|inner| add_cache_marks(inner, &path(at, &[Step::Key(name)]), marks));
    }
}
