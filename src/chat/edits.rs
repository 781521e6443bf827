//! Edits before any cut: old results, calls, reasoning and images are removed (docs/chats.md).

use std::cmp::Reverse;

use super::messages::Messages;
use super::options::{CallEdit, Edits, RemovedReasoning, ResultEdit};
use super::pairs::{callers, is_there, thoughts_of_gone_calls};
use super::report::EditEffect;
use crate::assembly::settings::{TEXT_MARKER, rounded_excess};
use crate::assembly::shorten::{IMAGE, RemovedEnd, shortened};
use crate::content::Role;
use crate::maps::SortedSet;
use crate::prompt::Prices;
use crate::sorting;
use crate::text::Clusters;
use crate::tokens::search;
use crate::vendors::format::Format;
use crate::vendors::pieces::message::{At, EMPTY_INPUT, Kind, Message, Piece, Reason};

/// The state of editing a chat.
#[derive(Debug)]
pub(super) struct Editor<'e, 't> {
    pub messages: &'e mut Messages<'t>,
    pub pairs: &'e [(At, At)],
    /// Messages that are never edited.
    pub pinned: &'e [bool],
    pub format: Format,
    pub prices: Prices<'e>,
    /// Whether signed thinking is a chain, which may only be shortened from its beginning.
    pub binds_thinking: bool,
    /// Tokens of the whole request.
    pub total: u64,
    /// Edits are made above this number of tokens.
    pub target: u64,
    /// The last message of the model.
    pub read_to: usize,
    /// The protected call of a plan tool, whose arguments are the plan.
    pub plan: Option<At>,
    /// The last cleared result, in its original form.
    pub last_cleared: Option<(At, Piece<'t>)>,
    /// Whether the edits are those of a step, to which `minTokensFreed` and `step` apply as a whole.
    pub is_step: bool,
    /// The message up to which the last visible one was searched, and the role of that one.
    pub said: (usize, Option<Role>),
}

/// The places of the images in a request, oldest first, repeated for pieces with several images.
pub(super) fn images_in(messages: &Messages<'_>) -> Vec<At> {
    let mut found = Vec::new();
    for (index, message) in messages.iter().enumerate().filter(|(_, message)| message.removed.is_none()) {
        for (place, piece) in message.pieces.iter().enumerate().filter(|(_, piece)| piece.is_there()) {
            let is_image = piece.kind == Kind::Image;
            let count = if is_image { usize::from(piece.changed.is_none()) } else { piece.images.len() };
            found.extend(std::iter::repeat_n((index, place), count));
        }
    }
    found
}

impl Editor<'_, '_> {
    /// Makes the edits in their order, each as far as needed. Returns the effect of each.
    pub(super) fn make(&mut self, edits: &Edits) -> Vec<EditEffect> {
        let target = self.target;
        if !edits.always && self.total <= target {
            return Vec::new();
        }
        let min_tokens_freed = if self.is_step { 0 } else { edits.min_tokens_freed };
        // In a step the target is rounded instead.
        let freed = if edits.step > 0 && !self.is_step {
            rounded_excess(self.total, target, edits.step)
        } else {
            self.total.saturating_sub(target)
        };
        let mut target = if edits.always { 0 } else { self.total.saturating_sub(freed) };
        if self.is_step {
            target = target.min(self.total.saturating_sub(edits.min_tokens_freed));
        }
        let mut made = Vec::new();
        let mut edit = |name, candidates: Vec<At>, apply: &dyn Fn(&mut Self, At) -> u64, this: &mut Self| {
            if this.total <= target && !edits.always {
                return;
            }
            let before = (min_tokens_freed > 0).then(|| this.messages.clone());
            let (mut count, mut freed) = (0, 0_u64);
            for at in candidates {
                let enough = freed >= min_tokens_freed && this.total.saturating_sub(freed) <= target;
                if enough && !edits.always {
                    break;
                }
                let more = apply(this, at);
                count += usize::from(more > 0);
                freed = freed.saturating_add(more);
            }
            match before {
                Some(before) if freed < min_tokens_freed => {
                    *this.messages = before;
                    this.last_cleared = None;
                }
                _ if count > 0 => {
                    this.total = this.total.saturating_sub(freed);
                    made.push(EditEffect { edit: name, count, tokens: freed });
                }
                _ => {}
            }
        };
        if let Some(results) = &edits.tool_results {
            let candidates = self.results(results);
            let placeholder = self.prices.text(&results.placeholder);
            edit("toolResults", candidates, &|this, at| this.clear_result(at, results, placeholder), self);
            if edits.min_tokens_freed > 0 || self.total > target {
                self.last_cleared = None;
            }
        }
        if let Some(inputs) = &edits.tool_inputs {
            let placeholder = self.prices.text(EMPTY_INPUT);
            let mut calls = self.calls(inputs);
            calls.retain(|&call| !self.is_signed_before(call));
            edit("toolInputs", calls, &|this, at| this.clear_input(at, placeholder), self);
        }
        if let Some(of_calls) = &edits.tool_calls {
            let mut calls = self.calls(of_calls);
            if self.format == Format::Gemini {
                // The first call of a turn carries the signature of all.
                sorting::sort_by_key(&mut calls, |&(message, piece)| (message, Reverse(piece)));
            }
            let callers = callers(self.messages, 0);
            calls.retain(|&call| !self.is_run(call, &callers));
            edit("toolCalls", calls, &Self::remove_call, self);
        }
        if let Some(which) = edits.reasoning {
            let mut thoughts = self.thoughts();
            // Anthropic requires the thinking of the current turn unchanged.
            if which == RemovedReasoning::BeforeLastUser || self.format == Format::Anthropic {
                let last = self.last_user();
                thoughts.retain(|&(message, _)| message < last);
            }
            if !edits.always {
                // Removing it frees nothing.
                thoughts.retain(|&(at, _)| self.messages.get(at).is_none_or(|message| message.unbilled.is_none()));
            }
            edit("reasoning", thoughts, &Self::remove_reasoning, self);
        }
        if let Some(keep) = edits.images {
            let tokens = self.prices.text(IMAGE);
            let replace = |this: &mut Self, at: At| {
                this.messages.piece_mut(at).map_or(0, |piece| piece.replace_image(IMAGE, tokens, Reason::ImageRemoved))
            };
            let free = |&at: &At| !self.is_pinned(at.0) && !self.is_unread(at);
            let images = images_in(self.messages).into_iter().filter(free).collect();
            edit("images", but_last(images, keep), &replace, self);
        }
        made
    }

