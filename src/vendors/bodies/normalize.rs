//! Normalizes messages to an order that every provider accepts: results directly after their calls, calls and reasoning
//! in assistant turns, results in user turns, and placeholder texts for content that cannot be sent.

use std::borrow::Cow;

use serde_json::Value;

use super::conversation::{Conversation, Text};
use super::ids::{IdRule, Ids, ToolNames};
use super::media::{self, Media};
use super::reuse::{Span, write_messages};
use super::sink::DiagnosticSink;
use super::target::Target;
use crate::content::{Block, Role, VendorBlock};
use crate::error::DiagnosticCode;
use crate::json::JsonWriter;
use crate::maps::{SortedMap, SortedSet};
use crate::sorting::sort_by_key;
use crate::text::is_blank;
use crate::tool_calls::ToolPairs;
use crate::vendors::message::Message;
use crate::vendors::signature::ReasoningSignature;
use crate::vendors::vendor_block::BlockFormat;

/// The rules of a provider.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    /// The name for diagnostics.
    pub name: &'static str,
    /// Whether the first message must be the user's.
    pub user_first: bool,
    /// Whether adjacent messages of one role have to be merged.
    pub turns_alternate: bool,
    /// Whether the system context is a separate field.
    pub system_field: bool,
    /// Whether results are a separate turn.
    pub results_apart: bool,
    /// Whether these media are allowed at a place.
    pub takes: fn(MediaHolder, &Media<'_>) -> bool,
    /// Whether reasoning with this text and signature can be sent back.
    pub takes_reasoning: fn(&str, Option<&str>) -> bool,
    pub id: IdRule,
    pub tool_name: IdRule,
    /// Whether a failed result must hold only texts, at least one.
    pub failed_result_is_text: bool,
    pub reasoning: ReasoningPlace,
    /// Whether phases of messages are supported.
    pub phases: bool,
    /// The formats whose blocks are accepted unchanged.
    pub blocks: &'static [BlockFormat],
    /// Whether a chat is written in another format instead of a request: a call at the end may be open, an empty chat
    /// stays empty, and messages stay separate if their roles need not alternate.
    pub chat: bool,
}

impl Rules {
    fn is_chat(&self) -> bool {
        self.chat
    }
}

/// The place of reasoning in an assistant turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReasoningPlace {
    Anywhere,
    /// Before something other than reasoning.
    NotLast,
    /// As `NotLast`, and first in the turn.
    First,
    /// In a turn with other content: reasoning is a field of its message.
    MessageField,
}

/// The text of a failed result without a text.
const FAILED: &str = "The tool failed and said nothing.";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MediaHolder {
    User,
    Assistant,
    Result,
}

#[derive(Clone, Debug)]
pub(crate) struct Item<'m> {
    pub role: Role,
    /// The message it came from; `None` for inserted ones.
    pub message: Option<usize>,
    pub cache_mark: bool,
    pub content: ItemContent<'m>,
}

/// The content of an item. Unlike a [`Block`], its text may be written by its source, its media are in the provider's
/// terms, its ids are those in the body, and a result names the tool.
#[derive(Clone, Debug)]
pub(crate) enum ItemContent<'m> {
    Text(Text<'m>),
    Media(Media<'m>),
    Call {
        id: Cow<'m, str>,
        name: Cow<'m, str>,
        arguments: &'m Value,
    },
    Result(ToolResult<'m>),
    Reasoning {
        text: &'m str,
        signature: Option<&'m str>,
    },
    /// A block that the provider accepts unchanged.
    Vendor(&'m VendorBlock<'m>),
}

impl<'m> ItemContent<'m> {
    fn text(text: impl Into<Cow<'m, str>>) -> Self {
        Self::Text(Text::Whole(text.into()))
    }

    pub(crate) fn as_text(&self) -> Option<&Text<'m>> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }

    pub(crate) fn media(&self) -> Option<&Media<'m>> {
        if let Self::Media(media) = self { Some(media) } else { None }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct ToolResult<'m> {
    pub id: Cow<'m, str>,
    pub name: Cow<'m, str>,
    pub content: Vec<ItemContent<'m>>,
    pub is_error: bool,
}

impl ToolResult<'_> {
    /// The text of a result that consists of one text.
    pub(crate) fn text(&self) -> Option<&str> {
        match self.content.as_slice() {
            [] => Some(""),
            [ItemContent::Text(Text::Whole(text))] => Some(text),
            _ => None,
        }
    }

    /// All its texts as one.
    pub(crate) fn joined(&self) -> String {
        let texts = self.content.iter().filter_map(|content| match content {
            ItemContent::Text(Text::Whole(text)) => Some(&**text),
            _ => None,
        });
        texts.collect::<Vec<_>>().join("\n\n")
    }

    /// The label before media that were moved out of it.
    pub(crate) fn media_label(&self) -> String {
        format!("[shown by the result of {} ({})]", self.name, self.id)
    }
}

/// A conversation in the order of the body.
#[derive(Debug)]
pub(crate) struct Normalized<'m> {
    /// The system context, unless it is the first item.
    pub system: Option<Cow<'m, str>>,
    /// The messages before the regular ones; all messages if they are irregular.
    items: Vec<Item<'m>>,
    conversation: Conversation<'m>,
    /// Regular messages with a cache breakpoint after them.
    marked: SortedSet<usize>,
    results_apart: bool,
    /// Whether messages other than the assistant's stay separate.
    messages_apart: bool,
    chat: bool,
}

