//! Gemini generateContent.
//!
//! The model, and whether the answer is streamed, are in the URL. The user speaks first; results are a separate turn.
//! The signature of reasoning belongs to the model's next action, in particular to a call.

use crate::content::Role;
use crate::error::DiagnosticCode;
use crate::json::{JsonWriter, TextWriter, WriteText};
use crate::text::{is_blank, split_once};
use crate::vendors::bodies::arguments;
use crate::vendors::bodies::body::Body;
use crate::vendors::bodies::conversation::Conversation;
use crate::vendors::bodies::ids::IdRule;
use crate::vendors::bodies::media::{ANY_IMAGE, Kind, Media, Source};
use crate::vendors::bodies::normalize::{Item, ItemContent, MediaHolder, ReasoningPlace, Rules, ToolResult, normalize};
use crate::vendors::bodies::sink::DiagnosticSink;
use crate::vendors::bodies::tool::Tool;
use crate::vendors::gemini_shared::{ConfigNames, TOOL_NAME, generation_config};
use crate::vendors::signature::ReasoningSignature;
use crate::vendors::vendor_block::BlockFormat;

const RULES: Rules = Rules {
    name: "Gemini",
    user_first: true,
    turns_alternate: true,
    system_field: true,
    results_apart: true,
    takes,
    takes_reasoning,
    id: IdRule::any(usize::MAX),
    tool_name: TOOL_NAME,
    failed_result_is_text: false,
    reasoning: ReasoningPlace::Anywhere,
    phases: false,
    blocks: &[BlockFormat::GeminiPart],
    chat: false,
};

fn takes(_: MediaHolder, media: &Media<'_>) -> bool {
    match media.kind {
        Kind::Image(mime) => mime.is_some_and(|mime| mime != "image/gif" && mime != ANY_IMAGE),
        Kind::Audio(mime) => mime.is_some(),
    }
}

fn takes_reasoning(text: &str, signature: Option<&str>) -> bool {
    match signature.map(ReasoningSignature::read) {
        None | Some(Some(ReasoningSignature::Field(..))) => !is_blank(text),
        Some(signature) => matches!(signature, Some(ReasoningSignature::Thought(_) | ReasoningSignature::Opaque(_))),
    }
}

pub(crate) fn write<'m>(body: &mut Body<'m>, conversation: Conversation<'m>, sink: &mut DiagnosticSink<'_>) {
    let normalized = normalize(conversation, body.target, &mut body.names, &Rules { chat: body.chat, ..RULES }, sink);
    if let (Some(system), false) = (&normalized.system, body.is_chat()) {
        body.field("systemInstruction").object(|json| {
            json.list_field("parts", |json| json.object(|json| json.text_field("text", system.as_ref())));
        });
    }
    let model = body.target.model.as_deref().unwrap_or_default();
    let wants_signatures = !UNSIGNED.iter().any(|family| split_once(model, family).is_some());
    body.turns("contents", &normalized, &mut |json, turn| {
        let assistant = turn.first().is_some_and(|item| item.role == Role::Assistant);
        json.object(|json| {
            json.text_field("role", if assistant { "model" } else { "user" });
            json.list_field("parts", |json| parts(json, turn, wants_signatures, sink));
        });
    });
    if body.is_chat() {
        return;
    }
    if normalized.ends_with_assistant() {
        let text = "the last turn is the model's; Gemini may reject a request that does not end with the user's";
        sink.info(DiagnosticCode::BodyEndsWithAssistant, conversation.count().checked_sub(1), text.to_owned());
    }
    tools(body);
    generation_config(body, &CONFIG, sink);
    if body.target.stream.is_some() {
        body.written.push("stream");
        let text = "Gemini streams by its URL (`:streamGenerateContent?alt=sse`); `target.stream` was left out";
        sink.info(DiagnosticCode::BodyFieldUnused, None, text.to_owned());
    }
}

const CONFIG: ConfigNames =
    ConfigNames { field: "generationConfig", limit: "maxOutputTokens", limit_path: "generationConfig.maxOutputTokens" };

/// Families of models that accept calls without signatures.
const UNSIGNED: [&str; 2] = ["gemini-1", "gemini-2"];

/// The signature that Google documents for calls that none of its models signed.
pub(crate) const NO_SIGNATURE: &str = "skip_thought_signature_validator";

