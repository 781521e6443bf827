//! Breakpoints for a provider's prompt cache.

use super::conversation::Conversation;
use super::sink::DiagnosticSink;
use super::target::{CacheMessages, CacheSettings, Hints};
use crate::content::Role;
use crate::error::DiagnosticCode;

/// The maximal number of breakpoints in one request, for Anthropic and OpenAI.
pub(crate) const MAX_BREAKPOINTS: usize = 4;

/// The number of breakpoints that a request may still have.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BreakpointLimit {
    pub vendor: &'static str,
    pub free: usize,
    /// The number of breakpoints outside the messages that were left out.
    pub left_out: usize,
}

/// The messages to put breakpoints after, within the limit; reports how many are left out.
pub(crate) fn breakpoints(
    cache: &CacheSettings,
    conversation: &Conversation<'_>,
    hints: &Hints,
    limit: BreakpointLimit,
    sink: &mut DiagnosticSink<'_>,
) -> Vec<usize> {
    let BreakpointLimit { vendor, free, mut left_out } = limit;
    let mut places: Vec<usize> = Vec::new();
    let count = conversation.count();
    let wanted: Vec<Option<usize>> = match &cache.messages {
        CacheMessages::Auto => {
            let last = count.checked_sub(1);
            let earlier = match hints.stable.checked_sub(1) {
                // One turn ago the conversation ended with the user message before the last.
                None => (0..count).rev().filter(|&at| conversation.role(at) == Some(Role::User)).nth(1),
                stable => stable,
            };
            let before_cut = hints.before_cut.and_then(|count| count.checked_sub(1));
            [last, earlier, before_cut].into_iter().filter(|place| place.is_some_and(|place| place < count)).collect()
        }
        CacheMessages::At(given) => {
            let whole = i64::try_from(count).unwrap_or(i64::MAX);
            let from_start = |place: i64| if place < 0 { place.saturating_add(whole) } else { place };
            let place = |&place: &i64| usize::try_from(from_start(place)).ok().filter(|&place| place < count);
            given.iter().map(place).collect()
        }
    };
    for place in wanted {
        match place {
            Some(place) if places.contains(&place) => {}
            Some(place) if places.len() < free => places.push(place),
            _ => left_out += 1,
        }
    }
    if left_out > 0 {
        let text = format!(
            "{left_out} of the cache breakpoints were left out; {vendor} accepts {MAX_BREAKPOINTS} in all, at existing messages"
        );
        sink.warn(DiagnosticCode::BodyCacheCapped, None, text);
    }
    places
}
