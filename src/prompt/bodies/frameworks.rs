//! Chats of libraries: the AI SDK's two, LangChain's, those of the OpenAI Agents SDK, and our own.
//!
//! None of them is sent as it is: the library makes its own request of it. So they take what they can say: any id and name,
//! reasoning anywhere, and messages of one role in a row.

use super::arguments;
use super::body::Body;
use super::conversation::Conversation;
use super::ids::IdRule;
use super::json::Json;
use super::media::{Kind, Media, Source};
use super::normalize::{Item, ItemContent, MediaHolder, ReasoningPlace, Rules, ToolResult, normalize};
use super::openai_shared::{error_text, url_field};
use super::sink::DiagnosticSink;
use crate::content::Role;
use crate::content::signature::{self, ReasoningSignature};
use crate::prompt::format::Format;
use crate::text::is_blank;

pub(super) fn write<'m>(
    body: &mut Body<'m>,
    conversation: Conversation<'m>,
    format: Format,
    sink: &mut DiagnosticSink<'_>,
) {
    let (name, takes, takes_reasoning): (_, TakesMedia, TakesReasoning) = match format {
        Format::AiSdk | Format::AiSdkUi => ("the AI SDK", takes_anywhere, |text, signature| {
            let proof = signature
                .and_then(ReasoningSignature::read)
                .filter(|proof| !matches!(proof, ReasoningSignature::Field(..)));
            !is_blank(text) || proof.is_some()
        }),
        Format::LangChain => {
            ("LangChain", takes_of_user, |text, signature| !is_blank(text) || signature::is_anthropic(signature))
        }
        Format::Agents => ("the Agents SDK", takes_of_user, |text, signature| {
            !is_blank(text)
                || matches!(signature.and_then(ReasoningSignature::read), Some(ReasoningSignature::Sealed(..)))
        }),
        _ => ("our own format", takes_anywhere, |text, signature| !is_blank(text) || signature.is_some()),
    };
    let rules = Rules {
        name,
        user_first: false,
        system_field: false,
        results_apart: true,
        takes,
        takes_reasoning,
        id: IdRule::any(usize::MAX),
        tool_name: IdRule::any(usize::MAX),
        failed_result_is_text: matches!(format, Format::AiSdk | Format::AiSdkUi),
        reasoning: ReasoningPlace::Anywhere,
        chat: body.chat,
    };
    let normalized = normalize(conversation, body.target, &mut body.names, &rules, sink);
    let mut writer = Writer { format, sink };
    if format == Format::AiSdkUi {
        let items = normalized.items();
        body.list("messages", &normalized, |json| writer.ui_messages(json, items));
    } else {
        body.turns("messages", &normalized, &mut |json, turn| writer.turn(json, turn));
    }
}