fn parts(json: &mut JsonWriter, turn: &[Item<'_>], wants_signatures: bool, sink: &mut DiagnosticSink<'_>) {
    let first_call = turn.iter().position(|item| matches!(item.content, ItemContent::Call { .. }));
    let is_reasoning = |item: &Item<'_>| matches!(item.content, ItemContent::Reasoning { .. });
    let is_kept = |item: &Item<'_>| matches!(item.content, ItemContent::Vendor(_));
    let mut carried: Option<&str> = None;
    for (at, item) in turn.iter().enumerate() {
        // A signature goes with the part after the reasoning, unless that part is kept unchanged.
        let carries = turn.get(at + 1).is_some_and(|next| !is_reasoning(next) && !is_kept(next));
        if let ItemContent::Reasoning { text, signature: Some(signature) } = item.content
            && carries
        {
            carried = Some(signature);
            if is_blank(text) {
                continue;
            }
        }
        json.object(|json| {
            part(json, item, sink);
            let signature = match item.content {
                ItemContent::Reasoning { signature, .. } => signature.filter(|_| !carries),
                // It includes its signature.
                ItemContent::Vendor(_) => None,
                _ => carried.take(),
            };
            if let Some(ReasoningSignature::Thought(signature) | ReasoningSignature::Opaque(signature)) =
                signature.and_then(ReasoningSignature::read)
            {
                json.text_field("thoughtSignature", signature.as_ref());
            } else if wants_signatures && first_call == Some(at) {
                let text = format!("the Gemini signature of this call is unknown; `{NO_SIGNATURE}` was inserted");
                sink.info(DiagnosticCode::BodyReasoningChanged, item.message, text);
                json.text_field("thoughtSignature", NO_SIGNATURE);
            }
        });
    }
}

fn part(json: &mut JsonWriter, item: &Item<'_>, sink: &mut DiagnosticSink<'_>) {
    match &item.content {
        ItemContent::Reasoning { text, .. } => {
            json.text_field("text", *text);
            json.raw_field("thought", "true");
        }
        ItemContent::Text(text) => json.text_field("text", text),
        ItemContent::Vendor(block) => {
            let fields = block.value.as_object().into_iter().flatten();
            fields.for_each(|(name, value)| json.value_field(name, value));
        }
        ItemContent::Media(media) => inline(json, media),
        ItemContent::Call { id, name, arguments } => json.object_field("functionCall", |json| {
            json.text_field("id", id.as_ref());
            json.text_field("name", name.as_ref());
            json.raw_field("args", &arguments::object(arguments, name, item.message, sink));
        }),
        ItemContent::Result(content) => json.object_field("functionResponse", |json| result(json, content)),
    }
}

fn inline(json: &mut JsonWriter, media: &Media<'_>) {
    let (Kind::Image(mime) | Kind::Audio(mime)) = media.kind;
    let (field, name, value) = match media.source {
        Source::Data(data) => ("inlineData", "data", data),
        Source::Url(url) => ("fileData", "fileUri", url),
    };
    json.object_field(field, |json| {
        json.text_field("mimeType", mime.unwrap_or_default());
        json.text_field(name, value);
    });
}

fn result(json: &mut JsonWriter, result: &ToolResult<'_>) {
    json.text_field("id", result.id.as_ref());
    json.text_field("name", result.name.as_ref());
    let texts = ResultTexts(&result.content);
    json.object_field("response", |json| json.text_field(if result.is_error { "error" } else { "output" }, &texts));
    let media = || result.content.iter().filter_map(ItemContent::media);
    if media().next().is_some() {
        json.list_field("parts", |json| media().for_each(|media| json.object(|json| inline(json, media))));
    }
}

/// The texts of a result as one string.
struct ResultTexts<'r>(&'r [ItemContent<'r>]);

impl WriteText for ResultTexts<'_> {
    fn write_text(&self, out: &mut TextWriter<'_>) {
        let texts = self.0.iter().filter_map(ItemContent::as_text);
        for (at, text) in texts.enumerate() {
            if at > 0 {
                out.plain("\n\n");
            }
            text.write_text(out);
        }
    }
}

/// One tool holds all functions; tools in Gemini's shape are next to it.
fn tools(body: &mut Body<'_>) {
    body.tools(|json, tools| {
        let functions: Vec<Tool<'_>> = tools.iter().filter_map(|tool| Tool::neutral(tool)).collect();
        if !functions.is_empty() {
            json.object(|json| {
                json.list_field("functionDeclarations", |json| {
                    functions.iter().for_each(|tool| json.object(|json| tool.fields(json, "parametersJsonSchema")));
                });
            });
        }
        tools.iter().filter(|tool| Tool::neutral(tool).is_none()).for_each(|tool| json.value(tool));
    });
}
