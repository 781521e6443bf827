//! Models on OpenAI-compatible servers that require their reasoning back, in a field of the message (docs/bodies.md).

use serde_json::Value;

use crate::json::JsonWriter;
use crate::text::is_blank;
use crate::vendors::bodies::normalize::{Item, ItemContent};
use crate::vendors::signature::ReasoningSignature;

/// The field of a message that holds reasoning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReasoningField {
    /// `reasoning_content`, a text.
    Content,
    /// `reasoning_details`, a list.
    Details,
}

/// The model lines that require their reasoning back, with vendors and hosts in front of model names.
const CONTENT: [&str; 10] =
    ["deepseek", "kimi", "moonshotai", "moonshot", "glm", "zai", "zai-org", "z-ai", "mimo", "xiaomi"];
const DETAILS: [&str; 1] = ["minimax"];

/// The field in which a model requires its reasoning back; `None` if it does not. Gateways and hosts prefix model names
/// (`moonshotai/kimi-k3`, `us.deepseek.r1-v1:0`).
pub(crate) fn reasoning_field(model: &str) -> Option<ReasoningField> {
    let model = model.to_ascii_lowercase();
    let mut names = model.split(['/', '.', ':', '@']);
    names.find_map(|name| {
        let is = |line: &&str| {
            let rest = name.strip_prefix(*line);
            rest.is_some_and(|rest| !rest.starts_with(|ch: char| ch.is_ascii_alphabetic()))
        };
        if DETAILS.iter().any(&is) {
            return Some(ReasoningField::Details);
        }
        CONTENT.iter().any(is).then_some(ReasoningField::Content)
    })
}

/// Whether a model requires its reasoning back as a list.
pub(crate) fn wants_details(model: &str) -> bool {
    reasoning_field(model) == Some(ReasoningField::Details)
}

/// Whether such a model accepts reasoning: from a field of a message, or any readable reasoning.
pub(crate) fn takes_reasoning(text: &str, signature: Option<&str>) -> bool {
    !is_blank(text) || matches!(signature.and_then(ReasoningSignature::read), Some(ReasoningSignature::Field(..)))
}

/// Writes the reasoning of a turn into the fields that it came in, else into the model's field.
pub(crate) fn write_reasoning(json: &mut JsonWriter, turn: &[Item<'_>], of_model: ReasoningField) {
    let mut texts: Vec<(&str, String)> = Vec::new();
    let mut details: Vec<Value> = Vec::new();
    for item in turn {
        let ItemContent::Reasoning { text, signature } = item.content else { continue };
        let name = match signature.and_then(ReasoningSignature::read) {
            Some(ReasoningSignature::Field(_, list)) if !list.is_empty() => {
                details.extend(list);
                continue;
            }
            Some(ReasoningSignature::Field(name, _)) => name,
            _ if of_model == ReasoningField::Details => {
                details.push(crate::json::object([("type", "reasoning.text".into()), ("text", text.into())]));
                continue;
            }
            _ => "reasoning_content",
        };
        match texts.iter_mut().find(|(known, _)| *known == name) {
            Some((_, joined)) => joined.extend(["\n\n", text]),
            None => texts.push((name, text.to_owned())),
        }
    }
    for (name, text) in &texts {
        json.text_field(name, text.as_str());
    }
    if !details.is_empty() {
        json.value_field("reasoning_details", &Value::Array(details));
    }
}