type TakesMedia = fn(MediaHolder, &Media<'_>) -> bool;
type TakesReasoning = fn(&str, Option<&str>) -> bool;

fn takes_anywhere(place: MediaHolder, media: &Media<'_>) -> bool {
    match media.kind {
        Kind::Image(mime) => mime.is_some(),
        Kind::Audio(mime) => mime.is_some() && place == MediaHolder::User,
    }
}

fn takes_of_user(place: MediaHolder, media: &Media<'_>) -> bool {
    let is_here = matches!((media.kind, media.source), (Kind::Image(_), _) | (_, Source::Data(_)));
    place != MediaHolder::Assistant && is_here && takes_anywhere(place, media)
}

struct Writer<'w, 's> {
    format: Format,
    sink: &'w mut DiagnosticSink<'s>,
}

impl Writer<'_, '_> {
    fn turn(&mut self, json: &mut Json, turn: &[Item<'_>]) {
        let Some(first) = turn.first() else { return };
        let is_result = matches!(first.content, ItemContent::Result(_));
        match self.format {
            Format::Agents => self.agent_items(json, turn),
            Format::LangChain if is_result => turn.iter().for_each(|item| self.part(json, item, None)),
            Format::AiSdk if is_result => json.object(|json| {
                json.text_field("role", "tool");
                json.key("content");
                self.parts(json, turn);
            }),
            Format::LangChain => json.typed(langchain_type(first.role), |json| {
                json.key("content");
                self.content(json, turn);
                let is_call = |item: &&Item<'_>| matches!(item.content, ItemContent::Call { .. });
                if turn.iter().any(|item| is_call(&item)) {
                    let calls = turn.iter().filter(is_call);
                    json.list_field("tool_calls", |json| calls.for_each(|item| self.part(json, item, None)));
                }
            }),
            _ => json.message(role_of(first), |json| self.content(json, turn)),
        }
    }

    /// One text alone as a string, else a list of parts.
    fn content(&mut self, json: &mut Json, turn: &[Item<'_>]) {
        let is_part =
            |item: &Item<'_>| self.format != Format::LangChain || !matches!(item.content, ItemContent::Call { .. });
        let parts: Vec<&Item<'_>> = turn.iter().filter(|item| is_part(item)).collect();
        match parts.as_slice() {
            [] => json.raw("\"\""),
            [Item { content: ItemContent::Text(text), .. }] => json.string(text),
            _ if parts.len() < turn.len() => {
                json.list(|json| parts.iter().for_each(|item| self.part(json, item, None)))
            }
            _ => self.parts(json, turn),
        }
    }

    fn parts(&mut self, json: &mut Json, turn: &[Item<'_>]) {
        json.list(|json| {
            let mut carried = None;
            for (at, item) in turn.iter().enumerate() {
                match self.carried(item, turn.get(at + 1)) {
                    Some(proof) => carried = Some(proof),
                    None => self.part(json, item, carried.take()),
                }
            }
        });
    }

    /// What the AI SDK has beside the part that comes next: Google's signature of a call or a text.
    fn carried<'i>(&self, item: &'i Item<'_>, next: Option<&Item<'_>>) -> Option<ReasoningSignature<'i>> {
        let ItemContent::Reasoning { text, signature: Some(signature) } = item.content else { return None };
        let is_said = |next: &Item<'_>| !matches!(next.content, ItemContent::Reasoning { .. } | ItemContent::Result(_));
        let carries =
            matches!(self.format, Format::AiSdk | Format::AiSdkUi) && is_blank(text) && next.is_some_and(is_said);
        let proof = ReasoningSignature::read(signature).filter(|_| carries);
        proof.filter(|proof| matches!(proof, ReasoningSignature::Thought(_) | ReasoningSignature::Opaque(_)))
    }

    fn part(&mut self, json: &mut Json, item: &Item<'_>, proof: Option<ReasoningSignature<'_>>) {
        match &item.content {
            ItemContent::Text(text) => json.typed("text", |json| {
                json.text_field("text", text);
                self.proof(json, proof);
            }),
            ItemContent::Media(media) => self.media(json, media),
            ItemContent::Reasoning { text, signature } => self.reasoning(json, text, *signature),
            ItemContent::Call { id, name, arguments } => {
                let arguments = arguments::object(arguments, name, item.message, self.sink);
                let [kind, id_key, name_key, key] = match self.format {
                    Format::AiSdk => ["tool-call", "toolCallId", "toolName", "input"],
                    Format::LangChain => ["tool_call", "id", "name", "args"],
                    _ => ["toolCall", "id", "name", "arguments"],
                };
                json.typed(kind, |json| {
                    json.text_field(id_key, id.as_ref());
                    json.text_field(name_key, name.as_ref());
                    json.raw_field(key, &arguments);
                    self.proof(json, proof);
                });
            }
            ItemContent::Result(result) => self.result(json, result),
        }
    }

    /// What stands beside a part of the AI SDK. Of a proof that does not say whose it is each vendor reads its own.
    fn proof(&self, json: &mut Json, proof: Option<ReasoningSignature<'_>>) {
        let name = if self.format == Format::AiSdk { "providerOptions" } else { "providerMetadata" };
        if let Some(proof) = proof.filter(|proof| !matches!(proof, ReasoningSignature::Field(..))) {
            json.object_field(name, |json| provider_options(json, &proof));
        }
    }

    fn media(&self, json: &mut Json, media: &Media<'_>) {
        let (is_image, mime) = match media.kind {
            Kind::Image(mime) => (true, mime.unwrap_or_default()),
            Kind::Audio(mime) => (false, mime.unwrap_or_default()),
        };
        let (field, source) = match media.source {
            Source::Data(data) => ("data", data),
            Source::Url(url) => ("url", url),
        };
        match (self.format, is_image) {
            (Format::AiSdk, _) => json.typed("file", |json| {
                json.text_field("mediaType", mime);
                json.text_field("data", source);
            }),
            (Format::AiSdkUi, _) => json.typed("file", |json| {
                json.text_field("mediaType", mime);
                url_field(json, "url", media);
            }),
            (Format::LangChain, true) => {
                json.typed("image_url", |json| json.object_field("image_url", |json| url_field(json, "url", media)));
            }
            (Format::Agents, true) => json.typed("input_image", |json| url_field(json, "image", media)),
            (Format::Agents, false) => json.typed("audio", |json| {
                json.text_field("audio", source);
                json.text_field("format", mime.strip_prefix("audio/").unwrap_or(mime));
            }),
            _ => json.typed(if is_image { "image" } else { "audio" }, |json| {
                json.text_field("mimeType", mime);
                json.text_field(field, source);
            }),
        }
    }

    fn reasoning(&self, json: &mut Json, text: &str, signature: Option<&str>) {
        match self.format {
            Format::LangChain => match signature.and_then(ReasoningSignature::read) {
                Some(ReasoningSignature::Redacted(data)) => {
                    json.typed("redacted_thinking", |json| json.text_field("data", data.as_ref()));
                }
                Some(ReasoningSignature::Thinking(signature) | ReasoningSignature::Opaque(signature)) => {
                    json.typed("thinking", |json| {
                        json.text_field("thinking", text);
                        json.text_field("signature", signature.as_ref());
                    })
                }
                _ => json.typed("reasoning", |json| json.text_field("reasoning", text)),
            },
            Format::Agents => {
                let (id, sealed) = match signature.and_then(ReasoningSignature::read) {
                    Some(ReasoningSignature::Sealed(id, sealed)) => (id, Some(sealed)),
                    _ => (None, None),
                };
                json.typed("reasoning", |json| {
                    if let Some(id) = id {
                        json.text_field("id", id.as_ref());
                    }
                    json.list_field("content", |json| {
                        if !is_blank(text) {
                            json.text_block("input_text", text);
                        }
                    });
                    if let Some(sealed) = sealed {
                        json.object_field("providerData", |json| json.text_field("encrypted_content", sealed.as_ref()));
                    }
                });
            }
            _ => json.typed("reasoning", |json| {
                json.text_field("text", text);
                match signature {
                    Some(signature) if self.format == Format::Generic => json.text_field("signature", signature),
                    signature => self.proof(json, signature.and_then(ReasoningSignature::read)),
                }
            }),
        }
    }

    fn result(&mut self, json: &mut Json, result: &ToolResult<'_>) {
        let failed = result.is_error;
        match self.format {
            Format::AiSdk => json.typed("tool-result", |json| {
                json.text_field("toolCallId", result.id.as_ref());
                json.text_field("toolName", result.name.as_ref());
                let kind = match result.text() {
                    _ if failed => "error-text",
                    Some(_) => "text",
                    None => "content",
                };
                json.object_field("output", |json| {
                    json.text_field("type", kind);
                    json.key("value");
                    self.shown(json, result);
                });
            }),
            Format::LangChain => json.typed("tool", |json| {
                json.text_field("tool_call_id", result.id.as_ref());
                json.text_field("name", result.name.as_ref());
                json.key("content");
                self.shown(json, result);
                if failed {
                    json.text_field("status", "error");
                }
            }),
            _ => json.typed("toolResult", |json| {
                json.text_field("toolCallId", result.id.as_ref());
                json.key("content");
                self.shown(json, result);
                if failed {
                    json.raw_field("isError", "true");
                }
            }),
        }
    }

    /// The result of a tool: a text, or a list of parts. An error of the AI SDK is one text.
    fn shown(&self, json: &mut Json, result: &ToolResult<'_>) {
        if let Some(text) = result.text() {
            return json.string(text);
        }
        let is_sdk = matches!(self.format, Format::AiSdk | Format::AiSdkUi);
        if is_sdk && result.is_error {
            return json.string(result.joined().as_str());
        }
        json.list(|json| {
            for content in &result.content {
                match (content.media(), content.as_text()) {
                    (Some(media), _) if is_sdk => match media.source {
                        Source::Data(data) => json.typed("image-data", |json| {
                            json.text_field("data", data);
                            if let Kind::Image(Some(mime)) = media.kind {
                                json.text_field("mediaType", mime);
                            }
                        }),
                        Source::Url(url) => json.typed("image-url", |json| json.text_field("url", url)),
                    },
                    (Some(media), _) => self.media(json, media),
                    (None, Some(text)) => {
                        json.text_block(if self.format == Format::Agents { "input_text" } else { "text" }, text);
                    }
                    (None, None) => {}
                }
            }
        });
    }

    /// Items of the Agents SDK: what is said, each call, each result and each thought is one.
    fn agent_items(&mut self, json: &mut Json, turn: &[Item<'_>]) {
        let role = turn.first().map_or(Role::User, |item| item.role);
        let is_said = |item: &Item<'_>| matches!(item.content, ItemContent::Text(_) | ItemContent::Media(_));
        if role != Role::Assistant && turn.iter().all(is_said) {
            return json.message(turn.first().map_or(role, role_of), |json| match turn {
                [Item { content: ItemContent::Text(text), .. }] => json.string(text),
                _ => json.list(|json| {
                    for item in turn {
                        match &item.content {
                            ItemContent::Text(text) => json.text_block("input_text", text),
                            _ => self.part(json, item, None),
                        }
                    }
                }),
            });
        }
        for item in turn {
            match &item.content {
                ItemContent::Text(text) => json.typed("message", |json| {
                    json.text_field("role", "assistant");
                    json.text_field("status", "completed");
                    json.list_field("content", |json| json.text_block("output_text", text));
                }),
                ItemContent::Call { id, name, arguments } => json.typed("function_call", |json| {
                    json.text_field("callId", id.as_ref());
                    json.text_field("name", name.as_ref());
                    json.text_field("arguments", arguments::text(arguments).as_ref());
                }),
                ItemContent::Result(result) => {
                    let error = error_text(result, item.message, "The Agents SDK", self.sink);
                    json.typed("function_call_result", |json| {
                        json.text_field("callId", result.id.as_ref());
                        json.text_field("name", result.name.as_ref());
                        json.text_field("status", "completed");
                        json.key("output");
                        match result.text() {
                            Some(text) => json.text_block("text", [error, text].as_slice()),
                            None if error.is_empty() => self.shown(json, result),
                            None => json.text_block("text", [error, &result.joined()].as_slice()),
                        }
                    });
                }
                _ => self.part(json, item, None),
            }
        }
    }

    /// Messages of a user interface: a run of the assistant's is one, with a step for each of its answers, and a call and its
    /// result are one part.
    fn ui_messages(&mut self, json: &mut Json, items: &[Item<'_>]) {
        let is_result = |item: &Item<'_>| matches!(item.content, ItemContent::Result(_));
        let is_run = |item: &Item<'_>| item.role == Role::Assistant || is_result(item);
        let is_one = |a: &Item<'_>, b: &Item<'_>| {
            is_run(a) == is_run(b) && (is_run(a) || (a.role == b.role && a.message == b.message))
        };
        for (number, message) in items.chunk_by(is_one).enumerate() {
            json.object(|json| {
                json.text_field("id", format!("message-{}", number + 1).as_str());
                json.text_field(
                    "role",
                    match message.first() {
                        Some(item) if is_run(item) => "assistant",
                        Some(item) if item.role.is_system() => "system",
                        _ => "user",
                    },
                );
                json.list_field("parts", |json| {
                    let mut step_before = message.first().is_some_and(is_run);
                    let mut carried = None;
                    for (at, item) in message.iter().enumerate() {
                        if is_result(item) {
                            step_before = true;
                            continue;
                        }
                        if std::mem::take(&mut step_before) {
                            json.typed("step-start", |_| {});
                        }
                        if let Some(proof) = self.carried(item, message.get(at + 1)) {
                            carried = Some(proof);
                            continue;
                        }
                        let ItemContent::Call { id, name, arguments } = &item.content else {
                            self.part(json, item, carried.take());
                            continue;
                        };
                        let answers =
                            |item: &Item<'_>| matches!(&item.content, ItemContent::Result(result) if result.id == *id);
                        let answer = message.get(at..).and_then(|rest| rest.iter().find(|item| answers(item)));
                        let input = arguments::object(arguments, name, item.message, self.sink);
                        self.ui_tool(json, [id, name, &input], answer, carried.take());
                    }
                });
            });
        }
    }

    fn ui_tool(
        &self,
        json: &mut Json,
        [id, name, input]: [&str; 3],
        answer: Option<&Item<'_>>,
        proof: Option<ReasoningSignature<'_>>,
    ) {
        json.typed(&["tool-", name].concat(), |json| {
            json.text_field("toolCallId", id);
            let result = answer
                .and_then(|item| if let ItemContent::Result(result) = &item.content { Some(result) } else { None });
            let (state, key) = match result {
                None => ("input-available", ""),
                Some(result) if result.is_error => ("output-error", "errorText"),
                Some(_) => ("output-available", "output"),
            };
            json.text_field("state", state);
            json.raw_field("input", input);
            if let Some(result) = result {
                json.key(key);
                self.shown(json, result);
            }
            if let Some(proof) = proof {
                json.object_field("callProviderMetadata", |json| provider_options(json, &proof));
            }
        });
    }
}

/// A proof where its vendor looks for it.
fn provider_options(json: &mut Json, proof: &ReasoningSignature<'_>) {
    let mut vendor = |name, field, text: &str| json.object_field(name, |json| json.text_field(field, text));
    match proof {
        ReasoningSignature::Thinking(text) => vendor("anthropic", "signature", text),
        ReasoningSignature::Redacted(data) => vendor("anthropic", "redactedData", data),
        ReasoningSignature::Thought(text) => vendor("google", "thoughtSignature", text),
        ReasoningSignature::Opaque(text) => {
            vendor("anthropic", "signature", text);
            vendor("google", "thoughtSignature", text);
        }
        ReasoningSignature::Sealed(id, sealed) => json.object_field("openai", |json| {
            if let Some(id) = id {
                json.text_field("itemId", id.as_ref());
            }
            json.text_field("reasoningEncryptedContent", sealed.as_ref());
        }),
        ReasoningSignature::Field(..) => {}
    }
}

/// Only OpenAI has developers.
fn role_of(item: &Item<'_>) -> Role {
    if item.role.is_system() { Role::System } else { item.role }
}

fn langchain_type(role: Role) -> &'static str {
    match role {
        Role::System | Role::Developer => "system",
        Role::User | Role::Tool => "human",
        Role::Assistant => "ai",
    }
}