impl Normalized<'_> {
    /// All items of irregular messages.
    pub(crate) fn items(&self) -> &[Item<'_>] {
        &self.items
    }

    /// Puts a cache breakpoint after each of these messages that can have one.
    pub(crate) fn mark(&mut self, messages: &[usize]) {
        for &message in messages {
            let of_message = |item: &&mut Item<'_>| {
                item.message == Some(message) && !matches!(item.content, ItemContent::Reasoning { .. })
            };
            self.items.iter_mut().rev().find(of_message).into_iter().for_each(|item| item.cache_mark = true);
        }
        let first = self.conversation.first();
        self.marked = messages.iter().filter_map(|message| message.checked_sub(first)).collect();
    }

    pub(crate) fn ends_with_assistant(&self) -> bool {
        let last = match self.conversation.irregular {
            None => self.conversation.count().checked_sub(1).and_then(|at| self.conversation.role(at)),
            Some(_) => self.items.last().map(|last| last.role),
        };
        !self.chat && last == Some(Role::Assistant)
    }

    /// Writes all turns as elements of a list. Returns the places of the regular messages.
    pub(crate) fn write_turns(
        &self,
        json: &mut JsonWriter,
        write: &mut dyn FnMut(&mut JsonWriter, &[Item<'_>]),
    ) -> Vec<Span> {
        let Conversation { messages, irregular, last, .. } = self.conversation;
        let is_tool_result = |item: &Item<'_>| matches!(item.content, ItemContent::Result(_));
        let is_result = |item: &Item<'_>| self.results_apart && is_tool_result(item);
        let is_apart = |a: &Item<'_>, b: &Item<'_>| {
            self.messages_apart && a.role != Role::Assistant && a.message != b.message && !is_tool_result(a)
        };
        let turns = self.items.chunk_by(|a, b| a.role == b.role && is_result(a) == is_result(b) && !is_apart(a, b));
        turns.for_each(|turn| write(json, turn));
        if irregular.is_some() {
            return Vec::new();
        }
        let first = self.conversation.first();
        write_messages(json, messages, last, &self.marked, &mut |json, at| {
            let item = Item {
                role: messages.role(at),
                message: Some(at + first),
                cache_mark: self.marked.contains(&at),
                content: ItemContent::Text(Text::Message(messages, at)),
            };
            write(json, &[item]);
        })
    }
}

/// Normalizes the conversation for the body. Returns the names of its tools.
pub(crate) fn normalize<'m>(
    conversation: Conversation<'m>,
    target: &'m Target,
    tool_names: &mut ToolNames,
    rules: &Rules,
    sink: &mut DiagnosticSink<'_>,
) -> Normalized<'m> {
    let messages = conversation.irregular.unwrap_or_default();
    let mut system = None;
    let mut items = Vec::with_capacity(messages.len() + 2);
    if let Some((role, text)) = conversation.system {
        if rules.system_field {
            system = Some(Cow::Borrowed(text));
        } else {
            let message = role.map(|_| 0);
            items.push(item(role.unwrap_or(Role::System), message, ItemContent::text(text)));
        }
    }
    let (flat, has_tools) = flatten(messages, rules, &mut system, sink);
    *tool_names = ToolNames::of(target, messages, rules.tool_name, sink);
    let pairs = if has_tools { Pairs::find(&flat) } else { Pairs::default() };
    TurnAlternator { target, rules, sink, pairs, tool_names, sealed: SortedSet::new() }.arrange(&flat, &mut items);
    let at = items.iter().position(|item| !item.role.is_system()).unwrap_or(items.len());
    let begins_compacted = begins_with_compaction(items.get(at..).unwrap_or_default());
    let begins = items.get(at).map(|item| item.role);
    let begins = begins.or_else(|| conversation.irregular.is_none().then(|| conversation.messages.role(0)));
    // A system context alone is not a valid request either.
    if begins.map_or(!rules.is_chat(), |role| rules.user_first && role != Role::User && !begins_compacted) {
        items.insert(at, item(Role::User, None, ItemContent::text(target.opening_text.as_str())));
        let why = if begins.is_some() {
            format!("{} requires a user message first", rules.name)
        } else {
            "the conversation has no messages".to_owned()
        };
        let message = format!("{why}; `{}` was inserted", target.opening_text);
        sink.info(DiagnosticCode::BodyMessageInserted, None, message);
    }
    let (results_apart, chat) = (rules.results_apart, rules.is_chat());
    let messages_apart = chat && !rules.turns_alternate;
    Normalized { system, items, conversation, marked: SortedSet::new(), results_apart, messages_apart, chat }
}