    fn is_pinned(&self, message: usize) -> bool {
        self.pinned.get(message) == Some(&true)
    }

    /// The remaining pieces of a kind, oldest first.
    fn all(&self, is: impl Fn(&Kind<'_>) -> bool) -> Vec<At> {
        let mut found = Vec::new();
        let free = |&(index, message): &(usize, &Message<'_>)| message.removed.is_none() && !self.is_pinned(index);
        for (index, message) in self.messages.iter().enumerate().filter(free) {
            let pieces = message.pieces.iter().enumerate().filter(|(_, piece)| piece.is_there() && is(&piece.kind));
            found.extend(pieces.map(|(place, _)| (index, place)));
        }
        found
    }

    /// The remaining thinking, oldest first. For a chain also that of pinned messages.
    fn thoughts(&self) -> Vec<At> {
        let mut found = self.all(|kind| *kind == Kind::Reasoning);
        if self.binds_thinking {
            let pinned = |&(index, message): &(usize, &Message<'_>)| message.removed.is_none() && self.is_pinned(index);
            for (index, message) in self.messages.iter().enumerate().filter(pinned) {
                let is = |piece: &Piece<'_>| piece.is_there() && piece.signed && piece.kind == Kind::Reasoning;
                let pieces = message.pieces.iter().enumerate().filter(|(_, piece)| is(piece));
                found.extend(pieces.map(|(place, _)| (index, place)));
            }
            sorting::sort(&mut found);
        }
        found
    }

    /// The pairs whose result remains, was read and is not pinned.
    fn free_results(&self) -> impl Iterator<Item = (At, At)> {
        let free = |&(_, result): &(At, At)| {
            is_there(self.messages, result) && !self.is_pinned(result.0) && !self.is_unread(result)
        };
        self.pairs.iter().copied().filter(free)
    }

    /// Whether a result is unread: it follows the last turn of the model, or of its last step.
    fn is_unread(&self, (at, place): At) -> bool {
        let Some(message) = self.messages.get(at).filter(|_| at >= self.read_to) else { return false };
        let Some(piece) = message.pieces.get(place) else { return false };
        match piece.kind {
            Kind::Result { .. } => at > self.read_to || message.role != Role::Assistant,
            Kind::CallAndResult { .. } => {
                let last = message.pieces.iter().filter(|piece| piece.is_there()).map(|piece| piece.step).max();
                at > self.read_to || last == Some(piece.step)
            }
            _ => false,
        }
    }

    /// The results that an edit applies to.
    fn results(&self, edit: &ResultEdit) -> Vec<At> {
        let mut alone = self.all(|kind| matches!(kind, Kind::CallAndResult { .. }));
        alone.retain(|&at| !self.is_unread(at));
        let paired = self.free_results();
        let mut results: Vec<(At, At)> =
            alone.into_iter().map(|at| (at, at)).chain(paired).map(|(call, result)| (result, call)).collect();
        sorting::sort(&mut results);
        let results = self.cleared_first(results, edit);
        let is_meant = |&(_, call): &(At, At)| edit.tools.include(self.tool_of(call));
        results.into_iter().filter(is_meant).map(|(result, _)| result).collect()
    }

    /// The results that an edit does not keep, oldest first; before them the older ones of equal calls.
    fn cleared_first(&self, results: Vec<(At, At)>, edit: &ResultEdit) -> Vec<(At, At)> {
        let tokens = |&(result, _): &(At, At)| self.piece(result).map_or(0, |piece| piece.now);
        let mut left = edit.keep_tokens;
        let fits = |result: &&(At, At)| {
            let rest = left.checked_sub(tokens(result));
            left = rest.unwrap_or(0);
            rest.is_some()
        };
        let kept_tokens = results.iter().rev().take_while(fits).count() as u64;
        let kept = usize::try_from(edit.keep_last.max(kept_tokens)).unwrap_or(usize::MAX);
        let end = results.len().saturating_sub(kept);
        if !edit.duplicates {
            return results.into_iter().take(end).collect();
        }
        let mut seen = SortedSet::new();
        let mut is_older: Vec<bool> = Vec::with_capacity(results.len());
        for &(_, call) in results.iter().rev() {
            let input = self.piece(call).and_then(|piece| piece.input.as_ref());
            is_older.push(input.is_some_and(|input| !seen.insert((self.tool_of(call), input.hash))));
        }
        is_older.reverse();
        let older = results.iter().zip(&is_older).filter(|(_, older)| **older).map(|(result, _)| *result);
        let others = results.iter().zip(&is_older).take(end).filter(|(_, older)| !**older).map(|(result, _)| *result);
        older.chain(others).collect()
    }

    /// The calls that an edit applies to: answered calls whose results were read, except the protected plan.
    fn calls(&self, edit: &CallEdit) -> Vec<At> {
        let alone = self.all(|kind| matches!(kind, Kind::CallAndResult { .. }));
        let paired = self.free_results().map(|(call, _)| call).filter(|call| !self.is_pinned(call.0));
        let mut calls: Vec<At> = alone.into_iter().filter(|&call| !self.is_unread(call)).chain(paired).collect();
        sorting::sort(&mut calls);
        let mut calls = but_last(calls, edit.keep_last);
        calls.retain(|&call| edit.tools.include(self.tool_of(call)) && self.plan != Some(call));
        calls
    }

    /// Whether a step before a call may have a signature over its arguments.
    fn is_signed_before(&self, (message, _): At) -> bool {
        let before = message.checked_sub(1).and_then(|before| self.messages.get(before));
        self.format == Format::Interactions && before.is_some_and(|it| it.removed.is_none() && it.is_thought())
    }

    fn piece(&self, (message, piece): At) -> Option<&Piece<'_>> {
        self.messages.get(message)?.pieces.get(piece)
    }

    /// Whether a call made others or was made by one, which would refer to a missing call.
    fn is_run(&self, (message, piece): At, callers: &SortedSet<&str>) -> bool {
        let piece = self.messages.get(message).and_then(|message| message.pieces.get(piece));
        piece.is_some_and(|piece| {
            piece.caller.is_some() || matches!(&piece.kind, Kind::Call { id, .. } if callers.contains(&**id))
        })
    }

    /// The tool of a call.
    fn tool_of(&self, call: At) -> &str {
        match self.piece(call).map(|piece| &piece.kind) {
            Some(Kind::Call { name, .. } | Kind::CallAndResult { name }) => name,
            _ => "",
        }
    }

    fn clear_input(&mut self, at: At, placeholder: u64) -> u64 {
        let piece = self.messages.piece_mut(at).filter(|piece| piece.is_there());
        piece.map_or(0, |piece| piece.clear_input(placeholder, Reason::InputCleared))
    }

    fn clear_result(&mut self, at: At, edit: &ResultEdit, placeholder: u64) -> u64 {
        let prices = self.prices;
        let Some(piece) = self.messages.piece_mut(at).filter(|piece| piece.is_there()) else { return 0 };
        if let Some(max_tokens) = edit.max_tokens {
            let body = piece.now.saturating_sub(piece.outside_body);
            if body <= max_tokens {
                return 0;
            }
            // Only one text, and nothing else that alone would exceed the limit.
            if let [text] = piece.texts.as_slice()
                && let Some(budget) = max_tokens.checked_sub(body - text.tokens)
            {
                let clusters = Clusters::new(&text.text);
                let cut = |keep: usize| shortened(RemovedEnd::Middle, TEXT_MARKER, &text.text, &clusters, keep);
                let guess = usize::try_from(budget.saturating_mul(4)).unwrap_or(usize::MAX);
                let keep = search::largest(1, text.text.len(), guess, budget, |keep| prices.text(&cut(keep)));
                if let Some(cut) = keep.map(&cut) {
                    let before = piece.now;
                    let tokens = prices.text(&cut);
                    piece.shorten(0, cut, tokens, Reason::ResultShortened);
                    return before.saturating_sub(piece.now);
                }
            }
        }
        let before = piece.clone();
        let freed = piece.put_text(&edit.placeholder, placeholder, Reason::ResultCleared);
        if freed > 0 && edit.max_tokens.is_none() {
            self.last_cleared = Some((at, before));
        }
        freed
    }

    fn remove_call(&mut self, at: At) -> u64 {
        let pair = self.pairs.binary_search_by(|(call, _)| call.cmp(&at)).ok();
        let result = pair.and_then(|pair| self.pairs.get(pair)).map(|&(_, result)| result);
        if self.signs_others(at) || result.is_some_and(|result| self.parts_turns(at, result)) {
            return 0;
        }
        let of_result = result.map_or(0, |result| self.remove(result, Reason::CallRemoved));
        let of_call = self.remove(at, Reason::CallRemoved);
        let of_thoughts = self.remove_thoughts_of(at.0);
        of_call.saturating_add(of_result).saturating_add(of_thoughts)
    }

    /// Removes reasoning steps that only led to removed calls.
    fn remove_thoughts_of(&mut self, call: usize) -> u64 {
        let thoughts: Vec<usize> = match self.format {
            Format::Interactions => thoughts_of_gone_calls(self.messages, call).collect(),
            Format::Responses | Format::Agents => self.thoughts_before_gone(call),
            _ => return 0,
        };
        thoughts.into_iter().map(|at| self.remove((at, 0), Reason::CallRemoved)).fold(0, u64::saturating_add)
    }

    /// The reasoning items immediately before a removed item: OpenAI accepts them before no other.
    fn thoughts_before_gone(&self, item: usize) -> Vec<usize> {
        let is_gone = self.messages.get(item).is_some_and(|message| message.removed.is_some());
        let is_thought = |&at: &usize| {
            self.messages.get(at).is_some_and(|message| message.removed.is_none() && message.is_thought())
        };
        if is_gone { (0..item).rev().take_while(is_thought).collect() } else { Vec::new() }
    }

    /// Removes a piece, and its message if nothing visible remains in it; returns the freed tokens.
    fn remove(&mut self, at: At, reason: Reason) -> u64 {
        let freed = self.messages.piece_mut(at).map_or(0, |piece| piece.remove(reason));
        let Some(message) = self.messages.get_mut(at.0).filter(|message| message.removed.is_none()) else {
            return freed;
        };
        if !message.pieces.iter().filter(|piece| piece.is_there()).all(Piece::is_silent) {
            return freed;
        }
        let rest = message.now();
        message.removed = Some(reason);
        freed.saturating_add(rest)
    }

    /// Whether the messages from a call to its result separate two assistant turns, of which the second begins with
    /// thinking, which Anthropic requires first when it merges them, or with calls, which Gemini requires after a user
    /// turn. Calls are checked oldest first.
    fn parts_turns(&mut self, call: At, result: At) -> bool {
        if !matches!(self.format, Format::Anthropic | Format::Gemini) {
            return false;
        }
        let has_content = |message: &&Message<'_>| {
            message.removed.is_none() && message.pieces.iter().any(|piece| piece.is_there() && !piece.is_silent())
        };
        // The rest of the two messages is kept.
        let has_other_content = |(message, piece): At| {
            let message = self.messages.get(message).filter(|message| message.removed.is_none());
            let mut others = message.into_iter().flat_map(|message| message.pieces.iter().enumerate());
            others.any(|(at, other)| at != piece && other.is_there() && !other.is_silent())
        };
        let (of_call, of_result) = (has_other_content(call), has_other_content(result));
        let (from, before) = self.said;
        let mut before = self.messages.range(from, call.0).rfind(has_content).map(|message| message.role).or(before);
        self.said = (call.0.max(from), before);
        if of_result {
            return false;
        }
        if of_call {
            before = Some(Role::Assistant);
        }
        let Some(after) = self.messages.range(result.0 + 1, self.messages.len()).find(has_content) else {
            return false;
        };
        let mut pieces = after.pieces.iter().filter(|piece| piece.is_there());
        let wants_user = match self.format {
            Format::Gemini => pieces.any(|piece| matches!(piece.kind, Kind::Call { .. })),
            _ => pieces.next().is_some_and(|first| first.kind == Kind::Reasoning),
        };
        wants_user && before == Some(Role::Assistant) && after.role == Role::Assistant
    }

    /// Whether other calls of a Gemini turn depend on the signature of this one.
    fn signs_others(&self, (message, call): At) -> bool {
        let message = self.messages.get(message).filter(|_| self.format == Format::Gemini);
        let mut after_call = message.into_iter().flat_map(|message| message.pieces.iter().skip(call + 1));
        after_call.any(|piece| piece.is_there() && matches!(piece.kind, Kind::Call { .. }))
    }

    fn remove_reasoning(&mut self, at: At) -> u64 {
        self.remove(at, Reason::ReasoningRemoved)
    }

    /// The last user message with content.
    fn last_user(&self) -> usize {
        self.messages.iter().rposition(Message::has_user_content).unwrap_or(0)
    }
}

fn but_last<T>(mut all: Vec<T>, keep: u64) -> Vec<T> {
    let keep = usize::try_from(keep).unwrap_or(usize::MAX);
    all.truncate(all.len().saturating_sub(keep));
    all
}
