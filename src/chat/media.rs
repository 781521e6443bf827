//! Limits on the media of a request (SPEC §8 "Media", `maxImages`).

use super::edits::images_in;
use super::fit::Fit;
use crate::assembly::shorten::IMAGE;
use crate::content::Role;
use crate::vendors::pieces::message::{At, Message, Reason};

impl Fit<'_> {
    /// Replaces the oldest images, if there are too many. In a series it goes down further, so that the prefix stays for the next turns.
    pub(super) fn limit_images(&mut self) {
        let Some(max) = self.options.max_images.map(|max| usize::try_from(max).unwrap_or(usize::MAX)) else { return };
        let images = images_in(&self.messages);
        if images.len() <= max {
            return;
        }
        let target = usize::try_from(self.part_for_step(max as u64)).unwrap_or(max);
        let is_models = |message: &Message<'_>| message.role == Role::Assistant && message.removed.is_none();
        let read_to = self.messages.iter().rposition(is_models).unwrap_or(0);
        let last_user = self.messages.iter().rposition(Message::has_user_content).unwrap_or(0);
        let is_needed = |&(message, _): &At| message > read_to || message == last_user || self.is_pinned(message);
        let (needed, free): (Vec<At>, Vec<At>) = images.iter().copied().partition(is_needed);
        let tokens = self.prices.text(IMAGE);
        let free_left = target.saturating_sub(needed.len());
        let needed_left = max.min(needed.len());
        let mut gone: Vec<At> = free.iter().copied().take(free.len().saturating_sub(free_left)).collect();
        gone.extend(needed.iter().copied().take(needed.len().saturating_sub(needed_left)));
        for at in gone {
            if let Some(piece) = self.messages.piece_mut(at) {
                piece.replace_image(IMAGE, tokens, Reason::ImageRemoved);
            }
        }
    }

    fn is_pinned(&self, message: usize) -> bool {
        self.options.pinned.contains(&message)
    }
}