/// Whether the first turn has a compaction, which may begin a conversation.
fn begins_with_compaction(items: &[Item<'_>]) -> bool {
    let first = items.chunk_by(|a, b| a.role == b.role).next().unwrap_or_default();
    first.iter().any(|item| matches!(item.content, ItemContent::Vendor(block) if block.is_compaction()))
}

fn item(role: Role, message: Option<usize>, content: ItemContent<'_>) -> Item<'_> {
    Item { role, message, cache_mark: false, content }
}

#[derive(Clone, Copy, Debug)]
struct Flat<'m> {
    role: Role,
    message: usize,
    block: &'m Block<'m>,
}

/// All blocks with their roles: calls and reasoning are the assistant's, results the user's.
fn flatten<'m>(
    messages: &'m [Message<'m>],
    rules: &Rules,
    system: &mut Option<Cow<'m, str>>,
    sink: &mut DiagnosticSink<'_>,
) -> (Vec<Flat<'m>>, bool) {
    let mut flat = Vec::with_capacity(messages.len());
    let mut has_tools = false;
    for (at, message) in messages.iter().enumerate() {
        if let ([Block::Text(text)], true) = (&*message.content, rules.system_field && message.role.is_system()) {
            if !flat.is_empty() {
                let text = format!("{} has one place for the system context; the message was moved there", rules.name);
                sink.info(DiagnosticCode::BodyPartMoved, Some(at), text);
            }
            *system = Some(match system.take() {
                Some(before) => Cow::Owned(format!("{before}\n\n{text}")),
                None => Cow::Borrowed(text),
            });
            continue;
        }
        for block in &message.content {
            let role = match block {
                Block::ToolCall { .. } | Block::Reasoning { .. } => Role::Assistant,
                Block::ToolResult { .. } => Role::User,
                Block::Vendor(block) if block.format().is_item() => Role::Assistant,
                Block::Text(text) if is_blank(text) => continue,
                _ => message.role,
            };
            has_tools |= matches!(block, Block::ToolCall { .. } | Block::ToolResult { .. });
            flat.push(Flat { role, message: at, block });
        }
    }
    (flat, has_tools)
}

/// Pairs of call and result, by index in the flat list.
#[derive(Debug, Default)]
struct Pairs {
    result_of: SortedMap<usize, usize>,
    answered: SortedSet<usize>,
    /// For each index, the number of earlier blocks other than results.
    others_before: Vec<usize>,
}

impl Pairs {
    fn find(flat: &[Flat<'_>]) -> Self {
        let mut pairs = Self::default();
        let mut others = 0;
        for item in flat {
            pairs.others_before.push(others);
            others += usize::from(!matches!(item.block, Block::ToolResult { .. }));
        }
        pairs.others_before.push(others);
        let blocks = flat.iter().enumerate().map(|(at, item)| ((item.message, at), item.block));
        for ((_, call), (_, result)) in ToolPairs::of_blocks(blocks).answered {
            pairs.result_of.insert(call, result);
            pairs.answered.insert(result);
        }
        pairs
    }

    /// Whether other blocks are between a place and a result.
    fn apart(&self, from: usize, result: usize) -> bool {
        self.others_before.get(from) != self.others_before.get(result)
    }
}

struct TurnAlternator<'o, 'n> {
    target: &'o Target,
    rules: &'o Rules,
    sink: &'o mut DiagnosticSink<'n>,
    pairs: Pairs,
    tool_names: &'o ToolNames,
    /// The ids of the provider's items written so far.
    sealed: SortedSet<String>,
}

/// A call whose result is not placed yet.
struct Open<'m> {
    at: usize,
    id: Cow<'m, str>,
    name: Cow<'m, str>,
}

impl TurnAlternator<'_, '_> {
    fn arrange<'m>(mut self, flat: &[Flat<'m>], out: &mut Vec<Item<'m>>) {
        let mut ids = Ids::new(self.rules.id, "call");
        let mut open: Vec<Open<'m>> = Vec::new();
        // Calls at the very end may be open.
        let is_user_content =
            |flat: &Flat<'_>| flat.role != Role::Assistant && !matches!(flat.block, Block::ToolResult { .. });
        let open_from = if self.rules.is_chat() {
            flat.iter().rposition(is_user_content).map_or(0, |last| last + 1)
        } else {
            flat.len()
        };
        for (at, &Flat { role, message, block }) in flat.iter().enumerate() {
            if role != Role::Assistant {
                self.results(flat, at, &mut open, out);
            }
            let content = match block {
                Block::Text(text) => ItemContent::text(text.as_ref()),
                Block::Image(_) | Block::Audio(_) => {
                    let place = if role == Role::Assistant { MediaHolder::Assistant } else { MediaHolder::User };
                    self.media(block, place, message)
                }
                Block::Reasoning { text, signature, .. } => {
                    let signature = signature.as_deref();
                    if !self.reasoning(text, signature, message) {
                        continue;
                    }
                    ItemContent::Reasoning { text, signature }
                }
                Block::Vendor(block) => match self.vendor_block(block, message) {
                    Some(content) => content,
                    None => continue,
                },
                Block::ToolCall { id: own_id, name, arguments, .. } => {
                    if at < open_from && !self.pairs.result_of.contains_key(&at) {
                        self.broken(message, format!("tool call `{own_id}` has no result after it"));
                        continue;
                    }
                    let id = self.id(&mut ids, own_id, message);
                    let name = match self.tool_names.get(name) {
                        same if same == name => Cow::Borrowed(name.as_ref()),
                        other => Cow::Owned(other.to_owned()),
                    };
                    open.push(Open { at, id: id.clone(), name: name.clone() });
                    ItemContent::Call { id, name, arguments }
                }
                Block::ToolResult { tool_call_id, .. } => {
                    if !self.pairs.answered.contains(&at) {
                        let text = format!("the result of tool call `{tool_call_id}` has no call before it");
                        self.broken(message, text);
                    }
                    continue;
                }
            };
            out.push(item(role, Some(message), content));
        }
        self.results(flat, flat.len(), &mut open, out);
        self.place_reasoning(out);
    }

    /// Removes reasoning that the provider rejects, and moves reasoning that has to be first.
    fn place_reasoning(&mut self, items: &mut Vec<Item<'_>>) {
        let place = self.rules.reasoning;
        let is_reasoning = |item: &Item<'_>| matches!(item.content, ItemContent::Reasoning { .. });
        let goes_first = place == ReasoningPlace::First;
        if place == ReasoningPlace::Anywhere || !(goes_first || items.iter().any(is_reasoning)) {
            return;
        }
        let mut stays = Vec::with_capacity(items.len());
        for turn in items.chunk_by(|a, b| a.role == b.role) {
            let first = turn.iter().position(|item| !is_reasoning(item)).unwrap_or(turn.len());
            let last = turn.iter().rposition(|item| !is_reasoning(item));
            for (at, item) in turn.iter().enumerate() {
                let is_last = last.is_none_or(|last| at > last && place != ReasoningPlace::MessageField);
                let is_refused = is_reasoning(item) && is_last;
                if is_refused {
                    let text = format!("{} rejects reasoning at the end of a turn; it was left out", self.rules.name);
                    self.sink.warn(DiagnosticCode::BodyReasoningLeftOut, item.message, text);
                } else if is_reasoning(item) && goes_first && at > first {
                    let text = format!("{} requires reasoning first in a turn; it was moved there", self.rules.name);
                    self.sink.info(DiagnosticCode::BodyPartMoved, item.message, text);
                }
                stays.push(!is_refused);
            }
        }
        let mut stays = stays.into_iter();
        items.retain(|_| stays.next().unwrap_or(true));
        if goes_first {
            items.chunk_by_mut(|a, b| a.role == b.role).for_each(|turn| sort_by_key(turn, |item| !is_reasoning(item)));
            self.check_last_thought(items);
        }
    }

    /// With thinking on, Anthropic rejects results whose calls do not begin with thinking.
    fn check_last_thought(&mut self, items: &[Item<'_>]) {
        let mut turns = items.chunk_by(|a, b| a.role == b.role).rev();
        let is_result = |item: &Item<'_>| matches!(item.content, ItemContent::Result(_));
        if !turns.next().is_some_and(|last| last.iter().all(is_result)) {
            return;
        }
        let first = turns.next().and_then(<[Item<'_>]>::first);
        if let Some(first) = first.filter(|first| !matches!(first.content, ItemContent::Reasoning { .. })) {
            let text = format!(
                "`target.thinking` is on, but the calls of the last results have no thinking before them, which {} rejects; turn it off for this request",
                self.rules.name
            );
            self.sink.warn(DiagnosticCode::BodyReasoningLeftOut, first.message, text);
        }
    }

    /// The results of the calls of the turn before `at`, at any place.
    fn results<'m>(&mut self, flat: &[Flat<'m>], at: usize, open: &mut Vec<Open<'m>>, out: &mut Vec<Item<'m>>) {
        let mut moved = Vec::new();
        for call in open.drain(..) {
            let Some(&place) = self.pairs.result_of.get(&call.at) else { continue };
            let Some(&Flat { message, block, .. }) = flat.get(place) else { continue };
            let Block::ToolResult { tool_call_id, content, is_error, .. } = block else { continue };
            if self.pairs.apart(at, place) {
                let text = format!("the result of tool call `{tool_call_id}` was moved directly after its call");
                self.sink.info(DiagnosticCode::BodyPartMoved, Some(message), text);
            }
            let content = self.result_content(content, message);
            let is_error = *is_error == Some(true);
            let mut result = ToolResult { id: call.id, name: call.name, content, is_error };
            if is_error && self.rules.failed_result_is_text {
                self.texts_of_failed(&mut result, message, &mut moved);
            }
            out.push(item(Role::User, Some(message), ItemContent::Result(result)));
        }
        out.append(&mut moved);
    }

    /// Moves media out of a result, and gives it a text if it has none.
    fn texts_of_failed<'m>(&mut self, result: &mut ToolResult<'m>, message: usize, moved: &mut Vec<Item<'m>>) {
        let Rules { name, .. } = self.rules;
        let mut media = Vec::new();
        for content in &mut result.content {
            if let Some(stand_in) = content.media().map(Media::stand_in) {
                media.push(std::mem::replace(content, ItemContent::text(stand_in)));
            }
        }
        if !media.is_empty() {
            let text = format!(
                "{name} accepts only texts from a failed tool; the media of the result of `{}` were moved after the results",
                result.name
            );
            self.sink.info(DiagnosticCode::BodyPartMoved, Some(message), text);
            moved.push(item(Role::User, Some(message), ItemContent::text(result.media_label())));
            moved.extend(media.into_iter().map(|media| item(Role::User, Some(message), media)));
        }
        if result.text().is_some_and(is_blank) {
            result.content = vec![ItemContent::text(FAILED)];
            let text = format!("{name} requires a text in a failed result; `{FAILED}` was inserted");
            self.sink.info(DiagnosticCode::BodyPartReplaced, Some(message), text);
        }
    }

    fn result_content<'m>(&mut self, blocks: &'m [Block<'m>], message: usize) -> Vec<ItemContent<'m>> {
        if let [Block::Text(text)] = blocks {
            return vec![ItemContent::text(text.as_ref())];
        }
        let mut content = Vec::with_capacity(blocks.len());
        for block in blocks {
            match block {
                Block::Text(text) if is_blank(text) => {}
                Block::Text(text) => content.push(ItemContent::text(text.as_ref())),
                Block::Image(_) | Block::Audio(_) => content.push(self.media(block, MediaHolder::Result, message)),
                Block::ToolCall { .. } | Block::ToolResult { .. } | Block::Reasoning { .. } | Block::Vendor(_) => {
                    let text = "a tool result can hold text and media only; another block in it was left out";
                    self.sink.warn(DiagnosticCode::NonTextLeftOut, Some(message), text.to_owned());
                }
            }
        }
        content
    }

    /// An image or a recording, or its placeholder.
    fn media<'m>(&mut self, block: &'m Block<'m>, place: MediaHolder, message: usize) -> ItemContent<'m> {
        let Some(media) = Media::new(block) else {
            let stand_in = media::stand_in(block);
            let text = format!("a part has neither `data` nor `url`; `{stand_in}` replaces it");
            self.sink.warn(DiagnosticCode::MediaMissing, Some(message), text);
            return ItemContent::text(stand_in);
        };
        if let Some(kind) = media.retyped() {
            let text = format!("the bytes of an image are `{kind}`; its type was corrected in the body");
            self.sink.info(DiagnosticCode::BodyPartReplaced, Some(message), text);
        }
        if (self.rules.takes)(place, &media) {
            return ItemContent::Media(media);
        }
        let (where_, stand_in) = (place.name(), media.stand_in());
        let text = format!(
            "{} does not accept {} in {where_}; `{stand_in}` replaces it",
            self.rules.name,
            media.description()
        );
        self.sink.warn(DiagnosticCode::BodyPartReplaced, Some(message), text);
        ItemContent::text(stand_in)
    }

    fn reasoning(&mut self, text: &str, signature: Option<&str>, message: usize) -> bool {
        if self.target.drop_reasoning {
            let text = "reasoning was left out because of `target.dropReasoning`";
            self.sink.info(DiagnosticCode::BodyReasoningLeftOut, Some(message), text.to_owned());
            return false;
        }
        let takes = (self.rules.takes_reasoning)(text, signature);
        if !takes {
            let which = if signature.is_some() { "this reasoning" } else { "reasoning without a valid signature" };
            let text = format!("{} does not accept {which}; it was left out", self.rules.name);
            self.sink.warn(DiagnosticCode::BodyReasoningLeftOut, Some(message), text);
        } else if self.rules.reasoning == ReasoningPlace::NotLast
            && let Some(ReasoningSignature::Sealed(Some(id), _)) = signature.and_then(ReasoningSignature::read)
            && !self.sealed.insert(id.to_string())
        {
            let text = format!("duplicate item `{id}` was left out; {} rejects duplicates", self.rules.name);
            self.sink.warn(DiagnosticCode::BodyReasoningLeftOut, Some(message), text);
            return false;
        } else if self.rules.reasoning == ReasoningPlace::MessageField
            && let Some(known) = signature.and_then(ReasoningSignature::read)
            && !matches!(known, ReasoningSignature::Field(..))
        {
            let text = "the signature of reasoning is another vendor's; only the text was sent".to_owned();
            self.sink.info(DiagnosticCode::BodyPartReplaced, Some(message), text);
        }
        takes
    }

    /// A block that only its vendor can read: unchanged, or for another provider the text that replaces it.
    fn vendor_block<'m>(&mut self, block: &'m VendorBlock<'m>, message: usize) -> Option<ItemContent<'m>> {
        let is_phase = block.phase().is_some();
        if is_phase && self.rules.phases {
            return Some(ItemContent::Vendor(block));
        }
        if is_phase || !self.rules.blocks.contains(&block.format()) {
            let (text, lost) = block.replacement();
            let found = lost.message(&format!(": {} cannot hold it", self.rules.name));
            if is_phase {
                self.sink.info(DiagnosticCode::NotExpressible, Some(message), found);
                return None;
            }
            self.sink.warn(lost.code(), Some(message), found);
            return text.map(ItemContent::text);
        }
        if let Some(id) = block.item_id().filter(|_| !self.rules.is_chat())
            && !self.sealed.insert(id.to_owned())
        {
            let text = format!("duplicate item `{id}` was left out; {} rejects duplicates", self.rules.name);
            self.sink.warn(DiagnosticCode::NotExpressible, Some(message), text);
            return None;
        }
        Some(ItemContent::Vendor(block))
    }

    fn id<'m>(&mut self, ids: &mut Ids, own_id: &'m str, message: usize) -> Cow<'m, str> {
        let id = ids.assign(own_id);
        if id != own_id {
            let text = format!("the id `{own_id}` of a tool call was changed to `{id}`, for the call and its result");
            self.sink.info(DiagnosticCode::BodyIdChanged, Some(message), text);
        }
        id
    }

    fn broken(&mut self, message: usize, what: String) {
        self.sink.warn(DiagnosticCode::ToolPairBroken, Some(message), format!("{what}; it was left out"));
    }
}

impl MediaHolder {
    fn name(self) -> &'static str {
        match self {
            Self::User => "a user message",
            Self::Assistant => "an assistant message",
            Self::Result => "a tool result",
        }
    }
}
